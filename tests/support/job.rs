//! A whole job in memory: a source in, tables in vectors, and the source's bytes back from them.

use std::io::{Cursor, Read};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use condenser::error::Result;
use condenser::io::{DocumentSource, LineSource, is_document};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, Commit, Condense, Context, ConversationFormat, EncodedBatch, JobOptions, Manifest, PartReaders,
    RejectRow, ResourceLimits, Restorer, Silent, Sink, Source, TableReader, Totals, compress, verify_part,
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
    let options = JobOptions {
        engine: engine.options().clone(),
        format,
        shape: None,
        trace: false,
        verbatim_map: false,
        batch_bytes: batches.batch_bytes,
        max_record_bytes: batches.max_record_bytes,
    };
    let context = Context {
        engine,
        options,
        bridge: Bridge::new(2).expect("threads start"),
        limits: ResourceLimits { memory: 64 << 20 },
        max_rejects: None,
        observer: Arc::new(Silent),
    };
    let mut sink = Memory::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let work = compress(&context, [Ok(source)], &mut sink);
    let outcome = runtime.expect("a runtime").block_on(work).expect("the job ends");
    let rejects: Vec<RejectRow> = sink.batches.iter().flat_map(|batch| batch.rejects.clone()).collect();
    Done { totals: outcome.totals, rejects, records: sink.records(), restored: sink.restored() }
}

/// Keeps what it is given.
#[derive(Default)]
struct Memory {
    batches: Vec<EncodedBatch>,
    commit: Option<Commit>,
}

impl Sink for Memory {
    async fn begin(&mut self, _part: usize, _source: &str) -> Result<()> {
        Ok(())
    }
    async fn write(&mut self, batch: EncodedBatch, _bridge: &Bridge) -> Result<()> {
        self.batches.push(batch);
        Ok(())
    }
    async fn commit(&mut self, commit: Commit, _bridge: &Bridge) -> Result<Commit> {
        self.commit = Some(commit.clone());
        Ok(commit)
    }
    async fn finish(&mut self, manifest: Manifest) -> Result<Manifest> {
        Ok(manifest)
    }
}

struct Rows(std::vec::IntoIter<RecordBatch>);

impl TableReader for Rows {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.0.next())
    }
}

impl Memory {
    fn batches_of(&self, table: usize) -> Vec<RecordBatch> {
        self.batches.iter().filter_map(|batch| batch.tables[table].clone()).collect()
    }

    fn table(&self, table: usize) -> Box<dyn TableReader> {
        Box::new(Rows(self.batches_of(table).into_iter()))
    }

    fn records(&self) -> Vec<String> {
        let mut records = Vec::new();
        for batch in self.batches_of(0) {
            let Some(column) = batch.column_by_name("record") else { continue };
            let texts = column.as_any().downcast_ref::<arrow::array::LargeStringArray>().expect("text");
            records.extend(texts.iter().flatten().map(str::to_owned));
        }
        records
    }

    fn restored(&self) -> Vec<u8> {
        let rejects: Vec<RejectRow> = self.batches.iter().flat_map(|batch| batch.rejects.clone()).collect();
        let readers = PartReaders {
            conversations: self.table(0),
            verbatim: self.table(1),
            rejects: Box::new(rejects.into_iter().map(Ok)),
            metrics: Some(self.table(2)),
        };
        let mut restorer = Restorer::new(readers, Bridge::new(2).expect("threads start"), "mem");
        let commit = self.commit.as_ref().expect("the part was committed");
        let mut bytes = Vec::new();
        let mut seen = |slice: &[u8]| {
            bytes.extend_from_slice(slice);
            Ok(())
        };
        verify_part(&mut restorer, commit, None, &mut seen).expect("the part restores");
        bytes
    }
}
