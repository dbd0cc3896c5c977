//! How long a summary may be.

use super::spoken::{Spoken, Voice};
use crate::model::CompressionDepth;
use crate::text::TextView;

/// How short a summary is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// How much of a text its summary takes; `Auto` reads as gentle.
    pub depth: CompressionDepth,
    /// Share of the usual budget.
    pub share: f64,
}

impl Style {
    /// The usual budget at `depth`.
    #[must_use]
    pub fn new(depth: CompressionDepth) -> Self {
        Self { depth, share: 1.0 }
    }

    /// True for the budget that a summary has when no token budget presses.
    pub(super) fn is_usual(self) -> bool {
        self.factor().is_none()
    }

    /// A usual budget at this style.
    pub(super) fn of(self, budget: usize) -> usize {
        self.factor().map_or(budget, |(factor, least)| (budget as f64 * factor).max(least).round() as usize)
    }

    /// What the budget at this depth is multiplied with, and the least that comes of it.
    fn factor(self) -> Option<(f64, f64)> {
        let (factor, least) = match self.depth {
            CompressionDepth::Gentle | CompressionDepth::Auto if self.share >= 1.0 => return None,
            CompressionDepth::Gentle | CompressionDepth::Auto => (1.0, MIN_CHARS),
            CompressionDepth::Moderate => (MODERATE, MIN_CHARS),
            CompressionDepth::Aggressive => (AGGRESSIVE, MIN_AGGRESSIVE_CHARS),
        };
        Some((factor * self.share, least.min(MIN_TIGHT_CHARS.max(least * self.share))))
    }
}

/// Share of the text that a summary of sparse talk gets.
const SPARSE_SHARE: f64 = 0.15;
/// What facts can add: 0.15 + 0.30 is the documented 45 % for dense text.
const DENSE_BONUS: f64 = 0.30;
/// Distinct facts per character from which a text is dense: one in sixty characters. The documented
/// formula saturates at one identifier in 800; with facts of all kinds nearly every text would be dense.
const DENSE: f64 = 1.0 / 60.0;
/// No summary is pressed below 100 characters, nor below 60 % of the text up to 200: in a message of two or three
/// sentences each one may be the one that matters.
const MIN_CHARS: f64 = 100.0;
const SHORT_SHARE: f64 = 0.60;
const MAX_MIN_CHARS: f64 = 200.0;
/// The cap up to `LONG_TEXT`; beyond, it grows with the logarithm, 450 characters for every tenfold.
const MAX_CHARS: f64 = 800.0;
const LONG_TEXT: f64 = 5_000.0;
const GROWTH: f64 = 450.0;
/// What opens a conversation is read with every later message: it gets half as much again, up to this share of it.
const TASK_BONUS: f64 = 1.5;
const MAX_TASK_SHARE: f64 = 0.60;
/// The documented multipliers of the depths, and the least that a summary gets there.
const MODERATE: f64 = 0.5;
const AGGRESSIVE: f64 = 0.15;
const MIN_AGGRESSIVE_CHARS: f64 = 40.0;
/// A tightened summary is not pressed below this.
const MIN_TIGHT_CHARS: f64 = 80.0;

/// Characters that the summary of a text may take: between 15 % and 45 % of it by the density of its facts, at
/// least 100 to 200, at most 800 (more for texts of over 5,000 characters).
#[must_use]
pub fn budget(n_chars: usize, n_facts: usize) -> usize {
    let length = n_chars as f64;
    let share = share(n_facts, length);
    let cap = if length > LONG_TEXT { MAX_CHARS + GROWTH * (length / LONG_TEXT).log10() } else { MAX_CHARS };
    let least = (length * SHORT_SHARE).clamp(MIN_CHARS, MAX_MIN_CHARS);
    (length * share).min(cap).max(least).round() as usize
}

/// Of a text of this length, by its facts.
fn share(n_facts: usize, length: f64) -> f64 {
    let density = if length == 0.0 { 0.0 } else { n_facts as f64 / length };
    SPARSE_SHARE + DENSE_BONUS * (density / DENSE).min(1.0)
}

/// The budget of one text, whoever says it.
pub(super) fn budget_of_view(view: &TextView<'_>) -> usize {
    let n_facts = view.facts.iter().filter(|fact| fact.kind.is_precise()).count();
    budget(view.counts.chars as usize, n_facts)
}

/// Characters that the summary of `spoken` may take.
#[must_use]
pub fn budget_of(spoken: &Spoken<'_>, style: Style) -> usize {
    let budget = budget_of_view(&spoken.view);
    if style.factor().is_some() {
        return style.of(budget);
    }
    let most = f64::from(spoken.view.counts.chars) * MAX_TASK_SHARE;
    if spoken.voice == Voice::Task { budget.max((budget as f64 * TASK_BONUS).min(most) as usize) } else { budget }
}

/// What turns get of it: a sentence of talk says less, and is understood by those around it.
const TALK: f64 = 2.0;

/// Characters that what is chosen of neighbouring turns of several speakers may take: between 15 % and 45 % of them by the
/// density of their facts. A turn of three words is not told for being one.
#[must_use]
pub fn talk_budget(texts: &[Spoken<'_>], style: Style) -> usize {
    let n_chars: f64 = texts.iter().map(|spoken| f64::from(spoken.view.counts.chars)).sum();
    let n_facts = texts.iter().flat_map(|spoken| spoken.view.facts).filter(|fact| fact.kind.is_precise()).count();
    style.of((n_chars * share(n_facts, n_chars) * TALK).max(MIN_CHARS) as usize)
}

/// Who asks for a gentle summary of a conversation gets so much of the usual budget, and of that of turns.
const GENTLE: f64 = 1.75;
const GENTLE_TALK: f64 = 1.25;

/// Characters that the sentences of a conversation may take which are chosen together, where `asked` is the depth that was
/// asked for.
#[must_use]
pub fn total_budget(texts: &[Spoken<'_>], style: Style, asked: CompressionDepth) -> usize {
    let (turns, others): (Vec<Spoken<'_>>, Vec<Spoken<'_>>) =
        texts.iter().copied().partition(|spoken: &Spoken<'_>| spoken.hints.speaker.is_some());
    let of_turns = if turns.is_empty() { 0 } else { talk_budget(&turns, style) };
    let of_others: usize = others.iter().map(|spoken| budget_of(spoken, style)).sum();
    let is_gentle = asked == CompressionDepth::Gentle && style.is_usual();
    let factors = if is_gentle { [GENTLE, GENTLE_TALK] } else { [1.0, 1.0] };
    (of_others as f64 * factors[0] + of_turns as f64 * factors[1]) as usize
}

#[cfg(test)]
mod tests {
    use super::budget;

    #[test]
    fn dense_texts_get_up_to_45_percent_and_sparse_ones_15() {
        assert_eq!(budget(2_000, 0), 300);
        assert_eq!(budget(1_000, 1_000), 450);
        assert_eq!(budget(150, 0), 100);
        assert_eq!(budget(250, 0), 150);
        assert_eq!(budget(1_000, 0), 200);
        assert_eq!(budget(5_000, 1_000), 800);
        assert_eq!(budget(50_000, 10_000), 1_250);
    }
}
