//! The conversations of inputs, one after the other, and an engine for them, for commands that look at them without
//! writing a run. Refuses to know what is done with them.

use super::{App, file_of_option};
use crate::engine::Engine;
use crate::error::Result;
use crate::io::store::Stores;
use crate::io::{Input, Inputs, open_input};
use crate::model::{EngineArgs, EngineOptions, ReadAs, Reject, RejectReason};
use crate::pipeline::{
    Batch, BatchOptions, EngineFiles, LineBatch, News, Observer, PlannedInput, PlannedPart, RowBatch, Slice,
    TableOptions, decode_record, invalid_utf8,
};
use crate::shape::Decoded;

/// What is done with a conversation, which came from a row of a source. False ends the reading.
pub type Each<'e> = dyn FnMut((&str, u64), &Decoded<'_>) -> Result<bool> + 'e;

/// The engine that a job with these options would have, measuring all that there is to measure.
pub fn engine_for(args: EngineArgs, stores: &Stores) -> Result<Engine> {
    let options = EngineOptions { all_figures: true, ..args.over(EngineOptions::default()) };
    EngineFiles::load(&options, |path, kind| file_of_option(path, kind, stores))?.engine(options)
}

/// The inputs as they are now, each of them one part.
pub(super) fn whole(
    inputs: Vec<Input>,
    options: &TableOptions,
) -> Result<(Inputs, Vec<PlannedInput>, Vec<PlannedPart>)> {
    let (corpus, planned) = Inputs::plan(inputs, BatchOptions::default(), options.clone(), u64::MAX)?;
    let parts = (0..planned.len()).map(|input| PlannedPart::of(input, Slice::Whole)).collect();
    Ok((corpus, planned.into_iter().map(|(input, _)| input).collect(), parts))
}

/// Calls `each` with every conversation. What cannot be read is told; true when there was such.
pub fn each_conversation(
    inputs: &[Input],
    options: &TableOptions,
    app: &App,
    observer: &dyn Observer,
    each: &mut Each<'_>,
) -> Result<bool> {
    let mut reader = Reader { read_as: options.read_as(), app, observer, each, rejected: false };
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
    read_as: Option<ReadAs<'e>>,
    app: &'e App,
    observer: &'e dyn Observer,
    each: &'e mut Each<'f>,
    rejected: bool,
}

impl Reader<'_, '_> {
    fn lines(&mut self, source: &str, batch: &LineBatch) -> Result<bool> {
        for line in batch.lines.iter().filter(|line| line.kind.is_record()) {
            self.app.stop.check()?;
            let record = std::str::from_utf8(&batch.bytes[line.record.clone()]).ok();
            let fallback = format!("{source}#{}", line.row);
            let decoded = match record {
                Some(record) => self.decode(record, self.read_as, &fallback),
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
        let read_as = self.read_as.or(batch.table.shape.map(ReadAs::Shape));
        let ids = batch.table.ids(&batch.rows);
        for (at, (record, id)) in batch.table.records(&batch.rows)?.into_iter().zip(ids).enumerate() {
            self.app.stop.check()?;
            let row = batch.first_row + at as u64;
            let decoded = match &record {
                Some(record) => self.decode(record, read_as, &format!("{source}#{row}")),
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
        read_as: Option<ReadAs<'r>>,
        id: &str,
    ) -> std::result::Result<Decoded<'r>, Reject> {
        decode_record(record, read_as, self.read_as.is_some(), id)
    }

    fn reject(&mut self, place: &str, reject: &Reject) {
        self.rejected = true;
        let message = format!("{place}: rejected: {}: {}", reject.reason.as_str(), reject.detail);
        self.observer.news(News::Warning(&message));
    }
}
