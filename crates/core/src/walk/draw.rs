//! Draws a text from the states of its units: what stays in its place, and a mark for each stretch that does not. Knows
//! units, lines and JSON; refuses to know why a unit stays.

use super::codes;
use super::formats::{Format, Lines, What};
use super::json::{Kind, Node};
use super::looks;
use super::marks::{CHARS_MARK, LINE_MARK, MEMBERS_MARK, Mark, Piece, SAID_MARK};
use super::pins::Span;
use super::said::Said;
use super::units::{Form, LONG, Unit, Units, state};
use super::uses::Line;
use super::windows::windows;

/// Bytes of one line between shown lines that is shown.
const MAX_BRIDGE: u32 = 40;
/// Bytes of an inner record that stays whole once something of it does.
const MAX_RECORD: u32 = 160;
/// Bytes of a member by which a record is known.
const MAX_HEAD: u32 = 100;
/// Bytes of repeated lines for which the place is named that has them.
const MIN_SAID: u32 = 200;
/// Members that name a record.
const NAMES: [&[u8]; 6] = [b"id", b"name", b"title", b"path", b"file", b"key"];

/// Draws one text.
#[derive(Debug)]
pub(super) struct Draw<'t> {
    bytes: &'t [u8],
    lines: &'t [Line],
    format: Format,
    said: &'t [Option<Said>],
    units: &'t mut Units,
    spans: &'t [Span],
    /// Shown units before each unit.
    shown: Vec<u32>,
    pieces: Vec<Piece>,
}

impl<'t> Draw<'t> {
    pub(super) fn new(
        Lines { bytes, lines }: Lines<'t>,
        format: Format,
        said: &'t [Option<Said>],
        units: &'t mut Units,
        spans: &'t [Span],
    ) -> Self {
        Self { bytes, lines, format, said, units, spans, shown: Vec::new(), pieces: Vec::with_capacity(16) }
    }

    /// The pieces of the text.
    pub(super) fn draw(mut self, (from, to): (usize, usize)) -> Vec<Piece> {
        if let Some(mark) = self.said_value() {
            return vec![Piece::Mark(mark)];
        }
        self.heads();
        let mut n_shown = 0;
        self.shown.push(n_shown);
        self.shown.extend(self.units.units.iter().map(|unit| {
            n_shown += u32::from(unit.is_shown());
            n_shown
        }));
        if self.units.is_document {
            let (node, end) = self.root(0);
            self.copy(from as u32, node.value);
            self.value(node_number(&self.units.forms[0]), 0);
            self.copy(end, to as u32);
        } else {
            self.text();
        }
        codes::without(self.bytes, (from, to), self.pieces)
    }

    fn root(&self, line: usize) -> (Node, u32) {
        let number = node_number(&self.units.forms[line]);
        let node = *self.units.json.node(number);
        (node, node.to)
    }

    /// The mark for JSON that an earlier message shows whole.
    fn said_value(&self) -> Option<Mark> {
        if !self.units.is_document || self.units.units.iter().any(|unit| unit.state & state::PIN != 0) {
            return None;
        }
        let mut solid = (0..self.lines.len()).filter(|&line| self.lines[line].len > 0);
        let first = self.said[solid.next()?]?;
        let is_same = |line: usize| self.said[line].is_some_and(|said| said.is_visible && said.by == first.by);
        (first.is_visible && solid.all(is_same)).then_some(Mark::Value { by: first.by, is_visible: true })
    }

