//! Logs on stderr, for those who asked with `-v`. Knows levels, not what is logged.

use std::io;

use tracing::level_filters::LevelFilter;

/// Starts the log; without `-v` only what needs a person is told, and that is told elsewhere.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_target(false).init();
}
