//! Shows how far a job is: a bar, plain lines or JSON lines on stderr. Knows counts, not work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use condenser::app::ratio;
use condenser::pipeline::{Commit, JobSettings, News, Observer, Progress, ProgressMode, RunPlan};
use condenser::report::numbers::{bytes, counted, seconds};
use condenser::report::plain;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{message, screen};

/// Machines get a line at most this often.
const JSON_EVERY: Duration = Duration::from_secs(1);
/// A log gets a line at most this often.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// … and a line for so many files.
const FILES_A_LINE: u64 = 100;

/// The observer that a job asks for.
pub(crate) fn observer(job: &JobSettings) -> Arc<dyn Observer> {
    let mode = match job.progress {
        _ if job.quiet => ProgressMode::None,
        ProgressMode::Auto if screen::stderr_is_terminal() => ProgressMode::Bar,
        ProgressMode::Auto => ProgressMode::Plain,
        mode => mode,
    };
    match mode {
        ProgressMode::Bar => Arc::new(Bar::default()),
        ProgressMode::Json => Arc::new(Json { clock: Clock::new() }),
        ProgressMode::Plain => Arc::new(Plain { clock: Clock::new(), files: Mutex::default() }),
        ProgressMode::Auto | ProgressMode::None => Arc::new(Notes { quiet: job.quiet }),
    }
}

/// Tells what happens beside the work, and nothing of the work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Notes {
    /// Only what is not as it should be.
    pub(crate) quiet: bool,
}

impl Observer for Notes {
    fn news(&self, news: News<'_>) {
        message::news(news, self.quiet);
    }
}

/// A bar with bytes as stored, speed, time left and the ratio so far, from the beginning of a job to its end.
#[derive(Default)]
struct Bar {
    bar: Mutex<Option<ProgressBar>>,
}

const STYLE_WITH_TOTAL: &str =
    "{spinner} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left\n  {prefix}: {wide_msg}";
const STYLE: &str = "{spinner} {bytes} {bytes_per_sec}\n  {prefix}: {wide_msg}";

