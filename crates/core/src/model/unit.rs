//! Why stretches of a text are shown or hidden, where use decides. The names are part of the published tables.

use std::ops::AddAssign;

use serde::Serialize;

use super::named::named;

named! {
    /// Why a unit of a text, a line or a member of JSON, is shown or hidden.
    #[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
    pub enum UnitReason {
        /// Shown: something after it uses what it says, and nothing before it shows that.
        Pin = "pin",
        /// Shown: the next turns may use what it says, and nothing else shows that.
        Likely = "likely",
        /// Shown: it tells what the whole was.
        Skeleton = "skeleton",
        /// Shown: it tells what is in the text, and there was room.
        Filler = "filler",
        /// Shown: nothing uses it, and it stays so that what is visible is not always what is needed.
        Distractor = "distractor",
        /// Shown: it is shorter than a mark, or belongs to a record of which something is shown.
        Bridge = "bridge",
        /// Hidden: it would be shown, and has given way to a budget.
        Budget = "budget",
        /// Hidden: an earlier message has it.
        SaidBefore = "said_before",
        /// Hidden: nothing after it uses it.
        Unused = "unused",
    }
}

/// How many units of a message are shown or hidden, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UnitCounts {
    /// [`UnitReason::Pin`].
    pub pin: u32,
    /// [`UnitReason::Likely`].
    pub likely: u32,
    /// [`UnitReason::Skeleton`].
    pub skeleton: u32,
    /// [`UnitReason::Filler`].
    pub filler: u32,
    /// [`UnitReason::Distractor`].
    pub distractor: u32,
    /// [`UnitReason::Bridge`].
    pub bridge: u32,
    /// [`UnitReason::Budget`].
    pub budget: u32,
    /// [`UnitReason::SaidBefore`].
    pub said_before: u32,
    /// [`UnitReason::Unused`].
    pub unused: u32,
}

/// Neighbouring units of a text that are shown or hidden for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UnitNote {
    /// Index of the text among the parts of its message.
    pub part: usize,
    /// Their first and last line, from 1.
    pub lines: (usize, usize),
    /// Their first byte in the text, and the one behind the last.
    pub bytes: (usize, usize),
    /// Why.
    pub reason: UnitReason,
    /// For a pin: the last message that uses it, and what it uses.
    pub used_by: Option<(usize, String)>,
    /// For what was said before: the message that has it.
    pub said_by: Option<usize>,
}

impl UnitCounts {
    /// Counts `n` more.
    pub fn add(&mut self, reason: UnitReason, n: u32) {
        *match reason {
            UnitReason::Pin => &mut self.pin,
            UnitReason::Likely => &mut self.likely,
            UnitReason::Skeleton => &mut self.skeleton,
            UnitReason::Filler => &mut self.filler,
            UnitReason::Distractor => &mut self.distractor,
            UnitReason::Bridge => &mut self.bridge,
            UnitReason::Budget => &mut self.budget,
            UnitReason::SaidBefore => &mut self.said_before,
            UnitReason::Unused => &mut self.unused,
        } += n;
    }
}

impl AddAssign for UnitCounts {
    fn add_assign(&mut self, other: Self) {
        self.pin += other.pin;
        self.likely += other.likely;
        self.skeleton += other.skeleton;
        self.filler += other.filler;
        self.distractor += other.distractor;
        self.bridge += other.bridge;
        self.budget += other.budget;
        self.said_before += other.said_before;
        self.unused += other.unused;
    }
}
