//! Rows are compressed, each by itself. Refuses to know how they are restored.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, LargeStringArray, StructArray, UInt32Array};
use arrow::compute::{cast, concat, take};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::sidecar::{ADDED, METRICS_COLUMN, NAME, PLACE, REJECTED_COLUMN, SIDECAR_COLUMN, chosen, internal, written};
use crate::error::{Error, Result};
use crate::model::{HideBy, ReadAs, SystemPrompts};
use crate::pipeline::bridge::{Bridge, guard};
use crate::pipeline::record::{Form, Recipe};
use crate::pipeline::rows::{encode_rows, marks, value_bytes};
use crate::pipeline::tables::{asked_metrics, metrics_schema, text_column};
use crate::pipeline::task::Task;
use crate::pipeline::{Condense, Container, JobOptions, Originals, RejectRow, RowBatch, TableInput};

/// Compresses batches of rows, each by itself.
#[derive(Debug)]
pub struct RowCompressor {
    engine: Arc<dyn Condense>,
    options: JobOptions,
    /// `None` where the caller's thread does the work.
    bridge: Option<Bridge>,
    /// The columns of the metrics table that are shown, by their places.
    figures: Vec<usize>,
}

/// What a piece of a batch becomes.
struct Piece {
    conversations: ArrayRef,
    sidecar: ArrayRef,
    metrics: ArrayRef,
    rejected: ArrayRef,
}

impl RowCompressor {
    /// Compresses with `engine` on `threads` threads; 0 means one per core, 1 the caller's own.
    ///
    /// # Errors
    /// `Usage` names the option that only a job can follow.
    pub fn new(engine: Arc<dyn Condense>, options: JobOptions, threads: usize) -> Result<Self> {
        let engines = || options.engines();
        let once = engines().any(|it| it.prompts == SystemPrompts::Once && it.hide_by == HideBy::Use);
        let refused = [
            ("dataset", options.dataset.is_some()),
            ("llm", options.llm.is_some()),
            ("target_ratio", options.target_ratio.is_some()),
            ("prompts", once),
            ("trace", options.trace),
            ("verbatim_map", options.verbatim_map),
        ];
        if let Some((name, _)) = refused.into_iter().find(|(_, is_set)| *is_set) {
            let message =
                "rows that stand for themselves cannot have this: it takes a job, which sees all of its inputs";
            return Err(Error::usage(name, message));
        }
        let is_shown = |&at: &usize| {
            let schema = metrics_schema();
            let name = schema.field(at).name();
            !PLACE.contains(&name.as_str()) && name != "checksum"
        };
        let figures = asked_metrics(&options).into_iter().filter(is_shown).collect();
        let bridge = (threads != 1).then(|| Bridge::new(threads)).transpose()?;
        Ok(Self { engine, options, bridge, figures })
    }

