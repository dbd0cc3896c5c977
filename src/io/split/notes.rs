//! The notes of a survey on their way to a decision: what has to be found by others goes into sorted files, the rest by number.
//! Knows what is sorted by what; refuses to know what is decided.

use super::packed::{HEAD_BYTES, Head, NOWHERE, Packer, pack_fingerprint};
use super::scratch::{Heap, HeapWriter, Rows, RowsWriter, Scratch};
use super::sorter::{Sorted, Sorter};
use crate::error::Result;
use crate::pipeline::split::{ChatNote, Fingerprint, NoteSink};

/// A key of a group, and who has it.
pub(super) const KEY_BYTES: usize = 20;
/// A hash of 64 bits, and who has it.
pub(super) const BAND_BYTES: usize = 12;
/// The hash of a beginning, whether the conversation ends there (0) or goes on (1), and who has it.
pub(super) const BEGINNING_BYTES: usize = 13;
/// By length, the longest first, then by what is said, then by number.
pub(super) const RANK_BYTES: usize = 24;

/// Which conversations are looked at as possible duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// None.
    Nothing,
    /// Those that say the same.
    Equal,
    /// Those that say nearly the same as well.
    Near,
}

/// Keeps notes.
#[derive(Debug)]
pub(super) struct NoteFiles {
    wanted: Wanted,
    /// Whether prompts find those that are near.
    near_prompts: bool,
    heads: RowsWriter<HEAD_BYTES>,
    heap: HeapWriter,
    keys: Sorter<KEY_BYTES>,
    wholes: Sorter<KEY_BYTES>,
    ranks: Sorter<RANK_BYTES>,
    beginnings: Sorter<BEGINNING_BYTES>,
    prompts: Sorter<BAND_BYTES>,
    texts: Sorter<BAND_BYTES>,
}

/// Notes that can be read.
#[derive(Debug)]
pub(super) struct KeptNotes {
    pub(super) heads: Rows<HEAD_BYTES>,
    pub(super) heap: Heap,
    pub(super) keys: Sorted<KEY_BYTES>,
    pub(super) wholes: Sorted<KEY_BYTES>,
    pub(super) ranks: Sorted<RANK_BYTES>,
    pub(super) beginnings: Sorted<BEGINNING_BYTES>,
    pub(super) prompts: Sorted<BAND_BYTES>,
    pub(super) texts: Sorted<BAND_BYTES>,
}

impl NoteFiles {
    pub(super) fn new(scratch: &Scratch, wanted: Wanted, near_prompts: bool) -> Result<Self> {
        Ok(Self {
            wanted,
            near_prompts,
            heads: RowsWriter::new(scratch)?,
            heap: HeapWriter::new(scratch)?,
            keys: Sorter::new(scratch),
            wholes: Sorter::new(scratch),
            ranks: Sorter::new(scratch),
            beginnings: Sorter::new(scratch),
            prompts: Sorter::new(scratch),
            texts: Sorter::new(scratch),
        })
    }

    pub(super) fn written(self) -> Result<KeptNotes> {
        Ok(KeptNotes {
            heads: self.heads.written()?,
            heap: self.heap.written()?,
            keys: self.keys.sorted()?,
            wholes: self.wholes.sorted()?,
            ranks: self.ranks.sorted()?,
            beginnings: self.beginnings.sorted()?,
            prompts: self.prompts.sorted()?,
            texts: self.texts.sorted()?,
        })
    }

    fn note(&mut self, note: &ChatNote) -> Result<()> {
        let prompt = note.prompt.as_ref().filter(|_| self.near_prompts);
        let text = note.text.as_ref().filter(|_| self.wanted == Wanted::Near);
        let mut kept = |of: Option<&Fingerprint>| of.map_or(Ok(NOWHERE), |of| self.heap.push(&pack_fingerprint(of)));
        let places = [kept(prompt)?, kept(text)?];
        let id = self.heap.push(note.id.as_bytes())?;
        let number = self.heads.push(&Head::of(note, [id, places[0], places[1]]).pack())?;
        for key in &note.keys {
            self.keys.push(Packer::new().put(&key.0).short(number).done())?;
        }
        for (sorter, of) in [(&mut self.prompts, prompt), (&mut self.texts, text)] {
            for &band in of.iter().flat_map(|of| &of.bands) {
                sorter.push(Packer::new().long(band).short(number).done())?;
            }
        }
        if self.wanted != Wanted::Nothing {
            self.ranks.push(Packer::new().short(!note.n_words).put(&note.whole).short(number).done())?;
            self.wholes.push(Packer::new().put(&note.whole).short(number).done())?;
        }
        if self.wanted == Wanted::Near {
            let last = note.beginnings.len().saturating_sub(1);
            for (at, &hash) in note.beginnings.iter().enumerate() {
                self.beginnings.push(Packer::new().long(hash).put(&[u8::from(at < last)]).short(number).done())?;
            }
        }
        Ok(())
    }
}

impl NoteSink for NoteFiles {
    fn take(&mut self, notes: Vec<ChatNote>) -> Result<()> {
        notes.iter().try_for_each(|note| self.note(note))
    }
}
