//! How much texts say about the same: words weighed by their rarity (TF-IDF), and shared facts. Knows words of any
//! script; refuses to know messages and what similarity is good for.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::lexed::FactKind;
use super::wide::is_wide;
use super::words::{Table, words_file};
use super::{TextView, fold_key};

/// Shorter words say nothing, longer ones are data.
const MIN_WORD: usize = 3;
const MAX_WORD: usize = 40;
/// Shares of words and of facts in the similarity.
const WORDS: f64 = 0.7;
const FACTS: f64 = 0.3;
/// With this many texts, a word that is in more than half of them is one of the subject of all.
const MIN_FREQUENT: usize = 10;
/// Entries of the index that one text visits, its rarest words first.
const MAX_VISITS: usize = 2_048;
/// Texts that are compared exactly, and neighbours that are kept, per text.
const MAX_CANDIDATES: usize = 64;
const MAX_NEIGHBOURS: usize = 32;

/// Words that occur in texts about anything.
static STOPS: Table<1024, true> = Table::new(words_file!("stop"), &["STOP"]);
/// Signs of Chinese and Japanese grammar: a pair with one of them is no word of a subject.
const STOP_WIDE: &str = "的了是我你他她它们這这那在有和就都也不很吗呢吧啊个會会能可以要说對对没么什吗";

/// One pair of similar texts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The earlier text.
    pub a: usize,
    /// The later one.
    pub b: usize,
    /// From 0 to 1.
    pub similarity: f64,
}

/// What one or more texts are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Keys of words, with repetitions until they are counted.
    words: Vec<u64>,
    /// Keys of facts, sorted, distinct.
    facts: Vec<u64>,
}

impl Terms {
    /// The terms of several texts together.
    #[must_use]
    pub fn of<'a>(views: impl IntoIterator<Item = TextView<'a>>) -> Self {
        let mut terms = Self::default();
        for view in views {
            push_words(view.covered(), &mut terms.words);
            terms.facts.extend(view.facts.iter().filter(|fact| names_something(fact.kind)).map(|fact| fact.key));
        }
        terms.words.sort_unstable();
        terms.facts.sort_unstable();
        terms.facts.dedup();
        terms
    }

    /// How many words and facts are in both.
    #[must_use]
    pub fn in_common(&self, other: &Self) -> usize {
        common(&self.words, &other.words) + common(&self.facts, &other.facts)
    }
}

/// Numbers and sounds are shared by texts about anything.
fn names_something(kind: FactKind) -> bool {
    !matches!(kind, FactKind::Number | FactKind::Time | FactKind::Vowelless | FactKind::CodeSpan)
}

/// Each text's most similar others, as pairs, sorted: 0.7 × the cosine of their words + 0.3 × the Jaccard of their
/// facts. Texts are compared only where `groups` are equal. Near-linear: a text meets others by the words that they
/// share, its rarest first, and keeps the nearest 32; for some hundred texts that leaves nothing out.
#[must_use]
pub fn neighbours(texts: &[Terms], groups: &[u64]) -> Vec<Edge> {
    let vectors = vectors(texts);
    let index = Index::new(&vectors);
    let mut sums = vec![0.0_f64; texts.len()];
    let mut met: Vec<usize> = Vec::new();
    let mut edges: Vec<Edge> = Vec::new();
    for (at, vector) in vectors.iter().enumerate() {
        let mut order: Vec<&(u32, f64)> = vector.iter().collect();
        order.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        let mut n_left = MAX_VISITS;
        for &&(word, weight) in &order {
            let list = index.of(word);
            if list.len() > n_left {
                break;
            }
            n_left -= list.len();
            for &(other, its_weight) in list {
                let other = other as usize;
                if other != at && groups[other] == groups[at] {
                    if sums[other] == 0.0 {
                        met.push(other);
                    }
                    sums[other] += weight * its_weight;
                }
            }
        }
        if met.len() > MAX_CANDIDATES {
            met.select_nth_unstable_by(MAX_CANDIDATES, |&x, &y| sums[y].total_cmp(&sums[x]).then(x.cmp(&y)));
        }
        for &other in &met {
            sums[other] = 0.0;
        }
        met.truncate(MAX_CANDIDATES);
        let similarity = |other: usize| {
            let facts = jaccard(&texts[at].facts, &texts[other].facts);
            // The same order of addends from both sides.
            WORDS * cosine(&vectors[at.min(other)], &vectors[at.max(other)]) + FACTS * facts
        };
        let mut near: Vec<(usize, f64)> = met.drain(..).map(|other| (other, similarity(other))).collect();
        near.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        near.truncate(MAX_NEIGHBOURS);
        edges.extend(near.into_iter().map(|(other, similarity)| Edge {
            a: at.min(other),
            b: at.max(other),
            similarity,
        }));
    }
    edges.sort_by_key(|edge| (edge.a, edge.b));
    edges.dedup_by_key(|edge| (edge.a, edge.b));
    edges
}

