//! Records ⇄ conversations in bytes of the record per second; on the `*.jsonl.zst` files of the folder that
//! `CONDENSER_CORPORA` names, or on records made here.

use std::hint::black_box;

use condenser::model::{Condensed, Metrics, NewBody, Output, Provenance, ProvenancePlace, Replacement, ShapeName};
use condenser::shape::{Decoded, decode, restore_record, restore_row};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Enough to be more than the caches hold, little enough for a short bench.
const MAX_BYTES_PER_CORPUS: usize = 2 << 20;

/// The first records of every corpus; `None` when no folder is named.
fn corpora() -> Option<Vec<String>> {
    let folder = std::env::var_os("CONDENSER_CORPORA")?;
    let mut paths: Vec<_> = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "zst"));
    paths.sort();
    let mut records = Vec::new();
    for path in paths {
        let bytes = zstd::decode_all(std::fs::File::open(path).ok()?).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let mut left = MAX_BYTES_PER_CORPUS;
        records.extend(text.lines().map(str::to_owned).take_while(|record| {
            left = left.saturating_sub(record.len());
            left > 0
        }));
    }
    Some(records)
}

/// Chat records with short and long messages, line ends, quotes and calls.
fn records() -> Vec<String> {
    let prose = "We looked at the request log of the gateway and found that the \\\"retry\\\" header is missing.\\n";
    let record = |n: usize| {
        let mut messages = vec![r#"{"role": "system", "content": "You are helpful."}"#.to_owned()];
        for turn in 0..40 {
            let id = format!("call_{n}_{turn}");
            messages.push(format!(r#"{{"role": "user", "content": "{}"}}"#, prose.repeat(1 + (turn + n) % 9)));
            messages.push(format!(
                r#"{{"role": "assistant", "content": null, "tool_calls": [{{"id": "{id}", "type": "function", "function": {{"name": "grep", "arguments": "{{\"pattern\": \"retry\"}}"}}}}]}}"#,
            ));
            messages.push(format!(
                r#"{{"role": "tool", "tool_call_id": "{id}", "content": "{}"}}"#,
                prose.repeat(1 + turn % 23)
            ));
        }
        format!(r#"{{"id": "chat/{n}", "messages": [{}]}}"#, messages.join(", "))
    };
    (0..64).map(record).collect()
}

/// Every fourth message becomes a summary.
fn condensed(decoded: &Decoded<'_>) -> Condensed {
    let message = |index: usize| {
        if index % 4 != 1 {
            return Output::Kept { index };
        }
        Output::Replaced(Replacement {
            sources: vec![index],
            is_by_several: false,
            body: NewBody::Text("[summary: the retry header is missing]".to_owned()),
            provenance: Provenance { ids: vec![format!("m{index}")], ..Provenance::default() },
            spots: Vec::new(),
            views: Vec::new(),
        })
    };
    let messages = (0..decoded.conversation.messages.len()).map(message).collect();
    Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() }
}

fn read(record: &str) -> Decoded<'_> {
    decode(record, ShapeName::Openai, "fallback").expect("the records of this bench are valid")
}

fn shape(criterion: &mut Criterion) {
    let records = corpora().unwrap_or_else(records);
    let n_bytes: usize = records.iter().map(String::len).sum();
    let decoded: Vec<_> = records.iter().map(|record| read(record)).collect();
    let condensed: Vec<_> = decoded.iter().map(condensed).collect();
    let both = || decoded.iter().zip(&condensed);
    let mut group = criterion.benchmark_group("shape");
    group.throughput(Throughput::Bytes(n_bytes as u64));
    group.bench_function("decode", |bench| {
        bench.iter(|| records.iter().for_each(|record| drop(black_box(read(record)))));
    });
    group.bench_function("row + layout", |bench| {
        bench.iter(|| {
            for (decoded, condensed) in both() {
                black_box(decoded.row(condensed, ProvenancePlace::Sidecar));
                black_box(decoded.row_layout(condensed));
            }
        });
    });
    group.bench_function("row + layout + restore_row", |bench| {
        bench.iter(|| {
            for (decoded, condensed) in both() {
                let row = decoded.row(condensed, ProvenancePlace::Sidecar);
                let layout = decoded.row_layout(condensed);
                let originals = decoded.originals(condensed);
                black_box(restore_row(&decoded.conversation.id, &row, &layout, &originals)).expect("it fits");
            }
        });
    });
    group.bench_function("condensed_record", |bench| {
        bench.iter(|| {
            for (decoded, condensed) in both() {
                black_box(decoded.condensed_record(condensed, ProvenancePlace::Metadata));
            }
        });
    });
    group.bench_function("condensed_record + layout + restore_record", |bench| {
        bench.iter(|| {
            for (decoded, condensed) in both() {
                let (record, layout) = decoded.condensed_record_and_layout(condensed, ProvenancePlace::Sidecar);
                let originals = decoded.originals(condensed);
                black_box(restore_record(&record, layout.as_deref(), &originals)).expect("it fits");
            }
        });
    });
    group.finish();
}

criterion_group!(benches, shape);
criterion_main!(benches);
