//! Several option sets for one conversation: all are tried, and the shortest output above the floors is kept. Knows
//! figures and sizes, not what an option does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Condense;
use super::condense::Keeper;
use crate::engine::Scratch;
use crate::model::{
    AdapterName, CompressionDepth, Condensed, Conversation, EngineArgs, EngineOptions, Floor, Metrics, Reason, changes,
    changes_label,
};
use crate::text::tokens::TokenCounter;

/// What stands in the metrics table for a conversation that no option set left above the floors.
pub const UNCHANGED: &str = "unchanged";

/// How an option set is chosen for a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The shortest output whose figures are not below the floors; when there is none, the conversation stays as it is.
    BestAboveFloor,
}

/// What holds of a policy; it decides about the bytes of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PolicyOptions {
    /// How a set is chosen.
    pub choose: Policy,
    /// What the figures of every conversation must not be below.
    pub floor: Vec<Floor>,
    /// The option sets beside the job's own, from gentle to aggressive.
    pub tries: Vec<EngineOptions>,
}

/// The option sets that are tried where a job names none, over the job's own: structure first, which costs no facts, then
/// talk, then shorter summaries. The recency window stays: no figure sees what the last messages are worth.
pub fn default_tries() -> Vec<EngineArgs> {
    let structure = EngineArgs {
        agent_tool_prepass: Some(true),
        adapters: Some(AdapterName::ALL.to_vec()),
        coreference: Some(true),
        ..EngineArgs::default()
    };
    vec![
        structure.clone(),
        EngineArgs { relevance_threshold: Some(3.0), ..structure.clone() },
        EngineArgs {
            relevance_threshold: Some(5.0),
            compression_depth: Some(CompressionDepth::Moderate),
            ..structure.clone()
        },
        EngineArgs {
            relevance_threshold: Some(5.0),
            compression_depth: Some(CompressionDepth::Aggressive),
            ..structure
        },
    ]
}

/// Engines that are tried one after the other, the gentlest first. Each conversation takes one pass of each: what a
/// figure loses does not grow steadily with what is saved, so that none can be left out.
#[derive(Debug)]
pub struct BestAboveFloor {
    engines: Vec<(String, Arc<dyn Condense>)>,
    floor: Vec<Floor>,
    keeper: Keeper,
}

impl BestAboveFloor {
    /// Chooses between `gentlest` and `tries`. All of them count tokens with `counter`.
    pub fn new(
        gentlest: Arc<dyn Condense>,
        tries: Vec<Arc<dyn Condense>>,
        floor: Vec<Floor>,
        counter: Option<&Arc<dyn TokenCounter>>,
    ) -> Self {
        let base = gentlest.options().clone();
        let keeper = Keeper::new(&base, counter);
        let named = |engine: Arc<dyn Condense>| (changes_label(&changes(&base, engine.options())), engine);
        Self { engines: [gentlest].into_iter().chain(tries).map(named).collect(), floor, keeper }
    }
}

impl Condense for BestAboveFloor {
    fn options(&self) -> &EngineOptions {
        self.engines.first().map_or_else(|| self.keeper.options(), |(_, gentlest)| gentlest.options())
    }

    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        let mut gentlest: Option<Metrics> = None;
        let mut best: Option<Condensed> = None;
        for (name, engine) in &self.engines {
            let mut condensed = engine.condense(conversation, scratch);
            let metrics = &condensed.metrics;
            let beside = gentlest.get_or_insert_with(|| metrics.clone());
            let is_above = self.floor.iter().all(|floor| floor.is_met(metrics, beside));
            if is_above && best.as_ref().is_none_or(|best| size(metrics) < size(&best.metrics)) {
                condensed.metrics.policy_choice = Some(name.clone());
                best = Some(condensed);
            }
        }
        best.unwrap_or_else(|| {
            let mut kept = self.keeper.keep(conversation, scratch, Reason::BelowFloor);
            kept.metrics.policy_choice = Some(UNCHANGED.to_owned());
            kept
        })
    }
}

/// What is shorter: tokens first, since they are what is paid for.
fn size(metrics: &Metrics) -> (usize, usize) {
    (metrics.tokens_out, metrics.chars_out)
}
