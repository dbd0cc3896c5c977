//! How something ended, as a line says it: exit status, totals, failures. Static words are looked for together with the
//! values; here their surroundings decide. Knows one line; refuses to know what it is kept for.

use super::lines::says;
use super::scan::{bare, folded};
use crate::text::words::{Entries, word_list, words_file};

/// Bytes between `exit` and its status.
const MAX_TO_STATUS: usize = 24;
/// Bytes before a word that tell what it says.
const NEAR: usize = 160;
/// Bytes of a short line, or before a word that says how all ended.
const SHORT: usize = 60;
const FAILURES: &[&str] = word_list!("endings", BEGINS);
const FAILED_TESTS: &[&str] = word_list!("endings", BEGINS_TEST);
/// Signs in front of what begins a line.
const MAX_LEAD: usize = 6;

/// What a word may say.
mod kind {
    /// Of errors.
    pub(super) const ERROR: u32 = 1;
    /// In front of a status.
    pub(super) const EXIT: u32 = 1 << 1;
    /// Behind a count.
    pub(super) const COUNTED: u32 = 1 << 2;
    /// Behind a count it says how tests ended.
    pub(super) const VERDICT: u32 = 1 << 3;
    /// In capitals at the start of a line: a test has failed.
    pub(super) const FAIL: u32 = 1 << 4;
    /// At the start of a line: a traceback.
    pub(super) const TRACE: u32 = 1 << 5;
    /// In one of the last lines: it has failed.
    pub(super) const LAST: u32 = 1 << 6;
    /// At the start of a line: this went well.
    pub(super) const FINE: u32 = 1 << 7;
    /// At the start of a line, with a colon behind: this failed.
    pub(super) const HEAD: u32 = 1 << 8;
    /// In brackets: this is not all.
    pub(super) const PARTIAL: u32 = 1 << 9;
    /// Behind words of a change, in a line of its own: it was made, or not.
    pub(super) const DONE: u32 = 1 << 10;
    /// A status stands behind it where `return` stands before it, or where it is set.
    pub(super) const CODE: u32 = 1 << 11;
    /// A program or a place speaks it: this failed.
    pub(super) const SPOKEN: u32 = 1 << 12;
    /// At the start of a line: a program was ended.
    pub(super) const ENDED: u32 = 1 << 13;
    /// In front of a count.
    pub(super) const TALLY: u32 = 1 << 14;
    /// In capitals: all failed.
    pub(super) const LOUD: u32 = 1 << 15;
    /// In capitals, or at the end of a short line: all went well.
    pub(super) const WELL: u32 = 1 << 16;
    /// In capitals at the start of a line: what all comes to.
    pub(super) const SUM: u32 = 1 << 17;
    /// In brackets: this failed.
    pub(super) const BOXED: u32 = 1 << 18;
    /// Behind a word that takes it back: this failed.
    pub(super) const BEHIND: u32 = 1 << 19;
    /// Ends what a line of failing begins with.
    pub(super) const BEGINS: u32 = 1 << 21;
    /// Of counted things those that count where it is said what became of them.
    pub(super) const INSTALLED: u32 = 1 << 20;
}

const LISTS: [(&str, u32); 23] = [
    ("ERROR", kind::ERROR),
    ("EXIT", kind::EXIT),
    ("COUNTED", kind::COUNTED),
    ("VERDICT", kind::VERDICT),
    ("FAIL", kind::FAIL),
    ("TRACE", kind::TRACE),
    ("LAST", kind::LAST),
    ("FINE", kind::FINE),
    ("HEAD", kind::HEAD),
    ("PARTIAL", kind::PARTIAL),
    ("DONE", kind::DONE),
    ("CODE", kind::CODE),
    ("SPOKEN", kind::SPOKEN),
    ("ENDED", kind::ENDED),
    ("TALLY", kind::TALLY),
    ("LOUD", kind::LOUD),
    ("WELL", kind::WELL),
    ("SUM", kind::SUM),
    ("BOXED", kind::BOXED),
    ("BEHIND", kind::BEHIND),
    ("INSTALLED", kind::INSTALLED),
    ("BEGINS", kind::BEGINS),
    ("BEGINS_TEST", kind::BEGINS),
];
const N_CELLS: usize = 4096;

