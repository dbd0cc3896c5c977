//! Writes a run directory: the plan first, one file per table and part, the commit after them, the manifest at the
//! end. Knows the layout of the directory, not the tables' columns.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::future::try_join_all;

use super::disk::is_unfinished;
use super::encoder::TableEncoder;
use super::json_rows::write_json;
use super::run_documents::{COMMITS, MANIFEST, PLAN, TIMINGS, holds_run, read, read_commits, read_plan};
use super::run_words::words_entry;
use super::store::{BlobWriter, Place};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Commit, Container, ConversationFormat, EncodedBatch, JobOptions, Manifest, PartSink, PartStart, Plan, RejectRow,
    Sink, Table, TableFile, Timings, commit_path, conversations_schema, decisions_schema, metrics_schema,
    records_schema, seal, training_schema, verbatim_schema,
};

/// The folder of the rejects.
pub(crate) const REJECTS: &str = "rejects";
const MAP: &str = "verbatim-map";
/// Training-ready data, always as Parquet, and what is not among it.
const TRAINING: [&str; 2] = ["dataset/train", "dataset/eval"];
const DROPPED: &str = "dataset/dropped";
/// So many missing parts are named.
const MAX_NAMED: usize = 10;

/// A run directory in the making.
#[derive(Debug)]
pub struct RunWriter {
    root: Place,
    options: JobOptions,
    /// Hash of the word statistics that the plan promises.
    words: Option<String>,
}

impl RunWriter {
    /// Prepares the directory `root` for `plan`, or goes on with what an earlier call of the same job began there:
    /// the writer and the commits that are already there.
    ///
    /// # Errors
    /// `Usage` when the directory holds another job's run, or inputs or options have changed: says which.
    pub async fn open(root: impl Into<Place>, plan: &Plan) -> Result<(Self, Vec<Commit>)> {
        let (root, asked) = (root.into(), plan.clone());
        let writer = Self::of(root.clone(), plan);
        // A store may be slow to answer; signals must be heard meanwhile.
        let commits = Bridge::run_blocking("run", move || resume(&root, &asked)).await?;
        if commits.is_none() {
            writer.root.join(PLAN).write_atomic(seal(plan)?.as_bytes()).await?;
        }
        Ok((writer, commits.unwrap_or_default()))
    }

    /// Opens the run at `root` to finish it: its plan, all its commits, and the writer of the manifest.
    ///
    /// With `partial`, parts may be missing.
    ///
    /// # Errors
    /// `Usage` when parts are missing: says which.
    pub fn reopen(root: impl Into<Place>, partial: bool) -> Result<(Plan, Vec<Commit>, Self)> {
        let root = root.into();
        let place = root.to_string();
        if !root.join(PLAN).exists()? {
            return Err(Error::new(ErrorKind::Usage, place, "there is no run here: no plan.json was found"));
        }
        let plan = read_plan(&root)?;
        let commits = read_commits(&root, &plan)?;
        if commits.len() < plan.parts.len() && !partial {
            let mut done = commits.iter().map(|commit| commit.part).peekable();
            let missing =
                (0..plan.parts.len()).filter(|part| done.next_if_eq(part).is_none()).map(|part| part.to_string());
            let named: Vec<String> = missing.take(MAX_NAMED).collect();
            let n_missing = plan.parts.len() - commits.len();
            let more = if n_missing > named.len() { ", …" } else { "" };
            let message = format!(
                "{n_missing} of {} parts are not committed yet: {}{more}; run their shards first, or leave them out with --partial",
                plan.parts.len(),
                named.join(", ")
            );
            return Err(Error::new(ErrorKind::Usage, place, message));
        }
        let writer = Self::of(root, &plan);
        Ok((plan, commits, writer))
    }

    fn of(root: Place, plan: &Plan) -> Self {
        Self { root, options: plan.options.clone(), words: plan.word_statistics_blake3.clone() }
    }

