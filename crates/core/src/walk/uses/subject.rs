//! What a number may belong to: words of letters and identifiers, as a sentence says them and as a source shows them. Knows words;
//! refuses to know numbers.

use super::scan::{Word, is_joiner, is_wide_at, is_wide_before};

/// Letters of a word that a number may belong to.
const MIN_LETTERS: usize = 4;
/// Words of an identifier.
const MAX_JOINED: usize = 24;

/// Calls `each` for the identifiers made of `words`: words with one of `. / # -` between them, or single ones.
pub(super) fn for_joined(bytes: &[u8], words: &[Word], mut each: impl FnMut(Word)) {
    let mut rest = words;
    while let Some(&first) = rest.first() {
        let goes_on = |two: &&[Word]| two[1].from == two[0].to + 1 && is_joiner(bytes[two[0].to]);
        let n = 1 + rest.windows(2).take(MAX_JOINED - 1).take_while(goes_on).count();
        each(Word { to: rest[n - 1].to, borders: first.borders | u64::from(n > 1) << 63, ..first });
        rest = &rest[n..];
    }
}

/// True for identifiers of four or more characters that are not digits alone.
pub(super) fn is_identifier(bytes: &[u8], word: Word) -> bool {
    let text = &bytes[word.from..word.to];
    text.len() >= MIN_LETTERS && super::form::is_identifier(text) && !text.iter().all(u8::is_ascii_digit)
}

/// Where the word ends that goes on at `at`.
pub(super) fn end_of_word(bytes: &[u8], at: usize, to: usize) -> usize {
    at + (at..to).take_while(|&at| is_word_at(bytes, at)).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word_at(bytes: &[u8], at: usize) -> bool {
    is_word(bytes[at]) || is_wide_at(bytes, at)
}

fn is_word_before(bytes: &[u8], at: usize) -> bool {
    is_word(bytes[at - 1]) || is_wide_before(bytes, at)
}

/// Where the identifier ends that begins with a word of `bytes[from..to]`, when it is more than a word of small letters.
pub(super) fn end_of_joined(bytes: &[u8], (from, to): (usize, usize), (at, end): (usize, usize)) -> Option<usize> {
    let is_joined = || at > from + 1 && is_joiner(bytes[at - 1]) && is_word_before(bytes, at - 1);
    if at > from && (is_word_before(bytes, at) || is_joined()) || end < to && is_word_at(bytes, end) {
        return None;
    }
    let mut all = end;
    for _ in 1..MAX_JOINED {
        if all + 1 >= to || !is_joiner(bytes[all]) || !is_word_at(bytes, all + 1) {
            break;
        }
        all = end_of_word(bytes, all + 1, to);
    }
    (!bytes[at..all].iter().all(u8::is_ascii_lowercase)).then_some(all)
}

/// True for a word of a source that is one of letters if its hash is that of one: none stands right before it or behind.
pub(super) fn is_of_letters(bytes: &[u8], (from, to): (usize, usize)) -> bool {
    let is_behind = bytes[to].is_ascii_alphabetic() || is_wide_at(bytes, to);
    let is_before = || from > 0 && (bytes[from - 1].is_ascii_alphabetic() || is_wide_before(bytes, from));
    to - from >= MIN_LETTERS && !is_behind && !is_before()
}

/// Calls `each` with the words of letters in `word`.
pub(super) fn letters(bytes: &[u8], word: &Word, mut each: impl FnMut(Word)) {
    if !word.is_compound() && !word.is_wide {
        if word.to - word.from >= MIN_LETTERS && bytes[word.from].is_ascii_alphabetic() {
            each(*word);
        }
        return;
    }
    let mut from = word.from;
    let is_letter = |at: usize| at < word.to && (bytes[at].is_ascii_alphabetic() || bytes[at] >= 0x80);
    for at in word.from..=word.to {
        if !is_letter(at) {
            if at - from >= MIN_LETTERS {
                each(Word { from, to: at, ..Word::default() });
            }
            from = at + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::needles::parts;
    use super::super::scan::words;
    use super::*;
    use crate::walk::uses::texts::PADDING;

    /// Words of letters and identifiers as a sentence says them.
    fn said(bytes: &[u8], n: usize) -> (Vec<&[u8]>, Vec<&[u8]>) {
        let (mut all, mut of_letters, mut joined) = (Vec::new(), Vec::new(), Vec::new());
        words(bytes, 0, n, |word| all.push(word));
        for word in &all {
            letters(bytes, word, |part| of_letters.push(&bytes[part.from..part.to]));
        }
        for_joined(bytes, &all, |word| joined.push(&bytes[word.from..word.to]));
        joined.retain(|text| !text.iter().all(u8::is_ascii_lowercase));
        (of_letters, joined)
    }

    /// The same as a source shows them.
    fn shown(bytes: &[u8], n: usize) -> (Vec<&[u8]>, Vec<&[u8]>) {
        let (mut of_letters, mut joined) = (Vec::new(), Vec::new());
        parts(bytes, 0, n, |from, to| {
            let is_letters = bytes[from..to].iter().all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
            of_letters.extend((is_letters && is_of_letters(bytes, (from, to))).then(|| &bytes[from..to]));
            joined.extend(end_of_joined(bytes, (0, n), (from, to)).map(|end| &bytes[from..end]));
        });
        (of_letters, joined)
    }

    #[test]
    fn a_source_shows_what_a_sentence_says() {
        for text in [
            "12 tests passed in src/walk/uses.rs, row_count is 5 and rowCount 6.",
            "retry-after: 30\tMAX_SIZE=12 v1.2.3 #42 issue#42 a.b.c",
            "Gr\u{f6}\u{df}e 12, \u{201c}quoted_value\u{201d} \u{2014} tokio-1.40 \u{fc}ber",
            "HTTPServer9 -- x/y --flag=value ./bin/run.sh 100%",
        ] {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(bytes.len() + PADDING, 0);
            assert_eq!(shown(&bytes, text.len()), said(&bytes, text.len()), "{text}");
        }
    }
}
