//! What of a text is shown or hidden as one: a line, a member of JSON, a line of a text inside a JSON string. Knows where
//! units stand; refuses to know which of them stay.

use super::json::{Json, Kind, Node};
use super::marks::CHARS_MARK;
use super::uses::{Line, tells_change};

/// Bytes from which a line or a value is cut inside.
pub(super) const LONG: u32 = 240;
/// Bytes of a line of which the first sentence says that a change was made.
const VERDICT: std::ops::RangeInclusive<u32> = 120..=LONG;
/// Bytes in front of JSON on its line, and behind it.
const MAX_BESIDE: usize = 80;
/// Line breaks from which the text in a string is cut by its lines.
const MIN_INNER: usize = 3;

/// A stretch of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) state: u8,
}

/// Why a unit stays, as bits of its state.
pub(super) mod state {
    /// It shows a value that is used later.
    pub(in crate::walk) const PIN: u8 = 1;
    /// It tells what the whole was.
    pub(in crate::walk) const SKELETON: u8 = 2;
    /// It tells what is in the text, and there is room.
    pub(in crate::walk) const FILLER: u8 = 8;
    /// It stays although nothing uses it.
    pub(in crate::walk) const DISTRACTOR: u8 = 16;
    /// It stays as a whole, however long it is.
    pub(in crate::walk) const WHOLE: u8 = 32;
    /// It is shorter than what would say that it is hidden.
    pub(in crate::walk) const BRIDGE: u8 = 4;
    /// It says how something ended, and is never taken.
    pub(in crate::walk) const OUTCOME: u8 = 64;
    /// A person's own words, or the first of what he pastes.
    pub(in crate::walk) const OWN: u8 = 128;
}

impl Unit {
    pub(super) fn len(&self) -> u32 {
        self.to - self.from
    }

    pub(super) fn is_shown(&self) -> bool {
        self.state != 0
    }
}

/// What a line is made of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// One unit.
    Plain,
    /// JSON with this root, up to this byte.
    Json { root: u32, end: u32 },
}

/// The units of a text; the memory is reused.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "it is the word for them")]
pub(super) struct Units {
    pub(super) json: Json,
    pub(super) units: Vec<Unit>,
    /// The first unit of each line, and behind them the number of units.
    pub(super) first: Vec<u32>,
    pub(super) forms: Vec<Form>,
    /// The first unit of each value of JSON that has one.
    pub(super) of_node: Vec<u32>,
    /// The whole text is JSON.
    pub(super) is_document: bool,
    /// It stands on one line, and is laid out.
    pub(super) is_one_line: bool,
}

impl Units {
    /// Cuts the text `bytes[from..to]` with these lines.
    pub(super) fn cut(&mut self, bytes: &[u8], (from, to): (usize, usize), lines: &[Line]) {
        self.json.nodes.clear();
        self.units.clear();
        self.first.clear();
        self.forms.clear();
        self.of_node.clear();
        self.is_document = false;
        self.is_one_line = lines.iter().filter(|line| line.len > 0).count() == 1;
        if let Some((root, _)) = self.document(bytes, from, to) {
            self.is_document = true;
            self.first.push(0);
            self.forms.push(Form::Json { root, end: to as u32 });
            self.leaves(bytes, root);
        } else {
            for line in lines {
                self.line(bytes, line);
            }
        }
        self.first.push(self.units.len() as u32);
    }

    /// Hides units that only tell what the whole was, but for how it ended and what is shown whole, unless they `stay`.
    pub(super) fn thin(&mut self, stay: impl Fn(&Unit) -> bool) {
        for unit in self.units.iter_mut().filter(|unit| unit.state == state::SKELETON && !stay(unit)) {
            unit.state = 0;
        }
    }

