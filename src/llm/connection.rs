//! The way to a server: the key in its headers, no redirections, responses of bounded length, and failures told without
//! keys and addresses. Knows neither what is sent nor whether it is sent again.

use bytes::{Bytes, BytesMut};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url, redirect};

use super::waits::{Patience, retry_after};
use super::{LlmProvider, Refusal, RefusalKind};
use crate::error::{Error, Result};
use crate::pipeline::{LlmSettings, Secret};

/// Of a response that tells an error only so much is read.
const MAX_TOLD: usize = 64 << 10;

/// A server and how it is reached.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) protocol: LlmProvider,
    pub(super) base_url: String,
    http: reqwest::Client,
    /// For messages that must not hold it.
    key: Option<Secret>,
}

shows!(Connection { protocol, base_url });

impl Connection {
    /// Must be called inside a tokio runtime. `Usage` when the address or the key cannot be used.
    pub(super) fn new(settings: &LlmSettings, key: Option<&Secret>, patience: Patience) -> Result<Self> {
        let LlmSettings { options, base_url, timeout, .. } = settings;
        let protocol = options.provider;
        let wrong = |name: &str, message: &str| Error::usage(format!("llm.{name}"), message);
        let url = Url::parse(base_url).map_err(|_| wrong("base_url", "this is no web address"))?;
        let mut headers = HeaderMap::new();
        for (name, value) in protocol.headers(key.map(Secret::reveal)) {
            // The cause is left out: it may show the key.
            let mut value = HeaderValue::try_from(value)
                .map_err(|_| wrong("key_env", "the key has characters that no header can have"))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        crate::tls::prepare();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("condenser/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(patience.connect_timeout.min(timeout.0))
            // A key goes to the server that was named and to no other.
            .redirect(redirect::Policy::none());
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let failed = |error| Error::io("", "the web client cannot be set up").because(error);
        let http = builder.build().map_err(failed)?;
        Ok(Self { protocol, base_url: base_url.clone(), http, key: key.cloned() })
    }

    /// A request to a path below the base address.
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url))
    }

    /// The response to a request when it is one of success.
    pub(super) async fn send(&self, request: RequestBuilder) -> std::result::Result<Response, Refusal> {
        let response = request.send().await.map_err(|error| broken(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let body = bytes(response, MAX_TOLD).await.unwrap_or_default();
        let mut refusal = self.protocol.refusal(status, &body).after(retry_after);
        // Servers may repeat what they were sent.
        if let Some(key) = self.key.as_ref().map(Secret::reveal).filter(|key| !key.is_empty()) {
            refusal.message = refusal.message.replace(key, "(key)");
        }
        Err(refusal)
    }
}

/// The body of a response, which may have at most `max` bytes.
pub(super) async fn bytes(mut response: Response, max: usize) -> std::result::Result<Bytes, Refusal> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if bytes.len() + chunk.len() > max {
            return Err(Refusal::new(RefusalKind::Unreadable, format!("the response is longer than {max} bytes")));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes.freeze())
}

/// What broke a connection, without addresses.
pub(super) fn broken(error: &reqwest::Error) -> Refusal {
    if error.is_connect() {
        return Refusal::new(RefusalKind::Unreachable, "no connection to the server");
    }
    let message = if error.is_timeout() { "no whole response in time" } else { "the connection broke" };
    Refusal::new(RefusalKind::Server, message)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
