//! The words that a model is asked with: text files, filled in from the options and from what is asked. Knows questions
//! and requests; refuses to know APIs.

use super::Request;
use crate::model::{Ask, CompactionAsk, EngineOptions, SummaryAsk, SummaryMode, Turn};
use crate::text::tokens::estimate;

const NORMAL: &str = include_str!("prompts/summary_normal.txt");
const AGGRESSIVE: &str = include_str!("prompts/summary_aggressive.txt");
const STRUCTURED: &str = include_str!("prompts/summary_structured.txt");
const LINE: &str = include_str!("prompts/summary_line.txt");
const CLASSIFIER: &str = include_str!("prompts/classifier.txt");
const COMPACTION: &str = include_str!("prompts/compaction.txt");
const CONTINUES: &str = include_str!("prompts/compaction_continues.txt");
const PRESERVE: &str = include_str!("prompts/preserve.txt");
/// A ruling is one line.
const RULING_TOKENS: usize = 100;
/// Topics and tags stand around the summary of a conversation.
const TOPICS_TOKENS: usize = 200;
/// Between text and what is said about it.
const FENCE: &str = "-----";

/// Makes requests of questions.
#[derive(Debug, Clone)]
pub struct Prompts {
    normal: String,
    aggressive: String,
    structured: String,
    line: String,
    classifier: String,
    max_response_tokens: usize,
}

impl Prompts {
    /// With what the options tell a model.
    pub fn new(options: &EngineOptions) -> Self {
        let preserved = preserved(&options.preserve_terms);
        let opened = |prompt: &str| match options.system_prompt.as_deref().map(str::trim) {
            Some(own) if !own.is_empty() => format!("{own}\n\n{}", prompt.trim_end()),
            _ => prompt.trim_end().to_owned(),
        };
        let bullets = |kinds: &[String], before: &str, behind: &str| -> String {
            kinds.iter().map(|kind| format!("- {before}{kind}{behind}\n")).collect()
        };
        let classifier = CLASSIFIER
            .replace(
                "{preserve}\n",
                &bullets(&options.always_preserve, "it is of this kind, whatever else it is: ", ";"),
            )
            .replace(
                "{compress}\n",
                &bullets(&options.always_compress, "it is of this kind, whatever else it is: ", ";"),
            )
            .replace("{tokens}", &RULING_TOKENS.to_string());
        Self {
            normal: opened(&NORMAL.replace("{preserve}", &preserved)),
            aggressive: opened(&AGGRESSIVE.replace("{preserve}", &preserved)),
            structured: opened(STRUCTURED),
            line: opened(LINE),
            classifier: opened(&classifier),
            max_response_tokens: options.max_response_tokens,
        }
    }

    /// The request for a question.
    pub fn request(&self, ask: &Ask) -> Request {
        match ask {
            Ask::Summary(ask) => self.summary(ask),
            Ask::Ruling { text, role } => {
                let asked = format!("The message, said by `{role}`:\n{FENCE}\n{text}\n{FENCE}");
                told(&self.classifier, asked, RULING_TOKENS)
            }
            Ask::Compaction(ask) => compaction(ask),
        }
    }

    fn summary(&self, ask: &SummaryAsk) -> Request {
        let system = match ask.mode {
            SummaryMode::Normal => &self.normal,
            SummaryMode::Aggressive => &self.aggressive,
            SummaryMode::Structured => &self.structured,
            SummaryMode::Line => &self.line,
        };
        let whole = estimate(ask.max_chars).min(self.max_response_tokens);
        let (tokens, max_chars) = match ask.mode {
            SummaryMode::Aggressive => ((whole / 2).max(1), ask.max_chars / 2),
            SummaryMode::Normal | SummaryMode::Structured => (whole, ask.max_chars),
            // Models count badly, and a line too long is thrown away.
            SummaryMode::Line => (whole * 3 / 4, ask.max_chars * 3 / 4),
        };
        let text = &ask.text;
        let asked = format!(
            "Write fewer than {tokens} tokens, in any case fewer than {max_chars} characters; a longer answer is \
             thrown away.\n\nText:\n{FENCE}\n{text}\n{FENCE}"
        );
        told(system, asked, self.max_response_tokens)
    }
}

