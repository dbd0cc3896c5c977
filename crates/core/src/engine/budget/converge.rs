//! The last resort of a token budget: what is not protected is truncated, then runs of it become one message, then it
//! is left out. Stops as soon as the budget is met; never makes anything longer, and never parts a call from its result.
//! A budget that the protected messages alone exceed is no reason to show nothing: then the first step is the last.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::attempt::{Attempt, is_plain, is_protected, protected_tokens, rank};
use crate::engine::fill::Filler;
use crate::engine::unit::{Filled, State, Unit};
use crate::model::{Action, Message, NewBody, Reason, Role, marker};
use crate::stage::{Claim, Plan, View};
use crate::summary::{Draft, shorten_raw};
use crate::text::TextView;

/// Characters that truncated messages keep: the documented length first, shorter ones only when it does not do.
const LENGTHS: [usize; 3] = [512, 128, 40];
/// Neighbours that become one message: a few at first.
const RUNS: [usize; 2] = [12, usize::MAX];
/// Truncated messages and runs that get back what room is left in the end.
const MAX_REFILLS: usize = 4;

/// Moves `attempt` towards `max_tokens`.
pub(super) fn force(filler: &Filler<'_>, plan: &Plan, attempt: &mut Attempt, max_tokens: usize) {
    let mut units = std::mem::take(&mut attempt.units);
    units.sort_by_key(Unit::first);
    let n_tokens = units.iter().map(|unit| unit.n_tokens).sum();
    let window = attempt.recency_window;
    let mut this = Convergence { filler, plan, window, units, n_tokens, max_tokens, referrers: HashMap::default() };
    this.find_referrers();
    if protected_tokens(filler, plan, window) > max_tokens {
        this.truncate(&LENGTHS[..1]);
        attempt.units = this.units;
        return;
    }
    this.truncate(&LENGTHS);
    for max_units in RUNS {
        this.merge_runs(max_units);
    }
    let merged = this.merged_at();
    this.cut(&merged);
    this.leave_out();
    if !this.merge_omitted() {
        this.give_back(&merged);
    }
    attempt.units = this.units;
}

/// True for plain words that answer no call.
fn is_spoken(view: &View<'_>, index: usize) -> bool {
    let message = &view.conversation.messages[index];
    is_plain(view, index)
        && message.tool_calls.is_empty()
        && message.tool_call_id.is_none()
        && !matches!(message.role, Role::Tool | Role::Function | Role::Missing)
}

/// True for what refers to another message.
fn is_reference(unit: &Unit) -> bool {
    let is_one =
        |filled: &Filled| matches!(filled.action, Action::Deduped | Action::FuzzyDeduped | Action::Contradicted);
    unit.filled().is_some_and(is_one)
}

struct Convergence<'f, 'a> {
    filler: &'f Filler<'a>,
    plan: &'f Plan,
    window: usize,
    /// By first member.
    units: Vec<Unit>,
    n_tokens: usize,
    max_tokens: usize,
    /// Per message the messages that refer to it.
    referrers: HashMap<usize, Vec<usize>, FixedState>,
}

impl Convergence<'_, '_> {
    fn is_met(&self) -> bool {
        self.n_tokens <= self.max_tokens
    }

    fn find_referrers(&mut self) {
        for index in 0..self.filler.view.len() {
            if let Some(
                Claim::DuplicateOf(target) | Claim::SimilarTo { target, .. } | Claim::SupersededBy { target, .. },
            ) = self.plan.claim_of(index)
            {
                self.referrers.entry(*target).or_default().push(index);
            }
        }
    }

    fn may_shrink(&self, unit: &Unit) -> bool {
        unit.members.iter().all(|&index| !is_protected(&self.filler.view, self.plan, index, self.window))
    }

    /// A message that stays only because others refer to it.
    fn is_target(&self, unit: &Unit) -> bool {
        unit.members.len() == 1 && unit.filled().is_none() && self.referrers.contains_key(&unit.first())
    }

