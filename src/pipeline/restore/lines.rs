//! The way back of a stream: records, the bytes around them and rejected lines become its exact bytes. Knows no rows of
//! tables that were read.

use arrow::array::LargeStringArray;
use arrow::record_batch::RecordBatch;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::cursor::{SidecarEntry, VerbatimRows};
use super::walk::{Restored, SLICE_BYTES, Walk, broken};
use super::weave::Weave;
use crate::error::Result;
use crate::pipeline::bridge::{Bridge, guard};
use crate::pipeline::reject::{RejectRow, raw_of_reject};
use crate::pipeline::tables::{Checksum, ConversationsView, count_column, text_column};

/// A stream as it grows.
pub(super) struct Lines {
    bridge: Bridge,
    weave: Weave,
}

/// The bytes before a record, its own, and where the pieces of these stand when they do not stand together.
type Woven = (String, Vec<u8>, Vec<(u64, u64)>);

impl Lines {
    pub(super) fn new(bridge: Bridge) -> Self {
        Self { bridge, weave: Weave::default() }
    }

    /// What stands before the next conversation: many bytes, or rejects.
    pub(super) fn before(&mut self, walk: &mut Walk) -> Result<Option<Restored>> {
        if walk.gives_all()
            && let Some(before) = walk.verbatim.take_before(walk.next_row)?
        {
            let mut bytes = Vec::new();
            let woven = self.weave.push(before.into_bytes(), &[], &mut bytes);
            woven.map_err(|message| walk.broken(walk.next_row, message))?;
            return Ok(Some(Restored::bytes_of(0, bytes)));
        }
        let (mut bytes, mut records) = (Vec::new(), 0);
        while walk.only.is_none() && bytes.len() < SLICE_BYTES {
            if records > 0 && walk.ends_before(walk.next_row)? {
                break;
            }
            let Some(reject) = walk.next_reject()? else { break };
            let row = reject.source_row;
            let found = walk.verbatim.take(row)?;
            let entry = found.read().map_err(|message| walk.broken(row, &message))?;
            let woven = (entry.ahead + &entry.frame.before, raw_of_reject(&reject)?, reject.places);
            self.push(walk, row, woven, &mut bytes)?;
            let is_piece = |next: &Result<RejectRow>| {
                next.as_ref().is_ok_and(|next| next.source_row == row && next.reason.is_empty())
            };
            if !walk.rejects.peek().is_some_and(is_piece) {
                walk.next_row = row + 1;
                records += 1;
            }
        }
        Ok((records > 0 || !bytes.is_empty()).then(|| Restored::bytes_of(records, bytes)))
    }

    /// The first records of `batch`.
    pub(super) fn slice(&mut self, walk: &mut Walk, batch: &RecordBatch) -> Result<Restored> {
        let view = View::of(batch)?;
        let n = if walk.singly { 1 } else { view.first_fitting(batch.num_rows()) };
        let rows = walk.numbers(n)?;
        if batch.column_by_name("source_row").is_some() {
            let stored = count_column(batch, "source_row")?.values();
            if let Some((row, found)) = rows.iter().zip(stored).find(|(row, found)| row != found) {
                let message = format!("this record is missing; row {found} stands in its place");
                return Err(walk.broken(*row, &message));
            }
        }
        let (sidecar, checksums) = walk.entries(&rows)?;
        let (place, borders, nights) = (&walk.place, &walk.borders, walk.nights.as_deref());
        let restore = |(index, (&row, entries)): (usize, (&u64, &VerbatimRows))| -> Result<Woven> {
            let fails = |message: String| broken(place, borders, row, &message);
            let found = entries.read().map_err(fails)?;
            let record = match &found.again {
                Some(again) => again.record(nights),
                None => view.restore(index, &found),
            };
            let record = record.map_err(fails)?;
            if let Some(checksums) = &checksums {
                check(&record, &checksums[index]).map_err(fails)?;
            }
            let mut bytes = found.frame.before.into_bytes();
            bytes.extend_from_slice(record.as_bytes());
            bytes.extend_from_slice(found.frame.end.as_deref().unwrap_or("\n").as_bytes());
            Ok((found.ahead, bytes, found.frame.places))
        };
        let restore =
            |item| guard(|| restore(item)).unwrap_or_else(|message| Err(broken(place, borders, rows[0], &message)));
        let parts: Vec<Woven> = self
            .bridge
            .install(|| rows.par_iter().zip(sidecar.par_iter()).enumerate().map(restore).collect::<Result<_>>())?;
        let mut bytes = Vec::with_capacity(parts.iter().map(|(ahead, bytes, _)| ahead.len() + bytes.len()).sum());
        for ((ahead, record, places), &row) in parts.into_iter().zip(&rows) {
            // A record alone is given as a whole.
            let places = if walk.only.is_some() { Vec::new() } else { places };
            self.push(walk, row, (ahead, record, places), &mut bytes)?;
        }
        Ok(Restored::bytes_of(sidecar.len() as u64, bytes))
    }

