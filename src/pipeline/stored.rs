//! What a night of a store asks of the nights before: records by their places, and their texts. Knows neither files nor tables.

use std::fmt;
use std::str::FromStr;

use crate::error::Result;

/// A record in a run of a store: `00012/0/345` is number 345, from 0, of part 0 of the run 00012.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredRow {
    /// The name of the run.
    pub run: String,
    /// The part.
    pub part: usize,
    /// Its running number in the part.
    pub row: u64,
}

impl fmt::Display for StoredRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.run, self.part, self.row)
    }
}

impl FromStr for StoredRow {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = || {
            let mut parts = text.split('/');
            let run = parts.next().filter(|run| !run.is_empty() && !run.starts_with('.'))?.to_owned();
            let (part, row) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            parts.next().is_none().then_some(Self { run, part, row })
        };
        parsed().ok_or_else(|| format!("`{text}` names no record of a store"))
    }
}

/// What earlier nights of a store hold of conversations.
pub trait EarlierNights: fmt::Debug + Send + Sync {
    /// The records of the conversation `id` of `source` that came before, all that hold some text of it.
    fn rows(&self, source: &str, id: &str) -> &[StoredRow];
    /// The texts that these records hold themselves, one behind the other.
    ///
    /// # Errors
    /// When one cannot be read.
    fn text(&self, rows: &[StoredRow]) -> Result<String>;
}

#[cfg(test)]
mod tests {
    use super::StoredRow;

    #[test]
    fn records_of_a_store_are_named() {
        let row = StoredRow { run: "00012-monday".to_owned(), part: 3, row: 45 };
        assert_eq!(row.to_string().parse(), Ok(row));
        for wrong in ["", "00012", "00012/1", "00012/1/2/3", "../1/2", "/1/2", "a/b/c"] {
            assert!(wrong.parse::<StoredRow>().is_err(), "{wrong}");
        }
    }
}
