//! What went wrong at a store, told so that a user can act on it, and whether trying again may help. Knows the
//! answers of stores, not what was asked for.

use std::error::Error as StdError;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};
use tokio::time::{Instant, sleep};

use super::config::{MAX_BACKOFF, StoreConfig};
use super::location::{Location, Name};
use crate::backoff::backoff;
use crate::error::{Error, ErrorKind};

/// Words of an answer that are shown.
const MAX_SHOWN: usize = 300;

/// Tries of one request that fail before a person hears of it, about a second after the first.
const FAILED_TOLD: usize = 3;

/// Why a server without TLS is not asked.
pub(super) const PLAIN_HTTP: &str = "the endpoint is plain http, which nobody allowed: name it with https, or set \
     AWS_ALLOW_HTTP=true (in a job store.allow_http = true; for Azure AZURE_ALLOW_HTTP=true)";

/// What clients, TLS and resolvers say where the settings are wrong, so that no other try helps.
const UNSET: [(&str, &str); 5] = [
    ("URL scheme is not allowed", PLAIN_HTTP),
    ("invalid peer certificate", "the certificate of the server is not trusted"),
    ("InvalidContentType", "the server does not speak TLS there: write the address with http"),
    ("Name or service not known", "there is no server of this name: look at the address or the endpoint"),
    ("nodename nor servname", "there is no server of this name: look at the address or the endpoint"),
];

/// A request that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: Error,
    /// Whether trying again may help.
    pub(super) again: bool,
    /// The status of the answer, when there was one.
    pub(super) status: Option<u16>,
}

impl Failure {
    /// A failure that stays.
    pub(super) fn lasting(error: Error) -> Self {
        Self { error, again: false, status: None }
    }

    /// The object is not the one that was opened.
    pub(super) fn changed(location: &Location) -> Self {
        let message = "the object changed while it was read; run again when nobody writes to it";
        Self::lasting(Error::input(location.to_string(), message))
    }

    /// The server sent less than it announced.
    pub(super) fn short(location: &Location, action: &str) -> Self {
        let message = format!("{action}: the server ended its answer early");
        Self { error: Error::io(location.to_string(), message), again: true, status: None }
    }

    /// Bytes came, but too slowly.
    pub(super) fn slow(location: &Location, action: &str, waited: Duration) -> Self {
        let message = format!("{action}: the server did not send enough in {}", seconds(waited));
        Self { error: Error::io(location.to_string(), message), again: true, status: None }
    }

    /// What an object store answered; `action` reads `cannot be read`.
    pub(super) fn of_store(
        location: &Location,
        action: &str,
        error: &object_store::Error,
        config: &StoreConfig,
    ) -> Self {
        match error {
            object_store::Error::Precondition { .. } | object_store::Error::NotModified { .. } => {
                return Self { status: Some(412), ..Self::changed(location) };
            }
            object_store::Error::InvalidPath { .. } | object_store::Error::NotSupported { .. } => {
                let told = Error::usage(location.to_string(), format!("{action}: {error}"));
                return Self::lasting(told);
            }
            _ => {}
        }
        Self::of_chain(location, action, error, config)
    }

    /// An answer with a status that is no success.
    pub(super) fn of_status(location: &Location, action: &str, status: u16, body: &str) -> Self {
        let code = tag(body, "Code");
        let answer = match &code {
            Some(code) => format!("{status} {code}"),
            None => status.to_string(),
        };
        let said = tag(body, "Message").map(|text| format!(": {text}")).unwrap_or_default();
        let (names, may) = (credentials(location), if action.contains("read") { "read" } else { "write" });
        let (kind, text) = match (status, code.as_deref()) {
            (_, Some("NoSuchBucket" | "ContainerNotFound")) => {
                (ErrorKind::Usage, format!("the bucket does not exist ({answer}); check its name, region and endpoint"))
            }
            (404 | 410, _) => (ErrorKind::Io, format!("there is nothing under this name ({answer})")),
            (_, Some("InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken" | "ExpiredToken")) | (401, _) => {
                (ErrorKind::Io, format!("the store refused the credentials ({answer}{said}); check {names}"))
            }
            (403, _) => (
                ErrorKind::Io,
                format!("permission denied ({answer}{said}): the credentials may not {may} it; check {names}"),
            ),
            (
                301 | 307 | 308 | 400,
                Some("PermanentRedirect" | "AuthorizationHeaderMalformed" | "TemporaryRedirect"),
            ) => (ErrorKind::Io, format!("the bucket is in another region ({answer}{said}); set AWS_REGION")),
            (412, _) => return Self { status: Some(412), ..Self::changed(location) },
            _ => (ErrorKind::Io, format!("the server answered {answer}{said}")),
        };
        Self {
            error: Error::new(kind, location.to_string(), format!("{action}: {text}")),
            again: is_passing(status),
            status: Some(status),
        }
    }

