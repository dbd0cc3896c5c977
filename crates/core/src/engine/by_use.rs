//! Where the use of a text decides whether it is hidden: the walk over what the stages left, and who says what in it. Knows
//! roles and plans; refuses to know how use is found out.

use super::assemble::Assembled;
use super::fill::used_of;
use super::{Engine, Scratch, budget};
use crate::model::{
    AssistantText, CompressionDepth, Consult, Content, Conversation, Grounding, HideBy, Images, LookAhead, Message,
    NewBody, Output, Part, Reason, Role, SystemPrompts, Users,
};
use crate::stage::{Claim, GroupKind, Plan, Profiles, Stage, View, first_call, first_with_tools, has_tools};
use crate::walk::{self, Lessons, Level, MOST_WORTH, SaidBy, Standing, UseModel, UsedText, Walker, Yield};

/// What the walk is called among the stages, behind which it comes.
pub(super) const NAME: &str = "walk";

/// Per cent of fillers for who wants to see more of what there was.
const MANY_FILLERS: usize = 30;

impl Engine {
    /// True when a stage is on and may claim messages of `conversation`.
    pub(super) fn is_asked(&self, stage: &dyn Stage, view: &View<'_>) -> bool {
        if self.options.decides_once() {
            return !stage.needs_text() && stage.is_on(&self.options);
        }
        let may_claim = !stage.goes_by_looks() || self.options.observation_threshold > 0;
        stage.is_on(&self.options) && (may_claim || !self.is_by_use(view))
    }

    /// Lets a stage claim. Where use decides, one that goes by looks gets those messages alone that are large enough to lose
    /// their protection.
    pub(super) fn ask(&self, stage: &dyn Stage, view: &View<'_>, plan: &mut Plan, consult: &mut Consult<'_>) {
        let is_limited = stage.goes_by_looks() && self.is_by_use(view);
        let aside = plan.free().filter(|&index| is_limited && !view.is_large(index)).collect::<Vec<_>>();
        for &index in &aside {
            plan.keep(index, Reason::InUse);
        }
        stage.claim_with(view, plan, consult);
        plan.release(&aside);
    }

    /// True when the use of a text decides whether it is hidden: in sessions with tools, unless looks were asked for.
    #[must_use]
    pub fn goes_by_use(&self, conversation: &Conversation<'_>) -> bool {
        match self.options.looks_ahead() {
            None => false,
            Some(LookAhead::Strict) => first_with_tools(conversation).is_some(),
            Some(LookAhead::Turns | LookAhead::Off) => has_tools(conversation),
        }
    }

    /// The same where it may be known by now.
    pub(super) fn is_by_use(&self, view: &View<'_>) -> bool {
        match self.options.looks_ahead() {
            Some(LookAhead::Turns | LookAhead::Off) => view.profiles.has_tools(view.conversation),
            _ => self.goes_by_use(view.conversation),
        }
    }

    /// The first message of which use decides: where one is decided once, those stay that left the window before there were tools.
    fn first_decided(&self, conversation: &Conversation<'_>) -> usize {
        let at_once =
            || first_with_tools(conversation).map_or(usize::MAX, |at| at.saturating_sub(self.options.recency_window));
        if self.options.decides_once() { at_once() } else { 0 }
    }

    /// Keeps the messages before the first of which use decides.
    pub(super) fn keep_undecided(&self, conversation: &Conversation<'_>, plan: &mut Plan) {
        let first = self.first_decided(conversation);
        for index in plan.free().take_while(|&index| index < first).collect::<Vec<_>>() {
            plan.keep(index, Reason::NoToolsYet);
        }
    }

    /// Number of last messages that no stage may touch: where use decides the order in which things give way takes them
    /// later, if a budget asks for it.
    pub(super) fn window(&self, conversation: &Conversation<'_>) -> usize {
        if self.gives_way() && self.goes_by_use(conversation) {
            return self.options.recency_window.max(self.options.min_recency_window);
        }
        budget::window(&self.options)
    }

    /// What later messages use of those that no stage has claimed, and what stands for them, when so much has given way as
    /// `level` says; with `explains` every unit is told why it stays or goes.
    pub(super) fn walk(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        plan: &mut Plan,
        level: Level,
        explains: bool,
    ) -> Vec<UsedText> {
        if !self.is_by_use(&self.view(conversation, &scratch.profiles)) {
            return self.walk_prompts(conversation, scratch, plan, explains);
        }
        let recent = self.recent(conversation, &scratch.profiles);
        if plan.free().any(|index| self.is_old_answer(conversation, index)) {
            scratch.profiles.lex(conversation);
        }
        let view = self.view(conversation, &scratch.profiles);
        let views = self.walk_at(&view, &mut scratch.walker, plan, (level, &recent), explains);
        if self.reads_texts(&view, plan) {
            scratch.profiles.lex(conversation);
        }
        scratch.ended(NAME);
        views
    }

