//! The pieces of which a view of a text is made: stretches of the text in their order, and between them marks that say
//! what is hidden. Knows how a mark reads; refuses to know why something is hidden.

use std::sync::LazyLock;

use memchr::memmem;

use super::formats::What;
use super::uses::Place;
use crate::model::MediaKind;
use crate::text::count_chars;

/// The sign with which marks begin.
const SIGN: &str = "⋯";

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Lines, and what they are.
    Lines { n: u32, what: What },
    /// Lines of which an earlier text has some, too; whether they are visible there.
    Said { n_lines: u32, n_said: u32, by: Place, is_visible: bool },
    /// Characters inside a line, and whether they are data in letters.
    Chars { n: u32, is_data: bool },
    /// Codes of a terminal: the first one and all others of the text.
    Codes(u32),
    /// Members of an object; a comma follows when more members do.
    Members { n: u32, goes_on: bool },
    /// Items of an array.
    Items { n: u32, goes_on: bool },
    /// JSON that an earlier text has; whether it is visible there.
    Value { by: Place, is_visible: bool },
    /// Lines of a text inside a JSON string.
    InnerLines(u32),
    /// A part that is no text.
    Media(MediaKind),
}

impl Mark {
    /// The same where what an earlier text has is visible there.
    pub(super) fn when_visible(self) -> Self {
        match self {
            Self::Said { n_lines, n_said, by, .. } => Self::Said { n_lines, n_said, by, is_visible: true },
            mark => mark,
        }
    }

    /// For bytes inside a line.
    pub(super) fn chars(hidden: &[u8]) -> Self {
        Self::Chars { n: n_chars(hidden), is_data: is_data(hidden) }
    }
}

/// True for data in letters and digits, of which a reader has nothing.
fn is_data(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte);
    let has = |is: fn(&u8) -> bool| text[..MIN_DATA.min(text.len())].iter().any(is);
    text.len() >= MIN_DATA
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && text.iter().all(is_part)
}

/// Characters of valid UTF-8.
pub(super) fn n_chars(bytes: &[u8]) -> u32 {
    count_chars(bytes) as u32
}

/// One piece of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// Bytes of the buffer.
    Copy { from: u32, to: u32 },
    /// What stands for bytes that are hidden.
    Mark(Mark),
    /// A line break and so many blanks, to lay out JSON.
    Break(u32),
}

impl Piece {
    /// Bytes that it shows, about.
    pub(super) fn n_bytes(self) -> usize {
        match self {
            Self::Copy { from, to } => (to - from) as usize,
            Self::Mark(mark) => length(mark) as usize,
            Self::Break(depth) => depth as usize + 1,
        }
    }
}

/// Characters of a mark, about; shorter gaps are shown.
pub(super) const LINE_MARK: u32 = 16;
pub(super) const SAID_MARK: u32 = 34;
pub(super) const CHARS_MARK: u32 = 30;
pub(super) const MEMBERS_MARK: u32 = 42;

/// Bytes from which data in letters is named.
const MIN_DATA: usize = 256;
/// Marks of a message, at most.
const MANY: u32 = 1_000;

/// A mark taken apart, of which the walk says that it is of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinesMark<'m> {
    sign: &'m str,
    /// `12 lines`, `12 lines, 9 passed`, …
    pub count: &'m str,
    /// What is behind the last `#`, with the line break.
    number: &'m str,
}

impl<'m> LinesMark<'m> {
    /// Takes a mark apart as it is written.
    #[must_use]
    pub fn read(mark: &'m str) -> Option<Self> {
        let (sign, rest) = mark.split_once(' ')?;
        let (count, number) = rest.rsplit_once(" #")?;
        sign.starts_with(SIGN).then_some(Self { sign, count, number })
    }

    /// The mark with a sentence that tells of its lines; `None` for one that is more than a line or looks like a mark.
    #[must_use]
    pub fn saying(&self, sentence: &str) -> Option<String> {
        let Self { sign, count, number } = self;
        let ends_like_one = sentence.rsplit(' ').next().is_some_and(|word| word.starts_with('#'));
        let is_line = !sentence.is_empty() && !sentence.contains(char::is_control) && !sentence.contains(SIGN);
        (is_line && !ends_like_one).then(|| format!("{sign} {count}: {sentence} #{number}"))
    }
}