    fn replace(&mut self, at: usize, shorter: Unit) {
        self.n_tokens = self.n_tokens + shorter.n_tokens - self.units[at].n_tokens;
        self.units[at] = shorter;
    }

    /// Truncates the unimportant and long first, what others refer to last.
    fn truncate(&mut self, lengths: &[usize]) {
        let mut order: Vec<usize> = (0..self.units.len())
            .filter(|&at| self.may_shrink(&self.units[at]) && !is_reference(&self.units[at]))
            .collect();
        order.sort_by_cached_key(|&at| {
            let unit = &self.units[at];
            (self.is_target(unit), rank(self.plan, unit), std::cmp::Reverse(unit.n_tokens), at)
        });
        let before: HashMap<usize, Unit, FixedState> = order.iter().map(|&at| (at, self.units[at].clone())).collect();
        for &n_chars in lengths {
            let mut n_done = 0;
            for &at in &order {
                if self.is_met() {
                    break;
                }
                n_done += 1;
                self.shorten(at, &before[&at], n_chars);
            }
            if self.is_met() {
                order.truncate(n_done);
                self.refill(&order, &before);
                return;
            }
            // From here on the old give way before the recent.
            order.sort_by_cached_key(|&at| (self.is_target(&self.units[at]), rank(self.plan, &self.units[at]), at));
        }
    }

    fn shorten(&mut self, at: usize, original: &Unit, n_chars: usize) {
        let is_target = self.is_target(&self.units[at]);
        let Some(shorter) = self.truncated(original, n_chars) else { return };
        if shorter.n_tokens >= self.units[at].n_tokens {
            return;
        }
        self.replace(at, shorter);
        if is_target {
            // What refers to it would point at a text that is not there: it shows its own beginning instead.
            for referrer in self.referrers.get(&original.first()).cloned().unwrap_or_default() {
                let place = self.units.binary_search_by_key(&referrer, Unit::first);
                if let Ok(place) = place.map_err(|_| ())
                    && is_reference(&self.units[place])
                {
                    let whole = self.filler.unit(vec![referrer], State::Kept(Reason::ForceConverge));
                    if let Some(text) = self.truncated(&whole, n_chars) {
                        self.replace(place, text);
                    }
                }
            }
        }
    }

    /// Gives what room is left to the units that were truncated last: the most important ones.
    fn refill(&mut self, order: &[usize], before: &HashMap<usize, Unit, FixedState>) {
        for &at in order.iter().rev().take(MAX_REFILLS) {
            let original = &before[&at];
            self.lengthen(at, original.members.clone(), |this, n_chars| this.truncated(original, n_chars));
        }
    }

