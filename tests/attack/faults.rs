//! Faults of the machine while the program works: a full disk, a device that fails, half-done and interrupted calls,
//! no file handles left; when writing, reading, renaming, syncing, opening, deleting. A call that ends well has done
//! its work to the byte; after any other the same call without faults does.

use std::collections::BTreeMap;

use super::shim::shimmed;
use super::{Ended, JOB, age, call_with, copy_folder, count, difference, draw, exits, files_of, store_files};
use crate::support::chats::{Seeded, jsonl};
use crate::support::dir::{TestDir, files};

/// What fails, how, and whether the program must go on as if nothing had happened.
struct Kind {
    calls: &'static str,
    fault: &'static str,
    /// Everything after the first fails too.
    stays: bool,
    is_harmless: bool,
}

const fn kind(calls: &'static str, fault: &'static str, stays: bool, is_harmless: bool) -> Kind {
    Kind { calls, fault, stays, is_harmless }
}

const KINDS: [Kind; 15] = [
    kind("write", "ENOSPC", true, false),
    kind("write", "ENOSPC", false, false),
    kind("write", "EIO", false, false),
    kind("write", "SHORT", true, false),
    kind("write", "SHORT", false, true),
    kind("write", "EINTR", false, true),
    kind("read", "EIO", false, false),
    kind("read", "SHORT", false, true),
    kind("read", "EINTR", false, true),
    kind("rename", "EIO", false, false),
    kind("rename", "ENOSPC", true, false),
    kind("sync", "EIO", false, false),
    kind("open", "EMFILE", true, false),
    kind("open", "EMFILE", false, false),
    kind("open", "EIO", false, false),
];

/// A job: how it is called, what is put there before, and what is wanted of it.
struct Job<'j> {
    name: &'static str,
    args: &'j [&'j str],
    /// Makes everything as it was before the job.
    prepare: &'j dyn Fn(),
    /// What the job leaves: all files that it may write to or delete.
    outcome: &'j dyn Fn() -> BTreeMap<String, Vec<u8>>,
    /// What must hold after any end.
    check: &'j dyn Fn(),
    code: i32,
    /// How it may end otherwise.
    fails: &'static [i32],
    /// What a call says that ends well without having been able to do all: the outcome may be another one then.
    admits: Option<&'static str>,
}

#[derive(Default)]
struct Tally {
    faults: usize,
    failed: usize,
    by_kind: BTreeMap<String, usize>,
}

