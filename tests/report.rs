//! Reports of runs: the same numbers on the terminal, as JSON, from sketches and from tables; stores, old runs, hostile
//! transcripts; sketches that are close to the truth and merge in any order.

use std::path::{Path, PathBuf};

use arrow::record_batch::RecordBatch;
use condenser::model::Figure;
use condenser::pipeline::sketch::{Figures, Quantiles, Sketch};
use condenser::pipeline::{Commit, Merge, metrics_schema, open_sealed, seal_packed};
use condenser::report::numbers::{bytes, count, figure, ratio, share, short, words};
use condenser::report::plain::{told_apart, width};
use condenser::report::schema;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::corpora;
use crate::support::dir::{TestDir, files};

const QUANTILES: [(&str, f64); 7] =
    [("p5", 0.05), ("p10", 0.1), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95)];

fn manifest_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder with a run of the sample corpus, of hostile records and of records that are none.
fn sample_run(options: &[&str]) -> TestDir {
    let dir = TestDir::new();
    for (name, bytes) in files(&manifest_dir().join("jobs/sample")) {
        if Path::new(&name).extension().is_some_and(|extension| extension == "jsonl") && !name.contains('/') {
            dir.write(&format!("in/{name}"), bytes);
        }
    }
    dir.write("in/odd.jsonl", hostile() + "broken\n{\"messages\":7}\n");
    let args: Vec<&str> = ["compress", "in", "-o", "run", "-q"].iter().chain(options).copied().collect();
    condenser(dir.root(), &args).exits(3);
    dir
}

/// A conversation whose names and texts would drive a terminal, and which loses much.
fn hostile() -> String {
    let driver = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}<script>alert(1)</script>";
    let prose =
        "The service was restarted at 10:45 on host db-7 because of 3 errors and it must not fail again. ".repeat(40);
    let message = |role: &str, text: &str| json!({"role": role, "name": driver, "content": text});
    let messages = [
        message("user", &format!("{driver} {prose}")),
        message("assistant", &format!("{prose} {driver}")),
        message(driver, &prose),
        message("tool", &format!("{driver} {prose}{prose}")),
        message("user", "thanks"),
        message("assistant", "fine"),
        message("user", "bye"),
        message("assistant", "bye"),
        message("user", "now"),
    ];
    json!({"id": format!("evil {driver}"), "messages": messages}).to_string() + "\n"
}

fn report(root: &Path, args: &[&str]) -> Value {
    let args: Vec<&str> = ["report"].iter().chain(args).chain(&["--json"]).copied().collect();
    serde_json::from_slice(&condenser(root, &args).ok().stdout).expect("JSON")
}

fn shown(root: &Path, args: &[&str]) -> String {
    let args: Vec<&str> = ["report"].iter().chain(args).copied().collect();
    String::from_utf8(condenser(root, &args).ok().stdout).expect("text")
}

/// The same but for the last digits of numbers that were added up in another order.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| alike(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            (a - b).abs() <= 1e-9 * a.abs().max(1.0)
        }
        _ => a == b,
    }
}

