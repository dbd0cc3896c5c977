//! Counts in sentences: digits in groups, and the words that go with one and with many. Knows words, not what is counted.

/// `1,234,567`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A count and what is counted: `1 conversation`, `1,234 conversations`, `2 batches`, `2 replies`.
pub fn counted(n: u64, noun: &str) -> String {
    let many = match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if noun.ends_with("ch") || noun.ends_with('s') || noun.ends_with('x') => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{} {}", count(n), if n == 1 { noun } else { &many })
}

/// The word that goes with the count: `is` or `are`.
pub fn by_count<'w>(n: u64, one: &'w str, many: &'w str) -> &'w str {
    if n == 1 { one } else { many }
}

/// Names as far as there is room for them: `a, b`, or six and `and 3 more`.
pub fn few_of(names: &[&str]) -> String {
    const MAX_NAMED: usize = 6;
    let (named, more) = names.split_at(names.len().min(MAX_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", count(more.len() as u64)) };
    named.join(", ") + &more
}

/// Digits in groups of three, those after the point left alone.
pub(crate) fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && whole.chars().all(|c| c.is_ascii_digit()) && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{by_count, counted};

    #[test]
    fn words_go_with_their_count() {
        let nouns = ["part", "batch", "reply", "day", "index"];
        assert_eq!(nouns.map(|noun| counted(1, noun)), ["1 part", "1 batch", "1 reply", "1 day", "1 index"]);
        assert_eq!(
            nouns.map(|noun| counted(2000, noun)).join(", "),
            "2,000 parts, 2,000 batches, 2,000 replies, 2,000 days, 2,000 indexes"
        );
        assert_eq!([0, 1, 2].map(|n| by_count(n, "is", "are")), ["are", "is", "are"]);
    }
}
