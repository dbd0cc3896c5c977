//! What is shown of a text of a message: stretches of it and what is inserted between them, so that what is hidden is their
//! complement. Knows the form in which the sidecar holds that; refuses to know why something is hidden.

use std::iter::repeat_n;
use std::ops::Range;

/// The view of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartView {
    /// Index of the text among the parts of its message; 0 when the content is one text.
    pub part: usize,
    /// Number of the call whose arguments are the text, where they are.
    pub call: Option<usize>,
    /// Number of the text among those of the reasoning of its message, where it is one of them.
    pub thought: Option<usize>,
    /// What is shown, in its order. Copies ascend, and between two marks there is one, which may be empty.
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

/// Views as they are stored: numbers, and the texts that these do not say.
///
/// A view begins with three times the index of its text, and 1 more for arguments of a call, 2 more for reasoning; then comes how many
/// operations it has, and the number of its first mark, or 0 where that follows the last one of the conversation. What an operation is
/// stands in the last two bits of its number, the rest `v` says: 0, `v` bytes of the original are passed over, and so many copied as the
/// next number says; 1, a line break and `v` blanks; 2, the mark `⋯ v lines #n`, with a line feed; 3, the next text, which is a mark whose
/// number stands behind its last `#` where `v` is 0, no mark where it is 1, and else the mark `v - 2`. The number of a mark that follows
/// that of the mark before it is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedViews {
    /// The views, one behind the other.
    pub numbers: Vec<u64>,
    /// What was inserted and no number says.
    pub texts: Vec<String>,
}

const OF_CALL: u64 = 1;
const OF_THOUGHT: u64 = 2;

const COPY: u64 = 0;
const BREAK: u64 = 1;
const LINES: u64 = 2;
const TEXT: u64 = 3;

const MARK: usize = 0;
const NO_MARK: usize = 1;
const NUMBERED: usize = 2;

/// The number that the next mark has unless it says another.
struct Numbers(u32);

impl Numbers {
    /// Begins a view whose first mark has this number, or, where it is 0, the next one.
    fn begin(&mut self, first: u32) {
        if first > 0 {
            self.0 = first;
        }
    }

    /// Notes the number of a mark; true where nothing had to say it.
    fn note(&mut self, number: u32) -> bool {
        std::mem::replace(&mut self.0, number.saturating_add(1)) == number
    }
}

/// Where the digits behind the last `#` of a mark stand.
fn digits(mark: &str) -> Option<Range<usize>> {
    let from = mark.rfind('#')? + 1;
    let n = mark.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    Some(from..from + n)
}

/// How a mark says that it stands for lines, as it is stored: what the walk writes otherwise is a text.
fn of_lines(n: u64, number: u32) -> String {
    format!("⋯ {n} line{} #{number}\n", if n == 1 { "" } else { "s" })
}

/// How many lines a mark says that it stands for, where it says no more.
fn n_lines(mark: &str, number: u32) -> Option<u64> {
    let n = mark.strip_prefix("⋯ ")?.split_once(' ')?.0.parse().ok()?;
    (of_lines(n, number) == mark).then_some(n)
}

/// How many blanks stand behind the line break that a text is.
fn n_blanks(text: &str) -> Option<usize> {
    let blanks = text.strip_prefix('\n')?;
    blanks.bytes().all(|byte| byte == b' ').then_some(blanks.len())
}

impl ListedViews {
    /// These views of a message; `next` is the number that follows the last mark of those before it.
    #[must_use]
    pub fn of(views: &[PartView], next: u32) -> Self {
        let (mut listed, mut numbers) = (Self::default(), Numbers(next));
        for view in views {
            listed.push(view, &mut numbers);
        }
        listed
    }

    fn push(&mut self, view: &PartView, numbers: &mut Numbers) {
        let text = match (view.call, view.thought) {
            (Some(call), _) => call as u64 * 3 + OF_CALL,
            (None, Some(thought)) => thought as u64 * 3 + OF_THOUGHT,
            (None, None) => view.part as u64 * 3,
        };
        let first = view.marks().next().filter(|first| *first != numbers.0).unwrap_or(0);
        self.numbers.extend([text, view.ops.len() as u64, first.into()]);
        numbers.begin(first);
        let mut end = 0;
        for op in &view.ops {
            match op {
                ViewOp::Copy(from, to) => {
                    self.op(COPY, from.saturating_sub(end));
                    self.numbers.push(to.saturating_sub(*from) as u64);
                    end = *to;
                }
                ViewOp::Mark(mark, number) => self.mark(mark, *number, numbers.note(*number)),
                ViewOp::Insert(text) => match n_blanks(text) {
                    Some(n) => self.op(BREAK, n),
                    None => self.text(text.clone(), NO_MARK),
                },
            }
        }
    }

    fn op(&mut self, what: u64, says: usize) {
        self.numbers.push(says as u64 * 4 + what);
    }

    fn text(&mut self, text: String, says: usize) {
        self.texts.push(text);
        self.op(TEXT, says);
    }

