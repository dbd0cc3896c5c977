//! Pairs of a number and a count as one short text, `-4:12 7:1`: a JSON array would give each of hundreds its line.

use std::fmt::Write as _;

/// Writes the pairs.
pub(super) fn write(pairs: impl Iterator<Item = (i64, u64)>) -> String {
    let mut out = String::new();
    for (number, count) in pairs {
        let blank = if out.is_empty() { "" } else { " " };
        write!(out, "{blank}{number}:{count}").expect("a String takes everything");
    }
    out
}

/// Reads them.
pub(super) fn read(text: &str) -> Result<Vec<(i64, u64)>, String> {
    let pair = |pair: &str| {
        let (number, count) = pair.split_once(':')?;
        Some((number.parse().ok()?, count.parse().ok()?))
    };
    text.split_ascii_whitespace().map(|text| pair(text).ok_or_else(|| format!("`{text}` is no pair"))).collect()
}
