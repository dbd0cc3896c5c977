//! What programs print: blocks of tests, steps of builds, frames of tracebacks. Knows how they begin and how tests say that
//! all went well.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use foldhash::fast::FixedState;
use memchr::memmem;

use super::line::{LineRole, Lines, What};
use crate::text::names_noise_folder;

const FRAME: u16 = 6;
const BLOCK: u16 = 8;
/// Hidden lines that are told apart, and the share of them that must be alike, in per cent.
const MIN_ALIKE: u32 = 8;
const MIN_SHARE: u32 = 60;
/// Bytes of a border.
const NEAR_BORDER: usize = 80;
/// Bytes of a word that steps begin with.
const STEP: std::ops::RangeInclusive<usize> = 3..=16;
/// Bytes of a line that are looked at.
const NEAR: usize = 200;

/// A block of one test, of which the lines beneath do not tell: `---- a::b stdout ----`, `____ test_a ____`, `● suite › test`.
fn begins_block(line: &[u8]) -> bool {
    let framed = |sign: u8| {
        let n = line.iter().take_while(|byte| **byte == sign).count();
        let is_framed = (4..line.len()).contains(&n) && line[n] == b' ' && line.ends_with(&[sign; 4]);
        is_framed && line.iter().any(u8::is_ascii_alphabetic)
    };
    framed(b'-')
        || framed(b'_')
        || is_border(line)
        || line.starts_with("  ● ".as_bytes())
        || line.starts_with("● ".as_bytes())
}

/// A border that somebody prints between the results of several commands: `--- tests ---`, `=== a.rs ===`.
fn is_border(line: &[u8]) -> bool {
    let signs = [&b"---"[..], b"==="];
    let has_signs = |signs: &&[u8]| line.starts_with(signs) && line.ends_with(signs);
    (8..NEAR_BORDER).contains(&line.len()) && line[3] == b' ' && signs.iter().any(has_signs)
}

/// A frame of a traceback in a file of one's own.
fn is_own_frame(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let is_frame = text.starts_with(b"File \"") || text.starts_with(b"at ") && text.contains(&b'(');
    let is_foreign = || {
        let is_foreign = |part: &[u8]| part == b"lib" || part.starts_with(b"node:");
        text.split(|byte| b"/\\(\" ".contains(byte)).any(is_foreign)
            || std::str::from_utf8(text).is_ok_and(names_noise_folder)
    };
    is_frame && text.len() < NEAR && !is_foreign()
}

/// A path by itself, over what a linter says of the file.
fn is_path(line: &[u8]) -> bool {
    let extension = line.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let is_name = (1..=5).contains(&extension) && line[..line.len() - extension].ends_with(b".");
    is_name && line.len() < NEAR && memchr::memchr2(b' ', b':', line).is_none()
}

pub(super) fn role(line: &[u8]) -> LineRole {
    match line.trim_ascii_start().first() {
        Some(b'/') if is_path(line) => LineRole::needed(1, BLOCK),
        Some(b'-' | b'_' | b'=' | 0xE2) if begins_block(line) => LineRole::needed(1, BLOCK),
        Some(b'F' | b'a') if is_own_frame(line) => LineRole::line(FRAME),
        _ => LineRole::NOTHING,
    }
}

/// A line that says of one thing that it went well: `test a ... ok`, `ok 12 - a`, `✓ a`, `--- PASS: a`, `a PASSED`.
fn is_passed(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return false };
    let starts = |heads: &[&str]| heads.iter().any(|head| text.starts_with(head.as_bytes()));
    let ends = |tails: &[&str]| tails.iter().any(|tail| text.ends_with(tail.as_bytes()));
    b"oP-(\xE2".contains(first)
        && starts(&["✓ ", "✔ ", "√ ", "ok ", "ok\t", "PASS ", "PASS:", "--- PASS", "PASSED ", "(pass) "])
        || b"kKDd\x93".contains(last) && ends(&[" ok", " PASSED", " passed", "✓", " OK"])
        || HAS_PASSED.find(&text[..text.len().min(NEAR)]).is_some()
}

