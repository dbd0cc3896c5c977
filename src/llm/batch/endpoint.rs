//! The API that takes batches, over HTTP: small documents, request files going up, results coming down line by line.
//! Knows the two APIs by their words in `openai` and `anthropic`; does not know what was written down of a batch.

use std::time::Duration;

use bytes::BytesMut;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode, redirect};

use super::upload::FileBody;
use super::{Batch, anthropic, openai};
use crate::error::{Error, ErrorKind, Result};
use crate::llm::{Protocol, Refusal, RefusalKind};

/// A line of results is a reply of a model.
const MAX_LINE_BYTES: usize = 64 << 20;
/// A description of an error or of a batch.
const MAX_DOCUMENT_BYTES: usize = 16 << 20;
/// The slowest way up that is waited for, in bytes a second.
const SLOWEST_UPLOAD: u64 = 64 << 10;
/// The longest wait before something is tried again.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
const SHORTEST_WAIT: Duration = Duration::from_millis(500);

/// The API.
#[derive(Debug, Clone)]
pub struct Endpoint {
    protocol: Protocol,
    base_url: String,
    http: reqwest::Client,
    timeout: Duration,
    retries: usize,
}

/// A batch as the API knows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Remote {
    pub(super) id: String,
    /// The mark that it was given, where the API takes one.
    pub(super) mark: Option<String>,
    pub(super) n_requests: Option<u64>,
    pub(super) progress: Progress,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Progress {
    Running { n_done: u64 },
    Ended { results: Vec<String> },
    Refused { message: String },
}

/// Some batches of the API, the newest first.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) batches: Vec<Remote>,
    pub(super) has_more: bool,
}

/// Why a request to the API was not answered as wished.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The API says no, and has done nothing.
    Refused(Refusal),
    /// Whether it was done is not known.
    Unknown(String),
    /// Something on this side.
    Own(Error),
}