    /// The root of a text that is JSON as a whole.
    fn document(&mut self, bytes: &[u8], from: usize, to: usize) -> Option<(u32, usize)> {
        let text = bytes[from..to].trim_ascii();
        let is_json = matches!((text.first(), text.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')));
        let start = from + bytes[from..to].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let is_whole = |root: &Node, end: usize| end == start + text.len() && root.n_members > 0;
        is_json.then(|| self.json.read(bytes, (start, to), is_whole)).flatten()
    }

    fn line(&mut self, bytes: &[u8], line: &Line) {
        self.first.push(self.units.len() as u32);
        // A line with a number in front is one of a listing: laid out it would break the count.
        let is_numbered = || bytes[line.from as usize..line.bare(bytes).0].iter().any(u8::is_ascii_digit);
        if line.to - line.from > LONG
            && !is_numbered()
            && let Some((root, end)) = self.inside(bytes, line.from as usize, line.to as usize)
        {
            self.forms.push(Form::Json { root, end: end as u32 });
            self.leaves(bytes, root);
            return;
        }
        self.forms.push(Form::Plain);
        self.units.push(Unit { from: line.from, to: line.to, state: 0 });
    }

    /// JSON with little beside it on its line.
    fn inside(&mut self, bytes: &[u8], from: usize, to: usize) -> Option<(u32, usize)> {
        let n_beside = memchr::memchr2(b'{', b'[', &bytes[from..to.min(from + MAX_BESIDE)])?;
        let fits = |root: &Node, end: usize| to - end <= MAX_BESIDE && root.n_members > 0;
        self.json.read(bytes, (from + n_beside, to), fits)
    }

    fn leaves(&mut self, bytes: &[u8], root: u32) {
        self.of_node.resize(self.json.nodes.len(), u32::MAX);
        for number in root as usize..self.json.nodes.len() {
            let node = self.json.nodes[number];
            self.of_node[number] = self.units.len() as u32;
            if !node.kind.is_scalar() && node.n_members > 0 {
                continue;
            }
            let mut from = node.from;
            if node.kind == Kind::String && node.to - node.value > LONG {
                let text = &bytes[node.value as usize..node.to as usize];
                let breaks = || inner_breaks(text);
                if breaks().count() >= MIN_INNER {
                    for at in breaks() {
                        let to = node.value + at as u32 + 2;
                        self.units.push(Unit { from, to, state: 0 });
                        from = to;
                    }
                }
            }
            self.units.push(Unit { from, to: node.to, state: 0 });
        }
    }

    /// Where a line ends for a reader who is to see that a change was made, and nothing else: behind its first sentence.
    pub(super) fn verdict_of(&self, bytes: &[u8], line: &Line, number: usize) -> Option<u32> {
        let unit = self.units.get(self.first[number] as usize)?;
        let text = &bytes[line.from as usize..line.to as usize];
        let is_verdict = unit.state == state::SKELETON | state::OUTCOME && tells_change(text);
        if !is_verdict || !VERDICT.contains(&(line.to - line.from)) {
            return None;
        }
        let end = memchr::memmem::find(text, b". ")?;
        Some(line.from + end as u32 + 1).filter(|end| line.to - end > CHARS_MARK)
    }

    /// The unit at a byte, or the one before it.
    pub(super) fn at(&self, byte: u32) -> usize {
        self.units.partition_point(|unit| unit.from <= byte).saturating_sub(1)
    }

    /// The units of a value of JSON and of all that is in it.
    pub(super) fn within(&self, node: u32) -> std::ops::Range<usize> {
        let end = self.json.node(node).to;
        let first = self.of_node[node as usize] as usize;
        let n = self.units[first..].partition_point(|unit| unit.from < end);
        first..first + n
    }
}

/// The places of `\n` in the text of a JSON string.
fn inner_breaks(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut skip = 0;
    memchr::memchr_iter(b'\\', text).filter(move |&at| {
        if at < skip {
            return false;
        }
        skip = at + 2;
        text.get(at + 1) == Some(&b'n')
    })
}
