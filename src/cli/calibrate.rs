//! `condenser calibrate`: how often each metric notices damage that is planted.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use condenser::engine::{Engine, Scratch};
use condenser::error::{Error, ErrorKind, Result};
use condenser::model::EngineOptions;
use condenser::pipeline::{TableOptions, load_tokenizer};
use condenser::report::{Calibration, Calibrator};

use super::args::CalibrateArgs;
use super::compress::{counts_words, with_words};
use super::conversations::each_conversation;
use super::explain::words_of;
use super::restore::Output;
use super::{Ending, block_on_thread, inputs_of, local, message, tokenizer_file};

/// What is read where no input is named: the sample of the repository.
const SAMPLE: &str = "jobs/sample";

/// Runs the command.
pub(crate) fn run(args: CalibrateArgs) -> Result<Ending> {
    block_on_thread(move |stop| calibrate(args, stop))
}

fn calibrate(args: CalibrateArgs, stop: &AtomicBool) -> Result<Ending> {
    let stores = args.stores.stores();
    let options = args.engine.over(EngineOptions::default());
    let counter = load_tokenizer(&options.tokenizer, |path| tokenizer_file(path, &stores))?;
    let engine = match counter {
        Some(loaded) => Engine::counting(options, loaded.counter)?,
        None => Engine::new(options)?,
    };
    let mut inputs = args.inputs;
    if inputs.is_empty() {
        if !local(Path::new(SAMPLE))?.exists() {
            return Err(Error::new(ErrorKind::Usage, "", format!("no input was named, and there is no {SAMPLE} here")));
        }
        inputs.push(SAMPLE.to_owned());
    }
    let found = inputs_of(&inputs, &stores, false)?;
    let tables = TableOptions { shape: args.shape, messages_column: None };
    let words = if counts_words(engine.options()) { Some(words_of(found.clone(), &tables)?) } else { None };
    let engine = with_words(engine, words.as_ref());
    let (mut calibrator, mut scratch) = (Calibrator::new(inputs), Scratch::default());
    let mut n_left = args.limit;
    let rejected = each_conversation(&found, &tables, stop, &mut |_, decoded| {
        calibrator.add(&engine, &decoded.conversation, &mut scratch);
        n_left = n_left.saturating_sub(1);
        Ok(n_left > 0)
    })?;
    if n_left == args.limit {
        let message = "the inputs hold no conversation, so there is nothing to measure";
        return Err(Error::new(ErrorKind::Input, "", message));
    }
    show(&calibrator.finish(), args.output.as_deref(), args.json)?;
    Ok(if rejected { Ending::Rejects } else { Ending::Clean })
}

fn show(calibration: &Calibration, output: Option<&str>, as_json: bool) -> Result<()> {
    if let Some(path) = output {
        let mut output = Output::open(Some(path))?;
        output.write(calibration.to_json().as_bytes())?;
        output.finish()?;
    }
    match (as_json, output) {
        (_, Some("-")) => Ok(()),
        (true, _) => message::result(&calibration.to_json()),
        (false, _) => message::result(&calibration.table()),
    }
}
