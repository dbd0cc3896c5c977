//! One table per shape beyond the plain ones: how a record is told, what is read from it, and that it comes back after
//! one and two rounds, in rows and in records, however oddly it is written.

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    Condensed, Content, Message, Metrics, NewBody, Output, Part, Provenance, ProvenancePlace, Replacement, ShapeName,
};
use condenser::pipeline::Condense;
use condenser::shape::{Decoded, decode, detect, restore_record, restore_row};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::chats::Blunt;
use crate::support::talk::describe;
use crate::support::talk::{all, check_invariants, prose};

/// Long enough to be summarised.
fn long() -> String {
    prose(900)
}

/// The record is told as `shape`, read as `expected` (one line per message), and comes back.
#[track_caller]
fn check(shape: ShapeName, record: &str, expected: &str) {
    let record = record.replace("LONG", &long());
    assert_eq!(detect(&record), Some(shape), "{record}");
    let decoded = decode(&record, shape, "fallback").map_err(|reject| reject.detail).expect(&record);
    let lines: Vec<_> =
        decoded.conversation.messages.iter().map(|message| describe(message).replace(&long(), "LONG")).collect();
    let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{record}");
    comes_back(&decoded, shape);
}

#[track_caller]
fn comes_back(decoded: &Decoded<'_>, shape: ShapeName) {
    let engine = Engine::new(all()).expect("options");
    let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
    for place in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
        check_invariants(decoded, &condensed, place);
        let written = decoded.condensed_record(&condensed, place);
        assert_eq!(masked(&written, shape), masked(decoded.record, shape), "only texts change");
        let again = decode(&written, decoded.read_as, "fallback").expect("a condensed record is a record");
        let twice = engine.condense(&again.conversation, &mut Scratch::default());
        check_invariants(&again, &twice, place);
    }
    let blunt = Blunt::default().condense(&decoded.conversation, &mut Scratch::default());
    restores(decoded, &blunt);
}

#[track_caller]
fn restores(decoded: &Decoded<'_>, condensed: &Condensed) {
    let originals = decoded.originals(condensed);
    for place in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
        let record = decoded.condensed_record(condensed, place);
        let layout = decoded.record_layout(condensed);
        let back = restore_record(&record, layout.as_deref(), &originals);
        assert_eq!(back.as_deref(), Ok(decoded.record), "from {record}");
        let row = decoded.row(condensed, place);
        let back = restore_row(&decoded.conversation.id, &row, &decoded.row_layout(condensed), &originals);
        assert_eq!(back.as_deref(), Ok(decoded.record), "from {row:?}");
    }
}

/// The record without the texts that may be replaced and without provenance; only where no messages were merged.
fn masked(record: &str, shape: ShapeName) -> Value {
    // serde_json refuses lone surrogates.
    let mut record: Value = serde_json::from_str(&record.replace("\\ud83d", "?")).expect("JSON");
    let lists = ["messages", "history", "traj", "input", "turns", "utterances", "meeting_transcripts", "content"];
    let list = lists.iter().find(|list| record[**list].is_array()).expect("a list");
    for message in record[*list].as_array_mut().expect("a list") {
        let Some(message) = message.as_object_mut() else { continue };
        message.remove("metadata");
        let keys: &[&str] = match shape {
            ShapeName::Dialogue => &["utterance", "text", "message", "content"],
            ShapeName::Openhands => &["content", "message"],
            _ => &["content"],
        };
        for key in keys {
            if let Some(content) = message.get_mut(*key) {
                mask_content(content);
            }
        }
    }
    record
}

