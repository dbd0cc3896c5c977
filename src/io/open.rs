//! Opens inputs: their sizes and cuts for the plan, and the records of a slice, whatever the file's format. Knows
//! codecs and how records are cut, not what they say.

use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::codec::{Codec, beginning, open_codec};
use super::cuts::{HEAD_BYTES, PlannedSlices, Records, is_small, look_at, may_share};
use super::metered::{Metered, Raw, RawReader, check, stored};
use super::range::RangeReader;
use super::row_files::{MAGIC_BYTES, named_table, open_table, open_table_stream, sniff_table};
use super::store::{Blob, Place, store_error};
use super::stream::Stream;
use super::{DocumentSource, EventSource, Input, LineSource, failed};
use crate::error::{Error, Result};
use crate::pipeline::{BatchOptions, Corpus, KeptLog, PlannedInput, Slice, Source, SourceDigest, TableOptions};

/// One read of a file: large enough that the calls do not count.
const READ_BYTES: usize = 256 << 10;
/// The inputs of a job.
#[derive(Debug)]
pub struct Inputs {
    list: Vec<Input>,
    /// Which of them may share a part with others.
    is_small: Vec<bool>,
    options: BatchOptions,
    tables: TableOptions,
    piped: Piped,
}

/// What was read already of stdin.
#[derive(Debug, Clone, Default)]
struct Piped {
    head: Arc<[u8]>,
    /// There is no more, or nobody wants it.
    ends: bool,
}

impl Piped {
    fn open(&self) -> Box<dyn Read + Send> {
        let head = io::Cursor::new(self.head.clone());
        if self.ends { Box::new(head) } else { Box::new(head.chain(io::stdin())) }
    }
}

impl Inputs {
    /// The inputs as they are now, each with the slices that it is cut into. A local file that cannot be opened is
    /// planned too, so that it does not stop the others; opening it fails.
    pub fn plan(
        inputs: Vec<Input>,
        options: BatchOptions,
        tables: TableOptions,
        split_bytes: u64,
    ) -> Result<(Self, Vec<PlannedSlices>)> {
        let (mut planned, mut is_small) = (Vec::with_capacity(inputs.len()), Vec::with_capacity(inputs.len()));
        for input in &inputs {
            let looked_at = look_at(input, split_bytes, &tables)?;
            is_small.push(may_share(input, &looked_at.0));
            planned.push(looked_at);
        }
        Ok((Self { list: inputs, is_small, options, tables, piped: Piped::default() }, planned))
    }

    /// True for an input that may share a part with those beside it.
    #[must_use]
    pub fn may_share(&self, index: usize) -> bool {
        self.is_small.get(index).copied().unwrap_or_default()
    }

    /// The inputs in order.
    #[must_use]
    pub fn list(&self) -> &[Input] {
        &self.list
    }

    /// How streams are cut.
    #[must_use]
    pub fn batches(&self) -> BatchOptions {
        self.options
    }

    /// The same inputs, but of stdin at most its first `n_bytes`, which are still there for whoever opens these; and whether that
    /// is all of it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn peek(&mut self, n_bytes: u64) -> Result<(Self, bool)> {
        let mut head = Vec::new();
        if self.list.iter().any(|input| input.file.is_none()) {
            let cannot_read = |error| failed("-", "cannot be read", error);
            self.piped.open().take(n_bytes).read_to_end(&mut head).map_err(cannot_read)?;
        }
        let is_all = (head.len() as u64) < n_bytes;
        self.piped = Piped { head: head.into(), ends: is_all };
        let piped = Piped { ends: true, ..self.piped.clone() };
        let (list, is_small, tables) = (self.list.clone(), self.is_small.clone(), self.tables.clone());
        Ok((Self { list, is_small, tables, piped, ..*self }, is_all))
    }
}

impl Corpus for Inputs {
    fn open(&self, index: usize, planned: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        let input = self
            .list
            .get(index)
            .ok_or_else(|| Error::internal(&planned.source, "the plan names an input that is not there"))?;
        if !planned.looks_again.is_empty() {
            // Who knows the store reads them.
            let nothing = Stream::new(&input.name, Box::new(io::empty()), self.options);
            return Ok(Box::new(LineSource::of(nothing)));
        }
        open_slice(input, (Some(planned), &self.piped), slice, self.options, &self.tables)
    }
}

/// Opens a slice of an input as it is now.
pub fn open_input(
    input: &Input,
    slice: &Slice,
    options: BatchOptions,
    tables: &TableOptions,
) -> Result<Box<dyn Source>> {
    open_slice(input, (None, &Piped::default()), slice, options, tables)
}

