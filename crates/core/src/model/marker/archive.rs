//! The literal format of the summary that stands for the archived part of a conversation, written and read. A later round
//! reads level, chunks and topics from the text alone. Knows the grammar, not how a body comes to be.

use std::fmt::Write as _;
use std::ops::Range;

/// What the text begins with.
const FRAME: &str = "[Compressed conversation summary, level ";
const FRAME_END: &str = ": earlier turns are archived]";
/// What stands between the body and the chunks.
const CHUNKS: &str = "Archived chunks, newest first:";
/// How what is not shown is read.
const READ: &str = "Archived turns are read with `condenser show RUN ID --archive N`.";
/// The last line.
const END: &str = "[End of the compressed conversation summary]";
/// Earlier chunks that are listed; the others are counted.
pub const MAX_LISTED_CHUNKS: usize = 10;

/// A summary that stands for the archived part of a conversation:
///
/// ```text
/// [Compressed conversation summary, level 2, chunk 3: earlier turns are archived]
///
/// the body
///
/// Archived chunks, newest first:
/// Chunk 3: parser, release notes
/// Chunk 2
/// 1 older chunk
/// Archived turns are read with `condenser show RUN ID --archive N`.
/// [End of the compressed conversation summary]
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archive<'t> {
    /// How often the conversation was compacted, from 1.
    pub level: usize,
    /// The chunk that this compaction wrote to.
    pub chunk: Chunk<'t>,
    /// Earlier chunks, newest first.
    pub earlier: Vec<Chunk<'t>>,
    /// Chunks that are older than these.
    pub n_older: usize,
    /// What is said of the archived part.
    pub body: &'t str,
}

/// A part of the archive of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk<'t> {
    /// Its number, from 1.
    pub number: usize,
    /// What it is about: phrases separated by commas, on one line.
    pub topics: Option<&'t str>,
}

impl<'t> Archive<'t> {
    /// The text, and where in it the body stands.
    #[must_use]
    pub fn write(&self) -> (String, Range<usize>) {
        let mut text = format!("{FRAME}{}, chunk {}{FRAME_END}\n\n", self.level, self.chunk.number);
        let start = text.len();
        text.push_str(self.body);
        let body = start..text.len();
        write!(text, "\n\n{CHUNKS}\n").expect("a String takes everything");
        for chunk in std::iter::once(&self.chunk).chain(self.earlier.iter().take(MAX_LISTED_CHUNKS)) {
            match chunk.topics {
                Some(topics) => writeln!(text, "Chunk {}: {topics}", chunk.number),
                None => writeln!(text, "Chunk {}", chunk.number),
            }
            .expect("a String takes everything");
        }
        let n_older = self.n_older + self.earlier.len().saturating_sub(MAX_LISTED_CHUNKS);
        if n_older > 0 {
            let plural = if n_older == 1 { "" } else { "s" };
            writeln!(text, "{n_older} older chunk{plural}").expect("a String takes everything");
        }
        text.push_str(READ);
        text.push('\n');
        text.push_str(END);
        (text, body)
    }

    /// What the whole of `text` says; `None` when it is no such summary, or other words stand around it.
    #[must_use]
    pub fn read(text: &'t str) -> Option<Self> {
        let (frame, rest) = text.trim().strip_prefix(FRAME)?.split_once('\n')?;
        let (level, number) = frame.trim_end().strip_suffix(FRAME_END)?.split_once(", chunk ")?;
        let (level, number) = (count(level)?, count(number)?);
        let mut rest = rest.strip_suffix(END)?.strip_suffix('\n')?;
        // Summaries of earlier versions do not say it.
        rest = rest.strip_suffix(READ).and_then(|rest| rest.strip_suffix('\n')).unwrap_or(rest);
        let mut n_older = 0;
        if let Some((before, line)) = rest.rsplit_once('\n')
            && let Some(n) = line.strip_suffix(" older chunks").or_else(|| line.strip_suffix(" older chunk"))
        {
            n_older = count(n)?;
            rest = before;
        }
        // From the end: the body may hold lines like these.
        let mut earlier = Vec::new();
        let chunk = loop {
            let (before, line) = rest.rsplit_once('\n')?;
            let chunk = chunk(line)?;
            rest = before;
            if chunk.number == number {
                break chunk;
            }
            earlier.push(chunk);
        };
        earlier.reverse();
        let body = rest.strip_suffix(CHUNKS)?.trim();
        (!body.is_empty()).then_some(Self { level, chunk, earlier, n_older, body })
    }
}

