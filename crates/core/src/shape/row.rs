//! Rows for tables: a message as text columns, and the layout that says how the record wrote them.

use std::borrow::Cow;

use crate::model::{Condensed, Content, Conversation, Message, Output, ProvenancePlace, Replacement, Spot};

use super::events;
use super::index::Index;
use super::json::{Kind, around, offset_in};
use super::layout::{Column, Table, push_hole, push_literal, write_items, write_order, write_path};
use super::member::{Field, Member};
use super::shapes::likelihood;
use super::splice::{NewContent, brackets, edited, new_content, new_metadata, new_values};

/// One row of the `conversations` table: text columns only, nothing inferred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row<'a> {
    /// `messages: list<struct<…>>`.
    pub messages: Vec<MessageRow<'a>>,
    /// The other keys of the record as one JSON object.
    pub extra: Option<Cow<'a, str>>,
}

/// One element of `messages`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageRow<'a> {
    /// The role as the record writes it.
    pub role: Option<Cow<'a, str>>,
    /// Decoded text, or the JSON text of a content list.
    pub content: Option<Cow<'a, str>>,
    /// The speaker.
    pub name: Option<Cow<'a, str>>,
    /// JSON text.
    pub tool_calls: Option<Cow<'a, str>>,
    /// The call that is answered.
    pub tool_call_id: Option<Cow<'a, str>>,
    /// JSON text.
    pub metadata: Option<Cow<'a, str>>,
    /// All other keys as one JSON object.
    pub extra: Option<Cow<'a, str>>,
}

/// Where the value of a member goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A column, decoded.
    Text(Column),
    /// A column, as it stands in the record.
    Copy(Column),
    /// The `extra` object.
    Extra,
    /// Only the layout: nulls of known columns, and keys that a later one of the same name shadows.
    Layout,
}

fn place(member: &Member<'_>) -> Place {
    let kind = member.value.kind;
    let column = match member.field {
        Field::Role => Column::Role,
        Field::Content => Column::Content,
        Field::Name => Column::Name,
        Field::ToolCallId => Column::ToolCallId,
        Field::ToolCalls => Column::ToolCalls,
        Field::Metadata => Column::Metadata,
        Field::Shadowed => return Place::Layout,
        Field::Id
        | Field::FunctionCall
        | Field::CallName
        | Field::CallArguments
        | Field::Observation
        | Field::Other => return Place::Extra,
    };
    match (column, kind) {
        (_, Kind::Null) => Place::Layout,
        (Column::ToolCalls | Column::Metadata, _) => Place::Copy(column),
        (_, Kind::Text | Kind::Plain) => Place::Text(column),
        (Column::Content, _) | (Column::ToolCallId, Kind::Number) => Place::Copy(column),
        _ => Place::Extra,
    }
}

/// The condensed conversation as columns.
pub(super) fn row<'a>(
    index: &'a Index<'_>,
    conversation: &'a Conversation<'_>,
    condensed: &'a Condensed,
    provenance: ProvenancePlace,
) -> Row<'a> {
    let messages = condensed.messages.iter().map(|output| match output {
        Output::Kept { index: at } => message_row(index, conversation, *at, &[]),
        Output::Replaced(replacement) => replaced_row(index, conversation, replacement, provenance),
    });
    if let Some(log) = &index.log {
        return Row { messages: messages.collect(), extra: events::extra(log).map(Cow::Owned) };
    }
    let others = index.head.iter().enumerate().filter(|(at, _)| Some(*at) != index.id);
    Row { messages: messages.collect(), extra: extra(others.map(|(_, member)| member), &[]).map(Cow::Owned) }
}

