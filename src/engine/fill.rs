//! The only step that writes text: asks the summary floor for each group and reference, and drops what is not
//! shorter. Knows no order of messages; what it cannot fill stays as it was.

use crate::model::{
    Conversation, EngineOptions, NewBody, Provenance, ProvenancePlace, Reason, Role, marker, summary_id,
};
use crate::stage::classify::{Depth, judge};
use crate::stage::{Claim, FlowKind, Group, GroupKind, Plan, View, line_changes};
use crate::summary::{Draft, Proposal, Spoken, Voice, Wrap, digest, outline, shows_best_unit, split_code, summarize};
use crate::text::{Lexer, TextView};

use super::ids::Names;

/// A replacement must save at least this share: less is not worth what it hides.
const MIN_SAVING: f64 = 0.20;
/// A near duplicate must save more, since the reader has to look in two places.
const MIN_NEAR_SAVING: f64 = 0.40;
/// A merged summary of earlier summaries gets this share of them.
const RECOMPACT_SHARE: f64 = 0.40;
const MAX_RECOMPACT_CHARS: usize = 900;
/// A shorter text is kept when its best sentence does not fit: it could only be cut, or left out for a lesser one.
const MIN_CUT_CHARS: usize = 240;
/// A longer message brings its material along; what it says of the task is a small part of it.
const MAX_TASK_CHARS: usize = 2_000;
/// Shorter parts of a content list are kept.
const MIN_PART_CHARS: usize = 120;

/// The text for a group or a single message.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) body: NewBody,
    pub(super) provenance: Provenance,
    /// The texts as written, for the metrics; one per text that was replaced.
    pub(super) drafts: Vec<Draft>,
    /// Characters of the message's texts after the replacement, metadata included when it is written.
    pub(super) chars_out: usize,
}

/// Writes texts.
pub(super) struct Filler<'a> {
    pub(super) view: View<'a>,
    pub(super) names: Names<'a>,
    pub(super) lexer: &'a mut Lexer,
    /// The message that sets the task, see [`task_of`].
    pub(super) task: Option<usize>,
}

/// The first message of a user that a program did not put there.
pub(super) fn task_of(conversation: &Conversation<'_>) -> Option<usize> {
    const INJECTED: [&str; 3] = ["<", "# AGENTS.md", "Caveat: "];
    conversation.messages.iter().position(|message| {
        let text = message.texts().next().map(str::trim_start);
        message.role == Role::User && text.is_some_and(|text| !INJECTED.iter().any(|head| text.starts_with(head)))
    })
}

