//! The engines that a job asks for. Refuses to know what they are given.

use std::sync::Arc;

use crate::error::Result;
use crate::model::EngineOptions;
use crate::pipeline::{BestAboveFloor, ChatGuard, Condense, JobSettings};

/// The engine that `settings` ask for.
pub fn engine_of(settings: &JobSettings) -> Result<Arc<dyn Condense>> {
    let mut engines = Vec::new();
    for options in settings.options.engines() {
        engines.push(engine_with(settings, options)?);
    }
    let gentlest = engines.remove(0);
    let Some(policy) = &settings.options.policy else { return Ok(gentlest) };
    Ok(Arc::new(BestAboveFloor::new(gentlest, engines, policy.floor.clone(), settings.files.counter.as_ref())))
}

/// One engine of a job.
fn engine_with(settings: &JobSettings, options: &EngineOptions) -> Result<Arc<dyn Condense>> {
    let engine = settings.files.engine(options.clone())?;
    let engine: Arc<dyn Condense> = Arc::new(engine.explaining(settings.options.trace));
    if settings.options.dataset.is_none() {
        return Ok(engine);
    }
    Ok(Arc::new(ChatGuard::new(engine, settings.files.counter.as_ref())))
}
