//! Conversations that stand inside of their records, those whose speakers have no names, and those of no known shape that a
//! map reads: what is read, that every byte comes back, and what is said where nothing is found.

use condenser::engine::{Engine, Scratch};
use condenser::model::{FieldMap, ProvenancePlace, ReadAs, RejectReason, ShapeName};
use condenser::pipeline::Condense;
use condenser::shape::{advice, decode, detect, restore_record, restore_row};

use crate::support::chats::Blunt;
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::talk::{all, describe, prose};

/// Long enough to be summarised.
fn long() -> String {
    prose(900)
}

/// `record` is read as `expected`, one line per message, and comes back from rows and records, twice.
#[track_caller]
fn check(read_as: ReadAs<'_>, record: &str, id: &str, expected: &str) {
    let record = record.replace("LONG", &long());
    let decoded = decode(&record, read_as, "fallback").map_err(|reject| reject.detail).expect(&record);
    let lines: Vec<_> =
        decoded.conversation.messages.iter().map(|message| describe(message).replace(&long(), "LONG")).collect();
    let expected: Vec<_> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, expected, "{record}");
    assert_eq!(decoded.conversation.id, id, "{record}");
    let engines: [&dyn Condense; 2] = [&Blunt::default(), &Engine::new(all()).expect("options")];
    for engine in engines {
        let mut text = record.clone();
        for _ in 0..3 {
            let decoded = decode(&text, read_as, "fallback").map_err(|reject| reject.detail).expect(&text);
            let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
            let originals = decoded.originals(&condensed);
            let mut next = String::new();
            for place in [ProvenancePlace::Sidecar, ProvenancePlace::Metadata] {
                let row = decoded.row(&condensed, place);
                let layout = decoded.row_layout(&condensed);
                let back = restore_row(&decoded.conversation.id, &row, &layout, &originals);
                assert_eq!(back.as_deref(), Ok(&*text), "{row:?}\n{layout}");
                let (written, layout) = decoded.condensed_record_and_layout(&condensed, place);
                let back = restore_record(&written, layout.as_deref(), &originals);
                assert_eq!(back.as_deref(), Ok(&*text), "{written}\n{layout:?}");
                assert_eq!(detect(&written), detect(&text), "{written}");
                next = written;
            }
            text = next;
        }
    }
}

#[track_caller]
fn check_found(shape: ShapeName, record: &str, id: &str, expected: &str) {
    assert_eq!(detect(&record.replace("LONG", &long())), Some(shape), "{record}");
    check(shape.into(), record, id, expected);
}

