//! Runs in which something was changed at random: a byte, a block, a file, a value of a document that was sealed anew.
//! Whoever reads them ends with an error or with what the undamaged run gives.

use std::collections::BTreeMap;

use condenser::app::{App, ReportRequest, report};
use condenser::io::store::Stores;
use condenser::pipeline::{ReportArgs, Silent};

use super::documents::{change_commit, change_manifest, odd_value, promise};
use super::{age, call, count, draw, event_log, exits, files_of, write_inputs, write_store};
use crate::support::chats::{Seeded, jsonl};
use crate::support::dir::{TestDir, files};
use crate::support::nights::logs_of;

/// A run and what its readers give while it is whole.
struct Subject {
    name: &'static str,
    dir: TestDir,
    run: &'static str,
    readers: Vec<Reader>,
    restored: BTreeMap<String, Vec<u8>>,
    /// Files of the run, whole.
    files: BTreeMap<String, Vec<u8>>,
}

struct Reader {
    args: Vec<String>,
    stdout: Vec<u8>,
}

impl Subject {
    /// `id` names a conversation of the run.
    fn new(name: &'static str, dir: TestDir, run: &'static str, id: &str) -> Self {
        let commands: [&[&str]; 9] = [
            &["verify", run],
            &["ls", run],
            &["ls", run, "--json"],
            &["get", run, id],
            &["get", run, id, "--compressed"],
            &["show", run, id],
            &["show", run, id, "--json"],
            &["report", run, "--json"],
            &["restore", run, "-o", "back", "--quiet"],
        ];
        let readers = commands.iter().map(|args| Reader {
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            stdout: exits(dir.root(), args, 0).stdout,
        });
        let readers = readers.collect();
        let restored = files_of(&dir, "back");
        assert!(!restored.is_empty());
        let files = files(&dir.path(run));
        Self { name, dir, run, readers, restored, files }
    }

    /// Calls every reader on the run as it is now. With `any`, other answers than those of the whole run may be right.
    fn read(&self, change: &str, any: bool) -> Tally {
        let mut tally = Tally::default();
        for reader in &self.readers {
            let args: Vec<&str> = reader.args.iter().map(String::as_str).collect();
            let is_restore = args[0] == "restore";
            if is_restore && self.dir.path("back").exists() {
                std::fs::remove_dir_all(self.dir.path("back")).expect("it can be removed");
            }
            let ended = call(self.dir.root(), &args);
            let told = || format!("{}: {change}: {args:?}\n{}", self.name, ended.stderr);
            tally.calls += 1;
            if ended.code == 0 {
                tally.clean += 1;
                assert!(any || ended.stdout == reader.stdout, "other bytes and exit code 0: {}", told());
            } else {
                assert!(ended.stderr.contains("error: "), "no word of it: {}", told());
            }
            if is_restore && !any {
                let found = files_of(&self.dir, "back");
                let wrong = found.iter().find(|(name, bytes)| self.restored.get(*name) != Some(bytes));
                assert!(wrong.is_none(), "{:?} is wrong: {}", wrong.map(|(name, _)| name), told());
                assert!(ended.code != 0 || found.len() == self.restored.len(), "a file is missing: {}", told());
            }
            if args[0] == "verify" && !any {
                assert_ne!(ended.code, 0, "the change is not seen: {}", told());
            }
        }
        tally
    }

    /// Puts everything back.
    fn mend(&self) {
        for (name, bytes) in &self.files {
            let path = self.dir.path(self.run).join(name);
            if path.is_dir() {
                std::fs::remove_dir(&path).expect("it is empty");
            }
            if std::fs::read(&path).ok().as_ref() != Some(bytes) {
                std::fs::write(&path, bytes).expect("a file can be written");
            }
        }
    }

    fn attack(&self, seeded: &mut Seeded) -> Tally {
        let names: Vec<&String> = self.files.keys().collect();
        let name = names[seeded.below(names.len())];
        let path = format!("{}/{name}", self.run);
        let before = &self.files[name];
        let part = name.rsplit("part-").next().and_then(|rest| rest.get(..5)).and_then(|part| part.parse().ok());
        let tally = match (name.split('/').next(), part) {
            // Somebody who knows how to seal a document.
            (Some("commits"), Some(part)) if seeded.below(2) == 0 => {
                let mut at = String::new();
                change_commit(&self.dir, self.run, part, |commit| at = odd_value(commit, seeded));
                self.read(&format!("{name}: another value at {at}"), true)
            }
            (Some("manifest.json"), _) if seeded.below(2) == 0 => {
                let mut at = String::new();
                change_manifest(&self.dir, self.run, |manifest| at = odd_value(manifest, seeded));
                self.read(&format!("{name}: another value at {at}"), true)
            }
            _ => {
                let Some((change, bytes)) = changed(before, &self.files, seeded) else { return Tally::default() };
                if let Some(bytes) = bytes {
                    self.dir.write(&path, bytes);
                } else {
                    std::fs::remove_file(self.dir.path(&path)).expect("it was there");
                    if change == "a folder instead" {
                        std::fs::create_dir(self.dir.path(&path)).expect("a folder can be made");
                    }
                }
                let is_promised = part.is_some_and(|_| self.dir.path(&path).is_file() && !name.starts_with("commits/"));
                if is_promised && seeded.below(4) == 0 {
                    promise(&self.dir, self.run, part.expect("it has a part"), name);
                    self.read(&format!("{name}: {change}, and promised"), true)
                } else {
                    self.read(&format!("{name}: {change}"), false)
                }
            }
        };
        self.mend();
        Tally { changes: 1, ..tally }
    }
}

