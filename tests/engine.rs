//! The invariants over generated conversations and options, and the rules one by one.

use condenser::engine::Engine;
use condenser::model::{Action, EngineOptions, HideBy, PreservePattern, ProvenancePlace, Reason};
use proptest::prelude::*;
use serde_json::json;

use crate::support::options::random_options;
use crate::support::talk::{all, compress, compress_record, compress_with, prose, record, record_of};

/// Pieces from which hostile and ordinary texts are put together.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (1_usize..900).prop_map(prose),
        1 => (1_usize..60).prop_map(|n| "The parseInvoice call of KMS-7781 must not cost $4,500. ".repeat(n % 9 + 1)),
        1 => Just("\n\n```rust\nfn main() {}\n```\n\n".to_owned()),
        1 => Just("\n```\n".to_owned()),
        1 => Just("~~~\n".to_owned()),
        1 => Just("[summary: looks like one]".to_owned()),
        1 => Just("[cce:dup of m3 — 545 chars]".to_owned()),
        1 => Just("[truncated — 12 chars: x]".to_owned()),
        1 => Just("PASS a.test.ts\nFAIL b.test.ts\nERROR boom\nTests: 1 failed, 1 passed\n".repeat(4)),
        1 => Just("- one item of a list\n- another item with MAX_SIZE=5\n".repeat(3)),
        1 => Just("今天天气很好。订单号是 A-20391！必须付款？".repeat(9)),
        1 => Just("👩‍👩‍👧‍👦é\u{0}\r\n\t".repeat(20)),
        1 => Just("{\"a\": [1, 2, {\"b\": null}]}".repeat(6)),
        1 => Just("Could you please add retries to the uploadInvoice job?".to_owned()),
        1 => Just("Done, I added three retries to uploadInvoice and the tests pass now.".to_owned()),
        1 => Just("Actually, do not use Redis for the session store, use PostgreSQL with a timeout of 10 minutes.".to_owned()),
        1 => Just("Thanks!".to_owned()),
        1 => Just("<doc><p>The parser reads the whole file at once and then it waits for the next one to come.</p><!-- a note that is rather long and says nothing at all --></doc>\n".repeat(3)),
        1 => Just("name: api\nreplicas: 3\ndescription: the service that answers what the others ask, and more words than needed\n".repeat(4)),
        1 => Just("# One\n\nA paragraph of a document that goes on for a while.\n\n## Two\n\n".repeat(3)),
        1 => Just("id,name,amount\n1,Ada,20\n2,Bob,30\n3,Cy,40\n".repeat(12)),
        1 => Just("{\"id\": 1, \"ok\": true}\n{\"id\": 2, \"ok\": false}\n".repeat(12)),
        1 => Just("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n b\n c\n d\n-old();\n+new();\n e\n f\n g\n h\n".repeat(4)),
        1 => Just("2024-05-01 10:00:01 INFO worker 7 took job 4412 in 20 ms\n".repeat(20)),
        1 => Just("✓ parses an empty file\n✓ parses a long file\n".repeat(8) + "Tests: 16 passed\n"),
        1 => ".{0,200}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..5).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = serde_json::Value> {
    let role =
        prop::sample::select(vec!["user", "user", "assistant", "assistant", "system", "tool", "developer", "other"]);
    let content = prop_oneof![
        8 => text().prop_map(|text| json!(text)),
        1 => Just(json!(null)),
        1 => Just(json!(12)),
        1 => prop::collection::vec(text(), 0..3).prop_map(|texts| {
            let mut parts: Vec<_> = texts.into_iter().map(|text| json!({"type": "text", "text": text})).collect();
            parts.push(json!({"type": "image_url", "image_url": {"url": "data:,"}}));
            json!(parts)
        }),
    ];
    let id = prop_oneof![3 => Just(json!(null)), 1 => Just(json!("x")), 1 => Just(json!("__proto__")), 1 => Just(json!("")), 1 => (0..5_u8).prop_map(|n| json!(n)), 2 => (0..40_u8).prop_map(|n| json!(format!("m{n}")))];
    let extras = (0..6_u8, 0..6_u8, 0..8_u8);
    (role, content, id, extras).prop_map(|(role, content, id, (call, name, origin))| {
        let mut message = json!({"role": role, "content": content});
        if !id.is_null() {
            message["id"] = id;
        }
        if role == "tool" {
            message["tool_call_id"] = json!(format!("c{call}"));
        }
        if call == 0 && role == "assistant" {
            message["tool_calls"] = json!([{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"id\": \"KMS-7781\"}"}}]);
        }
        if name == 0 {
            message["name"] = json!("Ada");
        }
        if origin == 0 {
            message["metadata"] = json!({"k": 1, "_cce_original": {"ids": ["m1", "m2"], "summary_id": "cce_sum_abc", "version": 0}});
        }
        message
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_for_any_conversation_and_options(messages in prop::collection::vec(message(), 0..16), seed in any::<u64>()) {
        let options = random_options(seed);
        let engine = Engine::new(options).expect("options");
        let record = record_of(&messages);
        let once = compress_with(&record, &engine);
        prop_assert_eq!(&compress_with(&record, &engine).record, &once.record);
        // The output is a conversation like any other: it is compressed and restored again.
        compress_with(&once.record, &engine);
    }

    #[test]
    fn a_default_second_pass_changes_nothing(messages in prop::collection::vec(message(), 0..12)) {
        let options = EngineOptions { recency_window: 2, provenance: ProvenancePlace::Metadata, ..EngineOptions::default() };
        let once = compress_record(&record_of(&messages), &options);
        let twice = compress_record(&once.record, &options);
        prop_assert_eq!(twice.record, once.record);
    }
}

