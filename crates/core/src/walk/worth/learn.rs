//! Learns from finished conversations what is used again: each is cut at several places, and what its next turns use says which
//! guesses would have been right. Knows features and answers; refuses to know files.

use super::activity::Activity;
use super::features::{LINE, NAME, Now, OfText, PIECE, TEXT};
use super::fit::{Example, fit};
use super::model::{UseModel, Weights};
use super::values::{Piece, Values};
use crate::model::Conversation;
use crate::walk::calls::Asked;
use crate::walk::uses::{SaidBy, Texts};
use crate::walk::voices::{push, who_says};

/// Last messages before a cut that stay, and messages behind it that tell what was needed.
pub(super) const WINDOW: usize = 4;
/// Messages from which a conversation has something to hide behind the window.
const MIN_BEFORE: usize = 2 * WINDOW + 2;
/// Cuts of a conversation from which is learned, at most, and messages for each of them.
const MAX_CUTS: usize = 12;
const PER_CUT: usize = 6;
/// Of what is not used, one in so many is looked at.
const SPARSE: u32 = 10;

/// What was seen so far.
#[derive(Debug, Default)]
pub struct Lessons {
    names: Vec<Example<{ NAME.len() + PIECE.len() + TEXT.len() }>>,
    lines: Vec<Example<{ LINE.len() + PIECE.len() + TEXT.len() }>>,
    texts: Texts,
    asked: Asked,
    values: Values,
    activity: Activity,
    next: (Texts, Values),
}

/// Places at which a conversation is cut, at most so many: the same for the same id and length.
#[must_use]
pub fn cuts_of(conversation: &Conversation<'_>, most: usize) -> Vec<usize> {
    let n_messages = conversation.messages.len();
    let (low, high) = (MIN_BEFORE, n_messages.saturating_sub(WINDOW));
    let n = (n_messages / PER_CUT + 1).min(most);
    let (mut cuts, mut seed): (Vec<usize>, u64) = (Vec::new(), seed_of(conversation));
    while high >= low && cuts.len() < n.min(high - low + 1) {
        let cut = low + chance(&mut seed) as usize % (high - low + 1);
        if !cuts.contains(&cut) {
            cuts.push(cut);
        }
    }
    cuts.sort_unstable();
    cuts
}

/// True for one conversation in so many, always the same ones.
#[must_use]
pub fn is_one_in(many: u64, conversation: &Conversation<'_>) -> bool {
    seed_of(conversation).is_multiple_of(many)
}

fn seed_of(conversation: &Conversation<'_>) -> u64 {
    let n_messages = conversation.messages.len() as u64;
    conversation
        .id
        .bytes()
        .fold(n_messages + 1, |seed, byte| (seed ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
}

/// The next number of a sequence that looks like chance.
fn chance(seed: &mut u64) -> u32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as u32
}

impl Lessons {
    /// Takes a finished conversation, of which `said_by` say who says each message; false when it is too short.
    pub fn take(&mut self, conversation: &Conversation<'_>, said_by: &[SaidBy]) -> bool {
        let cuts = cuts_of(conversation, MAX_CUTS);
        // A session with four times as many cuts counts twice as much.
        let weight = 1.0 / (cuts.len().max(1) as f32).sqrt();
        for &cut in &cuts {
            self.cut(conversation, said_by, cut, weight);
        }
        !cuts.is_empty()
    }

    /// How much was seen: examples of values and of lines.
    #[must_use]
    pub fn len(&self) -> (usize, usize) {
        (self.names.len(), self.lines.len())
    }

    fn cut(&mut self, conversation: &Conversation<'_>, said_by: &[SaidBy], cut: usize, weight: f32) {
        let mut seed = seed_of(conversation) ^ cut as u64;
        let (before, behind) = (&conversation.messages[..cut], &conversation.messages[cut..]);
        self.texts.clear();
        self.asked.clear();
        for (index, (message, &by)) in before.iter().zip(said_by).enumerate() {
            push(&mut self.texts, &mut self.asked, index, message, |part| Some(who_says(message, part, by)));
        }
        self.texts.seal();
        self.values.read_all(&self.texts, cut, WINDOW);
        self.activity.read_all(&self.asked, before, &self.texts);
        let (texts, values) = &mut self.next;
        texts.clear();
        let mut asked = Asked::default();
        for (index, (message, &by)) in behind.iter().zip(&said_by[cut..]).take(WINDOW).enumerate() {
            let says = |part| Some(who_says(message, part, by)).filter(|by| *by == SaidBy::Assistant);
            push(texts, &mut asked, index, message, says);
        }
        texts.seal();
        values.read_all(texts, WINDOW, 0);
        let now = Now { texts: &self.texts, values: &self.values, n_messages: cut, window: WINDOW };
        let mut is_used = vec![false; self.values.names.len()];
        let mut is_quoted = vec![false; self.values.lines.len()];
        // What is thought aloud needs nothing that is not said or done.
        let is_thought = |piece: &Piece| texts.all()[piece.text as usize].by == SaidBy::Thought;
        let said = values.pieces.iter().enumerate().filter(|(_, piece)| !is_thought(piece));
        for &name in said.flat_map(|(at, _)| values.names_in(at)) {
            if let Some(number) = self.values.name_like(&values.names[name as usize]) {
                is_used[number as usize] = true;
            }
        }
        for line in values.lines.iter().filter(|line| line.n_arguments > 0) {
            if let Some(number) = self.values.line_like(line) {
                is_quoted[number as usize] = true;
            }
        }
        let mut is_taken = |is_right: bool| is_right | chance(&mut seed).is_multiple_of(SPARSE);
        let n_like = |is_right: bool| if is_right { 1.0 } else { SPARSE as f32 };
        let is_system = |home: u32| {
            let text = self.values.pieces[home as usize].text;
            self.texts.all()[text as usize].by == SaidBy::System
        };
        let mut of_text: Vec<Option<OfText>> = vec![None; self.values.of_text.len()];
        let mut around = |home: u32| {
            let number = self.values.pieces[home as usize].text as usize;
            let text = *of_text[number].get_or_insert_with(|| now.of_text(number, &self.activity));
            now.of_piece(home as usize).into_iter().chain(text)
        };
        for (name, &is_used) in self.values.names.iter().zip(&is_used) {
            if !name.shown.is_since(now.start()) && !is_system(name.shown.home) && is_taken(is_used) {
                let features = now.of_name(name).into_iter().chain(around(name.shown.home));
                self.names.push(Example::new(features, is_used, weight * n_like(is_used)));
            }
        }
        for (line, &is_quoted) in self.values.lines.iter().zip(&is_quoted) {
            if !line.shown.is_since(now.start()) && !is_system(line.shown.home) && is_taken(is_quoted) {
                let features = now.of_line(line).into_iter().chain(around(line.shown.home));
                self.lines.push(Example::new(features, is_quoted, weight * n_like(is_quoted)));
            }
        }
    }

    /// The model that fits best to all of it.
    #[must_use]
    pub fn learn(&self) -> UseModel {
        UseModel { name: weights(&fit(&self.names)), line: weights(&fit(&self.lines)), threshold: 0 }
    }
}

fn weights<const N: usize>(all: &[i32]) -> Weights<N> {
    let (own, around) = all.split_at(N);
    let (piece, text) = around.split_at(PIECE.len());
    let sized = "there is a weight for each feature";
    Weights {
        own: own.try_into().expect(sized),
        piece: piece.try_into().expect(sized),
        text: text.try_into().expect(sized),
    }
}
