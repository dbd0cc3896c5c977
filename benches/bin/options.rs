//! The tables of `docs/options.md`: what each option and preset brings and costs, by kind of conversation.
//! `cargo run --release -p condenser-benches --bin options -- [--budget] FOLDER`     (FOLDER holds *.jsonl.zst)

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    AdapterName, BudgetStrategy, CompressionDepth, EngineOptions, EntropyMode, Message, Metrics, Preset, Tokenizer,
};
use condenser::shape;
use condenser::summary::CorpusScorer;
use condenser::text::WordCounts;

/// Kinds of conversations, and the corpora of each by the beginning of their names.
const KINDS: [(&str, &[&str]); 6] = [
    ("agent", &["cc_", "codex_", "pi_", "openhands_", "sweagent_"]),
    ("service", &["sgd", "tau_"]),
    ("chat", &["topicalchat", "ubuntu_irc"]),
    ("Q&A", &["mtbench_", "sharegpt_"]),
    ("meeting", &["qmsum_"]),
    ("non-English", &["bundestag_", "kdconv", "realpersonachat_"]),
];
const N_METRICS: usize = 8;
const ROUNDS: usize = 2;

/// Options under a name, and what was measured with them.
struct Set {
    name: String,
    engine: Engine,
    scratch: Scratch,
    sums: [(f64, usize); N_METRICS],
    chars: (usize, usize),
    seconds: f64,
    fits: (usize, usize, usize),
}

fn set(name: &str, options: EngineOptions) -> Set {
    Set {
        name: name.to_owned(),
        engine: Engine::new(options).expect("options"),
        scratch: Scratch::default(),
        sums: [(0.0, 0); N_METRICS],
        chars: (0, 0),
        seconds: 0.0,
        fits: (0, 0, 0),
    }
}

/// Each option alone on top of a base without a recency window, all of them together, and the presets as they are.
fn option_sets() -> Vec<Set> {
    let base = EngineOptions { recency_window: 0, ..EngineOptions::default() };
    let all_formats = AdapterName::ALL.to_vec();
    let with = |name: &str, change: &dyn Fn(&mut EngineOptions)| {
        let mut options = base.clone();
        change(&mut options);
        set(name, options)
    };
    let every = |options: &mut EngineOptions| {
        options.fuzzy_dedup = true;
        options.importance_scoring = true;
        options.contradiction_detection = true;
        options.conversation_flow = true;
        options.semantic_clustering = true;
        options.coreference = true;
        options.agent_tool_prepass = true;
        options.adapters.clone_from(&all_formats);
        options.relevance_threshold = Some(3.0);
    };
    let preset = |name, preset| set(name, Preset::options(preset).over(EngineOptions::default()));
    vec![
        with("no option", &|_| {}),
        with("`fuzzy_dedup`", &|options| options.fuzzy_dedup = true),
        with("`importance_scoring`", &|options| options.importance_scoring = true),
        with("`contradiction_detection`", &|options| options.contradiction_detection = true),
        with("`relevance_threshold = 3`", &|options| options.relevance_threshold = Some(3.0)),
        with("`relevance_threshold = 5`", &|options| options.relevance_threshold = Some(5.0)),
        with("`conversation_flow`", &|options| options.conversation_flow = true),
        with("`semantic_clustering`", &|options| options.semantic_clustering = true),
        with("`coreference`", &|options| options.coreference = true),
        with("`discourse_aware`", &|options| options.discourse_aware = true),
        with("`agent_tool_prepass`", &|options| options.agent_tool_prepass = true),
        with("`adapters` (all)", &|options| options.adapters.clone_from(&all_formats)),
        with("`observation_threshold = 1024`", &|options| options.observation_threshold = 1_024),
        with("`compression_depth = moderate`", &|options| options.compression_depth = CompressionDepth::Moderate),
        with("`compression_depth = aggressive`", &|options| options.compression_depth = CompressionDepth::Aggressive),
        with("all of these that keep the depth", &every),
        with("the same, `discourse_aware`", &|options| {
            every(options);
            options.discourse_aware = true;
        }),
        preset("preset `quality`", Preset::Quality),
        preset("preset `balanced`", Preset::Balanced),
        preset("preset `ratio`", Preset::Ratio),
    ]
}

/// Where they stand among the options.
const ENTROPY_AT: usize = 10;

/// Scores by the words of the texts themselves.
fn entropy_sets(texts: &[String]) -> Vec<Set> {
    let mut words = WordCounts::default();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let shape = shape::detect(line).expect("a known shape");
        let decoded = shape::decode(line, shape, "c").expect("a conversation");
        for text in decoded.conversation.messages.iter().flat_map(Message::texts) {
            words.add(text);
        }
    }
    let scorer = Arc::new(CorpusScorer::new(&words.freeze(32_768)));
    let named = [("augment", EntropyMode::Augment), ("replace", EntropyMode::Replace)];
    named
        .into_iter()
        .map(|(name, mode)| {
            let options = EngineOptions { recency_window: 0, entropy_scorer_mode: mode, ..EngineOptions::default() };
            let mut set = set(&format!("`entropy_scorer = corpus`, {name}"), options.clone());
            set.engine = Engine::new(options).expect("options").with_entropy(scorer.clone());
            set
        })
        .collect()
}

