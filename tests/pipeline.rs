//! The pipeline with other engines, sources and sinks: order, proof, restore, isolation, determinism.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use condenser::error::{ErrorKind, Result};
use condenser::io::{LineSource, Run};
use condenser::model::{EngineOptions, ProvenancePlace};
use condenser::pipeline::bridge::{Bridge, guard};
use condenser::pipeline::{
    Against, BatchOptions, Context, ConversationFormat, JobOutcome, LineRole, MaxRejects, NamedStream, ResourceLimits,
    Source, open_sealed, seal, verify_part,
};

use crate::support::chats::{Blunt, Drip, Seeded, jsonl, records};
use crate::support::dir::{TestDir, files};
use crate::support::job::{self, Memory, MemorySink, block_on, run_source};

const FORMATS: [ConversationFormat; 2] = [ConversationFormat::Parquet, ConversationFormat::Jsonl];

fn context(engine: Blunt, format: ConversationFormat, threads: usize, batch_bytes: usize) -> Context {
    let batches = BatchOptions { batch_bytes, max_record_bytes: 1 << 30 };
    let mut context = job::context(Arc::new(engine), format, batches);
    context.options.trace = true;
    context.bridge = Bridge::new(threads).expect("threads start");
    context.limits = ResourceLimits::new(1 << 20, threads);
    context
}

fn source(text: &[u8], context: &Context) -> Box<dyn Source> {
    let options =
        BatchOptions { batch_bytes: context.options.batch_bytes, max_record_bytes: context.options.max_record_bytes };
    Box::new(LineSource::new("mem.jsonl", Box::new(Cursor::new(text.to_vec())), options))
}

fn run_on_disk(text: &[u8], context: &Context, dir: &Path) -> JobOutcome {
    job::run_on_disk(source(text, context), context, dir)
}

fn run(text: &[u8], context: &Context, memory: &mut Memory) -> Result<JobOutcome> {
    let sink = MemorySink { fails_at: memory.fails_at, memory: Arc::default() };
    let outcome = run_source(source(text, context), context, &sink);
    memory.take(&sink);
    outcome
}

#[test]
fn what_an_engine_replaces_comes_back_byte_for_byte() {
    let text = jsonl(300, 1);
    for format in FORMATS {
        for provenance in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
            let options = EngineOptions { provenance, ..EngineOptions::default() };
            let context = context(Blunt { options, ..Blunt::default() }, format, 2, 4000);
            let mut sink = Memory::default();
            let outcome = run(text.as_bytes(), &context, &mut sink).expect("the job ends");
            assert_eq!(outcome.tally.totals.conversations, 300);
            let proof = sink.commit.as_ref().expect("it was committed").proof;
            assert!(proof.originals > 300, "{proof:?}");
            assert_eq!((proof.restored, proof.bytes), (300, text.len() as u64));
            assert_eq!(sink.restored(), text.as_bytes());
        }
    }
}

#[test]
fn bytes_around_records_and_rejects_come_back_whatever_the_batches() {
    let chats = records(15, 2);
    let between: [&[u8]; 9] = [
        b"\n",
        b"\r\n",
        b"\n\n \t\n",
        b"\n{\"broken\n",
        b"\n\xFF\xFE\n",
        b"\n[]\n\n",
        b"\r\r\n",
        b"\n\0\0\n",
        b"\n\xEF\xBB\xBF{}\n",
    ];
    for seed in 0..8 {
        let mut seeded = Seeded::new(seed);
        let mut text = [b"" as &[u8], b"\xEF\xBB\xBF", b"\n\n", b"junk\n"][seeded.below(4)].to_vec();
        for chat in &chats {
            text.extend_from_slice(chat.as_bytes());
            text.extend_from_slice(between[seeded.below(between.len())]);
        }
        text.extend_from_slice([b"" as &[u8], b"\n\n\n", b"x", b" "][seeded.below(4)]);
        for batch_bytes in [60, 100, 1000, 1 << 20] {
            for format in FORMATS {
                let mut context = context(Blunt::default(), format, 2, batch_bytes);
                context.options.max_record_bytes = if seed % 2 == 0 { 1 << 20 } else { 400 };
                let mut sink = Memory::default();
                run(&text, &context, &mut sink).expect("the job ends");
                assert!(sink.restored() == text, "seed {seed}, batches of {batch_bytes}, {format:?}");
            }
        }
    }
}

