//! Everything that a run knows about one conversation: as it was, as it is shown, what stands for what, what was decided
//! and measured. Knows the tables; refuses to know how the two sides are put together.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use arrow::record_batch::RecordBatch;
use serde_json::{Map, Value};

use super::Run;
use super::run_find::{Behind, guarded, json_lines, wanted, wanted_rows};
use super::run_reader::place_of;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Commit, RestoredSlice, Table};

/// A conversation of a run.
#[derive(Debug, Clone)]
pub struct Sides {
    /// Its row in the source.
    pub source_row: u64,
    /// As it was: its record, or its row as one.
    pub original: String,
    /// As it is shown.
    pub shown: Shown,
    /// What is not shown any more.
    pub behind: Behind,
    /// What was decided about each message, as far as the run says.
    pub decisions: Vec<DecisionRow>,
    /// Its row of the metrics table by names of columns, without nulls.
    pub metrics: Map<String, Value>,
}

/// A conversation as the run shows it.
#[derive(Debug, Clone)]
pub enum Shown {
    /// A record of its own shape, or its row as one.
    Record(String),
    /// Columns.
    Columns(Vec<ShownMessage>),
}

/// A message of columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownMessage {
    /// The role as the record writes it.
    pub role: String,
    /// The text, or the JSON text of a content list.
    pub content: String,
}

/// A row of the decisions table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// Index of the message in the original.
    pub index: u64,
    /// What was done.
    pub action: String,
    /// The rule that decided.
    pub reason: String,
    /// Further reasons.
    pub details: Vec<String>,
    /// Characters before.
    pub chars_in: u64,
    /// Its share of the characters after.
    pub chars_out: u64,
}

impl Run {
    /// The conversations of a part with this id, in the order of the source.
    ///
    /// # Errors
    /// When a table cannot be read, or they do not fit together.
    pub fn find_sides(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Vec<Sides>> {
        let behind = self.find_behind(commit, id)?;
        if behind.is_empty() {
            return Ok(Vec::new());
        }
        let originals = self.find_originals(commit, id, bridge)?;
        let shown = guarded(commit, || self.find_shown(commit, id))?;
        let mut metrics = guarded(commit, || self.find_metrics(commit, id))?;
        let mut decisions = self.find_decisions(commit, id)?;
        if originals.len() != behind.len() || shown.len() != behind.len() {
            let message = format!("the tables do not agree on how many conversations are called {id}");
            return Err(Error::new(ErrorKind::Verification, place_of(commit), message));
        }
        let found =
            behind.into_iter().zip(originals).zip(shown).map(|(((source_row, behind), original), shown)| Sides {
                source_row,
                original,
                shown,
                behind,
                decisions: decisions.remove(&source_row).unwrap_or_default(),
                metrics: metrics.remove(&source_row).unwrap_or_default(),
            });
        Ok(found.collect())
    }

    /// What was decided about the messages of the conversations with this id, by rows of the source; nothing when the
    /// run has no table of decisions.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn find_decisions(&self, commit: &Commit, id: &str) -> Result<BTreeMap<u64, Vec<DecisionRow>>> {
        let mut found: BTreeMap<u64, Vec<DecisionRow>> = BTreeMap::new();
        if !commit.files.iter().any(|file| file.table == Table::Decisions.as_str()) {
            return Ok(found);
        }
        guarded(commit, || {
            let wanted = wanted(id);
            let mut table = self.table(commit, Table::Decisions, &wanted)?;
            while let Some(rows) = table.next_rows()? {
                let columns = DecisionColumns::of(&rows).ok_or_else(|| lacking(commit))?;
                for row in wanted_rows(commit, &rows, &wanted)? {
                    let (source_row, decision) = columns.row(row);
                    found.entry(source_row).or_default().push(decision);
                }
            }
            Ok(found)
        })
    }

