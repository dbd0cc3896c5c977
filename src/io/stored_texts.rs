//! Texts of records that earlier nights of a store hold, gathered into one file without a name, so that many are read with few
//! looks into tables. Knows runs beside each other; refuses to know why they are wanted.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use super::Run;
use super::parquet_table::WantedRows;
use super::run_find::wanted;
use super::run_reader::place_of;
use super::store::Place;
use crate::error::{Error, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Borders, Commit, EarlierNights, Restorer, StoredRow, RowAgain, TableName, rows_again};

/// Where a text stands in the file: its first byte, and its length.
type Stretch = (u64, usize);

/// What is gathered is forgotten when it has so many bytes.
const MAX_GATHERED: u64 = 1 << 30;

/// Texts that were gathered already: the nights of a store ask for the same ones again and again.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered(Arc<Mutex<Option<Texts>>>);

#[derive(Debug)]
struct Texts {
    file: File,
    places: HashMap<StoredRow, Stretch>,
    n_bytes: u64,
}

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
        let cannot = |error| Error::io("", "there is no room for texts of the store").because(error);
        let mut held = gathered.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Who reads those that are forgotten has them in a file of his own.
        if held.as_ref().is_some_and(|texts| texts.n_bytes > MAX_GATHERED) {
            drop(held);
            return Self::gather_in(Gathered::default(), runs, rows, id, bridge);
        }
        let mut texts = match held.take() {
            Some(texts) => texts,
            None => Texts { file: tempfile::tempfile().map_err(cannot)?, places: HashMap::new(), n_bytes: 0 },
        };
        let told = texts.gather(runs, rows, id, bridge);
        *held = Some(texts);
        drop(held);
        told.map(|()| Self { gathered, conversations: BTreeMap::new() })
    }

    /// The same, for these conversations: each by its source and id.
    #[must_use]
    pub fn of(self, conversations: BTreeMap<(String, String), Vec<StoredRow>>) -> Self {
        Self { conversations, ..self }
    }
}

impl Texts {
    fn gather(&mut self, runs: &Place, rows: &BTreeSet<StoredRow>, id: Option<&str>, bridge: &Bridge) -> Result<()> {
        let cannot = |error| Error::io("", "there is no room for texts of the store").because(error);
        let mut by_run: BTreeMap<&str, BTreeMap<usize, BTreeSet<u64>>> = BTreeMap::new();
        for row in rows.iter().filter(|row| !self.places.contains_key(row)) {
            by_run.entry(&row.run).or_default().entry(row.part).or_default().insert(row.row);
        }
        for (name, parts) in by_run {
            let run = Run::open_seeing(runs.join(name), &mut |commit| {
                commit.sketch = None;
                Ok(())
            })?;
            for (part, mut wanted) in parts {
                let lacking = || {
                    let message =
                        format!("the run does not hold record {part}/{}", wanted.first().copied().unwrap_or(0));
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
                            let place = (self.n_bytes, text.len());
                            let at_end = self.file.seek(SeekFrom::Start(self.n_bytes));
                            at_end.and_then(|_| self.file.write_all(text.as_bytes())).map_err(cannot)?;
                            self.places.insert(StoredRow { run: name.to_owned(), part, row }, place);
                            self.n_bytes += text.len() as u64;
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
}

impl EarlierNights for StoredTexts {
    fn rows(&self, source: &str, id: &str) -> &[StoredRow] {
        self.conversations.get(&(source.to_owned(), id.to_owned())).map_or(&[], Vec::as_slice)
    }

    fn text(&self, rows: &[StoredRow]) -> Result<String> {
        let mut bytes = Vec::new();
        let mut held = self.gathered.0.lock().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            let missing = || Error::verification(row.to_string(), "the text of this record was not read");
            let texts = held.as_mut().ok_or_else(missing)?;
            let &(first, n_bytes) = texts.places.get(row).ok_or_else(missing)?;
            let begin = bytes.len();
            bytes.resize(begin + n_bytes, 0);
            let read = texts.file.seek(SeekFrom::Start(first)).and_then(|_| texts.file.read_exact(&mut bytes[begin..]));
            read.map_err(|error| Error::io(row.to_string(), "the text cannot be read again").because(error))?;
        }
        String::from_utf8(bytes).map_err(|error| Error::internal("", "a text of the store is none").because(error))
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
        let wanted = id.map_or(WantedRows::All, wanted);
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
