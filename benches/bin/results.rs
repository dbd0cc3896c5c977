//! The table of `docs/results.md`: ratio, metrics, decisions and speed of the engine per corpus.
//! `cargo run --release -p condenser-benches --bin results -- [--no-window | --hard] FILE.jsonl.zst…`

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Instant;

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, Metrics};
use condenser::shape;

/// A share and how many conversations had one.
#[derive(Default, Clone, Copy)]
struct Mean {
    sum: f64,
    n: usize,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.n += 1;
        }
    }
    fn show(self) -> String {
        if self.n == 0 { "–".to_owned() } else { format!("{:.3}", self.sum / self.n as f64) }
    }
}

fn shares(metrics: &Metrics) -> [Option<f64>; 8] {
    [
        metrics.entity_retention,
        metrics.structural_integrity,
        metrics.reference_coherence,
        metrics.quality_score,
        metrics.fact_retention,
        metrics.forward_recall,
        metrics.negation_retention,
        metrics.error_retention,
    ]
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let hard = args.iter().any(|arg| arg == "--hard");
    let no_window = args.iter().any(|arg| arg == "--no-window");
    let options = if hard || no_window {
        EngineOptions { recency_window: 0, fuzzy_dedup: hard, ..EngineOptions::default() }
    } else {
        EngineOptions::default()
    };
    let engine = Engine::new(options).expect("default options");
    println!(
        "| corpus | conv. | ratio | entity | struct. | coher. | quality | facts | recall | negation | errors | kept | summ. | split | dup | near | MB/s |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let mut all_reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for path in args.iter().filter(|arg| !arg.starts_with("--")) {
        let text = read(path);
        let mut scratch = Scratch::default();
        let mut means = [Mean::default(); 8];
        let (mut chars_in, mut chars_out, mut n_bytes, mut n_records) = (0, 0, 0, 0);
        let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
        let mut seconds = 0.0;
        for line in text.lines() {
            let shape = shape::detect(line).expect("a known shape");
            let decoded = shape::decode(line, shape, "c").expect("a conversation");
            n_bytes +=
                decoded.conversation.messages.iter().flat_map(|message| message.texts().map(str::len)).sum::<usize>();
            n_bytes += decoded
                .conversation
                .messages
                .iter()
                .flat_map(|message| message.tool_calls.iter().map(|call| call.arguments.len()))
                .sum::<usize>();
            let start = Instant::now();
            let condensed = engine.condense(&decoded.conversation, &mut scratch);
            seconds += start.elapsed().as_secs_f64();
            n_records += 1;
            chars_in += condensed.metrics.chars_in;
            chars_out += condensed.metrics.chars_out;
            means.iter_mut().zip(shares(&condensed.metrics)).for_each(|(mean, value)| mean.add(value));
            for decision in &condensed.decisions {
                *actions.entry(decision.action.as_str()).or_default() += 1;
                *all_reasons.entry(decision.reason.as_str()).or_default() += 1;
            }
        }
        let n: usize = actions.values().sum();
        let share = |action: &str| {
            format!("{:.1}%", 100.0 * actions.get(action).copied().unwrap_or(0) as f64 / n.max(1) as f64)
        };
        let name =
            std::path::Path::new(path).file_name().map_or(path.clone(), |name| name.to_string_lossy().into_owned());
        println!(
            "| {} | {n_records} | {:.2} | {} | {} | {} | {} | {} | {} | {:.0} |",
            name.trim_end_matches(".zst").trim_end_matches(".jsonl"),
            chars_in as f64 / chars_out.max(1) as f64,
            means.map(Mean::show).join(" | "),
            share("preserved"),
            share("compressed"),
            share("code_split"),
            share("deduped"),
            share("fuzzy_deduped"),
            n_bytes as f64 / 1e6 / seconds.max(1e-9),
        );
    }
    println!("\nreasons over all corpora: {all_reasons:?}");
}

fn read(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut file = std::fs::File::open(path).expect("a readable file");
    if std::path::Path::new(path).extension().is_some_and(|extension| extension == "zst") {
        zstd::Decoder::new(file).expect("zstd").read_to_end(&mut bytes).expect("a whole file");
    } else {
        file.read_to_end(&mut bytes).expect("a whole file");
    }
    String::from_utf8(bytes).expect("UTF-8")
}
