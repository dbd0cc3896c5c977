//! Logs on stderr: warnings for everybody, more for those who asked with `-v`. Knows levels, not what is logged.

use std::io::{self, Write};

use tracing::level_filters::LevelFilter;

use super::screen::tell;

/// Starts the log; without `-v` an entry is a plain sentence.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(|| PlainStderr).with_target(false);
    if verbose == 0 { log.without_time().with_level(false).init() } else { log.init() }
}

/// An entry comes in one piece, and becomes one line whatever it names.
struct PlainStderr;

impl Write for PlainStderr {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(entry);
        tell(text.strip_suffix('\n').unwrap_or(&text));
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
