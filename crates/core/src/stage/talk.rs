//! Which messages may be told together with others, and which may vanish from a conversation without harm to its
//! turns. Knows claims and roles; refuses to know what chains and topics are.

use super::detect::is_json;
use super::{Plan, View};
use crate::model::{Content, Message, Role, marker};
use crate::text::TextView;
use crate::text::bytes::trim;

/// The text of a message that says something in plain words and that no stage has claimed, or only as short.
pub(super) fn text<'a>(view: &View<'a>, plan: &Plan, index: usize) -> Option<TextView<'a>> {
    let message = &view.conversation.messages[index];
    let is_plain = matches!(message.content, Content::Text(_))
        && message.tool_calls.is_empty()
        && message.tool_call_id.is_none()
        && message.provenance.is_none()
        && !matches!(message.role, Role::Tool | Role::Function | Role::Missing | Role::System | Role::Developer);
    if !is_plain || index >= view.recency_start || view.is_large(index) {
        return None;
    }
    let claim = plan.claim_of(index);
    if claim.is_some_and(|claim| !claim.is_soft()) {
        return None;
    }
    let text = view.text(index)?;
    let may_join = match claim {
        None => !plan.verdicts[index].is_output && text.fences.is_empty(),
        Some(_) => is_short_talk(view, index, &text),
    };
    may_join.then_some(text)
}

/// What no stage has looked at, because it is short.
fn is_short_talk(view: &View<'_>, index: usize, text: &TextView<'_>) -> bool {
    !trim(text.text).is_empty()
        && text.fences.is_empty()
        && view.decided(index).all(|text| !text.is_hard && !text.is_output)
        && !is_json(text.text)
        && !marker::stands_for_others(text.text)
}

/// True when the turns stay as valid as they were without the messages from `left + 1` to `end`: the next message has
/// another role than `left`, or stood beside one of its own role before; tool calls and their results both counted and
/// left aside.
pub(super) fn may_vanish(view: &View<'_>, left: usize, end: usize) -> bool {
    let messages = &view.conversation.messages;
    let meets = |left: usize, after_left: usize, before_right: usize, right: usize| {
        let role = |index: usize| &messages[index].role;
        role(left) != role(right) || role(left) == role(after_left) || role(before_right) == role(right)
    };
    let right = end + 1;
    if right < messages.len() && !meets(left, left + 1, end, right) {
        return false;
    }
    let speaks = |index: &usize| is_turn(&messages[*index]);
    let left_turn = (0..=left).rev().find(speaks);
    let right_turn = (right..messages.len()).find(speaks);
    let (Some(left), Some(right)) = (left_turn, right_turn) else { return true };
    let between = || (left + 1..right).filter(speaks);
    match (between().next(), between().next_back()) {
        (Some(first), Some(last)) => meets(left, first, last, right),
        _ => true,
    }
}

/// True for what chat templates count as a turn.
pub(super) fn is_turn(message: &Message<'_>) -> bool {
    message.tool_calls.is_empty()
        && !matches!(message.role, Role::Tool | Role::Function | Role::System | Role::Developer)
}
