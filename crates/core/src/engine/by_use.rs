//! Where the use of a text decides whether it is hidden: the walk over what the stages left, and who says what in it. Knows
//! roles and plans; refuses to know how use is found out.

use super::{Engine, Scratch, budget};
use crate::model::{CompressionDepth, Consult, Conversation, HideBy, Message, Reason, Role};
use crate::stage::{Claim, GroupKind, Plan, Stage, View, calls_tools, has_tools};
use crate::walk::{self, SaidBy};

/// What the walk is called among the stages, behind which it comes.
pub(super) const NAME: &str = "walk";

/// Per cent of fillers for who wants to see more of what there was.
const MANY_FILLERS: usize = 30;

impl Engine {
    /// True when a stage is on and may claim messages of `conversation`.
    pub(super) fn is_asked(&self, stage: &dyn Stage, conversation: &Conversation<'_>) -> bool {
        let may_claim = !stage.goes_by_looks() || self.options.observation_threshold > 0;
        stage.is_on(&self.options) && (may_claim || !self.goes_by_use(conversation))
    }

    /// Lets a stage claim. Where use decides, one that goes by looks gets those messages alone that are large enough to lose
    /// their protection.
    pub(super) fn ask(&self, stage: &dyn Stage, view: &View<'_>, plan: &mut Plan, consult: &mut Consult<'_>) {
        let is_limited = stage.goes_by_looks() && self.goes_by_use(view.conversation);
        let aside = plan.free().filter(|&index| is_limited && !view.is_large(index)).collect::<Vec<_>>();
        for &index in &aside {
            plan.keep(index, Reason::InUse);
        }
        stage.claim_with(view, plan, consult);
        plan.release(&aside);
    }

    /// True when the use of a text decides whether it is hidden.
    pub(super) fn goes_by_use(&self, conversation: &Conversation<'_>) -> bool {
        self.options.hide_by == HideBy::Use && has_tools(conversation)
    }

    /// What later messages use of those that no stage has claimed, and what stands for them.
    pub(super) fn walk(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        plan: &mut Plan,
    ) -> Vec<walk::UsedText> {
        if !self.goes_by_use(conversation) {
            return Vec::new();
        }
        let fillers = match self.options.compression_depth {
            CompressionDepth::Gentle => MANY_FILLERS,
            CompressionDepth::Moderate | CompressionDepth::Auto => walk::FILLERS,
            CompressionDepth::Aggressive => 0,
        };
        let rules =
            walk::Rules { recency_window: budget::window(&self.options), min_saving: self.options.min_saving, fillers };
        let state = |index: usize| match plan.claim_of(index) {
            None => walk::Standing::Free,
            Some(Claim::Keep(_)) => walk::Standing::Kept,
            Some(_) => walk::Standing::Gone,
        };
        let views = scratch.walker.walk(conversation, &said_by(conversation), rules, &state);
        for of_message in views.chunk_by(|a, b| a.message == b.message) {
            plan.group(vec![of_message[0].message], GroupKind::Used);
        }
        for index in plan.free().collect::<Vec<_>>() {
            plan.keep(index, Reason::InUse);
        }
        scratch.profiles.lex(conversation);
        scratch.ended(NAME);
        views
    }
}

/// Who says each message. Where nobody calls tools by name, what the user says after his task is what programs return.
fn said_by(conversation: &Conversation<'_>) -> Vec<SaidBy> {
    let calls_tools = calls_tools(conversation);
    let mut has_task = false;
    let of = |message: &Message<'_>| match message.role {
        Role::System | Role::Developer => SaidBy::System,
        Role::Assistant => SaidBy::Assistant,
        Role::User | Role::Missing if calls_tools || !std::mem::replace(&mut has_task, true) => SaidBy::Human,
        _ => SaidBy::Result,
    };
    conversation.messages.iter().map(of).collect()
}
