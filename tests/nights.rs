//! A store of nights: logs that grow, wherever they grow, that are written anew and cut; conversations that go on from night to night.

use std::io::Write;

use serde_json::{Value, json};

use crate::support::chats::{Seeded, jsonl};
use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::nights::logs_of;

const JOB: &str = "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ncompaction.rested_after = 0\n";

pub(crate) fn night(dir: &TestDir) -> Told {
    condenser(dir.root(), &["run", "job.toml"]).ok()
}

/// The messages of a session with tools, of which most results are used by nobody.
pub(crate) fn session(n_turns: usize, seed: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": format!("Mend the gate of lock {seed}.")})];
    for turn in 0..n_turns {
        let id = format!("call_{seed}_{turn}");
        let arguments = json!({"command": format!("cat gates/gate_{turn}.rs")}).to_string();
        let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        let lines =
            (0..40).map(|line| format!("    let valve_{turn}_{line} = open({}, \"lock {seed}\");\n", line * turn));
        let used = format!("valve_{}_7", turn.saturating_sub(2));
        messages.push(json!({"role": "assistant", "content": format!("I look at {used}."), "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": lines.collect::<String>()}));
    }
    messages
}

pub(crate) fn record(id: &str, messages: &[Value]) -> String {
    json!({"id": id, "messages": messages}).to_string() + "\n"
}

/// The same as events of a session, one a line.
fn events(id: &str, messages: &[Value]) -> String {
    let event = |(at, message): (usize, &Value)| {
        let content = match (&message["tool_calls"][0], &message["tool_call_id"]) {
            (Value::Object(call), _) => {
                let input: Value =
                    serde_json::from_str(call["function"]["arguments"].as_str().expect("text")).expect("JSON");
                json!([{"type": "text", "text": message["content"]},
                    {"type": "tool_use", "id": call["id"], "name": "Bash", "input": input}])
            }
            (_, Value::String(id)) => {
                json!([{"type": "tool_result", "tool_use_id": id, "content": message["content"]}])
            }
            _ => message["content"].clone(),
        };
        let role = if message["role"] == "assistant" { "assistant" } else { "user" };
        let time = format!("2031-05-06T07:{:02}:{:02}.000Z", at / 60, at % 60);
        json!({"type": role, "sessionId": id, "uuid": format!("{id}-{at}"), "timestamp": time,
            "message": {"role": role, "content": content}})
        .to_string()
            + "\n"
    };
    messages.iter().enumerate().map(event).collect()
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text).expect("memory takes all");
    gz.finish().expect("memory takes all")
}

pub(crate) fn size_of(dir: &TestDir, name: &str) -> usize {
    files(&dir.path(name)).values().map(Vec::len).sum()
}

/// Every state that logs had after a night comes back, and the store is as it was written.
pub(crate) fn check_states(dir: &TestDir, states: &[std::collections::BTreeMap<String, Vec<u8>>]) {
    condenser(dir.root(), &["verify", "store"]).ok();
    for (at, state) in states.iter().enumerate() {
        let (night, back) = (format!("{:05}", at + 1), format!("back-{at}"));
        condenser(dir.root(), &["restore", "store", "--night", &night, "-o", &back]).ok();
        let unpacked = |(name, bytes): (&String, &Vec<u8>)| match name.strip_suffix(".gz") {
            Some(name) => {
                let mut text = Vec::new();
                std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&**bytes), &mut text).expect("gzip");
                (name.to_owned(), text)
            }
            None => (name.clone(), bytes.clone()),
        };
        assert!(files(&dir.path(&back)) == state.iter().map(unpacked).collect(), "night {night}");
    }
}

