//! Small files that share a part: each comes back by itself, whatever its neighbours are, and everything else is as with a
//! part for each.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use condenser::error::Result;
use condenser::io::{Input, Inputs, RunWriter};
use condenser::pipeline::{BatchOptions, ConversationFormat, JobOutcome, RunPlan, TableOptions, compress};

use crate::originals::sessions;
use crate::support::chats::{Blunt, jsonl, records};
use crate::support::command::{FORMS, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::job;
use crate::support::nights::logs_of;

/// A log of sessions whose lines stand among each other, so that records are not in one piece.
const EVENTS: &str = concat!(
    r#"{"type":"user","sessionId":"one","uuid":"a","message":{"role":"user","content":"Where is the key of the boat house?"}}"#,
    "\n",
    r#"{"type":"user","sessionId":"two","uuid":"b","message":{"role":"user","content":"List the ferries of today."}}"#,
    "\n",
    r#"{"type":"assistant","sessionId":"one","uuid":"c","message":{"role":"assistant","content":[{"type":"text","text":"Under the third stone."}]}}"#,
    "\n",
    r#"{"type":"assistant","sessionId":"two","uuid":"d","message":{"role":"assistant","content":[{"type":"text","text":"9:10 and 17:40."}]}}"#,
    "\n",
);

/// Files with everything that may stand at their borders, in the order in which they are read.
fn written(dir: &TestDir) -> BTreeMap<String, Vec<u8>> {
    let texts: [(&str, String); 15] = [
        ("00-plain", jsonl(3, 1)),
        ("01-empty", String::new()),
        ("02-no-end", jsonl(2, 2).trim_end().to_owned()),
        ("03-bom", "\u{feff}".to_owned() + &jsonl(2, 3)),
        ("04-blank", "\n \n\r\n".to_owned()),
        ("05-behind", jsonl(1, 4) + "\n\n  "),
        ("06-events", EVENTS.to_owned()),
        ("07-crlf", jsonl(3, 5).replace('\n', "\r\n")),
        ("08-reject-last", jsonl(1, 6) + "{\"broken"),
        ("09-reject-first", "broken\n".to_owned() + &jsonl(2, 7)),
        ("10-reject-middle", jsonl(1, 8) + "[1, 2\r\n" + &jsonl(1, 9)),
        ("11-document", format!("[{}]\n", records(3, 10).join(",\n "))),
        ("12-behind", "\n".to_owned() + &jsonl(1, 11) + "\n"),
        ("13-events", EVENTS.to_owned()),
        ("14-sessions", sessions(2, 14)),
    ];
    let mut all = BTreeMap::new();
    for (name, text) in texts {
        dir.write(&format!("in/{name}.jsonl"), &text);
        all.insert(format!("{name}.jsonl"), text.into_bytes());
    }
    all
}

fn parts(dir: &TestDir, run: &str) -> usize {
    files(&dir.path(run)).keys().filter(|name| name.starts_with("commits/")).count()
}

#[test]
fn files_that_share_a_part_come_back_each_by_itself() {
    for format in ["parquet", "arrow", "jsonl"] {
        let dir = TestDir::new();
        let all = written(&dir);
        condenser(dir.root(), &["compress", "in", "-o", "run", "--format", format, "--trace"]).exits(3);
        assert_eq!(parts(&dir, "run"), 1, "{format}");
        condenser(dir.root(), &["verify", "run"]).ok();
        condenser(dir.root(), &["verify", "run", "--against", "in"]).ok();
        condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
        assert!(files(&dir.path("out")) == all, "{format}");
        // What is there stays, what is not comes back.
        std::fs::remove_file(dir.path("out/05-behind.jsonl")).expect("it was there");
        condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
        assert!(files(&dir.path("out")) == all, "{format}");
        condenser(dir.root(), &["report", "run"]).ok();
        condenser(dir.root(), &["retry-rejects", "run", "-o", "retried"]).exits(3);
    }
}

#[test]
fn a_border_that_moved_is_another_input() {
    let dir = TestDir::new();
    dir.write("in/a.jsonl", jsonl(2, 20));
    dir.write("in/b.jsonl", jsonl(2, 21));
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    dir.write("in/a.jsonl", jsonl(2, 20) + &jsonl(2, 21));
    dir.write("in/b.jsonl", "");
    let told = condenser(dir.root(), &["verify", "run", "--against", "in"]).exits(4);
    assert!(told.stderr.contains("a.jsonl"), "{}", told.stderr);
    let told = condenser(dir.root(), &["restore", "run"]).exits(2);
    assert!(told.stderr.contains("2 sources"), "{}", told.stderr);
}

#[test]
fn conversations_are_found_by_their_file_and_row() {
    for format in ["parquet", "jsonl"] {
        let dir = TestDir::new();
        let record = |text: &str| format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}\n");
        let all =
            [("a", "first of a", "second of a"), ("b", "first of b", "second of b"), ("c", "one of c", "two of c")];
        for (name, one, two) in all {
            dir.write(&format!("in/{name}.jsonl"), record(one) + &record(two));
        }
        condenser(dir.root(), &["compress", "in", "-o", "run", "--format", format]).ok();
        assert_eq!(parts(&dir, "run"), 1);
        for (name, one, two) in all {
            for (row, text) in [one, two].into_iter().enumerate() {
                let id = format!("in/{name}.jsonl#{row}");
                let told = condenser(dir.root(), &["get", "run", &id]).ok();
                assert_eq!(String::from_utf8_lossy(&told.stdout), record(text), "{id} {format}");
                let told = condenser(dir.root(), &["show", "run", &id]).ok();
                assert!(String::from_utf8_lossy(&told.stdout).contains(text), "{id} {format}");
            }
        }
    }
}

