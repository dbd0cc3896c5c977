//! `condenser explain`: what would happen to each message, and why.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use condenser::engine::{Engine, Scratch};
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Input, Inputs, expand, open_input};
use condenser::model::{Condensed, Conversation, EngineOptions, Message, ShapeName};
use condenser::pipeline::{
    Batch, BatchOptions, PlannedInput, PlannedPart, Slice, TableOptions, count_words_of, load_tokenizer,
};
use condenser::report::plain;
use condenser::shape;
use condenser::text::WordStatistics;

use super::args::ExplainArgs;
use super::compress::{counts_words, with_words};
use super::{Ending, block_on_thread, check_stop, message, tokenizer_file};

/// How much of a message is shown.
const PREVIEW_CHARS: usize = 60;

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
    let inputs = expand(&args.inputs, &stores)?;
    let words = if counts_words(engine.options()) { Some(words_of(inputs.clone(), args.shape)?) } else { None };
    let engine = with_words(engine, words.as_ref());
    let (mut scratch, mut found, mut rejected) = (Scratch::default(), false, false);
    for input in inputs {
        let mut source = open_input(&input, &Slice::Whole, BatchOptions::default(), &TableOptions::default())?;
        while let Some(batch) = source.next_batch()? {
            let Batch::Lines(batch) = batch else {
                return Err(Error::new(ErrorKind::Usage, &input.name, "tables cannot be explained yet"));
            };
            for line in batch.lines.iter().filter(|line| line.kind.is_record()) {
                check_stop(stop)?;
                let place = format!("{}#{}", input.name, line.row);
                let record = std::str::from_utf8(&batch.bytes[line.record.clone()]).ok();
                let shape = args.shape.or_else(|| record.and_then(shape::detect));
                let decoded = match (record, shape) {
                    (Some(record), Some(shape)) => shape::decode(record, shape, &place).map_err(|reject| reject.detail),
                    _ => Err("the record holds no conversation in a known shape".to_owned()),
                };
                let conversation = match decoded {
                    Ok(decoded) => decoded.conversation,
                    Err(detail) => {
                        rejected = true;
                        message::note(&format!("{}: line {}: rejected: {detail}", input.name, line.number));
                        continue;
                    }
                };
                if args.conversation.as_ref().is_some_and(|id| *id != conversation.id) {
                    continue;
                }
                found = true;
                let condensed = engine.condense(&conversation, &mut scratch);
                message::result(&describe(&conversation, &condensed))?;
            }
        }
    }
    match args.conversation {
        Some(id) if !found => Err(Error::new(ErrorKind::Input, id, "the inputs have no conversation with this id")),
        _ if rejected => Ok(Ending::Rejects),
        _ => Ok(Ending::Clean),
    }
}

/// The words of the inputs, counted as a job would count them that reads each as a whole.
fn words_of(inputs: Vec<Input>, shape: Option<ShapeName>) -> Result<WordStatistics> {
    let options = TableOptions { shape, ..TableOptions::default() };
    let (corpus, planned) = Inputs::plan(inputs, BatchOptions::default(), options, u64::MAX)?;
    let parts: Vec<PlannedPart> = (0..planned.len()).map(|input| PlannedPart { input, slice: Slice::Whole }).collect();
    let inputs: Vec<PlannedInput> = planned.into_iter().map(|(input, _)| input).collect();
    count_words_of(&corpus, &inputs, &parts, shape)
}

fn describe(conversation: &Conversation<'_>, condensed: &Condensed) -> String {
    let metrics = &condensed.metrics;
    let mut out = format!(
        "{}: {} messages → {}, {} characters → {}\n",
        plain::line(&conversation.id),
        conversation.messages.len(),
        condensed.messages.len(),
        metrics.chars_in,
        metrics.chars_out
    );
    for decision in &condensed.decisions {
        let Some(message) = conversation.messages.get(decision.index) else { continue };
        let details: Vec<&str> = decision.details.iter().map(|reason| reason.as_str()).collect();
        let reason = if details.is_empty() {
            decision.reason.as_str().to_owned()
        } else {
            format!("{} ({})", decision.reason.as_str(), details.join(", "))
        };
        writeln!(
            out,
            "{:>5}  {:<10} {:>7} → {:<7} {:<13} {:<40} {}",
            decision.index,
            plain::line(message.role.as_str()),
            decision.chars_in,
            decision.chars_out,
            decision.action.as_str(),
            reason,
            preview(message)
        )
        .expect("writing to a string cannot fail");
    }
    out.push('\n');
    out
}

fn preview(message: &Message<'_>) -> String {
    let start: String = message.texts().flat_map(str::chars).take(PREVIEW_CHARS).collect();
    plain::line(&start).into_owned()
}
