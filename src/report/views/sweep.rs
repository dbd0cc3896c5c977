//! What is shown of a sweep: what is recommended, the front of ratio against what is kept, the best set for each class, and
//! everything that was measured.

use serde_json::Value;

use crate::model::Figure;
use crate::pipeline::sweep::{
    FRONTS, Interval, SweepChoice, SweepChoiceKind, SweepClass, SweepDocument, SweepFigures, SweepRound, SweepSet, says,
};
use crate::report::numbers;
use crate::report::view::{
    Block, Blocks, Card, Cell, Chart, Column, Drawing, KEY, Part, Point, PointKind, Section, Seen, Show, Spanned,
    Table, Tone, View, Words, column, heading, note, parts, said,
};

/// A figure falls when it loses more than this.
const FALLS: f64 = 0.02;

/// The sweep.
pub(in crate::report) fn sweep(document: &SweepDocument) -> View<'_> {
    let json = &serde_json::to_value(document).expect("numbers and texts always serialize");
    View {
        heading: "Sweep over option sets".to_owned(),
        about: document.inputs.clone(),
        between: ", ",
        facts: Vec::new(),
        lead: lead(document),
        warnings: [without_figure(document), below_floor(document), fallen(document)]
            .into_iter()
            .flatten()
            .map(|told| (Seen::Always, said(told, Tone::Bad)))
            .collect(),
        cards: cards(document, json),
        sums: chart(document),
        sections: vec![
            Section::new("recommendation", "Recommendation", recommendation(document, json)),
            Section::new("classes", "Class by class", classes(document, json)).folded(),
            Section::new("front", "Ratio against what is kept", fronts(document)).folded(),
            Section::new("sets", "Option sets", sets(document, json)).folded(),
            Section::new("reading", "How to read this", reading(document)),
        ],
        more: "",
    }
}

/// What is recommended and what it brings, in a sentence.
fn lead(document: &SweepDocument) -> String {
    let choice = &document.recommendation;
    let sets = chosen(document, choice);
    let given = document.sets.iter().find(|set| set.number == 0);
    let is = numbers::ratio(choice.figures.ratio.value);
    let was = given.map(|given| numbers::ratio(given.figures.ratio.value)).unwrap_or_default();
    let kept = looked_at(document).find_map(|figure| {
        let name = figure.as_str();
        let [was, is] = [&given?.figures, &choice.figures].map(|of| of.figures.get(name).map(|of| of.value));
        let (is, was) = (numbers::share(is?), numbers::share(was?));
        Some(if is == was {
            format!(", {} {is} as before", figure.label())
        } else {
            format!(", {} {is} instead of {was}", figure.label())
        })
    });
    let kept = kept.unwrap_or_default();
    match choice.kind {
        SweepChoiceKind::AsGiven => {
            format!(
                "Keep the options as they are ({is} times shorter): nothing that was measured is shorter and above the floor."
            )
        }
        // The options as given are no candidate where an interval reaches below the floor.
        _ if given
            .is_some_and(|given| !given.is_above_floor && given.figures.ratio.value >= choice.figures.ratio.value) =>
        {
            format!(
                "The options as given do not surely hold the floor. The shortest that do: {} ({is} times shorter instead of {was}{kept}, as means).",
                sets.iter().map(|set| &*set.label).collect::<Vec<_>>().join("; "),
            )
        }
        SweepChoiceKind::OneSet => {
            let labels = sets.iter().map(|set| &*set.label).collect::<Vec<_>>().join("; ");
            format!("Take {labels}: {is} times shorter instead of {was}{kept}.")
        }
        SweepChoiceKind::Policy => {
            let sets = numbers::counted(sets.len() as u64, "option set");
            format!(
                "Let a policy choose among {sets} for each conversation: {is} times shorter instead of {was}{kept}."
            )
        }
    }
}

/// Figures by how much they say here: those of the floor first.
fn looked_at(document: &SweepDocument) -> impl Iterator<Item = Figure> {
    let of_floor = document.floor.iter().map(|floor| floor.figure);
    of_floor.chain(Figure::FIRST)
}

/// Floors that hold nothing, since no option set has their figure; `None` where there is none.
fn without_figure(document: &SweepDocument) -> Option<String> {
    let has = |figure: &str| document.sets.iter().any(|set| set.figures.figures.contains_key(figure));
    let floors = document.floor.iter().filter(|floor| !has(floor.figure.as_str()));
    let named: Vec<String> = floors.map(ToString::to_string).collect();
    (!named.is_empty()).then(|| format!("Nothing here has what {} speaks of: it holds nothing.", named.join(" and ")))
}

