//! What is shown of a comparison: thresholds first, then how far two sides are apart, what is new, and which conversations
//! changed most.

use serde_json::Value;

use super::report::says;
use super::runs::{name_of_all, runs};
use crate::report::view::{
    Block, Blocks, Card, Cell, Chart, Drawing, KEY, NamedBar, Part, Section, Seen, Show, Table, Tone, View, Words,
    column, heading, name_of, note, parts, picture, said,
};
use crate::report::{BreakdownDrift, Changes, DriftDocument, FigureDrift, Ks, Psi, RunFacts, numbers, plain};

/// From here on an index is customarily read as a large change (N. Siddiqi, 2006).
const LARGE: f64 = 0.25;
const LEGEND: &str = "PSI: from 0.1 some change, from 0.25 a large one; ~ marks what chance explains (19 in 20). KS: the \
                      largest distance of the cumulative distributions.";

/// How much of a name is shown beside others.
const MAX_NAME: usize = 28;
/// With fewer conversations on a side nothing is said of it.
const LEAST: u64 = 5;
/// So many things that moved are named.
const MAX_MOVED: usize = 4;
const SIDES: [&str; 2] = ["before", "after"];

/// The comparison.
pub(in crate::report) fn drift(document: &DriftDocument) -> View<'_> {
    let breaches = document
        .breaches
        .iter()
        .map(|breach| said(format!("over the threshold {}: {}", breach.threshold, breach.message), Tone::Bad));
    let notes = document.notes.iter().map(|note| said(format!("note: {note}"), Tone::Plain));
    let json = &serde_json::to_value(document).expect("numbers and texts always serialize");
    let mut of_runs = vec![(Seen::Page, heading("Before"))];
    of_runs.extend(runs(json, "/before/runs", &document.before.runs));
    of_runs.push((Seen::Page, heading("After")));
    of_runs.extend(runs(json, "/after/runs", &document.after.runs));
    for (seen, _) in of_runs.iter_mut().filter(|(seen, _)| *seen == Seen::Always) {
        *seen = Seen::All;
    }
    View {
        heading: document.title.clone().unwrap_or_else(|| "Drift report".to_owned()),
        about: vec![name_of_all(&document.after.runs), name_of_all(&document.before.runs)],
        between: " compared with ",
        facts: document.made.clone().into_iter().collect(),
        lead: verdict(document),
        warnings: breaches.chain(notes).map(|block| (Seen::Always, block)).collect(),
        cards: cards(document, json),
        sums: vec![(Seen::Always, Block::Cards(further(document, json)))],
        sections: vec![
            Section::new("figures", "Figures", figures(document, json))
                .remarking("before and after; pictures on one scale, what moved most first")
                .mailed(),
            Section::new("shares", "Shares", shares(document, json))
                .remarking("of conversations, messages or records; those that changed most first"),
            Section::new("novelties", "New and gone", novelties(json)).mailed(),
            Section::new(
                "changes",
                "Conversations that changed most",
                document.changes.as_ref().map(|found| changes(found, json)).unwrap_or_default(),
            ),
            Section::new("runs", "Runs and options", of_runs),
            Section::new("reading", "How to read this", reading()),
        ],
        more: "--all shows classes and whole lists; --json the whole document",
    }
}

