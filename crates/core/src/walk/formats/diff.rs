//! Differences: files, hunks, lines that went and came. Knows the unified form.

use super::line::{LineRole, Lines, What};

const FILE: u16 = 60;
const HUNK: u16 = 30;
const CHANGED: u16 = 8;
/// Bytes of a changed line that tells anything.
const MIN_CHANGED: usize = 16;

/// A line that no other text has.
pub(super) fn is_sure(line: &[u8]) -> bool {
    line.starts_with(b"diff --git ") || line.starts_with(b"@@ -") || line.starts_with(b"*** Begin Patch")
}

fn is_file(line: &[u8]) -> bool {
    line.starts_with(b"diff --git ") || line.starts_with(b"*** Update File: ") || line.starts_with(b"*** Add File: ")
}

pub(super) fn role(line: &[u8]) -> LineRole {
    match line {
        _ if is_file(line) => LineRole::needed(1, FILE),
        [b'@', b'@', ..] => LineRole::head(2, HUNK),
        [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => LineRole::NOTHING,
        [b'+' | b'-', behind @ ..] if behind.trim_ascii().len() >= MIN_CHANGED => LineRole::line(CHANGED),
        _ => LineRole::NOTHING,
    }
}

pub(super) fn what(lines: Lines<'_>, from: usize, to: usize) -> What {
    let n_files = (from..to).filter(|&at| is_file(lines.at(at))).count() as u32;
    if n_files > 1 { What::OfFiles(n_files) } else { What::Lines }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Call, What};

    #[test]
    fn files_head_hunks_and_hunks_their_lines() {
        let one = |name: &str| {
            format!(
                "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,2 @@ fn a()\n same\n-an old line of it\n+a new line of it\n+)\n"
            )
        };
        let (_, roles, what) = check(&format!("{}{}", one("x.rs"), one("y.rs")), Call::Other);
        let of_one =
            ["1! diff --git a/x.rs b/x.rs", "2 @@ -1,2 +1,2 @@ fn a()", "0 -an old line of it", "0 +a new line of it"];
        assert_eq!(roles.get(..4).expect("two files"), of_one);
        assert_eq!((roles.len(), what), (8, What::OfFiles(2)));
    }
}
