//! Sketches of messages: what falls to each role, tool, action and reason, and which texts occur again. Knows
//! conversations and what was decided about them.

use std::collections::BTreeMap;

use arrow::record_batch::RecordBatch;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::{Breakdown, Distinct, Repeats, Share};
use crate::error::{Error, Result};
use crate::model::{Action, Condensed, Conversation, Message, Reason, Role};
use crate::pipeline::merge::{Merge, merges};
use crate::pipeline::tables::{count_column, label, text_column};

/// A result whose tool nobody names.
const UNNAMED: &str = "unnamed";

/// Of the messages of conversations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Contents {
    /// By role.
    pub roles: Breakdown,
    /// Results of tools, by the name of the tool.
    pub tools: Breakdown,
    /// By what was done.
    pub actions: Breakdown,
    /// By why it was done.
    pub reasons: Breakdown,
    /// Conversations of which every message stayed as it was, by the reason that kept most of their characters.
    #[serde(default, skip_serializing_if = "Breakdown::is_empty")]
    pub unchanged: Breakdown,
    /// Texts that occur more than once.
    pub repeats: Repeats,
    /// Different texts of messages.
    pub distinct: Distinct,
    /// Texts of messages.
    pub texts: u64,
}

/// The shares of one conversation, so that it counts once for each name.
#[derive(Default)]
struct Tally<'n>(BTreeMap<&'n str, Share>);

impl<'n> Tally<'n> {
    fn add(&mut self, name: &'n str, chars_in: u64, chars_out: u64) {
        let part = Share { conversations: 0, messages: 1, chars_in, chars_out };
        self.0.entry(name).or_insert(Share { conversations: 1, ..Share::default() }).absorb(&part);
    }

    fn file(self, breakdown: &mut Breakdown) {
        self.0.iter().for_each(|(name, share)| breakdown.add(name, share));
    }
}

impl Contents {
    /// Sees a conversation and what was made of it.
    pub fn add(&mut self, conversation: &Conversation<'_>, condensed: &Condensed) {
        let calls = calls(conversation);
        let labels: Vec<_> = conversation.messages.iter().map(|message| label(message.role.as_str())).collect();
        let [mut roles, mut tools, mut actions, mut reasons] = [(); 4].map(|()| Tally::default());
        for decision in &condensed.decisions {
            let Some(message) = conversation.messages.get(decision.index) else { continue };
            let (chars_in, chars_out) = (decision.chars_in as u64, decision.chars_out as u64);
            roles.add(&labels[decision.index], chars_in, chars_out);
            actions.add(decision.action.as_str(), chars_in, chars_out);
            reasons.add(decision.reason.as_str(), chars_in, chars_out);
            if matches!(message.role, Role::Tool | Role::Function) {
                tools.add(tool_of(message, &calls), chars_in, chars_out);
            }
            self.text(message, chars_in);
        }
        if condensed.is_unchanged() {
            self.stayed(reasons.0.iter().map(|(reason, share)| (*reason, share)));
        }
        for (breakdown, tally) in self.breakdowns_mut().into_iter().zip([roles, tools, actions, reasons]) {
            tally.file(breakdown);
        }
    }

    /// Counts a conversation that stayed as it was, with what falls to each reason in it.
    fn stayed<'n>(&mut self, reasons: impl Iterator<Item = (&'n str, &'n Share)>) {
        let (mut all, mut most) = (Share::default(), None);
        for (reason, share) in reasons {
            all.absorb(share);
            if most.is_none_or(|(_, chars)| chars < share.chars_in) {
                most = Some((reason, share.chars_in));
            }
        }
        let reason = most.map_or(Reason::NoText.as_str(), |(reason, _)| reason);
        self.unchanged.add(reason, &Share { conversations: 1, ..all });
    }

    /// Counts the text of a message that has one text.
    fn text(&mut self, message: &Message<'_>, chars: u64) {
        let mut texts = message.texts().filter(|text| !text.is_empty());
        let (Some(text), None) = (texts.next(), texts.next()) else { return };
        let hash = XxHash3_64::oneshot(text.as_bytes());
        self.texts += 1;
        self.distinct.push(hash);
        self.repeats.push(hash, text, chars);
    }

    /// What falls to each name of a kind, and what the kind is called.
    pub fn breakdowns(&self) -> [(&'static str, &Breakdown); 4] {
        [("role", &self.roles), ("tool", &self.tools), ("action", &self.actions), ("reason", &self.reasons)]
    }

    fn breakdowns_mut(&mut self) -> [&mut Breakdown; 4] {
        [&mut self.roles, &mut self.tools, &mut self.actions, &mut self.reasons]
    }

    /// Leaves what is written into a commit.
    pub fn trim(&mut self) {
        self.breakdowns_mut().into_iter().for_each(Breakdown::trim);
        self.repeats.trim();
        self.distinct.trim();
    }
}

