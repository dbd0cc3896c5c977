//! The side of every conversation: groups by what they have in common, each with its place on the line, the sides of an earlier run
//! first. Knows keys and bands; refuses to know duplicates and files of a run.

use super::duplicates::{Duplicates, Standing, each_band_pair};
use super::notes::KeptNotes;
use super::packed::{Head, NOWHERE, bytes_at, read_fingerprint, short_at};
use super::split_file::EarlierSides;
use crate::error::Result;
use crate::pipeline::split::{GroupKey, KeyKind, Side, Strata, Unions};
use crate::pipeline::{GroupBy, SplitOptions};

/// What is looked up once more in vain is noted in so many places.
const N_NOTED: usize = 1 << 20;
/// With `auto` keys of a kind hold groups together unless one of them is in more than this share of the conversations …
const MOST_OF_ALL: u64 = 10;
/// … and in more than so many.
const FEW: u64 = 10;

/// The sides of all conversations, by their groups.
#[derive(Debug)]
pub(super) struct Sides {
    unions: Unions,
    /// Of the first of a group: where the group stands.
    at: Vec<f64>,
    /// The side that an earlier run gave a conversation, or the group of which it is the first.
    own: Vec<Option<Side>>,
    of_group: Vec<Option<Side>>,
    classes: Vec<u8>,
    limits: [f64; crate::pipeline::split::N_CLASSES],
    used: [bool; 5],
}

impl Sides {
    pub(super) fn of(
        notes: &KeptNotes,
        duplicates: &Duplicates,
        (options, eval_share): (&SplitOptions, f64),
        earlier: Option<&mut EarlierSides>,
    ) -> Result<Self> {
        let n = notes.heads.n;
        let mut sides = Self {
            unions: Unions::new(n),
            at: vec![0.0; n as usize],
            own: vec![None; n as usize],
            of_group: vec![None; n as usize],
            classes: Vec::with_capacity(n as usize),
            limits: [eval_share; _],
            used: used(notes, options.group_by)?,
        };
        sides.join_records(notes, options.group_by)?;
        sides.join_keys(notes)?;
        sides.join_near_prompts(notes)?;
        sides.place(notes, options.seed, earlier)?;
        if options.stratify {
            let mut strata = Strata::default();
            for (number, standing) in (0..n).zip(&duplicates.standings) {
                if *standing == Standing::Stays {
                    let first = sides.unions.first(number) as usize;
                    strata.add(sides.classes[first], sides.at[first], 1);
                }
            }
            sides.limits = strata.limits(eval_share);
        }
        Ok(sides)
    }

    /// The side of a conversation.
    pub(super) fn side(&mut self, number: u32) -> Side {
        let first = self.unions.first(number) as usize;
        let by_place = || {
            let limit = self.limits[usize::from(self.classes[first])];
            if self.at[first] < limit { Side::Eval } else { Side::Train }
        };
        self.own[number as usize].or(self.of_group[first]).unwrap_or_else(by_place)
    }

    /// Whether keys of this kind hold groups together.
    pub(super) fn uses(&self, key: u8) -> bool {
        self.used.get(usize::from(key)).copied().unwrap_or_default()
    }

    /// The conversations of a record are one group.
    fn join_records(&mut self, notes: &KeptNotes, group_by: GroupBy) -> Result<()> {
        let (unions, classes) = (&mut self.unions, &mut self.classes);
        let mut before = None;
        notes.heads.each(|number, record| {
            let head = Head::read(record);
            classes.push(head.class);
            if number > 0 && before == Some(head.record()) && group_by != GroupBy::Id {
                unions.join(number - 1, number);
            }
            before = Some(head.record());
            Ok(())
        })
    }

