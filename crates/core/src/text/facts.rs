//! Finds the facts of a line: walks its pieces, passes by plain words, and hands the rest to those who know
//! atoms, numbers, quotes and names. Refuses to know sentences.

use super::atoms;
use super::keys::fact_key;
use super::lexed::{Fact, FactKind, LineKind, Span};
use super::lines::LineText;
use super::names;
pub(super) use super::names::Names;
use super::numbers;
use super::scan::{self, Piece};
use super::words;

/// A piece with none of these is a word, unless a dot or several hyphens are inside.
const INTERESTING: u32 = scan::UPPER
    | scan::CAPITAL
    | scan::DIGIT
    | scan::EXT_DIGIT
    | scan::SLASH
    | scan::UNDER
    | scan::AT
    | scan::HASH
    | scan::MONEY
    | scan::PERCENT
    | scan::TICK
    | scan::QUOTE
    | scan::EXT_QUOTE;
/// A longer run of letters, digits and signs is data.
const MAX_RUN: usize = 256;
/// What a name may carry.
const NAME_MASK: u32 = scan::LOWER
    | scan::UPPER
    | scan::CAPITAL
    | scan::VOWEL
    | scan::EXT_LETTER
    | scan::DASH
    | scan::APOSTROPHE
    | scan::COMMA
    | scan::DOT
    | scan::END
    | scan::COLON
    | scan::BRACKET
    | scan::QUOTE
    | scan::EXT_QUOTE
    | scan::SIGN;

/// Pushes the facts of the line, sorted by start.
pub(super) fn find(line: &LineText<'_>, kind: LineKind, facts: &mut Vec<Fact>, names: &mut Names) {
    let first = facts.len();
    let is_text = !matches!(
        kind,
        LineKind::Fenced
            | LineKind::Code
            | LineKind::Json
            | LineKind::Diff
            | LineKind::Markup
            | LineKind::Data
            | LineKind::Listing
            | LineKind::Trace
    );
    let mut finder = Finder {
        bytes: line.bytes,
        pieces: line.pieces,
        line_end: line.end,
        facts,
        names,
        is_text,
        free: 0,
        quote_end: 0,
    };
    if is_text {
        finder.names.count(line);
    }
    if kind == LineKind::Code {
        // The number that `cat -n` puts before a line is none of its facts.
        finder.free = line.start + line.trimmed().iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    for (index, piece) in line.pieces.iter().enumerate() {
        if piece.has(INTERESTING) {
            finder.piece(index, *piece);
            continue;
        }
        finder.names.end_run(line.bytes, finder.facts);
        if piece.mask & (scan::VOWEL | scan::DOT | scan::DASH) != scan::VOWEL && piece.has(scan::LOWER) {
            finder.word(index, *piece);
        }
    }
    finder.names.end_run(line.bytes, finder.facts);
    let found = &mut facts[first..];
    if !found.is_sorted_by_key(|fact| fact.span) {
        found.sort_by_key(|fact| (fact.span.start, std::cmp::Reverse(fact.span.end)));
    }
}

/// Drops the names that the whole text does not bear out; `first` is the text's first fact.
pub(super) fn finish_names(names: &mut Names, facts: &mut Vec<Fact>, _first: usize) {
    names.finish(facts);
}

/// Classes of the bytes of an atom.
static ATOMS: [u8; 256] = atom_classes();
const WORD: u8 = 1;
const VOWEL: u8 = 2;
/// With any of these an atom may be a fact.
const FACTUAL: u8 = 4;
/// What is next to it decides.
const OPEN: u8 = 8;
/// Ends it.
const STOP: u8 = 16;

const fn atom_classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a' | b'e' | b'i' | b'o' | b'u' | b'y' | 0xc3..=0xd3 => WORD | VOWEL,
            b'a'..=b'z' => WORD,
            b'A'..=b'Z' | b'0'..=b'9' | b'.' | b':' | b'/' | b'-' | b'_' | b'@' | b'#' | b'+' | b'~' => FACTUAL,
            b',' | b'\\' | 0x80..=0xbf => OPEN,
            _ => STOP,
        };
        byte += 1;
    }
    table
}

