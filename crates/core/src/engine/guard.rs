//! The size guard: a text is held against what it replaces, in characters and tokens, with the metadata that is written
//! beside it. Knows sizes and provenance, not what the text says.

use super::fill::Filler;
use super::unit::{Filled, Unit, metadata_chars};
use crate::model::{Action, NewBody, Provenance, ProvenancePlace, Reason, summary_id};
use crate::summary::{Draft, Proposal};

/// A text that is to be held against what it replaces.
pub(super) struct Candidate {
    pub(super) proposal: Proposal,
    pub(super) action: Action,
    pub(super) reason: Reason,
    /// Characters that it must save.
    pub(super) min_saving: usize,
}

impl Filler<'_> {
    /// The fullest form that saves enough.
    pub(super) fn accept(&self, candidate: Candidate, provenance: Provenance, members: &[usize]) -> Option<Filled> {
        let Candidate { proposal, action, reason, min_saving } = candidate;
        let n_chars: usize = members.iter().map(|&index| self.view.chars(index)).sum();
        let metadata = self.metadata(&provenance);
        let n_metadata = metadata_chars(metadata.as_deref());
        let draft = proposal.accept(|length| saves(length + n_metadata, n_chars, min_saving))?;
        let filled = self.filled(draft, action, reason, provenance);
        self.saves_tokens(&filled, members).then_some(filled)
    }

    /// A text that is used as it is.
    pub(super) fn filled(&self, draft: Draft, action: Action, reason: Reason, provenance: Provenance) -> Filled {
        let metadata = self.metadata(&provenance);
        let n_metadata = metadata_chars(metadata.as_deref());
        let (body, chars_out) = (NewBody::Text(draft.text.clone()), draft.n_chars() + n_metadata);
        Filled { action, reason, body, provenance, metadata, drafts: vec![draft], chars_out }
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
        let kept: usize = self
            .view
            .text_parts(index)
            .filter(|(part, _)| !replaced(*part))
            .map(|(_, text)| text.counts.chars as usize)
            .sum();
        let new: usize = parts.iter().map(|(_, draft)| draft.n_chars()).sum();
        let chars_out = kept + new + metadata_chars(metadata.as_deref());
        let body = NewBody::Parts(parts.iter().map(|(part, draft)| (*part, draft.text.clone())).collect());
        let drafts = parts.into_iter().map(|(_, draft)| draft).collect();
        Filled { action, reason, body, provenance, metadata, drafts, chars_out }
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

pub(super) fn saves(chars_out: usize, chars_in: usize, min_saving: usize) -> bool {
    chars_out < chars_in && chars_in - chars_out >= min_saving
}
