//! Logs in, conversations out: what an API saw of each.

mod stopped;

use super::chats;
use crate::model::{Role, ShapeName};
use crate::shape::{decode, detect};

/// The chats of a record, a line for each message: its role, its text, and its calls; `!` behind what broke off, `+` behind what is not of
/// the log.
fn told(record: &str, shape: ShapeName) -> String {
    let decoded = decode(record, shape, "s").expect("a record");
    let mut out = String::new();
    for chat in chats(&decoded) {
        out.push_str(&format!("= {}\n", chat.conversation.id));
        for (message, note) in chat.conversation.messages.iter().zip(&chat.notes) {
            let text: String = message.texts().collect::<Vec<_>>().join("|").replace('\n', "/");
            let calls: Vec<String> = message
                .tool_calls
                .iter()
                .map(|call| {
                    let (id, name) = (call.id.as_deref().unwrap_or("-"), call.name.as_deref().unwrap_or("-"));
                    format!("{id}:{name}{}", call.arguments)
                })
                .collect();
            let thoughts: Vec<&str> = message.reasoning.iter().map(|thought| thought.text.as_ref()).collect();
            let marks =
                [(note.is_cut, "!"), (note.is_filler, "+")].into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark);
            let parts = [
                message.role.as_str().to_owned() + &marks.collect::<String>(),
                message.tool_call_id.as_deref().unwrap_or_default().to_owned(),
                if thoughts.is_empty() { String::new() } else { format!("({})", thoughts.join("; ")) },
                text,
                calls.join(" "),
            ];
            out.push_str(
                &parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" "),
            );
            out.push('\n');
        }
    }
    out
}

fn check(record: &str, shape: ShapeName, expected: &str) {
    let lines = expected.lines().map(str::trim).filter(|line| !line.is_empty());
    let expected: String = lines.flat_map(|line| [line, "\n"]).collect();
    assert_eq!(told(record, shape), expected, "{record}");
}

/// Events of Claude Code: `kind|uuid|parent|more members|content`.
fn claude(events: &[&str]) -> String {
    let line = |event: &&str| {
        let mut parts = event.splitn(5, '|');
        let mut next = || parts.next().unwrap_or_default();
        let (kind, uuid, parent, more, content) = (next(), next(), next(), next(), next());
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        let id = more.strip_prefix("id=").map(|id| format!("\"id\":\"{id}\",")).unwrap_or_default();
        let more = if more.starts_with("id=") { "" } else { more };
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\"{more},\
             \"message\":{{{id}\"role\":\"{kind}\",\"content\":{content}}}}}\n"
        )
    };
    events.iter().map(line).collect()
}

fn text(text: &str) -> String {
    format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]")
}

fn call(id: &str) -> String {
    format!("[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Read\",\"input\":{{\"path\":\"{id}\"}}}}]")
}

fn result(id: &str) -> String {
    format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"of {id}\"}}]")
}

#[test]
fn blocks_of_one_reply_are_one_turn_and_results_follow_in_the_order_of_the_calls() {
    let log = claude(&[
        "user|u1||,\"isSidechain\":false|\"Fix it\"",
        "assistant|a1|u1|id=m1|[{\"type\":\"thinking\",\"thinking\":\"Look first\",\"signature\":\"x\"}]",
        &format!("assistant|a2|a1|id=m1|{}", text("Let me look.")),
        &format!("assistant|a3|a2|id=m1|{}", call("c1")),
        &format!("user|r1|a3||{}", result("c1")),
        &format!("assistant|a4|a3|id=m1|{}", call("c2")),
        &format!("assistant|a5|a4|id=m1|{}", call("c3")),
        &format!("user|r3|a5||{}", result("c3")),
        &format!("user|r2|a4||{}", result("c2")),
        &format!("assistant|a6|r2|id=m2|{}", text("Done.")),
    ]);
    check(
        &log,
        ShapeName::ClaudeCode,
        r#"
        = s
        user Fix it
        assistant (Look first) Let me look. c1:Read{"path":"c1"} c2:Read{"path":"c2"} c3:Read{"path":"c3"}
        tool c1 of c1
        tool c2 of c2
        tool c3 of c3
        assistant Done.
        "#,
    );
}

