//! A conversation that a store holds already and that comes again, as it was or grown: what is new of it is stored, and where the rest
//! stands; what is shown of it is told by the conversation itself. Knows texts of one conversation; refuses to know tables
//! and files.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::record::{OutputRow, Product};
use super::stored::{EarlierNights, StoredRow};
use crate::model::ProvenancePlace;
use crate::shape::{Delta, DeltaPiece, Deltas, Wholes, WrittenText, row_text};

/// A record is stored by others when at least so much of it, in percent, stands there.
const MIN_SHARED: usize = 25;
/// A record goes by others in so many tables at most; then it is stored whole, once.
const MAX_TABLES: usize = 32;

/// A text by another one: what that does not have, and how the two are put together; without pieces it stands by itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByText<'t> {
    pub(crate) rest: Cow<'t, str>,
    pub(crate) pieces: Option<Vec<DeltaPiece>>,
}

impl<'t> ByText<'t> {
    /// `text` by `other`, proven.
    fn of(text: &'t str, other: &str) -> Self {
        let written = WrittenText::of_messages(&[other]);
        let delta = Deltas::by(&written).and_then(|deltas| deltas.of(text, &mut 0));
        let by = delta.map(|Delta { pieces, rest }| Self { rest: rest.into(), pieces: Some(pieces) });
        let comes_back = |by: &Self| by.text(other).is_ok_and(|back| back == text);
        by.filter(comes_back).unwrap_or(Self { rest: text.into(), pieces: None })
    }

    /// The text again.
    pub(crate) fn text(&self, other: &str) -> Result<Cow<'_, str>, String> {
        let Some(pieces) = &self.pieces else { return Ok(Cow::Borrowed(&self.rest)) };
        let written = WrittenText::of_messages(&[other]);
        let whole = Wholes::by(&written).next(0, pieces, &self.rest);
        whole.map(Cow::Owned).map_err(|error| error.to_string())
    }
}

/// What is stored of a record that comes again.
#[derive(Debug)]
pub(crate) struct Again<'r> {
    /// The records whose texts it goes by.
    pub(crate) rows: &'r [StoredRow],
    /// The record, by these.
    pub(crate) original: ByText<'r>,
    /// What is shown of it, by the record.
    pub(crate) view: ByText<'static>,
}

impl<'r> Again<'r> {
    /// Of a record of which `written` is shown, while `earlier` is what `rows` hold. `None` where nothing says what is shown of
    /// it.
    pub(crate) fn of(
        product: &Product<'r>,
        written: &OutputRow<'_>,
        provenance: ProvenancePlace,
        rows: &'r [StoredRow],
        earlier: &str,
    ) -> Option<Self> {
        let Product { decoded, condensed } = product;
        let record = decoded.record;
        let mut original = ByText::of(record, earlier);
        // So little of it is there that it may stand by itself, or who looks for it would have to look into too many tables.
        let is_new = original.rest.len() > record.len() / 100 * (100 - MIN_SHARED);
        let tables: BTreeSet<_> = rows.iter().map(|row| (&row.run, row.part)).collect();
        if is_new || tables.len() > MAX_TABLES {
            original = ByText { rest: record.into(), pieces: None };
        }
        let written = match written {
            OutputRow::Row(row) => {
                let as_record = decoded.condensed_record(condensed, provenance);
                row_text(row, as_record, decoded.content_style())?
            }
            OutputRow::Record(record) => record.clone(),
        };
        let ByText { rest, pieces } = ByText::of(&written, record);
        let view = ByText { rest: rest.into_owned().into(), pieces };
        Some(Self { rows, original, view })
    }
}

/// A record that came again, as its rows of the sidecar say.
#[derive(Debug, Default)]
pub(crate) struct StoredAgain<'e> {
    pub(crate) rows: Vec<StoredRow>,
    pub(crate) original: ByText<'e>,
}

impl StoredAgain<'_> {
    /// The exact record.
    pub(crate) fn record(&self, earlier: Option<&dyn EarlierNights>) -> Result<String, String> {
        let missing = || "the store that holds the rest of the conversation is not beside the run".to_owned();
        if self.original.pieces.is_none() {
            return Ok(self.original.rest.to_string());
        }
        let text = earlier.ok_or_else(missing)?.text(&self.rows).map_err(|error| error.to_string())?;
        self.original.text(&text).map(Cow::into_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::ByText;

    #[test]
    fn a_text_comes_back_by_another() {
        let before: String = (0..200).map(|n| format!("line {n} of what was said\n")).collect();
        let after = format!("a new head\n{before}and more of it\n");
        for (text, shares) in [(after.as_str(), true), (before.as_str(), true), ("nothing of it", false), ("", false)] {
            let by = ByText::of(text, &before);
            assert_eq!(by.pieces.is_some(), shares, "{text}");
            assert!(!shares || by.rest.len() < 40, "{by:?}");
            assert_eq!(by.text(&before).as_deref(), Ok(text));
        }
        assert!(ByText::of(&after, &before).text("another").is_err());
    }
}
