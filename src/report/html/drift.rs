//! The page of a comparison: how far two sides are apart, in figures and shares, what is new, and which conversations
//! changed most. Refuses to compute: every number is one of the document.

use super::charts::{Bar, Room, bars, twin};
use super::figures::{Figure, meaning};
use super::table::{Card, Cell, Column, Table, long, number, text};
use super::writer::Html;
use super::{frame, notes};
use crate::report::{BreakdownDrift, Change, DriftDocument, FigureDrift, Psi, RunFacts, numbers};

/// Names of a breakdown that are drawn; the table beneath has the rest.
const MAX_BARS: usize = 12;

/// A card that is there when it counts something.
const OVER_BUDGET: &str = "Over the token budget";

/// A comparison as one page.
#[must_use]
pub fn drift_page(document: &DriftDocument) -> String {
    let name = |runs: &[RunFacts]| runs.iter().map(|run| run.run.as_str()).collect::<Vec<_>>().join(", ");
    let (before, after) = (name(&document.before.runs), name(&document.after.runs));
    let header = |html: &mut Html| {
        html.leaf("h1", &[], "Drift report");
        html.tag("p", &[("class", "lead")], |html| {
            html.leaf("bdi", &[("class", "path")], &after);
            html.text(" compared with ");
            html.leaf("bdi", &[("class", "path")], &before);
        });
    };
    frame::page(&format!("Drift report: {before} and {after}"), header, |html| body(document, html))
}

fn body(document: &DriftDocument, html: &mut Html) {
    cards(document, html);
    breaches(document, html);
    for note in &document.notes {
        html.leaf("p", &[("class", "note")], note);
    }
    let sections: [(&'static str, &'static str, bool); 6] = [
        ("figures", "Figures on both sides", !document.figures.is_empty()),
        ("shares", "Shares on both sides", !document.breakdowns.is_empty()),
        ("novelties", "New and gone", true),
        ("changes", "Conversations that changed most", document.changes.is_some()),
        ("runs", "Runs and options", true),
        ("reading", "How to read this", true),
    ];
    frame::sections(&sections, html, |id, html| match id {
        "figures" => figures(document, html),
        "shares" => shares(document, html),
        "novelties" => novelties(document, html),
        "changes" => changes(document, html),
        "runs" => {
            html.leaf("h3", &[], "Before");
            notes::runs("/before/runs", &document.before.runs, html);
            html.leaf("h3", &[], "After");
            notes::runs("/after/runs", &document.after.runs, html);
        }
        _ => reading(html),
    });
}

fn cards(document: &DriftDocument, html: &mut Html) {
    let (before, after) = (&document.before.totals, &document.after.totals);
    let mut cards = Vec::new();
    for (name, place, before, after) in [
        ("Ratio of characters", "/after/totals/ratio", before.ratio, after.ratio),
        ("Ratio of tokens", "/after/totals/token_ratio", before.token_ratio, after.token_ratio),
    ] {
        let beside = format!("{} before", numbers::ratio(before));
        cards.push(Card::new(name, place, Cell::number(after, numbers::ratio), beside));
    }
    for (name, place, before, after) in [
        ("Conversations", "/after/totals/conversations", before.conversations, after.conversations),
        ("Messages", "/after/totals/messages_in", before.messages_in, after.messages_in),
        ("Rejected records", "/after/totals/rejects", before.rejects, after.rejects),
        (OVER_BUDGET, "/after/totals/over_budget", before.over_budget, after.over_budget),
    ] {
        // Without a token budget nothing is over it.
        if name != OVER_BUDGET || before.max(after) > 0 {
            let beside = format!("{} before", numbers::count(before));
            cards.push(Card::new(name, place, Cell::count(after), beside));
        }
    }
    Card::write_all(&cards, html);
}

fn breaches(document: &DriftDocument, html: &mut Html) {
    if document.breaches.is_empty() {
        return;
    }
    html.tag("div", &[("class", "warning")], |html| {
        html.leaf("strong", &[], "Thresholds that are passed");
        html.tag("ul", &[], |html| {
            for breach in &document.breaches {
                html.tag("li", &[], |html| {
                    html.leaf("code", &[], &breach.threshold);
                    html.text(": ");
                    html.text(&breach.message);
                });
            }
        });
    });
}

fn key(html: &mut Html, what: &str) {
    html.tag("p", &[("class", "note")], |html| {
        html.text(what);
        html.text(" before ");
        html.leaf("i", &[("class", "key pale")], "");
        html.text(" and after ");
        html.leaf("i", &[("class", "key data")], "");
        html.text(".");
    });
}

