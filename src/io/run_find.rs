//! One conversation out of a run, original or compressed: bloom filters, page indexes and the frames that commits
//! name keep the rest unread. Knows the layout of the directory, not how records are put together.

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{SchemaRef, UInt64Type};
use arrow::json::LineDelimitedWriter;
use arrow::record_batch::RecordBatch;

use super::Run;
use super::arrow_table::WantedRows;
use super::codec::open_codec;
use super::line_table::LineTable;
use super::parquet_table::Wanted;
use super::run_reader::place_of;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::bridge::{Bridge, guard};
use crate::pipeline::{
    Commit, ConversationFormat, PartReaders, Piece, Restorer, Table, TableInput, TableReader, label,
};

/// What is behind a conversation of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    /// The messages that something else stands for: index in the original, position among the messages of the run.
    pub messages: Vec<(u64, u64)>,
    /// How often the conversation was compacted as a whole; `None` unless it was.
    pub level: Option<u64>,
    /// The chunk of its archive.
    pub chunk: Option<u64>,
    /// What the archived messages are about.
    pub topics: Option<String>,
}

/// The wanted rows of a table: their numbers in it, and their numbers in the source.
type Found = Vec<(u64, u64)>;

/// The wanted conversations of a part.
pub(super) struct Conversations {
    pub(super) reader: Box<dyn TableReader>,
    /// The schema of the rows, where the input was a table.
    held: Option<SchemaRef>,
    /// Their numbers in the source.
    rows: Vec<u64>,
}