impl Bar {
    /// Does `work` with the bar, as long as there is one.
    fn with(&self, work: impl FnOnce(&ProgressBar)) {
        if let Some(bar) = &*self.bar.lock().unwrap_or_else(PoisonError::into_inner) {
            work(bar);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.ends();
    }
}

impl Observer for Bar {
    fn news(&self, news: News<'_>) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match &*bar {
            Some(bar) => bar.suspend(|| message::news(news, false)),
            None => message::news(news, false),
        }
    }
    fn begins(&self, plan: &RunPlan, before: &Progress) {
        let bar = screen::bar();
        bar.enable_steady_tick(Duration::from_millis(200));
        let total = plan.total_bytes();
        if let Ok(style) = ProgressStyle::with_template(if total.is_some() { STYLE_WITH_TOTAL } else { STYLE }) {
            bar.set_style(style);
        }
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(before.stored_bytes);
        bar.reset_eta();
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }
    fn source(&self, _part: usize, name: &str) {
        self.with(|bar| bar.set_prefix(plain::line(name).into_owned()));
    }
    fn progress(&self, progress: &Progress) {
        let totals = &progress.totals;
        let rejects = if totals.rejects > 0 { format!(", {} rejected", totals.rejects) } else { String::new() };
        let done = counted(totals.conversations, "conversation");
        self.with(|bar| {
            bar.set_position(progress.stored_bytes);
            bar.set_message(format!("{done}{}{rejects}", ratio(totals)));
        });
    }
    fn ends(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

/// A line for every [`FILES_A_LINE`] files and for the last of them, and between them one every [`PLAIN_EVERY`].
struct Plain {
    clock: Clock,
    files: Mutex<Files>,
}

/// Files that are done.
#[derive(Default)]
struct Files {
    n_done: u64,
    bytes: u64,
    n_told: u64,
}

impl Files {
    /// Files of a part that is done; what is told of all so far, when it is time.
    fn add(&mut self, commit: &Commit) -> Option<String> {
        // Of a file in several parts the first counts.
        self.n_done += if commit.split.is_first() { commit.inputs().len() as u64 } else { 0 };
        self.bytes += commit.input.stream_bytes;
        (self.n_done / FILES_A_LINE > self.n_told / FILES_A_LINE).then(|| self.tell())
    }

    fn tell(&mut self) -> String {
        self.n_told = self.n_done;
        format!("{}, {}: restored and compared", counted(self.n_done, "file"), bytes(self.bytes))
    }
}

impl Observer for Plain {
    fn news(&self, news: News<'_>) {
        message::news(news, false);
    }
    fn begins(&self, plan: &RunPlan, before: &Progress) {
        self.clock.begins(plan, before);
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Files::default();
    }
    fn progress(&self, progress: &Progress) {
        if let Some(time) = self.clock.tick(PLAIN_EVERY, progress) {
            let totals = &progress.totals;
            // What is not done is no 100 %.
            let share = time.share.map_or_else(String::new, |share| format!("{:.0} %, ", (share * 100.0).floor()));
            let left = time.left.map_or_else(String::new, |left| format!(", {} left", seconds(left.as_secs_f64())));
            let speed = time.bytes_per_second / 1e6;
            let done = counted(totals.conversations, "conversation");
            let rejects = if totals.rejects > 0 { format!(", {} rejected", totals.rejects) } else { String::new() };
            message::note(&format!("{share}{done}, {speed:.0} MB/s{}{rejects}{left}", ratio(totals)));
        }
    }
    fn committed(&self, commit: &Commit) {
        let told = self.files.lock().unwrap_or_else(PoisonError::into_inner).add(commit);
        if let Some(told) = told {
            message::note(&told);
        }
    }
    fn ends(&self) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.n_done > files.n_told {
            message::note(&files.tell());
        }
    }
}

/// A JSON object per event, and one every [`JSON_EVERY`] for the progress.
struct Json {
    clock: Clock,
}

impl Observer for Json {
    fn news(&self, news: News<'_>) {
        message::news(news, false);
    }
    fn waits(&self, who: &str) {
        message::event(&json!({ "event": "waits", "for": who }));
    }
    fn begins(&self, plan: &RunPlan, before: &Progress) {
        self.clock.begins(plan, before);
        let line = json!({
            "event": "begins", "parts": plan.parts.len(), "total_bytes": plan.total_bytes(),
            "stored_bytes": before.stored_bytes, "totals": before.totals,
        });
        message::event(&line);
    }
    fn source(&self, part: usize, name: &str) {
        message::event(&json!({ "event": "source", "part": part, "source": name }));
    }
    fn progress(&self, progress: &Progress) {
        if let Some(time) = self.clock.tick(JSON_EVERY, progress) {
            let line = json!({
                "event": "progress", "bytes": progress.bytes, "stored_bytes": progress.stored_bytes,
                "totals": progress.totals, "share": time.share, "bytes_per_second": time.bytes_per_second,
                "seconds_left": time.left.map(|left| left.as_secs()),
            });
            message::event(&line);
        }
    }
    fn committed(&self, commit: &Commit) {
        let line = json!({
            "event": "committed", "part": commit.part, "source": commit.source, "n_inputs": commit.inputs().len(),
            "input": commit.input, "totals": commit.totals,
        });
        message::event(&line);
    }
}

/// When a job began, how much there is to do, and when somebody was told last.
struct Clock(Mutex<ClockState>);

struct ClockState {
    began: Instant,
    told: Instant,
    total: Option<u64>,
    before: Progress,
}

/// How a job goes.
struct Time {
    /// Done so far, from 0 to 1, of the bytes as stored.
    share: Option<f64>,
    /// Uncompressed.
    bytes_per_second: f64,
    left: Option<Duration>,
}

impl Clock {
    fn new() -> Self {
        let now = Instant::now();
        Self(Mutex::new(ClockState { began: now, told: now, total: None, before: Progress::default() }))
    }

    fn begins(&self, plan: &RunPlan, before: &Progress) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.began = Instant::now();
        state.total = plan.total_bytes();
        state.before = *before;
    }

    /// How the job goes, when `every` has passed since this was told.
    fn tick(&self, every: Duration, progress: &Progress) -> Option<Time> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.told.elapsed() < every {
            return None;
        }
        state.told = Instant::now();
        let seconds = state.began.elapsed().as_secs_f64().max(1e-3);
        let done = progress.stored_bytes.saturating_sub(state.before.stored_bytes) as f64;
        let share = state.total.map(|total| (progress.stored_bytes as f64 / total.max(1) as f64).min(1.0));
        let left = state.total.filter(|_| done > 0.0).map(|total| {
            let rest = total.saturating_sub(progress.stored_bytes) as f64;
            Duration::from_secs_f64((rest / done * seconds).min(1e9))
        });
        let bytes_per_second = progress.bytes.saturating_sub(state.before.bytes) as f64 / seconds;
        Some(Time { share, bytes_per_second, left })
    }
}
