//! Lines of configuration files: `key: value`, `key = value`, `[section]`. What a speaker says, a note and a
//! heading of a paragraph have a colon as well; their values are sentences. Knows single lines only.

use super::Bare;
use super::signs::Signs;
use crate::text::bytes::{from, is_word, run, skip_blanks};
use crate::text::lexed::LineKind;

/// `KeyValue` for a key with a value that no sentence has, `Pair` for one with a few words.
pub(super) fn kind(line: Bare<'_>) -> Option<LineKind> {
    let text = line.text;
    if !line.signs.any(Signs::COLON | Signs::EQUALS | Signs::SQUARE | Signs::SLASH) {
        return None;
    }
    if is_section(text) {
        return Some(LineKind::KeyValue);
    }
    if is_dependency(text) {
        return Some(LineKind::KeyValue);
    }
    let item = text.strip_prefix(b"- ");
    let (in_list, text) = (item.is_some(), item.map_or(text, skip_blanks));
    let &first = text.first()?;
    if !(first.is_ascii_alphanumeric() || matches!(first, b'_' | b'.' | b'$' | b'"' | b'\'' | b'/' | b'@')) {
        return None;
    }
    let (key, value, equals) = split(text)?;
    let plain_key = !key.iter().all(u8::is_ascii_digit);
    if !plain_key {
        return None;
    }
    let capital = first.is_ascii_uppercase();
    if in_list && capital {
        return None;
    }
    let typed = is_typed(value);
    if equals {
        return (typed || word_count(value, 7) < 7).then_some(LineKind::KeyValue);
    }
    let marked_key = key.iter().any(|byte| matches!(byte, b'_' | b'.' | b'/' | b'$'))
        || (capital && memchr::memchr(b'-', key).is_some());
    let shows_data = || value.iter().any(|byte| byte.is_ascii_digit() || b"/_=<>[]{}$@".contains(byte));
    match value {
        // `steps:` opens a level in YAML and a list in prose: the neighbours decide.
        [] if in_list => None,
        [] => Some(if capital { LineKind::Pair } else { LineKind::KeyValue }),
        _ if typed && (!capital || marked_key || shows_data()) => Some(LineKind::KeyValue),
        _ if marked_key && word_count(value, 9) < 9 => Some(LineKind::KeyValue),
        _ if is_sentence(value) => None,
        _ if word_count(value, 7) < 7 => Some(LineKind::Pair),
        _ => None,
    }
}

/// `Wall time: 0.3 seconds`: a short key, perhaps of several words, and a short value with a number or of one word.
pub(super) fn is_datum(text: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', text.get(..text.len().min(40)).unwrap_or_default()) else {
        return false;
    };
    let (key, value) = (text.get(..colon).unwrap_or_default(), skip_blanks(from(text, colon + 1)));
    let is_short = word_count(key, 5) <= 4 && word_count(value, 7) <= 6;
    is_short
        && text.get(colon + 1).is_none_or(u8::is_ascii_whitespace)
        && !is_sentence(value)
        && (word_count(value, 2) <= 1 || value.iter().any(u8::is_ascii_digit))
}

/// `github.com/x/y v1.2.3`, `pkg==1.2`: a line of a list of dependencies.
fn is_dependency(text: &[u8]) -> bool {
    let name = run(text, |byte| is_word(byte) || matches!(byte, b'/' | b'.' | b'-' | b'@' | b'[' | b']'));
    let rest = from(text, name);
    let is_version = |version: &[u8]| {
        let version = version.strip_prefix(b"v").unwrap_or(version);
        version.first().is_some_and(u8::is_ascii_digit)
            && version.get(..run(version, |byte| byte != b' ')).is_some_and(|word| word.contains(&b'.'))
    };
    if let Some(version) =
        rest.strip_prefix(b"==").or_else(|| rest.strip_prefix(b"~=")).or_else(|| rest.strip_prefix(b">="))
    {
        return name >= 2 && is_version(version);
    }
    memchr::memchr(b'/', text.get(..name).unwrap_or_default()).is_some()
        && rest.starts_with(b" v")
        && is_version(from(rest, 1))
        && word_count(rest, 5) <= 3
}

/// `[section]` and `[[array.of.tables]]`.
fn is_section(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let inner = inner.map(|rest| rest.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(rest));
    inner.is_some_and(|name| {
        name.len() >= 2
            && name.first().is_some_and(u8::is_ascii_alphabetic)
            && name.iter().all(|&byte| is_word(byte) || b".-:\" *,/@".contains(&byte))
            && word_count(name, 4) <= 3
    })
}

/// Key, value and whether an equals sign separates them.
fn split(text: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let is_key = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'-' | b'/' | b'$' | b'@' | b'*');
    let length = if let Some(&quote @ (b'"' | b'\'')) = text.first() {
        let inside = from(text, 1);
        memchr::memchr(quote, inside.get(..inside.len().min(60)).unwrap_or_default())? + 2
    } else {
        run(text.get(..text.len().min(80)).unwrap_or_default(), is_key)
    };
    if length == 0 {
        return None;
    }
    let key = text.get(..length)?;
    let rest = from(text, length);
    let blanks = run(rest, |byte| byte == b' ' || byte == b'\t');
    let rest = from(rest, blanks);
    match rest.first()? {
        b':' if matches!(rest.get(1), None | Some(b' ' | b'\t')) => Some((key, skip_blanks(from(rest, 1)), false)),
        b'=' if rest.get(1) != Some(&b'=') && rest.get(1) != Some(&b'>') => {
            Some((key, skip_blanks(from(rest, 1)), true))
        }
        _ => None,
    }
}

/// A number, a truth value, a quotation, a list, a path, or one word that ends no sentence.
fn is_typed(value: &[u8]) -> bool {
    let Some(&first) = value.first() else {
        return true;
    };
    if matches!(first, b'[' | b'{' | b'|' | b'>' | b'&' | b'$' | b'/' | b'~' | b'!' | b'%' | b'<') {
        return true;
    }
    if matches!(first, b'"' | b'\'') {
        return value.len() > 1 && value.last() == Some(&first) || matches!(value.last(), Some(b',' | b'"'));
    }
    let n_words = word_count(value, 5);
    if first.is_ascii_digit() || (first == b'-' && value.get(1).is_some_and(u8::is_ascii_digit)) {
        return n_words <= 3 && !is_sentence(value);
    }
    n_words == 1 && !matches!(value.last(), Some(b'.' | b'!' | b'?' | b','))
}

/// Ends like a sentence or has a comma with words on both sides.
fn is_sentence(value: &[u8]) -> bool {
    matches!(value.last(), Some(b'.' | b'!' | b'?' | b',' | b';')) && value.len() > 12
        || memchr::memmem::find(value, b", ").is_some()
}

/// Pieces between blanks, counted up to `limit`.
fn word_count(value: &[u8], limit: usize) -> usize {
    value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(limit).count()
}