    /// What a record is known by stays with whatever of it stays; a short one stays whole.
    fn heads(&mut self) {
        let Units { json, units, of_node, .. } = &mut *self.units;
        for (number, node) in json.nodes.iter().enumerate() {
            if node.kind != Kind::Object || node.n_members == 0 {
                continue;
            }
            let first = of_node[number] as usize;
            let n_units = units[first..].partition_point(|unit| unit.from < node.to);
            let within = &mut units[first..first + n_units];
            if !within.iter().any(Unit::is_shown) {
                continue;
            }
            if node.depth > 0 && node.to - node.value <= MAX_RECORD {
                for unit in within {
                    unit.state |= state::BRIDGE;
                }
                continue;
            }
            let mut n_heads = 0;
            for member in json.members(number as u32) {
                let scalar = json.node(member);
                let is_short = scalar.kind.is_scalar() && scalar.to - scalar.from <= MAX_HEAD;
                let key = &self.bytes[scalar.key.0 as usize..scalar.key.1 as usize];
                if is_short && (n_heads == 0 || n_heads == 1 && names(key)) {
                    n_heads += 1;
                    units[of_node[member as usize] as usize].state |= state::SKELETON;
                }
            }
        }
    }

    fn text(&mut self) {
        let n = self.lines.len();
        let mut at = 0;
        while at < n {
            if self.is_shown(at) {
                self.line(at);
                at += 1;
                continue;
            }
            // Each conversation that shows some of the lines has a mark of its own.
            let elsewhere = |line: usize| self.said[line].map(|said| said.by).filter(|by| by.message().is_err());
            let by = elsewhere(at);
            let end = (at + 1..n).find(|&next| self.is_shown(next) || elsewhere(next) != by).unwrap_or(n);
            self.hidden(at, end);
            at = end;
        }
    }

    fn hidden(&mut self, at: usize, end: usize) {
        let (from, to) = (self.lines[at].from, self.lines[end - 1].to);
        let n_lines = self.n_lines(at, end);
        let is_between = n_lines == 1 && at > 0 && end < self.lines.len();
        let text = Lines { bytes: self.bytes, lines: self.lines };
        let first = (at..end).find(|&line| self.lines[line].len > 0);
        let is_reminder = end == text.len() && first.is_some() && looks::reminder(text) == first;
        let said = if is_reminder { None } else { self.said_by(at, end) };
        let mark = if said.is_some() { SAID_MARK } else { LINE_MARK };
        let limit = if is_between { mark.max(MAX_BRIDGE) } else { mark };
        if to - from <= limit {
            for line in at..end {
                self.units.units[self.units.first[line] as usize].state |= state::BRIDGE;
                self.copy_line(line);
            }
            return;
        }
        let what = || if is_reminder { What::Reminder } else { self.format.what(text, (at, end)) };
        let mark = said.unwrap_or_else(|| Mark::Lines { n: n_lines, what: what() });
        self.mark(from, mark);
    }

    /// The mark for hidden lines of which an earlier message has enough.
    fn said_by(&self, at: usize, end: usize) -> Option<Mark> {
        let solid = || (at..end).filter(|&line| self.lines[line].len > 0);
        let said = || solid().filter_map(|line| Some((self.said[line]?, self.lines[line].len)));
        let by = said().max_by_key(|(said, len)| (said.is_visible, *len))?.0.by;
        let of = |needs_visible: bool| {
            let own = said().filter(move |(said, _)| said.by == by && (said.is_visible || !needs_visible));
            own.fold((0, 0), |(n, n_bytes), (_, len)| (n + 1, n_bytes + len))
        };
        let (known, visible, n_solid) = (of(false), of(true), solid().count() as u32);
        // Where most of the lines are new the place of the others says little.
        let is_most = |n: u32| n * 2 >= n_solid;
        let is_visible = visible.0 == known.0 || known.0 < n_solid && visible.1 >= MIN_SAID && is_most(visible.0);
        let (n_said, n_bytes) = if is_visible { visible } else { known };
        let n_lines = self.n_lines(at, end);
        let n_said = if n_said == n_solid { n_lines } else { n_said };
        (n_bytes >= MIN_SAID && is_most(n_said)).then_some(Mark::Said { n_lines, n_said, by, is_visible })
    }