#[test]
fn a_night_adds_what_is_new_wherever_that_begins_and_every_state_comes_back() {
    for form in ["parquet", "jsonl", "arrow"] {
        let dir = TestDir::new();
        dir.write("job.toml", format!("{JOB}format = \"{form}\"\nsplit_size = \"64KiB\"\n"));
        let sessions: Vec<Vec<Value>> = (0..40).map(|seed| session(if seed < 4 { 40 } else { 2 }, seed)).collect();
        let (mut seeded, mut states, mut sizes) = (Seeded::new(7), Vec::new(), Vec::new());
        for round in 1..=5 {
            // The last bytes of a line may come a night later.
            let share =
                |seeded: &mut Seeded, text: &str| text.len() * (round + 5) / 10 - seeded.below(200) * (5 - round) / 5;
            let lines: String =
                sessions.iter().enumerate().skip(4).map(|(at, it)| record(&format!("s{at}"), it)).collect();
            let chats = jsonl(60, 31);
            dir.write("logs/chats.jsonl", &chats.as_bytes()[..share(&mut seeded, &chats)]);
            dir.write("logs/packed.jsonl.gz", packed(&chats.as_bytes()[..share(&mut seeded, &chats)]));
            dir.write("logs/lines.jsonl", &lines.as_bytes()[..share(&mut seeded, &lines)]);
            let log = events("e0", &sessions[0]) + &events("e1", &sessions[1]);
            dir.write("logs/events.jsonl", &log.as_bytes()[..share(&mut seeded, &log)]);
            // A conversation that is written anew with each turn.
            let n_messages = sessions[2].len() * (round + 5) / 10;
            dir.write("logs/growing.jsonl", record("g", &sessions[2][..n_messages]) + &record("h", &sessions[3][..9]));
            condenser(dir.root(), &["run", "job.toml", "-q"]).ends();
            states.push(files(&dir.path("logs")));
            sizes.push(size_of(&dir, "store"));
        }
        check_states(&dir, &states);
        // Little of a night is text here, but what each of its parts takes.
        for pair in sizes.windows(2) {
            assert!(pair[1] - pair[0] < sizes[0] * 3 / 4, "{form}: {sizes:?}");
        }
        let told = condenser(dir.root(), &["expire", "store", "--older-than", "0d"]).ok();
        assert_eq!(String::from_utf8_lossy(&told.stdout).lines().count(), 5, "{}", told.stderr);
    }
}

#[test]
fn a_session_that_goes_on_for_five_nights_is_shown_as_one_that_was_compacted_at_once() {
    for form in ["parquet", "jsonl", "arrow"] {
        let dir = TestDir::new();
        dir.write("job.toml", format!("{JOB}format = \"{form}\"\n"));
        let messages = session(50, 3);
        for round in 1..=5 {
            let so_far = &messages[..messages.len() * round / 5];
            dir.write("logs/lines.jsonl", record("other", &session(3, 9)) + &record("line", so_far));
            dir.write("logs/events.jsonl", events("event", so_far));
            night(&dir);
        }
        condenser(dir.root(), &["compress", "logs", "-o", "run", "--format", form, "--compression", "zstd"]).ok();
        for id in ["other", "line", "event"] {
            for args in [&["get", "STORE", id, "--compressed"][..], &["get", "STORE", id], &["show", "STORE", id]] {
                let of = |store: &str| {
                    let args: Vec<&str> = args.iter().map(|&arg| if arg == "STORE" { store } else { arg }).collect();
                    String::from_utf8(condenser(dir.root(), &args).ok().stdout).expect("text")
                };
                assert_eq!(of("store"), of("run"), "{form}: {args:?}");
            }
        }
        let shown = String::from_utf8(condenser(dir.root(), &["get", "store", "line", "--compressed"]).ok().stdout);
        let shown = shown.expect("text");
        assert!(shown.contains("⋯ ") && shown.contains(" #5"), "{shown}");
        for id in ["line", "event"] {
            let hidden = |of: &str| condenser(dir.root(), &["get", of, id, "--mark", "5"]).ok().stdout;
            let text = hidden("store");
            assert!(text == hidden("run") && !text.is_empty());
        }
        // Nothing of what earlier nights have is stored again.
        let last = logs_of(&dir, "store");
        assert_eq!(last.len(), 10);
        let size =
            |run: &str| size_of(&dir, &format!("{run}/verbatim")) + size_of(&dir, &format!("{run}/conversations"));
        assert!(size("store/runs/00005") * 10 < size("run") * 9, "{} {}", size("store/runs/00005"), size("run"));
    }
}

