//! Learning from outcomes: pairs of originals and compressed texts become questions about what was lost or kept in vain,
//! and the answers better options. Knows neither files nor connections.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Request;
use crate::error::{Error, Result};
use crate::model::Turn;

const LOST: &str = include_str!("prompts/feedback_lost.txt");
const KEPT: &str = include_str!("prompts/feedback_kept.txt");
const CANDIDATES: &str = include_str!("prompts/feedback_candidates.txt");
/// Between messages of one side of a pair.
const BETWEEN_MESSAGES: &str = "\n---\n";
/// A list of findings is a page.
const ANSWER_TOKENS: usize = 2_000;

/// A text, what took its place, and what came of that.
#[derive(Debug, Clone, Deserialize)]
pub struct Lesson {
    /// The messages as they were.
    original: Text,
    /// What stood for them.
    compressed: Text,
    /// What came of it.
    outcome: Outcome,
}

/// What came of the work with a compressed text.
#[derive(Debug, Clone, Deserialize)]
struct Outcome {
    success: bool,
    error: Option<String>,
}

/// One text, or messages.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Text {
    One(String),
    Many(Vec<Message>),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Message {
    Plain(String),
    Said { content: String },
}

/// What compressed texts lost, or kept in vain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Kinds of content, and what failed for them.
    pub patterns: Vec<String>,
    /// Names of what is to be kept word for word, or need not be.
    pub terms: Vec<String>,
    /// Instructions for prompts.
    pub guidelines: Vec<String>,
}

/// The options of the engine that feedback changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wording {
    /// `preserve_terms`.
    pub preserve_terms: Vec<String>,
    /// `system_prompt`.
    pub system_prompt: Option<String>,
}

/// Reads a line of pairs.
pub fn read_pair(line: &str, place: &str) -> Result<Lesson> {
    serde_json::from_str(line)
        .map_err(|error| Error::input(place, "expected an object with original, compressed and outcome").because(error))
}

/// The question what failures lost: all failures first, then what went well. `None` without a failure.
pub fn analyze(pairs: &[Lesson]) -> Option<Request> {
    let (good, bad): (Vec<&Lesson>, Vec<&Lesson>) = pairs.iter().partition(|pair| pair.outcome.success);
    (!bad.is_empty()).then(|| asked(LOST, &cases(bad.into_iter().chain(good))))
}

/// The question what was kept in vain where `wording` went well. `None` without a success.
pub fn analyze_over_preservation(pairs: &[Lesson], wording: &Wording) -> Option<Request> {
    let good: Vec<&Lesson> = pairs.iter().filter(|pair| pair.outcome.success).collect();
    let prompt = KEPT.replace("{terms}", &listed(&wording.preserve_terms));
    (!good.is_empty()).then(|| asked(&prompt, &cases(good.into_iter())))
}

/// The question for `count` sets of options after `lost`.
pub fn candidates(wording: &Wording, lost: &Findings, count: usize) -> Request {
    let all = [&lost.patterns, &lost.terms, &lost.guidelines];
    let findings: Vec<String> = all.into_iter().flatten().map(|finding| format!("- {finding}")).collect();
    let prompt = CANDIDATES
        .replace("{count}", &count.to_string())
        .replace("{terms}", &listed(&wording.preserve_terms))
        .replace("{findings}", &findings.join("\n"));
    asked(&prompt, "Propose them.")
}

impl Findings {
    /// What was lost: the answer to [`analyze`].
    pub fn lost(answer: &str) -> Result<Self> {
        Self::read(answer, ["lostPatterns", "suggestedTerms", "guidelines"])
    }

    /// What was kept in vain: the answer to [`analyze_over_preservation`].
    pub fn unnecessary(answer: &str) -> Result<Self> {
        Self::read(answer, ["unnecessaryPatterns", "removableTerms", "tighteningGuidelines"])
    }

    fn read(answer: &str, names: [&str; 3]) -> Result<Self> {
        let object: serde_json::Map<String, Value> = json(answer, "a JSON object")?;
        let [patterns, terms, guidelines] = names.map(|name| texts(object.get(name)));
        Ok(Self { patterns, terms, guidelines })
    }
}

impl Wording {
    /// With the terms and guidelines that failures suggest.
    pub fn refine(&self, lost: &Findings) -> Self {
        self.with(&lost.terms, &lost.guidelines)
    }

