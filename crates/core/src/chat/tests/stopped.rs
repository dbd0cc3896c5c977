//! What was thought, and what was stopped.

use super::{check, told};
use crate::model::ShapeName;

#[test]
fn what_is_thought_in_the_text_is_a_thought_and_what_was_stopped_is_no_target() {
    let record = r#"{"id":"t","messages":[
        {"role":"system","content":"Be brief."},{"role":"system","name":"bridge_status","content":"remote control is on"},
        {"role":"user","content":"Go"},
        {"role":"assistant","content":"<think>\nFirst.\n</think>\n\nI look."},
        {"role":"user","content":"And?"},
        {"role":"assistant","content":"I say <think> and </think>.","tool_calls":[
            {"type":"function","function":{"name":"a","arguments":"{}"}},{"type":"function","function":{"name":"b","arguments":"{}"}}]},
        {"role":"tool","name":"b","content":"of b"},{"role":"tool","name":"a","content":"of a"},
        {"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"rm","arguments":"{"}}]},
        {"role":"user","content":"Stop!"},
        {"role":"assistant","content":"Stopped."}]}"#;
    check(
        record,
        ShapeName::Openai,
        "
        = t
        system Be brief.
        user Go
        assistant (First.) I look.
        user And?
        assistant I say <think> and </think>. call_1:a{} call_2:b{}
        tool call_1 of a
        tool call_2 of b
        assistant! c:rm{
        tool+ c [no result was recorded]
        user Stop!
        assistant Stopped.
        ",
    );
}

#[test]
fn thoughts_end_with_their_own_tag() {
    let said = |text: &str| {
        let record =
            format!(r#"{{"messages":[{{"role":"user","content":"Go"}},{{"role":"assistant","content":{text:?}}}]}}"#);
        told(&record, ShapeName::Openai).lines().next_back().unwrap_or_default().to_owned()
    };
    assert_eq!(said("<think>a <think>b</think> c</think>Said."), "assistant (a <think>b</think> c) Said.");
    assert_eq!(said("<think>a</think>\n<think>b</think>Said."), "assistant (a; b) Said.");
    assert_eq!(said("<think>I write <think> here.</think>Said."), "assistant (I write <think> here.) Said.");
    assert_eq!(said("Said <think>a</think>."), "assistant Said <think>a</think>.");
    assert!(!said("  <think>never closed").contains("assistant never"));
}

#[test]
fn parts_with_values_are_thoughts_and_calls_as_well() {
    let record = r#"{"id":"v","messages":[{"role":"user","content":[{"type":"text","value":"Go"}]},
        {"role":"assistant","content":[{"type":"reasoning","value":"I look it up."},{"type":"text","value":"Wait."},
            {"type":"tool_call","value":"{\"name\":\"find\",\"arguments\":{\"q\":1}}"}]},
        {"role":"tool","content":[{"type":"text","value":"found"}]},
        {"role":"assistant","content":[{"type":"text","value":"Here."}]}]}"#;
    check(
        record,
        ShapeName::Openai,
        "
        = v
        user Go
        assistant (I look it up.) Wait. call_1:find{\"q\":1}
        tool call_1 found
        assistant Here.
        ",
    );
}

#[test]
fn a_thought_of_a_reply_that_somebody_stopped_is_no_part_of_the_next_one() {
    let thought = |id: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","role":"assistant","content":[{{"type":"thinking","thinking":"I commit."}}]}}}}"#
        )
    };
    let said = |id: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{id}","role":"assistant","content":[{{"type":"text","text":"No."}}]}}}}"#
        )
    };
    let user = |text: &str| format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#);
    let log = |last: &str| {
        let events = [user("Go"), thought("m1"), user("Wait, do we need it?"), said(last)];
        events.join("\n")
    };
    let of = |last: &str| told(&log(last), ShapeName::ClaudeCode);
    assert!(!of("m2").contains("I commit."), "{}", of("m2"));
    assert!(of("m1").contains("I commit."), "{}", of("m1"));
}

#[test]
fn a_turn_of_which_the_user_refused_a_call_is_no_target() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected";
    let call = |id: &str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"rm","arguments":"{{}}"}}}}"#);
    let result = |id: &str, text: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#);
    let record = format!(
        r#"{{"id":"r","messages":[{{"role":"user","content":"Clean up"}},{{"role":"assistant","content":"","tool_calls":[{},{}]}},{},{},
            {{"role":"assistant","content":"I left it."}}]}}"#,
        call("a"),
        call("b"),
        result("a", "done"),
        result("b", refused)
    );
    let told = told(&record, ShapeName::Openai);
    assert!(told.contains("assistant! a:rm{} b:rm{}") && told.contains("assistant I left it."), "{told}");
}