/// A message as it stands, but for `changes` of its JSON.
fn message_row<'a>(
    index: &'a Index<'_>,
    conversation: &'a Conversation<'_>,
    at: usize,
    changes: &[(&str, String)],
) -> MessageRow<'a> {
    let Some(message) = conversation.messages.get(at) else { return MessageRow::default() };
    let mut row = MessageRow::default();
    let members = index.members(at);
    for member in members {
        let (column, text) = match place(member) {
            Place::Text(column) => (column, decoded(member, message)),
            Place::Copy(column) => (column, edited(member.value.text, changes)),
            Place::Extra | Place::Layout => continue,
        };
        let target = match column {
            Column::Role => &mut row.role,
            Column::Content => &mut row.content,
            Column::Name => &mut row.name,
            Column::ToolCallId => &mut row.tool_call_id,
            Column::ToolCalls => &mut row.tool_calls,
            Column::Metadata => &mut row.metadata,
            Column::Id | Column::Extra | Column::Messages | Column::Event | Column::Line => continue,
        };
        *target = Some(text);
    }
    if row.role.is_none() {
        row.role = index.implied_role(at).map(Cow::Borrowed);
    }
    row.extra = extra(members.iter().filter(|member| place(member) == Place::Extra), changes).map(Cow::Owned);
    row
}

/// The decoded text of a string member; the content was decoded before.
fn decoded<'a>(member: &Member<'a>, message: &'a Message<'_>) -> Cow<'a, str> {
    if member.field == Field::Content {
        match (&message.content, message.tool_calls.last()) {
            (Content::Text(text), _) => return Cow::Borrowed(text),
            (_, Some(call)) => return Cow::Borrowed(&call.arguments),
            _ => {}
        }
    }
    member.value.string().unwrap_or_default()
}

fn replaced_row<'a>(
    index: &'a Index<'_>,
    conversation: &'a Conversation<'_>,
    replacement: &'a Replacement,
    provenance: ProvenancePlace,
) -> MessageRow<'a> {
    let at = replacement.sources.first().copied().unwrap_or_default();
    let inner = new_values(conversation, replacement, index.style);
    let mut row = message_row(index, conversation, at, &inner);
    if replacement.is_by_several {
        row.name = None;
        let others =
            index.members(at).iter().filter(|member| place(member) == Place::Extra && member.field != Field::Name);
        row.extra = extra(others, &inner).map(Cow::Owned);
    }
    let content = index.member(at, Field::Content).map(|member| member.value);
    // A turn may be nothing but the arguments of a call.
    let is_content = |old: &str| content.is_some_and(|content| std::ptr::eq(content.text, old));
    let of_call = replacement.spots.iter().find(|(spot, _)| matches!(spot, Spot::Call(_)));
    if let (Some(_), Some((_, text))) = (inner.iter().find(|(old, _)| is_content(old)), of_call) {
        row.content = Some(Cow::Borrowed(text));
    }
    match new_content(content, replacement, &inner, index.style) {
        NewContent::Text(text) => row.content = Some(Cow::Borrowed(text)),
        NewContent::Json(json) => row.content = Some(Cow::Owned(json)),
        NewContent::Same => {}
    }
    if provenance == ProvenancePlace::Metadata {
        let metadata = index.member(at, Field::Metadata).map(|member| member.value);
        row.metadata = Some(Cow::Owned(new_metadata(metadata, &replacement.provenance, index.style, ":", ",")));
    }
    row
}

/// The members as one object; keys and values are copied.
fn extra<'m, 'r: 'm>(members: impl Iterator<Item = &'m Member<'r>>, changes: &[(&str, String)]) -> Option<String> {
    let mut object = String::new();
    for member in members {
        object.push(if object.is_empty() { '{' } else { ',' });
        match member.key.strip_prefix('"') {
            Some(key) if !member.parent.is_empty() => object.extend(["\"", member.parent, ".", key]),
            _ => object.push_str(member.key),
        }
        object.push(':');
        object.push_str(&edited(member.value.text, changes));
    }
    (!object.is_empty()).then(|| object + "}")
}

/// The layout of a record for [`super::restore_row`].
pub(super) fn row_layout(index: &Index<'_>, conversation: &Conversation<'_>, condensed: &Condensed) -> String {
    let mut layout = String::with_capacity(256);
    layout.push('r');
    match &index.log {
        Some(log) => events::record_template(index, log, &mut layout),
        None => record_template(index, conversation, &mut layout),
    }
    layout.push('\n');
    separators(index).write('s', 'p', &mut layout);
    let mut kept = kept(condensed);
    write_order(&kept, &mut layout);
    kept.sort_unstable();
    let mut templates = Table::default();
    let mut template = String::with_capacity(256);
    for at in kept {
        template.clear();
        message_template(index, conversation, at, &mut template);
        templates.push(&template);
    }
    templates.write('m', 'q', &mut layout);
    layout
}

