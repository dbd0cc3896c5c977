//! Tries option sets on a sample of a corpus and says which to take: draws the sample, runs the sets with halving,
//! resamples for intervals, and holds them against a floor. Knows conversations and engines, no file format and no
//! terminal.

mod bootstrap;
mod choose;
mod document;
mod grid;
mod halving;
mod job_file;
mod sample;
mod sums;
mod trial;

pub use bootstrap::{CONFIDENCE, Interval, RESAMPLES};
pub use document::{
    SweepChoice, SweepChoiceKind, SweepClass, SweepDocument, SweepFigures, SweepHeldBack, SweepRound, SweepSample,
    SweepSearch, SweepSet,
};
pub use grid::{OptionSet, option_sets};
pub use job_file::{JobFrame, job_file, says};
pub(super) use sample::detached;
pub use sample::{
    CorpusParts, DEFAULT_SAMPLE, DEFAULT_SAMPLE_BYTES, Drawn, Sample, SampleOptions, Stratum, Watch, draw,
};
pub use sums::Measured;

use bootstrap::Resampled;
use choose::{best_set, by_conversation, choice, default_floor, figures, is_above, is_worth, ladder, point};
use halving::{MIN_CLASS, front, rounds, survivors};
use sums::{RATIO, Statistics};
use trial::Trial;

use super::bridge::Bridge;
use super::job::asks_a_model;
use super::numbers::{count, counted};
use super::{EngineFiles, Policy, PolicyOptions};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EngineOptions, Figure, Floor, Strategy, changes};

/// Figures whose front against the ratio is shown.
pub const FRONTS: [Figure; 2] = [Figure::QualityScore, Figure::ForwardRecall];

/// What is asked of a sweep.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    /// The options as given: what every set is held against.
    pub base: EngineOptions,
    /// What the files hold that options name.
    pub files: EngineFiles,
    /// What no figure may be below; empty: nothing gets worse than with the options as given.
    pub floor: Vec<Floor>,
    /// How much is drawn.
    pub sample: SampleOptions,
    /// Every set on the whole sample.
    pub full_grid: bool,
    /// No set with a smaller recency window.
    pub keep_window: bool,
}

/// What a job should do.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommended {
    /// The options of its engine.
    pub engine: EngineOptions,
    /// How it chooses by conversation, when that is better.
    pub policy: Option<PolicyOptions>,
}

/// Draws a sample of `inputs`, tries option sets on it, and says what they bring and which to take.
///
/// # Errors
/// `Usage` when the base cannot be swept; when an input cannot be read; `Empty` when there is no conversation.
pub fn sweep(
    inputs: &CorpusParts<'_>,
    options: &SweepOptions,
    bridge: &Bridge,
    watch: &dyn Watch,
) -> Result<(SweepDocument, Recommended)> {
    check(&options.base)?;
    let drawn = draw(inputs, options.sample, bridge, watch)?;
    if drawn.sample.is_empty() {
        return Err(nothing_drawn(&drawn));
    }
    watch.tell(&format!(
        "drawn: {} of {}",
        count(drawn.sample.len() as u64),
        counted(drawn.n_conversations as u64, "conversation")
    ));
    let sets = option_sets(&options.base, options.keep_window);
    let engines = sets.iter().map(|set| trial::engine(&set.options, &options.files));
    let engines = engines.collect::<Result<Vec<Engine>>>()?;
    let trial = Trial::new(&drawn.sample, bridge, watch);
    let floor = if options.floor.is_empty() { default_floor(&options.base) } else { options.floor.clone() };
    let search = search(&trial, &engines, drawn.sample.len(), options.full_grid, &floor, watch)?;
    let found = Found::new(&trial, &search, &floor, bridge);
    let recommendation = found.recommendation(&floor);
    let held_back = held_back(&drawn.held_back, &engines, &recommendation, &floor, bridge, watch)?;
    let recommended = recommended(&sets, &recommendation, &floor);
    let document = SweepDocument {
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: inputs.inputs.iter().map(|input| input.source.clone()).collect(),
        recency_window: options.base.recency_window,
        sample: SweepSample {
            conversations: drawn.n_conversations,
            drawn: drawn.sample.len(),
            bytes: drawn.sample.strata.iter().map(|stratum| stratum.n_bytes).sum(),
            too_long: drawn.n_giants,
            rejects: drawn.n_rejects,
        },
        search: SweepSearch {
            full_grid: options.full_grid,
            rounds: search.rounds.clone(),
            resamples: RESAMPLES,
            confidence: CONFIDENCE,
        },
        sets: found.sets(&options.base, &sets, &search, &floor),
        classes: found.classes(&drawn.sample, &floor),
        floor,
        recommendation,
        held_back,
    };
    Ok((document, recommended))
}

