//! How long each step of a job takes, for those who ask: the one place of the pipeline with a clock. Nothing that is
//! measured here reaches a table, a commit or the manifest.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::merge::merges;
use crate::engine::Laps;

/// Steps that take no worker.
const ASIDE: [&str; 2] = ["read", "write"];

/// Seconds per step, summed over everything that worked at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "timings"))]
pub struct Timings {
    /// Parts that were done.
    pub n_parts: u64,
    /// From the beginning of a call to its end, summed over calls.
    pub wall_seconds: f64,
    /// What workers were at work, all of them together.
    pub cpu_seconds: f64,
    /// By step: `read`, `decode`, those of the engine (`profile`, `lex`, the stages by their names, `fill`, …), `encode`,
    /// `proof`, `write`.
    pub stages: BTreeMap<String, f64>,
}

merges!(Timings { n_parts, wall_seconds, cpu_seconds, stages });

/// Takes the time of one call of a job; shared by all that work on it.
#[derive(Debug)]
pub struct Timer {
    began: Instant,
    n_parts: AtomicU64,
    steps: Mutex<Steps>,
}

type Steps = BTreeMap<&'static str, Duration>;

impl Timer {
    /// Begins now.
    pub fn begin() -> Arc<Self> {
        Arc::new(Self { began: Instant::now(), n_parts: AtomicU64::new(0), steps: Mutex::default() })
    }

    /// Runs `work`, which is one step.
    pub(super) fn time<T>(timer: Option<&Self>, step: &'static str, work: impl FnOnce() -> T) -> T {
        let Some(timer) = timer else { return work() };
        let began = Instant::now();
        let result = work();
        timer.took(step, began.elapsed());
        result
    }

    /// The same for work that waits.
    pub(super) async fn time_async<T>(timer: Option<&Self>, step: &'static str, work: impl Future<Output = T>) -> T {
        let Some(timer) = timer else { return work.await };
        let began = Instant::now();
        let result = work.await;
        timer.took(step, began.elapsed());
        result
    }

    pub(super) fn part_done(&self) {
        self.n_parts.fetch_add(1, Ordering::Relaxed);
    }

    /// A watch for a worker, which begins now; what it took is added when it is dropped.
    pub(super) fn watch(self: &Arc<Self>) -> Box<dyn Laps> {
        Box::new(Watch { timer: self.clone(), last: Instant::now(), steps: Steps::new() })
    }

    fn took(&self, step: &'static str, time: Duration) {
        *self.steps.lock().unwrap_or_else(PoisonError::into_inner).entry(step).or_default() += time;
    }

    /// What was taken so far.
    pub fn timings(&self) -> Timings {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let stages: BTreeMap<String, f64> =
            steps.iter().map(|(step, time)| ((*step).to_owned(), time.as_secs_f64())).collect();
        let workers = stages.iter().filter(|(step, _)| !ASIDE.contains(&step.as_str()));
        Timings {
            n_parts: self.n_parts.load(Ordering::Relaxed),
            wall_seconds: self.began.elapsed().as_secs_f64(),
            cpu_seconds: workers.map(|(_, seconds)| seconds).sum(),
            stages,
        }
    }
}

/// Runs from step to step.
#[derive(Debug)]
struct Watch {
    timer: Arc<Timer>,
    last: Instant,
    steps: Steps,
}

impl Laps for Watch {
    fn ended(&mut self, step: &'static str) {
        let now = Instant::now();
        *self.steps.entry(step).or_default() += now - self.last;
        self.last = now;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for (step, time) in std::mem::take(&mut self.steps) {
            self.timer.took(step, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Timer, Timings};
    use crate::pipeline::Merge;

    #[test]
    fn steps_add_up_over_watches_and_calls() {
        let timer = Timer::begin();
        for _ in 0..2 {
            let mut watch = timer.watch();
            watch.ended("decode");
            watch.ended("fill");
        }
        assert_eq!(Timer::time(Some(&timer), "read", || 7), 7);
        timer.part_done();
        let once = timer.timings();
        assert_eq!(once.stages.keys().collect::<Vec<_>>(), ["decode", "fill", "read"]);
        assert!((once.cpu_seconds - once.stages["decode"] - once.stages["fill"]).abs() < 1e-12);
        let mut twice = Timings::default();
        twice.absorb(&once);
        twice.absorb(&once);
        assert_eq!((twice.n_parts, twice.stages["read"]), (2, once.stages["read"] * 2.0));
    }
}
