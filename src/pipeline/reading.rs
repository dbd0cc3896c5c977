//! What a part reads: its inputs one after the other, in loads for workers, of small inputs several at once. Where a load
//! ends depends on the bytes of the inputs only. Knows neither workers nor what is written.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::Sender;

use super::admission::{Admission, stopped};
use super::bridge::guard;
use super::split::Surveyor;
use super::timings::Timer;
use super::{Batch, Corpus, EarlierNights, PlannedInput, PlannedPart, Slice, Source, SourceDigest};
use crate::error::{Error, Result};
use crate::model::ShapeName;
use crate::shape;

/// Sources that are opened one after the other; one that cannot be is told, and the others go on.
pub(super) type Sources = Box<dyn Iterator<Item = Result<Box<dyn Source>>> + Send>;

/// What a part reads.
pub(super) struct Reading {
    pub(super) inputs: Arc<[Named]>,
    /// A source for each.
    pub(super) sources: Sources,
    /// What earlier nights of a store hold of their conversations.
    pub(super) earlier: Option<Arc<dyn EarlierNights>>,
    /// Who takes notes of the conversations, where nothing else is done with them.
    pub(super) surveyor: Option<Arc<Surveyor>>,
}

/// An input of a part.
pub(super) struct Named {
    pub(super) name: Arc<str>,
    /// Its place in the plan.
    pub(super) index: usize,
    /// The bytes that it has as stored; readers read ahead.
    pub(super) most: Option<u64>,
    /// When it was last written to, in milliseconds since 1970, where that counts.
    pub(super) written_at: Option<u64>,
}

/// A batch of an input, and how its records are written as far as that is known.
pub(super) struct Fed {
    pub(super) input: usize,
    pub(super) batch: Batch,
    pub(super) shape: Option<ShapeName>,
}

/// What a worker gets at a time: a batch, or the batches of several small inputs.
pub(super) type Load = Vec<Fed>;

/// A load with the memory that it was admitted to.
pub(super) struct Admitted {
    pub(super) load: Load,
    pub(super) stored_bytes: u64,
    pub(super) permit: OwnedSemaphorePermit,
}

/// The input at this place of the plan, of which `slice` is read.
pub(super) fn named(input: &PlannedInput, index: usize, slice: Slice) -> Named {
    let most = match slice {
        Slice::Whole => input.bytes_to_read(),
        Slice::Bytes { start, end } => Some(end - start),
        Slice::RowGroups { .. } => None,
    };
    Named { name: input.source.as_str().into(), index, most, written_at: input.written_at }
}

/// The inputs of a part, opened as they come.
pub(super) fn sources_of_part(planned: PlannedPart, inputs: &[PlannedInput], corpus: &Arc<dyn Corpus>) -> Sources {
    let (inputs, corpus) = (inputs.to_vec(), corpus.clone());
    let open = move |(index, input): (usize, PlannedInput)| {
        let source = corpus.open(index, &input, &planned.slice)?;
        if planned.n_inputs > 1 && source.table().is_some() {
            let message = "the file is a table and is not named like one; name it .parquet or .arrow, or read it alone";
            return Err(Error::input(input.source, message));
        }
        Ok(source)
    };
    Box::new(planned.inputs().zip(inputs).map(open))
}

/// The name of an input.
pub(super) fn name_of(inputs: &[Named], input: usize) -> &str {
    inputs.get(input).map_or("", |input| &input.name)
}

/// The reader's thread: takes memory first, reads, hands on. Small inputs are handed on together.
pub(super) fn read_all(
    mut reading: Reading,
    enough: usize,
    admission: &Admission,
    handle: &Handle,
    batches: &Sender<Admitted>,
    timer: Option<&Timer>,
) -> Result<Vec<Result<SourceDigest>>> {
    let mut read = Vec::with_capacity(reading.inputs.len());
    let is_shared = reading.inputs.len() > 1;
    let (mut open, mut stored_before) = (None, 0);
    loop {
        let permit = handle.block_on(admission.admit())?;
        let (mut load, mut charged, mut stored_bytes) = (Load::new(), 0, 0);
        while load.is_empty() || is_shared && charged < enough {
            let input = read.len();
            let source: &mut Box<dyn Source> = match &mut open {
                Some(source) => source,
                None => match reading.sources.next() {
                    Some(Ok(source)) => open.insert(source),
                    Some(Err(error)) => {
                        read.push(Err(error));
                        continue;
                    }
                    None => break,
                },
            };
            let batch = Timer::time(timer, "read", || source.next_batch())?;
            if let Some(batch) = batch {
                let most = reading.inputs.get(input).and_then(|input| input.most).unwrap_or(u64::MAX);
                let stored = source.stored_bytes().min(most);
                stored_bytes += stored.saturating_sub(std::mem::replace(&mut stored_before, stored));
                charged += batch.charged_bytes();
                load.push(Fed { input, batch, shape: None });
            } else {
                read.push(Ok(source.digest()?));
                (open, stored_before) = (None, 0);
            }
        }
        if load.is_empty() {
            return Ok(read);
        }
        let permit = handle.block_on(admission.adjust(permit, charged))?;
        batches.blocking_send(Admitted { load, stored_bytes, permit }).map_err(|_| stopped())?;
    }
}

/// Gives every batch the shape of the first line of its input that has one; of `input` it is `shape`, where that is known.
pub(super) fn detect(mut admitted: Admitted, mut input: usize, mut shape: Option<ShapeName>) -> Admitted {
    for fed in &mut admitted.load {
        if fed.input != input {
            (input, shape) = (fed.input, None);
        }
        shape = shape.or_else(|| detect_batch(&fed.batch));
        fed.shape = shape;
    }
    admitted
}

/// The shape of the first line that has one.
fn detect_batch(batch: &Batch) -> Option<ShapeName> {
    let Batch::Lines(batch) = batch else { return None };
    let lines = batch.lines.iter().filter(|line| line.kind.is_record());
    let mut records = lines.filter_map(|line| std::str::from_utf8(&batch.bytes[line.record.clone()]).ok());
    records.find_map(|record| guard(|| shape::detect(record)).ok().flatten())
}
