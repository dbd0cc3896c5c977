//! Facts that an assistant tells: a number or state together with what it belongs to. A sentence of the assistant makes
//! pairs; a line or record of a source is asked whether it holds one. Knows sentences and pairs; refuses to know who needs them.

use super::index::Index;
use super::needles::{Candidate, Filter, sign};
use super::number::{Telling, forms, hours, time_at, told_at};
use super::scan::{Word, exact, folded, mix, words};
use super::subject::{end_of_joined, end_of_word, for_joined, is_identifier, is_of_letters, letters};

const NEVER: u32 = u32::MAX;
/// Bytes of a sentence that makes pairs.
const MAX_SENTENCE: usize = 600;
/// Bytes of a line of a source that is looked at as a whole.
pub(super) const MAX_PIECE: usize = 400;
/// Bytes of a flat record in one-line JSON.
const MAX_RECORD: usize = 600;
/// Numbers and states of a sentence or line; a list of more tells no fact.
const MAX_NUMBERS: usize = 12;
/// Words between a number and a word that it belongs to.
const NEAR: usize = 3;

/// A number or state in a source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    from: u32,
    id: u32,
}

/// A pair that a source holds: where its number stands, and where what it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "it is the word for them")]
pub(in crate::walk) struct Fact {
    /// First byte of the number or state.
    pub(in crate::walk) number: u32,
    /// First byte of the word or identifier.
    pub(in crate::walk) subject: u32,
    /// Number of the fact.
    pub(in crate::walk) fact: u32,
}