    /// Without the terms that are not needed, and with guidelines to say less.
    pub fn tighten(&self, unnecessary: &Findings) -> Self {
        let mut wording = self.with(&[], &unnecessary.guidelines);
        wording.preserve_terms.retain(|term| !unnecessary.terms.contains(term));
        wording
    }

    /// The first `count` sets of options of the answer to [`candidates`], each over these.
    pub fn read_candidates(&self, answer: &str, count: usize) -> Result<Vec<Self>> {
        let list: Vec<Value> = json(answer, "a JSON array of candidates")?;
        let one = |set: &Value| self.with(&texts(set.get("preserveTerms")), &texts(set.get("guidelines")));
        Ok(list.iter().take(count).map(one).collect())
    }

    fn with(&self, terms: &[String], guidelines: &[String]) -> Self {
        let mut preserve_terms = self.preserve_terms.clone();
        for term in terms {
            if !preserve_terms.contains(term) {
                preserve_terms.push(term.clone());
            }
        }
        let bullets: Vec<String> = guidelines.iter().map(|guideline| format!("- {guideline}")).collect();
        let before = self.system_prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        let parts: Vec<String> = [before.map(str::to_owned), Some(bullets.join("\n")).filter(|text| !text.is_empty())]
            .into_iter()
            .flatten()
            .collect();
        let system_prompt = (!parts.is_empty()).then(|| parts.join("\n\n"));
        Self { preserve_terms, system_prompt }
    }

    /// The table `[engine]` of a job with these options.
    pub fn to_toml(&self) -> String {
        let terms = self.preserve_terms.iter().map(|term| toml::Value::String(term.clone())).collect();
        let mut engine = toml::Table::new();
        engine.insert("preserve_terms".to_owned(), toml::Value::Array(terms));
        if let Some(prompt) = &self.system_prompt {
            engine.insert("system_prompt".to_owned(), toml::Value::String(prompt.clone()));
        }
        let table = toml::Table::from_iter([("engine".to_owned(), toml::Value::Table(engine))]);
        toml::to_string_pretty(&table).expect("texts can be written as TOML")
    }
}

fn asked(system: &str, user: &str) -> Request {
    let turn = |role: &str, text: String| Turn { role: role.to_owned(), text, ..Turn::default() };
    let turns = vec![turn("system", system.trim_end().to_owned()), turn("user", user.to_owned())];
    Request { turns, max_tokens: ANSWER_TOKENS, cache_until: None }
}

fn cases<'p>(pairs: impl Iterator<Item = &'p Lesson>) -> String {
    let mut text = String::new();
    for (at, pair) in pairs.enumerate() {
        let outcome = match (&pair.outcome, &pair.outcome.error) {
            (Outcome { success: true, .. }, _) => "It went well.".to_owned(),
            (_, Some(error)) => format!("It failed: {error}"),
            (_, None) => "It failed.".to_owned(),
        };
        let (original, compressed) = (pair.original.joined(), pair.compressed.joined());
        text.push_str(&format!("Case {}. {outcome}\nOriginal:\n{original}\nCompressed:\n{compressed}\n\n", at + 1));
    }
    text.trim_end().to_owned()
}

impl Text {
    fn joined(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Many(messages) => {
                let texts = messages.iter().map(|message| match message {
                    Message::Plain(text) | Message::Said { content: text } => text.as_str(),
                });
                texts.collect::<Vec<_>>().join(BETWEEN_MESSAGES)
            }
        }
    }
}

fn listed(terms: &[String]) -> String {
    if terms.is_empty() { "none".to_owned() } else { terms.join(", ") }
}

/// The texts of a list; what is none is left out.
fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts = items.iter().filter_map(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    texts.map(str::to_owned).collect()
}

/// The JSON of an answer, with or without a fence around it.
fn json<T: DeserializeOwned>(answer: &str, expected: &str) -> Result<T> {
    let text = answer.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let text = inner.and_then(|inner| Some(inner.split_once('\n')?.1)).unwrap_or(text);
    serde_json::from_str(text).map_err(|error| {
        let message = format!("expected {expected} from the model");
        Error::input("", message).because(error).hinting("ask again, or ask a larger model; nothing was changed")
    })
}

#[cfg(test)]
mod tests {
    use super::{Findings, Wording, analyze, analyze_over_preservation, candidates, read_pair};

