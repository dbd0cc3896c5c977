//! Turns of several speakers told as one text: what was chosen of each, behind the name of who says it. Knows texts and names;
//! refuses to know which turns come together.

use super::budget::{Style, talk_budget};
use super::draft::{Draft, Proposal, Wrap};
use super::packing::{GAP, LABEL_END, Packing};
use super::prose::{MAX_AROUND, MIN_AROUND, write};
use super::selection::{Chosen, best, choose};
use super::spoken::{Keys, Spoken, Voice};
use crate::model::marker;
use crate::text::is_question;

/// Turns of which more would be told stay as they are: names and times are worth more than the rest.
const MAX_SHARE: f64 = 0.8;

/// Behind a question of which the answer is not told.
const UNANSWERED: &str = " ...\n";

/// The turns as one summary; `None` where a caller decides what is shown of each. Where they were not chosen among those of a
/// whole conversation they choose among themselves.
#[must_use]
pub fn talk(texts: &[Spoken<'_>], wrap: &Wrap, style: Style) -> Option<Proposal> {
    if texts.iter().any(|spoken| spoken.hints.is_by_others()) {
        return None;
    }
    let is_chosen = texts.iter().all(|spoken| spoken.hints.chosen.is_some());
    let n_chars: usize = texts.iter().map(|spoken| spoken.view.counts.chars as usize).sum();
    let budget = talk_budget(texts, style);
    if !is_chosen && budget as f64 > n_chars as f64 * MAX_SHARE {
        return None;
    }
    // Where they were chosen among others nothing is chosen here.
    let mut chosen = if is_chosen { None } else { Some(choose(texts, Keys::default(), budget)) };
    let is_empty =
        |chosen: &Option<Chosen>| (0..texts.len()).all(|text| of_text(texts, chosen.as_ref(), text).is_empty());
    if is_empty(&chosen) {
        chosen = Some(best(texts));
    }
    if is_empty(&chosen) {
        let mut draft = Draft::default();
        draft.say(&marker::omitted(texts.len()));
        return Some(Proposal::complete(draft));
    }
    let mut telling = Telling::default();
    for (text, spoken) in texts.iter().enumerate() {
        telling.tell(spoken, of_text(texts, chosen.as_ref(), text));
    }
    Some(Proposal::unlisted(telling.body, wrap).counted(marker::talk_suffix(texts.len())))
}

/// What is chosen of a text, here or among others.
fn of_text<'c>(texts: &[Spoken<'c>], chosen: Option<&'c Chosen>, text: usize) -> &'c [u32] {
    chosen.map_or(texts[text].hints.chosen.unwrap_or_default(), |chosen| chosen.of(text))
}

/// At most so many characters has what [`talk`] makes of turns; `None` where nobody can say before it is written.
#[must_use]
pub fn most_talk_chars(texts: &[Spoken<'_>], style: Style) -> Option<usize> {
    let asks = |spoken: &Spoken<'_>| spoken.voice != Voice::Other || spoken.hints.is_by_others();
    let n_chars: usize = texts.iter().map(|spoken| spoken.view.counts.chars as usize).sum();
    let budget = talk_budget(texts, style);
    let is_told = budget as f64 <= n_chars as f64 * MAX_SHARE && !texts.iter().any(asks);
    is_told.then_some(budget + MAX_AROUND)
}

/// At least so many characters has what [`talk`] makes of turns: what says how many there were, and behind a name a sentence.
#[must_use]
pub fn least_talk_chars(texts: &[Spoken<'_>]) -> usize {
    MIN_AROUND + marker::talk_suffix(texts.len()).len() + LABEL_END.len()
}

/// A text that tells several turns.
#[derive(Default)]
struct Telling<'a> {
    body: Draft,
    speaker: Option<&'a str>,
    /// The turn before was told to its end.
    is_ended: bool,
}

impl<'a> Telling<'a> {
    /// Appends the units that begin at `chosen`, if any.
    fn tell(&mut self, spoken: &Spoken<'a>, chosen: &[u32]) {
        let view = &spoken.view;
        if chosen.is_empty() {
            self.is_ended = false;
            return;
        }
        let is_chosen = |at: &usize| chosen.binary_search(&view.units[*at].span.start).is_ok();
        let taken: Vec<usize> = (0..view.units.len()).filter(is_chosen).collect();
        let was_ended =
            std::mem::replace(&mut self.is_ended, taken.last().is_some_and(|last| last + 1 == view.units.len()));
        let Some(first) = taken.first() else { return };
        let speaker = spoken.hints.speaker;
        if self.body.text.is_empty() || self.speaker != speaker {
            // What is said next is no answer where turns are left out before it.
            let is_open = !(was_ended && *first == 0) && is_question(&self.body.text);
            self.body.say(match (self.body.text.is_empty(), is_open) {
                (true, _) => "",
                (false, true) => UNANSWERED,
                (false, false) => "\n",
            });
            self.body.say(&speaker.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "));
            self.body.say(LABEL_END);
            self.speaker = speaker;
        } else {
            self.body.say(if was_ended && *first == 0 { " " } else { GAP });
        }
        write(view, &Packing::laid_out(view, &taken), true, &mut self.body);
    }
}