    fn mark(&mut self, mark: &str, number: u32, is_next: bool) {
        if let Some(n) = n_lines(mark, number).filter(|_| is_next) {
            self.op(LINES, n as usize);
            return;
        }
        match digits(mark) {
            Some(digits) if mark.get(digits.clone()) == Some(&*number.to_string()) => {
                let begin = if is_next { digits.start } else { digits.end };
                self.text([mark.split_at(begin).0, mark.split_at(digits.end).1].concat(), MARK);
            }
            _ => self.text(mark.to_owned(), number as usize + NUMBERED),
        }
    }

    /// The views; `None` where they are torn. `next` is as when they were listed.
    #[must_use]
    pub fn views(&self, next: u32) -> Option<Vec<PartView>> {
        let (mut numbers, mut texts, mut views) = (self.numbers.iter().copied(), self.texts.iter(), Vec::new());
        let mut marks = Numbers(next);
        while let Some(text) = numbers.next() {
            let (n_ops, first) = (numbers.next()?, u32::try_from(numbers.next()?).ok()?);
            marks.begin(first);
            let (mut ops, mut end) = (Vec::new(), 0);
            for _ in 0..n_ops {
                ops.push(op(&mut numbers, &mut texts, &mut end, &mut marks)?);
            }
            let (index, is) = (usize::try_from(text / 3).ok()?, |what| text % 3 == what);
            let (call, thought) = (is(OF_CALL).then_some(index), is(OF_THOUGHT).then_some(index));
            views.push(PartView { part: if is(0) { index } else { 0 }, call, thought, ops });
        }
        texts.next().is_none().then_some(views)
    }
}

/// The next operation; `end` is where the last copy ends.
fn op<'t>(
    numbers: &mut impl Iterator<Item = u64>,
    texts: &mut impl Iterator<Item = &'t String>,
    end: &mut usize,
    marks: &mut Numbers,
) -> Option<ViewOp> {
    let number = numbers.next()?;
    let says = usize::try_from(number / 4).ok()?;
    Some(match number % 4 {
        COPY => {
            let from = end.checked_add(says)?;
            *end = from.checked_add(usize::try_from(numbers.next()?).ok()?)?;
            ViewOp::Copy(from, *end)
        }
        // Nobody writes so many blanks as would fill the memory.
        BREAK => ViewOp::Insert(
            std::iter::once('\n').chain(repeat_n(' ', Some(says).filter(|&n| n <= MAX_BLANKS)?)).collect(),
        ),
        LINES => {
            let number = marks.0;
            marks.note(number);
            ViewOp::Mark(of_lines(says as u64, number), number)
        }
        _ => {
            let text = texts.next()?;
            match says {
                MARK => marked(text, marks)?,
                NO_MARK => ViewOp::Insert(text.clone()),
                _ => {
                    let number = u32::try_from(says - NUMBERED).ok()?;
                    marks.note(number);
                    ViewOp::Mark(text.clone(), number)
                }
            }
        }
    })
}

/// The mark whose text this is, but for a number that follows the last one.
fn marked(text: &str, marks: &mut Numbers) -> Option<ViewOp> {
    let digits = digits(text)?;
    let (before, behind) = (text.get(..digits.start)?, text.get(digits.end..)?);
    let number = match text.get(digits)? {
        "" => marks.0,
        told => told.parse().ok()?,
    };
    marks.note(number);
    Some(ViewOp::Mark(format!("{before}{number}{behind}"), number))
}

