//! The engine alone: decoded messages in, condensed conversations with metrics out, no recency window, one core.
//! `CONDENSER_CORPORA=<folder of *.jsonl.zst> cargo bench -p condenser-benches --bench engine`; the sample corpus without it.

use condenser::engine::{Engine, Scratch};
use condenser::model::EngineOptions;
use condenser::shape::{self, Decoded};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Bytes of records taken from each corpus, so that no kind outweighs the others.
const PER_CORPUS: usize = 2 << 20;

fn engine(criterion: &mut Criterion) {
    let texts = corpora();
    let records: Vec<&str> = texts.iter().flat_map(|text| take(text)).collect();
    let decoded: Vec<Decoded<'_>> =
        records.iter().filter_map(|record| shape::decode(record, shape::detect(record)?, "c").ok()).collect();
    let n_bytes: usize = decoded
        .iter()
        .flat_map(|one| &one.conversation.messages)
        .map(|message| {
            message.texts().map(str::len).sum::<usize>()
                + message.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>()
        })
        .sum();
    let mut group = criterion.benchmark_group("engine");
    group.sample_size(10).throughput(Throughput::Bytes(n_bytes as u64));
    for (name, options) in [
        ("window 0", EngineOptions { recency_window: 0, ..EngineOptions::default() }),
        ("window 0, fuzzy", EngineOptions { recency_window: 0, fuzzy_dedup: true, ..EngineOptions::default() }),
        ("default", EngineOptions::default()),
    ] {
        let engine = Engine::new(options).expect("options");
        let mut scratch = Scratch::default();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                decoded.iter().map(|one| engine.condense(&one.conversation, &mut scratch).messages.len()).sum::<usize>()
            });
        });
    }
    group.finish();
}

fn take(text: &str) -> Vec<&str> {
    let mut used = 0;
    text.lines()
        .take_while(|line| {
            used += line.len();
            used - line.len() < PER_CORPUS
        })
        .collect()
}

fn corpora() -> Vec<String> {
    let sample = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../jobs/sample"));
    let folder = std::env::var_os("CONDENSER_CORPORA").map_or(sample, Into::into);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| match path.to_string_lossy() {
            name if name.ends_with(".jsonl.zst") => zstd::decode_all(std::fs::File::open(path).ok()?).ok(),
            name if name.ends_with(".jsonl") => std::fs::read(path).ok(),
            _ => None,
        })
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect()
}

criterion_group!(benches, engine);
criterion_main!(benches);
