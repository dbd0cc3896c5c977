//! Event logs: what is read from them, that every line comes back, and that sessions stay together.

use std::fmt::Write as _;
use std::io::Cursor;
use std::sync::Arc;

use condenser::engine::{Engine, Scratch};
use condenser::io::{EventSource, LineSource, Run, sniff_events};
use condenser::model::{EngineOptions, ProvenancePlace, ShapeName};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{BatchOptions, Commit, Condense, ConversationFormat, Restored, Source, verify_part};
use condenser::shape::{VerbatimMap, decode, detect, restore_record, restore_row, uncompress_record};
use proptest::prelude::*;

use crate::support::chats::{Blunt, Drip, Seeded};
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::talk::describe;
use crate::support::{job, native};

const FORMATS: [ConversationFormat; 2] = [ConversationFormat::Parquet, ConversationFormat::Jsonl];
const KINDS: [ShapeName; 4] = [ShapeName::ClaudeCode, ShapeName::Codex, ShapeName::Pi, ShapeName::CopilotCli];

fn limits(batch_bytes: usize) -> BatchOptions {
    BatchOptions { batch_bytes, max_record_bytes: 1 << 30 }
}

fn events(text: &[u8], kind: ShapeName, options: BatchOptions) -> Box<dyn Source> {
    Box::new(EventSource::new("log.jsonl", Box::new(Cursor::new(text.to_vec())), kind, options))
}

/// A finished run in a folder of its own.
struct Done {
    dir: TestDir,
    commit: Commit,
    bridge: Bridge,
}

fn run(source: Box<dyn Source>, engine: Arc<dyn Condense>, format: ConversationFormat) -> Done {
    let context = job::context(engine, format, limits(1 << 20));
    let dir = TestDir::new();
    job::run_on_disk(source, &context, &dir.path("run"));
    let commit = Run::open(dir.path("run")).expect("the run opens").commits.remove(0);
    Done { dir, commit, bridge: context.bridge }
}

impl Done {
    fn restored(&self) -> Vec<u8> {
        let run = Run::open(self.dir.path("run")).expect("the run opens");
        let mut restorer = run.restorer(&self.commit, &self.bridge, true).expect("tables open");
        let mut bytes = Vec::new();
        let mut seen = |slice: &Restored| {
            bytes.extend_from_slice(slice.bytes());
            Ok(())
        };
        verify_part(&mut restorer, &self.commit, None, &mut seen).expect("the part restores");
        bytes
    }

    fn found(&self, id: &str) -> Vec<u8> {
        let run = Run::open(self.dir.path("run")).expect("the run opens");
        let mut found = run.find(&self.commit, id, &self.bridge).expect("tables open").expect("it is there");
        found.next_slice().expect("it restores").expect("a slice").bytes().to_vec()
    }

    /// The compressed records of a run of lines.
    fn records(&self) -> Vec<String> {
        let bytes = self.dir.read("run/conversations/part-00000.jsonl.zst");
        let text = String::from_utf8(zstd::decode_all(&*bytes).expect("whole")).expect("UTF-8");
        text.lines().map(str::to_owned).collect()
    }
}

fn blunt() -> Arc<dyn Condense> {
    Arc::new(Blunt::default())
}

/// Through both formats and back.
#[track_caller]
fn check_runs(text: &[u8], kind: ShapeName, n_conversations: u64, n_rejects: u64) {
    for format in FORMATS {
        let done = run(events(text, kind, limits(1 << 20)), blunt(), format);
        let shown = String::from_utf8_lossy(text);
        assert!(done.restored() == text, "{format:?}\n{shown}\n{}", String::from_utf8_lossy(&done.restored()));
        assert_eq!(
            (done.commit.totals.conversations, done.commit.totals.rejects),
            (n_conversations, n_rejects),
            "{format:?}\n{shown}"
        );
        assert_eq!(done.commit.proof.raw_records, 0, "{format:?}\n{shown}");
    }
}

/// What is read from a log, from its list form too; both come back whatever is replaced.
#[track_caller]
fn check_read(kind: ShapeName, log: &str, id: &str, expected: &str) {
    let log: String = log.trim().lines().map(|line| line.trim().to_owned() + "\n").collect();
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(sniff_events(log.as_bytes(), None), Some(kind), "{log}");
    let log = log.trim_end();
    assert_eq!(detect(log), Some(kind), "{log}");
    let decoded = decode(log, kind, "fallback").expect(log);
    let lines: Vec<_> = decoded.conversation.messages.iter().map(describe).collect();
    assert_eq!(lines, expected, "{log}");
    assert_eq!(decoded.conversation.id, id, "{log}");
    check_twice(log, kind);
}

