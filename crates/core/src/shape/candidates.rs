//! The lists of a record that may be its conversation, wherever they stand in it, and whether one of them is. Knows what
//! messages look like under any key; refuses to know how they are read.

use std::borrow::Cow;

use super::blocks::are_of_messages_api;
use super::json::{Bad, Kind, Raw, Scanner, members};
use super::shapes::SPECS;
use super::spec::{Glimpse, Spec};
use super::talk::{self, Talk};
use crate::model::ShapeName;

/// Objects in each other that are looked into, the record not counted.
const MAX_OBJECTS: usize = 3;
/// Keys that may hold who speaks.
const SPEAKERS: [&str; 5] = ["role", "from", "type", "source", "speaker"];
/// How those are called that take part in a conversation with a model.
const ROLES: [&str; 17] = [
    "system",
    "developer",
    "user",
    "human",
    "assistant",
    "gpt",
    "model",
    "ai",
    "gemini",
    "agent",
    "bot",
    "chatbot",
    "tool",
    "observation",
    "function",
    "function_call",
    "environment",
];
/// Keys under which an empty list is a conversation that has not begun.
const USUAL_LISTS: [&str; 2] = ["messages", "conversations"];

/// A list of objects.
#[derive(Debug)]
pub(super) struct Candidate<'r> {
    /// The keys that lead to it.
    pub path: Vec<Cow<'r, str>>,
    /// The list, brackets included.
    pub list: &'r str,
}

/// Which list of a record is its conversation.
#[derive(Debug)]
pub(super) enum Found<'r> {
    None,
    One(Vec<Cow<'r, str>>, &'static Spec),
    /// The paths of lists that all are one.
    Several(Vec<Vec<Cow<'r, str>>>),
}

/// The only list that reads as messages.
pub(super) fn only(record: &str) -> Found<'_> {
    let (mut found, mut empty) = (Vec::new(), Vec::new());
    for Candidate { path, list } in candidates(record) {
        let mut scanner = Scanner::new(list);
        let Some(key) = path.last() else { continue };
        let glimpse = scanner.peek().and_then(|_| look(&mut scanner, key));
        let Ok(Some(glimpse)) = glimpse else { continue };
        let Some(spec) = reads_as(key, &glimpse) else { continue };
        let of = if glimpse.is_empty() { &mut empty } else { &mut found };
        of.push((path, spec));
    }
    let mut found = if found.is_empty() { empty } else { found };
    match (found.len(), found.pop()) {
        (1, Some((path, spec))) => Found::One(path, spec),
        (_, Some(last)) => Found::Several(found.into_iter().chain([last]).map(|(path, _)| path).collect()),
        (_, None) => Found::None,
    }
}

/// All lists of a record that stand in no other list and begin with an object or with nothing, or may be talk; none for what
/// is no object.
pub(super) fn candidates(record: &str) -> Vec<Candidate<'_>> {
    let (mut scanner, mut found) = (Scanner::new(record), Vec::new());
    if scanner.peek() == Ok(Kind::Object) {
        // What is no JSON behind some place is told by who cuts the record.
        let walked = walk(&mut scanner, &mut Vec::new(), &mut found);
        if walked.and_then(|()| scanner.end()).is_err() {
            found.clear();
        }
    }
    found
}

