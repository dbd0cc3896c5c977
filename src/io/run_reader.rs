//! Reads a run directory: checks every promise of its manifest and commits, and opens the tables of a part. Knows
//! the layout of the directory, not how records are put together.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::LEDGER;
use super::arrow_table::{ArrowTable, SomeRows};
use super::gathered::Gathered;
use super::line_table::{LineTable, open_stream};
use super::parquet_table::{ForeignTable, ParquetTable, WantedRows};
use super::run_documents::{COMMITS, MANIFEST, NIGHTS, PLAN, TIMINGS, is_begun, missing, place_of, plan_bytes, read};
use super::run_names::{open_commit, open_manifest};
use super::run_writer::{REJECTS, schema_of};
use super::store::{Blob, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Borders, Commit, ConversationFormat, EarlierNights, InputEntry, Manifest, Merge, PartReaders, RejectRow, Restorer,
    TableFile, TableName, TableReader, Tally, Timings,
};

const READ_BYTES: usize = 1 << 20;
/// So many commits are read at once: each may have 200 KB.
const COMMITS_AT_ONCE: usize = 64;

/// A finished run.
#[derive(Debug)]
pub struct Run {
    pub(super) root: Place,
    /// What was done.
    pub manifest: Manifest,
    /// The parts in order.
    pub commits: Vec<Commit>,
    /// Bytes of its manifest and its commits.
    documents: [u64; 2],
    /// By part, the records that a later night of its store goes on from: they are not found.
    pub(super) superseded: BTreeMap<usize, BTreeSet<u64>>,
    /// Texts of other runs of its store.
    pub(super) gathered: Gathered,
}

impl Run {
    /// Opens the run at `root` and checks its manifest and its commits.
    ///
    /// # Errors
    /// `Usage` when there is no run, `Unfinished` when it has no manifest yet, `Verification` when a document differs from
    /// what was written.
    pub fn open(root: impl Into<Place>) -> Result<Self> {
        Self::open_seeing(root, &mut |_| Ok(()))
    }

    /// The same; `see` gets each commit in order, and may take from it what need not be held for all parts at once.
    pub fn open_seeing(root: impl Into<Place>, see: &mut dyn FnMut(&mut Commit) -> Result<()>) -> Result<Self> {
        let root = root.into();
        let place = root.to_string();
        let path = root.join(MANIFEST);
        let Some(manifest) = path.read_all()? else {
            let begun = is_begun(&root)? || !root.join(COMMITS).names()?.is_empty();
            let is_store = !begun && (root.join(LEDGER).exists()? || !root.join(NIGHTS).names()?.is_empty());
            return Err(if begun {
                Error::new(ErrorKind::Unfinished, place, "the run is not complete: it has no manifest.json").hinting(
                    "the command that began it goes on with it; after --shard on all machines: condenser finish RUN",
                )
            } else if is_store {
                Error::usage(place, "this is a store of nightly runs, not a run")
                    .hinting("name one of its runs: STORE/runs/NIGHT")
            } else {
                Error::usage(place, "there is no run here, and no store of nights: no manifest.json was found")
                    .hinting("name a run, the directory that `condenser compress --output` wrote, or a store of nights, where the command takes one")
            });
        };
        let mut documents = [manifest.len() as u64, 0];
        let manifest = open_manifest(&manifest, &path.to_string())?;
        let mut commits = Vec::new();
        for inputs in manifest.inputs.chunks(COMMITS_AT_ONCE) {
            let paths: Vec<String> = inputs.iter().map(|input| input.commit.clone()).collect();
            for (input, bytes) in inputs.iter().zip(root.read_each(&paths)?) {
                let path = root.join(&input.commit).to_string();
                let bytes = bytes.ok_or_else(|| missing(&path))?;
                documents[1] += bytes.len() as u64;
                let mut commit = commit_of(input, &bytes, &path)?;
                see(&mut commit)?;
                commits.push(commit);
            }
        }
        Ok(Self { root, manifest, commits, documents, superseded: BTreeMap::new(), gathered: Gathered::default() })
    }

    /// What it read and wrote, every file of it counted; why records were rejected only as far as its commits still hold
    /// their sketches.
    ///
    /// # Errors
    /// `Verification` when the plan is not the one that the manifest promises.
    pub fn tally(&self) -> Result<Tally> {
        Ok(self.tally_with(&self.check_plan()?))
    }

