//! Measures how time grows with what is read: eight times the size may take sixteen times the time. Quadratic would be 64
//! times; the room between is for noise.

use std::time::{Duration, Instant};

/// Sizes of a text, in bytes.
pub(crate) const TEXT: [usize; 2] = [50_000, 400_000];
/// Times the time of an eighth.
const MAX_GROWTH: u32 = 16;
/// Less than this is taken for this.
const FLOOR: Duration = Duration::from_millis(2);
/// So often both are measured where the one seems to take too long.
const N_TRIES: usize = 4;

/// What grows too fast.
#[derive(Default)]
pub(crate) struct Slow(Vec<String>);

impl Slow {
    /// Notes what takes more than [`MAX_GROWTH`] times the time for eight times the size. `make` makes a thing of a size,
    /// `time` says how long it takes.
    pub(crate) fn check<T>(
        &mut self,
        name: &str,
        make: impl Fn(usize) -> T,
        time: impl Fn(&T) -> Duration,
        [few, many]: [usize; 2],
    ) {
        let large = make(many);
        let mut after = time(&large);
        if after <= FLOOR * MAX_GROWTH {
            return;
        }
        // The fastest of several runs counts: noise is never taken for growth.
        let small = make(few);
        let mut before = time(&small);
        let mut tries = 1..N_TRIES;
        while after > before.max(FLOOR) * MAX_GROWTH {
            if tries.next().is_none() {
                let times = after.as_secs_f64() / before.as_secs_f64();
                self.0.push(format!("{times:.0} times ({before:.0?} → {after:.0?}): {name}"));
                return;
            }
            before = before.min(time(&small));
            after = after.min(time(&large));
        }
    }

    pub(crate) fn report(self) {
        assert!(self.0.is_empty(), "{} of them grow too fast:\n{}", self.0.len(), self.0.join("\n"));
    }
}

/// Repetitions of each piece may not take more than linear time.
#[track_caller]
pub(crate) fn check_pieces(pieces: &[&str], work: impl Fn(&String)) {
    let mut slow = Slow::default();
    for piece in pieces {
        let time = |text: &String| {
            let start = Clock::start();
            work(text);
            start.passed()
        };
        slow.check(&format!("{piece:?}"), |n_bytes| piece.repeat(n_bytes / piece.len()), time, TEXT);
    }
    slow.report();
}

/// The time that this thread had: what others do at the same time counts for nothing where the system tells.
pub(crate) enum Clock {
    Thread(Duration),
    Wall(Instant),
}

impl Clock {
    pub(crate) fn start() -> Self {
        thread_time().map_or_else(|| Self::Wall(Instant::now()), Self::Thread)
    }

    pub(crate) fn passed(&self) -> Duration {
        match self {
            Self::Thread(start) => thread_time().map_or(Duration::ZERO, |now| now.saturating_sub(*start)),
            Self::Wall(start) => start.elapsed(),
        }
    }
}

fn thread_time() -> Option<Duration> {
    // The figure is brought up to date when a thread gives way.
    std::thread::yield_now();
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = figures.split(' ').next()?.parse().ok().filter(|&nanos| nanos > 0);
    nanos.map(Duration::from_nanos)
}
