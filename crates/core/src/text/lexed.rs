//! What the lexer found: lines, units (sentences and their like), facts, cues and fences, as spans into the
//! text. All spans are byte offsets on character boundaries, sorted by start, and never leave the text.

use std::ops::Range;

use super::bears::Bearing;
use super::line::signs::Signs;

/// A piece of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The piece of `text`; empty when the span is not one of this text.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }
    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }
    /// True when nothing is covered.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// One physical line, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// The whole line.
    pub span: Span,
    /// What it looks like.
    pub kind: LineKind,
    /// Leading blanks; a tab counts as four.
    pub indent: u16,
    /// What it reports.
    pub severity: Severity,
    /// Where it begins behind the number of a viewer.
    pub(crate) body: u32,
    /// The signs of its text; none of a line in a fence.
    pub(crate) signs: Signs,
}

impl Line {
    /// The line of `text` without the number that a viewer of files put before it (`12→`, `12⇥`), and without white
    /// space at its end.
    #[must_use]
    pub fn body(self, text: &str) -> Span {
        let whole = Span { start: self.body, end: self.span.end };
        let words = whole.of(text);
        // Most lines end with a letter or a stop.
        let is_trimmed = words.as_bytes().last().is_some_and(u8::is_ascii_graphic);
        Span { end: whole.start + if is_trimmed { words.len() } else { words.trim_end().len() } as u32, ..whole }
    }
    /// Its body without indentation.
    #[must_use]
    pub fn bare(self, text: &str) -> &str {
        self.body(text).of(text).trim_start()
    }
}

/// What a line looks like by itself; a fenced line is only that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LineKind {
    /// White space only.
    #[default]
    Blank,
    /// Words, and whatever nothing else claims.
    Prose,
    /// `# …`, or a line underlined with `===` / `---`, or the underline.
    Heading,
    /// `- …`, `* …`, `• …`, `1. …`, `a) …`.
    ListItem,
    /// `> …`
    Quote,
    /// A row of a table with visible borders.
    TableRow,
    /// A rule of a table.
    TableRule,
    /// Columns kept apart by blanks or tabs.
    Columns,
    /// Values separated by commas.
    Values,
    /// The opening or closing line of a fenced block.
    Fence,
    /// Inside a fenced block.
    Fenced,
    /// Source code beyond doubt.
    Code,
    /// Source code when its neighbours are.
    MaybeCode,
    /// A comment of source code or configuration, which decides nothing.
    Comment,
    /// Begins like a log entry: a timestamp, a level, `[component]`.
    Log,
    /// The head of a traceback.
    TraceHead,
    /// A frame of a traceback.
    Trace,
    /// `key: value` or `key = value` with a value that no sentence has; `[section]`.
    KeyValue,
    /// `key: a few words`.
    Pair,
    /// Begins with a test or build status: `PASS`, `FAIL`, `ok`, `✓`, `error:`, `warning:`, `test … ok`.
    Status,
    /// `path:line: …`.
    Grep,
    /// Begins a file or a hunk of a diff.
    DiffHead,
    /// A line of a unified diff or patch.
    Diff,
    /// A member of a JSON object or its brackets.
    Json,
    /// A tag.
    Markup,
    /// A command behind the prompt of a shell.
    Prompt,
    /// A path or an entry of a directory listing.
    Listing,
    /// Anything else that programs print: requests, steps of a build, commits.
    Output,
    /// None of these: digits, signs, encoded data.
    Data,
}

impl LineKind {
    /// True for words that people write: a line of them may be part of a sentence, an item or a heading.
    #[must_use]
    pub fn is_words(self) -> bool {
        matches!(self, Self::Prose | Self::Heading | Self::ListItem | Self::Quote | Self::KeyValue | Self::Pair)
    }
    /// True for what programs print line by line.
    #[must_use]
    pub fn is_output(self) -> bool {
        matches!(
            self,
            Self::Log
                | Self::TraceHead
                | Self::Trace
                | Self::Status
                | Self::Grep
                | Self::Prompt
                | Self::Listing
                | Self::Output
        )
    }
    /// True for source code and what is so among it.
    #[must_use]
    pub fn is_code(self) -> bool {
        matches!(self, Self::Code | Self::MaybeCode | Self::Comment)
    }
    /// True for a row of a table or a rule between rows.
    #[must_use]
    pub fn is_row(self) -> bool {
        matches!(self, Self::TableRow | Self::TableRule | Self::Columns | Self::Values)
    }
    /// True for a line of a diff.
    #[must_use]
    pub fn is_diff(self) -> bool {
        matches!(self, Self::Diff | Self::DiffHead)
    }
}

/// What a line reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Severity {
    /// Nothing of the kind.
    #[default]
    None,
    /// A success: PASS, ok, a check mark.
    Success,
    /// A warning.
    Warning,
    /// Totals: `12 passed, 1 failed`, `Tests:`, `real 0m3s`, a duration, an exit status of 0.
    Totals,
    /// An error, a failure, a non-zero exit status.
    Failure,
}

