//! A request to a model, how it is asked and what came back, before and after the words of an API. Plain data.

use serde::{Deserialize, Serialize};

use crate::model::Turn;
use crate::pipeline::{LlmOptions, LlmPrices, LlmProvider, LlmSettings};

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The messages: `system` first when there is one, then `user`, `assistant` and `tool`.
    pub turns: Vec<Turn>,
    /// Tokens that the reply may have.
    pub max_tokens: usize,
    /// The turn up to which the next requests will be the same: where an API has markers for its prompt cache, one
    /// stands there.
    pub cache_until: Option<usize>,
}

/// What a model replied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The text; empty when there was none.
    pub text: String,
    /// The reply makes calls of tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_calls: bool,
    /// The reply ends where the limit of tokens was reached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// What is paid for.
    #[serde(flatten)]
    pub usage: Usage,
}

/// Tokens that an API counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request that came from no cache.
    pub input: u64,
    /// Tokens of the request that the API's prompt cache held.
    #[serde(default)]
    pub cached: u64,
    /// Tokens that were written into the prompt cache, where they are paid for.
    #[serde(default)]
    pub cache_written: u64,
    /// Tokens of the reply.
    pub output: u64,
}

impl Usage {
    /// All tokens. Servers may tell any numbers, so sums end at the largest one.
    pub fn tokens(&self) -> u64 {
        let Self { input, cached, cache_written, output } = *self;
        input.saturating_add(cached).saturating_add(cache_written).saturating_add(output)
    }

    /// Adds the tokens of another request.
    pub fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_written = self.cache_written.saturating_add(other.cache_written);
        self.output = self.output.saturating_add(other.output);
    }

    /// What they cost.
    pub fn cost(&self, prices: &LlmPrices) -> f64 {
        let parts = [
            (self.input, prices.input),
            (self.cached, prices.cached_input),
            (self.cache_written, prices.cache_write),
            (self.output, prices.output),
        ];
        parts.into_iter().map(|(tokens, price)| tokens as f64 / 1e6 * price).sum()
    }
}

/// How a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// Which one, in whose words, and what every request says.
    pub options: LlmOptions,
    /// What the limit of tokens is called.
    pub max_tokens_field: MaxTokensField,
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
    pub fn of(settings: &LlmSettings) -> Self {
        let options = settings.options.clone();
        let is_openai = options.provider == LlmProvider::Openai && settings.is_own_server();
        let max_tokens_field = if is_openai { MaxTokensField::MaxCompletionTokens } else { MaxTokensField::MaxTokens };
        Self { options, max_tokens_field }
    }

    /// Tokens that a reply may have, with those that the model thinks with.
    pub fn max_tokens(&self, request: &Request) -> usize {
        request.max_tokens.max(1) + self.options.thinking_tokens
    }
}
