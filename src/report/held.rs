//! What the runs of a report hold beside their figures: terminal and page say only what is so. Knows the facts of runs.

use super::numbers::bytes;
use super::{ReportDocument, RunFacts};

/// Whether runs hold the texts that they measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// All of them.
    Everything,
    /// Some of several.
    InPart,
    /// None: they only measured.
    Nothing,
}

impl Held {
    /// What `runs` hold.
    pub(super) fn of(runs: &[RunFacts]) -> Self {
        let n = runs.iter().filter(|run| run.bytes_written.contains_key("verbatim")).count();
        match n {
            _ if n == runs.len() => Self::Everything,
            0 => Self::Nothing,
            _ => Self::InPart,
        }
    }
}

/// A run of fewer bytes is mostly what describes it.
const FEW_BYTES: u64 = 100_000;

/// That a run which holds originals is larger than its input, and what helps; `None` where it is not.
#[must_use]
pub fn larger(before: u64, after: u64) -> Option<String> {
    let helps = if after < FEW_BYTES {
        "each part takes up to 12 kB beside its conversations, and small files of one job share a part"
    } else {
        "a higher --compression makes it smaller, --originals whole and --trace make it larger"
    };
    let larger = || format!("the archive is larger than its input, {} for {}: {helps}", bytes(after), bytes(before));
    (after > before && before > 0).then(larger)
}

/// Why a report that was read from tables has no tools and no repeated texts.
pub(super) const WITHOUT_CONTENTS: &str =
    "read from tables, where tools and repeated texts stand in none: they are not shown";

/// True when that holds for the document.
pub(super) fn lack_contents(document: &ReportDocument) -> bool {
    let is_shown = document.repeated.is_some() && document.breakdowns.iter().any(|breakdown| breakdown.by == "tool");
    !is_shown && document.runs.iter().any(|run| !run.from_sketches)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Held, RunFacts};

    #[test]
    fn runs_without_originals_hold_nothing() {
        let run =
            |table: &str| RunFacts { bytes_written: BTreeMap::from([(table.to_owned(), 9)]), ..RunFacts::default() };
        assert_eq!(Held::of(&[run("verbatim")]), Held::Everything);
        assert_eq!(Held::of(&[run("metrics")]), Held::Nothing);
        assert_eq!(Held::of(&[run("metrics"), run("verbatim")]), Held::InPart);
    }
}
