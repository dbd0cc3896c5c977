//! A server on loopback that speaks as the APIs of models do: a closure says what it replies, and it remembers
//! everything that it was asked. It ends with the test.

use std::convert::Infallible;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use serde_json::{Value, json};

/// In whose words a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    OpenAi,
    Anthropic,
}

/// A question to the model.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) words: Words,
    pub(crate) model: String,
    /// All texts of `system`, joined by line feeds.
    pub(crate) system: String,
    /// The texts of the last message of the user, joined by line feeds.
    pub(crate) prompt: String,
    pub(crate) body: Value,
    /// Its number among all questions, from 0.
    pub(crate) n: usize,
}

/// What becomes of a question.
#[derive(Debug, Clone)]
pub(crate) enum Play {
    /// The model replies with this text.
    Text(String),
    /// The same after some time.
    Slow(Duration, String),
    /// The same, cut at the limit of tokens.
    Cut(String),
    /// The model calls this tool.
    ToolCall(String),
    /// The model says nothing.
    Empty,
    /// A status, headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// 429 and so many seconds to wait.
    RetryAfter(u64),
    /// No response comes.
    Stall,
    /// Headers and half of the body come, then nothing.
    StallHalfWay,
    /// Half of the JSON comes as a whole body.
    Truncated,
    /// The connection breaks amid the body.
    Broken,
}

impl Play {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An error as both APIs tell them.
    pub(crate) fn error(status: u16, kind: &str, message: &str) -> Self {
        let body =
            json!({ "type": "error", "error": { "type": kind, "code": kind, "message": message, "param": null } });
        Self::Status(status, Vec::new(), body.to_string())
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

impl Arrived {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A response; its body comes in pieces.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: BoxStream<'static, Piece>,
    /// The length that is told, when it is not that of the body.
    pub(crate) length: Option<usize>,
}

pub(crate) type Piece = Result<Bytes, &'static str>;

impl Reply {
    pub(crate) fn whole(status: u16, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { status, headers: Vec::new(), length: Some(body.len()), body: stream::iter([Ok(body)]).boxed() }
    }
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::whole(status, body.to_string())
    }
}

/// What serves a path; `None` when it is another's.
pub(crate) type Route = Box<dyn Fn(&Arrived) -> Option<Reply> + Send + Sync>;
type Model = Box<dyn Fn(&Asked) -> Play + Send + Sync>;

struct Shared {
    model: Model,
    /// Asked before the two APIs.
    routes: Vec<Route>,
    arrived: Mutex<Vec<Arrived>>,
    n_asked: AtomicUsize,
    n_now: AtomicUsize,
    n_most: AtomicUsize,
}

/// A server that ends with the test.
pub(crate) struct LlmServer {
    port: u16,
    shared: Arc<Shared>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Drop for LlmServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl LlmServer {
    pub(crate) fn start(model: impl Fn(&Asked) -> Play + Send + Sync + 'static) -> Self {
        Self::with_routes(model, Vec::new())
    }

    /// One of `plays` after the other, the last one for ever.
    pub(crate) fn playing(plays: Vec<Play>) -> Self {
        Self::start(move |asked| plays[asked.n.min(plays.len() - 1)].clone())
    }

    /// A server with more paths, such as those for files and batches.
    pub(crate) fn with_routes(model: impl Fn(&Asked) -> Play + Send + Sync + 'static, routes: Vec<Route>) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared {
            model: Box::new(model),
            routes,
            arrived: Mutex::default(),
            n_asked: AtomicUsize::new(0),
            n_now: AtomicUsize::new(0),
            n_most: AtomicUsize::new(0),
        });
        let served = shared.clone();
        runtime.spawn(async move {
            loop {
                let Ok((socket, _)) = listener.accept().await else { continue };
                let shared = served.clone();
                let service = service_fn(move |request| serve(request, shared.clone()));
                tokio::spawn(async move {
                    drop(Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await);
                });
            }
        });
        Self { port, shared, runtime: Some(runtime) }
    }

    /// The address up to the version.
    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arrived>> {
        self.shared.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every request so far.
    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.lock().clone()
    }

    pub(crate) fn n_arrived(&self) -> usize {
        self.lock().len()
    }

    /// The most requests that were under way at once.
    pub(crate) fn most_at_once(&self) -> usize {
        self.shared.n_most.load(Ordering::SeqCst)
    }
}

/// A request under way.
struct UnderWay(Arc<Shared>);

