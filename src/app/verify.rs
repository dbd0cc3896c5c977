//! Every hash of a run recomputed, every record restored and compared.

use std::collections::HashSet;
use std::io::{BufReader, Read};

use super::App;
use crate::error::{Error, ErrorKind, Result};
use crate::io::{Input, LeftRun, Run, Store, Stretches, open_codec, open_input};
use crate::model::RejectReason;
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Against, BatchOptions, Commit, PackedInput, TableOptions, verify_end, verify_part};
use crate::report::numbers::{by_count, counted};

/// So many files are named.
const MAX_NAMED: usize = 6;

/// What was found to be as it was written.
#[derive(Debug, Clone)]
pub struct VerifyOutcome {
    /// Parts.
    pub n_parts: usize,
    /// Records.
    pub n_records: u64,
    /// Bytes of the originals; `None` for a run that holds figures only.
    pub bytes: Option<u64>,
    /// Rows of damaged tables that could not be read when the run was written.
    pub lost_rows: u64,
    /// Compressed streams that could not be read to their end then.
    pub torn_streams: u64,
    /// Of a store, the runs that no night has.
    pub left: Vec<LeftRun>,
}

/// Verifies `run` on `threads` workers, 0 for one per core, and compares it with the inputs `against`, which stand in the
/// order in which they were compressed.
///
/// # Errors
/// `Verification` for the first thing that is not as it was written.
pub fn verify(app: &App, run: &Run, against: &[Input], threads: usize) -> Result<VerifyOutcome> {
    let other = if against.is_empty() { None } else { check_names(run, against)? };
    let bridge = Bridge::new(threads)?;
    check_files(app, run)?;
    let n_parts = run.commits.len();
    let lost_rows = run.commits.iter().flat_map(Commit::inputs).map(|read| read.input.lost_rows).sum();
    let torn_streams = torn_streams(run)?;
    if run.manifest.options.measure_only {
        let n_records = run.commits.iter().map(|commit| commit.records).sum();
        return Ok(VerifyOutcome { n_parts, n_records, bytes: None, lost_rows, torn_streams, left: Vec::new() });
    }
    let (n_records, bytes) = records(app, run, against, &bridge).map_err(|error| match other {
        Some((given, held)) if error.kind == ErrorKind::Verification => {
            let message = format!("it was compared with what the run read as {held}");
            Error::verification(given, message).because(error).hinting("name the files in the order of the run")
        }
        _ => error,
    })?;
    Ok(VerifyOutcome { n_parts, n_records, bytes: Some(bytes), lost_rows, torn_streams, left: Vec::new() })
}

/// Verifies every run of `store` on `threads` workers, 0 for one per core, and holds what its nights say against them.
///
/// # Errors
/// `Verification` for the first thing that is not as it was written.
pub fn verify_store(app: &App, store: &Store, threads: usize) -> Result<VerifyOutcome> {
    store.check_documents()?;
    let mut sum =
        VerifyOutcome { n_parts: 0, n_records: 0, bytes: Some(0), lost_rows: 0, torn_streams: 0, left: store.left()? };
    let mut cut = Stretches::default();
    for night in store.nights() {
        let run = store.open_run(&night.run)?;
        store.check_night(&run, night)?;
        store.open_of(&night.run)?;
        for log in &night.logs {
            let extents = store.extents(&night.run, log)?;
            let cuts: Vec<_> = extents.into_iter().filter(|extent| extent.is_cut).collect();
            cut.add(store, &cuts, 0)?;
        }
        let VerifyOutcome { n_parts, n_records, bytes, lost_rows, torn_streams, .. } = verify(app, &run, &[], threads)?;
        sum.lost_rows += lost_rows;
        sum.torn_streams += torn_streams;
        sum.n_parts += n_parts;
        sum.n_records += n_records;
        sum.bytes = sum.bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
    }
    store.check_index()?;
    // What is kept of a part is held against the night that kept it; the whole part was restored above.
    store.read(&cut, &Bridge::new(threads)?, &|| app.stop.check(), &mut |_, _| Ok(()), &mut |_, error| Err(error))?;
    Ok(sum)
}

/// Compressed streams of which the end is missing.
pub(super) fn torn_streams(run: &Run) -> Result<u64> {
    let mut n = 0;
    for commit in run.commits.iter().filter(|commit| commit.totals.rejects > 0) {
        for reject in run.rejects(commit)? {
            n += u64::from(reject?.reason == RejectReason::TornStream.as_str());
        }
    }
    Ok(n)
}

