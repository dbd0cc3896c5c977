//! Where in a store a conversation stands: in the runs of the nights that took it in, without the records that later nights go on
//! from. Refuses to know what is shown of it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::corpus::row_ranges;
use super::read::commit_of;
use super::{Extent, Store};
use crate::error::{Error, ErrorKind, Result};
use crate::io::Run;
use crate::io::blob_files::run_of_blobs;
use crate::io::store::Place;
use crate::pipeline::{HeldPart, StoredRow};

/// What holds conversations: a run, or a store of nights.
#[derive(Debug)]
pub enum RunOrStore {
    /// A run.
    Run(Box<Run>),
    /// A store.
    Store(Store),
}

impl RunOrStore {
    /// Opens what is at `place`.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open(place: &Place) -> Result<Self> {
        match Run::open(place.clone()) {
            Ok(run) => Ok(Self::Run(Box::new(run))),
            Err(error) if error.kind == ErrorKind::Usage && !place.location().is_web() => {
                Store::find(place)?.map(Self::Store).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The runs in which conversations with this id stand, in their order; of the records of a store the last of each.
    pub fn runs_with(self, id: &str) -> Result<Vec<Run>> {
        match self {
            Self::Run(run) => Ok(vec![*run]),
            Self::Store(store) => store.runs_with(id),
        }
    }
}

impl Store {
    /// See [`RunOrStore::runs_with`].
    fn runs_with(&self, id: &str) -> Result<Vec<Run>> {
        if self.nights.is_empty() {
            return Err(Error::usage(self.root.to_string(), "the store holds no night yet"));
        }
        let (entries, unknown) = self.indexed(id);
        let mut by_night: BTreeMap<usize, Vec<(StoredRow, Vec<StoredRow>)>> = BTreeMap::new();
        let night_of = |run: &str| self.nights.iter().position(|night| night.run == run).unwrap_or_default();
        for entry in entries {
            let (row, earlier) = (entry.row.clone(), entry.earlier());
            by_night.entry(night_of(&row.run)).or_default().push((row, earlier));
        }
        for night in unknown {
            let run = self.open_run(&night.run)?;
            for commit in &run.commits {
                for (row, earlier) in run.rows_with(commit, id)? {
                    let row = StoredRow { run: night.run.clone(), part: commit.part, row };
                    by_night.entry(night_of(&night.run)).or_default().push((row, earlier));
                }
            }
        }
        // Of records that go on from each other the last one counts. A text of its own is no record.
        let (mut rows, mut all, mut claimed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut beside = Vec::new();
        for mut found in by_night.into_values().rev() {
            for (_, earlier) in &mut found {
                earlier.retain(|row| run_of_blobs(&row.run).is_none());
            }
            for (row, earlier) in &found {
                all.insert(row.clone());
                if claimed.contains(row) {
                    continue;
                }
                if earlier.iter().any(|earlier| claimed.contains(earlier)) {
                    beside.push(row.clone());
                } else {
                    rows.insert(row.clone());
                }
            }
            claimed.extend(found.into_iter().flat_map(|(_, earlier)| earlier));
        }
        let mut open = BTreeMap::new();
        for row in &rows {
            self.opened(&row.run, &mut open)?;
        }
        // Of those that go on from the same one too, unless a log has them beside each other: what was looked at again is in none.
        for row in beside {
            if self.path_of(&row, self.opened(&row.run, &mut open)?)?.is_some() {
                rows.insert(row);
            }
        }
        let stays = self.of_last_states(&rows, &all, &mut open)?;
        let mut runs: Vec<(usize, Run)> = Vec::with_capacity(open.len());
        for (name, mut run) in open {
            if !stays.iter().any(|row| row.run == name) {
                continue;
            }
            for row in all.iter().filter(|row| row.run == name && !stays.contains(row)) {
                run.superseded.entry(row.part).or_default().insert(row.row);
            }
            runs.push((night_of(&name), run));
        }
        runs.sort_by_key(|&(night, _)| night);
        Ok(runs.into_iter().map(|(_, run)| run).collect())
    }

    /// Of `rows` those that stand in the last state of their log in which any of `all` stands: a log that was written anew may have a
    /// conversation once more, and a run that took the place of nights has several states. `open` has the runs of `rows`.
    fn of_last_states(
        &self,
        rows: &BTreeSet<StoredRow>,
        all: &BTreeSet<StoredRow>,
        open: &mut BTreeMap<String, Run>,
    ) -> Result<BTreeSet<StoredRow>> {
        if rows.len() < 2 {
            return Ok(rows.clone());
        }
        let mut by_path: BTreeMap<&str, Vec<&StoredRow>> = BTreeMap::new();
        let mut stays = BTreeSet::new();
        for row in rows {
            match self.path_of(row, &open[&row.run])? {
                Some(path) => by_path.entry(path).or_default().push(row),
                // It was looked at again, without its log.
                None => _ = stays.insert(row.clone()),
            }
        }
        for (path, rows) in by_path {
            for &(night, log) in self.states[path].iter().rev() {
                let night = &self.nights[night];
                let inside = self.inside(&self.extents(&night.run, &night.logs[log])?, all, open)?;
                if !inside.is_empty() {
                    stays.extend(rows.into_iter().filter(|row| inside.contains(row)).cloned());
                    break;
                }
            }
        }
        Ok(stays)
    }

    /// The rows that stand in these stretches of a log.
    fn inside<'r>(
        &self,
        extents: &[Extent],
        rows: &'r BTreeSet<StoredRow>,
        open: &mut BTreeMap<String, Run>,
    ) -> Result<BTreeSet<&'r StoredRow>> {
        let mut inputs: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
        for extent in extents {
            inputs.entry((&extent.run, extent.part)).or_default().push(extent.input);
        }
        let mut inside = BTreeSet::new();
        for row in rows {
            let Some(inputs) = inputs.get(&(&*row.run, row.part)) else { continue };
            let ranges = row_ranges(commit_of(self.opened(&row.run, open)?, row.part)?);
            if inputs.iter().any(|&input| ranges.get(input).is_some_and(|range| range.contains(&row.row))) {
                inside.insert(row);
            }
        }
        Ok(inside)
    }

    /// The log of a row of this run of a night; none of a row that was looked at again.
    fn path_of(&self, row: &StoredRow, run: &Run) -> Result<Option<&str>> {
        let ranges = row_ranges(commit_of(run, row.part)?);
        let is_it = |held: &HeldPart| {
            held.part == row.part && ranges.get(held.input).is_some_and(|range| range.contains(&row.row))
        };
        let mut logs = self.nights.iter().filter(|night| night.run == row.run).flat_map(|night| &night.logs);
        Ok(logs.find(|log| log.parts.iter().any(is_it)).map(|log| &*log.path))
    }

    fn opened<'o>(&self, name: &str, open: &'o mut BTreeMap<String, Run>) -> Result<&'o Run> {
        match open.entry(name.to_owned()) {
            Entry::Occupied(run) => Ok(run.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(self.open_run(name)?)),
        }
    }
}
