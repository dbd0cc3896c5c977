//! Long texts that stand in several places of a run, far from each other: which those are, and which of them a record goes by. A log that
//! was written anew has most of its records once more, and some of them longer: there the longest is such a text, for all that have
//! pieces of it. Knows texts; refuses to know tables and files.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::StoredRow;
use crate::error::Result;

/// A text may have a place of its own from so many bytes.
const MIN_BYTES: usize = 1 << 10;
/// What stands nearer is found when tables are compressed, so many bytes of records apart.
const NEAR: u64 = 2 << 20;
/// So many bytes of records are saved at least for each that goes by a text: it shows none of its messages any more.
const MIN_SAVED: u64 = 512;
/// Texts that are counted at most: they take 250 MB then.
const MAX_COUNTED: usize = 4 << 20;
/// A record goes by such texts when they are at least so much of it, in percent.
const MIN_SHARED: usize = 25;

/// Pieces of a record end where so many bits of a hash of the bytes before are none: they have 128 bytes and more, 256 in the mean.
const PIECE_BITS: u32 = 7;
const MIN_PIECE: usize = 128;
/// A record goes by others when so many bytes in pieces are theirs.
const MIN_IN_PIECES: usize = 256;
const MAX_PIECE: usize = 8 << 10;
/// So many bytes the hash is of: what came before has left its 32 bits.
const HASHED: usize = u32::BITS as usize;
/// 2³² over the golden ratio: a product with it spreads the bits of a byte.
const GOLDEN: u32 = 0x9E37_79B1;

/// A record goes by so many others at most.
const MAX_LONGEST: usize = 4;

/// The first half of the BLAKE3 of a text.
type Key = [u8; 16];

/// How often long texts stand in the records of a run: the records themselves, and strings in them as they are written.
#[derive(Debug, Default)]
pub struct TextCounts {
    counts: HashMap<Key, Count>,
    pieces: HashMap<Key, Piece>,
    /// Bytes of records so far.
    n_bytes: u64,
}

#[derive(Debug)]
struct Count {
    bytes: u64,
    times: u64,
    /// Times that are not near the one before.
    places: u64,
    last: u64,
}

/// A piece of records.
#[derive(Debug)]
struct Piece {
    bytes: u64,
    times: u64,
    /// The longest record that has it, and its bytes.
    longest: (usize, Key),
}

impl TextCounts {
    /// What comes next is of another part.
    pub fn begin_part(&mut self) {
        self.n_bytes += NEAR;
    }

    /// Counts the texts of a record.
    pub fn add(&mut self, record: &str) {
        for text in long_texts(record) {
            let is_full = self.counts.len() >= MAX_COUNTED;
            let key = key(text);
            if is_full && !self.counts.contains_key(&key) {
                continue;
            }
            let new = || Count { bytes: text.len() as u64, times: 0, places: 1, last: self.n_bytes };
            let count = self.counts.entry(key).or_insert_with(new);
            count.times += 1;
            count.places += u64::from(self.n_bytes >= count.last + NEAR);
            count.last = self.n_bytes;
        }
        self.n_bytes += record.len() as u64;
    }

    /// Counts the pieces of a record of a log of which there are several states.
    pub fn add_pieces(&mut self, record: &str) {
        if record.len() < MIN_IN_PIECES {
            return;
        }
        let of = (record.len(), key(record));
        for text in pieces(record) {
            let is_full = self.pieces.len() >= MAX_COUNTED;
            let piece = key(text);
            if is_full && !self.pieces.contains_key(&piece) {
                continue;
            }
            let new = || Piece { bytes: text.len() as u64, times: 0, longest: of };
            let piece = self.pieces.entry(piece).or_insert_with(new);
            piece.times += 1;
            if of.0 > piece.longest.0 {
                piece.longest = of;
            }
        }
    }

    /// The texts of which one copy is worth more than that records hold them.
    pub fn repeated(self) -> RepeatedTexts {
        let is_worth = |count: &Count| count.bytes * (count.places - 1) >= MIN_SAVED * count.times;
        let texts = self.counts.into_iter().filter(|(_, count)| is_worth(count)).map(|(key, _)| key).collect();
        let mut saved: HashMap<Key, u64> = HashMap::new();
        self.pieces.values().for_each(|piece| {
            *saved.entry(piece.longest.1).or_default() += piece.bytes * (piece.times - 1);
        });
        saved.retain(|_, saved| *saved >= MIN_IN_PIECES as u64);
        let pieces =
            self.pieces.into_iter().filter(|(_, piece)| piece.times > 1).map(|(key, piece)| (key, piece.longest.1));
        let longest_with = pieces.filter(|(_, longest)| saved.contains_key(longest)).collect();
        RepeatedTexts { texts, longest: saved.into_keys().collect(), longest_with }
    }
}

/// Texts of which one copy is enough.
#[derive(Debug, Default)]
pub struct RepeatedTexts {
    texts: HashSet<Key>,
    /// Records that others have pieces of, and by pieces the longest record that has each.
    longest: HashSet<Key>,
    longest_with: HashMap<Key, Key>,
}

