//! Lines that state totals: counts of tests, errors, warnings with the nouns of some twenty test runners and build tools.
//! Knows the grammar of counts; refuses to know words that count something else.

use super::Token;
use super::vocabulary::{BAD, GRAMMAR, HAPPENS, HEAD, MEASURE, MEASURE_HEAD, NO, Word};

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
pub(super) fn counts(line: &str, tokens: &[Token<'_>]) -> Option<bool> {
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

#[cfg(test)]
mod tests {
    use crate::text::OutcomeKind;
    use crate::text::outcome::tests::check;

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
