//! What a job came to, in sentences: what came of it, where it is, what stands out, and the command to type next. To
//! machines it is one event. Knows sums, not work.

use std::collections::BTreeMap;

use crate::io::store::Place;
use crate::model::{LookAhead, Strategy};
use crate::pipeline::sketch::RejectShare;
use crate::pipeline::{BOMB_RATIO, JobOptions, JobOutcome, Manifest, Totals, TrainingTally, Written};
use crate::report::larger;
use crate::report::numbers::{self, bytes, count, counted, percent, share};
use crate::report::shell;
use serde_json::{Map, Value, json};

/// A file that unpacks to less harms nobody.
const MIN_BOMB_BYTES: u64 = 64 << 20;
/// So many reasons of rejects are named.
const MAX_REASONS: usize = 3;

/// What a job came to.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// The options of the job.
    pub options: JobOptions,
    /// Sums and the manifest.
    pub outcome: JobOutcome,
    /// Where its run is, when it has one.
    pub run: Option<Place>,
    /// Its conversations may go on: a store takes in what they have become.
    pub goes_on: bool,
}

impl RunOutcome {
    /// What is told of every run, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        [self.asides(), self.results()].concat()
    }

    /// What came of it: what there was, where it is, what it takes, and how good it is.
    pub fn results(&self) -> Vec<String> {
        let tally = &self.outcome.tally;
        let mut results = vec![summary(&tally.totals)];
        if let Some(run) = &self.run {
            let (read, written) = (tally.bytes_stored, tally.bytes_written());
            let of_them = match tally.table("conversations") {
                Written { rows: 0, .. } => String::new(),
                table => format!(", {} of them conversations", bytes(table.bytes)),
            };
            // Figures alone are no smaller form of the input, and what is larger is told as such.
            let is_share = written <= read && read > 0 && !self.options.measure_only;
            let part = if is_share { format!(" ({})", percent(written as f64 / read as f64)) } else { String::new() };
            results.push(format!("{run}: {} read, {} written{part}{of_them}", bytes(read), bytes(written)));
            let holds = tally.table("verbatim").bytes > 0 && self.outcome.n_missing == 0;
            results.extend(larger(read, written).filter(|_| holds));
        }
        let totals = &tally.totals;
        if totals.chars_out > 0 {
            let (before, after) = (counted(totals.chars_in, "character"), count(totals.chars_out));
            let grounding =
                tally.grounding().map_or_else(String::new, |of_all| format!(", grounding {}", share(of_all)));
            let ratio = numbers::ratio(totals.chars_in as f64 / totals.chars_out as f64);
            results.push(format!("ratio {ratio}: {before} → {after}{grounding}"));
        }
        results
    }

    /// What stands out beside it.
    pub fn asides(&self) -> Vec<String> {
        let (tally, mut notes) = (&self.outcome.tally, Vec::new());
        if self.outcome.n_resumed > 0 {
            let n = self.outcome.n_resumed;
            let (were, are) = if n == 1 { ("was", "is") } else { ("were", "are") };
            notes.push(format!("{} {were} committed before and {are} kept", counted(n as u64, "part")));
        }
        if let Some(run) = &self.run {
            if let Some(training) = &tally.training {
                notes.push(rows_of(&run.join("dataset").to_string(), training));
                notes.extend(advice_on(training).map(str::to_owned));
                let wants_eval = self.options.dataset.as_ref().is_some_and(|options| options.eval_share > 0.0);
                if wants_eval && training.eval_rows == 0 && training.train_rows > 0 {
                    notes.push(match training.eval_left_out {
                        0 => "the evaluation set is empty: conversations of one group stay on one side, and there are few \
                              groups; raise `eval_share`, or choose another `group_by`"
                            .to_owned(),
                        n => format!("the evaluation set is empty: what was for it was left out {n} times, `dropped` says why"),
                    });
                }
            }
            if tally.totals.rejects > 0 {
                notes.push(format!("rejected records stand in {}{}", run.join("rejects"), named(&tally.rejects)));
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
        notes.extend(self.not_to_continue());
        notes
    }

    fn manifest(&self) -> Option<&Manifest> {
        self.outcome.manifest.as_ref()
    }

    /// Why nothing came out; `None` when something did.
    pub fn nothing(&self) -> Option<String> {
        let tally = &self.outcome.tally;
        let (totals, n_rejects) = (&tally.totals, tally.totals.rejects);
        if totals.conversations > 0 {
            let n_rows = tally.table("dataset/train").rows + tally.table("dataset/eval").rows;
            let is_left_out = self.options.dataset.is_some() && n_rows == 0;
            let folder =
                self.run.as_ref().map_or_else(String::new, |run| format!("; {} says why", run.join("dataset/dropped")));
            let why = tally.training.as_ref().map_or_else(String::new, reasons_of);
            let advice =
                tally.training.iter().flat_map(advice_on).map(|advice| format!("; {advice}")).collect::<String>();
            return is_left_out.then(|| {
                let all = all(totals.conversations, "conversation");
                format!("the data set has no rows: {all} left out{why}{folder}{advice}")
            });
        }
        Some(match n_rejects {
            0 if tally.bytes_stored == 0 => "nothing came out: the input is empty".to_owned(),
            0 => "nothing came out: the input holds no record".to_owned(),
            _ => format!("nothing came out: {} rejected{}", all(n_rejects, "record"), reasons(&tally.rejects)),
        })
    }

    /// That conversations are over their token budget, and what helps; `None` when none is.
    pub fn over_budget(&self) -> Option<String> {
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

    /// That the ratio is not reached that was asked for; `None` when it is, or none was.
    pub fn misses_target(&self) -> Option<String> {
        let (asked, settled) = (self.options.target_ratio?, self.options.settled?);
        settled.misses(asked).then(|| {
            format!(
                "a ratio of {asked:.2} cannot be reached: with all hidden that may be it is {:.2}; the last messages do not count",
                settled.ratio
            )
        })
    }

    /// That what was hidden because nothing uses it may be what the next turn needs; `None` where no turn comes.
    fn not_to_continue(&self) -> Option<String> {
        let (totals, options) = (&self.outcome.tally.totals, &self.options);
        let is_told = self.goes_on
            && totals.chars_out < totals.chars_in
            && options.engine.strategy == Strategy::Messages
            && options.looks_ahead() == Some(LookAhead::Turns);
        is_told.then(|| {
            "to go on with a conversation take its original (condenser get RUN ID): what its next turn needs may be hidden here"
                .to_owned()
        })
    }

    /// The command to type next, and when, unless at once.
    pub fn next(&self) -> Option<(&'static str, String)> {
        let run = self.run.as_ref()?.to_string();
        let totals = &self.outcome.tally.totals;
        Some(if self.outcome.n_missing > 0 {
            (", when the other shards are done", shell::command("condenser finish", &[&run], ""))
        } else if totals.conversations == 0 {
            let again = format!("--output {}", shell::quoted(&format!("{run}-again")));
            let is_there = totals.rejects > 0;
            is_there.then(|| (", after a fix", shell::command("condenser retry-rejects", &[&run], &again)))?
        } else {
            ("", shell::command("condenser report", &[&run], "--html report.html"))
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

    /// All of it for machines; `must_hold` says whether a run without a conversation is worth a warning.
    pub fn event(&self, must_hold: bool) -> Value {
        let told = [self.nothing().filter(|_| must_hold), self.over_budget(), self.misses_target()];
        let tally = &self.outcome.tally;
        let of_table = |sum: &Written| json!({ "rows": sum.rows, "bytes": sum.bytes });
        let written: Map<String, Value> =
            tally.written.iter().map(|(table, sum)| (table.clone(), of_table(sum))).collect();
        let ahead = self.not_to_continue();
        let warnings: Vec<String> = told.into_iter().flatten().chain(self.bombs()).chain(ahead).collect();
        json!({
            "event": "ends", "run": self.run.as_ref().map(ToString::to_string), "totals": tally.totals,
            "stored_bytes": tally.bytes_stored, "bytes": tally.bytes_stream, "bytes_written": tally.bytes_written(),
            "grounding": tally.grounding(), "written": written, "parts_kept": self.outcome.n_resumed, "parts_missing": self.outcome.n_missing,
            "inputs_missing": self.manifest().map(|manifest| &manifest.missing), "warnings": warnings,
            "next": self.next().map(|(_, command)| command),
        })
    }
}

/// What a data set came to, in one line.
fn rows_of(folder: &str, training: &TrainingTally) -> String {
    let windows = match training.windows {
        0 => String::new(),
        n => format!(" ({} of a longer conversation)", counted(n, "window")),
    };
    let left_out: u64 = training.left_out.values().sum();
    let (train, eval) = (counted(training.train_rows, "row"), count(training.eval_rows));
    format!("{folder}: {train} in train, {eval} in eval{windows}, {} left out{}", count(left_out), reasons_of(training))
}

/// What helps against reasons for which something was left out.
fn advice_on(training: &TrainingTally) -> impl Iterator<Item = &'static str> {
    let advice = [
        ("no_assistant", "nobody is the assistant: `map` of the job names who it is"),
        ("no_messages", "no messages: `map` of the job names where they stand, and their role and content"),
        (
            "template_refuses",
            "`chat_template` refuses some: `dropped` says why; `calls = \"apart\"` is for templates with one call at a time",
        ),
        (
            "nothing_to_learn",
            "nothing to learn: turns that were stopped or refused, or edit what a larger `max_tokens` would show",
        ),
        ("prompt_over_max_tokens", "system prompt, tools and task take most of `max_tokens`: raise it"),
    ];
    advice.into_iter().filter(|(reason, _)| training.left_out.contains_key(*reason)).map(|(_, advice)| advice)
}

/// ` (2 duplicate, 1 no_assistant)`, the most frequent reason first.
fn reasons_of(training: &TrainingTally) -> String {
    let mut reasons: Vec<(&String, &u64)> = training.left_out.iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let named: Vec<String> = reasons.iter().map(|(reason, n)| format!("{} {reason}", count(**n))).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

/// What a job came to, in one line.
pub fn summary(totals: &Totals) -> String {
    let rejects = match totals.rejects {
        0 => String::new(),
        n => format!("; {} rejected", counted(n, "record")),
    };
    format!(
        "{}, {} → {}{rejects}",
        counted(totals.conversations, "conversation"),
        counted(totals.messages_in, "message"),
        count(totals.messages_out)
    )
}

/// ` (ratio 2.50)`; nothing when there is nothing to divide by.
pub fn ratio(totals: &Totals) -> String {
    if totals.chars_out == 0 {
        return String::new();
    }
    format!(" (ratio {:.2})", totals.chars_in as f64 / totals.chars_out as f64)
}

/// `all 3 records were`, `the only record was`.
fn all(n: u64, noun: &str) -> String {
    if n == 1 { format!("the only {noun} was") } else { format!("all {} were", counted(n, noun)) }
}

/// Why records were rejected, the most frequent reasons first.
fn by_frequency(rejects: &BTreeMap<String, RejectShare>) -> Vec<(&String, &RejectShare)> {
    let mut reasons: Vec<(&String, &RejectShare)> = rejects.iter().collect();
    reasons.sort_by(|a, b| b.1.records.cmp(&a.1.records).then_with(|| a.0.cmp(b.0)));
    reasons
}

/// ` (2 invalid_json, 1 torn_stream)`.
fn named(rejects: &BTreeMap<String, RejectShare>) -> String {
    let reasons = by_frequency(rejects);
    let named: Vec<String> =
        reasons.iter().map(|(reason, share)| format!("{} {reason}", count(share.records))).take(MAX_REASONS).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

/// The same, with one of them.
fn reasons(rejects: &BTreeMap<String, RejectShare>) -> String {
    let reasons = by_frequency(rejects);
    let Some((_, first)) = reasons.first() else { return String::new() };
    let named: Vec<&str> = reasons.iter().take(MAX_REASONS).map(|(reason, _)| &***reason).collect();
    format!(" ({}); the first: {}: {}", named.join(", "), first.place, first.example)
}
