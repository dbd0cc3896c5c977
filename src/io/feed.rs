//! A stream of JSON as far as it was read, and what can be told of the value at a place in it: where it ends, and
//! whether it holds records. Knows nothing of batches.

use std::io::Read;

use super::extent::Extent;
use super::held::Held;
use crate::shape::{RECORD_LISTS, detect, is_list_key};

const READ_BYTES: usize = 1 << 18;

/// A stream that is read as far as it is needed.
pub(super) struct Feed {
    stream: Box<dyn Read + Send>,
    /// Read but not yet handed out; all places are in it.
    pub(super) rest: Held,
    pub(super) hasher: blake3::Hasher,
    /// Why the stream broke.
    pub(super) failure: Option<String>,
    max_record_bytes: usize,
    ended: bool,
}

/// Where an object holds records.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inside {
    /// In a list; the place after its bracket.
    List(usize),
    /// Under names of their own; the place after the brace.
    Members(usize),
}

impl Feed {
    pub(super) fn new(stream: Box<dyn Read + Send>, max_record_bytes: usize) -> Self {
        Self {
            stream,
            rest: Held::default(),
            hasher: blake3::Hasher::new(),
            failure: None,
            max_record_bytes,
            ended: false,
        }
    }

    /// Lets go of the stream.
    pub(super) fn close(&mut self) {
        self.stream = Box::new(std::io::empty());
    }

    /// Reads more; false at the end of the stream. Damage ends it, what was read before it stays.
    pub(super) fn fill(&mut self) -> bool {
        if self.ended {
            return false;
        }
        let before = self.rest.len();
        let (n_read, failure) = self.rest.read(&mut self.stream, READ_BYTES);
        self.ended = n_read < READ_BYTES || failure.is_some();
        self.failure = failure.map(|error| error.to_string());
        let read = self.rest.get(before..).unwrap_or_default();
        self.hasher.update(read);
        !read.is_empty()
    }

    /// The first byte at or after `at` that is no white space, with its place.
    pub(super) fn byte_after(&mut self, mut at: usize) -> Option<(u8, usize)> {
        let limit = at.saturating_add(self.max_record_bytes);
        while at <= limit {
            match self.rest.get(at).copied() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(byte) => return Some((byte, at)),
                None if self.fill() => {}
                None => return None,
            }
        }
        None
    }

    /// The end of the value at `at`; `None` when it is not whole or too long.
    pub(super) fn value_end(&mut self, at: usize) -> Option<usize> {
        let mut extent = Extent::of_value(at);
        loop {
            let end = extent.find(&self.rest);
            if end.unwrap_or(extent.at) - at > self.max_record_bytes {
                return None;
            }
            if end.is_some() || !self.fill() {
                return end;
            }
        }
    }

    /// The end of the value at `at` when it is an object that holds a conversation.
    pub(super) fn record_end(&mut self, at: usize) -> Option<usize> {
        let end = self.value_end(at).filter(|_| self.rest.get(at) == Some(&b'{'))?;
        let text = std::str::from_utf8(self.rest.get(at..end)?).ok()?;
        detect(text).map(|_| end)
    }

    /// False for a list of messages, which is one record, and for an empty list.
    pub(super) fn is_list_of_records(&mut self, at: usize) -> bool {
        let Some((first, at)) = self.byte_after(at + 1) else { return false };
        if first == b']' {
            return false;
        }
        let Some(end) = self.value_end(at) else { return true };
        let Some(Ok(item)) = self.rest.get(at..end).map(std::str::from_utf8) else { return true };
        detect(item).is_some() || detect(&format!("[{item}]")).is_none()
    }

    /// When the object at `at` is not a record but holds some: where. What stands before them is no longer than a record.
    pub(super) fn records_inside(&mut self, at: usize) -> Option<Inside> {
        let begin = at + 1;
        let mut at = begin;
        loop {
            if at - begin > self.max_record_bytes {
                return None;
            }
            let (_, key) = self.byte_after(at).filter(|&(byte, _)| byte == b'"')?;
            let key_end = self.value_end(key)?;
            let (_, colon) = self.byte_after(key_end).filter(|&(byte, _)| byte == b':')?;
            let (byte, value) = self.byte_after(colon + 1)?;
            let name = self.rest.get(key + 1..key_end - 1).and_then(|name| std::str::from_utf8(name).ok())?.to_owned();
            if byte == b'[' {
                if is_list_key(&name) {
                    return None;
                }
                if RECORD_LISTS.contains(&name.as_str()) {
                    let (_, item) = self.byte_after(value + 1)?;
                    if self.record_end(item).is_some() {
                        return Some(Inside::List(value + 1));
                    }
                }
            }
            if at == begin && self.record_end(value).is_some() {
                return Some(Inside::Members(begin));
            }
            let end = self.value_end(value)?;
            let (_, comma) = self.byte_after(end).filter(|&(byte, _)| byte == b',')?;
            at = comma + 1;
        }
    }
}