impl Job<'_> {
    fn call(&self, dir: &TestDir, say: &[(&str, &str)], limit: &str) -> Ended {
        call_with(dir.root(), self.args, &if say.is_empty() { BTreeMap::new() } else { shimmed(say) }, limit)
    }

    fn attack(&self, dir: &TestDir, each: usize, seeded: &mut Seeded) -> Tally {
        // A folder of the system may be reached through a link.
        let below = dir.root().canonicalize().expect("it is there").to_string_lossy().into_owned();
        let counted = dir
            .path("../")
            .canonicalize()
            .expect("it is there")
            .join(format!("{}.count", dir.root().file_name().expect("a name").to_string_lossy()));
        let count_file = counted.to_string_lossy().into_owned();
        (self.prepare)();
        assert_eq!(self.call(dir, &[], "").code, self.code, "{} without faults", self.name);
        let whole = (self.outcome)();
        let mut tally = Tally::default();
        let mut n_calls: BTreeMap<&str, usize> = BTreeMap::new();
        for kind in &KINDS {
            // In every run of the tests each job has some of them.
            if seeded.below(count(3, 1)) > 0 {
                continue;
            }
            if !n_calls.contains_key(kind.calls) {
                (self.prepare)();
                let say = [("BELOW", &*below), ("CALLS", kind.calls), ("COUNT", &count_file)];
                assert_eq!(self.call(dir, &say, "").code, self.code, "{} is counted", self.name);
                assert_eq!(difference(&(self.outcome)(), &whole), None, "{} is counted", self.name);
                let n = std::fs::read(&counted).map_or(0, |bytes| bytes.len());
                drop(std::fs::remove_file(&counted));
                n_calls.insert(kind.calls, n);
            }
            let n = n_calls[kind.calls];
            for _ in 0..if n == 0 { 0 } else { each } {
                let at = (1 + seeded.below(n)).to_string();
                let mut say = vec![("BELOW", &*below), ("CALLS", kind.calls), ("COUNT", &count_file), ("AT", &at)];
                say.push(("FAULT", kind.fault));
                say.extend(kind.stays.then_some(("STAYS", "1")));
                (self.prepare)();
                let ended = self.call(dir, &say, "");
                let is_hit = std::fs::read(&counted).is_ok_and(|bytes| bytes.contains(&b'x'));
                drop(std::fs::remove_file(&counted));
                let told = format!("{}: {} at {} {at} of {n}: {}", self.name, kind.fault, kind.calls, ended.stderr);
                assert!(!is_hit || !kind.is_harmless || ended.code == self.code, "not gone on: {told}");
                self.judge(dir, &ended, &whole, &told);
                tally.faults += usize::from(is_hit);
                tally.failed += usize::from(ended.code != self.code);
                *tally.by_kind.entry(format!("{} {}", kind.calls, kind.fault)).or_default() += usize::from(is_hit);
            }
        }
        // The real thing: no more file handles than so many.
        for _ in 0..each {
            let limit = format!("ulimit -n {}; ", 4 + seeded.below(30));
            (self.prepare)();
            let ended = self.call(dir, &[], &limit);
            self.judge(dir, &ended, &whole, &format!("{}: {limit}: {}", self.name, ended.stderr));
            tally.faults += 1;
            tally.failed += usize::from(ended.code != self.code);
            *tally.by_kind.entry("few handles".to_owned()).or_default() += 1;
        }
        tally
    }

    fn judge(&self, dir: &TestDir, ended: &Ended, whole: &BTreeMap<String, Vec<u8>>, told: &str) {
        if ended.code == self.code && self.admits.is_some_and(|words| ended.stderr.contains(words)) {
            (self.check)();
        } else if ended.code == self.code {
            assert_eq!(difference(&(self.outcome)(), whole), None, "ended well: {told}");
        } else {
            assert!(ended.stderr.contains("error: "), "no word of it: {told}");
            assert!(self.fails.contains(&ended.code), "a fault is neither damage nor wrong usage: {told}");
            (self.check)();
            let again = self.call(dir, &[], "");
            assert_eq!(again.code, self.code, "the same call again: {}\nafter {told}", again.stderr);
            assert_eq!(difference(&(self.outcome)(), whole), None, "the same call again after {told}");
        }
    }
}

fn remove(dir: &TestDir, name: &str) {
    let path = dir.path(name);
    if path.exists() {
        std::fs::remove_dir_all(path).expect("it can be removed");
    }
}

