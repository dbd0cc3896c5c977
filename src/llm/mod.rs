//! Models: prompts, requests in the words of an API, clients, kept replies, and batches. Answers what the engine asks;
//! knows neither conversations nor tables.

mod prompts;
mod request;

pub use prompts::Prompts;
pub use request::{Completion, Request, Usage};
