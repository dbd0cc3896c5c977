//! Code split: every fenced block stays byte for byte where it is, the prose before, between and after is
//! summarised in its own place.

use super::draft::{Draft, Wrap};
use super::prose::summarize;
use crate::model::marker;
use crate::text::{Lexer, TextView};

/// Shorter pieces of prose stay as they are: a summary of them would be no shorter.
const MIN_PROSE_CHARS: usize = 80;

/// The text with its prose summarised; `None` when nothing would change. `is_protected` tells which pieces of
/// prose must stay (secrets, SQL, …).
#[must_use]
pub fn split_code(
    view: &TextView<'_>,
    wrap: &Wrap,
    lexer: &mut Lexer,
    is_protected: &dyn Fn(&TextView<'_>) -> bool,
) -> Option<Draft> {
    let mut out = Draft::default();
    let mut changed = false;
    for piece in pieces(view) {
        let prose = piece.text.trim();
        let summary = if piece.is_code { None } else { shorter(prose, wrap, lexer, is_protected) };
        match summary {
            Some(draft) => {
                let (before, after) = piece.text.split_once(prose).unwrap_or_default();
                out.say(before);
                out.append(&draft);
                out.say(after);
                changed = true;
            }
            None => out.quote_exact(piece.text),
        }
    }
    changed.then_some(out)
}

fn shorter(prose: &str, wrap: &Wrap, lexer: &mut Lexer, is_protected: &dyn Fn(&TextView<'_>) -> bool) -> Option<Draft> {
    let n_chars = prose.chars().count();
    if n_chars < MIN_PROSE_CHARS || marker::stands_for_others(prose) {
        return None;
    }
    lexer.clear();
    let lexed = lexer.lex(prose);
    let view = lexer.view(prose, &lexed);
    if is_protected(&view) {
        return None;
    }
    let (full, plain) = summarize(&[view], wrap, None);
    [full, plain].into_iter().find(|draft| draft.n_chars() < n_chars)
}

struct Piece<'a> {
    text: &'a str,
    is_code: bool,
}

/// The whole text in order, fences and what lies between.
fn pieces<'a>(view: &TextView<'a>) -> impl Iterator<Item = Piece<'a>> {
    let text = view.text;
    let mut at = 0;
    let mut out = Vec::with_capacity(view.fences.len() * 2 + 1);
    for fence in view.fences {
        let start = fence.span.start as usize;
        out.push(Piece { text: text.get(at..start).unwrap_or(""), is_code: false });
        out.push(Piece { text: fence.span.of(text), is_code: true });
        at = fence.span.end as usize;
    }
    out.push(Piece { text: text.get(at..).unwrap_or(""), is_code: false });
    out.into_iter().filter(|piece| !piece.text.is_empty())
}