fn check(base: &EngineOptions) -> Result<()> {
    base.check()?;
    let usage = |place: &str, message: &str| Err(Error::new(ErrorKind::Usage, place, message));
    if asks_a_model(base) || base.strategy != Strategy::Messages {
        let message = "a sweep tries the engine's own texts; leave out the model, and strategy insert-then-compress";
        return usage("", message);
    }
    Ok(())
}

fn nothing_drawn(drawn: &Drawn) -> Error {
    let message = match (drawn.n_giants, drawn.n_rejects) {
        (0, 0) => "the inputs hold no records, so there is nothing to measure".to_owned(),
        (0, n) => {
            let first = drawn.first_reject.as_ref().map(|first| format!("; {first}")).unwrap_or_default();
            let none =
                if n == 1 { "the only record is no".to_owned() } else { format!("none of the {n} records is a") };
            format!("{none} conversation, so there is nothing to measure{first}")
        }
        (1, _) => "the only conversation is too long for the sample; raise --sample-bytes".to_owned(),
        (n, _) => format!("all {n} conversations are too long for the sample; raise --sample-bytes"),
    };
    let error = Error::new(ErrorKind::Empty, "", message);
    if drawn.n_rejects > 0 {
        return error.hinting("`condenser explain` says what is wrong with each, and what would help");
    }
    error
}

/// What was measured of each set, on as many conversations as it was kept for.
struct Search {
    rows: Vec<Vec<Measured>>,
    /// Sets that were measured on the whole sample, in their order; the first is the base.
    finalists: Vec<usize>,
    /// Of those that were left out on the way: what they came to.
    dropped: Vec<(usize, Statistics)>,
    rounds: Vec<SweepRound>,
}

fn search(
    trial: &Trial<'_>,
    engines: &[Engine],
    n: usize,
    full_grid: bool,
    floor: &[Floor],
    watch: &dyn Watch,
) -> Result<Search> {
    let sizes = if full_grid { vec![n] } else { rounds(n) };
    let mut search = Search {
        rows: vec![Vec::new(); engines.len()],
        finalists: Vec::new(),
        dropped: Vec::new(),
        rounds: Vec::new(),
    };
    let mut alive: Vec<usize> = (0..engines.len()).collect();
    let objectives: Vec<usize> = [RATIO].into_iter().chain(Figure::FIRST.map(|figure| figure as usize)).collect();
    let mut done = 0;
    for (at, &size) in sizes.iter().enumerate() {
        let running: Vec<&Engine> = alive.iter().filter_map(|&set| engines.get(set)).collect();
        for (&set, rows) in alive.iter().zip(trial.measure(&running, done, size)?) {
            search.rows[set].extend(rows);
        }
        done = size;
        search.rounds.push(SweepRound { sets: alive.len(), conversations: size });
        watch.tell(&format!(
            "{} measured on {}",
            counted(alive.len() as u64, "option set"),
            counted(size as u64, "conversation")
        ));
        if at + 1 < sizes.len() {
            let rows: Vec<Vec<Measured>> = alive.iter().map(|&set| search.rows[set].clone()).collect();
            let mut groups = trial.statistics(&rows);
            let mut kept = survivors(&groups, &objectives, alive.len().div_ceil(2));
            // A policy may want a set that is best on average nowhere, but often in single conversations.
            kept.extend(ladder(floor, &rows, &trial.weights_of(size)).0);
            kept.sort_unstable();
            kept.dedup();
            let whole = groups.swap_remove(0);
            let all = alive.iter().copied().zip(whole).enumerate();
            search.dropped.extend(all.filter(|(place, _)| !kept.contains(place)).map(|(_, dropped)| dropped));
            alive = kept.into_iter().filter_map(|place| alive.get(place).copied()).collect();
        }
    }
    search.finalists = alive;
    Ok(search)
}

/// The finalists, resampled, and after them what a policy over some of them comes to.
struct Found {
    resampled: Resampled,
    /// Their numbers.
    finalists: Vec<usize>,
    /// Places among the finalists that the policy tries.
    tries: Vec<usize>,
    n_conversations: usize,
}

impl Found {
    fn new(trial: &Trial<'_>, search: &Search, floor: &[Floor], bridge: &Bridge) -> Self {
        let mut rows: Vec<Vec<Measured>> = search.finalists.iter().map(|&set| search.rows[set].clone()).collect();
        let n_conversations = rows.first().map_or(0, Vec::len);
        let (tries, policy) = bridge.install(|| ladder(floor, &rows, &trial.weights_of(n_conversations)));
        rows.push(policy);
        let (blocks, rows, masks) = trial.blocks(&rows);
        let resampled = bridge.install(|| Resampled::new(&blocks, &rows, &masks, RESAMPLES));
        Self { resampled, finalists: search.finalists.clone(), tries, n_conversations }
    }

