//! What differs between two sets of options, as keys of a job file. Knows that options are keys and values, not what
//! they do.

use serde_json::{Map, Value};

use super::{AdapterName, EngineOptions};

/// The keys that, written over `base`, give `options`; in the order of the options. A token budget that is taken away is
/// 0.
#[must_use]
pub fn changes(base: &EngineOptions, options: &EngineOptions) -> Map<String, Value> {
    let (base, mut options) = (keys(base), keys(options));
    if base.contains_key(BUDGET) && !options.contains_key(BUDGET) {
        options.insert(BUDGET.to_owned(), Value::from(0));
    }
    options.into_iter().filter(|(key, value)| base.get(key) != Some(value)).collect()
}

const BUDGET: &str = "token_budget";

/// The same in a line: `recency_window=0, compression_depth=moderate, coreference`; a switch that is on is told by its
/// name, and so is a list of all adapters. `as given` when nothing differs.
#[must_use]
pub fn label(changes: &Map<String, Value>) -> String {
    if changes.is_empty() {
        return "as given".to_owned();
    }
    changes.iter().map(|(key, value)| told(key, value)).collect::<Vec<_>>().join(", ")
}

fn told(key: &str, value: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Bool(true) => key.to_owned(),
        Value::Array(items) if key == "adapters" && items.len() == AdapterName::ALL.len() => key.to_owned(),
        Value::Array(items) => format!("{key}={}", items.iter().map(plain).collect::<Vec<_>>().join("+")),
        value => format!("{key}={}", plain(value)),
    }
}

fn keys(options: &EngineOptions) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{changes, label};
    use crate::model::{AdapterName, EngineArgs, EngineOptions, Preset};

    #[test]
    fn changes_bring_the_other_options_back() {
        let base = EngineOptions { token_budget: Some(500), ..EngineOptions::default() };
        for options in [base.clone(), EngineOptions::default(), Preset::Ratio.options().over(base.clone())] {
            let written = changes(&base, &options);
            let args: EngineArgs = serde_json::from_value(written.clone().into()).expect("they are keys");
            assert_eq!(args.over(base.clone()), options, "{}", label(&written));
        }
        assert_eq!(label(&changes(&base, &base)), "as given");
        let other = EngineOptions { recency_window: 0, ..base.clone() };
        assert_eq!(label(&changes(&base, &other)), "recency_window=0");
        let more = EngineOptions { dedup: false, coreference: true, adapters: AdapterName::ALL.to_vec(), ..other };
        assert_eq!(label(&changes(&base, &more)), "recency_window=0, dedup=false, coreference, adapters");
    }
}
