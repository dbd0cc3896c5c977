//! The tables of a run as Arrow schemas, with their row builders and row readers. Knows what the columns mean
//! and nothing of the files that they are written to.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Builder, LargeStringArray, LargeStringBuilder, ListArray, ListBuilder,
    StringBuilder, StructArray, UInt64Builder,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, UInt64Type};
use arrow::record_batch::RecordBatch;

use super::record::label;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Conversation, Decision, Metrics};
use crate::shape::{MessageRow, Row};

/// The columnar tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// The compressed conversations.
    Conversations,
    /// The originals.
    Verbatim,
    /// One row of figures per conversation.
    Metrics,
    /// One row per message.
    Decisions,
}

impl Table {
    /// All tables in the order in which they are written.
    pub const ALL: [Self; 4] = [Self::Conversations, Self::Verbatim, Self::Metrics, Self::Decisions];

    /// The name, which is also the name of the folder.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Verbatim => "verbatim",
            Self::Metrics => "metrics",
            Self::Decisions => "decisions",
        }
    }
}

/// What a row of the verbatim table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The original of a replaced message.
    Message,
    /// What a conversation's row needs beside its columns to become the exact record again.
    Layout,
    /// A whole record as it stood in its source.
    Record,
    /// Unusual bytes around a record, as JSON.
    Frame,
}

impl Kind {
    /// The published name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Layout => "layout",
            Self::Record => "record",
            Self::Frame => "frame",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Message, Self::Layout, Self::Record, Self::Frame].into_iter().find(|kind| kind.as_str() == name)
    }
}

fn field(name: &str, data_type: DataType, nullable: bool) -> Field {
    Field::new(name, data_type, nullable)
}

fn place_fields() -> Vec<Field> {
    vec![
        field("conversation_id", DataType::LargeUtf8, false),
        field("source", DataType::LargeUtf8, false),
        field("source_row", DataType::UInt64, false),
    ]
}

fn message_fields() -> Fields {
    ["role", "content", "name", "tool_calls", "tool_call_id", "metadata", "extra"]
        .into_iter()
        .map(|name| field(name, DataType::LargeUtf8, true))
        .collect()
}

/// Conversations as columns.
#[must_use]
pub fn conversations_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.push(field(
        "messages",
        DataType::List(Arc::new(field("item", DataType::Struct(message_fields()), false))),
        false,
    ));
    fields.push(field("extra", DataType::LargeUtf8, true));
    Arc::new(Schema::new(fields))
}

/// Conversations as records of their own shape.
#[must_use]
pub fn records_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![field("record", DataType::LargeUtf8, false)]))
}

/// Originals.
#[must_use]
pub fn verbatim_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.extend([
        field("position", DataType::UInt64, true),
        field("message_index", DataType::UInt64, true),
        field("message_id", DataType::LargeUtf8, true),
        field("role", DataType::LargeUtf8, true),
        field("kind", DataType::LargeUtf8, false),
        field("summary_id", DataType::LargeUtf8, true),
        field("message", DataType::LargeUtf8, false),
        field("hash", DataType::LargeUtf8, true),
    ]);
    Arc::new(Schema::new(fields))
}

const COUNTS: [&str; 12] = [
    "messages_in",
    "messages_out",
    "chars_in",
    "chars_out",
    "tokens_in",
    "tokens_out",
    "preserved",
    "compressed",
    "deduped",
    "fuzzy_deduped",
    "code_split",
    "pattern_preserved",
];
const SHARES: [&str; 11] = [
    "ratio",
    "token_ratio",
    "entity_retention",
    "structural_integrity",
    "reference_coherence",
    "quality_score",
    "fact_retention",
    "fact_retention_with_entities",
    "forward_recall",
    "negation_retention",
    "error_retention",
];

/// Figures per conversation.
#[must_use]
pub fn metrics_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.push(field("class", DataType::LargeUtf8, false));
    fields.extend(COUNTS.map(|name| field(name, DataType::UInt64, false)));
    fields.extend(SHARES.map(|name| field(name, DataType::Float64, !name.ends_with("ratio"))));
    fields.push(field("checksum", DataType::LargeUtf8, false));
    Arc::new(Schema::new(fields))
}

