//! Runs whose documents were written again by somebody who knows how: everything fits together, but is not what a job
//! wrote.

use condenser::pipeline::{open_sealed, seal, seal_packed};
use serde_json::{Value, json};

use crate::support::chats::Seeded;
use crate::support::dir::TestDir;

/// A sealed document without its seal.
pub(super) fn read(dir: &TestDir, name: &str) -> Value {
    let mut value: Value = open_sealed(&dir.read(name), name).expect("a document is sealed JSON");
    value.as_object_mut().expect("a document is an object").remove("seal");
    value
}

/// Writes a document with a seal that fits; gives the hash of its bytes.
pub(super) fn write(dir: &TestDir, name: &str, value: &Value) -> String {
    let packed = name.contains(".zst");
    let bytes =
        if packed { seal_packed(value) } else { seal(value).map(String::into_bytes) }.expect("it can be sealed");
    dir.write(name, &bytes);
    blake3::hash(&bytes).to_hex().to_string()
}

/// Changes the commit of a part, and whatever holds its hash.
pub(super) fn change_commit(dir: &TestDir, run: &str, part: usize, change: impl FnOnce(&mut Value)) {
    let name = format!("{run}/commits/part-{part:05}.json.zst");
    let mut commit = read(dir, &name);
    change(&mut commit);
    let hash = write(dir, &name, &commit);
    change_manifest(dir, run, |manifest| {
        let inputs = manifest["inputs"].as_array_mut().expect("a list");
        for input in inputs.iter_mut().filter(|input| input["part"] == part) {
            input["commit_blake3"] = json!(hash);
        }
    });
}

/// Changes the plan, and the manifest that holds its hash.
pub(super) fn change_plan(dir: &TestDir, run: &str, change: impl FnOnce(&mut Value)) {
    let name = format!("{run}/plan.json.zst");
    let mut plan = read(dir, &name);
    change(&mut plan);
    let hash = write(dir, &name, &plan);
    change_manifest(dir, run, |manifest| manifest["plan_blake3"] = json!(hash));
}

/// Changes the manifest.
pub(super) fn change_manifest(dir: &TestDir, run: &str, change: impl FnOnce(&mut Value)) {
    let name = format!("{run}/manifest.json");
    let mut manifest = read(dir, &name);
    change(&mut manifest);
    write(dir, &name, &manifest);
}

/// Makes the commit of a part promise what a file of it is now.
pub(super) fn promise(dir: &TestDir, run: &str, part: usize, path: &str) {
    let bytes = dir.read(&format!("{run}/{path}"));
    change_commit(dir, run, part, |commit| {
        for file in commit["files"].as_array_mut().expect("a list") {
            if file["path"] == path {
                file["bytes"] = json!(bytes.len());
                file["blake3"] = json!(blake3::hash(&bytes).to_hex().to_string());
                file["pieces"] = json!([]);
            }
        }
    });
}

/// Replaces one value somewhere in the document by an odd one; says where.
pub(super) fn odd_value(document: &mut Value, seeded: &mut Seeded) -> String {
    let mut paths = Vec::new();
    walk(document, String::new(), &mut paths);
    let path = paths.swap_remove(seeded.below(paths.len()));
    let odd = [
        json!(null),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MAX),
        json!(4_294_967_297_u64),
        json!(1e308),
        json!(0),
        json!(""),
        json!("\u{0}/../…"),
        json!("A".repeat(70_000)),
        json!([]),
        json!({}),
        json!(true),
    ];
    let place = document.pointer_mut(&path).expect("it was found there");
    *place = odd[seeded.below(odd.len())].clone();
    path
}

fn walk(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                walk(value, format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")), paths);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                walk(value, format!("{path}/{at}"), paths);
            }
        }
        _ => {}
    }
    if !path.is_empty() {
        paths.push(path);
    }
}
