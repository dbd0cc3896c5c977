//! Parts of a run whose input was a table: their rows restored, all or those of one conversation. Knows the layout
//! of the directory, not how rows are put together.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::Run;
use super::arrow_table::ArrowTable;
use super::parquet_table::{ForeignTable, ParquetTable, Wanted};
use super::run_reader::place_of;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::guard;
use crate::pipeline::{
    Commit, ConversationFormat, RowReaders, RowRestorer, Table, TableInput, TableReader, cell_texts, row_records,
};

/// Writes the conversations of restored rows.
type TextsOf<'a> = dyn Fn(&RecordBatch, &TableInput) -> Result<Vec<String>> + 'a;

impl Run {
    /// Restores the rows of a part whose input was a table; gives the schema of that table too. With `checksums`
    /// every row is compared with the metrics table.
    ///
    /// # Errors
    /// When a table cannot be opened, or the input of the part was no table.
    pub fn row_restorer(&self, commit: &Commit, checksums: bool) -> Result<(RowRestorer, SchemaRef)> {
        let conversations = self.foreign(commit, None)?;
        let readers = RowReaders {
            conversations: conversations.reader,
            schema: conversations.held,
            verbatim: self.table(commit, Table::Verbatim, &Wanted::All)?,
            rejects: self.rejects(commit)?,
            metrics: checksums.then(|| self.table(commit, Table::Metrics, &Wanted::All)).transpose()?,
        };
        Ok((RowRestorer::new(readers, table_of(commit)?, place_of(commit)), conversations.schema))
    }

    /// The conversations with this id from a part whose input was a table, restored, each as the JSON text of its
    /// messages. The metrics table says which rows they are; the others are not read where the format allows it.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn find_cells(&self, commit: &Commit, id: &str) -> Result<Vec<String>> {
        self.find_restored(commit, id, &cell_texts)
    }

    /// The same conversations as records that can be decoded.
    pub(super) fn find_row_records(&self, commit: &Commit, id: &str) -> Result<Vec<String>> {
        let records = |rows: &RecordBatch, table: &TableInput| -> Result<Vec<String>> {
            Ok(row_records(rows, table)?.into_iter().map(Option::unwrap_or_default).collect())
        };
        self.find_restored(commit, id, &records)
    }

    fn find_restored(&self, commit: &Commit, id: &str, texts: &TextsOf<'_>) -> Result<Vec<String>> {
        guard(|| self.find_restored_unguarded(commit, id, texts)).unwrap_or_else(|message| {
            let message = format!("the tables cannot be read: {message}");
            Err(Error::new(ErrorKind::Verification, place_of(commit), message))
        })
    }

    fn find_restored_unguarded(&self, commit: &Commit, id: &str, texts: &TextsOf<'_>) -> Result<Vec<String>> {
        let wanted = Wanted::Text("conversation_id", crate::pipeline::label(id).into_owned());
        let Some((rows, ordinals)) = self.places_of(commit, &wanted)? else { return Ok(Vec::new()) };
        let table = table_of(commit)?;
        let conversations = self.foreign(commit, Some(&ordinals))?;
        let readers = RowReaders {
            conversations: conversations.reader,
            schema: conversations.held,
            verbatim: self.table(commit, Table::Verbatim, &wanted)?,
            rejects: Box::new(std::iter::empty()),
            metrics: Some(self.table(commit, Table::Metrics, &wanted)?),
        };
        let mut restorer = RowRestorer::new(readers, table.clone(), place_of(commit)).only(rows);
        let mut cells = Vec::new();
        while let Some(restored) = restorer.next_rows()? {
            cells.extend(texts(&restored.rows, &table)?);
        }
        Ok(cells)
    }

    /// The wanted rows of the conversations of a part whose input was a table; `None` when there are none.
    pub(super) fn foreign_rows(&self, commit: &Commit, wanted: &Wanted) -> Result<Option<Box<dyn TableReader>>> {
        let Some((_, ordinals)) = self.places_of(commit, wanted)? else { return Ok(None) };
        self.foreign(commit, Some(&ordinals)).map(|table| Some(table.reader))
    }

    /// The source rows that are wanted, and their places among the conversations; `None` when there are none.
    fn places_of(&self, commit: &Commit, wanted: &Wanted) -> Result<Option<(Vec<u64>, Vec<u64>)>> {
        let rows: Vec<u64> = self.rows_of(commit, Table::Metrics, wanted)?.into_iter().map(|(_, row)| row).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let first_row = table_of(commit)?.first_row;
        // Rejected and lost rows have no row among the conversations.
        let mut absent: Vec<(u64, u64)> = Vec::new();
        for reject in self.rejects(commit)? {
            let reject = reject?;
            absent.push((reject.source_row, reject.lost_rows.unwrap_or(1)));
        }
        let ordinal = |row: u64| {
            let before = absent.iter().filter(|&&(at, _)| at < row).map(|&(_, n)| n).sum::<u64>();
            row.saturating_sub(first_row + before)
        };
        let ordinals = rows.iter().map(|&row| ordinal(row)).collect();
        Ok(Some((rows, ordinals)))
    }

    fn foreign(&self, commit: &Commit, only: Option<&[u64]>) -> Result<ForeignTable> {
        let file = self.file_of(commit, Table::Conversations.as_str())?;
        match commit.format {
            ConversationFormat::Arrow => ArrowTable::open_foreign(&file, only),
            ConversationFormat::Parquet | ConversationFormat::Jsonl => ParquetTable::open_foreign(file, only),
        }
    }
}

fn table_of(commit: &Commit) -> Result<TableInput> {
    commit.table.clone().ok_or_else(|| Error::new(ErrorKind::Verification, place_of(commit), "the input was no table"))
}