    /// The map of a run with one conversation, also under a name of its own.
    async fn write_only_map(&self, manifest: &mut Manifest) -> Result<()> {
        let Some(map) = manifest.inputs.iter().find_map(|input| self.only_map(input.part).transpose()).transpose()?
        else {
            return Ok(());
        };
        let path = format!("{MAP}.json");
        self.root.join(&path).write_atomic(map.as_bytes()).await?;
        manifest.files.push(TableFile {
            table: MAP.to_owned(),
            path,
            rows: 1,
            bytes: map.len() as u64,
            blake3: blake3::hash(map.as_bytes()).to_hex().to_string(),
            stream_blake3: None,
            pieces: Vec::new(),
        });
        Ok(())
    }

    fn only_map(&self, part: usize) -> Result<Option<String>> {
        let bytes = read(&self.root.join(&part_path(MAP, part, "jsonl")))?;
        let text = String::from_utf8_lossy(&bytes);
        let map = text.lines().next().and_then(|line| line.split_once("\"verbatim\":"));
        Ok(map.and_then(|(_, map)| map.strip_suffix('}')).map(str::to_owned))
    }

    /// Takes away what killed calls left behind: unfinished files under names that nobody reads.
    fn sweep(&self) {
        // In a store nothing unfinished has a name.
        let Some(root) = self.root.as_local() else { return };
        let folders = Table::ALL.map(Table::as_str).into_iter();
        let folders = folders.chain([REJECTS, MAP, COMMITS, ".", DROPPED]).chain(TRAINING);
        for folder in folders {
            let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
            for entry in entries.flatten() {
                if is_unfinished(&entry.file_name().to_string_lossy()) {
                    // A leftover that stays does no harm.
                    drop(std::fs::remove_file(entry.path()));
                }
            }
        }
    }
}

/// The commits that are already at `root`; `None` when the run begins.
fn resume(root: &Place, plan: &Plan) -> Result<Option<Vec<Commit>>> {
    let place = root.to_string();
    let usage = |message: &str| Err(Error::new(ErrorKind::Usage, &*place, message));
    if root.as_local().is_some_and(std::path::Path::is_file) {
        return usage("the output is a file, but a run is a directory");
    }
    if root.location().is_web() {
        return usage("a web server is only read; write to a local path, s3://, gs:// or az://");
    }
    // What stdin gave is gone: a run that it began and that has no part yet begins again.
    let starts_over = plan.inputs.iter().any(|input| input.bytes.is_none()) && !holds_run(root)?;
    if !starts_over && root.join(PLAN).exists()? {
        check_same(&place, &read_plan(root)?, plan)?;
        return read_commits(root, plan).map(Some);
    }
    if holds_run(root)? {
        return usage("the directory holds a committed run already");
    }
    if let Some(path) = root.as_local() {
        std::fs::create_dir_all(path).map_err(|error| super::failed(place, "the directory cannot be made", error))?;
    }
    Ok(None)
}

fn check_same(place: &str, earlier: &Plan, plan: &Plan) -> Result<()> {
    if plan.inputs.iter().any(|input| input.bytes.is_none()) {
        let message = "the directory holds a committed run of stdin, which cannot be continued";
        return Err(Error::new(ErrorKind::Usage, place, message));
    }
    let differences = earlier.differences(plan);
    if differences.is_empty() {
        return Ok(());
    }
    let message = format!("the directory holds a committed run of another job; changed: {}", differences.join("; "));
    Err(Error::new(ErrorKind::Usage, place, message))
}

/// The path of a file of a part in the run directory.
fn part_path(table: &str, part: usize, ending: &str) -> String {
    format!("{table}/part-{part:05}.{ending}")
}

/// A part in the making.
#[derive(Debug)]
pub struct PartWriter {
    root: Place,
    format: ConversationFormat,
    part: usize,
    tables: Vec<Option<OpenTable>>,
    rejects: Option<OpenTable>,
    map: Option<OpenTable>,
    training: Vec<OpenTable>,
    dropped: Option<OpenTable>,
}

