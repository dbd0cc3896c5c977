//! Where in a store a conversation stands: in the runs of the nights that took it in, without the records that later nights go on
//! from. Refuses to know what is shown of it.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Run;
use crate::io::store::Place;
use crate::pipeline::{Night, StoredRow};

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
        // What a later night goes on from stands in earlier ones.
        let mut superseded: BTreeMap<String, BTreeMap<usize, BTreeSet<u64>>> = BTreeMap::new();
        let mut rows: BTreeSet<StoredRow> = BTreeSet::new();
        let mut take = |row: StoredRow, earlier: Vec<StoredRow>| {
            for row in earlier {
                superseded.entry(row.run).or_default().entry(row.part).or_default().insert(row.row);
            }
            rows.insert(row);
        };
        for entry in entries {
            take(entry.row.clone(), entry.earlier());
        }
        for night in unknown {
            let run = self.open_run(&night.run)?;
            for commit in &run.commits {
                for (row, earlier) in run.rows_with(commit, id)? {
                    take(StoredRow { run: night.run.clone(), part: commit.part, row }, earlier);
                }
            }
        }
        let is_gone = |row: &StoredRow| {
            let rows = superseded.get(&row.run).and_then(|parts| parts.get(&row.part));
            rows.is_some_and(|rows| rows.contains(&row.row))
        };
        rows.retain(|row| !is_gone(row));
        let names: BTreeSet<&str> = rows.iter().map(|row| row.run.as_str()).collect();
        let nights = self.nights.iter().filter(|night| names.contains(&*night.run));
        let open = |night: &Night| {
            let mut run = self.open_run(&night.run)?;
            run.superseded = superseded.get(&night.run).cloned().unwrap_or_default();
            Ok(run)
        };
        nights.map(open).collect()
    }
}
