//! Lines of source code without a fence: by their first word and what must follow it ("for", "import" and "class" begin
//! sentences as well), their last sign and the signs between. Prose that talks about code has words where code has signs.
//! Knows single lines only.

use super::Bare;
use super::signs::Signs;
use crate::text::bytes::{from, head_of, holds, is_word, run, skip_blanks};
use crate::text::classes::byte_table;
use crate::text::lexed::LineKind;
use crate::text::words::{Table, word_list, word_table};

/// Bytes of a line that are looked at; what follows changes nothing.
const MAX_LOOK: usize = 240;

/// A heading is indented no further.
const MAX_HEADING: usize = 3;

/// A longer line of code has at least one sign that prose does not have.
const LONG_LINE: usize = 100;

/// Signs of a line, counted once.
#[derive(Debug, Clone, Copy, Default)]
struct Density {
    /// Brackets, operators and the like.
    signs: usize,
    /// Words of two or more letters between blanks, as prose has them.
    words: usize,
    /// A name followed by an opening bracket.
    calls: usize,
    /// Length.
    bytes: usize,
}

impl Density {
    /// Counts them.
    fn of(text: &[u8]) -> Self {
        let text = text.get(..text.len().min(MAX_LOOK)).unwrap_or_default();
        let mut found = Self { bytes: text.len(), ..Self::default() };
        let (mut letters, mut strange) = (0_usize, false);
        let mut before = 0;
        for &byte in text {
            let class = CLASSES[byte as usize];
            found.signs += usize::from(class & SIGN != 0);
            found.calls += usize::from(byte == b'(' && before & NAME != 0);
            before = class;
            letters += usize::from(class & LETTER != 0);
            strange |= class & STRANGE != 0;
            if class & BLANK != 0 {
                found.words += usize::from(!strange && letters >= 2);
                (letters, strange) = (0, false);
            }
        }
        found.words += usize::from(!strange && letters >= 2);
        found
    }

    /// Signs as code has them: at least one in eight bytes.
    fn dense(self) -> bool {
        self.signs * 8 >= self.bytes
    }
}

/// A sign of code.
const SIGN: u8 = 1;
/// What names are made of.
const NAME: u8 = 2;
/// What words are made of.
const LETTER: u8 = 4;
/// What makes a piece no word: everything but letters and the punctuation of prose.
const STRANGE: u8 = 8;
/// A blank.
const BLANK: u8 = 16;

static CLASSES: [u8; 256] = byte_table!(u8:
    b' ' | b'\t' => BLANK,
    b'a'..=b'z' | b'A'..=b'Z' => NAME | LETTER,
    0x80.. | b'\'' => LETTER,
    b',' | b'.' | b'!' | b'?' | b';' | b':' | b'-' => 0,
    b'0'..=b'9' => NAME | STRANGE,
    b'_' => NAME | STRANGE | SIGN,
    b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'=' | b'<' | b'>' | b'|' | b'&' | b'$' | b'\\' | b'*' | b'+' | b'/' | b'%'
    | b'@' | b'#' | b'^' | b'~' | b'`' | b'"' => STRANGE | SIGN,
    _ => STRANGE,
);

word_table!(WORDS: Table<512, true>, "code":
    DEFINES MODIFIES MODIFIERS KEYWORDS TYPES IMPORTS DECLARES CONTROLS BLOCKS LEAVES COMMANDS PRINTS DOCKER CLOSES);

/// `Code`, `MaybeCode` or `Comment`, if the line is one of them.
pub(super) fn kind(line: Bare<'_>, previous: LineKind) -> Option<LineKind> {
    let text = line.text;
    let (&first, &last) = (text.first()?, text.last()?);
    if let Some(kind) = comment(text, line.indent, first, previous) {
        return Some(kind);
    }
    if is_closing(text) {
        return Some(LineKind::MaybeCode);
    }
    let word = text.get(..run(text, is_word)).unwrap_or_default();
    if begins_statement(text, word, last) {
        return Some(LineKind::Code);
    }
    if !line.signs.any(Signs::OF_CODE) {
        return None;
    }
    if text.len() > LONG_LINE && !line.signs.any(Signs::OF_STATEMENTS) {
        return None;
    }
    // From here on the signs decide; a line that ends as prose does needs many of them.
    if matches!(last, b'.' | b'!' | b'?') && has_words(text, 4) {
        return None;
    }
    let signs = Density::of(text);
    if signs.words >= 9 && !signs.dense() {
        return None;
    }
    if last == b';' && is_statement(text, first, signs) {
        return Some(LineKind::Code);
    }
    if last == b'}' && signs.signs >= 2 && is_rule(text) {
        return Some(LineKind::Code);
    }
    if last == b'{' && text.len() > 1 && (signs.signs >= 2 || signs.words <= 3) {
        return Some(LineKind::Code);
    }
    if let Some(kind) = assignment(text, signs) {
        return Some(kind);
    }
    if begins_call(text)
        && signs.words <= 4
        && matches!(last, b')' | b':' | b',' | b'(' | b'[' | b'{' | b'\\' | b'}' | b']')
    {
        return Some(if signs.words <= 2 { LineKind::Code } else { LineKind::MaybeCode });
    }
    is_maybe(text, first, last, signs).then_some(LineKind::MaybeCode)
}

