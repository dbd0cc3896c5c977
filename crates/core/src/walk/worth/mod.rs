//! What is likely to be used by turns that nobody has seen yet: what stays when nobody may look ahead. Knows texts, calls and a
//! model; refuses to know how what stays is written.

mod activity;
mod choose;
mod features;
mod fit;
mod learn;
mod model;
mod scale;
mod sight;
#[cfg(test)]
mod tests;
mod values;

use std::ops::Range;

use crate::model::Message;
use crate::walk::calls::Asked;
use crate::walk::uses::Texts;

use activity::Activity;
use choose::Choice;
pub(super) use choose::tells;
use features::Now;
pub use learn::{Lessons, cuts_of, is_one_in};
pub use model::UseModel;
use model::likely;
use scale::CERTAIN;
use sight::{Homes, Name};
use values::{NONE, Piece, Values};

/// What the names are worth together that have their home in one text, at most.
const MOST_HELD: u64 = 10 * CERTAIN as u64;

/// What one conversation is worth; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Worth {
    values: Values,
    activity: Activity,
    choice: Choice,
    /// What is valued now: names and lines.
    valued: (Vec<u32>, Vec<u32>),
    /// Of each text and each piece what it adds to what has its home there.
    texts: Vec<Home>,
    pieces: Vec<Home>,
}

/// What a text or a piece adds to how likely its values are used, as long as it is this time.
#[derive(Debug, Clone, Copy, Default)]
struct Home {
    /// Messages that there are then.
    n_messages: usize,
    name: i64,
    line: i64,
    /// What the past of its names adds that are shown nowhere else.
    once: Option<i64>,
    /// What the names are worth together that have their home in the text.
    held: u64,
}

/// A piece of a text, and whether it stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) stays: bool,
}

/// What is chosen from, and by what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choosing<'a> {
    pub(super) texts: &'a Texts,
    pub(super) asked: &'a Asked,
    pub(super) messages: &'a [Message<'a>],
    /// Texts of which something may be hidden.
    pub(super) is_open: &'a [bool],
    /// Last messages that stay.
    pub(super) window: usize,
    pub(super) model: &'a UseModel,
    pub(super) threshold: u32,
}

impl Worth {
    /// Chooses what stays of the texts that are open: what is worth the threshold or more to who goes on behind the last of the
    /// messages.
    pub(super) fn choose(&mut self, of: Choosing<'_>) {
        let n_messages = of.messages.len();
        self.clear(of.texts);
        self.values.read_all(of.texts, n_messages, of.window);
        self.activity.read_all(of.asked, of.messages, of.texts);
        self.choice.grow(&self.values);
        self.valued.0.extend(0..self.values.names.len() as u32);
        self.valued.1.extend(0..self.values.lines.len() as u32);
        let texts = 0..of.is_open.len();
        self.open(of, texts.clone());
        self.score(of, n_messages);
        self.decide(of, n_messages, texts);
    }

    /// The same message by message, each as soon as it leaves the window: what comes behind that decides nothing of it.
    pub(super) fn choose_once(&mut self, of: Choosing<'_>) {
        self.clear(of.texts);
        let mut first = 0;
        for n_messages in of.window + 1..=of.messages.len() {
            self.values.read(of.texts, n_messages, Homes { before: n_messages, prefers_results: false });
            self.activity.read((of.asked, of.texts), of.messages, n_messages);
            self.values.see(of.texts, n_messages - of.window);
            self.choice.grow(&self.values);
            let message = n_messages - of.window - 1;
            let n = of.texts.all()[first..].iter().take_while(|text| text.message as usize == message).count();
            let texts = first..first + n;
            first += n;
            self.open(of, texts.clone());
            if of.is_open[texts.clone()].contains(&true) {
                self.value(texts.clone());
                self.score(of, n_messages);
                self.decide(of, n_messages, texts);
            }
        }
    }

    fn clear(&mut self, texts: &Texts) {
        self.values.clear(texts);
        self.activity.clear();
        self.choice.clear();
        self.valued.0.clear();
        self.valued.1.clear();
        self.texts.clear();
        self.pieces.clear();
    }

    /// The names and lines of these texts are the ones to be valued.
    fn value(&mut self, texts: Range<usize>) {
        let (names, lines) = &mut self.valued;
        names.clear();
        lines.clear();
        for piece in pieces_of(&self.values, texts) {
            names.extend(self.values.names_in(piece));
            lines.extend(Some(self.values.pieces[piece].line).filter(|&line| line != NONE));
        }
        for numbers in [names, lines] {
            numbers.sort_unstable();
            numbers.dedup();
        }
    }

