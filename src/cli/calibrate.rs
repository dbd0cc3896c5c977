//! `condenser calibrate`: how often each metric notices damage that is planted.

use std::path::Path;

use condenser::app::{App, Destination, each_conversation, engine_for, inputs_of, local};
use condenser::engine::Scratch;
use condenser::error::{Error, ErrorKind, Result};
use condenser::pipeline::TableOptions;
use condenser::report::{Calibration, Calibrator};

use super::args::CalibrateArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;
use super::screen::{Given, stdout_for};

/// What is read where no input is named: the sample of the repository.
const SAMPLE: &str = "jobs/sample";

/// Runs the command.
pub(crate) fn run(app: &App, args: CalibrateArgs) -> Result<Ending> {
    let notes = &Notes { quiet: false };
    let stores = args.stores.stores();
    let mut inputs = args.inputs;
    if inputs.is_empty() {
        if !local(Path::new(SAMPLE))?.exists() {
            return Err(Error::new(ErrorKind::Usage, "", format!("no input was named, and there is no {SAMPLE} here")));
        }
        inputs.push(SAMPLE.to_owned());
    }
    let found = inputs_of(app, &inputs, &stores, notes)?;
    let tables = TableOptions { shape: args.shape, map: args.map, messages_column: None };
    let engine = engine_for(args.engine, &stores)?;
    let (mut calibrator, mut scratch) = (Calibrator::new(inputs), Scratch::default());
    let mut n_left = args.limit;
    let rejected = each_conversation(&found, &tables, app, notes, &mut |_, decoded| {
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
        let mut output = Destination::open(Some(path), &|| stdout_for(Given::Data))?;
        output.write(calibration.to_json().as_bytes())?;
        output.finish()?;
    }
    match (as_json, output) {
        (_, Some("-")) => Ok(()),
        (true, _) => message::document(&calibration.to_json()),
        (false, _) => message::result(&calibration.table()),
    }
}
