//! Putting new texts into a record and leaving every other byte where it was.

use std::borrow::Cow;

use foldhash::HashMap;

use crate::model::{
    Condensed, Conversation, NewBody, Output, PROVENANCE_KEY, Provenance, ProvenancePlace, Replacement, Spot,
};

use super::blocks::{Leaf, leaves, text_part};
use super::escape::{Style, encode, restyle};
use super::events;
use super::index::Index;
use super::json::{Kind, Raw, around, between, member, offset_in};
use super::member::{Field, Member};

/// What a record without separators uses.
const SEPARATOR: &str = ",";

/// The record with its list of messages replaced.
pub(super) fn condensed_record(
    index: &Index<'_>,
    conversation: &Conversation<'_>,
    condensed: &Condensed,
    place: ProvenancePlace,
) -> String {
    let message = |output: &Output, out: &mut String| match output {
        Output::Kept { index: at } => out.push_str(index.messages.get(*at).copied().unwrap_or_default()),
        Output::Replaced(replacement) => {
            let inner = new_values(conversation, replacement, index.style);
            replaced_message(index, replacement, &inner, place, out);
        }
    };
    if let Some(log) = &index.log {
        return condensed_events(index, log, condensed, &message);
    }
    let mut out = String::with_capacity(index.record.len());
    let (before, after) = around(index.record, index.list);
    let (open, close) = brackets(index);
    out.push_str(before);
    out.push_str(open);
    for (position, output) in condensed.messages.iter().enumerate() {
        if position > 0 {
            let separator = index.separator(output.first_source()).or_else(|| index.separator(1));
            out.push_str(separator.unwrap_or(SEPARATOR));
        }
        message(output, &mut out);
    }
    out.push_str(close);
    out.push_str(after);
    out
}

/// One list of events on one line.
fn condensed_events(
    index: &Index<'_>,
    log: &events::Log<'_>,
    condensed: &Condensed,
    message: &dyn Fn(&Output, &mut String),
) -> String {
    let mut out = String::with_capacity(index.record.len());
    out.push('[');
    for (at, item) in events::items(log, condensed).into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        match item {
            events::Item::Pass(pass) => events::push_pass(pass, &mut out),
            events::Item::Message(position) => {
                if let Some(output) = condensed.messages.get(position) {
                    message(output, &mut out);
                }
            }
        }
    }
    out.push(']');
    out
}

/// The brackets of the list with the white space inside them.
pub(super) fn brackets<'r>(index: &Index<'r>) -> (&'r str, &'r str) {
    match (index.messages.first(), index.messages.last()) {
        (Some(first), Some(last)) => (around(index.list, first).0, around(index.list, last).1),
        _ => (index.list, ""),
    }
}

fn replaced_message(
    index: &Index<'_>,
    replacement: &Replacement,
    inner: &[(&str, String)],
    place: ProvenancePlace,
    out: &mut String,
) {
    let at = replacement.sources.first().copied().unwrap_or_default();
    let raw = index.messages.get(at).copied().unwrap_or_default();
    let mut edits = Edits::new(raw, index.members(at));
    let content = index.member(at, Field::Content).map(|member| member.value);
    let mut body = String::new();
    match new_content(content, replacement, inner, index.style) {
        NewContent::Text(text) => encode(text, index.style, &mut body),
        NewContent::Json(json) => body = json,
        NewContent::Same => {}
    }
    if !body.is_empty() {
        edits.set(content, index.rules.key_of(Field::Content), &body);
    }
    let is_in_list = |old: &str| content.is_some_and(|list| list.kind == Kind::List && is_in(list.text, old));
    for (old, json) in inner.iter().filter(|(old, _)| !is_in_list(old)) {
        edits.replace(old, json);
    }
    if replacement.is_by_several {
        edits.remove(index.members(at), Field::Name);
    }
    // A text by itself has no place for it.
    if place == ProvenancePlace::Metadata && raw.starts_with('{') {
        let metadata = index.member(at, Field::Metadata).map(|member| member.value);
        let json = new_metadata(metadata, &replacement.provenance, index.style, edits.colon, edits.comma);
        edits.set(metadata, index.rules.key_of(Field::Metadata), &json);
    }
    edits.write(out);
}

