//! A batch on a worker. Of lines every line becomes a row or a reject, and the bytes around it a frame. Checks that the
//! lines tile the batch, so that the proof covers every byte. Knows nothing of order and of threads.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::accumulate::Accumulator;
use super::again::Again;
use super::ages::Dated;
use super::map::map_line;
use super::record::{Encoded, Form, OutputRow, Product, advice, process};
use super::rows::encode_rows;
use super::tables::{ConversationsBuilder, RecordsBuilder, RowPlace, label};
use super::task::{SCRATCH, Task, ended};
use super::{Batch, EncodedBatch, KnownRecord, LineBatch, LineRole, Merge, RecordLine, RejectRow, Totals};
use crate::engine::Scratch;
use crate::error::{Error, Result};
use crate::model::{Reject, RejectReason};
use crate::shape::Row;

/// Unusual bytes around a record; stored as JSON.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// A byte order mark and blank lines before the record.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) before: String,
    /// The line end when it is not one line feed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<String>,
    /// Where the pieces of these bytes stand in the stream (offset and length), when they do not stand together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) places: Vec<(u64, u64)>,
}

/// Stands among records for one that comes again: what is shown of it is told in the sidecar.
const NOT_HERE: &str = "null";

/// The conversations of a batch beside what it comes to.
struct Lines<'t> {
    rows: ConversationsBuilder,
    records: RecordsBuilder,
    sum: Accumulator<'t>,
    /// Why the store could not be read.
    failure: Option<Error>,
}

/// What was counted of an input, in a batch or in all.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) totals: Totals,
    pub(super) proven_bytes: u64,
}

/// Turns a batch into rows.
pub(crate) fn encode_batch(task: &Task<'_>, batch: &Batch) -> Result<EncodedBatch> {
    encode_batches(&[(*task, batch)]).map(|(encoded, _)| encoded)
}