/// Whether anything moved, and what: in a sentence.
fn verdict(document: &DriftDocument) -> String {
    let mut moved: Vec<(f64, String)> = Vec::new();
    for of in document.figures.iter().filter(|of| of.class.is_none()) {
        if let (Some(psi), Some(before), Some(after)) = (of.moved(), &of.before, &of.after) {
            let [was, is] = [before, after].map(|side| numbers::figure(&of.figure, side.mean));
            let [n_before, n_after] = [before, after].map(|side| side.conversations);
            let (was, is) = if n_before == n_after {
                (was, is)
            } else {
                let n_before = numbers::counted(n_before, "conversation");
                (format!("{was} (of {n_before})"), format!("{is} (of {})", numbers::count(n_after)))
            };
            moved.push((psi, format!("the mean {} from {was} to {is}", numbers::words(&of.figure))));
        }
    }
    for of in &document.breakdowns {
        if let (Some(psi), Some(row)) = (of.psi.filter(Psi::moved), of.rows.first()) {
            let [was, is] = [row.share_before, row.share_after].map(numbers::percent);
            let name = plain::cut(name_of(row.name.as_deref()), MAX_NAME);
            moved.push((psi.value, format!("the share of {} {name} from {was} to {is}", numbers::words(&of.by))));
        }
    }
    moved.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [was, is] = [document.before.totals.ratio, document.after.totals.ratio].map(numbers::ratio);
    let ratio = if was == is {
        format!("All together are {is} times shorter, as before.")
    } else {
        format!("All together are {is} times shorter, before {was}.")
    };
    let [n_before, n_after] = [&document.before, &document.after].map(|side| side.totals.conversations);
    let now = format!(
        " There were {}, now there are {}.",
        numbers::counted(n_before, "conversation"),
        numbers::count(n_after)
    );
    let [rejected, rejected_before] =
        [&document.after, &document.before].map(|side| numbers::percent(side.totals.reject_rate()));
    let rejects = if rejected == rejected_before {
        String::new()
    } else {
        format!(" Of the records {rejected} were rejected, before {rejected_before}.")
    };
    let ratio = ratio + if n_before == n_after { "" } else { &now } + &rejects;
    let is_lost = |of: &FigureDrift| of.class.is_none() && of.before.is_some() != of.after.is_some();
    let lost: Vec<String> =
        document.figures.iter().filter(|of| is_lost(of)).map(|of| numbers::words(&of.figure)).collect();
    let lost = if lost.is_empty() { String::new() } else { format!("Only one side has {}. ", lost.join(", ")) };
    if document.figures.iter().all(|of| of.psi.is_none()) || n_after.min(n_before) < LEAST {
        return format!("Too few conversations on one side to say whether anything moved. {ratio}");
    }
    if moved.is_empty() && !lost.is_empty() {
        return format!("{lost}Nothing else moved beyond what chance explains. {ratio}");
    }
    if moved.is_empty() {
        return format!("Fine: no figure and no share moved beyond what chance explains. {ratio}");
    }
    let n_more = moved.len().saturating_sub(MAX_MOVED);
    let mut told: Vec<String> = moved.into_iter().take(MAX_MOVED).map(|(_, told)| told).collect();
    told.extend((n_more > 0).then(|| format!("and {n_more} more")));
    format!("Moved: {}. {lost}{ratio}", told.join("; "))
}

/// The card of a number on both sides.
fn card(json: &Value, name: &'static str, place: &'static str, show: Show) -> Card {
    let was = Cell::of(json.pointer(&place.replacen("after", "before", 1)).cloned(), show);
    Card::of(json, name, place, show, format!("{} before", was.shown))
}

/// The three figures that matter.
fn cards(document: &DriftDocument, json: &Value) -> Vec<Card> {
    let kept = match &document.after.totals {
        totals if totals.next_turn_recall.is_some() => {
            ("Next-turn recall", "/after/totals/next_turn_recall", Show::Percent)
        }
        totals if totals.grounding.is_some() => ("Grounding", "/after/totals/grounding", Show::Percent),
        _ => ("Ratio of tokens", "/after/totals/token_ratio", Show::Ratio),
    };
    let conversations = ("Conversations", "/after/totals/conversations", Show::Count);
    let cards = [("Times shorter", "/after/totals/ratio", Show::Ratio), kept, conversations];
    cards.map(|(name, place, show)| card(json, name, place, show)).into()
}

fn further(document: &DriftDocument, json: &Value) -> Vec<Card> {
    let (before, after) = (&document.before.totals, &document.after.totals);
    let [is, was] = [after, before].map(|side| numbers::percent(side.reject_rate()));
    let mut cards = vec![
        card(json, "Messages", "/after/totals/messages_in", Show::Count),
        card(json, "Tokens in", "/after/totals/tokens_in", Show::Count),
        card(json, "Bytes stored", "/after/totals/bytes_written", Show::Bytes),
        card(json, "Rejected records", "/after/totals/rejects", Show::Count),
    ];
    let is_estimated = [&document.after, &document.before].map(|side| side.runs.iter().any(RunFacts::estimates_tokens));
    cards[1].beside.push_str(match is_estimated {
        [true, true] => "; both estimated",
        [true, false] => "; the present ones estimated",
        [false, true] => "; those estimated",
        [false, false] => "",
    });
    cards[3].beside.push_str(&format!("; {is} of the records, {was} before"));
    // Without a token budget nothing is over it.
    if before.over_budget.max(after.over_budget) > 0 {
        cards.push(card(json, "Over the token budget", "/after/totals/over_budget", Show::Count));
    }
    cards
}

/// An index; what chance explains is marked.
fn index(psi: Option<Psi>) -> Cell {
    let tone = match psi {
        Some(psi) if psi.value <= psi.by_chance => Tone::Faint,
        Some(psi) if !psi.moved() => Tone::Plain,
        Some(psi) if psi.value < LARGE => Tone::Strong,
        Some(_) => Tone::Bad,
        None => Tone::Faint,
    };
    let mark = if psi.is_some_and(|psi| psi.value <= psi.by_chance) { "~" } else { "" };
    marked(mark, psi.map(|psi| psi.value)).toned(tone)
}

