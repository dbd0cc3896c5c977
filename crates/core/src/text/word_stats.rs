//! How often words occur in a corpus, and how much a sentence tells beyond what is common there. Knows words, pairs of
//! characters and counts; refuses to know messages, files and what a score is used for.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::scan;

/// Version of the document that the counts are written as.
pub const WORD_STATISTICS_VERSION: u32 = 1;
/// So many words are kept by default; what is rarer tells about as much as what never occurred.
pub const DEFAULT_MAX_WORDS: usize = 1 << 15;
/// A longer run of letters and digits is data: it is neither counted nor scored.
const MAX_WORD_CHARS: usize = 32;
/// What tells less (one word in 256) is no content: articles, prepositions, what the whole corpus is about.
const MIN_BITS: f64 = 8.0;
/// Every sentence is taken to have so many more words that tell just that, so that a single rare word does not make
/// a short one the most telling of all.
const PRIOR_WORDS: f64 = 2.0;

type Map<V> = HashMap<Box<str>, V, FixedState>;

/// Counts in the making. Adding texts and merging counts give the same in any order.
///
/// A word is a run of letters and digits in lower case; scripts that are written without blanks are counted by pairs
/// of neighbouring characters. The memory is bounded by what is added: the caller bounds the sample.
#[derive(Debug, Clone, Default)]
pub struct WordCounts {
    counts: Map<u64>,
    n_words: u64,
    n_pairs: u64,
}

impl WordCounts {
    /// Counts the words of `text`.
    pub fn add(&mut self, text: &str) {
        tokens(text, |token, is_pair| {
            *(if is_pair { &mut self.n_pairs } else { &mut self.n_words }) += 1;
            match self.counts.get_mut(token) {
                Some(count) => *count += 1,
                None => {
                    self.counts.insert(token.into(), 1);
                }
            }
        });
    }

    /// Adds the counts of other texts.
    pub fn merge(&mut self, other: Self) {
        self.n_words += other.n_words;
        self.n_pairs += other.n_pairs;
        #[expect(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
        for (word, count) in other.counts {
            *self.counts.entry(word).or_default() += count;
        }
    }

    /// The `max_words` most frequent words, ties in the order of their bytes.
    #[must_use]
    pub fn freeze(self, max_words: usize) -> WordStatistics {
        let mut counts: Vec<(String, u64)> =
            self.counts.into_iter().map(|(word, count)| (word.into_string(), count)).collect();
        let n_distinct = counts.len() as u64;
        counts.sort_unstable_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
        counts.truncate(max_words);
        let (n_words, n_pairs) = (self.n_words, self.n_pairs);
        WordStatistics { version: WORD_STATISTICS_VERSION, n_words, n_pairs, n_distinct, counts }
    }
}

/// Counts as they are written: the same texts give the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordStatistics {
    /// See [`WORD_STATISTICS_VERSION`].
    pub version: u32,
    /// Words counted, the ones that are left out of `counts` among them.
    pub n_words: u64,
    /// Pairs of characters counted, in scripts without blanks.
    pub n_pairs: u64,
    /// Different words and pairs.
    pub n_distinct: u64,
    /// The most frequent ones, the most frequent first.
    #[serde(serialize_with = "write_counts", deserialize_with = "read_counts")]
    pub counts: Vec<(String, u64)>,
}

fn write_counts<S: Serializer>(counts: &[(String, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(word, count)| (word, count)))
}

fn read_counts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, u64)>, D::Error> {
    let map = serde_json::Map::deserialize(deserializer)?;
    let count =
        |value: serde_json::Value| value.as_u64().ok_or_else(|| serde::de::Error::custom("a count is no number"));
    map.into_iter().map(|(word, value)| Ok((word, count(value)?))).collect()
}

/// What every word tells, in bits: -log₂ of its share of all words, one occurrence added to each.
#[derive(Debug, Clone)]
pub struct Information {
    bits: Map<f64>,
    unknown_word: f64,
    unknown_pair: f64,
}

impl Information {
    /// What the words tell in a corpus with these counts.
    #[must_use]
    pub fn new(statistics: &WordStatistics) -> Self {
        let unknown = |total: u64| (total + statistics.n_distinct + 1) as f64;
        let (words, pairs) = (unknown(statistics.n_words), unknown(statistics.n_pairs));
        let bits = statistics.counts.iter().map(|(word, count)| {
            let total = if is_pair(word) { pairs } else { words };
            (word.as_str().into(), (total / (*count + 1) as f64).log2())
        });
        Self { bits: bits.collect(), unknown_word: words.log2(), unknown_pair: pairs.log2() }
    }

    /// Mean bits of the content words of `sentence`: of those that tell at least 8. Two more words that tell just that
    /// are taken to be there, so that a sentence without content gets 8, and a short one no more than its words bear.
    #[must_use]
    pub fn of(&self, sentence: &str) -> f64 {
        let (mut sum, mut n) = (PRIOR_WORDS * MIN_BITS, PRIOR_WORDS);
        tokens(sentence, |token, is_pair| {
            let unknown = if is_pair { self.unknown_pair } else { self.unknown_word };
            let bits = self.bits.get(token).copied().unwrap_or(unknown);
            if bits >= MIN_BITS {
                sum += bits;
                n += 1.0;
            }
        });
        sum / n
    }
}

