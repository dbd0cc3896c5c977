//! Prose that gives way in a conversation told together: which messages do is decided by each alone, which of their sentences stay as one
//! choice. Knows groups and the texts of [`Filler`]; refuses to know how a text is written.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::fill::{Chosen, Filler};
use super::unit::Unit;
use crate::model::{CompressionDepth, HideBy};
use crate::stage::{Claim, Group, GroupKind, Plan};
use crate::summary::{Keys, Spoken, Style, choose, total_budget};

/// What groups come to by themselves, by their numbers.
pub(super) type Alone = HashMap<usize, Vec<Unit>, FixedState>;

impl Filler<'_> {
    /// What each group of prose comes to whatever the others are, by its number; nothing where every text chooses for itself. Whether
    /// a message gives way is decided here, so that one that stays does so in a second pass, too.
    pub(super) fn alone(&mut self, plan: &Plan, order: &[usize], style: Style) -> Alone {
        let may_choose = self.options().hide_by == HideBy::Use && style.depth != CompressionDepth::Aggressive;
        let mut alone = HashMap::default();
        let prose: Vec<usize> =
            order.iter().copied().filter(|&group| may_choose && self.is_prose(plan, group)).collect();
        for group in prose {
            let mut units = Vec::new();
            self.push_group(plan, group, style, &mut units);
            self.earlier.clear();
            alone.insert(group, units);
        }
        alone
    }

    /// A group told by the sentences that were chosen, if the same messages give way as `alone`.
    pub(super) fn together(&mut self, plan: &Plan, group: usize, alone: Vec<Unit>, style: Style) -> Vec<Unit> {
        let kept = |units: &[Unit]| -> Vec<usize> {
            units.iter().filter(|unit| unit.filled().is_none()).map(Unit::first).collect()
        };
        let kept_alone = kept(&alone);
        if kept_alone.len() == alone.len() {
            return alone;
        }
        let mut told = Vec::new();
        self.push_group(plan, group, style, &mut told);
        if kept(&told) == kept_alone { told } else { alone }
    }

    /// Which sentences stay of all prose that gives way, as one choice.
    pub(super) fn choose(&self, plan: &Plan, alone: &Alone, style: Style) -> Chosen {
        let mut gives_way = vec![false; self.view.len()];
        for unit in alone.values().flatten().filter(|unit| unit.filled().is_some()) {
            for &index in &unit.members {
                gives_way[index] = true;
            }
        }
        if !gives_way.contains(&true) {
            return Chosen::default();
        }
        let mut visible = Keys::default();
        let (mut places, mut texts) = (Vec::new(), Vec::new());
        for (index, &gives_way) in gives_way.iter().enumerate() {
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
        places.into_iter().zip(choose(&texts, visible, budget)).collect()
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
