//! The files of a split in a run: what was decided about every conversation, in the order of the plan, and the side of every key,
//! for runs that come later. Knows their layout; refuses to know how it was decided.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::packed::{PLACE_BYTES, PackedPlace, VERDICT_BYTES, bytes_at, long_at, place_of, verdict_of};
use super::scratch::Scratch;
use crate::error::{Error, Result};
use crate::io::run_documents::missing;
use crate::io::store::Place;
use crate::pipeline::TableFile;
use crate::pipeline::split::{ChatPlace, PlannedSplit, Side, SplitVerdict, Verdicts};

/// The folder of these files in a run.
pub(in crate::io) const SPLIT: &str = "split";
/// What was decided, in the folder of a run: a line that says what it is, how many verdicts there are (eight bytes, the lowest
/// first), the verdicts by their places, and the texts that some name, each with its length before it.
pub(super) const VERDICTS: &str = "split/verdicts.bin";
/// The side of every key: a line that says what it is, then keys in ascending order, each with a byte for its side.
pub(super) const KEYS: &str = "split/keys.bin";
pub(super) const VERDICTS_LINE: &[u8] = b"condenser split verdicts 1\n";
pub(super) const KEYS_LINE: &[u8] = b"condenser split keys 1\n";
/// A key and its side.
pub(super) const SIDE_BYTES: usize = 17;
/// Verdicts that are read at once, and how many times that are held.
const BLOCK: u64 = 1024;
const MOST_BLOCKS: usize = 64;
const COPY_BYTES: usize = 1 << 20;

/// The files as the manifest of the run at `root` names them.
///
/// # Errors
/// `Verification` when one is missing.
pub(in crate::io) fn split_files(root: &Place, split: &PlannedSplit) -> Result<Vec<TableFile>> {
    let file = |(name, blake3, rows): (&str, &String, u64)| {
        let place = root.join(name);
        let found = place.stat()?.ok_or_else(|| missing(&place.to_string()))?;
        Ok(TableFile {
            table: SPLIT.to_owned(),
            path: name.to_owned(),
            rows,
            bytes: found.bytes.unwrap_or_default(),
            blake3: blake3.clone(),
            stream_blake3: None,
            pieces: Vec::new(),
        })
    };
    [(VERDICTS, &split.blake3, split.conversations()), (KEYS, &split.keys_blake3, split.keys)]
        .map(file)
        .into_iter()
        .collect()
}

/// The file at `place`, proven to be what the plan says, in a file without a name.
fn proven(place: &Place, blake3: &str, line: &[u8]) -> Result<File> {
    let blob = place.find()?.ok_or_else(|| missing(&place.to_string()))?;
    let cannot = |error| Error::io(place.to_string(), "cannot be read").because(error);
    let (mut reader, mut hasher) = (blob.stream(), blake3::Hasher::new());
    let mut file = Scratch::default().file()?;
    let mut bytes = vec![0; COPY_BYTES];
    loop {
        let n = reader.read(&mut bytes).map_err(cannot)?;
        let Some(read) = bytes.get(..n).filter(|read| !read.is_empty()) else { break };
        hasher.update(read);
        file.write_all(read).map_err(cannot)?;
    }
    let mut first = vec![0; line.len()];
    let begins = file.rewind().and_then(|()| file.read_exact(&mut first));
    if hasher.finalize().to_hex().as_str() != blake3 || begins.is_err() || first != line {
        let message = "the split is not what the plan says: its hash differs";
        return Err(Error::verification(place.to_string(), message));
    }
    Ok(file)
}

/// What was decided in a run.
#[derive(Debug)]
pub struct VerdictFile {
    place: String,
    n: u64,
    /// The place of the first conversation of each block.
    firsts: Vec<PackedPlace>,
    open: Mutex<Open>,
    tools: BTreeMap<String, Vec<Value>>,
}

#[derive(Debug)]
struct Open {
    file: File,
    blocks: HashMap<u64, Arc<Vec<u8>>>,
    order: VecDeque<u64>,
}

