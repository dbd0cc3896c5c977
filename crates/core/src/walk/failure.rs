//! The failure of a command: whether its output speaks of one, and which lines say why. Knows lines and what they say; refuses
//! to know what else stays.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::looks::{first_word, has_place, reports, template};
use super::skeleton::Of;
use super::uses::{Line, says};

/// Error lines, bytes of one, lines around each, last lines.
const MAX_ERRORS: usize = 10;
const MAX_ERROR: u32 = 600;
const AROUND: usize = 2;
const LAST: usize = 7;
/// Lines that begin with one word, from which they are steps.
const MIN_STEPS: usize = 10;
/// Words with which frames of a traceback begin.
const FRAMES: [&[u8]; 4] = [b"File", b"at", b"in", b""];
/// Lines at the end in which a word of failing counts.
const TAIL: usize = 12;
const TAIL_SOLID: usize = 3;
const MAX_TAIL: u32 = 200;
/// Bytes at both ends of a text in which an exit status counts.
const ENDS: u32 = 400;

/// What tells of a failure.
#[derive(Debug)]
pub(super) struct Failure {
    /// Lines that say what went wrong.
    pub(super) errors: Vec<usize>,
    /// These, those around them and the last ones.
    pub(super) lines: Vec<usize>,
}

impl Of<'_> {
    /// What tells of a failure among the first `n` lines, where there is one.
    pub(super) fn failure(&self, n: usize) -> Option<Failure> {
        if !self.has_failed() {
            return None;
        }
        let (errors, steps) = (self.errors(), self.steps());
        let is_own = |at: &usize| errors.contains(at) || !steps.contains(&first_word(self.text(*at)));
        let around = |&at: &usize| at.saturating_sub(AROUND)..(at + AROUND + 1).min(n);
        let reasons = errors.iter().filter_map(|&at| self.reason_under(at));
        let last = (0..n).rev().filter(|&at| self.tells(at)).take(LAST);
        let lines = errors.iter().flat_map(around).chain(last).filter(is_own).chain(reasons).collect();
        Some(Failure { errors, lines })
    }

    /// The last place that a test names beneath the line that says that it failed: `    a_test.go:12: want 3`.
    fn reason_under(&self, at: usize) -> Option<usize> {
        if !self.text(at).trim_ascii_start().starts_with(b"--- FAIL") {
            return None;
        }
        let is_beneath = |&at: &usize| self.text(at).first().is_none_or(u8::is_ascii_whitespace);
        let is_other = |&at: &usize| self.text(at).trim_ascii_start().starts_with(b"--- ");
        let block = (at + 1..self.lines.len()).take_while(|at| is_beneath(at) && !is_other(at));
        block.filter(|&at| self.len(at) < MAX_ERROR && has_place(self.text(at))).last()
    }

    /// A command has failed by its status, or when its last lines say so.
    fn has_failed(&self) -> bool {
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else { return false };
        let at_end = |line: &Line| line.from < first.from + ENDS || line.from + ENDS > last.to;
        let mut all = 0..self.lines.len();
        let by_line =
            |at: usize| self.says(at, says::FAILURE) || self.says(at, says::BAD_EXIT) && at_end(&self.lines[at]);
        let tail = (0..self.lines.len()).rev().take(TAIL).filter(|&at| self.lines[at].len > 0).take(TAIL_SOLID);
        let mut tail = tail.filter(|&at| self.len(at) < MAX_TAIL);
        !self.is_file && (all.any(by_line) || tail.any(|at| self.says(at, says::FAILED)))
    }

    /// Words with which so many lines begin that one more tells nothing: `Compiling`, `ok`.
    fn steps(&self) -> Vec<&[u8]> {
        let mut counts: HashMap<&[u8], usize, FixedState> = HashMap::default();
        for at in (0..self.lines.len()).filter(|&at| self.lines[at].len > 0) {
            *counts.entry(first_word(self.text(at))).or_default() += 1;
        }
        counts.retain(|word, n| *n >= MIN_STEPS && !FRAMES.contains(word));
        counts.into_keys().collect()
    }

    /// Lines that say what went wrong, one of each template: those that say so for sure, those with a word for it and
    /// reports of a place, those with a place.
    fn errors(&self) -> Vec<usize> {
        let (mut found, mut templates) = (Vec::new(), Vec::new());
        let is_sure = |at: usize| {
            let is_error = self.says(at, says::ERROR);
            self.says(at, says::FAILURE) || is_error && (has_place(self.text(at)) || self.says(at, says::OUTCOME))
        };
        let tells = |at: usize, rank: usize| match rank {
            0 => is_sure(at),
            1 => self.says(at, says::ERROR) || reports(self.text(at)),
            _ => has_place(self.text(at)),
        };
        let may_tell = |at: &usize| self.len(*at) < MAX_ERROR && self.lines[*at].len > 0;
        for rank in 0..3 {
            for at in (0..self.lines.len()).filter(may_tell) {
                if found.len() == MAX_ERRORS {
                    return found;
                }
                if tells(at, rank) && !found.contains(&at) {
                    let template = template(self.text(at));
                    if !templates.contains(&template) {
                        templates.push(template);
                        found.push(at);
                    }
                }
            }
        }
        found
    }
}
