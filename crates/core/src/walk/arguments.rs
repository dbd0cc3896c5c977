//! Arguments of calls that repeat what is shown already, or that are not likely to be used: what of them gives way, the places of
//! their leaves in the JSON text, and that text with marks inside its strings. Knows leaves and lines; refuses to know who may be changed.

use super::formats::What;
use super::held;
use super::json::{Json, Kind};
use super::marks::{Mark, Writer, n_chars};
use super::said::Run;
use super::uses::{Line, Place, Text};
use super::worth;
use super::{LITTLE_SAVING, Rules, UsedText, Walker};
use crate::model::{Conversation, Message, PartView, UnitCounts, UnitNote, UnitReason, ViewOp};

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

/// A stretch of a leaf that may be hidden.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// Its first byte in the buffer, and the one behind the last.
    bytes: (usize, usize),
    /// Its first line in the leaf, and the one behind the last.
    lines: (usize, usize),
    /// What stands for it.
    mark: Mark,
    /// It ends with a line break.
    goes_on: bool,
}

impl Gap {
    /// Lines that an earlier text shows.
    fn said(lines: &[Line], run: &Run) -> Self {
        let n_lines = (run.lines.1 - run.lines.0) as u32;
        let mark = Mark::Said { n_lines, n_said: n_lines, by: run.by, is_visible: run.is_left };
        Self { bytes: stretch_of(lines, run.lines), lines: run.lines, mark, goes_on: run.lines.1 < lines.len() }
    }

    fn reason(&self) -> (UnitReason, Option<usize>) {
        match self.mark {
            Mark::Said { by, .. } => (UnitReason::SaidBefore, Some(by.message as usize)),
            _ => (UnitReason::Unused, None),
        }
    }
}

/// What of a text does not stay: whole lines, and parts of one.
fn gaps(bytes: &[u8], text: &Text, pieces: impl Iterator<Item = worth::Stretch>) -> Vec<Gap> {
    let begins_line = |at: usize| at == text.from || bytes[at - 1] == b'\n';
    let ends_line = |at: usize| at == text.to || bytes[at] == b'\n';
    let is_lines = |(from, to): (usize, usize)| begins_line(from) && ends_line(to);
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for piece in pieces.filter(|piece| !piece.stays) {
        let (from, to) = (piece.from as usize, piece.to as usize);
        match stretches.last_mut() {
            // The next piece of a line, or the next line.
            Some(last) if last.1 == from && !begins_line(from) => last.1 = to,
            Some(last) if last.1 + 1 == from && is_lines(*last) && ends_line(to) => last.1 = to,
            _ => stretches.push((from, to)),
        }
    }
    let n_breaks = |from: usize, to: usize| memchr::memchr_iter(b'\n', &bytes[from..to]).count();
    // The line of the byte up to which lines were counted.
    let (mut line, mut counted) = (0, text.from);
    let gap = |(from, to): (usize, usize)| {
        line += n_breaks(counted, from);
        counted = from;
        let n = 1 + n_breaks(from, to);
        let lines = Mark::Lines { n: n as u32, what: What::Lines };
        let mark = if is_lines((from, to)) { lines } else { Mark::chars(&bytes[from..to]) };
        Gap { bytes: (from, to), lines: (line, line + n), mark, goes_on: false }
    };
    stretches.into_iter().map(gap).collect()
}

impl Walker {
    /// True for an argument of which something may be hidden.
    pub(super) fn is_long_argument(&self, message: &Message<'_>, text: &Text) -> bool {
        let is_long = || n_chars(&self.texts.bytes()[text.from..text.to]) as usize > MIN_VALUE;
        message.tool_calls[text.part as usize].place.is_some() && is_long()
    }