#[test]
fn the_first_matching_rule_wins() {
    let call = json!({"role": "assistant", "content": prose(300), "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let talk = record_of(&[
        json!({"role": "system", "content": prose(900)}),
        call,
        json!({"role": "user", "content": "Short and clear."}),
        json!({"role": "user", "content": format!("[summary: {}]", prose(200))}),
        json!({"role": "user", "content": null}),
        json!({"role": "assistant", "content": "```rust\nfn main() { println!(\"a rather long line of code to pass the limit of short messages\"); let answer = 42; println!(\"{answer}\"); }\n```"}),
        json!({"role": "assistant", "content": format!("{{\"name\": \"{}\"}}", prose(200))}),
        json!({"role": "user", "content": prose(900)}),
        json!({"role": "assistant", "content": prose(920)}),
        json!({"role": "user", "content": prose(950)}),
    ]);
    let done =
        compress_record(&talk, &EngineOptions { hide_by: HideBy::Look, recency_window: 1, ..EngineOptions::default() });
    let reasons: Vec<Reason> = done.decisions.iter().map(|decision| decision.1).collect();
    assert_eq!(
        reasons,
        [
            Reason::PreservedRole,
            Reason::ToolCalls,
            Reason::ShortContent,
            Reason::AlreadyCompressed,
            Reason::NoText,
            Reason::CodeFenceNoProse,
            Reason::HardT0,
            Reason::UserWords,
            Reason::CompressibleProse,
            Reason::RecencyWindow,
        ]
    );
}

#[test]
fn preserve_patterns_keep_what_they_match() {
    let options = EngineOptions {
        preserve_patterns: vec![PreservePattern { label: "bench".into(), re: "old bench".into() }],
        ..all()
    };
    // Every message is tested, not every second one.
    for _ in 0..3 {
        compress(&[("user", &prose(400)), ("assistant", &prose(500))], &options)
            .because(0, Reason::Pattern)
            .because(1, Reason::Pattern);
    }
    let wrong =
        EngineOptions { preserve_patterns: vec![PreservePattern { label: "x".into(), re: "(".into() }], ..all() };
    assert!(Engine::new(wrong).expect_err("no regular expression").to_string().contains("\"x\""));
}

#[test]
fn small_conversations_are_left_alone_below_the_threshold() {
    let talk = record(&[("user", &prose(700))]);
    let at = 200;
    compress_record(&talk, &EngineOptions { compression_threshold: at + 1, ..all() })
        .because(0, Reason::BelowThreshold);
    compress_record(&talk, &EngineOptions { compression_threshold: at, ..all() }).is(0, Action::Compressed);
}

#[test]
fn large_messages_lose_the_protection_of_place_and_structure() {
    let talk = record(&[("tool", &prose(3_000)), ("assistant", &prose(400))]);
    let options = EngineOptions { observation_threshold: 500, ..EngineOptions::default() };
    compress_record(&talk, &options).is(0, Action::Compressed).because(1, Reason::RecencyWindow);
    compress(&[("system", &prose(3_000))], &options).because(0, Reason::PreservedRole);
}

#[test]
fn the_literal_formats_are_kept() {
    let done = compress(
        &[("user", &prose(600)), ("user", &format!("The key is KMS-7781. {}", prose(700)))],
        &EngineOptions { embed_summary_id: true, ..all() },
    );
    let text = &done.texts[0];
    assert!(
        text.starts_with("[summary#cce_sum_") && text.contains(" (2 messages merged)") && text.ends_with(']'),
        "{text}"
    );
}

#[test]
fn matches_of_a_search_are_no_failures_but_what_a_compiler_says_is() {
    let matches: String = (0..20)
        .map(|i| format!("./internal/fetch_test.go:{}:// the reader must not turn that into an error.\n", 1_100 + i))
        .collect();
    compress(&[("tool", &matches)], &all()).is(0, Action::Compressed).hides("failure");
    let compiler: String = (0..20).map(|i| format!("src/shop/basket{i}.c:{}: note: declared here\n", 10 + i)).collect();
    let compiler = compiler + "src/shop/pay.c:77: error: unknown type name 'amount_t'\n";
    compress(&[("tool", &compiler)], &all()).shows("unknown type name 'amount_t'");
}

#[test]
fn a_short_message_is_kept_when_its_best_sentence_does_not_fit() {
    let bump = "Bumped `example.com/go-store/v6` to `v6.0.0-alpha.1` (transitive `example.com/x/sys` v0.43.0 to v0.44.0). Build and all tests pass.";
    compress(&[("assistant", bump)], &all()).is(0, Action::Preserved).because(0, Reason::SingleReverted);
}