#[derive(Default)]
struct Tally {
    changes: usize,
    calls: usize,
    clean: usize,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.changes += other.changes;
        self.calls += other.calls;
        self.clean += other.clean;
    }
}

/// What was done to the bytes, and the bytes; `None` for bytes that are gone. Nothing when nothing would change.
fn changed(
    before: &[u8],
    others: &BTreeMap<String, Vec<u8>>,
    seeded: &mut Seeded,
) -> Option<(String, Option<Vec<u8>>)> {
    let mut bytes = before.to_vec();
    let n = bytes.len().max(1);
    let (at, long) = (seeded.below(n), 1 + seeded.below(n.min(300)));
    let end = (at + long).min(bytes.len());
    let what = match seeded.below(12) {
        0 => return Some(("gone".to_owned(), None)),
        1 => return Some(("a folder instead".to_owned(), None)),
        2 => {
            bytes.truncate(at);
            format!("cut off at {at}")
        }
        3 => {
            bytes.drain(at.min(bytes.len())..end);
            format!("{at}..{end} left out")
        }
        4 => {
            let noise: Vec<u8> = (0..long).map(|_| seeded.below(256) as u8).collect();
            bytes.splice(at.min(bytes.len())..at.min(bytes.len()), noise);
            format!("{long} bytes of noise put in at {at}")
        }
        5 => {
            bytes.get_mut(at..end)?.fill(0);
            format!("zeros at {at}..{end}")
        }
        6 => {
            let last = bytes.len().checked_sub(1)?;
            let other = seeded.below(n);
            bytes.swap(at, other.min(last));
            format!("bytes {at} and {other} swapped")
        }
        7 => {
            let all: Vec<&Vec<u8>> = others.values().collect();
            bytes.clone_from(all[seeded.below(all.len())]);
            "another file of the run".to_owned()
        }
        8 => {
            bytes.extend_from_slice(before.get(..long.min(before.len()))?);
            "its beginning behind its end".to_owned()
        }
        9 => {
            bytes.get_mut(at..end)?.iter_mut().for_each(|byte| *byte = 0xff);
            format!("ones at {at}..{end}")
        }
        _ => {
            *bytes.get_mut(at)? ^= 1 << seeded.below(8);
            format!("a bit at {at}")
        }
    };
    (bytes != before).then_some((what, Some(bytes)))
}

fn from_lines(name: &'static str, flags: &[&str]) -> Subject {
    let dir = TestDir::new();
    write_inputs(&dir, "in", 60, 81);
    let args = ["compress", "in", "-o", "run", "--quiet", "--split-size", "20k", "--recency-window", "1"];
    exits(dir.root(), &[&args[..], flags].concat(), 3);
    Subject::new(name, dir, "run", "chat/42")
}

fn from_table() -> Subject {
    let dir = TestDir::new();
    write_inputs(&dir, "in", 60, 82);
    exits(dir.root(), &["compress", "in/b.jsonl", "-o", "first", "--quiet"], 0);
    std::fs::rename(dir.path("first/conversations/part-00000.parquet"), dir.path("in.parquet")).expect("a table");
    exits(dir.root(), &["compress", "in.parquet", "-o", "run", "--quiet", "--recency-window", "0", "--trace"], 0);
    Subject::new("from a table", dir, "run", "chat/4")
}

fn from_events() -> Subject {
    let dir = TestDir::new();
    dir.write("log.jsonl", event_log(6, 83));
    let args = ["compress", "log.jsonl", "-o", "run", "--quiet", "--recency-window", "0", "--format", "jsonl"];
    exits(dir.root(), &args, 0);
    Subject::new("from an event log", dir, "run", "s-3")
}

