//! `condenser restore`: originals from a run, from a run over several rounds, from a sidecar of the filter, or
//! from a verbatim map of another tool.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::Stores;
use condenser::io::{
    BlockingFile, Run, Sidecar, TableWriter, Through, folds_case, restored_name, restored_names, restored_table_name,
    sweep_beside,
};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{Commit, Restorer, TableInput, verify_part, verify_rows};
use condenser::report::numbers::counted;

use super::args::RestoreArgs;
use super::screen::{Given, Stdout};
use super::{Ending, block_on_thread, check_stop, get, local, message, place};

mod maps;
mod verbatim;

/// Runs the command.
pub(crate) fn run(args: RestoreArgs) -> Result<Ending> {
    block_on_thread(move |stop| {
        let bridge = Bridge::new(args.threads.unwrap_or(0))?;
        if let Some(map) = &args.verbatim {
            return verbatim::run(&args, map);
        }
        if let Some(sidecar) = &args.sidecar {
            return from_sidecar(&args, sidecar, &bridge, stop);
        }
        let Some(path) = &args.path else {
            return Err(Error::new(ErrorKind::Usage, "", "no run was named"));
        };
        let stores = args.stores.stores();
        let run = Run::open(place(path, &stores)?)?;
        match &args.conversation {
            Some(id) => conversation(&run, id, &args, &bridge, stop),
            None => all(&run, &args, &stores, &bridge, stop),
        }
    })
}

/// Where restored bytes go.
pub(super) enum Output {
    Stdout(io::BufWriter<Stdout>),
    File(BlockingFile),
}

impl Output {
    fn stdout(given: Given) -> Self {
        Self::Stdout(io::BufWriter::with_capacity(1 << 18, Stdout::new(given)))
    }

    /// A file, or stdout for `-` and nothing, for bytes that are meant to be exact.
    pub(super) fn open(output: Option<&str>) -> Result<Self> {
        Self::open_for(output, Given::Data)
    }

    /// The same for what `given` says.
    pub(super) fn open_for(output: Option<&str>, given: Given) -> Result<Self> {
        match output {
            None | Some("-") => Ok(Self::stdout(given)),
            Some(path) => {
                let target = local(Path::new(path))?;
                sweep_beside(&target);
                Ok(Self::File(BlockingFile::create_new(&target)?))
            }
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.write_all(bytes).map_err(message::unwritten),
            Self::File(file) => file
                .write_all(bytes)
                .map_err(|error| Error::new(ErrorKind::Io, "output", "cannot be written").because(error)),
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(mut stdout) => stdout.flush().map_err(message::unwritten),
            Self::File(file) => file.commit(),
        }
    }
}

fn conversation(run: &Run, id: &str, args: &RestoreArgs, bridge: &Bridge, stop: &AtomicBool) -> Result<Ending> {
    let mut output = Output::open(args.output.as_deref())?;
    if !get::original(run, id, bridge, &mut output, &|| check_stop(stop))? {
        return Err(Error::new(ErrorKind::Input, id, "the run has no conversation with this id"));
    }
    output.finish()?;
    Ok(Ending::Clean)
}

fn all(run: &Run, args: &RestoreArgs, stores: &Stores, bridge: &Bridge, stop: &AtomicBool) -> Result<Ending> {
    let rounds = args.through.iter().map(|path| Run::open(place(path, stores)?)).collect::<Result<Vec<_>>>()?;
    let jobs = Job::plan(run, &rounds)?;
    let to_stdout = match args.output.as_deref() {
        Some(output) => output == "-",
        None => true,
    };
    if to_stdout && jobs.len() != 1 {
        let message = format!("the run has {} sources; name a directory for them with --output DIR", jobs.len());
        return Err(Error::new(ErrorKind::Usage, "", message));
    }
    let folder = &local(Path::new(args.output.as_deref().unwrap_or(".")))?;
    let names = if to_stdout { vec![PathBuf::new(); jobs.len()] } else { names(&jobs, folder)? };
    if !to_stdout {
        let one_of_each: BTreeMap<_, _> = names.iter().map(|name| (name.parent(), name)).collect();
        for name in one_of_each.into_values() {
            sweep_beside(&folder.join(name));
        }
    }
    let mut n_there = 0;
    for (job, name) in jobs.iter().zip(&names) {
        if !to_stdout && job.is_there(&folder.join(name), stop)? {
            n_there += 1;
            continue;
        }
        let mut output = if to_stdout {
            Output::stdout(Given::Data)
        } else {
            Output::File(BlockingFile::create_new(&folder.join(name))?)
        };
        if job.table().is_some() {
            job.restore_table(&mut output, stop)?;
            output.finish()?;
            continue;
        }
        for part in &job.parts {
            part.check()?;
            let mut restorer = part.restorer(bridge)?;
            verify_part(&mut restorer, part.source(), None, &mut |bytes| {
                check_stop(stop)?;
                output.write(bytes)
            })?;
        }
        output.finish()?;
    }
    if !args.quiet && !to_stdout {
        let renamed = jobs.iter().zip(&names).filter(|(job, name)| job.name().file_name() != name.file_name());
        for (job, name) in renamed {
            message::note(&format!("{} is restored as {}: its own name is taken", job.source, name.display()));
        }
        let there = match n_there {
            0 => String::new(),
            n => format!(", {n} of them {} there already", if n == 1 { "was" } else { "were" }),
        };
        message::note(&format!("{} restored to {}{there}", counted(jobs.len() as u64, "file"), folder.display()));
    }
    Ok(Ending::Clean)
}

/// One source to restore: its parts in order.
struct Job<'r> {
    source: &'r str,
    parts: Vec<Part<'r>>,
}

