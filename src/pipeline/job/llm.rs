//! The model behind an API as a job writes it, and what holds of it. The key is named here, never written: it comes
//! from a variable of the environment or from a file. Knows no connection and no file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::store::Environment;
use super::{Seconds, Secret, Temperature};
use crate::error::{Error, Result};
use crate::model::{ClassifierSource, EngineOptions};

/// So many requests are under way at once: enough that a minute of latency does not count, and no provider refuses.
pub const DEFAULT_LLM_CONCURRENCY: usize = 64;
/// A reply of some thousand tokens takes a minute at the slowest.
pub const DEFAULT_LLM_TIMEOUT: u64 = 120;
/// With waits that double from a second this is a minute: overloads are over by then.
pub const DEFAULT_LLM_RETRIES: usize = 6;
/// More would be a mistake, and every one holds a connection.
const MAX_CONCURRENCY: usize = 4_096;

/// The model that summarises and rules, when the engine is told to ask one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Model")]
pub struct LlmArgs {
    /// `online` asks the model; `offline` takes replies that are kept and asks nothing [default: online].
    #[arg(id = "llm_mode", long = "llm", value_enum, value_name = "MODE")]
    pub mode: Option<LlmMode>,
    /// In whose words the model is asked; most servers understand those of `openai` [default: openai].
    #[arg(id = "llm_provider", long = "llm-provider", value_enum, value_name = "NAME")]
    pub provider: Option<LlmProvider>,
    /// Address of the server up to the version, such as `http://localhost:8000/v1` [default: the provider's own].
    #[arg(id = "llm_base_url", long = "llm-base-url", value_name = "URL")]
    pub base_url: Option<String>,
    /// Name of the model.
    #[arg(id = "llm_model", long = "llm-model", value_name = "NAME")]
    pub model: Option<String>,
    /// The variable of the environment that holds the key [default: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`]. A server
    /// of one's own needs none.
    #[arg(id = "llm_key_env", long = "llm-key-env", value_name = "VARIABLE")]
    pub key_env: Option<String>,
    /// A file that holds the key and nothing else; goes before the environment.
    #[arg(id = "llm_key_file", long = "llm-key-file", value_name = "FILE")]
    pub key_file: Option<String>,
    /// How freely the model chooses words, or `none` to say nothing about it: some models refuse it [default: 0].
    #[arg(id = "llm_temperature", long = "llm-temperature", value_name = "NUMBER|none")]
    pub temperature: Option<Temperature>,
    /// Tokens that the model may think with before it replies; the limit of every request is raised by them [default: 0].
    #[arg(id = "llm_thinking_tokens", long = "llm-thinking-tokens", value_name = "TOKENS")]
    pub thinking_tokens: Option<usize>,
    /// Further fields of every request, as the API of the model has them.
    #[arg(skip)]
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: Parameters,
    /// Most requests at once [default: 64].
    #[arg(id = "llm_concurrency", long = "llm-concurrency", value_name = "N")]
    pub concurrency: Option<usize>,
    /// Most requests in a minute; what the account is allowed [default: any number].
    #[arg(id = "llm_requests_per_minute", long = "llm-requests-per-minute", value_name = "N")]
    pub requests_per_minute: Option<u64>,
    /// Most tokens in a minute, of requests and replies together [default: any number].
    #[arg(id = "llm_tokens_per_minute", long = "llm-tokens-per-minute", value_name = "N")]
    pub tokens_per_minute: Option<u64>,
    /// Seconds until a request without a whole reply is given up [default: 120].
    #[arg(id = "llm_timeout", long = "llm-timeout", value_name = "SECONDS")]
    pub timeout: Option<Seconds>,
    /// How often a request that failed is tried again [default: 6].
    #[arg(id = "llm_retries", long = "llm-retries", value_name = "N")]
    pub retries: Option<usize>,
    /// Directory where replies are kept [default: `llm` in the run].
    #[arg(id = "llm_cache", long = "llm-cache", value_name = "DIR")]
    pub cache: Option<String>,
    /// Directory of replies that several jobs share; new replies are kept there too.
    #[arg(id = "llm_shared_cache", long = "llm-shared-cache", value_name = "DIR")]
    pub shared_cache: Option<String>,
    /// What tokens cost.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<LlmPrices>,
}

/// Fields of a request by name.
pub type Parameters = BTreeMap<String, serde_json::Value>;

/// What requests say already.
const OWN_FIELDS: [&str; 10] = [
    "model",
    "messages",
    "system",
    "stream",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "tools",
    "tool_choice",
    "n",
];

/// Whether a model may be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LlmMode {
    /// What no kept reply answers is asked.
    #[default]
    Online,
    /// Kept replies only; nothing is sent.
    Offline,
}

