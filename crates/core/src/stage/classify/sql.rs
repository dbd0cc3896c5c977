//! SQL by its shape: a statement verb with what must follow it. English that happens to use the same words
//! ("select a file from the menu") has neither the lists, operators nor the punctuation. Knows nothing else.

use crate::text::bytes::{from, is_word, run};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<512>, "sql": ARTICLE OF_COLUMNS CREATE_HOW CREATE_WITH OBJECT CHANGE PRIVILEGE);

/// How many tokens of a query are looked at, and of any other statement.
const MAX_TOKENS: usize = 400;
const MAX_SHAPE: usize = 32;

/// True when a statement of SQL starts at `at`, where a statement verb stands in any case.
pub(super) fn is_statement(text: &[u8], at: usize) -> bool {
    let mut tokens = Statement::at(text, at);
    let Some(Token::Word(verb)) = tokens.next() else {
        return false;
    };
    let shouted = verb.iter().all(u8::is_ascii_uppercase);
    let verb = verb.to_ascii_lowercase();
    if verb == b"select" {
        return select(tokens, shouted);
    }
    let tokens: Vec<Token<'_>> = tokens.take(MAX_SHAPE).collect();
    match verb.as_slice() {
        b"insert" => insert(&tokens),
        b"update" => update(&tokens),
        b"delete" => delete(&tokens, shouted),
        b"create" => create(&tokens, shouted),
        b"alter" => alter(&tokens, shouted),
        b"drop" | b"truncate" => drop_or_truncate(&tokens, shouted, verb == b"truncate"),
        b"grant" | b"revoke" => grant(&tokens, shouted),
        b"merge" => merge(&tokens),
        // Pieces of statements, as they stand in truncated or quoted ones.
        b"join" => join(&tokens, shouted),
        b"primary" | b"varchar" => column(&tokens, verb == b"varchar"),
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

/// `tokens` from the first on that is none of `words`.
fn past<'s, 't>(tokens: &'s [Token<'t>], words: &[&str]) -> &'s [Token<'t>] {
    let n_passed = tokens.iter().take_while(|token| token.is_one_of(words)).count();
    tokens.get(n_passed..).unwrap_or_default()
}

