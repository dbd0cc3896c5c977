//! Weighs the looks of all lines: which structures form islands, and how much of the text they are. Knows no
//! reasons; `mod` turns the numbers into them.

use crate::text::{LineKind, TextView};

use super::config::is_datum;
use super::line::{Bare, Look, Signs, bare};
use super::look::look;
use super::reasoning::Steps;

/// Lines and bytes of one structure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    /// Lines.
    pub(super) lines: usize,
    /// Bytes without indentation.
    pub(super) bytes: usize,
}

impl Tally {
    fn add(&mut self, bytes: usize) {
        self.lines += 1;
        self.bytes += bytes;
    }
}

/// The numbers of a text; fenced lines are left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Survey {
    /// Lines that are not blank.
    pub(super) all: Tally,
    /// Source code in islands.
    pub(super) code: Tally,
    /// Indented lines that are no prose, in blocks of two or more.
    pub(super) indented: Tally,
    /// Configuration in islands.
    pub(super) config: Tally,
    /// Rows of tables.
    pub(super) table: Tally,
    /// Tags.
    pub(super) markup: Tally,
    /// Lines of JSON objects.
    pub(super) json: Tally,
    /// Lines of diffs.
    pub(super) diff: Tally,
    /// Heads of a diff or its hunks.
    pub(super) diff_heads: usize,
    /// What programs print.
    pub(super) output: Tally,
    /// Heads of tracebacks.
    pub(super) trace_heads: usize,
    /// Frames of tracebacks.
    pub(super) frames: usize,
    /// Lines of configuration, and those of which the lexer only knows that they are data.
    pub(super) data: Tally,
    /// Words on lines short enough for verse.
    pub(super) short: Tally,
    /// Steps of a chain of reasoning.
    pub(super) steps: Steps,
    /// All signs.
    pub(super) signs: Signs,
    /// Sums of line lengths and their squares, of lines that are neither prose nor heading nor item.
    pub(super) odd_lengths: (f64, f64, f64),
}

/// What the lines so far amount to.
#[derive(Debug, Default)]
struct Island {
    all: Tally,
    strong: usize,
    weak: usize,
}

/// State between lines.
#[derive(Debug, Default)]
struct Walk {
    survey: Survey,
    code: Island,
    config: Island,
    indented: Island,
    rows: Island,
    columns: Island,
    separated: Island,
    /// Separator and count of the line before.
    separators: (u8, usize),
    in_hunk: bool,
    /// The number that a file viewer puts in front of the next line.
    expected: Option<usize>,
    /// Behind a prompt: what follows is what the command printed.
    in_session: bool,
    /// Inside a block of an agent program.
    in_reminder: bool,
}

impl Survey {
    /// Looks at every line once; with `until_code`, only until it is certain that source code makes up a third of
    /// the text, which decides whatever follows.
    pub(super) fn of(view: &TextView<'_>, until_code: bool) -> Self {
        let text = view.text.as_bytes();
        let enough = if until_code { view.covered().len() } else { usize::MAX };
        let mut walk = Walk::default();
        for line in view.lines {
            if matches!(line.kind, LineKind::Fence | LineKind::Fenced) {
                walk.close();
                continue;
            }
            let bytes = text.get(line.span.start as usize..line.span.end as usize).unwrap_or_default();
            if walk.is_reminder(bytes) {
                continue;
            }
            walk.step(bytes, line.kind);
            if walk.code_bytes().saturating_mul(3) >= enough {
                break;
            }
        }
        walk.close();
        walk.survey
    }
}

impl Walk {
    /// True for the lines of a block that an agent program puts behind the text: it says nothing of what the text is.
    fn is_reminder(&mut self, bytes: &[u8]) -> bool {
        let begins = bytes.first() == Some(&b'<') && bytes.starts_with(b"<system-reminder>");
        let is_inside = self.in_reminder || begins;
        self.in_reminder = is_inside && !bytes.trim_ascii_end().ends_with(b"</system-reminder>");
        is_inside
    }

