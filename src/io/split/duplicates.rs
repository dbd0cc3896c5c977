//! Which conversations stay of those that say the same, or nearly the same, or of which one goes on where another ends: the
//! longest. Knows notes; refuses to know sides.

use super::notes::{KeptNotes, Wanted};
use super::packed::{Head, NOWHERE, Packer, long_at, read_fingerprint, short_at};
use super::scratch::Scratch;
use super::sorter::{Sorted, Sorter};
use crate::error::Result;
use crate::pipeline::split::Fingerprint;

/// Of the conversations with an equal band, so many before each one are compared with it, and the first.
const N_BEFORE: usize = 3;
/// The lower rank of two, how they are alike, the higher rank.
const PAIR_BYTES: usize = 9;

/// What becomes of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Stays,
    Contaminated,
    Duplicate,
    NearDuplicate,
}

/// How two conversations are alike, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Equal = 0,
    /// One goes on where the other ends.
    Beginning = 1,
    /// They have a band in common.
    Band = 2,
}

/// What becomes of all conversations.
#[derive(Debug)]
pub(super) struct Duplicates {
    pub(super) standings: Vec<Standing>,
    /// Of one that does not stay: the one that stays instead.
    pub(super) twins: Vec<u32>,
}

impl Duplicates {
    pub(super) fn find(notes: &KeptNotes, wanted: Wanted, scratch: &Scratch) -> Result<Self> {
        let n = notes.heads.n as usize;
        let mut found = Self { standings: vec![Standing::Stays; n], twins: Vec::new() };
        notes.heads.each(|number, record| {
            if Head::read(record).item > 0 {
                found.standings[number as usize] = Standing::Contaminated;
            }
            Ok(())
        })?;
        if wanted != Wanted::Nothing {
            found.twins = (0..notes.heads.n).collect();
            let ranks = Ranks::of(notes)?;
            let pairs = pairs(notes, &ranks, scratch)?;
            found.settle(notes, &ranks, &pairs)?;
        }
        Ok(found)
    }

    /// Goes from the longest conversation to the shortest: each goes when one that it is like stays.
    fn settle(&mut self, notes: &KeptNotes, ranks: &Ranks, pairs: &Sorted<PAIR_BYTES>) -> Result<()> {
        let (mut pairs, mut before) = (pairs.read()?, [0; PAIR_BYTES]);
        while let Some(pair) = pairs.next()? {
            let (lower, higher) = (ranks.number(short_at(&pair, 0)), ranks.number(short_at(&pair, 5)));
            let likeness = pair[4];
            if pair == std::mem::replace(&mut before, pair) || self.standings[lower as usize] != Standing::Stays {
                continue;
            }
            // What stands in one that was left out stands in the one that stays for that.
            let is_gone = match self.standings[higher as usize] {
                Standing::Contaminated => continue,
                Standing::Stays => false,
                Standing::Duplicate | Standing::NearDuplicate => true,
            };
            let standing = match likeness {
                _ if likeness == Likeness::Equal as u8 => Standing::Duplicate,
                _ if likeness == Likeness::Beginning as u8 => Standing::NearDuplicate,
                _ if !is_gone && is_near(notes, lower, higher)? => Standing::NearDuplicate,
                _ => continue,
            };
            self.standings[lower as usize] = standing;
            self.twins[lower as usize] = self.twins[higher as usize];
        }
        Ok(())
    }
}

fn is_near(notes: &KeptNotes, a: u32, b: u32) -> Result<bool> {
    let text = |number: u32| -> Result<Option<Fingerprint>> {
        let place = Head::read(&notes.heads.get(number)?).text;
        if place == NOWHERE { Ok(None) } else { notes.heap.get(place).map(|bytes| Some(read_fingerprint(&bytes))) }
    };
    Ok(text(a)?.zip(text(b)?).is_some_and(|(a, b)| a.is_near(&b)))
}

/// The order of conversations by their length.
struct Ranks {
    of: Vec<u32>,
    numbers: Vec<u32>,
}