/// A request of two turns; the first is the same for all of its kind.
fn told(system: &str, asked: String, max_tokens: usize) -> Request {
    let turn = |role: &str, text: String| Turn { role: role.to_owned(), text, ..Turn::default() };
    Request { turns: vec![turn("system", system.to_owned()), turn("user", asked)], max_tokens, cache_until: Some(0) }
}

/// The instruction behind the conversation itself, whose beginning the API may still have in its cache.
fn compaction(ask: &CompactionAsk) -> Request {
    let tokens = estimate(ask.max_chars);
    let (continues, example, last) = match &ask.previous_topics {
        None => (String::new(), String::new(), String::new()),
        Some(topics) => (
            format!(
                "{} Say whether what came after goes on with that: <continues_previous>yes</continues_previous> or \
                 <continues_previous>no</continues_previous>\n",
                CONTINUES.trim_end().replace("{topics}", topics)
            ),
            "<continues_previous>no</continues_previous>\n".to_owned(),
            "then <continues_previous>, ".to_owned(),
        ),
    };
    let instruction = COMPACTION
        .replace("{continues}", &continues)
        .replace("{continues_example}", &example)
        .replace("{continues_last}", &last)
        .replace("{tokens}", &tokens.to_string());
    let cache_until = ask.turns.len().checked_sub(1);
    let mut turns = ask.turns.clone();
    turns.push(Turn { role: "user".to_owned(), text: instruction.trim_end().to_owned(), ..Turn::default() });
    Request { turns, max_tokens: tokens + TOPICS_TOKENS, cache_until }
}

