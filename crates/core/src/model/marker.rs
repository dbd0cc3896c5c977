//! The literal formats in which one text stands for others, written and recognised. They are published: logs
//! compacted by other implementations carry the same ones. Knows the grammar, not when a marker is used.

use std::fmt::Write as _;

use super::FlowKind;

mod archive;

pub use archive::{Archive, Chunk, MAX_LISTED_CHUNKS, without_frame};

/// The dash of the formats, with its blanks.
const DASH: &str = " — ";
/// A text that looks like a summary is taken for one up to this many bytes; longer ones are somebody's own words.
const MAX_MARKER_BYTES: usize = 8_000;

/// What a reference begins with, up to the words of its target, if it quotes any.
#[must_use]
pub fn reference_start(is_exact: bool, target_id: &str) -> String {
    format!("[cce:{}dup of {target_id}", if is_exact { "" } else { "near-" })
}

/// ` — <n> chars]` closes `[cce:dup of <id>`.
#[must_use]
pub fn duplicate_end(n_chars: usize) -> String {
    format!("{DASH}{n_chars} chars]")
}

/// ` — <n> chars, ~<p>% match]` closes `[cce:near-dup of <id>`; the share is rounded half away from zero.
#[must_use]
pub fn near_duplicate_end(n_chars: usize, similarity: f64) -> String {
    format!("{DASH}{n_chars} chars, ~{:.0}% match]", (similarity * 100.0 + 0.5).floor())
}

/// Between the id of a reference and the words of its target, which `"` closes.
pub const QUOTE: &str = ": \"";

/// What the text of a superseded message begins with.
pub const SUPERSEDED: &str = "[cce:superseded by ";

/// `[cce:superseded by <id> (<signal>) — `, which a summary and `]` follow.
#[must_use]
pub fn superseded_start(target_id: &str, signal: &str) -> String {
    format!("{SUPERSEDED}{target_id} ({signal}){DASH}")
}

/// `[cce:superseded by <id> — <signal>]`.
#[must_use]
pub fn superseded_brief(target_id: &str, signal: &str) -> String {
    format!("{SUPERSEDED}{target_id}{DASH}{signal}]")
}

/// `[<n> messages of general discussion omitted]`.
#[must_use]
pub fn omitted(n_messages: usize) -> String {
    let plural = if n_messages == 1 { "" } else { "s" };
    format!("[{n_messages} message{plural} of general discussion omitted]")
}

/// What stands for a message of little value when a token budget leaves no room.
pub const MESSAGE_OMITTED: &str = "[message omitted]";

/// `[<n> messages omitted]`
#[must_use]
pub fn messages_omitted(n_messages: usize) -> String {
    format!("[{n_messages} messages omitted]")
}

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

/// ` (<n> messages, <kind>)`.
#[must_use]
pub fn chain_suffix(n_messages: usize, kind: FlowKind) -> String {
    format!(" ({n_messages} messages, {})", kind.as_str())
}

/// ` (<n> messages)`.
#[must_use]
pub fn topic_suffix(n_messages: usize) -> String {
    format!(" ({n_messages} messages)")
}

/// What turns of several speakers are among the kinds.
const TALK: &str = "talk";

/// ` (<n> messages, talk)`.
#[must_use]
pub fn talk_suffix(n_messages: usize) -> String {
    format!(" ({n_messages} messages, {TALK})")
}

/// True for a summary of turns of several speakers: without the names before them its sentences are anybody's.
#[must_use]
pub fn tells_talk(text: &str) -> bool {
    text.trim_end().ends_with(&format!(" messages, {TALK})]")) && inner_summary(text).is_some()
}

/// What separates the entities from the summary.
pub const ENTITIES: &str = " | entities: ";
/// Between two entities.
pub const BETWEEN_ENTITIES: &str = ", ";

