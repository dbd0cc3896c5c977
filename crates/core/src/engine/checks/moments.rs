//! Finds dates and times of day in whatever form, and compares them. Knows calendars of a few languages; refuses to know
//! time zones and durations.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use super::amounts::{Values, by_name};
use crate::text::words::words_file;

/// Months by their names and what stands for these.
static MONTHS: LazyLock<Values> = LazyLock::new(|| by_name(words_file!("months")));

/// A date or a time of day; what is not said is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Moment {
    Date {
        year: Option<u32>,
        month: u32,
        day: Option<u32>,
    },
    /// The hour is one of 12 when nothing says which half of the day is meant.
    Time {
        hour: u32,
        minute: u32,
        second: Option<u32>,
        half: Option<bool>,
    },
}

/// What the moments of a source say, and what can be said with less than they say.
#[derive(Debug, Default)]
pub(super) struct Moments {
    said: HashSet<Moment, FixedState>,
    /// Month and day of dates without a year, which are those of any year.
    of_any_year: HashSet<(u32, u32), FixedState>,
}

impl Moments {
    /// Whoever has `moment` may leave out its year, its day and its second, and may say which half of the day is meant
    /// where it does not.
    pub(super) fn grant(&mut self, moment: Moment) {
        match moment {
            Moment::Date { year, month, day } => {
                self.of_any_year.extend(day.filter(|_| year.is_none()).map(|day| (month, day)));
                let years = [year, None].into_iter();
                let dates = years.flat_map(|year| [day, None].map(|day| Moment::Date { year, month, day }));
                self.said.extend(dates);
            }
            Moment::Time { hour, minute, second, half } => {
                let halves = if half.is_some() { [half, half, None] } else { [Some(false), Some(true), None] };
                let times = halves
                    .into_iter()
                    .flat_map(|half| [second, None].map(|second| Moment::Time { hour, minute, second, half }));
                self.said.extend(times);
            }
        }
    }

    /// True when `moment` says nothing that the source does not.
    pub(super) fn say(&self, moment: &Moment) -> bool {
        let is_of_any_year = match *moment {
            Moment::Date { month, day: Some(day), .. } => self.of_any_year.contains(&(month, day)),
            _ => false,
        };
        is_of_any_year || self.said.contains(moment)
    }
}

/// A token: its bytes, and its value when it is a number.
struct Token {
    start: usize,
    end: usize,
    number: Option<u32>,
}

/// The moments of a folded text with their bytes, sorted; a date with slashes may have two readings.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Moment)> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let reader = Reader { text, tokens: &tokens, at };
        match reader.date().or_else(|| reader.time()) {
            Some((n, moments)) if n > 0 => {
                let bytes = tokens[at].start..tokens[at + n - 1].end;
                found.extend(moments.into_iter().map(|moment| (bytes.clone(), moment)));
                at += n;
            }
            _ => at += 1,
        }
    }
    found
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_letter = |c: char| c.is_alphabetic() && (c as u32) < 0x1100;
        if is_digit(c) {
            while chars.next_if(|(_, c)| is_digit(*c)).is_some() {}
        } else if is_letter(c) {
            while chars.next_if(|(_, c)| is_letter(*c)).is_some() {}
        } else if c.is_whitespace() {
            continue;
        }
        let end = chars.peek().map_or(text.len(), |(at, _)| *at);
        let word = text.get(start..end).unwrap_or_default();
        let number = if is_digit(c) && word.len() <= 4 { word.parse().ok() } else { None };
        tokens.push(Token { start, end, number });
    }
    tokens
}

struct Reader<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
}

