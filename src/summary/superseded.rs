//! What is left of a message that a later one corrects: a reference with a summary, and its code. Knows the text and
//! the names that it is given; does not know why the message was corrected.

use std::collections::HashSet;

use super::budget::{Style, budget_of};
use super::draft::Draft;
use super::prose::extract;
use super::score::Spoken;
use crate::model::marker;

/// Between passages that code parts.
const GAP: &str = " ... ";

/// A text that is too short for a full summary gets one of these shares.
const TIGHT_SHARES: [f64; 2] = [0.6, 0.3];

/// The texts that may stand for a superseded message, the fullest first: with a summary, with a tight one, and without.
/// All keep every fenced block byte for byte behind a blank line. `shown_target_id` is the name of the correction as readers see it,
/// `signal` how it corrects.
#[must_use]
pub fn superseded(spoken: &Spoken<'_>, shown_target_id: &str, signal: &str, style: Style) -> Vec<Draft> {
    let with_summary = |share: f64| {
        let mut draft = Draft::default();
        draft.say(&marker::superseded_start(shown_target_id, signal));
        summary(spoken, style, share, &mut draft);
        draft.say("]");
        draft
    };
    let mut brief = Draft::default();
    brief.say(&marker::superseded_brief(shown_target_id, signal));
    let mut drafts = vec![with_summary(1.0)];
    drafts.extend(TIGHT_SHARES.map(with_summary));
    drafts.push(brief);
    drafts.dedup();
    for draft in &mut drafts {
        for fence in spoken.view.fences {
            draft.say("\n\n");
            draft.quote_exact(fence.span.of(spoken.view.text));
        }
    }
    drafts
}

/// Appends an extract of the prose, passage by passage.
fn summary(spoken: &Spoken<'_>, style: Style, share: f64, out: &mut Draft) {
    let mut shown = HashSet::default();
    let start = out.text.len();
    for (_, prose) in spoken.view.between_fences().filter(|(_, prose)| !prose.is_empty()) {
        let passage = Spoken { view: spoken.view.passage(prose), ..*spoken };
        if out.text.len() > start {
            out.say(GAP);
        }
        let budget = (budget_of(&passage, style) as f64 * share) as usize;
        extract(&passage, budget, &mut shown, out);
    }
}

#[cfg(test)]
mod tests {
    use super::superseded;
    use crate::model::{CompressionDepth, marker};
    use crate::summary::{Hints, Spoken, Style, Voice};
    use crate::text::Lexer;

    fn texts(text: &str) -> Vec<String> {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let spoken = Spoken { view: lexer.view(text, &lexed), voice: Voice::User, hints: Hints::default() };
        let style = Style::new(CompressionDepth::Gentle);
        superseded(&spoken, "m7", "explicit_correction", style).into_iter().map(|draft| draft.text).collect()
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
