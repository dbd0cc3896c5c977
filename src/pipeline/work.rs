//! One batch on a worker: every line becomes a row or a reject, and the bytes around it a frame. Checks that the
//! lines tile the batch, so that the proof covers every byte. Knows nothing of order and of threads.

use std::cell::RefCell;
use std::fmt::Write as _;

use arrow::record_batch::RecordBatch;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use super::map::map_line;
use super::record::{Encoded, MakeUp, Product, Recipe, Written, advice, process, totals_of};
use super::sketch::{Contents, Sketch};
use super::tables::{
    ConversationsBuilder, DecisionsBuilder, Kind, MetricsBuilder, OriginalRow, Place, RecordsBuilder, VerbatimBuilder,
};
use super::training::TrainingBuilder;
use super::{Batch, DatasetOptions, EncodedBatch, Line, LineBatch, LineKind, RejectRow, label};
use crate::engine::{Laps, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Output, Reject, RejectReason};

thread_local! {
    pub(crate) static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::default());
}

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

/// What a worker is told to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) recipe: Recipe<'a>,
    pub(crate) source: &'a str,
    pub(crate) trace: bool,
    pub(crate) verbatim_map: bool,
    pub(crate) dataset: Option<DatasetOptions>,
}

struct Builders {
    rows: ConversationsBuilder,
    records: RecordsBuilder,
    verbatim: VerbatimBuilder,
    metrics: MetricsBuilder,
    decisions: DecisionsBuilder,
    training: Option<TrainingBuilder>,
    contents: Contents,
    out: EncodedBatch,
}

/// Turns a batch into rows.
pub(crate) fn encode_batch(task: &Task<'_>, batch: &Batch) -> Result<EncodedBatch> {
    let encoded = match batch {
        Batch::Lines(lines) => encode_lines(task, lines),
        Batch::Rows(rows) => super::rows::encode_rows(task, rows),
    };
    ended("encode");
    encoded
}

/// Tells who takes the time on this worker that a step has ended.
pub(in crate::pipeline) fn ended(step: &'static str) {
    SCRATCH.with(|scratch| scratch.borrow_mut().ended(step));
}

/// Runs `work` on this worker with a watch, when there is one.
pub(super) fn watched<T>(laps: Option<Box<dyn Laps>>, work: impl FnOnce() -> T) -> T {
    let is_watched = laps.is_some();
    if is_watched {
        SCRATCH.with(|scratch| scratch.borrow_mut().tell(laps));
    }
    let result = work();
    if is_watched {
        SCRATCH.with(|scratch| scratch.borrow_mut().tell(None));
    }
    result
}

fn encode_lines(task: &Task<'_>, batch: &LineBatch) -> Result<EncodedBatch> {
    let mut builders = Builders {
        rows: ConversationsBuilder::default(),
        records: RecordsBuilder::default(),
        verbatim: VerbatimBuilder::default(),
        metrics: MetricsBuilder::default(),
        decisions: DecisionsBuilder::default(),
        training: task.dataset.map(TrainingBuilder::new),
        contents: Contents::default(),
        out: EncodedBatch::default(),
    };
    // One check of the whole batch is many times cheaper than one per line; lines end at ASCII bytes.
    let text = simdutf8::basic::from_utf8(&batch.bytes).ok();
    let mut at = 0;
    for line in &batch.lines {
        if line.span.start != at || line.record.start < at || line.record.end > line.span.end {
            return Err(Error::new(ErrorKind::Internal, task.source, "the lines of a batch do not tile it"));
        }
        at = line.span.end;
        SCRATCH.with(|scratch| builders.line(task, batch, text, line, &mut scratch.borrow_mut()))?;
    }
    check_places(task, batch)?;
    if at != batch.bytes.len() {
        return Err(Error::new(ErrorKind::Internal, task.source, "the lines of a batch do not cover it"));
    }
    builders.finish(task)
}

