//! How ratio and quality are distributed, and how they lie together. Refuses to compute.

use super::charts::{Heights, Room, Scale, Spread, Svg, density, heights, histogram, spreads, steps};
use super::table::{Cell, Column, Table, number, text};
use super::writer::Html;
use crate::report::{DensityFacts, Distribution, ReportDocument, numbers};

/// What each figure says, in a line.
const MEANINGS: [(&str, &str); 11] = [
    ("ratio", "characters before over characters after"),
    ("token_ratio", "tokens before over tokens after"),
    ("quality_score", "identifiers, structure and references, weighted"),
    ("entity_retention", "identifiers, paths and versions that are left"),
    ("structural_integrity", "fences, JSON blocks and tables that are left"),
    ("reference_coherence", "entities whose message still stands"),
    ("fact_retention", "facts that are still visible"),
    ("fact_retention_with_entities", "facts that are visible, entity lists counted"),
    ("forward_recall", "facts needed later that were still visible"),
    ("negation_retention", "sentences with a negation or an obligation"),
    ("error_retention", "lines that report a failure"),
];

/// Figures whose spread by class is drawn; of the others the numbers say enough.
const DRAWN_BY_CLASS: [&str; 6] =
    ["ratio", "quality_score", "fact_retention", "forward_recall", "negation_retention", "error_retention"];

/// What a figure says.
pub(super) fn meaning(figure: &str) -> &'static str {
    MEANINGS.iter().find(|(name, _)| *name == figure).map_or("", |(_, meaning)| meaning)
}

/// A chart with a caption, drawn for a page and for a phone.
pub(super) struct Figure<'a> {
    /// What stands above it.
    pub(super) name: &'a str,
    /// What stands below that.
    pub(super) note: &'a str,
    /// What a reader who sees nothing is told.
    pub(super) alternative: &'a str,
    /// Drawn for the room that it has on a page, and on a phone.
    pub(super) drawn: [Option<Svg>; 2],
}

impl Figure<'_> {
    /// Writes it with its `numbers` beneath.
    pub(super) fn write(&self, html: &mut Html, numbers: impl FnOnce(&mut Html)) {
        html.tag("figure", &[], |html| {
            html.tag("figcaption", &[], |html| {
                html.leaf("strong", &[], self.name);
                if !self.note.is_empty() {
                    html.text(" ");
                    html.leaf("span", &[], self.note);
                }
            });
            for (class, svg) in ["chart wide", "chart narrow"].into_iter().zip(&self.drawn) {
                let Some(svg) = svg else { continue };
                let attributes = [("class", class), ("role", "img"), ("aria-label", self.alternative)];
                html.tag("div", &attributes, |html| html.svg(svg));
            }
            numbers(html);
        });
    }
}

/// Histograms of all conversations, their percentiles, and the same by class.
pub(super) fn distributions(document: &ReportDocument, html: &mut Html) {
    html.leaf(
        "p",
        &[("class", "note")],
        "Conversations by value. The line marks the median: half of the conversations lie at or below it.",
    );
    let all = || document.distributions.iter().enumerate().filter(|(_, found)| found.class.is_none());
    html.tag("div", &[("class", "charts")], |html| {
        for (at, distribution) in all() {
            one(at, distribution, html);
        }
    });
    html.leaf("h3", &[], "Percentiles over all conversations");
    let mut table = Table::new("Percentiles over all conversations", percentiles(text("figure", "figure")));
    for (at, found) in all() {
        table.row(format!("/distributions/{at}"), spread_cells(&numbers::words(&found.figure), found));
    }
    table.write(html);
    by_class(document, html);
}

fn one(at: usize, found: &Distribution, html: &mut Html) {
    let format = |value| numbers::figure(&found.figure, value);
    let [p5, p50, p95] = [found.p5, found.p50, found.p95].map(format);
    let name = numbers::words(&found.figure);
    let alternative = format!(
        "Histogram of {name} over {}: median {p50}, p5 {p5}, p95 {p95}",
        numbers::counted(found.conversations, "conversation")
    );
    let is_first = found.figure == "ratio";
    let unit = if heights(found) == Heights::Logarithmic { " · counts on a logarithmic scale" } else { "" };
    let note = format!("{} · median {p50}, p5 {p5}, p95 {p95}{unit}", meaning(&found.figure));
    let rooms = [if is_first { Room::Wide } else { Room::Half }, Room::Narrow];
    let figure =
        Figure { name: &name, note: &note, alternative: &alternative, drawn: rooms.map(|room| histogram(found, room)) };
    let columns = [number("above", "from"), number("up to", "to"), number("conversations", "count")];
    let mut table = Table::new(format!("Conversations by {name}"), columns);
    for (bar_at, bar) in found.bars.iter().enumerate().filter(|(_, bar)| bar.count > 0) {
        let cells = vec![Cell::number(bar.from, format), Cell::number(bar.to, format), Cell::count(bar.count)];
        table.row(format!("/distributions/{at}/bars/{bar_at}"), cells);
    }
    figure.write(html, |html| table.write_folded(html));
}