/// The cells of the first line that begins with `name`, below the line `heading`.
#[track_caller]
fn cells(text: &str, heading: &str, name: &str) -> Vec<String> {
    let below = text.lines().skip_while(|line| !line.starts_with(heading));
    let line = below.skip(1).find_map(|line| line.strip_prefix(name).filter(|rest| rest.starts_with("  ")));
    let line = line.unwrap_or_else(|| panic!("no row `{name}` below `{heading}`:\n{text}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
}

#[test]
fn terminal_and_json_show_the_same_numbers() {
    let dir = sample_run(&["--trace"]);
    let document = report(dir.root(), &["run", "--price-per-million", "3"]);
    let text = shown(dir.root(), &["run", "--price-per-million", "3", "--all", "--width", "140"]);
    let number = |value: &Value| value.as_f64().expect("a number");
    let whole = |value: &Value| count(value.as_u64().expect("a count"));
    let totals = &document["totals"];
    let card = |name: &str| cells(&text, "Compression report", name);
    assert_eq!(card("Ratio of tokens")[0], ratio(number(&totals["token_ratio"])));
    let tokens = format!("{} → {}", whole(&totals["tokens_in"]), whole(&totals["tokens_out"]));
    assert_eq!(card("Tokens saved")[1], tokens + ", estimated");
    assert_eq!(card("Money saved")[0], condenser::report::numbers::money(number(&document["money"]["saved"])));
    assert_eq!(document["money"]["currency"], "USD");
    assert_eq!(card("Times shorter")[0], ratio(number(&totals["ratio"])));
    assert_eq!(card("Bytes stored")[0], bytes(totals["bytes_written"].as_u64().expect("bytes")));
    assert_eq!(card("Conversations")[0], whole(&totals["conversations"]));
    let mut n_figures = 0;
    for of in document["distributions"].as_array().expect("distributions").iter().filter(|of| of["class"].is_null()) {
        let name = of["figure"].as_str().expect("a name");
        let mut expected = vec![whole(&of["conversations"]), figure(name, number(&of["mean"]))];
        expected.extend(QUANTILES.iter().map(|(key, _)| figure(name, number(&of[*key]))));
        assert_eq!(cells(&text, "Distributions", &words(name))[..9], expected, "{name}");
        n_figures += 1;
    }
    // The next turns are asked where nobody looks ahead, and no report of an error gave way to a summary.
    assert_eq!(n_figures, Figure::ALL.len() - 3);
    let mut named = Vec::new();
    for breakdown in document["breakdowns"].as_array().expect("breakdowns") {
        let by = breakdown["by"].as_str().expect("a name");
        named.push(by);
        let rows = breakdown["rows"].as_array().expect("rows");
        let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().expect("told apart")).collect();
        let names = if by == "source" { told_apart(&names) } else { names };
        for (row, name) in rows.iter().zip(names).take(20) {
            let name = condenser::report::plain::cut(name, 60);
            let expected = [
                whole(&row["conversations"]),
                whole(&row["messages"]),
                short(row["chars_in"].as_u64().expect("a count")),
                short(row["chars_out"].as_u64().expect("a count")),
                ratio(number(&row["ratio"])),
            ];
            let prefix: String = name.chars().take(20).collect();
            let found = text
                .lines()
                .skip_while(|line| *line != format!("By {by}") && !line.starts_with(&format!("By {by}  ")))
                .find(|line| line.starts_with(&prefix))
                .unwrap_or_else(|| panic!("no {by} {name}:\n{text}"));
            let found: Vec<&str> = found.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            assert!(expected.iter().all(|cell| found.contains(&cell.as_str())), "{by} {name}: {expected:?} {found:?}");
        }
    }
    assert_eq!(named, ["class", "language", "role", "tool", "action", "reason", "source"]);
    let worst = &document["worst_losses"][0];
    let id = worst["conversation_id"].as_str().expect("an id");
    let cells = cells(&text, "Worst losses", &condenser::report::plain::cut(id, 60));
    assert_eq!(cells[..2], [whole(&worst["used_hidden"]), share(number(&worst["loss"]))]);
}

#[test]
fn the_first_screen_says_all_in_a_sentence_and_goes_into_a_mail() {
    let dir = sample_run(&[]);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let args = ["run", "--title", "Logs of *May*", "--price-per-million", "2", "--currency", "EUR"];
    let document = report(dir.root(), &args);
    let totals = &document["totals"];
    let made = document["made"].as_str().expect("a day");
    assert!(made.len() == 10 && document["title"] == "Logs of *May*", "{made}");
    let text = shown(dir.root(), &args);
    assert!(text.starts_with("Logs of *May*\nrun\n") && text.contains(made), "{text}");
    let conversations = totals["conversations"].as_u64().expect("a count");
    let money = condenser::report::numbers::money(document["money"]["saved"].as_f64().expect("a number"));
    let chars = ["chars_out", "chars_in"].map(|name| short(totals[name].as_u64().expect("a count")));
    for says in [
        format!("{conversations} conversations from 9 files show {} of {} characters", chars[0], chars[1]),
        format!("{money} EUR at 2.00 EUR per million (as given, {made})"),
        "that saves about ".to_owned(),
        "Nothing is lost. Every original comes back byte for byte".to_owned(),
        "condenser get run ID".to_owned(),
    ] {
        assert!(flat(&text).contains(&says), "no `{says}` in\n{text}");
    }
    // What did not change, and why: a conversation once.
    let unchanged = document["unchanged"].as_array().expect("rows");
    let counts: Vec<u64> = unchanged.iter().map(|row| row["conversations"].as_u64().expect("a count")).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] > 0, "{counts:?}");
    let n: u64 = counts.iter().sum();
    assert!(unchanged.iter().all(|row| row["chars_in"] == row["chars_out"]), "{unchanged:?}");
    assert!(flat(&text).contains(&format!("{n} of {conversations} conversations")), "{text}");
    let lines = ["compress", "in", "-o", "lines", "-q", "--format", "jsonl", "--compression", "none"];
    condenser(dir.root(), &lines).exits(3);
    let text = |folder: &str| -> String {
        files(&dir.path(folder)).into_values().map(|file| String::from_utf8(file).expect("UTF-8")).collect()
    };
    let (rows, inputs) = (text("lines/conversations"), text("in"));
    let n_same = rows.lines().filter(|row| inputs.contains(row)).count();
    assert!(n_same as u64 >= n, "{n_same} records are written as they were read, {n} are said to be unchanged");
    // Kinds of text add up to all of it.
    for (name, of) in [("chars_in", "chars_in"), ("chars_out", "chars_out")] {
        let kinds = document["kinds"].as_array().expect("kinds").iter();
        assert_eq!(
            kinds.map(|kind| kind[name].as_u64().expect("a count")).sum::<u64>(),
            totals[of].as_u64().expect("a count")
        );
    }
    let mail = shown(dir.root(), &[&args[..], &["--markdown", "-"]].concat());
    assert!(mail.starts_with("# Logs of \\*May\\*\n"), "{mail}");
    assert!(mail.contains("\n| Times shorter | **") && mail.contains("### Worst losses"), "{mail}");
    assert!(!mail.contains("<script") && !mail.contains('\u{1b}'), "{mail}");
    assert!(mail.lines().count() < 150, "a mail is short: {} lines", mail.lines().count());
    // Every table is a file of its own.
    condenser(dir.root(), &["report", "run", "--csv", "tables", "-q"]).ends();
    condenser(dir.root(), &["report", "run", "--csv", "tables"]).ok();
    let tables = files(&dir.path("tables"));
    let classes = String::from_utf8(tables["what-falls-to-each-class.csv"].clone()).expect("UTF-8");
    let sum: u64 = classes
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).expect("a cell").parse::<u64>().expect("a count"))
        .sum();
    assert_eq!(sum, conversations, "{classes}");
    assert!(tables.len() > 10, "{:?}", tables.keys());
    condenser(dir.root(), &["report", "run", "--markdown", "-", "--html", "-"]).exits(2);
    condenser(dir.root(), &["report", "run", "--currency", "EUR"]).exits(2);
}

