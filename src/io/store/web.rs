//! Files on web servers, read only. Servers that give ranges are read by range; others as one stream, which cannot
//! be taken up again when it breaks. Knows no object store.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures::StreamExt;
use futures::stream::BoxStream;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpRequestBody, HttpResponse, ReqwestConnector,
};
use object_store::{ClientOptions, HeaderValue};

use super::config::StoreConfig;
use super::location::{Location, Name, percent_decoded};
use super::object::Version;
use super::trouble::{Failure, retrying};
use crate::error::{Error, Result};

/// A piece of a body or what broke it.
pub(super) type Body = BoxStream<'static, std::result::Result<bytes::Bytes, HttpError>>;

/// A file on a web server.
#[derive(Clone)]
pub(super) struct WebFile {
    client: HttpClient,
    location: Location,
    url: String,
    authorization: Option<HeaderValue>,
    config: Arc<StoreConfig>,
}

/// What a server says about a file.
pub(super) struct WebStat {
    /// Its version; the length is 0 when it is not known.
    pub(super) version: Version,
    /// Its length.
    pub(super) bytes: Option<u64>,
    /// Whether the server gives ranges.
    pub(super) ranges: bool,
}

/// The client of all web servers.
pub(super) fn client(config: &StoreConfig) -> Result<HttpClient> {
    let options = ClientOptions::new()
        .with_allow_http(true)
        .with_connect_timeout(config.connect_timeout)
        .with_read_timeout(config.stall_timeout)
        // A whole file may come as one body.
        .with_timeout_disabled();
    let failed = |error| Error::io("", "the web client cannot be set up").because(error);
    crate::tls::prepare();
    ReqwestConnector::default().connect(&options).map_err(failed)
}

impl WebFile {
    pub(super) fn new(location: &Location, client: HttpClient, config: &Arc<StoreConfig>) -> Self {
        let Name::Web(url) = &location.0 else {
            return Self {
                client,
                location: location.clone(),
                url: String::new(),
                authorization: None,
                config: config.clone(),
            };
        };
        let (url, user) = without_user(url.split('#').next().unwrap_or_default());
        let authorization = user.and_then(|user| {
            let mut value = HeaderValue::from_str(&format!("Basic {}", BASE64.encode(user))).ok()?;
            value.set_sensitive(true);
            Some(value)
        });
        Self { client, location: location.clone(), url, authorization, config: config.clone() }
    }

    /// What the server says about the file; `None` when there is none.
    pub(super) async fn stat(&self) -> Result<Option<WebStat>> {
        retrying(&self.config, async || {
            let response = self.ask(Some((0, 1)), None).await?;
            let header = |name: &str| header(&response, name);
            let total = header("content-range").and_then(|range| range.rsplit_once('/')?.1.trim().parse().ok());
            let (bytes, ranges) = match response.status().as_u16() {
                206 => (total, total.is_some()),
                // An empty file has no first byte.
                416 => (Some(total.unwrap_or(0)), true),
                200 => (header("content-length").and_then(|length| length.parse().ok()), false),
                404 | 410 => return Ok(None),
                status => return Err(self.refused(status, response).await),
            };
            let version =
                Version { bytes: bytes.unwrap_or(0), e_tag: header("etag"), modified: header("last-modified") };
            Ok(Some(WebStat { version, bytes, ranges }))
        })
        .await
    }

    /// The bytes `range` of the version that was opened.
    pub(super) async fn range(&self, range: (u64, u64), version: &Version) -> std::result::Result<Body, Failure> {
        let response = self.ask(Some(range), version.strong_tag()).await?;
        match response.status().as_u16() {
            206 => {}
            200 => return Err(Failure::changed(&self.location)),
            status => return Err(self.refused(status, response).await),
        }
        let told = header(&response, "content-range").unwrap_or_default();
        if told != format!("bytes {}-{}/{}", range.0, range.1 - 1, version.bytes) {
            return Err(Failure::changed(&self.location));
        }
        self.check(&response, version)?;
        Ok(response.into_body().bytes_stream())
    }

    /// The whole file as one body.
    pub(super) async fn whole(&self, version: &Version) -> std::result::Result<Body, Failure> {
        let response = self.ask(None, version.strong_tag()).await?;
        match response.status().as_u16() {
            200 => {}
            status => return Err(self.refused(status, response).await),
        }
        self.check(&response, version)?;
        Ok(response.into_body().bytes_stream())
    }

    fn check(&self, response: &HttpResponse, version: &Version) -> std::result::Result<(), Failure> {
        let (e_tag, modified) = (header(response, "etag"), header(response, "last-modified"));
        let now = Version { bytes: version.bytes, e_tag, modified };
        if version.fits(&now) { Ok(()) } else { Err(Failure::changed(&self.location)) }
    }

    /// What broke a body.
    pub(super) fn broken(&self, error: &HttpError) -> Failure {
        Failure::of_chain(&self.location, "cannot be read", error, &self.config)
    }

    async fn ask(&self, range: Option<(u64, u64)>, tag: Option<&String>) -> std::result::Result<HttpResponse, Failure> {
        let wrong = || {
            let message = "this is no web address";
            Failure::lasting(Error::usage(self.location.to_string(), message))
        };
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = self.url.parse().map_err(|_| wrong())?;
        let headers = request.headers_mut();
        if let Some((start, end)) = range {
            let value = HeaderValue::from_str(&format!("bytes={start}-{}", end - 1)).map_err(|_| wrong())?;
            headers.insert("range", value);
        }
        if let Some(Ok(tag)) = tag.map(|tag| HeaderValue::from_str(tag)) {
            headers.insert("if-match", tag);
        }
        if let Some(value) = &self.authorization {
            headers.insert("authorization", value.clone());
        }
        self.client.execute(request).await.map_err(|error| self.broken(&error))
    }

    async fn refused(&self, status: u16, response: HttpResponse) -> Failure {
        // Only the first words of a page are looked at.
        let body = response.into_body().bytes_stream().next().await.and_then(std::result::Result::ok);
        let body = body.map(|body| String::from_utf8_lossy(&body).into_owned()).unwrap_or_default();
        Failure::of_status(&self.location, "cannot be read", status, &body)
    }
}

fn header(response: &HttpResponse, name: &str) -> Option<String> {
    response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The address without user and password, and these.
fn without_user(url: &str) -> (String, Option<String>) {
    let parts = url.split_once("://").and_then(|(scheme, rest)| {
        let host_ends = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at_checked(host_ends)?;
        let (user, host) = host.rsplit_once('@')?;
        Some((format!("{scheme}://{host}{path}"), percent_decoded(user)))
    });
    match parts {
        Some((url, user)) if user.contains(':') => (url, Some(user)),
        Some((url, user)) => (url, Some(user + ":")),
        None => (url.to_owned(), None),
    }
}
