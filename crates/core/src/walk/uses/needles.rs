//! Values that a later text uses, looked for in every source at once: each hangs on one of its words, its anchor, and where
//! there are on some bytes beside it, and is compared where these stand. Knows bytes and when a value is used last; refuses
//! to know why.

use super::index::Index;
use super::scan::{Word, exact, folded, is_border, mix, with_pieces, words};
use super::wide;

/// Kinds of words that a source is searched for, as bits.
pub(super) mod sign {
    /// The anchor of a needle.
    pub(in crate::walk::uses) const ANCHOR: u8 = 1;
    /// Begins a number, or is a state, that an assistant's sentence tells.
    pub(in crate::walk::uses) const TOLD: u8 = 2;
    /// Says how something ended.
    pub(in crate::walk::uses) const OUTCOME: u8 = 4;
    /// An anchor together with the bytes behind it.
    pub(in crate::walk::uses) const BEHIND: u8 = 8;
    /// An anchor together with the bytes before it.
    pub(in crate::walk::uses) const BEFORE: u8 = 16;
    /// A word that a number may belong to, or the first one of an identifier.
    pub(in crate::walk::uses) const SUBJECT: u8 = 32;
    /// An anchor of any kind.
    pub(in crate::walk::uses) const HELD: u8 = ANCHOR | BEHIND | BEFORE;
}

const N_CELLS: usize = 1 << 16;
const NONE: u32 = u32::MAX;
/// Needles on one anchor from which another is better.
const CROWDED: u32 = 12;
/// Needles on one anchor; a value of several words beyond is not looked for.
const FULL: u32 = 48;
/// Bytes beside a word that belong to its anchor: most words of values are common, and few of them stand as in the value.
const BESIDE: usize = 4;
/// Words of a value that may become its anchor.
const MAX_WORDS: usize = 12;

/// A word whose hash the filter does not rule out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Candidate {
    pub(super) hash: u64,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// Which words a source is worth a look-up for: a set of hashes that may say yes too often, but never no too often.
#[derive(Debug)]
pub(super) struct Filter {
    cells: Box<[u8; N_CELLS]>,
    /// How many anchors hash to a cell, as far as that can be counted.
    anchors: Box<[u8; N_CELLS]>,
    touched: Vec<u16>,
}

impl Default for Filter {
    fn default() -> Self {
        let cells = || vec![0; N_CELLS].into_boxed_slice().try_into().expect("there are as many");
        Self { cells: cells(), anchors: cells(), touched: Vec::new() }
    }
}

impl Filter {
    pub(super) fn clear(&mut self) {
        for cell in self.touched.drain(..) {
            self.cells[usize::from(cell)] = 0;
            self.anchors[usize::from(cell)] = 0;
        }
    }

    /// The signs that a word with this hash may have.
    #[inline]
    pub(super) fn signs(&self, hash: u64) -> u8 {
        self.cells[(hash >> 48) as usize]
    }

    /// Gives words with this hash a sign.
    pub(super) fn mark(&mut self, hash: u64, sign: u8) {
        let cell = (hash >> 48) as usize;
        if self.cells[cell] == 0 {
            self.touched.push(cell as u16);
        }
        self.cells[cell] |= sign;
        self.anchors[cell] = self.anchors[cell].saturating_add(u8::from(sign == sign::ANCHOR));
    }

    fn unmark_anchor(&mut self, hash: u64) {
        let cell = (hash >> 48) as usize;
        if self.anchors[cell] == 1 {
            self.cells[cell] &= !sign::ANCHOR;
        }
        // What could not be counted stays.
        self.anchors[cell] -= u8::from(self.anchors[cell] < u8::MAX);
    }
}

/// A word, with or without bytes beside it, and the needles that hang on it.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    hash: u64,
    first: u32,
    /// Needles that are still looked for.
    n_live: u32,
    n_needles: u32,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word that counts only where it is rare.
    Ordinary,
    /// A name or a leaf.
    Name,
    /// One that an assistant uses, and that grounding is measured by.
    Counted,
}