/// What falls that the floor does not hold, here or on what was held back; `None` where nothing does.
fn fallen(document: &SweepDocument) -> Option<String> {
    let given = document.sets.iter().find(|set| set.number == 0);
    let here = given.map(|given| (&given.figures, &document.recommendation.figures));
    let held = document.held_back.as_ref().map(|held| (&held.given, &held.recommended));
    let is_held = |figure: Figure| document.floor.iter().any(|floor| floor.figure == figure);
    let falls = |figure: Figure| {
        let of = |figures: &SweepFigures| figures.figures.get(figure.as_str()).map(|of| of.value);
        let both = [here, held].into_iter().flatten().filter_map(|(given, taken)| of(given).zip(of(taken)));
        both.filter(|(was, is)| was - is > FALLS).max_by(|a, b| (a.0 - a.1).total_cmp(&(b.0 - b.1)))
    };
    let fallen = Figure::FIRST.into_iter().filter(|figure| !is_held(*figure)).filter_map(|figure| {
        let (was, is) = falls(figure)?;
        Some(format!("{} from {} to {}", figure.label(), numbers::share(was), numbers::share(is)))
    });
    let fallen: Vec<String> = fallen.collect();
    let place = if held.is_some() { ", here or on what was held back" } else { "" };
    (!fallen.is_empty()).then(|| format!("What no floor holds falls{place}: {}.", fallen.join(", ")))
}

/// That what is recommended falls below the floor on conversations that were held back; `None` where it does not.
fn below_floor(document: &SweepDocument) -> Option<String> {
    let held = document.held_back.as_ref()?;
    let below = document.floor.iter().filter_map(|floor| {
        let value = |figures: &SweepFigures| figures.figures.get(floor.figure.as_str()).map(|of| of.value);
        let (is, given) = (value(&held.recommended)?, value(&held.given));
        let as_given =
            given.map_or_else(String::new, |given| format!(", {} with the options as given", numbers::share(given)));
        let told = || format!("{} {}{as_given}; the floor is {floor}", floor.figure.label(), numbers::share(is));
        (is < floor.least(given)).then(told)
    });
    let below: Vec<String> = below.collect();
    let n = numbers::counted(held.conversations as u64, "conversation");
    let told = || {
        format!("On {n} that were held back it is below the floor: {}. A larger --sample is surer.", below.join("; "))
    };
    (!below.is_empty()).then(told)
}

/// The one chart that is looked at first: of the figures of the floor, or else of all, the first in which option sets differ.
fn chart(document: &SweepDocument) -> Blocks<'_> {
    let differs = |drawing: &&Drawing<'_>| match &drawing.chart {
        Chart::Front(points) => points.iter().any(|point| (point.figure.0 - points[0].figure.0).abs() > 1e-9),
        _ => false,
    };
    let floors: Vec<Figure> = document.floor.iter().map(|floor| floor.figure).collect();
    let mut figures = Figure::AGAINST_RATIO;
    figures.sort_by_key(|figure| !floors.contains(figure));
    let all = drawings(document, figures);
    let Some(first) = all.iter().find(differs).or_else(|| all.first()) else { return Vec::new() };
    let has_front =
        matches!(&first.chart, Chart::Front(points) if points.iter().any(|point| point.kind == PointKind::Front));
    let drawing = Drawing { is_wide: true, ..first.clone() };
    vec![
        (Seen::Page, Block::Drawings(vec![(Seen::Page, drawing)], false)),
        (Seen::Page, note(if has_front { POINTS } else { POINTS_ALONE })),
        (Seen::Page, note(FURTHER)),
    ]
}

fn cards(document: &SweepDocument, json: &Value) -> Vec<Card> {
    let sample = &document.sample;
    let difference = document.recommendation.above_given.ratio.value;
    let sign = if difference < 0.0 { "below" } else { "above" };
    let above = match numbers::ratio(difference.abs()) {
        same if same == "0.00" => "as with the options as given".to_owned(),
        by => format!("{by} {sign} the options as given"),
    };
    let mut of = format!("of {}", numbers::counted(sample.conversations as u64, "conversation"));
    for (n, what) in [(sample.too_long, "too long for it"), (sample.rejects, "records rejected")] {
        if n > 0 {
            of.push_str(&format!("; {n} {what}"));
        }
    }
    let ratio = "/recommendation/figures/ratio/value";
    vec![
        Card::of(json, "Ratio of the recommendation", ratio, Show::Ratio, above),
        Card::of(json, "Conversations measured", "/sample/drawn", Show::Count, of),
        Card::of(json, "Text measured", "/sample/bytes", Show::Bytes, "as drawn from the inputs"),
    ]
}