fn psi_cells(psi: Option<&Psi>) -> [Cell; 2] {
    [psi.map(|psi| psi.value), psi.map(|psi| psi.by_chance)].map(|value| Cell::maybe(value, numbers::share))
}

fn figures(document: &DriftDocument, html: &mut Html) {
    key(html, "The share of conversations with each value");
    html.tag("div", &[("class", "charts")], |html| {
        let all = document.figures.iter().enumerate().filter(|(_, figure)| figure.class.is_none());
        for (at, figure) in all.filter(|(_, figure)| !figure.bars.is_empty()) {
            one_figure(at, figure, html);
        }
    });
    html.leaf("h3", &[], "How far they are apart");
    distances(document, "Distance of each figure", false).write(html);
    distances(document, "Distance of each figure, class by class", true).write_folded(html);
}

/// Figures of all conversations, or class by class.
fn distances(document: &DriftDocument, caption: &str, by_class: bool) -> Table {
    let mut columns = vec![text("figure", "figure")];
    columns.extend(by_class.then_some(text("class", "class")));
    columns.extend(["n before", "n after", "median before", "median after", "mean before", "mean after"].map(plain));
    columns.extend(["PSI", "PSI by chance", "KS", "KS critical", "p"].map(plain));
    let mut table = Table::new(caption, columns);
    let figures = document.figures.iter().enumerate().filter(|(_, figure)| figure.class.is_some() == by_class);
    for (at, figure) in figures {
        let sides = [figure.before.as_ref(), figure.after.as_ref()];
        let write = |value| numbers::figure(&figure.figure, value);
        let mut cells = vec![Cell::text(&numbers::words(&figure.figure))];
        cells.extend(figure.class.as_deref().map(Cell::text));
        cells.extend(sides.map(|side| Cell::count(side.map_or(0, |side| side.conversations))));
        cells.extend(sides.map(|side| Cell::maybe(side.map(|side| side.p50), write)));
        cells.extend(sides.map(|side| Cell::maybe(side.map(|side| side.mean), write)));
        cells.extend(psi_cells(figure.psi.as_ref()));
        let ks = figure.ks.as_ref();
        let values = [ks.map(|ks| ks.statistic), ks.map(|ks| ks.critical), ks.map(|ks| ks.p_value)];
        cells.extend(values.map(|value| Cell::maybe(value, numbers::share)));
        table.row(format!("/figures/{at}"), cells);
    }
    table
}

/// A column of numbers that stand deeper in the document than the row says.
const fn plain(heading: &'static str) -> Column {
    number(heading, "")
}

fn one_figure(at: usize, figure: &FigureDrift, html: &mut Html) {
    let name = numbers::words(&figure.figure);
    let apart = figure.psi.map_or(String::new(), |psi| format!(" · PSI {}", numbers::share(psi.value)));
    let drawn = Figure {
        name: &name,
        note: &format!("{}{apart}", meaning(&figure.figure)),
        alternative: &format!("Histograms of {name} before and after"),
        drawn: [Room::Half, Room::Narrow].map(|room| twin(figure, room)),
    };
    let columns =
        [number("above", "from"), number("up to", "to"), number("before", "before"), number("after", "after")];
    let mut table = Table::new(format!("Conversations by {name}, before and after"), columns);
    for (bar_at, bar) in figure.bars.iter().enumerate().filter(|(_, bar)| bar.before + bar.after > 0) {
        let mut cells =
            [bar.from, bar.to].map(|end| Cell::number(end, |end| numbers::figure(&figure.figure, end))).to_vec();
        cells.extend([bar.before, bar.after].map(Cell::count));
        table.row(format!("/figures/{at}/bars/{bar_at}"), cells);
    }
    drawn.write(html, |html| table.write_folded(html));
}

fn shares(document: &DriftDocument, html: &mut Html) {
    key(html, "Shares");
    html.tag("div", &[("class", "columns")], |html| {
        for (at, breakdown) in document.breakdowns.iter().enumerate().filter(|(_, found)| !found.rows.is_empty()) {
            one_breakdown(at, breakdown, html);
        }
    });
}

