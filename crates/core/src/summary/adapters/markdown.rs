//! Markdown with headings: headings, tables, fenced blocks, quotations and the points of lists stay; paragraphs and
//! long points become extracts in their places.

use super::adapter::{MIN_CHARS, Wanted};
use super::passages::{MIN_PASSAGE_CHARS, Passages};
use crate::summary::edits::Edits;
use crate::summary::spoken::Spoken;
use crate::text::{Line, LineKind, Span, TextView};

/// With fewer headings a text is prose.
const MIN_HEADINGS: usize = 2;
/// A shorter point of a list stays as it is.
const MIN_ITEM_CHARS: usize = 240;
/// A longer emphasis is no title.
const MAX_LEAD: usize = 80;
/// So much of the text must be prose that can become shorter.
const MIN_PROSE_SHARE: f64 = 0.35;
/// So many of the lines must be what documents consist of.
const MIN_DOCUMENT_SHARE: f64 = 0.85;

/// True for Markdown with prose that can become shorter.
pub(super) fn detect(text: &TextView<'_>) -> bool {
    if text.counts.chars < MIN_CHARS {
        return false;
    }
    let (mut headings, mut document, mut all) = (0, 0, 0);
    for line in text.lines {
        match line.kind {
            LineKind::Blank => continue,
            LineKind::Heading => {
                // Not the words above a line of signs.
                headings += usize::from(line.bare(text.text).starts_with('#'));
                document += 1;
            }
            LineKind::Prose
            | LineKind::Pair
            | LineKind::ListItem
            | LineKind::Quote
            | LineKind::Fence
            | LineKind::Fenced => document += 1,
            kind if kind.is_row() => document += 1,
            _ => {}
        }
        all += 1;
    }
    let n_prose: usize = passages(text).iter().map(|span| span.len()).sum();
    headings >= MIN_HEADINGS
        && f64::from(document) >= MIN_DOCUMENT_SHARE * f64::from(all)
        && n_prose as f64 >= MIN_PROSE_SHARE * text.covered().len() as f64
}

/// Shortens such a text.
pub(super) fn edit(spoken: &Spoken<'_>, wanted: &Wanted<'_>, edits: &mut Edits<'_>) {
    let shortener = Passages::of(spoken, wanted);
    for span in passages(&spoken.view) {
        if let Some(draft) = shortener.shorten(&spoken.view, span) {
            edits.replace(span, &draft);
        }
    }
}

/// The paragraphs and long points of lists.
fn passages(text: &TextView<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Option<(Span, usize)> = None;
    let mut close = |open: &mut Option<(Span, usize)>| {
        if let Some((span, _)) = open.take_if(|(span, least)| span.of(text.text).chars().nth(*least - 1).is_some()) {
            found.push(span);
        }
        *open = None;
    };
    for line in text.lines {
        match line.kind {
            LineKind::Prose | LineKind::Pair => match &mut open {
                Some((span, _)) => span.end = line.span.end,
                None => {
                    open = Some((
                        Span { start: behind_lead(text.text, line.body(text.text)), ..line.span },
                        MIN_PASSAGE_CHARS,
                    ));
                }
            },
            LineKind::ListItem => {
                close(&mut open);
                open = Some((Span { start: item_start(text.text, *line), ..line.span }, MIN_ITEM_CHARS));
            }
            _ => close(&mut open),
        }
    }
    close(&mut open);
    found
}

/// Where the words of a list item begin, behind its marker, its box and its lead.
fn item_start(text: &str, line: Line) -> u32 {
    let (body, words) = (line.body(text), line.bare(text));
    let words = words.split_once(char::is_whitespace).map_or(words, |(_, behind)| behind.trim_start());
    let words = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| words.strip_prefix(mark)).unwrap_or(words);
    behind_lead(text, Span { start: body.end - words.len() as u32, end: body.end })
}

/// Behind `**Title:** ` at the start of a passage: it is as good as a heading.
fn behind_lead(text: &str, body: Span) -> u32 {
    let words = body.of(text);
    let lead = ["**", "__"].iter().find_map(|sign| words.strip_prefix(sign)?.split_once(sign));
    match lead {
        Some((title, rest)) if title.len() <= MAX_LEAD && !title.ends_with(['.', '!', '?']) => {
            let rest = rest.trim_start_matches([':', '.', '-', '–', '—', ' ']);
            body.end - rest.len() as u32
        }
        _ => body.start,
    }
}
