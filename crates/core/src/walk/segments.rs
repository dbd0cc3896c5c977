//! Segments of a text in which somebody quotes what a program printed: the stretches between tags or fences, and the words
//! around them. Knows lines; refuses to know what is used of them.

use super::formats::Lines;
use super::looks::is_sentence;

/// Bytes of words around what is quoted that stay as a whole.
const MAX_WORDS: u32 = 1_500;
/// Bytes of a tag.
const MAX_TAG: usize = 200;
/// Bytes of a stretch that is quoted; a shorter one is part of the words around it.
const MIN_QUOTED: u32 = 200;

/// Bytes of a message that somebody wrote, and per cent of its lines that are sentences.
const MAX_OWN: usize = 4_000;
const MIN_SENTENCES: usize = 60;

/// Some lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Words around what is quoted, few enough to stay.
    pub(super) is_words: bool,
}

/// What ends a stretch that is quoted.
#[derive(Debug, Clone, Copy)]
enum Open<'t> {
    Fence,
    Tag(&'t [u8]),
}

/// The segments of a text in their order; one where nothing is quoted, and where `is_spoken` is false.
pub(super) fn segments(lines: Lines<'_>, is_spoken: bool, found: &mut Vec<Segment>) {
    found.clear();
    let n = lines.len();
    let mut open: Option<(Open<'_>, usize)> = None;
    let mut words = 0;
    for at in (0..n).filter(|_| is_spoken) {
        let line = lines.at(at).trim_ascii();
        let Some((opened, from)) = open else {
            open = opens(line).map(|open| (open, at + 1));
            continue;
        };
        if closes(line, opened) {
            open = None;
            if size(lines, from, at) >= MIN_QUOTED {
                push(found, words, from, true);
                push(found, from, at, false);
                words = at;
            }
        }
    }
    let is_quoting = !found.is_empty();
    push(found, words, n, is_quoting);
    let of_words = |found: &[Segment]| {
        found
            .iter()
            .filter(|segment| segment.is_words)
            .map(|segment| size(lines, segment.from, segment.to))
            .sum::<u32>()
    };
    if of_words(found) > MAX_WORDS {
        found.clear();
        push(found, 0, n, false);
    }
}

/// True for a message that somebody wrote, however long: sentences, and nothing that is laid out like a document or a dump.
pub(super) fn is_own(text: &[u8]) -> bool {
    if text.len() > MAX_OWN {
        return false;
    }
    let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty());
    let is_laid_out = |line: &[u8]| line.starts_with(b"```") || b"#<|{[".contains(&line[0]);
    let n_sentences = lines().filter(|line| is_sentence(line)).count();
    n_sentences * 100 >= lines().count() * MIN_SENTENCES && !lines().any(is_laid_out)
}

fn push(found: &mut Vec<Segment>, from: usize, to: usize, is_words: bool) {
    if from < to {
        found.push(Segment { from, to, is_words });
    }
}

fn size(lines: Lines<'_>, from: usize, to: usize) -> u32 {
    if from < to { lines.lines[to - 1].to - lines.lines[from].from } else { 0 }
}

fn opens(line: &[u8]) -> Option<Open<'_>> {
    if line.starts_with(b"```") {
        return Some(Open::Fence);
    }
    let inner = line.strip_prefix(b"<")?.strip_suffix(b">").filter(|_| line.len() <= MAX_TAG)?;
    let n = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
    let (name, behind) = inner.split_at(n);
    let is_tag = n > 1 && matches!(behind.first(), None | Some(b' ')) && !behind.contains(&b'<');
    is_tag.then_some(Open::Tag(name))
}

fn closes(line: &[u8], open: Open<'_>) -> bool {
    match open {
        Open::Fence => line == b"```",
        Open::Tag(name) => {
            line.strip_prefix(b"</").and_then(|rest| rest.strip_suffix(b">")).is_some_and(|closed| closed == name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::uses::lines_of;

    fn check(text: &str) -> Vec<(usize, usize, bool)> {
        let (bytes, lines) = lines_of(text);
        let mut found = Vec::new();
        segments(Lines { bytes: &bytes, lines: &lines }, true, &mut found);
        found.iter().map(|segment| (segment.from, segment.to, segment.is_words)).collect()
    }

    #[test]
    fn what_is_quoted_between_tags_and_fences_is_apart_from_the_words_around_it() {
        let printed = "a line that a program printed\n".repeat(10);
        let text = format!("It fails:\n<output>\n{printed}</output>\nand then\n```\n{printed}```\nWhy?");
        assert_eq!(check(&text), [(0, 2, true), (2, 12, false), (12, 15, true), (15, 25, false), (25, 27, true)]);
        assert_eq!(check("a\n```\nshort\n```\nb"), [(0, 5, false)], "nothing long is quoted");
        assert_eq!(check(&format!("a\n<output>\n{printed}")), [(0, 13, false)], "a tag that is never closed");
        let long = "Many words of somebody who tells it all. ".repeat(60);
        assert_eq!(check(&format!("{long}\n```\n{printed}```")), [(0, 13, false)], "too many words to stay");
    }
}
