//! What is left of a message that a later one corrects: a reference with a summary, and its code. Knows the text and
//! the names that it is given; does not know why the message was corrected.

use std::collections::HashSet;

use super::budget::budget_of;
use super::draft::Draft;
use super::prose::extract;
use super::score::Spoken;
use crate::model::marker;

/// Between passages that code parts.
const GAP: &str = " ... ";

/// The texts that may stand for a superseded message, the fullest first: with a summary, and without. Both keep every
/// fenced block byte for byte behind a blank line. `shown_target_id` is the name of the correction as readers see it,
/// `signal` how it corrects.
#[must_use]
pub fn superseded(spoken: &Spoken<'_>, shown_target_id: &str, signal: &str) -> Vec<Draft> {
    let mut full = Draft::default();
    full.say(&marker::superseded_start(shown_target_id, signal));
    summary(spoken, &mut full);
    full.say("]");
    let mut brief = Draft::default();
    brief.say(&marker::superseded_brief(shown_target_id, signal));
    let mut drafts = vec![full, brief];
    for draft in &mut drafts {
        for fence in spoken.view.fences {
            draft.say("\n\n");
            draft.quote_exact(fence.span.of(spoken.view.text));
        }
    }
    drafts
}

/// Appends an extract of the prose, passage by passage.
fn summary(spoken: &Spoken<'_>, out: &mut Draft) {
    let mut shown = HashSet::default();
    let start = out.text.len();
    for (_, prose) in spoken.view.between_fences().filter(|(_, prose)| !prose.is_empty()) {
        let passage = Spoken { view: spoken.view.passage(prose), ..*spoken };
        if out.text.len() > start {
            out.say(GAP);
        }
        extract(&passage, budget_of(&passage), &mut shown, out);
    }
}

#[cfg(test)]
mod tests {
    use super::superseded;
    use crate::model::marker;
    use crate::summary::{Spoken, Voice};
    use crate::text::Lexer;

    fn texts(text: &str) -> Vec<String> {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let spoken = Spoken { view: lexer.view(text, &lexed), voice: Voice::User };
        superseded(&spoken, "m7", "explicit_correction").into_iter().map(|draft| draft.text).collect()
    }

    #[test]
    fn the_full_form_shows_a_summary_and_the_brief_one_does_not() {
        let texts = texts("Please keep the sessionStore timeout at 30 minutes for every tenant of the cluster.");
        assert_eq!(
            texts,
            [
                "[cce:superseded by m7 (explicit_correction) — Please keep the sessionStore timeout at 30 minutes for every tenant of the cluster.]",
                "[cce:superseded by m7 — explicit_correction]"
            ]
        );
        assert!(texts.iter().all(|text| marker::stands_for_others(text)));
    }

    #[test]
    fn code_follows_byte_for_byte() {
        let code = "```ts\nconst retries =  3;\n\n```";
        let texts = texts(&format!("Use the client like this:\n\n{code}\n\nThat is all.\n\n~~~\nno end"));
        for text in &texts {
            assert!(text.ends_with(&format!("]\n\n{code}\n\n~~~\nno end")), "{text}");
            assert!(marker::stands_for_others(text), "{text}");
        }
    }
}
