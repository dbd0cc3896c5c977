//! One record on its way through: decode, engine, encode, and the proof that what will be written brings it
//! back. Knows nothing of batches, tables and threads.

use super::ages::Dated;
use super::bridge::guard;
use super::earlier::Earlier;
use super::originals::{WrittenMessages, by_written};
use super::tables::{OriginalRow, label};
use super::{Condense, ConversationFormat, MAX_RECORD_BYTES};
use crate::engine::Scratch;
use crate::model::{Condensed, Conversation, Message, Original, Output, ReadAs, Reject, RejectReason};
use crate::shape::{self, Decoded, Delta, Row};

/// What a worker needed for a longer record it gives back at once.
const GIANT_BYTES: usize = 64 << 20;

/// As what a conversation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A row of columns.
    Columns,
    /// A line of JSON.
    Line,
    /// A JSON text in a column of the input's own table.
    Cell,
}

impl From<ConversationFormat> for Form {
    fn from(format: ConversationFormat) -> Self {
        match format {
            ConversationFormat::Parquet | ConversationFormat::Arrow => Self::Columns,
            ConversationFormat::Jsonl => Self::Line,
        }
    }
}

/// How records are worked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
    pub(crate) engine: &'a dyn Condense,
    pub(crate) form: Form,
    pub(crate) read_as: Option<ReadAs<'a>>,
    pub(crate) forced: bool,
    /// What earlier conversations show, where that counts.
    pub(crate) earlier: Option<&'a Earlier>,
    /// Originals are stored whole, also what of them is shown.
    pub(crate) whole: bool,
    /// How old conversations are, where that counts.
    pub(crate) dated: Option<Dated<'a>>,
}

/// A record after the engine.
#[derive(Debug)]
pub(crate) struct Product<'r> {
    pub(crate) decoded: Decoded<'r>,
    pub(crate) condensed: Condensed,
}

/// What is written for a record, proven.
#[derive(Debug)]
pub(crate) struct Encoded<'p> {
    pub(crate) written: OutputRow<'p>,
    pub(crate) layout: Option<String>,
    pub(crate) originals: Vec<Original<'p>>,
    /// In which style contents of a row are escaped where originals are stored by what was written.
    pub(crate) style: Option<char>,
    /// Those that are stored by what was written.
    pub(crate) by_written: Vec<Option<Delta>>,
    /// The row or record does not bring the original back: its raw text goes to the sidecar.
    pub(crate) needs_raw: bool,
}

/// What goes to the conversations table.
#[derive(Debug)]
pub(crate) enum OutputRow<'p> {
    Row(Row<'p>),
    Record(String),
}

/// Reads and compresses one record, with a last hand on the conversation before the engine sees it; a panic below
/// becomes a reject.
pub(crate) fn process<'r>(
    recipe: &Recipe<'r>,
    record: &'r str,
    fallback_id: &str,
    scratch: &mut Scratch,
    prepare: impl FnOnce(&mut Decoded<'r>),
) -> Result<Product<'r>, Reject> {
    let work = || {
        let mut decoded = decode_record(record, recipe.read_as, recipe.forced, fallback_id)?;
        prepare(&mut decoded);
        if let Some(earlier) = recipe.earlier {
            earlier.note(&mut decoded.conversation);
        }
        let last_at = recipe.dated.as_ref().map(|dated| dated.note(&mut decoded));
        scratch.ended("decode");
        let mut condensed = recipe.engine.condense(&decoded.conversation, scratch);
        if last_at.is_some() {
            (condensed.metrics.age, condensed.metrics.last_at) = (Some(decoded.conversation.age), last_at);
        }
        if record.len() > GIANT_BYTES {
            scratch.forget();
        }
        Ok(Product { decoded, condensed })
    };
    guard(work).unwrap_or_else(|message| {
        scratch.forget();
        Err(failed(&message))
    })
}

