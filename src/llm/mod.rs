//! Models: prompts, requests in the words of an API, clients, kept replies, and batches. Answers what the engine asks;
//! knows neither conversations nor tables.

mod request;

pub use request::{Completion, Request, Usage};
