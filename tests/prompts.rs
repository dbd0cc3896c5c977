//! System prompts that conversations of a part have in common: shown once, referred to by all others, whatever threads and
//! batches they are read in, and brought back.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::command::condenser;
use crate::support::dir::TestDir;

/// Rules that take so many lines.
fn rules(n: usize) -> String {
    let mut text = "You mend the tills of the shops in Elm Street.\n\n# Rules\n".to_owned();
    for at in 0..n {
        writeln!(text, "- Of drawer number {at} nobody takes more than what {} has written down.", "x".repeat(at % 9))
            .expect("a text");
    }
    text
}

/// A session in which a till is opened; what is said of it uses one line of the prompt.
fn session(id: &str, prompt: &str) -> Value {
    let calls = json!([{ "id": "c", "type": "function", "function": { "name": "open_till", "arguments": "{\"till\": \"T-4417\"}" } }]);
    json!({ "id": id, "messages": [
        { "role": "system", "content": prompt },
        { "role": "user", "content": format!("Open a till for {id}.") },
        { "role": "assistant", "content": null, "tool_calls": calls },
        { "role": "tool", "tool_call_id": "c", "content": "opened" },
        { "role": "assistant", "content": "Till T-4417 is open." },
    ]})
}

fn chat(id: &str, prompt: &str) -> Value {
    json!({ "id": id, "messages": [
        { "role": "system", "content": prompt },
        { "role": "user", "content": "When do you open?" },
        { "role": "assistant", "content": "We open in the morning." },
    ]})
}

/// Rules as JSON on many lines, one of them its own.
fn json(rules: &str, own: &str) -> String {
    let own = format!("{own} rule: {}", "what nobody else is told, word by word, ".repeat(12));
    serde_json::to_string_pretty(&json!({ "own": own, "rules": rules.lines().collect::<Vec<_>>() })).expect("JSON")
}

/// Compresses `records` in this format with these flags, and proves that all comes back; gives the prompts as they are shown.
fn compress(dir: &TestDir, records: &[Value], run: &str, flags: &[&str]) -> Vec<String> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    dir.write("in.jsonl", &lines);
    condenser(dir.root(), &[&["compress", "in.jsonl", "-o", run][..], flags].concat()).ok();
    condenser(dir.root(), &["verify", run]).ok();
    let back = format!("{run}-back");
    condenser(dir.root(), &["restore", run, "-o", &back]).ok();
    assert!(dir.read(&format!("{back}/in.jsonl")) == lines.as_bytes(), "{run}");
    records.iter().map(|record| shown(dir, run, record["id"].as_str().expect("an id"))).collect()
}

/// The first message of a conversation of a run.
fn shown(dir: &TestDir, run: &str, id: &str) -> String {
    let told = condenser(dir.root(), &["get", run, id, "--compressed"]).ok().stdout;
    let record: Value = serde_json::from_slice(&told).expect("JSON");
    record["messages"][0]["content"].as_str().expect("a text").to_owned()
}

const ONCE: [&str; 2] = ["--prompts", "once"];

#[test]
fn a_prompt_is_shown_by_the_first_conversation_that_has_it() {
    let dir = TestDir::new();
    let rules = rules(20);
    let monday = format!("Today is Monday, and the till is T-4417.\n{rules}");
    let more = format!("{rules}- And be kind to whoever asks.\n\n# Hours\n{}", rule("hours", 9));
    let (with_hours, little) = (format!("{rules}\n# Hours\n{}", rule("hours", 9)), "# Rules\n- Be kind.\n");
    let records = [
        session("first", &rules),
        session("second", &rules),
        session("monday", &monday),
        chat("with-hours", &with_hours),
        chat("a-chat", &more),
        chat("little", little),
        chat("little-too", little),
        chat("json", &json(&rules, "one")),
        chat("json-too", &json(&rules, "another")),
    ];
    for format in ["jsonl", "parquet", "arrow"] {
        let prompts = compress(&dir, &records, format, &[&["--format", format], &ONCE[..]].concat());
        let mark = |n: usize| format!("⋯ {n} lines as in the prompts of conversation first #1");
        assert_eq!(prompts[0], rules, "{format}");
        assert_eq!(prompts[1], mark(23), "{format}");
        let till = "You mend the tills of the shops in Elm Street.\n";
        assert_eq!(prompts[2], format!("Today is Monday, and the till is T-4417.\n{till}\n{}", mark(21)), "{format}");
        let hours = "⋯ 10 lines as in the prompts of conversation with-hours #1";
        assert_eq!(
            prompts[4],
            more.replace(&format!("# Hours\n{}", rule("hours", 9)), hours),
            "a section is whole: {format}"
        );
        for at in 5..9 {
            assert_eq!(prompts[at], records[at]["messages"][0]["content"].as_str().expect("a text"), "{format} {at}");
        }
        let hidden = condenser(dir.root(), &["get", format, "monday", "--mark", "1"]).ok().stdout;
        let hidden = String::from_utf8(hidden).expect("text");
        assert_eq!(hidden.trim(), rules.trim_end().strip_prefix(till).expect("its first line").trim(), "{format}");
        let told = condenser(dir.root(), &["show", format, "monday", "--why"]).ok().stdout;
        let told = String::from_utf8(told).expect("text");
        assert!(told.contains("said_before: another conversation") && !told.contains("otherwise today"), "{told}");
    }
}