/// `INTO name` with values or a query.
fn insert(tokens: &[Token<'_>]) -> bool {
    let first = tokens.first().copied().unwrap_or(Token::Value);
    let is_modified = first.is_one_of(&["or", "ignore", "overwrite"]);
    let into = tokens.iter().position(|token| token.is("into")).filter(|&at| at == 0 || is_modified);
    match into.and_then(|at| tokens.get(at + 1..)) {
        Some([name, Token::Sign(b'('), ..]) => is_name(*name),
        Some([name, next, ..]) => is_name(*name) && next.is_one_of(&["values", "select", "default", "set", "with"]),
        _ => false,
    }
}

/// `name SET column = …`.
fn update(tokens: &[Token<'_>]) -> bool {
    let Some((name, rest)) = tokens.split_first() else { return false };
    let set = rest.iter().take(3).position(|token| token.is("set"));
    let assigns = |at: usize| matches!(rest.get(at + 1..), Some([Token::Word(_), Token::Sign(b'='), ..]));
    is_name(*name) && set.is_some_and(assigns)
}

/// `FROM name` with a condition, a semicolon or nothing.
fn delete(tokens: &[Token<'_>], shouted: bool) -> bool {
    let [from, name, rest @ ..] = tokens else { return false };
    let is_over = match rest {
        [] => shouted,
        [Token::Sign(sign), ..] => *sign == b';' || shouted,
        [token, ..] if token.is_one_of(&["where", "using"]) => shouted || clause_evidence(rest.iter().copied()) > 0,
        _ => false,
    };
    from.is("from") && is_name(*name) && is_over
}

/// `TABLE name (…)` and the like.
fn create(tokens: &[Token<'_>], shouted: bool) -> bool {
    let n_how = tokens.iter().take_while(|token| token.does(CREATE_HOW)).count();
    let Some([object, rest @ ..]) = tokens.get(n_how..) else { return false };
    let [name, rest @ ..] = past(rest, &["if", "not", "exists", "concurrently"]) else { return false };
    let goes_on = match rest {
        [] => shouted,
        [Token::Sign(sign), ..] => matches!(sign, b'(' | b';'),
        [on, rest @ ..] if on.is("on") => {
            rest.get(1).is_some_and(|token| *token == Token::Sign(b'(') || token.is("using"))
        }
        [kind, rest @ ..] if kind.is("as") => rest
            .first()
            .is_some_and(|token| token.is_one_of(&["select", "with", "enum", "table"]) || *token == Token::Sign(b'(')),
        [token, ..] => shouted && token.does(CREATE_WITH),
    };
    object.does(OBJECT) && is_name(*name) && goes_on
}

/// `TABLE name ADD …`.
fn alter(tokens: &[Token<'_>], shouted: bool) -> bool {
    let Some((object, rest)) = tokens.split_first() else { return false };
    let [name, change, rest @ ..] = past(rest, &["if", "exists", "only"]) else { return false };
    object.does(OBJECT)
        && is_name(*name)
        && change.does(CHANGE)
        && (shouted || rest.iter().take(12).any(|token| *token == Token::Sign(b';') || token.is("column")))
}

/// `TABLE name` with a semicolon, or in capitals; the object of TRUNCATE needs no word.
fn drop_or_truncate(tokens: &[Token<'_>], shouted: bool, object_is_optional: bool) -> bool {
    let names_object = tokens.first().is_some_and(|token| token.does(OBJECT));
    let rest = past(tokens.get(usize::from(names_object)..).unwrap_or_default(), &["if", "exists", "concurrently"]);
    let Some((name, rest)) = rest.split_first() else { return false };
    let is_over = match rest {
        [Token::Sign(b';'), ..] => true,
        [token, ..] => shouted && token.is_one_of(&["cascade", "restrict", "restart", "on"]),
        [] => shouted && names_object,
    };
    (names_object || object_is_optional && shouted) && is_name(*name) && is_over
}

/// `SELECT, UPDATE ON name TO role`.
fn grant(tokens: &[Token<'_>], shouted: bool) -> bool {
    let tokens = tokens.get(..tokens.len().min(24)).unwrap_or_default();
    let Some(on) = tokens.iter().position(|token| token.is("on")) else { return false };
    let is_right = |token: &Token<'_>| *token == Token::Sign(b',') || token.does(PRIVILEGE);
    let to = tokens.iter().skip(on + 1).position(|token| token.is_one_of(&["to", "from"]));
    shouted && on > 0 && tokens.iter().take(on).all(is_right) && to.is_some_and(|n_names| n_names > 0)
}

/// `INTO name USING`.
fn merge(tokens: &[Token<'_>]) -> bool {
    tokens.first().is_some_and(|token| token.is("into")) && tokens.iter().skip(2).take(4).any(|token| token.is("using"))
}

/// `name alias ON a.x = b.y`.
fn join(tokens: &[Token<'_>], shouted: bool) -> bool {
    let on = tokens.iter().take(4).position(|token| token.is("on"));
    let equates = |at: usize| {
        matches!(tokens.get(at + 1..), Some([Token::Word(_), Token::Sign(b'='), Token::Word(_) | Token::Value, ..]))
    };
    shouted && on.is_some_and(equates)
}

/// `PRIMARY KEY` or `VARCHAR(20)` as columns have them: with a comma, a bracket or a length.
fn column(tokens: &[Token<'_>], is_type: bool) -> bool {
    match tokens {
        [Token::Sign(b'('), Token::Value, ..] => is_type,
        [key, Token::Sign(b',' | b'(' | b')'), ..] => !is_type && key.is("key"),
        _ => false,
    }
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