impl Filler<'_> {
    /// The text for a group; the error is the reason why its members stay.
    pub(super) fn group(&mut self, group: &Group, plan: &Plan) -> Result<Filled, Reason> {
        let reverted = match group.kind {
            GroupKind::CodeSplit => Reason::CodeSplitReverted,
            GroupKind::Recompact => Reason::AlreadyCompressed,
            GroupKind::Summary if group.members.len() > 1 => Reason::MergeReverted,
            GroupKind::Adapter(_) | GroupKind::ToolPrepass => Reason::AdapterReverted,
            GroupKind::Flow(_) => Reason::FlowReverted,
            GroupKind::Cluster => Reason::ClusterReverted,
            GroupKind::Summary => Reason::SingleReverted,
        };
        let provenance = self.provenance(&group.members);
        let wrap = Wrap {
            embedded_id: self.options().embed_summary_id.then(|| provenance.summary_id.clone()),
            n_messages: group.members.len(),
        };
        let first = group.members[0];
        let is_output = plan.verdicts[first].is_output;
        let proposal = match (group.kind, self.view.text(first)) {
            (GroupKind::Recompact, _) => Some(self.recompact(&group.members, &wrap)),
            (_, None) => return self.parts(first, provenance, &wrap).ok_or(reverted),
            (_, Some(view)) if group.members.len() == 1 => {
                one_text(&Spoken { view, voice: self.voice(first) }, self.view.is_large(first), is_output, &wrap)
            }
            _ => {
                let spoken = |&index: &usize| Some(Spoken { view: self.view.text(index)?, voice: self.voice(index) });
                let texts: Vec<Spoken<'_>> = group.members.iter().filter_map(spoken).collect();
                Some(summarize(&texts, &wrap, None))
            }
        };
        let n_chars: usize = group.members.iter().map(|&index| self.view.chars(index)).sum();
        // Code does not shrink: what counts is what becomes of the prose around it.
        let code: usize = match self.view.text(first).filter(|_| group.kind == GroupKind::CodeSplit) {
            Some(text) => text.fences.iter().map(|fence| fence.span.of(text.text).chars().count()).sum(),
            None => 0,
        };
        let min_saving = MIN_SAVING * (n_chars - code) as f64 / n_chars as f64;
        self.accept(proposal.ok_or(reverted)?, provenance, n_chars, min_saving).ok_or(reverted)
    }

    /// The reference for a duplicate; the error is the reason why it stays.
    pub(super) fn reference(&self, index: usize, claim: &Claim) -> Result<Filled, Reason> {
        let n_chars = self.view.chars(index);
        let mut draft = Draft::default();
        let min_saving = match *claim {
            Claim::DuplicateOf(target) => {
                draft.say(&marker::duplicate(&self.names.shown(target), n_chars));
                MIN_SAVING
            }
            Claim::SimilarTo { target, similarity } => {
                draft.say(&marker::near_duplicate(&self.names.shown(target), n_chars, similarity));
                if let (Some(text), Some(other)) = (self.view.text(index), self.view.text(target)) {
                    let (own, others) = line_changes(&text, &other);
                    for (sign, lines) in [("\n- ", others), ("\n+ ", own)] {
                        for line in lines {
                            draft.say(sign);
                            draft.quote_exact(line.trim_end());
                        }
                    }
                }
                MIN_NEAR_SAVING
            }
            Claim::Keep(_) | Claim::Group(_) | Claim::SupersededBy { .. } => return Err(Reason::DuplicateReverted),
        };
        self.accept(Proposal::complete(draft), self.provenance(&[index]), n_chars, min_saving)
            .ok_or(Reason::DuplicateReverted)
    }

    fn voice(&self, index: usize) -> Voice {
        let message = &self.view.conversation.messages[index];
        match message.role {
            // Where speakers have names there are several, and none of them is the user of another.
            Role::User if message.name.is_some() => Voice::Other,
            Role::User if self.task == Some(index) && self.view.chars(index) <= MAX_TASK_CHARS => Voice::Task,
            Role::User => Voice::User,
            Role::Assistant => Voice::Assistant,
            Role::Tool | Role::Function => Voice::Program,
            _ => Voice::Other,
        }
    }

    fn options(&self) -> &EngineOptions {
        self.view.options
    }

    /// A content list: each long text part in its own place.
    fn parts(&self, index: usize, provenance: Provenance, wrap: &Wrap) -> Option<Filled> {
        let view = self.view;
        let large = view.is_large(index);
        let mut filled =
            Filled { body: NewBody::Parts(Vec::new()), provenance, drafts: Vec::new(), chars_out: view.chars(index) };
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
            let spoken = Spoken { view: text, voice: self.voice(index) };
            let proposal = one_text(&spoken, large, verdict.is_output, wrap);
            let shorter = proposal.and_then(|proposal| proposal.accept(|length| saves(length, n_chars, MIN_SAVING)));
            if let Some(draft) = shorter {
                filled.chars_out -= n_chars - draft.n_chars();
                replaced.push((part, draft.text.clone()));
                filled.drafts.push(draft);
            }
        }
        filled.body = NewBody::Parts(replaced);
        filled.chars_out += self.metadata_chars(&filled.provenance);
        (!filled.drafts.is_empty() && saves(filled.chars_out, view.chars(index), MIN_SAVING)).then_some(filled)
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
        let text = Spoken { view: self.lexer.view(&joined, &lexed), voice: Voice::Other };
        let max_chars = ((joined.chars().count() as f64 * RECOMPACT_SHARE) as usize).min(MAX_RECOMPACT_CHARS);
        summarize(&[text], wrap, Some(max_chars))
    }

    /// The fullest form that saves enough.
    fn accept(&self, proposal: Proposal, provenance: Provenance, n_chars: usize, min_saving: f64) -> Option<Filled> {
        let metadata = self.metadata_chars(&provenance);
        let draft = proposal.accept(|length| saves(length + metadata, n_chars, min_saving))?;
        let chars_out = draft.n_chars() + metadata;
        Some(Filled { body: NewBody::Text(draft.text.clone()), provenance, drafts: vec![draft], chars_out })
    }

    fn metadata_chars(&self, provenance: &Provenance) -> usize {
        match self.options().provenance {
            ProvenancePlace::Metadata => provenance.to_json().chars().count(),
            ProvenancePlace::Sidecar => 0,
        }
    }

    fn provenance(&self, members: &[usize]) -> Provenance {
        let ids: Vec<String> = members.iter().map(|&index| self.names.key(index)).collect();
        let parents = members.iter().filter_map(|&index| self.view.conversation.messages[index].provenance.as_ref());
        Provenance {
            summary_id: summary_id(&ids),
            parent_ids: parents.map(|parent| parent.summary_id.clone()).filter(|id| !id.is_empty()).collect(),
            ids,
            version: self.options().source_version,
        }
    }
}

