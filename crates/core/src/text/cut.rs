//! Shortening texts without harm: never inside a character or a grapheme, at a word's end when one is near,
//! and with white space collapsed. Knows no meaning.

use super::bytes::trim;
use super::counts::n_chars;
use super::keys::is_even;

/// A prefix of `text` with at most `max_chars` characters that ends at the end of a word or clause when there is one
/// beyond its first quarter, so that no number, path or URL is cut in two, and between graphemes otherwise.
#[must_use]
pub fn prefix(text: &str, max_chars: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(max_chars) else { return text };
    let head = text.get(..end).unwrap_or("");
    let quarter = head.char_indices().nth(max_chars / 4).map_or(head.len(), |(at, _)| at);
    let ends_word = |c: char| c.is_whitespace() || "、。，；！？：）」』".contains(c);
    let word_end = head.char_indices().rev().take_while(|&(at, _)| at >= quarter).find(|&(_, c)| ends_word(c));
    let end = match word_end {
        _ if next.is_whitespace() => end,
        Some((at, _)) => at,
        None => grapheme_end(text, end),
    };
    text.get(..end).unwrap_or("").trim_end()
}

/// Moves `end` back until it does not split a grapheme: before joiners, marks, selectors and skin tones.
fn grapheme_end(text: &str, mut end: usize) -> usize {
    loop {
        let (Some(before), Some(after)) = (text.get(..end), text.get(end..)) else { return 0 };
        let Some(last) = before.chars().next_back() else { return end };
        let extends = after.chars().next().is_some_and(is_extender);
        let flags = is_regional(last) && after.chars().next().is_some_and(is_regional);
        let odd_flags = flags && before.chars().rev().take_while(|&c| is_regional(c)).count() % 2 == 1;
        if last != '\u{200D}' && !extends && !odd_flags {
            return end;
        }
        end -= last.len_utf8();
    }
}

fn is_regional(c: char) -> bool {
    ('\u{1F1E6}'..='\u{1F1FF}').contains(&c)
}

fn is_extender(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{200D}' | '\u{20D0}'..='\u{20FF}' | '\u{3099}' | '\u{309A}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}')
}

/// Appends `text` to `out` with every run of white space as one blank, trimmed; returns the characters added.
pub fn push_collapsed(out: &mut String, text: &str) -> usize {
    let text = trim(text);
    if is_even(text.as_bytes()) {
        out.push_str(text);
        return n_chars(text);
    }
    let mut n_chars = 0;
    for (i, piece) in text.split_whitespace().enumerate() {
        if i > 0 {
            out.push(' ');
            n_chars += 1;
        }
        out.push_str(piece);
        n_chars += piece.chars().count();
    }
    n_chars
}

#[cfg(test)]
mod tests {
    use super::{prefix, push_collapsed};

    #[test]
    fn prefixes_end_between_graphemes_and_words() {
        assert_eq!(prefix("alpha beta gamma", 40), "alpha beta gamma");
        assert_eq!(prefix("alpha beta gamma", 11), "alpha beta");
        assert_eq!(prefix("please see https://a.example/b/c for more", 24), "please see");
        assert_eq!(prefix("see https://a.example/b/c for more", 28), "see https://a.example/b/c");
        assert_eq!(prefix("旺季从四月，周一8:30到16:30", 10), "旺季从四月");
        assert_eq!(prefix("👩‍👩‍👧👩‍👩‍👧", 7), "👩‍👩‍👧");
        assert_eq!(prefix("e\u{301}e\u{301}", 3), "e\u{301}");
        assert_eq!(prefix("🇩🇪🇫🇷", 3), "🇩🇪");
        assert_eq!(prefix("\u{301}", 0), "");
    }

    #[test]
    fn white_space_collapses_to_single_blanks() {
        for (text, flat) in [
            (" a b ", "a b"),
            ("a  b", "a b"),
            ("a\nb\t\tc", "a b c"),
            ("a\u{3000}b", "a b"),
            ("a\u{A0}b", "a b"),
            ("ä ö", "ä ö"),
        ] {
            let mut out = String::new();
            let n_chars = push_collapsed(&mut out, text);
            assert_eq!((out.as_str(), n_chars), (flat, flat.chars().count()));
        }
    }
}