static FINDER: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(SIGN));

/// The longest run of the sign of marks in a text.
pub(super) fn longest_run(text: &[u8]) -> usize {
    let (mut longest, mut run, mut end) = (0, 0, usize::MAX);
    for at in FINDER.find_iter(text) {
        run = if at == end { run + 1 } else { 1 };
        longest = longest.max(run);
        end = at + SIGN.len();
    }
    longest
}

/// Signs of a mark up to which there are any.
const MAX_SIGNS: usize = 8;

/// Writes marks with their numbers, which run from 1 through a conversation.
#[derive(Debug)]
pub(super) struct Writer {
    sign: String,
    n_marks: u32,
}

impl Writer {
    /// A writer whose sign no text has: one more than their longest run of it.
    pub(super) fn new(longest_run: usize) -> Self {
        Self { sign: SIGN.repeat(longest_run + 1), n_marks: 0 }
    }

    /// From now on the texts have such a run of the sign.
    pub(super) fn meet(&mut self, longest_run: usize) {
        while self.sign.len() <= longest_run * SIGN.len() {
            self.sign.push_str(SIGN);
        }
    }

    /// True where marks are as short as they should be: a text full of their sign makes them long.
    pub(super) fn is_short(longest_run: usize) -> bool {
        longest_run < MAX_SIGNS
    }

    /// Characters that a mark and the blanks around it take, or a few more.
    pub(super) fn at_most(&self, bytes: &[u8], mark: Mark, label: impl FnOnce(Place) -> String) -> u32 {
        let mut n_chars = Chars(2);
        put(&mut n_chars, (&self.sign, self.n_marks + MANY), bytes, mark, label);
        n_chars.0
    }

    /// Appends `mark` to `out` and gives its number; `label` names the text that shows what it stands for, of a part its file;
    /// in `bytes` stands what it quotes.
    pub(super) fn write(
        &mut self,
        out: &mut String,
        bytes: &[u8],
        mark: Mark,
        label: impl FnOnce(Place) -> String,
    ) -> u32 {
        self.n_marks += 1;
        put(out, (&self.sign, self.n_marks), bytes, mark, label);
        self.n_marks
    }
}

/// What a mark is written to.
trait Out {
    fn text(&mut self, text: &str);

