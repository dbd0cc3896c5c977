//! What stdout is: how wide, and whether it may be painted. Knows the terminal and the environment, not what is shown.

use std::io::IsTerminal as _;

use super::environment;

/// The columns of stdout, or `otherwise` when it is no terminal or what is shown goes elsewhere; and whether colours are
/// wanted.
pub(super) fn columns_and_colours(otherwise: usize, goes_elsewhere: bool) -> (usize, bool) {
    let is_terminal = !goes_elsewhere && std::io::stdout().is_terminal();
    let seen = || is_terminal.then(|| console::Term::stdout().size_checked()).flatten();
    let width = seen().map_or(otherwise, |(_, columns)| usize::from(columns));
    let objects = environment("NO_COLOR").is_some_and(|value| !value.is_empty());
    (width, is_terminal && !objects && console::colors_enabled())
}