#[test]
fn what_is_used_of_a_prompt_stays() {
    let dir = TestDir::new();
    let section = |of: &str| format!("# {of}\n{}", rule(of, 9));
    let told = "# What you never do\nNobody may ask for it.\n\n## In front\n\nNever:\n\n- Open the till T-4417.\n";
    let called = "# In the back\n- Call open_till before you touch it.\n";
    let prompt = ["Mend tills.\n", &section("drawers"), told, &section("lamps"), called, &section("doors")].join("\n");
    let records = [session("first", &prompt), session("second", &prompt)];
    let prompts = compress(&dir, &records, "run", &[&["--format", "jsonl"], &ONCE[..]].concat());
    assert_eq!(prompts[0], prompt);
    let mark = |n: usize, lines: usize| format!("⋯ {lines} lines as in the prompts of conversation first #{n}\n");
    let expected = ["Mend tills.\n", &mark(1, 11), told, &mark(2, 11), called, mark(3, 10).trim_end()].join("\n");
    let solid = |text: &str| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(solid(&prompts[1]), solid(&expected));
    // Which conversation has it is no matter of looks, of data to learn from, or of who did not ask.
    for flags in [&["--hide-by", "look", "--prompts", "once"][..], &["--preserve", "tool", "--prompts", "once"], &[]] {
        let told = condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "-"][..], flags].concat()).ok();
        assert!(!String::from_utf8_lossy(&told.stdout).contains("of conversation"), "{flags:?}");
    }
    dir.write(
        "job.toml",
        "kind = \"dataset\"\ninputs = [\"in.jsonl\"]\noutput = \"data\"\n[engine]\nprompts = \"once\"\n",
    );
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let manifest: Value = serde_json::from_slice(&dir.read("data/manifest.json")).expect("JSON");
    assert_eq!(manifest["options"]["engine"]["prompts"], json!("keep"));
}

#[test]
fn a_reader_finds_what_a_reference_names() {
    let dir = TestDir::new();
    let (rules, of_developer) = (rules(20), rules(20));
    let long = "s".repeat(300);
    let mut developer = session("developer", &of_developer);
    developer["messages"][0]["role"] = json!("developer");
    let records = [session(&long, &rules), session("line\nfeed", &rules), session("⋯ 3 lines #4", &rules), developer];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    dir.write("in.jsonl", &lines);
    // The name of the first does not fit into a reference, and none points forward.
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "-", "--prompts", "once"]).ok().stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(!told.contains("of conversation"), "{told}");
    // Of several with one name a reader finds the first; what is not preserved is shown in other words.
    let twins =
        [chat("twin", "Be short.\n"), session("twin", &rules), session("other", &rules), session("last", &rules)];
    let prompts = compress(&dir, &twins[1..], "run", &ONCE);
    assert!(prompts[2].ends_with("of conversation twin #1"), "{}", prompts[2]);
    let lines: String = twins.iter().map(|record| format!("{record}\n")).collect();
    dir.write("in.jsonl", &lines);
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "-", "--prompts", "once"]).ok().stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(!told.contains("of conversation"), "{told}");
    let flags = ["compress", "in.jsonl", "-o", "-", "--prompts", "once", "--preserve", "developer"];
    let told = condenser(dir.root(), &flags).ok().stdout;
    assert!(!String::from_utf8_lossy(&told).contains("of conversation"));
}

#[test]
fn threads_and_batches_make_no_difference() {
    let dir = TestDir::new();
    // More than two batches; every third conversation brings a prompt that some later ones have.
    let prompt = |at: usize| format!("{}{}", rules(250), rules(20 + at / 3).replace("drawer", "shelf"));
    let records: Vec<Value> = (0..200).map(|at| session(&format!("s{at}"), &prompt(at))).collect();
    let one = compress(&dir, &records[..], "one", &[&["--format", "jsonl", "--threads", "1"], &ONCE[..]].concat());
    condenser(
        dir.root(),
        &[&["compress", "in.jsonl", "-o", "many", "--format", "jsonl", "--threads", "5"], &ONCE[..]].concat(),
    )
    .ok();
    let part = |run: &str| dir.read(&format!("{run}/conversations/part-00000.jsonl.zst"));
    assert!(part("one") == part("many"), "the output depends on the number of threads");
    let n_marked = one.iter().filter(|prompt| prompt.contains("prompts of conversation s0 #1")).count();
    assert_eq!(n_marked, 199);
    // Each reference names a conversation that shows the lines.
    let holder = one[3].lines().last().expect("a line");
    assert!(holder.contains("shelf number"), "{holder}");
}

