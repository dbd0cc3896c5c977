//! Errors of condenser as exceptions of Python: one class for each kind of who can act.

use condenser::error::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(condenser, CondenserError, PyException, "What all errors of condenser are.");
create_exception!(condenser, UsageError, CondenserError, "An option or a job must change.");
create_exception!(condenser, StoreError, CondenserError, "A file or store cannot be read or written.");
create_exception!(condenser, InputError, CondenserError, "An input is not what it should be.");
create_exception!(
    condenser,
    VerificationError,
    CondenserError,
    "Something differs from what was written: it is damaged."
);
create_exception!(
    condenser,
    UnfinishedError,
    CondenserError,
    "A run is not finished; the job that began it goes on with it."
);
create_exception!(condenser, InternalError, CondenserError, "A defect of condenser.");

/// The error with its place, its causes and what to do.
pub(crate) fn raised(error: Error) -> PyErr {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    if let Some(hint) = error.hint {
        text.push_str(&format!("\nhint: {hint}"));
    }
    let text = named(&text);
    match error.kind {
        ErrorKind::Usage => UsageError::new_err(text),
        ErrorKind::Io => StoreError::new_err(text),
        ErrorKind::Input | ErrorKind::Empty => InputError::new_err(text),
        ErrorKind::Verification => VerificationError::new_err(text),
        ErrorKind::Unfinished => UnfinishedError::new_err(text),
        ErrorKind::Interrupted => PyKeyboardInterrupt::new_err(text),
        ErrorKind::Internal => InternalError::new_err(text),
    }
}

/// `text` with flags of the command line under the names that they have here.
fn named(text: &str) -> String {
    let mut parts = text.split("--");
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (flag, rest) = part.split_at(end);
        if flag.is_empty() || !named.is_empty() && !named.ends_with([' ', '`', '(']) {
            named.push_str("--");
            named.push_str(part);
        } else if named.ends_with('`') {
            named.push_str(&flag.replace('-', "_"));
            named.push_str(rest);
        } else {
            named.push_str(&format!("`{}`{rest}", flag.replace('-', "_")));
        }
    }
    named
}

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, class) in [
        ("CondenserError", py.get_type::<CondenserError>()),
        ("UsageError", py.get_type::<UsageError>()),
        ("StoreError", py.get_type::<StoreError>()),
        ("InputError", py.get_type::<InputError>()),
        ("VerificationError", py.get_type::<VerificationError>()),
        ("UnfinishedError", py.get_type::<UnfinishedError>()),
        ("InternalError", py.get_type::<InternalError>()),
    ] {
        module.add(name, class)?;
    }
    Ok(())
}
