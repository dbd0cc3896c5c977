//! Notebooks: cells with what they hold. Knows how viewers and scripts tell where a cell begins.

use super::file;
use super::line::{LineRole, Lines};

const CELL: u16 = 20;

fn begins_cell(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let starts = |head: &[u8]| line.starts_with(head);
    starts(b"<cell id=") || starts(b"# %%") || starts(b"# In[") || starts(b"In [") && line.contains(&b']')
}

/// True when cells begin near the start.
pub(super) fn is(lines: Lines<'_>) -> bool {
    lines.sample().take(8).any(begins_cell)
}

pub(super) fn role(line: &[u8]) -> LineRole {
    if begins_cell(line) {
        return LineRole::needed(1, CELL);
    }
    // Declarations stand under their cell.
    let role = file::role(line);
    LineRole { level: if role.level > 0 { role.level + 1 } else { 0 }, ..role }
}

#[cfg(test)]
mod tests {
    use super::super::Call;
    use super::super::tests::check;

    #[test]
    fn cells_head_their_lines() {
        let text = "<cell id=\"a1\">import os\nx = 1</cell id=\"a1\">\n<cell id=\"b2\">\ndef f(a):\n    pass\n</cell id=\"b2\">";
        assert_eq!(check(text, Call::File).1, ["1! <cell id=\"a1\">import os", "1! <cell id=\"b2\">", "2 def f(a):"]);
    }
}
