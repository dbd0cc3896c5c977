//! The filter: compressed records go to an output stream, everything that restores them to one file, the sidecar.
//! Its lines are `{"verbatim": row}` and `{"reject": row}` in the order of the records, and `{"commit": …}` last.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use arrow::datatypes::SchemaRef;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::codec::open_codec;
use super::encoder::TableEncoder;
use super::failed;
use super::json_rows::write_rows;
use super::line_table::{LineTable, open_stream};
use super::run_writer::OpenTable;
use super::store::Place;
use crate::error::{Error, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Commit, Compression, EncodedBatch, Manifest, PartReaders, PartSink, RejectRow, Restorer, Sink, verbatim_schema,
};

const SIDECAR: &str = "sidecar";

/// Writes records to a stream and their originals to a sidecar. There is one part.
#[derive(Debug)]
pub struct FilterSink {
    part: Mutex<Option<FilterPart>>,
}

/// The part of a filter.
pub struct FilterPart {
    output: Box<dyn AsyncWrite + Send + Unpin>,
    sidecar: Option<OpenTable>,
}

shows!(FilterPart {});

#[derive(Serialize)]
struct RejectLine {
    reject: RejectRow,
}

#[derive(Serialize, Deserialize)]
struct CommitLine {
    commit: Commit,
}

impl FilterSink {
    /// Records go to `output`; without a sidecar the originals are lost.
    pub fn create(output: Box<dyn AsyncWrite + Send + Unpin>, sidecar: Option<&Path>) -> Result<Self> {
        if let Some(path) = sidecar.filter(|path| path.exists()) {
            return Err(Error::usage(path.to_string_lossy(), "the sidecar exists already and is not overwritten")
                .hinting("remove the file or choose another name"));
        }
        let encoder = || TableEncoder::lines(SIDECAR, SIDECAR.to_owned(), Compression::default());
        let sidecar = sidecar.map(|path| OpenTable::create(&Place::from(path), encoder())).transpose()?;
        Ok(Self { part: Mutex::new(Some(FilterPart { output, sidecar })) })
    }
}

impl Sink for FilterSink {
    type Part = FilterPart;

    async fn begin(&self, _: usize, source: &str, _: Option<SchemaRef>) -> Result<FilterPart> {
        let part = self.part.lock().unwrap_or_else(PoisonError::into_inner).take();
        part.ok_or_else(|| Error::usage(source, "the filter takes exactly one input"))
    }

    async fn finish(&self, manifest: Manifest) -> Result<Manifest> {
        Ok(manifest)
    }
}

impl PartSink for FilterPart {
    async fn write(&mut self, batch: EncodedBatch, bridge: &Bridge) -> Result<()> {
        let [records, verbatim, ..] = batch.tables;
        let work = move || {
            let mut out = Vec::new();
            if let Some(records) = &records {
                write_rows(records, &mut out)?;
            }
            Ok(out)
        };
        let out = bridge.run(SIDECAR.to_owned(), work).await?;
        let rejects = batch.rejects;
        let rows = move |encoder: &mut TableEncoder| {
            let mut rows = Vec::new();
            if let Some(verbatim) = &verbatim {
                write_rows(verbatim, &mut rows)?;
            }
            let mut lines = Vec::new();
            for row in rows.split(|&byte| byte == b'\n').filter(|row| !row.is_empty()) {
                lines.extend_from_slice(b"{\"verbatim\":");
                lines.extend_from_slice(row);
                lines.extend_from_slice(b"}\n");
            }
            drop(rows);
            let mut bytes = encoder.append_lines(&lines, verbatim.map_or(0, |verbatim| verbatim.num_rows()))?;
            bytes.extend(encoder.append_rows(rejects.into_iter().map(|reject| RejectLine { reject }))?);
            Ok(bytes)
        };
        if let Some(sidecar) = &mut self.sidecar {
            sidecar.append(rows, bridge).await?;
        }
        self.output.write_all(&out).await.map_err(|error| failed("stdout", "cannot be written", error))
    }

    async fn commit(mut self, commit: Commit, bridge: &Bridge) -> Result<Commit> {
        self.output.flush().await.map_err(|error| failed("stdout", "cannot be written", error))?;
        let line = CommitLine { commit: commit.clone() };
        if let Some(mut sidecar) = self.sidecar.take() {
            sidecar.append(|encoder| encoder.append_rows([line]), bridge).await?;
            sidecar.finish(bridge).await?;
        }
        Ok(commit)
    }
}

/// A sidecar to restore from.
#[derive(Debug)]
pub struct OpenSidecar {
    path: std::path::PathBuf,
    /// What was read and proven.
    pub commit: Commit,
}

impl OpenSidecar {
    /// Opens the sidecar and reads its commit.
    pub fn open(path: &Path) -> Result<Self> {
        let place = path.to_string_lossy().into_owned();
        let file = File::open(path).map_err(|error| failed(&*place, "cannot be opened", error))?;
        let (_, stream) = open_codec(BufReader::new(file)).map_err(|error| failed(&*place, "cannot be read", error))?;
        let damaged = || Error::verification(&*place, "the sidecar is damaged or not complete");
        let mut last = Vec::new();
        let mut reader = BufReader::with_capacity(1 << 20, stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            let n_bytes = reader.read_until(b'\n', &mut line).map_err(|error| damaged().because(error))?;
            if n_bytes == 0 {
                break;
            }
            std::mem::swap(&mut last, &mut line);
        }
        let last: CommitLine = serde_json::from_slice(&last).map_err(|error| damaged().because(error))?;
        Ok(Self { path: path.to_owned(), commit: last.commit })
    }

    /// Restores the stream from the records that the filter wrote.
    pub fn restorer(&self, records: Box<dyn Read + Send>, bridge: &Bridge) -> Result<Restorer> {
        let name = self.path.to_string_lossy().into_owned();
        let place = name.clone();
        let rejects = BufReader::with_capacity(1 << 20, open_stream(&Place::from(&self.path).open()?)?)
            .split(b'\n')
            .filter_map(move |line| {
                #[derive(Deserialize)]
                struct Line {
                    reject: RejectRow,
                }
                match line {
                    Ok(line) if !line.starts_with(b"{\"reject\"") => None,
                    Ok(line) => Some(
                        serde_json::from_slice::<Line>(&line)
                            .map(|line| line.reject)
                            .map_err(|error| Error::verification(&*place, "a reject cannot be read").because(error)),
                    ),
                    Err(error) => Some(Err(failed(&*place, "cannot be read", error))),
                }
            });
        let readers = PartReaders {
            conversations: Box::new(LineTable::records("stdin", records)),
            verbatim: Box::new(LineTable::rows(
                &name,
                open_stream(&Place::from(&self.path).open()?)?,
                verbatim_schema(),
                Some("verbatim"),
            )),
            rejects: Box::new(rejects),
            metrics: None,
        };
        Ok(Restorer::lines(readers, bridge.clone(), name))
    }
}
