//! Writes a text without the tokens that can go: whole words and whole facts, line by line. Knows spans and decisions;
//! refuses to know who decided and how.

use super::draft::Draft;
use super::plugins::TokenDecision;
use crate::text::{Span, TextView};

/// What no blank is put before, when something between went.
const CLOSING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}'];

/// What is viewed without the tokens that can go; `None` when nothing stays or nothing goes. A word or a fact of which
/// anything stays, stays whole; scripts without blanks go by tokens.
pub(super) fn without_tokens(view: &TextView<'_>, decisions: &[TokenDecision]) -> Option<Draft> {
    let scope = view.scope;
    let gone = gone(view, decisions);
    if gone.is_empty() {
        return None;
    }
    let mut out = Draft::default();
    let (mut start, mut at, mut blank) = (scope.start, 0, false);
    for line in scope.of(view.text).split('\n') {
        let end = start + line.len() as u32;
        while gone.get(at).is_some_and(|span| span.end <= start) {
            at += 1;
        }
        let in_line = gone.get(at..).unwrap_or_default().iter().take_while(|span| span.start < end);
        let kept = kept(Span { start, end }, in_line);
        let is_empty = kept.iter().all(|span| span.of(view.text).trim().is_empty());
        if is_empty {
            // One blank line stands for the blank lines of the source; a line that went leaves nothing.
            blank |= line.trim().is_empty();
        } else {
            if !out.text.is_empty() {
                out.say(if blank { "\n\n" } else { "\n" });
            }
            blank = false;
            out.say(line.get(..line.len() - line.trim_start().len()).unwrap_or_default());
            write_line(view.text, &kept, &mut out);
        }
        start = end + 1;
    }
    (!out.text.is_empty()).then_some(out)
}

/// The pieces of `line` that no span covers.
fn kept<'s>(line: Span, gone: impl Iterator<Item = &'s Span>) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut start = line.start;
    for span in gone {
        if span.start > start {
            pieces.push(Span { start, end: span.start });
        }
        start = start.max(span.end);
    }
    if start < line.end {
        pieces.push(Span { start, end: line.end });
    }
    pieces
}

/// The pieces of one line, with one blank where words went.
fn write_line(text: &str, kept: &[Span], out: &mut Draft) {
    let (mut is_first, mut before, mut had_blank) = (true, 0, false);
    for piece in kept {
        let words = piece.of(text);
        let trimmed = words.trim();
        let opens = words.starts_with(char::is_whitespace);
        let went = !is_first && piece.start > before;
        if !trimmed.is_empty() {
            if !is_first && (opens || had_blank) && !(went && trimmed.starts_with(CLOSING)) {
                out.say(" ");
            }
            out.quote_exact(trimmed);
            is_first = false;
            had_blank = false;
        }
        had_blank |= words.ends_with(char::is_whitespace) || trimmed.is_empty();
        before = piece.end;
    }
}

/// What goes: tokens in order, widened to whole words and facts, or given up where something of these stays.
fn gone(view: &TextView<'_>, decisions: &[TokenDecision]) -> Vec<Span> {
    let scope = view.scope;
    let within = |span: &Span| scope.start <= span.start && span.end <= scope.end;
    let mut found: Vec<Span> = Vec::new();
    let tokens: Vec<&TokenDecision> = decisions.iter().filter(|decision| within(&decision.span)).collect();
    let (mut next, mut free) = (0, scope.start);
    // What of a token lies between the wholes goes by itself.
    let between = |token: &TokenDecision, free: u32| {
        let span = Span { start: token.span.start.max(free), end: token.span.end };
        (!token.is_kept() && !span.is_empty()).then_some(span)
    };
    for whole in wholes(view) {
        while let Some(token) = tokens.get(next).filter(|token| token.span.end <= whole.start) {
            found.extend(between(token, free));
            next += 1;
        }
        let (mut covered, mut goes, mut at) = (whole.start, true, next);
        while let Some(token) = tokens.get(at).filter(|token| token.span.start < whole.end) {
            let bare = Span { start: covered, end: token.span.start.max(covered) }.of(view.text).trim().is_empty();
            goes &= bare && !token.is_kept();
            covered = token.span.end;
            at += 1;
        }
        goes &= Span { start: covered, end: whole.end.max(covered) }.of(view.text).trim().is_empty();
        // A token may reach into the next whole: it is looked at again there.
        next = if at > next && tokens[at - 1].span.end > whole.end { at - 1 } else { at };
        if goes {
            found.push(whole);
        }
        free = whole.end;
    }
    found.extend(tokens.get(next..).unwrap_or_default().iter().filter_map(|token| between(token, free)));
    found
}

