//! The end of a run as it is told: what came of it, where it is, what stands out, and the command to type next. To
//! machines it is one event. Knows sums, not work.

use std::collections::BTreeMap;

use condenser::io::store::Place;
use condenser::pipeline::sketch::RejectShare;
use condenser::pipeline::{BOMB_RATIO, JobKind, JobOptions, JobSettings, Manifest, Outcome, ProgressMode, Written};
use condenser::report::numbers::{bytes, count, counted};
use condenser::report::shell;
use serde_json::{Map, Value, json};

use super::{Ending, message, progress};

/// A file that unpacks to less harms nobody.
const MIN_BOMB_BYTES: u64 = 64 << 20;
/// So many reasons of rejects are named.
const MAX_REASONS: usize = 3;

/// Whom the end is told, and what it is held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// What went wrong only.
    pub(super) quiet: bool,
    /// As an event.
    pub(super) is_json: bool,
    /// Whether every conversation must meet its token budget.
    pub(super) require_fit: bool,
    /// Whether a run without a conversation has failed its purpose.
    pub(super) must_hold: bool,
}

impl Told {
    /// As the job wants it.
    pub(super) fn of(settings: &JobSettings) -> Self {
        Self {
            quiet: settings.quiet,
            is_json: settings.progress == ProgressMode::Json,
            require_fit: settings.require_fit,
            // A quiet night is none that failed.
            must_hold: settings.kind != JobKind::Compaction,
        }
    }

    /// Tells what a job came to, and where its run is when it has one.
    pub(super) fn end(self, options: &JobOptions, outcome: &Outcome, run: Option<&Place>) -> Ending {
        let end = End { options, outcome, run };
        let totals = &outcome.tally.totals;
        let empty = end.nothing().filter(|_| self.must_hold && outcome.n_missing == 0);
        let unfit = end.over_budget();
        let next = end.next();
        if self.is_json && !self.quiet {
            message::event(
                &end.event([empty.as_deref(), unfit.as_deref()], next.as_ref().map(|(_, command)| &**command)),
            );
        } else {
            let notes = if self.quiet { Vec::new() } else { end.notes() };
            // What the exit code speaks of is told in any case.
            let unfit_is_told = !self.quiet || self.require_fit;
            let notes = notes.into_iter().chain(empty.clone()).chain(unfit.clone().filter(|_| unfit_is_told));
            let next = next.filter(|_| !self.quiet).map(|(when, command)| format!("next{when}: {command}"));
            notes.chain(next).for_each(|note| message::note(&note));
        }
        match () {
            () if self.require_fit && unfit.is_some() => Ending::Threshold,
            () if totals.rejects > 0 || empty.is_some() => Ending::Rejects,
            () => Ending::Clean,
        }
    }
}

/// The end of a job.
struct End<'e> {
    options: &'e JobOptions,
    outcome: &'e Outcome,
    run: Option<&'e Place>,
}

