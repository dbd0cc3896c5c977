//! Finds amounts and dates that reach over signs and pieces: money, a number with its unit, a day with its month.
//! Knows the pieces around a number; refuses to know identifiers and names.

use super::facts::Finder;
use super::lexed::{Fact, FactKind};
use super::numbers;
use super::scan::{self, Piece};
use super::words;

impl Finder<'_> {
    /// Extends a number over the unit, currency or month in the next pieces.
    pub(super) fn widen(
        &self,
        index: usize,
        piece: Piece,
        start: usize,
        end: usize,
        kind: FactKind,
    ) -> (usize, FactKind) {
        let unchanged = (end, kind);
        if !matches!(kind, FactKind::Number | FactKind::Time | FactKind::Ticket | FactKind::Acronym) {
            return unchanged;
        }
        let rest = self.bytes.get(end..piece.end as usize).unwrap_or_default();
        let Some(next) = self.pieces.get(index + 1).filter(|_| rest.len() <= 1) else { return unchanged };
        let (next_start, next_end) = next.core(self.bytes);
        let adjoins = next_start == next.start as usize;
        let flags = if next.word == 0 {
            words::flags_of(self.bytes.get(next_start..next_end).unwrap_or_default())
        } else {
            next.word
        };
        let text = self.bytes.get(start..end).unwrap_or_default();
        if kind == FactKind::Acronym {
            let is_currency = matches!(text, b"USD" | b"EUR" | b"GBP" | b"CHF" | b"JPY" | b"CNY" | b"RMB" | b"INR");
            let word = self.bytes.get(next_start..next_end).unwrap_or_default();
            return if is_currency && rest.is_empty() && adjoins && numbers::is_number(word) {
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
                if words::find(self.bytes, from, to) & words::CURRENCY != 0 && from == after.start as usize {
                    return (to, FactKind::Money);
                }
            }
            return (next_end, FactKind::Quantity);
        }
        if flags & words::CURRENCY != 0
            || matches!(self.bytes.get(next_start..next_end), Some([0xe2, 0x82, 0xac] | [0xc2, 0xa3 | 0xa5]))
        {
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
    pub(super) fn reach_back(&mut self, index: usize, piece: Piece, start: usize) -> usize {
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
    pub(super) fn month(&mut self, index: usize, piece: Piece, start: usize, end: usize) -> bool {
        let Some(next) = self.pieces.get(index + 1) else { return false };
        if !next.has(scan::DIGIT) || end != piece.end as usize && self.bytes.get(end) != Some(&b'.') {
            return false;
        }
        let (from, to) = next.core(self.bytes);
        let number = self.bytes.get(from..to).unwrap_or_default();
        let number = number
            .strip_suffix(b"st")
            .or_else(|| number.strip_suffix(b"nd"))
            .or_else(|| number.strip_suffix(b"rd"))
            .or_else(|| number.strip_suffix(b"th"))
            .unwrap_or(number);
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
    pub(super) fn money(&mut self, index: usize, piece: Piece, start: usize, end: usize) -> Option<usize> {
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
    pub(super) fn wide_amount(&mut self, start: usize, end: usize) -> Option<usize> {
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
                let n_digits = self
                    .bytes
                    .get(at..)
                    .unwrap_or_default()
                    .iter()
                    .take(4)
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
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
