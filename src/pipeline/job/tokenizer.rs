//! What counts tokens for an option. Gets the bytes of a file from its caller; knows no store.

use std::sync::Arc;

use crate::error::Result;
use crate::model::Tokenizer;
use crate::text::tokens::{TokenCounter, counter, from_json};

/// What counts tokens, and the BLAKE3 in hex of the file that it came from.
type Loaded = (Arc<dyn TokenCounter>, Option<String>);

/// What counts as the option asks for, with the BLAKE3 in hex of the file that it came from; `None` for the estimate by characters, which the engine makes without looking at texts.
/// `read` gives the bytes of a file by its path.
///
/// # Errors
/// Those of `read`; `Usage` names the file that is no tokenizer, or the feature that this build leaves out.
pub fn load_tokenizer(tokenizer: &Tokenizer, read: impl FnOnce(&str) -> Result<Vec<u8>>) -> Result<Option<Loaded>> {
    match tokenizer {
        Tokenizer::Chars => Ok(None),
        Tokenizer::O200kBase | Tokenizer::Cl100kBase => Ok(Some((counter(tokenizer)?, None))),
        Tokenizer::File(path) => {
            let bytes = read(path)?;
            let counter = from_json(&bytes).map_err(|mut error| {
                error.place.clone_from(path);
                error
            })?;
            Ok(Some((counter, Some(blake3::hash(&bytes).to_hex().to_string()))))
        }
    }
}
