//! The only step that writes text: asks the summary floor for each group and reference, and drops what is not
//! shorter. Knows no order of messages; what it cannot fill stays as it was.

use std::sync::Arc;

use super::advice::Advice;
use super::count::Count;
use super::guard::Candidate;
use super::ids::Names;
use super::plan::claim_of;
use super::unit::{Filled, State, Unit};
use super::write::{MIN_PART_CHARS, one_text};
use crate::model::{Action, EngineOptions, KeepCopy, Provenance, Reason, Role, marker};
use crate::stage::classify::{Depth, judge};
use crate::stage::{Claim, FlowKind, Group, GroupKind, Plan, Recompact, Signal, Stage, View, line_changes};
use crate::summary::{
    Adapter, Draft, Hints, Keys, Proposal, Spoken, Style, Voice, Wanted, Wrap, chain, is_general, keys, prepass,
    shorten, summarize, superseded, topic,
};
use crate::text::{Lexer, TextView};

/// A reference to a correction is there for what it says: it only has to be shorter.
const MIN_MARK_SAVING: usize = 1;
/// So much of how a message begins tells it from others.
const MAX_OPENING: usize = 60;
/// A longer message brings its material along; what it says of the task is a small part of it.
const MAX_TASK_CHARS: usize = 2_000;
/// Writes texts.
pub(super) struct Filler<'a> {
    pub(super) view: View<'a>,
    pub(super) names: &'a Names<'a>,
    pub(super) lexer: &'a mut Lexer,
    /// The message that sets the task, see [`task_of`].
    pub(super) task: Option<usize>,
    pub(super) count: &'a Count,
    /// What the caller's scorer and classifier say.
    pub(super) advice: &'a Advice,
    /// What `GroupKind::Adapter` points into.
    pub(super) adapters: &'a [Arc<dyn Adapter>],
    /// Tokens of every message as it stands.
    pub(super) n_tokens: &'a [usize],
    /// Characters that a replacement must save; less is not worth what it hides. A budget that is not met otherwise
    /// takes that, too.
    pub(super) min_saving: usize,
    /// What is shown before the text that is being written, while all are written in their order.
    pub(super) earlier: Keys,
}

