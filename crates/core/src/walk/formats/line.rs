//! Lines of a text, and what one of them is to the others. Knows bytes; refuses to know formats.

use crate::walk::uses::Line;

/// Lines by which a format is recognised.
const SAMPLE: usize = 48;

/// What a head of something shown is worth at least.
const WANTED: u16 = 20;

/// What a line is to those beneath it, and to a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::walk) struct LineRole {
    /// It heads the lines beneath, up to the next one of this level or of a higher one; 1 is the highest, 0 heads nothing.
    pub(in crate::walk) level: u16,
    /// What is shown beneath says little without it.
    pub(in crate::walk) is_needed: bool,
    /// How much it tells; 0 is nothing.
    pub(in crate::walk) worth: u16,
}

impl LineRole {
    pub(super) const NOTHING: Self = Self { level: 0, is_needed: false, worth: 0 };

    /// Something beneath it is shown: it is worth more than a head of nothing.
    pub(in crate::walk) fn want(&mut self) {
        self.worth = 2 * self.worth + WANTED;
    }

    /// A line without which those beneath say little.
    pub(super) const fn needed(level: u16, worth: u16) -> Self {
        Self { level, is_needed: true, worth }
    }

    /// A line that says what those beneath are about.
    pub(super) const fn head(level: u16, worth: u16) -> Self {
        Self { level, is_needed: false, worth }
    }

    pub(super) const fn line(worth: u16) -> Self {
        Self { level: 0, is_needed: false, worth }
    }
}

/// What the lines behind a mark are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::walk) enum What {
    /// Lines of any kind.
    Lines,
    /// What a harness says beside a result.
    Reminder,
    /// Lines of so many files.
    OfFiles(u32),
    /// Names of files and folders, and how many of them are in folders where nobody looks.
    Entries(u32),
    Rows,
    /// Lines of which so many say that something went well, and so many that it did not.
    Passed(u32, u32),
    /// Lines of which so many begin with one word: where it stands.
    Steps {
        n: u32,
        from: u32,
        to: u32,
    },
}

/// The lines of a text.
#[derive(Debug, Clone, Copy)]
pub(in crate::walk) struct Lines<'t> {
    pub(in crate::walk) bytes: &'t [u8],
    pub(in crate::walk) lines: &'t [Line],
}

impl<'t> Lines<'t> {
    pub(in crate::walk) fn len(self) -> usize {
        self.lines.len()
    }

    /// A line, without its line break.
    pub(in crate::walk) fn at(self, number: usize) -> &'t [u8] {
        let line = &self.lines[number];
        let text = &self.bytes[line.from as usize..line.to as usize];
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// A line with its indentation, without what a viewer or a search puts in front of it.
    pub(super) fn body(self, number: usize) -> &'t [u8] {
        without_number(self.at(number))
    }

    /// The first lines that are not blank.
    pub(super) fn sample(self) -> impl Iterator<Item = &'t [u8]> {
        let solid = (0..self.len()).filter(move |&at| self.lines[at].len > 0);
        solid.take(SAMPLE).map(move |at| self.at(at))
    }
}

/// A line without the number that a viewer puts in front: `12→`, `12⇥`, `12:`, `12|`.
fn without_number(line: &[u8]) -> &[u8] {
    let trimmed = line.trim_ascii_start();
    let n_digits = trimmed.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &trimmed[n_digits..] {
        [b'\t' | b'|' | b':', behind @ ..] | [0xE2, 0x86, 0x92, behind @ ..] if n_digits > 0 => behind,
        _ => line,
    }
}

pub(super) fn n_blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Bytes that paths are made of.
const OF_PATH: [bool; 256] = {
    let (mut of_path, mut byte) = ([false; 256], 0);
    while byte < 256 {
        of_path[byte] = (byte as u8).is_ascii_alphanumeric() || byte >= 0x80;
        byte += 1;
    }
    let (signs, mut at) = (b"/._-@+~*[]()$#,=\\", 0);
    while at < signs.len() {
        of_path[signs[at] as usize] = true;
        at += 1;
    }
    of_path
};

/// True for a path: no blank, and a folder or an extension.
pub(super) fn is_path(text: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    text.len() > 1
        && text.iter().all(|byte| OF_PATH[usize::from(*byte)])
        && text.iter().any(is_word)
        && (text.contains(&b'/') || text.contains(&b'.') && text.last() != Some(&b'.'))
}