/// What the second one of two conversations shows of its prompt.
fn second(dir: &TestDir, run: &str, first: &str, then: &str, edit: impl Fn(&mut Value)) -> String {
    let mut record = session("b", then);
    edit(&mut record);
    compress(dir, &[session("a", first), record], run, &ONCE).pop().expect("two prompts")
}

/// A rule of so many sentences.
fn rule(name: &str, n: usize) -> String {
    (0..n)
        .map(|at| format!("- Of {name} number {at} ask who pays for it before you say that we take it back.\n"))
        .collect()
}

#[test]
fn rules_in_another_order_are_not_those_of_the_other_conversation() {
    let dir = TestDir::new();
    let (broken, whole) = (rule("broken tills", 6), rule("whole tills", 6));
    let heads = ["# What is always taken back\n", "# What is never taken back\n"];
    let [always, never] = heads;
    let first = format!("{always}{broken}\n{never}{whole}");
    let swapped = second(&dir, "swapped", &first, &format!("{always}{whole}\n{never}{broken}"), |_| {});
    for head in heads {
        assert!(swapped.contains(head.trim_end()), "it tells what the rules behind it belong to: {swapped}");
    }
    assert!(swapped.contains("whole tills number 0"), "the rules under it are others: {swapped}");
    let middle = rule("half a till", 1);
    let first = format!("{broken}\n{middle}\n{whole}");
    let left_out = second(&dir, "left-out", &first, &format!("{broken}\n{whole}"), |_| {});
    assert!(left_out.contains("- Of whole tills number 0"), "a line tells where it goes on: {left_out}");
}

#[test]
fn what_belongs_together_stays_together() {
    let dir = TestDir::new();
    let many = format!("Mend tills.\n\n# Shops\n{}\n# Rules\n", rule("tills", 12));
    let called = |name: &'static str| {
        move |record: &mut Value| record["messages"][2]["tool_calls"][0]["function"]["name"] = name.into()
    };
    for (run, name) in [("dotted", "shop.lend"), ("spaced", "shop:lend"), ("pathed", "shop/lend")] {
        let prompt = format!("{many}{name}: takes the name of a till.\n");
        let shown = second(&dir, run, &prompt, &prompt, called(name));
        assert!(shown.contains(&format!("{name}: takes")) && shown.contains('⋯'), "{shown}");
    }
    // Of what stands behind a line that is another one, or around it, nothing is hidden, however it is written.
    let lines = rule("drawers", 16);
    let rows: String = (0..30).map(|at| format!("| till-{at} | {} | under the stairs |\n", at * 7)).collect();
    for (run, rules) in [
        ("list", format!("Never do any of these:\n{lines}- ONE\n{lines}")),
        ("apart", format!("Never do any of these:\n\n{lines}\n- ONE\n")),
        ("bold", format!("**Never**\n\n{lines}\n- ONE\n")),
        ("table", format!("What must wait:\n| till | days | where |\n| --- | --- | --- |\n{rows}| ONE | 3 | here |\n")),
        ("fence", format!("Wrong:\n\n```sh\n# never\n{lines}# ONE\n```\n")),
        ("tildes", format!("~~~~\n~~~\n# never\n\n{lines}# ONE\n~~~\n~~~~\n")),
        ("open", format!("```\n# never\n\n{lines}# ONE\n")),
        ("nested", format!("Never:\n\n## Drawers\n{lines}\n### In front\n- ONE\n")),
        ("tags", format!("<rules kind=\"never\">\n\n{lines}\n<front>\n- ONE\n</front>\n</rules>\n")),
    ] {
        let (first, then) = (format!("{many}{rules}"), format!("{many}{rules}").replace("ONE", "ANOTHER"));
        let shown = second(&dir, run, &first, &then, |_| {});
        let (hidden, rest) = shown.split_once("# Rules\n").expect("the heading stays");
        assert_eq!(rest.trim_end(), rules.replace("ONE", "ANOTHER").trim_end(), "{run}: {shown}");
        assert!(hidden.contains('⋯'), "{run}: {shown}");
    }
}

#[test]
fn the_last_messages_stay_and_marks_are_not_hidden() {
    let dir = TestDir::new();
    let prompt = rules(20);
    let late = |id: &str| {
        let mut record = session(id, "Mend tills.");
        record["messages"].as_array_mut().expect("messages").push(json!({ "role": "developer", "content": prompt }));
        record
    };
    compress(&dir, &[late("a"), late("b")], "late", &ONCE);
    let told = condenser(dir.root(), &["get", "late", "b", "--compressed"]).ok().stdout;
    let record: Value = serde_json::from_slice(&told).expect("JSON");
    assert_eq!(record["messages"][5]["content"], prompt.as_str());
    let marked = prompt
        .replace("- Of drawer number 9 ", "⋯ 7 lines as in the prompts of conversation z #3\n- Of drawer number 9 ");
    let shown = second(&dir, "marked", &marked, &marked, |_| {});
    assert!(shown.contains("as in the prompts of conversation z #3"), "{shown}");
}
