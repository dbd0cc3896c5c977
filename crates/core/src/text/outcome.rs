//! Lines that state how something ended: exit statuses, totals of tests and builds, verdicts, change counts. Knows the
//! grammar of such a line, one line at a time; refuses to know the kind of the text.

mod counts;
mod vocabulary;

use super::lexed::{Line, LineKind, Severity};
use super::view::TextView;

use counts::counts;
use vocabulary::{BARE, CHANGED, CODE, EXIT, FILES, SUBJECT, VALUE, Word};

/// What a line says of how something ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// What kind of statement it is.
    pub kind: OutcomeKind,
    /// An exit status other than 0, a count of failures other than 0, a verdict that something failed.
    pub is_bad: bool,
}

/// Kinds of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeKind {
    /// `Process exited with code 1`, `exit status 2`, `fsck exit: 0`
    Exit,
    /// `12 passed, 1 failed`, `Tests run: 3, Failures: 0`, `OK (5 tests, 9 assertions)`
    Counts,
    /// `PASS`, `OK`, `BUILD FAILED in 3s`
    Verdict,
    /// `2 files changed, 13 insertions(+)`
    Changes,
}

/// Outcomes that are shown whatever the budget says; of more, the bad ones and the last ones.
const MAX_SHOWN: usize = 8;
/// A longer line states something else.
const MAX_BYTES: usize = 240;
/// Tokens that are looked at.
const MAX_TOKENS: usize = 48;
/// Words before `exit: 0`: what ended.
const MAX_SUBJECT: usize = 4;

/// The outcomes of a text that no shorter form of it may leave out, in their order.
#[must_use]
pub fn outcomes<'v>(view: &'v TextView<'_>) -> Vec<(&'v Line, Outcome)> {
    let mut found: Vec<(&Line, Outcome)> =
        view.lines.iter().filter_map(|line| Some((line, outcome_of(view, line)?))).collect();
    // Of equal lines the last one stays.
    let mut seen = std::collections::HashSet::<&str, foldhash::fast::FixedState>::default();
    found.reverse();
    found.retain(|(line, _)| seen.insert(line.span.of(view.text).trim()));
    let mut rank: Vec<usize> = (0..found.len()).collect();
    rank.sort_by_key(|&at| (at > 0 && !found[at].1.is_bad, at));
    rank.truncate(MAX_SHOWN);
    let mut at = 0..;
    found.retain(|_| at.next().is_some_and(|at| rank.contains(&at)));
    found.reverse();
    found
}

/// The outcome that a line of `view` states.
#[must_use]
pub fn outcome_of(view: &TextView<'_>, line: &Line) -> Option<Outcome> {
    let may_state = matches!(line.severity, Severity::Totals | Severity::Failure) && may_state(line.kind);
    if may_state { outcome(line.span.of(view.text)) } else { None }
}

/// False for what quotes a file.
pub(super) fn may_state(kind: LineKind) -> bool {
    !matches!(
        kind,
        LineKind::Code
            | LineKind::Diff
            | LineKind::Grep
            | LineKind::Json
            | LineKind::Quote
            | LineKind::TableRow
            | LineKind::Trace
            | LineKind::Prompt
    )
}

/// The outcome that a line states, by itself.
#[must_use]
pub fn outcome(line: &str) -> Option<Outcome> {
    let line = line.trim();
    if line.len() > MAX_BYTES || line.is_empty() {
        return None;
    }
    if let Some(is_bad) = verdict(line) {
        return Some(Outcome { kind: OutcomeKind::Verdict, is_bad });
    }
    let tokens = tokens(line.as_bytes());
    if let Some(is_bad) = exit(&tokens) {
        return Some(Outcome { kind: OutcomeKind::Exit, is_bad });
    }
    if is_changes(&tokens) {
        return Some(Outcome { kind: OutcomeKind::Changes, is_bad: false });
    }
    counts(line, &tokens).map(|is_bad| Outcome { kind: OutcomeKind::Counts, is_bad })
}

