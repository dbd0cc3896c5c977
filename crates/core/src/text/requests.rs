//! Says whether a sentence asks the other side for something: a question by its mark or its last word, a request by the
//! words that requests begin with. Knows single sentences; refuses to know who speaks.

use super::words::{Table, word_table};

/// What a sentence asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// An answer.
    Question,
    /// A deed.
    Request,
}

/// Signs behind the mark of a question: quotes, brackets, an emoji, more marks.
const MAX_BEHIND: usize = 8;
/// Words in front among which a request shows.
const MAX_HEAD: usize = 4;

/// Longer words are none of those that requests are known by.
const MAX_WORD: usize = 16;
/// What is said without blanks.
const PHRASES: &[&str] = &["请", "請", "帮我", "幫我", "ください", "お願い", "教えて"];

word_table!(WORDS: Table<512, true>, "requests": POLITE MODAL SIDE WISH OPENER);

/// What the sentence `text` asks for, if anything. Meant for what a person says: an account of what was done may begin
/// like a request.
#[must_use]
pub fn ask(text: &str) -> Option<Wish> {
    if is_question(text) {
        return Some(Wish::Question);
    }
    is_request(text).then_some(Wish::Request)
}

/// True for a question.
#[must_use]
pub fn is_question(text: &str) -> bool {
    // Most sentences end with a full stop behind a letter of ASCII.
    if let [.., before, b'.'] = text.as_bytes()
        && before.is_ascii_alphanumeric()
    {
        return false;
    }
    let mut behind = text.chars().rev().take(MAX_BEHIND).skip_while(|&c| !c.is_alphanumeric() && !is_mark(c));
    match behind.next() {
        Some(c) if is_mark(c) => true,
        // Particles that make a question of a statement in Chinese, Japanese and Korean.
        Some(c) => matches!(c, '吗' | '嗎' | 'か' | '까'),
        None => false,
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '⸮' | '՞' | '፧' | '꘏' | '⁇' | '⁈' | '⁉' | '‽' | '﹖' | '︖')
}

fn is_request(text: &str) -> bool {
    let is_framed = text.starts_with(['(', '[', '<']);
    let (mut before, mut at) = (0, 0);
    for word in text.as_bytes().split(u8::is_ascii_whitespace) {
        let word = bare(word);
        // Behind the first words only the polite ones ask.
        let may_ask = at < MAX_HEAD || matches!(word.first(), Some(b'p' | b'P' | b'b' | b'B' | b's' | b'S' | b'f'));
        if word.is_empty() || !may_ask {
            continue;
        }
        let here = role_of(word);
        let is_pair = before & MODAL != 0 && here & SIDE != 0 || before & SIDE != 0 && here & WISH != 0;
        if here & POLITE != 0 || here & OPENER != 0 && at == 0 && !is_framed || is_pair && at < MAX_HEAD {
            return true;
        }
        before = here;
        at += 1;
    }
    !text.is_ascii() && PHRASES.iter().any(|phrase| text.contains(phrase))
}

/// The word without signs at its ends.
fn bare(word: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| !byte.is_ascii_punctuation();
    let start = word.iter().position(is_part).unwrap_or(word.len());
    word.get(start..word.iter().rposition(is_part).map_or(start, |last| last + 1)).unwrap_or_default()
}

fn role_of(word: &[u8]) -> u32 {
    let mut lower = [0; MAX_WORD];
    let Some(lower) = lower.get_mut(..word.len()) else { return 0 };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    match std::str::from_utf8(lower) {
        Ok(word) if word.contains('’') => WORDS.of(word.replace('’', "'").as_bytes()),
        _ => WORDS.of(lower),
    }
}

#[cfg(test)]
mod tests {
    use super::{Wish, ask};

    #[test]
    fn questions_have_a_mark_or_a_particle() {
        for text in ["Is that OK?", "Really?!", "(what now?)", "这样可以吗", "これでいいですか。", "هل هذا صحيح؟"]
        {
            assert_eq!(ask(text), Some(Wish::Question), "{text}");
        }
        assert_eq!(ask("That is OK."), None);
        assert_eq!(ask("See https://a.example/b?c=1 there"), None);
    }

    #[test]
    fn requests_are_known_by_their_first_words() {
        for text in [
            "can you look at this project",
            "Ok, could we use the other one",
            "I need the list by noon.",
            "Let’s go on.",
            "Mach das bitte fertig.",
            "Könntest du das prüfen",
            "请把它改成三十秒",
            "Fix the test.",
        ] {
            assert_eq!(ask(text), Some(Wish::Request), "{text}");
        }
        for text in ["The list was fixed.", "We added a test.", "They can use it."] {
            assert_eq!(ask(text), None, "{text}");
        }
    }
}
