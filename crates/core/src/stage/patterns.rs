//! Rule 12: the user's own patterns. Asked before anything that changes a message, since nobody else knows what they
//! protect: also of messages that are kept as short, which a chain or a budget would take.

use regex::RegexSet;

use super::{Claim, Plan, Stage, View};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{PreservePattern, Reason};

/// Keeps messages that match a preserve pattern.
#[derive(Debug, Clone)]
pub struct KeepPatterns {
    patterns: RegexSet,
}

impl KeepPatterns {
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

impl Stage for KeepPatterns {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        for index in 0..view.len() {
            let is_asked = plan.claim_of(index).is_none_or(Claim::is_soft);
            if is_asked && view.conversation.messages[index].texts().any(|text| self.patterns.is_match(text)) {
                plan.pin(index, Reason::Pattern);
            }
        }
    }
}
