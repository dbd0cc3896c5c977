//! Shows how far a job is: a bar, plain lines or JSON lines on stderr. Knows counts, not work.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use condenser::pipeline::{Commit, JobSettings, Observer, Progress, ProgressMode, Silent, Totals};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::message;

/// Machines get a line at most this often.
const JSON_EVERY: Duration = Duration::from_secs(1);

/// The observer that a job asks for.
pub(crate) fn observer(job: &JobSettings) -> Arc<dyn Observer> {
    let mode = match job.progress {
        _ if job.quiet => ProgressMode::None,
        ProgressMode::Auto if std::io::stderr().is_terminal() => ProgressMode::Bar,
        ProgressMode::Auto => ProgressMode::Plain,
        mode => mode,
    };
    match mode {
        ProgressMode::Bar => Arc::new(Bar::new()),
        ProgressMode::Json => Arc::new(Json { last: Mutex::new(Instant::now()) }),
        ProgressMode::Plain => Arc::new(Plain),
        ProgressMode::Auto | ProgressMode::None => Arc::new(Silent),
    }
}

/// What a job came to, in one line.
pub(crate) fn summary(totals: &Totals) -> String {
    let mut text = format!(
        "{} conversations, {} messages → {}, {} characters → {}{}",
        totals.conversations,
        totals.messages_in,
        totals.messages_out,
        totals.chars_in,
        totals.chars_out,
        ratio(totals)
    );
    if totals.rejects > 0 {
        text.extend(["; ", &totals.rejects.to_string(), " records rejected"]);
    }
    text
}

fn ratio(totals: &Totals) -> String {
    if totals.chars_out == 0 {
        return String::new();
    }
    format!(" (ratio {:.2})", totals.chars_in as f64 / totals.chars_out as f64)
}

struct Bar {
    bar: ProgressBar,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {bytes} {bytes_per_sec} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Bar {
    fn source(&self, _index: usize, name: &str) {
        self.bar.set_prefix(name.to_owned());
    }
    fn progress(&self, progress: &Progress) {
        self.bar.set_position(progress.bytes);
        let totals = &progress.totals;
        let rejects = if totals.rejects > 0 { format!(", {} rejected", totals.rejects) } else { String::new() };
        self.bar.set_message(format!("{} records{}{rejects}", totals.conversations, ratio(totals)));
    }
}

struct Plain;

impl Observer for Plain {
    fn source(&self, _index: usize, _name: &str) {}
    fn progress(&self, _progress: &Progress) {}
    fn committed(&self, commit: &Commit) {
        let (source, bytes) = (&commit.source, commit.input.stream_bytes);
        message::note(&format!("part {:05}: {source}: {bytes} bytes, restored and compared", commit.part));
    }
}

struct Json {
    last: Mutex<Instant>,
}

impl Observer for Json {
    fn source(&self, index: usize, name: &str) {
        message::note(&serde_json::json!({ "event": "source", "part": index, "source": name }).to_string());
    }
    fn progress(&self, progress: &Progress) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= JSON_EVERY {
            *last = Instant::now();
            let line = serde_json::json!({ "event": "progress", "bytes": progress.bytes, "totals": progress.totals });
            message::note(&line.to_string());
        }
    }
    fn committed(&self, commit: &Commit) {
        let (part, source, input, totals) = (commit.part, &commit.source, &commit.input, &commit.totals);
        let line = serde_json::json!({ "event": "committed", "part": part, "source": source, "input": input, "totals": totals });
        message::note(&line.to_string());
    }
}
