//! `condenser verify`: every hash of a run recomputed, every record restored and compared.

use std::io::{BufReader, Read};
use std::sync::atomic::AtomicBool;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Input, Run, open_codec, open_input};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, Commit, Source, TableInput, TableOptions, verify_end, verify_part, verify_rows,
};

use condenser::report::numbers::counted;

use super::args::VerifyArgs;
use super::{Ending, block_on_thread, check_stop, inputs_of, message, place};

/// Runs the command.
pub(crate) fn run(args: &VerifyArgs) -> Result<Ending> {
    let stores = args.stores.stores();
    let against = inputs_of(&args.against, &stores, false)?;
    let (root, threads) = (place(&args.run, &stores)?, args.threads.unwrap_or(0));
    let (n_parts, records, bytes, is_measured) = block_on_thread(move |stop| {
        let run = Run::open(root.clone())?;
        let n_inputs = run.commits.iter().filter(|commit| commit.split.is_first()).count();
        if !against.is_empty() && against.len() != n_inputs {
            let message = format!("the run has {n_inputs} inputs, but {} were given to compare", against.len());
            return Err(Error::new(ErrorKind::Usage, root.to_string(), message));
        }
        if run.manifest.options.measure_only {
            let n_records = run.commits.iter().map(|commit| commit.records).sum();
            check_files(&run, stop)?;
            return Ok((run.commits.len(), n_records, 0, true));
        }
        let (n_parts, records, bytes) = verify(&run, &against, &Bridge::new(threads)?, stop)?;
        Ok((n_parts, records, bytes, false))
    })?;
    if !args.quiet {
        let (parts, records) = (counted(n_parts as u64, "part"), counted(records, "record"));
        message::note(&if is_measured {
            format!("{parts}, {records}: the figures are as they were written; a report holds no originals")
        } else {
            format!("{parts}, {records}, {}: everything is as it was written", counted(bytes, "byte"))
        });
    }
    Ok(Ending::Clean)
}

fn check_files(run: &Run, stop: &AtomicBool) -> Result<()> {
    run.check_run_files()?;
    for commit in &run.commits {
        check_stop(stop)?;
        run.check_files(commit)?;
    }
    Ok(())
}

fn verify(run: &Run, against: &[Input], bridge: &Bridge, stop: &AtomicBool) -> Result<(usize, u64, u64)> {
    check_files(run, stop)?;
    let (mut records, mut bytes) = (0, 0);
    let mut originals = against.iter();
    let mut original: Option<Box<dyn Read + Send>> = None;
    let mut input = None;
    for (commit, next) in run.commits.iter().zip(run.commits.iter().skip(1).map(Some).chain([None])) {
        if commit.split.is_first() {
            input = originals.next();
        }
        if let Some(table) = &commit.table {
            let (n_records, n_bytes) = verify_table(run, commit, table, input, stop)?;
            records += n_records;
            bytes += n_bytes;
            continue;
        }
        if commit.split.is_first() {
            original = input.map(open).transpose()?;
        }
        let mut restorer = run.restorer(commit, bridge, true)?;
        let stream = original.as_mut().map(|original| original as &mut dyn Read);
        let done = verify_part(&mut restorer, commit, stream, &mut |_| check_stop(stop))?;
        if let Some(original) = original.as_mut().filter(|_| next.is_none_or(|next| next.split.is_first())) {
            verify_end(commit, original)?;
        }
        records += done.records;
        bytes += done.bytes;
    }
    Ok((run.commits.len(), records, bytes))
}

fn verify_table(
    run: &Run,
    commit: &Commit,
    table: &TableInput,
    against: Option<&Input>,
    stop: &AtomicBool,
) -> Result<(u64, u64)> {
    let options = TableOptions { messages_column: Some(table.messages.clone()), shape: table.shape };
    let open = |input| open_input(input, &commit.split, BatchOptions::default(), &options);
    let mut original = against.map(open).transpose()?;
    let original = original.as_mut().map(|original| &mut **original as &mut dyn Source);
    let (mut restorer, _) = run.row_restorer(commit, true)?;
    verify_rows(&mut restorer, commit, original, &mut |_| check_stop(stop))
}

fn open(input: &Input) -> Result<Box<dyn Read + Send>> {
    let failed = |error| Error::new(ErrorKind::Io, &input.name, "cannot be opened").because(error);
    let raw: Box<dyn Read + Send> = match &input.file {
        None => Box::new(std::io::stdin()),
        Some(file) => match file.as_local() {
            Some(path) => Box::new(std::fs::File::open(path).map_err(failed)?),
            None => file.open()?.stream(),
        },
    };
    let (_, stream) = open_codec(BufReader::with_capacity(1 << 18, raw)).map_err(failed)?;
    Ok(stream)
}
