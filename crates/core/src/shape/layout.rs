//! The layout text: what a row or a condensed record does not say about the bytes of the original. One line per
//! fact, told apart by the first character; templates are JSON text in which `$` marks holes.
//!
//! | line | holds |
//! |---|---|
//! | `r` | the record, with `$M` for its messages |
//! | `t` | empty: the record is no JSON, and what is written for it is its row |
//! | `k` | the key of the list of messages; empty when the record is the list |
//! | `l` | the keys that lead to the list of messages, as a JSON list, where it stands deeper or its key is none of the usual ones |
//! | `s` | a text that stands between two messages, one line per distinct text |
//! | `p` | which of them stands where; left out when there is only one |
//! | `m` | a message, one line per distinct template |
//! | `q` | the template of each kept message in input order; left out when there is only one |
//! | `i` | for a list of events: which items pass through (0) and which are messages (1), in order |
//! | `o` | the input indices of kept messages in output order; left out when ascending |
//!
//! In a sequence an entry is its number in base 26 (upper-case digits, the last one lower-case) and how often it
//! is repeated: `a50bca3`. In a template `$$` is a dollar sign and `$n` a line end; `$R1` is the role written in
//! style 1, `$C0` the content as it stands in its column, `$X` the next value of `extra`. Between the messages of an
//! event log `$E` is the next event that passes through, `$L` the next text that is no event.

use std::borrow::Cow;

use foldhash::HashMap;

use super::escape::{Style, encode};
use super::json::{Raw, items};

/// Keys of a path.
const MAX_KEYS: usize = 32;

/// Why a record could not be put together again; a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RestoreError(pub String);

/// What a hole takes its text from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Role,
    Content,
    Name,
    ToolCallId,
    ToolCalls,
    Metadata,
    /// The next value of the `extra` object.
    Extra,
    /// The messages.
    Messages,
    /// The next event that passes through.
    Event,
    /// The next text that passes through.
    Line,
}

const COLUMNS: [(Column, char); 11] = [
    (Column::Id, 'I'),
    (Column::Role, 'R'),
    (Column::Content, 'C'),
    (Column::Name, 'N'),
    (Column::ToolCallId, 'K'),
    (Column::ToolCalls, 'T'),
    (Column::Metadata, 'D'),
    (Column::Extra, 'X'),
    (Column::Messages, 'M'),
    (Column::Event, 'E'),
    (Column::Line, 'L'),
];

impl Column {
    fn letter(self) -> char {
        COLUMNS.iter().find(|(column, _)| *column == self).map_or('?', |&(_, letter)| letter)
    }

    /// True when a hole also says in which style the text is written.
    fn is_styled(self) -> bool {
        !matches!(self, Self::ToolCalls | Self::Metadata | Self::Extra | Self::Messages | Self::Event | Self::Line)
    }
}

/// Appends literal text to a template.
pub(super) fn push_literal(text: &str, template: &mut String) {
    if memchr::memchr2(b'$', b'\n', text.as_bytes()).is_none() {
        template.push_str(text);
        return;
    }
    for char in text.chars() {
        match char {
            '$' => template.push_str("$$"),
            '\n' => template.push_str("$n"),
            _ => template.push(char),
        }
    }
}

/// Appends a hole; without a style the text is copied as it is.
pub(super) fn push_hole(column: Column, style: Option<Style>, template: &mut String) {
    template.push('$');
    template.push(column.letter());
    if column.is_styled() {
        template.push(style.map_or('0', Style::code));
    }
}

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'l> {
    Text(&'l str),
    Hole(Column, Option<Style>),
}

/// Cuts a template into its pieces.
pub(super) fn pieces(template: &str) -> Result<Vec<Piece<'_>>, RestoreError> {
    let mut pieces = Vec::new();
    let mut parts = template.split('$');
    pieces.extend(parts.next().filter(|text| !text.is_empty()).map(Piece::Text));
    while let Some(part) = parts.next() {
        let mut chars = part.chars();
        match chars.next() {
            // `$$`: the split saw an empty part between the two signs.
            None => {
                pieces.push(Piece::Text("$"));
                pieces.extend(parts.next().filter(|text| !text.is_empty()).map(Piece::Text));
                continue;
            }
            Some('n') => pieces.push(Piece::Text("\n")),
            Some(letter) => {
                let column = COLUMNS.iter().find(|(_, known)| *known == letter).map(|&(column, _)| column);
                let column = column.ok_or_else(|| damaged("unknown hole"))?;
                let code = if column.is_styled() { chars.next() } else { None };
                pieces.push(Piece::Hole(column, code.and_then(Style::from_code)));
            }
        }
        let rest = chars.as_str();
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest));
        }
    }
    Ok(pieces)
}

/// Distinct texts and the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Table {
    distinct: Vec<String>,
    known: HashMap<String, usize>,
    /// Number of the text, and how often it comes in a row.
    runs: Vec<(usize, usize)>,
}

impl Table {
    pub(super) fn push(&mut self, text: &str) {
        if let Some((last, n)) = self.runs.last_mut()
            && self.distinct.get(*last).is_some_and(|known| known == text)
        {
            *n += 1;
            return;
        }
        let number = self.known.get(text).copied().unwrap_or_else(|| {
            let number = self.distinct.len();
            self.distinct.push(text.to_owned());
            self.known.insert(text.to_owned(), number);
            number
        });
        self.runs.push((number, 1));
    }