/// Everything that an engine may do comes back, from rows and from lists, and from lists of lists.
#[track_caller]
fn check_twice(log: &str, kind: ShapeName) {
    for provenance in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
        let engine = Blunt { options: EngineOptions { provenance, ..EngineOptions::default() }, ..Blunt::default() };
        let mut record = log.to_owned();
        for round in 0..3 {
            let decoded = decode(&record, kind, "fallback").expect(&record);
            let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
            let originals = decoded.originals(&condensed);
            let row = decoded.row(&condensed, provenance);
            let layout = decoded.row_layout(&condensed);
            let back = restore_row(&decoded.conversation.id, &row, &layout, &originals);
            assert_eq!(back.as_deref(), Ok(&*record), "round {round}: {row:?}\n{layout}");
            let (written, layout) = decoded.condensed_record_and_layout(&condensed, provenance);
            let back = restore_record(&written, layout.as_deref(), &originals);
            assert_eq!(back.as_deref(), Ok(&*record), "round {round}: {written}\n{layout:?}");
            assert!(serde_json::from_str::<Vec<serde_json::Value>>(&written).is_ok(), "{written}");
            assert_eq!(detect(&written), Some(kind), "{written}");
            let again = decode(&written, kind, "fallback").expect(&written);
            assert_eq!(again.conversation.id, decoded.conversation.id);
            assert_eq!(again.conversation.messages.len(), condensed.messages.len());
            drop(again);
            record = written;
        }
    }
}

const CODEX: &str = r#"
    {"timestamp":"t0","type":"session_meta","payload":{"id":"s-1","cwd":"/src","instructions":null}}
    {"timestamp":"t1","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]}}
    {"timestamp":"t2","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"},{"type":"input_image","image_url":"data:"}]}}
    {"timestamp":"t3","type":"event_msg","payload":{"type":"user_message","message":"Why?"}}
    {"timestamp":"t4","type":"turn_context","payload":{"cwd":"/src"}}
    {"timestamp":"t5","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null}}
    {"timestamp":"t6","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}}
    {"timestamp":"t7","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Output:\na.rs\n"}}
    {"timestamp":"t8","type":"response_item","payload":{"type":"custom_tool_call","status":"completed","call_id":"c2","name":"apply_patch","input":"*** Begin"}}
    {"timestamp":"t9","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0}}"}}
    {"timestamp":"u0","type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":[{"type":"input_text","text":"seen"}]}}
    {"timestamp":"u1","type":"response_item","payload":{"type":"function_call_output","call_id":"c4","output":{"content":"x","success":true}}}
    {"timestamp":"u2","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Because."}],"phase":"final"}}
    {"timestamp":"u3","type":"event_msg","payload":{"type":"agent_message","message":"Because."}}"#;

#[test]
fn codex_rollouts_are_read() {
    check_read(
        ShapeName::Codex,
        CODEX,
        "s-1",
        r#"developer ["Be brief."]
           user ["Why?" _]
           assistant absent c1:shell({"cmd":"ls"})
           tool "Output:\na.rs\n" ->c1
           assistant absent c2:apply_patch(*** Begin)
           tool other ->c2
           tool ["seen"] ->c3
           tool other ->c4
           assistant ["Because."]"#,
    );
}

