//! Runs option sets over the conversations of a sample, on all workers. Knows engines and conversations, not which sets
//! there are and what becomes of them.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::bootstrap::Block;
use super::sample::{Sample, Watch};
use super::sums::{Mask, Measured, Statistics, Sums, mask_of};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Conversation, EngineOptions};
use crate::pipeline::EngineFiles;
use crate::pipeline::bridge::{Bridge, guard};
use crate::pipeline::task::SCRATCH;

/// So many conversations are one piece of work.
const CHUNK: usize = 8;

/// A sample on its way through engines.
pub(crate) struct Trial<'s> {
    /// Class and conversation, spread so that every beginning holds all classes.
    conversations: Vec<(usize, &'s Conversation<'static>)>,
    n_seen: Vec<usize>,
    bridge: &'s Bridge,
    watch: &'s dyn Watch,
}

impl<'s> Trial<'s> {
    pub(crate) fn new(sample: &'s Sample, bridge: &'s Bridge, watch: &'s dyn Watch) -> Self {
        let n_seen = sample.strata.iter().map(|stratum| stratum.n_seen).collect();
        Self { conversations: sample.spread(), n_seen, bridge, watch }
    }

    /// Measures each engine on the conversations from `start` to `end`, in their order.
    pub(crate) fn measure(&self, engines: &[&Engine], start: usize, end: usize) -> Result<Vec<Vec<Measured>>> {
        let pieces: Vec<(usize, usize)> =
            (0..engines.len()).flat_map(|at| (start..end).step_by(CHUNK).map(move |from| (at, from))).collect();
        let piece = |(at, from): (usize, usize)| -> Result<Vec<Measured>> {
            self.watch.check()?;
            let Some(engine) = engines.get(at) else { return Ok(Vec::new()) };
            let chunk = self.conversations.get(from..end.min(from + CHUNK)).unwrap_or_default();
            chunk.iter().map(|(_, conversation)| measure(engine, conversation)).collect()
        };
        let done: Result<Vec<Vec<Measured>>> =
            self.bridge.install(|| pieces.clone().into_par_iter().map(piece).collect());
        let mut rows = vec![Vec::with_capacity(end - start); engines.len()];
        for ((at, _), measured) in pieces.into_iter().zip(done?) {
            rows[at].extend(measured);
        }
        Ok(rows)
    }

    /// What each set came to on the conversations that all of `rows` have: all together, then by class.
    pub(crate) fn statistics(&self, rows: &[Vec<Measured>]) -> Vec<Vec<Statistics>> {
        let n = rows.first().map_or(0, Vec::len);
        let classes = self.classes(n);
        let weights = self.weights(&classes);
        let masks = masks(rows, n);
        let mut groups = vec![Vec::with_capacity(rows.len()); self.n_seen.len() + 1];
        for set in rows {
            let mut sums = vec![Sums::NONE; self.n_seen.len()];
            for ((row, mask), &class) in set.iter().zip(&masks).zip(&classes) {
                sums[class].push(&row.terms(mask), weights[class]);
            }
            let mut all = Sums::NONE;
            for of_class in &sums {
                all.add(of_class);
            }
            let each = [&all].into_iter().chain(&sums).map(Sums::statistics);
            groups.iter_mut().zip(each).for_each(|(group, statistics)| group.push(statistics));
        }
        groups
    }

    /// The rows of the first `n` conversations class by class, with what each class stands for.
    pub(crate) fn blocks(&self, rows: &[Vec<Measured>]) -> (Vec<Block>, Vec<Vec<Measured>>, Vec<Mask>) {
        let n = rows.first().map_or(0, Vec::len);
        let classes = self.classes(n);
        let weights = self.weights(&classes);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&at| classes[at]);
        let blocks = (0..self.n_seen.len())
            .map(|class| Block { n: classes.iter().filter(|&&of| of == class).count(), weight: weights[class] })
            .collect();
        let masks = masks(rows, n);
        let sorted = rows.iter().map(|set| order.iter().map(|&at| set[at]).collect()).collect();
        (blocks, sorted, order.into_iter().map(|at| masks[at]).collect())
    }

    /// What a conversation of the first `n` stands for.
    pub(crate) fn weights_of(&self, n: usize) -> Vec<f64> {
        let classes = self.classes(n);
        let weights = self.weights(&classes);
        classes.into_iter().map(|class| weights[class]).collect()
    }

    fn classes(&self, n: usize) -> Vec<usize> {
        self.conversations.iter().take(n).map(|(class, _)| *class).collect()
    }

    /// Conversations of the inputs that one of each class stands for.
    fn weights(&self, classes: &[usize]) -> Vec<f64> {
        let n_of = |class: usize| classes.iter().filter(|&&of| of == class).count();
        self.n_seen.iter().enumerate().map(|(class, &n_seen)| n_seen as f64 / n_of(class).max(1) as f64).collect()
    }
}

/// What some set had something to measure for, by conversation.
fn masks(rows: &[Vec<Measured>], n: usize) -> Vec<Mask> {
    (0..n).map(|at| mask_of(rows.iter().filter_map(|set| set.get(at)))).collect()
}

fn measure(engine: &Engine, conversation: &Conversation<'_>) -> Result<Measured> {
    let work =
        || SCRATCH.with(|scratch| Measured::of(&engine.condense(conversation, &mut scratch.borrow_mut()).metrics));
    guard(work).map_err(|message| {
        SCRATCH.with(|scratch| *scratch.borrow_mut() = crate::engine::Scratch::default());
        Error::new(ErrorKind::Internal, conversation.id.as_ref(), format!("condenser failed on this: {message}"))
    })
}

/// An engine with these options, which measures all that a search may ask for.
pub(crate) fn engine(options: &EngineOptions, files: &EngineFiles) -> Result<Engine> {
    files.engine(EngineOptions { all_figures: true, ..options.clone() })
}
