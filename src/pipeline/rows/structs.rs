//! Conversations as lists of structs: kept messages are taken from the column, replaced ones are made, and the proof
//! puts the originals back from what will be written and compares columns. Knows no file.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::interleave;
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;

use super::batch::{admit, finish, kept, measure, reject};
use super::cells::{Lists, is_text, list_of, struct_item, with_column};
use super::fresh::{Fresh, Maker, build};
use super::packed::{pack, unpack};
use super::parse;
use super::plan::{TableInput, has_opaque_lists, survives_json};
use super::render::Renderer;
use crate::engine::Scratch;
use crate::error::{Error, Result};
use crate::model::{Content, Output, Part, PartView, ReadAs, Reject, RejectReason};
use crate::pipeline::accumulate::Accumulator;
use crate::pipeline::record::{Product, Recipe, process};
use crate::pipeline::tables::{OriginalRow, RowPlace, label};
use crate::pipeline::task::{SCRATCH, Task, ended};
use crate::pipeline::{EncodedBatch, RowBatch};
use crate::shape::Decoded;

/// What brings the messages of one row back.
#[derive(Debug, Default)]
pub(crate) struct CellEntries<'a> {
    /// Position, original index and JSON text of every replaced message.
    pub(crate) messages: Vec<(usize, usize, &'a str)>,
    /// The whole cell, packed; then the messages do not count.
    pub(crate) record: Option<&'a str>,
}

/// A row with what the sidecar will hold of it.
#[derive(Debug)]
struct Staged {
    /// Number in the batch.
    row: usize,
    id: String,
    originals: Vec<Original>,
}

/// A replaced message.
#[derive(Debug)]
struct Original {
    position: usize,
    index: usize,
    text: String,
    id: Option<String>,
    role: String,
    summary_id: Option<String>,
    views: Vec<PartView>,
}

impl Original {
    fn row(&self) -> OriginalRow<'_> {
        OriginalRow {
            position: Some(self.position as u64),
            message_index: Some(self.index as u64),
            message_id: self.id.as_deref(),
            role: Some(&self.role),
            summary_id: self.summary_id.as_deref(),
            views: &self.views,
            ..OriginalRow::default()
        }
    }
}

/// What a batch becomes, message by message.
#[derive(Default)]
struct Draft {
    staged: Vec<Staged>,
    keep: Vec<bool>,
    lengths: Vec<usize>,
    /// From the column (0) or from the replaced messages (1), and where there.
    picks: Vec<(usize, usize)>,
    fresh: Vec<Fresh>,
}

/// Turns rows into rows. When `opaque`, nothing is replaced.
pub(super) fn encode(task: &Task<'_>, batch: &RowBatch, opaque: bool) -> Result<EncodedBatch> {
    let internal = |message: String| Error::internal(task.source, message);
    let column = batch.rows.column(batch.table.column);
    let lists = Lists::of(column).ok_or_else(|| internal("the messages are no list of structs".to_owned()))?;
    let mut sum = Accumulator::new(task);
    let mut draft = Draft::default();
    SCRATCH.with(|scratch| draft.fill(batch, &lists, opaque, &mut sum, &mut scratch.borrow_mut()))?;
    let rows = kept(batch, std::mem::take(&mut draft.keep)).map_err(internal)?;
    let original = rows.column(batch.table.column).clone();
    let written = draft.written(&lists, &original).map_err(internal)?;
    ended("encode");
    let records = prove(&rows, &batch.table, &written, &draft.staged).map_err(internal)?;
    ended("proof");
    for (staged, record) in draft.staged.iter().zip(&records) {
        let id = label(&staged.id);
        let place = RowPlace { id: &id, source: task.source, row: batch.first_row + staged.row as u64 };
        let originals = staged.originals.iter().map(|original| (original.row(), original.text.as_str()));
        sum.originals(place, None, record.as_deref(), None, originals);
    }
    let rows = with_column(&rows, batch.table.column, written).map_err(internal)?;
    finish(sum, batch, rows)
}

