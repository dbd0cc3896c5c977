//! Which thresholds a run passes. Knows the numbers of documents, not what follows from a breach.

use super::{Breach, DriftDocument, Psi};
use crate::pipeline::ReportArgs;
use crate::report::numbers::{counted, figure, percent, share, words};
use crate::report::{Distribution, TotalFacts};

/// Breakdowns whose index counts; rejects have a threshold of their own.
const COUNTED: [&str; 6] = ["class", "language", "role", "tool", "action", "reason"];

/// The thresholds that a run, or several, pass: those of its own figures, and when `drift` compares it with another, those
/// of the comparison. A figure that no conversation has passes nothing. An index or a distance counts only when it is
/// above what chance explains.
pub fn breaches(
    thresholds: &ReportArgs,
    (totals, distributions): (&TotalFacts, &[Distribution]),
    drift: Option<&DriftDocument>,
) -> Vec<Breach> {
    let mut found = Vec::new();
    for (name, floor) in &thresholds.floors {
        let of_all = distributions.iter().find(|of| of.class.is_none() && of.figure == *name);
        if let Some(of) = of_all.filter(|of| of.mean < *floor) {
            let mean = figure(name, of.mean);
            let message = format!("the mean {} is {mean}, below the floor {}", words(name), figure(name, *floor));
            found.push(breach("floors", name, of.mean, *floor, message));
        }
    }
    let rate = totals.reject_rate();
    if let Some(limit) = thresholds.max_reject_rate.filter(|limit| rate > *limit) {
        let message = format!("{} of the records are rejected, more than {}", percent(rate), percent(limit));
        found.push(breach("max_reject_rate", "rejects", rate, limit, message));
    }
    if let Some(drift) = drift {
        compared(thresholds, drift, &mut found);
    }
    found
}

/// Floors that hold nothing, since no conversation has their figure.
pub fn unmeasured<'t>(thresholds: &'t ReportArgs, distributions: &[Distribution]) -> Vec<&'t str> {
    let is_measured = |name: &str| distributions.iter().any(|of| of.class.is_none() && of.figure == name);
    thresholds.floors.iter().map(|(name, _)| &**name).filter(|name| !is_measured(name)).collect()
}

fn compared(thresholds: &ReportArgs, drift: &DriftDocument, found: &mut Vec<Breach>) {
    let of_all = || drift.figures.iter().filter(|of| of.class.is_none());
    if let Some(name) = thresholds.comparing()
        && drift.before.totals.conversations > 0
        && drift.after.totals.conversations == 0
    {
        let message = "there is no conversation any more, and nothing to compare".to_owned();
        found.push(breach(name, "conversations", 0.0, 1.0, message));
    }
    if let Some(limit) = thresholds.max_psi {
        let index = |name: &str, what: &str, psi: Option<Psi>| {
            let psi = psi.filter(|psi| psi.value > limit && psi.value > psi.by_chance)?;
            let message = format!("the stability index of {what} is {}, above {}", share(psi.value), share(limit));
            Some(breach("max_psi", name, psi.value, limit, message))
        };
        found.extend(of_all().filter_map(|of| index(&of.figure, &words(&of.figure), of.psi)));
        let counted = drift.breakdowns.iter().filter(|of| COUNTED.contains(&&*of.by));
        found.extend(counted.filter_map(|of| index(&of.by, &format!("the shares by {}", of.by), of.psi)));
    }
    if let Some(limit) = thresholds.max_ks {
        for of in of_all() {
            if let Some(ks) = of.ks.filter(|ks| ks.statistic > limit && ks.statistic > ks.critical) {
                let (name, distance) = (words(&of.figure), share(ks.statistic));
                let message =
                    format!("the Kolmogorov–Smirnov distance of {name} is {distance}, above {}", share(limit));
                found.push(breach("max_ks", &of.figure, ks.statistic, limit, message));
            }
        }
    }
    for (threshold, allowed, by, what) in [
        ("new_reasons", thresholds.new_reasons != Some(false), "reason", ("message", "decided")),
        ("new_rejects", thresholds.new_rejects != Some(false), "reject", ("record", "rejected")),
    ] {
        let new = drift.novelties.iter().filter(|novelty| !allowed && novelty.is_new && novelty.by == by);
        for novelty in new {
            let (noun, done) = what;
            let are = if novelty.count == 1 { "is" } else { "are" };
            let what = counted(novelty.count, noun);
            let message = format!("{what} {are} {done} for `{}`, which was not there before", novelty.name);
            found.push(breach(threshold, &novelty.name, novelty.count as f64, 0.0, message));
        }
    }
}

fn breach(threshold: &str, name: &str, found: f64, limit: f64, message: String) -> Breach {
    Breach { threshold: threshold.to_owned(), name: name.to_owned(), found, limit, message }
}
