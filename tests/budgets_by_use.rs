//! Token budgets where use decides what is hidden: one order in which things give way, and that a larger budget never shows
//! less.

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    Action, AssistantText, BudgetStrategy, Condensed, Conversation, EngineOptions, NewBody, Output, Reason,
    Replacement, ShapeName, UnitReason, ViewOp,
};
use condenser::shape;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::talk::{Done, compress_record, prose, record_of};

fn budget(tokens: usize) -> EngineOptions {
    EngineOptions { token_budget: Some(tokens), ..EngineOptions::default() }
}

/// Lines that nothing speaks of.
fn filling(n: usize) -> String {
    (0..n).map(|at| format!("    plain words of row {} here\n", "x".repeat(1 + at % 7))).collect()
}

/// A call, and what came back.
fn call(id: usize, says: &str, result: &str) -> [Value; 2] {
    let id = format!("call_{id}");
    let function = json!({"name": "Read", "arguments": json!({"path": format!("src/{id}.rs")}).to_string()});
    [
        json!({"role": "assistant", "content": says, "tool_calls": [{"id": id, "type": "function", "function": function}]}),
        json!({"role": "tool", "tool_call_id": id, "content": result}),
    ]
}

/// A file of which a line is used, a run that failed, a long answer and long words; then what is recent.
fn session() -> Vec<Value> {
    let file =
        format!("fn first_of_all() {{\n{}    let limit = max_retries_of(config);\n{}}}\n", filling(30), filling(30));
    let log = format!("running 31 tests\n{}31 passed, 2 failed\n[exit code: 1]\n", filling(40));
    let listing = format!("one\n{}    let other = min_delay_of(config);\n{}two\n", filling(40), filling(20));
    let mut all = vec![
        json!({"role": "system", "content": prose(300)}),
        json!({"role": "user", "content": "Find out why the retries are off, please."}),
    ];
    all.extend(call(1, "", &file));
    all.extend(call(2, "It is max_retries_of that counts.", &log));
    all.push(json!({"role": "assistant", "content": prose(2_000)}));
    all.push(json!({"role": "user", "content": format!("I see. {}", prose(900))}));
    all.extend(call(3, "", &listing));
    all.push(json!({"role": "assistant", "content": "Then min_delay_of is the one."}));
    all.push(json!({"role": "user", "content": "Good."}));
    all.extend(call(4, "", &format!("the last file\n{}the end of it\n", filling(30))));
    all
}

fn done(options: &EngineOptions) -> Done {
    compress_record(&record_of(&session()), options)
}

/// The least budget with which `holds` is true, and what comes out with it.
fn least(holds: impl Fn(&Done) -> bool, options: impl Fn(usize) -> EngineOptions) -> (usize, Done) {
    let found = (100..4_000).step_by(10).map(|tokens| (tokens, done(&options(tokens)))).find(|(_, done)| holds(done));
    found.expect("a budget of everything does it")
}

#[test]
fn what_gives_way_first_needs_the_largest_budget() {
    let shows = |words: &'static str| move |done: &Done| done.visible().contains(words);
    let is_whole = |index: usize| move |done: &Done| done.decisions[index].0 == Action::Preserved;
    let of = |holds: &dyn Fn(&Done) -> bool| least(holds, budget).0;
    let order = [
        of(&shows("first_of_all")),
        of(&shows("max_retries_of(config)")),
        of(&shows("min_delay_of(config)")),
        of(&is_whole(6)),
        of(&is_whole(7)),
        of(&is_whole(13)),
    ];
    assert!(order.is_sorted_by(|a, b| a > b), "{order:?}");
}

#[test]
fn how_a_run_ended_stays_whatever_the_budget() {
    for tokens in [1, 300, 900] {
        let done = done(&budget(tokens));
        done.shows("31 passed, 2 failed").shows("[exit code: 1]").shows("Find out why the retries are off");
        assert_eq!(done.decisions[0], (Action::Preserved, Reason::PreservedRole));
    }
}

#[test]
fn the_recent_messages_stay_until_all_else_has_given_way_and_the_last_ones_for_good() {
    let window = |done: &Done| done.metrics.budget.expect("there is a budget").recency_window;
    let (tokens, all) = least(|done| window(done) == 4, budget);
    all.hides("max_retries_of(config)").because(7, Reason::BudgetTightened);
    assert_eq!(window(&done(&budget(tokens - 10))), 0, "the last message is all that is recent and long");
    let last = done(&EngineOptions { min_recency_window: 2, ..budget(1) });
    assert_eq!((window(&last), last.metrics.budget.expect("there is one").fits), (2, false));
    last.is(13, Action::Preserved);
}

