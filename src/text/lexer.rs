//! PLACEHOLDER being written.

use super::lexed::{Cue, Fact, Fence, Lexed, Line, TextView, Unit};

/// Lexes texts into an arena that is reused from conversation to conversation.
#[derive(Debug, Default)]
pub struct Lexer {
    lines: Vec<Line>,
    units: Vec<Unit>,
    facts: Vec<Fact>,
    cues: Vec<Cue>,
    fences: Vec<Fence>,
}

impl Lexer {
    /// Forgets all texts and keeps the memory.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.units.clear();
        self.facts.clear();
        self.cues.clear();
        self.fences.clear();
    }
    /// One pass over `text`; the findings stay in the arena until `clear`.
    pub fn lex(&mut self, text: &str) -> Lexed {
        let _ = text;
        Lexed::default()
    }
    /// The findings of a `lex` call together with its text.
    #[must_use]
    pub fn view<'a>(&'a self, text: &'a str, lexed: &Lexed) -> TextView<'a> {
        fn part<'v, T>(all: &'v [T], range: &std::ops::Range<u32>) -> &'v [T] {
            all.get(range.start as usize..range.end as usize).unwrap_or_default()
        }
        TextView {
            text,
            lines: part(&self.lines, &lexed.lines),
            units: part(&self.units, &lexed.units),
            facts: part(&self.facts, &lexed.facts),
            cues: part(&self.cues, &lexed.cues),
            fences: part(&self.fences, &lexed.fences),
            counts: lexed.counts,
        }
    }
}

/// A 64-bit hash of `text` with ASCII case folded; the same on every machine.
#[must_use]
pub fn fold_key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
    })
}
