//! Logs on stderr, for those who asked with `-v`. Knows levels, not what is logged.

use std::io::{self, Write};

use condenser::report::plain;
use tracing::level_filters::LevelFilter;

/// Starts the log; without `-v` only what needs a person is told, and that is told elsewhere.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(|| PlainStderr).with_target(false).init();
}

/// An entry comes in one piece, and may name a path or an id.
struct PlainStderr;

impl Write for PlainStderr {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(entry);
        io::stderr().write_all(plain::lines(&text).as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