#[test]
fn a_log_that_was_written_anew_or_cut_is_noticed_and_kept_in_both_states() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB.to_owned() + "split_size = 4000\n");
    let (chats, session) = (jsonl(40, 77), session(20, 5));
    dir.write("logs/anew.jsonl", &chats);
    dir.write("logs/cut.jsonl", &chats);
    dir.write("logs/events.jsonl", events("e", &session));
    night(&dir);
    let mut states = vec![files(&dir.path("logs"))];
    // Other bytes in the middle of one, half of the others.
    let middle = chats.len() / 2;
    let mut anew = chats.clone().into_bytes();
    let word = anew.iter().skip(middle).position(|&byte| byte == b't').expect("a letter") + middle;
    anew[word] = b'q';
    dir.write("logs/anew.jsonl", &anew);
    dir.write("logs/cut.jsonl", &chats.as_bytes()[..middle]);
    dir.write("logs/events.jsonl", events("e", &session[..20]));
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(3).stderr;
    assert!(told.contains("0 new, 0 grown, 3 changed, 0 unchanged"), "{told}");
    states.push(files(&dir.path("logs")));
    // And back again.
    for (name, bytes) in &states[0] {
        dir.write(&format!("logs/{name}"), bytes);
    }
    night(&dir);
    states.push(states[0].clone());
    check_states(&dir, &states);
    let sizes = [1, 2, 3].map(|run| size_of(&dir, &format!("store/runs/{run:05}")));
    assert!(sizes[1] < sizes[0] && sizes[2] < sizes[0], "{sizes:?}");
    // Quiet nights, whatever was touched.
    dir.write("logs/anew.jsonl", &chats);
    assert!(night(&dir).stderr.contains("0 new, 0 grown, 0 changed, 3 unchanged"));
    let shown = condenser(dir.root(), &["get", "store", "e"]).ok().stdout;
    assert_eq!(String::from_utf8(shown).expect("text"), events("e", &session));
}

/// The metadata of a conversation as the store has it now.
fn age_of(dir: &TestDir, run: &str, id: &str) -> Option<String> {
    let folder = dir.path(&format!("store/runs/{run}/metrics"));
    let mut found = None;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("lines");
        for line in text.lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            if row["conversation_id"] == id {
                found = row["age"].as_str().map(str::to_owned);
            }
        }
    }
    found
}

#[test]
fn what_may_go_on_is_compacted_without_look_ahead_and_with_it_when_it_rests() {
    let dir = TestDir::new();
    let job =
        "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\nformat = \"jsonl\"\ncompression = \"none\"\n";
    dir.write("job.toml", job);
    let messages = session(40, 3);
    let dated = |id: &str, so_far: &[Value], day: usize| {
        json!({"id": id, "updated_at": format!("2031-05-{day:02}T12:00:00Z"), "messages": so_far}).to_string() + "\n"
    };
    let night = |day: usize, more: &[&str]| {
        let as_of = format!("compaction.as_of=\"2031-05-{day:02}T13:00:00Z\"");
        let args = [&["run", "job.toml", "--set", &as_of], more].concat();
        condenser(dir.root(), &args).ok().stderr
    };
    let compressed = |of: &str, id: &str| {
        String::from_utf8(condenser(dir.root(), &["get", of, id, "--compressed"]).ok().stdout).expect("text")
    };
    let once = |run: &str, log: &str, flags: &[&str]| {
        condenser(dir.root(), &[&["compress", log, "-o", run, "--format", "jsonl"], flags].concat()).ok();
    };
    // Two of one log, by lines: one rests, one goes on; and a session that grows.
    dir.write("logs/lines.jsonl", dated("old", &messages, 1) + &dated("new", &messages, 9));
    dir.write("logs/events.jsonl", events("event", &messages[..40]));
    night(9, &["--set", "compaction.keep_open=\"2h\""]);
    once("with", "logs/lines.jsonl", &[]);
    once("without", "logs/lines.jsonl", &["--look-ahead", "off"]);
    assert_eq!(compressed("store", "old"), compressed("with", "old"));
    assert_eq!(age_of(&dir, "00001", "old").as_deref(), Some("rested"));
    // Somebody is at work on this one.
    assert_eq!(age_of(&dir, "00001", "new").as_deref(), Some("young"));
    assert_eq!(compressed("store", "new"), dated("new", &messages, 9));
    // A day later it may go on, and nothing of the log was read again.
    dir.write("logs/events.jsonl", events("event", &messages));
    let told = night(10, &["--set", "compaction.keep_open=\"2h\""]);
    assert!(told.contains("1 older conversation looked at again"), "{told}");
    assert_eq!(age_of(&dir, "00002", "new").as_deref(), Some("open"));
    assert_eq!(compressed("store", "new"), compressed("without", "new"));
    assert_ne!(compressed("with", "new"), compressed("without", "new"));
    assert_eq!(age_of(&dir, "00002", "event").as_deref(), Some("rested"));
    // A night in which nothing is due makes no run, and then it is at rest; what is stored is no text.
    assert!(!night(10, &[]).contains("looked at again") && !dir.path("store/runs/00003").exists());
    std::fs::remove_file(dir.path("logs/lines.jsonl")).expect("it was there");
    let told = night(13, &[]);
    assert!(told.contains("1 older conversation looked at again"), "{told}");
    assert_eq!(compressed("store", "new"), compressed("with", "new"));
    let verbatim = String::from_utf8(dir.read("store/runs/00003/verbatim/part-00000.jsonl")).expect("text");
    let again: Value = serde_json::from_str(verbatim.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&again["kind"], &again["message"]), (&json!("again"), &json!("")));
    assert!(!night(14, &[]).contains("looked at again") && !dir.path("store/runs/00004").exists());
    for id in ["old", "new", "event"] {
        condenser(dir.root(), &["show", "store", id, "--why"]).ok();
        let shown = String::from_utf8(condenser(dir.root(), &["show", "store", id]).ok().stdout).expect("text");
        assert!(shown.contains("Decisions were made again by the engine, with the same output"), "{shown}");
    }
    condenser(dir.root(), &["verify", "store"]).ok();
    let back = condenser(dir.root(), &["get", "store", "new"]).ok().stdout;
    assert_eq!(String::from_utf8(back).expect("text"), dated("new", &messages, 9));
    for (set, says) in
        [("keep_open=\"5d\"", "keep_open"), ("as_of=\"today\"", "as_of"), ("rested_after=\"soon\"", "a span of time")]
    {
        let told = condenser(dir.root(), &["run", "job.toml", "--set", &format!("compaction.{set}")]).exits(2);
        assert!(told.stderr.contains(says), "{}", told.stderr);
    }
}

