//! A whole job in memory: a source in, tables in vectors, and the source's bytes back from them.

use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{DocumentSource, LineSource, RunWriter, is_document};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, Commit, Condense, Context, ConversationFormat, Corpus, EncodedBatch, JobOptions, JobOutcome,
    Manifest, PartReaders, PartSink, PlannedInput, RejectRow, ResourceLimits, Restored, Restorer, RunPlan, Silent,
    Sink, Slice, Source, TableReader, Totals, compress, verify_part,
};

/// What a job came to.
pub(crate) struct Done {
    pub(crate) totals: Totals,
    pub(crate) rejects: Vec<RejectRow>,
    /// What the conversations table holds when it holds records.
    pub(crate) records: Vec<String>,
    pub(crate) restored: Vec<u8>,
}

/// Lines or documents, as the beginning of `bytes` says.
pub(crate) fn source(bytes: &[u8], options: BatchOptions) -> Box<dyn Source> {
    source_of(bytes, Box::new(Cursor::new(bytes.to_vec())), options)
}

/// The same from a stream.
pub(crate) fn source_of(head: &[u8], stream: Box<dyn Read + Send>, options: BatchOptions) -> Box<dyn Source> {
    if is_document(&head[..head.len().min(64 << 10)]) {
        Box::new(DocumentSource::new("mem.json", stream, options))
    } else {
        Box::new(LineSource::new("mem.jsonl", stream, options))
    }
}

/// Compresses a source and restores it.
#[track_caller]
pub(crate) fn run(
    engine: Arc<dyn Condense>,
    format: ConversationFormat,
    batches: BatchOptions,
    source: Box<dyn Source>,
) -> Done {
    let context = context(engine, format, batches);
    let sink = MemorySink::default();
    let outcome = run_source(source, &context, &sink).expect("the job ends");
    let mut memory = Memory::default();
    memory.take(&sink);
    let rejects = memory.rejects();
    Done { totals: outcome.tally.totals, rejects, records: memory.records(), restored: memory.restored() }
}

/// Sources, each of which can be opened once.
struct Given(Mutex<Vec<Option<Box<dyn Source>>>>);

impl Corpus for Given {
    fn open(&self, index: usize, input: &PlannedInput, _slice: &Slice) -> Result<Box<dyn Source>> {
        let source = self.0.lock().expect("no panic").get_mut(index).and_then(Option::take);
        source.ok_or_else(|| Error::new(ErrorKind::Input, &input.source, "was opened twice"))
    }
}

pub(crate) fn plan(sources: &[Box<dyn Source>], context: &Context) -> RunPlan {
    let input = |source: &dyn Source| (PlannedInput::new(source.name().to_owned(), None, None), vec![Slice::Whole]);
    let inputs = sources.iter().map(|source| input(&**source)).collect();
    RunPlan::new(context.options.clone(), inputs).expect("options are JSON")
}

pub(crate) fn run_source<S: Sink>(source: Box<dyn Source>, context: &Context, sink: &S) -> Result<JobOutcome> {
    run_sources(vec![source], context, sink)
}

pub(crate) fn run_sources<S: Sink>(sources: Vec<Box<dyn Source>>, context: &Context, sink: &S) -> Result<JobOutcome> {
    let plan = plan(&sources, context);
    let corpus = Arc::new(Given(Mutex::new(sources.into_iter().map(Some).collect())));
    block_on(compress(context, &plan, Vec::new(), corpus, sink))
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(work)
}

/// A job with two workers.
pub(crate) fn context(engine: Arc<dyn Condense>, format: ConversationFormat, batches: BatchOptions) -> Context {
    let options = JobOptions {
        compression: condenser::pipeline::Compression::default(),
        engine: engine.options().clone(),
        tokenizer_blake3: None,
        use_model_blake3: None,
        target_ratio: None,
        settled: None,
        llm: None,
        policy: None,
        format,
        shape: None,
        map: None,
        messages_column: None,
        trace: false,
        verbatim_map: false,
        originals: condenser::pipeline::Originals::default(),
        batch_bytes: batches.batch_bytes,
        max_record_bytes: batches.max_record_bytes,
        split_bytes: 1 << 30,
        measure_only: false,
        dataset: None,
        split: None,
        ages: None,
    };
    Context {
        engine,
        trainer: None,
        model: None,
        options,
        bridge: Bridge::new(2).expect("threads start"),
        limits: ResourceLimits::new(64 << 20, 2),
        max_rejects: None,
        shard: None,
        observer: Arc::new(Silent),
        verdicts: None,
        timer: None,
    }
}

