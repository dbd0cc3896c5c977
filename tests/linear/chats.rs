//! Conversations as an API saw them take time in proportion to the record, whatever is wrong with it.

use condenser::chat::{CalledTools, chats};
use condenser::shape::{decode, detect};
use condenser_core::walk::Copies;

use crate::support::growth::{Clock, Slow, TEXT};

type Make = fn(usize) -> String;

const MAKES: [(&str, Make); 13] = [
    ("calls without a result", |n| messages(n, call)),
    ("turns", |n| messages(n, |at| format!(r#"{{"role":"{}","content":"x"}}"#, ["user", "assistant"][at % 2]))),
    ("neighbours of one speaker", |n| messages(n, |_| r#"{"role":"user","content":"Go on."}"#.to_owned())),
    ("calls at once and their results", |n| {
        messages(n, |at| if at % 2 == 0 { call(at) } else { result(at - 1, "done") })
    }),
    ("calls without a name in one turn", |n| {
        let half = n / 2;
        let mut all: Vec<String> = (0..half / 80).map(|_| call(0).replace(r#""id":"c0","#, "")).collect();
        all.extend((0..half / 40).map(|_| r#"{"role":"tool","content":"done"}"#.to_owned()));
        listed(&all)
    }),
    ("results of one call", |n| {
        listed(&std::iter::once(call(0)).chain((0..n / 60).map(|at| result(0, &at.to_string()))).collect::<Vec<_>>())
    }),
    ("results before their call", |n| {
        listed(&(0..n / 60).map(|at| result(0, &at.to_string())).chain([call(0)]).collect::<Vec<_>>())
    }),
    ("results of no call", |n| {
        listed(&std::iter::once(call(0)).chain((1..n / 60).map(|at| result(at, "done"))).collect::<Vec<_>>())
    }),
    ("edits of one line", |n| {
        messages(n, |at| if at % 2 == 0 { edit(at, 0) } else { result(at - 1, "let value_0 = f(x);") })
    }),
    ("edits of many lines", |n| {
        messages(n, |at| {
            if at % 2 == 0 {
                edit(at, at.saturating_sub(2))
            } else {
                result(at - 1, &format!("let value_{} = f(x);", at - 1))
            }
        })
    }),
    ("tags of thoughts that do not match", |n| said(&"<think><think></think>".repeat(n / 22))),
    ("thoughts beside a long text", |n| {
        let thought = |at: usize| format!(r#"{{"type":"thinking","thinking":"so {at}."}}"#);
        let parts: Vec<String> = (0..n / 80).map(thought).collect();
        let text = "All is said. ".repeat(n / 26);
        listed(&[format!(
            r#"{{"role":"assistant","content":[{},{{"type":"text","text":"{text}"}}]}}"#,
            parts.join(",")
        )])
    }),
    ("calls of a user", |n| {
        messages(n, |at| if at % 2 == 0 { call(at).replace("assistant", "user") } else { result(at - 1, "done") })
    }),
];

fn messages(n_bytes: usize, message: impl Fn(usize) -> String) -> String {
    listed(&(0..n_bytes / 60).map(message).collect::<Vec<_>>())
}

fn listed(messages: &[String]) -> String {
    format!(r#"{{"id":"x","messages":[{}]}}"#, messages.join(","))
}

fn said(text: &str) -> String {
    listed(&[format!(r#"{{"role":"assistant","content":"{text}"}}"#)])
}

fn call(id: usize) -> String {
    format!(
        r#"{{"role":"assistant","content":"","tool_calls":[{{"id":"c{id}","function":{{"name":"f","arguments":"{{}}"}}}}]}}"#
    )
}

fn edit(id: usize, value: usize) -> String {
    let given = format!(r#"{{"old_string":"let value_{value} = f(x);"}}"#).replace('"', r#"\""#);
    call(id).replace(r#""arguments":"{}""#, &format!(r#""arguments":"{given}""#))
}

fn result(id: usize, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"c{id}","content":"{text}"}}"#)
}

#[test]
fn conversations_are_put_together_in_linear_time() {
    let mut slow = Slow::default();
    for (name, make) in MAKES {
        let time = |record: &String| {
            let start = Clock::start();
            let decoded = decode(record, detect(record).expect("a shape"), "x").expect("a record");
            let found = chats(&decoded);
            assert_eq!(found.len(), 1);
            assert_eq!(
                CalledTools::of(&found[0].conversation).is_empty(),
                CalledTools::of(&found[0].conversation).list().is_empty()
            );
            // What edits copy, and where it stands.
            let copies = Copies::of(&found[0].conversation);
            let n_shown = copies.messages().map(|message| copies.shown(message).flatten().count()).sum::<usize>();
            assert!(!record.contains("old_string") || n_shown > 0, "{name}");
            start.passed()
        };
        slow.check(name, make, time, TEXT);
    }
    slow.report();
}