/// A store after six nights in which logs have grown, were written anew and cut, with what they were.
pub(crate) fn store_of_nights(
    dir: &TestDir,
    logs: &str,
    run: &dyn Fn(),
) -> Vec<std::collections::BTreeMap<String, Vec<u8>>> {
    let (chats, sessions) = (jsonl(60, 31), session(40, 1));
    let mut states = Vec::new();
    for round in 1..=6 {
        let share = |text: &str| text.as_bytes()[..text.len() * (round + 4) / 10].to_vec();
        dir.write(&format!("{logs}/chats.jsonl"), share(&chats));
        dir.write(&format!("{logs}/packed.jsonl.gz"), packed(&share(&chats)));
        dir.write(&format!("{logs}/events.jsonl"), share(&events("e", &sessions)));
        // Written anew in the third night, cut in the fifth, and gone in the last.
        let anew = jsonl(12, if round < 3 { 41 } else { 42 });
        let anew = if round < 5 { anew } else { anew.lines().take(5).map(|line| line.to_owned() + "\n").collect() };
        if round < 6 {
            dir.write(&format!("{logs}/anew.jsonl"), anew);
        }
        run();
        states.push(files(&dir.path(logs)));
        if round == 5 {
            std::fs::remove_file(dir.path(logs).join("anew.jsonl")).expect("it was there");
        }
    }
    // What is gone is still in the store.
    let gone = states[4]["anew.jsonl"].clone();
    states[5].insert("anew.jsonl".to_owned(), gone);
    states
}

