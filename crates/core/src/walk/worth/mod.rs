//! What is likely to be used by turns that nobody has seen yet: what stays when nobody may look ahead. Knows texts, calls and a
//! model; refuses to know how what stays is written.

mod activity;
mod choose;
mod features;
mod fit;
mod learn;
mod model;
mod scale;
#[cfg(test)]
mod tests;
mod values;

use std::ops::Range;

use crate::model::Message;
use crate::walk::calls::Asked;
use crate::walk::uses::Texts;

use activity::Activity;
use choose::Choice;
use features::Now;
pub use learn::{Lessons, cuts_of};
pub use model::UseModel;
use model::likely;
use scale::CERTAIN;
use values::{Name, Piece, Values};

/// What the names are worth together that have their home in one text, at most.
const MOST_HELD: u64 = 10 * CERTAIN as u64;

/// What one conversation is worth; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Worth {
    values: Values,
    activity: Activity,
    choice: Choice,
}

/// A piece of a text, and whether it stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) stays: bool,
}

impl Worth {
    /// Chooses what stays of the texts that are open: what is worth `threshold` or more to who goes on behind the last of
    /// `messages`, the last `window` of which stay.
    pub(super) fn choose(
        &mut self,
        (texts, asked, messages): (&Texts, &Asked, &[Message<'_>]),
        is_open: &[bool],
        window: usize,
        (model, threshold): (&UseModel, u32),
    ) {
        let n_messages = messages.len();
        self.values.read(texts, n_messages, window);
        self.activity.read(asked, messages, texts);
        self.choice.begin(&self.values);
        self.score(texts, n_messages, window, model);
        let values = &self.values;
        let all = |range: &Range<u32>| range.start as usize..range.end as usize;
        for (pieces, &is_open) in values.of_text.iter().zip(is_open) {
            if is_open {
                self.choice.worth[all(pieces)].fill(0);
            } else {
                all(pieces).for_each(|piece| self.choice.show(values, piece));
            }
        }
        let age = |text: u32| (n_messages - texts.all()[text as usize].message as usize) as u64;
        self.choice.choose(values, threshold, age);
    }

    /// What each value is worth, and how likely each line is quoted.
    fn score(&mut self, texts: &Texts, n_messages: usize, window: usize, model: &UseModel) {
        let values = &self.values;
        let now = Now { texts, values, n_messages, window };
        // What the text around adds and the piece does, worked out where something has its home there.
        let mut of_text: Vec<Option<(i64, i64)>> = vec![None; values.of_text.len()];
        let mut of_pieces: Vec<Option<(i64, i64)>> = vec![None; values.pieces.len()];
        let mut of_home = |home: u32| {
            let number = values.pieces[home as usize].text as usize;
            let of_text = *of_text[number].get_or_insert_with(|| {
                let text = now.of_text(number, &self.activity);
                (model.name.of_text(&text), model.line.of_text(&text))
            });
            *of_pieces[home as usize].get_or_insert_with(|| {
                let piece = now.of_piece(home as usize);
                (of_text.0 + model.name.of_piece(&piece), of_text.1 + model.line.of_piece(&piece))
            })
        };
        let text_of = |name: &Name| values.pieces[name.shown.home as usize].text as usize;
        let mut held = vec![0; values.of_text.len()];
        for (name, worth) in values.names.iter().zip(&mut self.choice.names) {
            if !name.shown.is_recent {
                *worth = rooted(likely(of_home(name.shown.home).0 + model.name.of_own(&now.of_name(name))));
                held[text_of(name)] += u64::from(*worth);
            }
        }
        // A text that holds a thousand names is not used more often for it than one that holds fifty.
        for (name, worth) in values.names.iter().zip(&mut self.choice.names) {
            *worth = at_most(*worth, held[text_of(name)]);
        }
        for (line, likelihood) in values.lines.iter().zip(&mut self.choice.lines) {
            if !line.shown.is_recent {
                *likelihood = likely(of_home(line.shown.home).1 + model.line.of_own(&now.of_line(line)));
            }
        }
    }

    /// The pieces of a text in their order, and which of them stay.
    pub(super) fn stretches(&self, text: usize) -> impl Iterator<Item = Stretch> + '_ {
        let pieces = &self.values.of_text[text];
        let all = pieces.start as usize..pieces.end as usize;
        let stretch = |(&Piece { from, to, .. }, &worth): (&Piece, &u32)| Stretch { from, to, stays: worth > 0 };
        self.values.pieces[all.clone()].iter().zip(&self.choice.worth[all]).map(stretch)
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
