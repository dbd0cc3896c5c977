//! Runs in which somebody changed a file, and knew how to seal it or not: whoever reads them ends with an error or with what the whole
//! run gives, and writes nowhere but where he was told to. The first bytes say which file of which run is changed and how; the rest is
//! what it becomes.
#![no_main]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use condenser::app::{Destination, ReportRequest, Which, get, hidden, list, pairs, report};
use condenser::io::store::Stores;
use condenser::pipeline::{ReportArgs, Silent, open_sealed, seal, seal_packed};
use condenser_fuzz::place::{Bench, bench, told};
use condenser_fuzz::record_of;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

const RUNS: [(&str, &str, &str); 3] =
    [("chats", "chats.jsonl", "parquet"), ("lines", "chats.jsonl", "jsonl"), ("log", "log.jsonl", "parquet")];

/// A run as it was written.
struct Whole {
    run: &'static str,
    files: BTreeMap<String, Vec<u8>>,
    input: Vec<u8>,
}

fn script(n: usize) -> String {
    format!(
        "%s Be brief.\n%u Why does job {n} fail?\n%c cargo test\n%t\n*60 test keeps_row_# ... ok\n\
         test syncs ... FAILED: disk full\n%a The disk of runner {n} is full.\n%u Thanks.\n%a You are welcome.\n%u And now?\n%a Good.\n"
    )
}

fn files_below(folder: PathBuf) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.clone()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder of this process") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&folder).expect("below").to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&path).expect("a file of this process"));
            }
        }
    }
    found
}

/// The runs of this process, made once.
fn wholes() -> &'static [Whole] {
    static WHOLES: OnceLock<Vec<Whole>> = OnceLock::new();
    WHOLES.get_or_init(|| {
        let bench = bench();
        let lines: String = (0..3).map(|n| record_of(&script(n)).replace("talk", &format!("talk-{n}")) + "\n").collect();
        std::fs::write(bench.path("chats.jsonl"), lines).expect("a file of this process");
        std::fs::write(bench.path("log.jsonl"), record_of(&format!("!claude-code\n{}", script(9)))).expect("a file of this process");
        let whole = |&(run, input, format): &(&'static str, &str, &str)| {
            let settings = bench.job(input, run, &format!("format = '{format}'\ntrace = true\n[engine]\nrecency_window = 1\n"));
            bench.compress(&settings).expect("a run");
            bench.verify(run, Some(input)).expect("it is whole");
            let input = std::fs::read(bench.path(input)).expect("a file of this process");
            Whole { run, files: files_below(bench.path(run)), input }
        };
        RUNS.iter().map(whole).collect()
    })
}

fn write(bench: &Bench, run: &str, name: &str, bytes: &[u8]) {
    std::fs::write(bench.path(run).join(name), bytes).expect("a file of this process");
}

/// A sealed document of a run, without its seal.
fn document(bench: &Bench, run: &str, name: &str) -> Value {
    let bytes = std::fs::read(bench.path(run).join(name)).expect("a file of this process");
    let mut value: Value = open_sealed(&bytes, name).expect("it is sealed");
    value.as_object_mut().expect("an object").remove("seal");
    value
}

/// Writes it with a seal that fits; the hash of its bytes.
fn sealed(bench: &Bench, run: &str, name: &str, value: &Value) -> Option<String> {
    let bytes = if name.ends_with(".zst") { seal_packed(value) } else { seal(value).map(String::into_bytes) }.ok()?;
    write(bench, run, name, &bytes);
    Some(blake3::hash(&bytes).to_hex().to_string())
}

const MANIFEST: &str = "manifest.json";
const PLAN: &str = "plan.json.zst";
const COMMIT: &str = "commits/part-00000.json.zst";

/// Replaces values of a document by others: a line of `body` holds a pointer, a blank and JSON.
fn patched(mut value: Value, body: &str) -> Value {
    for line in body.lines() {
        let Some((pointer, new)) = line.split_once(' ') else { continue };
        if let (Some(at), Ok(new)) = (value.pointer_mut(pointer), serde_json::from_str(new)) {
            *at = new;
        }
    }
    value
}

/// Writes a commit or a plan, and the manifest that holds its hash.
fn chained(bench: &Bench, run: &str, name: &str, value: &Value) {
    let Some(hash) = sealed(bench, run, name, value) else { return };
    let mut manifest = document(bench, run, MANIFEST);
    if name == PLAN {
        manifest["plan_blake3"] = json!(hash);
    } else {
        for input in manifest["inputs"].as_array_mut().into_iter().flatten() {
            input["commit_blake3"] = json!(hash);
        }
    }
    sealed(bench, run, MANIFEST, &manifest);
}