impl PartWriter {
    fn open(&self, table: Table, foreign: Option<&SchemaRef>) -> Result<OpenTable> {
        let name = table.as_str();
        let path = part_path(name, self.part, self.ending());
        let encoder = match self.format {
            ConversationFormat::Parquet if let Some(schema) = foreign => {
                TableEncoder::foreign(name, path.clone(), Container::Parquet, schema.clone())?
            }
            ConversationFormat::Arrow if let Some(schema) = foreign => {
                TableEncoder::foreign(name, path.clone(), Container::ArrowFile, schema.clone())?
            }
            ConversationFormat::Arrow => TableEncoder::arrow(name, path.clone(), schema_of(table, self.format), false)?,
            ConversationFormat::Parquet => TableEncoder::parquet(name, path.clone(), schema_of(table, self.format))?,
            ConversationFormat::Jsonl => TableEncoder::lines(name, path.clone(), true),
        };
        OpenTable::create(&self.root, &path, encoder)
    }

    fn open_lines(&self, name: &str) -> Result<OpenTable> {
        let path = part_path(name, self.part, "jsonl");
        OpenTable::create(&self.root, &path, TableEncoder::lines(name, path.clone(), false))
    }

    fn ending(&self) -> &'static str {
        match self.format {
            ConversationFormat::Parquet => "parquet",
            ConversationFormat::Jsonl => "jsonl.zst",
            ConversationFormat::Arrow => "arrow",
        }
    }
}

/// The Arrow schema of a table.
pub(crate) fn schema_of(table: Table, format: ConversationFormat) -> SchemaRef {
    match (table, format) {
        (Table::Conversations, ConversationFormat::Parquet | ConversationFormat::Arrow) => conversations_schema(),
        (Table::Conversations, ConversationFormat::Jsonl) => records_schema(),
        (Table::Verbatim, _) => verbatim_schema(),
        (Table::Metrics, _) => metrics_schema(),
        (Table::Decisions, _) => decisions_schema(),
    }
}

impl Sink for RunWriter {
    type Part = PartWriter;

    async fn begin(&self, start: &PartStart<'_>) -> Result<PartWriter> {
        let mut part = PartWriter {
            root: self.root.clone(),
            format: self.options.format,
            part: start.part,
            tables: Vec::new(),
            rejects: None,
            map: None,
            training: Vec::new(),
            dropped: None,
        };
        if let Some(dataset) = &self.options.dataset {
            for name in TRAINING {
                let path = part_path(name, start.part, "parquet");
                let encoder = TableEncoder::parquet(name, path.clone(), training_schema(dataset.shape))?;
                part.training.push(OpenTable::create(&self.root, &path, encoder)?);
            }
        }
        part.tables = Table::ALL
            .iter()
            .map(|&table| {
                let schema = start.schema.as_ref().filter(|_| table == Table::Conversations);
                self.options.writes(table).then(|| part.open(table, schema)).transpose()
            })
            .collect::<Result<_>>()?;
        part.map = self.options.verbatim_map.then(|| part.open_lines(MAP)).transpose()?;
        Ok(part)
    }

    async fn timings(&self, first: usize, timings: &Timings) -> Result<()> {
        let mut text = Vec::new();
        write_json(timings, &mut text)?;
        self.root.join(&format!("{TIMINGS}/from-part-{first:05}.json")).write_atomic(&text).await
    }

    async fn finish(&self, mut manifest: Manifest) -> Result<Manifest> {
        if self.options.verbatim_map && manifest.totals.conversations == 1 {
            self.write_only_map(&mut manifest).await?;
        }
        if let Some(promised) = &self.words {
            manifest.files.push(words_entry(&self.root, promised)?);
        }
        self.root.join(MANIFEST).write_atomic(seal(&manifest)?.as_bytes()).await?;
        self.sweep();
        Ok(manifest)
    }
}

