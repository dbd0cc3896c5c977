//! Finds what a unit does: negates, obliges, decides, corrects, asks, or says nothing. Knows words and their
//! neighbours; refuses to know facts and lines.

use super::lexed::{Cue, CueKind, Fact, FactKind, Span, UnitKind};
use super::scan::{self, Piece};
use super::seen::Seen;
use super::words::{self, word_list};

const SINGLE: [(u32, CueKind); 3] = [
    (words::EMPHASIS, CueKind::Emphasis),
    (words::REASONING, CueKind::Reasoning),
    (words::DECISION, CueKind::Decision),
];
const ANY: u32 = words::NEGATION
    | words::OBLIGATION
    | words::EMPHASIS
    | words::REASONING
    | words::DECISION
    | words::PHRASE
    | words::REPORT;
/// A unit of more pieces than this is no filler.
const MAX_FILLER: usize = 14;

/// Pushes the cues of a unit, sorted; `pieces`, of which all is `seen`, lie in it or overlap it.
pub(super) fn find(
    bytes: &[u8],
    (pieces, seen): (&[Piece], Seen),
    span: Span,
    kind: UnitKind,
    facts: &[Fact],
    cues: &mut Vec<Cue>,
) {
    if kind == UnitKind::Line && pieces.len() > 200 {
        return;
    }
    let unit = Unit { bytes, pieces, is_line: kind == UnitKind::Line };
    let own = cues.len();
    let Seen { mask, word: flags, .. } = seen;
    let may_be_filler = flags & (words::FILLER | words::AFTER_NO) != 0 || mask & scan::WIDE != 0;
    if may_be_filler && unit.is_filler(span) && !has_facts(facts, span) {
        cues.push(Cue { at: span.start, kind: CueKind::Filler });
    }
    if unit.is_correction() {
        cues.push(Cue { at: span.start, kind: CueKind::Correction });
    }
    let may_be_cue = flags & ANY != 0 || mask & (scan::APOSTROPHE | scan::EXT_QUOTE) != 0;
    for (index, piece) in pieces.iter().enumerate().filter(|_| may_be_cue) {
        if piece.word & ANY != 0 {
            unit.word(index, *piece, cues);
        }
        if piece.word & words::NEGATION == 0
            && piece.has(scan::APOSTROPHE | scan::EXT_QUOTE)
            && piece.end - piece.start <= 24
            && ends_with_nt(piece, bytes)
        {
            unit.negation(index, *piece, cues);
        }
    }
    if mask & scan::WIDE != 0 {
        let first = cues.len();
        super::wide::find(bytes, span, cues);
        if cues.len() > first {
            // Before `own` stand the cues of other units, also of other texts.
            cues[own..].sort_by_key(|cue| (cue.at, cue.kind));
        }
    }
    let text = bytes.get(span.start as usize..span.end as usize).unwrap_or_default();
    if mask & (scan::END | scan::WIDE_END) != 0
        && let Some(at) = question(text, mask & scan::WIDE_END != 0)
    {
        cues.push(Cue { at: span.start + at as u32, kind: CueKind::Question });
    }
}

/// True when a fact that is no name starts in `span`.
fn has_facts(facts: &[Fact], span: Span) -> bool {
    let first = facts.partition_point(|fact| fact.span.start < span.start);
    let rest = facts.get(first..).unwrap_or_default();
    rest.iter().take_while(|fact| fact.span.start < span.end).any(|fact| fact.kind != FactKind::Name)
}

/// Where the question mark stands that the unit ends with.
fn question(text: &[u8], may_be_wide: bool) -> Option<usize> {
    let tail_start = text.len().saturating_sub(12);
    let tail = text.get(tail_start..)?;
    if let Some(at) = tail.iter().rposition(|&byte| byte == b'?') {
        let rest = &tail[at + 1..];
        return rest.iter().all(|byte| !byte.is_ascii_alphanumeric()).then_some(tail_start + at);
    }
    if !may_be_wide {
        return None;
    }
    tail.windows(3).rposition(|sign| sign == "？".as_bytes()).map(|at| tail_start + at)
}

