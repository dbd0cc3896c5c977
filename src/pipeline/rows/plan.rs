//! Which column of a table holds the conversations, and how: found once per source, from its schema and its first
//! rows. Knows no file.

use arrow::array::Array;
use arrow::datatypes::{DataType, FieldRef, Schema};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde::{Deserialize, Serialize};

use super::cells::{Lists, TextColumn, is_text, struct_item};
use super::render::Renderer;
use crate::error::{Error, Result};
use crate::model::{FieldMap, ReadAs, ShapeName};
use crate::shape;

/// Names under which data sets keep conversations, the most usual first.
const MESSAGES: [&str; 10] = [
    "messages",
    "conversations",
    "conversation",
    "traj",
    "trajectory",
    "dialog",
    "dialogue",
    "turns",
    "chat",
    "history",
];
/// Columns that may name a conversation, the best first: the same as the keys of records.
const IDS: [&str; 4] = ["id", "conversation_id", "session_id", "uuid"];
/// First rows that are looked at.
const HEAD_ROWS: usize = 100;

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Container {
    /// Parquet.
    Parquet,
    /// An Arrow IPC file, also known as Feather.
    ArrowFile,
    /// An Arrow IPC stream.
    ArrowStream,
}

/// How a column holds conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CellKind {
    /// Lists of structs: one struct per message.
    Structs,
    /// A JSON text per conversation.
    Text,
}

/// What was found out about a table that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TableInput {
    /// How it is stored.
    pub container: Container,
    /// Name of the column with the conversations.
    pub messages: String,
    /// Number of that column, from 0.
    pub column: usize,
    /// How the column holds them.
    pub kind: CellKind,
    /// Number of the column with the ids, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<usize>,
    /// The shape of the conversations, as far as it is the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeName>,
    /// The key that a record of the table has its messages under, where a map says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_key: Option<String>,
    /// Number of the first row of the part in its source, from 0.
    #[serde(default)]
    pub first_row: u64,
}

/// What may be said about inputs beforehand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The column of tables with the conversations; found by name and type when left out.
    pub messages_column: Option<String>,
    /// The shape of all conversations.
    pub shape: Option<ShapeName>,
    /// Where records have their conversation.
    pub map: Option<FieldMap>,
}

impl TableOptions {
    /// As what all records are read, where that is told.
    pub fn read_as(&self) -> Option<ReadAs<'_>> {
        ReadAs::told(self.map.as_ref(), self.shape)
    }

    /// The name of the column that a map says: its path begins with it.
    fn mapped_column(&self) -> Option<&str> {
        match self.map.as_ref()?.messages()? {
            [column] => Some(column),
            _ => None,
        }
    }
}

impl TableInput {
    /// Finds the conversations of a table by its schema and its first rows, `head`, which may be empty.
    pub fn find(name: &str, container: Container, head: &RecordBatch, options: &TableOptions) -> Result<Self> {
        let schema = head.schema();
        let is_there = |wanted: &&str| schema.fields().iter().any(|field| field.name() == wanted);
        let wanted = options.messages_column.as_deref().or_else(|| options.mapped_column().filter(is_there));
        let found = match wanted {
            Some(wanted) => match schema.fields().iter().position(|field| field.name() == wanted) {
                Some(column) => fits(head, column)
                    .or_else(|| {
                        let of_structs =
                            options.map.is_some() && struct_item(schema.field(column).data_type()).is_some();
                        of_structs.then_some((column, CellKind::Structs, None))
                    })
                    .or_else(|| {
                        is_text(schema.field(column).data_type()).then_some((column, CellKind::Text, options.shape))
                    }),
                None => None,
            },
            None => by_name(head).or_else(|| only_one(head)),
        };
        let Some((column, kind, shape)) = found else { return Err(no_column(name, &schema, options)) };
        let messages = schema.field(column).name().clone();
        let shape = options.shape.or(shape).filter(|_| options.map.is_none());
        let list_key = options.map.as_ref().filter(|_| kind == CellKind::Structs);
        let list_key = list_key.map(|_| options.mapped_column().unwrap_or("messages").to_owned());
        let id_column = id_column(&schema, column);
        Ok(Self { container, messages, column, kind, id_column, shape, list_key, first_row: 0 })
    }

