//! JSON as slices of the record: a strict scanner that validates and cuts in one pass, without recursion and
//! without building values. Knows RFC 8259 and nothing of conversations.

use std::borrow::Cow;

use super::escape::{Marks, decode};
use super::find::find_special;

/// Why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bad {
    /// Byte offset of the first byte that does not fit.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// What a value is, told by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Object,
    /// A text that stands as it is, in what is no JSON.
    Plain,
}

/// A value as it stands in the record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'r> {
    /// The exact text.
    pub text: &'r str,
    pub(super) kind: Kind,
    /// The escapes of a string; none for other kinds.
    pub(super) marks: Marks,
}

impl<'r> Raw<'r> {
    /// True for a list.
    pub(crate) fn is_list(self) -> bool {
        self.kind == Kind::List
    }

    /// True for `null`.
    pub(crate) fn is_null(self) -> bool {
        self.kind == Kind::Null
    }

    /// The decoded string; `None` for other kinds.
    pub(crate) fn string(self) -> Option<Cow<'r, str>> {
        match self.kind {
            Kind::Text => Some(decode(unquoted(self.text), self.marks)),
            Kind::Plain => Some(Cow::Borrowed(self.text)),
            Kind::Null | Kind::Bool | Kind::Number | Kind::List | Kind::Object => None,
        }
    }
    /// The decoded string, or the literal of a number.
    pub(crate) fn id(self) -> Option<Cow<'r, str>> {
        match self.kind {
            Kind::Text | Kind::Plain => self.string(),
            Kind::Number => Some(Cow::Borrowed(self.text)),
            _ => None,
        }
    }
}

/// The key of a member: the decoded name and the text as written, quotes included.
#[derive(Debug, Clone)]
pub(super) struct Key<'r> {
    pub name: Cow<'r, str>,
    pub text: &'r str,
}

/// A position in a JSON text.
#[derive(Debug)]
pub(super) struct Scanner<'r> {
    text: &'r str,
    pos: usize,
    /// The open brackets of the value that is being skipped.
    open: Vec<u8>,
    /// The escapes of all strings so far.
    pub seen: Marks,
}

impl<'r> Scanner<'r> {
    pub(super) fn new(text: &'r str) -> Self {
        Self { text, pos: 0, open: Vec::new(), seen: Marks::NONE }
    }

