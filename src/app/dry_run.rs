//! The job with all defaults, its inputs, and estimates from a sample that really goes
//! through the engine. What comes of it is a job file: everything else stands in comments.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::error::{Error, Result};
use crate::io::store::{Location, Place, without_secrets};
use crate::io::{Codec, Input, Inputs, Listing, Run, RunWriter, expand, open_codec, sniff_table};
use crate::pipeline::{
    Batch, BatchOptions, Corpus, JobKind, JobSettings, Model, PlannedInput, RunPlan, Silent, Size, Slice, Source,
    SourceDigest, Target, Totals, compress as compress_all,
};
use crate::report::numbers::counted;
use crate::report::plain;
use arrow::datatypes::SchemaRef;

use super::compaction::{outlived, tonight};
use super::compress::prepared;
use super::engines::engine_of;
use super::inputs::{originals, refuse_around, tables_of, told};
use super::oracle::Foresight;
use super::{App, compress, place, stores_of};

/// So much text runs through the engine: a second of work.
const SAMPLE_BYTES: u64 = 8 << 20;
/// … taken from the beginnings of at most so many inputs.
const SAMPLE_INPUTS: usize = 16;
/// Batches of the sample are small, so that many inputs have their share.
const SAMPLE_BATCH: usize = 128 << 10;
/// So many inputs are listed.
const MAX_LISTED: usize = 20;
/// What the process holds beside what is in flight: code, threads, encoders and their row groups.
const FIXED_MEMORY: u64 = 128 << 20;

/// The job as TOML, and what it would take as comments.
pub fn dry_run(app: &App, settings: &JobSettings) -> Result<String> {
    let stores = stores_of(settings);
    let store = match (&settings.target, settings.kind) {
        (Target::Run(store), JobKind::Compaction) => Some(place(Path::new(store), &stores)?),
        _ => None,
    };
    if let Some(store) = &store {
        refuse_around(&settings.inputs, store)?;
    }
    let mut lines = Vec::new();
    let nothing = &mut |nothing| match &store {
        Some(store) => outlived(store, nothing, &mut |line| lines.push(line)),
        None => Err(nothing),
    };
    let originals = &mut |run: &Place| originals(app, &run.location().to_string(), &stores);
    let Listing { inputs, passed_over } = expand(&settings.inputs, &stores, originals, nothing)?;
    lines.extend(told(&passed_over));
    let inputs = match &store {
        Some(store) => tonight(store, settings, inputs, &mut lines)?,
        None => inputs,
    };
    let stored = list(&inputs, &mut lines)?;
    let files: Vec<(Input, u64)> =
        inputs.into_iter().zip(stored).filter(|(input, bytes)| input.file.is_some() && *bytes > 0).collect();
    if files.is_empty() {
        lines.push("no file to take a sample from, so nothing is estimated".to_owned());
    } else {
        estimate(app, settings, &files, &mut lines)?;
    }
    let comments: String = lines.iter().map(|line| format!("# {}\n", plain::line(line))).collect();
    let job = public(settings.to_toml()?.parse().map(toml::Value::Table).map_err(internal)?);
    let job = toml::to_string(&job).map_err(internal)?;
    Ok(format!("{job}\n{comments}"))
}

/// A job without the secrets of the addresses in it. What begins with an address is one; a pattern or a prompt may hold
/// one and stays.
fn public(value: toml::Value) -> toml::Value {
    use toml::Value::{Array, String, Table};
    match value {
        String(text) if Location::parse(&text).map_or(true, |location| location.as_local().is_none()) => {
            String(without_secrets(&text).into_owned())
        }
        Array(items) => Array(items.into_iter().map(public).collect()),
        Table(table) => Table(table.into_iter().map(|(key, value)| (key, public(value))).collect()),
        other => other,
    }
}

fn internal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::internal("", "the job cannot be written as TOML").because(error)
}

fn list(inputs: &[Input], lines: &mut Vec<String>) -> Result<Vec<u64>> {
    let mut sizes = Vec::with_capacity(inputs.len());
    for input in inputs {
        sizes.push(match &input.file {
            None => 0,
            Some(file) => new_bytes(input, file.stat()?.and_then(|found| found.bytes).unwrap_or(0)),
        });
    }
    lines.push(format!("{}, {} as stored", counted(inputs.len() as u64, "input"), human(sizes.iter().sum())));
    for (input, bytes) in inputs.iter().zip(&sizes).take(MAX_LISTED) {
        let size = if input.file.is_some() { human(*bytes) } else { "unknown size".to_owned() };
        lines.push(format!("  {size:>10}  {}", input.name));
    }
    if inputs.len() > MAX_LISTED {
        lines.push(format!("  … and {} more", inputs.len() - MAX_LISTED));
    }
    Ok(sizes)
}

/// Of a file of so many `bytes` those that are read, as stored: a store may have its beginning.
fn new_bytes(input: &Input, bytes: u64) -> u64 {
    bytes.saturating_sub(input.keeps.as_ref().map_or(0, |kept| kept.stored_bytes))
}