    /// The same, when its plan has been read.
    pub(super) fn tally_with(&self, plan: &[u8]) -> Tally {
        let mut tally = Tally::default();
        self.commits.iter().for_each(|commit| tally.add(commit));
        self.manifest.files.iter().for_each(|file| tally.add_file(file));
        let [manifest, commits] = self.documents;
        tally.add_documents("manifest", 1, manifest);
        tally.add_documents("commits", self.commits.len(), commits);
        tally.add_documents("plan", usize::from(!plan.is_empty()), plan.len() as u64);
        tally
    }

    /// True when a run was finished at `root`; nothing but that is looked at.
    pub fn is_at(root: &Place) -> Result<bool> {
        root.join(MANIFEST).exists()
    }

    /// Compares the files that belong to no part with the manifest.
    pub fn check_run_files(&self) -> Result<()> {
        self.check_plan()?;
        self.manifest.files.iter().try_for_each(|file| self.check_file(file, "the run"))
    }

    /// The plan, compared with the manifest where that promises one; empty when there is none.
    pub(super) fn check_plan(&self) -> Result<Vec<u8>> {
        let place = self.root.join(PLAN).to_string();
        let plan = plan_bytes(&self.root)?;
        let Some(promised) = &self.manifest.plan_blake3 else { return Ok(plan.unwrap_or_default()) };
        let plan = plan.ok_or_else(|| missing(&place))?;
        if blake3::hash(&plan).to_hex().as_str() != promised {
            return Err(Error::verification(place, "the plan differs from what the manifest promises"));
        }
        Ok(plan)
    }

    /// Compares every file of a part with its commit.
    pub fn check_files(&self, commit: &Commit) -> Result<()> {
        let part = format!("part {}", commit.part);
        commit.files.iter().try_for_each(|file| self.check_file(file, &part))
    }

    /// Looks for files beside those of its tables that a reader of the folder would take for theirs.
    pub fn check_folders(&self) -> Result<()> {
        let files = || self.commits.iter().flat_map(|commit| &commit.files).map(|file| file.path.as_str());
        let own: BTreeSet<&str> = files().collect();
        let kind = |path: &str| {
            let (folder, name) = path.rsplit_once('/')?;
            Some((folder.to_owned(), name.split_once('.')?.1.to_owned()))
        };
        let kinds: BTreeSet<(String, String)> = files().filter_map(kind).collect();
        // Who loads a folder may read what lies deeper in it, too.
        let is_read_with = |name: &str| {
            let ancestors = name.match_indices('/').map(|(at, _)| name.split_at(at).0.to_owned());
            kind(name).is_some_and(|(_, ending)| {
                ancestors.into_iter().any(|folder| kinds.contains(&(folder, ending.clone())))
            })
        };
        let is_other = |name: &&String| !own.contains(name.as_str()) && is_read_with(name);
        match self.root.names()?.keys().find(is_other) {
            Some(name) => Err(Error::verification(
                self.root.join(name).to_string(),
                "the run did not write this file, and who loads the folder reads it with the others: take it away",
            )),
            None => Ok(()),
        }
    }

    pub(super) fn check_file(&self, file: &TableFile, part: &str) -> Result<()> {
        let path = self.root.join(&file.path);
        let place = path.to_string();
        let differs = |what: String| Error::verification(place.clone(), format!("table {}, {part}{what}", file.table));
        let Some(blob) = path.find()? else { return Err(differs(": the file is missing".to_owned())) };
        let failed = |error| blob.failure().unwrap_or_else(|| super::failed(place.clone(), "cannot be read", error));
        let mut reader = BufReader::with_capacity(READ_BYTES, blob.stream());
        let (mut whole, mut first_row) = (blake3::Hasher::new(), 0);
        for piece in &file.pieces {
            let mut hasher = blake3::Hasher::new();
            let n_read = hash_into(&mut (&mut reader).take(piece.bytes), &mut [&mut hasher, &mut whole]);
            let n_read = n_read.map_err(failed)?;
            if n_read != piece.bytes || hasher.finalize().to_hex().as_str() != piece.blake3 {
                let rows = match piece.rows {
                    0 => ", footer".to_owned(),
                    1 => format!(", row {first_row}"),
                    n => format!(", rows {first_row} to {}", first_row + n - 1),
                };
                return Err(differs(format!("{rows}: the bytes differ from what was written")));
            }
            first_row += piece.rows;
        }
        hash_into(&mut reader, &mut [&mut whole]).map_err(failed)?;
        if whole.finalize().to_hex().as_str() != file.blake3 {
            return Err(differs(": the bytes differ from what was written".to_owned()));
        }
        Ok(())
    }

