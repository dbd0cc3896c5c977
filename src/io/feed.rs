//! What can be told of the value at a place in a stream of JSON: where it ends, and whether it holds records. Knows nothing
//! of batches.

use super::extent::Extent;
use super::stream::Stream;
use crate::shape::{RECORD_LISTS, detect, is_list_key};

const READ_BYTES: usize = 1 << 18;

/// Where an object holds records.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inside {
    /// In a list; the place after its bracket.
    List(usize),
    /// Under names of their own; the place after the brace.
    Members(usize),
}

impl Stream {
    /// Reads more; false at the end of the stream.
    pub(super) fn more(&mut self) -> bool {
        self.fill(self.rest.len() + READ_BYTES)
    }

    /// The first byte at or after `at` that is no white space, with its place.
    pub(super) fn byte_after(&mut self, mut at: usize) -> Option<(u8, usize)> {
        let limit = at.saturating_add(self.options.max_record_bytes);
        while at <= limit {
            match self.rest.get(at).copied() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
                Some(byte) => return Some((byte, at)),
                None if self.more() => {}
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
            if end.unwrap_or(extent.at) - at > self.options.max_record_bytes {
                return None;
            }
            if end.is_some() || !self.more() {
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
        if let Some(map) = &self.map {
            return map.messages() != Some(&[]);
        }
        let Some(end) = self.value_end(at) else { return true };
        let Some(Ok(item)) = self.rest.get(at..end).map(std::str::from_utf8) else { return true };
        detect(item).is_some() || detect(&format!("[{item}]")).is_none()
    }

    /// When the object at `at` is not a record but holds some: where. What stands before them is no longer than a record.
    pub(super) fn records_inside(&mut self, at: usize) -> Option<Inside> {
        // Where the list of a record is said to be, the record is the whole.
        if self.map.is_some() {
            return None;
        }
        let begin = at + 1;
        let mut at = begin;
        loop {
            if at - begin > self.options.max_record_bytes {
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
