//! Numbers with what they count: reads them however they are written, and says which of them a text bears out. Knows
//! signs and units; refuses to know identifiers, whose digits are no numbers.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use crate::text::words::{Entries, words_file};

/// What names stand for.
pub(super) type Values = HashMap<&'static str, &'static str, FixedState>;

/// The entries of a word list by their names, each with what its line begins with; of equal names the first.
pub(super) fn by_name(list: &'static str) -> Values {
    let mut values = Values::default();
    for (value, name) in Entries::of(list) {
        values.entry(name).or_insert(value);
    }
    values
}

/// Units by their names, each as a factor of what it measures: `1e-3/s`.
static UNITS: LazyLock<Values> = LazyLock::new(|| by_name(words_file!("units")));
/// Words and letters that multiply, as a power of ten; letters only right behind the digits.
static SCALES: LazyLock<Values> = LazyLock::new(|| by_name(words_file!("scales")));
/// Numbers as words, of the languages that are spoken most here.
static SPELLED: LazyLock<Values> = LazyLock::new(|| by_name(words_file!("numbers")));

/// A number in a text: its bytes, what it may mean, and its unit as in [`UNITS`].
#[derive(Debug)]
pub(super) struct Amount {
    pub(super) bytes: Range<usize>,
    /// As one number.
    readings: Vec<String>,
    /// As several, all of which count.
    parts: Vec<String>,
    unit: Option<&'static str>,
}

/// The numbers of a text.
#[derive(Default)]
pub(super) struct Amounts {
    /// The units with which each stands there; `None` without one.
    units: HashMap<String, Vec<Option<&'static str>>, FixedState>,
    /// What each measures, in the basic unit.
    measured: HashSet<(&'static str, u64), FixedState>,
}

impl Amounts {
    /// Those of a folded text, but for digits in `taken`, which are sorted.
    pub(super) fn of(text: &str, taken: &[Range<usize>]) -> Self {
        let mut amounts = Self::default();
        for amount in find(text, taken) {
            amounts.measured.extend(amount.measure());
            for reading in amount.readings.into_iter().chain(amount.parts) {
                amounts.grant(reading, amount.unit);
            }
        }
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            if word.is_ascii() || word.len() < 16 && (word.chars().next().unwrap_or(' ') as u32) < 0x1100 {
                amounts.grant_spelled(word);
            } else {
                word.chars().for_each(|c| amounts.grant_spelled(c.encode_utf8(&mut [0; 4])));
            }
        }
        amounts
    }

    fn grant_spelled(&mut self, word: &str) {
        if let Some(number) = SPELLED.get(word) {
            self.grant((*number).to_owned(), None);
        }
    }

    pub(super) fn grant(&mut self, number: String, unit: Option<&'static str>) {
        let units = self.units.entry(number).or_default();
        if !units.contains(&unit) {
            units.push(unit);
        }
    }

    /// True when the text has the number, and not only with another unit.
    pub(super) fn bear_out(&self, amount: &Amount) -> bool {
        let is_there = |reading: &String| {
            let fits = |unit: Option<&str>| amount.unit.is_none() || unit.is_none() || unit == amount.unit;
            self.units.get(reading).is_some_and(|units| units.iter().copied().any(fits))
        };
        amount.measure().is_some_and(|measured| self.measured.contains(&measured))
            || amount.readings.iter().any(is_there)
            || !amount.parts.is_empty() && amount.parts.iter().all(is_there)
    }
}

impl Amount {
    /// What so much of its unit measures; equal for equal amounts.
    fn measure(&self) -> Option<(&'static str, u64)> {
        let (factor, measured) = self.unit?.split_once('/')?;
        let value: f64 = self.readings.first()?.parse::<f64>().unwrap_or(f64::NAN) * factor.parse::<f64>().ok()?;
        let rounded = format!("{value:.9e}").parse().unwrap_or(value);
        Some((measured, rounded.to_bits()))
    }
}

/// The numbers of a folded text, in order. Digits in identifiers, hashes and what is `taken` are none.
pub(super) fn find(text: &str, taken: &[Range<usize>]) -> Vec<Amount> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut next) = (0, 0);
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        while taken.get(next).is_some_and(|range| range.end <= at) {
            next += 1;
        }
        if let Some(range) = taken.get(next).filter(|range| range.start <= at) {
            at = range.end;
            continue;
        }
        let limit = taken.get(next).map_or(bytes.len(), |range| range.start);
        let (end, groups) = number(text, at, limit);
        if stands_alone(text, at, end) {
            let (readings, parts) = read(&groups);
            let (unit, scale) = context(text, at, end);
            let mut all: Vec<String> = readings.clone();
            if let Some(power) = scale {
                all.extend(readings.iter().map(|reading| scaled(reading, power)));
            }
            found.push(Amount { bytes: at..end, readings: all, parts, unit });
        }
        at = end;
        if !stands_alone(text, at, at) {
            // The rest of an identifier that begins with digits.
            while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) && bytes.get(at + 1).is_some() && at < limit {
                at += 1;
            }
        }
    }
    found
}

