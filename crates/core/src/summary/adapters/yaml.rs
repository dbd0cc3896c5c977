//! YAML: keys and short values stay; long values, blocks of text and comments become extracts in their places, long
//! lists of items of one form show their ends. What comes out is YAML. Knows lines by their signs and indents.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::adapter::{Wanted, count, is_candidate, plural};
use super::columns::{Column, describe};
use super::passages::{Passages, is_prose};
use super::rows::reports_failure;
use crate::summary::draft::Draft;
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{Severity, Span, TextView};

const MIN_LINES: usize = 4;
/// So many of the lines must have a key, and so many of the keys must differ.
const MIN_KEY_SHARE: f64 = 0.35;
const MIN_DISTINCT_SHARE: f64 = 0.25;
/// So few of the lines may be neither keys, nor items, nor indented.
const MAX_ODD_SHARE: f64 = 0.03;
/// So many of the keys must be single words: what has blanks in it heads a letter or the answer of a tool.
const MIN_PLAIN_SHARE: f64 = 0.6;
/// A document in which nothing is indented must have more keys.
const MIN_FLAT_KEYS: usize = 6;
/// Shorter comments stay.
const MIN_COMMENT_CHARS: usize = 200;
/// So much of the text must be of a kind that can become shorter.
const MIN_SHARE: f64 = 0.25;

/// True for YAML with something in it that can become shorter.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    if !is_candidate(text) {
        return false;
    }
    let lines = lines(text);
    let first = lines.iter().find(|line| !matches!(line.kind, Kind::Blank | Kind::Comment | Kind::Mark));
    let begins = first.is_some_and(|line| matches!(line.kind, Kind::Key | Kind::Item));
    begins && has_keys(text.text, &lines) && can_shrink(text, &lines)
}

/// Shortens such a text.
pub(super) fn edit(spoken: &Spoken<'_>, wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    let view = &spoken.view;
    let lines = lines(view);
    let mut passages = Passages::of(spoken, wanted);
    let mut hidden = hidden_items(view, &lines, wanted.is_tight()).into_iter().peekable();
    for passage in long_texts(view.text, &lines) {
        while let Some(items) = hidden.next_if(|items| items.span.start <= passage.span.start) {
            edits.replace(items.span, &mark(&items));
        }
        if passage.span.start < edits.at() {
            continue;
        }
        if let Some(words) = passages.shorten_text(&passage.text) {
            let mut draft = Draft::default();
            draft.say(&passage.lead);
            draft.append(&words);
            edits.replace(passage.span, &draft);
        }
    }
    for items in hidden {
        edits.replace(items.span, &mark(&items));
    }
}

fn has_keys(text: &str, lines: &[YamlLine]) -> bool {
    let mut keys: HashSet<&str, FixedState> = HashSet::default();
    let (mut n_keys, mut n_plain, mut n_items, mut n_lines, mut n_odd) = (0_usize, 0_usize, 0_usize, 0_usize, 0_usize);
    let mut is_nested = false;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at = block_end(text, lines, at).unwrap_or(at + 1);
        if matches!(line.kind, Kind::Blank | Kind::Comment) {
            continue;
        }
        n_lines += 1;
        n_odd += usize::from(line.kind == Kind::Other && line.indent == 0);
        n_items += usize::from(line.is_item);
        is_nested |= line.indent > 0 && line.kind == Kind::Key || line.kind == Kind::Mark;
        if line.kind == Kind::Key {
            let key = line.key.of(text);
            n_keys += 1;
            n_plain += usize::from(!key.contains(' '));
            keys.insert(key);
        }
    }
    // Items of a list repeat their keys.
    let distinct = keys.len() as f64 >= (n_keys.saturating_sub(n_items * 3)) as f64 * MIN_DISTINCT_SHARE;
    n_lines >= MIN_LINES
        && n_keys >= 2
        && (is_nested || n_keys >= MIN_FLAT_KEYS)
        && n_plain as f64 >= MIN_PLAIN_SHARE * n_keys as f64
        && (n_keys + n_items) as f64 >= MIN_KEY_SHARE * n_lines as f64
        && n_odd as f64 <= MAX_ODD_SHARE * n_lines as f64
        && distinct
}