#[test]
fn many_nights_become_one_run_that_gives_back_what_they_gave() {
    for every_state in [true, false] {
        let dir = TestDir::new();
        dir.write("job.toml", JOB);
        let mut states =
            store_of_nights(&dir, "logs", &|| drop(condenser(dir.root(), &["run", "job.toml", "-q"]).ends()));
        let get = |id: &str| condenser(dir.root(), &["get", "store", id, "--compressed"]).ok().stdout;
        let shown = get("e");
        let merge = |more: &[&str]| {
            let keeps: &[&str] = if every_state { &["--every-state"] } else { &[] };
            condenser(dir.root(), &[&["merge", "store"], keeps, more].concat()).ok().stderr
        };
        let check = |states: &[std::collections::BTreeMap<String, Vec<u8>>]| {
            if every_state {
                check_states(&dir, states);
                for at in 0..states.len() {
                    std::fs::remove_dir_all(dir.path(&format!("back-{at}"))).expect("it is there");
                }
            } else {
                condenser(dir.root(), &["restore", "store", "--night", "2", "-o", "never"]).exits(2);
                condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
                let back = files(&dir.path("back"));
                assert_eq!(back["chats.jsonl"], states.last().expect("a state")["chats.jsonl"]);
                assert_eq!(back["anew.jsonl"], states.last().expect("a state")["anew.jsonl"]);
                std::fs::remove_dir_all(dir.path("back")).expect("it is there");
                condenser(dir.root(), &["verify", "store"]).ok();
            }
        };
        let told = merge(&[]);
        assert!(told.contains("6 nights with") && told.contains("6 runs replaced and still there"), "{told}");
        check(&states);
        assert!(get("e") == shown);
        let told = merge(&["--yes"]);
        assert!(told.contains("no two nights to merge") && told.contains("6 runs deleted"), "{told}");
        let runs: Vec<String> = files(&dir.path("store/runs")).into_keys().collect();
        assert!(runs.iter().all(|name| name.starts_with("00007-merged/")), "{runs:?}");
        check(&states);
        assert!(get("e") == shown);
        // The next night goes on from there, and is merged with it.
        let chats = jsonl(60, 31) + &jsonl(5, 99);
        dir.write("logs/chats.jsonl", &chats);
        assert!(night(&dir).stderr.contains("0 new, 1 grown, 0 changed, 2 unchanged"));
        let mut last = states.last().expect("a state").clone();
        last.insert("chats.jsonl".to_owned(), chats.into_bytes());
        if every_state {
            // The number of the merged run is that of no night.
            let back = |night: &str, states: &std::collections::BTreeMap<String, Vec<u8>>| {
                condenser(dir.root(), &["restore", "store", "--night", night, "-o", "again"]).ok();
                assert_eq!(files(&dir.path("again"))["chats.jsonl"], states["chats.jsonl"], "{night}");
                std::fs::remove_dir_all(dir.path("again")).expect("it is there");
            };
            back("00008", &last);
            merge(&["--yes"]);
            back("00008", &last);
            back("00003", &states[2]);
            condenser(dir.root(), &["restore", "store", "--night", "7", "-o", "never"]).exits(2);
        } else {
            merge(&["--yes"]);
            states.push(last);
            check(&states);
        }
        let report = condenser(dir.root(), &["report", "store", "--json"]).ok().stdout;
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        let nights: Vec<&str> =
            report["nights"].as_array().expect("a list").iter().filter_map(|night| night["run"].as_str()).collect();
        assert_eq!(nights, ["00001", "00002", "00003", "00004", "00005", "00006", "00008", "00009-merged"]);
        let told = condenser(dir.root(), &["expire", "store", "--older-than", "0d", "--yes"]).ok();
        assert_eq!(String::from_utf8_lossy(&told.stdout).lines().count(), 3, "{}", told.stderr);
        condenser(dir.root(), &["verify", "store"]).ok();
    }
}

#[test]
fn a_flipped_byte_anywhere_in_a_store_is_found() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    store_of_nights(&dir, "logs", &|| drop(condenser(dir.root(), &["run", "job.toml", "-q"]).ends()));
    let check = |seed: u64, most: usize| {
        let (all, mut seeded) = (files(&dir.path("store")), Seeded::new(seed));
        let names: Vec<&String> = all.keys().collect();
        for _ in 0..most {
            let name = names[seeded.below(names.len())];
            let mut bytes = all[name].clone();
            let at = seeded.below(bytes.len());
            bytes[at] ^= 1 << seeded.below(8);
            let path = format!("store/{name}");
            dir.write(&path, &bytes);
            let told = condenser(dir.root(), &["verify", "store"]).exits(4);
            assert!(told.stderr.starts_with("error: "), "{name}: {}", told.stderr);
            dir.write(&path, &all[name]);
        }
        condenser(dir.root(), &["verify", "store"]).ok();
    };
    check(3, 40);
    // What is damaged is not merged, and nothing is deleted for it.
    let name = "store/runs/00003/verbatim/part-00000.parquet";
    let good = dir.read(name);
    let mut bytes = good.clone();
    bytes[40] ^= 1;
    dir.write(name, &bytes);
    let before = files(&dir.path("store"));
    condenser(dir.root(), &["merge", "store", "--yes"]).exits(4);
    assert!(before.iter().all(|(name, bytes)| dir.read(&format!("store/{name}")) == *bytes));
    dir.write(name, &good);
    condenser(dir.root(), &["merge", "store", "--every-state", "--yes", "-q"]).ok();
    check(4, 20);
}

