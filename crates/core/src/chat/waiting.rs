//! Which call a result is of that tells no id. Knows calls; refuses to know messages.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use crate::model::ToolCall;

/// Calls of the last turn, for results that tell no id.
#[derive(Default)]
pub(super) struct Waiting<'a> {
    /// Before this place no call waits.
    free: usize,
    /// Those without an id, in order.
    unnamed: VecDeque<usize>,
    /// All of them, under the name of what is called.
    named: BTreeMap<Cow<'a, str>, VecDeque<usize>>,
}

impl<'a> Waiting<'a> {
    /// A call is made, at this place of the turn.
    pub(super) fn add(&mut self, call: &ToolCall<'a>, place: usize) {
        if call.id.is_none() {
            self.unnamed.push_back(place);
        }
        if let Some(name) = &call.name {
            self.named.entry(name.clone()).or_default().push_back(place);
        }
    }

    /// The first call that waits for a result: for one of what is `named`, or any; one without an id, if the result has one.
    pub(super) fn first<T>(&mut self, results: &[Option<T>], has_id: bool, name: Option<&str>) -> Option<usize> {
        let first = |places: &mut VecDeque<usize>| {
            std::iter::from_fn(|| places.pop_front()).find(|&place| results[place].is_none())
        };
        if has_id {
            return first(&mut self.unnamed);
        }
        name.and_then(|name| self.named.get_mut(name)).and_then(first).or_else(|| {
            self.free += results.iter().skip(self.free).take_while(|result| result.is_some()).count();
            (self.free < results.len()).then_some(self.free)
        })
    }
}
