//! Takes off an answer what models put around it: their reasoning, an announcement, a fence, quotation marks, the last
//! sign of a chat template. Knows habits of models; refuses to judge what is left.

use crate::text::words::word_list;

/// Elements in which models think, and the end of each.
const THOUGHTS: [(&str, &str); 4] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"), ("◁think▷", "◁/think▷")];
/// What a chat template begins the answer with, behind channels of other content.
const FINAL: &str = "<|channel|>final<|message|>";
/// Signs with which chat templates end a turn.
const ENDS: &[&str] = word_list!("answers", ENDS);
/// Languages of a fence around an answer that is no code.
const INFOS: &[&str] = word_list!("answers", INFOS);
/// An announcement is a line of its own and no longer than this, in bytes.
const MAX_ANNOUNCEMENT: usize = 160;
const OPENINGS: &[&str] = word_list!("answers", OPENINGS);
const SUMMARIES: &[&str] = word_list!("answers", SUMMARIES);
const OFFERS: &[&str] = word_list!("answers", OFFERS);

/// The part of `answer` that speaks of the text. What the engine itself would say stays as it is, and so does a thought
/// that never ends: nothing is left of it.
pub(in crate::engine) fn clean<'t>(answer: &'t str, draft: &str) -> &'t str {
    let mut text = answer.trim();
    if text == draft.trim() {
        return text;
    }
    text = behind_thoughts(text);
    while let Some(rest) = ENDS.iter().find_map(|end| text.strip_suffix(end)) {
        text = rest.trim_end();
    }
    text = without_offer(without_announcement(text));
    without_quotes(without_fence(text))
}

fn behind_thoughts(mut text: &str) -> &str {
    if let Some(at) = text.rfind(FINAL) {
        text = text.get(at + FINAL.len()..).unwrap_or_default();
    }
    for (open, close) in THOUGHTS {
        let begins = text.trim_start().starts_with(open);
        match text.find(close) {
            // Some templates write the opening themselves.
            Some(at) if begins || !text.get(..at).unwrap_or_default().contains(open) => {
                text = text.get(at + close.len()..).unwrap_or_default();
            }
            None if begins => return "",
            _ => {}
        }
    }
    text.trim()
}

/// Without `Sure, here is the summary:` on its own line.
fn without_announcement(text: &str) -> &str {
    let Some((line, rest)) = text.split_once('\n') else { return text };
    let folded = line.trim().trim_matches(['*', '#', '_', ' ']).to_lowercase();
    let is_one = line.len() <= MAX_ANNOUNCEMENT
        && folded.ends_with([':', '：'])
        && OPENINGS.iter().any(|opening| folded.starts_with(opening))
        && SUMMARIES.iter().any(|word| folded.contains(word));
    if is_one && !rest.trim().is_empty() { rest.trim() } else { text }
}

/// Without `Let me know if you need more.` as the last paragraph.
fn without_offer(text: &str) -> &str {
    let Some((head, last)) = text.rsplit_once("\n\n") else { return text };
    let folded = last.trim().to_lowercase();
    let is_one = OFFERS.iter().any(|offer| folded.starts_with(offer)) && !folded.contains('\n');
    if is_one && !head.trim().is_empty() { head.trim_end() } else { text }
}

fn without_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let Some((info, body)) = inner.and_then(|inner| inner.split_once('\n')) else { return text };
    if INFOS.contains(&info.trim().to_lowercase().as_str()) && !body.contains("```") { body.trim() } else { text }
}

fn without_quotes(text: &str) -> &str {
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('「', '」')] {
        let inner = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
        if let Some(inner) = inner.filter(|inner| !inner.contains([open, close]) && !inner.trim().is_empty()) {
            return inner.trim();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn what_models_put_around_an_answer_is_taken_off() {
        for (text, expected) in [
            ("<think>The user wants…</think>\n\nThe pool was raised.", "The pool was raised."),
            ("it asks for a summary\n</think>The pool was raised.", "The pool was raised."),
            ("<think>The user wants", ""),
            (
                "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>The pool.",
                "The pool.",
            ),
            ("The pool was raised.<|im_end|>", "The pool was raised."),
            ("Sure, here is the summary:\n\nThe pool was raised.", "The pool was raised."),
            ("**Summary:**\nThe pool was raised.", "The pool was raised."),
            ("Hier ist die Zusammenfassung:\nDer Pool.", "Der Pool."),
            ("以下是摘要：\n连接池。", "连接池。"),
            ("```markdown\nThe pool was raised.\n```", "The pool was raised."),
            ("\"The pool was raised.\"", "The pool was raised."),
            ("The pool was raised.\n\nLet me know if you need more detail!", "The pool was raised."),
        ] {
            assert_eq!(clean(text, ""), expected, "{text}");
        }
    }

    #[test]
    fn what_belongs_to_an_answer_stays() {
        for text in [
            "\"Pool\" and \"queue\"",
            "```rust\nfn main() {}\n```",
            "Here is what was decided:\n- no migration",
            "The tag <think> is not closed by </think> here.",
            "Summary:",
        ] {
            assert_eq!(clean(text, ""), text);
        }
        assert_eq!(clean("\"The draft.\"", "\"The draft.\""), "\"The draft.\"");
    }
}
