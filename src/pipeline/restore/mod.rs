//! The way back: conversations, originals and rejects of a part become its source again, slice by slice: the exact bytes
//! of a stream, or the rows of a table. Knows no file: tables come from readers.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::bridge::{Bridge, guard};
use super::reject::RejectRow;
use super::rows::TableInput;
use super::{EarlierNights, TableReader};
use crate::error::{Error, Result};

mod borders;
mod cursor;
mod lines;
mod rows;
mod walk;
mod weave;

pub use borders::Borders;
use cursor::Checksums;
pub(crate) use cursor::{RowAgain, VerbatimCursor, rows_again};
use lines::Lines;
use rows::Rows;
use walk::Walk;
pub use walk::{Restored, RestoredSlice};

/// The tables of a part.
pub struct PartReaders {
    /// Conversations as columns or as records; a table of records may have a column `source_row`. Where the input was a
    /// table, its columns.
    pub conversations: Box<dyn TableReader>,
    /// Originals, in the order of the conversations.
    pub verbatim: Box<dyn TableReader>,
    /// Rejects in order.
    pub rejects: Box<dyn Iterator<Item = Result<RejectRow>> + Send>,
    /// Figures, when checksums are to be compared.
    pub metrics: Option<Box<dyn TableReader>>,
}

shows!(PartReaders {});

/// Restores a part from beginning to end.
pub struct Restorer {
    conversations: Box<dyn TableReader>,
    walk: Walk,
    road: Road,
    current: Option<(RecordBatch, usize)>,
    ended: bool,
}

/// How a record becomes what it was.
enum Road {
    Lines(Lines),
    Rows(Rows),
}

shows!(Restorer { walk });

impl Restorer {
    /// Restores the stream of the part that `place` names in errors.
    pub fn lines(readers: PartReaders, bridge: Bridge, place: impl Into<String>) -> Self {
        Self::new(readers, place.into(), Road::Lines(Lines::new(bridge)))
    }

    /// Restores the rows of the part that `place` names in errors; the conversations have this schema.
    pub fn rows(readers: PartReaders, table: TableInput, schema: SchemaRef, place: impl Into<String>) -> Self {
        let first_row = table.first_row;
        Self::new(readers, place.into(), Road::Rows(Rows { table, schema })).starting_at(first_row)
    }

    fn new(readers: PartReaders, place: String, road: Road) -> Self {
        let walk = Walk {
            verbatim: VerbatimCursor::new(readers.verbatim),
            rejects: readers.rejects.peekable(),
            metrics: readers.metrics.map(Checksums::new),
            nights: None,
            place,
            borders: Borders::default(),
            only: None,
            singly: false,
            next_row: 0,
            torn: BTreeSet::new(),
        };
        Self { conversations: readers.conversations, walk, road, current: None, ended: false }
    }

    /// The readers give the records with these numbers only.
    pub fn only(mut self, source_rows: impl IntoIterator<Item = u64>) -> Self {
        self.walk.only = Some(source_rows.into_iter().collect());
        self
    }

    /// The part holds inputs with these borders. Rows that are named have their running numbers.
    pub fn across(mut self, borders: Borders) -> Self {
        self.conversations = borders.numbered(self.conversations);
        self.walk = self.walk.across(borders);
        self
    }

    /// The rest of records that came again stands there.
    pub fn with_nights(mut self, nights: Option<Arc<dyn EarlierNights>>) -> Self {
        self.walk.nights = nights;
        self
    }

    /// The texts that the next records hold themselves, with their running numbers: of one that came again what is new of it, unless they are
    /// asked for `whole`. `None` at the end, and of rows of a table. What stands around records is passed over.
    pub fn next_texts(&mut self, whole: bool) -> Result<Option<Vec<(u64, String)>>> {
        let place = self.walk.place.clone();
        guard(|| self.texts(whole))
            .unwrap_or_else(|message| Err(Error::verification(place, format!("the tables cannot be read: {message}"))))
    }

    fn texts(&mut self, whole: bool) -> Result<Option<Vec<(u64, String)>>> {
        let Road::Lines(lines) = &self.road else { return Ok(None) };
        while self.current.as_ref().is_none_or(|(batch, at)| *at == batch.num_rows()) {
            let Some(batch) = self.conversations.next_rows()? else { return Ok(None) };
            self.current = Some((batch, 0));
        }
        let Some((batch, start)) = &mut self.current else { return Ok(None) };
        let texts = lines.texts(&mut self.walk, whole, &batch.slice(*start, batch.num_rows() - *start))?;
        *start += texts.len();
        Ok(Some(texts))
    }

    /// The sources that were damaged or cut off, as far as what was restored tells.
    pub(super) fn torn(&self) -> &BTreeSet<String> {
        &self.walk.torn
    }

    /// Gives each record as a slice of its own.
    pub fn one_by_one(mut self) -> Self {
        self.walk.singly = true;
        self
    }

    /// The first record has this number.
    pub fn starting_at(mut self, row: u64) -> Self {
        self.walk.next_row = row;
        self
    }

    /// The next slice of the source, `None` at the end.
    pub fn next_slice(&mut self) -> Result<Option<Restored>> {
        if self.ended {
            return Ok(None);
        }
        let place = self.walk.place.clone();
        guard(|| self.advance())
            .unwrap_or_else(|message| Err(Error::verification(place, format!("the tables cannot be read: {message}"))))
    }

    fn advance(&mut self) -> Result<Option<Restored>> {
        let before = match &mut self.road {
            Road::Lines(lines) => lines.before(&mut self.walk)?,
            Road::Rows(rows) => rows.before(&mut self.walk)?,
        };
        if before.is_some() {
            return Ok(before);
        }
        while self.current.as_ref().is_none_or(|(batch, at)| *at == batch.num_rows()) {
            let Some(batch) = self.conversations.next_rows()? else {
                self.ended = true;
                return self.end();
            };
            self.current = Some((batch, 0));
        }
        let Some((batch, start)) = &mut self.current else { return Ok(None) };
        let (walk, rest) = (&mut self.walk, batch.slice(*start, batch.num_rows() - *start));
        let restored = match &mut self.road {
            Road::Lines(lines) => lines.slice(walk, &rest)?,
            Road::Rows(rows) => rows.slice(walk, &rest)?,
        };
        *start += restored.records as usize;
        Ok(Some(restored))
    }

    fn end(&mut self) -> Result<Option<Restored>> {
        let walk = &mut self.walk;
        if walk.only.is_some() {
            return Ok(None);
        }
        if let Some(reject) = walk.rejects.next() {
            return Err(walk.broken(reject?.source_row, "a reject stands behind the end of its source"));
        }
        let last = match &self.road {
            Road::Lines(lines) => Some(lines.end(walk)?),
            Road::Rows(_) => None,
        };
        match walk.verbatim.peek_row()? {
            Some(row) => Err(walk.broken(row, "the verbatim table has an original of a record that does not exist")),
            None => Ok(last),
        }
    }
}