/// Compresses a source into a new run directory.
#[track_caller]
pub(crate) fn run_on_disk(source: Box<dyn Source>, context: &Context, dir: &Path) -> JobOutcome {
    run_all_on_disk(vec![source], context, dir)
}

/// Compresses sources, each a part, into a new run directory.
#[track_caller]
pub(crate) fn run_all_on_disk(sources: Vec<Box<dyn Source>>, context: &Context, dir: &Path) -> JobOutcome {
    let (sink, commits) = block_on(RunWriter::open(dir, &plan(&sources, context), None, &|_| ())).expect("a new run");
    assert!(commits.is_empty());
    run_sources(sources, context, &sink).expect("the job ends")
}

/// Keeps what it is given.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) batches: Vec<EncodedBatch>,
    pub(crate) commit: Option<Commit>,
    /// Fails at this write.
    pub(crate) fails_at: Option<usize>,
}

/// The one part of a job, kept in memory.
#[derive(Default)]
pub(crate) struct MemorySink {
    pub(crate) fails_at: Option<usize>,
    pub(crate) memory: Arc<Mutex<(Vec<EncodedBatch>, Option<Commit>)>>,
}

impl Memory {
    pub(crate) fn take(&mut self, sink: &MemorySink) {
        (self.batches, self.commit) = std::mem::take(&mut *sink.memory.lock().expect("no panic"));
    }
}

impl Sink for MemorySink {
    type Part = Self;

    async fn begin(&self, _: usize, _: &str, _: Option<SchemaRef>) -> Result<Self> {
        Ok(Self { fails_at: self.fails_at, memory: self.memory.clone() })
    }
    async fn finish(&self, manifest: Manifest) -> Result<Manifest> {
        Ok(manifest)
    }
}

impl PartSink for MemorySink {
    async fn write(&mut self, batch: EncodedBatch, _bridge: &Bridge) -> Result<()> {
        let mut memory = self.memory.lock().expect("no panic");
        if self.fails_at == Some(memory.0.len()) {
            return Err(Error::new(ErrorKind::Io, "disk", "full"));
        }
        memory.0.push(batch);
        Ok(())
    }
    async fn commit(self, commit: Commit, _bridge: &Bridge) -> Result<Commit> {
        self.memory.lock().expect("no panic").1 = Some(commit.clone());
        Ok(commit)
    }
}

struct Rows(std::vec::IntoIter<RecordBatch>);

impl TableReader for Rows {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.0.next())
    }
}

impl Memory {
    fn table(&self, table: usize) -> Box<dyn TableReader> {
        let batches: Vec<_> = self.batches.iter().filter_map(|batch| batch.tables[table].clone()).collect();
        Box::new(Rows(batches.into_iter()))
    }

    fn restorer(&self) -> Restorer {
        let readers = PartReaders {
            conversations: self.table(0),
            verbatim: self.table(1),
            rejects: Box::new(self.rejects().into_iter().map(Ok)),
            metrics: Some(self.table(2)),
        };
        Restorer::lines(readers, Bridge::new(2).expect("threads start"), "mem")
    }

    pub(crate) fn rejects(&self) -> Vec<RejectRow> {
        self.batches.iter().flat_map(|batch| batch.rejects.clone()).collect()
    }

    /// What the conversations table holds when it holds records.
    pub(crate) fn records(&self) -> Vec<String> {
        let mut records = Vec::new();
        for batch in self.batches.iter().filter_map(|batch| batch.tables[0].clone()) {
            let Some(column) = batch.column_by_name("record") else { continue };
            let texts = column.as_any().downcast_ref::<arrow::array::LargeStringArray>().expect("text");
            records.extend(texts.iter().flatten().map(str::to_owned));
        }
        records
    }

    pub(crate) fn restored(&self) -> Vec<u8> {
        let (mut restorer, mut bytes) = (self.restorer(), Vec::new());
        let commit = self.commit.as_ref().expect("the part was committed");
        let mut seen = |slice: &Restored| {
            bytes.extend_from_slice(slice.bytes());
            Ok(())
        };
        verify_part(&mut restorer, commit, None, &mut seen).expect("the part restores");
        bytes
    }
}
