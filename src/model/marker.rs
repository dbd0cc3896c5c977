//! The literal formats in which one text stands for others, written and recognised. They are published: logs
//! compacted by other implementations carry the same ones. Knows the grammar, not when a marker is used.

use std::fmt::Write as _;

/// The dash of the formats, with its blanks.
const DASH: &str = " — ";
/// A text that looks like a summary is taken for one up to this many bytes; longer ones are somebody's own words.
const MAX_MARKER_BYTES: usize = 8_000;

/// `[cce:dup of <id> — <n> chars]`.
#[must_use]
pub fn duplicate(target_id: &str, n_chars: usize) -> String {
    format!("[cce:dup of {target_id}{DASH}{n_chars} chars]")
}

/// `[cce:near-dup of <id> — <n> chars, ~<p>% match]`; the share is rounded half away from zero.
#[must_use]
pub fn near_duplicate(target_id: &str, n_chars: usize, similarity: f64) -> String {
    format!("[cce:near-dup of {target_id}{DASH}{n_chars} chars, ~{:.0}% match]", (similarity * 100.0 + 0.5).floor())
}

/// `[<n> messages of general discussion omitted]`.
#[must_use]
pub fn omitted(n_messages: usize) -> String {
    let plural = if n_messages == 1 { "" } else { "s" };
    format!("[{n_messages} message{plural} of general discussion omitted]")
}

/// What stands for a message of little value when a token budget leaves no room.
pub const MESSAGE_OMITTED: &str = "[message omitted]";

/// `[truncated — <n> chars: `, to be closed with `]`.
#[must_use]
pub fn truncated_start(n_chars: usize) -> String {
    format!("[truncated{DASH}{n_chars} chars: ")
}

/// `[summary: ` or `[summary#<id>: `.
#[must_use]
pub fn summary_start(embedded_id: Option<&str>) -> String {
    embedded_id.map_or_else(|| "[summary: ".to_owned(), |id| format!("[summary#{id}: "))
}

/// ` (<n> messages merged)` for two or more.
#[must_use]
pub fn merge_suffix(n_messages: usize) -> String {
    let mut suffix = String::new();
    if n_messages > 1 {
        write!(suffix, " ({n_messages} messages merged)").expect("a String takes everything");
    }
    suffix
}

/// What separates the entities from the summary.
pub const ENTITIES: &str = " | entities: ";

/// True when the whole of `text` is one of the literal formats, or summaries around fenced code: it stands for
/// something else already. A text that merely begins like one is not.
#[must_use]
pub fn stands_for_others(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with('[') || text.len() > MAX_MARKER_BYTES {
        return false;
    }
    inner_summary(text).is_some() || is_reference(text) || is_truncation(text) || is_omission(text) || is_context(text)
}

/// The text inside `[summary: …]` without merge and entity suffixes; `None` when `text` is no such marker.
#[must_use]
pub fn inner_summary(text: &str) -> Option<&str> {
    let text = text.trim();
    let text = text.strip_prefix("[context: ").and_then(|rest| rest.split_once("] ")).map_or(text, |(_, rest)| rest);
    let rest = text.strip_prefix("[summary")?;
    let rest = match rest.strip_prefix('#') {
        Some(tagged) => tagged.split_once(": ").filter(|(id, _)| is_summary_id(id))?.1,
        None => rest.strip_prefix(": ")?,
    };
    let inner = rest.strip_suffix(']')?;
    let inner = inner.rsplit_once(ENTITIES).map_or(inner, |(before, _)| before);
    let merged = inner.strip_suffix(" messages merged)").and_then(|head| head.rsplit_once(" ("));
    Some(match merged {
        Some((before, count)) if count.bytes().all(|b| b.is_ascii_digit()) => before,
        _ => inner,
    })
}

/// The id that a `[cce:dup of …]` or `[cce:near-dup of …]` refers to, and the length of the text that it replaced.
#[must_use]
pub fn referred(text: &str) -> Option<(&str, usize)> {
    let head = text.trim().lines().next()?.strip_prefix("[cce:")?.strip_suffix(']')?;
    let rest = head.strip_prefix("dup of ").or_else(|| head.strip_prefix("near-dup of "))?;
    let (id, tail) = rest.rsplit_once(DASH)?;
    Some((id, tail.split_once(" chars")?.0.parse().ok()?))
}

fn is_summary_id(id: &str) -> bool {
    id.strip_prefix("cce_sum_")
        .is_some_and(|hash| !hash.is_empty() && hash.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

fn is_reference(text: &str) -> bool {
    let head = text.lines().next().unwrap_or_default();
    let Some(rest) = head.strip_prefix("[cce:").and_then(|rest| rest.strip_suffix(']')) else { return false };
    let one_line = head.len() == text.len();
    let body = |verb: &str| rest.strip_prefix(verb).and_then(|rest| rest.rsplit_once(DASH)).map(|(_, tail)| tail);
    body("dup of ").is_some_and(|tail| one_line && counted(tail, " chars"))
        || body("near-dup of ").is_some_and(|tail| tail.ends_with("% match") && tail.contains(" chars, ~"))
        || (one_line && rest.starts_with("superseded by ") && rest.contains(DASH))
}

fn is_truncation(text: &str) -> bool {
    text.strip_prefix("[truncated")
        .and_then(|rest| rest.strip_prefix(DASH))
        .and_then(|rest| rest.split_once(" chars: "))
        .is_some_and(|(count, rest)| counted(count, "") && rest.ends_with(']'))
}

fn is_omission(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else { return false };
    text == MESSAGE_OMITTED
        || counted(inner, " message of general discussion omitted")
        || counted(inner, " messages of general discussion omitted")
}

fn is_context(text: &str) -> bool {
    text.strip_prefix("[context: ")
        .and_then(|rest| rest.split_once("] ["))
        .is_some_and(|(_, rest)| rest.starts_with("summary") && rest.ends_with(']'))
}

fn counted(text: &str, unit: &str) -> bool {
    text.strip_suffix(unit).is_some_and(|count| !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{inner_summary, stands_for_others};

    #[test]
    fn markers_are_recognised_as_a_whole_only() {
        for marker in [
            "[summary: uses Redis ... never Memcached]",
            "[summary#cce_sum_1a2b3c: uses Redis (3 messages merged) | entities: Redis]",
            "[cce:dup of m3 — 545 chars]",
            "[cce:near-dup of m3 — 545 chars, ~91% match]\n+ endpoint=10.0.0.3",
            "[cce:superseded by m9 (retraction) — use pg]",
            "[truncated — 5000 chars: first words]",
            "[1 message of general discussion omitted]",
            "[context: fetchData calls the API.] [summary: handles retries]",
        ] {
            assert!(stands_for_others(marker), "{marker}");
        }
        for own_words in [
            "[truncated log follows] 2024 INFO start",
            "[summary: my notes] and then some more",
            "[summary] of the week",
            "[summary#x: y]",
            "[cce:dup of m3]",
            "a [summary: x]",
        ] {
            assert!(!stands_for_others(own_words), "{own_words}");
        }
    }

    #[test]
    fn the_inner_text_comes_without_suffixes() {
        assert_eq!(inner_summary("[summary: a b (2 messages merged) | entities: a]"), Some("a b"));
        assert_eq!(inner_summary("[summary#cce_sum_9z: a (b)]"), Some("a (b)"));
        assert_eq!(inner_summary("summary: a"), None);
    }
}
