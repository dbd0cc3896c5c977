//! The questions of a job: its inputs go through the engine, with a model that answers from kept replies and writes
//! down what it cannot answer. No run is written.

use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::compress::{context, prepared};
use super::engines::engine_of;
use super::{App, compaction, inputs_of, place, stores_of};
use crate::error::Result;
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    Commit, Context, EncodedBatch, JobKind, JobSettings, Manifest, Model, Observer, PartSink, Sink, Target,
};

/// Sends the inputs of the job through its engine, which asks `model`; what comes out is dropped.
pub fn ask_through(
    app: &App,
    settings: &JobSettings,
    model: Arc<dyn Model>,
    observer: &Arc<dyn Observer>,
) -> Result<()> {
    let stores = stores_of(settings);
    let mut inputs = inputs_of(app, &settings.inputs, &stores, &**observer)?;
    if let (JobKind::Compaction, Target::Run(store)) = (settings.kind, &settings.target) {
        inputs = compaction::tonight(&place(Path::new(store), &stores)?, settings, inputs, &mut Vec::new())?;
    }
    let (settings, corpus, plan) = prepared(settings, inputs, &[], None, &**observer)?;
    let context = context(&settings, engine_of(&settings)?, observer.clone())?;
    let context = Context { model: Some(model), ..context };
    let done = app.wait(crate::pipeline::compress(&context, &plan, Vec::new(), corpus, &Nowhere));
    observer.ends();
    done.map(drop)
}

/// Drops everything.
struct Nowhere;

impl Sink for Nowhere {
    type Part = Self;

    async fn begin(&self, _: usize, _: &str, _: Option<SchemaRef>) -> Result<Self> {
        Ok(Self)
    }

    async fn finish(&self, manifest: Manifest) -> Result<Manifest> {
        Ok(manifest)
    }
}

impl PartSink for Nowhere {
    async fn write(&mut self, _: EncodedBatch, _: &Bridge) -> Result<()> {
        Ok(())
    }

    async fn commit(self, commit: Commit, _: &Bridge) -> Result<Commit> {
        Ok(commit)
    }
}
