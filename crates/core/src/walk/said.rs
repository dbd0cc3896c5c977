//! Lines that earlier texts have: runs of them that are visible there give way to a reference to that place. Knows lines
//! by their slots; refuses to know how a reference reads.

use std::collections::HashMap;
use std::num::NonZero;

use foldhash::fast::FixedState;

use super::uses::{Line, Place, Uses, says};

/// Earlier places of a line that are tried.
const MAX_TRIES: usize = 8;
/// A run is at least so many lines and bytes, or so many bytes.
const RUN: (usize, u32) = (3, 40);
const LONG_RUN: u32 = 200;
/// Bytes of a line that says how something ended.
const MAX_OUTCOME: u32 = 300;
/// Between texts.
const GAP: u32 = u32::MAX;

/// The run of earlier lines that a line is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    /// The text that has it.
    pub(super) by: Place,
    /// The line is visible there.
    pub(super) is_visible: bool,
    /// The same of what is left of it under a budget.
    pub(super) is_left: bool,
}

impl Said {
    /// The same where a budget took something.
    pub(super) fn left(self) -> Self {
        Self { is_visible: self.is_left, ..self }
    }
}

/// A run of lines of an argument that a text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The first line, and the one behind the last.
    pub(super) lines: (usize, usize),
    /// Who shows it.
    pub(super) by: Place,
    /// That is left of it under a budget.
    pub(super) is_left: bool,
}

/// A line of an earlier text.
#[derive(Debug, Clone, Copy)]
struct Shown {
    slot: u32,
    /// Where it stands, without its line break.
    from: u32,
    to: u32,
    /// The last place of the same line before it, among sources or among arguments.
    before: Option<NonZero<u32>>,
    is_visible: bool,
    /// That is left of it under a budget.
    is_left: bool,
}

/// The lines of all sources so far, and of arguments where these may be hidden; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// With gaps between texts.
    lines: Vec<Shown>,
    /// Where the lines of each text begin.
    texts: Vec<(u32, Place)>,
    /// The last place of each line among arguments, by its slot.
    argued: HashMap<u32, u32, FixedState>,
    /// Lines of the text at hand that are not blank.
    solid: Vec<u32>,
}

