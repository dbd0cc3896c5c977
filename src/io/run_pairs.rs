//! Pairs of originals and what stands for them, out of a run, conversation by conversation. Knows the tables, not what
//! the pairs are for.

use std::collections::BTreeMap;

use arrow::array::{AsArray, ListArray};
use arrow::datatypes::UInt64Type;
use arrow::record_batch::RecordBatch;
use serde_json::Value;

use super::Run;
use super::parquet_table::WantedRows;
use super::run_documents::place_of;
use crate::error::{Error, Result};
use crate::pipeline::{Borders, Commit, TableName, VerbatimCursor};
use crate::shape;

/// How a text begins that only refers to another message.
const REFERENCE: &str = "[cce:";

impl Run {
    /// Calls `each` with the originals behind a message, joined by line feeds, and with its text. Pairs of which one side
    /// is empty, texts that stand for themselves, and references to other messages are left out.
    ///
    /// # Errors
    /// `Usage` for the rows of a table that was read; those of `each`; when a table cannot be read.
    pub fn pairs(&self, commit: &Commit, each: &mut dyn FnMut(&str, &str) -> Result<()>) -> Result<()> {
        self.check_originals()?;
        if commit.table.is_some() {
            let message = "pairs of conversations that came as the rows of a table cannot be written yet";
            return Err(Error::usage(place_of(commit), message));
        }
        let lacking = |what: &str| Error::verification(place_of(commit), format!("the {what}"));
        let borders = Borders::of(commit);
        let verbatim = VerbatimCursor::new(self.table(commit, TableName::Verbatim, &WantedRows::All)?);
        let mut verbatim = verbatim.across(&borders);
        let mut conversations = self.table(commit, TableName::Conversations, &WantedRows::All)?;
        // The figures have a row for each conversation, in their order; records do not say their rows in the source.
        let mut metrics = borders.numbered(self.table(commit, TableName::Metrics, &WantedRows::All)?);
        let mut rows = Vec::new().into_iter();
        while let Some(batch) = conversations.next_rows()? {
            for at in 0..batch.num_rows() {
                let row = loop {
                    if let Some(row) = rows.next() {
                        break row;
                    }
                    let figures = metrics.next_rows()?.ok_or_else(|| lacking("figures lack conversations"))?;
                    let column =
                        figures.column_by_name("source_row").and_then(|rows| rows.as_primitive_opt::<UInt64Type>());
                    rows = column.ok_or_else(|| lacking("figures lack a column"))?.values().to_vec().into_iter();
                };
                let texts = texts(&batch, at).ok_or_else(|| lacking("conversations lack a column"))?;
                let entries = verbatim.take(row)?;
                let found = entries.read().map_err(|message| Error::verification(place_of(commit), message))?;
                let mut originals: BTreeMap<usize, Vec<String>> = BTreeMap::new();
                let wholes =
                    found.wholes(&batch, at).map_err(|message| Error::verification(place_of(commit), message))?;
                for (original, message) in found.originals.iter().zip(wholes) {
                    let text = Some(text_of(&message)).filter(|text| !text.is_empty());
                    originals.entry(original.position).or_default().extend(text);
                }
                for (position, originals) in originals {
                    let (input, output) = (originals.join("\n"), texts.get(position).map_or("", String::as_str));
                    let says_something = !output.is_empty() && !output.starts_with(REFERENCE);
                    if !input.is_empty() && says_something && input != output {
                        each(&input, output)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The texts of the messages of a conversation as the run shows it.
fn texts(batch: &RecordBatch, at: usize) -> Option<Vec<String>> {
    if let Some(records) = batch.column_by_name("record").and_then(|records| records.as_string_opt::<i64>()) {
        let record = records.value(at);
        let shape = shape::detect(record);
        let decoded = shape.and_then(|shape| shape::decode(record, shape, "").ok());
        let messages = decoded.map(|decoded| decoded.conversation.messages).unwrap_or_default();
        return Some(messages.iter().map(|message| message.texts().collect::<Vec<_>>().join("\n")).collect());
    }
    let list: &ListArray = batch.column_by_name("messages")?.as_list_opt()?;
    let messages = list.value(at);
    let contents = messages.as_struct_opt()?.column_by_name("content")?.as_string_opt::<i64>()?;
    Some(contents.iter().map(|content| content.map(content_text).unwrap_or_default()).collect())
}

/// The text of a message as JSON, whatever its shape calls it.
fn text_of(message: &str) -> String {
    let Ok(message) = serde_json::from_str::<Value>(message) else { return String::new() };
    let keys = ["content", "value", "text", "parts"];
    keys.into_iter().find_map(|key| message.get(key)).map(said).unwrap_or_default()
}

/// The text of a content, or of the list of parts that it holds as JSON.
fn content_text(content: &str) -> String {
    match serde_json::from_str::<Value>(content) {
        Ok(parts @ Value::Array(_)) if content.starts_with("[{") => said(&parts),
        _ => content.to_owned(),
    }
}

fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