    /// The same where looks decide: only what another conversation shows gives way.
    fn walk_prompts(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        plan: &mut Plan,
        explains: bool,
    ) -> Vec<UsedText> {
        let settled = settled(conversation);
        let is_held = |index: usize| {
            let is_held = |claim| self.is_held(conversation, index, claim);
            index >= settled && plan.claim_of(index).is_some_and(is_held)
        };
        if self.options.token_budget.is_some() || !(0..conversation.messages.len()).any(is_held) {
            return Vec::new();
        }
        let state = |index: usize| if is_held(index) { Standing::Held } else { Standing::Kept };
        let said_by =
            self.said_by(conversation).into_iter().map(|by| if by == SaidBy::Result { SaidBy::Human } else { by });
        let rules = walk::Rules { min_saving: self.options.min_saving, explains, ..walk::Rules::default() };
        let views = scratch.walker.walk(conversation, &said_by.collect::<Vec<_>>(), rules, &state);
        group(plan, &views);
        scratch.ended(NAME);
        views
    }

    /// True for a system prompt after all that is settled that stays, of which another conversation shows something, where that gives way.
    fn is_held(&self, conversation: &Conversation<'_>, index: usize, claim: &Claim) -> bool {
        self.options.prompts == SystemPrompts::Once
            && self.options.hide_by == HideBy::Use
            && matches!(claim, Claim::Keep(Reason::PreservedRole))
            && conversation.held.binary_search_by_key(&index, |held| held.message).is_ok()
    }

    /// The same with a walker; `recent` are the messages that stay for no other reason than that they are recent.
    pub(super) fn walk_at(
        &self,
        view: &View<'_>,
        walker: &mut Walker,
        plan: &mut Plan,
        (level, recent): (Level, &[usize]),
        explains: bool,
    ) -> Vec<UsedText> {
        let conversation = view.conversation;
        let fillers = match self.options.compression_depth {
            _ if self.threshold().is_some() => 0,
            CompressionDepth::Gentle => MANY_FILLERS,
            CompressionDepth::Moderate | CompressionDepth::Auto => walk::FILLERS,
            CompressionDepth::Aggressive => 0,
        };
        let rules = walk::Rules {
            recency_window: self.window(conversation),
            min_recency_window: self.options.min_recency_window,
            min_saving: self.min_saving(),
            fillers,
            results_use: self.options.users == Users::All,
            hides_arguments: self.options.takes_arguments(),
            marks_media: self.options.images == Images::Mark,
            distractors: self.options.distractors,
            level,
            predicts: self.prediction(),
            explains,
        };
        let settled = settled(conversation);
        let first = self.first_decided(conversation);
        let state = |index: usize| match plan.claim_of(index) {
            _ if index < first => Standing::Kept,
            None if index >= settled => Standing::Free,
            Some(claim) if index >= settled && self.is_held(conversation, index, claim) => Standing::Held,
            Some(Claim::Keep(reason)) if index >= settled && self.is_open(*reason, &conversation.messages[index]) => {
                Standing::Open
            }
            Some(Claim::Keep(reason)) if index >= settled => self.yields(*reason, index, recent),
            None | Some(Claim::Keep(_)) => Standing::Kept,
            Some(_) => Standing::Gone,
        };
        let views = walker.walk(conversation, &self.said_by(conversation), rules, &state);
        group(plan, &views);
        for index in plan.free().collect::<Vec<_>>() {
            // What an answer uses stays where it stood, also when the answer itself becomes shorter.
            let kind = self.is_old_answer(conversation, index).then(|| budget::prose_kind(view, index)).flatten();
            match kind {
                Some(kind) => {
                    plan.group(vec![index], kind);
                }
                None => plan.keep(index, Reason::InUse),
            }
        }
        views
    }

    /// Lets `lessons` take a finished conversation, if there are tools in it and turns; whether it did.
    pub fn teach(&self, conversation: &Conversation<'_>, lessons: &mut Lessons) -> bool {
        self.goes_by_use(conversation) && lessons.take(conversation, &self.said_by(conversation))
    }

