//! The metrics measure what they say: each one falls when its kind of damage is planted.

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, Getter, LookAhead, Metrics, Preset, metric_columns};
use condenser::shape;

use crate::support::corpora;
use crate::support::talk::{all, compress, prose};

/// A text that is summarised, around `planted`; the plain words come first and outlast the budget.
fn around(planted: &str) -> String {
    format!("{}\n\n{planted}\n\n{}", prose(700), prose(700))
}

fn metrics(messages: &[(&str, &str)]) -> Metrics {
    compress(messages, &all()).metrics
}

#[test]
fn columns_that_nobody_asked_for_would_hold_nothing_of_corpora() {
    let budget = EngineOptions { token_budget: Some(500), force_converge: true, ..EngineOptions::default() };
    let off = EngineOptions { look_ahead: LookAhead::Off, ..EngineOptions::default() };
    let mut n_missing = Vec::new();
    for options in [EngineOptions::default(), all(), budget, off]
        .into_iter()
        .chain(Preset::ALL.iter().map(|preset| preset.options().over(EngineOptions::default())))
    {
        let missing: Vec<_> = metric_columns().filter(|column| !column.is_asked_for(&options)).collect();
        let (engine, mut scratch) = (Engine::new(options).expect("options"), Scratch::default());
        for (name, lines) in corpora::lines() {
            for line in lines.iter().step_by(7) {
                let Some(shape) = shape::detect(line) else { continue };
                let Ok(decoded) = shape::decode(line, shape, "in:0") else { continue };
                let metrics = engine.condense(&decoded.conversation, &mut scratch).metrics;
                for column in &missing {
                    let is_empty = match column.getter {
                        Getter::Count(get) => get(&metrics).is_none_or(|count| count == 0),
                        Getter::Figure(figure) => figure.of(&metrics).is_none(),
                        Getter::Flag(get) => get(&metrics).is_none(),
                        Getter::Text(get) => get(&metrics).is_none(),
                    };
                    assert!(is_empty, "{name}: {}", column.name);
                }
            }
        }
        n_missing.push(missing.len());
    }
    assert!(n_missing[0] > 25 && n_missing.iter().all(|&n| n > 3 && n <= n_missing[0]), "{n_missing:?}");
}

#[test]
fn nothing_to_measure_is_none_and_not_one() {
    let kept = compress(&[("user", "Short."), ("assistant", "Fine.")], &EngineOptions::default()).metrics;
    assert!((kept.ratio - 1.0).abs() < f64::EPSILON);
    assert_eq!((kept.entity_retention, kept.fact_retention, kept.quality_score), (None, None, None));
    let plain = metrics(&[("user", &prose(900))]);
    assert_eq!(plain.structural_integrity, None, "no structure, no share of it");
    assert_eq!(plain.error_retention, None);
}

#[test]
fn a_visible_fact_counts_and_a_lost_one_does_not() {
    let few = metrics(&[("user", &around("The config is in src/db/pool.ts and the port is 8443."))]);
    assert_eq!(few.fact_retention, Some(1.0), "two facts fit");
    let many: String = (0..60)
        .map(|i| format!("The number {} went to shelf number {} of hall {}. ", 1_000 + i, 2_000 + i, 3_000 + i))
        .collect();
    let lost = metrics(&[("user", &around(&many))]).fact_retention.expect("facts");
    assert!(lost < 0.5, "{lost}");
}

#[test]
fn a_flipped_digit_is_a_lost_fact() {
    // The same summary beside a kept message that repeats the amounts, once with other digits.
    let amounts: String =
        (0..60).map(|i| format!("Parcel {i} weighs {} kg and goes to lane {}. ", 100 + i, 500 + i)).collect();
    let repeated = |offset: usize| {
        (48..57).map(|i| format!("{} {}", offset + 100 + i, offset + 500 + i)).collect::<Vec<_>>().join(", ")
    };
    let right = metrics(&[("user", &around(&amounts)), ("assistant", &format!("Lanes: {}", repeated(0)))]);
    let flipped = metrics(&[("user", &around(&amounts)), ("assistant", &format!("Lanes: {}", repeated(7_000)))]);
    assert!(right.fact_retention > flipped.fact_retention, "{:?} {:?}", right.fact_retention, flipped.fact_retention);
}

#[test]
fn forward_recall_falls_when_a_later_message_needs_what_is_hidden() {
    let many: String =
        (0..60).map(|i| format!("The part number {} is stored in hall {}. ", 1_000 + i, 3_000 + i)).collect();
    let talk = around(&many);
    let used = metrics(&[("user", &talk), ("assistant", "So 1055 and 1056 and 1057 are in 3055, 3056 and 3057.")]);
    let visible = metrics(&[
        ("user", &around("The part number 1055 is stored in hall 3055.")),
        ("assistant", "So 1055 is in 3055."),
    ]);
    assert_eq!(visible.forward_recall, Some(1.0));
    assert!(used.forward_recall.expect("facts are used again") < 0.5, "{:?}", used.forward_recall);
    assert_eq!(metrics(&[("user", &talk)]).forward_recall, None, "nothing uses it");
}

#[test]
fn negations_are_measured() {
    let kept = metrics(&[("user", &around("The card must not be charged again."))]);
    assert_eq!(kept.negation_retention, Some(1.0));
    let many: String = (0..60)
        .map(|i| format!("Lamp {i} in corridor {i} was not switched off by guard number {i} that night. "))
        .collect();
    let lost = metrics(&[("user", &around(&many))]).negation_retention.expect("negations");
    assert!(lost < 0.6, "{lost}");
}

#[test]
fn errors_are_measured() {
    let run = |n_fail: usize| {
        let mut text: String = (0..40).map(|i| format!("PASS src/shop/basket{i}.test.ts\n")).collect();
        (0..n_fail).for_each(|i| {
            text.push_str(&format!(
                "FAIL src/shop/payment{i}.test.ts expected 200 but got 50{} in the answer of the shop\n",
                i % 10
            ));
        });
        text
    };
    assert_eq!(metrics(&[("tool", &run(2))]).error_retention, Some(1.0));
    let lost = metrics(&[("tool", &run(60))]).error_retention.expect("errors");
    assert!(lost < 0.8, "{lost}");
}

#[test]
fn structure_and_identifiers_are_measured() {
    let code = format!("{}\n\n```rust\nfn main() {{ run_all(); }}\n```\n\n{}", prose(600), prose(300));
    let done = metrics(&[("assistant", &code)]);
    assert_eq!(done.structural_integrity, Some(1.0));
    let names: String = (0..80)
        .map(|i| format!("The helper readPart{}Of calls writeBlock{}For on every day. ", word(i), word(i + 100)))
        .collect();
    let lost = metrics(&[("user", &around(&names))]);
    assert!(lost.entity_retention.expect("identifiers") < 0.6, "{:?}", lost.entity_retention);
    assert!(lost.quality_score.is_some());
}

#[test]
fn entity_lists_count_apart() {
    let many: String = (0..30)
        .map(|i| {
            format!("Ticket KMS-{} waits and nobody has looked at it during the last week of the month. ", 7_000 + i)
        })
        .collect();
    let done = metrics(&[("user", &around(&many))]);
    assert!(done.fact_retention_with_entities > done.fact_retention, "{done:?}");
}

/// A word of letters for a number.
fn word(mut n: usize) -> String {
    let mut word = String::from("K");
    loop {
        word.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
        if n == 0 {
            return word;
        }
    }
}
