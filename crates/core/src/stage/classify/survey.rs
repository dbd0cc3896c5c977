//! Weighs the kinds of all lines: which structures form islands, and how much of the text they are. Knows no
//! reasons; `mod` turns the numbers into them.

use crate::text::line::signs::Signs;
use crate::text::{Line, LineKind, TextView};

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
    /// Behind a prompt: what follows is what the command printed.
    in_session: bool,
    /// Inside a block of an agent program.
    in_reminder: bool,
}

impl Survey {
    /// Looks at every line once; with `until_code`, only until it is certain that source code makes up a third of
    /// the text, which decides whatever follows.
    pub(super) fn of(view: &TextView<'_>, until_code: bool) -> Self {
        let enough = if until_code { view.covered().len() } else { usize::MAX };
        let mut walk = Walk::default();
        for line in view.lines {
            if matches!(line.kind, LineKind::Fence | LineKind::Fenced) {
                walk.close();
                continue;
            }
            let text = line.bare(view.text).as_bytes();
            if walk.is_reminder(text) {
                continue;
            }
            walk.step(line, text);
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
    fn is_reminder(&mut self, text: &[u8]) -> bool {
        let begins = text.first() == Some(&b'<') && text.starts_with(b"<system-reminder>");
        let is_inside = self.in_reminder || begins;
        self.in_reminder = is_inside && !text.ends_with(b"</system-reminder>");
        is_inside
    }

    fn step(&mut self, line: &Line, text: &[u8]) {
        let (kind, signs, size) = (line.kind, line.signs, text.len());
        if kind == LineKind::Diff {
            self.survey.all.add(size);
            self.survey.diff.add(size);
            return;
        }
        self.islands(line, text);
        if kind == LineKind::Blank {
            return;
        }
        let is_prose = is_prose(kind);
        let survey = &mut self.survey;
        survey.all.add(size);
        survey.signs = survey.signs.and(signs);
        survey.steps.add(text);
        if matches!(kind, LineKind::KeyValue | LineKind::Data) || signs.any(Signs::DATUM) {
            survey.data.add(size);
        }
        if size <= 84 && (is_prose || kind == LineKind::MaybeCode) {
            survey.short.add(size);
        }
        if kind == LineKind::Prompt {
            self.in_session = true;
        } else if is_prose && size >= 60 && !signs.any(Signs::DIGIT) && matches!(text.last(), Some(b'.' | b'!' | b'?'))
        {
            self.in_session = false;
        }
        if !is_prose && !matches!(kind, LineKind::Heading | LineKind::ListItem | LineKind::Comment) {
            let length = size as f64;
            survey.odd_lengths.0 += 1.0;
            survey.odd_lengths.1 += length;
            survey.odd_lengths.2 += length * length;
        }
        match kind {
            LineKind::Markup => survey.markup.add(size),
            LineKind::Json => survey.json.add(size),
            LineKind::DiffHead => {
                survey.diff.add(size);
                survey.diff_heads += 1;
            }
            LineKind::TraceHead => survey.trace_heads += 1,
            LineKind::Trace => survey.frames += 1,
            _ => {}
        }
        if kind.is_output() || is_prose && self.in_session {
            survey.output.add(size);
        }
    }

    /// Continues or closes the island of each structure.
    fn islands(&mut self, line: &Line, text: &[u8]) {
        let (kind, indent, signs, size) = (line.kind, line.indent, line.signs, text.len());
        // Code goes on over comments, blank lines and what code has in common with other structures.
        match kind {
            LineKind::Code => self.code.add(size, 2),
            LineKind::MaybeCode => self.code.add(size, 1),
            LineKind::KeyValue if signs.any(Signs::EQUALS) => self.code.add(size, 1),
            LineKind::Blank => {}
            LineKind::Comment
            | LineKind::Json
            | LineKind::Markup
            | LineKind::Pair
            | LineKind::KeyValue
            | LineKind::Columns => {
                self.code.add(size, 0);
            }
            _ => self.close_code(),
        }
        match kind {
            LineKind::KeyValue => self.config.add(size, 2),
            LineKind::Pair => self.config.add(size, 1),
            LineKind::Blank => {}
            LineKind::Comment => self.config.add(size, 0),
            LineKind::MaybeCode | LineKind::Code if signs.any(Signs::EQUALS) => self.config.add(size, 2),
            LineKind::ListItem if indent >= 2 || text.len() < 60 => self.config.add(size, 0),
            _ => self.close_config(),
        }
        let is_indented = indent >= 4 && kind != LineKind::Blank;
        match kind {
            LineKind::Code | LineKind::MaybeCode | LineKind::Json | LineKind::Markup if is_indented => {
                self.indented.add(size, 2);
            }
            LineKind::KeyValue | LineKind::Pair | LineKind::Columns | LineKind::Comment if is_indented => {
                self.indented.add(size, 1);
            }
            _ if kind.is_output() && is_indented => self.indented.add(size, 1),
            LineKind::Blank => {}
            _ => self.close_indented(),
        }
        match kind {
            LineKind::TableRow => self.rows.add(size, 1),
            LineKind::TableRule => self.rows.add(size, 2),
            // `a | b` without outer borders belongs to the rule below or above.
            _ if signs.any(Signs::PIPE) && !kind.is_output() && memchr::memmem::find(text, b" | ").is_some() => {
                self.rows.add(size, 0);
            }
            _ => self.close_rows(),
        }
        match kind {
            LineKind::Columns | LineKind::TableRule => self.columns.add(size, 1),
            _ if is_prose(kind) && signs.any(Signs::GAP) && memchr::memmem::find(text, b"   ").is_some() => {
                self.columns.add(size, 1);
            }
            _ => self.close_columns(),
        }
        let has_separator = signs.any(Signs::TAB | Signs::COMMA | Signs::SEMICOLON);
        let separators = if !has_separator || kind.is_output() || matches!(kind, LineKind::Blank | LineKind::ListItem) {
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

/// Lines that are no structure by themselves.
fn is_prose(kind: LineKind) -> bool {
    matches!(kind, LineKind::Prose | LineKind::Quote | LineKind::Values | LineKind::Data)
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
