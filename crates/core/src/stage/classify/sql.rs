//! SQL by its shape: a statement verb with what must follow it. English that happens to use the same words
//! ("select a file from the menu") has neither the lists, operators nor the punctuation. Knows nothing else.

use crate::text::bytes::{from, is_word, run};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<512>, "sql": ARTICLE OF_COLUMNS CREATE_HOW CREATE_WITH OBJECT CHANGE PRIVILEGE);

/// How many tokens of a statement are looked at.
const MAX_TOKENS: usize = 400;

/// True when a statement of SQL starts at `at`, where a statement verb stands in any case.
pub(super) fn is_statement(text: &[u8], at: usize) -> bool {
    let mut tokens = Statement::at(text, at);
    let Some(Token::Word(verb)) = tokens.next() else {
        return false;
    };
    let shouted = verb.iter().all(u8::is_ascii_uppercase);
    match verb.to_ascii_lowercase().as_slice() {
        b"select" => select(tokens, shouted),
        b"insert" => insert(tokens),
        b"update" => update(tokens),
        b"delete" => delete(tokens, shouted),
        b"create" => create(tokens, shouted),
        b"alter" => alter(tokens, shouted),
        b"drop" | b"truncate" => drop_or_truncate(tokens, shouted, verb.len() > 4),
        b"grant" | b"revoke" => grant(tokens, shouted),
        b"merge" => merge(tokens),
        // Pieces of statements, as they stand in truncated or quoted ones.
        b"join" => join(tokens, shouted),
        b"primary" | b"varchar" => column(tokens, verb.len() > 6 && verb.eq_ignore_ascii_case(b"varchar")),
        _ => false,
    }
}

/// True for a word that may name a table.
fn is_name(token: Token<'_>) -> bool {
    matches!(token, Token::Word(_)) && !token.does(ARTICLE)
}

/// The rest of a SELECT: a list of columns, FROM, a table, then a clause or the end.
fn select(tokens: Statement<'_>, shouted: bool) -> bool {
    let mut evidence = 0;
    // Words next to each other without comma or operator between: `select a file`.
    let mut adjacent = 0;
    let mut previous_word = false;
    let mut depth = 0_u32;
    let mut tokens = tokens.take(MAX_TOKENS);
    let mut n_items = 0;
    let from_word = loop {
        let Some(token) = tokens.next() else {
            // Without FROM: `SELECT 1;`, `SELECT count(*)`.
            return shouted && n_items > 0 && evidence > 0 && adjacent == 0;
        };
        n_items += 1;
        match token {
            Token::Sign(b'(') => {
                depth += 1;
                evidence += usize::from(previous_word);
                previous_word = false;
            }
            Token::Sign(b')') => {
                depth = depth.saturating_sub(1);
                previous_word = false;
            }
            Token::Sign(b';') => return shouted && evidence > 0 && adjacent == 0,
            Token::Sign(b'*') => {
                evidence += 2;
                previous_word = false;
            }
            Token::Sign(b'.' | b'!') => return false,
            Token::Sign(b'=' | b'<' | b'>' | b'|' | b'/' | b'+') => {
                evidence += 1;
                previous_word = false;
            }
            Token::Sign(_) | Token::Value => previous_word = false,
            _ if token.is("from") && depth == 0 => break token,
            _ if token.is("select") && depth == 0 => return false,
            _ if token.does(OF_COLUMNS) => previous_word = false,
            Token::Word(word) => {
                evidence += usize::from(memchr::memchr2(b'_', b'.', word).is_some());
                adjacent += usize::from(previous_word && depth == 0);
                previous_word = true;
            }
        }
    };
    let all_capitals = shouted && matches!(from_word, Token::Word(word) if word.iter().all(u8::is_ascii_uppercase));
    let Some(table) = tokens.next() else {
        return all_capitals && adjacent == 0;
    };
    if table == Token::Sign(b'(') {
        return true;
    }
    let Token::Word(name) = table else {
        return all_capitals && table == Token::Value;
    };
    if !is_name(table) {
        return false;
    }
    if all_capitals {
        return adjacent <= 1 || evidence > 0;
    }
    evidence += usize::from(memchr::memchr2(b'_', b'.', name).is_some());
    adjacent <= 1 && evidence + clause_evidence(tokens) >= 2
}

/// What speaks for SQL behind the table of a statement in small letters.
fn clause_evidence<'t>(tokens: impl Iterator<Item = Token<'t>>) -> usize {
    let mut evidence = 0;
    let mut in_clause = false;
    for (index, token) in tokens.take(24).enumerate() {
        match token {
            Token::Sign(b';') => return evidence + 2,
            Token::Sign(b'=' | b'<' | b'>') if in_clause => evidence += 2,
            Token::Sign(b')' | b'`' | b'"') if index == 0 => evidence += 1,
            Token::Sign(b'.' | b'!') => break,
            _ if token.is_one_of(&["where", "join", "having", "on"]) => in_clause = true,
            _ if token.is_one_of(&["like", "null"]) && in_clause => evidence += 1,
            _ if token.is("limit") => evidence += 1,
            _ if token.is("by") => evidence += 1,
            _ => {}
        }
    }
    evidence
}