/// Per text its words with their weights, sorted by word, of length 1.
fn vectors(texts: &[Terms]) -> Vec<Vec<(u32, f64)>> {
    let mut ids: HashMap<u64, u32, FixedState> = HashMap::default();
    let mut frequencies: Vec<usize> = Vec::new();
    let mut vectors: Vec<Vec<(u32, f64)>> = Vec::with_capacity(texts.len());
    for text in texts {
        let mut vector = Vec::new();
        for same in text.words.chunk_by(|x, y| x == y) {
            let next = frequencies.len() as u32;
            let id = *ids.entry(same[0]).or_insert(next);
            if id == next {
                frequencies.push(0);
            }
            frequencies[id as usize] += 1;
            vector.push((id, 1.0 + (same.len() as f64).ln()));
        }
        vectors.push(vector);
    }
    let n_texts = texts.len();
    let most = if n_texts >= MIN_FREQUENT { n_texts / 2 } else { n_texts };
    for vector in &mut vectors {
        vector.retain(|&(id, _)| frequencies[id as usize] <= most);
        for (id, weight) in vector.iter_mut() {
            // With a text more than there are, so that what two of two texts share counts.
            *weight *= ((1 + n_texts) as f64 / frequencies[*id as usize] as f64).ln();
        }
        let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        for (_, weight) in vector.iter_mut() {
            *weight /= length;
        }
        vector.sort_unstable_by_key(|&(id, _)| id);
    }
    vectors
}

/// Which texts have a word, and with which weight.
struct Index {
    bounds: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Index {
    fn new(vectors: &[Vec<(u32, f64)>]) -> Self {
        let n_words = vectors.iter().flatten().map(|&(word, _)| word as usize + 1).max().unwrap_or(0);
        let mut bounds = vec![0; n_words + 1];
        vectors.iter().flatten().for_each(|&(word, _)| bounds[word as usize + 1] += 1);
        for word in 0..n_words {
            bounds[word + 1] += bounds[word];
        }
        let mut next = bounds.clone();
        let mut entries = vec![(0, 0.0); vectors.iter().map(Vec::len).sum()];
        for (text, vector) in vectors.iter().enumerate() {
            for &(word, weight) in vector {
                entries[next[word as usize]] = (text as u32, weight);
                next[word as usize] += 1;
            }
        }
        Self { bounds, entries }
    }

    fn of(&self, word: u32) -> &[(u32, f64)] {
        let word = word as usize;
        &self.entries[self.bounds[word]..self.bounds[word + 1]]
    }
}

fn cosine(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (few, mut many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut sum = 0.0;
    for &(word, weight) in few {
        many = from(many, |other| other.0 < word);
        match many.first() {
            Some(&(other, its_weight)) if other == word => sum += weight * its_weight,
            Some(_) => {}
            None => break,
        }
    }
    sum
}

/// What of a sorted list is not before something, found in steps that double: time does not grow with a list that is
/// much longer than the one that it is held against.
fn from<T>(list: &[T], is_before: impl Fn(&T) -> bool) -> &[T] {
    let mut step = 1;
    while list.get(step - 1).is_some_and(&is_before) {
        step *= 2;
    }
    let (start, end) = (step / 2, step.min(list.len()));
    let within = list.get(start..end).unwrap_or_default().partition_point(is_before);
    list.get(start + within..).unwrap_or_default()
}

/// Sum of the smaller counts over sum of the larger counts, of two sorted lists.
#[must_use]
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let both = common(a, b);
    if both == 0 { 0.0 } else { both as f64 / (a.len() + b.len() - both) as f64 }
}

/// Entries that two sorted lists share.
fn common(a: &[u64], b: &[u64]) -> usize {
    let (few, mut many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut n_both = 0;
    for &key in few {
        many = from(many, |&other| other < key);
        if let Some(rest) = many.strip_prefix(&[key]) {
            n_both += 1;
            many = rest;
        }
    }
    n_both
}

/// Pushes the keys of the words that may name a subject, as often as they occur; of scripts without blanks, of pairs of
/// signs.
pub fn push_words(text: &str, keys: &mut Vec<u64>) {
    let mut lower = String::new();
    let is_sign = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | '\'' | '’');
    for word in text.split(is_sign).filter(|word| !word.is_empty()) {
        if !word.is_ascii() && word.chars().any(is_wide) {
            push_pairs(word, keys);
            continue;
        }
        let word = word.trim_matches(['\'', '’', '_']);
        let n_chars = if word.is_ascii() { word.len() } else { word.chars().count() };
        if !(MIN_WORD..=MAX_WORD).contains(&n_chars) {
            continue;
        }
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }));
        if !is_stop(&lower) {
            keys.push(fold_key(stem(&lower)));
        }
    }
}

