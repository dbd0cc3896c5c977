//! What may be said: the names, numbers and moments of the source and of the draft, in any form that means the same.
//! Knows kinds of facts; refuses to know languages and calls.

use std::ops::Range;

use super::amounts::{self, Amounts};
use super::moments::{self, Moment, Moments};
use super::words::{Words, is_word};
use crate::text::words::word_list;
use crate::text::{FactKind, Lexer};

/// A shorter beginning of a hash stands for many.
const MIN_HASH: usize = 6;
/// Names that everybody knows, whatever they look like.
const KNOWN: &[&str] = word_list!("answers", KNOWN);
/// A name with one of these between hyphens is talk: `end-to-end`, `state-of-the-art`.
const JOINING: &[&str] = word_list!("answers", JOINING);

/// `text` with digits and signs of full width as plain ones.
pub(super) fn flat(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
            _ => c,
        })
        .collect()
}

/// True when there is anything to check; most short answers have nothing.
pub(super) fn has_facts(answer: &str) -> bool {
    let mut lexer = Lexer::default();
    let flat = flat(answer);
    let lexed = lexer.lex_facts(&flat);
    lexed.counts.digits > 0 || lexer.view(&flat, &lexed).facts.iter().any(|fact| fact.kind.is_precise())
}

/// What a folded text bears out.
pub(super) struct Granted<'t> {
    words: Words<'t>,
    amounts: Amounts,
    moments: Moments,
}

impl<'t> Granted<'t> {
    /// `text` is [`flat`] and in small letters.
    pub(super) fn of(text: &'t str) -> Self {
        let found = moments::find(text);
        let taken: Vec<Range<usize>> = found.iter().map(|(bytes, _)| bytes.clone()).collect();
        let mut amounts = Amounts::of(text, &taken);
        let mut moments = Moments::default();
        for (bytes, moment) in found {
            match moment {
                Moment::Date { year, day, .. } => {
                    let is_spelled = || text.get(bytes).is_some_and(|text| text.contains(char::is_alphabetic));
                    let day = day.filter(|_| is_spelled());
                    year.into_iter().chain(day).for_each(|number| amounts.grant(number.to_string(), None));
                }
                Moment::Time { hour, minute: 0, half, .. } => {
                    amounts.grant((hour + if half == Some(true) { 12 } else { 0 }).to_string(), None);
                    amounts.grant(hour.to_string(), None);
                }
                Moment::Time { .. } => {}
            }
            moments.grant(moment);
        }
        Self { words: Words::of(text), amounts, moments }
    }

    /// The first name, number or moment of `answer` that is not granted.
    pub(super) fn first_invention(&self, answer: &str) -> Option<String> {
        let mut lexer = Lexer::default();
        let mut numbering = Numbering::default();
        answer.lines().find_map(|line| {
            let line = flat(line);
            let line = without_number(&line);
            lexer.clear();
            let lexed = lexer.lex_facts(line);
            self.in_line(
                line,
                &mut numbering,
                lexer
                    .view(line, &lexed)
                    .facts
                    .iter()
                    .map(|fact| (fact.kind, fact.span.of(line), fact.span.start as usize)),
            )
        })
    }

    fn in_line<'l>(
        &self,
        line: &'l str,
        numbering: &mut Numbering,
        facts: impl Iterator<Item = (FactKind, &'l str, usize)>,
    ) -> Option<String> {
        let lower = line.to_lowercase();
        // Letters that change their length in small letters are rare: then positions are those of the line.
        let folded = if lower.len() == line.len() { lower } else { line.to_ascii_lowercase() };
        let mut taken: Vec<Range<usize>> = Vec::new();
        for (kind, text, start) in facts {
            if !is_name(kind, text) {
                continue;
            }
            if !self.has_name(kind, text) {
                return Some(text.to_owned());
            }
            taken.push(start..self.end_of_name(line, start, start + text.len()));
        }
        taken.sort_by_key(|bytes| bytes.start);
        let names = joined(&taken);
        let is_free = |bytes: &Range<usize>| {
            let next = names.partition_point(|range| range.end <= bytes.start);
            names.get(next).is_none_or(|range| bytes.end <= range.start)
        };
        let found = moments::find(&folded);
        for readings in found.chunk_by(|(bytes, _), (other, _)| bytes == other) {
            let bytes = &readings[0].0;
            if !is_free(bytes) {
                continue;
            }
            if !readings.iter().any(|(_, moment)| self.moments.say(moment)) {
                return folded.get(bytes.clone()).map(str::to_owned);
            }
            taken.push(bytes.clone());
        }
        taken.sort_by_key(|bytes| bytes.start);
        let wrong = amounts::find(&folded, &taken)
            .into_iter()
            .find(|amount| !numbering.counts(&folded, &amount.bytes) && !self.amounts.bear_out(amount))?;
        folded.get(wrong.bytes).map(str::to_owned)
    }