fn one_breakdown(at: usize, breakdown: &BreakdownDrift, html: &mut Html) {
    let by = numbers::words(&breakdown.by);
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "all others".to_owned());
    let drawn: Vec<Bar> = breakdown
        .rows
        .iter()
        .take(MAX_BARS)
        .map(|row| Bar {
            name: name(&row.name),
            keeps_end: false,
            behind: row.share_before,
            length: row.share_after,
            says: format!("{} → {}", numbers::percent(row.share_before), numbers::percent(row.share_after)),
        })
        .collect();
    let apart = breakdown.psi.map_or(String::new(), |psi| format!(" · PSI {}", numbers::share(psi.value)));
    let figure = Figure {
        name: &format!("By {by}"),
        note: &format!("shares of {}, those that changed most first{apart}", breakdown.unit),
        alternative: &format!("Shares by {by} before and after: {} bars", drawn.len()),
        drawn: [Room::Half, Room::Narrow].map(|room| bars(&drawn, room)),
    };
    let columns = [
        text("name", "name"),
        number("before", "before"),
        number("after", "after"),
        number("share before", "share_before"),
        number("share after", "share_after"),
    ];
    let mut table = Table::new(format!("Shares by {by}"), columns);
    for (row_at, row) in breakdown.rows.iter().enumerate() {
        let mut cells = vec![Cell::text(&name(&row.name)), Cell::count(row.before), Cell::count(row.after)];
        cells.extend([row.share_before, row.share_after].map(|share| Cell::number(share, numbers::percent)));
        table.row(format!("/breakdowns/{at}/rows/{row_at}"), cells);
    }
    figure.write(html, |html| table.write_folded(html));
}

fn novelties(document: &DriftDocument, html: &mut Html) {
    if document.novelties.is_empty() {
        html.leaf("p", &[], "Both sides have the same names.");
        return;
    }
    let columns = [text("name", "name"), text("kind", "by"), text("came or went", ""), number("count", "count")];
    let mut table = Table::new("Names that only one side has", columns);
    for (at, novelty) in document.novelties.iter().enumerate() {
        let cells = vec![
            Cell::text(&novelty.name),
            Cell::text(&numbers::words(&novelty.by)),
            Cell::text(if novelty.is_new { "new" } else { "gone" }),
            Cell::count(novelty.count),
        ];
        table.row(format!("/novelties/{at}"), cells);
    }
    table.write(html);
}

fn changes(document: &DriftDocument, html: &mut Html) {
    let Some(changes) = &document.changes else { return };
    let count = numbers::count;
    html.leaf(
        "p",
        &[("class", "note")],
        &format!(
            "{} on both sides, {} the same byte for byte; {} new; {} that could not be told apart.",
            numbers::counted(changes.in_both, "conversation"),
            count(changes.same_record),
            count(changes.only_after),
            count(changes.ambiguous)
        ),
    );
    let lists = [
        ("By ratio", "by_ratio", &changes.by_ratio),
        ("By fact retention", "by_fact_retention", &changes.by_fact_retention),
    ];
    for (heading, place, list) in lists.into_iter().filter(|(.., list)| !list.is_empty()) {
        html.leaf("h3", &[], heading);
        change_table(heading, &format!("/changes/{place}"), list).write(html);
    }
}

fn change_table(heading: &str, place: &str, list: &[Change]) -> Table {
    let columns = [
        long("conversation", "conversation_id"),
        number("ratio before", "ratio_before"),
        number("ratio after", "ratio_after"),
        number("facts before", "fact_retention_before"),
        number("facts after", "fact_retention_after"),
        text("same record", ""),
        long("source", "source"),
        number("row", "source_row"),
    ];
    let mut table = Table::new(heading, columns);
    for (at, change) in list.iter().enumerate() {
        let mut cells = vec![Cell::text(&change.conversation_id)];
        cells.extend([change.ratio_before, change.ratio_after].map(|ratio| Cell::number(ratio, numbers::ratio)));
        let facts = [change.fact_retention_before, change.fact_retention_after];
        cells.extend(facts.map(|share| Cell::maybe(share, numbers::share)));
        cells.push(Cell::text(if change.is_same_record { "yes" } else { "no" }));
        cells.extend([Cell::text(&change.source), Cell::count(change.source_row)]);
        table.row(format!("{place}/{at}"), cells);
    }
    table
}

fn reading(html: &mut Html) {
    html.fixed(
        "<ul class=\"prose\">\
         <li><strong>PSI</strong>, the population stability index, adds up how far the shares of the bars are apart: below \
         0.1 is usually called stable, above 0.2 a shift. With few conversations chance alone moves it: what chance explains \
         stands beside it.</li>\
         <li><strong>KS</strong>, the Kolmogorov–Smirnov statistic, is the largest distance of the two cumulative \
         distributions, from 0 to 1; above the critical value one comparison in twenty of the same population would be \
         wrong.</li>\
         <li>Distributions are compared, not conversations: two sides may differ in what they hold and not in how it was \
         compressed. The conversations that both sides have tell the two apart.</li>\
         </ul>",
    );
}
