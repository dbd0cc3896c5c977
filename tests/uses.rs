//! Compaction by use over whole corpora: what holds of every view, whatever was used.

use std::collections::HashSet;
use std::sync::LazyLock;

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    Conversation, EngineOptions, LookAhead, Output, PartView, Role, UnitCounts, UnitReason, ViewOp,
};
use condenser::shape;
use condenser_core::{Compressed, Compressor, restore};
use rayon::prelude::*;
use regex::Regex;
use serde_json::json;

use crate::support::corpora;

/// A text without blanks, without the codes of a terminal and without the mark that stands for them: all say the same.
fn plain(text: &str) -> String {
    static CODES: LazyLock<Regex> = LazyLock::new(|| {
        let mark = "⋯+ [0-9]+ terminal codes #[0-9]+ ⋯+";
        let code = "\u{1b}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u{7}\n]*\u{7}?|[^\\[\\]\n])?";
        Regex::new(&format!("{code}|{mark}|[ \t\r]")).expect("a pattern")
    });
    CODES.replace_all(text, "").into_owned()
}

/// A line without what a viewer or a diff puts in front.
fn bare(line: &str) -> &str {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = (rest.len() < line.len()).then(|| rest.strip_prefix([':', '\t', '|', '→'])).flatten();
    let line = behind.unwrap_or(line).trim();
    line.trim_start_matches(['+', '-']).trim()
}

/// What the marks of a view are, and the text that each hides.
fn marks<'o>(view: &'o PartView, original: &'o str) -> Vec<(&'o str, &'o str)> {
    let mark = |op: &'o ViewOp| {
        let ViewOp::Mark(says, number) = op else { return None };
        Some((says.as_str(), view.hidden(*number, original).expect("it hides something").text))
    };
    view.ops.iter().filter_map(mark).collect()
}

/// Calls `each` with the strings of a value.
fn strings(value: &serde_json::Value, each: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => each(text),
        serde_json::Value::Array(all) => all.iter().for_each(|value| strings(value, each)),
        serde_json::Value::Object(all) => all.values().for_each(|value| strings(value, each)),
        _ => {}
    }
}

/// Checks the views of a conversation; gives how many marks and how many references it has.
fn check(record: &str, engine: &Engine, scratch: &mut Scratch) -> (usize, usize) {
    let shape = shape::detect(record).expect("a known shape");
    let decoded = shape::decode(record, shape, "c").expect("a conversation");
    let conversation: &Conversation<'_> = &decoded.conversation;
    let condensed = engine.condense(conversation, scratch);
    let (mut n_marks, mut n_references) = (0, 0);
    // Bare lines that sources have shown so far, and those that stood in any text or argument.
    let (mut visible, mut known): (HashSet<String>, HashSet<String>) = Default::default();
    let plain_lines = |text: &str| text.lines().map(|line| plain(bare(line))).collect::<Vec<_>>();
    for output in &condensed.messages {
        let (index, views) = match output {
            Output::Kept { index } => (*index, &[][..]),
            Output::Replaced(replaced) => (replaced.sources[0], &replaced.views[..]),
        };
        let message = &conversation.messages[index];
        let mut shown: Vec<String> = Vec::new();
        for (part, text) in (0..).map_while(|part| (part < 64).then(|| (part, message.text_at(part)))) {
            let Some(text) = text else { continue };
            let own = if message.role == Role::Assistant { Vec::new() } else { plain_lines(text) };
            let Some(view) = views.iter().find(|view| view.call.is_none() && view.part == part) else {
                shown.push(text.to_owned());
                known.extend(own);
                continue;
            };
            let written = view.apply(text).expect("copies ascend, at borders of characters");
            if serde_json::from_str::<serde_json::Value>(text).is_ok() {
                assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok(), "no JSON any more: {written}");
            }
            for (says, hidden) in marks(view, text) {
                n_marks += 1;
                assert!(!hidden.is_empty(), "{says} hides nothing");
                // `⋯ 12 lines as in Read auth.go #10`: each of them is visible; `⋯ 12 lines, 9 as in …`: nine of them;
                // `unchanged since`: they stood there.
                let by = [(" as in ", &visible), (" unchanged since ", &known)];
                let reference = by.iter().find_map(|(word, there)| Some((says.split_once(word)?.0, *there)));
                let Some((count, there)) = reference.filter(|_| says.ends_with('\n')) else { continue };
                n_references += 1;
                let lines = plain_lines(hidden);
                let n_blank = lines.iter().filter(|line| line.is_empty()).count();
                let n_there = lines.iter().filter(|line| !line.is_empty() && there.contains(*line)).count();
                let claimed = count
                    .trim_end_matches(',')
                    .rsplit_once(", ")
                    .map_or(lines.len(), |(_, n)| n.parse::<usize>().expect("a number"));
                assert!(n_there + n_blank >= claimed, "{says}: {n_there} there, {n_blank} blank of\n{hidden}");
            }
            shown.push(written);
            known.extend(own);
        }
        for call in &message.tool_calls {
            let arguments = serde_json::from_str::<serde_json::Value>(&call.arguments).unwrap_or_default();
            strings(&arguments, &mut |text| known.extend(plain_lines(text)));
        }
        if message.role != Role::Assistant {
            visible.extend(shown.iter().flat_map(|text| text.lines()).map(|line| plain(bare(line))));
        }
    }
    (n_marks, n_references)
}

