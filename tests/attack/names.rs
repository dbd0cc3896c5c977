//! Run directories by somebody who seals documents himself and gives files, sources and runs names that lead elsewhere: whoever
//! reads, restores, finishes or goes on with one opens nothing outside, writes nothing outside, and shows nothing of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::documents::{change_commit, change_manifest, change_plan};
use super::shim::shimmed;
use super::{Ended, age, call_with, copy_folder, count, exits, files_of, write_inputs};
use crate::support::chats::jsonl;
use crate::support::dir::{TestDir, files};
use crate::support::nights::change_night;

/// Stands in every conversation outside.
const SECRET: &str = "the secret word is rhubarb";
const ID: &str = "chat/3";
/// What the attacked may write in its own folder.
const OWN: [&str; 8] = ["run", "back", "again", "page.html", "store", "in", "logs", "job.toml"];

/// A folder with everything that is attacked, `box`, beside one that is none of its business, `outside`.
struct World {
    dir: TestDir,
    outside: BTreeMap<String, Vec<u8>>,
    n_crafted: Cell<usize>,
}

impl World {
    fn new() -> Self {
        let dir = TestDir::new();
        let record = |n: usize| {
            let message =
                |role: &str| format!(r#"{{"role":"{role}","content":"{n} {}"}}"#, format!("{SECRET}. ").repeat(20));
            format!("{{\"id\":\"chat/{n}\",\"messages\":[{},{}]}}\n", message("user"), message("assistant"))
        };
        age(&dir.write("outside/secret.jsonl", (0..9).map(record).collect::<String>() + "broken\n"));
        let args = ["compress", "outside/secret.jsonl", "-o", "outside/run", "--recency-window", "0", "--quiet"];
        exits(dir.root(), &args, 3);
        write_inputs(&dir, "template/in", 24, 131);
        dir.write("template/job.toml", super::JOB);
        age(&dir.write("template/logs/a.jsonl", jsonl(9, 132)));
        let root = dir.path("template");
        exits(&root, &["compress", "in", "-o", "run", "--recency-window", "0", "--quiet"], 3);
        exits(&root, &["run", "job.toml"], 0);
        let outside = files(&dir.path("outside"));
        Self { dir, outside, n_crafted: Cell::new(0) }
    }

    /// Attacks a fresh box after `change` was made to it.
    fn craft(&self, what: &str, is_link: bool, change: &dyn Fn()) {
        self.reset();
        change();
        self.attack(what, is_link);
        self.n_crafted.set(self.n_crafted.get() + 1);
    }

    fn tell(&self, what: &str) {
        let n = self.n_crafted.get();
        println!("attack: {n} crafted runs ({what}): nothing outside was opened by name, shown or written");
    }

    /// A fresh box.
    fn reset(&self) {
        let root = self.dir.path("box");
        if root.exists() {
            std::fs::remove_dir_all(&root).expect("it can be removed");
        }
        copy_folder(&self.dir.path("template"), &root);
    }

    fn outside(&self, name: &str) -> String {
        let path: PathBuf = self.dir.root().canonicalize().expect("it is there").join("outside").join(name);
        path.to_string_lossy().into_owned()
    }

    fn call(&self, args: &[&str]) -> (Ended, String) {
        let log = self.dir.path("opened.log");
        let ended = call_with(&self.dir.path("box"), args, &shimmed(&[("OPENED", &log.to_string_lossy())]), "");
        let opened = std::fs::read_to_string(&log).expect("something was opened");
        std::fs::remove_file(log).expect("it is there");
        (ended, opened)
    }

    /// Calls everything that takes a run or a store. Links are followed, names are not.
    fn attack(&self, what: &str, is_link: bool) {
        let outside = self.outside("");
        let compress = ["compress", "in", "-o", "run", "--recency-window", "0", "--quiet"];
        let of_a_run: [&[&str]; 5] = [
            &["get", "run", ID, "--compressed"],
            &["report", "run", "--json"],
            &["finish", "run"],
            &compress,
            &["restore", "run", "-o", "back"],
        ];
        let of_a_store: [&[&str]; 3] = [
            &["report", "store", "--json"],
            &["expire", "store", "--older-than", "30d", "--yes"],
            &["run", "job.toml"],
        ];
        let others: [&[&str]; 8] = [
            &["verify", "run"],
            &["restore", "run", "-o", "back/one", "--conversation", ID],
            &["get", "run", ID],
            &["show", "run", ID],
            &["show", "run", ID, "--html", "page.html"],
            &["report", "run", "--html", "page.html"],
            &["retry-rejects", "run", "-o", "again"],
            &["restore", "run", "-o", "back/again"],
        ];
        let usual = if what.starts_with("a night") { &of_a_store[..] } else { &of_a_run[..] };
        for args in usual.iter().chain(&others[..count(0, others.len())]) {
            let (ended, opened) = self.call(args);
            let told = || format!("{what}: {args:?} ended with {}\n{}", ended.code, ended.stderr);
            let shown = String::from_utf8_lossy(&ended.stdout).into_owned() + &ended.stderr;
            assert!(!shown.contains(SECRET), "the secret is shown: {}", told());
            let escaped = opened.lines().find(|path| path.starts_with(&outside)).filter(|_| !is_link);
            assert!(escaped.is_none(), "{escaped:?} was opened: {}", told());
            assert!(files(&self.dir.path("outside")) == self.outside, "something was written outside: {}", told());
        }
        let names = |folder: &str| -> Vec<String> {
            let entries = std::fs::read_dir(self.dir.path(folder)).expect("it is there");
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
        };
        assert!(names("box").iter().all(|name| OWN.contains(&name.as_str())), "{what}: {:?}", names("box"));
        let around = ["outside", "template", "box"];
        assert!(names("").iter().all(|name| around.contains(&name.as_str())), "{what}: {:?}", names(""));
        for (name, bytes) in files_of(&self.dir, "box/back") {
            assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{what}: the secret was restored to {name}");
        }
    }
}

/// Puts another name in place of every text that `is_it` holds for.
fn rename(value: &mut Value, key: &str, is_it: &dyn Fn(&str) -> bool, name: &str) {
    match value {
        Value::Object(members) => {
            for (at, value) in members {
                if at == key && value.as_str().is_some_and(is_it) {
                    *value = json!(name);
                }
                rename(value, key, is_it, name);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|value| rename(value, key, is_it, name)),
        _ => {}
    }
}

/// Gives the first file of a table in the first commit another name, and promises what stands there.
fn move_table(world: &World, table: &str, name: &str, stands_there: &str) {
    let bytes = world.dir.read(stands_there);
    change_commit(&world.dir, "box/run", 0, |commit| {
        let files = commit["files"].as_array_mut().expect("a list");
        for file in files.iter_mut().filter(|file| file["table"] == table) {
            file["path"] = json!(name);
            file["bytes"] = json!(bytes.len());
            file["blake3"] = json!(blake3::hash(&bytes).to_hex().to_string());
            file["pieces"] = json!([]);
        }
    });
}

fn rename_source(world: &World, name: &str) {
    let is_first = |text: &str| text.ends_with("a.jsonl");
    change_commit(&world.dir, "box/run", 0, |commit| rename(commit, "source", &is_first, name));
    change_plan(&world.dir, "box/run", |plan| rename(plan, "source", &is_first, name));
    change_manifest(&world.dir, "box/run", |manifest| rename(manifest, "source", &is_first, name));
}

fn rename_in_night(world: &World, key: &str, name: &str) {
    change_night(&world.dir, "box/store/nights/00001.json.zst", |night| match key {
        "path" => {
            let bytes = world.dir.read("outside/secret.jsonl");
            let log = &mut night["logs"][0];
            log["path"] = json!(name);
            log["size"] = json!(bytes.len());
            log["blake3"] = json!(blake3::hash(&bytes).to_hex().to_string());
        }
        _ => night[key] = json!(name),
    });
}

#[test]
fn names_in_a_crafted_run_lead_nowhere() {
    let world = World::new();
    let craft = |what: &str, is_link: bool, change: &dyn Fn()| world.craft(what, is_link, change);
    craft("nothing", false, &|| ());
    let outside_table = |table: &str| {
        (world.outside(&format!("run/{table}/part-00000.parquet")), format!("outside/run/{table}/part-00000.parquet"))
    };
    for table in ["conversations", "verbatim", "metrics"] {
        let (absolute, there) = outside_table(table);
        craft(&format!("{table} by an absolute path"), false, &|| move_table(&world, table, &absolute, &there));
        let relative = format!("../../{there}");
        craft(&format!("{table} by .."), false, &|| move_table(&world, table, &relative, &there));
        let hidden = format!("{table}/../../../{there}");
        craft(&format!("{table} by .. in the middle"), false, &|| move_table(&world, table, &hidden, &there));
    }
    let rejects = "outside/run/rejects/part-00000.jsonl";
    craft("rejects by ..", false, &|| move_table(&world, "rejects", &format!("../../{rejects}"), rejects));
    for name in [
        "conversations/part\0.parquet",
        "",
        ".",
        "..",
        "/",
        "..\\..\\outside\\run",
        "conversations//part-00000.parquet",
    ] {
        craft(&format!("a table called {name:?}"), false, &|| {
            move_table(&world, "conversations", name, "outside/run/conversations/part-00000.parquet");
        });
    }
    let is_commit = |text: &str| text == "commits/part-00000.json.zst";
    for name in [
        world.outside("run/commits/part-00000.json.zst"),
        "../../outside/run/commits/part-00000.json.zst".to_owned(),
        "a\0b".to_owned(),
    ] {
        craft(&format!("the commit by {name:?}"), false, &|| {
            let hash = blake3::hash(&world.dir.read("outside/run/commits/part-00000.json.zst")).to_hex().to_string();
            change_manifest(&world.dir, "box/run", |manifest| {
                rename(manifest, "commit", &is_commit, &name);
                manifest["inputs"][0]["commit_blake3"] = json!(hash);
            });
        });
    }
    for name in [world.outside("secret.jsonl"), "../../outside/secret.jsonl".to_owned()] {
        craft(&format!("a file of the run by {name:?}"), false, &|| {
            let hash = blake3::hash(&world.dir.read("outside/secret.jsonl")).to_hex().to_string();
            let file = json!({"table": "other", "path": name, "rows": 1, "bytes": 9, "blake3": hash, "pieces": []});
            change_manifest(&world.dir, "box/run", |manifest| manifest["files"] = json!([file]));
        });
    }
    world.tell("names of files");
}

#[test]
fn sources_nights_and_links_of_a_crafted_run_lead_nowhere() {
    let world = World::new();
    let craft = |what: &str, is_link: bool, change: &dyn Fn()| world.craft(what, is_link, change);
    let long = "n".repeat(70_000);
    let absolute = world.outside("new.jsonl");
    let address = format!("file://{absolute}");
    for name in [
        absolute.as_str(),
        &address,
        "../../outside/new.jsonl",
        "back/../../../outside/new.jsonl",
        "..",
        "/",
        "",
        ".",
        "a\0b.jsonl",
        &long,
        "..\\..\\outside\\new.jsonl",
        "C:\\..\\x.jsonl",
        "in/b.jsonl/",
        "in/b.jsonl/x.jsonl",
        "-",
        "s3://../../outside/new.jsonl",
    ] {
        let shown: String = name.chars().take(60).collect();
        craft(&format!("a source called {shown:?}"), false, &|| rename_source(&world, name));
    }
    for name in [world.outside("run"), "../../../outside/run".to_owned(), "..".to_owned(), "a\0b".to_owned()] {
        craft(&format!("a night with the run {name:?}"), false, &|| rename_in_night(&world, "run", &name));
    }
    // A store may hold any file of the machine, so this one is looked at; it goes only where it would come back.
    craft("a night with a file outside", true, &|| rename_in_night(&world, "path", &world.outside("secret.jsonl")));
    for (name, target) in [
        ("run/conversations/part-00000.parquet", "run/conversations/part-00000.parquet"),
        ("run/verbatim/part-00000.parquet", "run/verbatim/part-00000.parquet"),
        ("run/commits/part-00000.json.zst", "run/commits/part-00000.json.zst"),
        ("run/commits", "run/commits"),
        ("run/manifest.json", "run/manifest.json"),
        ("run/plan.json.zst", "run/plan.json.zst"),
        ("run/rejects/part-00000.jsonl", "run/rejects/part-00000.jsonl"),
        ("run/.condenser-abc.tmp", "secret.jsonl"),
        ("run/metrics/.condenser-abc.tmp", "secret.jsonl"),
    ] {
        craft(&format!("{name} is a link"), true, &|| {
            let path = world.dir.path("box").join(name);
            if path.is_dir() {
                std::fs::remove_dir_all(&path).expect("it was there");
            } else if path.exists() {
                std::fs::remove_file(&path).expect("it was there");
            }
            std::os::unix::fs::symlink(world.outside(target), path).expect("a link");
        });
    }
    world.tell("sources, nights and links");
}
