//! One kept reply as one line of JSON, and back. The line says its key. Knows no files.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Kept, Outcome, ReplyKey};
use crate::error::{Error, ErrorKind, Result};
use crate::llm::{Completion, Usage};

/// A line; either `reply` or `failed` is there.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    key: String,
    model: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    batch: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<Reply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<Failure>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Failure {
    message: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_too_long: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Reply {
    text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_calls: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    input: u64,
    #[serde(default)]
    cached: u64,
    #[serde(default)]
    cache_written: u64,
    output: u64,
}

/// What the index needs of a line; the rest is checked for being JSON only.
#[derive(Deserialize)]
struct Head {
    key: String,
    reply: Option<IgnoredAny>,
    failed: Option<IgnoredAny>,
}

/// A line with its line feed.
pub(super) fn format(key: &ReplyKey, kept: &Kept) -> Result<Vec<u8>> {
    let (reply, failed) = match &kept.outcome {
        Outcome::Reply(Completion { text, has_calls, is_cut, usage }) => {
            let &Usage { input, cached, cache_written, output } = usage;
            let (has_calls, is_cut) = (*has_calls, *is_cut);
            (Some(Reply { text: text.clone(), has_calls, is_cut, input, cached, cache_written, output }), None)
        }
        Outcome::Failed { is_too_long, message } => {
            (None, Some(Failure { message: message.clone(), is_too_long: *is_too_long }))
        }
    };
    let model = kept.model.clone();
    let line = Line { key: hex(key), model, batch: kept.is_batch, cost: kept.cost, reply, failed };
    let mut text = serde_json::to_vec(&line)
        .map_err(|error| Error::new(ErrorKind::Internal, "", "a reply cannot be written").because(error))?;
    text.push(b'\n');
    Ok(text)
}

/// The key of a line, and whether it says that there is no reply; `None` when it is no line of replies.
pub(super) fn head(line: &[u8]) -> Option<(ReplyKey, bool)> {
    let Head { key, reply, failed } = serde_json::from_slice(line).ok()?;
    let key = parse_hex(&key)?;
    match (reply, failed) {
        (Some(_), None) => Some((key, false)),
        (None, Some(_)) => Some((key, true)),
        _ => None,
    }
}

/// A line; `None` when it is none.
pub(super) fn parse(line: &[u8]) -> Option<(ReplyKey, Kept)> {
    let Line { key, model, batch, cost, reply, failed } = serde_json::from_slice(line).ok()?;
    let outcome = match (reply, failed) {
        (Some(Reply { text, has_calls, is_cut, input, cached, cache_written, output }), None) => {
            let usage = Usage { input, cached, cache_written, output };
            Outcome::Reply(Completion { text, has_calls, is_cut, usage })
        }
        (None, Some(Failure { message, is_too_long })) => Outcome::Failed { is_too_long, message },
        _ => return None,
    };
    Some((parse_hex(&key)?, Kept { model, is_batch: batch, cost, outcome }))
}

/// A key as text: 64 characters, as long as both batch APIs let an id be.
pub(in crate::llm) fn hex(key: &ReplyKey) -> String {
    blake3::Hash::from_bytes(*key).to_hex().to_string()
}

/// The key that a text names.
pub(in crate::llm) fn parse_hex(text: &str) -> Option<ReplyKey> {
    blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes())
}