#[test]
fn a_changed_run_never_crashes_a_reader_and_never_passes_for_another() {
    let subjects: [fn() -> Subject; 5] = [
        || from_lines("Parquet from lines", &["--trace"]),
        || from_lines("JSON lines from lines", &["--format", "jsonl", "--verbatim-map", "--provenance", "metadata"]),
        || from_lines("Arrow from lines", &["--format", "arrow"]),
        from_table,
        from_events,
    ];
    let each = count(6, 200);
    let work = subjects.into_iter().enumerate().map(|(number, subject)| {
        std::thread::spawn(move || {
            let (subject, mut seeded, mut sum) = (subject(), draw(10 + number as u64), Tally::default());
            while sum.changes < each {
                sum.add(&subject.attack(&mut seeded));
            }
            println!(
                "attack: {} changes of a run ({}): {} calls, {} of them clean, none crashed, none gave wrong bytes",
                sum.changes, subject.name, sum.calls, sum.clean
            );
        })
    });
    let work: Vec<_> = work.collect();
    let failed = work.into_iter().filter_map(|work| work.join().err()).count();
    assert_eq!(failed, 0, "see above");
}

/// Found by fuzzing: lengths in a page that a commit promises, which the library for Parquet adds up until they no longer fit.
#[test]
fn a_crafted_table_of_figures_is_damage_and_no_panic() {
    let (app, mut n_damaged) = (App::new().expect("threads"), 0);
    for format in ["parquet", "arrow"] {
        let dir = TestDir::new();
        dir.write("in.jsonl", jsonl(8, 77));
        exits(dir.root(), &["compress", "in.jsonl", "-o", "run", "--format", format], 0);
        let ending = if format == "arrow" { "arrow" } else { "parquet" };
        let name = format!("metrics/part-00000.{ending}");
        let whole = dir.read(&format!("run/{name}"));
        let exactly = ReportRequest {
            runs: vec![dir.path("run")],
            together: false,
            exact: true,
            settings: ReportArgs::default(),
            stores: Stores::default(),
        };
        report(&app, &exactly, &Silent).expect("it is whole");
        for at in (0..whole.len()).step_by(whole.len() / 100) {
            let end = (at + 12).min(whole.len());
            let mut bytes = whole.clone();
            bytes[at..end].copy_from_slice(&[0xFF; 12][..end - at]);
            dir.write(&format!("run/{name}"), &bytes);
            promise(&dir, "run", 0, &name);
            n_damaged += usize::from(report(&app, &exactly, &Silent).is_err());
        }
    }
    assert!(n_damaged > 50, "{n_damaged} tables were damaged");
}

/// A table of a store's run: its name in the store, its run and its part.
fn run_and_part(name: &str) -> Option<(&str, usize)> {
    let (run, rest) = name.strip_prefix("runs/")?.split_once('/')?;
    let part = rest.split_once("part-")?.1.get(..5)?.parse().ok()?;
    Some((run, part)).filter(|_| !rest.starts_with("commits/"))
}

#[test]
fn a_changed_store_never_crashes_and_never_lets_an_original_go_that_it_does_not_restore() {
    let dir = TestDir::new();
    write_store(&dir);
    let logs = files(&dir.path("logs"));
    let store = super::store_files(&dir, "store");
    // In which run and part the latest version of each log stands.
    let mut places: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for entry in logs_of(&dir, "store") {
        let text = |key: &str| entry[key].as_str().expect("text").to_owned();
        let name = text("path").rsplit('/').next().expect("a name").to_owned();
        places.insert(name, (text("run"), entry["parts"][0]["part"].as_u64().expect("a number") as usize));
    }
    let mut seeded = draw(20);
    let (mut n_changes, mut n_deleted) = (0, 0);
    let names: Vec<&String> = store.keys().collect();
    while n_changes < count(6, 100) {
        // Every third change is one of the last night: it is what deletes.
        let night = "nights/00002.json.zst".to_owned();
        let name = if seeded.below(3) == 0 { &night } else { names[seeded.below(names.len())] };
        let Some((change, bytes)) = changed(&store[name], &store, &mut seeded) else { continue };
        let path = dir.path("store").join(name);
        match bytes {
            Some(bytes) => std::fs::write(&path, bytes).expect("it can be written"),
            None => std::fs::remove_file(&path).expect("it was there"),
        }
        for args in [
            &["report", "store", "--json"][..],
            &["verify", "store/runs/00001"],
            &["verify", "store/runs/00002"],
            &["get", "store/runs/00002", "chat/3"],
            &["expire", "store", "--older-than", "30d", "--yes"],
        ] {
            call(dir.root(), args);
        }
        let left = files(&dir.path("logs"));
        for (log, bytes) in &logs {
            if let Some(found) = left.get(log) {
                assert!(found == bytes, "{log} was changed: {name}: {change}");
                continue;
            }
            n_deleted += 1;
            let (run, part) = &places[log];
            let is_damaged = run_and_part(name) == Some((run.as_str(), *part));
            assert!(!is_damaged, "{log} was deleted, but {name} is damaged: {change}");
        }
        for (log, bytes) in &logs {
            if !left.contains_key(log) {
                age(&dir.write(&format!("logs/{log}"), bytes));
            }
        }
        std::fs::write(&path, &store[name]).expect("it can be written");
        n_changes += 1;
    }
    println!("attack: {n_changes} changes of a store: {n_deleted} originals deleted, each of them restorable");
}