impl RepeatedTexts {
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.longest.is_empty()
    }
}

/// Where texts stand of which there is one copy.
#[derive(Debug, Default)]
pub struct TextPlaces {
    wanted: RepeatedTexts,
    places: HashMap<Key, StoredRow>,
}

impl TextPlaces {
    /// For these texts; none has a place yet.
    pub fn of(wanted: RepeatedTexts) -> Self {
        Self { wanted, places: HashMap::new() }
    }

    /// Gives those of the texts that `record` has, and that have no place yet, to `put`, which says where it puts each.
    ///
    /// # Errors
    /// That of `put`.
    pub fn place(&mut self, record: &str, put: &mut dyn FnMut(&str) -> Result<StoredRow>) -> Result<()> {
        let is_longest = !self.wanted.longest.is_empty() && self.wanted.longest.contains(&key(record));
        let texts = if is_longest { vec![record] } else { long_texts(record) };
        for text in texts {
            let key = key(text);
            if !is_longest && !self.wanted.texts.contains(&key) {
                continue;
            }
            if let Entry::Vacant(place) = self.places.entry(key) {
                place.insert(put(text)?);
            }
            // What stands in a record that is repeated has no place of its own for that.
            if text.len() == record.len() {
                break;
            }
        }
        Ok(())
    }

    /// The places of texts by which `record` goes; none when too little of it has a place.
    pub fn rows(&self, record: &str) -> Vec<StoredRow> {
        let (mut rows, mut seen, mut n_bytes) = (Vec::new(), HashSet::new(), 0);
        if self.places.is_empty() {
            return rows;
        }
        for text in long_texts(record) {
            let Some(row) = self.places.get(&key(text)) else { continue };
            n_bytes += text.len();
            if seen.insert(row) {
                rows.push(row.clone());
            }
            if text.len() == record.len() {
                break;
            }
        }
        let (longest, shared) = self.longest_like(record);
        if shared > n_bytes {
            (rows, n_bytes) = (longest, shared);
        }
        if n_bytes * 100 < record.len() * MIN_SHARED { Vec::new() } else { rows }
    }

    /// The records that have most of `record`, and how many bytes in pieces.
    fn longest_like(&self, record: &str) -> (Vec<StoredRow>, usize) {
        if self.wanted.longest_with.is_empty() || record.len() < MIN_IN_PIECES {
            return (Vec::new(), 0);
        }
        let mut shared: HashMap<&StoredRow, usize> = HashMap::new();
        for piece in pieces(record) {
            let longest = self.wanted.longest_with.get(&key(piece));
            if let Some(row) = longest.and_then(|longest| self.places.get(longest)) {
                *shared.entry(row).or_default() += piece.len();
            }
        }
        let mut most: Vec<(usize, &StoredRow)> = shared.into_iter().map(|(row, shared)| (shared, row)).collect();
        most.sort_by_key(|&(shared, row)| (Reverse(shared), row));
        most.truncate(MAX_LONGEST);
        most.retain(|&(shared, _)| shared >= MIN_IN_PIECES);
        (most.iter().map(|&(_, row)| row.clone()).collect(), most.iter().map(|&(shared, _)| shared).sum())
    }
}

fn key(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..size_of::<Key>()]);
    key
}

/// The record, when it is long, and its long strings as they are written in it.
fn long_texts(record: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if record.len() < MIN_BYTES {
        return found;
    }
    found.push(record);
    let (bytes, mut at, mut begin) = (record.as_bytes(), 0, None);
    while let Some(next) = memchr::memchr3(b'"', b'\\', b'\n', bytes.get(at..).unwrap_or_default()) {
        let here = at + next;
        at = here + 1;
        match (bytes[here], begin) {
            (b'\\', _) => at += 1,
            // A line that is torn ends here.
            (b'\n', _) => begin = None,
            (_, None) => begin = Some(at),
            (_, Some(first)) => {
                found.extend(record.get(first..here).filter(|text| text.len() >= MIN_BYTES));
                begin = None;
            }
        }
    }
    found
}

