//! The order in which what is shown gives way to a budget: kinds of it, one after the other, and of each kind the oldest
//! first. Every level of it shows a part of what the one before shows, so that a larger budget never shows less. Knows units
//! and why they stay; refuses to know tokens.

use super::units::{Units, state};

/// What gives way, the first first. What the walk does not write, answers and words, is in it for those who do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Yield {
    /// What nothing uses in messages in which hiding it saves little.
    Little,
    /// Lines that tell what is in a text.
    Fillers,
    /// What tells what a text was, but for how it ended.
    Skeleton,
    /// What is used, by the message that uses it last.
    Pins,
    /// Pasted material: what is used of it, and how it begins and ends; of the first words of a person what is no sentence.
    Pasted,
    /// Lines of long arguments of calls that earlier texts show.
    Arguments,
    /// What the assistant says.
    Answers,
    /// What a person says, the task last.
    Words,
    /// The recent messages, which from then on show what is used of them and what they were.
    Recent,
    /// All that is left of a text but for how it ended.
    Rest,
}

/// All kinds in their order.
const YIELDS: [Yield; 10] = [
    Yield::Little,
    Yield::Fillers,
    Yield::Skeleton,
    Yield::Pins,
    Yield::Pasted,
    Yield::Arguments,
    Yield::Answers,
    Yield::Words,
    Yield::Recent,
    Yield::Rest,
];

/// Worths are below this. A threshold beyond it says how far the order of kinds was followed, too.
pub const MOST_WORTH: u32 = 1 << 16;
/// The threshold at which all has given way that may.
pub const LAST_THRESHOLD: u32 = 2 * MOST_WORTH;

/// How far the order was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    /// What is likely to be used stays from this worth on.
    worth: u32,
    kind: Yield,
    before: usize,
}

impl Default for Level {
    fn default() -> Self {
        Self::NOTHING
    }
}

impl Level {
    /// Nothing has given way.
    pub const NOTHING: Self = Self { worth: 0, kind: Yield::Little, before: 0 };

    /// The level of a conversation of so many messages at a threshold that holds for several: up to [`MOST_WORTH`] what is worth
    /// less has given way, and from there to [`LAST_THRESHOLD`] the same share of each conversation's levels.
    #[must_use]
    pub fn at(threshold: u32, n_messages: usize) -> Self {
        let beyond = threshold.saturating_sub(MOST_WORTH).min(MOST_WORTH) as usize;
        let number = (Self::count(n_messages) * beyond).div_ceil(MOST_WORTH as usize);
        Self { worth: threshold.clamp(1, MOST_WORTH), ..Self::nth(number, n_messages) }
    }

    /// The same level, from this worth on.
    #[must_use]
    pub fn from_worth(self, worth: u32) -> Self {
        Self { worth, ..self }
    }

    /// The worth from which what is likely to be used stays.
    #[must_use]
    pub fn worth(self) -> u32 {
        self.worth
    }

    /// True when of no kind anything has given way, whatever is likely to be used.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.kind == Yield::Little && self.before == 0
    }

    /// How many levels there are behind the one at which nothing has given way.
    #[must_use]
    pub fn count(n_messages: usize) -> usize {
        YIELDS.len() * n_messages
    }

    /// Level `number` of a conversation of so many messages; at level 0 nothing has given way, and of each kind one message
    /// after the other does.
    #[must_use]
    pub fn nth(number: usize, n_messages: usize) -> Self {
        let Some(at) = number.checked_sub(1).filter(|_| n_messages > 0) else { return Self::NOTHING };
        let kind = YIELDS[(at / n_messages).min(YIELDS.len() - 1)];
        Self { worth: MOST_WORTH, kind, before: at % n_messages + 1 }
    }

    /// How many levels there are behind this one.
    #[must_use]
    pub fn count_behind(self, n_messages: usize) -> usize {
        self.worths_behind() + Self::count(n_messages)
    }

    /// Level `number` behind this one: at first less and less stays that is likely to be used, then kind after kind gives way.
    #[must_use]
    pub fn nth_behind(self, number: usize, n_messages: usize) -> Self {
        match number.checked_sub(self.worths_behind()) {
            None => self.from_worth(self.worth + number as u32),
            Some(number) => self.max(Self::nth(number, n_messages).from_worth(self.worth.max(MOST_WORTH))),
        }
    }

    /// Where nothing but what is used decides, there are no worths.
    fn worths_behind(self) -> usize {
        if self == Self::NOTHING { 0 } else { MOST_WORTH.saturating_sub(self.worth) as usize }
    }

    /// True when a kind has given way in a message; of [`Yield::Pins`] when what that message was the last to use has.
    #[must_use]
    pub fn takes(self, kind: Yield, message: usize) -> bool {
        kind < self.kind || kind == self.kind && message < self.before
    }
}

/// Whose text gives way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whose {
    /// Index of the message.
    pub(super) message: usize,
    /// A person has pasted it.
    pub(super) is_pasted: bool,
    /// It is one of the recent messages.
    pub(super) is_recent: bool,
}

/// Takes from the units what has given way at `level`; `because` are units and the last message that uses something of
/// them.
pub(super) fn give_way(units: &mut Units, whose: Whose, because: impl Iterator<Item = (u32, u32)>, level: Level) {
    let takes = |kind: Yield| level.takes(kind, whose.message);
    let takes_pins = match whose {
        Whose { is_recent: true, .. } => takes(Yield::Rest),
        Whose { is_pasted: true, .. } => takes(Yield::Pasted),
        _ => false,
    };
    let goes_by_use = !whose.is_recent && !whose.is_pasted;
    let takes_skeleton = if goes_by_use { takes(Yield::Skeleton) } else { takes_pins };
    let mut gone = 0;
    for (takes, bits) in [
        (takes(Yield::Fillers), state::FILLER | state::DISTRACTOR),
        (takes_skeleton, state::SKELETON),
        (takes_pins, state::PIN),
        (level.takes(Yield::Recent, 0), state::OWN),
    ] {
        gone |= if takes { bits } else { 0 };
    }
    let units = &mut units.units;
    if goes_by_use {
        for unit in units.iter_mut() {
            unit.state &= !state::PIN;
        }
    }
    for (unit, last_use) in because {
        if !goes_by_use || !level.takes(Yield::Pins, last_use as usize) {
            units[unit as usize].state |= state::PIN;
        }
    }
    for unit in units {
        // How something ended never goes.
        let ended = if unit.state & state::OUTCOME == 0 { 0 } else { state::OUTCOME | state::SKELETON };
        unit.state = unit.state & !gone | ended;
        // What is to be whole is no reason to stay.
        unit.state &= if unit.state == state::WHOLE { 0 } else { u8::MAX };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_takes_what_the_one_before_takes() {
        let taken = |number| {
            let level = Level::nth(number, 7);
            YIELDS
                .iter()
                .flat_map(move |&kind| (0..7).map(move |message| level.takes(kind, message)))
                .collect::<Vec<_>>()
        };
        for number in 0..=Level::count(7) {
            assert_eq!(taken(number).iter().filter(|&&is_taken| is_taken).count(), number);
            assert!(number == 0 || taken(number - 1).iter().zip(taken(number)).all(|(&before, now)| !before || now));
        }
        assert_eq!(Level::nth(3, 0), Level::NOTHING);
    }
}