/// What is kept word for word: the built-in kinds and those of the user that are not among them.
fn preserved(terms: &[String]) -> String {
    let mut all: Vec<&str> = PRESERVE.lines().filter(|line| !line.is_empty()).collect();
    for term in terms.iter().map(|term| term.trim()).filter(|term| !term.is_empty()) {
        if !all.iter().any(|known| known.eq_ignore_ascii_case(term)) {
            all.push(term);
        }
    }
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::Prompts;
    use crate::model::{Ask, CompactionAsk, EngineOptions, SummaryAsk, SummaryMode, Turn};

    fn options() -> EngineOptions {
        EngineOptions {
            preserve_terms: vec!["Numbers with their units".into(), "names of ships".into()],
            always_preserve: vec!["orders of a customer".into()],
            always_compress: vec!["stand-up notes".into()],
            system_prompt: Some("You work for a shipyard.".into()),
            max_response_tokens: 300,
            ..EngineOptions::default()
        }
    }

    fn summary(mode: SummaryMode, max_chars: usize) -> super::Request {
        let ask = SummaryAsk { mode, text: "The hull of the Arctic Tern leaks.".into(), max_chars, draft: "x".into() };
        Prompts::new(&options()).request(&Ask::Summary(ask))
    }

    /// Every prompt, with nothing left to fill in.
    fn all() -> Vec<(&'static str, String)> {
        let compaction = |previous_topics| {
            let turns = vec![Turn { role: "user".into(), text: "hello".into(), ..Turn::default() }];
            Ask::Compaction(CompactionAsk { turns, previous_topics, max_chars: 3_500 })
        };
        let ruling = Ask::Ruling { text: "We ship on Friday.".into(), role: "user".into() };
        let prompts = Prompts::new(&options());
        let joined =
            |request: super::Request| request.turns.iter().map(|turn| &*turn.text).collect::<Vec<_>>().join("\n");
        vec![
            ("normal", joined(summary(SummaryMode::Normal, 700))),
            ("aggressive", joined(summary(SummaryMode::Aggressive, 700))),
            ("structured", joined(summary(SummaryMode::Structured, 700))),
            ("line", joined(summary(SummaryMode::Line, 160))),
            ("classifier", joined(prompts.request(&ruling))),
            ("compaction", joined(prompts.request(&compaction(None)))),
            ("compaction again", joined(prompts.request(&compaction(Some("hulls, paint".into()))))),
        ]
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for (name, prompt) in all() {
            for place in ["{preserve}", "{compress}", "{tokens}", "{text}", "{topics}", "{continues"] {
                assert!(!prompt.contains(place), "{name}: {place} in\n{prompt}");
            }
        }
    }

    #[test]
    fn every_prompt_forbids_calls_and_inventions_and_knows_data_from_orders() {
        for (name, prompt) in all().iter().filter(|(name, _)| !name.starts_with("classifier")) {
            assert!(prompt.contains("call"), "{name} says nothing of calls");
            assert!(prompt.contains("does not say"), "{name} allows inventions");
        }
        for (name, prompt) in all().iter().filter(|(name, _)| !name.starts_with("compaction")) {
            assert!(prompt.contains("is data"), "{name} would follow instructions in the text");
        }
    }

    #[test]
    fn terms_are_listed_once_and_the_last_one_behind_and() {
        let prompt = &summary(SummaryMode::Normal, 700).turns[0].text;
        for kind in [
            "code references",
            "file paths",
            "functions and variables",
            "URLs",
            "API keys",
            "error messages",
            "numbers with their units",
            "technical decisions, and names of ships.",
        ] {
            assert_eq!(prompt.matches(kind).count(), 1, "{kind}");
        }
        assert!(prompt.starts_with("You work for a shipyard.\n\n"));
        let structured = &summary(SummaryMode::Structured, 700).turns[0].text;
        assert!(!structured.contains("names of ships"), "structured notes have no list of terms");
        for part in ["## REASONING", "## VARS", "## GUARDRAILS", "first 12 characters", "\"...\""] {
            assert!(structured.contains(part), "{part}");
        }
    }

    #[test]
    fn aggressive_gets_half_the_room_and_at_least_one_token() {
        let of = |mode, max_chars| summary(mode, max_chars).turns[1].text.clone();
        assert!(of(SummaryMode::Normal, 700).contains("fewer than 200 tokens, in any case fewer than 700 characters"));
        assert!(
            of(SummaryMode::Aggressive, 700).contains("fewer than 100 tokens, in any case fewer than 350 characters")
        );
        assert!(of(SummaryMode::Aggressive, 3).contains("fewer than 1 tokens"));
        assert!(of(SummaryMode::Line, 160).contains("fewer than 120 characters"));
        assert!(of(SummaryMode::Normal, 70_000).contains("fewer than 300 tokens"), "max_response_tokens");
        assert!(of(SummaryMode::Normal, 700).contains("Text:\n-----\nThe hull of the Arctic Tern leaks.\n-----"));
        assert!(summary(SummaryMode::Aggressive, 700).turns[0].text.contains("bullet"));
    }

    #[test]
    fn the_classifier_is_told_both_lists_and_the_form_of_its_answer() {
        let (_, prompt) = &all()[4];
        for part in [
            "orders of a customer",
            "stand-up notes",
            "\"decision\": \"preserve\" or \"compress\"",
            "\"confidence\"",
            "\"reason\"",
            "at most 100 tokens",
            "said by `user`",
        ] {
            assert!(prompt.contains(part), "{part}");
        }
    }

    #[test]
    fn the_instruction_of_a_compaction_stands_behind_the_same_prefix() {
        let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into(), ..Turn::default() };
        let turns = vec![turn("system", "Be brief."), turn("user", "Paint the hull."), turn("assistant", "Done.")];
        let ask = CompactionAsk { turns: turns.clone(), previous_topics: None, max_chars: 3_500 };
        let request = Prompts::new(&options()).request(&Ask::Compaction(ask));
        assert_eq!(request.turns[..3], turns, "what a cache knows stays as it is");
        assert_eq!(request.cache_until, Some(2));
        let instruction = &request.turns[3].text;
        for part in [
            "HAS ENDED",
            "not a continuation",
            "Do not answer",
            "Do not call any tool",
            "<topics>",
            "three to six",
            "<summary>",
            "explicitly asked for",
            "read, created or modified",
            "errors",
            "still to be done",
            "at most 1000 tokens",
        ] {
            assert!(instruction.contains(part), "{part} in\n{instruction}");
        }
        assert!(instruction.ends_with("first <topics>, then <summary>."), "models follow the last line best");
        assert!(!instruction.contains("continues_previous"));
        let again = &all()[6].1;
        assert!(
            again.contains("was about: hulls, paint.") && again.contains("first <topics>, then <continues_previous>, ")
        );
    }
}
