//! What is shown of a calibration.

use std::collections::BTreeMap;

use crate::model::Figure;
use crate::report::view::{Block, Blocks, Cell, Seen, Show, Table, Tone, column, said};
use crate::report::{Calibration, Fall, Planted, numbers};

/// How surely the metrics find damage, for each kind of it.
pub(super) fn calibration<'d>(calibration: &Calibration) -> Blocks<'d> {
    let columns = [
        column("damage", "", Show::Text),
        column("metric", "", Show::Text),
        column("n", "measured", Show::Count),
        column("falls", "rate", Show::Percent),
        column("by", "mean_fall", Show::Share),
    ];
    let mut table = Table::new("Detection by kind of damage and metric", columns, Vec::new());
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for (list, kinds) in [("damage", &calibration.damage), ("harmless", &calibration.harmless)] {
        let is_harmless = list == "harmless";
        for (at, planted) in kinds.iter().enumerate() {
            let name = numbers::words(&planted.kind) + if is_harmless { " (harmless)" } else { "" };
            let falls = ranked(planted, is_harmless);
            let has_alarm = falls.first().is_some_and(|(_, fall)| fall.rate > Some(0.0));
            if is_harmless && !has_alarm {
                let cells =
                    [Cell::text(&*name), Cell::text("none falls"), Cell::of(planted.conversations, Show::Count)];
                table.row(Seen::Terminal, "", cells);
            }
            for (rank, (metric, fall)) in falls.into_iter().enumerate() {
                let seen = if rank == 0 && (has_alarm || !is_harmless) { Seen::Always } else { Seen::All };
                let is_good = if is_harmless { fall.rate <= Some(0.0) } else { fall.rate > Some(0.5) };
                let cells = [
                    Cell::text(&*name),
                    Cell::text(numbers::words(metric)),
                    Cell::of(fall.measured, Show::Count),
                    Cell::of(fall.rate, Show::Percent).toned(if is_good { Tone::Good } else { Tone::Bad }),
                    Cell::of(fall.mean_fall, Show::Share),
                ];
                table.row(seen, format!("/calibration/{list}/{at}/metrics/{metric}"), cells);
                if !is_harmless {
                    let best = best.entry(metric).or_default();
                    *best = best.max(fall.rate.unwrap_or_default());
                }
            }
        }
    }
    let about = format!(
        "How often a metric falls when a text is damaged on purpose: damage of each kind was planted in up to {} by \
         condenser {}. A rate is the share of those for which the metric could be measured: a high rate over few of them \
         says little. For harmless changes a rate above 0 is a false alarm.",
        numbers::counted(calibration.changed, "conversation"),
        calibration.engine_version
    );
    let mut blocks = vec![(Seen::Always, said(about, Tone::Faint))];
    let blind: Vec<String> =
        best.iter().filter(|(_, best)| **best < 0.5).map(|(metric, _)| numbers::words(metric)).collect();
    if !blind.is_empty() {
        let text = format!("Blind to every kind of damage that was planted: {}.", blind.join(", "));
        blocks.push((Seen::All, said(text, Tone::Bad)));
    }
    blocks.push((Seen::Always, Block::Table(table)));
    blocks
}

/// The metrics that were measured, by how often they fall. For damage those come first that were measured on at least half
/// of the conversations: what falls always, but is seldom there, finds little.
fn ranked(planted: &Planted, is_harmless: bool) -> Vec<(&String, &Fall)> {
    let mut falls: Vec<_> = planted.metrics.iter().filter(|(_, fall)| fall.rate.is_some()).collect();
    let is_broad = |fall: &Fall| is_harmless || fall.measured.saturating_mul(2) >= planted.conversations;
    let rate = |fall: &Fall| fall.rate.unwrap_or_default();
    falls.sort_by(|(a_name, a), (b_name, b)| {
        let by_rate = is_broad(b).cmp(&is_broad(a)).then_with(|| rate(b).total_cmp(&rate(a)));
        by_rate.then_with(|| b.measured.cmp(&a.measured)).then_with(|| a_name.cmp(b_name))
    });
    falls
}

/// The rates: a row per kind of change, a column per metric, shares in percent.
pub(in crate::report) fn matrix(calibration: &Calibration) -> Table {
    let mut columns = vec![column("damage", "", Show::Text), column("n", "", Show::Count)];
    columns.extend(Figure::SHARES.map(|figure| column(figure.label(), "", Show::Count)));
    let mut table = Table::new("", columns, Vec::new());
    let kinds = calibration.damage.iter().map(|kind| (kind, ""));
    for (planted, mark) in kinds.chain(calibration.harmless.iter().map(|kind| (kind, " (harmless)"))) {
        let rate = |figure: Figure| planted.metrics.get(figure.as_str()).and_then(|fall| fall.rate);
        let mut cells = vec![Cell::text(planted.kind.clone() + mark), Cell::of(planted.conversations, Show::Count)];
        let rates = Figure::SHARES.map(|figure| rate(figure).map(|rate| (rate * 100.0).round() as u64));
        cells.extend(rates.map(|rate| Cell::of(rate, Show::Count)));
        table.row(Seen::Always, "", cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Calibration, Fall, Planted, ranked};
    use crate::report::view::{Block, Seen};

    fn planted(kind: &str, falls: &[(&str, u64, f64)]) -> Planted {
        let fall = |measured, rate: f64| {
            let found = (measured > 0).then_some(rate);
            Fall { measured, rate: found, mean_fall: found }
        };
        let metrics = falls.iter().map(|(name, n, rate)| ((*name).to_owned(), fall(*n, *rate)));
        Planted { kind: kind.to_owned(), says: String::new(), conversations: 100, metrics: metrics.collect() }
    }

    #[test]
    fn a_metric_that_is_seldom_measured_is_not_the_surest() {
        let kind = planted("digits", &[("rare", 3, 1.0), ("broad", 50, 0.8), ("blind", 100, 0.0), ("absent", 0, 0.0)]);
        let names: Vec<&str> = ranked(&kind, false).into_iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["broad", "blind", "rare"]);
        assert_eq!(ranked(&kind, true).first().map(|(name, _)| &***name), Some("rare"));
    }

    #[test]
    fn harmless_kinds_tell_their_false_alarms() {
        let harmless = vec![planted("case", &[("broad", 50, 0.0)]), planted("space", &[("a", 50, 0.0), ("b", 9, 0.2)])];
        let damage = vec![planted("digits", &[("rare", 3, 1.0), ("broad", 50, 0.8)])];
        let blocks = super::calibration(&Calibration { changed: 1, damage, harmless, ..Calibration::default() });
        let Some((_, Block::Table(table))) = blocks.last() else { unreachable!("it ends with the table") };
        let first = |seen: Seen| -> Vec<String> {
            let rows = table.rows.iter().filter(|row| row.seen == seen);
            rows.map(|row| row.cells.iter().map(|cell| &*cell.shown).collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!(first(Seen::Always), ["digits broad 50 80.0 % 0.800", "space (harmless) b 9 20.0 % 0.200"]);
        assert_eq!(first(Seen::Terminal), ["case (harmless) none falls 100"]);
    }
}
