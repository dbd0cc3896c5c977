//! What the prepass takes out of the output of tools, what it leaves, and for which reasons.

use condenser::model::{Conversation, EngineOptions};
use condenser::shape;
use condenser::stage::classify::Depth;
use condenser::stage::{About, Claim, GroupKind, Plan, Prepass, Profiles, Protect, Stage, View};
use condenser::summary::prepass;
use serde_json::{Value, json};

use crate::support::growth::check_pieces;
use crate::support::talk;

/// The texts after the prepass; the others are as they were. The claims of `Protect` come first.
fn passed(messages: &[Value], options: &EngineOptions) -> Vec<String> {
    let record = talk::record_of(messages);
    let decoded = shape::decode(&record, shape::detect(&record).unwrap(), "talk").unwrap();
    let conversation: &Conversation<'_> = &decoded.conversation;
    let mut profiles = Profiles::default();
    profiles.measure(conversation);
    profiles.lex(conversation);
    let recency_start = messages.len().saturating_sub(options.recency_window);
    let view = View { conversation, profiles: &profiles, options, recency_start, depth: Depth::Decide };
    let mut plan = Plan::new(messages.len());
    Protect.claim(&view, &mut plan);
    if Prepass.is_on(options) {
        Prepass.claim(&view, &mut plan);
    }
    let text_of = |index: usize| view.text(index).map(|text| text.text.to_owned()).unwrap_or_default();
    (0..messages.len())
        .map(|index| match plan.claim_of(index) {
            Some(Claim::Group(group)) => {
                assert_eq!(plan.groups[*group].kind, GroupKind::ToolPrepass);
                prepass(&view.text(index).unwrap(), plan.cuts_of(index)).unwrap().text
            }
            _ => text_of(index),
        })
        .collect()
}

fn on() -> EngineOptions {
    EngineOptions { recency_window: 0, agent_tool_prepass: true, ..EngineOptions::default() }
}

/// The text of a single answer of a tool after the prepass.
fn output(text: &str) -> String {
    passed(&[json!({"role": "tool", "content": text})], &on()).remove(0)
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]})
}

fn answer(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (1..=n).map(|n| line(n) + "\n").collect()
}

/// A file of about 3,000 characters.
fn file() -> String {
    lines(60, |n| format!("export const rate{n} = lookup('rate', {n}, region.east);"))
}

const PATH: &str = "/repo/src/app/main.ts";

#[test]
fn passing_tests_go_and_failures_and_totals_stay() {
    let text = format!(
        "{}FAIL payment.test.ts\nERROR TypeError: card is undefined (chargeCard)\n{}Tests: 1 failed, 24 passed\n",
        lines(12, |n| format!("PASS src/cart{n}.test.ts")),
        lines(12, |n| format!("  ✓ adds item {n} (3 ms)"))
    );
    assert_eq!(
        output(&text),
        "[... 12 passing test lines omitted ...]\nFAIL payment.test.ts\nERROR TypeError: card is undefined (chargeCard)\n\
         [... 12 passing test lines omitted ...]\nTests: 1 failed, 24 passed\n"
    );
}

#[test]
fn b11_a_diff_is_never_touched() {
    let added = lines(12, |n| format!("+  const added{n} = makeItem('{n}', total);"));
    let diff = format!(
        "diff --git a/src/pay.ts b/src/pay.ts\n--- a/src/pay.ts\n+++ b/src/pay.ts\n@@ -1,1 +1,12 @@\n-  old();\n{added}"
    );
    assert_eq!(output(&diff), diff);
    let checks =
        format!("--- a/n.md\n+++ b/n.md\n@@ -0,0 +1,12 @@\n{}", lines(12, |n| format!("+✓ point number {n} is done")));
    assert_eq!(output(&checks), checks);
    assert_eq!(output(&added.repeat(3)), added.repeat(3));
}

#[test]
fn b12_only_what_the_assistant_said_word_for_word_is_an_echo() {
    let said = "The payment of the order is taken by the terminal at the counter, and the slip is printed in the same \
                moment. After that the drawer opens, the change is counted, and the customer is told when to come back \
                for what was not in stock.";
    let say = json!({"role": "assistant", "content": said});
    let messages = |text: String| {
        vec![say.clone(), json!({"role": "user", "content": "ok"}), json!({"role": "tool", "content": text})]
    };
    let echo = passed(&messages(format!("head of the file\n\n{said}\n\nend of the file")), &on()).remove(2);
    assert_eq!(
        echo,
        format!("head of the file\n\n[content from preceding turn omitted ({} chars)]\n\nend of the file", said.len())
    );
    let altered =
        format!("{} CARD DECLINED BUG 4471 and much more that nobody has said before.", said.get(..160).unwrap());
    assert_eq!(passed(&messages(altered.repeat(2)), &on()).remove(2), altered.repeat(2));
}

