//! Holds a restored part against what its commit promises and, when wanted, against the original.

use std::collections::{BTreeSet, VecDeque};
use std::io::Read;

use super::numbers::{by_count, counted};
use super::rows::{RowDigest, RowMark};
use super::{Batch, Commit, ReadInput, Restored, RestoredSlice, Restorer, Source};
use crate::error::{Error, Result};

/// After so many breaks in a row with nothing between them a stream is given up.
const MAX_BREAKS: usize = 1000;

/// What was compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Records restored.
    pub records: u64,
    /// Bytes of the restored stream, canonical bytes of restored rows.
    pub bytes: u64,
    /// The sources that were damaged or cut off when they were read.
    pub torn: BTreeSet<String>,
}

/// What a part was made of.
pub enum Against<'a> {
    /// A stream.
    Stream(&'a mut NamedStream),
    /// The streams of the inputs that share the part, to their ends.
    Streams(&'a mut dyn Iterator<Item = Result<NamedStream>>),
    /// A table.
    Rows(&'a mut dyn Source),
}

/// The stream of an original.
pub struct NamedStream {
    /// The file, as it was named.
    pub name: String,
    /// Its text, from byte `at` on.
    pub stream: Box<dyn Read + Send>,
    /// Bytes that were read of it.
    pub at: u64,
}

shows!(NamedStream { name });

impl NamedStream {
    fn differs(&self, behind: u64) -> String {
        format!("{} differs from the restored stream at byte {}", self.name, self.at + behind)
    }

    /// What to say when something is left of it.
    fn goes_on(&mut self) -> Option<String> {
        let is_left = self.stream.read(&mut [0]).is_ok_and(|n| n > 0);
        is_left.then(|| format!("{} goes on where the restored stream ends", self.name))
    }
}

impl std::fmt::Debug for Against<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Stream(_) => "Stream",
            Self::Streams(_) => "Streams",
            Self::Rows(_) => "Rows",
        })
    }
}

/// Restores a whole part and compares it with its commit and with what `original` gives next, calling `seen` after
/// every slice; `seen` may stop the work with an error.
pub fn verify_part(
    restorer: &mut Restorer,
    commit: &Commit,
    original: Option<Against<'_>>,
    seen: &mut dyn FnMut(&Restored) -> Result<()>,
) -> Result<Difference> {
    verify_inputs(restorer, commit, original, &mut |_, restored| seen(restored))
}

/// The same; `seen` hears which input of the part a slice is of, and hears of an input when all before it are compared.
pub fn verify_inputs(
    restorer: &mut Restorer,
    commit: &Commit,
    mut original: Option<Against<'_>>,
    seen: &mut dyn FnMut(usize, &Restored) -> Result<()>,
) -> Result<Difference> {
    let place = format!("part {} ({})", commit.part, commit.sources());
    let differs = |message: String| Error::verification(place.clone(), message);
    let mut inputs = Inputs::of(commit);
    let (mut digest, mut records, mut row) = (RowDigest::default(), 0, 0_u64);
    let mut expected = VecDeque::new();
    while let Some(restored) = restorer.next_slice()? {
        records += restored.records;
        match &restored.slice {
            RestoredSlice::Bytes(_) if matches!(original, Some(Against::Rows(_))) => {
                return Err(differs(NO_TABLE.to_owned()));
            }
            RestoredSlice::Bytes(_) => inputs.take(restored, &mut original, seen)?,
            RestoredSlice::Rows { marks, .. } => {
                match &mut original {
                    Some(Against::Rows(original)) => {
                        for mark in marks {
                            if next_mark(*original, &mut expected)?.as_ref() != Some(mark) {
                                let name = original.name();
                                let message = format!("{name} differs from the restored table at row {row}");
                                return Err(differs(message).hinting(COMPARED));
                            }
                            row += 1;
                        }
                    }
                    None => {}
                    Some(_) => return Err(differs(NO_TABLE.to_owned())),
                }
                digest.push(marks);
                seen(0, &restored)?;
            }
        }
    }
    if let Some(Against::Rows(original)) = &mut original
        && next_mark(*original, &mut expected)?.is_some()
    {
        let name = original.name();
        let message = format!("{name} goes on after row {row}, where the restored table ends");
        return Err(differs(message).hinting(COMPARED));
    }
    if records != commit.records {
        return Err(differs(format!(
            "{} {} restored, but {} {} read",
            counted(records, "record"),
            by_count(records, "was", "were"),
            commit.records,
            by_count(commit.records, "was", "were")
        )));
    }
    let torn = restorer.torn().clone();
    if commit.table.is_none() {
        let bytes = inputs.finish(&mut original)?;
        return Ok(Difference { records, bytes, torn });
    }
    let (bytes, hash) = digest.finish();
    if bytes != commit.input.stream_bytes || hash != commit.input.stream_blake3 {
        return Err(differs("the restored table differs from the one that was read: its hash is another".to_owned()));
    }
    Ok(Difference { records, bytes, torn })
}

const NO_TABLE: &str = "the input is a table, or the run was made of one";
/// What to do where an original differs.
const COMPARED: &str = "files are compared in the order of the run; if they are in it, do not delete the originals";

/// The streams of the inputs of a part, one after the other.
struct Inputs<'c> {
    part: usize,
    all: Vec<ReadInput<'c>>,
    /// Which of them is restored.
    at: usize,
    hasher: blake3::Hasher,
    /// Bytes of those before it.
    before: u64,
    /// Its original, where the originals come one by one.
    open: Option<NamedStream>,
    read: Vec<u8>,
}