impl UnderWay {
    fn begin(shared: &Arc<Shared>) -> Self {
        let now = shared.n_now.fetch_add(1, Ordering::SeqCst) + 1;
        shared.n_most.fetch_max(now, Ordering::SeqCst);
        Self(shared.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.n_now.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn serve(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Pieces>, Infallible> {
    let under_way = UnderWay::begin(&shared);
    let (head, mut incoming) = request.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(frame)) = std::future::poll_fn(|cx| std::pin::Pin::new(&mut incoming).poll_frame(cx)).await {
        body.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
    }
    let arrived = Arrived {
        method: head.method,
        path: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: head
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
        body: body.into(),
        at: Instant::now(),
    };
    shared.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(arrived.clone());
    let mut reply = match shared.routes.iter().find_map(|route| route(&arrived)) {
        Some(reply) => reply,
        None => match (arrived.method.as_str(), &*arrived.path) {
            ("POST", "/v1/chat/completions") => chat(Words::OpenAi, &arrived, &shared).await,
            ("POST", "/v1/messages") => chat(Words::Anthropic, &arrived, &shared).await,
            _ => Reply::json(404, &json!({ "error": { "type": "not_found_error", "message": "no such path" } })),
        },
    };
    let mut response = Response::builder().status(reply.status).header("content-type", "application/json");
    for (name, value) in reply.headers.drain(..) {
        response = response.header(name, value);
    }
    if let Some(length) = reply.length {
        response = response.header("content-length", length);
    }
    Ok(response.body(Pieces { body: reply.body, _under_way: under_way }).expect("a response"))
}

async fn chat(words: Words, arrived: &Arrived, shared: &Shared) -> Reply {
    let Ok(body) = serde_json::from_slice::<Value>(&arrived.body) else {
        return Reply::json(400, &json!({ "error": { "type": "invalid_request_error", "message": "no JSON" } }));
    };
    let asked = asked(words, body, shared.n_asked.fetch_add(1, Ordering::SeqCst));
    let said = |text: &str, stop: &str, tool: Option<&str>| completion(words, &asked, text, stop, tool).to_string();
    match (shared.model)(&asked) {
        Play::Text(text) => Reply::whole(200, said(&text, "stop", None)),
        Play::Slow(time, text) => {
            tokio::time::sleep(time).await;
            Reply::whole(200, said(&text, "stop", None))
        }
        Play::Cut(text) => Reply::whole(200, said(&text, "length", None)),
        Play::ToolCall(name) => Reply::whole(200, said("", "tool_calls", Some(&name))),
        Play::Empty => Reply::whole(200, said("", "stop", None)),
        Play::Status(status, headers, body) => Reply {
            headers: headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            ..Reply::whole(status, body)
        },
        Play::RetryAfter(seconds) => {
            let told = json!({ "type": "error", "error": { "type": "rate_limit_error", "message": "too many" } });
            Reply { headers: vec![("retry-after".to_owned(), seconds.to_string())], ..Reply::json(429, &told) }
        }
        Play::Stall => pending().await,
        Play::StallHalfWay => {
            let body = said("half of this never comes", "stop", None);
            let half = Bytes::from(body[..body.len() / 2].to_owned());
            let pieces = stream::iter([Ok(half)]).chain(stream::pending());
            Reply { status: 200, headers: Vec::new(), length: Some(body.len()), body: pieces.boxed() }
        }
        Play::Truncated => {
            let body = said("half of this never comes", "stop", None);
            Reply::whole(200, body[..body.len() / 2].to_owned())
        }
        Play::Broken => {
            let body = said("half of this never comes", "stop", None);
            let half = Bytes::from(body[..body.len() / 2].to_owned());
            let pieces = stream::iter([Ok(half), Err("broken on purpose")]);
            Reply { status: 200, headers: Vec::new(), length: Some(body.len()), body: pieces.boxed() }
        }
    }
}

fn asked(words: Words, body: Value, n: usize) -> Asked {
    let of = |role: &str| -> Vec<&Value> {
        let messages = body["messages"].as_array().map_or(&[][..], |messages| messages);
        messages.iter().filter(|message| message["role"] == role).map(|message| &message["content"]).collect()
    };
    let system = match words {
        Words::OpenAi => of("system").into_iter().map(texts).collect::<Vec<_>>().join("\n"),
        Words::Anthropic => texts(&body["system"]),
    };
    let prompt = of("user").last().map(|content| texts(content)).unwrap_or_default();
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    Asked { words, model, system, prompt, body, n }
}

fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// A reply in the words of the API; a word is a token.
pub(crate) fn completion(words: Words, asked: &Asked, text: &str, stop: &str, tool: Option<&str>) -> Value {
    let count = |text: &str| text.split_whitespace().count();
    let (input, cached, output) = (count(&asked.prompt), count(&asked.system), count(text));
    match words {
        Words::OpenAi => {
            let calls = tool.map(
                |name| json!([{ "id": "call_1", "type": "function", "function": { "name": name, "arguments": "{}" } }]),
            );
            let mut message = json!({ "role": "assistant", "content": text, "refusal": null });
            if let Some(calls) = calls {
                message["content"] = Value::Null;
                message["tool_calls"] = calls;
            }
            json!({
                "id": format!("chatcmpl-{}", asked.n), "object": "chat.completion", "created": 0, "model": asked.model,
                "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": stop }],
                "usage": {
                    "prompt_tokens": input + cached, "completion_tokens": output,
                    "total_tokens": input + cached + output, "prompt_tokens_details": { "cached_tokens": cached },
                },
            })
        }
        Words::Anthropic => {
            let stop = match stop {
                "length" => "max_tokens",
                "tool_calls" => "tool_use",
                _ => "end_turn",
            };
            let mut content = if text.is_empty() { vec![] } else { vec![json!({ "type": "text", "text": text })] };
            content.extend(tool.map(|name| json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": {} })));
            json!({
                "id": format!("msg_{}", asked.n), "type": "message", "role": "assistant", "model": asked.model,
                "content": content, "stop_reason": stop, "stop_sequence": null,
                "usage": {
                    "input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached,
                    "output_tokens": output,
                },
            })
        }
    }
}

struct Pieces {
    body: BoxStream<'static, Piece>,
    /// Under way until the last piece is gone.
    _under_way: UnderWay,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.body.poll_next_unpin(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
