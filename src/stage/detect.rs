//! Rules 11, 12 and 14: structure that a summary would destroy, the user's own patterns, and JSON.

use regex::RegexSet;
use serde::de::IgnoredAny;

use super::classify::{Depth, judge};
use super::{Plan, Stage, View};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{PreservePattern, Reason};

/// Keeps messages with hard reasons, those that match a preserve pattern, and those that parse as JSON.
#[derive(Debug, Clone)]
pub struct Detect {
    patterns: RegexSet,
}

impl Detect {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// Names the label of the pattern that is no regular expression.
    pub fn new(patterns: &[PreservePattern]) -> Result<Self> {
        for pattern in patterns {
            regex::Regex::new(&pattern.re).map_err(|error| {
                Error::new(
                    ErrorKind::Usage,
                    "preserve_patterns",
                    format!("pattern \"{}\" is no regular expression", pattern.label),
                )
                .because(error)
            })?;
        }
        RegexSet::new(patterns.iter().map(|pattern| &pattern.re)).map(|patterns| Self { patterns }).map_err(|error| {
            Error::new(ErrorKind::Usage, "preserve_patterns", "the patterns are too large together").because(error)
        })
    }
}

impl Stage for Detect {
    fn name(&self) -> &'static str {
        "detect"
    }

    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        for index in plan.free().collect::<Vec<_>>() {
            let mut texts = view.texts(index);
            let single = texts.next().filter(|_| texts.next().is_none());
            let large = view.is_large(index);
            if let Some(text) = single {
                plan.verdicts[index] = judge(&text, if large { Depth::Explain } else { view.depth });
            }
            let matches = |text: &str| !self.patterns.is_empty() && self.patterns.is_match(text);
            if !large && plan.verdicts[index].is_hard() {
                plan.keep(index, Reason::HardT0);
            } else if view.conversation.messages[index].texts().any(matches) {
                plan.keep(index, Reason::Pattern);
            } else if !large && single.is_some_and(|text| is_json(text.text)) {
                plan.keep(index, Reason::JsonStructure);
            }
        }
    }
}

pub(super) fn is_json(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['{', '[']) && text.ends_with(['}', ']']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}