#[test]
fn what_the_assistant_wrote_into_a_file_need_not_be_shown_again() {
    let content = lines(12, |n| format!("line {n} of the new page about opening hours"));
    let messages = [
        call("c1", "Write", &json!({"file_path": "/repo/page.md", "content": content})),
        answer("c1", "File created."),
        call("c2", "Bash", &json!({"command": "cat /repo/page.md"})),
        answer("c2", &lines(12, |n| format!("{n:>6}→line {n} of the new page about opening hours"))),
    ];
    let shown = passed(&messages, &on()).remove(3);
    assert!(shown.starts_with("[content from preceding turn omitted ("), "{shown}");
}

#[test]
fn an_echo_of_something_said_long_ago_stays() {
    let said = talk::prose(500);
    let mut messages = vec![json!({"role": "assistant", "content": said})];
    messages.extend((0..3).map(|n| json!({"role": "assistant", "content": format!("Step {n} is done.")})));
    messages.push(json!({"role": "tool", "content": said}));
    assert_eq!(passed(&messages, &on())[4], said);
}

fn read_then(rest: &[Value]) -> String {
    let mut messages = vec![call("r", "Read", &json!({"file_path": PATH})), answer("r", &file())];
    messages.extend_from_slice(rest);
    passed(&messages, &on()).remove(1)
}

#[test]
fn a_file_that_expired_leaves_the_exit_status_of_the_call_that_read_it() {
    let header = "Chunk ID: 1a1ea2\nWall time: 0.1 seconds\nProcess exited with code 0\n";
    let read = format!("{header}Output:\n{}", file());
    let mut messages = vec![call("r", "Read", &json!({"file_path": PATH})), answer("r", &read)];
    messages.push(call("w", "Write", &json!({"file_path": PATH, "content": "export {};"})));
    messages.push(answer("w", "File updated."));
    let shown = passed(&messages, &on()).remove(1);
    assert!(shown.starts_with(&format!("{header}[file content omitted — superseded by a later write (")), "{shown}");
}

#[test]
fn a_file_expires_when_a_later_call_writes_it() {
    let write = call("w", "Write", &json!({"file_path": PATH, "content": "export {};"}));
    let marker = format!("[file content omitted — superseded by a later write ({} chars original)]\n", file().len());
    assert_eq!(read_then(&[write.clone(), answer("w", "File updated.")]), marker);
    assert_eq!(read_then(std::slice::from_ref(&write)), marker);
    let shell = call("w", "bash", &json!({"command": format!("cat > {PATH} <<'EOF'\nexport {{}};\nEOF")}));
    assert_eq!(read_then(&[shell, answer("w", "")]), marker);
    assert_eq!(read_then(&[write, answer("w", "Error: permission denied")]), file());
}

#[test]
fn b13_a_mention_of_a_file_is_no_write() {
    let says = |words: &str| json!({"role": "user", "content": words});
    assert_eq!(read_then(&[says(&format!("I have not updated anything in {PATH} yet."))]), file());
    assert_eq!(read_then(&[says(&format!("I wrote {PATH} and saved it."))]), file());
    assert_eq!(read_then(&[call("g", "Grep", &json!({"path": PATH, "pattern": "write"})), answer("g", "x")]), file());
    let other = call("w", "Write", &json!({"file_path": "/repo/src/app/other.ts", "content": "x"}));
    assert_eq!(read_then(&[other]), file());
}

#[test]
fn an_edit_expires_only_what_later_calls_show() {
    let edit = |n: usize| {
        let (old, new) = (file().get(..n).unwrap().to_owned(), file().get(..n).unwrap().to_uppercase());
        call("e", "Edit", &json!({"file_path": PATH, "old_string": old, "new_string": new}))
    };
    assert_eq!(read_then(&[edit(60), answer("e", "done")]), file());
    assert!(read_then(&[edit(2_000), answer("e", "done")]).starts_with("[file content omitted"));
}

