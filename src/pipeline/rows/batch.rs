//! The rows of a batch, however their column holds conversations: which are looked at, taken out, measured and kept.
//! Refuses to know how a cell is written.

use arrow::array::BooleanArray;
use arrow::compute::filter_record_batch;
use arrow::record_batch::RecordBatch;

use super::packed::{pack, unpack};
use crate::engine::Scratch;
use crate::error::{Error, Result};
use crate::model::{Reject, RejectReason};
use crate::pipeline::accumulate::Accumulator;
use crate::pipeline::record::Product;
use crate::pipeline::tables::RowPlace;
use crate::pipeline::{EncodedBatch, RejectRow, RowBatch};

/// Takes row `row` of the batch out of the conversations, whole.
pub(super) fn reject(sum: &mut Accumulator<'_>, batch: &RowBatch, row: usize, reject: Reject) -> Result<()> {
    let source = sum.task.source;
    let internal = |message: String| Error::internal(source, message);
    let whole = batch.rows.slice(row, 1);
    let packed = pack(&whole).map_err(internal)?;
    if unpack(&packed, &batch.rows.schema()).map_err(internal)? != whole {
        return Err(internal("a rejected row does not come back".to_owned()));
    }
    let reject = RejectRow::new(source, batch.first_row + row as u64, reject);
    sum.reject(RejectRow { row_base64: Some(packed), ..reject });
    sum.out.proof.bytes += batch.marks[row].bytes;
    Ok(())
}

/// Counts and measures the conversation of row `row`.
pub(super) fn measure(
    sum: &mut Accumulator<'_>,
    batch: &RowBatch,
    row: usize,
    place: RowPlace<'_>,
    product: &Product<'_>,
    scratch: &mut Scratch,
) {
    sum.conversation(place, product, blake3::Hash::from_bytes(batch.marks[row].hash), scratch);
    sum.out.proof.bytes += batch.marks[row].bytes;
}

/// The tables, with `rows` as the conversations.
pub(super) fn finish(sum: Accumulator<'_>, batch: &RowBatch, rows: RecordBatch) -> Result<EncodedBatch> {
    Ok(EncodedBatch { schema: Some(batch.schema.clone()), ..sum.finish(rows)? })
}

/// The rows of the batch that are kept.
pub(super) fn kept(batch: &RowBatch, keep: Vec<bool>) -> std::result::Result<RecordBatch, String> {
    if keep.iter().all(|&keep| keep) {
        return Ok(batch.rows.clone());
    }
    filter_record_batch(&batch.rows, &BooleanArray::from(keep)).map_err(|error| error.to_string())
}

/// The cell of row `row`, unless it is null, or too long.
pub(super) fn admit<T>(batch: &RowBatch, row: usize, cell: Option<T>) -> std::result::Result<T, Reject> {
    let (reason, detail) = match cell {
        None => {
            let detail = format!("the column `{}` is null; leave the row out or fill it in", batch.table.messages);
            (RejectReason::NoMessages, detail)
        }
        Some(_) if batch.marks[row].bytes > batch.max_row_bytes => {
            (RejectReason::TooLong, "the row is longer than --max-record-bytes; raise the limit".to_owned())
        }
        Some(cell) => return Ok(cell),
    };
    Err(Reject { reason, detail })
}
