//! Job files through the program: what is written wrong and how that is said, `--set`, dry runs, and the three kinds
//! of jobs.

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

/// A job over one small file.
fn job(dir: &TestDir, text: &str) {
    dir.write("in.jsonl", jsonl(6, 31));
    dir.write("job.toml", text);
}

const GOOD: &str = "inputs = [\"in.jsonl\"]\noutput = \"run\"\n";

#[test]
fn what_is_wrong_in_a_job_file_is_said_with_its_place() {
    // The file, where the mistake stands, and what is said of it.
    let cases: &[(&str, &str, &str)] = &[
        ("inputs = [\"in.jsonl\"\n", "job.toml: line 1, column 21", "unclosed array, expected `]`"),
        ("memry = \"1GiB\"\n", "job.toml: line 1, column 1", "unknown key `memry`; did you mean `memory`?"),
        ("recency_window = 2\n", "line 1, column 1", "belongs to the table [engine]"),
        ("[engine]\nrecency_windw = 2\n", "line 2, column 1", "did you mean `recency_window`?"),
        ("[engine]\nqqq = 2\n", "line 2, column 1", "known are preset, hide_by"),
        ("[dataset]\nevalshare = 0.1\n", "line 2, column 1", "did you mean `eval_share`?"),
        ("threads = \"two\"\n", "line 1, column 11", "wrong type: string \"two\", expected a whole number"),
        ("threads = -1\n", "line 1, column 11", "expected a whole number"),
        ("trace = 1\n", "line 1, column 9", "wrong type: integer `1`, expected true or false"),
        ("inputs = \"in.jsonl\"\n", "line 1, column 10", "wrong type: string \"in.jsonl\", expected a list"),
        ("engine = 3\n", "line 1, column 10", "expected a table"),
        ("memory = \"lots\"\n", "line 1, column 10", "expected a size such as \"512MiB\" or a number of bytes"),
        ("memory = 0\n", "line 1, column 10", "expected a size"),
        ("max_rejects = \"150%\"\n", "line 1, column 15", "expected a number of records or a share"),
        ("format = \"csv\"\n", "line 1, column 10", "unknown value `csv`, expected one of `parquet`"),
        ("kind = \"nightly\"\n", "line 1, column 8", "`compaction`"),
        ("output = \"${HOME}/run\"\n", "line 1, column 10", "only for secrets"),
        ("inputs = [\"a\", \"${DATA}/*.jsonl\"]\n", "line 1, column 16", "only for secrets"),
        ("[engine]\npreserve = [\"${ROLE}\"]\n", "line 2, column 13", "only for secrets"),
        ("[store]\nacces_key_id = \"x\"\n", "line 2, column 1", "did you mean `access_key_id`?"),
    ];
    let mut unsaid = Vec::new();
    for (text, place, says) in cases {
        let dir = TestDir::new();
        job(&dir, text);
        let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
        if !told.contains(place) || !told.contains(says) {
            unsaid.push(format!("{text}{place}: {says}\n{told}"));
        }
        assert!(!dir.path("run").exists());
    }
    assert!(unsaid.is_empty(), "{}", unsaid.join("\n"));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let cases: &[(&str, &str)] = &[
        ("output = \"run\"\n", "job.toml: inputs: the job names no inputs"),
        ("inputs = [\"in.jsonl\"]\n", "no output was named"),
        ("inputs = [\"nowhere.jsonl\"]\noutput = \"run\"\n", "nowhere.jsonl: there is no such file"),
        ("inputs = [\"in.jsonl\"]\noutput = \"-\"\n", "a job file writes a directory"),
        ("kind = \"report\"\ninputs = [\"in.jsonl\"]\noutput = \"-\"\n", "no output was named"),
        (&format!("{GOOD}verbatim_map = true\n"), "--format jsonl"),
        (&format!("{GOOD}[dataset]\neval_share = 0.1\n"), "goes with kind = \"dataset\""),
        (&format!("kind = \"dataset\"\n{GOOD}[dataset]\neval_share = 2.0\n"), "dataset.eval_share: expected a share"),
        (&format!("kind = \"dataset\"\n{GOOD}[dataset]\nmax_tokens = 0\n"), "nothing fits into 0 tokens"),
        (&format!("kind = \"dataset\"\n{GOOD}[dataset]\ntarget = \"openai\"\narguments = \"json\"\n"), "as text only"),
        (
            &format!("kind = \"dataset\"\n{GOOD}[dataset]\ntarget = \"sharegpt\"\nthinking = \"field\"\n"),
            "no field for it",
        ),
        (
            &format!("kind = \"dataset\"\n{GOOD}[dataset]\ntarget = \"openai\"\nform = \"prompt-completion\"\n"),
            "a form of target",
        ),
        (
            &format!("kind = \"dataset\"\n{GOOD}[dataset]\nchat_template = \"none.jinja\"\n"),
            "there is no such chat template",
        ),
        (&format!("kind = \"compaction\"\n{GOOD}[compaction]\nrun_name = \"a/b\"\n"), "compaction.run_name: expected"),
        (
            &format!("kind = \"compaction\"\n{GOOD}[compaction]\nrun_name = \"merged\"\n"),
            "compaction.run_name: a name that ends in",
        ),
        (
            &format!("{GOOD}[store]\nsecret_access_key = \"${{CONDENSER_TEST_UNSET}}\"\n"),
            "store.secret_access_key: the environment variable CONDENSER_TEST_UNSET is not set",
        ),
    ];
    for (text, says) in cases {
        let dir = TestDir::new();
        job(&dir, text);
        let told = condenser(dir.root(), &["run", "job.toml"]).exits(2);
        assert!(told.stderr.contains(says), "{text}: {}", told.stderr);
        assert!(!dir.path("run").exists());
    }
    let dir = TestDir::new();
    let told = condenser(dir.root(), &["run", "none.toml"]).exits(2);
    assert!(told.stderr.contains("none.toml: the job file cannot be read"), "{}", told.stderr);
}