    /// The figures of a part.
    pub fn metrics(&self, commit: &Commit) -> Result<Box<dyn TableReader>> {
        self.table(commit, TableName::Metrics, &WantedRows::All)
    }

    /// Some columns of the figures of a part, and others where the format has all in one piece.
    pub fn metrics_columns(&self, commit: &Commit, names: &'static [&'static str]) -> Result<Box<dyn TableReader>> {
        self.table(commit, TableName::Metrics, &WantedRows::Columns(names))
    }

    /// What was decided about the messages of a part; `None` when the run was not told to write it.
    pub fn decisions(&self, commit: &Commit) -> Result<Option<Box<dyn TableReader>>> {
        self.read_table(commit, TableName::Decisions)
    }

    /// The rows of a table of a part, conversations in the columns of their input where that was a table; `None` when the
    /// run does not have the table.
    pub fn read_table(&self, commit: &Commit, table: TableName) -> Result<Option<Box<dyn TableReader>>> {
        let is_there = commit.files.iter().any(|file| file.table == table.as_str());
        let read = || match (table, &commit.table) {
            (TableName::Conversations, Some(_)) => Ok(self.foreign(commit, None)?.reader),
            _ => self.table(commit, table, &WantedRows::All),
        };
        is_there.then(read).transpose()
    }

    /// Compares what a report reads of a part (figures, decisions and rejects) with its commit.
    pub fn check_figures(&self, commit: &Commit) -> Result<()> {
        self.check_tables(commit, &[TableName::Metrics.as_str(), TableName::Decisions.as_str(), REJECTS])
    }

    /// Compares the rejects of a part with its commit.
    pub fn check_rejects(&self, commit: &Commit) -> Result<()> {
        self.check_tables(commit, &[REJECTS])
    }

    fn check_tables(&self, commit: &Commit, tables: &[&str]) -> Result<()> {
        let part = format!("part {}", commit.part);
        let mut files = commit.files.iter().filter(|file| tables.contains(&&*file.table));
        files.try_for_each(|file| self.check_file(file, &part))
    }

    /// What the calls that made the run took, all together; `None` unless somebody took the time.
    pub fn timings(&self) -> Result<Option<Timings>> {
        let mut sum: Option<Timings> = None;
        for name in self.root.join(TIMINGS).names()?.into_keys().filter(|name| is_timings(name)) {
            let path = self.root.join(TIMINGS).join(&name);
            let timings: Timings = serde_json::from_slice(&read(&path)?)
                .map_err(|error| Error::input(path.to_string(), "these are no timings of a job").because(error))?;
            sum.get_or_insert_default().absorb(&timings);
        }
        Ok(sum)
    }

    /// The directory of the run.
    pub fn place(&self) -> &Place {
        &self.root
    }

    /// Refuses a run that was only measured.
    pub(super) fn check_originals(&self) -> Result<()> {
        if !self.manifest.options.measure_only {
            return Ok(());
        }
        let message = "the run holds no originals: it is a report, which measures and writes figures only";
        Err(Error::usage(self.root.to_string(), message))
    }

    /// Restores a part; with `checksums` every record is compared with the metrics table.
    pub fn restorer(&self, commit: &Commit, bridge: &Bridge, checksums: bool) -> Result<Restorer> {
        self.restorer_on(commit, bridge, checksums, self.nights(commit, None, bridge)?)
    }

    /// The same on what earlier `nights` of the store hold.
    pub(super) fn restorer_on(
        &self,
        commit: &Commit,
        bridge: &Bridge,
        checksums: bool,
        nights: Option<Arc<dyn EarlierNights>>,
    ) -> Result<Restorer> {
        self.check_originals()?;
        let with = |conversations| -> Result<PartReaders> {
            Ok(PartReaders {
                conversations,
                verbatim: self.table(commit, TableName::Verbatim, &WantedRows::All)?,
                rejects: self.rejects(commit)?,
                metrics: checksums.then(|| self.table(commit, TableName::Metrics, &WantedRows::All)).transpose()?,
            })
        };
        if let Some(table) = &commit.table {
            let rows = self.foreign(commit, None)?;
            return Ok(Restorer::rows(with(rows.reader)?, table.clone(), rows.held, place_of(commit)));
        }
        let readers = with(self.table(commit, TableName::Conversations, &WantedRows::All)?)?;
        Ok(lines(readers, bridge, commit).with_nights(nights))
    }

    /// The schema of the table that was read for a part.
    pub fn schema_of_rows(&self, commit: &Commit) -> Result<SchemaRef> {
        Ok(self.foreign(commit, Some(&[]))?.schema)
    }

    /// The conversations of a part whose input was a table, all or those at these places.
    pub(super) fn foreign(&self, commit: &Commit, only: Option<&[u64]>) -> Result<ForeignTable> {
        let file = self.file_of(commit, TableName::Conversations.as_str())?;
        match commit.format {
            ConversationFormat::Arrow => ArrowTable::open_foreign(&file, only),
            ConversationFormat::Parquet | ConversationFormat::Jsonl => ParquetTable::open_foreign(file, only),
        }
    }

    pub(super) fn file_of(&self, commit: &Commit, table: &str) -> Result<Blob> {
        let file = commit
            .files
            .iter()
            .find(|file| file.table == table)
            .ok_or_else(|| Error::verification(place_of(commit), format!("the part has no table {table}")))?;
        let path = self.root.join(&file.path);
        let found = path.open()?;
        // The hash is not looked at here, but a size costs nothing and tells most other files.
        if found.bytes().is_some_and(|bytes| bytes != file.bytes) {
            let message =
                format!("table {table}, part {}: the file has another size than when it was written", commit.part);
            return Err(Error::verification(path.to_string(), message));
        }
        Ok(found)
    }

    pub(super) fn table(&self, commit: &Commit, table: TableName, wanted: &WantedRows) -> Result<Box<dyn TableReader>> {
        let file = self.file_of(commit, table.as_str())?;
        Ok(match commit.format {
            ConversationFormat::Parquet => Box::new(ParquetTable::open(file, wanted)?),
            ConversationFormat::Arrow => {
                // Batches carry no checksum, and who looks for rows has not compared the file.
                if !matches!(wanted, WantedRows::All) {
                    self.check_tables(commit, &[table.as_str()])?;
                }
                Box::new(SomeRows::wanted(ArrowTable::open(&file)?.0, wanted.clone(), file))
            }
            ConversationFormat::Jsonl => {
                let name = file.location().to_string();
                let stream = open_stream(&file)?;
                let reader = match table {
                    TableName::Conversations => LineTable::records(&name, stream),
                    _ => LineTable::rows(&name, stream, schema_of(table, commit.format), None),
                };
                Box::new(SomeRows::wanted(reader, wanted.clone(), file))
            }
        })
    }

    /// The rejects of a part.
    pub fn rejects(&self, commit: &Commit) -> Result<Box<dyn Iterator<Item = Result<RejectRow>> + Send>> {
        if !commit.files.iter().any(|file| file.table == REJECTS) {
            return Ok(Box::new(std::iter::empty()));
        }
        let file = self.file_of(commit, REJECTS)?;
        let place = file.location().to_string();
        Ok(Box::new(BufReader::with_capacity(READ_BYTES, file.stream()).split(b'\n').map(move |line| {
            let failed = |error| file.failure().unwrap_or_else(|| super::failed(&*place, "cannot be read", error));
            let line = line.map_err(failed)?;
            serde_json::from_slice(&line)
                .map_err(|error| Error::verification(&*place, "a reject cannot be read").because(error))
        })))
    }
}