/// Blanks behind a line break, at most.
const MAX_BLANKS: usize = 1 << 20;

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

    /// What of `original` is shown, with dots for each mark: where nothing says what marks hide, there are none.
    #[must_use]
    pub fn without_marks(&self, original: &str) -> Option<String> {
        let dots = |op: &ViewOp| match op {
            ViewOp::Mark(mark, _) => ViewOp::Insert(if mark.ends_with('\n') { "…\n" } else { "…" }.to_owned()),
            op => op.clone(),
        };
        shown(&self.ops.iter().map(dots).collect::<Vec<_>>(), original)
    }

    /// The numbers of its marks, in their order.
    pub fn marks(&self) -> impl Iterator<Item = u32> {
        self.ops.iter().filter_map(|op| if let ViewOp::Mark(_, number) = op { Some(*number) } else { None })
    }

    /// The number that follows the last mark of `views`, or `next` where they have none.
    #[must_use]
    pub fn next_mark(views: &[Self], next: u32) -> u32 {
        views.iter().flat_map(Self::marks).last().map_or(next, |last| last.saturating_add(1))
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
    use super::{HiddenText, ListedViews, PartView, ViewOp};

    fn mark(text: &str, number: u32) -> ViewOp {
        ViewOp::Mark(text.to_owned(), number)
    }

    fn insert(text: &str) -> ViewOp {
        ViewOp::Insert(text.to_owned())
    }

    fn view(ops: &[ViewOp]) -> PartView {
        PartView { part: 0, call: None, thought: None, ops: ops.to_vec() }
    }

    #[test]
    fn a_mark_hides_what_stands_between_the_copies_around_it() {
        let original = "{\"a\": 1, \"b\": 2}behind";
        let view = view(&[
            ViewOp::Copy(0, 1),
            insert("\n "),
            mark("⋯ #1", 1),
            insert("\n"),
            ViewOp::Copy(15, 16),
            mark("⋯ #2", 2),
            ViewOp::Copy(19, 19),
            mark("⋯ 5#4", 3),
        ]);
        assert_eq!(view.apply(original).as_deref(), Some("{\n ⋯ #1\n}⋯ #2⋯ 5#4"));
        assert_eq!(view.without_marks(original).as_deref(), Some("{\n …\n}……"));
        assert_eq!(view.marks().collect::<Vec<_>>(), [1, 2, 3]);
        let hidden = |number| view.hidden(number, original).map(|hidden| hidden.text);
        assert_eq!([1, 2, 3, 4].map(hidden), [Some("\"a\": 1, \"b\": 2"), Some("beh"), Some("ind"), None]);
        assert_eq!(view.gaps(original), [(2, "\"a\": 1, \"b\": 2"), (5, "beh"), (7, "ind")]);
        let first =
            HiddenText { before: "{\n ".to_owned(), text: "\"a\": 1, \"b\": 2", behind: "\n}⋯ #2⋯ 5#4".to_owned() };
        assert_eq!(view.hidden(1, original), Some(first));
    }

    #[test]
    fn what_is_listed_comes_back() {
        let ops = [
            mark("⋯ 12 lines #7\n", 7),
            ViewOp::Copy(3, 9),
            mark("⋯ 12 lines #8\n", 8),
            ViewOp::Copy(9, 9),
            mark("⋯ 1 line #9\n", 9),
            insert("\n"),
            insert("\n   "),
            insert(" # "),
            ViewOp::Copy(700, 9_000),
            mark("⋯ 3 items of 4 # b", 10),
            mark("⋯ reminder #10 b", 10),
            mark("⋯ reminder #11 b", 11),
            mark("⋯ 1 lines #12\n", 12),
            mark("⋯ 01 lines #13\n", 13),
            mark("⋯ #4294967295", u32::MAX),
            mark("⋯", 3),
            mark("⋯ #01", 1),
            mark("⋯ #2", 2),
        ];
        let of_call = PartView { call: Some(3), ..view(&ops) };
        let views = [PartView { part: 2, ..view(&[]) }, of_call, PartView { thought: Some(0), ..view(&ops[..3]) }];
        let listed = ListedViews::of(&views, 1);
        assert_eq!(listed.views(1).as_deref(), Some(&views[..]));
        assert_eq!(PartView::next_mark(&views, 1), 9);
        let behind = [view(&[mark("⋯ 2 lines #9\n", 9)])];
        let listed_behind = ListedViews::of(&behind, 9);
        assert_eq!(listed_behind.numbers, [0, 1, 0, 4 * 2 + 2]);
        assert_eq!(listed_behind.views(9).as_deref(), Some(&behind[..]));
        assert!(listed.texts.contains(&"⋯ reminder # b".to_owned()) && listed.texts.len() == 10, "{:?}", listed.texts);
        for n in 1..listed.numbers.len() {
            let torn = ListedViews { numbers: listed.numbers[..n].to_vec(), ..listed.clone() };
            assert_ne!(torn.views(1).as_deref(), Some(&views[..]), "{n}");
        }
    }

    #[test]
    fn what_nobody_wrote_is_no_view() {
        let none = |numbers: &[u64], texts: &[&str]| {
            let listed =
                ListedViews { numbers: numbers.to_vec(), texts: texts.iter().map(|&text| text.to_owned()).collect() };
            assert_eq!(listed.views(1), None, "{numbers:?}");
        };
        none(&[0, 0], &[]);
        none(&[0, u64::MAX, 1], &[]);
        none(&[0, 0, u64::MAX], &[]);
        none(&[0, 1, 0, 0, u64::MAX, 4], &[]);
        none(&[0, 2, 0, 4, u64::MAX, 4, u64::MAX], &[]);
        none(&[0, 1, 0, u64::MAX - 2], &[]);
        none(&[0, 1, 0, 3], &[]);
        none(&[0, 1, 0, 3], &["⋯"]);
        none(&[0, 1, 0, u64::MAX], &["⋯ #1"]);
        none(&[0, 0, 0], &["⋯ #1"]);
    }

    #[test]
    fn a_view_of_another_text_says_nothing() {
        assert_eq!(view(&[ViewOp::Copy(0, 4)]).apply("abc"), None);
        assert_eq!(view(&[ViewOp::Copy(0, 1)]).apply("ü"), None);
        assert_eq!(view(&[ViewOp::Copy(1, 2), ViewOp::Copy(0, 1)]).apply("abc"), None);
        assert_eq!(view(&[ViewOp::Copy(2, 3), ViewOp::Mark("⋯ #1".to_owned(), 1)]).hidden(1, "ab"), None);
    }
}