/// The file of an input, in the version that was planned; `None` for stdin and pipes.
fn open_file(input: &Input, planned: Option<&PlannedInput>) -> Result<Option<Blob>> {
    let Some(file) = input.file.as_ref().filter(|file| !is_pipe(file)) else { return Ok(None) };
    let blob = file.open()?;
    let Some(planned) = planned else { return Ok(Some(blob)) };
    let changed = |message: String| Err(Error::input(&input.name, message));
    let is_marked = planned.mark.as_deref() == Some(blob.mark());
    if file.as_local().is_none() && !is_marked {
        // Files of this machine may grow, but what is in a store is replaced as a whole.
        return changed("the object has changed since the job began".to_owned());
    }
    match (planned.bytes, blob.bytes()) {
        (Some(_), _) if planned.mark.is_none() => changed("the file was not there when the job began".to_owned()),
        (Some(before), Some(now)) if now < before => {
            changed(format!("the file became shorter: {before} bytes when the job began, {now} bytes now"))
        }
        (Some(before), Some(now)) if now == before && !is_marked => {
            changed("the file was written again since the job began".to_owned())
        }
        _ => Ok(Some(blob)),
    }
}

/// True for a file of this machine, which may be written to meanwhile; of what is in a store each read asks for the version that
/// was opened.
fn is_local(input: &Input) -> bool {
    input.file.as_ref().and_then(Place::as_local).is_some()
}

/// True for what is no file and is read once, to its end.
fn is_pipe(file: &Place) -> bool {
    file.as_local().is_some_and(|path| !path.is_file())
}

/// The bytes of an input from `first` to the end that it had when it was planned.
fn open_bytes(
    input: &Input,
    blob: Option<&Blob>,
    (planned, piped): (Option<&PlannedInput>, &Piped),
    first: u64,
) -> Result<Box<dyn Read + Send>> {
    let Some(blob) = blob else {
        let Some(path) = input.file.as_ref().and_then(Place::as_local) else { return Ok(piped.open()) };
        let pipe = std::fs::File::open(path).map_err(|error| failed(&input.name, "cannot be opened", error))?;
        return Ok(Box::new(pipe));
    };
    let planned = planned.and_then(|planned| planned.bytes).unwrap_or(u64::MAX);
    Ok(match blob.bytes() {
        Some(bytes) => blob.reader(first.min(bytes)..planned.min(bytes)),
        None => blob.stream(),
    })
}

/// All of a small file, as it is at one time.
fn read_small(input: &Input, blob: &Blob, from: u64, mut reader: Box<dyn Read + Send>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let cannot = |error| store_error(&error).unwrap_or_else(|| failed(&input.name, "cannot be read", error));
    reader.read_to_end(&mut bytes).map_err(cannot)?;
    if is_local(input) {
        let digest = SourceDigest::of_stream(bytes.len() as u64, blake3::Hasher::new().update(&bytes), None);
        check(blob, (Slice::Whole, from), false, &digest)
            .map_err(|error| Error { place: input.name.clone(), ..error })?;
    }
    Ok(bytes)
}

/// The input as a table, when it is a file that begins as one.
fn open_if_table(
    input: &Input,
    blob: &Blob,
    slice: &Slice,
    options: BatchOptions,
    tables: &TableOptions,
) -> Result<Option<Box<dyn Source>>> {
    // What comes as one stream shows there what it is.
    let Some(bytes) = blob.bytes().filter(|_| blob.gives_ranges()) else { return Ok(None) };
    let groups = match *slice {
        Slice::Bytes { .. } => return Ok(None),
        Slice::RowGroups { start, end, .. } => Some(start as usize..end as usize),
        Slice::Whole => None,
    };
    match sniff_table(&blob.read_range(0..bytes.min(MAGIC_BYTES as u64))?) {
        Some(container) => open_table(&input.name, blob.clone(), container, groups, options, tables).map(Some),
        None => Ok(None),
    }
}

fn open_slice(
    input: &Input,
    (planned, piped): (Option<&PlannedInput>, &Piped),
    slice: &Slice,
    options: BatchOptions,
    tables: &TableOptions,
) -> Result<Box<dyn Source>> {
    let blob = open_file(input, planned)?;
    let kept = planned.and_then(|planned| planned.keeps.as_ref());
    let unkept = blob.as_ref().filter(|_| kept.is_none());
    let table = unkept.map(|blob| open_if_table(input, blob, slice, options, tables)).transpose()?.flatten();
    let is_held = table.is_none() && *slice == Slice::Whole && planned.is_some_and(is_small);
    let source = match table {
        Some(table) => Metered::of(table),
        None => open_stream(input, blob.as_ref(), (planned, piped), slice, options, tables)?,
    };
    Ok(Box::new(match blob.filter(|_| planned.is_some() && is_local(input) && !is_held) {
        Some(blob) => source.checking(blob, &input.name, (*slice, kept.map_or(0, |kept| kept.stored_bytes))),
        None => source,
    }))
}