#[test]
fn the_same_bytes_come_out_of_any_number_of_threads() {
    let dir = TestDir::new();
    written(&dir);
    for threads in ["1", "2", "5"] {
        let run = format!("run-{threads}");
        condenser(dir.root(), &["compress", "in", "-o", &run, "--threads", threads]).exits(3);
        assert!(files(&dir.path(&run)) == files(&dir.path("run-1")), "{threads}");
    }
}

#[test]
fn an_empty_file_behind_one_that_is_cut_has_a_part_of_its_own() {
    let dir = TestDir::new();
    dir.write("in/a.jsonl", jsonl(40, 1));
    dir.write("in/b.jsonl", "");
    condenser(dir.root(), &["compress", "in", "-o", "run", "--split-size", "8k"]).ok();
    assert!(parts(&dir, "run") > 2);
    condenser(dir.root(), &["verify", "run"]).ok();
    condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
    assert!(files(&dir.path("back")) == files(&dir.path("in")));
}

#[test]
fn parts_are_as_large_as_cuts_and_machines_share_them() {
    let dir = TestDir::new();
    for at in 0..12 {
        dir.write(&format!("in/{at:02}.jsonl"), jsonl(2, 40 + at));
    }
    let args = |run: &'static str| ["compress", "in", "-o", run, "--split-size", "8k"];
    condenser(dir.root(), &args("run")).ok();
    let n_parts = parts(&dir, "run");
    assert!((2..12).contains(&n_parts), "{n_parts}");
    for shard in ["0/2", "1/2"] {
        condenser(dir.root(), &[&args("shards")[..], &["--shard", shard]].concat()).ends();
    }
    condenser(dir.root(), &["finish", "shards"]).ends();
    assert!(files(&dir.path("shards")) == files(&dir.path("run")));
    // A part that is not there is done again, the others stay.
    for name in ["manifest.json", "commits/part-00001.json.zst"] {
        std::fs::remove_file(dir.path(&format!("shards/{name}"))).expect("it was there");
    }
    condenser(dir.root(), &args("shards")).ok();
    assert!(files(&dir.path("shards")) == files(&dir.path("run")));
}

