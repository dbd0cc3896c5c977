//! Cues of Chinese and Japanese, which are written without blanks. Knows short strings and where they stand;
//! refuses to know words of other scripts.

use super::lexed::{Cue, CueKind, Span};
use super::lexer::{KEY_START, key_of};
use super::scan;

/// What a string at some place says.
static STRINGS: &[(&str, CueKind)] = &[
    ("不", CueKind::Negation),
    ("没", CueKind::Negation),
    ("沒", CueKind::Negation),
    ("未", CueKind::Negation),
    ("无", CueKind::Negation),
    ("無", CueKind::Negation),
    ("别", CueKind::Negation),
    ("勿", CueKind::Negation),
    ("ない", CueKind::Negation),
    ("なかった", CueKind::Negation),
    ("ません", CueKind::Negation),
    ("ずに", CueKind::Negation),
    ("必须", CueKind::Obligation),
    ("必須", CueKind::Obligation),
    ("务必", CueKind::Obligation),
    ("应该", CueKind::Obligation),
    ("必ず", CueKind::Obligation),
    ("べき", CueKind::Obligation),
    ("禁止", CueKind::Obligation),
    ("なければ", CueKind::Obligation),
    ("重要", CueKind::Emphasis),
    ("注意", CueKind::Emphasis),
    ("关键", CueKind::Emphasis),
    ("但是", CueKind::Emphasis),
    ("因此", CueKind::Reasoning),
    ("所以", CueKind::Reasoning),
    ("因为", CueKind::Reasoning),
    ("由于", CueKind::Reasoning),
    ("したがって", CueKind::Reasoning),
    ("そのため", CueKind::Reasoning),
    ("ので", CueKind::Reasoning),
    ("决定", CueKind::Decision),
    ("決定", CueKind::Decision),
    ("同意", CueKind::Decision),
    ("批准", CueKind::Decision),
    ("更正", CueKind::Correction),
    ("訂正", CueKind::Correction),
];

/// What carries nothing.
static FILLERS: &[&str] = &[
    "好的",
    "谢谢你",
    "谢谢",
    "谢啦",
    "感谢",
    "当然",
    "没问题",
    "不客气",
    "嗯",
    "哈",
    "呵",
    "你好",
    "您好",
    "再见",
    "拜拜",
    "是的",
    "对的",
    "好",
    "啊",
    "哦",
    "呢",
    "吧",
    "了",
    "嘛",
    "はい",
    "ありがとうございます",
    "ありがとう",
    "そうですね",
    "なるほど",
    "どういたしまして",
    "こんにちは",
    "こんばんは",
    "おはようございます",
    "よろしくお願いします",
    "わかりました",
    "了解です",
    "了解しました",
    "ええ",
    "うん",
    "そうですか",
    "お疲れ様です",
    "さようなら",
    "よろしくお願いいたします",
    "すごいですね",
    "いいですね",
    "へえ",
    "ー",
    "笑",
];

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
        if may_begin(bytes, at) {
            let rest = bytes.get(at..end).unwrap_or_default();
            if let Some(&(text, kind)) = STRINGS.iter().find(|(text, _)| rest.starts_with(text.as_bytes())) {
                let has_key = matches!(kind, CueKind::Negation | CueKind::Obligation);
                if kind != CueKind::Correction || at == span.start as usize {
                    let key = if has_key { key_around(bytes, at, text.len(), span) } else { 0 };
                    cues.push(Cue { at: at as u32, kind, key });
                }
                at += text.len();
                continue;
            }
        }
        at += scan::decode(bytes, at).1;
    }
}

/// A quick look at the first two bytes of the strings.
fn may_begin(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        0xe3 => true,
        0xe4 => matches!(bytes.get(at + 1), Some(0xb8 | 0xbd)),
        _ => true,
    }
}

/// Hash of the character before, the string and four characters after.
fn key_around(bytes: &[u8], at: usize, len: usize, span: Span) -> u64 {
    let mut from = at;
    if from > span.start as usize {
        from -= 1;
        while from > span.start as usize && bytes[from] & 0xc0 == 0x80 {
            from -= 1;
        }
    }
    let mut to = at + len;
    for _ in 0..4 {
        if to < span.end as usize {
            to += scan::decode(bytes, to).1;
        }
    }
    bytes
        .get(from..to.min(span.end as usize))
        .unwrap_or_default()
        .iter()
        .fold(KEY_START, |key, &byte| key_of(key, byte))
}

/// True when nothing but filler and punctuation is in the unit.
pub(super) fn is_filler(bytes: &[u8], span: Span) -> bool {
    if span.len() > 90 {
        return false;
    }
    let mut rest = bytes.get(span.start as usize..span.end as usize).unwrap_or_default();
    let mut is_found = false;
    while !rest.is_empty() {
        if let Some(text) = FILLERS.iter().find(|text| rest.starts_with(text.as_bytes())) {
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
