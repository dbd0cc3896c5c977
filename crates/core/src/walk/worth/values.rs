//! What a conversation shows that may be used again: names, and whole lines. One pass notes where each was shown, by whom and
//! how often. Knows texts and who says them; refuses to know what is likely.

use std::ops::Range;

use super::sight::{Homes, Name, QuotedLine, Sight};
use crate::walk::uses::{Index, SaidBy, Text, Texts, Word, bare, exact, folded, is_identifier, is_joiner, lines};
use crate::walk::uses::{with_pieces, words};
use crate::walk::word_set::WordSet;

/// Bytes of a name.
const NAME: Range<usize> = 4..300;
/// Bytes of a line that an edit may quote.
pub(super) const QUOTED: Range<usize> = 8..201;
/// Bytes from which a line is cut, and of the pieces into which it is.
pub(super) const LONG: usize = 240;
const PIECE: usize = 120;
const MAX_PIECE: usize = 200;
/// Bytes of a word of a name.
const MIN_WORD: usize = 3;
/// Words of a name, and names of a piece.
const MAX_JOINED: usize = 24;
const MAX_NAMES: usize = 200;
pub(super) const NONE: u32 = u32::MAX;

/// A line, or a part of a long one.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Its names, as places among those of all pieces.
    pub(super) names: Range<u32>,
    /// Number of its text.
    pub(super) text: u32,
    /// Number of the line, when it is one that may be quoted.
    pub(super) line: u32,
}

/// Everything that a conversation shows; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) pieces: Vec<Piece>,
    /// Pieces of each text.
    pub(super) of_text: Vec<Range<u32>>,
    /// Numbers of names, piece by piece.
    pub(super) names_of: Vec<u32>,
    pub(super) names: Vec<Name>,
    pub(super) lines: Vec<QuotedLine>,
    /// How many results there are up to each message.
    pub(super) n_results: Vec<u32>,
    /// Words of names without their humps and with them, by their places in a [`WordSet`].
    words: Vec<u16>,
    by_name: Index,
    by_line: Index,
    run: Vec<Word>,
    /// Where the words of each of the run begin in `words`, and where the last one ends; nothing before one is asked about.
    run_words: Vec<u32>,
    recent_words: WordSet,
}

impl Values {
    /// Forgets everything.
    pub(super) fn clear(&mut self, texts: &Texts) {
        self.pieces.clear();
        self.of_text.clear();
        self.names_of.clear();
        self.names.clear();
        self.words.clear();
        self.lines.clear();
        self.n_results.clear();
        self.recent_words.clear();
        self.by_name.reset(texts.n_bytes() / 64);
        self.by_line.reset(texts.n_bytes() / 64);
    }

    /// Reads the texts of all messages, the last `window` of which are recent.
    pub(super) fn read_all(&mut self, texts: &Texts, n_messages: usize, window: usize) {
        self.clear(texts);
        let start = n_messages.saturating_sub(window);
        self.read(texts, n_messages, Homes { before: start, prefers_results: true });
        self.see(texts, start);
    }

    /// Goes on reading, up to `n_messages` messages.
    pub(super) fn read(&mut self, texts: &Texts, n_messages: usize, homes: Homes) {
        self.count_results(texts, n_messages);
        let first = self.of_text.len();
        let new = texts.all()[first..].iter().take_while(|text| (text.message as usize) < n_messages);
        for (number, text) in (first..).zip(new) {
            let first = self.pieces.len() as u32;
            lines(texts.bytes(), text.from, text.to, |from, to| {
                self.line(texts.bytes(), (from, to), number as u32, text, homes);
            });
            self.of_text.push(first..self.pieces.len() as u32);
        }
    }

    /// From now on the messages behind the first `start` are the recent ones.
    pub(super) fn see(&mut self, texts: &Texts, start: usize) {
        self.recent_words.clear();
        let first = texts.all().partition_point(|text| (text.message as usize) < start);
        let Some(first) = self.of_text.get(first) else { return };
        for piece in &self.pieces[first.start as usize..] {
            for &name in &self.names_of[piece.names.start as usize..piece.names.end as usize] {
                for &word in words_of(&self.words, &self.names[name as usize]) {
                    self.recent_words.insert(u64::from(word));
                }
            }
        }
    }

