//! What is shown of a text of a message: stretches of it and what is inserted between them, so that what is hidden is their
//! complement. Knows the form in which the sidecar holds that; refuses to know why something is hidden.

use serde::{Deserialize, Serialize};

/// The view of one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartView {
    /// Index of the text among the parts of its message; 0 when the content is one text.
    pub part: usize,
    /// Number of the call whose arguments are the text, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    /// Number of the text among those of the reasoning of its message, where it is one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<usize>,
    /// What is shown, in its order. Copies ascend, and between two marks there is one, which may be empty.
    pub ops: Vec<ViewOp>,
}

/// What a view shows in one place; as JSON `[0,120]`, `["⋯ 3 lines #4\n",4]` or `"\n  "`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ViewOp {
    /// Bytes of the original: the first, and the one behind the last.
    Copy(usize, usize),
    /// A mark, and its number in the conversation.
    Mark(String, u32),
    /// What else the original does not have, such as a line break that lays out JSON.
    Insert(String),
}

/// A place of a text where something is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenText<'o> {
    /// What is shown before its mark.
    pub before: String,
    /// The original text.
    pub text: &'o str,
    /// What is shown behind its mark.
    pub behind: String,
}

impl PartView {
    /// True for the view of a part of the content: neither of arguments nor of reasoning.
    #[must_use]
    pub fn is_of_content(&self) -> bool {
        self.call.is_none() && self.thought.is_none()
    }

    /// What is shown of `original`; `None` when the view is not of this text.
    #[must_use]
    pub fn apply(&self, original: &str) -> Option<String> {
        let mut end = 0;
        for op in &self.ops {
            if let ViewOp::Copy(from, to) = *op {
                if from < end {
                    return None;
                }
                end = to;
            }
        }
        shown(&self.ops, original)
    }

    /// The numbers of its marks, in their order.
    pub fn marks(&self) -> impl Iterator<Item = u32> {
        self.ops.iter().filter_map(|op| if let ViewOp::Mark(_, number) = op { Some(*number) } else { None })
    }

    /// Where its marks stand among the operations, and what each hides of `original`, in their order.
    #[must_use]
    pub fn gaps<'o>(&self, original: &'o str) -> Vec<(usize, &'o str)> {
        let mut gaps = Vec::new();
        let (mut end, mut mark) = (0, None);
        for (at, op) in self.ops.iter().enumerate() {
            match *op {
                ViewOp::Copy(from, to) => {
                    gaps.extend(mark.take().zip(original.get(end..from)));
                    end = to;
                }
                ViewOp::Mark(..) => mark = Some(at),
                ViewOp::Insert(_) => {}
            }
        }
        gaps.extend(mark.zip(original.get(end..)));
        gaps
    }

    /// What the mark with this number hides of `original`: everything between the copies around it. `None` without such a
    /// mark, and when the view is not of this text.
    #[must_use]
    pub fn hidden<'o>(&self, number: u32, original: &'o str) -> Option<HiddenText<'o>> {
        let at = self.ops.iter().position(|op| matches!(op, ViewOp::Mark(_, other) if *other == number))?;
        let (before, behind) = (self.ops.get(..at)?, self.ops.get(at + 1..)?);
        let copy = |op: &ViewOp| if let ViewOp::Copy(from, to) = *op { Some((from, to)) } else { None };
        let from = before.iter().rev().find_map(copy).map_or(0, |(_, to)| to);
        let to = behind.iter().find_map(copy).map_or(original.len(), |(from, _)| from);
        let text = original.get(from..to)?;
        Some(HiddenText { before: shown(before, original)?, text, behind: shown(behind, original)? })
    }
}

fn shown(ops: &[ViewOp], original: &str) -> Option<String> {
    let piece = |op: &'_ ViewOp| match op {
        ViewOp::Copy(from, to) => original.get(*from..*to).map(str::to_owned),
        ViewOp::Mark(text, _) | ViewOp::Insert(text) => Some(text.clone()),
    };
    ops.iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::{HiddenText, PartView, ViewOp};

    #[test]
    fn a_mark_hides_what_stands_between_the_copies_around_it() {
        let original = "{\"a\": 1, \"b\": 2}behind";
        let json =
            "{\"part\":0,\"ops\":[[0,1],\"\\n \",[\"⋯ #1\",1],\"\\n\",[15,16],[\"⋯ #2\",2],[19,19],[\"⋯ #3\",3]]}";
        let view: PartView = serde_json::from_str(json).expect("a view");
        assert_eq!(serde_json::to_string(&view).expect("a view"), json);
        assert_eq!(view.apply(original).as_deref(), Some("{\n ⋯ #1\n}⋯ #2⋯ #3"));
        assert_eq!(view.marks().collect::<Vec<_>>(), [1, 2, 3]);
        let hidden = |number| view.hidden(number, original).map(|hidden| hidden.text);
        assert_eq!([1, 2, 3, 4].map(hidden), [Some("\"a\": 1, \"b\": 2"), Some("beh"), Some("ind"), None]);
        assert_eq!(view.gaps(original), [(2, "\"a\": 1, \"b\": 2"), (5, "beh"), (7, "ind")]);
        let first =
            HiddenText { before: "{\n ".to_owned(), text: "\"a\": 1, \"b\": 2", behind: "\n}⋯ #2⋯ #3".to_owned() };
        assert_eq!(view.hidden(1, original), Some(first));
    }

    #[test]
    fn a_view_of_another_text_says_nothing() {
        let view = |ops: &[ViewOp]| PartView { part: 0, call: None, thought: None, ops: ops.to_vec() };
        assert_eq!(view(&[ViewOp::Copy(0, 4)]).apply("abc"), None);
        assert_eq!(view(&[ViewOp::Copy(0, 1)]).apply("ü"), None);
        assert_eq!(view(&[ViewOp::Copy(1, 2), ViewOp::Copy(0, 1)]).apply("abc"), None);
        assert_eq!(view(&[ViewOp::Copy(2, 3), ViewOp::Mark("⋯ #1".to_owned(), 1)]).hidden(1, "ab"), None);
    }
}