    fn pair(success: bool, name: &str) -> super::Lesson {
        let line = format!(
            "{{\"original\": [\"{name} one\", {{\"role\": \"user\", \"content\": \"{name} two\"}}], \"compressed\": \
             \"{name} short\", \"outcome\": {{\"success\": {success}, \"error\": \"{name} broke\"}}}}"
        );
        read_pair(&line, "pairs.jsonl: line 1").expect("a pair")
    }

    fn wording() -> Wording {
        Wording { preserve_terms: vec!["ports".into()], system_prompt: Some("You know ships.".into()) }
    }

    #[test]
    fn failures_stand_first_and_messages_are_joined() {
        let pairs = [pair(true, "good"), pair(false, "bad")];
        let text = analyze(&pairs).expect("a failure").turns[1].text.clone();
        assert!(text.starts_with(
            "Case 1. It failed: bad broke\nOriginal:\nbad one\n---\nbad two\nCompressed:\nbad short\n\nCase 2. It went well."
        ));
        assert!(analyze(&pairs[..1]).is_none(), "without a failure nothing is asked");
        let kept = analyze_over_preservation(&pairs, &wording()).expect("a success");
        assert!(!kept.turns[1].text.contains("bad") && kept.turns[0].text.contains("now: ports."));
        assert!(analyze_over_preservation(&pairs[1..], &wording()).is_none());
        let error = read_pair("{\"original\": 7}", "pairs.jsonl: line 3").expect_err("no pair");
        assert!(error.to_string().starts_with("pairs.jsonl: line 3: expected"));
    }

    #[test]
    fn answers_are_read_with_and_without_a_fence() {
        let plain =
            "{\"lostPatterns\": [\"ports\", 7, null], \"suggestedTerms\": [\" hulls \"], \"guidelines\": \"no list\"}";
        let lost = Findings { patterns: vec!["ports".into()], terms: vec!["hulls".into()], guidelines: vec![] };
        for answer in [plain.to_owned(), format!("```json\n{plain}\n```"), format!("\n```\n{plain}\n```\n")] {
            assert_eq!(Findings::lost(&answer).expect("JSON"), lost);
        }
        for answer in ["", "Sorry.", "[1]", "{\"lostPatterns\": ["] {
            let error = Findings::lost(answer).expect_err("no object");
            assert!(error.message.contains("expected a JSON object"), "{error}");
        }
        assert_eq!(Findings::unnecessary("{}").expect("JSON"), Findings::default());
    }

    #[test]
    fn options_grow_and_shrink() {
        let lost = Findings {
            terms: vec!["ports".into(), "hulls".into(), "hulls".into()],
            guidelines: vec!["Keep units.".into(), "Keep names.".into()],
            ..Findings::default()
        };
        let refined = wording().refine(&lost);
        assert_eq!(refined.preserve_terms, ["ports", "hulls"]);
        assert_eq!(refined.system_prompt.as_deref(), Some("You know ships.\n\n- Keep units.\n- Keep names."));
        let unnecessary = Findings { terms: vec!["ports".into()], ..Findings::default() };
        let tightened = refined.tighten(&unnecessary);
        assert_eq!(tightened.preserve_terms, ["hulls"]);
        assert_eq!(tightened.system_prompt, refined.system_prompt);
        assert_eq!(Wording::default().refine(&Findings::default()), Wording::default());
        let table: toml::Table = refined.to_toml().parse().expect("TOML");
        assert_eq!(table["engine"]["preserve_terms"][1].as_str(), Some("hulls"));
        assert_eq!(table["engine"]["system_prompt"].as_str(), refined.system_prompt.as_deref());
    }

    #[test]
    fn candidates_are_sets_over_what_is_there() {
        let lost = Findings { patterns: vec!["ports were lost".into()], ..Findings::default() };
        let prompt = &candidates(&wording(), &lost, 3).turns[0].text;
        assert!(prompt.contains("Propose 3 different") && prompt.contains("- ports were lost"), "{prompt}");
        let answer = "[{\"preserveTerms\": [\"hulls\"]}, {\"guidelines\": [\"Be brief.\"]}, {}]";
        let sets = wording().read_candidates(answer, 2).expect("an array");
        assert_eq!(sets.len(), 2);
        assert_eq!(sets[0].preserve_terms, ["ports", "hulls"]);
        let error = wording().read_candidates("{}", 2).expect_err("no array");
        assert!(error.message.contains("expected a JSON array of candidates"), "{error}");
    }
}