fn mask_content(content: &mut Value) {
    match content {
        Value::String(text) => text.clear(),
        Value::Array(blocks) => {
            for block in blocks {
                let kind = block["type"].as_str().unwrap_or_default().to_owned();
                match kind.as_str() {
                    "tool_result" if !block["content"].is_null() => mask_content(&mut block["content"]),
                    "text" if block["text"].is_string() => block["text"] = Value::Null,
                    "text" if block["value"].is_string() => block["value"] = Value::Null,
                    _ if block.is_string() => *block = Value::Null,
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[test]
fn anthropic_blocks_are_read() {
    let check = |record: &str, expected: &str| check(ShapeName::Anthropic, record, expected);
    check(
        r#"{"id": "c", "model": "m", "system": [{"type": "text", "text": "LONG"}], "messages": [
            {"role": "user", "content": "LONG"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "LONG", "signature": "s=="},
              {"type": "text", "text": "I look."}, {"type": "tool_use", "id": "t1", "name": "ls", "input": {"p": 1.0}}]},
            {"role": "user", "content": [{"tool_use_id": "t1", "type": "tool_result", "content": "LONG", "is_error": false}]},
            {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "LONG"}]}]}"#,
        r#"user "LONG"
           assistant [_ "I look." _] t1:ls({"p": 1.0})
           tool ["LONG"] ->t1
           assistant [_ "LONG"]"#,
    );
    // Several results in one message, nested content, an image, text beside them.
    check(
        r#"{"messages": [{"role": "user", "content": [
              {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "LONG"}, {"type": "image", "source": {}}, {"type": "text", "text": "b"}]},
              {"type": "tool_result", "tool_use_id": "b"}, {"type": "tool_result", "tool_use_id": 7, "content": []},
              {"type": "tool_result", "content": "LONG"}, {"type": "text", "text": "and this"},
              {"type": "image", "source": {"type": "base64", "data": "iVBO"}},
              {"type": "document", "source": {"type": "text", "data": "LONG"}}]}]}"#,
        r#"tool ["LONG" _ "b" _ _ "LONG" "and this" _ _] ->a"#,
    );
    // Strange, but nothing is lost: calls of the user, results of the assistant, results in results, nulls.
    check(
        r#"{"messages": [{"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "a", "content":
              [{"type": "tool_result", "content": "LONG"}, null, "x", 5, []]}, {"type": "server_tool_use", "name": "web", "id": null, "input": null}]},
           {"role": "user", "content": [{"type": "tool_use", "id": "c", "name": 5}]},
           {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": {"a": "LONG"}}, {"type": "text", "text": null}]},
           {"role": "user", "content": []}, {"role": "assistant", "content": null}, {"role": "user", "content": ""}]}"#,
        r#"assistant [_ _ "x" _ _ _] -:web(null) ->a
           user [_] c:-()
           tool [_ _] ->c
           user []
           assistant null
           user """#,
    );
    // A list of messages with a system text beside it is of the Messages API even without blocks.
    check(r#"{"system": "s", "messages": [{"role": "user", "content": "a"}]}"#, r#"user "a""#);
    // Duplicate keys, escapes and spacing: the last key counts, and every byte comes back.
    check(
        r#"{ "messages" :[ { "content" : [ { "type":"text", "type" : "tool_result" , "tool_use_id":"\u0061", "content":"x", "content" :"LONG\u00e9\/" } ] ,"role":"user"},{"role":"user","content":"x","content":[{"type":"text","text":"LONG"}]} ] }"#,
        "tool [\"LONGé/\"] ->a
         user [\"LONG\"]",
    );
}

#[test]
fn results_of_a_message_know_their_parts_and_calls() {
    let record = r#"{"messages": [{"role": "user", "content": [
        {"type": "text", "text": "Mind this:"},
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}, {"type": "image", "source": {}}]},
        {"type": "tool_result", "tool_use_id": "b"}, {"type": "tool_result", "content": "two"}, {"type": "text", "text": "Why?"}
        ]}, {"role": "user", "content": [{"type": "text", "text": "Because."}]}]}"#;
    let decoded = decode(record, ShapeName::Anthropic, "fallback").expect("a conversation");
    let [results, said] = &decoded.conversation.messages[..] else { panic!("two messages") };
    let parts = |message: &Message<'_>| -> Vec<String> {
        let part = |at| match (message.is_beside_results(at), message.call_answered_at(at)) {
            (true, _) => "-".to_owned(),
            (false, call) => call.unwrap_or("?").to_owned(),
        };
        (0..message.n_parts()).map(part).collect()
    };
    assert_eq!(parts(results), ["-", "a", "a", "b", "?", "-"]);
    assert_eq!((said.results.len(), parts(said)), (0, vec!["?".to_owned()]));
}

#[test]
fn records_of_plain_messages_are_not_taken_for_blocks() {
    let record =
        r#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}]}"#;
    assert_eq!(detect(record), Some(ShapeName::Openai));
    let record = r#"{"messages": [{"id": "a", "index": 0, "role": "user", "content": [{"type": "tool_use"}]}]}"#;
    assert_eq!(detect(record), Some(ShapeName::Cce));
}

#[test]
fn trajectories_of_swe_agent_are_read() {
    check(
        ShapeName::SweAgent,
        r#"{"environment": "e", "trajectory": [{"action": "ls\n", "observation": "LONG", "thought": "t"}], "history": [
            {"message_type": "system_prompt", "role": "system", "content": "LONG", "agent": "main"},
            {"role": "user", "content": "LONG", "agent": "main", "is_demo": true},
            {"role": "assistant", "content": "LONG", "thought": "LONG", "action": "ls\n", "agent": "main"},
            {"role": "assistant", "content": "c", "action": "ls", "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}, "id": "k1", "type": "function"}]},
            {"role": "tool", "content": "LONG", "tool_call_ids": ["k1"]}, {"role": "tool", "content": null, "tool_call_ids": []}],
            "info": {"exit_status": "submitted"}}"#,
        r#"system "LONG"
           user "LONG"
           assistant "LONG"
           assistant "c" k1:ls({})
           tool "LONG" ->k1
           tool null"#,
    );
}

#[test]
fn sessions_of_gemini_cli_are_read() {
    check(
        ShapeName::GeminiCli,
        r#"{"sessionId": "s", "messages": [{"id": "1", "type": "user", "content": "LONG"},
            {"id": "2", "type": "gemini", "content": "LONG", "thoughts": [], "toolCalls": [
              {"id": "k", "name": "ls", "args": {"p": 1}, "result": [{"functionResponse": {"response": {"output": "LONG"}}}]}]},
            {"id": "3", "type": "gemini", "content": "LONG"}, {"id": "4", "type": "info", "content": "LONG"}]}"#,
        r#"user #1 "LONG"
           assistant #2 "LONG" k:ls({"p": 1})
           assistant #3 "LONG"
           other:info #4 "LONG""#,
    );
}

#[test]
fn logs_of_inspect_and_tau_are_records_of_plain_messages() {
    check(
        ShapeName::Openai,
        r#"{"id": 1, "epoch": 1, "input": [{"role": "user", "content": "q"}], "messages": [{"id": "a", "content": "LONG", "source": "input", "role": "user"},
            {"id": "b", "content": "", "role": "assistant", "tool_calls": [{"id": "k", "function": "web_go", "arguments": {"url": "u"}}]},
            {"id": "c", "content": "LONG", "role": "tool", "tool_call_id": "k", "function": "web_go"}], "events": [{"role": "x"}]}"#,
        r#"user #a "LONG"
           assistant #b "" k:web_go({"url": "u"})
           tool #c "LONG" ->k"#,
    );
    check(
        ShapeName::Openai,
        r#"{"input": [{"role": "user", "content": [{"type": "text", "text": "LONG"}, {"type": "image", "image": "data:"}]}], "target": "3"}"#,
        r#"user ["LONG" _]"#,
    );
    check(
        ShapeName::Openai,
        r#"{"task_id": 0, "traj": [{"role": "system", "content": "LONG"}, {"content": null, "role": "assistant",
            "tool_calls": [{"function": {"arguments": "{}", "name": "get"}, "id": "k", "type": "function"}]},
            {"role": "tool", "tool_call_id": "k", "name": "get", "content": "LONG"}], "trial": 0}"#,
        r#"system "LONG"
           assistant null k:get({})
           tool (get) "LONG" ->k"#,
    );
    check(
        ShapeName::Openai,
        r#"{"id": "s", "messages": [{"role": "user", "content": null, "tool_calls": [{"id": "k", "name": "bar", "arguments": {}, "requestor": "user"}]},
            {"id": "k", "role": "tool", "content": "LONG", "requestor": "user"}, {"role": "assistant", "content": "LONG", "tool_calls": null}]}"#,
        r#"user null k:bar({})
           tool #k "LONG"
           assistant "LONG""#,
    );
    // Parts of ms-swift: the text stands under `value`.
    check(
        ShapeName::Openai,
        r#"{"messages": [{"role": "assistant", "content": [{"type": "reasoning", "value": "LONG"}, {"type": "text", "value": "LONG"}], "loss_weight": 1.0},
            {"role": "assistant", "content": [{"type": "text", "value": "a"}, {"type": "tool_call", "value": "{\"name\": 1}"}]}]}"#,
        r#"assistant [_ "LONG"]
           assistant ["a" _] -:-({"name": 1})"#,
    );
}

#[test]
fn of_several_lists_the_best_one_counts() {
    let check = |record: &str, texts: &[&str]| {
        let decoded = decode(record, ShapeName::Openai, "fallback").expect(record);
        let found: Vec<_> = decoded.conversation.messages.iter().flat_map(Message::texts).collect();
        assert_eq!(found, texts, "{record}");
        comes_back(&decoded, ShapeName::Openai);
    };
    let long = long();
    let (a, b) = (format!("a {long}"), format!("b {long}"));
    let list = |text: &str| format!(r#"[{{"role": "user", "content": "{text}"}}]"#);
    check(&format!(r#"{{"traj": {}, "x": 1, "messages": {}, "y": 2}}"#, list(&a), list(&b)), &[&b]);
    check(&format!(r#"{{"messages": {}, "traj": {}}}"#, list(&a), list(&b)), &[&a]);
    check(&format!(r#"{{"messages": null, "traj": {}, "input": {}}}"#, list(&a), list(&b)), &[&a]);
    check(&format!(r#"{{"messages": {}, "messages": {}}}"#, list(&a), list(&b)), &[&b]);
    check(&format!(r#"{{"input": "text", "traj": {}}}"#, list(&a)), &[&a]);
    let record = format!(r#"{{"input": {}, "messages": {}}}"#, list(&a), list(&b));
    let decoded = decode(&record, ShapeName::Openai, "fallback").expect("a record");
    let messages = vec![Output::Kept { index: 0 }];
    let condensed = Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() };
    let row = decoded.row(&condensed, ProvenancePlace::Sidecar);
    assert_eq!(row.extra.as_deref(), Some(format!(r#"{{"input":{}}}"#, list(&a)).as_str()));
}

#[test]
fn events_of_openhands_are_read() {
    check(
        ShapeName::Openhands,
        r#"{"instance_id": "i", "history": [
            {"id": 0, "source": "agent", "message": "LONG", "action": "system", "args": {"content": "LONG"}},
            {"id": 1, "source": "environment", "message": "LONG", "cause": 0, "observation": "recall", "content": "Added"},
            {"id": 2, "source": "agent", "message": "Running", "action": "run", "args": {"command": "ls"}},
            {"id": 3, "source": "agent", "message": "done", "cause": 2, "observation": "run", "content": "LONG", "extras": {"a": "LONG"}},
            {"id": 4, "source": "user", "message": "LONG", "content": null}]}"#,
        r#"assistant #0 "LONG" -:system({"content": "LONG"})
           tool #1 "Added" ->0
           assistant #2 "Running" -:run({"command": "ls"})
           tool #3 "LONG" ->2
           user #4 null"#,
    );
}

#[test]
fn messages_of_langchain_are_read() {
    check(
        ShapeName::Langchain,
        r#"{"messages": [{"content": "LONG", "additional_kwargs": {}, "response_metadata": {}, "type": "human", "name": null, "id": "m1", "example": false},
            {"content": "", "additional_kwargs": {}, "response_metadata": {"model": "m"}, "type": "ai", "id": "m2", "tool_calls": [{"name": "ls", "args": {"p": 1}, "id": "c1", "type": "tool_call"}], "usage_metadata": null},
            {"content": "LONG", "additional_kwargs": {}, "type": "tool", "name": "ls", "tool_call_id": "c1", "status": "success"},
            {"content": "LONG", "response_metadata": {}, "type": "AIMessageChunk"}]}"#,
        r#"user #m1 "LONG"
           assistant #m2 "" c1:ls({"p": 1})
           tool (ls) "LONG" ->c1
           assistant "LONG""#,
    );
}

#[test]
fn dialogues_are_read() {
    let check = |record: &str, expected: &str| check(ShapeName::Dialogue, record, expected);
    check(
        r#"{"dialogue_id": "8_0", "services": ["M"], "turns": [{"frames": [{}], "speaker": "USER", "utterance": "LONG"}, {"speaker": "SYSTEM", "utterance": "a"}]}"#,
        r#"user "LONG"
           assistant "a""#,
    );
    check(
        r#"{"article_url": "u", "content": [{"message": "LONG", "agent": "agent_1"}, {"message": "b", "agent": "agent_2"}]}"#,
        r#"other:agent_1 "LONG"
           other:agent_2 "b""#,
    );
    check(
        r#"{"messages": [{"message": "LONG"}, {"attrs": [{"name": "n"}], "message": "LONG"}], "name": "n"}"#,
        r#"missing "LONG"
           missing "LONG""#,
    );
    check(
        r#"{"dialogue_id": 1, "utterances": [{"utterance_id": 0, "interlocutor_id": "AA", "text": "LONG", "timestamp": "t"}]}"#,
        r#"other:AA #0 "LONG""#,
    );
    check(
        r#"{"topic_list": [{"topic": "t"}], "meeting_transcripts": [{"speaker": "Grad F", "content": "LONG"}]}"#,
        r#"other:Grad F "LONG""#,
    );
}

#[test]
fn unnamed_speakers_are_never_merged() {
    let turn = format!(r#"{{"message": "{}"}}"#, long());
    let record = format!(r#"{{"messages": [{turn}, {}]}}"#, turn.replace("garden", "meadow"));
    let decoded = decode(&record, ShapeName::Dialogue, "c").expect("a record");
    let condensed = Engine::new(all()).expect("options").condense(&decoded.conversation, &mut Scratch::default());
    assert_eq!(condensed.messages.len(), 2);
}

/// Blocks as people and programs write them.
fn block() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        Just(String::new()),
        Just("short".to_owned()),
        Just(long()),
        Just(format!("{}\\n\\u00e9 \\ud83d \\\"q\\\" \\/", long())),
        Just(format!("```\\nlet x = 1;\\n```\\n{}", long())),
    ];
    (0_usize..12, text).prop_map(|(kind, text)| match kind {
        0 => format!(r#"{{"type":"text","text":"{text}"}}"#),
        1 => format!(r#"{{"text" : "{text}", "cache_control": {{"type": "ephemeral"}}, "type": "text"}}"#),
        2 => format!(r#"{{"type":"tool_result","tool_use_id":"t","content":"{text}","is_error":true}}"#),
        3 => format!(r#"{{"content":[{{"type":"text","text":"{text}"}} , {{"type":"image","source":{{"data":"{text}"}}}}],"type":"tool_result"}}"#),
        4 => format!(r#"{{"type":"tool_result","content":[{{"type":"text","text":"x"}},{{"type":"text","text":"{text}"}}],"tool_use_id":"{text}"}}"#),
        5 => format!(r#"{{"type":"tool_use","id":"t","name":"ls","input":{{"a":"{text}"}}}}"#),
        6 => format!(r#"{{"type":"thinking","thinking":"{text}","signature":"c2ln"}}"#),
        7 => r#"{"type":"redacted_thinking","data":"x"}"#.to_owned(),
        8 => format!(r#""{text}""#),
        9 => format!(r#"{{"type":"text","text":"a","text":"{text}"}}"#),
        10 => r#"{"type":"tool_result","content":null}"#.to_owned(),
        _ => "null".to_owned(),
    })
}

fn record() -> impl Strategy<Value = String> {
    let role = proptest::sample::select(vec!["user", "assistant", "user", "system"]);
    let content = prop_oneof![
        4 => (proptest::collection::vec(block(), 0..5), proptest::sample::select(vec![",", " , ", ",\n  "]))
            .prop_map(|(blocks, comma)| format!("[{}]", blocks.join(comma))),
        1 => Just(format!("\"{}\"", long())),
        1 => Just("null".to_owned()),
    ];
    let message = (role, content, any::<bool>()).prop_map(|(role, content, first)| {
        if first {
            format!(r#"{{"role":"{role}","content":{content}}}"#)
        } else {
            format!(r#"{{ "content" : {content} , "role" : "{role}" }}"#)
        }
    });
    proptest::collection::vec(message, 0..7)
        .prop_map(|messages| format!(r#"{{"system":"s","messages":[{}],"model":"m"}}"#, messages.join(", ")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_come_back_and_only_their_texts_change(record in record(), picks in proptest::collection::vec(any::<bool>(), 64)) {
        let decoded = decode(&record, ShapeName::Anthropic, "c").expect("a record");
        let engine = Engine::new(all()).expect("options");
        let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
        check_invariants(&decoded, &condensed, ProvenancePlace::Sidecar);
        restores(&decoded, &condensed);
        for output in &condensed.messages {
            if let Output::Replaced(replaced) = output
                && let Content::Parts(_) = decoded.conversation.messages[replaced.sources[0]].content {
                prop_assert_eq!(replaced.sources.len(), 1, "messages of blocks are never merged");
            }
        }
        // Any choice of texts can be replaced, and nothing else changes.
        let mut picks = picks.into_iter().cycle();
        let outputs = decoded.conversation.messages.iter().enumerate().map(|(index, message)| {
            let Content::Parts(parts) = &message.content else { return Output::Kept { index } };
            let texts = parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::Text(_)));
            let chosen: Vec<_> = texts.filter(|_| picks.next() == Some(true)).map(|(at, _)| (at, format!("[summary: “{at}”]"))).collect();
            let provenance = Provenance { ids: vec![format!("m{index}")], summary_id: "s".to_owned(), version: 1, ..Provenance::default() };
            Output::Replaced(Replacement { sources: vec![index], is_by_several: false, body: NewBody::Parts(chosen), spots: Vec::new(), provenance, views: Vec::new() })
        });
        let chosen = Condensed { messages: outputs.collect(), decisions: Vec::new(), metrics: Metrics::default() };
        restores(&decoded, &chosen);
        let written = decoded.condensed_record(&chosen, ProvenancePlace::Sidecar);
        prop_assert_eq!(masked(&written, ShapeName::Anthropic), masked(&record, ShapeName::Anthropic));
        let again = decode(&written, ShapeName::Anthropic, "c").expect("a record");
        for (output, message) in chosen.messages.iter().zip(&again.conversation.messages) {
            let (Output::Replaced(replaced), Content::Parts(parts)) = (output, &message.content) else { continue };
            let NewBody::Parts(new) = &replaced.body else { continue };
            for (at, text) in new {
                prop_assert_eq!(&parts[*at], &Part::Text(text.as_str().into()));
            }
        }
    }
}
