//! `o200k_base` and `cl100k_base`. A text is cut into pieces as their patterns say; a piece that is a token is found in
//! a table, every other piece is merged from its bytes. Knows nothing of files and of other tokenizers.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::thread::LocalKey;

use regex::Regex;

use super::counter::TokenCounter;
use super::merges::Merges;
use super::pieces::{Pattern, next_ascii};
use super::short::{Counts, Key, ShortTokens};

/// Counts with one of the two tables of tokens.
struct OpenAi {
    name: &'static str,
    pattern: Pattern,
    pieces: Regex,
    tokens: ShortTokens,
    merges: Merges,
    /// What this thread counted before.
    counts: &'static LocalKey<RefCell<Counts>>,
}

thread_local! {
    static O200K_COUNTS: RefCell<Counts> = RefCell::new(Counts::new());
    static CL100K_COUNTS: RefCell<Counts> = RefCell::new(Counts::new());
}

impl OpenAi {
    fn new(
        name: &'static str,
        vocabulary: &[u8],
        pattern: Pattern,
        counts: &'static LocalKey<RefCell<Counts>>,
    ) -> Arc<Self> {
        // It is needed to the end of the process.
        let vocabulary = Box::leak(zstd::decode_all(vocabulary).expect("it was compressed whole").into_boxed_slice());
        let tokens = tokens_of(vocabulary);
        let pieces = Regex::new(pattern.as_str()).expect("it is a constant");
        let (short, merges) = (ShortTokens::new(tokens.iter().copied()), Merges::new(&tokens));
        Arc::new(Self { name, pattern, pieces, tokens: short, merges, counts })
    }

    /// End of the piece that begins at `at`.
    fn piece_end(&self, text: &str, at: usize) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        let piece = self.pieces.find(rest).map_or(rest, |found| found.as_str());
        let last = piece.chars().next_back().map_or(0, char::len_utf8);
        // Of white space within a line the last character belongs to what follows, unless it is the only one.
        let is_blank = !piece.ends_with(['\n', '\r']) && piece.chars().all(char::is_whitespace);
        let is_cut = is_blank && piece.len() < rest.len() && piece.len() > last;
        at + piece.len() - if is_cut { last } else { 0 }
    }
}

/// The tokens by rank: as many lengths as there are tokens, then their bytes.
fn tokens_of(vocabulary: &'static [u8]) -> Vec<&'static [u8]> {
    let (mut n_tokens, mut n_bytes) = (0, 0);
    while n_tokens + n_bytes < vocabulary.len() {
        n_bytes += usize::from(vocabulary[n_tokens]);
        n_tokens += 1;
    }
    let (lengths, mut bytes) = vocabulary.split_at(n_tokens);
    let token = |&length: &u8| {
        let (token, rest) = bytes.split_at(length.into());
        bytes = rest;
        token
    };
    lengths.iter().map(token).collect()
}

/// The counter of GPT-4o and later models; loaded once per process.
pub(super) fn o200k_base() -> Arc<dyn TokenCounter> {
    static COUNTER: LazyLock<Arc<OpenAi>> = LazyLock::new(|| {
        let vocabulary = include_bytes!("../../../vocabularies/o200k_base.zst");
        OpenAi::new("o200k_base", vocabulary, Pattern::O200k, &O200K_COUNTS)
    });
    COUNTER.clone()
}

/// The counter of GPT-4 and GPT-3.5; loaded once per process.
pub(super) fn cl100k_base() -> Arc<dyn TokenCounter> {
    static COUNTER: LazyLock<Arc<OpenAi>> = LazyLock::new(|| {
        let vocabulary = include_bytes!("../../../vocabularies/cl100k_base.zst");
        OpenAi::new("cl100k_base", vocabulary, Pattern::Cl100k, &CL100K_COUNTS)
    });
    COUNTER.clone()
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl TokenCounter for OpenAi {
    fn count(&self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let (mut at, mut n_tokens) = (0, 0);
        self.counts.with_borrow_mut(|counts| {
            while at < bytes.len() {
                // Most pieces of most texts are ASCII and need no regular expression.
                let end = next_ascii(self.pattern, bytes, at).unwrap_or_else(|| self.piece_end(text, at));
                let merge = || self.merges.count(&bytes[at..end]);
                n_tokens += match Key::new(bytes, at..end) {
                    Some(key) if self.tokens.contains(key) => 1,
                    Some(key) => counts.get(key, merge),
                    None => merge(),
                };
                at = end;
            }
        });
        n_tokens
    }
}