#[test]
fn sub_agents_compactions_and_what_was_taken_back_are_told_apart() {
    let side = ",\"isSidechain\":true,\"agentId\":\"ab\"";
    let log = claude(&[
        "user|u1||,\"isSidechain\":false|\"Plan\"",
        &format!("assistant|a1|u1|id=m1|{}", text("A plan")),
        "user|u2|a1||\"Do it wrong\"",
        &format!("assistant|a2|u2|id=m2|{}", text("Wrong")),
        "user|u3|a1||\"Do it right\"",
        &format!("user|x1||{side}|\"Search\""),
        &format!("assistant|a3|u3|id=m3|{}", call("c1")),
        &format!("assistant|x2|x1|{side}|{}", text("Found")),
        &format!("user|r1|a3||{}", result("c1")),
        "user|u4||,\"isCompactSummary\":true|\"So far: right\"",
        &format!("assistant|a4|u4|id=m4|{}", text("Going on")),
        "assistant|a5|a4|,\"isApiErrorMessage\":true|\"API Error: 500\"",
    ]);
    check(
        &log,
        ShapeName::ClaudeCode,
        r#"
        = s
        user Plan
        assistant A plan
        user Do it right
        assistant c1:Read{"path":"c1"}
        tool c1 of c1
        = s/2
        user So far: right
        assistant Going on
        = s/agent-ab
        user Search
        assistant Found
        "#,
    );
    let decoded = decode(&log, ShapeName::ClaudeCode, "s").expect("a log");
    let left = chats(&decoded).iter().map(|chat| (chat.left.taken_back, chat.left.not_said)).collect::<Vec<_>>();
    assert_eq!(left, [(2, 0), (0, 1), (0, 0)]);
}