impl Run {
    /// Restores the conversations with this id, without reading the rest where the format allows it; `None` when the part
    /// has none.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn find(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Option<Restorer>> {
        // The files are not hashed first: that would read everything. Damage shows in the record's checksum.
        self.check_originals()?;
        guarded(commit, || {
            let wanted = wanted(id);
            let Some(found) = self.wanted_conversations(commit, &wanted)? else { return Ok(None) };
            let readers = PartReaders {
                conversations: found.reader,
                verbatim: self.table(commit, Table::Verbatim, &wanted)?,
                rejects: Box::new(std::iter::empty()),
                metrics: Some(self.table(commit, Table::Metrics, &wanted)?),
            };
            let place = place_of(commit);
            let restorer = match (&commit.table, found.held) {
                (Some(table), Some(held)) => Restorer::rows(readers, table.clone(), held, place),
                _ => Restorer::lines(readers, bridge.clone(), place),
            };
            Ok(Some(restorer.only(found.rows)))
        })
    }

    /// The conversations with this id as the run shows them, each as one line of JSON: a record of its own shape, or
    /// the row of the conversations table.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn find_compressed(&self, commit: &Commit, id: &str) -> Result<Vec<String>> {
        self.check_originals()?;
        guarded(commit, || self.find_compressed_unguarded(commit, id))
    }

    /// What is behind the conversations with this id, by rows of the source, ascending.
    ///
    /// # Errors
    /// When a table cannot be read.
    pub fn find_behind(&self, commit: &Commit, id: &str) -> Result<BTreeMap<u64, Behind>> {
        self.check_originals()?;
        guarded(commit, || {
            let wanted = wanted(id);
            let mut found: BTreeMap<u64, Behind> = BTreeMap::new();
            let mut table = self.table(commit, Table::Metrics, &wanted)?;
            while let Some(rows) = table.next_rows()? {
                let number = |name: &str| rows.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
                let topics = rows.column_by_name("compaction_topics").and_then(|texts| texts.as_string_opt::<i64>());
                for row in wanted_rows(commit, &rows, &wanted)? {
                    let number =
                        |name: &str| number(name).filter(|numbers| numbers.is_valid(row)).map(|n| n.value(row));
                    let behind = found.entry(number("source_row").unwrap_or_default()).or_default();
                    behind.level = number("compaction_level");
                    behind.chunk = number("compaction_chunk");
                    behind.topics = topics.filter(|texts| texts.is_valid(row)).map(|texts| texts.value(row).to_owned());
                }
            }
            if found.is_empty() {
                return Ok(found);
            }
            let mut table = self.table(commit, Table::Verbatim, &wanted)?;
            while let Some(rows) = table.next_rows()? {
                let number = |name: &str| rows.column_by_name(name)?.as_primitive_opt::<UInt64Type>();
                for row in wanted_rows(commit, &rows, &wanted)? {
                    let number =
                        |name: &str| number(name).filter(|numbers| numbers.is_valid(row)).map(|n| n.value(row));
                    let place = number("message_index").zip(number("position"));
                    if let (Some(place), Some(source)) = (place, number("source_row")) {
                        found.entry(source).or_default().messages.push(place);
                    }
                }
            }
            for behind in found.values_mut() {
                behind.messages.sort_unstable();
            }
            Ok(found)
        })
    }

    fn find_compressed_unguarded(&self, commit: &Commit, id: &str) -> Result<Vec<String>> {
        let Some(found) = self.wanted_conversations(commit, &wanted(id))? else { return Ok(Vec::new()) };
        let (mut table, mut lines) = (found.reader, Vec::new());
        while let Some(rows) = table.next_rows()? {
            match rows.column_by_name("record").filter(|_| commit.table.is_none()) {
                Some(records) => lines.extend(records.as_string::<i64>().iter().flatten().map(str::to_owned)),
                None => lines.extend(json_lines(commit, &rows)?),
            }
        }
        Ok(lines)
    }

    /// The wanted rows of the conversations, whatever they are; `None` when there are none.
    pub(super) fn wanted_conversations(&self, commit: &Commit, wanted: &Wanted) -> Result<Option<Conversations>> {
        let columns = commit.table.is_none() && commit.format != ConversationFormat::Jsonl;
        // Records and rows of other tables do not say whose they are.
        let names = if columns { Table::Conversations } else { Table::Metrics };
        let found = self.rows_of(commit, names, wanted)?;
        if found.is_empty() {
            return Ok(None);
        }
        let rows: Vec<u64> = found.iter().map(|&(_, row)| row).collect();
        Ok(Some(match &commit.table {
            Some(table) => {
                let foreign = self.foreign(commit, Some(&self.ordinals(commit, table, &rows)?))?;
                Conversations { reader: foreign.reader, held: Some(foreign.held), rows }
            }
            None if columns => Conversations { reader: self.table(commit, names, wanted)?, held: None, rows },
            None => Conversations { reader: self.records_at(commit, &found)?, held: None, rows },
        }))
    }

    /// The places of these source rows among the conversations: rejected and lost rows have none there.
    fn ordinals(&self, commit: &Commit, table: &TableInput, rows: &[u64]) -> Result<Vec<u64>> {
        let mut absent: Vec<(u64, u64)> = Vec::new();
        for reject in self.rejects(commit)? {
            let reject = reject?;
            absent.push((reject.source_row, reject.lost_rows.unwrap_or(1)));
        }
        let ordinal = |&row: &u64| {
            let before = absent.iter().filter(|&&(at, _)| at < row).map(|&(_, n)| n).sum::<u64>();
            row.saturating_sub(table.first_row + before)
        };
        Ok(rows.iter().map(ordinal).collect())
    }

    /// The wanted rows of a table of our own.
    fn rows_of(&self, commit: &Commit, table: Table, wanted: &Wanted) -> Result<Found> {
        let mut rows = Vec::new();
        // The number of a row in the table counts in tables of lines only.
        let mut reader = match commit.format {
            ConversationFormat::Parquet | ConversationFormat::Arrow => self.table(commit, table, wanted)?,
            ConversationFormat::Jsonl => self.table(commit, table, &Wanted::All)?,
        };
        let mut ordinal = 0;
        while let Some(batch) = reader.next_rows()? {
            let (Some(ids), Some(source_rows)) = (
                batch.column_by_name("conversation_id").and_then(|column| column.as_string_opt::<i64>()),
                batch.column_by_name("source_row").and_then(|column| column.as_primitive_opt::<UInt64Type>()),
            ) else {
                return Err(Error::new(ErrorKind::Verification, place_of(commit), "the table has no conversation ids"));
            };
            for (id, row) in ids.iter().zip(source_rows.values()) {
                if matches!(wanted, Wanted::Text(_, wanted) if id == Some(wanted)) {
                    rows.push((ordinal, *row));
                }
                ordinal += 1;
            }
        }
        Ok(rows)
    }

    /// The records with these numbers; of the file only the frames that hold them are read.
    fn records_at(&self, commit: &Commit, rows: &[(u64, u64)]) -> Result<Box<dyn TableReader>> {
        let table = Table::Conversations.as_str();
        let file = self.file_of(commit, table)?;
        let pieces = commit.files.iter().find(|file| file.table == table).map_or(&[][..], |file| &file.pieces);
        let (frames, rows) = frames_of(pieces, rows);
        let place = file.location().to_string();
        let mut stream: Box<dyn Read + Send> = Box::new(std::io::empty());
        for (range, piece) in frames {
            // The frame's own checksum stands at its end, which nobody reads who has found his row.
            let mut bytes = Vec::new();
            let read = file.reader(range.clone()).read_to_end(&mut bytes);
            read.map_err(|error| Error::new(ErrorKind::Io, &place, "cannot be read").because(error))?;
            if blake3::hash(&bytes).to_hex().as_str() != piece.blake3 {
                let message =
                    format!("bytes {} to {} are damaged; `condenser verify` says what else is", range.start, range.end);
                return Err(Error::new(ErrorKind::Verification, &place, message));
            }
            stream = Box::new(stream.chain(std::io::Cursor::new(bytes)));
        }
        let (_, stream) = open_codec(std::io::BufReader::new(stream))
            .map_err(|error| Error::new(ErrorKind::Io, &place, "cannot be read").because(error))?;
        let reader = LineTable::records(&place, stream).only(rows);
        Ok(Box::new(WantedRows { reader, wanted: Wanted::All, file }))
    }
}