/// Without a budget, and with one in which most sessions find room when a part of what is used gives way.
fn engines() -> [Engine; 2] {
    [None, Some(6_000)].map(|token_budget| {
        Engine::new(EngineOptions { token_budget, ..EngineOptions::default() }).expect("the options are right")
    })
}

#[test]
fn views_of_corpora_apply_parse_and_refer_back_to_what_is_visible() {
    let [engine, limited] = engines();
    let mut n_all = (0, 0);
    for (name, lines) in corpora::lines() {
        let check = |scratch: &mut Scratch, line: &String| {
            check(line, &limited, scratch);
            check(line, &engine, scratch)
        };
        let counts: Vec<(usize, usize)> = lines.par_iter().map_init(Scratch::default, check).collect();
        let (marks, references) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        println!("{name}: {marks} marks, {references} references");
        n_all = (n_all.0 + marks, n_all.1 + references);
    }
    assert!(n_all.0 > 400 && n_all.1 > 10, "{n_all:?}");
}

/// Checks why units stay or go against what is shown; gives how many units there are.
fn check_units(record: &str, engine: &Engine, scratch: &mut Scratch) -> u32 {
    let decoded = shape::decode(record, shape::detect(record).expect("a known shape"), "c").expect("a conversation");
    let explained = engine.explain(&decoded.conversation, scratch);
    let mut n_units = 0;
    for output in &explained.condensed.messages {
        let Output::Replaced(replaced) = output else { continue };
        let index = replaced.sources[0];
        let notes = &explained.messages[index].units;
        let counts: UnitCounts = explained.condensed.decisions[index].units.unwrap_or_default();
        let n = counts.pin
            + counts.skeleton
            + counts.filler
            + counts.bridge
            + counts.budget
            + counts.said_before
            + counts.unused;
        n_units += n;
        assert!(notes.len() <= n as usize, "{notes:?} {counts:?}");
        for note in notes {
            let is_hidden = matches!(note.reason, UnitReason::Budget | UnitReason::SaidBefore | UnitReason::Unused);
            // Of what gave way to a budget it is told, too, who uses it.
            let is_used = note.reason == UnitReason::Pin;
            let may_be_used = is_used || engine.options().token_budget.is_some();
            assert!(note.used_by.is_some() >= is_used && note.used_by.is_some() <= may_be_used, "{note:?}");
            assert!(note.used_by.as_ref().is_none_or(|&(message, _)| message > index), "{index} {note:?}");
            assert!(note.said_by.is_none_or(|message| message < index), "{index} {note:?}");
            let view = replaced.views.iter().find(|view| view.call.is_none() && view.part == note.part);
            let Some(view) = view else { continue };
            let text = decoded.conversation.messages[index].text_at(note.part).expect("a text");
            let is_blank = text.get(note.bytes.0..note.bytes.1).is_some_and(|unit| unit.trim().is_empty());
            let shares_a_line = |other: &&condenser::model::UnitNote| {
                other.part == note.part && other.lines.0 <= note.lines.1 && note.lines.0 <= other.lines.1
            };
            if is_blank
                || serde_json::from_str::<serde_json::Value>(text).is_ok()
                || notes.iter().filter(shares_a_line).count() > 1
            {
                continue;
            }
            let copied: String = view
                .ops
                .iter()
                .filter_map(|op| if let ViewOp::Copy(from, to) = *op { Some((from, to)) } else { None })
                .filter_map(|(from, to)| text.get(from.max(note.bytes.0)..to.min(note.bytes.1)))
                .collect();
            assert_eq!(copied.trim().is_empty(), is_hidden, "m{index} {note:?}: {copied:?}");
        }
    }
    n_units
}