#[test]
fn a_log_of_codex_has_its_instructions_its_thoughts_and_its_summary() {
    let item = |payload: &str| format!("{{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{payload}}}\n");
    let message = |role: &str, text: &str| {
        item(&format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#))
    };
    let log = [
        "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"x\",\"base_instructions\":{\"text\":\"You are Codex\"}}}\n",
        &message("developer", "Ask first"),
        &message("user", "Where?"),
        &item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Search"}]}"#),
        &item(r#"{"type":"function_call","name":"sh","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}"#),
        &item(r#"{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a b\",\"metadata\":{\"exit_code\":0}}"}"#),
        "{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{\"message\":\"We looked\"}}\n",
        &message("user", "And?"),
        &message("assistant", "Here"),
    ]
    .concat();
    check(
        &log,
        ShapeName::Codex,
        r#"
        = x
        system You are Codex//Ask first
        user Where?
        assistant (Search) c1:sh{"cmd":"ls"}
        tool c1 {"output":"a b","metadata":{"exit_code":0}}
        = x/2
        system You are Codex//Ask first
        user We looked//And?
        assistant Here
        "#,
    );
}

#[test]
fn calls_that_broke_off_have_a_result_that_says_so_and_what_was_tried_again_is_gone() {
    let event = |body: &str| format!("{{\"type\":\"message\",\"timestamp\":\"t\",\"message\":{body}}}\n");
    let call = |id: &str, stop: &str| {
        event(&format!(
            r#"{{"role":"assistant","stopReason":"{stop}","content":[{{"type":"toolCall","id":"{id}","name":"edit","arguments":{{}}}}]}}"#
        ))
    };
    let log = [
        "{\"type\":\"session\",\"id\":\"p\",\"cwd\":\"/\",\"timestamp\":\"t\"}\n",
        &event(r#"{"role":"user","content":"Go"}"#),
        &call("c1", "error"),
        &call("c2", "aborted"),
        // A result of the call that was tried again.
        &event(r#"{"role":"toolResult","toolCallId":"c1","content":"late"}"#),
        &event(r#"{"role":"user","content":"Go on"}"#),
        &call("c3", "toolUse"),
    ]
    .concat();
    check(
        &log,
        ShapeName::Pi,
        "
        = p
        user Go
        assistant! c2:edit{}
        tool+ c2 [no result was recorded]
        user [result of a call that is not in this log]/late//Go on
        assistant c3:edit{}
        tool+ c3 [no result was recorded]
        ",
    );
}

#[test]
fn replies_that_hold_their_results_and_events_that_are_calls_become_turns() {
    let gemini = r#"{"sessionId":"g","messages":[{"id":"1","type":"user","content":"Read it"},
        {"id":"2","type":"gemini","content":"","thoughts":[{"subject":"Plan","description":"Read"}],"toolCalls":[
            {"id":"c1","name":"read","args":{"p":1},"result":[{"functionResponse":{"id":"c1","response":{"output":"text"}}}]},
            {"id":"c2","name":"read","args":{"p":2},"status":"cancelled"}]},
        {"id":"9","type":"info","content":"Gemini CLI update available!"},
        {"id":"3","type":"gemini","content":"Read."}]}"#;
    check(
        gemini,
        ShapeName::GeminiCli,
        r#"
        = g
        user Read it
        assistant (Plan; Read) c1:read{"p":1} c2:read{"p":2}
        tool c1 text
        tool+ c2 [no result was recorded]
        assistant Read.
        "#,
    );
    let openhands = r#"{"id":"o","history":[{"id":1,"source":"user","action":"message","args":{"content":"Fix"}},
        {"id":2,"source":"user","action":"recall","args":{"query":"Fix"}},
        {"id":3,"source":"agent","message":"Running command: ls","action":"run","args":{"command":"ls","thought":"Look."},
            "tool_call_metadata":{"function_name":"bash"}},
        {"id":4,"source":"agent","cause":3,"observation":"run","content":"a.py"},
        {"id":5,"source":"environment","observation":"agent_state_changed","content":""},
        {"id":6,"source":"agent","action":"edit","args":{"path":"a.py","impl_source":"oh_aci","hidden":false},"tool_call_metadata":
            {"function_name":"str_replace","tool_call_id":"t2","model_response":{"choices":[{"message":{"tool_calls":[
                {"id":"t1","function":{"name":"x","arguments":"{}"}},
                {"id":"t2","function":{"name":"str_replace","arguments":"{\"path\": \"a.py\", \"old\": \"x\"}"}}]}}]}}},
        {"id":7,"source":"agent","cause":6,"observation":"edit","content":"done"},
        {"id":8,"source":"agent","action":"message","args":{"content":"Fixed."}}]}"#;
    check(
        openhands,
        ShapeName::Openhands,
        r#"
        = o
        user Fix
        assistant Look. 3:bash{"command":"ls"}
        tool 3 a.py
        assistant 6:str_replace{"path": "a.py", "old": "x"}
        tool 6 done
        assistant Fixed.
        "#,
    );
}

#[test]
fn neighbours_of_one_speaker_are_one_turn_and_the_user_begins() {
    let record = r#"{"id":"n","messages":[{"role":"assistant","content":"Hello"},{"role":"system","content":"Late"},
        {"role":"user","name":"Ann","content":"Hi"},{"role":"user","name":"Bo","content":"Ho"},{"role":"assistant","content":""},
        {"role":"assistant","content":"Both"},{"role":"assistant","content":"of you"},{"role":"tool","tool_call_id":"z","content":"lost"}]}"#;
    check(
        record,
        ShapeName::Openai,
        "
        = n
        user+ [the assistant speaks first]
        assistant Hello
        user <system>/Late/</system>//Ann: Hi//Bo: Ho
        assistant Both//of you
        user [result of a call that is not in this log]/lost
        ",
    );
    let two = r#"{"id":"d","turns":[{"speaker":"Kim","utterance":"Rain?"},{"speaker":"Lee","utterance":"Sun."},{"speaker":"Kim","utterance":"Good."}]}"#;
    check(two, ShapeName::Dialogue, "\n = d\n user Rain?\n assistant Sun.\n user Good.\n ");
    let said = r#"{"id":"f","system":"Help","conversations":[{"from":"human","value":"Sum?"},
        {"from":"function_call","value":"[{\"name\":\"add\",\"arguments\":{\"a\":1}},{\"name\":\"add\",\"arguments\":{\"a\":2}}]"},
        {"from":"observation","value":"3"},{"from":"gpt","value":"3"}]}"#;
    check(
        said,
        ShapeName::Sharegpt,
        r#"
        = f
        system Help
        user Sum?
        assistant call_1:add{"a":1} call_2:add{"a":2}
        tool call_1 3
        tool+ call_2 [no result was recorded]
        assistant 3
        "#,
    );
}

