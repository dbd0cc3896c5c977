//! Reads the answer of a model that was asked for a compaction: topics, summary, and whether the last chunk goes on.
//! Knows the contract of the answer, not the conversation.

use crate::model::{Reason, marker};
use crate::text::cut;

const TOPICS: &str = "topics";
const SUMMARY: &str = "summary";
const CONTINUES: &str = "continues_previous";
/// An answer with more elements of a kind was not written for us.
const MAX_ELEMENTS: usize = 16;
/// Longer topics are a summary of their own.
const MAX_TOPICS_CHARS: usize = 300;

/// What the model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// Phrases separated by commas, on one line.
    pub(super) topics: Option<String>,
    pub(super) body: String,
    /// The archived part goes on with the task of the last chunk; `None` when it does not say.
    pub(super) continues: Option<bool>,
}

/// What `text` says; the error is why it cannot be used. An answer without elements is a summary as a whole; with one,
/// what stands around it is left out.
pub(super) fn read(text: &str) -> Result<Reply, Reason> {
    if text.trim().is_empty() {
        return Err(Reason::LlmEmpty);
    }
    let mut rest = text.to_owned();
    let topics = take(&mut rest, TOPICS)?.and_then(|topics| join(topics.split([',', '，', '、'])));
    let continues = take(&mut rest, CONTINUES)?.as_deref().and_then(affirms);
    let body = match (rest.find("<summary>"), rest.rfind("</summary>")) {
        (None, None) => rest.as_str(),
        (Some(open), Some(close)) => rest.get(open + "<summary>".len()..close).ok_or(Reason::LlmUnreadable)?,
        _ => return Err(Reason::LlmUnreadable),
    };
    let body = marker::without_frame(body.trim()).trim();
    if body.is_empty() {
        return Err(Reason::LlmEmpty);
    }
    Ok(Reply { topics, body: body.to_owned(), continues })
}

/// Distinct phrases on one line, in order, as many as there is room for; `None` when there are none.
pub(super) fn join<'t>(phrases: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut topics = String::new();
    let mut known: Vec<String> = Vec::new();
    for phrase in phrases {
        let mut flat = String::new();
        cut::push_collapsed(&mut flat, phrase);
        let n_chars = topics.chars().count() + flat.chars().count() + 2;
        if flat.is_empty() || n_chars > MAX_TOPICS_CHARS || known.contains(&flat.to_lowercase()) {
            continue;
        }
        if !topics.is_empty() {
            topics.push_str(", ");
        }
        topics.push_str(&flat);
        known.push(flat.to_lowercase());
    }
    (!topics.is_empty()).then_some(topics)
}

/// Takes every element `name` out of `text` and gives what the first one holds; an element that is not closed cannot be
/// read. What is inside the summary is its own.
fn take(text: &mut String, name: &str) -> Result<Option<String>, Reason> {
    let (opening, closing) = (format!("<{name}>"), format!("</{name}>"));
    let mut first = None;
    for _ in 0..=MAX_ELEMENTS {
        let summary = text.find(&format!("<{SUMMARY}>")).zip(text.rfind(&format!("</{SUMMARY}>")));
        let is_own = |at: &usize| summary.is_none_or(|(open, close)| *at < open || *at > close);
        let Some(open) = text.match_indices(&opening).map(|(at, _)| at).find(is_own) else { return Ok(first) };
        let inner = open + opening.len();
        let close = text.get(inner..).and_then(|rest| rest.find(&closing)).ok_or(Reason::LlmUnreadable)? + inner;
        first = first.or_else(|| text.get(inner..close).map(str::to_owned));
        text.replace_range(open..close + closing.len(), "");
    }
    Err(Reason::LlmUnreadable)
}

fn affirms(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "true" | "1" => Some(true),
        "no" | "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Reply, read};
    use crate::model::Reason;

    #[track_caller]
    fn check(text: &str, topics: Option<&str>, body: &str, continues: Option<bool>) {
        let expected = Reply { topics: topics.map(str::to_owned), body: body.to_owned(), continues };
        assert_eq!(read(text), Ok(expected), "{text}");
    }

    #[test]
    fn topics_summary_and_flag_are_read_wherever_they_stand() {
        check("<topics>a, b c</topics>\n<summary>\nText.\n</summary>", Some("a, b c"), "Text.", None);
        check("<topics>\n a,\n  b\tc,, A </topics><summary>T</summary>", Some("a, b c"), "T", None);
        check("Here it is:\n<summary>T</summary>\nHope that helps!", None, "T", None);
        check("<continues_previous> Yes\n</continues_previous><summary>T</summary>", None, "T", Some(true));
        check("<summary>T</summary><continues_previous>no</continues_previous>", None, "T", Some(false));
        check("<continues_previous>perhaps</continues_previous>T", None, "T", None);
        check("A reply without any element.", None, "A reply without any element.", None);
        check("<topics>a</topics>\n\nT\n<topics>b</topics>", Some("a"), "T", None);
        check("<topics> </topics><summary>T</summary>", None, "T", None);
    }

    #[test]
    fn the_summary_may_speak_of_elements() {
        let html = "Uses <details><summary>More</summary></details> and <topics>.";
        check(&format!("<topics>html</topics><summary>{html}</summary>"), Some("html"), html, None);
    }

    #[test]
    fn a_repeated_frame_is_no_part_of_the_body() {
        let frame = "[Compressed conversation summary, level 1, chunk 1: earlier turns are archived]";
        check(&format!("<summary>{frame}\n\nT</summary>"), None, "T", None);
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", Reason::LlmEmpty),
            (" \n", Reason::LlmEmpty),
            ("<topics>a, b</topics>\n", Reason::LlmEmpty),
            ("<topics>a</topics><summary> </summary>", Reason::LlmEmpty),
            ("<topics>a, b", Reason::LlmUnreadable),
            ("<topics>a</topics><summary>cut off in the mid", Reason::LlmUnreadable),
            ("a</summary>", Reason::LlmUnreadable),
            ("</summary>a<summary>", Reason::LlmUnreadable),
            ("<continues_previous>yes <summary>T</summary>", Reason::LlmUnreadable),
        ] {
            assert_eq!(read(text), Err(reason), "{text}");
        }
    }
}
