//! Rolling use: a conversation that grows every night is compressed every night.

use condenser::model::{EngineOptions, HideBy, ProvenancePlace};
use serde_json::{Value, json};

use crate::support::talk::{compress_record, prose, record_of};

const N_ROUNDS: usize = 20;

/// The words of the user, which stay, pile up by themselves.
fn rolling() -> EngineOptions {
    EngineOptions { hide_by: HideBy::Look, keep_first_user: false, ..EngineOptions::default() }
}

/// Characters after each of twenty nights of twenty new messages, and the last record.
fn nights(options: &EngineOptions) -> (Vec<usize>, String) {
    let mut messages: Vec<Value> = Vec::new();
    let mut sizes = Vec::new();
    let mut last = String::new();
    for night in 0..N_ROUNDS {
        for i in 0..20 {
            let role = if i % 2 == 0 { "user" } else { "assistant" };
            let n = night * 20 + i;
            let text = format!("{} The crate {n} goes to shelf {n}.", prose(440 + n % 60));
            messages.push(json!({"role": role, "content": text}));
        }
        let done = compress_record(&record_of(&messages), options);
        sizes.push(done.metrics.chars_out);
        let value: Value = serde_json::from_str(&done.record).expect("a record");
        messages.clone_from(value["messages"].as_array().expect("messages"));
        last = done.record;
    }
    (sizes, last)
}

#[track_caller]
fn check_stable(sizes: &[usize]) {
    let most = |part: &[usize]| part.iter().copied().max().expect("rounds");
    let (middle, end) = (most(&sizes[8..12]), most(&sizes[16..]));
    assert!(end * 100 <= middle * 105, "it still grows: {sizes:?}");
    assert!(most(sizes) < 3 * sizes[0], "{sizes:?}");
}

#[test]
fn twenty_nights_keep_a_growing_conversation_at_a_stable_size() {
    check_stable(&nights(&rolling()).0);
    let all = EngineOptions {
        conversation_flow: true,
        semantic_clustering: true,
        coreference: true,
        importance_scoring: true,
        contradiction_detection: true,
        ..rolling()
    };
    check_stable(&nights(&all).0);
}

#[test]
fn without_resummarizing_the_summaries_pile_up() {
    let (sizes, _) = nights(&EngineOptions { resummarize_after: 0, ..rolling() });
    assert!(sizes[N_ROUNDS - 1] > 5 * sizes[1], "{sizes:?}");
}

#[test]
fn a_summary_of_summaries_names_its_parents() {
    let (_, record) = nights(&EngineOptions { provenance: ProvenancePlace::Metadata, ..rolling() });
    let value: Value = serde_json::from_str(&record).expect("a record");
    let provenance = |message: &Value| message["metadata"]["_cce_original"].clone();
    let parents = |message: &Value| provenance(message)["parent_ids"].as_array().map_or(0, Vec::len);
    let messages = value["messages"].as_array().expect("messages");
    let oldest = messages.iter().find(|message| parents(message) > 0).expect("a summary of summaries");
    assert!(parents(oldest) >= 8, "{oldest}");
    let own = provenance(oldest)["summary_id"].clone();
    assert!(provenance(oldest)["parent_ids"].as_array().expect("parents").iter().all(|parent| *parent != own));
}