impl<'c> Inputs<'c> {
    fn of(commit: &'c Commit) -> Self {
        let (part, all) = (commit.part, commit.inputs().collect());
        Self { part, all, at: 0, hasher: blake3::Hasher::new(), before: 0, open: None, read: Vec::new() }
    }

    fn differs(&self, message: impl Into<String>) -> Error {
        let source = self.all.get(self.at).map_or("", |input| input.source);
        Error::verification(format!("part {} ({source})", self.part), message)
    }

    /// How much of the current input is still to come; of the last one whatever comes.
    fn left(&self) -> u64 {
        let is_last = self.at + 1 >= self.all.len();
        if is_last { u64::MAX } else { self.all[self.at].input.stream_bytes.saturating_sub(self.hasher.count()) }
    }

    /// Takes the next bytes of the part, each input's by themselves.
    fn take(
        &mut self,
        mut restored: Restored,
        original: &mut Option<Against<'_>>,
        seen: &mut dyn FnMut(usize, &Restored) -> Result<()>,
    ) -> Result<()> {
        loop {
            let RestoredSlice::Bytes(bytes) = &mut restored.slice else { return Ok(()) };
            while !bytes.is_empty() && self.left() == 0 {
                self.end(original)?;
            }
            let n_here = usize::try_from(self.left()).unwrap_or(usize::MAX).min(bytes.len());
            let rest = bytes.split_off(n_here);
            self.compare(bytes, original)?;
            self.hasher.update(bytes);
            seen(self.at, &restored)?;
            if rest.is_empty() {
                return Ok(());
            }
            restored = Restored { records: 0, slice: RestoredSlice::Bytes(rest) };
        }
    }

    fn compare(&mut self, bytes: &[u8], original: &mut Option<Against<'_>>) -> Result<()> {
        let mut read = std::mem::take(&mut self.read);
        read.clear();
        let original: &mut NamedStream = match original {
            Some(Against::Stream(original)) => original,
            Some(Against::Streams(originals)) => self.open(*originals)?,
            Some(Against::Rows(_)) | None => return Ok(()),
        };
        read_around_damage(&mut original.stream, bytes.len(), &mut read);
        if read != *bytes {
            let same = read.iter().zip(bytes).take_while(|(a, b)| a == b).count() as u64;
            let message = original.differs(same);
            return Err(self.differs(message).hinting(COMPARED));
        }
        original.at += read.len() as u64;
        self.read = read;
        Ok(())
    }

    /// Opens the original of the current input.
    fn open(&mut self, originals: &mut dyn Iterator<Item = Result<NamedStream>>) -> Result<&mut NamedStream> {
        let open = match self.open.take() {
            Some(open) => open,
            None => originals.next().unwrap_or_else(|| Err(self.differs("there is no input to compare it with")))?,
        };
        Ok(self.open.insert(open))
    }

    /// Compares the current input, now that it is whole, with what was read, and goes on to the next.
    fn end(&mut self, original: &mut Option<Against<'_>>) -> Result<()> {
        let hasher = std::mem::take(&mut self.hasher);
        let (bytes, hash) = (hasher.count(), hasher.finalize().to_hex());
        let Some(input) = self.all.get(self.at) else { return Ok(()) };
        if bytes != input.input.stream_bytes || *hash != *input.input.stream_blake3 {
            return Err(self.differs("the restored stream differs from the one that was read: its hash is another"));
        }
        if let Some(Against::Streams(originals)) = original
            && let Some(message) = self.open(*originals)?.goes_on()
        {
            return Err(self.differs(message).hinting(COMPARED));
        }
        self.open = None;
        self.before += bytes;
        self.at += 1;
        Ok(())
    }

    /// Ends all that are left; gives the bytes of all.
    fn finish(mut self, original: &mut Option<Against<'_>>) -> Result<u64> {
        while self.at < self.all.len() {
            self.end(original)?;
        }
        Ok(self.before)
    }
}

/// The mark of the next row of a source.
fn next_mark(source: &mut dyn Source, expected: &mut VecDeque<RowMark>) -> Result<Option<RowMark>> {
    while expected.is_empty() {
        match source.next_batch()? {
            Some(Batch::Rows(rows)) => expected.extend(rows.marks),
            Some(Batch::Lines(_)) => return Err(Error::input(source.name(), "this is no table")),
            None => return Ok(None),
        }
    }
    Ok(expected.pop_front())
}

/// Reads up to `n` bytes. What stands before and behind damage counts; a stream that only breaks is given up.
fn read_around_damage(stream: &mut dyn Read, n: usize, bytes: &mut Vec<u8>) {
    let mut n_breaks = 0;
    while bytes.len() < n && n_breaks < MAX_BREAKS {
        let before = bytes.len();
        match stream.take((n - before) as u64).read_to_end(bytes) {
            Ok(_) => return,
            Err(_) if bytes.len() > before => n_breaks = 0,
            Err(_) => n_breaks += 1,
        }
    }
}

/// Checks that nothing is left of an original after its last part.
pub fn verify_end(commit: &Commit, original: &mut NamedStream) -> Result<()> {
    let place = || format!("part {} ({})", commit.part, commit.source);
    let goes_on = |message| Err(Error::verification(place(), message).hinting(COMPARED));
    original.goes_on().map_or(Ok(()), goes_on)
}
