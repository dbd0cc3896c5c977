//! The questions of a job: its inputs go through the engine, with a model that answers from kept replies and writes
//! down what it cannot answer. No run is written.

use std::sync::Arc;

use condenser::error::Result;
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    Commit, Context, EncodedBatch, JobKind, JobSettings, Manifest, Model, PartSink, PartStart, Sink, Target,
    compress as compress_all, count_words,
};

use crate::cli::{block_on, block_on_thread, compaction, compress, inputs_of, place, progress, stores_of};

/// Sends the inputs of the job through its engine, which asks `model`; what comes out is dropped.
pub(super) fn through_engine(settings: &JobSettings, model: Arc<dyn Model>) -> Result<()> {
    let stores = stores_of(settings);
    let mut inputs = inputs_of(&settings.inputs, &stores, settings.quiet)?;
    if let (JobKind::Compaction, Target::Run(store)) = (settings.kind, &settings.target) {
        inputs = compaction::tonight(&place(store.as_ref(), &stores)?, inputs, &mut Vec::new())?;
    }
    let (corpus, plan) = compress::plan(settings, inputs)?;
    let words = if compress::job_counts_words(settings) {
        let (corpus, plan) = (corpus.clone(), plan.clone());
        Some(block_on_thread(move |_| count_words(&*corpus, &plan))?)
    } else {
        None
    };
    let engine = compress::engine(settings, words.as_ref())?;
    let context = compress::context(settings, engine, progress::observer(settings))?;
    let context = Context { model: Some(model), ..context };
    block_on(compress_all(&context, &plan, Vec::new(), corpus, &Nowhere)).map(drop)
}

/// Drops everything.
struct Nowhere;

impl Sink for Nowhere {
    type Part = Self;

    async fn begin(&self, _: &PartStart<'_>) -> Result<Self> {
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
