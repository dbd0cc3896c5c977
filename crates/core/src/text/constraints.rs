//! Says whether a text names what limits the work: a deadline, a blocker, a breaking change. Knows a few words and
//! where words end; refuses to know what is limited.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use super::view::TextView;
use super::words::word_list;

/// Beginnings of words; an ending of up to two letters may follow.
const STEMS: &[&str] = word_list!("constraints", STEMS);
const MAX_ENDING: usize = 2;

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasickBuilder::new().ascii_case_insensitive(true).build(STEMS).expect("a short list of words")
});

/// True when the text outside its fenced blocks names a constraint.
#[must_use]
pub fn names_constraint(view: &TextView<'_>) -> bool {
    let text = view.covered();
    FINDER.find_iter(text).any(|found| {
        let before = text.get(..found.start()).and_then(|text| text.chars().next_back());
        let behind = text.get(found.end()..).unwrap_or_default();
        let n_ending = behind.chars().take(MAX_ENDING + 1).take_while(|c| c.is_alphabetic()).count();
        let is_wide = !STEMS[found.pattern().as_usize()].starts_with(|c: char| c.is_ascii());
        let is_word = is_wide || !before.is_some_and(char::is_alphanumeric) && n_ending <= MAX_ENDING;
        let at = view.scope.start + found.start() as u32;
        let next_fence = view.fences.partition_point(|fence| fence.span.end <= at);
        is_word && view.fences.get(next_fence).is_none_or(|fence| at < fence.span.start)
    })
}

#[cfg(test)]
mod tests {
    use super::names_constraint;
    use crate::text::Lexer;

    #[test]
    fn constraints_are_whole_words_outside_code() {
        let names = |text: &str| {
            let mut lexer = Lexer::default();
            let lexed = lexer.lex(text);
            names_constraint(&lexer.view(text, &lexed))
        };
        for text in
            ["The deadline is Friday.", "Two Blockers are left.", "It is a breaking change.", "截止日期是周五。"]
        {
            assert!(names(text), "{text}");
        }
        for text in [
            "We use unconstrained types.",
            "adblocker settings",
            "```\ndeadline = 3\n```",
            "A change that is breaking.",
        ] {
            assert!(!names(text), "{text}");
        }
    }
}
