//! Builds the rows of the tables, column by column.

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder, ArrayRef, BinaryBuilder, BooleanBuilder, Float64Builder, LargeStringBuilder, ListArray, ListBuilder,
    StringBuilder, StructArray, UInt64Builder,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::numbers::packed;
use super::schema::{conversations_schema, field, message_fields, metrics_schema, place_fields, records_schema};
use super::{Kind, label};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{
    Conversation, Decision, Figure, Getter, ListedViews, Metrics, PartView, UnitCounts, metric_columns,
};
use crate::pipeline::make_up::MakeUp;
use crate::pipeline::stored::StoredRow;
use crate::shape::{DeltaPiece, Row};

/// Where a row belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPlace<'a> {
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
    fn push(&mut self, place: RowPlace<'_>) {
        self.id.append_value(place.id);
        self.source.append_value(place.source);
        self.row.append_value(place.row);
    }

    fn builders(&mut self) -> [&mut dyn ArrayBuilder; 3] {
        [&mut self.id, &mut self.source, &mut self.row]
    }
}

/// The rows of a table, from the builders of its columns in their order.
fn rows<'b>(
    schema: SchemaRef,
    columns: impl IntoIterator<Item = &'b mut (dyn ArrayBuilder + 'static)>,
) -> Result<RecordBatch> {
    RecordBatch::try_new(schema, columns.into_iter().map(ArrayBuilder::finish).collect()).map_err(internal)
}

/// Of the columns of messages that of their contents.
const CONTENT: usize = 1;

/// Builds rows of the conversations table, as columns.
#[derive(Debug, Default)]
pub(crate) struct ConversationsBuilder {
    place: PlaceBuilder,
    lengths: Vec<usize>,
    columns: [LargeStringBuilder; 7],
    extra: LargeStringBuilder,
}

impl ConversationsBuilder {
    /// For contents of about so many bytes.
    pub(crate) fn with_bytes(n_bytes: usize) -> Self {
        let mut builder = Self::default();
        builder.columns[CONTENT] = LargeStringBuilder::with_capacity(0, n_bytes);
        builder
    }

    pub(crate) fn push(&mut self, place: RowPlace<'_>, row: &Row<'_>) {
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
        let mut columns: Vec<ArrayRef> = self.place.builders().into_iter().map(ArrayBuilder::finish).collect();
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
        rows(records_schema(), [&mut self.record as &mut dyn ArrayBuilder])
    }
}

/// An original message in the sidecar, with what is told about it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OriginalRow<'a> {
    pub(crate) position: Option<u64>,
    pub(crate) message_index: Option<u64>,
    pub(crate) message_id: Option<&'a str>,
    pub(crate) role: Option<&'a str>,
    pub(crate) summary_id: Option<&'a str>,
    /// What of its texts is shown.
    pub(crate) views: &'a [PartView],
    /// The number that follows the last mark of the originals of its record before it.
    pub(crate) next_mark: u32,
    /// Where only what is not shown is stored: how the content of a row is escaped, and the pieces.
    pub(crate) style: Option<char>,
    pub(crate) pieces: Option<&'a [DeltaPiece]>,
    /// Of a record that comes again: the records that hold the rest of it.
    pub(crate) rows: &'a [StoredRow],
}

/// What builds the values of a kind.
macro_rules! builder_of {
    (count) => { UInt64Builder };
    (text) => { LargeStringBuilder };
    (texts) => { ListBuilder<StringBuilder> };
    (numbers) => { BinaryBuilder };
}

/// What values of a kind are in a table.
macro_rules! type_of {
    (count) => {
        DataType::UInt64
    };
    (text) => {
        DataType::LargeUtf8
    };
    (texts) => {
        DataType::List(Arc::new(field("item", DataType::Utf8, true)))
    };
    (numbers) => {
        DataType::Binary
    };
}

