//! What would help to read a record that is read by no shape: which of its lists looks like messages, and the map that
//! reads it. Says it in words; reads nothing.

use std::borrow::Cow;

use super::candidates::{Candidate, Found, at, candidates, only};
use super::json::{Kind, Raw, items, members};
use super::read::is_usual;
use crate::model::mapped_path;

/// Messages that are looked at.
const MOST: usize = 64;
/// A name of somebody who speaks is no longer, in bytes.
const LONGEST_NAME: usize = 40;
/// Different speakers of a conversation.
const MOST_SPEAKERS: usize = 8;
/// Keys of messages that are looked at.
const MOST_TEXTS: usize = 100;
/// Lists that are named.
const MOST_LISTS: usize = 4;
/// Keys that are named of an object that has more.
const MOST_KEYS: usize = 12;
/// Keys that usually say who speaks, the best first.
const SPEAKERS: [&str; 12] =
    ["role", "speaker", "from", "author", "sender", "who", "user", "username", "participant", "name", "source", "type"];
/// The map that needs no word about who speaks or what is said.
const USUAL: [&str; 2] = ["role", "content"];

/// What helps where a prompt with two answers is a text.
const PAIRS: &str =
    "the prompt of two answers is a list of messages: jq -c '.prompt = [{role: \"user\", content: .prompt}]' makes one";

/// One sentence about a record in which no conversation was found, without a capital and without a full stop.
#[must_use]
pub fn advice(record: &str) -> String {
    if let Found::Several(paths) = only(record) {
        let mut named: Vec<_> = paths.iter().take(MOST_LISTS).map(|path| format!("`{}`", mapped_path(path))).collect();
        let n_more = paths.len() - named.len();
        named.extend((n_more > 0).then(|| format!("{n_more} more")));
        let first = paths.first().map(|path| mapped_path(path)).unwrap_or_default();
        return format!("{} read as messages: name one of them, as in --map messages={first}", named.join(" and "));
    }
    let whole = record.trim_start().starts_with('[').then(|| Candidate { path: Vec::new(), list: record.trim() });
    let lists = candidates(record).into_iter().chain(whole);
    let best = lists.filter_map(|list| Some((Looks::of(list.list)?, list.path)));
    match best.max_by_key(|(looks, _)| looks.n_bytes) {
        Some((looks, path)) => {
            let map = looks.map(&path);
            format!("the list of objects `{}` looks like messages: read it with --map {map}", mapped_path(&path))
        }
        None if at(record, &["rejected".to_owned()]).is_ok() => PAIRS.to_owned(),
        None => "no list of objects with texts is in it that could be its messages".to_owned(),
    }
}

/// Why nothing is found where `path` should lead.
pub(super) fn missing(record: &str, path: &[String]) -> String {
    let named = mapped_path(path);
    match at(record, path) {
        Ok(value) => {
            let kind = if value.kind == Kind::Object { "an object and no list" } else { "no list" };
            format!("`{named}` is {kind}; {}", advice(record))
        }
        Err((level, keys)) => {
            let before = path.get(..level).unwrap_or_default();
            let place = if before.is_empty() { "the record".to_owned() } else { format!("`{}`", mapped_path(before)) };
            let n_more = keys.len().saturating_sub(MOST_KEYS);
            let mut there: Vec<_> =
                keys.iter().take(MOST_KEYS).map(|key| format!("`{}`", mapped_path(&[key]))).collect();
            there.extend((n_more > 0).then(|| format!("{n_more} more")));
            let there = if there.is_empty() { "no keys".to_owned() } else { format!("the keys {}", there.join(", ")) };
            format!("the record has no list `{named}`: {place} has {there}")
        }
    }
}

/// A key of messages whose values are texts.
struct Texts<'r> {
    path: Vec<Cow<'r, str>>,
    n_bytes: usize,
    /// Different values in their order; none when they are too long or too many.
    names: Option<Vec<Cow<'r, str>>>,
    n_messages: usize,
}

