//! Commands that a person may copy into a POSIX shell, harmless to look at. Knows words and their quotes, no command.

use super::plain;

/// `command` with its operands, and with `options` in a place where operands that begin with `-` stay operands.
pub fn command(command: &str, operands: &[&str], options: &str) -> String {
    let has_dash = operands.iter().any(|operand| operand.starts_with('-'));
    let operands = operands.iter().map(|operand| quoted(operand)).collect::<Vec<_>>().join(" ");
    let words = if has_dash { [command, options, "--", &operands] } else { [command, &operands, options, ""] };
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A word as the shell reads it; what would drive a terminal is written out as `$'…'` has it.
pub fn quoted(word: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    if *plain::line(word) == *word {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let escape = |c: char| match c {
        '\\' => "\\\\".to_owned(),
        '\'' => "\\'".to_owned(),
        ' '..='~' => c.to_string(),
        '\u{10000}'.. => format!("\\U{:08x}", u32::from(c)),
        _ => format!("\\u{:04x}", u32::from(c)),
    };
    format!("$'{}'", word.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{command, quoted};

    #[test]
    fn words_are_quoted_for_a_shell_and_drive_no_terminal() {
        assert_eq!(quoted("chat/1"), "chat/1");
        assert_eq!(quoted("it's a $HOME"), "'it'\\''s a $HOME'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a\u{1b}[2J'\u{e0041}"), "$'a\\u001b[2J\\'\\U000e0041'");
    }

    #[test]
    fn operands_stay_operands() {
        assert_eq!(command("condenser show", &["run", "a b"], "--html FILE"), "condenser show run 'a b' --html FILE");
        assert_eq!(
            command("condenser show", &["-run", "-id"], "--html FILE"),
            "condenser show --html FILE -- -run -id"
        );
        assert_eq!(command("condenser run", &["job.toml"], ""), "condenser run job.toml");
    }
}
