//! Arrow IPC, message by message. Knows where messages stand; no length that a file states is believed before it is held
//! against the bytes that are there, since memory is taken for it.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::convert::try_fb_to_schema;
use arrow::ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow::ipc::{Block, MessageHeader, RecordBatch as Layout, root_as_footer, root_as_message};
use arrow::record_batch::RecordBatch;

type Result<T> = std::result::Result<T, ArrowError>;

/// In front of the length of a message, but not in the oldest files.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// In front of a compressed buffer: its length without compression.
const PREFIX_BYTES: usize = 8;
/// Nothing gets smaller than this by the compressions of the format, and a little for their heads.
const MAX_RATIO: u64 = 1 << 16;
const HEAD_BYTES: u64 = 1 << 16;

/// The record batches of a file, which names them at its end.
pub(super) struct FileBatches<R> {
    file: R,
    schema: SchemaRef,
    decoder: FileDecoder,
    blocks: Vec<Block>,
    next: usize,
}

impl<R: Read + Seek> FileBatches<R> {
    pub(super) fn open(mut file: R) -> Result<Self> {
        const END: i64 = 10;
        file.seek(SeekFrom::End(-END))?;
        let mut end = [0; END as usize];
        file.read_exact(&mut end)?;
        let length = read_footer_length(end)?;
        let n_back = i64::try_from(length).map_err(|_| damaged("it states a length that is none"))?;
        file.seek(SeekFrom::End(-END - n_back))?;
        let footer = read(&mut file, length)?;
        let footer = root_as_footer(&footer).map_err(|error| damaged(&format!("its end cannot be read: {error}")))?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        let schema = Arc::new(try_fb_to_schema(schema)?);
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        for block in footer.dictionaries().iter().flatten() {
            decoder.read_dictionary(block, &read_block(&mut file, block)?)?;
        }
        let blocks = footer.recordBatches().iter().flatten().copied().collect();
        Ok(Self { file, schema, decoder, blocks, next: 0 })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The batch with this number.
    pub(super) fn read(&mut self, index: usize) -> Result<RecordBatch> {
        let missing = || damaged("there is no such record batch");
        let block = self.blocks.get(index).ok_or_else(missing)?;
        self.decoder.read_record_batch(block, &read_block(&mut self.file, block)?)?.ok_or_else(missing)
    }
}

impl<R: Read + Seek> Iterator for FileBatches<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next;
        self.next += 1;
        (index < self.blocks.len()).then(|| self.read(index))
    }
}

/// The record batches of a stream.
pub(super) struct StreamBatches<R> {
    stream: R,
    decoder: StreamDecoder,
    schema: SchemaRef,
    /// What the decoder has not taken yet: a message without a body waits for the next one.
    pending: Buffer,
    ahead: Option<RecordBatch>,
    has_ended: bool,
}

impl<R: Read> StreamBatches<R> {
    pub(super) fn open(stream: R) -> Result<Self> {
        let (decoder, schema) = (StreamDecoder::new(), SchemaRef::new(Schema::empty()));
        let mut this = Self { stream, decoder, schema, pending: Buffer::default(), ahead: None, has_ended: false };
        while this.decoder.schema().is_none() && !this.has_ended {
            this.pending = this.message()?;
            this.ahead = this.decoder.decode(&mut this.pending)?;
        }
        this.schema = this.decoder.schema().ok_or_else(|| damaged("it has no schema"))?;
        Ok(this)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The next message, or the mark of the end.
    fn message(&mut self) -> Result<Buffer> {
        let message = read_message(&mut self.stream)?;
        self.has_ended = message.is_none();
        Ok(message.unwrap_or_else(|| Buffer::from([CONTINUATION, [0; 4]].concat())))
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let batch =
                self.ahead.take().map_or_else(|| self.decoder.decode(&mut self.pending), |batch| Ok(Some(batch)))?;
            if batch.is_some() || self.has_ended && self.pending.is_empty() {
                return Ok(batch);
            }
            self.pending = self.message()?;
        }
    }
}

impl<R: Read> Iterator for StreamBatches<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::IpcError(what.to_owned())
}

/// The next `length` bytes, for which memory is taken as they come.
fn read(file: &mut impl Read, length: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length { Ok(bytes) } else { Err(damaged("it ends too early")) }
}

fn length(stated: i64) -> Result<usize> {
    usize::try_from(stated).map_err(|_| damaged("it states a length that is none"))
}

fn read_block(file: &mut (impl Read + Seek), block: &Block) -> Result<Buffer> {
    let start = u64::try_from(block.offset()).map_err(|_| damaged("it states a place that is none"))?;
    file.seek(SeekFrom::Start(start))?;
    let n_head = length(block.metaDataLength().into())?;
    let bytes = read(file, n_head.saturating_add(length(block.bodyLength())?))?;
    let (head, body) = bytes.split_at(n_head);
    let n_prefix = if head.starts_with(&CONTINUATION) { 8 } else { 4 };
    check(head.get(n_prefix..).unwrap_or_default(), body)?;
    Ok(bytes.into())
}

/// The next message of a stream with its body; `None` at its end.
fn read_message(file: &mut impl Read) -> Result<Option<Buffer>> {
    let mut bytes = Vec::new();
    loop {
        let before = bytes.len();
        file.take(4).read_to_end(&mut bytes)?;
        match bytes.get(before..).unwrap_or_default() {
            [] if before == 0 => return Ok(None),
            number if number == CONTINUATION && before == 0 => {}
            &[a, b, c, d] => {
                let n_head = length(i32::from_le_bytes([a, b, c, d]).into())?;
                if n_head == 0 {
                    return Ok(None);
                }
                let head = read(file, n_head)?;
                let message = root_as_message(&head).map_err(|error| damaged(&error.to_string()))?;
                let body = read(file, length(message.bodyLength())?)?;
                check(&head, &body)?;
                bytes.extend_from_slice(&head);
                bytes.extend_from_slice(&body);
                return Ok(Some(bytes.into()));
            }
            _ => return Err(damaged("it ends too early")),
        }
    }
}

/// Refuses a message of which a compressed buffer states a length that it cannot have.
fn check(head: &[u8], body: &[u8]) -> Result<()> {
    let message = root_as_message(head).map_err(|error| damaged(&error.to_string()))?;
    let layout: Option<Layout<'_>> = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(layout) = layout.filter(|layout| layout.compression().is_some()) else { return Ok(()) };
    for buffer in layout.buffers().iter().flatten() {
        let (start, n_bytes) = (length(buffer.offset())?, length(buffer.length())?);
        let prefix = body.get(start..).and_then(<[u8]>::first_chunk::<PREFIX_BYTES>);
        let stated = prefix.map_or(0, |prefix| i64::from_le_bytes(*prefix));
        let most = (n_bytes as u64).saturating_mul(MAX_RATIO).saturating_add(HEAD_BYTES);
        if n_bytes > 0 && stated > 0 && stated as u64 > most {
            return Err(damaged(&format!("{n_bytes} bytes cannot be {stated} without compression")));
        }
    }
    Ok(())
}