impl Filler<'_> {
    /// Every message in one unit, with its text where it has one. When something new was summarised, earlier summaries
    /// may follow.
    pub(super) fn units(&mut self, plan: &mut Plan, style: Style) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::with_capacity(self.view.len());
        let mut order: Vec<usize> = (0..plan.groups.len()).collect();
        order.sort_by_key(|&group| plan.groups[group].members.first());
        let mut next = 0;
        for group in order {
            let first = plan.groups[group].members.first().copied().unwrap_or_default();
            for index in next..first.max(next) {
                if matches!(claim_of(plan, index), Claim::Keep(_)) {
                    self.see(index);
                }
            }
            next = first.max(next);
            let n_before = units.len();
            self.push_group(plan, group, style, &mut units);
            for unit in &units[n_before..] {
                match unit.filled() {
                    Some(filled) => self.earlier.extend(filled.drafts.iter().flat_map(|draft| &draft.shown)),
                    None => self.see(unit.first()),
                }
            }
        }
        self.earlier.clear();
        if Recompact.is_on(self.view.options) && units.iter().any(|unit| unit.filled().is_some()) {
            let n_groups = plan.groups.len();
            Recompact.claim(&self.view, plan);
            for group in n_groups..plan.groups.len() {
                self.push_group(plan, group, style, &mut units);
            }
        }
        for index in 0..self.view.len() {
            let state = match claim_of(plan, index) {
                Claim::Group(_) => continue,
                Claim::Keep(reason) => State::Kept(*reason),
                claim @ (Claim::DuplicateOf(_) | Claim::SimilarTo { .. } | Claim::SupersededBy { .. }) => {
                    self.reference(index, claim, style).map_or_else(State::Kept, State::Replaced)
                }
            };
            units.push(self.unit(vec![index], state));
        }
        units
    }

    /// Notes that message `index` is shown as it is. What programs put out is no reason to hide what is said of it.
    fn see(&mut self, index: usize) {
        if self.voice(index) == Voice::Program {
            return;
        }
        for text in self.view.texts(index) {
            self.earlier.extend(text.units.iter().flat_map(|unit| keys(&text, unit)));
        }
    }

    fn push_group(&mut self, plan: &Plan, group: usize, style: Style, units: &mut Vec<Unit>) {
        let group = &plan.groups[group];
        match self.group(group, plan, style) {
            Ok(filled) => units.push(self.unit(group.members.clone(), State::Replaced(filled))),
            // What is not told together is told one by one.
            Err(reason) if matches!(group.kind, GroupKind::Flow(_) | GroupKind::Cluster) => {
                for &index in &group.members {
                    let single = Group { members: vec![index], kind: GroupKind::Summary };
                    let filled = if self.view.chars(index) < MIN_PART_CHARS {
                        None
                    } else {
                        self.group(&single, plan, style).ok()
                    };
                    units.push(self.unit(vec![index], filled.map_or(State::Kept(reason), State::Replaced)));
                }
            }
            Err(reason) => {
                units.extend(group.members.iter().map(|&index| Unit::kept(index, reason, self.n_tokens[index])));
            }
        }
    }

    /// A unit with its tokens.
    pub(super) fn unit(&self, members: Vec<usize>, state: State) -> Unit {
        let n_tokens = match &state {
            State::Kept(_) => self.n_tokens[members[0]],
            State::Replaced(filled) => self.count.filled(&self.view, members[0], filled),
        };
        Unit { members, state, n_tokens }
    }

    /// The text for a group; the error is the reason why its members stay.
    pub(super) fn group(&mut self, group: &Group, plan: &Plan, style: Style) -> Result<Filled, Reason> {
        let members = &group.members;
        let reverted = reverted(group);
        let provenance = self.provenance(members);
        let wrap = self.wrap(&provenance, members.len());
        let first = members[0];
        let proposal = match (group.kind, self.view.text(first)) {
            (GroupKind::Recompact, _) => Some(self.recompact(members, &wrap)),
            (_, None) => return self.parts(first, provenance, &wrap, style).ok_or(reverted),
            (GroupKind::Summary, _) if self.is_general_discussion(members) => {
                let mut draft = Draft::default();
                draft.say(&marker::omitted(members.len()));
                let (proposal, reason) = (Proposal::complete(draft), Reason::RelevanceDropped);
                let candidate = Candidate { proposal, action: Action::Compressed, reason, min_saving: self.min_saving };
                return self.accept(candidate, provenance, members).ok_or(reverted);
            }
            (GroupKind::ToolPrepass, Some(view)) => prepass(&view, plan.cuts_of(first)).map(Proposal::complete),
            (GroupKind::Adapter(adapter), Some(view)) => {
                let large = self.view.is_large(first);
                let is_protected = |piece: &TextView<'_>| !large && judge(piece, Depth::Decide).is_hard();
                let wanted = Wanted { wrap: &wrap, style, is_protected: &is_protected };
                let spoken = Spoken { view, voice: self.voice(first), hints: self.hints(first) };
                self.adapters[adapter].compress(&spoken, &wanted).map(Proposal::complete)
            }
            (GroupKind::Flow(kind), _) => chain(kind, &self.spoken(members), &wrap, style),
            (GroupKind::Cluster, _) => Some(topic(&self.spoken(members), &wrap, style)),
            (_, Some(view)) if members.len() == 1 => {
                let spoken = Spoken { view, voice: self.voice(first), hints: self.hints(first) };
                one_text(&spoken, self.view.is_large(first), plan.verdicts[first].is_output, &wrap, style)
            }
            _ => Some(summarize(&self.spoken(members), &wrap, style, None)),
        };
        let min_saving = self.min_saving;
        let action = if group.kind == GroupKind::CodeSplit { Action::CodeSplit } else { Action::Compressed };
        let candidate =
            Candidate { proposal: proposal.ok_or(reverted)?, action, reason: self.reason_of(group), min_saving };
        self.accept(candidate, provenance, members).ok_or(reverted)
    }

    fn reason_of(&self, group: &Group) -> Reason {
        match group.kind {
            GroupKind::Adapter(adapter) => self.adapters[adapter].reason(),
            _ => reason_of(group),
        }
    }

    /// The texts of messages that have one, with their speakers.
    pub(super) fn spoken(&self, members: &[usize]) -> Vec<Spoken<'_>> {
        let spoken = |&index: &usize| {
            Some(Spoken { view: self.view.text(index)?, voice: self.voice(index), hints: self.hints(index) })
        };
        members.iter().filter_map(spoken).collect()
    }

    /// The texts of a content list by their places, with their speaker.
    pub(super) fn spoken_parts(&self, index: usize) -> Vec<(usize, Spoken<'_>)> {
        let spoken =
            |(part, view)| (part, Spoken { view, voice: self.voice(index), hints: self.hints_at(index, part) });
        self.view.text_parts(index).map(spoken).collect()
    }

    /// How the text for `n_messages` is wrapped.
    pub(super) fn wrap(&self, provenance: &Provenance, n_messages: usize) -> Wrap {
        let embedded_id = self.options().embed_summary_id.then(|| provenance.summary_id.clone());
        Wrap { embedded_id, n_messages }
    }

    /// True when nothing in the messages reaches the relevance threshold and none of them states a fact.
    fn is_general_discussion(&self, members: &[usize]) -> bool {
        self.options().relevance_threshold.is_some_and(|threshold| {
            threshold > 0.0 && self.spoken(members).iter().all(|spoken| is_general(spoken, threshold))
        })
    }

    /// The reference for a duplicate or for what was corrected; the error is the reason why it stays.
    fn reference(&self, index: usize, claim: &Claim, style: Style) -> Result<Filled, Reason> {
        let n_chars = self.view.chars(index);
        let mut draft = Draft::default();
        let (action, reason) = match *claim {
            Claim::DuplicateOf(target) => {
                self.say_target(target, true, &mut draft);
                draft.say(&marker::duplicate_end(n_chars));
                (Action::Deduped, Reason::ExactDuplicate)
            }
            Claim::SimilarTo { target, similarity } => {
                self.say_target(target, false, &mut draft);
                draft.say(&marker::near_duplicate_end(n_chars, similarity));
                self.say_differences(index, target, &mut draft);
                (Action::FuzzyDeduped, Reason::FuzzyDuplicate)
            }
            Claim::SupersededBy { target, signal } => return self.superseded(index, target, signal, style),
            Claim::Keep(reason) => return Err(reason),
            Claim::Group(_) => return Err(Reason::DuplicateReverted),
        };
        let candidate = Candidate { proposal: Proposal::complete(draft), action, reason, min_saving: self.min_saving };
        self.accept(candidate, self.provenance(&[index]), &[index]).ok_or(Reason::DuplicateReverted)
    }

    /// The fullest reference to the correction that saves enough; code does not shrink.
    fn superseded(&self, index: usize, target: usize, signal: Signal, style: Style) -> Result<Filled, Reason> {
        let (action, reason) = (Action::Contradicted, Reason::Contradicted);
        let spoken = self.spoken(&[index]);
        let Some(spoken) = spoken.first() else { return Err(Reason::ContradictionReverted) };
        let drafts = superseded(spoken, &self.names.shown(target), signal.as_str(), style).into_iter();
        drafts
            .map(|draft| Candidate { proposal: Proposal::complete(draft), action, reason, min_saving: MIN_MARK_SAVING })
            .find_map(|candidate| self.accept(candidate, self.provenance(&[index]), &[index]))
            .ok_or(Reason::ContradictionReverted)
    }

    /// What is referred to: its id, and how it begins where it stands before the reference, since a reader may see no ids.
    fn say_target(&self, target: usize, is_exact: bool, draft: &mut Draft) {
        draft.say(&marker::reference_start(is_exact, &self.names.shown(target)));
        if self.options().keep_copy == KeepCopy::First
            && let Some(text) = self.view.text(target)
        {
            draft.say(marker::QUOTE);
            shorten(text.text.trim_start().lines().next().unwrap_or_default(), MAX_OPENING, draft);
            draft.say("\"");
        }
    }

    fn say_differences(&self, index: usize, target: usize, draft: &mut Draft) {
        if let (Some(text), Some(other)) = (self.view.text(index), self.view.text(target)) {
            let (own, others) = line_changes(&text, &other);
            for (sign, lines) in [("\n- ", others), ("\n+ ", own)] {
                for line in lines {
                    draft.say(sign);
                    draft.quote_exact(line.trim_end());
                }
            }
        }
    }

    /// What is known of the only text of a message.
    fn hints(&self, index: usize) -> Hints<'_> {
        self.view.text_parts(index).next().map(|(part, _)| self.hints_at(index, part)).unwrap_or_default()
    }

    /// What is known of the text at `part` of message `index`.
    pub(super) fn hints_at(&self, index: usize, part: usize) -> Hints<'_> {
        Hints { earlier: Some(&self.earlier), ..self.advice.hints(index, part) }
    }

    pub(super) fn voice(&self, index: usize) -> Voice {
        voice(&self.view, self.task, index)
    }

    pub(super) fn options(&self) -> &EngineOptions {
        self.view.options
    }
}