#[test]
fn a_job_file_and_flags_give_the_same_run() {
    let dir = TestDir::new();
    job(&dir, &format!("{GOOD}trace = true\nmemory = \"64MiB\"\n[engine]\nrecency_window = 0\ndedup = false\n"));
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let flags = ["--trace", "--memory", "64MiB", "--recency-window", "0", "--dedup", "false"];
    condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "flags"], &flags[..]].concat()).ok();
    assert_eq!(dir.read("run/manifest.json"), dir.read("flags/manifest.json"));
    // The rest of the values through --set, one of them a number that must be a text.
    dir.write("short.toml", "inputs = [\"none\"]\n");
    let sets = [
        "inputs=[\"in.jsonl\"]",
        "output=2031",
        "trace=true",
        "memory=64MiB",
        "engine.recency-window=0",
        "engine={ dedup = false }",
    ];
    let args: Vec<&str> = ["run", "short.toml"].into_iter().chain(sets.iter().flat_map(|set| ["--set", set])).collect();
    condenser(dir.root(), &args).ok();
    assert_eq!(dir.read("run/manifest.json"), dir.read("2031/manifest.json"));
}

#[test]
fn what_is_set_wrong_is_said_with_the_key() {
    let cases: &[(&str, &str)] = &[
        ("engine.recency=2", "did you mean `recency_window`?"),
        ("memory=much", "expected a size"),
        ("threads=two", "expected a whole number"),
        ("inputs=[a.jsonl]", "texts in a list need quotes"),
        ("output", "expected KEY=VALUE"),
        ("output=${HOME}/x", "only for secrets"),
        ("output.name=x", "wrong type"),
        ("=x", "unknown key ``"),
    ];
    for (set, says) in cases {
        let dir = TestDir::new();
        job(&dir, GOOD);
        let told = condenser(dir.root(), &["run", "job.toml", "--set", set]).exits(2);
        let key = set.split_once('=').map_or("", |(key, _)| key);
        assert!(told.stderr.contains(format!("--set {key}").trim()), "{set}: {}", told.stderr);
        assert!(told.stderr.contains(says), "{set}: {}", told.stderr);
    }
}