/// What the assistant tells.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "it is the word for them")]
pub(super) struct Told {
    numbers: Index,
    /// Of each number its key, and how many of its facts no source has shown yet.
    open: Vec<(u64, u32)>,
    pairs: Index,
    facts: Vec<Pair>,
    /// Which message tells which fact.
    told: Vec<(u32, u32)>,
    words: Vec<Word>,
    found: Vec<Telling>,
    /// Identifiers of a sentence with their hashes.
    identifiers: Vec<(Word, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct Pair {
    key: u64,
    last_use: u32,
    number: u32,
    /// The last message for which its telling was counted.
    counted: u32,
    /// The first source that holds it, and the first that shows it as it is written.
    home: u32,
    visible: u32,
}

/// Who tells a fact.
#[derive(Debug, Clone, Copy)]
pub(super) struct Teller {
    /// Index of the message.
    pub(super) message: u32,
    /// Grounding is measured by what it tells.
    pub(super) is_counted: bool,
}

impl Number {
    /// Its first byte.
    pub(super) fn at(self) -> u32 {
        self.from
    }
}

impl Told {
    pub(super) fn clear(&mut self) {
        self.numbers.reset(0);
        self.pairs.reset(0);
        self.open.clear();
        self.facts.clear();
        self.told.clear();
    }

    /// How many facts there are; they are numbered in the order in which they came.
    pub(super) fn len(&self) -> usize {
        self.facts.len()
    }

    /// The last message that tells a fact.
    pub(super) fn last_use(&self, fact: u32) -> u32 {
        self.facts[fact as usize].last_use
    }

    /// Takes the facts of a text that the assistant says or thinks; messages come in descending order.
    /// Of its words `telling` may be numbers or states.
    pub(super) fn add(
        &mut self,
        bytes: &[u8],
        (from, to): (usize, usize),
        telling: &[Word],
        teller: Teller,
        filter: &mut Filter,
    ) {
        let (mut start, mut rest) = (from, telling);
        while let Some(first) = rest.first() {
            let end = end_of_sentence(bytes, start, to);
            let (inside, behind) = rest.split_at(rest.iter().take_while(|word| word.from < end).count());
            if first.from < end && end - start <= MAX_SENTENCE {
                self.sentence(bytes, (start, end), inside, teller, filter);
            }
            (rest, start) = (behind, end + 1);
        }
    }

    fn sentence(
        &mut self,
        bytes: &[u8],
        (from, to): (usize, usize),
        telling: &[Word],
        teller: Teller,
        filter: &mut Filter,
    ) {
        let mut all = std::mem::take(&mut self.words);
        let mut found = std::mem::take(&mut self.found);
        all.clear();
        found.clear();
        for word in telling {
            if found.last().is_some_and(|last: &Telling| word.from < last.to) {
                continue;
            }
            let time = time_at(bytes, word, to);
            if let Some(time) = &time {
                for hash in hours(bytes, time) {
                    filter.mark(hash, sign::TOLD);
                }
            }
            found.extend(time.or_else(|| told_at(bytes, word, to)));
        }
        if !found.is_empty() && found.len() <= MAX_NUMBERS {
            words(bytes, from, to, |word| all.push(word));
            self.pairs_of(bytes, (from, to), (&all, &found), teller, filter);
        }
        self.words = all;
        self.found = found;
    }

    fn pairs_of(
        &mut self,
        bytes: &[u8],
        (from, to): (usize, usize),
        (all, found): (&[Word], &[Telling]),
        teller: Teller,
        filter: &mut Filter,
    ) {
        let mut identifiers = std::mem::take(&mut self.identifiers);
        identifiers.clear();
        for_joined(bytes, all, |word| {
            if is_identifier(bytes, word) {
                identifiers.push((word, exact(bytes, word.from, word.to)));
            }
        });
        for told in found {
            let number = self.number(told.key);
            let first = all.iter().find(|word| word.to > told.from).expect("a number is a word");
            filter.mark(folded(bytes, first.from, first.to), sign::TOLD);
            if !bytes[told.from].is_ascii_digit() {
                for hash in forms(&bytes[told.from..told.to]) {
                    filter.mark(hash, sign::TOLD);
                }
            }
            for &(identifier, subject) in &identifiers {
                if identifier.to <= told.from || identifier.from >= told.to {
                    self.pair(subject, number, teller);
                    let first_word = (identifier.from, end_of_word(bytes, identifier.from, identifier.to));
                    filter.mark(folded(bytes, first_word.0, first_word.1), sign::SUBJECT);
                }
            }
            let (low, high) = around(bytes, from, to, told);
            for word in all.iter().filter(|word| word.from >= low && word.to <= high) {
                if word.to <= told.from || word.from >= told.to {
                    letters(bytes, word, |part| {
                        let subject = folded(bytes, part.from, part.to);
                        self.pair(subject, number, teller);
                        filter.mark(subject, sign::SUBJECT);
                    });
                }
            }
        }
        self.identifiers = identifiers;
    }

    fn number(&mut self, key: u64) -> u32 {
        let n = self.open.len() as u32;
        let id = self.numbers.get_or_insert(key, n, |id| self.open[id as usize].0 == key);
        if id == n {
            self.open.push((key, 0));
        }
        id
    }

    fn pair(&mut self, subject: u64, number: u32, Teller { message, is_counted }: Teller) {
        let key = mix(subject, u64::from(number) << 1 | 1);
        let n = self.facts.len() as u32;
        let fact = self.pairs.get_or_insert(key, n, |fact| self.facts[fact as usize].key == key);
        if fact == n {
            self.facts.push(Pair { key, last_use: message, number, counted: NEVER, home: NEVER, visible: NEVER });
            self.open[number as usize].1 += 1;
        }
        if is_counted && std::mem::replace(&mut self.facts[fact as usize].counted, message) != message {
            self.told.push((fact, message));
        }
    }

    fn find_pair(&self, key: u64) -> Option<u32> {
        self.pairs.get(key, |fact| self.facts[fact as usize].key == key)
    }

    /// The number or state that begins with `word` of a source, when the assistant tells something of it that no source has
    /// shown yet.
    pub(super) fn number_at(&self, bytes: &[u8], word: &Word, end: usize) -> impl Iterator<Item = Number> {
        let told = told_at(bytes, word, end).into_iter().chain(time_at(bytes, word, end));
        told.filter_map(|told| {
            let is_open = |id: u32| self.open[id as usize].0 == told.key && self.open[id as usize].1 > 0;
            let id = self.numbers.get(told.key, is_open)?;
            Some(Number { from: told.from as u32, id })
        })
    }

    /// Adds the facts of the line `bytes[from..to]` that no source has shown to `facts`; `numbers` and `subjects` stand in it.
    pub(super) fn look(
        &self,
        bytes: &[u8],
        (from, to): (usize, usize),
        (numbers, subjects): (&[Number], &[Candidate]),
        message: u32,
        facts: &mut Vec<Fact>,
    ) {
        if to - from <= MAX_PIECE {
            return self.piece(bytes, (from, to), (numbers, subjects), message, facts);
        }
        let is_json =
            bytes[from..to].iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|b| b"[{".contains(b));
        let mut rest = numbers;
        while let Some(first) = rest.first() {
            let at = first.from as usize;
            let piece = if is_json { record_around(bytes, from, to, at) } else { sentence_around(bytes, from, to, at) };
            let n_inside = piece.map_or(1, |piece| rest.iter().take_while(|n| (n.from as usize) < piece.1).count());
            let (inside, behind) = rest.split_at(n_inside.max(1));
            if let Some(piece) = piece {
                let first = subjects.partition_point(|word| (word.from as usize) < piece.0);
                self.piece(bytes, piece, (inside, &subjects[first..]), message, facts);
            }
            rest = behind;
        }
    }

    fn piece(
        &self,
        bytes: &[u8],
        (from, to): (usize, usize),
        (numbers, subjects): (&[Number], &[Candidate]),
        message: u32,
        facts: &mut Vec<Fact>,
    ) {
        if numbers.len() > MAX_NUMBERS {
            return;
        }
        let mut ask = |subject: u64, at: usize| {
            for number in numbers {
                let key = mix(subject, u64::from(number.id) << 1 | 1);
                let Some(fact) = self.find_pair(key) else { continue };
                let pair = &self.facts[fact as usize];
                if pair.last_use > message && pair.home == NEVER {
                    facts.push(Fact { number: number.from, subject: at as u32, fact });
                }
            }
        };
        for word in subjects.iter().take_while(|word| (word.from as usize) < to) {
            let (at, end) = (word.from as usize, word.to as usize);
            if is_of_letters(bytes, (at, end)) {
                ask(word.hash, at);
            }
            if let Some(end) = end_of_joined(bytes, (from, to), (at, end)) {
                ask(exact(bytes, at, end), at);
            }
        }
    }

    /// Facts that `message` is the first to hold need no other place.
    pub(super) fn settle(&mut self, facts: &[Fact], message: u32) {
        for fact in facts {
            let pair = &mut self.facts[fact.fact as usize];
            if std::mem::replace(&mut pair.home, message) == NEVER {
                self.open[pair.number as usize].1 -= 1;
            }
        }
    }

    /// Notes that `message` shows a fact as it is written.
    pub(super) fn show(&mut self, fact: u32, message: u32) {
        let visible = &mut self.facts[fact as usize].visible;
        *visible = message.min(*visible);
    }

    /// Facts that a source before the message that tells them held, and how many of them one of `written` still holds.
    pub(super) fn held(&self, written: &Self) -> (usize, usize) {
        let told = || self.told.iter().filter(|&&(fact, message)| self.facts[fact as usize].home < message);
        let is_shown = |&&(fact, message): &&(u32, u32)| written.facts[fact as usize].visible < message;
        (told().count(), told().filter(is_shown).count())
    }
}

fn end_of_sentence(bytes: &[u8], from: usize, to: usize) -> usize {
    let mut at = from;
    while let Some(skip) = memchr::memchr3(b'.', b'\n', b';', &bytes[at..to]) {
        at += skip;
        if bytes[at] == b'\n' || at + 1 >= to || bytes[at + 1].is_ascii_whitespace() {
            return at;
        }
        at += 1;
    }
    to
}

/// The stretch of a sentence that holds the [`NEAR`] words between blanks on either side of a number.
fn around(bytes: &[u8], from: usize, to: usize, number: &Telling) -> (usize, usize) {
    let is_blank = |at: usize| bytes[at].is_ascii_whitespace();
    let begins = |at: &usize| !is_blank(*at) && (*at == from || is_blank(*at - 1));
    let ends = |at: &usize| is_blank(*at) && !is_blank(*at - 1);
    let low = (from..number.from).rev().filter(begins).nth(NEAR - 1);
    let behind = (number.to + 1..to).filter(ends).nth(NEAR - 1 + usize::from(number.to < to && !is_blank(number.to)));
    (low.unwrap_or(from), behind.unwrap_or(to))
}

/// The members around `at` of its record, between those that are records themselves.
fn record_around(bytes: &[u8], from: usize, to: usize, at: usize) -> Option<(usize, usize)> {
    let (low, high) = (at.saturating_sub(MAX_RECORD).max(from), (at + MAX_RECORD).min(to));
    let start = low + memchr::memrchr2(b'{', b'}', &bytes[low..at])?;
    let end = at + memchr::memchr2(b'{', b'}', &bytes[at..high])?;
    Some((start, end + 1))
}

/// The sentence around `at`, when it is short enough.
fn sentence_around(bytes: &[u8], from: usize, to: usize, at: usize) -> Option<(usize, usize)> {
    let ends = |at: usize| bytes[at].is_ascii_whitespace() && b".!?;".contains(&bytes[at - 1]);
    let (low, high) = (at.saturating_sub(MAX_PIECE).max(from + 1), (at + MAX_PIECE).min(to));
    let start = (low..at).rev().find(|&at| ends(at)).unwrap_or(low - 1);
    let end = (at + 1..high).find(|&at| ends(at)).unwrap_or(high);
    (end - start <= MAX_PIECE).then_some((start, end))
}
