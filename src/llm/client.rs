//! Asks a server over HTTP: limits, timeouts, and requests again after failures that pass. Never logs or shows a key
//! or a body. Knows the words of an API through `LlmProvider` only.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use tokio::sync::watch;

use super::connection::{Connection, bytes};
use super::limits::RateLimits;
use super::waits::Patience;
use super::{Completion, Refusal, RefusalKind, Usage};
use crate::error::{Error, Result};
use crate::pipeline::{LlmPrices, LlmSettings, Secret};

/// Longer replies are no replies of a model: a hundred thousand tokens with every character escaped are shorter. As
/// many as requests are under way may be in memory at once.
const MAX_REPLY: usize = 4 << 20;
/// Bytes of a request per token: an estimate, made good when the reply tells the number.
const BYTES_PER_TOKEN: usize = 4;

/// What requests came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spend {
    /// Requests that were sent, with those that failed.
    pub requests: u64,
    /// Requests among them that were sent again.
    pub retries: u64,
    /// Questions that got no reply in the end.
    pub failures: u64,
    /// Tokens of all replies.
    pub usage: Usage,
    /// What they cost; `None` without prices.
    pub cost: Option<f64>,
}

/// A server that is asked.
pub struct Client {
    connection: Connection,
    limits: RateLimits,
    patience: Patience,
    timeout: Duration,
    max_retries: usize,
    prices: Option<LlmPrices>,
    spend: Mutex<Spend>,
    /// Why no request can succeed any more.
    refused: OnceLock<Refusal>,
    /// True when nothing more is to be sent.
    closing: watch::Sender<bool>,
}

shows!(Client { connection });

impl Client {
    /// A client for the server of a job. Must be made inside a tokio runtime.
    pub fn new(settings: &LlmSettings, key: Option<&Secret>, patience: Patience) -> Result<Self> {
        Ok(Self {
            connection: Connection::new(settings, key, patience)?,
            limits: RateLimits::new(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute),
            patience,
            timeout: settings.timeout.0,
            max_retries: settings.retries,
            prices: settings.prices,
            spend: Mutex::default(),
            refused: OnceLock::new(),
            closing: watch::Sender::new(false),
        })
    }

    /// Asks for a completion with a body of [`ModelSettings::body`](super::ModelSettings::body), whose reply may have
    /// `max_tokens`; again when that may help.
    ///
    /// # Errors
    /// Why there is none; see [`Client::error`] for refusals that end a job.
    pub async fn complete(
        &self,
        body: impl Into<Bytes>,
        max_tokens: usize,
    ) -> std::result::Result<Completion, Refusal> {
        let body = body.into();
        let tokens = (body.len() / BYTES_PER_TOKEN + max_tokens) as u64;
        let mut n_failed = 0;
        loop {
            let pass = tokio::select! {
                biased;
                refusal = self.closed() => return Err(refusal),
                pass = self.limits.pass(tokens) => pass,
            };
            if let Some(refusal) = self.refused.get() {
                return Err(refusal.clone());
            }
            self.count(|spend| {
                spend.requests += 1;
                spend.retries += u64::from(n_failed > 0);
            });
            let refusal = match self.send(&body).await {
                Ok(completion) => {
                    let usage = completion.usage;
                    pass.spent(if usage == Usage::default() { tokens } else { usage.tokens() });
                    self.count(|spend| spend.usage.add(usage));
                    return Ok(completion);
                }
                Err(refusal) => refusal,
            };
            // A waiting request is not under way.
            drop(pass);
            if refusal.is_for_all() {
                return Err(self.refused.get_or_init(|| refusal).clone());
            }
            if !refusal.is_passing() || n_failed == self.max_retries {
                self.count(|spend| spend.failures += 1);
                return Err(refusal);
            }
            n_failed += 1;
            tracing::debug!(n_failed, kind = ?refusal.kind, "the model did not reply; it is asked again");
            tokio::select! {
                refusal = self.closed() => return Err(refusal),
                () = self.wait(&body, &refusal, n_failed) => {}
            }
        }
    }

    /// Sends nothing more. Requests that are under way end as they would; those that wait are refused.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    async fn closed(&self) -> Refusal {
        // The sender is a field of this client.
        drop(self.closing.subscribe().wait_for(|&is_closing| is_closing).await);
        Refusal::new(RefusalKind::Closing, "the job is ending")
    }

    /// What requests came to so far.
    pub fn spend(&self) -> Spend {
        let spend = *self.spend.lock().unwrap_or_else(PoisonError::into_inner);
        Spend { cost: self.prices.map(|prices| spend.usage.cost(&prices)), ..spend }
    }

    /// What a reply cost; `None` without prices.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        self.prices.map(|prices| usage.cost(&prices))
    }

    /// The error with which a job ends after a refusal of every request.
    pub fn error(&self, refusal: &Refusal) -> Error {
        let (what, hint) = match refusal.kind {
            RefusalKind::Auth => (
                "the key was refused",
                "check the key that key_env or key_file of [llm] names, what it may do, and the credit of the account",
            ),
            RefusalKind::NotFound | RefusalKind::Moved => {
                ("there is no such model, or no such API at this address", "check model and base_url of [llm]")
            }
            RefusalKind::Unsupported => (
                "the model does not take a parameter",
                "some models take no temperature: write temperature = \"none\" in [llm]",
            ),
            _ => {
                return Error::io(&self.connection.base_url, format!("the model gave no reply: {}", refusal.message));
            }
        };
        Error::usage(&self.connection.base_url, format!("{what} ({})", refusal.message)).hinting(hint)
    }

    fn count(&self, change: impl FnOnce(&mut Spend)) {
        change(&mut self.spend.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// One request and the reply to it.
    async fn send(&self, body: &Bytes) -> std::result::Result<Completion, Refusal> {
        let protocol = self.connection.protocol;
        let request = self.connection.request(Method::POST, protocol.path()).timeout(self.timeout);
        let request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        let response = self.connection.send(request).await?;
        protocol.read(&bytes(response, MAX_REPLY).await?)
    }

    async fn wait(&self, body: &[u8], refusal: &Refusal, n_failed: usize) {
        let wait = self.patience.wait(body, refusal, n_failed);
        let pause_of_all = match refusal.kind {
            RefusalKind::RateLimited { retry_after } => Some(retry_after.unwrap_or(wait)),
            RefusalKind::Overloaded { retry_after } => retry_after,
            _ => None,
        };
        if let Some(pause) = pause_of_all {
            self.limits.pause(pause.min(wait));
        }
        tokio::time::sleep(wait).await;
    }
}
