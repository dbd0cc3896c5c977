//! Makes the document of a report from the sketches of runs. Knows sketches, no file, no terminal and no page.

use std::collections::BTreeMap;

use super::document::{
    Bar, BreakdownFacts, BreakdownRow, ConversationFacts, DensityFacts, Distribution, KindFacts, Money, REPORT_VERSION,
    RejectFacts, RepeatFacts, Repeated, ReportDocument, RunFacts, TotalFacts,
};
use crate::model::{Figure, RejectReason};
use crate::pipeline::Merge;
use crate::pipeline::sketch::{
    Breakdown, ClassFigures, Extreme, MAX_EXTREMES, Quantiles, RejectShare, Share, Sketch, ratio,
};

/// Bars of a picture of a distribution.
const MAX_BARS: usize = 40;
/// Names of a breakdown that are shown; the rest is summed up.
const MAX_ROWS: usize = 40;
/// Repeated texts that are shown.
const MAX_REPEATS: usize = 30;

/// What tokens cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// A million of them.
    pub per_million_tokens: f64,
    /// In which currency.
    pub currency: String,
}

impl ReportDocument {
    /// The report of `runs`, each with what its parts told.
    pub fn new(runs: Vec<(RunFacts, Sketch)>, price: Option<Price>) -> Self {
        let mut all = Sketch::default();
        for (_, sketch) in &runs {
            all.absorb(sketch);
        }
        let total = all.figures.total();
        let largest_savings = extremes(&runs, |sketch| &sketch.figures.savings, |of| (of.saved() as f64, 0.0));
        let worst_losses = extremes(&runs, |sketch| &sketch.figures.losses, Extreme::lost);
        let runs: Vec<RunFacts> = runs.into_iter().map(|(facts, _)| facts).collect();
        let totals = totals_of(&runs, &all, &total);
        let money = price.map(|Price { per_million_tokens, currency }| {
            let cost = |tokens: u64| tokens as f64 / 1e6 * per_million_tokens;
            let (before, after) = (cost(totals.tokens_in), cost(totals.tokens_out));
            let saved = cost(totals.tokens_in.saturating_sub(totals.tokens_out));
            Money { per_million_tokens, currency, before, after, saved }
        });
        let mut distributions = distributions_of(None, &total);
        for (name, class) in &all.figures.classes {
            distributions.extend(distributions_of(Some(name), class));
        }
        Self {
            report_version: REPORT_VERSION,
            title: None,
            made: None,
            money,
            distributions,
            densities: densities_of(&all),
            kinds: kinds_of(&all, &totals),
            breakdowns: breakdowns_of(&runs, &all),
            unchanged: unchanged_of(&all),
            nights: Vec::new(),
            timings: None,
            largest_savings,
            worst_losses,
            repeated: repeated_of(&all),
            rejects: rejects_of(&all),
            calibration: None,
            totals,
            runs,
        }
    }
}

/// Sums over all runs.
pub(super) fn totals_of(runs: &[RunFacts], all: &Sketch, total: &ClassFigures) -> TotalFacts {
    let sources = || runs.iter().flat_map(|run| run.sources.values());
    let [chars_in, chars_out, tokens_in, tokens_out] =
        ["chars_in", "chars_out", "tokens_in", "tokens_out"].map(|name| total.sum(name));
    let [used, used_in_place, edits, edits_whole, facts, facts_held] =
        ["used", "used_in_place", "edits", "edits_whole", "facts", "facts_held"].map(|name| total.sum(name));
    let [next_turn_needed, next_turn_in_place, next_turn_lines, next_turn_lines_shown] =
        ["next_turn_needed", "next_turn_in_place", "next_turn_lines", "next_turn_lines_shown"]
            .map(|name| total.sum(name));
    let share = |kept: u64, of: u64| (of > 0).then(|| kept as f64 / of as f64);
    let rejects: u64 = sources().map(|source| source.rejects).sum();
    let lost_rows: u64 = sources().map(|source| source.lost_rows).sum();
    let n_places = all.rejects.get(RejectReason::DamagedRows.as_str()).map_or(0, |share| share.records);
    TotalFacts {
        conversations: total.conversations,
        distinct_conversations: all.figures.distinct.estimate().min(total.conversations),
        rejects,
        lost_rows,
        rejected: rejects + lost_rows.saturating_sub(n_places),
        over_budget: sources().map(|source| source.over_budget).sum(),
        messages_in: total.sum("messages_in"),
        messages_out: total.sum("messages_out"),
        chars_in,
        chars_out,
        tokens_in,
        tokens_out,
        ratio: ratio(chars_in, chars_out),
        token_ratio: ratio(tokens_in, tokens_out),
        used,
        used_in_place,
        edits,
        edits_whole,
        facts,
        facts_held,
        grounding: total.grounding(),
        next_turn_needed,
        next_turn_in_place,
        next_turn_lines,
        next_turn_lines_shown,
        next_turn_recall: share(next_turn_in_place, next_turn_needed),
        next_turn_lines_recall: share(next_turn_lines_shown, next_turn_lines),
        bytes_stored: sources().map(|source| source.bytes_stored).sum(),
        bytes_stream: sources().map(|source| source.bytes_stream).sum(),
        bytes_written: runs.iter().flat_map(|run| run.bytes_written.values()).sum(),
    }
}

