//! Formats of what tools return: of each line, what it heads, how much it tells a reader who sees nothing else around it, and
//! what a mark calls the lines that it hides. A format is recognised by its lines first, by the call that asked for it where
//! they leave it open. Knows lines; refuses to know what of them is used or shown.

mod diff;
mod file;
mod line;
mod listing;
mod log;
mod notebook;
mod page;
mod search;
mod table;

use super::calls::Call;
pub(super) use line::{LineRole, Lines, What};

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
