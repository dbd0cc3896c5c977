//! `condenser explain`: what would happen to each message, and why.

use std::sync::atomic::AtomicBool;

use condenser::engine::{Engine, Scratch};
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Input, Inputs, expand, open_input};
use condenser::model::{EngineOptions, ShapeName};
use condenser::pipeline::{
    Batch, BatchOptions, LineBatch, PlannedInput, PlannedPart, RowBatch, Slice, TableOptions, count_words_of,
    load_tokenizer, row_records,
};
use condenser::report::explained::ExplainedConversation;
use condenser::report::plain;
use condenser::shape::{self, Decoded};
use condenser::text::WordStatistics;

use super::args::ExplainArgs;
use super::compress::{counts_words, with_words};
use super::{Ending, block_on_thread, check_stop, message, tokenizer_file};

/// Runs the command.
pub(crate) fn run(args: ExplainArgs) -> Result<Ending> {
    block_on_thread(move |stop| explain(args, stop))
}

fn explain(args: ExplainArgs, stop: &AtomicBool) -> Result<Ending> {
    let stores = args.stores.stores();
    let options = args.engine.clone().over(EngineOptions::default());
    let counter = load_tokenizer(&options.tokenizer, |path| tokenizer_file(path, &stores))?;
    let engine = match counter {
        Some(loaded) => Engine::counting(options, loaded.counter)?,
        None => Engine::new(options)?,
    }
    .explaining(true);
    let inputs = expand(&args.inputs, &stores)?;
    let tables = TableOptions { shape: args.shape, messages_column: args.messages_column.clone() };
    let words = if counts_words(engine.options()) { Some(words_of(inputs.clone(), &tables)?) } else { None };
    let engine = with_words(engine, words.as_ref());
    let mut work = Work { args, engine, scratch: Scratch::default(), found: false, rejected: false };
    for input in inputs {
        let mut source = open_input(&input, &Slice::Whole, BatchOptions::default(), &tables)?;
        while let Some(batch) = source.next_batch()? {
            match batch {
                Batch::Lines(batch) => work.lines(&input.name, &batch, stop)?,
                Batch::Rows(batch) => work.rows(&input.name, &batch, stop)?,
            }
        }
    }
    match work.args.conversation {
        Some(id) if !work.found => {
            Err(Error::new(ErrorKind::Input, id, "the inputs have no conversation with this id"))
        }
        _ if work.rejected => Ok(Ending::Rejects),
        _ => Ok(Ending::Clean),
    }
}

/// The words of the inputs, counted as a job would count them that reads each as a whole.
fn words_of(inputs: Vec<Input>, options: &TableOptions) -> Result<WordStatistics> {
    let (corpus, planned) = Inputs::plan(inputs, BatchOptions::default(), options.clone(), u64::MAX)?;
    let parts: Vec<PlannedPart> = (0..planned.len()).map(|input| PlannedPart { input, slice: Slice::Whole }).collect();
    let inputs: Vec<PlannedInput> = planned.into_iter().map(|(input, _)| input).collect();
    count_words_of(&corpus, &inputs, &parts, options.shape)
}

/// What is at work, and what was found so far.
struct Work {
    args: ExplainArgs,
    engine: Engine,
    scratch: Scratch,
    found: bool,
    rejected: bool,
}

impl Work {
    fn lines(&mut self, source: &str, batch: &LineBatch, stop: &AtomicBool) -> Result<()> {
        for line in batch.lines.iter().filter(|line| line.kind.is_record()) {
            check_stop(stop)?;
            let record = std::str::from_utf8(&batch.bytes[line.record.clone()]).ok();
            let fallback = format!("{source}#{}", line.row);
            match decode(record, self.args.shape, &fallback) {
                Ok(decoded) => self.one((source, line.row), &decoded)?,
                Err(detail) => self.reject(&format!("{source}: line {}: rejected: {detail}", line.number)),
            }
        }
        Ok(())
    }

    fn rows(&mut self, source: &str, batch: &RowBatch, stop: &AtomicBool) -> Result<()> {
        let shape = self.args.shape.or(batch.table.shape);
        let ids = batch.table.ids(&batch.rows);
        for (at, (record, id)) in row_records(&batch.rows, &batch.table)?.into_iter().zip(ids).enumerate() {
            check_stop(stop)?;
            let row = batch.first_row + at as u64;
            match decode(record.as_deref(), shape, &format!("{source}#{row}")) {
                Ok(mut decoded) => {
                    if let Some(id) = id {
                        decoded.conversation.id = id.into();
                    }
                    self.one((source, row), &decoded)?;
                }
                Err(detail) => self.reject(&format!("{source}: row {row}: rejected: {detail}")),
            }
        }
        Ok(())
    }

    fn one(&mut self, place: (&str, u64), decoded: &Decoded<'_>) -> Result<()> {
        let conversation = &decoded.conversation;
        if self.args.conversation.as_ref().is_some_and(|id| *id != conversation.id) {
            return Ok(());
        }
        self.found = true;
        let explained = self.engine.explain(conversation, &mut self.scratch);
        let (n_out, metrics) = (explained.condensed.messages.len(), &explained.condensed.metrics);
        let explained = ExplainedConversation::new(place, &conversation.id, n_out, metrics, explained.messages);
        if !self.args.json {
            return message::result(&explained.text(conversation, self.args.all));
        }
        let json = serde_json::to_string(&explained).map_err(|error| {
            Error::new(ErrorKind::Internal, &*explained.id, "no JSON can be made of it").because(error)
        })?;
        message::result(&format!("{}\n", plain::json(&json)))
    }

    fn reject(&mut self, note: &str) {
        self.rejected = true;
        message::note(note);
    }
}

/// The record as a job would read it; the error says why there is no conversation.
fn decode<'r>(
    record: Option<&'r str>,
    forced: Option<ShapeName>,
    id: &str,
) -> std::result::Result<Decoded<'r>, String> {
    let Some((record, shape)) = record.and_then(|record| Some((record, forced.or_else(|| shape::detect(record))?)))
    else {
        return Err("the record holds no conversation in a known shape".to_owned());
    };
    shape::decode(record, shape, id).map_err(|reject| reject.detail)
}
