//! Compaction by use over whole corpora: what holds of every view, whatever was used.

use std::collections::HashSet;

use condenser::engine::{Engine, Scratch};
use condenser::model::{Conversation, EngineOptions, Output, PartView, Role, ViewOp};
use condenser::shape;
use rayon::prelude::*;

use crate::support::corpora;

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

/// Checks the views of a conversation; gives how many marks and how many references it has.
fn check(record: &str, engine: &Engine, scratch: &mut Scratch) -> (usize, usize) {
    let shape = shape::detect(record).expect("a known shape");
    let decoded = shape::decode(record, shape, "c").expect("a conversation");
    let conversation: &Conversation<'_> = &decoded.conversation;
    let condensed = engine.condense(conversation, scratch);
    let (mut n_marks, mut n_references) = (0, 0);
    // Bare lines that sources have shown so far.
    let mut visible: HashSet<String> = HashSet::new();
    for output in &condensed.messages {
        let (index, views) = match output {
            Output::Kept { index } => (*index, &[][..]),
            Output::Replaced(replaced) => (replaced.sources[0], &replaced.views[..]),
        };
        let message = &conversation.messages[index];
        let mut shown: Vec<String> = Vec::new();
        for (part, text) in (0..).map_while(|part| (part < 64).then(|| (part, message.text_at(part)))) {
            let Some(text) = text else { continue };
            let Some(view) = views.iter().find(|view| view.part == part) else {
                shown.push(text.to_owned());
                continue;
            };
            let written = view.apply(text).expect("copies ascend, at borders of characters");
            if serde_json::from_str::<serde_json::Value>(text).is_ok() {
                assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok(), "no JSON any more: {written}");
            }
            for (says, hidden) in marks(view, text) {
                n_marks += 1;
                assert!(!hidden.is_empty(), "{says} hides nothing");
                // `⋯ 12 lines as in Read auth.go #10`: each of them is visible; `⋯ 12 lines, 9 as in …`: nine of them.
                let Some((count, _)) = says.split_once(" as in ").filter(|_| says.ends_with('\n')) else { continue };
                n_references += 1;
                let solid: Vec<&str> = hidden.lines().map(bare).filter(|line| !line.is_empty()).collect();
                let n_visible = solid.iter().filter(|line| visible.contains(**line)).count();
                let n_blank = hidden.lines().count() - solid.len();
                let claimed = count
                    .rsplit_once(", ")
                    .map_or(solid.len() + n_blank, |(_, n)| n.parse::<usize>().expect("a number"));
                assert!(n_visible + n_blank >= claimed, "{says}: {n_visible} visible, {n_blank} blank of\n{hidden}");
            }
            shown.push(written);
        }
        if message.role != Role::Assistant {
            visible.extend(shown.iter().flat_map(|text| text.lines()).map(|line| bare(line).to_owned()));
        }
    }
    (n_marks, n_references)
}

#[test]
fn views_of_corpora_apply_parse_and_refer_back_to_what_is_visible() {
    let engine = Engine::new(EngineOptions::default()).expect("options");
    let mut n_all = (0, 0);
    for (name, lines) in corpora::lines() {
        let counts: Vec<(usize, usize)> =
            lines.par_iter().map_init(Scratch::default, |scratch, line| check(line, &engine, scratch)).collect();
        let (marks, references) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        println!("{name}: {marks} marks, {references} references");
        n_all = (n_all.0 + marks, n_all.1 + references);
    }
    assert!(n_all.0 > 400 && n_all.1 > 5, "{n_all:?}");
}
