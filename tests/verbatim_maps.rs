//! Verbatim maps through the program: each record gets the originals that were written with it, whatever ids it shares
//! with others, and where two texts could stand in one place neither does.

use serde_json::{Value, json};

use crate::support::command::{Told, condenser};
use crate::support::dir::TestDir;

const COMPRESS: [&str; 7] =
    ["--format", "jsonl", "--verbatim-map", "--recency-window", "0", "--keep-first-user", "false"];

/// A talk about one thing, long enough to be summarised.
fn talk(thing: &str) -> String {
    format!("The {thing} was late again because nobody had told the harbour about the new timetable in time. ")
        .repeat(20)
}

/// A record of two messages as a line.
fn chat(id: Option<&str>, thing: &str) -> String {
    let mut record = json!({ "messages": [
        { "id": "x", "role": "user", "content": talk(thing) },
        { "id": "y", "role": "assistant", "content": format!("Noted: {thing}.") },
    ] });
    if let Some(id) = id {
        record["id"] = json!(id);
    }
    format!("{record}\n")
}

/// Compresses `input` into `run`; gives the compressed records and the map.
fn compress(dir: &TestDir, input: &str, run: &str) -> (String, String) {
    condenser(dir.root(), &[&["compress", input, "-o", run, "--quiet"], &COMPRESS[..]].concat()).ok();
    let records = dir.read(&format!("{run}/conversations/part-00000.jsonl.zst"));
    let records = zstd::decode_all(&*records).expect("it is zstd");
    let map = dir.read(&format!("{run}/verbatim-map/part-00000.jsonl"));
    (String::from_utf8(records).expect("text"), String::from_utf8(map).expect("text"))
}

fn restore(dir: &TestDir, records: &str, map: &str, more: &[&str], code: i32) -> Told {
    dir.write("log.jsonl", records);
    dir.write("maps.jsonl", map);
    condenser(dir.root(), &[&["restore", "--verbatim", "maps.jsonl", "log.jsonl"], more].concat()).exits(code)
}

#[track_caller]
fn gives(dir: &TestDir, records: &str, map: &str, expected: &str) {
    let told = restore(dir, records, map, &[], 0);
    assert_eq!(String::from_utf8_lossy(&told.stdout), expected, "{}", told.stderr);
}

#[track_caller]
fn is_refused(dir: &TestDir, records: &str, map: &str, says: &[&str]) {
    let told = restore(dir, records, map, &["-o", "out.jsonl"], 1);
    for word in says {
        assert!(told.stderr.contains(word), "{word}: {}", told.stderr);
    }
    assert!(!dir.path("out.jsonl").exists());
    let told = restore(dir, records, map, &[], 1);
    assert!(told.stdout.is_empty(), "nothing is written that may be wrong");
}

fn summary(ids: &[&str], text: &str) -> Value {
    json!({ "role": "user", "content": text, "metadata": { "_cce_original": { "ids": ids, "version": 0 } } })
}

fn line(id: &str, message: &Value) -> String {
    format!("{}\n", json!({ "id": id, "messages": [message] }))
}

fn map_line(id: &str, key: &str, text: &str) -> String {
    format!("{}\n", json!({ "conversation_id": id, "verbatim": { key: { "role": "user", "content": text } } }))
}

