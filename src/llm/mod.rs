//! Models: prompts, requests in the words of an API, clients, kept replies, and batches. Answers what the engine asks;
//! knows neither conversations nor tables.

mod prompts;
mod protocol;
mod request;

pub use prompts::Prompts;
pub use protocol::{MaxTokensField, ModelSettings, Protocol, Refusal, RefusalKind};
pub use request::{Completion, Request, Usage};