fn distributions_of(class: Option<&str>, figures: &ClassFigures) -> Vec<Distribution> {
    let named = Figure::ALL.map(Figure::as_str).into_iter().filter_map(|name| Some((name, figures.figures.get(name)?)));
    named.filter_map(|(name, sketch)| distribution(class, name, sketch)).collect()
}

/// How a figure is distributed; `None` when no conversation has it.
pub(super) fn distribution(class: Option<&str>, figure: &str, sketch: &Quantiles) -> Option<Distribution> {
    let at = |q| sketch.quantile(q);
    let (min, max) = sketch.range()?;
    Some(Distribution {
        class: class.map(str::to_owned),
        figure: figure.to_owned(),
        conversations: sketch.count(),
        mean: sketch.mean()?,
        min,
        p5: at(0.05)?,
        p10: at(0.1)?,
        p25: at(0.25)?,
        p50: at(0.5)?,
        p75: at(0.75)?,
        p90: at(0.9)?,
        p95: at(0.95)?,
        max,
        bars: bars(figure, sketch),
    })
}

/// Bars of equal width: of shares over 0 to 1, of ratios over the logarithm.
fn bars(figure: &str, sketch: &Quantiles) -> Vec<Bar> {
    let Some(range) = sketch.range() else { return Vec::new() };
    let mut bars = scale(figure, range);
    count_into(&mut bars, sketch, |bar| &mut bar.count);
    bars
}

/// Empty bars for figures within a range.
pub(super) fn scale(figure: &str, (min, max): (f64, f64)) -> Vec<Bar> {
    let is_ratio = figure.ends_with("ratio");
    let (low, high) = if is_ratio { (min.max(0.01).log10(), max.max(0.011).log10()) } else { (0.0, 1.0) };
    let n_bars = if is_ratio { MAX_BARS } else { MAX_BARS / 2 };
    let width = ((high - low) / n_bars as f64).max(1e-9);
    let value = |at: usize| {
        let end = low + at as f64 * width;
        if is_ratio { 10_f64.powf(end) } else { end }
    };
    (0..n_bars).map(|at| Bar { from: value(at), to: value(at + 1), count: 0 }).collect()
}

/// Counts the numbers of a sketch into bars.
pub(super) fn count_into<B>(bars: &mut [B], sketch: &Quantiles, count: impl Fn(&mut B) -> &mut u64)
where
    B: Into<Bar> + Copy,
{
    let Some((min, max)) = sketch.range() else { return };
    let last = bars.len().saturating_sub(1);
    for bin in sketch.bins() {
        let middle = bin.middle().clamp(min, max);
        // A hair above an end still belongs below it: ends of ratios are rounded.
        let at = bars.partition_point(|bar| Into::<Bar>::into(*bar).to < middle * (1.0 - 1e-9)).min(last);
        if let Some(bar) = bars.get_mut(at) {
            *count(bar) = count(bar).saturating_add(bin.count);
        }
    }
}

fn densities_of(all: &Sketch) -> Vec<DensityFacts> {
    let named =
        Figure::ALL.map(Figure::as_str).into_iter().filter_map(|name| Some((name, all.figures.densities.get(name)?)));
    let facts = named.map(|(name, density)| DensityFacts { figure: name.to_owned(), cells: density.cells().collect() });
    facts.collect()
}

fn breakdowns_of(runs: &[RunFacts], all: &Sketch) -> Vec<BreakdownFacts> {
    let classes = all.figures.classes.iter().map(|(name, class)| {
        let share = Share {
            conversations: class.conversations,
            messages: class.sum("messages_in"),
            chars_in: class.sum("chars_in"),
            chars_out: class.sum("chars_out"),
        };
        (name.clone(), share)
    });
    let sources = runs.iter().flat_map(|run| run.sources.iter().map(|(name, source)| (name.clone(), source.share)));
    let mut breakdowns = vec![breakdown("class", classes.collect())];
    let mut named =
        |by: &str, found: &Breakdown| breakdowns.push(BreakdownFacts { by: by.to_owned(), rows: rows_of(found) });
    named("language", &all.figures.languages);
    named("choice", &all.figures.choices);
    if let Some(contents) = &all.contents {
        contents.breakdowns().into_iter().for_each(|(by, breakdown)| named(by, breakdown));
    }
    breakdowns.push(breakdown("source", sources.collect()));
    breakdowns.retain(|breakdown| !breakdown.rows.is_empty());
    breakdowns
}

