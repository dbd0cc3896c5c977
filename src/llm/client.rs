//! Asks a server over HTTP: limits, timeouts, and requests again after failures that pass. Never logs or shows a key
//! or a body. Knows the words of an API through `Protocol` only.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Method, Url, redirect};
use tokio::sync::watch;

use super::limits::Limits;
use super::{Completion, Protocol, Refusal, RefusalKind, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{LlmPrices, LlmSettings, Secret};

/// Longest wait for a connection: a server on another continent answers in a fraction of it.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The first wait before a request is tried again; it doubles each time, up to [`MAX_BACKOFF`].
pub const DEFAULT_FIRST_BACKOFF: Duration = Duration::from_secs(1);
/// The longest wait before a request is tried again.
pub const MAX_BACKOFF: Duration = Duration::from_mins(1);
/// A server is left alone for as long as it says, but no longer than this.
pub const DEFAULT_MAX_RETRY_AFTER: Duration = Duration::from_mins(2);
/// Longer replies are no replies of a model.
const MAX_REPLY: usize = 64 << 20;
/// Of a response that tells an error only so much is read.
const MAX_TOLD: usize = 64 << 10;
/// Bytes of a request per token: an estimate, made good when the reply tells the number.
const BYTES_PER_TOKEN: usize = 4;

/// How long is waited between requests; tests wait less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// See [`DEFAULT_CONNECT_TIMEOUT`].
    pub connect_timeout: Duration,
    /// See [`DEFAULT_FIRST_BACKOFF`].
    pub first_backoff: Duration,
    /// See [`DEFAULT_MAX_RETRY_AFTER`].
    pub max_retry_after: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            first_backoff: DEFAULT_FIRST_BACKOFF,
            max_retry_after: DEFAULT_MAX_RETRY_AFTER,
        }
    }
}

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
        let doubled = 1 << (n_failed - 1).min(16);
        let backoff = (self.patience.first_backoff * doubled).min(MAX_BACKOFF).mul_f64(jitter(call, n_failed));
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

impl Usage {
    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input + self.cached + self.cache_written + self.output
    }

    /// Adds the tokens of another request.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
        self.output += other.output;
    }

    /// What they cost.
    #[must_use]
    pub fn cost(&self, prices: &LlmPrices) -> f64 {
        let parts = [
            (self.input, prices.input),
            (self.cached, prices.cached_input),
            (self.cache_written, prices.cache_write),
            (self.output, prices.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 / 1e6 * price).sum()
    }
}

/// From a half to one and a half; another number for every request and attempt, so that those who failed together do
/// not come back together.
fn jitter(call: &Call, n_failed: usize) -> f64 {
    let mut hasher = blake3::Hasher::new();
    if let Some((_, body)) = &call.body {
        hasher.update(&body.0);
    }
    hasher.update(&(n_failed as u64).to_le_bytes());
    let [byte, ..] = *hasher.finalize().as_bytes();
    0.5 + f64::from(byte) / 255.0
}

/// The time that a server wants to be left alone: seconds, or a date, which is compared with the server's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text(HeaderName::from_static("retry-after-ms")).and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1_000.0).ok();
    }
    let told = text(RETRY_AFTER)?;
    if let Ok(seconds) = told.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let (until, now) = (date(told)?, date(text(DATE)?)?);
    Some(until.duration_since(now).unwrap_or_default())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::retry_after;

    #[test]
    fn a_server_says_in_three_ways_how_long_it_wants_to_be_left_alone() {
        let date = "Sun, 06 Nov 1994 08:49:07 GMT";
        let told = |name: &'static str, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("date", HeaderValue::from_static(date));
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            retry_after(&headers)
        };
        assert_eq!(told("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(told("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(told("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(told("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(told("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        for odd in ["soon", "-1", "nan", ""] {
            assert_eq!(told("retry-after", odd), None, "{odd}");
        }
    }
}
