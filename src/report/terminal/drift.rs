//! A comparison of two sides: thresholds first, then what changed most. Knows the document, not how columns are aligned.

use super::layout::{Cell, MAX_PICTURE, Page, Table, Tone, name_of, picture};
use crate::report::numbers::{count, counted, figure, maybe, percent, ratio, share, words};
use crate::report::plain::cut;
use crate::report::{BreakdownDrift, Change, Distribution, DriftDocument, FIGURES, FigureDrift, Ks, Psi, SideFacts};

/// An index from here on is customarily read as some change, and from there on as a large one (N. Siddiqi, 2006).
const SOME: f64 = 0.1;
const LARGE: f64 = 0.25;

pub(super) fn write(document: &DriftDocument, page: &mut Page) {
    side("before", &document.before, page);
    side("after", &document.after, page);
    for breach in &document.breaches {
        page.text(&format!("over the threshold {}: {}", breach.threshold, breach.message), Tone::Bad);
    }
    totals(document, page);
    figures(document, page);
    breakdowns(document, page);
    novelties(document, page);
    changes(document, page);
    page.line("", Tone::Plain);
    for note in &document.notes {
        page.text(&format!("note: {note}"), Tone::Plain);
    }
    let legend = "PSI: from 0.1 some change, from 0.25 a large one; ~ marks what chance explains (19 in 20). \
                  KS: the largest distance of the cumulative distributions.";
    page.text(legend, Tone::Faint);
    if !page.screen.all {
        page.text("--all shows classes and whole lists; --json the whole document", Tone::Faint);
    }
}

fn side(name: &str, side: &SideFacts, page: &mut Page) {
    let runs = match &*side.runs {
        [run] => run.run.clone(),
        [first, .., last] => format!("{} runs, {} to {}", side.runs.len(), first.run, last.run),
        [] => "no run".to_owned(),
    };
    page.text(&format!("{name:<7} {runs}"), Tone::Strong);
}

fn totals(document: &DriftDocument, page: &mut Page) {
    page.heading("Totals", "");
    let (before, after) = (&document.before.totals, &document.after.totals);
    let mut table = Table::new(&["", "before", "after"]);
    let mut row = |name: &str, a: String, b: String| {
        table.push(vec![Cell::plain(name), Cell::plain(a), Cell::plain(b)]);
    };
    row("conversations", count(before.conversations), count(after.conversations));
    row("messages", count(before.messages_in), count(after.messages_in));
    row("tokens in", count(before.tokens_in), count(after.tokens_in));
    row("ratio of characters", ratio(before.ratio), ratio(after.ratio));
    row("ratio of tokens", ratio(before.token_ratio), ratio(after.token_ratio));
    let rate = |rejects: u64, conversations: u64| percent(rejects as f64 / (rejects + conversations).max(1) as f64);
    row("rejected", rate(before.rejects, before.conversations), rate(after.rejects, after.conversations));
    if before.over_budget.max(after.over_budget) > 0 {
        row("over the token budget", count(before.over_budget), count(after.over_budget));
    }
    page.table(&table);
}

/// An index; what chance explains is marked.
fn index(psi: Option<Psi>) -> Cell {
    let Some(psi) = psi else { return Cell::faint(maybe(None, share)) };
    if psi.value <= psi.by_chance {
        return Cell::faint(format!("~{}", share(psi.value)));
    }
    let tone = match psi.value {
        ..SOME => Tone::Plain,
        ..LARGE => Tone::Strong,
        _ => Tone::Bad,
    };
    Cell::new(share(psi.value), tone)
}

fn figures(document: &DriftDocument, page: &mut Page) {
    page.heading("Figures", "before, and below it after; pictures on one scale");
    page.table(&figure_table(document.figures.iter().filter(|of| of.class.is_none()), page));
    if !page.screen.all {
        return;
    }
    let mut classes: Vec<&str> = document.figures.iter().filter_map(|of| of.class.as_deref()).collect();
    classes.dedup();
    if classes.len() < 2 {
        return;
    }
    for class in classes {
        page.heading(&format!("Figures of class {}", cut(class, 40)), "");
        let of_class = document.figures.iter().filter(|of| of.class.as_deref() == Some(class));
        page.table(&figure_table(of_class, page));
    }
}

