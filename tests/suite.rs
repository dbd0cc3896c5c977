//! All integration tests in one binary: one link, one place to look.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

mod adapters;
mod answers;
mod app;
mod arguments;
mod attack;
mod bombs;
mod browser;
mod budgets;
mod budgets_by_use;
mod calibrate;
mod classic;
mod classify;
mod cli;
mod compaction;
mod consult;
mod corpora;
mod crash;
mod damage;
mod dataset;
mod dataset_corpora;
mod defects;
mod documents;
mod drift;
mod endings;
mod engine;
mod entropy;
mod events;
mod explain;
mod exports;
mod flow;
mod formats;
mod get;
mod giants;
mod help;
mod html;
mod inputs;
mod insert_then_compress;
mod job;
mod kept;
mod leftovers;
mod linear;
#[cfg(feature = "llm")]
mod llm_batch;
#[cfg(feature = "llm")]
mod llm_cache;
#[cfg(feature = "llm")]
mod llm_client;
mod llm_job;
#[cfg(feature = "llm")]
mod llm_learn;
#[cfg(feature = "llm")]
mod llm_protocol;
#[cfg(feature = "llm")]
mod llm_run;
mod locks;
mod logs;
mod look_ahead;
mod ls;
#[cfg(all(feature = "llm", feature = "remote"))]
mod manual;
mod maps;
mod marks;
mod media;
mod metrics;
mod native;
mod nightly;
mod nights;
mod nights_mended;
mod nights_merged_meanwhile;
mod nights_sessions;
mod originals;
mod packed;
mod pipeline;
mod policy;
mod prepass;
mod prompts;
mod reasoning;
#[cfg(feature = "remote")]
mod remote_nights;
#[cfg(feature = "remote")]
mod remote_runs;
mod report;
mod restore;
mod resume;
mod rolling;
mod row_batches;
mod rows;
mod selection;
mod shape_tables;
mod shapes;
mod show;
mod shown;
mod split;
mod spoken;
#[cfg(feature = "remote")]
mod store;
mod support;
mod sweep;
mod target;
mod text;
mod tidy;
mod timings;
#[cfg(feature = "tokenizers")]
mod tokens;
mod told;
mod turns;
mod uses;
mod verbatim_maps;
mod written;
