//! A sweep as a table of text: the front, the recommendation, and the classes. Knows what was found, no terminal.

use super::numbers::counted;
use crate::model::Figure;
use crate::pipeline::sweep::{
    Interval, SweepChoice, SweepChoiceKind, SweepClass, SweepDocument, SweepFigures, SweepSet, says,
};

/// Figures with a column, and how it is headed; the first and the third with their intervals.
const COLUMNS: [(Figure, &str, bool); 5] = [
    (Figure::QualityScore, "quality", true),
    (Figure::FactRetention, "facts", false),
    (Figure::ForwardRecall, "recall", true),
    (Figure::NegationRetention, "negation", false),
    (Figure::ErrorRetention, "errors", false),
];

/// What was found, for a person.
#[must_use]
pub fn render(document: &SweepDocument) -> String {
    let mut out = head(document);
    out.push_str(
        "\nThe front: of all sets none has both a better ratio and a better quality score (q), or a better forward\n\
         recall (r). Intervals hold the value of all conversations 95 times of 100.\n\n",
    );
    out.push_str(&front(document));
    out.push('\n');
    out.push_str(&recommendation(document));
    out.push_str(&classes(document));
    if let Some(held_back) = &document.held_back {
        out.push_str(&format!("\nOn {} held back:\n", counted(held_back.conversations as u64, "conversation")));
        out.push_str(&beside(&held_back.given, &held_back.recommended, &held_back.above_given));
    }
    out
}

fn head(document: &SweepDocument) -> String {
    let SweepDocument { sample, search, .. } = document;
    let mut out = format!(
        "sample   {} of {}, {:.1} MB of text",
        sample.drawn,
        counted(sample.conversations as u64, "conversation"),
        sample.bytes as f64 / 1e6
    );
    for (n, what) in [(sample.too_long, "too long for it"), (sample.rejects, "records rejected")] {
        if n > 0 {
            out.push_str(&format!("; {n} {what}"));
        }
    }
    let rounds =
        search.rounds.iter().map(|round| format!("{} on {}", counted(round.sets as u64, "set"), round.conversations));
    out.push_str(&format!("\nsearch   {} of the sample\n", rounds.collect::<Vec<_>>().join(", ")));
    let floor: Vec<String> = document.floor.iter().map(ToString::to_string).collect();
    out.push_str(&format!("floor    {}\n", floor.join(", ")));
    out
}

fn front(document: &SweepDocument) -> String {
    let is_shown = |set: &&SweepSet| {
        !set.front.is_empty() || set.number == 0 || document.recommendation.sets.contains(&set.number)
    };
    let mut rows = vec![header(&["set", "front", "floor", "ratio"], "options")];
    for set in document.sets.iter().filter(is_shown) {
        let marks: String = set.front.iter().filter_map(|name| name.chars().next()).map(mark).collect();
        let floor = if set.is_above_floor { "above" } else { "" };
        let mut row = vec![set.number.to_string(), marks, floor.to_owned(), wide(&set.figures.ratio, 2)];
        row.extend(cells(&set.figures));
        row.push(set.label.clone());
        rows.push(row);
    }
    align(&rows)
}

/// `q` for the quality score, `r` for the recall.
fn mark(first: char) -> char {
    if first == 'f' { 'r' } else { first }
}

fn header(before: &[&str], after: &str) -> Vec<String> {
    let columns = COLUMNS.iter().map(|(_, head, _)| *head);
    before.iter().copied().chain(columns).chain([after]).map(str::to_owned).collect()
}

fn cells(figures: &SweepFigures) -> impl Iterator<Item = String> {
    COLUMNS.iter().map(|(figure, _, has_interval)| match figures.figures.get(figure.as_str()) {
        None => "–".to_owned(),
        Some(interval) if *has_interval => wide(interval, 3),
        Some(interval) => format!("{:.3}", interval.value),
    })
}

