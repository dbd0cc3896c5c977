//! Of which texts something may be hidden, and what is known of them before they are read. Knows who says a text and what the
//! stages left; refuses to know what stays.

use super::calls::Call;
use super::order::{Whose, Yield};
use super::segments;
use super::uses::{SaidBy, Text};
use super::{Answer, Around, Prediction, Rules, Standing, Walker};
use crate::model::{Conversation, Role};

/// Bytes of a message from which something of it may be hidden.
const MIN_RESULT: usize = 250;
/// Bytes of what a person pastes.
const MIN_PASTED: usize = 1_500;
/// Characters of an answer of which something may be hidden.
const MIN_ANSWER: usize = 800;

impl Walker {
    /// Of each text of a message what is known of it, where something of it may be hidden; `None` when nothing may of any.
    pub(super) fn answers(
        &self,
        conversation: &Conversation<'_>,
        texts: std::ops::Range<usize>,
        (around, message): (&Around<'_>, usize),
        rules: Rules<'_>,
    ) -> Option<Vec<Option<Answer>>> {
        let standing = (around.standing)(message);
        let all = &self.texts.all()[texts];
        let is_old = message + rules.recency_window < around.n_messages;
        let is_first = Some(message) == around.first_user;
        let until = |by: SaidBy| match standing {
            Standing::Free if !is_old => Some(Yield::Recent),
            Standing::Free if is_first && by == SaidBy::Human => Some(Yield::Pasted),
            Standing::Until(kind) => Some(kind),
            _ => None,
        };
        let results = all.iter().filter(|text| text.by == SaidBy::Result);
        let n_bytes: usize = results.map(|text| text.to - text.from).sum();
        let is_long = |text: &Text| match text.by {
            SaidBy::Result => n_bytes >= MIN_RESULT,
            SaidBy::Human => {
                let text = &self.texts.bytes()[text.from..text.to];
                text.len() > MIN_PASTED && !segments::is_own(text)
            }
            _ => false,
        };
        let is_least = message + rules.min_recency_window < around.n_messages;
        let may_hide = |text: &Text, until: Option<Yield>| {
            (standing == Standing::Free || until.is_some())
                && until.is_none_or(|kind| rules.level.takes(kind, message))
                && is_least
                && is_long(text)
        };
        let takes_answers = rules.predicts.is_some_and(|prediction| prediction.takes_answers) && is_old;
        let answer = |text: &Text| {
            if text.by == SaidBy::Assistant {
                let may_hide = takes_answers
                    && matches!(standing, Standing::Free | Standing::Open)
                    && text.to - text.from > MIN_ANSWER;
                return may_hide.then(|| self.answer(conversation, text, false, false));
            }
            let until = until(text.by);
            let is_held = standing == Standing::Held && around.has_short_marks;
            let answer = (is_held || may_hide(text, until))
                .then(|| Answer { is_held, ..self.answer(conversation, text, !is_old, until.is_some()) });
            answer.filter(|answer| answer.asks != Call::Answer)
        };
        let answers: Vec<Option<Answer>> = all.iter().map(answer).collect();
        answers.iter().any(Option::is_some).then_some(answers)
    }

    /// Chooses what stays of all texts of which something may be hidden.
    pub(super) fn predict(
        &mut self,
        conversation: &Conversation<'_>,
        around: &Around<'_>,
        prediction: Prediction<'_>,
        rules: Rules<'_>,
    ) {
        let mut is_open = Vec::with_capacity(self.texts.all().len());
        let mut first = 0;
        for texts in self.texts.all().chunk_by(|a, b| a.message == b.message) {
            let message = texts[0].message as usize;
            let answers = self.answers(conversation, first..first + texts.len(), (around, message), rules);
            first += texts.len();
            let is_old = message + rules.recency_window < around.n_messages;
            let may_argue = is_old && rules.hides_arguments && (around.standing)(message) == Standing::Open;
            let calls = &conversation.messages[message].tool_calls;
            is_open.extend(texts.iter().enumerate().map(|(at, text)| {
                if text.by.is_argument() {
                    may_argue && self.is_long_argument(text) && calls[text.part as usize].place.is_some()
                } else {
                    answers.as_ref().is_some_and(|answers| answers[at].is_some_and(|answer| !answer.is_held))
                }
            }));
        }
        let read = (&self.texts, &self.asked, conversation.messages.as_slice());
        self.worth.choose(read, &is_open, rules.recency_window, (prediction.model, prediction.threshold));
    }

    /// What is known of a text of which something may be hidden.
    fn answer(&self, conversation: &Conversation<'_>, text: &Text, is_recent: bool, is_late: bool) -> Answer {
        let (message, is_human) = (text.message as usize, text.by == SaidBy::Human);
        let (asks, is_superseded) =
            if is_human { (Call::Other, false) } else { self.asked.answered(&conversation.messages, text.place()) };
        let is_spoken = is_human || matches!(conversation.messages[message].role, Role::User | Role::Missing);
        let whose = Whose { message, is_pasted: is_human, is_recent };
        Answer { asks, is_superseded, is_spoken, whose, is_late, is_held: false }
    }
}
