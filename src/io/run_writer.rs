//! Writes a run directory: one file per table and part, the commit after them, the manifest at the end. Knows the
//! layout of the directory, not the tables' columns.

use std::path::{Path, PathBuf};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::future::try_join_all;

use super::disk::{AtomicFile, write_atomic};
use super::encoder::TableEncoder;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Commit, ConversationFormat, EncodedBatch, JobOptions, Manifest, RejectRow, Sink, Table, TableFile,
    conversations_schema, decisions_schema, metrics_schema, records_schema, seal, verbatim_schema,
};

/// The folder and the ending of the rejects.
pub(crate) const REJECTS: &str = "rejects";
const MAP: &str = "verbatim-map";

/// A run directory in the making.
#[derive(Debug)]
pub struct RunWriter {
    root: PathBuf,
    options: JobOptions,
    part: usize,
    tables: Vec<Option<OpenTable>>,
    rejects: Option<OpenTable>,
    map: Option<OpenTable>,
    /// The map of the only conversation so far, and how many conversations there were.
    only_map: Option<String>,
    n_conversations: u64,
}

impl RunWriter {
    /// Prepares the directory `root`.
    ///
    /// # Errors
    /// `Usage` when it holds a run already.
    pub fn create(root: &Path, options: &JobOptions) -> Result<Self> {
        let place = root.to_string_lossy();
        if root.is_file() {
            return Err(Error::new(ErrorKind::Usage, place, "the output is a file, but a run is a directory"));
        }
        let commits = std::fs::read_dir(root.join("commits")).is_ok_and(|mut entries| entries.next().is_some());
        if commits || root.join("manifest.json").exists() {
            return Err(Error::new(ErrorKind::Usage, place, "the directory holds a committed run already"));
        }
        std::fs::create_dir_all(root).map_err(|error| super::failed(place, "the directory cannot be made", error))?;
        Ok(Self {
            root: root.to_owned(),
            options: options.clone(),
            part: 0,
            tables: Vec::new(),
            rejects: None,
            map: None,
            only_map: None,
            n_conversations: 0,
        })
    }

    fn open(&self, table: Table) -> Result<OpenTable> {
        let name = table.as_str();
        let encoder = match self.options.format {
            ConversationFormat::Parquet => {
                TableEncoder::parquet(name, self.path(name, "parquet"), schema_of(table, self.options.format))?
            }
            ConversationFormat::Jsonl => TableEncoder::lines(name, self.path(name, "jsonl.zst"), true),
        };
        OpenTable::create(&self.root, &self.path(name, self.ending()), encoder)
    }

    fn open_lines(&self, name: &str) -> Result<OpenTable> {
        let path = self.path(name, "jsonl");
        OpenTable::create(&self.root, &path, TableEncoder::lines(name, path.clone(), false))
    }

    fn ending(&self) -> &'static str {
        match self.options.format {
            ConversationFormat::Parquet => "parquet",
            ConversationFormat::Jsonl => "jsonl.zst",
        }
    }

    fn path(&self, table: &str, ending: &str) -> String {
        format!("{table}/part-{:05}.{ending}", self.part)
    }

    async fn write_map(&mut self, lines: Vec<String>, bridge: &Bridge) -> Result<()> {
        let mut map = match self.map.take() {
            Some(map) => map,
            None => self.open_lines(MAP)?,
        };
        if let [line] = &*lines {
            self.only_map =
                line.split_once("\"verbatim\":").and_then(|(_, map)| map.strip_suffix('}')).map(str::to_owned);
        }
        map.append(Rows::Lines(lines), bridge).await?;
        self.map = Some(map);
        Ok(())
    }
}

/// The Arrow schema of a table.
pub(crate) fn schema_of(table: Table, format: ConversationFormat) -> SchemaRef {
    match (table, format) {
        (Table::Conversations, ConversationFormat::Parquet) => conversations_schema(),
        (Table::Conversations, ConversationFormat::Jsonl) => records_schema(),
        (Table::Verbatim, _) => verbatim_schema(),
        (Table::Metrics, _) => metrics_schema(),
        (Table::Decisions, _) => decisions_schema(),
    }
}

impl Sink for RunWriter {
    async fn begin(&mut self, part: usize, _source: &str) -> Result<()> {
        self.part = part;
        self.tables = Table::ALL
            .iter()
            .map(|&table| self.options.writes(table).then(|| self.open(table)).transpose())
            .collect::<Result<_>>()?;
        self.rejects = None;
        self.map = if self.options.verbatim_map { Some(self.open_lines(MAP)?) } else { None };
        Ok(())
    }

    async fn write(&mut self, batch: EncodedBatch, bridge: &Bridge) -> Result<()> {
        self.n_conversations += batch.totals.conversations;
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
        if !batch.verbatim_map.is_empty() {
            self.write_map(batch.verbatim_map, bridge).await?;
        }
        Ok(())
    }

    async fn commit(&mut self, mut commit: Commit, bridge: &Bridge) -> Result<Commit> {
        let open = std::mem::take(&mut self.tables).into_iter().flatten();
        let open = open.chain(self.rejects.take()).chain(self.map.take());
        for table in open {
            commit.files.push(table.finish(bridge).await?);
        }
        let path = self.root.join(format!("commits/part-{:05}.json", commit.part));
        write_atomic(&path, seal(&commit)?.as_bytes()).await?;
        Ok(commit)
    }

    async fn finish(&mut self, mut manifest: Manifest) -> Result<Manifest> {
        if let (true, 1, Some(map)) = (self.options.verbatim_map, self.n_conversations, self.only_map.take()) {
            let path = format!("{MAP}.json");
            write_atomic(&self.root.join(&path), map.as_bytes()).await?;
            manifest.files.push(TableFile {
                table: MAP.to_owned(),
                path,
                rows: 1,
                bytes: map.len() as u64,
                blake3: blake3::hash(map.as_bytes()).to_hex().to_string(),
                stream_blake3: None,
                pieces: Vec::new(),
            });
        }
        write_atomic(&self.root.join("manifest.json"), seal(&manifest)?.as_bytes()).await?;
        Ok(manifest)
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
    file: AtomicFile,
    path: String,
}

impl std::fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTable").field("path", &self.path).finish_non_exhaustive()
    }
}

impl OpenTable {
    fn create(root: &Path, path: &str, encoder: TableEncoder) -> Result<Self> {
        Ok(Self { encoder: Some(encoder), file: AtomicFile::create(&root.join(path))?, path: path.to_owned() })
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
    let (mut text, n_rows) = (
        Vec::new(),
        match &rows {
            Rows::Batch(batch) => batch.num_rows(),
            Rows::Rejects(rejects) => rejects.len(),
            Rows::Lines(lines) => lines.len(),
        },
    );
    match rows {
        Rows::Batch(batch) => return encoder.append(&batch),
        Rows::Rejects(rejects) => {
            for reject in &rejects {
                write_json(reject, &mut text)?;
            }
        }
        Rows::Lines(lines) => {
            for line in &lines {
                text.extend_from_slice(line.as_bytes());
                text.push(b'\n');
            }
        }
    }
    encoder.append_lines(&text, n_rows)
}

/// Appends `value` as one line.
pub(crate) fn write_json<T: serde::Serialize>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(&mut *out, value)
        .map_err(|error| Error::new(ErrorKind::Internal, "", "a row cannot be written as JSON").because(error))?;
    out.push(b'\n');
    Ok(())
}