impl Endpoint {
    /// The API at `base_url`, an address up to its version. A request is given up after `timeout`, and what only reads is
    /// tried again `retries` times.
    ///
    /// # Errors
    /// `Usage` when the key cannot stand in a header.
    pub fn new(
        protocol: Protocol,
        base_url: &str,
        key: Option<&str>,
        timeout: Duration,
        retries: usize,
    ) -> Result<Self> {
        let mut headers = HeaderMap::new();
        for (name, value) in protocol.headers(key) {
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| Error::new(ErrorKind::Usage, "llm", "the key holds characters that no key has"))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let url = reqwest::Url::parse(base_url)
            .map_err(|_| Error::new(ErrorKind::Usage, "llm.base_url", "this is no web address"))?;
        let mut builder = reqwest::Client::builder();
        if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
            builder = builder.no_proxy();
        }
        let http = builder
            .user_agent(concat!("condenser/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(timeout)
            // A key goes to the server that was named and to no other.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, base_url, "no connection can be made").because(error))?;
        Ok(Self { protocol, base_url: base_url.trim_end_matches('/').to_owned(), http, timeout, retries })
    }

    pub(super) fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The batches after `after`, or the newest.
    pub(super) async fn list(&self, limit: usize, after: Option<&str>) -> Result<Page> {
        let path = match self.protocol {
            Protocol::OpenAi => openai::list_path(limit, after),
            Protocol::Anthropic => anthropic::list_path(limit, after),
        };
        let body = self.get(&path).await?;
        let page = match self.protocol {
            Protocol::OpenAi => openai::page(&body),
            Protocol::Anthropic => anthropic::page(&body),
        };
        page.ok_or_else(|| self.unreadable("a list of batches"))
    }

    /// What became of a batch.
    pub(super) async fn find(&self, id: &str) -> Result<Remote> {
        let path = match self.protocol {
            Protocol::OpenAi => openai::batch_path(id),
            Protocol::Anthropic => anthropic::batch_path(id),
        };
        let body = self.get(&path).await?;
        self.read_batch(&body).ok_or_else(|| self.unreadable("a batch"))
    }

    /// Brings the request file there, where the API wants it before the batch; the id of the file.
    pub(super) async fn upload(&self, batch: &Batch) -> std::result::Result<Option<String>, Trouble> {
        if self.protocol == Protocol::Anthropic {
            return Ok(None);
        }
        // No request holds it: a line of JSON begins otherwise, and line feeds in it are escaped.
        let boundary = format!("condenser-{}", &batch.state.blake3);
        let name = format!("condenser-{}.jsonl", &batch.state.blake3);
        let form = || FileBody::form(&batch.requests(), "batch", &name, &boundary);
        let body = self.post("/files", &format!("multipart/form-data; boundary={boundary}"), form).await?;
        openai::file_id(&body).map(Some).ok_or_else(|| Trouble::Own(self.unreadable("a file")))
    }

    /// Makes the batch.
    pub(super) async fn create(&self, batch: &Batch, file: Option<&str>) -> std::result::Result<Remote, Trouble> {
        let body = match (self.protocol, file) {
            (Protocol::OpenAi, Some(file)) => {
                let body = openai::create_body(file, &batch.state.blake3);
                self.post_with("/batches", "application/json", || Ok((body.clone().into(), 0))).await?
            }
            (Protocol::OpenAi, None) => return Err(Trouble::Unknown("the request file is not there".to_owned())),
            (Protocol::Anthropic, _) => {
                let list = || FileBody::list(&batch.requests(), "{\"requests\":[", "]}");
                self.post("/messages/batches", "application/json", list).await?
            }
        };
        self.read_batch(&body).ok_or_else(|| Trouble::Unknown("the response is no batch".to_owned()))
    }

    fn read_batch(&self, body: &[u8]) -> Option<Remote> {
        match self.protocol {
            Protocol::OpenAi => openai::batch(body),
            Protocol::Anthropic => anthropic::batch(body),
        }
    }

    /// Calls `line` with every line of a document of any length; false when it is not there.
    pub(super) async fn lines(&self, path: &str, mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let mut response = match self.open(path).await {
            Ok(response) => response,
            Err(Trouble::Refused(refusal)) if refusal.kind == RefusalKind::NotFound => return Ok(false),
            Err(trouble) => return Err(self.error(trouble)),
        };
        let torn = || Error::new(ErrorKind::Io, self.place(path), "the results ended too early; fetch them again");
        let mut rest = BytesMut::new();
        loop {
            let chunk = tokio::time::timeout(self.timeout, response.chunk()).await.map_err(|_| torn())?;
            let Some(chunk) = chunk.map_err(|error| torn().because(error.without_url()))? else { break };
            let mut from = rest.len();
            rest.extend_from_slice(&chunk);
            while let Some(at) = memchr::memchr(b'\n', &rest[from..]) {
                line(&rest.split_to(from + at + 1)[..from + at])?;
                from = 0;
            }
            if rest.len() > MAX_LINE_BYTES {
                return Err(Error::new(ErrorKind::Io, self.place(path), "a line of the results is too long"));
            }
        }
        if !rest.is_empty() {
            line(&rest)?;
        }
        Ok(true)
    }

    async fn get(&self, path: &str) -> Result<Vec<u8>> {
        let response = self.open(path).await.map_err(|trouble| self.error(trouble))?;
        self.document(response).await.map_err(|message| Error::new(ErrorKind::Io, self.place(path), message))
    }

    /// A response of success; what passes is tried again.
    async fn open(&self, path: &str) -> std::result::Result<Response, Trouble> {
        let mut n_tries = 0;
        loop {
            let sent = tokio::time::timeout(self.timeout, self.http.get(self.place(path)).send()).await;
            let (trouble, wait) = match sent {
                Ok(Ok(response)) if response.status().is_success() => return Ok(response),
                Ok(Ok(response)) => {
                    let (refusal, wait) = self.refusal(response).await;
                    if !refusal.is_passing() {
                        return Err(Trouble::Refused(refusal));
                    }
                    (Trouble::Refused(refusal), wait)
                }
                Ok(Err(error)) => (Trouble::Unknown(causes(&error)), None),
                Err(_) => (Trouble::Unknown("no response in time".to_owned()), None),
            };
            if n_tries == self.retries {
                return Err(trouble);
            }
            tokio::time::sleep(pause(n_tries, wait)).await;
            n_tries += 1;
        }
    }

    async fn post(
        &self,
        path: &str,
        content_type: &str,
        file: impl Fn() -> Result<FileBody>,
    ) -> std::result::Result<Vec<u8>, Trouble> {
        let body = || file().map(|file| (file.n_bytes(), file)).map(|(n, file)| (reqwest::Body::wrap(file), n));
        self.post_with(path, content_type, body).await
    }

    /// The response to something that the API is to do. Tried again only when it surely was not done.
    async fn post_with(
        &self,
        path: &str,
        content_type: &str,
        body: impl Fn() -> Result<(reqwest::Body, u64)>,
    ) -> std::result::Result<Vec<u8>, Trouble> {
        let mut n_tries = 0;
        loop {
            let (body, n_bytes) = body().map_err(Trouble::Own)?;
            let patience = self.timeout + Duration::from_secs(n_bytes / SLOWEST_UPLOAD);
            let request = self.http.post(self.place(path)).header(CONTENT_TYPE, content_type).body(body);
            let (trouble, wait) = match tokio::time::timeout(patience, request.send()).await {
                Ok(Ok(response)) if response.status().is_success() => {
                    return self.document(response).await.map_err(Trouble::Unknown);
                }
                Ok(Ok(response)) => {
                    let (refusal, wait) = self.refusal(response).await;
                    match refusal.kind {
                        RefusalKind::RateLimited { .. } => (Trouble::Refused(refusal), wait),
                        _ if refusal.is_passing() => return Err(Trouble::Unknown(refusal.message)),
                        _ => return Err(Trouble::Refused(refusal)),
                    }
                }
                Ok(Err(error)) if error.is_connect() => {
                    let refusal = Refusal::new(RefusalKind::Server, causes(&error));
                    (Trouble::Refused(refusal), None)
                }
                Ok(Err(error)) => return Err(Trouble::Unknown(causes(&error))),
                Err(_) => return Err(Trouble::Unknown("no response in time".to_owned())),
            };
            if n_tries == self.retries {
                return Err(trouble);
            }
            tokio::time::sleep(pause(n_tries, wait)).await;
            n_tries += 1;
        }
    }

    async fn refusal(&self, response: Response) -> (Refusal, Option<Duration>) {
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = self.document(response).await.unwrap_or_default();
        let refusal = self.protocol.refusal(status.as_u16(), &body);
        let refusal = match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => Refusal { kind: RefusalKind::NotFound, ..refusal },
            _ => refusal,
        };
        (refusal, wait.map(Duration::from_secs))
    }

