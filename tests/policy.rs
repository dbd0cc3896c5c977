//! `policy = "best-above-floor"`: the shortest output above the floors, per conversation, through the whole pipeline.

use std::path::Path;
use std::sync::Arc;

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    ClassifierSource, EngineOptions, Figure, Floor, Least, Metrics, ProvenancePlace, Reason, Strategy, Summarizer,
    Tokenizer,
};
use condenser::pipeline::{BestAboveFloor, Condense, UNCHANGED, open_sealed};
use condenser::shape;

use crate::support::chats::{jsonl, records};
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use crate::support::options::{Dice, random_options};
use crate::support::talk::check_invariants;

fn sample_records() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample");
    let mut found = records(60, 5);
    for (name, bytes) in files(&folder) {
        if Path::new(&name).extension().is_some_and(|ending| ending == "jsonl") && !name.contains('/') {
            let text = String::from_utf8(bytes).expect("UTF-8");
            found.extend(text.lines().filter(|line| shape::detect(line).is_some()).map(str::to_owned));
        }
    }
    assert!(found.len() > 110);
    found
}

/// Options drawn from a seed, as far as sets of one policy may differ.
fn options(seed: u64) -> EngineOptions {
    EngineOptions {
        provenance: ProvenancePlace::Sidecar,
        tokenizer: Tokenizer::Chars,
        message_overhead: 0,
        source_version: 0,
        summarizer: Summarizer::Deterministic,
        classifier: ClassifierSource::None,
        strategy: Strategy::Messages,
        all_figures: true,
        ..random_options(seed)
    }
}

fn floors(dice: &mut Dice) -> Vec<Floor> {
    let figures = Figure::SHARES;
    (0..=dice.below(3))
        .map(|_| Floor {
            figure: dice.pick(&figures),
            least: dice.pick(&[Least::Share(0.5), Least::Share(0.9), Least::Gentlest(0.0), Least::Gentlest(0.1)]),
        })
        .collect()
}

#[test]
fn the_shortest_output_above_the_floor_wins_and_nothing_is_lost() {
    let (mut n_unchanged, mut n_later, mut n_first) = (0, 0, 0);
    for (seed, record) in (0_u64..).zip(sample_records()) {
        let dice = &mut Dice::new(seed);
        let n_sets = 1 + dice.below(4) as u64;
        let engine = |at: u64| Arc::new(Engine::new(options(seed * 16 + at)).expect("options")) as Arc<dyn Condense>;
        let engines: Vec<Arc<dyn Condense>> = (0..n_sets).map(engine).collect();
        let floor = floors(dice);
        let policy = BestAboveFloor::new(engines[0].clone(), engines[1..].to_vec(), floor.clone(), None);
        let shape = shape::detect(&record).expect("a known shape");
        let decoded = shape::decode(&record, shape, "c").expect("a conversation");
        let conversation = &decoded.conversation;
        let condensed = policy.condense(conversation, &mut Scratch::default());
        check_invariants(&decoded, &condensed, ProvenancePlace::Sidecar);
        // The naive twin: each engine with memory of its own.
        let alone: Vec<Metrics> =
            engines.iter().map(|engine| engine.condense(conversation, &mut Scratch::default()).metrics).collect();
        let value = |figure: Figure, metrics: &Metrics| figure.of(metrics);
        let holds = |metrics: &Metrics| {
            floor.iter().all(|floor| {
                let least = match floor.least {
                    Least::Share(share) => share,
                    Least::Gentlest(slack) => value(floor.figure, &alone[0]).unwrap_or(1.0) - slack,
                };
                value(floor.figure, metrics).is_none_or(|value| value >= least)
            })
        };
        let shortest = alone.iter().filter(|metrics| holds(metrics)).map(|metrics| metrics.tokens_out).min();
        let choice = condensed.metrics.policy_choice.clone().expect("a policy says what it chose");
        assert!(holds(&condensed.metrics), "{floor:?} {choice}");
        if let Some(tokens) = shortest {
            assert_eq!(condensed.metrics.tokens_out, tokens, "{floor:?} {choice}");
        } else {
            n_unchanged += 1;
            assert!(condensed.is_unchanged() && choice == UNCHANGED);
            assert!(condensed.decisions.iter().all(|decision| decision.reason == Reason::BelowFloor));
        }
        n_first += usize::from(choice == "as given");
        n_later += usize::from(choice != "as given" && choice != UNCHANGED);
    }
    assert!(n_unchanged > 3 && n_later > 20 && n_first > 20, "{n_unchanged} {n_later} {n_first}");
}