    /// The byte that is read next.
    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// The kind of the next value, after white space.
    pub(super) fn peek(&mut self) -> Result<Kind, Bad> {
        self.space();
        match self.byte() {
            Some(b'"') => Ok(Kind::Text),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::List),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            _ => self.bad("a value"),
        }
    }

    /// Reads one value of any kind and depth.
    pub(super) fn value(&mut self) -> Result<Raw<'r>, Bad> {
        let kind = self.peek()?;
        let start = self.pos;
        let mut marks = Marks::NONE;
        match kind {
            Kind::Text => marks = self.string()?,
            Kind::List | Kind::Object => self.nested()?,
            Kind::Number | Kind::Bool | Kind::Null | Kind::Plain => self.scalar(kind)?,
        }
        Ok(Raw { text: self.since(start), kind, marks })
    }

    /// Reads an object; `member` must read the value. The scanner stands at the opening brace, see `peek`.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Key<'r>) -> Result<(), Bad>,
    ) -> Result<&'r str, Bad> {
        let start = self.pos;
        self.pos += 1;
        self.space();
        if !self.eat(b'}') {
            loop {
                let key = self.key()?;
                member(self, key)?;
                if self.closes(b'}', "`,` or `}`")? {
                    break;
                }
            }
        }
        Ok(self.since(start))
    }

    /// Reads a list; `item` must read one value. The scanner stands at the opening bracket, see `peek`.
    pub(super) fn list(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Bad>) -> Result<&'r str, Bad> {
        let start = self.pos;
        self.pos += 1;
        self.space();
        if !self.eat(b']') {
            loop {
                item(self)?;
                if self.closes(b']', "`,` or `]`")? {
                    break;
                }
            }
        }
        Ok(self.since(start))
    }

    /// Checks that only white space is left.
    pub(super) fn end(&mut self) -> Result<(), Bad> {
        self.space();
        if self.pos == self.text.len() { Ok(()) } else { self.bad("the end of the record") }
    }

    fn since(&self, start: usize) -> &'r str {
        self.text.get(start..self.pos).expect("tokens begin and end at ASCII characters")
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    fn bad<T>(&self, expected: &'static str) -> Result<T, Bad> {
        Err(Bad { at: self.pos, expected })
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.pos += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    /// After a value: true when `close` ends the list or object, false after a comma.
    fn closes(&mut self, close: u8, expected: &'static str) -> Result<bool, Bad> {
        self.space();
        if self.eat(b',') {
            return Ok(false);
        }
        if self.eat(close) { Ok(true) } else { self.bad(expected) }
    }

    fn key(&mut self) -> Result<Key<'r>, Bad> {
        let (text, marks) = self.skip_key()?;
        Ok(Key { name: decode(unquoted(text), marks), text })
    }

    fn skip_key(&mut self) -> Result<(&'r str, Marks), Bad> {
        self.space();
        if self.byte() != Some(b'"') {
            return self.bad("a key in double quotes");
        }
        let start = self.pos;
        let marks = self.string()?;
        let text = self.since(start);
        self.space();
        if self.eat(b':') { Ok((text, marks)) } else { self.bad("`:`") }
    }

    fn string(&mut self) -> Result<Marks, Bad> {
        let bytes = self.text.as_bytes();
        let mut marks = Marks::NONE;
        let mut pos = self.pos + 1;
        loop {
            pos = find_special(bytes, pos);
            match bytes.get(pos) {
                Some(b'"') => break,
                // The escapes that text is full of, without a call.
                Some(b'\\') if matches!(bytes.get(pos + 1), Some(b'n' | b'"' | b'\\' | b't')) => {
                    marks.add(Marks::COMMON);
                    pos += 2;
                }
                Some(b'\\') => match marks.escape(bytes, pos) {
                    Some(next) => pos = next,
                    None => return Err(Bad { at: pos, expected: "a valid escape" }),
                },
                Some(_) => return Err(Bad { at: pos, expected: "no control character inside a string" }),
                None => return Err(Bad { at: pos, expected: "the end of the string" }),
            }
        }
        self.pos = pos + 1;
        self.seen.add(marks);
        Ok(marks)
    }

    fn scalar(&mut self, kind: Kind) -> Result<(), Bad> {
        if kind == Kind::Number {
            return self.number();
        }
        let rest = self.text.as_bytes().get(self.pos..).unwrap_or_default();
        let literal = ["null", "true", "false"].into_iter().find(|literal| rest.starts_with(literal.as_bytes()));
        match literal {
            Some(literal) => {
                self.pos += literal.len();
                Ok(())
            }
            None => self.bad("`null`, `true` or `false`"),
        }
    }

    fn number(&mut self) -> Result<(), Bad> {
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'+') {
                self.eat(b'-');
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Bad> {
        let start = self.pos;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.pos += 1;
        }
        if self.pos > start { Ok(()) } else { self.bad("a digit") }
    }

    /// Skips a list or object with a stack of its own, so that depth costs memory and never the call stack.
    fn nested(&mut self) -> Result<(), Bad> {
        let base = self.open.len();
        loop {
            let kind = self.peek()?;
            match kind {
                Kind::Text => {
                    self.string()?;
                }
                Kind::Null | Kind::Bool | Kind::Number | Kind::Plain => self.scalar(kind)?,
                Kind::Object | Kind::List => {
                    self.pos += 1;
                    let close = if kind == Kind::Object { b'}' } else { b']' };
                    self.space();
                    if !self.eat(close) {
                        self.open.push(close);
                        if close == b'}' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
            }
            loop {
                if self.open.len() == base {
                    return Ok(());
                }
                let Some(&close) = self.open.last() else { return Ok(()) };
                let object = close == b'}';
                if self.closes(close, if object { "`,` or `}`" } else { "`,` or `]`" })? {
                    self.open.pop();
                } else {
                    if object {
                        self.skip_key()?;
                    }
                    break;
                }
            }
        }
    }
}

/// Levels of objects and lists that are read one by one.
const MAX_DEPTH: usize = 128;

/// The strings and numbers of a text, in its order, each with the key that it stands under; `None` for what is no JSON.
pub(crate) fn leaves(text: &str) -> Option<Vec<(Cow<'_, str>, Cow<'_, str>)>> {
    let (mut scanner, mut found) = (Scanner::new(text), Vec::new());
    leaves_of(&mut scanner, Cow::Borrowed(""), MAX_DEPTH, &mut found).and_then(|()| scanner.end()).ok()?;
    Some(found)
}

fn leaves_of<'r>(
    scanner: &mut Scanner<'r>,
    key: Cow<'r, str>,
    depth: usize,
    found: &mut Vec<(Cow<'r, str>, Cow<'r, str>)>,
) -> Result<(), Bad> {
    let kind = scanner.peek()?;
    let is_nested = matches!(kind, Kind::Object | Kind::List);
    match kind {
        _ if is_nested && depth == 0 => scanner.bad("fewer levels"),
        Kind::Object => scanner.object(|scanner, key| leaves_of(scanner, key.name, depth - 1, found)).map(|_| ()),
        Kind::List => scanner.list(|scanner| leaves_of(scanner, key.clone(), depth - 1, found)).map(|_| ()),
        _ => {
            found.extend(scanner.value()?.id().map(|text| (key, text)));
            Ok(())
        }
    }
}