#[test]
fn a_store_says_what_it_holds_and_what_each_night_came_to() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    dir.write("logs/a.jsonl", jsonl(20, 1));
    night(&dir);
    dir.write("logs/a.jsonl", jsonl(20, 1) + &jsonl(3, 2));
    dir.write("logs/b.jsonl", record("s", &session(30, 4)));
    let told = night(&dir).stderr;
    let line = told.lines().find(|line| line.starts_with("night 00002: ")).expect("a line");
    for says in ["2 logs, 4 conversations, ", " read, ", " stored (", " shorter, grounding ", ", drift "] {
        assert!(line.contains(says), "{says}: {line}");
    }
    let listed = String::from_utf8(condenser(dir.root(), &["ls", "store"]).ok().stdout).expect("text");
    assert!(listed.contains("2  00002  logs/a.jsonl") && listed.contains("1  00002  logs/b.jsonl"), "{listed}");
    assert!(listed.contains("2 logs, ") && listed.contains(" 2 nights, "), "{listed}");
    let listed: Value =
        serde_json::from_slice(&condenser(dir.root(), &["ls", "store", "--json"]).ok().stdout).expect("JSON");
    assert_eq!((&listed["logs"][0]["states"], &listed["nights"][1]["logs"]), (&json!(2), &json!(2)));
    let report = String::from_utf8(condenser(dir.root(), &["report", "store"]).ok().stdout).expect("text");
    assert!(report.contains("Nights") && report.contains("00001") && report.contains("grounding"), "{report}");
    condenser(dir.root(), &["report", "store", "--html", "page.html"]).ok();
    assert!(String::from_utf8(dir.read("page.html")).expect("text").contains(">Nights<"));
}

/// Every corpus as a log that grows by a tenth in a night.
#[test]
fn corpora_in_a_store_of_nights_come_back_and_a_tenth_more_takes_little() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB.to_owned() + "progress = \"none\"\n");
    let corpora = crate::support::corpora::lines();
    let write = |share: f64| {
        for (name, lines) in &corpora {
            let n_lines = ((lines.len() as f64 * share).round() as usize).max(1);
            let text: String = lines.iter().take(n_lines).flat_map(|line| [line.as_str(), "\n"]).collect();
            dir.write(&format!("logs/{}.jsonl", name.trim_end_matches(".zst").trim_end_matches(".jsonl")), text);
        }
    };
    let (mut states, mut sizes) = (Vec::new(), Vec::new());
    for share in [10.0 / 11.0, 1.0] {
        write(share);
        condenser(dir.root(), &["run", "job.toml", "-q"]).ends();
        states.push(files(&dir.path("logs")));
        sizes.push(size_of(&dir, "store"));
    }
    check_states(&dir, &states);
    let share = (sizes[1] - sizes[0]) as f64 / sizes[0] as f64;
    println!("two nights: {} bytes, and {share:.3} times as many for a tenth more", sizes[0]);
    // What is in the repository is small, so that what a part takes counts.
    assert!(share <= if sizes[0] > 1 << 20 { 0.15 } else { 0.5 }, "{sizes:?}");
    condenser(dir.root(), &["merge", "store", "--every-state", "--yes", "-q"]).ok();
    for at in 0..states.len() {
        std::fs::remove_dir_all(dir.path(&format!("back-{at}"))).expect("it is there");
    }
    check_states(&dir, &states);
    condenser(dir.root(), &["compress", "logs", "-o", "run", "--compression", "zstd:9", "-q"]).ends();
    let merged = size_of(&dir, "store") as f64 / size_of(&dir, "run") as f64;
    println!("merged: {merged:.3} times one run");
    assert!(merged <= if sizes[0] > 1 << 20 { 1.05 } else { 1.2 }, "{merged}");
}

