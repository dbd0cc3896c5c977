//! Reads the rows of Parquet files. Each page is looked at before the library reads its values. Knows neither what columns
//! mean nor whose files they are.

use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader, RowGroups, RowSelection};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::Result;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::parquet_pages::refusal;
use super::store::Blob;

/// A batch of values of a fixed width is not made larger than this, even where all are null.
const BATCH_BYTES: usize = 64 << 20;

/// What is read of a table.
pub(super) struct Wanted {
    /// Numbers of row groups, ascending.
    pub(super) groups: Vec<usize>,
    pub(super) columns: ProjectionMask,
    /// Rows of these groups; all unless given.
    pub(super) rows: Option<RowSelection>,
    pub(super) batch_rows: usize,
}

/// Reads what is wanted of the table in `file`.
pub(super) fn rows(file: &Blob, metadata: &ArrowReaderMetadata, wanted: Wanted) -> Result<ParquetRecordBatchReader> {
    let schema = metadata.parquet_schema();
    let levels = parquet_to_arrow_field_levels(schema, wanted.columns, Some(metadata.schema().fields()))?;
    let widest = schema.columns().iter().map(|column| column.type_length().max(1) as usize).max().unwrap_or(1);
    let groups = Groups { file: Arc::new(file.clone()), metadata: metadata.metadata().clone(), numbers: wanted.groups };
    let batch_rows = wanted.batch_rows.min(BATCH_BYTES / widest).min(groups.num_rows()).max(1);
    ParquetRecordBatchReader::try_new_with_row_groups(&levels, &groups, batch_rows, wanted.rows)
}

struct Groups {
    file: Arc<Blob>,
    metadata: Arc<ParquetMetaData>,
    numbers: Vec<usize>,
}

impl RowGroups for Groups {
    fn num_rows(&self) -> usize {
        self.row_groups().map(n_rows).sum()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        Ok(Box::new(Chunks { file, metadata, numbers: self.numbers.clone().into_iter(), column }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.numbers.iter().map(|&number| self.metadata.row_group(number)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

fn n_rows(group: &RowGroupMetaData) -> usize {
    group.num_rows().max(0) as usize
}

/// One column of some row groups.
struct Chunks {
    file: Arc<Blob>,
    metadata: Arc<ParquetMetaData>,
    numbers: std::vec::IntoIter<usize>,
    column: usize,
}

impl Iterator for Chunks {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.numbers.next()?;
        let group = self.metadata.row_group(number);
        let chunk = group.column(self.column);
        let pages = self.metadata.page_index().and_then(|index| index.page_locations(number, self.column));
        let pages = SerializedPageReader::new(self.file.clone(), chunk, n_rows(group), pages.cloned());
        Some(pages.map(|pages| Box::new(Pages { pages, column: chunk.column_descr_ptr() }) as _))
    }
}

impl PageIterator for Chunks {}

/// The pages of one column of a row group.
struct Pages {
    pages: SerializedPageReader<Blob>,
    column: ColumnDescPtr,
}

impl Pages {
    fn checked(&self, page: Option<Page>) -> Result<Option<Page>> {
        page.as_ref().and_then(|page| refusal(page, &self.column)).map_or(Ok(page), Err)
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        self.checked(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.pages.take_deferred_dictionary()?;
        self.checked(page)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}
