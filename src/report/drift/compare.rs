//! Makes the document of a comparison from the sketches of both sides. Knows sketches, no file, no terminal and no page.

use std::collections::{BTreeMap, BTreeSet};

use super::statistics::{ks, psi_of_names, psi_of_sketches};
use super::{
    BarPair, BreakdownDrift, Changes, DRIFT_VERSION, DriftDocument, FigureDrift, Novelty, ShareDrift, SideFacts,
};
use crate::model::Figure;
use crate::pipeline::Merge;
use crate::pipeline::sketch::{Breakdown, ClassFigures, Quantiles, Share, Sketch};
use crate::report::compile::{count_into, distribution, scale, totals_of};
use crate::report::{Bar, RunFacts};

/// Names of a breakdown that are shown; the rest is summed up.
const MAX_ROWS: usize = 40;

/// A side of a comparison.
struct Side {
    facts: SideFacts,
    sketch: Sketch,
    figures: ClassFigures,
}

impl Side {
    fn new(runs: Vec<(RunFacts, Sketch)>) -> Self {
        let mut sketch = Sketch::default();
        for (_, part) in &runs {
            sketch.absorb(part);
        }
        let runs: Vec<RunFacts> = runs.into_iter().map(|(facts, _)| facts).collect();
        let figures = sketch.figures.total();
        let totals = totals_of(&runs, &sketch, &figures);
        Self { facts: SideFacts { runs, totals }, sketch, figures }
    }
}

impl DriftDocument {
    /// The comparison of the runs `after` with the runs `before`, without conversations and thresholds.
    pub fn new(before: Vec<(RunFacts, Sketch)>, after: Vec<(RunFacts, Sketch)>) -> Self {
        let (before, after) = (Side::new(before), Side::new(after));
        let mut notes = notes_of(&before, &after);
        let breakdowns = breakdowns(&before, &after);
        let mut novelties = Vec::new();
        for (breakdown, may_lack) in &breakdowns {
            if *may_lack {
                notes.push(format!("{} has too many names to say which are new", breakdown.by));
            } else {
                novelties.extend(novelties_of(breakdown));
            }
        }
        Self {
            drift_version: DRIFT_VERSION,
            title: None,
            made: None,
            figures: figures(&before, &after),
            breakdowns: breakdowns.into_iter().map(|(breakdown, _)| shortened(breakdown)).collect(),
            novelties,
            changes: None,
            notes,
            breaches: Vec::new(),
            before: before.facts,
            after: after.facts,
        }
    }

    /// The same with what became of conversations that both sides have.
    pub fn with_changes(mut self, changes: Changes) -> Self {
        if changes.in_both == 0 {
            self.notes
                .push("no conversation has an id that was there before, so none is compared with itself".to_owned());
        }
        self.changes = Some(changes);
        self
    }
}

fn notes_of(before: &Side, after: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    let versions =
        |side: &Side| -> BTreeSet<String> { side.facts.runs.iter().map(|run| run.engine_version.clone()).collect() };
    let options =
        |side: &Side| -> BTreeSet<Vec<String>> { side.facts.runs.iter().map(|run| run.options.clone()).collect() };
    if versions(before) != versions(after) {
        notes.push("the two sides were written by different versions of condenser".to_owned());
    }
    if options(before) != options(after) {
        notes.push("the two sides were written with different options".to_owned());
    }
    let estimated = |side: &Side| side.facts.runs.iter().any(RunFacts::estimates_tokens);
    if estimated(before) != estimated(after) {
        notes.push("tokens are estimated by characters on one side and counted on the other".to_owned());
    }
    let tells = |side: &Side| side.sketch.contents.is_some() || side.sketch.figures.classes.is_empty();
    if tells(before) != tells(after) {
        let message =
            "one side does not tell roles, tools, actions and reasons: it carries neither sketches nor decisions";
        notes.push(message.to_owned());
    }
    notes
}

