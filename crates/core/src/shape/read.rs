//! From slices to a conversation: roles, contents, calls and provenance. Borrows wherever nothing is escaped.

use std::borrow::Cow;

use crate::model::{Age, Content, Conversation, Message, PROVENANCE_KEY, Provenance, Role, ToolCall};

use super::blocks;
use super::index::Index;
use super::json::{Kind, Raw, items, member, members};
use super::member::{Field, Member, take_arguments};
use super::reasoning;
use super::rules::Rules;

/// The conversation of a record.
pub(super) fn conversation<'r>(index: &Index<'r>, fallback_id: &str) -> Conversation<'r> {
    let id = index.id.and_then(|at| index.head.get(at)?.value.id());
    Conversation {
        id: id.unwrap_or_else(|| Cow::Owned(fallback_id.to_owned())),
        messages: (0..index.messages.len()).map(|at| message(index, at)).collect(),
        is_compacted: false,
        age: Age::Rested,
        held: Vec::new(),
    }
}

fn message<'r>(index: &Index<'r>, at: usize) -> Message<'r> {
    let mut message = Message {
        raw: index.messages.get(at).copied().unwrap_or_default(),
        id: None,
        role: Role::Missing,
        name: None,
        content: Content::Absent,
        tool_calls: Vec::new(),
        tool_call_id: None,
        results: Vec::new(),
        reasoning: Vec::new(),
        provenance: None,
    };
    let (mut call, mut blocks, mut is_result) = (None, None, false);
    let (mut thoughts, mut is_sealed) = (Vec::new(), false);
    for member in index.members(at) {
        let value = member.value;
        match member.field {
            Field::Id => message.id = value.id(),
            Field::Role => message.role = value.string().map_or(Role::Missing, |name| role(index.rules, name)),
            Field::Content if value.kind == Kind::List => blocks = Some(blocks::read(value.text)),
            Field::Content => message.content = content(value),
            Field::Name => message.name = name(value),
            Field::ToolCalls => tool_calls(value, &mut message.tool_calls),
            Field::FunctionCall if value.kind == Kind::Object => message.tool_calls.push(function(value, None)),
            Field::ToolCallId => message.tool_call_id = first_id(value),
            Field::Metadata => message.provenance = provenance(value),
            Field::CallName => call.get_or_insert_with(ToolCall::default).name = value.string(),
            Field::CallArguments => take_arguments(call.get_or_insert_with(ToolCall::default), value),
            Field::Observation => is_result = true,
            Field::Other if reasoning::is_key(member.key) => thoughts.push(value),
            Field::FunctionCall | Field::Other | Field::Shadowed => {}
        }
    }
    message.tool_calls.extend(call.filter(|_| !is_result));
    if let Some(blocks) = blocks {
        message.content = blocks.content;
        message.tool_calls.extend(blocks.calls);
        let answered = blocks.results.iter().find_map(|result| result.call.clone());
        message.tool_call_id = message.tool_call_id.take().or(answered);
        // The Messages API has no role for results: they come from the user.
        is_result |= !blocks.results.is_empty() && message.role == Role::User;
        message.results = blocks.results;
        thoughts.extend(blocks.thoughts);
        is_sealed = blocks.is_sealed;
    }
    if is_result {
        message.role = Role::Tool;
    }
    if let (Role::Missing, Some(implied)) = (&message.role, index.implied_role(at)) {
        message.role = role(index.rules, Cow::Borrowed(implied));
    }
    if let Some(form) = index.form(at) {
        (form.finish)(&mut message, index.members(at));
    }
    if index.rules.spec.call_role.is_some_and(|call| message.role.as_str() == call) {
        message.role = Role::Assistant;
        if let Content::Text(arguments) = std::mem::replace(&mut message.content, Content::Null) {
            let place = index.member(at, Field::Content).map(|member| member.value.text);
            message.tool_calls.push(ToolCall { id: None, name: None, arguments, place });
        }
    }
    if message.role == Role::Assistant {
        message.reasoning = reasoning::read(&thoughts);
        let may_seal = |member: &&Member<'_>| matches!(member.field, Field::Other | Field::ToolCalls);
        let others = || index.members(at).iter().filter(may_seal);
        if !message.reasoning.is_empty() && (is_sealed || others().any(reasoning::is_sealed_by)) {
            message.reasoning.iter_mut().for_each(|thought| thought.places.clear());
        }
    }
    message
}

