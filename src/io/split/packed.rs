//! How the records of a survey stand in files: numbers in big-endian order, so that their bytes sort as they do, one behind the
//! other. Knows places; refuses to know files.

use crate::pipeline::split::{ChatNote, Excluded, Fingerprint, Side, SplitVerdict};

/// Stands where there is no text.
pub(super) const NOWHERE: u64 = u64::MAX;

/// Puts numbers one behind the other.
pub(super) struct Packer<const N: usize> {
    bytes: [u8; N],
    at: usize,
}

impl<const N: usize> Packer<N> {
    pub(super) fn new() -> Self {
        Self { bytes: [0; N], at: 0 }
    }

    pub(super) fn put(mut self, bytes: &[u8]) -> Self {
        if let Some(slot) = self.bytes.get_mut(self.at..self.at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
        self.at += bytes.len();
        self
    }

    pub(super) fn long(self, number: u64) -> Self {
        self.put(&number.to_be_bytes())
    }

    pub(super) fn short(self, number: u32) -> Self {
        self.put(&number.to_be_bytes())
    }

    pub(super) fn done(self) -> [u8; N] {
        self.bytes
    }
}

/// The bytes of a record from this place on, as many as `M`.
pub(super) fn bytes_at<const N: usize, const M: usize>(record: &[u8; N], at: usize) -> [u8; M] {
    let mut bytes = [0; M];
    if let Some(found) = record.get(at..at + M) {
        bytes.copy_from_slice(found);
    }
    bytes
}

pub(super) fn long_at<const N: usize>(record: &[u8; N], at: usize) -> u64 {
    u64::from_be_bytes(bytes_at(record, at))
}

pub(super) fn short_at<const N: usize>(record: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes(bytes_at(record, at))
}

/// The place of a conversation: its input, its record, its number in the record.
pub(super) const PLACE_BYTES: usize = 16;
pub(super) type PackedPlace = [u8; PLACE_BYTES];

pub(super) fn place_of(input: usize, row: u64, chat: usize) -> PackedPlace {
    Packer::new().short(input as u32).long(row).short(chat as u32).done()
}

/// A conversation by its number.
pub(super) const HEAD_BYTES: usize = PLACE_BYTES + 33;

/// Where what is known of a conversation stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) place: PackedPlace,
    pub(super) class: u8,
    pub(super) id: u64,
    pub(super) prompt: u64,
    pub(super) text: u64,
    /// One more than the number of the evaluation item that it holds; 0 for none.
    pub(super) item: u32,
}

impl Head {
    pub(super) fn of(note: &ChatNote, [id, prompt, text]: [u64; 3]) -> Self {
        let place = place_of(note.input, note.row, note.chat);
        Self { place, class: note.class, id, prompt, text, item: note.item.map_or(0, |item| item + 1) }
    }

    pub(super) fn pack(&self) -> [u8; HEAD_BYTES] {
        let packer = Packer::new().put(&self.place).put(&[self.class]);
        packer.long(self.id).long(self.prompt).long(self.text).short(self.item).put(&[0; 4]).done()
    }

    pub(super) fn read(record: &[u8; HEAD_BYTES]) -> Self {
        let at = PLACE_BYTES + 1;
        Self {
            place: bytes_at(record, 0),
            class: record[PLACE_BYTES],
            id: long_at(record, at),
            prompt: long_at(record, at + 8),
            text: long_at(record, at + 16),
            item: short_at(record, at + 24),
        }
    }

    /// The record that it is of: its input and number.
    pub(super) fn record(&self) -> [u8; 12] {
        bytes_at(&self.place, 0)
    }
}

/// What of a fingerprint is compared.
pub(super) fn pack_fingerprint(of: &Fingerprint) -> Vec<u8> {
    let numbers = [of.n_words, of.n_pairs].into_iter().chain(of.lowest.iter().copied());
    numbers.flat_map(u32::to_le_bytes).collect()
}

pub(super) fn read_fingerprint(bytes: &[u8]) -> Fingerprint {
    let (numbers, _) = bytes.as_chunks::<4>();
    let mut numbers = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let mut next = || numbers.next().unwrap_or_default();
    let (n_words, n_pairs) = (next(), next());
    Fingerprint { bands: [0; _], n_words, n_pairs, lowest: numbers.collect() }
}

/// A verdict: the place of the conversation, what was decided, and where the text stands that goes with it.
pub(super) const VERDICT_BYTES: usize = PLACE_BYTES + 1 + 8;

const EVAL: u8 = 1;
const DUPLICATE: u8 = 2;
const NEAR_DUPLICATE: u8 = 4;
const CONTAMINATED: u8 = 6;

pub(super) fn verdict_bits(verdict: &SplitVerdict) -> u8 {
    let side = if verdict.side == Side::Eval { EVAL } else { 0 };
    side | match verdict.excluded {
        None => 0,
        Some(Excluded::DuplicateOf(_)) => DUPLICATE,
        Some(Excluded::NearDuplicateOf(_)) => NEAR_DUPLICATE,
        Some(Excluded::ContaminatedBy(_)) => CONTAMINATED,
    }
}

pub(super) fn verdict_of(bits: u8, text: impl FnOnce() -> String) -> SplitVerdict {
    let side = if bits & EVAL != 0 { Side::Eval } else { Side::Train };
    let excluded = match bits & !EVAL {
        0 => None,
        DUPLICATE => Some(Excluded::DuplicateOf(text())),
        NEAR_DUPLICATE => Some(Excluded::NearDuplicateOf(text())),
        _ => Some(Excluded::ContaminatedBy(text())),
    };
    SplitVerdict { side, excluded }
}
