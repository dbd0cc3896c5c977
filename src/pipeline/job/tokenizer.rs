//! What counts tokens for an option. Gets the bytes of a file from its caller; knows no store.

use std::sync::Arc;

use crate::error::Result;
use crate::model::Tokenizer;
use crate::text::tokens::{TokenCounter, counter, from_json};

/// A tokenizer that is ready.
#[derive(Debug, Clone)]
pub struct LoadedTokenizer {
    /// What counts.
    pub counter: Arc<dyn TokenCounter>,
    /// BLAKE3 of the file that it came from, in hex.
    pub blake3: Option<String>,
}

/// What the option asks for; `None` for the estimate by characters, which the engine makes without looking at texts.
/// `read` gives the bytes of a file by its path.
///
/// # Errors
/// Those of `read`; `Usage` names the file that is no tokenizer, or the feature that this build leaves out.
pub fn load_tokenizer(
    tokenizer: &Tokenizer,
    read: impl FnOnce(&str) -> Result<Vec<u8>>,
) -> Result<Option<LoadedTokenizer>> {
    match tokenizer {
        Tokenizer::Chars => Ok(None),
        Tokenizer::O200kBase | Tokenizer::Cl100kBase => {
            Ok(Some(LoadedTokenizer { counter: counter(tokenizer)?, blake3: None }))
        }
        Tokenizer::File(path) => {
            let bytes = read(path)?;
            let counter = from_json(&bytes).map_err(|mut error| {
                error.place.clone_from(path);
                error
            })?;
            let blake3 = blake3::hash(&bytes).to_hex().to_string();
            Ok(Some(LoadedTokenizer { counter, blake3: Some(blake3) }))
        }
    }
}
