//! Lines that state how something ended: exit statuses, totals of tests and builds with the nouns of some twenty of them,
//! verdicts, change counts. Knows the words and the grammar of such a line, one line at a time; refuses to know the kind of
//! the text.

use super::lexed::{Line, LineKind, Severity};
use super::view::TextView;
use super::words::{Table, word_table};

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
    let is_report = matches!(line.severity, Severity::Totals | Severity::Failure);
    let found =
        if is_report && may_state(line.kind, line.indent == 0) { outcome(line.span.of(view.text)) } else { None };
    found.filter(|found| !line.kind.is_code() || found.kind == OutcomeKind::Exit)
}

/// False for what quotes a file. An assignment of an exit status, `exit_code=1`, looks like code.
pub(super) fn may_state(kind: LineKind, may_assign: bool) -> bool {
    use LineKind::{Grep, Json, Prompt, Quote, Trace, TraceHead};
    let quotes = kind.is_diff() || kind.is_row() || matches!(kind, Grep | Json | Prompt | Quote | Trace | TraceHead);
    !quotes && (may_assign || !kind.is_code())
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
                    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
                    (Token::Number(digits.iter().filter(|byte| byte.is_ascii_digit()).fold(0, add)), n)
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

/// Words of a line of counts that belong to no count.
const MAX_FOREIGN: usize = 5;
/// In a sentence.
const MAX_FOREIGN_IN_SENTENCE: usize = 2;

/// What a count says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noun {
    /// Failures, errors.
    Bad,
    /// Anything else that happens to tests and builds.
    Other,
    /// What is counted.
    Measure,
}

fn noun(word: Word<'_>) -> Option<Noun> {
    if word.is(BAD) {
        Some(Noun::Bad)
    } else if word.is(HAPPENS) {
        Some(Noun::Other)
    } else {
        word.is(MEASURE).then_some(Noun::Measure)
    }
}

/// Counts of tests, errors and the like; true when some of them failed.
fn counts(line: &str, tokens: &[Token<'_>]) -> Option<bool> {
    let word_at = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => Some(*word),
        _ => None,
    };
    let number_at = |at: usize| match tokens.get(at) {
        Some(Token::Number(number)) => Some(*number),
        _ => None,
    };
    // `no issues found`
    let no_at = |at: usize| word_at(at).filter(|word| word.is(NO)).map(|_| 0);
    let is_grammar = |word: Word<'_>| word.is(GRAMMAR | BAD | HAPPENS | MEASURE);
    let (mut n_outcomes, mut n_measures, mut n_foreign, mut is_bad, mut first) = (0, 0, 0, false, None);
    let mut at = 0;
    while at < tokens.len() {
        let mut count = None;
        if let Some(number) = number_at(at).or_else(|| no_at(at)) {
            // `12 passed`, `12 tests passed`, `3 source files`
            let mut next = at + 1;
            let is_measure = |at: usize| word_at(at).and_then(noun) == Some(Noun::Measure);
            next += usize::from(is_measure(next) && word_at(next + 1).and_then(noun).is_some());
            // `2 failed attempts` counts attempts.
            let is_closed = word_at(next + 1).is_none_or(is_grammar);
            count = word_at(next).and_then(noun).filter(|_| is_closed).map(|noun| (noun, number, next));
        } else if let (Some(noun), Some(Token::Colon), Some(number)) =
            (word_at(at).and_then(noun), tokens.get(at + 1), number_at(at + 2))
        {
            // `Failures: 1`, but not `Tests: 1 failed`
            let is_own = word_at(at + 3).and_then(self::noun).is_none();
            count = is_own.then_some((noun, number, at + 2));
        } else if let (0 | 1, Some(noun), Some(number), true) =
            (at, word_at(at).and_then(noun), number_at(at + 1), tokens.len() == at + 2)
        {
            // `# pass 11`
            let is_marked = at == 1 && tokens[0] == Token::Other;
            count = is_marked.then_some((noun, number, at + 1));
        }
        if let Some((noun, number, end)) = count {
            first = first.or(Some(at));
            is_bad |= noun == Noun::Bad && number > 0;
            *(if noun == Noun::Measure { &mut n_measures } else { &mut n_outcomes }) += 1;
            at = end + 1;
            continue;
        }
        n_foreign += usize::from(word_at(at).is_some_and(|word| !is_grammar(word)));
        at += 1;
    }
    let first = first?;
    let head =
        tokens.iter().take(first).find_map(|token| if let Token::Word(word) = token { Some(*word) } else { None });
    // `40 migrations applied, 0 failed`
    let begins_so = head.is_none_or(|word| word.is(HEAD)) || matches!(tokens.first(), Some(Token::Number(_)));
    let is_sentence = line.ends_with(['.', '?', '!']) && !line.ends_with("...");
    let may_be_foreign = if is_sentence { MAX_FOREIGN_IN_SENTENCE } else { MAX_FOREIGN };
    let is_marked = tokens.len() == 3 && tokens[0] == Token::Other;
    let is_measured = head.is_some_and(|word| word.is(MEASURE_HEAD | MEASURE)) || is_marked;
    let is_rows = tokens.first() == Some(&Token::Break) && tokens.len() == 4;
    let states =
        n_outcomes >= 2 || n_outcomes == 1 && begins_so || n_measures > 0 && (is_measured && n_foreign <= 1 || is_rows);
    // `[  FAILED  ] 1 test, listed below:`
    let is_bad = is_bad || n_outcomes == 0 && head.and_then(noun) == Some(Noun::Bad);
    (states && n_foreign <= may_be_foreign).then_some(is_bad)
}

word_table!(WORDS: Table<512>, "outcome":
    EXIT BARE CODE VALUE SUBJECT CHANGED FILES BAD HAPPENS MEASURE GRAMMAR HEAD MEASURE_HEAD NO);