fn figures(before: &Side, after: &Side) -> Vec<FigureDrift> {
    let mut drifts = figures_of(None, &before.figures, &after.figures);
    let classes = before.sketch.figures.classes.keys().chain(after.sketch.figures.classes.keys());
    let none = ClassFigures::default();
    for class in classes.collect::<BTreeSet<_>>() {
        let of = |side: &'_ Side| side.sketch.figures.classes.get(class).cloned();
        let (a, b) = (of(before), of(after));
        drifts.extend(figures_of(Some(class), a.as_ref().unwrap_or(&none), b.as_ref().unwrap_or(&none)));
    }
    drifts
}

fn figures_of(class: Option<&str>, before: &ClassFigures, after: &ClassFigures) -> Vec<FigureDrift> {
    let none = Quantiles::default();
    let drift = |figure: Figure| {
        let name = figure.as_str();
        let sketch = |side: &ClassFigures| side.figures.get(name).cloned().unwrap_or_default();
        let (a, b) = (sketch(before), sketch(after));
        (a != none || b != none).then(|| FigureDrift {
            class: class.map(str::to_owned),
            figure: name.to_owned(),
            before: distribution(class, name, &a),
            after: distribution(class, name, &b),
            psi: psi_of_sketches(&a, &b),
            ks: ks(&a, &b),
            bars: pairs(name, &a, &b),
        })
    };
    let mut drifts: Vec<FigureDrift> = Figure::ALL.into_iter().filter_map(drift).collect();
    let moved = |of: &FigureDrift| of.moved().unwrap_or(0.0);
    drifts.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
    drifts
}

impl From<BarPair> for Bar {
    fn from(pair: BarPair) -> Self {
        Self { from: pair.from, to: pair.to, count: 0 }
    }
}

fn pairs(figure: &str, before: &Quantiles, after: &Quantiles) -> Vec<BarPair> {
    let ranges = [before.range(), after.range()];
    let range = ranges.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let Some(range) = range else { return Vec::new() };
    let empty = scale(figure, range).into_iter();
    let mut pairs: Vec<BarPair> =
        empty.map(|bar| BarPair { from: bar.from, to: bar.to, before: 0, after: 0 }).collect();
    count_into(&mut pairs, before, |pair| &mut pair.before);
    count_into(&mut pairs, after, |pair| &mut pair.after);
    pairs
}

/// The breakdowns, and whether a name may be missing in one since there were too many to tell apart.
fn breakdowns(before: &Side, after: &Side) -> Vec<(BreakdownDrift, bool)> {
    let conversations = (before.figures.conversations, after.figures.conversations);
    let mut all = Vec::new();
    let mut add = |by: &str, unit: &str, a: &Breakdown, b: &Breakdown, count: fn(&Share) -> u64| {
        let drift = breakdown(by, unit, (counts(a, count), counts(b, count)), conversations);
        if !drift.rows.is_empty() {
            all.push((drift, a.others.is_some() || b.others.is_some()));
        }
    };
    let of_conversations: fn(&Share) -> u64 = |share| share.conversations;
    let of_messages: fn(&Share) -> u64 = |share| share.messages;
    add("class", "conversations", &classes(before), &classes(after), of_conversations);
    let (a, b) = (&before.sketch.figures.languages, &after.sketch.figures.languages);
    add("language", "conversations", a, b, of_conversations);
    if let (Some(a), Some(b)) = (&before.sketch.contents, &after.sketch.contents) {
        for ((by, a), (_, b)) in a.breakdowns().into_iter().zip(b.breakdowns()) {
            add(by, "messages", a, b, of_messages);
        }
    }
    add("reject", "records", &rejects(before), &rejects(after), of_messages);
    all
}

/// A breakdown by names that have nothing but a count.
fn counted<'n>(counts: impl Iterator<Item = (&'n String, Share)>) -> Breakdown {
    let mut breakdown = Breakdown::default();
    counts.for_each(|(name, share)| breakdown.add(name, &share));
    breakdown
}