    /// The schema of what becomes of rows with this schema: its columns, and three more.
    ///
    /// # Errors
    /// `Usage` when one of them is there already.
    pub fn schema(&self, rows: &Schema) -> Result<SchemaRef> {
        if let Some(name) = ADDED.into_iter().find(|name| rows.column_with_name(name).is_some()) {
            let message =
                "the rows have this column already: they were compressed before; restore them first, or rename it";
            return Err(Error::usage(name, message));
        }
        let added = [
            Field::new(SIDECAR_COLUMN, DataType::LargeUtf8, true),
            Field::new(METRICS_COLUMN, DataType::Struct(self.figure_fields()), true),
            Field::new(REJECTED_COLUMN, DataType::LargeUtf8, true),
        ];
        let fields = rows.fields().iter().cloned().chain(added.into_iter().map(Arc::new));
        Ok(Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), rows.metadata().clone())))
    }

    /// The column of `rows` that holds conversations.
    ///
    /// # Errors
    /// `Input` when none does.
    pub fn column(&self, rows: &RecordBatch) -> Result<String> {
        Ok(self.find(rows)?.messages)
    }

    fn find(&self, rows: &RecordBatch) -> Result<TableInput> {
        TableInput::by_type(NAME, Container::ArrowStream, rows, &self.options.tables())
    }

    /// Compresses the conversations of `rows`: as many rows, in their order, in the schema of [`RowCompressor::schema`].
    /// Column values that are not compressed are shared with `rows`, not copied.
    ///
    /// # Errors
    /// `Input` when no column holds conversations. A row that holds none is no error but rejected.
    pub fn compress(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let schema = self.schema(&rows.schema())?;
        let table = self.find(rows)?;
        let index = table.column;
        // Other columns are never touched; what they hold is as large as it likes.
        let looked_at: Vec<usize> = std::iter::once(index).chain(table.id_column).collect();
        let id_column = table.id_column.map(|_| 1);
        let table = Arc::new(TableInput { column: 0, id_column, ..table });
        let whole = rows;
        let rows = &rows.project(&looked_at).map_err(internal)?;
        let n_bytes = value_bytes(rows);
        let n_threads = self.bridge.as_ref().map_or(1, Bridge::threads);
        // Enough pieces for all threads, none with much more than a batch.
        let by_threads = if n_threads == 1 { 1 } else { n_threads * 4 };
        let n_pieces =
            n_bytes.div_ceil(self.options.batch_bytes.max(1)).max(by_threads).clamp(1, rows.num_rows().max(1));
        let step = rows.num_rows().div_ceil(n_pieces).max(1);
        let starts: Vec<usize> = (0..rows.num_rows().max(1)).step_by(step).collect();
        let piece = |&start: &usize| {
            let slice = rows.slice(start, step.min(rows.num_rows() - start));
            guard(|| self.piece(&slice, start, &table)).unwrap_or_else(|message| Err(Error::internal(NAME, message)))
        };
        let pieces: Vec<Piece> = match &self.bridge {
            None => starts.iter().map(piece).collect::<Result<_>>()?,
            Some(bridge) => bridge.install(|| starts.par_iter().map(piece).collect::<Result<_>>())?,
        };
        let joined = |of: fn(&Piece) -> &ArrayRef| {
            let arrays: Vec<&dyn Array> = pieces.iter().map(|piece| of(piece).as_ref()).collect();
            match &*pieces {
                [piece] => Ok(of(piece).clone()),
                _ => concat(&arrays).map_err(internal),
            }
        };
        let mut columns = whole.columns().to_vec();
        columns[index] = joined(|piece| &piece.conversations)?;
        columns.push(joined(|piece| &piece.sidecar)?);
        columns.push(joined(|piece| &piece.metrics)?);
        columns.push(joined(|piece| &piece.rejected)?);
        RecordBatch::try_new(schema, columns).map_err(internal)
    }

    fn piece(&self, rows: &RecordBatch, start: usize, table: &Arc<TableInput>) -> Result<Piece> {
        // What is proven to come back is the conversation.
        let marks = marks(&rows.project(&[table.column]).map_err(internal)?);
        let batch = RowBatch {
            rows: rows.clone(),
            schema: rows.schema(),
            table: table.clone(),
            marks,
            first_row: start as u64,
            n_bytes: value_bytes(rows),
            max_row_bytes: self.options.max_record_bytes as u64,
            lost: None,
        };
        let read_as = ReadAs::told(self.options.map.as_ref(), self.options.shape);
        let recipe = Recipe {
            engine: &*self.engine,
            form: Form::Columns,
            read_as,
            forced: read_as.is_some(),
            earlier: None,
            whole: self.options.originals == Originals::Whole,
            dated: None,
        };
        let encoded = encode_rows(&Task::alone(recipe, NAME), &batch)?;
        let [Some(kept), Some(verbatim), Some(metrics), _] = encoded.tables else {
            return Err(Error::internal(NAME, "a table is missing"));
        };
        let n_rows = rows.num_rows();
        let mut places: Vec<Option<usize>> = vec![None; n_rows];
        let mut why: Vec<Option<String>> = vec![None; n_rows];
        for RejectRow { source_row, reason, detail, .. } in &encoded.rejects {
            why[*source_row as usize - start] = Some(format!("{reason}: {detail}"));
        }
        for (at, row) in (0..n_rows).filter(|&row| why[row].is_none()).enumerate() {
            places[row] = Some(at);
        }
        let conversations = kept.column(table.column);
        let conversations = if encoded.rejects.is_empty() {
            conversations.clone()
        } else {
            chosen(rows.column(table.column), conversations, &places)?
        };
        let among: UInt32Array = places.iter().map(|place| place.map(|at| at as u32)).collect();
        let checksums = text_column(&metrics, "checksum")?;
        let sidecars = written(&verbatim, (&table.messages, checksums), start as u64, &places)?;
        Ok(Piece {
            conversations,
            sidecar: Arc::new(LargeStringArray::from(sidecars)),
            metrics: take(&self.figures_of(&metrics)?, &among, None).map_err(internal)?,
            rejected: Arc::new(LargeStringArray::from(why)),
        })
    }

    /// The figures; counts as signed numbers, since not every engine that reads Arrow knows others.
    fn figure_fields(&self) -> Fields {
        let schema = metrics_schema();
        let field = |&at: &usize| {
            let field = schema.field(at).as_ref().clone();
            let data_type =
                if *field.data_type() == DataType::UInt64 { DataType::Int64 } else { field.data_type().clone() };
            field.with_data_type(data_type)
        };
        self.figures.iter().map(field).collect()
    }

    fn figures_of(&self, metrics: &RecordBatch) -> Result<StructArray> {
        let fields = self.figure_fields();
        let column =
            |(&at, field): (&usize, &Arc<Field>)| cast(metrics.column(at), field.data_type()).map_err(internal);
        let columns = self.figures.iter().zip(&fields).map(column).collect::<Result<Vec<_>>>()?;
        StructArray::try_new_with_length(fields, columns, None, metrics.num_rows()).map_err(internal)
    }
}
