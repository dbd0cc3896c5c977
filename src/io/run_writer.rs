//! Writes a run directory: the plan first, one file per table and part, the commit after them, the manifest at the
//! end. Knows the layout of the directory, not the tables' columns.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use futures::future::try_join_all;

use super::encoder::TableEncoder;
use super::json_rows::write_json;
use super::run_begin::{begin, reopen};
use super::run_cards::{TRAINING, document, write_cards};
use super::run_documents::{COMMITS, MANIFEST, TIMINGS, check_still, read};
use super::run_lock::{RunLock, Waits};
use super::split::{SPLIT, split_files};
use super::store::{BlobWriter, Place};
use crate::durable::sweep_unfinished;
use crate::error::{Error, Result};
use crate::model::LookAhead;
use crate::pipeline::bridge::Bridge;
use crate::pipeline::split::Side;
use crate::pipeline::tables::asked_metrics;
use crate::pipeline::{
    Commit, Compression, Container, ConversationFormat, EncodedBatch, Manifest, PartSink, RunPlan, Shard, Sink,
    TableFile, TableName, Timings, TrainingRows, commit_path, conversations_schema, decisions_schema, metrics_schema,
    records_schema, seal, seal_packed, training_schema, verbatim_schema,
};

/// The folder of the rejects.
pub(crate) const REJECTS: &str = "rejects";
const MAP: &str = "verbatim-map";
/// What is not among training data.
const DROPPED: &str = "dataset/dropped";
/// How far the engine looked ahead, in the metadata of tables with conversations.
const LOOK_AHEAD: &str = "condenser.look_ahead";

/// A run directory in the making.
#[derive(Debug)]
pub struct RunWriter {
    root: Place,
    plan: RunPlan,
    lock: Arc<RunLock>,
}

impl RunWriter {
    /// Prepares the directory `root` for `plan`, or goes on with what an earlier call of the same job began there:
    /// the writer and the commits that are already there. While another process writes to the run this waits, and
    /// tells `waits` for whom; afterwards nobody else writes until the writer is dropped.
    ///
    /// # Errors
    /// `Usage` when the directory holds another job's run, or inputs or options have changed: says which.
    pub async fn open(
        root: impl Into<Place>,
        plan: &RunPlan,
        shard: Option<Shard>,
        waits: &Waits<'_>,
    ) -> Result<(Self, Vec<Commit>)> {
        let root = root.into();
        let (lock, commits) = begin(&root, plan, shard, waits).await?;
        Ok((Self { root, plan: plan.clone(), lock: Arc::new(lock) }, commits))
    }

    /// Opens the run at `root` to finish it: its plan, all its commits, and the writer of the manifest. Waits for others
    /// as [`Self::open`] does.
    ///
    /// With `partial`, parts may be missing.
    pub async fn reopen(
        root: impl Into<Place>,
        partial: bool,
        waits: &Waits<'_>,
    ) -> Result<(RunPlan, Vec<Commit>, Self)> {
        let root = root.into();
        let (plan, commits, lock) = reopen(&root, partial, waits).await?;
        Ok((plan.clone(), commits, Self { root, plan, lock: Arc::new(lock) }))
    }

    /// The map of a run with one conversation, also under a name of its own.
    async fn write_only_map(&self, manifest: &mut Manifest) -> Result<()> {
        let Some(map) = manifest.inputs.iter().find_map(|input| self.only_map(input.part).transpose()).transpose()?
        else {
            return Ok(());
        };
        let path = format!("{MAP}.json");
        self.root.join(&path).write_atomic(map.as_bytes()).await?;
        manifest.files.push(TableFile { table: MAP.to_owned(), ..document(&path, map.as_bytes()) });
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
        let folders = TableName::ALL.map(TableName::as_str).into_iter();
        let folders = folders.chain([REJECTS, MAP, COMMITS, TIMINGS, ".", DROPPED]).chain(TRAINING).chain([SPLIT]);
        folders.for_each(|folder| sweep_unfinished(&root.join(folder)));
    }
}

/// The path of a file of a part in the run directory.
fn part_path(table: &str, part: usize, ending: &str) -> String {
    format!("{table}/part-{part:05}.{ending}")
}

/// A part in the making.
#[derive(Debug)]
pub struct PartWriter {
    root: Place,
    lock: Arc<RunLock>,
    format: ConversationFormat,
    compression: Compression,
    look_ahead: Option<LookAhead>,
    /// The columns of the figures that are written.
    metrics: Vec<usize>,
    part: usize,
    tables: Vec<Option<OpenTable>>,
    rejects: Option<OpenTable>,
    map: Option<OpenTable>,
    training: Vec<OpenTable>,
    dropped: Option<OpenTable>,
}

