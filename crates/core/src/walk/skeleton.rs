//! The skeleton of a text: what tells a reader what it was. Its first and last line, exit status and totals; of a failure
//! the lines that say why. Knows lines and what they say; refuses to know formats.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::said::Said;
use super::units::{Unit, Units, state};
use super::uses::{Line, Uses, says};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<128>, "status_keys": ENDS_WITH);

/// Totals and statuses from the end.
const MAX_TOTALS: usize = 4;
const MAX_STATUS: u32 = 120;
const MAX_TOTAL: u32 = 300;
/// Of a failure: error lines, lines around each, last lines.
const MAX_ERRORS: usize = 10;
const MAX_ERROR: u32 = 400;
const AROUND: usize = 2;
const LAST: usize = 8;
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
/// Lines of a text whose first and last one stay also where they are visible elsewhere.
const FEW: usize = 3;
/// First and last lines of what a person pastes: more often than not they are his own words.
const PASTED: (usize, usize) = (6, 2);
/// Bytes of such a line that stays as a whole.
const MAX_OWN: u32 = 1_500;
/// Of a line that a person wrote: blanks at least, blanks in front, and per cent of letters and blanks.
const MIN_BLANKS: usize = 3;
const MAX_INDENT: usize = 4;
const MIN_LETTERS: usize = 88;

/// What is known of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<'t> {
    pub(super) bytes: &'t [u8],
    /// Its lines, and the number of the first of them in the text that is cut into units.
    pub(super) lines: &'t [Line],
    pub(super) first: usize,
    pub(super) said: &'t [Option<Said>],
    pub(super) uses: &'t Uses,
    /// The text of a file, which speaks of errors and has none.
    pub(super) is_file: bool,
    /// What a change of a file came to.
    pub(super) is_edit: bool,
    /// What a tool returns, not what a person says.
    pub(super) is_result: bool,
}

