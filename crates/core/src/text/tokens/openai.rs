//! `o200k_base` and `cl100k_base`. A text is cut into pieces as their patterns say; a piece that is a token is found in
//! a table, every other piece goes to the encoder. Knows nothing of files and of other tokenizers.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::thread::LocalKey;

use bpe_openai::Tokenizer;

use super::TokenCounter;
use super::pieces::{Pattern, next_ascii};
use super::short::{Counts, Key, ShortTokens};

/// Counts with one of the two tables of tokens.
struct OpenAi {
    name: &'static str,
    tokenizer: &'static Tokenizer,
    pattern: Pattern,
    tokens: ShortTokens,
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
        tokenizer: &'static Tokenizer,
        pattern: Pattern,
        counts: &'static LocalKey<RefCell<Counts>>,
    ) -> Arc<Self> {
        let ids = 0..u32::try_from(tokenizer.bpe.num_tokens()).expect("ids of tokens are 32 bits");
        let tokens = ShortTokens::new(ids.map(|id| tokenizer.bpe.token_bytes(id)));
        Arc::new(Self { name, tokenizer, pattern, tokens, counts })
    }
}

/// The counter of GPT-4o and later models; loaded once per process.
pub(super) fn o200k_base() -> Arc<dyn TokenCounter> {
    static COUNTER: LazyLock<Arc<OpenAi>> =
        LazyLock::new(|| OpenAi::new("o200k_base", bpe_openai::o200k_base(), Pattern::O200k, &O200K_COUNTS));
    COUNTER.clone()
}

/// The counter of GPT-4 and GPT-3.5; loaded once per process.
pub(super) fn cl100k_base() -> Arc<dyn TokenCounter> {
    static COUNTER: LazyLock<Arc<OpenAi>> =
        LazyLock::new(|| OpenAi::new("cl100k_base", bpe_openai::cl100k_base(), Pattern::Cl100k, &CL100K_COUNTS));
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
                let end = next_ascii(self.pattern, bytes, at).unwrap_or_else(|| {
                    let rest = text.get(at..).unwrap_or_default();
                    at + self.tokenizer.split(rest).next().map_or(rest.len(), str::len)
                });
                let encode = || self.tokenizer.bpe.count(&bytes[at..end]);
                n_tokens += match Key::new(bytes, at..end) {
                    Some(key) if self.tokens.contains(key) => 1,
                    Some(key) => counts.get(key, encode),
                    None => encode(),
                };
                at = end;
            }
        });
        n_tokens
    }
}
