//! Which logs a night takes in: new ones, and of those that the store knows the ones that have grown or were changed, from where
//! they differ. Knows streams; refuses to know what they say.

use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{Extent, Store, full_name};
use crate::error::{Error, Result};
use crate::io::codec::open_codec;
use crate::io::cuts::{HEAD_BYTES, is_lines};
use crate::io::lines::is_blank;
use crate::io::row_files::{MAGIC_BYTES, named_table};
use crate::io::store::{Blob, Place};
use crate::io::stream::BOM;
use crate::io::{Codec, Input, failed, hash_of, open_input, sniff_table};
use crate::pipeline::{BatchOptions, JobOptions, KeptLog, LogState, Slice, TableOptions};

const READ_BYTES: usize = 1 << 20;

/// What there is to do with files.
#[derive(Debug, Default)]
pub struct Selection {
    /// Files that the store does not have as they are, each from where it differs from what the store has.
    pub take: Vec<Input>,
    /// Of these, files that have only grown.
    pub n_grown: usize,
    /// Of these, files that were written otherwise, or cut.
    pub n_changed: usize,
    /// Files that it has as they are.
    pub n_unchanged: usize,
    /// Files that cannot be opened, and why.
    pub unreadable: Vec<Error>,
}

/// A log beside what the store has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// The store does not know it.
    New,
    /// It is as the store has it.
    Same,
    /// It goes on where that ends; what is kept of that, if anything can be.
    Grown(Option<KeptLog>),
    /// It differs before that ends.
    Changed(Option<KeptLog>),
}

impl Store {
    /// Which of `inputs` are new, have grown or have changed. A file of the same size and mark is taken for unchanged; any other is
    /// compared with the hashes of what the store has of it. A table that a job with these `options` could not open is unreadable: it
    /// keeps no other from being taken.
    pub fn select(&self, inputs: Vec<Input>, options: &JobOptions) -> Result<Selection> {
        let latest = self.latest();
        let mut selection = Selection::default();
        let mut seen = BTreeSet::new();
        for input in inputs {
            let Some(file) = &input.file else {
                return Err(Error::usage(input.name, "compaction takes files: it comes back to them"));
            };
            let name = match full_name(file) {
                Ok(name) => name,
                Err(error) => {
                    selection.unreadable.push(error);
                    continue;
                }
            };
            let known = latest.get(name.as_str()).copied();
            if !seen.insert(name) {
                continue;
            }
            let before = known.map(|(run, state)| state.night.clone().unwrap_or_else(|| run.to_owned()));
            let mut extends = None;
            let version = self.version(file, known, &options.tables()).and_then(|version| {
                let is_read_whole = matches!(&version, Some(Version::New | Version::Changed(None)));
                if is_read_whole {
                    check_table(&input, file, options)?;
                }
                Ok(version)
            });
            let keeps = match version {
                Err(error) => {
                    selection.unreadable.push(error);
                    continue;
                }
                Ok(None) => {
                    // What was deleted since it was listed is nobody's fault; a link that leads nowhere is somebody's.
                    if file.as_local().is_some_and(Path::is_symlink) {
                        selection.unreadable.push(Error::input(&input.name, "the link leads to nothing"));
                    }
                    continue;
                }
                Ok(Some(Version::Same)) => {
                    selection.n_unchanged += 1;
                    continue;
                }
                Ok(Some(Version::New)) => None,
                Ok(Some(Version::Grown(keeps))) => {
                    selection.n_grown += 1;
                    extends = before;
                    keeps
                }
                Ok(Some(Version::Changed(keeps))) => {
                    selection.n_changed += 1;
                    keeps
                }
            };
            selection.take.push(Input { keeps, comes_again: known.is_some(), extends, ..input });
        }
        Ok(selection)
    }

    /// `None` when the file is gone.
    fn version(
        &self,
        file: &Place,
        known: Option<(&str, &LogState)>,
        tables: &TableOptions,
    ) -> Result<Option<Version>> {
        let Some(blob) = file.find()? else { return Ok(None) };
        let Some((run, known)) = known else { return Ok(Some(Version::New)) };
        let has_size = blob.bytes() == Some(known.size);
        if has_size && known.mark.as_deref() == Some(blob.mark()) {
            return Ok(Some(Version::Same));
        }
        let cannot = |error| blob.failure().unwrap_or_else(|| failed(file.to_string(), "cannot be read", error));
        if known.is_table {
            let is_same =
                has_size && known.blake3.is_some() && Some(hash_of(blob.stream()).map_err(cannot)?) == known.blake3;
            return Ok(Some(if is_same { Version::Same } else { Version::Changed(None) }));
        }
        let opened = open_codec(BufReader::with_capacity(READ_BYTES, blob.stream())).map_err(cannot)?;
        let mut compared = Compared::of(opened, &self.extents(run, known)?).map_err(cannot)?;
        if !is_lines(&compared.head, tables) {
            // Sessions and documents are read as wholes.
            compared.kept = 0;
        }
        let keeps = (compared.kept > 0).then(|| KeptLog {
            run: run.to_owned(),
            bytes: compared.kept,
            records: Some(compared.kept_records),
            stored_bytes: if compared.codec == Codec::Plain { compared.kept } else { 0 },
            cut_blake3: compared.cut_blake3,
        });
        Ok(Some(match (compared.is_whole, compared.goes_on) {
            (true, false) => Version::Same,
            (true, true) => Version::Grown(keeps),
            (false, _) => Version::Changed(keeps),
        }))
    }
}

