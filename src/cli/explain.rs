//! `condenser explain`: what would happen to each message, and why.

use std::sync::atomic::AtomicBool;

use condenser::engine::{Engine, Scratch};
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Input, Inputs};
use condenser::model::EngineOptions;
use condenser::pipeline::{
    BatchOptions, PlannedInput, PlannedPart, Slice, TableOptions, count_words_of, load_tokenizer,
};
use condenser::report::explained::ExplainedConversation;
use condenser::report::plain;
use condenser::text::WordStatistics;

use super::args::ExplainArgs;
use super::compress::{counts_words, with_words};
use super::conversations::each_conversation;
use super::{Ending, block_on_thread, inputs_of, message, tokenizer_file};

/// Runs the command.
pub(crate) fn run(args: ExplainArgs) -> Result<Ending> {
    block_on_thread(move |stop| explain(args, stop))
}

fn explain(args: ExplainArgs, stop: &AtomicBool) -> Result<Ending> {
    let stores = args.stores.stores();
    let options = args.engine.over(EngineOptions::default());
    let counter = load_tokenizer(&options.tokenizer, |path| tokenizer_file(path, &stores))?;
    let engine = match counter {
        Some(loaded) => Engine::counting(options, loaded.counter)?,
        None => Engine::new(options)?,
    }
    .explaining(true);
    let inputs = inputs_of(&args.inputs, &stores, false)?;
    let tables = TableOptions { shape: args.shape, messages_column: args.messages_column.clone() };
    let words = if counts_words(engine.options()) { Some(words_of(inputs.clone(), &tables)?) } else { None };
    let engine = with_words(engine, words.as_ref());
    let (mut scratch, mut found) = (Scratch::default(), false);
    let rejected = each_conversation(&inputs, &tables, stop, &mut |place, decoded| {
        let conversation = &decoded.conversation;
        if args.conversation.as_ref().is_some_and(|id| *id != conversation.id) {
            return Ok(true);
        }
        found = true;
        let explained = engine.explain(conversation, &mut scratch);
        let (n_out, metrics) = (explained.condensed.messages.len(), &explained.condensed.metrics);
        let explained = ExplainedConversation::new(place, &conversation.id, n_out, metrics, explained.messages);
        if args.json {
            message::result(&format!("{}\n", plain::json(&explained.to_json())))?;
        } else {
            message::result(&explained.text(conversation, args.all))?;
        }
        Ok(true)
    })?;
    match args.conversation {
        Some(id) if !found => Err(Error::new(ErrorKind::Input, id, "the inputs have no conversation with this id")),
        _ if rejected => Ok(Ending::Rejects),
        _ => Ok(Ending::Clean),
    }
}

/// The words of the inputs, counted as a job would count them that reads each as a whole.
pub(super) fn words_of(inputs: Vec<Input>, options: &TableOptions) -> Result<WordStatistics> {
    let (corpus, planned) = Inputs::plan(inputs, BatchOptions::default(), options.clone(), u64::MAX)?;
    let parts: Vec<PlannedPart> = (0..planned.len()).map(|input| PlannedPart { input, slice: Slice::Whole }).collect();
    let inputs: Vec<PlannedInput> = planned.into_iter().map(|(input, _)| input).collect();
    count_words_of(&corpus, &inputs, &parts, options.shape)
}
