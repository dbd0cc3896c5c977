//! Rules 11 and 14: structure that a summary would destroy, and JSON.

use serde::de::IgnoredAny;

use super::classify::{Depth, judge};
use super::{Plan, Stage, View};
use crate::model::Reason;
use crate::text::bytes::trim;

/// Keeps messages with hard reasons and those that parse as JSON.
#[derive(Debug, Clone, Copy, Default)]
pub struct Detect;

impl Stage for Detect {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        for index in plan.free().collect::<Vec<_>>() {
            let mut texts = view.texts(index);
            let single = texts.next().filter(|_| texts.next().is_none());
            let large = view.is_large(index);
            if let Some(text) = single {
                plan.verdicts[index] = judge(&text, if large { Depth::Explain } else { view.depth });
            }
            if plan.overruled.binary_search(&index).is_ok() {
                continue;
            }
            if !large && plan.verdicts[index].is_hard() {
                plan.keep(index, Reason::HardT0);
            } else if !large && single.is_some_and(|text| is_json(text.text)) {
                plan.keep(index, Reason::JsonStructure);
            }
        }
    }
}

/// True for a JSON object or array.
#[must_use]
pub fn is_json(text: &str) -> bool {
    let text = trim(text);
    text.starts_with(['{', '[']) && text.ends_with(['}', ']']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
