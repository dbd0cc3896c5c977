//! Answers the engine's questions: from the replies that were kept, else from a model, whose reply is kept the moment it
//! arrives. No request is sent twice, however many ask at once. Knows neither conversations nor the words of an API.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;
use futures::future::{BoxFuture, FutureExt, Shared};
use futures::{StreamExt, TryStreamExt, stream};

use super::cache::{Kept, ReplyKey, ReplyOutcome, ReplyStore, reply_key};
use super::{Client, Completion, ModelSettings, Prompts, Refusal, RefusalKind, Spend};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Answer, Ask, NoAnswer};
use crate::pipeline::Model;
use crate::pipeline::bridge::Bridge;

/// So many questions in a row without a reply, each asked again as often as was allowed, mean that the server is gone:
/// what else is asked would only be lost from the run.
const MAX_FAILURES_IN_A_ROW: u64 = 32;

/// Questions whose kept replies are read, or whose bodies are written, in one go.
const LOOKED_UP_AT_ONCE: usize = 64;
/// A token of white space or of a rule may be as long; an answer with more bytes for each token that it may have did not
/// keep to the limit.
const MAX_BYTES_PER_TOKEN: usize = 64;

/// What became of a request, for all who wait for it.
type Replied = std::result::Result<Completion, Refused>;

/// Why a request has no reply.
#[derive(Debug, Clone)]
enum Refused {
    /// The model gave none.
    Refusal(Refusal),
    /// The reply could not be kept.
    Store(Arc<Error>),
}

/// Answers from kept replies and from a model.
#[derive(Debug, Clone)]
pub struct Oracle {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    prompts: Prompts,
    model: ModelSettings,
    store: Arc<ReplyStore>,
    /// `None`: kept replies only.
    client: Option<Client>,
    concurrency: usize,
    pending: Mutex<HashMap<ReplyKey, Shared<BoxFuture<'static, Replied>>, FixedState>>,
    n_kept: AtomicU64,
    n_missing: AtomicU64,
    /// Questions since the last reply that the server failed to answer.
    n_failed_in_a_row: AtomicU64,
}

/// What a job asked and what it came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Account {
    /// What was sent and paid for.
    pub spend: Spend,
    /// Questions that kept replies answered.
    pub n_kept: u64,
    /// Questions that nobody was asked, since only kept replies may be used.
    pub n_missing: u64,
}

