//! A batch of rows on a worker: every row becomes a row or a reject, with figures, originals and the proof. Knows
//! nothing of order and of threads.

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::record_batch::RecordBatch;

use super::cells::{Texts, texts_like};
use super::packed::{pack, unpack};
use super::plan::CellKind;
use super::structs::{self, with_column};
use crate::engine::Scratch;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{self, Content, Output, Reject, RejectReason};
use crate::pipeline::record::{MakeUp, Product, Recipe, process_prepared, totals_of};
use crate::pipeline::sketch::Contents;
use crate::pipeline::tables::{DecisionsBuilder, Kind, MetricsBuilder, OriginalRow, Place, VerbatimBuilder};
use crate::pipeline::training::TrainingBuilder;
use crate::pipeline::work::{SCRATCH, Task, sketch_of};
use crate::pipeline::{ConversationFormat, EncodedBatch, MAX_RECORD_BYTES, RejectRow, RowBatch, label};
use crate::shape::{self, Decoded};

/// A row with what the sidecar will hold of it.
#[derive(Debug)]
pub(super) struct Staged {
    /// Number in the batch.
    pub(super) row: usize,
    pub(super) id: String,
    pub(super) layout: Option<String>,
    pub(super) originals: Vec<Original>,
}

/// A replaced message.
#[derive(Debug)]
pub(super) struct Original {
    pub(super) position: usize,
    pub(super) index: usize,
    pub(super) text: String,
    id: Option<String>,
    role: String,
    summary_id: Option<String>,
}

impl Original {
    pub(super) fn of(product: &Product<'_>, original: &model::Original<'_>, text: String) -> Self {
        let message = &product.decoded.conversation.messages[original.message_index];
        let summary_id = match &product.condensed.messages[original.position] {
            Output::Replaced(replacement) => Some(replacement.provenance.summary_id.clone()),
            Output::Kept { .. } => None,
        };
        Self {
            position: original.position,
            index: original.message_index,
            text,
            id: message.id.as_deref().map(str::to_owned),
            role: message.role.as_str().to_owned(),
            summary_id,
        }
    }
}

/// Turns rows into rows.
pub(crate) fn encode_rows(task: &Task<'_>, batch: &RowBatch) -> Result<EncodedBatch> {
    if task.recipe.format == ConversationFormat::Jsonl {
        let message = "the input is a table, but --format jsonl writes records of JSON lines; use --format parquet or \
                       --format arrow, which keep its columns";
        return Err(Error::new(ErrorKind::Usage, task.source, message));
    }
    if batch.marks.len() != batch.rows.num_rows() {
        return Err(Error::new(ErrorKind::Internal, task.source, "the rows of a batch have no marks"));
    }
    if let Some(lost) = &batch.lost {
        let mut builders = Builders::new(task);
        builders.out.totals.rejects += 1;
        builders.out.rejects.push(RejectRow {
            source: task.source.to_owned(),
            source_row: batch.first_row,
            reason: RejectReason::DamagedRows.as_str().to_owned(),
            detail: lost.detail.clone(),
            lost_rows: Some(lost.rows),
            ..RejectRow::default()
        });
        return builders.finish(batch, batch.rows.clone());
    }
    match batch.table.kind {
        // What cannot be written in the column's own types is left as it is, a batch at a time; that is rare: a
        // dictionary with more texts than its keys can count.
        CellKind::Structs => structs::encode(task, batch, false).or_else(|_| structs::encode(task, batch, true)),
        CellKind::Text => texts(task, batch),
    }
}

/// What goes to the tables.
pub(super) struct Builders<'t> {
    task: &'t Task<'t>,
    verbatim: VerbatimBuilder,
    metrics: MetricsBuilder,
    decisions: DecisionsBuilder,
    training: Option<TrainingBuilder>,
    contents: Contents,
    pub(super) out: EncodedBatch,
}

impl<'t> Builders<'t> {
    pub(super) fn new(task: &'t Task<'t>) -> Self {
        Self {
            task,
            verbatim: VerbatimBuilder::default(),
            metrics: MetricsBuilder::default(),
            decisions: DecisionsBuilder::default(),
            training: task.dataset.map(TrainingBuilder::new),
            contents: Contents::default(),
            out: EncodedBatch::default(),
        }
    }