/// The words and facts of what is viewed, in order, those that overlap as one.
fn wholes(view: &TextView<'_>) -> Vec<Span> {
    let scope = view.scope;
    let mut spans: Vec<Span> = view.facts.iter().map(|fact| fact.span).collect();
    let mut start = None;
    for (at, c) in scope.of(view.text).char_indices() {
        let at = scope.start + at as u32;
        match (c.is_whitespace() || is_wide(c), start) {
            (true, Some(from)) => {
                spans.push(Span { start: from, end: at });
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    spans.extend(start.map(|start| Span { start, end: scope.end }));
    spans.sort_unstable();
    joined(spans.into_iter())
}

/// Spans in order, those that overlap as one.
pub(super) fn joined(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::with_capacity(spans.size_hint().0);
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// Signs and letters of scripts without blanks.
fn is_wide(c: char) -> bool {
    matches!(c as u32, 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3000..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff00..=0xffef | 0x2_0000..=0x3_ffff)
}

#[cfg(test)]
mod tests {
    use super::without_tokens;
    use crate::summary::plugins::TokenDecision;
    use crate::text::{Lexer, Span};

    fn without(text: &str, decide: impl Fn(&str) -> bool, tokens: &[Span]) -> Option<String> {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let decisions: Vec<TokenDecision> =
            tokens.iter().map(|&span| TokenDecision { span, keep: decide(span.of(text)), confidence: 0.9 }).collect();
        without_tokens(&lexer.view(text, &lexed), &decisions).map(|draft| {
            for quote in draft.quoted() {
                assert!(draft.text.get(quote).is_some_and(|quoted| text.contains(quoted)));
            }
            draft.text
        })
    }

    fn by_words(text: &str, decide: impl Fn(&str) -> bool) -> Option<String> {
        let start = |word: &str| (word.as_ptr().addr() - text.as_ptr().addr()) as u32;
        let span = |word: &str| Span { start: start(word), end: start(word) + word.len() as u32 };
        without(text, decide, &text.split_whitespace().map(span).collect::<Vec<_>>())
    }

    #[test]
    fn lines_stay_lines() {
        let text = "  - the cache  of the pool\n  - a pod\n\n\nnothing here\n\nthe end.";
        let kept = by_words(text, |word| ["-", "cache", "pod", "pool", "end."].contains(&word));
        assert_eq!(kept.as_deref(), Some("  - cache pool\n  - pod\n\nend."));
        assert_eq!(by_words(text, |_| false), None);
        assert_eq!(by_words(text, |_| true), None);
    }

    #[test]
    fn words_and_facts_go_whole_or_not_at_all() {
        // Tokens of four characters, as a model may cut them.
        let text = "It took 30.5 seconds in src/db/pool.ts unbelievably";
        let tokens: Vec<Span> = (0..text.len() as u32)
            .step_by(4)
            .map(|start| Span { start, end: (start + 4).min(text.len() as u32) })
            .collect();
        let kept =
            without(text, |token| token.contains("db") || token.contains("iev") || token.contains("30."), &tokens);
        assert_eq!(kept.as_deref(), Some("30.5 seconds src/db/pool.ts unbelievably"));
        let kept = by_words(text, |word| word == "seconds" || word == "It");
        assert_eq!(kept.as_deref(), Some("It 30.5 seconds"));
    }

    #[test]
    fn scripts_without_blanks_go_by_tokens() {
        let text = "今天天气很好。";
        let tokens: Vec<Span> = [(0, 6), (6, 12), (12, 18), (18, 21)].map(|(start, end)| Span { start, end }).to_vec();
        assert_eq!(without(text, |token| token != "天气", &tokens).as_deref(), Some("今天很好。"));
    }

    #[test]
    fn what_no_token_covers_stays() {
        let text = "alpha beta gamma";
        assert_eq!(without(text, |_| false, &[Span { start: 6, end: 10 }]).as_deref(), Some("alpha gamma"));
        assert_eq!(without(text, |_| false, &[Span { start: 6, end: 8 }]), None);
    }
}
