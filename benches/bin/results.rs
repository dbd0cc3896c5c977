//! What the engine brings and costs on real conversations, as CSV: the tables of `docs/results/`.
//! `cargo run --release -p condenser-benches --bin results -- corpora|options|budgets FOLDER`
//! (FOLDER holds *.jsonl.zst)
//!
//! | table | a row for each |
//! |---|---|
//! | corpora | corpus and set of options |
//! | options | kind of conversation and option, on top of a base without a recency window |
//! | budgets | kind of conversation and way to meet 2,000 tokens |

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use condenser::engine::{Engine, Scratch};
use condenser::model::{AdapterName, BudgetStrategy, CompressionDepth, EngineOptions, Metrics, Preset, Tokenizer};
use condenser::shape::{self, Decoded};

/// Kinds of conversations, and the corpora of each by the beginning of their names.
const KINDS: [(&str, &[&str]); 6] = [
    ("agent", &["cc_", "codex_", "pi_", "openhands_", "sweagent_"]),
    ("service", &["sgd", "tau_"]),
    ("chat", &["topicalchat", "ubuntu_irc"]),
    ("Q&A", &["mtbench_", "sharegpt_"]),
    ("meeting", &["qmsum_"]),
    ("non-English", &["bundestag_", "kdconv", "realpersonachat_"]),
];
const METRICS: [&str; 8] = ["entity", "structure", "coherence", "quality", "facts", "recall", "negation", "errors"];
const ACTIONS: [&str; 5] = ["preserved", "compressed", "code_split", "deduped", "fuzzy_deduped"];
/// The better of so many runs counts.
const ROUNDS: usize = 2;

/// Options under a name, and what was measured with them.
struct Set {
    name: String,
    engine: Engine,
    scratch: Scratch,
    sums: [(f64, usize); METRICS.len()],
    chars: (usize, usize),
    actions: BTreeMap<&'static str, usize>,
    bytes: usize,
    seconds: f64,
    n: usize,
    /// Conversations whose protected messages are within the budget, and those that are within it as a whole.
    fits: (usize, usize),
}

fn set(name: &str, options: EngineOptions) -> Set {
    Set {
        name: name.to_owned(),
        engine: Engine::new(options).expect("options"),
        scratch: Scratch::default(),
        sums: [(0.0, 0); METRICS.len()],
        chars: (0, 0),
        actions: BTreeMap::new(),
        bytes: 0,
        seconds: 0.0,
        n: 0,
        fits: (0, 0),
    }
}

fn preset(name: &str, preset: Preset) -> Set {
    set(name, Preset::options(preset).over(EngineOptions::default()))
}

/// What is measured corpus by corpus.
fn corpus_sets() -> Vec<Set> {
    let no_window = EngineOptions { recency_window: 0, fuzzy_dedup: true, ..EngineOptions::default() };
    vec![
        set("default", EngineOptions::default()),
        set("recency_window = 0, fuzzy_dedup", no_window),
        preset("preset classic", Preset::Classic),
        preset("preset ratio", Preset::Ratio),
    ]
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
    vec![
        with("no option", &|_| {}),
        with("fuzzy_dedup", &|options| options.fuzzy_dedup = true),
        with("importance_scoring", &|options| options.importance_scoring = true),
        with("contradiction_detection", &|options| options.contradiction_detection = true),
        with("relevance_threshold = 3", &|options| options.relevance_threshold = Some(3.0)),
        with("relevance_threshold = 5", &|options| options.relevance_threshold = Some(5.0)),
        with("conversation_flow", &|options| options.conversation_flow = true),
        with("semantic_clustering", &|options| options.semantic_clustering = true),
        with("coreference", &|options| options.coreference = true),
        with("discourse_aware", &|options| options.discourse_aware = true),
        with("agent_tool_prepass", &|options| options.agent_tool_prepass = true),
        with("adapters = all", &|options| options.adapters.clone_from(&all_formats)),
        with("observation_threshold = 1024", &|options| options.observation_threshold = 1_024),
        with("compression_depth = moderate", &|options| options.compression_depth = CompressionDepth::Moderate),
        with("compression_depth = aggressive", &|options| options.compression_depth = CompressionDepth::Aggressive),
        with("all of these that keep the depth", &every),
        with("the same, discourse_aware", &|options| {
            every(options);
            options.discourse_aware = true;
        }),
        preset("preset quality", Preset::Quality),
        preset("preset balanced", Preset::Balanced),
        preset("preset classic", Preset::Classic),
        preset("preset ratio", Preset::Ratio),
    ]
}

/// Budgets of 2,000 tokens that must be met.
fn budget_sets() -> Vec<Set> {
    let strategies = [(BudgetStrategy::BinarySearch, "binary-search"), (BudgetStrategy::Tiered, "tiered")];
    let depths = [(CompressionDepth::Gentle, ""), (CompressionDepth::Auto, ", auto")];
    let tokenizers = [Tokenizer::Chars, Tokenizer::O200kBase, Tokenizer::Cl100kBase];
    let mut sets = Vec::new();
    for (budget_strategy, shown) in strategies {
        for (compression_depth, deep) in depths {
            for tokenizer in tokenizers.clone() {
                let name = format!("{shown}{deep}, {}", String::from(tokenizer.clone()));
                let token_budget = Some(2_000);
                let base = EngineOptions { token_budget, force_converge: true, ..EngineOptions::default() };
                sets.push(set(&name, EngineOptions { budget_strategy, compression_depth, tokenizer, ..base }));
            }
        }
    }
    sets
}