/// True where [`Density::of`] counts at least so many words; the first ones are enough to know that.
fn has_words(text: &[u8], n: usize) -> bool {
    let text = text.get(..text.len().min(MAX_LOOK)).unwrap_or_default();
    let is_any = |byte: &u8, class: u8| CLASSES[*byte as usize] & class != 0;
    let pieces = text.split(|byte| is_any(byte, BLANK));
    let is_word = |piece: &&[u8]| {
        piece.iter().filter(|byte| is_any(byte, LETTER)).count() >= 2 && !piece.iter().any(|byte| is_any(byte, STRANGE))
    };
    pieces.filter(is_word).take(n).count() == n
}

/// Comments decide nothing, except those that only code has.
fn comment(text: &[u8], indent: usize, first: u8, previous: LineKind) -> Option<LineKind> {
    match first {
        b'#' => {
            if head_of(text, word_list!("code_signs", DIRECTIVES)).is_some() {
                return Some(LineKind::Code);
            }
            let hashes = run(text, |byte| byte == b'#');
            let blank = matches!(text.get(hashes), None | Some(b' '));
            (!blank && begins_selector(text)).then_some(LineKind::Code).or(blank.then_some(
                if hashes == 1 && (indent > MAX_HEADING || is_commented(previous)) {
                    LineKind::Comment
                } else {
                    LineKind::Heading
                },
            ))
        }
        b'/' if text.starts_with(b"//") || text.starts_with(b"/*") => Some(LineKind::Comment),
        b'*' if text.starts_with(b"*/") || text.len() == 1 => Some(LineKind::Comment),
        b'-' if text.starts_with(b"-- ") => Some(LineKind::Comment),
        b';' if text.starts_with(b"; ") || text.starts_with(b";; ") => Some(LineKind::Comment),
        b'"' if text.starts_with(b"\"\"\"") => Some(LineKind::Comment),
        _ => None,
    }
}

/// True for what goes on behind a comment that a `#` begins; elsewhere it begins a heading.
fn is_commented(previous: LineKind) -> bool {
    use LineKind::{Code, Comment, KeyValue, MaybeCode, Pair};
    matches!(previous, Code | MaybeCode | Comment | KeyValue | Pair)
}

/// Nothing but closing brackets and what may follow them, or a word that closes a block.
fn is_closing(text: &[u8]) -> bool {
    (matches!(text.first(), Some(b'}' | b')' | b']')) && text.iter().all(|byte| b"})];,> ".contains(byte)))
        || WORDS.of(text) & CLOSES != 0
}

/// `#id {` or `#id,`
fn begins_selector(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'{')) && text.len() < 120
}

/// A line that ends with a semicolon and is a statement, not the item of a list in prose.
fn is_statement(text: &[u8], first: u8, signs: Density) -> bool {
    signs.calls > 0
        || signs.dense()
        || (memchr::memchr(b'=', text).is_some() && signs.words <= 5)
        // `prop: value;` of a style sheet, `int x;` of a declaration.
        || (first.is_ascii_lowercase() && signs.words <= 3 && (text.len() < 60))
}

/// `selector { property: value; }` on one line.
fn is_rule(text: &[u8]) -> bool {
    memchr::memchr(b'{', text).is_some_and(|at| at > 0 && memchr::memchr3(b':', b';', b'(', from(text, at)).is_some())
}