fn push_pairs(word: &str, keys: &mut Vec<u64>) {
    let mut before: Option<(usize, char)> = None;
    for (at, c) in word.char_indices() {
        if let Some((start, first)) = before
            && is_content(first)
            && is_content(c)
            && !(is_hiragana(first) && is_hiragana(c))
            && let Some(pair) = word.get(start..at + c.len_utf8())
        {
            keys.push(fold_key(pair));
        }
        before = Some((at, c));
    }
}

fn is_content(c: char) -> bool {
    c.is_alphanumeric() && !STOP_WIDE.contains(c)
}

fn is_hiragana(c: char) -> bool {
    ('\u{3040}'..='\u{309f}').contains(&c)
}

fn is_stop(word: &str) -> bool {
    word.len() <= 8 && STOPS.of(word.as_bytes()) != 0
}

/// The word without the sign of an English plural or genitive.
fn stem(word: &str) -> &str {
    let word = word.strip_suffix("'s").unwrap_or(word);
    match word.strip_suffix('s') {
        Some(singular) if singular.len() >= 4 && !singular.ends_with(['s', 'u', 'i']) => singular,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Lexer;

    fn terms(texts: &[&str]) -> Vec<Terms> {
        let mut lexer = Lexer::default();
        let lexed: Vec<_> = texts.iter().map(|text| lexer.lex(text)).collect();
        texts.iter().zip(&lexed).map(|(text, lexed)| Terms::of([lexer.view(text, lexed)])).collect()
    }

    fn similarity(a: &str, b: &str, others: &[&str]) -> f64 {
        let texts: Vec<&str> = [a, b].into_iter().chain(others.iter().copied()).collect();
        let edges = neighbours(&terms(&texts), &vec![0; texts.len()]);
        edges.iter().find(|edge| (edge.a, edge.b) == (0, 1)).map_or(0.0, |edge| edge.similarity)
    }

    #[test]
    fn texts_about_one_thing_are_nearer_than_others() {
        let others = ["The cat sleeps on a warm roof.", "Rivers carry sand to the northern coast."];
        let near =
            similarity("The invoice export fails for refunds.", "Refund rows break our invoice exports.", &others);
        let far = similarity("The invoice export fails for refunds.", "The weather in Lima is mild.", &others);
        assert!(near > 0.2 && far < 0.05, "{near} {far}");
        assert!(similarity("会议室预订系统故障", "预订系统今天又故障", &others) > 0.1);
        assert!(similarity("Der Fährplan für Möwenort", "Fährplan nach MÖWENORT", &others) > 0.3);
        assert!(similarity("会议室预订系统", "昨晚天气晴朗", &others) < 0.01);
    }

    #[test]
    fn facts_count_beside_words() {
        let with = similarity("See KMS-7781 today.", "Rotate KMS-7781 later.", &[]);
        let without = similarity("See the vault today.", "Rotate the vault later.", &[]);
        assert!(with > without, "{with} {without}");
    }

    #[test]
    fn the_index_finds_what_comparing_all_pairs_finds() {
        let words =
            ["harbour", "ferry", "invoice", "refund", "turbine", "valve", "orchard", "apple", "ledger", "cable"];
        let text = |seed: usize| {
            (0..6).map(|at| words[(seed * 7 + at * at * 3 + seed / 3) % 10]).collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = (0..30).map(text).collect();
        let terms = terms(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let edges = neighbours(&terms, &[0; 30]);
        let vectors = vectors(&terms);
        for a in 0..30 {
            for b in a + 1..30 {
                let exact =
                    WORDS * cosine(&vectors[a], &vectors[b]) + FACTS * jaccard(&terms[a].facts, &terms[b].facts);
                let found = edges.iter().find(|edge| (edge.a, edge.b) == (a, b)).map_or(0.0, |edge| edge.similarity);
                assert!((exact - found).abs() < 1e-12, "{a} {b}: {exact} {found}");
            }
        }
    }

    #[test]
    fn texts_of_different_groups_do_not_meet() {
        let terms = terms(&["harbour ferry", "harbour ferry", "harbour ferry"]);
        let edges = neighbours(&terms, &[1, 2, 1]);
        assert_eq!(edges.iter().map(|edge| (edge.a, edge.b)).collect::<Vec<_>>(), [(0, 2)]);
    }
}
