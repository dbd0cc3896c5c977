//! Marks of chat templates, between which stands what a trainer learns. Trainers learn every turn that is marked; here the marks of
//! turns that are not for learning are taken out, and whether that went right is tried. Knows Jinja; refuses to know tokens.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Value, json};

/// Stand for marks where it is tried what is between them.
const SIGNS: [char; 2] = ['\u{E000}', '\u{E001}'];
/// What turns of a trial say that are for learning, and those that are not.
const LEARNED: [&str; 3] = ["learned-text", "learned-argument", "learned-thought"];
const MASKED: [&str; 3] = ["masked-text", "masked-argument", "masked-thought"];

/// Comments, what is raw and what is written, in which no tag stands, and tags with the signs at their ends.
static TAGS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?s)\{#.*?#\}|\{%[-+]?\s*raw\b.*?\bendraw\s*[-+]?%\}|\{\{.*?\}\}|\{%([-+]?)\s*(.*?)\s*([-+]?)%\}";
    Regex::new(pattern).expect("a pattern")
});
/// Names that a loop or a macro gives to things.
static NAMES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:for\s+([\w\s,]+?)\s+in\s|macro\s+\w+\s*\(([^)]*)\))").expect("a pattern"));

/// The template with other text for each mark, which is told the sign before it, whether it is the first of its pair, and the sign behind.
fn with_marks(template: &str, mark: impl Fn(&str, bool, &str) -> String) -> String {
    let of = |tag: &Captures<'_>| {
        let part = |number: usize| tag.get(number).map_or("", |part| part.as_str());
        match part(2) {
            "generation" => mark(part(1), true, part(3)),
            "endgeneration" => mark(part(1), false, part(3)),
            _ => tag[0].to_owned(),
        }
    };
    TAGS.replace_all(template, of).into_owned()
}

/// The template with what marks do where nobody trains: what is set between them is known there alone.
pub(super) fn without_marks(template: &str) -> String {
    with_marks(template, |left, is_first, right| {
        format!("{{%{left} {} {right}%}}", if is_first { "with" } else { "endwith" })
    })
}

/// The template with a sign at each mark.
fn with_signs(template: &str) -> String {
    with_marks(template, |left, is_first, right| {
        if is_first {
            format!("{{%{left} with %}}{{{{ '{}' }}}}{{% set _ = 0 {right}%}}", SIGNS[0])
        } else {
            format!("{{%{left} set _ = 0 %}}{{{{ '{}' }}}}{{% endwith {right}%}}", SIGNS[1])
        }
    })
}

/// The template whose marks hold for a message unless its `train` is false; `None` when it has no marks, and when it cannot be made so.
/// `render` says what a template without marks makes of a chat, if it takes it.
pub(super) fn minding_train(template: &str, render: impl Fn(&str, &[Value]) -> Option<String>) -> Option<String> {
    let minding = conditional(template)?;
    let (plain, marked, minding_signs) = (without_marks(template), with_signs(template), with_signs(&minding));
    let mut is_tried = false;
    for messages in trials() {
        // What it refuses it does not train on.
        let Some(text) = render(&plain, &messages) else { continue };
        let (all, some) = (render(&marked, &messages)?, render(&minding_signs, &messages)?);
        let is_learned = |rendered: &str, text: &str| learned(rendered).contains(text);
        let learns_too_much = MASKED.iter().any(|text| is_learned(&some, text));
        let learns_too_little = LEARNED.iter().any(|text| is_learned(&all, text) && !is_learned(&some, text));
        if some.replace(SIGNS, "") != text || learns_too_much || learns_too_little {
            return None;
        }
        is_tried |= is_learned(&some, LEARNED[0]) && is_learned(&all, MASKED[0]);
    }
    is_tried.then_some(minding)
}

/// The template with every marked stretch twice: marked, and not for messages that are not to be learned.
fn conditional(template: &str) -> Option<String> {
    let mut names: Vec<&str> = vec!["message"];
    for tag in TAGS.captures_iter(template) {
        let words = tag.get(2).map_or("", |words| words.as_str());
        let Some(found) = NAMES.captures(words) else { continue };
        let list = found.get(1).or_else(|| found.get(2)).map_or("", |list| list.as_str());
        for name in list.split(',').filter_map(|name| name.split('=').next()).map(str::trim) {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let is_masked: Vec<String> = names
        .iter()
        .map(|name| format!("({name} is mapping and {name}.train is defined and {name}.train == false)"))
        .collect();
    let is_masked = is_masked.join(" or ");
    let mut out = String::with_capacity(template.len() * 2);
    // The end of the last tag, and where a mark was opened, with the sign behind it.
    let (mut last, mut open, mut has_marks) = (0, None, false);
    for tag in TAGS.captures_iter(template) {
        let whole = tag.get_match();
        let part = |number: usize| tag.get(number).map_or("", |part| part.as_str());
        let (left, words, right) = (part(1), part(2), part(3));
        out.push_str(template.get(last..whole.start()).unwrap_or_default());
        last = whole.end();
        match (words, open) {
            ("generation", _) => {
                open = Some((last, right));
                out.push_str(&format!("{{%{left} if {is_masked} %}}{{% with {right}%}}"));
            }
            ("endgeneration", Some((from, first_right))) => {
                let body = template.get(from..whole.start()).unwrap_or_default();
                out.push_str(&format!(
                    "{{%{left} endwith %}}{{% else %}}{{% generation {first_right}%}}{body}{{%{left} endgeneration %}}{{% endif {right}%}}"
                ));
                (open, has_marks) = (None, true);
            }
            _ => out.push_str(whole.as_str()),
        }
    }
    out.push_str(template.get(last..).unwrap_or_default());
    has_marks.then_some(out)
}

/// What stands between signs.
fn learned(rendered: &str) -> String {
    let parts = rendered.split(SIGNS[0]).skip(1);
    parts.filter_map(|part| part.split(SIGNS[1]).next()).collect::<Vec<_>>().join("\n")
}

/// Chats of turns that are for learning and others: words, then thoughts, then calls.
fn trials() -> [Vec<Value>; 3] {
    let user = |text: &str| json!({"role": "user", "content": text});
    let said =
        |what: [&str; 3], is_learned: bool| json!({"role": "assistant", "content": what[0], "train": is_learned});
    let thought = |what: [&str; 3], is_learned: bool| json!({"role": "assistant", "content": what[0], "reasoning_content": what[2], "train": is_learned});
    let called = |what: [&str; 3], is_learned: bool| {
        let function = json!({"name": "read", "arguments": {"path": what[1]}});
        let call = json!([{"id": "call00001", "type": "function", "function": function}]);
        json!({"role": "assistant", "content": "", "tool_calls": call, "train": is_learned})
    };
    let result = json!({"role": "tool", "content": "done", "tool_call_id": "call00001", "name": "read"});
    [
        vec![user("Go."), said(MASKED, false), user("And?"), said(LEARNED, true)],
        vec![user("Go."), thought(MASKED, false), user("And?"), thought(LEARNED, true)],
        vec![user("Go."), called(MASKED, false), result.clone(), called(LEARNED, true), result, said(MASKED, false)],
    ]
}