/// A word and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word<'a> {
    bytes: &'a [u8],
    does: u32,
}

impl<'a> Word<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, does: WORDS.find(bytes, 0, bytes.len()).flags }
    }

    /// True when it does one of `flags`.
    fn is(&self, flags: u32) -> bool {
        self.does & flags != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{OutcomeKind, outcome};

    #[track_caller]
    fn check(kind: Option<OutcomeKind>, is_bad: bool, lines: &[&str]) {
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

    #[test]
    fn totals_of_test_runners_and_build_tools_are_outcomes() {
        let good = [
            "===== 12 passed in 0.31s =====",
            "12 passed, 3 skipped in 0.31s",
            "Ran 12 tests in 0.003s",
            "OK (skipped=1)",
            "Tests:       24 passed, 24 total",
            "Test Suites: 3 passed, 3 total",
            " Tests  24 passed (24)",
            " Test Files  3 passed (3)",
            "  12 passing (30ms)",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "     Summary [   0.5s] 12 tests run: 12 passed, 0 skipped",
            " 1274 pass",
            " 0 fail",
            "Ran 1274 tests across 80 files. [12.30s]",
            "# tests 12",
            "# pass 12",
            "# fail 0",
            "ℹ pass 12",
            "ℹ fail 0",
            "12 examples, 0 failures",
            "OK (5 tests, 10 assertions)",
            "Tests run: 12, Failures: 0, Errors: 0, Skipped: 0",
            "[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0",
            "Passed!  - Failed:     0, Passed:     6, Skipped:     0, Total:     6, Duration: 3 ms - a.dll (net8.0)",
            "Test summary: total: 6, failed: 0, succeeded: 6, skipped: 0, duration: 1.2s",
            "    0 Warning(s)",
            "    0 Error(s)",
            "100% tests passed, 0 tests failed out of 6",
            "ok | 12 passed | 0 failed (30ms)",
            "Found 0 errors. Watching for file changes.",
            "5 runs, 10 assertions, 0 failures, 0 errors, 0 skips",
            "[  PASSED  ] 11 tests.",
            "found 0 vulnerabilities",
            "Executed 12 tests, with 0 failures (0 unexpected) in 0.5 (0.6) seconds",
            "Success: no issues found in 3 source files",
            "DONE 12 tests in 0.3s",
            "(3 rows)",
            "8 issues:",
            "5 problems (0 errors, 5 warnings)",
            "0 issues.",
        ];
        check(Some(OutcomeKind::Counts), false, &good);
        let bad = [
            "== 1 failed, 11 passed in 0.31s ==",
            "FAILED (failures=1, errors=2)",
            "Tests:       1 failed, 23 passed, 24 total",
            " Tests  1 failed | 23 passed (24)",
            "  1 failing",
            "test result: FAILED. 11 passed; 1 failed; 0 ignored; finished in 0.01s",
            " 4 fail",
            "# fail 1",
            "5 examples, 1 failure",
            "Tests: 5, Assertions: 12, Failures: 1.",
            "3 tests completed, 1 failed",
            "[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0",
            "Failed!  - Failed:     1, Passed:     5, Total: 6, Duration: 3 ms",
            "    2 Error(s)",
            "83% tests passed, 1 tests failed out of 6",
            "Found 3 errors in 2 files.",
            "Found 3 errors in the same file, starting at: a.ts:3",
            "✖ 5 problems (3 errors, 2 warnings)",
            "[  FAILED  ] 1 test, listed below:",
            "webpack 5.1.0 compiled with 2 errors in 300 ms",
            "DONE 12 tests, 1 failure in 0.3s",
            "FAILED | 11 passed | 1 failed (30ms)",
            "1 error generated.",
            "2 errors found",
        ];
        check(Some(OutcomeKind::Counts), true, &bad);
        check(
            Some(OutcomeKind::Changes),
            false,
            &["1 file changed, 4 insertions(+)", " 2 files changed, 13 insertions(+), 6 deletions(-)"],
        );
        check(Some(OutcomeKind::Verdict), true, &["FAIL", "BUILD FAILED in 3s", "FAILURES!"]);
        check(Some(OutcomeKind::Verdict), false, &["PASS", "OK", "BUILD SUCCESSFUL in 3s", "[INFO] BUILD SUCCESS"]);
    }

    #[test]
    fn what_runs_and_builds_say_in_other_words_is_an_outcome() {
        let good = ["40 migrations applied, 0 failed", "    0 Fehler", "0 Fehler, 3 Warnungen"];
        check(Some(OutcomeKind::Counts), false, &good);
        check(Some(OutcomeKind::Counts), true, &["1 flaky, 2 failed", "4,182 records, 17 rejected, 2 errors"]);
        let verdicts = ["Killed", "Aborted (core dumped)", "Segmentation fault (core dumped)", "Terminated"];
        check(Some(OutcomeKind::Verdict), true, &verdicts);
    }

    #[test]
    fn no_number_is_too_long() {
        check(Some(OutcomeKind::Counts), false, &[&format!("{} passed, 0 failed", "9".repeat(40))]);
    }

    #[test]
    fn sentences_with_numbers_in_them_are_no_outcomes() {
        let none = [
            "12 tests were hard to write",
            "3 errors were found in the code base after the migration to the new server",
            "2 failed attempts to log in",
            "I ran 12 tests yesterday and all of them are fine now",
            "Test 3 is the one that matters",
            "We saw 5 errors and 3 warnings when the new server was started by the nightly job.",
            "Run 3 is the best so far",
            "files: 12",
            "The total is 5 files",
            "2 files changed hands",
            "error: no such file",
            "See issue 12 and error 3",
        ];
        check(None, false, &none);
    }
}