/// What happened to each message.
#[must_use]
pub fn decisions_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.extend([
        field("message_index", DataType::UInt64, false),
        field("message_id", DataType::LargeUtf8, true),
        field("role", DataType::LargeUtf8, false),
        field("action", DataType::LargeUtf8, false),
        field("reason", DataType::LargeUtf8, false),
        field("details", DataType::List(Arc::new(field("item", DataType::Utf8, true))), false),
        field("position", DataType::UInt64, false),
        field("chars_in", DataType::UInt64, false),
        field("chars_out", DataType::UInt64, false),
    ]);
    Arc::new(Schema::new(fields))
}

/// Where a row belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) id: &'a str,
    pub(crate) source: &'a str,
    pub(crate) row: u64,
}

#[derive(Debug, Default)]
struct PlaceBuilder {
    id: LargeStringBuilder,
    source: LargeStringBuilder,
    row: UInt64Builder,
}

impl PlaceBuilder {
    fn push(&mut self, place: Place<'_>) {
        self.id.append_value(place.id);
        self.source.append_value(place.source);
        self.row.append_value(place.row);
    }
    fn columns(&mut self) -> Vec<ArrayRef> {
        vec![Arc::new(self.id.finish()), Arc::new(self.source.finish()), Arc::new(self.row.finish())]
    }
}

/// Builds rows of the conversations table, as columns.
#[derive(Debug, Default)]
pub(crate) struct ConversationsBuilder {
    place: PlaceBuilder,
    lengths: Vec<usize>,
    columns: [LargeStringBuilder; 7],
    extra: LargeStringBuilder,
}

impl ConversationsBuilder {
    pub(crate) fn push(&mut self, place: Place<'_>, row: &Row<'_>) {
        self.place.push(place);
        self.lengths.push(row.messages.len());
        for message in &row.messages {
            let values = [
                &message.role,
                &message.content,
                &message.name,
                &message.tool_calls,
                &message.tool_call_id,
                &message.metadata,
                &message.extra,
            ];
            for (column, value) in self.columns.iter_mut().zip(values) {
                column.append_option(value.as_deref());
            }
        }
        self.extra.append_option(row.extra.as_deref());
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch> {
        let values: Vec<ArrayRef> =
            self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let messages = StructArray::try_new(message_fields(), values, None).map_err(internal)?;
        let item = Arc::new(field("item", DataType::Struct(message_fields()), false));
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let list = ListArray::try_new(item, offsets, Arc::new(messages), None).map_err(internal)?;
        let mut columns = self.place.columns();
        columns.push(Arc::new(list));
        columns.push(Arc::new(self.extra.finish()));
        RecordBatch::try_new(conversations_schema(), columns).map_err(internal)
    }
}

/// Builds rows of the conversations table, as records.
#[derive(Debug, Default)]
pub(crate) struct RecordsBuilder {
    record: LargeStringBuilder,
}

impl RecordsBuilder {
    pub(crate) fn push(&mut self, record: &str) {
        self.record.append_value(record);
    }
    pub(crate) fn finish(mut self) -> Result<RecordBatch> {
        records_batch(self.record.finish())
    }
}

/// Records as a table of one column.
pub(crate) fn records_batch(records: LargeStringArray) -> Result<RecordBatch> {
    RecordBatch::try_new(records_schema(), vec![Arc::new(records)]).map_err(internal)
}

/// An original message in the sidecar, with what is told about it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OriginalRow<'a> {
    pub(crate) position: Option<u64>,
    pub(crate) message_index: Option<u64>,
    pub(crate) message_id: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) summary_id: Option<&'a str>,
}

/// Builds rows of the verbatim table.
#[derive(Debug, Default)]
pub(crate) struct VerbatimBuilder {
    place: PlaceBuilder,
    position: UInt64Builder,
    message_index: UInt64Builder,
    message_id: LargeStringBuilder,
    role: LargeStringBuilder,
    kind: LargeStringBuilder,
    summary_id: LargeStringBuilder,
    message: LargeStringBuilder,
    hash: LargeStringBuilder,
}

