//! Finds names: runs of capitalised words on one line that are no sentence opener. Knows capitals, openers and
//! whether the text looks German; refuses to know identifiers and numbers.

use super::keys::fact_key;
use super::lexed::{Fact, FactKind, Span};
use super::line::LineText;
use super::scan::{self, Piece};
use super::words;

/// A name has at most this many words; a longer run is several.
const MAX_WORDS: u32 = 6;

/// Signs before the first word of a line.
const MAX_BULLET: usize = 24;
/// What may be written together with a word, behind an apostrophe.
const CONTRACTED: [&[u8]; 7] = [b"s", b"d", b"m", b"t", b"ll", b"re", b"ve"];

/// Words that may be capitalised without being names.
const OPENER: u32 = words::OPENER | words::FUNCTION | words::FILLER;

/// What one text says about its names, reused from text to text.
#[derive(Debug, Default)]
pub(super) struct Names {
    marks: Vec<Mark>,
    /// Keys of names that do not begin a sentence.
    known: Vec<u64>,
    n_words: u32,
    n_german: u32,
    has_umlaut: bool,
    run: Option<Run>,
}

/// A fact that is a name if the rest of the text allows it.
#[derive(Debug, Clone, Copy)]
struct Mark {
    fact: u32,
    is_single: bool,
    is_opening: bool,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    n_words: u32,
    is_opening: bool,
    is_closed: bool,
    /// Nothing but titles.
    is_title: bool,
}

impl Names {
    pub(super) fn clear(&mut self) {
        self.marks.clear();
        self.known.clear();
        (self.n_words, self.n_german, self.has_umlaut, self.run) = (0, 0, false, None);
    }

    /// Counts what tells the language.
    pub(super) fn count(&mut self, line: &LineText<'_>) {
        self.n_words += line.pieces.len() as u32;
        self.has_umlaut |= line.mask & scan::EXT_LETTER != 0;
        if line.words & words::GERMAN != 0 {
            self.n_german += line.pieces.iter().filter(|piece| piece.word & words::GERMAN != 0).count() as u32;
        }
    }

    fn is_german(&self) -> bool {
        let needed = if self.has_umlaut { 5 } else { 9 };
        self.n_german >= 2 && self.n_german * 100 >= self.n_words * needed
    }

    /// Takes the word `start..end` of `pieces[index]` into the run, or ends the run.
    pub(super) fn word(
        &mut self,
        bytes: &[u8],
        pieces: &[Piece],
        index: usize,
        (start, end): (usize, usize),
        facts: &mut Vec<Fact>,
    ) {
        let piece = pieces[index];
        let word = bytes.get(start..end).unwrap_or_default();
        let word = if piece.has(scan::APOSTROPHE | scan::EXT_QUOTE) { uncontracted(word) } else { word };
        let flags = if piece.word == 0 && !piece.is_word() { words::flags_of(word) } else { piece.word };
        let is_opener = flags & OPENER != 0;
        let has_odd = piece.has(scan::UPPER | scan::EXT_LETTER | scan::WIDE);
        let is_small = piece.is_word() && piece.has(scan::LOWER) && !has_odd;
        if is_opener || !(is_small && piece.has(scan::CAPITAL) || is_capitalised(word)) {
            self.end_run(facts);
            return;
        }
        let word_end = start + word.len();
        let is_closed = word_end < piece.end as usize;
        match &mut self.run {
            Some(run) if !run.is_closed && run.n_words < MAX_WORDS && start == piece.start as usize => {
                run.end = word_end;
                run.n_words += 1;
                run.is_closed = is_closed;
                run.is_title &= flags & words::TITLE != 0;
            }
            _ => {
                self.end_run(facts);
                let is_opening = start > piece.start as usize || index == 0 || ends_clause(bytes, pieces[index - 1]);
                let is_title = flags & words::TITLE != 0;
                self.run = Some(Run { start, end: word_end, n_words: 1, is_opening, is_closed, is_title });
            }
        }
    }

    /// Ends the run, which becomes a fact for now.
    #[inline]
    pub(super) fn end_run(&mut self, facts: &mut Vec<Fact>) {
        if let Some(run) = self.run.take().filter(|run| !run.is_title) {
            self.close(run, facts);
        }
    }

    fn close(&mut self, run: Run, facts: &mut Vec<Fact>) {
        self.marks.push(Mark { fact: facts.len() as u32, is_single: run.n_words == 1, is_opening: run.is_opening });
        // Its key is found out at the end, if it stays.
        facts.push(Fact { span: Span { start: run.start as u32, end: run.end as u32 }, kind: FactKind::Name, key: 0 });
    }

    /// The facts from number `first` on have another order now.
    pub(super) fn find_again(&mut self, first: usize, facts: &[Fact]) {
        let is_open = |(_, fact): &(usize, &Fact)| fact.kind == FactKind::Name && fact.key == 0;
        let places = facts.iter().enumerate().filter(is_open).map(|(at, _)| (first + at) as u32);
        let begin = self.marks.partition_point(|mark| (mark.fact as usize) < first);
        self.marks[begin..].iter_mut().zip(places).for_each(|(mark, place)| mark.fact = place);
    }

