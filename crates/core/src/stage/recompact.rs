//! Summaries of summaries: when a conversation has grown, a long run of summaries of earlier rounds becomes
//! one. Runs only after something new was summarised, so a second pass over the same conversation changes nothing.

use super::{Claim, GroupKind, Plan, Stage, View};
use crate::model::{Content, Reason, Role, marker};

/// Members of one summary of summaries.
const MAX_MEMBERS: usize = 31;

/// Claims runs of earlier summaries.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recompact;

impl Stage for Recompact {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let summaries: Vec<usize> = (0..view.len()).filter(|&index| is_summary(view, plan, index)).collect();
        let name = |index: usize| &view.conversation.messages[index].name;
        for run in summaries.chunk_by(|&a, &b| a + 1 == b && name(a) == name(b)) {
            for part in run.chunks(MAX_MEMBERS.max(view.options.resummarize_after)) {
                claim_run(view, plan, part);
            }
        }
    }
}

/// Claims the longest head of `run` after which the roles still alternate as before: the message that stands
/// for it has the role of its first member, so the next one must have had another role than the last member,
/// or follow a neighbour of its own role already.
fn claim_run(view: &View<'_>, plan: &mut Plan, run: &[usize]) {
    let role = |index: usize| view.conversation.messages.get(index).map(|message| &message.role);
    let mut end = run.len();
    while end >= view.options.resummarize_after.max(2) {
        let (first, last) = (run[0], run[end - 1]);
        if role(last + 1) != role(first) || role(last) == role(last + 1) {
            plan.group(run[..end].to_vec(), GroupKind::Recompact);
            return;
        }
        end -= 1;
    }
}

fn is_summary(view: &View<'_>, plan: &Plan, index: usize) -> bool {
    let message = &view.conversation.messages[index];
    matches!(plan.claim_of(index), Some(Claim::Keep(Reason::AlreadyCompressed | Reason::ShortContent)))
        && message.tool_call_id.is_none()
        && !matches!(message.role, Role::Tool | Role::Function)
        && matches!(&message.content, Content::Text(text) if may_be_told_again(text))
}

/// True for a summary that is prose of one speaker.
fn may_be_told_again(text: &str) -> bool {
    marker::inner_summary(text).is_some() && !text.contains("```") && !marker::tells_talk(text)
}
