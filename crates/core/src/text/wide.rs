//! Cues of Chinese and Japanese, which are written without blanks. Knows short strings and where they stand;
//! refuses to know words of other scripts.

use super::lexed::{Cue, CueKind, Span};
use super::scan;
use super::words::word_list;

/// What the string that begins with the character `code` says, and its length; `rest` begins with it.
fn cue_at(code: u32, rest: &[u8]) -> Option<(usize, CueKind)> {
    use CueKind::{Correction, Decision, Emphasis, Negation, Obligation, Reasoning};
    let candidates: &[(&str, CueKind)] = match char::from_u32(code)? {
        '不' if is_harmless(rest) => return None,
        '不' | '没' | '沒' | '未' | '无' | '無' | '别' | '勿' => return Some((3, Negation)),
        'な' => &[("なければ", Obligation), ("なかった", Negation), ("ない", Negation)],
        'ま' => &[("ません", Negation)],
        'ず' => &[("ずに", Negation)],
        'べ' => &[("べき", Obligation)],
        'し' => &[("したがって", Reasoning), ("しかし", Emphasis)],
        'そ' => &[("そのため", Reasoning)],
        'の' => &[("ので", Reasoning)],
        '必' => &[("必须", Obligation), ("必須", Obligation), ("必ず", Obligation), ("必要", Obligation)],
        '务' => &[("务必", Obligation)],
        '应' => &[("应该", Obligation), ("应当", Obligation)],
        '禁' => &[("禁止", Obligation)],
        '重' => &[("重要", Emphasis)],
        '注' => &[("注意", Emphasis)],
        '关' => &[("关键", Emphasis)],
        '但' => &[("但是", Emphasis)],
        '因' => &[("因此", Reasoning), ("因为", Reasoning)],
        '所' => &[("所以", Reasoning)],
        '由' => &[("由于", Reasoning)],
        '决' => &[("决定", Decision)],
        '決' => &[("決定", Decision)],
        '同' => &[("同意", Decision)],
        '批' => &[("批准", Decision)],
        '更' => &[("更正", Correction)],
        '訂' => &[("訂正", Correction)],
        _ => return None,
    };
    candidates.iter().find(|(text, _)| rest.starts_with(text.as_bytes())).map(|&(text, kind)| (text.len(), kind))
}

/// What `cue_at` knows begins with one of these.
const CUE_STARTS: Starts = Starts::of(&[
    "不", "没", "沒", "未", "无", "無", "别", "勿", "な", "ま", "ず", "べ", "し", "そ", "の", "必", "务", "应", "禁",
    "重", "注", "关", "但", "因", "所", "由", "决", "決", "同", "批", "更", "訂",
]);
const FILLER_STARTS: Starts = Starts::of(FILLERS);

/// The bytes that three-byte characters begin with, as bits: passes all the given ones and few others.
struct Starts {
    second: u64,
    third: [u64; 16],
}

impl Starts {
    const fn of(texts: &[&str]) -> Self {
        let mut starts = Self { second: 0, third: [0; 16] };
        let mut at = 0;
        while at < texts.len() {
            let text = texts[at].as_bytes();
            starts.second |= 1 << (text[1] & 63);
            starts.third[(text[0] & 15) as usize] |= 1 << (text[2] & 63);
            at += 1;
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
        let (code, len) = scan::decode(bytes, at);
        let Some((len, kind)) = cue_at(code, rest) else {
            at += len;
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
