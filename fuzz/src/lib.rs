//! What the targets share: from the bytes of an input to options and a record, and a place for files.

// The invariants are those of the tests.
#[path = "../../tests/support/options.rs"]
mod options;
#[path = "../../tests/support/talk.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
pub mod talk;
#[path = "../../tests/support/whims.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
pub mod whims;

pub mod place;
mod script;

use condenser::model::{EngineOptions, Preset, Tokenizer};

pub use script::record_of;

/// Options as the first line of an input says them: nothing for the defaults, the name of a preset, a number for any options,
/// or an object of them. `None` where they do not go together.
pub fn options_of(line: &str) -> Option<EngineOptions> {
    let line = line.trim();
    let preset = Preset::ALL.into_iter().find(|preset| preset.as_str() == line);
    let options = match (preset, line.parse()) {
        (Some(preset), _) => preset.options().over(EngineOptions::default()),
        (None, Ok(seed)) => options::random_options(seed),
        (None, Err(_)) if line.is_empty() => EngineOptions::default(),
        (None, Err(_)) => serde_json::from_str(line).ok()?,
    };
    // Vocabularies are data of others, and take a while to be read.
    let options = EngineOptions { tokenizer: Tokenizer::Chars, ..options };
    options.check().is_ok().then_some(options)
}

/// An input as text: its first line, and what stands behind it.
pub fn head_and_body(data: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(data).ok()?.split_once('\n')
}