    /// Hides what of the long arguments of a message earlier texts show, or what is not likely to be used, where that saves enough,
    /// and notes what of them is shown; where they `yield` that is taken by a budget.
    pub(super) fn arguments(
        &mut self,
        conversation: &Conversation<'_>,
        texts: std::ops::Range<usize>,
        (may_hide, yields): (bool, bool),
        rules: Rules<'_>,
        writer: &mut Writer,
        views: &mut Vec<UsedText>,
    ) {
        let numbers = texts.filter(|&number| self.texts.all()[number].by.is_argument()).collect::<Vec<_>>();
        let leaves: Vec<Text> = numbers.iter().map(|&number| self.texts.all()[number]).collect();
        let Some(message) = leaves.first().map(|leaf| leaf.message as usize) else { return };
        let calls = &conversation.messages[message].tool_calls;
        let bytes = self.texts.bytes();
        let label = |of: Place| held::label(&self.asked, conversation, of);
        let mut read: Vec<(Vec<Line>, Vec<Gap>)> = Vec::with_capacity(leaves.len());
        let mut saved = 0;
        for (&number, leaf) in numbers.iter().zip(&leaves) {
            let is_guessed = rules.guesses();
            let is_read = !is_guessed && leaf.to - leaf.from >= MIN_SHOWN;
            let lines = if is_read { self.uses.lines_of(bytes, leaf) } else { Vec::new() };
            let mut hidden: Vec<Gap> = match may_hide && self.is_long_argument(&conversation.messages[message], leaf) {
                false => Vec::new(),
                true if is_guessed => {
                    // The first line tells what it was, as that of a result does.
                    let tells = |piece: &worth::Stretch| {
                        let is_first = piece.from as usize == leaf.from;
                        is_first && worth::tells(piece.to - piece.from) >= rules.level.worth()
                    };
                    gaps(bytes, leaf, self.worth.stretches(number).filter(|piece| !tells(piece)))
                }
                true => {
                    let runs = self.known.runs(bytes, &lines, &self.uses);
                    runs.iter().map(|run| Gap::said(&lines, run)).collect()
                }
            };
            hidden.retain(|gap| {
                let n_hidden = n_chars(&bytes[gap.bytes.0..gap.bytes.1]);
                let n_mark = writer.at_most(bytes, gap.mark.when_visible(), label);
                let saves = n_hidden.saturating_sub(n_mark) as usize;
                let is_worth_it = saves > if is_guessed { LITTLE_SAVING } else { 0 };
                saved += if is_worth_it { saves } else { 0 };
                is_worth_it
            });
            read.push((lines, hidden));
        }
        if saved < rules.min_saving.max(1) {
            for (_, hidden) in &mut read {
                hidden.clear();
            }
        }
        let mut first = 0;
        for of_call in leaves.chunk_by(|a, b| a.part == b.part) {
            let read = &read[first..first + of_call.len()];
            first += of_call.len();
            let (mut stretches, mut units, mut notes) = (Vec::new(), UnitCounts::default(), Vec::new());
            for (leaf, (_, hidden)) in read.iter().enumerate() {
                for gap in hidden {
                    let mut mark = String::new();
                    let number = writer.write(&mut mark, bytes, gap.mark, label);
                    let mark = mark.trim_end().to_owned();
                    stretches.push(Stretch { leaf, bytes: gap.bytes, mark, number, goes_on: gap.goes_on });
                    let (reason, said_by) = gap.reason();
                    units.add(reason, (gap.lines.1 - gap.lines.0) as u32);
                    let from = of_call[leaf].from;
                    notes.extend(rules.explains.then_some(UnitNote {
                        part: of_call[leaf].part as usize,
                        lines: (gap.lines.0 + 1, gap.lines.1),
                        bytes: (gap.bytes.0 - from, gap.bytes.1 - from),
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
                let view = PartView { part: 0, call: Some(call), thought: None, ops };
                let text = view.apply(written).unwrap_or_default();
                views.push(UsedText { message, view, text, lines: Vec::new(), units, notes });
            }
        }
        for (leaf, (lines, hidden)) in leaves.iter().zip(&read) {
            let hidden: Vec<(usize, usize)> = hidden.iter().map(|gap| gap.lines).collect();
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
    use crate::model::{LookAhead, PartView, ViewOp};
    use crate::walk::tests::{Said, conversation};
    use crate::walk::uses::{SaidBy, Text};
    use crate::walk::{LITTLE_SAVING, Level, MOST_WORTH, Prediction, Rules, Standing, UseModel, Walker};

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
        PartView { part: 0, call: Some(0), thought: None, ops: view(written, &texts, &[stretch])? }.apply(written)
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

    #[test]
    fn a_line_of_an_edit_stays_where_its_mark_would_be_nearly_as_long() {
        let edit = |at: usize| {
            let lines = |row: usize| {
                let name = format!("value_of_{}", (at * 7 + row) % 23);
                format!("    let {name} = read(input);\n    // {} as it was\n", "so ".repeat(row % 5 + at))
            };
            serde_json::json!({"path": "a.rs", "new_str": (0..40).map(lines).collect::<String>()}).to_string()
        };
        let edits: Vec<String> = (0..12).map(edit).collect();
        let mut said: Vec<Said<'_>> = vec![(SaidBy::Human, "Please mend the parser.", "")];
        for edit in &edits {
            said.extend([(SaidBy::Assistant, "", edit.as_str()), (SaidBy::Result, "The file is written.", "")]);
        }
        let by: Vec<SaidBy> = said.iter().map(|said| said.0).collect();
        let model = UseModel::built_in();
        let mut n_marks = 0;
        for worth in (0..MOST_WORTH).step_by(1_000) {
            let predicts = Some(Prediction { model: &model, how_far: LookAhead::Off, takes_answers: false });
            let level = Level::NOTHING.from_worth(worth);
            let rules = Rules { hides_arguments: true, recency_window: 2, level, predicts, ..Rules::default() };
            for shown in Walker::default().walk(&conversation(&said), &by, rules, &|_| Standing::Open) {
                for window in shown.view.ops.windows(3) {
                    let [ViewOp::Copy(_, from), ViewOp::Mark(mark, _), ViewOp::Copy(to, _)] = window else { continue };
                    n_marks += 1;
                    let hidden = said[shown.message].2.get(*from..*to).expect("a stretch");
                    assert!(hidden.len() > mark.len() + LITTLE_SAVING, "{mark} for {hidden}");
                }
            }
        }
        assert!(n_marks > 100, "{n_marks}");
    }
}
