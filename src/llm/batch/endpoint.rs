//! The API that takes batches, over HTTP: small documents, request files going up, results coming down line by line.
//! Knows the two APIs by their words in `openai` and `anthropic`; does not know what was written down of a batch.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Body, Method};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::upload::FileBody;
use super::{BatchFolder, BatchState, Page, Remote, anthropic, openai};
use crate::error::{Error, ErrorKind, Result};
use crate::llm::connection::{Connection, broken, bytes};
use crate::llm::{LlmProvider, Patience, Refusal, RefusalKind};
use crate::pipeline::{LlmSettings, Secret};

/// A line of results is a reply of a model.
const MAX_LINE_BYTES: usize = 64 << 20;
/// A description of a batch, or a list of them.
const MAX_DOCUMENT_BYTES: usize = 16 << 20;
/// The slowest way up that is waited for, in bytes a second.
const SLOWEST_UPLOAD: u64 = 64 << 10;

/// The API.
pub struct Endpoint {
    connection: Connection,
    patience: Patience,
    timeout: Duration,
    max_retries: usize,
}

shows!(Endpoint { connection });

/// Why a request to the API was not answered as wished.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The API says no, and has done nothing.
    Refused(Refusal),
    /// Whether it was done is not known.
    Unknown(Refusal),
    /// Something on this side.
    Own(Error),
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl Endpoint {
    /// The API of a job.
    pub fn new(settings: &LlmSettings, key: Option<&Secret>, patience: Patience) -> Result<Self> {
        let connection = Connection::new(settings, key, patience)?;
        Ok(Self { connection, patience, timeout: settings.timeout.0, max_retries: settings.retries })
    }

    pub(super) fn protocol(&self) -> LlmProvider {
        self.connection.protocol
    }

    /// Where batches are, and the parameter behind which a list of them goes on.
    fn places(&self) -> (&'static str, &'static str) {
        match self.protocol() {
            LlmProvider::Openai => ("/batches", "after"),
            LlmProvider::Anthropic => ("/messages/batches", "after_id"),
        }
    }

    fn base_url(&self) -> &str {
        &self.connection.base_url
    }

    /// An error when `batch` belongs to another API than that of the job.
    pub(super) fn check(&self, batch: &BatchFolder) -> Result<()> {
        let BatchState { protocol, base_url, .. } = &batch.state;
        if protocol == self.protocol().as_str() && base_url == self.base_url() {
            return Ok(());
        }
        let message = format!("this batch was planned for {base_url}, but the job names {}", self.base_url());
        Err(Error::usage(batch.folder.to_string_lossy(), message)
            .hinting("use the job with which it was planned, or remove the folder of the batch"))
    }

    /// The batches after `after`, or the newest.
    pub(super) async fn list(&self, limit: usize, after: Option<&str>) -> Result<Page> {
        let (folder, goes_on) = self.places();
        let after = after.map_or_else(String::new, |after| format!("&{goes_on}={after}"));
        let body = self.get(&format!("{folder}?limit={limit}{after}")).await?;
        let page = match self.protocol() {
            LlmProvider::Openai => page::<openai::Document>(&body),
            LlmProvider::Anthropic => page::<anthropic::Document>(&body),
        };
        page.ok_or_else(|| self.unreadable("a list of batches"))
    }

    /// What became of a batch.
    pub(super) async fn find(&self, id: &str) -> Result<Remote> {
        let body = self.get(&format!("{}/{id}", self.places().0)).await?;
        self.read_batch(&body).ok_or_else(|| self.unreadable("a batch"))
    }

    /// Brings the request file there, where the API wants it before the batch; the id of the file.
    pub(super) async fn upload(&self, batch: &BatchFolder) -> std::result::Result<Option<String>, Trouble> {
        if self.protocol() == LlmProvider::Anthropic {
            return Ok(None);
        }
        // No request holds it: a line of JSON begins otherwise, and line feeds in it are escaped.
        let boundary = format!("condenser-{}", &batch.state.blake3);
        let name = format!("condenser-{}.jsonl", &batch.state.blake3);
        let form = || FileBody::form(&batch.requests(), "batch", &name, &boundary).map(whole);
        let body = self.post("/files", &format!("multipart/form-data; boundary={boundary}"), form).await?;
        openai::file_id(&body).map(Some).ok_or_else(|| Trouble::Own(self.unreadable("a file")))
    }

    /// Makes the batch.
    pub(super) async fn create(&self, batch: &BatchFolder, file: Option<&str>) -> std::result::Result<Remote, Trouble> {
        let body = match (self.protocol(), file) {
            (LlmProvider::Openai, Some(file)) => {
                let body = openai::create_body(file, &batch.state.blake3);
                self.post("/batches", "application/json", || Ok((body.clone().into(), 0))).await?
            }
            (LlmProvider::Openai, None) => {
                return Err(Refusal::new(RefusalKind::BadRequest, "the request file is not there").into());
            }
            (LlmProvider::Anthropic, _) => {
                let list = || FileBody::list(&batch.requests(), "{\"requests\":[", "]}").map(whole);
                self.post("/messages/batches", "application/json", list).await?
            }
        };
        self.read_batch(&body)
            .ok_or_else(|| Trouble::Unknown(Refusal::new(RefusalKind::Unreadable, "the response is no batch")))
    }

    fn read_batch(&self, body: &[u8]) -> Option<Remote> {
        match self.protocol() {
            LlmProvider::Openai => serde_json::from_slice::<openai::Document>(body).ok().map(Remote::from),
            LlmProvider::Anthropic => serde_json::from_slice::<anthropic::Document>(body).ok().map(Remote::from),
        }
    }

    /// Calls `line` with every line of a document of any length; false when it is not there.
    pub(super) async fn lines(&self, path: &str, mut line: impl FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        // The whole may take any time, each piece of it may not.
        let open = || async {
            let sent = self.connection.send(self.connection.request(Method::GET, path));
            let late = |_| Refusal::new(RefusalKind::Server, "no response in time");
            Ok(tokio::time::timeout(self.timeout, sent).await.map_err(late)??)
        };
        let mut response = match self.again(path, open).await {
            Ok(response) => response,
            Err(Trouble::Refused(refusal)) if refusal.kind == RefusalKind::NotFound => return Ok(false),
            Err(trouble) => return Err(self.error(trouble)),
        };
        let torn = || Error::io(format!("{}{path}", self.base_url()), "the results ended too early; fetch them again");
        let mut rest = BytesMut::new();
        loop {
            let chunk = tokio::time::timeout(self.timeout, response.chunk()).await.map_err(|_| torn())?;
            let Some(chunk) = chunk.map_err(|error| torn().because(broken(&error).message))? else { break };
            let mut from = rest.len();
            rest.extend_from_slice(&chunk);
            while let Some(at) = memchr::memchr(b'\n', &rest[from..]) {
                line(&rest.split_to(from + at + 1)[..from + at])?;
                from = 0;
            }
            if rest.len() > MAX_LINE_BYTES {
                return Err(Error::io(format!("{}{path}", self.base_url()), "a line of the results is too long"));
            }
        }
        if !rest.is_empty() {
            // Not every connection tells that it was cut.
            serde_json::from_slice::<IgnoredAny>(&rest).map_err(|_| torn())?;
            line(&rest)?;
        }
        Ok(true)
    }

    async fn get(&self, path: &str) -> Result<Bytes> {
        let read = || async {
            let request = self.connection.request(Method::GET, path).timeout(self.timeout);
            Ok(bytes(self.connection.send(request).await?, MAX_DOCUMENT_BYTES).await?)
        };
        self.again(path, read).await.map_err(|trouble| self.error(trouble))
    }

    /// The response to something that the API is to do. Tried again only when it surely was not done.
    async fn post(
        &self,
        path: &str,
        content_type: &str,
        body: impl Fn() -> Result<(Body, u64)>,
    ) -> std::result::Result<Bytes, Trouble> {
        let post = || async {
            let (body, n_bytes) = body().map_err(Trouble::Own)?;
            let timeout = self.timeout + Duration::from_secs(n_bytes / SLOWEST_UPLOAD);
            let request = self.connection.request(Method::POST, path).timeout(timeout);
            let response = self.connection.send(request.header(CONTENT_TYPE, content_type).body(body)).await;
            let response = response.map_err(|refusal| match refusal.kind {
                RefusalKind::RateLimited { .. } | RefusalKind::Unreachable => Trouble::Refused(refusal),
                _ if refusal.is_passing() => Trouble::Unknown(refusal),
                _ => Trouble::Refused(refusal),
            })?;
            bytes(response, MAX_DOCUMENT_BYTES).await.map_err(Trouble::Unknown)
        };
        self.again(path, post).await
    }

    /// What `attempt` comes to; refusals that pass are waited out.
    async fn again<T, F>(&self, path: &str, attempt: impl Fn() -> F) -> std::result::Result<T, Trouble>
    where
        F: Future<Output = std::result::Result<T, Trouble>>,
    {
        let mut n_failed = 0;
        loop {
            let refusal = match attempt().await {
                Err(Trouble::Refused(refusal)) if refusal.is_passing() && n_failed < self.max_retries => refusal,
                done => return done,
            };
            n_failed += 1;
            tokio::time::sleep(self.patience.wait(path.as_bytes(), &refusal, n_failed)).await;
        }
    }

    /// What a person can do about it.
    pub(super) fn error(&self, trouble: Trouble) -> Error {
        let error = |kind, message: String| Error::new(kind, self.base_url(), message);
        let refusal = match trouble {
            Trouble::Own(error) => return error,
            Trouble::Unknown(refusal) => return error(ErrorKind::Io, refusal.message),
            Trouble::Refused(refusal) => refusal,
        };
        let message = &refusal.message;
        match refusal.kind {
            RefusalKind::Auth => error(ErrorKind::Usage, format!("the API refuses the key: {message}"))
                .hinting("look at key_env or key_file in the table [llm], and at the credit of the account"),
            RefusalKind::NotFound | RefusalKind::Moved => {
                error(ErrorKind::Usage, format!("the API does not have this: {message}")).hinting(
                    "look at base_url and at the key in the table [llm]: not every server takes batches, and another \
                     account does not see them",
                )
            }
            _ if refusal.is_passing() => error(ErrorKind::Io, format!("the API does not answer: {message}")),
            _ => error(ErrorKind::Io, format!("the API refuses: {message}")),
        }
    }

    fn unreadable(&self, what: &str) -> Error {
        Error::io(self.base_url(), format!("the response is not {what}"))
            .hinting("look at base_url in the table [llm]; not every server takes batches")
    }
}

#[derive(Deserialize)]
struct Listed<D> {
    data: Vec<D>,
    #[serde(default)]
    has_more: bool,
}

/// Both APIs write a list of batches, each in its own words, in one form.
fn page<D: DeserializeOwned + Into<Remote>>(body: &[u8]) -> Option<Page> {
    let Listed::<D> { data, has_more } = serde_json::from_slice(body).ok()?;
    Some(Page { batches: data.into_iter().map(D::into).collect(), has_more })
}

/// A body with its length.
fn whole(file: FileBody) -> (Body, u64) {
    let n_bytes = file.n_bytes();
    (Body::wrap(file), n_bytes)
}
