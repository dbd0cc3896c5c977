//! A hash table from keys that are hashes already to numbers, which costs what it holds and not what it once held.
//! Knows no texts: whoever needs exactness compares what the numbers stand for.

/// Places for each entry, so that a look-up ends soon.
const ROOM: usize = 2;
const FEWEST: usize = 64;
const FREE: u32 = u32::MAX;

/// Keys with numbers; several entries may have one key. Of a key its upper half is kept.
#[derive(Debug, Default)]
pub(in crate::walk) struct Index {
    places: Vec<(u32, u32)>,
    n_entries: usize,
}

impl Index {
    /// Forgets everything and makes room for `n_entries`.
    pub(in crate::walk) fn reset(&mut self, n_entries: usize) {
        self.places.clear();
        self.places.resize((n_entries * ROOM).next_power_of_two().max(FEWEST), (0, FREE));
        self.n_entries = 0;
    }

    /// The number under `key` for which `is` holds; it may be asked about a number under another key.
    #[inline]
    pub(in crate::walk) fn get(&self, key: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let (mask, half) = (self.places.len() - 1, (key >> 32) as u32);
        let mut at = half as usize & mask;
        loop {
            match self.places[at] {
                (_, FREE) => return None,
                (known, number) if known == half && is(number) => return Some(number),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// The same; where there is none, `number` stands under `key` from now on.
    #[inline]
    pub(in crate::walk) fn get_or_insert(&mut self, key: u64, number: u32, is: impl FnMut(u32) -> bool) -> u32 {
        self.get(key, is).unwrap_or_else(|| {
            self.insert(key, number);
            number
        })
    }

    /// Puts `number` under `key`, beside what stands there.
    pub(in crate::walk) fn insert(&mut self, key: u64, number: u32) {
        if (self.n_entries + 1) * ROOM > self.places.len() {
            let old = std::mem::take(&mut self.places);
            self.places.resize(old.len() * 2, (0, FREE));
            old.into_iter().filter(|&(_, number)| number != FREE).for_each(|(half, number)| self.put(half, number));
        }
        self.put((key >> 32) as u32, number);
        self.n_entries += 1;
    }

    fn put(&mut self, half: u32, number: u32) {
        let mask = self.places.len() - 1;
        let mut at = half as usize & mask;
        while self.places[at].1 != FREE {
            at = (at + 1) & mask;
        }
        self.places[at] = (half, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_found_again_however_many_there_are() {
        let mut index = Index::default();
        index.reset(0);
        // Keys that begin their search at one place.
        for number in 0..1_000 {
            index.insert(u64::from(number % 500) << 32, number);
        }
        assert!(
            (0..1_000).all(|number| index.get(u64::from(number % 500) << 32, |found| found == number) == Some(number))
        );
        assert_eq!(index.get(7 << 32, |_| false), None);
        index.reset(0);
        assert_eq!(index.get(7 << 32, |_| true), None, "nothing is left");
    }
}