fn percentiles(first: Column) -> Vec<Column> {
    let mut columns = vec![first, number("conversations", "conversations"), number("mean", "mean")];
    columns.extend([number("least", "min"), number("p5", "p5"), number("p10", "p10"), number("p25", "p25")]);
    columns.extend([number("median", "p50"), number("p75", "p75"), number("p90", "p90"), number("p95", "p95")]);
    columns.push(number("most", "max"));
    columns
}

fn spread_cells(name: &str, found: &Distribution) -> Vec<Cell> {
    let mut cells = vec![Cell::text(name), Cell::count(found.conversations)];
    let values =
        [found.mean, found.min, found.p5, found.p10, found.p25, found.p50, found.p75, found.p90, found.p95, found.max];
    cells.extend(values.map(|value| Cell::number(value, |value| numbers::figure(&found.figure, value))));
    cells
}

fn by_class(document: &ReportDocument, html: &mut Html) {
    let of = |figure: &str| -> Vec<(usize, &Distribution)> {
        let found = document.distributions.iter().enumerate();
        found.filter(|(_, found)| found.class.is_some() && found.figure == figure).collect()
    };
    html.leaf("h3", &[], "By class of conversation");
    html.leaf("p", &[("class", "note")], "Line from p5 to p95, box from p25 to p75, the median marked.");
    html.tag("div", &[("class", "charts")], |html| {
        for figure in DRAWN_BY_CLASS {
            let found = of(figure);
            if found.is_empty() {
                continue;
            }
            let name = numbers::words(figure);
            let groups: Vec<Spread<'_>> = found
                .iter()
                .map(|(_, found)| Spread { name: found.class.as_deref().unwrap_or_default(), distribution: found })
                .collect();
            let table = class_table(&found, &name);
            let figure = Figure {
                name: &format!("{name} by class"),
                note: "",
                alternative: &format!("The spread of {name} in each of {} classes of conversation", groups.len()),
                drawn: [Room::Half, Room::Narrow].map(|room| spreads(&groups, Scale::of(figure), room)),
            };
            figure.write(html, |html| table.write_folded(html));
        }
    });
    for figure in crate::report::FIGURES.iter().filter(|figure| !DRAWN_BY_CLASS.contains(figure)) {
        let found = of(figure);
        if !found.is_empty() {
            class_table(&found, &numbers::words(figure)).write_folded(html);
        }
    }
}

fn class_table(found: &[(usize, &Distribution)], name: &str) -> Table {
    let mut table = Table::new(format!("{name} by class"), percentiles(text("class", "class")));
    for (at, found) in found {
        table.row(format!("/distributions/{at}"), spread_cells(found.class.as_deref().unwrap_or_default(), found));
    }
    table
}

/// Ratio against the other figures.
pub(super) fn densities(document: &ReportDocument, html: &mut Html) {
    html.leaf(
        "p",
        &[("class", "note")],
        "Each cell holds the conversations with this ratio and this value. What lies at the lower right was compressed most \
         and kept least; what lies at the upper right was mostly repetition.",
    );
    html.tag("div", &[("class", "charts")], |html| {
        for (at, density) in document.densities.iter().enumerate() {
            one_density(at, density, html);
        }
    });
}

fn one_density(at: usize, facts: &DensityFacts, html: &mut Html) {
    let name = numbers::words(&facts.figure);
    let n: u64 = facts.cells.iter().map(|cell| cell.count).sum();
    let figure = Figure {
        name: &format!("{name} against ratio"),
        note: meaning(&facts.figure),
        alternative: &format!("Density of {n} conversations by ratio and {name}"),
        drawn: [Room::Half, Room::Narrow].map(|room| density(facts, room)),
    };
    let columns = [
        number("ratio from", "ratio_from"),
        number("ratio to", "ratio_to"),
        number("from", "from"),
        number("to", "to"),
        number("conversations", "count"),
    ];
    let mut table = Table::new(format!("Conversations by ratio and {name}"), columns);
    for (cell_at, cell) in facts.cells.iter().enumerate() {
        let mut cells = [cell.ratio_from, cell.ratio_to].map(|value| Cell::number(value, numbers::ratio)).to_vec();
        cells.extend([cell.from, cell.to].map(|value| Cell::number(value, |value| format!("{value:.2}"))));
        cells.push(Cell::count(cell.count));
        table.row(format!("/densities/{at}/cells/{cell_at}"), cells);
    }
    figure.write(html, |html| {
        legend(facts, html);
        table.write_folded(html);
    });
}

fn legend(facts: &DensityFacts, html: &mut Html) {
    let steps = steps(facts);
    html.tag("ul", &[("class", "legend")], |html| {
        for (at, least) in steps.iter().enumerate() {
            let text = match steps.get(at + 1) {
                Some(next) if next - 1 > *least => {
                    format!("{}–{}", numbers::count(*least), numbers::count(next - 1))
                }
                Some(_) => numbers::count(*least),
                None => format!("{} or more", numbers::count(*least)),
            };
            html.tag("li", &[], |html| {
                html.leaf("i", &[("class", ["h0", "h1", "h2", "h3", "h4", "h5"][at.min(5)])], "");
                html.text(&text);
            });
        }
        html.leaf("li", &[], "conversations");
    });
}
