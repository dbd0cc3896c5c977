//! Two runs compared: what is the same, what changed, which thresholds end with exit code 5, by the command and by jobs.

use std::path::Path;

use condenser::report::numbers::share;
use condenser::report::{plain, schema};
use serde_json::{Value, json};

use crate::support::chats::jsonl;
use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};

/// A folder with a run of the sample corpus in each of two ways.
fn two_runs() -> TestDir {
    let dir = TestDir::new();
    for (name, bytes) in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample")) {
        if Path::new(&name).extension().is_some_and(|extension| extension == "jsonl") && !name.contains('/') {
            dir.write(&format!("in/{name}"), bytes);
        }
    }
    condenser(dir.root(), &["compress", "in", "-o", "a", "-q"]).ok();
    let tighter =
        ["--recency-window", "0", "--token-budget", "200", "--compression-depth", "aggressive", "--force-converge"];
    let args: Vec<&str> = ["compress", "in", "-o", "b", "-q"].into_iter().chain(tighter).collect();
    condenser(dir.root(), &args).ok();
    dir
}

fn compared(root: &Path, args: &[&str], code: i32) -> (Value, Told) {
    let args: Vec<&str> = ["report"].iter().chain(args).chain(&["--json"]).copied().collect();
    let told = condenser(root, &args).exits(code);
    (serde_json::from_slice(&told.stdout).expect("JSON"), told)
}

fn rows(dir: &TestDir, run: &str) -> Vec<Value> {
    condenser(dir.root(), &["compress", "in", "-o", &format!("{run}-lines"), "-q", "--format", "jsonl"]).ok();
    let mut rows = Vec::new();
    for bytes in files(&dir.path(&format!("{run}-lines/metrics"))).into_values() {
        let bytes = zstd::decode_all(&*bytes).expect("whole");
        rows.extend(serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>().map(|row| row.expect("a row")));
    }
    rows
}

#[test]
fn a_run_has_not_drifted_from_itself() {
    let dir = two_runs();
    let strict = ["--max-psi", "0", "--max-ks", "0", "--new-reasons=false", "--new-rejects=false"];
    let args: Vec<&str> = ["a", "a"].iter().chain(&strict).copied().collect();
    let (document, _) = compared(dir.root(), &args, 0);
    for drift in document["figures"].as_array().expect("figures") {
        assert!(
            drift["psi"]["value"].as_f64() == Some(0.0) && drift["ks"]["statistic"].as_f64() == Some(0.0),
            "{drift}"
        );
        assert_eq!(drift["before"], drift["after"]);
    }
    assert_eq!(
        (&document["novelties"], &document["notes"], &document["breaches"]),
        (&json!([]), &json!([]), &json!([]))
    );
    let changes = &document["changes"];
    assert_eq!(changes["in_both"], document["after"]["totals"]["conversations"]);
    assert_eq!((&changes["same_record"], &changes["by_ratio"]), (&changes["in_both"], &json!([])));
}

