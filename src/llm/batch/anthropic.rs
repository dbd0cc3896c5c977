//! Batches in the words of Anthropic: request lines, the documents of a batch and of lists, result lines. Knows no
//! connection.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Progress, Remote, ResultLine};
use crate::llm::LlmProvider;

pub(super) fn request_line(id: &str, body: &str) -> String {
    format!("{{\"custom_id\":\"{id}\",\"params\":{body}}}")
}

#[derive(Deserialize)]
pub(super) struct Document {
    id: String,
    processing_status: String,
    request_counts: Counts,
    archived_at: Option<String>,
}

#[derive(Deserialize)]
struct Counts {
    processing: u64,
    succeeded: u64,
    errored: u64,
    canceled: u64,
    expired: u64,
}

impl From<Document> for Remote {
    fn from(document: Document) -> Self {
        let Counts { processing, succeeded, errored, canceled, expired } = document.request_counts;
        let n_done = [errored, canceled, expired].into_iter().fold(succeeded, u64::saturating_add);
        let progress = if document.archived_at.is_some() {
            Progress::Refused { message: "its results are archived: they are kept for 29 days".to_owned() }
        } else if document.processing_status == "ended" {
            // What `results_url` says, but below the address that the job names: the key goes nowhere else.
            Progress::Ended { results: vec![format!("/messages/batches/{}/results", document.id)] }
        } else {
            Progress::Running { n_done }
        };
        Self { id: document.id, mark: None, n_requests: Some(n_done.saturating_add(processing)), progress }
    }
}

#[derive(Deserialize)]
struct Line<'l> {
    custom_id: String,
    #[serde(borrow)]
    result: Outcome<'l>,
}

#[derive(Deserialize)]
struct Outcome<'l> {
    r#type: String,
    #[serde(borrow)]
    message: Option<&'l RawValue>,
    #[serde(borrow)]
    error: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct Told {
    error: Named,
}

#[derive(Deserialize)]
struct Named {
    r#type: String,
}

pub(super) fn result_line(line: &[u8]) -> Option<ResultLine> {
    let Line { custom_id, result: Outcome { r#type, message, error } } = serde_json::from_slice(line).ok()?;
    let result = match (r#type.as_str(), message, error) {
        ("succeeded", Some(message), _) => LlmProvider::Anthropic.read(message.get().as_bytes()),
        ("errored", _, Some(error)) => Err(LlmProvider::Anthropic.refusal(status(error), error.get().as_bytes())),
        _ => return Some(ResultLine::open(custom_id, Some(r#type))),
    };
    Some(ResultLine { custom_id, result })
}

/// The status with which the API sends such an error when it is asked at once.
fn status(error: &RawValue) -> u16 {
    let told = serde_json::from_str::<Told>(error.get());
    match told.as_ref().map(|told| told.error.r#type.as_str()) {
        Ok("invalid_request_error" | "invalid_request") => 400,
        Ok("authentication_error") => 401,
        Ok("billing_error") => 402,
        Ok("permission_error") => 403,
        Ok("not_found_error") => 404,
        Ok("request_too_large") => 413,
        Ok("rate_limit_error") => 429,
        Ok("overloaded_error") => 529,
        _ => 500,
    }
}