/// Who speaks in message `index`, where message `task` sets the task.
pub(super) fn voice(view: &View<'_>, task: Option<usize>, index: usize) -> Voice {
    let message = &view.conversation.messages[index];
    match message.role {
        // Where speakers have names there are several, and none of them is the user of another.
        Role::User if message.name.is_some() => Voice::Other,
        Role::User if task == Some(index) && view.chars(index) <= MAX_TASK_CHARS => Voice::Task,
        Role::User => Voice::User,
        Role::Assistant => Voice::Assistant,
        Role::Tool | Role::Function => Voice::Program,
        _ => Voice::Other,
    }
}

/// Why the members of a group stay when its text saves too little.
fn reverted(group: &Group) -> Reason {
    match group.kind {
        GroupKind::CodeSplit => Reason::CodeSplitReverted,
        GroupKind::Recompact => Reason::AlreadyCompressed,
        GroupKind::Adapter(_) | GroupKind::ToolPrepass => Reason::AdapterReverted,
        GroupKind::Flow(_) => Reason::FlowReverted,
        GroupKind::Cluster => Reason::ClusterReverted,
        GroupKind::Summary if group.members.len() > 1 => Reason::MergeReverted,
        GroupKind::Summary => Reason::SingleReverted,
    }
}

/// Why the members of a group were replaced.
fn reason_of(group: &Group) -> Reason {
    match group.kind {
        GroupKind::CodeSplit => Reason::CodeSplit,
        GroupKind::Recompact => Reason::Recompacted,
        GroupKind::ToolPrepass => Reason::ToolPrepass,
        GroupKind::Adapter(_) => Reason::Adapter,
        GroupKind::Flow(FlowKind::Qa) => Reason::FlowQa,
        GroupKind::Flow(FlowKind::Request) => Reason::FlowRequest,
        GroupKind::Flow(FlowKind::Correction) => Reason::FlowCorrection,
        GroupKind::Flow(FlowKind::Acknowledgment) => Reason::FlowAcknowledgment,
        GroupKind::Cluster => Reason::Cluster,
        GroupKind::Summary if group.members.len() > 1 => Reason::MergedCompressed,
        GroupKind::Summary => Reason::CompressibleProse,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, Scratch};
    use crate::model::{EngineOptions, NewBody, Output, ShapeName};
    use crate::shape::decode;

    #[test]
    fn ten_messages_do_not_all_show_the_same_sentence() {
        let said = "The valve KMS-7781 cost $500 in 2024 and must not be opened before the crew of the night is there.";
        let own = |at: usize| {
            format!(
                "Room {at} of the cellar has a wall of brick that was painted in white by the people of house {at}."
            )
        };
        let message = |at: usize| {
            let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
            serde_json::json!({"role": role, "content": format!("{} {said} {}", own(at), "The rain was loud. ".repeat(4))})
        };
        let messages: Vec<serde_json::Value> = (0..10).map(message).collect();
        let record = serde_json::json!({"id": "talk", "messages": messages}).to_string();
        let decoded = decode(&record, ShapeName::Openai, "talk").expect("a record");
        let options =
            EngineOptions { recency_window: 0, keep_first_user: false, min_saving: 1, ..EngineOptions::default() };
        let condensed = Engine::new(options)
            .expect("the options are right")
            .condense(&decoded.conversation, &mut Scratch::default());
        let texts = condensed.messages.iter().filter_map(|output| match output {
            Output::Replaced(replacement) => match &replacement.body {
                NewBody::Text(text) => Some(text.as_str()),
                NewBody::Parts(_) => None,
            },
            Output::Kept { .. } => None,
        });
        let texts: Vec<&str> = texts.collect();
        assert_eq!(texts.len(), 10);
        assert!(texts[0].contains(said), "{texts:?}");
        assert!(texts[1..].iter().all(|text| !text.contains(said)), "{texts:?}");
        assert!(texts[1..].iter().enumerate().all(|(at, text)| text.contains(&own(at + 1))), "{texts:?}");
    }
}
