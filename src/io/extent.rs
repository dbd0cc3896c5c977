//! Where a JSON value ends, found in as many steps as its bytes come in. Counts brackets and knows strings; whether the
//! value is valid is for others to say.

/// A walk over one value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// The next byte to look at.
    pub(super) at: usize,
    depth: usize,
    in_string: bool,
    /// Inside a number or a word.
    in_scalar: bool,
}

impl Extent {
    /// Of the value that begins at `at`.
    pub(super) fn of_value(at: usize) -> Self {
        Self { at, ..Self::default() }
    }

    /// Of the rest of a list or object, to its closing bracket.
    pub(super) fn of_rest(at: usize) -> Self {
        Self { at, depth: 1, ..Self::default() }
    }

    /// Of what has no end.
    pub(super) fn endless(at: usize) -> Self {
        Self { at, depth: usize::MAX / 2, ..Self::default() }
    }

    /// True for a value that the end of the stream ends.
    pub(super) fn ends_with_stream(&self) -> bool {
        self.in_scalar || self.depth > usize::MAX / 4
    }

    /// The end of the value; `None` when the bytes end first, and then it goes on where it stopped.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(&byte) = bytes.get(self.at) {
            if self.in_string {
                let rest = bytes.get(self.at..).unwrap_or_default();
                let Some(length) = memchr::memchr2(b'"', b'\\', rest) else {
                    self.at = bytes.len();
                    return None;
                };
                if rest.get(length) == Some(&b'\\') {
                    self.at += length;
                    if self.at + 1 >= bytes.len() {
                        return None;
                    }
                    self.at += 2;
                    continue;
                }
                self.at += length + 1;
                self.in_string = false;
                if self.depth == 0 {
                    return Some(self.at);
                }
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']' if self.in_scalar => {
                    return Some(self.at);
                }
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.at += 1;
                        return Some(self.at);
                    }
                }
                _ => self.in_scalar = self.depth == 0,
            }
            self.at += 1;
        }
        None
    }
}