/// The arguments of calls and the strings of reasoning that others stand for, as they are in the record, and the JSON that stands
/// there.
pub(super) fn new_values<'r>(
    conversation: &Conversation<'r>,
    new: &Replacement,
    style: Style,
) -> Vec<(&'r str, String)> {
    let Some(message) = new.sources.first().and_then(|&at| conversation.messages.get(at)) else { return Vec::new() };
    let mut values = Vec::new();
    for (spot, text) in &new.spots {
        let places = match *spot {
            Spot::Part(_) => &[],
            Spot::Call(call) => message.tool_calls.get(call).map_or(&[][..], |call| call.place.as_slice()),
            Spot::Thought(thought) => message.reasoning.get(thought).map_or(&[][..], |thought| &thought.places),
        };
        values.extend(places.iter().map(|&place| {
            let mut json = String::new();
            if place.starts_with('"') {
                encode(text, style, &mut json);
            } else {
                json.push_str(&restyle(text, style));
            }
            (place, json)
        }));
    }
    values
}

/// True for a slice of `text` that is not empty.
fn is_in(text: &str, slice: &str) -> bool {
    text.as_bytes().as_ptr_range().contains(&slice.as_ptr())
}

/// `text`, a slice of a record, with those of `changes` that lie in it.
pub(super) fn edited<'t>(text: &'t str, changes: &[(&str, String)]) -> Cow<'t, str> {
    let mut within: Vec<_> = changes.iter().filter(|(old, _)| is_in(text, old)).collect();
    if within.is_empty() {
        return Cow::Borrowed(text);
    }
    within.sort_by_key(|(old, _)| old.as_ptr());
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    for (old, new) in within {
        let (before, after) = around(rest, old);
        out.push_str(before);
        out.push_str(new);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The content of a replaced message.
pub(super) enum NewContent<'c> {
    /// A string, not yet encoded.
    Text(&'c str),
    /// A content list.
    Json(String),
    /// What it was.
    Same,
}

/// Puts the body in the place of the old content's text, what it names in the place of other parts, and those of `inner` that lie
/// in a content list in theirs.
pub(super) fn new_content<'c>(
    content: Option<Raw<'_>>,
    new: &'c Replacement,
    inner: &[(&str, String)],
    style: Style,
) -> NewContent<'c> {
    let Some(list) = content.filter(|content| content.kind == Kind::List) else {
        return match &new.body {
            NewBody::Text(text) => NewContent::Text(text),
            NewBody::Parts(parts) => parts.first().map_or(NewContent::Same, |(_, text)| NewContent::Text(text)),
        };
    };
    let (mut texts, parts) = match &new.body {
        NewBody::Text(text) => (Some(text.as_str()), HashMap::default()),
        NewBody::Parts(parts) => (None, parts.iter().map(|(at, new)| (*at, new.as_str())).collect()),
    };
    let marks = new.spots.iter().filter_map(|(spot, text)| match spot {
        Spot::Part(at) => Some((*at, text.as_str())),
        Spot::Call(_) | Spot::Thought(_) => None,
    });
    let marks: HashMap<usize, &str> = marks.collect();
    let mut changes: Vec<(&str, String)> = inner.iter().filter(|(old, _)| is_in(list.text, old)).cloned().collect();
    let (mut at, mut has_text) = (0, false);
    leaves(list.text, |leaf| {
        let new = match (&leaf, texts) {
            (Leaf::Text(text), Some(new)) => {
                has_text = true;
                // All of it stands in the first text.
                texts = Some("");
                Some((text.text, new))
            }
            (Leaf::Text(text), None) => parts.get(&at).map(|new| (text.text, *new)),
            (Leaf::Media(media), _) => marks.get(&at).map(|new| (media.raw, *new)),
            (Leaf::Opaque, _) => None,
        };
        at += 1;
        let Some((old, new)) = new else { return };
        let mut json = String::new();
        match leaf {
            Leaf::Media(media) => text_part(media.raw, new, style, &mut json),
            Leaf::Text(_) | Leaf::Opaque => encode(new, style, &mut json),
        }
        changes.push((old, json));
    });
    match &new.body {
        NewBody::Text(text) if !has_text => NewContent::Text(text),
        _ if changes.is_empty() => NewContent::Same,
        _ => NewContent::Json(edited(list.text, &changes).into_owned()),
    }
}

