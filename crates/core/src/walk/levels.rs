//! That every level of the order in which things give way shows a part of what the one before shows, told by sessions that look
//! like chance.

use crate::model::{LookAhead, Message, Role, Thought, ViewOp};

use super::tests::{Said, check, conversation, file, filling};
use super::{FILLERS, LAST_THRESHOLD, Level, Prediction, Rules, SaidBy, Standing, UseModel, Walker};

/// A number of a sequence that looks like chance.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

/// A result of a tool, of one kind or another.
fn result(seed: &mut u64) -> String {
    let name = |seed: &mut u64| format!("value_of_{}", next(seed) % 40);
    match next(seed) % 7 {
        0 => (0..40).map(|at| format!("{at}\tlet {} = {};\n", name(seed), 100 + next(seed) % 900)).collect(),
        1 => {
            let lines: String = (0..30).map(|at| format!("test {}::case_{at} ... ok\n", name(seed))).collect();
            format!("{lines}error: {} is not what was expected\n1 failed, 29 passed\n[exit code 1]\n", name(seed))
        }
        2 => {
            let row = |seed: &mut u64| {
                let (name, n) = (name(seed), next(seed) % 900);
                serde_json::json!({"id": name, "count": 100 + n, "note": "nothing of note stands in this row"})
            };
            serde_json::json!({"rows": (0..12).map(|_| row(seed)).collect::<Vec<_>>(), "exit_code": 0}).to_string()
        }
        3 => (0..8).map(|_| format!("{} {}; ", name(seed), "plain words that go on and on".repeat(3))).collect(),
        4 => file(&format!("    fn {}() {{\n        let x = {};\n    }}", name(seed), name(seed))),
        5 => (0..25).map(|at| format!("src/a_{at}.rs:{}: {}\n", 10 + at, name(seed))).collect(),
        _ => format!(
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    {}()\n{}ValueError: no\n",
            name(seed),
            filling(20)
        ),
    }
}

/// A session in which answers and calls use some of what results show.
fn session(seed: &mut u64) -> Vec<(SaidBy, String, String)> {
    let task = format!(
        "Please find out why the build fails on my machine.\n{}\nI think it is the parser.\n",
        result(seed).repeat(3)
    );
    let mut said = vec![(SaidBy::Human, task, String::new())];
    for _ in 0..4 + next(seed) % 8 {
        let (a, b) = (next(seed) % 40, next(seed) % 40);
        let text = format!("I see value_of_{a}, and the count of value_of_{b} is {}.", 100 + next(seed) % 900);
        said.push((SaidBy::Assistant, text, format!(r#"{{"path": "src/a_{}.rs"}}"#, next(seed) % 25)));
        let again = said.iter().rev().find(|said| said.0 == SaidBy::Result && next(seed).is_multiple_of(4)).cloned();
        said.push(again.unwrap_or_else(|| (SaidBy::Result, result(seed), String::new())));
        if next(seed).is_multiple_of(5) {
            said.push((SaidBy::Human, format!("Look at this.\n{}", result(seed).repeat(2)), String::new()));
        }
    }
    said
}

#[test]
fn every_level_shows_a_part_of_what_the_one_before_shows() {
    check_levels(None, &|n| (0..=Level::count(n)).map(|number| Level::nth(number, n)).collect());
}

/// Thresholds, closer to each other where worths are.
fn thresholds(n_messages: usize) -> Vec<Level> {
    let worths = (0..40_000).step_by(500).chain((40_000..=LAST_THRESHOLD).step_by(3_000));
    worths.map(|threshold| Level::at(threshold, n_messages)).collect()
}

#[test]
fn a_higher_threshold_shows_a_part_of_what_a_lower_one_shows() {
    let model = UseModel::built_in();
    let predicts = Prediction { model: &model, how_far: LookAhead::Turns, takes_answers: false };
    check_levels(Some(predicts), &thresholds);
}

#[test]
fn a_higher_threshold_shows_a_part_of_what_a_lower_one_shows_without_look_ahead() {
    let model = UseModel::built_in();
    let predicts = Prediction { model: &model, how_far: LookAhead::Off, takes_answers: true };
    check_levels(Some(predicts), &thresholds);
}

/// Walks over sessions at levels, each of which shows a part of what the one before shows.
fn check_levels(predicts: Option<Prediction<'_>>, levels: &dyn Fn(usize) -> Vec<Level>) {
    let mut seed = 7;
    let mut n_taken = 0;
    for _ in 0..20 {
        let said = session(&mut seed);
        let said: Vec<Said<'_>> = said.iter().map(|(by, text, call)| (*by, text.as_str(), call.as_str())).collect();
        let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
        let (mut conversation, n) = (conversation(&said), said.len());
        // Where it gives way, what is thought is as long as what was read.
        let is_result = |&&(by, ..): &&Said<'_>| by == SaidBy::Result;
        let mut thoughts = said.iter().filter(is_result).map(|said| Thought { text: said.1.into(), places: vec![""] });
        let may_think = |message: &&mut Message<'_>| message.role == Role::Assistant;
        for message in conversation.messages.iter_mut().filter(may_think) {
            message.reasoning.extend(thoughts.next());
        }
        let conversation = conversation;
        // Of each message what it says, and what it thinks.
        let thought =
            |message: usize| conversation.messages[message].reasoning.first().map_or("", |thought| &*thought.text);
        let texts: Vec<&str> = (0..n).flat_map(|message| [said[message].1, thought(message)]).collect();
        let whole = texts.iter().map(|text| vec![true; text.len()]).collect::<Vec<_>>();
        let mut before = (whole.clone(), 0);
        for (number, level) in levels(n).into_iter().enumerate() {
            let rules = Rules {
                recency_window: 3,
                min_recency_window: 1,
                level,
                predicts,
                explains: true,
                fillers: if predicts.is_some() { 0 } else { FILLERS },
                ..Rules::default()
            };
            let shown = Walker::default().walk(&conversation, &by, rules, &|_| Standing::Free);
            let mut now = whole.clone();
            for view in &shown {
                let number = 2 * view.message + usize::from(view.view.thought.is_some());
                check(texts[number], view);
                now[number].fill(false);
                for op in &view.view.ops {
                    if let ViewOp::Copy(from, to) = *op {
                        now[number][from..to].fill(true);
                    }
                }
            }
            for (text, (now, before)) in now.iter().zip(&before.0).enumerate() {
                let new = now.iter().zip(before).position(|(&now, &before)| now && !before);
                assert_eq!(new, None, "{level:?}, number {number} of {n} messages, text {text}:\n{}", texts[text]);
            }
            let n_shown = now.iter().flatten().filter(|&&is_shown| is_shown).count();
            n_taken += usize::from(number > 0 && n_shown < before.1);
            before = (now, n_shown);
        }
        // The message that no budget takes, and how programs ended.
        assert!(before.0[2 * (n - 1)].iter().all(|&is_shown| is_shown));
        for (shown, said) in before.0.iter().step_by(2).zip(&said).filter(|(_, said)| said.0 == SaidBy::Result) {
            for ending in ["1 failed, 29 passed", "[exit code 1]"] {
                let stands = said.1.rfind(ending).is_none_or(|at| shown[at]);
                assert!(stands, "{ending} of\n{}", said.1);
            }
        }
    }
    assert!(n_taken > 100, "{n_taken}");
}
