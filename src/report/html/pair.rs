//! A conversation before and after: what was said at the left with the decision about it in the margin, what stands for it
//! at the right, and messages that stayed folded. Knows pairs, no run.

use std::ops::Range;

use serde_json::Value;

use super::page::{frame, write_cards};
use super::writer::Html;
use crate::model::Figure;
use crate::pipeline::sketch::ratio;
use crate::report::pair::{Before, Pair, Step, Texts, Utterance, figures_of};
use crate::report::vanished::Shown;
use crate::report::view::{Card, Cell, Show};
use crate::report::{ReportDocument, numbers, shell};

/// Characters of a message in a report.
const MAX_MESSAGE: usize = 4_000;
/// Characters of a message that stayed as it was, in a report.
const MAX_KEPT: usize = 400;
/// Characters of a conversation in a report: before and after together.
const MAX_CONVERSATION: usize = 40_000;
/// Characters of all conversations in a report. A page of some megabytes still opens at once.
const MAX_ALL: usize = 1_500_000;

/// Figures in the line of a conversation.
const SUMMED_UP: [Figure; 3] = [Figure::Ratio, Figure::FactRetention, Figure::ForwardRecall];

/// How much text a page may still hold.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    message: usize,
    kept: usize,
    conversation: usize,
    all: usize,
}

impl Bounds {
    /// Those of a report.
    fn of_reports() -> Self {
        Self { message: MAX_MESSAGE, kept: MAX_KEPT, conversation: 0, all: MAX_ALL }
    }

    /// None: everything is shown.
    fn none() -> Self {
        Self { message: usize::MAX, kept: usize::MAX, conversation: usize::MAX, all: usize::MAX }
    }

    /// The next conversation begins.
    fn next_conversation(&mut self) {
        self.conversation = MAX_CONVERSATION.min(self.all);
    }

    /// True when nothing more is shown of this conversation.
    fn is_spent(&self) -> bool {
        self.conversation == 0
    }

    /// The beginning of `text` that is shown, and how many characters are not.
    fn cut<'t>(&mut self, text: &'t str, is_kept: bool) -> (&'t str, usize) {
        let max = if is_kept { self.kept } else { self.message }.min(self.conversation);
        let Some((end, _)) = text.char_indices().nth(max) else {
            self.spend(text.chars().count());
            return (text, 0);
        };
        self.spend(max);
        (text.get(..end).unwrap_or_default(), text.get(end..).unwrap_or_default().chars().count())
    }

    fn spend(&mut self, n: usize) {
        if self.all < usize::MAX {
            self.conversation = self.conversation.saturating_sub(n);
            self.all = self.all.saturating_sub(n);
        }
    }
}

/// Conversations before and after as one page.
pub fn pair_page(pairs: &[Pair]) -> String {
    let name = pairs.first().map_or("", |pair| &pair.id);
    let header = |html: &mut Html| html.leaf("h1", &[], "Before and after");
    frame(&format!("Before and after: {name}"), header, |html| {
        for pair in pairs {
            html.tag("section", &[("class", "conversation")], |html| {
                html.tag("h2", &[], |html| summary(pair, &[], html));
                let cards: Vec<Card> = figures_of(pair, &Figure::ALL)
                    .map(|(figure, value)| {
                        let number = Cell::of(value, Show::of_figure(figure.as_str()));
                        Card::new(figure.label(), "", number, "")
                    })
                    .collect();
                write_cards("cards small", &[size_of(pair)].into_iter().chain(cards).collect::<Vec<_>>(), html);
                steps(pair, &mut Bounds::none(), html);
            });
        }
    })
}

/// How long it is now, and how long it was.
fn size_of(pair: &Pair) -> Card {
    let [before, after] =
        ["chars_in", "chars_out"].map(|name| pair.metrics.get(name).and_then(Value::as_u64).unwrap_or_default());
    let beside =
        format!("of {} before: {} times shorter", numbers::short(before), numbers::ratio(ratio(before, after)));
    Card::new("characters", "", Cell::of(after, Show::Count), beside)
}

