//! How something ended, as a line says it: exit status, totals, failures. Static words are looked for together with the
//! values; here their surroundings decide. Knows one line; refuses to know what it is kept for.

use super::lines::says;
use super::scan::{bare, folded};
use crate::text::words::{Entries, words_file};

/// Bytes between `exit` and its status.
const MAX_TO_STATUS: usize = 24;
/// Bytes before a word that tell what it says.
const NEAR: usize = 160;
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
}

const LISTS: [(&str, u32); 11] = [
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
        for (list, word) in Entries::of(words_file!("endings")) {
            let kind = LISTS.iter().find(|(name, _)| *name == list).map_or(0, |&(_, kind)| kind);
            let mut bytes = word.as_bytes().to_vec();
            bytes.resize(word.len() + super::texts::PADDING, 0);
            let hash = folded(&bytes, 0, word.len());
            let cell = &mut words.cells[Self::cell(hash)];
            if cell.1 == 0 {
                words.hashes.push(hash);
            }
            *cell = (hash, cell.1 | kind);
        }
        words
    }
}

impl Words {
    fn cell(hash: u64) -> usize {
        (hash >> 36) as usize % N_CELLS
    }

    /// What the word with this hash at `at..end` of the line `bytes[from..to]` says of it: bits of [`says`].
    pub(super) fn says(&self, bytes: &[u8], (from, to): (usize, usize), (at, end): (usize, usize), hash: u64) -> u32 {
        let (known, kind) = self.cells[Self::cell(hash)];
        if known != hash {
            return 0;
        }
        let word = &bytes[at..end];
        // What stands in front of a word is looked at where it is short: a line may have many words.
        let is_near = at - from < NEAR;
        let has = |kinds: u32| kind & kinds != 0;
        let mut found = 0;
        if has(kind::ERROR) && !is_in_name(&bytes[from..to], (at - from, end - from)) {
            found |= says::ERROR;
        }
        if has(kind::LAST) && (has(kind::VERDICT) || word.iter().all(u8::is_ascii_uppercase)) {
            found |= says::FAILED;
        }
        if has(kind::EXIT) {
            found |= status_behind(&bytes[end..to]);
        }
        if has(kind::COUNTED | kind::VERDICT)
            // The number that a viewer puts in front of a line counts nothing.
            && let Some(is_none) = count_before(&bytes[if is_near { bare(bytes, from, at).0 } else { from }..at])
        {
            found |= says::TOTAL;
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
        let lead = &bytes[from..at];
        if lead.len() < MAX_LEAD && lead.iter().all(|byte| b" -*#>=\t".contains(byte)) {
            if has(kind::FINE) {
                found |= says::TOTAL;
            }
            if has(kind::FAIL) && word[0].is_ascii_uppercase() {
                found |= says::TOTAL | says::OUTCOME | says::FAILURE;
            }
            if has(kind::TRACE) || has(kind::HEAD) && bytes[end..to].first().is_some_and(|sign| b":[".contains(sign)) {
                found |= says::FAILURE;
            }
        }
        found
    }
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
    (n_digits > 0 && trimmed.len() < before.len()).then(|| digits == b"0")
}

/// True for `SomeError: …` at the start of a line.
pub(super) fn is_exception(line: &[u8]) -> bool {
    let name = line.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)).count();
    let (name, behind) = line.split_at(name);
    (name.ends_with(b"Error") || name.ends_with(b"Exception")) && memchr::memchr(b':', behind).is_some()
}
