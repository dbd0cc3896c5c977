//! Time grows with what is read and not with its square, whatever it is, wherever it stands and whatever is asked for:
//! from 50 KB to 400 KB, and from 12,500 to 100,000 messages, it grows eightfold. Quadratic would be 64 times; 16 times
//! are allowed, so that noise fails nothing.

mod chats;
mod found;
mod many;
mod patterns;
mod places;

use std::time::Duration;

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    AdapterName, Answer, Answers, Ask, BudgetStrategy, ClassifierMode, ClassifierSource, CompressionDepth, Consult,
    EngineOptions, HideBy, LookAhead, PreservePattern, ProvenancePlace, ShapeName, Strategy, Summarizer, SummaryMode,
    SystemPrompts,
};
use condenser::shape;
use serde_json::Value;

use crate::support::growth::{Clock, Slow, TEXT};
use crate::support::talk::{all, record_of};
use patterns::Pattern;
use places::{BESIDES, CONTENTS, WORDS, call, result, said};

/// Rulings, summaries, shorter ones, and what comes of them.
const MAX_ROUNDS: usize = 4;

/// What is asked for, and of how many patterns one is measured with it, beginning with which.
struct Setting {
    name: &'static str,
    every: usize,
    from: usize,
    /// The budgets are shares of the size.
    options: fn(n_tokens: usize) -> EngineOptions,
}

/// Every pattern meets the defaults, every option at once, and one of the two budgets.
const SETTINGS: [Setting; 8] = [
    Setting { name: "defaults", every: 1, from: 0, options: |_| EngineOptions::default() },
    Setting {
        name: "by use",
        every: 1,
        from: 0,
        options: |_| EngineOptions { hide_by: HideBy::Use, prompts: SystemPrompts::Once, ..all() },
    },
    Setting { name: "every option", every: 1, from: 0, options: |_| everything() },
    Setting {
        name: "a budget by binary search",
        every: 2,
        from: 0,
        options: |n_tokens| EngineOptions {
            token_budget: Some(n_tokens / 4),
            budget_strategy: BudgetStrategy::BinarySearch,
            force_converge: true,
            compression_depth: CompressionDepth::Auto,
            ..all()
        },
    },
    Setting {
        name: "a small budget by tiers",
        every: 2,
        from: 1,
        options: |n_tokens| EngineOptions {
            token_budget: Some(n_tokens / 40),
            budget_strategy: BudgetStrategy::Tiered,
            force_converge: true,
            discourse_aware: true,
            observation_threshold: 1_000,
            ..everything()
        },
    },
    Setting {
        name: "a model",
        every: 12,
        from: 1,
        options: |_| EngineOptions {
            summarizer: Summarizer::Escalating,
            classifier: ClassifierSource::Model,
            classifier_mode: ClassifierMode::Full,
            ..all()
        },
    },
    Setting {
        name: "insert-then-compress",
        every: 6,
        from: 4,
        options: |_| EngineOptions {
            strategy: Strategy::InsertThenCompress,
            compaction_tokens: 1_000,
            compaction_recent: 3,
            summarizer: Summarizer::Normal,
            ..all()
        },
    },
    Setting {
        name: "without look-ahead",
        every: 2,
        from: 1,
        options: |_| EngineOptions { look_ahead: LookAhead::Off, ..EngineOptions::default() },
    },
];
/// With which everything is done that can be.
const FULLEST: usize = 4;

/// Every switch is on.
fn everything() -> EngineOptions {
    EngineOptions {
        fuzzy_dedup: true,
        embed_summary_id: true,
        preserve_patterns: vec![PreservePattern { label: "id".into(), re: "KMS-\\d{9}".into() }],
        resummarize_after: 2,
        provenance: ProvenancePlace::Metadata,
        compression_depth: CompressionDepth::Moderate,
        importance_scoring: true,
        contradiction_detection: true,
        conversation_flow: true,
        semantic_clustering: true,
        coreference: true,
        agent_tool_prepass: true,
        adapters: AdapterName::ALL.to_vec(),
        relevance_threshold: Some(3.0),
        ..all()
    }
}

#[test]
fn time_grows_with_the_text_with_default_options() {
    check_texts(&[0]);
}

#[test]
fn time_grows_with_the_text_where_use_decides() {
    check_texts(&[1]);
}

#[test]
fn time_grows_with_the_text_with_every_option() {
    check_texts(&[2]);
}

#[test]
fn time_grows_with_the_text_within_a_budget() {
    check_texts(&[3, 4]);
}

#[test]
fn time_grows_with_the_text_that_a_model_summarises() {
    check_texts(&[5, 6]);
}

#[test]
fn time_grows_with_the_text_without_look_ahead() {
    check_texts(&[7]);
}

