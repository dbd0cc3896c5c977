//! What an assistant thinks: blocks and keys of a message that hold it, under the names of several APIs. Knows where it
//! stands; refuses to know what it says, and what programs hide of it.

use std::borrow::Cow;

use super::json::{Kind, Raw, items, members};

/// Keys of a message beside its content, as written.
const KEYS: [&str; 5] = ["\"reasoning_content\"", "\"reasoning\"", "\"thinking\"", "\"thought\"", "\"thoughts\""];
/// Parts of a content list.
pub(super) const PARTS: [&str; 2] = ["thinking", "reasoning"];
/// What of an object is text; all else is a kind, a signature, or sealed.
const TEXTS: [&str; 6] = ["thinking", "reasoning", "text", "summary", "subject", "description"];
/// Objects and lists in each other that are looked into.
const MAX_DEPTH: usize = 4;

/// True for the key of a message that holds what its speaker thinks.
pub(super) fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

/// Adds the texts of `value`: a string, a list of them, or an object that has some. What is there already is not added:
/// programs like to write the same under two names.
pub(super) fn read<'r>(value: Raw<'r>, texts: &mut Vec<Cow<'r, str>>) {
    read_at(value, texts, MAX_DEPTH);
}

fn read_at<'r>(value: Raw<'r>, texts: &mut Vec<Cow<'r, str>>, depth: usize) {
    match value.kind {
        Kind::Text => texts.extend(value.string().filter(|text| !text.is_empty() && !texts.contains(text))),
        Kind::List if depth > 0 => items(value.text, |item| read_at(item, texts, depth - 1)),
        Kind::Object if depth > 0 => members(value.text, |key, value| {
            if TEXTS.contains(&key.name.as_ref()) {
                read_at(value, texts, depth - 1);
            }
        }),
        _ => {}
    }
}