/// Declares a table: its schema, and what builds its rows. Behind the place of a row each column has a name, a kind, and
/// whether it may be null.
macro_rules! table {
    ($(#[$meta:meta])* $schema:ident, $builder:ident { $($name:ident: $kind:ident, $is_nullable:literal;)* }) => {
        $(#[$meta])*
        pub fn $schema() -> SchemaRef {
            let mut fields = place_fields();
            fields.extend([$(field(stringify!($name), type_of!($kind), $is_nullable)),*]);
            Arc::new(Schema::new(fields))
        }

        #[derive(Debug, Default)]
        pub(crate) struct $builder {
            place: PlaceBuilder,
            $($name: builder_of!($kind),)*
        }

        impl $builder {
            pub(crate) fn finish(mut self) -> Result<RecordBatch> {
                let columns: Vec<&mut dyn ArrayBuilder> = vec![$(&mut self.$name),*];
                rows($schema(), self.place.builders().into_iter().chain(columns))
            }
        }
    };
}

table! {
    /// Originals.
    verbatim_schema, VerbatimBuilder {
        position: count, true;
        message_index: count, true;
        message_id: text, true;
        role: text, true;
        kind: text, false;
        summary_id: text, true;
        message: text, false;
        views: numbers, true;
        marks: text, true;
        style: text, true;
        pieces: numbers, true;
    }
}

table! {
    /// What happened to each message.
    decisions_schema, DecisionsBuilder {
        message_index: count, false;
        message_id: text, true;
        role: text, false;
        action: text, false;
        reason: text, false;
        details: texts, false;
        position: count, false;
        chars_in: count, false;
        chars_out: count, false;
        units_pin: count, true;
        units_likely: count, true;
        units_skeleton: count, true;
        units_filler: count, true;
        units_distractor: count, true;
        units_bridge: count, true;
        units_budget: count, true;
        units_said_before: count, true;
        units_unused: count, true;
    }
}

impl VerbatimBuilder {
    /// For texts of about so many bytes.
    pub(crate) fn with_bytes(n_bytes: usize) -> Self {
        Self { message: LargeStringBuilder::with_capacity(0, n_bytes), ..Self::default() }
    }

    pub(crate) fn push(&mut self, place: RowPlace<'_>, kind: Kind, original: OriginalRow<'_>, text: &str) {
        self.place.push(place);
        self.position.append_option(original.position);
        self.message_index.append_option(original.message_index);
        self.message_id.append_option(original.message_id.map(label).as_deref());
        self.role.append_option(original.role.map(label).as_deref());
        self.kind.append_value(kind.as_str());
        self.summary_id.append_option(original.summary_id.filter(|id| !id.is_empty()).map(label).as_deref());
        self.message.append_value(text);
        let views = ListedViews::of(original.views, original.next_mark);
        self.views.append_option((!views.numbers.is_empty()).then(|| packed(views.numbers)));
        let texts = if original.rows.is_empty() {
            views.texts
        } else {
            original.rows.iter().map(ToString::to_string).collect()
        };
        let list = || serde_json::to_string(&texts).expect("texts always serialize");
        self.marks.append_option((!texts.is_empty()).then(list));
        let mut style = [0; 4];
        self.style.append_option(original.style.map(|sign| &*sign.encode_utf8(&mut style)));
        let numbers = |piece: &DeltaPiece| [piece.rest, piece.moved, piece.copied].map(u64::from);
        self.pieces.append_option(original.pieces.map(|pieces| packed(pieces.iter().flat_map(numbers))));
    }
}

/// The values of a column of the metrics table, and how they are read.
#[derive(Debug)]
enum MetricBuilder {
    Count(fn(&Metrics) -> Option<usize>, UInt64Builder),
    Figure(Figure, Float64Builder),
    Flag(fn(&Metrics) -> Option<bool>, BooleanBuilder),
    Text(fn(&Metrics) -> Option<&str>, LargeStringBuilder),
}

impl MetricBuilder {
    fn new(getter: Getter) -> Self {
        match getter {
            Getter::Count(get) => Self::Count(get, UInt64Builder::new()),
            Getter::Figure(figure) => Self::Figure(figure, Float64Builder::new()),
            Getter::Flag(get) => Self::Flag(get, BooleanBuilder::new()),
            Getter::Text(get) => Self::Text(get, LargeStringBuilder::new()),
        }
    }

    fn push(&mut self, metrics: &Metrics) {
        match self {
            Self::Count(get, values) => values.append_option(get(metrics).map(|count| count as u64)),
            Self::Figure(figure, values) => values.append_option(figure.of(metrics)),
            Self::Flag(get, values) => values.append_option(get(metrics)),
            Self::Text(get, values) => values.append_option(get(metrics)),
        }
    }

    fn values(&mut self) -> &mut dyn ArrayBuilder {
        match self {
            Self::Count(_, values) => values,
            Self::Figure(_, values) => values,
            Self::Flag(_, values) => values,
            Self::Text(_, values) => values,
        }
    }
}

/// Builds rows of the metrics table.
#[derive(Debug)]
pub(crate) struct MetricsBuilder {
    place: PlaceBuilder,
    class: LargeStringBuilder,
    language: LargeStringBuilder,
    metrics: Vec<MetricBuilder>,
    checksum: LargeStringBuilder,
}

impl Default for MetricsBuilder {
    fn default() -> Self {
        Self {
            place: PlaceBuilder::default(),
            class: LargeStringBuilder::new(),
            language: LargeStringBuilder::new(),
            metrics: metric_columns().map(|column| MetricBuilder::new(column.getter)).collect(),
            checksum: LargeStringBuilder::new(),
        }
    }
}

impl MetricsBuilder {
    pub(crate) fn push(&mut self, place: RowPlace<'_>, kind: &MakeUp, metrics: &Metrics, checksum: &str) {
        self.place.push(place);
        self.class.append_value(kind.class);
        self.language.append_option(kind.language);
        self.metrics.iter_mut().for_each(|column| column.push(metrics));
        self.checksum.append_value(checksum);
    }

    pub(crate) fn finish(mut self) -> Result<RecordBatch> {
        let mut columns: Vec<&mut dyn ArrayBuilder> = Vec::new();
        columns.extend(self.place.builders());
        columns.extend([&mut self.class as &mut dyn ArrayBuilder, &mut self.language]);
        columns.extend(self.metrics.iter_mut().map(MetricBuilder::values));
        columns.push(&mut self.checksum);
        rows(metrics_schema(), columns)
    }
}

impl DecisionsBuilder {
    pub(crate) fn push(&mut self, place: RowPlace<'_>, conversation: &Conversation<'_>, decision: &Decision) {
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
        let count = |of: fn(&UnitCounts) -> u32| decision.units.as_ref().map(|units| u64::from(of(units)));
        self.units_pin.append_option(count(|units| units.pin));
        self.units_likely.append_option(count(|units| units.likely));
        self.units_skeleton.append_option(count(|units| units.skeleton));
        self.units_filler.append_option(count(|units| units.filler));
        self.units_distractor.append_option(count(|units| units.distractor));
        self.units_bridge.append_option(count(|units| units.bridge));
        self.units_budget.append_option(count(|units| units.budget));
        self.units_said_before.append_option(count(|units| units.said_before));
        self.units_unused.append_option(count(|units| units.unused));
    }
}

fn internal(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Internal, "", "a table could not be built").because(error)
}
