//! Whether a text is, or contains, a call of a tool, or refuses the task. Knows what models write; refuses to know why.

use crate::text::words::word_list;

/// What calls of tools and the signs of chat templates look like in the texts of models.
const CALLS: &[&str] = word_list!("answers", CALLS);
/// Attempts to read JSON in one text.
const MAX_OBJECTS: usize = 8;
/// A refusal is said at once.
const MAX_REFUSAL_CHARS: usize = 200;
const REFUSALS: &[&str] = word_list!("answers", REFUSALS);

/// True for text that is, or contains, what a program would take for a call of a tool.
pub(super) fn calls_a_tool(text: &str) -> bool {
    let folded = text.to_ascii_lowercase();
    CALLS.iter().chain(&["\"tool_calls\"", "\"tool_uses\""]).any(|call| folded.contains(call))
        || folded.lines().any(|line| line.trim_start().starts_with("action input:"))
        || is_python(text.trim())
        || objects(text).any(|value| is_call(&value))
}

/// True for an answer that does not do what was asked.
pub(super) fn refuses(answer: &str) -> bool {
    let head: String = answer.chars().take(MAX_REFUSAL_CHARS).collect();
    let head = head.to_lowercase().replace('’', "'");
    REFUSALS.iter().any(|refusal| head.starts_with(refusal))
}

/// `[search(query="x")]`
fn is_python(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(")]")) else { return false };
    let name = inner.split('(').next().unwrap_or_default();
    inner.contains('(') && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

/// The JSON values that begin with a line.
fn objects(text: &str) -> impl Iterator<Item = serde_json::Value> {
    let mut start = 0;
    let starts = text.split_inclusive('\n').filter_map(move |line| {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        let line = text.get(at..)?;
        let line = line.strip_prefix('`').map_or(line, |_| line.trim_start_matches('`').trim_start_matches("json"));
        let line = line.trim_start();
        line.starts_with(['{', '[']).then_some(line)
    });
    let values = |rest: &str| serde_json::Deserializer::from_str(rest).into_iter().next()?.ok();
    starts.take(MAX_OBJECTS).filter_map(values)
}

fn is_call(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Array(values) => values.first().is_some_and(is_call),
        serde_json::Value::Object(object) => {
            let has = |key: &str| object.contains_key(key);
            let names = has("name") || has("function") || has("tool") || has("tool_name");
            let inputs = has("arguments") || has("parameters") || has("input") || has("args");
            names && inputs || has("action") && has("action_input") || object.get("function").is_some_and(is_call)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{calls_a_tool, refuses};

    #[test]
    fn calls_of_all_makes_are_seen() {
        for call in [
            "<tool_call>\n{\"name\": \"read\"}\n</tool_call>",
            "<|python_tag|>brave_search.call(query=\"x\")",
            "[TOOL_CALLS] [{\"name\": \"read\", \"arguments\": {}}]",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function",
            "<function_calls>\n<invoke name=\"read\">",
            "```tool_code\nprint(read())\n```",
            "<|channel|>commentary to=functions.read <|message|>{}",
            "I will look.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}\n```",
            "{\"type\": \"function\", \"function\": {\"name\": \"read\", \"arguments\": \"{}\"}}",
            "[{\"name\": \"read\", \"parameters\": {}}]",
            "{\"action\": \"search\", \"action_input\": \"x\"}",
            "[get_weather(city=\"Paris\"), get_time()]",
            "Thought: look\nAction: search\nAction Input: x",
        ] {
            assert!(calls_a_tool(call), "{call}");
        }
        for fine in [
            "The function read takes a name and arguments.",
            "{\"name\": \"Ada\", \"age\": 36}",
            "[1] The pool (see [2]) was raised (again)",
            "Action: the team raises the pool.",
        ] {
            assert!(!calls_a_tool(fine), "{fine}");
        }
    }

    #[test]
    fn refusals_are_seen_at_the_beginning_only() {
        assert!(refuses("I’m sorry, but I can't summarize this."));
        assert!(refuses("Please provide the text that you want summarized."));
        assert!(!refuses("The agent said: I'm sorry, but I can't do that."));
    }
}