    /// Removes the names of `bytes` that are none: single words that only ever open sentences, and in German all single
    /// words, since every noun is a capitalised one there.
    pub(super) fn finish(&mut self, bytes: &[u8], facts: &mut Vec<Fact>) {
        let is_german = self.is_german();
        for mark in self.marks.iter().filter(|mark| !(mark.is_single && is_german)) {
            let fact = &mut facts[mark.fact as usize];
            fact.key = fact_key(bytes.get(fact.span.start as usize..fact.span.end as usize).unwrap_or_default());
            if mark.is_single && !mark.is_opening {
                self.known.push(fact.key);
            }
        }
        self.known.sort_unstable();
        let known = &self.known;
        let mut doubtful = self.marks.iter().filter(|mark| mark.is_single && (is_german || mark.is_opening)).peekable();
        let Some(first) = doubtful.peek().map(|mark| mark.fact as usize) else { return };
        let mut kept = first;
        for index in first..facts.len() {
            let is_doubtful = doubtful.peek().is_some_and(|mark| mark.fact as usize == index);
            if is_doubtful {
                doubtful.next();
                if is_german || known.binary_search(&facts[index].key).is_err() {
                    continue;
                }
            }
            facts[kept] = facts[index];
            kept += 1;
        }
        facts.truncate(kept);
    }
}

/// The word without what is contracted with it: `Ann's`, `I'd`, `C'est`. Nothing is left of `don't`.
fn uncontracted(word: &[u8]) -> &[u8] {
    let sign = |at: usize| match word.get(at..).unwrap_or_default() {
        [b'\'', ..] => 1,
        rest if rest.starts_with("’".as_bytes()) => "’".len(),
        _ => 0,
    };
    let behind = |at: usize| word.get(at + sign(at)..).unwrap_or_default();
    // An elision in front: a letter or `Qu`, and then a small one.
    if let Some(at) = [1, 2].into_iter().find(|&at| sign(at) > 0)
        && behind(at).first().is_some_and(|byte| !byte.is_ascii_uppercase())
        && (at == 1 || word.starts_with(b"Qu"))
        && !CONTRACTED.contains(&behind(at))
    {
        return b"";
    }
    let ends = |at: &usize| sign(*at) > 0 && CONTRACTED.iter().any(|end| behind(*at).eq_ignore_ascii_case(end));
    match (word.len().saturating_sub(5)..word.len()).find(ends) {
        Some(at) if behind(at) == b"t" && word.get(..at).is_some_and(|start| start.ends_with(b"n")) => b"",
        Some(at) => word.get(..at).unwrap_or(word),
        None => word,
    }
}

/// True for a name that says nothing alone, since it names a value that stands elsewhere: what such a word is the end of
/// (`Order ID`), and several words before a colon that a line begins with.
#[must_use]
pub fn is_label(text: &str, name: Span) -> bool {
    let words = name.of(text);
    let behind = text.get(name.end as usize..).unwrap_or_default();
    let is_word = |word: &str| words::flags_of(word.as_bytes()) & words::LABEL != 0;
    let end = words.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let next = behind.strip_prefix(' ').filter(|behind| behind.starts_with(|c: char| c.is_ascii_uppercase()));
    let next = next.and_then(|behind| behind.split(|c: char| !c.is_alphanumeric()).next()).unwrap_or_default();
    // Bullets, numbers and marks may stand before it.
    let start = name.start as usize;
    let before = text.as_bytes().get(start.saturating_sub(MAX_BULLET)..start).unwrap_or_default();
    let begins_line = || {
        let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
        line.len() < MAX_BULLET && !line.iter().any(u8::is_ascii_alphabetic)
    };
    let is_headed = || behind.trim_start_matches(['*', '_', '`', '"', ' ']).starts_with([':', '：']);
    is_word(end) || is_word(next) || words.contains(' ') && is_headed() && begins_line()
}

/// True when a sentence or clause may begin after `piece`.
fn ends_clause(bytes: &[u8], piece: Piece) -> bool {
    let end = piece.end as usize;
    piece.has(scan::WIDE_END)
        || bytes.get(end.wrapping_sub(1)).is_some_and(|byte| b".!?:;-*|>\"')]_".contains(byte))
        || piece.mask & (scan::PLAIN | scan::DIGIT) == 0
}

/// A capital and then small letters, hyphens or apostrophes.
pub(super) fn is_capitalised(word: &[u8]) -> bool {
    let Some(&first) = word.first() else { return false };
    let skip = match first {
        b'A'..=b'Z' => 1,
        0xc3..=0xdf => {
            let (code, len) = scan::decode(word, 0);
            if scan::class_of(code) & scan::CAPITAL == 0 {
                return false;
            }
            len
        }
        _ => return false,
    };
    let mut after_hyphen = false;
    let mut n_small = 0;
    for &byte in &word[skip..] {
        match byte {
            b'a'..=b'z' | 0x80.. => n_small += 1,
            b'A'..=b'Z' if after_hyphen => {}
            b'-' | b'\'' => {}
            _ => return false,
        }
        after_hyphen = matches!(byte, b'-' | b'\'');
    }
    n_small > 0
}
