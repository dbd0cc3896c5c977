//! A set of reasons in one word, so that detectors can add to it without memory. Knows no text.

use crate::model::Reason;

/// The order in which reasons are reported: structure, kinds of content, guardrails, then the soft ones.
const REPORTED: [Reason; 32] = [
    Reason::CodeFence,
    Reason::IndentedCode,
    Reason::SourceCode,
    Reason::LatexMath,
    Reason::UnicodeMath,
    Reason::JsonStructure,
    Reason::YamlStructure,
    Reason::TableStructure,
    Reason::MarkupStructure,
    Reason::DiffStructure,
    Reason::LogLines,
    Reason::VersePattern,
    Reason::HighLineLengthVariance,
    Reason::HighSpecialCharRatio,
    Reason::SqlContent,
    Reason::ApiKey,
    Reason::ReasoningChain,
    Reason::Base64Content,
    Reason::ErrorTraceback,
    Reason::HttpError,
    Reason::FailureSignature,
    Reason::Url,
    Reason::Email,
    Reason::Phone,
    Reason::VersionNumber,
    Reason::HashOrSha,
    Reason::FilePath,
    Reason::IpOrSemver,
    Reason::QuotedKey,
    Reason::LegalTerm,
    Reason::DirectQuote,
    Reason::NumericWithUnits,
];

/// All hard reasons: those that are declared from `CodeFence` to `FailureSignature`, and `JsonStructure`.
const HARD: u64 =
    ((2 << Reason::FailureSignature as u64) - (1 << Reason::CodeFence as u64)) | 1 << Reason::JsonStructure as u64;

/// Reasons, each at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ReasonSet(u64);

impl ReasonSet {
    /// Adds `reason`.
    pub(super) fn add(&mut self, reason: Reason) {
        self.0 |= 1 << reason as u64;
    }
    /// True when a hard reason is among them.
    pub(super) fn has_hard(self) -> bool {
        self.0 & HARD != 0
    }
    /// Adds `reason` when `holds`.
    pub(super) fn add_if(&mut self, reason: Reason, holds: bool) {
        self.0 |= u64::from(holds) << reason as u64;
    }
    /// True when `reason` was added.
    pub(super) fn has(self, reason: Reason) -> bool {
        self.0 & (1 << reason as u64) != 0
    }
    /// The reasons in reporting order.
    pub(super) fn to_vec(self) -> Vec<Reason> {
        if self.0 == 0 {
            return Vec::new();
        }
        let mut all = Vec::with_capacity(self.0.count_ones() as usize);
        all.extend(REPORTED.into_iter().filter(|&reason| self.has(reason)));
        all
    }
}

// Every reason has its own bit.
const _: () = assert!(Reason::ALL.len() <= 64);

#[cfg(test)]
mod tests {
    use super::{HARD, REPORTED};

    #[test]
    fn the_mask_holds_the_hard_reasons() {
        for reason in REPORTED {
            assert_eq!(HARD & (1 << reason as u64) != 0, reason.is_hard(), "{reason:?}");
        }
    }
}