impl PartWriter {
    fn open(&self, table: TableName, foreign: Option<&SchemaRef>) -> Result<OpenTable> {
        let (name, compression) = (table.as_str(), self.compression);
        let path = part_path(name, self.part, self.ending());
        let own = || match table {
            TableName::Conversations => Ok(self.telling(schema_of(table, self.format))),
            TableName::Metrics => metrics_schema().project(&self.metrics).map(Arc::new).map_err(internal),
            _ => Ok(schema_of(table, self.format)),
        };
        let encoder = match (self.format, foreign) {
            (ConversationFormat::Jsonl, _) => TableEncoder::lines(name, path.clone(), compression),
            (ConversationFormat::Parquet, None) => TableEncoder::parquet(name, path.clone(), own()?, compression)?,
            (ConversationFormat::Parquet, Some(schema)) => {
                TableEncoder::foreign(name, path.clone(), Container::Parquet, schema.clone(), compression)?
            }
            (ConversationFormat::Arrow, schema) => {
                let schema = schema.cloned().map_or_else(own, Ok)?;
                TableEncoder::foreign(name, path.clone(), Container::ArrowFile, schema, compression)?
            }
        };
        OpenTable::create(&self.root.join(&path), encoder)
    }

    /// The schema with what its metadata tell of how the conversations were made.
    fn telling(&self, schema: SchemaRef) -> SchemaRef {
        telling(schema, self.look_ahead)
    }

    fn open_lines(&self, name: &str) -> Result<OpenTable> {
        let path = part_path(name, self.part, "jsonl");
        OpenTable::create(&self.root.join(&path), TableEncoder::plain_lines(name, path))
    }

    fn ending(&self) -> &'static str {
        match (self.format, self.compression) {
            (ConversationFormat::Parquet, _) => "parquet",
            (ConversationFormat::Arrow, _) => "arrow",
            (ConversationFormat::Jsonl, Compression::None) => "jsonl",
            (ConversationFormat::Jsonl, Compression::Gzip) => "jsonl.gz",
            (ConversationFormat::Jsonl, Compression::Zstd(_)) => "jsonl.zst",
        }
    }
}

fn telling(schema: SchemaRef, look_ahead: Option<LookAhead>) -> SchemaRef {
    let Some(how_far) = look_ahead else { return schema };
    let mut schema = Schema::clone(&schema);
    schema.metadata.insert(LOOK_AHEAD.to_owned(), how_far.as_str().to_owned());
    Arc::new(schema)
}

/// The Arrow schema of a table.
pub(crate) fn schema_of(table: TableName, format: ConversationFormat) -> SchemaRef {
    match (table, format) {
        (TableName::Conversations, ConversationFormat::Parquet | ConversationFormat::Arrow) => conversations_schema(),
        (TableName::Conversations, ConversationFormat::Jsonl) => records_schema(),
        (TableName::Verbatim, _) => verbatim_schema(),
        (TableName::Metrics, _) => metrics_schema(),
        (TableName::Decisions, _) => decisions_schema(),
    }
}

impl Sink for RunWriter {
    type Part = PartWriter;

    async fn begin(&self, part: usize, _: &str, schema: Option<SchemaRef>) -> Result<PartWriter> {
        let mut part = PartWriter {
            root: self.root.clone(),
            lock: self.lock.clone(),
            format: self.plan.options.format,
            compression: self.plan.options.compression,
            look_ahead: self.plan.options.looks_ahead(),
            metrics: asked_metrics(&self.plan.options),
            part,
            tables: Vec::new(),
            rejects: None,
            map: None,
            training: Vec::new(),
            dropped: None,
        };
        if let Some(dataset) = &self.plan.options.dataset {
            for (name, side) in TRAINING.into_iter().zip([Side::Train, Side::Eval]) {
                let path = part_path(name, part.part, if dataset.target.is_lines() { "jsonl" } else { "parquet" });
                let encoder = if dataset.target.is_lines() {
                    TableEncoder::plain_lines(name, path.clone())
                } else {
                    let schema = telling(training_schema(dataset), dataset.look_ahead(side, part.look_ahead));
                    TableEncoder::parquet(name, path.clone(), schema, part.compression)?
                };
                part.training.push(OpenTable::create(&self.root.join(&path), encoder)?);
            }
        }
        part.tables = TableName::ALL
            .iter()
            .map(|&table| {
                let schema = schema.as_ref().filter(|_| table == TableName::Conversations);
                self.plan.options.writes(table).then(|| part.open(table, schema)).transpose()
            })
            .collect::<Result<_>>()?;
        part.map = self.plan.options.verbatim_map.then(|| part.open_lines(MAP)).transpose()?;
        Ok(part)
    }

    async fn timings(&self, first: usize, timings: &Timings) -> Result<()> {
        let mut text = Vec::new();
        write_json(timings, &mut text)?;
        self.root.join(&format!("{TIMINGS}/from-part-{first:05}.json")).write_atomic(&text).await
    }

