//! Cuts a stream of bytes into batches of lines. Where it cuts depends on the bytes of the stream only, never on
//! how many of them a read gives. Blanks are handed out as they come; of a line that should hold a record no more is held
//! than a record may have. Knows no JSON.

use std::io::Read;

use super::held::Held;
use crate::error::{Error, Result};
use crate::pipeline::{Batch, BatchOptions, Line, LineBatch, LineKind, Source, SourceDigest};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Blanks without a line end that are longer than this and than a batch are handed out before their line ends.
const MIN_BLANK_BYTES: usize = 1 << 20;

/// After so many breaks in a row with nothing between them a stream is given up.
const MAX_BREAKS: usize = 1000;

/// Gives sizes and hashes of what was stored, after the end of the stream.
pub(crate) type Stored = Box<dyn FnOnce() -> Result<Option<(u64, String)>> + Send>;

/// Says where the text of a compressed stream breaks off.
pub(crate) fn torn_detail(offset: u64, why: &str) -> String {
    format!(
        "the compressed stream is damaged or ends early after byte {offset} of the text: {why}; fetch or write the file \
         again"
    )
}

/// True for a byte that a line without a record may hold.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

/// Lines of an uncompressed stream.
pub struct LineSource {
    name: String,
    stream: Box<dyn Read + Send>,
    stored: Option<Stored>,
    options: BatchOptions,
    /// Read but not yet handed out.
    rest: Held,
    /// Where `rest` begins in the stream.
    offset: u64,
    /// Where the stream begins in its source.
    first_byte: u64,
    row: u64,
    number: u64,
    /// Inside a line that is too long.
    in_long_line: bool,
    ended: bool,
    failure: Option<String>,
    /// The stream broke, and may go on behind the damage.
    broke: bool,
    hasher: blake3::Hasher,
}

impl std::fmt::Debug for LineSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LineSource").field("name", &self.name).field("offset", &self.offset).finish_non_exhaustive()
    }
}

impl LineSource {
    /// Lines of `stream`; `stored` says at the end what was stored when that differs from the stream.
    #[must_use]
    pub fn new(name: impl Into<String>, stream: Box<dyn Read + Send>, options: BatchOptions) -> Self {
        Self {
            name: name.into(),
            stream,
            stored: None,
            options,
            rest: Held::default(),
            offset: 0,
            first_byte: 0,
            row: 0,
            number: 1,
            in_long_line: false,
            ended: false,
            failure: None,
            broke: false,
            hasher: blake3::Hasher::new(),
        }
    }

    /// The stream begins at byte `offset` of its source, and its first record has the number `row`.
    #[must_use]
    pub fn starting_at(mut self, offset: u64, row: u64) -> Self {
        (self.offset, self.first_byte, self.row) = (offset, offset, row);
        self
    }

    pub(crate) fn stored(mut self, stored: Stored) -> Self {
        self.stored = Some(stored);
        self
    }

    /// Reads until `rest` has `target` bytes or the stream ends; damage ends it, what was read before it stays.
    fn fill(&mut self, target: usize) {
        if self.ended || self.rest.len() >= target {
            return;
        }
        let missing = target - self.rest.len();
        let before = self.rest.len();
        let (n_read, failure) = self.rest.read(&mut self.stream, missing);
        self.hasher.update(&self.rest[before..]);
        self.ended = n_read < missing;
        if let Some(error) = failure {
            self.ended = true;
            self.broke = true;
            self.failure = Some(error.to_string());
        }
    }

    /// Where the next batch ends in `rest`, and whether it is a piece of a line that is too long.
    fn cut(&mut self) -> (usize, bool) {
        let target = self.options.batch_bytes.max(1);
        self.fill(target);
        if self.in_long_line {
            let end = memchr::memchr(b'\n', &self.rest[..self.rest.len().min(target)]).map(|at| at + 1);
            return (end.unwrap_or(self.rest.len().min(target)), true);
        }
        if self.ended && self.rest.len() <= target {
            return (self.rest.len(), false);
        }
        if let Some(at) = memchr::memrchr(b'\n', &self.rest[..target.min(self.rest.len())]) {
            return (at + 1, false);
        }
        // The first line is longer than a batch: it gets one of its own. Blanks are not held to see what follows them.
        let mut seen = target;
        let mut blank = if self.begins_with_bom() { BOM.len() } else { 0 };
        loop {
            self.fill(seen + target);
            if let Some(at) = memchr::memchr(b'\n', &self.rest[seen.min(self.rest.len())..]) {
                let end = seen + at + 1;
                return if at + seen > self.options.max_record_bytes { (target, true) } else { (end, false) };
            }
            seen = self.rest.len();
            blank += self.rest[blank..].iter().take_while(|&&byte| is_blank(byte)).count();
            if blank == seen && seen >= target.max(MIN_BLANK_BYTES) {
                return (seen, false);
            }
            if seen > self.options.max_record_bytes {
                return (target, true);
            }
            if self.ended {
                return (seen, false);
            }
        }
    }