/// The groups of digits from `at` on, each with the sign before it, and where they end.
fn number(text: &str, at: usize, limit: usize) -> (usize, Vec<(char, &str)>) {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes.get(from..limit).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = digits(at);
    let mut groups = vec![(' ', text.get(at..end).unwrap_or_default())];
    while let Some(sign) = text.get(end..).and_then(|rest| rest.chars().next()) {
        let from = end + sign.len_utf8();
        let to = digits(from);
        let is_thin = matches!(sign, '\'' | '’' | '_' | '\u{a0}' | '\u{2009}' | '\u{202f}');
        // A blank groups where all that is before it is grouped, too.
        let is_blank = sign == ' '
            && end - at <= 11
            && groups[0].1.len() <= 3
            && groups.iter().all(|(s, _)| *s == ' ')
            && groups.len() < 4;
        let is_three = to - from == 3 && groups[0].1.len() <= 3;
        let joins = matches!(sign, '.' | ',') && to > from || (is_thin || is_blank) && is_three;
        if !joins || from > limit {
            break;
        }
        groups.push((sign, text.get(from..to).unwrap_or_default()));
        end = to;
    }
    (end, groups)
}

/// What groups of digits may mean as one number, and as several.
fn read(groups: &[(char, &str)]) -> (Vec<String>, Vec<String>) {
    let join = |groups: &[(char, &str)]| plain(&groups.iter().map(|(_, group)| *group).collect::<String>());
    // `3 972.0` may be two numbers, of which the second has a point.
    let parts = || {
        let mut parts: Vec<String> = Vec::new();
        let is_spaced = groups.iter().any(|(sign, _)| *sign == ' ');
        for (sign, group) in groups {
            match parts.last_mut().filter(|_| matches!(sign, '.') && is_spaced) {
                Some(part) => part.extend([".", group]),
                None => parts.push((*group).to_owned()),
            }
        }
        parts.iter().map(|part| plain(part)).collect()
    };
    let threes = |groups: &[(char, &str)]| groups.iter().all(|(_, group)| group.len() == 3);
    let Some(((first, rest), (last_sign, last))) = groups.split_first().zip(groups.last()) else {
        return Default::default();
    };
    let all = |sign: char| rest.iter().all(|(other, _)| *other == sign);
    let is_grouped = threes(rest) && first.1.len() <= 3 && !first.1.starts_with('0');
    let head = groups.get(..groups.len() - 1).unwrap_or_default();
    let decimal = || plain(&format!("{}.{last}", join(head)));
    if rest.is_empty() {
        return (vec![join(groups)], Vec::new());
    }
    if let ([_], '.') = (rest, last_sign) {
        // `1.200` is 1200 in some languages.
        return (std::iter::once(decimal()).chain(is_grouped.then(|| join(groups))).collect(), Vec::new());
    }
    if is_grouped && (all('.') || all(',')) {
        return (vec![join(groups)], Vec::new());
    }
    if all('.') {
        // A version: its beginning is said alone.
        return (Vec::new(), vec![plain(first.1), plain(&format!("{}.{}", first.1, rest[0].1))]);
    }
    if all(',') {
        return (if rest.len() == 1 { vec![decimal()] } else { Vec::new() }, parts());
    }
    if !rest.iter().any(|(sign, _)| matches!(sign, '.' | ',')) {
        // A blank may also stand between two numbers.
        return (vec![join(groups)], if all(' ') { parts() } else { Vec::new() });
    }
    let groups_of_head = head.get(1..).unwrap_or_default();
    if matches!(last_sign, '.' | ',')
        && threes(groups_of_head)
        && groups_of_head.iter().all(|(sign, _)| sign != last_sign)
    {
        return (vec![decimal()], parts());
    }
    (Vec::new(), parts())
}

/// Without zeros in front and behind the point.
fn plain(number: &str) -> String {
    let number = number.trim_start_matches('0');
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    match number.chars().next() {
        None => "0".to_owned(),
        Some('.') => format!("0{number}"),
        _ => number.to_owned(),
    }
}

/// Times ten to the `power`.
fn scaled(number: &str, power: usize) -> String {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let moved: String = fraction.chars().chain(std::iter::repeat('0')).take(power).collect();
    plain(&format!("{whole}{moved}.{}", fraction.get(power..).unwrap_or("0")))
}

