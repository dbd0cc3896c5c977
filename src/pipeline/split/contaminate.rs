//! Which conversations hold what stands in evaluation files: runs of words that both have, close together. Knows texts by their
//! words; refuses to know files.

use std::collections::{BTreeSet, HashMap};

use foldhash::fast::FixedState;

use super::words::{Grams, push_words};

/// Texts of fewer words stand everywhere.
const MIN_WORDS: usize = 5;
/// A run of words that stands in more items than this is a phrase of the test, not a question of it.
const MOST_ITEMS: usize = 16;

/// How long runs of words are by the length of an item, and what share of its runs a conversation must have. Thirteen words are
/// what such checks usually take; of a shorter item one exchanged word would leave none of so long a run.
const fn runs_of(n_words: usize) -> (usize, f64) {
    match n_words {
        0..8 => (n_words, 1.0),
        8..20 => (3, 0.6),
        20..128 => (8, 0.25),
        _ => (13, 0.2),
    }
}

/// A text of an evaluation file.
#[derive(Debug, Clone)]
struct Item {
    /// The file and the line that it stands in.
    place: String,
    n_words: u32,
    /// Different runs of its words that count.
    n_runs: u32,
    n_needed: u32,
    run: usize,
}

/// What conversations must not hold.
#[derive(Debug, Default)]
pub struct EvaluationItems {
    items: Vec<Item>,
    /// Under the hash of a run: the items that have it, and where.
    runs: HashMap<u64, Vec<(u32, u32)>, FixedState>,
    lengths: Vec<usize>,
}

impl EvaluationItems {
    /// Adds the texts of a record that stands at `place`. Those of a few words count only where there is none that is longer: they are
    /// names and choices.
    pub fn add<'t>(&mut self, place: &str, texts: impl IntoIterator<Item = &'t str>) {
        let words_of = |text| {
            let mut words = Vec::new();
            push_words(text, &mut words);
            words
        };
        let mut texts: Vec<Vec<u64>> =
            texts.into_iter().map(words_of).filter(|words| words.len() >= MIN_WORDS).collect();
        if texts.iter().any(|words| words.len() >= 8) {
            texts.retain(|words| words.len() >= 8);
        }
        for words in texts {
            let (run, _) = runs_of(words.len());
            let item = self.items.len() as u32;
            let mut seen = BTreeSet::new();
            for (at, hash) in Grams::of(&words).runs(run).enumerate() {
                if seen.insert(hash) {
                    self.runs.entry(hash).or_default().push((item, at as u32));
                }
            }
            let n_words = words.len() as u32;
            self.items.push(Item { place: place.to_owned(), n_words, n_runs: 0, n_needed: 0, run });
        }
    }

    /// Leaves out what many items have in common; to be called when all were added.
    #[must_use]
    pub fn ready(mut self) -> Self {
        self.runs.retain(|_, items| items.len() <= MOST_ITEMS);
        // Sums do not depend on the order of a hash map.
        #[expect(clippy::iter_over_hash_type, reason = "only counted")]
        for items in self.runs.values() {
            for &(item, _) in items {
                self.items[item as usize].n_runs += 1;
            }
        }
        for item in &mut self.items {
            let (_, share) = runs_of(item.n_words as usize);
            item.n_needed = (f64::from(item.n_runs) * share).ceil().max(1.0) as u32;
        }
        let lengths: BTreeSet<usize> = self.items.iter().filter(|item| item.n_runs > 0).map(|item| item.run).collect();
        self.lengths = lengths.into_iter().collect();
        self
    }

    /// Where the item stands.
    #[must_use]
    pub fn place(&self, item: u32) -> &str {
        self.items.get(item as usize).map_or("", |item| &item.place)
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True when nothing is looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The first item that a text with these words holds.
    pub(super) fn held_in(&self, words: &[u64]) -> Option<u32> {
        let grams = Grams::of(words);
        // Item, place in the text, place in the item.
        let mut hits: Vec<(u32, u32, u32)> = Vec::new();
        for &length in &self.lengths {
            for (at, hash) in grams.runs(length).enumerate() {
                for &(item, run) in self.runs.get(&hash).into_iter().flatten() {
                    hits.push((item, at as u32, run));
                }
            }
        }
        hits.sort_unstable();
        let mut of_items = hits.chunk_by(|a, b| a.0 == b.0);
        of_items.find(|hits| self.is_held(hits)).and_then(|hits| hits.first()).map(|hit| hit.0)
    }

    /// True when these hits of an item are enough of it, and stand together.
    fn is_held(&self, hits: &[(u32, u32, u32)]) -> bool {
        let Some(item) = hits.first().and_then(|hit| self.items.get(hit.0 as usize)) else { return false };
        if (hits.len() as u32) < item.n_needed {
            return false;
        }
        let reach = item.n_words + item.n_words / 2;
        let mut n_times: HashMap<u32, u32, FixedState> = HashMap::default();
        let mut first = hits.iter();
        for &(_, at, run) in hits {
            *n_times.entry(run).or_default() += 1;
            while first.as_slice().first().is_some_and(|&(_, before, _)| at - before > reach) {
                let Some((_, _, gone)) = first.next() else { break };
                match n_times.get_mut(gone) {
                    Some(1) | None => drop(n_times.remove(gone)),
                    Some(n) => *n -= 1,
                }
            }
            if n_times.len() as u32 >= item.n_needed {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{EvaluationItems, push_words};

    fn held(items: &[&str], text: &str) -> Option<u32> {
        let mut index = EvaluationItems::default();
        for (line, item) in items.iter().enumerate() {
            index.add(&format!("eval.txt:{line}"), [*item]);
        }
        let mut words = Vec::new();
        push_words(text, &mut words);
        index.ready().held_in(&words)
    }

    const LONG: &str = "A farmer has seventeen sheep and all but nine of them run away through the open gate at night; how many \
                        sheep does the farmer have left when he counts them in the morning before breakfast?";

    #[test]
    fn copies_are_found_with_a_word_exchanged_in_another_case_and_among_others() {
        assert_eq!(held(&[LONG], &format!("Please help me. {} Thanks!", LONG.to_uppercase())), Some(0));
        assert_eq!(held(&[LONG], &LONG.replace("open", "broken").replace("morning", "evening")), Some(0));
        assert_eq!(held(&["Which planet has the most moons?"], "so, which planet has the most moons"), Some(0));
        let question = "What is the capital of the country that borders only Senegal?";
        assert_eq!(held(&[LONG, question], &format!("Q: {} A:", question.replace("only", "just"))), Some(1));
    }

    #[test]
    fn what_shares_a_phrase_is_not_contaminated() {
        assert_eq!(held(&[LONG], "How many sheep does the farmer have? I keep seventeen goats and a dog."), None);
        let question = "What is the difference between a virus and a worm?";
        assert_eq!(held(&[question], "what is the difference between a list and a tuple in Python"), None);
        // What stands in all items says nothing, and short answers beside a question neither.
        let many: Vec<String> = (0..40).map(|n| format!("{LONG} {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(
            held(&many, "A farmer has seventeen sheep and all but nine of them run away through the open gate"),
            None
        );
        let mut index = EvaluationItems::default();
        index.add("x", [LONG, "none of the above is right"]);
        assert_eq!(index.len(), 1);
    }
}