/// What a list of objects looks like.
struct Looks<'r> {
    content: Vec<Cow<'r, str>>,
    speaker: Option<Texts<'r>>,
    /// Of what is said.
    n_bytes: usize,
}

impl<'r> Looks<'r> {
    fn of(list: &'r str) -> Option<Self> {
        let (mut texts, mut n_messages, mut are_objects) = (Vec::<Texts<'_>>::new(), 0, true);
        items(list, |item| {
            are_objects &= item.kind == Kind::Object;
            if n_messages >= MOST || !are_objects {
                return;
            }
            n_messages += 1;
            members(item.text, |key, value| {
                if value.kind == Kind::Object {
                    members(value.text, |inner, value| note(&[&key.name, &inner.name], value, &mut texts));
                }
                note(&[&key.name], value, &mut texts);
            });
        });
        if !are_objects {
            return None;
        }
        let content = texts.iter().enumerate().max_by_key(|(_, texts)| texts.n_bytes)?.0;
        let content = texts.swap_remove(content);
        let speaker = texts
            .into_iter()
            .filter(|texts| texts.n_messages == n_messages && texts.names.is_some())
            .filter_map(|texts| Some((texts.rank()?, texts)))
            .min_by_key(|&(rank, _)| rank)
            .map(|(_, texts)| texts);
        Some(Self { content: content.path, speaker, n_bytes: content.n_bytes })
    }

    fn map(&self, path: &[Cow<'_, str>]) -> String {
        let mut map = format!("messages={}", mapped_path(path));
        let is_usual = |path: &[Cow<'_, str>], name: &str| matches!(path, [key] if key == name);
        if let Some(speaker) = self.speaker.as_ref().filter(|speaker| !is_usual(&speaker.path, USUAL[0])) {
            map.push_str(&format!(",role={}", mapped_path(&speaker.path)));
        }
        if !is_usual(&self.content, USUAL[1]) {
            map.push_str(&format!(",content={}", mapped_path(&self.content)));
        }
        if let Some([user, assistant]) = self.speaker.as_ref().and_then(|speaker| speaker.names.as_deref())
            && !is_usual_name(user)
            && !is_usual_name(assistant)
        {
            map.push_str(&format!(",user={},assistant={}", mapped_path(&[user]), mapped_path(&[assistant])));
        }
        // A shell takes it as it stands.
        let is_plain = |char: char| char.is_alphanumeric() || ".,=_-".contains(char);
        if map.chars().all(is_plain) { map } else { format!("'{}'", map.replace('\'', "'\\''")) }
    }
}

impl Texts<'_> {
    /// How well this key says who speaks, the best first; `None` where it does not.
    fn rank(&self) -> Option<usize> {
        let names = self.names.as_deref()?;
        if names.iter().all(|name| is_usual_name(name)) {
            return Some(0);
        }
        let known = self.path.last().and_then(|key| SPEAKERS.iter().position(|known| key == known));
        known.map(|at| at + 1)
    }
}

fn is_usual_name(name: &str) -> bool {
    is_usual(&name.to_lowercase())
}

fn note<'r>(path: &[&Cow<'r, str>], value: Raw<'r>, texts: &mut Vec<Texts<'r>>) {
    let Some(text) = value.string() else { return };
    let at = match texts.iter().position(|known| known.path.iter().eq(path.iter().copied())) {
        Some(at) => at,
        None if texts.len() < MOST_TEXTS => {
            let path = path.iter().map(|&key| key.clone()).collect();
            texts.push(Texts { path, n_bytes: 0, names: Some(Vec::new()), n_messages: 0 });
            texts.len() - 1
        }
        None => return,
    };
    let Some(known) = texts.get_mut(at) else { return };
    known.n_bytes += text.len();
    known.n_messages += 1;
    if known.names.as_ref().is_some_and(|names| !names.contains(&text)) {
        let fits = text.len() <= LONGEST_NAME && known.names.as_ref().is_some_and(|names| names.len() < MOST_SPEAKERS);
        known.names = known.names.take().filter(|_| fits);
        known.names.iter_mut().for_each(|names| names.push(text.clone()));
    }
}
