//! Records as bytes on one side, conversations on the other, exact both ways. Knows JSON and the shapes; knows
//! nothing of files, tables and compression.

mod advice;
mod binding;
mod blocks;
mod candidates;
mod cut;
mod delta;
mod detect;
mod document;
mod escape;
mod events;
mod find;
mod index;
mod json;
mod keys;
mod layout;
mod markdown;
mod member;
mod out;
mod outline;
mod read;
mod reasoning;
mod restore;
mod row;
mod row_text;
mod rules;
mod shapes;
mod spec;
mod splice;
mod talk;
mod text_record;
mod uncompress;

use crate::model::{Condensed, Conversation, Original, Output, ProvenancePlace, ReadAs, Reject, ShapeName};

use index::Index;
use json::Kind;
use member::Member;

pub use advice::advice;
pub use binding::{Summary, summaries, value_hash};
pub use delta::{Delta, DeltaPiece, Deltas, Wholes, WrittenText};
pub use detect::detect;
pub use document::{RECORD_LISTS, is_document, is_list_key};
pub use events::{SessionOf, detect_events, session_id};
pub(crate) use json::{Raw as RawJson, items, leaves, member};
pub use layout::RestoreError;
pub use markdown::detect as detect_markdown;
pub use restore::{messages_of, restore_record, restore_row, restores_record, restores_row};
pub use row::{MessageRow, Row};
pub use row_text::{row_of_text, row_text};
pub use uncompress::{Found, Lookup, Uncompressed, VerbatimMap, uncompress, uncompress_record, verbatim_map};

/// Under what names records and messages say when they were written.
const TIMES: [&str; 12] = [
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "created",
    "updated_at",
    "updatedAt",
    "update_time",
    "ended_at",
    "time",
    "ts",
    "date",
];

/// A record that was read, with what is needed to write it again.
#[derive(Debug)]
pub struct Decoded<'r> {
    /// The record, exactly as it stood in its file, without line end.
    pub record: &'r str,
    /// How it holds the conversation.
    pub read_as: ReadAs<'r>,
    /// What the engine sees.
    pub conversation: Conversation<'r>,
    index: Index<'r>,
}

/// Reads a record. `fallback_id` names the conversation when the record has no id.
///
/// # Errors
/// Says why the record holds no conversation in this shape.
pub fn decode<'r>(record: &'r str, read_as: impl Into<ReadAs<'r>>, fallback_id: &str) -> Result<Decoded<'r>, Reject> {
    let read_as = read_as.into();
    let index = cut::cut(record, read_as)?;
    let conversation = read::conversation(&index, fallback_id);
    Ok(Decoded { record, read_as, conversation, index })
}

impl<'r> Decoded<'r> {
    /// The values of members that say when the conversation, an event or a message of it was written, as JSON: those of the record and of
    /// its messages, not what stands inside a text or an argument.
    pub fn times(&self) -> impl Iterator<Item = &'r str> {
        let says_when = |member: &&Member<'r>| {
            let key = member.key.trim_matches('"');
            member.value.kind != Kind::Null && TIMES.contains(&key)
        };
        let members = self.index.head.iter().chain(&self.index.members);
        members.filter(says_when).map(|member| member.value.text)
    }

    /// The shape; that of OpenAI for a record that a map reads, whose messages have the usual fields.
    #[must_use]
    pub fn shape(&self) -> ShapeName {
        self.read_as.shape().unwrap_or(ShapeName::Openai)
    }

    /// The exact JSON of the member of the record that is called `key` and is not the list of messages.
    #[must_use]
    pub fn beside(&self, key: &str) -> Option<&'r str> {
        let is_it = |member: &&Member<'r>| member.key.trim_matches('"') == key && member.value.kind != Kind::Null;
        self.index.head.iter().find(is_it).map(|member| member.value.text)
    }

    /// The events of a log that carry no message, each with how many messages stand before it.
    pub fn passed(&self) -> impl Iterator<Item = (usize, &'r str)> {
        let log = self.index.log.as_ref();
        let n_passed = log.map_or(0, |log| log.passed.len());
        let mut at = 0;
        (0..n_passed).filter_map(move |pass| {
            let log = log?;
            at += log.before.get(at..)?.iter().take_while(|&&before| before <= pass).count();
            log.passed.get(pass).filter(|passed| passed.is_json).map(|passed| (at, passed.text))
        })
    }

    /// The content of a message as one text where it is none of its own: the string, or the exact JSON.
    #[must_use]
    pub fn content_at(&self, message: usize) -> Option<std::borrow::Cow<'r, str>> {
        let value = self.index.member(message, member::Field::Content)?.value;
        Some(value.string().unwrap_or(std::borrow::Cow::Borrowed(value.text)))
    }

    /// The compressed conversation as a record of the same shape; everything unchanged is copied byte for byte.
    #[must_use]
    pub fn condensed_record(&self, condensed: &Condensed, provenance: ProvenancePlace) -> String {
        if self.index.rules.spec.is_text {
            return text_record::write(&self.row(condensed, provenance));
        }
        splice::condensed_record(&self.index, &self.conversation, condensed, provenance)
    }

    /// The compressed conversation as a row of columns.
    #[must_use]
    pub fn row<'a>(&'a self, condensed: &'a Condensed, provenance: ProvenancePlace) -> Row<'a> {
        row::row(&self.index, &self.conversation, condensed, provenance)
    }

    /// What [`restore_row`] needs beside the row and the originals: key order, spacing, escapes.
    #[must_use]
    pub fn row_layout(&self, condensed: &Condensed) -> String {
        row::row_layout(&self.index, &self.conversation, condensed)
    }

    /// What [`restore_record`] needs beside the record and the originals; usually nothing.
    #[must_use]
    pub fn record_layout(&self, condensed: &Condensed) -> Option<String> {
        self.condensed_record_and_layout(condensed, ProvenancePlace::Sidecar).1
    }

    /// [`Self::condensed_record`] and [`Self::record_layout`] for the price of one: whether a layout is needed is
    /// found out by restoring the record.
    #[must_use]
    pub fn condensed_record_and_layout(
        &self,
        condensed: &Condensed,
        provenance: ProvenancePlace,
    ) -> (String, Option<String>) {
        let record = self.condensed_record(condensed, provenance);
        let fits = restores_record(&record, None, &self.originals(condensed), self.record);
        let layout = (!fits).then(|| row::record_layout(&self.index, &self.conversation, condensed));
        (record, layout)
    }

    /// The code of the style in which [`WrittenText::of_rows`] writes contents as the record does.
    #[must_use]
    pub fn content_style(&self) -> char {
        self.index.style.code()
    }

    /// The messages that were replaced, as the sidecar holds them, by output position and input index.
    #[must_use]
    pub fn originals(&self, condensed: &Condensed) -> Vec<Original<'r>> {
        let mut originals = Vec::new();
        for (position, output) in condensed.messages.iter().enumerate() {
            let Output::Replaced(replacement) = output else { continue };
            originals.extend(replacement.sources.iter().filter_map(|&message_index| {
                let message = self.index.messages.get(message_index)?;
                Some(Original { position, message_index, message })
            }));
        }
        originals
    }
}