    async fn document(&self, mut response: Response) -> std::result::Result<Vec<u8>, String> {
        let mut body = Vec::new();
        loop {
            let chunk = tokio::time::timeout(self.timeout, response.chunk()).await;
            match chunk.map_err(|_| "the response ended too early".to_owned())?.map_err(|error| causes(&error))? {
                Some(chunk) if body.len() + chunk.len() <= MAX_DOCUMENT_BYTES => body.extend_from_slice(&chunk),
                Some(_) => return Err("the response is too long".to_owned()),
                None => return Ok(body),
            }
        }
    }

    /// What a person can do about it.
    pub(super) fn error(&self, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Own(error) => error,
            Trouble::Unknown(message) => Error::new(ErrorKind::Io, &*self.base_url, message),
            Trouble::Refused(Refusal { kind: RefusalKind::Auth, message }) => {
                Error::new(ErrorKind::Usage, &*self.base_url, format!("the API refuses the key: {message}"))
                    .hinting("look at key_env or key_file in the table [llm], and at the credit of the account")
            }
            Trouble::Refused(Refusal { kind: RefusalKind::NotFound, message }) => {
                Error::new(ErrorKind::Usage, &*self.base_url, format!("the API does not have this: {message}"))
                    .hinting("look at base_url in the table [llm]; not every server takes batches")
            }
            Trouble::Refused(refusal) => {
                Error::new(ErrorKind::Io, &*self.base_url, format!("the API refuses: {}", refusal.message))
            }
        }
    }

    fn unreadable(&self, what: &str) -> Error {
        Error::new(ErrorKind::Io, &*self.base_url, format!("the response is not {what}"))
            .hinting("look at base_url in the table [llm]; not every server takes batches")
    }

    fn place(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

/// Doubles, unless the server says how long.
fn pause(n_tries: usize, told: Option<Duration>) -> Duration {
    let wait = told.unwrap_or(SHORTEST_WAIT * (1 << n_tries.min(7)) as u32);
    wait.min(LONGEST_WAIT)
}

/// An error with its causes on one line; addresses are left out, the place says them.
fn causes(error: &reqwest::Error) -> String {
    let mut text = "the connection failed".to_owned();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.extend([": ", &inner.to_string()]);
        cause = inner.source();
    }
    text
}
