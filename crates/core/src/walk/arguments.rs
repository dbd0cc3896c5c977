//! Arguments of calls that repeat what is shown already: which of their lines give way, the places of their leaves in the JSON
//! text, and that text with marks inside its strings. Knows leaves and lines; refuses to know who may be changed.

use super::formats::What;
use super::held;
use super::json::{Json, Kind};
use super::marks::{Mark, Writer, n_chars};
use super::said::Run;
use super::uses::{Line, Place, Text};
use super::worth as chosen;
use super::{Rules, UsedText, Walker};
use crate::model::{Conversation, PartView, UnitCounts, UnitNote, UnitReason, ViewOp};

/// Characters of a value of which something may be hidden.
pub(super) const MIN_VALUE: usize = 400;
/// Bytes of a value that another one may refer to.
pub(super) const MIN_SHOWN: usize = 200;

/// A stretch of a leaf that a mark stands for.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    /// Number of the leaf among those of the call.
    pub(super) leaf: usize,
    /// Its first byte in the buffer, and the one behind the last.
    pub(super) bytes: (usize, usize),
    /// The mark, without a line break.
    pub(super) mark: String,
    /// Number of the mark.
    pub(super) number: u32,
    /// It ends with a line break.
    pub(super) goes_on: bool,
}

/// What is shown of the arguments `written` of a call, whose leaves stand in the buffer as `leaves`; `None` where the places
/// of the leaves are not found.
pub(super) fn view(written: &str, leaves: &[Text], stretches: &[Stretch]) -> Option<Vec<ViewOp>> {
    // What is no JSON is one leaf, as it is written.
    let is_raw = leaves.len() == 1 && leaves[0].to - leaves[0].from == written.len();
    let strings = if is_raw { Vec::new() } else { strings(written)? };
    if !is_raw && strings.len() != leaves.len() {
        return None;
    }
    let (mut ops, mut end) = (Vec::new(), 0);
    for of_leaf in stretches.chunk_by(|a, b| a.leaf == b.leaf) {
        let leaf = leaves[of_leaf[0].leaf];
        let (mut at, mut decoded) = (if is_raw { 0 } else { strings[of_leaf[0].leaf]? + 1 }, leaf.from);
        for stretch in of_leaf {
            let mut seek = |to: usize| {
                if is_raw {
                    return Some(to - leaf.from);
                }
                at = behind(written.as_bytes(), at, to - decoded)?;
                decoded = to;
                Some(at)
            };
            let (from, to) = (seek(stretch.bytes.0)?, seek(stretch.bytes.1)?);
            ops.push(ViewOp::Copy(end, from));
            let end_of_line = if stretch.goes_on { "\n" } else { "" };
            let text = format!("{}{end_of_line}", stretch.mark);
            let mark = if is_raw { text } else { inside_string(text)? };
            ops.push(ViewOp::Mark(mark, stretch.number));
            end = to;
        }
    }
    ops.push(ViewOp::Copy(end, written.len()));
    Some(ops)
}

