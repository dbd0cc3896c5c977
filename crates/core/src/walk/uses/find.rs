//! The two passes: what users need, from the back, and where sources show it first, from the front. Knows texts, values and
//! lines; refuses to know what of them is hidden.

use std::ops::Range;

use super::form::{Form, form, is_counted, is_little};
use super::lines::{Slots, says};
use super::needles::{Candidate, Hit, Kind, Needles, parts, sign};
use super::number::may_tell;
use super::outcome::{Words, is_exception};
use super::scan::{Line, Word, bare, exact, folded, is_joiner, lines, words};
use super::texts::{SaidBy, Text, Texts};
use super::told::{Fact, Teller, Told};
use super::wide;
use crate::model::Grounding;

/// Bytes of a leaf of an argument that is a value as a whole.
const LEAF: Range<usize> = 4..201;
/// Bytes of a line that an edit must repeat, and of what counts as copied.
const MIN_COPIED: usize = 8;
/// From here on an argument is read line by line, and lines that a later one has are not read again.
const LONG_ARGUMENT: usize = 200;
/// Digits of the numbers of a range.
const MIN_LINE: usize = 3;
/// Bytes of a number in hexadecimal digits that is one value with and without its sign.
const MIN_HEX: usize = 10;
/// Letters or digits of a value that is one word.
const MIN_NAME: usize = 4;
/// Words that are looked up together.
const BATCH: usize = 256;
/// Words of an identifier.
const MAX_JOINED: usize = 24;

/// Whose texts use what stands before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::walk) enum Users {
    /// Nobody's: what will be used is guessed.
    Nobody,
    /// Whoever speaks or calls.
    Speakers,
    /// Programs, too.
    All,
}

/// What of a text is used, as ranges into the lists of [`Uses`].
#[derive(Debug, Clone, Default)]
pub(in crate::walk) struct Found {
    /// Its lines.
    pub(in crate::walk) lines: Range<usize>,
    /// The values that it is the first to show.
    pub(in crate::walk) hits: Range<usize>,
    /// The facts that it is the first to show.
    pub(in crate::walk) facts: Range<usize>,
}

/// What the texts of a conversation use of each other; the memory is reused.
#[derive(Debug, Default)]
pub(in crate::walk) struct Uses {
    needles: Needles,
    told: Told,
    slots: Slots,
    endings: Words,
    /// Lines of all sources.
    lines: Vec<Line>,
    /// Values where they are shown first, in the order of the texts.
    hits: Vec<Hit>,
    /// Facts where they are shown first, in the order of the texts.
    facts: Vec<Fact>,
    found: Vec<Found>,
    words: Vec<Word>,
    /// Words of a text that may be numbers or states.
    telling: Vec<Word>,
    candidates: Vec<Candidate>,
    numbers: Vec<super::told::Number>,
    subjects: Vec<Candidate>,
    endings_found: Vec<Candidate>,
    /// Edits: the message, and the slots of the lines that it must repeat.
    edits: Vec<(u32, Range<usize>)>,
    edit_lines: Vec<u32>,
}

impl Uses {
    /// Reads a conversation. Where nobody's uses count, what the assistant says and thinks is a source, too: something of it may be hidden.
    pub(in crate::walk) fn read(&mut self, texts: &Texts, users: Users) {
        let bytes = texts.bytes();
        let is_source = |text: &Text| text.by.is_source() || users == Users::Nobody && text.by.is_answer();
        let is_read = |text: &&Text| is_source(text) || text.by.is_argument();
        let n_lines = texts.all().iter().filter(is_read).map(|text| text.n_lines as usize).sum();
        self.needles.clear(texts.n_bytes());
        self.told.clear();
        self.slots.reset(n_lines);
        self.hits.clear();
        self.facts.clear();
        self.lines.clear();
        self.lines.reserve(n_lines);
        self.found.clear();
        self.edits.clear();
        self.edit_lines.clear();
        for &hash in &self.endings.hashes {
            self.needles.filter.mark(hash, sign::OUTCOME);
        }
        let uses = |text: &&Text| match users {
            Users::Nobody => false,
            Users::Speakers => text.by.is_user(),
            Users::All => text.by.is_user() || text.by == SaidBy::Result,
        };
        for text in texts.all().iter().rev().filter(uses) {
            self.user(bytes, text);
        }
        self.needles.seal(bytes);
        let mut message = 0;
        for text in texts.all() {
            if std::mem::replace(&mut message, text.message) != text.message {
                self.needles.settle();
            }
            let found = if is_source(text) { self.source(bytes, text) } else { Found::default() };
            self.found.push(found);
        }
    }