/// `INTO name` with values or a query.
fn insert(mut tokens: Statement<'_>) -> bool {
    let mut head = tokens.next();
    if head.is_some_and(|token| token.is_one_of(&["or", "ignore", "overwrite"])) {
        head = tokens.find(|token| token.is("into"));
    }
    if !head.is_some_and(|token| token.is("into")) {
        return false;
    }
    if !tokens.next().is_some_and(is_name) {
        return false;
    }
    match tokens.next() {
        Some(Token::Sign(b'(')) => true,
        Some(token) => token.is_one_of(&["values", "select", "default", "set", "with"]),
        None => false,
    }
}

/// `name SET column = …`.
fn update(mut tokens: Statement<'_>) -> bool {
    if !tokens.next().is_some_and(is_name) {
        return false;
    }
    let has_set = tokens.by_ref().take(3).any(|token| token.is("set"));
    has_set && matches!((tokens.next(), tokens.next()), (Some(Token::Word(_)), Some(Token::Sign(b'='))))
}

/// `FROM name` with a condition, a semicolon or nothing.
fn delete(mut tokens: Statement<'_>, shouted: bool) -> bool {
    if !tokens.next().is_some_and(|token| token.is("from")) {
        return false;
    }
    if !tokens.next().is_some_and(is_name) {
        return false;
    }
    match tokens.next() {
        None => shouted,
        Some(Token::Sign(sign)) => sign == b';' || shouted,
        Some(token) if token.is_one_of(&["where", "using"]) => {
            shouted || clause_evidence([token].into_iter().chain(tokens)) > 0
        }
        Some(_) => false,
    }
}

/// `TABLE name (…)` and the like.
fn create(mut tokens: Statement<'_>, shouted: bool) -> bool {
    let is_made = tokens.find(|token| !token.does(CREATE_HOW)).is_some_and(is_object);
    let name = tokens.find(|token| !token.is_one_of(&["if", "not", "exists", "concurrently"]));
    if !is_made || !name.is_some_and(is_name) {
        return false;
    }
    match tokens.next() {
        None => shouted,
        Some(Token::Sign(sign)) => sign == b'(' || (sign == b';'),
        Some(token) if token.is("on") => {
            tokens.nth(1).is_some_and(|token| token == Token::Sign(b'(') || token.is("using"))
        }
        Some(token) if token.is("as") => tokens
            .next()
            .is_some_and(|token| token.is_one_of(&["select", "with", "enum", "table"]) || token == Token::Sign(b'(')),
        Some(token) => shouted && token.does(CREATE_WITH),
    }
}

/// What CREATE, ALTER and DROP work on.
fn is_object(token: Token<'_>) -> bool {
    token.does(OBJECT)
}

/// `TABLE name ADD …`.
fn alter(mut tokens: Statement<'_>, shouted: bool) -> bool {
    if !tokens.next().is_some_and(is_object) {
        return false;
    }
    tokens.find(|token| !token.is_one_of(&["if", "exists", "only"])).is_some_and(is_name)
        && tokens.next().is_some_and(|token| token.does(CHANGE))
        && (shouted || tokens.take(12).any(|token| token == Token::Sign(b';') || token.is("column")))
}

/// `TABLE name` with a semicolon, or in capitals.
fn drop_or_truncate(mut tokens: Statement<'_>, shouted: bool, object_is_optional: bool) -> bool {
    let mut name = tokens.next();
    let named_object = name.is_some_and(is_object);
    if named_object {
        name = tokens.next();
    } else if !(object_is_optional && shouted) {
        return false;
    }
    let is_condition = |token: &Token<'_>| token.is_one_of(&["if", "exists", "concurrently"]);
    if name.is_some_and(|name| is_condition(&name)) {
        name = tokens.find(|token| !is_condition(token));
    }
    if !name.is_some_and(is_name) {
        return false;
    }
    match tokens.next() {
        Some(Token::Sign(b';')) => true,
        Some(token) => shouted && token.is_one_of(&["cascade", "restrict", "restart", "on"]),
        None => shouted && named_object,
    }
}

/// `SELECT, UPDATE ON name TO role`.
fn grant(tokens: Statement<'_>, shouted: bool) -> bool {
    let mut n_before_on = 0;
    let mut after_on = None;
    for token in tokens.take(24) {
        match after_on {
            None if token.is("on") => after_on = Some(0),
            None if token == Token::Sign(b',') || token.does(PRIVILEGE) => n_before_on += 1,
            None => return false,
            Some(count) if token.is_one_of(&["to", "from"]) => return shouted && n_before_on > 0 && count > 0,
            Some(count) => after_on = Some(count + 1),
        }
    }
    false
}