/// The static words by their hash.
#[derive(Debug)]
pub(super) struct Words {
    cells: Vec<(u64, u32)>,
    /// Their hashes, each once.
    pub(super) hashes: Vec<u64>,
}

impl Default for Words {
    fn default() -> Self {
        let mut words = Self { cells: vec![(0, 0); N_CELLS], hashes: Vec::new() };
        for (list, entry) in Entries::of(words_file!("endings")) {
            let word = entry.rsplit(' ').next().unwrap_or(entry);
            let kind = LISTS.iter().find(|(name, _)| *name == list).map_or(0, |&(_, kind)| kind);
            let mut bytes = word.as_bytes().to_vec();
            bytes.resize(word.len() + super::texts::PADDING, 0);
            let hash = folded(&bytes, 0, word.len());
            let cell = words.place(hash);
            if words.cells[cell].1 == 0 {
                words.hashes.push(hash);
            }
            words.cells[cell] = (hash, words.cells[cell].1 | kind);
        }
        words
    }
}

impl Words {
    /// The cell of a word, or the free one that it would take.
    fn place(&self, hash: u64) -> usize {
        let mut at = (hash >> 36) as usize % N_CELLS;
        while self.cells[at].0 != hash && self.cells[at].1 != 0 {
            at = (at + 1) % N_CELLS;
        }
        at
    }

    /// What the word with this hash at `at..end` of the line `bytes[from..to]` says of it: bits of [`says`].
    pub(super) fn says(&self, bytes: &[u8], (from, to): (usize, usize), (at, end): (usize, usize), hash: u64) -> u32 {
        let (_, kind) = self.cells[self.place(hash)];
        if kind == 0 {
            return 0;
        }
        let word = &bytes[at..end];
        // What stands in front of a word is looked at where it is short: a line may have many words.
        let is_near = at - from < NEAR;
        let has = |kinds: u32| kind & kinds != 0;
        let is_name = || is_in_name(&bytes[from..to], (at - from, end - from));
        let mut found = 0;
        if has(kind::ERROR) && !is_name() {
            found |= says::ERROR;
        }
        if has(kind::LAST) && (has(kind::VERDICT) || word.iter().all(u8::is_ascii_uppercase)) {
            found |= says::FAILED;
        }
        let (before, behind) = (&bytes[from..at], &bytes[end..to]);
        if has(kind::EXIT) || has(kind::CODE) && (before.ends_with(b"return ") || behind.starts_with(b"=")) {
            found |= status_behind(behind);
        }
        if has(kind::COUNTED | kind::VERDICT)
            // The number that a viewer puts in front of a line counts nothing.
            && let Some(is_none) = count_before(&bytes[if is_near { bare(bytes, from, at).0 } else { from }..at])
            && !is_name()
        {
            let installs =
                || [&b"added"[..], b"removed", b"changed", b"audited"].iter().any(|word| before.starts_with(word));
            if !has(kind::INSTALLED) || installs() {
                found |= says::TOTAL;
            }
            if has(kind::VERDICT) {
                found |= says::OUTCOME | if has(kind::LAST) && !is_none { says::FAILURE } else { 0 };
            }
        }
        let begins = || bytes[from..at].trim_ascii_start().first().is_some_and(|first| b"[<(.*".contains(first));
        let is_note = || is_near && begins() || bytes[from..at].ends_with(b"tokens ");
        if has(kind::PARTIAL) && is_note() {
            found |= says::TOTAL;
        }
        if has(kind::DONE) && is_near && tells_change(&bytes[from..at]) {
            found |= says::TOTAL | says::OUTCOME;
        }
        if is_near && has(!(kind::COUNTED | kind::EXIT | kind::DONE | kind::PARTIAL)) {
            found |= of_ending(kind, &bytes[from..end], word, behind);
        }
        found
    }
}