    fn begins_with_bom(&self) -> bool {
        self.offset == 0 && self.rest.starts_with(BOM)
    }

    /// The only line of a batch that is a piece of a line that is too long.
    fn piece(&mut self, bytes: &[u8]) -> Line {
        let first = !self.in_long_line;
        let ends = bytes.last() == Some(&b'\n');
        let record = 0..bytes.len() - usize::from(ends);
        let line =
            Line { row: self.row, number: self.number, span: 0..bytes.len(), record, kind: LineKind::Piece { first } };
        self.in_long_line = !ends;
        if ends {
            self.row += 1;
            self.number += 1;
        }
        line
    }

    fn lines(&mut self, bytes: &[u8], last: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        let (mut span, mut at) = (0, 0);
        if self.offset == 0 && bytes.starts_with(BOM) {
            at = BOM.len();
        }
        while at < bytes.len() {
            let newline = memchr::memchr(b'\n', &bytes[at..]).map(|length| at + length);
            let end = newline.map_or(bytes.len(), |newline| newline + 1);
            let mut stop = newline.unwrap_or(bytes.len());
            if newline.is_some() && stop > at && bytes[stop - 1] == b'\r' {
                stop -= 1;
            }
            let torn = last && newline.is_none() && self.failure.is_some();
            if !torn && bytes[at..stop].iter().all(|&byte| is_blank(byte)) {
                at = end;
                self.number += u64::from(newline.is_some());
                continue;
            }
            let kind = if torn {
                self.torn(at)
            } else if stop - at > self.options.max_record_bytes {
                LineKind::Piece { first: true }
            } else {
                LineKind::Record
            };
            lines.push(Line { row: self.row, number: self.number, span: span..end, record: at..stop, kind });
            self.row += 1;
            self.number += 1;
            at = end;
            span = end;
        }
        if last && self.failure.is_some() {
            let kind = self.torn(at);
            lines.push(Line { row: self.row, number: self.number, span: span..at, record: at..at, kind });
            self.row += 1;
            self.failure = None;
        } else if span < bytes.len() {
            // Blank lines at the end of a batch belong to this batch: a tail without a record, told before the next.
            lines.push(Line {
                row: self.row,
                number: self.number,
                span: span..at,
                record: at..at,
                kind: LineKind::Tail,
            });
        }
        lines
    }

    fn torn(&mut self, at: usize) -> LineKind {
        let why = self.failure.take().unwrap_or_default();
        let offset = self.offset + at as u64;
        LineKind::Torn(torn_detail(offset, &why))
    }

    /// The next lines, `None` at the end.
    pub fn next_lines(&mut self) -> Option<LineBatch> {
        if self.ended && self.rest.is_empty() && self.failure.is_none() && std::mem::take(&mut self.broke) {
            for _ in 0..MAX_BREAKS {
                (self.ended, self.broke, self.failure) = (false, false, None);
                self.fill(self.options.batch_bytes.max(1));
                if !self.rest.is_empty() || !self.broke {
                    break;
                }
            }
            if self.rest.is_empty() {
                // Nothing comes behind the damage; that it is there was told.
                (self.ended, self.broke, self.failure) = (true, false, None);
                return None;
            }
        }
        let (end, is_piece) = self.cut();
        let last = self.ended && end == self.rest.len();
        if end == 0 && self.failure.is_none() {
            return None;
        }
        let is_piece = is_piece && end > 0;
        if end == 0 && std::mem::take(&mut self.in_long_line) {
            self.row += 1;
        }
        let bytes = self.rest.take(end);
        let lines = if is_piece { vec![self.piece(&bytes)] } else { self.lines(&bytes, last) };
        let batch = LineBatch { offset: self.offset, lines, bytes, unpacked: None };
        self.offset += batch.bytes.len() as u64;
        Some(batch)
    }
}

impl Source for LineSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        Ok(self.next_lines().map(Batch::Lines))
    }

    fn stored_bytes(&self) -> u64 {
        self.offset - self.first_byte
    }

    fn digest(&mut self) -> Result<SourceDigest> {
        self.stream = Box::new(std::io::empty());
        let stored = self.stored.take().map_or(Ok::<_, Error>(None), |stored| stored())?;
        Ok(SourceDigest::of_stream(self.offset - self.first_byte, &self.hasher, stored))
    }
}