/// `INTO name USING`.
fn merge(mut tokens: Statement<'_>) -> bool {
    tokens.next().is_some_and(|token| token.is("into")) && tokens.skip(1).take(4).any(|token| token.is("using"))
}

/// `name alias ON a.x = b.y`.
fn join(mut tokens: Statement<'_>, shouted: bool) -> bool {
    shouted
        && tokens.by_ref().take(4).any(|token| token.is("on"))
        && matches!(
            (tokens.next(), tokens.next(), tokens.next()),
            (Some(Token::Word(_)), Some(Token::Sign(b'=')), Some(Token::Word(_) | Token::Value))
        )
}

/// `PRIMARY KEY` or `VARCHAR(20)` as columns have them: with a comma, a bracket or a length.
fn column(mut tokens: Statement<'_>, is_type: bool) -> bool {
    if is_type {
        return tokens.next() == Some(Token::Sign(b'(')) && tokens.next() == Some(Token::Value);
    }
    tokens.next().is_some_and(|token| token.is("key")) && matches!(tokens.next(), Some(Token::Sign(b',' | b'(' | b')')))
}

/// How far a statement is followed, in bytes.
const MAX_STATEMENT: usize = 6_000;

/// A piece of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    /// A word or a quoted identifier, dots included.
    Word(&'t [u8]),
    /// A number, string or parameter.
    Value,
    /// Any other sign.
    Sign(u8),
}

impl Token<'_> {
    /// True for `word` in any case.
    fn is(self, word: &str) -> bool {
        matches!(self, Token::Word(found) if found.eq_ignore_ascii_case(word.as_bytes()))
    }
    /// True for a word of the lists `flags`.
    fn does(self, flags: u32) -> bool {
        matches!(self, Token::Word(found) if WORDS.of(found) & flags != 0)
    }
    /// True for one of `words` in any case.
    fn is_one_of(self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// The tokens of one statement: up to a semicolon, a blank line or a code quote.
struct Statement<'t> {
    text: &'t [u8],
}

impl<'t> Iterator for Statement<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let mut breaks = 0;
        loop {
            let &byte = self.text.first()?;
            if byte == b'\n' {
                breaks += 1;
                if breaks > 1 {
                    return None;
                }
            } else if self.text.starts_with(b"--") {
                // A comment to the end of its line; the line break still counts.
                self.text = from(self.text, run(self.text, |byte| byte != b'\n'));
                continue;
            } else if !byte.is_ascii_whitespace() {
                break;
            }
            self.text = from(self.text, 1);
        }
        let &byte = self.text.first()?;
        let (token, length) = match byte {
            b'\'' | b'"' | b'`' => self.quoted(byte),
            b'0'..=b'9' => (Token::Value, run(self.text, |byte| is_word(byte) || byte == b'.')),
            b'$' | b'?' | b'@' | b':' if self.text.get(1).is_some_and(|&next| is_word(next)) => {
                (Token::Value, 1 + run(from(self.text, 1), is_word))
            }
            _ if is_word(byte) || byte >= 0x80 => {
                let mut length = run(self.text, |byte| is_word(byte) || byte >= 0x80 || byte == b'.');
                if self.text.get(length - 1) == Some(&b'.') {
                    length -= 1;
                }
                (Token::Word(self.text.get(..length.max(1)).unwrap_or_default()), length.max(1))
            }
            _ => (Token::Sign(byte), 1),
        };
        self.text = from(self.text, length);
        Some(token)
    }
}

impl<'t> Statement<'t> {
    /// The statement that begins at `at`.
    fn at(text: &'t [u8], at: usize) -> Self {
        let rest = from(text, at);
        Self { text: rest.get(..rest.len().min(MAX_STATEMENT)).unwrap_or_default() }
    }

    /// A string or a quoted name; a quote that does not close soon is a sign by itself.
    fn quoted(&self, quote: u8) -> (Token<'t>, usize) {
        let inside = from(self.text, 1);
        let Some(end) = memchr::memchr(quote, inside.get(..inside.len().min(200)).unwrap_or_default()) else {
            return (Token::Sign(quote), 1);
        };
        let body = inside.get(..end).unwrap_or_default();
        if quote == b'\'' {
            return (Token::Value, end + 2);
        }
        let is_name = !body.is_empty() && body.iter().all(|&byte| is_word(byte) || byte == b'.' || byte == b' ');
        if !is_name {
            return (Token::Sign(quote), 1);
        }
        // `schema`.`table`.`column` is one name.
        let mut length = end + 2;
        while from(self.text, length).starts_with(b".") {
            let next = from(self.text, length + 1);
            let quoted = next.first() == Some(&quote);
            let part = run(from(next, usize::from(quoted)), |byte| is_word(byte) || (quoted && byte == b' '));
            if part == 0 {
                break;
            }
            length += 1 + part + 2 * usize::from(quoted);
        }
        (Token::Word(self.text.get(..length).unwrap_or_default()), length)
    }
}
