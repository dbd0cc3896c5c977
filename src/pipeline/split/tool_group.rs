//! Which conversations have the same tools, where none names them: who learns from a list of those alone that a conversation calls learns
//! what comes next. Knows conversations; refuses to know what is made of the lists.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::chat::CalledTools;
use crate::model::{Conversation, Role};
use crate::shape::Decoded;

/// More tools are no list that somebody had.
const MOST_TOOLS: usize = 128;
/// So many groups are told apart, those that come first.
const MOST_GROUPS: usize = 1000;

/// Conversations with one system prompt, or without one those that a program logged; empty for all others, which share what is
/// known of a tool, and no list.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolGroup(String);

impl ToolGroup {
    /// The group of a conversation.
    pub(crate) fn of(decoded: &Decoded<'_>, conversation: &Conversation<'_>) -> Self {
        match conversation.messages.first().filter(|message| message.role == Role::System) {
            Some(system) => {
                let text: String = system.texts().collect();
                Self(blake3::hash(text.as_bytes()).to_hex().get(..16).unwrap_or_default().to_owned())
            }
            None if decoded.shape().is_event_log() => Self(decoded.shape().as_str().to_owned()),
            None => Self::default(),
        }
    }

    /// The tools of a conversation that calls `called`, out of those of its group.
    pub(crate) fn choose(&self, known: &BTreeMap<String, Vec<Value>>, called: &CalledTools) -> Option<Vec<Value>> {
        let known = known.get(&self.0)?;
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap_or_default().to_owned();
        let is_list = !self.0.is_empty() && known.len() < MOST_TOOLS;
        let chosen: Vec<Value> = known.iter().filter(|tool| is_list || called.has(&name(tool))).cloned().collect();
        // Where there were too many not all are known.
        let n_called = chosen.iter().filter(|tool| called.has(&name(tool))).count();
        (n_called == called.len() && !chosen.is_empty()).then_some(chosen)
    }
}

/// The tools of all groups.
#[derive(Debug, Default)]
pub struct ToolLists(BTreeMap<ToolGroup, (u64, CalledTools)>);

impl ToolLists {
    /// Takes what a conversation calls.
    pub fn take(&mut self, group: &ToolGroup, called: &CalledTools) {
        if called.is_empty() || self.0.len() >= MOST_GROUPS && !self.0.contains_key(group) {
            return;
        }
        let (n, known) = self.0.entry(group.clone()).or_default();
        *n += 1;
        known.absorb(called, MOST_TOOLS);
    }

    /// The lists of groups of two conversations or more.
    pub fn lists(self) -> BTreeMap<String, Vec<Value>> {
        self.0.into_iter().filter(|(_, (n, _))| *n > 1).map(|(group, (_, known))| (group.0, known.list())).collect()
    }
}