impl VerdictFile {
    /// Opens what was decided in the run at `root`, whose plan says `split`.
    ///
    /// # Errors
    /// `Verification` when it is another split than that of the plan.
    pub fn open(root: &Place, split: &PlannedSplit) -> Result<Self> {
        let place = root.join(VERDICTS);
        let cannot = |error| Error::io(place.to_string(), "cannot be read").because(error);
        let mut file = proven(&place, &split.blake3, VERDICTS_LINE)?;
        let mut n = [0; 8];
        file.read_exact(&mut n).map_err(cannot)?;
        let n = u64::from_le_bytes(n);
        let mut firsts = Vec::new();
        for block in 0..n.div_ceil(BLOCK) {
            let mut first = [0; PLACE_BYTES];
            file.seek(SeekFrom::Start(verdict_offset(block * BLOCK))).map_err(cannot)?;
            file.read_exact(&mut first).map_err(cannot)?;
            firsts.push(first);
        }
        let open = Open { file, blocks: HashMap::new(), order: VecDeque::new() };
        Ok(Self { place: place.to_string(), n, firsts, open: Mutex::new(open), tools: split.tools.clone() })
    }
}

/// Where a verdict stands.
fn verdict_offset(number: u64) -> u64 {
    VERDICTS_LINE.len() as u64 + 8 + number * VERDICT_BYTES as u64
}

impl Open {
    fn block(&mut self, block: u64, n: u64) -> std::io::Result<Arc<Vec<u8>>> {
        if let Some(held) = self.blocks.get(&block) {
            return Ok(held.clone());
        }
        let first = block * BLOCK;
        let mut bytes = vec![0; (BLOCK.min(n - first) as usize) * VERDICT_BYTES];
        self.file.seek(SeekFrom::Start(verdict_offset(first)))?;
        self.file.read_exact(&mut bytes)?;
        let bytes = Arc::new(bytes);
        self.blocks.insert(block, bytes.clone());
        self.order.push_back(block);
        if self.order.len() > MOST_BLOCKS
            && let Some(oldest) = self.order.pop_front()
        {
            self.blocks.remove(&oldest);
        }
        Ok(bytes)
    }

    fn text(&mut self, place: u64) -> std::io::Result<String> {
        let mut length = [0; 4];
        self.file.seek(SeekFrom::Start(place))?;
        self.file.read_exact(&mut length)?;
        let mut text = vec![0; u32::from_le_bytes(length) as usize];
        self.file.read_exact(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Verdicts for VerdictFile {
    fn of(&self, place: ChatPlace<'_>) -> Result<SplitVerdict> {
        let cannot = |error| Error::io(&self.place, "cannot be read").because(error);
        let wanted = place_of(place.input, place.row, place.chat);
        let unknown = || {
            let message = format!("the conversation {} was not there when the split was made", place.id);
            Error::verification(&self.place, message)
        };
        let block = self.firsts.partition_point(|first| *first <= wanted).checked_sub(1).ok_or_else(unknown)? as u64;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = open.block(block, self.n).map_err(cannot)?;
        let (records, _) = bytes.as_chunks::<VERDICT_BYTES>();
        let found = records.binary_search_by_key(&wanted, |record| bytes_at(record, 0)).map_err(|_| unknown())?;
        let record = records.get(found).ok_or_else(unknown)?;
        let text = match long_at(record, PLACE_BYTES + 1) {
            u64::MAX => String::new(),
            at => open.text(verdict_offset(self.n) + at).map_err(cannot)?,
        };
        Ok(verdict_of(record[PLACE_BYTES], || text))
    }

    fn tools(&self) -> Option<&BTreeMap<String, Vec<Value>>> {
        Some(&self.tools)
    }
}

/// The sides of the keys of an earlier run, asked for in ascending order.
#[derive(Debug)]
pub(super) struct EarlierSides {
    place: String,
    reader: BufReader<File>,
    next: Option<[u8; SIDE_BYTES]>,
}

impl EarlierSides {
    pub(super) fn open(root: &Place, split: &PlannedSplit) -> Result<Self> {
        let place = root.join(KEYS);
        let file = proven(&place, &split.keys_blake3, KEYS_LINE)?;
        let mut sides = Self { place: place.to_string(), reader: BufReader::new(file), next: None };
        sides.advance()?;
        Ok(sides)
    }

    fn advance(&mut self) -> Result<()> {
        let mut record = [0; SIDE_BYTES];
        self.next = match self.reader.read_exact(&mut record) {
            Ok(()) => Some(record),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(Error::io(&self.place, "cannot be read").because(error)),
        };
        Ok(())
    }

    /// The side of a key that does not come before the one asked for last.
    pub(super) fn side(&mut self, key: [u8; 16]) -> Result<Option<Side>> {
        while self.next.is_some_and(|next| next[..16] < key[..]) {
            self.advance()?;
        }
        let found = self.next.filter(|next| next[..16] == key[..]);
        Ok(found.map(|next| if next[16] == 1 { Side::Eval } else { Side::Train }))
    }
}
