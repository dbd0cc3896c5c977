//! Which texts occur again and again, and what they weigh: the counters of Misra and Gries, weighted by characters and
//! merged as in Agarwal et al., "Mergeable summaries" (PODS 2012). What is counted is never too much.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::pipeline::merge::Merge;

/// Shorter texts are not worth a line.
pub const MIN_REPEAT_CHARS: u64 = 200;
/// So many texts are followed while a part is written or read.
const MAX_FOLLOWED: usize = 2048;
/// So many of them are written down.
const MAX_WRITTEN: usize = 32;
/// How much of a text is written down, in characters.
const EXCERPT_CHARS: usize = 80;

/// A text that occurs in many messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Repeat {
    /// Messages that hold it and nothing else; at least.
    pub count: u64,
    /// Its length in characters.
    pub chars: u64,
    /// How it begins.
    pub excerpt: String,
}

impl Repeat {
    /// The characters of all its occurrences.
    pub fn weight(&self) -> u64 {
        self.count * self.chars
    }

    /// The characters of all occurrences but one.
    pub fn spare(&self) -> u64 {
        self.count.saturating_sub(1) * self.chars
    }
}

/// Texts by their hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Repeats(BTreeMap<u64, Repeat>);

impl Repeats {
    /// Sees a text of `chars` characters.
    pub fn push(&mut self, hash: u64, text: &str, chars: u64) {
        if chars < MIN_REPEAT_CHARS {
            return;
        }
        let start = || {
            let text = text.trim_start();
            let end = text.char_indices().nth(EXCERPT_CHARS).map_or(text.len(), |(at, _)| at);
            text.get(..end).unwrap_or_default().to_owned()
        };
        self.0.entry(hash).or_insert_with(|| Repeat { count: 0, chars, excerpt: start() }).count += 1;
        if self.0.len() > 2 * MAX_FOLLOWED {
            self.bound();
        }
    }

    /// Leaves what is written down: the texts with the most characters to spare, then the heaviest.
    pub fn trim(&mut self) {
        let mut ranked: Vec<(u64, Repeat)> = std::mem::take(&mut self.0).into_iter().collect();
        ranked.sort_by(|(a_hash, a), (b_hash, b)| {
            (b.spare(), b.weight()).cmp(&(a.spare(), a.weight())).then_with(|| a_hash.cmp(b_hash))
        });
        ranked.truncate(MAX_WRITTEN);
        self.0.extend(ranked);
    }

    /// Texts that occur more than once, those with the most characters to spare first.
    pub fn ranked(&self) -> Vec<(u64, &Repeat)> {
        let mut ranked: Vec<(u64, &Repeat)> =
            self.0.iter().filter(|(_, repeat)| repeat.count > 1).map(|(hash, repeat)| (*hash, repeat)).collect();
        ranked.sort_by(|(a_hash, a), (b_hash, b)| b.spare().cmp(&a.spare()).then_with(|| a_hash.cmp(b_hash)));
        ranked
    }

    /// Takes from all what the first one too many weighs, so that at most [`MAX_FOLLOWED`] are left.
    fn bound(&mut self) {
        let mut weights: Vec<u64> = self.0.values().map(Repeat::weight).collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let Some(&taken) = weights.get(MAX_FOLLOWED) else { return };
        self.0.retain(|_, repeat| {
            repeat.count = repeat.count.saturating_sub(taken.div_ceil(repeat.chars.max(1)));
            repeat.count > 0
        });
    }
}

impl Merge for Repeats {
    fn absorb(&mut self, other: &Self) {
        for (hash, repeat) in &other.0 {
            match self.0.get_mut(hash) {
                Some(known) => known.count = known.count.saturating_add(repeat.count),
                None => drop(self.0.insert(*hash, repeat.clone())),
            }
        }
        if self.0.len() > MAX_FOLLOWED {
            self.bound();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_WRITTEN, Merge, Repeats};

    #[test]
    fn heavy_repeats_are_found_among_many_texts_and_never_counted_too_high() {
        let mut merged = Repeats::default();
        for part in 0..20_u64 {
            let mut repeats = Repeats::default();
            for number in 0..3_000_u64 {
                let text = format!("{:>400}", part * 10_000 + number);
                repeats.push(1_000 + part * 10_000 + number, &text, 400);
                if number % 10 == 0 {
                    repeats.push(7, &"prompt ".repeat(300), 2_100);
                }
            }
            repeats.push(8, "too short", 9);
            repeats.trim();
            let text = serde_json::to_string(&repeats).expect("JSON");
            assert!(text.len() < MAX_WRITTEN * 300);
            merged.absorb(&serde_json::from_str(&text).expect("the same"));
        }
        let ranked = merged.ranked();
        let (hash, first) = ranked[0];
        assert_eq!((hash, first.chars, ranked.len()), (7, 2_100, 1));
        assert!((5_000..=6_000).contains(&first.count), "{}", first.count);
        assert!(first.excerpt.starts_with("prompt prompt"));
    }
}
