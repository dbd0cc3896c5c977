//! Conversations that go on where they stand, in a line of a log that is written anew, and logs that are damaged for a night.

use crate::nights::{check_states, night, record, session, size_of};
use crate::support::command::{TestCommand, condenser};
use crate::support::dir::{TestDir, files};

const JOB: &str = "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ncompaction.rested_after = 0\n";

#[test]
fn a_conversation_stands_once_when_its_log_was_cut_or_merged_on_the_way() {
    let line = |n_messages: usize| record("s", &session(40, 3)[..n_messages]);
    let others: String = (0..8).map(|n| record(&format!("o{n}"), &session(40, 20 + n))).collect();
    let cut = others.lines().next().expect("a line").to_owned() + "\n";
    let torn = others.chars().take(others.chars().count() - 9).collect::<String>();
    let get = |dir: &TestDir, id: &str| {
        let text = |command: TestCommand| String::from_utf8(command.ok().stdout).expect("text");
        let shown = text(condenser(dir.root(), &["get", "store", id, "--compressed"]));
        assert_eq!(shown.lines().count(), 1, "{id}");
        text(condenser(dir.root(), &["get", "store", id]))
    };
    for merge in [&["--yes"][..], &["--every-state", "--yes"], &[]] {
        let dir = TestDir::new();
        dir.write("job.toml", JOB);
        // In its place, before a merge and after it.
        for n_messages in [2, 6] {
            dir.write("logs/a.jsonl", line(n_messages));
            night(&dir);
        }
        condenser(dir.root(), &[&["merge", "store"], merge].concat()).ok();
        for n_messages in [8, 12] {
            dir.write("logs/a.jsonl", line(n_messages));
            night(&dir);
            assert_eq!(get(&dir, "s"), line(n_messages));
            assert!(condenser(dir.root(), &["show", "store", "s"]).ok().stdout.starts_with(b"s "));
        }
    }
    // Cut or empty for a night, and whole again.
    for between in [String::new(), cut.clone(), torn] {
        let dir = TestDir::new();
        dir.write("job.toml", JOB);
        let mut sizes = Vec::new();
        for state in [&others, &between, &others] {
            dir.write("logs/a.jsonl", state);
            // A torn line is a reject.
            let is_torn = !state.is_empty() && !state.ends_with('\n');
            condenser(dir.root(), &["run", "job.toml"]).exits(if is_torn { 3 } else { 0 });
            sizes.push(size_of(&dir, "store/runs"));
        }
        for (n, line) in others.lines().enumerate() {
            assert_eq!(get(&dir, &format!("o{n}")).trim_end(), line);
        }
        let (first, last) = (sizes[0], sizes[2] - sizes[1]);
        assert!(last * 10 < first * 8, "it is stored once more: {first} bytes at first, {last} at last");
        condenser(dir.root(), &["verify", "store"]).ok();
    }
}

#[test]
fn records_of_one_id_stay_beside_each_other() {
    let line = |seed: usize| record("u", &session(3, seed));
    // Each letter is a record, each word a state of the log: the last one is what there is.
    for history in ["B A AC", "B E A AB", "B C CB", "BA BC C CC", "CAAA CBABA CBABAC CBABCC"] {
        let dir = TestDir::new();
        dir.write("job.toml", format!("{JOB}split_size = \"4KiB\"\n"));
        let mut last: Vec<String> = Vec::new();
        for state in history.split(' ') {
            last = state.bytes().map(|letter| line(usize::from(letter))).collect();
            dir.write("logs/a.jsonl", last.concat());
            night(&dir);
        }
        last.sort_unstable();
        let check = || {
            let found = String::from_utf8(condenser(dir.root(), &["get", "store", "u"]).ok().stdout).expect("text");
            let mut found: Vec<&str> = found.split_inclusive('\n').collect();
            found.sort_unstable();
            assert_eq!(found, last, "{history}");
        };
        check();
        condenser(dir.root(), &["merge", "store", "--yes"]).ok();
        check();
    }
}