    /// Lines, without the empty one behind the last line break of a text.
    fn n_lines(&self, at: usize, end: usize) -> u32 {
        let is_end = |line: &Line| end == self.lines.len() && line.from == line.to;
        (end - at) as u32 - u32::from(end - at > 1 && self.lines.last().is_some_and(is_end))
    }

    fn is_shown(&self, line: usize) -> bool {
        self.shown[self.units.first[line] as usize] < self.shown[self.units.first[line + 1] as usize]
    }

    fn is_whole(&self, line: usize) -> bool {
        self.units.units[self.units.first[line] as usize].state & state::WHOLE != 0
    }

    fn end_of_line(&self, line: usize) -> u32 {
        self.lines[line].to + u32::from(line + 1 < self.lines.len())
    }

    fn copy_line(&mut self, line: usize) {
        self.copy(self.lines[line].from, self.end_of_line(line));
    }

    fn copy(&mut self, from: u32, to: u32) {
        match self.pieces.last_mut() {
            Some(Piece::Copy { to: last, .. }) if *last == from => *last = to,
            _ if from == to => {}
            _ => self.pieces.push(Piece::Copy { from, to }),
        }
    }

    /// A mark for what is hidden from `from`; where it follows another one, an empty copy says where that one ends.
    fn mark(&mut self, from: u32, mark: Mark) {
        if let Some(Piece::Mark(_)) = self.pieces.last() {
            self.pieces.push(Piece::Copy { from, to: from });
        }
        self.pieces.push(Piece::Mark(mark));
    }

    fn line(&mut self, number: usize) {
        let line = self.lines[number];
        match self.units.forms[number] {
            Form::Json { root, end } => {
                self.copy(line.from, self.units.json.node(root).value);
                self.value(root, 0);
                self.copy(end, self.end_of_line(number));
            }
            Form::Plain if line.to - line.from > LONG && !self.is_whole(number) => {
                self.windows(line.from, line.to);
                self.copy(line.to, self.end_of_line(number));
            }
            Form::Plain => match self.units.verdict_of(self.bytes, &line, number) {
                Some(end) => {
                    self.copy(line.from, end);
                    self.hidden_chars(end, line.to);
                    self.copy(line.to, self.end_of_line(number));
                }
                None => self.copy_line(number),
            },
        }
    }

    fn hidden_chars(&mut self, from: u32, to: u32) {
        self.mark(from, Mark::chars(&self.bytes[from as usize..to as usize]));
    }

    /// The parts of a long stretch that stay.
    fn windows(&mut self, from: u32, to: u32) {
        let first = self.spans.partition_point(|span| span.from < from);
        let n = self.spans[first..].partition_point(|span| span.from < to);
        let mark = CHARS_MARK as usize;
        let stay = windows(self.bytes, (from as usize, to as usize), &self.spans[first..first + n], mark);
        let mut at = from as usize;
        for (start, end) in stay.into_iter().chain([(to as usize, to as usize)]) {
            if start > at {
                self.hidden_chars(at as u32, start as u32);
            }
            self.copy(start as u32, end as u32);
            at = end;
        }
    }

    fn n_shown(&self, node: u32) -> (usize, usize) {
        let within = self.units.within(node);
        ((self.shown[within.end] - self.shown[within.start]) as usize, within.len())
    }

