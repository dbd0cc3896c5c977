//! Pins: the cheapest units of a text that show every used value which nothing visible shows yet. Knows units and values;
//! refuses to know why a value is used.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::units::{LONG, Unit, Units, state};
use super::uses::{Found, Uses};
use super::worth::Stretch;

/// Bytes that a unit costs beside its own: a mark is split in two.
const OVERHEAD: u64 = 40;
/// Beside a unit that stays none is.
const BESIDE: u64 = 20;
/// Bytes of a window around a value in a long unit.
const WINDOW: u64 = 90;
const FIRST_WINDOW: u64 = 60;

/// Bytes on either side of a place in a long unit that stay with it.
pub(super) const AROUND: usize = 60;

/// A value in a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    unit: u32,
    value: u32,
    /// The unit that must stay with it, where a fact stands in two.
    with: u32,
}

/// A place in a long unit that must stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// What the pins of a text are found with; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Pins {
    needs: Vec<Need>,
    heap: BinaryHeap<(u64, Reverse<u32>, u32, u32)>,
    /// Per value and fact, the round in which it was covered last.
    covered: Vec<u32>,
    round: u32,
    /// Units, and what of them is used: a value, behind all values a fact, behind all facts the answer that speaks of it.
    pub(super) because: Vec<(u32, u32)>,
    /// Places in long units, in order.
    pub(super) spans: Vec<Span>,
}

impl Pins {
    pub(super) fn clear(&mut self, n_values: usize) {
        self.covered.clear();
        self.covered.resize(n_values, 0);
        self.round = 0;
    }

    /// Pins units of a text of `message`, for names and facts that are used, with `words` for ordinary words, too.
    pub(super) fn pin(&mut self, units: &mut Units, uses: &Uses, found: &Found, (message, words): (u32, bool)) {
        self.round += 1;
        self.needs.clear();
        self.spans.clear();
        self.because.clear();
        let n_values = uses.n_values() as u32;
        let is_used = |value: u32| uses.last_use(value) > message && (words || !uses.is_word(value));
        for hit in uses.hits(found).iter().filter(|hit| is_used(hit.value)) {
            let unit = units.at(hit.from);
            if hit.to <= units.units[unit].to {
                self.needs.push(Need { unit: unit as u32, value: hit.value, with: unit as u32 });
                if units.units[unit].len() > LONG {
                    self.spans.push(Span { from: hit.from, to: hit.to });
                }
            } else if std::mem::replace(&mut self.covered[hit.value as usize], u32::MAX) != u32::MAX {
                // A value over several units keeps them all.
                let last = units.at(hit.to - 1);
                for number in unit..=last {
                    units.units[number].state |= state::PIN;
                    self.because.push((number as u32, hit.value));
                }
                self.spans.push(Span { from: hit.from, to: hit.to });
            }
        }
        for fact in uses.facts(found).iter().filter(|fact| uses.last_telling(fact.fact) > message) {
            let (unit, with) = (units.at(fact.number), units.at(fact.subject));
            self.needs.push(Need { unit: unit as u32, value: n_values + fact.fact, with: with as u32 });
            for (unit, at) in [(unit, fact.number), (with, fact.subject)] {
                if units.units[unit].len() > LONG {
                    self.spans.push(Span { from: at, to: at + 1 });
                }
            }
        }
        self.needs.sort_unstable();
        self.needs.dedup();
        self.spans.sort_unstable();
        self.choose(units);
    }