const JOB: &str = "inputs = [\"in\"]\noutput = \"run\"\nformat = \"jsonl\"\npolicy = \"best-above-floor\"\n\
                   floor = [\"quality=0.9\", \"fact_retention=0.8\"]\n";

fn corpus() -> TestDir {
    let dir = TestDir::new();
    for path in ["jobs/sample/agents", "jobs/sample/meetings", "jobs/sample/prose", "tests/data/service"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{path}.jsonl"));
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        dir.write(&format!("in/{name}"), std::fs::read(path).expect("a sample"));
    }
    dir.write("in/chats.jsonl", jsonl(80, 9));
    dir
}

/// The rows of the metrics table.
fn rows(dir: &TestDir, run: &str) -> Vec<serde_json::Value> {
    let files = files(&dir.path(&format!("{run}/metrics")));
    files
        .into_values()
        .flat_map(|bytes| {
            let text = zstd::decode_all(&*bytes).expect("zstd");
            let text = String::from_utf8(text).expect("UTF-8");
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn a_run_with_a_policy_says_what_it_chose_and_is_restored() {
    let dir = corpus();
    dir.write("job.toml", JOB);
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let mut choices: Vec<String> = Vec::new();
    for row in rows(&dir, "run") {
        for (figure, least) in [("quality_score", 0.9), ("fact_retention", 0.8)] {
            assert!(row[figure].as_f64().is_none_or(|value| value >= least), "{row}");
        }
        choices.push(row["policy_choice"].as_str().expect("a choice").to_owned());
    }
    choices.sort();
    choices.dedup();
    assert!(choices.len() > 2 && choices.contains(&"as given".to_owned()), "{choices:?}");
    condenser(dir.root(), &["verify", "run", "--against", "in"]).ok();
    condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
    assert_eq!(files(&dir.path("back")), files(&dir.path("in")));
    // Without a policy there is no choice, and nothing in the plan speaks of one.
    condenser(dir.root(), &["compress", "in", "-o", "plain", "--format", "jsonl"]).ok();
    assert!(rows(&dir, "plain").iter().all(|row| row["policy_choice"].is_null()));
    let plan: serde_json::Value = open_sealed(&dir.read("plain/plan.json.zst"), "").expect("a plan");
    assert!(!plan.to_string().contains("policy"));
    // The same in columns, and as flags.
    let flags = ["--policy", "best-above-floor", "--floor", "quality=0.9,fact_retention=0.8"];
    let args = [&["compress", "in", "-o", "columns"][..], &flags].concat();
    condenser(dir.root(), &args).ok();
    condenser(dir.root(), &["verify", "columns", "--against", "in"]).ok();
    let totals = |run: &str| {
        let manifest: serde_json::Value = serde_json::from_slice(&dir.read(&format!("{run}/manifest.json"))).unwrap();
        manifest["totals"].clone()
    };
    assert_eq!(totals("columns"), totals("run"));
}

#[test]
fn shards_threads_and_later_calls_come_to_the_same_bytes() {
    let dir = corpus();
    dir.write("job.toml", JOB);
    condenser(dir.root(), &["run", "job.toml", "--set", "threads=1"]).ok();
    for shard in ["1/2", "0/2"] {
        condenser(dir.root(), &["run", "job.toml", "--set", "output=shards", "--set", "threads=2", "--shard", shard])
            .ok();
    }
    condenser(dir.root(), &["finish", "shards"]).ok();
    assert!(files(&dir.path("run")) == files(&dir.path("shards")));
    // Parts that are there stay, with other floors or other sets it is another job.
    condenser(dir.root(), &["run", "job.toml", "--set", "output=half", "--shard", "0/2"]).ok();
    for (set, says) in
        [("floor=quality=0.8", "option policy.floor"), ("tries=[{ relevance_threshold = 3 }]", "option policy.tries")]
    {
        let told = condenser(dir.root(), &["run", "job.toml", "--set", "output=half", "--set", set]).exits(2);
        assert!(told.stderr.contains(says), "{}", told.stderr);
    }
    condenser(dir.root(), &["run", "job.toml", "--set", "output=half"]).ok();
    assert!(files(&dir.path("run")) == files(&dir.path("half")));
}

#[test]
fn what_does_not_go_with_a_policy_is_refused() {
    let policy = "policy = \"best-above-floor\"\n";
    let floor = "policy = \"best-above-floor\"\nfloor = \"quality=0.9\"\n";
    let cases: &[(String, &str)] = &[
        ("floor = [\"quality=0.9\"]\n".to_owned(), "a floor does nothing without policy"),
        ("[[tries]]\nrecency_window = 0\n".to_owned(), "tries do nothing without policy"),
        (policy.to_owned(), "the policy needs a floor"),
        ("policy = \"best\"\n".to_owned(), "unknown value `best`, expected `best-above-floor`"),
        ("polcy = \"best\"\n".to_owned(), "did you mean `policy`?"),
        (format!("{policy}floor = [\"fact_retension=0.9\"]\n"), "did you mean `fact_retention`?"),
        (format!("{policy}floor = [\"quality=9\"]\n"), "`9` is no share from 0 to 1"),
        (format!("{floor}[engine]\nsummarizer = \"normal\"\n"), "does not go with a model"),
        (format!("{floor}[engine]\nclassifier = \"model\"\n"), "does not go with a model"),
        (format!("{floor}[engine]\nstrategy = \"insert-then-compress\"\n"), "insert-then-compress"),
        (format!("{floor}[[tries]]\ntokenizer = \"o200k_base\"\n"), "tries[0].tokenizer: all option sets"),
        (
            format!("{floor}[[tries]]\nrecency_window = 0\n[[tries]]\nprovenance = \"metadata\"\n"),
            "tries[1].provenance",
        ),
        (format!("{floor}[[tries]]\nrecency_windw = 0\n"), "did you mean `recency_window`?"),
        (format!("{floor}[[tries]]\nfuzzy_threshold = 3\n"), "tries[0].fuzzy_threshold: 3 is no share"),
    ];
    for (lines, says) in cases {
        let dir = TestDir::new();
        dir.write("in.jsonl", jsonl(3, 1));
        dir.write("job.toml", format!("inputs = [\"in.jsonl\"]\noutput = \"run\"\n{lines}"));
        let told = condenser(dir.root(), &["run", "job.toml"]).exits(2);
        assert!(told.stderr.contains(says), "{lines}: {}", told.stderr);
        assert!(!dir.path("run").exists());
    }
}

#[test]
fn a_dry_run_prints_the_sets_that_are_tried() {
    let dir = corpus();
    let tries = "[engine]\ntoken_budget = 500\n[[tries]]\ntoken_budget = 0\nrecency_window = 0\n[[tries]]\npreset = \"quality\"\n";
    for (name, more) in [("default", ""), ("own", tries), ("none", "[[tries]]\n")] {
        dir.write("job.toml", format!("{JOB}{more}"));
        let told = condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok();
        dir.write("resolved.toml", told.stdout);
        condenser(dir.root(), &["run", "job.toml", "--set", &format!("output={name}")]).ok();
        condenser(dir.root(), &["run", "resolved.toml", "--set", &format!("output={name}-2")]).ok();
        assert_eq!(dir.read(&format!("{name}/manifest.json")), dir.read(&format!("{name}-2/manifest.json")));
    }
}

#[test]
fn training_data_stays_valid_whatever_is_chosen() {
    let dir = corpus();
    dir.write("job.toml", JOB.replace("format = \"jsonl\"\n", "kind = \"dataset\"\n"));
    let told = condenser(dir.root(), &["run", "job.toml"]).ok();
    assert!(told.stderr.contains("rows in train"), "{}", told.stderr);
    condenser(dir.root(), &["verify", "run", "--against", "in"]).ok();
}
