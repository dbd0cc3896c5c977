//! Which words of an original what stands for it no longer shows: those that are in no run of words that stands there as
//! well. Knows texts, neither page nor terminal.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::ops::Range;

use foldhash::fast::FixedState;

/// A run of so many words that stands in both is the same text.
const RUN: usize = 4;

/// What is shown, as runs of words and as lines, each as often as it stands there.
#[derive(Debug)]
pub(super) struct Shown {
    runs: HashMap<u64, usize, FixedState>,
    lines: HashMap<u64, usize, FixedState>,
}

impl Shown {
    /// Of the text that stands there now.
    pub(super) fn new(after: &str) -> Self {
        let mut shown = Self { runs: HashMap::default(), lines: HashMap::default() };
        let words = words(after);
        for run in words.windows(RUN) {
            *shown.runs.entry(hash(run.iter().map(|word| bare(of(after, word))))).or_default() += 1;
        }
        for line in after.lines().map(str::trim).filter(|line| !line.is_empty()) {
            *shown.lines.entry(hash([line].into_iter())).or_default() += 1;
        }
        shown
    }

    /// The stretches of an original that are gone, in order. Originals behind one text come one after another: what is
    /// shown once counts for one of them.
    pub(super) fn vanished(&mut self, before: &str) -> Vec<Range<usize>> {
        let words = words(before);
        let mut is_kept = vec![false; words.len()];
        for (at, run) in words.windows(RUN).enumerate() {
            if take(&mut self.runs, hash(run.iter().map(|word| bare(of(before, word))))) {
                is_kept[at..at + RUN].fill(true);
            }
        }
        let mut at = 0;
        for line in lines(before) {
            let n_words = words[at..].iter().take_while(|word| word.start < line.end).count();
            let of_line = &mut is_kept[at..at + n_words];
            at += n_words;
            // A line that runs of words have found already counts as shown all the same.
            if take(&mut self.lines, hash([of(before, &line).trim()].into_iter())) {
                of_line.fill(true);
            }
        }
        let mut gone: Vec<Range<usize>> = Vec::new();
        let mut was_gone = false;
        for (word, is_kept) in words.into_iter().zip(is_kept) {
            match gone.last_mut() {
                Some(last) if was_gone && !is_kept => last.end = word.end,
                _ if !is_kept => gone.push(word),
                _ => {}
            }
            was_gone = !is_kept;
        }
        gone
    }
}

/// Takes one of what is there.
fn take(counts: &mut HashMap<u64, usize, FixedState>, key: u64) -> bool {
    let Some(count) = counts.get_mut(&key).filter(|count| **count > 0) else { return false };
    *count -= 1;
    true
}

fn of<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    text.get(range.clone()).unwrap_or_default()
}

/// A word without the brackets that close a summary.
fn bare(word: &str) -> &str {
    word.trim_start_matches('[').trim_end_matches(']')
}

fn hash<'w>(words: impl Iterator<Item = &'w str>) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// Words between white space; signs of languages that write without it stand for themselves.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let is_alone = ('\u{2e80}'..='\u{9fff}').contains(&c) || ('\u{ac00}'..='\u{d7af}').contains(&c);
        match words.last_mut() {
            _ if c.is_whitespace() => is_open = false,
            Some(last) if is_open && !is_alone => last.end = end,
            _ => {
                words.push(at..end);
                is_open = !is_alone;
            }
        }
    }
    words
}

/// The lines of a text, line feeds included.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end;
        range
    })
}

#[cfg(test)]
mod tests {
    use super::Shown;

    fn gone(before: &str, after: &str) -> Vec<String> {
        Shown::new(after).vanished(before).into_iter().map(|range| super::of(before, &range).to_owned()).collect()
    }

    #[test]
    fn lines_and_sentences_that_are_not_shown_are_marked() {
        assert_eq!(gone("a 1\nb 2\nc 3\nd\n", "a 1\n⋯ 2 lines #1\nd\n"), ["b 2\nc 3"]);
        let prose = "The boat moved at four km an hour. Nobody liked it much at all. It ran for eighty long years.";
        let shown = "[summary: The boat moved at four km an hour. ... It ran for eighty long years.]";
        // The last word has the bracket of the summary behind it.
        assert_eq!(gone(prose, shown), ["Nobody liked it much at all."]);
        assert_eq!(gone("same text", "same text"), Vec::<String>::new());
        assert_eq!(gone("all of this went", ""), ["all of this went"]);
    }

    #[test]
    fn what_is_shown_once_counts_once_and_white_space_is_no_difference() {
        assert_eq!(gone("ok\nok\nok\n", "ok\n⋯ 2 lines #1\n"), ["ok\nok"]);
        let mut shown = Shown::new("done here now\n");
        assert!(shown.vanished("done here now").is_empty());
        assert_eq!(shown.vanished("done here now"), vec![0..13]);
        assert!(gone("Caused by:\n  it did not exit well", "Caused by: it did not exit well").is_empty());
        assert_eq!(gone("我们明天去北京开会。天气很好。", "我们明天去北京开会。"), ["天气很好。"]);
    }
}
