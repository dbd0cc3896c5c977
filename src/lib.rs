//! condenser compresses corpora of chat and agent transcripts without losing anything: old prose becomes
//! extractive summaries, repetitions become references, structure stays as it is, and a verbatim sidecar
//! brings every original back byte for byte.
//!
//! The modules are the floors of `ARCHITECTURE.md`; each uses only itself and the floors below it.

/// A `Debug` that shows some fields: the others hold secrets, or are of types that have none.
macro_rules! shows {
    ($type:ty { $($field:ident),* }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field(stringify!($field), &self.$field))*.finish_non_exhaustive()
            }
        }
    };
}

pub mod app;
#[cfg(any(feature = "llm", feature = "remote"))]
mod backoff;
mod durable;
pub mod io;
#[cfg(feature = "llm")]
pub mod llm;
pub mod pipeline;
pub mod report;
#[cfg(any(feature = "llm", feature = "remote"))]
mod tls;

use condenser_core::walk;
pub use condenser_core::{chat, engine, error, model, shape, stage, summary, text};
