//! The batch APIs of OpenAI and Anthropic on loopback, for one test: forms are parsed, request lines are checked as the
//! providers check them, results come when the test says so, and requests fail on purpose.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use serde_json::{Value, json};

pub(crate) const KEY: &str = "key-for-tests";

/// Whose API it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    OpenAi,
    Anthropic,
}

/// What becomes of a request of a batch.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Reply(&'static str),
    /// Refused with this status, type and message.
    Refuse(u16, &'static str, &'static str),
    Expire,
}

/// What goes wrong with one request to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// 500, and nothing is done.
    Broken,
    /// 429, and nothing is done.
    Busy,
    /// The connection closes after the work.
    LostAnswer,
    /// The body of the answer ends before the half.
    Cut,
    /// The same, as if that were its end.
    CutUnseen,
    /// This status, and nothing is done.
    Status(u16),
    /// An empty list.
    NothingYet,
    /// A batch that has ended shows no files.
    NoFiles,
}

#[derive(Debug, Default)]
struct State {
    /// Name, purpose and bytes.
    files: Vec<(String, String, Vec<u8>)>,
    batches: Vec<RemoteBatch>,
    seen: Vec<String>,
    /// The path, and what goes wrong with the next request to it.
    wrong: Vec<(String, Wrong)>,
    /// Batches on a page of a list, at most.
    page: usize,
    /// Every page of a list is the first.
    knows_no_pages: bool,
}

#[derive(Debug, Clone)]
struct RemoteBatch {
    id: String,
    metadata: Value,
    lines: Vec<Value>,
    /// Why all of it is refused.
    failure: Option<String>,
    verdicts: Option<Vec<Verdict>>,
}

/// A server that ends with the test.
pub(crate) struct BatchServer {
    api: Api,
    port: u16,
    state: Arc<Mutex<State>>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Drop for BatchServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl BatchServer {
    pub(crate) fn start(api: Api) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let state = Arc::new(Mutex::new(State { page: 2, ..State::default() }));
        let shared = state.clone();
        runtime.spawn(async move {
            loop {
                let Ok((socket, _)) = listener.accept().await else { continue };
                let shared = shared.clone();
                let service = service_fn(move |request| serve(api, request, shared.clone()));
                tokio::spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    drop(builder.serve_connection(TokioIo::new(socket), service).await);
                });
            }
        });
        Self { api, port, state, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next request to `path` (with its method: `POST /v1/batches`) goes wrong.
    pub(crate) fn goes_wrong(&self, path: &str, wrong: Wrong) {
        self.state().wrong.push((path.to_owned(), wrong));
    }

    /// Ends every batch that is at work; `verdict` says what becomes of a request, by its number and itself.
    pub(crate) fn finish(&self, verdict: impl Fn(usize, &Value) -> Verdict) {
        for batch in &mut self.state().batches {
            if batch.verdicts.is_none() && batch.failure.is_none() {
                let verdicts = batch.lines.iter().enumerate().map(|(at, line)| verdict(at, line));
                batch.verdicts = Some(verdicts.collect());
            }
        }
    }

    /// A batch of somebody else with so many requests.
    pub(crate) fn put_foreign(&self, n_requests: usize) {
        let mut state = self.state();
        let id = format!("batch_{}", state.batches.len() + 1);
        let lines = (0..n_requests).map(|at| json!({ "custom_id": format!("other-{at}") })).collect();
        state.batches.push(RemoteBatch { id, metadata: json!({}), lines, failure: None, verdicts: None });
    }

    /// Gives the first page of a list for every page.
    pub(crate) fn forget_pages(&self) {
        self.state().knows_no_pages = true;
    }

    /// The results of all batches are gone.
    pub(crate) fn forget_results(&self) {
        self.state().batches.iter_mut().for_each(|batch| batch.verdicts = Some(Vec::new()));
    }

    pub(crate) fn n_batches(&self) -> usize {
        self.state().batches.len()
    }

    /// The request lines of a batch, by its number.
    pub(crate) fn lines(&self, at: usize) -> Vec<Value> {
        self.state().batches[at].lines.clone()
    }

    /// Purposes and sizes of the files that were uploaded.
    pub(crate) fn files(&self) -> Vec<(String, usize)> {
        self.state().files.iter().map(|(_, purpose, bytes)| (purpose.clone(), bytes.len())).collect()
    }

    /// Requests so far, `METHOD /path`.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.state().seen.clone()
    }

    pub(crate) fn provider(&self) -> &'static str {
        match self.api {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }
}

