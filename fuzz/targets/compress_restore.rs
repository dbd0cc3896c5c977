//! Any record under any options: what was compressed comes back byte for byte, twice compressed too, equal calls give equal bytes, no
//! figure is a number that is none, nothing grows, and nobody is left out. The first line says the options, see `options_of`; the
//! rest is a record, see `record_of`.
#![no_main]

use condenser::engine::Engine;
use condenser::model::Figure;
use condenser_core::{Compressor, Metrics, Options, Sidecar, restore};
use condenser_fuzz::{head_and_body, options_of, record_of, talk};
use libfuzzer_sys::fuzz_target;

fn check(record: &str, options: &Options) -> Option<String> {
    let mut compressor = Compressor::new(options.clone()).expect("the options were checked");
    let done = compressor.compress(record).ok()?;
    let packed = serde_json::to_string(&done.sidecar).expect("a sidecar is JSON");
    let sidecar: Sidecar = serde_json::from_str(&packed).expect("what was written is read");
    assert_eq!(sidecar, done.sidecar);
    assert_eq!(restore(&done.record, &sidecar).expect("it was tried"), record);
    let n_messages = compressor.messages(record).expect("it was read before").len();
    assert_eq!(done.decisions.len(), n_messages, "a decision for every message");
    are_finite(&done.metrics);
    // What was worked on before leaves no trace.
    let again = compressor.compress(record).expect("it was read before");
    assert_eq!((&again.record, &again.sidecar), (&done.record, &done.sidecar));
    assert_eq!(format!("{:?}", again.metrics), format!("{:?}", done.metrics));
    Some(done.record)
}

fn are_finite(metrics: &Metrics) {
    for figure in Figure::ALL {
        let Some(value) = figure.of(metrics) else { continue };
        let is_ratio = matches!(figure, Figure::Ratio | Figure::TokenRatio);
        assert!(value.is_finite() && value >= 0.0 && (is_ratio || value <= 1.0), "{}: {value}", figure.as_str());
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((head, body)) = head_and_body(data) else { return };
    let Some(options) = options_of(head) else { return };
    let record = record_of(body);
    let Some(compressed) = check(&record, &options) else { return };
    check(&compressed, &options);
    if condenser::shape::detect(&record).is_some() {
        // The invariants of the engine, with a model of whims where one is asked.
        talk::compress_with(&record, &Engine::new(options).expect("the options were checked"));
    }
});