    async fn finish(&self, mut manifest: Manifest) -> Result<Manifest> {
        if self.plan.options.verbatim_map && manifest.totals.conversations == 1 {
            self.write_only_map(&mut manifest).await?;
        }
        if let Some(dataset) = &self.plan.options.dataset {
            write_cards(&self.root, &self.plan, dataset, &mut manifest).await?;
        }
        self.lock.check()?;
        let (root, plan, mut manifest) = (self.root.clone(), self.plan.clone(), manifest);
        let check = move || {
            if let Some(split) = &plan.split {
                manifest.files.extend(split_files(&root, split)?);
            }
            let plan_blake3 = Some(check_still(&root, &plan, &manifest)?);
            Ok(Manifest { plan_blake3, ..manifest })
        };
        let manifest = Bridge::run_blocking("run", check).await?;
        // Before the manifest: a run that has one is complete for every later call, which would sweep nothing.
        self.sweep();
        self.root.join(MANIFEST).write_atomic(seal(&manifest)?.as_bytes()).await?;
        Ok(manifest)
    }
}

impl PartSink for PartWriter {
    async fn write(&mut self, mut batch: EncodedBatch, bridge: &Bridge) -> Result<()> {
        if let Some(metrics) = &mut batch.tables[TableName::Metrics as usize] {
            *metrics = metrics.project(&self.metrics).map_err(internal)?;
        }
        let tables = self.tables.iter_mut().zip(batch.tables);
        let tables = tables.filter_map(|(table, rows)| Some((table.as_mut()?, rows?)));
        try_join_all(tables.map(|(table, rows)| table.append(move |encoder| encoder.append(&rows), bridge))).await?;
        let training = self.training.iter_mut().zip(batch.training.into_iter().flatten());
        let append = |rows: TrainingRows| {
            move |encoder: &mut TableEncoder| match rows {
                TrainingRows::Table(rows) => encoder.append(&rows),
                TrainingRows::Lines(lines) => append_texts(encoder, &lines),
            }
        };
        try_join_all(training.map(|(table, rows)| table.append(append(rows), bridge))).await?;
        if !batch.rejects.is_empty() {
            let mut rejects = self.rejects.take().map_or_else(|| self.open_lines(REJECTS), Ok)?;
            rejects.append(move |encoder| encoder.append_rows(batch.rejects), bridge).await?;
            self.rejects = Some(rejects);
        }
        if !batch.dropped.is_empty() {
            let mut dropped = self.dropped.take().map_or_else(|| self.open_lines(DROPPED), Ok)?;
            dropped.append(move |encoder| append_texts(encoder, &batch.dropped), bridge).await?;
            self.dropped = Some(dropped);
        }
        if let Some(map) = self.map.as_mut().filter(|_| !batch.verbatim_map.is_empty()) {
            map.append(move |encoder| append_texts(encoder, &batch.verbatim_map), bridge).await?;
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
        self.lock.check()?;
        self.root.join(&commit_path(commit.part)).write_atomic(&seal_packed(&commit)?).await?;
        Ok(commit)
    }
}

/// A table's file with its encoder, which goes to a worker and comes back.
pub(super) struct OpenTable {
    encoder: Option<TableEncoder>,
    file: BlobWriter,
    path: String,
}

shows!(OpenTable { path });

impl OpenTable {
    pub(super) fn create(place: &Place, encoder: TableEncoder) -> Result<Self> {
        Ok(Self { encoder: Some(encoder), file: place.create()?, path: place.to_string() })
    }

    fn take_encoder(&mut self) -> Result<TableEncoder> {
        let lost = || Error::internal(&self.path, "the table was written after a failure");
        self.encoder.take().ok_or_else(lost)
    }

    /// Has the encoder take rows, on a worker.
    pub(super) async fn append(
        &mut self,
        rows: impl FnOnce(&mut TableEncoder) -> Result<Vec<u8>> + Send + 'static,
        bridge: &Bridge,
    ) -> Result<()> {
        let mut encoder = self.take_encoder()?;
        let work = move || {
            let bytes = rows(&mut encoder)?;
            Ok((encoder, bytes))
        };
        let (encoder, bytes) = bridge.run(self.path.clone(), work).await?;
        self.encoder = Some(encoder);
        if bytes.is_empty() { Ok(()) } else { self.file.write(&bytes).await }
    }

    pub(super) async fn finish(mut self, bridge: &Bridge) -> Result<TableFile> {
        let encoder = self.take_encoder()?;
        let (bytes, entry) = bridge.run(self.path.clone(), move || encoder.finish()).await?;
        self.file.write(&bytes).await?;
        self.file.commit().await?;
        Ok(entry)
    }
}

fn internal(error: ArrowError) -> Error {
    Error::internal("", "a table lacks a column").because(error)
}

fn append_texts(encoder: &mut TableEncoder, lines: &[String]) -> Result<Vec<u8>> {
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    encoder.append_lines(text.as_bytes(), lines.len())
}