    /// How what comes next is guessed, where nobody may look ahead or a threshold says how much of it is shown.
    fn prediction(&self) -> Option<walk::Prediction<'_>> {
        let is_asked = self.options.guesses() || self.options.worth_threshold.is_some();
        let model = self.uses.as_deref().filter(|_| is_asked)?;
        Some(walk::Prediction { model, how_far: self.options.look_ahead, takes_answers: self.options.takes_answers() })
    }

    /// The threshold of worth that holds; `None` where what is used decides alone.
    pub(super) fn threshold(&self) -> Option<u32> {
        let of_model = || self.uses.as_deref().filter(|_| self.options.guesses()).map(UseModel::threshold);
        let threshold = self.options.worth_threshold.or_else(of_model);
        // Beyond that a conversation gives way the more the longer it is.
        let most = if self.options.decides_once() { MOST_WORTH } else { u32::MAX };
        threshold.map(|threshold| threshold.min(most))
    }

    /// Characters that hiding something saves at least.
    pub(super) fn min_saving(&self) -> usize {
        let threshold = self.threshold().filter(|_| self.options.guesses());
        threshold.map_or(self.options.min_saving, |threshold| walk::min_saving(self.options.min_saving, threshold))
    }

    /// How far the order in which things give way is followed, whatever a budget asks for beside it.
    pub(super) fn level(&self, n_messages: usize) -> Level {
        self.threshold().map_or(Level::NOTHING, |threshold| Level::at(threshold, n_messages))
    }

    /// True when what is used may give way: to a budget, or beyond a threshold.
    pub(super) fn gives_way(&self) -> bool {
        self.options.token_budget.is_some() || self.threshold().is_some_and(|threshold| threshold > MOST_WORTH)
    }

    /// True for an answer that no stage keeps: a long one before the window, where answers may be shortened.
    fn is_old_answer(&self, conversation: &Conversation<'_>, index: usize) -> bool {
        let message = &conversation.messages[index];
        self.options.assistant == AssistantText::Old
            && !self.options.guesses()
            && message.role == Role::Assistant
            && message.name.is_none()
    }

    /// Until when a message stays that is kept for this reason.
    fn yields(&self, reason: Reason, index: usize, recent: &[usize]) -> Standing {
        match reason {
            Reason::FirstUser => Standing::Until(Yield::Pasted),
            Reason::ToolCalls if self.options.assistant != AssistantText::Keep => Standing::Until(Yield::Arguments),
            Reason::RecencyWindow if recent.binary_search(&index).is_ok() => Standing::Until(Yield::Recent),
            _ => Standing::Kept,
        }
    }

    /// The messages that stay for no other reason than that they are recent, and that a budget may take.
    pub(super) fn recent(&self, conversation: &Conversation<'_>, profiles: &Profiles) -> Vec<usize> {
        let view = self.view(conversation, profiles);
        if !self.gives_way() {
            return Vec::new();
        }
        let mut plan = Plan::new(view.len());
        let least = View { recency_start: view.len().saturating_sub(self.options.min_recency_window), ..view };
        for stage in self.stages.iter().filter(|stage| !stage.needs_text() && stage.is_on(&self.options)) {
            stage.claim(&least, &mut plan);
        }
        let start = view.recency_start.max(settled(conversation));
        plan.free().filter(|&index| index >= start).collect()
    }

    /// True when a message that is kept for this reason keeps its texts alone. A budget does not take the words of a user before
    /// others, whatever stands beside them.
    fn is_open(&self, reason: Reason, message: &Message<'_>) -> bool {
        match reason {
            Reason::NoText | Reason::ShortContent if self.options.takes_answers() && !message.reasoning.is_empty() => {
                true
            }
            Reason::ToolCalls => self.options.takes_arguments() || self.options.takes_answers(),
            Reason::Answer => self.options.takes_answers(),
            Reason::NoText | Reason::ShortContent | Reason::UserWords => {
                self.options.images == Images::Mark && !self.gives_way()
            }
            _ => false,
        }
    }

    /// True when somebody looks into the texts of a conversation that went the walk: a stage that was asked for, a budget, or
    /// the figures.
    fn reads_texts(&self, view: &View<'_>, plan: &Plan) -> bool {
        let is_read = |claim: &Claim| match claim {
            Claim::Keep(reason) => *reason == Reason::AlreadyCompressed,
            Claim::Group(group) => plan.groups[*group].kind != GroupKind::Used,
            _ => true,
        };
        self.measures_texts(view) || self.gives_way() || plan.claims().any(is_read)
    }

    /// True when the texts of a conversation are measured: where looks decide, or when all figures are asked for.
    pub(super) fn measures_texts(&self, view: &View<'_>) -> bool {
        self.options.all_figures || !self.is_by_use(view)
    }

    /// What of all that the assistant used still stands where it was; `None` when nobody asks. What a model says in a mark
    /// shows nothing: there the texts of the walk are read.
    pub(super) fn grounding(
        &self,
        view: &View<'_>,
        walker: &mut Walker,
        plan: &Plan,
        used: &[UsedText],
        assembled: &Assembled,
    ) -> Option<Grounding> {
        let (conversation, is_by_use) = (view.conversation, self.is_by_use(view));
        let is_asked = is_by_use || self.options.all_figures;
        if !is_asked || settled(conversation) > 0 || self.options.guesses() && !self.options.all_figures {
            return None;
        }
        let is_walked = |claim: &Claim| match claim {
            Claim::Keep(_) => true,
            Claim::Group(group) => plan.groups[*group].kind == GroupKind::Used,
            _ => false,
        };
        let is_written = !self.options.guesses() && assembled.filled.len() == plan.groups.len() && !self.gives_way();
        if is_by_use && is_written && plan.claims().all(is_walked) {
            return Some(walker.grounding());
        }
        let mut written: Vec<Vec<&str>> = vec![Vec::new(); conversation.messages.len()];
        for output in &assembled.messages {
            match output {
                Output::Kept { index } => written[*index] = conversation.messages[*index].texts().collect(),
                Output::Replaced(replaced) => {
                    let first = replaced.sources[0];
                    let is_walked = !replaced.views.is_empty();
                    let bare = if is_walked { used_of(used, first) } else { &[] };
                    written[first] = texts_of(&conversation.messages[first], &replaced.body, bare);
                }
            }
        }
        Some(walker.judge(conversation, &self.said_by(conversation), &|index| written[index].clone()))
    }

    /// Who says each message. Where nobody calls tools by name, what the user says after the first answer is what programs return; where
    /// a message is decided once, from when on commands are written.
    fn said_by(&self, conversation: &Conversation<'_>) -> Vec<SaidBy> {
        let called = first_call(conversation).unwrap_or(usize::MAX);
        let first_answer = conversation.messages.iter().position(|message| message.role == Role::Assistant);
        let results = if self.options.decides_once() {
            first_with_tools(conversation).unwrap_or(usize::MAX)..called
        } else if called == usize::MAX {
            first_answer.unwrap_or(usize::MAX)..usize::MAX
        } else {
            0..0
        };
        let of = |(index, message): (usize, &Message<'_>)| match message.role {
            Role::System | Role::Developer => SaidBy::System,
            Role::Assistant => SaidBy::Assistant,
            Role::User | Role::Missing if !results.contains(&index) => SaidBy::Human,
            _ => SaidBy::Result,
        };
        conversation.messages.iter().enumerate().map(of).collect()
    }
}