async fn serve(
    api: Api,
    request: Request<Incoming>,
    shared: Arc<Mutex<State>>,
) -> Result<Response<Chunks>, &'static str> {
    let (parts, body) = request.into_parts();
    let body = read(body).await;
    let name = format!("{} {}", parts.method, parts.uri.path());
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
    state.seen.push(name.clone());
    let wrong = state.wrong.iter().position(|(path, _)| *path == name);
    let wrong = wrong.map(|at| state.wrong.remove(at).1);
    match wrong {
        Some(Wrong::Status(status)) => return Ok(told(status, "", "on purpose")),
        Some(Wrong::NothingYet) => return Ok(page(&json!({ "data": [], "has_more": false }))),
        Some(Wrong::NoFiles) => {
            let mut shown = document(api, state.batches.last().expect("a batch"));
            shown["output_file_id"] = Value::Null;
            return Ok(page(&shown));
        }
        Some(Wrong::Broken) => return Ok(told(500, "server_error", "on purpose")),
        Some(Wrong::Busy) => {
            let mut response = told(429, "rate_limit_error", "on purpose");
            response.headers_mut().insert("retry-after", "0".parse().expect("a header"));
            return Ok(response);
        }
        _ => {}
    }
    let has_key = match api {
        Api::OpenAi => header("authorization") == format!("Bearer {KEY}"),
        Api::Anthropic => header("x-api-key") == KEY && !header("anthropic-version").is_empty(),
    };
    if !has_key {
        return Ok(told(401, "authentication_error", "the key is wrong"));
    }
    if body.as_ref().is_some_and(|body| header("content-length").parse() != Ok(body.len()) && !body.is_empty()) {
        return Ok(told(411, "invalid_request_error", "the length is missing"));
    }
    let body = body.unwrap_or_default();
    let query = |key: &str| {
        let query = parts.uri.query().unwrap_or_default();
        query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('=')).map(str::to_owned)
    };
    let segments: Vec<&str> = parts.uri.path().trim_start_matches("/v1/").split('/').collect();
    let response = match (api, parts.method.as_str(), &segments[..]) {
        (Api::OpenAi, "POST", ["files"]) => upload(&mut state, header("content-type"), &body),
        (Api::OpenAi, "POST", ["batches"]) => create_openai(&mut state, &body),
        (Api::OpenAi, "GET", ["batches"]) => list(api, &state, query("limit"), query("after")),
        (Api::OpenAi, "GET", ["batches", id]) | (Api::Anthropic, "GET", ["messages", "batches", id]) => {
            one(api, &state, id)
        }
        (Api::OpenAi, "GET", ["files", file, "content"]) => content(&state, file),
        (Api::Anthropic, "POST", ["messages", "batches"]) => create_anthropic(&mut state, &body),
        (Api::Anthropic, "GET", ["messages", "batches"]) => list(api, &state, query("limit"), query("after_id")),
        (Api::Anthropic, "GET", ["messages", "batches", id, "results"]) => results(&state, id),
        _ => told(404, "not_found_error", "there is no such address"),
    };
    match wrong {
        Some(Wrong::LostAnswer) => Err("the answer is lost on purpose"),
        Some(Wrong::Cut) => Ok(response.map(Chunks::cut)),
        Some(Wrong::CutUnseen) => Ok(response.map(|body| Chunks { is_cut: false, ..body.cut() })),
        _ => Ok(response),
    }
}

