//! `condenser sweep` through the program: what it measures, what it recommends, and the job file that it writes.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use crate::support::talk::prose;

const FLOOR_FIGURES: [&str; 5] =
    ["quality_score", "fact_retention", "forward_recall", "negation_retention", "error_retention"];

/// The sample corpus.
fn samples() -> TestDir {
    some(|_| true)
}

/// A part of it, for what needs no more: a sweep tries hundreds of option sets.
fn few() -> TestDir {
    some(|name| ["prose.jsonl", "sharegpt.jsonl"].contains(&name))
}

fn some(is_taken: impl Fn(&str) -> bool) -> TestDir {
    let dir = TestDir::new();
    for (name, bytes) in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample")) {
        if Path::new(&name).extension().is_some_and(|ending| ending == "jsonl")
            && !name.contains('/')
            && is_taken(&name)
        {
            dir.write(&format!("in/{name}"), bytes);
        }
    }
    dir
}

#[track_caller]
fn sweep(dir: &TestDir, more: &[&str]) -> Value {
    let args = [&["sweep", "in", "--json"][..], more].concat();
    serde_json::from_slice(&condenser(dir.root(), &args).ok().stdout).expect("JSON")
}

fn value(figures: &Value, name: &str) -> Option<f64> {
    match name {
        "ratio" => figures["ratio"]["value"].as_f64(),
        name => figures["figures"][name]["value"].as_f64(),
    }
}

#[test]
fn the_same_comes_out_on_any_number_of_threads_and_in_any_order() {
    let dir = few();
    dir.write("in/chats.jsonl", jsonl(60, 4));
    let one = sweep(&dir, &["--sample", "12", "--threads", "1"]);
    assert_eq!(one, sweep(&dir, &["--sample", "12", "--threads", "2"]));
    assert_eq!(one["sample"]["drawn"], 12);
    // The same conversations in one file, from the last to the first.
    let mut lines: Vec<String> = Vec::new();
    for bytes in files(&dir.path("in")).into_values() {
        lines.extend(String::from_utf8(bytes).expect("UTF-8").lines().map(str::to_owned));
    }
    lines.reverse();
    let other = TestDir::new();
    other.write("in/all.jsonl", lines.join("\n"));
    let mut turned = sweep(&other, &["--sample", "12"]);
    turned["inputs"] = one["inputs"].clone();
    assert_eq!(one, turned);
}

#[test]
fn what_is_printed_fits_the_schema_and_the_front_has_no_dominated_member() {
    let dir = samples();
    let document = sweep(&dir, &["--held-back", "0.3"]);
    let schema: Value = serde_json::from_slice(&condenser(dir.root(), &["schema", "sweep"]).ok().stdout).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let sets = document["sets"].as_array().expect("sets");
    assert!(document["sets"].as_array().is_some_and(|sets| sets.len() > 100));
    let whole: Vec<&Value> = sets.iter().filter(|set| set["figures"]["ratio"]["low"].is_f64()).collect();
    for name in ["quality_score", "forward_recall"] {
        let of = |set: &Value| (value(&set["figures"], "ratio").unwrap(), value(&set["figures"], name).unwrap());
        let is_on = |set: &Value| set["front"].as_array().is_some_and(|front| front.contains(&json!(name)));
        let front: Vec<(f64, f64)> = whole.iter().filter(|set| is_on(set)).map(|set| of(set)).collect();
        assert!(front.len() > 2, "{front:?}");
        for set in &whole {
            let (ratio, figure) = of(set);
            let is_beaten = whole.iter().map(|other| of(other)).any(|(other_ratio, other_figure)| {
                other_ratio >= ratio && other_figure >= figure && (other_ratio, other_figure) != (ratio, figure)
            });
            assert_eq!(front.contains(&(ratio, figure)), !is_beaten, "{set}");
        }
    }
    // Whatever is measured stands in its interval.
    for set in whole {
        let ratio = &set["figures"]["ratio"];
        let number = |key: &str| ratio[key].as_f64().expect("a number");
        assert!(number("low") <= number("value") && number("value") <= number("high"), "{ratio}");
    }
    // Another half was measured for the proof, and it says the same within what chance allows.
    let held_back = &document["held_back"];
    let n = |value: &Value| value.as_u64().expect("a number");
    assert_eq!(
        n(&held_back["conversations"]) + n(&document["sample"]["drawn"]),
        n(&document["sample"]["conversations"])
    );
    assert!(value(&held_back["above_given"], "ratio").unwrap() >= 0.0);
    for name in FLOOR_FIGURES {
        assert!(value(&held_back["above_given"], name).is_none_or(|above| above > -0.03), "{name}: {held_back}");
    }
}