/// `name = …`, `a.b += …`, `name := …`, `NAME="…"`.
fn assignment(text: &[u8], signs: Density) -> Option<LineKind> {
    let left = run(text, |byte| {
        is_word(byte) || matches!(byte, b'.' | b'[' | b']' | b'$' | b'@' | b'-' | b'>' | b':' | b'"' | b'\'' | b'*')
    });
    if left == 0 || !text.first().is_some_and(|&byte| is_word(byte) || matches!(byte, b'$' | b'@' | b'*')) {
        return None;
    }
    let mut rest = skip_blanks(from(text, left));
    // More names on the left: `lo, hi = hi, lo`.
    if rest.starts_with(b",") || text.get(left - 1) == Some(&b',') {
        rest = from(rest, memchr::memchr(b'=', rest.get(..rest.len().min(40)).unwrap_or_default())?);
    }
    let operator = run(rest, |byte| b"+-*/|&%:?.^<>".contains(&byte));
    if operator > 2 || rest.get(operator) != Some(&b'=') || rest.get(operator + 1) == Some(&b'=') {
        return None;
    }
    let value = skip_blanks(from(rest, operator + 1));
    let marked = text.iter().take(left).any(|byte| matches!(byte, b'_' | b'.' | b'[' | b'$')) || operator > 0;
    let wordy = signs.words > 4 && !signs.dense();
    if wordy {
        return None;
    }
    let shown = signs.calls > 0
        || matches!(value.first(), Some(b'[' | b'{' | b'"' | b'\'' | b'(' | b'$' | b'-' | b'`' | b'0'..=b'9'))
        || signs.dense();
    Some(if marked || shown { LineKind::Code } else { LineKind::MaybeCode })
}

/// `name(` or `a.b.c(` at the start.
fn begins_call(text: &[u8]) -> bool {
    let name = run(text, |byte| is_word(byte) || matches!(byte, b'.' | b':' | b'!' | b'>' | b'-'));
    name >= 2
        && text.get(name) == Some(&b'(')
        && text.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'_')
        && text.get(name + 1) != Some(&b's')
}

/// Lines that are code when their neighbours are: arguments, operators, parts of expressions.
fn is_maybe(text: &[u8], first: u8, last: u8, signs: Density) -> bool {
    let few_words = signs.words <= 4;
    let has_operator =
        signs.signs >= 2 && word_list!("code_signs", OPERATORS).iter().any(|operator| holds(text, operator.as_bytes()));
    (few_words && (has_operator || (signs.dense() && signs.signs >= 3)))
        || (signs.words <= 2 && matches!(last, b'(' | b'[' | b'\\'))
        || (signs.words <= 2 && last == b',' && (signs.signs > 0 || first.is_ascii_digit()))
        || (signs.words <= 1 && matches!(first, b'.' | b'&' | b'?') && signs.calls > 0)
        || (matches!(first, b'{' | b'}' | b'(' | b')' | b']') && few_words && signs.signs >= 2)
}

/// Statements that their first word begins, when what must follow is there.
fn begins_statement(text: &[u8], word: &[u8], last: u8) -> bool {
    let after = from(text, word.len());
    let rest = skip_blanks(after);
    let opens = matches!(last, b':' | b'{' | b'(' | b',' | b';' | b')');
    let has = |needle: &[u8]| holds(rest.get(..rest.len().min(MAX_LOOK)).unwrap_or_default(), needle);
    let blank = matches!(after.first(), Some(b' ' | b'\t'));
    let does = WORDS.of(word);
    let is = |list: u32| does & list != 0;
    match word {
        _ if is(DEFINES) => blank && is_signature(rest, last),
        _ if is(MODIFIES) => {
            let modified = skip_modifiers(rest);
            let next = modified.get(..run(modified, is_word)).unwrap_or_default();
            let colon = after.first() == Some(&b':') && after.len() == 1;
            let is_visibility = after.starts_with(b"(crate)") || after.starts_with(b"(super)");
            colon
                || is_visibility
                || (blank
                    && (WORDS.of(next) & KEYWORDS != 0 || opens)
                    && (opens || has(b"=") || has(b"("))
                    && plain_words(text) <= 6)
        }
        _ if is(TYPES) => {
            blank
                && (matches!(last, b'{' | b':' | b';' | b')')
                    || (has(b" < ") || word == b"module" || word == b"class")
                        && rest.first().is_some_and(u8::is_ascii_uppercase)
                        && plain_words(rest) <= 1)
                && plain_words(rest) <= 6
        }
        _ if is(IMPORTS) => blank && is_import(word, rest, last),
        _ if is(DECLARES) => blank && (has(b"=") || opens && last != b':' && last != b',') && declares(rest),
        _ if is(CONTROLS) => is_control(word, after, rest, last),
        _ if is(BLOCKS) => matches!(rest, b":" | b"{") || (word == b"else" && rest.starts_with(b"if") && opens),
        _ if is(LEAVES) => {
            let signs = Density::of(rest);
            (blank || last == b';')
                && (last == b';' || signs.calls > 0 || signs.dense() || word == b"return" && is_member(rest))
                && signs.words <= 5
        }
        b"case" => last == b':' && rest.len() < 80 && plain_words(rest) <= 2,
        b"template" => rest.first() == Some(&b'<'),
        _ if is(COMMANDS) => is_command(word, rest),
        _ if is(PRINTS) => blank && matches!(rest.first(), Some(b'"' | b'\'' | b':' | b'@' | b'$' | b'(')),
        _ if is(DOCKER) => blank && is_docker(word, rest),
        b"" => begins_with_sign(text, last),
        _ => false,
    }
}

