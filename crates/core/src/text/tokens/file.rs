//! Any `tokenizer.json` of Hugging Face. Takes the bytes of the file; takes out of it what would make counts random,
//! short or failing. Knows no path.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use aho_corasick::{AhoCorasick, MatchKind};
use tokenizers::{ModelWrapper, Tokenizer};

use super::counter::{TokenCounter, estimate};
use crate::error::{Error, ErrorKind, Result};

/// Longer texts are counted in pieces of at most so many bytes: some models take memory of a hundred times the text, and
/// a pattern that backtracks gives up on a long one.
const MAX_PIECE: usize = 64 << 10;
/// Texts of at least so many bytes are counted once …
const MIN_KNOWN: usize = 64;
/// … as long as no more than so many are known.
const MAX_KNOWN: usize = 1 << 16;
/// What a tokenizer must have an answer to: letters, digits, signs, blanks, other scripts, a character that nothing uses.
const PROBE: &str = "It's 3.50 $ (net)\n\t— für 東京 🙂 \u{E000}";

/// Counts with a tokenizer that was read from a file.
pub(super) struct FileCounter {
    tokenizer: Tokenizer,
    /// Its special tokens.
    special: AhoCorasick,
    /// Counts under the hash of their text: a budget asks for the same texts again and again.
    known: Mutex<HashMap<blake3::Hash, usize>>,
}

impl FileCounter {
    pub(super) fn new(bytes: &[u8]) -> Result<Self> {
        let wrong = |message: &str| {
            Error::new(ErrorKind::Usage, "", message)
                .hinting("name the `tokenizer.json` of a model, as `tokenizer.save(\"tokenizer.json\")` writes it")
        };
        let mut tokenizer = Tokenizer::from_bytes(bytes)
            .map_err(|error| wrong("the file is no tokenizer.json of Hugging Face").because(error))?;
        let whole = tokenizer.with_truncation(None).map(|tokenizer| tokenizer.with_padding(None));
        whole.map_err(|error| wrong("the tokenizer cannot be used without truncation").because(error))?;
        tokenizer.set_encode_special_tokens(true);
        if let Some(model) = without_chance(tokenizer.get_model()) {
            tokenizer.with_model(model);
        }
        let added = tokenizer.get_added_tokens_decoder();
        let special = added.into_values().filter(|token| token.special && !token.content.is_empty());
        let special = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(special.map(|token| token.content))
            .map_err(|error| wrong("the tokenizer has too many special tokens").because(error))?;
        let counter = Self { tokenizer, special, known: Mutex::default() };
        let message =
            "the tokenizer has no answer to characters that it does not know, so that it cannot count all texts";
        match counter.encode(PROBE) {
            Ok(_) => Ok(counter),
            Err(Some(error)) => Err(wrong(message).because(error)),
            Err(None) => Err(wrong(message)),
        }
    }

    fn count_anew(&self, text: &str) -> usize {
        let (mut rest, mut n_tokens) = (text, 0);
        while !rest.is_empty() {
            let (piece, after) = cut(rest);
            // The probe was answered, so this does not happen; if it does, a guess is better than no run.
            n_tokens += self.encode(piece).unwrap_or_else(|_| estimate(piece.chars().count()));
            rest = after;
        }
        n_tokens
    }

    /// Tokens of a piece; an error of the tokenizer, or none when it panicked.
    fn encode(&self, piece: &str) -> std::result::Result<usize, Option<tokenizers::Error>> {
        let encoding = catch_unwind(AssertUnwindSafe(|| self.tokenizer.encode_fast(piece, false)));
        encoding.map_err(|_| None)?.map(|encoding| encoding.len()).map_err(Some)
    }
}

impl fmt::Debug for FileCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileCounter").field("n_tokens", &self.tokenizer.get_vocab_size(true)).finish_non_exhaustive()
    }
}

impl TokenCounter for FileCounter {
    fn count(&self, text: &str) -> usize {
        if text.len() < MIN_KNOWN {
            return self.count_anew(text);
        }
        let hash = blake3::hash(text.as_bytes());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&hash).copied();
        found.unwrap_or_else(|| {
            let n_tokens = self.count_anew(text);
            let mut known = known();
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.insert(hash, n_tokens);
            n_tokens
        })
    }

    fn count_rendered(&self, text: &str) -> usize {
        let (mut n_tokens, mut from) = (0, 0);
        let ends = self.special.find_iter(text).map(|found| (found.start(), found.end()));
        for (start, end) in ends.chain([(text.len(), text.len())]) {
            n_tokens += self.count(text.get(from..start).unwrap_or_default()) + usize::from(start < end);
            from = end;
        }
        n_tokens
    }
}

/// The same model without dropout and sampling; `None` when it has neither.
fn without_chance(model: &ModelWrapper) -> Option<ModelWrapper> {
    match model {
        ModelWrapper::BPE(bpe) if bpe.dropout.is_some() => {
            let mut bpe = bpe.clone();
            bpe.dropout = None;
            Some(bpe.into())
        }
        ModelWrapper::Unigram(unigram) if unigram.alpha.is_some() || unigram.nbest_size.is_some() => {
            let mut unigram = unigram.clone();
            (unigram.alpha, unigram.nbest_size) = (None, None);
            Some(unigram.into())
        }
        _ => None,
    }
}

/// The first piece and the rest. Cuts before the last line, else before the last blank, of the piece's second half, where
/// tokens of nearly all models end; else between any two characters.
fn cut(text: &str) -> (&str, &str) {
    if text.len() <= MAX_PIECE {
        return (text, "");
    }
    let most = text.floor_char_boundary(MAX_PIECE);
    let bytes = &text.as_bytes()[..most];
    let is_line = |at: &usize| bytes[at - 1] == b'\n' && !bytes[*at].is_ascii_whitespace();
    let is_word = |at: &usize| bytes[*at] == b' ' && !bytes[at - 1].is_ascii_whitespace();
    let places = || (MAX_PIECE / 2..most).rev();
    let at = places().find(is_line).or_else(|| places().find(is_word)).unwrap_or(most);
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::{MAX_PIECE, cut};

    #[test]
    fn cuts_where_tokens_end() {
        assert_eq!(cut("short"), ("short", ""));
        let prose = "word ".repeat(MAX_PIECE / 4);
        let (head, tail) = cut(&prose);
        assert!(head.ends_with("word") && tail.starts_with(" word") && head.len() > MAX_PIECE / 2);
        let lines = "a b c\n".repeat(MAX_PIECE / 4);
        let (head, tail) = cut(&lines);
        assert!(head.ends_with('\n') && tail.starts_with('a') && head.len() + 6 >= MAX_PIECE);
        let wide = "漢".repeat(MAX_PIECE);
        let (head, tail) = cut(&wide);
        assert_eq!((head.len(), head.len() + tail.len()), (MAX_PIECE / 3 * 3, wide.len()));
    }
}
