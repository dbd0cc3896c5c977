//! A set of reasons in one word, so that detectors can add to it without memory. Knows no text.

use crate::model::Reason;

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
