//! One conversation out of a run, original and compressed, from every format.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use serde_json::json;

use crate::support::chats::records;
use crate::support::command::condenser;
use crate::support::dir::TestDir;

fn chat(id: &str, n: usize) -> String {
    let talk = "The delivery to Hamburg was late again and nobody told the customer in time. ".repeat(20);
    let message = |role: &str, n: usize| format!(r#"{{"role":"{role}","content":"{n}: {talk}"}}"#);
    let messages: Vec<String> = (0..n).map(|n| message(["user", "assistant"][n % 2], n)).collect();
    format!(r#"{{"id":{id},"messages":[{}]}}"#, messages.join(","))
}

#[test]
fn every_format_gives_the_original_and_what_stands_for_it() {
    let dir = TestDir::new();
    let mut chats = records(300, 51);
    chats.insert(100, chat("\"needle\"", 9));
    chats.push(chat("7", 9));
    let text = chats.join("\n") + "\nbroken\n";
    dir.write("in.jsonl", &text);
    for format in ["parquet", "jsonl", "arrow"] {
        let run = format!("run-{format}");
        condenser(dir.root(), &["compress", "in.jsonl", "-o", &run, "--format", format, "--split-size", "60k"])
            .exits(3);
        for (id, original) in [("needle", &chats[100]), ("7", &chats[301]), ("chat/42", &chats[42])] {
            let told = condenser(dir.root(), &["get", &run, id]).ok();
            assert_eq!(String::from_utf8_lossy(&told.stdout), original.clone() + "\n", "{format}");
            let shown = condenser(dir.root(), &["get", &run, id, "--compressed"]).ok().stdout;
            let shown = String::from_utf8(shown).expect("it is text");
            assert_eq!(shown.lines().count(), 1, "{shown}");
            let value: serde_json::Value = serde_json::from_str(&shown).expect("it is JSON");
            assert!(value["messages"].as_array().is_some_and(|messages| !messages.is_empty()), "{shown}");
            assert!(id == "chat/42" || (shown.contains("[summary:") && shown.len() < original.len()), "{shown}");
        }
        let told = condenser(dir.root(), &["get", &run, "nobody"]).exits(1);
        assert!(told.stderr.contains("no conversation with this id"), "{}", told.stderr);
        condenser(dir.root(), &["get", &run, "needle", "-o", &format!("{format}.json")]).ok();
        assert_eq!(dir.read(&format!("{format}.json")), (chats[100].clone() + "\n").into_bytes());
    }
}

#[test]
fn a_row_has_its_times_in_their_zone() {
    let dir = TestDir::new();
    let zoned = DataType::Timestamp(TimeUnit::Millisecond, Some("Europe/Berlin".into()));
    let message = ["role", "content"].map(|name| Field::new(name, DataType::Utf8, true)).to_vec();
    let messages = DataType::List(Arc::new(Field::new("item", DataType::Struct(message.into()), true)));
    let columns = [("id", DataType::Utf8), ("messages", messages), ("at", zoned)];
    let schema = Arc::new(Schema::new(columns.map(|(name, of)| Field::new(name, of, true)).to_vec()));
    let row =
        json!({"id": "a", "messages": [{"role": "user", "content": "Hello?"}], "at": "2026-01-02T03:04:05+01:00"});
    let mut decoder = arrow::json::ReaderBuilder::new(schema.clone()).build_decoder().expect("a decoder");
    decoder.serialize(&[&row]).expect("the row fits");
    let rows = decoder.flush().expect("the row fits").expect("a row");
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).expect("a writer");
    writer.write(&rows).expect("memory takes all");
    dir.write("in.parquet", writer.into_inner().expect("memory takes all"));
    condenser(dir.root(), &["compress", "in.parquet", "-o", "run", "-q"]).ok();
    let told = condenser(dir.root(), &["get", "run", "a", "--compressed"]).ok();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&told.stdout).expect("JSON"), row);
}

#[test]
fn an_id_that_comes_twice_gives_both_conversations() {
    let dir = TestDir::new();
    let (first, second) = (chat("\"twin\"", 7), chat("\"twin\"", 8));
    dir.write("in.jsonl", format!("{first}\n{}\n{second}\n", records(3, 52).join("\n")));
    for format in ["parquet", "jsonl"] {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", format, "--format", format]).ok();
        let told = condenser(dir.root(), &["get", format, "twin"]).ok();
        assert_eq!(String::from_utf8_lossy(&told.stdout), format!("{first}\n{second}\n"));
        let shown = condenser(dir.root(), &["get", format, "twin", "--compressed"]).ok();
        assert_eq!(String::from_utf8_lossy(&shown.stdout).lines().count(), 2);
    }
}

#[test]
fn a_flipped_bit_gives_no_other_conversation() {
    let dir = TestDir::new();
    dir.write("in.jsonl", format!("{}\n{}\n", records(12, 53).join("\n"), chat("\"needle\"", 9)));
    for format in ["parquet", "jsonl", "arrow"] {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", format, "--format", format]).ok();
        let file = format!("{format}/conversations/part-00000.{format}{}", if format == "jsonl" { ".zst" } else { "" });
        let args = ["get", format, "needle", "--compressed"];
        let (whole, shown) = (dir.read(&file), condenser(dir.root(), &args).ok().stdout);
        for at in (0..whole.len()).step_by(whole.len() / 24) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            dir.write(&file, bytes);
            let told = condenser(dir.root(), &args).ends();
            assert!(told.code != Some(0) || told.stdout == shown, "{format}: a bit at {at}: {}", told.stderr);
        }
    }
}

#[test]
fn no_stated_length_takes_memory_that_is_not_there() {
    let dir = TestDir::new();
    dir.write("in.jsonl", records(12, 54).join("\n") + "\n");
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--format", "arrow"]).ok();
    let file = dir.read("run/conversations/part-00000.arrow");
    // The length of a compressed buffer without its compression stands in front of it.
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let buffers: Vec<usize> = (8..file.len() - 4).filter(|&at| file[at..at + 4] == magic).collect();
    assert!(buffers.len() > 2);
    for at in buffers {
        let mut bytes = file.clone();
        bytes[at - 1] = 0x30;
        dir.write("table.arrow", bytes);
        let args = ["compress", "table.arrow", "-o", "again", "--messages-column", "messages", "--fresh", "-q"];
        let told = condenser(dir.root(), &args).ends();
        assert!(matches!(told.code, Some(1..=3)), "{:?}: {}", told.code, told.stderr);
    }
}