/// What may stand for one text.
fn one_text(spoken: &Spoken<'_>, large: bool, is_output: bool, wrap: &Wrap) -> Option<Proposal> {
    let text = &spoken.view;
    if !text.fences.is_empty() {
        let is_protected = |piece: &TextView<'_>| !large && judge(piece, Depth::Decide).is_hard();
        return split_code(spoken, wrap, &is_protected).map(Proposal::complete);
    }
    let body = if large { outline(text) } else { None };
    let body = body.or_else(|| is_output.then(|| digest(text)));
    if body.is_none() && (text.counts.chars as usize) < MIN_CUT_CHARS && !shows_best_unit(spoken) {
        return None;
    }
    Some(body.map_or_else(|| summarize(&[*spoken], wrap, None), |body| Proposal::summary(body, wrap, Vec::new())))
}

fn saves(chars_out: usize, chars_in: usize, min_saving: f64) -> bool {
    chars_out < chars_in && (chars_in - chars_out) as f64 >= chars_in as f64 * min_saving
}

/// The final action and reason of a claim that was filled.
pub(super) fn reason_of(plan: &Plan, claim: &Claim) -> Reason {
    match claim {
        Claim::Keep(reason) => *reason,
        Claim::DuplicateOf(_) => Reason::ExactDuplicate,
        Claim::SimilarTo { .. } => Reason::FuzzyDuplicate,
        Claim::SupersededBy { .. } => Reason::Contradicted,
        Claim::Group(group) => match (&plan.groups[*group].kind, plan.groups[*group].members.len()) {
            (GroupKind::CodeSplit, _) => Reason::CodeSplit,
            (GroupKind::Recompact, _) => Reason::Recompacted,
            (GroupKind::ToolPrepass, _) => Reason::ToolPrepass,
            (GroupKind::Adapter(_), _) => Reason::Adapter,
            (GroupKind::Flow(kind), _) => match kind {
                FlowKind::Qa => Reason::FlowQa,
                FlowKind::Request => Reason::FlowRequest,
                FlowKind::Correction => Reason::FlowCorrection,
                FlowKind::Acknowledgment => Reason::FlowAcknowledgment,
            },
            (GroupKind::Cluster, _) => Reason::Cluster,
            (GroupKind::Summary, 1) => Reason::CompressibleProse,
            (GroupKind::Summary, _) => Reason::MergedCompressed,
        },
    }
}