#[test]
fn a_panic_on_one_record_is_a_reject_and_the_rest_goes_on() {
    let text = jsonl(50, 3);
    let engine = Blunt { fails_on: Some("chat/17"), ..Blunt::default() };
    let mut sink = Memory::default();
    let outcome = run(text.as_bytes(), &context(engine, ConversationFormat::Parquet, 2, 2000), &mut sink);
    let outcome = outcome.expect("the job ends");
    assert_eq!((outcome.tally.totals.conversations, outcome.tally.totals.rejects), (49, 1));
    let reject = sink.batches.iter().flat_map(|batch| &batch.rejects).next().expect("one reject");
    assert_eq!((reject.reason.as_str(), reject.source_row, reject.line), ("internal", 17, 18));
    assert!(reject.detail.contains("planted"), "{}", reject.detail);
    assert_eq!(sink.restored(), text.as_bytes());
}

#[test]
#[expect(clippy::panic, reason = "the test plants them")]
fn a_panic_that_crosses_the_bridge_is_an_error_that_names_its_work() {
    let bridge = Bridge::new(1).expect("threads start");
    let error = block_on(bridge.run::<(), _>("logs.jsonl: byte 7".to_owned(), || std::panic::panic_any("oh")))
        .expect_err("it panicked");
    assert_eq!((error.kind, error.place.as_str()), (ErrorKind::Internal, "logs.jsonl: byte 7"));
    assert_eq!(guard(|| std::panic::panic_any("no 1".to_owned()) as u8), Err("no 1".to_owned()));
    assert_eq!(block_on(bridge.run(String::new(), || Ok(5))).expect("the worker still works"), 5);
}

#[test]
fn the_same_bytes_come_out_on_any_number_of_threads() {
    let text = jsonl(2000, 4);
    for format in FORMATS {
        let runs: Vec<_> = [1, 2, 8]
            .map(|threads| {
                let dir = TestDir::new();
                let context = context(Blunt::default(), format, threads, 10_000);
                run_on_disk(text.as_bytes(), &context, &dir.path("run"));
                files(&dir.path("run"))
            })
            .into();
        assert!(runs[0] == runs[1] && runs[1] == runs[2], "{format:?}");
        assert_eq!(runs[0].len(), 7);
    }
}

#[test]
fn runs_on_disk_restore_and_find_single_conversations() {
    let chats = records(500, 5);
    let text = chats.iter().fold(String::new(), |text, chat| text + chat + "\nbroken\n");
    for format in FORMATS {
        let dir = TestDir::new();
        let context = context(Blunt::default(), format, 2, 5000);
        run_on_disk(text.as_bytes(), &context, &dir.path("run"));
        let run = Run::open(dir.path("run")).expect("the run opens");
        let commit = &run.commits[0];
        run.check_files(commit).expect("the files are whole");
        let mut restorer = run.restorer(commit, &context.bridge, true).expect("tables open");
        let mut original = NamedStream { name: "in".to_owned(), stream: Box::new(Cursor::new(text.clone())), at: 0 };
        let against = Some(Against::Stream(&mut original));
        verify_part(&mut restorer, commit, against, &mut |_| Ok(())).expect("it verifies");
        for index in [0, 123, 499] {
            let mut found =
                run.find(commit, &format!("chat/{index}"), &context.bridge).expect("tables open").expect("it is there");
            let slice = found.next_slice().expect("it restores").expect("a slice");
            assert_eq!(String::from_utf8_lossy(slice.bytes()), chats[index].clone() + "\n");
        }
        assert!(run.find(commit, "chat/500", &context.bridge).expect("tables open").is_none());
    }
}

#[test]
fn a_full_disk_fails_the_job_and_commits_nothing() {
    let text = jsonl(500, 6);
    let context = context(Blunt::default(), ConversationFormat::Jsonl, 2, 1000);
    let mut sink = Memory { fails_at: Some(3), ..Memory::default() };
    let error = run(text.as_bytes(), &context, &mut sink).expect_err("the disk is full");
    assert_eq!(error.kind, ErrorKind::Io);
    assert!(sink.commit.is_none());
}

