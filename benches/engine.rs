//! The engine alone: decoded messages in, condensed conversations with metrics out, one core.
//! `CONDENSER_CORPORA=<folder of *.jsonl.zst> cargo bench -p condenser-benches --bench engine`; the sample corpus without it.
//! Of each corpus the first 2 MB, so that no kind outweighs the others; with `CONDENSER_BY_VOLUME=a,b` all of `a` and `b`.

use condenser::engine::{Engine, Scratch};
use condenser::model::EngineOptions;
use condenser::shape::{self, Decoded};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Bytes of records taken from each corpus.
const PER_CORPUS: usize = 2 << 20;

fn engine(criterion: &mut Criterion) {
    let by_volume = std::env::var_os("CONDENSER_BY_VOLUME").map(|named| named.to_string_lossy().into_owned());
    let texts = corpora(by_volume.as_deref());
    let of_each = if by_volume.is_some() { usize::MAX } else { PER_CORPUS };
    let records: Vec<&str> = texts.iter().flat_map(|text| take(text, of_each)).collect();
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

fn take(text: &str, n_bytes: usize) -> Vec<&str> {
    let mut used = 0;
    text.lines()
        .take_while(|line| {
            used += line.len();
            used - line.len() < n_bytes
        })
        .collect()
}

/// The corpora that are named, or all.
fn corpora(named: Option<&str>) -> Vec<String> {
    let sample = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../jobs/sample"));
    let folder = std::env::var_os("CONDENSER_CORPORA").map_or(sample, Into::into);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let is_named = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        named.is_none_or(|named| named.split(',').any(|corpus| name.split('.').next() == Some(corpus)))
    };
    paths
        .iter()
        .filter(is_named)
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
