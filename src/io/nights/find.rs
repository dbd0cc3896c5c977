//! Where in a store a conversation stands: in the runs of the nights that took it in, without the records that later nights go on
//! from. Refuses to know what is shown of it.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use crate::error::{Error, ErrorKind, Result};
use crate::io::Run;
use crate::io::store::Place;

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
        let mut found = Vec::new();
        let mut superseded: BTreeMap<String, BTreeMap<usize, BTreeSet<u64>>> = BTreeMap::new();
        // What a later night goes on from stands in earlier ones.
        for night in self.nights.iter().rev() {
            let mut run = self.open_run(&night.run)?;
            let gone = superseded.remove(&night.run).unwrap_or_default();
            let mut is_in = false;
            for commit in &run.commits {
                for (row, earlier) in run.rows_with(commit, id)? {
                    is_in |= gone.get(&commit.part).is_none_or(|gone| !gone.contains(&row));
                    for row in earlier {
                        superseded.entry(row.run).or_default().entry(row.part).or_default().insert(row.row);
                    }
                }
            }
            run.superseded = gone;
            if is_in {
                found.push(run);
            }
        }
        found.reverse();
        Ok(found)
    }
}