#[test]
fn no_unit_of_corpora_is_both_shown_and_counted_as_hidden() {
    let [engine, limited] = engines();
    let mut n_units = 0;
    for (_, lines) in corpora::lines() {
        // A look at every unit takes a few times as long.
        let some: Vec<&String> = lines.iter().step_by(4).collect();
        let check = |scratch: &mut Scratch, line: &&String| {
            check_units(line, &limited, scratch) + check_units(line, &engine, scratch)
        };
        n_units += some.par_iter().map_init(Scratch::default, check).sum::<u32>();
    }
    assert!(n_units > 1000, "{n_units}");
}

/// The first `n` messages of a record with all else that it has.
fn beginning(record: &str, n: usize) -> String {
    let mut record: serde_json::Value = serde_json::from_str(record).expect("JSON");
    for key in ["messages", "conversations", "history"] {
        if let Some(messages) = record.get_mut(key).and_then(serde_json::Value::as_array_mut) {
            messages.truncate(n);
        }
    }
    record.to_string()
}

#[test]
fn a_conversation_of_corpora_compacted_in_rounds_ends_like_one_compacted_once() {
    let mut n_rounds = 0;
    for (_, lines) in corpora::lines() {
        let some: Vec<&String> = lines.iter().step_by(if lines.len() > 100 { 20 } else { 2 }).collect();
        n_rounds += some.par_iter().filter(|record| compact_in_rounds(record)).count();
    }
    assert!(n_rounds > 5, "{n_rounds}");
}

/// Compacts a conversation at two cuts and at its end, each time from what the round before restores and what was added;
/// true when the first round hid something.
fn compact_in_rounds(record: &str) -> bool {
    let mut compressor = Compressor::new(EngineOptions::default()).expect("options");
    let decoded = shape::decode(record, shape::detect(record).expect("a known shape"), "c").expect("a conversation");
    let n_messages = decoded.conversation.messages.len();
    let whole = beginning(record, usize::MAX);
    let Ok(once) = compressor.compress(&whole) else { return false };
    let mut stored: Option<Compressed> = None;
    let mut has_hidden = false;
    for n in [n_messages * 2 / 5, n_messages * 7 / 10, usize::MAX] {
        let now = beginning(&whole, n);
        if let Some(before) = &stored {
            let restored = restore(&before.record, &before.sidecar).expect("the round before restores");
            has_hidden |= before.record.len() < restored.len();
            let n_before = messages_of(&restored);
            assert_eq!(beginning(&now, n_before), restored, "what was added stands behind");
        }
        let Ok(compressed) = compressor.compress(&now) else { return false };
        assert_eq!(restore(&compressed.record, &compressed.sidecar).expect("it restores"), now);
        stored = Some(compressed);
    }
    let last = stored.expect("three rounds");
    assert_eq!((last.record, last.metrics.grounding), (once.record, once.metrics.grounding));
    has_hidden
}

#[test]
fn what_is_decided_once_in_corpora_stays_whatever_follows() {
    let mut n_hidden = 0;
    for (_, lines) in corpora::lines() {
        let some: Vec<&String> = lines.iter().step_by(if lines.len() > 100 { 20 } else { 2 }).collect();
        n_hidden += some.par_iter().map(|record| decide_once(record)).sum::<usize>();
    }
    assert!(n_hidden > 5, "{n_hidden}");
}

/// Compresses the beginning of a conversation and the whole with `strict`, which show the same of what left the window of the
/// beginning; gives how many messages of it were shortened.
fn decide_once(record: &str) -> usize {
    let options = EngineOptions { look_ahead: LookAhead::Strict, ..EngineOptions::default() };
    let window = options.recency_window;
    let mut compressor = Compressor::new(options).expect("options");
    let n = messages_of(record).saturating_mul(3) / 5;
    let begun = beginning(record, n);
    let (Ok(begun), Ok(whole)) = (compressor.compress(&begun), compressor.compress(record)) else { return 0 };
    let shown = |record: &str| -> Option<Vec<serde_json::Value>> {
        let record: serde_json::Value = serde_json::from_str(record).expect("JSON");
        ["messages", "conversations", "history"].into_iter().find_map(|key| record.get(key)?.as_array().cloned())
    };
    let (Some(begun), Some(whole), Some(said)) = (shown(&begun.record), shown(&whole.record), shown(record)) else {
        return 0;
    };
    let decided = begun.len().saturating_sub(window);
    assert_eq!(begun[..decided], whole[..decided]);
    begun[..decided].iter().zip(&said).filter(|(shown, said)| shown != said).count()
}

