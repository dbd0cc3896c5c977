//! Chains and topics over growing conversations: a doubling of the messages must not take much more than twice the
//! time. `cargo bench -p condenser-benches --bench topics`.

#![allow(clippy::print_stdout, missing_docs, reason = "a bench prints")]

use std::fmt::Write as _;
use std::time::Instant;

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, ShapeName};
use condenser::shape;

const SUBJECTS: [&str; 24] = [
    "harbour",
    "ferry",
    "invoice",
    "refund",
    "turbine",
    "valve",
    "orchard",
    "ledger",
    "cable",
    "museum",
    "lantern",
    "quarry",
    "glacier",
    "printer",
    "violin",
    "pension",
    "tunnel",
    "bakery",
    "vaccine",
    "satellite",
    "harvest",
    "archive",
    "elevator",
    "reservoir",
];
const PARTS: [&str; 12] = [
    "schedule",
    "budget",
    "repair",
    "inspection",
    "contract",
    "supplier",
    "deadline",
    "report",
    "training",
    "permit",
    "insurance",
    "survey",
];

/// `n` messages of three sentences, by turns of two sides or all by one.
fn talk(n: usize, by_turns: bool) -> String {
    let mut record = String::from("{\"id\":\"bench\",\"messages\":[");
    for i in 0..n {
        let pick = |salt: usize| (i / 2 * 2_654_435_761 + salt * 40_503) >> 5;
        let (subject, part, other) = (SUBJECTS[pick(1) % 24], PARTS[pick(2) % 12], PARTS[pick(3) % 12]);
        let role = if by_turns && i % 2 == 1 { "assistant" } else { "user" };
        let comma = if i == 0 { "" } else { "," };
        write!(
            record,
            "{comma}{{\"role\":\"{role}\",\"content\":\"The {part} of the {subject} was discussed again with crew {}. \
             Everybody found that the {other} has to come first, before week {}. What remains open about the \
             {subject} is who signs the {part}?\"}}",
            i % 97,
            i % 53,
        )
        .expect("a String takes everything");
    }
    record.push_str("]}");
    record
}

fn main() {
    for (name, options) in [
        ("default", EngineOptions::default()),
        ("chains", EngineOptions { conversation_flow: true, ..EngineOptions::default() }),
        ("topics", EngineOptions { semantic_clustering: true, ..EngineOptions::default() }),
    ] {
        let engine = Engine::new(options).expect("the options are right");
        for by_turns in [true, false] {
            let mut before: Option<f64> = None;
            for n in [500, 1_000, 2_000, 4_000, 8_000, 16_000] {
                let record = talk(n, by_turns);
                let decoded = shape::decode(&record, ShapeName::Openai, "bench").expect("a conversation");
                let mut scratch = Scratch::default();
                let fastest = (0..3)
                    .map(|_| {
                        let start = Instant::now();
                        let condensed = engine.condense(&decoded.conversation, &mut scratch);
                        assert!(condensed.messages.len() <= n);
                        start.elapsed().as_secs_f64() * 1_000.0
                    })
                    .fold(f64::MAX, f64::min);
                let ratio = before.map_or(String::new(), |before| format!("  ×{:.2}", fastest / before));
                println!("{name:8} by turns {by_turns:5} {n:6} messages {fastest:9.1} ms{ratio}");
                before = Some(fastest);
            }
        }
    }
}
