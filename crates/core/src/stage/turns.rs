//! Rule 16 for meetings and chats: neighbouring turns of several speakers are told together. Knows who speaks and how much;
//! refuses to know which of their sentences stay.

use super::who::has_own_user;
use super::{GroupKind, Plan, View, talk};
use crate::model::{HideBy, Message};

/// A longer turn is a speech and is told by itself.
const MAX_TURN_CHARS: usize = 800;
/// A longer run is cut, in bytes of its texts and names: what stands for it is known again by its form up to twice of it.
const MAX_BYTES: usize = 4_000;

/// True for a conversation in which several speak one after the other, nobody is the user of another and no tool is called.
pub(super) fn are_in(view: &View<'_>) -> bool {
    let follow =
        |[a, b]: &[Message<'_>; 2]| a.role == b.role && a.name.is_some() && b.name.is_some() && a.name != b.name;
    view.options.hide_by == HideBy::Use
        && view.conversation.messages.array_windows().any(follow)
        && !has_own_user(view.conversation)
        && !view.profiles.has_tools(view.conversation)
}

/// Claims runs of turns of several speakers.
pub(super) fn claim(view: &View<'_>, plan: &mut Plan) {
    let mut run = Run::default();
    for index in 0..view.recency_start {
        let turn = &view.conversation.messages[index];
        let may_join =
            turn.name.is_some() && view.chars(index) <= MAX_TURN_CHARS && talk::text(view, plan, index).is_some();
        if !may_join {
            run.end(view, plan);
            continue;
        }
        let n_bytes = n_bytes(turn);
        let goes_on = run.members.last().is_some_and(|&last| view.conversation.messages[last].role == turn.role);
        if !goes_on || run.n_bytes + n_bytes > MAX_BYTES {
            run.end(view, plan);
        }
        run.members.push(index);
        run.n_bytes += n_bytes;
    }
    run.end(view, plan);
}

/// Turns that follow each other.
#[derive(Default)]
struct Run {
    members: Vec<usize>,
    n_bytes: usize,
}

impl Run {
    /// Claims the run if several speak in it, and begins another.
    fn end(&mut self, view: &View<'_>, plan: &mut Plan) {
        let Self { members, .. } = std::mem::take(self);
        let name = |index: usize| &view.conversation.messages[index].name;
        if members.iter().any(|&index| name(index) != name(members[0])) {
            plan.group(members, GroupKind::Talk);
        }
    }
}

fn n_bytes(turn: &Message<'_>) -> usize {
    turn.texts().map(str::len).sum::<usize>() + turn.name.as_ref().map_or(0, |name| name.len())
}
