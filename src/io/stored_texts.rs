//! Texts of records that earlier nights of a store hold, gathered into one file without a name, so that many are read with few
//! looks into tables. Knows runs beside each other; refuses to know why they are wanted.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Run;
use super::blob_files::{gather_blobs, run_of_blobs};
use super::gathered::Gathered;
use super::parquet_table::WantedRows;
use super::run_documents::{of_night, place_of};
use super::store::Place;
use crate::error::{Error, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Borders, Commit, EarlierNights, Restorer, RowAgain, StoredRow, TableName, rows_again};

/// Gathered texts, and for which conversations they are there.
#[derive(Debug)]
pub struct StoredTexts {
    gathered: Gathered,
    conversations: BTreeMap<(String, String), Vec<StoredRow>>,
}

impl StoredTexts {
    /// The texts that these rows of runs in the folder `runs` hold; with `id` they are all of conversations with this id.
    ///
    /// # Errors
    /// `Verification` when a row is not there.
    pub fn gather(runs: &Place, rows: &BTreeSet<StoredRow>, id: Option<&str>, bridge: &Bridge) -> Result<Self> {
        Self::gather_in(Gathered::default(), runs, rows, id, bridge)
    }

    /// The same, beside those that were gathered already.
    pub(super) fn gather_in(
        gathered: Gathered,
        runs: &Place,
        rows: &BTreeSet<StoredRow>,
        id: Option<&str>,
        bridge: &Bridge,
    ) -> Result<Self> {
        let gathered = gathered.with_room();
        gather(&gathered, runs, rows, id, bridge)?;
        Ok(Self { gathered, conversations: BTreeMap::new() })
    }

    /// The same, for these conversations: each by its source and id.
    #[must_use]
    pub fn of(self, conversations: BTreeMap<(String, String), Vec<StoredRow>>) -> Self {
        Self { conversations, ..self }
    }
}

fn gather(
    gathered: &Gathered,
    runs: &Place,
    rows: &BTreeSet<StoredRow>,
    id: Option<&str>,
    bridge: &Bridge,
) -> Result<()> {
    let mut by_run: BTreeMap<&str, BTreeMap<usize, BTreeSet<u64>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !gathered.has(row)) {
        by_run.entry(&row.run).or_default().entry(row.part).or_default().insert(row.row);
    }
    for (name, parts) in by_run {
        if run_of_blobs(name).is_some() {
            for (file, wanted) in parts {
                gather_blobs(gathered, runs, (name, file), wanted)?;
            }
            continue;
        }
        let place = runs.join(name);
        let run = Run::open_seeing(place.clone(), &mut |commit| {
            commit.sketch = None;
            Ok(())
        });
        let run = run.map_err(|error| of_night(&place, error))?;
        for (part, mut wanted) in parts {
            let lacking = || {
                let message = format!("the run does not hold record {part}/{}", wanted.first().copied().unwrap_or(0));
                Error::verification(run.place().to_string(), message)
            };
            let commit = run.commits.iter().find(|commit| commit.part == part).ok_or_else(lacking)?;
            let restorer = match id {
                Some(id) => run.find_bare(commit, id, bridge)?,
                None => Some(run.bare_restorer(commit, bridge)?),
            };
            let mut restorer = restorer.ok_or_else(lacking)?;
            while !wanted.is_empty()
                && let Some(found) = restorer.next_texts(false)?
            {
                for (row, text) in found {
                    if wanted.remove(&row) {
                        gathered.add(StoredRow { run: name.to_owned(), part, row }, &text)?;
                    }
                }
            }
            if let Some(row) = wanted.first() {
                let message = format!("the run does not hold record {part}/{row}");
                return Err(Error::verification(run.place().to_string(), message));
            }
        }
    }
    Ok(())
}

impl EarlierNights for StoredTexts {
    fn rows(&self, source: &str, id: &str, _: &str) -> Cow<'_, [StoredRow]> {
        self.conversations.get(&(source.to_owned(), id.to_owned())).map_or(&[][..], Vec::as_slice).into()
    }

    fn text(&self, rows: &[StoredRow]) -> Result<String> {
        self.gathered.text(rows)
    }
}

impl Run {
    /// What the records of a part that come again rest on, of all or of those with this id; `None` where there are none.
    pub(super) fn nights(
        &self,
        commit: &Commit,
        id: Option<&str>,
        bridge: &Bridge,
    ) -> Result<Option<Arc<dyn EarlierNights>>> {
        if commit.rests_on.is_empty() {
            return Ok(None);
        }
        let wanted = id.map_or(WantedRows::All, WantedRows::of_conversation);
        let again = self.again(commit, &wanted)?;
        let rows: BTreeSet<StoredRow> =
            again.into_values().filter(|again| !again.is_whole).flat_map(|again| again.rows).collect();
        if let Some(row) = rows.iter().find(|row| !commit.rests_on.contains(&row.run)) {
            let message = format!("record {row} is of a run that the commit does not name");
            return Err(Error::verification(place_of(commit), message));
        }
        Ok(Some(Arc::new(StoredTexts::gather_in(self.gathered.clone(), &self.root.folder(), &rows, id, bridge)?)))
    }

    /// The records of a part that come again, by their running numbers, each with those that hold the rest of it.
    pub(super) fn again(&self, commit: &Commit, wanted: &WantedRows) -> Result<BTreeMap<u64, RowAgain>> {
        let mut again = BTreeMap::new();
        if commit.rests_on.is_empty() {
            return Ok(again);
        }
        let mut verbatim = Borders::of(commit).numbered(self.table(commit, TableName::Verbatim, wanted)?);
        while let Some(rows) = verbatim.next_rows()? {
            again.extend(rows_again(&rows).map_err(|message| Error::verification(place_of(commit), message))?);
        }
        Ok(again)
    }

    /// Restores what the part holds itself.
    pub(super) fn bare_restorer(&self, commit: &Commit, bridge: &Bridge) -> Result<Restorer> {
        self.restorer_on(commit, bridge, false, None)
    }
}
