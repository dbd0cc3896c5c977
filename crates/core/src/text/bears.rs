//! What a sentence does to the talk that it stands in, as data. Knows no words.

/// What a sentence does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bearing {
    /// It announces what others say, or rates without a reason.
    pub is_empty: bool,
    /// Somebody will do something by a time, or all agree.
    pub settles: bool,
    /// It names a choice as the one to take.
    pub chooses: bool,
    /// What its number words weigh: one for any, two for a share ("three of the five").
    pub numbers: u8,
    /// What it speaks of stands before it.
    pub points_back: Option<Pointer>,
    /// It names what can be chosen.
    pub offers: bool,
    /// "The second …" is 2; 0 for none.
    pub ordinal: u8,
}

/// What a sentence points back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// The first, second or third of what was named.
    Nth(u8),
    /// Two things.
    Both,
    /// What was named last.
    Last,
}
