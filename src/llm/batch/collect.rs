//! Stands where a model would: answers from the kept replies, and writes down for a batch what is not among them. Does
//! not know what a prompt says.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, ready};

use super::requests::{BatchLimits, Keys, RequestWriter, keys};
use super::{BatchFolder, Batches};
use crate::error::Result;
use crate::llm::cache::{ReplyKey, ReplyStore, reply_key};
use crate::llm::oracle::kept_answer;
use crate::llm::{ModelSettings, Prompts};
use crate::model::{Answer, Ask, NoAnswer};
use crate::pipeline::{LlmOptions, Model};

/// How questions become requests: the same as where a model is asked at once.
#[derive(Debug)]
pub struct Asking {
    /// The model and its words.
    pub model: ModelSettings,
    /// The words of the questions.
    pub prompts: Prompts,
}

/// Collects what is open. Dropped before [`Self::finish`] it leaves no batch behind, but for those that were full.
#[derive(Debug)]
pub struct Collector {
    asking: Asking,
    store: Arc<ReplyStore>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    writer: RequestWriter,
    /// Requests of batches whose replies are still to come.
    waiting: Keys,
    /// Requests of this plan.
    new: Keys,
    /// Of `waiting`, those that were asked for.
    asked_waiting: Keys,
    too_long: Keys,
}

/// What was planned.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The batches that were written.
    pub batches: Vec<BatchFolder>,
    /// Requests in them.
    pub n_new: usize,
    /// Open requests that stand in earlier batches whose replies are still to come.
    pub n_waiting: usize,
    /// Requests that are larger than a batch may be; their texts are made without a model.
    pub n_too_long: usize,
}

impl Collector {
    /// Begins a plan among the batches below `dir`, for the API at `base_url`.
    pub fn open(
        dir: &Path,
        base_url: &str,
        asking: Asking,
        store: Arc<ReplyStore>,
        limits: BatchLimits,
    ) -> Result<Self> {
        let batches = Batches::open(dir)?;
        let mut waiting = Keys::default();
        for batch in batches.all()? {
            if batch.state.stage.is_open() {
                keys(&batch.requests(), &mut waiting)?;
            }
        }
        let LlmOptions { provider, model, .. } = &asking.model.options;
        let writer = RequestWriter::new(batches, *provider, base_url, model, limits);
        let (new, asked_waiting, too_long) = Default::default();
        Ok(Self { asking, store, inner: Mutex::new(Inner { writer, waiting, new, asked_waiting, too_long }) })
    }

    /// Ends the plan and writes its last batch.
    pub fn finish(&self) -> Result<Planned> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Planned {
            batches: inner.writer.finish()?,
            n_new: inner.new.len(),
            n_waiting: inner.asked_waiting.len(),
            n_too_long: inner.too_long.len(),
        })
    }

    fn one(&self, ask: &Ask) -> Result<Answer> {
        let request = self.asking.prompts.request(ask);
        let body = self.asking.model.body(&request);
        let key = reply_key(self.asking.model.options.provider, &body);
        match self.store.get(&key)?.map(|kept| kept.outcome) {
            Some(outcome) => Ok(kept_answer(outcome, self.asking.model.max_tokens(&request))),
            None => self.note(key, &body).map(Answer::None),
        }
    }

    fn note(&self, key: ReplyKey, body: &str) -> Result<NoAnswer> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.waiting.contains(&key) {
            inner.asked_waiting.insert(key);
        } else if inner.too_long.contains(&key) || !inner.new.contains(&key) && !inner.writer.add(&key, body)? {
            inner.too_long.insert(key);
            return Ok(NoAnswer::TooLong);
        } else {
            inner.new.insert(key);
        }
        Ok(NoAnswer::Later)
    }
}

impl Model for Collector {
    fn answer(&self, asks: Vec<Ask>) -> BoxFuture<'_, Result<Vec<Answer>>> {
        Box::pin(ready(asks.iter().map(|ask| self.one(ask)).collect()))
    }
}
