//! Chains of formal reasoning: proofs, derivations, numbered inferences. An essay that says "first", "second"
//! and "therefore" is none. Knows nothing else.

use crate::text::bytes::{after_folded, after_one_of, from, run, skip_blanks, starts_word};
use crate::text::words::word_list;

/// In a longer text a closing mark alone is a figure of speech.
const LONG: usize = 2_000;

/// What the lines of a text begin with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    /// `Proof:`, `Reasoning:`
    labels: usize,
    /// `Step 1:`, `1.`, `(1)`
    numbered: usize,
    /// Steps with an equation or an inference.
    derivations: usize,
}

impl Steps {
    /// Looks at one line without its indentation.
    pub(super) fn add(&mut self, line: &[u8]) {
        match line.first() {
            Some(b'0'..=b'9' | b'(' | b'*' | b'#' | b'S' | b's') => {
                if let Some(rest) = step(line) {
                    self.numbered += 1;
                    self.derivations += usize::from(is_derivation(rest));
                } else {
                    self.labels += usize::from(is_label(line));
                }
            }
            Some(b'P' | b'p' | b'R' | b'D' | b'C' | b'B' | b'I' | b'_') => self.labels += usize::from(is_label(line)),
            _ => {}
        }
    }
}

/// True when the lines, the closing marks (`QED`) and the phrases of `text` make a chain.
pub(super) fn is_chain(text: &[u8], lines: Steps, n_closings: usize) -> bool {
    let may_be_steps = lines.numbered >= 3 && lines.derivations * 2 >= lines.numbered;
    if lines.labels == 0 && !may_be_steps && n_closings == 0 {
        return false;
    }
    let count_one = |phrase: &&str| memchr::memmem::find_iter(text, phrase.as_bytes()).take(3).count();
    let n_formulas: usize = word_list!("reasoning", FORMULAS).iter().map(count_one).sum();
    let n_connectives: usize = word_list!("reasoning", CONNECTIVES).iter().map(count_one).sum();
    if lines.labels > 0 && (n_closings + n_formulas > 0 || n_connectives >= 2) {
        return true;
    }
    if lines.numbered >= 3
        && (n_closings > 0 || (n_connectives + n_formulas >= 1 && lines.derivations * 2 >= lines.numbered))
    {
        return true;
    }
    // Without labels or steps: a closing mark of a proof and an inference, close together.
    n_closings > 0 && (n_connectives + n_formulas >= 2 || lines.derivations > 0) && text.len() < LONG
}

/// A label of a proof with a colon or a full stop behind it.
fn is_label(line: &[u8]) -> bool {
    let line = from(line, run(line, |byte| matches!(byte, b'*' | b'#' | b' ' | b'_')));
    after_one_of(line, word_list!("reasoning", LABELS)).is_some_and(|rest| {
        let rest = from(rest, run(rest, |byte| matches!(byte, b'*' | b'_')));
        matches!(rest.first(), Some(b':' | b'.'))
    })
}

/// The rest of a line that begins as a numbered step does.
fn step(line: &[u8]) -> Option<&[u8]> {
    let line = from(line, run(line, |byte| matches!(byte, b'*' | b'#' | b' ' | b'(')));
    let line = after_folded(line, b"step ").unwrap_or(line);
    let digits = run(line, |byte| byte.is_ascii_digit());
    (1..=2).contains(&digits).then_some(())?;
    let rest = from(line, digits);
    matches!(rest.first(), Some(b'.' | b')' | b':')).then(|| from(rest, 1))
}

/// An equation, or a word of inference at its beginning.
fn is_derivation(rest: &[u8]) -> bool {
    let rest = skip_blanks(rest);
    after_one_of(rest, word_list!("reasoning", OPENERS)).is_some() || memchr::memmem::find(rest, b" = ").is_some()
}

/// True when the `length` bytes at `at` are no part of a longer word.
pub(super) fn is_whole_word(text: &[u8], at: usize, length: usize) -> bool {
    starts_word(text, at) && !text.get(at + length).is_some_and(u8::is_ascii_alphanumeric)
}
