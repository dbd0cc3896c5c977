//! The terminal: the only place that opens stdout and stderr. Whatever is told on stderr, and whatever a terminal shows,
//! passes the filter of [`plain`] here. Knows the terminal and the environment, not what is shown.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use condenser::io::store::without_secrets;
use condenser::report::plain;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::Value;
use tokio::io::AsyncWrite;

/// When there are colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless the variable `NO_COLOR` is set.
    #[default]
    Auto,
    /// In files and pipes too.
    Always,
    /// Nowhere.
    Never,
}

/// What was asked for, once for all.
static COLORS: OnceLock<ColorWhen> = OnceLock::new();

/// Sets when there are colours; the first call counts.
pub(super) fn set_colors(when: ColorWhen) {
    COLORS.get_or_init(|| when);
}

/// Whether what goes to a terminal, or not to one, has colours. `console` knows what terminals can do.
fn has_colours(is_terminal: bool, can: impl FnOnce() -> bool) -> bool {
    match COLORS.get().copied().unwrap_or_default() {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            let objects = environment("NO_COLOR").is_some_and(|value| !value.is_empty());
            is_terminal && !objects && can()
        }
    }
}

/// Whether stderr has colours.
pub(super) fn stderr_has_colours() -> bool {
    has_colours(io::stderr().is_terminal(), console::colors_enabled_stderr)
}

/// Tells one line on stderr: line feeds in it are written out, and what addresses keep secret is left out.
pub(super) fn tell(line: &str) {
    to_stderr(&format!("{}\n", plain::line(&without_secrets(line))));
}

/// The same behind a word that says what it is, such as `error:`, in its colour.
pub(super) fn tell_marked(word: &str, line: &str) {
    let line = plain::line(&without_secrets(line)).into_owned();
    let style = console::Style::new().for_stderr().force_styling(stderr_has_colours()).bold();
    let style = if word == "error:" { style.red() } else { style.cyan() };
    to_stderr(&format!("{} {line}\n", style.apply_to(word)));
}

/// Tells lines on stderr that are plain already, in colours where they are wanted.
pub(super) fn tell_styled(plain: &str, coloured: &str) {
    to_stderr(if stderr_has_colours() { coloured } else { plain });
}

/// Tells machines something on stderr, as one line of JSON.
pub(super) fn tell_json(value: &Value) {
    to_stderr(&format!("{}\n", plain::json(&value.to_string())));
}

fn to_stderr(text: &str) {
    // Nobody is left to tell when stderr is closed.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// A variable of the environment.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// True when somebody watches stderr.
pub(super) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// A bar on stderr; the texts in it must be plain lines.
pub(super) fn bar() -> ProgressBar {
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
}

/// The columns of stdout, or `otherwise` when it is no terminal or what is shown goes elsewhere; and whether colours are
/// wanted.
pub(super) fn columns_and_colours(otherwise: usize, goes_elsewhere: bool) -> (usize, bool) {
    let is_terminal = !goes_elsewhere && io::stdout().is_terminal();
    let seen = || is_terminal.then(|| console::Term::stdout().size_checked()).flatten();
    let width = seen().map_or(otherwise, |(_, columns)| usize::from(columns));
    (width, !goes_elsewhere && has_colours(is_terminal, console::colors_enabled))
}

/// What stdout is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// Bytes that are meant to be exact. In a file and a pipe they are; a terminal shows them plain.
    Data,
    /// Text for people, plain wherever it goes. Colours are our own and are there only when they are wanted.
    Report,
}

/// Stdout.
#[derive(Debug)]
pub(super) struct Stdout {
    /// `None` when bytes pass as they are.
    filter: Option<fn(&str) -> Cow<'_, str>>,
    /// The beginning of a character that was cut.
    held: Vec<u8>,
}

impl Stdout {
    pub(super) fn new(given: Given) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let filter: Option<fn(&str) -> Cow<'_, str>> = match given {
            Given::Data if !is_terminal => None,
            Given::Report if columns_and_colours(0, false).1 => Some(plain::painted),
            Given::Data | Given::Report => Some(plain::lines),
        };
        Self { filter, held: Vec::new() }
    }

    /// The same for a filter that must not wait.
    pub(super) fn unblocked(given: Given) -> Box<dyn AsyncWrite + Send + Unpin> {
        let stdout = Self::new(given);
        // A terminal is read by a person, who is waited for.
        if stdout.filter.is_some() { Box::new(stdout) } else { Box::new(tokio::io::stdout()) }
    }
}

/// Stdout for the floors below.
pub(super) fn stdout_for(given: Given) -> Box<dyn Write + Send> {
    Box::new(Stdout::new(given))
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(filter) = self.filter else { return io::stdout().write(bytes) };
        self.held.extend_from_slice(bytes);
        let (text, n_taken) = plain::bytes(&self.held, filter);
        self.held.drain(..n_taken);
        io::stdout().write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let cut: String = self.held.drain(..).map(plain::byte).collect();
        io::stdout().write_all(cut.as_bytes())?;
        io::stdout().flush()
    }
}

impl AsyncWrite for Stdout {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.write(bytes))
    }
    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.flush())
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.flush())
    }
}