fn skip_modifiers(mut text: &[u8]) -> &[u8] {
    loop {
        let word = text.get(..run(text, is_word)).unwrap_or_default();
        let is_modifier = WORDS.of(word) & MODIFIERS != 0;
        let rest = skip_blanks(from(text, word.len()));
        if !is_modifier || rest.is_empty() || (word == b"const" && !rest.starts_with(b"fn")) {
            return text;
        }
        text = rest;
    }
}

/// Words of prose in `text`.
fn plain_words(text: &[u8]) -> usize {
    Density::of(text).words
}

/// `name(…)` behind `def` and its like, also without brackets in Ruby.
fn is_signature(rest: &[u8], last: u8) -> bool {
    let name = run(rest, |byte| is_word(byte) || matches!(byte, b'.' | b'?' | b'!'));
    match rest.get(name) {
        Some(b'(' | b'<' | b'[') => true,
        // A receiver or type parameters come first: `func (c *Client) Name(`, `fun <T> name(`.
        _ if name == 0 => matches!(rest.first(), Some(b'(' | b'<')) && matches!(last, b'{' | b')' | b',' | b'('),
        None => rest.len() >= 2 && rest.first().is_some_and(u8::is_ascii_lowercase),
        Some(b' ') => matches!(last, b'{' | b')') || holds(rest, b" = "),
        _ => false,
    }
}

/// What may be imported: names with dots and colons, strings, a header; no sentence.
fn is_import(word: &[u8], rest: &[u8], last: u8) -> bool {
    let words = rest.split(u8::is_ascii_whitespace).filter(|piece| !piece.is_empty()).take(12).count();
    let quoted = matches!(rest.first(), Some(b'"' | b'\'' | b'{' | b'*' | b'('));
    match word {
        b"from" => holds(rest, b" import ") || (quoted && words <= 2),
        b"import" => {
            quoted
                || holds(rest, b" from '")
                || holds(rest, b" from \"")
                || (words <= 1 && last != b'.')
                || (words <= 12
                    && !matches!(last, b'.' | b'?' | b'!')
                    && (holds(rest, b" as ") || holds(rest, b", "))
                    && rest.first().is_some_and(u8::is_ascii_lowercase)
                    && words <= 6)
                || last == b';'
        }
        b"use" | b"mod" | b"using" | b"package" => {
            (last == b';' && words <= 6) || (word == b"package" && words == 1) || (holds(rest, b"::") && words <= 3)
        }
        _ => (quoted || rest.first() == Some(&b'(')) && words <= 2,
    }
}

/// A name, perhaps with a type, before `=` or the end of a declaration.
fn declares(rest: &[u8]) -> bool {
    let head = rest.get(..memchr::memchr2(b'=', b'(', rest).unwrap_or(rest.len())).unwrap_or_default();
    plain_words(head) <= 3 && !head.is_empty()
}

/// `if (…) {`, `for x in y:`, `while [ … ]`: a condition with signs, or an end that prose does not have.
fn is_control(word: &[u8], after: &[u8], rest: &[u8], last: u8) -> bool {
    let signs = Density::of(rest);
    if after.first() == Some(&b'(') || rest.first() == Some(&b'(') {
        return matches!(last, b'{' | b')' | b';' | b'}' | b':') || signs.dense();
    }
    match last {
        b'{' => signs.words <= 12,
        b':' => {
            signs.words <= 8
                && (signs.signs > 0
                    || (word == b"for" && holds(rest, b" in ") && signs.words <= 4)
                    || word == b"elif"
                    || word == b"except" && signs.words <= 3
                    || signs.words <= 2 && holds(rest, b"."))
        }
        _ => {
            matches!(rest.first(), Some(b'[' | b'!' | b'$' | b'@'))
                && matches!(word, b"if" | b"while" | b"until" | b"elif" | b"unless")
                || holds(rest, b"; then")
                || holds(rest, b"; do")
                || (rest.ends_with(b" do") && signs.words <= 4)
                || (signs.dense() && signs.words <= 5)
        }
    }
}