impl Draft {
    fn fill(
        &mut self,
        batch: &RowBatch,
        lists: &Lists<'_>,
        opaque: bool,
        sum: &mut Accumulator<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let task = sum.task;
        let read_as = task.recipe.read_as.or(batch.table.shape.map(ReadAs::Shape));
        let recipe = Recipe { read_as, ..task.recipe };
        let head = format!("{{{}:", batch.table.list_key()?);
        let place = recipe.engine.options().provenance;
        let (reading, exact) = (Renderer::new(lists.values, true), Renderer::new(lists.values, false));
        let maker = Maker::new(lists.values, read_as.and_then(ReadAs::shape));
        let opaque_lists = has_opaque_lists(batch.rows.column(batch.table.column).data_type());
        let opaque_texts = has_opaque_texts(lists);
        let opaque_media = !has_text_parts(lists);
        let opaque_calls = has_opaque_calls(lists);
        let ids = batch.table.ids(&batch.rows);
        let mut record = String::new();
        for (row, id) in ids.into_iter().enumerate() {
            let id = id.unwrap_or_else(|| format!("{}#{}", task.source, batch.first_row + row as u64));
            let product = admit(batch, row, lists.get(row)).and_then(|range| {
                record.clear();
                record.push_str(&head);
                reading.write_list(range.clone(), &mut record);
                record.push('}');
                let is_opaque = |content: &Content<'_>| match content {
                    Content::Text(_) => opaque || opaque_texts,
                    Content::Parts(_) => opaque || opaque_lists,
                    _ => false,
                };
                let prepare = prepared(&id, is_opaque, opaque_media, opaque_calls);
                let product = process(&recipe, &record, &id, scratch, prepare)?;
                let fits = product.decoded.conversation.messages.len() == range.len();
                if fits { Ok((range, product)) } else { Err(unfit()) }
            });
            self.keep.push(product.is_ok());
            let (range, product) = match product {
                Ok(found) => found,
                Err(rejected) => {
                    reject(sum, batch, row, rejected)?;
                    continue;
                }
            };
            let outputs = &product.condensed.messages;
            let replaced = outputs.iter().enumerate().filter_map(|(position, output)| match output {
                Output::Replaced(replacement) => Some((position, replacement)),
                Output::Kept { .. } => None,
            });
            let mut next = self.fresh.len();
            if replaced.clone().next().is_some() {
                maker
                    .make(&product, place, range.start, replaced, &mut self.fresh)
                    .map_err(|message| Error::internal(task.source, message))?;
            }
            for output in outputs {
                self.picks.push(match output {
                    Output::Kept { index } => (0, range.start + index),
                    Output::Replaced(_) => {
                        next += 1;
                        (1, next - 1)
                    }
                });
            }
            self.lengths.push(outputs.len());
            let name = label(&id);
            let at = RowPlace { id: &name, source: task.source, row: batch.first_row + row as u64 };
            measure(sum, batch, row, at, &product, scratch);
            self.staged.push(staged(row, id, &product, |index, text| exact.write(range.start + index, text)));
        }
        Ok(())
    }

    fn written(&self, lists: &Lists<'_>, original: &ArrayRef) -> std::result::Result<ArrayRef, String> {
        if self.fresh.is_empty() {
            return Ok(original.clone());
        }
        let fresh = build(lists.values, &self.fresh)?;
        let values = interleave(&[lists.values, fresh.as_ref()], &self.picks).map_err(|error| error.to_string())?;
        list_of(original.data_type(), values, &self.lengths).map_err(|error| error.to_string())
    }
}