#[test]
fn answers_that_are_kept_and_system_prompts_are_never_taken() {
    for force_converge in [false, true] {
        let keep = EngineOptions { assistant: AssistantText::Keep, force_converge, ..budget(200) };
        let done = done(&keep);
        done.is(0, Action::Preserved).is(6, Action::Preserved).shows(&prose(2_000));
        let outcome = done.metrics.budget.expect("there is a budget");
        assert!(!outcome.fits && outcome.protected_tokens > 200, "{outcome:?}");
    }
}

#[test]
fn long_arguments_that_repeat_a_text_give_way_unless_answers_are_kept() {
    let mut messages = session();
    let rows: String = (0..24).map(|at| format!("the user says what row {at} of it is to be\n")).collect();
    messages[1]["content"] = json!(format!("Please write this to a file.\n{rows}"));
    let write = json!({"path": "src/copy.rs", "content": rows}).to_string();
    messages[4]["tool_calls"][0]["function"] = json!({"name": "Write", "arguments": write});
    let record = record_of(&messages);
    let whole = compress_record(&record, &budget(3_000)).record;
    assert!(whole.contains(&json!(write).to_string()), "nothing of it gives way yet");
    let least = compress_record(&record, &budget(1)).record;
    assert!(!least.contains(&json!(write).to_string()) && least.contains("24 lines, unchanged since"), "{least}");
    let keep = EngineOptions { assistant: AssistantText::Keep, ..budget(1) };
    assert!(compress_record(&record, &keep).record.contains(&json!(write).to_string()));
}

#[test]
fn both_strategies_are_one_order() {
    for tokens in [300, 700, 1_500] {
        let tiered = EngineOptions { budget_strategy: BudgetStrategy::Tiered, ..budget(tokens) };
        assert_eq!(done(&budget(tokens)).record, done(&tiered).record);
    }
}

#[test]
fn old_answers_become_shorter_where_they_may_and_what_they_use_stays() {
    let with = |assistant| done(&EngineOptions { assistant, ..EngineOptions::default() });
    for assistant in [AssistantText::Auto, AssistantText::Keep] {
        with(assistant).because(6, Reason::Answer).shows(&prose(2_000));
    }
    let old = with(AssistantText::Old);
    old.because(6, Reason::CompressibleProse).hides(&prose(2_000)).shows("max_retries_of(config)");
    old.is(4, Action::Preserved).is(8, Action::Preserved);
}

#[test]
fn what_is_within_its_budget_stays_as_it_is() {
    let done = done(&budget(100_000));
    assert!(done.decisions.iter().all(|&decision| decision == (Action::Preserved, Reason::WithinBudget)));
    assert_eq!(done.metrics.budget.map(|outcome| outcome.recency_window), Some(session().len()));
}

#[test]
fn force_converge_truncates_what_is_left() {
    let least = done(&budget(1)).metrics.tokens_out;
    let forced = done(&EngineOptions { force_converge: true, ..budget(least - 60) });
    assert!(forced.metrics.budget.is_some_and(|outcome| outcome.fits), "{:?}", forced.metrics.budget);
}

#[test]
fn a_truncated_text_has_no_marks() {
    let record = record_of(&session());
    let decoded = shape::decode(&record, ShapeName::Openai, "talk").expect("a record");
    let least = done(&budget(1)).metrics.tokens_out;
    let mut n_truncated = 0;
    for tokens in (least / 3..least).step_by(7) {
        let engine = Engine::new(EngineOptions { force_converge: true, ..budget(tokens) }).expect("options");
        for output in engine.condense(&decoded.conversation, &mut Scratch::default()).messages {
            let Output::Replaced(Replacement { body: NewBody::Text(text), views, .. }) = output else { continue };
            assert!(!text.contains('⋯') || !views.is_empty(), "{tokens}: {text}");
            assert!(!text.ends_with(": …]"), "{tokens}: nothing is left of {text}");
            n_truncated += usize::from(text.contains("truncated") && text.contains('…'));
        }
    }
    assert!(n_truncated > 0);
}

#[test]
fn units_that_gave_way_are_counted_and_told() {
    let record = record_of(&session());
    let decoded = shape::decode(&record, ShapeName::Openai, "talk").expect("a record");
    let tokens = least(|done| done.visible().contains("first_of_all"), budget).0 - 10;
    let engine = Engine::new(budget(tokens)).expect("the options are right");
    let explained = engine.explain(&decoded.conversation, &mut Scratch::default());
    let units = explained.condensed.decisions[3].units.expect("something of it is hidden");
    assert!(units.budget > 0 && units.pin > 0, "{units:?}");
    let notes = &explained.messages[3].units;
    let told = notes.iter().find(|note| note.reason == UnitReason::Budget).expect("one gave way");
    assert_eq!((told.lines, told.used_by.is_none()), ((1, 1), true));
    assert_eq!(explained.messages[3].chars_out, explained.condensed.decisions[3].chars_out);
}