#[test]
fn an_index_that_is_gone_or_damaged_loses_no_conversation() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB);
    store_of_nights(&dir, "logs", &|| drop(condenser(dir.root(), &["run", "job.toml", "-q"]).ends()));
    let get = || condenser(dir.root(), &["get", "store", "e"]).ok().stdout;
    let (whole, index) = (get(), files(&dir.path("store/index")));
    assert!(index.len() <= 3, "{:?}", index.keys());
    for (name, bytes) in &index {
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        dir.write(&format!("store/index/{name}"), changed);
        assert!(get() == whole, "{name}");
        let told = condenser(dir.root(), &["verify", "store"]).exits(4).stderr;
        assert!(told.contains(name) && told.contains("delete the file"), "{told}");
        dir.write(&format!("store/index/{name}"), bytes);
    }
    std::fs::remove_dir_all(dir.path("store/index")).expect("it was there");
    assert!(get() == whole);
    condenser(dir.root(), &["get", "store", "nobody"]).exits(1);
    // A quiet night makes it again.
    night(&dir);
    assert!(get() == whole && files(&dir.path("store/index")).len() == 1);
    condenser(dir.root(), &["verify", "store"]).ok();
}

#[test]
fn a_conversation_stands_once_and_stays_whatever_its_log_did() {
    let dir = TestDir::new();
    dir.write("job.toml", JOB.replace("rested_after = 0", "as_of = \"2031-05-10T12:00:00Z\""));
    let messages = session(40, 3);
    let dated = |n_messages: usize, day: usize| {
        let so_far = &messages[..n_messages];
        json!({"id": "s", "updated_at": format!("2031-05-{day:02}T12:00:00Z"), "messages": so_far}).to_string() + "\n"
    };
    let as_of = |day: usize| {
        let set = format!("compaction.as_of=\"2031-05-{day:02}T12:00:00Z\"");
        condenser(dir.root(), &["run", "job.toml", "--set", &set]).ok().stderr
    };
    let get = |id: &str| String::from_utf8(condenser(dir.root(), &["get", "store", id]).ok().stdout).expect("text");
    // Most of it is new, so that little of it stands in the store.
    dir.write("logs/a.jsonl", dated(4, 9));
    as_of(10);
    dir.write("logs/a.jsonl", dated(60, 10));
    as_of(11);
    assert_eq!(get("s"), dated(60, 10));
    // Looked at again, and then grown in its place.
    assert!(as_of(15).contains("1 older conversation looked at again"));
    dir.write("logs/a.jsonl", dated(70, 15));
    as_of(16);
    assert_eq!(get("s"), dated(70, 15));
    // Written anew: it stands in two states of its log.
    dir.write("logs/a.jsonl", record("other", &session(2, 8)) + &dated(72, 16));
    as_of(17);
    // What goes by a log that is gone, and another one in its place, is not given up.
    std::fs::remove_file(dir.path("logs/a.jsonl")).expect("it was there");
    dir.write("logs/a.jsonl", record("third", &session(3, 9)));
    as_of(18);
    let check = |restored: i32| {
        condenser(dir.root(), &["verify", "store"]).ok();
        assert_eq!(get("s"), dated(72, 16));
        assert_eq!(get("other"), record("other", &session(2, 8)));
        assert_eq!(get("third"), record("third", &session(3, 9)));
        condenser(dir.root(), &["restore", "store", "--night", "5", "-o", "back"]).exits(restored);
        let anew = record("other", &session(2, 8)) + &dated(72, 16);
        assert_eq!(String::from_utf8(dir.read("back/a.jsonl")).expect("text"), anew);
        std::fs::remove_dir_all(dir.path("back")).expect("it is there");
    };
    check(0);
    for every_state in [true, false] {
        let keeps: &[&str] = if every_state { &["--every-state"] } else { &[] };
        condenser(dir.root(), &[&["merge", "store", "--yes"], keeps].concat()).ok();
        // Nobody knows whether this log was all that the night had.
        check(i32::from(!every_state));
        dir.write("logs/a.jsonl", record("third", &session(3, 9)) + "\n");
        as_of(19);
    }
}

