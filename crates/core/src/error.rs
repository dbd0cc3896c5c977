//! The one error type of the library. Strange input is not an error but data; an error says that the caller,
//! a file or condenser itself must change before the work can go on.

use std::fmt;

/// What went wrong, where, and because of what.
#[derive(Debug)]
pub struct Error {
    /// Who can act, and how.
    pub kind: ErrorKind,
    /// The file, part or record: `logs.jsonl: line 17`. Empty when there is none.
    pub place: String,
    /// What exactly happened.
    pub message: String,
    /// The cause.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// What to do, when neither the kind nor the message says it.
    pub hint: Option<&'static str>,
}

/// Who can act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or the job file must change.
    Usage,
    /// A file or store cannot be read or written.
    Io,
    /// An input is not what it should be, beyond single records.
    Input,
    /// The inputs hold nothing that could be worked on.
    Empty,
    /// A run differs from what its commits promise.
    Verification,
    /// A run is not finished: what was begun must go on first.
    Unfinished,
    /// The user stopped the work.
    Interrupted,
    /// A defect of condenser.
    Internal,
}

/// The result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without a cause.
    pub fn new(kind: ErrorKind, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, place: place.into(), message: message.into(), source: None, hint: None }
    }

    /// The command line or the job file must change.
    pub fn usage(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, place, message)
    }

    /// A file or store cannot be read or written.
    pub fn io(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, place, message)
    }

    /// An input is not what it should be.
    pub fn input(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, place, message)
    }

    /// A run differs from what was promised.
    pub fn verification(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Verification, place, message)
    }

    /// A defect of condenser.
    pub fn internal(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, place, message)
    }

    /// The same error with its cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error with what to do about it.
    #[must_use]
    pub fn hinting(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.place, self.message) }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}
