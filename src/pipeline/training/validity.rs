//! What chat templates refuse. The rules are those that the templates of common models raise errors for: a system
//! prompt only at the beginning, the user first, then user and assistant by turns, results only after their calls,
//! and something said in every turn.

use std::collections::BTreeSet;

use super::turns::Turn;
use crate::model::Role;

/// The rules that a conversation breaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Breaks {
    /// A system prompt after the beginning.
    late_system: bool,
    /// Somebody else than the user speaks first.
    other_first: bool,
    /// User after user, or assistant after assistant, calls and results left aside.
    no_turns: bool,
    /// A result without a call before it.
    result_without_call: bool,
    /// A call that got no result before the next speaker.
    call_without_result: bool,
    /// A turn that says nothing and calls nothing.
    empty: bool,
    /// A role that templates do not know.
    unknown_role: bool,
}

impl Breaks {
    /// True when `self` breaks a rule that `before` kept.
    pub(super) fn beyond(self, before: Self) -> bool {
        let pairs = [
            (self.late_system, before.late_system),
            (self.other_first, before.other_first),
            (self.no_turns, before.no_turns),
            (self.result_without_call, before.result_without_call),
            (self.call_without_result, before.call_without_result),
            (self.empty, before.empty),
            (self.unknown_role, before.unknown_role),
        ];
        pairs.into_iter().any(|(now, then)| now && !then)
    }
}

/// Walks the turns once.
pub(super) fn breaks(turns: &[Turn<'_>]) -> Breaks {
    let mut found = Breaks::default();
    let (mut begun, mut after_call) = (false, false);
    let mut last: Option<&Role<'_>> = None;
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for turn in turns {
        let is_result = matches!(turn.role, Role::Tool | Role::Function);
        found.empty |= turn.text.trim().is_empty() && turn.calls.is_empty() && !is_result;
        match turn.role {
            Role::System | Role::Developer => {
                found.late_system |= begun;
                continue;
            }
            Role::Tool | Role::Function => {
                let answers = turn.call_id.map_or(after_call, |id| open.remove(id) || (after_call && open.is_empty()));
                found.result_without_call |= !answers;
            }
            Role::User | Role::Assistant => {
                found.other_first |= !begun && *turn.role != Role::User;
                found.call_without_result |= !open.is_empty();
                open.clear();
                if turn.calls.is_empty() {
                    found.no_turns |= last == Some(turn.role);
                    last = Some(turn.role);
                }
                after_call = !turn.calls.is_empty();
                open.extend(turn.calls.iter().filter_map(|call| call.id.as_deref()));
            }
            Role::Other(_) | Role::Missing => found.unknown_role = true,
        }
        begun = true;
    }
    found
}