#[test]
fn sessions_that_go_on_where_they_stand_take_no_more_when_they_are_merged() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    let sessions: Vec<_> = (0..12).map(|seed| session(16, seed)).collect();
    let mut states = Vec::new();
    for round in 1..=8 {
        let line = |(n, session): (usize, &Vec<_>)| record(&format!("s{n}"), &session[..session.len() * round / 8]);
        dir.write("logs/a.jsonl", sessions.iter().enumerate().map(line).collect::<String>());
        night(&dir);
        states.push(files(&dir.path("logs")));
    }
    let before = size_of(&dir, "store");
    condenser(dir.root(), &["merge", "store", "--every-state", "--yes"]).ok();
    check_states(&dir, &states);
    let after = size_of(&dir, "store");
    assert!(after < before, "{before} bytes became {after}");
    for (n, session) in sessions.iter().enumerate() {
        let found = condenser(dir.root(), &["get", "store", &format!("s{n}")]).ok().stdout;
        assert_eq!(String::from_utf8(found).expect("text"), record(&format!("s{n}"), session));
    }
}

#[cfg(unix)]
#[test]
fn what_no_night_can_take_keeps_no_other_log_from_being_taken() {
    use std::os::unix::ffi::OsStrExt;
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    dir.write("logs/a.jsonl", record("a", &session(3, 1)));
    std::os::unix::fs::symlink("nowhere", dir.path("logs/b.jsonl")).expect("a link");
    let odd = dir.path("logs").join(std::ffi::OsStr::from_bytes(b"c\xff.jsonl"));
    std::fs::write(odd, record("c", &session(3, 2))).expect("a file");
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(1).stderr;
    for says in ["logs/b.jsonl: the link leads to nothing", "the name is no UTF-8"] {
        assert!(told.contains(says), "{told}");
    }
    condenser(dir.root(), &["get", "store", "a"]).ok();
}

#[test]
fn a_log_that_was_packed_anew_expires() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    let text = record("a", &session(30, 1));
    let pack = |level| zstd::encode_all(text.as_bytes(), level).expect("memory takes all");
    dir.write("logs/a.jsonl.zst", pack(1));
    night(&dir);
    assert_ne!(pack(1).len(), pack(19).len());
    dir.write("logs/a.jsonl.zst", pack(19));
    night(&dir);
    condenser(dir.root(), &["expire", "store", "--older-than", "0d", "--yes"]).ok();
    assert!(files(&dir.path("logs")).is_empty());
    condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
    assert_eq!(String::from_utf8(dir.read("back/a.jsonl")).expect("text"), text);
}

#[test]
fn records_without_ids_are_numbered_over_all_nights_of_their_log() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    let line =
        |n: usize| serde_json::json!({"messages": [{"role": "user", "content": format!("Number {n}.")}]}).to_string();
    let lines: Vec<String> = (0..12).map(line).collect();
    // Behind a byte order mark and a blank line, of which a night of its own is made.
    let (mut log, mut unfinished) = ("\u{feff} \n".to_owned(), String::new());
    dir.write("logs/a.jsonl", &log);
    night(&dir);
    // With blank lines between them; a line that is torn for a night is one record.
    for round in lines.chunks(3) {
        log += &format!("{unfinished}\n{}\n  \n{}\n", round[0], round[1]);
        let (torn, rest) = round[2].split_at(9);
        dir.write("logs/a.jsonl", log.clone() + torn);
        condenser(dir.root(), &["run", "job.toml"]).exits(3);
        (log, unfinished) = (log + torn, rest.to_owned());
    }
    dir.write("logs/a.jsonl", log + &unfinished + "\n");
    night(&dir);
    let check = || {
        for (n, line) in lines.iter().enumerate() {
            let found = condenser(dir.root(), &["get", "store", &format!("logs/a.jsonl#{n}")]).ok().stdout;
            assert_eq!(String::from_utf8(found).expect("text").trim_start_matches('\u{feff}').trim(), line, "{n}");
        }
        condenser(dir.root(), &["show", "store", "logs/a.jsonl#0"]).ok();
        condenser(dir.root(), &["verify", "store"]).ok();
    };
    check();
    condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    check();
}