#[test]
fn a_conversation_inside_of_a_record_is_found() {
    let talk = r#"[{"role": "user", "content": "LONG"}, {"role": "assistant", "content": "LONG"}, {"role": "user", "content": "Thanks."}]"#;
    let read = r#"user "LONG"
                  assistant "LONG"
                  user "Thanks.""#;
    for (record, id) in [
        (r#"{"id": "s-1", "state": {"turns": TALK}}"#, "s-1"),
        (r#"{"trace": {"id": "t-1", "messages": TALK , "n": 1.0}, "at": [1, 2]}"#, "t-1"),
        (r#"{ "a":{"x":null,"b":{ "c" : {"y":[],"messages":TALK}, "z":"$M" } },"id":7 }"#, "7"),
        (r#"{"inputs": {"messages": TALK}, "outputs": {"score": 1, "tags": ["a", "b"]}}"#, "fallback"),
        (r#"{"chat": TALK, "other": [{"role": "Engineer", "team": "a"}]}"#, "fallback"),
        (r#"{"st\u0061te": {"é.x": TALK, "é.x2": {"q": "\""}}}"#, "fallback"),
        (r#"{"a": {"x": 1}, "b": {"messages": TALK}, "a": {"x": 2}}"#, "fallback"),
        (r#"{"old": {"messages": []}, "new": {"messages": TALK}}"#, "fallback"),
    ] {
        check_found(ShapeName::Openai, &record.replace("TALK", talk), id, read);
    }
    check_found(
        ShapeName::Sharegpt,
        r#"{"data": {"talk": [{"from": "human", "value": "LONG"}, {"from": "gpt", "value": "Yes."}]}}"#,
        "fallback",
        "user \"LONG\"\nassistant \"Yes.\"",
    );
    check_found(
        ShapeName::Anthropic,
        r#"{"request": {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "LONG"}]}]}}"#,
        "fallback",
        "tool [\"LONG\"] ->t",
    );
    check_found(
        ShapeName::Dialogue,
        r#"{"meeting": {"parts": [{"speaker": "Ada", "text": "LONG"}, {"speaker": "Bo", "text": "Yes."}]}}"#,
        "fallback",
        "other:Ada \"LONG\"\nother:Bo \"Yes.\"",
    );
    check_found(
        ShapeName::Langchain,
        r#"{"inputs": {"messages": [{"type": "human", "content": "LONG", "additional_kwargs": {}}]}, "outputs": {"n": 1}}"#,
        "fallback",
        "user \"LONG\"",
    );
    check_found(ShapeName::Openai, r#"{"a": {"messages": []}}"#, "fallback", "");
}

#[test]
fn what_is_no_conversation_or_more_than_one_is_not_taken_for_one() {
    let talk = r#"[{"role": "user", "content": "Hello."}]"#;
    for record in [
        r#"{"a": {"messages": TALK}, "b": {"messages": TALK}}"#,
        r#"{"a": {"messages": TALK}, "a": {"messages": TALK}}"#,
        r#"{"a": {"b": {"c": {"d": {"messages": TALK}}}}}"#,
        r#"{"a": [{"messages": TALK}]}"#,
        r#"{"people": [{"role": "Engineer", "content": "Plans."}]}"#,
        r#"{"a": {"messages": [{"role": "Engineer", "content": "Plans."}]}}"#,
        r#"{"a": {"blocks": [{"type": "text", "content": "Plans."}]}}"#,
        r#"{"prompt": {"text": "x", "role": "user", "replies": [{"text": "y", "role": "assistant", "replies": []}]}}"#,
    ] {
        assert_eq!(detect(&record.replace("TALK", talk)), None, "{record}");
    }
}

#[test]
fn speakers_without_names_take_turns() {
    let check = |record: &str, expected: &str| check_found(ShapeName::Dialogue, record, "fallback", expected);
    check(
        r#"{"dialog": ["LONG", "How are you , then ?", " LONG ", "$M \u00e9 \\ x y z", "Well, thank you."], "act": [2, 1, 1]}"#,
        r#"user "LONG"
           assistant "How are you , then ?"
           user " LONG "
           assistant "$M é \\ x y z"
           user "Well, thank you.""#,
    );
    check(
        r#"{"data": {"utterances": [{"text": "LONG", "n": 1}, {"text": "LONG", "n": 2}, {"text": "So it is.", "n": 3}]}}"#,
        "user \"LONG\"\nassistant \"LONG\"\nuser \"So it is.\"",
    );
    check(
        r#"{"conversation": ["LONG", "你好吗？", "LONG", "Hi", "That is all there is."]}"#,
        "user \"LONG\"\nassistant \"你好吗？\"\nuser \"LONG\"\nassistant \"Hi\"\nuser \"That is all there is.\"",
    );
    let of_nobody = map("messages=talk");
    let record = r#"{"talk": ["LONG", "Yes", {"text": "LONG"}]}"#;
    self::check(ReadAs::Map(&of_nobody), record, "fallback", "user \"LONG\"\nassistant \"Yes\"\nuser \"LONG\"");
    for record in [
        r#"{"tags": ["One is here.", "Two are here.", "Three are here."]}"#,
        r#"{"dialog": ["greeting", "weather", "farewell"]}"#,
        r#"{"dialog": ["Where is it?"]}"#,
        r#"{"dialog": ["Where is it?", "It is here.", 3]}"#,
        r#"{"dialog": ["Where is it?", "It is here.", {"text": "So it is."}]}"#,
        r#"{"utterances": [{"text": "a.wav"}, {"text": "b.wav"}]}"#,
        r#"["Where is it?", "It is here."]"#,
    ] {
        assert_eq!(detect(record), None, "{record}");
    }
}

fn map(text: &str) -> FieldMap {
    text.parse().expect(text)
}

#[test]
fn a_map_reads_what_no_shape_knows() {
    let check =
        |text: &str, record: &str, id: &str, expected: &str| check(ReadAs::Map(&map(text)), record, id, expected);
    check(
        "messages=state.turns,role=speaker,content=text",
        r#"{"id": 3, "state": {"n": 1, "turns": [{"speaker": "user", "text": "LONG", "content": 1}, {"text": "LONG", "speaker": "assistant"}]}}"#,
        "3",
        "user \"LONG\"\nassistant \"LONG\"",
    );
    check(
        "messages=log,role=by.kind,content=body.text,id=key,user=customer,assistant=desk",
        r#"{"log": [{"by": {"kind": "customer", "n": 1}, "body": {"lang": "en", "text": "LONG"}, "key": 7},
            {"by": {"kind": "desk"}, "body": {}, "key": 8}, {"by": null, "body": {"text": "LONG"}}, {}]}"#,
        "fallback",
        "user #7 \"LONG\"\nassistant #8 absent\nmissing \"LONG\"\nmissing absent",
    );
    check(
        "messages=.,role=who,content=says,name=nick,tool_calls=does,tool_call_id=of",
        r#"[{"who": "assistant", "nick": "Bo", "does": [{"id": "c", "name": "ls", "arguments": {"a": 1}}]}, {"who": "tool", "of": "c", "says": "LONG"}]"#,
        "fallback",
        "assistant (Bo) absent c:ls({\"a\": 1})\ntool \"LONG\" ->c",
    );
    // Where nothing is said about the list, it is where it usually is.
    check("content=body", r#"{"messages": [{"role": "user", "body": "LONG"}]}"#, "fallback", "user \"LONG\"");
    // A key that comes twice.
    check(
        "messages=a.b,content=t",
        r#"{"a": {"x": 0, "b": [{"t": "one"}]}, "a": {"b": [{"role": "user", "t": "LONG", "t": "LONG"}], "b": 3}}"#,
        "fallback",
        "user \"LONG\"",
    );
}

#[test]
fn a_path_that_leads_nowhere_names_the_keys_that_are_there() {
    let check = |text: &str, record: &str, reason: RejectReason, detail: &str| {
        let map = map(text);
        let reject = decode(record, ReadAs::Map(&map), "fallback").expect_err(record);
        assert_eq!(reject.reason, reason, "{record}: {}", reject.detail);
        assert_eq!(reject.detail, detail, "{record}");
    };
    let record = r#"{"id": 1, "state": {"n": 1, "turns.x": [{"who": "a", "says": "Hello."}]}}"#;
    check(
        "messages=state.turns",
        record,
        RejectReason::NoMessages,
        "the record has no list `state.turns`: `state` has the keys `n`, `turns\\.x`",
    );
    check(
        "messages=status.turns",
        record,
        RejectReason::NoMessages,
        "the record has no list `status.turns`: the record has the keys `id`, `state`",
    );
    check(
        "messages=state",
        record,
        RejectReason::NoMessages,
        r"`state` is an object and no list; the list of objects `state.turns\.x` looks like messages: read it with --map 'messages=state.turns\.x,role=who,content=says'",
    );
    check("messages=a", "[]", RejectReason::UnknownShape, "the record is a list, not an object");
    check(
        "messages=a",
        r#"{"a": [1]}"#,
        RejectReason::MessageNotObject,
        "message 1 (byte 8) is a number, not an object; correct or remove it",
    );
}

#[test]
fn what_is_not_read_says_what_would_read_it() {
    let check = |record: &str, said: &str| assert_eq!(advice(record), said, "{record}");
    check(
        r#"{"id": 1, "log": {"entries": [{"who": "customer", "at": "t1", "body": "My parcel is late."}, {"who": "desk", "at": "t2", "body": "We look into it."}]}, "tags": [{"name": "a"}]}"#,
        "the list of objects `log.entries` looks like messages: read it with --map \
         messages=log.entries,role=who,content=body,user=customer,assistant=desk",
    );
    check(
        r#"{"a": [{"author": {"role": "user"}, "content": {"text": "Hello there."}}]}"#,
        "the list of objects `a` looks like messages: read it with --map messages=a,role=author.role,content=content.text",
    );
    check(
        r#"{"a": {"messages": [{"role": "user", "content": "x"}]}, "b": {"messages": [{"role": "user", "content": "x"}]}}"#,
        "`a.messages` and `b.messages` read as messages: name one of them, as in --map messages=a.messages",
    );
    check(
        r#"[{"who": "user", "says": "Hello."}]"#,
        "the list of objects `.` looks like messages: read it with --map messages=.,role=who,content=says",
    );
    let none = "no list of objects with texts is in it that could be its messages";
    check(r#"{"a": 1, "b": ["x"], "c": [{"n": 1}]}"#, none);
    check("17", none);
    check(r#"{"a": [{"x": "y"}"#, none);
}

#[test]
fn a_run_with_a_map_is_read_back_without_it() {
    let dir = TestDir::new();
    let record = |n: usize| {
        let turns = ["customer", "desk", "customer", "desk", "customer", "desk"].iter().enumerate();
        let turns = turns.map(|(at, who)| format!(r#"{{"who":"{who}","says":"{n} {at} {}"}}"#, long()));
        format!(r#"{{"id":"c{n}","log":{{"x":1,"entries":[{}]}}}}"#, turns.collect::<Vec<_>>().join(","))
    };
    let records: Vec<String> = (0..5).map(record).collect();
    dir.write("in.jsonl", records.join("\n") + "\n");
    let pretty = |record: &String| {
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(record).expect("JSON"))
    };
    let document = records.iter().map(|record| pretty(record).expect("JSON")).collect::<Vec<_>>().join(",\n");
    dir.write("doc.json", format!("[{document}]"));
    dir.write("one.json", format!("[{}]", records.join(",")));
    let map = "messages=log.entries,role=who,content=says,user=customer,assistant=desk";
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "none"]).exits(3);
    assert!(told.stderr.contains(&format!("--map {map}")), "{}", told.stderr);
    for input in ["in.jsonl", "doc.json", "one.json"] {
        for format in ["parquet", "jsonl", "arrow"] {
            let run = format!("{input}-{format}");
            condenser(dir.root(), &["compress", input, "-o", &run, "--format", format, "--map", map]).ok();
            condenser(dir.root(), &["verify", &run]).ok();
            condenser(dir.root(), &["restore", &run, "-o", &format!("{run}-back")]).ok();
            assert_eq!(dir.read(&format!("{run}-back/{input}")), dir.read(input), "{run}");
            let told = condenser(dir.root(), &["get", &run, "c3"]).ok();
            assert!(input != "in.jsonl" || String::from_utf8_lossy(&told.stdout) == records[3].clone() + "\n", "{run}");
            let told = condenser(dir.root(), &["show", &run, "c3"]).ok();
            let shown = String::from_utf8_lossy(&told.stdout).into_owned();
            assert!(shown.contains("user") && !shown.contains("customer"), "{shown}");
        }
    }
    let other = "messages=log.entries,role=who,content=says";
    let told =
        condenser(dir.root(), &["compress", "in.jsonl", "-o", "in.jsonl-jsonl", "--format", "jsonl", "--map", other])
            .ends();
    assert!(told.code != Some(0) && told.stderr.contains("option map"), "{}", told.stderr);
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "no", "--map", "messages=log.entry"]).exits(3);
    assert!(told.stderr.contains("`log` has the keys `x`, `entries`"), "{}", told.stderr);
    for (map, why) in [("messages", "no NAME=PATH"), ("massages=a", "unknown name `massages`")] {
        let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "no", "--map", map]).exits(2);
        assert!(told.stderr.contains(why), "{}", told.stderr);
    }
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "no", "--map", other, "--shape", "openai"]).exits(2);
    dir.write("job.toml", format!("inputs = [\"in.jsonl\"]\noutput = \"job-run\"\nmap = \"{map}\"\n"));
    condenser(dir.root(), &["run", "job.toml"]).ok();
    condenser(dir.root(), &["restore", "job-run", "-o", "job-back"]).ok();
    assert_eq!(dir.read("job-back/in.jsonl"), dir.read("in.jsonl"));
}