#[test]
fn halving_finds_what_the_whole_grid_finds() {
    let dir = samples();
    let floor = ["--floor", "fact_retention=0.7,quality=0.85", "--sample", "48", "--hide-by", "look"];
    let halved = sweep(&dir, &floor);
    let grid = sweep(&dir, &[&floor[..], &["--grid"]].concat());
    assert!(halved["search"]["rounds"].as_array().is_some_and(|rounds| rounds.len() > 1));
    assert_eq!(grid["search"]["rounds"].as_array().map(Vec::len), Some(1));
    let ratio = |document: &Value| value(&document["recommendation"]["figures"], "ratio").expect("a ratio");
    assert!(ratio(&halved) >= 0.99 * ratio(&grid), "{} and {}", ratio(&halved), ratio(&grid));
    let above = value(&grid["recommendation"]["above_given"], "ratio").expect("a ratio");
    assert!(above > 0.05, "there is something to find: {above}");
}

/// Characters before over characters after, of a run.
fn ratio_of(dir: &TestDir, run: &str) -> f64 {
    let manifest: Value = serde_json::from_slice(&dir.read(&format!("{run}/manifest.json"))).expect("JSON");
    let total = |key: &str| manifest["totals"][key].as_f64().expect("a number");
    total("chars_in") / total("chars_out")
}

#[test]
fn the_job_file_runs_and_keeps_its_promise() {
    let dir = some(|name| ["prose.jsonl", "sharegpt.jsonl", "coding.jsonl"].contains(&name));
    for (name, more) in [
        ("given", &["--keep-window"][..]),
        ("strict", &["--floor", "fact_retention=0.999,quality=0.97"]),
        (
            "base",
            &["--floor", "quality=0.5", "--floor", "forward_recall=0.5", "--recency-window", "6", "--dedup", "false"],
        ),
    ] {
        let file = format!("{name}.toml");
        let document = sweep(&dir, &[&["-o", &file][..], more].concat());
        assert_eq!(document["sample"]["drawn"], document["sample"]["conversations"]);
        let text = String::from_utf8(dir.read(&file)).expect("UTF-8");
        assert!(text.starts_with("# Written by `condenser sweep`"), "{text}");
        condenser(dir.root(), &["run", &file, "--dry-run"]).ok();
        condenser(dir.root(), &["run", &file, "--set", "format=jsonl"]).ok();
        let run = format!("{name}-run");
        condenser(dir.root(), &["verify", &run, "--against", "in"]).ok();
        // All conversations were measured: what was promised is what comes.
        let promised = value(&document["recommendation"]["figures"], "ratio").expect("a ratio");
        let found = ratio_of(&dir, &run);
        assert!((found - promised).abs() < 1e-9, "{name}: {promised} was promised, {found} found\n{text}");
        if name == "strict" {
            assert_eq!(document["recommendation"]["kind"], "policy", "on average no set is so gentle");
            for bytes in files(&dir.path(&format!("{run}/metrics"))).into_values() {
                let rows = String::from_utf8(zstd::decode_all(&*bytes).expect("zstd")).expect("UTF-8");
                for row in rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
                    assert!(row["fact_retention"].as_f64().is_none_or(|share| share >= 0.999), "{row}");
                }
            }
        }
    }
    // It is the user's file: nothing overwrites it unasked.
    let told = condenser(dir.root(), &["sweep", "in", "-o", "strict.toml"]).exits(2);
    assert!(told.stderr.contains("is not overwritten") && told.stderr.contains("--force"), "{}", told.stderr);
    let before = dir.read("strict.toml");
    condenser(dir.root(), &["sweep", "in/prose.jsonl", "-o", "strict.toml", "--force", "-q"]).ok();
    assert_ne!(before, dir.read("strict.toml"));
}

#[test]
fn a_floor_is_held_by_what_is_recommended() {
    let dir = few();
    let mut before = f64::INFINITY;
    for share in [0.6, 0.9] {
        let document = sweep(&dir, &["--floor", &format!("fact_retention={share}")]);
        let choice = &document["recommendation"];
        assert!(value(&choice["figures"], "fact_retention").expect("facts") >= share, "{choice}");
        let low = choice["figures"]["figures"]["fact_retention"]["low"].as_f64().expect("an interval");
        assert!(low >= share, "the lower end counts: {choice}");
        let ratio = value(&choice["figures"], "ratio").expect("a ratio");
        assert!(ratio <= before + 1e-9, "a higher floor saves no more");
        before = ratio;
    }
    let kept = sweep(&dir, &["--floor", "fact_retention=0.5", "--keep-window", "--sample", "24"]);
    assert!(kept["sets"].as_array().is_some_and(|sets| {
        sets.iter().all(|set| set["changes"]["recency_window"].as_u64().is_none_or(|window| window > 4))
    }));
}

