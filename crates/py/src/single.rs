//! One conversation at a time.

use std::sync::{Mutex, PoisonError};

use condenser::app::{file_of_option, stores_of};
use condenser::error::{Error, Result};
use condenser_core as core;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::raised;
use crate::options;

/// Compresses records. Its scratch is used by one thread at a time.
#[pyclass(frozen, module = "condenser._condenser")]
pub(crate) struct Compressor(Mutex<core::Compressor>);

#[pymethods]
impl Compressor {
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        py.detach(|| made(options)).map(|compressor| Self(Mutex::new(compressor))).map_err(raised)
    }

    /// The shorter record, its sidecar, figures and decisions, each as JSON.
    fn compress(&self, py: Python<'_>, record: &str) -> PyResult<(String, String, String, String)> {
        py.detach(|| {
            let compressed = self.0.lock().unwrap_or_else(PoisonError::into_inner).compress(record);
            let compressed = compressed.map_err(refused)?;
            let core::Compressed { record, sidecar, metrics, decisions } = compressed;
            Ok((
                record,
                text_of(&sidecar)?,
                text_of(&metrics)?,
                text_of(&decisions.iter().map(told).collect::<Vec<_>>())?,
            ))
        })
        .map_err(raised)
    }

    /// The messages of a record, each as JSON.
    fn messages(&self, py: Python<'_>, record: &str) -> PyResult<Vec<String>> {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).messages(record).map_err(refused))
            .map_err(raised)
    }
}

fn refused(reject: core::Reject) -> Error {
    Error::input("", format!("{}: {}", reject.reason.as_str(), reject.detail))
}

/// The record that a compressed one was made from.
#[pyfunction]
pub(crate) fn restore_record(py: Python<'_>, record: &str, sidecar: &str) -> PyResult<String> {
    py.detach(|| {
        let sidecar: core::Sidecar = serde_json::from_str(sidecar)
            .map_err(|error| Error::verification("sidecar", "this is no sidecar").because(error))?;
        core::restore(record, &sidecar)
    })
    .map_err(raised)
}

/// The tokens of each text.
#[pyfunction]
pub(crate) fn count_tokens(py: Python<'_>, texts: Vec<String>, options: &str) -> PyResult<Vec<usize>> {
    py.detach(|| {
        let settings = options::of_options(options, &options::OF_RECORDS)?;
        let count = |text: &String| match &settings.files.counter {
            Some(counter) => counter.count(text),
            None => core::text::tokens::estimate(text.chars().count()),
        };
        Ok(texts.iter().map(count).collect())
    })
    .map_err(raised)
}

fn made(options: &str) -> Result<core::Compressor> {
    let settings = options::of_options(options, &options::OF_RECORDS)?;
    let stores = stores_of(&settings);
    let engine = settings.options.engine.clone();
    let files = condenser::pipeline::EngineFiles::load(&engine, |path, kind| file_of_option(path, kind, &stores))?;
    let mut compressor = match &files.counter {
        Some(counter) => core::Compressor::counting(engine, counter.clone())?,
        None => core::Compressor::new(engine)?,
    };
    if let Some(uses) = &files.uses {
        compressor = compressor.with_use_model(uses.clone());
    }
    Ok(match (&settings.options.map, settings.options.shape) {
        (Some(map), _) => compressor.with_map(map.clone()),
        (None, Some(shape)) => compressor.with_shape(shape),
        (None, None) => compressor,
    })
}

/// A decision by the names of the decisions table.
fn told(decision: &core::Decision) -> Value {
    let details: Vec<&str> = decision.details.iter().map(|detail| detail.as_str()).collect();
    json!({
        "message_index": decision.index, "action": decision.action.as_str(), "reason": decision.reason.as_str(), "details": details,
        "position": decision.position, "chars_in": decision.chars_in, "chars_out": decision.chars_out,
    })
}

fn text_of(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::internal("", "a result cannot be written").because(error))
}