#[test]
fn a_fault_of_the_machine_is_an_error_and_never_damage() {
    let each = count(1, 5);
    let mut sum = Tally::default();
    let mut seeded = draw(40);
    let dir = TestDir::new();
    dir.write("in/a.jsonl", jsonl(80, 121));
    dir.write("in/b.jsonl.zst", zstd::encode_all(jsonl(60, 122).as_bytes(), 1).expect("memory takes all"));
    let nothing = || ();
    let compress = ["compress", "in", "-o", "run", "--quiet", "--split-size", "20k"];
    let job = Job {
        name: "compress",
        args: &compress,
        prepare: &|| remove(&dir, "run"),
        outcome: &|| files_of(&dir, "run"),
        check: &nothing,
        code: 0,
        fails: &[1],
        admits: None,
    };
    add(&mut sum, &job.attack(&dir, each, &mut seeded));
    exits(dir.root(), &["verify", "run", "--against", "in", "--quiet"], 0);
    let restore = ["restore", "run", "-o", "back", "--quiet"];
    let whole =
        || [("a.jsonl".to_owned(), dir.read("in/a.jsonl")), ("b.jsonl".to_owned(), jsonl(60, 122).into_bytes())];
    let job = Job {
        name: "restore",
        args: &restore,
        prepare: &|| remove(&dir, "back"),
        outcome: &|| files_of(&dir, "back"),
        check: &|| {
            let whole: BTreeMap<String, Vec<u8>> = whole().into_iter().collect();
            for (name, bytes) in files_of(&dir, "back") {
                assert!(whole.get(&name) == Some(&bytes), "{name} is not what was compressed");
            }
        },
        code: 0,
        fails: &[1],
        admits: None,
    };
    add(&mut sum, &job.attack(&dir, each, &mut seeded));
    let report = ["report", "run", "--html", "page/report.html"];
    let job = Job {
        name: "report",
        args: &report,
        prepare: &|| {
            remove(&dir, "page");
            std::fs::create_dir(dir.path("page")).expect("a folder can be made");
        },
        outcome: &|| files_of(&dir, "page"),
        check: &nothing,
        code: 0,
        fails: &[1],
        admits: Some("is not in the page"),
    };
    add(&mut sum, &job.attack(&dir, each, &mut seeded));
    add(&mut sum, &of_a_store(each, &mut seeded));
    println!(
        "attack: {} faults, {} of them ended the call: no damage, the same call again gives the same bytes {:?}",
        sum.faults, sum.failed, sum.by_kind
    );
}

/// A night, and the deletion of originals.
fn of_a_store(each: usize, seeded: &mut Seeded) -> Tally {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    for (name, seed) in [("a", 123), ("b", 124)] {
        age(&dir.write(&format!("logs/{name}.jsonl"), jsonl(20, seed)));
    }
    exits(dir.root(), &["run", "job.toml"], 0);
    std::fs::rename(dir.path("store"), dir.path("first")).expect("it can be moved");
    age(&dir.write("logs/c.jsonl", jsonl(30, 125)));
    let logs = files(&dir.path("logs"));
    let first = store_files(&dir, "first");
    let night = Job {
        name: "a night",
        args: &["run", "job.toml"],
        prepare: &|| {
            remove(&dir, "store");
            copy_folder(&dir.path("first"), &dir.path("store"));
        },
        outcome: &|| store_files(&dir, "store"),
        check: &|| {
            let found = store_files(&dir, "store");
            for (name, bytes) in first.iter().filter(|(name, _)| !name.starts_with("index/")) {
                assert!(found.get(name) == Some(bytes), "{name} was changed");
            }
        },
        code: 0,
        // A job file that cannot be read is one that was named wrongly.
        fails: &[1, 2],
        admits: None,
    };
    let mut sum = night.attack(&dir, each, seeded);
    let store = store_files(&dir, "store");
    let expire = Job {
        name: "an expiry",
        args: &["expire", "store", "--older-than", "30d", "--yes", "--quiet"],
        prepare: &|| {
            for (name, bytes) in &logs {
                age(&dir.write(&format!("logs/{name}"), bytes));
            }
        },
        outcome: &|| {
            assert_eq!(difference(&store_files(&dir, "store"), &store), None, "the store was changed");
            files_of(&dir, "logs")
        },
        check: &|| {
            for (name, bytes) in files_of(&dir, "logs") {
                assert!(logs.get(&name) == Some(&bytes), "{name} is neither whole nor gone");
            }
        },
        code: 0,
        // What cannot be read is not proven.
        fails: &[1, 4],
        admits: None,
    };
    add(&mut sum, &expire.attack(&dir, each, seeded));
    sum
}

fn add(sum: &mut Tally, other: &Tally) {
    sum.faults += other.faults;
    sum.failed += other.failed;
    for (kind, n) in &other.by_kind {
        *sum.by_kind.entry(kind.clone()).or_default() += n;
    }
}
