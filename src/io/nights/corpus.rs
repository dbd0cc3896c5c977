//! The inputs of a night: logs from where they differ from what the store has, and what it has of conversations that come again.
//! Knows runs; refuses to know what is made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;

use super::looks_again::LooksAgain;
use super::{Extent, Store, full_name};
use crate::error::{Error, Result};
use crate::io::run_documents::place_of;
use crate::io::store::Place;
use crate::io::{Inputs, Run, StoredTexts, of_night};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{AgedRow, Borders, Commit, Corpus, EarlierNights, PlannedInput, Slice, Source, StoredRow};

/// The columns that say whose a row is.
const WHOSE: [&str; 3] = ["conversation_id", "source", "source_row"];

/// Inputs of a night.
#[derive(Debug)]
pub struct NightInputs {
    inputs: Inputs,
    runs: Place,
    /// What comes again of each input.
    again: Vec<Again>,
}

/// What the store has of an input that is read once more.
#[derive(Debug, Clone, Default)]
struct Again {
    source: String,
    extents: Vec<Extent>,
    /// Only the last record.
    is_last_only: bool,
    /// Instead of extents: the records.
    rows: Vec<AgedRow>,
}

impl NightInputs {
    /// These inputs of a night of `store`.
    ///
    /// # Errors
    /// `Verification` when the nights do not agree.
    pub fn new(inputs: Inputs, store: &Store) -> Result<Self> {
        let latest = store.latest();
        let again = inputs.list().iter().map(|input| {
            if !input.looks_again.is_empty() {
                return Ok(Again { source: input.name.clone(), rows: input.looks_again.clone(), ..Again::default() });
            }
            let known = input.file.as_ref().map(full_name).transpose()?;
            let known = known.and_then(|name| latest.get(name.as_str()).copied()).filter(|(_, known)| !known.is_table);
            let Some((run, known)) = known else { return Ok(Again::default()) };
            let kept = input.keeps.as_ref().map_or(0, |kept| kept.bytes);
            let is_torn = input.keeps.as_ref().is_some_and(|kept| kept.cut_blake3.is_some());
            let mut begin = 0;
            let mut extents = store.extents(run, known)?;
            extents.retain(|extent| {
                begin += extent.bytes;
                begin > kept
            });
            Ok(Again { source: input.name.clone(), extents, is_last_only: is_torn, rows: Vec::new() })
        });
        let (again, runs) = (again.collect::<Result<_>>()?, store.run_path(""));
        Ok(Self { inputs, runs, again })
    }
}

impl Corpus for NightInputs {
    fn open(&self, index: usize, input: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        if input.looks_again.is_empty() {
            return self.inputs.open(index, input, slice);
        }
        let batch_bytes = self.inputs.batches().batch_bytes;
        Ok(Box::new(LooksAgain::new(&input.source, &input.looks_again, self.runs.clone(), batch_bytes)?))
    }

    fn earlier(&self, inputs: Range<usize>) -> Result<Option<Arc<dyn EarlierNights>>> {
        let mut by_part: BTreeMap<(&str, usize), Vec<(usize, &Again)>> = BTreeMap::new();
        let mut single: BTreeMap<(&str, usize, u64), (&AgedRow, &Again)> = BTreeMap::new();
        for again in self.again.get(inputs).unwrap_or_default() {
            for row in &again.rows {
                by_part.entry((&row.row.run, row.row.part)).or_default();
                single.insert((&row.row.run, row.row.part, row.row.row), (row, again));
            }
            for extent in &again.extents {
                by_part.entry((&extent.run, extent.part)).or_default().push((extent.input, again));
            }
        }
        if by_part.is_empty() {
            return Ok(None);
        }
        let mut conversations: BTreeMap<(String, String), Vec<StoredRow>> = BTreeMap::new();
        let mut open: Option<(&str, Run)> = None;
        for ((name, part), wanted) in by_part {
            let run = match &mut open {
                Some((is, run)) if *is == name => run,
                open => {
                    let place = self.runs.join(name);
                    let run = Run::open(place.clone()).map_err(|error| of_night(&place, error))?;
                    &mut open.insert((name, run)).1
                }
            };
            let lacking = || Error::verification(run.place().to_string(), format!("the run has no part {part}"));
            let commit = run.commits.iter().find(|commit| commit.part == part).ok_or_else(lacking)?;
            let mut came_again = run.again(commit, &crate::io::parquet_table::WantedRows::All)?;
            let mut see = |again: &Again, id: &str, row: u64| {
                let rows = conversations.entry((again.source.clone(), id.to_owned())).or_default();
                rows.extend(
                    came_again.remove(&row).filter(|again| !again.is_whole).into_iter().flat_map(|again| again.rows),
                );
                rows.push(StoredRow { run: name.to_owned(), part, row });
            };
            for (aged, again) in single.range((name, part, 0)..=(name, part, u64::MAX)).map(|(_, found)| found) {
                see(again, &aged.id, aged.row.row);
            }
            if wanted.is_empty() {
                continue;
            }
            each_row(run, commit, &mut |id, row| {
                let is_in = |(input, again): &&(usize, &Again)| {
                    let rows = rows_of(commit, *input);
                    rows.contains(&row) && (!again.is_last_only || row + 1 == rows.end)
                };
                let Some((_, again)) = wanted.iter().find(is_in) else { return };
                see(again, id, row);
            })?;
        }
        // Records of one id may rest on the same ones.
        for rows in conversations.values_mut() {
            let mut seen = BTreeSet::new();
            rows.retain(|row| seen.insert(row.clone()));
        }
        let rows = conversations.values().flatten().cloned().collect();
        let texts = StoredTexts::gather(&self.runs, &rows, None, &Bridge::new(0)?)?;
        Ok(Some(Arc::new(texts.of(conversations))))
    }
}

/// The running numbers of the records of an input of a part.
pub(super) fn rows_of(commit: &Commit, input: usize) -> Range<u64> {
    let n_rows = |input: usize| {
        let totals = commit.input_at(input).totals;
        totals.conversations + totals.rejects
    };
    if commit.packed.is_empty() {
        return 0..u64::MAX;
    }
    let first = (0..input).map(n_rows).sum();
    first..first + n_rows(input)
}

/// Calls `see` with the id and the running number of each conversation of a part.
pub(super) fn each_row(run: &Run, commit: &Commit, see: &mut dyn FnMut(&str, u64)) -> Result<()> {
    let mut table = Borders::of(commit).numbered(run.metrics_columns(commit, &WHOSE)?);
    while let Some(batch) = table.next_rows()? {
        let ids = batch.column_by_name("conversation_id").and_then(|column| column.as_string_opt::<i64>());
        let rows = batch.column_by_name("source_row").and_then(|column| column.as_primitive_opt::<UInt64Type>());
        let (Some(ids), Some(rows)) = (ids, rows) else {
            return Err(Error::verification(place_of(commit), "the figures lack a column"));
        };
        for (at, row) in rows.values().iter().enumerate() {
            see(ids.value(at), *row);
        }
    }
    Ok(())
}