fn ends_with_nt(piece: &Piece, bytes: &[u8]) -> bool {
    matches!(
        piece.word(bytes),
        [.., b'n' | b'N', b'\'', b't' | b'T'] | [.., b'n' | b'N', 0xe2, 0x80, 0x99, b't' | b'T']
    )
}

struct Unit<'a> {
    bytes: &'a [u8],
    pieces: &'a [Piece],
    is_line: bool,
}

impl<'a> Unit<'a> {
    fn core(&self, index: usize) -> &'a [u8] {
        self.pieces.get(index).map_or(b"", |piece| piece.word(self.bytes))
    }
    fn is(&self, index: usize, word: &str) -> bool {
        self.core(index).eq_ignore_ascii_case(word.as_bytes())
    }
    fn is_any(&self, index: usize, words: &[&str]) -> bool {
        let core = self.core(index);
        words.iter().any(|word| core.eq_ignore_ascii_case(word.as_bytes()))
    }
    fn before(&self, index: usize, distance: usize, word: &str) -> bool {
        index.checked_sub(distance).is_some_and(|index| self.is(index, word))
    }

    fn word(&self, index: usize, piece: Piece, cues: &mut Vec<Cue>) {
        let at = piece.core(self.bytes).0 as u32;
        let flags = piece.word;
        if flags & words::NEGATION != 0 && !self.is_harmless_no(index) {
            self.negation(index, piece, cues);
        }
        if flags & words::OBLIGATION != 0 {
            cues.push(Cue { at, kind: CueKind::Obligation });
        }
        for (flag, kind) in SINGLE {
            if flags & flag != 0 {
                cues.push(Cue { at, kind });
            }
        }
        if flags & words::PHRASE != 0
            && let Some(kind) = self.phrase(index)
        {
            cues.push(Cue { at, kind });
        }
        if flags & words::REPORT != 0 && is_status(self.core(index)) {
            cues.push(Cue { at, kind: CueKind::Status });
        }
    }

    fn negation(&self, index: usize, piece: Piece, cues: &mut Vec<Cue>) {
        let at = piece.core(self.bytes).0 as u32;
        cues.push(Cue { at, kind: CueKind::Negation });
        // An order not to do something obliges.
        let is_order = self.is_any(index, &["don't", "don’t", "dont"]) && index == 0
            || self.is(index, "not")
                && (index == 1 && self.is(0, "do") || self.before(index, 1, "must") || index == 2 && self.is(1, "do"))
            || self.is(index, "never") && index == 0;
        if is_order {
            cues.push(Cue { at, kind: CueKind::Obligation });
        }
    }

    /// "no problem", and the `None` of source code.
    fn is_harmless_no(&self, index: usize) -> bool {
        let is_filled = self.pieces.get(index + 1).is_some_and(|next| next.word & words::AFTER_NO != 0);
        is_filled && self.is_any(index, &["no", "ne", "pas"]) || self.is_line && self.core(index) == b"None"
    }

    /// What the phrase around its rarest word says.
    fn phrase(&self, index: usize) -> Option<CueKind> {
        let mut word = [0; 12];
        let core = self.core(index);
        let folded = word.get_mut(..core.len())?;
        folded.copy_from_slice(core);
        folded.make_ascii_lowercase();
        match &*folded {
            b"result" if self.before(index, 2, "as") || self.is(index + 1, "of") && self.before(index, 2, "as") => {
                Some(CueKind::Reasoning)
            }
            b"given" if self.is(index + 1, "that") => Some(CueKind::Reasoning),
            b"due" if self.is(index + 1, "to") => Some(CueKind::Reasoning),
            b"reason" if self.before(index, 1, "this") || self.before(index, 1, "that") => Some(CueKind::Reasoning),
            b"consequence" if self.before(index, 2, "as") => Some(CueKind::Reasoning),
            b"turns" if self.is(index + 1, "out") => Some(CueKind::Reasoning),
            b"folge" | b"grund" if self.before(index, 1, "diesem") || self.before(index, 2, "zur") => {
                Some(CueKind::Reasoning)
            }
            b"raison" if self.is(index + 1, "de") => Some(CueKind::Reasoning),
            b"conclusion" | b"summary" | b"sum" if self.before(index, 1, "in") => Some(CueKind::Emphasis),
            b"action" if self.is_any(index + 1, &["item", "items"]) => Some(CueKind::Decision),
            b"todo" if self.core(index) == b"TODO" => Some(CueKind::Decision),
            b"going"
                if self.is(index + 1, "with") && (self.before(index, 1, "we're") || self.before(index, 1, "are")) =>
            {
                Some(CueKind::Decision)
            }
            b"have" | b"has" | b"had" | b"need" | b"needs" if self.is(index + 1, "to") => Some(CueKind::Obligation),
            _ => None,
        }
    }

    /// True when every word carries nothing and at least one of them is known filler.
    fn is_filler(&self, span: Span) -> bool {
        if self.pieces.len() > MAX_FILLER {
            return false;
        }
        let (mut is_core, mut n_words, mut after_no) = (false, 0, false);
        for piece in self.pieces {
            if piece.has(scan::DIGIT | scan::UNDER | scan::SLASH | scan::AT | scan::HASH | scan::MONEY | scan::WIDE) {
                return piece.has(scan::WIDE) && super::wide::is_filler(self.bytes, span);
            }
            if piece.mask & (scan::PLAIN | scan::DIGIT) == 0 {
                continue;
            }
            n_words += 1;
            let is_no = piece.word & words::NEGATION != 0
                && self.bytes.get(piece.start as usize).is_some_and(|byte| matches!(byte, b'n' | b'N'))
                && piece.end - piece.start <= 3;
            if piece.word & words::FILLER != 0 || after_no && piece.word & words::AFTER_NO != 0 {
                is_core = true;
            } else if piece.word & words::GLUE == 0 && !is_no {
                return false;
            }
            after_no = is_no;
        }
        let ends_with_no = after_no;
        is_core && n_words <= MAX_FILLER && !ends_with_no && !self.has_lone_no()
    }

    /// A "no" that no filler follows answers or denies.
    fn has_lone_no(&self) -> bool {
        (0..self.pieces.len()).any(|index| {
            self.pieces[index].word & words::NEGATION != 0
                && self.pieces.get(index + 1).is_none_or(|next| next.word & words::AFTER_NO == 0)
        })
    }

    fn is_correction(&self) -> bool {
        let Some(first) = self.pieces.first() else { return false };
        if first.word & words::CORRECTION == 0 {
            return false;
        }
        let mark = first.of(self.bytes).last().copied().unwrap_or(b' ');
        let has_mark = matches!(mark, b',' | b':' | b'-' | b'.' | b'!') || self.core(1).is_empty();
        if self.is_any(0, &["actually", "correction", "korrektur", "oops"]) {
            return self.is(0, "actually") || has_mark;
        }
        if self.is_any(0, word_list!("cues", CUES)) {
            return has_mark;
        }
        if self.is_any(0, &["no", "non"]) {
            return mark == b',' && self.is_any(1, word_list!("cues", BEHIND_NO));
        }
        if self.is(0, "scratch") {
            return self.is_any(1, &["that", "this"]);
        }
        if self.is_any(0, &["sorry", "apologies"]) {
            return self.is(1, "i") && self.is_any(2, &["meant", "was", "mean", "misspoke"])
                || self.is_any(1, &["correction", "wrong"]);
        }
        if self.is(0, "my") {
            return self.is_any(1, &["mistake", "bad"]);
        }
        self.is(0, "i")
            && (self.is(1, "was") && self.is_any(2, &["wrong", "mistaken"]) || self.is_any(1, &["meant", "misspoke"]))
    }
}

/// The status words that count, in capitals.
fn is_status(word: &[u8]) -> bool {
    matches!(word, b"PASS" | b"PASSED" | b"FAIL" | b"FAILED" | b"ERROR" | b"ERRORS" | b"WARN" | b"WARNING" | b"FATAL")
}
