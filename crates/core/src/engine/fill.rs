//! The only step that writes text: asks the summary floor for each group and reference, holds the text against what it
//! replaces, in characters and tokens, with the metadata that is written beside it, and drops what is not shorter. Knows no
//! order of messages; what it cannot fill stays as it was.

use std::sync::Arc;

use super::advice::Advice;
use super::count::Count;
use super::ids::Names;
use super::unit::{Filled, Marked, State, Unit, metadata_chars};
use crate::model::{
    Action, CompressionDepth, Content, EngineOptions, HideBy, KeepCopy, Message, NewBody, PartView, Provenance,
    ProvenancePlace, Reason, Role, Spot, ViewOp, marker, summary_id,
};
use crate::stage::classify::{Depth, judge};
use crate::stage::{About, Claim, FlowKind, Group, GroupKind, Plan, Recompact, Stage, View, is_json, line_changes};
use crate::summary::{
    Adapter, Chosen, Draft, Hints, Keys, Proposal, Spoken, Style, Voice, Wanted, Wrap, chain, digest, is_general, keys,
    outline, pays, prepass, shorten, split_code, summarize, superseded, talk, topic,
};
use crate::text::{Correction, Lexer, TextView, n_chars};
use crate::walk;

/// So much of how a message begins tells it from others.
const MAX_OPENING: usize = 60;
/// A longer message brings its material along; what it says of the task is a small part of it.
const MAX_TASK_CHARS: usize = 2_000;
/// A merged summary of earlier summaries gets this share of them.
const RECOMPACT_SHARE: f64 = 0.40;
const MAX_RECOMPACT_CHARS: usize = 900;
/// Shorter parts of a content list are kept.
const MIN_PART_CHARS: usize = 120;

/// Which sentences were chosen of all texts that give way in prose.
#[derive(Debug, Default)]
pub(super) struct ChosenOf {
    /// By message and place in it, ascending.
    pub(super) places: Vec<(usize, usize)>,
    /// Of each message where its places begin.
    pub(super) firsts: Vec<usize>,
    pub(super) chosen: Chosen,
}

impl ChosenOf {
    /// Where the units begin that were chosen of a text; `None` for one that chooses for itself.
    fn of(&self, index: usize, part: usize) -> Option<&[u32]> {
        let first = *self.firsts.get(index)?;
        let of_message = self.places.get(first..)?.iter().take_while(|(message, _)| *message == index);
        let at = of_message.map(|(_, place)| *place).position(|place| place == part)?;
        Some(self.chosen.of(first + at))
    }
}

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
    /// What the walk shows of single messages, in their order.
    pub(super) used: Vec<walk::UsedText>,
    /// What is shown before the text that is being written, while all are written in their order.
    pub(super) earlier: Keys,
    /// Of texts that give way in prose where the units begin that were chosen, while all are written.
    pub(super) chosen: ChosenOf,
}