#[test]
fn time_grows_with_the_number_of_things() {
    let mut slow = Slow::default();
    for (at, thing) in many::THINGS.iter().enumerate() {
        let record = |n: usize| record_of(&(thing.messages)(n));
        // Half of them with everything that can be done, the others with some of it.
        let setting = if at % 2 == 0 { FULLEST } else { (at / 2 + 1) % SETTINGS.len() };
        check(&mut slow, &SETTINGS[setting], thing.name, &record, [thing.n_many / 8, thing.n_many]);
    }
    slow.report();
}

/// Patterns with some of the settings, each in one of the contents and beside another: kind by kind the patterns come to
/// every place.
fn check_texts(settings: &[usize]) {
    let mut slow = Slow::default();
    for &number in settings {
        let setting = &SETTINGS[number];
        for (at, pattern) in patterns::all().iter().enumerate().skip(setting.from).step_by(setting.every) {
            let content = CONTENTS[(at + 2 * number) % CONTENTS.len()];
            let beside = BESIDES[(at + 5 * number + at / BESIDES.len()) % BESIDES.len()];
            let name = format!("{:?} ({}) in {} and {}", pattern.unit, pattern.kind, content.0, beside.0);
            let record = |n_bytes: usize| record_of(&conversation(pattern, n_bytes, content.1, beside.1));
            check(&mut slow, setting, &name, &record, TEXT);
        }
    }
    slow.report();
}

/// A session in which the pattern stands in two places, neither of them first or last.
fn conversation(
    pattern: &Pattern,
    n_bytes: usize,
    content: fn(&str) -> Vec<Value>,
    beside: fn(&str) -> Vec<Value>,
) -> Vec<Value> {
    let text = pattern.text(n_bytes / 2);
    let mut messages = vec![
        said("system", "You help with the garden."),
        said("user", "Please look after the garden of KMS-7781."),
        call(&["c0"], "Read", "{\"file_path\": \"garden.md\"}"),
        result("c0", WORDS),
    ];
    messages.extend(content(&text));
    messages.push(said("assistant", "The garden of KMS-7781 was looked after."));
    messages.extend(beside(&text));
    for _ in 0..3 {
        messages.extend([said("user", "And what about the old bench in it?"), said("assistant", WORDS)]);
    }
    messages
}

/// Notes what grows too fast with a setting.
fn check(slow: &mut Slow, setting: &Setting, name: &str, record: &dyn Fn(usize) -> String, sizes: [usize; 2]) {
    slow.check(&format!("{name}, {}", setting.name), record, |record| time(record, setting), sizes);
}

/// The time of the whole way of a record there and back.
fn time(record: &str, setting: &Setting) -> Duration {
    let engine = Engine::new((setting.options)(record.len() * 2 / 7)).expect("the options are right");
    let place = engine.options().provenance;
    let n_rounds = if engine.options().summarizer == Summarizer::Deterministic { 1 } else { MAX_ROUNDS };
    let start = Clock::start();
    let shape = shape::detect(record).unwrap_or(ShapeName::Openai);
    let decoded = shape::decode(record, shape, "talk").unwrap_or_else(|reject| panic!("{reject:?}"));
    let (mut answers, mut scratch) = (Answers::default(), Scratch::default());
    // As many rounds for a text in which there is little to ask about.
    let rounds = (0..n_rounds).map(|_| {
        let mut asks = Vec::new();
        let condensed = engine.consult(&decoded.conversation, &mut scratch, &mut Consult::new(&answers, &mut asks));
        for ask in &asks {
            answers.insert(ask.id(), reply(ask));
        }
        condensed
    });
    let condensed = rounds.last().expect("there is a round");
    let originals = decoded.originals(&condensed);
    let (written, layout) = decoded.condensed_record_and_layout(&condensed, place);
    let is_record = shape::restores_record(&written, layout.as_deref(), &originals, record);
    let row = decoded.row(&condensed, place);
    let id = &decoded.conversation.id;
    let is_row = shape::restores_row(id, &row, &decoded.row_layout(&condensed), &originals, record);
    let time = start.passed();
    assert!(is_record && is_row, "the record is restored");
    time
}

/// A model that repeats what it is asked about, and says a part of it when it is asked again.
fn reply(ask: &Ask) -> Answer {
    let part = |text: &str| text.chars().step_by(2).take(400).collect::<String>();
    Answer::Text(match ask {
        Ask::Summary(ask) if ask.mode == SummaryMode::Normal => ask.text.clone(),
        Ask::Summary(ask) => part(&ask.text),
        Ask::Ruling { .. } => "{\"decision\": \"compress\", \"confidence\": 0.9}".to_owned(),
        Ask::Compaction(ask) => ask.turns.iter().map(|turn| turn.text.as_str()).collect::<Vec<_>>().join("\n"),
    })
}
