//! Cuts documents, JSON values over many lines, into records: an object is one, a list of records one per element, and
//! so is a list of samples or simulations inside an object. What stands between records belongs to the span of the next
//! one. Where it cuts depends on the bytes of the stream only. Knows which values are records, not what they say.

use std::io::Read;
use std::ops::Range;

use super::extent::Extent;
use super::feed::Inside;
use super::stream::{BOM, Cut, Stream};
use crate::model::FieldMap;
use crate::pipeline::{BatchOptions, LineBatch, LineRole, RecordLine};

pub use crate::shape::is_document;

/// Records of an uncompressed stream of documents.
#[derive(Debug)]
pub struct DocumentSource {
    /// All positions below are in what was read of it and not yet handed out.
    stream: Stream,
    row: u64,
    number: u64,
    /// Where the next span begins, and how far it is known to hold no record.
    start: usize,
    at: usize,
    place: Place,
    /// A value that is too long, given out in pieces.
    long: Option<Long>,
    /// Cut, but too large for the batch before it.
    pending: Option<Unit>,
}

/// Where the reader stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Between the values of the stream.
    Outside,
    /// In a list of records, before an item or after one; a nested one stands in an object.
    List { nested: bool, after: bool },
    /// In an object whose members hold the records.
    Members { after: bool },
    /// After the list of an object, whose end is looked for.
    Closing(Extent),
    /// After the last value.
    Done,
}

#[derive(Debug, Clone, Copy)]
struct Long {
    extent: Extent,
    end: Option<usize>,
    first: bool,
}

/// A span, from the end of the one before.
#[derive(Debug, Clone)]
struct Unit {
    row: u64,
    record: Range<usize>,
    end: usize,
    kind: LineRole,
}

impl DocumentSource {
    /// Records of `stream`.
    pub fn new(name: impl Into<String>, stream: Box<dyn Read + Send>, options: BatchOptions) -> Self {
        Self::of(Stream::new(name, stream, options))
    }

    pub(super) fn of(stream: Stream) -> Self {
        Self { stream, row: 0, number: 1, start: 0, at: 0, place: Place::Outside, long: None, pending: None }
    }

    /// The same where somebody says where records have their conversation.
    pub(super) fn read_by(mut self, map: Option<FieldMap>) -> Self {
        self.stream.map = map;
        self
    }

    fn next_unit(&mut self) -> Option<Unit> {
        loop {
            if self.long.is_some() {
                if let Some(unit) = self.piece() {
                    return Some(unit);
                }
                continue;
            }
            match self.place {
                Place::Done => return None,
                Place::Closing(mut extent) => {
                    let end = extent.find(&self.stream.rest);
                    self.at = extent.at;
                    self.place = if end.is_some() { Place::Outside } else { Place::Closing(extent) };
                    if let Some(unit) = self.surplus() {
                        return Some(unit);
                    }
                    if end.is_none() && !self.stream.more() {
                        return self.finish();
                    }
                    continue;
                }
                Place::Outside if self.stream.offset == 0 && self.at == 0 => {
                    while self.stream.rest.len() < BOM.len() && self.stream.more() {}
                    self.at = if self.stream.rest.starts_with(BOM) { BOM.len() } else { 0 };
                }
                _ => {}
            }
            let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            self.at += self.stream.rest.get(self.at..).unwrap_or_default().iter().take_while(blank).count();
            if let Some(unit) = self.surplus() {
                return Some(unit);
            }
            let Some(&byte) = self.stream.rest.get(self.at) else {
                if self.stream.more() {
                    continue;
                }
                return self.finish();
            };
            if let Some(unit) = self.step(byte) {
                return Some(unit);
            }
        }
    }

