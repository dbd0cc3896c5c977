//! From what the user typed to open streams: paths, folders, patterns and stdin. Knows codecs and lines, not what
//! the lines say.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use super::codec::{Codec, open_codec};
use super::lines::Stored;
use super::range::RangeReader;
use super::{LineSource, failed};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{BatchOptions, Corpus, PlannedInput, Slice, Source};

/// One read of a file: large enough that the calls do not count.
const READ_BYTES: usize = 256 << 10;
/// So much of a file tells what it holds.
const HEAD_BYTES: usize = 64 << 10;
const ENDINGS: [&str; 3] = ["jsonl", "ndjson", "json"];
const STORED_ENDINGS: [&str; 3] = ["gz", "zst", "zstd"];

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name as the user gave it, or made from it.
    pub name: String,
    /// The file; `None` for stdin.
    pub path: Option<PathBuf>,
}

/// The inputs that `arguments` stand for: files, folders (all JSON lines below them, by name), patterns, and `-`
/// for stdin. The order is that of the arguments. A run stands for its conversations, and runs inside a folder
/// are passed over.
///
/// # Errors
/// When an argument stands for nothing.
pub fn expand(arguments: &[String]) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        if argument == "-" {
            inputs.push(Input { name: "-".to_owned(), path: None });
        } else if path.is_dir() {
            let before = inputs.len();
            // Of a run, what it holds for a reader: its conversations.
            let folder = if is_run(path) { path.join("conversations") } else { path.to_owned() };
            walk(&folder, &mut inputs)?;
            if inputs.len() == before {
                return Err(Error::new(
                    ErrorKind::Usage,
                    argument,
                    "the folder holds no JSON lines (*.jsonl, *.ndjson, also .gz or .zst)",
                ));
            }
        } else if path.exists() {
            inputs.push(Input { name: argument.clone(), path: Some(path.to_owned()) });
        } else {
            inputs.extend(matches_of(argument)?);
        }
    }
    if inputs.iter().filter(|input| input.path.is_none()).count() > 1 {
        return Err(Error::new(ErrorKind::Usage, "-", "stdin can be read only once"));
    }
    Ok(inputs)
}

fn matches_of(pattern: &str) -> Result<Vec<Input>> {
    let nothing =
        || Error::new(ErrorKind::Usage, pattern, "there is no such file, and no file matches it as a pattern");
    let paths = glob::glob(pattern).map_err(|error| nothing().because(error))?;
    let mut inputs = Vec::new();
    for path in paths {
        let path = path.map_err(|error| failed(pattern, "a folder cannot be listed", error.into()))?;
        if path.is_file() {
            inputs.push(Input { name: path.to_string_lossy().into_owned(), path: Some(path) });
        }
    }
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    if inputs.is_empty() { Err(nothing()) } else { Ok(inputs) }
}

fn walk(folder: &Path, inputs: &mut Vec<Input>) -> Result<()> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    let paths = list().map_err(|error| failed(folder.to_string_lossy(), "the folder cannot be listed", error))?;
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            if !is_run(&path) {
                walk(&path, inputs)?;
            }
        } else if is_json_lines(&name) {
            inputs.push(Input { name: path.to_string_lossy().into_owned(), path: Some(path) });
        }
    }
    Ok(())
}

/// True for the directory of a run, which is output even when it lies among the inputs.
fn is_run(folder: &Path) -> bool {
    folder.join("commits").is_dir() && folder.join("conversations").is_dir()
}

fn is_json_lines(name: &str) -> bool {
    let plain = strip_codec(name);
    ENDINGS.iter().any(|ending| plain.rsplit_once('.').is_some_and(|(_, found)| found == *ending))
}

fn strip_codec(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((plain, ending)) if STORED_ENDINGS.contains(&ending) => plain,
        _ => name,
    }
}

/// The path under which a source is restored: its own without the ending of a codec, without a root and without
/// steps upwards, so that it stays in the folder that it is restored to.
#[must_use]
pub fn restored_name(source: &str) -> PathBuf {
    if source == "-" {
        return PathBuf::from("stdin.jsonl");
    }
    let parts = source.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
    let path: PathBuf = parts.collect();
    match path.file_name().map(|name| strip_codec(&name.to_string_lossy()).to_owned()) {
        Some(name) if !name.is_empty() => path.with_file_name(name),
        _ => PathBuf::from("restored.jsonl"),
    }
}

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
    Ok(Codec::sniff(&head) == Codec::Plain && !is_table(&head))
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
        let range = RangeReader::new(file, start, end).map_err(|error| failed(&input.name, "cannot be read", error))?;
        let first = range.first_line();
        let lines = LineSource::new(&input.name, Box::new(range), options);
        return Ok(Box::new(lines.starting_at(first, slice.first_row())));
    }
    let source: Box<dyn Read + Send> = match &input.path {
        None => Box::new(io::stdin()),
        Some(path) => Box::new(File::open(path).map_err(cannot_open)?.take(bytes.unwrap_or(u64::MAX))),
    };
    let raw = Arc::new(Mutex::new(Raw { source, hasher: Some(blake3::Hasher::new()), bytes: 0 }));
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
    let (_head, stream) = peek(stream);
    let lines = LineSource::new(&input.name, stream, options);
    Ok(Box::new(match stored {
        Some(stored) => lines.stored(stored),
        None => lines,
    }))
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
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_json_lines, restored_name};

    #[test]
    fn restored_names_lose_the_codec_and_stay_in_their_folder() {
        let check = |source: &str, name: &str| assert_eq!(restored_name(source), Path::new(name));
        check("logs/a.jsonl.zst", "logs/a.jsonl");
        check("/data/b.jsonl.gz", "data/b.jsonl");
        check("../../c.jsonl", "c.jsonl");
        check("-", "stdin.jsonl");
        check("..", "restored.jsonl");
    }

    #[test]
    fn folders_give_json_lines_only() {
        assert!(is_json_lines("a.jsonl") && is_json_lines("a.ndjson.gz") && is_json_lines("a.jsonl.zst"));
        assert!(!is_json_lines("README.md") && !is_json_lines("a.parquet") && !is_json_lines("jsonl"));
    }
}