#[derive(Debug, Clone, Copy)]
struct Needle {
    /// Hash of its bytes.
    key: u64,
    from: u32,
    len: u32,
    /// Bytes from its begin to its anchor.
    offset: u32,
    next: u32,
    anchor: u32,
    /// The last message that uses it; 0 once nobody looks for it.
    last_use: u32,
    /// The message that was the last to show it.
    shown: u32,
    /// The message that was the first source to show it, and the first that shows it as it is written.
    home: u32,
    visible: u32,
    /// The last message for which its use was counted.
    counted: u32,
    /// Messages that have it, for an ordinary word.
    n_messages: u8,
    is_ordinary: bool,
    /// Its first byte and its last one: most of what hangs on one word differs in them.
    ends: [u8; 2],
}

/// Messages up to which an ordinary word is rare.
const MAX_RARE: u8 = 6;

/// A value at a place of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::walk) struct Hit {
    /// Its first byte in the buffer.
    pub(in crate::walk) from: u32,
    /// The byte behind.
    pub(in crate::walk) to: u32,
    /// Number of the value.
    pub(in crate::walk) value: u32,
}

/// In how many messages ordinary words stand that are no values there: about, since words may share a cell.
#[derive(Debug)]
struct Counts {
    /// One more than the last message, and how many there were.
    cells: Box<[(u32, u8)]>,
    touched: Vec<u16>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { cells: vec![(0, 0); N_CELLS].into(), touched: Vec::new() }
    }
}

impl Counts {
    fn clear(&mut self) {
        self.touched.drain(..).for_each(|cell| self.cells[usize::from(cell)] = (0, 0));
    }

    fn count(&mut self, hash: u64, message: u32) {
        let cell = (hash >> 48) as u16;
        let (last, n) = &mut self.cells[usize::from(cell)];
        if *n == 0 {
            self.touched.push(cell);
        }
        if *last != message + 1 {
            (*last, *n) = (message + 1, n.saturating_add(1));
        }
    }

    fn of(&self, hash: u64) -> u8 {
        self.cells[(hash >> 48) as usize].1
    }
}

/// All values that are looked for.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "it is the word for them")]
pub(super) struct Needles {
    argued: Counts,
    pub(super) filter: Filter,
    needles: Vec<Needle>,
    by_bytes: Index,
    anchors: Vec<Anchor>,
    by_hash: Index,
    words: Vec<(Word, u64)>,
    /// Needles that the message at hand shows for the first time.
    at_home: Vec<u32>,
    /// Which message of an assistant uses which value.
    used: Vec<(u32, u32)>,
}

impl Needles {
    pub(super) fn clear(&mut self, n_bytes: usize) {
        self.filter.clear();
        self.argued.clear();
        self.needles.clear();
        self.anchors.clear();
        self.at_home.clear();
        self.used.clear();
        self.by_bytes.reset(n_bytes / 128);
        self.by_hash.reset(n_bytes / 128);
    }

    /// How many values there are; they are numbered in the order in which they came.
    pub(super) fn len(&self) -> usize {
        self.needles.len()
    }

    /// The last message that uses a value; 0 when none does, or when it is an ordinary word in too many messages.
    pub(super) fn last_use(&self, value: u32) -> u32 {
        self.needles[value as usize].last_use
    }

    /// True for an ordinary word.
    pub(super) fn is_ordinary(&self, value: u32) -> bool {
        self.needles[value as usize].is_ordinary
    }