/// Bytes of text of a file that are read and passed over: a store has them, and they stand in a compressed stream.
fn passed_bytes(input: &Input) -> u64 {
    input.keeps.as_ref().filter(|kept| kept.stored_bytes == 0).map_or(0, |kept| kept.bytes)
}

fn estimate(app: &App, settings: &JobSettings, files: &[(Input, u64)], lines: &mut Vec<String>) -> Result<()> {
    let taken: Vec<&(Input, u64)> = spread(files);
    let share = (SAMPLE_BYTES / taken.len() as u64).max(1);
    let (settings, ..) =
        prepared(settings, files.iter().map(|(input, _)| input.clone()).collect(), &[], None, &Silent)?;
    let settings = &settings;
    if let (Some(ratio), Some(settled)) = (settings.options.target_ratio, settings.options.settled) {
        let threshold = settings.options.engine.worth_threshold.unwrap_or_default();
        let reached = settled.ratio;
        lines.push(format!(
            "target: ratio {ratio:.2}; threshold {threshold} gives {reached:.2}, not counting the last messages, which stay"
        ));
    }
    let sample = measure(app, settings, &taken, share)?;
    // Each input of the sample stands for all of its file, and all of them for the files that were left out.
    let (mut all_text, mut disk, mut taken_stored) = (0.0, BTreeMap::<&str, f64>::new(), 0);
    for ((input, bytes), head) in taken.iter().zip(&sample.heads) {
        let (stored, text) = density(input, *bytes, share)?.unwrap_or((head.stored, head.bytes));
        let whole = *bytes as f64 * text as f64 / stored.max(1) as f64 - passed_bytes(input) as f64;
        let whole = whole.max(head.bytes as f64);
        all_text += whole;
        taken_stored += bytes;
        for (table, bytes) in &head.tables {
            *disk.entry(table).or_default() += *bytes as f64 * whole / head.bytes.max(1) as f64;
        }
    }
    let others = files.iter().map(|(_, bytes)| bytes).sum::<u64>() as f64 / f64::max(taken_stored as f64, 1.0);
    all_text *= others;
    let scale = all_text / sample.bytes.max(1) as f64;
    lines.push(format!(
        "sample: {} of text, {}, from the beginnings of {} of {}, through the engine in {:.2} s",
        human(sample.bytes),
        counted(sample.totals.conversations + sample.totals.rejects, "record"),
        taken.len(),
        counted(files.len() as u64, "file"),
        sample.seconds
    ));
    let ratio = sample.totals.chars_in as f64 / sample.totals.chars_out.max(1) as f64;
    lines.push(format!("text:   about {}; ratio of the sample {ratio:.2}", human(all_text as u64)));
    lines.push(format!("time:   about {}, with {} workers", span(sample.seconds * scale), sample.threads));
    if let Some(foresight) = &sample.foresight {
        lines.push(format!("model:  {}", foresight.told(scale)));
    }
    lines.push(format!("disk:   about {}", human((disk.values().sum::<f64>() * others) as u64)));
    for (table, bytes) in disk {
        lines.push(format!("  {:>10}  {table}", human((bytes * others) as u64)));
    }
    lines.push(format!(
        "memory: at most about {}: {} in flight and {} for everything else; a record over {} takes four times its size",
        human(settings.memory as u64 + FIXED_MEMORY),
        Size(settings.memory),
        human(FIXED_MEMORY),
        human(settings.memory as u64 / 4)
    ));
    Ok(())
}

/// Evenly spread over the list, the first and the last among them.
fn spread<T>(all: &[T]) -> Vec<&T> {
    let n = all.len().min(SAMPLE_INPUTS);
    (0..n).filter_map(|at| all.get(if n < 2 { 0 } else { at * (all.len() - 1) / (n - 1) })).collect()
}

/// Stored bytes and bytes of text of the beginning of a file; `None` for a table.
fn density(input: &Input, bytes: u64, share: u64) -> Result<Option<(u64, u64)>> {
    let Some(file) = &input.file else { return Ok(None) };
    let failed = |error| Error::io(&input.name, "cannot be read").because(error);
    let n_read = Arc::new(AtomicU64::new(0));
    let raw = Counted { stream: file.open()?.stream(), n_read: n_read.clone() };
    let (codec, mut stream) = open_codec(BufReader::with_capacity(16 << 10, raw)).map_err(failed)?;
    if codec == Codec::Plain {
        let mut head = Vec::new();
        stream.take(8).read_to_end(&mut head).map_err(failed)?;
        return Ok(sniff_table(&head).is_none().then_some((bytes, bytes)));
    }
    // A damaged stream ends where it is damaged; the run will say so.
    let (mut text, mut buffer) = (0, vec![0; 64 << 10]);
    while text < share {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => text += n as u64,
            _ => break,
        }
    }
    Ok(Some((n_read.load(Ordering::Relaxed).min(bytes), text)))
}

