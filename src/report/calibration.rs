//! How far the metrics can be trusted: outputs are damaged in known ways, and for each way and each metric it is counted
//! how often the metric falls, and how often it falls where nothing was lost. Knows conversations and the engine, no file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::damage::KINDS;
use crate::engine::{Engine, Scratch};
use crate::model::{Conversation, Figure, Metrics};
use crate::text::Lexer;

/// A metric that moves by less did not fall.
const SMALLEST_FALL: f64 = 1e-9;
/// What a calibration found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "calibration"))]
pub struct Calibration {
    /// Version of condenser.
    pub engine_version: String,
    /// The inputs.
    pub sources: Vec<String>,
    /// Conversations that were read.
    pub conversations: u64,
    /// Of these, conversations of which something was replaced; the others have no shares to fall.
    pub changed: u64,
    /// The kinds of damage.
    pub damage: Vec<Planted>,
    /// Changes that do no harm: what falls here is a false alarm.
    pub harmless: Vec<Planted>,
}

/// What a kind of change did to the metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Planted {
    /// Its name.
    pub kind: String,
    /// What was done, in a few words.
    pub says: String,
    /// Conversations in which there was something to change.
    pub conversations: u64,
    /// By metric.
    pub metrics: BTreeMap<String, Fall>,
}

/// How a metric took it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fall {
    /// Conversations for which it was measured before and after.
    pub measured: u64,
    /// Share of these for which it fell; `null` when there are none.
    pub rate: Option<f64>,
    /// By how much it fell on average, those that did not fall included; `null` when there are none.
    pub mean_fall: Option<f64>,
}

/// Conversations for which a metric was measured, those for which it fell, and by how much in all.
type Falls = (u64, u64, f64);

/// Counts while conversations pass.
#[derive(Debug, Clone)]
pub struct Calibrator {
    sources: Vec<String>,
    conversations: u64,
    changed: u64,
    /// Per kind: conversations, and what it did to each metric.
    counts: Vec<(u64, [Falls; Figure::SHARES.len()])>,
}

impl Calibrator {
    /// For conversations from these inputs.
    pub fn new(sources: Vec<String>) -> Self {
        Self { sources, conversations: 0, changed: 0, counts: vec![(0, Default::default()); KINDS.len()] }
    }

    /// Compresses a conversation and damages what came out in every way.
    pub fn add(&mut self, engine: &Engine, conversation: &Conversation<'_>, scratch: &mut Scratch) {
        self.conversations += 1;
        let (condensed, reading) = engine.read(conversation, scratch);
        if condensed.is_unchanged() {
            return;
        }
        self.changed += 1;
        let before = values(&engine.measure(conversation, &reading, scratch));
        let mut lexer = Lexer::default();
        for (kind, (n_planted, falls)) in KINDS.iter().zip(&mut self.counts) {
            let Some(damaged) = kind.plant(conversation, &reading, &mut lexer) else { continue };
            *n_planted += 1;
            let after = values(&engine.measure(conversation, &damaged, scratch));
            for (count, (before, after)) in falls.iter_mut().zip(before.iter().zip(after)) {
                let (Some(before), Some(after)) = (before, after) else { continue };
                let fall = before - after;
                count.0 += 1;
                count.1 += u64::from(fall > SMALLEST_FALL);
                count.2 += fall.max(0.0);
            }
        }
    }

    /// The rates.
    pub fn finish(self) -> Calibration {
        let mut calibration = Calibration {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            sources: self.sources,
            conversations: self.conversations,
            changed: self.changed,
            ..Calibration::default()
        };
        for (kind, (conversations, falls)) in KINDS.iter().zip(self.counts) {
            let rate = |sum: f64, n: u64| (n > 0).then(|| sum / n as f64);
            let fall = |(measured, fell, sum): Falls| Fall {
                measured,
                rate: rate(fell as f64, measured),
                mean_fall: rate(sum, measured),
            };
            let metrics =
                Figure::SHARES.iter().zip(falls).map(|(figure, counts)| (figure.as_str().to_owned(), fall(counts)));
            let (name, says) = (kind.name.to_owned(), kind.says.to_owned());
            let planted = Planted { kind: name, says, conversations, metrics: metrics.collect() };
            if kind.is_damage { calibration.damage.push(planted) } else { calibration.harmless.push(planted) }
        }
        calibration
    }
}

fn values(metrics: &Metrics) -> [Option<f64>; Figure::SHARES.len()] {
    // Damage is planted in texts; what is used is not looked for again.
    Figure::SHARES.map(|figure| figure.of(metrics).filter(|_| !figure.is_of_uses()))
}

impl Calibration {
    /// As indented JSON with a last line feed.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts always serialize") + "\n"
    }
}
