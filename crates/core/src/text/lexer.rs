//! The one pass over a text: takes it line by line, hands each line to those who know fences, kinds, facts and
//! units, and keeps what they find in an arena. Refuses to know any rule of theirs.

use super::bearing::Bearings;
use super::counts;
use super::cues;
use super::facts;
use super::fences::OpenFence;
use super::lexed::{CharCounts, Cue, Fact, Fence, Lexed, Line, LineKind, Severity, Span, Unit, UnitKind};
use super::line::{LineText, judge};
use super::names::Names;
use super::numbered::{Numbering, skip_blanks};
use super::scan::{self, Piece};
use super::seen::Seen;
use super::sentences;
use super::severity;
use super::units::{self, BlockKind};
use super::view::TextView;

/// Lexes texts into an arena that is reused from conversation to conversation.
#[derive(Debug, Default)]
pub struct Lexer {
    lines: Vec<Line>,
    units: Vec<Unit>,
    facts: Vec<Fact>,
    cues: Vec<Cue>,
    fences: Vec<Fence>,
    pieces: Vec<Piece>,
    names: Names,
    bearings: Bearings,
}

impl Lexer {
    /// Forgets all texts and keeps the memory.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.units.clear();
        self.facts.clear();
        self.cues.clear();
        self.fences.clear();
    }
    /// One pass over `text`, at most 4 GiB; the findings stay in the arena until `clear`. Takes time linear in
    /// the text, whatever the text.
    pub fn lex(&mut self, text: &str) -> Lexed {
        let starts = [self.lines.len(), self.units.len(), self.facts.len(), self.cues.len(), self.fences.len()]
            .map(|len| len as u32);
        let mut counts = CharCounts::default();
        counts::count_ascii(text, &mut counts);
        self.pieces.clear();
        self.names.clear();
        let mut pass = Pass { text, counts, first_fact: starts[2] as usize, ..Pass::default() };
        pass.run(self);
        self.names.finish(text.as_bytes(), &mut self.facts);
        self.link(starts);
        let [lines, units, facts, cues, fences] = starts;
        Lexed {
            lines: lines..self.lines.len() as u32,
            units: units..self.units.len() as u32,
            facts: facts..self.facts.len() as u32,
            cues: cues..self.cues.len() as u32,
            fences: fences..self.fences.len() as u32,
            counts: pass.counts,
        }
    }
    /// Only the facts of a text that is data and is never summarised, such as the arguments of a call: as those of
    /// a fenced block.
    pub fn lex_facts(&mut self, text: &str) -> Lexed {
        let first = self.facts.len();
        let mut counts = CharCounts::default();
        self.names.clear();
        let mut start = 0;
        for line in text.split('\n') {
            let end = start + line.len();
            self.pieces.clear();
            let seen = scan::scan(text, start, end, &mut self.pieces, &mut counts);
            if let Some(line) = LineText::of(text.as_bytes(), 0, &self.pieces, seen) {
                facts::find(&line, LineKind::Fenced, &mut self.facts, &mut self.names);
            }
            start = end + 1;
        }
        self.pieces.clear();
        self.names.finish(text.as_bytes(), &mut self.facts);
        Lexed { facts: first as u32..self.facts.len() as u32, counts, ..Lexed::default() }
    }
    /// Only the facts of a text that stays as it is: those that [`Lexer::lex`] finds, without units, cues and lines.
    pub fn lex_kept(&mut self, text: &str) -> Lexed {
        let [n_lines, first, n_fences] = [self.lines.len(), self.facts.len(), self.fences.len()];
        self.pieces.clear();
        self.names.clear();
        let mut pass = Pass { text, first_fact: first, is_kept: true, ..Pass::default() };
        pass.run(self);
        self.names.finish(text.as_bytes(), &mut self.facts);
        self.lines.truncate(n_lines);
        self.fences.truncate(n_fences);
        self.pieces.clear();
        Lexed { facts: first as u32..self.facts.len() as u32, counts: pass.counts, ..Lexed::default() }
    }
    /// Forgets all texts but `text`, which is lexed.
    pub fn alone<'a>(&'a mut self, text: &'a str) -> TextView<'a> {
        self.clear();
        let lexed = self.lex(text);
        self.view(text, &lexed)
    }
    /// The same with [`Lexer::lex_facts`].
    pub fn facts_alone<'a>(&'a mut self, text: &'a str) -> TextView<'a> {
        self.clear();
        let lexed = self.lex_facts(text);
        self.view(text, &lexed)
    }
    /// The findings of a `lex` call together with its text.
    #[must_use]
    pub fn view<'a>(&'a self, text: &'a str, lexed: &Lexed) -> TextView<'a> {
        fn part<'v, T>(all: &'v [T], range: &std::ops::Range<u32>) -> &'v [T] {
            all.get(range.start as usize..range.end as usize).unwrap_or_default()
        }
        TextView {
            text,
            lines: part(&self.lines, &lexed.lines),
            units: part(&self.units, &lexed.units),
            facts: part(&self.facts, &lexed.facts),
            cues: part(&self.cues, &lexed.cues),
            fences: part(&self.fences, &lexed.fences),
            counts: lexed.counts,
            scope: Span { start: 0, end: text.len() as u32 },
            first_fact: 0,
            first_cue: 0,
        }
    }

    /// Gives every unit the facts and cues that start in it.
    fn link(&mut self, starts: [u32; 5]) {
        let facts = self.facts.get(starts[2] as usize..).unwrap_or_default();
        let cues = self.cues.get(starts[3] as usize..).unwrap_or_default();
        let (mut fact, mut cue) = (0, 0);
        for unit in self.units.iter_mut().skip(starts[1] as usize) {
            let fact_at = |from, limit: u32| first_behind(facts, from, |fact| fact.span.start < limit);
            let cue_at = |from, limit: u32| first_behind(cues, from, |cue| cue.at < limit);
            (fact, cue) = (fact_at(fact, unit.span.start), cue_at(cue, unit.span.start));
            let (fact_end, cue_end) = (fact_at(fact, unit.span.end), cue_at(cue, unit.span.end));
            unit.facts = fact as u32..fact_end as u32;
            unit.cues = cue as u32..cue_end as u32;
            (fact, cue) = (fact_end, cue_end);
        }
    }
}

