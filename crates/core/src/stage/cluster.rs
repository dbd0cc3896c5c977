//! Messages about one topic become one, wherever they stand. Knows which may leave their places; refuses to know how
//! a topic is told.
//!
//! The message that tells a topic stands where its first member stood; the others vanish. Where speakers take turns
//! only an exchange can vanish, a message and the answer to it: so exchanges are compared there, and the first
//! exchange of a topic lends its answer as the place. What stands beside a place that vanishes stays, so that each
//! topic is valid whatever becomes of the others.

use std::hash::BuildHasher;
use std::ops::RangeInclusive;

use foldhash::fast::FixedState;

use super::talk::{self, is_turn, may_vanish};
use super::{Claim, GroupKind, Plan, Stage, View};
use crate::model::{Message, Role, marker};
use crate::text::TextView;
use crate::text::linkage::{Item, Limits, clusters};
use crate::text::similarity::{Terms, neighbours};

/// Shorter messages say too little of what they are about.
const MIN_CHARS: usize = 80;
/// A summary of more than these names none of them.
const MAX_MEMBERS: usize = 12;
const MAX_CHARS: usize = 8_000;
/// The group of exchanges, which no speaker has.
const EXCHANGES: u64 = 0;

/// Claims messages that are about one topic.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cluster;

impl Stage for Cluster {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let (nodes, terms) = nodes(view, plan);
        let groups: Vec<u64> = nodes.iter().map(|node| node.group).collect();
        let items: Vec<Item> = nodes
            .iter()
            .map(|node| Item { n_members: node.len(), n_chars: node.members().map(|index| view.chars(index)).sum() })
            .collect();
        let limits =
            Limits { threshold: view.options.cluster_threshold, max_members: MAX_MEMBERS, max_chars: MAX_CHARS };
        let mut places = Places::new(view, plan);
        for cluster in clusters(&items, &neighbours(&terms, &groups), limits) {
            let cluster: Vec<&Node> = cluster.into_iter().map(|at| &nodes[at]).collect();
            let members = places.take(&cluster, plan);
            if members.len() > 1 {
                plan.group(members, GroupKind::Cluster);
            }
        }
    }
}

/// What is compared: a message, or an exchange of two.
#[derive(Debug, Clone, Copy)]
struct Node {
    first: usize,
    last: usize,
    /// Only nodes of one group come together.
    group: u64,
}

impl Node {
    fn members(self) -> RangeInclusive<usize> {
        self.first..=self.last
    }
    fn len(self) -> usize {
        self.last - self.first + 1
    }
}

/// What may come together, in order, with its terms.
fn nodes(view: &View<'_>, plan: &Plan) -> (Vec<Node>, Vec<Terms>) {
    let text = |index: usize| talk::text(view, plan, index);
    let is_eligible = |index: usize| plan.is_free(index) && view.chars(index) >= MIN_CHARS;
    let (mut nodes, mut terms) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < view.recency_start {
        let Some(own) = text(at) else {
            at += 1;
            continue;
        };
        // A message that may vanish alone, or together with the one behind it.
        let alone = at > 0 && may_vanish(view, at - 1, at);
        let partner = || {
            let next = (at + 1 < view.recency_start).then_some(at + 1)?;
            let is_exchange = speaks_for(view, at, &Role::User) && speaks_for(view, next, &Role::Assistant);
            let fits = (is_eligible(at) || is_eligible(next)) && (at == 0 || may_vanish(view, at - 1, next));
            text(next).filter(|_| is_exchange && fits)
        };
        let (node, views): (Node, Vec<TextView<'_>>) = match (alone, partner()) {
            (false, Some(answer)) => (Node { first: at, last: at + 1, group: EXCHANGES }, vec![own, answer]),
            _ => (Node { first: at, last: at, group: speaker(view, at) }, vec![own]),
        };
        if node.len() > 1 || is_eligible(at) {
            nodes.push(node);
            terms.push(Terms::of(views));
        }
        at = node.last + 1;
    }
    (nodes, terms)
}

/// True for a nameless speaker of this role.
fn speaks_for(view: &View<'_>, index: usize, role: &Role<'_>) -> bool {
    let message = &view.conversation.messages[index];
    message.role == *role && message.name.is_none()
}

/// The group of messages that one speaker says.
fn speaker(view: &View<'_>, index: usize) -> u64 {
    let message = &view.conversation.messages[index];
    // `1`, so that no speaker has the number of the exchanges.
    FixedState::default().hash_one((&message.role, &message.name)) | 1
}

/// What becomes of each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Beside a place that vanishes: stays, as what it is or as the first of a topic.
    Pinned,
    /// Vanishes.
    Gone,
}