fn figure_table<'d>(figures: impl Iterator<Item = &'d FigureDrift>, page: &Page) -> Table {
    let names = FIGURES.iter().map(|name| name.len()).max().unwrap_or_default();
    let room = page.room(&[names, 9, 5, 5, 5, 5, 6, 6]).min(MAX_PICTURE);
    let mut table = Table::new(&["figure", "n", "mean", "p5", "p50", "p95", "PSI", "KS", ""]).with_wide_end();
    for of in figures {
        let row = |name: Cell, side: Option<&Distribution>, counts: Vec<u64>| {
            let value = |point: fn(&Distribution) -> f64| {
                Cell::plain(maybe(side.map(point), |value| figure(&of.figure, value)))
            };
            let n = Cell::plain(count(side.map_or(0, |side| side.conversations)));
            let points = [value(|of| of.mean), value(|of| of.p5), value(|of| of.p50), value(|of| of.p95)];
            let picture = Cell::new(picture(&counts, room), Tone::Picture);
            (name, n, points, picture)
        };
        let joined = |(name, n, points, picture): (Cell, Cell, [Cell; 4], Cell), apart: [Cell; 2]| {
            [name, n].into_iter().chain(points).chain(apart).chain([picture]).collect::<Vec<_>>()
        };
        let before = of.bars.iter().map(|bar| bar.before).collect();
        let after = of.bars.iter().map(|bar| bar.after).collect();
        let blank = || Cell::plain("");
        table.push(joined(row(Cell::plain(words(&of.figure)), of.before.as_ref(), before), [blank(), blank()]));
        let apart = [index(of.psi), distance(of.ks)];
        table.push(joined(row(Cell::faint("  after"), of.after.as_ref(), after), apart));
    }
    table
}

/// A distance; what chance explains is marked.
fn distance(ks: Option<Ks>) -> Cell {
    match ks {
        Some(ks) if ks.statistic > ks.critical => Cell::plain(share(ks.statistic)),
        Some(ks) => Cell::faint(format!("~{}", share(ks.statistic))),
        None => Cell::faint(maybe(None, share)),
    }
}

fn breakdowns(document: &DriftDocument, page: &mut Page) {
    let mut table = Table::new(&["shares by", "PSI", "most changed", "before", "after"]);
    for breakdown in &document.breakdowns {
        let most = breakdown.rows.first();
        table.push(vec![
            Cell::plain(&*breakdown.by),
            index(breakdown.psi),
            Cell::plain(cut(most.map_or("", |row| name_of(row.name.as_deref())), 28)),
            Cell::plain(most.map_or_else(String::new, |row| percent(row.share_before))),
            Cell::plain(most.map_or_else(String::new, |row| percent(row.share_after))),
        ]);
    }
    if !table.is_empty() {
        page.heading("Shares", "of conversations, messages or records; before → after");
        page.table(&table);
    }
    if page.screen.all {
        document.breakdowns.iter().for_each(|breakdown| shares(breakdown, page));
    }
}

fn shares(breakdown: &BreakdownDrift, page: &mut Page) {
    page.heading(&format!("Shares by {}", breakdown.by), &format!("of {}", breakdown.unit));
    let mut table = Table::new(&["", "before", "after", "share", "after"]);
    for row in breakdown.rows.iter().take(page.n_rows()) {
        table.push(vec![
            Cell::plain(name_of(row.name.as_deref())),
            Cell::plain(count(row.before)),
            Cell::plain(count(row.after)),
            Cell::plain(percent(row.share_before)),
            Cell::plain(percent(row.share_after)),
        ]);
    }
    page.table(&table);
}

fn novelties(document: &DriftDocument, page: &mut Page) {
    if document.novelties.is_empty() {
        return;
    }
    page.heading("New and gone", "");
    let mut table = Table::new(&["name", "", "of", "count"]);
    for novelty in document.novelties.iter().take(page.n_rows() * 2) {
        let (text, tone) = if novelty.is_new { ("new", Tone::Strong) } else { ("gone", Tone::Faint) };
        table.push(vec![
            Cell::plain(&*novelty.name),
            Cell::new(text, tone),
            Cell::plain(&*novelty.by),
            Cell::plain(count(novelty.count)),
        ]);
    }
    page.table(&table);
    let n_more = document.novelties.len().saturating_sub(page.n_rows() * 2);
    if n_more > 0 {
        page.text(&format!("and {n_more} more"), Tone::Faint);
    }
}

fn changes(document: &DriftDocument, page: &mut Page) {
    let Some(changes) = document.changes.as_ref().filter(|changes| changes.in_both > 0) else { return };
    let remark = format!(
        "{} in both, {} with the same record; {} new",
        counted(changes.in_both, "conversation"),
        count(changes.same_record),
        count(changes.only_after)
    );
    page.heading("Conversations that changed most", &remark);
    let of_facts = |value: Option<f64>| maybe(value, share);
    let list = |listed: &[Change], page: &mut Page| {
        let mut table = Table::new(&["conversation", "ratio", "after", "facts", "after", "record"]);
        for change in listed.iter().take(page.n_rows()) {
            table.push(vec![
                Cell::plain(&*change.conversation_id),
                Cell::plain(ratio(change.ratio_before)),
                Cell::plain(ratio(change.ratio_after)),
                Cell::plain(of_facts(change.fact_retention_before)),
                Cell::plain(of_facts(change.fact_retention_after)),
                Cell::faint(if change.is_same_record { "same" } else { "other" }),
            ]);
        }
        page.table(&table);
    };
    if !changes.by_ratio.is_empty() {
        list(&changes.by_ratio, page);
    }
    if !changes.by_fact_retention.is_empty() {
        page.text("by fact retention:", Tone::Faint);
        list(&changes.by_fact_retention, page);
    }
}