/// Nothing but a verdict; true for one that something failed.
fn verdict(line: &str) -> Option<bool> {
    match line.trim_end_matches("(core dumped)").trim_end_matches(['.', '!', ' ']) {
        "OK" | "PASS" | "PASSED" | "SUCCESS" => Some(false),
        "FAIL" | "FAILED" | "FAILURES" | "FAILURE" | "Killed" | "Aborted" | "Terminated" | "Segmentation fault" => {
            Some(true)
        }
        _ => {
            let rest = ["BUILD ", "[INFO] BUILD ", "[ERROR] BUILD "].iter().find_map(|head| line.strip_prefix(head))?;
            let word = rest.split(' ').next().unwrap_or_default();
            match word {
                "SUCCESSFUL" | "SUCCESS" => Some(false),
                "FAILED" | "FAILURE" => Some(true),
                _ => None,
            }
        }
    }
}

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Number(u64),
    /// Letters, also with hyphens and underscores; a plural in brackets left out.
    Word(Word<'a>),
    /// `:` or `=`
    Colon,
    /// A mark at which a count may end: brackets, bars, punctuation.
    Break,
    /// Anything else: durations, paths, signs.
    Other,
}

fn tokens(line: &[u8]) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&byte) = line.get(at).filter(|_| out.len() < MAX_TOKENS) {
        let run = |is: fn(&u8) -> bool| line.iter().skip(at).take_while(|byte| is(byte)).count();
        let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80);
        let (token, n) = match byte {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b':' | b'=' => (
                if line.get(at + 1) == Some(&byte) { Token::Other } else { Token::Colon },
                run(|byte| b":=".contains(byte)),
            ),
            _ if b",;|()[]<>.!?".contains(&byte) => (Token::Break, 1),
            b'0'..=b'9' => {
                let n = run(|byte| byte.is_ascii_digit() || *byte == b',');
                let digits = line.get(at..at + n).unwrap_or_default();
                let n = n - digits.iter().rev().take_while(|byte| **byte == b',').count();
                // `0.3s`, `12ms`, `83%`, `2024-05-01`, `12:30` are no counts.
                let rest = line.get(at + n..).unwrap_or_default();
                let goes_on = is_part(rest.first())
                    || matches!(rest, [b'.' | b':' | b'/' | b'-' | b'_', next, ..] if next.is_ascii_alphanumeric())
                    || rest.first() == Some(&b'%');
                if goes_on {
                    (Token::Other, line.iter().skip(at).take_while(|byte| !b" \t,;|()[]".contains(byte)).count())
                } else {
                    let value = digits.iter().filter(|byte| byte.is_ascii_digit());
                    (
                        Token::Number(
                            value.fold(0, |sum: u64, digit| {
                                sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
                            }),
                        ),
                        n,
                    )
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                let n = run(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-'));
                let word = line.get(at..at + n).unwrap_or_default();
                let rest = line.get(at + n..).unwrap_or_default();
                let is_path = matches!(rest, [b'.' | b'/' | b':' | b'#', next, ..] if next.is_ascii_alphabetic() || *next == b':');
                if is_part(rest.first()) || is_path || rest.starts_with(b"/") {
                    let n = line.iter().skip(at).take_while(|byte| !b" \t,;|()[]=".contains(byte)).count();
                    // The colon behind a path is none of it.
                    (Token::Other, n - usize::from(n > 1 && line.get(at + n - 1) == Some(&b':')))
                } else {
                    (Token::Word(Word::of(word)), n + if rest.starts_with(b"(s)") { 3 } else { 0 })
                }
            }
            _ => {
                let n = line
                    .iter()
                    .skip(at)
                    .take_while(|byte| !byte.is_ascii_alphanumeric() && !b" \t,;|()[]=:<".contains(byte))
                    .count();
                (Token::Other, n.max(1))
            }
        };
        out.push(token);
        at += n.max(1);
    }
    out
}

