//! Words of a run of bytes that are not all ASCII: of scripts with blanks whole words, of those without runs of a few
//! characters. Knows characters.

use super::scan::Word;

/// Characters of a word that may be rare.
const MIN_LETTERS: usize = 6;
/// Characters of a run in a script without blanks.
const N_RUN: usize = 4;

/// True for characters of scripts that put no blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{e7f}')
}

/// True for letters; arrows, lines of boxes and other signs are told without a look at the tables.
fn is_letter(c: char) -> bool {
    !matches!(c, '\u{2000}'..='\u{2070}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2bff}') && c.is_alphabetic()
}

/// Calls `each` with the words of a word that is not all ASCII.
pub(super) fn words(bytes: &[u8], word: Word, mut each: impl FnMut(Word)) {
    if word.to - word.from < MIN_LETTERS {
        return;
    }
    let text = std::str::from_utf8(&bytes[word.from..word.to]).unwrap_or_default();
    let kind = |c: char| if is_unspaced(c) { 2 } else { i32::from(is_letter(c)) };
    let mut give = |from: usize, to: usize| each(Word { from, to, is_wide: true, ..Word::default() });
    // Where the last characters of the run at hand begin, the first of them all, and how many there are.
    let (mut starts, mut first, mut n, mut of) = ([0; N_RUN], 0, 0, 0);
    let end = std::iter::once((text.len(), None));
    for (at, c) in text.char_indices().map(|(at, c)| (at, Some(c))).chain(end) {
        let at = word.from + at;
        if of == 2 && n >= N_RUN {
            give(starts[n % N_RUN], at);
        }
        let next = c.map_or(-1, kind);
        if next != of {
            if of == 1 && n >= MIN_LETTERS || of == 2 && (2..N_RUN).contains(&n) {
                give(first, at);
            }
            (first, n, of) = (at, 0, next);
        }
        starts[n % N_RUN] = at;
        n += 1;
    }
}

fn char_at(bytes: &[u8], from: usize) -> Option<char> {
    let end = (from + 4).min(bytes.len());
    bytes[from..end].utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next())
}

/// True when the character at `at` is of a script without blanks.
pub(super) fn is_unspaced_at(bytes: &[u8], at: usize) -> bool {
    bytes[at] >= 0x80 && char_at(bytes, at).is_some_and(is_unspaced)
}

/// True when the character before `at` is of a script without blanks.
pub(super) fn is_unspaced_before(bytes: &[u8], at: usize) -> bool {
    bytes[at - 1] >= 0x80 && at >= 3 && is_unspaced_at(bytes, at - 3)
}
