//! The engine of condenser, for one conversation at a time: what is read from a record, what is hidden from view, the text
//! that stands for it, and the way back to the exact bytes. No file, no thread, no clock.
//!
//! ```
//! use condenser_core::{Compressor, Options, restore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let log: String = (0..400).map(|n| format!("test keeps_row_{n} ... ok\\n")).collect();
//! let record = format!(
//!     r#"{{"messages": [
//!     {{"role": "user", "content": "Why does the nightly job fail?"}},
//!     {{"role": "tool", "content": "{log}test syncs ... FAILED: disk full\\n399 passed, 1 failed\\n"}},
//!     {{"role": "assistant", "content": "The disk of the runner is full."}}]}}"#
//! );
//! let mut compressor = Compressor::new(Options { recency_window: 1, ..Options::default() })?;
//! let compressed = compressor.compress(&record)?;
//! assert!(compressed.record.len() < record.len() / 10);
//! assert!(compressed.record.contains("disk full") && compressed.record.contains("399 passed, 1 failed"));
//! println!("{} decisions, ratio {:.1}", compressed.decisions.len(), compressed.metrics.ratio);
//!
//! let sidecar = serde_json::to_string(&compressed.sidecar)?;
//! assert_eq!(restore(&compressed.record, &serde_json::from_str(&sidecar)?)?, record);
//! # Ok(())
//! # }
//! ```
//!
//! What stands below is the front door. The modules behind it are the lower floors of condenser itself; they are public for
//! the package `condenser`, change with it, and are described in `ARCHITECTURE.md`.

#[doc(hidden)]
pub mod chat;
mod compressor;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod shape;
#[doc(hidden)]
pub mod stage;
#[doc(hidden)]
pub mod summary;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod walk;

pub use compressor::{Compressed, Compressor, Sidecar, restore};
#[doc(inline)]
pub use error::{Error, ErrorKind, Result};
#[doc(inline)]
pub use model::{
    Action, ActionCounts, AdapterName, AssistantText, BudgetOutcome, BudgetStrategy, ChunkPolicy, ClassifierMode,
    ClassifierSource, CompactionOutcome, CompressionDepth, Decision, EngineOptions as Options, EntropyMode, FieldMap,
    Grounding, HideBy, Images, KeepCopy, LookAhead, Metrics, PreservePattern, Preset, ProvenancePlace, Reason, Reject,
    RejectReason, ShapeName, Summarizer, SystemPrompts, Tokenizer, UnitCounts, Users,
};
#[doc(inline)]
pub use summary::{Adapter, Draft, Spoken, Wanted};
#[doc(inline)]
pub use text::{TextView, tokens::TokenCounter};
#[doc(inline)]
pub use walk::UseModel;
