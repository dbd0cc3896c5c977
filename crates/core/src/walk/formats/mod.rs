//! Formats of what tools return: of each line, what it heads, how much it tells a reader who sees nothing else around it, and
//! what a mark calls the lines that it hides. A format is recognised by its lines first, by the call that asked for it where
//! they leave it open. Knows lines; refuses to know what of them is used or shown.

mod diff;
mod file;
mod listing;
mod log;
mod notebook;
mod page;
mod search;
mod table;

use super::calls::Call;
use super::uses::Line;

/// Lines by which a format is recognised.
const SAMPLE: usize = 48;
/// Lines of a sample from which a share of them says anything.
const MIN_SAMPLE: usize = 3;

/// What kind of text a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// The text of a file: code, or settings.
    File,
    /// A text with headings.
    Prose,
    /// Lines of many files.
    Search,
    /// Names of files.
    Listing,
    Diff,
    /// A page of a browser, or the tree that stands for it.
    Page,
    /// Rows of cells.
    Table,
    Notebook,
    /// What a program prints.
    Log,
}

/// What a line is to those beneath it, and to a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineRole {
    /// It heads the lines beneath, up to the next one of this level or of a higher one; 1 is the highest, 0 heads nothing.
    pub(super) level: u16,
    /// What is shown beneath says little without it.
    pub(super) is_needed: bool,
    /// How much it tells; 0 is nothing.
    pub(super) worth: u16,
}

impl LineRole {
    const NOTHING: Self = Self { level: 0, is_needed: false, worth: 0 };

    /// A line without which those beneath say little.
    const fn needed(level: u16, worth: u16) -> Self {
        Self { level, is_needed: true, worth }
    }

    /// A line that says what those beneath are about.
    const fn head(level: u16, worth: u16) -> Self {
        Self { level, is_needed: false, worth }
    }

    const fn line(worth: u16) -> Self {
        Self { level: 0, is_needed: false, worth }
    }
}

/// What the lines behind a mark are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Lines of any kind.
    Lines,
    /// Lines of so many files.
    OfFiles(u32),
    /// Names of files and folders, and how many of them are in folders where nobody looks.
    Entries(u32),
    Rows,
    /// Lines of which so many say that something went well.
    Passed(u32),
    /// Lines of which so many begin with one word: where it stands.
    Steps {
        n: u32,
        from: u32,
        to: u32,
    },
}

/// The lines of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) lines: &'t [Line],
}

impl<'t> Lines<'t> {
    pub(super) fn len(self) -> usize {
        self.lines.len()
    }

    /// A line, without its line break.
    pub(super) fn at(self, number: usize) -> &'t [u8] {
        let line = &self.lines[number];
        let text = &self.bytes[line.from as usize..line.to as usize];
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// A line with its indentation, without what a viewer or a search puts in front of it.
    fn body(self, number: usize) -> &'t [u8] {
        without_number(self.at(number))
    }

    /// The first lines that are not blank.
    fn sample(self) -> impl Iterator<Item = &'t [u8]> {
        let solid = (0..self.len()).filter(move |&at| self.lines[at].len > 0);
        solid.take(SAMPLE).map(move |at| self.at(at))
    }
}

impl Format {
    /// What kind of text `lines` are, which answer `call`.
    pub(super) fn of(lines: Lines<'_>, call: Call) -> Self {
        let n = lines.sample().count();
        let share = |is: fn(&[u8]) -> bool| lines.sample().filter(|line| is(line)).count() * 100 / n.max(1);
        let enough = n >= MIN_SAMPLE;
        match call {
            Call::Text => return Self::Prose,
            Call::File => return if notebook::is(lines) { Self::Notebook } else { Self::File },
            Call::Rows => return Self::Table,
            _ => {}
        }
        if lines.sample().any(diff::is_sure) {
            Self::Diff
        } else if notebook::is(lines) {
            Self::Notebook
        } else if call == Call::Matches && enough && search::is(lines) || enough && share(search::is_match) >= 60 {
            Self::Search
        } else if enough && share(page::is_node) >= 40 {
            Self::Page
        } else if enough && share(table::is_row) >= 60 {
            Self::Table
        } else if call == Call::Names || enough && share(listing::is_entry) >= 70 {
            Self::Listing
        } else if call == Call::Page {
            Self::Page
        } else {
            Self::Log
        }
    }