    /// The greedy cover: most new values per byte first, ties to the earlier unit.
    fn choose(&mut self, units: &mut Units) {
        let needs = std::mem::take(&mut self.needs);
        self.heap.clear();
        let mut from = 0;
        for of_unit in needs.chunk_by(|a, b| a.unit == b.unit) {
            let to = from + of_unit.len();
            let unit = &units.units[of_unit[0].unit as usize];
            let is_whole = unit.len() <= LONG || unit.state & state::WHOLE != 0;
            if unit.is_shown() && is_whole || unit.state & state::PIN != 0 {
                self.cover(of_unit, units);
            }
            from = to;
        }
        from = 0;
        for of_unit in needs.chunk_by(|a, b| a.unit == b.unit) {
            let to = from + of_unit.len();
            let n_new = of_unit.iter().filter(|need| self.is_open(need.value)).count() as u64;
            if n_new > 0 {
                let gain = worth(units, of_unit[0].unit, n_new);
                self.heap.push((gain, Reverse(of_unit[0].unit), from as u32, to as u32));
            }
            from = to;
        }
        while let Some((gain, Reverse(number), from, to)) = self.heap.pop() {
            let of_unit = &needs[from as usize..to as usize];
            let n_new = of_unit.iter().filter(|need| self.is_open(need.value)).count() as u64;
            if n_new == 0 {
                continue;
            }
            let now = worth(units, number, n_new);
            if now < gain {
                self.heap.push((now, Reverse(number), from, to));
                continue;
            }
            units.units[number as usize].state |= state::PIN;
            self.cover(of_unit, units);
            // Beside a unit that stays another one costs less.
            for beside in [number.wrapping_sub(1), number + 1] {
                let from = needs.partition_point(|need| need.unit < beside);
                let n = needs[from..].iter().take_while(|need| need.unit == beside).count();
                let n_new = needs[from..from + n].iter().filter(|need| self.is_open(need.value)).count() as u64;
                if n_new > 0 {
                    let gain = worth(units, beside, n_new);
                    self.heap.push((gain, Reverse(beside), from as u32, (from + n) as u32));
                }
            }
        }
        self.needs = needs;
    }

    fn is_open(&self, value: u32) -> bool {
        self.covered[value as usize] != self.round
    }

    fn cover(&mut self, needs: &[Need], units: &mut Units) {
        for need in needs {
            if self.is_open(need.value) {
                units.units[need.with as usize].state |= state::PIN;
                self.because.push((need.with, need.value));
                if need.with != need.unit {
                    self.because.push((need.unit, need.value));
                }
                self.covered[need.value as usize] = self.round;
            }
        }
    }
}

/// Marks with `state` the units in which stretches stay that were chosen for what is likely to be used; gives their places in
/// long units.
pub(super) fn choose(units: &mut Units, stretches: impl Iterator<Item = Stretch>, state: u8) -> Vec<Span> {
    // Of a long unit that stays in any case the beginning does, whatever else is chosen of it.
    let beginning = |unit: &Unit| Span { from: unit.from, to: unit.from + 1 };
    let kept = units.units.iter().filter(|unit| unit.is_shown() && unit.len() > LONG);
    let mut spans: Vec<Span> = kept.map(beginning).collect();
    for Stretch { from, to, .. } in stretches.filter(|stretch| stretch.stays && stretch.from < stretch.to) {
        let first = units.at(from);
        let within = units.units[first..].iter_mut().take_while(|unit| unit.from < to);
        for unit in within.filter(|unit| unit.to > from) {
            unit.state |= state;
            if unit.len() > LONG {
                // A window grows around its place to what was chosen.
                let (from, to) = (from.max(unit.from), to.min(unit.to));
                let beside = (AROUND as u32).min((to - from - 1) / 2);
                spans.push(Span { from: from + beside, to: to - beside });
            }
        }
    }
    spans.sort_unstable();
    spans
}

/// New values per byte.
fn worth(units: &Units, number: u32, n_values: u64) -> u64 {
    let number = number as usize;
    let is_shown = |at: usize| units.units.get(at).is_some_and(Unit::is_shown);
    let overhead = if is_shown(number.wrapping_sub(1)) || is_shown(number + 1) { BESIDE } else { OVERHEAD };
    let n_bytes = u64::from(units.units[number].len()).min(FIRST_WINDOW + WINDOW * n_values) + overhead;
    (n_values << 32) / n_bytes
}
