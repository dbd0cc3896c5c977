//! What of a value, of the piece that shows it and of the text around that tells how likely it is to be used again: numbers, in
//! thousand-and-twenty-fourths. Knows what was shown where; refuses to know weights.

use super::activity::Activity;
use super::scale::{ONE, log};
use super::sight::{Name, QuotedLine};
use super::values::{Piece, Values};
use crate::walk::calls::Call;
use crate::walk::uses::{SaidBy, Texts};

/// Features of the text in which a value stands.
pub(super) const TEXT: [&str; 27] = [
    "is_result",
    "is_argument",
    "is_said_by_user",
    "is_file",
    "is_search",
    "is_listing",
    "is_git",
    "is_edit",
    "log_bytes",
    "has_file",
    "log_since_file_touched",
    "file_was_edited",
    "log_since_file_edited",
    "log_file_touches",
    "file_touched_in_window",
    "log_since_same_tool",
    "share_of_names_in_window",
    "share_of_names_written",
    "log_age",
    "log_age_squared",
    "log_results_since",
    "log_pieces",
    "is_one_line",
    "log_names",
    "names_per_20_bytes",
    "share_of_names_shown_once",
    "log_names_written",
];
/// Features of the line in which it stands.
pub(super) const PIECE: [&str; 7] = [
    "log_names",
    "log_bytes",
    "share_written",
    "share_in_window",
    "neighbours_in_window",
    "log_names_in_window",
    "names_per_20_bytes",
];
/// Features of a name: those of its form first.
pub(super) const NAME: [&str; 29] = [
    "bias",
    "has_slash",
    "has_underscore",
    "has_dash",
    "has_dot",
    "has_hump",
    "is_number",
    "length",
    "share_of_digits",
    "has_extension",
    "share_of_words_in_window",
    "log_since_shown",
    "log_since_shown_squared",
    "log_results_since_shown",
    "log_since_first_shown",
    "share_since_shown",
    "log_messages",
    "log_messages_showing",
    "log_results_showing",
    "log_answers_showing",
    "log_arguments_showing",
    "log_others_showing",
    "log_times_shown",
    "is_written",
    "is_taken_up",
    "log_since_written",
    "log_since_written_squared",
    "is_home_result",
    "is_shown_once",
];
/// So many are of its form.
pub(super) const N_FORM: usize = 11;
/// Features of a line that an edit may quote.
pub(super) const LINE: [&str; 9] = [
    "bias",
    "log_since_shown",
    "log_since_shown_squared",
    "log_since_first_shown",
    "log_times_shown",
    "log_arguments",
    "is_argued",
    "log_messages",
    "log_bytes",
];

pub(super) type OfText = [i32; TEXT.len()];
pub(super) type OfPiece = [i32; PIECE.len()];
pub(super) type OfName = [i32; NAME.len()];
pub(super) type OfForm = [i32; N_FORM];
pub(super) type OfPast = [i32; NAME.len() - N_FORM];
pub(super) type OfLine = [i32; LINE.len()];

/// Pieces on either side that are neighbours.
const BESIDE: u32 = 4;
/// Added to what is unknown, which is longer ago than everything.
const NEVER: i32 = ONE;

/// What a byte of a name is, as a bit.
const SLASH: u8 = 1;
const UNDERSCORE: u8 = 1 << 1;
const DASH: u8 = 1 << 2;
const DOT: u8 = 1 << 3;
const DIGIT: u8 = 1 << 4;
const CAPITAL: u8 = 1 << 5;
const SMALL: u8 = 1 << 6;
/// What two are: a small letter and a capital.
const HUMP: u8 = 1 << 7;
const IS: [u8; 256] = {
    let (mut is, mut at) = ([0; 256], 0);
    while at < is.len() {
        is[at] = match at as u8 {
            b'/' => SLASH,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'0'..=b'9' => DIGIT,
            b'A'..=b'Z' => CAPITAL,
            b'a'..=b'z' => SMALL,
            _ => 0,
        };
        at += 1;
    }
    is
};