    /// Pieces of these texts that are open may go, the others stay.
    fn open(&mut self, of: Choosing<'_>, texts: Range<usize>) {
        let values = &self.values;
        for number in texts {
            let pieces = pieces_of(values, number..number + 1);
            if of.is_open[number] {
                self.choice.worth[pieces].fill(0);
            } else {
                pieces.for_each(|piece| self.choice.show(values, piece));
            }
        }
    }

    /// Decides which pieces of these texts stay.
    fn decide(&mut self, of: Choosing<'_>, n_messages: usize, texts: Range<usize>) {
        let values = &self.values;
        let age = |text: u32| (n_messages - of.texts.all()[text as usize].message as usize) as u64;
        self.choice.choose(values, pieces_of(values, texts), of.threshold, age);
    }

    /// What each value is worth to who goes on behind so many messages, and how likely each line is quoted.
    fn score(&mut self, of: Choosing<'_>, n_messages: usize) {
        let values = &self.values;
        let now = Now { texts: of.texts, values, n_messages, window: of.window };
        self.texts.resize(values.of_text.len(), Home::default());
        self.pieces.resize(values.pieces.len(), Home::default());
        let model = of.model;
        // What the text around adds and the piece does, worked out where something has its home there.
        let mut of_home = |texts: &mut [Home], home: u32| {
            let piece = &mut self.pieces[home as usize];
            if piece.n_messages != n_messages {
                let number = values.pieces[home as usize].text as usize;
                let text = &mut texts[number];
                if text.n_messages != n_messages {
                    let features = now.of_text(number, &self.activity);
                    let (name, line) = (model.name.of_text(&features), model.line.of_text(&features));
                    *text = Home { n_messages, name, line, ..Home::default() };
                }
                let features = now.of_piece(home as usize);
                let (name, line) = (model.name.of_piece(&features), model.line.of_piece(&features));
                let (name, line) = (text.name + name, text.line + line);
                *piece = Home { n_messages, name, line, ..Home::default() };
            }
            *piece
        };
        let text_of = |name: &Name| values.pieces[name.shown.home as usize].text as usize;
        let (names, lines) = &self.valued;
        for &number in names {
            let name = &values.names[number as usize];
            let worth = if name.shown.is_since(now.start()) || self.choice.shows_name(number) {
                0
            } else {
                let of_home = of_home(&mut self.texts, name.shown.home).name;
                let past = || model.name.of_past(&now.of_past(name));
                let of_past = match name.shown.n_times {
                    1 => *self.texts[text_of(name)].once.get_or_insert_with(past),
                    _ => past(),
                };
                rooted(likely(of_home + model.name.of_form(&now.of_form(name)) + of_past))
            };
            self.choice.names[number as usize] = worth;
            self.texts[text_of(name)].held += u64::from(worth);
        }
        // A text that holds a thousand names is not used more often for it than one that holds fifty.
        for &number in names {
            let held = self.texts[text_of(&values.names[number as usize])].held;
            let worth = at_most(self.choice.names[number as usize], held);
            self.choice.names[number as usize] = worth;
        }
        for &number in lines {
            let line = &values.lines[number as usize];
            let likelihood = if line.shown.is_since(now.start()) || self.choice.shows_line(number) {
                0
            } else {
                let of_home = of_home(&mut self.texts, line.shown.home).line;
                likely(of_home + model.line.of_own(&now.of_line(line)))
            };
            self.choice.lines[number as usize] = likelihood;
        }
    }

    /// The pieces of a text in their order, and which of them stay.
    pub(super) fn stretches(&self, text: usize) -> impl Iterator<Item = Stretch> + '_ {
        let all = pieces_of(&self.values, text..text + 1);
        let stretch = |(&Piece { from, to, .. }, &worth): (&Piece, &u32)| Stretch { from, to, stays: worth > 0 };
        self.values.pieces[all.clone()].iter().zip(&self.choice.worth[all]).map(stretch)
    }
}

/// The pieces of texts that follow each other; of those that were not read none.
fn pieces_of(values: &Values, texts: Range<usize>) -> Range<usize> {
    let of_text = values.of_text.get(texts).unwrap_or_default();
    match (of_text.first(), of_text.last()) {
        (Some(first), Some(last)) => first.start as usize..last.end as usize,
        _ => 0..0,
    }
}

/// What a name is worth that is so likely used: the square root, since a model from other conversations is too sure of what it
/// tells apart.
fn rooted(likelihood: u32) -> u32 {
    (u64::from(likelihood) * u64::from(CERTAIN)).isqrt() as u32
}

/// The part of a worth that counts where a text holds as much as `held`.
fn at_most(worth: u32, held: u64) -> u32 {
    (u64::from(worth) * MOST_HELD / held.max(MOST_HELD)) as u32
}
