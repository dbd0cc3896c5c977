//! Where in a store a conversation stands: in the runs of the nights that took it in, without the records that later nights go on
//! from. Refuses to know what is shown of it.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use super::corpus::rows_of;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Run;
use crate::io::store::Place;
use crate::pipeline::{LogState, Night, StoredRow};

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
        // Of records that go on from the same one, or from each other, those of the last night count.
        let (mut rows, mut all, mut claimed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for found in by_night.into_values().rev() {
            for (row, earlier) in &found {
                all.insert(row.clone());
                if !claimed.contains(row) && !earlier.iter().any(|earlier| claimed.contains(earlier)) {
                    rows.insert(row.clone());
                }
            }
            claimed.extend(found.into_iter().flat_map(|(_, earlier)| earlier));
        }
        let names: BTreeSet<&str> = rows.iter().map(|row| row.run.as_str()).collect();
        let nights = self.nights.iter().filter(|night| names.contains(&*night.run));
        let open = |night: &Night| {
            let mut run = self.open_run(&night.run)?;
            let here = |rows: &BTreeSet<StoredRow>| -> Vec<StoredRow> {
                rows.iter().filter(|row| row.run == night.run).cloned().collect()
            };
            let stays = of_last_states(night, &run, here(&rows));
            for row in here(&all).into_iter().filter(|row| !stays.contains(row)) {
                run.superseded.entry(row.part).or_default().insert(row.row);
            }
            Ok(run)
        };
        nights.map(open).collect()
    }
}

/// Of records of a run those of the last state of their log that has some: a run that took the place of nights has several states.
fn of_last_states(night: &Night, run: &Run, rows: Vec<StoredRow>) -> Vec<StoredRow> {
    let state_of = |row: &StoredRow| {
        let commit = run.commits.iter().find(|commit| commit.part == row.part)?;
        let is_in = |log: &LogState| {
            log.parts.iter().any(|held| held.part == row.part && rows_of(commit, held.input).contains(&row.row))
        };
        night.logs.iter().rposition(is_in)
    };
    let states: Vec<Option<usize>> = rows.iter().map(state_of).collect();
    let path_of = |state: usize| night.logs[state].path.as_str();
    let is_last = |state: &Option<usize>| {
        let later = |other: &Option<usize>| {
            other.zip(*state).is_some_and(|(other, state)| path_of(other) == path_of(state) && other > state)
        };
        !states.iter().any(later)
    };
    rows.into_iter().zip(&states).filter(|(_, state)| is_last(state)).map(|(row, _)| row).collect()
}
