//! Long texts that stand in several places of a run, far from each other: which those are, and which of them a record goes by. Knows texts;
//! refuses to know tables and files.

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

/// The first half of the BLAKE3 of a text.
type Key = [u8; 16];

/// How often long texts stand in the records of a run: the records themselves, and strings in them as they are written.
#[derive(Debug, Default)]
pub struct TextCounts {
    counts: HashMap<Key, Count>,
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

    /// The texts of which one copy is worth more than that records hold them.
    pub fn repeated(self) -> RepeatedTexts {
        let is_worth = |count: &Count| count.bytes * (count.places - 1) >= MIN_SAVED * count.times;
        RepeatedTexts(self.counts.into_iter().filter(|(_, count)| is_worth(count)).map(|(key, _)| key).collect())
    }
}

/// Texts of which one copy is enough.
#[derive(Debug, Default)]
pub struct RepeatedTexts(HashSet<Key>);

impl RepeatedTexts {
    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Where texts stand of which there is one copy.
#[derive(Debug, Default)]
pub struct TextPlaces(HashMap<Key, StoredRow>);

impl TextPlaces {
    /// Gives those of the `wanted` texts that `record` has, and that have no place yet, to `put`, which says where it puts each.
    ///
    /// # Errors
    /// That of `put`.
    pub fn place(
        &mut self,
        record: &str,
        wanted: &RepeatedTexts,
        put: &mut dyn FnMut(&str) -> Result<StoredRow>,
    ) -> Result<()> {
        for text in long_texts(record) {
            let key = key(text);
            if !wanted.0.contains(&key) {
                continue;
            }
            if let Entry::Vacant(place) = self.0.entry(key) {
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
        if self.0.is_empty() {
            return rows;
        }
        for text in long_texts(record) {
            let Some(row) = self.0.get(&key(text)) else { continue };
            n_bytes += text.len();
            if seen.insert(row) {
                rows.push(row.clone());
            }
            if text.len() == record.len() {
                break;
            }
        }
        if n_bytes * 100 < record.len() * MIN_SHARED { Vec::new() } else { rows }
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

#[cfg(test)]
mod tests {
    use super::{MIN_BYTES, NEAR, TextCounts, TextPlaces, long_texts};
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
        let (mut counts, mut places) = (TextCounts::default(), TextPlaces::default());
        for part in 0..2 {
            counts.begin_part();
            counts.add(&of_far);
            for n in 0..40 {
                counts.add(&format!("[{part}, {n}, \"{near}\"]"));
            }
        }
        counts.add(&of_near);
        let wanted = counts.repeated();
        let (mut put, mut n) = (Vec::new(), 0);
        for record in [&of_far, &of_near, &of_far, &format!("[2, \"{far}\"]")] {
            places
                .place(record, &wanted, &mut |text| {
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