impl Oracle {
    /// Answers from `store`, and through `client` where it has nothing; at most `concurrency` questions of a batch are
    /// worked on at once.
    pub fn new(
        prompts: Prompts,
        model: ModelSettings,
        store: Arc<ReplyStore>,
        client: Option<Client>,
        concurrency: usize,
    ) -> Self {
        let inner = Inner {
            prompts,
            model,
            store,
            client,
            concurrency: concurrency.max(1),
            pending: Mutex::default(),
            n_kept: AtomicU64::new(0),
            n_missing: AtomicU64::new(0),
            n_failed_in_a_row: AtomicU64::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Sends nothing more, and waits for the replies that are under way: they are paid for, so they are kept.
    pub async fn close(&self) -> Result<()> {
        if let Some(client) = &self.inner.client {
            client.close();
        }
        loop {
            let Some(pending) = self.inner.pending().values().next().cloned() else { break };
            // What it came to was told to those who asked.
            drop(pending.await);
        }
        let store = self.inner.store.clone();
        Bridge::run_blocking("replies", move || store.sync()).await
    }

    /// Requests whose replies are under way.
    pub fn n_pending(&self) -> usize {
        self.inner.pending().len()
    }

    /// What was asked so far.
    pub fn account(&self) -> Account {
        Account {
            spend: self.inner.client.as_ref().map(Client::spend).unwrap_or_default(),
            n_kept: self.inner.n_kept.load(Ordering::Relaxed),
            n_missing: self.inner.n_missing.load(Ordering::Relaxed),
        }
    }

    /// The answers in the order of the questions. Bodies are written a few at a time, shortly before they are sent: all
    /// of a batch would be many times as long as its texts.
    async fn answers(&self, asks: Vec<Ask>) -> Result<Vec<Answer>> {
        let look_up = |asks: Vec<Ask>| {
            let inner = self.inner.clone();
            // Files may block, and bodies may be long.
            Bridge::run_blocking("replies", move || inner.look_up(&asks))
        };
        let mut n_before = 0;
        let one = |found: Found| {
            let at = n_before;
            n_before += 1;
            async move {
                let answer = match found {
                    Found::Answer(answer) => answer,
                    Found::Open { key, body, max_tokens } => self.ask(key, body, max_tokens).await?,
                };
                Ok((at, answer))
            }
        };
        // In any order: behind a slow reply others go on.
        let mut answers: Vec<(usize, Answer)> = stream::iter(asks)
            .chunks(LOOKED_UP_AT_ONCE)
            .then(look_up)
            .map_ok(|found| stream::iter(found.into_iter().map(Ok)))
            .try_flatten()
            .map_ok(one)
            .try_buffer_unordered(self.inner.concurrency)
            .try_collect()
            .await?;
        answers.sort_unstable_by_key(|(at, _)| *at);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    async fn ask(&self, key: ReplyKey, body: String, max_tokens: usize) -> Result<Answer> {
        let replied = self.inner.clone().request(key, body, max_tokens).await;
        match replied {
            Ok(completion) => {
                self.inner.n_failed_in_a_row.store(0, Ordering::Relaxed);
                Ok(answer_of(completion, max_tokens))
            }
            Err(Refused::Store(error)) => {
                Err(Error::new(error.kind, "", "a reply cannot be kept, so nothing more is asked").because(error))
            }
            Err(Refused::Refusal(refusal)) => match &self.inner.client {
                _ if refusal.kind == RefusalKind::Closing => {
                    Err(Error::new(ErrorKind::Interrupted, "", "the job is ending; nothing more is asked"))
                }
                Some(client) if refusal.is_for_all() => Err(client.error(&refusal)),
                _ if refusal.kind == RefusalKind::TooLong => Ok(Answer::None(NoAnswer::TooLong)),
                Some(client) if self.inner.is_gone(&refusal) => {
                    let hint = "see whether it runs; what was committed and every reply stay, the same command goes on";
                    Err(client.error(&refusal).hinting(hint))
                }
                _ => {
                    tracing::info!(refusal.message, "a question has no answer; the engine's own text is used");
                    Ok(Answer::None(NoAnswer::Failed))
                }
            },
        }
    }
}

/// A question after the look among the kept replies.
enum Found {
    Answer(Answer),
    Open { key: ReplyKey, body: String, max_tokens: usize },
}

impl Inner {
    fn look_up(&self, asks: &[Ask]) -> Result<Vec<Found>> {
        asks.iter().map(|ask| self.find(ask)).collect()
    }

    fn find(&self, ask: &Ask) -> Result<Found> {
        let request = self.prompts.request(ask);
        let (body, max_tokens) = (self.model.body(&request), self.model.max_tokens(&request));
        let key = reply_key(self.model.options.provider, &body);
        let kept = self.store.get(&key)?.map(|kept| kept.outcome);
        match kept {
            Some(ReplyOutcome::Reply(completion)) => {
                self.n_kept.fetch_add(1, Ordering::Relaxed);
                Ok(Found::Answer(answer_of(completion, max_tokens)))
            }
            _ if self.client.is_some() => Ok(Found::Open { key, body, max_tokens }),
            Some(failed) => {
                self.n_kept.fetch_add(1, Ordering::Relaxed);
                Ok(Found::Answer(kept_answer(failed, max_tokens)))
            }
            None => {
                self.n_missing.fetch_add(1, Ordering::Relaxed);
                Ok(Found::Answer(Answer::None(NoAnswer::Offline)))
            }
        }
    }

    /// Whether a refusal is one too many of those that come of the server, not of the question.
    fn is_gone(&self, refusal: &Refusal) -> bool {
        refusal.is_passing() && self.n_failed_in_a_row.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_FAILURES_IN_A_ROW
    }

    /// The reply to a request.
    fn request(self: Arc<Self>, key: ReplyKey, body: String, max_tokens: usize) -> Shared<BoxFuture<'static, Replied>> {
        let inner = self.clone();
        self.once(key, async move { inner.send(&key, body, max_tokens).await })
    }

    /// What `work` comes to, or what is already at work under this key. It is a task of its own: it goes on when those
    /// who wait for it are gone.
    fn once(
        self: Arc<Self>,
        key: ReplyKey,
        work: impl Future<Output = Replied> + Send + 'static,
    ) -> Shared<BoxFuture<'static, Replied>> {
        let inner = self.clone();
        let mut pending = self.pending();
        if let Some(known) = pending.get(&key) {
            return known.clone();
        }
        let task = tokio::spawn(async move {
            let _under_way = Pending { inner, key };
            work.await
        });
        let ended = || Refused::Refusal(Refusal::new(RefusalKind::Server, "the request was given up"));
        let shared = async move { task.await.unwrap_or_else(|_| Err(ended())) }.boxed().shared();
        pending.insert(key, shared.clone());
        shared
    }

    async fn send(&self, key: &ReplyKey, body: String, max_tokens: usize) -> Replied {
        // Between the look among the kept replies and here another may have asked the same.
        match self.store.get(key) {
            Ok(Some(Kept { outcome: ReplyOutcome::Reply(completion), .. })) => return Ok(completion),
            Ok(_) => {}
            Err(error) => return Err(Refused::Store(Arc::new(error))),
        }
        let Some(client) = &self.client else {
            return Err(Refused::Refusal(Refusal::new(RefusalKind::Closing, "there is no connection")));
        };
        let completion = client.complete(body, max_tokens).await.map_err(Refused::Refusal)?;
        let kept = Kept {
            model: self.model.options.model.clone(),
            is_batch: false,
            cost: client.cost(&completion.usage),
            outcome: ReplyOutcome::Reply(completion.clone()),
        };
        self.store.put(key, &kept).map_err(|error| Refused::Store(Arc::new(error)))?;
        Ok(completion)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<ReplyKey, Shared<BoxFuture<'static, Replied>>, FixedState>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is under way; it no longer is when this is dropped, also in a panic.
struct Pending {
    inner: Arc<Inner>,
    key: ReplyKey,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.inner.pending().remove(&self.key);
    }
}

impl Model for Oracle {
    fn answer(&self, asks: Vec<Ask>) -> BoxFuture<'_, Result<Vec<Answer>>> {
        self.answers(asks).boxed()
    }
}

/// The answer that was kept.
pub(super) fn kept_answer(outcome: ReplyOutcome, max_tokens: usize) -> Answer {
    match outcome {
        ReplyOutcome::Reply(completion) => answer_of(completion, max_tokens),
        ReplyOutcome::Failed { is_too_long: true, .. } => Answer::None(NoAnswer::TooLong),
        ReplyOutcome::Failed { .. } => Answer::None(NoAnswer::Failed),
    }
}

/// The answer that a reply is. A reply that the limit of tokens cut is none, nor is one that is far beyond it, nor one
/// that only calls tools.
pub fn answer_of(completion: Completion, max_tokens: usize) -> Answer {
    if completion.has_calls && completion.text.trim().is_empty() {
        Answer::None(NoAnswer::ToolCall)
    } else if completion.is_cut || completion.text.len() / MAX_BYTES_PER_TOKEN > max_tokens {
        Answer::None(NoAnswer::Cut)
    } else {
        Answer::Text(completion.text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Answer, Completion, NoAnswer, Oracle, Refused, answer_of};
    use crate::llm::{LlmProvider, MaxTokensField, ModelSettings, Prompts, ReplyStore};
    use crate::model::EngineOptions;
    use crate::pipeline::LlmOptions;

    #[tokio::test]
    async fn work_that_panics_is_under_way_no_more() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Arc::new(ReplyStore::open(dir.path(), None).expect("an empty store"));
        let options = LlmOptions {
            provider: LlmProvider::Openai,
            model: "m".into(),
            temperature: None,
            thinking_tokens: 0,
            parameters: BTreeMap::new(),
        };
        let model = ModelSettings { options, max_tokens_field: MaxTokensField::default() };
        let oracle = Oracle::new(Prompts::new(&EngineOptions::default()), model, store, None, 1);
        let work = oracle.inner.clone().once([1; 32], async { std::panic::resume_unwind(Box::new("on purpose")) });
        assert_eq!(oracle.n_pending(), 1);
        assert!(matches!(work.await, Err(Refused::Refusal(_))));
        assert_eq!(oracle.n_pending(), 0);
        // It waits for what is under way.
        let closed = tokio::time::timeout(Duration::from_mins(1), oracle.close()).await;
        closed.expect("it ends").expect("nothing to write");
    }

    #[test]
    fn a_reply_far_beyond_its_limit_is_no_answer() {
        let reply = |n_bytes| Completion { text: "x".repeat(n_bytes), ..Completion::default() };
        assert!(matches!(answer_of(reply(6_400), 100), Answer::Text(_)));
        assert_eq!(answer_of(reply(1 << 20), 100), Answer::None(NoAnswer::Cut));
    }
}
