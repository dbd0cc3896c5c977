//! Of which texts something may be hidden, and what is known of them before they are read. Knows who says a text and what the
//! stages left; refuses to know what stays.

use super::calls::Call;
use super::order::{Whose, Yield};
use super::segments;
use super::uses::{SaidBy, Text};
use super::worth::Choosing;
use super::{Answer, Around, Prediction, Rules, Standing, Walker};
use crate::model::{Conversation, LookAhead, Role};

/// Bytes of a message from which something of it may be hidden.
const MIN_RESULT: usize = 250;
/// Bytes of what stands for something hidden.
const MARK: usize = 20;
/// Bytes of what a person pastes.
const MIN_PASTED: usize = 1_500;
/// Characters of an answer of which something may be hidden.
const MIN_ANSWER: usize = 800;

impl Walker {
    /// Of each text what is known of it, where something of it may be hidden.
    pub(super) fn answers(
        &self,
        conversation: &Conversation<'_>,
        around: Around<'_>,
        rules: Rules<'_>,
    ) -> Vec<Option<Answer>> {
        let mut answers = Vec::with_capacity(self.texts.all().len());
        for texts in self.texts.all().chunk_by(|a, b| a.message == b.message) {
            self.answers_of(conversation, texts, around, rules, &mut answers);
        }
        answers
    }

    /// The same of the texts of one message.
    fn answers_of(
        &self,
        conversation: &Conversation<'_>,
        all: &[Text],
        around: Around<'_>,
        rules: Rules<'_>,
        answers: &mut Vec<Option<Answer>>,
    ) {
        let message = all[0].message as usize;
        let rules = around.rules(message, rules);
        let standing = (around.standing)(message);
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
        let min_result = if rules.guesses() { MIN_RESULT.min(rules.min_saving + MARK) } else { MIN_RESULT };
        let is_long = |text: &Text| match text.by {
            SaidBy::Result => n_bytes >= min_result,
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
            if text.by.is_answer() {
                let thoughts = &conversation.messages[message].reasoning;
                let may_change = text.by == SaidBy::Assistant || !thoughts[text.part as usize].places.is_empty();
                let may_hide = takes_answers
                    && may_change
                    && matches!(standing, Standing::Free | Standing::Open)
                    && text.to - text.from > MIN_ANSWER;
                return may_hide.then(|| self.answer(conversation, text, false, false));
            }
            let until = until(text.by);
            let is_held = standing == Standing::Held && message < around.n_short;
            let answer = (is_held || may_hide(text, until))
                .then(|| Answer { is_held, ..self.answer(conversation, text, !is_old, until.is_some()) });
            answer.filter(|answer| answer.asks != Call::Answer)
        };
        answers.extend(all.iter().map(answer));
    }

    /// Chooses what stays of all texts of which something may be hidden.
    pub(super) fn predict(
        &mut self,
        conversation: &Conversation<'_>,
        answers: &[Option<Answer>],
        around: Around<'_>,
        (prediction, rules): (Prediction<'_>, Rules<'_>),
    ) {
        let is_open = |(text, answer): (&Text, &Option<Answer>)| {
            if !text.by.is_argument() {
                return answer.is_some_and(|answer| !answer.is_held);
            }
            let message = text.message as usize;
            let rules = around.rules(message, rules);
            message + rules.recency_window < around.n_messages
                && rules.guesses()
                && rules.hides_arguments
                && (around.standing)(message) == Standing::Open
                && self.is_long_argument(&conversation.messages[message], text)
        };
        let is_open: Vec<bool> = self.texts.all().iter().zip(answers).map(is_open).collect();
        let choosing = Choosing {
            texts: &self.texts,
            asked: &self.asked,
            messages: &conversation.messages,
            is_open: &is_open,
            window: rules.recency_window,
            model: prediction.model,
            threshold: rules.level.worth(),
        };
        match prediction.how_far {
            LookAhead::Strict => self.worth.choose_once(choosing),
            LookAhead::Turns | LookAhead::Off => self.worth.choose(choosing),
        }
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