impl Ranks {
    fn of(notes: &KeptNotes) -> Result<Self> {
        let n = notes.heads.n as usize;
        let (mut of, mut numbers) = (vec![0; n], Vec::with_capacity(n));
        let mut sorted = notes.ranks.read()?;
        while let Some(record) = sorted.next()? {
            let number = short_at(&record, 20);
            of[number as usize] = numbers.len() as u32;
            numbers.push(number);
        }
        Ok(Self { of, numbers })
    }

    fn rank(&self, number: u32) -> u32 {
        self.of[number as usize]
    }

    fn number(&self, rank: u32) -> u32 {
        self.numbers[rank as usize]
    }
}

/// All pairs that may be alike.
fn pairs(notes: &KeptNotes, ranks: &Ranks, scratch: &Scratch) -> Result<Sorted<PAIR_BYTES>> {
    let mut pairs = Pairs { ranks, sorter: Sorter::new(scratch) };
    let mut sorted = notes.wholes.read()?;
    let mut group = Vec::new();
    let mut hash = [0; 16];
    while let Some(record) = sorted.next()? {
        if record[..16] != hash {
            pairs.with_longest(&group, None, Likeness::Equal)?;
            group.clear();
            hash.copy_from_slice(&record[..16]);
        }
        group.push(short_at(&record, 16));
    }
    pairs.with_longest(&group, None, Likeness::Equal)?;
    drop(sorted);

    let mut sorted = notes.beginnings.read()?;
    let (mut ended, mut longest, mut hash) = (Vec::new(), None, 0);
    while let Some(record) = sorted.next()? {
        if long_at(&record, 0) != hash {
            pairs.with_longest(&ended, longest, Likeness::Beginning)?;
            ended.clear();
            (longest, hash) = (None, long_at(&record, 0));
        }
        let number = short_at(&record, 9);
        if record[8] == 0 {
            ended.push(number);
        } else if longest.is_none_or(|longest| ranks.rank(number) < ranks.rank(longest)) {
            longest = Some(number);
        }
    }
    pairs.with_longest(&ended, longest, Likeness::Beginning)?;
    drop(sorted);

    each_band_pair(&notes.texts, |a, b| pairs.push(a, b, Likeness::Band))?;
    pairs.sorter.sorted()
}

struct Pairs<'r> {
    ranks: &'r Ranks,
    sorter: Sorter<PAIR_BYTES>,
}

impl Pairs<'_> {
    fn push(&mut self, a: u32, b: u32, likeness: Likeness) -> Result<()> {
        let (a, b) = (self.ranks.rank(a), self.ranks.rank(b));
        if a == b {
            return Ok(());
        }
        self.sorter.push(Packer::new().short(a.max(b)).put(&[likeness as u8]).short(a.min(b)).done())
    }

    /// Pairs each of a group with its longest, or with another one that is longer.
    fn with_longest(&mut self, group: &[u32], another: Option<u32>, likeness: Likeness) -> Result<()> {
        let longest = group.iter().copied().chain(another).min_by_key(|&number| self.ranks.rank(number));
        let Some(longest) = longest else { return Ok(()) };
        group.iter().try_for_each(|&number| self.push(number, longest, likeness))
    }
}

/// Calls `each` with pairs of conversations that have a band in common: each with those before it.
pub(super) fn each_band_pair(
    bands: &Sorted<{ super::notes::BAND_BYTES }>,
    mut each: impl FnMut(u32, u32) -> Result<()>,
) -> Result<()> {
    let (mut bands, mut band, mut first) = (bands.read()?, None, 0);
    let mut before: std::collections::VecDeque<u32> = std::collections::VecDeque::with_capacity(N_BEFORE + 1);
    while let Some(record) = bands.next()? {
        let number = short_at(&record, 8);
        if band == Some(long_at(&record, 0)) {
            if !before.contains(&first) {
                each(first, number)?;
            }
            before.iter().try_for_each(|&other| each(other, number))?;
        } else {
            (band, first) = (Some(long_at(&record, 0)), number);
            before.clear();
        }
        before.push_back(number);
        if before.len() > N_BEFORE {
            before.pop_front();
        }
    }
    Ok(())
}
