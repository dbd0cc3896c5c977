//! The words of an API: a request becomes a JSON body, a JSON body becomes a completion or a refusal. Knows neither
//! connections nor time; `docs/llm-wire.md` says which page each field comes from.

mod anthropic;
mod dialogue;
mod openai;
mod reading;
mod refusal;

use super::{Completion, Request};
use crate::pipeline::{LlmOptions, LlmProvider, LlmSettings, Parameters};

pub(super) use refusal::clean;
pub use refusal::{Refusal, RefusalKind};

/// Models are asked in the words of one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Chat completions as OpenAI has them, and with it most servers.
    OpenAi,
    /// Messages as Anthropic has them.
    Anthropic,
}

impl From<LlmProvider> for Protocol {
    fn from(provider: LlmProvider) -> Self {
        match provider {
            LlmProvider::Openai => Self::OpenAi,
            LlmProvider::Anthropic => Self::Anthropic,
        }
    }
}

impl Protocol {
    /// Its name, which never changes: keys of kept replies hold it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-chat",
            Self::Anthropic => "anthropic-messages",
        }
    }

    /// Where requests go, after the base address with its version.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/chat/completions",
            Self::Anthropic => "/messages",
        }
    }

    /// The headers that every request has, the key among them. Their values are secrets.
    #[must_use]
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
    #[must_use]
    pub fn refusal(self, status: u16, body: &[u8]) -> Refusal {
        refusal::of_response(status, body)
    }
}

/// How a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// In whose words.
    pub protocol: Protocol,
    /// Its name.
    pub model: String,
    /// How freely it chooses words; left out of requests when there is none.
    pub temperature: Option<f64>,
    /// What the limit of tokens is called.
    pub max_tokens_field: MaxTokensField,
    /// Tokens that it may think with before it replies.
    pub thinking_tokens: usize,
    /// Further fields of every request.
    pub parameters: Parameters,
}

/// What the limit of tokens is called in chat completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MaxTokensField {
    /// As every server knows it.
    #[default]
    MaxTokens,
    /// As OpenAI wants it: its reasoning models refuse the other.
    MaxCompletionTokens,
}

impl ModelSettings {
    /// How the model of a job is asked.
    #[must_use]
    pub fn of(settings: &LlmSettings) -> Self {
        let LlmOptions { provider, model, temperature, thinking_tokens, parameters } = settings.options.clone();
        let is_openai = provider == LlmProvider::Openai && settings.is_own_server();
        let max_tokens_field = if is_openai { MaxTokensField::MaxCompletionTokens } else { MaxTokensField::MaxTokens };
        Self { protocol: provider.into(), model, temperature, max_tokens_field, thinking_tokens, parameters }
    }

    /// Tokens that a reply may have, with those that the model thinks with.
    #[must_use]
    pub fn max_tokens(&self, request: &Request) -> usize {
        request.max_tokens.max(1) + self.thinking_tokens
    }

    /// The request as compact JSON. The same request gives the same bytes: replies are kept under their hash.
    #[must_use]
    pub fn body(&self, request: &Request) -> String {
        match self.protocol {
            Protocol::OpenAi => openai::body(self, request),
            Protocol::Anthropic => anthropic::body(self, request),
        }
    }
}

/// Bodies consist of texts, numbers and maps with texts as keys.
const ALWAYS_JSON: &str = "texts and numbers can be written as JSON";