    /// Finds the conversations of one of many batches: by names and types, so that every batch has them in the same column, and
    /// by what stands there only where these leave a choice.
    pub fn by_type(name: &str, container: Container, rows: &RecordBatch, options: &TableOptions) -> Result<Self> {
        let schema = rows.schema();
        let may_hold = |field: &FieldRef| is_text(field.data_type()) || struct_item(field.data_type()).is_some();
        let with_name = |name: &&str| {
            let found = schema.fields().iter().filter(|field| field.name().eq_ignore_ascii_case(name));
            found.into_iter().find(|field| may_hold(field))
        };
        let mut only = schema.fields().iter().filter(|field| may_hold(field));
        let only = only.next().filter(|_| only.next().is_none());
        let told = options.messages_column.is_some() || options.map.is_some();
        let column = MESSAGES.iter().find_map(with_name).or(only).filter(|_| !told);
        let column = column.map(|field| field.name().clone()).or_else(|| options.messages_column.clone());
        Self::find(name, container, rows, &TableOptions { messages_column: column, ..options.clone() })
    }

    /// The id of the conversation in every row; `None` where the table does not tell.
    pub fn ids(&self, rows: &RecordBatch) -> Vec<Option<String>> {
        let column = self.id_column.map(|column| rows.column(column));
        let Some(column) = column else { return vec![None; rows.num_rows()] };
        if let Some(texts) = TextColumn::of(column) {
            return (0..rows.num_rows())
                .map(|row| texts.get(row).filter(|id| !id.is_empty()).map(str::to_owned))
                .collect();
        }
        let options = FormatOptions::default();
        let Ok(formatter) = ArrayFormatter::try_new(column.as_ref(), &options) else {
            return vec![None; rows.num_rows()];
        };
        (0..rows.num_rows()).map(|row| column.is_valid(row).then(|| formatter.value(row).to_string())).collect()
    }

    /// The conversation of every row as it stands: the text, or the list of messages as JSON.
    pub fn cells(&self, rows: &RecordBatch) -> Result<Vec<String>> {
        let cells = self.rendered(rows, false, |list| list)?;
        Ok(cells.into_iter().map(|cell| cell.unwrap_or_else(|| "null".to_owned())).collect())
    }

    /// The conversation of every row as a record that can be decoded: the text, or the list of messages under the key
    /// that its shape gives it, with calls and metadata that are JSON in a text column written as JSON. `None` for a
    /// null.
    pub fn records(&self, rows: &RecordBatch) -> Result<Vec<Option<String>>> {
        let key = self.list_key()?;
        self.rendered(rows, true, |list| format!("{{{key}:{list}}}"))
    }

    fn rendered(
        &self,
        rows: &RecordBatch,
        reading: bool,
        record: impl Fn(String) -> String,
    ) -> Result<Vec<Option<String>>> {
        let wrong = || Error::verification(&self.messages, "the column is not of the expected type");
        let column = rows.columns().get(self.column).ok_or_else(wrong)?;
        let all = 0..rows.num_rows();
        if self.kind == CellKind::Text {
            let texts = TextColumn::of(column).ok_or_else(wrong)?;
            return Ok(all.map(|row| texts.get(row).map(str::to_owned)).collect());
        }
        let lists = Lists::of(column).ok_or_else(wrong)?;
        let renderer = Renderer::new(lists.values, reading);
        let list = |row| {
            let mut list = String::new();
            renderer.write_list(lists.get(row)?, &mut list);
            Some(record(list))
        };
        Ok(all.map(list).collect())
    }

    /// The key that a record keeps its messages under, as JSON.
    pub(super) fn list_key(&self) -> Result<String> {
        let of_shape = if self.shape == Some(ShapeName::Sharegpt) { "conversations" } else { "messages" };
        let key = self.list_key.as_deref().unwrap_or(of_shape);
        serde_json::to_string(key).map_err(|error| Error::internal(&self.messages, error.to_string()))
    }
}

type Found = (usize, CellKind, Option<ShapeName>);

fn by_name(head: &RecordBatch) -> Option<Found> {
    let schema = head.schema();
    MESSAGES.iter().find_map(|name| {
        let column = schema.fields().iter().position(|field| field.name().eq_ignore_ascii_case(name))?;
        fits(head, column).or_else(|| may_be_json(head, column).then_some((column, CellKind::Text, None)))
    })
}

/// True for a text column whose name has to do: it is empty, or its JSON is broken row by row.
fn may_be_json(head: &RecordBatch, column: usize) -> bool {
    let Some(texts) = TextColumn::of(head.column(column)) else { return false };
    let mut texts = (0..head.num_rows()).filter_map(|row| texts.get(row));
    texts.next().is_none_or(|first| first.trim_start().starts_with(['[', '{']))
}