impl End<'_> {
    /// What is told of every run.
    fn notes(&self) -> Vec<String> {
        let (tally, mut notes) = (&self.outcome.tally, Vec::new());
        if self.outcome.n_resumed > 0 {
            let n = self.outcome.n_resumed;
            let (were, are) = if n == 1 { ("was", "is") } else { ("were", "are") };
            notes.push(format!("{} {were} committed before and {are} kept", counted(n as u64, "part")));
        }
        notes.push(progress::summary(&tally.totals));
        if let Some(run) = self.run {
            let of_them = match tally.table("conversations") {
                Written { rows: 0, .. } => String::new(),
                table => format!(", {} of them conversations", bytes(table.bytes)),
            };
            notes.push(format!(
                "{run}: {} read, {} written{of_them}",
                bytes(tally.bytes_stored),
                bytes(tally.bytes_written())
            ));
            if self.options.dataset.is_some() {
                let rows = ["train", "eval", "dropped"].map(|name| tally.table(&format!("dataset/{name}")).rows);
                let [train, eval, dropped] = rows;
                let folder = run.join("dataset");
                let train = counted(train, "conversation");
                notes.push(format!("{folder}: {train} in train, {} in eval, {} left out", count(eval), count(dropped)));
            }
            if tally.totals.rejects > 0 {
                notes.push(format!("rejected records stand in {}", run.join("rejects")));
            }
            if self.outcome.n_missing > 0 {
                let n = self.outcome.n_missing as u64;
                notes.push(format!(
                    "{} {} left to other shards",
                    counted(n, "part"),
                    if n == 1 { "is" } else { "are" }
                ));
            }
        }
        notes.extend(self.manifest().iter().flat_map(|manifest| &manifest.missing).map(|it| format!("left out: {it}")));
        notes.extend(self.bombs());
        notes
    }

    fn manifest(&self) -> Option<&Manifest> {
        self.outcome.manifest.as_ref()
    }

    /// Why nothing came out; `None` when something did.
    fn nothing(&self) -> Option<String> {
        let tally = &self.outcome.tally;
        let (totals, n_rejects) = (&tally.totals, tally.totals.rejects);
        if totals.conversations > 0 {
            let n_rows = tally.table("dataset/train").rows + tally.table("dataset/eval").rows;
            let is_left_out = self.options.dataset.is_some() && n_rows == 0;
            let folder = self.run.map_or_else(String::new, |run| format!("; {} says why", run.join("dataset/dropped")));
            return is_left_out.then(|| {
                format!("the data set has no rows: {} left out{folder}", all(totals.conversations, "conversation"))
            });
        }
        Some(match n_rejects {
            0 if tally.bytes_stored == 0 => "nothing came out: the input is empty".to_owned(),
            0 => "nothing came out: the input holds no record".to_owned(),
            _ => format!("nothing came out: {} rejected{}", all(n_rejects, "record"), reasons(&tally.rejects)),
        })
    }

    /// That conversations are over their token budget, and what helps.
    fn over_budget(&self) -> Option<String> {
        let totals = &self.outcome.tally.totals;
        if totals.over_budget == 0 {
            return None;
        }
        let engine = &self.options.engine;
        let budget = match engine.token_budget {
            Some(budget) if self.options.policy.is_none() => {
                format!("the token budget of {}", counted(budget as u64, "token"))
            }
            _ => "their token budget".to_owned(),
        };
        let advice = if engine.force_converge {
            "what is protected there, or what is left of each message, takes more: raise --token-budget"
        } else {
            "--force-converge cuts them down, a larger --token-budget leaves them whole"
        };
        let is = if totals.over_budget == 1 { "is" } else { "are" };
        let of = counted(totals.conversations, "conversation");
        Some(format!("{} of {of} {is} over {budget} (`fits` in the metrics): {advice}", count(totals.over_budget)))
    }

    /// The command to type next, and when, unless at once.
    fn next(&self) -> Option<(&'static str, String)> {
        let run = self.run?.to_string();
        let totals = &self.outcome.tally.totals;
        Some(if self.outcome.n_missing > 0 {
            (", when the other shards are done", shell::command("condenser finish", &[&run], ""))
        } else if totals.conversations == 0 {
            let again = format!("--output {}", shell::quoted(&format!("{run}-again")));
            let is_there = totals.rejects > 0;
            is_there.then(|| (", after a fix", shell::command("condenser retry-rejects", &[&run], &again)))?
        } else {
            // A report has shown its figures already.
            let page = if self.options.measure_only { "--html report.html" } else { "" };
            ("", shell::command("condenser report", &[&run], page))
        })
    }

    /// The inputs that unpack to so many times their size that nobody would expect it.
    fn bombs(&self) -> Vec<String> {
        let inputs = self.manifest().into_iter().flat_map(|manifest| &manifest.inputs);
        let told = inputs.filter_map(|input| {
            let (stored, text) = (input.digest.bytes, input.digest.stream_bytes);
            let ratio = text / stored.max(1);
            let source = &input.source;
            (ratio >= BOMB_RATIO && text >= MIN_BOMB_BYTES).then(|| {
                format!(
                    "{source} unpacks to {ratio} times its size, {stored} to {text} bytes: is it a decompression bomb?"
                )
            })
        });
        told.collect()
    }

    /// All of it for machines.
    fn event(&self, told: [Option<&str>; 2], next: Option<&str>) -> Value {
        let tally = &self.outcome.tally;
        let of_table = |sum: &Written| json!({ "rows": sum.rows, "bytes": sum.bytes });
        let written: Map<String, Value> =
            tally.written.iter().map(|(table, sum)| (table.clone(), of_table(sum))).collect();
        let warnings: Vec<String> = told.into_iter().flatten().map(str::to_owned).chain(self.bombs()).collect();
        json!({
            "event": "ends", "run": self.run.map(ToString::to_string), "totals": tally.totals,
            "stored_bytes": tally.bytes_stored, "bytes": tally.bytes_stream, "bytes_written": tally.bytes_written(),
            "written": written, "parts_kept": self.outcome.n_resumed, "parts_missing": self.outcome.n_missing,
            "inputs_missing": self.manifest().map(|manifest| &manifest.missing), "warnings": warnings, "next": next,
        })
    }
}

/// `all 3 records were`, `the only record was`.
fn all(n: u64, noun: &str) -> String {
    if n == 1 { format!("the only {noun} was") } else { format!("all {} were", counted(n, noun)) }
}

/// Why records were rejected, the most frequent reasons first, with one of them.
fn reasons(rejects: &BTreeMap<String, RejectShare>) -> String {
    let mut reasons: Vec<(&String, &RejectShare)> = rejects.iter().collect();
    reasons.sort_by(|a, b| b.1.records.cmp(&a.1.records).then_with(|| a.0.cmp(b.0)));
    let Some((_, first)) = reasons.first() else { return String::new() };
    let named: Vec<&str> = reasons.iter().take(MAX_REASONS).map(|(reason, _)| &***reason).collect();
    format!(" ({}); the first: {}: {}", named.join(", "), first.place, first.example)
}
