//! Servers on loopback for one test: a real S3-compatible one over a folder, and a plain web server. Both fail,
//! reset, truncate and stall on purpose, by a schedule.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use condenser::io::store::StoreConfig;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};

pub(crate) const ACCESS_KEY: &str = "KEYFORTESTS";
pub(crate) const SECRET_KEY: &str = "secretfortests";
pub(crate) const BUCKET: &str = "bucket";

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server answers 500.
    Broken,
    /// The server answers 503 with the code `SlowDown`.
    SlowDown,
    /// The connection closes before an answer; the work is not done.
    Reset,
    /// The connection closes before an answer, but the work is done.
    ResetAfter,
    /// The body of the answer ends half way, when it is long.
    Truncate,
    /// No answer comes.
    Stall,
    /// The body of the answer stops half way, when it is long.
    StallHalfWay,
}

/// Which requests go wrong.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// Every so many requests; 0 for none.
    every: usize,
    faults: Vec<Fault>,
    /// Only requests of this method.
    method: Option<String>,
    n_requests: usize,
    n_hit: usize,
    /// Requests by method and path, for tests that count.
    seen: Vec<String>,
}

type Shared = Arc<Mutex<Schedule>>;

/// A server that ends with the test.
pub(crate) struct Server {
    port: u16,
    schedule: Shared,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Server {
    fn start<H, F>(handler: H) -> Self
    where
        H: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<s3s::Body>> + Send + 'static,
    {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let schedule = Shared::default();
        let shared = schedule.clone();
        runtime.spawn(async move {
            loop {
                let Ok((socket, _)) = listener.accept().await else { continue };
                let (shared, handler) = (shared.clone(), handler.clone());
                let service = service_fn(move |request| serve(request, shared.clone(), handler.clone()));
                tokio::spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    drop(builder.serve_connection(TokioIo::new(socket), service).await);
                });
            }
        });
        Self { port, schedule, runtime: Some(runtime) }
    }

    /// `every` n-th request has the next of `faults`.
    pub(crate) fn fail(&self, every: usize, faults: &[Fault]) -> &Self {
        let mut schedule = self.schedule.lock().unwrap_or_else(PoisonError::into_inner);
        *schedule = Schedule { every, faults: faults.to_vec(), ..Schedule::default() };
        self
    }

    /// Every request of `method` has `fault`.
    pub(crate) fn fail_all(&self, method: &str, fault: Fault) {
        self.fail(1, &[fault]);
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner).method = Some(method.to_owned());
    }

    pub(crate) fn work(&self) {
        self.fail(0, &[]);
    }

    /// How many requests failed since the schedule was made.
    pub(crate) fn n_hit(&self) -> usize {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner).n_hit
    }

    /// Requests since the schedule was made.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner).seen.clone()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

async fn serve<H, F>(request: Request<Incoming>, schedule: Shared, handler: H) -> Result<Response<Faulty>, &'static str>
where
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<s3s::Body>>,
{
    let fault = {
        let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
        schedule.seen.push(format!("{} {}", request.method(), request.uri()));
        let counts = schedule.method.as_deref().is_none_or(|method| method == request.method().as_str());
        schedule.n_requests += usize::from(counts);
        let hit = counts && schedule.every > 0 && schedule.n_requests.is_multiple_of(schedule.every);
        schedule.n_hit += usize::from(hit);
        hit.then(|| schedule.faults[(schedule.n_hit - 1) % schedule.faults.len()])
    };
    let error = |status: u16, code: &str| {
        let body = format!("<Error><Code>{code}</Code><Message>on purpose</Message></Error>");
        let response = Response::builder().status(status).body(Faulty::whole(body.into()));
        Ok(response.expect("a response"))
    };
    match fault {
        Some(Fault::Broken) => return error(500, "InternalError"),
        Some(Fault::SlowDown) => return error(503, "SlowDown"),
        Some(Fault::Reset) => return Err("reset on purpose"),
        Some(Fault::Stall) => std::future::pending().await,
        _ => {}
    }
    let response = handler(request).await;
    let half = response.body().size_hint().exact().unwrap_or(0) / 2;
    let half = match response.headers().get("content-length").and_then(|length| length.to_str().ok()) {
        Some(length) => length.parse::<u64>().unwrap_or(0) / 2,
        None => half,
    };
    match fault {
        Some(Fault::ResetAfter) => Err("reset on purpose, after the work"),
        Some(Fault::Truncate) if half > 0 => Ok(response.map(|body| Faulty { body, left: half, then: Then::Break })),
        Some(Fault::StallHalfWay) if half > 0 => {
            Ok(response.map(|body| Faulty { body, left: half, then: Then::Stall }))
        }
        _ => Ok(response.map(Faulty::whole)),
    }
}

/// A body that breaks or stops.
struct Faulty {
    body: s3s::Body,
    left: u64,
    then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    End,
    Break,
    Stall,
}

impl Faulty {
    fn whole(body: s3s::Body) -> Self {
        Self { body, left: u64::MAX, then: Then::End }
    }
}

