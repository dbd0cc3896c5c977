//! Results of searches: `path:12:line`, or a path and its lines beneath. Knows how tools print them.

use super::line::{LineRole, Lines, What, is_path};

/// The path of a match that is told in one line: `src/x.rs:12:…`, `src/x.rs-12-…`.
fn path_of(line: &[u8]) -> Option<&[u8]> {
    let at = memchr::memchr(b':', line).or_else(|| {
        memchr::memchr_iter(b'-', line)
            .find(|&at| line.get(at + 1).is_some_and(u8::is_ascii_digit))
            .filter(|&at| line.get(..at).is_some_and(is_path))
    })?;
    let (path, behind) = line.split_at(at);
    let n_digits = behind[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_match = n_digits > 0 && matches!(behind.get(1 + n_digits), Some(b':' | b'-' | b'(') | None);
    (is_match && !path.is_empty() && !path.iter().any(u8::is_ascii_whitespace)).then_some(path)
}

pub(super) fn is_match(line: &[u8]) -> bool {
    path_of(line).is_some()
}

/// A line of a file beneath its path: `12:let a`, `14-let b`.
fn is_numbered(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"Line ").unwrap_or(line);
    let n_digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    n_digits > 0 && matches!(line.get(n_digits), Some(b':' | b'-' | b'|'))
}

fn is_head(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    is_path(line.strip_suffix(b":").unwrap_or(line)) && !is_numbered(line) && !is_match(line)
}

/// True for matches, told in either way; names alone are a listing.
pub(super) fn is(lines: Lines<'_>) -> bool {
    let n = lines.sample().count();
    lines.sample().filter(|line| is_match(line) || is_numbered(line)).count() * 2 >= n
}

pub(super) fn role(line: &[u8]) -> LineRole {
    if is_head(line) { LineRole::needed(1, 0) } else { LineRole::NOTHING }
}

/// Matches come file by file.
pub(super) fn what(lines: Lines<'_>, from: usize, to: usize) -> What {
    let mut last: &[u8] = b"";
    let mut n_files = 0;
    for at in from..to {
        let line = lines.at(at);
        let path = path_of(line).or_else(|| is_head(line).then_some(line));
        if let Some(path) = path.filter(|&path| path != last) {
            n_files += 1;
            last = path;
        }
    }
    if n_files > 1 { What::OfFiles(n_files) } else { What::Lines }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Call, Format, What};

    #[test]
    fn matches_are_counted_by_their_files_and_a_path_heads_its_rows() {
        let flat = "src/a.rs:12:let a\nsrc/a.rs-13-let b\nsrc/b-2.rs:2:use a\nsrc/b-2.rs:9:a()";
        let (format, roles, what) = check(flat, Call::Other);
        assert_eq!((format, roles.len(), what), (Format::Search, 0, What::OfFiles(2)));
        let grouped = "src/a.rs\n12:let a\n14-let b\n\nsrc/b.rs:\n2:use a";
        let (_, roles, what) = check(grouped, Call::Matches);
        assert_eq!(roles, ["1! src/a.rs", "1! src/b.rs:"]);
        assert_eq!(what, What::OfFiles(2));
        assert_eq!(check("12:let a\n14:let b\n15:let c\n20:d", Call::Matches).2, What::Lines);
    }
}
