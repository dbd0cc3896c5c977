//! How wide help is, and its colours.

use clap::builder::styling::{AnsiColor, Styles};

/// Lines are not longer, however wide the terminal is.
pub(super) const WIDTH: usize = 100;

pub(super) fn styles() -> Styles {
    Styles::styled()
        .header(AnsiColor::Green.on_default().bold())
        .usage(AnsiColor::Green.on_default().bold())
        .literal(AnsiColor::Cyan.on_default().bold())
        .placeholder(AnsiColor::Cyan.on_default())
}
