//! Plain data that every floor above speaks about. Knows no algorithm, no file and no JSON beyond the
//! provenance object.

mod condensed;
mod conversation;
mod decision;
pub mod marker;
mod metrics;
mod options;
mod provenance;
mod reject;

pub use condensed::{Condensed, NewBody, Original, Output, Replacement};
pub use conversation::{Content, Conversation, Message, Part, Role, ShapeName, ToolCall};
pub use decision::{Action, Decision, Reason};
pub use metrics::{ActionCounts, Metrics};
pub use options::{
    DEFAULT_FUZZY_THRESHOLD, DEFAULT_RECENCY_WINDOW, EngineArgs, EngineOptions, PreservePattern, ProvenancePlace,
};
pub use provenance::{PROVENANCE_KEY, Provenance, summary_id};
pub use reject::{Reject, RejectReason};