impl VerbatimBuilder {
    pub(crate) fn push(&mut self, place: Place<'_>, kind: Kind, original: OriginalRow<'_>, text: &str) {
        self.place.push(place);
        self.position.append_option(original.position);
        self.message_index.append_option(original.message_index);
        self.message_id.append_option(original.message_id.map(label).as_deref());
        self.role.append_option(original.role.map(label).as_deref());
        self.kind.append_value(kind.as_str());
        self.summary_id.append_option(original.summary_id.filter(|id| !id.is_empty()).map(label).as_deref());
        self.message.append_value(text);
        // Layouts and frames are covered by the checksum of their record; a hash of each would only cost space.
        match kind {
            Kind::Message | Kind::Record => self.hash.append_value(short_hash(text)),
            Kind::Layout | Kind::Frame => self.hash.append_null(),
        }
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch> {
        let mut columns = self.place.columns();
        columns.push(Arc::new(self.position.finish()));
        columns.push(Arc::new(self.message_index.finish()));
        columns.push(Arc::new(self.message_id.finish()));
        columns.push(Arc::new(self.role.finish()));
        columns.push(Arc::new(self.kind.finish()));
        columns.push(Arc::new(self.summary_id.finish()));
        columns.push(Arc::new(self.message.finish()));
        columns.push(Arc::new(self.hash.finish()));
        RecordBatch::try_new(verbatim_schema(), columns).map_err(internal)
    }
}

/// The first 128 bits of BLAKE3 in hex: enough to name a difference, half the space of the whole.
pub(crate) fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().as_str().chars().take(32).collect()
}

/// Builds rows of the metrics table.
#[derive(Debug, Default)]
pub(crate) struct MetricsBuilder {
    place: PlaceBuilder,
    class: LargeStringBuilder,
    counts: [UInt64Builder; COUNTS.len()],
    shares: [Float64Builder; SHARES.len()],
    checksum: LargeStringBuilder,
}

