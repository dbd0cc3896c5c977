//! The page of a sweep: the front of ratio against what is kept, what is recommended for the whole and for each class, and
//! everything that was measured. Refuses to compute: every number is one of the document.

use super::charts::{Point, PointKind, Room, front};
use super::figures::Figure;
use super::frame;
use super::table::{Cell, Column, Table, long, number, text};
use super::writer::Html;
use crate::model::Figure as Measured;
use crate::pipeline::sweep::{Interval, SweepChoice, SweepDocument, SweepFigures, SweepSet, says};
use crate::report::numbers;
use crate::report::sweep::{GIVEN_BELOW_FLOOR, is_given_below_floor};

/// Figures that are held against the ratio on a picture.
const DRAWN: [Measured; 4] =
    [Measured::QualityScore, Measured::ForwardRecall, Measured::FactRetention, Measured::NegationRetention];
/// Figures with a column.
const COLUMNS: [(Measured, &str); 5] = [
    (Measured::QualityScore, "quality"),
    (Measured::FactRetention, "facts"),
    (Measured::ForwardRecall, "forward recall"),
    (Measured::NegationRetention, "negations"),
    (Measured::ErrorRetention, "errors"),
];

/// A sweep as one page.
#[must_use]
pub fn sweep_page(document: &SweepDocument) -> String {
    let inputs = document.inputs.join(", ");
    let header = |html: &mut Html| {
        html.leaf("h1", &[], "Sweep over option sets");
        html.tag("p", &[("class", "lead")], |html| html.leaf("bdi", &[("class", "path")], &inputs));
    };
    frame::page(&format!("Sweep: {inputs}"), header, |html| body(document, html))
}

fn body(document: &SweepDocument, html: &mut Html) {
    cards(document, html);
    let sections: [(&'static str, &'static str, bool); 5] = [
        ("recommendation", "Recommendation", true),
        ("front", "Ratio against what is kept", true),
        ("classes", "Class by class", !document.classes.is_empty()),
        ("sets", "All sets", true),
        ("reading", "How to read this", true),
    ];
    frame::sections(&sections, html, |id, html| match id {
        "recommendation" => recommendation(document, html),
        "front" => fronts(document, html),
        "classes" => classes(document, html),
        "sets" => sets(document, html),
        _ => reading(document, html),
    });
}

fn cards(document: &SweepDocument, html: &mut Html) {
    let card = |html: &mut Html, name: &'static str, place: &'static str, value: String, shown: &str, beside: &str| {
        html.tag("div", &[], |html| {
            html.leaf("dt", &[], name);
            html.leaf("dd", &[("class", "value"), ("data-at", place), ("data-value", &value)], shown);
            html.leaf("dd", &[("class", "beside")], beside);
        });
    };
    let (choice, sample) = (&document.recommendation, &document.sample);
    html.tag("dl", &[("class", "cards")], |html| {
        let ratio = &choice.figures.ratio;
        let difference = choice.above_given.ratio.value;
        let sign = if difference < 0.0 { "below" } else { "above" };
        let above = numbers::ratio(difference.abs());
        card(
            html,
            "Ratio of the recommendation",
            "/recommendation/figures/ratio/value",
            ratio.value.to_string(),
            &numbers::ratio(ratio.value),
            &format!("{above} {sign} the options as given"),
        );
        let measured = numbers::count(sample.drawn as u64);
        card(
            html,
            "Conversations measured",
            "/sample/drawn",
            sample.drawn.to_string(),
            &measured,
            &format!("of {}", numbers::count(sample.conversations as u64)),
        );
        let text = numbers::bytes(sample.bytes as u64);
        card(html, "Text measured", "/sample/bytes", sample.bytes.to_string(), &text, "as drawn from the inputs");
    });
}

fn figure_columns() -> Vec<Column> {
    let mut columns = vec![number("ratio", ""), text("interval", ""), number("tokens", "")];
    columns.extend(COLUMNS.map(|(_, heading)| number(heading, "")));
    columns
}

