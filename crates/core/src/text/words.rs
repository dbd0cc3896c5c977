//! Words and phrases, which are data: the lists in `words/*.txt` are read at compile time, into arrays and into tables with
//! one look-up per word that touches no memory for most words. Knows how a list is written and how to find a word; refuses
//! to know texts and rules.
//!
//! A list reads `NAME: entry entry …`, perhaps with its language behind the name; lists of one name are one. An entry
//! with blanks stands in quotes. A line that begins with a blank goes on with the list above, one that begins with `#` says
//! what the list below is.

/// The text of a file in `words/`.
macro_rules! words_file {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/words/", $file, ".txt"))
    };
}
pub(crate) use words_file;

/// The entries of a list: `word_list!("noise", FOLDERS)`.
macro_rules! word_list {
    ($file:literal, $list:ident) => {{
        use $crate::text::words::{entries, n_entries, words_file};
        const LIST: &str = stringify!($list);
        static ENTRIES: [&str; n_entries(words_file!($file), LIST)] = entries(words_file!($file), LIST);
        &ENTRIES
    }};
}
pub(crate) use word_list;

/// A table of the words of a file and a constant for each of its lists, the flag of the words in it:
/// `word_table!(TABLE: Table<512>, "noise": FOLDERS STARTS)`. Beside them the table may know the words of another file.
macro_rules! word_table {
    ($table:ident: $type:ty, $file:literal: $($list:ident)* $(, beside $other:literal: $lists:path)?) => {
        static $table: $type = <$type>::new($crate::text::words::words_file!($file), LISTS)
            $(.beside($crate::text::words::words_file!($other), $lists))?;
        $crate::text::words::word_flags! { pub(super), $($list)* }
    };
}
pub(crate) use word_table;

/// The lists of a file in their order, and a constant for each.
macro_rules! word_flags {
    ($vis:vis, $($list:ident)*) => {
        $vis const LISTS: &[&str] = &[$(stringify!($list)),*];
        $($vis const $list: u32 = $crate::text::words::flag(LISTS, stringify!($list));)*
    };
}
pub(crate) use word_flags;

/// Walks over the entries of a file.
pub(crate) struct Entries {
    text: &'static str,
    at: usize,
    /// The list that the last entry is in.
    list: &'static str,
}

impl Entries {
    /// The entries of `text`.
    pub(crate) const fn of(text: &'static str) -> Self {
        Self { text, at: 0, list: "" }
    }

    const fn next_entry(&mut self) -> Option<&'static str> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let start = self.at;
            match bytes[start] {
                0..=b' ' => self.at += 1,
                b'#' if self.begins_line() => self.at = self.until(start, b'\n'),
                _ if self.begins_line() => {
                    self.at = self.until(start, b':') + 1;
                    let (end, blank) = (self.at - 1, self.until(start, b' '));
                    self.list = self.between(start, if blank < end { blank } else { end });
                }
                b'"' => {
                    self.at = self.until(start + 1, b'"') + 1;
                    return Some(self.between(start + 1, self.at - 1));
                }
                _ => {
                    while self.at < bytes.len() && bytes[self.at] > b' ' {
                        self.at += 1;
                    }
                    return Some(self.between(start, self.at));
                }
            }
        }
        None
    }

    const fn begins_line(&self) -> bool {
        self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n'
    }

    const fn until(&self, from: usize, sign: u8) -> usize {
        let mut at = from;
        while at < self.text.len() && self.text.as_bytes()[at] != sign {
            at += 1;
        }
        at
    }

    const fn between(&self, start: usize, end: usize) -> &'static str {
        self.text.split_at(end).0.split_at(start).1
    }
}

impl Iterator for Entries {
    /// The list and the entry.
    type Item = (&'static str, &'static str);

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.next_entry()?;
        Some((self.list, entry))
    }
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    a.len() == b.len() && at == a.len()
}

/// How many entries `list` has.
pub(crate) const fn n_entries(text: &'static str, list: &str) -> usize {
    let (mut entries, mut n) = (Entries::of(text), 0);
    while entries.next_entry().is_some() {
        n += is_same(entries.list, list) as usize;
    }
    n
}

/// The entries of `list`, in their order.
pub(crate) const fn entries<const N: usize>(text: &'static str, list: &str) -> [&'static str; N] {
    let (mut entries, mut found, mut n) = (Entries::of(text), [""; N], 0);
    while let Some(entry) = entries.next_entry() {
        if is_same(entries.list, list) {
            found[n] = entry;
            n += 1;
        }
    }
    assert!(N > 0, "no list has this name");
    found
}

