//! From conversations to the nights that have them: tables sorted by id, small ones joined to larger ones, so that a lookup reads few. Made
//! from the runs, and made again where it is not there; refuses to know what is looked up for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{AsArray, LargeStringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use arrow::record_batch::RecordBatch;

use super::corpus::each_row;
use super::{INDEX, Store, number_of};
use crate::error::{Error, Result};
use crate::io::encoder::TableEncoder;
use crate::io::hash_of;
use crate::io::parquet_table::{ParquetTable, WantedRows};
use crate::io::store::Place;
use crate::pipeline::{Compression, Night, StoredRow, TableReader, label};

/// A table that is joined with others has no more rows: it is made in memory.
const MAX_ROWS: usize = 1 << 20;
/// Of tables up to this size every lookup holds all bytes against the hash in their name; `verify` does of all.
const MAX_HASHED: u64 = 8 << 20;
/// Digits of that hash.
const DIGITS: usize = 16;
const COLUMNS: [&str; 5] = ["conversation_id", "run", "part", "row", "goes_on_from"];

/// A record of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    id: String,
    pub(super) row: StoredRow,
    /// The records that it goes on from, as a JSON list; empty where there are none.
    earlier: String,
}

impl Entry {
    /// The records that it goes on from.
    pub(super) fn earlier(&self) -> Vec<StoredRow> {
        serde_json::from_str(&self.earlier).unwrap_or_default()
    }
}

/// A table, `index/00001-00008-0123456789abcdef.parquet`, for the nights with the first to the second number.
#[derive(Debug, Clone)]
struct Table {
    name: String,
    first: u64,
    last: u64,
    hash: String,
}

impl Table {
    fn named(name: String) -> Option<Self> {
        let stem = name.strip_suffix(".parquet")?;
        let mut parts = stem.split('-');
        let (first, last) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let hash = parts.next().filter(|hash| hash.len() == DIGITS)?.to_owned();
        parts.next().is_none().then_some(Self { name, first, last, hash })
    }
}

impl Store {
    /// The records with this id as far as tables have them, and the nights that no table has. What is damaged is not believed.
    pub(super) fn indexed(&self, id: &str) -> (Vec<Entry>, Vec<&Night>) {
        let wanted = WantedRows::of_conversation(id);
        let (mut entries, mut covered) = (BTreeSet::new(), Vec::new());
        for table in self.tables().unwrap_or_default() {
            match self.entries_of(&table, &wanted, false) {
                Ok(found) => {
                    entries.extend(found.into_iter().filter(|entry| entry.id == label(id)));
                    covered.push((table.first, table.last));
                }
                Err(error) => tracing::warn!("{error}; the nights are looked into instead"),
            }
        }
        let is_open = |night: &&Night| {
            let number = number_of(&night.run).unwrap_or_default();
            !covered.iter().any(|&(first, last)| (first..=last).contains(&number))
        };
        let runs: BTreeSet<&str> = self.nights.iter().map(|night| night.run.as_str()).collect();
        // A table may still tell of runs of which another one has taken the place.
        let entries = entries.into_iter().filter(|entry| runs.contains(&*entry.row.run)).collect();
        (entries, self.nights.iter().filter(is_open).collect())
    }

    /// Makes tables for the nights that have none, and joins small ones.
    ///
    /// # Errors
    /// When a night cannot be read, or a table not be written.
    pub async fn index(&self) -> Result<()> {
        let Some((table, obsolete)) = tokio::task::block_in_place(|| self.next_table())? else { return Ok(()) };
        if let Some((name, bytes)) = table {
            self.root.join(&format!("{INDEX}/{name}")).write_atomic(&bytes).await?;
        }
        for name in obsolete {
            self.root.join(&format!("{INDEX}/{name}")).delete().await?;
        }
        Ok(())
    }

    /// Holds every table against the hash in its name.
    ///
    /// # Errors
    /// `Verification` when one differs.
    pub fn check_index(&self) -> Result<()> {
        let all = WantedRows::All;
        self.tables()?.iter().try_for_each(|table| self.entries_of(table, &all, true).map(drop))
    }

    fn tables(&self) -> Result<Vec<Table>> {
        let mut tables: Vec<Table> = self.root.join(INDEX).names()?.into_keys().filter_map(Table::named).collect();
        tables.sort_by_key(|table| table.first);
        Ok(tables)
    }

