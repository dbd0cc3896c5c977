//! Cues of Chinese and Japanese, which are written without blanks. Knows short strings and where they stand;
//! refuses to know words of other scripts.

use super::lexed::{Cue, CueKind, Span};
use super::scan;
use super::words::word_list;

/// What cues of each kind begin with; of those that begin alike the longer ones stand first.
const CUES: [(&[&str], CueKind); 6] = [
    (word_list!("wide", NEGATION), CueKind::Negation),
    (word_list!("wide", OBLIGATION), CueKind::Obligation),
    (word_list!("wide", REASONING), CueKind::Reasoning),
    (word_list!("wide", EMPHASIS), CueKind::Emphasis),
    (word_list!("wide", DECISION), CueKind::Decision),
    (word_list!("wide", CORRECTION), CueKind::Correction),
];
const CUE_STARTS: Starts = Starts::of(&[CUES[0].0, CUES[1].0, CUES[2].0, CUES[3].0, CUES[4].0, CUES[5].0]);
const FILLER_STARTS: Starts = Starts::of(&[FILLERS]);

/// The cue that `rest` begins with, and its length.
fn cue_at(rest: &[u8]) -> Option<(usize, CueKind)> {
    let begins = |text: &&&str| rest.starts_with(text.as_bytes());
    let (text, kind) = CUES.iter().find_map(|(list, kind)| Some((list.iter().find(begins)?, *kind)))?;
    (*text != "不" || !is_harmless(rest)).then_some((text.len(), kind))
}

/// The bytes that three-byte characters begin with, as bits: passes all the given ones and few others.
struct Starts {
    second: u64,
    third: [u64; 16],
}

impl Starts {
    const fn of(lists: &[&[&str]]) -> Self {
        let mut starts = Self { second: 0, third: [0; 16] };
        let (mut list, mut at) = (0, 0);
        while list < lists.len() {
            let text = lists[list][at].as_bytes();
            starts.second |= 1 << (text[1] & 63);
            starts.third[(text[0] & 15) as usize] |= 1 << (text[2] & 63);
            (list, at) = if at + 1 < lists[list].len() { (list, at + 1) } else { (list + 1, 0) };
        }
        starts
    }

    fn may_begin(&self, first: u8, second: u8, third: u8) -> bool {
        self.second >> (second & 63) & self.third[usize::from(first & 15)] >> (third & 63) & 1 != 0
    }
}

/// A `不` that denies nothing; `rest` begins with it.
fn is_harmless(rest: &[u8]) -> bool {
    let next = char::from_u32(scan::decode(rest, 3).0).unwrap_or(' ');
    matches!(next, '错' | '過' | '过' | '仅' | '但' | '同' | '如' | '管' | '断' | '客')
}

/// True for signs of scripts that write without blanks: ideographs, kana, hangul.
pub(super) fn is_wide(c: char) -> bool {
    scan::class_of(c as u32) & scan::WIDE != 0
}

/// What carries nothing.
const FILLERS: &[&str] = word_list!("wide", FILLERS);

/// Pushes the cues of wide scripts in the unit.
pub(super) fn find(bytes: &[u8], span: Span, cues: &mut Vec<Cue>) {
    let end = span.end as usize;
    let mut at = span.start as usize;
    while at < end {
        let byte = bytes[at];
        if byte < 0xe3 {
            at += 1;
            continue;
        }
        let rest = bytes.get(at..end).unwrap_or_default();
        let [first, second, third, ..] = *rest else { break };
        if byte < 0xf0 && !CUE_STARTS.may_begin(first, second, third) {
            at += 3;
            continue;
        }
        let Some((len, kind)) = cue_at(rest) else {
            at += scan::decode(bytes, at).1;
            continue;
        };
        if kind != CueKind::Correction || at == span.start as usize {
            cues.push(Cue { at: at as u32, kind });
        }
        at += len;
    }
}

/// True when nothing but filler and punctuation is in the unit.
pub(super) fn is_filler(bytes: &[u8], span: Span) -> bool {
    if span.len() > 90 {
        return false;
    }
    let mut rest = bytes.get(span.start as usize..span.end as usize).unwrap_or_default();
    let mut is_found = false;
    while !rest.is_empty() {
        if let [first, second, third, ..] = *rest
            && first >= 0xe0
            && FILLER_STARTS.may_begin(first, second, third)
            && let Some(text) = FILLERS.iter().find(|text| rest.starts_with(text.as_bytes()))
        {
            rest = &rest[text.len()..];
            is_found = true;
            continue;
        }
        let (code, len) = scan::decode(rest, 0);
        let is_sign = code < 0x80 && !(code as u8).is_ascii_alphanumeric()
            || code >= 0x80 && scan::class_of(code) & (scan::WIDE_END | scan::WIDE_COMMA | scan::OTHER) != 0;
        if !is_sign {
            return false;
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    is_found
}