impl<'r> Job<'r> {
    /// A job per source of the first round. Parts of one source follow each other.
    fn plan(run: &'r Run, runs: &'r [Run]) -> Result<Vec<Self>> {
        let mut jobs: Vec<Self> = Vec::new();
        for commit in &run.commits {
            let part = Part::plan(run, commit, runs)?;
            let source = part.source().source.as_str();
            match jobs.last_mut().filter(|_| !part.source().split.is_first()) {
                Some(job) => job.parts.push(part),
                None => jobs.push(Self { source, parts: vec![part] }),
            }
        }
        Ok(jobs)
    }

    /// How the source held conversations, when it was a table.
    fn table(&self) -> Option<&'r TableInput> {
        self.parts.first()?.source().table.as_ref()
    }

    /// True when an earlier call restored this source to `path`: the file has the bytes that its commits promise, and
    /// nothing behind them. Of a table there is no telling but by restoring it.
    fn is_there(&self, path: &Path, stop: &AtomicBool) -> Result<bool> {
        if self.table().is_some() || !path.is_file() {
            return Ok(false);
        }
        let failed = |error| Error::new(ErrorKind::Io, path.to_string_lossy(), "cannot be read").because(error);
        let mut file = io::BufReader::new(File::open(path).map_err(failed)?);
        for part in &self.parts {
            check_stop(stop)?;
            let promised = &part.source().input;
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(file.by_ref().take(promised.stream_bytes)).map_err(failed)?;
            if hasher.count() != promised.stream_bytes || *hasher.finalize().to_hex() != *promised.stream_blake3 {
                return Ok(false);
            }
        }
        Ok(file.read(&mut [0]).map_err(failed)? == 0)
    }

    fn name(&self) -> PathBuf {
        self.table()
            .map_or_else(|| restored_name(self.source), |table| restored_table_name(self.source, table.container))
    }

    fn restore_table(&self, output: &mut Output, stop: &AtomicBool) -> Result<()> {
        let mut writer = None;
        let mut n_lost = 0;
        for part in &self.parts {
            if !part.rounds.is_empty() {
                let message =
                    "the first round read a table; only runs over JSON lines are restored through several rounds";
                return Err(Error::new(ErrorKind::Usage, self.source, message));
            }
            part.check()?;
            let (mut restorer, schema) = part.run.row_restorer(part.commit, false)?;
            let Some(table) = &part.commit.table else { continue };
            let writer = match &mut writer {
                Some(writer) => writer,
                none => none.insert(TableWriter::new(table.container, schema)?),
            };
            verify_rows(&mut restorer, part.commit, None, &mut |rows| {
                check_stop(stop)?;
                output.write(&writer.append(rows)?)
            })?;
            n_lost += part.commit.input.lost_rows;
        }
        if let Some(writer) = writer {
            output.write(&writer.finish()?)?;
        }
        if n_lost > 0 {
            let source = self.source;
            message::note(&format!(
                "{source}: {n_lost} rows were damaged in the source and are not in the restored table"
            ));
        }
        Ok(())
    }
}

/// A part and, over several rounds, the parts that it came through.
struct Part<'r> {
    run: &'r Run,
    commit: &'r Commit,
    rounds: Vec<Through<'r>>,
}

impl<'r> Part<'r> {
    fn plan(run: &'r Run, commit: &'r Commit, runs: &'r [Run]) -> Result<Self> {
        let mut rounds: Vec<Through<'r>> = Vec::new();
        for run in runs {
            let last = rounds.last().map_or(commit, |round| round.commit);
            rounds.push(Through::find(run, &last.input.stream_blake3, &last.source)?);
        }
        Ok(Self { run, commit, rounds })
    }

    /// The commit of the first round: what it read is what comes out.
    fn source(&self) -> &'r Commit {
        self.rounds.last().map_or(self.commit, |round| round.commit)
    }

    fn check(&self) -> Result<()> {
        self.run.check_files(self.commit)?;
        // The conversations of earlier rounds are not read and may be gone.
        self.rounds.iter().try_for_each(Through::check)
    }

    fn restorer(&self, bridge: &Bridge) -> Result<Restorer> {
        let mut restorer = self.run.restorer(self.commit, bridge, false)?;
        for round in &self.rounds {
            restorer = round.restorer(restorer, bridge)?;
        }
        Ok(restorer)
    }
}

/// A name per source. Only where two differ in nothing but capitals does it matter what `folder` makes of them.
fn names(jobs: &[Job<'_>], folder: &Path) -> Result<Vec<PathBuf>> {
    let part = |job: &Job<'_>| job.parts.first().map_or(0, |part| part.commit.part);
    let sources: Vec<(PathBuf, usize)> = jobs.iter().map(|job| (job.name(), part(job))).collect();
    let names = restored_names(&sources, false);
    let folded = restored_names(&sources, true);
    Ok(if names != folded && folds_case(folder)? { folded } else { names })
}

fn from_sidecar(args: &RestoreArgs, sidecar: &Path, bridge: &Bridge, stop: &AtomicBool) -> Result<Ending> {
    let sidecar = Sidecar::open(sidecar)?;
    let records: Box<dyn Read + Send> = match args.path.as_deref().filter(|path| *path != Path::new("-")) {
        None => Box::new(io::stdin()),
        Some(path) => {
            let failed = |error| Error::new(ErrorKind::Io, path.to_string_lossy(), "cannot be opened").because(error);
            Box::new(File::open(path).map_err(failed)?)
        }
    };
    let mut output = Output::open(args.output.as_deref())?;
    let mut restorer = sidecar.restorer(records, bridge)?;
    verify_part(&mut restorer, &sidecar.commit, None, &mut |bytes| {
        check_stop(stop)?;
        output.write(bytes)
    })?;
    output.finish()?;
    Ok(Ending::Clean)
}
