//! The bounded sample of a job: what is read before its first part, the same for any number of workers, machines and parts.
//! Depends on nothing but the inputs. Refuses to know what is done with it.

use std::sync::{Mutex, PoisonError};

use super::look::Look;
use super::sweep::detached;
use super::work::encode_batch;
use super::{Corpus, PlannedInput, Slice};
use crate::error::{ErrorKind, Result};
use crate::model::{Conversation, ReadAs};

/// Bytes of inputs that are read whole; of more the sample has so many, too.
pub const SAMPLE_BYTES: u64 = 64 << 20;
/// So many evenly spaced places of more than that are read.
const N_PLACES: u64 = 64;
/// Bytes that are read at each of them.
pub const PLACE_BYTES: u64 = SAMPLE_BYTES / N_PLACES;

/// A slice of an input of which some bytes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampled {
    /// Place of the input among the inputs.
    pub input: usize,
    /// The slice.
    pub slice: Slice,
    /// Bytes of it, uncompressed; the record that goes beyond is the last one.
    pub n_bytes: u64,
}

/// What is read of `inputs`, which come with their slices of about [`PLACE_BYTES`]: all when they have [`SAMPLE_BYTES`] at most, and
/// else the records that begin at evenly spaced places of the inputs, one behind the other by their names. Where nobody can begin
/// in the middle it is the beginning.
#[must_use]
pub fn places(inputs: &[(PlannedInput, Vec<Slice>)]) -> Vec<Sampled> {
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by(|&a, &b| inputs[a].0.source.cmp(&inputs[b].0.source));
    let whole = |input: usize| Sampled { input, slice: Slice::Whole, n_bytes: SAMPLE_BYTES };
    let bytes_of = |input: usize| inputs[input].0.bytes;
    // What does not tell its length is read from its beginning.
    let mut sampled: Vec<Sampled> =
        order.iter().filter(|&&input| bytes_of(input).is_none()).map(|&input| whole(input)).collect();
    order.retain(|&input| bytes_of(input).is_some());
    let total: u64 = order.iter().filter_map(|&input| bytes_of(input)).sum();
    if total <= SAMPLE_BYTES {
        sampled.extend(order.into_iter().map(whole));
        return sampled;
    }
    let (mut before, mut at) = (0, 0);
    for input in order {
        let n_bytes = bytes_of(input).unwrap_or_default();
        let slices = &inputs[input].1;
        let mut n_from_start = 0;
        while at < N_PLACES && at * total / N_PLACES < before + n_bytes {
            let offset = at * total / N_PLACES - before;
            match slices.first() {
                Some(Slice::Bytes { .. }) => {
                    let slice = Slice::Bytes { start: offset, end: (offset + PLACE_BYTES).min(n_bytes) };
                    sampled.push(Sampled { input, slice, n_bytes: PLACE_BYTES });
                }
                Some(Slice::RowGroups { .. }) => {
                    let slice = slices[(offset * slices.len() as u64 / n_bytes) as usize];
                    sampled.push(Sampled { input, slice, n_bytes: PLACE_BYTES });
                }
                _ => n_from_start += PLACE_BYTES,
            }
            at += 1;
        }
        if n_from_start > 0 {
            sampled.push(Sampled { input, slice: Slice::Whole, n_bytes: n_from_start });
        }
        before += n_bytes;
    }
    sampled
}

/// The conversations that begin in these slices. May block for seconds.
///
/// # Errors
/// When an input cannot be read; one that is not what it should be is left out here, since the job names it.
pub fn sample(
    corpus: &dyn Corpus,
    inputs: &[(PlannedInput, Vec<Slice>)],
    sampled: &[Sampled],
    read_as: Option<ReadAs<'_>>,
) -> Result<Vec<Conversation<'static>>> {
    let drawn = Mutex::new(Vec::new());
    let look = Look::new(|conversation: &Conversation<'_>| {
        drawn.lock().unwrap_or_else(PoisonError::into_inner).push(detached(conversation));
    });
    let read = |of: &Sampled, input: &PlannedInput| -> Result<()> {
        let mut source = corpus.open(of.input, input, &of.slice)?;
        let mut n_read = 0;
        while n_read < of.n_bytes {
            let Some(batch) = source.next_batch()? else { break };
            n_read += batch.n_bytes() as u64;
            encode_batch(&look.task(&input.source, read_as), &batch)?;
        }
        Ok(())
    };
    for of in sampled {
        match read(of, &inputs[of.input].0) {
            Err(error) if matches!(error.kind, ErrorKind::Input | ErrorKind::Usage) => {
                tracing::debug!(%error, "left out of the sample");
            }
            done => done?,
        }
    }
    Ok(drawn.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn input(source: &str, bytes: Option<u64>, slices: Vec<Slice>) -> (PlannedInput, Vec<Slice>) {
        (PlannedInput::new(source.to_owned(), bytes, None), slices)
    }

    #[test]
    fn little_is_read_whole() {
        let inputs = [input("b", Some(40 * MIB), vec![Slice::Whole]), input("a", Some(24 * MIB), vec![Slice::Whole])];
        let read: Vec<_> = places(&inputs).iter().map(|of| (of.input, of.slice)).collect();
        assert_eq!(read, [(1, Slice::Whole), (0, Slice::Whole)], "by their names");
        assert_eq!(places(&[input("-", None, vec![Slice::Whole])])[0].n_bytes, SAMPLE_BYTES);
    }

    #[test]
    fn of_much_the_same_places_are_read_however_it_is_cut() {
        let groups = |at: u64| Slice::RowGroups { start: at, end: at + 1, first_row: 100 * at };
        let inputs = |split: u64| {
            [
                input("logs.jsonl", Some(640 * MIB), Slice::ranges(640 * MIB, split)),
                input("packed.jsonl.zst", Some(320 * MIB), vec![Slice::Whole]),
                input("table.parquet", Some(320 * MIB), (0..10).map(groups).collect()),
            ]
        };
        let read = places(&inputs(PLACE_BYTES));
        assert_eq!(read, places(&inputs(7 * MIB)));
        assert_eq!(read.iter().map(|of| of.n_bytes).sum::<u64>(), SAMPLE_BYTES);
        let of = |input: usize| read.iter().filter(move |of| of.input == input);
        assert_eq!(of(0).count(), 32);
        assert_eq!(of(0).nth(2).map(|of| of.slice), Some(Slice::Bytes { start: 40 * MIB, end: 41 * MIB }));
        assert_eq!(of(1).map(|of| (of.slice, of.n_bytes)).collect::<Vec<_>>(), [(Slice::Whole, 16 * MIB)]);
        assert_eq!((of(2).next().map(|of| of.slice), of(2).count()), (Some(groups(0)), 16));
    }
}