/// `1.21 (1.15–1.30)`.
fn wide(interval: &Interval, digits: usize) -> String {
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => format!("{:.digits$} ({low:.digits$}–{high:.digits$})", interval.value),
        _ => format!("{:.digits$}", interval.value),
    }
}

fn recommendation(document: &SweepDocument) -> String {
    let choice = &document.recommendation;
    let mut out = format!("Recommended: {}\n", says(choice));
    for number in &choice.sets {
        if let Some(set) = document.sets.iter().find(|set| set.number == *number) {
            out.push_str(&format!("{number:>5}  {}\n", set.label));
        }
    }
    if document.sets.iter().any(|set| choice.sets.contains(&set.number) && has_smaller_window(document, set)) {
        out.push_str(
            "note: no figure sees what the last messages are worth; --keep-window leaves the recency window as given\n",
        );
    }
    let Some(given) = document.sets.iter().find(|set| set.number == 0) else { return out };
    if choice.kind != SweepChoiceKind::AsGiven {
        out.push_str(&beside(&given.figures, &choice.figures, &choice.above_given));
    }
    out
}

/// The window is one of the few options whose gain the figures cannot weigh.
fn has_smaller_window(document: &SweepDocument, set: &SweepSet) -> bool {
    let window = set.changes.get("recency_window").and_then(serde_json::Value::as_u64);
    window.is_some_and(|window| window < document.recency_window as u64)
}

/// The options as given, what is recommended, and how much that is above.
fn beside(given: &SweepFigures, taken: &SweepFigures, above: &SweepFigures) -> String {
    let mut rows = vec![header(&["", "ratio"], "")];
    for (name, figures) in [("as given", given), ("recommended", taken), ("difference", above)] {
        let mut row = vec![name.to_owned(), wide(&figures.ratio, 2)];
        row.extend(cells(figures));
        rows.push(row);
    }
    align(&rows)
}

fn classes(document: &SweepDocument) -> String {
    let mut rows =
        vec![["class", "measured", "of", "as given", "best set", "ratio", "options"].map(str::to_owned).to_vec()];
    for class in &document.classes {
        let mut row = vec![
            class.class.clone(),
            class.drawn.to_string(),
            class.conversations.to_string(),
            wide(&class.given.ratio, 2),
        ];
        row.extend(match &class.recommendation {
            Some(choice) if is_given_below_floor(class) => {
                let [number, ratio, label] = best(document, choice);
                [number, ratio, format!("{label} ({GIVEN_BELOW_FLOOR})")]
            }
            None => ["–".to_owned(), String::new(), "too few were measured, or none is above the floor".to_owned()],
            Some(choice) => best(document, choice),
        });
        rows.push(row);
    }
    format!("\nThe best set for each class alone:\n\n{}", align(&rows))
}

/// Why the best set of a class can be the longer one.
pub(super) const GIVEN_BELOW_FLOOR: &str = "as given is below the floor";

/// True when the best set for a class saves less than the options as given: these are then no candidate.
pub(super) fn is_given_below_floor(class: &SweepClass) -> bool {
    let best = class.recommendation.as_ref().map(|choice| choice.figures.ratio.value);
    best.is_some_and(|best| best < class.given.ratio.value)
}

fn best(document: &SweepDocument, choice: &SweepChoice) -> [String; 3] {
    let number = choice.sets.first().copied().unwrap_or_default();
    let label = document.sets.iter().find(|set| set.number == number).map(|set| set.label.clone());
    [number.to_string(), wide(&choice.figures.ratio, 2), label.unwrap_or_default()]
}

/// Columns as wide as what stands in them; the last one, and what is no number, to the left.
fn align(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..n_columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at).map(width)).max().unwrap_or_default())
        .collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (text, width)) in row.iter().zip(&widths).enumerate() {
            if at > 0 {
                line.push_str("  ");
            }
            line.push_str(&format!("{text:<width$}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