/// Names the conversation and takes the contents that `is_opaque` finds out of the engine's reach, with `opaque_media`
/// the parts that are no texts, and with `opaque_calls` the arguments of calls.
fn prepared(
    id: &str,
    is_opaque: impl Fn(&Content<'_>) -> bool,
    opaque_media: bool,
    opaque_calls: bool,
) -> impl FnOnce(&mut Decoded<'_>) {
    move |decoded| {
        decoded.conversation.id = id.to_owned().into();
        for message in &mut decoded.conversation.messages {
            if is_opaque(&message.content) {
                message.content = Content::Other;
            }
            if opaque_calls {
                message.tool_calls.iter_mut().for_each(|call| call.place = None);
            }
            if let (Content::Parts(parts), true) = (&mut message.content, opaque_media) {
                parts.iter_mut().filter(|part| matches!(part, Part::Media(_))).for_each(|part| *part = Part::Opaque);
            }
        }
    }
}

fn unfit() -> Reject {
    let detail = "the list holds other messages than its conversation; please report it".to_owned();
    Reject { reason: RejectReason::Internal, detail }
}

/// True when a content is neither text nor list nor struct, and would be taken for text.
fn has_opaque_texts(lists: &Lists<'_>) -> bool {
    let fields = lists.values.fields().iter();
    fields.filter(|field| matches!(field.name().as_str(), "content" | "value" | "text")).any(|field| {
        let data_type = field.data_type();
        !(is_text(data_type) || data_type.is_nested() || data_type.is_null())
    })
}

/// True when a field may hold calls that cannot be written again from JSON.
fn has_opaque_calls(lists: &Lists<'_>) -> bool {
    let fields = lists.values.fields().iter().filter(|field| field.name() != "metadata");
    fields.map(|field| field.data_type()).any(|data_type| data_type.is_nested() && !survives_json(data_type))
}

/// True when a content can hold a text part in the place of any other.
fn has_text_parts(lists: &Lists<'_>) -> bool {
    let mut contents = lists.values.fields().iter().filter(|field| field.name() == "content");
    contents.all(|content| match struct_item(content.data_type()) {
        Some(DataType::Struct(fields)) => ["type", "text"]
            .iter()
            .all(|name| fields.iter().any(|field| field.name() == name && is_text(field.data_type()))),
        _ => is_text(content.data_type()),
    })
}

fn staged(row: usize, id: String, product: &Product<'_>, write: impl Fn(usize, &mut String)) -> Staged {
    let originals = product.decoded.originals(&product.condensed);
    let originals = originals.iter().map(|original| {
        let mut text = String::with_capacity(original.message.len());
        write(original.message_index, &mut text);
        let row = product.original_row(original);
        Original {
            position: original.position,
            index: original.message_index,
            text,
            id: row.message_id.map(str::to_owned),
            role: row.role.unwrap_or_default().to_owned(),
            summary_id: row.summary_id.map(str::to_owned),
            views: row.views.to_vec(),
        }
    });
    Staged { row, id, originals: originals.collect() }
}

/// Restores the column from what will be written; gives for every row whether its cell must be stored whole.
fn prove(
    rows: &RecordBatch,
    table: &TableInput,
    written: &ArrayRef,
    staged: &[Staged],
) -> std::result::Result<Vec<Option<String>>, String> {
    let mut records: Vec<Option<String>> = vec![None; staged.len()];
    let original = rows.column(table.column);
    let restore = |records: &[Option<String>], at: std::ops::Range<usize>| {
        let entries = staged.iter().zip(records).skip(at.start).take(at.len()).map(|(staged, record)| CellEntries {
            messages: staged.originals.iter().map(|one| (one.position, one.index, one.text.as_str())).collect(),
            record: record.as_deref(),
        });
        restore_lists(&written.slice(at.start, at.len()), &entries.collect::<Vec<_>>())
    };
    if restore(&records, 0..staged.len()).is_ok_and(|restored| restored.as_ref() == original.as_ref()) {
        return Ok(records);
    }
    for row in 0..staged.len() {
        let cell = original.slice(row, 1);
        if staged[row].originals.is_empty()
            || restore(&records, row..row + 1).is_ok_and(|restored| restored.as_ref() == cell.as_ref())
        {
            continue;
        }
        let schema = rows.schema().project(&[table.column]).map_err(|error| error.to_string())?;
        let cell = RecordBatch::try_new(schema.into(), vec![cell]).map_err(|error| error.to_string())?;
        records[row] = Some(pack(&cell)?);
    }
    match restore(&records, 0..staged.len())? {
        restored if restored.as_ref() == original.as_ref() => Ok(records),
        _ => Err("the rows do not come back from what would be written".to_owned()),
    }
}

/// The column as it was, from the column as it is written and what the sidecar holds of each of its rows.
pub(crate) fn restore_lists(written: &ArrayRef, entries: &[CellEntries<'_>]) -> std::result::Result<ArrayRef, String> {
    if entries.iter().all(|entry| entry.messages.is_empty() && entry.record.is_none()) {
        return Ok(written.clone());
    }
    let lists = Lists::of(written).ok_or("the messages are no list of structs")?;
    let item = struct_item(written.data_type()).ok_or("the messages are no list of structs")?;
    let live = |entry: &&CellEntries<'_>| entry.record.is_none();
    let texts: Vec<&str> =
        entries.iter().filter(live).flat_map(|entry| entry.messages.iter().map(|&(_, _, text)| text)).collect();
    let parsed = parse::structs(&texts, item)?;
    let cell_schema = || {
        let field = arrow::datatypes::Field::new("messages", written.data_type().clone(), true);
        std::sync::Arc::new(arrow::datatypes::Schema::new(vec![field]))
    };
    let packed = entries.iter().filter_map(|entry| entry.record).map(|text| unpack(text, &cell_schema()));
    let packed: Vec<RecordBatch> = packed.collect::<std::result::Result<_, _>>()?;
    let cells: Vec<Lists<'_>> = packed.iter().filter_map(|cell| Lists::of(cell.column(0))).collect();
    let mut sources: Vec<&dyn Array> = vec![lists.values, parsed.as_struct()];
    sources.extend(cells.iter().map(|cell| cell.values as &dyn Array));
    let (mut picks, mut lengths) = (Vec::new(), Vec::with_capacity(entries.len()));
    let (mut n_parsed, mut n_packed) = (0, 0);
    for (row, entry) in entries.iter().enumerate() {
        let before = picks.len();
        let range = lists.get(row).ok_or("the messages are null")?;
        if entry.record.is_some() {
            let items = cells.get(n_packed).and_then(|cell| cell.get(0)).ok_or("a stored row is empty")?;
            picks.extend(items.map(|item| (2 + n_packed, item)));
            n_packed += 1;
        } else {
            let mut order: Vec<(usize, usize)> =
                entry.messages.iter().enumerate().map(|(nth, &(_, index, _))| (index, n_parsed + nth)).collect();
            order.sort_unstable();
            n_parsed += order.len();
            let mut positions: Vec<usize> = entry.messages.iter().map(|&(position, ..)| position).collect();
            positions.sort_unstable();
            positions.dedup();
            let mut kept = range.clone().filter(|at| positions.binary_search(&(at - range.start)).is_err());
            let mut order = order.into_iter().peekable();
            for index in 0.. {
                if let Some((_, nth)) = order.next_if(|&(original, _)| original == index) {
                    picks.push((1, nth));
                } else if let Some(at) = kept.next() {
                    picks.push((0, at));
                } else if order.peek().is_none() {
                    break;
                } else {
                    return Err("a message is missing".to_owned());
                }
            }
        }
        lengths.push(picks.len() - before);
    }
    let values = interleave(&sources, &picks).map_err(|error| error.to_string())?;
    list_of(written.data_type(), values, &lengths).map_err(|error| error.to_string())
}
