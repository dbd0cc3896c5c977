//! How many requests are under way, and how many requests and tokens leave in a minute. Requests get points in time
//! that are spread evenly, so that no server sees bursts. Knows time as tokio has it, not what is sent.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

/// What limits are about.
const MINUTE: Duration = Duration::from_mins(1);
/// Tokens of any minute may exceed their limit by one part in so many: what requests of different sizes need to use it
/// up.
const SLACK: u64 = 100;
/// What was lost while a large request waited is caught up within this time.
const CATCH_UP: Duration = Duration::from_secs(2);

/// The limits that hold for all requests of a job.
#[derive(Debug)]
pub struct RateLimits {
    gate: Semaphore,
    requests_per_minute: Option<u64>,
    tokens_per_minute: Option<u64>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Nothing leaves before.
    paused_until: Instant,
    /// The point in time that was given last; later ones are never before it.
    last: Instant,
    next_by_requests: Instant,
    next_by_tokens: Instant,
    /// What leaves within a minute of the last point in time.
    window: VecDeque<Departure>,
    n_tokens: u64,
    n_departures: u64,
}

#[derive(Debug)]
struct Departure {
    number: u64,
    at: Instant,
    tokens: u64,
}

/// The right to send one request; it ends when this is dropped.
#[derive(Debug)]
pub struct Pass<'l> {
    limits: &'l RateLimits,
    /// Which departure it is, and what it was expected to cost.
    departure: (u64, u64),
    _permit: SemaphorePermit<'l>,
}

impl RateLimits {
    /// At most `concurrency` requests at once, and so many requests and tokens in a minute.
    pub fn new(concurrency: usize, requests_per_minute: Option<u64>, tokens_per_minute: Option<u64>) -> Self {
        let now = Instant::now();
        let state = State {
            paused_until: now,
            last: now,
            next_by_requests: now,
            next_by_tokens: now,
            window: VecDeque::new(),
            n_tokens: 0,
            n_departures: 0,
        };
        Self {
            gate: Semaphore::new(concurrency.max(1)),
            requests_per_minute,
            tokens_per_minute,
            state: Mutex::new(state),
        }
    }

    /// Waits until a request that costs about `tokens` may leave. A request that costs more than a minute's tokens
    /// counts as one that costs them all.
    pub async fn pass(&self, tokens: u64) -> Pass<'_> {
        let permit = self.gate.acquire().await.expect("the gate is never closed");
        loop {
            let (at, departure) = self.depart(tokens);
            sleep_until(at).await;
            // Whoever was told to wait meanwhile gets a new point in time: many at once would be a burst.
            let until = self.lock().paused_until;
            if until <= at.max(Instant::now()) {
                return Pass { limits: self, departure, _permit: permit };
            }
            self.cost(departure, 0);
            sleep_until(until).await;
        }
    }

    /// Nothing leaves for this long.
    pub fn pause(&self, duration: Duration) {
        let mut state = self.lock();
        state.paused_until = state.paused_until.max(Instant::now() + duration);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next point in time that all limits allow.
    fn depart(&self, tokens: u64) -> (Instant, (u64, u64)) {
        let now = Instant::now();
        let tokens = self.tokens_per_minute.map_or(0, |limit| tokens.min(limit));
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut at = now.max(state.last).max(state.paused_until);
        if let Some(limit) = self.requests_per_minute {
            at = at.max(state.next_by_requests);
            state.next_by_requests = at + MINUTE.div_f64(limit.max(1) as f64);
        }
        if let Some(limit) = self.tokens_per_minute {
            at = state.room(at.max(state.next_by_tokens), tokens, limit.saturating_add(limit / SLACK));
            let from = at.checked_sub(CATCH_UP).map_or(at, |from| from.max(state.next_by_tokens));
            state.next_by_tokens = from + share_of_minute(tokens, limit);
        }
        state.last = at;
        state.n_departures += 1;
        let number = state.n_departures;
        if self.tokens_per_minute.is_some() {
            state.window.push_back(Departure { number, at, tokens });
            state.n_tokens += tokens;
        }
        (at, (number, tokens))
    }

    /// What a departure really cost.
    fn cost(&self, (number, expected): (u64, u64), tokens: u64) {
        let Some(limit) = self.tokens_per_minute else { return };
        // As before it left: no number that a server tells may stop a job for longer than a minute.
        let tokens = tokens.min(limit);
        let mut state = self.lock();
        if tokens > expected {
            state.next_by_tokens += share_of_minute(tokens - expected, limit);
        } else {
            let less = share_of_minute(expected - tokens, limit);
            state.next_by_tokens = state.next_by_tokens.checked_sub(less).unwrap_or(state.next_by_tokens);
        }
        let found = state.window.binary_search_by_key(&number, |departure| departure.number);
        if let Ok(index) = found
            && let Some(departure) = state.window.get_mut(index)
        {
            let before = std::mem::replace(&mut departure.tokens, tokens);
            state.n_tokens = state.n_tokens - before + tokens;
        }
    }
}

