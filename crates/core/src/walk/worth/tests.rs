//! What stays when nobody looks ahead, told by small sessions; that more is shown for less worth; what a model says.

use super::sight::Name;
use crate::model::{LookAhead, ViewOp};
use crate::walk::tests::{Said, check, conversation};
use crate::walk::{Lessons, Level, MOST_WORTH, Prediction, Rules, SaidBy, Standing, UseModel, UsedText, Walker};

/// What is shown of a session of which nothing is recent but the last message.
fn walk(said: &[Said<'_>], model: &UseModel, threshold: u32) -> Vec<UsedText> {
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let predicts = Some(Prediction { model, how_far: LookAhead::Off, takes_answers: true });
    let level = Level::NOTHING.from_worth(threshold);
    let rules = Rules { recency_window: 1, min_saving: 1, level, predicts, ..Rules::default() };
    let shown = Walker::default().walk(&conversation(said), &by, rules, &|_| Standing::Free);
    for view in shown.iter().filter(|view| view.view.is_of_content()) {
        check(said[view.message].1, view);
    }
    shown
}

/// A file full of names.
fn file(name: &str) -> String {
    let of =
        |at: usize| format!("fn {name}_{at}(input_{at}: &str) {{\n    let {name}_of_{at} = input_{at}.len();\n}}\n");
    (0..40).map(of).collect()
}

#[test]
fn what_was_read_last_stays_longer() {
    let (old, new) = (file("old"), file("new"));
    let mut said = vec![
        (SaidBy::Human, "Mend it.", ""),
        (SaidBy::Assistant, "I look at it.", r#"{"path": "src/old.rs"}"#),
        (SaidBy::Result, old.as_str(), ""),
    ];
    for _ in 0..10 {
        said.extend([(SaidBy::Assistant, "I run it.", r#"{"command": "make"}"#), (SaidBy::Result, "done", "")]);
    }
    said.extend([
        (SaidBy::Assistant, "I look at the other one.", r#"{"path": "src/new.rs"}"#),
        (SaidBy::Result, new.as_str(), ""),
        (SaidBy::Human, "Then go on.", ""),
    ]);
    let model = UseModel::built_in();
    let n_shown = |shown: &[UsedText], message: usize, whole: &str| {
        shown.iter().find(|shown| shown.message == message).map_or(whole.len(), |shown| shown.text.len())
    };
    let at = |threshold: u32| {
        let shown = walk(&said, &model, threshold);
        (n_shown(&shown, 2, &old), n_shown(&shown, said.len() - 2, &new))
    };
    let half = (0..60).map(|step| at(step * 500)).find(|(old, new)| old + new < 3_500).expect("it becomes short");
    assert!(half.0 * 2 < half.1, "{half:?}");
    assert_eq!(walk(&said, &model, 0), [], "nothing is worth less than nothing");
}

#[test]
fn what_tells_what_a_text_was_gives_way_before_how_it_ended() {
    let lines: String = (0..30).map(|at| format!("it goes on as it did {}\n", "and on ".repeat(at))).collect();
    let result = format!("We begin with what there is to do\n{lines}1 failed, 29 passed\n[exit code 1]\n");
    let said = [
        (SaidBy::Human, "Mend it.", ""),
        (SaidBy::Assistant, "I run it.", r#"{"command": "make"}"#),
        (SaidBy::Result, result.as_str(), ""),
        (SaidBy::Human, "Then go on.", ""),
    ];
    let model = UseModel::built_in();
    let shown = |threshold: u32| walk(&said, &model, threshold).remove(0).text;
    let (some, few) = (shown(17_000), shown(26_000));
    assert!(some.starts_with("We begin") && !few.contains("We begin"), "{some}\n{few}");
    for ending in ["1 failed, 29 passed", "[exit code 1]"] {
        assert!(some.contains(ending) && few.contains(ending), "{few}");
    }
}

#[test]
fn less_worth_shows_all_that_more_worth_shows() {
    let file = file("step_number");
    let answer = format!("I went through it.\n{}", "I saw made_of_3 and what is around it. ".repeat(40));
    let said = [
        (SaidBy::Human, "Mend step_number_17.", ""),
        (SaidBy::Assistant, "I look at it.", r#"{"path": "src/steps.rs"}"#),
        (SaidBy::Result, file.as_str(), ""),
        (SaidBy::Assistant, answer.as_str(), r#"{"path": "src/steps.rs"}"#),
        (SaidBy::Result, file.as_str(), ""),
        (SaidBy::Human, "Then go on.", ""),
    ];
    let model = UseModel::built_in();
    let whole: Vec<Vec<bool>> = said.iter().map(|said| vec![true; said.1.len()]).collect();
    let mut before: Option<Vec<Vec<bool>>> = None;
    let mut n_shown = Vec::new();
    for threshold in (0..=30_000).rev().step_by(500) {
        let mut now = whole.clone();
        for view in walk(&said, &model, threshold) {
            now[view.message].fill(false);
            for op in &view.view.ops {
                if let ViewOp::Copy(from, to) = *op {
                    now[view.message][from..to].fill(true);
                }
            }
        }
        if let Some(before) = &before {
            for (message, (now, before)) in now.iter().zip(before).enumerate() {
                let lost = now.iter().zip(before).position(|(&now, &before)| before && !now);
                assert_eq!(lost, None, "at {threshold}, message {message}: {:?}", walk(&said, &model, threshold));
            }
        }
        n_shown.push(now.iter().flatten().filter(|&&is_shown| is_shown).count());
        before = Some(now);
    }
    n_shown.dedup();
    assert!(n_shown.len() > 5, "{n_shown:?}");
}

#[test]
fn a_model_is_read_as_it_was_written() {
    let model = UseModel::built_in();
    let text = model.to_string();
    assert_eq!(text.parse::<UseModel>().as_ref(), Ok(&*model));
    for (wrong, says) in [
        (text.replace("bias = ", "bias = x"), "is no whole number"),
        (text.replace("bias", "byas"), "has no `byas`"),
        (text.replace("[quote.own]", "[quote.own_]"), "there is no table"),
        (text.replace("use_model = 1", ""), "does not say"),
        (text.lines().filter(|line| !line.starts_with("has_dot")).collect::<Vec<_>>().join("\n"), "weights, not"),
        (format!("{text}\nwhat"), "expected `name = number`"),
    ] {
        let error = wrong.parse::<UseModel>().expect_err(says);
        assert!(error.contains(says), "{error}");
    }
}

/// A session in which of each result the last name is used three turns later, and never another one.
fn habit(session: usize) -> Vec<(SaidBy, String)> {
    let turn = |at: usize| {
        let rest: String = (0..20).map(|row| format!("other_{session}_{at}_{row}\n")).collect();
        let used = at.checked_sub(3).map(|used| format!("first_{session}_{used}.")).unwrap_or_default();
        [(SaidBy::Assistant, format!("I take {used}")), (SaidBy::Result, format!("{rest}first_{session}_{at}.\n"))]
    };
    (0..30).flat_map(turn).collect()
}

fn said(texts: &[(SaidBy, String)]) -> Vec<Said<'_>> {
    texts.iter().map(|(by, text)| (*by, text.as_str(), "")).collect()
}

#[test]
fn what_is_used_again_and_again_is_learned() {
    let mut lessons = Lessons::default();
    for session in 0..12 {
        let texts = habit(session);
        let by: Vec<SaidBy> = texts.iter().map(|said| said.0).collect();
        lessons.take(&conversation(&said(&texts)), &by);
    }
    let model = lessons.learn();
    let texts = habit(99);
    let said = said(&texts);
    assert_eq!(lessons.learn(), model, "the same twice");
    let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
    let predicts = Some(Prediction { model: &model, how_far: LookAhead::Off, takes_answers: true });
    let level = Level::NOTHING.from_worth(MOST_WORTH);
    let rules = Rules { recency_window: 1, level, predicts, ..Rules::default() };
    let mut walker = Walker::default();
    walker.walk(&conversation(&said), &by, rules, &|_| Standing::Free);
    let likely = |start: &[u8]| {
        let names = walker.worth.values.names.iter().zip(&walker.worth.choice.names);
        let is = |name: &Name| walker.texts.bytes()[name.span()].starts_with(start);
        // What an answer shows is visible.
        let all = names.filter(|(name, likely)| is(name) && **likely > 0).map(|(_, &likely)| u64::from(likely));
        let all: Vec<u64> = all.collect();
        all.iter().sum::<u64>() / all.len() as u64
    };
    assert!(likely(b"first_") > 10 * likely(b"other_"), "{} {}", likely(b"first_"), likely(b"other_"));
}
