//! What keeps giant records bounded: fast paths that hold less are equal to their naive twins, work does not grow with
//! the square of the messages, and what no table can hold is refused at once.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use condenser::engine::{Engine, Scratch};
use condenser::error::ErrorKind;
use condenser::model::{EngineOptions, HideBy, ProvenancePlace};
use condenser::pipeline::{JobArgs, MAX_RECORD_BYTES, Size, marks};
use condenser::shape::{decode, detect, restore_record, restore_row, restores_record, restores_row};

fn samples() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    files
        .iter()
        .flat_map(|file| std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn a_proof_without_a_copy_says_what_a_restore_says() {
    let options = EngineOptions { recency_window: 0, fuzzy_dedup: true, ..EngineOptions::default() };
    let engine = Engine::new(options).unwrap();
    for record in samples() {
        let decoded = decode(&record, detect(&record).unwrap(), "c").unwrap();
        let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
        let originals = decoded.originals(&condensed);
        let (row, layout) = (decoded.row(&condensed, ProvenancePlace::Sidecar), decoded.row_layout(&condensed));
        let id = &*decoded.conversation.id;
        let written = decoded.condensed_record(&condensed, ProvenancePlace::Sidecar);
        let key = decoded.record_layout(&condensed);
        let mut longer = record.clone();
        longer.push(' ');
        let mut other = record.clone();
        other.pop();
        for expected in [&record, &longer, &other, &record.replacen('a', "b", 1)] {
            let restored = restore_row(id, &row, &layout, &originals);
            assert_eq!(restores_row(id, &row, &layout, &originals, expected), restored.as_ref() == Ok(expected));
            let restored = restore_record(&written, key.as_deref(), &originals);
            let proven = restores_record(&written, key.as_deref(), &originals, expected);
            assert_eq!(proven, restored.as_ref() == Ok(expected));
        }
        assert!(restores_row(id, &row, &layout, &originals, &record));
        assert!(!restores_row(id, &row, "r$", &originals, &record), "a damaged layout restores nothing");
    }
}

#[test]
fn the_mark_of_a_long_row_is_the_hash_of_its_canonical_bytes() {
    let texts: Vec<String> = [0, 3, 65_000, 70_000, 1_000_000, 10].map(|n| "ab".repeat(n)).to_vec();
    let columns: Vec<(&str, ArrayRef)> = ["a", "b", "c"]
        .into_iter()
        .map(|name| (name, Arc::new(StringArray::from_iter_values(&texts)) as ArrayRef))
        .collect();
    let marks = marks(&RecordBatch::try_from_iter(columns).unwrap());
    for (mark, text) in marks.iter().zip(&texts) {
        let mut one = vec![1];
        one.extend((text.len() as u64).to_le_bytes());
        one.extend(text.as_bytes());
        let naive = one.repeat(3);
        assert_eq!((mark.bytes, mark.hash), (naive.len() as u64, *blake3::hash(&naive).as_bytes()));
    }
}

/// The cues of a text are its own: what was lexed before must not change what is found, nor be sorted again.
#[test]
fn messages_before_change_nothing_about_a_chinese_one() {
    let engine =
        Engine::new(EngineOptions { hide_by: HideBy::Look, recency_window: 0, ..EngineOptions::default() }).unwrap();
    let chinese = "我们必须在九月十二号之前完成这项工作，因为客户不会再等。但是目前的进度不够，所以大家决定加班。\
                   这个方案已经讨论过三次，没有人反对。不过预算还没有批准，财务部门要求提供更多的说明。"
        .repeat(4);
    let english =
        "However, the team must not deploy on Friday. They decided to wait, because nobody was sure about it. \
                   Actually, the release is not ready, and therefore the plan was changed again by everyone involved. "
            .repeat(4);
    let written = |texts: &[&str]| {
        let messages: Vec<_> =
            texts.iter().map(|text| serde_json::json!({"role": "assistant", "content": text})).collect();
        let record = serde_json::json!({"messages": messages}).to_string();
        let decoded = decode(&record, detect(&record).unwrap(), "c").unwrap();
        let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
        let record = decoded.condensed_record(&condensed, ProvenancePlace::Sidecar);
        let value: serde_json::Value = serde_json::from_str(&record).unwrap();
        value["messages"].as_array().unwrap().iter().map(|message| message["content"].to_string()).collect::<Vec<_>>()
    };
    // A code block between them keeps the two from being merged.
    let code = "```\nfn main() {}\n```";
    let (alone, before) = (written(&[&english]), written(&[&english, code, &chinese]));
    assert_ne!(alone[0], serde_json::json!(english).to_string(), "the English message is summarised");
    assert_eq!(alone[0], before[0]);
}

#[test]
fn records_that_no_page_holds_are_refused_before_the_work() {
    let settle = |max_record_bytes| {
        let args = JobArgs {
            inputs: vec!["a.jsonl".to_owned()],
            output: Some("run".to_owned()),
            max_record_bytes: Some(Size(max_record_bytes)),
            ..JobArgs::default()
        };
        args.settle(&|_| None)
    };
    assert_eq!(settle((2 << 30) + 1).unwrap_err().kind, ErrorKind::Usage);
    assert_eq!(settle(2 << 30).unwrap().options.max_record_bytes, MAX_RECORD_BYTES);
    assert_eq!(settle(1 << 30).unwrap().options.max_record_bytes, 1 << 30);
}