    /// Takes `bytes[from..to]` as a value that `message` uses. Messages come in descending order: the first sight is the last
    /// use. An ordinary word counts only where it is rare. Its words are `words`, or what is found in it.
    pub(super) fn add(&mut self, bytes: &[u8], (from, to): (usize, usize), words: &[Word], message: u32, kind: Kind) {
        let is_ordinary = kind == Kind::Ordinary;
        let key = exact(bytes, from, to);
        if let Some(number) = self.by_bytes.get(key, |number| self.needles[number as usize].key == key) {
            let known = &mut self.needles[number as usize];
            known.is_ordinary &= is_ordinary;
            known.n_messages = known.n_messages.saturating_add(u8::from(known.shown != message));
            if kind == Kind::Counted && known.counted != message {
                known.counted = message;
                self.used.push((number, message));
            }
            known.shown = message;
            return;
        }
        let Some((anchor, offset)) = self.anchor(bytes, (from, to), words) else { return };
        let number = self.needles.len() as u32;
        self.by_bytes.insert(key, number);
        if kind == Kind::Counted {
            self.used.push((number, message));
        }
        self.needles.push(Needle {
            key,
            from: from as u32,
            len: (to - from) as u32,
            offset,
            next: self.anchors[anchor as usize].first,
            anchor,
            last_use: message,
            shown: message,
            home: NONE,
            visible: NONE,
            counted: if kind == Kind::Counted { message } else { NONE },
            n_messages: 1,
            is_ordinary,
            ends: [bytes[from], bytes[to - 1]],
        });
        let anchor = &mut self.anchors[anchor as usize];
        anchor.first = number;
        anchor.n_live += 1;
        anchor.n_needles += 1;
        if anchor.n_live == 1 {
            self.filter.mark(anchor.hash, sign::ANCHOR);
        }
    }

    /// The least crowded word of a value, long ones first, and where in the value it stands; `None` when all are full.
    fn anchor(&mut self, bytes: &[u8], (from, to): (usize, usize), of_value: &[Word]) -> Option<(u32, u32)> {
        let mut found = std::mem::take(&mut self.words);
        found.clear();
        let mut take = |word: Word| {
            if found.len() < MAX_WORDS {
                found.push((word, folded(bytes, word.from, word.to)));
            }
        };
        let mut take_parts = |word: Word| if word.is_wide { wide::words(bytes, word, &mut take) } else { take(word) };
        if of_value.is_empty() {
            words(bytes, from, to, take_parts);
        } else {
            of_value.iter().copied().for_each(&mut take_parts);
        }
        let crowd = |hash: u64| self.find_anchor(hash).map_or(0, |number| self.anchors[number as usize].n_needles);
        let anchor_of = |&(word, hash): &(Word, u64)| {
            let (sign, key) = if word.to + BESIDE <= to {
                (sign::BEHIND, behind(bytes, hash, word.to))
            } else if from + BESIDE <= word.from {
                (sign::BEFORE, before(bytes, hash, word.from))
            } else {
                (sign::ANCHOR, hash)
            };
            (word, hash, sign, key, crowd(key))
        };
        // At the ends of a value its words may be pieces of longer ones, as the day in `2024-05-05T04:17` is: they serve where those
        // between are crowded.
        let is_at_end = |word: Word| word.from == from || word.to == to;
        let rank = |&(word, .., crowd): &(Word, u64, u8, u64, u32)| {
            (crowd >= CROWDED, is_at_end(word), crowd, usize::MAX - (word.to - word.from))
        };
        let best = found.iter().map(anchor_of).min_by_key(rank);
        let is_one = found.len() < 2;
        self.words = found;
        let (word, hash, sign, key, _) = best.filter(|&(.., crowd)| is_one || crowd < FULL)?;
        if sign != sign::ANCHOR {
            self.filter.mark(hash, sign);
        }
        let n = self.anchors.len() as u32;
        let number = self.by_hash.get_or_insert(key, n, |number| self.anchors[number as usize].hash == key);
        if number == n {
            self.anchors.push(Anchor { hash: key, first: NONE, n_live: 0, n_needles: 0 });
        }
        Some((number, (word.from - from) as u32))
    }