/// Where the search in a line stands.
pub(super) struct Finder<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) pieces: &'a [Piece],
    pub(super) line_end: usize,
    pub(super) facts: &'a mut Vec<Fact>,
    pub(super) names: &'a mut Names,
    pub(super) is_text: bool,
    /// Bytes before this belong to a fact already.
    pub(super) free: usize,
    /// Bytes before this belong to a quote or code span already.
    pub(super) quote_end: usize,
}

impl Finder<'_> {
    /// True when a neighbour of the piece is an ordinary word in capitals: then all is, and nothing is an acronym.
    fn is_loud(&self, index: usize) -> bool {
        let is_word = |piece: &Piece| {
            piece.has(scan::CAPITAL)
                && !piece.has(scan::LOWER | scan::DIGIT)
                && piece.end - piece.start > 1
                && piece.word
                    & (words::OPENER | words::FUNCTION | words::OBLIGATION | words::NEGATION | words::EMPHASIS)
                    != 0
        };
        self.pieces.get(index + 1).is_some_and(is_word)
            || index.checked_sub(1).and_then(|at| self.pieces.get(at)).is_some_and(is_word)
    }

    /// Pushes a fact, unless it begins in one that is there already.
    pub(super) fn push(&mut self, start: usize, end: usize, kind: FactKind) {
        if start < self.free {
            return;
        }
        let text = self.bytes.get(start..end).unwrap_or_default();
        let key = match kind {
            FactKind::Number | FactKind::Quantity | FactKind::Money | FactKind::Percent => numbers::number_key(text),
            _ => fact_key(text),
        };
        self.names.end_run(self.bytes, self.facts);
        self.facts.push(Fact { span: Span { start: start as u32, end: end as u32 }, kind, key });
        self.free = end;
    }

    /// A piece of small letters and punctuation.
    fn word(&mut self, index: usize, piece: Piece) {
        let (start, end) = (piece.start as usize, piece.end as usize);
        if piece.has(scan::DOT)
            && memchr::memchr(b'.', &self.bytes[start..end - 1]).is_some_and(|at| self.bytes[start + at + 1] != b'.')
            || piece.has(scan::DASH)
                && memchr::memchr_iter(b'-', self.bytes.get(start..end.min(start + 64)).unwrap_or_default()).count()
                    >= 2
        {
            self.atoms(index, piece);
        } else if piece.mask & (scan::VOWEL | scan::EXT_LETTER | scan::WIDE) == 0 && piece.has(scan::LOWER) {
            let (start, end) = piece.core(self.bytes);
            if atoms::is_vowelless(self.bytes.get(start..end).unwrap_or_default()) {
                self.push(start, end, FactKind::Vowelless);
            }
        }
    }

    fn piece(&mut self, index: usize, piece: Piece) {
        if self.is_text && piece.has(scan::TICK | scan::QUOTE | scan::EXT_QUOTE) {
            self.quotes(piece);
        }
        if (piece.start as usize) < self.free && (piece.end as usize) <= self.free {
            return;
        }
        if piece.mask & !NAME_MASK == 0 && piece.has(scan::CAPITAL | scan::UPPER) {
            let (start, end) = piece.core(self.bytes);
            if piece.word & words::MONTH != 0 && self.month(index, piece, start, end) {
                return;
            }
            let word = self.bytes.get(start..end).unwrap_or_default();
            let is_simple =
                !piece.has(scan::DASH) && (!piece.has(scan::UPPER) || !word.iter().skip(1).any(u8::is_ascii_uppercase));
            if self.is_text && (is_simple || piece.has(scan::DASH)) {
                self.names.word(self.bytes, self.pieces, index, (start, end), self.facts);
            }
            if is_simple {
                return;
            }
        }
        if piece.mask & !(scan::DIGIT | scan::DOT | scan::COMMA) == 0 && self.number(index, piece) {
            return;
        }
        self.atoms(index, piece);
    }

    /// A plain number with nothing but a stop behind it; false when the piece is none.
    fn number(&mut self, index: usize, piece: Piece) -> bool {
        let (start, end) = piece.core(self.bytes);
        let word = self.bytes.get(start..end).unwrap_or_default();
        if start > piece.start as usize || word.len() > atoms::MAX_ATOM || !numbers::is_number(word) {
            return false;
        }
        let (end, kind) = self.widen(index, piece, start, end, FactKind::Number);
        self.push(start, end, kind);
        true
    }

    /// Goes through the runs of letters, digits and joining signs of a piece.
    fn atoms(&mut self, index: usize, piece: Piece) {
        let end = piece.end as usize;
        let mut at = piece.start as usize;
        if piece.has(scan::COLON) && piece.has(scan::SLASH) {
            at = self.urls(at, end);
        }
        while at < end {
            let start = at;
            let mut mask = 0;
            let rest = self.bytes.get(start..end).unwrap_or_default();
            let mut n_bytes = 0;
            while let Some(&byte) = rest.get(n_bytes) {
                let class = ATOMS[usize::from(byte)];
                if class & (STOP | OPEN) != 0 && (class == STOP || !self.joins(start, start + n_bytes, end)) {
                    break;
                }
                mask |= class;
                n_bytes += 1;
            }
            at += n_bytes;
            if at == start {
                at = self.skip_signs(start, end);
            } else if mask & (FACTUAL | VOWEL) != VOWEL || piece.has(scan::MONEY) {
                at = self.atom(index, piece, start, at);
            }
        }
    }

    /// Where the signs and characters at `at`, which begin no atom, are over.
    fn skip_signs(&self, mut at: usize, end: usize) -> usize {
        loop {
            at += match self.bytes[at] {
                // `\n` and the like in quoted text are no letters.
                b'\\' if matches!(self.bytes.get(at + 1), Some(b'n' | b'r' | b't')) => 2,
                0xe0..=0xef => 3,
                0xf0.. => 4,
                _ => 1,
            };
            if at >= end || ATOMS[usize::from(self.bytes[at])] != STOP {
                return at;
            }
        }
    }

    /// True when the sign at `at` belongs to the atom that begins at `start`: a comma does between digits.
    /// A backslash does behind a drive letter.
    fn joins(&self, start: usize, at: usize, end: usize) -> bool {
        let before = at.checked_sub(1).map_or(b' ', |before| self.bytes[before]);
        match self.bytes[at] {
            b',' => at + 1 < end && self.bytes[at + 1].is_ascii_digit() && before.is_ascii_digit(),
            b'\\' => at >= start + 2 && self.bytes[start + 1] == b':' && self.bytes[start].is_ascii_alphabetic(),
            0x80..=0xbf => (0xc3..=0xd3).contains(&before),
            _ => false,
        }
    }

    /// The facts of one atom; returns where to go on.
    fn atom(&mut self, index: usize, piece: Piece, start: usize, end: usize) -> usize {
        let word = &self.bytes[start..end];
        // `</name` is the end of a tag and no path.
        let is_tag = word[0] == b'/' && start > 0 && self.bytes[start - 1] == b'<';
        if word.len() > MAX_RUN || is_tag {
            return end;
        }
        if let Some(end) = self.money(index, piece, start, end) {
            return end;
        }
        if self.bytes.get(end) == Some(&b'%')
            && word.first().is_some_and(u8::is_ascii_digit)
            && numbers::is_number(word)
        {
            self.push(start, end + 1, FactKind::Percent);
            return end + 1;
        }
        if piece.has(scan::WIDE | scan::PERCENT)
            && word.first().is_some_and(u8::is_ascii_digit)
            && let Some(end) = self.wide_amount(start, end)
        {
            return end;
        }
        let bytes = self.bytes;
        if self.is_text && piece.has(scan::WIDE) && names::is_capitalised(&bytes[start..end]) {
            self.push(start, end, FactKind::Name);
            return end;
        }
        let mut next = end;
        atoms::find(&bytes[start..end], &mut |from, to, kind| {
            let (from, to) = (start + from, start + to);
            if kind == FactKind::Acronym && self.is_loud(index) {
                return;
            }
            let (to, kind) = self.widen(index, piece, from, to, kind);
            let from = if kind == FactKind::Ticket { self.reach_back(index, piece, from) } else { from };
            self.push(from, to, kind);
            next = next.max(to.min(piece.end as usize));
        });
        next
    }
}
