//! One conversation out of a run: as it was, as it is shown, what stands for what, what was decided and measured. Bloom
//! filters, page indexes and the frames that commits name keep the rest unread. Knows the layout of the directory, not
//! how records are put together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::ops::Range;

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{SchemaRef, UInt64Type};
use arrow::json::LineDelimitedWriter;
use arrow::record_batch::RecordBatch;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Run;
use super::arrow_table::SomeRows;
use super::codec::open_codec;
use super::line_table::LineTable;
use super::parquet_table::WantedRows;
use super::run_documents::place_of;
use super::run_reader::lines;
use super::{failed, hash_of};
use crate::error::{Error, Result};
use crate::model::{ListedViews, PartView};
use crate::pipeline::bridge::{Bridge, guard};
use crate::pipeline::tables::{count_column, numbers_at, numbers_column, text_at, text_column, with_views};
use crate::pipeline::{
    Borders, Commit, ConversationFormat, PartReaders, Piece, RestoredSlice, Restorer, StoredRow, TableInput, TableName,
    TableReader, VerbatimCursor,
};

/// What is behind a conversation of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    /// The messages that something else stands for: index in the original, position among the messages of the run.
    pub messages: Vec<(u64, u64)>,
    /// Of those of which something is still shown in its place: index in the original, and what that is.
    pub views: Vec<(u64, Vec<PartView>)>,
    /// How often the conversation was compacted as a whole; `None` unless it was.
    pub level: Option<u64>,
    /// The chunk of its archive.
    pub chunk: Option<u64>,
    /// What the archived messages are about.
    pub topics: Option<String>,
}

/// A conversation of a run.
#[derive(Debug, Clone)]
pub struct FoundConversation {
    /// The source as given.
    pub source: String,
    /// Its row in the source.
    pub source_row: u64,
    /// As it was: its record, or its row as one.
    pub original: String,
    /// As it is shown.
    pub shown: Shown,
    /// What is not shown any more.
    pub behind: Behind,
    /// What was decided about each message, as far as the run says.
    pub decisions: Vec<DecisionRow>,
    /// Its row of the metrics table by names of columns, without nulls.
    pub metrics: Map<String, Value>,
}

/// A conversation as the run shows it.
#[derive(Debug, Clone)]
pub enum Shown {
    /// A record of its own shape, or its row as one.
    Record(String),
    /// Columns.
    Columns(Vec<ShownMessage>),
}

/// A message of columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ShownMessage {
    /// The role as the record writes it.
    pub role: String,
    /// The text, or the JSON text of a content list.
    pub content: String,
}

/// A row of the decisions table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DecisionRow {
    /// Index of the message in the original.
    #[serde(rename = "message_index")]
    pub index: u64,
    /// What was done.
    pub action: String,
    /// The rule that decided.
    pub reason: String,
    /// Further reasons.
    #[serde(default)]
    pub details: Vec<String>,
    /// Characters before.
    pub chars_in: u64,
    /// Its share of the characters after.
    pub chars_out: u64,
}

/// A row of a table, and that of the source which it is about.
#[derive(Deserialize)]
struct About<T> {
    source: String,
    source_row: u64,
    #[serde(flatten)]
    row: T,
}

/// A row of the conversations as columns.
#[derive(Deserialize)]
struct ShownRow {
    messages: Vec<ShownMessage>,
}

/// The wanted rows of a table: their numbers in it, and their running numbers in the part.
type Found = Vec<(u64, u64)>;

/// By sources and rows in them.
type ByRow<T> = BTreeMap<(String, u64), T>;

/// The wanted conversations of a part.
struct Conversations {
    reader: Box<dyn TableReader>,
    /// The schema of the rows, where the input was a table.
    held: Option<SchemaRef>,
    /// Their running numbers in the part.
    rows: Vec<u64>,
}

