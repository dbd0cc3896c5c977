//! The words by which texts are of one topic: words of content, identifiers, and pairs of ideographs, as keys. Knows
//! words that tell nothing; refuses to know weights and messages.

use super::keys::Key;
use super::lexed::Unit;
use super::scan;
use super::view::TextView;
use super::words;

/// Shorter words tell nothing.
const MIN_CHARS: usize = 3;
/// A longer word is data.
const MAX_CHARS: usize = 64;
/// Words with these flags are in every text.
const COMMON: u32 = words::FUNCTION
    | words::GLUE
    | words::FILLER
    | words::NEGATION
    | words::OBLIGATION
    | words::REASONING
    | words::EMPHASIS
    | words::CORRECTION
    | words::GERMAN
    | words::SOUND;
/// Words that open sentences and tell something elsewhere.
const TELLING: &str = "ticket tickets note notes error warning file files line lines page pages section sections chapter table figure \
    input output result results question questions answer answers summary conclusion introduction overview example \
    examples update updated add added remove replace delete open close read write return returns call calls start \
    stop run create created fixed people tip steps";
/// More words that tell nothing: halves of contractions, and small words of other languages.
const SMALL: &str = "don didn isn won doesn wouldn couldn shouldn wasn weren hasn haven aren the and was were been his her them \
    their who what which when where why how und der die das den dem des ein eine einen einem einer ist sind mit \
    für auf von aus bei nach auch noch nur sich wie oder aber wir ich sie les une dans pour avec sur que qui est \
    sont pas plus mais par vous nous los las una con por para del como pero más esta este esto son muy";

/// Pushes the key of every word of content in the units of `view`, in text order and as often as it occurs; fenced
/// blocks are left out.
pub fn push_terms(view: &TextView<'_>, terms: &mut Vec<u64>) {
    for unit in view.units {
        push_terms_of(view, unit, terms);
    }
}

/// [`push_terms`] of one unit.
pub fn push_terms_of(view: &TextView<'_>, unit: &Unit, terms: &mut Vec<u64>) {
    let mut word = String::new();
    let mut last_wide: Option<char> = None;
    for c in unit.span.of(view.text).chars() {
        if is_wide(c) {
            flush(&mut word, terms);
            if let Some(last) = last_wide {
                word.extend([last, c]);
                terms.push(key_of(&word));
                word.clear();
            }
            last_wide = Some(c);
            continue;
        }
        last_wide = None;
        if c.is_alphanumeric() || c == '_' {
            word.extend(c.to_lowercase());
        } else {
            flush(&mut word, terms);
        }
    }
    flush(&mut word, terms);
}

fn is_wide(c: char) -> bool {
    !c.is_ascii() && scan::class_of(u32::from(c)) & scan::WIDE != 0
}

/// Takes the word as a term when it tells something, and empties it.
fn flush(word: &mut String, terms: &mut Vec<u64>) {
    if tells(word) {
        terms.push(key_of(singular(word)));
    }
    word.clear();
}

fn tells(word: &str) -> bool {
    if word.len() < MIN_CHARS || word.len() > MAX_CHARS || word.chars().count() < MIN_CHARS {
        return false;
    }
    let flags = words::flags_of(word.as_bytes());
    let is_common = flags & COMMON != 0 || flags & words::OPENER != 0 && !is_in(TELLING, word);
    !is_common && word.chars().any(char::is_alphabetic) && !is_in(SMALL, word)
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// "timeouts" and "timeout" are one word.
fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > MIN_CHARS && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

fn key_of(word: &str) -> u64 {
    let mut key = Key::new();
    word.bytes().for_each(|byte| key.push(byte));
    key.finish()
}

#[cfg(test)]
mod tests {
    use super::{key_of, push_terms};
    use crate::text::Lexer;

    fn terms(text: &str) -> Vec<u64> {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let mut terms = Vec::new();
        push_terms(&lexer.view(text, &lexed), &mut terms);
        terms
    }

    #[test]
    fn words_of_content_are_terms_and_small_words_are_not() {
        let keys = |words: &[&str]| words.iter().map(|word| key_of(word)).collect::<Vec<_>>();
        assert_eq!(terms("Don't use the sessionStore with timeouts of 30 in it."), keys(&["sessionstore", "timeout"]));
        assert_eq!(terms("把超时"), keys(&["把超", "超时"]));
        assert_eq!(terms("Der Größenwert ist falsch_gesetzt."), keys(&["größenwert", "falsch_gesetzt"]));
    }

    #[test]
    fn fenced_code_has_no_terms() {
        assert_eq!(terms("```\nlet retries = 3;\n```"), Vec::<u64>::new());
    }
}