struct Counted {
    stream: Box<dyn Read + Send>,
    n_read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

struct Sample {
    bytes: u64,
    totals: Totals,
    seconds: f64,
    threads: usize,
    heads: Vec<Beginning>,
    /// What a model would be asked.
    foresight: Option<Arc<Foresight>>,
}

/// What became of the beginning of an input.
#[derive(Debug, Clone, Default)]
struct Beginning {
    /// Bytes that were read of what is stored.
    stored: u64,
    /// Bytes of its batches.
    bytes: u64,
    /// Bytes that were written, by table.
    tables: Vec<(String, u64)>,
}

/// Runs the sample into a directory that goes away again.
fn measure(app: &App, settings: &JobSettings, taken: &[&(Input, u64)], share: u64) -> Result<Sample> {
    let failed = |error| Error::io("", "no directory for the sample can be made").because(error);
    let dir = tempfile::tempdir().map_err(failed)?;
    let path = dir.path().join("run");
    let batches = BatchOptions { batch_bytes: SAMPLE_BATCH, max_record_bytes: settings.options.max_record_bytes };
    let inputs = taken.iter().map(|(input, _)| input.clone()).collect();
    let (inputs, slices) = Inputs::plan(inputs, batches, tables_of(settings), u64::MAX)?;
    let plan = RunPlan::new(settings.options.clone(), slices)?;
    let engine = engine_of(settings)?;
    let mut context = compress::context(settings, engine, Arc::new(Silent))?;
    context.max_rejects = None;
    let foresight = Foresight::of(settings);
    context.model = foresight.clone().map(|foresight| foresight as Arc<dyn Model>);
    let read = Arc::new(Mutex::new(vec![Beginning::default(); taken.len()]));
    let corpus = Arc::new(Heads { inputs, share, read: read.clone() });
    let start = Instant::now();
    let outcome = app.wait(async {
        let (sink, commits) = RunWriter::open(&path, &plan, None, &|_| ()).await?;
        compress_all(&context, &plan, commits, corpus, &sink).await
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let run = Run::open(&path)?;
    let mut heads = read.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for (commit, part) in run.commits.iter().zip(&plan.parts) {
        if let Some(head) = heads.get_mut(part.input) {
            head.tables.extend(commit.files.iter().map(|file| (file.table.clone(), file.bytes)));
        }
    }
    Ok(Sample {
        bytes: heads.iter().map(|head| head.bytes).sum(),
        totals: outcome.tally.totals,
        seconds,
        threads: context.bridge.threads(),
        heads,
        foresight,
    })
}

/// The beginnings of inputs.
struct Heads {
    inputs: Inputs,
    share: u64,
    read: Arc<Mutex<Vec<Beginning>>>,
}

impl Corpus for Heads {
    fn open(&self, index: usize, input: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        let source = self.inputs.open(index, input, slice)?;
        let stored = input.bytes_to_read();
        Ok(Box::new(Head { source, stored, left: self.share, read: 0, index, all: self.read.clone() }))
    }
}

/// The beginning of a source.
struct Head {
    source: Box<dyn Source>,
    /// Bytes of the whole input as stored, as far as it is read.
    stored: Option<u64>,
    left: u64,
    read: u64,
    index: usize,
    all: Arc<Mutex<Vec<Beginning>>>,
}

impl Source for Head {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn schema(&self) -> Option<SchemaRef> {
        self.source.schema()
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        if self.left == 0 {
            return Ok(None);
        }
        let batch = self.source.next_batch()?;
        let bytes = batch.as_ref().map_or(0, Batch::n_bytes) as u64;
        self.left = self.left.saturating_sub(bytes);
        self.read += bytes;
        if let Some(read) = self.all.lock().unwrap_or_else(PoisonError::into_inner).get_mut(self.index) {
            (read.stored, read.bytes) = (self.source.stored_bytes(), self.read);
        }
        Ok(batch)
    }

    fn stored_bytes(&self) -> u64 {
        self.source.stored_bytes()
    }

    fn digest(&mut self) -> Result<SourceDigest> {
        let bytes = self.stored.unwrap_or(self.read);
        Ok(SourceDigest { bytes, stream_bytes: self.read, ..SourceDigest::default() })
    }
}

fn human(bytes: u64) -> String {
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|&(unit, _)| bytes >= unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{SAMPLE_INPUTS, human, span, spread};

    #[test]
    fn samples_are_spread_over_the_inputs() {
        let all: Vec<usize> = (0..100).collect();
        let taken = spread(&all);
        assert_eq!((taken.len(), taken.first(), taken.last()), (SAMPLE_INPUTS, Some(&&0), Some(&&99)));
        assert_eq!(spread(&[7]), [&7]);
        assert!(spread::<u8>(&[]).is_empty());
    }

    #[test]
    fn sizes_and_times_are_readable() {
        assert_eq!((human(5), human(1536), human(3 << 30)), ("5 B".into(), "1.5 KiB".into(), "3.0 GiB".into()));
        assert_eq!((span(1.0), span(600.0), span(9000.0)), ("1.0 s".into(), "10 min".into(), "2.5 h".into()));
    }
}