/// Scripts without blanks: ideographs, kana, hangul, Thai, Lao, Myanmar, Khmer.
fn is_wide(c: char) -> bool {
    let code = c as u32;
    code >= 0xe00
        && (scan::class_of(code) & scan::WIDE != 0 || matches!(code, 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff))
}

fn is_pair(token: &str) -> bool {
    token.chars().next().is_some_and(is_wide)
}

/// Letters and digits of any script, the vowel signs and accents that belong to them, and `_`.
fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || c == '_'
        || matches!(c as u32, 0x300..=0x36f | 0x591..=0x5c7 | 0x610..=0x65f | 0x900..=0xdff | 0x200c | 0x200d)
}

/// Calls `see` with every word in lower case and with every pair of wide characters; a wide character that stands alone
/// is a pair of itself.
fn tokens(text: &str, mut see: impl FnMut(&str, bool)) {
    let (mut word, mut n_chars) = (String::new(), 0);
    let mut wide: Option<(char, bool)> = None;
    for c in text.chars().chain([' ']) {
        let is_wide_char = !c.is_ascii() && is_wide(c);
        let joins = is_word(c) && !is_wide_char || (c == '\'' || c == '’') && n_chars > 0;
        if joins {
            n_chars += 1;
            if n_chars <= MAX_WORD_CHARS {
                match c {
                    '’' => word.push('\''),
                    c if c.is_ascii() => word.push(c.to_ascii_lowercase()),
                    c => word.extend(c.to_lowercase()),
                }
            }
        } else if n_chars > 0 {
            let whole = word.trim_end_matches('\'');
            if n_chars <= MAX_WORD_CHARS && !whole.is_empty() {
                see(whole, false);
            }
            word.clear();
            n_chars = 0;
        }
        if is_wide_char {
            if let Some((before, _)) = wide {
                word.extend([before, c]);
                see(&word, true);
                word.clear();
            }
            wide = Some((c, wide.is_some()));
        } else if let Some((alone, false)) = wide.take() {
            // No word is in the making unless it began with this very character.
            let mut pair = [0; 4];
            see(alone.encode_utf8(&mut pair), true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_MAX_WORDS, Information, WordCounts, WordStatistics, tokens};

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        tokens(text, |token, is_pair| found.push(if is_pair { format!("<{token}>") } else { token.to_owned() }));
        found
    }

    #[test]
    fn words_are_folded_and_wide_scripts_give_pairs() {
        assert_eq!(words("Don’t stop: user_id2, \"Größe\"'s 42%"), ["don't", "stop", "user_id2", "größe", "s", "42"]);
        assert_eq!(words("今天abc去。好"), ["<今天>", "abc", "<去>", "<好>"]);
        assert_eq!(words("हिन्दी में"), ["हिन्दी", "में"]);
        assert_eq!(words(&format!("a {} b", "x1".repeat(40))), ["a", "b"]);
        assert_eq!(words("' '' '"), Vec::<String>::new());
    }

    #[test]
    fn counts_do_not_depend_on_order_or_cuts() {
        let texts = ["the cache is cold", "The cache, again", "缓存冷了", "a b c d", "zz yy"];
        let mut whole = WordCounts::default();
        for text in texts {
            whole.add(text);
        }
        let mut merged = WordCounts::default();
        for text in texts.iter().rev() {
            let mut one = WordCounts::default();
            one.add(text);
            merged.merge(one);
        }
        let whole = whole.freeze(6);
        assert_eq!(whole, merged.freeze(6));
        assert_eq!(whole.counts[..2], [("cache".to_owned(), 2), ("the".to_owned(), 2)]);
        assert_eq!((whole.counts.len(), whole.n_words, whole.n_pairs), (6, 13, 3));
        let text = serde_json::to_string(&whole).expect("JSON");
        assert_eq!(serde_json::from_str::<WordStatistics>(&text).expect("read"), whole);
    }

    #[test]
    fn rare_words_tell_more_and_one_of_them_is_not_everything() {
        let mut counts = WordCounts::default();
        for _ in 0..300 {
            counts.add("the cat sat on the mat and then the dog sat there");
        }
        counts.add("a zeppelin landed");
        let information = Information::new(&counts.freeze(DEFAULT_MAX_WORDS));
        let of = |text: &str| information.of(text);
        assert!(of("the zeppelin landed near an observatory") > of("the cat sat on the mat"));
        assert!((of("the cat sat") - 8.0).abs() < 1e-9);
        // Three rare words tell more than one, although their mean is the same.
        assert!(of("quokka wombat numbat") > of("quokka"));
        assert!(of("").is_finite());
        let nothing = Information::new(&WordCounts::default().freeze(9));
        assert!(nothing.of("any words").is_finite());
    }
}
