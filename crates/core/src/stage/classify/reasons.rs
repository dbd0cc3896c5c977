//! A set of reasons in one word, so that detectors can add to it without memory, and the soft ones among them: what the
//! lexer's facts say about references in a text. Those are reported and prevent nothing.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::model::Reason;
use crate::text::{FactKind, TextView};

/// The bit of a reason of the classifier: those are declared from `CodeFence` on, apart from `JsonStructure`.
const fn bit(reason: Reason) -> u64 {
    match reason {
        Reason::JsonStructure => 1,
        _ => 2 << (reason as u64 - Reason::CodeFence as u64),
    }
}

/// All hard reasons: `JsonStructure` and those that are declared from `CodeFence` to `FailureSignature`.
const HARD: u64 = (bit(Reason::FailureSignature) << 1) - 1;

/// Reasons, each at most once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ReasonSet(u64);

impl ReasonSet {
    /// Adds `reason`.
    pub(super) fn add(&mut self, reason: Reason) {
        self.0 |= bit(reason);
    }
    /// True when a hard reason is among them.
    pub(super) fn has_hard(self) -> bool {
        self.0 & HARD != 0
    }
    /// Adds `reason` when `holds`.
    pub(super) fn add_if(&mut self, reason: Reason, holds: bool) {
        self.0 |= u64::from(holds) * bit(reason);
    }
    /// True when `reason` was added.
    pub(super) fn has(self, reason: Reason) -> bool {
        self.0 & bit(reason) != 0
    }
    /// The reasons in reporting order: as they are declared, with JSON among the structures.
    pub(super) fn to_vec(self) -> Vec<Reason> {
        if self.0 == 0 {
            return Vec::new();
        }
        let (structures, others) = Reason::ALL.split_at(Reason::YamlStructure as usize);
        let reported = structures.iter().skip(Reason::CodeFence as usize).chain(&[Reason::JsonStructure]).chain(others);
        let mut all = Vec::with_capacity(self.0.count_ones() as usize);
        all.extend(reported.copied().filter(|&reason| self.has(reason)));
        all
    }
}

// Every reason of the classifier has its own bit.
const _: () = assert!(Reason::ALL.len() - (Reason::CodeFence as usize) < 64);

/// A quotation has at least so many bytes inside its quotes.
const MIN_QUOTE: usize = 10;

/// Words that only contracts and statutes use, without what changes with their case.
const LEGAL: [&str; 5] = ["otwithstanding", "hereby", "hereinafter", "ursuant to", " shall "];

static LEGAL_FINDERS: LazyLock<[Finder<'static>; 5]> = LazyLock::new(|| LEGAL.map(Finder::new));

/// Adds the soft reasons of all facts.
pub(super) fn add_soft(view: &TextView<'_>, reasons: &mut ReasonSet) {
    let text = view.covered().as_bytes();
    reasons.add_if(Reason::LegalTerm, LEGAL_FINDERS.iter().any(|finder| finder.find(text).is_some()));
    for fact in view.facts {
        let reason = match fact.kind {
            FactKind::Url => Reason::Url,
            FactKind::Email => Reason::Email,
            FactKind::Phone => Reason::Phone,
            FactKind::Version => Reason::VersionNumber,
            FactKind::Hash => Reason::HashOrSha,
            FactKind::Path | FactKind::FileRef => Reason::FilePath,
            FactKind::Ip => Reason::IpOrSemver,
            FactKind::Quantity => Reason::NumericWithUnits,
            FactKind::Quoted => quotation(view.text.as_bytes(), fact.span.start as usize, fact.span.end as usize),
            _ => continue,
        };
        if reason != Reason::DirectQuote || fact.span.len() >= MIN_QUOTE {
            reasons.add(reason);
        }
    }
}

/// A quoted key has a colon behind its closing quote.
fn quotation(text: &[u8], start: usize, end: usize) -> Reason {
    // The span may or may not include the quotes.
    let after = text.get(end..(end + 2).min(text.len())).unwrap_or_default();
    let is_key = after.first() == Some(&b':') || (after.first() == Some(&b'"') && after.get(1) == Some(&b':'));
    if is_key && start < end { Reason::QuotedKey } else { Reason::DirectQuote }
}

#[cfg(test)]
mod tests {
    use super::{HARD, ReasonSet, bit};

    #[test]
    fn the_mask_holds_the_hard_reasons() {
        let all = ReasonSet(u64::MAX).to_vec();
        assert_eq!(all.len(), 32);
        for reason in all {
            assert_eq!(HARD & bit(reason) != 0, reason.is_hard(), "{reason:?}");
        }
    }
}
