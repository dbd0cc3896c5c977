//! Tables from their bytes.

use std::io::Cursor;

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// All rows of a Parquet file, an Arrow file or an Arrow stream.
pub(crate) fn read_table(bytes: Vec<u8>) -> RecordBatch {
    let (schema, batches): (SchemaRef, Vec<RecordBatch>) = if bytes.starts_with(b"PAR1") {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).expect("a table");
        (builder.schema().clone(), builder.build().expect("a table").map(|rows| rows.expect("rows")).collect())
    } else if bytes.starts_with(b"ARROW1") {
        let reader = FileReader::try_new(Cursor::new(bytes), None).expect("a table");
        (reader.schema(), reader.map(|rows| rows.expect("rows")).collect())
    } else {
        let reader = StreamReader::try_new(Cursor::new(bytes), None).expect("a table");
        (reader.schema(), reader.map(|rows| rows.expect("rows")).collect())
    };
    concat_batches(&schema, &batches).expect("one schema")
}
