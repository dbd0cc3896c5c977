//! Rows that others hold in memory: row in, row out, with what brings the row back and its figures in columns beside it.
//! Each row stands for itself, so that rows may be filtered, sorted and joined before they are restored. Knows Arrow
//! batches; refuses to know who holds them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, LargeStringArray, StructArray, UInt32Array, UInt64Array};
use arrow::compute::{cast, concat, filter_record_batch, interleave, is_not_null, take};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::json::{LineDelimitedWriter, ReaderBuilder};
use arrow::record_batch::RecordBatch;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::bridge::{Bridge, guard};
use super::record::{Form, Recipe};
use super::rows::{TextColumn, encode_rows, marks, value_bytes, with_column};
use super::tables::{asked_metrics, count_column, metrics_schema, text_column};
use super::task::Task;
use super::{
    Condense, Container, JobOptions, Originals, PartReaders, RejectRow, RestoredSlice, Restorer, RowBatch, TableInput,
    TableOptions, TableReader, verbatim_schema,
};
use crate::error::{Error, Result};
use crate::model::{HideBy, ReadAs, SystemPrompts};

/// The column with what brings the row back: JSON, null where the row was rejected.
pub const SIDECAR_COLUMN: &str = "condenser_sidecar";
/// The column with the figures: a struct, null where the row was rejected.
pub const METRICS_COLUMN: &str = "condenser_metrics";
/// The column that says why a row was rejected, which stands there as it came; else null.
pub const REJECTED_COLUMN: &str = "condenser_rejected";

const ADDED: [&str; 3] = [SIDECAR_COLUMN, METRICS_COLUMN, REJECTED_COLUMN];
/// Columns of tables that say where a row stands; rows in memory stand nowhere.
const PLACE: [&str; 3] = ["conversation_id", "source", "source_row"];
/// What names rows in errors.
const NAME: &str = "rows";

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

    /// Compresses the conversations of `rows`: as many rows, in their order, in the schema of [`RowCompressor::schema`].
    /// Column values that are not compressed are shared with `rows`, not copied.
    ///
    /// # Errors
    /// `Input` when no column holds conversations. A row that holds none is no error but rejected.
    pub fn compress(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let schema = self.schema(&rows.schema())?;
        let table = TableInput::find(NAME, Container::ArrowStream, rows, &self.options.tables())?;
        let table = Arc::new(table);
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
        let mut columns = rows.columns().to_vec();
        columns[table.column] = joined(|piece| &piece.conversations)?;
        columns.push(joined(|piece| &piece.sidecar)?);
        columns.push(joined(|piece| &piece.metrics)?);
        columns.push(joined(|piece| &piece.rejected)?);
        RecordBatch::try_new(schema, columns).map_err(internal)
    }

    fn piece(&self, rows: &RecordBatch, start: usize, table: &Arc<TableInput>) -> Result<Piece> {
        // What is proven to come back is the conversation: other columns are never touched.
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
        let task = Task {
            recipe,
            source: NAME,
            trace: false,
            verbatim_map: false,
            trainer: None,
            input: 0,
            verdicts: None,
            surveyor: None,
            nights: None,
        };
        let encoded = encode_rows(&task, &batch)?;
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
        let sidecars = sidecars(&verbatim, checksums, start as u64, &places)?;
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

/// A row of the sidecar as it is written.
#[derive(Deserialize)]
struct Sidecar<'s> {
    checksum: &'s str,
    #[serde(borrow)]
    rows: Vec<&'s RawValue>,
}

/// What restores each row: the rows of the verbatim table that are about it, as JSON.
fn sidecars(
    verbatim: &RecordBatch,
    checksums: &LargeStringArray,
    start: u64,
    places: &[Option<usize>],
) -> Result<Vec<Option<String>>> {
    let numbers = count_column(verbatim, "source_row")?;
    let shown: Vec<usize> = beside_place(&verbatim.schema());
    let mut lines = LineDelimitedWriter::new(Vec::with_capacity(value_bytes(verbatim) * 9 / 8));
    lines.write(&verbatim.project(&shown).map_err(internal)?).map_err(internal)?;
    let lines = String::from_utf8(lines.into_inner()).map_err(internal)?;
    let mut lines = lines.lines().zip(numbers.values()).peekable();
    let mut sidecar = |(row, place): (usize, &Option<usize>)| {
        let at = (*place)?;
        let mut text = format!("{{\"checksum\":\"{}\",\"rows\":[", checksums.value(at));
        let mut between = "";
        while let Some((line, _)) = lines.next_if(|(_, number)| **number == start + row as u64) {
            text.push_str(std::mem::replace(&mut between, ","));
            text.push_str(line);
        }
        text.push_str("]}");
        Some(text)
    };
    Ok(places.iter().enumerate().map(&mut sidecar).collect())
}

/// The columns that do not say where a row stands.
fn beside_place(schema: &Schema) -> Vec<usize> {
    let fields = schema.fields().iter().enumerate();
    fields.filter(|(_, field)| !PLACE.contains(&field.name().as_str())).map(|(at, _)| at).collect()
}

/// Of each row the one among `some`, where it has a place there, else the one among `all`.
fn chosen(all: &ArrayRef, some: &ArrayRef, places: &[Option<usize>]) -> Result<ArrayRef> {
    let from: Vec<(usize, usize)> =
        places.iter().enumerate().map(|(row, place)| place.map_or((0, row), |at| (1, at))).collect();
    interleave(&[all.as_ref(), some.as_ref()], &from).map_err(internal)
}

