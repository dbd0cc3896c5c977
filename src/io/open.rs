//! Opens inputs: their sizes and cuts for the plan, and the records of a slice, whatever the file's format. Knows
//! codecs and how records are cut, not what they say.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::SchemaRef;

use super::codec::{Codec, open_codec};
use super::lines::Stored;
use super::range::RangeReader;
use super::store::store_error;
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
        open_slice(input, Some(planned), slice, self.options)
    }
}

fn look_at(input: &Input, split_bytes: u64) -> Result<PlannedSlices> {
    let source = input.name.clone();
    let endless = |source| Ok((PlannedInput { source, bytes: None, mark: None }, vec![Slice::Whole]));
    let Some(file) = &input.file else { return endless(source) };
    if let Some(path) = file.as_local() {
        let failed = |error| failed(&input.name, "cannot be looked at", error);
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::new(ErrorKind::Input, &input.name, "is a directory; its files are the inputs"));
        }
        if !metadata.is_file() {
            // A pipe has no size and is read once, to its end.
            return endless(source);
        }
    }
    let blob = file.open()?;
    let Some(bytes) = blob.bytes() else { return endless(source) };
    let planned = PlannedInput { source, bytes: Some(bytes), mark: Some(blob.mark().to_owned()) };
    let is_cut = bytes > split_bytes && is_plain_lines(&blob.read_range(0..bytes.min(HEAD_BYTES as u64))?);
    Ok((planned, if is_cut { Slice::ranges(bytes, split_bytes) } else { vec![Slice::Whole] }))
}

/// True for a file of JSON lines that is not compressed: a reader may start at any line.
fn is_plain_lines(head: &[u8]) -> bool {
    Codec::sniff(head) == Codec::Plain && !is_table(head) && !is_document(head) && sniff(head).is_none()
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

/// The bytes of an input from `first` to the end that it had when it was planned.
fn open_bytes(input: &Input, planned: Option<&PlannedInput>, first: u64) -> Result<Box<dyn Read + Send>> {
    let Some(file) = &input.file else { return Ok(Box::new(io::stdin())) };
    if let Some(path) = file.as_local().filter(|path| !path.is_file()) {
        // A pipe has no places to read from.
        let pipe = std::fs::File::open(path).map_err(|error| failed(&input.name, "cannot be opened", error))?;
        return Ok(Box::new(pipe));
    }
    let blob = file.open()?;
    if file.as_local().is_none() && planned.is_some_and(|planned| planned.mark.as_deref() != Some(blob.mark())) {
        // Files of this machine may grow, but what is in a store is replaced as a whole.
        return Err(Error::new(ErrorKind::Input, &input.name, "the object has changed since the job began"));
    }
    let planned = planned.and_then(|planned| planned.bytes).unwrap_or(u64::MAX);
    Ok(match blob.bytes() {
        Some(bytes) => blob.reader(first.min(bytes)..planned.min(bytes)),
        None => blob.stream(),
    })
}

fn open_slice(
    input: &Input,
    planned: Option<&PlannedInput>,
    slice: &Slice,
    options: BatchOptions,
) -> Result<Box<dyn Source>> {
    let cannot_read = |raw: &Arc<Mutex<Raw>>, error| {
        let failure = raw.lock().unwrap_or_else(PoisonError::into_inner).failure.take();
        failure.unwrap_or_else(|| failed(&input.name, "cannot be read", error))
    };
    if let (Some(_), &Slice::Bytes { start, end }) = (&input.file, slice) {
        let first = RangeReader::<io::Empty>::first_byte(start);
        let file = BufReader::with_capacity(READ_BYTES, open_bytes(input, planned, first)?);
        let raw = Raw::new(&input.name, Box::new(file), None);
        let range = RangeReader::new(RawReader(raw.clone()), start, end).map_err(|error| cannot_read(&raw, error))?;
        let first = range.first_line();
        let lines = LineSource::new(&input.name, Box::new(range), options).starting_at(first, slice.first_row());
        return Ok(Box::new(Metered { source: Box::new(lines), raw }));
    }
    let raw = Raw::new(&input.name, open_bytes(input, planned, 0)?, Some(blake3::Hasher::new()));
    let mut reader = BufReader::with_capacity(READ_BYTES, RawReader(raw.clone()));
    let first = io::BufRead::fill_buf(&mut reader).map_err(|error| cannot_read(&raw, error))?;
    if is_table(first) {
        let message = "Parquet and Arrow files cannot be read yet; convert them to JSON lines first";
        return Err(Error::new(ErrorKind::Input, &input.name, message));
    }
    let (codec, stream) = open_codec(reader).map_err(|error| cannot_read(&raw, error))?;
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
            Some(error) => Err(error),
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
    name: String,
    /// Why it could not be read.
    failure: Option<Error>,
}

impl Raw {
    fn new(name: &str, source: Box<dyn Read + Send>, hasher: Option<blake3::Hasher>) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { source, hasher, bytes: 0, name: name.to_owned(), failure: None }))
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                let told = || failed(&*self.name, "cannot be read", io::Error::new(error.kind(), error.to_string()));
                self.failure = Some(store_error(error).unwrap_or_else(told));
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