fn shares(metrics: &Metrics) -> [Option<f64>; METRICS.len()] {
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

fn decoded(line: &str) -> Decoded<'_> {
    let shape = shape::detect(line).expect("a known shape");
    shape::decode(line, shape, "c").expect("a conversation")
}

impl Set {
    fn run(&mut self, line: &str) {
        let decoded = decoded(line);
        let mut runs = (0..ROUNDS).map(|_| {
            let start = Instant::now();
            let condensed = self.engine.condense(&decoded.conversation, &mut self.scratch);
            (start.elapsed().as_secs_f64(), condensed)
        });
        let (first, _) = runs.next().expect("a first run");
        let (last, condensed) = runs.last().expect("a second run");
        let metrics = condensed.metrics;
        self.n += 1;
        self.seconds += first.min(last);
        for message in &decoded.conversation.messages {
            self.bytes += message.texts().map(str::len).sum::<usize>();
            self.bytes += message.tool_calls.iter().map(|call| call.arguments.len()).sum::<usize>();
        }
        self.chars.0 += metrics.chars_in;
        self.chars.1 += metrics.chars_out;
        for (sum, value) in self.sums.iter_mut().zip(shares(&metrics)) {
            if let Some(value) = value {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
        for decision in &condensed.decisions {
            *self.actions.entry(decision.action.as_str()).or_default() += 1;
        }
        if let (Some(budget), Some(max_tokens)) = (metrics.budget, self.engine.options().token_budget) {
            self.fits.0 += usize::from(budget.protected_tokens <= max_tokens);
            self.fits.1 += usize::from(budget.fits);
        }
    }

    fn row(&self, of: &str, base_seconds: f64) -> String {
        let mean = |&(sum, n): &(f64, usize)| if n == 0 { String::new() } else { format!("{:.3}", sum / n as f64) };
        let n_messages: usize = self.actions.values().sum();
        let share = |action: &&str| {
            let n = self.actions.get(action).copied().unwrap_or_default();
            format!("{:.4}", n as f64 / n_messages.max(1) as f64)
        };
        let (within, fits) = self.fits;
        let budget = self.engine.options().token_budget.map_or(",".to_owned(), |_| format!("{within},{fits}"));
        format!(
            "{of},\"{}\",{},{:.3},{},{},{budget},{:.1},{:.2}",
            self.name,
            self.n,
            self.chars.0 as f64 / self.chars.1.max(1) as f64,
            self.sums.iter().map(mean).collect::<Vec<_>>().join(","),
            ACTIONS.iter().map(share).collect::<Vec<_>>().join(","),
            self.bytes as f64 / 1e6 / self.seconds.max(1e-9),
            self.seconds / base_seconds
        )
    }
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let table = args.first().expect("corpora, options or budgets");
    let folder = args.get(1).expect("a folder");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".jsonl.zst"));
    paths.sort();
    println!(
        "of,options,conversations,ratio,{},{},within_budget,fits,mb_per_second,time",
        METRICS.join(","),
        ACTIONS.join(",")
    );
    let name = |path: &PathBuf| {
        path.file_name().unwrap_or_default().to_string_lossy().trim_end_matches(".jsonl.zst").to_owned()
    };
    let groups: Vec<(String, Vec<PathBuf>)> = if table == "corpora" {
        paths.iter().map(|path| (name(path), vec![path.clone()])).collect()
    } else {
        let of_kind = |corpora: &[&str]| {
            paths.iter().filter(|path| corpora.iter().any(|corpus| name(path).starts_with(corpus))).cloned().collect()
        };
        KINDS.iter().map(|(kind, corpora)| ((*kind).to_owned(), of_kind(corpora))).collect()
    };
    for (of, paths) in groups {
        let texts: Vec<String> = paths.iter().map(|path| read(path)).collect();
        let mut sets = match &**table {
            "options" => option_sets(),
            "budgets" => budget_sets(),
            _ => corpus_sets(),
        };
        // What is measured first pays for what is read first: that is not counted.
        let mut base = set("base", EngineOptions { recency_window: 0, ..EngineOptions::default() });
        for line in texts.iter().flat_map(|text| text.lines()) {
            let before = base.seconds;
            base.run(line);
            base.seconds = before;
            base.run(line);
            for set in &mut sets {
                set.run(line);
            }
        }
        for set in &sets {
            println!("{}", set.row(&of, base.seconds));
        }
    }
}

fn read(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("a readable file");
    zstd::Decoder::new(file).expect("zstd").read_to_string(&mut text).expect("a whole file of UTF-8");
    text
}
