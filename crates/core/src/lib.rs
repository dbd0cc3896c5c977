//! The engine of condenser, for one conversation at a time: what is read from a record, what is hidden from view, the text
//! that stands for it, and the way back to the exact bytes. No file, no thread, no clock.
//!
//! The modules are the lower floors of `ARCHITECTURE.md`; each uses only itself and the floors below it.

pub mod engine;
pub mod error;
pub mod model;
pub mod shape;
pub mod stage;
pub mod summary;
pub mod text;
