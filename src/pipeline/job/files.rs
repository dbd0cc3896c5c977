//! What engines need of files that options name: what counts tokens, and what guesses uses. Gets the bytes of a file from its
//! caller; knows no store.

use std::sync::Arc;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::model::{EngineOptions, Tokenizer};
use crate::pipeline::ChatTemplate;
use crate::text::tokens::{TokenCounter, counter, from_json};
use crate::walk::UseModel;

/// What the files that options name hold.
#[derive(Debug, Clone, Default)]
pub struct EngineFiles {
    /// What counts tokens; `None` for the estimate by characters, which the engine makes without looking at texts.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// What guesses uses; `None` for the model that is built in.
    pub uses: Option<Arc<UseModel>>,
    /// How a model reads a chat, for training data; `None` where nobody asks.
    pub template: Option<ChatTemplate>,
    /// BLAKE3 in hex of the files: of the tokenizer, of the model.
    pub(super) hashes: (Option<String>, Option<String>),
}

impl EngineFiles {
    /// What these options name. `read` gives the bytes of a file by its path, and is told what it should be.
    ///
    /// # Errors
    /// Those of `read`; `Usage` names the file that is something else, or the feature that this build leaves out.
    pub fn load(options: &EngineOptions, read: impl Fn(&str, FileKind) -> Result<Vec<u8>>) -> Result<Self> {
        let mut files = Self::default();
        let hash = |bytes: &[u8]| Some(blake3::hash(bytes).to_hex().to_string());
        match &options.tokenizer {
            Tokenizer::Chars => {}
            named @ (Tokenizer::O200kBase | Tokenizer::Cl100kBase) => files.counter = Some(counter(named)?),
            Tokenizer::File(path) => {
                let bytes = read(path, FileKind::Tokenizer)?;
                let counter = from_json(&bytes).map_err(|mut error| {
                    error.place.clone_from(path);
                    error
                })?;
                (files.counter, files.hashes.0) = (Some(counter), hash(&bytes));
            }
        }
        if let Some(path) = &options.use_model {
            let bytes = read(path, FileKind::UseModel)?;
            let text = std::str::from_utf8(&bytes).map_err(|_| "it is no text".to_owned());
            let model = text.and_then(str::parse::<UseModel>);
            let wrong = |why| Error::usage(path, format!("this is no model of uses: {why}")).hinting(HOW_TO_LEARN);
            (files.uses, files.hashes.1) = (Some(Arc::new(model.map_err(wrong)?)), hash(&bytes));
        }
        Ok(files)
    }

    /// An engine with these options.
    ///
    /// # Errors
    /// Names the option that cannot be used.
    pub fn engine(&self, options: EngineOptions) -> Result<Engine> {
        let engine = match &self.counter {
            Some(counter) => Engine::counting(options, counter.clone())?,
            None => Engine::new(options)?,
        };
        Ok(match &self.uses {
            Some(model) => engine.with_use_model(model.clone()),
            None => engine,
        })
    }
}

/// How one gets a model.
pub const HOW_TO_LEARN: &str =
    "`condenser learn CORPUS -o use.toml` writes one; without `use_model` the built-in one is used";

/// What a file should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A `tokenizer.json`.
    Tokenizer,
    /// A model that `condenser learn` wrote.
    UseModel,
    /// A chat template, or the `tokenizer_config.json` that holds one.
    ChatTemplate,
}
