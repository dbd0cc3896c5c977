//! What each shape reads from a record, what a condensed record looks like, and which records are refused.

use condenser::model::{
    Condensed, Content, Metrics, NewBody, Output, Provenance, ProvenancePlace, RejectReason, Replacement, ShapeName,
};
use condenser::shape::{decode, detect};
use proptest::prelude::*;

use crate::support::talk::describe;

fn check_read(shape: ShapeName, record: &str, expected: &str) {
    let decoded = decode(record, shape, "fallback").map_err(|reject| reject.detail).expect(record);
    let lines: Vec<_> = decoded.conversation.messages.iter().map(describe).collect();
    let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{record}");
}

#[test]
fn openai_messages_are_read() {
    let check = |record: &str, expected: &str| check_read(ShapeName::Openai, record, expected);
    check(
        r#"{"messages": [{"role": "system", "content": "a"}, {"role": "human", "content": "b", "name": "Ann"},
           {"role": "model", "content": null}, {"role": "gpt"}, {"role": "critic", "content": 7}, {"content": {}}]}"#,
        r#"system "a"
           user (Ann) "b"
           assistant null
           assistant absent
           other:critic other
           missing other"#,
    );
    check(
        r#"{"messages": [{"role": "user", "content": ["a", {"type": "text", "text": "b\n"},
           {"type": "image_url", "text": "c"}, {"text": "d"}, {"type": "text", "text": 1}, null, 5]}]}"#,
        r#"user ["a" "b\n" _ _ _ _ _]"#,
    );
    check(
        r#"{"messages": [{"role": "assistant", "content": null, "tool_calls": [
             {"id": "c1", "function": {"name": "ls", "arguments": "{\"p\": 1}"}}, {"id": 2, "name": "cat", "arguments": {"p": 1.0}}, 3]},
           {"role": "assistant", "function_call": {"name": "f", "arguments": "x"}}, {"role": "assistant", "function_call": null},
           {"role": "tool", "tool_call_id": "c1", "content": "ok"}]}"#,
        r#"assistant null c1:ls({"p": 1}) 2:cat({"p": 1.0}) -:-()
           assistant absent -:f(x)
           assistant absent
           tool "ok" ->c1"#,
    );
    // Lone surrogates are read as U+FFFD; pairs and all short escapes as what they stand for.
    check(
        r#"{"messages": [{"r\u006fle": "user", "content": "\ud83d\ude00 \ud83d \u0041\/\b\f\"\\ \udc00\ud800\u0041"}]}"#,
        "user \"😀 \u{fffd} A/\\u{8}\\u{c}\\\"\\\\ \u{fffd}\u{fffd}A\"",
    );
    check(r#"{"messages": [{"role": "user", "content": "a", "role": "tool", "content": "b"}]}"#, r#"tool "b""#);
    check(r#"{"messages": [{"role": "user"}], "messages": []}"#, "");
    check(
        r#"{"messages": [{"metadata": {"_cce_original": {"ids": ["a", 1.50, "__proto__"], "summary_id": "s"}}},
           {"metadata": {"_cce_original": {"ids": []}}}, {"metadata": {"_cce_original": 1}}, {"metadata": "_cce_original"}]}"#,
        r#"missing absent ["a", "1.50", "__proto__"] s
           missing absent
           missing absent
           missing absent"#,
    );
}

/// What the messages of a record think.
#[track_caller]
fn check_thoughts(record: &str, expected: &[&[&str]]) {
    let shape = detect(record).expect("a known shape");
    let decoded = decode(record, shape, "fallback").expect("a conversation");
    let thoughts: Vec<Vec<&str>> = decoded
        .conversation
        .messages
        .iter()
        .map(|message| message.reasoning.iter().map(|thought| &*thought.text).collect())
        .collect();
    assert_eq!(thoughts, expected, "{record}");
}

#[test]
fn reasoning_is_read_under_all_its_names() {
    check_thoughts(
        r#"{"messages": [{"role": "user", "content": "Why?", "reasoning": "none of his"},
            {"role": "assistant", "content": "a", "reasoning_content": "one\ntwo", "reasoning": "one\u000atwo"},
            {"role": "assistant", "reasoning": "", "content": "a", "reasoning_details": [{"text": "once more"}]},
            {"role": "assistant", "content": "a", "reasoning_content": null, "reasoning":
                {"id": "rs_1", "encrypted_content": "c2VhbGVk", "summary": [{"type": "summary_text", "text": "short"}]}}]}"#,
        &[&[], &["one\ntwo"], &[], &["short"]],
    );
    check_thoughts(
        r#"{"messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "redacted_thinking", "data": "c2VhbGVk"},
            {"type": "text", "text": "Because."}, {"type": "reasoning", "text": "Well."}]}]}"#,
        &[&[], &["Hm.", "Well."]],
    );
    check_thoughts(
        r#"{"history": [{"role": "user", "content": "Why?"},
            {"role": "assistant", "content": "Look: `ls`", "thought": "Look:", "action": "ls"}]}"#,
        &[&[], &["Look:"]],
    );
    check_thoughts(
        r#"{"sessionId": "s", "messages": [{"type": "user", "content": "Why?"}, {"type": "gemini", "content": "a",
            "thoughts": [{"subject": "Reading", "description": "It says so.", "timestamp": "t"}]}]}"#,
        &[&[], &["Reading", "It says so."]],
    );
}