    /// Where a name ends that may go on with the parts of a version, as in `release-0.10`.
    fn end_of_name(&self, line: &str, start: usize, mut end: usize) -> usize {
        while let Some(digits) = line.get(end..).and_then(|rest| rest.strip_prefix('.')) {
            let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
            let longer = line.get(start..end + 1 + n_digits).unwrap_or_default();
            if n_digits == 0 || !self.words.has_name(&longer.to_lowercase(), true) {
                break;
            }
            end += 1 + n_digits;
        }
        end
    }

    fn has_name(&self, kind: FactKind, text: &str) -> bool {
        let folded = text.trim_matches(|c: char| !is_word(c) && c != '#').to_lowercase();
        if !folded.contains(char::is_alphanumeric) || self.words.has_name(&folded, true) {
            return true;
        }
        let bare = folded.trim_matches('_');
        let stem = bare.strip_suffix('s').unwrap_or(bare);
        match kind {
            FactKind::Hash => bare.len() >= MIN_HASH && self.words.has_start(bare),
            FactKind::Ticket => {
                let letters = bare.bytes().take_while(u8::is_ascii_alphabetic).count();
                let number = bare.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                let is_key = text.contains('-') && letters > 0;
                if is_key { self.words.has_name(bare, false) } else { self.words.has(number) }
            }
            FactKind::Phone => self.words.has_name(bare, false),
            FactKind::Version => {
                let rest = bare.strip_prefix('v').unwrap_or(bare);
                self.words.has_name(rest, true) || self.words.has_name(&format!("v{rest}"), true)
            }
            FactKind::FileRef => bare.split_once(':').is_some_and(|(path, lines)| {
                let mut lines = lines.split(|c: char| !c.is_ascii_digit()).filter(|line| !line.is_empty());
                self.words.has_name(path, true) && lines.all(|line| self.words.has(line))
            }),
            FactKind::Url => {
                let rest = bare.split_once("://").map_or(bare, |(_, rest)| rest);
                self.words.has_name(rest.strip_prefix("www.").unwrap_or(rest), true)
            }
            FactKind::Kebab => {
                bare.split('-').any(|word| JOINING.contains(&word)) && !bare.contains(|c: char| c.is_ascii_digit())
                    || bare.split('-').all(|word| self.words.has(word))
            }
            FactKind::Camel | FactKind::Pascal => {
                let is_acronyms =
                    text.strip_suffix('s').is_some_and(|head| head.bytes().all(|b| b.is_ascii_uppercase()));
                is_acronyms || KNOWN.contains(&bare) || self.has_word(bare, stem)
            }
            _ => KNOWN.contains(&bare) || self.has_word(bare, stem),
        }
    }

    /// One name in the singular or the plural, with or without signs around it.
    fn has_word(&self, bare: &str, stem: &str) -> bool {
        let is_there = |name: &str| !name.is_empty() && self.words.has_name(name, true);
        is_there(bare)
            || is_there(stem)
            || is_there(&format!("{bare}s"))
            || bare.contains('-') && bare.split('-').all(|part| self.words.has(part))
    }
}

/// Sorted ranges, those that overlap as one.
fn joined(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range.clone()),
        }
    }
    joined
}

/// True for what is found by its words; numbers are found by their value.
fn is_name(kind: FactKind, text: &str) -> bool {
    match kind {
        _ if kind.is_amount() || kind == FactKind::Quoted => false,
        FactKind::Alphanumeric | FactKind::Kebab => {
            // `3rd`, `20px` and `12-month` are numbers, `9f2c` is none.
            let rest = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ','));
            rest.len() == text.len() || rest.contains(|c: char| c.is_ascii_digit())
        }
        _ => kind.is_precise(),
    }
}

/// The numbers `(1) … (2) …` inside lines, which say nothing.
#[derive(Default)]
struct Numbering {
    /// How many `(n)` there were inside lines.
    n_inside: usize,
}

impl Numbering {
    /// True for the next number of `(1) … (2) …`.
    fn counts(&mut self, line: &str, bytes: &Range<usize>) -> bool {
        // The first may have begun the line, and is gone.
        let next = self.n_inside + 1..=self.n_inside + 2;
        let number =
            line.get(bytes.clone()).and_then(|digits| digits.parse().ok()).filter(|number| next.contains(number));
        let is_item = line.get(..bytes.start).is_some_and(|head| head.ends_with('('))
            && line.get(bytes.end..).is_some_and(|tail| tail.starts_with(')'));
        let Some(number) = number.filter(|_| is_item) else { return false };
        self.n_inside = number;
        true
    }
}

/// The line without the number of its item.
fn without_number(line: &str) -> &str {
    let body = line.trim_start_matches(|c: char| c.is_whitespace() || "#>*-•_([".contains(c));
    let body = ["Step ", "step ", "Schritt ", "Étape "].iter().find_map(|word| body.strip_prefix(word)).unwrap_or(body);
    let rest = body.trim_start_matches(|c: char| c.is_ascii_digit());
    let n_digits = body.len() - rest.len();
    let is_item = (1..=3).contains(&n_digits)
        && (rest.starts_with(['.', ')', ':', ']', '、']))
        && !rest.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if is_item { rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default() } else { line }
}