    /// What a client met.
    pub(super) fn of_chain(
        location: &Location,
        action: &str,
        error: &(dyn StdError + 'static),
        config: &StoreConfig,
    ) -> Self {
        let told = |text: String, again: bool| Self {
            error: Error::io(location.to_string(), format!("{action}: {text}")),
            again,
            status: None,
        };
        let mut at = Some(error);
        let (mut cause, mut asked_the_machine) = (String::new(), false);
        while let Some(inner) = at {
            let text = inner.to_string();
            if let Some((_, answer)) = text.split_once("non-2xx status code: ") {
                let digits: String = answer.chars().take_while(char::is_ascii_digit).collect();
                if let (Ok(status), true) = (digits.parse(), text.starts_with("Server")) {
                    let failure = Self::of_status(location, action, status, answer);
                    return if asked_the_machine { no_credentials(location, action) } else { failure };
                }
            }
            // The address of the service that gives machines of a cloud their credentials.
            asked_the_machine |= text.contains("169.254.169.254") || text.contains("metadata.google.internal");
            if text.contains("redirect without LOCATION") {
                return told("the bucket is in another region; set AWS_REGION".to_owned(), false);
            }
            if let Some(http) = inner.downcast_ref::<HttpError>() {
                if asked_the_machine {
                    return no_credentials(location, action);
                }
                let deepest = shown(&deepest(http));
                if let Some((_, advice)) = UNSET.iter().find(|(says, _)| deepest.contains(says)) {
                    let message = format!("{action}: {advice} ({deepest})");
                    return Self::lasting(Error::usage(location.to_string(), message));
                }
                return match http.kind() {
                    HttpErrorKind::Timeout => {
                        told(format!("the server did not answer within {}", seconds(config.stall_timeout)), true)
                    }
                    HttpErrorKind::Connect => told(format!("the server cannot be reached: {deepest}"), true),
                    _ => told(format!("the connection broke: {deepest}"), true),
                };
            }
            cause = text;
            at = inner.source();
        }
        if asked_the_machine { no_credentials(location, action) } else { told(shown(&cause), false) }
    }
}

fn no_credentials(location: &Location, action: &str) -> Failure {
    let message = format!("{action}: no credentials were found; set {}", credentials(location));
    Failure::lasting(Error::io(location.to_string(), message))
}

/// What the credentials of a place are called.
pub(super) fn credentials(location: &Location) -> &'static str {
    match &location.0 {
        Name::Object { bucket, .. } if bucket.starts_with("s3") => {
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_SKIP_SIGNATURE=true for public buckets)"
        }
        Name::Object { bucket, .. } if bucket.starts_with("gs") => {
            "GOOGLE_APPLICATION_CREDENTIALS (or GOOGLE_SKIP_SIGNATURE=true for public buckets)"
        }
        Name::Object { .. } => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
        _ => "the user and the password in the address",
    }
}

/// True for answers that another try may improve.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599) && status != 501
}

fn deepest(error: &HttpError) -> String {
    let (mut text, mut at) = (error.to_string(), error.source());
    while let Some(inner) = at {
        text = inner.to_string();
        at = inner.source();
    }
    text
}

/// One line of bounded length.
fn shown(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_SHOWN).collect()
}

/// The text of the first element `name`.
fn tag(body: &str, name: &str) -> Option<String> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    rest.split_once("</").map(|(text, _)| shown(text)).filter(|text| !text.is_empty())
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// The tries of one request: bounded in number and in the time since something last went well.
pub(super) struct Tries<'a> {
    config: &'a StoreConfig,
    n_failed: usize,
    well: Instant,
}

impl<'a> Tries<'a> {
    pub(super) fn new(config: &'a StoreConfig) -> Self {
        Self { config, n_failed: 0, well: Instant::now() }
    }

    /// Waits before another try.
    ///
    /// # Errors
    /// The failure itself, when it stays or the tries are used up.
    pub(super) async fn again(&mut self, failure: Failure) -> Result<(), Error> {
        self.n_failed += 1;
        if !failure.again {
            return Err(failure.error);
        }
        if self.n_failed > self.config.max_retries || self.well.elapsed() > self.config.retry_timeout {
            let mut error = failure.error;
            let tried = if self.n_failed == 1 { "once".to_owned() } else { format!("{} times", self.n_failed) };
            error.message += &format!(" (tried {tried} in {})", seconds(self.well.elapsed()));
            return Err(error);
        }
        // Many readers that fail at once must not come back at once: between half of the wait and all of it.
        let share = 500 + Instant::now().duration_since(self.well).subsec_nanos() % 500;
        let wait = backoff(self.config.first_backoff, MAX_BACKOFF, self.n_failed) * share / 1000;
        let told = format!("{}; trying again in {}", failure.error, seconds(wait));
        if self.n_failed == FAILED_TOLD {
            tracing::warn!("{told}");
        } else {
            tracing::info!("{told}");
        }
        sleep(wait).await;
        Ok(())
    }

    /// Something arrived: the time starts anew, the number of tries does not.
    pub(super) fn went_well(&mut self) {
        self.well = Instant::now();
    }
}

/// Tries `request` until it succeeds, or fails for good.
pub(super) async fn retrying<T, F: Future<Output = Result<T, Failure>>>(
    config: &StoreConfig,
    mut request: impl FnMut() -> F,
) -> Result<T, Error> {
    let mut tries = Tries::new(config);
    loop {
        match request().await {
            Ok(value) => return Ok(value),
            Err(failure) => tries.again(failure).await?,
        }
    }
}
