//! All integration tests in one binary: one link, one place to look.

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