/// True when the whole of `text` is one of the literal formats, or summaries around fenced code: it stands for
/// something else already. A text that merely begins like one is not.
#[must_use]
pub fn stands_for_others(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with('[') {
        return false;
    }
    if text.starts_with(SUPERSEDED) {
        return is_superseded(text);
    }
    if Archive::read(text).is_some() {
        return true;
    }
    if text.len() > MAX_MARKER_BYTES {
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
    let counted = inner.strip_suffix(')').and_then(|head| head.rsplit_once(" ("));
    Some(match counted {
        Some((before, count)) if is_count(count) => before,
        _ => inner,
    })
}

/// `3 messages merged`, `3 messages`, `3 messages, qa`, `3 messages, talk`.
fn is_count(text: &str) -> bool {
    let Some((count, kind)) = text.split_once(" messages") else { return false };
    let is_known = |kind: &str| kind == TALK || FlowKind::ALL.iter().any(|known| known.as_str() == kind);
    let is_kind = || kind.strip_prefix(", ").is_some_and(is_known);
    counted(count, "") && (matches!(kind, "" | " merged") || is_kind())
}

/// The id that a `[cce:dup of …]` or `[cce:near-dup of …]` refers to, and the length of the text that it replaced.
#[must_use]
pub fn referred(text: &str) -> Option<(&str, usize)> {
    let head = text.trim().lines().next()?.strip_prefix("[cce:")?.strip_suffix(']')?;
    let rest = head.strip_prefix("dup of ").or_else(|| head.strip_prefix("near-dup of "))?;
    let (name, tail) = rest.rsplit_once(DASH)?;
    let quoted = name.split_once(QUOTE).filter(|(_, words)| words.ends_with('"'));
    let id = quoted.map_or(name, |(id, _)| id);
    Some((id, tail.split_once(" chars")?.0.parse().ok()?))
}

/// The id that a `[cce:superseded by …]` refers to.
#[must_use]
pub fn superseded_by<'t>(text: &'t str) -> Option<&'t str> {
    let rest = text.trim().lines().next()?.strip_prefix(SUPERSEDED)?.strip_suffix(']')?;
    // The end of `text` that may be a signal; no more of it is looked at than that.
    let before_signal = |text: &'t str| {
        let id = text.trim_end_matches(|c: char| c.is_ascii_lowercase() || c == '_');
        Some(id).filter(|id| id.len() < text.len())
    };
    let full = rest
        .match_indices(DASH)
        .find_map(|(at, _)| before_signal(rest.get(..at)?.strip_suffix(')')?)?.strip_suffix(" ("));
    full.or_else(|| before_signal(rest)?.strip_suffix(DASH))
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
}

/// One line, and behind a blank line nothing but fenced blocks.
fn is_superseded(text: &str) -> bool {
    let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_head = head.len() <= MAX_MARKER_BYTES && head.ends_with(']') && head.contains(DASH);
    is_head && (rest.is_empty() || rest.starts_with('\n') && is_fenced(rest))
}

/// True for fenced blocks with blank lines between them.
fn is_fenced(text: &str) -> bool {
    let mut open: Option<&str> = None;
    text.lines().all(|line| {
        let line = line.trim();
        let n_run = line.bytes().take_while(|&byte| byte == b'`' || byte == b'~').count();
        let run = line.get(..n_run).filter(|_| n_run >= 3);
        match (open, run) {
            (None, None) => line.is_empty(),
            (None, Some(_)) => {
                open = run;
                true
            }
            (Some(opening), Some(closing)) if closing.starts_with(opening) && closing.len() == line.len() => {
                open = None;
                true
            }
            (Some(_), _) => true,
        }
    })
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
        || counted(inner, " messages omitted")
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
    use super::{inner_summary, stands_for_others, superseded_by};

    #[test]
    fn markers_are_recognised_as_a_whole_only() {
        for marker in [
            "[summary: uses Redis ... never Memcached]",
            "[summary#cce_sum_1a2b3c: uses Redis (3 messages merged) | entities: Redis]",
            "[cce:dup of m3 — 545 chars]",
            "[cce:near-dup of m3 — 545 chars, ~91% match]\n+ endpoint=10.0.0.3",
            "[cce:superseded by m9 (retraction) — use pg]",
            "[cce:superseded by m9 — retraction]\n\n```sh\nmake\n```\n\n~~~\nunclosed",
            "[truncated — 5000 chars: first words]",
            "[1 message of general discussion omitted]",
            "[summary: Q: how? → A: so (confirmed) (3 messages, qa) | entities: Redis]",
            "[summary: [Redis, KMS-7781] one → two (4 messages)]",
            "[summary: Ana: how?\nBo: so (9 messages, talk)]",
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
            "[cce:superseded by m9 — retraction] and then\n\n```\nx\n```",
            "[cce:superseded by m9 — retraction]\n\n```\nx\n```\n\nmy own words",
        ] {
            assert!(!stands_for_others(own_words), "{own_words}");
        }
    }

    #[test]
    fn the_id_of_a_correction_is_found() {
        assert_eq!(superseded_by("[cce:superseded by a — b (wait_correction) — No (x) — y]"), Some("a — b"));
        assert_eq!(superseded_by("[cce:superseded by m3 — dont_directive]\n\n```\nx\n```"), Some("m3"));
        assert_eq!(superseded_by("[cce:superseded by m3]"), None);
    }

    #[test]
    fn the_inner_text_comes_without_suffixes() {
        assert_eq!(inner_summary("[summary: a b (2 messages merged) | entities: a]"), Some("a b"));
        assert_eq!(inner_summary("[summary#cce_sum_9z: a (b)]"), Some("a (b)"));
        assert_eq!(
            inner_summary("[summary: Q: a → A: b (confirmed) (3 messages, qa)]"),
            Some("Q: a → A: b (confirmed)")
        );
        assert_eq!(inner_summary("[summary: [x] a → b (12 messages) | entities: c]"), Some("[x] a → b"));
        assert_eq!(inner_summary("[summary: Ana: a\nBo: b (9 messages, talk)]"), Some("Ana: a\nBo: b"));
        assert_eq!(inner_summary("[summary: a (two messages)]"), Some("a (two messages)"));
        assert_eq!(inner_summary("summary: a"), None);
    }
}