/// An exit status at the end of its line; true for one other than 0.
fn exit(tokens: &[Token<'_>]) -> Option<bool> {
    let at = tokens.iter().position(|token| matches!(token, Token::Word(word) if word.is(EXIT)))?;
    let Token::Word(verb) = tokens[at] else { return None };
    let (mut says_so, mut is_plain) = (!verb.is(BARE), false);
    let mut rest = tokens.get(at + 1..)?.iter();
    let number = loop {
        match rest.next()? {
            Token::Number(number) => break *number,
            Token::Word(word) if word.is(CODE) => says_so = true,
            Token::Word(word) if word.is(VALUE) => {}
            Token::Colon => is_plain = true,
            Token::Break | Token::Other => {}
            Token::Word(_) => return None,
        }
    };
    let ends = |token: &Token<'_>| match token {
        Token::Word(word) => *word == verb || word.is(CODE),
        Token::Break | Token::Other | Token::Colon => true,
        Token::Number(_) => false,
    };
    let before = tokens.get(..at)?;
    let mut words = before.iter().filter_map(|token| if let Token::Word(word) = token { Some(*word) } else { None });
    let is_stamped = before.len() > 1 && words.clone().next().is_none() && before.contains(&Token::Break);
    let is_statement = if is_plain && !says_so {
        words.count() <= MAX_SUBJECT && !before.contains(&Token::Colon)
    } else {
        (says_so || is_stamped) && words.all(|word| word.is(SUBJECT))
    };
    (is_statement && rest.all(ends)).then_some(number != 0)
}

/// `2 files changed, 13 insertions(+), 6 deletions(-)`
fn is_changes(tokens: &[Token<'_>]) -> bool {
    matches!(tokens, [Token::Number(_), Token::Word(files), Token::Word(changed), rest @ ..]
        if files.is(FILES) && changed.is(CHANGED) && rest.first().is_none_or(|token| *token == Token::Break))
}

#[cfg(test)]
mod tests {
    use super::{OutcomeKind, outcome};

    #[track_caller]
    pub(super) fn check(kind: Option<OutcomeKind>, is_bad: bool, lines: &[&str]) {
        let wrong: Vec<_> = lines
            .iter()
            .map(|line| (line, outcome(line)))
            .filter(|(_, found)| {
                found.map(|found| found.kind) != kind || found.is_some_and(|found| found.is_bad != is_bad)
            })
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn exit_statuses_of_all_harnesses_are_outcomes() {
        let good = [
            "Process exited with code 0",
            "[Command finished with exit code 0]",
            "Exit code 0",
            "Exit code: 0",
            "=== exit: 0 ===",
            "go test exit=0",
            "fsck exit: 0",
            "verify-tag exit: 0",
            "exit status 0",
            "<returncode>0</returncode>",
            "Exit Code: 0",
            "exit_code: 0",
            "[02:05:58] exit 0",
            "Process finished with exit code 0",
            "returncode=0",
            "exit: 0",
            "(exit code: 0)",
            "[The command completed with exit code 0.]",
        ];
        check(Some(OutcomeKind::Exit), false, &good);
        let bad = [
            "Process exited with code 137",
            "Command exited with code 1",
            "npm ERR! Exit status 1",
            "=== push exit: 128 ===",
            "Error: Process completed with exit code 2.",
            "exit status 2",
            "[02:05:58] exit 101",
            "gated test exit=1",
            "Exit code 1",
            "error: the command returned a non-zero code: 2",
        ];
        check(Some(OutcomeKind::Exit), true, &bad);
        let none = [
            "exit 1",
            "    exit 1",
            "The hook should succeed (exit code 0) but output JSON",
            "Returns exit code 1 when it fails",
            "exit the editor with code 3 lines",
            "We exit: 3 of us",
            "line 12: exit early",
        ];
        check(None, false, &none);
    }
}