impl Of<'_> {
    fn text(&self, at: usize) -> &[u8] {
        &self.bytes[self.lines[at].from as usize..self.lines[at].to as usize]
    }

    fn len(&self, at: usize) -> u32 {
        self.lines[at].to - self.lines[at].from
    }

    fn says(&self, at: usize, what: u32) -> bool {
        self.lines[at].len > 0 && self.uses.says(self.lines[at].slot) & what != 0
    }

    /// Lines that say something: with a word, not put there by the harness, and no echo of what was asked for.
    fn tells(&self, at: usize) -> bool {
        let line = &self.lines[at];
        line.len > 1 && has_word(self.text(at)) && !is_envelope(self.text(at)) && !self.uses.is_asked(line.slot)
    }

    /// The same, and nothing visible says it.
    fn is_new(&self, at: usize) -> bool {
        self.tells(at) && (self.says(at, says::OUTCOME) || !self.uses.is_visible(self.lines[at].slot))
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

    /// The line in which an edit says that it was made, or why not. A long one may be a reference.
    fn verdict(&self) -> Option<usize> {
        let first = (0..self.lines.len()).filter(|_| self.is_edit).find(|&at| self.tells(at));
        first.filter(|&at| self.len(at) < MAX_STATUS)
    }

    /// Lines before a reminder of the harness at the end, of which there is always one.
    fn n_own(&self) -> usize {
        let n = self.lines.len();
        let last = (0..n).rev().find(|&at| self.lines[at].len > 0);
        let is_reminder = last.is_some_and(|at| self.text(at).trim_ascii_end().ends_with(b"</system-reminder>"));
        let begins = |&at: &usize| self.text(at).trim_ascii_start().starts_with(b"<system-reminder>");
        let begin = if is_reminder { (0..n).rev().find(begins) } else { None };
        begin.filter(|&at| at > 0).unwrap_or(n)
    }

    /// The lines that stay, and those of them that say how something ended.
    fn keep(&self, verdict: Option<usize>) -> (Vec<usize>, Vec<usize>) {
        let n = self.n_own();
        let mut telling = (0..n).filter(|&at| self.tells(at));
        let Some(first) = telling.next() else { return (Vec::new(), Vec::new()) };
        let second = telling.next().filter(|_| self.says(first, says::EXIT));
        let last = (first..n).rev().find(|&at| self.tells(at));
        let mut keep: Vec<usize> = [Some(first), second, last].into_iter().flatten().collect();
        if n > FEW {
            keep.retain(|&at| self.is_new(at) || verdict == Some(at));
        }
        let is_total = |&at: &usize| {
            let len = self.len(at);
            self.says(at, says::EXIT) && len < MAX_STATUS || self.says(at, says::TOTAL) && len < MAX_TOTAL
        };
        let mut ended: Vec<usize> = (0..n).rev().filter(is_total).take(MAX_TOTALS).collect();
        keep.extend(&ended);
        ended.extend(verdict);
        if self.has_failed() {
            let errors = self.errors();
            ended.extend(errors.iter().max());
            let steps = self.steps();
            let is_own = |&at: &usize| errors.contains(&at) || !steps.contains(&first_word(self.text(at)));
            let around = |&at: &usize| at.saturating_sub(AROUND)..(at + AROUND + 1).min(n);
            keep.extend(errors.iter().flat_map(around).filter(is_own));
            keep.extend((0..n).rev().filter(|&at| self.tells(at)).take(LAST).filter(is_own));
        }
        keep.extend(self.own());
        keep.sort_unstable();
        keep.dedup();
        (keep, ended)
    }

    /// First and last lines of what a person pastes.
    fn own(&self) -> impl Iterator<Item = usize> {
        let (first, last) = if self.is_result { (0, 0) } else { PASTED };
        let solid = |&at: &usize| self.lines[at].len > 0;
        let n = self.lines.len();
        (0..n).filter(solid).take(first).chain((0..n).rev().filter(solid).take(last))
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

    /// Lines that say what went wrong, those with a place first, one of each template.
    fn errors(&self) -> Vec<usize> {
        let (mut found, mut templates) = (Vec::new(), Vec::new());
        let may_tell = |at: &usize| self.len(*at) < MAX_ERROR && self.lines[*at].len > 0;
        for with_place in [true, false] {
            for at in (0..self.lines.len()).filter(may_tell) {
                if found.len() == MAX_ERRORS {
                    return found;
                }
                let is_error = self.says(at, says::ERROR);
                let has_place = || has_place(self.text(at)) || self.says(at, says::OUTCOME) && is_error;
                let tells = if with_place { has_place() } else { is_error };
                let template =
                    || self.text(at).iter().copied().filter(|byte| !byte.is_ascii_digit()).collect::<Vec<u8>>();
                if tells && !found.contains(&at) {
                    let template = template();
                    if !templates.contains(&template) {
                        templates.push(template);
                        found.push(at);
                    }
                }
            }
        }
        found
    }

    /// Of JSON that is a whole text the members that say how something ended, and when nothing else stays the first value.
    fn mark_members(&self, units: &mut Units) {
        let Units { json, units, of_node, .. } = units;
        for member in json.members(0) {
            let node = json.node(member);
            let key = &self.bytes[node.key.0 as usize..node.key.1 as usize];
            if node.kind.is_scalar() && node.to - node.from <= MAX_STATUS && WORDS.of(key) & ENDS_WITH != 0 {
                units[of_node[member as usize] as usize].state |= state::SKELETON | state::OUTCOME;
            }
        }
    }

    /// Where nothing of a text stays, something of what is new in it says what it was.
    pub(super) fn mark_one(&self, units: &mut Units) {
        if units.units.iter().any(Unit::is_shown) {
            return;
        }
        let is_new = |&at: &usize| self.said[at].is_none() && self.is_new(at);
        let first_new = || (0..self.lines.len()).find(is_new).map(|at| units.first[at] as usize);
        let unit = if units.is_document { Some(0) } else { first_new() };
        if let Some(unit) = unit.and_then(|unit| units.units.get_mut(unit)) {
            unit.state |= state::SKELETON;
        }
    }

    /// Shows both lines of a frame of a traceback where one of them is shown.
    pub(super) fn join_frames(&self, units: &mut Units) {
        if self.is_file || units.is_document {
            return;
        }
        for at in 1..self.lines.len() {
            let is_frame = |at: usize| self.text(at).trim_ascii_start().starts_with(b"File \"");
            let (place, code) = (units.first[at - 1] as usize, units.first[at] as usize);
            let is_shown = |unit: usize| units.units.get(unit).is_some_and(Unit::is_shown);
            if is_shown(place) != is_shown(code) && is_frame(at - 1) && !is_frame(at) {
                for unit in [place, code] {
                    units.units[unit].state |= state::SKELETON;
                }
            }
        }
    }

    /// Shows words that stand around what is quoted.
    pub(super) fn mark_words(&self, units: &mut Units) {
        let is_new = |&at: &usize| self.lines[at].len > 0 && self.said[at].is_none_or(|said| !said.is_visible);
        for at in (0..self.lines.len()).filter(is_new) {
            let unit = units.first[self.first + at] as usize;
            units.units[unit].state |= state::SKELETON | state::WHOLE;
        }
    }

    /// Marks the units of the skeleton.
    pub(super) fn mark(&self, units: &mut Units) {
        if units.is_document {
            return self.mark_members(units);
        }
        let verdict = self.verdict();
        let (mut keep, ended) = self.keep(verdict);
        keep.retain(|&at| self.said[at].is_none_or(|said| !said.is_visible) || verdict == Some(at));
        for at in keep {
            // Of a line of JSON its first member.
            let unit = units.first[self.first + at] as usize;
            units.units[unit].state |= state::SKELETON | if ended.contains(&at) { state::OUTCOME } else { 0 };
        }
        for at in self.own().filter(|&at| self.len(at) <= MAX_OWN && self.said[at].is_none_or(|said| !said.is_visible))
        {
            let unit = units.first[self.first + at] as usize;
            units.units[unit].state |= state::WHOLE;
        }
    }

    /// Marks what of a person's text outlasts what is used of it: his own words and the line with which it begins; of the task
    /// all sentences, and for good how it begins and ends.
    pub(super) fn mark_own(&self, units: &mut Units, is_task: bool) {
        const STAYS: u8 = state::SKELETON | state::OUTCOME;
        if units.is_document {
            if let Some(first) = units.units.first_mut().filter(|_| is_task) {
                first.state |= STAYS;
            }
            return;
        }
        let Units { units, first, .. } = units;
        for unit in units.iter_mut().filter(|unit| unit.state & state::WHOLE != 0) {
            unit.state |= state::OWN;
        }
        if let Some(begin) = units.iter_mut().find(|unit| unit.is_shown()) {
            begin.state |= state::OWN;
        }
        if is_task {
            for at in self.own() {
                units[first[at] as usize].state |= STAYS;
            }
            for at in (0..self.lines.len()).filter(|&at| is_sentence(self.text(at))) {
                units[first[at] as usize].state |= state::OWN;
            }
        }
    }
}

/// True for a line of words, as people write them.
fn is_sentence(line: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    let n_letters = line.iter().filter(|byte| is_letter(byte)).count();
    let n_blanks = memchr::memchr_iter(b' ', line.trim_ascii()).count();
    let n_wide = line.iter().filter(|byte| **byte >= 0x80).count();
    let text = line.trim_ascii_start();
    let begins = text.first().is_some_and(|byte| is_letter(byte) || b"-*1234567890\"'(".contains(byte));
    let has_words = n_blanks >= MIN_BLANKS || n_wide > n_letters / 2;
    let is_indented = line.len() - text.len() >= MAX_INDENT;
    begins && !is_indented && has_words && (n_letters + n_blanks) * 100 >= line.len() * MIN_LETTERS
}

/// The first word of letters, behind a time or a number; two letters at least.
fn first_word(text: &[u8]) -> &[u8] {
    let near = &text[..text.len().min(MAX_ERROR as usize)];
    let mut words = near.split(|byte| !byte.is_ascii_alphabetic());
    words.find(|word| word.len() > 1).unwrap_or_default()
}

fn has_word(text: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    text[..text.len().min(MAX_ERROR as usize)].windows(2).any(|two| two.iter().all(is_word))
}

/// Lines with which a harness wraps what a program prints.
fn is_envelope(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_tag =
        |name: &[u8]| [&b"returncode"[..], b"output", b"stdout", b"stderr", b"system-reminder"].contains(&name);
    let tag = text.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">"));
    let starts = |heads: &[&[u8]]| heads.iter().any(|head| text.starts_with(head));
    text == b"Output:"
        || tag.is_some_and(|name| is_tag(name.strip_prefix(b"/").unwrap_or(name)))
        || starts(&[
            b"Command: ",
            b"Chunk ID: ",
            b"Wall time: ",
            b"Original token count: ",
            b"Debugger attached",
            b"Waiting for the debugger",
        ])
        || text.starts_with(b"```") && text.len() < 20
}

/// True for a diagnostic with its place in front: `src/x.rs:12:5: …`, `--> src/x.rs:12`, `E   assert …`.
fn has_place(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"--> ").unwrap_or(text);
    if text.starts_with(b"E   ") {
        return true;
    }
    let path = text.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"._/@-\\".contains(&byte)).count();
    let (path, behind) = text.split_at(path);
    let extension = path.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let has_extension =
        (1..=5).contains(&extension) && path.len() > extension + 1 && path[path.len() - extension - 1] == b'.';
    has_extension && matches!(behind, [b':' | b'(', digit, ..] if digit.is_ascii_digit())
}