#[test]
fn conversations_of_one_id_get_each_their_own_text_back() {
    let dir = TestDir::new();
    for ids in [[Some("c"), Some("c"), Some("d")], [None, None, Some("c")]] {
        let lines: Vec<String> =
            ids.into_iter().zip(["train", "ferry", "plane"]).map(|(id, thing)| chat(id, thing)).collect();
        dir.write("in.jsonl", lines.concat());
        let run = format!("run-{}", ids[0].unwrap_or("none"));
        let (records, map) = compress(&dir, "in.jsonl", &run);
        assert_eq!(map.lines().count(), 3);
        gives(&dir, &records, &map, &lines.concat());
        // In any order, some of them, and after a tool has written them in another way.
        let records: Vec<&str> = records.lines().collect();
        for order in [&[1, 0, 2][..], &[2, 1], &[1], &[0, 0]] {
            let some: String = order.iter().map(|&at| records[at].to_owned() + "\n").collect();
            let expected: String = order.iter().map(|&at| lines[at].as_str()).collect();
            gives(&dir, &some, &map, &expected);
        }
        let rewritten: String = records
            .iter()
            .map(|record| {
                let mut value: Value = serde_json::from_str(record).expect("a record");
                value.sort_all_objects();
                format!("{value:#}").replace('\n', " ") + "\n"
            })
            .collect();
        let told = restore(&dir, &rewritten, &map, &[], 0);
        for (back, line) in String::from_utf8_lossy(&told.stdout).lines().zip(&lines) {
            let [back, line] = [back, line].map(|text| serde_json::from_str::<Value>(text).expect("a record"));
            assert_eq!(back, line);
        }
        // A map that lacks one of them gives it no text of another.
        let first = map.lines().next().expect("a line").to_owned() + "\n";
        let told = restore(&dir, &records.join("\n"), &first, &[], 3);
        let kept = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(kept.starts_with(&lines[0]) && !kept.contains(&talk("ferry")), "{kept}");
        assert_eq!(kept.matches(&talk("train")).count(), 1, "{kept}");
    }
}

#[test]
fn a_written_map_names_its_records_and_is_as_its_schema_says() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("no record\n{}{}", chat(Some("c"), "train"), chat(Some("c"), "ferry")));
    condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "run", "--quiet"], &COMPRESS[..]].concat()).exits(3);
    let schema = condenser(dir.root(), &["schema", "verbatim-map"]).ok().stdout;
    let schema = jsonschema::validator_for(&serde_json::from_slice(&schema).expect("JSON")).expect("a schema");
    let map = String::from_utf8(dir.read("run/verbatim-map/part-00000.jsonl")).expect("text");
    for (row, line) in (1..).zip(map.lines()) {
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert!(schema.is_valid(&value), "{line}");
        assert_eq!((&value["source"], &value["source_row"]), (&json!("in.jsonl"), &json!(row)));
        assert_eq!(value.as_object().and_then(|line| line.keys().next_back()).map(String::as_str), Some("verbatim"));
    }
}

#[test]
fn maps_of_other_tools_are_used_as_long_as_nothing_else_could_be_meant() {
    let dir = TestDir::new();
    let (one, other) = (line("c", &summary(&["a"], "[summary: one]")), line("d", &summary(&["b"], "[summary: two]")));
    let expected =
        |id: &str, text: &str| format!("{}\n", json!({ "id": id, "messages": [{ "role": "user", "content": text }] }));
    let both = expected("c", "first") + &expected("d", "second");
    // By conversation, also in several lines that agree, and all in one map.
    gives(&dir, &(one.clone() + &other), &(map_line("c", "a", "first") + &map_line("d", "b", "second")), &both);
    let lines = map_line("c", "a", "first") + &map_line("c", "z", "more") + &map_line("c", "a", "first");
    gives(&dir, &one, &lines, &expected("c", "first"));
    let map = json!({ "a": { "role": "user", "content": "first" }, "b": { "role": "user", "content": "second" } });
    gives(&dir, &(one.clone() + &other), &map.to_string(), &both);
    let told = restore(&dir, &(one.clone() + &other), &format!("{map:#}"), &[], 0);
    let values = |text: &str| -> Vec<Value> {
        serde_json::Deserializer::from_str(text).into_iter().map(|value| value.expect("JSON")).collect()
    };
    assert_eq!(values(&String::from_utf8_lossy(&told.stdout)), values(&both));
    // The same conversation twice is the same.
    gives(&dir, &(one.clone() + &one), &map.to_string(), &expected("c", "first").repeat(2));
}

