//! Opens inputs: their sizes and cuts for the plan, and the records of a slice, whatever the file's format. Knows
//! codecs and how records are cut, not what they say.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use arrow::datatypes::SchemaRef;

use super::codec::{Codec, open_codec};
use super::lines::Stored;
use super::range::RangeReader;
use super::{DocumentSource, EventSource, Input, LineSource, failed, is_document, sniff};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{Batch, BatchOptions, Corpus, PlannedInput, Slice, Source, SourceDigest};

/// One read of a file: large enough that the calls do not count.
const READ_BYTES: usize = 256 << 10;
/// So much of a file tells what it holds.
const HEAD_BYTES: usize = 64 << 10;

/// The inputs of a job.
#[derive(Debug)]
pub struct Inputs {
    inputs: Vec<Input>,
    options: BatchOptions,
}

impl Inputs {
    /// The inputs as they are now, each with the slices that it is cut into.
    ///
    /// # Errors
    /// When an input cannot be looked at.
    pub fn plan(inputs: Vec<Input>, options: BatchOptions, split_bytes: u64) -> Result<(Self, Vec<PlannedSlices>)> {
        let mut planned = Vec::with_capacity(inputs.len());
        for input in &inputs {
            planned.push(look_at(input, split_bytes)?);
        }
        Ok((Self { inputs, options }, planned))
    }
}

/// An input with its slices.
pub type PlannedSlices = (PlannedInput, Vec<Slice>);

impl Corpus for Inputs {
    fn open(&self, index: usize, planned: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        let input = self.inputs.get(index).ok_or_else(|| {
            Error::new(ErrorKind::Internal, &planned.source, "the plan names an input that is not there")
        })?;
        open_slice(input, planned.bytes, slice, self.options)
    }
}

fn look_at(input: &Input, split_bytes: u64) -> Result<PlannedSlices> {
    let source = input.name.clone();
    let Some(path) = &input.path else {
        return Ok((PlannedInput { source, bytes: None, mark: None }, vec![Slice::Whole]));
    };
    let failed = |error| failed(&input.name, "cannot be looked at", error);
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::Input, &input.name, "is a directory; its files are the inputs"));
    }
    if !metadata.is_file() {
        // A pipe has no size and is read once, to its end.
        return Ok((PlannedInput { source, bytes: None, mark: None }, vec![Slice::Whole]));
    }
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let planned =
        PlannedInput { source, bytes: Some(metadata.len()), mark: changed.map(|since| since.as_nanos().to_string()) };
    let slices = if metadata.len() > split_bytes && is_plain_lines(path).map_err(failed)? {
        Slice::ranges(metadata.len(), split_bytes)
    } else {
        vec![Slice::Whole]
    };
    Ok((planned, slices))
}

/// True for a file of JSON lines that is not compressed: a reader may start at any line.
fn is_plain_lines(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(Codec::sniff(&head) == Codec::Plain && !is_table(&head) && !is_document(&head) && sniff(&head).is_none())
}

fn is_table(head: &[u8]) -> bool {
    head.starts_with(b"PAR1") || head.starts_with(b"ARROW1")
}

/// Opens an input from beginning to end.
///
/// # Errors
/// When the file cannot be opened, or holds a format that this version does not read.
pub fn open_input(input: &Input, options: BatchOptions) -> Result<Box<dyn Source>> {
    open_slice(input, None, &Slice::Whole, options)
}

