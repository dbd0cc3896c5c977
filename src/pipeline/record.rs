//! One record on its way through: decode, engine, encode, and the proof that what will be written brings it
//! back. Knows nothing of batches, tables and threads.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::bridge::guard;
use super::{Condense, ConversationFormat, MAX_RECORD_BYTES, Totals};
use crate::engine::Scratch;
use crate::error::{Error, ErrorKind};
use crate::model::{Condensed, Content, Conversation, Message, Original, Part, Reject, RejectReason, Role, ShapeName};
use crate::shape::{self, Decoded, Row};
use crate::text::language;

/// Longer labels (ids, roles) are cut in the tables: a label stands in every row of its conversation.
const MAX_LABEL_BYTES: usize = 1024;
const CUT_LABEL_BYTES: usize = 256;

/// `text`, or its beginning and its hash when it is too long to stand in every row.
#[must_use]
pub fn label(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_LABEL_BYTES {
        return Cow::Borrowed(text);
    }
    let end = (0..=CUT_LABEL_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    let start = text.get(..end).unwrap_or_default();
    Cow::Owned(format!("{start}…{}", blake3::hash(text.as_bytes()).to_hex()))
}

/// What a worker needed for a longer record it gives back at once.
const GIANT_BYTES: usize = 64 << 20;

/// A record that was rejected, as a line of the rejects file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RejectRow {
    /// The source as given.
    pub source: String,
    /// Number of the record in its source, from 0.
    pub source_row: u64,
    /// Number of the line, from 1.
    pub line: u64,
    /// Where the line begins in the uncompressed stream, in bytes.
    pub offset: u64,
    /// The stable code of the reason; empty for a further piece of a long line.
    pub reason: String,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// The line as it stood there, when it is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The line in Base64, when it is not UTF-8, or is long and full of control characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_base64: Option<String>,
    /// A row of a table as an Arrow IPC stream in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_base64: Option<String>,
    /// How many rows of a damaged table could not be read here, and will not come back; 0 when nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_rows: Option<u64>,
    /// Blank bytes before the line, when there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The line end, when it is not one line feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Where the pieces of all these bytes stand in the stream (offset and length), when they do not stand together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<(u64, u64)>,
}

/// The bytes that a reject stands for: blank bytes before it, the record, its line end; nothing for a row of a table.
///
/// # Errors
/// `Verification` when the reject is damaged.
pub fn raw_of_reject(reject: &RejectRow) -> crate::error::Result<Vec<u8>> {
    let before = reject.before.as_deref().unwrap_or_default();
    let mut bytes = match (&reject.raw, &reject.raw_base64) {
        (Some(raw), _) => [before, raw].concat().into_bytes(),
        (None, Some(raw)) => {
            let mut raw = BASE64.decode(raw).map_err(|_| no_base64(reject))?;
            raw.splice(0..0, before.bytes());
            raw
        }
        (None, None) => before.as_bytes().to_vec(),
    };
    bytes.extend_from_slice(reject.end.as_deref().unwrap_or("\n").as_bytes());
    Ok(bytes)
}

/// How many bytes [`raw_of_reject`] gives, when the reject is whole.
pub(super) fn raw_len_of_reject(reject: &RejectRow) -> u64 {
    let raw = match (&reject.raw, &reject.raw_base64) {
        (Some(raw), _) => raw.len(),
        (None, Some(raw)) => raw.trim_end_matches('=').len() * 3 / 4,
        (None, None) => 0,
    };
    let around = reject.before.as_ref().map_or(0, String::len) + reject.end.as_ref().map_or(1, String::len);
    (raw + around) as u64
}

fn no_base64(reject: &RejectRow) -> Error {
    let place = format!("{}: row {}", reject.source, reject.source_row);
    Error::new(ErrorKind::Verification, place, "the raw bytes of a reject are no Base64")
}

/// How records are worked on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe<'a> {
    pub(crate) engine: &'a dyn Condense,
    pub(crate) format: ConversationFormat,
    pub(crate) shape: Option<ShapeName>,
    pub(crate) forced: bool,
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
    pub(crate) written: Written<'p>,
    pub(crate) layout: Option<String>,
    pub(crate) originals: Vec<Original<'p>>,
    /// The row or record does not bring the original back: its raw text goes to the sidecar.
    pub(crate) needs_raw: bool,
}

/// What goes to the conversations table.
#[derive(Debug)]
pub(crate) enum Written<'p> {
    Row(Row<'p>),
    Record(String),
}

/// Reads and compresses one record; a panic below becomes a reject.
pub(crate) fn process<'r>(
    recipe: &Recipe<'_>,
    record: &'r str,
    fallback_id: &str,
    scratch: &mut Scratch,
) -> Result<Product<'r>, Reject> {
    process_prepared(recipe, record, fallback_id, scratch, |_| {})
}