/// False for digits in an identifier or a hash. `step12` and `v22` have numbers, `p99` as well; `9f2c` has none.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let is_letter = |c: &char| c.is_alphanumeric() && (*c as u32) < 0x1100;
    let before: String = text.get(..start).unwrap_or_default().chars().rev().take_while(is_letter).take(24).collect();
    let behind: String = text.get(end..).unwrap_or_default().chars().take_while(is_letter).take(24).collect();
    let is_name = before.is_empty()
        || before.chars().all(char::is_alphabetic) && before.contains(|c: char| !c.is_ascii_hexdigit());
    is_name && !behind.contains(|c: char| c.is_ascii_digit())
}

/// The unit and the power of ten around a number.
fn context(text: &str, start: usize, end: usize) -> (Option<&'static str>, Option<usize>) {
    let head = text.get(..start).unwrap_or_default();
    let before = match head.chars().next_back() {
        Some(sign @ ('$' | '€' | '£' | '¥')) => unit(sign.encode_utf8(&mut [0; 4])),
        Some(' ') => {
            let word: &str = head.trim_end().rsplit(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
            unit(word).filter(|_| matches!(word, "usd" | "eur" | "gbp" | "cny" | "rmb"))
        }
        _ => None,
    };
    let rest = text.get(end..).unwrap_or_default();
    let (word, adjoins, rest) = next_word(rest);
    let scale = SCALES.get(word).filter(|_| adjoins || word.len() > 1).and_then(|power| power.parse().ok());
    if scale.is_some() {
        let (word, ..) = next_word(rest);
        return (before.or_else(|| unit(word)), scale);
    }
    (before.or_else(|| unit(word)), None)
}

/// The word or sign behind a number, whether it adjoins, and what follows.
fn next_word(rest: &str) -> (&str, bool, &str) {
    let trimmed = rest.strip_prefix([' ', '\u{a0}', '\u{202f}', '-']).unwrap_or(rest);
    let trimmed = trimmed.strip_prefix("d'").unwrap_or(trimmed);
    let is_wide = |c: char| (c as u32) >= 0x1100;
    let first = trimmed.chars().next().unwrap_or(' ');
    let len = if first.is_alphabetic() && !is_wide(first) {
        trimmed.find(|c: char| !c.is_alphabetic() || is_wide(c)).unwrap_or(trimmed.len())
    } else if is_wide(first) && trimmed.starts_with(['分', '小', '毫', '个', '公']) {
        trimmed.chars().take(2).map(char::len_utf8).sum()
    } else {
        first.len_utf8().min(trimmed.len())
    };
    let (word, after) = trimmed.split_at(len);
    (word, trimmed.len() == rest.len(), after)
}

fn unit(word: &str) -> Option<&'static str> {
    UNITS.get(word).copied()
}

#[cfg(test)]
mod tests {
    use super::{Amounts, find};

    #[track_caller]
    fn check(source: &str, says: &[&str], lies: &[&str]) {
        let amounts = Amounts::of(source, &[]);
        let bears_out = |text: &str| find(text, &[]).iter().all(|amount| amounts.bear_out(amount));
        for text in says {
            assert!(bears_out(text), "{text} is said by {source}");
        }
        for text in lies {
            assert!(!bears_out(text), "{text} is not said by {source}");
        }
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        check(
            "1,200 of 48213 in 30.50 s",
            &["1200", "48,213", "30.5", "1.2k", "48 213", "30.50 seconds"],
            &["200", "48", "482", "30", "12"],
        );
        check(
            "4.200 anträge, 12,5 millionen euro",
            &["4200", "4,200", "12.5 million", "12,500,000", "€12.5 million"],
            &["42", "125"],
        );
        check("3万名用户，4500元，15%", &["30000", "3 万", "4,500元", "15 %", "15 percent"], &["300", "450"]);
        check("they paid 3\n972.0", &["3 972.0", "972"], &["3 972.5", "72"]);
        check("three retries and zwölf more", &["3", "12"], &["4"]);
        check("python3.11, v22.3.1, step_12, p99", &["3.11", "22", "22.3", "12", "99"], &["11", "1", "3"]);
        check("id 9f2c41e7ab305d and user42x7", &[], &["41", "305", "2", "42", "7"]);
    }

    #[test]
    fn units_count_where_the_source_has_them() {
        check(
            "30s, 512mb and $4,500 after 250 ms",
            &["30 seconds", "30", "512 mb", "4500 dollars", "4,500 usd", "0.25 s", "30000 ms"],
            &["30 ms", "512 gb", "€4500", "250 s", "30 minutes"],
        );
        check("timeout: 30", &["30 s", "30 ms"], &["3 s"]);
    }
}
