//! Turns as every API takes them: calls of tools stand right before their results, ids are short and distinct, names
//! are plain, arguments are objects. What does not fit becomes text, so that no request fails because of the
//! conversation in it. Knows no API.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Value, json};

use crate::model::Turn;

/// The longest id that OpenAI takes.
const MAX_ID: usize = 40;
/// The longest name of a function that OpenAI takes; Anthropic takes longer ones.
const MAX_NAME: usize = 64;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    System,
    User,
    Assistant,
    /// The result of a call that the assistant made right before.
    Tool,
}

/// A turn that fits.
#[derive(Debug, Clone)]
pub(super) struct Said<'r> {
    /// Which turn of the request it is.
    pub(super) turn: usize,
    pub(super) role: Role,
    pub(super) text: Cow<'r, str>,
    /// Calls that are answered by the turns that follow.
    pub(super) calls: Vec<Call<'r>>,
    /// The id of the call that is answered.
    pub(super) answers: Option<String>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(super) struct Call<'r> {
    pub(super) id: String,
    pub(super) name: String,
    /// A JSON object.
    pub(super) arguments: Cow<'r, str>,
}

/// The turns as every API takes them.
pub(super) fn dialogue(turns: &[Turn]) -> Vec<Said<'_>> {
    let mut said = Vec::with_capacity(turns.len());
    let mut ids = HashSet::with_hasher(foldhash::fast::FixedState::default());
    let mut at = 0;
    while let Some(turn) = turns.get(at) {
        let role = match &*turn.role {
            "system" | "developer" => Role::System,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::User,
        };
        match role {
            Role::Assistant if !turn.calls.is_empty() => {
                let n_results = turns[at + 1..].iter().take_while(|turn| turn.role == "tool").count();
                said.extend(exchange(at, &turns[at..=at + n_results], &mut ids));
                at += n_results;
            }
            Role::Tool => said.push(stray(at, turn)),
            _ => said.push(plain(at, role, turn)),
        }
        at += 1;
    }
    said
}

fn plain(at: usize, role: Role, turn: &Turn) -> Said<'_> {
    Said { turn: at, role, text: Cow::Borrowed(&turn.text), calls: Vec::new(), answers: None }
}

/// A result without its call.
fn stray(at: usize, turn: &Turn) -> Said<'_> {
    Said { text: Cow::Owned(format!("[result of a tool]\n{}", turn.text)), ..plain(at, Role::User, turn) }
}

/// A turn with calls and the results behind it; `turns` begins at turn `at`.
fn exchange<'r>(at: usize, turns: &'r [Turn], ids: &mut HashSet<String, foldhash::fast::FixedState>) -> Vec<Said<'r>> {
    let [asking, results @ ..] = turns else { return Vec::new() };
    let mut answers: Vec<Option<String>> = vec![None; results.len()];
    let mut first = plain(at, Role::Assistant, asking);
    for (id, name, arguments) in &asking.calls {
        let result = (0..results.len()).find(|&k| answers[k].is_none() && results[k].call_id.as_ref() == Some(id));
        if let Some(k) = result {
            let id = fresh(id, ids);
            answers[k] = Some(id.clone());
            first.calls.push(Call { id, name: plain_name(name), arguments: object(arguments) });
        } else {
            let text = first.text.to_mut();
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&format!("[call of the tool {name}: {arguments}]"));
        }
    }
    let (mut paired, mut strays) = (vec![first], Vec::new());
    for (k, (turn, answers)) in results.iter().zip(answers).enumerate() {
        let at = at + 1 + k;
        match answers {
            Some(id) => paired.push(Said { answers: Some(id), ..plain(at, Role::Tool, turn) }),
            None => strays.push(stray(at, turn)),
        }
    }
    // Nothing may stand between calls and their results.
    paired.append(&mut strays);
    paired
}

/// The id itself where it can be kept.
fn fresh(id: &str, ids: &mut HashSet<String, foldhash::fast::FixedState>) -> String {
    let is_good = !id.is_empty() && id.len() <= MAX_ID && id.chars().all(is_plain) && !ids.contains(id);
    let id = if is_good {
        id.to_owned()
    } else {
        let mut n = ids.len() + 1;
        while ids.contains(&format!("call_{n}")) {
            n += 1;
        }
        format!("call_{n}")
    };
    ids.insert(id.clone());
    id
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn plain_name(name: &str) -> String {
    let name: String = name.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// The arguments when they are an object, on one line; else an object that holds them.
fn object(arguments: &str) -> Cow<'_, str> {
    let trimmed = arguments.trim();
    if trimmed.is_empty() {
        return Cow::Borrowed("{}");
    }
    // Values are read, not skipped: half a surrogate pair or a number without end is no JSON for servers.
    let is_json = serde_json::from_str::<Value>(trimmed).is_ok();
    if !trimmed.starts_with('{') || !is_json {
        return Cow::Owned(json!({ "arguments": arguments }).to_string());
    }
    // Line feeds stand between the values only; bodies are lines of batch files.
    if trimmed.contains(['\n', '\r']) { Cow::Owned(trimmed.replace(['\n', '\r'], " ")) } else { Cow::Borrowed(trimmed) }
}