#[test]
fn other_options_are_seen_and_documents_follow_their_schema() {
    let dir = two_runs();
    let (document, _) = compared(dir.root(), &["a", "b"], 0);
    let schema: Value = serde_json::from_str(schema("drift").expect("it is there")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let of = |name: &str| {
        let all = document["figures"].as_array().expect("figures");
        all.iter().find(|drift| drift["class"].is_null() && drift["figure"] == name).expect(name).clone()
    };
    let ratio = of("ratio");
    assert!(ratio["psi"]["value"].as_f64() > ratio["psi"]["by_chance"].as_f64(), "{ratio}");
    assert!(ratio["ks"]["statistic"].as_f64() > ratio["ks"]["critical"].as_f64());
    assert!(ratio["ks"]["p_value"].as_f64() < Some(0.05));
    assert!(ratio["after"]["mean"].as_f64() > ratio["before"]["mean"].as_f64());
    let bars = |side: &str| -> u64 {
        ratio["bars"].as_array().expect("bars").iter().filter_map(|bar| bar[side].as_u64()).sum()
    };
    assert_eq!(
        (Some(bars("before")), Some(bars("after"))),
        (ratio["before"]["conversations"].as_u64(), ratio["after"]["conversations"].as_u64())
    );
    // The rules that are new are named, and nothing else of them.
    let new: Vec<&str> = document["novelties"]
        .as_array()
        .expect("novelties")
        .iter()
        .filter(|novelty| novelty["is_new"] == true && novelty["by"] == "reason")
        .filter_map(|novelty| novelty["name"].as_str())
        .collect();
    assert_eq!(new, ["force_converge", "budget_tightened"]);
    assert!(document["notes"].to_string().contains("different options"));
    // The conversation that changed most, against the tables.
    let before = rows(&dir, "a");
    let first = &document["changes"]["by_ratio"][0];
    let own = before.iter().find(|row| {
        row["conversation_id"] == first["conversation_id"]
            && row["source"] == first["source"]
            && row["source_row"] == first["source_row"]
    });
    let own = own.expect("it was there");
    let [chars_in, chars_out] = ["chars_in", "chars_out"].map(|name| own[name].as_f64().expect("a count"));
    assert_eq!(first["ratio_before"], json!(chars_in / chars_out));
    let sizes: Vec<f64> = document["changes"]["by_ratio"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|change| {
            let of = |key: &str| change[key].as_f64().expect("a ratio");
            (of("ratio_after") / of("ratio_before")).ln().abs()
        })
        .collect();
    assert!(sizes.len() > 5 && sizes.len() <= 20 && sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");

    // The same numbers on the terminal.
    let text =
        String::from_utf8(condenser(dir.root(), &["report", "a", "b", "--width", "120"]).ok().stdout).expect("text");
    let mut lines = text.lines().skip_while(|line| !line.starts_with("quality score  "));
    let (upper, lower) = (lines.next().expect("before"), lines.next().expect("after"));
    let quality = of("quality_score");
    for (line, side) in [(upper, "before"), (lower, "after")] {
        for key in ["mean", "p5", "p50", "p95"] {
            let cell = share(quality[side][key].as_f64().expect("a figure"));
            assert!(line.contains(&cell), "{side} {key} {cell}: {line}");
        }
    }
    assert!(lower.contains(&share(quality["psi"]["value"].as_f64().expect("an index"))), "{lower}");
    assert!(lower.contains(&share(quality["ks"]["statistic"].as_f64().expect("a distance"))), "{lower}");
    for columns in ["80", "64"] {
        let text = condenser(dir.root(), &["report", "a", "b", "--all", "--width", columns]).ok().stdout;
        let text = String::from_utf8(text).expect("text");
        let limit = columns.parse().expect("a number");
        assert_eq!(text.lines().find(|line| plain::width(line) > limit), None, "{text}");
    }
}

#[test]
fn thresholds_end_with_their_exit_code_and_say_why() {
    let dir = two_runs();
    dir.write("empty.jsonl", "");
    condenser(dir.root(), &["compress", "empty.jsonl", "-o", "nobody", "--quiet"]).exits(3);
    for (args, code, says) in [
        (&["a", "b", "--max-psi", "0.1"][..], 5, "over max_psi: the stability index of ratio is"),
        (&["a", "b", "--max-psi", "100"], 0, ""),
        (&["b", "--against", "a", "--max-ks", "0.05"], 5, "over max_ks: the Kolmogorov–Smirnov distance of ratio is"),
        (&["a", "b", "--max-ks", "1"], 0, ""),
        (
            &["a", "b", "--new-reasons=false"],
            5,
            "messages are decided for `force_converge`, which was not there before",
        ),
        (&["b", "--floor", "quality_score=0.9999"], 5, "over floors: the mean quality score is"),
        (&["b", "--floor", "quality_score=0.1"], 0, ""),
        (&["b", "--floor", "quality_score=0.1", "--floor", "ratio=1000"], 5, "over floors: the mean ratio is"),
        (&["b", "--max-reject-rate", "0"], 0, ""),
        (&["b", "--floor", "qualty=0.9"], 2, "report.floors.qualty: there is no such figure; there are ratio"),
        (&["b", "--floor", "quality=0.9999"], 5, "over floors: the mean quality score is"),
        (&["b", "--floor", "quality=1.5"], 2, "report.floors.quality: expected a number from 0 to 1"),
        (&["a", "nobody", "--max-psi", "0.2"], 5, "there is no conversation any more"),
        (&["b", "--floor", "quality_score"], 2, "expected a figure and the least mean"),
        (&["a", "b", "--max-ks", "2"], 2, "report.max_ks: expected a number from 0 to 1"),
        (&["b", "--max-psi", "0.1"], 2, "--max-psi: this compares a run with another; name two runs"),
        (&["b", "a", "--together", "--max-psi", "0.1"], 2, "--max-psi"),
        (&["a", "nowhere"], 2, "there is no run here"),
    ] {
        let args: Vec<&str> = ["report"].iter().chain(args).copied().collect();
        let told = condenser(dir.root(), &args).exits(code);
        assert!(told.stderr.contains(says), "{args:?}\n{}", told.stderr);
        assert!(code != 0 || told.stderr.is_empty(), "{args:?}\n{}", told.stderr);
    }
    // A floor that holds nothing is told, on one side and on two.
    for args in [&["report", "b"][..], &["report", "a", "b"]] {
        let told = condenser(dir.root(), &[args, &["--floor", "next_turn_recall=0.9"]].concat()).ok();
        let says = "no conversation has the figure next_turn_recall, so its floor holds nothing";
        assert!(told.stderr.contains(says), "{}", told.stderr);
        let text = String::from_utf8(told.stdout).expect("UTF-8");
        assert!(args.len() == 2 || text.contains("Moved: the mean ") && text.contains("All together are "), "{text}");
    }
    let (document, told) = compared(dir.root(), &["a", "b", "--max-psi", "0.1"], 5);
    let breaches = document["breaches"].as_array().expect("breaches");
    assert_eq!(told.stderr.lines().filter(|line| line.starts_with("over ")).count(), breaches.len());
    assert!(breaches.iter().any(|breach| breach["threshold"] == "max_psi" && breach["name"] == "ratio"));
    // Records that are rejected.
    dir.write("odd.jsonl", "broken\n".to_owned() + &jsonl(9, 3));
    condenser(dir.root(), &["compress", "odd.jsonl", "-o", "odd", "-q"]).exits(3);
    let told = condenser(dir.root(), &["report", "odd", "--max-reject-rate", "0.05"]).exits(5);
    assert!(told.stderr.contains("over max_reject_rate: 10.0 % of the records are rejected"), "{}", told.stderr);
    let told = condenser(dir.root(), &["report", "a", "odd", "--new-rejects=false"]).exits(5);
    assert!(told.stderr.contains("1 record is rejected for `invalid_json`"), "{}", told.stderr);
}

#[test]
fn the_last_of_several_runs_is_held_against_all_before_it() {
    let dir = two_runs();
    let (document, _) = compared(dir.root(), &["a", "a", "b"], 0);
    assert_eq!(document["before"]["runs"].as_array().map(Vec::len), Some(2));
    let (single, _) = compared(dir.root(), &["a", "b"], 0);
    assert_eq!(document["after"], single["after"]);
    let count = |document: &Value| document["before"]["totals"]["conversations"].as_u64();
    assert_eq!(count(&document), count(&single).map(|n| 2 * n));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let dir = two_runs();
    dir.write("other.jsonl", jsonl(12, 5));
    condenser(dir.root(), &["compress", "other.jsonl", "-o", "other", "-q"]).ok();
    let (document, _) = compared(dir.root(), &["a", "other"], 0);
    assert_eq!(document["changes"]["in_both"], 0);
    assert!(document["notes"].to_string().contains("no conversation has an id that was there before"));
    // Without its tables a run is compared by its sketches.
    std::fs::remove_dir_all(dir.path("b/metrics")).expect("it was there");
    let (document, _) = compared(dir.root(), &["a", "b"], 0);
    assert!(document["changes"].is_null() && document["notes"].to_string().contains("conversations are not compared"));
    // A run of an old format has neither sketches nor classes of today.
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/compat/1/jsonl");
    let (document, _) = compared(dir.root(), &[&old.to_string_lossy(), "a"], 0);
    assert!(document["notes"].to_string().contains("neither sketches nor decisions"), "{}", document["notes"]);
}

#[test]
fn jobs_hold_their_runs_to_thresholds_and_keep_them() {
    let dir = two_runs();
    let job = |kind: &str, output: &str, report: &str| {
        let text = format!(
            "kind = \"{kind}\"\ninputs = [\"in\"]\noutput = \"{output}\"\nquiet = true\n[engine]\nrecency_window = 0\ntoken_budget = 200\ncompression_depth = \"aggressive\"\nforce_converge = true\n[report]\n{report}\n"
        );
        dir.write("job.toml", text);
    };
    for kind in ["compress", "dataset", "report"] {
        let output = format!("drifted-{kind}");
        job(kind, &output, "against = \"a\"\nmax_psi = 0.1\nfloors = { ratio = 1.1 }");
        let told = condenser(dir.root(), &["run", "job.toml"]).exits(5);
        assert!(told.stderr.contains("over max_psi: the stability index of ratio"), "{kind}: {}", told.stderr);
        assert!(!told.stderr.contains("over floors"), "{}", told.stderr);
        assert_eq!(told.stdout.is_empty(), kind != "report");
        condenser(dir.root(), &["verify", &output, "-q"]).ok();
    }
    job("compress", "calm", "against = \"a\"\nmax_psi = 100.0");
    assert!(condenser(dir.root(), &["run", "job.toml"]).ok().stderr.is_empty());
    job("compress", "low", "floors = { quality_score = 0.9999 }");
    condenser(dir.root(), &["run", "job.toml"]).exits(5);
    for (report, says) in [
        ("max_psi = 0.1", "report.max_psi: this compares the run with another; name it with against"),
        ("against = \"a\"", "report.against: this does nothing without a threshold"),
        ("floors = { qualty = 0.9 }", "report.floors.qualty: there is no such figure"),
        ("max_reject_rate = 7.0", "report.max_reject_rate: expected a number from 0 to 1"),
        ("max_psy = 0.1", "did you mean `max_psi`?"),
    ] {
        job("compress", "never", report);
        let told = condenser(dir.root(), &["run", "job.toml"]).exits(2);
        assert!(told.stderr.contains(says), "{report}: {}", told.stderr);
        assert!(!dir.path("never").exists());
    }
    // A dry run prints a job that says the same.
    job("compress", "dry", "against = \"a\"\nmax_ks = 0.5\nfloors = { ratio = 1.1 }\nnew_rejects = false");
    let told = condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok();
    dir.write("again.toml", &told.stdout);
    let again = condenser(dir.root(), &["run", "again.toml", "--dry-run"]).ok();
    let table = |told: &Told| -> toml::Table {
        let table: toml::Table = String::from_utf8_lossy(&told.stdout).parse().expect("TOML");
        table["report"].as_table().expect("a table").clone()
    };
    assert_eq!(table(&told), table(&again));
    assert_eq!(table(&told)["floors"]["ratio"].as_float(), Some(1.1));
}

#[test]
fn nights_are_held_against_the_night_before_or_all_of_them() {
    let dir = TestDir::new();
    let chat = |night: usize, n: usize, long: bool| -> String {
        let text = if long {
            "The deployment of version 1.2.3 failed on host db-7 at 10:45 and nobody knows why it did so again. "
                .repeat(20)
        } else {
            "Fine.".to_owned()
        };
        let message = |role: &str, at: usize| json!({"role": role, "content": format!("{at} {text}")});
        let messages: Vec<Value> = (0..9).map(|at| message(["user", "assistant"][at % 2], at + n)).collect();
        json!({"id": format!("{night}/{n}"), "messages": messages}).to_string() + "\n"
    };
    let corpus = |night: usize, long: bool| (0..60).map(|n| chat(night, n, long)).collect::<String>();
    dir.write("job.toml", "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\n[report]\nmax_psi = 0.2\n");
    let night = |code: i32, sets: &[&str]| {
        let args: Vec<&str> = ["run", "job.toml"].iter().chain(sets).copied().collect();
        condenser(dir.root(), &args).exits(code).stderr
    };
    dir.write("logs/1.jsonl", corpus(1, false));
    let told = night(0, &[]);
    assert!(told.contains("there is no run yet to compare with, so max_psi holds nothing"), "{told}");
    dir.write("logs/2.jsonl", corpus(2, false));
    assert!(!night(0, &[]).contains("over "));
    // Something else comes in: the night is kept and in the ledger, and the exit code says it.
    dir.write("logs/3.jsonl", corpus(3, true));
    let told = night(5, &[]);
    assert!(told.contains("00003 is complete and in the store") && told.contains("over max_psi: "), "{told}");
    assert!(dir.path("store/nights/00003.json.zst").exists());
    // Nothing new: nothing to hold against anything.
    assert!(!night(0, &[]).contains("over "));
    // The same again is as the night before, but not as all nights.
    dir.write("logs/4.jsonl", corpus(4, true));
    assert!(!night(0, &["--set", "report.against=previous-night"]).contains("over "));
    dir.write("logs/5.jsonl", corpus(5, true));
    assert!(night(5, &["--set", "report.against=all-nights"]).contains("over max_psi"));
    let by_hand =
        |word: &str, code: i32| compared(dir.root(), &["store", "--against", word, "--max-psi", "0.2"], code).0;
    assert_eq!(by_hand("previous-night", 0)["before"]["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(by_hand("all-nights", 5)["before"]["runs"].as_array().map(Vec::len), Some(4));
    let told = condenser(dir.root(), &["report", "store/runs/00001", "--against", "all-nights"]).exits(2);
    assert!(told.stderr.contains("no store of nightly runs"), "{}", told.stderr);
    // What cannot be compared with or written keeps the night from beginning.
    dir.write("logs/6.jsonl", corpus(6, true));
    for set in ["report.against=nowhere", "report.html=nowhere/page.html", "report.calibration=nowhere"] {
        night(2, &["--set", set]);
    }
    assert!(!dir.path("store/runs/00006").exists());
    std::fs::remove_file(dir.path("logs/6.jsonl")).expect("it was there");
    // By hand: the last night against all before it.
    let nights: Vec<String> = (1..=5).map(|n| format!("store/runs/{n:05}")).collect();
    let args: Vec<&str> = nights.iter().map(String::as_str).collect();
    let (document, _) = compared(dir.root(), &args, 0);
    assert_eq!(document["before"]["totals"]["conversations"], 240);
    let (document, _) = compared(dir.root(), &["store", "store/runs/00005"], 0);
    assert_eq!(document["before"]["totals"]["conversations"], 300);
}