    /// One step at a byte that is no white space: over a bracket or a comma, or to the next record.
    fn step(&mut self, byte: u8) -> Option<Unit> {
        let next = match (self.place, byte) {
            (Place::Outside, b'[') if self.stream.is_list_of_records(self.at) => {
                Place::List { nested: false, after: false }
            }
            (Place::Outside, b'{') => {
                (self.place, self.at) = match self.stream.records_inside(self.at) {
                    Some(Inside::List(at)) => (Place::List { nested: true, after: false }, at),
                    Some(Inside::Members(at)) => (Place::Members { after: false }, at),
                    None => return self.record(Extent::of_value(self.at)),
                };
                return None;
            }
            (Place::Outside, _) => return self.record(Extent::of_value(self.at)),
            (Place::List { nested, after: true }, b',') => Place::List { nested, after: false },
            (Place::List { nested: true, .. }, b']') => Place::Closing(Extent::of_rest(self.at + 1)),
            (Place::List { nested: false, .. }, b']') | (Place::Members { .. }, b'}') => Place::Outside,
            (Place::Members { after: true }, b',') => Place::Members { after: false },
            (Place::Members { after: false }, b'"') => return self.member(),
            (Place::List { nested, after: false }, byte) if !matches!(byte, b',' | b':' | b'}') => {
                self.place = Place::List { nested, after: true };
                return self.record(Extent::of_value(self.at));
            }
            // Broken: everything from here on is one record, which will be refused.
            _ => {
                self.place = Place::Outside;
                return self.record(Extent::endless(self.at));
            }
        };
        self.place = next;
        self.at += 1;
        None
    }

    /// The member of an object of records: its value, when it is one.
    fn member(&mut self) -> Option<Unit> {
        let found = self.stream.value_end(self.at).and_then(|end| self.stream.byte_after(end));
        let value = match found {
            Some((b':', colon)) => self.stream.byte_after(colon + 1),
            _ => None,
        };
        let Some((_, value)) = value else {
            self.place = Place::Outside;
            return self.record(Extent::endless(self.at));
        };
        self.place = Place::Members { after: true };
        let whole = self.stream.value_end(value);
        match whole {
            Some(end) if self.stream.record_end(value).is_none() => {
                self.at = end;
                None
            }
            _ => {
                self.at = value;
                self.record(Extent::of_value(value))
            }
        }
    }

    /// The record at the place that was reached, to the end of `extent`.
    fn record(&mut self, mut extent: Extent) -> Option<Unit> {
        let at = extent.at;
        if let Some(unit) = self.odd_text(at) {
            // The step is taken again after this.
            self.place = match self.place {
                Place::List { nested, .. } => Place::List { nested, after: false },
                place => place,
            };
            return Some(unit);
        }
        let end = loop {
            let end = extent.find(&self.stream.rest);
            if end.unwrap_or(extent.at) - at > self.stream.options.max_record_bytes {
                self.at = at;
                self.long = Some(Long { extent, end, first: true });
                return None;
            }
            match end {
                Some(end) => break end,
                None if self.stream.more() => {}
                None if self.stream.failure.is_some() => return self.finish(),
                None => {
                    if !extent.ends_with_stream() {
                        self.place = Place::Outside;
                    }
                    break self.stream.rest.len();
                }
            }
        };
        self.at = end;
        let mut span_end = end;
        if matches!(self.place, Place::Outside) && (self.stream.rest.len() > end || self.stream.more()) {
            span_end += usize::from(self.stream.rest.get(end) == Some(&b'\n'));
        }
        Some(self.unit(at..end, span_end, LineRole::Record))
    }

    fn unit(&mut self, record: Range<usize>, end: usize, kind: LineRole) -> Unit {
        let row = self.row;
        let goes_on = matches!(kind, LineRole::Tail | LineRole::Piece { .. });
        self.row += u64::from(!goes_on);
        self.start = end;
        self.at = self.at.max(end);
        Unit { row, record, end, kind }
    }

    /// Text before `at` that is not UTF-8 cannot be told as text around a record: it is refused by itself.
    fn odd_text(&mut self, at: usize) -> Option<Unit> {
        let before = self.stream.rest.get(self.start..at).unwrap_or_default();
        if std::str::from_utf8(before).is_ok() {
            return None;
        }
        self.at = at;
        Some(self.unit(self.start..at, at, LineRole::Record))
    }

