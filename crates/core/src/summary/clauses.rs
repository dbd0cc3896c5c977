//! Where a sentence can be cut so that what stays is true by itself: before clauses that only add to what was said.
//! Knows words and signs of a few languages; refuses to know scores and budgets.

use crate::text::Span;
use crate::text::words::word_list;

/// What binds a clause to the one before: without it that one would say something else.
const BINDING: &[&str] = word_list!("clauses", BINDING);
const COORDINATING: &[&str] = word_list!("clauses", COORDINATING);
/// A coordinating word with one of these behind it begins a clause, whatever stands before it.
const SUBJECTS: &[&str] = word_list!("clauses", SUBJECTS);
const CAUSAL: &[&str] = word_list!("clauses", CAUSAL);
/// This begins a clause without a comma as well.
const ALWAYS: &str = "because";
/// Before a causal word these make it the point of the sentence.
const STRESSING: &[&str] = word_list!("clauses", STRESSING);
/// A sentence that begins with one of these has its main clause behind the comma.
const SUBORDINATING: &[&str] = word_list!("clauses", SUBORDINATING);
/// … or in second place.
const N_SUBORDINATING: usize = 2;
const RELATIVE: &[&str] = word_list!("clauses", RELATIVE);
/// Behind the comma of scripts without blanks.
const WIDE: &[&str] = word_list!("clauses", WIDE);
/// Fewer words behind `and` are the last of a list.
const MIN_CLAUSE_WORDS: usize = 4;
/// A comma so many words before `and` makes a list of what stands there.
const LIST_WORDS: usize = 6;
/// Among so many words at its beginning a clause shows what it is bound by.
const N_OPENING: usize = 3;

struct Word<'t> {
    at: usize,
    text: &'t str,
    /// Without signs, in lower case.
    bare: String,
    /// Inside brackets or quotes.
    is_inside: bool,
}

impl Word<'_> {
    fn ends_clause(&self) -> bool {
        self.text.ends_with([',', ';'])
    }
    fn is_any(&self, words: &[&str]) -> bool {
        words.contains(&self.bare.as_str())
    }
}

/// Where the clauses of `text` begin that may be left out, in bytes, in order; `is_whole` tells positions that a fact
/// stands around.
pub(super) fn starts(text: &str, is_whole: impl Fn(usize) -> bool) -> Vec<usize> {
    let has_comma = memchr::memchr2(b',', b';', text.as_bytes()).is_some();
    let mut found = Vec::new();
    if has_comma || text.contains(ALWAYS) {
        let words = words_of(text);
        let has_main_behind = words.iter().take(N_SUBORDINATING).any(|word| word.is_any(SUBORDINATING));
        let commas = Commas::of(&words);
        let mut clause = 0;
        for index in 1..if has_main_behind { 0 } else { words.len() } {
            if !words[index].is_inside && !is_whole(words[index].at) && begins(&words, &commas, clause, index) {
                found.push(words[index].at);
                clause = index;
            }
        }
    }
    if !text.is_ascii() {
        for (comma, sign) in text.char_indices().filter(|(_, c)| matches!(c, '，' | '；')) {
            let at = comma + sign.len_utf8();
            let rest = text.get(at..).unwrap_or_default();
            if WIDE.iter().any(|word| rest.starts_with(word)) && !is_whole(at) {
                found.push(at);
            }
        }
        found.sort_unstable();
        found.dedup();
    }
    found
}

fn words_of(text: &str) -> Vec<Word<'_>> {
    let (mut depth, mut is_quoted, mut is_bold) = (0_i32, false, false);
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        words.push(Word { at, text: word, bare, is_inside: depth > 0 || is_quoted || is_bold });
        is_bold ^= word.matches("**").count() % 2 == 1;
        for c in word.chars() {
            match c {
                '(' | '[' | '{' | '“' | '«' | '„' => depth += 1,
                ')' | ']' | '}' | '”' | '»' => depth = (depth - 1).max(0),
                '"' | '`' => is_quoted = !is_quoted,
                _ => {}
            }
        }
    }
    words
}

/// The last words before the end of a sentence that end a clause.
struct Commas {
    last: Option<usize>,
    /// Behind which no word goes on with something of its own.
    last_open: Option<usize>,
}

