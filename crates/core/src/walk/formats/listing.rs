//! Names of files and folders: `ls`, `tree`, `find`. Knows how tools print them, and folders where nobody looks.

use super::line::{LineRole, Lines, What, is_path};
use crate::text::{is_tree_entry, names_noise_folder, tree_depth};

/// Names in folders where nobody looks from which they are counted apart.
const MIN_NOISE: u32 = 3;
/// Characters in front of a name of a drawn tree by one level.
const STEP: usize = 4;

fn is_row_of_ls(line: &[u8]) -> bool {
    let (kind, rest) = line.split_at(line.len().min(1));
    let is_rights = |byte: &u8| b"rwxsStT-".contains(byte);
    b"dl-cbsp".contains(kind.first().unwrap_or(&0)) && rest.len() > 9 && rest[..9].iter().all(is_rights)
}

/// How deep a name of a drawn tree stands; `None` for what is none.
fn depth(line: &[u8]) -> Option<u16> {
    let begins = line.trim_ascii_start().first().is_some_and(|byte| b"|`+\\\xE2\xC2".contains(byte));
    let line = if begins { std::str::from_utf8(line).ok()? } else { return None };
    tree_depth(line).filter(|_| is_tree_entry(line)).map(|(n, _)| (n / STEP).max(1) as u16)
}

/// A name, also with blanks in front or a slash behind.
pub(super) fn is_entry(line: &[u8]) -> bool {
    let name = line.trim_ascii();
    let name = name.strip_prefix(b"- ").unwrap_or(name);
    is_row_of_ls(line) || depth(line).is_some() || is_path(name) || line.starts_with(b"total ")
}

pub(super) fn role(line: &[u8]) -> LineRole {
    if let Some(depth) = depth(line) {
        return LineRole::needed(depth, 0);
    }
    let is_folder = line.len() > 1 && line.ends_with(b":") && is_path(&line[..line.len() - 1]);
    if is_folder { LineRole::needed(1, 0) } else { LineRole::NOTHING }
}

/// How many of the names are in folders where nobody looks, where each line is a name.
pub(super) fn what(lines: Lines<'_>, from: usize, to: usize) -> What {
    let is_apart = |at: &usize| lines.lines[*at].len > 0 && !is_entry(lines.at(*at));
    if (from..to).any(|at| is_apart(&at)) {
        return What::Lines;
    }
    let is_noise = |at: &usize| {
        let name = lines.at(*at);
        name.contains(&b'/') && std::str::from_utf8(name).is_ok_and(names_noise_folder)
    };
    let n_noise = (from..to).filter(is_noise).count() as u32;
    What::Entries(if n_noise >= MIN_NOISE { n_noise } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Call, What};

    #[test]
    fn folders_head_their_names_and_noise_is_counted() {
        let tree = ".\n├── src\n│   ├── lib.rs\n│   └── bin\n│       └── main.rs\n└── Cargo.toml";
        assert_eq!(
            check(tree, Call::Names).1,
            ["1! ├── src", "2! │   ├── lib.rs", "2! │   └── bin", "3! │       └── main.rs", "1! └── Cargo.toml"]
        );
        assert_eq!(check("a.rs  b.rs  c.rs\nd.rs  e.rs\nf.rs  g.rs", Call::Names).2, What::Lines);
        let found = "./src/a.rs\n./node_modules/x/a.js\n./node_modules/x/b.js\n./node_modules/y/c.js";
        assert_eq!(check(found, Call::Names).2, What::Entries(3));
        assert_eq!(check("src/:\na.rs\n\ndocs/:\nb.md", Call::Names).1, ["1! src/:", "1! docs/:"]);
    }
}