/// The rows of the wanted conversation.
pub(super) fn wanted_rows(commit: &Commit, rows: &RecordBatch, wanted: &Wanted) -> Result<Vec<usize>> {
    let ids = rows.column_by_name("conversation_id").and_then(|column| column.as_string_opt::<i64>());
    let missing = || Error::new(ErrorKind::Verification, place_of(commit), "the table has no conversation ids");
    let is_wanted = |id: Option<&str>| matches!(wanted, Wanted::Text(_, wanted) if id == Some(wanted));
    Ok(ids.ok_or_else(missing)?.iter().enumerate().filter(|(_, id)| is_wanted(*id)).map(|(row, _)| row).collect())
}

pub(super) fn wanted(id: &str) -> Wanted {
    Wanted::Text("conversation_id", label(id).into_owned())
}

/// Where the pieces stand that hold `rows`, and the rows by their numbers in these pieces alone.
fn frames_of<'p>(pieces: &'p [Piece], rows: &[(u64, u64)]) -> (Vec<(Range<u64>, &'p Piece)>, Found) {
    let (mut ranges, mut found) = (Vec::new(), Vec::new());
    let (mut offset, mut first, mut passed) = (0, 0, 0);
    for piece in pieces {
        let here = rows.iter().filter(|(ordinal, _)| (first..first + piece.rows).contains(ordinal));
        let before = found.len();
        found.extend(here.map(|&(ordinal, row)| (ordinal - passed, row)));
        if found.len() > before {
            ranges.push((offset..offset + piece.bytes, piece));
        } else {
            passed += piece.rows;
        }
        offset += piece.bytes;
        first += piece.rows;
    }
    (ranges, found)
}

pub(super) fn json_lines(commit: &Commit, rows: &RecordBatch) -> Result<Vec<String>> {
    let failed = |error| {
        let message = "the row has a column that cannot be shown as JSON";
        Error::new(ErrorKind::Input, place_of(commit), message).because(error)
    };
    let mut writer = LineDelimitedWriter::new(Vec::new());
    writer.write(rows).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).lines().map(str::to_owned).collect())
}

pub(super) fn guarded<T>(commit: &Commit, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guard(work).unwrap_or_else(|message| {
        let message = format!("the tables cannot be read: {message}");
        Err(Error::new(ErrorKind::Verification, place_of(commit), message))
    })
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{Piece, frames_of};

    #[test]
    fn only_the_frames_with_wanted_rows_are_read() {
        let piece = |bytes, rows| Piece { bytes, rows, blake3: String::new() };
        let pieces = [piece(10, 5), piece(20, 3), piece(30, 4), piece(5, 0)];
        let check = |wanted: &[(u64, u64)], ranges: &[Range<u64>], rows: &[(u64, u64)]| {
            let (frames, found) = frames_of(&pieces, wanted);
            assert_eq!(frames.into_iter().map(|(range, _)| range).collect::<Vec<_>>(), ranges);
            assert_eq!(found, rows);
        };
        check(&[(6, 60), (11, 110)], &[10..30, 30..60], &[(1, 60), (6, 110)]);
        check(&[(0, 7), (9, 90)], &[0..10, 30..60], &[(0, 7), (6, 90)]);
        check(&[], &[], &[]);
    }
}