#[test]
fn two_texts_for_one_place_are_refused() {
    let dir = TestDir::new();
    let one = line("c", &summary(&["a"], "[summary: one]"));
    // Two conversations of one id in a map without rows.
    let map = map_line("c", "a", "first") + &map_line("c", "a", "second");
    is_refused(&dir, &one, &map, &["log.jsonl: line 1", "\"a\"", "maps.jsonl: line 1 and maps.jsonl: line 2", "hint:"]);
    // Only one of them is in the map, and both are in the log.
    let other = line("c", &summary(&["a"], "[summary: other]"));
    is_refused(
        &dir,
        &(one.clone() + &other),
        &map_line("c", "a", "first"),
        &["log.jsonl: line 2", "log.jsonl: line 1"],
    );
    // One map for two conversations that count their messages from the same number.
    let other = line("d", &summary(&["a"], "[summary: one]"));
    let map = json!({ "a": { "role": "user", "content": "first" } }).to_string();
    is_refused(&dir, &(one.clone() + "\n" + &other), &map, &["log.jsonl: line 3", "log.jsonl: line 1", "hint:"]);
    // One id twice in one map.
    let map = r#"{"a": {"content": "first"}, "a": {"content": "second"}}"#;
    is_refused(&dir, &one, map, &["maps.jsonl", "two different messages under the id \"a\""]);
    // A line that names other summaries is for these alone, also without the hash of a record.
    let foreign = json!({ "conversation_id": "c", "summary_hashes": ["0".repeat(32)],
        "verbatim": { "a": { "role": "user", "content": "of another" } } });
    restore(&dir, &one, &format!("{foreign}\n"), &[], 3);
    // A line that is none.
    let map = map_line("c", "a", "first") + "{\"conversation_id\": \"c\"}\n";
    is_refused(&dir, &one, &map, &["maps.jsonl: line 2", "no line of a verbatim map"]);
}

#[test]
fn records_that_look_the_same_are_told_apart_by_their_order_or_not_at_all() {
    let dir = TestDir::new();
    let hash = condenser::shape::value_hash;
    let seen = summary(&["a"], "[summary: the same]");
    let record = line("c", &seen);
    let map: String = ["first", "second"]
        .into_iter()
        .map(|text| {
            let line = json!({ "conversation_id": "c", "record_hash": hash(&record), "summary_hashes": [hash(&seen.to_string())],
                "verbatim": { "a": { "role": "user", "content": text } } });
            format!("{line}\n")
        })
        .collect();
    let told = restore(&dir, &record.repeat(2), &map, &[], 0);
    let back = String::from_utf8_lossy(&told.stdout).into_owned();
    let texts: Vec<bool> = back.lines().map(|line| line.contains("first")).collect();
    assert_eq!(texts, [true, false], "{back}");
    is_refused(&dir, &record, &map, &["log.jsonl: line 1", "\"a\"", "maps.jsonl: line 2"]);
    is_refused(&dir, &record.repeat(3), &map, &["log.jsonl: line 1"]);
}

#[test]
fn several_rounds_of_conversations_with_one_id_come_back() {
    let dir = TestDir::new();
    let lines = chat(Some("c"), "train") + &chat(Some("c"), "ferry");
    dir.write("in.jsonl", &lines);
    let (records, first) = compress(&dir, "in.jsonl", "one");
    // Both talks go on.
    let more = |at: usize| json!([{ "role": "user", "content": talk(["bus", "tram"][at]) }, { "role": "assistant", "content": "Yes." }]);
    let go_on = |text: &str| -> String {
        text.lines()
            .enumerate()
            .map(|(at, record)| {
                let mut record: Value = serde_json::from_str(record).expect("a record");
                let more = more(at);
                record["messages"].as_array_mut().expect("a list").extend(more.as_array().expect("a list").clone());
                format!("{record}\n")
            })
            .collect()
    };
    dir.write("two.jsonl", go_on(&records));
    let (records, second) = compress(&dir, "two.jsonl", "two");
    for map in [first.clone() + &second, second + &first] {
        let told = restore(&dir, &records, &map, &["--recursive"], 0);
        assert_eq!(String::from_utf8_lossy(&told.stdout), go_on(&lines), "{}", told.stderr);
    }
    condenser(dir.root(), &["restore", "two", "-o", "back"]).ok();
    assert_eq!(dir.read("back/two.jsonl"), dir.read("two.jsonl"));
}