/// The records of a slice of an input that is no table in a file.
fn open_stream(
    input: &Input,
    blob: Option<&Blob>,
    how: (Option<&PlannedInput>, &Piped),
    slice: &Slice,
    options: BatchOptions,
    tables: &TableOptions,
) -> Result<Metered> {
    let cannot_read = |raw: &Arc<Mutex<Raw>>, error| {
        let failure = raw.lock().unwrap_or_else(PoisonError::into_inner).failure.take();
        failure.unwrap_or_else(|| failed(&input.name, "cannot be read", error))
    };
    let kept = how.0.and_then(|planned| planned.keeps.as_ref());
    let (from, n_kept) = kept.map_or((0, 0), |kept| (kept.stored_bytes, kept.bytes));
    let first_row = kept.map_or(0, KeptLog::first_row);
    if let (Some(_), &Slice::Bytes { start, end }) = (&input.file, slice) {
        let first = from + RangeReader::<io::Empty>::first_byte(start);
        let file = BufReader::with_capacity(READ_BYTES, open_bytes(input, blob, how, first)?);
        let raw = Raw::new(&input.name, Box::new(file), None);
        let range = RangeReader::new(RawReader(raw.clone()), start, end).map_err(|error| cannot_read(&raw, error))?;
        let first = from + range.first_line();
        let lines =
            LineSource::new(&input.name, Box::new(range), options).starting_at(first, first_row + slice.first_row());
        return Ok(Metered::over(raw, Box::new(lines), None, options.max_record_bytes));
    }
    let mut bytes = open_bytes(input, blob, how, from)?;
    if let (Some(blob), true) = (blob, how.0.is_some_and(is_small)) {
        bytes = Box::new(io::Cursor::new(read_small(input, blob, from, bytes)?));
    }
    let raw = Raw::new(&input.name, bytes, Some(blake3::Hasher::new()));
    let reader = BufReader::with_capacity(READ_BYTES, RawReader(raw.clone()));
    let (first, reader) = beginning(reader, MAGIC_BYTES).map_err(|error| cannot_read(&raw, error))?;
    if let Some(container) = sniff_table(&first).filter(|_| kept.is_none()) {
        return open_table_stream(&input.name, Box::new(reader), container, options, tables).map(Metered::of);
    }
    if named_table(Path::new(&input.name)).is_some() && kept.is_none() {
        let message = "the file is named like a table, but begins neither as Parquet nor as Arrow IPC: it is damaged, \
                       empty or something else; fetch or write it again, or name it as what it is";
        return Err(Error::input(&input.name, message));
    }
    let (codec, mut stream) = match kept {
        // The rest of lines, whatever it begins with.
        Some(_) if from > 0 => (Codec::Plain, Box::new(reader) as Box<dyn Read + Send>),
        _ => open_codec(reader).map_err(|error| cannot_read(&raw, error))?,
    };
    // What is damaged there is met again behind it.
    drop(io::copy(&mut stream.by_ref().take(n_kept - from), &mut io::sink()));
    let stored = (codec != Codec::Plain).then(|| stored(raw.clone(), input.name.clone()));
    if codec == Codec::Plain {
        // The stored bytes are the stream, which is hashed anyway.
        raw.lock().unwrap_or_else(PoisonError::into_inner).hasher = None;
    }
    let (head, stream) = peek(stream);
    let stream = Stream::new(&input.name, stream, options).stored(stored);
    // Cut as its content asks for.
    let source: Box<dyn Source> = if kept.is_some() {
        Box::new(LineSource::of(stream).starting_at(n_kept, first_row))
    } else {
        match Records::of(&head, tables) {
            Records::Events(shape) => Box::new(EventSource::of(stream, shape)),
            Records::Document => Box::new(DocumentSource::of(stream).read_by(tables.map.clone())),
            Records::Lines => Box::new(LineSource::of(stream)),
        }
    };
    let packed = if codec == Codec::Plain { None } else { blob.and_then(Blob::bytes) };
    Ok(Metered::over(raw, source, packed, options.max_record_bytes))
}

/// The first bytes of a stream, and the same stream from its beginning. Damage among them is met again later, and what
/// stands behind it after that.
fn peek(mut stream: Box<dyn Read + Send>) -> (Vec<u8>, Box<dyn Read + Send>) {
    let mut head = Vec::new();
    let damage = stream.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).err();
    let start = io::Cursor::new(head.clone());
    match damage {
        None => (head, Box::new(start.chain(stream))),
        Some(error) => (head, Box::new(start.chain(Damaged(Some(error))).chain(stream))),
    }
}

/// A stream that broke.
struct Damaged(Option<io::Error>);

impl Read for Damaged {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
