//! Cuts an event log into sessions: all lines of one session are one record, wherever they stand. Where it cuts depends
//! on the bytes of the stream only. Knows which session a line names, not what its events say.

use std::collections::VecDeque;
use std::io::Read;
use std::ops::Range;

use foldhash::HashMap;

use super::lines::{Stored, torn_detail};
use super::sessions::{BOM, Run, Sessions, blocks, span};
use crate::error::{Error, Result};
use crate::model::ShapeName;
use crate::pipeline::{Batch, BatchOptions, Line, LineBatch, LineKind, Source, SourceDigest};
use crate::shape::detect_events;

/// Sessions whose lines stand farther apart become two records: the stream is not held as a whole.
pub const SESSION_WINDOW_BYTES: usize = 32 << 20;

/// The shape of an event log, told from the first bytes of the uncompressed stream; 64 KiB are enough. `None` for
/// everything else.
#[must_use]
pub fn sniff(head: &[u8]) -> Option<ShapeName> {
    sniff_as(head, None)
}

/// The same when the user has named the shape.
#[must_use]
pub fn sniff_as(head: &[u8], forced: Option<ShapeName>) -> Option<ShapeName> {
    let text = String::from_utf8_lossy(head);
    // A list of events on a line is a record of its own.
    let is_list = text.trim_start_matches('\u{feff}').trim_start().starts_with('[');
    match forced {
        _ if is_list => None,
        Some(shape) => Some(shape).filter(|shape| shape.is_event_log()),
        None => detect_events(&text),
    }
}

/// Sessions of an uncompressed stream.
pub struct EventSource {
    name: String,
    stream: Box<dyn Read + Send>,
    stored: Option<Stored>,
    options: BatchOptions,
    /// Read but not yet handed out.
    buffer: Vec<u8>,
    /// Where `buffer` begins in the stream.
    offset: u64,
    /// Up to here the lines of `buffer` stand in `sessions`, and up to there it holds no further line end.
    scanned: usize,
    searched: usize,
    sessions: Sessions,
    /// The session that is too long and was handed out in part.
    long: Option<usize>,
    /// The session of the line that goes on after `scanned`, when its beginning was handed out.
    in_line: Option<usize>,
    /// What is to be handed out, and where it ends in `buffer`.
    queue: VecDeque<Block>,
    planned: usize,
    row: u64,
    number: u64,
    ended: bool,
    failure: Option<String>,
    hasher: blake3::Hasher,
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

impl std::fmt::Debug for EventSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventSource").field("name", &self.name).field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl EventSource {
    /// Sessions of `stream`, an event log of the shape `kind`. A file of `codex` or `pi` is one session.
    #[must_use]
    pub fn new(name: impl Into<String>, stream: Box<dyn Read + Send>, kind: ShapeName, options: BatchOptions) -> Self {
        Self {
            name: name.into(),
            stream,
            stored: None,
            options,
            buffer: Vec::new(),
            offset: 0,
            scanned: 0,
            searched: 0,
            sessions: Sessions::new(kind),
            long: None,
            in_line: None,
            queue: VecDeque::new(),
            planned: 0,
            row: 0,
            number: 1,
            ended: false,
            failure: None,
            hasher: blake3::Hasher::new(),
        }
    }

    /// Says at the end what was stored, when that differs from the stream.
    pub(crate) fn stored(mut self, stored: Stored) -> Self {
        self.stored = Some(stored);
        self
    }

    /// Reads until the buffer has `target` bytes or the stream ends; damage ends it, what was read before it stays.
    fn fill(&mut self, target: usize) {
        let missing = target.saturating_sub(self.buffer.len());
        if self.ended || missing == 0 {
            return;
        }
        let before = self.buffer.len();
        match self.stream.by_ref().take(missing as u64).read_to_end(&mut self.buffer) {
            Ok(read) => self.ended = read < missing,
            Err(error) => {
                self.ended = true;
                self.failure = Some(error.to_string());
            }
        }
        self.hasher.update(&self.buffer[before..]);
    }