/// A file with other bytes, which the commit promises.
fn promised(bench: &Bench, run: &str, name: &str, bytes: &[u8]) {
    write(bench, run, name, bytes);
    let mut commit = document(bench, run, COMMIT);
    for file in commit["files"].as_array_mut().into_iter().flatten() {
        if file["path"] == name {
            file["bytes"] = json!(bytes.len());
            file["blake3"] = json!(blake3::hash(bytes).to_hex().to_string());
            file["pieces"] = json!([]);
        }
    }
    chained(bench, run, COMMIT, &commit);
}

/// What `bytes` become: others, some of them others, or fewer.
fn changed(bytes: &[u8], how: u8, at: usize, body: &[u8]) -> Vec<u8> {
    let at = at % (bytes.len() + 1);
    match how & 3 {
        0 => body.to_vec(),
        1 => bytes[..at].to_vec(),
        2 => [&bytes[..at], body, &bytes[at..]].concat(),
        _ => [&bytes[..at], body, &bytes[(at + body.len()).min(bytes.len())..]].concat(),
    }
}

/// Changes something; true where nobody sealed it again.
fn change(bench: &Bench, whole: &Whole, [which, how, high, low]: [u8; 4], body: &[u8]) -> bool {
    let names: Vec<&String> = whole.files.keys().collect();
    let name = names[usize::from(which) % names.len()];
    let is_document = [MANIFEST, PLAN, COMMIT].contains(&name.as_str());
    let at = usize::from(high) << 8 | usize::from(low);
    match (how & 4 != 0, is_document, std::str::from_utf8(body)) {
        (true, true, Ok(body)) => {
            let value = patched(document(bench, whole.run, name), body);
            if name == MANIFEST {
                sealed(bench, whole.run, name, &value);
            } else {
                chained(bench, whole.run, name, &value);
            }
            false
        }
        (true, false, _) => {
            promised(bench, whole.run, name, &changed(&whole.files[name], how, at, body));
            false
        }
        _ => {
            write(bench, whole.run, name, &changed(&whole.files[name], how, at, body));
            true
        }
    }
}

fn read(bench: &Bench, whole: &Whole, is_same: bool, is_bare: bool) {
    let run = whole.run;
    let verified = bench.verify(run, None).inspect_err(told);
    if verified.is_err() {
        assert!(!is_same, "what was not changed verifies");
    }
    match bench.restore(run).inspect_err(told) {
        Ok(files) if is_bare => {
            let back: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).expect("it was restored")).collect();
            assert!(back == whole.input, "what comes back without an error is what was read");
        }
        _ => {}
    }
    drop(list(&bench.app, &bench.place(run), &Silent).inspect_err(told));
    let request = |exact| ReportRequest {
        runs: vec![bench.path(run)],
        together: false,
        exact,
        settings: ReportArgs::default(),
        stores: Stores::default(),
    };
    for exact in [false, true] {
        drop(report(&bench.app, &request(exact), &Silent).inspect_err(told));
    }
    let Ok(run) = bench.open(run).inspect_err(told) else { return };
    let stdout = || -> Box<dyn std::io::Write + Send> { Box::new(std::io::sink()) };
    for id in ["talk-1", "s1"] {
        for which in [Which::Original, Which::Compressed] {
            let mut out = Destination::open(None, &stdout).expect("a stream");
            drop(get(&bench.app, std::slice::from_ref(&run), id, which, &mut out).inspect_err(told));
        }
        drop(pairs(&run, id, None, &|| Ok(())).inspect_err(told));
        drop(hidden(&bench.app, std::slice::from_ref(&run), id, 1).inspect_err(told));
    }
}

fuzz_target!(|data: &[u8]| {
    let [which_run, a, b, c, d, body @ ..] = data else { return };
    let (bench, wholes) = (bench(), wholes());
    let whole = &wholes[usize::from(*which_run) % wholes.len()];
    bench.clear("back");
    let before = bench.names();
    let is_bare = change(bench, whole, [*a, *b, *c, *d], body);
    let is_same = files_below(bench.path(whole.run)) == whole.files;
    read(bench, whole, is_same, is_bare);
    bench.clear("back");
    assert_eq!(bench.names(), before, "nothing is written elsewhere");
    bench.clear(whole.run);
    for (name, bytes) in &whole.files {
        let path = bench.path(whole.run).join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the run")).expect("a folder of this process");
        std::fs::write(path, bytes).expect("a file of this process");
    }
});
