//! A text together with what the lexer found in it, whole or in part. Knows spans; refuses to know how anything was
//! found.

use std::ops::Range;

use super::classes::byte_table;
use super::counts::n_chars;
use super::lexed::{CharCounts, Cue, Fact, Fence, Line, Span, Unit};

/// A text with everything that the lexer found in it, or a passage of one.
#[derive(Debug, Clone, Copy)]
pub struct TextView<'a> {
    /// The text that all spans refer to; of a passage, the whole text around it.
    pub text: &'a str,
    /// All lines.
    pub lines: &'a [Line],
    /// All units outside fences.
    pub units: &'a [Unit],
    /// All facts, also inside fences.
    pub facts: &'a [Fact],
    /// All cues outside fences.
    pub cues: &'a [Cue],
    /// All fenced blocks.
    pub fences: &'a [Fence],
    /// Counts over the whole text; of a passage, `chars` and `special` are its own, the others those of the text.
    pub counts: CharCounts,
    /// What is viewed: the whole text, or a passage.
    pub(crate) scope: Span,
    /// Where `facts` and `cues` begin among those that the ranges of units count from.
    pub(crate) first_fact: u32,
    /// See `first_fact`.
    pub(crate) first_cue: u32,
}

impl<'a> TextView<'a> {
    /// The text that is viewed.
    #[must_use]
    pub fn covered(&self) -> &'a str {
        self.scope.of(self.text)
    }
    /// The facts of a unit.
    #[must_use]
    pub fn facts_of(&self, unit: &Unit) -> &'a [Fact] {
        part(self.facts, &unit.facts, self.first_fact)
    }
    /// The facts of units that follow each other, and of what is between them.
    #[must_use]
    pub(crate) fn facts_of_all(&self, units: &[Unit]) -> &'a [Fact] {
        let (Some(first), Some(last)) = (units.first(), units.last()) else { return &[] };
        part(self.facts, &(first.facts.start..last.facts.end), self.first_fact)
    }
    /// The cues of a unit.
    #[must_use]
    pub fn cues_of(&self, unit: &Unit) -> &'a [Cue] {
        part(self.cues, &unit.cues, self.first_cue)
    }
    /// Before, between and behind the fenced blocks, in order: each stretch with the prose in it, without the white
    /// space at its ends. One more than there are fences; any may be empty.
    pub fn between_fences(&self) -> impl Iterator<Item = (Span, Span)> + use<'a> {
        let text = self.text;
        let last = Span { start: text.len() as u32, end: text.len() as u32 };
        let mut start = 0;
        self.fences.iter().map(|fence| fence.span).chain([last]).map(move |fence| {
            let stretch = Span { start, end: fence.start };
            start = fence.end;
            let inner = stretch.of(text);
            let prose = stretch.start + (inner.len() - inner.trim_start().len()) as u32;
            (stretch, Span { start: prose, end: prose + inner.trim().len() as u32 })
        })
    }
    /// The fenced blocks, each with its lines and facts.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Self> {
        self.fences.iter().map(move |fence| Self {
            lines: self.lines.get(within(self.lines, fence.span, |line| line.span)).unwrap_or_default(),
            facts: self.facts.get(within(self.facts, fence.span, |fact| fact.span)).unwrap_or_default(),
            units: &[],
            cues: &[],
            fences: &[],
            scope: fence.span,
            ..self
        })
    }
    /// What was found in a passage between fences.
    #[must_use]
    pub fn passage(&self, scope: Span) -> Self {
        let facts = within(self.facts, scope, |fact| fact.span);
        let cues = within(self.cues, scope, |cue| Span { start: cue.at, end: cue.at });
        let covered = scope.of(self.text);
        let special = covered.bytes().map(|byte| u32::from(SPECIAL[byte as usize])).sum();
        Self {
            text: self.text,
            lines: self.lines.get(within(self.lines, scope, |line| line.span)).unwrap_or_default(),
            units: self.units.get(within(self.units, scope, |unit| unit.span)).unwrap_or_default(),
            first_fact: self.first_fact + facts.start as u32,
            first_cue: self.first_cue + cues.start as u32,
            facts: self.facts.get(facts).unwrap_or_default(),
            cues: self.cues.get(cues).unwrap_or_default(),
            fences: &[],
            counts: CharCounts { chars: n_chars(covered) as u32, special, ..self.counts },
            scope,
        }
    }
}

/// 1 for the signs that `CharCounts::special` counts.
static SPECIAL: [u8; 256] = byte_table!(u8:
    b'#'..=b'&' | b'('..=b'+' | b':'..=b'>' | b'@' | b'['..=b'^' | b'`' | b'{'..=b'~' => 1,
    _ => 0,
);

/// Which of `all` begin in `scope`.
fn within<T>(all: &[T], scope: Span, span: impl Fn(&T) -> Span) -> Range<usize> {
    let start = all.partition_point(|one| span(one).start < scope.start);
    let end = all.partition_point(|one| span(one).start < scope.end);
    start..end.max(start)
}

fn part<'a, T>(all: &'a [T], range: &Range<u32>, first: u32) -> &'a [T] {
    let at = |index: u32| index.saturating_sub(first) as usize;
    all.get(at(range.start)..at(range.end)).unwrap_or_default()
}
