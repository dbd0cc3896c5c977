//! Asks a server over HTTP: limits, timeouts, and requests again after failures that pass. Never logs or shows a key
//! or a body. Knows the words of an API through `Protocol` only.

mod waits;

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url, redirect};
use tokio::sync::watch;

use super::limits::Limits;
use super::{Completion, Protocol, Refusal, RefusalKind, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{LlmPrices, LlmSettings, Secret};
use waits::retry_after;

pub use waits::{DEFAULT_CONNECT_TIMEOUT, DEFAULT_FIRST_BACKOFF, DEFAULT_MAX_RETRY_AFTER, MAX_BACKOFF, Patience};

/// Longer replies are no replies of a model.
const MAX_REPLY: usize = 64 << 20;
/// Of a response that tells an error only so much is read.
const MAX_TOLD: usize = 64 << 10;
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

/// A request to a server.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is to be done.
    pub method: Method,
    /// Where, after the base address.
    pub path: String,
    /// The body with its content type; never shown.
    pub body: Option<(String, Body)>,
    /// What it is expected to cost.
    pub tokens: u64,
    /// The longest response that is read.
    pub max_bytes: usize,
}

/// The bytes of a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Body(pub Bytes);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.len())
    }
}

/// A server that is asked.
pub struct Client {
    http: reqwest::Client,
    base_url: String,
    protocol: Protocol,
    /// For messages that must not hold it.
    key: Option<Secret>,
    limits: Limits,
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

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base_url", &self.base_url)
            .field("protocol", &self.protocol)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client for the server of a job. Must be made inside a tokio runtime.
    ///
    /// # Errors
    /// `Usage` when the address or the key cannot be used.
    pub fn new(settings: &LlmSettings, key: Option<&Secret>) -> Result<Self> {
        Self::with_patience(settings, key, Patience::default())
    }

