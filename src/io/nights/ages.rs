//! Conversations of a store that were not at rest: which those are, and which are of another age by now. Refuses to know what is done
//! about it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;

use super::corpus::row_ranges;
use super::{OPEN, Store, full_name, number_of};
use crate::error::{Error, Result};
use crate::io::parquet_table::WantedRows;
use crate::io::run_documents::place_of;
use crate::io::store::Place;
use crate::io::{Input, Run};
use crate::model::Age;
use crate::pipeline::{
    AgedRow, Ages, Borders, Commit, HeldIn, OpenConversations, OpenLog, PlannedInput, RunPlan, StoredRow, open_sealed,
};

/// The columns that say of what age a conversation is.
const AGED: [&str; 5] = ["conversation_id", "source", "source_row", "age", "last_at"];

impl Store {
    /// The conversations that were not at rest after the last night.
    fn still_open(&self) -> Result<Vec<OpenLog>> {
        self.nights.last().map_or(Ok(Vec::new()), |night| self.open_of(&night.run))
    }

    /// The same after the night with this run.
    ///
    /// # Errors
    /// `Verification` when the document is not the one that the night says.
    pub fn open_of(&self, run: &str) -> Result<Vec<OpenLog>> {
        let document = self.open_document(run);
        let night = self.nights.iter().find(|night| night.run == run);
        let promised = night.and_then(|night| night.open_blake3.as_deref());
        let bytes = document.read_all()?;
        // Nights of before say nothing of it.
        if promised.is_some() && bytes.as_ref().map(|bytes| blake3::hash(bytes).to_hex()).as_deref() != promised {
            let message = "the conversations that were not at rest are missing, or are not those that the night says";
            return Err(Error::verification(document.to_string(), message).hinting("`condenser merge` makes it anew"));
        }
        let Some(bytes) = bytes else { return Ok(Vec::new()) };
        let open: OpenConversations = open_sealed(&bytes, &document.to_string())?;
        if open.run != run {
            return Err(Error::verification(document.to_string(), "this is of another night"));
        }
        Ok(open.logs)
    }

    pub(super) fn open_document(&self, run: &str) -> Place {
        let number = number_of(run).unwrap_or_default();
        self.root.join(&format!("{OPEN}/{number:05}.json.zst"))
    }

    /// Of the conversations that were not at rest those that are of another age by now, by their logs; those of logs that are among
    /// `taken` only as far as these are not read again.
    ///
    /// # Errors
    /// `Verification` when the nights do not agree.
    pub fn aged(&self, ages: &Ages, taken: &[Input]) -> Result<Vec<Input>> {
        let mut kept: HashMap<String, Option<u64>> = HashMap::new();
        for input in taken {
            let Some(file) = &input.file else { continue };
            kept.insert(full_name(file)?, input.keeps.as_ref().map(|kept| kept.bytes));
        }
        let (latest, mut found) = (self.latest(), Vec::new());
        for log in self.still_open()? {
            // What is in no state of the log any more stays as it is.
            let Some(&(run, state)) = latest.get(&*log.path) else { continue };
            let n_kept = match kept.get(&log.path) {
                None => u64::MAX,
                Some(kept) => kept.unwrap_or(0),
            };
            let (mut end, mut stands) = (0, BTreeSet::new());
            for extent in self.extents(run, state)? {
                end += extent.bytes;
                if end <= n_kept {
                    stands.insert(HeldIn { run: extent.run, part: extent.part, input: extent.input });
                }
            }
            let is_due = |row: &&AgedRow| ages.of(row.last_at) != row.age && stands.contains(&row.held);
            let looks_again: Vec<AgedRow> = log.rows.iter().filter(is_due).cloned().collect();
            if !looks_again.is_empty() {
                found.push(Input { looks_again, ..Input::new(&*log.source, None) });
            }
        }
        Ok(found)
    }