    /// What each of `lines` is to the others.
    pub(super) fn roles(self, lines: Lines<'_>, roles: &mut Vec<LineRole>) {
        roles.clear();
        let of = |at: usize| match self {
            _ if lines.lines[at].len == 0 => LineRole::NOTHING,
            Self::File => file::role(lines.body(at)),
            Self::Prose => file::heading(lines.body(at)),
            Self::Search => search::role(lines.at(at)),
            Self::Listing => listing::role(lines.at(at)),
            Self::Diff => diff::role(lines.body(at)),
            Self::Page => page::role(lines.at(at)),
            Self::Table => table::role(lines, at),
            Self::Notebook => notebook::role(lines.body(at)),
            Self::Log => log::role(lines.at(at)),
        };
        roles.extend((0..lines.len()).map(of));
    }

    /// What a mark calls the lines `from..to`.
    pub(super) fn what(self, lines: Lines<'_>, (from, to): (usize, usize)) -> What {
        match self {
            Self::Search => search::what(lines, from, to),
            Self::Diff => diff::what(lines, from, to),
            Self::Listing => listing::what(lines, from, to),
            Self::Table => What::Rows,
            Self::Log => log::what(lines, from, to),
            Self::File | Self::Prose | Self::Page | Self::Notebook => What::Lines,
        }
    }
}

/// A line without the number that a viewer puts in front: `12→`, `12⇥`, `12:`, `12|`.
fn without_number(line: &[u8]) -> &[u8] {
    let trimmed = line.trim_ascii_start();
    let n_digits = trimmed.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &trimmed[n_digits..] {
        [b'\t' | b'|' | b':', behind @ ..] | [0xE2, 0x86, 0x92, behind @ ..] if n_digits > 0 => behind,
        _ => line,
    }
}

fn n_blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// True for a path: no blank, and a folder or an extension.
fn is_path(text: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-@+~*[]()$#,=\\".contains(byte) || *byte >= 0x80;
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    text.len() > 1
        && text.iter().all(is_part)
        && text.iter().any(is_word)
        && (text.contains(&b'/') || text.contains(&b'.') && text.last() != Some(&b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::uses::lines_of;

    /// Format, roles that say something, and what a mark for all lines calls them.
    pub(super) fn check(text: &str, call: Call) -> (Format, Vec<String>, What) {
        let (bytes, lines) = lines_of(text);
        let lines = Lines { bytes: &bytes, lines: &lines };
        let format = Format::of(lines, call);
        let mut roles = Vec::new();
        format.roles(lines, &mut roles);
        let told = roles.iter().zip(text.lines()).filter(|(role, _)| **role != LineRole::NOTHING);
        let told = told.map(|(role, line)| {
            let sign = if role.is_needed { "!" } else { "" };
            format!("{}{sign} {}", role.level, line.trim())
        });
        (format, told.collect(), format.what(lines, (0, lines.len())))
    }

    #[test]
    fn formats_are_told_by_their_lines_and_else_by_the_call() {
        for (text, call, format) in [
            (
                "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n a\n-b\n+c",
                Call::Other,
                Format::Diff,
            ),
            ("src/a.rs:12:let a\nsrc/a.rs:14:let b\nsrc/b.rs:2:use a\nsrc/b.rs:9:a()", Call::Other, Format::Search),
            ("src/a.rs\n12:let a\n14-let b\n\nsrc/b.rs\n2:use a", Call::Matches, Format::Search),
            ("src/a.rs\nsrc/b.rs\ndocs/c.md\nCargo.toml", Call::Matches, Format::Listing),
            (
                "total 8\ndrwxr-xr-x 2 u u 4096 Jan 1 10:00 .\n-rw-r--r-- 1 u u 12 Jan 1 10:00 a.txt\n-rw-r--r-- 1 u u 9 Jan 1 10:00 b",
                Call::Other,
                Format::Listing,
            ),
            (".\n├── src\n│   └── lib.rs\n└── Cargo.toml", Call::Other, Format::Listing),
            (
                "- heading \"Orders\" [level=1] [ref=e3]\n- link \"Home\" [ref=e4]\n- button \"Pay\" [ref=e5]\n- textbox \"Name\"",
                Call::Other,
                Format::Page,
            ),
            ("| id | name |\n|----|------|\n| 1  | Ada  |\n| 2  | Bob  |", Call::Other, Format::Table),
            ("id,name\n1,Ada\n2,Bob\n3,Eve", Call::Rows, Format::Table),
            (
                "<cell id=\"a1\">import os</cell id=\"a1\">\n<cell id=\"b2\">x = 1</cell id=\"b2\">",
                Call::File,
                Format::Notebook,
            ),
            ("fn main() {\n    a();\n    b();\n}", Call::File, Format::File),
            ("# Title\n\nWords.\n## Part\nMore words.", Call::Text, Format::Prose),
            ("running 3 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok", Call::Other, Format::Log),
            ("ok", Call::Names, Format::Listing),
            ("", Call::Other, Format::Log),
        ] {
            assert_eq!(check(text, call).0, format, "{text}");
        }
    }
}
