//! The conversations that gained and lost most, with links to their texts in the same page. Refuses to read them: whoever
//! asks for the page brings them.

use super::pair::{Bounds, steps, summary};
use super::table::{Cell, Column, Table, long, number, text};
use super::writer::Html;
use crate::report::held::Held;
use crate::report::pair::Pair;
use crate::report::{ConversationFacts, ReportDocument, numbers, plain, shell};

/// Figures in the line of a conversation, and what they are called there.
const SUMMED_UP: [(&str, &str); 3] =
    [("ratio", "ratio"), ("fact_retention", "facts"), ("forward_recall", "forward recall")];

/// The texts of conversations before and after, for the page of a report.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// Nobody wanted them: the page says so.
    pub left_out: bool,
    /// Each with the run that it is from, a number in `runs`.
    pub pairs: Vec<(usize, Pair)>,
}

impl Texts {
    /// The place of the text of a conversation.
    fn place(&self, facts: &ConversationFacts) -> Option<usize> {
        self.pairs.iter().position(|(run, pair)| {
            *run == facts.run && pair.source == facts.figures.source && pair.source_row == facts.figures.source_row
        })
    }
}

/// The lists.
pub(super) fn conversations(document: &ReportDocument, texts: &Texts, html: &mut Html) {
    let note = match Held::of(&document.runs) {
        Held::Nothing => "The run only measured: it holds no texts to show.",
        _ if texts.left_out => {
            "The texts were left out of this page. `condenser show RUN ID` shows a conversation before and after."
        }
        Held::InPart => {
            "The name of a conversation leads to its text before and after, where its run holds texts and did not only measure."
        }
        Held::Everything => "The name of a conversation leads to its text before and after.",
    };
    html.leaf("p", &[("class", "note")], note);
    let lists = [
        ("savings", "Largest savings", "largest_savings", &document.largest_savings),
        ("losses", "Worst losses", "worst_losses", &document.worst_losses),
    ];
    for (id, heading, place, list) in lists.into_iter().filter(|(.., list)| !list.is_empty()) {
        html.leaf("h3", &[("id", id)], heading);
        let mut table = Table::new(heading, columns(document.runs.len() > 1));
        for (at, facts) in list.iter().enumerate() {
            table.row(format!("/{place}/{at}"), cells(document, texts, facts));
        }
        table.write(html);
    }
}

fn columns(many_runs: bool) -> Vec<Column> {
    let mut columns = vec![long("conversation", "conversation_id")];
    columns.extend(many_runs.then_some(text("run", "")));
    columns.extend([
        number("loss", "loss"),
        number("ratio", "ratio"),
        number("characters before", "chars_in"),
        number("after", "chars_out"),
        number("saved", "chars_saved"),
        number("quality", "quality_score"),
        number("facts", "fact_retention"),
        number("forward recall", "forward_recall"),
        number("negations", "negation_retention"),
        number("errors", "error_retention"),
        text("class", "class"),
        long("source", "source"),
        number("row", "source_row"),
    ]);
    columns
}

fn cells(document: &ReportDocument, texts: &Texts, facts: &ConversationFacts) -> Vec<Cell> {
    let figures = &facts.figures;
    let name = if figures.conversation_id.is_empty() { "(no id)" } else { &figures.conversation_id };
    let target = texts.place(facts).map(id_of);
    let mut cells = vec![Cell::text(&plain::cut(name, 60)).leading_to(target)];
    if document.runs.len() > 1 {
        cells.push(Cell::text(document.runs.get(facts.run).map_or("", |run| &run.run)));
    }
    cells.extend([Cell::maybe(facts.loss, numbers::share), Cell::number(figures.ratio, numbers::ratio)]);
    cells.extend([figures.chars_in, figures.chars_out, facts.chars_saved].map(Cell::count));
    let shares = [
        figures.quality_score,
        figures.fact_retention,
        figures.forward_recall,
        figures.negation_retention,
        figures.error_retention,
    ];
    cells.extend(shares.map(|share| Cell::maybe(share, numbers::share)));
    cells.extend([Cell::text(&figures.class), Cell::text(&figures.source), Cell::count(figures.source_row)]);
    cells
}

fn id_of(at: usize) -> String {
    format!("text-{at}")
}

/// The texts that the lists lead to.
pub(super) fn texts(document: &ReportDocument, texts: &Texts, html: &mut Html) {
    if texts.pairs.is_empty() {
        return;
    }
    html.tag("section", &[("id", "texts"), ("aria-labelledby", "texts-heading")], |html| {
        html.leaf("h2", &[("id", "texts-heading")], "Before and after");
        html.leaf(
            "p",
            &[("class", "note")],
            "The texts of the conversations above. Long messages are cut; the command below each conversation shows all.",
        );
        let mut bounds = Bounds::of_reports();
        for (at, (run, pair)) in texts.pairs.iter().enumerate() {
            bounds.next_conversation();
            html.tag("details", &[("class", "conversation")], |html| {
                html.tag("summary", &[], |html| summary(pair, &SUMMED_UP, html));
                html.tag("div", &[("id", &id_of(at)), ("class", "body")], |html| {
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