#[test]
fn documents_follow_their_published_schema() {
    let schema: Value = serde_json::from_str(schema("report").expect("it is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let dir = sample_run(&["--trace"]);
    let calibration = json!({
        "engine_version": "0.1.0",
        "sources": ["in.jsonl"],
        "conversations": 7,
        "changed": 7,
        "damage": [{
            "kind": "numbers_changed", "says": "digits flipped", "conversations": 7,
            "metrics": {"fact_retention": {"measured": 7, "rate": 0.9, "mean_fall": 0.1}}
        }],
        "harmless": []
    });
    dir.write("calibration.json", calibration.to_string());
    let everything = ["run", "--price-per-million", "3", "--calibration", "calibration.json"];
    let full = report(dir.root(), &everything);
    assert!(
        full["calibration"]["damage"][0]["metrics"]["fact_retention"]["rate"] == 0.9
            && full["money"]["saved"].as_f64() > Some(0.0)
    );
    assert!(shown(dir.root(), &everything).contains("Calibration"));
    let compat = manifest_dir().join("tests/data/compat/1");
    for document in [full, report(&compat, &["parquet"]), report(&compat, &["jsonl"])] {
        let wrong: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    assert!(!validator.is_valid(&json!({ "report_version": 1 })));
    condenser(dir.root(), &["report", "run", "--calibration", "nowhere.json"]).exits(2);
    dir.write("odd.json", "[]");
    condenser(dir.root(), &["report", "run", "--calibration", "odd.json"]).exits(2);
}

/// What a report of the tables lacks, and what says where it comes from.
fn without_contents(mut document: Value) -> Value {
    document["repeated"] = Value::Null;
    document["breakdowns"].as_array_mut().expect("breakdowns").retain(|breakdown| breakdown["by"] != "tool");
    for run in document["runs"].as_array_mut().expect("runs") {
        run["from_sketches"] = Value::Null;
    }
    document
}

#[test]
fn sketches_tell_what_the_tables_tell() {
    for format in ["parquet", "jsonl", "arrow"] {
        let dir = sample_run(&["--trace", "--format", format]);
        let (sketched, read) = (report(dir.root(), &["run"]), report(dir.root(), &["run", "--exact"]));
        assert_eq!(
            (&sketched["runs"][0]["from_sketches"], &read["runs"][0]["from_sketches"]),
            (&json!(true), &json!(false))
        );
        assert!(!sketched["repeated"].is_null() && read["repeated"].is_null());
        let (sketched, read) = (without_contents(sketched), without_contents(read));
        assert!(alike(&sketched, &read), "{format}\n{sketched:#}\n{read:#}");
        assert_eq!(sketched["rejects"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn commits_with_sketches_are_the_same_on_any_number_of_threads() {
    // As one part, and as many.
    for (split, n_parts) in [("256MiB", 1), ("8KiB", 6)] {
        let run = |more: &[&str]| sample_run(&[&["--split-size", split], more].concat());
        let (one, two) = (run(&["--threads", "1"]), run(&["--threads", "2", "--memory", "3MiB"]));
        let (one, two) = (files(&one.path("run/commits")), files(&two.path("run/commits")));
        assert!(one.len() >= n_parts && one == two, "{split}: {} parts", one.len());
    }
}

#[test]
fn a_report_reads_no_table_and_every_byte_of_a_commit_counts() {
    let dir = sample_run(&[]);
    let before = report(dir.root(), &["run"]);
    std::fs::remove_dir_all(dir.path("run/metrics")).expect("it was there");
    assert_eq!(report(dir.root(), &["run"]), before);
    let told = condenser(dir.root(), &["report", "run", "--exact"]).exits(4).stderr;
    assert!(told.contains("metrics"), "{told}");
    for path in ["run/commits/part-00000.json.zst", "run/plan.json.zst"] {
        let good = dir.read(path);
        let mut bad = good.clone();
        let at = bad.len() / 2;
        bad[at] ^= 1;
        dir.write(path, bad);
        condenser(dir.root(), &["report", "run"]).exits(4);
        dir.write(path, good);
    }
}

#[test]
fn runs_of_old_formats_are_read_from_their_tables() {
    let compat = manifest_dir().join("tests/data/compat/1");
    for run in ["parquet", "jsonl"] {
        let document = report(&compat, &[run]);
        let manifest: Value =
            serde_json::from_slice(&std::fs::read(compat.join(run).join("manifest.json")).expect("a manifest"))
                .expect("JSON");
        for key in [
            "conversations",
            "rejects",
            "messages_in",
            "messages_out",
            "chars_in",
            "chars_out",
            "tokens_in",
            "tokens_out",
        ] {
            assert_eq!(document["totals"][key], manifest["totals"][key], "{run} {key}");
        }
        assert_eq!(document["runs"][0]["from_sketches"], json!(false));
        assert!(document["distributions"].as_array().expect("some").len() > 5);
    }
}

#[test]
fn a_store_is_all_its_nights_together() {
    let dir = TestDir::new();
    dir.write("job.toml", "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\n");
    for seed in 1..4 {
        dir.write(&format!("logs/{seed}.jsonl"), jsonl(10, seed));
        condenser(dir.root(), &["run", "job.toml", "-q"].map(|arg| if arg == "-q" { "--set=quiet=true" } else { arg }))
            .ok();
    }
    let mut all = report(dir.root(), &["store"]);
    let came_to = all.as_object_mut().and_then(|all| all.remove("nights")).expect("what the nights came to");
    assert_eq!(came_to.as_array().map(Vec::len), Some(3));
    assert_eq!((all["runs"].as_array().map(Vec::len), &all["totals"]["conversations"]), (Some(3), &json!(30)));
    let nights = ["store/runs/00001", "store/runs/00002", "store/runs/00003"];
    let together = report(dir.root(), &[nights[0], nights[1], nights[2], "--together"]);
    assert!(alike(&all, &together));
    let sum: u64 = nights.iter().filter_map(|night| report(dir.root(), &[night])["totals"]["chars_out"].as_u64()).sum();
    assert_eq!(all["totals"]["chars_out"], json!(sum));
    let text = shown(dir.root(), &["store"]);
    assert!(text.contains("store/runs/00003"), "{text}");
    let told = condenser(dir.root(), &["report", "logs"]).exits(2).stderr;
    assert!(told.contains("there is no run here"), "{told}");
}

#[test]
fn nothing_of_a_transcript_drives_the_terminal_and_lines_fit() {
    let dir = sample_run(&[]);
    let odd = report(dir.root(), &["run"]);
    assert!(odd.to_string().contains("<script>") && odd.to_string().contains("owned"), "it is there as data");
    for columns in ["64", "80", "130"] {
        for all in [&["run", "--width", columns][..], &["run", "--all", "--width", columns]] {
            let text = shown(dir.root(), all);
            assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text:?}");
            let limit: usize = columns.parse().expect("a number");
            let long = text.lines().find(|line| width(line) > limit && !line.contains("condenser show"));
            assert_eq!(long, None, "{columns}\n{text}");
        }
    }
    let raw = condenser(dir.root(), &["report", "run", "--json"]).ok().stdout;
    assert!(raw.iter().all(|byte| *byte == b'\n' || *byte >= b' '));
    // The command below the losses is one that works.
    let text = shown(dir.root(), &["run"]);
    let command = text.lines().find_map(|line| line.split_once("look at the first: condenser ")).expect("a command").1;
    let words: Vec<String> = command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    condenser(dir.root(), &words.iter().map(String::as_str).collect::<Vec<_>>()).ok();
}

#[test]
fn colours_are_only_paint() {
    let dir = sample_run(&[]);
    let coloured = |name: &str, value: &str| {
        let told = condenser(dir.root(), &["report", "run"]).environment([(name.to_owned(), value.to_owned())]).ok();
        told.stdout.contains(&0x1b)
    };
    // A pipe is no terminal, whatever the environment says.
    assert!(!coloured("CLICOLOR_FORCE", "1") && !coloured("TERM", "xterm-256color"));
}

#[test]
fn a_commit_that_was_read_has_the_same_bytes_again() {
    let dir = sample_run(&[]);
    for (name, bytes) in files(&dir.path("run/commits")) {
        let commit: Commit = open_sealed(&bytes, &name).expect("a commit");
        assert!(seal_packed(&commit).expect("JSON") == bytes, "{name}");
    }
}

/// The exact answer.
fn sorted_quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = ((sorted.len() as f64 * q).ceil() as usize).clamp(1, sorted.len());
    sorted[rank - 1]
}

#[track_caller]
fn close(name: &str, sketch: &Quantiles, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    assert_eq!(sketch.count(), values.len() as u64, "{name}");
    for (_, q) in QUANTILES {
        let (found, exact) = (sketch.quantile(q).expect("some"), sorted_quantile(&values, q));
        // What is smaller than a tenth of a thousandth is nothing.
        let is_nothing = found == 0.0 && exact < 1e-4;
        assert!(is_nothing || (found - exact).abs() <= 0.01 * exact, "{name} {q}: {found} is not {exact}");
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    assert!((sketch.mean().expect("some") - mean).abs() <= 1e-9 * mean.max(1.0), "{name}");
}

#[test]
fn percentiles_of_all_corpora_are_within_one_percent() {
    let found = corpora::files();
    let dir = TestDir::new();
    let mut n_compared = 0;
    // Small ones would share a part.
    for (at, path) in found.iter().enumerate() {
        let job = "kind = \"report\"\nformat = \"jsonl\"\nquiet = true\n";
        dir.write("job.toml", format!("{job}inputs = [{path:?}]\noutput = \"run-{at}\"\n"));
        condenser(dir.root(), &["run", "job.toml"]).ok();
        let name = format!("run-{at}/commits/part-00000.json.zst");
        let commit: Commit = open_sealed(&dir.read(&name), &name).expect("a commit");
        let rows = dir.path(&format!("run-{at}/metrics/part-00000.jsonl.zst"));
        let rows = zstd::decode_all(std::fs::File::open(rows).expect("a table")).expect("whole");
        let rows: Vec<Value> =
            serde_json::Deserializer::from_slice(&rows).into_iter().collect::<Result<_, _>>().expect("rows");
        let total = commit.sketch.expect("a sketch").figures.total();
        assert_eq!(total.conversations, rows.len() as u64);
        for figure in Figure::ALL.map(Figure::as_str) {
            let of = |row: &Value| match figure {
                "ratio" => Some(row["chars_in"].as_f64()? / row["chars_out"].as_f64()?),
                "token_ratio" => Some(row["tokens_in"].as_f64()? / row["tokens_out"].as_f64()?),
                _ => row[figure].as_f64(),
            };
            let values: Vec<f64> = rows.iter().filter_map(of).collect();
            match total.figures.get(figure) {
                Some(sketch) => close(&format!("{} {figure}", commit.source), sketch, values),
                None => assert!(values.is_empty(), "{} {figure}", commit.source),
            }
            n_compared += 1;
        }
    }
    assert_eq!(n_compared, found.len() * Figure::ALL.len());
}

/// Rows of the metrics table with these figures.
fn rows(made: &[Made]) -> RecordBatch {
    let schema = metrics_schema();
    let values: Vec<Value> = made
        .iter()
        .enumerate()
        .map(|(at, made)| {
            let mut row = serde_json::Map::new();
            for field in schema.fields().iter().filter(|field| !field.is_nullable()) {
                row.insert(field.name().clone(), if field.data_type().is_numeric() { json!(1) } else { json!("x") });
            }
            row.insert("conversation_id".to_owned(), json!(format!("id {at} {}", made.chars)));
            row.insert("source_row".to_owned(), json!(made.row));
            row.insert("class".to_owned(), json!(["chat", "code", "tool-heavy"][made.class]));
            row.insert("language".to_owned(), if made.class == 0 { Value::Null } else { json!("de") });
            row.insert("checksum".to_owned(), json!(format!("{}", made.chars % 50)));
            row.insert("chars_in".to_owned(), json!(made.chars));
            row.insert("chars_out".to_owned(), json!(made.chars_out));
            for (name, value) in [("quality_score", made.quality), ("fact_retention", made.facts)] {
                row.insert(name.to_owned(), json!(value));
            }
            Value::Object(row)
        })
        .collect();
    let mut decoder = arrow::json::ReaderBuilder::new(schema).build_decoder().expect("a schema");
    decoder.serialize(&values).expect("rows");
    decoder.flush().expect("rows").expect("some")
}

#[derive(Debug, Clone)]
struct Made {
    row: u64,
    class: usize,
    chars: u64,
    chars_out: u64,
    quality: Option<f64>,
    facts: Option<f64>,
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let share = || proptest::option::of(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64]);
    let one = (0..3_usize, 1..100_000_u64, prop_oneof![Just(1.0), 0.5..400.0_f64], share(), share());
    proptest::collection::vec(one, 1..120).prop_map(|all| {
        let made = all.into_iter().enumerate().map(|(row, (class, chars, ratio, quality, facts))| Made {
            row: row as u64,
            class,
            chars,
            chars_out: (chars as f64 / ratio).ceil() as u64,
            quality,
            facts,
        });
        made.collect()
    })
}

/// A sketch as JSON, without the estimate of distinct conversations, whose registers know the order.
fn told(figures: &Figures) -> (Value, u64) {
    let mut value = serde_json::to_value(figures).expect("JSON");
    value["distinct"] = Value::Null;
    (value, figures.distinct.estimate())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn merged_sketches_equal_that_of_the_whole_in_any_order(made in made(), cut in 1..40_usize, turn in 0..40_usize) {
        let batch = rows(&made);
        let mut whole = Figures::default();
        whole.add_rows(&batch).expect("the columns are there");
        for (name, sketch) in &whole.total().figures {
            let pick = |made: &Made| match name.as_str() {
                "ratio" => Some(made.chars as f64 / made.chars_out as f64),
                "quality_score" => made.quality,
                "fact_retention" => made.facts,
                _ => None,
            };
            let values: Vec<f64> = made.iter().filter_map(pick).collect();
            if !values.is_empty() {
                close(name, sketch, values);
            }
        }
        let mut parts: Vec<Sketch> = (0..made.len())
            .step_by(cut)
            .map(|start| {
                let mut sketch = Sketch::default();
                let piece = batch.slice(start, cut.min(made.len() - start));
                sketch.figures.add_rows(&piece).expect("the columns are there");
                sketch.trim();
                // As a commit carries it.
                serde_json::from_str(&serde_json::to_string(&sketch).expect("JSON")).expect("the same")
            })
            .collect();
        let n_parts = parts.len();
        parts.rotate_left(turn % n_parts);
        parts.reverse();
        let mut merged = Sketch::default();
        for part in &parts {
            merged.absorb(part);
        }
        let ((merged, n_merged), (whole, n_whole)) = (told(&merged.figures), told(&whole));
        prop_assert!(alike(&merged, &whole), "{merged:#}\n{whole:#}");
        prop_assert!(n_merged.abs_diff(n_whole) <= 2);
    }
}

#[test]
fn a_report_claims_only_what_its_runs_hold() {
    let dir = sample_run(&[]);
    dir.write("job.toml", "kind = \"report\"\ninputs = [\"in\"]\noutput = \"measured\"\nquiet = true\n");
    condenser(dir.root(), &["run", "job.toml"]).exits(3);
    let page = |run: &str| {
        String::from_utf8(condenser(dir.root(), &["report", run, "--html", "-"]).ok().stdout).expect("text")
    };
    let claims = ["Nothing is lost", "originals included", "leads to its text"];
    for claim in claims {
        assert!(page("run").contains(claim) && !page("measured").contains(claim), "{claim}");
    }
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(shown(dir.root(), &["run"])).contains("originals included; input"));
    assert!(flat(shown(dir.root(), &["measured"])).contains("the run only measured and holds no texts"));
    let lacks = "tools and repeated texts stand in none";
    assert!(flat(shown(dir.root(), &["run", "--exact"])).contains(lacks));
    assert!(!flat(shown(dir.root(), &["run"])).contains(lacks));
}

#[test]
fn what_damage_and_rejects_took_is_told_first() {
    let dir = TestDir::new();
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    dir.write("whole.jsonl", jsonl(60, 3));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, jsonl(60, 3).as_bytes()).expect("memory takes all");
    let stored = gzip.finish().expect("memory takes all");
    dir.write("torn.jsonl.gz", &stored[..stored.len() / 2]);
    dir.write("broken.jsonl", "not json\n{\"a\":1}\n");
    for (input, run, code) in [("whole.jsonl", "whole", 0), ("torn.jsonl.gz", "torn", 3), ("broken.jsonl", "broken", 3)]
    {
        condenser(dir.root(), &["compress", input, "-o", run, "-q"]).exits(code);
    }
    let torn = flat(shown(dir.root(), &["torn"]));
    let says = "Inputs were damaged: 1 compressed stream could not be read to the end (the first: torn.jsonl.gz";
    assert!(torn.contains(says) && torn.contains("All that could be read comes back byte for byte:"), "{torn}");
    assert!(!torn.contains("Nothing is lost"), "{torn}");
    let broken = flat(shown(dir.root(), &["broken"]));
    assert!(broken.contains("No conversation was read from 1 file. 2 records, 100.0 %, were rejected."), "{broken}");
    assert!(!broken.contains("condenser get"), "{broken}");
    let drift = flat(shown(dir.root(), &["whole", "torn"]));
    assert!(drift.contains(" were rejected, before 0.0 %."), "{drift}");
    let whole = flat(shown(dir.root(), &["whole"]));
    assert!(whole.contains("Nothing is lost. Every original comes back byte for byte:"), "{whole}");
    assert!(!whole.contains("rejected"), "{whole}");
}