/// A form with a purpose and a file.
fn upload(state: &mut State, content_type: &str, body: &[u8]) -> Response<Chunks> {
    let Some(boundary) = content_type.strip_prefix("multipart/form-data; boundary=") else {
        return told(400, "invalid_request_error", "this is no form");
    };
    let text = std::str::from_utf8(body).expect("a form of text");
    let open = format!("--{boundary}\r\n");
    let close = format!("\r\n--{boundary}--\r\n");
    let Some(inner) = text.strip_prefix(&open).and_then(|text| text.strip_suffix(&close)) else {
        return told(400, "invalid_request_error", "the form is not closed");
    };
    let (mut purpose, mut file) = (None, None);
    for field in inner.split(&format!("\r\n{open}")) {
        let Some((head, value)) = field.split_once("\r\n\r\n") else {
            return told(400, "invalid_request_error", "a field has no value");
        };
        let head = head.to_lowercase();
        if head.contains("name=\"purpose\"") {
            purpose = Some(value.to_owned());
        } else if head.contains("name=\"file\"; filename=\"") {
            file = Some(value.as_bytes().to_vec());
        }
    }
    match (purpose, file) {
        (Some(purpose), Some(file)) => {
            let id = format!("file-{}", state.files.len() + 1);
            let n_bytes = file.len();
            state.files.push((id.clone(), purpose.clone(), file));
            page(&json!({ "id": id, "object": "file", "bytes": n_bytes, "purpose": purpose }))
        }
        _ => told(400, "invalid_request_error", "the form has no purpose or no file"),
    }
}

fn create_openai(state: &mut State, body: &[u8]) -> Response<Chunks> {
    let body: Value = serde_json::from_slice(body).expect("JSON");
    let file = state.files.iter().find(|(id, ..)| Some(id.as_str()) == body["input_file_id"].as_str());
    let Some((_, purpose, bytes)) = file else { return told(400, "invalid_request_error", "there is no such file") };
    if purpose != "batch" || body["endpoint"] != "/v1/chat/completions" || body["completion_window"] != "24h" {
        return told(400, "invalid_request_error", "this is no batch");
    }
    let (lines, mut failure) = (lines_of(bytes), None);
    let mut ids = BTreeSet::new();
    for line in &lines {
        let keys: Vec<&String> = line.as_object().expect("an object").keys().collect();
        let request = &line["body"];
        let is_good = keys == ["custom_id", "method", "url", "body"]
            && is_id(&line["custom_id"])
            && ids.insert(line["custom_id"].as_str().expect("an id").to_owned())
            && line["method"] == "POST"
            && line["url"] == body["endpoint"]
            && request["model"] == lines[0]["body"]["model"]
            && request["messages"].as_array().is_some_and(|messages| !messages.is_empty());
        if !is_good {
            failure = Some(format!("no request: {line}"));
        }
    }
    let id = format!("batch_{}", state.batches.len() + 1);
    state.batches.push(RemoteBatch { id, metadata: body["metadata"].clone(), lines, failure, verdicts: None });
    page(&document(Api::OpenAi, state.batches.last().expect("it was put there")))
}

fn create_anthropic(state: &mut State, body: &[u8]) -> Response<Chunks> {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return told(400, "invalid_request_error", "this is no JSON");
    };
    let lines = body["requests"].as_array().cloned().unwrap_or_default();
    let mut ids = BTreeSet::new();
    let is_good = |line: &Value| {
        let (keys, params) = (line.as_object().expect("an object").keys(), &line["params"]);
        keys.collect::<Vec<_>>() == ["custom_id", "params"]
            && is_id(&line["custom_id"])
            && params["model"].is_string()
            && params["max_tokens"].as_u64().is_some_and(|n| n > 0)
            && params["messages"].as_array().is_some_and(|messages| !messages.is_empty())
            && params["stream"] != true
    };
    let are_good = !lines.is_empty()
        && lines.iter().all(|line| is_good(line) && ids.insert(line["custom_id"].as_str().unwrap_or_default()));
    if !are_good {
        return told(400, "invalid_request_error", "a request is none");
    }
    let id = format!("batch_{}", state.batches.len() + 1);
    state.batches.push(RemoteBatch { id, metadata: Value::Null, lines, failure: None, verdicts: None });
    page(&document(Api::Anthropic, state.batches.last().expect("it was put there")))
}