    fn step(&mut self, bytes: &[u8], kind: LineKind) {
        let line = bare(bytes, self.expected);
        self.expected = line.number.map(|number| number + 1);
        if self.in_hunk && !bytes.is_empty() && matches!(bytes.first(), Some(b'+' | b'-' | b' ' | b'\\' | b'<' | b'>'))
        {
            self.survey.all.add(line.text.len());
            self.survey.diff.add(line.text.len());
            return;
        }
        let seen = look(line);
        let size = line.text.len();
        self.islands(line, seen);
        if seen == Look::Blank {
            return;
        }
        let survey = &mut self.survey;
        survey.all.add(size);
        survey.signs = survey.signs.and(line.signs);
        survey.steps.add(line.text);
        let is_datum = matches!(seen, Look::Prose | Look::Pair) && line.signs.any(Signs::COLON) && is_datum(line.text);
        if seen == Look::Config || kind == LineKind::Data || is_datum {
            survey.data.add(size);
        }
        if size <= 84 && matches!(seen, Look::Prose | Look::MaybeCode) {
            survey.short.add(size);
        }
        self.in_hunk = seen == Look::DiffHead || (self.in_hunk && bytes.starts_with(b"index "));
        let by_lexer = matches!(
            kind,
            LineKind::Log | LineKind::Trace | LineKind::Status | LineKind::Grep | LineKind::Listing | LineKind::Prompt
        );
        if seen == Look::Prompt {
            self.in_session = true;
        } else if seen == Look::Prose
            && size >= 60
            && !line.signs.any(Signs::DIGIT)
            && matches!(line.text.last(), Some(b'.' | b'!' | b'?'))
        {
            self.in_session = false;
        }
        match seen {
            Look::Prose | Look::Heading | Look::Item | Look::Comment if !by_lexer => {}
            _ => {
                let length = size as f64;
                survey.odd_lengths.0 += 1.0;
                survey.odd_lengths.1 += length;
                survey.odd_lengths.2 += length * length;
            }
        }
        match seen {
            Look::Markup => survey.markup.add(size),
            Look::Json => survey.json.add(size),
            Look::DiffHead => {
                survey.diff.add(size);
                survey.diff_heads += 1;
            }
            Look::TraceHead => {
                survey.trace_heads += 1;
                survey.output.add(size);
            }
            Look::TraceFrame => {
                survey.frames += 1;
                survey.output.add(size);
            }
            Look::Output | Look::Prompt => survey.output.add(size),
            Look::Prose if self.in_session => survey.output.add(size),
            _ if by_lexer => survey.output.add(size),
            _ => {}
        }
    }

    /// Continues or closes the island of each structure.
    fn islands(&mut self, line: Bare<'_>, seen: Look) {
        let Bare { text, indent, signs, .. } = line;
        let size = text.len();
        // Code goes on over comments, blank lines and what code has in common with other structures.
        match seen {
            Look::Code => self.code.add(size, 2),
            Look::MaybeCode => self.code.add(size, 1),
            Look::Config if text.contains(&b'=') => self.code.add(size, 1),
            Look::Blank => {}
            Look::Comment | Look::Json | Look::Markup | Look::Pair | Look::Config | Look::Columns => {
                self.code.add(size, 0);
            }
            _ => self.close_code(),
        }
        match seen {
            Look::Config => self.config.add(size, 2),
            Look::Pair => self.config.add(size, 1),
            Look::Blank => {}
            Look::Comment => self.config.add(size, 0),
            Look::MaybeCode | Look::Code if text.contains(&b'=') => self.config.add(size, 2),
            Look::Item if indent >= 2 || text.len() < 60 => self.config.add(size, 0),
            _ => self.close_config(),
        }
        let is_indented = indent >= 4 && !matches!(seen, Look::Blank);
        match seen {
            Look::Code | Look::MaybeCode | Look::Json | Look::Markup if is_indented => self.indented.add(size, 2),
            Look::Config | Look::Pair | Look::Columns | Look::Output | Look::Comment if is_indented => {
                self.indented.add(size, 1);
            }
            Look::Blank => {}
            _ => self.close_indented(),
        }
        match seen {
            Look::Row => self.rows.add(size, 1),
            Look::Rule => self.rows.add(size, 2),
            // `a | b` without outer borders belongs to the rule below or above.
            _ if signs.any(Signs::PIPE) && seen != Look::Output && memchr::memmem::find(text, b" | ").is_some() => {
                self.rows.add(size, 0);
            }
            _ => self.close_rows(),
        }
        match seen {
            Look::Columns | Look::Rule => self.columns.add(size, 1),
            Look::Prose if signs.any(Signs::GAP) && memchr::memmem::find(text, b"   ").is_some() => {
                self.columns.add(size, 1);
            }
            _ => self.close_columns(),
        }
        let has_separator = signs.any(Signs::TAB | Signs::COMMA | Signs::SEMICOLON);
        let separators = if !has_separator || matches!(seen, Look::Blank | Look::Item | Look::Output) {
            (0, 0)
        } else {
            separators(text)
        };
        if separators.1 > 0 && separators == self.separators {
            if self.separated.all.lines == 0 {
                self.separated.add(size, 0);
            }
            self.separated.add(size, 1);
        } else {
            self.close_separated();
        }
        self.separators = separators;
    }