/// The pieces of a record, which are the same wherever the same bytes stand.
fn pieces(record: &str) -> impl Iterator<Item = &str> {
    let mut rest = record;
    std::iter::from_fn(move || {
        let bytes = &rest.as_bytes()[..rest.len().min(MAX_PIECE)];
        let (mut hash, mut end) = (0_u32, (MIN_PIECE - HASHED).min(bytes.len()));
        while end < bytes.len() && (end < MIN_PIECE || hash >> (u32::BITS - PIECE_BITS) != 0) {
            hash = (hash << 1).wrapping_add(u32::from(bytes[end]).wrapping_mul(GOLDEN));
            end += 1;
        }
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{MAX_PIECE, MIN_BYTES, MIN_PIECE, NEAR, TextCounts, TextPlaces, long_texts, pieces};
    use crate::pipeline::StoredRow;

    fn text(seed: usize, n_bytes: usize) -> String {
        (0..)
            .map(|n| format!("{}", n * seed + seed))
            .flat_map(String::into_bytes)
            .map(char::from)
            .take(n_bytes)
            .collect()
    }

    #[test]
    fn long_strings_are_found_as_they_are_written() {
        let long = text(3, MIN_BYTES) + "\\\" \\\\";
        let record = format!("{{\"a\":\"{long}\",\"b\":\"short\",\n\"torn {long}\n\"c\":[\"{long}\"]}}");
        assert_eq!(long_texts(&record), [&*record, &long, &long]);
        for odd in ["", "\"", "\\", "\"\\", &"\"".repeat(3000), &"é\\".repeat(2000)] {
            assert!(long_texts(odd).iter().all(|text| odd.contains(text)));
        }
    }

    #[test]
    fn a_text_has_a_place_when_it_stands_far_apart_and_a_record_goes_by_those_that_are_much_of_it() {
        let (far, near) = (text(3, 4000), text(7, 4000));
        let (of_far, of_near) = (format!("[\"{far}\", 1]"), format!("[\"{near}\", \"{}\"]", text(11, 800)));
        let mut counts = TextCounts::default();
        for part in 0..2 {
            counts.begin_part();
            counts.add(&of_far);
            for n in 0..40 {
                counts.add(&format!("[{part}, {n}, \"{near}\"]"));
            }
        }
        counts.add(&of_near);
        let mut places = TextPlaces::of(counts.repeated());
        let (mut put, mut n) = (Vec::new(), 0);
        for record in [&of_far, &of_near, &of_far, &format!("[2, \"{far}\"]")] {
            places
                .place(record, &mut |text| {
                    put.push(text.to_owned());
                    n += 1;
                    Ok(StoredRow { run: "blobs-00001".to_owned(), part: 0, row: n - 1 })
                })
                .expect("it is put");
        }
        // The whole record, and its string for the one that has only that.
        assert_eq!(put, [of_far.clone(), far.clone()]);
        assert_eq!(places.rows(&of_far).iter().map(|row| row.row).collect::<Vec<_>>(), [0]);
        assert_eq!(places.rows(&format!("[3, \"{far}\"]")).iter().map(|row| row.row).collect::<Vec<_>>(), [1]);
        assert!(places.rows(&of_near).is_empty());
        assert!(places.rows(&format!("[\"{far}\", \"{}\"]", text(13, 14000))).is_empty());
    }

    #[test]
    fn of_states_of_a_log_each_record_goes_by_the_longest_that_is_like_it() {
        let state =
            |id: &str, n_bytes: usize| format!("{{\"at\":{n_bytes},\"id\":\"{id}\",\"m\":[\"{}\"]}}", text(3, n_bytes));
        let other = format!("[\"{}\"]", text(7, 5000));
        let states = [100, 900, 5000, 9000].map(|n_bytes| state("a", n_bytes));
        let mut counts = TextCounts::default();
        for record in states.iter().chain([&other]) {
            counts.add_pieces(record);
        }
        let mut places = TextPlaces::of(counts.repeated());
        let mut put = Vec::new();
        for record in states.iter().chain([&other]) {
            places
                .place(record, &mut |text| {
                    put.push(text.to_owned());
                    Ok(StoredRow { run: "blobs-00001".to_owned(), part: 0, row: put.len() as u64 - 1 })
                })
                .expect("it is put");
        }
        assert_eq!(put, [states[3].clone()]);
        let goes_by = |record: &str| places.rows(record).iter().map(|row| row.row).collect::<Vec<_>>();
        // The shortest takes less than it costs to go by another.
        assert_eq!(states.each_ref().map(|state| goes_by(state)), [vec![], vec![0], vec![0], vec![0]]);
        // What stands before the text does not matter.
        assert_eq!(goes_by(&format!("[true,{}]", state("b", 7000))), [0]);
        assert!(goes_by(&other).is_empty());
    }

    #[test]
    fn pieces_are_the_record_and_end_at_the_same_bytes() {
        for record in ["", "é", &"é".repeat(9000), &text(3, 100_000), &"a".repeat(20_000)] {
            let found: Vec<&str> = pieces(record).collect();
            assert_eq!(found.concat(), record);
            assert!(found.iter().all(|piece| piece.len() <= MAX_PIECE + 3));
            assert!(found.iter().rev().skip(1).all(|piece| piece.len() >= MIN_PIECE));
        }
        let (one, other) = (text(3, 60_000), format!("before {}", text(3, 60_000)));
        let (one, other): (HashSet<&str>, HashSet<&str>) = (pieces(&one).collect(), pieces(&other).collect());
        assert!(
            one.intersection(&other).count() * 10 > one.len() * 8,
            "{} of {}",
            one.intersection(&other).count(),
            one.len()
        );
    }

    #[test]
    fn what_stands_twice_in_one_part_counts_when_it_is_far_apart() {
        let (record, other) = (format!("[\"{}\"]", text(3, 2000)), text(5, NEAR as usize));
        let is_repeated = |between: &str| {
            let mut counts = TextCounts::default();
            counts.add(&record);
            counts.add(between);
            counts.add(&record);
            !counts.repeated().is_empty()
        };
        assert!(is_repeated(&other) && !is_repeated("[]"));
    }
}