/// What becomes of each message, so that the turns stay valid whichever topics and chains come to nothing.
struct Places<'a> {
    view: &'a View<'a>,
    states: Vec<State>,
    /// Neighbours of one role, and the same with calls and results left aside. Where one of a run stays, the others may
    /// vanish without a new neighbour of one role.
    runs: [Runs; 2],
}

impl<'a> Places<'a> {
    fn new(view: &'a View<'a>, plan: &Plan) -> Self {
        let messages = &view.conversation.messages;
        let mut runs = [Runs::new(messages, |_| true), Runs::new(messages, is_turn)];
        // The later members of chains do not stay.
        for group in &plan.groups {
            for &index in group.members.iter().skip(1) {
                for runs in &mut runs {
                    runs.leave(index);
                }
            }
        }
        Self { view, states: vec![State::Open; view.len()], runs }
    }

    /// Takes what of a topic may leave its place; the members, ascending, the first of which stays.
    fn take(&mut self, cluster: &[&Node], plan: &Plan) -> Vec<usize> {
        let Some((head, rest)) = cluster.split_first() else { return Vec::new() };
        // Of an exchange the answer tells the topic, and the message before it stays; a short answer stays itself.
        let anchor = if plan.is_free(head.last) { head.last } else { head.first };
        let mut members = vec![anchor];
        for run in rest.chunk_by(|a, b| a.last + 1 == b.first) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let block = first.first..=last.last;
            if self.takes(block.clone(), plan) {
                members.extend(block);
            }
        }
        if members.len() > 1 && self.states[anchor] == State::Open {
            self.states[anchor] = State::Pinned;
        }
        members
    }

    fn takes(&mut self, block: RangeInclusive<usize>, plan: &Plan) -> bool {
        let (left, right) = (*block.start() - 1, *block.end() + 1);
        // A run of earlier summaries may become one: then another role stands there.
        let is_earlier =
            self.view.conversation.messages[left].texts().any(|text| marker::inner_summary(text).is_some());
        if is_earlier || block.clone().any(|index| self.states[index] != State::Open) {
            return false;
        }
        let is_free = self.runs.iter().all(|runs| runs.may_leave(block.clone()));
        if !is_free && !self.may_vanish(left, right, plan) {
            return false;
        }
        for index in block {
            self.states[index] = State::Gone;
            for runs in &mut self.runs {
                runs.leave(index);
            }
        }
        if !is_free {
            for index in self.beside(left, right) {
                self.states[index] = State::Pinned;
            }
        }
        true
    }

    /// True when what lies between `left` and `right` may vanish, and both stay.
    fn may_vanish(&self, left: usize, right: usize, plan: &Plan) -> bool {
        let shown_by = match plan.claim_of(left) {
            Some(&Claim::Group(group)) => plan.groups[group].members[0],
            _ => left,
        };
        self.beside(left, right).all(|index| self.states[index] != State::Gone)
            && may_vanish(self.view, left, right - 1)
            && (shown_by == left || may_vanish(self.view, shown_by, right - 1))
    }

    /// The neighbours of what lies between `left` and `right`, also those that remain with calls and results left aside.
    fn beside(&self, left: usize, right: usize) -> impl Iterator<Item = usize> + use<> {
        let messages = &self.view.conversation.messages;
        let speaks = |index: &usize| is_turn(&messages[*index]);
        let turns = [(0..=left).rev().find(speaks), (right..messages.len()).find(speaks)];
        let next = (right < messages.len()).then_some(right);
        [Some(left), next].into_iter().chain(turns).flatten()
    }
}

/// Runs of messages of one role.
struct Runs {
    /// Per message its run; `None` for one that does not count.
    of: Vec<Option<usize>>,
    /// Per run how many messages stay.
    n_left: Vec<usize>,
}

impl Runs {
    fn new(messages: &[Message<'_>], counts: impl Fn(&Message<'_>) -> bool) -> Self {
        let mut runs = Self { of: vec![None; messages.len()], n_left: Vec::new() };
        let mut before: Option<&Role<'_>> = None;
        for (index, message) in messages.iter().enumerate().filter(|(_, message)| counts(message)) {
            if before != Some(&message.role) {
                runs.n_left.push(0);
            }
            before = Some(&message.role);
            let run = runs.n_left.len() - 1;
            runs.n_left[run] += 1;
            runs.of[index] = Some(run);
        }
        runs
    }

    /// True when one of each run stays without the messages of `block`.
    fn may_leave(&self, block: RangeInclusive<usize>) -> bool {
        let runs: Vec<usize> = block.filter_map(|index| self.of[index]).collect();
        runs.chunk_by(|a, b| a == b).all(|same| same.first().is_none_or(|&run| self.n_left[run] > same.len()))
    }

    fn leave(&mut self, index: usize) {
        if let Some(run) = self.of[index] {
            self.n_left[run] -= 1;
        }
    }
}