/// Turns batches into rows of the same tables, and counts each; rows of a table that was read come alone.
pub(super) fn encode_batches(batches: &[(Task<'_>, &Batch)]) -> Result<(EncodedBatch, Vec<Counted>)> {
    let encoded = match batches {
        [(task, Batch::Rows(rows))] => encode_rows(task, rows).map(|encoded| {
            let counted = Counted { totals: encoded.totals, proven_bytes: encoded.proof.bytes };
            (encoded, vec![counted])
        }),
        _ => encode_lines(batches),
    };
    ended("encode");
    encoded
}

fn encode_lines(batches: &[(Task<'_>, &Batch)]) -> Result<(EncodedBatch, Vec<Counted>)> {
    let Some((first, _)) = batches.first() else { return Ok(Default::default()) };
    // Columns of texts that do not grow are not copied; memory that nothing is written to costs nothing.
    let n_bytes = batches.iter().map(|(_, batch)| batch.n_bytes()).sum();
    let (rows, records) = (ConversationsBuilder::with_bytes(n_bytes), RecordsBuilder::default());
    let sum = Accumulator::new(first).with_bytes(n_bytes);
    let mut lines = Lines { rows, records, sum, failure: None };
    let mut all = Vec::with_capacity(batches.len());
    for (task, batch) in batches {
        let Batch::Lines(batch) = batch else {
            return Err(Error::internal(task.source, "rows of a table stand among lines"));
        };
        lines.sum.task = task;
        let before = (std::mem::take(&mut lines.sum.out.totals), lines.sum.out.proof.bytes);
        lines.batch(batch)?;
        let out = &mut lines.sum.out;
        all.push(Counted { totals: out.totals, proven_bytes: out.proof.bytes - before.1 });
        out.totals.absorb(&before.0);
    }
    Ok((lines.finish()?, all))
}

/// Checks that the pieces of scattered records tile the part of the stream that these records stand for.
fn check_places(task: &Task<'_>, batch: &LineBatch) -> Result<()> {
    let mut block: Vec<(u64, u64)> = Vec::new();
    let wrong = || Error::internal(task.source, "the pieces of scattered records do not tile the stream");
    for (at, line) in batch.lines.iter().enumerate() {
        let LineRole::Scattered(places) = &line.kind else { continue };
        if places.iter().map(|&(_, length)| length).sum::<u64>() != line.span.len() as u64 || !places.is_sorted() {
            return Err(wrong());
        }
        block.extend(places);
        if batch.lines.get(at + 1).is_some_and(|next| matches!(next.kind, LineRole::Scattered(_))) {
            continue;
        }
        block.sort_unstable();
        let mut expected = batch.offset + line.span.end as u64 - block.iter().map(|&(_, length)| length).sum::<u64>();
        for (offset, length) in block.drain(..) {
            if offset != expected {
                return Err(wrong());
            }
            expected += length;
        }
    }
    Ok(())
}

impl Lines<'_> {
    fn batch(&mut self, batch: &LineBatch) -> Result<()> {
        let task = self.sum.task;
        // One check of the whole batch is many times cheaper than one per line; lines end at ASCII bytes.
        let text = simdutf8::basic::from_utf8(&batch.bytes).ok();
        let mut at = 0;
        for (index, line) in batch.lines.iter().enumerate() {
            let known = batch.known.get(index);
            if line.span.start != at || line.record.start < at || line.record.end > line.span.end {
                return Err(Error::internal(task.source, "the lines of a batch do not tile it"));
            }
            at = line.span.end;
            SCRATCH.with(|scratch| self.line(batch, text, (line, known), &mut scratch.borrow_mut()))?;
        }
        check_places(task, batch)?;
        if at != batch.bytes.len() {
            return Err(Error::internal(task.source, "the lines of a batch do not cover it"));
        }
        Ok(())
    }

    fn line(
        &mut self,
        batch: &LineBatch,
        text: Option<&str>,
        (line, known): (&RecordLine, Option<&KnownRecord>),
        scratch: &mut Scratch,
    ) -> Result<()> {
        let source = self.sum.task.source;
        let raw = &batch.bytes[line.record.clone()];
        let frame = Frame {
            before: blank(&batch.bytes[line.span.start..line.record.start], source)?,
            end: Some(blank(&batch.bytes[line.record.end..line.span.end], source)?).filter(|end| end != "\n"),
            places: match &line.kind {
                LineRole::Scattered(places) => places.clone(),
                _ => Vec::new(),
            },
        };
        self.sum.out.proof.bytes += line.span.len() as u64;
        let reject = match &line.kind {
            LineRole::Tail => {
                self.frame(RowPlace { id: "", source, row: line.row }, &Frame { end: None, ..frame });
                return Ok(());
            }
            LineRole::Piece { first: true } => {
                Some(Reject { reason: RejectReason::TooLong, detail: too_long(batch.unpacked) })
            }
            LineRole::Piece { first: false } => None,
            LineRole::Torn(detail) => Some(Reject { reason: RejectReason::TornStream, detail: detail.clone() }),
            LineRole::Record | LineRole::Scattered(_) => {
                let record = match text {
                    Some(text) => text.get(line.record.clone()),
                    None => std::str::from_utf8(raw).ok(),
                };
                let result = match record {
                    Some(record) => self.record(record, (line.row, known), &frame, scratch),
                    None => Err(invalid_utf8(raw)),
                };
                match result {
                    Ok(()) => return Ok(()),
                    Err(reject) => Some(reject),
                }
            }
        };
        let further_piece = || RejectRow { source: source.to_owned(), source_row: line.row, ..RejectRow::default() };
        let row = reject.map_or_else(further_piece, |reject| RejectRow::new(source, line.row, reject));
        let (raw, raw_base64) = match std::str::from_utf8(raw) {
            Ok(text) if is_short_as_json(raw) => (Some(text.to_owned()), None),
            _ => (None, Some(BASE64.encode(raw))),
        };
        let offset = batch.offset + line.record.start as u64;
        self.sum.reject(RejectRow {
            line: line.number,
            offset: frame.places.first().map_or(offset, |&(first, _)| first),
            raw,
            raw_base64,
            before: Some(frame.before).filter(|before| !before.is_empty()),
            end: frame.end,
            places: frame.places,
            ..row
        });
        Ok(())
    }

    fn frame(&mut self, place: RowPlace<'_>, frame: &Frame) {
        if *frame != Frame::default() {
            self.sum.frame(place, &serde_json::to_string(frame).expect("two strings always serialize"));
        }
    }

    fn record(
        &mut self,
        record: &str,
        (row, known): (u64, Option<&KnownRecord>),
        frame: &Frame,
        scratch: &mut Scratch,
    ) -> std::result::Result<(), Reject> {
        let task = self.sum.task;
        let (mut fallback, mut recipe) = (String::new(), task.recipe);
        if let Some(known) = known {
            fallback.push_str(&known.id);
            recipe.dated = recipe.dated.map(|dated| Dated { written_at: Some(known.last_at), ..dated });
        } else {
            write!(fallback, "{}#{row}", task.source).expect("writing to a string cannot fail");
        }
        let product = process(&recipe, record, &fallback, scratch, |_| {})?;
        if task.surveyor.is_some() {
            let place = RowPlace { id: &product.decoded.conversation.id, source: task.source, row };
            self.sum.conversation(place, &product, blake3::Hash::from_bytes([0; 32]), scratch);
            return Ok(());
        }
        let encoded = product.encode(&task.recipe, scratch)?;
        let id = label(&product.decoded.conversation.id);
        let place = RowPlace { id: &id, source: task.source, row };
        self.frame(place, frame);
        if self.comes_again(place, &product, &encoded) {
            self.sum.conversation(place, &product, blake3::hash(record.as_bytes()), scratch);
            return Ok(());
        }
        match &encoded.written {
            OutputRow::Row(written) => self.rows.push(place, written),
            OutputRow::Record(written) => self.records.push(written),
        }
        self.sum.originals(
            place,
            encoded.style,
            encoded.needs_raw.then_some(record),
            encoded.layout.as_deref(),
            product.originals(&encoded),
        );
        if task.verbatim_map {
            self.sum.out.verbatim_map.extend(map_line(place, &product, &encoded.written));
        }
        self.sum.conversation(place, &product, blake3::hash(record.as_bytes()), scratch);
        Ok(())
    }

    /// Writes a record of which the store has a good part by that; false where it has none.
    fn comes_again(&mut self, place: RowPlace<'_>, product: &Product<'_>, encoded: &Encoded<'_>) -> bool {
        let Some(nights) = self.sum.task.nights else { return false };
        let rows = nights.rows(place.source, place.id, product.decoded.record);
        if rows.is_empty() {
            return false;
        }
        let text = match nights.text(&rows) {
            Ok(text) => text,
            Err(error) => {
                self.failure.get_or_insert(error);
                return false;
            }
        };
        let provenance = self.sum.task.recipe.engine.options().provenance;
        let Some(again) = Again::of(product, &encoded.written, provenance, &rows, &text) else { return false };
        match &encoded.written {
            OutputRow::Row(_) => self.rows.push(place, &Row::default()),
            OutputRow::Record(_) => self.records.push(NOT_HERE),
        }
        let messages = encoded.originals.iter().map(|original| product.original_row(original));
        self.sum.again(place, &again, messages);
        true
    }

    fn finish(self) -> Result<EncodedBatch> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let conversations = match self.sum.task.recipe.form {
            Form::Line => self.records.finish()?,
            Form::Columns | Form::Cell => self.rows.finish()?,
        };
        self.sum.finish(conversations)
    }
}

fn blank(bytes: &[u8], source: &str) -> Result<String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Error::internal(source, "blank bytes are not UTF-8").because(error))?;
    Ok(text.to_owned())
}

/// False for a long text that takes twice its size as a JSON string: Base64 is shorter, and nobody reads it.
fn is_short_as_json(raw: &[u8]) -> bool {
    const MAX_READ_BYTES: usize = 1 << 20;
    let n_control = || raw.iter().filter(|byte| byte.is_ascii_control()).count();
    raw.len() <= MAX_READ_BYTES || n_control() < raw.len() / 5
}

fn too_long(unpacked: Option<u64>) -> String {
    let detail = "the record is longer than --max-record-bytes; its bytes follow in pieces; ";
    match unpacked {
        None => format!("{detail}raise the limit"),
        Some(ratio) => format!(
            "{detail}the file unpacks to at least {ratio} times its size, as decompression bombs do: look at where it \
             comes from before you raise the limit"
        ),
    }
}

/// Why a line is rejected that is not UTF-8.
pub fn invalid_utf8(raw: &[u8]) -> Reject {
    let at = std::str::from_utf8(raw).err().map_or(0, |error| error.valid_up_to());
    let advice = advice(raw).unwrap_or("convert the file to UTF-8, or correct the line");
    Reject { reason: RejectReason::InvalidUtf8, detail: format!("byte {at} of the line is not UTF-8; {advice}") }
}
