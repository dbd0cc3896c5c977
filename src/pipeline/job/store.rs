//! Access to object stores as a job writes it. Secrets are kept as they were written, `${NAME}` unexpanded, until
//! they are used; they are never shown. Knows no store and reads no environment: values come through a closure.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result};

/// Where a variable of the environment is looked up.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Access to object stores; what is left out comes from the usual variables of the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StoreArgs {
    /// Address of an S3-compatible server.
    pub endpoint: Option<Secret>,
    /// Region of the store.
    pub region: Option<Secret>,
    /// Speak HTTP without encryption to `endpoint`.
    pub allow_http: Option<bool>,
    /// S3: the id of the key.
    pub access_key_id: Option<Secret>,
    /// S3: the key.
    pub secret_access_key: Option<Secret>,
    /// S3: the token of a session.
    pub session_token: Option<Secret>,
    /// Google: the JSON key of a service account.
    pub google_service_account_key: Option<Secret>,
    /// Azure: the storage account.
    pub azure_storage_account_name: Option<Secret>,
    /// Azure: its key.
    pub azure_storage_account_key: Option<Secret>,
}

impl StoreArgs {
    /// Every text with its key, and the name under which stores know it.
    fn texts(&mut self) -> [(&'static str, &'static str, &mut Option<Secret>); 8] {
        [
            ("endpoint", "aws_endpoint_url", &mut self.endpoint),
            ("region", "aws_region", &mut self.region),
            ("access_key_id", "aws_access_key_id", &mut self.access_key_id),
            ("secret_access_key", "aws_secret_access_key", &mut self.secret_access_key),
            ("session_token", "aws_session_token", &mut self.session_token),
            ("google_service_account_key", "google_service_account_key", &mut self.google_service_account_key),
            ("azure_storage_account_name", "azure_storage_account_name", &mut self.azure_storage_account_name),
            ("azure_storage_account_key", "azure_storage_account_key", &mut self.azure_storage_account_key),
        ]
    }

    /// The settings under the names that the stores know, secrets revealed.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut this = self.clone();
        let http = this.allow_http.map(|allow| ("aws_allow_http", allow.to_string()));
        let texts =
            this.texts().into_iter().filter_map(|(_, name, text)| Some((name, text.as_ref()?.reveal().to_owned())));
        texts.chain(http).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The same with every `${NAME}` replaced by its value.
    ///
    /// # Errors
    /// `Usage` names the key and the variable that is not set.
    pub fn expanded(&self, environment: Environment<'_>) -> Result<Self> {
        let mut expanded = self.clone();
        for (key, _, text) in expanded.texts() {
            if let Some(secret) = text {
                *secret = secret.expanded(&format!("store.{key}"), environment)?;
            }
        }
        Ok(expanded)
    }
}

/// A text that is never printed: shown is only the name of the variable that it comes from.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline))]
#[serde(from = "String")]
pub struct Secret {
    written: String,
    /// The text itself, once it was expanded.
    value: Option<String>,
}

/// Stands for a secret that was written out.
const NOT_SHOWN: &str = "(not shown)";

impl From<String> for Secret {
    fn from(written: String) -> Self {
        Self { written, value: None }
    }
}

impl Secret {
    /// The text itself; as it was written when it was not expanded.
    pub fn reveal(&self) -> &str {
        self.value.as_ref().unwrap_or(&self.written)
    }

    fn expanded(&self, key: &str, environment: Environment<'_>) -> Result<Self> {
        let mut out = String::new();
        if self.written == NOT_SHOWN {
            return Err(Error::usage(key, "the secret was not printed; write `${NAME}` and set that variable"));
        }
        let mut rest = self.written.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            let broken = || Error::usage(key, "`${` has no closing `}`");
            let (name, after) = after.split_once('}').ok_or_else(broken)?;
            let value = environment(name)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| Error::usage(key, format!("the environment variable {name} is not set")))?;
            out.push_str(before);
            out.push_str(&value);
            rest = after;
        }
        Ok(Self { written: self.written.clone(), value: Some(out + rest) })
    }

    /// `${NAME}` when that is all there is.
    fn shown(&self) -> &str {
        let name = self.written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_some_and(is_name) { &self.written } else { NOT_SHOWN }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::{Secret, StoreArgs};

    #[test]
    fn secrets_are_expanded_when_used_and_never_shown() {
        let written = |text: &str| Secret::from(text.to_owned());
        let store = StoreArgs {
            access_key_id: Some(written("${ID}")),
            secret_access_key: Some(written("a${KEY}b")),
            session_token: Some(written("plain")),
            ..StoreArgs::default()
        };
        let environment = |name: &str| (name != "NONE").then(|| format!("value of {name}"));
        let expanded = store.expanded(&environment).expect("all are set");
        assert_eq!(expanded.secret_access_key.as_ref().map(Secret::reveal), Some("avalue of KEYb"));
        for shown in [format!("{store:?}"), serde_json::to_string(&store).expect("JSON")] {
            assert!(shown.contains("${ID}") && !shown.contains("KEY") && !shown.contains("plain"), "{shown}");
        }
        let shown = format!("{expanded:?}{}", serde_json::to_string(&expanded).expect("JSON"));
        assert!(!shown.contains("value of"), "{shown}");
        for (text, says) in [("${NONE}", "NONE is not set"), ("${OPEN", "no closing")] {
            let store = StoreArgs { region: Some(written(text)), ..StoreArgs::default() };
            let error = store.expanded(&environment).expect_err("it cannot be expanded").to_string();
            assert!(error.contains("store.region") && error.contains(says), "{error}");
        }
    }
}
