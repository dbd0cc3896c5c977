//! All integration tests in one binary: one link, one place to look.

#![expect(missing_docs, missing_debug_implementations, reason = "tests are their own documentation")]
#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test may fail loudly")]

mod classify;
mod cli;
mod corpora;
mod defects;
mod engine;
mod metrics;
mod pipeline;
mod restore;
mod shapes;
mod support;
mod text;
mod tidy;
