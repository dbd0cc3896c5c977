//! Finds the facts of a line: walks its pieces, passes by plain words, looks for URLs, quotes, code spans and for amounts
//! and dates that reach over pieces, and hands the rest to those who know atoms, numbers and names. Refuses to know
//! sentences.

use super::atoms;
use super::classes::byte_table;
use super::counts;
use super::keys::fact_key;
use super::lexed::{Fact, FactKind, LineKind, Span};
use super::line::LineText;
use super::names::{self, Names};
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
/// The closing sign of a quote or code span is looked for within this many bytes.
const MAX_SPAN: usize = 200;
/// Quoted text is a fact up to this many characters.
const MAX_QUOTED: usize = 60;
/// What a name may carry.
const NAME_MASK: u32 = scan::PLAIN & !scan::WIDE | NAME_SIGNS;
const NAME_SIGNS: u32 = scan::DASH | scan::APOSTROPHE | scan::COMMA | scan::DOT | scan::END | scan::COLON | QUOTING;
const QUOTING: u32 = scan::BRACKET | scan::QUOTE | scan::EXT_QUOTE | scan::SIGN;

/// Pushes the facts of the line, sorted by start.
pub(super) fn find(line: &LineText<'_>, kind: LineKind, facts: &mut Vec<Fact>, names: &mut Names) {
    let first = facts.len();
    let is_text = !matches!(
        kind,
        LineKind::Fenced
            | LineKind::Code
            | LineKind::Json
            | LineKind::Diff
            | LineKind::DiffHead
            | LineKind::Markup
            | LineKind::Data
            | LineKind::Listing
            | LineKind::Trace
            | LineKind::TraceHead
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
    if matches!(kind, LineKind::Code | LineKind::Grep) {
        // The number that `cat -n` or a search puts before a line is none of its facts.
        finder.free = line.start + line.trimmed().iter().take_while(|byte| byte.is_ascii_digit()).count();
    }
    for (index, piece) in line.pieces.iter().enumerate() {
        if piece.has(INTERESTING) {
            finder.piece(index, *piece);
            continue;
        }
        finder.names.end_run(finder.facts);
        if piece.mask & (scan::VOWEL | scan::DOT | scan::DASH) != scan::VOWEL && piece.has(scan::LOWER) {
            finder.word(index, *piece);
        }
    }
    finder.names.end_run(finder.facts);
    let found = &mut facts[first..];
    if !found.is_sorted_by_key(|fact| fact.span) {
        found.sort_by_key(|fact| (fact.span.start, std::cmp::Reverse(fact.span.end)));
        names.find_again(first, found);
    }
}

/// Classes of the bytes of an atom.
static ATOMS: [u8; 256] = byte_table!(u8:
    b'a' | b'e' | b'i' | b'o' | b'u' | b'y' | 0xc3..=0xd3 => WORD | VOWEL,
    b'a'..=b'z' => WORD,
    b'A'..=b'Z' | b'0'..=b'9' | b'.' | b':' | b'/' | b'-' | b'_' | b'@' | b'#' | b'+' | b'~' => FACTUAL,
    b',' | b'\\' | 0x80..=0xbf => OPEN,
    _ => STOP,
);
const WORD: u8 = 1;
const VOWEL: u8 = 2;
/// With any of these an atom may be a fact.
const FACTUAL: u8 = 4;
/// What is next to it decides.
const OPEN: u8 = 8;
/// Ends it.
const STOP: u8 = 16;

/// Where the search in a line stands.
struct Finder<'a> {
    bytes: &'a [u8],
    pieces: &'a [Piece],
    line_end: usize,
    facts: &'a mut Vec<Fact>,
    names: &'a mut Names,
    is_text: bool,
    /// Bytes before this belong to a fact already.
    free: usize,
    /// Bytes before this belong to a quote or code span already.
    quote_end: usize,
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
    fn push(&mut self, start: usize, end: usize, kind: FactKind) {
        if start < self.free {
            return;
        }
        let text = self.bytes.get(start..end).unwrap_or_default();
        let key = match kind {
            FactKind::Number | FactKind::Quantity | FactKind::Money | FactKind::Percent => numbers::number_key(text),
            _ => fact_key(text),
        };
        self.names.end_run(self.facts);
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
            if atoms::is_vowelless(piece.word(self.bytes)) {
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

    /// Pushes a URL of the piece; returns where the rest begins.
    fn urls(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        while let Some(found) = memchr::memmem::find(&self.bytes[at..end], b"://") {
            let sign = at + found;
            let mut from = sign;
            while from > at && self.bytes[from - 1].is_ascii_alphanumeric() && sign - from < 12 {
                from -= 1;
            }
            let mut to = sign + 3;
            while to < end
                && !matches!(
                    self.bytes[to],
                    b'"' | b'\'' | b'<' | b'>' | b'`' | b'|' | b'{' | b'}' | b'\\' | b'^' | 0x80..
                )
            {
                to += 1;
            }
            let has_open = memchr::memchr(b'(', &self.bytes[sign..to]).is_some();
            if !has_open {
                to = memchr::memchr(b')', &self.bytes[sign..to]).map_or(to, |at| sign + at);
            }
            while to > sign + 3 && is_url_tail(self.bytes[to - 1], has_open) {
                to -= 1;
            }
            if from < sign && to > sign + 3 && to - from <= 2000 {
                self.push(from, to, FactKind::Url);
            }
            at = to.max(sign + 3);
        }
        at
    }

    /// Pushes the code spans and quotes that open in the piece.
    fn quotes(&mut self, piece: Piece) {
        let end = piece.end as usize;
        let mut at = (piece.start as usize).max(self.quote_end);
        while at < end {
            let Some((close, len)) = closing(self.bytes, at, piece.start as usize) else {
                at += 1;
                continue;
            };
            let limit = self.line_end.min(at + len + MAX_SPAN);
            let body = self.bytes.get(at + len..limit).unwrap_or_default();
            let found = match close {
                [sign] => memchr::memchr(*sign, body),
                signs => memchr::memmem::find(body, signs),
            };
            let Some(found) = found else {
                at += len;
                continue;
            };
            let inner = &body[..found];
            let stop = at + len + found + close.len();
            let is_code = close == b"`";
            if found > 0 && (is_code || counts::count_chars(inner) <= MAX_QUOTED) {
                self.names.end_run(self.facts);
                let kind = if is_code { FactKind::CodeSpan } else { FactKind::Quoted };
                let span = Span { start: at as u32, end: stop as u32 };
                self.facts.push(Fact { span, kind, key: fact_key(inner) });
            }
            at = stop;
            self.quote_end = stop;
        }
    }

    /// Extends a number over the unit, currency or month in the next pieces.
    fn widen(&self, index: usize, piece: Piece, start: usize, end: usize, kind: FactKind) -> (usize, FactKind) {
        let unchanged = (end, kind);
        if !matches!(kind, FactKind::Number | FactKind::Time | FactKind::Ticket | FactKind::Acronym) {
            return unchanged;
        }
        let rest = self.bytes.get(end..piece.end as usize).unwrap_or_default();
        let Some(next) = self.pieces.get(index + 1).filter(|_| rest.len() <= 1) else { return unchanged };
        let (next_start, next_end) = next.core(self.bytes);
        let adjoins = next_start == next.start as usize;
        let next_word = next.word(self.bytes);
        let flags = if next.word == 0 { words::flags_of(next_word) } else { next.word };
        let text = self.bytes.get(start..end).unwrap_or_default();
        if kind == FactKind::Acronym {
            let is_currency = matches!(text, b"USD" | b"EUR" | b"GBP" | b"CHF" | b"JPY" | b"CNY" | b"RMB" | b"INR");
            return if is_currency && rest.is_empty() && adjoins && numbers::is_number(next_word) {
                (next_end, FactKind::Money)
            } else {
                unchanged
            };
        }
        if kind == FactKind::Ticket || !adjoins {
            return unchanged;
        }
        let is_day = text.len() <= 2 && flags & words::MONTH != 0 && (next.has(scan::CAPITAL));
        if is_day && (rest.is_empty() || rest == b".") {
            return (self.with_year(index + 1, next_end, *next), FactKind::Date);
        }
        if !rest.is_empty() {
            return unchanged;
        }
        if flags & words::CLOCK != 0 && text.len() <= 8 {
            let mut stop = next_end;
            if self.bytes.get(next_end) == Some(&b'.') && self.bytes.get(next_end.wrapping_sub(2)) == Some(&b'.') {
                stop += 1;
            }
            return (stop, FactKind::Time);
        }
        if kind == FactKind::Time {
            return unchanged;
        }
        if flags & words::SCALE != 0 && next_end - next_start > 1 && next_end == next.end as usize {
            if let Some(after) = self.pieces.get(index + 2) {
                let (from, to) = after.core(self.bytes);
                if words::find(self.bytes, from, to).flags & words::CURRENCY != 0 && from == after.start as usize {
                    return (to, FactKind::Money);
                }
            }
            return (next_end, FactKind::Quantity);
        }
        if flags & words::CURRENCY != 0 || matches!(next_word, [0xe2, 0x82, 0xac] | [0xc2, 0xa3 | 0xa5]) {
            return (next_end, FactKind::Money);
        }
        if self.bytes.get(next_start) == Some(&b'%') {
            return (next_start + 1, FactKind::Percent);
        }
        if flags & words::UNIT != 0 {
            return (next_end, FactKind::Quantity);
        }
        unchanged
    }

    /// Takes `PR`, `issue`, … before a number into it.
    fn reach_back(&mut self, index: usize, piece: Piece, start: usize) -> usize {
        let before = index.checked_sub(1).and_then(|index| self.pieces.get(index));
        let Some(before) = before.filter(|before| before.word & words::TICKET != 0 && before.mask & !scan::PLAIN == 0)
        else {
            return start;
        };
        if start > piece.start as usize + 4 || start != piece.core(self.bytes).0 {
            return start;
        }
        let is_fact = |fact: &Fact| fact.kind == FactKind::Acronym && fact.span.start == before.start;
        if self.facts.last().is_some_and(is_fact) {
            self.facts.pop();
            self.free = before.start as usize;
        }
        if before.start as usize >= self.free { before.start as usize } else { start }
    }

    /// `March 3`, `May 1, 2024`, `May 2024`; false when no number follows.
    fn month(&mut self, index: usize, piece: Piece, start: usize, end: usize) -> bool {
        let Some(next) = self.pieces.get(index + 1) else { return false };
        if !next.has(scan::DIGIT) || end != piece.end as usize && self.bytes.get(end) != Some(&b'.') {
            return false;
        }
        let (from, to) = next.core(self.bytes);
        let number = self.bytes.get(from..to).unwrap_or_default();
        let ordinal = [b"st", b"nd", b"rd", b"th"].iter().find_map(|end| number.strip_suffix(*end));
        let number = ordinal.unwrap_or(number);
        if from != next.start as usize || !number.iter().all(u8::is_ascii_digit) || !matches!(number.len(), 1 | 2 | 4) {
            return false;
        }
        let stop = if number.len() == 4 { to } else { self.with_year(index + 1, to, *next) };
        self.push(start, stop, FactKind::Date);
        true
    }

    /// `end`, or the end of the year in the piece after `index`.
    fn with_year(&self, index: usize, end: usize, piece: Piece) -> usize {
        let rest = self.bytes.get(end..piece.end as usize).unwrap_or_default();
        let Some(next) = self.pieces.get(index + 1) else { return end };
        let (from, to) = next.core(self.bytes);
        let is_year = matches!(self.bytes.get(from..to), Some([b'1' | b'2', rest @ ..]) if rest.len() == 3 && rest.iter().all(u8::is_ascii_digit));
        if is_year && from == next.start as usize && (rest.is_empty() || rest == b"," || rest == b".") {
            to
        } else {
            end
        }
    }

    /// `$500`, `€12.50`, `500€`, `$4.5 million`; returns where the amount ends.
    fn money(&mut self, index: usize, piece: Piece, start: usize, end: usize) -> Option<usize> {
        if !piece.has(scan::MONEY) {
            return None;
        }
        let word = self.bytes.get(start..end)?;
        let n_digits = word.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
        let number = word.get(..n_digits)?;
        let trimmed = number.iter().rposition(u8::is_ascii_digit)? + 1;
        if !numbers::is_number(&number[..trimmed]) {
            return None;
        }
        let before = sign_before(self.bytes, start);
        let after = sign_after(self.bytes, start + trimmed);
        let (from, mut to) = match (before, after) {
            (Some(len), _) => (start - len, start + trimmed),
            (None, Some(len)) => (start, start + trimmed + len),
            _ => return None,
        };
        let suffix = word.get(trimmed..).unwrap_or_default();
        if before.is_some() && matches!(suffix, [b'k' | b'K' | b'M' | b'm' | b'B' | b'b'] | [b'b' | b'm', b'n']) {
            to = end;
        } else if before.is_some()
            && to == piece.end as usize
            && let Some(next) =
                self.pieces.get(index + 1).filter(|next| next.word & words::SCALE != 0 && next.end - next.start > 2)
        {
            to = next.core(self.bytes).1;
        }
        self.push(from, to, FactKind::Money);
        Some(to.min(piece.end as usize).max(start + trimmed))
    }

    /// `3000元`, `5月1日`, `15％`: digits with signs of wide scripts behind them.
    fn wide_amount(&mut self, start: usize, end: usize) -> Option<usize> {
        if !numbers::is_number(self.bytes.get(start..end)?) {
            return None;
        }
        let mut at = end;
        let (code, len) = scan::decode(self.bytes, at);
        let scale = matches!(char::from_u32(code), Some('万' | '萬' | '亿' | '億' | '千' | '百'));
        let (code, len) = if scale {
            at += len;
            scan::decode(self.bytes, at)
        } else {
            (code, len)
        };
        let kind = match char::from_u32(code) {
            Some('元' | '円' | '块' | '圆' | '圓' | '￥') => FactKind::Money,
            Some('年' | '月' | '日' | '号' | '號') => FactKind::Date,
            Some('時' | '时' | '点' | '點') => FactKind::Time,
            Some('％') => FactKind::Percent,
            Some(
                '分' | '秒' | '个' | '個' | '人' | '名' | '岁' | '歳' | '回' | '度' | '倍' | '件' | '条' | '本' | '台'
                | '階' | '层' | '週' | '周' | '天' | '次' | '小' | '米' | '公' | '只' | '家' | '位' | '枚' | '冊'
                | '种' | '部' | '楼' | '歩' | '代' | '町' | '킬' | '원' | '명' | '개' | '일',
            ) => FactKind::Quantity,
            _ if scale => {
                self.push(start, at, FactKind::Quantity);
                return Some(at);
            }
            _ => return None,
        };
        at += len;
        if kind == FactKind::Date || kind == FactKind::Time {
            // `2024年5月1日`, `9時30分`
            loop {
                let n_digits = self.bytes.iter().skip(at).take(4).take_while(|byte| byte.is_ascii_digit()).count();
                let (code, len) = scan::decode(self.bytes, at + n_digits);
                let goes_on = matches!(char::from_u32(code), Some('月' | '日' | '号' | '時' | '时' | '分' | '秒'));
                if n_digits == 0 || !goes_on || at + n_digits + len > self.line_end {
                    break;
                }
                at += n_digits + len;
            }
        }
        self.push(start, at, kind);
        Some(at)
    }
}

/// True when a URL does not end with `byte`; a bracket may close one that the URL opens.
fn is_url_tail(byte: u8, has_open: bool) -> bool {
    matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b']' | b'*' | b'_') || byte == b')' && !has_open
}

/// The sign that closes what opens at `at`, and the length of the opening sign.
fn closing(bytes: &[u8], at: usize, piece_start: usize) -> Option<(&'static [u8], usize)> {
    match bytes.get(at..)? {
        [b'`', ..] => Some((b"`", 1)),
        [b'"', ..] if at == piece_start || !bytes[at - 1].is_ascii_alphanumeric() => Some((b"\"", 1)),
        [0xe2, 0x80, 0x9c, ..] => Some(("”".as_bytes(), 3)),
        [0xe2, 0x80, 0x9e, ..] => Some(("“".as_bytes(), 3)),
        [0xc2, 0xab, ..] => Some(("»".as_bytes(), 2)),
        [0xe3, 0x80, 0x8c, ..] => Some(("」".as_bytes(), 3)),
        [0xe3, 0x80, 0x8e, ..] => Some(("』".as_bytes(), 3)),
        [0xe3, 0x80, 0x8a, ..] => Some(("》".as_bytes(), 3)),
        _ => None,
    }
}

/// Length of the sign of money that ends at `end`.
fn sign_before(bytes: &[u8], end: usize) -> Option<usize> {
    match bytes.get(..end)? {
        [.., b'$'] => Some(1),
        [.., 0xc2, 0xa3 | 0xa5] => Some(2),
        [.., 0xe2, 0x82, 0xa0..=0xbf] | [.., 0xef, 0xbf, 0xa5] => Some(3),
        _ => None,
    }
}

/// Length of the sign of money that starts at `start`.
fn sign_after(bytes: &[u8], start: usize) -> Option<usize> {
    match bytes.get(start..)? {
        [b'$', ..] => Some(1),
        [0xc2, 0xa3 | 0xa5, ..] => Some(2),
        [0xe2, 0x82, 0xa0..=0xbf, ..] => Some(3),
        _ => None,
    }
}