/// The conversations that the lists of a report lead to.
pub(super) fn texts(document: &ReportDocument, texts: &Texts, html: &mut Html) {
    if texts.pairs.is_empty() {
        return;
    }
    html.tag("section", &[("id", "texts"), ("aria-labelledby", "texts-heading")], |html| {
        html.leaf("h2", &[("id", "texts-heading")], "Before and after");
        let about = "The texts of the conversations above. Long messages are cut; the command below each conversation \
                     shows all.";
        html.leaf("p", &[("class", "note")], about);
        let mut bounds = Bounds::of_reports();
        for (at, (run, pair)) in texts.pairs.iter().enumerate() {
            bounds.next_conversation();
            html.tag("details", &[("class", "conversation")], |html| {
                html.tag("summary", &[], |html| summary(pair, &SUMMED_UP, html));
                html.tag("div", &[("id", &Texts::id_of(at)), ("class", "body")], |html| {
                    steps(pair, &mut bounds, html);
                    let run = document.runs.get(*run).map_or("RUN", |run| &run.run);
                    html.tag("p", &[("class", "note")], |html| {
                        html.text("All of it: ");
                        let command = shell::command("condenser show", &[run, &pair.id], "--html FILE");
                        html.leaf("code", &[], &command);
                    });
                    html.tag("p", &[("class", "note")], |html| {
                        html.leaf("a", &[("href", "#conversations")], "Back to the lists");
                    });
                });
            });
        }
    });
}

/// A conversation in a line: name, place and size, and the `figures` that were measured.
fn summary(pair: &Pair, figures: &[Figure], html: &mut Html) {
    html.leaf("bdi", &[("class", "name")], if pair.id.is_empty() { "(no id)" } else { &pair.id });
    html.text(" ");
    html.tag("small", &[], |html| {
        html.leaf("bdi", &[("class", "path")], &pair.source);
        let n = numbers::counted(pair.n_before as u64, "message");
        let row = numbers::count(pair.source_row);
        html.text(&format!(", row {row} · {n}, shown as {}", numbers::count(pair.steps.len() as u64)));
        for (figure, value) in figures_of(pair, figures) {
            html.text(&format!(" · {} {}", figure.label(), numbers::figure(figure.as_str(), value)));
        }
    });
}

/// Everything that was said, step by step, as far as `bounds` let it.
fn steps(pair: &Pair, bounds: &mut Bounds, html: &mut Html) {
    html.tag("p", &[("class", "note")], |html| {
        html.leaf("mark", &[], "Marked");
        html.text(" is what is no longer in view. ");
        html.text(pair.verdicts_from.says());
    });
    html.tag("div", &[("class", "sides"), ("aria-hidden", "true")], |html| {
        html.leaf("span", &[], "Before");
        html.leaf("span", &[], "After");
    });
    let mut rest = &*pair.steps;
    while let Some(step) = rest.first() {
        if bounds.is_spent() {
            not_here(rest.len(), "further message", html);
            return;
        }
        let n_kept = rest.iter().take_while(|step| step.is_unchanged).count();
        if n_kept > 0 {
            let (kept, after) = rest.split_at(n_kept);
            kept_steps(kept, bounds, html);
            rest = after;
        } else {
            changed(step, bounds, html);
            rest = rest.get(1..).unwrap_or_default();
        }
    }
}

fn kept_steps(kept: &[Step], bounds: &mut Bounds, html: &mut Html) {
    html.tag("details", &[("class", "kept")], |html| {
        let chars: u64 = kept.iter().map(chars_of).sum();
        let mut roles: Vec<&str> = kept.iter().map(|step| step.after.role.as_str()).collect();
        roles.dedup();
        let more = roles.len() > 6;
        roles.truncate(6);
        let roles = roles.join(", ") + if more { ", …" } else { "" };
        let messages = numbers::counted(kept.len() as u64, "message");
        let chars = numbers::counted(chars, "character");
        html.leaf("summary", &[], &format!("{messages} as before · {roles} · {chars}"));
        for (at, step) in kept.iter().enumerate() {
            if bounds.is_spent() {
                not_here(kept.len() - at, "further message", html);
                return;
            }
            html.tag("div", &[("class", "kept-message")], |html| {
                if let Some(before) = step.before.first() {
                    margin(before, html);
                }
                spoken(&step.after, None, bounds, html);
            });
        }
    });
}