fn can_shrink(text: &TextView<'_>, lines: &[YamlLine]) -> bool {
    let words: usize = long_texts(text.text, lines).iter().map(|passage| passage.span.len()).sum();
    let items: usize = hidden_items(text, lines, false).iter().map(|items| items.span.len()).sum();
    (words + items) as f64 >= MIN_SHARE * text.covered().len() as f64
}

/// A long text in the document.
struct Passage {
    /// Where it stands.
    span: Span,
    /// What it says.
    text: String,
    /// What goes before its extract.
    lead: String,
}

/// The lines that the block `key: |` in line `at` has: up to the first that is indented no further.
fn block_end(text: &str, lines: &[YamlLine], at: usize) -> Option<usize> {
    let line = lines.get(at)?;
    let value = line.value.of(text);
    let behind = value.strip_prefix(['|', '>'])?;
    let is_block =
        behind.split(" #").next().unwrap_or_default().trim().bytes().all(|byte| b"+-0123456789".contains(&byte));
    is_block.then(|| {
        run_end(lines, at, |next| next.kind == Kind::Blank || next.span.is_empty() || next.indent > line.indent)
    })
}

fn run_end(lines: &[YamlLine], at: usize, goes_on: impl Fn(&YamlLine) -> bool) -> usize {
    let mut end = at + 1;
    while lines.get(end).is_some_and(&goes_on) {
        end += 1;
    }
    while end > at + 1 && lines[end - 1].kind == Kind::Blank {
        end -= 1;
    }
    end
}

/// Values, blocks of text and comments that are long and made of words, in order.
fn long_texts(text: &str, lines: &[YamlLine]) -> Vec<Passage> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        let (end, passage) = match line.kind {
            Kind::Comment => comment(text, lines, at),
            Kind::Key | Kind::Item if !line.value.is_empty() => match block_end(text, lines, at) {
                Some(end) => (end, block(text, lines, at, end)),
                None => scalar(text, lines, at),
            },
            _ => (at + 1, None),
        };
        found.extend(passage.filter(|passage| is_prose(&passage.text) || passage.text.len() > 400));
        at = end;
    }
    found
}

fn joined(text: &str, lines: &[YamlLine], strip: impl Fn(&YamlLine) -> u32) -> String {
    let mut out = String::new();
    for line in lines {
        if !out.is_empty() {
            out.push('\n');
        }
        let from = (line.span.start + strip(line)).min(line.span.end);
        out.push_str(Span { start: from, end: line.span.end }.of(text));
    }
    out
}

/// Neighbouring lines of comment.
fn comment(text: &str, lines: &[YamlLine], at: usize) -> (usize, Option<Passage>) {
    let first = &lines[at];
    let end = run_end(lines, at, |next| next.kind == Kind::Comment && next.indent == first.indent);
    let run = &lines[at..end];
    let words = run.iter().map(|line| line.span.of(text).trim_start_matches([' ', '#'])).collect::<Vec<_>>().join("\n");
    let span = Span { start: first.span.start + first.indent, end: lines[end - 1].span.end };
    let is_long = words.chars().nth(MIN_COMMENT_CHARS - 1).is_some();
    (end, is_long.then(|| Passage { span, text: words, lead: "# ".to_owned() }))
}

/// The lines of a block of text.
fn block(text: &str, lines: &[YamlLine], at: usize, end: usize) -> Option<Passage> {
    let run = lines.get(at + 1..end)?;
    let first = run.iter().find(|line| line.kind != Kind::Blank)?;
    let words = joined(text, run, |line| line.indent.min(first.indent));
    let span = Span { start: run.first()?.span.start, end: run.last()?.span.end };
    Some(Passage { span, text: words, lead: " ".repeat(first.indent as usize) })
}

/// A value behind a key or the sign of an item, with the lines that go on with it.
fn scalar(text: &str, lines: &[YamlLine], at: usize) -> (usize, Option<Passage>) {
    let line = &lines[at];
    let end = run_end(lines, at, |next| next.kind == Kind::Other && next.indent > line.indent);
    let mut words = line.value.of(text).to_owned();
    for next in &lines[at + 1..end] {
        words.push('\n');
        words.push_str(next.span.of(text).trim_start());
    }
    let span = Span { start: line.value.start, end: lines[end - 1].span.end };
    let lead = format!(">-\n{}", " ".repeat(line.key_indent as usize + 2));
    (end, plain(&words).map(|text| Passage { span, text, lead }))
}

