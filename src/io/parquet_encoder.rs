//! Tables written as Parquet: properties, and row groups bounded by bytes. Knows columns by name, not what they mean.

use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{
    ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, ArrowWriter, encode_arrow_schema, parquet_to_arrow_schema,
};
use parquet::basic::{Compression as Codec, Encoding, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;

use super::raw_chunk::{Encoder, RawChunk};
use crate::error::{Error, Result};
use crate::pipeline::bridge::guard;
use crate::pipeline::{Compression, batch_bytes, value_bytes};

/// A row group ends when its rows have this many bytes: 32 MiB of text become 8 MiB, which readers hold and which compress well.
const ROW_GROUP_BYTES: usize = 32 << 20;
/// … or when it has this many rows.
const ROW_GROUP_ROWS: usize = 1 << 20;
/// A page is compressed by itself, and a reader of one row unpacks the page that it is in: 4 MiB take less than 10 ms, are 4 %
/// smaller than pages of 1 MiB, and those of 8 MiB, which take a fifth more memory, by less than 1 % smaller still.
const PAGE_BYTES: usize = 4 << 20;
/// The same at quick levels, which look back less far: its memory is used again, and the copies on its way stay in the cache.
const QUICK_PAGE_BYTES: usize = 1 << 20;
/// Columns of texts: their lengths stand before all of them, and what is like what stands closer together.
const TEXTS: [&str; 8] = [
    "message",
    "views",
    "marks",
    "pieces",
    "extra",
    "messages.list.item.content",
    "messages.list.item.tool_calls",
    "messages.list.item.extra",
];
/// Columns of numbers that ascend; of others the bytes of a kind stand together.
const ASCENDING: [&str; 3] = ["source_row", "message_index", "position"];
/// Columns of texts that begin alike.
const IDS: [&str; 2] = ["conversation_id", "messages.list.item.tool_call_id"];
/// Different ids of a row group for which its filter is made; of more, more are taken to be in it than are.
const MAX_IDS: u64 = 1 << 16;
/// An index of pages tells of every column: with more columns than this they are short, and of one page each.
const MAX_INDEXED: usize = 20;
/// Columns whose values repeat.
const DICTIONARY: [&str; 10] = [
    "style",
    "source",
    "role",
    "kind",
    "class",
    "action",
    "reason",
    "details.list.item",
    "messages.list.item.role",
    "messages.list.item.name",
];
/// Columns of foreign tables that hold long texts, which rarely repeat.
const LONG_TEXTS: [&str; 6] = ["content", "value", "text", "arguments", "messages", "conversations"];

/// Writes a table into memory, row group by row group.
pub(crate) struct ParquetEncoder {
    writer: Option<ArrowWriter<Vec<u8>>>,
    /// The schema of a foreign table, whose rows may hold texts as views.
    foreign: Option<SchemaRef>,
    compression: Compression,
    bytes: usize,
    rows: usize,
}

impl ParquetEncoder {
    /// For a table of our own. Its footer says no more than readers need to find rows: it may be larger than a few of them.
    pub(crate) fn new(schema: SchemaRef, compression: Compression) -> Result<Self> {
        let mut properties = properties(compression)?
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true);
        for name in DICTIONARY {
            properties = properties.set_column_dictionary_enabled(column_path(name), true);
        }
        for name in TEXTS {
            properties = properties.set_column_encoding(column_path(name), Encoding::DELTA_LENGTH_BYTE_ARRAY);
            if let Compression::Zstd(level) = compression {
                properties = properties.set_column_compression(column_path(name), zstd(of_texts(level))?);
            }
        }
        for name in IDS {
            properties = properties.set_column_encoding(column_path(name), Encoding::DELTA_BYTE_ARRAY);
        }
        for field in schema.fields().iter().filter(|field| field.data_type() == &DataType::UInt64) {
            let ascends = ASCENDING.contains(&field.name().as_str());
            let encoding = if ascends { Encoding::DELTA_BINARY_PACKED } else { Encoding::BYTE_STREAM_SPLIT };
            properties = properties.set_column_encoding(column_path(field.name()), encoding);
        }
        if schema.column_with_name("conversation_id").is_some() {
            let level =
                if schema.fields().len() > MAX_INDEXED { EnabledStatistics::Chunk } else { EnabledStatistics::Page };
            for name in ["conversation_id", "source_row"] {
                properties = properties.set_column_statistics_enabled(column_path(name), level);
            }
        }
        // Who looks for a conversation looks here first; of the same part the other tables have it, too.
        if schema.column_with_name("messages").is_some() {
            properties = filtered(properties, "conversation_id");
        }
        // The metadata also for readers that know Parquet only.
        let entries = entries(&schema);
        properties = properties.set_key_value_metadata((!entries.is_empty()).then_some(entries));
        let is_plain = !schema.fields().iter().any(holds_extension);
        let options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(is_plain);
        let writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options).map_err(internal)?;
        Ok(Self { writer: Some(writer), foreign: None, compression, bytes: 0, rows: 0 })
    }

    /// For a table that was read; `schema` and its metadata are kept.
    pub(crate) fn foreign(schema: SchemaRef, compression: Compression) -> Self {
        Self { writer: None, foreign: Some(schema), compression, bytes: 0, rows: 0 }
    }

    fn writer(&mut self, held: Option<SchemaRef>) -> Result<&mut ArrowWriter<Vec<u8>>> {
        let writer = match (self.writer.take(), &self.foreign) {
            (Some(writer), _) => writer,
            (None, Some(schema)) => {
                let held = held.unwrap_or_else(|| schema.clone());
                // Types that Parquet lacks are met with a panic here and there.
                guard(|| foreign_writer(schema, held, self.compression))
                    .unwrap_or_else(|message| Err(refused(ParquetError::General(message))))?
            }
            (None, None) => return Err(Error::internal("", "a table was written after its end")),
        };
        Ok(self.writer.insert(writer))
    }

    fn take(&mut self, rows: usize) -> Result<RawChunk> {
        let writer = self.writer(None)?;
        writer.sync().map_err(|error| internal(ParquetError::External(Box::new(error))))?;
        Ok(RawChunk { bytes: std::mem::take(writer.inner_mut()), rows, stream: None })
    }

    fn end_row_group(&mut self) -> Result<RawChunk> {
        self.writer(None)?.flush().map_err(internal)?;
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        self.take(rows)
    }
}

