//! Batches in the words of OpenAI: request lines, the documents of a batch and of lists, result lines. Knows no
//! connection.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Progress, Remote, ResultLine};
use crate::llm::LlmProvider;
use crate::llm::protocol::clean;

/// The key of the metadata that holds the mark.
const MARK: &str = "condenser_requests";

pub(super) fn request_line(id: &str, body: &str) -> String {
    format!("{{\"custom_id\":\"{id}\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{body}}}")
}

pub(super) fn create_body(file: &str, mark: &str) -> String {
    json!({
        "input_file_id": file,
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
        "metadata": { MARK: mark },
    })
    .to_string()
}

#[derive(Deserialize)]
struct File {
    id: String,
}

pub(super) fn file_id(body: &[u8]) -> Option<String> {
    serde_json::from_slice::<File>(body).ok().map(|file| file.id)
}

#[derive(Deserialize)]
pub(super) struct Document {
    id: String,
    status: String,
    output_file_id: Option<String>,
    error_file_id: Option<String>,
    errors: Option<Errors>,
    request_counts: Option<Counts>,
    metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Deserialize)]
struct Errors {
    #[serde(default)]
    data: Vec<Told>,
}

#[derive(Deserialize)]
struct Told {
    code: Option<String>,
    message: Option<String>,
    line: Option<u64>,
}

#[derive(Deserialize)]
struct Counts {
    total: u64,
    completed: u64,
    failed: u64,
}

impl From<Document> for Remote {
    fn from(document: Document) -> Self {
        let content = |file: &String| format!("/files/{file}/content");
        let results: Vec<_> =
            [&document.output_file_id, &document.error_file_id].into_iter().flatten().map(content).collect();
        let n_done =
            document.request_counts.as_ref().map_or(0, |counts| counts.completed.saturating_add(counts.failed));
        let progress = match document.status.as_str() {
            // What was done before the end is in the files, and is paid for: without them it is not the end yet.
            "completed" | "expired" | "cancelled" if n_done == 0 || !results.is_empty() => Progress::Ended { results },
            "failed" => Progress::Refused { message: document.errors.map_or_else(String::new, Errors::sentence) },
            _ => Progress::Running { n_done },
        };
        let mark = document.metadata.and_then(|metadata| Some(metadata.get(MARK)?.as_str()?.to_owned()));
        Self { id: document.id, mark, n_requests: document.request_counts.map(|counts| counts.total), progress }
    }
}

impl Errors {
    fn sentence(self) -> String {
        let Some(Told { code, message, line }) = self.data.into_iter().next() else {
            return "no reason is given".to_owned();
        };
        let line = line.map(|line| format!("line {line}"));
        clean(&[line, code, message].into_iter().flatten().collect::<Vec<_>>().join(": "))
    }
}

#[derive(Deserialize)]
struct Line<'l> {
    custom_id: String,
    #[serde(borrow)]
    response: Option<Response<'l>>,
    error: Option<Told>,
}

#[derive(Deserialize)]
struct Response<'l> {
    status_code: u16,
    #[serde(borrow)]
    body: &'l RawValue,
}

pub(super) fn result_line(line: &[u8]) -> Option<ResultLine> {
    let Line { custom_id, response, error } = serde_json::from_slice(line).ok()?;
    let result = match response {
        Some(Response { status_code: 200..=299, body }) => LlmProvider::Openai.read(body.get().as_bytes()),
        Some(Response { status_code, body }) => Err(LlmProvider::Openai.refusal(status_code, body.get().as_bytes())),
        None => return Some(ResultLine::open(custom_id, error.and_then(|told| told.code.or(told.message)))),
    };
    Some(ResultLine { custom_id, result })
}
