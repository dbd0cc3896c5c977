//! The rejects of a run as the inputs of a new one: the very lines and rows that could not be read. Knows rejects,
//! not why they were rejected.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::row_files::{RowChunk, RowStream, open_row_stream};
use super::run_writer::REJECTS;
use super::stream::{Slices, Stream};
use super::{LineSource, PlannedSlices, Run};
use crate::error::{Error, Result};
use crate::pipeline::{
    BatchOptions, Commit, Container, Corpus, PlannedInput, RejectRow, Slice, Source, TableFile, TableOptions,
    raw_of_reject, row_of_reject,
};

type Rows = Box<dyn Iterator<Item = Result<RejectRow>> + Send>;

/// The rejects of a run.
#[derive(Debug)]
pub struct Rejects {
    run: Arc<Run>,
    /// The parts that have rejects.
    parts: Vec<usize>,
    options: BatchOptions,
    tables: TableOptions,
}

impl Rejects {
    /// The rejects of `run`, an input for each of its parts that has some.
    ///
    /// # Errors
    /// `Usage` when nothing was rejected.
    pub fn plan(run: Run, options: BatchOptions, tables: TableOptions) -> Result<(Self, Vec<PlannedSlices>)> {
        let (mut parts, mut planned) = (Vec::new(), Vec::new());
        for (part, commit) in run.commits.iter().enumerate() {
            let Some(file) = file_of(commit) else { continue };
            parts.push(part);
            let source = run.place().join(&file.path).to_string();
            let input = PlannedInput::new(source, Some(file.bytes), Some(file.blake3.clone()));
            planned.push((input, vec![Slice::Whole]));
        }
        if parts.is_empty() {
            return Err(Error::usage(run.place().to_string(), "the run has no rejects: nothing to do"));
        }
        Ok((Self { run: Arc::new(run), parts, options, tables }, planned))
    }
}

fn file_of(commit: &Commit) -> Option<&TableFile> {
    commit.files.iter().find(|file| file.table == REJECTS)
}

impl Corpus for Rejects {
    fn open(&self, index: usize, planned: &PlannedInput, _slice: &Slice) -> Result<Box<dyn Source>> {
        let part = self.parts.get(index).and_then(|&part| self.run.commits.get(part));
        let Some((commit, file)) = part.and_then(|commit| Some((commit, file_of(commit)?))) else {
            return Err(Error::internal(&planned.source, "the plan names rejects that are not there"));
        };
        self.run.check_rejects(commit)?;
        let mut rows = self.run.rejects(commit)?;
        let stored = (file.bytes, file.blake3.clone());
        if commit.table.is_some() {
            let schema = self.run.schema_of_rows(commit)?;
            let stream = RejectedRows { rows, schema, stored, ahead: None };
            let container = commit.table.as_ref().map_or(Container::Parquet, |table| table.container);
            return open_row_stream(&planned.source, container, Box::new(stream), self.options, &self.tables);
        }
        let stream = Slices::new(move || rows.next().map(|reject| raw_of_reject(&reject?)).transpose());
        let stream = Stream::new(&planned.source, Box::new(stream), self.options);
        Ok(Box::new(LineSource::of(stream.stored(Some(Box::new(move || Ok(Some(stored))))))))
    }
}

/// The rows of rejects, in the types of the table that they come from.
struct RejectedRows {
    rows: Rows,
    schema: SchemaRef,
    stored: (u64, String),
    ahead: Option<RecordBatch>,
}

impl RejectedRows {
    fn read(&mut self) -> Result<Option<RecordBatch>> {
        for reject in self.rows.by_ref() {
            if let Some(row) = row_of_reject(&reject?, &self.schema)? {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }
}

impl RowStream for RejectedRows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn head(&mut self) -> Result<RecordBatch> {
        self.ahead = self.read()?;
        Ok(self.ahead.clone().unwrap_or_else(|| RecordBatch::new_empty(self.schema.clone())))
    }

    fn next(&mut self) -> Result<Option<RowChunk>> {
        let ahead = self.ahead.take();
        Ok(match ahead {
            Some(rows) => Some(rows),
            None => self.read()?,
        }
        .map(RowChunk::Rows))
    }

    fn stored(&mut self) -> Result<(u64, String)> {
        Ok(self.stored.clone())
    }
}