fn walk<'r>(
    scanner: &mut Scanner<'r>,
    path: &mut Vec<Cow<'r, str>>,
    found: &mut Vec<Candidate<'r>>,
) -> Result<(), Bad> {
    scanner.object(|scanner, key| {
        match scanner.peek()? {
            Kind::Object if path.len() < MAX_OBJECTS => {
                path.push(key.name);
                walk(scanner, path, found)?;
                path.pop();
            }
            Kind::List => {
                let list = scanner.value()?.text;
                let inside = list.get(1..).unwrap_or_default().trim_start();
                if inside.starts_with(['{', ']']) || talk::is_key(&key.name) {
                    let path = path.iter().cloned().chain([key.name]).collect();
                    found.push(Candidate { path, list });
                }
            }
            _ => {
                scanner.value()?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// By what a list under this key is read that stands anywhere in a record; `None` when it does not read as messages.
fn reads_as(key: &str, list: &Glimpse<'_>) -> Option<&'static Spec> {
    if list.is_empty() && !USUAL_LISTS.contains(&key) {
        return None;
    }
    // Names of keys say little about a list that may be anything: who speaks has to be called as somebody is.
    let is_told = |spec: &Spec| {
        let is_by_names = matches!(spec.name, ShapeName::Openhands | ShapeName::Dialogue);
        list.is_empty() || is_by_names || list.has_known_role
    };
    let by_key = SPECS.iter().find(|spec| spec.list_rank(key).is_some() && (spec.fits)(list) && is_told(spec));
    let by_names = || {
        let has_both = |keys: [&str; 2]| list.has_known_role && keys.iter().all(|key| list.has(key));
        let name = if has_both(["role", "content"]) {
            if list.has_blocks { ShapeName::Anthropic } else { ShapeName::Openai }
        } else if has_both(["from", "value"]) {
            ShapeName::Sharegpt
        } else if list.has("speaker") && ["utterance", "text", "content"].iter().any(|key| list.has(key)) {
            ShapeName::Dialogue
        } else {
            return None;
        };
        SPECS.iter().find(|spec| spec.name == name)
    };
    by_key.or_else(by_names)
}

/// Looks at the items of a list that stands under `key`; `None` when one is no object, unless all are what two people say.
pub(super) fn look<'r>(scanner: &mut Scanner<'r>, key: &str) -> Result<Option<Glimpse<'r>>, Bad> {
    let (mut seen, mut are_objects, mut is_first) = (Glimpse::default(), true, true);
    let mut talk = talk::is_key(key).then(Talk::default);
    scanner.list(|scanner| {
        if scanner.peek()? != Kind::Object {
            are_objects = false;
            let item = scanner.value()?;
            if let Some(talk) = &mut talk {
                talk.item(item);
            }
            return Ok(());
        }
        if let Some(talk) = &mut talk {
            talk.object();
        }
        scanner.object(|scanner, key| {
            let value = scanner.value()?;
            if let Some(talk) = &mut talk {
                talk.member(&key.name, value);
            }
            seen.has_blocks |= are_objects
                && !seen.has_blocks
                && value.kind == Kind::List
                && key.name == "content"
                && are_of_messages_api(value.text);
            if is_first {
                seen.has_known_role |= SPEAKERS.contains(&key.name.as_ref()) && is_role(value);
                seen.keys.push(key.name);
            }
            Ok(())
        })?;
        is_first = false;
        Ok(())
    })?;
    seen.is_talk = talk.is_some_and(|talk| talk.is_dialogue()) && !SPEAKERS.iter().any(|key| seen.has(key));
    Ok((are_objects || seen.is_talk).then_some(seen))
}

fn is_role(value: Raw<'_>) -> bool {
    value.string().is_some_and(|name| ROLES.iter().any(|role| name.eq_ignore_ascii_case(role)))
}

/// What `path` leads to, or the first of its keys that leads nowhere and the keys that are there.
pub(super) fn at<'r>(record: &'r str, path: &[impl AsRef<str>]) -> Result<Raw<'r>, (usize, Vec<Cow<'r, str>>)> {
    let mut here = Scanner::new(record).value().map_err(|_| (0, Vec::new()))?;
    for (level, wanted) in path.iter().enumerate() {
        let (mut next, mut keys) = (None, Vec::new());
        members(here.text, |key, value| {
            if key.name == wanted.as_ref() {
                next = Some(value);
            }
            keys.push(key.name);
        });
        here = next.ok_or((level, keys))?;
    }
    Ok(here)
}
