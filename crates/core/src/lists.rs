//! Lists of words as data: the files of `words/`, cut into their lines when the crate is compiled. Knows lines and headings,
//! not what a word means.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// The lines under `# name` in a file of `words/`. What stands in quotes stands for what is inside them.
macro_rules! words {
    ($file:literal, $name:literal) => {{
        const SECTION: &str =
            $crate::lists::section(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/words/", $file)), $name);
        const LINES: [&str; $crate::lists::count(SECTION)] = $crate::lists::lines(SECTION);
        &LINES
    }};
}
pub(crate) use words;

/// Values by name.
pub(crate) type Values = HashMap<&'static str, &'static str, FixedState>;

/// Of rows that begin with a value, which names follow: the value by name.
pub(crate) fn by_name(rows: &[&'static str]) -> Values {
    let mut values = Values::default();
    for row in rows {
        let (value, names) = row.split_once(' ').unwrap_or((row, ""));
        names.split(' ').for_each(|name| {
            values.entry(name).or_insert(value);
        });
    }
    values
}

/// What stands under `# name`, up to an empty line.
pub(crate) const fn section(text: &'static str, name: &str) -> &'static str {
    let mut rest = text;
    while !rest.is_empty() {
        let (line, behind) = cut(rest);
        rest = behind;
        if is_heading(line, name) {
            let mut left = rest;
            loop {
                let (line, behind) = cut(left);
                if line.is_empty() {
                    return rest.split_at(rest.len() - left.len()).0;
                }
                left = behind;
            }
        }
    }
    panic!("no list has this name");
}

/// Number of lines.
pub(crate) const fn count(text: &str) -> usize {
    let (mut n, mut rest) = (0, text);
    while !rest.is_empty() {
        rest = cut(rest).1;
        n += 1;
    }
    n
}

/// The lines, each without the quotes around it.
pub(crate) const fn lines<const N: usize>(text: &'static str) -> [&'static str; N] {
    let (mut lines, mut at, mut rest) = ([""; N], 0, text);
    while at < N {
        let (line, behind) = cut(rest);
        lines[at] = match line.as_bytes() {
            [b'"', .., b'"'] => line.split_at(line.len() - 1).0.split_at(1).1,
            _ => line,
        };
        rest = behind;
        at += 1;
    }
    lines
}

/// The first line without its end, and what follows it.
const fn cut(text: &str) -> (&str, &str) {
    let mut at = 0;
    while at < text.len() {
        if text.as_bytes()[at] == b'\n' {
            return (text.split_at(at).0, text.split_at(at + 1).1);
        }
        at += 1;
    }
    (text, "")
}

const fn is_heading(line: &str, name: &str) -> bool {
    let (line, name) = (line.as_bytes(), name.as_bytes());
    if line.len() != name.len() + 2 || line[0] != b'#' {
        return false;
    }
    let mut at = 0;
    while at < name.len() && line[at + 2] == name[at] {
        at += 1;
    }
    at == name.len()
}

#[cfg(test)]
mod tests {
    use super::{by_name, count, lines, section};

    #[test]
    fn a_list_is_what_stands_under_its_heading() {
        const TEXT: &str = "# one\na\nb c\n\n# two\n\"d \"\n\"\"e\"\"\n\"\"";
        assert_eq!(lines::<{ count(section(TEXT, "one")) }>(section(TEXT, "one")), ["a", "b c"]);
        assert_eq!(lines::<{ count(section(TEXT, "two")) }>(section(TEXT, "two")), ["d ", "\"e\"", ""]);
        assert_eq!(by_name(&["3 three drei", "4 four"]).get("drei"), Some(&"3"));
    }
}
