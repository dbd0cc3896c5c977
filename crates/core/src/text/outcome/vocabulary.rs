//! The words of lines that state how something ended, by what they do there. Knows no rule.

use crate::text::words::Table;

/// In front of an exit status.
pub(super) const EXIT: u32 = 1;
/// Says by itself only that something ends: needs `code`, a colon or a stamp of time.
pub(super) const BARE: u32 = 1 << 1;
/// Between what ended and its exit status.
pub(super) const CODE: u32 = 1 << 2;
pub(super) const VALUE: u32 = 1 << 3;
/// What may stand before `exit code 1`.
pub(super) const SUBJECT: u32 = 1 << 4;
pub(super) const CHANGED: u32 = 1 << 5;
pub(super) const FILES: u32 = 1 << 6;
/// Failures, errors.
pub(super) const BAD: u32 = 1 << 7;
/// Anything else that happens to tests and builds.
pub(super) const HAPPENS: u32 = 1 << 8;
/// What is counted.
pub(super) const MEASURE: u32 = 1 << 9;
/// In a line of counts, and counts nothing.
pub(super) const GRAMMAR: u32 = 1 << 10;
/// With which such a line may begin, before its first count.
pub(super) const HEAD: u32 = 1 << 11;
/// Those that need no more than what is counted behind them.
pub(super) const MEASURE_HEAD: u32 = 1 << 12;
/// As a number: none.
pub(super) const NO: u32 = 1 << 13;

static WORDS: Table<512> = Table::new(&[
    (EXIT | BARE, "exit"),
    (EXIT, "exited returncode exitcode exit_code exit-code non-zero"),
    (CODE, "code status"),
    (VALUE, "with value"),
    (SUBJECT, "process command program script task job step shell test tests build the has was is and finished"),
    (SUBJECT, "completed failed terminated returned error err npm elifecycle with a an non"),
    (CHANGED, "changed"),
    (FILES, "file files"),
    (BAD, "fail fails failed failing failure failures error errors errored fehler"),
    (HAPPENS, "problem problems pass passes passed passing ok succeeded successful skip skips skipped ignored pending"),
    (
        HAPPENS,
        "todo todos warning warnings issue issues flaky xfailed xpassed cancelled warnung warnungen rejected applied",
    ),
    (MEASURE, "test tests suites suite examples example assertions assertion run runs spec specs total files file"),
    (MEASURE, "vulnerabilities rows row"),
    (
        GRAMMAR,
        "of out in for with and from by across ran found done executed completed finished result results summary",
    ),
    (
        GRAMMAR,
        "time duration took test tests compiled build built checked measured filtered emitted generated expected",
    ),
    (GRAMMAR, "unexpected previous listed below source passed failed ok fail success info error fixed potentially"),
    (
        HEAD,
        "test tests suites files found ran done executed failed passed ok fail failures summary total result success",
    ),
    (HEAD, "compiled webpack specs info error"),
    (MEASURE_HEAD, "ran executed done tests ok passed failed found total"),
    (NO, "no"),
]);

/// A word and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    bytes: &'a [u8],
    does: u32,
}

impl<'a> Word<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, does: WORDS.find(bytes, 0, bytes.len()) }
    }

    /// True when it does one of `flags`.
    pub(super) fn is(&self, flags: u32) -> bool {
        self.does & flags != 0
    }
}
