//! Pairs of originals and what stands for them, out of a run, conversation by conversation. Knows the tables, not what
//! the pairs are for.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray, ListArray};
use arrow::datatypes::UInt64Type;
use arrow::record_batch::RecordBatch;
use serde_json::Value;

use super::Run;
use super::parquet_table::Wanted;
use super::run_reader::place_of;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{Commit, Table, TableReader};
use crate::shape;

/// How a text begins that only refers to another message.
const REFERENCE: &str = "[cce:";

/// The row of a source, and the originals of one conversation by the position of what stands for them.
type Originals = (u64, BTreeMap<u64, Vec<String>>);

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
            return Err(Error::new(ErrorKind::Usage, place_of(commit), message));
        }
        let mut verbatim = Verbatim::new(self.table(commit, Table::Verbatim, &Wanted::All)?, place_of(commit));
        let mut shown = Shown::open(self, commit)?;
        let mut next = verbatim.next()?;
        while let Some((row, texts)) = shown.next()? {
            while next.as_ref().is_some_and(|(of, _)| *of < row) {
                next = verbatim.next()?;
            }
            let Some((_, originals)) = next.take_if(|(of, _)| *of == row) else { continue };
            next = verbatim.next()?;
            for (position, originals) in originals {
                let (input, output) = (originals.join("\n"), texts.get(position as usize).map_or("", String::as_str));
                let says_something = !output.is_empty() && !output.starts_with(REFERENCE);
                if !input.is_empty() && says_something && input != output {
                    each(&input, output)?;
                }
            }
        }
        Ok(())
    }
}

/// The originals, in the order of the table.
struct Verbatim {
    reader: Box<dyn TableReader>,
    place: String,
    batch: Option<(RecordBatch, usize)>,
}

impl Verbatim {
    fn new(reader: Box<dyn TableReader>, place: String) -> Self {
        Self { reader, place, batch: None }
    }

    /// The originals of the next conversation that has some.
    fn next(&mut self) -> Result<Option<Originals>> {
        let mut found: Option<Originals> = None;
        loop {
            if self.batch.as_ref().is_none_or(|(batch, at)| *at == batch.num_rows()) {
                self.batch = self.reader.next_rows()?.map(|batch| (batch, 0));
            }
            let Some((batch, at)) = &mut self.batch else { return Ok(found) };
            let missing = || Error::new(ErrorKind::Verification, &*self.place, "the originals lack a column");
            let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i64>();
            let count = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
            let (Some(rows), Some(positions), Some(kinds), Some(messages)) =
                (count("source_row"), count("position"), text("kind"), text("message"))
            else {
                return Err(missing());
            };
            while *at < batch.num_rows() {
                let row = rows.value(*at);
                if found.as_ref().is_some_and(|(of, _)| *of != row) {
                    return Ok(found);
                }
                if kinds.value(*at) == "message" && positions.is_valid(*at) {
                    let (_, originals) = found.get_or_insert_with(|| (row, BTreeMap::new()));
                    let texts = originals.entry(positions.value(*at)).or_default();
                    texts.extend(Some(text_of(messages.value(*at))).filter(|text| !text.is_empty()));
                }
                *at += 1;
            }
        }
    }
}

/// What the run shows of each conversation.
struct Shown {
    conversations: Box<dyn TableReader>,
    /// Records do not say their rows in the source.
    metrics: Box<dyn TableReader>,
    rows: std::vec::IntoIter<u64>,
    place: String,
    ready: std::vec::IntoIter<(u64, Vec<String>)>,
}

impl Shown {
    fn open(run: &Run, commit: &Commit) -> Result<Self> {
        Ok(Self {
            conversations: run.table(commit, Table::Conversations, &Wanted::All)?,
            metrics: run.table(commit, Table::Metrics, &Wanted::All)?,
            rows: Vec::new().into_iter(),
            place: place_of(commit),
            ready: Vec::new().into_iter(),
        })
    }

    /// The row and the texts of the messages of the next conversation.
    fn next(&mut self) -> Result<Option<(u64, Vec<String>)>> {
        loop {
            if let Some(ready) = self.ready.next() {
                return Ok(Some(ready));
            }
            let Some(batch) = self.conversations.next_rows()? else { return Ok(None) };
            let mut ready = Vec::with_capacity(batch.num_rows());
            for at in 0..batch.num_rows() {
                ready.push((self.next_row()?, self.texts(&batch, at)?));
            }
            self.ready = ready.into_iter();
        }
    }

    /// The figures have a row for each conversation, in their order.
    fn next_row(&mut self) -> Result<u64> {
        let lacking = || Error::new(ErrorKind::Verification, &*self.place, "the figures lack conversations");
        loop {
            if let Some(row) = self.rows.next() {
                return Ok(row);
            }
            let batch = self.metrics.next_rows()?;
            let batch = batch.ok_or_else(lacking)?;
            let rows = batch.column_by_name("source_row").and_then(|rows| rows.as_primitive_opt::<UInt64Type>());
            self.rows = rows.ok_or_else(lacking)?.values().to_vec().into_iter();
        }
    }

    fn texts(&self, batch: &RecordBatch, at: usize) -> Result<Vec<String>> {
        let lacking = || Error::new(ErrorKind::Verification, &*self.place, "the conversations lack a column");
        if let Some(records) = batch.column_by_name("record").and_then(|records| records.as_string_opt::<i64>()) {
            let record = records.value(at);
            let shape = shape::detect(record);
            let decoded = shape.and_then(|shape| shape::decode(record, shape, "").ok());
            let messages = decoded.map(|decoded| decoded.conversation.messages).unwrap_or_default();
            return Ok(messages.iter().map(|message| message.texts().collect::<Vec<_>>().join("\n")).collect());
        }
        let list: &ListArray =
            batch.column_by_name("messages").and_then(|messages| messages.as_list_opt()).ok_or_else(lacking)?;
        let messages = list.value(at);
        let contents = messages.as_struct_opt().and_then(|messages| messages.column_by_name("content"));
        let contents = contents.and_then(|contents| contents.as_string_opt::<i64>()).ok_or_else(lacking)?;
        Ok(contents.iter().map(|content| content.map(content_text).unwrap_or_default()).collect())
    }
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
