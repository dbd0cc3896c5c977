//! `condenser verify`: every hash of a run recomputed, every record restored and compared.

use std::io::{BufReader, Read};
use std::sync::atomic::AtomicBool;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Input, Run, expand, open_codec, open_source};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{BatchOptions, Commit, Source, TableInput, TableOptions, verify_part, verify_rows};

use super::args::VerifyArgs;
use super::{Ending, block_on_thread, check_stop, message};

/// Runs the command.
pub(crate) fn run(args: &VerifyArgs) -> Result<Ending> {
    let against = expand(&args.against)?;
    let (path, threads) = (args.run.clone(), args.threads.unwrap_or(0));
    let (n_parts, records, bytes) = block_on_thread(move |stop| {
        let run = Run::open(&path)?;
        if !against.is_empty() && against.len() != run.commits.len() {
            let message =
                format!("the run has {} inputs, but {} were given to compare", run.commits.len(), against.len());
            return Err(Error::new(ErrorKind::Usage, path.to_string_lossy(), message));
        }
        verify(&run, &against, &Bridge::new(threads)?, stop)
    })?;
    if !args.quiet {
        message::note(&format!("{n_parts} parts, {records} records, {bytes} bytes: everything is as it was written"));
    }
    Ok(Ending::Clean)
}

fn verify(run: &Run, against: &[Input], bridge: &Bridge, stop: &AtomicBool) -> Result<(usize, u64, u64)> {
    run.check_run_files()?;
    for commit in &run.commits {
        check_stop(stop)?;
        run.check_files(commit)?;
    }
    let (mut records, mut bytes) = (0, 0);
    for (index, commit) in run.commits.iter().enumerate() {
        if let Some(table) = &commit.table {
            let (n_records, n_bytes) = verify_table(run, commit, table, against.get(index), stop)?;
            records += n_records;
            bytes += n_bytes;
            continue;
        }
        let mut original = against.get(index).map(open).transpose()?;
        let original = original.as_mut().map(|original| original as &mut dyn Read);
        let mut restorer = run.restorer(commit, bridge, true)?;
        let done = verify_part(&mut restorer, commit, original, &mut |_| check_stop(stop))?;
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
    let mut original = against.map(|input| open_source(input, BatchOptions::default(), &options)).transpose()?;
    let original = original.as_mut().map(|original| &mut **original as &mut dyn Source);
    let (mut restorer, _) = run.row_restorer(commit, true)?;
    verify_rows(&mut restorer, commit, original, &mut |_| check_stop(stop))
}

fn open(input: &Input) -> Result<Box<dyn Read + Send>> {
    let failed = |error| Error::new(ErrorKind::Io, &input.name, "cannot be opened").because(error);
    let raw: Box<dyn Read + Send> = match &input.path {
        None => Box::new(std::io::stdin()),
        Some(path) => Box::new(std::fs::File::open(path).map_err(failed)?),
    };
    let (_, stream) = open_codec(BufReader::with_capacity(1 << 18, raw)).map_err(failed)?;
    Ok(stream)
}