/// Gives some bytes, then fails.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("torn")),
            n => Ok(n),
        }
    }
}

#[test]
fn a_stream_that_breaks_gives_its_whole_lines_and_one_reject() {
    let text = jsonl(20, 7);
    let torn = &text.as_bytes()[..text.len() - 30];
    for batch_bytes in [50, 1000, 1 << 20] {
        for max_record_bytes in [100, 1 << 20] {
            let mut context = context(Blunt::default(), ConversationFormat::Parquet, 2, batch_bytes);
            context.options.max_record_bytes = max_record_bytes;
            let options = BatchOptions { batch_bytes, max_record_bytes };
            let source = LineSource::new("torn.jsonl.gz", Box::new(Failing(Cursor::new(torn.to_vec()))), options);
            let mut sink = Memory::default();
            let memory = MemorySink { fails_at: None, memory: Arc::default() };
            run_source(Box::new(source), &context, &memory).expect("the job ends");
            sink.take(&memory);
            let rejects: Vec<_> = sink.batches.iter().flat_map(|batch| &batch.rejects).collect();
            assert_eq!(rejects.iter().filter(|reject| reject.reason == "torn_stream").count(), 1);
            assert_eq!(sink.restored(), torn);
        }
    }
}

#[test]
fn too_many_rejects_fail_the_job() {
    let text = jsonl(10, 8) + "bad\nbad\n";
    for (limit, is_ok) in [
        (MaxRejects::Count(1), false),
        (MaxRejects::Count(2), true),
        (MaxRejects::Share(0.1), false),
        (MaxRejects::Share(0.2), true),
    ] {
        let mut context = context(Blunt::default(), ConversationFormat::Parquet, 1, 1000);
        context.max_rejects = Some(limit);
        let mut sink = Memory::default();
        let result = run(text.as_bytes(), &context, &mut sink);
        assert_eq!(result.map_err(|error| error.kind).is_ok(), is_ok, "{limit:?}");
        assert_eq!(sink.commit.is_some(), is_ok);
    }
}

#[test]
fn batches_are_cut_by_bytes_and_not_by_how_a_read_goes() {
    let text = jsonl(60, 9).replace("}\n", "}\n\n").into_bytes();
    for (batch_bytes, max_record_bytes) in [(1, 1 << 20), (300, 1 << 20), (300, 200), (5000, 1 << 20)] {
        let options = BatchOptions { batch_bytes, max_record_bytes };
        let all = |stream: Box<dyn Read + Send>| {
            let mut source = LineSource::new("drip", stream, options);
            let mut batches = Vec::new();
            while let Some(batch) = source.next_lines() {
                batches.push(batch);
            }
            (batches, source.digest().expect("it ended"))
        };
        let whole = all(Box::new(Cursor::new(text.clone())));
        let drip = all(Box::new(Drip(Cursor::new(text.clone()), Seeded::new(1))));
        assert_eq!(whole, drip);
        assert_eq!(whole.0.iter().flat_map(|batch| batch.bytes.clone()).collect::<Vec<_>>(), text);
        for batch in &whole.0 {
            let alone = batch.lines.iter().filter(|line| line.kind != LineRole::Tail).count() == 1;
            assert!(batch.bytes.len() <= batch_bytes || alone, "a batch of {} bytes", batch.bytes.len());
        }
    }
}

#[test]
fn a_sealed_document_notices_any_change() {
    let text = seal(&serde_json::json!({ "a": 1, "b": ["x"] })).expect("an object can be sealed");
    let value: serde_json::Value = open_sealed(text.as_bytes(), "doc").expect("it opens");
    assert_eq!(value["b"][0], "x");
    for at in 0..text.len() {
        for bit in [0, 5] {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let result = open_sealed::<serde_json::Value>(&bytes, "doc");
            assert_eq!(result.map_err(|error| error.kind), Err(ErrorKind::Verification), "byte {at}");
        }
    }
}