    /// A value of JSON; on one line it is laid out one member a line.
    fn value(&mut self, number: u32, depth: u32) {
        let node = *self.units.json.node(number);
        let (n_shown, n_units) = self.n_shown(number);
        if node.kind.is_scalar() {
            if node.to - node.value <= LONG || n_units == 1 && node.kind != Kind::String {
                self.copy(node.value, node.to);
            } else if n_units == 1 {
                self.copy(node.value, node.value + 1);
                self.windows(node.value + 1, node.to - 1);
                self.copy(node.to - 1, node.to);
            } else {
                self.inner_lines(number);
            }
            return;
        }
        if n_shown == n_units && node.to - node.value <= MAX_RECORD {
            return self.copy(node.value, node.to);
        }
        self.copy(node.value, node.value + 1);
        let members: Vec<u32> = self.units.json.members(number).collect();
        let mut at = 0;
        let mut end = node.value + 1;
        while at < members.len() {
            let first = *self.units.json.node(members[at]);
            let n_hidden = members[at..].iter().take_while(|&&member| self.n_shown(member).0 == 0).count();
            self.gap(end, first.from, depth + 1);
            if n_hidden == 0 {
                self.copy(first.from, first.value);
                self.value(members[at], depth + 1);
                end = self.comma(first.to, at + 1 < members.len());
                at += 1;
                continue;
            }
            let last = self.units.json.node(members[at + n_hidden - 1]).to;
            at += n_hidden;
            let goes_on = at < members.len();
            end = if goes_on { self.behind_comma(last) } else { last };
            if last - first.from <= MEMBERS_MARK {
                self.copy(first.from, end);
                continue;
            }
            let n = n_hidden as u32;
            let mark = match node.kind {
                Kind::Object => Mark::Members { n, goes_on },
                _ => Mark::Items { n, goes_on },
            };
            self.mark(first.from, mark);
        }
        self.gap(end, node.to - 1, depth);
        self.copy(node.to - 1, node.to);
    }

    /// The white space between two members, or the layout instead of it.
    fn gap(&mut self, from: u32, to: u32, depth: u32) {
        if self.units.is_document && !self.units.is_one_line {
            self.copy(from, to);
        } else {
            self.pieces.push(Piece::Break(depth));
        }
    }

    fn behind_comma(&self, at: u32) -> u32 {
        let skip = memchr::memchr(b',', &self.bytes[at as usize..]).expect("members are separated by commas");
        at + skip as u32 + 1
    }

    fn comma(&mut self, at: u32, goes_on: bool) -> u32 {
        if !goes_on {
            return at;
        }
        let behind = self.behind_comma(at);
        self.copy(behind - 1, behind);
        behind
    }

    /// A text inside a JSON string, by its lines.
    fn inner_lines(&mut self, node: u32) {
        let within = self.units.within(node);
        let begin = self.units.json.node(node).value;
        let mut at = within.start;
        while at < within.end {
            let unit = self.units.units[at];
            let n_hidden = self.units.units[at..within.end].iter().take_while(|unit| !unit.is_shown()).count();
            let is_edge = at == within.start;
            if n_hidden == 0 || is_edge {
                self.inner_line(unit.from.max(begin), unit.to, is_edge, at + 1 == within.end);
                at += 1;
                continue;
            }
            // The last line ends with the quote.
            let n_hidden = if at + n_hidden == within.end { n_hidden - 1 } else { n_hidden };
            if n_hidden == 0 {
                self.inner_line(unit.from, unit.to, false, true);
                at += 1;
                continue;
            }
            let end = self.units.units[at + n_hidden - 1].to;
            if end - unit.from <= LINE_MARK {
                self.copy(unit.from, end);
            } else {
                self.mark(unit.from, Mark::InnerLines(n_hidden as u32));
            }
            at += n_hidden;
        }
    }

    /// A line of a text inside a JSON string; the first begins with the quote, the last ends with it.
    fn inner_line(&mut self, from: u32, to: u32, is_first: bool, is_last: bool) {
        if to - from <= LONG {
            return self.copy(from, to);
        }
        let (begin, end) = (from + u32::from(is_first), to - u32::from(is_last));
        self.copy(from, begin);
        self.windows(begin, end);
        self.copy(end, to);
    }
}

fn node_number(form: &Form) -> u32 {
    match form {
        Form::Json { root, .. } => *root,
        Form::Plain => 0,
    }
}

fn names(key: &[u8]) -> bool {
    let folded = key.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        folded.strip_suffix(*name).is_some_and(|before| before.is_empty() || before.ends_with(b"_") || before.len() > 1)
    })
}