#[test]
fn a_flipped_byte_of_a_shared_part_is_found() {
    let dir = TestDir::new();
    written(&dir);
    for form in FORMS {
        condenser(dir.root(), &["compress", "in", "-o", form, "--originals", form]).exits(3);
        for (name, bytes) in files(&dir.path(form)) {
            for at in [bytes.len() / 3, bytes.len() / 2] {
                let mut flipped = bytes.clone();
                flipped[at] ^= 0x10;
                dir.write(&format!("{form}/{name}"), &flipped);
                condenser(dir.root(), &["verify", form]).exits(4);
            }
            dir.write(&format!("{form}/{name}"), &bytes);
        }
        condenser(dir.root(), &["verify", form]).ok();
    }
}

#[test]
fn what_cannot_be_read_and_what_is_large_or_a_table_has_a_part_of_its_own() {
    let dir = TestDir::new();
    dir.write("in/a.jsonl", jsonl(2, 60));
    dir.write("in/b.jsonl", jsonl(2, 61));
    dir.write("in/c.jsonl", "PAR1 is how a table begins");
    dir.write("in/d.jsonl", jsonl(2, 62));
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ends();
    condenser(dir.root(), &["finish", "run", "--partial"]).ends();
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    assert_eq!(files(&dir.path("out")).into_keys().collect::<Vec<_>>(), ["a.jsonl", "b.jsonl", "d.jsonl"]);
}

/// A job over the files of `in`; `planned` comes between the plan and the work.
fn job_with(dir: &TestDir, planned: impl Fn()) -> Result<JobOutcome> {
    job_in_cuts(dir, 1 << 30, planned)
}

/// The same with files and parts of at most `split_bytes`.
pub(crate) fn job_in_cuts(dir: &TestDir, split_bytes: u64, planned: impl Fn()) -> Result<JobOutcome> {
    let input = |name: String| Input::new(format!("in/{name}"), Some(dir.path("in").join(&name).as_path().into()));
    let inputs = files(&dir.path("in")).into_keys().map(input).collect();
    let batches = BatchOptions::default();
    let (inputs, slices) = Inputs::plan(inputs, batches, TableOptions::default(), split_bytes)?;
    let mut context = job::context(Arc::new(Blunt::default()), ConversationFormat::Parquet, batches);
    context.options.split_bytes = split_bytes;
    let plan = RunPlan::new(context.options.clone(), slices)?.sharing(|index| inputs.may_share(index));
    planned();
    job::block_on(async {
        let (sink, commits) = RunWriter::open(dir.path("run").as_path(), &plan, None, &|_| ()).await?;
        compress(&context, &plan, commits, Arc::new(inputs), &sink).await
    })
}

#[test]
fn a_file_that_fails_later_keeps_none_of_its_neighbours() {
    let torn = |path: &Path| std::fs::write(path, "{}\n").expect("written");
    let gone = |path: &Path| std::fs::remove_file(path).expect("it was there");
    let folder = |path: &Path| {
        gone(path);
        std::fs::create_dir(path).expect("a folder");
    };
    let changes: [&dyn Fn(&Path); 3] = [&torn, &gone, &folder];
    for (what, change) in ["shorter", "gone", "a folder"].into_iter().zip(changes) {
        for bad in [&[0][..], &[2], &[4], &[0, 1, 4]] {
            let dir = TestDir::new();
            let path = |at: &u64| dir.path(&format!("in/{at}.jsonl"));
            for at in 0..5 {
                dir.write(&format!("in/{at}.jsonl"), jsonl(2, 80 + at));
            }
            let all = files(&dir.path("in"));
            let error = job_with(&dir, || bad.iter().for_each(|at| change(&path(at)))).expect_err("files are bad");
            let message = error.to_string();
            assert!(message.contains(&format!("{}.jsonl", bad[0])), "{what} {bad:?}: {message}");
            assert!(message.contains("everything else is committed"), "{what} {bad:?}: {message}");
            let more = format!("and {} more input", bad.len() - 1);
            assert_eq!(message.contains(&more), bad.len() > 1, "{what} {bad:?}: {message}");
            let told = condenser(dir.root(), &["finish", "run"]).exits(6).stderr;
            assert!(told.contains("1 of 1 part"), "{told}");
            // The others come back from what there is.
            condenser(dir.root(), &["finish", "run", "--partial"]).exits(3);
            condenser(dir.root(), &["verify", "run"]).ok();
            condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
            let mut others = all.clone();
            others.retain(|name, _| !bad.iter().any(|at| *name == format!("{at}.jsonl")));
            assert!(files(&dir.path("back")) == others, "{what} {bad:?}");
        }
    }
}