fn only_one(head: &RecordBatch) -> Option<Found> {
    let mut found = (0..head.num_columns()).filter_map(|column| fits(head, column));
    found.next().filter(|_| found.next().is_none())
}

fn fits(head: &RecordBatch, column: usize) -> Option<Found> {
    let array = head.column(column);
    let n_rows = array.len().min(HEAD_ROWS);
    if let Some(DataType::Struct(fields)) = struct_item(array.data_type()) {
        // The names of the fields decide whether these are messages; the values tell shapes apart.
        let names: Vec<String> = fields.iter().filter_map(|field| serde_json::to_string(field.name()).ok()).collect();
        let message = names.iter().map(|name| format!("{name}:\"\"")).collect::<Vec<_>>().join(",");
        let speaks = |names: [&str; 2]| names.iter().all(|name| fields.iter().any(|field| field.name() == name));
        if !speaks(["role", "content"]) && !speaks(["from", "value"]) && !speaks(["from", "content"]) {
            return None;
        }
        let by_type = shape_of(&format!("[{{{message}}}]"));
        let lists = Lists::of(array)?;
        let renderer = Renderer::new(lists.values, true);
        let by_value =
            (0..n_rows).filter_map(|row| lists.get(row).filter(|range| !range.is_empty())).find_map(|range| {
                let mut text = String::new();
                renderer.write_list(range, &mut text);
                shape_of(&text)
            });
        return by_type.map(|by_type| (column, CellKind::Structs, by_value.or(Some(by_type))));
    }
    let texts = TextColumn::of(array)?;
    let shape = (0..n_rows).filter_map(|row| texts.get(row)).find_map(shape::detect)?;
    Some((column, CellKind::Text, Some(shape)))
}

/// The shape of a list of messages.
fn shape_of(list: &str) -> Option<ShapeName> {
    ["messages", "conversations"].iter().find_map(|key| {
        let found = shape::detect(&format!("{{\"{key}\":{list}}}"))?;
        // A list under `conversations` is read as such only when its shape says so.
        let speaks = *key == "messages" || found == ShapeName::Sharegpt;
        (speaks && (list.contains("\"role\"") || *key == "conversations")).then_some(found)
    })
}

fn id_column(schema: &Schema, messages: usize) -> Option<usize> {
    IDS.iter().find_map(|name| {
        let column = schema.fields().iter().position(|field| field.name().eq_ignore_ascii_case(name))?;
        let data_type = schema.field(column).data_type();
        (column != messages && (is_text(data_type) || data_type.is_integer())).then_some(column)
    })
}

/// What helps with a data set that is given as input.
const LIST_OF_TEXTS: &str = "its messages are lists of JSON texts, as data sets of condenser have them: give the inputs that they were \
     made of, or their rows as JSON lines (`to_json` of the package `datasets`)";

fn no_column(name: &str, schema: &Schema, options: &TableOptions) -> Error {
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let columns = columns.join(", ");
    let message = match &options.messages_column {
        Some(wanted) => format!(
            "the column `{wanted}` holds no conversations: it must be a list of structs with role and content (or from and \
             value), or JSON text; the columns are {columns}"
        ),
        None => format!(
            "no column holds conversations (a list of structs with role and content, or JSON text); name it with \
             --messages-column; the columns are {columns}"
        ),
    };
    let is_list_of_texts = |field: &FieldRef| {
        let DataType::List(item) = field.data_type() else { return false };
        is_text(item.data_type()) && MESSAGES.iter().any(|name| field.name().eq_ignore_ascii_case(name))
    };
    let error = Error::input(name, message);
    if schema.fields().iter().any(is_list_of_texts) { error.hinting(LIST_OF_TEXTS) } else { error }
}

/// True when a struct field of list type survives its way through JSON, whatever it holds.
pub(super) fn survives_json(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null | DataType::Boolean => true,
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) | DataType::LargeListView(item) => {
            survives_json(item.data_type())
        }
        DataType::Struct(fields) => fields.iter().all(|field| survives_json(field.data_type())),
        other => other.is_integer() || is_text(other),
    }
}

/// Fields of the messages whose lists cannot be written again from JSON.
pub(super) fn has_opaque_lists(data_type: &DataType) -> bool {
    let Some(DataType::Struct(fields)) = struct_item(data_type) else { return false };
    fields.iter().any(|field| field.data_type().is_list() && !survives_json(field.data_type()))
}