    fn close(&mut self) {
        self.close_code();
        self.close_config();
        self.close_indented();
        self.close_rows();
        self.close_columns();
        self.close_separated();
        self.in_hunk = false;
    }

    fn close_code(&mut self) {
        self.code.close(&mut self.survey.code, Island::is_code);
    }

    /// Bytes of source code so far. An island of two strong lines stays one whatever follows.
    fn code_bytes(&self) -> usize {
        self.survey.code.bytes + if self.code.strong >= 2 { self.code.all.bytes } else { 0 }
    }

    fn close_config(&mut self) {
        self.config.close(&mut self.survey.config, |island| {
            let n_pairs = island.strong + island.weak;
            n_pairs >= 2 && island.strong >= 1 && island.strong * 3 >= n_pairs
                || island.weak >= 4 && island.all.bytes < 40 * island.all.lines
        });
    }

    fn close_indented(&mut self) {
        self.indented.close(&mut self.survey.indented, |island| island.all.lines >= 2 && island.strong >= 1);
    }

    fn close_rows(&mut self) {
        self.rows.close(&mut self.survey.table, |island| {
            island.strong >= 1 && island.all.lines >= 3
                || island.weak >= 3
                || island.strong + island.weak >= 2 && island.weak >= 1
        });
    }

    fn close_columns(&mut self) {
        self.columns.close(&mut self.survey.table, |island| island.weak >= 3);
    }

    fn close_separated(&mut self) {
        self.separated.close(&mut self.survey.table, |island| island.all.lines >= 3);
    }
}

impl Island {
    /// Ends the island, which counts when it is one.
    fn close(&mut self, tally: &mut Tally, is_one: impl Fn(&Self) -> bool) {
        let island = std::mem::take(self);
        if is_one(&island) {
            tally.lines += island.all.lines;
            tally.bytes += island.all.bytes;
        }
    }

    fn is_code(&self) -> bool {
        self.strong >= 2 || self.strong == 1 && (self.weak >= 1 || self.all.lines == 1) || self.weak >= 3
    }

    fn add(&mut self, bytes: usize, strength: usize) {
        if strength == 0 && self.all.lines == 0 {
            return;
        }
        self.all.add(bytes);
        self.strong += usize::from(strength == 2);
        self.weak += usize::from(strength == 1);
    }
}

/// The sign that separates values on this line and how often it does: tabs, semicolons or commas without a blank
/// behind them. Quoted values may hold them.
fn separators(text: &[u8]) -> (u8, usize) {
    let Some(at) = memchr::memchr3(b'\t', b',', b';', text) else {
        return (0, 0);
    };
    let sign = text.get(at).copied().unwrap_or_default();
    if at + 1 < text.len() && text.get(at + 1) == Some(&b' ') && !text.starts_with(b"\"") {
        return (0, 0);
    }
    let mut count = 0;
    let mut quoted = false;
    let mut spaced = 0;
    for pair in text.windows(2) {
        match pair[0] {
            b'"' => quoted = !quoted,
            byte if byte == sign && !quoted => {
                count += 1;
                spaced += usize::from(pair[1] == b' ');
            }
            _ => {}
        }
    }
    count += usize::from(text.last() == Some(&sign));
    let enough = if sign == b'\t' { 1 } else { 2 };
    if count >= enough && spaced * 2 < count { (sign, count) } else { (0, 0) }
}