/// True for `from-part-00000.json` and the like; anything else there belongs to somebody else.
fn is_timings(name: &str) -> bool {
    let number = name.strip_prefix("from-part-").and_then(|name| name.strip_suffix(".json"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The commit that the manifest promises.
fn commit_of(input: &InputEntry, bytes: &[u8], place: &str) -> Result<Commit> {
    if blake3::hash(bytes).to_hex().as_str() != input.commit_blake3 {
        let message = format!("the commit of part {} differs from what the manifest promises", input.part);
        return Err(Error::verification(place, message));
    }
    open_commit(bytes, place)
}

/// Restores the lines of a part from its tables.
pub(super) fn lines(readers: PartReaders, bridge: &Bridge, commit: &Commit) -> Restorer {
    let restorer = Restorer::lines(readers, bridge.clone(), place_of(commit));
    restorer.starting_at(commit.first_row + commit.split.first_row()).across(Borders::of(commit))
}

fn hash_into(reader: &mut dyn Read, hashers: &mut [&mut blake3::Hasher]) -> io::Result<u64> {
    let mut buffer = vec![0; READ_BYTES];
    let mut n_bytes = 0;
    loop {
        let n = reader.read(&mut buffer)?;
        if n == 0 {
            return Ok(n_bytes);
        }
        n_bytes += n as u64;
        for hasher in &mut *hashers {
            hasher.update(&buffer[..n]);
        }
    }
}