    /// Puts the longest text that `with` makes of the unit at `at` and for which there is room.
    fn lengthen(&mut self, at: usize, members: Vec<usize>, with: impl Fn(&Self, usize) -> Option<Unit>) {
        let n_tokens = self.units[at].n_tokens;
        let most = n_tokens + self.max_tokens.saturating_sub(self.n_tokens);
        let n_chars: usize = members.into_iter().map(|index| self.filler.view.chars(index)).sum();
        let (mut low, mut high) = (LENGTHS[LENGTHS.len() - 1], n_chars);
        let mut best = None;
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match with(self, middle).filter(|unit| unit.n_tokens <= most) {
                Some(unit) => {
                    low = middle;
                    best = Some(unit);
                }
                None => high = middle - 1,
            }
        }
        if let Some(longer) = best.filter(|unit| unit.n_tokens > n_tokens) {
            self.replace(at, longer);
        }
    }

    /// The unit with `n_chars` characters of its text.
    fn truncated(&self, unit: &Unit, n_chars: usize) -> Option<Unit> {
        let view = &self.filler.view;
        let n_before: usize = unit.members.iter().map(|&index| view.chars(index)).sum();
        let draft_of = |text: &str, n_before: usize| {
            let mut draft = Draft::default();
            draft.say(&marker::truncated_start(n_before));
            shorten_raw(text, n_chars, &mut draft);
            draft.say("]");
            draft
        };
        // A truncated text has no view that says what its marks hide.
        let marked = unit.filled().and_then(|filled| filled.marked.as_deref());
        let shown = marked.and_then(|marked| marked.views.iter().find(|view| view.is_of_content()));
        let shown = shown.zip(view.text(unit.first())).and_then(|(shown, text)| shown.without_marks(text.text));
        // A mark gives way only where more than it does.
        if shown.as_ref().is_some_and(|shown| shown.chars().nth(n_chars).is_none()) {
            return None;
        }
        let text = match unit.filled().map(|filled| &filled.body) {
            Some(NewBody::Text(text)) => {
                Some(shown.as_deref().unwrap_or_else(|| marker::inner_summary(text).unwrap_or(text)))
            }
            Some(NewBody::Parts(_)) => None,
            None => view.text(unit.first()).map(|text| text.text),
        };
        let whole = text.map(|text| draft_of(text, n_before));
        self.shorter(unit, whole, n_chars, |text| draft_of(text.text, text.counts.chars as usize))
    }

    /// The unit as `whole`, or with `of_part` in the place of every text part of more than `max_chars` characters.
    fn shorter(
        &self,
        unit: &Unit,
        whole: Option<Draft>,
        max_chars: usize,
        of_part: impl Fn(&TextView<'_>) -> Draft,
    ) -> Option<Unit> {
        let (action, reason) = (Action::Truncated, Reason::ForceConverge);
        let shorter = if let Some(draft) = whole {
            self.filler.replaced(unit.members.clone(), draft, action, reason)
        } else {
            let parts = self.filler.view.text_parts(unit.first());
            let long = parts.filter(|(_, text)| text.counts.chars as usize > max_chars);
            let drafts = long.map(|(part, text)| (part, of_part(&text))).collect();
            let provenance = self.filler.provenance(&unit.members);
            let filled = self.filler.filled_parts(unit.first(), drafts, action, reason, provenance);
            self.filler.unit(unit.members.clone(), State::Replaced(filled))
        };
        (self.filler.chars_of(&shorter) < self.filler.chars_of(unit)).then_some(shorter)
    }

    /// Neighbours become one message, the oldest first, up to `max_units` at a time.
    fn merge_runs(&mut self, max_units: usize) {
        let runs = Runs::of(&self.filler.view.conversation.messages, &self.units, |unit| self.joins(unit));
        let mut units = std::mem::take(&mut self.units).into_iter();
        let mut at = 0;
        while !units.as_slice().is_empty() && !self.is_met() {
            let run: Vec<Unit> = units.by_ref().take(runs.len_at(at, max_units).max(1)).collect();
            at += run.len();
            match self.merged(&run).filter(|_| run.len() > 1) {
                Some(merged) => {
                    let n_before: usize = run.iter().map(|unit| unit.n_tokens).sum();
                    self.n_tokens = self.n_tokens + merged.n_tokens - n_before;
                    self.units.push(merged);
                }
                None => self.units.extend(run),
            }
        }
        self.units.extend(units);
    }

    /// True for what says plain words under one name, and is needed by nothing else.
    fn joins(&self, unit: &Unit) -> bool {
        let view = &self.filler.view;
        let messages = &view.conversation.messages;
        let says_plain_words =
            |&index: &usize| is_spoken(view, index) && messages[index].name == messages[unit.first()].name;
        self.may_shrink(unit) && !self.is_target(unit) && unit.members.iter().all(says_plain_words)
    }

    /// The units that were merged here.
    fn merged_at(&self) -> Vec<usize> {
        let is_merged = |unit: &Unit| {
            unit.members.len() > 1 && unit.filled().is_some_and(|filled| filled.action == Action::Truncated)
        };
        (0..self.units.len()).filter(|&at| is_merged(&self.units[at])).collect()
    }

    /// Shows less of what was merged, the oldest first.
    fn cut(&mut self, merged: &[usize]) {
        for &n_chars in &LENGTHS[1..] {
            for &at in merged {
                if self.is_met() {
                    return;
                }
                let shorter = self.told(self.units[at].members.clone(), n_chars);
                if shorter.n_tokens < self.units[at].n_tokens {
                    self.replace(at, shorter);
                }
            }
        }
    }

    /// Gives what room is left to what was merged last.
    fn give_back(&mut self, merged: &[usize]) {
        for &at in merged.iter().rev().take(MAX_REFILLS) {
            if self.is_met() {
                let members = self.units[at].members.clone();
                self.lengthen(at, members.clone(), |this, n_chars| Some(this.told(members.clone(), n_chars)));
            }
        }
    }

    fn merged(&self, run: &[Unit]) -> Option<Unit> {
        let mut members: Vec<usize> = run.iter().flat_map(|unit| unit.members.iter().copied()).collect();
        members.sort_unstable();
        let unit = self.told(members, LENGTHS[0]);
        let n_before: usize = run.iter().map(|unit| unit.n_tokens).sum();
        let c_before: usize = run.iter().map(|unit| self.filler.chars_of(unit)).sum();
        (unit.n_tokens < n_before && self.filler.chars_of(&unit) < c_before).then_some(unit)
    }

    /// The first `n_chars` characters of what `members` say, as one message; where they are several, behind their names.
    fn told(&self, members: Vec<usize>, n_chars: usize) -> Unit {
        let view = &self.filler.view;
        let mut said = String::new();
        let mut left = n_chars;
        let name = |index: usize| view.conversation.messages[index].name.as_deref();
        let are_several = members.iter().any(|&index| name(index) != name(members[0]));
        for &index in &members {
            let text = view.text(index).map_or("", |text| text.text);
            if let Some(name) = name(index).filter(|_| are_several) {
                said.push_str(name);
                said.push_str(": ");
            }
            said.push_str(marker::inner_summary(text).unwrap_or(text).trim());
            said.push('\n');
            left = left.saturating_sub(view.chars(index));
            if left == 0 {
                break;
            }
        }
        let mut draft = Draft::default();
        draft.say(&marker::truncated_start(members.iter().map(|&index| view.chars(index)).sum()));
        shorten_raw(&said, n_chars, &mut draft);
        draft.say(&marker::merge_suffix(members.len()));
        draft.say("]");
        self.filler.replaced(members, draft, Action::Truncated, Reason::ForceConverge)
    }

    /// Neighbours of one role of which nothing is left, or too little to be left out, become one message, whoever spoke:
    /// the oldest, and no more than needed. True when there were such.
    fn merge_omitted(&mut self) -> bool {
        if self.is_met() {
            return false;
        }
        let units = std::mem::take(&mut self.units);
        let messages = &self.filler.view.conversation.messages;
        let goes_on = |a: &Unit, b: &Unit| {
            self.is_spare(a) && self.is_spare(b) && messages[a.first()].role == messages[b.first()].role
        };
        let mut merged = Vec::with_capacity(units.len());
        let mut n_tokens = self.n_tokens;
        for run in units.chunk_by(goes_on) {
            if run.len() < 2 || n_tokens <= self.max_tokens {
                merged.extend_from_slice(run);
                continue;
            }
            let one = self.omitted(run);
            let mut left = n_tokens + one.n_tokens;
            let is_enough = |unit: &Unit| {
                left -= unit.n_tokens;
                left <= self.max_tokens
            };
            let n = run.iter().position(is_enough).map_or(run.len(), |at| at + 1).max(2).min(run.len());
            let n_before: usize = run[..n].iter().map(|unit| unit.n_tokens).sum();
            let chars_before: usize = run[..n].iter().map(|unit| self.filler.chars_of(unit)).sum();
            let is_longer = one.n_tokens >= n_before || self.filler.chars_of(&one) >= chars_before;
            if is_longer {
                merged.extend_from_slice(run);
                continue;
            }
            let one = self.omitted(&run[..n]);
            n_tokens = n_tokens + one.n_tokens - n_before;
            merged.push(one);
            merged.extend_from_slice(&run[n..]);
        }
        let is_changed = merged.len() < units.len();
        (self.units, self.n_tokens) = (merged, n_tokens);
        is_changed
    }

    /// True for a message of which nothing is shown, or hardly more, and whose place nothing else needs.
    fn is_spare(&self, unit: &Unit) -> bool {
        let view = &self.filler.view;
        let is_nothing = match unit.filled().map(|filled| &filled.body) {
            Some(NewBody::Text(text)) => text == marker::MESSAGE_OMITTED,
            Some(NewBody::Parts(_)) => false,
            None => view.chars(unit.first()) <= marker::MESSAGE_OMITTED.len() && !self.is_target(unit),
        };
        is_nothing && self.may_shrink(unit) && is_spoken(view, unit.first())
    }

    fn omitted(&self, units: &[Unit]) -> Unit {
        let members: Vec<usize> = units.iter().flat_map(|unit| unit.members.iter().copied()).collect();
        let mut draft = Draft::default();
        draft.say(&marker::messages_omitted(members.len()));
        self.filler.replaced(members, draft, Action::Truncated, Reason::ForceConverge)
    }

    /// What is left is left out, the oldest first; a message without any text would be refused by many an API.
    fn leave_out(&mut self) {
        let mut omitted = Draft::default();
        omitted.say(marker::MESSAGE_OMITTED);
        for at in 0..self.units.len() {
            if self.is_met() {
                return;
            }
            let unit = &self.units[at];
            if !self.may_shrink(unit) {
                continue;
            }
            let whole = self.filler.view.text(unit.first()).map(|_| omitted.clone());
            let shorter = self.shorter(unit, whole, marker::MESSAGE_OMITTED.len(), |_| omitted.clone());
            if let Some(shorter) = shorter.filter(|shorter| shorter.n_tokens < unit.n_tokens) {
                self.replace(at, shorter);
            }
        }
    }
}