    /// Counts and measures a conversation.
    pub(super) fn conversation(&mut self, batch: &RowBatch, row: usize, id: &str, product: &Product<'_>) {
        let Product { decoded, condensed } = product;
        let id = label(id);
        let place = Place { id: &id, source: self.task.source, row: batch.first_row + row as u64 };
        let checksum = blake3::Hash::from_bytes(batch.marks[row].hash).to_hex();
        self.metrics.push(place, &MakeUp::of(&decoded.conversation), &condensed.metrics, &checksum);
        if let Some(training) = &mut self.training {
            training.push(place, &decoded.conversation, condensed);
        }
        if self.task.trace {
            for decision in &condensed.decisions {
                self.decisions.push(place, &decoded.conversation, decision);
            }
        }
        self.contents.add(&decoded.conversation, condensed);
        self.out.proof.restored += 1;
        self.out.proof.bytes += batch.marks[row].bytes;
        self.out.totals.add(&totals_of(&decoded.conversation, condensed));
    }

    /// Puts what restores a row into the sidecar.
    pub(super) fn entries(&mut self, batch: &RowBatch, staged: &Staged, record: Option<&str>) {
        let id = label(&staged.id);
        let place = Place { id: &id, source: self.task.source, row: batch.first_row + staged.row as u64 };
        if let Some(record) = record {
            self.verbatim.push(place, Kind::Record, OriginalRow::default(), record);
            self.out.proof.raw_records += 1;
        }
        if let Some(layout) = &staged.layout {
            self.verbatim.push(place, Kind::Layout, OriginalRow::default(), layout);
        }
        for original in &staged.originals {
            let row = OriginalRow {
                position: Some(original.position as u64),
                message_index: Some(original.index as u64),
                message_id: original.id.as_deref(),
                role: Some(&original.role),
                summary_id: original.summary_id.as_deref(),
            };
            self.verbatim.push(place, Kind::Message, row, &original.text);
            self.out.proof.originals += 1;
        }
    }

    /// Takes row `row` of the batch out of the conversations, whole.
    pub(super) fn reject(&mut self, batch: &RowBatch, row: usize, reject: Reject) -> Result<()> {
        let internal = |message: String| Error::new(ErrorKind::Internal, self.task.source, message);
        let whole = batch.rows.slice(row, 1);
        let packed = pack(&whole).map_err(internal)?;
        if unpack(&packed, &batch.rows.schema()).map_err(internal)? != whole {
            return Err(internal("a rejected row does not come back".to_owned()));
        }
        self.out.rejects.push(RejectRow {
            source: self.task.source.to_owned(),
            source_row: batch.first_row + row as u64,
            reason: reject.reason.as_str().to_owned(),
            detail: reject.detail,
            row_base64: Some(packed),
            ..RejectRow::default()
        });
        self.out.totals.rejects += 1;
        self.out.proof.bytes += batch.marks[row].bytes;
        Ok(())
    }

    /// The tables, with `rows` as the conversations.
    pub(super) fn finish(mut self, batch: &RowBatch, rows: RecordBatch) -> Result<EncodedBatch> {
        if let Some(training) = self.training {
            let (rows, dropped) = training.finish()?;
            (self.out.training, self.out.dropped) = (Some(rows), dropped);
        }
        let decisions = self.task.trace.then(|| self.decisions.finish()).transpose()?;
        let metrics = self.metrics.finish()?;
        self.out.sketch = sketch_of(&metrics, self.contents, &self.out.rejects)?;
        self.out.tables = [Some(rows), Some(self.verbatim.finish()?), Some(metrics), decisions];
        self.out.schema = Some(batch.schema.clone());
        Ok(self.out)
    }
}

