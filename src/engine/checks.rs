//! Whether a text that a model wrote may stand for others: not empty, no call of a tool, in the language of the source,
//! and with no identifier or number that the source does not have. What the engine's own text says is granted too. Knows
//! texts; refuses to know who asked and how long an answer may be.

use std::collections::HashSet;

use foldhash::fast::FixedState;
use whatlang::{Info, detect};

use crate::model::{Reason, marker};
use crate::text::{FactKind, Lexer, TextView};

/// A shorter text does not show its language.
const MIN_LANGUAGE_CHARS: usize = 60;
/// Surety of the language, 0 to 1, from which it counts.
const MIN_SURETY: f64 = 0.9;
/// What calls of tools look like in the texts of models.
const CALLS: [&str; 10] = [
    "<tool_call",
    "</tool_call",
    "<function_call",
    "<function=",
    "<invoke ",
    "<tool_use",
    "[tool_calls]",
    "<|tool",
    "```tool_code",
    "\"tool_calls\"",
];
/// Numbers that are often written as words.
const WORDS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Why `answer` may not stand for `source`; `draft` is what the engine itself would say.
pub(super) fn objection(answer: &str, source: &[TextView<'_>], draft: &str) -> Option<Reason> {
    if answer.trim().is_empty() {
        return Some(Reason::LlmEmpty);
    }
    if answer.trim() == draft.trim() {
        return None;
    }
    if calls_a_tool(answer) && !calls_a_tool(draft) {
        return Some(Reason::LlmToolCall);
    }
    if marker::stands_for_others(answer) {
        return Some(Reason::LlmUnreadable);
    }
    let texts: Vec<&str> = source.iter().map(|view| view.text).collect();
    let source_text = texts.join("\n");
    if is_in_another_language(answer, &source_text, draft) {
        return Some(Reason::LlmLanguage);
    }
    (!invented(answer, source, &source_text, draft).is_empty()).then_some(Reason::LlmInvented)
}

/// True for text that is, or contains, what a program would take for a call of a tool.
pub(super) fn calls_a_tool(text: &str) -> bool {
    let folded = text.to_ascii_lowercase();
    if CALLS.iter().any(|call| folded.contains(call)) {
        return true;
    }
    let body = text.trim().trim_start_matches("```json").trim_matches('`').trim();
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str(body) else { return false };
    let has = |key: &str| object.contains_key(key);
    (has("name") || has("function") || has("tool")) && (has("arguments") || has("parameters") || has("input"))
}

fn is_in_another_language(answer: &str, source: &str, draft: &str) -> bool {
    let sure = |text: &str| -> Option<Info> {
        let is_long = text.chars().take(MIN_LANGUAGE_CHARS).count() == MIN_LANGUAGE_CHARS;
        is_long.then(|| detect(text)).flatten()
    };
    let Some(found) = sure(answer) else { return false };
    let is_sure = |info: &Info| info.confidence() >= MIN_SURETY;
    let differs = |other: &Info| {
        other.script() != found.script() || other.lang() != found.lang() && is_sure(other) && is_sure(&found)
    };
    sure(source).is_some_and(|other| differs(&other)) && !sure(draft).is_some_and(|other| !differs(&other))
}

/// The identifiers and numbers of `answer` that neither the source nor the draft has.
fn invented<'t>(answer: &'t str, source: &[TextView<'_>], source_text: &str, draft: &str) -> Vec<&'t str> {
    let mut lexer = Lexer::default();
    let mut facts: Vec<(FactKind, u64, &str)> = Vec::new();
    for line in answer.lines().map(without_number) {
        lexer.clear();
        let lexed = lexer.lex_facts(line);
        facts.extend(lexer.view(line, &lexed).facts.iter().map(|fact| (fact.kind, fact.key, fact.span.of(line))));
    }
    if facts.is_empty() {
        return Vec::new();
    }
    let mut known: HashSet<u64, FixedState> = source.iter().flat_map(|view| view.facts).map(|fact| fact.key).collect();
    lexer.clear();
    let lexed = lexer.lex_facts(draft);
    known.extend(lexer.view(draft, &lexed).facts.iter().map(|fact| fact.key));
    let granted = Granted::of(source_text, draft);
    let is_new = |(kind, key, text): &(FactKind, u64, &str)| {
        kind.is_precise() && !known.contains(key) && !granted.contains(*kind, text)
    };
    facts.into_iter().filter(is_new).map(|(_, _, text)| text).collect()
}

/// The line without the number of a list item.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let is_item = rest.len() < line.trim_start().len() && rest.starts_with(". ") || rest.starts_with(") ");
    if is_item { rest.get(2..).unwrap_or_default() } else { line }
}

/// What may be said: the words of the source and of the draft, whatever they are a part of.
struct Granted {
    folded: String,
    /// The digits of every number, without what groups them.
    numbers: HashSet<String, FixedState>,
}

impl Granted {
    fn of(source: &str, draft: &str) -> Self {
        let folded = format!("{source}\n{draft}").to_lowercase();
        let mut numbers: HashSet<String, FixedState> = digits(&folded).collect();
        let is_word = |c: char| !c.is_alphanumeric();
        let words: HashSet<&str, FixedState> = folded.split(is_word).collect();
        let spelled = (0..).zip(WORDS).filter(|(_, word)| words.contains(word));
        numbers.extend(spelled.map(|(number, _): (usize, _)| number.to_string()));
        Self { folded, numbers }
    }

    fn contains(&self, kind: FactKind, text: &str) -> bool {
        let folded = text.trim_matches(['"', '\'', '“', '”', '„', '«', '»', '`']).to_lowercase();
        // A name may stand in the answer as a part of a longer one; of a number no part is true.
        let is_name = matches!(
            kind,
            FactKind::Camel
                | FactKind::Pascal
                | FactKind::Snake
                | FactKind::Screaming
                | FactKind::Kebab
                | FactKind::Host
                | FactKind::Path
                | FactKind::Url
                | FactKind::Email
                | FactKind::Quoted
        );
        let is_there = self.folded.contains(folded.as_str());
        if is_name {
            return is_there || kind == FactKind::Quoted && digits(&folded).next().is_none();
        }
        is_there && has_bounds(&self.folded, &folded) || {
            let mut own = digits(&folded).peekable();
            own.peek().is_some() && own.all(|number| self.numbers.contains(&number)) && is_number(kind)
        }
    }
}

fn is_number(kind: FactKind) -> bool {
    matches!(
        kind,
        FactKind::Number
            | FactKind::Quantity
            | FactKind::Money
            | FactKind::Percent
            | FactKind::Date
            | FactKind::Time
            | FactKind::Phone
            | FactKind::Ticket
            | FactKind::Hash
    )
}

/// The runs of digits of `text`; commas, apostrophes and thin spaces between groups of three are left out, and so are
/// zeros in front and behind the decimal point.
fn digits(text: &str) -> impl Iterator<Item = String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut found) = (0, Vec::new());
    while at < chars.len() {
        if !chars[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let mut number = String::new();
        while at < chars.len() {
            let c = chars[at];
            let is_group = matches!(c, ',' | '\'' | '\u{2009}' | '\u{202f}' | '_')
                && chars.get(at + 1..at + 4).is_some_and(|next| next.iter().all(char::is_ascii_digit))
                && chars.get(at + 4).is_none_or(|c| !c.is_ascii_digit());
            let is_point = c == '.' && chars.get(at + 1).is_some_and(char::is_ascii_digit) && !number.contains('.');
            if c.is_ascii_digit() || is_point {
                number.push(c);
            } else if !is_group {
                break;
            }
            at += 1;
        }
        let number = number.trim_start_matches('0');
        let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
        found.push(if number.is_empty() { "0".to_owned() } else { number.to_owned() });
    }
    found.into_iter()
}

