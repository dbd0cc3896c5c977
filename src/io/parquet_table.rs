//! Tables read from Parquet: in slices bounded by bytes, and finding one conversation. Knows columns by name, not what
//! they mean.

use arrow::array::AsArray;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowSelection, RowSelector,
};
use parquet::bloom_filter::Sbbf;
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;

use super::guarded::guarded;
use super::parquet_rows::{Wanted, rows};
use super::store::Blob;
use crate::error::{Error, Result};
use crate::pipeline::{TableReader, label, large_schema, view_schema};

/// Readers hold about this much of a table at a time.
const SLICE_BYTES: i64 = 1 << 20;

/// Which rows are wanted.
#[derive(Debug, Clone)]
pub(crate) enum WantedRows {
    All,
    /// All, of these columns where the format allows it.
    Columns(&'static [&'static str]),
    /// Those whose text column has this value.
    Text(&'static str, String),
}

impl WantedRows {
    /// Those about the conversation with this id.
    pub(crate) fn of_conversation(id: &str) -> Self {
        Self::Text("conversation_id", label(id).into_owned())
    }
}

/// Reads a table slice by slice.
pub(crate) struct ParquetTable {
    reader: ParquetRecordBatchReader,
    file: Blob,
}

impl ParquetTable {
    /// Opens the table in `file`.
    pub(crate) fn open(file: Blob, wanted: &WantedRows) -> Result<Self> {
        guarded(&file.clone(), || Self::opened(file, wanted))
    }

    fn opened(file: Blob, wanted: &WantedRows) -> Result<Self> {
        let damaged = |error| damaged(&file, error);
        let options = ArrowReaderOptions::new().with_page_index_policy(match wanted {
            WantedRows::All | WantedRows::Columns(_) => PageIndexPolicy::Skip,
            WantedRows::Text(..) => PageIndexPolicy::Optional,
        });
        let stored = ArrowReaderMetadata::load(&file, options.clone()).map_err(damaged)?;
        let options = options.with_schema(large_schema(stored.schema()));
        let metadata = ArrowReaderMetadata::try_new(stored.metadata().clone(), options).map_err(damaged)?;
        let mut read = all_of(&metadata);
        match wanted {
            WantedRows::All => {}
            WantedRows::Columns(names) => {
                read.columns = ProjectionMask::columns(metadata.parquet_schema(), names.iter().copied());
            }
            WantedRows::Text(name, value) => {
                let column = metadata.parquet_schema().columns().iter().position(|column| column.name() == *name);
                let column = column.ok_or_else(|| missing(&file.location().to_string(), name))?;
                (read.groups, read.rows) = rows_with(&file, &metadata, column, value).map_err(damaged)?;
            }
        }
        let reader = rows(&file, &metadata, read).map_err(damaged)?;
        Ok(Self { reader, file })
    }
}

/// All rows and columns of a table, in slices.
fn all_of(metadata: &ArrowReaderMetadata) -> Wanted {
    let groups = metadata.metadata().row_groups();
    let (n_rows, bytes) =
        groups.iter().fold((0, 0), |(rows, bytes), group| (rows + group.num_rows(), bytes + group.total_byte_size()));
    let batch_rows = (SLICE_BYTES / (bytes / n_rows.max(1)).max(1)).clamp(1, 8192) as usize;
    Wanted { groups: (0..groups.len()).collect(), columns: ProjectionMask::all(), rows: None, batch_rows }
}

/// The row groups that may have rows whose text in `column` is `value`, and these rows.
fn rows_with(
    file: &Blob,
    metadata: &ArrowReaderMetadata,
    column: usize,
    value: &str,
) -> std::result::Result<(Vec<usize>, Option<RowSelection>), ParquetError> {
    let mut groups = Vec::new();
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let bloom = Sbbf::read_from_column_chunk(group.column(column), file)?;
        if bloom.is_none_or(|bloom| bloom.check(&value)) {
            groups.push(number);
        }
    }
    let columns = ProjectionMask::leaves(metadata.parquet_schema(), [column]);
    let mut found = Vec::new();
    for batch in rows(file, metadata, Wanted { groups: groups.clone(), columns, ..all_of(metadata) })? {
        let batch = batch.map_err(|error| in_a_batch(&error))?;
        found.push(batch.column(0).as_string::<i64>().iter().map(|text| Some(text == Some(value))).collect());
    }
    Ok((groups, Some(RowSelection::from_filters(&found))))
}

/// A table whose columns are not ours.
pub(crate) struct ForeignTable {
    pub(crate) reader: Box<dyn TableReader>,
    /// The schema as stored.
    pub(crate) schema: SchemaRef,
    /// The schema of the rows as they are read.
    pub(crate) held: SchemaRef,
}

impl ParquetTable {
    /// Opens a foreign table; `only` are the numbers of the wanted rows, ascending.
    pub(crate) fn open_foreign(file: Blob, only: Option<&[u64]>) -> Result<ForeignTable> {
        guarded(&file.clone(), || Self::opened_foreign(file, only))
    }

    fn opened_foreign(file: Blob, only: Option<&[u64]>) -> Result<ForeignTable> {
        let damaged = |error| damaged(&file, error);
        let policy = if only.is_some() { PageIndexPolicy::Optional } else { PageIndexPolicy::Skip };
        let options = || ArrowReaderOptions::new().with_page_index_policy(policy);
        let stored = ArrowReaderMetadata::load(&file, options()).map_err(damaged)?;
        let schema = stored.schema().clone();
        let views = options().with_schema(view_schema(&schema));
        let metadata = ArrowReaderMetadata::try_new(stored.metadata().clone(), views).unwrap_or(stored);
        let held = metadata.schema().clone();
        let mut read = all_of(&metadata);
        if let Some(only) = only {
            let mut selectors = Vec::new();
            let mut at = 0;
            for &row in only {
                selectors.push(RowSelector::skip(row.saturating_sub(at) as usize));
                selectors.push(RowSelector::select(1));
                at = row + 1;
            }
            read.rows = Some(RowSelection::from(selectors));
        }
        let reader = rows(&file, &metadata, read).map_err(damaged)?;
        Ok(ForeignTable { reader: Box::new(Self { reader, file }), schema, held })
    }
}

impl TableReader for ParquetTable {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Self { reader, file } = self;
        guarded(file, || reader.next().transpose().map_err(|error| damaged(file, in_a_batch(&error))))
    }
}

/// The same error without its own words twice.
fn in_a_batch(error: &ArrowError) -> ParquetError {
    ParquetError::ArrowError(error.to_string())
}

/// Why a table cannot be read: when the store failed, the table may be whole.
fn damaged(file: &Blob, error: ParquetError) -> Error {
    let place = file.location().to_string();
    let damaged = || Error::verification(place, "the table cannot be read: it is damaged").because(error);
    file.failure().unwrap_or_else(damaged)
}

/// A column is not there.
pub(crate) fn missing(place: &str, name: &str) -> Error {
    Error::verification(place, format!("the table has no column `{name}`"))
}
