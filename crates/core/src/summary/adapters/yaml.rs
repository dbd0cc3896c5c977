//! YAML: keys and short values stay; long values, blocks of text and comments become extracts in their places, long
//! lists of items of one form show their ends. What comes out is YAML.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::adapter::{Adapter, Wanted, is_candidate};
use super::passages::{Passages, is_prose};
use super::yaml_lines::{Kind, YamlLine, lines};
use super::yaml_lists::{hidden_items, mark};
use crate::model::Reason;
use crate::summary::draft::Draft;
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{Span, TextView};

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

/// The adapter for YAML.
#[derive(Debug, Clone, Copy)]
pub struct Yaml;

impl Adapter for Yaml {
    fn name(&self) -> &'static str {
        "yaml"
    }

    fn reason(&self) -> Reason {
        Reason::AdapterYaml
    }

    fn detect(&self, text: &TextView<'_>) -> bool {
        if !is_candidate(text) {
            return false;
        }
        let lines = lines(text);
        let first = lines.iter().find(|line| !matches!(line.kind, Kind::Blank | Kind::Comment | Kind::Mark));
        let begins = first.is_some_and(|line| matches!(line.kind, Kind::Key | Kind::Item));
        begins && has_keys(text.text, &lines) && can_shrink(text, &lines)
    }

    fn compress(&self, spoken: &Spoken<'_>, wanted: &Wanted<'_>) -> Option<Draft> {
        let view = &spoken.view;
        let lines = lines(view);
        let mut passages = Passages::of(spoken, wanted);
        let mut edits = Edits::of(view);
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
        edits.finish()
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