    fn join_keys(&mut self, notes: &KeptNotes) -> Result<()> {
        let (mut keys, mut before) = (notes.keys.read()?, None);
        while let Some(record) = keys.next()? {
            let (key, number): ([u8; 16], u32) = (bytes_at(&record, 0), short_at(&record, 16));
            if !self.uses(key[0]) {
                continue;
            }
            match before {
                Some((last, other)) if last == key => drop(self.unions.join(other, number)),
                _ => before = Some((key, number)),
            }
        }
        Ok(())
    }

    fn join_near_prompts(&mut self, notes: &KeptNotes) -> Result<()> {
        let mut in_vain = vec![u64::MAX; N_NOTED];
        let fingerprint = |number: u32| {
            let place = Head::read(&notes.heads.get(number)?).prompt;
            if place == NOWHERE { Ok(None) } else { notes.heap.get(place).map(|bytes| Some(read_fingerprint(&bytes))) }
        };
        let unions = &mut self.unions;
        each_band_pair(&notes.prompts, |a, b| {
            let pair = u64::from(a) << 32 | u64::from(b);
            let noted = &mut in_vain[(pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as usize];
            if *noted == pair || unions.first(a) == unions.first(b) {
                return Ok(());
            }
            let both = fingerprint(a)?.zip(fingerprint(b)?);
            if both.is_some_and(|(mine, its)| mine.is_near(&its)) {
                unions.join(a, b);
            } else {
                *noted = pair;
            }
            Ok(())
        })
    }

    /// Each group stands where its smallest key does, the widest kind of key first, so that a group that grows stays where it is.
    fn place(&mut self, notes: &KeptNotes, seed: u64, mut earlier: Option<&mut EarlierSides>) -> Result<()> {
        let mut is_placed = vec![false; self.at.len()];
        let (mut keys, mut last) = (notes.keys.read()?, None);
        while let Some(record) = keys.next()? {
            let (key, number): ([u8; 16], u32) = (bytes_at(&record, 0), short_at(&record, 16));
            if !self.uses(key[0]) {
                continue;
            }
            let first = self.unions.first(number) as usize;
            if !std::mem::replace(&mut is_placed[first], true) {
                self.at[first] = GroupKey(key).place(seed);
            }
            let Some(earlier) = earlier.as_deref_mut() else { continue };
            let side = match last {
                Some((before, side)) if before == key => side,
                _ => earlier.side(key)?,
            };
            last = Some((key, side));
            if key[0] >= KeyKind::Prompt as u8 && side.is_some() {
                self.own[number as usize] = side;
            }
            // What was trained on is trained on: a model may know it.
            let of_group = &mut self.of_group[first];
            *of_group = if side == Some(Side::Train) { side } else { of_group.or(side) };
        }
        Ok(())
    }
}

/// Which kinds of keys hold groups together.
fn used(notes: &KeptNotes, group_by: GroupBy) -> Result<[bool; 5]> {
    let with = |kinds: &[KeyKind]| std::array::from_fn(|kind| kinds.iter().any(|it| *it as usize == kind));
    Ok(match group_by {
        GroupBy::Id => with(&[KeyKind::Id]),
        GroupBy::Prompt => with(&[KeyKind::Prompt, KeyKind::Whole]),
        GroupBy::Task => with(&[KeyKind::Task, KeyKind::Prompt, KeyKind::Whole]),
        GroupBy::Repository => with(&[KeyKind::Repository, KeyKind::Prompt, KeyKind::Whole]),
        GroupBy::Auto => {
            let most = u64::from(notes.heads.n).div_ceil(MOST_OF_ALL).max(FEW);
            let mut used = with(&[KeyKind::Repository, KeyKind::Task, KeyKind::Prompt, KeyKind::Whole]);
            let (mut keys, mut before, mut n) = (notes.keys.read()?, [0; 16], 0);
            while let Some(record) = keys.next()?.filter(|record| record[0] <= KeyKind::Task as u8) {
                let key = bytes_at(&record, 0);
                n = if key == before { n + 1 } else { 1 };
                before = key;
                if n > most {
                    used[usize::from(key[0])] = false;
                }
            }
            used
        }
    })
}