impl Known {
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.texts.clear();
        self.argued.clear();
    }

    /// A text comes next.
    pub(super) fn begin(&mut self, text: Place) {
        self.add(&Line { slot: GAP, ..Line::default() }, (false, false), None);
        self.texts.push((self.lines.len() as u32, text));
    }

    fn add(&mut self, line: &Line, (is_visible, is_left): (bool, bool), before: Option<u32>) {
        // At the first place of all there is a gap.
        let before = before.and_then(NonZero::new);
        self.lines.push(Shown { slot: line.slot, from: line.from, to: line.to, before, is_visible, is_left });
    }

    /// The next line of it: whether it is visible, and whether that is left of it under a budget.
    pub(super) fn push(&mut self, line: &Line, is_visible: (bool, bool), uses: &mut Uses) {
        if line.len > 0 {
            let before = uses.set_place(line.slot, self.lines.len() as u32);
            self.add(line, is_visible, before);
            if is_visible.0 {
                let message = self.texts.last().map_or(0, |(_, text)| text.message);
                uses.set_visible(line.slot, message);
            }
        }
    }

    /// Takes the lines of an argument, of which those of `hidden` are not shown; where they `yield` they give way to a budget. They
    /// make no value visible.
    pub(super) fn push_argument(&mut self, text: Place, lines: &[Line], hidden: &[(usize, usize)], yields: bool) {
        self.begin(text);
        let mut hidden = hidden.iter().peekable();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.len > 0) {
            while hidden.next_if(|(_, end)| *end <= at).is_some() {}
            let is_visible = hidden.peek().is_none_or(|(first, _)| at < *first);
            let before = self.argued.insert(line.slot, self.lines.len() as u32);
            self.add(line, (is_visible || yields, is_visible), before);
        }
    }

    /// The runs of lines of an argument that earlier texts show in the same words, sign and indentation.
    pub(super) fn runs(&mut self, bytes: &[u8], lines: &[Line], uses: &Uses) -> Vec<Run> {
        let mut solid = std::mem::take(&mut self.solid);
        solid.clear();
        solid.extend((0..lines.len() as u32).filter(|&at| lines[at as usize].len > 0));
        let (mut rest, mut runs): (&[u32], Vec<Run>) = (&solid, Vec::new());
        while let Some(&first) = rest.first() {
            let is_shown = |at: u32, place: usize| {
                self.lines[place].is_visible && is_same(bytes, &lines[at as usize], &self.lines[place])
            };
            let slot = lines[first as usize].slot;
            let in_sources = self.longest(lines, rest, uses.last_place(slot), is_shown);
            let in_arguments = self.longest(lines, rest, self.argued.get(&slot).copied(), is_shown);
            let (n, place) = if in_arguments.0 > in_sources.0 { in_arguments } else { in_sources };
            let n_bytes: u32 = rest[..n].iter().map(|&at| lines[at as usize].len).sum();
            if n_bytes < LONG_RUN {
                rest = &rest[1..];
                continue;
            }
            let (by, from, end) = (self.text_at(place), first as usize, rest[n - 1] as usize + 1);
            let is_left = self.lines[place as usize..][..n].iter().all(|line| line.is_left);
            rest = &rest[n..];
            match runs.last_mut() {
                Some(Run { lines: (_, last), by: before, is_left: was_left })
                    if *before == by && *was_left == is_left && lines[*last..from].iter().all(|line| line.len == 0) =>
                {
                    *last = end;
                }
                _ => runs.push(Run { lines: (from, end), by, is_left }),
            }
        }
        self.solid = solid;
        runs
    }

    /// What each of `lines` repeats, where it is part of a run; with `numbered` a number in front belongs to what a line says.
    pub(super) fn find(
        &mut self,
        bytes: &[u8],
        lines: &[Line],
        uses: &Uses,
        (is_result, numbered): (bool, bool),
        said: &mut Vec<Option<Said>>,
    ) {
        said.clear();
        said.resize(lines.len(), None);
        let mut solid = std::mem::take(&mut self.solid);
        solid.clear();
        solid.extend((0..lines.len() as u32).filter(|&at| lines[at as usize].len > 0));
        let mut rest = &solid[..];
        while let Some(&first) = rest.first() {
            let last = uses.last_place(lines[first as usize].slot);
            let fits = |at: u32, place: usize| {
                let (line, shown) = (&lines[at as usize], &self.lines[place]);
                let has_lead = |from: u32, to: u32| to - from > line.len;
                !numbered
                    || !has_lead(line.from, line.to) && !has_lead(shown.from, shown.to)
                    || number(bytes, line.from, line.to) == number(bytes, shown.from, shown.to)
            };
            let (n, place) = self.longest(lines, rest, last, fits);
            let n_bytes = rest[..n].iter().map(|&at| lines[at as usize].len).sum::<u32>();
            if n == 0 || n_bytes < LONG_RUN && (n < RUN.0 || n_bytes < RUN.1) {
                rest = &rest[1..];
                continue;
            }
            let by = self.text_at(place);
            let mut places = self.lines[place as usize..].iter();
            let (mut is_visible, mut is_left) = (true, true);
            for at in first..=rest[n - 1] {
                let line = &lines[at as usize];
                if line.len > 0 {
                    let shown = places.next().expect("the run is as long");
                    (is_visible, is_left) = (shown.is_visible, shown.is_left);
                }
                let is_outcome = line.to - line.from < MAX_OUTCOME && line.len > 0;
                if !(is_result && is_outcome && uses.says(line.slot) & says::OUTCOME != 0) {
                    said[at as usize] = Some(Said { by, is_visible, is_left });
                }
            }
            rest = &rest[n..];
        }
        self.solid = solid;
    }

    /// The longest earlier run that begins like `rest`, from the last place of its first line on, and where it stands; every
    /// line of it `fits`.
    fn longest(
        &self,
        lines: &[Line],
        rest: &[u32],
        last: Option<u32>,
        fits: impl Fn(u32, usize) -> bool,
    ) -> (usize, u32) {
        let places = std::iter::successors(last, |&place| self.lines[place as usize].before.map(NonZero::get));
        let mut best = (0, 0);
        for place in places.take(MAX_TRIES) {
            let seen = self.lines[place as usize..].iter().zip(place as usize..);
            let is_next = |&(&at, (seen, place)): &(&u32, (&Shown, usize))| {
                lines[at as usize].slot == seen.slot && fits(at, place)
            };
            let n = rest.iter().zip(seen).take_while(is_next).count();
            if n > best.0 {
                best = (n, place);
            }
        }
        best
    }

    fn text_at(&self, place: u32) -> Place {
        let behind = self.texts.partition_point(|&(first, _)| first <= place);
        self.texts[behind - 1].1
    }
}

/// The number in front of a line; of two with the same bare text it says whether they have the same.
fn number(bytes: &[u8], from: u32, to: u32) -> &[u8] {
    let text = bytes[from as usize..to as usize].trim_ascii_start();
    &text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()]
}

/// True when two lines with the same bare text have the same indentation and sign. Behind the number that a viewer puts in front
/// may stand one more blank.
fn is_same(bytes: &[u8], line: &Line, &Shown { from, to, .. }: &Shown) -> bool {
    let of = |line: &Line| {
        let before = &bytes[line.from as usize..line.bare(bytes).0];
        let sign = before.trim_ascii_end();
        (sign, before.len() - sign.len())
    };
    let (sign, indent) = of(line);
    let (number, shown) = of(&Line { from, to, ..*line });
    sign.is_empty() && !number.contains(&b'-') && (shown == indent || !number.is_empty() && shown == indent + 1)
}