#[test]
fn a_part_is_done_again_when_its_files_are_back() {
    let dir = TestDir::new();
    for at in 0..5 {
        dir.write(&format!("in/{at}.jsonl"), jsonl(2, 80 + at));
    }
    let (path, away) = (dir.path("in/2.jsonl"), dir.path("away.jsonl"));
    job_with(&dir, || std::fs::rename(&path, &away).expect("moved")).expect_err("a file is gone");
    let begun = files(&dir.path("run"));
    // Killed when it was doing it again.
    let commit = "run/commits/part-00000.json.zst";
    for taken_back in [false, true] {
        if taken_back {
            dir.write(commit, "");
        }
        std::fs::rename(&away, &path).expect("back");
        let outcome = job_with(&dir, || ()).expect("all is there");
        assert_eq!(outcome.manifest.map(|manifest| manifest.status).as_deref(), Some("complete"));
        condenser(dir.root(), &["verify", "run"]).ok();
        condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
        assert!(files(&dir.path("back")) == files(&dir.path("in")));
        std::fs::rename(&path, &away).expect("moved");
        std::fs::remove_dir_all(dir.path("run")).expect("it was there");
        for (name, bytes) in &begun {
            dir.write(&format!("run/{name}"), bytes);
        }
    }
    // What was finished without it stays as it is.
    condenser(dir.root(), &["finish", "run", "--partial"]).exits(3);
    let finished = files(&dir.path("run"));
    std::fs::rename(&away, &path).expect("back");
    let error = job_with(&dir, || ()).expect_err("it was finished").to_string();
    assert!(error.contains("finished without in/2.jsonl"), "{error}");
    assert!(files(&dir.path("run")) == finished);
}

#[test]
fn files_of_a_shared_part_expire_when_all_of_it_is_proven() {
    let dir = TestDir::new();
    let all: BTreeMap<String, Vec<u8>> =
        (0..5).map(|at| (format!("{at}.jsonl"), jsonl(2, 70 + at).into_bytes())).collect();
    for (name, text) in &all {
        let file = std::fs::File::options().write(true).open(dir.write(&format!("logs/{name}"), text)).expect("a file");
        file.set_modified(std::time::UNIX_EPOCH).expect("it can be aged");
    }
    dir.write("job.toml", "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\n");
    let told = condenser(dir.root(), &["run", "job.toml"]).ok().stderr;
    assert!(told.contains("5 new"), "{told}");
    assert_eq!(parts(&dir, "store/runs/00001"), 1);
    let told = condenser(dir.root(), &["run", "job.toml"]).ok().stderr;
    assert!(told.contains("5 unchanged"), "{told}");
    // One byte of the part: none of its files is proven.
    let table = "store/runs/00001/conversations/part-00000.parquet";
    let good = dir.read(table);
    let mut bad = good.clone();
    let at = bad.len() / 2;
    bad[at] ^= 1;
    dir.write(table, bad);
    condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).exits(4);
    assert!(files(&dir.path("logs")) == all);
    dir.write(table, good);
    // A file that is another one now stays, and goes when it is as it was.
    let age = |path: std::path::PathBuf| {
        let file = std::fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(std::time::UNIX_EPOCH).expect("it can be aged");
    };
    let mut other = all["2.jsonl"].clone();
    let at = other.len() / 2;
    other[at] ^= 1;
    age(dir.write("logs/2.jsonl", &other));
    condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).ends();
    assert_eq!(files(&dir.path("logs")).into_iter().collect::<Vec<_>>(), [("2.jsonl".to_owned(), other)]);
    age(dir.write("logs/2.jsonl", &all["2.jsonl"]));
    condenser(dir.root(), &["expire", "store", "--older-than", "30d", "--yes"]).ok();
    assert!(files(&dir.path("logs")).is_empty());
    condenser(dir.root(), &["restore", "store/runs/00001", "-o", "back"]).ok();
    assert!(files(&dir.path("back")) == all);
}