#[test]
fn cce_messages_are_read_from_objects_and_bare_lists() {
    let list = r#"[{"id": "m0", "index": 0, "role": "user", "content": "a", "metadata": {}}, {"id": 1e2, "index": 1}]"#;
    let expected = "user #m0 \"a\"
                      missing #1e2 absent";
    check_read(ShapeName::Cce, list, expected);
    check_read(ShapeName::Cce, &format!(r#"{{"messages": {list}}}"#), expected);
}

#[test]
fn sharegpt_turns_are_read() {
    check_read(
        ShapeName::Sharegpt,
        r#"{"conversations": [{"from": "system", "value": "s"}, {"from": "human", "value": "a"}, {"value": "c", "from": "function_call"},
           {"from": "observation", "value": "d"}, {"from": "gpt", "value": "e"}, {"from": "function_call", "value": 1}]}"#,
        r#"system "s"
           user "a"
           assistant null -:-(c)
           tool "d"
           assistant "e"
           assistant null"#,
    );
    // `from` and `value` count where both are there.
    check_read(
        ShapeName::Sharegpt,
        r#"{"conversations": [{"role": "user", "content": "a"}, {"role": "x", "from": "gpt", "value": "b", "content": "y"}]}"#,
        r#"user "a"
           assistant "b""#,
    );
}

