//! How far the metrics can be trusted: outputs are damaged in known ways, and for each way and each metric it is counted
//! how often the metric falls, and how often it falls where nothing was lost. Knows conversations and the engine, no file.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::damage::KINDS;
use super::plain;
use crate::engine::{Engine, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Conversation, Metrics};
use crate::text::Lexer;

/// A metric that moves by less did not fall.
const SMALLEST_FALL: f64 = 1e-9;
/// The metrics that are calibrated, in the order of their columns.
pub const CALIBRATED: [&str; 9] = [
    "quality_score",
    "entity_retention",
    "structural_integrity",
    "reference_coherence",
    "fact_retention",
    "fact_retention_with_entities",
    "forward_recall",
    "negation_retention",
    "error_retention",
];
/// The same for the columns of a table.
const SHORT: [&str; 9] = ["quality", "entity", "struct", "coher", "fact", "fact+ent", "recall", "negat", "error"];

/// What a calibration found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "calibration")]
pub struct Calibration {
    /// Version of condenser that measured.
    pub engine_version: String,
    /// The inputs.
    pub sources: Vec<String>,
    /// Conversations that were looked at.
    pub conversations: u64,
    /// Of these, conversations of which something was replaced; the others have no shares to fall.
    pub changed: u64,
    /// By kind of damage and metric, in a fixed order.
    pub rates: Vec<DetectionRate>,
}

/// How often a metric falls when a kind of damage is planted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetectionRate {
    /// What was done, such as `digits_flipped`.
    pub damage: String,
    /// It takes nothing from the reader: a metric that falls gives a false alarm.
    pub is_harmless: bool,
    /// Conversations in which there was something to damage so.
    pub damaged: u64,
    /// The metric.
    pub metric: String,
    /// Conversations that were damaged so and have the metric before and after.
    pub conversations: u64,
    /// The share of them in which the metric fell.
    pub rate: f64,
    /// By how much it fell on average, over all of them.
    pub mean_fall: f64,
}

/// What the footnote tells: metrics, and kinds of damage.
const FOOTNOTE: [(&str, [&str; 3]); 4] = [
    ("quality_score", ["identifiers_removed", "prose_facts_removed", "digits_flipped"]),
    ("fact_retention", ["prose_facts_removed", "digits_flipped", "kept_message_lost"]),
    ("negation_retention", ["negations_removed", "summary_emptied", "kept_message_lost"]),
    ("error_retention", ["errors_removed", "summary_emptied", "kept_message_lost"]),
];

/// Conversations for which a metric was measured, those for which it fell, and by how much in all.
type Falls = (u64, u64, f64);

/// Counts while conversations pass.
#[derive(Debug, Clone)]
pub struct Calibrator {
    sources: Vec<String>,
    conversations: u64,
    changed: u64,
    /// Per kind: conversations, and what it did to each metric.
    counts: Vec<(u64, [Falls; CALIBRATED.len()])>,
}

impl Calibrator {
    /// For conversations from these inputs.
    #[must_use]
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
        let before = values(&condensed.metrics);
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
    #[must_use]
    pub fn finish(self) -> Calibration {
        let mut calibration = Calibration {
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            sources: self.sources,
            conversations: self.conversations,
            changed: self.changed,
            ..Calibration::default()
        };
        let share = |sum: f64, n: u64| if n == 0 { 0.0 } else { sum / n as f64 };
        for (kind, (damaged, falls)) in KINDS.iter().zip(self.counts) {
            for (metric, (measured, fell, sum)) in CALIBRATED.iter().zip(falls) {
                calibration.rates.push(DetectionRate {
                    damage: kind.name.to_owned(),
                    is_harmless: !kind.is_damage,
                    damaged,
                    metric: (*metric).to_owned(),
                    conversations: measured,
                    rate: share(fell as f64, measured),
                    mean_fall: share(sum, measured),
                });
            }
        }
        calibration
    }
}

fn values(metrics: &Metrics) -> [Option<f64>; CALIBRATED.len()] {
    [
        metrics.quality_score,
        metrics.entity_retention,
        metrics.structural_integrity,
        metrics.reference_coherence,
        metrics.fact_retention,
        metrics.fact_retention_with_entities,
        metrics.forward_recall,
        metrics.negation_retention,
        metrics.error_retention,
    ]
}

impl Calibration {
    /// Reads what [`Calibration::to_json`] wrote.
    ///
    /// # Errors
    /// `Input` when it is something else; `place` names it.
    pub fn read(json: &[u8], place: &str) -> Result<Self> {
        serde_json::from_slice(json)
            .map_err(|error| Error::new(ErrorKind::Input, place, "this is no calibration").because(error))
    }

    /// As indented JSON with a last line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts always serialize") + "\n"
    }

    /// How often `metric` falls for a kind of damage; `None` where it was not measured.
    #[must_use]
    pub fn rate(&self, damage: &str, metric: &str) -> Option<&DetectionRate> {
        let mut rates = self.rates.iter().filter(|rate| rate.conversations > 0);
        rates.find(|rate| rate.damage == damage && rate.metric == metric)
    }

    /// The rates as a table: a line per kind of change, a column per metric, shares in percent.
    #[must_use]
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut say = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a String takes everything");
        say(format_args!(
            "{} of {} conversations were changed and could be damaged. In how many of 100 each metric falls:\n\n",
            self.changed, self.conversations
        ));
        say(format_args!("{:<21} {:>5}", "damage", "n"));
        for name in SHORT {
            say(format_args!(" {name:>8}"));
        }
        let mut was_harmless = false;
        for kind in self.rates.chunk_by(|a, b| a.damage == b.damage) {
            let Some(first) = kind.first() else { continue };
            if first.is_harmless && !std::mem::replace(&mut was_harmless, true) {
                say(format_args!("\nharmless"));
            }
            say(format_args!("\n{:<21} {:>5}", plain::line(&first.damage), first.damaged));
            for metric in CALIBRATED {
                match self.rate(&first.damage, metric) {
                    Some(rate) => say(format_args!(" {:>8.0}", rate.rate * 100.0)),
                    None => say(format_args!(" {:>8}", "–")),
                }
            }
        }
        out.push('\n');
        out
    }

    /// What a report says of its metrics, in a sentence for each that is read most.
    #[must_use]
    pub fn footnote(&self) -> Vec<String> {
        let mut notes = vec![format!(
            "How far the figures can be trusted, measured by damage planted into {} conversations (condenser calibrate):",
            self.changed
        )];
        for (metric, kinds) in FOOTNOTE {
            let said = kinds.iter().filter_map(|kind| {
                let rate = self.rate(kind, metric)?.rate * 100.0;
                Some(format!("{rate:.0} % of {}", kind.replace('_', " ")))
            });
            let said: Vec<String> = said.collect();
            if !said.is_empty() {
                notes.push(format!("{metric} falls in {}", said.join(", ")));
            }
        }
        let alarms = self.rates.iter().filter(|rate| rate.is_harmless).map(|rate| rate.rate);
        let highest = alarms.fold(0.0, f64::max);
        notes.push(format!("Where nothing was lost, no metric falls in more than {:.0} % of cases", highest * 100.0));
        notes
    }
}