impl Body for Faulty {
    type Data = Bytes;
    type Error = s3s::StdError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return match self.then {
                Then::Stall => Poll::Pending,
                _ => Poll::Ready(Some(Err("broken on purpose".into()))),
            };
        }
        let frame = match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => frame,
            other => return other,
        };
        Poll::Ready(Some(Ok(match frame.into_data() {
            Ok(data) => {
                let kept = (data.len() as u64).min(self.left);
                self.left -= if self.then == Then::End { 0 } else { kept };
                Frame::data(data.slice(..kept as usize))
            }
            Err(frame) => frame,
        })))
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An S3 server over a folder; its buckets are the folders in it.
pub(crate) struct S3 {
    pub(crate) server: Server,
    root: PathBuf,
}

impl S3 {
    /// Serves `root` with one empty bucket.
    pub(crate) fn start(root: &Path) -> Self {
        std::fs::create_dir_all(root.join(BUCKET)).expect("a folder can be made");
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root).expect("the folder is there"));
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service: S3Service = builder.build();
        // Looking whether an object is there and writing it are one step in a store, but two in this server.
        let writing = Arc::new(tokio::sync::Mutex::new(()));
        let server = Server::start(move |request| {
            let is_put = request.method() == hyper::Method::PUT;
            let (answer, writing) = (Service::call(&service, request), writing.clone());
            async move {
                let _one = if is_put { Some(writing.lock().await) } else { None };
                answer.await.expect("it answers")
            }
        });
        Self { server, root: root.to_owned() }
    }

    /// What the environment of a program must say, or the settings of a config in small letters.
    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        let pairs = [
            ("AWS_ENDPOINT_URL", &*self.server.url()),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY),
        ];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    /// Small bounds, so that tests of stalls are short.
    pub(crate) fn config(&self) -> StoreConfig {
        let settings = self.environment().into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect();
        StoreConfig { settings, ..quick() }
    }

    /// Where the bytes of an object lie.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.root.join(BUCKET).join(key)
    }

    /// Parts of uploads that were neither completed nor aborted.
    pub(crate) fn loose_parts(&self) -> usize {
        let entries = std::fs::read_dir(&self.root).expect("the folder is there");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(".upload_id-")).count()
    }
}

/// Gives up soon.
pub(crate) fn impatient(config: StoreConfig) -> StoreConfig {
    StoreConfig { stall_timeout: Duration::from_millis(300), max_retries: 3, ..config }
}

/// Bounds for tests: nothing that works takes as long, also on a busy machine.
pub(crate) fn quick() -> StoreConfig {
    StoreConfig {
        connect_timeout: Duration::from_secs(2),
        stall_timeout: Duration::from_millis(1500),
        retry_timeout: Duration::from_secs(10),
        max_retries: 6,
        first_backoff: Duration::from_millis(5),
        range_bytes: 1 << 20,
        part_bytes: 5 << 20,
        ..StoreConfig::default()
    }
}

/// What a web server tells of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Manners {
    pub(crate) ranges: bool,
    pub(crate) length: bool,
    pub(crate) tag: bool,
    /// Wants the user `user` with the password `pass word`.
    pub(crate) login: bool,
}

/// A plain web server over a folder.
pub(crate) fn web(root: &Path, manners: Manners) -> Server {
    let root = root.to_owned();
    Server::start(move |request| {
        let response = page(&root, manners, &request);
        async move { response }
    })
}

fn page(root: &Path, manners: Manners, request: &Request<Incoming>) -> Response<s3s::Body> {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let respond = |status: u16| Response::builder().status(status);
    let empty = |status: u16| respond(status).body(s3s::Body::empty()).expect("a response");
    if manners.login && header("authorization") != Some("Basic dXNlcjpwYXNzIHdvcmQ=") {
        return empty(401);
    }
    let Ok(bytes) = std::fs::read(root.join(request.uri().path().trim_start_matches('/'))) else { return empty(404) };
    let tag = format!("\"{}\"", blake3::hash(&bytes).to_hex());
    if header("if-match").is_some_and(|wanted| wanted != tag) {
        return empty(412);
    }
    let range = header("range").and_then(|range| {
        let (start, end) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((start.parse::<usize>().ok()?, end.parse::<usize>().ok()?))
    });
    let mut response = match range.filter(|_| manners.ranges) {
        Some((start, _)) if start >= bytes.len() => {
            return respond(416)
                .header("content-range", format!("bytes */{}", bytes.len()))
                .body(s3s::Body::empty())
                .expect("a response");
        }
        Some((start, end)) => {
            let end = (end + 1).min(bytes.len());
            let told = format!("bytes {start}-{}/{}", end - 1, bytes.len());
            let body = s3s::Body::from(bytes[start..end].to_vec());
            respond(206).header("content-range", told).body(body).expect("a response")
        }
        None if manners.length => respond(200).body(s3s::Body::from(bytes)).expect("a response"),
        None => respond(200).body(s3s::Body::http_body(Unsized(bytes.into()))).expect("a response"),
    };
    if manners.tag {
        response.headers_mut().insert("etag", tag.parse().expect("a header"));
    }
    response
}

/// A body that does not tell its length.
struct Unsized(Bytes);

impl Body for Unsized {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let n = self.0.len().min(10_000);
        Poll::Ready((n > 0).then(|| Ok(Frame::data(self.0.split_to(n)))))
    }
}