/// In whose words a model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LlmProvider {
    /// Chat completions of OpenAI, and of the many servers that speak like it.
    #[default]
    Openai,
    /// Messages of Anthropic.
    Anthropic,
}

impl LlmProvider {
    /// The provider's own server.
    pub fn own_base_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
        }
    }

    pub(super) fn key_env(self) -> &'static str {
        match self {
            Self::Openai => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// What a million tokens cost, in any currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LlmPrices {
    /// Tokens of requests that came from no cache.
    pub input: f64,
    /// Tokens of requests that the provider's prompt cache held.
    pub cached_input: f64,
    /// Tokens that were written into the prompt cache.
    pub cache_write: f64,
    /// Tokens of replies.
    pub output: f64,
}

/// What of a model decides about the bytes of the output. Keys, limits and places of replies do not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LlmOptions {
    /// In whose words the model is asked.
    pub provider: LlmProvider,
    /// Its name.
    pub model: String,
    /// How freely it chooses words; `null` when nothing is said about it.
    pub temperature: Option<f64>,
    /// Tokens that it may think with.
    #[serde(default, skip_serializing_if = "is_none")]
    pub thinking_tokens: usize,
    /// Further fields of every request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: Parameters,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(n: &usize) -> bool {
    *n == 0
}

/// What holds for the model of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct LlmSettings {
    /// What decides about the output.
    pub options: LlmOptions,
    /// Whether it may be asked.
    pub mode: LlmMode,
    /// Address of the server up to the version, without a slash at its end.
    pub base_url: String,
    /// Where the key comes from.
    pub key: LlmKey,
    /// Most requests at once.
    pub concurrency: usize,
    /// Most requests in a minute.
    pub requests_per_minute: Option<u64>,
    /// Most tokens in a minute.
    pub tokens_per_minute: Option<u64>,
    /// Until a request without a whole reply is given up.
    pub timeout: Seconds,
    /// How often a request that failed is tried again.
    pub retries: usize,
    /// Where replies are kept; `None` for `llm` in the run.
    pub cache: Option<String>,
    /// Where several jobs keep replies.
    pub shared_cache: Option<String>,
    /// What tokens cost.
    pub prices: Option<LlmPrices>,
}

impl LlmSettings {
    /// Whether the provider's own server is asked.
    pub fn is_own_server(&self) -> bool {
        self.base_url == self.options.provider.own_base_url()
    }

    /// The key, if there is one. `read` gives the bytes of a file by its path.
    pub fn key(&self, read: impl FnOnce(&str) -> Result<Vec<u8>>) -> Result<Option<Secret>> {
        let path = match &self.key {
            LlmKey::None => return Ok(None),
            LlmKey::Variable(value) => return Ok(Some(value.clone())),
            LlmKey::File(path) => path,
        };
        let wrong = || Error::usage(format!("llm.key_file: {path}"), "expected a key on one line");
        let text = String::from_utf8(read(path)?).map_err(|_| wrong())?;
        let key = text.trim();
        if key.is_empty() || key.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(wrong());
        }
        Ok(Some(Secret::from(key.to_owned())))
    }
}

/// Whether an engine with these options asks a model.
pub(crate) fn asks_a_model(options: &EngineOptions) -> bool {
    !options.summarizer.modes().is_empty() || options.classifier == ClassifierSource::Model
}

