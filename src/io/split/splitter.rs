//! Makes a split: takes notes, decides about all conversations when there are no more, and puts the files of it into a run. Knows the
//! order of the steps; refuses to know what each looks at.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::duplicates::{Duplicates, Standing};
use super::notes::{KeptNotes, NoteFiles, Wanted};
use super::packed::{Head, PLACE_BYTES, Packer, VERDICT_BYTES, bytes_at, short_at, verdict_bits};
use super::scratch::{HeapWriter, Scratch};
use super::sides::Sides;
use super::sorter::Sorter;
use super::split_file::{EarlierSides, KEYS, KEYS_LINE, SIDE_BYTES, VERDICTS, VERDICTS_LINE};
use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::pipeline::split::{
    ChatNote, EvaluationItems, Excluded, NoteSink, PlannedSplit, Side, SplitVerdict, ToolLists,
};
use crate::pipeline::{GroupBy, SplitOptions, Twins};

/// Bytes of a file that are put into a run at once.
const COPY_BYTES: usize = 1 << 20;

/// A split in the making.
#[derive(Debug)]
pub struct Splitter {
    options: SplitOptions,
    eval_share: f64,
    scratch: Scratch,
    wanted: Wanted,
    notes: NoteFiles,
    earlier: Option<EarlierSides>,
    tools: ToolLists,
}

impl Splitter {
    /// Keeps what is more than memory holds in `folder`, or where the system keeps such files. `earlier` is the run whose sides are
    /// kept, with what its plan says of them.
    ///
    /// # Errors
    /// When there is no room, or the sides of the earlier run cannot be read.
    pub fn new(
        options: &SplitOptions,
        eval_share: f64,
        folder: Option<PathBuf>,
        earlier: Option<(&Place, &PlannedSplit)>,
    ) -> Result<Self> {
        let scratch = Scratch::new(folder);
        let wanted = match options.dedup {
            Twins::Near => Wanted::Near,
            Twins::Exact => Wanted::Equal,
            Twins::None => Wanted::Nothing,
        };
        let notes = NoteFiles::new(&scratch, wanted, options.group_by != GroupBy::Id)?;
        let earlier = earlier.map(|(run, split)| EarlierSides::open(run, split)).transpose()?;
        Ok(Self { options: options.clone(), eval_share, scratch, wanted, notes, earlier, tools: ToolLists::default() })
    }

    /// Decides about all conversations; may take minutes.
    ///
    /// # Errors
    /// When there is no room.
    pub fn decide(self, items: &EvaluationItems) -> Result<Made> {
        let Self { options, eval_share, scratch, wanted, notes, mut earlier, tools } = self;
        let notes = notes.written()?;
        let duplicates = Duplicates::find(&notes, wanted, &scratch)?;
        let mut sides = Sides::of(&notes, &duplicates, (&options, eval_share), earlier.as_mut())?;
        let mut split = PlannedSplit { tools: tools.lists(), ..PlannedSplit::default() };
        let verdicts = verdicts(&notes, (&duplicates, &mut sides), items, &scratch, &mut split)?;
        let keys = keys(&notes, &mut sides, &scratch, &mut split)?;
        Ok(Made { split, verdicts, keys })
    }
}

impl NoteSink for Splitter {
    fn take(&mut self, notes: Vec<ChatNote>) -> Result<()> {
        for note in &notes {
            self.tools.take(&note.tool_group, &note.tools);
        }
        self.notes.take(notes)
    }
}

/// A file without a name whose bytes are hashed while they are written.
struct Hashed {
    scratch: Scratch,
    file: BufWriter<File>,
    hasher: blake3::Hasher,
}

impl Hashed {
    fn new(scratch: &Scratch) -> Result<Self> {
        Ok(Self { scratch: scratch.clone(), file: BufWriter::new(scratch.file()?), hasher: blake3::Hasher::new() })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hasher.update(bytes);
        self.file.write_all(bytes).map_err(|error| self.scratch.failed(error))
    }

    /// The file, and its hash in hex.
    fn done(self) -> Result<(File, String)> {
        let Self { scratch, file, hasher } = self;
        let file = file.into_inner().map_err(|error| scratch.failed(error.into_error()))?;
        Ok((file, hasher.finalize().to_hex().to_string()))
    }
}