impl Reader<'_> {
    fn word(&self, n: usize) -> &str {
        self.tokens.get(self.at + n).and_then(|token| self.text.get(token.start..token.end)).unwrap_or_default()
    }
    /// A number of at most `max_len` digits.
    fn number(&self, n: usize, max_len: usize) -> Option<u32> {
        let token = self.tokens.get(self.at + n)?;
        token.number.filter(|_| token.end - token.start <= max_len)
    }
    fn year(&self, n: usize) -> Option<u32> {
        let token = self.tokens.get(self.at + n)?;
        token.number.filter(|year| token.end - token.start == 4 && (1000..2200).contains(year))
    }
    /// True when token `n` stands right behind the one before it.
    fn adjoins(&self, n: usize) -> bool {
        let index = self.at + n;
        index > 0 && self.tokens.get(index).is_some_and(|token| token.start == self.tokens[index - 1].end)
    }
    fn adjoin(&self, from: usize, to: usize) -> bool {
        (from..=to).all(|n| self.adjoins(n))
    }

    fn month(&self, n: usize) -> Option<u32> {
        MONTHS.get(self.word(n)).and_then(|month| month.parse().ok())
    }

    /// Number of tokens and readings.
    fn date(&self) -> Option<(usize, Vec<Moment>)> {
        self.in_digits().or_else(|| self.with_signs()).or_else(|| self.in_words())
    }

    /// `2024-03-03`, `3.3.2024`, `03/03/24`
    fn in_digits(&self) -> Option<(usize, Vec<Moment>)> {
        let sign = self.word(1);
        if !matches!(sign, "-" | "/" | ".") || self.word(3) != sign || !self.adjoin(1, 4) {
            return None;
        }
        if self.adjoins(5) && self.word(5) == sign && self.adjoins(6) && self.number(6, 4).is_some() {
            return None;
        }
        let is_month = |month: u32| (1..=12).contains(&month);
        let is_day = |day: u32| (1..=31).contains(&day);
        if let Some(year) = self.year(0) {
            let (month, day) = (self.number(2, 2)?, self.number(4, 2)?);
            let date = Moment::Date { year: Some(year), month, day: Some(day) };
            return (is_month(month) && is_day(day)).then(|| (5, vec![date]));
        }
        let (one, two) = (self.number(0, 2)?, self.number(2, 2)?);
        let year = self.year(4).or_else(|| self.number(4, 2).filter(|_| sign == "/").map(|year| 2000 + year))?;
        let readings: Vec<Moment> = [(one, two), (two, one)]
            .into_iter()
            .filter(|&(day, month)| is_month(month) && is_day(day))
            .map(|(day, month)| Moment::Date { year: Some(year), month, day: Some(day) })
            .collect();
        (!readings.is_empty()).then_some((5, readings))
    }

    /// `2024年3月3日`, `3月3日`
    fn with_signs(&self) -> Option<(usize, Vec<Moment>)> {
        let (n, year) = match self.year(0) {
            Some(year) if self.word(1) == "年" => (2, Some(year)),
            _ => (0, None),
        };
        let month = self.number(n, 2).filter(|_| self.word(n + 1) == "月")?;
        let day = self.number(n + 2, 2).filter(|_| matches!(self.word(n + 3), "日" | "号"));
        Some((n + if day.is_some() { 4 } else { 2 }, vec![Moment::Date { year, month, day }]))
    }

    /// `March 3, 2024`, `3 March`, `3. März 2024`, `May 2024`
    fn in_words(&self) -> Option<(usize, Vec<Moment>)> {
        let is_ordinal = |n: usize| matches!(self.word(n), "st" | "nd" | "rd" | "th" | "er") && self.adjoins(n);
        let date = |n: usize, year: Option<u32>, month: u32, day: Option<u32>| {
            Some((n, vec![Moment::Date { year, month, day }]))
        };
        let with_year = |n: usize| {
            let comma = usize::from(matches!(self.word(n), "," | "." | "of"));
            self.year(n + comma).map_or((n, None), |year| (n + comma + 1, Some(year)))
        };
        if let Some(month) = self.month(0) {
            let point = usize::from(self.word(1) == "." && self.adjoins(1));
            if let Some(year) = self.year(1 + point) {
                return date(2 + point, Some(year), month, None);
            }
            let day = self.number(1 + point, 2).filter(|day| (1..=31).contains(day))?;
            let n = 2 + point;
            let n = n + usize::from(is_ordinal(n));
            let (n, year) = with_year(n);
            return date(n, year, month, Some(day));
        }
        let day = self.number(0, 2).filter(|day| (1..=31).contains(day))?;
        let mut n = 1;
        n += usize::from(is_ordinal(n) || self.word(n) == "." && self.adjoins(n));
        n += usize::from(matches!(self.word(n), "of" | "de" | "-"));
        let month = self.month(n)?;
        let point = usize::from(self.word(n + 1) == "." && self.year(n + 2).is_some());
        let (n, year) = with_year(n + 1 + point);
        date(n, year, month, Some(day))
    }

    /// `14:30`, `2:30 pm`, `9 am`, `9 Uhr`, `18h30`
    fn time(&self) -> Option<(usize, Vec<Moment>)> {
        let hour = self.number(0, 2).filter(|hour| *hour < 25)?;
        // `src/pool.ts:12:30` is no time.
        if self.at > 0 && self.adjoins(0) && matches!(self.text.as_bytes()[self.tokens[self.at].start - 1], b':' | b'.')
        {
            return None;
        }
        let is_minute = |n: usize| {
            let two = self.tokens.get(self.at + n).is_some_and(|token| token.end - token.start == 2);
            self.number(n, 2).filter(|minute| *minute < 61 && two && self.adjoin(n - 1, n))
        };
        let (mut n, mut minute, mut second) = (1, None, None);
        if matches!(self.word(1), ":" | "h")
            && let Some(found) = is_minute(2)
        {
            (n, minute) = (3, Some(found));
            if self.word(3) == ":"
                && let Some(found) = is_minute(4)
            {
                (n, second) = (5, Some(found));
                // Fractions of a second.
                if matches!(self.word(5), "." | ",")
                    && self.adjoin(5, 6)
                    && self.tokens[self.at + 6].start < self.tokens[self.at + 6].end
                    && self.word(6).starts_with(|c: char| c.is_ascii_digit())
                {
                    n = 7;
                }
            }
        }
        let dotted = |letter: &str| self.word(n) == letter && self.word(n + 1) == "." && self.word(n + 2) == "m";
        let (half, n_half) = match self.word(n) {
            "am" => (Some(false), 1),
            "pm" => (Some(true), 1),
            _ if dotted("a") => (Some(false), 3),
            _ if dotted("p") => (Some(true), 3),
            "uhr" => (None, 1),
            _ => (None, 0),
        };
        if minute.is_none() && n_half == 0 {
            return None;
        }
        let half = half.or_else(|| (hour > 12 || hour == 0 || self.word(0).starts_with('0')).then_some(hour > 11));
        Some((n + n_half, vec![Moment::Time { hour: hour % 12, minute: minute.unwrap_or(0), second, half }]))
    }
}