impl LlmArgs {
    /// Fills in the defaults, and gives what holds. Without a model nothing does, and nothing stays written.
    pub(super) fn settle(
        &mut self,
        engine: &EngineOptions,
        environment: Environment<'_>,
    ) -> Result<Option<LlmSettings>> {
        let is_asked = asks_a_model(engine);
        let Some(model) = self.model.clone().filter(|model| !model.trim().is_empty()) else {
            if !is_asked {
                *self = Self::default();
                return Ok(None);
            }
            let message = "the engine is told to ask a model, but none is named";
            return Err(wrong("model", message)
                .hinting("write model = \"…\" in the table [llm] of the job file, or use --llm-model NAME"));
        };
        let provider = *self.provider.get_or_insert_default();
        let own_base_url = || Ok(provider.own_base_url().to_owned());
        let base_url = self.base_url.as_ref().map_or_else(own_base_url, |url| address(provider, url))?;
        self.base_url = Some(base_url.clone());
        let mode = *self.mode.get_or_insert_default();
        let concurrency = *self.concurrency.get_or_insert(DEFAULT_LLM_CONCURRENCY);
        if !(1..=MAX_CONCURRENCY).contains(&concurrency) {
            return Err(wrong("concurrency", format!("expected a number from 1 to {MAX_CONCURRENCY}")));
        }
        for (name, limit) in
            [("requests_per_minute", self.requests_per_minute), ("tokens_per_minute", self.tokens_per_minute)]
        {
            if limit == Some(0) {
                return Err(wrong(name, "with 0 nothing can be asked; leave it out for any number"));
            }
        }
        if let Some(own) = self.parameters.keys().find(|name| OWN_FIELDS.contains(&name.as_str())) {
            let message = "condenser sets this field itself; see the keys of [llm] and max_response_tokens of [engine]";
            return Err(wrong(&format!("parameters.{own}"), message));
        }
        let LlmPrices { input, cached_input, cache_write, output } = self.prices.unwrap_or_default();
        if [input, cached_input, cache_write, output].into_iter().any(|price| !price.is_finite() || price < 0.0) {
            return Err(wrong("prices", "expected what a million tokens cost, 0 or more"));
        }
        let Temperature(temperature) = *self.temperature.get_or_insert_default();
        if provider == LlmProvider::Anthropic && temperature.is_some_and(|number| number > 1.0) {
            return Err(wrong("temperature", "models of this provider take 0 to 1"));
        }
        let key = self.key(is_asked && mode == LlmMode::Online, environment)?;
        let thinking_tokens = *self.thinking_tokens.get_or_insert_default();
        let default_timeout = Seconds(std::time::Duration::from_secs(DEFAULT_LLM_TIMEOUT));
        Ok(Some(LlmSettings {
            options: LlmOptions { provider, model, temperature, thinking_tokens, parameters: self.parameters.clone() },
            mode,
            base_url,
            key,
            concurrency,
            requests_per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            timeout: *self.timeout.get_or_insert(default_timeout),
            retries: *self.retries.get_or_insert(DEFAULT_LLM_RETRIES),
            cache: self.cache.clone(),
            shared_cache: self.shared_cache.clone(),
            prices: self.prices,
        }))
    }

    /// Where the key comes from. The provider's own key never goes to another server unless its variable is named.
    fn key(&mut self, is_needed: bool, environment: Environment<'_>) -> Result<LlmKey> {
        if let Some(path) = &self.key_file {
            self.key_env = None;
            return Ok(LlmKey::File(path.clone()));
        }
        let provider = self.provider.unwrap_or_default();
        let is_own = self.base_url.as_deref() == Some(provider.own_base_url());
        let own = is_own.then(|| provider.key_env().to_owned());
        let Some(name) = self.key_env.clone().or(own) else { return Ok(LlmKey::None) };
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_name {
            // Not quoted: it may be the key itself.
            return Err(wrong("key_env", "expected the name of a variable of the environment, not the key itself"));
        }
        match environment(&name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) {
            Some(value) => {
                self.key_env = Some(name);
                Ok(LlmKey::Variable(Secret::from(value)))
            }
            None if is_needed => {
                let message = format!("no key: the environment variable {name} is not set");
                Err(wrong("key_env", message).hinting(
                    "set it, name another one with key_env, or name a file that holds the key with key_file; \
                     --llm offline takes kept replies and needs none",
                ))
            }
            None => Ok(LlmKey::None),
        }
    }
}

fn wrong(name: &str, message: impl Into<String>) -> Error {
    Error::usage(format!("llm.{name}"), message)
}

/// Where the key of an API comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LlmKey {
    /// Nowhere: none is needed, or nothing is asked.
    None,
    /// A variable of the environment; its value.
    Variable(Secret),
    /// A file.
    File(String),
}

/// The address up to the version, which is added where people leave it out.
fn address(provider: LlmProvider, url: &str) -> Result<String> {
    let expected = || wrong("base_url", "expected an address such as http://localhost:8000/v1");
    let url = url.trim().trim_end_matches('/');
    let (scheme, rest) = url.split_once("://").ok_or_else(expected)?;
    if !matches!(scheme, "http" | "https") || rest.is_empty() || rest.starts_with('/') {
        return Err(expected());
    }
    if rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(expected());
    }
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.contains('@') {
        return Err(wrong("base_url", "an address holds no user and password; name the key with key_env or key_file"));
    }
    if rest.contains(['?', '#']) {
        return Err(wrong("base_url", "an address ends with its path; `?` and `#` cannot follow"));
    }
    let has_version = match provider {
        // Servers have versions of their own, such as `/v1beta/openai`.
        LlmProvider::Openai => !path.is_empty(),
        LlmProvider::Anthropic => path.rsplit('/').next() == Some("v1"),
    };
    Ok(if has_version { url.to_owned() } else { format!("{url}/v1") })
}