    fn find_anchor(&self, hash: u64) -> Option<u32> {
        self.by_hash.get(hash, |number| self.anchors[number as usize].hash == hash)
    }

    /// Notes that `message` shows a value as it is written.
    pub(super) fn show(&mut self, value: u32, message: u32) {
        let visible = &mut self.needles[value as usize].visible;
        *visible = message.min(*visible);
    }

    /// Values that stood in a source before the message that uses them, and how many of them one of `written` still shows.
    pub(super) fn grounded(&self, written: &Self) -> (usize, usize) {
        let used = || self.used.iter().filter(|&&(value, message)| self.needles[value as usize].home < message);
        let is_shown = |&&(value, message): &&(u32, u32)| written.needles[value as usize].visible < message;
        (used().count(), used().filter(is_shown).count())
    }

    /// Notes that an argument or a thought of `message` has an ordinary word, which is no value there.
    pub(super) fn count(&mut self, bytes: &[u8], word: Word, message: u32) {
        self.argued.count(folded(bytes, word.from, word.to), message);
    }

    /// From now on sources are searched, from the front.
    pub(super) fn seal(&mut self, bytes: &[u8]) {
        for number in 0..self.needles.len() {
            let needle = &mut self.needles[number];
            needle.shown = NONE;
            if needle.is_ordinary {
                let (from, to) = (needle.from as usize, (needle.from + needle.len) as usize);
                needle.n_messages = needle.n_messages.saturating_add(self.argued.of(folded(bytes, from, to)));
                if needle.n_messages > MAX_RARE {
                    needle.last_use = 0;
                    self.forget(number as u32);
                }
            }
        }
    }

    /// Adds the values that hang on the word at `place` with this hash, which has `signs`, and that `message` is the first
    /// source to show, to `hits`. `text` are the bounds of the text.
    pub(super) fn look(
        &mut self,
        bytes: &[u8],
        text: (usize, usize),
        (place, hash, signs): ((usize, usize), u64, u8),
        message: u32,
        hits: &mut Vec<Hit>,
    ) {
        if signs & sign::ANCHOR != 0 {
            self.look_at(bytes, text, (place.0, hash), message, hits);
        }
        if signs & sign::BEHIND != 0 {
            self.look_beside(bytes, text, (place.0, behind(bytes, hash, place.1)), message, hits);
        }
        if signs & sign::BEFORE != 0 {
            self.look_beside(bytes, text, (place.0, before(bytes, hash, place.0)), message, hits);
        }
    }

    #[inline]
    fn look_beside(
        &mut self,
        bytes: &[u8],
        text: (usize, usize),
        (at, hash): (usize, u64),
        message: u32,
        hits: &mut Vec<Hit>,
    ) {
        if self.filter.signs(hash) & sign::ANCHOR != 0 {
            self.look_at(bytes, text, (at, hash), message, hits);
        }
    }

    /// Adds those that hang on the anchor with this hash, which begins at `at`.
    fn look_at(
        &mut self,
        bytes: &[u8],
        text: (usize, usize),
        (at, hash): (usize, u64),
        message: u32,
        hits: &mut Vec<Hit>,
    ) {
        let Some(number) = self.find_anchor(hash) else { return };
        let mut next = self.anchors[number as usize].first;
        let mut before = NONE;
        while next != NONE {
            let value = next;
            next = self.needles[value as usize].next;
            if self.needles[value as usize].last_use <= message {
                self.forget(value);
            }
            let needle = self.needles[value as usize];
            if needle.anchor == NONE {
                match self.needles.get_mut(before as usize) {
                    Some(before) => before.next = next,
                    None => self.anchors[number as usize].first = next,
                }
                continue;
            }
            before = value;
            let (len, start) = (needle.len as usize, needle.from as usize);
            let Some(from) = at.checked_sub(needle.offset as usize) else { continue };
            let to = from + len;
            let is_inside = from >= text.0 && to <= text.1;
            if !is_inside || needle.ends != [bytes[from], bytes[to - 1]] || bytes[from..to] != bytes[start..start + len]
            {
                continue;
            }
            // Part of a name is no ordinary word.
            if needle.is_ordinary && is_part_of_letters(bytes, from, to) {
                continue;
            }
            if is_bordered(bytes, from, to) && self.is_shown_first(value, message) {
                hits.push(Hit { from: from as u32, to: to as u32, value });
            }
        }
    }