/// The members of an object; nothing for other kinds. Ends where the text is damaged, as in a table that was changed.
pub(super) fn members<'r>(raw: &'r str, mut each: impl FnMut(Key<'r>, Raw<'r>)) {
    let mut scanner = Scanner::new(raw);
    if let Ok(Kind::Object) = scanner.peek() {
        let _ended = scanner.object(|scanner, key| {
            each(key, scanner.value()?);
            Ok(())
        });
    }
}

/// The items of a list; nothing for other kinds. Ends where the text is damaged.
pub(crate) fn items<'r>(raw: &'r str, mut each: impl FnMut(Raw<'r>)) {
    let mut scanner = Scanner::new(raw);
    if let Ok(Kind::List) = scanner.peek() {
        let _ended = scanner.list(|scanner| {
            each(scanner.value()?);
            Ok(())
        });
    }
}

/// The last member called `name` of an object that was validated before.
pub(crate) fn member<'r>(raw: &'r str, name: &str) -> Option<Raw<'r>> {
    let mut found = None;
    members(raw, |key, value| {
        if key.name == name {
            found = Some(value);
        }
    });
    found
}

/// Where `part`, a slice of `whole`, begins in it.
pub(super) fn offset_in(whole: &str, part: &str) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}

/// The text before and after `part`, a slice of `whole`.
pub(super) fn around<'r>(whole: &'r str, part: &str) -> (&'r str, &'r str) {
    let start = offset_in(whole, part);
    let before = whole.get(..start).expect("a part is cut at character boundaries");
    let after = whole.get(start + part.len()..).expect("a part is cut at character boundaries");
    (before, after)
}

/// The text from the end of `left` to the start of `right`, both slices of `whole`.
pub(super) fn between<'r>(whole: &'r str, left: &str, right: &str) -> &'r str {
    let start = offset_in(whole, left) + left.len();
    whole.get(start..offset_in(whole, right)).expect("the parts are cut at character boundaries, in order")
}

/// A string as written, without its quotes.
pub(super) fn unquoted(text: &str) -> &str {
    text.get(1..text.len() - 1).expect("a string token has two quotes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_come_with_their_keys_in_order() {
        let of = |text: &str| {
            let found = leaves(text)?;
            Some(found.iter().map(|(key, text)| format!("{key}={text}")).collect::<Vec<_>>())
        };
        assert_eq!(
            of(r#"{"a": "x\ny", "b": [1, -2, {"c": 1.50}], "d": true, "e": null}"#).expect("JSON"),
            ["a=x\ny", "b=1", "b=-2", "c=1.50"]
        );
        assert_eq!(of(r#"" \ud83d ""#).expect("half a character is none"), ["= \u{fffd} "]);
        for text in ["", "ls -l {", r#"{"a": "x"} and more"#, r#"{"a": "x""#] {
            assert_eq!(of(text), None, "{text}");
        }
        let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(of(&nested(MAX_DEPTH)).expect("as deep as can be"), ["=1"]);
        assert_eq!(of(&nested(100_000)), None);
    }
}
