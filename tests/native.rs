//! Every file of the native corpus in which one JSON value is a conversation or holds several: read in its own shape,
//! compressed and restored in both formats. Event logs have tests of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use condenser::engine::Engine;
use condenser::model::EngineOptions;
use condenser::pipeline::{BatchOptions, ConversationFormat};

use crate::support::{job, native};

/// Files that hold no conversation that we read: how many records are refused, and why.
const REFUSED: [(&str, u64, &str); 7] = [
    // Turns are bare strings under `choices[].turns`: no message to put a text back into.
    ("mtbench_arena/native/mtbench_model_answer_sample.jsonl", 5, "unknown_shape"),
    // Trees: a reply holds its replies, so messages lie inside messages.
    ("native_shapes/oasst_tree/en_100_tree.jsonl", 100, "unknown_shape"),
    // Plain text, the last one under the name of JSON lines.
    ("bundestag_dev/native/17053.txt", 152, "invalid_json"),
    ("ubuntu_irc/native/2004-12-25.train-c.raw.txt", 1500, "invalid_json"),
    ("ubuntu_irc/native/2005-02-06.train-c.raw.txt", 1500, "invalid_json"),
    ("ubuntu_irc/native/2005-02-08.train-a.raw.txt", 1246, "invalid_json"),
    ("openhands_swebench/native/events/resolver_mock_output.jsonl", 97, "invalid_json"),
];

/// Folders and how many conversations are read from them.
const READ: [(&str, u64); 18] = [
    ("kdconv/native", 10),
    ("native_shapes/anthropic_messages", 38),
    ("native_shapes/gemini_cli", 4),
    ("native_shapes/inspect_ai/browser_log.json", 1),
    ("native_shapes/inspect_ai/images.jsonl", 2),
    ("native_shapes/inspect_ai/log_images_tc.json", 1),
    ("native_shapes/inspect_ai/popularity_log.json", 3),
    ("openhands_swebench/native/events/multi", 3),
    ("openhands_swebench/native/llm_completions", 35),
    ("qmsum_academic_product/native", 1),
    ("realpersonachat_dev/native", 20),
    ("sgd/native", 20),
    ("sharegpt_tools/native", 1674),
    ("sweagent_demos/native/traj", 24),
    ("tau_dev/native/tau1", 4),
    ("tau_dev/native/tau2_airline", 6),
    ("tau_dev/native/tau2_telecom", 4),
    ("topicalchat/native", 20),
];

/// Event logs.
const OTHERS: [&str; 3] = ["/native/claude/", "/native/codex/", "/native/pi/"];

#[test]
fn every_native_record_file_of_the_corpora_is_read_and_comes_back_byte_for_byte() {
    let files: Vec<(String, Vec<u8>)> = native::files()
        .into_iter()
        .filter(|(name, _)| !name.ends_with("README.md") && !OTHERS.iter().any(|other| name.contains(other)))
        .collect();
    if files.is_empty() {
        return;
    }
    let engine = Arc::new(Engine::new(EngineOptions::default()).expect("options"));
    let options = BatchOptions::default();
    let (mut read, mut refused) = (BTreeMap::new(), BTreeMap::new());
    for (name, bytes) in &files {
        for format in [ConversationFormat::Parquet, ConversationFormat::Jsonl] {
            let done = job::run(engine.clone(), format, options, job::source(bytes, options));
            assert!(done.restored == *bytes, "{name} does not come back as {format:?}");
            assert!(done.records.iter().all(|record| !record.contains('\n')), "{name}: a record has several lines");
            assert!(done.totals.chars_out <= done.totals.chars_in, "{name} grew");
            if format == ConversationFormat::Parquet {
                continue;
            }
            if let Some(reject) = done.rejects.first() {
                assert_eq!(done.totals.conversations, 0, "{name}: read in part");
                refused.insert(name.as_str(), (done.totals.rejects, reject.reason.clone()));
            } else {
                let known = READ.iter().find(|(folder, _)| name.contains(folder));
                let (folder, _) = known.unwrap_or_else(|| panic!("{name} is new"));
                *read.entry(*folder).or_insert(0) += done.totals.conversations;
            }
        }
    }
    let expected = REFUSED.iter().map(|&(name, n, reason)| (name, (n, reason.to_owned()))).collect();
    assert_eq!(refused, expected);
    assert_eq!(read, READ.into_iter().collect());
}
