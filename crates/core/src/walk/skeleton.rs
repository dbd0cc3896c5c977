//! The skeleton of a text: what tells a reader what it was. Its first and last line, exit status and totals; of a failure
//! the lines that say why. Knows lines and what they say; refuses to know formats.

use super::calls::Call;
use super::formats::{LineRole, Lines};
use super::looks::{self, first_word, has_word, is_beside_match, is_envelope, is_sentence, template};
use super::said::Said;
use super::units::{Unit, Units, state};
use super::uses::{Line, Uses, says, tells_change};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<128>, "status_keys": ENDS_WITH);

/// Totals and statuses from the end.
const MAX_TOTALS: usize = 4;
const MAX_STATUS: u32 = 120;
const MAX_TOTAL: u32 = 300;
/// Bytes of a line that is worth a filler because it is new.
const MAX_NEWS: u32 = 100;
/// Bytes of what is still to be done.
const MAX_OPEN: u32 = 800;
/// Bytes of a reminder that is shown whole or not at all.
const MAX_REMINDER: u32 = 1_000;
/// Lines of a text whose first and last one stay also where they are visible elsewhere.
const FEW: usize = 3;
/// First and last lines of what a person pastes: more often than not they are his own words.
const PASTED: (usize, usize) = (6, 2);
/// Sentences in it, and lines for each of them, up to which and from which they are his own.
const MAX_SENTENCES: usize = 8;
/// Bytes of such a line that stays as a whole.
const MAX_OWN: u32 = 1_500;

/// The lines of a text that stay for what they say.
#[derive(Debug, Default)]
struct Kept {
    lines: Vec<usize>,
    /// Those that say how something ended.
    ended: Vec<usize>,
    /// Those that say what went wrong.
    errors: Vec<usize>,
}

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
    /// Rows of matches, perhaps with those around them.
    pub(super) is_search: bool,
    /// What a tool returns, not what a person says.
    pub(super) is_result: bool,
}

impl<'t> Of<'t> {
    /// Of a whole text; what was asked for, and whether a tool returns it.
    pub(super) fn new(
        (bytes, lines): (&'t [u8], &'t [Line]),
        said: &'t [Option<Said>],
        uses: &'t Uses,
        (asks, is_result): (Call, bool),
    ) -> Self {
        let (is_edit, is_search) = (asks == Call::Edit, asks == Call::Matches);
        Self { bytes, lines, first: 0, said, uses, is_file: asks.is_file(), is_edit, is_search, is_result }
    }

    pub(super) fn text(&self, at: usize) -> &[u8] {
        &self.bytes[self.lines[at].from as usize..self.lines[at].to as usize]
    }

    pub(super) fn len(&self, at: usize) -> u32 {
        self.lines[at].to - self.lines[at].from
    }

    pub(super) fn says(&self, at: usize, what: u32) -> bool {
        self.lines[at].len > 0 && self.uses.says(self.lines[at].slot) & what != 0
    }

    /// Lines that say something: with a word, not put there by the harness, and no echo of what was asked for.
    pub(super) fn tells(&self, at: usize) -> bool {
        let line = &self.lines[at];
        let text = self.text(at);
        let says = line.len > 1 && has_word(text) && !is_envelope(text) && !self.uses.is_asked(line.slot);
        says && !(self.is_search && is_beside_match(text))
    }

    /// The same, and nothing visible says it.
    fn is_new(&self, at: usize) -> bool {
        self.tells(at) && (self.says(at, says::OUTCOME) || !self.uses.is_visible(self.lines[at].slot))
    }

    /// The line in which an edit says that it was made, or why not. A long one may be a reference.
    fn verdict(&self) -> Option<usize> {
        let first = (0..self.lines.len()).filter(|_| self.is_edit).find(|&at| self.tells(at));
        first.filter(|&at| self.len(at) < MAX_STATUS)
    }

    /// Lines before a reminder of the harness at the end, of which there is always one.
    fn n_own(&self) -> usize {
        let text = Lines { bytes: self.bytes, lines: self.lines };
        looks::reminder(text).filter(|&at| at > 0).unwrap_or(self.lines.len())
    }

    /// Shows all of a reminder of the harness the first time, and where something of it is shown: a part of a rule is another
    /// rule.
    pub(super) fn join_reminder(&self, units: &mut Units) {
        let text = Lines { bytes: self.bytes, lines: self.lines };
        let Some(begin) = looks::reminder(text).filter(|_| !units.is_document) else { return };
        let (first, size) = (units.first[begin] as usize, text.lines[text.len() - 1].to - text.lines[begin].from);
        let is_first = self.said[begin..].iter().all(Option::is_none);
        let within = &mut units.units[first..];
        if size <= MAX_REMINDER && (is_first || within.iter().any(Unit::is_shown)) {
            for unit in within {
                unit.state |= state::SKELETON | state::WHOLE;
            }
        }
    }

    /// Shows all words of a user who refused the use of a tool: they are what is to be done instead.
    pub(super) fn join_words_of_user(&self, units: &mut Units) {
        let text = Lines { bytes: self.bytes, lines: self.lines };
        let Some(begin) = looks::words_of_user(text).filter(|_| self.is_result && !units.is_document) else { return };
        let first = units.first.get(begin).map_or(units.units.len(), |&first| first as usize);
        for unit in &mut units.units[first..] {
            unit.state |= state::SKELETON | state::WHOLE;
        }
    }