/// Who speaks: what is no text names somebody, too.
fn name(value: Raw<'_>) -> Option<Cow<'_, str>> {
    value.string().or_else(|| (value.kind != Kind::Null).then_some(Cow::Borrowed(value.text)))
}

fn role<'r>(rules: Rules<'_>, name: Cow<'r, str>) -> Role<'r> {
    usual(rules.role(&name).unwrap_or(name.as_ref())).unwrap_or(Role::Other(name))
}

fn usual<'r>(name: &str) -> Option<Role<'r>> {
    Some(match name {
        "system" => Role::System,
        "developer" => Role::Developer,
        "user" | "human" => Role::User,
        "assistant" | "gpt" | "model" | "ai" => Role::Assistant,
        "tool" | "observation" => Role::Tool,
        "function" => Role::Function,
        _ => return None,
    })
}

/// True for a name of somebody who takes part in conversations of every shape.
pub(super) fn is_usual(name: &str) -> bool {
    usual(name).is_some()
}

/// An id, or the first one of a list of ids.
fn first_id(value: Raw<'_>) -> Option<Cow<'_, str>> {
    let mut first = None;
    items(value.text, |item| first = first.take().or_else(|| item.id()));
    value.id().or(first)
}

fn content(value: Raw<'_>) -> Content<'_> {
    match value.kind {
        Kind::Null => Content::Null,
        Kind::Text | Kind::Plain => value.string().map_or(Content::Other, Content::Text),
        Kind::Bool | Kind::Number | Kind::List | Kind::Object => Content::Other,
    }
}

fn tool_calls<'r>(value: Raw<'r>, calls: &mut Vec<ToolCall<'r>>) {
    match value.kind {
        Kind::List => items(value.text, |item| calls.push(tool_call(item))),
        Kind::Object => calls.push(tool_call(value)),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Text | Kind::Plain => {}
    }
}

/// `{"id", "function": {"name", "arguments"}}`, or the same without the inner object; `function` may be the name.
fn tool_call(item: Raw<'_>) -> ToolCall<'_> {
    let (mut id, mut inner, mut name) = (None, None, None);
    members(item.text, |key, value| match key.name.as_ref() {
        "id" => id = value.id(),
        "function" if value.kind == Kind::Object => inner = Some(value),
        "function" => name = value.string(),
        _ => {}
    });
    let mut call = function(inner.unwrap_or(item), id);
    call.name = call.name.or(name);
    call
}

fn function<'r>(value: Raw<'r>, id: Option<Cow<'r, str>>) -> ToolCall<'r> {
    let mut call = ToolCall { id, ..ToolCall::default() };
    members(value.text, |key, value| match key.name.as_ref() {
        "name" => call.name = value.string(),
        "arguments" | "args" => take_arguments(&mut call, value),
        _ => {}
    });
    call
}

/// `_cce_original` of a metadata object; `None` when it names no message.
pub(super) fn provenance(metadata: Raw<'_>) -> Option<Provenance> {
    let original = member(metadata.text, PROVENANCE_KEY)?;
    let mut found = Provenance::default();
    members(original.text, |key, value| match key.name.as_ref() {
        "ids" => found.ids = ids(value),
        "summary_id" => found.summary_id = value.id().unwrap_or_default().into_owned(),
        "parent_ids" => found.parent_ids = ids(value),
        "version" => found.version = value.text.parse().unwrap_or_default(),
        "compaction" => found.compaction = value.text == "true",
        _ => {}
    });
    (!found.ids.is_empty()).then_some(found)
}

fn ids(value: Raw<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    // An id of a strange type is named by its JSON: left out, its message would be taken for restored.
    items(value.text, |item| ids.push(item.id().unwrap_or(Cow::Borrowed(item.text)).into_owned()));
    ids
}