/// The columns of figures, which a part has at `way`.
fn figure_columns(way: &str) -> Vec<Column> {
    let mut columns = vec![
        column("ratio", format!("{way}ratio/value"), Show::Ratio),
        column("from", format!("{way}ratio/low"), Show::Ratio),
        column("to", format!("{way}ratio/high"), Show::Ratio),
        column("tokens", format!("{way}token_ratio/value"), Show::Ratio),
    ];
    for figure in Figure::FIRST {
        let way = format!("{way}figures/{}", figure.as_str());
        columns.push(column(figure.label(), format!("{way}/value"), Show::Share));
        if FRONTS.contains(&figure) {
            columns.push(column("from", format!("{way}/low"), Show::Share));
            columns.push(column("to", format!("{way}/high"), Show::Share));
        }
    }
    columns
}

fn ends(interval: &Interval) -> Option<(f64, f64)> {
    Some((interval.low?, interval.high?))
}

fn chosen<'d>(document: &'d SweepDocument, choice: &SweepChoice) -> Vec<&'d SweepSet> {
    choice.sets.iter().filter_map(|number| document.sets.iter().find(|set| set.number == *number)).collect()
}

fn labels(sets: &[&SweepSet]) -> String {
    sets.iter().map(|set| format!("{}: {}", set.number, set.label)).collect::<Vec<_>>().join("; ")
}

fn recommendation<'d>(document: &SweepDocument, json: &Value) -> Blocks<'d> {
    let choice = &document.recommendation;
    let sets = chosen(document, choice);
    let floor: Vec<String> = document.floor.iter().map(ToString::to_string).collect();
    let mut blocks = vec![
        (Seen::Always, said(format!("Recommended: {}", says(choice)), Tone::Strong)),
        (Seen::Always, Block::List(sets.iter().map(|set| Words::Told(labels(&[set]))).collect())),
        (Seen::Always, said(format!("Floor: {}", floor.join(", ")), Tone::Faint)),
    ];
    // The window is one of the few options whose gain the figures cannot weigh.
    let window = |set: &SweepSet| set.changes.get("recency_window").and_then(Value::as_u64);
    if sets.iter().any(|set| window(set).is_some_and(|window| window < document.recency_window as u64)) {
        let about =
            "note: no figure sees what the last messages are worth; `--keep-window` leaves the recency window as given";
        blocks.push((Seen::Always, note(about)));
    }
    if let Some(given) = document.sets.iter().position(|set| set.number == 0) {
        let given = format!("/sets/{given}/figures");
        let table = beside(json, [&given, "/recommendation/figures", "/recommendation/above_given"]);
        let seen = if choice.kind == SweepChoiceKind::AsGiven { Seen::Page } else { Seen::Always };
        blocks.push((seen, Block::Table(table)));
    }
    if let Some(held) = &document.held_back {
        let n = numbers::counted(held.conversations as u64, "conversation");
        let table = beside(json, ["/held_back/given", "/held_back/recommended", "/held_back/above_given"]);
        blocks.extend([
            (Seen::Always, heading("On conversations that were held back")),
            (Seen::Always, said(format!("{n} that took no part in the search."), Tone::Faint)),
            (Seen::Always, Block::Table(table)),
        ]);
    }
    blocks
}

/// The options as given, what is recommended, and how much that is above, at these places.
fn beside(json: &Value, places: [&str; 3]) -> Table {
    let mut columns = vec![column("options", KEY, Show::Text)];
    columns.extend(figure_columns(""));
    let named = ["as given", "recommended", "difference"].into_iter().zip(places);
    let rows = named.map(|(name, place)| Part::at(json, place, name)).collect();
    Table::new("The recommendation beside the options as given", columns, rows)
}

const POINTS: &str = "Every point is an option set {pale}; no set is better in both than one of the front {data}; recommended \
                      are {marked}. Lines are intervals.";

const POINTS_ALONE: &str = "Every point is an option set {pale}; recommended are {marked}. Lines are intervals.";
const FURTHER: &str = "Sets further right do not surely hold the floor, or left the search early and were measured on fewer conversations.";

fn fronts(document: &SweepDocument) -> Blocks<'_> {
    let drawings = drawings(document, Figure::AGAINST_RATIO).into_iter().map(|drawing| (Seen::Page, drawing));
    vec![(Seen::Page, note(POINTS)), (Seen::Page, Block::Drawings(drawings.collect(), false))]
}

