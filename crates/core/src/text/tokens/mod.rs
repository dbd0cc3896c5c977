//! Token counts: an estimate by characters, `o200k_base`, `cl100k_base`, and any `tokenizer.json` of Hugging Face. Gets
//! the bytes of such a file; knows no path, no message and no chat format.

mod counter;
#[cfg(feature = "tokenizers")]
mod file;
#[cfg(feature = "tokenizers")]
mod merges;
#[cfg(feature = "tokenizers")]
mod openai;
#[cfg(feature = "tokenizers")]
mod pieces;
#[cfg(feature = "tokenizers")]
mod short;

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::model::Tokenizer;

pub use counter::{Chars, TokenCounter, estimate};

/// The counter that a built-in name stands for.
///
/// # Errors
/// `Usage` for a file, whose bytes [`from_json`] takes, and for a name whose tokenizer this build leaves out.
pub fn counter(tokenizer: &Tokenizer) -> Result<Arc<dyn TokenCounter>> {
    match tokenizer {
        Tokenizer::Chars => Ok(Arc::new(Chars)),
        #[cfg(feature = "tokenizers")]
        Tokenizer::O200kBase => Ok(openai::o200k_base()),
        #[cfg(feature = "tokenizers")]
        Tokenizer::Cl100kBase => Ok(openai::cl100k_base()),
        #[cfg(not(feature = "tokenizers"))]
        Tokenizer::O200kBase | Tokenizer::Cl100kBase => Err(left_out(&String::from(tokenizer.clone()))),
        Tokenizer::File(path) => Err(Error::new(ErrorKind::Usage, path, "the tokenizer is a file that was not read")),
    }
}

/// The counter that a `tokenizer.json` describes. Special tokens are never added, truncation and padding are off, and
/// what is random in some files (dropout) is left out, so that equal texts have equal counts.
///
/// # Errors
/// `Usage` when the bytes are no tokenizer, when it cannot count every text, and when this build leaves it out.
pub fn from_json(bytes: &[u8]) -> Result<Arc<dyn TokenCounter>> {
    #[cfg(feature = "tokenizers")]
    return Ok(Arc::new(file::FileCounter::new(bytes)?));
    #[cfg(not(feature = "tokenizers"))]
    {
        let _ = bytes;
        Err(left_out("a tokenizer.json"))
    }
}

#[cfg(not(feature = "tokenizers"))]
fn left_out(name: &str) -> Error {
    let message = format!("this build of condenser has no `{name}`: it was built without the feature `tokenizers`");
    Error::new(ErrorKind::Usage, "tokenizer", message)
        .hinting("build with `--features tokenizers`, or use `tokenizer = \"chars\"`")
}
