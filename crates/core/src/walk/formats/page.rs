//! Pages of a browser, as a tree of what can be read and pressed or as a text with headings. Knows one line.

use super::line::{LineRole, n_blanks};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<256>, "pages": NODES HEADS);

const HEADING: u16 = 40;
const CONTROL: u16 = 6;

/// The word for what a node is, behind a dash or a number in brackets: `- heading "Orders"`, `[12] link 'Home'`.
fn kind(line: &[u8]) -> u32 {
    let text = line.trim_ascii_start();
    let text = match text {
        [b'-' | b'*', b' ', behind @ ..] => behind,
        [b'[', ..] | [b'u', b'i', b'd', b'=', ..] => {
            text.iter().position(|byte| *byte == b' ').map_or(text, |at| &text[at + 1..])
        }
        _ => return 0,
    };
    WORDS.of(text.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default())
}

/// A node of a tree.
pub(super) fn is_node(line: &[u8]) -> bool {
    kind(line) & (NODES | HEADS) != 0
}

pub(super) fn role(line: &[u8]) -> LineRole {
    let kind = kind(line);
    let n_signs = line.iter().take_while(|&&byte| byte == b'#').count();
    if kind & HEADS != 0 {
        LineRole::head(n_blanks(line) as u16 / 2 + 1, HEADING)
    } else if (1..=6).contains(&n_signs) && line.get(n_signs) == Some(&b' ') {
        LineRole::head(n_signs as u16, HEADING)
    } else if kind & NODES != 0 && line.contains(&b'"') {
        LineRole::line(CONTROL)
    } else {
        LineRole::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::super::Call;
    use super::super::tests::check;

    #[test]
    fn headings_head_what_can_be_pressed() {
        let tree = "- main [ref=e1]:\n  - heading \"Orders\" [level=1]\n  - list:\n    - listitem: plain\n    - link \"Order 7\" [ref=e9]";
        assert_eq!(check(tree, Call::Page).1, ["2 - heading \"Orders\" [level=1]", "0 - link \"Order 7\" [ref=e9]"]);
        assert_eq!(check("# Shop\ntext\n## Cart\ntext", Call::Page).1, ["1 # Shop", "2 ## Cart"]);
    }
}