fn flag(is: bool) -> i32 {
    if is { ONE } else { 0 }
}

fn share(of: usize, all: usize) -> i32 {
    let share = (of * ONE as usize).checked_div(all).unwrap_or_default();
    i32::try_from(share).unwrap_or(i32::MAX)
}

fn squared(x: i32) -> i32 {
    (i64::from(x) * i64::from(x) / i64::from(ONE)) as i32
}

/// What is known at a point of a conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now<'n> {
    pub(super) texts: &'n Texts,
    pub(super) values: &'n Values,
    /// How many messages there are, and how many of the last ones are recent.
    pub(super) n_messages: usize,
    pub(super) window: usize,
}

impl Now<'_> {
    /// The recent messages are those behind the first so many.
    pub(super) fn start(self) -> usize {
        self.n_messages.saturating_sub(self.window)
    }

    /// Messages since the one with this number, counted from 1.
    fn since(self, message: u32) -> usize {
        self.n_messages - message as usize
    }

    fn log_since(self, message: u32) -> i32 {
        if message == 0 { log(self.n_messages) + NEVER } else { log(self.since(message)) }
    }

    /// Of the text with this number.
    pub(super) fn of_text(self, number: usize, activity: &Activity) -> OfText {
        let text = &self.texts.all()[number];
        let pieces = self.values.of_text[number].clone();
        let start = self.start();
        let (mut n, mut n_recent, mut n_written, mut n_once) = (0, 0, 0, 0);
        for piece in pieces.clone() {
            for &name in self.values.names_in(piece as usize) {
                let name = &self.values.names[name as usize];
                n += 1;
                n_recent += usize::from(name.shown.is_since(start));
                n_written += usize::from(name.written > 0);
                n_once += usize::from(name.shown.n_times == 1);
            }
        }
        let done = activity.of_text(number);
        let is_call = |of: &[Call]| done.is_some_and(|done| of.contains(&done.asks));
        let file = done.and_then(|done| activity.file(done));
        let age = self.log_since(text.message + 1);
        let n_results = self.values.n_results.last().copied().unwrap_or(0);
        let results_since = n_results - self.values.n_results[text.message as usize];
        [
            flag(text.by == SaidBy::Result),
            flag(text.by.is_argument()),
            flag(text.by == SaidBy::Human),
            flag(is_call(&[Call::File, Call::Text, Call::Rows])),
            flag(is_call(&[Call::Matches])),
            flag(is_call(&[Call::Names])),
            flag(done.is_some_and(|done| done.is_git)),
            flag(is_call(&[Call::Edit])),
            log(text.to - text.from),
            flag(file.is_some()),
            file.map_or(log(self.n_messages) + NEVER, |file| self.log_since(file.touched)),
            flag(file.is_some_and(|file| file.edited > 0)),
            file.map_or(log(self.n_messages) + NEVER, |file| self.log_since(file.edited)),
            file.map_or(0, |file| log(file.n_touches)),
            flag(file.is_some_and(|file| file.touched as usize > start)),
            self.log_since(done.map_or(0, |done| activity.last_use(done))),
            share(n_recent, n),
            share(n_written, n),
            age,
            squared(age),
            log(results_since as usize),
            log(pieces.len()),
            flag(pieces.len() == 1),
            log(n),
            share(20 * n, text.to - text.from + 1),
            share(n_once, n),
            log(n_written),
        ]
    }

    /// Of the piece with this number.
    pub(super) fn of_piece(self, number: usize) -> OfPiece {
        let values = self.values;
        let Piece { from, to, text, .. } = values.pieces[number];
        let names = values.names_in(number);
        let (mut n_written, mut n_recent) = (0, 0);
        for &name in names {
            let name = &values.names[name as usize];
            n_written += usize::from(name.written > 0);
            n_recent += usize::from(name.shown.is_since(self.start()));
        }
        let of_text = values.of_text[text as usize].clone();
        let number = number as u32;
        let beside = number.saturating_sub(BESIDE).max(of_text.start)..(number + BESIDE + 1).min(of_text.end);
        let is_recent = |&at: &u32| {
            let line = values.lines.get(values.pieces[at as usize].line as usize);
            at != number && line.is_some_and(|line| line.shown.is_since(self.start()))
        };
        [
            log(names.len()),
            log((to - from) as usize),
            share(n_written, names.len()),
            share(n_recent, names.len()),
            log(beside.filter(is_recent).count()),
            log(n_recent),
            share(20 * names.len(), (to - from) as usize + 1),
        ]
    }

    /// Of a name itself.
    pub(super) fn of_name(self, name: &Name) -> OfName {
        let (form, past) = (self.of_form(name), self.of_past(name));
        let mut all = [0; NAME.len()];
        all[..N_FORM].copy_from_slice(&form);
        all[N_FORM..].copy_from_slice(&past);
        all
    }

    /// Of how it is written.
    pub(super) fn of_form(self, name: &Name) -> OfForm {
        let bytes = &self.texts.bytes()[name.span()];
        let (mut has, mut before, mut n_digits) = (0, 0, 0);
        for &byte in bytes {
            let is = IS[usize::from(byte)];
            // A capital behind a small letter.
            has |= is | (is & before) << (HUMP.ilog2() - CAPITAL.ilog2());
            before = (is & SMALL) >> (SMALL.ilog2() - CAPITAL.ilog2());
            n_digits += usize::from(is == DIGIT);
        }
        let is = |sign: u8| flag(has & sign != 0);
        let (n_words, n_recent) = self.values.recent_words(name);
        [
            ONE,
            is(SLASH),
            is(UNDERSCORE),
            is(DASH),
            is(DOT),
            is(HUMP),
            flag(n_digits == bytes.len()),
            share(bytes.len(), 20),
            share(n_digits, bytes.len()),
            flag(has & DOT != 0 && has_extension(bytes)),
            share(n_recent, n_words),
        ]
    }

    /// Of who showed it when.
    pub(super) fn of_past(self, name: &Name) -> OfPast {
        let shown = &name.shown;
        let since = self.log_since(shown.last);
        let n_results = self.values.n_results.last().copied().unwrap_or(0);
        let since_result = match name.last_result {
            0 => log(n_results as usize) + NEVER,
            last => log((n_results - last) as usize),
        };
        let since_written = if name.written == 0 { 0 } else { self.log_since(name.written) };
        [
            since,
            squared(since),
            since_result,
            self.log_since(shown.first),
            share(self.since(shown.last), self.n_messages),
            log(self.n_messages),
            log(shown.n_messages as usize),
            log(name.n_results as usize),
            log(name.n_answers as usize),
            log(name.n_arguments as usize),
            log(name.n_others() as usize),
            log(shown.n_times as usize),
            flag(name.written > 0),
            flag(name.is_taken_up),
            since_written,
            squared(since_written),
            flag(shown.is_home_result),
            flag(shown.n_times == 1),
        ]
    }

    /// Of a line itself.
    pub(super) fn of_line(self, line: &QuotedLine) -> OfLine {
        let shown = &line.shown;
        let since = self.log_since(shown.last);
        [
            ONE,
            since,
            squared(since),
            self.log_since(shown.first),
            log(shown.n_times as usize),
            log(line.n_arguments as usize),
            flag(line.n_arguments > 0),
            log(self.n_messages),
            log(line.n_bytes as usize),
        ]
    }
}

fn has_extension(bytes: &[u8]) -> bool {
    let dot = bytes.iter().rposition(|&byte| byte == b'.');
    dot.is_some_and(|dot| {
        let extension = &bytes[dot + 1..];
        (1..=4).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphabetic)
    })
}
