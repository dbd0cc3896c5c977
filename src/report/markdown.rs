//! A conversation, or the archived part of one, as Markdown for people: headings per turn, everything else fenced, so that
//! no content can pass for structure. Knows messages and Markdown, not where they come from.

use std::fmt::Write as _;

use serde_json::Value;

use crate::model::{Content, Message, Part, Role};

/// The least that a fence needs.
const MIN_FENCE: usize = 3;

/// What stands above the turns.
#[derive(Debug, Clone, Default)]
pub struct FrontMatter<'a> {
    /// The id of the conversation.
    pub conversation: &'a str,
    /// Where it was read.
    pub source: &'a str,
    /// Row in the source, from 0.
    pub source_row: u64,
    /// How often it was compacted.
    pub level: Option<usize>,
    /// The chunk of its archive.
    pub chunk: Option<usize>,
    /// Number of messages that follow.
    pub n_messages: usize,
    /// What they are about.
    pub topics: Option<&'a str>,
}

impl FrontMatter<'_> {
    /// The front matter, as YAML between lines of dashes, and the title. Texts are quoted as JSON, which is YAML.
    pub fn write(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let mut out = format!("---\nconversation_id: {}\n", quoted(self.conversation));
        let mut line = |key: &str, value: String| writeln!(out, "{key}: {value}").expect("a String takes everything");
        line("source", quoted(self.source));
        line("source_row", self.source_row.to_string());
        for (key, number) in [("compression_level", self.level), ("chunk", self.chunk)] {
            if let Some(number) = number {
                line(key, number.to_string());
            }
        }
        line("message_count", self.n_messages.to_string());
        if let Some(topics) = self.topics {
            line("topics", quoted(topics));
        }
        let title = if self.level.is_some() { "Archived messages" } else { "Original messages" };
        write!(out, "---\n\n# {title}\n\n").expect("a String takes everything");
        out
    }
}

/// One message: a heading with its place, its calls, its texts as they are, and a badge for everything that is no text.
pub fn turn(index: usize, message: &Message<'_>) -> String {
    let mut out = String::new();
    let speaker = match &message.role {
        Role::Missing => "Message".to_owned(),
        Role::Tool | Role::Function => "Tool result".to_owned(),
        role => capitalised(&one_line(role.as_str())),
    };
    let mut heading = format!("## {speaker} [{index}]");
    if let Some(name) = &message.name {
        write!(heading, " {}", code(&one_line(name))).expect("a String takes everything");
    }
    if let Some(id) = &message.tool_call_id {
        write!(heading, " for {}", code(&one_line(id))).expect("a String takes everything");
    }
    out.push_str(&heading);
    out.push_str("\n\n");
    match &message.content {
        Content::Parts(parts) => {
            let mut others = other_parts(message.raw).into_iter();
            for part in parts {
                match part {
                    Part::Text(text) => fence(text, "text", &mut out),
                    Part::Media(_) | Part::Opaque => badge(others.next(), &mut out),
                }
            }
        }
        Content::Text(text) => fence(text, "text", &mut out),
        // What nobody reads as text is shown as it stands there.
        Content::Other => fence(message.raw, "json", &mut out),
        Content::Absent | Content::Null => {}
    }
    for call in &message.tool_calls {
        let name = code(&one_line(call.name.as_deref().unwrap_or("tool")));
        let id = call.id.as_deref().map(|id| format!(" {}", code(&one_line(id)))).unwrap_or_default();
        write!(out, "_Tool call:_ {name}{id}\n\n").expect("a String takes everything");
        fence(&call.arguments, "json", &mut out);
    }
    out
}

/// A part of a content list that is no text: its type, and the words that it holds nevertheless.
struct Other {
    kind: String,
    words: Option<String>,
}

fn badge(other: Option<Other>, out: &mut String) {
    let Some(Other { kind, words }) = other else { return };
    // Calls are told below.
    if kind.ends_with("tool_use") || matches!(kind.as_str(), "tool_call" | "toolCall") {
        return;
    }
    write!(out, "_[_{}_]_\n\n", code(&one_line(&kind))).expect("a String takes everything");
    fence(words.as_deref().unwrap_or_default(), "text", out);
}

/// The parts of the content list that are no text, in order; those inside results too.
fn other_parts(raw: &str) -> Vec<Other> {
    let Ok(message) = serde_json::from_str::<Value>(raw) else { return Vec::new() };
    let places = ["/content", "/message/content", "/payload/content", "/value"];
    let list = places.iter().find_map(|place| message.pointer(place)?.as_array());
    let mut others = Vec::new();
    for item in list.into_iter().flatten() {
        push_others(item, &mut others);
    }
    others
}

fn push_others(item: &Value, others: &mut Vec<Other>) {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or(if item.is_string() { "text" } else { "part" });
    match (kind, item.get("content")) {
        ("tool_result", Some(Value::Array(inner))) if !inner.is_empty() => {
            for item in inner {
                push_others(item, others);
            }
        }
        ("tool_result", Some(Value::String(_))) => {}
        ("text" | "input_text" | "output_text", _) if item.is_string() || has_text(item) => {}
        _ => {
            let words = item.get("thinking").and_then(Value::as_str).map(str::to_owned);
            others.push(Other { kind: kind.to_owned(), words });
        }
    }
}

fn has_text(item: &Value) -> bool {
    ["text", "value"].iter().any(|key| item.get(key).is_some_and(Value::is_string))
}

/// `text` between fences that are longer than any run of backticks in it; nothing is left out.
pub fn fence(text: &str, kind: &str, out: &mut String) {
    if text.is_empty() {
        return;
    }
    let ticks = "`".repeat(MIN_FENCE.max(longest_run(text) + 1));
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    write!(out, "{ticks}{kind}\n{text}{line_end}{ticks}\n\n").expect("a String takes everything");
}

/// Inline code that nothing in `text` can end.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split(char::is_whitespace).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Roles are words; what else stands there cannot be taken for Markdown.
fn capitalised(role: &str) -> String {
    let mut chars = role.chars();
    match chars.next() {
        Some(first) if role.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => code(role),
    }
}

#[cfg(test)]
mod tests {
    use super::{FrontMatter, code, fence};

    #[test]
    fn no_content_ends_its_fence() {
        for text in ["a", "```\n## User\n```", "````` five", "`", "a\n"] {
            let mut out = String::new();
            fence(text, "text", &mut out);
            let ticks: String = out.chars().take_while(|c| *c == '`').collect();
            assert!(!text.contains(&ticks), "{out}");
            assert!(out.contains(text) && out.trim_end().ends_with(&ticks), "{out}");
        }
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a`"), "`` `a` ``");
    }

    #[test]
    fn the_front_matter_is_one_key_per_line() {
        let front = FrontMatter { conversation: "a\n---\nb: \"c\"", topics: Some("x: y"), ..FrontMatter::default() };
        let text = front.write();
        let head = text.split("\n---\n").next().expect("a head");
        assert_eq!(head.lines().count(), 6, "{text}");
        assert!(
            head.contains("conversation_id: \"a\\n---\\nb: \\\"c\\\"\"") && head.contains("topics: \"x: y\""),
            "{text}"
        );
    }
}