/// All verdicts by their places.
fn verdicts(
    notes: &KeptNotes,
    (duplicates, sides): (&Duplicates, &mut Sides),
    items: &EvaluationItems,
    scratch: &Scratch,
    split: &mut PlannedSplit,
) -> Result<File> {
    let (mut sorter, mut texts) = (Sorter::<VERDICT_BYTES>::new(scratch), HeapWriter::new(scratch)?);
    let id = |number: u32| {
        let head = Head::read(&notes.heads.get(number)?);
        notes.heap.get(head.id).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    for number in 0..notes.heads.n {
        // Others are read meanwhile.
        let head = Head::read(&notes.heads.get(number)?);
        let twin = || duplicates.twins.get(number as usize).map_or_else(|| Ok(String::new()), |&twin| id(twin));
        let excluded = match duplicates.standings.get(number as usize) {
            Some(Standing::Duplicate) => Some(Excluded::DuplicateOf(twin()?)),
            Some(Standing::NearDuplicate) => Some(Excluded::NearDuplicateOf(twin()?)),
            Some(Standing::Contaminated) => {
                Some(Excluded::ContaminatedBy(items.place(head.item.saturating_sub(1)).to_owned()))
            }
            Some(Standing::Stays) | None => None,
        };
        let verdict = SplitVerdict { side: sides.side(number), excluded };
        split.count(&verdict);
        let text = verdict.excluded.as_ref().map_or(Ok(u64::MAX), |why| texts.push(why.of().as_bytes()))?;
        sorter.push(Packer::new().put(&head.place).put(&[verdict_bits(&verdict)]).long(text).done())?;
    }
    let (sorted, texts) = (sorter.sorted()?, texts.written()?);
    let mut file = Hashed::new(scratch)?;
    file.put(VERDICTS_LINE)?;
    file.put(&u64::from(notes.heads.n).to_le_bytes())?;
    let (mut sorted, mut before) = (sorted.read()?, None);
    while let Some(record) = sorted.next()? {
        let place: [u8; PLACE_BYTES] = bytes_at(&record, 0);
        if before.replace(place) == Some(place) {
            return Err(Error::internal("", "two conversations have the same place"));
        }
        file.put(&record)?;
    }
    let mut texts = texts.file;
    let mut bytes = vec![0; COPY_BYTES];
    texts.rewind().map_err(|error| scratch.failed(error))?;
    loop {
        let n = texts.read(&mut bytes).map_err(|error| scratch.failed(error))?;
        let Some(read) = bytes.get(..n).filter(|read| !read.is_empty()) else { break };
        file.put(read)?;
    }
    let (file, blake3) = file.done()?;
    split.blake3 = blake3;
    Ok(file)
}

/// The side of every key that holds a group together.
fn keys(notes: &KeptNotes, sides: &mut Sides, scratch: &Scratch, split: &mut PlannedSplit) -> Result<File> {
    let mut file = Hashed::new(scratch)?;
    file.put(KEYS_LINE)?;
    let (mut keys, mut before) = (notes.keys.read()?, None);
    while let Some(record) = keys.next()? {
        let key: [u8; 16] = bytes_at(&record, 0);
        if before.replace(key) == Some(key) || !sides.uses(key[0]) {
            continue;
        }
        split.keys += 1;
        let is_eval = sides.side(short_at(&record, 16)) == Side::Eval;
        file.put(&Packer::<SIDE_BYTES>::new().put(&key).put(&[u8::from(is_eval)]).done())?;
    }
    let (file, blake3) = file.done()?;
    split.keys_blake3 = blake3;
    Ok(file)
}

/// A split that was made and stands in no run yet.
#[derive(Debug)]
pub struct Made {
    /// What a plan says of it.
    pub split: PlannedSplit,
    verdicts: File,
    keys: File,
}

impl Made {
    /// Puts its files into the run at `root`, whole or not at all.
    ///
    /// # Errors
    /// When they cannot be written.
    pub async fn put(self, root: &Place) -> Result<PlannedSplit> {
        for (name, mut file) in [(VERDICTS, self.verdicts), (KEYS, self.keys)] {
            let cannot = |error| Error::io("", "the split cannot be read again").because(error);
            let mut writer = root.join(name).create()?;
            file.seek(SeekFrom::Start(0)).map_err(cannot)?;
            let mut bytes = vec![0; COPY_BYTES];
            loop {
                let n = file.read(&mut bytes).map_err(cannot)?;
                let Some(read) = bytes.get(..n).filter(|read| !read.is_empty()) else { break };
                writer.write(read).await?;
            }
            writer.commit().await?;
        }
        Ok(self.split)
    }
}