/// The rows that were compressed, without the columns that were added. `column` holds the conversations, or the one that is found
/// as for a job.
///
/// # Errors
/// `Input` when a column is missing that this needs; `Verification` when a conversation, or its sidecar, was changed.
pub fn restore_rows(rows: &RecordBatch, column: Option<&str>) -> Result<RecordBatch> {
    let schema = rows.schema();
    let options = TableOptions { messages_column: column.map(str::to_owned), ..TableOptions::default() };
    let table = TableInput::find(NAME, Container::ArrowStream, rows, &options)?;
    let index = table.column;
    let missing = |name: &str| Error::input(name, "the rows do not have this column").hinting(KEEP);
    let found = |name: &str| schema.column_with_name(name).ok_or_else(|| missing(name));
    let (at, _) = found(SIDECAR_COLUMN)?;
    let sidecars =
        TextColumn::of(rows.column(at)).ok_or_else(|| Error::input(SIDECAR_COLUMN, "the column holds no texts"))?;
    let has = is_not_null(rows.column(at)).map_err(internal)?;
    if has.true_count() < rows.num_rows() {
        let rejected = rows.column(found(REJECTED_COLUMN)?.0);
        if let Some(row) = (0..rows.num_rows()).find(|&row| !has.value(row) && rejected.is_null(row)) {
            let message = "the sidecar is null although the row was not rejected";
            return Err(Error::verification(format!("row {row}"), message));
        }
    }
    let texts: Vec<&str> = (0..rows.num_rows()).filter_map(|row| sidecars.get(row)).collect();
    let compressed = rows.project(&[index]).map_err(internal)?;
    let compressed = if texts.len() == rows.num_rows() {
        compressed
    } else {
        filter_record_batch(&compressed, &has).map_err(internal)?
    };
    let (verbatim, checksums) = read_sidecars(&texts)?;
    let table = TableInput { column: 0, ..table };
    let readers = PartReaders {
        conversations: Box::new(Once(Some(compressed.clone()))),
        verbatim: Box::new(Once(Some(verbatim))),
        rejects: Box::new(std::iter::empty()),
        metrics: Some(Box::new(Once(Some(checksums)))),
    };
    let mut restorer = Restorer::rows(readers, table, compressed.schema(), NAME);
    let mut restored = vec![compressed.column(0).slice(0, 0)];
    while let Some(slice) = restorer.next_slice()? {
        if let RestoredSlice::Rows { rows, .. } = slice.slice {
            restored.extend(rows.columns().first().cloned());
        }
    }
    let mut restored = concat(&restored.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(internal)?;
    if texts.len() < rows.num_rows() {
        let mut numbers = 0..;
        let places: Vec<Option<usize>> =
            has.values().iter().map(|has| if has { numbers.next() } else { None }).collect();
        restored = chosen(rows.column(index), &restored, &places)?;
    }
    let rows = with_column(rows, index, restored).map_err(internal)?;
    let stays = schema.fields().iter().enumerate().filter(|(_, field)| !ADDED.contains(&field.name().as_str()));
    rows.project(&stays.map(|(at, _)| at).collect::<Vec<_>>()).map_err(internal)
}

const KEEP: &str = "restoring takes the column of the conversations, `condenser_sidecar` and, where rows were rejected, `condenser_rejected`";

/// The rows of the verbatim table that the sidecars stand for, and the checksums.
fn read_sidecars(texts: &[&str]) -> Result<(RecordBatch, RecordBatch)> {
    let (mut lines, mut numbers, mut checksums) = (String::new(), Vec::new(), Vec::new());
    for (row, text) in texts.iter().enumerate() {
        let broken = |error| Error::verification(format!("row {row}"), "its sidecar cannot be read").because(error);
        let sidecar: Sidecar<'_> = serde_json::from_str(text).map_err(broken)?;
        checksums.push(sidecar.checksum);
        for line in sidecar.rows {
            lines.push_str(line.get());
            lines.push('\n');
            numbers.push(row as u64);
        }
    }
    let broken = |error| Error::verification(SIDECAR_COLUMN, "the sidecars cannot be read").because(error);
    let schema = verbatim_schema();
    let shown = beside_place(&schema);
    let of_json = Arc::new(schema.project(&shown).map_err(internal)?);
    let mut decoder =
        ReaderBuilder::new(of_json.clone()).with_batch_size(numbers.len().max(1)).build_decoder().map_err(internal)?;
    decoder.decode(lines.as_bytes()).map_err(broken)?;
    let read = decoder.flush().map_err(broken)?.unwrap_or_else(|| RecordBatch::new_empty(of_json));
    if read.num_rows() != numbers.len() {
        return Err(Error::verification(SIDECAR_COLUMN, "the sidecars hold another number of originals"));
    }
    let empty: ArrayRef = Arc::new(LargeStringArray::from(vec![""; numbers.len()]));
    let numbers: ArrayRef = Arc::new(UInt64Array::from(numbers));
    let mut columns = vec![empty.clone(), empty, numbers];
    columns.extend(read.columns().iter().cloned());
    let of_checksums = Arc::new(Schema::new(vec![Field::new("checksum", DataType::LargeUtf8, false)]));
    let checksums: ArrayRef = Arc::new(LargeStringArray::from(checksums));
    Ok((
        RecordBatch::try_new(schema, columns).map_err(internal)?,
        RecordBatch::try_new(of_checksums, vec![checksums]).map_err(internal)?,
    ))
}

/// A table of one batch.
struct Once(Option<RecordBatch>);

impl TableReader for Once {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.0.take())
    }
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal(NAME, error.to_string())
}