/// How many neighbours may become one message, looked up for every unit.
struct Runs<'c> {
    messages: &'c [Message<'c>],
    /// First member of each unit.
    firsts: Vec<usize>,
    /// Per unit one past the last that says plain words under its name.
    ends: Vec<usize>,
    /// Per unit the nearest one before it of another role.
    others: Vec<Option<usize>>,
    /// Per message the last one up to it that has the role of the one before.
    repeats: Vec<usize>,
}

impl<'c> Runs<'c> {
    /// `joins` says which units say plain words under one name, and may be merged.
    fn of(messages: &'c [Message<'c>], units: &[Unit], joins: impl Fn(&Unit) -> bool) -> Self {
        let firsts: Vec<usize> = units.iter().map(Unit::first).collect();
        let mut ends: Vec<usize> = (0..firsts.len()).collect();
        for at in (0..firsts.len()).rev().filter(|&at| joins(&units[at])) {
            let goes_on = firsts.get(at + 1).is_some_and(|&next| messages[next].name == messages[firsts[at]].name);
            ends[at] = if goes_on { ends[at + 1] } else { at + 1 };
        }
        let mut others = vec![None; firsts.len()];
        for at in 1..firsts.len() {
            let is_same = messages[firsts[at]].role == messages[firsts[at - 1]].role;
            others[at] = if is_same { others[at - 1] } else { Some(at - 1) };
        }
        let mut repeats = vec![0; messages.len()];
        for index in 1..messages.len() {
            let is_same = messages[index].role == messages[index - 1].role;
            repeats[index] = if is_same { index } else { repeats[index - 1] };
        }
        Self { messages, firsts, ends, others, repeats }
    }

    /// How many units from `at` on may become one message without new neighbours of one role: all that go together, or
    /// as many as stand before one of another role.
    fn len_at(&self, at: usize, max_units: usize) -> usize {
        let first = self.firsts[at];
        let next = self.ends[at].min(at.saturating_add(max_units));
        let is_new_neighbour =
            |behind: usize| self.messages[behind].role == self.messages[first].role && self.repeats[behind] <= first;
        match self.firsts.get(next) {
            Some(&behind) if next > at + 1 && is_new_neighbour(behind) => {
                self.others[next].filter(|&other| other > at).map_or(1, |other| other - at)
            }
            _ => next - at,
        }
    }
}