fn breakdown(by: &str, names: Vec<(String, Share)>) -> BreakdownFacts {
    BreakdownFacts { by: by.to_owned(), rows: rows(names, None) }
}

fn rows_of(found: &Breakdown) -> Vec<BreakdownRow> {
    rows(found.names.iter().map(|(name, share)| (name.clone(), *share)).collect(), found.others)
}

/// The names with the most characters, and what falls to all others.
fn rows(mut names: Vec<(String, Share)>, mut others: Option<Share>) -> Vec<BreakdownRow> {
    names.sort_by(|(a_name, a), (b_name, b)| b.chars_in.cmp(&a.chars_in).then_with(|| a_name.cmp(b_name)));
    if names.len() > MAX_ROWS {
        for (_, share) in names.drain(MAX_ROWS..) {
            others.get_or_insert_default().absorb(&share);
        }
    }
    let row = |name: Option<String>, share: Share| BreakdownRow {
        name,
        share,
        ratio: ratio(share.chars_in, share.chars_out),
    };
    let named = names.into_iter().map(|(name, share)| row(Some(name), share));
    named.chain(others.map(|share| row(None, share))).collect()
}

/// Why conversations stayed as they were, what kept most of them first.
fn unchanged_of(all: &Sketch) -> Vec<BreakdownRow> {
    let mut rows = all.contents.as_ref().map(|contents| rows_of(&contents.unchanged)).unwrap_or_default();
    rows.sort_by(|a, b| b.share.conversations.cmp(&a.share.conversations).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// What is said of texts of a role.
fn kind_of(role: &str) -> &str {
    match role {
        "tool" | "function" => "tool results",
        "assistant" => "assistants",
        "user" => "users",
        "system" | "developer" => "system",
        other => other,
    }
}

/// Texts by who said them, and what stands in no text: arguments of calls, thoughts, metadata.
fn kinds_of(all: &Sketch, totals: &TotalFacts) -> Vec<KindFacts> {
    let Some(contents) = &all.contents else { return Vec::new() };
    let mut by_kind: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let named = contents.roles.names.iter().map(|(role, share)| (kind_of(role), share));
    for (kind, share) in named.chain(contents.roles.others.iter().map(|share| ("others", share))) {
        let (before, after) = by_kind.entry(kind.to_owned()).or_default();
        *before += share.chars_in;
        *after += share.chars_out;
    }
    let sum = by_kind.values().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let rest = (totals.chars_in.saturating_sub(sum.0), totals.chars_out.saturating_sub(sum.1));
    by_kind.insert("arguments".to_owned(), rest);
    let kinds = by_kind.into_iter().filter(|(_, (before, after))| before + after > 0);
    let mut kinds: Vec<KindFacts> = kinds
        .map(|(kind, (chars_in, chars_out))| KindFacts {
            kind,
            chars_in,
            chars_out,
            chars_hidden: chars_in.saturating_sub(chars_out),
        })
        .collect();
    kinds.sort_by(|a, b| b.chars_in.cmp(&a.chars_in).then_with(|| a.kind.cmp(&b.kind)));
    kinds
}

/// The conversations of all runs that `pick` gives of each, by rank.
fn extremes(
    runs: &[(RunFacts, Sketch)],
    pick: impl Fn(&Sketch) -> &[Extreme],
    rank: impl Fn(&Extreme) -> (f64, f64),
) -> Vec<ConversationFacts> {
    let facts = runs.iter().enumerate().flat_map(|(run, (_, sketch))| {
        pick(sketch).iter().map(move |figures| ConversationFacts {
            run,
            chars_saved: figures.saved(),
            loss: figures.loss(),
            figures: figures.clone(),
        })
    });
    let mut found: Vec<ConversationFacts> = facts.collect();
    found.sort_by(|a, b| {
        let (a, b) = (rank(&a.figures), rank(&b.figures));
        b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    found.truncate(MAX_EXTREMES);
    found
}

fn repeated_of(all: &Sketch) -> Option<Repeated> {
    let contents = all.contents.as_ref().filter(|contents| contents.texts > 0)?;
    let largest = contents.repeats.ranked().into_iter().take(MAX_REPEATS);
    Some(Repeated {
        texts: contents.texts,
        distinct_texts: contents.distinct.estimate().min(contents.texts),
        largest: largest
            .map(|(_, repeat)| RepeatFacts { repeat: repeat.clone(), chars_spare: repeat.spare() })
            .collect(),
    })
}

fn rejects_of(all: &Sketch) -> Vec<RejectFacts> {
    let fact = |(reason, share): (&String, &RejectShare)| RejectFacts { reason: reason.clone(), share: share.clone() };
    let mut rejects: Vec<RejectFacts> = all.rejects.iter().map(fact).collect();
    rejects.sort_by(|a, b| b.share.records.cmp(&a.share.records).then_with(|| a.reason.cmp(&b.reason)));
    rejects
}