    fn recommendation(&self, floor: &[Floor]) -> SweepChoice {
        let policy = self.finalists.len();
        let best = best_set(floor, &self.resampled, 0, policy);
        match best {
            Some(set) if self.tries.len() < 2 || !is_worth(&self.resampled, policy, Some(set)) => {
                choice(&self.resampled, 0, set, vec![self.finalists[set]], false)
            }
            _ => {
                let tries = self.tries.iter().map(|&place| self.finalists[place]).collect();
                choice(&self.resampled, 0, policy, tries, true)
            }
        }
    }

    fn sets(&self, base: &EngineOptions, all: &[OptionSet], search: &Search, floor: &[Floor]) -> Vec<SweepSet> {
        let values: Vec<Statistics> = (0..self.finalists.len()).map(|at| *self.resampled.value(0, at)).collect();
        let fronts = FRONTS.map(|figure| (figure, front(&values, &[RATIO, figure as usize])));
        let set = |number: usize, conversations: usize, figures: SweepFigures| SweepSet {
            number,
            label: all[number].label.clone(),
            changes: changes(base, &all[number].options),
            conversations,
            figures,
            is_above_floor: false,
            front: Vec::new(),
        };
        let finalists = self.finalists.iter().enumerate().map(|(at, &number)| {
            let on = fronts.iter().filter(|(_, front)| front.contains(&at));
            SweepSet {
                is_above_floor: is_above(floor, &self.resampled, 0, at),
                front: on.map(|(figure, _)| figure.as_str().to_owned()).collect(),
                ..set(number, self.n_conversations, figures(|statistic| self.resampled.interval(0, at, statistic)))
            }
        });
        let dropped = search.dropped.iter().map(|(number, statistics)| {
            set(*number, search.rows[*number].len(), figures(|statistic| point(statistics, statistic)))
        });
        let mut sets: Vec<SweepSet> = finalists.chain(dropped).collect();
        sets.sort_by(|a, b| b.figures.ratio.value.total_cmp(&a.figures.ratio.value).then(a.number.cmp(&b.number)));
        sets
    }

    fn classes(&self, sample: &Sample, floor: &[Floor]) -> Vec<SweepClass> {
        let class = |(at, stratum): (usize, &Stratum)| {
            let group = at + 1;
            let best = best_set(floor, &self.resampled, group, self.finalists.len());
            let best = best.filter(|_| stratum.drawn.len() >= MIN_CLASS);
            SweepClass {
                class: stratum.class.clone(),
                conversations: stratum.n_seen,
                drawn: stratum.drawn.len(),
                given: figures(|at| self.resampled.interval(group, 0, at)),
                recommendation: best.map(|set| choice(&self.resampled, group, set, vec![self.finalists[set]], false)),
            }
        };
        sample.strata.iter().enumerate().filter(|(_, stratum)| !stratum.drawn.is_empty()).map(class).collect()
    }
}

/// The recommendation beside the options as given on what was held back.
fn held_back(
    sample: &Sample,
    engines: &[Engine],
    recommendation: &SweepChoice,
    floor: &[Floor],
    bridge: &Bridge,
    watch: &dyn Watch,
) -> Result<Option<SweepHeldBack>> {
    if sample.is_empty() {
        return Ok(None);
    }
    let trial = Trial::new(sample, bridge, watch);
    let numbers: Vec<usize> = [0].into_iter().chain(recommendation.sets.iter().copied()).collect();
    let running: Vec<&Engine> = numbers.iter().filter_map(|&set| engines.get(set)).collect();
    let mut rows = trial.measure(&running, 0, sample.len())?;
    let taken = match recommendation.kind {
        SweepChoiceKind::AsGiven | SweepChoiceKind::OneSet => rows.swap_remove(1),
        SweepChoiceKind::Policy => by_conversation(floor, &rows, &(1..rows.len()).collect::<Vec<_>>()),
    };
    let given = rows.swap_remove(0);
    let (blocks, rows, masks) = trial.blocks(&[given, taken]);
    let resampled = bridge.install(|| Resampled::new(&blocks, &rows, &masks, RESAMPLES));
    Ok(Some(SweepHeldBack {
        conversations: sample.len(),
        given: figures(|at| resampled.interval(0, 0, at)),
        recommended: figures(|at| resampled.interval(0, 1, at)),
        above_given: figures(|at| resampled.difference(0, 1, 0, at)),
    }))
}

fn recommended(sets: &[OptionSet], choice: &SweepChoice, floor: &[Floor]) -> Recommended {
    let options = |number: usize| sets[number].options.clone();
    match (choice.kind, &*choice.sets) {
        (SweepChoiceKind::Policy, [gentlest, tries @ ..]) => Recommended {
            engine: options(*gentlest),
            policy: Some(PolicyOptions {
                choose: Policy::BestAboveFloor,
                floor: floor.to_vec(),
                tries: tries.iter().map(|&number| options(number)).collect(),
            }),
        },
        (_, [set, ..]) => Recommended { engine: options(*set), policy: None },
        (_, []) => Recommended { engine: options(0), policy: None },
    }
}
