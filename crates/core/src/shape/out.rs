//! Where restored text goes: into a string, or against the text that it should be, which holds nothing. Knows no
//! layout.

/// Takes text piece by piece.
pub(super) trait Out {
    /// Appends `text`.
    fn push_str(&mut self, text: &str);
    /// Appends `char`.
    fn push(&mut self, char: char);
}

impl Out for String {
    fn push_str(&mut self, text: &str) {
        Self::push_str(self, text);
    }
    fn push(&mut self, char: char) {
        Self::push(self, char);
    }
}

/// Compares what is written with what should be, piece by piece: a giant record is proven without a second one in
/// memory.
#[derive(Debug)]
pub(super) struct Expected<'t> {
    /// What is still to come; `None` after the first difference.
    rest: Option<&'t str>,
}

impl<'t> Expected<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: Some(text) }
    }

    /// True when all of the text was written and nothing else.
    pub(super) fn is_met(&self) -> bool {
        self.rest == Some("")
    }
}

impl Out for Expected<'_> {
    fn push_str(&mut self, text: &str) {
        self.rest = self.rest.and_then(|rest| rest.strip_prefix(text));
    }
    fn push(&mut self, char: char) {
        self.rest = self.rest.and_then(|rest| rest.strip_prefix(char));
    }
}

#[cfg(test)]
mod tests {
    use super::{Expected, Out};

    #[test]
    fn only_the_whole_text_meets_the_expectation() {
        let met = |pieces: &[&str]| {
            let mut out = Expected::new("säge $1");
            for piece in pieces {
                out.push_str(piece);
            }
            out.is_met()
        };
        assert!(met(&["säge $1"]) && met(&["", "s", "ä", "ge ", "$1", ""]));
        assert!(!met(&[]) && !met(&["säge $"]) && !met(&["säge $1", "1"]) && !met(&["sage $1"]));
        let mut out = Expected::new("ä\n");
        out.push('ä');
        assert!(!out.is_met());
        out.push('\n');
        assert!(out.is_met());
        out.push('x');
        assert!(!out.is_met());
    }
}