#[test]
fn a_night_that_was_closed_without_a_file_enters_the_others() {
    let dir = TestDir::new();
    for at in 0..5 {
        dir.write(&format!("in/{at}.jsonl"), jsonl(2, 80 + at));
    }
    let all = files(&dir.path("in"));
    let (path, away) = (dir.path("in/2.jsonl"), dir.path("away.jsonl"));
    job_with(&dir, || std::fs::rename(&path, &away).expect("moved")).expect_err("a file is gone");
    condenser(dir.root(), &["finish", "run", "--partial"]).exits(3);
    std::fs::create_dir_all(dir.path("store/runs")).expect("a folder");
    std::fs::rename(dir.path("run"), dir.path("store/runs/00001")).expect("moved");
    std::fs::rename(&away, &path).expect("back");
    dir.write("job.toml", "kind = \"compaction\"\ninputs = [\"in\"]\noutput = \"store\"\n");
    let told = condenser(dir.root(), &["run", "job.toml"]).ok().stderr;
    assert!(told.contains("1 new, 0 grown, 0 changed, 4 unchanged"), "{told}");
    let entry = |log: serde_json::Value| ["source", "run"].map(|key| log[key].as_str().expect("text").to_owned());
    let entries: Vec<[String; 2]> = logs_of(&dir, "store").into_iter().map(entry).collect();
    let expected = [(0, 1), (1, 1), (3, 1), (4, 1), (2, 2)];
    assert_eq!(entries, expected.map(|(at, night)| [format!("in/{at}.jsonl"), format!("{night:05}")]));
    let listed = condenser(dir.root(), &["ls", "store/runs/00001"]).ok().stdout;
    assert!(String::from_utf8_lossy(&listed).contains("\npartial: 5 files, 1 failed, 8 conversations, "));
    for night in ["00001", "00002"] {
        condenser(dir.root(), &["restore", &format!("store/runs/{night}"), "-o", "back"]).ok();
    }
    assert!(files(&dir.path("back")) == all);
}

#[test]
fn a_run_that_was_killed_goes_on() {
    let dir = TestDir::new();
    for at in 0..24 {
        dir.write(&format!("in/{at:02}.jsonl"), jsonl(3, 100 + at) + &sessions(1, at));
    }
    for (form, waits) in FORMS.into_iter().zip([[10, 40, 90], [25, 60, 75]]) {
        killed(&dir, form, waits);
    }
    let originals = FORMS.map(|form| dir.read(&format!("whole-{form}/verbatim/part-00000.parquet")));
    assert!(originals[0] != originals[1], "both forms are the same");
}

/// Kills a job at these milliseconds and has it go on.
fn killed(dir: &TestDir, form: &str, waits: [u64; 3]) {
    let [whole, killed] = ["whole", "killed"].map(|how| format!("{how}-{form}"));
    let common = ["--split-size", "20k", "--threads", "1", "--originals", form];
    let args = |run| [&["compress", "in", "-o", run], &common[..]].concat();
    condenser(dir.root(), &args(&whole)).ok();
    for wait in waits {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_condenser"));
        let mut child = command
            .args(args(&killed))
            .current_dir(dir.root())
            .stdin(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(std::time::Duration::from_millis(wait));
        child.kill().ok();
        child.wait().expect("it ended");
    }
    condenser(dir.root(), &args(&killed)).ok();
    assert!(files(&dir.path(&killed)) == files(&dir.path(&whole)), "{form}");
}