impl Commas {
    fn of(words: &[Word<'_>]) -> Self {
        let goes_on = |at: usize| {
            let next = words.get(at + 1);
            next.is_some_and(|next| [COORDINATING, CAUSAL, RELATIVE].iter().any(|list| next.is_any(list)))
        };
        let mut commas = (0..words.len().saturating_sub(1)).rev().filter(|&at| words[at].ends_clause());
        let last = commas.next();
        Self { last, last_open: last.into_iter().chain(commas).find(|&at| !goes_on(at)) }
    }
}

/// True when `words[index]` begins a clause that may be left out; `clause` is where the one before begins.
fn begins(words: &[Word<'_>], commas: &Commas, clause: usize, index: usize) -> bool {
    let word = &words[index];
    let after_comma = words[index - 1].ends_clause();
    let opening = words.get(index..index + N_OPENING).unwrap_or_default();
    if opening.is_empty() || opening.iter().any(|word| word.is_any(BINDING)) {
        return false;
    }
    if words[index - 1].text.ends_with(';') {
        return true;
    }
    let is_ahead = |comma: Option<usize>| comma.is_some_and(|at| at >= index);
    if after_comma && word.is_any(RELATIVE) {
        return !is_ahead(commas.last);
    }
    // What stands behind the next comma may belong to the clause before this one.
    if is_ahead(commas.last_open) || words[index - 1].is_any(STRESSING) {
        return false;
    }
    if word.bare == ALWAYS || after_comma && word.is_any(CAUSAL) {
        return word.bare != "so" || is_clause(words, index);
    }
    after_comma && word.is_any(COORDINATING) && is_clause(words, index) && !is_list(words, clause, index)
}

fn is_clause(words: &[Word<'_>], index: usize) -> bool {
    let rest = words.get(index + 1..).unwrap_or_default();
    let is_open = |words: &[Word<'_>]| !words.iter().any(Word::ends_clause);
    rest.get(..MIN_CLAUSE_WORDS - 1).is_some_and(is_open)
}

/// `a, b, and c` is a list; `we tried it, it failed, and then we left` is none.
fn is_list(words: &[Word<'_>], clause: usize, index: usize) -> bool {
    if words.get(index + 1).is_some_and(|next| next.is_any(SUBJECTS)) {
        return false;
    }
    let from = clause.max(index.saturating_sub(LIST_WORDS + 1));
    words.get(from..index - 1).unwrap_or_default().iter().any(|word| word.text.ends_with(','))
}

/// The pieces of `span` between `starts`, without the white space between them.
pub(super) fn pieces(text: &str, span: Span, starts: &[usize]) -> Vec<Span> {
    let mut cuts: Vec<u32> = starts.iter().map(|&at| span.start + at as u32).collect();
    cuts.push(span.end);
    let mut start = span.start;
    cuts.into_iter()
        .map(|end| {
            let piece = Span { start, end };
            start = end;
            Span { start: piece.start, end: piece.start + piece.of(text).trim_end().len() as u32 }
        })
        .filter(|piece| !piece.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{pieces, starts};
    use crate::text::Span;

    fn cut(text: &str) -> Vec<&str> {
        let span = Span { start: 0, end: text.len() as u32 };
        pieces(text, span, &starts(text, |_| false)).into_iter().map(|span| span.of(text)).collect()
    }

    #[test]
    fn short_clauses_stay() {
        assert_eq!(cut("Use pg, and then run it daily for a week."), ["Use pg,", "and then run it daily for a week."]);
        assert_eq!(cut("It fails, because the cache is cold."), ["It fails,", "because the cache is cold."]);
        assert_eq!(cut("Es scheitert, weil der Cache kalt ist."), ["Es scheitert,", "weil der Cache kalt ist."]);
        assert_eq!(cut("服务失败了，因为缓存是冷的。"), ["服务失败了，", "因为缓存是冷的。"]);
        assert_eq!(
            cut("Restart the pool; the pods follow by themselves."),
            ["Restart the pool;", "the pods follow by themselves."]
        );
    }

    #[test]
    fn what_the_rest_would_be_wrong_without_is_not_cut_off() {
        for whole in [
            "It is fast, but it breaks on Windows.",
            "Deploy it, unless the flag is set.",
            "Use tabs, spaces, and newlines.",
            "The pool, which was added last week, must be closed.",
            "We retry, and only if that fails we stop.",
            "He said (quietly, because it was late) that it works.",
            "Run `a, because b` twice.",
            "One, two, because three, the fourth is the point.",
            "Wenn Sie das vorstellen, dann müssen Sie es auch halten wollen.",
            "Deswegen wollen wir nach der Wahl, dann gemeinsam mit anderen, die Ehe öffnen.",
            "Wer zu spät kommt, und wer das nicht mag, der muss gehen.",
            "Es entstehen keine niedrigeren Kosten, nur weil der Inhaber derselbe ist.",
            "**It holds, because the length is known**",
            "",
            ",",
            ", and",
        ] {
            let pieces = cut(whole);
            assert!(pieces.len() <= 1, "{pieces:?}");
        }
    }
}