fn open_slice(input: &Input, bytes: Option<u64>, slice: &Slice, options: BatchOptions) -> Result<Box<dyn Source>> {
    let cannot_open = |error| failed(&input.name, "cannot be opened", error);
    if let (Some(path), &Slice::Bytes { start, end }) = (&input.path, slice) {
        let mut file = File::open(path).map_err(cannot_open)?;
        let first = RangeReader::<File>::first_byte(start);
        file.seek(SeekFrom::Start(first)).map_err(cannot_open)?;
        let file = BufReader::with_capacity(READ_BYTES, file.take(bytes.unwrap_or(u64::MAX).saturating_sub(first)));
        let raw = Raw::new(Box::new(file), None);
        let range = RangeReader::new(RawReader(raw.clone()), start, end)
            .map_err(|error| failed(&input.name, "cannot be read", error))?;
        let first = range.first_line();
        let lines = LineSource::new(&input.name, Box::new(range), options).starting_at(first, slice.first_row());
        return Ok(Box::new(Metered { source: Box::new(lines), raw }));
    }
    let source: Box<dyn Read + Send> = match &input.path {
        None => Box::new(io::stdin()),
        Some(path) => Box::new(File::open(path).map_err(cannot_open)?.take(bytes.unwrap_or(u64::MAX))),
    };
    let raw = Raw::new(source, Some(blake3::Hasher::new()));
    let mut reader = BufReader::with_capacity(READ_BYTES, RawReader(raw.clone()));
    let first = io::BufRead::fill_buf(&mut reader).map_err(|error| failed(&input.name, "cannot be read", error))?;
    if is_table(first) {
        let message = "Parquet and Arrow files cannot be read yet; convert them to JSON lines first";
        return Err(Error::new(ErrorKind::Input, &input.name, message));
    }
    let (codec, stream) = open_codec(reader).map_err(|error| failed(&input.name, "cannot be read", error))?;
    let stored = (codec != Codec::Plain).then(|| stored(raw.clone(), input.name.clone()));
    if codec == Codec::Plain {
        // The stored bytes are the stream, which is hashed anyway.
        raw.lock().unwrap_or_else(PoisonError::into_inner).hasher = None;
    }
    let (head, stream) = peek(stream);
    let source = records(&input.name, &head, stream, stored, options);
    Ok(Box::new(Metered { source, raw }))
}

/// The records of a stream that begins with `head`, cut as its content asks for.
fn records(
    name: &str,
    head: &[u8],
    stream: Box<dyn Read + Send>,
    stored: Option<Stored>,
    options: BatchOptions,
) -> Box<dyn Source> {
    if let Some(shape) = sniff(head) {
        let events = EventSource::new(name, stream, shape, options);
        Box::new(if let Some(stored) = stored { events.stored(stored) } else { events })
    } else if is_document(head) {
        let documents = DocumentSource::new(name, stream, options);
        Box::new(if let Some(stored) = stored { documents.stored(stored) } else { documents })
    } else {
        let lines = LineSource::new(name, stream, options);
        Box::new(if let Some(stored) = stored { lines.stored(stored) } else { lines })
    }
}

/// A source with the file below it: tells how much of it was read, and tells a file that cannot be read from one
/// whose content is damaged.
struct Metered {
    source: Box<dyn Source>,
    raw: Arc<Mutex<Raw>>,
}

impl Source for Metered {
    fn name(&self) -> &str {
        self.source.name()
    }
    fn schema(&self) -> Option<SchemaRef> {
        self.source.schema()
    }
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let batch = self.source.next_batch()?;
        match self.raw.lock().unwrap_or_else(PoisonError::into_inner).failure.take() {
            None => Ok(batch),
            Some(error) => Err(failed(self.source.name(), "cannot be read", error)),
        }
    }
    fn stored_bytes(&self) -> u64 {
        self.raw.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
    fn digest(&mut self) -> Result<SourceDigest> {
        self.source.digest()
    }
}

/// Reads the rest of a compressed file, for its hash, after its stream has ended.
fn stored(raw: Arc<Mutex<Raw>>, name: String) -> Stored {
    Box::new(move || {
        let mut raw = raw.lock().unwrap_or_else(PoisonError::into_inner);
        io::copy(&mut *raw, &mut io::sink()).map_err(|error| failed(name, "cannot be read to its end", error))?;
        Ok(raw.hasher.take().map(|hasher| (raw.bytes, hasher.finalize().to_hex().to_string())))
    })
}

/// The first bytes of a stream, and the same stream from its beginning. Damage among them is met again later.
fn peek(mut stream: Box<dyn Read + Send>) -> (Vec<u8>, Box<dyn Read + Send>) {
    let mut head = Vec::new();
    let damage = stream.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).err();
    let start = io::Cursor::new(head.clone());
    match damage {
        None => (head, Box::new(start.chain(stream))),
        Some(error) => (head, Box::new(start.chain(Damaged(Some(error))))),
    }
}

/// A stream that broke.
struct Damaged(Option<io::Error>);

impl Read for Damaged {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// A file that is hashed while it is read.
struct Raw {
    source: Box<dyn Read + Send>,
    hasher: Option<blake3::Hasher>,
    bytes: u64,
    /// Why it could not be read.
    failure: Option<io::Error>,
}

impl Raw {
    fn new(source: Box<dyn Read + Send>, hasher: Option<blake3::Hasher>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { source, hasher, bytes: 0, failure: None }))
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure = Some(io::Error::new(error.kind(), error.to_string()));
            }
        })?;
        self.bytes += read as u64;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..read]);
        }
        Ok(read)
    }
}

struct RawReader(Arc<Mutex<Raw>>);

impl Read for RawReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(buffer)
    }
}