impl Encoder for ParquetEncoder {
    fn append(&mut self, batch: &RecordBatch) -> Result<Vec<RawChunk>> {
        let writer = self.writer(Some(batch.schema()))?;
        writer.write(batch).map_err(internal)?;
        self.bytes += if self.foreign.is_some() { value_bytes(batch) } else { batch_bytes(batch) };
        self.rows += batch.num_rows();
        if self.bytes >= ROW_GROUP_BYTES || self.rows >= ROW_GROUP_ROWS {
            return Ok(vec![self.end_row_group()?]);
        }
        Ok(Vec::new())
    }

    fn finish(&mut self) -> Result<Vec<RawChunk>> {
        let mut chunks = Vec::new();
        if self.rows > 0 {
            chunks.push(self.end_row_group()?);
        }
        self.writer(None)?.finish().map_err(internal)?;
        chunks.push(self.take(0)?);
        Ok(chunks)
    }
}

fn zstd(level: u8) -> Result<Codec> {
    Ok(Codec::ZSTD(ZstdLevel::try_new(level.into()).map_err(internal)?))
}

/// Long texts are most of a table, and worth three levels more as long as these are quick. Who names one of the first levels
/// asks for speed.
fn of_texts(level: u8) -> u8 {
    if level < Compression::ZSTD { level } else { level.max((level + 3).min(12)) }
}

fn properties(compression: Compression) -> Result<WriterPropertiesBuilder> {
    let codec = match compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Gzip => Codec::GZIP(GzipLevel::default()),
        Compression::Zstd(level) => zstd(level)?,
    };
    Ok(WriterProperties::builder()
        .set_created_by(concat!("condenser ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(codec)
        .set_data_page_size_limit(if compression.is_quick() { QUICK_PAGE_BYTES } else { PAGE_BYTES })
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk))
}

/// With a filter for a column that rows are looked up by.
fn filtered(properties: WriterPropertiesBuilder, name: &str) -> WriterPropertiesBuilder {
    let column = column_path(name);
    properties.set_column_bloom_filter_enabled(column.clone(), true).set_column_bloom_filter_max_ndv(column, MAX_IDS)
}

fn refused(error: ParquetError) -> Error {
    let message = "a column cannot be written as Parquet; --format arrow writes columns of every type";
    Error::input("", message).because(error)
}

fn foreign_writer(schema: &SchemaRef, held: SchemaRef, compression: Compression) -> Result<ArrowWriter<Vec<u8>>> {
    let columns = ArrowSchemaConverter::new().convert(&held).map_err(refused)?;
    let mut properties = properties(compression)?;
    for column in columns.columns() {
        if LONG_TEXTS.contains(&column.name()) {
            properties = properties.set_column_dictionary_enabled(column.path().clone(), false);
        }
    }
    for name in ["id", "conversation_id", "session_id", "uuid"] {
        if columns.columns().iter().any(|column| column.path().parts() == [name]) {
            properties = properties.set_column_statistics_enabled(column_path(name), EnabledStatistics::Page);
            properties = filtered(properties, name);
            break;
        }
    }
    // The metadata also for readers that know Parquet only; the schema as it was, not as texts are held.
    let mut entries = entries(schema);
    entries.push(KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), encode_arrow_schema(schema)));
    // Some types are written without a word and come back as others.
    let read = parquet_to_arrow_schema(&columns, Some(&entries)).map_err(refused)?;
    let mut fields = schema.fields().iter().zip(read.fields());
    if let Some((field, read)) = fields.find(|(field, read)| !field.data_type().equals_datatype(read.data_type())) {
        let (name, was, is) = (field.name(), field.data_type(), read.data_type());
        return Err(refused(ParquetError::NYI(format!("column `{name}` of type {was} would come back as {is}"))));
    }
    let properties = properties.set_key_value_metadata(Some(entries)).build();
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    ArrowWriter::try_new_with_options(Vec::new(), held, options).map_err(refused)
}

/// True for a list of a type that only Arrow's own schema tells.
fn holds_extension(field: &FieldRef) -> bool {
    matches!(field.data_type(), DataType::List(item) if !item.metadata().is_empty())
}

/// The metadata of a schema, in an order that stays.
fn entries(schema: &SchemaRef) -> Vec<KeyValue> {
    let mut entries: Vec<KeyValue> =
        schema.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

fn column_path(name: &str) -> ColumnPath {
    ColumnPath::new(name.split('.').map(str::to_owned).collect())
}

fn internal(error: ParquetError) -> Error {
    // Some types are refused only when their values come.
    if matches!(error, ParquetError::NYI(_)) {
        return refused(error);
    }
    Error::internal("", "a table cannot be written as Parquet").because(error)
}