    /// Numbers of the names of a piece.
    pub(super) fn names_in(&self, piece: usize) -> &[u32] {
        let names = &self.pieces[piece].names;
        &self.names_of[names.start as usize..names.end as usize]
    }

    /// How many words a name has, and how many of them names of recent messages have, too.
    pub(super) fn recent_words(&self, name: &Name) -> (usize, usize) {
        let words = words_of(&self.words, name);
        (words.len(), words.iter().filter(|&&word| self.recent_words.contains(u64::from(word))).count())
    }

    fn count_results(&mut self, texts: &Texts, n_messages: usize) {
        let new = &texts.all()[self.of_text.len()..];
        let mut results = new.iter().filter(|text| text.by == SaidBy::Result).peekable();
        let mut n = self.n_results.last().copied().unwrap_or_default();
        for message in self.n_results.len() as u32..n_messages as u32 {
            let mut is_result = false;
            while results.next_if(|text| text.message == message).is_some() {
                is_result = true;
            }
            n += u32::from(is_result);
            self.n_results.push(n);
        }
    }

    fn line(&mut self, bytes: &[u8], (from, to): (usize, usize), number: u32, text: &Text, homes: Homes) {
        if to - from <= LONG {
            return self.piece(bytes, (from, to), number, text, homes);
        }
        let mut at = from;
        while at < to {
            let end = end_of_piece(bytes, at, to);
            self.piece(bytes, (at, end), number, text, homes);
            at = end;
        }
    }

    fn piece(&mut self, bytes: &[u8], (from, to): (usize, usize), number: u32, text: &Text, homes: Homes) {
        let piece = self.pieces.len() as u32;
        let first = self.names_of.len();
        let (start, end) = bare(bytes, from, to);
        let (line, is_new) =
            if QUOTED.contains(&(end - start)) { self.quoted(bytes, (start, end)) } else { (NONE, true) };
        let known = self.lines.get(line as usize).filter(|_| !is_new && !has_number(&bytes[from..start]));
        match known.map(|line| line.names.start as usize..line.names.end as usize) {
            // The same line has the same names.
            Some(names) => self.names_of.extend_from_within(names),
            None => self.read_names(bytes, (from, to), first),
        }
        if is_new && let Some(line) = self.lines.get_mut(line as usize) {
            line.names = first as u32..self.names_of.len() as u32;
        }
        let at = Sight { message: text.message + 1, by: text.by, piece, homes };
        for place in first..self.names_of.len() {
            let name = self.names_of[place] as usize;
            let n_results = self.n_results[text.message as usize];
            at.show_name(&mut self.names[name], n_results);
        }
        if let Some(line) = self.lines.get_mut(line as usize) {
            line.n_arguments += u32::from(text.by.is_argument());
            at.show(&mut line.shown);
        }
        let names = first as u32..self.names_of.len() as u32;
        self.pieces.push(Piece { from: from as u32, to: to as u32, names, text: number, line });
    }

    fn read_names(&mut self, bytes: &[u8], (from, to): (usize, usize), first: usize) {
        let mut run = std::mem::take(&mut self.run);
        run.clear();
        let mut next = usize::MAX;
        words(bytes, from, to, |word| {
            let (goes_on, is_joined) = (word.from == next, word.to < to && is_joiner(bytes[word.to]));
            next = if is_joined { word.to + 1 } else { usize::MAX };
            if !run.is_empty() && (!goes_on || run.len() == MAX_JOINED) {
                self.take_run(bytes, &run, first);
                run.clear();
            }
            if is_joined || !run.is_empty() || !is_plain(bytes, &word) {
                run.push(word);
            }
        });
        self.take_run(bytes, &run, first);
        self.run = run;
    }

    /// Takes words with one joiner between each two: the whole, what begins behind a slash, and the parts that are names.
    fn take_run(&mut self, bytes: &[u8], run: &[Word], first: usize) {
        self.run_words.clear();
        if run.len() > 1 {
            self.name(bytes, run, 0..run.len(), first);
        }
        let mut element = 0;
        for (at, word) in run.iter().enumerate() {
            let is_last = at + 1 == run.len();
            let is_slash = !is_last && bytes[word.to] == b'/';
            if is_slash || is_last {
                if element < at && (element > 0 || !is_last) {
                    self.name(bytes, run, element..at + 1, first);
                }
                element = at + 1;
                if is_slash && element + 1 < run.len() {
                    self.name(bytes, run, element..run.len(), first);
                }
            }
            if !is_plain(bytes, word) && is_identifier(&bytes[word.from..word.to]) {
                self.name(bytes, run, at..at + 1, first);
            }
        }
    }