fn figure_cells(figures: &SweepFigures) -> Vec<Cell> {
    let ratio = &figures.ratio;
    let mut cells = vec![
        Cell::number(ratio.value, numbers::ratio),
        Cell::text(
            &ends(ratio)
                .map_or(String::new(), |(low, high)| format!("{} to {}", numbers::ratio(low), numbers::ratio(high))),
        ),
        Cell::number(figures.token_ratio.value, numbers::ratio),
    ];
    cells.extend(
        COLUMNS.map(|(figure, _)| {
            Cell::maybe(figures.figures.get(figure.as_str()).map(|found| found.value), numbers::share)
        }),
    );
    cells
}

fn ends(interval: &Interval) -> Option<(f64, f64)> {
    Some((interval.low?, interval.high?))
}

fn set_of(document: &SweepDocument, number: usize) -> Option<&SweepSet> {
    document.sets.iter().find(|set| set.number == number)
}

fn recommendation(document: &SweepDocument, html: &mut Html) {
    let choice = &document.recommendation;
    html.leaf("p", &[], says(choice));
    html.tag("ul", &[], |html| {
        for set in choice.sets.iter().filter_map(|number| set_of(document, *number)) {
            html.tag("li", &[], |html| html.leaf("code", &[], &set.label));
        }
    });
    let floor: Vec<String> = document.floor.iter().map(ToString::to_string).collect();
    if !floor.is_empty() {
        html.leaf("p", &[("class", "note")], &format!("Floor: {}", floor.join(", ")));
    }
    let mut columns = vec![text("options", "")];
    columns.extend(figure_columns());
    let mut table = Table::new("The recommendation beside the options as given, on the sample", columns.clone());
    let mut row = |place: &str, name: &str, figures: &SweepFigures| {
        let mut cells = vec![Cell::text(name)];
        cells.extend(figure_cells(figures));
        table.row(place.to_owned(), cells);
    };
    if let Some(given) = set_of(document, 0) {
        row("", "as given", &given.figures);
    }
    row("", "recommended", &choice.figures);
    row("", "difference", &choice.above_given);
    table.write(html);
    if let Some(held_back) = &document.held_back {
        html.leaf("h3", &[], "On conversations that were held back");
        let n = numbers::counted(held_back.conversations as u64, "conversation");
        html.leaf("p", &[("class", "note")], &format!("{n} that took no part in the search."));
        let mut table = Table::new("The recommendation on conversations that were held back", columns);
        for (name, figures) in [
            ("as given", &held_back.given),
            ("recommended", &held_back.recommended),
            ("difference", &held_back.above_given),
        ] {
            let mut cells = vec![Cell::text(name)];
            cells.extend(figure_cells(figures));
            table.row(String::new(), cells);
        }
        table.write(html);
    }
}

fn fronts(document: &SweepDocument, html: &mut Html) {
    html.tag("p", &[("class", "note")], |html| {
        html.text("Every point is an option set ");
        html.leaf("i", &[("class", "key pale")], "");
        html.text("; no set is better in both than one of the front ");
        html.leaf("i", &[("class", "key data")], "");
        html.text("; recommended are ");
        html.leaf("i", &[("class", "key marked")], "");
        html.text(". Lines are intervals.");
    });
    html.tag("div", &[("class", "charts")], |html| {
        for figure in DRAWN {
            let name = figure.as_str();
            let points: Vec<Point> = document.sets.iter().filter_map(|set| point(document, set, name)).collect();
            if points.is_empty() {
                continue;
            }
            let words = numbers::words(name);
            let drawn = Figure {
                name: &format!("{words} against ratio"),
                note: "mean over conversations",
                alternative: &format!("{} option sets by ratio and {words}", points.len()),
                drawn: [Room::Half, Room::Narrow].map(|room| front(&points, room)),
            };
            drawn.write(html, |html| {
                html.tag("p", &[("class", "note")], |html| {
                    html.leaf("a", &[("href", "#sets")], "Numbers: all sets");
                });
            });
        }
    });
}

