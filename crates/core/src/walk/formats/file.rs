//! Files as they are read: what declares something, imports, sections of settings; headings of texts. Knows one line.

use super::line::{LineRole, n_blanks};
use crate::text::words::{Table, word_table};

word_table!(WORDS: Table<128>, "signatures": FIRST MEMBERS IMPORTS);

const HEADING: u16 = 40;
const SIGNATURE: u16 = 30;
const INNER: u16 = 16;
const SECTION: u16 = 20;
const IMPORT: u16 = 4;

/// Levels of indentation of a declaration that tells anything.
const MAX_INDENT: usize = 8;

/// What a line of code or settings is.
pub(super) fn role(line: &[u8]) -> LineRole {
    let indent = n_blanks(line);
    let code = line.trim_ascii();
    if indent > MAX_INDENT {
        return LineRole::NOTHING;
    }
    let is_section = indent == 0 && code.first() == Some(&b'[') && code.last() == Some(&b']') && code.len() > 2;
    if is_section {
        return LineRole::head(1, SECTION);
    }
    let ends = code.last().is_some_and(|byte| b"{:(,)".contains(byte));
    if !ends && indent > 0 {
        return LineRole::NOTHING;
    }
    let word = code.split(|byte| b" (<!:".contains(byte)).next().unwrap_or_default();
    let flags = WORDS.of(word);
    if ends && indent == 0 && flags & FIRST != 0 {
        return LineRole::head(1, SIGNATURE);
    }
    if ends && indent > 0 && flags & MEMBERS != 0 {
        return LineRole::head(2, INNER);
    }
    if indent == 0 && flags & IMPORTS != 0 { LineRole::line(IMPORT) } else { LineRole::NOTHING }
}

/// What a line of a text with headings is.
pub(super) fn heading(line: &[u8]) -> LineRole {
    let n_signs = line.iter().take_while(|&&byte| byte == b'#').count();
    let is_heading = (1..=6).contains(&n_signs) && line.get(n_signs) == Some(&b' ');
    if is_heading { LineRole::head(n_signs as u16, HEADING) } else { LineRole::NOTHING }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Call, What};

    #[test]
    fn declarations_sections_and_headings_head_what_stands_beneath() {
        let code = "     1→use std::fs;\n     2→\n     3→pub fn read(path: &Path) -> String {\n     4→    fs::read(path)\n     5→}\n     6→impl Reader {\n     7→    fn next(&self) {\n     8→        step();";
        let (_, roles, what) = check(code, Call::File);
        assert_eq!(
            roles,
            [
                "0 1→use std::fs;",
                "1 3→pub fn read(path: &Path) -> String {",
                "1 6→impl Reader {",
                "2 7→    fn next(&self) {"
            ]
        );
        assert_eq!(what, What::Lines);
        assert_eq!(check("[package]\nname = \"x\"\n[[bin]]\npath = 1", Call::File).1, ["1 [package]", "1 [[bin]]"]);
        assert_eq!(check("# A\ntext\n### B\n#no", Call::Text).1, ["1 # A", "3 ### B"]);
    }
}
