//! Prose that gives way in a conversation told together: which messages do is decided by each alone, which of their sentences stay as one
//! choice. Knows groups and the texts of [`Filler`]; refuses to know how a text is written.

use std::collections::BTreeMap;

use super::fill::{ChosenOf, Filler, saves};
use super::unit::Unit;
use crate::model::{CompressionDepth, HideBy, ProvenancePlace};
use crate::stage::{Claim, Group, GroupKind, Plan};
use crate::summary::{
    Keys, Spoken, Style, choose, least_chars, least_talk_chars, most_chars, most_talk_chars, total_budget,
};

/// What groups come to by themselves, by their numbers; `None` where all messages of a group give way whatever is written.
pub(super) type Alone = BTreeMap<usize, Option<Vec<Unit>>>;

impl Filler<'_> {
    /// What each group of prose comes to whatever the others are, by its number; nothing where every text chooses for itself. Whether
    /// a message gives way is decided here, so that one that stays does so in a second pass, too.
    pub(super) fn alone(&mut self, plan: &Plan, order: &[usize], style: Style) -> Alone {
        let may_choose = self.options().hide_by == HideBy::Use && style.depth != CompressionDepth::Aggressive;
        let mut alone = BTreeMap::new();
        let prose: Vec<usize> =
            order.iter().copied().filter(|&group| may_choose && self.is_prose(plan, group)).collect();
        for group in prose {
            let units = match self.gives_way(plan, group, style) {
                Some(true) => None,
                Some(false) => Some(self.units_kept(&plan.groups[group])),
                None => Some(self.units_alone(plan, group, style)),
            };
            alone.insert(group, units);
        }
        alone
    }

    fn units_alone(&mut self, plan: &Plan, group: usize, style: Style) -> Vec<Unit> {
        let mut units = Vec::new();
        self.push_group(plan, group, style, &mut units);
        self.earlier.clear();
        units
    }

    /// Whether a group gives way where its text need not be written to know that: even the longest that may stand for it saves
    /// enough, or not even the shortest does.
    fn gives_way(&self, plan: &Plan, group: usize, style: Style) -> Option<bool> {
        let Group { members, kind } = &plan.groups[group];
        let texts = match kind {
            GroupKind::Summary => self.spoken(members),
            GroupKind::Talk => self.turns(members),
            _ => return None,
        };
        let is_talk = *kind == GroupKind::Talk;
        let n_chars = members.iter().map(|&index| self.view.chars(index)).sum();
        let pays = |length: usize| saves(length, n_chars, self.min_saving);
        let is_bare = self.options().provenance != ProvenancePlace::Metadata && self.count.is_by_chars();
        let most = if is_talk { most_talk_chars(&texts, style) } else { most_chars(&texts, style) };
        if is_bare && most.is_some_and(pays) {
            return Some(true);
        }
        let least = if is_talk { least_talk_chars(&texts) } else { least_chars(&texts) };
        (!pays(least)).then_some(false)
    }

    /// A group told by the sentences that were chosen, if the same messages give way as `alone`.
    pub(super) fn together(&mut self, plan: &Plan, group: usize, alone: Option<Vec<Unit>>, style: Style) -> Vec<Unit> {
        let kept = |units: &[Unit]| -> Vec<usize> {
            units.iter().filter(|unit| unit.filled().is_none()).map(Unit::first).collect()
        };
        let kept_alone = alone.as_deref().map(kept).unwrap_or_default();
        if alone.as_ref().is_some_and(|alone| kept_alone.len() == alone.len()) {
            return alone.unwrap_or_default();
        }
        let mut told = Vec::new();
        self.push_group(plan, group, style, &mut told);
        if kept(&told) == kept_alone {
            return told;
        }
        alone.unwrap_or_else(|| {
            let chosen = std::mem::take(&mut self.chosen);
            let units = self.units_alone(plan, group, style);
            self.chosen = chosen;
            units
        })
    }

    /// Which sentences stay of all prose that gives way, as one choice.
    pub(super) fn choose(&self, plan: &Plan, alone: &Alone, style: Style) -> ChosenOf {
        let mut gives_way = vec![false; self.view.len()];
        for (&group, units) in alone {
            let written = units.iter().flatten().filter(|unit| unit.filled().is_some()).flat_map(|unit| &unit.members);
            let all = if units.is_none() { plan.groups[group].members.as_slice() } else { &[] };
            written.chain(all).for_each(|&index| gives_way[index] = true);
        }
        if !gives_way.contains(&true) {
            return ChosenOf::default();
        }
        let mut visible = Keys::default();
        let (mut places, mut firsts, mut texts) = (Vec::new(), Vec::with_capacity(gives_way.len()), Vec::new());
        for (index, &gives_way) in gives_way.iter().enumerate() {
            firsts.push(places.len());
            let is_reverted = |group: &usize| alone.contains_key(group) && !gives_way;
            let stays = match plan.settled(index) {
                Claim::Keep(_) => true,
                Claim::Group(group) => is_reverted(group),
                _ => false,
            };
            for (part, view) in self.view.text_parts(index) {
                let mut hints = self.hints_at(index, part);
                if let Claim::Group(group) = plan.settled(index)
                    && plan.groups[*group].kind == GroupKind::Talk
                {
                    hints.speaker = self.view.conversation.messages[index].name.as_deref();
                }
                let shown = if stays { view.facts } else { &[] };
                visible.extend(shown.iter().map(|fact| fact.key));
                if gives_way && !hints.is_by_others() {
                    // Blocks between fences stay.
                    for fence in view.fences {
                        let first = view.facts.partition_point(|fact| fact.span.start < fence.span.start);
                        let of_fence = view.facts[first..].iter().take_while(|fact| fact.span.start < fence.span.end);
                        visible.extend(of_fence.map(|fact| fact.key));
                    }
                    places.push((index, part));
                    texts.push(Spoken { view, voice: self.voice(index), hints });
                }
            }
        }
        let budget = total_budget(&texts, style, self.options().compression_depth);
        ChosenOf { places, firsts, chosen: choose(&texts, visible, budget) }
    }

    /// True for messages that are told by some of their sentences.
    fn is_prose(&self, plan: &Plan, group: usize) -> bool {
        let Group { members, kind } = &plan.groups[group];
        matches!(
            kind,
            GroupKind::Summary | GroupKind::Flow(_) | GroupKind::Cluster | GroupKind::Talk | GroupKind::CodeSplit
        ) && members.iter().all(|&index| !self.view.is_large(index) && !plan.verdicts[index].is_output)
    }
}