/// What a word near the start of a line, with which `begin` ends, says by what stands around it.
fn of_ending(kind: u32, begin: &[u8], word: &[u8], behind: &[u8]) -> u32 {
    const FAILED: u32 = says::TOTAL | says::OUTCOME | says::FAILURE;
    let has = |kinds: u32| kind & kinds != 0;
    let before = &begin[..begin.len() - word.len()];
    let lead = before.trim_ascii_start();
    let (is_lead, is_loud) = (lead.iter().all(|byte| b"-*#>=".contains(byte) || *byte == b' '), || is_loud(word));
    let mut found = 0;
    if is_lead && before.len() < MAX_LEAD {
        if has(kind::FINE) || has(kind::SUM) && is_loud() {
            found |= says::TOTAL;
        }
        if has(kind::FAIL | kind::ENDED) && word[0].is_ascii_uppercase() {
            found |= FAILED;
        }
        let is_head = || behind.first().is_some_and(|sign| b":[".contains(sign)) || is_numbered(behind);
        if has(kind::TRACE) && word[0].is_ascii_uppercase() || has(kind::HEAD) && is_head() {
            found |= says::FAILURE;
        }
    }
    if has(kind::ERROR | kind::SPOKEN) && speaks(lead)
        || has(kind::BOXED) && lead.ends_with(b"[") && behind.starts_with(b"]")
    {
        found |= says::FAILURE;
    }
    let is_marked = || [&b"] "[..], b" - "].iter().any(|mark| lead.ends_with(mark)) && is_numbered(behind);
    let is_told = || is_one_word(lead) && behind.starts_with(b":");
    let has_panicked = || lead.starts_with(b"thread '") && behind.starts_with(b" at ");
    if has(kind::ERROR) && (is_marked() || is_told() || has_panicked()) {
        found |= says::FAILURE;
    }
    if has(kind::BEGINS) {
        let n_signs = lead.iter().take(MAX_LEAD).take_while(|byte| b"-*#>= ".contains(byte)).count();
        let text = &begin[before.len() - lead.len() + n_signs..];
        let is_one_of = |phrases: &[&str]| phrases.iter().any(|phrase| text.eq_ignore_ascii_case(phrase.as_bytes()));
        found |= if is_one_of(FAILED_TESTS) {
            FAILED
        } else if is_one_of(FAILURES) {
            says::FAILURE
        } else {
            0
        };
    }
    if has(kind::TALLY)
        && let Some(is_none) = tally(lead, behind)
    {
        let is_bad = has(kind::LAST | kind::FAIL) || has(kind::ERROR);
        found |= says::TOTAL | if is_bad && !is_none { FAILED } else { 0 };
    }
    if has(kind::LOUD) && is_loud() {
        found |= FAILED;
    }
    if has(kind::WELL) && (is_loud() || behind.len() < 2) && before.len() < SHORT {
        found |= says::TOTAL;
    }
    if has(kind::BEHIND) {
        let program = lead.iter().position(|&byte| byte == b' ').map_or(lead, |at| &lead[..=at]);
        let is_missing = speaks(program) && [&b" not "[..], b" No ", b" no "].iter().any(|no| lead.ends_with(no));
        let is_late = lead.ends_with(b"timed ") && before.len() < SHORT;
        found |= match word {
            b"found" | b"such" if is_missing => says::FAILURE,
            b"out" if is_late => says::EXIT | says::OUTCOME | says::BAD_EXIT,
            _ => 0,
        };
    }
    found
}

/// `fatal `, `rsync `: one word of small letters.
fn is_one_word(lead: &[u8]) -> bool {
    lead.len() > 2
        && lead.split_last().is_some_and(|(last, word)| *last == b' ' && word.iter().all(u8::is_ascii_lowercase))
}

fn is_loud(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_uppercase)
}