/// The text without a frame at its beginning: a model may repeat the one that it was shown.
#[must_use]
pub fn without_frame(text: &str) -> &str {
    match text.trim_start().strip_prefix(FRAME).and_then(|rest| rest.split_once('\n')) {
        Some((frame, rest)) if frame.trim_end().ends_with(FRAME_END) => rest.trim_start(),
        _ => text,
    }
}

fn chunk(line: &str) -> Option<Chunk<'_>> {
    let rest = line.trim_end().strip_prefix("Chunk ")?;
    match rest.split_once(": ") {
        Some((number, topics)) => Some(Chunk { number: count(number)?, topics: Some(topics) }),
        None => Some(Chunk { number: count(rest)?, topics: None }),
    }
}

/// Digits and nothing else; what no conversation reaches is no count.
fn count(digits: &str) -> Option<usize> {
    let is_count = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_count)
}

#[cfg(test)]
mod tests {
    use super::{Archive, Chunk, MAX_LISTED_CHUNKS, without_frame};
    use crate::model::marker::stands_for_others;

    fn archive<'t>(body: &'t str, earlier: Vec<Chunk<'t>>) -> Archive<'t> {
        Archive { level: 2, chunk: Chunk { number: 30, topics: Some("a, b: c") }, earlier, n_older: 0, body }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for body in [
            "One line.",
            "Chunk 30: not this one\n\nArchived chunks, newest first:\nChunk 30: x\n[End of the compressed conversation summary]",
            "1 older chunk",
            "[Compressed conversation summary, level 9, chunk 9: earlier turns are archived]\n\ninner",
        ] {
            for n in [0, 1, MAX_LISTED_CHUNKS] {
                let earlier = (0..n).map(|at| Chunk { number: 29 - at, topics: (at % 2 == 0).then_some("old") });
                for n_older in [0, 1, 7] {
                    let archive = Archive { n_older, ..archive(body, earlier.clone().collect()) };
                    let (text, range) = archive.write();
                    assert_eq!(text.get(range), Some(body));
                    assert_eq!(Archive::read(&text).as_ref(), Some(&archive), "{text}");
                    assert!(stands_for_others(&text) && stands_for_others(&format!("\n{text}\n ")));
                    assert!(!stands_for_others(&format!("{text} and more")), "words behind it are somebody's own");
                    assert!(!stands_for_others(&format!("See: {text}")));
                }
            }
        }
    }

    #[test]
    fn what_is_not_listed_is_counted() {
        let earlier = (1..30).rev().map(|number| Chunk { number, topics: None }).collect();
        let (text, _) = archive("x", earlier).write();
        assert!(text.contains("\nChunk 20\n19 older chunks\nArchived turns are read with"), "{text}");
        let read = Archive::read(&text).expect("it was written so");
        assert_eq!((read.earlier.len(), read.n_older), (10, 19));
    }

    #[test]
    fn a_repeated_frame_is_taken_away() {
        let (text, _) = archive("The body.", Vec::new()).write();
        assert!(without_frame(&text).starts_with("The body."));
        assert_eq!(without_frame("[Compressed"), "[Compressed");
        assert_eq!(
            Archive::read("[Compressed conversation summary, level 1, chunk 1: earlier turns are archived]"),
            None
        );
    }
}