/// The flag of a list: a bit for its place among `lists`.
pub(crate) const fn flag(lists: &[&str], list: &str) -> u32 {
    let mut at = 0;
    while !is_same(lists[at], list) {
        at += 1;
    }
    assert!(at < 31, "a table has at most 31 lists");
    1 << at
}

/// Has a vowel; the table knows it, the lists do not.
pub(super) const VOWELS: u32 = 1 << 31;

word_table!(TABLE: Table<8192>, "lexer":
    NEGATION OBLIGATION EMPHASIS REASONING DECISION PHRASE FILLER GLUE AFTER_NO ABBREVIATION BEFORE_NUMBER
    ABBREVIATION_LAST OPENER TITLE LABEL UNIT MONTH GERMAN REPORT TICKET CURRENCY CLOCK EXTENSION DOMAIN FUNCTION SOUND
    SCALE CODE CORRECTION LEVEL, beside "bearing": bearing::LISTS);

/// What words do to a talk, for [`Known::bears`].
pub(super) mod bearing {
    word_flags! { pub(in crate::text),
        MANY THING TELLS GOOD JUDGED HERE SUCH MOST ONE OF ALL THINKS SETTLED DEADLINE TIME PERIOD FUTURE DUTY NUMBER BOTH
        CHOICE NTH_LOW NTH_HIGH CHOOSES THAT FORMER FIRST SECOND THIRD OR EMPTY
    }
}

const N_FILTER: usize = 512;
/// Of a word at most this many bytes are compared.
pub(super) const MAX_BYTES: usize = 16;

#[derive(Clone, Copy)]
struct Slot {
    low: u64,
    high: u64,
    known: Known,
}

/// What is known of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// The lists of the table that it is in.
    pub(super) flags: u32,
    /// Those of the other file.
    pub(super) bears: u32,
}

/// Words and what is known of each; `SLOTS` is a power of two and more than twice the number of words. Case is folded (of
/// ASCII and the Latin letters with accents), unless `EXACT`.
pub(crate) struct Table<const SLOTS: usize, const EXACT: bool = false> {
    /// One bit per word: most words of a text stop here.
    filter: [u64; N_FILTER],
    slots: [Slot; SLOTS],
    n_words: usize,
}

const FOLD: u64 = 0x2020_2020_2020_2020;