#[test]
fn the_id_of_a_record_is_the_best_key_with_a_usable_value() {
    let check = |head: &str, id: &str| {
        let record = format!(r#"{{{head} "messages": []}}"#);
        let decoded = decode(&record, ShapeName::Openai, "file:3").expect("the record is valid");
        assert_eq!(decoded.conversation.id, id, "{head}");
    };
    check(r#""uuid": "u", "session_id": "s", "conversation_id": "c", "id": "i","#, "i");
    check(r#""uuid": "u", "session_id": "s", "id": null,"#, "s");
    check(r#""id": 0012e1,"#.replace("0012e1", "12e1").as_str(), "12e1");
    check(r#""id": "a", "id": "b\u00e9","#, "bé");
    check(r#""id": "", "uuid": "u","#, "u");
    check(r#""id": {"a": 1},"#, "file:3");
    check("", "file:3");
}

#[test]
fn shapes_are_told_by_structure() {
    let check = |record: &str, shape: Option<ShapeName>| assert_eq!(detect(record), shape, "{record}");
    check(r#"{"messages": [{"role": "user", "content": "a"}]}"#, Some(ShapeName::Openai));
    check(r#"{"messages": []}"#, Some(ShapeName::Openai));
    check(r#"{"messages": [{"id": "a", "index": 0, "content": "a"}]}"#, Some(ShapeName::Cce));
    check(r#"[{"id": "a", "index": 0, "content": "a"}]"#, Some(ShapeName::Cce));
    check("[]", Some(ShapeName::Cce));
    check(r#"{"conversations": [{"from": "human", "value": "a"}]}"#, Some(ShapeName::Sharegpt));
    check(r#"{"conversations": [{"role": "user", "content": "a"}]}"#, Some(ShapeName::Sharegpt));
    check(r#"{"conversations": [1]}"#, None);
    check(r#"{"messages": [{"text": "a"}]}"#, None);
    check(r#"{"messages": "a"}"#, None);
    check("[1, 2]", None);
    check("17", None);
    check(r#"{"messages": [}"#, None);
}

#[test]
fn records_that_are_no_conversation_are_refused_with_the_place() {
    let check = |record: &str, reason: RejectReason, detail: &str| {
        let reject = decode(record, ShapeName::Openai, "fallback").expect_err(record);
        assert_eq!(reject.reason, reason, "{record}: {}", reject.detail);
        assert!(reject.detail.contains(detail), "{record}: {}", reject.detail);
    };
    check("", RejectReason::InvalidJson, "expected a value at byte 1, where the record ends");
    check(r#"{"messages": [{"role": "us"#, RejectReason::InvalidJson, "at byte 27, where the record ends");
    check(r#"{"messages": [é]}"#, RejectReason::InvalidJson, "expected a value at byte 15, found 'é'");
    check(r#"{"messages": []} x"#, RejectReason::InvalidJson, "expected the end of the record at byte 18");
    check("{\"messages\": [\"a\nb\"]}", RejectReason::InvalidJson, "control character");
    check(r#"{"messages": [{"a": "\x"}]}"#, RejectReason::InvalidJson, "a valid escape at byte 22");
    check(r#"{"messages": [{"a": 01}]}"#, RejectReason::InvalidJson, "at byte 22");
    check(r#"{"messages": [{}, "a"], "x": tru}"#, RejectReason::InvalidJson, "at byte 30");
    check("null", RejectReason::UnknownShape, "the record is null");
    check("[]", RejectReason::UnknownShape, "`cce`");
    check(r#"{"message": []}"#, RejectReason::NoMessages, "no list `messages`");
    check(r#"{"messages": {}}"#, RejectReason::NoMessages, "no list `messages`");
    check(r#"{"messages": [{}, "a", 1]}"#, RejectReason::MessageNotObject, "message 2 (byte 19) is a string");
}

/// Message 0 is replaced by `body`, with provenance for `m0`.
fn condensed(record: &str, shape: ShapeName, body: NewBody, place: ProvenancePlace) -> String {
    replaced(record, shape, (body, false), place)
}

/// The same where it may be said by several.
fn replaced(record: &str, shape: ShapeName, (body, is_by_several): (NewBody, bool), place: ProvenancePlace) -> String {
    let decoded = decode(record, shape, "fallback").expect("the record is valid");
    let provenance =
        Provenance { ids: vec!["m0".to_owned()], summary_id: "cce_sum_é".to_owned(), ..Provenance::default() };
    let mut messages = vec![Output::Replaced(Replacement {
        sources: vec![0],
        is_by_several,
        body,
        spots: Vec::new(),
        provenance,
        views: Vec::new(),
    })];
    messages.extend((1..decoded.conversation.messages.len()).map(|index| Output::Kept { index }));
    decoded.condensed_record(&Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() }, place)
}

#[test]
fn what_several_say_has_no_name() {
    let check = |message: &str, expected: &str| {
        for place in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
            let record = format!(r#"{{"messages": [{message}, {{"name": "Bo"}}]}}"#);
            let text = || NewBody::Text("s".to_owned());
            let written = replaced(&record, ShapeName::Openai, (text(), true), place);
            let without = format!(r#"{{"messages": [{expected}, {{"name": "Bo"}}]}}"#);
            // The rest is what it is without a name.
            assert_eq!(written, replaced(&without, ShapeName::Openai, (text(), false), place), "{message}");
        }
    };
    check(r#"{"name": "Ada", "content": "a"}"#, r#"{"content": "a"}"#);
    check(r#"{ "role": "user", "name" : "Ada", "content": "a" }"#, r#"{ "role": "user", "content": "a" }"#);
    check(r#"{"role":"user","content":"a","name":"Ada"}"#, r#"{"role":"user","content":"a"}"#);
    check(r#"{"name": "A", "role": "user", "name": "B", "content": "a"}"#, r#"{"role": "user", "content": "a"}"#);
    check(r#"{"content": "a", "name": "A", "name": "B"}"#, r#"{"content": "a"}"#);
    check(r#"{"content": "a", "names": ["Ada"]}"#, r#"{"content": "a", "names": ["Ada"]}"#);
    let sharegpt = r#"{"conversations": [{"from": "human", "name": "Ada", "value": "a"}]}"#;
    assert_eq!(
        replaced(sharegpt, ShapeName::Sharegpt, (NewBody::Text("s".to_owned()), true), ProvenancePlace::Sidecar),
        r#"{"conversations": [{"from": "human", "value": "s"}]}"#
    );
}

#[test]
fn only_the_content_of_a_replaced_message_changes() {
    let check = |shape: ShapeName, record: &str, expected: &str| {
        let body = NewBody::Text("[summary: “x”]\n".to_owned());
        assert_eq!(condensed(record, shape, body, ProvenancePlace::Sidecar), expected);
    };
    check(
        ShapeName::Openai,
        r#" { "z" : 1.0, "messages":[ {"content" : "long", "role":"user", "u": "\u00E9é"} ,{ } ] } "#,
        r#" { "z" : 1.0, "messages":[ {"content" : "[summary: “x”]\n", "role":"user", "u": "\u00E9é"} ,{ } ] } "#,
    );
    // A record without any character beyond ASCII but with escapes for them gets escapes.
    check(
        ShapeName::Openai,
        r#"{"messages": [{"content": "long \u00e9"}]}"#,
        r#"{"messages": [{"content": "[summary: \u201cx\u201d]\n"}]}"#,
    );
    check(
        ShapeName::Openai,
        r#"{"messages": [{"content": [{"type": "image"}, {"type": "text", "text": "long", "cache": {}}, 1]}]}"#,
        r#"{"messages": [{"content": [{"type": "image"}, {"type": "text", "text": "[summary: “x”]\n", "cache": {}}, 1]}]}"#,
    );
    check(
        ShapeName::Sharegpt,
        r#"{"conversations": [{"from": "human", "value": "long"}]}"#,
        r#"{"conversations": [{"from": "human", "value": "[summary: “x”]\n"}]}"#,
    );
    let parts = NewBody::Parts(vec![(0, "A".to_owned()), (2, "C".to_owned())]);
    let record = r#"{"messages": [{"content": ["a", {"type": "text", "text": "b"}, {"text": "c", "type": "text"}]}]}"#;
    assert_eq!(
        condensed(record, ShapeName::Openai, parts, ProvenancePlace::Sidecar),
        r#"{"messages": [{"content": ["A", {"type": "text", "text": "b"}, {"text": "C", "type": "text"}]}]}"#
    );
}

#[test]
fn provenance_joins_the_metadata_that_is_there() {
    let json = r#"{"ids":["m0"],"summary_id":"cce_sum_é","version":0}"#;
    let check = |message: &str, expected: &str| {
        let record = format!(r#"{{"messages": [{message}], "x": "é"}}"#);
        let expected = format!(r#"{{"messages": [{}], "x": "é"}}"#, expected.replace("PROVENANCE", json));
        let body = NewBody::Text("s".to_owned());
        assert_eq!(condensed(&record, ShapeName::Openai, body, ProvenancePlace::Metadata), expected);
    };
    check(r#"{"content": "a"}"#, r#"{"content": "s", "metadata": {"_cce_original": PROVENANCE}}"#);
    check(r#"{"content":"a","x":1}"#, r#"{"content":"s","x":1,"metadata":{"_cce_original":PROVENANCE}}"#);
    check(r#"{"metadata":{},"content":"a"}"#, r#"{"metadata":{"_cce_original":PROVENANCE},"content":"s"}"#);
    check(
        r#"{"metadata": {"k": 1.0 }, "content": "a"}"#,
        r#"{"metadata": {"k": 1.0, "_cce_original": PROVENANCE }, "content": "s"}"#,
    );
    check(
        r#"{"metadata": {"_cce_original": {"ids": ["old"]}, "k": 1}, "content": "a"}"#,
        r#"{"metadata": {"_cce_original": PROVENANCE, "k": 1}, "content": "s"}"#,
    );
    check(r#"{"metadata": null, "content": "a"}"#, r#"{"metadata": {"_cce_original": PROVENANCE}, "content": "s"}"#);
    check("{ }", r#"{"content": "s", "metadata": {"_cce_original": PROVENANCE} }"#);
}

#[test]
fn rows_are_columns_with_the_rest_in_extra() {
    let record = r#"{"id": "c", "model": "m\u00e9", "messages": [{"role": "user", "content": "a\nb", "ts": 1.0, "name": null},
        {"tool_calls": [], "metadata": {"k": 1}, "tool_call_id": 7, "role": 5, "content": ["x"], "id": "m1"}]}"#;
    let decoded = decode(record, ShapeName::Openai, "fallback").expect("the record is valid");
    let messages = vec![Output::Kept { index: 0 }, Output::Kept { index: 1 }];
    let condensed = Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() };
    let row = decoded.row(&condensed, ProvenancePlace::Sidecar);
    assert_eq!(row.extra.as_deref(), Some(r#"{"model":"m\u00e9"}"#));
    assert_eq!(row.messages.len(), 2);
    let (first, second) = (&row.messages[0], &row.messages[1]);
    assert_eq!((first.role.as_deref(), first.content.as_deref()), (Some("user"), Some("a\nb")));
    assert_eq!((first.name.as_deref(), first.extra.as_deref()), (None, Some(r#"{"ts":1.0}"#)));
    assert_eq!((second.role.as_deref(), second.content.as_deref()), (None, Some(r#"["x"]"#)));
    assert_eq!((second.tool_calls.as_deref(), second.tool_call_id.as_deref()), (Some("[]"), Some("7")));
    assert_eq!(second.metadata.as_deref(), Some(r#"{"k": 1}"#));
    assert_eq!(second.extra.as_deref(), Some(r#"{"role":5,"id":"m1"}"#));
}

#[test]
fn the_layout_of_a_regular_conversation_is_small() {
    let turn = |n: usize| format!(r#"{{"role": "{}", "content": "turn {n}\n"}}"#, ["user", "assistant"][n % 2]);
    let record = format!(r#"{{"id": "c", "messages": [{}]}}"#, (0..100).map(turn).collect::<Vec<_>>().join(", "));
    let decoded = decode(&record, ShapeName::Openai, "fallback").expect("the record is valid");
    let messages = (0..100).map(|index| Output::Kept { index }).collect();
    let condensed = Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() };
    assert_eq!(
        decoded.row_layout(&condensed),
        "r{\"id\": $I1, \"messages\": [$M]}\ns, \nm{\"role\": $R1, \"content\": $C1}\n"
    );
    assert_eq!(decoded.record_layout(&condensed), None);
}

#[test]
fn depth_costs_no_stack() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    let record = format!(r#"{{"x": {objects}, "messages": [{{"role": "user", "content": {deep}}}]}}"#);
    check_read(ShapeName::Openai, &record, "user [_]");
    assert_eq!(detect(&record), Some(ShapeName::Openai));
}

/// Texts that are JSON or nearly so.
fn nearly_json() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        proptest::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "null",
            "true",
            "false",
            "tru",
            "-",
            "0",
            "1",
            "12",
            ".",
            "e",
            "E",
            "+",
            " ",
            "\n",
            "\t",
            "\u{b}",
            "\"a\"",
            "\"b\":",
            "\\u00e9",
            "\\ud800",
            "\\n",
            "\\x",
            "é",
            "\u{feff}",
            "\"\\u12\"",
            "\"\\\\\"",
            "1e5",
            "-0.5",
            "\u{1}",
            "\u{7f}",
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}".prop_map(|text| format!("\"{text}\"")),
    ];
    let soup = proptest::collection::vec(token.clone(), 0..12).prop_map(|tokens| tokens.concat());
    let list = proptest::collection::vec(token.clone(), 0..6).prop_map(|tokens| format!("[{}]", tokens.join(",")));
    let object = proptest::collection::vec((token.clone(), token), 0..4).prop_map(|members| {
        let members: Vec<_> = members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
        format!("{{{}}}", members.join(" , "))
    });
    prop_oneof![soup, list, object]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_texts_are_json_as_for_serde(value in nearly_json()) {
        let record = format!(r#"{{"messages": [], "x": {value}}}"#);
        let ours = decode(&record, ShapeName::Openai, "fallback").map_err(|reject| reject.reason);
        let valid = serde_json::from_str::<serde::de::IgnoredAny>(&record).is_ok();
        // A value that closes the object may bring another `messages`, but never makes another text valid.
        prop_assert_eq!(ours.err() != Some(RejectReason::InvalidJson), valid, "{}", record);
    }

    #[test]
    fn strings_are_decoded_as_by_serde(text in any::<String>(), ascii in any::<bool>()) {
        let mut quoted = serde_json::to_string(&text).expect("a string serializes");
        if ascii {
            let mut escaped = String::new();
            for char in quoted.chars() {
                if char.is_ascii() {
                    escaped.push(char);
                } else {
                    escaped.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
                }
            }
            quoted = escaped;
        }
        let record = format!(r#"{{"messages": [{{"content": {quoted}}}]}}"#);
        let decoded = decode(&record, ShapeName::Openai, "fallback").expect("the record is valid");
        prop_assert_eq!(&decoded.conversation.messages[0].content, &Content::Text(text.into()));
    }
}

#[test]
fn the_styles_of_common_writers_need_no_copy_in_the_layout() {
    let check = |text: &str| {
        let record = format!(r#"{{"messages": [{{"content": "{text}"}}]}}"#);
        let decoded = decode(&record, ShapeName::Openai, "fallback").expect("the record is valid");
        let messages = vec![Output::Kept { index: 0 }];
        let condensed = Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() };
        let layout = decoded.row_layout(&condensed);
        assert!(layout.contains("$C"), "{record}\n{layout}");
    };
    check(r#"é / \n\t\"\\\u001b <b>"#);
    check(r"\u00e9 / \n\ud83d\ude00 \u007f <b>");
    check(r"\u00E9 / \n\uD83D\uDE00 \u001B <b>");
    check(r"\u00e9 \/ \n\ud83d\ude00 <b>");
    check(r"é / \u003cb\u003e \u2028");
    check(r"é \/");
}
