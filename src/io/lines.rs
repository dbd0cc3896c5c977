//! Cuts a stream of bytes into batches of lines. Where it cuts depends on the bytes of the stream only, never on
//! how many of them a read gives. Blanks are handed out as they come; of a line that should hold a record no more is held
//! than a record may have. Knows no JSON.

use std::io::Read;

use super::stream::{BOM, Cut, Stream};
use crate::pipeline::{BatchOptions, LineBatch, LineRole, RecordLine};

/// Blanks without a line end that are longer than this and than a batch are handed out before their line ends.
const MIN_BLANK_BYTES: usize = 1 << 20;

/// After so many breaks in a row with nothing between them a stream is given up.
const MAX_BREAKS: usize = 1000;

/// True for a byte that a line without a record may hold.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Lines of an uncompressed stream.
#[derive(Debug)]
pub struct LineSource {
    stream: Stream,
    row: u64,
    number: u64,
    /// Inside a line that is too long.
    in_long_line: bool,
    /// The stream broke, and may go on behind the damage.
    broke: bool,
}

impl LineSource {
    /// Lines of `stream`.
    pub fn new(name: impl Into<String>, stream: Box<dyn Read + Send>, options: BatchOptions) -> Self {
        Self::of(Stream::new(name, stream, options))
    }

    pub(super) fn of(stream: Stream) -> Self {
        Self { stream, row: 0, number: 1, in_long_line: false, broke: false }
    }

    /// The stream begins at byte `offset` of its source, and its first record has the number `row`.
    pub fn starting_at(mut self, offset: u64, row: u64) -> Self {
        (self.stream.offset, self.stream.first_byte, self.row) = (offset, offset, row);
        self
    }

    fn fill(&mut self, target: usize) {
        self.stream.fill(target);
        self.broke |= self.stream.failure.is_some();
    }

    /// Where the next batch ends in `rest`, and whether it is a piece of a line that is too long.
    fn next_end(&mut self) -> (usize, bool) {
        let target = self.stream.options.batch_bytes.max(1);
        self.fill(target);
        if self.in_long_line {
            let end = memchr::memchr(b'\n', &self.stream.rest[..self.stream.rest.len().min(target)]).map(|at| at + 1);
            return (end.unwrap_or(self.stream.rest.len().min(target)), true);
        }
        if self.stream.ended && self.stream.rest.len() <= target {
            return (self.stream.rest.len(), false);
        }
        if let Some(at) = memchr::memrchr(b'\n', &self.stream.rest[..target.min(self.stream.rest.len())]) {
            return (at + 1, false);
        }
        // The first line is longer than a batch: it gets one of its own. Blanks are not held to see what follows them.
        let mut seen = target;
        let mut blank = if self.begins_with_bom() { BOM.len() } else { 0 };
        loop {
            self.fill(seen + target);
            if let Some(at) = memchr::memchr(b'\n', &self.stream.rest[seen.min(self.stream.rest.len())..]) {
                let end = seen + at + 1;
                return if at + seen > self.stream.options.max_record_bytes { (target, true) } else { (end, false) };
            }
            seen = self.stream.rest.len();
            blank += self.stream.rest[blank..].iter().take_while(|&&byte| is_blank(byte)).count();
            if blank == seen && seen >= target.max(MIN_BLANK_BYTES) {
                return (seen, false);
            }
            if seen > self.stream.options.max_record_bytes {
                return (target, true);
            }
            if self.stream.ended {
                return (seen, false);
            }
        }
    }

    fn begins_with_bom(&self) -> bool {
        self.stream.offset == 0 && self.stream.rest.starts_with(BOM)
    }

    /// The only line of a batch that is a piece of a line that is too long.
    fn piece(&mut self, bytes: &[u8]) -> RecordLine {
        let first = !self.in_long_line;
        let ends = bytes.last() == Some(&b'\n');
        let record = 0..bytes.len() - usize::from(ends);
        let line = RecordLine {
            row: self.row,
            number: self.number,
            span: 0..bytes.len(),
            record,
            kind: LineRole::Piece { first },
        };
        self.in_long_line = !ends;
        if ends {
            self.row += 1;
            self.number += 1;
        }
        line
    }

    fn lines(&mut self, bytes: &[u8], offset: u64, last: bool) -> Vec<RecordLine> {
        let mut lines = Vec::new();
        let (mut span, mut at) = (0, 0);
        if offset == 0 && bytes.starts_with(BOM) {
            at = BOM.len();
        }
        while at < bytes.len() {
            let newline = memchr::memchr(b'\n', &bytes[at..]).map(|length| at + length);
            let end = newline.map_or(bytes.len(), |newline| newline + 1);
            let mut stop = newline.unwrap_or(bytes.len());
            if newline.is_some() && stop > at && bytes[stop - 1] == b'\r' {
                stop -= 1;
            }
            let torn = last && newline.is_none() && self.stream.failure.is_some();
            if !torn && bytes[at..stop].iter().all(|&byte| is_blank(byte)) {
                at = end;
                self.number += u64::from(newline.is_some());
                continue;
            }
            let kind = if torn {
                self.stream.torn(offset + at as u64)
            } else if stop - at > self.stream.options.max_record_bytes {
                LineRole::Piece { first: true }
            } else {
                LineRole::Record
            };
            lines.push(RecordLine { row: self.row, number: self.number, span: span..end, record: at..stop, kind });
            self.row += 1;
            self.number += 1;
            at = end;
            span = end;
        }
        if last && self.stream.failure.is_some() {
            let kind = self.stream.torn(offset + at as u64);
            lines.push(RecordLine { row: self.row, number: self.number, span: span..at, record: at..at, kind });
            self.row += 1;
            self.stream.failure = None;
        } else if span < bytes.len() {
            // Blank lines at the end of a batch belong to this batch: a tail without a record, told before the next.
            lines.push(RecordLine {
                row: self.row,
                number: self.number,
                span: span..at,
                record: at..at,
                kind: LineRole::Tail,
            });
        }
        lines
    }

    /// The next lines, `None` at the end.
    pub fn next_lines(&mut self) -> Option<LineBatch> {
        if self.stream.ended
            && self.stream.rest.is_empty()
            && self.stream.failure.is_none()
            && std::mem::take(&mut self.broke)
        {
            for _ in 0..MAX_BREAKS {
                (self.stream.ended, self.stream.failure, self.broke) = (false, None, false);
                self.fill(self.stream.options.batch_bytes.max(1));
                if !self.stream.rest.is_empty() || !self.broke {
                    break;
                }
            }
            if self.stream.rest.is_empty() {
                // Nothing comes behind the damage; that it is there was told.
                (self.stream.ended, self.stream.failure, self.broke) = (true, None, false);
                return None;
            }
        }
        let (end, is_piece) = self.next_end();
        let last = self.stream.ended && end == self.stream.rest.len();
        if end == 0 && self.stream.failure.is_none() {
            return None;
        }
        let is_piece = is_piece && end > 0;
        if end == 0 && std::mem::take(&mut self.in_long_line) {
            self.row += 1;
        }
        let (offset, bytes) = (self.stream.offset, self.stream.take(end));
        let lines = if is_piece { vec![self.piece(&bytes)] } else { self.lines(&bytes, offset, last) };
        Some(LineBatch { bytes, offset, lines, ..LineBatch::default() })
    }
}

impl Cut for LineSource {
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
