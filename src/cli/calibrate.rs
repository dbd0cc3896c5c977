//! `condenser calibrate`: how often each metric notices damage that is planted.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use condenser::engine::Scratch;
use condenser::error::{Error, ErrorKind, Result};
use condenser::pipeline::TableOptions;
use condenser::report::{Calibration, Calibrator};

use super::args::CalibrateArgs;
use super::conversations::{each_conversation, engine_for};
use super::restore::Output;
use super::{Ending, block_on_thread, inputs_of, local, message};

/// What is read where no input is named: the sample of the repository.
const SAMPLE: &str = "jobs/sample";

/// Runs the command.
pub(crate) fn run(args: CalibrateArgs) -> Result<Ending> {
    block_on_thread(move |stop| calibrate(args, stop))
}

fn calibrate(args: CalibrateArgs, stop: &AtomicBool) -> Result<Ending> {
    let stores = args.stores.stores();
    let mut inputs = args.inputs;
    if inputs.is_empty() {
        if !local(Path::new(SAMPLE))?.exists() {
            return Err(Error::new(ErrorKind::Usage, "", format!("no input was named, and there is no {SAMPLE} here")));
        }
        inputs.push(SAMPLE.to_owned());
    }
    let found = inputs_of(&inputs, &stores, false)?;
    let tables = TableOptions { shape: args.shape, messages_column: None };
    let engine = engine_for(args.engine, &found, &tables, &stores)?;
    let (mut calibrator, mut scratch) = (Calibrator::new(inputs), Scratch::default());
    let mut n_left = args.limit;
    let rejected = each_conversation(&found, &tables, stop, &mut |_, decoded| {
        calibrator.add(&engine, &decoded.conversation, &mut scratch);
        n_left = n_left.saturating_sub(1);
        Ok(n_left > 0)
    })?;
    if n_left == args.limit {
        let message = "the inputs hold no conversation, so there is nothing to measure";
        return Err(Error::new(ErrorKind::Empty, "", message));
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
        (true, _) => message::document(&calibration.to_json()),
        (false, _) => message::result(&calibration.table()),
    }
}
