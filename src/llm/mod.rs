//! Models: prompts, requests in the words of an API, clients, kept replies, and batches. Answers what the engine asks;
//! knows neither conversations nor tables.

pub mod batch;
mod cache;
mod private;
mod protocol;
mod request;

pub use cache::{Kept, Outcome, ReplyKey, ReplyStore, reply_key};
pub use protocol::{MaxTokensField, ModelSettings, Protocol, Refusal, RefusalKind};
pub use request::{Completion, Request, Usage};