/// Names the conversation and takes the contents that `is_opaque` finds out of the engine's reach.
pub(super) fn prepared(id: &str, is_opaque: impl Fn(&Content<'_>) -> bool) -> impl FnOnce(&mut Decoded<'_>) {
    move |decoded| {
        decoded.conversation.id = id.to_owned().into();
        for message in &mut decoded.conversation.messages {
            if is_opaque(&message.content) {
                message.content = Content::Other;
            }
        }
    }
}

pub(super) fn too_long() -> Reject {
    Reject {
        reason: RejectReason::TooLong,
        detail: "the row is longer than --max-record-bytes; raise the limit".to_owned(),
    }
}

/// Conversations as JSON text.
fn texts(task: &Task<'_>, batch: &RowBatch) -> Result<EncodedBatch> {
    let internal = |message: String| Error::new(ErrorKind::Internal, task.source, message);
    let column = batch.rows.column(batch.table.column);
    let texts = Texts::of(column).ok_or_else(|| internal("the conversations are no texts".to_owned()))?;
    let recipe = Recipe { shape: task.recipe.shape.or(batch.table.shape), ..task.recipe };
    let mut builders = Builders::new(task);
    let (mut keep, mut written, mut is_same) = (Vec::new(), Vec::new(), true);
    SCRATCH.with(|scratch| -> Result<()> {
        let scratch = &mut *scratch.borrow_mut();
        for (row, id) in batch.table.ids(&batch.rows).into_iter().enumerate() {
            match cell(&recipe, task.source, batch, &texts, row, id, scratch) {
                Ok(cell) => {
                    let id = cell.staged.id.as_str();
                    builders.conversation(batch, row, id, &cell.product);
                    let whole = texts.get(row).filter(|_| cell.needs_whole);
                    builders.entries(batch, &cell.staged, whole);
                    is_same = is_same && cell.product.condensed.is_unchanged();
                    written.push(cell.text);
                    keep.push(true);
                }
                Err(reject) => {
                    builders.reject(batch, row, reject)?;
                    keep.push(false);
                }
            }
        }
        Ok(())
    })?;
    let arrow = |error: arrow::error::ArrowError| internal(error.to_string());
    let rows = if keep.iter().all(|&keep| keep) {
        batch.rows.clone()
    } else {
        filter_record_batch(&batch.rows, &BooleanArray::from(keep)).map_err(arrow)?
    };
    if is_same {
        return builders.finish(batch, rows);
    }
    let texts: ArrayRef =
        texts_like(column.data_type(), written.iter().map(|text| Some(text.as_str()))).map_err(arrow)?;
    let rows = with_column(&rows, batch.table.column, texts).map_err(internal)?;
    builders.finish(batch, rows)
}

struct Cell<'r> {
    product: Product<'r>,
    text: String,
    staged: Staged,
    needs_whole: bool,
}

fn cell<'r>(
    recipe: &Recipe<'_>,
    source: &str,
    batch: &RowBatch,
    texts: &Texts<'r>,
    row: usize,
    id: Option<String>,
    scratch: &mut Scratch,
) -> std::result::Result<Cell<'r>, Reject> {
    let Some(record) = texts.get(row) else {
        let detail = format!("the column `{}` is null; leave the row out or fill it in", batch.table.messages);
        return Err(Reject { reason: RejectReason::NoMessages, detail });
    };
    if batch.marks[row].bytes > batch.max_row_bytes {
        return Err(too_long());
    }
    let fallback = format!("{}#{}", source, batch.first_row + row as u64);
    let name = |decoded: &mut Decoded<'_>| {
        if let Some(id) = id {
            decoded.conversation.id = id.into();
        }
    };
    let product = process_prepared(recipe, record, &fallback, scratch, name)?;
    let provenance = recipe.engine.options().provenance;
    let (text, layout) = product.decoded.condensed_record_and_layout(&product.condensed, provenance);
    let originals = product.decoded.originals(&product.condensed);
    let is_held = layout.as_ref().is_none_or(|layout| layout.len() <= MAX_RECORD_BYTES);
    let needs_whole = !is_held || !shape::restores_record(&text, layout.as_deref(), &originals, record);
    let originals =
        originals.iter().map(|original| Original::of(&product, original, original.message.to_owned())).collect();
    let layout = layout.filter(|layout| !needs_whole && !layout.is_empty());
    let id = product.decoded.conversation.id.clone().into_owned();
    Ok(Cell { product, text, staged: Staged { row, id, layout, originals }, needs_whole })
}