/// The metadata with the provenance in it; what was no object is replaced.
pub(super) fn new_metadata(
    metadata: Option<Raw<'_>>,
    provenance: &Provenance,
    style: Style,
    colon: &str,
    comma: &str,
) -> String {
    let written = provenance.to_json();
    let json = restyle(&written, style);
    let Some(old) = metadata.filter(|old| old.kind == Kind::Object) else {
        return format!("{{\"{PROVENANCE_KEY}\"{colon}{json}}}");
    };
    if let Some(earlier) = member(old.text, PROVENANCE_KEY) {
        let (before, after) = around(old.text, earlier.text);
        return format!("{before}{json}{after}");
    }
    let body = old.text.strip_suffix('}').unwrap_or(old.text);
    let inner = body.trim_end_matches([' ', '\n', '\r', '\t']);
    let space = body.get(inner.len()..).unwrap_or_default();
    let comma = if inner == "{" { "" } else { comma };
    format!("{inner}{comma}\"{PROVENANCE_KEY}\"{colon}{json}{space}}}")
}

/// Changes to one message, collected and applied from left to right.
struct Edits<'m> {
    raw: &'m str,
    /// What stands between a key and its value in this message, and between two members.
    colon: &'m str,
    comma: &'m str,
    /// Start, end and new text.
    changes: Vec<(usize, usize, String)>,
    /// Where a new member goes, and whether it is the first.
    end: usize,
    is_empty: bool,
}

impl<'m> Edits<'m> {
    fn new(raw: &'m str, members: &[Member<'m>]) -> Self {
        let colon = members.first().map_or(": ", |first| between(raw, first.key, first.value.text));
        // Between two members of different objects stands more than a comma.
        let mut commas = members.windows(2).filter_map(|pair| match pair {
            [left, right] => Some(between(raw, left.value.text, right.key)),
            _ => None,
        });
        let comma = commas.find(|comma| comma.trim() == ",").unwrap_or(", ");
        // A new member goes behind the last one of the message itself.
        let end = raw.strip_suffix('}').unwrap_or(raw).trim_end().len();
        Self { raw, colon, comma, changes: Vec::new(), end, is_empty: members.is_empty() }
    }

    /// Replaces `old`, or appends a member when there is none.
    fn set(&mut self, old: Option<Raw<'_>>, key: &str, json: &str) {
        if let Some(old) = old {
            self.replace(old.text, json);
        } else {
            let comma = if std::mem::take(&mut self.is_empty) { "" } else { self.comma };
            self.changes.push((self.end, self.end, format!("{comma}\"{key}\"{}{json}", self.colon)));
        }
    }

    /// Replaces `old`, a slice of the message.
    fn replace(&mut self, old: &str, json: &str) {
        let start = offset_in(self.raw, old);
        self.changes.push((start, start + old.len(), json.to_owned()));
    }

    /// Takes out the members that hold `field`, and those of the same key that they shadow.
    fn remove(&mut self, members: &[Member<'m>], field: Field) {
        let Some(key) = members.iter().find(|member| member.field == field).map(|member| member.key) else { return };
        let start = |member: &Member<'m>| offset_in(self.raw, member.key);
        let end = |member: &Member<'m>| offset_in(self.raw, member.value.text) + member.value.text.len();
        let mut before = None;
        for run in members.chunk_by(|left, right| (left.key == key) == (right.key == key)) {
            if let [first, .., last] | [first @ last] = run
                && first.key == key
            {
                let next = members.iter().map(start).find(|&next| next > start(last));
                // What is nothing but a name stays.
                let range = match (next, before) {
                    (Some(next), _) => start(first)..next,
                    (None, Some(before)) => before..end(last),
                    (None, None) => continue,
                };
                self.changes.push((range.start, range.end, String::new()));
            }
            before = run.last().map(end);
        }
    }

    fn write(mut self, out: &mut String) {
        self.changes.sort_by_key(|&(start, end, _)| (start, end));
        let mut from = 0;
        for (start, end, text) in self.changes {
            out.push_str(self.raw.get(from..start).expect("edits are cut at character boundaries, in order"));
            out.push_str(&text);
            from = end;
        }
        out.push_str(self.raw.get(from..).expect("edits are cut at character boundaries"));
    }
}