impl Run {
    /// Restores the conversations with this id, without reading the rest where the format allows it; `None` when the part
    /// has none.
    pub fn find(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Option<Restorer>> {
        let Some(restorer) = self.find_bare(commit, id, bridge)? else { return Ok(None) };
        Ok(Some(restorer.with_nights(self.nights(commit, Some(id), bridge)?)))
    }

    /// Rows of a table without those about records that a later night goes on from.
    fn current(&self, commit: &Commit, reader: Box<dyn TableReader>) -> Box<dyn TableReader> {
        let Some(superseded) = self.superseded.get(&commit.part) else { return reader };
        let borders = Borders::of(commit);
        Box::new(Current { reader, gone: superseded.iter().map(|&row| borders.in_input(row)).collect() })
    }

    /// The running numbers of the records with this id, each with the records that it goes on from; none of them is superseded yet.
    pub(super) fn rows_with(&self, commit: &Commit, id: &str) -> Result<Vec<(u64, Vec<StoredRow>)>> {
        guarded(commit, || {
            let Some(found) = self.wanted_conversations(commit, &WantedRows::of_conversation(id))? else {
                return Ok(Vec::new());
            };
            let mut again = self.again(commit, &WantedRows::of_conversation(id))?;
            Ok(found.rows.into_iter().map(|row| (row, again.remove(&row).unwrap_or_default().rows)).collect())
        })
    }

    /// The same, of records that come again what the run itself holds.
    pub(super) fn find_bare(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Option<Restorer>> {
        // The files are not hashed first: that would read everything. Damage shows in the record's checksum.
        self.check_originals()?;
        guarded(commit, || {
            let wanted = WantedRows::of_conversation(id);
            let Some(found) = self.wanted_conversations(commit, &wanted)? else { return Ok(None) };
            let readers = PartReaders {
                conversations: found.reader,
                verbatim: self.current(commit, self.table(commit, TableName::Verbatim, &wanted)?),
                rejects: Box::new(std::iter::empty()),
                metrics: Some(self.current(commit, self.table(commit, TableName::Metrics, &wanted)?)),
            };
            let place = place_of(commit);
            let restorer = match (&commit.table, found.held) {
                (Some(table), Some(held)) => Restorer::rows(readers, table.clone(), held, place),
                _ => lines(readers, bridge, commit),
            };
            Ok(Some(restorer.only(found.rows)))
        })
    }

    /// The conversations with this id as the run shows them, each as one line of JSON: a record of its own shape, or
    /// the row of the conversations table.
    pub fn find_compressed(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Vec<String>> {
        self.check_originals()?;
        guarded(commit, || {
            let Some(mut found) = self.shown_conversations(commit, id, bridge)? else { return Ok(Vec::new()) };
            let mut lines = Vec::new();
            while let Some(rows) = found.reader.next_rows()? {
                match rows.column_by_name("record").filter(|_| commit.table.is_none()) {
                    Some(records) => lines.extend(records.as_string::<i64>().iter().flatten().map(str::to_owned)),
                    None => lines.extend(json_lines(commit, &rows)?),
                }
            }
            Ok(lines)
        })
    }

    /// The conversations of a part with this id, in the order of the source, with everything that the run knows of them.
    pub fn find_sides(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Vec<FoundConversation>> {
        self.check_originals()?;
        let metrics: Vec<Map<String, Value>> = guarded(commit, || self.found(commit, TableName::Metrics, id))?;
        if metrics.is_empty() {
            return Ok(Vec::new());
        }
        let originals = self.find_originals(commit, id, bridge)?;
        let (shown, mut replaced, mut decisions) = guarded(commit, || {
            Ok((
                self.find_shown(commit, id, bridge)?,
                self.find_replaced(commit, id)?,
                self.find_decisions(commit, id)?,
            ))
        })?;
        if originals.len() != metrics.len() || shown.len() != metrics.len() {
            let message = format!("the tables do not agree on how many conversations are called {id}");
            return Err(Error::verification(place_of(commit), message));
        }
        let found = metrics.into_iter().zip(originals).zip(shown).map(|((metrics, original), shown)| {
            let number = |name: &str| metrics.get(name).and_then(Value::as_u64);
            let source = metrics.get("source").and_then(Value::as_str).ok_or_else(|| lacking(commit))?;
            let source_row = number("source_row").ok_or_else(|| lacking(commit))?;
            let at = (source.to_owned(), source_row);
            let topics = metrics.get("compaction_topics").and_then(Value::as_str);
            let behind = Behind {
                level: number("compaction_level"),
                chunk: number("compaction_chunk"),
                topics: topics.map(str::to_owned),
                ..replaced.remove(&at).unwrap_or_default()
            };
            let decisions = decisions.remove(&at).unwrap_or_default();
            Ok(FoundConversation { source: at.0, source_row, original, shown, behind, decisions, metrics })
        });
        found.collect()
    }

    /// The rows of a table of our own that are about the conversation, as objects without nulls.
    fn found<T: DeserializeOwned>(&self, commit: &Commit, table: TableName, id: &str) -> Result<Vec<T>> {
        let (mut table, mut found) =
            (self.current(commit, self.table(commit, table, &WantedRows::of_conversation(id))?), Vec::new());
        while let Some(rows) = table.next_rows()? {
            for line in json_lines(commit, &rows)? {
                found.push(serde_json::from_str(&line).map_err(|error| lacking(commit).because(error))?);
            }
        }
        Ok(found)
    }

    /// The messages that something else stands for and the views of them, by rows of the source.
    fn find_replaced(&self, commit: &Commit, id: &str) -> Result<ByRow<Behind>> {
        let mut found: ByRow<Behind> = BTreeMap::new();
        let table = self.table(commit, TableName::Verbatim, &WantedRows::of_conversation(id))?;
        let (mut table, mut next_mark) = (self.current(commit, table), 1);
        while let Some(rows) = table.next_rows()? {
            let (sources, source_rows) = (text_column(&rows, "source")?, count_column(&rows, "source_row")?);
            let (indexes, positions) = (count_column(&rows, "message_index")?, count_column(&rows, "position")?);
            // Runs of earlier versions have none.
            let (numbers, texts) = (numbers_column(&rows, "views").ok(), text_column(&rows, "marks").ok());
            for at in (0..rows.num_rows()).filter(|&at| indexes.is_valid(at)) {
                let place = (sources.value(at).to_owned(), source_rows.value(at));
                // The rows of a conversation stand together.
                if !found.contains_key(&place) {
                    next_mark = 1;
                }
                let behind = found.entry(place).or_default();
                behind.messages.push((indexes.value(at), positions.value(at)));
                let damaged = |_| Error::verification(place_of(commit), "a view cannot be read");
                let numbers = numbers.map(|numbers| numbers_at(numbers, at)).transpose().map_err(damaged)?.flatten();
                if let Some(numbers) = numbers {
                    let texts = texts.and_then(|texts| text_at(texts, at)).map_or(Ok(Vec::new()), serde_json::from_str);
                    let texts = texts.map_err(|_| "no list").map_err(damaged)?;
                    let views = ListedViews { numbers, texts }.views(next_mark).ok_or("torn").map_err(damaged)?;
                    next_mark = PartView::next_mark(&views, next_mark);
                    behind.views.push((indexes.value(at), views));
                }
            }
        }
        for behind in found.values_mut() {
            behind.messages.sort_unstable();
            behind.views.sort_unstable_by_key(|&(index, _)| index);
        }
        Ok(found)
    }

    /// What was decided about each message, by rows of the source; nothing when the run has no table of decisions.
    fn find_decisions(&self, commit: &Commit, id: &str) -> Result<ByRow<Vec<DecisionRow>>> {
        let mut found: ByRow<Vec<DecisionRow>> = BTreeMap::new();
        if commit.files.iter().any(|file| file.table == TableName::Decisions.as_str()) {
            for About { source, source_row, row } in self.found(commit, TableName::Decisions, id)? {
                found.entry((source, source_row)).or_default().push(row);
            }
        }
        Ok(found)
    }

    /// The originals, each alone.
    fn find_originals(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Vec<String>> {
        let Some(restorer) = self.find(commit, id, bridge)? else { return Ok(Vec::new()) };
        let mut restorer = restorer.one_by_one();
        let mut originals = Vec::new();
        while let Some(restored) = restorer.next_slice()? {
            match (restored.slice, &commit.table) {
                (RestoredSlice::Rows { rows, .. }, Some(table)) => {
                    originals.extend(table.records(&rows)?.into_iter().map(Option::unwrap_or_default));
                }
                (RestoredSlice::Bytes(bytes), _) => {
                    originals.push(String::from_utf8_lossy(&bytes).trim_matches(['\n', '\r']).to_owned());
                }
                (RestoredSlice::Rows { .. }, None) => return Err(lacking(commit)),
            }
        }
        Ok(originals)
    }

    fn find_shown(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Vec<Shown>> {
        let Some(mut found) = self.shown_conversations(commit, id, bridge)? else { return Ok(Vec::new()) };
        let mut shown = Vec::new();
        while let Some(batch) = found.reader.next_rows()? {
            if let Some(table) = &commit.table {
                let records = table.records(&batch)?.into_iter();
                shown.extend(records.map(|record| Shown::Record(record.unwrap_or_default())));
            } else if let Some(records) = batch.column_by_name("record") {
                shown.extend(records.as_string::<i64>().iter().flatten().map(|text| Shown::Record(text.to_owned())));
            } else {
                for line in json_lines(commit, &batch)? {
                    let row: ShownRow = serde_json::from_str(&line).map_err(|error| lacking(commit).because(error))?;
                    shown.push(Shown::Columns(row.messages));
                }
            }
        }
        Ok(shown)
    }

    /// The conversations with this id as the run shows them, those that came again too.
    fn shown_conversations(&self, commit: &Commit, id: &str, bridge: &Bridge) -> Result<Option<Conversations>> {
        let Some(found) = self.wanted_conversations(commit, &WantedRows::of_conversation(id))? else { return Ok(None) };
        self.check_shown(commit)?;
        if commit.rests_on.is_empty() {
            return Ok(Some(found));
        }
        let mut records = BTreeMap::new();
        if let Some(mut restorer) = self.find(commit, id, bridge)? {
            while let Some(texts) = restorer.next_texts(true)? {
                records.extend(texts);
            }
        }
        let table = self.table(commit, TableName::Verbatim, &WantedRows::of_conversation(id))?;
        let mut verbatim = VerbatimCursor::new(table).across(&Borders::of(commit));
        let mut views = Vec::with_capacity(found.rows.len());
        for row in &found.rows {
            let entries = verbatim.take(*row)?;
            let view = entries.read().and_then(|entry| entry.shown(records.get(row).map_or("", String::as_str)));
            views.push(view.map_err(|message| Error::verification(place_of(commit), message))?);
        }
        let reader = Box::new(Viewed { reader: found.reader, views: views.into() });
        Ok(Some(Conversations { reader, ..found }))
    }

    /// Refuses a damaged table of what is shown: no hash of a row says what stands in it, and pages have no checksum. Frames of
    /// lines have one of their own.
    fn check_shown(&self, commit: &Commit) -> Result<()> {
        let table = TableName::Conversations.as_str();
        let committed = commit.files.iter().find(|file| file.table == table);
        let Some(committed) = committed.filter(|_| commit.format != ConversationFormat::Jsonl) else { return Ok(()) };
        let file = self.file_of(commit, table)?;
        let place = file.location().to_string();
        let hash = hash_of(file.reader(0..committed.bytes));
        if hash.map_err(|error| failed(&place, "cannot be read", error))? == committed.blake3 {
            return Ok(());
        }
        Err(Error::verification(&place, "the file is damaged; `condenser verify` says what else is"))
    }

    /// The wanted rows of the conversations, whatever they are; `None` when there are none.
    fn wanted_conversations(&self, commit: &Commit, wanted: &WantedRows) -> Result<Option<Conversations>> {
        let columns = commit.table.is_none() && commit.format != ConversationFormat::Jsonl;
        // Records and rows of other tables do not say whose they are.
        let names = if columns { TableName::Conversations } else { TableName::Metrics };
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
            None if columns => {
                let reader = self.current(commit, self.table(commit, names, wanted)?);
                Conversations { reader, held: None, rows }
            }
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
    fn rows_of(&self, commit: &Commit, table: TableName, wanted: &WantedRows) -> Result<Found> {
        let mut rows = Vec::new();
        // The number of a row in the table counts in tables of lines only.
        let reader = match commit.format {
            ConversationFormat::Parquet | ConversationFormat::Arrow => self.table(commit, table, wanted)?,
            ConversationFormat::Jsonl => self.table(commit, table, &WantedRows::All)?,
        };
        let mut reader = Borders::of(commit).numbered(reader);
        let (mut ordinal, superseded) = (0, self.superseded.get(&commit.part));
        while let Some(batch) = reader.next_rows()? {
            let (Some(ids), Some(source_rows)) = (
                batch.column_by_name("conversation_id").and_then(|column| column.as_string_opt::<i64>()),
                batch.column_by_name("source_row").and_then(|column| column.as_primitive_opt::<UInt64Type>()),
            ) else {
                return Err(Error::verification(place_of(commit), "the table has no conversation ids"));
            };
            for (id, row) in ids.iter().zip(source_rows.values()) {
                let is_wanted = matches!(wanted, WantedRows::Text(_, wanted) if id == Some(wanted));
                if is_wanted && superseded.is_none_or(|rows| !rows.contains(row)) {
                    rows.push((ordinal, *row));
                }
                ordinal += 1;
            }
        }
        Ok(rows)
    }

    /// The records with these numbers; of the file only the frames that hold them are read.
    fn records_at(&self, commit: &Commit, rows: &[(u64, u64)]) -> Result<Box<dyn TableReader>> {
        let table = TableName::Conversations.as_str();
        let file = self.file_of(commit, table)?;
        let pieces = commit.files.iter().find(|file| file.table == table).map_or(&[][..], |file| &file.pieces);
        let (frames, rows) = frames_of(pieces, rows);
        let place = file.location().to_string();
        let mut stream: Box<dyn Read + Send> = Box::new(std::io::empty());
        for (range, piece) in frames {
            // The frame's own checksum stands at its end, which nobody reads who has found his row.
            let mut bytes = Vec::new();
            let read = file.reader(range.clone()).read_to_end(&mut bytes);
            read.map_err(|error| Error::io(&place, "cannot be read").because(error))?;
            if blake3::hash(&bytes).to_hex().as_str() != piece.blake3 {
                let message =
                    format!("bytes {} to {} are damaged; `condenser verify` says what else is", range.start, range.end);
                return Err(Error::verification(&place, message));
            }
            stream = Box::new(stream.chain(std::io::Cursor::new(bytes)));
        }
        let (_, stream) = open_codec(std::io::BufReader::new(stream))
            .map_err(|error| Error::io(&place, "cannot be read").because(error))?;
        let reader = LineTable::records(&place, stream).only(rows);
        Ok(Box::new(SomeRows::wanted(reader, WantedRows::All, file)))
    }
}

/// Rows of a table about other records than those that are gone: each by its source, where several share the part, and its number
/// in that.
struct Current {
    reader: Box<dyn TableReader>,
    gone: BTreeSet<(Option<String>, u64)>,
}

impl TableReader for Current {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.reader.next_rows()? else { return Ok(None) };
        let (sources, rows) = (text_column(&batch, "source")?, count_column(&batch, "source_row")?);
        let is_gone = |at: usize| {
            let row = rows.value(at);
            self.gone.contains(&(None, row)) || self.gone.contains(&(Some(sources.value(at).to_owned()), row))
        };
        let stays: BooleanArray = (0..batch.num_rows()).map(|at| Some(!is_gone(at))).collect();
        let rest = filter_record_batch(&batch, &stays);
        rest.map(Some).map_err(|error| Error::internal("", "rows cannot be left out").because(error))
    }
}

/// Conversations, those of which only a view is told put together.
struct Viewed {
    reader: Box<dyn TableReader>,
    /// Of each row that comes.
    views: VecDeque<Option<String>>,
}

impl TableReader for Viewed {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.reader.next_rows()? else { return Ok(None) };
        let views: Vec<_> = self.views.drain(..batch.num_rows().min(self.views.len())).collect();
        with_views(&batch, &views).map(Some)
    }
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

fn json_lines(commit: &Commit, rows: &RecordBatch) -> Result<Vec<String>> {
    let failed = |error| {
        let message = "the row has a column that cannot be shown as JSON";
        Error::input(place_of(commit), message).because(error)
    };
    let mut writer = LineDelimitedWriter::new(Vec::new());
    writer.write(rows).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).lines().map(str::to_owned).collect())
}

fn guarded<T>(commit: &Commit, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guard(work).unwrap_or_else(|message| {
        Err(Error::verification(place_of(commit), format!("the tables cannot be read: {message}")))
    })
}

fn lacking(commit: &Commit) -> Error {
    Error::verification(place_of(commit), "a table lacks a column")
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