/// True when `part` stands somewhere in `text` with no letter or digit before and behind it.
fn has_bounds(text: &str, part: &str) -> bool {
    text.match_indices(part).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let behind = text.get(at + part.len()..).and_then(|tail| tail.chars().next());
        ![before, behind].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::{calls_a_tool, objection};
    use crate::model::Reason;
    use crate::text::Lexer;

    const SOURCE: &str = "The pool in src/db/pool.ts was raised from 20 to 1,200 connections after the outage on \
        March 3, since fetchUser() timed out after 30.50 seconds. Three retries did not help; see KMS-7781.";

    fn check(answer: &str) -> Option<Reason> {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(SOURCE);
        objection(answer, &[lexer.view(SOURCE, &lexed)], "The pool was raised. 12 lines.")
    }

    #[test]
    fn what_the_source_says_may_be_said_in_other_words() {
        for fine in [
            "Raised the pool from 20 to 1200 connections (pool.ts) because fetchUser timed out at 30.5 seconds.",
            "After the March 3 outage: pool 20 → 1,200; 3 retries were of no help (KMS-7781).",
            "1. The pool was raised.\n2. Retries did not help.",
            "12 lines about the \"pool size\".",
        ] {
            assert_eq!(check(fine), None, "{fine}");
        }
    }

    #[test]
    fn what_the_source_does_not_say_is_invented() {
        for wrong in [
            "Raised the pool from 20 to 2000 connections.",
            "The change is in src/db/client.ts.",
            "fetchUsers timed out, so retryPolicy was added.",
            "See KMS-778.",
            "The outage on March 4 was caused by the pool.",
            "The pool was raised by 15%.",
            "See https://example.com/outage for more.",
        ] {
            assert_eq!(check(wrong), Some(Reason::LlmInvented), "{wrong}");
        }
    }

    #[test]
    fn calls_and_other_languages_are_no_summaries() {
        assert_eq!(check("<tool_call>{\"name\": \"read\"}</tool_call>"), Some(Reason::LlmToolCall));
        assert_eq!(check("{\"name\": \"read\", \"arguments\": {}}"), Some(Reason::LlmToolCall));
        assert!(!calls_a_tool("The function read takes a name and arguments."));
        let german = "Der Pool wurde nach dem Ausfall vergrößert, weil die Abfragen zu lange dauerten und die Versuche \
            davor nicht geholfen haben.";
        assert_eq!(check(german), Some(Reason::LlmLanguage));
        let chinese = "连接池在故障之后被扩大了，因为查询花费的时间太长，而且之前的重试没有任何帮助。".repeat(2);
        assert_eq!(check(&chinese), Some(Reason::LlmLanguage));
        assert_eq!(check("  \n"), Some(Reason::LlmEmpty));
        assert_eq!(check("[summary: The pool was raised.]"), Some(Reason::LlmUnreadable));
        assert_eq!(check("The pool was raised. 12 lines."), None, "what the engine itself would say");
    }
}