impl Filler<'_> {
    /// Every message in one unit, with its text where it has one. When something new was summarised, earlier summaries
    /// may follow.
    pub(super) fn units(&mut self, plan: &mut Plan, style: Style) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::with_capacity(self.view.len());
        let mut order: Vec<usize> = (0..plan.groups.len()).collect();
        order.sort_by_key(|&group| plan.groups[group].members.first());
        let mut alone = self.alone(plan, &order, style);
        self.chosen = self.choose(plan, &alone, style);
        let mut next = 0;
        for group in order {
            let first = plan.groups[group].members.first().copied().unwrap_or_default();
            for index in next..first.max(next) {
                if matches!(plan.settled(index), Claim::Keep(_)) {
                    self.see(index);
                }
            }
            next = first.max(next);
            let n_before = units.len();
            match alone.remove(&group) {
                Some(alone) => units.extend(self.together(plan, group, alone, style)),
                None => self.push_group(plan, group, style, &mut units),
            }
            for unit in &units[n_before..] {
                match unit.filled() {
                    Some(filled) => self.earlier.extend(filled.drafts.iter().flat_map(|draft| &draft.shown)),
                    None => self.see(unit.first()),
                }
            }
        }
        self.earlier.clear();
        self.chosen = ChosenOf::default();
        if Recompact.is_on(self.view.options) && units.iter().any(|unit| unit.filled().is_some()) {
            let n_groups = plan.groups.len();
            Recompact.claim(&self.view, plan);
            for group in n_groups..plan.groups.len() {
                self.push_group(plan, group, style, &mut units);
            }
        }
        for index in 0..self.view.len() {
            let state = match plan.settled(index) {
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
        if self.voice(index) == Voice::Program || self.options().hide_by == HideBy::Use {
            return;
        }
        for text in self.view.texts(index) {
            self.earlier.extend(text.units.iter().flat_map(|unit| keys(&text, unit)));
        }
    }

    pub(super) fn push_group(&mut self, plan: &Plan, group: usize, style: Style, units: &mut Vec<Unit>) {
        let group = &plan.groups[group];
        match self.group(group, plan, style) {
            Ok(filled) => units.push(self.unit(group.members.clone(), State::Replaced(filled))),
            // What is not told together is told one by one.
            Err(reason) if self.falls_apart(group) => {
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
            Err(_) => units.extend(self.units_kept(group)),
        }
    }

    /// The members of a group of which the text saves too little.
    pub(super) fn units_kept(&self, group: &Group) -> Vec<Unit> {
        let kept = |&index: &usize| Unit::kept(index, reverted(group), self.n_tokens[index]);
        group.members.iter().map(kept).collect()
    }

    /// True for a group whose members are told one by one where they are not told together. Turns of talk stay as they are then,
    /// so that a second pass finds the same ones side by side, unless somebody else decides what is shown of each.
    fn falls_apart(&self, group: &Group) -> bool {
        match group.kind {
            GroupKind::Flow(_) | GroupKind::Cluster => true,
            GroupKind::Talk => group.members.iter().any(|&index| self.hints(index).is_by_others()),
            _ => false,
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
        let wrap = self.wrap(members, members.len());
        let first = members[0];
        let proposal = match (group.kind, self.view.text(first)) {
            (GroupKind::Used, _) => return self.used(first, &self.provenance(members)).ok_or(reverted),
            (GroupKind::Recompact, _) => Some(self.recompact(members, &wrap)),
            (_, None) => return self.parts(first, self.provenance(members), &wrap, style).ok_or(reverted),
            (GroupKind::Summary, _) if self.is_general_discussion(members) => {
                let mut draft = Draft::default();
                draft.say(&marker::omitted(members.len()));
                let what = (Action::Compressed, Reason::RelevanceDropped);
                return self.accept(Proposal::complete(draft), what, members).ok_or(reverted);
            }
            (GroupKind::ToolPrepass, Some(view)) => prepass(&view, plan.cuts_of(first)).map(Proposal::complete),
            (GroupKind::Adapter(adapter), Some(view)) => {
                let is_protected = protects(self.view.is_large(first));
                let wanted = Wanted { wrap: &wrap, style, is_protected: &is_protected };
                let spoken = Spoken { view, voice: self.voice(first), hints: self.hints(first) };
                self.adapters[adapter].compress(&spoken, &wanted).map(Proposal::complete)
            }
            (GroupKind::Flow(kind), _) => chain(kind, &self.spoken(members), &wrap, style),
            (GroupKind::Talk, _) => talk(&self.turns(members), &wrap, style),
            (GroupKind::Cluster, _) => Some(topic(&self.spoken(members), &wrap, style)),
            (_, Some(view)) if members.len() == 1 => {
                let spoken = Spoken { view, voice: self.voice(first), hints: self.hints(first) };
                one_text(&spoken, self.view.is_large(first), plan.verdicts[first].is_output, &wrap, style)
            }
            _ => Some(summarize(&self.spoken(members), &wrap, style, None)),
        };
        let action = if group.kind == GroupKind::CodeSplit { Action::CodeSplit } else { Action::Compressed };
        let what = (action, self.reason_of(group));
        self.accept(proposal.ok_or(reverted)?, what, members).ok_or(reverted)
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
        collected(members.len(), members.iter().filter_map(spoken))
    }

    /// The same with the names of those who say them.
    pub(super) fn turns(&self, members: &[usize]) -> Vec<Spoken<'_>> {
        let turn = |&index: &usize| {
            let speaker = self.view.conversation.messages[index].name.as_deref();
            let hints = Hints { speaker, ..self.hints(index) };
            Some(Spoken { view: self.view.text(index)?, voice: self.voice(index), hints })
        };
        collected(members.len(), members.iter().filter_map(turn))
    }

    /// The texts of a content list by their places, with their speaker.
    pub(super) fn spoken_parts(&self, index: usize) -> Vec<(usize, Spoken<'_>)> {
        let spoken =
            |(part, view)| (part, Spoken { view, voice: self.voice(index), hints: self.hints_at(index, part) });
        self.view.text_parts(index).map(spoken).collect()
    }

    /// How the text for `n_messages` is wrapped.
    pub(super) fn wrap(&self, members: &[usize], n_messages: usize) -> Wrap {
        let embedded_id = self.options().embed_summary_id.then(|| self.provenance(members).summary_id);
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
        let what = match *claim {
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
        self.accept(Proposal::complete(draft), what, &[index]).ok_or(Reason::DuplicateReverted)
    }

    /// The fullest reference to the correction that saves enough; code does not shrink.
    fn superseded(&self, index: usize, target: usize, signal: Correction, style: Style) -> Result<Filled, Reason> {
        let what = (Action::Contradicted, Reason::Contradicted);
        let spoken = self.spoken(&[index]);
        let Some(spoken) = spoken.first() else { return Err(Reason::ContradictionReverted) };
        let drafts = superseded(spoken, &self.names.shown(target), signal.as_str(), style).into_iter();
        drafts
            .map(Proposal::complete)
            .find_map(|text| self.accept(text, what, &[index]))
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
        let mut parts = self.view.conversation.messages[index].text_parts();
        parts.next().map(|(part, _)| self.hints_at(index, part)).unwrap_or_default()
    }

    /// What is known of the text at `part` of message `index`.
    pub(super) fn hints_at(&self, index: usize, part: usize) -> Hints<'_> {
        let chosen = self.chosen.of(index, part);
        Hints { earlier: Some(&self.earlier), chosen, ..self.advice.hints(index, part) }
    }

    pub(super) fn voice(&self, index: usize) -> Voice {
        voice(&self.view, self.task, index)
    }

    pub(super) fn options(&self) -> &EngineOptions {
        self.view.options
    }

    /// A content list: each long text part in its own place.
    fn parts(&self, index: usize, provenance: Provenance, wrap: &Wrap, style: Style) -> Option<Filled> {
        let view = self.view;
        let large = view.is_large(index);
        let mut replaced = Vec::new();
        for (part, text) in view.text_parts(index) {
            let n_chars = text.counts.chars as usize;
            if n_chars < MIN_PART_CHARS || marker::stands_for_others(text.text) {
                continue;
            }
            let verdict = judge(&text, if large { Depth::Explain } else { Depth::Decide });
            if !large && text.fences.is_empty() && verdict.is_hard() {
                continue;
            }
            let spoken = Spoken { view: text, voice: self.voice(index), hints: self.hints_at(index, part) };
            let proposal = one_text(&spoken, large, verdict.is_output, wrap, style);
            let shorter =
                proposal.and_then(|proposal| proposal.accept(|length| saves(length, n_chars, self.min_saving)));
            replaced.extend(shorter.map(|draft| (part, draft)));
        }
        let filled = self.filled_parts(index, replaced, Action::Compressed, Reason::CompressibleProse, provenance);
        let is_worth_it = !filled.drafts.is_empty() && saves(filled.chars_out, view.chars(index), self.min_saving);
        (is_worth_it && self.saves_tokens(&filled, &[index])).then_some(filled)
    }

    /// What later messages use of message `index`, in its place.
    fn used(&self, index: usize, provenance: &Provenance) -> Option<Filled> {
        let message = &self.view.conversation.messages[index];
        let used = used_of(&self.used, index);
        let spot = |view: &PartView| match (view.call, view.thought) {
            (Some(call), _) => Spot::Call(call),
            (None, Some(thought)) => Spot::Thought(thought),
            (None, None) => Spot::Part(view.part),
        };
        let others = used.iter().filter(|used| text_of(message, &used.view).is_none());
        let spots: Vec<(Spot, String)> = others.map(|used| (spot(&used.view), used.text.clone())).collect();
        let filled = |with_texts: bool| {
            let shown = used.iter().filter(|used| with_texts || text_of(message, &used.view).is_none());
            let views = shown.map(|used| used.view.clone()).collect();
            self.shown(index, views, spots.clone(), provenance.clone())
        };
        // Images are no characters; what is written beside them is.
        let costs_nothing = |filled: &Filled| !spots.is_empty() && filled.metadata.is_none();
        let is_worth_it = |filled: &Filled| self.saves_by_use(index, filled);
        filled(true).filter(is_worth_it).or_else(|| filled(false).filter(costs_nothing))
    }

    /// Message `index` as `views` show it, with `spots` in the place of what is no text.
    pub(super) fn shown(
        &self,
        index: usize,
        views: Vec<PartView>,
        spots: Vec<(Spot, String)>,
        provenance: Provenance,
    ) -> Option<Filled> {
        let message = &self.view.conversation.messages[index];
        let draft = |view: &PartView| Some((view.part, draft_of(view, text_of(message, view)?)));
        let mut drafts: Vec<(usize, Draft)> = views.iter().filter_map(draft).collect();
        let (action, reason) = (Action::Compressed, Reason::Unused);
        let mut filled = match message.content {
            Content::Text(_) if !drafts.is_empty() => self.filled(drafts.pop()?.1, action, reason, provenance),
            _ => self.filled_parts(index, drafts, action, reason, provenance),
        };
        filled.marked = Some(Box::new(Marked::new(&self.view, index, views, spots)));
        Some(filled)
    }

    /// True when what the walk shows of message `index` saves enough, its arguments and its reasoning included.
    pub(super) fn saves_by_use(&self, index: usize, filled: &Filled) -> bool {
        let before = self.view.chars(index) + self.view.chars_beside(index);
        let after = filled.chars_out + filled.chars_beside(&self.view, index);
        saves(after, before, self.min_saving) && self.saves_tokens(filled, &[index])
    }

    /// A summary of summaries: each one is a paragraph, with its speaker in front when there are several.
    fn recompact(&mut self, members: &[usize], wrap: &Wrap) -> Proposal {
        let messages = &self.view.conversation.messages;
        let several = members.iter().any(|&index| messages[index].role != messages[members[0]].role);
        let mut joined = String::new();
        for &index in members {
            let inner = messages[index].texts().next().and_then(marker::inner_summary).unwrap_or_default();
            let speaker = messages[index].role.as_str();
            if several && !inner.starts_with(speaker) {
                joined.push_str(speaker);
                joined.push_str(": ");
            }
            joined.push_str(inner);
            joined.push_str("\n\n");
        }
        self.lexer.clear();
        let lexed = self.lexer.lex(&joined);
        let text = Spoken { view: self.lexer.view(&joined, &lexed), voice: Voice::Other, hints: self.advice.general() };
        let max_chars = ((joined.chars().count() as f64 * RECOMPACT_SHARE) as usize).min(MAX_RECOMPACT_CHARS);
        summarize(&[text], wrap, Style::new(CompressionDepth::Gentle), Some(max_chars))
    }

    /// The fullest form of `text` that saves enough. A reference to a correction is there for what it says: it only has to
    /// be shorter.
    fn accept(&self, text: Proposal, (action, reason): (Action, Reason), members: &[usize]) -> Option<Filled> {
        let n_chars: usize = members.iter().map(|&index| self.view.chars(index)).sum();
        // Before it is known whether the text stays, only what is written beside it counts.
        let is_beside = self.options().provenance == ProvenancePlace::Metadata;
        let provenance = is_beside.then(|| self.provenance(members));
        let n_metadata = metadata_chars(provenance.as_ref().and_then(|own| self.metadata(own)).as_deref());
        let min_saving = if action == Action::Contradicted { 1 } else { self.min_saving };
        let draft = text.accept(|length| saves(length + n_metadata, n_chars, min_saving))?;
        let provenance = provenance.unwrap_or_else(|| self.provenance(members));
        let filled = self.filled(draft, action, reason, provenance);
        self.saves_tokens(&filled, members).then_some(filled)
    }

    /// A text that is used as it is.
    pub(super) fn filled(&self, draft: Draft, action: Action, reason: Reason, provenance: Provenance) -> Filled {
        let metadata = self.metadata(&provenance);
        let n_metadata = metadata_chars(metadata.as_deref());
        let (body, chars_out) = (NewBody::Text(draft.text.clone()), draft.n_chars() + n_metadata);
        Filled { action, reason, body, provenance, marked: None, metadata, drafts: vec![draft], chars_out }
    }

    /// A unit that stands as `draft`.
    pub(super) fn replaced(&self, members: Vec<usize>, draft: Draft, action: Action, reason: Reason) -> Unit {
        let filled = self.filled(draft, action, reason, self.provenance(&members));
        self.unit(members, State::Replaced(filled))
    }

    /// The same for some of the text parts of message `index`, in their order.
    pub(super) fn filled_parts(
        &self,
        index: usize,
        parts: Vec<(usize, Draft)>,
        action: Action,
        reason: Reason,
        provenance: Provenance,
    ) -> Filled {
        let metadata = self.metadata(&provenance);
        let replaced = |part: usize| parts.binary_search_by_key(&part, |(place, _)| *place).is_ok();
        let texts = self.view.conversation.messages[index].text_parts();
        let kept: usize = texts.filter(|(part, _)| !replaced(*part)).map(|(_, text)| n_chars(text)).sum();
        let new: usize = parts.iter().map(|(_, draft)| draft.n_chars()).sum();
        let chars_out = kept + new + metadata_chars(metadata.as_deref());
        let body = NewBody::Parts(parts.iter().map(|(part, draft)| (*part, draft.text.clone())).collect());
        let drafts = parts.into_iter().map(|(_, draft)| draft).collect();
        Filled { action, reason, body, provenance, marked: None, metadata, drafts, chars_out }
    }

    /// Characters of the output message of a unit.
    pub(super) fn chars_of(&self, unit: &Unit) -> usize {
        unit.filled().map_or_else(|| self.view.chars(unit.first()), |filled| filled.chars_out)
    }

    /// Tokens of messages as they stand.
    pub(super) fn before(&self, members: &[usize]) -> usize {
        members.iter().map(|&index| self.n_tokens[index]).sum()
    }

    /// Fewer characters may be more tokens.
    pub(super) fn saves_tokens(&self, filled: &Filled, members: &[usize]) -> bool {
        self.count.is_by_chars() || self.count.filled(&self.view, members[0], filled) < self.before(members)
    }

    pub(super) fn metadata(&self, provenance: &Provenance) -> Option<String> {
        (self.options().provenance == ProvenancePlace::Metadata).then(|| provenance.to_json())
    }

    pub(super) fn provenance(&self, members: &[usize]) -> Provenance {
        let ids: Vec<String> = members.iter().map(|&index| self.names.key(index)).collect();
        let parents = members.iter().filter_map(|&index| self.view.conversation.messages[index].provenance.as_ref());
        Provenance {
            summary_id: summary_id(&ids),
            parent_ids: parents.map(|parent| parent.summary_id.clone()).filter(|id| !id.is_empty()).collect(),
            ids,
            version: self.options().source_version,
            compaction: false,
        }
    }
}

/// At most so many texts, which are large to move.
fn collected<'a>(most: usize, texts: impl Iterator<Item = Spoken<'a>>) -> Vec<Spoken<'a>> {
    let mut all = Vec::with_capacity(most);
    all.extend(texts);
    all
}