/// Characters of a message that stayed, as the run counted them. A text also shows the calls of tools, which have none.
fn chars_of(step: &Step) -> u64 {
    let verdict = step.before.first().and_then(|before| before.verdict.as_ref());
    verdict.map_or_else(|| step.after.text.chars().count() as u64, |verdict| verdict.chars_out)
}

/// What a page of which more was cut says.
fn not_here(n: usize, what: &str, html: &mut Html) {
    let text = format!("{} {} not in this page.", numbers::counted(n as u64, what), if n == 1 { "is" } else { "are" });
    html.leaf("p", &[("class", "cut")], &text);
}

fn changed(step: &Step, bounds: &mut Bounds, html: &mut Html) {
    let mut still = Shown::new(&step.after.text);
    html.tag("article", &[("class", "step")], |html| {
        html.tag("div", &[("class", "before")], |html| {
            for (at, before) in step.before.iter().enumerate() {
                if bounds.is_spent() {
                    not_here(step.before.len() - at, "further original", html);
                    return;
                }
                html.tag("div", &[("class", "original")], |html| {
                    margin(before, html);
                    let gone = before.hidden.clone().unwrap_or_else(|| still.vanished(&before.spoken.text));
                    spoken(&before.spoken, Some(&gone), bounds, html);
                });
            }
        });
        html.tag("div", &[("class", "after")], |html| spoken(&step.after, Some(&[]), bounds, html));
    });
}

/// What was decided about an original.
fn margin(before: &Before, html: &mut Html) {
    html.tag("div", &[("class", "margin")], |html| {
        let id = before.message_id.as_deref().filter(|id| !id.is_empty());
        html.tag("span", &[("class", "index")], |html| {
            html.text(&format!("#{}", before.index));
            if let Some(id) = id {
                html.text(" ");
                html.leaf("bdi", &[("class", "id")], id);
            }
        });
        let Some(verdict) = &before.verdict else { return };
        html.leaf("strong", &[("class", "action")], &numbers::words(&verdict.action));
        html.leaf("span", &[("class", "reason")], &verdict.reason);
        for detail in &verdict.details {
            html.leaf("span", &[("class", "detail")], detail);
        }
        let (chars_in, chars_out) = (numbers::count(verdict.chars_in), numbers::count(verdict.chars_out));
        html.leaf("span", &[("class", "size")], &format!("{chars_in} → {chars_out}"));
    });
}

/// What is said, with what of it is `gone` from view; `None` for what stayed as it was.
fn spoken(spoken: &Utterance, gone: Option<&[Range<usize>]>, bounds: &mut Bounds, html: &mut Html) {
    html.tag("div", &[("class", "spoken")], |html| {
        html.leaf("bdi", &[("class", "role")], &spoken.role);
        let (shown, n_cut) = bounds.cut(&spoken.text, gone.is_none());
        if shown.is_empty() && n_cut == 0 {
            html.leaf("p", &[("class", "cut")], "(no text)");
            return;
        }
        html.tag("pre", &[("dir", "auto"), ("tabindex", "0")], |html| {
            let mut at = 0;
            for gone in gone.unwrap_or_default().iter().take_while(|gone| gone.start < shown.len()) {
                let end = gone.end.min(shown.len());
                html.text(shown.get(at..gone.start).unwrap_or_default());
                html.leaf("mark", &[], shown.get(gone.start..end).unwrap_or_default());
                at = end;
            }
            html.text(shown.get(at..).unwrap_or_default());
        });
        if n_cut > 0 {
            not_here(n_cut, "further character", html);
        }
    });
}