/// The first place from `at` on where `is_before` does not hold.
fn first_behind<T>(all: &[T], mut at: usize, is_before: impl Fn(&T) -> bool) -> usize {
    while all.get(at).is_some_and(&is_before) {
        at += 1;
    }
    at
}

/// Where the pass stands.
#[derive(Default)]
struct Pass<'t> {
    text: &'t str,
    counts: CharCounts,
    /// Index of this text's first fact in the arena.
    first_fact: usize,
    /// The text stays: nobody looks at its units and at what its lines report.
    is_kept: bool,
    fence: Option<OpenFence>,
    in_list: bool,
    /// Behind the head of a diff or of one of its hunks.
    in_hunk: bool,
    paragraph: u32,
    /// The paragraph has units.
    is_begun: bool,
    block: Option<Block>,
    previous: LineKind,
    numbering: Numbering,
    /// The line has the number of a viewer before it, which is no part of the text.
    is_numbered: bool,
}

/// The block that the pieces in the lexer belong to.
#[derive(Debug, Clone, Copy)]
struct Block {
    kind: BlockKind,
    n_lines: u32,
}

impl Pass<'_> {
    fn run(&mut self, lexer: &mut Lexer) {
        let bytes = self.text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            if bytes[start] == b'\n' && self.fence.is_none() {
                let span = Span { start: start as u32, end: start as u32 };
                self.blank(lexer, Line { span, body: span.start, ..Line::default() });
                start += 1;
                continue;
            }
            let (mut end, next) = match memchr::memchr(b'\n', &bytes[start..]) {
                Some(len) => (start + len, start + len + 1),
                None => (bytes.len(), bytes.len()),
            };
            if end > start && bytes[end - 1] == b'\r' {
                end -= 1;
            }
            self.line(lexer, Span { start: start as u32, end: end as u32 }, next);
            start = next;
        }
        self.flush(lexer, lexer.pieces.len());
        if let Some(fence) = self.fence.take() {
            lexer.fences.push(fence.end(bytes.len() as u32));
        }
    }

    fn line(&mut self, lexer: &mut Lexer, span: Span, next: usize) {
        let bytes = self.text.as_bytes();
        let (start, end) = (span.start as usize, span.end as usize);
        let (mut body, (mut mark, mut indent)) = (start, skip_blanks(bytes, start, end));
        self.is_numbered = false;
        if self.fence.is_none()
            && let Some(behind) = self.numbering.body(bytes, (start, mark, end), next)
        {
            (body, (mark, indent)) = (behind, skip_blanks(bytes, behind, end));
            self.is_numbered = true;
        }
        let indent_blanks = u16::try_from(indent).unwrap_or(u16::MAX);
        let mut line = Line { span, indent: indent_blanks, body: body as u32, ..Line::default() };
        if let Some(fence) = self.fence {
            line.kind = LineKind::Fenced;
            if fence.is_closed_by(bytes, span, mark, indent) {
                line.kind = LineKind::Fence;
                lexer.fences.push(fence.close(span));
                self.fence = None;
                scan::scan(self.text, span.start as usize, end, &mut lexer.pieces, &mut self.counts);
            } else {
                self.fenced(lexer, &mut line, mark, indent);
            }
            lexer.pieces.clear();
            lexer.lines.push(line);
            return;
        }
        let first = lexer.pieces.len();
        let seen = scan::scan(self.text, mark, end, &mut lexer.pieces, &mut self.counts);
        let Some(text) = LineText::of(bytes, indent, &lexer.pieces[first..], seen) else {
            self.blank(lexer, line);
            return;
        };
        if let Some(fence) = self.open_fence(&text, span, next).filter(|_| !self.is_numbered) {
            line.kind = LineKind::Fence;
            self.flush(lexer, first);
            self.break_paragraph();
            self.in_hunk = false;
            self.fence = Some(fence);
            lexer.pieces.clear();
            lexer.lines.push(line);
            self.previous = LineKind::Fence;
            return;
        }
        if self.is_underline(&text) && !sentences::ends(bytes, &lexer.pieces[..first]) {
            line.kind = LineKind::Heading;
            lexer.pieces.truncate(first);
            if let Some(title) = lexer.lines.last_mut() {
                title.kind = LineKind::Heading;
            }
            self.block = None;
            self.heading(lexer, first);
            lexer.lines.push(line);
            self.previous = LineKind::Heading;
            return;
        }
        if self.is_in_hunk(span, mark) {
            line.kind = LineKind::Diff;
        } else {
            (line.kind, line.signs) = judge::judge(&text, self.previous);
        }
        self.in_hunk = line.kind.is_diff() || self.in_hunk && text.trimmed().starts_with(b"index ");
        if !self.is_kept {
            line.severity = severity::severity(&text, line.kind);
        }
        if line.severity == Severity::Totals && line.kind == LineKind::Prose {
            line.kind = LineKind::Status;
        }
        facts::find(&text, line.kind, &mut lexer.facts, &mut lexer.names);
        let is_item = match line.kind {
            LineKind::ListItem => true,
            LineKind::KeyValue | LineKind::Pair => judge::list_content(&text).is_some(),
            _ => false,
        };
        if self.is_kept {
            lexer.pieces.clear();
        } else {
            lexer.lines.push(line);
            self.place(lexer, line, first, is_item);
        }
        self.in_list = is_item || (self.in_list && indent >= 2);
        self.previous = line.kind;
    }

    /// True for a line of a hunk by its first sign, which stands behind the number of a viewer.
    fn is_in_hunk(&self, span: Span, mark: usize) -> bool {
        let first = if self.is_numbered { mark } else { span.start as usize };
        self.in_hunk && matches!(self.text.as_bytes().get(first), Some(b'+' | b'-' | b' ' | b'\\' | b'<' | b'>'))
    }

    fn fenced(&mut self, lexer: &mut Lexer, line: &mut Line, mark: usize, indent: usize) {
        lexer.pieces.clear();
        let seen = scan::scan(self.text, mark, line.span.end as usize, &mut lexer.pieces, &mut self.counts);
        let Some(text) = LineText::of(self.text.as_bytes(), indent, &lexer.pieces, seen) else { return };
        if !self.is_kept {
            line.severity = severity::severity(&text, LineKind::Fenced);
        }
        facts::find(&text, LineKind::Fenced, &mut lexer.facts, &mut lexer.names);
    }

    fn blank(&mut self, lexer: &mut Lexer, line: Line) {
        self.flush(lexer, lexer.pieces.len());
        self.break_paragraph();
        lexer.lines.push(line);
        self.previous = LineKind::Blank;
    }

    fn open_fence(&self, line: &LineText<'_>, span: Span, next: usize) -> Option<OpenFence> {
        if line.mask & (scan::TICK | scan::SIGN) == 0 {
            return None;
        }
        let bytes = line.bytes;
        if let Some(fence) = OpenFence::open(bytes, span, line.start, line.indent, self.in_list, next) {
            return Some(fence);
        }
        let content = judge::list_content(line)?;
        OpenFence::open(bytes, span, content, line.indent + content - line.start, true, next)
    }

    /// `===` or `---` under a single line of prose that has no end sign.
    fn is_underline(&self, line: &LineText<'_>) -> bool {
        self.block.is_some_and(|block| block.kind == BlockKind::Prose && block.n_lines == 1)
            && self.previous == LineKind::Prose
            && line.pieces.len() == 1
            && matches!(line.bytes[line.start], b'=' | b'-')
            && judge::is_rule(line)
    }

    /// Puts the line, whose pieces begin at `first`, into a block or makes it a unit.
    fn place(&mut self, lexer: &mut Lexer, line: Line, first: usize, is_item: bool) {
        let is_prose = matches!(line.kind, LineKind::Prose | LineKind::Pair) && !is_item;
        if is_prose && line.severity == Severity::None && self.is_continuation(lexer, line, first) {
            if let Some(block) = &mut self.block {
                block.n_lines += 1;
            }
            return;
        }
        self.flush(lexer, first);
        match line.kind {
            _ if is_item => {
                let n_markers = usize::from(lexer.pieces.len() > 1);
                lexer.pieces.drain(..n_markers);
                self.block = Some(Block { kind: BlockKind::Item, n_lines: 1 });
            }
            LineKind::Prose | LineKind::Pair | LineKind::Quote => {
                self.block = Some(Block { kind: BlockKind::Prose, n_lines: 1 });
            }
            LineKind::Heading => self.heading(lexer, lexer.pieces.len()),
            _ => self.whole(lexer, UnitKind::Line),
        }
    }

    fn is_continuation(&self, lexer: &Lexer, line: Line, first: usize) -> bool {
        let Some(block) = self.block else { return false };
        let (Some(&head), true) = (lexer.pieces.get(first), first > 0 && self.numbering.may_join()) else {
            return false;
        };
        let bytes = self.text.as_bytes();
        // A hash, a path or a version opens a line of its own.
        let is_plain = !head.has(scan::DIGIT | scan::UNDER | scan::SLASH | scan::AT | scan::MONEY);
        match (block.kind, self.previous) {
            (BlockKind::Item, _) if line.indent >= 2 => true,
            (_, LineKind::Prose | LineKind::Pair | LineKind::ListItem) => {
                is_plain && sentences::begins_small(bytes, head) && !sentences::ends(bytes, &lexer.pieces[..first])
            }
            _ => false,
        }
    }

    fn heading(&mut self, lexer: &mut Lexer, n_pieces: usize) {
        self.break_paragraph();
        lexer.pieces.truncate(n_pieces);
        self.whole(lexer, UnitKind::Heading);
        self.break_paragraph();
    }

    /// One unit of all pieces.
    fn whole(&mut self, lexer: &mut Lexer, kind: UnitKind) {
        self.block = None;
        let (Some(head), Some(tail)) = (lexer.pieces.first(), lexer.pieces.last()) else { return };
        let span = Span { start: head.start, end: tail.end };
        let Lexer { units, cues, pieces, facts, bearings, .. } = lexer;
        self.emit((units, bearings), cues, facts, pieces, span, kind);
        pieces.clear();
    }

    /// Makes units of the block, whose pieces end at `first`, and drops them.
    fn flush(&mut self, lexer: &mut Lexer, first: usize) {
        if first == 0 {
            self.block = None;
            return;
        }
        let Some(block) = self.block.take() else {
            lexer.pieces.drain(..first);
            return;
        };
        let Lexer { units, cues, pieces, facts, bearings, .. } = lexer;
        let block_pieces = pieces.get(..first).unwrap_or_default();
        let bytes = self.text.as_bytes();
        units::split(bytes, block_pieces, block.kind, &mut |span, kind, part| {
            self.emit((units, bearings), cues, facts, part, span, kind);
        });
        pieces.drain(..first);
    }

    fn emit(
        &mut self,
        (units, bearings): (&mut Vec<Unit>, &mut Bearings),
        cues: &mut Vec<Cue>,
        facts: &[Fact],
        pieces: &[Piece],
        span: Span,
        kind: UnitKind,
    ) {
        let bytes = self.text.as_bytes();
        let n_chars = if self.counts.chars as usize == bytes.len() {
            span.len()
        } else {
            counts::count_chars(bytes.get(span.start as usize..span.end as usize).unwrap_or_default())
        };
        let facts = facts.get(self.first_fact..).unwrap_or_default();
        let seen = Seen::of(pieces);
        cues::find(bytes, (pieces, seen), span, kind, facts, cues);
        units.push(Unit {
            span,
            n_chars: n_chars as u32,
            paragraph: self.paragraph,
            kind,
            facts: 0..0,
            cues: 0..0,
            bearing: bearings.of(self.text, span, (pieces, seen)),
        });
        self.is_begun = true;
    }

    fn break_paragraph(&mut self) {
        self.paragraph += u32::from(self.is_begun);
        self.is_begun = false;
    }
}
