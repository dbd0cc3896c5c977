//! Asks a model which messages may be summarised. Its word counts where the rules would summarise, and with the mode
//! `full` also where they would keep structure; fenced code is not its business. Knows how a ruling reads; refuses to
//! know how it is asked for.

use serde::Deserialize;

use super::classify::{Depth, judge};
use super::detect::is_json;
use super::{Plan, Stage, View};
use crate::model::{Answer, Ask, ClassifierMode, Consult, NoAnswer, Reason};

/// A ruling with less confidence is none.
const MIN_CONFIDENCE: f64 = 0.5;

/// Keeps what a model wants kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rule;

impl Stage for Rule {
    fn claim(&self, _view: &View<'_>, _plan: &mut Plan) {}

    fn claim_with(&self, view: &View<'_>, plan: &mut Plan, consult: &mut Consult<'_>) {
        for index in plan.free().collect::<Vec<_>>() {
            if !is_asked(view, index) {
                continue;
            }
            let texts: Vec<&str> = view.texts(index).map(|text| text.text).collect();
            let role = view.conversation.messages[index].role.as_str().to_owned();
            let Some(answer) = consult.ask(Ask::Ruling { text: texts.join("\n\n"), role }) else { continue };
            match ruling(answer) {
                Ok(decision) => {
                    consult.n_rulings += 1;
                    plan.notes.push((index, Reason::LlmRuling));
                    match decision {
                        Decision::Preserve => plan.keep(index, Reason::Ruled),
                        Decision::Compress => plan.overruled.push(index),
                    }
                }
                Err(reason) => {
                    consult.n_fallbacks += 1;
                    plan.notes.push((index, reason));
                }
            }
        }
    }
}

/// True for text outside the recency window that the rules would summarise, or may only keep as structure.
fn is_asked(view: &View<'_>, index: usize) -> bool {
    let is_full = view.options.classifier_mode == ClassifierMode::Full;
    index < view.recency_start
        && view.texts(index).all(|text| {
            text.fences.is_empty() && (is_full || !judge(&text, Depth::Decide).is_hard() && !is_json(text.text))
        })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Preserve,
    Compress,
}

/// What a model says of a message; other keys, such as the `reason` that it is asked for, are left alone.
#[derive(Debug, Deserialize)]
struct Ruling {
    decision: Decision,
    confidence: f64,
}

/// The decision that an answer holds; the error says why there is none.
fn ruling(answer: &Answer) -> Result<Decision, Reason> {
    let text = match answer {
        Answer::Text(text) => text,
        Answer::None(NoAnswer::Offline) => return Err(Reason::LlmOffline),
        Answer::None(NoAnswer::ToolCall) => return Err(Reason::LlmToolCall),
        Answer::None(_) => return Err(Reason::LlmFailed),
    };
    if text.trim().is_empty() {
        return Err(Reason::LlmEmpty);
    }
    let ruling = read(text).filter(|ruling| ruling.confidence >= MIN_CONFIDENCE);
    ruling.map(|ruling| ruling.decision).ok_or(Reason::LlmUnreadable)
}

/// The whole answer as JSON, or its first object without inner braces, whatever is around it.
fn read(text: &str) -> Option<Ruling> {
    serde_json::from_str(text.trim()).ok().or_else(|| {
        let end = text.find('}')?;
        let start = text.get(..end)?.rfind('{')?;
        serde_json::from_str(text.get(start..=end)?).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::{Decision, ruling};
    use crate::model::{Answer, NoAnswer, Reason};

    #[test]
    fn a_ruling_is_found_in_what_models_write_around_it() {
        let of = |text: &str| ruling(&Answer::Text(text.to_owned()));
        let keep = r#"{"decision": "preserve", "confidence": 0.9, "reason": "a decision"}"#;
        assert_eq!(of(keep), Ok(Decision::Preserve));
        assert_eq!(of(&format!("Here it is:\n```json\n{keep}\n```\n")), Ok(Decision::Preserve));
        assert_eq!(of(r#"{"decision":"compress","confidence":1}"#), Ok(Decision::Compress));
        for wrong in ["preserve", "{}", r#"{"decision":"maybe","confidence":1}"#, r#"{"decision":"compress"}"#, "}{"] {
            assert_eq!(of(wrong), Err(Reason::LlmUnreadable), "{wrong}");
        }
        let unsure = keep.replace("0.9", "0.3");
        assert_eq!(of(&unsure), Err(Reason::LlmUnreadable), "who is not sure has not ruled");
        assert_eq!(of(" "), Err(Reason::LlmEmpty));
        assert_eq!(ruling(&Answer::None(NoAnswer::Offline)), Err(Reason::LlmOffline));
        assert_eq!(ruling(&Answer::None(NoAnswer::Failed)), Err(Reason::LlmFailed));
    }
}