#[test]
fn a_patch_counts_for_each_file_by_what_it_does_to_it() {
    let long: String = (0..80).map(|n| format!("+const other{n} = lookup('other', {n}, region.west);\n")).collect();
    let patch = |head: &str| {
        let text = format!(
            "*** Begin Patch\n*** {head} File: {PATH}\n+one line\n*** Add File: /repo/other.ts\n{long}*** End Patch"
        );
        json!({"role": "assistant", "content": null, "tool_calls":
            [{"id": "p", "type": "function", "function": {"name": "apply_patch", "arguments": text}}]})
    };
    assert_eq!(read_then(&[patch("Update")]), file());
    assert!(read_then(&[patch("Add")]).starts_with("[file content omitted"));
    assert!(read_then(&[patch("Delete")]).starts_with("[file content omitted"));
}

#[test]
fn the_same_name_in_another_folder_is_another_file() {
    let cat = |id: &str, folder: &str| call(id, "exec", &json!({"cmd": "cat main.ts", "workdir": folder}));
    let write = |folder: &str| call("w", "exec", &json!({"cmd": "echo x > main.ts", "workdir": folder}));
    let shown = |folder: &str| passed(&[cat("a", "/one"), answer("a", &file()), write(folder)], &on()).remove(1);
    assert_eq!(shown("/two"), file());
    assert!(shown("/one").starts_with("[file content omitted"));
}

#[test]
fn a_file_that_is_read_again_is_shown_once() {
    let messages = [
        call("a", "Read", &json!({"file_path": PATH, "offset": 1, "limit": 60})),
        answer("a", &file()),
        call("b", "Read", &json!({"file_path": PATH})),
        answer("b", &(file() + "// the end\n")),
        call("c", "Read", &json!({"file_path": PATH, "offset": 1, "limit": 2})),
        answer("c", "export const rate1 = 1;"),
    ];
    let shown = passed(&messages, &on());
    assert!(shown[1].starts_with("[file content omitted — superseded by a later read ("), "{}", shown[1]);
    assert_eq!(shown[3], file() + "// the end\n");
}

#[test]
fn protected_messages_stay_whole() {
    let noise = lines(40, |n| format!("✓ check number {n} has passed"));
    let tool = json!({"role": "tool", "content": noise});
    assert!(passed(std::slice::from_ref(&tool), &on())[0].len() < 60);
    let preserved = EngineOptions { preserve: vec!["tool".into()], ..on() };
    assert_eq!(passed(std::slice::from_ref(&tool), &preserved)[0], noise);
    let window = EngineOptions { recency_window: 10, ..on() };
    assert_eq!(passed(std::slice::from_ref(&tool), &window)[0], noise);
    assert_eq!(passed(std::slice::from_ref(&tool), &EngineOptions { agent_tool_prepass: false, ..on() })[0], noise);
    for role in ["user", "assistant", "system"] {
        assert_eq!(passed(&[json!({"role": role, "content": noise})], &on())[0], noise);
    }
}

#[test]
fn a_message_that_an_echo_points_at_stays() {
    let said = talk::prose(600);
    let messages = [json!({"role": "assistant", "content": said}), json!({"role": "tool", "content": said})];
    let shown = passed(&messages, &on());
    assert_eq!(shown[0], said);
    assert!(shown[1].starts_with("[content from preceding turn omitted (600"), "{}", shown[1]);
}

#[test]
fn what_a_call_asks_for_is_no_noise() {
    let listing = lines(9, |n| format!("./.git/hooks/hook-number-{n}.sample"));
    assert!(output(&listing.repeat(2)).starts_with("[... 18 directory entries omitted ...]"));
    let messages = [call("f", "bash", &json!({"command": "find .git/hooks"})), answer("f", &listing)];
    assert_eq!(passed(&messages, &on())[1], listing);
}

#[test]
fn hostile_output_takes_linear_time() {
    let pieces = [
        "[1/2]\n",
        "[1/9] a\n",
        "✓ passed\n",
        "a\n\n",
        "x\n\ny\n\n",
        "├── node_modules\n│   ├── a\n",
        "├── node_modules\n",
        "./.git/a\n",
        "npm warn a\n",
    ];
    check_pieces(&pieces, |text| {
        let messages = [json!({"role": "assistant", "content": text}), json!({"role": "tool", "content": text})];
        std::hint::black_box(passed(&messages, &on()));
    });
}
