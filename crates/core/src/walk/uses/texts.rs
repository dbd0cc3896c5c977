//! All texts of a conversation in one buffer, so that a place in any of them is one number. Knows who says a text and
//! refuses to know what becomes of it.

/// Bytes behind the last text, so that a look at eight or sixty-four bytes never leaves the buffer.
pub(super) const PADDING: usize = 64;

/// Who says a text; of arguments, whether they must repeat a text exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaidBy {
    /// Rules of the conversation.
    System,
    /// What a person says.
    Human,
    /// What a person said, where something else stands for it now.
    Spoken,
    /// What a tool returns.
    Result,
    /// What the assistant says.
    Assistant,
    /// What it thinks.
    Thought,
    /// A leaf of the arguments of a call.
    Argument,
    /// A leaf that a text must hold exactly: what an edit replaces.
    Copied,
}

impl SaidBy {
    /// True for what a conversation takes its knowledge from: whatever is not the assistant's.
    pub(in crate::walk) fn is_source(self) -> bool {
        matches!(self, Self::System | Self::Human | Self::Result)
    }

    /// True for what goes on to use what sources show.
    pub(in crate::walk) fn is_user(self) -> bool {
        !matches!(self, Self::System | Self::Result)
    }

    /// True for what the assistant says or thinks, beside what it calls.
    pub(in crate::walk) fn is_answer(self) -> bool {
        matches!(self, Self::Assistant | Self::Thought)
    }

    /// True for a leaf of the arguments of a call.
    pub(in crate::walk) fn is_argument(self) -> bool {
        matches!(self, Self::Argument | Self::Copied)
    }
}

/// A text of a message: bytes `from..to` of the buffer.
#[derive(Debug, Clone, Copy)]
pub(in crate::walk) struct Text {
    /// First byte.
    pub(in crate::walk) from: usize,
    /// The byte behind the last.
    pub(in crate::walk) to: usize,
    /// Index of the message.
    pub(in crate::walk) message: u32,
    /// Index of the text among the parts of the message; of arguments, of the call; of a thought, among the thoughts.
    pub(in crate::walk) part: u32,
    /// Who says it.
    pub(in crate::walk) by: SaidBy,
    /// How many lines it has.
    pub(in crate::walk) n_lines: u32,
}

/// A text of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::walk) struct Place {
    /// Index of the message.
    pub(in crate::walk) message: u32,
    /// Index of the part of its content; of an argument, of the call.
    pub(in crate::walk) part: u32,
    /// It is a leaf of the arguments of a call.
    pub(in crate::walk) is_argument: bool,
}

/// In the place of a message: it is one of another conversation.
const ELSEWHERE: u32 = u32::MAX;

impl Place {
    /// What another conversation shows, by its number among all that is known of.
    pub(in crate::walk) fn elsewhere(number: usize) -> Self {
        Self { message: ELSEWHERE, part: number as u32, is_argument: false }
    }

    /// Index of the message; of what another conversation shows, the number of that.
    pub(in crate::walk) fn message(self) -> Result<usize, usize> {
        if self.message == ELSEWHERE { Err(self.part as usize) } else { Ok(self.message as usize) }
    }
}

impl Text {
    /// Where it stands.
    pub(in crate::walk) fn place(&self) -> Place {
        Place { message: self.message, part: self.part, is_argument: self.by.is_argument() }
    }
}

/// The texts of one conversation in its order; the memory is reused.
#[derive(Debug, Default)]
pub(in crate::walk) struct Texts {
    bytes: Vec<u8>,
    texts: Vec<Text>,
}

impl Texts {
    /// Forgets all texts.
    pub(in crate::walk) fn clear(&mut self) {
        self.bytes.clear();
        self.texts.clear();
    }

    /// Adds a text; messages come in ascending order.
    pub(in crate::walk) fn push(&mut self, message: usize, part: usize, by: SaidBy, text: &str) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        // Counted now, while the processor has them at hand.
        let n_lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32 + 1;
        let (message, part) = (message as u32, part as u32);
        self.texts.push(Text { from, to: self.bytes.len(), message, part, by, n_lines });
        self.bytes.push(b'\n');
    }

    /// Ends the buffer; nothing is added afterwards.
    pub(in crate::walk) fn seal(&mut self) {
        self.bytes.resize(self.bytes.len() + PADDING, 0);
    }

    /// The texts in order.
    pub(in crate::walk) fn all(&self) -> &[Text] {
        &self.texts
    }

    /// The buffer, with its padding.
    pub(in crate::walk) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of all texts together.
    pub(in crate::walk) fn n_bytes(&self) -> usize {
        self.bytes.len()
    }
}
