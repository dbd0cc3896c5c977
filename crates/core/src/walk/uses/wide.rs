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

/// Calls `each` with the words of a word that is not all ASCII.
pub(super) fn words(bytes: &[u8], word: Word, mut each: impl FnMut(Word)) {
    let text = std::str::from_utf8(&bytes[word.from..word.to]).unwrap_or_default();
    let kind = |c: char| if is_unspaced(c) { 2 } else { i32::from(c.is_alphabetic()) };
    let mut give = |from: usize, to: usize| each(Word { from, to, is_compound: false, is_wide: true });
    let mut chars = text.char_indices().peekable();
    let mut starts: Vec<usize> = Vec::new();
    while let Some((at, c)) = chars.next() {
        starts.push(word.from + at);
        let end = word.from + at + c.len_utf8();
        let of = kind(c);
        if of == 2 && starts.len() >= N_RUN {
            give(starts[starts.len() - N_RUN], end);
        }
        if chars.peek().is_none_or(|&(_, next)| kind(next) != of) {
            if of == 1 && starts.len() >= MIN_LETTERS || of == 2 && (2..N_RUN).contains(&starts.len()) {
                give(starts[0], end);
            }
            starts.clear();
        }
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