/// A sentence, list item, heading or other line: the smallest piece that a summary takes whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Trimmed.
    pub span: Span,
    /// Characters in `span`.
    pub n_chars: u32,
    /// Number of the paragraph, from 0; paragraphs are separated by blank lines, fences, headings.
    pub paragraph: u32,
    /// What it is.
    pub kind: UnitKind,
    /// Indices of its facts in the view's `facts`.
    pub facts: Range<u32>,
    /// Indices of its cues in the view's `cues`.
    pub cues: Range<u32>,
    /// What it does to the talk.
    pub(crate) bearing: Bearing,
}

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// Ends with a sentence end.
    Sentence,
    /// Ends with the line or the text, without a sentence end.
    Fragment,
    /// An item of a list, up to the next item or blank line when short, else its sentences.
    ListItem,
    /// A heading.
    Heading,
    /// A line that is not prose.
    Line,
}

/// Something that must not be falsified: a name, a number, an identifier, …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: FactKind,
    /// [`super::fold_key`] of the normalised text: equal keys mean the same fact.
    pub key: u64,
}

/// Kinds of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// `fetchUser`, `parseJSON`, `userID`, `base64Encode`.
    Camel,
    /// `WebSocket`, `OAuth2Token`, `HTTPServer`.
    Pascal,
    /// `user_id2`, `__init__`.
    Snake,
    /// `MAX_RETRIES`.
    Screaming,
    /// `kebab-case-name` of three or more pieces, or with a digit.
    Kebab,
    /// Letters and digits mixed: `p99`, `x86`, `Z-9912`.
    Alphanumeric,
    /// `HTTP`, `ACME`: two or more capitals.
    Acronym,
    /// Three or more consonants without a vowel: `npm`, `ssh`.
    Vowelless,
    /// `#142`, `KMS-7781`, `PR 12`.
    Ticket,
    /// A plain number.
    Number,
    /// `30s`, `500 MB`, `30.5 seconds`, `12 retries`.
    Quantity,
    /// `$500`, `4,500,000 dollars`, `12 €`.
    Money,
    /// `15 %`.
    Percent,
    /// `2024-05-01`, `March 3`, `3. Oktober`.
    Date,
    /// `14:30`, `9 am`.
    Time,
    /// `v22.3.0`, `1.4.2`.
    Version,
    /// Hexadecimal digits of a hash, short or long, and `0x1F`.
    Hash,
    /// `10.0.0.3`, with or without a port; IPv6.
    Ip,
    /// `redis-prod-001.example.com:6379`.
    Host,
    /// `src/db/pool.ts`, `/etc/hosts`, `C:\x`, `pool.ts`.
    Path,
    /// `src/foo.ts:42`.
    FileRef,
    /// `https://…`
    Url,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// Quoted text of up to 60 characters.
    Quoted,
    /// `` `inline code` ``.
    CodeSpan,
    /// Capitalised words that are no sentence opener.
    Name,
}

impl FactKind {
    /// True for what must not be lost or falsified: everything but words that are only likely names and code
    /// spans, whose content is a fact of its own.
    #[must_use]
    pub fn is_precise(self) -> bool {
        !matches!(self, Self::Name | Self::Vowelless | Self::Acronym | Self::CodeSpan)
    }
    /// True for what is known by its value: numbers of all kinds, dates and times.
    #[must_use]
    pub fn is_amount(self) -> bool {
        use FactKind::{Date, Money, Number, Percent, Quantity, Time};
        matches!(self, Number | Quantity | Money | Percent | Date | Time)
    }
    /// True for what the documented `entity_retention` counts: code identifiers, paths, URLs, versions.
    #[must_use]
    pub fn is_technical(self) -> bool {
        use FactKind::{Camel, FileRef, Pascal, Path, Screaming, Snake, Url, Version};
        matches!(self, Camel | Pascal | Snake | Screaming | Path | FileRef | Url | Version)
    }
}

/// A word or phrase that says what a unit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cue {
    /// Byte offset.
    pub at: u32,
    /// What it does.
    pub kind: CueKind,
}

/// Kinds of cues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CueKind {
    /// however, critical, important, notably, …
    Emphasis,
    /// therefore, as a result, given that, …
    Reasoning,
    /// not, never, no, n't, kein, 不, …
    Negation,
    /// must, shall, required, do not, muss, 必须, …
    Obligation,
    /// actually, correction, scratch that, instead, … at the start of a unit.
    Correction,
    /// decided, agreed, approved, the decision is, action item, …
    Decision,
    /// PASS FAIL ERROR WARN WARNING in capitals.
    Status,
    /// The whole unit is filler: "Sure, happy to help!", "Thanks!", "Okay .".
    Filler,
    /// The unit is a question.
    Question,
}

impl CueKind {
    /// Number of kinds.
    pub const COUNT: usize = 9;
}

/// A fenced block as in `CommonMark`, also inside list items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// From the start of the opening line to the end of the closing one (or of the text), line end excluded.
    pub span: Span,
    /// The lines between.
    pub body: Span,
}

/// Counts over the whole text, fences included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CharCounts {
    /// Unicode scalar values.
    pub chars: u32,
    /// Decimal digits.
    pub digits: u32,
    /// `{}[]<>|\;:@#$%^&*()=+` and backtick and `~`.
    pub special: u32,
    /// Longest piece between white space, in bytes.
    pub longest_piece: u32,
}

/// Where the findings for one text lie in the lexer's arena.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lexed {
    pub(crate) lines: Range<u32>,
    pub(crate) units: Range<u32>,
    pub(crate) facts: Range<u32>,
    pub(crate) cues: Range<u32>,
    pub(crate) fences: Range<u32>,
    /// Counts over the whole text.
    pub counts: CharCounts,
}