/// Notes in the plan what the walk has taken.
fn group(plan: &mut Plan, views: &[UsedText]) {
    for of_message in views.chunk_by(|a, b| a.message == b.message) {
        let index = of_message[0].message;
        plan.release(&[index]);
        plan.group(vec![index], GroupKind::Used);
    }
}

/// Messages from the start that an earlier round has decided, and whose hidden text is not at hand.
pub(super) fn settled(conversation: &Conversation<'_>) -> usize {
    if conversation.is_compacted {
        return conversation.messages.len();
    }
    conversation.messages.iter().rposition(|message| message.provenance.is_some()).map_or(0, |last| last + 1)
}

/// The texts of a message as it is written, those in `bare` as they stand there.
pub(super) fn texts_of<'t>(message: &'t Message<'_>, body: &'t NewBody, bare: &'t [UsedText]) -> Vec<&'t str> {
    let is_at = |text: &&UsedText, part: usize| text.view.is_of_content() && text.view.part == part;
    let bare = |part: usize| bare.iter().find(|text| is_at(text, part)).map(|text| text.text.as_str());
    match (body, &message.content) {
        (NewBody::Text(text), _) => vec![bare(0).unwrap_or(text)],
        (NewBody::Parts(replaced), Content::Parts(parts)) => {
            let written = |at: usize| replaced.iter().find(|(part, _)| *part == at).map(|(_, text)| text.as_str());
            let new = |at: usize| written(at).map(|text| bare(at).unwrap_or(text));
            let old = |part: &'t Part<'_>| if let Part::Text(text) = part { Some(&**text) } else { None };
            parts.iter().enumerate().filter_map(|(at, part)| new(at).or_else(|| old(part))).collect()
        }
        (NewBody::Parts(replaced), _) if replaced.is_empty() => message.texts().collect(),
        (NewBody::Parts(replaced), _) => replaced.iter().map(|(_, text)| text.as_str()).collect(),
    }
}