/// A distance; what chance explains is marked.
fn distance(ks: Option<Ks>) -> Cell {
    let (tone, mark) = match ks {
        Some(ks) if ks.statistic <= ks.critical => (Tone::Faint, "~"),
        _ => (Tone::Plain, ""),
    };
    marked(mark, ks.map(|ks| ks.statistic)).toned(tone)
}

fn marked(mark: &str, value: Option<f64>) -> Cell {
    let cell = Cell::of(value, Show::Share);
    Cell { shown: format!("{mark}{}", cell.shown), ..cell }
}

fn figures<'d>(document: &'d DriftDocument, json: &Value) -> Blocks<'d> {
    if document.figures.is_empty() {
        return Vec::new();
    }
    let of_all = document.figures.iter().enumerate().filter(|(_, of)| of.class.is_none() && !of.bars.is_empty());
    let drawings = of_all.map(|(at, figure)| (Seen::Page, twin(at, figure, json))).collect();
    vec![
        (Seen::Page, note("The share of conversations with each value before {pale} and after {data}.")),
        (Seen::Page, Block::Drawings(drawings, false)),
        (Seen::Page, heading("How far they are apart")),
        (Seen::Always, Block::Table(distances(document, json, "Figures on both sides", false))),
        (Seen::Terminal, note(LEGEND)),
        (Seen::All, Block::Table(distances(document, json, "Figures on both sides, class by class", true).folded())),
    ]
}

/// Figures of all conversations, or class by class.
fn distances(document: &DriftDocument, json: &Value, caption: &str, by_class: bool) -> Table {
    let mut columns = vec![column("figure", "figure", Show::Words)];
    columns.extend(by_class.then(|| column("class", "class", Show::Name)));
    columns.extend([column("side", KEY, Show::Text), column("n", "conversations", Show::Count)]);
    columns.extend(["mean", "p5", "p50", "p95"].map(|point| column(point, point, Show::Figure)));
    columns.extend([
        column("PSI", "", Show::Share),
        column("by chance", "", Show::Share).on(Seen::Page),
        column("KS", "", Show::Share),
        column("critical", "", Show::Share).on(Seen::Page),
        column("p", "", Show::Share).on(Seen::Page),
        picture("", Show::Counts("")),
    ]);
    let drifts = document.figures.iter().enumerate().filter(|(_, of)| of.class.is_some() == by_class);
    let sides =
        drifts.clone().flat_map(|(at, _)| SIDES.map(|side| Part::at(json, format!("/figures/{at}/{side}"), side)));
    let mut table = Table::new(caption, columns, sides.collect());
    let share = |value: Option<f64>| Cell::of(value, Show::Share);
    for (rows, (at, of)) in table.rows.chunks_mut(SIDES.len()).zip(drifts) {
        let bars = json.pointer(&format!("/figures/{at}/bars"));
        let apart = [
            index(of.psi),
            share(of.psi.map(|psi| psi.by_chance)),
            distance(of.ks),
            share(of.ks.map(|ks| ks.critical)),
            share(of.ks.map(|ks| ks.p_value)),
        ];
        let told = [[(); 5].map(|()| Cell::text("")), apart];
        for ((row, side), told) in rows.iter_mut().zip(SIDES).zip(told) {
            // A side that lacks the figure does not say which it is.
            row.cells[0] = Cell::text(numbers::words(&of.figure));
            if by_class {
                row.cells[1] = Cell::text(name_of(of.class.as_deref()));
            }
            let end = row.cells.len() - told.len() - 1;
            row.cells.truncate(end);
            row.cells.extend(told);
            row.cells.push(Cell::of(bars.cloned(), Show::Counts(side)));
        }
    }
    table
}

fn apart(psi: Option<Psi>) -> String {
    psi.map_or(String::new(), |psi| format!(" · PSI {}", numbers::share(psi.value)))
}

fn twin<'d>(at: usize, figure: &'d FigureDrift, json: &Value) -> Drawing<'d> {
    let name = numbers::words(&figure.figure);
    let show = Show::of_figure(&figure.figure);
    let columns = [
        column("above", "from", show),
        column("up to", "to", show),
        column("before", "before", Show::Count),
        column("after", "after", Show::Count),
    ];
    let mut bars = parts(json, &format!("/figures/{at}/bars"));
    bars.retain(|bar| bar.value["before"] != 0 || bar.value["after"] != 0);
    Drawing {
        note: format!("{}{}", says(&figure.figure), apart(figure.psi)),
        alternative: format!("Histograms of {name} before and after"),
        table: Some(Table::new(format!("Conversations by {name}, before and after"), columns, bars)),
        name,
        chart: Chart::Twin(figure),
        is_wide: false,
    }
}

