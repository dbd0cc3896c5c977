//! The model of a job: where its replies are kept, how it is reached, and what it came to. Sends nothing by itself.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::llm::{Account, Client, ModelSettings, Oracle, Patience, Prompts, ReplyStore, Usage};
use crate::model::{Answer, Ask, NoAnswer};
use crate::pipeline::{JobKind, JobSettings, LlmMode, LlmPrices, LlmSettings, Model, News, Observer};
use crate::report::numbers::{by_count, count, counted};
use crate::text::tokens::estimate;
use futures::future::{BoxFuture, ready};

/// Bytes of a request per token, about.
const BYTES_PER_TOKEN: usize = 4;

/// The model of a job, once there is a runtime for it.
#[derive(Debug, Default)]
pub(super) struct LateOracle(OnceLock<Oracle>);

impl LateOracle {
    /// Opens the kept replies and the way to the model, when the job asks one. Must be called inside a runtime.
    pub(super) fn open(&self, settings: &JobSettings, run: Option<&Place>) -> Result<Option<Arc<dyn Model>>> {
        let Some(llm) = &settings.llm else { return Ok(None) };
        if !settings.asks_a_model() {
            tracing::warn!(
                "model {} is named, and nothing asks it: --summarizer and --classifier model do",
                llm.options.model
            );
            return Ok(None);
        }
        let shared = llm.shared_cache.as_ref().map(PathBuf::from);
        let store = ReplyStore::open(&replies_dir(settings.kind, llm, run)?, shared.as_deref())?;
        if store.n_skipped() > 0 {
            tracing::warn!(n_lines = store.n_skipped(), "lines of kept replies are torn and were passed over");
        }
        let oracle = oracle(settings, llm, Arc::new(store))?;
        Ok(Some(Arc::new(self.0.get_or_init(|| oracle).clone())))
    }

    /// Waits for the replies that are under way, and tells what the model came to.
    pub(super) async fn close(&self, observer: &dyn Observer) -> Result<()> {
        let Some(oracle) = self.0.get() else { return Ok(()) };
        let n_pending = oracle.n_pending();
        if n_pending > 0 {
            observer.news(News::Note(&format!(
                "waiting for up to {} under way, paid for already; Ctrl-C gives up",
                counted(n_pending as u64, "reply")
            )));
        }
        oracle.close().await?;
        observer.news(News::Note(&told(&oracle.account())));
        Ok(())
    }
}

/// Counts questions instead of asking them.
#[derive(Debug)]
pub(super) struct Foresight {
    prompts: Prompts,
    model: ModelSettings,
    prices: Option<LlmPrices>,
    asked: Mutex<(u64, Usage)>,
}

impl Foresight {
    /// For a job that asks a model.
    pub(super) fn of(settings: &JobSettings) -> Option<Arc<Self>> {
        let llm = settings.llm.as_ref().filter(|_| settings.asks_a_model())?;
        Some(Arc::new(Self {
            prompts: Prompts::new(&settings.options.engine),
            model: ModelSettings::of(llm),
            prices: llm.prices,
            asked: Mutex::default(),
        }))
    }

    /// `about 12,000 questions, 8,100,000 tokens in, up to 1,900,000 out, cost up to 5.20`, for `scale` times the sample.
    pub(super) fn told(&self, scale: f64) -> String {
        let (n_asked, usage) = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let times = |n: u64| (n as f64 * scale).round() as u64;
        let usage = Usage { input: times(usage.input), output: times(usage.output), ..Usage::default() };
        let mut text = format!(
            "about {} without the kept replies, {} in, up to {} out",
            counted(times(n_asked), "question"),
            counted(usage.input, "token"),
            count(usage.output)
        );
        if let Some(prices) = &self.prices {
            text.push_str(&format!(", cost up to {:.2}", usage.cost(prices)));
        }
        text
    }

    fn foresee(&self, ask: &Ask) -> Answer {
        let request = self.prompts.request(ask);
        let room = match ask {
            Ask::Summary(ask) => estimate(ask.max_chars),
            Ask::Compaction(ask) => estimate(ask.max_chars),
            Ask::Ruling { .. } => request.max_tokens,
        };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.0 += 1;
        asked.1.add(Usage {
            input: (self.model.body(&request).len() / BYTES_PER_TOKEN) as u64,
            output: room.min(request.max_tokens) as u64,
            ..Usage::default()
        });
        // Where the rules decide, summaries are asked for too; a second attempt is not foreseen.
        Answer::None(if matches!(ask, Ask::Ruling { .. }) { NoAnswer::Failed } else { NoAnswer::Later })
    }
}

impl Model for Foresight {
    fn answer(&self, asks: Vec<Ask>) -> BoxFuture<'_, Result<Vec<Answer>>> {
        Box::pin(ready(Ok(asks.iter().map(|ask| self.foresee(ask)).collect())))
    }
}

/// The model with the way to it, unless only kept replies may be used.
fn oracle(settings: &JobSettings, llm: &LlmSettings, store: Arc<ReplyStore>) -> Result<Oracle> {
    let client = match llm.mode {
        LlmMode::Offline => None,
        LlmMode::Online => Some(Client::new(llm, llm.key(read_key)?.as_ref(), Patience::default())?),
    };
    let prompts = Prompts::new(&settings.options.engine);
    Ok(Oracle::new(prompts, ModelSettings::of(llm), store, client, llm.concurrency))
}

/// The bytes of the file that `key_file` names.
pub fn read_key(path: &str) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error::usage(path, "the key file cannot be read").because(error))
}

/// Where a job keeps replies: as it says, else in its run.
pub fn replies_dir(kind: JobKind, llm: &LlmSettings, run: Option<&Place>) -> Result<PathBuf> {
    if let Some(cache) = &llm.cache {
        return Ok(PathBuf::from(cache));
    }
    let holds_figures_only = kind == JobKind::Report;
    let local = run.filter(|_| !holds_figures_only).and_then(Place::as_local).map(|run| run.join("llm"));
    local.ok_or_else(|| {
        let message = if holds_figures_only {
            "replies say what stands in conversations, and the run of a report holds figures only"
        } else {
            "replies are kept on a disk, and this job writes to none"
        };
        Error::usage("llm.cache", message).hinting("name a directory: cache = \"…\" or --llm-cache DIR")
    })
}

/// `3 requests (1 again, 0 without reply), 12 kept replies, 4200 tokens in (3000 cached), 310 out, cost 0.0021`.
fn told(account: &Account) -> String {
    let Account { spend, n_kept, n_missing } = account;
    let usage = spend.usage;
    let (input, cached) = (usage.input + usage.cached + usage.cache_written, usage.cached);
    let mut text = format!(
        "model: {} ({} again, {} without reply), {} from kept replies, {} in ({} cached), {} out",
        counted(spend.requests, "request"),
        spend.retries,
        spend.failures,
        counted(*n_kept, "answer"),
        counted(input, "token"),
        count(cached),
        count(usage.output)
    );
    if let Some(cost) = spend.cost {
        text.push_str(&format!(", cost {cost:.4}"));
    }
    if *n_missing > 0 {
        text.push_str(&format!(
            "; {} {} not asked, since the model is offline",
            counted(*n_missing, "question"),
            by_count(*n_missing, "was", "were")
        ));
    }
    text
}