#[test]
fn texts_that_parts_share_stand_once_in_a_merged_store() {
    for form in ["parquet", "jsonl"] {
        let dir = TestDir::new();
        dir.write("job.toml", format!("{JOB}format = \"{form}\"\nsplit_size = \"100KiB\"\nprogress = \"none\"\n"));
        let (long, other) = (session(60, 3), session(6, 4));
        // A log, a copy of it, and a session that went on from it under another id; and one that was written anew each night.
        dir.write("logs/a.jsonl", record("a", &long));
        night(&dir);
        let mut states = vec![files(&dir.path("logs"))];
        for n in 0..2 {
            dir.write(&format!("logs/copy-{n}.jsonl"), record("a", &long));
        }
        dir.write("logs/events.jsonl", events("e", &long));
        dir.write("logs/anew.jsonl", record("n", &other));
        night(&dir);
        states.push(files(&dir.path("logs")));
        dir.write("logs/forked.jsonl", events("f", &[&long[..], &other].concat()));
        dir.write("logs/anew.jsonl", record("m", &long));
        night(&dir);
        states.push(files(&dir.path("logs")));
        let ids = ["a", "e", "f", "n", "m"];
        let get = |more: &[&str]| -> Vec<Vec<u8>> {
            let get = |id: &&str| condenser(dir.root(), &[&["get", "store", id], more].concat()).ok().stdout;
            ids.iter().map(get).collect()
        };
        let before = [get(&[]), get(&["--compressed"])];
        let texts = || -> usize {
            let is_text = |name: &str| ["/verbatim/", "/conversations/", "blobs/"].iter().any(|it| name.contains(it));
            files(&dir.path("store")).into_iter().filter(|(name, _)| is_text(name)).map(|(_, bytes)| bytes.len()).sum()
        };
        let size_before = texts();
        let check = |states: &[std::collections::BTreeMap<String, Vec<u8>>]| {
            check_states(&dir, states);
            assert!(before == [get(&[]), get(&["--compressed"])]);
            for at in 0..states.len() {
                std::fs::remove_dir_all(dir.path(&format!("back-{at}"))).expect("it is there");
            }
        };
        check(&states);
        condenser(dir.root(), &["merge", "store", "--every-state", "--yes"]).ok();
        check(&states);
        let blobs = files(&dir.path("store/blobs"));
        assert_eq!(blobs.keys().collect::<Vec<_>>(), ["00004-00000.parquet"]);
        let size = texts();
        assert!(size * 3 < size_before * 2, "{form}: {size} {size_before}");
        // What is damaged or gone is found.
        let name = "store/blobs/00004-00000.parquet";
        let good = dir.read(name);
        for at in [5, good.len() / 3, good.len() - 3] {
            let mut bytes = good.clone();
            bytes[at] ^= 4;
            dir.write(name, bytes);
            assert!(condenser(dir.root(), &["verify", "store"]).exits(4).stderr.contains("blobs"));
        }
        std::fs::remove_file(dir.path(name)).expect("it was there");
        assert!(condenser(dir.root(), &["verify", "store"]).exits(4).stderr.contains("is missing"));
        condenser(dir.root(), &["get", "store", "f"]).exits(4);
        dir.write(name, good);
        // A night goes on from there, and what took its place takes the texts with it.
        dir.write("logs/forked.jsonl", events("f", &[&long[..], &other, &session(9, 5)].concat()));
        night(&dir);
        states.push(files(&dir.path("logs")));
        condenser(dir.root(), &["verify", "store"]).ok();
        condenser(dir.root(), &["merge", "store"]).ok();
        assert_eq!(files(&dir.path("store/blobs")).len(), 2);
        condenser(dir.root(), &["merge", "store", "--yes"]).ok();
        assert_eq!(files(&dir.path("store/blobs")).into_keys().collect::<Vec<_>>(), ["00006-00000.parquet"]);
        condenser(dir.root(), &["verify", "store"]).ok();
        condenser(dir.root(), &["restore", "store", "-o", "back"]).ok();
        assert!(
            files(&dir.path("back"))
                .iter()
                .filter(|(name, _)| !name.contains('~'))
                .all(|(name, bytes)| states[3][name] == *bytes)
        );
    }
}
