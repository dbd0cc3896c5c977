//! What is shown of a text whose units are marked, and what of that is left when something gives way to a budget. Both are drawn
//! then: what later texts may refer to is what is left, and what else becomes of them is as without a budget. Knows units and
//! levels; refuses to know why a unit is marked.

use super::draw::Draw;
use super::formats::{Format, LineRole, Lines};
use super::heads;
use super::marks::{Mark, Piece};
use super::order::{Level, Whose, give_way};
use super::pins::Span;
use super::said::Said;
use super::skeleton::Of;
use super::units::{LONG, Unit, Units, state};

/// What is shown of a text.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) pieces: Vec<Piece>,
    /// Which of its lines are shown whole when nothing gives way, and which are.
    pub(super) lines: Vec<(bool, bool)>,
    /// The pieces when nothing gives way, where something does.
    pub(super) all: Option<Vec<Piece>>,
    /// The states of its units when nothing gives way, where something does.
    pub(super) stood: Vec<u8>,
}

/// A text that is to be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight<'t> {
    pub(super) of: Of<'t>,
    /// Places in long units that stay.
    pub(super) spans: &'t [Span],
    pub(super) format: Format,
    /// What its lines are to each other; of a text that is JSON nothing.
    pub(super) roles: &'t [LineRole],
}

impl Sight<'_> {
    /// What is shown when nothing gives way.
    pub(super) fn whole(&self, units: &mut Units, bounds: (usize, usize)) -> Shown {
        let (pieces, is_shown) = self.draw(units, self.of.said, bounds);
        let is_shown = is_shown.into_iter().map(|is_shown| (is_shown, is_shown)).collect();
        Shown { pieces, lines: is_shown, all: None, stood: Vec::new() }
    }

    /// What is shown of what was guessed: everything that stood before counts as said, and what is left of it can be referred to.
    pub(super) fn guessed(&self, units: &mut Units, bounds: (usize, usize)) -> Shown {
        // JSON is never replaced as a whole: its head may be all that is shown of it where what it repeats is not.
        let is_said = !units.is_document;
        let left = |said: &Option<Said>| said.filter(|_| is_said).map(Said::left);
        let (pieces, is_shown) = self.draw(units, &self.of.said.iter().map(left).collect::<Vec<_>>(), bounds);
        let is_shown = is_shown.into_iter().map(|is_shown| (true, is_shown)).collect();
        Shown { pieces, lines: is_shown, all: None, stood: Vec::new() }
    }

    /// What is shown with what is likely to be used beside it, which `choose` marks, with its places in long units: what becomes of
    /// later texts does not depend on that.
    pub(super) fn filled(
        &self,
        units: &mut Units,
        bounds: (usize, usize),
        choose: impl FnOnce(&mut Units) -> Vec<Span>,
    ) -> Shown {
        let before: Vec<u8> = states(units).collect();
        let (all, is_visible) = self.draw(units, self.of.said, bounds);
        for (unit, state) in units.units.iter_mut().zip(before) {
            unit.state = state;
        }
        let mut spans = choose(units);
        spans.extend_from_slice(self.spans);
        spans.sort_unstable();
        self.of.join_frames(units);
        drop(heads::mark(units, self.roles));
        let said: Vec<Option<Said>> = self.of.said.iter().map(|said| said.map(Said::left)).collect();
        let sight = Sight { spans: &spans, ..*self };
        let (pieces, is_left) = sight.draw(units, &said, bounds);
        Shown { pieces, lines: is_visible.into_iter().zip(is_left).collect(), all: Some(all), stood: Vec::new() }
    }

    /// What is left at a level; whose text it is, and whether it is the task; `because` are units and the last message that
    /// uses something of them.
    pub(super) fn left(
        &self,
        units: &mut Units,
        bounds: (usize, usize),
        (whose, is_task, level): (Whose, bool, Level),
        because: impl Iterator<Item = (u32, u32)>,
    ) -> Shown {
        if whose.is_pasted {
            self.of.mark_own(units, is_task);
        }
        let before: Vec<u8> = states(units).collect();
        let (all, is_visible) = self.draw(units, self.of.said, bounds);
        let stood: Vec<u8> = states(units).collect();
        let said: Vec<Option<Said>> = self.of.said.iter().map(|said| said.map(Said::left)).collect();
        // What was said before as a whole is not told in parts where that has given way.
        if let [Piece::Mark(Mark::Value { by, .. })] = all[..] {
            let is_visible = said.iter().flatten().all(|said| said.is_visible);
            let pieces = vec![Piece::Mark(Mark::Value { by, is_visible })];
            let lines = vec![(false, false); said.len()];
            return Shown { pieces, lines, all: Some(all), stood };
        }
        for (unit, state) in units.units.iter_mut().zip(before) {
            unit.state = state;
        }
        give_way(units, whose, because, level);
        self.of.join_frames(units);
        drop(heads::mark(units, self.roles));
        for (unit, &stood) in units.units.iter_mut().zip(&stood) {
            // What was the head of nothing is none now.
            unit.state &= if stood == 0 { 0 } else { u8::MAX };
        }
        let (pieces, is_left) = self.draw(units, &said, bounds);
        Shown { pieces, lines: is_visible.into_iter().zip(is_left).collect(), all: Some(all), stood }
    }

    /// The pieces of a text, and which of its lines are shown whole.
    fn draw(&self, units: &mut Units, said: &[Option<Said>], bounds: (usize, usize)) -> (Vec<Piece>, Vec<bool>) {
        let Of { bytes, lines, .. } = self.of;
        let pieces = Draw::new(Lines { bytes, lines }, self.format, said, units, self.spans).draw(bounds);
        if units.is_document {
            return (pieces, vec![false; lines.len()]);
        }
        let is_whole = |at: usize| {
            let unit = &units.units[units.first[at] as usize];
            let is_uncut = lines[at].to - lines[at].from <= LONG || unit.state & state::WHOLE != 0;
            is_uncut && unit.is_shown() && units.verdict_of(bytes, &lines[at], at).is_none()
        };
        let is_shown = (0..lines.len()).map(is_whole).collect();
        (pieces, is_shown)
    }
}

fn states(units: &Units) -> impl Iterator<Item = u8> {
    units.units.iter().map(|unit: &Unit| unit.state)
}