/// The file that a name names, whatever its folder.
fn file_of(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

/// Those of `names` whose file is not among `others`.
fn only(names: &[&str], others: &[&str]) -> String {
    let others: HashSet<&str> = others.iter().map(|name| file_of(name)).collect();
    let mut named: Vec<&str> = names.iter().filter(|name| !others.contains(file_of(name))).copied().collect();
    let n_more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    named.join(", ") + &if n_more > 0 { format!(" and {n_more} more") } else { String::new() }
}

/// Refuses inputs that are more or fewer than those of the run, and names them as far as names tell. Of as many it gives
/// the first that is named otherwise, and how the run names it.
fn check_names<'n>(run: &'n Run, against: &'n [Input]) -> Result<Option<(&'n str, &'n str)>> {
    let whole = run.commits.iter().filter(|commit| commit.split.is_first());
    let held: Vec<&str> = whole.flat_map(Commit::inputs).map(|read| read.source).collect();
    let given: Vec<&str> = against.iter().map(|input| &*input.name).collect();
    if held.len() == given.len() {
        let mut pairs = given.into_iter().zip(held);
        return Ok(pairs.find(|(given, held)| file_of(given) != file_of(held)));
    }
    let named = [("not in the run", only(&given, &held)), ("in the run alone", only(&held, &given))];
    let named =
        named.into_iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| format!("; {what}: {names}"));
    let message = format!(
        "the run has {}, but {} {} given to compare{}",
        counted(held.len() as u64, "input"),
        against.len(),
        by_count(against.len() as u64, "was", "were"),
        named.collect::<String>()
    );
    let hint = "name the files that the run read, and compress others into a run of their own";
    Err(Error::verification(run.place().to_string(), message).hinting(hint))
}

fn check_files(app: &App, run: &Run) -> Result<()> {
    run.check_run_files()?;
    for commit in &run.commits {
        app.stop.check()?;
        run.check_files(commit)?;
    }
    run.check_folders()
}

/// Numbers of records and bytes.
fn records(app: &App, run: &Run, against: &[Input], bridge: &Bridge) -> Result<(u64, u64)> {
    let (mut records, mut bytes) = (0, 0);
    let mut originals = against.iter();
    let mut original: Option<Box<dyn Read + Send>> = None;
    let mut input = None;
    for (commit, next) in run.commits.iter().zip(run.commits.iter().skip(1).map(Some).chain([None])) {
        let mut restorer = run.restorer(commit, bridge, true)?;
        if !commit.packed.is_empty() {
            let mut packed = commit.packed.iter();
            let mut streams =
                originals.by_ref().map(|input| open(input, packed.next().map_or(0, PackedInput::first_byte)));
            let against = (!against.is_empty()).then_some(Against::Streams(&mut streams));
            let done = verify_part(&mut restorer, commit, against, &mut |_| app.stop.check())?;
            records += done.records;
            bytes += done.bytes;
            continue;
        }
        if commit.split.is_first() {
            input = originals.next();
        }
        let mut rows = None;
        if let Some(table) = &commit.table {
            let messages_column = Some(table.messages.clone());
            let map = run.manifest.options.map.clone();
            let options = TableOptions { messages_column, shape: table.shape, map };
            let open = |input| open_input(input, &commit.split, BatchOptions::default(), &options);
            rows = input.map(open).transpose()?;
        } else if commit.split.is_first() {
            original = input.map(|input| open(input, commit.first_byte())).transpose()?;
        }
        let against = match (&mut rows, &mut original) {
            (Some(rows), _) => Some(Against::Rows(&mut **rows)),
            (None, Some(stream)) if commit.table.is_none() => Some(Against::Stream(stream)),
            _ => None,
        };
        let done = verify_part(&mut restorer, commit, against, &mut |_| app.stop.check())?;
        let is_last = next.is_none_or(|next| next.split.is_first());
        if let Some(original) = original.as_mut().filter(|_| is_last && commit.table.is_none()) {
            verify_end(commit, original)?;
        }
        records += done.records;
        bytes += done.bytes;
    }
    Ok((records, bytes))
}

/// The stream of an input, without the bytes that an earlier night has.
fn open(input: &Input, n_kept: u64) -> Result<Box<dyn Read + Send>> {
    let failed = |error| Error::io(&input.name, "cannot be opened").because(error);
    let raw: Box<dyn Read + Send> = match &input.file {
        None => Box::new(std::io::stdin()),
        Some(file) => match file.as_local() {
            Some(path) => Box::new(std::fs::File::open(path).map_err(failed)?),
            None => file.open()?.stream(),
        },
    };
    let (_, mut stream) = open_codec(BufReader::with_capacity(1 << 18, raw)).map_err(failed)?;
    // What is damaged there is not what is compared.
    drop(std::io::copy(&mut stream.by_ref().take(n_kept), &mut std::io::sink()));
    Ok(stream)
}
