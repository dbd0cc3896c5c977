//! What the engine asks a model, and what became of the question. Plain data: knows neither prompts nor APIs.

use std::collections::HashMap;

use super::{Reason, SummaryMode};

/// Identifies a question by its content: BLAKE3, 32 bytes.
pub type AskId = [u8; 32];

/// A question of the engine to a model. Equal questions get equal answers, so a question is asked once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// A shorter text for one or more messages.
    Summary(SummaryAsk),
    /// Whether a message may be summarised at all.
    Ruling {
        /// What the message says.
        text: String,
        /// Who says it.
        role: String,
    },
    /// A summary of a conversation up to its recent messages, asked for inside that conversation.
    Compaction(CompactionAsk),
}

/// See [`Ask::Summary`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryAsk {
    /// The tone of the request.
    pub mode: SummaryMode,
    /// What is to be summarised; several messages with their speakers in front.
    pub text: String,
    /// Characters that the answer may have.
    pub max_chars: usize,
    /// What stands for the text when no answer is good enough. Not part of the question.
    pub draft: String,
}

/// See [`Ask::Compaction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionAsk {
    /// The conversation from its first message on, without what stays as it is at its end.
    pub turns: Vec<Turn>,
    /// Topics of the part that was compressed before; with them the model is asked whether this part continues it.
    pub previous_topics: Option<String>,
    /// Characters that the answer may have.
    pub max_chars: usize,
}

/// A message as an API takes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Its text.
    pub text: String,
    /// Calls of tools: id, name, and the arguments as JSON text.
    pub calls: Vec<(String, String, String)>,
    /// The call that this turn answers.
    pub call_id: Option<String>,
}

impl Ask {
    /// The same for equal questions, on every machine.
    #[must_use]
    pub fn id(&self) -> AskId {
        let mut hasher = Hasher::default();
        match self {
            Self::Summary(SummaryAsk { mode, text, max_chars, draft: _ }) => {
                hasher.text("summary").text(mode.as_str()).text(text).number(*max_chars);
            }
            Self::Ruling { text, role } => {
                hasher.text("ruling").text(role).text(text);
            }
            Self::Compaction(CompactionAsk { turns, previous_topics, max_chars }) => {
                hasher.text("compaction").number(*max_chars).number(turns.len());
                for Turn { role, text, calls, call_id } in turns {
                    hasher.text(role).text(text).number(calls.len()).optional(call_id.as_deref());
                    for (id, name, arguments) in calls {
                        hasher.text(id).text(name).text(arguments);
                    }
                }
                hasher.optional(previous_topics.as_deref());
            }
        }
        *hasher.0.finalize().as_bytes()
    }
}

#[derive(Default)]
struct Hasher(blake3::Hasher);

impl Hasher {
    fn number(&mut self, number: usize) -> &mut Self {
        self.0.update(&(number as u64).to_le_bytes());
        self
    }
    fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len());
        self.0.update(text.as_bytes());
        self
    }
    fn optional(&mut self, text: Option<&str>) -> &mut Self {
        self.number(usize::from(text.is_some()));
        self.text(text.unwrap_or_default())
    }
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The model's text.
    Text(String),
    /// There is none, and asking again in this run is of no use.
    None(NoAnswer),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// The model, or the way to it, failed.
    Failed,
    /// The question is longer than the model's context.
    TooLong,
    /// The reply only calls tools.
    ToolCall,
    /// The reply reached the limit of tokens before its end.
    Cut,
    /// It may not be asked: replies come from the cache only, and this one is not there.
    Offline,
    /// It was written down and will be asked; until then the question is open.
    Later,
}

impl NoAnswer {
    /// Why the engine's own text stands there, in the words of decisions.
    #[must_use]
    pub fn reason(self) -> Reason {
        match self {
            Self::Offline => Reason::LlmOffline,
            Self::ToolCall => Reason::LlmToolCall,
            Self::Cut => Reason::LlmTooLong,
            Self::Failed | Self::TooLong | Self::Later => Reason::LlmFailed,
        }
    }
}

/// Answers by question; a question without an entry was not asked yet.
#[derive(Debug, Clone, Default)]
pub struct Answers(HashMap<AskId, Answer, foldhash::fast::FixedState>);

impl Answers {
    /// What became of `ask`; `None` when it was not asked yet.
    #[must_use]
    pub fn get(&self, ask: &Ask) -> Option<&Answer> {
        self.0.get(&ask.id())
    }

    /// Takes an answer.
    pub fn insert(&mut self, id: AskId, answer: Answer) {
        self.0.insert(id, answer);
    }

    /// Number of questions that were asked.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True before the first question was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A conversation with a model in which every question is put once: answers that are known, and questions that are
/// open.
#[derive(Debug)]
pub struct Consult<'a> {
    answers: &'a Answers,
    asks: &'a mut Vec<Ask>,
    /// Questions that are open, those among them that were written down to be asked later.
    pub n_open: usize,
    /// Messages that a model ruled on.
    pub n_rulings: usize,
    /// Texts that a model wrote.
    pub n_summaries: usize,
    /// Questions without a usable answer.
    pub n_fallbacks: usize,
}

impl<'a> Consult<'a> {
    /// With the answers so far; what is still to be asked goes to `asks`.
    #[must_use]
    pub fn new(answers: &'a Answers, asks: &'a mut Vec<Ask>) -> Self {
        Self { answers, asks, n_open: 0, n_rulings: 0, n_summaries: 0, n_fallbacks: 0 }
    }

    /// What became of `ask`; `None` when it is open, and from now on it is among the open ones.
    pub fn ask(&mut self, ask: Ask) -> Option<&'a Answer> {
        match self.answers.get(&ask) {
            None => {
                self.n_open += 1;
                self.asks.push(ask);
                None
            }
            Some(Answer::None(NoAnswer::Later)) => {
                self.n_open += 1;
                None
            }
            answer => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ask, CompactionAsk, SummaryAsk, Turn};
    use crate::model::SummaryMode;

    #[test]
    fn only_the_draft_is_no_part_of_the_question() {
        let ask = |text: &str, max_chars, draft: &str| {
            let ask = SummaryAsk { mode: SummaryMode::Normal, text: text.into(), max_chars, draft: draft.into() };
            Ask::Summary(ask).id()
        };
        assert_eq!(ask("a", 1, "x"), ask("a", 1, "y"));
        assert_ne!(ask("a", 1, ""), ask("b", 1, ""));
        assert_ne!(ask("a", 1, ""), ask("a", 2, ""));
        let turn = |role: &str, text: &str| Turn { role: role.into(), text: text.into(), ..Turn::default() };
        let compaction = |turns| Ask::Compaction(CompactionAsk { turns, previous_topics: None, max_chars: 9 }).id();
        assert_ne!(compaction(vec![turn("ab", "c")]), compaction(vec![turn("a", "bc")]));
    }
}
