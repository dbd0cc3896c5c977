//! Chains of formal reasoning: proofs, derivations, numbered inferences. An essay that says "first", "second"
//! and "therefore" is none. Knows nothing else.

use super::bytes::{after_folded, from, run, skip_blanks, starts_word};

/// Texts longer than this need more than one closing formula.
const LONG: usize = 2_000;

/// What speaks for a chain, counted over a text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chain {
    /// `QED`, `∎`, `Q.E.D.`, `∴`
    pub(super) closings: usize,
    /// `it follows that`, `we conclude that`, `by induction`, `modus tollens`, …
    pub(super) formulas: usize,
    /// `therefore`, `hence`, `thus`.
    pub(super) connectives: usize,
}

/// True when the counts and the beginnings of the lines make a chain.
pub(super) fn is_chain(text: &[u8], found: Chain) -> bool {
    let lines = Lines::of(text, found);
    let signals = found.closings + found.formulas;
    if lines.proofs > 0 && (signals > 0 || found.connectives >= 2) {
        return true;
    }
    if lines.steps >= 3
        && (found.closings > 0 || (found.connectives + found.formulas >= 1 && lines.derivations * 2 >= lines.steps))
    {
        return true;
    }
    // Without labels or steps: a closing mark of a proof and an inference, close together.
    found.closings > 0 && (found.connectives + found.formulas >= 2 || lines.derivations > 0) && text.len() < LONG
        || signals >= 3 && found.connectives >= 2 && text.len() < LONG
}

/// What the lines begin with.
#[derive(Debug, Clone, Copy, Default)]
struct Lines {
    /// `Proof:`, `Reasoning:`
    proofs: usize,
    /// `Step 1:`, `1.`, `(1)`
    steps: usize,
    /// Steps with an equation or an inference.
    derivations: usize,
}

impl Lines {
    fn of(text: &[u8], found: Chain) -> Self {
        let mut lines = Self::default();
        if found.closings + found.formulas + found.connectives == 0 {
            return lines;
        }
        for line in text.split(|&byte| byte == b'\n') {
            let line = skip_blanks(line);
            lines.proofs += usize::from(is_label(line));
            if let Some(rest) = step(line) {
                lines.steps += 1;
                lines.derivations += usize::from(is_derivation(rest));
            }
        }
        lines
    }
}

/// A label of a proof with a colon or a full stop behind it.
fn is_label(line: &[u8]) -> bool {
    const LABELS: [&[u8]; 7] =
        [b"proof", b"reasoning", b"derivation", b"chain of thought", b"step-by-step", b"base case", b"inductive step"];
    let line = from(line, run(line, |byte| matches!(byte, b'*' | b'#' | b' ' | b'_')));
    LABELS.iter().any(|label| {
        after_folded(line, label).is_some_and(|rest| {
            let rest = from(rest, run(rest, |byte| matches!(byte, b'*' | b'_')));
            matches!(rest.first(), Some(b':' | b'.'))
        })
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
    const OPENERS: [&[u8]; 9] =
        [b"therefore", b"hence", b"thus", b"suppose", b"assume", b"since ", b"so ", b"then ", b"this contradicts"];
    let rest = skip_blanks(rest);
    OPENERS.iter().any(|opener| after_folded(rest, opener).is_some()) || memchr::memmem::find(rest, b" = ").is_some()
}

/// Counts one match of a phrase at `at`; `phrase` is what `triggers` calls it.
pub(super) fn is_whole_word(text: &[u8], at: usize, length: usize) -> bool {
    starts_word(text, at) && !text.get(at + length).is_some_and(u8::is_ascii_alphanumeric)
}
