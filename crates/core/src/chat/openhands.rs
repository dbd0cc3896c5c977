//! Events of `OpenHands`: what was said, done and seen. Knows how they tell it; refuses to know other logs.

use std::borrow::Cow;

use crate::model::{Message, Role, ToolCall};
use crate::shape::{RawJson, items, member};

use super::pieces::{Piece, Reply, text};

/// What `OpenHands` keeps beside the arguments of a call.
const STATE: [&str; 6] = ["thought", "confirmation_state", "hidden", "impl_source", "is_static", "blocking"];

/// Events of `OpenHands`: actions of the agent are its calls, with what it thinks beside them; what is neither said, done nor seen
/// did not reach the model.
pub(super) fn event<'a>(message: &'a Message<'_>, out: &mut Vec<Piece<'a>>) {
    let raw = message.raw;
    let at = |key: &str| member(raw, key).and_then(RawJson::string);
    let args = |key: &str| member(raw, "args").and_then(|args| member(args.text, key)).and_then(RawJson::string);
    let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    let content = || args("content").or_else(|| at("content")).or_else(|| at("message")).map(owned).unwrap_or_default();
    if let Some(seen) = at("observation") {
        let is_caused = member(raw, "cause").is_some_and(|cause| !cause.is_null());
        if is_caused && !matches!(seen.as_ref(), "recall" | "agent_state_changed" | "null") {
            let call = message.tool_call_id.as_deref().map(Cow::Borrowed);
            out.push(Piece::Result { call, name: None, text: text(&message.content) });
        }
        return;
    }
    match (at("action").as_deref(), &message.role) {
        (Some("system"), _) => out.push(Piece::System(content())),
        (Some("message"), Role::Assistant) => {
            out.push(Piece::Reply(Reply { texts: vec![content()], ..Reply::default() }));
        }
        (Some("message"), _) => out.push(Piece::Human { name: None, text: content() }),
        (Some("recall" | "change_agent_state" | "condensation" | "condensation_request" | "null") | None, _) => {}
        (Some(action), Role::Assistant) => {
            let id = message.id.as_deref().map(Cow::Borrowed);
            let own = || message.tool_calls.first().map_or("{}", |call| call.arguments.as_ref());
            let made = || ToolCall {
                id: None,
                name: Some(Cow::Owned(action.to_owned())),
                arguments: Cow::Owned(without_state(own())),
                place: None,
            };
            let call = ToolCall { id, ..asked(raw, own()).unwrap_or_else(made) };
            let texts = args("thought").filter(|text| !text.trim().is_empty()).map(owned).into_iter().collect();
            out.push(Piece::Reply(Reply { texts, calls: vec![call], ..Reply::default() }));
        }
        (Some(_), _) => {}
    }
}

/// The call that a model made, which an event tells beside what became of it.
fn asked<'a>(event: &'a str, own: &str) -> Option<ToolCall<'a>> {
    let told = member(event, "tool_call_metadata")?.text;
    let id = member(told, "tool_call_id").and_then(RawJson::string);
    let choices = member(told, "model_response").and_then(|response| member(response.text, "choices"));
    let mut found = None;
    let mut look = |call: &'a str| {
        if found.is_none() && id.is_some() && member(call, "id").and_then(RawJson::string) == id {
            let function = member(call, "function").map_or("{}", |function| function.text);
            let text = |key| member(function, key).and_then(RawJson::string);
            found = text("name").zip(text("arguments"));
        }
    };
    if let Some(choices) = choices.filter(|choices| choices.is_list()) {
        items(choices.text, |choice| {
            let calls = member(choice.text, "message").and_then(|said| member(said.text, "tool_calls"));
            if let Some(calls) = calls.filter(|calls| calls.is_list()) {
                items(calls.text, |call| look(call.text));
            }
        });
    }
    let (name, arguments) = match found {
        Some(found) => found,
        None => (member(told, "function_name").and_then(RawJson::string)?, Cow::Owned(without_state(own))),
    };
    Some(ToolCall { id: None, name: Some(name), arguments, place: None })
}

/// Arguments of an action without what the program adds to them.
fn without_state(arguments: &str) -> String {
    let Ok(serde_json::Value::Object(mut members)) = serde_json::from_str(arguments) else {
        return arguments.to_owned();
    };
    members.retain(|key, value| !STATE.contains(&key.as_str()) && !value.is_null());
    serde_json::Value::Object(members).to_string()
}