impl State {
    /// The first point in time from `at` on where the minute before it has room for `tokens`.
    fn room(&mut self, mut at: Instant, tokens: u64, limit: u64) -> Instant {
        while let Some(first) = self.window.front() {
            if first.at + MINUTE > at {
                if self.n_tokens + tokens <= limit {
                    break;
                }
                at = first.at + MINUTE;
            }
            self.n_tokens -= first.tokens;
            self.window.pop_front();
        }
        at
    }
}

impl Pass<'_> {
    /// The request is done and cost so many tokens.
    pub fn spent(self, tokens: u64) {
        self.limits.cost(self.departure, tokens);
    }
}

fn share_of_minute(tokens: u64, limit: u64) -> Duration {
    MINUTE.mul_f64(tokens as f64 / limit.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{MINUTE, RateLimits};

    /// What left when, with its tokens, while `workers` always want to send; requests take `latency`.
    async fn saturate(
        limits: RateLimits,
        workers: usize,
        latency: Duration,
        sizes: &[u64],
        time: Duration,
    ) -> Vec<(Duration, u64)> {
        let (limits, sent, start) = (Arc::new(limits), Arc::new(Mutex::new(Vec::new())), Instant::now());
        let workers: Vec<_> = (0..workers)
            .map(|worker| {
                let (limits, sent, sizes) = (limits.clone(), sent.clone(), sizes.to_vec());
                tokio::spawn(async move {
                    let mut n = worker;
                    while start.elapsed() < time {
                        let size = sizes[n % sizes.len()];
                        n += 7;
                        let pass = limits.pass(size).await;
                        sent.lock().expect("no panic").push((start.elapsed(), size));
                        tokio::time::sleep(latency).await;
                        pass.spent(size);
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.expect("no panic");
        }
        let mut sent = sent.lock().expect("no panic").clone();
        sent.sort();
        sent.retain(|&(at, _)| at < time);
        sent
    }

    /// The most of any minute, and the least of any minute that begins and ends within the time.
    fn extremes(sent: &[(Duration, u64)], time: Duration, weigh: impl Fn(u64) -> u64) -> (u64, u64) {
        let mut sums = vec![0];
        sums.extend(sent.iter().scan(0, |sum, &(_, size)| {
            *sum += weigh(size);
            Some(*sum)
        }));
        let before = |time: Duration| sums[sent.partition_point(|&(at, _)| at < time)];
        let in_minute = |start: Duration| -> u64 { before(start + MINUTE) - before(start) };
        let most = sent.iter().map(|&(at, _)| in_minute(at)).max().unwrap_or(0);
        let starts = (0..).map(Duration::from_secs).take_while(|start| *start + MINUTE <= time);
        (most, starts.map(in_minute).min().unwrap_or(0))
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_every_minute_are_those_that_are_allowed() {
        let time = Duration::from_mins(4);
        for limit in [10, 600, 7_000] {
            let limits = RateLimits::new(64, Some(limit), None);
            let sent = saturate(limits, 90, Duration::from_millis(300), &[1], time).await;
            let (most, least) = extremes(&sent, time, |_| 1);
            assert!(most as f64 <= limit as f64 * 1.02, "{most} of {limit}");
            assert!(least as f64 >= limit as f64 * 0.98, "{least} of {limit}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_of_every_minute_are_those_that_are_allowed() {
        let time = Duration::from_mins(4);
        let limit = 200_000;
        for sizes in [&[700][..], &[100, 2_500, 900, 40, 1_800], &[4_000, 1_000, 3_000]] {
            let limits = RateLimits::new(200, None, Some(limit));
            let sent = saturate(limits, 200, Duration::from_secs(8), sizes, time).await;
            let (most, least) = extremes(&sent, time, |size| size);
            assert!(most as f64 <= limit as f64 * 1.02, "{most} of {limit} with {sizes:?}");
            assert!(least as f64 >= limit as f64 * 0.98, "{least} of {limit} with {sizes:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_tighter_of_both_limits_holds() {
        let time = Duration::from_mins(3);
        let sent =
            saturate(RateLimits::new(500, Some(600), Some(60_000)), 300, Duration::from_secs(1), &[50, 150], time)
                .await;
        let (requests, tokens) = (extremes(&sent, time, |_| 1), extremes(&sent, time, |size| size));
        assert!(requests.0 <= 612 && tokens.0 <= 61_200, "{requests:?} {tokens:?}");
        assert!(tokens.1 as f64 >= 60_000.0 * 0.95, "{tokens:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_spent_is_given_back() {
        let limits = RateLimits::new(1, None, Some(6_000));
        let start = Instant::now();
        for _ in 0..60 {
            limits.pass(1_000).await.spent(100);
        }
        // At 1,000 tokens each this takes ten minutes, at 100 one.
        assert!(start.elapsed() < Duration::from_secs(80), "{:?}", start.elapsed());
        assert!(start.elapsed() > Duration::from_secs(40), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn everything_waits_through_a_pause() {
        let limits = Arc::new(RateLimits::new(8, Some(600), None));
        let start = Instant::now();
        let first = limits.pass(1).await;
        let others: Vec<_> = (0..7)
            .map(|_| {
                let limits = limits.clone();
                tokio::spawn(async move {
                    let _pass = limits.pass(1).await;
                    start.elapsed()
                })
            })
            .collect();
        tokio::task::yield_now().await;
        limits.pause(Duration::from_secs(30));
        drop(first);
        for other in others {
            let at = other.await.expect("no panic");
            assert!(at >= Duration::from_secs(30) && at < Duration::from_secs(33), "{at:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_allowed_are_under_way() {
        let limits = RateLimits::new(3, None, None);
        let (_a, _b, c) = (limits.pass(1).await, limits.pass(1).await, limits.pass(1).await);
        let fourth = tokio::time::timeout(Duration::from_secs(5), limits.pass(1)).await;
        assert!(fourth.is_err());
        drop(c);
        limits.pass(1).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_over_the_limit_leaves_alone() {
        let limits = RateLimits::new(4, None, Some(1_000));
        let start = Instant::now();
        drop(limits.pass(50_000).await);
        drop(limits.pass(50_000).await);
        assert!((MINUTE..MINUTE + Duration::from_secs(1)).contains(&start.elapsed()), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn no_number_that_a_server_tells_stops_a_job() {
        let limits = RateLimits::new(4, None, Some(1_000));
        let start = Instant::now();
        limits.pass(10).await.spent(u64::MAX);
        drop(limits.pass(10).await);
        assert!(start.elapsed() <= MINUTE + Duration::from_secs(1), "{:?}", start.elapsed());
        // A limit that is none.
        drop(RateLimits::new(4, None, Some(u64::MAX)).pass(10).await);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_not_used_while_idle_is_caught_up_for_two_seconds_only() {
        let (time, limit) = (Duration::from_mins(3), 200_000);
        for sizes in [&[1_000][..], &[8_000, 500, 3_000]] {
            let limits = RateLimits::new(200, None, Some(limit));
            tokio::time::sleep(MINUTE).await;
            let sent = saturate(limits, 200, Duration::from_secs(8), sizes, time).await;
            let (most, _) = extremes(&sent, time, |size| size);
            assert!(most as f64 <= limit as f64 * 1.01, "{most} of {limit} with {sizes:?}");
            let largest = sizes.iter().max().expect("sizes");
            for second in 0..time.as_secs() {
                let at_once = sent.iter().filter(|(at, _)| at.as_secs() == second).map(|(_, size)| size).sum::<u64>();
                // Two seconds that are caught up, the second itself, and one request across its end.
                assert!(at_once <= limit * 3 / 60 + largest, "{at_once} in second {second} with {sizes:?}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_cost_more_than_expected_is_waited_for_at_once() {
        let limits = RateLimits::new(1, None, Some(6_000));
        let mut last = Instant::now();
        for _ in 0..30 {
            let pass = limits.pass(100).await;
            assert!(last.elapsed() <= Duration::from_secs(12), "{:?}", last.elapsed());
            last = Instant::now();
            pass.spent(1_000);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_costs_no_tokens_and_is_not_made_shorter_by_another() {
        let limits = Arc::new(RateLimits::new(8, None, Some(6_000)));
        let start = Instant::now();
        let all: Vec<_> = (0..5)
            .map(|_| {
                let limits = limits.clone();
                tokio::spawn(async move {
                    let _pass = limits.pass(1_000).await;
                    start.elapsed().as_secs()
                })
            })
            .collect();
        tokio::task::yield_now().await;
        limits.pause(Duration::from_secs(30));
        limits.pause(Duration::from_secs(1));
        let left = futures::future::join_all(all).await.into_iter().map(|left| left.expect("no panic"));
        let mut left: Vec<_> = left.collect();
        left.sort_unstable();
        // One had left before; with a request each ten seconds they are done when they would have been without a pause.
        assert!(left[0] == 0 && left[1] == 30 && (40..50).contains(&left[4]), "{left:?}");
    }
}