merges!(Contents { roles, tools, actions, reasons, unchanged, repeats, distinct, texts });

/// Reads the same from rows of the decisions table, for runs without sketches. Tools and texts do not stand in them.
#[derive(Debug, Default)]
pub struct DecisionTally {
    contents: Contents,
    /// The conversation whose rows were last, which may go on in the next rows.
    place: Option<(String, String, u64)>,
    shares: [BTreeMap<String, Share>; 3],
}

impl DecisionTally {
    /// Sees rows; all of one conversation come after another.
    pub fn add_rows(&mut self, rows: &RecordBatch) -> Result<()> {
        let placed = |error| Error { place: "decisions".to_owned(), ..error };
        let text = |name| text_column(rows, name).map_err(placed);
        let count = |name| count_column(rows, name).map_err(placed);
        let (ids, sources, source_rows) = (text("conversation_id")?, text("source")?, count("source_row")?);
        let names = [text("role")?, text("action")?, text("reason")?];
        let (chars_in, chars_out) = (count("chars_in")?, count("chars_out")?);
        for row in 0..rows.num_rows() {
            let place = (ids.value(row), sources.value(row), source_rows.value(row));
            if self.place.as_ref().is_none_or(|(id, source, row)| (&**id, &**source, *row) != place) {
                self.file();
                self.place = Some((place.0.to_owned(), place.1.to_owned(), place.2));
            }
            let part =
                Share { conversations: 0, messages: 1, chars_in: chars_in.value(row), chars_out: chars_out.value(row) };
            for (names, shares) in names.iter().zip(&mut self.shares) {
                match shares.get_mut(names.value(row)) {
                    Some(share) => share.absorb(&part),
                    None => drop(shares.insert(names.value(row).to_owned(), Share { conversations: 1, ..part })),
                }
            }
        }
        Ok(())
    }

    /// What all rows came to.
    pub fn finish(mut self) -> Contents {
        self.file();
        self.contents
    }

    /// Counts the conversation that has ended.
    fn file(&mut self) {
        let [_, actions, reasons] = &self.shares;
        if actions.keys().all(|action| action == Action::Preserved.as_str()) && self.place.is_some() {
            self.contents.stayed(reasons.iter().map(|(reason, share)| (&**reason, share)));
        }
        let Contents { roles, actions, reasons, .. } = &mut self.contents;
        for (breakdown, shares) in [roles, actions, reasons].into_iter().zip(&mut self.shares) {
            for (name, share) in &std::mem::take(shares) {
                breakdown.add(name, share);
            }
        }
    }
}

/// Names of tools by the id of the call.
fn calls<'c>(conversation: &'c Conversation<'_>) -> BTreeMap<&'c str, &'c str> {
    let calls = conversation.messages.iter().flat_map(|message| &message.tool_calls);
    calls.filter_map(|call| Some((call.id.as_deref()?, call.name.as_deref()?))).collect()
}

fn tool_of<'c>(message: &'c Message<'_>, calls: &BTreeMap<&str, &'c str>) -> &'c str {
    let called = message.tool_call_id.as_deref().and_then(|id| calls.get(id).copied());
    called.or(message.name.as_deref()).unwrap_or(UNNAMED)
}