/// Checks that the pieces of scattered records tile the part of the stream that these records stand for.
fn check_places(task: &Task<'_>, batch: &LineBatch) -> Result<()> {
    let mut block: Vec<(u64, u64)> = Vec::new();
    let wrong =
        || Error::new(ErrorKind::Internal, task.source, "the pieces of scattered records do not tile the stream");
    for (at, line) in batch.lines.iter().enumerate() {
        let LineKind::Scattered(places) = &line.kind else { continue };
        if places.iter().map(|&(_, length)| length).sum::<u64>() != line.span.len() as u64 || !places.is_sorted() {
            return Err(wrong());
        }
        block.extend(places);
        if batch.lines.get(at + 1).is_some_and(|next| matches!(next.kind, LineKind::Scattered(_))) {
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

impl Builders {
    fn line(
        &mut self,
        task: &Task<'_>,
        batch: &LineBatch,
        text: Option<&str>,
        line: &Line,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let raw = &batch.bytes[line.record.clone()];
        let frame = Frame {
            before: blank(&batch.bytes[line.span.start..line.record.start], task)?,
            end: Some(blank(&batch.bytes[line.record.end..line.span.end], task)?).filter(|end| end != "\n"),
            places: match &line.kind {
                LineKind::Scattered(places) => places.clone(),
                _ => Vec::new(),
            },
        };
        self.out.proof.bytes += line.span.len() as u64;
        let reject = match &line.kind {
            LineKind::Tail => {
                self.frame(Place { id: "", source: task.source, row: line.row }, &Frame { end: None, ..frame });
                return Ok(());
            }
            LineKind::Piece { first: true } => {
                Reject { reason: RejectReason::TooLong, detail: too_long(batch.unpacked) }
            }
            LineKind::Piece { first: false } => {
                let row = RejectRow {
                    source: task.source.to_owned(),
                    source_row: line.row,
                    line: line.number,
                    ..RejectRow::default()
                };
                self.reject(row, batch, line, raw, frame);
                return Ok(());
            }
            LineKind::Torn(detail) => Reject { reason: RejectReason::TornStream, detail: detail.clone() },
            LineKind::Record | LineKind::Scattered(_) => {
                let record = match text {
                    Some(text) => text.get(line.record.clone()),
                    None => std::str::from_utf8(raw).ok(),
                };
                let result = match record {
                    Some(record) => self.record(task, record, line.row, &frame, scratch),
                    None => Err(invalid_utf8(raw)),
                };
                match result {
                    Ok(()) => return Ok(()),
                    Err(reject) => reject,
                }
            }
        };
        let row = RejectRow {
            source: task.source.to_owned(),
            source_row: line.row,
            line: line.number,
            reason: reject.reason.as_str().to_owned(),
            detail: reject.detail,
            ..RejectRow::default()
        };
        self.out.totals.rejects += 1;
        self.reject(row, batch, line, raw, frame);
        Ok(())
    }

    fn reject(&mut self, mut row: RejectRow, batch: &LineBatch, line: &Line, raw: &[u8], frame: Frame) {
        row.offset = batch.offset + line.record.start as u64;
        match std::str::from_utf8(raw) {
            Ok(text) if is_short_as_json(raw) => row.raw = Some(text.to_owned()),
            _ => row.raw_base64 = Some(BASE64.encode(raw)),
        }
        row.before = Some(frame.before).filter(|before| !before.is_empty());
        row.end = frame.end;
        if let Some(&(first, _)) = frame.places.first() {
            row.offset = first;
        }
        row.places = frame.places;
        self.out.rejects.push(row);
    }

    fn frame(&mut self, place: Place<'_>, frame: &Frame) {
        if *frame != Frame::default() {
            let text = serde_json::to_string(frame).expect("two strings always serialize");
            self.verbatim.push(place, Kind::Frame, OriginalRow::default(), &text);
        }
    }

    fn record(
        &mut self,
        task: &Task<'_>,
        record: &str,
        row: u64,
        frame: &Frame,
        scratch: &mut Scratch,
    ) -> std::result::Result<(), Reject> {
        let mut fallback = String::new();
        write!(fallback, "{}#{row}", task.source).expect("writing to a string cannot fail");
        let product = process(&task.recipe, record, &fallback, scratch)?;
        let encoded = product.encode(&task.recipe, scratch)?;
        let id = label(&product.decoded.conversation.id).into_owned();
        let place = Place { id: &id, source: task.source, row };
        self.frame(place, frame);
        match &encoded.written {
            Written::Row(written) => self.rows.push(place, written),
            Written::Record(written) => self.records.push(written),
        }
        if encoded.needs_raw {
            self.verbatim.push(place, Kind::Record, OriginalRow::default(), record);
            self.out.proof.raw_records += 1;
        }
        if let Some(layout) = &encoded.layout {
            self.verbatim.push(place, Kind::Layout, OriginalRow::default(), layout);
        }
        self.originals(place, &product, &encoded);
        if task.verbatim_map {
            self.out.verbatim_map.extend(map_line(place, &product, &encoded.written));
        }
        let Product { decoded, condensed, .. } = &product;
        let checksum = blake3::hash(record.as_bytes()).to_hex();
        self.metrics.push(place, &MakeUp::of(&decoded.conversation), &condensed.metrics, &checksum);
        if let Some(training) = &mut self.training {
            training.push(place, &decoded.conversation, condensed);
        }
        if task.trace {
            for decision in &condensed.decisions {
                self.decisions.push(place, &decoded.conversation, decision);
            }
        }
        self.contents.add(&decoded.conversation, condensed);
        self.out.proof.restored += 1;
        self.out.totals.add(&totals_of(&decoded.conversation, condensed));
        Ok(())
    }

    fn originals(&mut self, place: Place<'_>, product: &Product<'_>, encoded: &Encoded<'_>) {
        let conversation = &product.decoded.conversation;
        for original in &encoded.originals {
            let message = &conversation.messages[original.message_index];
            let summary_id = match &product.condensed.messages[original.position] {
                Output::Replaced(replacement) => Some(replacement.provenance.summary_id.as_str()),
                Output::Kept { .. } => None,
            };
            let row = OriginalRow {
                position: Some(original.position as u64),
                message_index: Some(original.message_index as u64),
                message_id: message.id.as_deref(),
                role: Some(message.role.as_str()),
                summary_id,
            };
            self.verbatim.push(place, Kind::Message, row, original.message);
            self.out.proof.originals += 1;
        }
    }

    fn finish(mut self, task: &Task<'_>) -> Result<EncodedBatch> {
        let conversations = match task.recipe.format {
            super::ConversationFormat::Parquet | super::ConversationFormat::Arrow => self.rows.finish()?,
            super::ConversationFormat::Jsonl => self.records.finish()?,
        };
        if let Some(training) = self.training {
            let (rows, dropped) = training.finish()?;
            (self.out.training, self.out.dropped) = (Some(rows), dropped);
        }
        let decisions = task.trace.then(|| self.decisions.finish()).transpose()?;
        let metrics = self.metrics.finish()?;
        self.out.sketch = sketch_of(&metrics, self.contents, &self.out.rejects)?;
        self.out.tables = [Some(conversations), Some(self.verbatim.finish()?), Some(metrics), decisions];
        Ok(self.out)
    }
}

/// The sketch of a batch.
pub(crate) fn sketch_of(metrics: &RecordBatch, contents: Contents, rejects: &[RejectRow]) -> Result<Sketch> {
    let mut sketch = Sketch { contents: Some(contents), ..Sketch::default() };
    sketch.figures.add_rows(metrics)?;
    for reject in rejects {
        sketch.add_reject(reject);
    }
    Ok(sketch)
}

fn blank(bytes: &[u8], task: &Task<'_>) -> Result<String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Error::new(ErrorKind::Internal, task.source, "blank bytes are not UTF-8").because(error))?;
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
#[must_use]
pub fn invalid_utf8(raw: &[u8]) -> Reject {
    let at = std::str::from_utf8(raw).err().map_or(0, |error| error.valid_up_to());
    let advice = advice(raw).unwrap_or("convert the file to UTF-8, or correct the line");
    Reject { reason: RejectReason::InvalidUtf8, detail: format!("byte {at} of the line is not UTF-8; {advice}") }
}