fn shares<'d>(document: &DriftDocument, json: &Value) -> Blocks<'d> {
    if document.breakdowns.is_empty() {
        return Vec::new();
    }
    let columns = [
        column("shares by", "by", Show::Text),
        column("PSI", "psi/value", Show::Share),
        column("most changed", "rows/0/name", Show::Name),
        column("before", "rows/0/share_before", Show::Percent),
        column("after", "rows/0/share_after", Show::Percent),
    ];
    let mut table = Table::new("How far shares are apart", columns, parts(json, "/breakdowns"));
    for (row, breakdown) in table.rows.iter_mut().zip(&document.breakdowns) {
        row.cells[1] = index(breakdown.psi);
        row.cells[2].shown = plain::cut(&row.cells[2].shown, MAX_NAME);
    }
    let drawn = document.breakdowns.iter().enumerate().filter(|(_, found)| !found.rows.is_empty());
    let drawings = drawn.map(|(at, breakdown)| (Seen::All, one_breakdown(at, breakdown, json))).collect();
    vec![
        (Seen::Always, Block::Table(table)),
        (Seen::Page, note("Shares before {pale} and after {data}.")),
        (Seen::All, Block::Drawings(drawings, true)),
    ]
}

fn one_breakdown<'d>(at: usize, breakdown: &BreakdownDrift, json: &Value) -> Drawing<'d> {
    let by = numbers::words(&breakdown.by);
    let columns = [
        column("name", "name", Show::Name),
        column("before", "before", Show::Count),
        column("after", "after", Show::Count),
        column("share before", "share_before", Show::Percent),
        column("share after", "share_after", Show::Percent),
    ];
    let rows = parts(json, &format!("/breakdowns/{at}/rows"));
    let bars = breakdown.rows.iter().map(|row| NamedBar {
        name: name_of(row.name.as_deref()).to_owned(),
        keeps_end: false,
        behind: row.share_before,
        length: row.share_after,
        says: format!("{} → {}", numbers::percent(row.share_before), numbers::percent(row.share_after)),
    });
    Drawing {
        name: format!("By {by}"),
        note: format!("shares of {}{}", breakdown.unit, apart(breakdown.psi)),
        alternative: format!("Shares by {by} before and after: {} bars", breakdown.rows.len()),
        chart: Chart::Bars(bars.collect()),
        is_wide: false,
        table: Some(Table::list(format!("Shares by {by}"), columns, rows)),
    }
}

fn novelties<'d>(json: &Value) -> Blocks<'d> {
    let columns = [
        column("name", "name", Show::Text),
        column("new", "is_new", Show::Text),
        column("kind", "by", Show::Words),
        column("count", "count", Show::Count),
    ];
    let table = Table::list("Names that only one side has", columns, parts(json, "/novelties"));
    if table.rows.is_empty() {
        return vec![(Seen::Page, said("Both sides have the same names.", Tone::Plain))];
    }
    vec![(Seen::Always, said("Names that only one side has.", Tone::Faint)), (Seen::Always, Block::Table(table))]
}

fn changes<'d>(changes: &Changes, json: &Value) -> Blocks<'d> {
    let count = numbers::count;
    let told = format!(
        "{} on both sides, {} the same byte for byte; {} new; {} that could not be told apart.",
        numbers::counted(changes.in_both, "conversation"),
        count(changes.same_record),
        count(changes.only_after),
        count(changes.ambiguous)
    );
    let mut blocks = vec![(Seen::Always, said(told, Tone::Faint))];
    for (name, place) in [("By ratio", "/changes/by_ratio"), ("By fact retention", "/changes/by_fact_retention")] {
        let columns = [
            column("conversation", "conversation_id", Show::Long),
            column("ratio", "ratio_before", Show::Ratio),
            column("after", "ratio_after", Show::Ratio),
            column("facts", "fact_retention_before", Show::Share),
            column("after", "fact_retention_after", Show::Share),
            column("same record", "is_same_record", Show::Text),
            column("source", "source", Show::Long).on(Seen::Page),
            column("row", "source_row", Show::Count).on(Seen::Page),
        ];
        let table = Table::list(name, columns, parts(json, place));
        if !table.rows.is_empty() {
            blocks.extend([(Seen::Always, heading(name)), (Seen::Always, Block::Table(table))]);
        }
    }
    blocks
}

fn reading<'d>() -> Blocks<'d> {
    let list = [
        "**PSI**, the population stability index, adds up how far the shares of the bars are apart: from 0.1 it is usually \
         called some change, from 0.25 a large one. With few conversations chance alone moves it: what chance explains \
         stands beside it, and ~ marks an index below.",
        "**KS**, the Kolmogorov–Smirnov statistic, is the largest distance of the two cumulative distributions, from 0 to \
         1; above the critical value one comparison in twenty of the same population would be wrong.",
        "Distributions are compared, not conversations: two sides may differ in what they hold and not in how it was \
         compressed. The conversations that both sides have tell the two apart.",
    ];
    vec![(Seen::Page, Block::List(list.into_iter().map(Words::Fixed).collect()))]
}
