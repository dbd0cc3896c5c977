//! Stands where the model of a job stands, in builds without models: refuses jobs that ask one.

#![expect(clippy::unused_self, clippy::unused_async, reason = "the face is that of the real one")]

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::model::{Answer, Ask, NoAnswer};
use crate::pipeline::{JobSettings, Model, Observer};
use futures::future::{BoxFuture, ready};

/// No model.
#[derive(Debug, Default)]
pub(super) struct LateOracle {}

impl LateOracle {
    pub(super) fn open(&self, settings: &JobSettings, _run: Option<&Place>) -> Result<Option<Arc<dyn Model>>> {
        if settings.llm.is_some() && settings.asks_a_model() {
            let message = "this build leaves models out; build condenser with the feature `llm`";
            return Err(Error::usage("summarizer", message));
        }
        Ok(None)
    }

    pub(super) async fn close(&self, _observer: &dyn Observer) -> Result<()> {
        Ok(())
    }
}

/// Foresees nothing.
#[derive(Debug)]
pub(super) struct Foresight;

impl Foresight {
    pub(super) fn of(_settings: &JobSettings) -> Option<Arc<Self>> {
        None
    }

    pub(super) fn told(&self, _scale: f64) -> String {
        String::new()
    }
}

impl Model for Foresight {
    fn answer(&self, asks: Vec<Ask>) -> BoxFuture<'_, Result<Vec<Answer>>> {
        Box::pin(ready(Ok(vec![Answer::None(NoAnswer::Failed); asks.len()])))
    }
}