#[cfg(test)]
mod tests {
    use super::{Moments, find};

    #[track_caller]
    fn agree(one: &str, other: &str, expected: bool) {
        let (one_found, other_found) = (find(one), find(other));
        assert!(!one_found.is_empty() && !other_found.is_empty(), "{one} / {other}");
        let mut said = Moments::default();
        for &(_, moment) in &other_found {
            said.grant(moment);
        }
        let is_said = one_found.iter().any(|(_, own)| said.say(own));
        assert_eq!(is_said, expected, "{one} / {other}: {one_found:?} {other_found:?}");
    }

    #[test]
    fn a_date_is_the_same_in_every_form() {
        let forms = [
            "march 3, 2024",
            "3 march 2024",
            "3. märz 2024",
            "2024年3月3日",
            "3.3.2024",
            "mar 3rd, 2024",
            "3 mars 2024",
        ];
        for form in forms {
            agree(form, "2024-03-03t10:42:17z", true);
            agree(form, "2024-03-04", false);
            agree(form, "2023-03-03", false);
        }
        agree("march 3", "2024-03-03", true);
        agree("march 2024", "2024-03-03", true);
        agree("april 2024", "2024-03-03", false);
        agree("05/02/2024", "may 2, 2024", true);
    }

    #[test]
    fn a_time_is_the_same_in_every_form() {
        for form in ["2:30 pm", "14:30", "2:30 p.m.", "14h30", "14:30 uhr"] {
            agree(form, "14:30:09.123", true);
            agree(form, "14:31", false);
        }
        agree("2:30 am", "14:30", false);
        agree("9 uhr", "09:00", true);
        agree("14:30:10", "14:30:09", false);
    }
}