fn messages_of(record: &str) -> usize {
    let record: serde_json::Value = serde_json::from_str(record).expect("JSON");
    let lists = ["messages", "conversations", "history"].into_iter().filter_map(|key| record.get(key)?.as_array());
    lists.map(Vec::len).max().unwrap_or(usize::MAX)
}

/// A result of a tool that nothing after it uses, in so many lines.
fn listing(n: usize) -> String {
    (0..n).map(|at| format!("drwxr-xr-x plain entry {}\n", "x".repeat(1 + at % 9))).collect()
}

/// Blocks of the Messages API: two calls at once, and what a person says beside their results.
fn blocks(said: &str) -> String {
    let call = |id: &str, path: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {"path": path}});
    let result = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let [one, other] = ["one", "other"].map(|name| format!("begin of {name}\n{}end of {name}", listing(40)));
    let messages = json!([
        {"role": "user", "content": "Compare them."},
        {"role": "assistant", "content": [call("a", "src/one.rs"), call("b", "src/other.rs")]},
        {"role": "user", "content": [result("a", &one), result("b", &other), {"type": "text", "text": said}]},
        {"role": "assistant", "content": [call("c", "src/other.rs"), call("d", "src/one.rs")]},
        {"role": "user", "content": [result("c", &other), result("d", &one)]},
        {"role": "assistant", "content": "They are alike."},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "Welcome."},
        {"role": "user", "content": "Bye."},
    ]);
    json!({"messages": messages}).to_string()
}

#[test]
fn blocks_of_a_message_are_of_their_own_calls_and_what_is_said_beside_them_stays() {
    let said = "But mind that both of them are generated, so look at the template first, please.\n".repeat(15);
    let record = blocks(&said);
    let mut compressor = Compressor::new(EngineOptions::default()).expect("options");
    let compressed = compressor.compress(&record).expect("it compresses");
    assert_eq!(restore(&compressed.record, &compressed.sidecar).expect("it restores"), record);
    let shown: serde_json::Value = serde_json::from_str(&compressed.record).expect("JSON");
    let parts = |message: usize, key: &str| -> Vec<String> {
        let blocks = shown["messages"][message]["content"].as_array().expect("blocks");
        blocks.iter().filter_map(|block| Some(block[key].as_str()?.to_owned())).collect()
    };
    let results = parts(2, "content");
    assert!(results.iter().all(|text| text.contains(" lines") && text.len() < 600), "{results:?}");
    assert_eq!(parts(2, "text"), [said]);
    let again = parts(4, "content");
    for (text, name) in again.iter().zip(["other.rs", "one.rs"]) {
        assert!(text.contains(&format!("since Read {name}")), "{text}");
    }
}

#[test]
fn what_a_thinking_block_uses_stays() {
    let read = format!("begin\n{}the key is needle_in_it\n{}end", listing(20), listing(20));
    let record = |thought: &str| {
        let call = json!({"type": "tool_use", "id": "a", "name": "Read", "input": {"path": "src/one.rs"}});
        let messages = json!([
            {"role": "user", "content": "Compare them."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": &read}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": thought, "signature": "s"}, {"type": "text", "text": "They are alike."}]},
            {"role": "user", "content": "Thanks."},
            {"role": "assistant", "content": "Welcome."},
            {"role": "user", "content": "Bye."},
        ]);
        json!({"messages": messages}).to_string()
    };
    let mut compressor = Compressor::new(EngineOptions::default()).expect("options");
    let mut compress = |thought: &str| compressor.compress(&record(thought)).expect("it compresses");
    let (with, without) = (compress("There is a needle_in_it."), compress("There is nothing."));
    assert!(with.record.contains("key is needle_in_it") && !without.record.contains("key is needle_in_it"));
    assert_eq!(with.metrics.grounding, without.metrics.grounding);
    assert_eq!(restore(&with.record, &with.sidecar).expect("it restores"), record("There is a needle_in_it."));
}