/// The same of what did not go well.
fn is_failed(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let starts = |heads: &[&str]| heads.iter().any(|head| text.starts_with(head.as_bytes()));
    let ends = |tails: &[&str]| tails.iter().any(|tail| text.ends_with(tail.as_bytes()));
    starts(&["✗ ", "✘ ", "× ", "not ok ", "FAIL ", "FAIL:", "FAIL\t", "--- FAIL", "FAILED ", "(fail) "])
        || ends(&[" FAILED", " failed", " FAIL"])
        || memmem::find(&text[..text.len().min(NEAR)], b" FAILED ").is_some()
}

static HAS_PASSED: LazyLock<memmem::Finder<'_>> = LazyLock::new(|| memmem::Finder::new(" PASSED "));

/// Lines that are what `is` tells; where there are tests those of whole files and packages do not count.
fn n_tests(lines: Lines<'_>, range: Range<usize>, is: fn(&[u8]) -> bool) -> u32 {
    let of_all =
        |line: &[u8]| [&b"PASS "[..], b"FAIL ", b"FAIL\t", b"ok  \t"].iter().any(|head| line.starts_with(head));
    let (mut n, mut n_all) = (0, 0);
    for line in range.map(|at| lines.at(at)).filter(|line| is(line)) {
        n += 1;
        n_all += u32::from(of_all(line));
    }
    if n_all < n { n - n_all } else { n }
}

/// What most of the lines are: what went well, or steps that begin alike.
pub(super) fn what(lines: Lines<'_>, from: usize, to: usize) -> What {
    let n = (to - from) as u32;
    if n < MIN_ALIKE {
        return What::Lines;
    }
    let n_passed = n_tests(lines, from..to, is_passed);
    if n_passed >= MIN_ALIKE.min(n * MIN_SHARE / 100) {
        return What::Passed(n_passed, n_tests(lines, from..to, is_failed));
    }
    let mut steps: HashMap<&[u8], (u32, usize), FixedState> = HashMap::default();
    for at in from..to {
        if let Some(word) = step(lines.at(at)) {
            steps.entry(word).or_insert((0, at)).0 += 1;
        }
    }
    let most = steps.into_iter().max_by_key(|&(_, (n, at))| (n, std::cmp::Reverse(at)));
    match most {
        Some((word, (n_alike, at))) if n_alike >= MIN_ALIKE && n_alike * 100 >= n * MIN_SHARE => {
            let line = lines.lines[at];
            let offset = memmem::find(lines.at(at), word).unwrap_or_default() as u32;
            What::Steps { n: n_alike, from: line.from + offset, to: line.from + offset + word.len() as u32 }
        }
        _ => What::Lines,
    }
}

/// The word with which a step begins, behind times and numbers: `Compiling`, `INFO`.
fn step(line: &[u8]) -> Option<&[u8]> {
    let near = &line[..line.len().min(NEAR)];
    let words = near.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let word = words.map(bare).find(|word| word.iter().any(u8::is_ascii_alphabetic))?;
    let is_word = word[0].is_ascii_uppercase() && word.iter().all(u8::is_ascii_alphabetic);
    (STEP.contains(&word.len()) && is_word).then_some(word)
}

/// A word without signs around it.
fn bare(word: &[u8]) -> &[u8] {
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric();
    let from = word.iter().take_while(|byte| is_sign(byte)).count();
    let n_behind = word[from..].iter().rev().take_while(|byte| is_sign(byte)).count();
    &word[from..word.len() - n_behind]
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::super::{Call, What};

    #[test]
    fn blocks_head_their_lines_and_frames_of_ones_own_tell() {
        let text = "---- a::b stdout ----\nassertion failed\n  File \"/app/x.py\", line 3, in f\n    f()\n  File \"/venv/site-packages/y.py\", line 9, in g\n    g()";
        assert_eq!(check(text, Call::Other).1, ["1! ---- a::b stdout ----", "0 File \"/app/x.py\", line 3, in f"]);
    }

    #[test]
    fn what_went_well_is_counted_and_steps_are_named() {
        let passed: String = (0..12).map(|at| format!("test case_{at} ... ok\n")).collect();
        assert_eq!(check(&passed, Call::Other).2, What::Passed(12, 0));
        let steps: String = (0..12).map(|at| format!("   Compiling part{at} v0.1.0\n")).collect();
        assert_eq!(check(&steps, Call::Other).2, What::Steps { n: 12, from: 3, to: 12 });
        let imports: String = (0..12).map(|at| format!("import part{at}\n")).collect();
        assert_eq!(check(&imports, Call::Other).2, What::Lines);
    }
}