#[test]
fn a_logged_request_ends_with_its_reply_and_its_tools_are_those_it_names() {
    let record = r#"{"messages":[{"role":"user","content":"Sum?"}],"kwargs":{"tools":[{"name":"add","input_schema":{"type":"object"}}]},
        "response":{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"add","arguments":"{}"}}]}}]}}"#;
    check(
        record,
        detect(record).expect("a shape"),
        "
        = s
        user Sum?
        assistant c:add{}
        tool+ c [no result was recorded]
        ",
    );
    let decoded = decode(record, ShapeName::Openai, "s").expect("a record");
    let chat = chats(&decoded).remove(0);
    let tools = super::named_tools(&decoded).expect("tools");
    assert_eq!(
        serde_json::Value::Array(tools).to_string(),
        r#"[{"type":"function","function":{"name":"add","description":"","parameters":{"type":"object"}}}]"#
    );
    assert!(chat.conversation.messages.iter().all(|message| message.role != Role::Missing));
}

#[test]
fn the_branch_that_the_log_goes_on_from_is_alive_whichever_came_last() {
    let log = claude(&[
        "user|u1||,\"isSidechain\":false|\"Plan\"",
        &format!("assistant|a1|u1|id=m1|{}", text("A plan")),
        "user|u2|a1||\"Way A\"",
        &format!("assistant|a2|u2|id=m2|{}", text("A it is")),
        "user|u3|a1||\"Way B\"",
        &format!("assistant|a3|u3|id=m3|{}", text("B it is")),
        "user|u4|a2||\"Go on with A\"",
        &format!("assistant|a4|u4|id=m4|{}", text("A again")),
    ]);
    check(
        &log,
        ShapeName::ClaudeCode,
        "
        = s
        user Plan
        assistant A plan
        user Way A
        assistant A it is
        user Go on with A
        assistant A again
        ",
    );
}

#[test]
fn calls_of_one_id_answer_in_their_order_and_what_is_masked_stays_so() {
    let call = |n: u8| format!(r#"{{"id":"c","function":{{"name":"f","arguments":"{n}"}}}}"#);
    let record = format!(
        r#"{{"messages":[{{"role":"user","content":"Go"}},{{"role":"assistant","tool_calls":[{},{}]}},
        {{"role":"tool","tool_call_id":"c","content":"one"}},{{"role":"tool","tool_call_id":"c","content":"two"}},
        {{"role":"assistant","content":"No.","train":false}},{{"role":"user","content":"Why?"}},
        {{"role":"assistant","content":"So.","weight":1}}]}}"#,
        call(1),
        call(2)
    );
    check(
        &record,
        ShapeName::Openai,
        "
        = s
        user Go
        assistant c:f1 c_1:f2
        tool c one
        tool c_1 two
        assistant No.
        user Why?
        assistant So.
        ",
    );
    let decoded = decode(&record, ShapeName::Openai, "s").expect("a record");
    let masked: Vec<bool> = chats(&decoded).remove(0).notes.iter().map(|note| note.is_masked).collect();
    assert_eq!(masked, [false, false, false, false, true, false, false]);
}
