//! Arguments of calls that repeat what is shown already: the places of their leaves in the JSON text, and that text with
//! marks inside its strings. Knows leaves and lines; refuses to know where a line is shown, and who may be changed.

use super::json::{Json, Kind};
use super::uses::Text;
use crate::model::ViewOp;

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