fn classes(side: &Side) -> Breakdown {
    let share = |class: &ClassFigures| Share { conversations: class.conversations, ..Share::default() };
    counted(side.sketch.figures.classes.iter().map(|(name, class)| (name, share(class))))
}

fn rejects(side: &Side) -> Breakdown {
    let share = |records| Share { messages: records, ..Share::default() };
    counted(side.sketch.rejects.iter().map(|(reason, of)| (reason, share(of.records))))
}

fn counts(breakdown: &Breakdown, count: fn(&Share) -> u64) -> BTreeMap<Option<&str>, u64> {
    let mut counts: BTreeMap<Option<&str>, u64> =
        breakdown.names.iter().map(|(name, share)| (Some(&**name), count(share))).collect();
    if let Some(others) = &breakdown.others {
        counts.insert(None, count(others));
    }
    counts
}

type Counts<'n> = BTreeMap<Option<&'n str>, u64>;

fn breakdown(by: &str, unit: &str, (a, b): (Counts<'_>, Counts<'_>), conversations: (u64, u64)) -> BreakdownDrift {
    let names: BTreeSet<Option<&str>> = a.keys().chain(b.keys()).copied().collect();
    let of = |counts: &Counts<'_>, name: Option<&str>| counts.get(&name).copied().unwrap_or_default();
    let paired: BTreeMap<Option<&str>, (u64, u64)> =
        names.into_iter().map(|name| (name, (of(&a, name), of(&b, name)))).collect();
    let all = (a.values().sum::<u64>(), b.values().sum::<u64>());
    let share = |count: u64, all: u64| if all == 0 { 0.0 } else { count as f64 / all as f64 };
    let mut rows: Vec<ShareDrift> = paired
        .iter()
        .map(|(name, &(before, after))| ShareDrift {
            name: name.map(str::to_owned),
            before,
            after,
            share_before: share(before, all.0),
            share_after: share(after, all.1),
        })
        .collect();
    let change = |row: &ShareDrift| (row.share_after - row.share_before).abs();
    rows.sort_by(|a, b| change(b).total_cmp(&change(a)).then_with(|| a.name.cmp(&b.name)));
    BreakdownDrift { by: by.to_owned(), unit: unit.to_owned(), psi: psi_of_names(&paired, conversations), rows }
}

/// The same with the names that changed least summed up.
fn shortened(mut breakdown: BreakdownDrift) -> BreakdownDrift {
    if breakdown.rows.len() <= MAX_ROWS {
        return breakdown;
    }
    let mut rest = ShareDrift { name: None, before: 0, after: 0, share_before: 0.0, share_after: 0.0 };
    let (named, unnamed): (Vec<_>, Vec<_>) = breakdown.rows.drain(..).partition(|row| row.name.is_some());
    let mut named = named.into_iter();
    breakdown.rows = named.by_ref().take(MAX_ROWS).collect();
    for row in named.chain(unnamed) {
        rest.before += row.before;
        rest.after += row.after;
        rest.share_before += row.share_before;
        rest.share_after += row.share_after;
    }
    breakdown.rows.push(rest);
    breakdown
}

fn novelties_of(breakdown: &BreakdownDrift) -> impl Iterator<Item = Novelty> {
    let one_sided = breakdown.rows.iter().filter(|row| (row.before == 0) != (row.after == 0));
    let mut found: Vec<Novelty> = one_sided
        .filter_map(|row| {
            Some(Novelty {
                by: breakdown.by.clone(),
                name: row.name.clone()?,
                is_new: row.before == 0,
                count: row.before.max(row.after),
            })
        })
        .collect();
    found.sort_by(|a, b| b.is_new.cmp(&a.is_new).then(b.count.cmp(&a.count)).then_with(|| a.name.cmp(&b.name)));
    found.into_iter()
}
