//! Batch APIs: what is open is planned into request files, handed in, waited for and fetched into the kept replies.
//! Every step is written down before and after it, so that each command may be killed and repeated: nothing is handed
//! in or paid for twice. Knows neither conversations nor prompts.

mod anthropic;
mod collect;
mod endpoint;
mod fetch;
mod openai;
mod requests;
mod state;
mod submit;
mod upload;

use super::protocol::clean;
use super::{Completion, Refusal, RefusalKind};

pub use collect::{Asking, Collector, Planned};
pub use endpoint::Endpoint;
pub use fetch::{Fetched, fetch};
pub use requests::BatchLimits;
pub use state::{BatchFolder, BatchStage, BatchState, Batches, Receipt, Search};
pub use submit::{Handed, Polled, poll, submit};

/// A batch as the API knows it.
#[derive(Debug, Clone, PartialEq)]
struct Remote {
    id: String,
    /// The mark that it was given, where the API takes one.
    mark: Option<String>,
    n_requests: Option<u64>,
    progress: Progress,
}

#[derive(Debug, Clone, PartialEq)]
enum Progress {
    Running { n_done: u64 },
    Ended { results: Vec<String> },
    Refused { message: String },
}

/// Some batches of the API, the newest first.
#[derive(Debug)]
struct Page {
    batches: Vec<Remote>,
    has_more: bool,
}

/// A line of results.
#[derive(Debug)]
struct ResultLine {
    custom_id: String,
    result: Result<Completion, Refusal>,
}

impl ResultLine {
    /// A request that was not worked on.
    fn open(custom_id: String, why: Option<String>) -> Self {
        let why = why.unwrap_or_else(|| "no reason is given".to_owned());
        Self { custom_id, result: Err(Refusal::new(RefusalKind::Server, clean(&why))) }
    }
}