/// Which bytes of each message are shown; `None` where something else stands for it.
fn shown(conversation: &Conversation<'_>, condensed: &Condensed) -> Vec<Option<Vec<bool>>> {
    let mut shown: Vec<Option<Vec<bool>>> = Vec::new();
    for (output, message) in condensed.messages.iter().zip(&conversation.messages) {
        let text = message.texts().next().unwrap_or_default();
        shown.push(match output {
            Output::Kept { .. } => Some(vec![true; text.len()]),
            Output::Replaced(replaced) => replaced.views.first().map(|view| {
                let mut bytes = vec![false; text.len()];
                for op in &view.ops {
                    if let ViewOp::Copy(from, to) = *op {
                        bytes[from..to].fill(true);
                    }
                }
                bytes
            }),
        });
    }
    shown
}

fn result() -> impl Strategy<Value = String> {
    let name = || (0..40_u8).prop_map(|at| format!("value_of_{at}"));
    prop_oneof![
        prop::collection::vec((name(), 100..999_u32), 10..60)
            .prop_map(|rows| rows.iter().map(|(name, n)| format!("let {name} = {n};\n")).collect()),
        (name(), 1..60_usize).prop_map(|(name, n)| format!("{}error: no {name}\n1 failed, {n} passed\n", filling(n))),
        prop::collection::vec((name(), 100..999_u32), 5..20).prop_map(|rows| {
            let row =
                |(name, n): &(String, u32)| json!({"id": name, "count": n, "note": "nothing of note in this row"});
            json!({"rows": rows.iter().map(row).collect::<Vec<_>>(), "ok": true}).to_string()
        }),
        (name(), 5..50_usize).prop_map(|(name, n)| format!("{}fn {name}()\n{}", filling(n), filling(n))),
    ]
}

fn talk() -> impl Strategy<Value = Vec<Value>> {
    let says = prop_oneof![
        3 => (0..40_u8, 100..999_u32).prop_map(|(at, n)| format!("The count of value_of_{at} is {n}.")),
        1 => (1..2_500_usize).prop_map(prose),
    ];
    let words = prop_oneof![4 => Just(String::new()), 1 => (1..1_400_usize).prop_map(prose), 1 => result()];
    prop::collection::vec((says, result(), words), 2..9).prop_map(|turns| {
        let task = format!("Look at this, please, and tell me what it is.\n{}", turns[0].1.repeat(2));
        let mut all = vec![json!({"role": "user", "content": task})];
        for (at, (says, result, words)) in turns.iter().enumerate() {
            all.extend(call(at, says, result));
            if !words.is_empty() {
                all.push(json!({"role": "assistant", "content": says}));
                all.push(json!({"role": "user", "content": words}));
            }
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_larger_budget_never_shows_less(messages in talk(), min_recency_window in 0..3_usize) {
        let record = record_of(&messages);
        let decoded = shape::decode(&record, ShapeName::Openai, "talk").expect("a record");
        let conversation = &decoded.conversation;
        let mut before: Option<(bool, Vec<Option<Vec<bool>>>)> = None;
        let mut scratch = Scratch::default();
        let all = Engine::new(EngineOptions::default()).expect("options").condense(conversation, &mut scratch).metrics;
        for percent in [4, 10, 20, 30, 45, 60, 75, 90, 100] {
            let options = EngineOptions { min_recency_window, ..budget((all.tokens_in * percent / 100).max(1)) };
            let condensed = Engine::new(options).expect("options").condense(conversation, &mut scratch);
            let outcome = condensed.metrics.budget.expect("there is a budget");
            prop_assert_eq!(outcome.token_count, condensed.metrics.tokens_out);
            let now = shown(conversation, &condensed);
            if let Some((fitted, before)) = &before {
                prop_assert!(!fitted || outcome.fits, "{percent} %: {outcome:?}");
                for (index, (before, now)) in before.iter().zip(&now).enumerate() {
                    let is_part = match (before, now) {
                        (Some(before), Some(now)) => before.iter().zip(now).all(|(&before, &now)| now || !before),
                        // It stands as prose.
                        (None, _) => true,
                        (Some(_), None) => false,
                    };
                    prop_assert!(is_part, "{percent} %: message {index} of {}", record);
                }
            }
            before = Some((outcome.fits, now));
        }
    }
}
