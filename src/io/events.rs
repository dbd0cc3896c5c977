//! Cuts an event log into sessions: all lines of one session are one record, wherever they stand. Where it cuts depends
//! on the bytes of the stream only. Knows which session a line names, not what its events say.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;

use foldhash::HashMap;

use super::sessions::{Run, Sessions, blocks, span};
use super::stream::{BOM, Cut, Stream};
use crate::model::ShapeName;
use crate::pipeline::{BatchOptions, LineBatch, LineRole, RecordLine};
use crate::shape::{detect_events, detect_markdown};

/// Sessions whose lines stand farther apart become two records: the stream is not held as a whole.
pub const SESSION_WINDOW_BYTES: usize = 32 << 20;

/// The shape of an event log, or of a session in Markdown, told from the first bytes of the uncompressed stream; 64 KiB are
/// enough. `None` for everything else; `forced` is what the user has named.
pub fn sniff_events(head: &[u8], forced: Option<ShapeName>) -> Option<ShapeName> {
    let text = String::from_utf8_lossy(head);
    // A list of events on a line is a record of its own.
    let is_list = text.trim_start_matches('\u{feff}').trim_start().starts_with('[');
    match forced {
        _ if is_list => None,
        Some(shape) => Some(shape).filter(|shape| shape.is_event_log()),
        None => detect_events(&text).or_else(|| detect_markdown(&text)),
    }
}

/// Sessions of an uncompressed stream.
#[derive(Debug)]
pub struct EventSource {
    stream: Stream,
    /// Up to here the lines of the stream's rest stand in `sessions`, and up to there it holds no further line end.
    scanned: usize,
    searched: usize,
    sessions: Sessions,
    /// The session that is too long and was handed out in part.
    long: Option<usize>,
    /// The session of the line that goes on after `scanned`, when its beginning was handed out.
    in_line: Option<usize>,
    /// What is to be handed out, and where it ends in the stream's rest.
    queue: VecDeque<Block>,
    planned: usize,
    row: u64,
    number: u64,
}

/// A part of the buffer with its records.
#[derive(Debug)]
struct Block {
    bytes: Range<usize>,
    records: Vec<Record>,
}

#[derive(Debug)]
struct Record {
    pieces: Vec<Range<usize>>,
    number: u64,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Session,
    Piece { first: bool },
    Torn,
}

impl EventSource {
    /// Sessions of `stream`, an event log of the shape `kind`. A file of `codex` or `pi` is one session.
    pub fn new(name: impl Into<String>, stream: Box<dyn Read + Send>, kind: ShapeName, options: BatchOptions) -> Self {
        Self::of(Stream::new(name, stream, options), kind)
    }

    pub(super) fn of(stream: Stream, kind: ShapeName) -> Self {
        Self {
            stream,
            scanned: 0,
            searched: 0,
            sessions: Sessions::new(kind),
            long: None,
            in_line: None,
            queue: VecDeque::new(),
            planned: 0,
            row: 0,
            number: 1,
        }
    }

    /// Finds the session of every line that is whole.
    fn scan(&mut self) {
        loop {
            let newline = memchr::memchr(b'\n', &self.stream.rest[self.searched..]);
            let end = match newline {
                Some(at) => self.searched + at + 1,
                None if self.stream.ended && self.stream.failure.is_none() && self.scanned < self.stream.rest.len() => {
                    self.stream.rest.len()
                }
                None => {
                    self.searched = self.stream.rest.len();
                    return;
                }
            };
            self.file(end);
            self.number += u64::from(newline.is_some());
            self.in_line = None;
        }
    }

    fn file(&mut self, end: usize) {
        let bytes = self.scanned..end;
        self.sessions.file(&self.stream.rest[bytes.clone()], bytes, self.number, self.in_line);
        (self.scanned, self.searched) = (end, end);
    }

    /// Puts what can be handed out into the queue.
    fn plan(&mut self) {
        let limit = self.stream.options.max_record_bytes.max(1);
        let is_endless = self.stream.rest.len() - self.scanned > limit && !self.stream.ended;
        if is_endless {
            self.file(self.stream.rest.len());
        }
        if self.stream.ended || self.stream.rest.len() > limit {
            self.sessions.close();
        }
        if is_endless {
            self.in_line = self.sessions.runs.last().map(|run| run.session);
        }
        let mut runs = std::mem::take(&mut self.sessions.runs);
        let whole = runs.iter().filter(|run| !run.is_open()).count();
        let mut from = 0;
        if let (Some(long), Some(first)) = (self.long, runs.first()) {
            if first.session == long {
                self.long_record(first, false);
                from = 1;
            }
            self.long = self.long.filter(|_| from == 1 && whole == 1 && !self.stream.ended);
        }
        let blocks = blocks(&runs[..whole], from);
        let n_closed = if self.stream.ended { blocks.len() } else { blocks.len().saturating_sub(1) };
        for (nth, block) in blocks.into_iter().enumerate() {
            let n_bytes = span(&runs[block.clone()]).len();
            if nth < n_closed {
                self.block(&runs[block.clone()]);
            } else if block.len() == 1 && n_bytes > limit {
                self.long_record(&runs[block.start], true);
                self.long = Some(runs[block.start].session);
            } else if block.len() > 1 && n_bytes > limit.max(SESSION_WINDOW_BYTES) {
                // Too much to be held: every run of lines stands for itself.
                for run in &runs[block.start..block.end - 1] {
                    self.alone(run);
                }
                from = block.end - 1;
                break;
            } else {
                from = block.start;
                break;
            }
            from = block.end;
        }
        runs.drain(..from);
        self.sessions.runs = runs;
        self.sessions.retain(self.long);
        if self.stream.ended && self.stream.failure.is_some() {
            self.queue_one(self.scanned..self.stream.rest.len(), self.number, What::Torn);
            self.scanned = self.stream.rest.len();
        }
    }

