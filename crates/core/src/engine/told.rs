//! Marks that tell what they hide: for lines that use has hidden a model is asked for one sentence. Knows views, and what a
//! sentence must stand up to; refuses to know units and budgets.

use super::checks::{clean, objection};
use super::fill::text_of;
use crate::model::{Answer, Ask, Consult, Message, PartView, Reason, SummaryAsk, SummaryMode, ViewOp};
use crate::walk::{LinesMark, UsedText};

/// Characters of hidden lines that are worth a question: a sentence takes back a tenth of what is saved, at most.
const MIN_HIDDEN_CHARS: usize = 1_500;
/// Characters of a sentence: one line of a wide screen, behind the count of the lines.
const MAX_SENTENCE_CHARS: usize = 160;
/// What a mark says, in full: in its language a sentence may be too, since listings of files and the like are taken for any that
/// shares their letters.
const IN_FULL: &str = "of this text are hidden, and the mark stands for them";

/// The views of `message` with what a model says in their marks, and in how many; the notes say what became of the others. Each
/// mark is a question of its own: lines that stay hidden when a conversation goes on are not paid for again.
pub(super) fn told(
    message: &Message<'_>,
    views: &[PartView],
    used: &[UsedText],
    consult: &mut Consult<'_>,
    notes: &mut Vec<Reason>,
) -> (Vec<PartView>, usize) {
    let (mut views, mut n_taken) = (views.to_vec(), 0);
    for view in &mut views {
        let Some(text) = text_of(message, view) else { continue };
        let Some(used) = used.iter().find(|used| used.view == *view) else { continue };
        for (at, hidden) in view.gaps(text) {
            let Some(ViewOp::Mark(mark, number)) = view.ops.get_mut(at) else { continue };
            if used.lines.binary_search(number).is_err() || !is_worth_it(hidden) {
                continue;
            }
            let Some(lines) = LinesMark::read(mark) else { continue };
            match sentence(lines, hidden, consult) {
                Some(Ok(told)) => {
                    *mark = told;
                    n_taken += 1;
                    notes.push(Reason::LlmSummary);
                }
                Some(Err(reason)) => {
                    consult.n_fallbacks += 1;
                    notes.push(reason);
                }
                None => {}
            }
        }
    }
    (views, n_taken)
}

fn is_worth_it(hidden: &str) -> bool {
    hidden.trim().chars().nth(MIN_HIDDEN_CHARS - 1).is_some()
}

/// The mark with what a model says of the lines that it hides, or why it does not stand there; `None` while the question is
/// open, and where the answer says no more than the mark.
fn sentence(lines: LinesMark<'_>, hidden: &str, consult: &mut Consult<'_>) -> Option<Result<String, Reason>> {
    let ask = SummaryAsk {
        mode: SummaryMode::Line,
        text: hidden.trim().to_owned(),
        max_chars: MAX_SENTENCE_CHARS,
        draft: lines.count.to_owned(),
    };
    let answer = match consult.ask(Ask::Summary(ask))? {
        Answer::Text(answer) => clean(answer, lines.count),
        Answer::None(none) => return Some(Err(none.reason())),
    };
    if answer == lines.count {
        return None;
    }
    if let Some(reason) = objection(answer, &[hidden], &format!("{} {IN_FULL}", lines.count)) {
        return Some(Err(reason));
    }
    if answer.chars().count() > MAX_SENTENCE_CHARS {
        return Some(Err(Reason::LlmTooLong));
    }
    Some(lines.saying(answer.trim_end_matches(['.', '。'])).ok_or(Reason::LlmUnreadable))
}