    /// Notes that `message` shows `value`; true when no source before it did.
    fn is_shown_first(&mut self, value: u32, message: u32) -> bool {
        let needle = &mut self.needles[value as usize];
        if needle.shown != message {
            needle.shown = message;
            needle.n_messages = needle.n_messages.saturating_add(1);
            if needle.home == NONE {
                needle.home = message;
                self.at_home.push(value);
            }
            if needle.is_ordinary && needle.n_messages > MAX_RARE {
                self.forget(value);
                self.needles[value as usize].last_use = 0;
                return false;
            }
        }
        self.needles[value as usize].home == message
    }

    /// No source is searched for `value` any more.
    fn forget(&mut self, value: u32) {
        let needle = &mut self.needles[value as usize];
        let number = std::mem::replace(&mut needle.anchor, NONE);
        if number == NONE {
            return;
        }
        let anchor = &mut self.anchors[number as usize];
        anchor.n_live -= 1;
        if anchor.n_live == 0 {
            self.filter.unmark_anchor(anchor.hash);
        }
    }

    /// A message ends: what it was the first to show need not be looked for in later ones, but for ordinary words, whose
    /// messages are counted.
    pub(super) fn settle(&mut self) {
        let mut settled = std::mem::take(&mut self.at_home);
        for value in settled.drain(..) {
            if !self.needles[value as usize].is_ordinary {
                self.forget(value);
            }
        }
        self.at_home = settled;
    }
}

/// True when `bytes[from..to]` begins and ends at borders of words; scripts without blanks have them everywhere.
fn is_bordered(bytes: &[u8], from: usize, to: usize) -> bool {
    (from == 0 || is_border(bytes, from) || wide::is_unspaced_at(bytes, from))
        && (is_border(bytes, to) || wide::is_unspaced_before(bytes, to))
}

/// True when a letter of ASCII stands right before or behind.
fn is_part_of_letters(bytes: &[u8], from: usize, to: usize) -> bool {
    from > 0 && bytes[from - 1].is_ascii_alphabetic() || bytes[to].is_ascii_alphabetic()
}

/// The hash of a word together with the bytes behind it, which begin at `at`.
fn behind(bytes: &[u8], hash: u64, at: usize) -> u64 {
    mix(hash, u64::from(four(bytes, at)) << 1 | 1)
}

/// The same with those before it, which end at `at`.
fn before(bytes: &[u8], hash: u64, at: usize) -> u64 {
    mix(hash, !(u64::from(four(bytes, at.saturating_sub(BESIDE))) << 1))
}

fn four(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + BESIDE).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

/// Calls `each` with begin and end of the words of `bytes[from..to]`, of the pieces of compound ones, and of what
/// [`wide::words`] makes of those that are not ASCII.
#[inline]
pub(super) fn parts(bytes: &[u8], from: usize, to: usize, mut each: impl FnMut(usize, usize)) {
    words(bytes, from, to, |word| {
        if word.is_wide || word.is_compound() {
            parts_of(bytes, word, &mut each);
        } else {
            each(word.from, word.to);
        }
    });
}

/// The same of one word that is not plain.
#[inline(never)]
fn parts_of(bytes: &[u8], word: Word, each: &mut impl FnMut(usize, usize)) {
    if word.is_wide {
        each(word.from, word.to);
        wide::words(bytes, word, |part| {
            if part.to - part.from < word.to - word.from {
                each(part.from, part.to);
            }
        });
    } else {
        with_pieces(bytes, word, each);
    }
}
