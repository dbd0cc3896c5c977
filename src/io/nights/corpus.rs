//! The inputs of a night: logs from where they differ from what the store has, and what it has of conversations that come again.
//! Knows runs; refuses to know what is made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;

use super::looks_again::LooksAgain;
use super::read::commit_of;
use super::{Extent, Store, full_name};
use crate::error::{Error, Result};
use crate::io::parquet_table::WantedRows;
use crate::io::run_documents::place_of;
use crate::io::store::Place;
use crate::io::{Inputs, Run, StoredTexts, of_night};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    AgedRow, Borders, Commit, Corpus, EarlierNights, PlannedInput, RowAgain, Slice, Source, StoredRow,
};

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
    /// Those of the state before that one, when it is no beginning of it: a log that was cut may be whole again. Then also all of
    /// the latest state, whose conversations are none that were gone.
    before: Vec<Extent>,
    latest: Vec<Extent>,
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
            let (before, latest) = match store.state_before(&known.path).filter(|_| known.extends.is_none()) {
                Some((run, before)) => (store.extents(run, before)?, extents.clone()),
                None => (Vec::new(), Vec::new()),
            };
            extents.retain(|extent| {
                begin += extent.bytes;
                begin > kept
            });
            let source = input.name.clone();
            Ok(Again { source, extents, before, latest, is_last_only: is_torn, rows: Vec::new() })
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
        let again = self.again.get(inputs).unwrap_or_default();
        let mut conversations = self.conversations(again, |again| (&again.extents, again.is_last_only))?;
        let latest = self.conversations(again, |again| (&again.latest, false))?;
        let before = self.conversations(again, |again| (&again.before, false))?;
        conversations.extend(before.into_iter().filter(|(conversation, _)| !latest.contains_key(conversation)));
        self.looked_at_again(again, &mut conversations)?;
        if conversations.is_empty() {
            return Ok(None);
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

impl NightInputs {
    /// The conversations in these stretches of logs; `true` beside them asks for the last record of each alone.
    fn conversations(
        &self,
        again: &[Again],
        extents_of: impl Fn(&Again) -> (&[Extent], bool),
    ) -> Result<Conversations> {
        let mut by_part: BTreeMap<(&str, usize), Vec<(usize, &Again)>> = BTreeMap::new();
        for again in again {
            for extent in extents_of(again).0 {
                by_part.entry((&extent.run, extent.part)).or_default().push((extent.input, again));
            }
        }
        let mut found = Conversations::new();
        self.each_part(by_part, &mut |run, commit, came_again, wanted| {
            let rows = row_ranges(commit);
            let mut wanted: Vec<(&Range<u64>, &Again)> =
                wanted.into_iter().filter_map(|(input, again)| Some((rows.get(input)?, again))).collect();
            wanted.sort_by_key(|(rows, _)| rows.start);
            each_row(run, commit, &mut |id, row| {
                let at = wanted.partition_point(|(rows, _)| rows.end <= row);
                let is_in = |(rows, again): &&(&Range<u64>, &Again)| {
                    rows.contains(&row) && (!extents_of(again).1 || row + 1 == rows.end)
                };
                if let Some((_, again)) = wanted.get(at).filter(is_in) {
                    came_again.note(&mut found, (&again.source, id), row);
                }
            })
        })?;
        Ok(found)
    }

    /// Adds the conversations that are looked at again.
    fn looked_at_again(&self, again: &[Again], found: &mut Conversations) -> Result<()> {
        let mut by_part: BTreeMap<(&str, usize), Vec<(&AgedRow, &Again)>> = BTreeMap::new();
        for again in again {
            for row in &again.rows {
                by_part.entry((&row.row.run, row.row.part)).or_default().push((row, again));
            }
        }
        self.each_part(by_part, &mut |_, _, came_again, wanted| {
            for (aged, again) in wanted {
                came_again.note(found, (&again.source, &aged.id), aged.row.row);
            }
            Ok(())
        })
    }

    /// Calls `see` with each part of which something is wanted, with that and with what of the part came again.
    fn each_part<W>(
        &self,
        by_part: BTreeMap<(&str, usize), W>,
        see: &mut dyn FnMut(&Run, &Commit, &mut CameAgain<'_>, W) -> Result<()>,
    ) -> Result<()> {
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
            let commit = commit_of(run, part)?;
            let mut came_again = CameAgain { run: name, part, rows: run.again(commit, &WantedRows::All)? };
            see(run, commit, &mut came_again, wanted)?;
        }
        Ok(())
    }
}

/// By source and id the records of a conversation that hold text of it.
type Conversations = BTreeMap<(String, String), Vec<StoredRow>>;

/// What of a part goes on from earlier records.
struct CameAgain<'r> {
    run: &'r str,
    part: usize,
    rows: BTreeMap<u64, RowAgain>,
}

impl CameAgain<'_> {
    /// Notes the record of a conversation, and those by which it goes.
    fn note(&mut self, found: &mut Conversations, (source, id): (&str, &str), row: u64) {
        let rows = found.entry((source.to_owned(), id.to_owned())).or_default();
        let again = self.rows.remove(&row).filter(|again| !again.is_whole);
        rows.extend(again.into_iter().flat_map(|again| again.rows));
        rows.push(StoredRow { run: self.run.to_owned(), part: self.part, row });
    }
}

/// Of each input of a part the running numbers of its records.
pub(super) fn row_ranges(commit: &Commit) -> Vec<Range<u64>> {
    if commit.packed.is_empty() {
        return std::iter::once(0..u64::MAX).collect();
    }
    let mut end = 0;
    let of = |input: usize| {
        let totals = commit.input_at(input).totals;
        let first = end;
        end += totals.conversations + totals.rejects;
        first..end
    };
    (0..commit.packed.len()).map(of).collect()
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