    /// What is used of each text, in the order of the texts.
    pub(in crate::walk) fn found(&self) -> &[Found] {
        &self.found
    }

    /// Lines of a text.
    pub(in crate::walk) fn lines(&self, found: &Found) -> &[Line] {
        &self.lines[found.lines.clone()]
    }

    /// A line among those of all sources.
    pub(in crate::walk) fn line(&self, number: usize) -> Line {
        self.lines[number]
    }

    /// Values that a text is the first to show, by place.
    pub(in crate::walk) fn hits(&self, found: &Found) -> &[Hit] {
        &self.hits[found.hits.clone()]
    }

    /// Facts that a text is the first to show.
    pub(in crate::walk) fn facts(&self, found: &Found) -> &[Fact] {
        &self.facts[found.facts.clone()]
    }

    /// How many values there are.
    pub(in crate::walk) fn n_values(&self) -> usize {
        self.needles.len() + self.slots.n_copied()
    }

    /// The last message that uses a value; 0 when none does.
    pub(in crate::walk) fn last_use(&self, value: u32) -> u32 {
        match (value as usize).checked_sub(self.needles.len()) {
            None => self.needles.last_use(value),
            Some(copied) => self.slots.last_use(copied as u32),
        }
    }

    /// True for a value that is an ordinary word.
    pub(in crate::walk) fn is_word(&self, value: u32) -> bool {
        (value as usize) < self.needles.len() && self.needles.is_ordinary(value)
    }

    /// How many facts there are.
    pub(in crate::walk) fn n_facts(&self) -> usize {
        self.told.len()
    }

    /// The last message that tells a fact.
    pub(in crate::walk) fn last_telling(&self, fact: u32) -> u32 {
        self.told.last_use(fact)
    }

    /// What lines with this slot say: bits of [`says`].
    pub(in crate::walk) fn says(&self, slot: u32) -> u32 {
        self.slots.says(slot)
    }

    /// A value where it is shown first.
    pub(in crate::walk) fn hit(&self, number: usize) -> Hit {
        self.hits[number]
    }

    /// A fact where it is shown first.
    pub(in crate::walk) fn fact(&self, number: usize) -> Fact {
        self.facts[number]
    }

    /// The line of a text with this byte.
    pub(in crate::walk) fn line_at(&self, found: &Found, at: u32) -> Line {
        let lines = self.lines(found);
        lines[lines.partition_point(|line| line.from <= at).saturating_sub(1)]
    }

    /// Notes that `message` shows a value as it is written.
    pub(in crate::walk) fn show(&mut self, value: u32, message: u32) {
        match (value as usize).checked_sub(self.needles.len()) {
            None => self.needles.show(value, message),
            Some(copied) => self.slots.show_copied(copied, message),
        }
    }

    /// The same of a fact.
    pub(in crate::walk) fn show_fact(&mut self, fact: u32, message: u32) {
        self.told.show(fact, message);
    }

    /// Notes that `message` shows all of a text.
    pub(in crate::walk) fn show_all(&mut self, found: &Found, message: u32) {
        for number in found.hits.clone() {
            self.show(self.hits[number].value, message);
        }
        for number in found.facts.clone() {
            self.told.show(self.facts[number].fact, message);
        }
    }

    /// What of all that is used still stands where it was, in `written`: the same conversation as it is written.
    pub(in crate::walk) fn grounding(&self, written: &Self) -> Grounding {
        let (used, used_in_place) = self.needles.grounded(&written.needles);
        let (facts, facts_held) = self.told.held(&written.told);
        let mut edits = (0, 0);
        for (message, lines) in &self.edits {
            let is_known = |&slot: &u32| self.slots.has_before(slot, *message).is_some_and(|(is_known, _)| is_known);
            let is_shown = |&slot: &u32| written.slots.has_before(slot, *message).is_some_and(|(_, is_shown)| is_shown);
            if self.edit_lines[lines.clone()].iter().all(is_known) {
                edits.0 += 1;
                edits.1 += usize::from(written.edit_lines[lines.clone()].iter().all(is_shown));
            }
        }
        Grounding { used, used_in_place, edits: edits.0, edits_whole: edits.1, facts, facts_held }
    }

    /// `message` shows such lines as it is written.
    pub(in crate::walk) fn set_visible(&mut self, slot: u32, message: u32) {
        self.slots.set_visible(slot, message);
    }

    /// True when an argument of a call is such a line, as a command that a shell repeats.
    pub(in crate::walk) fn is_asked(&self, slot: u32) -> bool {
        self.slots.is_asked(slot)
    }

