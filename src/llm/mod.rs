//! Models: prompts, requests in the words of an API, clients, kept replies, and batches. Answers what the engine asks;
//! knows neither conversations nor tables.

pub mod batch;
mod cache;
mod client;
mod connection;
pub mod feedback;
mod limits;
mod oracle;
mod private;
mod prompts;
mod protocol;
mod request;
mod waits;

pub use crate::pipeline::LlmProvider;
pub use cache::{Kept, ReplyKey, ReplyOutcome, ReplyStore, reply_key};
pub use client::{Client, Spend};
pub use limits::{Pass, RateLimits};
pub use oracle::{Account, Oracle, answer_of};
pub use prompts::Prompts;
pub use protocol::{Refusal, RefusalKind};
pub use request::{Completion, MaxTokensField, ModelSettings, Request, Usage};
pub use waits::{DEFAULT_CONNECT_TIMEOUT, DEFAULT_FIRST_BACKOFF, DEFAULT_MAX_RETRY_AFTER, MAX_BACKOFF, Patience};