    /// The originals, each alone.
    fn find_originals(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Vec<String>> {
        let Some(restorer) = self.find(commit, id, bridge)? else { return Ok(Vec::new()) };
        let mut restorer = restorer.one_by_one();
        let mut originals = Vec::new();
        while let Some(restored) = restorer.next_slice()? {
            match (restored.slice, &commit.table) {
                (RestoredSlice::Rows { rows, .. }, Some(table)) => {
                    originals.extend(table.records(&rows)?.into_iter().map(Option::unwrap_or_default));
                }
                (RestoredSlice::Bytes(bytes), _) => {
                    originals.push(String::from_utf8_lossy(&bytes).trim_matches(['\n', '\r']).to_owned());
                }
                (RestoredSlice::Rows { .. }, None) => return Err(lacking(commit)),
            }
        }
        Ok(originals)
    }

    fn find_shown(&self, commit: &Commit, id: &str) -> Result<Vec<Shown>> {
        let Some(mut found) = self.wanted_conversations(commit, &wanted(id))? else { return Ok(Vec::new()) };
        let mut shown = Vec::new();
        while let Some(batch) = found.reader.next_rows()? {
            if let Some(table) = &commit.table {
                let records = table.records(&batch)?.into_iter();
                shown.extend(records.map(|record| Shown::Record(record.unwrap_or_default())));
            } else if let Some(records) = batch.column_by_name("record") {
                shown.extend(records.as_string::<i64>().iter().flatten().map(|text| Shown::Record(text.to_owned())));
            } else {
                for row in 0..batch.num_rows() {
                    shown.push(Shown::Columns(columns(&batch, row).ok_or_else(|| lacking(commit))?));
                }
            }
        }
        Ok(shown)
    }

    fn find_metrics(&self, commit: &Commit, id: &str) -> Result<BTreeMap<u64, Map<String, Value>>> {
        let wanted = wanted(id);
        let mut found = BTreeMap::new();
        let mut table = self.table(commit, Table::Metrics, &wanted)?;
        while let Some(rows) = table.next_rows()? {
            for row in wanted_rows(commit, &rows, &wanted)? {
                let lines = json_lines(commit, &rows.slice(row, 1))?;
                let object = lines.first().and_then(|line| serde_json::from_str::<Map<String, Value>>(line).ok());
                let object = object.ok_or_else(|| lacking(commit))?;
                let source_row = object.get("source_row").and_then(Value::as_u64).ok_or_else(|| lacking(commit))?;
                found.insert(source_row, object);
            }
        }
        Ok(found)
    }
}

fn lacking(commit: &Commit) -> Error {
    Error::new(ErrorKind::Verification, place_of(commit), "a table lacks a column")
}

/// The messages of a row of columns.
fn columns(batch: &RecordBatch, row: usize) -> Option<Vec<ShownMessage>> {
    let messages = batch.column_by_name("messages")?.as_list_opt::<i32>()?.value(row);
    let messages = messages.as_struct_opt()?;
    let text = |name: &str| messages.column_by_name(name)?.as_string_opt::<i64>();
    let (roles, contents) = (text("role")?, text("content")?);
    let shown = roles.iter().zip(contents.iter()).map(|(role, content)| ShownMessage {
        role: role.unwrap_or_default().to_owned(),
        content: content.unwrap_or_default().to_owned(),
    });
    Some(shown.collect())
}

/// The columns of the decisions table.
struct DecisionColumns<'a> {
    counts: [&'a arrow::array::UInt64Array; 4],
    texts: [&'a arrow::array::LargeStringArray; 2],
    details: &'a arrow::array::ListArray,
}

impl<'a> DecisionColumns<'a> {
    fn of(rows: &'a RecordBatch) -> Option<Self> {
        let count = |name: &str| rows.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
        let text = |name: &str| rows.column_by_name(name)?.as_string_opt::<i64>();
        Some(Self {
            counts: [count("source_row")?, count("message_index")?, count("chars_in")?, count("chars_out")?],
            texts: [text("action")?, text("reason")?],
            details: rows.column_by_name("details")?.as_list_opt()?,
        })
    }

    fn row(&self, row: usize) -> (u64, DecisionRow) {
        let [source_row, index, chars_in, chars_out] = self.counts.map(|counts| counts.value(row));
        let [action, reason] = self.texts.map(|texts| texts.value(row).to_owned());
        let details = self.details.value(row);
        let details = details.as_string_opt::<i32>().map(|texts| texts.iter().flatten().map(str::to_owned).collect());
        let details = details.unwrap_or_default();
        (source_row, DecisionRow { index, action, reason, details, chars_in, chars_out })
    }
}
