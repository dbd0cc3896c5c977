//! Runs of a store that no night has: those that the next call goes on with or enters, and those that nothing needs and nobody can
//! finish. Knows names; refuses to know what runs hold.

use std::collections::BTreeSet;
use std::fmt;

use super::{LEDGER, Store, document_of, number_of};
use crate::error::{Error, Result};
use crate::io::run_documents::MANIFEST;
use crate::pipeline::{MERGED, Night};

/// A run that no night has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftRun {
    /// Its name.
    pub name: String,
    /// What is to become of it.
    pub fate: RunFate,
}

/// What is to become of a run that no night has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFate {
    /// It is the last one and not finished: the next call goes on with it, if it can.
    GoesOn,
    /// It is the last one and complete: the next call enters it.
    IsEntered,
    /// It is the last one, of a merge that was stopped: the next merge goes on with it.
    OfMerge,
    /// It is not finished, or of a merge that was stopped, and another one came behind it: nobody needs it.
    Abandoned,
    /// It is complete, and an earlier version has merged the nights around it: no command enters it.
    Stays,
    /// It is complete, and later nights have come: the document of its night was there, and is missing.
    Lost,
}

impl fmt::Display for LeftRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let says = match self.fate {
            RunFate::GoesOn => "is not finished; the next call goes on with it, if logs and options are as they were",
            RunFate::IsEntered => "is complete, but no night has it; the next call enters it",
            RunFate::OfMerge => "is of a merge that was stopped; the next `condenser merge` goes on with it",
            RunFate::Abandoned => {
                "was never finished, and nothing refers to it; `condenser merge` with --yes deletes it"
            }
            RunFate::Stays => {
                "stands in no night, and no call enters it: an earlier version has merged the nights around it"
            }
            RunFate::Lost => {
                let document = document_of(&self.name);
                return write!(f, "{document} is missing: nothing says any more what run {} holds", self.name);
            }
        };
        write!(f, "run {} {says}", self.name)
    }
}

impl Store {
    /// The runs that no night has, by name, but for those of which another one has taken the place.
    pub fn left(&self) -> Result<Vec<LeftRun>> {
        let mut names: Vec<(u64, String)> = self.run_names()?;
        names.sort();
        let last = names.last().map(|(_, name)| name.clone());
        let needed: BTreeSet<&str> = self.nights.iter().flat_map(named_by).collect();
        // The first version wrote no documents.
        let is_older = self.root.join(LEDGER).exists()?;
        let mut left = Vec::new();
        for (_, name) in names {
            if self.replaced.contains(&name) || self.nights.iter().any(|night| night.run == name) {
                continue;
            }
            if self.root.join(&document_of(&name)).exists()? {
                // Entered since the nights were listed.
                continue;
            }
            let is_complete = self.run_path(&name).join(MANIFEST).exists()?;
            let is_last = last.as_ref() == Some(&name);
            let fate = match (is_last, is_complete) {
                (true, _) if name.ends_with(MERGED) => RunFate::OfMerge,
                (true, true) => RunFate::IsEntered,
                (true, false) => RunFate::GoesOn,
                (false, is_complete) if !needed.contains(&*name) && (!is_complete || self.never_merged(&name)) => {
                    RunFate::Abandoned
                }
                (false, _) if !needed.contains(&*name) && (is_older || self.is_passed(&name)) => RunFate::Stays,
                (false, _) => RunFate::Lost,
            };
            left.push(LeftRun { name, fate });
        }
        Ok(left)
    }

    /// True for the run of a merge that took the place of no night: what it was to replace is there, or another one has replaced it.
    fn never_merged(&self, name: &str) -> bool {
        let is_before = |other: &str| number_of(other) < number_of(name);
        let mut runs = self.nights.iter().map(|night| &night.run).chain(&self.replaced);
        name.ends_with(MERGED) && runs.any(|run| is_before(run))
    }

    /// True when nights were merged around this run: earlier versions did not enter it before.
    fn is_passed(&self, name: &str) -> bool {
        self.nights.iter().any(|night| !night.replaces.is_empty() && number_of(name) < number_of(&night.run))
    }

    /// The runs whose nights are not known any more, as a document is missing.
    pub fn lost(&self) -> Result<Vec<LeftRun>> {
        Ok(self.left()?.into_iter().filter(|left| left.fate == RunFate::Lost).collect())
    }

    /// Refuses to go by nights of which one is missing.
    ///
    /// # Errors
    /// `Verification` for the first document that is.
    pub fn check_documents(&self) -> Result<()> {
        let Some(lost) = self.lost()?.into_iter().next() else { return Ok(()) };
        let document = self.root.join(&document_of(&lost.name)).to_string();
        let message = format!("the file is missing: nothing says any more what run {} holds", lost.name);
        Err(Error::verification(document, message).hinting(
            "put it back from a copy; without one keep the run, and the logs that it may be the only one to hold",
        ))
    }

    /// The runs that nobody needs and nobody can finish.
    pub fn abandoned(&self) -> Result<Vec<String>> {
        let left = self.left()?.into_iter().filter(|left| left.fate == RunFate::Abandoned);
        Ok(left.map(|left| left.name).collect())
    }

    /// Deletes a run that nobody needs and nobody can finish.
    ///
    /// # Errors
    /// `Verification` when it is none.
    pub async fn delete_abandoned(&self, name: &str) -> Result<()> {
        let abandoned = tokio::task::block_in_place(|| self.abandoned())?;
        if !abandoned.iter().any(|abandoned| abandoned == name) {
            let message = "the run may still be needed; it stays";
            return Err(Error::verification(self.run_path(name).to_string(), message));
        }
        self.delete_run(name).await
    }
}

/// The runs that the document of a night names.
fn named_by(night: &Night) -> impl Iterator<Item = &str> {
    let kept = night.logs.iter().filter_map(|log| log.keeps.as_ref()).map(|kept| &*kept.run);
    let states = night.logs.iter().flat_map(|log| [&log.night, &log.extends]).flatten().map(String::as_str);
    kept.chain(states).chain(night.names())
}