impl MetricsBuilder {
    pub(crate) fn push(&mut self, place: Place<'_>, class: &str, metrics: &Metrics, checksum: &str) {
        self.place.push(place);
        self.class.append_value(class);
        let counts = [
            metrics.messages_in,
            metrics.messages_out,
            metrics.chars_in,
            metrics.chars_out,
            metrics.tokens_in,
            metrics.tokens_out,
            metrics.counts.preserved,
            metrics.counts.compressed,
            metrics.counts.deduped,
            metrics.counts.fuzzy_deduped,
            metrics.counts.code_split,
            metrics.counts.pattern_preserved,
        ];
        for (column, value) in self.counts.iter_mut().zip(counts) {
            column.append_value(value as u64);
        }
        let shares = [
            Some(metrics.ratio),
            Some(metrics.token_ratio),
            metrics.entity_retention,
            metrics.structural_integrity,
            metrics.reference_coherence,
            metrics.quality_score,
            metrics.fact_retention,
            metrics.fact_retention_with_entities,
            metrics.forward_recall,
            metrics.negation_retention,
            metrics.error_retention,
        ];
        for (column, value) in self.shares.iter_mut().zip(shares) {
            column.append_option(value);
        }
        self.checksum.append_value(checksum);
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch> {
        let mut columns = self.place.columns();
        columns.push(Arc::new(self.class.finish()));
        columns.extend(self.counts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.extend(self.shares.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.push(Arc::new(self.checksum.finish()));
        RecordBatch::try_new(metrics_schema(), columns).map_err(internal)
    }
}

/// Builds rows of the decisions table.
#[derive(Debug)]
pub(crate) struct DecisionsBuilder {
    place: PlaceBuilder,
    message_index: UInt64Builder,
    message_id: LargeStringBuilder,
    role: LargeStringBuilder,
    action: LargeStringBuilder,
    reason: LargeStringBuilder,
    details: ListBuilder<StringBuilder>,
    position: UInt64Builder,
    chars_in: UInt64Builder,
    chars_out: UInt64Builder,
}

impl Default for DecisionsBuilder {
    fn default() -> Self {
        Self {
            place: PlaceBuilder::default(),
            message_index: UInt64Builder::new(),
            message_id: LargeStringBuilder::new(),
            role: LargeStringBuilder::new(),
            action: LargeStringBuilder::new(),
            reason: LargeStringBuilder::new(),
            details: ListBuilder::new(StringBuilder::new()),
            position: UInt64Builder::new(),
            chars_in: UInt64Builder::new(),
            chars_out: UInt64Builder::new(),
        }
    }
}

impl DecisionsBuilder {
    pub(crate) fn push(&mut self, place: Place<'_>, conversation: &Conversation<'_>, decision: &Decision) {
        let message = conversation.messages.get(decision.index);
        self.place.push(place);
        self.message_index.append_value(decision.index as u64);
        self.message_id.append_option(message.and_then(|message| message.id.as_deref()).map(label).as_deref());
        self.role.append_value(label(message.map_or("", |message| message.role.as_str())));
        self.action.append_value(decision.action.as_str());
        self.reason.append_value(decision.reason.as_str());
        for detail in &decision.details {
            self.details.values().append_value(detail.as_str());
        }
        self.details.append(true);
        self.position.append_value(decision.position as u64);
        self.chars_in.append_value(decision.chars_in as u64);
        self.chars_out.append_value(decision.chars_out as u64);
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch> {
        let mut columns = self.place.columns();
        columns.push(Arc::new(self.message_index.finish()));
        columns.push(Arc::new(self.message_id.finish()));
        columns.push(Arc::new(self.role.finish()));
        columns.push(Arc::new(self.action.finish()));
        columns.push(Arc::new(self.reason.finish()));
        columns.push(Arc::new(self.details.finish()));
        columns.push(Arc::new(self.position.finish()));
        columns.push(Arc::new(self.chars_in.finish()));
        columns.push(Arc::new(self.chars_out.finish()));
        RecordBatch::try_new(decisions_schema(), columns).map_err(internal)
    }
}

/// A text column of a table that was read.
pub(crate) fn text_column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b LargeStringArray> {
    batch.column_by_name(name).and_then(|column| column.as_string_opt::<i64>()).ok_or_else(|| missing_column(name))
}

/// A count column of a table that was read.
pub(crate) fn count_column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b arrow::array::UInt64Array> {
    batch
        .column_by_name(name)
        .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| missing_column(name))
}

/// A value of a text column.
pub(crate) fn text_at(column: &LargeStringArray, index: usize) -> Option<&str> {
    (index < column.len() && column.is_valid(index)).then(|| column.value(index))
}

/// Reads rows of the conversations table as columns.
#[derive(Debug)]
pub(crate) struct ConversationsView<'b> {
    pub(crate) id: &'b LargeStringArray,
    list: &'b ListArray,
    columns: Vec<&'b LargeStringArray>,
    extra: &'b LargeStringArray,
}

impl<'b> ConversationsView<'b> {
    pub(crate) fn new(batch: &'b RecordBatch) -> Result<Self> {
        let list = batch
            .column_by_name("messages")
            .and_then(|column| column.as_list_opt::<i32>())
            .ok_or_else(|| missing_column("messages"))?;
        let messages = list.values().as_struct_opt().ok_or_else(|| missing_column("messages"))?;
        let columns = message_fields()
            .iter()
            .map(|field| {
                let column = messages.column_by_name(field.name());
                column.and_then(|column| column.as_string_opt::<i64>()).ok_or_else(|| missing_column(field.name()))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { id: text_column(batch, "conversation_id")?, list, columns, extra: text_column(batch, "extra")? })
    }

    /// The row at `index`, borrowed from the table.
    pub(crate) fn row(&self, index: usize) -> Row<'b> {
        let offsets = self.list.value_offsets();
        let (start, end) = (offsets[index] as usize, offsets[index + 1] as usize);
        let value = |column: usize, at: usize| text_at(self.columns[column], at).map(Into::into);
        let messages = (start..end)
            .map(|at| MessageRow {
                role: value(0, at),
                content: value(1, at),
                name: value(2, at),
                tool_calls: value(3, at),
                tool_call_id: value(4, at),
                metadata: value(5, at),
                extra: value(6, at),
            })
            .collect();
        Row { messages, extra: text_at(self.extra, index).map(Into::into) }
    }
}

fn missing_column(name: &str) -> Error {
    Error::new(ErrorKind::Verification, "", format!("the table has no column `{name}` of the expected type"))
}

fn internal(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Internal, "", "a table could not be built").because(error)
}
