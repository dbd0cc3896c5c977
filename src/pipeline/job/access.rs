//! How the server of a model is reached: its address, and where the key comes from. Knows no connection and no file.

use super::Secret;
use super::llm::{LlmProvider, wrong};
use super::store::Environment;
use crate::error::Result;

/// Where the key of an API comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LlmKey {
    /// Nowhere: none is needed, or nothing is asked.
    None {
        /// The variable that was written and has no value.
        written: Option<String>,
    },
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: String,
        /// Its value.
        value: Secret,
    },
    /// A file.
    File(String),
}

/// The key from the environment. The provider's own key never goes to another server unless its variable is named.
pub(super) fn key_of(
    provider: LlmProvider,
    written: Option<String>,
    is_own: bool,
    is_needed: bool,
    environment: Environment<'_>,
) -> Result<LlmKey> {
    let name = match &written {
        Some(name) => name.clone(),
        None if is_own => provider.key_env().to_owned(),
        None => return Ok(LlmKey::None { written }),
    };
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !is_name {
        // Not quoted: it may be the key itself.
        return Err(wrong("key_env", "expected the name of a variable of the environment, not the key itself"));
    }
    match environment(&name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) {
        Some(value) => Ok(LlmKey::Variable { name, value: Secret::from(value) }),
        None if is_needed => {
            let message = format!("no key: the environment variable {name} is not set");
            Err(wrong("key_env", message).hinting(
                "set it, name another one with key_env, or name a file that holds the key with key_file; \
                 --llm offline takes kept replies and needs none",
            ))
        }
        None => Ok(LlmKey::None { written }),
    }
}

/// The address up to the version, which is added where people leave it out.
pub(super) fn address(provider: LlmProvider, url: &str) -> Result<String> {
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