    /// True when a source that was written shows such a line.
    pub(in crate::walk) fn is_visible(&self, slot: u32) -> bool {
        self.slots.is_visible(slot)
    }

    /// The last place of such lines among those of all sources.
    pub(in crate::walk) fn last_place(&self, slot: u32) -> Option<u32> {
        self.slots.last(slot)
    }

    /// A line has a place; gives the one before.
    pub(in crate::walk) fn set_place(&mut self, slot: u32, place: u32) -> Option<u32> {
        self.slots.set_last(slot, place)
    }

    /// The lines of an argument.
    pub(in crate::walk) fn lines_of(&mut self, bytes: &[u8], text: &Text) -> Vec<Line> {
        let mut all = Vec::new();
        lines(bytes, text.from, text.to, |from, to| {
            let (start, end) = bare(bytes, from, to);
            let slot = if start < end { self.slots.of(exact(bytes, start, end)) } else { 0 };
            all.push(Line { from: from as u32, to: to as u32, len: (end - start) as u32, slot });
        });
        all
    }

    /// Takes what a text uses.
    fn user(&mut self, bytes: &[u8], text: &Text) {
        self.telling.clear();
        if text.by.is_argument() {
            self.argument(bytes, text);
        } else {
            self.values(bytes, text.from, text.to, text);
        }
        if text.by.is_answer() {
            let teller = Teller { message: text.message, is_counted: text.by == SaidBy::Assistant };
            self.told.add(bytes, (text.from, text.to), &self.telling, teller, &mut self.needles.filter);
        }
    }

    fn argument(&mut self, bytes: &[u8], text: &Text) {
        let leaf = bytes[text.from..text.to].trim_ascii();
        if LEAF.contains(&leaf.len()) {
            let from =
                text.from + bytes[text.from..text.to].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.needles.add(bytes, (from, from + leaf.len()), &[], text.message, Kind::Counted);
        }
        let first_line = self.edit_lines.len();
        let is_old = is_old_line(bytes, text);
        let is_long = text.to - text.from > LONG_ARGUMENT;
        let mut unread: Option<(usize, usize)> = None;
        lines(bytes, text.from, text.to, |from, to| {
            let (start, end) = bare(bytes, from, to);
            if end - start >= MIN_COPIED {
                let slot = self.slots.of(exact(bytes, start, end));
                if (start, end) == (text.from, text.to) {
                    self.slots.ask(slot);
                }
                if is_old(from, end - start) {
                    self.slots.copy(slot, text.message);
                    self.edit_lines.push(slot);
                }
                if !self.slots.argue(slot, text.message) && is_long {
                    if let Some((from, to)) = unread.take() {
                        self.values(bytes, from, to, text);
                    }
                    return;
                }
            }
            unread = Some((unread.map_or(from, |(from, _)| from), to));
        });
        if let Some((from, to)) = unread {
            self.values(bytes, from, to, text);
        }
        if text.by == SaidBy::Copied && self.edit_lines.len() > first_line {
            self.edits.push((text.message, first_line..self.edit_lines.len()));
        }
    }

    /// Takes identifiers, and of what is said ordinary words, as values.
    fn values(&mut self, bytes: &[u8], from: usize, to: usize, text: &Text) {
        let mut run = std::mem::take(&mut self.words);
        run.clear();
        let tells = text.by.is_answer();
        let mut telling = std::mem::take(&mut self.telling);
        // Where a word begins that goes on with the run.
        let mut next = usize::MAX;
        words(bytes, from, to, |word| {
            if tells && may_tell(bytes, word) {
                telling.push(word);
            }
            let (goes_on, is_joined) = (word.from == next, is_joiner(bytes[word.to]));
            next = if is_joined { word.to + 1 } else { usize::MAX };
            if !run.is_empty() && (!goes_on || run.len() == MAX_JOINED) {
                self.joined(bytes, &run, text);
                run.clear();
            }
            if !run.is_empty() || is_joined || !is_little(bytes, &word) {
                run.push(word);
            }
        });
        self.joined(bytes, &run, text);
        self.words = run;
        self.telling = telling;
    }

    /// Takes words with one joiner between each two: a name as a whole, and what of them is a name by itself.
    #[inline]
    fn joined(&mut self, bytes: &[u8], run: &[Word], text: &Text) {
        if run.len() > 1 || run.first().is_some_and(|word| !is_little(bytes, word)) {
            self.run(bytes, run, text);
        }
    }