/// The indices of kept messages in output order.
fn kept(condensed: &Condensed) -> Vec<usize> {
    let kept = condensed.messages.iter().filter_map(|output| match output {
        Output::Kept { index } => Some(*index),
        Output::Replaced(_) => None,
    });
    kept.collect()
}

/// What stands between the messages.
fn separators(index: &Index<'_>) -> Table {
    let mut table = Table::default();
    let mut template = String::new();
    for at in 1..index.messages.len() {
        template.clear();
        match &index.log {
            Some(log) => events::gap(index, log, at, &mut template),
            None => push_literal(index.separator(at).unwrap_or_default(), &mut template),
        }
        table.push(&template);
    }
    table
}

fn record_template(index: &Index<'_>, conversation: &Conversation<'_>, template: &mut String) {
    let list = offset_in(index.record, index.list);
    let mut rest = index.record;
    let mut listed = false;
    for (at, member) in index.head.iter().enumerate() {
        if !listed && offset_in(index.record, member.value.text) > list {
            rest = list_template(index, rest, template);
            listed = true;
        }
        let (before, after) = around(rest, member.value.text);
        rest = after;
        push_literal(before, template);
        if index.id != Some(at) {
            push_hole(Column::Extra, None, template);
        } else if member.value.kind == Kind::Text {
            text_hole(index, Column::Id, member, &conversation.id, template);
        } else {
            push_hole(Column::Id, None, template);
        }
    }
    if !listed {
        rest = list_template(index, rest, template);
    }
    push_literal(rest, template);
}

fn list_template<'r>(index: &Index<'r>, rest: &'r str, template: &mut String) -> &'r str {
    let (before, after) = around(rest, index.list);
    let (open, close) = brackets(index);
    push_literal(before, template);
    push_literal(open, template);
    if !index.messages.is_empty() {
        push_hole(Column::Messages, None, template);
    }
    push_literal(close, template);
    after
}

fn message_template(index: &Index<'_>, conversation: &Conversation<'_>, at: usize, template: &mut String) {
    let (Some(raw), Some(message)) = (index.messages.get(at), conversation.messages.get(at)) else { return };
    let mut rest: &str = raw;
    for member in index.members(at) {
        let (before, after) = around(rest, member.value.text);
        rest = after;
        push_literal(before, template);
        match place(member) {
            Place::Text(column) => text_hole(index, column, member, &decoded(member, message), template),
            Place::Copy(column) => push_hole(column, None, template),
            Place::Extra => push_hole(Column::Extra, None, template),
            Place::Layout => push_literal(member.value.text, template),
        }
    }
    push_literal(rest, template);
}

/// A hole when the text can be encoded to the same bytes, the bytes themselves otherwise.
fn text_hole(index: &Index<'_>, column: Column, member: &Member<'_>, text: &str, template: &mut String) {
    let value = member.value;
    if value.kind == Kind::Plain {
        return push_hole(column, None, template);
    }
    match index.style.fitting(value.text, value.marks, text) {
        Some(style) => push_hole(column, Some(style), template),
        None => push_literal(value.text, template),
    }
}

/// The layout of a condensed record, or of a list of events, for [`super::restore_record`].
pub(super) fn record_layout(index: &Index<'_>, conversation: &Conversation<'_>, condensed: &Condensed) -> String {
    if index.rules.spec.is_text {
        return format!("t\n{}", row_layout(index, conversation, condensed));
    }
    let mut layout = String::new();
    if let Some(log) = &index.log {
        layout.push('r');
        events::record_template(index, log, &mut layout);
        layout.push('\n');
        let items = events::items(log, condensed);
        write_items(items.iter().map(|item| matches!(item, events::Item::Message(_))), &mut layout);
    } else {
        match &*index.path {
            [] => {}
            [key] if likelihood(key) > 0 => layout.extend(["k", key, "\n"]),
            path => write_path(path, &mut layout),
        }
    }
    separators(index).write('s', 'p', &mut layout);
    write_order(&kept(condensed), &mut layout);
    layout
}