/// The words of a value; `None` for collections, anchors, tags and quotes that do not end.
fn plain(value: &str) -> Option<String> {
    match value.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.ends_with(b"\\") => {
            Some(value.get(1..value.len() - 1)?.replace("\\n", "\n").replace("\\t", " ").replace("\\\"", "\""))
        }
        [b'\'', .., b'\''] if value.len() > 1 => Some(value.get(1..value.len() - 1)?.replace("''", "'")),
        [b'"' | b'\'' | b'[' | b'{' | b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`', ..] => None,
        _ => Some(value.to_owned()),
    }
}

/// A key is no longer than this.
const MAX_KEY: usize = 60;
const MAX_KEY_WORDS: usize = 4;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Comment,
    /// `---`, `...`
    Mark,
    /// `key: value`; the value may be empty.
    Key,
    /// `- value`, without a key behind the sign.
    Item,
    Other,
}

/// One line.
#[derive(Debug, Clone, Copy)]
struct YamlLine {
    /// Without the number of a viewer.
    span: Span,
    kind: Kind,
    /// Blanks before the first sign.
    indent: u32,
    /// Blanks before the key, behind the sign of an item.
    key_indent: u32,
    /// An item begins here.
    is_item: bool,
    key: Span,
    value: Span,
}

/// All lines of a text.
fn lines(text: &TextView<'_>) -> Vec<YamlLine> {
    text.lines.iter().map(|line| YamlLine::of(text.text, line.body(text.text))).collect()
}

impl YamlLine {
    fn of(text: &str, span: Span) -> Self {
        let body = span.of(text);
        let mut rest = body.trim_start_matches(' ');
        let mut indent = (body.len() - rest.len()) as u32;
        let none = Span { start: span.end, end: span.end };
        let mut line =
            Self { span, kind: Kind::Other, indent, key_indent: indent, is_item: false, key: none, value: none };
        line.kind = match rest.as_bytes() {
            [] => Kind::Blank,
            [b'#', ..] => Kind::Comment,
            b"---" | b"..." => Kind::Mark,
            [b'-'] => Kind::Item,
            _ => Kind::Other,
        };
        if line.kind != Kind::Other {
            line.is_item = line.kind == Kind::Item;
            return line;
        }
        while let Some(behind) = rest.strip_prefix("- ") {
            let inner = behind.trim_start_matches(' ');
            indent += (rest.len() - inner.len()) as u32;
            rest = inner;
            line.is_item = true;
        }
        line.key_indent = indent;
        let start = span.end - rest.len() as u32;
        if let Some(len) = key_len(rest) {
            line.kind = Kind::Key;
            line.key = Span { start, end: start + len as u32 };
            let value = rest.get(len + 1..).unwrap_or_default().trim_start();
            line.value = Span { start: span.end - value.len() as u32, end: span.end };
        } else if line.is_item {
            line.kind = Kind::Item;
            line.value = Span { start, end: span.end };
        }
        line
    }
}

/// Bytes of the key that `rest` begins with.
fn key_len(rest: &str) -> Option<usize> {
    let quote = rest.chars().next().filter(|sign| matches!(sign, '"' | '\''));
    let colon = if let Some(sign) = quote {
        rest.get(1..)?.bytes().take(MAX_KEY).position(|byte| byte == sign as u8)? + 2
    } else {
        let is_end =
            |&(at, byte): &(usize, u8)| byte == b':' && rest.as_bytes().get(at + 1).is_none_or(u8::is_ascii_whitespace);
        let at = rest.bytes().enumerate().take(MAX_KEY).find(is_end)?.0;
        let mut before = b' ';
        for byte in rest.bytes().take(at) {
            let is_word = byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./$<@%()".contains(&byte);
            if !is_word && (byte != b' ' || before == b' ') {
                return None;
            }
            before = byte;
        }
        at
    };
    let key = rest.get(..colon)?;
    let is_key = rest.as_bytes().get(colon) == Some(&b':')
        && rest.as_bytes().get(colon + 1).is_none_or(u8::is_ascii_whitespace)
        && !key.trim().is_empty()
        && !key.ends_with(' ')
        && key.split(' ').count() <= MAX_KEY_WORDS;
    is_key.then_some(colon)
}

/// A shorter list is shown whole.
const MIN_ITEMS: usize = 10;
/// So many of the items must have the form that most have.
const MIN_SAME_SHARE: f64 = 0.8;
/// Items that are shown at the start, and at the end.
const HEAD: usize = 2;
const TAIL: usize = 1;
/// Items are named when they are no more, no longer, and shorter in one line than in their own.
const MAX_VALUES: usize = 100;
const MAX_VALUE: usize = 60;
const MAX_VALUES_SHARE: f64 = 0.75;
/// Keys of an item whose values are looked at.
const MAX_KEYS: usize = 32;
/// Fewer neighbours are shown.
const MIN_HIDDEN: usize = 4;

/// Neighbouring items that are left out.
struct Items<'a> {
    /// From the sign of the first to the end of the last.
    span: Span,
    n: usize,
    names: Vec<Cow<'a, str>>,
    columns: Vec<Column<'a>>,
    /// The items themselves where they are few and short.
    values: Vec<&'a str>,
}

/// `# [… 41 items — id: 4 to 44; kind: disk ×41]`; short values are all named: `# [… 41 items — bodyclose, dupl, …]`.
fn mark(items: &Items<'_>) -> Draft {
    let mut out = Draft::default();
    out.say(&format!("# [… {} item{} — ", count(items.n), plural(items.n)));
    if items.values.is_empty() {
        out.append(&describe(&items.names, &items.columns));
    }
    for (at, value) in items.values.iter().enumerate() {
        out.say(if at > 0 { ", " } else { "" });
        out.quote(value);
    }
    out.say("]");
    out
}

struct List {
    indent: u32,
    /// The lines in which the items begin.
    starts: Vec<usize>,
}

/// What is left out of the lists, in order and apart from each other.
fn hidden_items<'a>(view: &TextView<'a>, lines: &[YamlLine], is_tight: bool) -> Vec<Items<'a>> {
    let mut found = Vec::new();
    let mut open: Vec<List> = Vec::new();
    let head = if is_tight { 1 } else { HEAD };
    let mut close = |list: List, end: usize| hide(view, lines, &list, end, head, &mut found);
    for (at, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Blank | Kind::Comment) {
            continue;
        }
        while open.last().is_some_and(|list| list.indent > line.indent || !line.is_item && list.indent == line.indent) {
            close(open.pop().expect("there is a last one"), at);
        }
        match open.last_mut().filter(|list| line.is_item && list.indent == line.indent) {
            Some(list) => list.starts.push(at),
            None if line.is_item => open.push(List { indent: line.indent, starts: vec![at] }),
            None => {}
        }
    }
    while let Some(list) = open.pop() {
        close(list, lines.len());
    }
    found.sort_by_key(|items| (items.span.start, std::cmp::Reverse(items.span.end)));
    let mut end = 0;
    found.retain(|items| {
        let is_apart = items.span.start >= end;
        end = end.max(items.span.end);
        is_apart
    });
    found
}

