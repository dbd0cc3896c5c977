//! Rows of cells: drawn with bars, or of a file that has them. Knows where their names stand.

use super::line::{LineRole, Lines};

const HEADER: u16 = 60;

/// A row between bars.
pub(super) fn is_row(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_barred = line.first() == Some(&b'|') && line.last() == Some(&b'|');
    is_barred && memchr::memchr_iter(b'|', line).count() > 2 || is_rule(line)
}

/// `|----|:---|`, `+----+----+`.
fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len() > 3 && line.iter().all(|byte| matches!(byte, b'|' | b'-' | b'+' | b':' | b' ')) && line.contains(&b'-')
}

/// The first row names the cells; so does one above a rule.
pub(super) fn role(lines: Lines<'_>, at: usize) -> LineRole {
    let is_bar = |at: usize| lines.at(at).trim_ascii_start().starts_with(b"|") && !is_rule(lines.at(at));
    let is_inner = at > 0 && is_bar(at - 1) || at > 1 && is_rule(lines.at(at - 1)) && is_bar(at - 2);
    let is_over_rule = at + 1 < lines.len() && is_rule(lines.at(at + 1)) && !is_rule(lines.at(at)) && !is_inner;
    let is_first = |at: usize| lines.lines[..at].iter().all(|line| line.len == 0) && !is_rule(lines.at(at));
    if is_over_rule && is_row(lines.at(at)) || at < 2 && is_first(at) {
        LineRole::needed(1, HEADER)
    } else {
        LineRole::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Call, What};

    #[test]
    fn the_row_with_the_names_heads_all_others() {
        let drawn = "| id | name |\n|----|------|\n| 1  | Ada  |\n| 2  | Bob  |";
        let (_, roles, what) = check(drawn, Call::Other);
        assert_eq!((roles, what), (vec!["1! | id | name |".to_owned()], What::Rows));
        assert_eq!(check("id,name\n1,Ada\n2,Bob", Call::Rows).1, ["1! id,name"]);
        let boxed = "+----+------+\n| id | name |\n+----+------+\n| 1  | Ada  |\n| 2  | Bob  |\n+----+------+";
        assert_eq!(check(boxed, Call::Other).1, ["1! | id | name |"]);
    }
}
