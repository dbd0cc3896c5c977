//! What a mark hides as text for a terminal: the stretch with what is shown around it, and of which message it is. Knows
//! columns, no terminal: width and colours are told.

use console::Style;

use super::Layout;
use super::plain::{line, wrap};

/// Lines that are shown before and behind.
const AROUND: usize = 2;
/// In front of what is hidden, and of what is shown.
const HIDDEN: &str = "│ ";
const SHOWN: &str = "  ";

/// A stretch of a message that a mark hides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// The number of the mark.
    pub number: u32,
    /// The id of the conversation.
    pub id: String,
    /// The input that it came from.
    pub source: String,
    /// Its row there.
    pub source_row: u64,
    /// Index of the message before.
    pub index: usize,
    /// Its role.
    pub role: String,
    /// What the call is called that it answers.
    pub label: Option<String>,
    /// What is shown of the text before the mark.
    pub before: String,
    /// The original that is hidden.
    pub text: String,
    /// What is shown of the text behind the mark.
    pub behind: String,
}

/// The stretch as lines of text.
pub fn hidden_text(hidden: &Hidden, layout: Layout) -> String {
    let style = || Style::new().force_styling(layout.colours);
    let (bold, faint, changed) = (style().bold(), style().dim(), style().yellow());
    let mut out = String::new();
    let mut push = |style: &Style, front: &str, text: &str| {
        for line in wrap(text, layout.width.max(20) - front.chars().count()) {
            out.push_str(style.apply_to(format!("{front}{line}")).to_string().trim_end());
            out.push('\n');
        }
    };
    push(&bold, "", &format!("{} · {} row {}", line(&hidden.id), line(&hidden.source), hidden.source_row));
    let label = hidden.label.as_ref().map(|label| format!(" · {}", line(label))).unwrap_or_default();
    push(&bold, "", &format!("mark {} · message {} · {}{label}", hidden.number, hidden.index, line(&hidden.role)));
    let before: Vec<&str> = spoken(&hidden.before).collect();
    for line in before.iter().skip(before.len().saturating_sub(AROUND)) {
        push(&faint, SHOWN, line);
    }
    push(&changed, HIDDEN, hidden.text.strip_suffix('\n').unwrap_or(&hidden.text));
    for line in spoken(&hidden.behind).take(AROUND) {
        push(&faint, SHOWN, line);
    }
    out.push('\n');
    out
}

/// Lines that say something.
fn spoken(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}