fn hide<'a>(view: &TextView<'a>, lines: &[YamlLine], list: &List, end: usize, head: usize, found: &mut Vec<Items<'a>>) {
    let n = list.starts.len();
    if n < MIN_ITEMS {
        return;
    }
    let bounds = |item: usize| list.starts[item]..list.starts.get(item + 1).copied().unwrap_or(end);
    let shapes: Vec<u64> = (0..n).map(|item| shape(view.text, &lines[bounds(item)])).collect();
    let mut tally: HashMap<u64, usize, FixedState> = HashMap::default();
    for &shape in &shapes {
        *tally.entry(shape).or_default() += 1;
    }
    let most = shapes.iter().copied().max_by_key(|shape| tally[shape]);
    let Some(most) = most.filter(|shape| tally[shape] as f64 >= MIN_SAME_SHARE * n as f64) else { return };
    let reports = |item: usize| {
        let severities = view.lines.get(bounds(item)).unwrap_or_default();
        severities.iter().any(|line| matches!(line.severity, Severity::Failure | Severity::Warning))
            || lines[bounds(item)].iter().any(|line| reports_failure(line.value.of(view.text)))
    };
    let is_hidden = |item: usize| (head..n - TAIL).contains(&item) && shapes[item] == most && !reports(item);
    let mut item = 0;
    while item < n {
        let first = item;
        while item < n && is_hidden(item) {
            item += 1;
        }
        if item - first >= MIN_HIDDEN {
            found.push(items(view.text, lines, list, first..item, bounds(item - 1).end));
        }
        item += usize::from(item == first);
    }
}

