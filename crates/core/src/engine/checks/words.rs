//! The words of a text by where they stand, so that a name is found in time that does not grow with the text. Knows
//! runs of letters and digits; refuses to know what they mean.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// Bytes that may stand between two words of one name.
const MAX_GAP: usize = 3;

/// Words of a folded text.
pub(super) struct Words<'t> {
    text: &'t str,
    spans: Vec<(usize, usize)>,
    places: HashMap<&'t str, Vec<u32>, FixedState>,
    sorted: Vec<&'t str>,
}

impl<'t> Words<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let words: Vec<(usize, usize)> = spans(text).collect();
        let mut places: HashMap<&str, Vec<u32>, FixedState> = HashMap::default();
        for (index, &(start, end)) in words.iter().enumerate() {
            places.entry(text.get(start..end).unwrap_or_default()).or_default().push(index as u32);
        }
        let mut sorted: Vec<&str> = places.keys().copied().collect();
        sorted.sort_unstable();
        Self { text, spans: words, places, sorted }
    }

    /// True for a word of the text.
    pub(super) fn has(&self, word: &str) -> bool {
        self.places.contains_key(word)
    }

    /// True when some word begins with `start`.
    pub(super) fn has_start(&self, start: &str) -> bool {
        let at = self.sorted.partition_point(|word| *word < start);
        self.sorted.get(at).is_some_and(|word| word.starts_with(start))
    }

    /// True when the words of `name` stand in the text one behind the other; `is_joined`: with no blank between.
    pub(super) fn has_name(&self, name: &str, is_joined: bool) -> bool {
        let own: Vec<&str> = spans(name).filter_map(|(start, end)| name.get(start..end)).collect();
        let n_places = |word: &str| self.places.get(word).map_or(0, Vec::len);
        let Some(rarest) = (0..own.len()).min_by_key(|&index| n_places(own[index])) else { return true };
        let Some(places) = self.places.get(own[rarest]) else { return false };
        places.iter().any(|&place| {
            let Some(first) = (place as usize).checked_sub(rarest) else { return false };
            let Some(here) = self.spans.get(first..first + own.len()) else { return false };
            let is_same = own.iter().zip(here).all(|(word, &(start, end))| self.text.get(start..end) == Some(word));
            is_same && (!is_joined || here.windows(2).all(|pair| self.joins(pair[0].1, pair[1].0)))
        })
    }

    fn joins(&self, end: usize, start: usize) -> bool {
        let between = self.text.get(end..start).unwrap_or(" ");
        between.len() <= MAX_GAP && !between.contains(char::is_whitespace)
    }
}

/// Runs of letters, digits and `_`; scripts that write without blanks are left out, and so are the letters of `\n`.
fn spans(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let mut previous = ' ';
        let start = loop {
            let (at, c) = chars.next()?;
            if is_word(c) && !(previous == '\\' && matches!(c, 'n' | 't' | 'r')) {
                break at;
            }
            previous = c;
        };
        while chars.next_if(|(_, c)| is_word(*c)).is_some() {}
        Some((start, chars.peek().map_or(text.len(), |(at, _)| *at)))
    })
}

/// What joins to a word; the scripts behind U+1100 write without blanks.
pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() && (c as u32) < 0x1100
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn names_are_found_whole_and_in_order() {
        let words = Words::of("open src/db/pool.ts and 使用fetchuser函数, then \\nretry in 9f2c41e7ab30");
        assert!(words.has("fetchuser") && words.has("retry") && !words.has("fetch"));
        assert!(words.has_name("db/pool.ts", true) && words.has_name("src/db", true));
        assert!(!words.has_name("src/pool.ts", true) && !words.has_name("pool.t", true));
        assert!(!words.has_name("open/src", true) && words.has_name("open src", false));
        assert!(words.has_start("9f2c41e") && !words.has_start("9f2c42"));
    }
}
