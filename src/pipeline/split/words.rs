//! Texts as words, whatever their case, spacing and punctuation: what is compared where somebody asks whether two texts say the
//! same. Hashes are the same on every machine and in every version. Knows letters of any script; refuses to know conversations.

/// The offset and the prime of FNV-1a with 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// The base of rolling hashes: odd, with bits everywhere.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the bits of a hash: the finalizer of `SplitMix64`.
pub(super) fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn step(hash: u64, sign: u32) -> u64 {
    (hash ^ u64::from(sign)).wrapping_mul(PRIME)
}

/// Appends the hash of every word of `text`: letters and digits that stand together, without their case. Where a script writes
/// no spaces, each sign is a word.
pub(super) fn push_words(text: &str, words: &mut Vec<u64>) {
    let mut open = None;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            open = Some(step(open.unwrap_or(BASIS), u32::from(c.to_ascii_lowercase())));
        } else if c.is_ascii() || !c.is_alphanumeric() {
            words.extend(open.take().map(mixed));
        } else if stands_alone(c) {
            words.extend(open.take().map(mixed));
            words.push(mixed(step(BASIS, u32::from(c))));
        } else {
            open = Some(c.to_lowercase().fold(open.unwrap_or(BASIS), |hash, c| step(hash, u32::from(c))));
        }
    }
    words.extend(open.map(mixed));
}

/// True for signs of scripts without spaces: Thai, Lao, Burmese, Khmer, and everything from the radicals of Chinese on that is no
/// letter of an alphabet.
fn stands_alone(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0xA4CF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF)
}

/// The hash of a text of which `words` are the words; of one without words that of its signs.
pub(super) fn text_hash(text: &str, words: &[u64]) -> u64 {
    if words.is_empty() {
        let signs = text.chars().filter(|c| !c.is_whitespace());
        return mixed(signs.fold(BASIS, |hash, c| step(hash, u32::from(c))));
    }
    words.iter().fold(BASIS, |hash, &word| joined(hash, word))
}

/// The hash of what `hash` stands for with `next` behind it.
pub(super) fn joined(hash: u64, next: u64) -> u64 {
    mixed(hash.wrapping_mul(BASE).wrapping_add(next))
}

/// Hashes of runs of words of a text, of any length, without looking at a word twice.
#[derive(Debug)]
pub(super) struct Grams {
    /// Of each beginning of the text.
    sums: Vec<u64>,
}

impl Grams {
    pub(super) fn of(words: &[u64]) -> Self {
        let mut sums = Vec::with_capacity(words.len() + 1);
        sums.push(0_u64);
        for &word in words {
            let last = sums.last().copied().unwrap_or_default();
            sums.push(last.wrapping_mul(BASE).wrapping_add(word));
        }
        Self { sums }
    }

    /// The hashes of all runs of `n` words, in order; runs of different lengths have nothing in common.
    pub(super) fn runs(&self, n: usize) -> impl Iterator<Item = u64> {
        let power = BASE.wrapping_pow(n as u32);
        let ends = self.sums.iter().skip(n);
        let of_length = mixed(n as u64);
        self.sums
            .iter()
            .zip(ends)
            .map(move |(&start, &end)| mixed(end.wrapping_sub(start.wrapping_mul(power)) ^ of_length))
    }
}

#[cfg(test)]
mod tests {
    use super::{Grams, push_words, text_hash};

    fn words(text: &str) -> Vec<u64> {
        let mut words = Vec::new();
        push_words(text, &mut words);
        words
    }

    #[test]
    fn case_spacing_and_punctuation_make_no_difference() {
        assert_eq!(words("Find ME a\n\ttrain, please!"), words("find me a train please"));
        assert_eq!(words("ÜBER Straße"), words("über straße"));
        assert_ne!(words("train 7"), words("train 8"));
        assert_eq!(words("知道恋恋").len(), 4);
        assert!(words(" … !? ").is_empty());
        assert_eq!(text_hash("?!", &[]), text_hash(" ? ! ", &[]));
        assert_ne!(text_hash("?!", &[]), text_hash("!?", &[]));
    }

    #[test]
    fn runs_are_the_same_wherever_they_stand() {
        let text = words("one two three four five two three");
        let grams = Grams::of(&text);
        let twos: Vec<u64> = grams.runs(2).collect();
        assert_eq!((twos.len(), twos[1]), (6, twos[5]));
        assert_eq!(Grams::of(&text[1..3]).runs(2).collect::<Vec<_>>(), [twos[1]]);
        assert_eq!(grams.runs(8).count(), 0);
        assert_ne!(Grams::of(&text).runs(1).next(), Grams::of(&text).runs(2).next());
    }
}
