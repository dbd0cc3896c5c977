//! Planted damage: each metric notices what it is there for, is blind where it says it is, and raises no false alarm.

use std::cell::Cell;

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, Figure};
use condenser::report::Calibration;
use condenser::shape;
use serde_json::Value;

use crate::support::chats::records;
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::options::random_options;

/// The sample of the repository, named from its root.
fn calibrated(dir: &TestDir, more: &[&str]) -> Vec<u8> {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/jobs/sample");
    condenser(dir.root(), &[&["calibrate", sample, "--hide-by", "look"], more].concat()).ok().stdout
}

fn read(json: &[u8]) -> Calibration {
    serde_json::from_slice(json).expect("it is a calibration")
}

#[test]
fn what_the_metrics_read_is_measured_as_the_engine_measured_it() {
    let (n_compared, n_apart) = (Cell::new(0), Cell::new(0));
    let check = |record: &str, options: EngineOptions| {
        let Some(Ok(decoded)) = shape::detect(record).map(|shape| shape::decode(record, shape, "c")) else { return 0 };
        let options = EngineOptions { all_figures: true, ..options };
        let (engine, mut scratch) = (Engine::new(options).expect("the options can be used"), Scratch::default());
        let (condensed, reading) = engine.read(&decoded.conversation, &mut scratch);
        assert_eq!(condensed.messages, engine.condense(&decoded.conversation, &mut scratch).messages);
        let again = engine.measure(&decoded.conversation, &reading, &mut scratch);
        let shares = |metrics: &condenser::model::Metrics| {
            let value = serde_json::to_value(metrics).expect("it serializes");
            let figures = Figure::SHARES.into_iter().filter(|figure| !figure.is_of_uses());
            figures.map(|figure| value[figure.as_str()].clone()).collect::<Vec<_>>()
        };
        for (again, measured) in shares(&again).iter().zip(shares(&condensed.metrics)) {
            assert_eq!(again.is_null(), measured.is_null());
            // A capitalised word is a name beside others of a text, and none in a sentence by itself.
            let apart = again.as_f64().unwrap_or_default() - measured.as_f64().unwrap_or_default();
            assert!(apart.abs() < 0.05, "{again} {measured}");
            n_compared.set(n_compared.get() + 1);
            n_apart.set(n_apart.get() + usize::from(apart != 0.0));
        }
        usize::from(!condensed.is_unchanged())
    };
    let mut n_changed = 0;
    for seed in 0..200 {
        n_changed += check(&records(1, seed)[0], random_options(seed));
    }
    for name in ["agents", "parts", "coding"] {
        let path = format!("{}/jobs/sample/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        for (at, record) in std::fs::read_to_string(path).expect("a sample").lines().enumerate() {
            n_changed += check(record, EngineOptions::default()) + check(record, random_options(at as u64));
        }
    }
    assert!(n_changed > 50, "{n_changed}");
    assert!(n_apart.get() * 50 < n_compared.get(), "{} of {}", n_apart.get(), n_compared.get());
}

#[test]
fn damage_is_noticed_by_the_metric_that_is_there_for_it() {
    let dir = TestDir::new();
    let calibration = read(&calibrated(&dir, &["--json"]));
    assert!(calibration.changed > 50, "{calibration:?}");
    let rate = |kind: &str, metric: &str| {
        let all = calibration.damage.iter().chain(&calibration.harmless);
        let planted = all.clone().find(|planted| planted.kind == kind).expect(kind);
        let fall = planted.metrics[metric];
        assert!(fall.measured > 0, "{kind} {metric}");
        assert!((fall.mean_fall > Some(0.0)) == (fall.rate > Some(0.0)), "{kind} {metric}");
        fall.rate.expect("measured")
    };
    for (kind, metric) in [
        ("identifiers_removed", "entity_retention"),
        ("prose_facts_removed", "fact_retention"),
        ("digits_flipped", "fact_retention"),
        ("negations_removed", "negation_retention"),
        ("errors_removed", "error_retention"),
        ("fences_broken", "structural_integrity"),
        ("kept_message_lost", "fact_retention"),
        ("summary_emptied", "fact_retention"),
        ("prose_facts_removed", "quality_score"),
        ("summaries_exchanged", "reference_coherence"),
        ("wrong_reference", "reference_coherence"),
        ("order_swapped", "reference_coherence"),
    ] {
        assert!(rate(kind, metric) > 0.6, "{metric} sees {kind} in {}", rate(kind, metric));
    }
    // Some lists hold nothing but names, which are no facts.
    assert!(rate("entity_lists_removed", "fact_retention_with_entities") > 0.5);
    // Blind, and known to be.
    for (kind, metric, most) in
        [("order_swapped", "fact_retention", 0.0), ("entity_lists_removed", "fact_retention", 0.0)]
    {
        assert!(rate(kind, metric) <= most, "{metric} sees {kind} in {}", rate(kind, metric));
    }
    for planted in &calibration.harmless {
        assert!(planted.conversations > 20, "{planted:?}");
        for metric in Figure::SHARES.map(Figure::as_str) {
            assert!(planted.metrics[metric].rate <= Some(0.0), "{metric} falls for {}", planted.kind);
        }
    }
}

#[test]
fn a_calibration_is_written_once_and_read_again() {
    let dir = TestDir::new();
    let told = calibrated(&dir, &["-o", "calibration.json", "--limit", "20"]);
    let calibration = read(&dir.read("calibration.json"));
    assert_eq!(calibration.conversations, 20);
    assert_eq!(String::from_utf8(told).expect("text"), calibration.table());
    let same = calibrated(&dir, &["-o", "-", "--limit", "20"]);
    assert_eq!(same, dir.read("calibration.json"), "the same input gives the same damage");
    let schema: Value =
        serde_json::from_slice(&condenser(dir.root(), &["schema", "calibration"]).ok().stdout).expect("a schema");
    let value: Value = serde_json::from_slice(&same).expect("it is JSON");
    assert!(jsonschema::validator_for(&schema).expect("a schema").is_valid(&value));
    // Without an input the sample is taken, where there is one.
    condenser(dir.root(), &["calibrate"]).exits(2);
    dir.write("jobs/sample/one.jsonl", records(3, 9).join("\n"));
    condenser(dir.root(), &["calibrate"]).ok();
}

#[test]
fn inputs_without_a_conversation_are_told() {
    let dir = TestDir::new();
    dir.write("broken.jsonl", "{\"messages\":\n");
    let told = condenser(dir.root(), &["calibrate", "broken.jsonl", "-o", "out.json"]).exits(3);
    assert!(told.stderr.contains("line 1: rejected: invalid_json: not JSON: "), "{}", told.stderr);
    assert!(told.stderr.contains("the inputs hold no conversation") && !dir.path("out.json").exists());
    condenser(dir.root(), &["calibrate", "broken.jsonl", "--limit", "0"]).exits(2);
    let told = condenser(dir.root(), &["explain", "broken.jsonl"]).exits(3);
    assert!(told.stderr.contains("invalid_json: not JSON: "), "{}", told.stderr);
}