#[test]
fn a_dry_run_prints_a_job_that_does_the_same_and_writes_nothing() {
    let dir = TestDir::new();
    let store = "[store]\naccess_key_id = \"${PATH}\"\nsecret_access_key = \"hunter2\"\n";
    job(&dir, &format!("{GOOD}[engine]\nrecency_window = 1\n{store}"));
    for index in 0..30 {
        dir.write(&format!("more/{index:02}.jsonl"), jsonl(5, index));
    }
    // Of a compressed file the text is more than what is stored.
    let stored = zstd::encode_all(jsonl(2000, 32).as_bytes(), 1).expect("memory takes all");
    dir.write("large.jsonl.zst", stored);
    let told =
        condenser(dir.root(), &["run", "job.toml", "--dry-run", "--set", "inputs=[\"*.zst\", \"in.jsonl\"]"]).ok();
    assert!(String::from_utf8_lossy(&told.stdout).contains("from the beginnings of 2 of 2 files"));
    let args = ["run", "job.toml", "--dry-run", "--set", "inputs=[\"in.jsonl\", \"more\"]", "--set", "threads=1"];
    let told = condenser(dir.root(), &args).ok();
    let text = String::from_utf8(told.stdout).expect("text");
    assert!(!dir.path("run").exists());
    for says in [
        "# 31 inputs, ",
        "more/18.jsonl",
        "… and 11 more",
        "# sample: ",
        "from the beginnings of 16 of 31 files",
        "# time: ",
        "with 1 workers",
        "# disk: ",
        "conversations",
        "# memory: at most about 384.0 MiB",
        "recency_window = 1",
        "memory = \"256MiB\"",
        "access_key_id = \"${PATH}\"",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    assert!(!text.contains("more/19.jsonl") && !text.contains("hunter2"), "{text}");
    assert!(!text.contains(&std::env::var("PATH").expect("a path")), "{text}");
    dir.write("resolved.toml", &text);
    let told = condenser(dir.root(), &["run", "resolved.toml"]).exits(2);
    assert!(told.stderr.contains("store.secret_access_key: the secret was not printed"), "{}", told.stderr);
    dir.write("resolved.toml", text.replace("\"(not shown)\"", "\"${PATH}\""));
    condenser(dir.root(), &["run", "resolved.toml"]).ok();
    condenser(dir.root(), &["run", "job.toml", "--set", "inputs=[\"in.jsonl\", \"more\"]", "--set", "output=again"])
        .ok();
    assert_eq!(dir.read("run/manifest.json"), dir.read("again/manifest.json"));
}

#[test]
fn shards_of_a_data_set_are_joined_and_a_compaction_has_none() {
    let dir = TestDir::new();
    for (name, n) in [("a.jsonl", 31), ("b.jsonl", 32), ("c.jsonl", 33)] {
        dir.write(name, jsonl(20, n));
    }
    dir.write("job.toml", "kind = \"dataset\"\ninputs = [\"a.jsonl\", \"b.jsonl\", \"c.jsonl\"]\noutput = \"run\"\n");
    for shard in ["0/2", "1/2"] {
        condenser(dir.root(), &["run", "job.toml", "--shard", shard]).ok();
    }
    let told = condenser(dir.root(), &["finish", "run"]).ok();
    assert!(told.stderr.contains("rows in train"), "{}", told.stderr);
    condenser(dir.root(), &["run", "job.toml", "--set", "output=whole"]).ok();
    assert!(files(&dir.path("run")) == files(&dir.path("whole")));
    dir.write("night.toml", "kind = \"compaction\"\ninputs = [\"a.jsonl\"]\noutput = \"store\"\n");
    let told = condenser(dir.root(), &["run", "night.toml", "--shard", "0/2"]).exits(2);
    assert!(told.stderr.contains("every call is a run of its own"), "{}", told.stderr);
}
