//! The policy of a job: what goes together, and the option sets that are tried. Knows names of options, not what they
//! do.

use super::llm::asks_a_model;
use crate::error::{Error, Result};
use crate::model::{EngineArgs, EngineOptions, Floor, Strategy, changes};
use crate::pipeline::{Policy, PolicyOptions, default_tries};

/// More would take so many times as long that it is a mistake.
const MAX_TRIES: usize = 16;
/// What all sets of a job share, since their outputs are compared and written in one way.
const SHARED: [&str; 7] =
    ["provenance", "tokenizer", "message_overhead", "source_version", "summarizer", "classifier", "strategy"];

/// What holds of a policy over the options of the job.
pub(super) fn settle(
    choose: Option<Policy>,
    floor: Vec<Floor>,
    tries: Vec<EngineArgs>,
    base: &EngineOptions,
) -> Result<Option<PolicyOptions>> {
    let usage = |place: &str, message: &str| Err(Error::usage(place, message));
    let Some(choose) = choose else {
        return match (floor.is_empty(), tries.is_empty()) {
            (true, true) => Ok(None),
            (false, _) => usage("floor", "a floor does nothing without policy = \"best-above-floor\""),
            (true, false) => usage("tries", "tries do nothing without policy = \"best-above-floor\""),
        };
    };
    if floor.is_empty() {
        let message = "the policy needs a floor, such as floor = [\"quality=0.9\", \"fact_retention=0.8\"]";
        return usage("policy", message);
    }
    if asks_a_model(base) || base.strategy != Strategy::Messages {
        let message = "the policy tries the engine's own texts; it does not go with a model as summarizer or classifier, \
                       nor with strategy = \"insert-then-compress\"";
        return usage("policy", message);
    }
    let tries = if tries.is_empty() { default_tries() } else { tries };
    if tries.len() > MAX_TRIES {
        return usage("tries", &format!("at most {MAX_TRIES} option sets are tried"));
    }
    let mut settled: Vec<EngineOptions> = Vec::with_capacity(tries.len());
    for (at, args) in tries.into_iter().enumerate() {
        let place = |key: &str| format!("tries[{at}].{key}");
        let options = args.over(base.clone());
        options.check().map_err(|mut error| {
            error.place = place(&error.place);
            error
        })?;
        if let Some(key) = changes(base, &options).keys().find(|key| SHARED.contains(&key.as_str())) {
            return usage(&place(key), "all option sets of a job share this option; write it under [engine]");
        }
        if options != *base && !settled.contains(&options) {
            settled.push(options);
        }
    }
    Ok(Some(PolicyOptions { choose, floor, tries: settled }))
}