/// The keys of an item, as one number.
fn shape(text: &str, item: &[YamlLine]) -> u64 {
    let indent = item.first().map_or(0, |line| line.key_indent);
    let keys: Vec<&str> = item
        .iter()
        .filter(|line| line.kind == Kind::Key && line.key_indent == indent)
        .map(|line| line.key.of(text))
        .collect();
    FixedState::default().hash_one(keys)
}

fn items<'a>(text: &'a str, lines: &[YamlLine], list: &List, range: std::ops::Range<usize>, end: usize) -> Items<'a> {
    let first = &lines[list.starts[range.start]];
    let last = lines[..end].iter().rev().find(|line| line.kind != Kind::Blank).unwrap_or(first);
    let mut names: Vec<Cow<'a, str>> = Vec::new();
    let mut columns: Vec<Column<'a>> = Vec::new();
    let key_indent = first.key_indent;
    for line in lines.get(list.starts[range.start]..end).unwrap_or_default() {
        let is_scalar = line.kind == Kind::Item && line.indent == list.indent;
        let is_key = line.kind == Kind::Key && line.key_indent == key_indent;
        if !is_scalar && (!is_key || line.value.is_empty()) {
            continue;
        }
        let key = line.key.of(text);
        let at = names.iter().position(|name| name == key).unwrap_or(names.len());
        if at == MAX_KEYS {
            continue;
        }
        if at == names.len() {
            names.push(Cow::Borrowed(key));
            columns.push(Column::default());
        }
        columns[at].add(Cow::Borrowed(line.value.of(text)));
    }
    let span = Span { start: first.span.start + first.indent, end: last.span.end };
    let values: Vec<&'a str> = range
        .clone()
        .map(|item| &lines[list.starts[item]])
        .filter(|line| line.kind == Kind::Item)
        .map(|line| line.value.of(text))
        .collect();
    let n_bytes: usize = values.iter().map(|value| value.len() + 2).sum();
    let are_short = values.len() == range.len()
        && values.len() <= MAX_VALUES
        && values.iter().all(|value| !value.is_empty() && value.len() <= MAX_VALUE)
        && n_bytes as f64 <= MAX_VALUES_SHARE * span.len() as f64;
    Items { span, n: range.len(), names, columns, values: if are_short { values } else { Vec::new() } }
}

#[cfg(test)]
mod tests {
    use super::{Kind, YamlLine};
    use crate::text::Span;

    #[test]
    fn a_line_is_read_by_its_signs() {
        for (text, kind, is_item, key, value) in [
            ("name: api", Kind::Key, false, "name", "api"),
            ("  \"a b\": 1", Kind::Key, false, "\"a b\"", "1"),
            ("- - id: 7", Kind::Key, true, "id", "7"),
            ("- plain words", Kind::Item, true, "", "plain words"),
            ("empty:", Kind::Key, false, "empty", ""),
            ("https://example.org", Kind::Other, false, "", ""),
            ("this is a sentence with many words: so", Kind::Other, false, "", ""),
            ("# note", Kind::Comment, false, "", ""),
            ("---", Kind::Mark, false, "", ""),
            ("", Kind::Blank, false, "", ""),
        ] {
            let line = YamlLine::of(text, Span { start: 0, end: text.len() as u32 });
            assert_eq!(
                (line.kind, line.is_item, line.key.of(text), line.value.of(text)),
                (kind, is_item, key, value),
                "{text}"
            );
        }
    }
}