/// A number of an error: `1064`, `TS2345`.
fn is_numbered(behind: &[u8]) -> bool {
    let code = behind.strip_prefix(b" ").unwrap_or_default();
    code.strip_prefix(b"TS").unwrap_or(code).first().is_some_and(u8::is_ascii_digit)
}

/// True for the name of a program or a place that speaks: `psql: `, `curl: (7) `, `src/a.c:12:3: `.
fn speaks(lead: &[u8]) -> bool {
    let [.., b':' | b')', b' '] = lead else { return false };
    let name = lead.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"._/+-:(),".contains(&byte)).count();
    let (name, behind) = lead.split_at(name);
    let number = behind.strip_prefix(b" (").and_then(|rest| rest.strip_suffix(b") "));
    let is_apart = behind == b" " || number.is_some_and(|number| number.iter().all(u8::is_ascii_digit));
    // A number alone is that of a line.
    is_apart && name.ends_with(b":") && name.iter().any(u8::is_ascii_alphabetic)
}

/// Whether there is a count behind a word, and whether it is 0.
fn tally(lead: &[u8], behind: &[u8]) -> Option<bool> {
    let count = if lead == b"# " { behind.strip_prefix(b" ") } else { behind.strip_prefix(b": ") }?;
    let n_digits = count.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_whole = count.get(n_digits).is_none_or(|byte| b" ,.".contains(byte));
    (n_digits > 0 && is_whole).then(|| count[..n_digits].iter().all(|&digit| digit == b'0'))
}

/// True for what stands before `updated` or `applied` where a program says what became of a change: `[File`, `Your changes have NOT been`.
pub(in crate::walk) fn tells_change(before: &[u8]) -> bool {
    let before = before.trim_ascii_start();
    let before = before.strip_prefix(b"[").unwrap_or(before);
    let starts = |heads: &[&[u8]]| heads.iter().any(|head| before.starts_with(head));
    starts(&[b"File ", b"Your changes ", b"Your proposed edit ", b"The file ", b"Changes ", b"User has ", b"The user "])
}

/// True for a word that is part of the name of a file, a test or a style: `error_page.html`, `.error`, `ErrorHandler`.
fn is_in_name(line: &[u8], (at, end): (usize, usize)) -> bool {
    let is_joined = |byte: u8| b"_-/.#".contains(&byte);
    let goes_on = |at: usize| line.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let behind = line.get(end).is_some_and(|&byte| is_joined(byte)) && goes_on(end + 1);
    let before = at > 0 && is_joined(line[at - 1]);
    behind || before || goes_on(end)
}

/// `exit code: 1`, `exited with 2`: that there is a status, and whether it is none of success.
fn status_behind(behind: &[u8]) -> u32 {
    let near = &behind[..behind.len().min(MAX_TO_STATUS)];
    let Some(at) = near.iter().position(u8::is_ascii_digit) else { return 0 };
    let is_plain = near[..at].iter().all(|&byte| byte.is_ascii_alphabetic() || b" :=-_<>()\"'".contains(&byte));
    let is_zero = behind[at..].iter().take_while(|byte| byte.is_ascii_digit()).all(|&digit| digit == b'0');
    match is_plain {
        true if is_zero => says::EXIT | says::OUTCOME,
        true => says::EXIT | says::OUTCOME | says::BAD_EXIT,
        false => 0,
    }
}

/// Whether there is a count right before, and whether it is 0.
fn count_before(before: &[u8]) -> Option<bool> {
    let trimmed = before.trim_ascii_end();
    let n_digits = trimmed.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = &trimmed[trimmed.len() - n_digits..];
    // A time is no count.
    let is_apart = trimmed.len() < before.len() && !trimmed[..trimmed.len() - n_digits].ends_with(b":");
    (n_digits > 0 && is_apart).then(|| digits == b"0")
}

/// True for `SomeError: …` at the start of a line.
pub(super) fn is_exception(line: &[u8]) -> bool {
    let name = line.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)).count();
    let (name, behind) = line.split_at(name);
    (name.ends_with(b"Error") || name.ends_with(b"Exception")) && memchr::memchr(b':', behind).is_some()
}
