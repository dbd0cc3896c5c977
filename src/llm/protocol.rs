//! The words of an API: a request becomes a JSON body, a JSON body becomes a completion or a refusal. Knows neither
//! connections nor time; `docs/llm-wire.md` says which page each field comes from.

mod anthropic;
mod dialogue;
mod json;
mod openai;
mod refusal;

use super::{Completion, ModelSettings, Protocol, Request};

pub(super) use refusal::clean;
pub use refusal::{Refusal, RefusalKind};

impl Protocol {
    /// Its name, which never changes: keys of kept replies hold it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-chat",
            Self::Anthropic => "anthropic-messages",
        }
    }

    /// Where requests go, after the base address with its version.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/messages",
        }
    }

    /// The headers that every request has, the key among them. Their values are secrets.
    pub fn headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        match self {
            Self::OpenAi => openai::headers(key),
            Self::Anthropic => anthropic::headers(key),
        }
    }

    /// What a model replied, from the body of a successful response.
    ///
    /// # Errors
    /// `Unreadable` when the body is cut or no reply of this API; what the body says when it tells of an error.
    pub fn read(self, body: &[u8]) -> Result<Completion, Refusal> {
        match self {
            Self::OpenAi => openai::read(body),
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
        match self.protocol {
            Protocol::OpenAi => openai::body(self, request),
            Protocol::Anthropic => anthropic::body(self, request),
        }
    }
}