/// A command of a shell with an option, a path, a variable or a quotation.
fn is_command(word: &[u8], rest: &[u8]) -> bool {
    if rest.is_empty() {
        return false;
    }
    let has_option = rest.split(u8::is_ascii_whitespace).any(|piece| {
        piece.len() >= 2
            && piece.first() == Some(&b'-')
            && piece.get(1).is_some_and(|&byte| byte.is_ascii_alphabetic() || byte == b'-')
    });
    let shows = matches!(rest.first(), Some(b'"' | b'\'' | b'$' | b'/' | b'~' | b'.' | b'-'))
        || rest.contains(&b'$')
        || holds(rest, b" | ")
        || holds(rest, b" && ");
    let words = plain_words(rest);
    let sentence = matches!(rest.last(), Some(b'.' | b'?' | b'!' | b',')) && words >= 4;
    match word {
        b"exit" | b"shift" => rest.len() <= 2,
        b"git" | b"docker" | b"npm" | b"pip" | b"cargo" | b"kubectl" | b"yarn" | b"brew" | b"apt" => {
            !sentence && (has_option || shows || words <= 4 && rest.first().is_some_and(u8::is_ascii_lowercase))
        }
        b"sudo" => !sentence && words <= 6,
        _ => !sentence && (has_option || shows) && words <= 8,
    }
}

/// An instruction of a Dockerfile with what it takes.
fn is_docker(word: &[u8], rest: &[u8]) -> bool {
    let words = rest.split(u8::is_ascii_whitespace).filter(|piece| !piece.is_empty()).take(8).count();
    match word {
        b"FROM" => words == 1 || (words == 3 && (holds(rest, b" AS ") || holds(rest, b" as "))),
        b"EXPOSE" => rest.iter().all(|byte| byte.is_ascii_digit() || b" /tcpud".contains(byte)),
        b"WORKDIR" | b"VOLUME" | b"USER" => words == 1,
        b"ENV" | b"ARG" | b"LABEL" => words == 1 || rest.contains(&b'=') || words == 2,
        b"COPY" | b"ADD" => (2..=5).contains(&words) && memchr::memchr2(b'/', b'.', rest).is_some(),
        _ => matches!(rest.first(), Some(b'[' | b'-')) || rest.first().is_some_and(u8::is_ascii_lowercase),
    }
}

/// Lines that begin with a sign: decorators, variables, selectors, chained calls, prompts of an interpreter.
fn begins_with_sign(text: &[u8], last: u8) -> bool {
    match text.first() {
        Some(b'@') => {
            let name = run(from(text, 1), |byte| is_word(byte) || byte == b'.');
            name >= 2
                && matches!(text.get(name + 1), None | Some(b'('))
                && (from(text, 1).len() == name || last == b')' || last == b'[' || last == b'(' || last == b'{')
        }
        Some(b'$') => {
            let name = run(from(text, 1), is_word);
            let rest = skip_blanks(from(text, name + 1));
            name >= 1
                && (rest.starts_with(b"=")
                    || rest.starts_with(b"->")
                    || rest.starts_with(b"[")
                    || rest.starts_with(b"+="))
        }
        Some(b'>') => text.starts_with(b">>> "),
        Some(b'.') => {
            let name = run(from(text, 1), |byte| is_word(byte) || byte == b'-');
            let rest = from(text, name + 1);
            name >= 2
                && (rest.starts_with(b"(")
                    || text.starts_with(b".PHONY")
                    || last == b'{'
                    || rest.starts_with(b"::<")
                    || rest.starts_with(b"()")
                    || rest == b"await")
        }
        Some(b'<') => text.starts_with(b"<?php"),
        Some(b'&' | b'*') => last == b';' || last == b'{',
        Some(b'}') => last == b'{' || last == b';',
        Some(b'|') => last == b'{',
        Some(b'-' | b'!') => last == b';',
        Some(b'(') => {
            text.starts_with(b"(def")
                || text.starts_with(b"(let ")
                || text.starts_with(b"(ns ")
                || text.ends_with(b");")
                || text.ends_with(b"})")
        }
        _ => false,
    }
}

/// `self.rows`, `m.maxRows`: names joined by dots, and nothing else.
fn is_member(text: &[u8]) -> bool {
    let names = text.split(|&byte| byte == b'.');
    text.contains(&b'.') && names.into_iter().all(|name| !name.is_empty() && name.iter().all(|&byte| is_word(byte)))
}