/// What the walk shows of message `index`.
pub(super) fn used_of(used: &[walk::UsedText], index: usize) -> &[walk::UsedText] {
    let first = used.partition_point(|text| text.message < index);
    let n = used[first..].partition_point(|text| text.message == index);
    &used[first..first + n]
}

/// The text that a view shows something of; `None` for arguments, reasoning and what is no text.
pub(super) fn text_of<'m>(message: &'m Message<'_>, view: &PartView) -> Option<&'m str> {
    if view.is_of_content() { message.text_at(view.part) } else { None }
}

/// What is shown of a text: what of it is the original's is quoted. No figure counts what a mark says as visible.
fn draft_of(view: &PartView, original: &str) -> Draft {
    let mut draft = Draft::default();
    let n_bytes = |op: &ViewOp| match op {
        ViewOp::Copy(from, to) => to - from,
        ViewOp::Mark(text, _) | ViewOp::Insert(text) => text.len(),
    };
    draft.text.reserve(view.ops.iter().map(n_bytes).sum());
    draft.quotes.reserve(view.ops.len());
    for op in &view.ops {
        match op {
            ViewOp::Copy(from, to) if from == to => {}
            ViewOp::Copy(from, to) => draft.quote_exact(original.get(*from..*to).unwrap_or_default()),
            ViewOp::Mark(text, _) | ViewOp::Insert(text) => draft.say(text),
        }
    }
    draft
}