/// Budgets of 2,000 tokens that must be met.
fn budget_sets() -> Vec<Set> {
    let mut sets = Vec::new();
    for (strategy, shown) in [(BudgetStrategy::BinarySearch, "binary-search"), (BudgetStrategy::Tiered, "tiered")] {
        for (depth, deep) in [(CompressionDepth::Gentle, ""), (CompressionDepth::Auto, ", auto")] {
            for (tokenizer, counted) in [
                (Tokenizer::Chars, "chars"),
                (Tokenizer::O200kBase, "o200k_base"),
                (Tokenizer::Cl100kBase, "cl100k_base"),
            ] {
                let options = EngineOptions {
                    token_budget: Some(2_000),
                    force_converge: true,
                    budget_strategy: strategy,
                    compression_depth: depth,
                    tokenizer,
                    ..EngineOptions::default()
                };
                sets.push(set(&format!("{shown}{deep}, {counted}"), options));
            }
        }
    }
    sets
}

fn shares(metrics: &Metrics) -> [Option<f64>; N_METRICS] {
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

impl Set {
    fn run(&mut self, line: &str) {
        let shape = shape::detect(line).expect("a known shape");
        let decoded = shape::decode(line, shape, "c").expect("a conversation");
        let mut best = f64::INFINITY;
        let mut last = None;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let condensed = self.engine.condense(&decoded.conversation, &mut self.scratch);
            best = best.min(start.elapsed().as_secs_f64());
            last = Some(condensed.metrics);
        }
        let metrics = last.expect("at least one round");
        self.seconds += best;
        self.chars.0 += metrics.chars_in;
        self.chars.1 += metrics.chars_out;
        for (sum, value) in self.sums.iter_mut().zip(shares(&metrics)) {
            if let Some(value) = value {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
        if let (Some(budget), Some(max_tokens)) = (metrics.budget, self.engine.options().token_budget) {
            self.fits.0 += 1;
            self.fits.1 += usize::from(budget.protected_tokens <= max_tokens);
            self.fits.2 += usize::from(budget.fits);
        }
    }

    fn row(&self, base_seconds: f64, with_budget: bool) -> String {
        let mean = |&(sum, n): &(f64, usize)| if n == 0 { "–".to_owned() } else { format!("{:.3}", sum / n as f64) };
        let metrics = self.sums.iter().map(mean).collect::<Vec<_>>().join(" | ");
        let ratio = self.chars.0 as f64 / self.chars.1.max(1) as f64;
        let budget = if with_budget {
            let (n, may, fits) = self.fits;
            format!(" {fits} of {may} ({n}) |")
        } else {
            String::new()
        };
        format!("| {} |{budget} {ratio:.2} | {metrics} | {:.2} |", self.name, self.seconds / base_seconds)
    }
}

#[expect(clippy::print_stdout, reason = "the tables are the result")]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let with_budget = args.iter().any(|arg| arg == "--budget");
    let folder = args.iter().find(|arg| !arg.starts_with("--")).expect("a folder");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut totals: Vec<(String, f64, f64)> = Vec::new();
    for (kind, corpora) in KINDS {
        let mut sets = if with_budget { budget_sets() } else { option_sets() };
        let mut base = set("default", EngineOptions { recency_window: 0, ..EngineOptions::default() });
        let mut n = 0;
        let is_of_kind = |path: &&PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.ends_with(".jsonl.zst") && corpora.iter().any(|corpus| name.starts_with(corpus))
        };
        let texts: Vec<String> = paths.iter().filter(is_of_kind).map(|path| read(path)).collect();
        if !with_budget {
            sets.splice(ENTROPY_AT..ENTROPY_AT, entropy_sets(&texts));
        }
        for line in texts.iter().flat_map(|text| text.lines()) {
            n += 1;
            // What is measured first pays for what is read first: that is not counted.
            let before = base.seconds;
            base.run(line);
            base.seconds = before;
            base.run(line);
            for set in &mut sets {
                set.run(line);
            }
        }
        let budget = if with_budget { " fits |" } else { "" };
        println!("\n### {kind} ({n} conversations)\n");
        println!(
            "| options |{budget} ratio | entity | struct. | coher. | quality | facts | recall | negation | errors | time |"
        );
        println!("|---|{}--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|", if with_budget { "--:|" } else { "" });
        for set in &sets {
            println!("{}", set.row(base.seconds, with_budget));
            match totals.iter_mut().find(|(name, ..)| *name == set.name) {
                Some(total) => *total = (set.name.clone(), total.1 + set.seconds, total.2 + base.seconds),
                None => totals.push((set.name.clone(), set.seconds, base.seconds)),
            }
        }
    }
    println!("\n### time over all kinds\n");
    for (name, seconds, base) in totals {
        println!("| {name} | {:.2} |", seconds / base);
    }
}

fn read(path: &Path) -> String {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).expect("a readable file");
    zstd::Decoder::new(file).expect("zstd").read_to_end(&mut bytes).expect("a whole file");
    String::from_utf8(bytes).expect("UTF-8")
}