#[test]
fn odd_inputs_are_told_in_a_sentence() {
    let dir = TestDir::new();
    dir.write("empty.jsonl", "");
    dir.write("broken.jsonl", "nothing\nnothing else\n");
    dir.write(
        "one.jsonl",
        format!("{{\"id\":\"a\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}\n", prose(900)),
    );
    let cases: &[(&[&str], i32, &str)] = &[
        (&["empty.jsonl"], 3, "the inputs hold no records, so there is nothing to measure"),
        (&["broken.jsonl"], 3, "broken.jsonl: record 0: invalid_json: not JSON: "),
        (&["one.jsonl", "-o", "."], 2, "this is a folder"),
        (&["one.jsonl", "--html", "nowhere/page.html"], 2, "the folder nowhere does not exist"),
        (&["one.jsonl", "--json", "--html", "-"], 2, "can go to stdout"),
        (&["one.jsonl", "--sample-bytes", "100"], 3, "the only conversation is too long for the sample"),
        (&["nowhere.jsonl"], 2, "there is no such file"),
        (&["one.jsonl", "--sample", "0"], 2, "a sample has at least one conversation"),
        (&["one.jsonl", "--held-back", "1"], 2, "expected a share between 0 and 1"),
        (&["one.jsonl", "--summarizer", "normal"], 2, "leave out the model"),
        (&["one.jsonl", "--floor", "facts=1"], 2, "did you mean `fact_retention`?"),
        (&["one.jsonl", "--force"], 2, "--output"),
    ];
    for (args, code, says) in cases {
        let told = condenser(dir.root(), &[&["sweep"][..], args].concat()).exits(*code);
        assert!(told.stderr.contains(says), "{args:?}: {}", told.stderr);
    }
    let told = condenser(dir.root(), &["sweep", "one.jsonl", "--recency-window", "0"]).ok();
    let text = String::from_utf8(told.stdout).expect("UTF-8");
    assert!(text.contains("of 1 conversation") && text.contains("Recommended: "), "{text}");
    // What is rejected beside conversations is counted and shown by the exit code.
    let told = condenser(dir.root(), &["sweep", "one.jsonl", "broken.jsonl"]).exits(3);
    assert!(String::from_utf8(told.stdout).expect("UTF-8").contains("2 records rejected"));
}

#[test]
fn tables_and_stdin_are_swept_as_they_are_compressed() {
    let dir = TestDir::new();
    let service = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/service.jsonl"));
    dir.write("in/service.jsonl", service.expect("a sample"));
    condenser(dir.root(), &["compress", "in/service.jsonl", "-o", "run", "--compression-threshold", "100000000"]).ok();
    let sweep = |input: &str, bytes: Vec<u8>| -> Value {
        let args = ["sweep", input, "--json", "--sample", "24", "--messages-column", "messages"];
        let args = if input == "-" { &args[..5] } else { &args[..] };
        serde_json::from_slice(&condenser(dir.root(), args).input(bytes).ok().stdout).expect("JSON")
    };
    let lines = sweep("-", dir.read("in/service.jsonl"));
    let table = sweep("run/conversations/part-00000.parquet", Vec::new());
    for key in ["conversations", "drawn"] {
        assert_eq!(lines["sample"][key], table["sample"][key], "{key}");
    }
    let ratio = |document: &Value| value(&document["recommendation"]["figures"], "ratio").expect("a ratio");
    assert!((ratio(&lines) - ratio(&table)).abs() < 0.05, "{} {}", ratio(&lines), ratio(&table));
}

#[test]
fn what_falls_below_the_floor_or_beside_it_is_told_first() {
    let dir = samples();
    for (floor, figures) in [("fact_retention=0.75,forward_recall=0.5", 2), ("forward_recall=0.6", 1)] {
        let args = ["--sample", "60", "--held-back", "0.3", "--floor", floor, "--html", "page.html"];
        let document = sweep(&dir, &args);
        let page = String::from_utf8(dir.read("page.html")).expect("UTF-8");
        let floors = floor.split(',').map(|floor| floor.split_once('=').expect("a floor"));
        let floors: Vec<(&str, f64)> = floors.map(|(name, least)| (name, least.parse().expect("a share"))).collect();
        assert_eq!(floors.len(), figures);
        let held = &document["held_back"]["recommended"];
        let is_below = floors.iter().any(|(name, least)| value(held, name).is_some_and(|value| value < *least));
        assert_eq!(page.contains("that were held back it is below the floor"), is_below, "{floor}");
        let (given, taken) = (&document["sets"][0]["figures"], &document["recommendation"]["figures"]);
        let fell = |name: &str| value(given, name).zip(value(taken, name)).is_some_and(|(was, is)| was - is > 0.02);
        let is_held = |name: &str| floors.iter().any(|(held, _)| *held == name);
        let falls = ["grounding", "fact_retention"].into_iter().any(|name| !is_held(name) && fell(name));
        assert!(!falls || page.contains("What no floor holds falls"), "{floor}");
        assert!(is_below || falls, "this case shows nothing: {floor}");
    }
}
