//! What does not end a night: logs that cannot be read yet, folders that hold none any more; what was left behind by nights that did
//! not end, and damage of the documents of a store.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::chats::jsonl;
use crate::support::command::{TestCommand, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::nights::{change_night, logs_of};

const JOB: &str = "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ncompaction.rested_after = 0\n";

fn job() -> TestDir {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    dir.write("logs/a.jsonl", jsonl(8, 51));
    dir
}

fn night(dir: &TestDir) -> TestCommand {
    condenser(dir.root(), &["run", "job.toml"])
}

/// Conversations as a table of this format.
fn table(dir: &TestDir, format: &str, seed: u64) -> Vec<u8> {
    let (log, run) = (format!("made/{seed}.jsonl"), format!("made/{format}-{seed}"));
    dir.write(&log, jsonl(6, seed));
    condenser(dir.root(), &["compress", &log, "-o", &run, "--format", format, "-q"]).ok();
    dir.read(&format!("{run}/conversations/part-00000.{format}"))
}

fn sources(dir: &TestDir) -> Vec<(String, String)> {
    let text = |log: &Value, key: &str| log[key].as_str().unwrap_or_default().to_owned();
    logs_of(dir, "store").iter().map(|log| (text(log, "run"), text(log, "source"))).collect()
}

#[test]
fn a_table_that_is_torn_is_told_and_taken_when_it_is_whole() {
    for (name, format) in [("b.parquet", "parquet"), ("b.arrow", "arrow"), ("b.jsonl", "parquet")] {
        let dir = job();
        let path = format!("logs/{name}");
        let (first, second) = (table(&dir, format, 61), table(&dir, format, 62));
        // Of an Arrow file without its end there are still rows.
        let torn = |whole: &[u8]| whole[..if format == "arrow" { 60 } else { whole.len() - 30 }].to_vec();
        // What is empty is told only where the name promises a table.
        let states = if name == "b.jsonl" { vec![torn(&first)] } else { vec![Vec::new(), torn(&first)] };
        for (at, state) in states.iter().enumerate() {
            dir.write(&path, state);
            dir.write("logs/a.jsonl", jsonl(9 + at, 51));
            let told = night(&dir).exits(1).stderr;
            assert!(told.contains(&path) && told.contains("fetch or write ") && told.contains("hint: "), "{told}");
            assert_eq!(sources(&dir).len(), at + 1, "{told}");
        }
        dir.write(&path, &first);
        night(&dir).ok();
        // Torn again when the store has a state of it: that stays the last one.
        dir.write(&path, torn(&second));
        dir.write("logs/c.jsonl", jsonl(5, 55));
        assert!(night(&dir).exits(1).stderr.contains(&path));
        assert!(sources(&dir).iter().any(|(_, source)| source == "logs/c.jsonl"));
        dir.write(&path, &second);
        night(&dir).ok();
        assert_eq!(sources(&dir).iter().filter(|(_, source)| *source == path).count(), 2);
        let runs = std::fs::read_dir(dir.path("store/runs")).expect("a folder").count();
        assert_eq!(runs, states.len() + 3, "every run is a night");
        condenser(dir.root(), &["verify", "store"]).ok();
    }
}

#[test]
fn a_table_that_the_job_cannot_write_is_told_and_the_others_are_taken() {
    let dir = job();
    dir.write("logs/b.parquet", table(&dir, "parquet", 61));
    dir.write("logs/c.arrow", jsonl(4, 62));
    let told = condenser(dir.root(), &["run", "job.toml", "--set", "format=\"jsonl\""]).exits(1).stderr;
    for says in ["logs/b.parquet: the input is a table", "logs/c.arrow: the file is named like a table"] {
        assert!(told.contains(says), "{told}");
    }
    assert_eq!(sources(&dir), [("00001".to_owned(), "logs/a.jsonl".to_owned())]);
    night(&dir).exits(1);
    assert_eq!(sources(&dir)[1], ("00002".to_owned(), "logs/b.parquet".to_owned()));
}

#[test]
fn a_store_that_has_outlived_its_logs_does_what_is_due() {
    let dir = job();
    let as_of = |day: usize| {
        let set = format!("compaction.as_of=\"2031-05-{day:02}T12:00:00Z\"");
        condenser(dir.root(), &["run", "job.toml", "--set", &set])
    };
    dir.write("job.toml", JOB.replace("compaction.rested_after = 0\n", ""));
    let dated = |id: &str| {
        let messages = crate::nights::session(12, 3);
        json!({"id": id, "updated_at": "2031-05-06T12:00:00Z", "messages": messages}).to_string() + "\n"
    };
    // Without a store there is nothing to do.
    std::fs::remove_file(dir.path("logs/a.jsonl")).expect("it was there");
    assert!(as_of(6).exits(2).stderr.contains("logs: the folder holds no inputs"));
    assert!(!dir.path("store/runs").exists());
    dir.write("logs/a.jsonl", dated("a"));
    as_of(6).ok();
    std::fs::remove_file(dir.path("logs/a.jsonl")).expect("it was there");
    // The folder is empty, and the conversation is at rest.
    let told = condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok();
    assert!(String::from_utf8_lossy(&told.stdout).contains("# no logs were found: logs: "), "{}", told.stderr);
    let told = as_of(10).ok().stderr;
    assert!(
        told.contains("no logs were found: logs: ") && told.contains("1 older conversation looked at again"),
        "{told}"
    );
    // The folder is gone, and the run of the last night was not finished.
    let run = files(&dir.path("store/runs/00002"));
    std::fs::remove_dir_all(dir.path("logs")).expect("it was there");
    for name in ["store/nights/00002.json.zst", "store/runs/00002/manifest.json"] {
        std::fs::remove_file(dir.path(name)).expect("it was there");
    }
    let told = as_of(10).ok().stderr;
    assert!(told.contains("no logs were found: logs: ") && told.contains("00002 is complete"), "{told}");
    assert!(run == files(&dir.path("store/runs/00002")) && !dir.path("store/runs/00003").exists());
    // Patterns may match nothing; what else is named is taken.
    dir.write("other/b.jsonl", dated("b"));
    let inputs = "inputs=[\"logs/**/*.jsonl\", \"other\"]";
    let told = condenser(dir.root(), &["run", "job.toml", "--set", inputs]).ok().stderr;
    assert!(told.contains("no logs were found: logs/**/*.jsonl") && told.contains("1 new, "), "{told}");
}

#[test]
fn a_merge_that_was_stopped_is_no_night() {
    for is_complete in [true, false] {
        let dir = job();
        night(&dir).ok();
        dir.write("logs/a.jsonl", jsonl(9, 51));
        night(&dir).ok();
        condenser(dir.root(), &["merge", "store"]).ok();
        std::fs::remove_file(dir.path("store/nights/00003.json.zst")).expect("it was there");
        if !is_complete {
            std::fs::remove_file(dir.path("store/runs/00003-merged/manifest.json")).expect("it was there");
        }
        let told = night(&dir).ok().stderr;
        assert!(told.contains("00003-merged is of a merge that was stopped") && told.contains("1 unchanged"), "{told}");
        assert!(!dir.path("store/nights/00003.json.zst").exists());
        // The merge goes on where it was.
        condenser(dir.root(), &["merge", "store", "--yes"]).ok();
        let runs: Vec<String> = sources(&dir).into_iter().map(|(run, _)| run).collect();
        assert_eq!(runs, ["00003-merged"]);
        condenser(dir.root(), &["verify", "store"]).ok();
    }
}

#[test]
fn a_run_that_nobody_can_finish_is_named_and_deleted_when_that_is_asked_for() {
    let (night_document, manifest) = ("store/nights/#.json.zst", "store/runs/#/manifest.json");
    let dir = job();
    let stop = |number: usize, files: &[&str]| {
        for name in files {
            let name = name.replace('#', &format!("{number:05}"));
            std::fs::remove_file(dir.path(&name)).expect("it was there");
        }
    };
    let ls = |args: &[&str]| condenser(dir.root(), &[&["ls", "store"], args].concat()).ok().stdout;
    let verify = || condenser(dir.root(), &["verify", "store"]).ok().stderr;
    night(&dir).ok();
    // The second night is stopped, and its log changes: the third takes it again.
    dir.write("logs/b.jsonl", jsonl(5, 52));
    night(&dir).ok();
    stop(2, &[night_document, manifest]);
    let told = verify();
    assert!(told.contains("run 00002 is not finished; the next call goes on with it"), "{told}");
    let listed: Value = serde_json::from_slice(&ls(&["--json"])).expect("JSON");
    assert_eq!(listed["abandoned"], json!([]));
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    assert!(dir.path("store/runs/00002").exists(), "it could be gone on with");
    dir.write("logs/b.jsonl", jsonl(6, 53));
    assert!(night(&dir).ok().stderr.contains("00002 was not finished and cannot be"));
    // Complete, but in no night: no command deletes it, and the next call enters it.
    dir.write("logs/c.jsonl", jsonl(7, 54));
    night(&dir).ok();
    stop(4, &[night_document]);
    let before = files(&dir.path("store"));
    let listed: Value = serde_json::from_slice(&ls(&["--json"])).expect("JSON");
    assert_eq!(listed["abandoned"], json!(["00002"]));
    let listed = String::from_utf8(ls(&[])).expect("text");
    assert!(listed.ends_with("1 run never finished and needed by nobody: 00002\n"), "{listed}");
    let told = verify();
    for says in ["run 00002 was never finished, and nothing refers to it", "run 00004 is complete, but no night has it"]
    {
        assert!(told.contains(says), "{told}");
    }
    assert!(before == files(&dir.path("store")));
    night(&dir).ok();
    assert_eq!(sources(&dir).last().map(|(run, _)| run.as_str()), Some("00004"));
    let told = condenser(dir.root(), &["merge", "store"]).ok().stderr;
    assert!(told.contains("1 run never finished and needed by nobody: 00002; --yes"), "{told}");
    assert!(dir.path("store/runs/00002").exists());
    let told = condenser(dir.root(), &["merge", "store", "--yes"]).ok().stderr;
    assert!(told.contains("4 runs deleted"), "{told}");
    let runs: Vec<String> = files(&dir.path("store/runs")).into_keys().collect();
    assert!(runs.iter().all(|name| name.starts_with("00005-merged/")), "{runs:?}");
    condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
    assert!(files(&dir.path("back")).into_iter().eq(files(&dir.path("logs"))));
    assert_eq!(verify().lines().count(), 1);
}

#[test]
fn a_night_says_which_of_its_conversations_were_not_at_rest() {
    let dir = job();
    dir.write("job.toml", JOB.replace("rested_after = 0", "as_of = \"2031-05-06T13:00:00Z\""));
    let dated = |id: &str, day: usize| {
        let messages = crate::nights::session(4, day);
        json!({"id": id, "updated_at": format!("2031-05-{day:02}T12:00:00Z"), "messages": messages}).to_string() + "\n"
    };
    dir.write("logs/a.jsonl", dated("a", 6));
    night(&dir).ok();
    dir.write("logs/b.jsonl", dated("b", 6));
    night(&dir).ok();
    let whole = files(&dir.path("store"));
    let names = ["open/00001.json.zst", "open/00002.json.zst"];
    // Gone, or another night's.
    for (name, other) in [(names[0], names[1]), (names[1], names[0])] {
        let path = format!("store/{name}");
        std::fs::remove_file(dir.path(&path)).expect("it was there");
        assert!(condenser(dir.root(), &["verify", "store"]).exits(4).stderr.contains(name));
        dir.write(&path, &whole[other]);
        assert!(condenser(dir.root(), &["verify", "store"]).exits(4).stderr.contains(name));
        dir.write(&path, &whole[name]);
    }
    condenser(dir.root(), &["verify", "store"]).ok();
    // Without it no night knows what is due; a merge finds it out.
    std::fs::remove_file(dir.path("store/open/00002.json.zst")).expect("it was there");
    let as_of = ["run", "job.toml", "--set", "compaction.as_of=\"2031-05-12T12:00:00Z\""];
    let told = condenser(dir.root(), &as_of).exits(4).stderr;
    assert!(told.contains(names[1]) && told.contains("hint: `condenser merge`"), "{told}");
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    condenser(dir.root(), &["verify", "store"]).ok();
    assert!(dir.path("store/open/00003.json.zst").exists());
    assert!(condenser(dir.root(), &as_of).ok().stderr.contains("2 older conversations looked at again"));
    // Nights of before do not say it.
    change_night(&dir, "store/nights/00003.json.zst", |night| {
        night.as_object_mut().expect("an object").remove("open_blake3").expect("it was there");
    });
    condenser(dir.root(), &["verify", "store"]).ok();
}

#[test]
fn a_run_of_a_night_that_is_not_whole_is_damaged() {
    let dir = job();
    night(&dir).ok();
    dir.write("logs/a.jsonl", jsonl(9, 51));
    night(&dir).ok();
    let id: Value = serde_json::from_str(jsonl(1, 51).lines().next().expect("a line")).expect("JSON");
    let id = id["id"].as_str().expect("text");
    let manifest = "store/runs/00001/manifest.json";
    let commands = [
        &["verify", "store"][..],
        &["restore", "store", "-o", "back"],
        &["report", "store"],
        &["merge", "store"],
        &["expire", "store", "--older-than", "0d"],
        &["get", "store", id],
    ];
    let check = || {
        std::fs::remove_dir_all(dir.path("store/index")).unwrap_or_default();
        for args in commands {
            let told = condenser(dir.root(), args).exits(4).stderr;
            assert!(told.contains("runs/00001/manifest.json: the file is missing"), "{args:?}: {told}");
        }
    };
    std::fs::remove_file(dir.path(manifest)).expect("it was there");
    check();
    std::fs::remove_dir_all(dir.path("store/runs/00001")).expect("it was there");
    check();
}

/// As a kill leaves it right before the night is written down.
fn lose_night(dir: &TestDir, number: usize) {
    std::fs::remove_file(dir.path(&format!("store/nights/{number:05}.json.zst"))).expect("it was there");
    drop(std::fs::remove_dir_all(dir.path("store/index")));
}

#[test]
fn a_merge_enters_the_complete_run_of_a_night_that_was_stopped() {
    let dir = job();
    for n_records in [8, 9, 10] {
        dir.write("logs/a.jsonl", jsonl(n_records, 51));
        dir.write(&format!("logs/{n_records}.jsonl"), jsonl(2, n_records as u64));
        night(&dir).ok();
    }
    lose_night(&dir, 3);
    // Whatever the folder in which it is called: names begin where the job was.
    dir.write("elsewhere/x", "");
    let told = condenser(&dir.path("elsewhere"), &["merge", "../store", "--yes"]).ok().stderr;
    assert!(told.contains("00003 was complete, and no night had it") && told.contains("3 nights"), "{told}");
    let runs: Vec<String> = files(&dir.path("store/runs")).into_keys().collect();
    assert!(runs.iter().all(|name| name.starts_with("00004-merged/")), "{runs:?}");
    let verified = condenser(dir.root(), &["verify", "store"]).ok().stderr;
    assert_eq!(verified.lines().count(), 1, "{verified}");
    condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
    assert!(files(&dir.path("back")).into_iter().eq(files(&dir.path("logs"))));
    assert!(night(&dir).ok().stderr.contains("0 new, 0 grown, 0 changed"));
}

#[test]
fn a_merge_that_was_stopped_and_passed_is_abandoned() {
    let dir = job();
    for n_records in [8, 9] {
        dir.write("logs/a.jsonl", jsonl(n_records, 51));
        night(&dir).ok();
    }
    condenser(dir.root(), &["merge", "store"]).ok();
    lose_night(&dir, 3);
    let told = condenser(dir.root(), &["verify", "store"]).ok().stderr;
    assert!(told.contains("run 00003-merged is of a merge that was stopped; the next `condenser merge`"), "{told}");
    dir.write("logs/a.jsonl", jsonl(10, 51));
    night(&dir).ok();
    let told = condenser(dir.root(), &["verify", "store"]).ok().stderr;
    assert!(told.contains("run 00003-merged was never finished"), "{told}");
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    let runs: Vec<String> = files(&dir.path("store/runs")).into_keys().collect();
    assert!(runs.iter().all(|name| name.starts_with("00005-merged/")), "{runs:?}");
    condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
    assert!(files(&dir.path("back")).into_iter().eq(files(&dir.path("logs"))));
}

#[test]
fn a_store_that_lacks_the_document_of_a_night_is_damaged() {
    let dir = job();
    for name in ["b", "c"] {
        night(&dir).ok();
        dir.write(&format!("logs/{name}.jsonl"), jsonl(3, u64::from(name.as_bytes()[0])));
    }
    night(&dir).ok();
    let (document, whole) = ("nights/00002.json.zst", files(&dir.path("store")));
    lose_night(&dir, 2);
    let lost = files(&dir.path("store"));
    let failing =
        [&["verify", "store"][..], &["merge", "store", "--yes"], &["expire", "store", "--older-than", "0d", "--yes"]];
    for args in failing {
        let told = condenser(dir.root(), args).exits(4).stderr;
        let says = format!("store/{document}: the file is missing: nothing says any more what run 00002 holds");
        assert!(told.contains(&says) && told.contains("hint: put it back"), "{args:?}: {told}");
    }
    assert!(dir.path("logs/a.jsonl").exists());
    let id: Value = serde_json::from_str(jsonl(1, 51).lines().next().expect("a line")).expect("JSON");
    let id = id["id"].as_str().expect("text");
    let telling = [
        &["restore", "store", "-o", "back"][..],
        &["restore", "store", "--conversation", id],
        &["get", "store", id],
        &["show", "store", id],
        &["ls", "store"],
        &["report", "store"],
        &["report", "store", "--against", "previous-night"],
    ];
    for args in telling {
        let told = condenser(dir.root(), args).ok().stderr;
        assert!(told.contains(&format!("{document} is missing: nothing says any more what run 00002 holds")), "{told}");
    }
    drop(std::fs::remove_dir_all(dir.path("store/index")));
    assert!(lost == files(&dir.path("store")), "nothing was written");
    // What is there is taken all the same.
    let told = night(&dir).exits(4).stderr;
    assert!(told.contains("1 new, 0 grown") && told.contains(document), "{told}");
    let source = |(_, source): (String, String)| source;
    assert_eq!(sources(&dir).into_iter().map(source).filter(|source| source == "logs/b.jsonl").count(), 1);
    dir.write(&format!("store/{document}"), &whole[document]);
    condenser(dir.root(), &["verify", "store"]).ok();
    night(&dir).ok();
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    // The document of a merged run is missed too, once what it replaced is gone.
    dir.write("logs/d.jsonl", jsonl(3, 99));
    night(&dir).ok();
    lose_night(&dir, 5);
    condenser(dir.root(), &["merge", "store", "--yes"]).exits(4);
    assert!(dir.path("store/runs/00005-merged/manifest.json").exists());
}

#[test]
fn a_run_that_an_earlier_version_left_out_of_a_merge_is_no_damage() {
    let dir = job();
    for n_records in [8, 9] {
        dir.write("logs/a.jsonl", jsonl(n_records, 51));
        night(&dir).ok();
    }
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    // It came before the merge.
    for (name, bytes) in files(&dir.path("store/runs/00003-merged")) {
        dir.write(&format!("store/runs/00002-left/{name}"), bytes);
    }
    let told = condenser(dir.root(), &["verify", "store"]).ok().stderr;
    assert!(told.contains("run 00002-left stands in no night"), "{told}");
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    assert!(dir.path("store/runs/00002-left").exists());
}

#[test]
fn a_night_of_which_not_every_state_is_kept_is_not_given_for_a_whole_one() {
    let dir = job();
    dir.write("logs/b.jsonl", jsonl(5, 52));
    night(&dir).ok();
    let before = files(&dir.path("logs"));
    dir.write("logs/a.jsonl", jsonl(9, 51));
    night(&dir).ok();
    // Cut, so that the state before is kept.
    dir.write("logs/a.jsonl", jsonl(4, 51));
    night(&dir).ok();
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    let restore = |night: &str, code: i32| {
        drop(std::fs::remove_dir_all(dir.path("back")));
        let told = condenser(dir.root(), &["restore", "store", "--night", night, "-o", "back"]).exits(code).stderr;
        (told, if dir.path("back").exists() { files(&dir.path("back")) } else { BTreeMap::new() })
    };
    let (told, back) = restore("1", 1);
    assert!(told.contains("night 00001: 1 log is all that is kept of this night; the rest was merged away"), "{told}");
    assert_eq!((back.len(), &back["b.jsonl"]), (1, &before["b.jsonl"]));
    let (told, back) = restore("2", 1);
    assert!(told.contains("night 00002: 1 log is all"), "{told}");
    assert_eq!((back.len(), &*back["a.jsonl"]), (1, jsonl(9, 51).as_bytes()));
    let stream = condenser(dir.root(), &["restore", "store", "--night", "2"]).exits(1);
    assert_eq!(stream.stdout, jsonl(9, 51).as_bytes());
    let (_, back) = restore("3", 0);
    assert!(back == files(&dir.path("logs")));
    // It is as much after another merge, and nights that came since are whole.
    dir.write("logs/b.jsonl", jsonl(6, 52));
    night(&dir).ok();
    condenser(dir.root(), &["merge", "store", "--every-state", "--yes"]).ok();
    assert_eq!((restore("1", 1).1.len(), restore("2", 1).1.len()), (1, 1));
    assert_eq!(restore("3", 0).1["b.jsonl"], before["b.jsonl"]);
    assert!(restore("5", 0).1 == files(&dir.path("logs")));
    let (told, _) = restore("7", 2);
    assert!(
        told.contains("the store has no night 7; the last is 00005; states of single logs are kept of 00001, 00002"),
        "{told}"
    );
    condenser(dir.root(), &["verify", "store"]).ok();
}

#[test]
fn a_dry_run_takes_its_sample_from_what_is_new() {
    let dir = job();
    let packed = |lines: &str| {
        use std::io::Write;
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(lines.as_bytes()).expect("memory takes all");
        gz.finish().expect("memory takes all")
    };
    let all = jsonl(60, 51);
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    dir.write("logs/a.jsonl", lines[..58].concat());
    dir.write("logs/b.jsonl.gz", packed(&lines[..57].concat()));
    night(&dir).ok();
    dir.write("logs/a.jsonl", &all);
    dir.write("logs/b.jsonl.gz", packed(&all));
    let store = files(&dir.path("store"));
    let told = condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok();
    let told = String::from_utf8(told.stdout).expect("text");
    let new = lines[58..].concat().len() + lines[57..].concat().len();
    let of_text = if new < 1024 { format!("{new} B") } else { format!("{:.1} KiB", new as f64 / 1024.0) };
    for says in
        ["0 new, 2 grown", &*format!("sample: {of_text} of text, 5 records, from the beginnings of 2 of 2 files")]
    {
        assert!(told.contains(says), "{says}: {told}");
    }
    let plain = lines[58..].concat().len();
    let plain = if plain < 1024 {
        format!("{plain} B  logs/a.jsonl")
    } else {
        format!("{:.1} KiB  logs/a.jsonl", plain as f64 / 1024.0)
    };
    assert!(told.contains(&plain), "{plain}: {told}");
    assert!(store == files(&dir.path("store")));
}

#[test]
fn nothing_is_restored_into_the_store_itself() {
    let dir = job();
    night(&dir).ok();
    let store = files(&dir.path("store"));
    for output in ["store", "store/", "./store/runs/back", "logs/../store/new/deep"] {
        let told = condenser(dir.root(), &["restore", "store", "-o", output]).exits(2).stderr;
        assert!(told.contains("this lies in what is restored; name a folder elsewhere"), "{told}");
    }
    assert!(store == files(&dir.path("store")));
    condenser(dir.root(), &["restore", "store", "-o", "store-back"]).ok();
    condenser(&dir.path("store"), &["restore", ".", "-o", "../back"]).ok();
    assert!(files(&dir.path("back")).into_iter().eq(files(&dir.path("logs"))));
}

#[test]
fn a_store_is_no_folder_of_logs() {
    let dir = job();
    night(&dir).ok();
    for args in [&["compress", "store", "-o", "run"][..], &["explain", "store"]] {
        let told = condenser(dir.root(), args).exits(2).stderr;
        assert!(told.contains("store: this is a store of nights, not a folder of logs"), "{told}");
        assert!(told.contains("hint: restore its logs (`condenser restore STORE -o FOLDER`)"), "{told}");
    }
    // One that lies among logs is passed by, as runs are.
    std::fs::remove_file(dir.path("job.toml")).expect("it was there");
    condenser(dir.root(), &["compress", ".", "-o", "run"]).ok();
    condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
    assert_eq!(files(&dir.path("back")).len(), 1);
}

#[test]
fn a_store_in_a_folder_of_its_logs_is_refused_at_once() {
    for inputs in ["[\".\"]", "[\"logs\", \"./\"]", "[\"archive\"]"] {
        let dir = job();
        dir.write("archive/b.jsonl", jsonl(2, 52));
        dir.write("job.toml", JOB.replace("[\"logs\"]", inputs).replace("\"store\"", "\"archive/store\""));
        for more in [&["--dry-run"][..], &[]] {
            let told = condenser(dir.root(), &[&["run", "job.toml"], more].concat()).exits(2).stderr;
            assert!(told.contains("the store archive/store would lie in this folder of inputs"), "{told}");
        }
        assert!(!dir.path("archive/store").exists());
    }
}

#[test]
fn a_command_that_finds_nothing_asks_for_a_run_or_a_store() {
    let dir = TestDir::new();
    for command in ["verify", "restore", "ls", "report"] {
        let told = condenser(dir.root(), &[command, "nothere"]).exits(2).stderr;
        assert!(told.contains("or a store of nights"), "{command}: {told}");
    }
}
