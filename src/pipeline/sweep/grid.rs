//! The option sets that a sweep measures, over the options of the job. Knows which options change what is saved, not what
//! they bring.

use crate::model::{
    AdapterName, BudgetStrategy, CompressionDepth, EngineArgs, EngineOptions, Preset, changes, changes_label,
};

/// Options under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionSet {
    /// What differs from the base, as in a job file.
    pub label: String,
    /// What holds.
    pub options: EngineOptions,
}

impl OptionSet {
    fn new(base: &EngineOptions, options: EngineOptions) -> Self {
        Self { label: changes_label(&changes(base, &options)), options }
    }
}

/// Recency windows beside that of the base.
const WINDOWS: [usize; 3] = [8, 2, 0];
const DEPTHS: [CompressionDepth; 2] = [CompressionDepth::Moderate, CompressionDepth::Aggressive];
const RELEVANCE: [f64; 2] = [3.0, 5.0];
/// Importance from which more messages are kept than by default.
const LOW_IMPORTANCE: [f64; 2] = [0.5, 0.35];
/// Tokens of a conversation.
const BUDGETS: [usize; 2] = [8_000, 4_000];
/// Tokens from which an observation loses its protection.
const OBSERVATION: usize = 1_024;

/// The base first, then every set that differs from it and from those before it, those with fewer changes first.
///
/// All combinations of recency window, depth, relevance threshold, structure (`agent_tool_prepass`, `adapters`) and
/// memory (`importance_scoring`, `coreference`, with three thresholds); further options alone and on top of structure and
/// memory; budgets; and the presets. With `keep_window` those with a smaller recency window are left out.
pub fn option_sets(base: &EngineOptions, keep_window: bool) -> Vec<OptionSet> {
    let mut found: Vec<EngineOptions> = vec![base.clone()];
    let mut add = |args: &EngineArgs| {
        let options = args.clone().over(base.clone());
        let is_left_out = keep_window && options.recency_window < base.recency_window;
        if !is_left_out && !found.contains(&options) {
            found.push(options);
        }
    };
    let structure = |mut args: EngineArgs| {
        args.agent_tool_prepass = Some(true);
        args.adapters = Some(AdapterName::ALL.to_vec());
        args
    };
    let memory = |mut args: EngineArgs| {
        args.importance_scoring = Some(true);
        args.coreference = Some(true);
        args
    };
    let nothing = EngineArgs::default();
    for window in with_none(WINDOWS.into_iter()) {
        for depth in with_none(DEPTHS.into_iter()) {
            for relevance in with_none(RELEVANCE.into_iter()) {
                let args = EngineArgs {
                    recency_window: window,
                    compression_depth: depth,
                    relevance_threshold: relevance,
                    ..nothing.clone()
                };
                add(&args);
                add(&structure(args.clone()));
                add(&memory(args.clone()));
                add(&structure(memory(args.clone())));
                for importance in LOW_IMPORTANCE {
                    let strong = EngineArgs { importance_threshold: Some(importance), ..memory(args.clone()) };
                    add(&strong);
                    add(&structure(strong));
                }
            }
        }
    }
    for single in singles() {
        add(&single);
    }
    for more in further() {
        add(&structure(memory(more)));
    }
    for budget in BUDGETS {
        let args = EngineArgs {
            token_budget: Some(budget),
            compression_depth: Some(CompressionDepth::Auto),
            budget_strategy: Some(BudgetStrategy::Tiered),
            ..nothing.clone()
        };
        add(&args);
        add(&structure(memory(args)));
    }
    for preset in Preset::ALL {
        add(&EngineArgs { preset: Some(preset), ..nothing.clone() });
    }
    let mut sets: Vec<OptionSet> = found.into_iter().map(|options| OptionSet::new(base, options)).collect();
    sets.sort_by_key(|set| changes(base, &set.options).len());
    sets
}

/// The value of the base, then the others.
fn with_none<T>(values: impl Iterator<Item = T>) -> impl Iterator<Item = Option<T>> {
    [None].into_iter().chain(values.map(Some))
}

fn singles() -> Vec<EngineArgs> {
    let nothing = EngineArgs::default();
    let mut sets = vec![
        EngineArgs { agent_tool_prepass: Some(true), ..nothing.clone() },
        EngineArgs { adapters: Some(AdapterName::ALL.to_vec()), ..nothing.clone() },
        EngineArgs { importance_scoring: Some(true), ..nothing.clone() },
        EngineArgs { coreference: Some(true), ..nothing.clone() },
        EngineArgs { observation_threshold: Some(OBSERVATION), ..nothing },
    ];
    sets.extend(further());
    sets
}

fn further() -> Vec<EngineArgs> {
    let nothing = EngineArgs::default();
    vec![
        EngineArgs { fuzzy_dedup: Some(true), ..nothing.clone() },
        EngineArgs { contradiction_detection: Some(true), ..nothing.clone() },
        EngineArgs { conversation_flow: Some(true), ..nothing.clone() },
        EngineArgs { semantic_clustering: Some(true), ..nothing.clone() },
        EngineArgs { discourse_aware: Some(true), ..nothing },
    ]
}

#[cfg(test)]
mod tests {
    use super::option_sets;
    use crate::model::EngineOptions;

    #[test]
    fn no_set_is_there_twice_and_the_base_is_first() {
        for base in [EngineOptions::default(), EngineOptions { recency_window: 0, ..EngineOptions::default() }] {
            let sets = option_sets(&base, false);
            assert_eq!(sets[0].options, base);
            assert_eq!(sets[0].label, "as given");
            let mut labels: Vec<&str> = sets.iter().map(|set| set.label.as_str()).collect();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), sets.len());
            assert!(sets.len() > 40, "{}", sets.len());
            let kept = option_sets(&base, true);
            assert!(kept.iter().all(|set| set.options.recency_window >= base.recency_window));
            assert!(kept.iter().all(|set| sets.contains(set)));
        }
    }
}
