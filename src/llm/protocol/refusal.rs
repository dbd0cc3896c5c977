//! Why a model gave no reply, and whether asking again may help. Reads the errors of both APIs; knows no connection.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Characters of a server's message that are kept.
const MAX_MESSAGE: usize = 300;

/// Why a model gave no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What can be done about it.
    pub kind: RefusalKind,
    /// What the server said, or what happened instead.
    pub message: String,
}

/// What can be done about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// Too much is asked by all; wait.
    Overloaded {
        /// So long, says the server.
        retry_after: Option<Duration>,
    },
    /// Too much is asked with this key; wait.
    RateLimited {
        /// So long, says the server.
        retry_after: Option<Duration>,
    },
    /// There is no connection, so nothing was sent; ask again.
    Unreachable,
    /// The server or the way to it failed; ask again.
    Server,
    /// The reply is cut or no reply of this API; ask again.
    Unreadable,
    /// The request is longer than the model's context.
    TooLong,
    /// The key is wrong, may not do this, or has no credit left: every request will fail.
    Auth,
    /// There is no such model or address: every request will fail.
    NotFound,
    /// The server names another address, where no key is sent: every request will fail.
    Moved,
    /// The model does not know a parameter or its value: every request will fail.
    Unsupported,
    /// This request is refused, for what is in it.
    BadRequest,
    /// It was not sent: the job is ending.
    Closing,
}

impl Refusal {
    /// A refusal.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Whether the same request may succeed later.
    pub fn is_passing(&self) -> bool {
        use RefusalKind::{Overloaded, RateLimited, Server, Unreachable, Unreadable};
        matches!(self.kind, Overloaded { .. } | RateLimited { .. } | Unreachable | Server | Unreadable)
    }

    /// Whether every other request will be refused too, until a person changes something.
    pub fn is_for_all(&self) -> bool {
        use RefusalKind::{Auth, Moved, NotFound, Unsupported};
        matches!(self.kind, Auth | NotFound | Moved | Unsupported)
    }

    /// The time that the server wants to be left alone.
    pub(in crate::llm) fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            RefusalKind::Overloaded { retry_after } | RefusalKind::RateLimited { retry_after } => retry_after,
            _ => None,
        }
    }

    /// The same refusal with the time that the server wants to be left alone.
    pub fn after(self, retry_after: Option<Duration>) -> Self {
        let kind = match self.kind {
            RefusalKind::Overloaded { .. } => RefusalKind::Overloaded { retry_after },
            RefusalKind::RateLimited { .. } => RefusalKind::RateLimited { retry_after },
            kind => kind,
        };
        Self { kind, ..self }
    }

    pub(super) fn no_reply() -> Self {
        Self::new(RefusalKind::Unreadable, "the response holds no reply")
    }
}

#[derive(Deserialize)]
struct Envelope {
    error: ErrorBody,
}

/// `{"error": {"message", "type", "code", "param"}}`; some servers write the message alone, some numbers as codes.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ErrorBody {
    Told { message: Option<String>, r#type: Option<serde_json::Value>, code: Option<serde_json::Value> },
    Text(String),
    Other(IgnoredAny),
}

impl ErrorBody {
    /// An error that came with a status of success.
    pub(super) fn refusal(self) -> Refusal {
        let told = self.told();
        // Some servers put the status into the code.
        let status = told.code.parse().ok().filter(|status| (400..600).contains(status)).unwrap_or(500);
        classify(status, &told)
    }

    fn told(self) -> Told {
        let name = |value: Option<serde_json::Value>| match value {
            Some(serde_json::Value::String(name)) => name,
            Some(serde_json::Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        match self {
            Self::Told { message, r#type, code } => {
                Told { message: message.unwrap_or_default(), r#type: name(r#type), code: name(code) }
            }
            Self::Text(message) => Told { message, ..Told::default() },
            Self::Other(_) => Told::default(),
        }
    }
}

#[derive(Default)]
struct Told {
    message: String,
    r#type: String,
    code: String,
}

/// Why a request failed.
pub(super) fn of_response(status: u16, body: &[u8]) -> Refusal {
    let told = serde_json::from_slice::<Envelope>(body).map(|envelope| envelope.error.told()).unwrap_or_default();
    classify(status, &told)
}

fn classify(status: u16, told: &Told) -> Refusal {
    let words = told.message.to_lowercase();
    let is = |name: &str| told.code == name || told.r#type == name;
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let kind = match status {
        _ if is("insufficient_quota") || is("billing_error") || says(&["credit balance is too low"]) => {
            RefusalKind::Auth
        }
        _ if is("model_not_found") => RefusalKind::NotFound,
        // Gateways refuse texts in this way.
        403 if says(&["moderation", "flagged"]) => RefusalKind::BadRequest,
        401..=403 | 407 => RefusalKind::Auth,
        300..=399 => RefusalKind::Moved,
        404 | 405 | 410 => RefusalKind::NotFound,
        413 => RefusalKind::TooLong,
        400 | 422 if is("context_length_exceeded") || is_overflow(&words) => RefusalKind::TooLong,
        400 | 422 if is("unsupported_value") || is("unsupported_parameter") => RefusalKind::Unsupported,
        429 => RefusalKind::RateLimited { retry_after: None },
        503 | 529 => RefusalKind::Overloaded { retry_after: None },
        // Request timeout, conflict, too early.
        408 | 409 | 425 | 500.. => RefusalKind::Server,
        _ => RefusalKind::BadRequest,
    };
    Refusal::new(kind, sentence(status, told, kind))
}

/// The wordings of servers for a request that is longer than the context of the model.
fn is_overflow(words: &str) -> bool {
    const PHRASES: [&str; 7] = [
        "maximum context length",
        "prompt is too long",
        "prompt too long",
        "context window",
        "context length",
        "context size",
        "input is too long",
    ];
    if PHRASES.iter().any(|phrase| words.contains(phrase)) {
        return true;
    }
    // "210000 tokens > 200000 maximum"
    let sides = words.split_once('>');
    sides.is_some_and(|(before, after)| {
        let is_number = |word: Option<&str>| {
            word.is_some_and(|word| word.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().is_ok())
        };
        let mut before = before.split_whitespace().rev();
        before.next() == Some("tokens") && is_number(before.next()) && is_number(after.split_whitespace().next())
    })
}

fn sentence(status: u16, told: &Told, kind: RefusalKind) -> String {
    let name = [&told.code, &told.r#type].into_iter().find(|name| !name.is_empty());
    let name = name.map_or_else(String::new, |name| format!(", {}", clean(name)));
    // What servers say about keys may quote them.
    let message = if kind == RefusalKind::Auth { String::new() } else { clean(&told.message) };
    match message.as_str() {
        "" => format!("status {status}{name}"),
        message => format!("status {status}{name}: {message}"),
    }
}

/// One line of bounded length.
pub(in crate::llm) fn clean(text: &str) -> String {
    let words = text.split_whitespace().flat_map(|word| [word, " "]);
    let line: String = words.flat_map(str::chars).filter(|c| !c.is_control()).take(MAX_MESSAGE).collect();
    line.trim_end().to_owned()
}