    /// A block whose sessions are all complete.
    fn block(&mut self, runs: &[Run]) {
        let mut records: Vec<Record> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::default();
        for run in runs {
            let at = *known.entry(run.session).or_insert_with(|| {
                records.push(Record { pieces: Vec::new(), number: run.number, what: What::Session });
                records.len() - 1
            });
            records[at].pieces.push(run.bytes.clone());
        }
        let length = |record: &Record| record.pieces.iter().map(Range::len).sum::<usize>();
        if records.iter().any(|record| length(record) > self.stream.options.max_record_bytes) {
            for run in runs {
                self.alone(run);
            }
            return;
        }
        let bytes = span(runs);
        self.planned = bytes.end;
        self.queue.push_back(Block { bytes, records });
    }

    /// Lines that stand for themselves.
    fn alone(&mut self, run: &Run) {
        if run.bytes.len() > self.stream.options.max_record_bytes {
            self.long_record(run, true);
        } else {
            self.queue_one(run.bytes.clone(), run.number, What::Session);
        }
    }

    /// Lines that are too long for a record, in pieces.
    fn long_record(&mut self, run: &Run, first: bool) {
        let step = self.stream.options.batch_bytes.max(1);
        for start in run.bytes.clone().step_by(step) {
            let end = run.bytes.end.min(start + step);
            let what = What::Piece { first: first && start == run.bytes.start };
            self.queue_one(start..end, run.number, what);
        }
    }

    fn queue_one(&mut self, bytes: Range<usize>, number: u64, what: What) {
        self.planned = bytes.end;
        let records = vec![Record { pieces: Vec::from([bytes.clone()]), number, what }];
        self.queue.push_back(Block { bytes, records });
    }

    /// The next sessions, `None` at the end.
    pub fn next_lines(&mut self) -> Option<LineBatch> {
        let mut target = SESSION_WINDOW_BYTES;
        while self.queue.is_empty() {
            self.drop_planned();
            if self.stream.ended && self.stream.rest.is_empty() && self.stream.failure.is_none() {
                return None;
            }
            self.stream.fill(target);
            self.scan();
            self.plan();
            target = self.stream.rest.len() + SESSION_WINDOW_BYTES;
        }
        let start = self.queue.front().map_or(0, |block| block.bytes.start);
        let mut batch = LineBatch { offset: self.stream.offset + start as u64, ..LineBatch::default() };
        while let Some(block) = self.queue.pop_front_if(|block| {
            batch.lines.is_empty() || batch.bytes.len() + block.bytes.len() <= self.stream.options.batch_bytes
        }) {
            self.hand_out(block, &mut batch);
        }
        Some(batch)
    }

    fn hand_out(&mut self, block: Block, batch: &mut LineBatch) {
        let is_scattered = block.records.len() > 1;
        // One giant session is moved, not copied.
        let is_all = self.queue.is_empty() && batch.bytes.is_empty() && block.bytes == (0..self.stream.rest.len());
        if is_all && !is_scattered {
            batch.bytes = self.stream.take(self.stream.rest.len());
            (self.planned, self.scanned, self.searched) = (0, 0, 0);
        }
        for record in block.records {
            let start = if is_all && !is_scattered { 0 } else { batch.bytes.len() };
            if !is_all || is_scattered {
                record.pieces.iter().for_each(|piece| batch.bytes.extend_from_slice(&self.stream.rest[piece.clone()]));
            }
            let at = |piece: &Range<usize>| (self.stream.offset + piece.start as u64, piece.len() as u64);
            let places = if is_scattered { record.pieces.iter().map(at).collect() } else { Vec::new() };
            let line = self.line(&record, places, start, batch);
            batch.lines.push(line);
        }
    }

    /// The line for a record whose bytes are the end of `batch`, from `start` on.
    fn line(&mut self, record: &Record, places: Vec<(u64, u64)>, start: usize, batch: &LineBatch) -> RecordLine {
        let span = start..batch.bytes.len();
        let bytes = &batch.bytes[start..];
        let is_start = batch.offset + start as u64 == 0;
        let (mut inner, kind) = match record.what {
            What::Piece { first } => (start..span.end - usize::from(bytes.ends_with(b"\n")), LineRole::Piece { first }),
            What::Torn => (span.clone(), self.stream.torn(batch.offset + start as u64)),
            What::Session => {
                let bom = if is_start && bytes.starts_with(BOM) { BOM.len() } else { 0 };
                let text = bytes[bom..].trim_ascii_start();
                let begin = span.end - text.len();
                let kind = if text.is_empty() {
                    LineRole::Tail
                } else if places.is_empty() {
                    LineRole::Record
                } else {
                    LineRole::Scattered(places)
                };
                (begin..begin + text.trim_ascii_end().len(), kind)
            }
        };
        let row = match kind {
            LineRole::Tail => self.row,
            LineRole::Piece { first: false } => self.row - 1,
            _ => {
                self.row += 1;
                self.row - 1
            }
        };
        if kind == LineRole::Tail {
            inner = span.end..span.end;
        }
        RecordLine { row, number: record.number, span, record: inner, kind }
    }

    /// Forgets what was handed out.
    fn drop_planned(&mut self) {
        let n_bytes = std::mem::take(&mut self.planned);
        self.stream.pass(n_bytes);
        self.scanned -= n_bytes;
        self.searched -= n_bytes;
        self.sessions.forget(n_bytes);
    }
}

impl Cut for EventSource {
    fn stream(&self) -> &Stream {
        &self.stream
    }
    fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }
    fn cut(&mut self) -> Option<LineBatch> {
        self.next_lines()
    }
}