    pub(super) fn write(&self, line: char, sequence: char, layout: &mut String) {
        for text in &self.distinct {
            layout.push(line);
            layout.push_str(text);
            layout.push('\n');
        }
        if self.distinct.len() > 1 {
            layout.push(sequence);
            self.runs.iter().for_each(|&run| push_run(run, layout));
            layout.push('\n');
        }
    }
}

fn push_run((number, n): (usize, usize), layout: &mut String) {
    push_number(number, layout);
    if n > 1 {
        layout.push_str(&n.to_string());
    }
}

fn push_number(number: usize, layout: &mut String) {
    let mut letters = vec![char::from(b'a' + (number % 26) as u8)];
    let mut rest = number / 26;
    while rest > 0 {
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    layout.extend(letters.into_iter().rev());
}

/// A layout that was read.
#[derive(Debug, Default)]
pub(super) struct Layout<'l> {
    pub record: Option<&'l str>,
    pub is_text: bool,
    pub key: Option<&'l str>,
    pub path: Option<Vec<Cow<'l, str>>>,
    pub separators: Vec<&'l str>,
    pub separator_runs: Option<Runs>,
    pub messages: Vec<&'l str>,
    pub message_runs: Option<Runs>,
    pub items: Option<Runs>,
    pub order: Option<Vec<usize>>,
}

/// The order of the entries of a table, run by run.
pub(super) type Runs = Vec<(usize, usize)>;

impl<'l> Layout<'l> {
    pub(super) fn read(text: &'l str) -> Result<Self, RestoreError> {
        let mut layout = Self::default();
        for line in text.split_terminator('\n') {
            let mut chars = line.chars();
            let kind = chars.next();
            let rest = chars.as_str();
            match kind {
                Some('r') => layout.record = Some(rest),
                Some('t') => layout.is_text = true,
                Some('k') => layout.key = Some(rest),
                Some('l') => layout.path = Some(path(rest)?),
                Some('s') => layout.separators.push(rest),
                Some('p') => layout.separator_runs = Some(runs(rest)?),
                Some('m') => layout.messages.push(rest),
                Some('q') => layout.message_runs = Some(runs(rest)?),
                Some('i') => layout.items = Some(runs(rest)?),
                Some('o') => {
                    let order = rest.split(',').map(|index| index.parse::<usize>().ok()).collect::<Option<_>>();
                    layout.order = Some(order.ok_or_else(|| damaged("an index is no number"))?);
                }
                _ => return Err(damaged("unknown line")),
            }
        }
        Ok(layout)
    }
}

/// The numbers of a table's entries in order; 0 for ever when there is no sequence.
pub(super) fn sequence(runs: Option<&Runs>) -> impl Iterator<Item = usize> {
    let forever = if runs.is_none() { usize::MAX } else { 0 };
    let listed = runs.into_iter().flatten().flat_map(|&(number, n)| std::iter::repeat_n(number, n));
    listed.chain(std::iter::repeat_n(0, forever))
}

fn path(text: &str) -> Result<Vec<Cow<'_, str>>, RestoreError> {
    let mut keys = Vec::new();
    items(text, |key| keys.push(Raw::string(key)));
    let keys = keys.into_iter().collect::<Option<Vec<_>>>();
    keys.filter(|keys| (1..=MAX_KEYS).contains(&keys.len())).ok_or_else(|| damaged("a path is none"))
}

/// Appends the line that says where the list of messages is.
pub(super) fn write_path(keys: &[Cow<'_, str>], layout: &mut String) {
    layout.push_str("l[");
    for (at, key) in keys.iter().enumerate() {
        layout.push_str(if at > 0 { "," } else { "" });
        encode(key, Style::MINIMAL, layout);
    }
    layout.push_str("]\n");
}

fn runs(text: &str) -> Result<Runs, RestoreError> {
    let mut runs = Runs::new();
    let mut number = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let digit = char.to_ascii_lowercase();
        if !digit.is_ascii_lowercase() {
            return Err(damaged("a sequence has a strange character"));
        }
        number = number.saturating_mul(26).saturating_add(digit as usize - 'a' as usize);
        if char.is_ascii_lowercase() {
            let mut n = 0_usize;
            while let Some(digit) = chars.peek().and_then(|char| char.to_digit(10)) {
                n = n.saturating_mul(10).saturating_add(digit as usize);
                chars.next();
            }
            runs.push((std::mem::take(&mut number), n.max(1)));
        }
    }
    Ok(runs)
}

/// Appends the line that says which items of a list of events are messages.
pub(super) fn write_items(are_messages: impl Iterator<Item = bool>, layout: &mut String) {
    let mut runs = Runs::new();
    for kind in are_messages.map(usize::from) {
        match runs.last_mut() {
            Some((last, n)) if *last == kind => *n += 1,
            _ => runs.push((kind, 1)),
        }
    }
    layout.push('i');
    for run in runs {
        push_run(run, layout);
    }
    layout.push('\n');
}

/// Appends the line that says in which order kept messages stand, when they do not ascend.
pub(super) fn write_order(kept: &[usize], layout: &mut String) {
    if !kept.is_sorted() {
        layout.push('o');
        let indices: Vec<String> = kept.iter().map(usize::to_string).collect();
        layout.push_str(&indices.join(","));
        layout.push('\n');
    }
}

pub(super) fn damaged(what: &str) -> RestoreError {
    RestoreError(format!("the layout is damaged: {what}"))
}