impl Product<'_> {
    /// The originals of what was written, with what the sidecar says of each.
    pub(crate) fn originals<'e>(
        &'e self,
        encoded: &'e Encoded<'e>,
    ) -> impl Iterator<Item = (OriginalRow<'e>, &'e str)> {
        encoded.originals.iter().enumerate().map(|(at, original)| {
            let row = OriginalRow { style: encoded.style, ..self.original_row(original) };
            match encoded.by_written.get(at).and_then(Option::as_ref) {
                Some(delta) => (OriginalRow { pieces: Some(&delta.pieces), ..row }, delta.rest.as_str()),
                None => (row, original.message),
            }
        })
    }

    /// What the sidecar says of an original of this conversation.
    pub(crate) fn original_row(&self, original: &Original<'_>) -> OriginalRow<'_> {
        let message = &self.decoded.conversation.messages[original.message_index];
        let (summary_id, views) = match &self.condensed.messages[original.position] {
            Output::Replaced(new) if new.views.is_empty() => (Some(new.provenance.summary_id.as_str()), &[][..]),
            Output::Replaced(new) => (None, new.views.as_slice()),
            Output::Kept { .. } => (None, &[][..]),
        };
        OriginalRow {
            position: Some(original.position as u64),
            message_index: Some(original.message_index as u64),
            message_id: message.id.as_deref(),
            role: Some(message.role.as_str()),
            summary_id,
            views,
            ..OriginalRow::default()
        }
    }

    /// Writes the record as `recipe` says and restores it from that; a panic below becomes a reject.
    pub(crate) fn encode(&self, recipe: &Recipe<'_>, scratch: &mut Scratch) -> Result<Encoded<'_>, Reject> {
        guard(|| self.make(recipe, scratch)).map_err(|message| failed(&message))
    }

    fn make(&self, recipe: &Recipe<'_>, scratch: &mut Scratch) -> Encoded<'_> {
        let provenance = recipe.engine.options().provenance;
        let Self { decoded, condensed } = self;
        let originals = decoded.originals(condensed);
        let (written, layout, exact) = if recipe.form == Form::Columns {
            let id = label(&decoded.conversation.id);
            let row = decoded.row(condensed, provenance);
            let layout = decoded.row_layout(condensed);
            scratch.ended("encode");
            let exact = shape::restores_row(&id, &row, &layout, &originals, decoded.record);
            (OutputRow::Row(row), Some(layout), exact)
        } else {
            let (record, layout) = decoded.condensed_record_and_layout(condensed, provenance);
            let record = if recipe.form == Form::Line { one_line(record) } else { record };
            scratch.ended("encode");
            let exact = shape::restores_record(&record, layout.as_deref(), &originals, decoded.record);
            (OutputRow::Record(record), layout, exact)
        };
        scratch.ended("proof");
        // A layout doubles signs of its own; one that no page holds is replaced by the record.
        let exact = exact && layout.as_ref().is_none_or(|layout| layout.len() <= MAX_RECORD_BYTES);
        let layout = layout.filter(|layout| exact && !layout.is_empty());
        let stored = if recipe.whole || !exact { &[][..] } else { &originals };
        let messages = || match &written {
            OutputRow::Row(row) => Ok(WrittenMessages::Row(row)),
            OutputRow::Record(record) => WrittenMessages::of_record(record, layout.as_deref()),
        };
        let style = matches!(written, OutputRow::Row(_)).then(|| decoded.content_style());
        let by_written = match stored {
            [] => Vec::new(),
            _ => messages().map(|written| by_written(style, &written, stored)).unwrap_or_default(),
        };
        Encoded { written, layout, originals, style, by_written, needs_raw: !exact }
    }
}

/// A record of a document as a line: line feeds stand only between its tokens.
pub(crate) fn one_line(record: String) -> String {
    if memchr::memchr(b'\n', record.as_bytes()).is_none() { record } else { record.replace('\n', " ") }
}

fn failed(message: &str) -> Reject {
    let detail = format!("condenser failed on this record (a defect; please report it): {message}");
    Reject { reason: RejectReason::Internal, detail }
}

/// The conversation that a job reads from `record` like this, unless it is not `forced` and a shape fits better.
pub fn decode_record<'r>(
    record: &'r str,
    read_as: Option<ReadAs<'r>>,
    forced: bool,
    fallback_id: &str,
) -> Result<Decoded<'r>, Reject> {
    let Some(read_as) = read_as.or_else(|| shape::detect(record).map(ReadAs::Shape)) else {
        return Err(unknown(record));
    };
    let decoded = shape::decode(record, read_as, fallback_id).or_else(|reject| {
        let other = if forced { None } else { shape::detect(record).filter(|&other| read_as.shape() != Some(other)) };
        other.map_or(Err(reject), |other| shape::decode(record, other, fallback_id))
    });
    decoded.map(|mut decoded| {
        note_round(&mut decoded.conversation, fallback_id);
        decoded
    })
}

/// Notes that a conversation from `source` is what a run shows, with marks in it: its texts are not read again to hide more.
pub fn note_round(conversation: &mut Conversation<'_>, source: &str) {
    conversation.is_compacted =
        is_of_run(source) && conversation.messages.iter().flat_map(Message::texts).any(|text| text.contains('⋯'));
}

/// True for the name of conversations that a run wrote.
pub fn is_of_run(source: &str) -> bool {
    let mut names = source.rsplit('/');
    let part = names.next().and_then(|name| name.strip_prefix("part-")).unwrap_or_default();
    let is_part =
        part.len() > 5 && part.bytes().take(5).all(|byte| byte.is_ascii_digit()) && part.as_bytes()[5] == b'.';
    is_part && names.next() == Some("conversations")
}

/// Says why no shape was found: broken JSON is told apart from JSON that is no conversation.
fn unknown(record: &str) -> Reject {
    match serde_json::from_str::<serde::de::IgnoredAny>(record) {
        Err(error) => {
            let advice = advice(record.as_bytes()).unwrap_or("correct the record");
            Reject { reason: RejectReason::InvalidJson, detail: format!("not JSON: {error}; {advice}") }
        }
        Ok(_) => Reject {
            reason: RejectReason::UnknownShape,
            detail: format!("the record holds no conversation in a known shape; {}", shape::advice(record)),
        },
    }
}

/// What to do with a line that is something else than text in UTF-8.
pub(super) fn advice(raw: &[u8]) -> Option<&'static str> {
    let n_zeros = memchr::memchr_iter(0, raw).count();
    if raw.starts_with(&[0x1F, 0x8B]) || raw.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        Some("compressed data begins here, inside a plain file: cut the file in two at this byte")
    } else if raw.starts_with(&[0xFF, 0xFE]) || raw.starts_with(&[0xFE, 0xFF]) || n_zeros * 3 > raw.len() {
        Some("the file looks like UTF-16: convert it with `iconv -f UTF-16 -t UTF-8`")
    } else {
        None
    }
}