    /// The table that is to be written, when one is, and those that it takes the place of.
    #[expect(clippy::type_complexity, reason = "a name and bytes, and names")]
    fn next_table(&self) -> Result<Option<(Option<(String, Vec<u8>)>, Vec<String>)>> {
        let numbers: BTreeMap<u64, &Night> =
            self.nights.iter().filter_map(|night| Some((number_of(&night.run)?, night))).collect();
        let Some(&oldest) = numbers.keys().next() else { return Ok(None) };
        let (mut tables, stale): (Vec<Table>, Vec<Table>) =
            self.tables()?.into_iter().partition(|table| table.last >= oldest);
        let is_covered = |number: u64| tables.iter().any(|table| (table.first..=table.last).contains(&number));
        let missing: Vec<u64> = numbers.keys().copied().filter(|&number| !is_covered(number)).collect();
        let mut obsolete: Vec<String> = stale.into_iter().map(|table| table.name).collect();
        let (Some(&first), Some(&last)) = (missing.first(), missing.last()) else {
            return Ok((!obsolete.is_empty()).then_some((None, obsolete)));
        };
        let (mut entries, mut first) = (Vec::new(), first);
        for number in missing {
            self.entries_of_night(numbers[&number], &mut entries)?;
        }
        while let Some(before) = tables.pop() {
            let found = self.entries_of(&before, &WantedRows::All, true)?;
            if found.len() > entries.len() * 2 || found.len() + entries.len() > MAX_ROWS {
                break;
            }
            entries.extend(found);
            first = first.min(before.first);
            obsolete.push(before.name);
        }
        entries.sort();
        let bytes = written(&entries)?;
        let hash = blake3::hash(&bytes).to_hex();
        let name = format!("{first:05}-{last:05}-{}.parquet", hash.get(..DIGITS).unwrap_or_default());
        obsolete.retain(|obsolete| *obsolete != name);
        Ok(Some((Some((name, bytes)), obsolete)))
    }

    fn entries_of_night(&self, night: &Night, entries: &mut Vec<Entry>) -> Result<()> {
        let run = self.open_run(&night.run)?;
        for commit in &run.commits {
            let mut again = run.again(commit, &WantedRows::All)?;
            each_row(&run, commit, &mut |id, row| {
                let earlier = again.remove(&row).map(|again| again.rows).unwrap_or_default();
                let list = || serde_json::to_string(&earlier).expect("names always serialize");
                let earlier = if earlier.is_empty() { String::new() } else { list() };
                let row = StoredRow { run: night.run.clone(), part: commit.part, row };
                entries.push(Entry { id: id.to_owned(), row, earlier });
            })?;
        }
        Ok(())
    }

    fn entries_of(&self, table: &Table, wanted: &WantedRows, is_hashed: bool) -> Result<Vec<Entry>> {
        let place: Place = self.root.join(&format!("{INDEX}/{}", table.name));
        let wrong = || {
            Error::verification(place.to_string(), "the index differs from what was written")
                .hinting("delete the file: the next night makes it again")
        };
        let file = place.open()?;
        if is_hashed || file.bytes().is_some_and(|bytes| bytes <= MAX_HASHED) {
            let hash = hash_of(file.stream()).map_err(|error| wrong().because(error))?;
            if !hash.starts_with(&table.hash) {
                return Err(wrong());
            }
        }
        let (mut reader, mut entries) = (ParquetTable::open(file, wanted)?, Vec::new());
        while let Some(batch) = reader.next_rows()? {
            let text = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i64>());
            let count =
                |name: &str| batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<UInt64Type>());
            let [id, run, part, row, earlier] = COLUMNS;
            let (Some(ids), Some(runs), Some(earlier)) = (text(id), text(run), text(earlier)) else {
                return Err(wrong());
            };
            let (Some(parts), Some(rows)) = (count(part), count(row)) else { return Err(wrong()) };
            for at in 0..batch.num_rows() {
                let part = usize::try_from(parts.value(at)).map_err(|_| wrong())?;
                let row = StoredRow { run: runs.value(at).to_owned(), part, row: rows.value(at) };
                entries.push(Entry { id: ids.value(at).to_owned(), row, earlier: earlier.value(at).to_owned() });
            }
        }
        Ok(entries)
    }
}

/// The bytes of a table with these entries.
fn written(entries: &[Entry]) -> Result<Vec<u8>> {
    let [id, run, part, row, earlier] = COLUMNS;
    let text = |name: &str| Field::new(name, DataType::LargeUtf8, false);
    let count = |name: &str| Field::new(name, DataType::UInt64, false);
    let schema = Arc::new(Schema::new(vec![text(id), text(run), count(part), count(row), text(earlier)]));
    let texts = |of: fn(&Entry) -> &str| LargeStringArray::from_iter_values(entries.iter().map(of));
    let counts = |of: fn(&Entry) -> u64| UInt64Array::from_iter_values(entries.iter().map(of));
    let batch = RecordBatch::try_new(
        schema.clone(),
        vec![
            Arc::new(texts(|entry| &entry.id)),
            Arc::new(texts(|entry| &entry.row.run)),
            Arc::new(counts(|entry| entry.row.part as u64)),
            Arc::new(counts(|entry| entry.row.row)),
            Arc::new(texts(|entry| &entry.earlier)),
        ],
    );
    let batch = batch.map_err(|error| Error::internal("", "an index cannot be made").because(error))?;
    let mut encoder = TableEncoder::parquet(INDEX, String::new(), schema, Compression::default())?;
    let mut bytes = encoder.append(&batch)?;
    bytes.extend(encoder.finish()?.0);
    Ok(bytes)
}
