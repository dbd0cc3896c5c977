//! The conversations of inputs, one after the other, for commands that look at them without writing a run. Refuses to
//! know what is done with them.

use std::sync::atomic::AtomicBool;

use condenser::error::Result;
use condenser::io::{Input, open_input};
use condenser::model::{Reject, RejectReason, ShapeName};
use condenser::pipeline::{
    Batch, BatchOptions, LineBatch, RowBatch, Slice, TableOptions, decode_record, invalid_utf8, row_records,
};
use condenser::shape::Decoded;

use super::{check_stop, message};

/// What is done with a conversation, which came from a row of a source. False ends the reading.
pub(super) type Each<'e> = dyn FnMut((&str, u64), &Decoded<'_>) -> Result<bool> + 'e;

/// Calls `each` with every conversation. What cannot be read is noted on stderr; true when there was such.
///
/// # Errors
/// When an input cannot be opened; those of `each`.
pub(super) fn each_conversation(
    inputs: &[Input],
    options: &TableOptions,
    stop: &AtomicBool,
    each: &mut Each<'_>,
) -> Result<bool> {
    let mut reader = Reader { shape: options.shape, stop, each, rejected: false };
    for input in inputs {
        let mut source = open_input(input, &Slice::Whole, BatchOptions::default(), options)?;
        while let Some(batch) = source.next_batch()? {
            let goes_on = match batch {
                Batch::Lines(batch) => reader.lines(&input.name, &batch)?,
                Batch::Rows(batch) => reader.rows(&input.name, &batch)?,
            };
            if !goes_on {
                return Ok(reader.rejected);
            }
        }
    }
    Ok(reader.rejected)
}

struct Reader<'e, 'f> {
    shape: Option<ShapeName>,
    stop: &'e AtomicBool,
    each: &'e mut Each<'f>,
    rejected: bool,
}

impl Reader<'_, '_> {
    fn lines(&mut self, source: &str, batch: &LineBatch) -> Result<bool> {
        for line in batch.lines.iter().filter(|line| line.kind.is_record()) {
            check_stop(self.stop)?;
            let record = std::str::from_utf8(&batch.bytes[line.record.clone()]).ok();
            let fallback = format!("{source}#{}", line.row);
            let decoded = match record {
                Some(record) => self.decode(record, self.shape, &fallback),
                None => Err(invalid_utf8(&batch.bytes[line.record.clone()])),
            };
            match decoded {
                Ok(decoded) if !(self.each)((source, line.row), &decoded)? => return Ok(false),
                Ok(_) => {}
                Err(reject) => self.reject(&format!("{source}: line {}", line.number), &reject),
            }
        }
        Ok(true)
    }

    fn rows(&mut self, source: &str, batch: &RowBatch) -> Result<bool> {
        let shape = self.shape.or(batch.table.shape);
        let ids = batch.table.ids(&batch.rows);
        for (at, (record, id)) in row_records(&batch.rows, &batch.table)?.into_iter().zip(ids).enumerate() {
            check_stop(self.stop)?;
            let row = batch.first_row + at as u64;
            let decoded = match &record {
                Some(record) => self.decode(record, shape, &format!("{source}#{row}")),
                None => Err(Reject {
                    reason: RejectReason::UnknownShape,
                    detail: "the row holds no conversation".to_owned(),
                }),
            };
            match decoded {
                Ok(mut decoded) => {
                    if let Some(id) = id {
                        decoded.conversation.id = id.into();
                    }
                    if !(self.each)((source, row), &decoded)? {
                        return Ok(false);
                    }
                }
                Err(reject) => self.reject(&format!("{source}: row {row}"), &reject),
            }
        }
        Ok(true)
    }

    /// The record as a job reads it.
    fn decode<'r>(
        &self,
        record: &'r str,
        shape: Option<ShapeName>,
        id: &str,
    ) -> std::result::Result<Decoded<'r>, Reject> {
        decode_record(record, shape, self.shape.is_some(), id)
    }

    fn reject(&mut self, place: &str, reject: &Reject) {
        self.rejected = true;
        message::note(&format!("{place}: rejected: {}: {}", reject.reason.as_str(), reject.detail));
    }
}
