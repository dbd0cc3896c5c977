//! Fenced blocks as in `CommonMark`, backtick and tilde, also inside list items. Knows signs, runs and indents of
//! a line; refuses to know what is inside a block.

use super::lexed::{Fence, Span};

/// A block that has been opened and not yet closed.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenFence {
    sign: u8,
    run: usize,
    indent: usize,
    in_list: bool,
    start: u32,
    body: u32,
}

impl OpenFence {
    /// The block that `bytes[start..end]` (without its line end) opens: `mark` is the first sign after blanks and,
    /// inside a list, after the marker of the item; `next` is where the next line starts.
    pub(super) fn open(
        bytes: &[u8],
        line: Span,
        mark: usize,
        indent: usize,
        in_list: bool,
        next: usize,
    ) -> Option<Self> {
        let end = line.end as usize;
        let rest = bytes.get(mark..end)?;
        let sign = *rest.first()?;
        if (sign != b'`' && sign != b'~') || (indent > 3 && !in_list) {
            return None;
        }
        let run = run_of(rest, sign);
        if run < 3 {
            return None;
        }
        if sign == b'`' && memchr::memchr(b'`', &rest[run..]).is_some() {
            return None;
        }
        Some(Self { sign, run, indent, in_list, start: line.start, body: next as u32 })
    }

    /// True when the line closes the block.
    pub(super) fn is_closed_by(&self, bytes: &[u8], line: Span, mark: usize, indent: usize) -> bool {
        let rest = bytes.get(mark..line.end as usize).unwrap_or_default();
        if rest.first() != Some(&self.sign) || (indent > 3 && !(self.in_list && indent <= self.indent + 3)) {
            return false;
        }
        let run = run_of(rest, self.sign);
        run >= self.run && rest[run..].iter().all(u8::is_ascii_whitespace)
    }

    /// The block, closed by `line`.
    pub(super) fn close(self, line: Span) -> Fence {
        let body = Span { start: self.body, end: line.start.max(self.body) };
        Fence { span: Span { start: self.start, end: line.end }, body }
    }

    /// The block that the text ends in.
    pub(super) fn end(self, text_end: u32) -> Fence {
        let body = Span { start: self.body.min(text_end), end: text_end };
        Fence { span: Span { start: self.start, end: text_end }, body }
    }
}

fn run_of(bytes: &[u8], sign: u8) -> usize {
    bytes.iter().take_while(|&&byte| byte == sign).count()
}