/// The same with a last hand on the conversation before the engine sees it.
pub(crate) fn process_prepared<'r>(
    recipe: &Recipe<'_>,
    record: &'r str,
    fallback_id: &str,
    scratch: &mut Scratch,
    prepare: impl FnOnce(&mut Decoded<'r>),
) -> Result<Product<'r>, Reject> {
    let work = || {
        let mut decoded = decode(recipe, record, fallback_id)?;
        prepare(&mut decoded);
        scratch.ended("decode");
        let condensed = recipe.engine.condense(&decoded.conversation, scratch);
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
    /// Writes the record as `recipe` says and restores it from that; a panic below becomes a reject.
    pub(crate) fn encode(&self, recipe: &Recipe<'_>, scratch: &mut Scratch) -> Result<Encoded<'_>, Reject> {
        guard(|| self.make(recipe, scratch)).map_err(|message| failed(&message))
    }

    fn make(&self, recipe: &Recipe<'_>, scratch: &mut Scratch) -> Encoded<'_> {
        let provenance = recipe.engine.options().provenance;
        let Self { decoded, condensed } = self;
        let originals = decoded.originals(condensed);
        let (written, layout, exact) = match recipe.format {
            ConversationFormat::Parquet | ConversationFormat::Arrow => {
                let id = label(&decoded.conversation.id);
                let row = decoded.row(condensed, provenance);
                let layout = decoded.row_layout(condensed);
                scratch.ended("encode");
                let exact = shape::restores_row(&id, &row, &layout, &originals, decoded.record);
                (Written::Row(row), Some(layout), exact)
            }
            ConversationFormat::Jsonl => {
                let (record, layout) = decoded.condensed_record_and_layout(condensed, provenance);
                let record = one_line(record);
                scratch.ended("encode");
                let exact = shape::restores_record(&record, layout.as_deref(), &originals, decoded.record);
                (Written::Record(record), layout, exact)
            }
        };
        scratch.ended("proof");
        // A layout doubles signs of its own; one that no page holds is replaced by the record.
        let exact = exact && layout.as_ref().is_none_or(|layout| layout.len() <= MAX_RECORD_BYTES);
        let layout = layout.filter(|layout| exact && !layout.is_empty());
        Encoded { written, layout, originals, needs_raw: !exact }
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

fn decode<'r>(recipe: &Recipe<'_>, record: &'r str, fallback_id: &str) -> Result<Decoded<'r>, Reject> {
    decode_record(record, recipe.shape, recipe.forced, fallback_id)
}

/// The conversation that a job reads from `record`, which is of this shape, unless it is not `forced` and another fits
/// better.
///
/// # Errors
/// The reject that a job writes.
pub fn decode_record<'r>(
    record: &'r str,
    shape: Option<ShapeName>,
    forced: bool,
    fallback_id: &str,
) -> Result<Decoded<'r>, Reject> {
    let Some(shape) = shape.or_else(|| shape::detect(record)) else {
        return Err(unknown(record));
    };
    shape::decode(record, shape, fallback_id).or_else(|reject| {
        let other = if forced { None } else { shape::detect(record).filter(|&other| other != shape) };
        other.map_or(Err(reject), |other| shape::decode(record, other, fallback_id))
    })
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
            detail: "the record holds no conversation in a known shape; name its shape with --shape".to_owned(),
        },
    }
}

/// What a conversation adds to the totals.
pub(crate) fn totals_of(conversation: &Conversation<'_>, condensed: &Condensed) -> Totals {
    let metrics = &condensed.metrics;
    Totals {
        conversations: 1,
        rejects: 0,
        messages_in: conversation.messages.len() as u64,
        messages_out: condensed.messages.len() as u64,
        chars_in: metrics.chars_in as u64,
        chars_out: metrics.chars_out as u64,
        tokens_in: metrics.tokens_in as u64,
        tokens_out: metrics.tokens_out as u64,
        over_budget: u64::from(metrics.budget.is_some_and(|budget| !budget.fits)),
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

/// What kind of conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MakeUp {
    /// See [`class_of`].
    pub(crate) class: &'static str,
    /// The ISO 639-1 code of the language that most is said in.
    pub(crate) language: Option<&'static str>,
}

impl MakeUp {
    pub(crate) fn of(conversation: &Conversation<'_>) -> Self {
        // What people and models say, not what tools print; the beginnings of a few messages tell enough.
        let is_spoken = |role: &Role<'_>| !matches!(role, Role::System | Role::Developer | Role::Tool | Role::Function);
        let spoken = conversation.messages.iter().filter(|message| is_spoken(&message.role));
        Self { class: class_of(conversation), language: language(spoken.flat_map(Message::texts)) }
    }
}

/// The class of a conversation, from its make-up alone: `tool-heavy` when a quarter of its messages call tools or
/// carry results, else `code` when a fifth of them have a fenced block, else `long-prose` when a message has
/// 1,500 bytes of text on average, else `chat`; `other` when nobody says anything.
pub(crate) fn class_of(conversation: &Conversation<'_>) -> &'static str {
    let (mut tools, mut fenced, mut bytes, mut spoken) = (0, 0, 0, 0);
    let fence = memchr::memmem::Finder::new("```");
    for message in &conversation.messages {
        if !message.tool_calls.is_empty() || matches!(message.role, Role::Tool | Role::Function) {
            tools += 1;
        }
        let (mut has_fence, mut length) = (false, 0);
        for text in message.texts() {
            has_fence = has_fence || fence.find(text.as_bytes()).is_some();
            length += text.len();
        }
        fenced += usize::from(has_fence);
        spoken += usize::from(
            length > 0 || matches!(&message.content, Content::Parts(parts) if parts.contains(&Part::Opaque)),
        );
        bytes += length;
    }
    let n_messages = conversation.messages.len();
    if spoken == 0 && tools == 0 {
        "other"
    } else if tools * 4 >= n_messages {
        "tool-heavy"
    } else if fenced * 5 >= n_messages {
        "code"
    } else if bytes >= 1500 * spoken {
        "long-prose"
    } else {
        "chat"
    }
}