/// A text as it stands in a JSON string.
fn inside_string(text: String) -> Option<String> {
    let quoted = serde_json::Value::String(text).to_string();
    Some(quoted.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

/// Where the opening quotes of the leaves of a JSON text are, in their order; `None` for a leaf that is a number.
fn strings(written: &str) -> Option<Vec<Option<usize>>> {
    let mut json = Json::default();
    let bytes = written.as_bytes();
    let from = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
    json.read(bytes, (from, bytes.len()), |_, end| bytes[end..].iter().all(u8::is_ascii_whitespace))?;
    let leaf = |value: usize, kind: Kind| match (kind, bytes[value]) {
        (Kind::String, _) => Some(Some(value)),
        (Kind::Literal, b'-' | b'0'..=b'9') => Some(None),
        _ => None,
    };
    Some(json.nodes.iter().filter_map(|node| leaf(node.value as usize, node.kind)).collect())
}

/// The place in a JSON string `n` bytes of its text behind `at`.
fn behind(json: &[u8], mut at: usize, n: usize) -> Option<usize> {
    let mut left = n;
    while left > 0 {
        let taken = match json.get(at)? {
            b'"' => return None,
            b'\\' if json.get(at + 1)? == &b'u' => {
                let unit = |at: usize| u32::from_str_radix(std::str::from_utf8(json.get(at..at + 4)?).ok()?, 16).ok();
                let first = unit(at + 2)?;
                let is_pair = (0xD800..0xDC00).contains(&first);
                at += if is_pair { 12 } else { 6 };
                if is_pair { 4 } else { char::from_u32(first)?.len_utf8() }
            }
            b'\\' => {
                at += 2;
                1
            }
            _ => {
                at += 1;
                1
            }
        };
        left = left.checked_sub(taken)?;
    }
    Some(at)
}

/// What of a text does not stay, as stretches of whole lines and of parts of one; `true` for whole lines.
fn gaps(bytes: &[u8], text: &Text, pieces: impl Iterator<Item = chosen::Stretch>) -> Vec<(usize, usize, bool)> {
    let begins_line = |at: usize| at == text.from || bytes[at - 1] == b'\n';
    let ends_line = |at: usize| at == text.to || bytes[at] == b'\n';
    let mut gaps: Vec<(usize, usize, bool)> = Vec::new();
    for piece in pieces.filter(|piece| !piece.stays) {
        let (from, to) = (piece.from as usize, piece.to as usize);
        match gaps.last_mut() {
            // The next piece of a line, or the next line.
            Some(last) if last.1 == from && !begins_line(from) => last.1 = to,
            Some(last) if last.1 + 1 == from && begins_line(last.0) && ends_line(to) && last.2 => last.1 = to,
            _ => gaps.push((from, to, false)),
        }
        if let Some(last) = gaps.last_mut() {
            last.2 = begins_line(last.0) && ends_line(last.1);
        }
    }
    gaps
}

impl Walker {
    /// True for an argument of which something may be hidden.
    pub(super) fn is_long_argument(&self, text: &Text) -> bool {
        n_chars(&self.texts.bytes()[text.from..text.to]) as usize > MIN_VALUE
    }

    /// Hides of the long arguments of a message what is not likely to be used, where that saves enough.
    pub(super) fn guess_arguments(
        &mut self,
        conversation: &Conversation<'_>,
        texts: std::ops::Range<usize>,
        rules: Rules<'_>,
        writer: &mut Writer,
        views: &mut Vec<UsedText>,
    ) {
        let bytes = self.texts.bytes();
        let leaves: Vec<(usize, Text)> =
            texts.map(|number| (number, self.texts.all()[number])).filter(|(_, text)| text.by.is_argument()).collect();
        let label = |of: Place| held::label(&self.asked, conversation, of);
        let mark = |from: usize, to: usize, is_lines: bool| {
            let hidden = &bytes[from..to];
            let n = 1 + memchr::memchr_iter(b'\n', hidden).count() as u32;
            if is_lines { Mark::Lines { n, what: What::Lines } } else { Mark::chars(hidden) }
        };
        let saves = |from: usize, to: usize, is_lines: bool| {
            let n_mark = writer.at_most(bytes, mark(from, to, is_lines), label);
            n_chars(&bytes[from..to]).saturating_sub(n_mark) as usize
        };
        let hidden: Vec<Vec<(usize, usize, bool)>> = leaves
            .iter()
            .map(|(number, leaf)| {
                let mut gaps = gaps(bytes, leaf, self.worth.stretches(*number));
                gaps.retain(|&(from, to, is_lines)| saves(from, to, is_lines) > 0);
                gaps
            })
            .collect();
        let saved: usize = hidden.iter().flatten().map(|&(from, to, is_lines)| saves(from, to, is_lines)).sum();
        if saved < rules.min_saving.max(1) {
            return;
        }
        let mut first = 0;
        for of_call in leaves.chunk_by(|a, b| a.1.part == b.1.part) {
            let gaps = &hidden[first..first + of_call.len()];
            first += of_call.len();
            let (mut stretches, mut units, mut notes) = (Vec::new(), UnitCounts::default(), Vec::new());
            for (leaf, gaps) in gaps.iter().enumerate() {
                let text = of_call[leaf].1;
                for &(from, to, is_lines) in gaps {
                    let mark = mark(from, to, is_lines);
                    let mut written = String::new();
                    let number = writer.write(&mut written, bytes, mark, label);
                    let written = written.trim_end().to_owned();
                    stretches.push(Stretch { leaf, bytes: (from, to), mark: written, number, goes_on: false });
                    let n = 1 + memchr::memchr_iter(b'\n', &bytes[from..to]).count();
                    units.add(UnitReason::Unused, n as u32);
                    let line = 1 + memchr::memchr_iter(b'\n', &bytes[text.from..from]).count();
                    notes.extend(rules.explains.then_some(UnitNote {
                        part: text.part as usize,
                        lines: (line, line + n - 1),
                        bytes: (from - text.from, to - text.from),
                        reason: UnitReason::Unused,
                        used_by: None,
                        said_by: None,
                    }));
                }
            }
            let (message, call) = (of_call[0].1.message as usize, of_call[0].1.part as usize);
            let written = &conversation.messages[message].tool_calls[call].arguments;
            let texts: Vec<Text> = of_call.iter().map(|leaf| leaf.1).collect();
            let ops = if stretches.is_empty() { None } else { view(written, &texts, &stretches) };
            if let Some(ops) = ops {
                let view = PartView { part: 0, call: Some(call), ops };
                let text = view.apply(written).unwrap_or_default();
                views.push(UsedText { message, view, text, lines: Vec::new(), units, notes });
            }
        }
    }

    /// Hides what of the long arguments of a message earlier texts show, where that saves enough, and notes what of them is shown;
    /// where they `yield` that is taken by a budget.
    pub(super) fn arguments(
        &mut self,
        conversation: &Conversation<'_>,
        texts: std::ops::Range<usize>,
        (may_hide, yields): (bool, bool),
        rules: Rules,
        writer: &mut Writer,
        views: &mut Vec<UsedText>,
    ) {
        let leaves: Vec<Text> = self.texts.all()[texts].iter().filter(|text| text.by.is_argument()).copied().collect();
        let Some(message) = leaves.first().map(|leaf| leaf.message as usize) else { return };
        let calls = &conversation.messages[message].tool_calls;
        let bytes = self.texts.bytes();
        let label = |of: Place| held::label(&self.asked, conversation, of);
        let mark = |run: &Run, is_visible: bool| {
            let n_lines = (run.lines.1 - run.lines.0) as u32;
            Mark::Said { n_lines, n_said: n_lines, by: run.by, is_visible }
        };
        let mut read: Vec<(Vec<Line>, Vec<Run>)> = Vec::with_capacity(leaves.len());
        let mut saved = 0;
        for leaf in &leaves {
            let is_short = leaf.to - leaf.from < MIN_SHOWN;
            let lines = if is_short { Vec::new() } else { self.uses.lines_of(bytes, leaf) };
            let is_open = may_hide
                && calls[leaf.part as usize].place.is_some()
                && n_chars(&bytes[leaf.from..leaf.to]) as usize > MIN_VALUE;
            let mut runs = if is_open { self.known.runs(bytes, &lines, &self.uses) } else { Vec::new() };
            runs.retain(|run| {
                let (from, to) = stretch_of(&lines, run.lines);
                let n_hidden = n_chars(&bytes[from..to]);
                let n_mark = writer.at_most(bytes, mark(run, true), label);
                saved += n_hidden.saturating_sub(n_mark) as usize;
                n_hidden > n_mark
            });
            read.push((lines, runs));
        }
        if saved < rules.min_saving.max(1) {
            for (_, runs) in &mut read {
                runs.clear();
            }
        }
        let mut first = 0;
        for of_call in leaves.chunk_by(|a, b| a.part == b.part) {
            let read = &read[first..first + of_call.len()];
            first += of_call.len();
            let (mut stretches, mut units, mut notes) = (Vec::new(), UnitCounts::default(), Vec::new());
            for (leaf, (lines, runs)) in read.iter().enumerate() {
                for run in runs {
                    let mut text = String::new();
                    let number = writer.write(&mut text, self.texts.bytes(), mark(run, run.is_left), label);
                    let (from, to) = stretch_of(lines, run.lines);
                    let goes_on = run.lines.1 < lines.len();
                    let text = text.trim_end().to_owned();
                    stretches.push(Stretch { leaf, bytes: (from, to), mark: text, number, goes_on });
                    units.add(UnitReason::SaidBefore, (run.lines.1 - run.lines.0) as u32);
                    let part = of_call[leaf].part as usize;
                    let bytes = (from - of_call[leaf].from, to - of_call[leaf].from);
                    let (reason, said_by) = (UnitReason::SaidBefore, Some(run.by.message as usize));
                    let lines = (run.lines.0 + 1, run.lines.1);
                    notes.extend(rules.explains.then_some(UnitNote {
                        part,
                        lines,
                        bytes,
                        reason,
                        used_by: None,
                        said_by,
                    }));
                }
            }
            let call = of_call[0].part as usize;
            let written = &calls[call].arguments;
            let ops = if stretches.is_empty() { None } else { view(written, of_call, &stretches) };
            if let Some(ops) = ops {
                let view = PartView { part: 0, call: Some(call), ops };
                let text = view.apply(written).unwrap_or_default();
                views.push(UsedText { message, view, text, lines: Vec::new(), units, notes });
            }
        }
        for (leaf, (lines, runs)) in leaves.iter().zip(&read) {
            let hidden: Vec<(usize, usize)> = runs.iter().map(|run| run.lines).collect();
            self.known.push_argument(leaf.place(), lines, &hidden, yields);
        }
    }
}

/// The bytes of some lines, and of the line break behind them where there is one.
fn stretch_of(lines: &[Line], (first, end): (usize, usize)) -> (usize, usize) {
    let to = lines.get(end).map_or(lines[end - 1].to, |next| next.from);
    (lines[first].from as usize, to as usize)
}

#[cfg(test)]
mod tests {
    use super::{Stretch, view};
    use crate::model::PartView;
    use crate::walk::uses::{SaidBy, Text};

    fn shown(written: &str, leaves: &[&str], hidden: (usize, &str)) -> Option<String> {
        let mut from = 100;
        let texts: Vec<Text> = leaves
            .iter()
            .map(|leaf| {
                let text = Text { from, to: from + leaf.len(), message: 0, part: 0, by: SaidBy::Argument, n_lines: 1 };
                from = text.to + 1;
                text
            })
            .collect();
        let at = leaves[hidden.0].find(hidden.1).expect("it is in the leaf") + texts[hidden.0].from;
        let bytes = (at, at + hidden.1.len());
        let goes_on = hidden.1.ends_with('\n');
        let stretch = Stretch { leaf: hidden.0, bytes, mark: "⋯ \"a\" #1".to_owned(), number: 1, goes_on };
        PartView { part: 0, call: Some(0), ops: view(written, &texts, &[stretch])? }.apply(written)
    }

    #[test]
    fn a_stretch_of_a_string_gives_way_and_everything_around_it_stays() {
        let written = r#" {"n": 1.50, "t": "ä\n\u00e4\ud83d\ude00\tx\nend", "b": true, "l": ["x"]} "#;
        let leaves = ["1.5", "ä\nä😀\tx\nend", "x"];
        let expected = r#" {"n": 1.50, "t": "ä\n⋯ \"a\" #1\nend", "b": true, "l": ["x"]} "#;
        assert_eq!(shown(written, &leaves, (1, "ä😀\tx\n")).as_deref(), Some(expected));
        assert_eq!(shown("a\nb\nc", &["a\nb\nc"], (0, "b\n")).as_deref(), Some("a\n⋯ \"a\" #1\nc"));
        assert_eq!(shown(r#"{"a": "x"}"#, &["x", "y"], (0, "x")), None, "other leaves");
    }
}