const fn hash(low: u64, high: u64) -> u64 {
    (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<const SLOTS: usize, const EXACT: bool> Table<SLOTS, EXACT> {
    /// The words of a file, each with the flags of all `lists` that it is in.
    pub(crate) const fn new(text: &'static str, lists: &[&str]) -> Self {
        let mut table = Self {
            filter: [0; N_FILTER],
            slots: [const { Slot { low: 0, high: 0, known: Known { flags: 0, bears: 0 } } }; SLOTS],
            n_words: 0,
        };
        let mut entries = Entries::of(text);
        while let Some(word) = entries.next_entry() {
            table.add(word, Known { flags: flag(lists, entries.list), bears: 0 });
        }
        table
    }

    /// The same with the words of another file beside them.
    pub(crate) const fn beside(mut self, text: &'static str, lists: &[&str]) -> Self {
        let mut entries = Entries::of(text);
        while let Some(word) = entries.next_entry() {
            self.add(word, Known { flags: 0, bears: flag(lists, entries.list) });
        }
        self
    }

    const fn add(&mut self, word: &str, known: Known) {
        let word = word.as_bytes();
        let (mut low, mut high, mut at, mut has_vowel) = (0_u64, 0_u64, 0, false);
        while at < word.len() {
            let byte = word[at] | if EXACT { 0 } else { 0x20 };
            has_vowel |= matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y');
            if at < 8 {
                low |= (byte as u64) << (8 * at);
            } else if at < MAX_BYTES {
                high |= (byte as u64) << (8 * (at - 8));
            }
            at += 1;
        }
        self.insert(low, high, Known { flags: known.flags | if has_vowel { VOWELS } else { 0 }, ..known });
        self.n_words += 1;
        assert!(self.n_words < SLOTS / 2, "the table gets full");
    }

    const fn insert(&mut self, low: u64, high: u64, known: Known) {
        let hash = hash(low, high);
        let bit = (hash >> 49) as usize;
        self.filter[bit >> 6] |= 1 << (bit & 63);
        let mut slot = Self::slot(hash);
        while !self.slots[slot].is_free() && (self.slots[slot].low != low || self.slots[slot].high != high) {
            slot = (slot + 1) % SLOTS;
        }
        let Known { flags, bears } = self.slots[slot].known;
        self.slots[slot] = Slot { low, high, known: Known { flags: flags | known.flags, bears: bears | known.bears } };
    }

    const fn slot(hash: u64) -> usize {
        (hash >> (64 - SLOTS.trailing_zeros())) as usize
    }

    /// What is known of the word `bytes[start..end]` by its first [`MAX_BYTES`] bytes, with `VOWELS`; nothing when it is not in
    /// the lists.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8], start: usize, end: usize) -> Known {
        let len = end.saturating_sub(start).min(MAX_BYTES);
        if len == 0 {
            return Known::default();
        }
        let fold = if EXACT { 0 } else { FOLD };
        let low = load(bytes, start, len.min(8), fold);
        let high = if len > 8 { load(bytes, start + 8, len - 8, fold) } else { 0 };
        self.known(low, high)
    }

    /// Flags of a whole word; 0 when it is not in the lists.
    #[inline]
    pub(crate) fn of(&self, word: &[u8]) -> u32 {
        if word.len() > MAX_BYTES { 0 } else { self.find(word, 0, word.len()).flags & !VOWELS }
    }

    #[inline]
    fn known(&self, low: u64, high: u64) -> Known {
        let hash = hash(low, high);
        let bit = (hash >> 49) as usize;
        let is_unknown = self.filter[bit >> 6] & (1 << (bit & 63)) == 0;
        if is_unknown { Known::default() } else { self.find_slot(low, high, hash) }
    }

    fn find_slot(&self, low: u64, high: u64, hash: u64) -> Known {
        let mut slot = Self::slot(hash);
        loop {
            let found = &self.slots[slot];
            if found.is_free() || (found.low == low && found.high == high) {
                return found.known;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

impl Slot {
    const fn is_free(&self) -> bool {
        self.known.flags | self.known.bears == 0
    }
}

/// What is known of the word `bytes[start..end]`, with `VOWELS`; nothing when it is not in the lists.
#[inline]
pub(super) fn find(bytes: &[u8], start: usize, end: usize) -> Known {
    if end.saturating_sub(start) > MAX_BYTES { Known::default() } else { TABLE.find(bytes, start, end) }
}

/// The same of a word of up to eight bytes, given as one number, case folded and filled up with zeros.
#[inline]
pub(super) fn find_short(low: u64) -> Known {
    TABLE.known(low, 0)
}

/// The same of a word of nine to sixteen bytes, given as two numbers.
#[inline]
pub(super) fn find_long(low: u64, high: u64) -> Known {
    TABLE.known(low, high)
}

/// The eight bytes at `start` as one number, the first the lowest.
#[inline]
pub(super) fn eight_bytes(bytes: &[u8], start: usize) -> Option<u64> {
    bytes.get(start..start + 8).and_then(|part| part.try_into().ok()).map(u64::from_le_bytes)
}

/// The same where behind the end of `bytes` there are blanks.
#[inline]
pub(super) fn eight_or_blanks(bytes: &[u8], start: usize) -> u64 {
    if let Some(word) = eight_bytes(bytes, start) {
        return word;
    }
    let n_missing = start + 8 - bytes.len();
    match bytes.last_chunk::<8>() {
        _ if n_missing >= 8 => FOLD,
        Some(last) => u64::from_le_bytes(*last) >> (8 * n_missing) | FOLD << (64 - 8 * n_missing),
        None => bytes[start..].iter().rev().fold(FOLD, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Eight bytes with their case folded.
#[inline]
pub(super) fn fold(word: u64) -> u64 {
    word | FOLD
}

/// Flags of a whole word.
#[inline]
pub(super) fn flags_of(word: &[u8]) -> u32 {
    TABLE.of(word)
}

/// The first `len` (1 to 8) bytes at `start`, with the bits of `fold` in them, the rest zero.
#[inline]
fn load(bytes: &[u8], start: usize, len: usize, fold: u64) -> u64 {
    let keep = u64::MAX >> (64 - 8 * len);
    let word = match eight_bytes(bytes, start) {
        Some(word) => word,
        None => bytes.iter().skip(start).take(len).rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    (word | fold) & keep
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_parts_are_not() {
        assert_eq!(flags_of(b"Not") & NEGATION, NEGATION);
        assert_eq!(flags_of("FÜR".as_bytes()), flags_of("für".as_bytes()));
        assert_eq!(flags_of(b"nots"), 0);
        assert_eq!(flags_of(b"notwithstanding-and-more"), 0);
        assert_eq!(find(b"is not", 3, 6).flags & NEGATION, NEGATION);
    }

    #[test]
    fn every_listed_word_fits_and_is_found() {
        for (list, word) in Entries::of(words_file!("lexer")) {
            assert!(word.len() <= MAX_BYTES, "{word} is too long");
            assert_ne!(flags_of(word.as_bytes()) & flag(LISTS, list), 0, "{word}");
        }
    }
}