    /// What the first records of `batch` hold themselves.
    pub(super) fn texts(&self, walk: &mut Walk, whole: bool, batch: &RecordBatch) -> Result<Vec<(u64, String)>> {
        while walk.only.is_none()
            && let Some(reject) = walk.next_reject()?
        {
            walk.next_row = reject.source_row + 1;
        }
        let view = View::of(batch)?;
        let rows = walk.numbers(view.first_fitting(batch.num_rows()))?;
        let (sidecar, _) = walk.entries(&rows)?;
        let (place, borders, nights) = (&walk.place, &walk.borders, walk.nights.as_deref());
        let text = |(index, (&row, entries)): (usize, (&u64, &VerbatimRows))| -> Result<(u64, String)> {
            let fails = |message: String| broken(place, borders, row, &message);
            let found = entries.read().map_err(fails)?;
            let text = match &found.again {
                Some(again) if whole => again.record(nights),
                Some(again) => Ok(again.original.rest.to_string()),
                None => view.restore(index, &found),
            };
            Ok((row, text.map_err(fails)?))
        };
        let texts = || rows.par_iter().zip(sidecar.par_iter()).enumerate().map(text).collect::<Result<Vec<_>>>();
        self.bridge
            .install(|| guard(texts))
            .unwrap_or_else(|message| Err(broken(place, borders, rows.first().copied().unwrap_or_default(), &message)))
    }

    /// Takes a record with what stands before it; its pieces are told from the beginning of its input.
    fn push(&mut self, walk: &Walk, row: u64, (ahead, record, mut places): Woven, out: &mut Vec<u8>) -> Result<()> {
        if !places.is_empty() {
            let first_byte = walk.borders.first_byte(row);
            for (offset, _) in &mut places {
                *offset = offset.saturating_add(first_byte);
            }
        }
        let ahead = if ahead.is_empty() { Ok(()) } else { self.weave.push(ahead.into_bytes(), &[], out) };
        let woven = ahead.and_then(|()| self.weave.push(record, &places, out));
        woven.map_err(|message| walk.broken(row, message))
    }

    /// What stands behind the last record.
    pub(super) fn end(&self, walk: &mut Walk) -> Result<Restored> {
        self.weave.finish().map_err(|message| walk.broken(walk.next_row, message))?;
        let found = walk.verbatim.take(walk.next_row)?;
        let entry = found.read().map_err(|message| walk.broken(walk.next_row, &message))?;
        Ok(Restored::bytes_of(0, (entry.ahead + &entry.frame.before).into_bytes()))
    }
}

enum View<'b> {
    Rows(ConversationsView<'b>),
    Records(&'b LargeStringArray),
}

impl<'b> View<'b> {
    fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(if batch.column_by_name("messages").is_some() {
            Self::Rows(ConversationsView::new(batch)?)
        } else {
            Self::Records(text_column(batch, "record")?)
        })
    }

    /// How many of the first of `n` rows fit into a slice; one at least.
    fn first_fitting(&self, n: usize) -> usize {
        let mut n_bytes = 0;
        let too_many = |&index: &usize| {
            n_bytes += self.bytes(index);
            index > 0 && n_bytes > SLICE_BYTES
        };
        (0..n).find(too_many).unwrap_or(n)
    }

    /// The size of a row, nearly: what most of its text is.
    fn bytes(&self, index: usize) -> usize {
        match self {
            Self::Rows(view) => view.content_bytes(index),
            Self::Records(records) => records.value_length(index) as usize,
        }
    }

    fn restore(&self, index: usize, found: &SidecarEntry<'_>) -> std::result::Result<String, String> {
        match self {
            Self::Rows(view) => found.of_row(view.id.value(index), &view.row(index)),
            Self::Records(records) => found.of_record(records.value(index)),
        }
    }
}

fn check(record: &str, checksum: &str) -> std::result::Result<(), String> {
    if !Checksum(blake3::hash(record.as_bytes())).is(checksum) {
        return Err("the restored record differs from the original: its checksum is another".to_owned());
    }
    Ok(())
}