    /// The conversations that are not at rest after the night of `run`: those of earlier nights that it does not go on from, and its own.
    pub(super) fn open_after(
        &self,
        run: &Run,
        plan: &RunPlan,
        path_of: &dyn Fn(&str) -> Result<String>,
    ) -> Result<Vec<OpenLog>> {
        let mut gone: BTreeSet<StoredRow> = BTreeSet::new();
        for commit in &run.commits {
            gone.extend(run.again(commit, &WantedRows::All)?.into_values().flat_map(|again| again.rows));
        }
        let mut own: BTreeMap<String, OpenLog> =
            self.open_in(run, plan, path_of)?.into_iter().map(|log| (log.path.clone(), log)).collect();
        for mut log in self.still_open()? {
            let mut rows = std::mem::take(&mut log.rows);
            rows.retain(|row| !gone.contains(&row.row));
            own.entry(log.path.clone()).or_insert(log).rows.extend(rows);
        }
        Ok(own.into_values().filter(|log| !log.rows.is_empty()).collect())
    }

    /// The conversations of a run that are not at rest.
    #[expect(clippy::unused_self, reason = "beside `open_after`")]
    pub(super) fn open_in(
        &self,
        run: &Run,
        plan: &RunPlan,
        path_of: &dyn Fn(&str) -> Result<String>,
    ) -> Result<Vec<OpenLog>> {
        let mut own: BTreeMap<String, OpenLog> = BTreeMap::new();
        for commit in &run.commits {
            if plan.options.ages.is_none() {
                continue;
            }
            each_open(run, plan, commit, &mut |source, row| {
                let path = path_of(source)?;
                let new = || OpenLog { path: path.clone(), source: source.to_owned(), rows: Vec::new() };
                own.entry(path.clone()).or_insert_with(new).rows.push(row);
                Ok(())
            })?;
        }
        Ok(own.into_values().collect())
    }
}

/// The records of an input that are looked at again, in the order in which they come.
fn in_order(input: &PlannedInput) -> Vec<&AgedRow> {
    let mut rows: Vec<&AgedRow> = input.looks_again.iter().collect();
    rows.sort_by_key(|row| &row.row);
    rows
}

/// Calls `see` with the source of each conversation of a part that is not at rest, and with its record.
fn each_open(
    run: &Run,
    plan: &RunPlan,
    commit: &Commit,
    see: &mut dyn FnMut(&str, AgedRow) -> Result<()>,
) -> Result<()> {
    let lacking = || Error::verification(place_of(commit), "the figures lack a column");
    let name = run.place().location().file_name();
    // What is looked at again stands where it stood before.
    let looked_at: Vec<Vec<&AgedRow>> =
        plan.inputs_of(commit.part).iter().filter(|planned| commit.holds(&planned.source)).map(in_order).collect();
    // Rows come in the order of the inputs.
    let (ranges, mut input) = (row_ranges(commit), 0);
    let mut table = Borders::of(commit).numbered(run.metrics_columns(commit, &AGED)?);
    while let Some(batch) = table.next_rows()? {
        let text = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i64>());
        let count = |name: &str| batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<UInt64Type>());
        let ages = text("age").ok_or_else(lacking)?;
        let (ids, sources) = (text("conversation_id").ok_or_else(lacking)?, text("source").ok_or_else(lacking)?);
        let (rows, last) = (count("source_row").ok_or_else(lacking)?, count("last_at").ok_or_else(lacking)?);
        for at in 0..batch.num_rows() {
            while rows.value(at) >= ranges[input].end && input + 1 < ranges.len() {
                input += 1;
            }
            let age = match ages.value(at) {
                "young" => Age::Young,
                "open" => Age::Open,
                _ => continue,
            };
            let row = StoredRow { run: name.clone(), part: commit.part, row: rows.value(at) };
            let again = looked_at.get(input).filter(|again| !again.is_empty());
            let again = again.and_then(|again| again.get(usize::try_from(rows.value(at) - ranges[input].start).ok()?));
            let own = || HeldIn { run: name.clone(), part: commit.part, input };
            let held = again.map_or_else(own, |again| again.held.clone());
            see(sources.value(at), AgedRow { row, held, id: ids.value(at).to_owned(), last_at: last.value(at), age })?;
        }
    }
    Ok(())
}
