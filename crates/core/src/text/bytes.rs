//! Small questions about bytes that detectors ask: prefixes, runs, words, needles in short texts. Knows no lines and no kinds.

/// The bytes of `text` from `at` on; empty past the end.
pub(crate) fn from(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

/// What stands between the line ends of `text`.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let line = rest?;
        let end = memchr::memchr(b'\n', line);
        rest = end.and_then(|end| line.get(end + 1..));
        line.get(..end.unwrap_or(line.len()))
    })
}

/// `text` without white space at its ends; most texts have none.
pub(crate) fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~'] | [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim(),
    }
}

/// True for what identifiers are made of in ASCII.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True when the byte before `at` does not continue a word.
pub(crate) fn starts_word(text: &[u8], at: usize) -> bool {
    at == 0 || !text.get(at - 1).is_some_and(|&before| is_word(before) || before >= 0x80)
}

/// How many bytes of `text` in front satisfy `test`.
pub(crate) fn run(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !belongs(byte)).unwrap_or(text.len())
}

/// `text` without the blanks in front.
pub(crate) fn skip_blanks(text: &[u8]) -> &[u8] {
    from(text, run(text, |byte| byte == b' ' || byte == b'\t'))
}

/// The rest of `text` after `prefix`, compared without case; `prefix` is in lower case.
pub(crate) fn after_folded<'t>(text: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| from(text, prefix.len()))
}

/// True when `text` contains `needle`; for short texts, where a searcher costs more than it saves.
pub(crate) fn holds(text: &[u8], needle: &[u8]) -> bool {
    // A blank is everywhere in prose, what follows it is not.
    let skip = usize::from(needle.len() > 1 && needle.first() == Some(&b' '));
    let Some(&rare) = needle.get(skip) else {
        return true;
    };
    memchr::memchr_iter(rare, text).any(|at| at >= skip && from(text, at - skip).starts_with(needle))
}

/// How often `byte` stands in `text`.
pub(crate) fn count(text: &[u8], byte: u8) -> usize {
    memchr::memchr_iter(byte, text).count()
}

/// Words with which a text may begin, and what those begin with.
pub(crate) struct Heads {
    words: &'static [&'static str],
    firsts: u128,
}

impl Heads {
    /// Those of a list of words in ASCII.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let (mut firsts, mut at) = (0, 0);
        while at < words.len() {
            firsts |= 1 << words[at].as_bytes()[0];
            at += 1;
        }
        Self { words, firsts }
    }

    /// The first of them with which `text` begins.
    pub(crate) fn of(&self, text: &[u8]) -> Option<&'static str> {
        let is_first = text.first().is_some_and(|&first| first < 128 && self.firsts >> first & 1 != 0);
        if is_first { head_of(text, self.words) } else { None }
    }
}

/// The first of `heads` with which `text` begins.
pub(crate) fn head_of<'l>(text: &[u8], heads: &'l [&'l str]) -> Option<&'l str> {
    let is_head = |head: &&&str| head.as_bytes().first() == text.first() && text.starts_with(head.as_bytes());
    heads.iter().find(is_head).copied()
}

/// The rest of `text` after the first of `heads` that it begins with, compared without case; those are in lower case.
pub(crate) fn after_one_of<'t>(text: &'t [u8], heads: &[&str]) -> Option<&'t [u8]> {
    let first = text.first()?.to_ascii_lowercase();
    let mut heads = heads.iter().filter(|head| head.as_bytes().first() == Some(&first));
    heads.find_map(|head| after_folded(text, head.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::{Heads, head_of, lines, trim};

    #[test]
    fn lines_and_ends_are_those_of_the_slow_way() {
        for text in ["", "a", "\n", "a\nb", "a\n\nb\n", " a ", "\u{a0}a\u{3000}", "é ", "~", "a b\t"] {
            let slow: Vec<&[u8]> = text.as_bytes().split(|&byte| byte == b'\n').collect();
            assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), slow, "{text:?}");
            assert_eq!(trim(text), text.trim(), "{text:?}");
        }
    }

    #[test]
    fn heads_are_found_by_what_they_begin_with() {
        const WORDS: &[&str] = &["ok ", "error:", "on "];
        for text in ["ok 1", "on it", "or", "error: no", "", "étude"] {
            assert_eq!(Heads::new(WORDS).of(text.as_bytes()), head_of(text.as_bytes(), WORDS), "{text}");
        }
    }
}