    fn number(&mut self, number: u32) {
        let (mut digits, mut first, mut rest) = ([0; 10], 10, number);
        while first == 10 || rest > 0 {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.text(std::str::from_utf8(&digits[first..]).unwrap_or_default());
    }

    /// So many of something.
    fn counted(&mut self, n: u32, one: &str, many: &str) {
        self.number(n);
        self.text(" ");
        self.text(if n == 1 { one } else { many });
    }

    fn lines(&mut self, n: u32) {
        self.counted(n, "line", "lines");
    }

    /// A number behind and before other words.
    fn between(&mut self, before: &str, n: u32, behind: &str) {
        self.text(before);
        self.number(n);
        self.text(behind);
    }
}

impl Out for String {
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Counts the characters that are written to it.
struct Chars(u32);

impl Out for Chars {
    fn text(&mut self, text: &str) {
        self.0 += n_chars(text.as_bytes());
    }
}

/// Writes a mark with this sign and number.
fn put(out: &mut impl Out, (sign, number): (&str, u32), bytes: &[u8], mark: Mark, label: impl FnOnce(Place) -> String) {
    match mark {
        // A member has a key of its own.
        Mark::Members { n, goes_on } => {
            out.text("\"");
            out.text(sign);
            out.between(" #", number, "\": \"");
            out.counted(n, "member", "members");
            return out.text(if goes_on { "\"," } else { "\"" });
        }
        Mark::Items { .. } | Mark::Value { .. } => out.text("\""),
        _ => {}
    }
    out.text(sign);
    out.text(" ");
    let end = match mark {
        Mark::Lines { n, what } => {
            tell(out, bytes, n, what);
            "\n"
        }
        Mark::Said { n_lines, n_said, by, is_visible } => {
            out.lines(n_lines);
            if n_said < n_lines {
                out.between(", ", n_said, "");
            } else if !is_visible {
                out.text(",");
            }
            out.text(if is_visible { " as in " } else { " unchanged since " });
            out.text(&label(by));
            "\n"
        }
        Mark::Chars { n, is_data } => {
            out.counted(n, "char", "chars");
            out.text(if is_data { " of base64" } else { "" });
            " "
        }
        Mark::Codes(n) => {
            out.between("", n, " terminal codes");
            " "
        }
        Mark::Items { n, goes_on } => {
            out.counted(n, "item", "items");
            if goes_on { "\"," } else { "\"" }
        }
        Mark::Value { by, is_visible } => {
            out.text(if is_visible { "as in " } else { "unchanged since " });
            let label = serde_json::Value::String(label(by)).to_string();
            let inner = label.strip_prefix('"').and_then(|label| label.strip_suffix('"'));
            out.text(inner.unwrap_or_default());
            "\""
        }
        Mark::Media(kind) => {
            out.text(kind.as_str());
            let name = label(Place::default());
            out.text(if name.is_empty() { "" } else { " " });
            out.text(&name);
            ""
        }
        Mark::InnerLines(n) => {
            out.lines(n);
            "\\n"
        }
        Mark::Members { .. } => "",
    };
    out.between(" #", number, end);
    if end == " " {
        // Inside a line the sign tells where the mark ends, too.
        out.text(sign);
    }
}

/// How many lines a mark stands for, and of what.
fn tell(out: &mut impl Out, bytes: &[u8], n: u32, what: What) {
    match what {
        What::Reminder => return out.text("reminder"),
        What::Entries(_) => out.counted(n, "entry", "entries"),
        What::Rows => out.counted(n, "row", "rows"),
        _ => out.lines(n),
    }
    match what {
        What::OfFiles(n_files) => out.between(" of ", n_files, " files"),
        What::Entries(n_noise) if n_noise > 0 => out.between(", ", n_noise, " of generated folders"),
        What::Passed(n_passed, n_failed) => {
            out.between(", ", n_passed, " passed");
            if n_failed > 0 {
                out.between(", ", n_failed, " failed");
            }
        }
        What::Steps { n: n_alike, from, to } => {
            out.between(", ", n_alike, " × ");
            out.text(&String::from_utf8_lossy(&bytes[from as usize..to as usize]));
        }
        What::Lines | What::Reminder | What::Entries(_) | What::Rows => {}
    }
}

/// Characters of a mark, about.
pub(super) fn length(mark: Mark) -> u32 {
    match mark {
        Mark::Lines { .. } | Mark::InnerLines(_) | Mark::Media(_) => LINE_MARK,
        Mark::Said { .. } | Mark::Value { .. } => SAID_MARK,
        Mark::Chars { .. } | Mark::Codes(_) | Mark::Items { .. } => CHARS_MARK / 2 + 4,
        Mark::Members { .. } => CHARS_MARK / 2 + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::{LinesMark, Mark, What, Writer, longest_run};

    #[test]
    fn a_mark_of_lines_stays_one_with_a_sentence_in_it() {
        let mut writer = Writer::new(longest_run("a source ⋯ with the sign".as_bytes()));
        let mut written = |n, what| {
            let mut out = String::new();
            writer.write(&mut out, b"", Mark::Lines { n, what }, |_| String::new());
            out
        };
        let (one, many, noise) =
            (written(1, What::Lines), written(12, What::Passed(9, 0)), written(34, What::Entries(5)));
        let saying = |mark, sentence| LinesMark::read(mark)?.saying(sentence);
        assert_eq!(saying(&one, "imports serde").as_deref(), Some("⋯⋯ 1 line: imports serde #1\n"));
        assert_eq!(
            saying(many.trim_end(), "lists #4, of two").as_deref(),
            Some("⋯⋯ 12 lines, 9 passed: lists #4, of two #2")
        );
        assert_eq!(
            saying(&noise, "lists docs").as_deref(),
            Some("⋯⋯ 34 entries, 5 of generated folders: lists docs #3\n")
        );
        for sentence in ["", "a\nb", "a\u{1b}[1m", "hides ⋯ 3 lines", "lists #4 and #5"] {
            assert_eq!(saying(&many, sentence), None, "{sentence:?}");
        }
    }
}
