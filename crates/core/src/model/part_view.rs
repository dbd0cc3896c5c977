//! What is shown of a text of a message: stretches of it and what is inserted between them, so that what is hidden is their
//! complement. Knows the form in which the sidecar holds that; refuses to know why something is hidden.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
    /// What is shown, in its order. Copies ascend, and between two marks there is one, which may be empty. As JSON two numbers are a
    /// copy, of bytes that are passed over and bytes that are copied; a text with a `#` is a mark, whose number stands behind the last
    /// one, where it does not follow that of the mark before it; any other is what else was inserted:
    /// `[0,120,"⋯ 3 lines #4\n",290,9,"\n"]`.
    #[serde(serialize_with = "as_list", deserialize_with = "of_list")]
    pub ops: Vec<ViewOp>,
}

/// What a view shows in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ViewOp {
    /// Bytes of the original: the first, and the one behind the last.
    Copy(usize, usize),
    /// A mark, and its number in the conversation.
    Mark(String, u32),
    /// What else the original does not have, such as a line break that lays out JSON.
    Insert(String),
}

/// An operation, or a half of one, in the list of a view.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Listed {
    Bytes(usize),
    /// A mark with a `#`, or what else was inserted without one.
    Text(String),
    /// What was inserted with one.
    Inserted((String,)),
    /// A mark whose text does not say its number.
    Numbered(String, u32),
}

/// The number of marks, whose digits stand behind their last `#`; one that follows that of the mark before it is not listed.
#[derive(Default)]
struct Numbers(Option<u32>);

impl Numbers {
    fn is_next(&mut self, number: u32) -> bool {
        self.0.replace(number).and_then(|last| last.checked_add(1)) == Some(number)
    }

    /// A mark as it is listed.
    fn listed(&mut self, mark: &str, number: u32) -> Listed {
        let is_next = self.is_next(number);
        match digits(mark) {
            Some(digits) if mark.get(digits.clone()) == Some(&*number.to_string()) => {
                let begin = if is_next { digits.start } else { digits.end };
                Listed::Text([mark.split_at(begin).0, mark.split_at(digits.end).1].concat())
            }
            _ => Listed::Numbered(mark.to_owned(), number),
        }
    }

    /// The mark that is listed so; `None` where nothing says its number.
    fn mark(&mut self, listed: &str, digits: Range<usize>) -> Option<ViewOp> {
        let (before, behind) = (listed.get(..digits.start)?, listed.get(digits.end..)?);
        let number = match listed.get(digits)? {
            "" => self.0?.checked_add(1)?,
            told => told.parse().ok()?,
        };
        self.0 = Some(number);
        Some(ViewOp::Mark(format!("{before}{number}{behind}"), number))
    }
}

/// Where the digits behind the last `#` of a mark stand.
fn digits(mark: &str) -> Option<Range<usize>> {
    let from = mark.rfind('#')? + 1;
    let n = mark.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    Some(from..from + n)
}

fn as_list<S: Serializer>(ops: &[ViewOp], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = Vec::with_capacity(2 * ops.len());
    let (mut end, mut numbers) = (0, Numbers::default());
    for op in ops {
        match op {
            ViewOp::Copy(from, to) => {
                list.extend([from.saturating_sub(end), to.saturating_sub(*from)].map(Listed::Bytes));
                end = *to;
            }
            ViewOp::Mark(text, number) => list.push(numbers.listed(text, *number)),
            ViewOp::Insert(text) if text.contains('#') => list.push(Listed::Inserted((text.clone(),))),
            ViewOp::Insert(text) => list.push(Listed::Text(text.clone())),
        }
    }
    list.serialize(serializer)
}

fn of_list<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<ViewOp>, D::Error> {
    let wrong = || serde::de::Error::custom("the operations of a view are torn");
    let (mut ops, mut end, mut numbers) = (Vec::new(), 0_usize, Numbers::default());
    let mut list = Vec::<Listed>::deserialize(deserializer)?.into_iter();
    while let Some(listed) = list.next() {
        ops.push(match listed {
            Listed::Bytes(skipped) => {
                let Some(Listed::Bytes(n)) = list.next() else { return Err(wrong()) };
                let from = end.checked_add(skipped).ok_or_else(wrong)?;
                end = from.checked_add(n).ok_or_else(wrong)?;
                ViewOp::Copy(from, end)
            }
            Listed::Text(text) => match digits(&text) {
                Some(digits) => numbers.mark(&text, digits).ok_or_else(wrong)?,
                None => ViewOp::Insert(text),
            },
            Listed::Numbered(text, number) => {
                numbers.is_next(number);
                ViewOp::Mark(text, number)
            }
            Listed::Inserted((text,)) => ViewOp::Insert(text),
        });
    }
    Ok(ops)
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
        let json = "{\"part\":0,\"ops\":[0,1,\"\\n \",\"⋯ #1\",\"\\n\",14,1,\"⋯ #\",3,0,[\"⋯ 5#4\",3]]}";
        let view: PartView = serde_json::from_str(json).expect("a view");
        assert_eq!(serde_json::to_string(&view).expect("a view"), json);
        assert_eq!(view.apply(original).as_deref(), Some("{\n ⋯ #1\n}⋯ #2⋯ 5#4"));
        assert_eq!(view.marks().collect::<Vec<_>>(), [1, 2, 3]);
        let hidden = |number| view.hidden(number, original).map(|hidden| hidden.text);
        assert_eq!([1, 2, 3, 4].map(hidden), [Some("\"a\": 1, \"b\": 2"), Some("beh"), Some("ind"), None]);
        assert_eq!(view.gaps(original), [(2, "\"a\": 1, \"b\": 2"), (5, "beh"), (7, "ind")]);
        let first =
            HiddenText { before: "{\n ".to_owned(), text: "\"a\": 1, \"b\": 2", behind: "\n}⋯ #2⋯ 5#4".to_owned() };
        assert_eq!(view.hidden(1, original), Some(first));
        for torn in ["[1]", "[1,\"⋯ #1\",2]", "[\"⋯ #\"]", "[18446744073709551615,1]"] {
            assert!(serde_json::from_str::<PartView>(&format!("{{\"part\":0,\"ops\":{torn}}}")).is_err(), "{torn}");
        }
    }

    #[test]
    fn a_number_that_follows_the_last_one_is_not_listed() {
        for (ops, marks) in [
            ("[[\"#\"],\"⋯ #7 a\",\"⋯ # b\",\"⋯ #10\",\"⋯ #\"]", vec![7, 8, 10, 11]),
            ("[[\"⋯\",3],\"⋯ #\",\"⋯ #4294967295\",[\"⋯ #01\",1]]", vec![3, 4, u32::MAX, 1]),
        ] {
            let json = format!("{{\"part\":0,\"ops\":{ops}}}");
            let view: PartView = serde_json::from_str(&json).expect("a view");
            assert_eq!(serde_json::to_string(&view).expect("a view"), json);
            assert_eq!(view.marks().collect::<Vec<_>>(), marks);
        }
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
