//! Speed of counting tokens in MB/s, side by side: what condenser counts with, and the reference.
//! Over the texts of a folder of JSONL corpora that `CONDENSER_CORPORA_DIR` names; a generated text without it.

use std::hint::black_box;

use condenser::model::Tokenizer;
use condenser::text::tokens::{counter, from_json};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// At most this many bytes of text per corpus.
const MAX_CORPUS: usize = 2 << 20;

fn texts() -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "a bench is told where corpora lie")]
    let Ok(dir) = std::env::var("CONDENSER_CORPORA_DIR") else {
        return vec!["The cache was cold at 12:30, so we'll retry `GET /v1/items?limit=100`.\n".repeat(10_000)];
    };
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(dir).expect("a readable folder").flatten() {
        let data = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let mut left = MAX_CORPUS;
        for line in data.lines() {
            let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            let messages = value["messages"].as_array().into_iter().flatten();
            for text in messages.filter_map(|message| message["content"].as_str()) {
                left = left.saturating_sub(text.len());
                texts.push(text.to_owned());
            }
            if left == 0 {
                break;
            }
        }
    }
    texts
}

fn count(criterion: &mut Criterion) {
    let texts = texts();
    let mut group = criterion.benchmark_group("tokens");
    group.sample_size(10).throughput(Throughput::Bytes(texts.iter().map(String::len).sum::<usize>() as u64));
    let mut run = |name: &str, count: &dyn Fn(&str) -> usize| {
        group.bench_function(name, |bencher| {
            bencher.iter(|| texts.iter().map(|text| count(black_box(text))).sum::<usize>());
        });
    };
    for tokenizer in [Tokenizer::Chars, Tokenizer::O200kBase, Tokenizer::Cl100kBase] {
        let counter = counter(&tokenizer).expect("it is built in");
        run(&String::from(tokenizer), &|text| counter.count(text));
    }
    let reference = tiktoken_rs::o200k_base_singleton();
    run("tiktoken-rs, o200k_base", &|text| reference.encode_ordinary(text).len());
    let words = from_json(include_bytes!("../tests/data/tokenizers/words.json")).expect("it is a tokenizer");
    run("tokenizers, a small word list", &|text| words.count(text));
    group.finish();
}

criterion_group!(benches, count);
criterion_main!(benches);