/// Opens an input as the job would when it is a table, or is named like one: it may be torn, as it is while somebody writes it. Of what
/// is in a store the name must do, as elsewhere.
fn check_table(input: &Input, file: &Place, options: &JobOptions) -> Result<()> {
    let is_named = named_table(Path::new(&input.name)).is_some();
    let is_table = || -> Result<bool> {
        let blob = file.open()?;
        let head = blob.read_range(0..blob.bytes().unwrap_or(0).min(MAGIC_BYTES as u64))?;
        Ok(sniff_table(&head).is_some())
    };
    if !is_named && (file.as_local().is_none() || !is_table()?) {
        return Ok(());
    }
    let batches = BatchOptions { batch_bytes: options.batch_bytes, max_record_bytes: options.max_record_bytes };
    open_input(input, &Slice::Whole, batches, &options.tables())?;
    options.format.check_table(&input.name)
}

/// A file beside these stretches of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// It has these bytes and no others.
    Same,
    /// It has others.
    Other,
    /// Its compressed stream is damaged: what is behind the damage is nowhere else.
    Damaged,
}

impl Beside {
    /// How `blob` is beside `extents`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(blob: &Blob, extents: &[Extent]) -> std::io::Result<Self> {
        let (codec, stream) = open_codec(BufReader::with_capacity(READ_BYTES, blob.stream()))?;
        match Compared::of((codec, stream), extents) {
            Ok(compared) if compared.is_whole && !compared.goes_on => Ok(Self::Same),
            Ok(_) => Ok(Self::Other),
            Err(error) if blob.failure().is_some() => Err(error),
            Err(_) => Ok(Self::Damaged),
        }
    }

    /// The same of a file whose bytes are the log, whatever they begin with.
    pub fn of_plain(blob: &Blob, extents: &[Extent]) -> std::io::Result<Self> {
        let compared = Compared::of((Codec::Plain, blob.stream()), extents)?;
        Ok(if compared.is_whole && !compared.goes_on { Self::Same } else { Self::Other })
    }
}

/// How far a stream is what the store has.
struct Compared {
    codec: Codec,
    head: Vec<u8>,
    /// Bytes of whole lines that are the same, and how many of these are records.
    kept: u64,
    kept_records: u64,
    /// The hash of what of these stands in the last extent, where that is not all of it.
    cut_blake3: Option<String>,
    /// All that the store has is there.
    is_whole: bool,
    /// More stands behind it.
    goes_on: bool,
}

impl Compared {
    fn of((codec, mut stream): (Codec, Box<dyn Read + Send>), extents: &[Extent]) -> std::io::Result<Self> {
        let (kept, kept_records) = (0, 0);
        let (cut_blake3, is_whole, goes_on) = (None, true, false);
        let mut found = Self { codec, head: Vec::new(), kept, kept_records, cut_blake3, is_whole, goes_on };
        let mut buffer = vec![0; READ_BYTES];
        let mut at = 0;
        for extent in extents {
            let mut hashed = Hashed::default();
            let mut left = extent.bytes;
            while left > 0 {
                let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                // What is damaged ends the stream.
                let n = read_some(&mut *stream, &mut buffer[..most])?;
                if n == 0 {
                    break;
                }
                let bytes = &buffer[..n];
                let wanted = HEAD_BYTES.saturating_sub(found.head.len());
                found.head.extend_from_slice(&bytes[..n.min(wanted)]);
                // A byte order mark is no record.
                let is_marked = at == 0 && left == extent.bytes && bytes.starts_with(BOM);
                hashed.push(bytes, if is_marked { BOM.len() } else { 0 });
                left -= n as u64;
            }
            let is_same = left == 0 && *hashed.all.finalize().to_hex() == *extent.blake3;
            if !is_same {
                found.is_whole = false;
                return Ok(found);
            }
            // What comes next begins with a line only where this ends with one.
            let whole_lines = hashed.to_line_end.as_ref().map_or(0, blake3::Hasher::count);
            let ends_line = whole_lines == extent.bytes;
            (found.kept, found.cut_blake3) = match &hashed.to_line_end {
                _ if ends_line => (at + extent.bytes, extent.is_cut.then(|| extent.blake3.clone())),
                Some(hasher) => (at + whole_lines, Some(hasher.finalize().to_hex().to_string())),
                None => (at, found.cut_blake3.take()),
            };
            found.kept_records += hashed.n_records;
            at += extent.bytes;
        }
        let n = read_some(&mut *stream, &mut buffer)?;
        found.goes_on = n > 0;
        let wanted = HEAD_BYTES.saturating_sub(found.head.len());
        found.head.extend_from_slice(&buffer[..n.min(wanted)]);
        Ok(found)
    }
}

/// Bytes of an extent, hashed, and up to the end of their last line.
#[derive(Default)]
struct Hashed {
    all: blake3::Hasher,
    to_line_end: Option<blake3::Hasher>,
    /// Whole lines that are not blank, and whether the line that is not whole yet is not.
    n_records: u64,
    is_record: bool,
}

impl Hashed {
    fn push(&mut self, bytes: &[u8], n_mark: usize) {
        let (lines, rest) = memchr::memrchr(b'\n', bytes).map_or((&[][..], bytes), |at| bytes.split_at(at + 1));
        if !lines.is_empty() {
            self.all.update(lines);
            self.to_line_end = Some(self.all.clone());
        }
        self.all.update(rest);
        self.count(&bytes[n_mark..]);
    }

    fn count(&mut self, bytes: &[u8]) {
        let is_record = |line: &[u8]| !line.iter().all(|&byte| is_blank(byte));
        let mut begin = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.n_records += u64::from(self.is_record || is_record(&bytes[begin..end]));
            self.is_record = false;
            begin = end + 1;
        }
        self.is_record = self.is_record || is_record(&bytes[begin..]);
    }
}

fn read_some(stream: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