fn is_id(id: &Value) -> bool {
    id.as_str().is_some_and(|id| {
        (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    })
}

fn lines_of(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON")).collect()
}

fn document(api: Api, batch: &RemoteBatch) -> Value {
    let count = |is: fn(&Verdict) -> bool| batch.verdicts.iter().flatten().filter(|verdict| is(verdict)).count();
    let n_replies = count(|verdict| matches!(verdict, Verdict::Reply(_)));
    let n_refused = count(|verdict| matches!(verdict, Verdict::Refuse(..)));
    let n_expired = count(|verdict| matches!(verdict, Verdict::Expire));
    let (total, is_ended) = (batch.lines.len(), batch.verdicts.is_some());
    match api {
        Api::OpenAi => {
            let status = match (&batch.failure, is_ended, n_expired) {
                (Some(_), ..) => "failed",
                (_, false, _) => "in_progress",
                (_, true, 0) => "completed",
                _ => "expired",
            };
            let file = |name: &str, is_there: bool| is_there.then(|| format!("{name}-{}", batch.id));
            json!({
                "id": batch.id, "object": "batch", "endpoint": "/v1/chat/completions", "status": status,
                "metadata": batch.metadata,
                "errors": batch.failure.as_ref().map(|message| json!({
                    "object": "list", "data": [{ "code": "invalid_json_line", "message": message, "line": 1 }],
                })),
                "output_file_id": file("output", n_replies > 0),
                "error_file_id": file("error", n_refused + n_expired > 0),
                "request_counts": { "total": total, "completed": n_replies, "failed": n_refused },
            })
        }
        Api::Anthropic => json!({
            "id": batch.id, "type": "message_batch",
            "processing_status": if is_ended { "ended" } else { "in_progress" },
            "request_counts": {
                "processing": if is_ended { 0 } else { total },
                "succeeded": n_replies, "errored": n_refused, "canceled": 0, "expired": n_expired,
            },
            "ended_at": is_ended.then_some("2024-08-20T18:37:24.100435Z"), "archived_at": null,
            // Another host: the key must not go there.
            "results_url": is_ended.then(|| format!("http://127.0.0.1:9/v1/messages/batches/{}/results", batch.id)),
        }),
    }
}

fn list(api: Api, state: &State, limit: Option<String>, after: Option<String>) -> Response<Chunks> {
    let limit = limit.and_then(|limit| limit.parse().ok()).unwrap_or(20).min(state.page);
    let newest_first: Vec<&RemoteBatch> = state.batches.iter().rev().collect();
    let after = after.filter(|_| !state.knows_no_pages);
    let from = after.map_or(0, |after| newest_first.iter().position(|batch| batch.id == after).expect("an id") + 1);
    let shown: Vec<Value> = newest_first[from..].iter().take(limit).map(|batch| document(api, batch)).collect();
    page(&json!({ "has_more": from + shown.len() < newest_first.len(), "data": shown }))
}

fn one(api: Api, state: &State, id: &str) -> Response<Chunks> {
    match state.batches.iter().find(|batch| batch.id == id) {
        Some(batch) => page(&document(api, batch)),
        None => told(404, "not_found_error", "there is no such batch"),
    }
}

/// The output or the error file of a batch.
fn content(state: &State, file: &str) -> Response<Chunks> {
    let Some((name, id)) = file.split_once('-') else { return told(404, "not_found_error", "no such file") };
    let Some(batch) = state.batches.iter().find(|batch| batch.id == id) else {
        return told(404, "not_found_error", "no such file");
    };
    let verdicts = batch.verdicts.as_deref().unwrap_or_default();
    if verdicts.is_empty() {
        return told(404, "not_found_error", "no such file");
    }
    let mut text = String::new();
    // Results come in any order.
    for (line, verdict) in batch.lines.iter().zip(verdicts).rev() {
        let response = |status: u16, body: Value| json!({ "status_code": status, "request_id": "r", "body": body });
        let id = &line["custom_id"];
        let result = match verdict {
            Verdict::Reply(reply) if name == "output" => {
                let body = json!({
                    "choices": [{ "index": 0, "message": { "role": "assistant", "content": reply },
                        "finish_reason": "stop" }],
                    "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
                });
                json!({ "id": "b", "custom_id": id, "response": response(200, body), "error": null })
            }
            Verdict::Refuse(status, r#type, message) if name == "error" => {
                let body = json!({ "error": { "message": message, "type": r#type } });
                json!({ "id": "b", "custom_id": id, "response": response(*status, body), "error": null })
            }
            Verdict::Expire if name == "error" => {
                let error = json!({ "code": "batch_expired", "message": "could not be done in time" });
                json!({ "id": "b", "custom_id": id, "response": null, "error": error })
            }
            _ => continue,
        };
        text.push_str(&format!("{result}\n"));
    }
    Response::new(Chunks::of(text.into()))
}

fn results(state: &State, id: &str) -> Response<Chunks> {
    let batch = state.batches.iter().find(|batch| batch.id == id);
    let verdicts = batch.and_then(|batch| batch.verdicts.as_deref()).unwrap_or_default();
    let Some(batch) = batch.filter(|_| !verdicts.is_empty()) else {
        return told(404, "not_found_error", "there are no results");
    };
    let mut text = String::new();
    for (line, verdict) in batch.lines.iter().zip(verdicts).rev() {
        let result = match verdict {
            Verdict::Reply(reply) => json!({ "type": "succeeded", "message": {
                "role": "assistant", "content": [{ "type": "text", "text": reply }], "stop_reason": "end_turn",
                "usage": { "input_tokens": 100, "output_tokens": 10 },
            } }),
            Verdict::Refuse(_, r#type, message) => json!({ "type": "errored", "error": {
                "type": "error", "error": { "type": r#type, "message": message },
            } }),
            Verdict::Expire => json!({ "type": "expired" }),
        };
        text.push_str(&format!("{}\n", json!({ "custom_id": line["custom_id"], "result": result })));
    }
    Response::new(Chunks::of(text.into()))
}

fn page(value: &Value) -> Response<Chunks> {
    Response::new(Chunks::of(value.to_string().into()))
}

fn told(status: u16, r#type: &str, message: &str) -> Response<Chunks> {
    let body = json!({ "type": "error", "error": { "type": r#type, "message": message } });
    let mut response = page(&body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).expect("a status");
    response
}

/// The body of a request; `None` when it was cut.
async fn read(mut body: Incoming) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Some(bytes)
}

/// A body in small pieces, so that lines are torn between them.
struct Chunks {
    bytes: Bytes,
    is_cut: bool,
    /// What was given is sent before more is given.
    has_rested: bool,
}

impl Chunks {
    fn of(bytes: Bytes) -> Self {
        Self { bytes, is_cut: false, has_rested: false }
    }

    fn cut(self) -> Self {
        Self { bytes: self.bytes.slice(..self.bytes.len() * 2 / 5), is_cut: true, has_rested: false }
    }
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.has_rested = !self.has_rested;
        if self.has_rested {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let n = self.bytes.len().min(97);
        Poll::Ready(match n {
            0 if self.is_cut => Some(Err(std::io::Error::other("cut on purpose"))),
            0 => None,
            n => Some(Ok(Frame::data(self.bytes.split_to(n)))),
        })
    }
}
