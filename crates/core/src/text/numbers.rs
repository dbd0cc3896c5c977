//! Says what a piece that begins with a digit or a sign of money is: a number, an amount, a date, a version, …
//! Knows forms of digits; refuses to know words around them.

use super::keys::Key;
use super::lexed::FactKind;
use super::words;

/// `12`, `3.5`, `4,500,000`, `10.000,00`: digits with single dots and commas between.
pub(super) fn is_number(word: &[u8]) -> bool {
    let mut after_digit = false;
    let mut n_dots = 0;
    for &byte in word {
        match byte {
            b'0'..=b'9' => after_digit = true,
            b'.' | b',' if after_digit => {
                after_digit = false;
                n_dots += usize::from(byte == b'.');
            }
            _ => return false,
        }
    }
    // `10.000.000`
    let mut groups = word.split(|&byte| byte == b',' || byte == b'.').skip(1);
    after_digit && (n_dots <= 1 || groups.all(|group| group.len() == 3))
}

/// What digits with dots, colons, hyphens and slashes are; `None` when they are several facts or none.
pub(super) fn of_digits(word: &[u8]) -> Option<FactKind> {
    if is_number(word) {
        return Some(FactKind::Number);
    }
    if let Some(kind) = dotted(word) {
        return Some(kind);
    }
    if is_date(word) {
        return Some(FactKind::Date);
    }
    if is_clock(word) {
        return Some(FactKind::Time);
    }
    is_phone(word).then_some(FactKind::Phone)
}

/// Up to `N` groups of digits between `sign`; `None` when there are more, or anything else.
fn groups<const N: usize>(word: &[u8], sign: u8) -> Option<([&[u8]; N], usize)> {
    let mut found = [&[][..]; N];
    let mut n_found = 0;
    for group in word.split(|&byte| byte == sign) {
        if group.is_empty() || !group.iter().all(u8::is_ascii_digit) || n_found == N {
            return None;
        }
        found[n_found] = group;
        n_found += 1;
    }
    Some((found, n_found))
}

fn value(digits: &[u8]) -> u32 {
    digits.iter().take(6).fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
}

/// `1.2.3` is a version, `10.0.0.1` an address, `1.5.2024` a date.
fn dotted(word: &[u8]) -> Option<FactKind> {
    let (parts, n_parts) = groups::<6>(word, b'.')?;
    match n_parts {
        3 if is_day_month_year(parts[0], parts[1], parts[2]) => Some(FactKind::Date),
        4 if parts.iter().take(4).all(|part| part.len() <= 3 && value(part) <= 255) => Some(FactKind::Ip),
        3..=6 => Some(FactKind::Version),
        _ => None,
    }
}

fn is_day_month_year(day: &[u8], month: &[u8], year: &[u8]) -> bool {
    let (day, month) = (value(day), value(month));
    year.len() == 4
        && (1900..=2199).contains(&value(year))
        && ((1..=31).contains(&day) && (1..=12).contains(&month)
            || (1..=31).contains(&month) && (1..=12).contains(&day))
}

/// `2024-05-01`, with or without `T` and a time; `01.05.2024` with hyphens or slashes.
pub(super) fn is_date(word: &[u8]) -> bool {
    if let [year @ .., b'-' | b'/', m1, m2, b'-' | b'/', d1, d2] = word.get(..10).unwrap_or_default() {
        let all = year.iter().chain([m1, m2, d1, d2]).all(u8::is_ascii_digit);
        let rest = word.get(10..).unwrap_or_default();
        return all
            && year.len() == 4
            && (rest.is_empty() || rest[0] == b'T' && rest.get(1).is_some_and(u8::is_ascii_digit));
    }
    [b'/', b'-'].iter().any(|&sign| {
        groups::<3>(word, sign).is_some_and(|(parts, n_parts)| {
            n_parts == 3
                && parts[0].len() <= 2
                && parts[1].len() <= 2
                && (is_day_month_year(parts[0], parts[1], parts[2]) || sign == b'/' && parts[2].len() == 2)
        })
    })
}

/// `14:30`, `9:05:12`, `9:30pm`
pub(super) fn is_clock(word: &[u8]) -> bool {
    let word = [&b"am"[..], b"pm", b"Z"].iter().find_map(|end| word.strip_suffix(*end)).unwrap_or(word);
    let word = match word.iter().position(|&byte| byte == b'.') {
        Some(at) if at >= 7 => &word[..at],
        _ => word,
    };
    groups::<3>(word, b':').is_some_and(|(parts, n_parts)| {
        n_parts >= 2
            && parts[0].len() <= 2
            && value(parts[0]) < 25
            && parts[1..n_parts].iter().all(|part| part.len() == 2 && value(part) < 61)
    })
}

/// `555-123-4567`, `+49-30-1234567`, `+491234567890`
fn is_phone(word: &[u8]) -> bool {
    let (digits, has_plus) = match word {
        [b'+', rest @ ..] => (rest, true),
        _ => (word, false),
    };
    let Some((parts, n_parts)) = groups::<6>(digits, b'-') else { return false };
    let n_digits: usize = parts.iter().map(|part| part.len()).sum();
    if has_plus {
        return (8..=15).contains(&n_digits);
    }
    n_parts == 3 && parts[0].len() == 3 && parts[1].len() == 3 && parts[2].len() == 4
        || n_parts == 4 && parts[3].len() == 4 && parts[0].len() <= 2
}

/// What a number with letters right behind it is: `30s`, `500MB`, `9am`, `3rd`.
pub(super) fn with_suffix(word: &[u8]) -> Option<FactKind> {
    let n_digits = word.iter().take_while(|&&byte| byte.is_ascii_digit() || byte == b'.' || byte == b',').count();
    let (number, suffix) = (word.get(..n_digits)?, word.get(n_digits..)?);
    if !is_number(number) || suffix.is_empty() || suffix.len() > 14 {
        return None;
    }
    let flags = words::flags_of(suffix);
    if flags & words::CLOCK != 0 {
        Some(FactKind::Time)
    } else if flags & words::CURRENCY != 0 {
        Some(FactKind::Money)
    } else if flags & (words::UNIT | words::SCALE) != 0 || is_nested(suffix) {
        Some(FactKind::Quantity)
    } else {
        None
    }
}

/// The rest of `1h30m`, `0m3.2s`
fn is_nested(suffix: &[u8]) -> bool {
    matches!(suffix, [b'h' | b'm', rest @ .., b'm' | b's'] if !rest.is_empty() && rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'))
}

/// The key of a number with or without a unit: blanks and separators of thousands left out, full-width digits as
/// digits.
pub(super) fn number_key(word: &[u8]) -> u64 {
    let mut key = Key::new();
    let mut at = 0;
    while let Some(&byte) = word.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            // Blanks that do not break.
            0xc2 if word.get(at + 1) == Some(&0xa0) => at += 1,
            0xe2 if word.get(at + 1..at + 3) == Some(&[0x80, 0xaf]) => at += 2,
            b',' | b'\'' => {
                let n_digits = word[at + 1..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
                if n_digits != 3 {
                    key.push(b'.');
                }
            }
            0xef if word.get(at + 1) == Some(&0xbc)
                && word.get(at + 2).is_some_and(|byte| (0x90..=0x99).contains(byte)) =>
            {
                key.push(word[at + 2] - 0x90 + b'0');
                at += 2;
            }
            _ => key.push(byte),
        }
        at += 1;
    }
    key.finish()
}
