//! The front door: a record in, a shorter one out, and the sidecar that brings the record back. Knows what the floors
//! below do; refuses to know how any of it is done.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Scratch};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Decision, EngineOptions, FieldMap, Metrics, Original, ReadAs, Reject, RejectReason, ShapeName};
use crate::shape::{self, decode, restore_record, restores_record};
use crate::summary::Adapter;
use crate::text::tokens::TokenCounter;
use crate::walk::UseModel;

/// Compresses records, one after the other. Equal records with equal options have equal results.
#[derive(Debug)]
pub struct Compressor {
    engine: Engine,
    shape: Option<ShapeName>,
    map: Option<FieldMap>,
    scratch: Scratch,
}

/// What became of a record.
#[derive(Debug, Clone)]
pub struct Compressed {
    /// The record, in the shape in which it came: messages that are kept are the same bytes.
    pub record: String,
    /// What [`restore`] needs to bring the record back.
    pub sidecar: Sidecar,
    /// What was gained, and what was lost from view.
    pub metrics: Metrics,
    /// What happened to each message of the record, in its order.
    pub decisions: Vec<Decision>,
}

/// What a compressed record does not hold of the one it was made from. Comes back equal from any format of `serde`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Of the record, in hexadecimal digits.
    blake3: String,
    /// Key order, spacing, escapes, where the compressed record does not show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layout: Option<String>,
    /// Messages that others stand for: index in the output, index in the input, exact JSON.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    originals: Vec<(usize, usize, String)>,
    /// The whole record, where nothing less brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<String>,
}

impl Compressor {
    /// A compressor that does what `options` say.
    ///
    /// # Errors
    /// `Usage` when an option has a value that cannot hold, and when it names a `tokenizer.json`: that is for
    /// [`Compressor::counting`].
    pub fn new(options: EngineOptions) -> Result<Self> {
        Engine::new(options).map(Self::of)
    }

    /// Like [`Compressor::new`], counting tokens with `counter`, whatever the option `tokenizer` names.
    ///
    /// # Errors
    /// `Usage` when an option has a value that cannot hold.
    pub fn counting(options: EngineOptions, counter: Arc<dyn TokenCounter>) -> Result<Self> {
        Engine::counting(options, counter).map(Self::of)
    }

    fn of(engine: Engine) -> Self {
        Self { engine, shape: None, map: None, scratch: Scratch::default() }
    }

    /// Reads every record in this shape, instead of one that fits it.
    #[must_use]
    pub fn with_shape(self, shape: ShapeName) -> Self {
        Self { shape: Some(shape), ..self }
    }

    /// Reads every record as `map` says, whatever its shape.
    #[must_use]
    pub fn with_map(self, map: FieldMap) -> Self {
        Self { map: Some(map), ..self }
    }

    /// Guesses with `model` what is used later, where [`EngineOptions::look_ahead`] is off.
    #[must_use]
    pub fn with_use_model(self, model: Arc<UseModel>) -> Self {
        Self { engine: self.engine.with_use_model(model), ..self }
    }

    /// Adds `adapters` for formats of the caller, which are asked before those of the options.
    ///
    /// # Errors
    /// None that [`Compressor::new`] did not have.
    pub fn with_adapters(self, adapters: Vec<Arc<dyn Adapter>>) -> Result<Self> {
        Ok(Self { engine: self.engine.with_adapters(adapters)?, ..self })
    }

    /// Compresses `record`, a conversation as JSON, in time in proportion to its length. That [`restore`] gives the same
    /// bytes again was tried before this returns.
    ///
    /// # Errors
    /// Says why the record holds no conversation in a known shape.
    pub fn compress(&mut self, record: &str) -> std::result::Result<Compressed, Reject> {
        let blake3 = blake3::hash(record.as_bytes()).to_hex().to_string();
        let decoded =
            decode(record, read_as(self.map.as_ref(), self.shape, record)?, blake3.get(..16).unwrap_or_default())?;
        let condensed = self.engine.condense(&decoded.conversation, &mut self.scratch);
        let (shorter, layout) = decoded.condensed_record_and_layout(&condensed, self.engine.options().provenance);
        let originals = decoded.originals(&condensed);
        let sidecar = if restores_record(&shorter, layout.as_deref(), &originals, record) {
            let owned = |it: Original<'_>| (it.position, it.message_index, it.message.to_owned());
            Sidecar { blake3, layout, originals: originals.into_iter().map(owned).collect(), record: None }
        } else {
            Sidecar { blake3, layout: None, originals: Vec::new(), record: Some(record.to_owned()) }
        };
        Ok(Compressed { record: shorter, sidecar, metrics: condensed.metrics, decisions: condensed.decisions })
    }

    /// The messages of `record`, as they stand in it: what `message_index` and `position` of a decision count.
    ///
    /// # Errors
    /// Says why the record holds no conversation in a known shape.
    pub fn messages(&self, record: &str) -> std::result::Result<Vec<String>, Reject> {
        let decoded = decode(record, read_as(self.map.as_ref(), self.shape, record)?, "")?;
        Ok(decoded.conversation.messages.iter().map(|message| message.raw.to_owned()).collect())
    }
}

/// As what `record` is read: as `map` or `shape` say, else in the shape that it has.
fn read_as<'m>(
    map: Option<&'m FieldMap>,
    shape: Option<ShapeName>,
    record: &str,
) -> std::result::Result<ReadAs<'m>, Reject> {
    let unknown = || match decode(record, ReadAs::Shape(ShapeName::Openai), "") {
        // What is no JSON has no shape either.
        Err(reject) if reject.reason == RejectReason::InvalidJson => reject,
        _ => Reject {
            reason: RejectReason::UnknownShape,
            detail: format!("the record holds no conversation in a known shape; {}", shape::advice(record)),
        },
    };
    let told = ReadAs::told(map, shape);
    told.or_else(|| shape::detect(record).map(ReadAs::Shape)).ok_or_else(unknown)
}

/// The record that `compressed` was made from, byte for byte.
///
/// # Errors
/// `Verification` when the two do not belong together, or one of them was changed.
pub fn restore(compressed: &str, sidecar: &Sidecar) -> Result<String> {
    let refused = |why: &str| Error::new(ErrorKind::Verification, "", format!("the record does not come back: {why}"));
    let originals = sidecar.originals.iter().map(|(position, message_index, message)| Original {
        position: *position,
        message_index: *message_index,
        message,
    });
    let originals: Vec<Original<'_>> = originals.collect();
    let record = match &sidecar.record {
        Some(record) => record.clone(),
        None => restore_record(compressed, sidecar.layout.as_deref(), &originals).map_err(|error| refused(&error.0))?,
    };
    if *blake3::hash(record.as_bytes()).to_hex() != *sidecar.blake3 {
        return Err(refused("it is not the one that the sidecar was made for"));
    }
    Ok(record)
}