/// A chart for each of the figures that was measured.
fn drawings(document: &SweepDocument, figures: impl IntoIterator<Item = Figure>) -> Vec<Drawing<'_>> {
    let drawings = figures.into_iter().filter_map(|figure| {
        let points: Vec<Point> = document.sets.iter().filter_map(|set| point(document, set, figure.as_str())).collect();
        let words = numbers::words(figure.as_str());
        let drawing = Drawing {
            name: format!("{words} against ratio"),
            note: "mean over conversations; numbers: see the option sets".to_owned(),
            alternative: format!("{} option sets by ratio and {words}", points.len()),
            chart: Chart::Front(points.clone()),
            is_wide: false,
            table: None,
        };
        (!points.is_empty()).then_some(drawing)
    });
    drawings.collect()
}

fn point(document: &SweepDocument, set: &SweepSet, figure: &str) -> Option<Point> {
    let found = set.figures.figures.get(figure)?;
    let kind = match () {
        () if document.recommendation.sets.contains(&set.number) => PointKind::Recommended,
        () if set.front.iter().any(|name| name == figure) => PointKind::Front,
        () => PointKind::Other,
    };
    let of = |interval: &Interval| -> Spanned { (interval.value, ends(interval)) };
    Some(Point { ratio: of(&set.figures.ratio), figure: of(found), kind })
}

fn sets<'d>(document: &SweepDocument, json: &Value) -> Blocks<'d> {
    let mut columns = vec![
        column("set", "number", Show::Count),
        column("measured on", "conversations", Show::Count),
        column("above floor", "is_above_floor", Show::Text),
        column("front of", "", Show::Text),
    ];
    columns.extend(figure_columns("figures/"));
    columns.push(column("options", "label", Show::Long));
    let mut table = Table::new("All option sets", columns, parts(json, "/sets"));
    for (row, set) in table.rows.iter_mut().zip(&document.sets) {
        let front: Vec<&str> = set.front.iter().filter_map(|name| Figure::named(name)).map(Figure::label).collect();
        row.cells[3] = Cell::text(front.join(", "));
        let is_first = !front.is_empty() || set.number == 0 || document.recommendation.sets.contains(&set.number);
        row.seen = if is_first { Seen::Always } else { Seen::Page };
    }
    let about = "The front: of all sets none has both a better ratio and a better figure. Intervals hold the value of all \
                 conversations 95 times of 100.";
    vec![(Seen::Always, note(about)), (Seen::Always, Block::Table(table))]
}

fn classes<'d>(document: &SweepDocument, json: &Value) -> Blocks<'d> {
    if document.classes.is_empty() {
        return Vec::new();
    }
    let columns = [
        column("class", "class", Show::Text),
        column("conversations", "conversations", Show::Count),
        column("measured", "drawn", Show::Count),
        column("ratio as given", "given/ratio/value", Show::Ratio),
        column("ratio of the best", "recommendation/figures/ratio/value", Show::Ratio),
        column("best set for the class alone", "", Show::Long),
    ];
    let mut table = Table::new("The best set for each class alone", columns, parts(json, "/classes"));
    for (row, class) in table.rows.iter_mut().zip(&document.classes) {
        row.cells[5] = Cell::text(class.recommendation.as_ref().map_or_else(
            || "too few were measured, or none is above the floor".to_owned(),
            |best| labels(&chosen(document, best)) + if is_given_below_floor(class) { BELOW_FLOOR } else { "" },
        ));
    }
    vec![(Seen::Always, Block::Table(table))]
}

/// Why the best set of a class can be the longer one.
const BELOW_FLOOR: &str = " (as given is below the floor)";

/// True when the best set for a class saves less than the options as given: these are then no candidate.
fn is_given_below_floor(class: &SweepClass) -> bool {
    let best = class.recommendation.as_ref().map(|choice| choice.figures.ratio.value);
    best.is_some_and(|best| best < class.given.ratio.value)
}

fn reading<'d>(document: &SweepDocument) -> Blocks<'d> {
    let search = &document.search;
    let count = |n: usize| numbers::count(n as u64);
    let round = |round: &SweepRound| format!("{} on {}", count(round.sets), count(round.conversations));
    let rounds: Vec<String> = search.rounds.iter().map(round).collect();
    let rounds = format!("Sets on conversations, round by round: {}.", rounds.join(", "));
    let interval = format!(
        "Intervals hold the value of all conversations in {} of samples; they come from drawing the sample again {} times.",
        numbers::percent(search.confidence),
        count(search.resamples)
    );
    let early = "Sets that left early were measured on fewer conversations: their points are less sure than those of the \
                 last round.";
    let means = "Figures are means over conversations, each counting the same; a report of a run adds up their values \
                 first, so that long ones count more.";
    let list = vec![Words::Told(rounds), Words::Fixed(means), Words::Told(interval), Words::Fixed(early)];
    vec![(Seen::Always, Block::List(list))]
}
