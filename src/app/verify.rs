//! Every hash of a run recomputed, every record restored and compared.

use std::collections::{BTreeSet, HashSet};
use std::io::{BufReader, Read};

use super::App;
use crate::error::{Error, Result};
use crate::io::{Input, LeftRun, Run, Store, Stretches, open_codec, open_input};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Against, BatchOptions, Commit, Difference, NamedStream, PackedInput, RejectRow, TableOptions, verify_end,
    verify_part,
};
use crate::report::numbers::{by_count, counted, few_of};

/// What was found to be as it was written.
#[derive(Debug, Clone, Default)]
pub struct VerifyOutcome {
    /// Parts.
    pub n_parts: usize,
    /// Records.
    pub n_records: u64,
    /// Bytes of the originals; `None` for a run that holds figures only.
    pub bytes: Option<u64>,
    /// Rows of damaged tables that could not be read when the run was written.
    pub lost_rows: u64,
    /// Sources that were damaged or cut off then.
    pub torn: BTreeSet<String>,
    /// Of a store, the runs that no night has.
    pub left: Vec<LeftRun>,
}

/// Verifies `run` on `threads` workers, 0 for one per core, and compares it with the inputs `against`, which stand in the
/// order in which they were compressed.
///
/// # Errors
/// `Verification` for the first thing that is not as it was written.
pub fn verify(app: &App, run: &Run, against: &[Input], threads: usize) -> Result<VerifyOutcome> {
    if !against.is_empty() {
        check_names(run, against)?;
    }
    let bridge = Bridge::new(threads)?;
    check_files(app, run)?;
    let n_parts = run.commits.len();
    let lost_rows = run.commits.iter().flat_map(Commit::inputs).map(|read| read.input.lost_rows).sum();
    if run.manifest.options.measure_only {
        let n_records = run.commits.iter().map(|commit| commit.records).sum();
        return Ok(VerifyOutcome { n_parts, n_records, lost_rows, torn: torn(run)?, ..VerifyOutcome::default() });
    }
    let Difference { records, bytes, torn } = records(app, run, against, &bridge)?;
    Ok(VerifyOutcome { n_parts, n_records: records, bytes: Some(bytes), lost_rows, torn, left: Vec::new() })
}

/// Verifies every run of `store` on `threads` workers, 0 for one per core, and holds what its nights say against them.
///
/// # Errors
/// `Verification` for the first thing that is not as it was written.
pub fn verify_store(app: &App, store: &Store, threads: usize) -> Result<VerifyOutcome> {
    store.check_documents()?;
    let mut sum = VerifyOutcome { bytes: Some(0), left: store.left()?, ..VerifyOutcome::default() };
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
        let VerifyOutcome { n_parts, n_records, bytes, lost_rows, torn, .. } = verify(app, &run, &[], threads)?;
        sum.lost_rows += lost_rows;
        sum.torn.extend(torn.into_iter().map(|source| format!("{source} in {}", night.run)));
        sum.n_parts += n_parts;
        sum.n_records += n_records;
        sum.bytes = sum.bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
    }
    store.check_index()?;
    // What is kept of a part is held against the night that kept it; the whole part was restored above.
    store.read(&cut, &Bridge::new(threads)?, &|| app.stop.check(), &mut |_, _| Ok(()), &mut |_, error| Err(error))?;
    Ok(sum)
}

/// The sources that are torn, of a run that restores nothing.
fn torn(run: &Run) -> Result<BTreeSet<String>> {
    let mut torn = BTreeSet::new();
    for commit in &run.commits {
        for reject in run.rejects(commit)? {
            torn.extend(Some(reject?).filter(RejectRow::is_torn).map(|reject| reject.source));
        }
    }
    Ok(torn)
}

/// Those of `names` whose file, whatever its folder, is not among `others`.
fn only(names: &[&str], others: &[&str]) -> String {
    let file = |name: &&str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let others: HashSet<String> = others.iter().map(file).collect();
    few_of(&names.iter().filter(|name| !others.contains(&file(name))).copied().collect::<Vec<_>>())
}

/// Refuses inputs that are more or fewer than those of the run, and names them as far as names tell.
fn check_names(run: &Run, against: &[Input]) -> Result<()> {
    let whole = run.commits.iter().filter(|commit| commit.split.is_first());
    let held: Vec<&str> = whole.flat_map(Commit::inputs).map(|read| read.source).collect();
    if held.len() == against.len() {
        return Ok(());
    }
    let given: Vec<&str> = against.iter().map(|input| &*input.name).collect();
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

/// Restores and compares every record.
fn records(app: &App, run: &Run, against: &[Input], bridge: &Bridge) -> Result<Difference> {
    let mut sum = Difference::default();
    let mut add = |done: Difference| {
        sum.records += done.records;
        sum.bytes += done.bytes;
        sum.torn.extend(done.torn);
    };
    let mut originals = against.iter();
    let mut original: Option<NamedStream> = None;
    let mut input = None;
    for (commit, next) in run.commits.iter().zip(run.commits.iter().skip(1).map(Some).chain([None])) {
        let mut restorer = run.restorer(commit, bridge, true)?;
        if !commit.packed.is_empty() {
            let mut packed = commit.packed.iter();
            let mut streams =
                originals.by_ref().map(|input| open(input, packed.next().map_or(0, PackedInput::first_byte)));
            let against = (!against.is_empty()).then_some(Against::Streams(&mut streams));
            add(verify_part(&mut restorer, commit, against, &mut |_| app.stop.check())?);
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
        add(verify_part(&mut restorer, commit, against, &mut |_| app.stop.check())?);
        let is_last = next.is_none_or(|next| next.split.is_first());
        if let Some(original) = original.as_mut().filter(|_| is_last && commit.table.is_none()) {
            verify_end(commit, original)?;
        }
    }
    Ok(sum)
}

/// The stream of an input, without the bytes that an earlier night has.
fn open(input: &Input, n_kept: u64) -> Result<NamedStream> {
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
    Ok(NamedStream { name: input.name.clone(), stream, at: n_kept })
}