impl PartSink for PartWriter {
    async fn write(&mut self, batch: EncodedBatch, bridge: &Bridge) -> Result<()> {
        let tables = self.tables.iter_mut().zip(batch.tables);
        try_join_all(tables.filter_map(|(table, rows)| Some(table.as_mut()?.append(Rows::Batch(rows?), bridge))))
            .await?;
        if !batch.rejects.is_empty() {
            let mut rejects = match self.rejects.take() {
                Some(rejects) => rejects,
                None => self.open_lines(REJECTS)?,
            };
            rejects.append(Rows::Rejects(batch.rejects), bridge).await?;
            self.rejects = Some(rejects);
        }
        let training = self.training.iter_mut().zip(batch.training.into_iter().flatten());
        try_join_all(training.map(|(table, rows)| table.append(Rows::Batch(rows), bridge))).await?;
        if !batch.dropped.is_empty() {
            let mut dropped = match self.dropped.take() {
                Some(dropped) => dropped,
                None => self.open_lines(DROPPED)?,
            };
            dropped.append(Rows::Lines(batch.dropped), bridge).await?;
            self.dropped = Some(dropped);
        }
        if let Some(map) = self.map.as_mut().filter(|_| !batch.verbatim_map.is_empty()) {
            map.append(Rows::Lines(batch.verbatim_map), bridge).await?;
        }
        Ok(())
    }

    async fn commit(mut self, mut commit: Commit, bridge: &Bridge) -> Result<Commit> {
        let open = std::mem::take(&mut self.tables).into_iter().flatten();
        let open = open.chain(self.rejects.take()).chain(self.map.take());
        let open = open.chain(std::mem::take(&mut self.training)).chain(self.dropped.take());
        for table in open {
            commit.files.push(table.finish(bridge).await?);
        }
        self.root.join(&commit_path(commit.part)).write_atomic(seal(&commit)?.as_bytes()).await?;
        Ok(commit)
    }
}

/// What a table takes.
enum Rows {
    Batch(RecordBatch),
    Rejects(Vec<RejectRow>),
    Lines(Vec<String>),
}

/// A table's file with its encoder, which goes to a worker and comes back.
struct OpenTable {
    encoder: Option<TableEncoder>,
    file: BlobWriter,
    path: String,
}

impl std::fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTable").field("path", &self.path).finish_non_exhaustive()
    }
}

impl OpenTable {
    fn create(root: &Place, path: &str, encoder: TableEncoder) -> Result<Self> {
        Ok(Self { encoder: Some(encoder), file: root.join(path).create()?, path: path.to_owned() })
    }

    fn take_encoder(&mut self) -> Result<TableEncoder> {
        let lost = || Error::new(ErrorKind::Internal, &self.path, "the table was written after a failure");
        self.encoder.take().ok_or_else(lost)
    }

    async fn append(&mut self, rows: Rows, bridge: &Bridge) -> Result<()> {
        let mut encoder = self.take_encoder()?;
        let work = move || {
            let bytes = append(&mut encoder, rows)?;
            Ok((encoder, bytes))
        };
        let (encoder, bytes) = bridge.run(self.path.clone(), work).await?;
        self.encoder = Some(encoder);
        if bytes.is_empty() { Ok(()) } else { self.file.write(&bytes).await }
    }

    async fn finish(mut self, bridge: &Bridge) -> Result<TableFile> {
        let encoder = self.take_encoder()?;
        let (bytes, entry) = bridge.run(self.path.clone(), move || encoder.finish()).await?;
        self.file.write(&bytes).await?;
        self.file.commit().await?;
        Ok(entry)
    }
}

fn append(encoder: &mut TableEncoder, rows: Rows) -> Result<Vec<u8>> {
    match rows {
        Rows::Batch(batch) => encoder.append(&batch),
        Rows::Rejects(rejects) => encoder.append_rows(rejects),
        Rows::Lines(lines) => {
            let mut text = Vec::new();
            for line in &lines {
                text.extend_from_slice(line.as_bytes());
                text.push(b'\n');
            }
            encoder.append_lines(&text, lines.len())
        }
    }
}
