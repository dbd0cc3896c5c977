//! Named sets of options. A preset goes under what is written beside it and over the defaults. Knows names and values,
//! not what an option does.

use serde::{Deserialize, Serialize};

use super::choices::{BudgetStrategy, CompressionDepth, KeepCopy};
use super::options::EngineArgs;

/// Options that go well together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Keeps context: `recency_window` 6, `importance_scoring`, `contradiction_detection`, `coreference`,
    /// `conversation_flow`.
    Quality,
    /// As short as can be: `token_budget` 2000, `compression_depth` auto, `budget_strategy` tiered,
    /// `relevance_threshold` 3, `semantic_clustering`, `force_converge`.
    Ratio,
    /// In between: `token_budget` 4000, `conversation_flow`, `importance_scoring`, `coreference`.
    Balanced,
    /// The order, the limits and the formats of the documented engine: `keep_first_user` off, `min_saving` 1, `keep_copy`
    /// last.
    Classic,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Quality, Self::Ratio, Self::Balanced, Self::Classic];

    /// The name as users write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quality => "quality",
            Self::Ratio => "ratio",
            Self::Balanced => "balanced",
            Self::Classic => "classic",
        }
    }

    /// What it sets; everything else is left as it is.
    #[must_use]
    pub fn options(self) -> EngineArgs {
        let nothing = EngineArgs::default();
        match self {
            Self::Quality => EngineArgs {
                recency_window: Some(6),
                importance_scoring: Some(true),
                contradiction_detection: Some(true),
                coreference: Some(true),
                conversation_flow: Some(true),
                ..nothing
            },
            Self::Ratio => EngineArgs {
                token_budget: Some(2000),
                compression_depth: Some(CompressionDepth::Auto),
                budget_strategy: Some(BudgetStrategy::Tiered),
                relevance_threshold: Some(3.0),
                semantic_clustering: Some(true),
                force_converge: Some(true),
                ..nothing
            },
            Self::Balanced => EngineArgs {
                token_budget: Some(4000),
                conversation_flow: Some(true),
                importance_scoring: Some(true),
                coreference: Some(true),
                ..nothing
            },
            Self::Classic => EngineArgs {
                keep_first_user: Some(false),
                min_saving: Some(1),
                keep_copy: Some(KeepCopy::Last),
                ..nothing
            },
        }
    }
}