    /// The lines that stay.
    fn keep(&self, verdict: Option<usize>) -> Kept {
        let n = self.n_own();
        let mut telling = (0..n).filter(|&at| self.tells(at));
        let Some(first) = telling.next() else { return Kept::default() };
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
        let mut templates = Vec::new();
        let is_other = |&at: &usize| {
            let (text, first) = (self.text(at), first_word(self.text(at)));
            // Of things that went well one after the other the last one is enough.
            let is_fine = [&b"ok"[..], b"OK", b"PASS", b"pass", b"Successfully"].contains(&first);
            let template = if is_fine { first.to_vec() } else { template(text) };
            let is_new = !templates.contains(&template);
            if is_new {
                templates.push(template);
            }
            is_new
        };
        let mut errors = Vec::new();
        let mut ended: Vec<usize> = (0..n).rev().filter(is_total).filter(is_other).take(MAX_TOTALS).collect();
        keep.extend(&ended);
        ended.extend(verdict);
        if let Some(failure) = self.failure(n) {
            ended.extend(failure.errors.iter().max());
            keep.extend(failure.lines);
            errors = failure.errors;
        }
        keep.extend(self.own());
        keep.extend(self.open());
        keep.sort_unstable();
        keep.dedup();
        Kept { lines: keep, ended, errors }
    }

    /// First and last lines of what a person pastes, and sentences between them where there are few: his own words, too.
    fn own(&self) -> Vec<usize> {
        if self.is_result {
            return Vec::new();
        }
        let mut found: Vec<usize> = (0..self.lines.len()).filter(|&at| self.lines[at].len > 0).collect();
        let (n, (first, last)) = (found.len(), PASTED);
        // A line of a listing or of a diff has something in front.
        let is_bare = |at: usize| self.lines[at].len as usize == self.text(at).trim_ascii().len();
        let is_said = |at: usize| is_bare(at) && (looks::is_said(self.text(at)) || is_sentence(self.text(at)));
        let limit = MAX_SENTENCES.min(n / MAX_SENTENCES);
        let has_few = found.iter().filter(|&&at| is_said(at)).take(limit + 1).count() <= limit;
        let mut number = 0..n;
        found.retain(|&at| {
            let number = number.next().unwrap_or_default();
            number < first || number + last >= n || has_few && is_said(at)
        });
        found
    }

    /// What is still to be done, in the summary of what went before with which a person goes on.
    fn open(&self) -> Vec<usize> {
        let (mut found, mut n_bytes) = (Vec::new(), MAX_OPEN);
        for at in (0..self.lines.len()).filter(|_| !self.is_result) {
            let text = self.text(at);
            if looks::is_heading(text) {
                n_bytes = if looks::speaks_of_open(text) { 0 } else { MAX_OPEN };
            }
            if n_bytes < MAX_OPEN && self.lines[at].len > 0 {
                n_bytes += self.len(at);
                found.push(at);
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
        // Lines that were all seen before, but never like this: the last one says what came of it.
        let is_apart = |&at: &usize| self.said[at].is_none() && self.tells(at);
        let lines = || 0..self.lines.len();
        let telling = || lines().find(is_new).or_else(|| lines().rev().find(is_apart));
        let unit = if units.is_document { Some(0) } else { telling().map(|at| units.first[at] as usize) };
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

    /// Shows both fences of a block where one of them is shown.
    pub(super) fn join_fences(&self, units: &mut Units) {
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else { return };
        let text = &self.bytes[first.from as usize..last.to as usize];
        if units.is_document || memchr::memmem::find(text, b"```").is_none() {
            return;
        }
        let mut open: Option<usize> = None;
        for at in 0..self.lines.len() {
            let line = &self.lines[at];
            if line.len < 3 || !self.text(at).trim_ascii_start().starts_with(b"```") {
                continue;
            }
            let Some(from) = open.take() else {
                open = Some(at);
                continue;
            };
            let is_shown = |line: usize| units.units[units.first[line] as usize].is_shown();
            // One line between shown ones is shown, too.
            let will_be = |line: usize| {
                is_shown(line) || line > 0 && line + 1 < self.lines.len() && is_shown(line - 1) && is_shown(line + 1)
            };
            if will_be(from) != will_be(at) {
                for line in [from, at] {
                    units.units[units.first[line] as usize].state |= state::SKELETON;
                }
            }
        }
    }

    /// Of what was run again, what is not as it was is worth a filler.
    pub(super) fn want_news(&self, roles: &mut [LineRole]) {
        let is_news = |&at: &usize| self.said[at].is_none() && self.len(at) <= MAX_NEWS && self.tells(at);
        for at in (0..self.lines.len()).filter(is_news) {
            roles[at].want();
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
        let Kept { mut lines, ended, errors } = self.keep(verdict);
        let is_new = |at: usize| self.said[at].is_none_or(|said| !said.is_visible);
        lines.retain(|at| is_new(*at) || ended.contains(at) || errors.contains(at));
        for at in lines {
            // Of a line of JSON its first member.
            let unit = units.first[self.first + at] as usize;
            let ends = if ended.contains(&at) { state::OUTCOME } else { 0 };
            // What went wrong often stands at the end of a line.
            let tells = if errors.contains(&at) && !tells_change(self.text(at)) { state::WHOLE } else { 0 };
            units.units[unit].state |= state::SKELETON | ends | tells;
        }
        let is_own = |at: &usize| self.len(*at) <= MAX_OWN && is_new(*at) && !tells_change(self.text(*at));
        for at in self.own().into_iter().filter(is_own) {
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
