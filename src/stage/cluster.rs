//! Messages about one topic become one, wherever they stand. Knows which may leave their places; refuses to know how
//! a topic is told.
//!
//! The message that tells a topic stands where its first member stood; the others vanish. Where speakers take turns
//! only an exchange can vanish, a message and the answer to it: so exchanges are compared there, and the first
//! exchange of a topic lends its answer as the place. What stands beside a place that vanishes stays, so that each
//! topic is valid whatever becomes of the others.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::talk::{Talk, may_vanish};
use super::{Claim, GroupKind, Plan, Stage, View};
use crate::error::Result;
use crate::model::{PreservePattern, Role, marker};
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
#[derive(Debug, Clone)]
pub struct Cluster {
    talk: Talk,
}

impl Cluster {
    /// Compiles the preserve patterns.
    ///
    /// # Errors
    /// When one of them is no regular expression.
    pub fn new(patterns: &[PreservePattern]) -> Result<Self> {
        Ok(Self { talk: Talk::new(patterns)? })
    }
}

impl Stage for Cluster {
    fn name(&self) -> &'static str {
        "cluster"
    }

    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        if !view.options.semantic_clustering {
            return;
        }
        let (nodes, terms) = self.nodes(view, plan);
        let groups: Vec<u64> = nodes.iter().map(|node| node.group).collect();
        let items: Vec<Item> = nodes
            .iter()
            .map(|node| Item { n_members: node.len(), n_chars: node.members().map(|index| view.chars(index)).sum() })
            .collect();
        let limits =
            Limits { threshold: view.options.cluster_threshold, max_members: MAX_MEMBERS, max_chars: MAX_CHARS };
        let mut places = Places { view, states: vec![State::Open; view.len()] };
        for cluster in clusters(&items, &neighbours(&terms, &groups), limits) {
            let cluster: Vec<&Node> = cluster.into_iter().map(|at| &nodes[at]).collect();
            let members = places.members(&cluster, plan);
            if members.len() > 1 && plan.chain(members.clone(), GroupKind::Cluster) {
                places.take(&members);
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
    fn members(self) -> std::ops::RangeInclusive<usize> {
        self.first..=self.last
    }
    fn len(self) -> usize {
        self.last - self.first + 1
    }
}

impl Cluster {
    fn nodes(&self, view: &View<'_>, plan: &Plan) -> (Vec<Node>, Vec<Terms>) {
        let text = |index: usize| self.talk.text(view, plan, index);
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Beside a place that vanishes: stays, as what it is or as the first of a topic.
    Pinned,
    /// Vanishes.
    Gone,
}

/// What becomes of each place.
struct Places<'a> {
    view: &'a View<'a>,
    states: Vec<State>,
}

impl Places<'_> {
    /// The members that a topic may have: the place of the first one and all that may vanish, ascending.
    fn members(&self, cluster: &[&Node], plan: &Plan) -> Vec<usize> {
        let Some((head, rest)) = cluster.split_first() else { return Vec::new() };
        // Of an exchange the answer tells the topic, and the message before it stays; a short answer stays itself.
        let anchor = if plan.is_free(head.last) { head.last } else { head.first };
        if self.states[anchor] == State::Gone {
            return Vec::new();
        }
        let mut members = vec![anchor];
        for run in rest.chunk_by(|a, b| a.last + 1 == b.first) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            if self.may_leave(first.first, last.last, plan) {
                members.extend(first.first..=last.last);
            }
        }
        members
    }

    /// True when the messages from `start` to `end` may vanish, whatever becomes of other topics and chains.
    fn may_leave(&self, start: usize, end: usize, plan: &Plan) -> bool {
        let messages = &self.view.conversation.messages;
        let left = start - 1;
        let stays = |index: usize| self.states.get(index).is_none_or(|&state| state != State::Gone);
        // A run of earlier summaries may become one: then another role stands there.
        let is_earlier = messages[left].texts().any(|text| marker::inner_summary(text).is_some());
        let shown_by = match plan.claim_of(left) {
            Some(&Claim::Group(group)) => plan.groups[group].members[0],
            _ => left,
        };
        (start..=end).all(|index| self.states[index] == State::Open)
            && stays(left)
            && stays(end + 1)
            && !is_earlier
            && may_vanish(self.view, left, end)
            && (shown_by == left || may_vanish(self.view, shown_by, end))
    }

    fn take(&mut self, members: &[usize]) {
        let Some((&anchor, rest)) = members.split_first() else { return };
        self.pin(anchor);
        for &index in rest {
            self.states[index] = State::Gone;
        }
        for &index in rest {
            self.pin(index - 1);
            self.pin(index + 1);
        }
    }

    fn pin(&mut self, index: usize) {
        if let Some(state) = self.states.get_mut(index)
            && *state == State::Open
        {
            *state = State::Pinned;
        }
    }
}
