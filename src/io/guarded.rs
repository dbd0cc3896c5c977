//! Tables are read by libraries that may panic about what a damaged file says. Knows files; refuses to know formats.

use super::store::Blob;
use crate::error::{Error, Result};
use crate::pipeline::bridge::guard;

/// What `work` reads of the table in `file`. A panic says that the table is damaged, unless the store failed: then it may be whole.
pub(crate) fn guarded<T>(file: &Blob, work: impl FnOnce() -> Result<T>) -> Result<T> {
    guard(work).unwrap_or_else(|message| {
        let damaged = || format!("the table cannot be read: it is damaged: {message}");
        Err(file.failure().unwrap_or_else(|| Error::verification(file.location().to_string(), damaged())))
    })
}