    /// The same that waits otherwise.
    ///
    /// # Errors
    /// Those of [`Client::new`].
    pub fn with_patience(settings: &LlmSettings, key: Option<&Secret>, patience: Patience) -> Result<Self> {
        let wrong = |name: &str, message: &str| Error::new(ErrorKind::Usage, format!("llm.{name}"), message);
        let url = Url::parse(&settings.base_url).map_err(|_| wrong("base_url", "this is no web address"))?;
        let protocol = Protocol::from(settings.options.provider);
        let mut headers = HeaderMap::new();
        for (name, value) in protocol.headers(key.map(Secret::reveal)) {
            // The cause is left out: it may show the key.
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| wrong("key_env", "the key has characters that no header can have"))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("condenser/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(patience.connect_timeout.min(settings.timeout.0))
            .timeout(settings.timeout.0)
            // A key goes to the server that was named and to no other.
            .redirect(redirect::Policy::none());
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let failed = |error| Error::new(ErrorKind::Io, "", "the web client cannot be set up").because(error);
        Ok(Self {
            http: builder.build().map_err(failed)?,
            base_url: settings.base_url.clone(),
            protocol,
            key: key.cloned(),
            limits: Limits::new(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute),
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
        let call = Call {
            method: Method::POST,
            path: self.protocol.path().to_owned(),
            tokens: (body.len() / BYTES_PER_TOKEN + max_tokens) as u64,
            body: Some(("application/json".to_owned(), Body(body))),
            max_bytes: MAX_REPLY,
        };
        let (completion, usage) = self
            .call(&call, |reply| {
                let completion = self.protocol.read(reply)?;
                let usage = completion.usage;
                Ok((completion, usage))
            })
            .await?;
        let mut spend = self.spend.lock().unwrap_or_else(PoisonError::into_inner);
        spend.usage.add(usage);
        Ok(completion)
    }

    /// What `read` makes of the response to a call, which is sent again when that may help. `read` also tells the
    /// tokens that the call really cost.
    ///
    /// # Errors
    /// The last refusal.
    pub async fn call<T>(
        &self,
        call: &Call,
        read: impl Fn(&[u8]) -> std::result::Result<(T, Usage), Refusal>,
    ) -> std::result::Result<(T, Usage), Refusal> {
        let mut n_failed = 0;
        loop {
            let pass = tokio::select! {
                biased;
                refusal = self.closed() => return Err(refusal),
                pass = self.limits.pass(call.tokens) => pass,
            };
            if let Some(refusal) = self.refused.get() {
                return Err(refusal.clone());
            }
            self.count(|spend| {
                spend.requests += 1;
                spend.retries += u64::from(n_failed > 0);
            });
            let refusal = match self.send(call).await.and_then(|reply| read(&reply)) {
                Ok(read) => {
                    let usage = read.1;
                    pass.spent(if usage == Usage::default() { call.tokens } else { usage.tokens() });
                    return Ok(read);
                }
                Err(refusal) => self.without_key(refusal),
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
                () = self.wait(call, &refusal, n_failed) => {}
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
    #[must_use]
    pub fn spend(&self) -> Spend {
        let spend = *self.spend.lock().unwrap_or_else(PoisonError::into_inner);
        Spend { cost: self.prices.map(|prices| spend.usage.cost(&prices)), ..spend }
    }

    /// What a reply cost; `None` without prices.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        self.prices.map(|prices| usage.cost(&prices))
    }

    /// The error with which a job ends after a refusal of every request.
    #[must_use]
    pub fn error(&self, refusal: &Refusal) -> Error {
        let (what, hint) = match refusal.kind {
            RefusalKind::Auth => (
                "the key was refused",
                "check the key that key_env or key_file of [llm] names, what it may do, and the credit of the account",
            ),
            RefusalKind::NotFound => {
                ("there is no such model, or no such API at this address", "check model and base_url of [llm]")
            }
            RefusalKind::Unsupported => (
                "the model does not take a parameter",
                "some models take no temperature: write temperature = \"none\" in [llm]",
            ),
            _ => {
                return Error::new(
                    ErrorKind::Io,
                    &self.base_url,
                    format!("the model gave no reply: {}", refusal.message),
                );
            }
        };
        Error::new(ErrorKind::Usage, &self.base_url, format!("{what} ({})", refusal.message)).hinting(hint)
    }

    fn count(&self, change: impl FnOnce(&mut Spend)) {
        change(&mut self.spend.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// One request and the body of its response.
    async fn send(&self, call: &Call) -> std::result::Result<Bytes, Refusal> {
        let mut request = self.http.request(call.method.clone(), format!("{}{}", self.base_url, call.path));
        if let Some((content_type, body)) = &call.body {
            request = request.header(CONTENT_TYPE, content_type).body(body.0.clone());
        }
        let response = request.send().await.map_err(|error| self.broken(&error))?;
        let status = response.status();
        if status.is_success() {
            return self.bytes(response, call.max_bytes).await;
        }
        let retry_after = retry_after(response.headers());
        let body = self.bytes(response, MAX_TOLD).await.unwrap_or_default();
        Err(self.protocol.refusal(status.as_u16(), &body).after(retry_after))
    }

    async fn bytes(&self, mut response: reqwest::Response, max: usize) -> std::result::Result<Bytes, Refusal> {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(&error))? {
            if bytes.len() + chunk.len() > max {
                return Err(Refusal::new(RefusalKind::Unreadable, format!("the response is longer than {max} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    }

    /// What broke a connection, without addresses.
    fn broken(&self, error: &reqwest::Error) -> Refusal {
        let message = if error.is_connect() {
            "no connection to the server".to_owned()
        } else if error.is_timeout() {
            format!("no whole response within {} s", self.timeout.as_secs_f64())
        } else {
            "the connection broke".to_owned()
        };
        Refusal::new(RefusalKind::Server, message)
    }

    /// Servers may repeat what they were sent.
    fn without_key(&self, mut refusal: Refusal) -> Refusal {
        if let Some(key) = self.key.as_ref().map(Secret::reveal).filter(|key| !key.is_empty()) {
            refusal.message = refusal.message.replace(key, "(key)");
        }
        refusal
    }

    async fn wait(&self, call: &Call, refusal: &Refusal, n_failed: usize) {
        let body = call.body.as_ref().map_or(&[][..], |(_, body)| &body.0);
        let backoff = self.patience.backoff(body, n_failed);
        let (told, is_for_all) = match refusal.kind {
            RefusalKind::RateLimited { retry_after } => (retry_after, true),
            RefusalKind::Overloaded { retry_after } => (retry_after, retry_after.is_some()),
            _ => (None, false),
        };
        if is_for_all {
            let pause = told.map_or(backoff, |told| told.min(self.patience.max_retry_after));
            self.limits.pause(pause);
        }
        if told.is_none_or(|told| told < backoff) {
            tokio::time::sleep(backoff).await;
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