fn point(document: &SweepDocument, set: &SweepSet, figure: &str) -> Option<Point> {
    let found = set.figures.figures.get(figure)?;
    let is_front = set.front.iter().any(|name| name == figure);
    let kind = match () {
        () if document.recommendation.sets.contains(&set.number) => PointKind::Recommended,
        () if is_front => PointKind::Front,
        () => PointKind::Other,
    };
    let of = |interval: &Interval| (interval.value, ends(interval));
    Some(Point { ratio: of(&set.figures.ratio), figure: of(found), kind })
}

fn classes(document: &SweepDocument, html: &mut Html) {
    let columns = [
        text("class", "class"),
        number("conversations", "conversations"),
        number("measured", "drawn"),
        number("ratio as given", ""),
        number("ratio of the best", ""),
        long("best set for the class alone", ""),
    ];
    let mut table = Table::new("The best set for each class alone", columns);
    for (at, class) in document.classes.iter().enumerate() {
        let best = class.recommendation.as_ref();
        let cells = vec![
            Cell::text(&class.class),
            Cell::count(class.conversations as u64),
            Cell::count(class.drawn as u64),
            Cell::number(class.given.ratio.value, numbers::ratio),
            Cell::maybe(best.map(|choice| choice.figures.ratio.value), numbers::ratio),
            Cell::text(&best.map_or_else(
                || "too few were measured, or none is above the floor".to_owned(),
                |choice| {
                    let label = labels(document, choice);
                    if is_given_below_floor(class) { format!("{label} ({GIVEN_BELOW_FLOOR})") } else { label }
                },
            )),
        ];
        table.row(format!("/classes/{at}"), cells);
    }
    table.write(html);
}

fn labels(document: &SweepDocument, choice: &SweepChoice) -> String {
    let labels = choice.sets.iter().filter_map(|number| set_of(document, *number)).map(|set| set.label.as_str());
    labels.collect::<Vec<_>>().join("; ")
}

fn sets(document: &SweepDocument, html: &mut Html) {
    let mut columns = vec![
        number("set", "number"),
        long("options", "label"),
        number("measured on", "conversations"),
        text("above the floor", ""),
        long("front of", ""),
    ];
    columns.extend(figure_columns());
    let mut table = Table::new("All option sets", columns);
    for (at, set) in document.sets.iter().enumerate() {
        let front: Vec<String> = set.front.iter().map(|name| numbers::words(name)).collect();
        let mut cells = vec![
            Cell::count(set.number as u64),
            Cell::text(&set.label),
            Cell::count(set.conversations as u64),
            Cell::text(if set.is_above_floor { "yes" } else { "no" }),
            Cell::text(&front.join(", ")),
        ];
        cells.extend(figure_cells(&set.figures));
        table.row(format!("/sets/{at}"), cells);
    }
    table.write(html);
}

fn reading(document: &SweepDocument, html: &mut Html) {
    let search = &document.search;
    html.tag("ul", &[("class", "prose")], |html| {
        let rounds: Vec<String> = search
            .rounds
            .iter()
            .map(|round| {
                format!("{} on {}", numbers::count(round.sets as u64), numbers::count(round.conversations as u64))
            })
            .collect();
        html.leaf("li", &[], &format!("Sets on conversations, round by round: {}.", rounds.join(", ")));
        let interval = format!(
            "Intervals hold the value of all conversations in {} of samples; they come from drawing the sample again {} times.",
            numbers::percent(search.confidence),
            numbers::count(search.resamples as u64)
        );
        html.leaf("li", &[], &interval);
        html.fixed(
            "<li>Sets that left early were measured on fewer conversations: their points are less sure than those of the \
             last round.</li>",
        );
    });
}
