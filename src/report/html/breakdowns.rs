//! What falls to classes, roles, tools and so on; time by stage; repeated texts; rejected records. Refuses to compute.

use super::charts::{Bar, Room, bars};
use super::figures::Figure;
use super::table::{Cell, Table, long, number, text};
use super::writer::Html;
use crate::report::{BreakdownFacts, ReportDocument, numbers, plain};

/// Bars of a chart; the table beneath has the rest.
const MAX_BARS: usize = 12;
/// What stands for everything that is not told apart.
const OTHERS: &str = "all others";

/// Bars and numbers by class, role, tool and so on.
pub(super) fn breakdowns(document: &ReportDocument, html: &mut Html) {
    html.tag("p", &[("class", "note")], |html| {
        html.text("Characters before ");
        html.leaf("i", &[("class", "key pale")], "");
        html.text(" and after ");
        html.leaf("i", &[("class", "key data")], "");
        html.text("; at the end of each bar the characters before and how many times smaller they became.");
    });
    html.tag("div", &[("class", "columns")], |html| {
        for (at, breakdown) in document.breakdowns.iter().enumerate() {
            one(at, breakdown, html);
        }
    });
}

fn one(at: usize, breakdown: &BreakdownFacts, html: &mut Html) {
    let by = &*breakdown.by;
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| OTHERS.to_owned());
    let drawn: Vec<Bar> = breakdown
        .rows
        .iter()
        .take(MAX_BARS)
        .map(|row| Bar {
            name: name(&row.name),
            keeps_end: by == "source",
            behind: row.share.chars_in as f64,
            length: row.share.chars_out as f64,
            says: format!("{} · {}×", numbers::short(row.share.chars_in), numbers::ratio(row.ratio)),
        })
        .collect();
    let n = breakdown.rows.len();
    let note = if n > MAX_BARS { format!("the largest {MAX_BARS} of {n}") } else { String::new() };
    let figure = Figure {
        name: &format!("By {}", numbers::words(by)),
        note: &note,
        alternative: &format!("Characters before and after by {by}: {} bars", drawn.len()),
        drawn: [Room::Half, Room::Narrow].map(|room| bars(&drawn, room)),
    };
    let columns = [
        text("name", "name"),
        number("conversations", "conversations"),
        number("messages", "messages"),
        number("characters before", "chars_in"),
        number("after", "chars_out"),
        number("ratio", "ratio"),
    ];
    let mut table = Table::new(format!("What falls to each {}", numbers::words(by)), columns);
    for (row_at, row) in breakdown.rows.iter().enumerate() {
        let mut cells = vec![Cell::text(&name(&row.name))];
        let share = &row.share;
        cells.extend([share.conversations, share.messages, share.chars_in, share.chars_out].map(Cell::count));
        cells.push(Cell::number(row.ratio, numbers::ratio));
        table.row(format!("/breakdowns/{at}/rows/{row_at}"), cells);
    }
    figure.write(html, |html| table.write_folded(html));
}

/// Seconds by stage.
pub(super) fn timings(document: &ReportDocument, html: &mut Html) {
    let Some(timings) = &document.timings else { return };
    let mut stages: Vec<(&String, f64)> = timings.stages.iter().map(|(name, seconds)| (name, *seconds)).collect();
    stages.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let drawn: Vec<Bar> = stages
        .iter()
        .map(|(name, seconds)| Bar {
            name: numbers::words(name),
            keeps_end: false,
            behind: 0.0,
            length: *seconds,
            says: numbers::seconds(*seconds),
        })
        .collect();
    let note = format!(
        "{} of all workers, {} from beginning to end; reading and writing wait beside the workers",
        numbers::seconds(timings.cpu_seconds),
        numbers::seconds(timings.wall_seconds)
    );
    let figure = Figure {
        name: "Work by stage",
        note: &note,
        alternative: &format!("Seconds of work by stage: {} bars", drawn.len()),
        drawn: [Room::Wide, Room::Narrow].map(|room| bars(&drawn, room)),
    };
    let mut table = Table::new("Seconds of work by stage", [text("stage", ""), number("time", "")]);
    for (name, seconds) in &stages {
        let place = format!("/timings/stages/{}", name.replace('~', "~0").replace('/', "~1"));
        table.row(place, vec![Cell::text(&numbers::words(name)), Cell::number(*seconds, numbers::seconds)]);
    }
    figure.write(html, |html| table.write_folded(html));
}

/// Texts that occur more than once.
pub(super) fn repeated(document: &ReportDocument, html: &mut Html) {
    let Some(repeated) = &document.repeated else { return };
    let share = (1.0 - repeated.distinct_texts as f64 / repeated.texts.max(1) as f64).max(0.0);
    html.leaf(
        "p",
        &[("class", "note")],
        &format!(
            "{} in messages, about {} different: {} are repetitions. Spare are the characters of all \
             occurrences but one.",
            numbers::counted(repeated.texts, "text"),
            numbers::count(repeated.distinct_texts),
            numbers::percent(share)
        ),
    );
    if repeated.largest.is_empty() {
        return;
    }
    let columns = [
        long("text", "excerpt"),
        number("occurrences", "count"),
        number("characters", "chars"),
        number("characters to spare", "chars_spare"),
    ];
    let mut table = Table::new("Texts that weigh most by repetition", columns);
    for (at, facts) in repeated.largest.iter().enumerate() {
        let mut cells = vec![Cell::text(&plain::cut(&facts.repeat.excerpt, 160))];
        cells.extend([facts.repeat.count, facts.repeat.chars, facts.chars_spare].map(Cell::count));
        table.row(format!("/repeated/largest/{at}"), cells);
    }
    table.write(html);
}

/// Rejected records by reason.
pub(super) fn rejects(document: &ReportDocument, html: &mut Html) {
    if document.rejects.is_empty() {
        html.leaf("p", &[], "No record was rejected.");
        return;
    }
    let columns = [
        text("reason", "reason"),
        number("records", "records"),
        number("bytes", "bytes"),
        long("for example", "example"),
        long("at", "place"),
    ];
    let mut table = Table::new("Rejected records by reason", columns);
    for (at, reject) in document.rejects.iter().enumerate() {
        let cells = vec![
            Cell::text(&reject.reason),
            Cell::count(reject.records),
            Cell::bytes(reject.bytes),
            Cell::text(&reject.example),
            Cell::text(&reject.place),
        ];
        table.row(format!("/rejects/{at}"), cells);
    }
    table.write(html);
}
