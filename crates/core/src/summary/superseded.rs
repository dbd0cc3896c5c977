//! What is left of a message that a later one corrects: a reference with a summary, and its code. Knows the text and
//! the names that it is given; does not know why the message was corrected.

use std::collections::HashSet;

use super::budget::{Style, budget_of};
use super::draft::Draft;
use super::packing::GAP;
use super::prose::{extract, stub};
use super::spoken::Spoken;
use crate::model::{CompressionDepth, marker};

/// The texts that may stand for a superseded message, the fullest first: with a summary, with its facts, with nothing. All
/// keep every fenced block byte for byte behind a blank line. `shown_target_id` is the name of the correction as readers
/// see it, `signal` how it corrects.
#[must_use]
pub fn superseded(spoken: &Spoken<'_>, shown_target_id: &str, signal: &str, style: Style) -> Vec<Draft> {
    let passages: Vec<Spoken<'_>> = spoken
        .view
        .between_fences()
        .filter(|(_, prose)| !prose.is_empty())
        .map(|(_, prose)| Spoken { view: spoken.view.passage(prose), ..*spoken })
        .collect();
    let facts = stub(&passages, Style::new(CompressionDepth::Aggressive));
    let mut drafts: Vec<Draft> =
        [summary(&passages, style), facts].map(|said| around(&said, shown_target_id, signal)).into();
    drafts.push(Draft { text: marker::superseded_brief(shown_target_id, signal), ..Draft::default() });
    for draft in &mut drafts {
        for fence in spoken.view.fences {
            draft.say("\n\n");
            draft.quote_exact(fence.span.of(spoken.view.text));
        }
    }
    drafts
}

fn around(said: &Draft, shown_target_id: &str, signal: &str) -> Draft {
    let mut draft = Draft { text: marker::superseded_start(shown_target_id, signal), ..Draft::default() };
    draft.append(said);
    draft.say("]");
    draft
}

/// An extract of the prose, passage by passage.
fn summary(passages: &[Spoken<'_>], style: Style) -> Draft {
    let mut shown = HashSet::default();
    let mut out = Draft::default();
    for passage in passages {
        if !out.text.is_empty() {
            out.say(GAP);
        }
        extract(passage, budget_of(passage, style), &mut shown, &mut out);
    }
    out
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
    fn there_are_forms_with_a_summary_with_facts_and_with_neither() {
        let texts = texts("Please keep the sessionStore timeout at 30 minutes for every tenant of the cluster.");
        assert_eq!(
            texts,
            [
                "[cce:superseded by m7 (explicit_correction) — Please keep the sessionStore timeout at 30 minutes for every tenant of the cluster.]",
                "[cce:superseded by m7 (explicit_correction) — sessionStore, 30 minutes]",
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
