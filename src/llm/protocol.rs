//! The words of an API: a request becomes a JSON body, a JSON body becomes a completion or a refusal. Knows neither
//! connections nor time; `schemas/llm` says which page each field comes from.

mod anthropic;
mod dialogue;
mod json;
mod openai;
mod refusal;

use super::{Completion, LlmProvider, ModelSettings, Request};

pub(super) use refusal::clean;
pub use refusal::{Refusal, RefusalKind};

impl LlmProvider {
    /// Its name, which never changes: keys of kept replies hold it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai-chat",
            Self::Anthropic => "anthropic-messages",
        }
    }

    /// Where requests go, after the base address with its version.
    pub fn path(self) -> &'static str {
        match self {
            Self::Openai => "/chat/completions",
            Self::Anthropic => "/messages",
        }
    }

    /// The headers that every request has, the key among them. Their values are secrets.
    pub fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        match self {
            Self::Openai => openai::headers(key),
            Self::Anthropic => anthropic::headers(key),
        }
    }

    /// What a model replied, from the body of a successful response.
    ///
    /// # Errors
    /// `Unreadable` when the body is cut or no reply of this API; what the body says when it tells of an error.
    pub fn read(self, body: &[u8]) -> Result<Completion, Refusal> {
        match self {
            Self::Openai => openai::read(body),
            Self::Anthropic => anthropic::read(body),
        }
    }

    /// Why a request failed, from the status and the body of the response. Both APIs tell errors in one form.
    pub fn refusal(self, status: u16, body: &[u8]) -> Refusal {
        refusal::of_response(status, body)
    }
}

impl ModelSettings {
    /// The request as compact JSON. The same request gives the same bytes: replies are kept under their hash.
    pub fn body(&self, request: &Request) -> String {
        match self.options.provider {
            LlmProvider::Openai => openai::body(self, request),
            LlmProvider::Anthropic => anthropic::body(self, request),
        }
    }
}