const PI: &str = r#"
    {"type":"session","id":"p-1","timestamp":"t0","cwd":"/src","provider":"x"}
    {"type":"model_change","timestamp":"t1","provider":"x","modelId":"m"}
    {"type":"message","timestamp":"t2","message":{"role":"user","content":[{"type":"text","text":"Read it."}],"timestamp":1}}
    {"type":"message","timestamp":"t3","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","thinkingSignature":"s"},{"type":"text","text":"Reading."},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a.rs"}}],"usage":{"input":1},"stopReason":"toolUse"}}
    {"type":"message","timestamp":"t4","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"fn main() {}"},{"type":"image","data":"iVBO","mimeType":"image/png"}],"isError":false}}
    {"type":"thinking_level_change","timestamp":"t5","thinkingLevel":"low"}
    {"type":"message","timestamp":"t6","message":{"role":"bashExecution","command":"ls","output":"a.rs","exitCode":0}}
    {"type":"message","timestamp":"t7","message":{"role":"assistant","content":[],"stopReason":"aborted"}}{"type":"compaction","timestamp":"t8","summary":"All of it.","firstKeptEntryIndex":3}
    {"type":"message","timestamp":"t9","id":"m9","parentId":"m8","message":{"role":"user","content":"Thanks."}}"#;

#[test]
fn pi_sessions_are_read_also_with_two_events_on_a_line() {
    check_read(
        ShapeName::Pi,
        PI,
        "p-1",
        r#"user ["Read it."]
           assistant [_ "Reading." _] c1:read({"path":"a.rs"})
           tool (read) ["fn main() {}" _] ->c1
           other:bashExecution "a.rs"
           assistant []
           user #m9 "Thanks.""#,
    );
}

const COPILOT: &str = r#"
    {"type":"session.start","data":{"sessionId":"g-1","version":1,"producer":"copilot-agent","context":{"cwd":"/src"}},"id":"e0","timestamp":"t0","parentId":null}
    {"type":"session.model_change","data":{"newModel":"m"},"id":"e1","timestamp":"t1","parentId":"e0"}
    {"type":"system.message","data":{"role":"system","content":"Be brief."},"id":"e2","timestamp":"t2","parentId":"e1"}
    {"type":"user.message","data":{"content":"Why?","transformedContent":"<now>t3</now> Why?","attachments":[]},"id":"e3","timestamp":"t3","parentId":"e2"}
    {"type":"assistant.turn_start","data":{"turnId":"0"},"id":"e4","timestamp":"t4","parentId":"e3"}
    {"type":"assistant.message","data":{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"c1","name":"view","arguments":{"path":"a.rs"},"type":"function"},{"toolCallId":"c2","name":"bash","arguments":"{\"command\":\"ls\"}"}],"reasoningText":"Hm.","reasoningOpaque":"x=="},"id":"e5","timestamp":"t5","parentId":"e4"}
    {"type":"tool.execution_start","data":{"toolCallId":"c1","toolName":"view","arguments":{"path":"a.rs"}},"id":"e6","timestamp":"t6","parentId":"e5"}
    {"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"fn main() {}","detailedContent":"1. fn main() {}"},"toolTelemetry":{}},"id":"e7","timestamp":"t7","parentId":"e6"}
    {"type":"tool.execution_complete","data":{"toolCallId":"c2","success":false,"error":{"message":"no such file","code":"failure"}},"id":"e8","timestamp":"t8","parentId":"e7"}
    {"type":"tool.execution_complete","data":{"toolCallId":"c3","success":true,"result":"a.rs"},"id":"e9","timestamp":"t9","parentId":"e8"}
    {"type":"tool.execution_complete","data":{"toolCallId":"c4","success":true},"id":"f0","timestamp":"u0","parentId":"e9"}
    {"type":"assistant.message","data":{"messageId":"m2","content":"Because.","toolRequests":[]},"id":"f1","timestamp":"u1","parentId":"f0"}
    {"type":"assistant.turn_end","data":{"turnId":"0"},"id":"f2","timestamp":"u2","parentId":"f1"}"#;

#[test]
fn copilot_sessions_are_read() {
    check_read(
        ShapeName::CopilotCli,
        COPILOT,
        "g-1",
        r#"system #e2 "Be brief."
           user #e3 "Why?"
           assistant #e5 "" c1:view({"path":"a.rs"}) c2:bash({"command":"ls"})
           tool #e7 "fn main() {}" ->c1
           tool #e8 "no such file" ->c2
           tool #e9 "a.rs" ->c3
           tool #f0 absent ->c4
           assistant #f1 "Because.""#,
    );
}

const CLAUDE: &str = r#"
    {"type":"summary","summary":"Fixing","leafUuid":"u9"}
    {"type":"file-history-snapshot","messageId":"u1","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false}
    {"parentUuid":null,"isSidechain":false,"sessionId":"c-1","type":"user","message":{"role":"user","content":"Why?"},"uuid":"u1","timestamp":"t1"}
    {"parentUuid":"u1","isSidechain":false,"sessionId":"c-1","type":"progress","data":{"type":"hook"},"uuid":"u2"}
    {"parentUuid":"u2","isSidechain":false,"sessionId":"c-1","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"}],"stop_reason":null},"requestId":"r","type":"assistant","uuid":"u3"}
    {"parentUuid":"u3","isSidechain":false,"sessionId":"c-1","message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Let me see."}]},"type":"assistant","uuid":"u4"}
    {"parentUuid":"u4","isSidechain":true,"sessionId":"c-1","isMeta":true,"type":"user","message":{"role":"user","content":[{"type":"text","text":"Explore."}]},"uuid":"u5"}
    {"type":"user","sessionId":"c-1","message":"not an object","uuid":"u6"}
    {"type":"system","subtype":"turn_duration","sessionId":"c-1","uuid":"u7","message":{"role":"user","content":"no message"}}
    {"type":"queue-operation","operation":"enqueue","sessionId":"c-1"}
    {"parentUuid":"u5","isSidechain":false,"sessionId":"c-1","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"path":"a.rs"}}]},"type":"assistant","uuid":"u8"}
    {"parentUuid":"u8","isSidechain":false,"sessionId":"c-1","type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"fn main() {}"}]},"uuid":"u9","toolUseResult":{"file":{"content":"fn main() {}"}}}
    {"parentUuid":"u9","isSidechain":false,"sessionId":"c-1","type":"user","message":{"role":"user","content":[{"tool_use_id":"t2","type":"tool_result","content":[{"type":"text","text":"one"},{"type":"image","source":{}}],"is_error":false},{"type":"text","text":"And?"}]},"uuid":"v1"}"#;

#[test]
fn claude_code_sessions_are_read() {
    check_read(
        ShapeName::ClaudeCode,
        CLAUDE,
        "c-1",
        r#"user #u1 "Why?"
           assistant #u3 [_]
           assistant #u4 ["Let me see."]
           user #u5 ["Explore."]
           assistant #u8 [_] t1:Read({"path":"a.rs"})
           tool #u9 ["fn main() {}"] ->t1
           tool #v1 ["one" _ "And?"] ->t2"#,
    );
}

#[test]
fn what_passes_through_is_seen_in_both_formats() {
    let log: String = CODEX.trim().lines().map(|line| line.trim().to_owned() + "\n").collect();
    let log = log.trim_end();
    let decoded = decode(log, ShapeName::Codex, "fallback").expect("a session");
    let condensed = Blunt::default().condense(&decoded.conversation, &mut Scratch::default());
    let row = decoded.row(&condensed, ProvenancePlace::Sidecar);
    let extra: serde_json::Value = serde_json::from_str(row.extra.as_deref().expect("events")).expect("an object");
    let kinds = |list: &serde_json::Value| -> Vec<String> {
        let kind = |event: &serde_json::Value| event["payload"]["type"].as_str().unwrap_or_default().to_owned();
        list.as_array().expect("a list").iter().map(kind).collect()
    };
    assert_eq!(kinds(&extra["events"]), ["", "user_message", "", "reasoning", "agent_message"]);
    let roles: Vec<_> = row.messages.iter().map(|message| message.role.as_deref().unwrap_or("-")).collect();
    assert!(roles.contains(&"tool") && roles.contains(&"assistant") && !roles.contains(&"-"), "{roles:?}");
    let call = row.messages.iter().find_map(|message| message.tool_calls.as_deref()).expect("a call");
    assert!(call.starts_with(r#"{"type":"function_call","name":"shell""#), "{call}");
    let extra = row.messages[0].extra.as_deref().expect("more keys");
    assert_eq!(extra, r#"{"timestamp":"t1","type":"response_item","payload.type":"message"}"#);
    let list = decoded.condensed_record(&condensed, ProvenancePlace::Sidecar);
    let kinds = kinds(&serde_json::from_str(&list).expect("a list"));
    let at = |kind: &str| kinds.iter().position(|found| found == kind);
    assert!(at("user_message") < at("reasoning") && at("reasoning") < at("function_call"), "{kinds:?}");
    assert_eq!(at("agent_message"), Some(kinds.len() - 1), "{kinds:?}");
}

/// Logs that nobody would write, each with the number of its conversations and rejects.
#[test]
fn strange_logs_come_back_byte_for_byte() {
    let said = |id: &str, text: &str| {
        format!(
            r#"{{"sessionId":"{id}","type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{text}"}}"#
        )
    };
    let long = "lorem ipsum dolor sit amet ".repeat(20);
    let (a, b) = (said("a", &long), said("b", "short"));
    let one = |log: String| (log.into_bytes(), 1, 0);
    let mut logs = vec![
        one(a.clone()),
        one(format!("{a}\n")),
        one(format!("\u{feff}{a}\r\n{a}\r\n")),
        one(format!("\u{feff}\n \n{a}\n\n\t\n{a}\n\n\n")),
        one(format!("  {a}  \n{a}\r\r\n")),
        one(format!("{a}\n{{\"broken\n{a}\n")),
        one(format!("{{\"broken\n{a}\nbroken too")),
        one(format!("{a}{a}\n{a} {a}\t{{\"half\n{a}\n")),
        one(format!("{a}\n[1,2]\n17\n\"text\"\nnull\n{a}\n\0\n")),
        one(format!("{{\"type\":\"summary\",\"leafUuid\":\"x\"}}\n{a}\n{{\"type\":\"summary\"}}\n")),
        one(a.replace("\"message\":{", "\"message\":7,\"message\" : { ").replace("\"role\"", "\"role\":1,\"role\"")),
        one(a.replace("\"type\"", "\"sessionId\":\"z\",\"type\"") + "\n"),
        one(a.replace("\"uuid\"", "\"metadata\":{\"k\":[1.0]},\"uuid\"") + "\n" + &a),
        one(a.replace("\"role\"", "\"r\\u006fle\"").replace("lorem", "l\\u006frem \\ud800 \\/ \\u00E9")),
        one(a.replace("\"message\":", "\"message\":{},\"x$M\":\"$E$L\",\"message\":")),
        one("{\"sessionId\":\"a\",\"type\":\"user\",\"message\":{}}\n{\"sessionId\":\"a\",\"type\":\"x\"}".to_owned()),
        (Vec::new(), 0, 0),
        (b"\n\n \r\n".to_vec(), 0, 0),
        (b"\xEF\xBB\xBF".to_vec(), 0, 0),
        // Another session begins; who names none belongs to the one that comes.
        (format!("{a}\n{b}\n").into_bytes(), 2, 0),
        (format!("{a}\n{{\"type\":\"summary\"}}\n{b}").into_bytes(), 2, 0),
        // Sessions that interleave.
        (format!("{a}\n{b}\n{a}\n{b}").into_bytes(), 2, 0),
        (format!("\n{b}\r\n\n{a}\n{b}\n{{\n{a}\n\n").into_bytes(), 2, 0),
    ];
    // Not UTF-8: a record of its own, its session goes on around it.
    logs.push(([a.as_bytes(), b"\n\xff{\n", b.as_bytes(), b"\n", a.as_bytes(), b"\n"].concat(), 2, 1));
    logs.push(([b"\xff\n\n", a.as_bytes(), b"\n\xfe\xff\r\n\xff"].concat(), 1, 3));
    for (log, n_conversations, n_rejects) in logs {
        check_runs(&log, ShapeName::ClaudeCode, n_conversations, n_rejects);
    }
    check_runs(b"no events\n[]\n", ShapeName::ClaudeCode, 0, 1);
    check_runs(b"{\"messages\":[]}\n", ShapeName::Codex, 1, 0);
    check_runs(b"a,b\nc,d\n", ShapeName::Pi, 0, 1);
}

#[test]
fn interleaved_sessions_are_one_conversation_each() {
    let line = |id: &str, n: usize| {
        format!(r#"{{"sessionId":"{id}","type":"user","message":{{"role":"user","content":"{id}{n}"}}}}"#) + "\n"
    };
    let order = [("x", 1), ("y", 1), ("x", 2), ("z", 1), ("y", 2), ("x", 3), ("w", 1), ("w", 2)];
    let log: String = order.iter().map(|&(id, n)| line(id, n)).collect();
    for format in FORMATS {
        let done = run(events(log.as_bytes(), ShapeName::ClaudeCode, limits(1 << 20)), blunt(), format);
        assert!(done.restored() == log.as_bytes());
        assert_eq!((done.commit.totals.conversations, done.commit.totals.messages_in), (4, 8));
        // One conversation alone is its lines, without those between.
        assert_eq!(String::from_utf8_lossy(&done.found("y")), line("y", 1) + &line("y", 2));
        assert_eq!(String::from_utf8_lossy(&done.found("w")), line("w", 1) + &line("w", 2));
    }
    let done = run(events(log.as_bytes(), ShapeName::ClaudeCode, limits(1 << 20)), blunt(), ConversationFormat::Jsonl);
    let ids: Vec<_> = done.records().iter().map(|list| list.matches("\"x\"").count()).collect();
    assert_eq!(ids, [3, 0, 0, 0], "the sessions stand in the order in which they began");
}

/// A log of `n` lines of any kind, with what a careless writer may leave in it.
fn invented(kind: ShapeName, n: usize, seed: u64) -> Vec<u8> {
    let mut seeded = Seeded::new(seed);
    let mut log = Vec::new();
    let ids = 1 + seeded.below(3);
    for at in 0..n {
        let id = seeded.below(ids);
        let role = seeded.pick(&["user", "assistant", "system", "toolResult"]);
        let words = ["lorem ipsum ", "größer ", "\\u00e9\\n", "\\\"x\\\" ", "$M$E "][seeded.below(5)]
            .repeat(1 + seeded.below(60));
        let content = [
            format!(r#""{words}""#),
            format!(r#"[{{"type":"text","text":"{words}"}},{{"type":"image"}}]"#),
            "null".to_owned(),
            format!(r#"[{{"type":"toolCall","id":"{at}","name":"f","arguments":{{}}}},"{words}"]"#),
        ];
        let content = &content[seeded.below(4)];
        let space = seeded.pick(&["", " ", "  "]);
        let line = match (kind, seeded.below(9)) {
            (_, 0) => seeded.pick(&["{\"broken", "", "[]", "\u{c}", "{\"type\":\"x\"}", "{}{}"]).to_owned(),
            (ShapeName::ClaudeCode, 1) => format!(r#"{{"type":"progress","sessionId":"s{id}","n":{at}}}"#),
            (ShapeName::ClaudeCode, _) => format!(
                r#"{{"type":"{role}",{space}"sessionId":"s{id}","message":{{"role":"{role}","content":{space}{content}}},"uuid":"u{at}"}}"#
            ),
            (ShapeName::Codex, 1) => format!(r#"{{"type":"event_msg","payload":{{"type":"x","n":{at}}}}}"#),
            (ShapeName::Codex, 2) => format!(
                r#"{{"type":"response_item","payload":{{"type":"function_call","call_id":"{at}","arguments":{content}}}}}"#
            ),
            (ShapeName::Codex, 3 | 4) => format!(
                r#"{{"type":"response_item","payload":{{"output":{content},{space}"type":"function_call_output","call_id":"{at}"}}}}"#
            ),
            (ShapeName::Codex, _) => format!(
                r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":{content}}}}}"#
            ),
            (ShapeName::CopilotCli, 1) => format!(r#"{{"type":"assistant.turn_end","data":{{"turnId":"{at}"}}}}"#),
            (ShapeName::CopilotCli, 2 | 3) => format!(
                r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"{at}","result":{{"content":{content},{space}"detailedContent":"{words}"}}}}}}"#
            ),
            (ShapeName::CopilotCli, 4) => format!(
                r#"{{"type":"assistant.message","data":{{"content":"","toolRequests":[{{"toolCallId":"{at}","name":"f","arguments":{content}}}]}}}}"#
            ),
            (ShapeName::CopilotCli, _) => {
                format!(r#"{{"type":"{role}.message","data":{{"content":{content}{space}}},"id":"e{at}"}}"#)
            }
            (_, 1) => format!(r#"{{"type":"model_change","n":{at}}}"#),
            _ => format!(r#"{{"type":"message","message":{{"role":"{role}","content":{content}{space}}}}}"#),
        };
        log.extend_from_slice(line.as_bytes());
        log.extend_from_slice(seeded.pick(&["\n", "\n", "\n", "\r\n", "\n\n", " \n", ""]).as_bytes());
        if seeded.below(40) == 0 {
            log.extend_from_slice(b"\xff\xfe\n");
        }
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn invented_logs_come_back_whatever_the_limits(
        kind in 0..KINDS.len(),
        n in 0..40_usize,
        seed in any::<u64>(),
        batch_bytes in prop::sample::select(vec![1_usize, 60, 1000, 1 << 20]),
        max_record_bytes in prop::sample::select(vec![50_usize, 700, 4000, 1 << 20]),
        format in prop::sample::select(FORMATS.to_vec()),
    ) {
        let log = invented(KINDS[kind], n, seed);
        let source = events(&log, KINDS[kind], BatchOptions { batch_bytes, max_record_bytes });
        let done = run(source, blunt(), format);
        prop_assert!(done.restored() == log, "{}", String::from_utf8_lossy(&log));
        prop_assert_eq!(done.commit.proof.raw_records, 0, "{}", String::from_utf8_lossy(&log));
    }

    #[test]
    fn grouping_depends_on_the_bytes_only(n in 0..40_usize, seed in any::<u64>(), batch_bytes in 1..3000_usize) {
        let log = invented(ShapeName::ClaudeCode, n, seed);
        let all = |stream: Box<dyn std::io::Read + Send>, batch_bytes: usize| {
            let mut source = EventSource::new("log", stream, ShapeName::ClaudeCode, limits(batch_bytes));
            let mut lines = Vec::new();
            while let Some(batch) = source.next_lines() {
                lines.extend(batch.lines.iter().map(|line| {
                    (line.row, line.number, batch.bytes[line.record.clone()].to_vec(), format!("{:?}", line.kind))
                }));
            }
            (lines, source.digest().expect("it ended"))
        };
        let whole = all(Box::new(Cursor::new(log.clone())), 1 << 20);
        let drip = all(Box::new(Drip(Cursor::new(log.clone()), Seeded::new(3))), batch_bytes);
        prop_assert_eq!(&whole, &drip);
        prop_assert_eq!(whole.1.stream_bytes, log.len() as u64);
    }
}

/// Gives some bytes, then fails.
struct Failing(Cursor<Vec<u8>>);

impl std::io::Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match std::io::Read::read(&mut self.0, buffer)? {
            0 => Err(std::io::Error::other("torn")),
            n => Ok(n),
        }
    }
}

#[test]
fn a_stream_that_breaks_gives_its_whole_lines_and_one_reject() {
    for (kind, log) in [(ShapeName::Codex, CODEX), (ShapeName::Pi, PI), (ShapeName::CopilotCli, COPILOT)] {
        for cut in [0, 5, 41] {
            let torn = log.as_bytes()[..log.len() - cut].to_vec();
            let stream = Box::new(Failing(Cursor::new(torn.clone())));
            let source = Box::new(EventSource::new("torn.gz", stream, kind, limits(1000)));
            let done = run(source, blunt(), ConversationFormat::Parquet);
            assert_eq!((done.commit.totals.conversations, done.commit.totals.rejects), (1, 1), "{cut}");
            assert!(done.restored() == torn);
        }
    }
}

#[test]
fn a_session_that_is_too_long_is_one_reject_and_the_others_stay() {
    let line = |id: &str, n: usize| {
        let text = "x".repeat(n);
        format!(r#"{{"sessionId":"{id}","type":"user","message":{{"role":"user","content":"{text}"}}}}"#) + "\n"
    };
    let mut log = line("a", 10);
    for n in 0..30 {
        write!(log, "{}", line("long", n * 10)).expect("a string takes all");
    }
    log += &line("b", 10);
    for batch_bytes in [10, 300, 1 << 20] {
        let options = BatchOptions { batch_bytes, max_record_bytes: 2000 };
        let done = run(events(log.as_bytes(), ShapeName::ClaudeCode, options), blunt(), ConversationFormat::Parquet);
        assert_eq!((done.commit.totals.conversations, done.commit.totals.rejects), (2, 1));
        assert!(done.restored() == log.as_bytes());
    }
}

#[test]
fn a_log_larger_than_what_is_held_is_cut_between_sessions() {
    // Sessions of 40 MB beside each other, then one that comes back too late.
    let words = "lorem ipsum ".repeat(87_000);
    let line = |id: usize| {
        format!(r#"{{"sessionId":"s{id}","type":"user","message":{{"role":"user","content":"{words}"}}}}"#) + "\n"
    };
    let mut source_bytes = String::new();
    for id in 0..3 {
        source_bytes.extend(std::iter::repeat_n(line(id), 39));
    }
    source_bytes += &line(0);
    let mut source = EventSource::new(
        "log",
        Box::new(Cursor::new(source_bytes.into_bytes())),
        ShapeName::ClaudeCode,
        limits(1 << 20),
    );
    let mut sizes = Vec::new();
    while let Some(batch) = source.next_lines() {
        sizes.extend(batch.lines.iter().map(|line| (line.row, line.span.len() / 1_044_000)));
    }
    assert_eq!(sizes, [(0, 39), (1, 39), (2, 39), (3, 1)]);
    // Too long while it is still being read, and a line without an end.
    let endless = ["{\"sessionId\":\"a\"}\n".to_owned(), "x".repeat(80 << 20)].concat();
    let options = BatchOptions { batch_bytes: 1 << 20, max_record_bytes: 1 << 20 };
    let stream = Box::new(Cursor::new(endless.clone().into_bytes()));
    let mut source = EventSource::new("log", stream, ShapeName::ClaudeCode, options);
    let (mut rows, mut n_bytes) = (Vec::new(), 0);
    while let Some(batch) = source.next_lines() {
        n_bytes += batch.bytes.len();
        rows.extend(batch.lines.iter().map(|line| line.row));
    }
    assert_eq!((rows.len(), rows.iter().max(), n_bytes), (81, Some(&0), endless.len()));
}

#[test]
fn other_lines_are_no_event_logs() {
    let check = |head: &str, kind: Option<ShapeName>| assert_eq!(sniff_events(head.as_bytes(), None), kind, "{head}");
    check("", None);
    check(r#"{"messages":[{"role":"user","content":"a"}],"type":"x","sessionId":"s"}"#, None);
    check(r#"{"sessionId":"s","projectHash":"h","messages":[]}"#, None);
    check(r#"{"conversations":[{"from":"human","value":"a"}]}"#, None);
    check(r#"[{"timestamp":"t","type":"session_meta","payload":{}}]"#, None);
    check("a,b,c\n1,2,3\n", None);
    check(r#"{"type":"message","text":"a"}"#, None);
    check(r#"{"type":"user.message","text":"a"}"#, None);
    check(r#"{"type":"user.created","data":{"id":1},"id":"e"}"#, None);
    check(r#"{"type":"session.start","data":{"sessionId":"a","cont"#, Some(ShapeName::CopilotCli));
    check("\u{feff}\n  {\"type\":\"session_meta\",\"payload\":{}}", Some(ShapeName::Codex));
    // Broken or unknown lines before the first that tells.
    check("junk\n{\"type\":\"zzz\"}\n{\"type\":\"session\",\"id\":\"a\",\"cwd\":\"/\"", Some(ShapeName::Pi));
    // Cut off anywhere behind the keys that tell.
    check(r#"{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"us"#, Some(ShapeName::ClaudeCode));
    check(r#"{"timestamp":"t","type":"session_meta","payload":{"id":"a","instr"#, Some(ShapeName::Codex));
}

#[test]
fn the_program_finds_and_restores_logs_among_other_files() {
    let dir = TestDir::new();
    let plain = |log: &str| log.trim().lines().map(|line| line.trim().to_owned() + "\n").collect::<String>();
    let logs = [("logs/a.jsonl", CLAUDE), ("logs/b.jsonl", CODEX), ("logs/c.jsonl", PI)];
    for (name, log) in logs {
        dir.write(name, plain(log));
    }
    dir.write("logs/d.jsonl.zst", zstd::encode_all(plain(CODEX).as_bytes(), 1).expect("memory takes all"));
    let chat = "{\"id\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello.\"}]}\n";
    dir.write("logs/e.jsonl", chat);
    condenser(dir.root(), &["compress", "logs", "-o", "run", "--format", "jsonl", "--recency-window", "0"]).ok();
    let told = condenser(dir.root(), &["verify", "run", "--against", "logs"]).ok();
    assert!(told.stderr.contains("1 part, 5 records"), "{}", told.stderr);
    condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
    for (name, log) in logs.into_iter().chain([("logs/d.jsonl", CODEX)]) {
        let back = dir.read(&name.replace("logs", "back"));
        assert_eq!(String::from_utf8_lossy(&back), plain(log), "{name}");
    }
    let told = condenser(dir.root(), &["restore", "run", "--conversation", "c-1"]).ok();
    assert_eq!(String::from_utf8_lossy(&told.stdout), plain(CLAUDE));
    // What came out is read again, and both rounds come back.
    condenser(dir.root(), &["compress", "run/conversations", "-o", "twice", "--format", "jsonl"]).ok();
    condenser(dir.root(), &["restore", "twice", "--through", "run", "-o", "again"]).ok();
    assert_eq!(String::from_utf8_lossy(&dir.read("again/b.jsonl")), plain(CODEX));
    // A map of messages does not say where other events stood.
    let map = VerbatimMap::read("{}").expect("an empty map");
    let refused = uncompress_record(plain(PI).trim_end(), ShapeName::Pi, &map, true).expect_err("a log");
    assert!(refused.detail.contains("sidecar"), "{}", refused.detail);
}

/// The event files among the native ones.
fn real() -> Vec<(String, ShapeName, Vec<u8>)> {
    let kinds = [("/claude/", ShapeName::ClaudeCode), ("/codex/", ShapeName::Codex), ("/pi/", ShapeName::Pi)];
    let all = native::files().into_iter().filter_map(|(name, bytes)| {
        let (_, kind) = kinds.into_iter().find(|(folder, _)| name.contains(folder))?;
        Some((name, kind, bytes))
    });
    all.collect()
}

#[test]
fn every_real_log_of_the_corpora_is_one_conversation_that_comes_back_byte_for_byte() {
    let engine: Arc<dyn Condense> = Arc::new(Engine::new(EngineOptions::default()).expect("options"));
    let mut n_smaller = 0;
    let logs = real();
    for (name, kind, bytes) in &logs {
        assert_eq!(sniff_events(&bytes[..bytes.len().min(1 << 16)], None), Some(*kind), "{name}");
        for format in FORMATS {
            let done = run(events(bytes, *kind, limits(1 << 20)), engine.clone(), format);
            assert!(done.restored() == *bytes, "{name} {format:?}");
            let Commit { totals, proof, .. } = &done.commit;
            assert_eq!((totals.conversations, totals.rejects), (1, 0), "{name}");
            assert_eq!(proof.raw_records, 0, "{name} {format:?}");
            println!("{name} {format:?}: {} to {} characters, {proof:?}", totals.chars_in, totals.chars_out);
            n_smaller += usize::from(totals.chars_out < totals.chars_in);
            if format == ConversationFormat::Jsonl {
                let record = &done.records()[0];
                let twice = record.clone() + "\n";
                let lines =
                    LineSource::new("again", Box::new(Cursor::new(twice.clone().into_bytes())), limits(1 << 20));
                let again = run(Box::new(lines), engine.clone(), format);
                assert!(again.restored() == twice.as_bytes(), "{name}");
                assert_eq!((again.commit.totals.rejects, again.commit.proof.raw_records), (0, 0), "{name}");
            }
        }
    }
    assert!(n_smaller * 10 >= logs.len() * 12, "{n_smaller} of {} became smaller", logs.len() * 2);
}