    /// Takes words of a run that are joined, or one that is a name by itself.
    fn name(&mut self, bytes: &[u8], run: &[Word], of: Range<usize>, first: usize) {
        let (from, to) = (run[of.start].from, run[of.end - 1].to);
        if !NAME.contains(&(to - from)) {
            return;
        }
        let hash = exact(bytes, from, to);
        let n = self.names.len() as u32;
        let number = self.by_name.get_or_insert(hash, n, |number| self.names[number as usize].hash == hash);
        if number == n {
            if self.run_words.is_empty() {
                self.read_words(bytes, run);
            }
            let (words, end) = (self.run_words[of.start], self.run_words[of.end]);
            let (n_bytes, n_words) = ((to - from) as u16, u8::try_from(end - words).unwrap_or(u8::MAX));
            self.names.push(Name { hash, from: from as u32, n_bytes, n_words, words, ..Name::default() });
        }
        let of_piece = &self.names_of[first..];
        if of_piece.len() < MAX_NAMES && !of_piece.contains(&number) {
            self.names_of.push(number);
        }
    }

    /// Notes the words of a run, humps and all.
    fn read_words(&mut self, bytes: &[u8], run: &[Word]) {
        for &word in run {
            self.run_words.push(self.words.len() as u32);
            let mut first = true;
            with_pieces(bytes, word, |from, to| {
                // The whole word comes before its pieces.
                let is_whole = std::mem::take(&mut first) && word.is_compound();
                if !is_whole && to - from >= MIN_WORD {
                    self.words.push(WordSet::place_of(folded(bytes, from, to)));
                }
            });
        }
        self.run_words.push(self.words.len() as u32);
    }

    /// The number of a line, and whether it is met for the first time.
    fn quoted(&mut self, bytes: &[u8], (from, to): (usize, usize)) -> (u32, bool) {
        let hash = exact(bytes, from, to);
        let n = self.lines.len() as u32;
        let number = self.by_line.get_or_insert(hash, n, |number| self.lines[number as usize].hash == hash);
        if number == n {
            self.lines.push(QuotedLine { hash, n_bytes: (to - from) as u32, ..QuotedLine::default() });
        }
        (number, number == n)
    }

    /// The number of a name with these bytes in another buffer.
    pub(super) fn name_like(&self, name: &Name) -> Option<u32> {
        self.by_name.get(name.hash, |number| self.names[number as usize].hash == name.hash)
    }

    /// The same of a line.
    pub(super) fn line_like(&self, line: &QuotedLine) -> Option<u32> {
        self.by_line.get(line.hash, |number| self.lines[number as usize].hash == line.hash)
    }
}

/// True for a word without a form of its own: small letters, with perhaps a capital in front.
fn is_plain(bytes: &[u8], word: &Word) -> bool {
    let is_small = |at: usize| at < word.to && bytes[at].is_ascii_lowercase();
    !word.is_compound() && (is_small(word.from) || is_small(word.from + 1))
}

/// True for what stands before a line when it may be a name itself: the number of a line.
fn has_number(before: &[u8]) -> bool {
    before.len() >= NAME.start && before.iter().filter(|byte| byte.is_ascii_digit()).count() >= NAME.start
}

/// Where a piece of a long line ends: behind a sentence, a member or a word.
fn end_of_piece(bytes: &[u8], from: usize, to: usize) -> usize {
    if to - from < PIECE + PIECE / 2 {
        return to;
    }
    let (least, most) = (from + PIECE, (from + MAX_PIECE).min(to));
    let ends = |at: &usize| matches!(bytes[at - 1], b' ' | b',' | b'}' | b';');
    let mut end = (least..most).find(ends).unwrap_or(most);
    while end < to && bytes[end] & 0xC0 == 0x80 {
        end += 1;
    }
    end
}

fn words_of<'w>(words: &'w [u16], name: &Name) -> &'w [u16] {
    &words[name.words as usize..][..usize::from(name.n_words)]
}