    /// Text between records that is longer than a batch.
    fn surplus(&mut self) -> Option<Unit> {
        let limit = self.stream.options.batch_bytes.max(8);
        if self.at - self.start <= limit {
            return None;
        }
        let whole = self.start + limit;
        let is_start = |at: &usize| self.stream.rest.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let end = (whole - 3..=whole).rev().find(is_start).unwrap_or(whole);
        Some(self.text_to(end))
    }

    /// The text up to `end`, which stands before no record of its batch.
    fn text_to(&mut self, end: usize) -> Unit {
        let text = self.stream.rest.get(self.start..end).unwrap_or_default();
        if std::str::from_utf8(text).is_ok() {
            self.unit(end..end, end, LineRole::Tail)
        } else {
            self.unit(self.start..end, end, LineRole::Record)
        }
    }

    /// A piece of a value that is too long.
    fn piece(&mut self) -> Option<Unit> {
        let target = self.stream.options.batch_bytes.max(1);
        let mut long = self.long?;
        while long.end.is_none() && long.extent.at - self.at < target {
            long.end = long.extent.find(&self.stream.rest);
            if long.end.is_none() && long.extent.at - self.at < target && !self.stream.more() {
                long.end = Some(self.stream.rest.len());
            }
        }
        let end = long.end.map_or(self.at + target, |end| end.min(self.at + target));
        let is_last = long.end == Some(end);
        let kind = LineRole::Piece { first: std::mem::take(&mut long.first) };
        self.long = Some(long).filter(|_| !is_last);
        let unit = (end > self.start).then(|| self.unit(self.at..end, end, kind));
        self.row += u64::from(is_last);
        self.at = end;
        unit
    }

    /// What is left at the end of the stream.
    fn finish(&mut self) -> Option<Unit> {
        let end = self.stream.rest.len();
        let broken = match self.place {
            _ if self.stream.failure.is_some() => Some(self.stream.torn(self.stream.offset + self.start as u64)),
            Place::Outside | Place::Done => None,
            _ => {
                let why = "the document ends before its last bracket; is it cut off? Fetch or write it again";
                Some(LineRole::Torn(why.to_owned()))
            }
        };
        self.place = Place::Done;
        match broken {
            Some(torn) => Some(self.unit(self.start..end, end, torn)),
            None if self.start < end => Some(self.text_to(end)),
            None => None,
        }
    }

    /// Corrects all positions after `by` bytes were handed out.
    fn moved(&mut self, by: usize) {
        self.start -= by;
        self.at -= by;
        if let Place::Closing(extent) = &mut self.place {
            extent.at -= by;
        }
        if let Some(long) = &mut self.long {
            long.extent.at -= by;
            long.end = long.end.map(|end| end - by);
        }
        if let Some(unit) = &mut self.pending {
            unit.end -= by;
            unit.record = unit.record.start - by..unit.record.end - by;
        }
    }
}

impl Cut for DocumentSource {
    fn stream(&self) -> &Stream {
        &self.stream
    }
    fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }

    fn cut(&mut self) -> Option<LineBatch> {
        let target = self.stream.options.batch_bytes.max(1);
        let mut lines: Vec<RecordLine> = Vec::new();
        let mut from = 0;
        while from < target {
            let Some(unit) = self.pending.take().or_else(|| self.next_unit()) else { break };
            if !lines.is_empty() && unit.end > target {
                self.pending = Some(unit);
                break;
            }
            let newlines = |range: Range<usize>| {
                memchr::memchr_iter(b'\n', self.stream.rest.get(range).unwrap_or_default()).count() as u64
            };
            let number = self.number + newlines(from..unit.record.start);
            self.number = number + newlines(unit.record.start..unit.end);
            lines.push(RecordLine {
                row: unit.row,
                number,
                span: from..unit.end,
                record: unit.record,
                kind: unit.kind,
            });
            from = unit.end;
        }
        if lines.is_empty() {
            return None;
        }
        let (offset, bytes) = (self.stream.offset, self.stream.take(from));
        self.moved(from);
        Some(LineBatch { bytes, offset, lines, ..LineBatch::default() })
    }
}