/// True when a text saves enough of what it replaces.
pub(super) fn saves(chars_out: usize, chars_in: usize, min_saving: usize) -> bool {
    chars_out < chars_in && chars_in - chars_out >= min_saving
}

/// Who speaks in message `index`, where message `task` sets the task.
fn voice(view: &View<'_>, task: Option<usize>, index: usize) -> Voice {
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
        GroupKind::Used => Reason::InUse,
        GroupKind::Talk => Reason::MergeReverted,
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
        GroupKind::Used => Reason::Unused,
        GroupKind::Talk => Reason::MergedCompressed,
        GroupKind::Summary if group.members.len() > 1 => Reason::MergedCompressed,
        GroupKind::Summary => Reason::CompressibleProse,
    }
}

/// Characters that would stand for message `index` if it were alone: what a reference to another is held against.
pub(super) fn chars_alone(view: &View<'_>, index: usize, adapters: &[Arc<dyn Adapter>]) -> usize {
    let n_chars = view.chars(index);
    let Some(text) = view.text(index) else { return n_chars };
    let large = view.is_large(index);
    let verdict = judge(&text, Depth::Decide);
    let is_protected = protects(large);
    let style = Style::new(view.options.compression_depth);
    let wrap = Wrap { embedded_id: None, n_messages: 1 };
    let spoken = Spoken { view: text, voice: voice(view, None, index), hints: Hints::default() };
    let by_format = adapters.iter().find_map(|adapter| Some((adapter, pays(&**adapter, &text, &is_protected)?)));
    let proposal = if let Some((adapter, pays)) = by_format {
        let wanted = Wanted { wrap: &wrap, style, is_protected: &is_protected };
        adapter.compress(&spoken, &wanted).filter(|_| pays).map(Proposal::complete)
    } else if !large && text.fences.is_empty() && (verdict.is_hard() || is_json(text.text)) {
        None
    } else {
        one_text(&spoken, large, verdict.is_output, &wrap, style)
    };
    let shorter = proposal.and_then(|text| text.accept(|length| saves(length, n_chars, view.options.min_saving)));
    shorter.map_or(n_chars, |draft| draft.n_chars())
}

/// Which passages of a text must stay: those with structure, unless the text is a large one.
fn protects(large: bool) -> impl Fn(&TextView<'_>) -> bool {
    move |piece| !large && judge(piece, Depth::Decide).is_hard()
}

/// What may stand for one text.
fn one_text(spoken: &Spoken<'_>, large: bool, is_output: bool, wrap: &Wrap, style: Style) -> Option<Proposal> {
    let text = &spoken.view;
    if !text.fences.is_empty() {
        return split_code(spoken, wrap, style, &protects(large)).map(Proposal::complete);
    }
    let body = if large { outline(text) } else { None };
    let body = body.or_else(|| is_output.then(|| digest(text, style)));
    Some(body.map_or_else(|| summarize(&[*spoken], wrap, style, None), |body| Proposal::unlisted(body, wrap)))
}

#[cfg(test)]
mod tests {
    use crate::engine::{Engine, Scratch};
    use crate::model::{EngineOptions, HideBy, NewBody, Output, ShapeName};
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
        let options = EngineOptions {
            hide_by: HideBy::Look,
            recency_window: 0,
            keep_first_user: false,
            min_saving: 1,
            ..EngineOptions::default()
        };
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