    fn run(&mut self, bytes: &[u8], run: &[Word], text: &Text) {
        // Who thinks aloud says most words that there are; of a thought names and facts tell what it needs.
        let is_said = matches!(text.by, SaidBy::Human | SaidBy::Spoken | SaidBy::Assistant);
        let message = text.message;
        let kind = |from: usize, to: usize| match text.by {
            SaidBy::Human | SaidBy::Spoken | SaidBy::Result | SaidBy::Thought => Kind::Name,
            _ if is_counted(&bytes[from..to]) => Kind::Counted,
            _ => Kind::Name,
        };
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return };
        if run.len() > 1 {
            let joined = &bytes[first.from..last.to];
            if joined.len() >= MIN_NAME || joined.iter().all(u8::is_ascii_digit) {
                self.needles.add(bytes, (first.from, last.to), run, message, kind(first.from, last.to));
            }
        }
        let is_number =
            |word: &Word| word.to - word.from >= MIN_LINE && bytes[word.from..word.to].iter().all(u8::is_ascii_digit);
        // From one line to another.
        let is_range = run.len() == 2 && bytes[first.to] == b'-' && run.iter().all(is_number);
        for &word in run {
            if word.is_wide {
                if is_said {
                    wide::words(bytes, word, |part| {
                        self.needles.add(bytes, (part.from, part.to), &[part], message, Kind::Ordinary);
                    });
                }
                continue;
            }
            let place = (word.from, word.to);
            if bytes[word.from..word.to].starts_with(b"0x") && word.to - word.from >= MIN_HEX {
                // Programs print it without the sign that it is hexadecimal.
                let digits = Word { from: word.from + 2, ..word };
                self.needles.add(bytes, (digits.from, digits.to), &[digits], message, Kind::Name);
            }
            match form(bytes, word, run.len() > 1 && !is_range) {
                Form::Name => self.needles.add(bytes, place, &[word], message, kind(word.from, word.to)),
                Form::Ordinary if is_said => self.needles.add(bytes, place, &[word], message, Kind::Ordinary),
                Form::Ordinary => self.needles.count(bytes, word, message),
                Form::Nothing => {}
            }
        }
    }

    /// Finds what a source is the first to show.
    fn source(&mut self, bytes: &[u8], text: &Text) -> Found {
        let (first_line, first_hit, first_fact) = (self.lines.len(), self.hits.len(), self.facts.len());
        let mut new: Option<(usize, usize)> = None;
        lines(bytes, text.from, text.to, |from, to| {
            let (start, end) = bare(bytes, from, to);
            let mut line = Line { from: from as u32, to: to as u32, len: (end - start) as u32, slot: 0 };
            let mut is_new = false;
            if start < end {
                line.slot = self.slots.of(exact(bytes, start, end));
                is_new = self.slots.show(line.slot);
                if is_new && is_exception(&bytes[start..end]) {
                    self.slots.say(line.slot, says::ERROR | says::FAILURE | says::OUTCOME);
                }
                if let Some(copied) = self.slots.first_copy(line.slot, text.message) {
                    let value = self.needles.len() as u32 + copied;
                    self.hits.push(Hit { from: start as u32, to: end as u32, value });
                }
            }
            self.lines.push(line);
            match (&mut new, is_new || start == end) {
                (Some(stretch), true) => stretch.1 = to,
                (None, true) if is_new => new = Some((from, to)),
                (None, _) => {}
                (Some(_), false) => {
                    let stretch = new.take().expect("there is one");
                    self.scan(bytes, text, stretch, first_line);
                }
            }
            if !is_new && start > from && self.is_sought(bytes, (from, start)) {
                // The line was shown, but not with this number.
                self.scan(bytes, text, (from, start), first_line);
            }
        });
        if let Some(stretch) = new {
            self.scan(bytes, text, stretch, first_line);
        }
        self.hits[first_hit..].sort_unstable_by_key(|hit| (hit.from, hit.value));
        let facts = &self.facts[first_fact..];
        self.told.settle(facts, text.message);
        Found {
            lines: first_line..self.lines.len(),
            hits: first_hit..self.hits.len(),
            facts: first_fact..self.facts.len(),
        }
    }

    /// True where the number in front of a line may be one of a value.
    fn is_sought(&self, bytes: &[u8], (from, to): (usize, usize)) -> bool {
        let digits = |at: usize| bytes[at..to].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let first = (from..to).find(|&at| bytes[at].is_ascii_digit());
        first.is_some_and(|at| self.needles.filter.signs(folded(bytes, at, at + digits(at))) != 0)
    }

    /// Looks for values, numbers and endings in lines that no source had before.
    fn scan(&mut self, bytes: &[u8], text: &Text, (from, to): (usize, usize), first_line: usize) {
        let mut batch = std::mem::take(&mut self.candidates);
        batch.resize(BATCH, Candidate::default());
        let mut n = 0;
        parts(bytes, from, to, |from, to| {
            batch[n] = Candidate { hash: 0, from: from as u32, to: to as u32 };
            n += 1;
            if n == BATCH {
                self.look_up(bytes, text, &mut batch);
                n = 0;
            }
        });
        self.look_up(bytes, text, &mut batch[..n]);
        self.candidates = batch;
        self.tell(bytes, text, first_line);
    }

    /// Looks words up.
    fn look_up(&mut self, bytes: &[u8], text: &Text, batch: &mut [Candidate]) {
        let mut n = 0;
        for at in 0..batch.len() {
            let word = batch[at];
            let hash = folded(bytes, word.from as usize, word.to as usize);
            batch[n] = Candidate { hash, ..word };
            n += usize::from(self.needles.filter.signs(hash) != 0);
        }
        for word in &batch[..n] {
            let (signs, place) = (self.needles.filter.signs(word.hash), (word.from as usize, word.to as usize));
            if signs & sign::HELD != 0 {
                let word = (place, word.hash, signs);
                self.needles.look(bytes, (text.from, text.to), word, text.message, &mut self.hits);
            }
            if signs & sign::TOLD != 0 {
                let found = Word { from: place.0, to: place.1, ..Word::default() };
                self.numbers.extend(self.told.number_at(bytes, &found, text.to));
            }
            if signs & sign::SUBJECT != 0 {
                self.subjects.push(*word);
            }
            if signs & sign::OUTCOME != 0 {
                self.endings_found.push(*word);
            }
        }
    }

    /// What lines with told numbers and words of endings hold and say.
    fn tell(&mut self, bytes: &[u8], text: &Text, first_line: usize) {
        let all = &self.lines[first_line..];
        let mut line_of = lines_around(all);
        for word in self.endings_found.drain(..) {
            let line = line_of(word.from);
            let (bounds, place) = ((line.from as usize, line.to as usize), (word.from as usize, word.to as usize));
            let says = self.endings.says(bytes, bounds, place, word.hash);
            self.slots.say(line.slot, says);
        }
        let (mut rest, mut subjects, mut line_of) = (&self.numbers[..], &self.subjects[..], lines_around(all));
        while let Some(first) = rest.first() {
            let line = line_of(first.at());
            let (inside, behind) = rest.split_at(rest.iter().take_while(|number| number.at() < line.to).count().max(1));
            let bounds = (line.from as usize, line.to as usize);
            let start = bare(bytes, bounds.0, bounds.1).0 as u32;
            // The number of the line is none of its text.
            let n_lead = inside.iter().take_while(|number| number.at() < start).count();
            let n_before = subjects.iter().take_while(|word| word.from < line.from).count();
            let n_within = subjects[n_before..].iter().take_while(|word| word.from < line.to).count();
            let (of_line, behind_line) = subjects[n_before..].split_at(n_within);
            if n_lead < inside.len() && n_within > 0 {
                self.told.look(bytes, bounds, (&inside[n_lead..], of_line), text.message, &mut self.facts);
            }
            (rest, subjects) = (behind, behind_line);
        }
        self.numbers.clear();
        self.subjects.clear();
    }
}

/// The lines around places that ascend.
fn lines_around(all: &[Line]) -> impl FnMut(u32) -> Line {
    let mut behind = 0;
    move |at| {
        if behind == 0 {
            behind = all.partition_point(|line| line.from <= at);
        }
        behind += all[behind..].iter().take_while(|line| line.from <= at).count();
        all[behind - 1]
    }
}

/// Tells of the lines of an argument, by their first byte and the length of their bare text, which ones an edit must repeat exactly.
pub(in crate::walk) fn is_old_line(bytes: &[u8], text: &Text) -> impl Fn(usize, usize) -> bool {
    let is_patch = text.by == SaidBy::Argument && is_patch(&bytes[text.from..text.to]);
    let is_copied = text.by == SaidBy::Copied;
    move |from, length| length >= MIN_COPIED && (is_copied || is_patch && matches!(bytes[from], b' ' | b'-'))
}

/// True for the text of a patch: its lines with a blank or a minus in front stand in the file.
fn is_patch(text: &[u8]) -> bool {
    text.len() > MIN_COPIED
        && (memchr::memmem::find(text, b"*** Begin Patch").is_some() || memchr::memmem::find(text, b"\n@@ ").is_some())
}
