//! Speed of the lexer in MB/s: over the texts of a folder of corpora, named by `CONDENSER_CORPORA_DIR` (left out
//! without it), and over inputs that are awkward for a scanner, at 8 MB and at twice that size.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use condenser::text::Lexer;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};

/// At most this many bytes of text per corpus.
const MAX_CORPUS: usize = 8 << 20;
const AWKWARD: usize = 8 << 20;

/// The string contents of all messages in the JSONL files of `dir`, per file.
fn corpora(dir: &Path) -> Vec<(String, Vec<String>)> {
    let mut paths: Vec<_> =
        std::fs::read_dir(dir).expect("a readable folder").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let data = std::fs::read_to_string(&path).expect("a readable file");
            let mut texts = Vec::new();
            let mut n_bytes = 0;
            for line in data.lines() {
                let value: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
                for message in value["messages"].as_array().into_iter().flatten() {
                    if let Some(text) = message["content"].as_str() {
                        n_bytes += text.len();
                        texts.push(text.to_owned());
                    }
                }
                if n_bytes > MAX_CORPUS {
                    break;
                }
            }
            (path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(), texts)
        })
        .collect()
}

fn lex(lexer: &mut Lexer, texts: &[String]) {
    for chunk in texts.chunks(64) {
        lexer.clear();
        for text in chunk {
            black_box(lexer.lex(text));
        }
    }
}

fn run(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, texts: &[String]) {
    let n_bytes: usize = texts.iter().map(String::len).sum();
    let mut lexer = Lexer::default();
    group.throughput(Throughput::Bytes(n_bytes as u64));
    group.bench_function(name, |bencher| bencher.iter(|| lex(&mut lexer, texts)));
}

fn over_corpora(criterion: &mut Criterion) {
    let Some(dir) = std::env::var_os("CONDENSER_CORPORA_DIR") else { return };
    let corpora = corpora(Path::new(&dir));
    let mut group = criterion.benchmark_group("corpora");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for (name, texts) in &corpora {
        run(&mut group, name, texts);
    }
    let all: Vec<String> = corpora.into_iter().flat_map(|(_, texts)| texts).collect();
    run(&mut group, "all", &all);
}

fn over_awkward_inputs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("awkward");
    group.sample_size(10).warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_millis(500));
    let parts = [
        "a",
        "\n",
        "7",
        "a.a.",
        "ab-ab-",
        " ",
        "🧑\u{200d}🚀",
        "\"",
        "“",
        "`",
        "``` ",
        "我",
        "，",
        "。",
        "a ",
        "A ",
        "A",
        "No. ",
        "x_",
        "/a",
        "://",
        "- a\n",
        "|",
        "\0",
        "(",
        "1,",
        "$1",
        "5月",
        "@a.",
        "不",
        "Mr. ",
        "\u{fffd}",
        "\r\n",
        "```\n",
        "  ",
        "\t",
        "<a>",
        "::",
        "error: x\n",
        "{\"a\":1},",
        "\"a",
        "「",
        "Abc ",
        "e.g. ",
        "1. ",
        "x=1 ",
        "...",
    ];
    for part in parts {
        for (size, times) in [("8 MB", 1), ("16 MB", 2)] {
            let text = part.repeat(times * AWKWARD / part.len());
            run(&mut group, &format!("{part:?} {size}"), std::slice::from_ref(&text));
        }
    }
}

criterion_group!(benches, over_corpora, over_awkward_inputs);
criterion_main!(benches);