    /// Finds the session of every line that is whole.
    fn scan(&mut self) {
        loop {
            let newline = memchr::memchr(b'\n', &self.buffer[self.searched..]);
            let end = match newline {
                Some(at) => self.searched + at + 1,
                None if self.ended && self.failure.is_none() && self.scanned < self.buffer.len() => self.buffer.len(),
                None => {
                    self.searched = self.buffer.len();
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
        self.sessions.file(&self.buffer[bytes.clone()], bytes, self.number, self.in_line);
        (self.scanned, self.searched) = (end, end);
    }

    /// Puts what can be handed out into the queue.
    fn plan(&mut self) {
        let limit = self.options.max_record_bytes.max(1);
        let is_endless = self.buffer.len() - self.scanned > limit && !self.ended;
        if is_endless {
            self.file(self.buffer.len());
        }
        if self.ended || self.buffer.len() > limit {
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
            self.long = self.long.filter(|_| from == 1 && whole == 1 && !self.ended);
        }
        let blocks = blocks(&runs[..whole], from);
        let n_closed = if self.ended { blocks.len() } else { blocks.len().saturating_sub(1) };
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
        if self.ended && self.failure.is_some() {
            self.queue_one(self.scanned..self.buffer.len(), self.number, What::Torn);
            self.scanned = self.buffer.len();
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
        if records.iter().any(|record| length(record) > self.options.max_record_bytes) {
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
        if run.bytes.len() > self.options.max_record_bytes {
            self.long_record(run, true);
        } else {
            self.queue_one(run.bytes.clone(), run.number, What::Session);
        }
    }

    /// Lines that are too long for a record, in pieces.
    fn long_record(&mut self, run: &Run, first: bool) {
        let step = self.options.batch_bytes.max(1);
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
            if self.ended && self.buffer.is_empty() && self.failure.is_none() {
                return None;
            }
            self.fill(target);
            self.scan();
            self.plan();
            target = self.buffer.len() + SESSION_WINDOW_BYTES;
        }
        let start = self.queue.front().map_or(0, |block| block.bytes.start);
        let mut batch = LineBatch { offset: self.offset + start as u64, ..LineBatch::default() };
        while let Some(block) = self.queue.pop_front_if(|block| {
            batch.lines.is_empty() || batch.bytes.len() + block.bytes.len() <= self.options.batch_bytes
        }) {
            self.hand_out(block, &mut batch);
        }
        Some(batch)
    }

    fn hand_out(&mut self, block: Block, batch: &mut LineBatch) {
        let is_scattered = block.records.len() > 1;
        // One giant session is moved, not copied.
        let is_all = self.queue.is_empty() && batch.bytes.is_empty() && block.bytes == (0..self.buffer.len());
        if is_all && !is_scattered {
            batch.bytes = std::mem::take(&mut self.buffer);
            self.offset += batch.bytes.len() as u64;
            (self.planned, self.scanned, self.searched) = (0, 0, 0);
        }
        for record in block.records {
            let start = if is_all && !is_scattered { 0 } else { batch.bytes.len() };
            if !is_all || is_scattered {
                record.pieces.iter().for_each(|piece| batch.bytes.extend_from_slice(&self.buffer[piece.clone()]));
            }
            let at = |piece: &Range<usize>| (self.offset + piece.start as u64, piece.len() as u64);
            let places = if is_scattered { record.pieces.iter().map(at).collect() } else { Vec::new() };
            let line = self.line(&record, places, start, batch);
            batch.lines.push(line);
        }
    }

    /// The line for a record whose bytes are the end of `batch`, from `start` on.
    fn line(&mut self, record: &Record, places: Vec<(u64, u64)>, start: usize, batch: &LineBatch) -> Line {
        let span = start..batch.bytes.len();
        let bytes = &batch.bytes[start..];
        let is_start = batch.offset + start as u64 == 0;
        let (mut inner, kind) = match record.what {
            What::Piece { first } => (start..span.end - usize::from(bytes.ends_with(b"\n")), LineKind::Piece { first }),
            What::Torn => (span.clone(), self.torn(batch.offset + start as u64)),
            What::Session => {
                let bom = if is_start && bytes.starts_with(BOM) { BOM.len() } else { 0 };
                let text = bytes[bom..].trim_ascii_start();
                let begin = span.end - text.len();
                let kind = if text.is_empty() {
                    LineKind::Tail
                } else if places.is_empty() {
                    LineKind::Record
                } else {
                    LineKind::Scattered(places)
                };
                (begin..begin + text.trim_ascii_end().len(), kind)
            }
        };
        let row = match kind {
            LineKind::Tail => self.row,
            LineKind::Piece { first: false } => self.row - 1,
            _ => {
                self.row += 1;
                self.row - 1
            }
        };
        if kind == LineKind::Tail {
            inner = span.end..span.end;
        }
        Line { row, number: record.number, span, record: inner, kind }
    }

    fn torn(&mut self, offset: u64) -> LineKind {
        let why = self.failure.take().unwrap_or_default();
        LineKind::Torn(torn_detail(offset, &why))
    }

    /// Forgets what was handed out.
    fn drop_planned(&mut self) {
        let n_bytes = std::mem::take(&mut self.planned);
        self.buffer.drain(..n_bytes);
        self.offset += n_bytes as u64;
        self.scanned -= n_bytes;
        self.searched -= n_bytes;
        self.sessions.forget(n_bytes);
    }
}

impl Source for EventSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(self.next_lines().map(Batch::Lines))
    }

    fn stored_bytes(&self) -> u64 {
        self.offset
    }

    fn digest(&mut self) -> Result<SourceDigest> {
        self.stream = Box::new(std::io::empty());
        let stored = self.stored.take().map_or(Ok::<_, Error>(None), |stored| stored())?;
        Ok(SourceDigest::of_stream(self.offset, &self.hasher, stored))
    }
}
