//! How surely the metrics find damage, for each kind of it. Knows the calibration, not how columns are aligned.

use super::layout::{Cell, Page, Table, Tone};
use crate::report::numbers::{count, counted, maybe, percent, share, words};
use crate::report::{Calibration, Fall, Planted};

pub(super) fn calibrated(calibration: &Calibration, page: &mut Page) {
    let told = if page.screen.all {
        "every metric of every kind"
    } else {
        "the surest metric of each kind, of harmless kinds the one with most false alarms; all with --all"
    };
    let planted = counted(calibration.changed, "conversation");
    let remark = format!("how often a metric falls when a text is damaged on purpose, in {planted}: {told}");
    page.heading("Calibration", &remark);
    let mut table = Table::new(&["damage", "metric", "n", "falls", "by"]);
    let kinds = calibration.damage.iter().map(|kind| (kind, false));
    for (planted, is_harmless) in kinds.chain(calibration.harmless.iter().map(|kind| (kind, true))) {
        let falls = ranked(planted, is_harmless);
        let name = words(&planted.kind) + if is_harmless { " (harmless)" } else { "" };
        let has_alarm = falls.first().is_some_and(|(_, fall)| fall.rate > Some(0.0));
        if is_harmless && !has_alarm && !page.screen.all {
            let nothing = [Cell::plain("none falls"), Cell::plain(count(planted.conversations))];
            table.push(
                [Cell::plain(name)].into_iter().chain(nothing).chain([Cell::plain(""), Cell::plain("")]).collect(),
            );
            continue;
        }
        for (metric, fall) in falls.into_iter().take(if page.screen.all { usize::MAX } else { 1 }) {
            let is_good = if is_harmless { fall.rate <= Some(0.0) } else { fall.rate > Some(0.5) };
            table.push(vec![
                Cell::plain(&*name),
                Cell::plain(words(metric)),
                Cell::plain(count(fall.measured)),
                Cell::new(maybe(fall.rate, percent), if is_good { Tone::Good } else { Tone::Bad }),
                Cell::plain(maybe(fall.mean_fall, share)),
            ]);
        }
    }
    page.table(&table);
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

#[cfg(test)]
mod tests {
    use super::{Calibration, Fall, Planted, ranked};
    use crate::report::Screen;
    use crate::report::terminal::layout::Page;

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
        let mut page = Page::new(Screen { width: 100, colours: false, all: false });
        super::calibrated(&Calibration { changed: 1, damage, harmless, ..Calibration::default() }, &mut page);
        let text = page.finish();
        assert!(text.contains("in 1 conversation:") && !text.contains("rare"), "{text}");
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).expect(name);
        assert!(line("case (harmless)").contains("none falls"), "{text}");
        assert!(line("space (harmless)").contains("20.0 %") && line("digits").contains("80.0 %"), "{text}");
    }
}
