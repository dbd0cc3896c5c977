//! The engines that a job asks for. Refuses to know what they are given.

use std::sync::Arc;

use crate::error::Result;
use crate::model::{EngineOptions, LookAhead};
use crate::pipeline::{BestAboveFloor, ByAge, ChatGuard, Condense, JobSettings};

/// The engine that `settings` ask for; where conversations may go on, one that treats them by their age.
pub fn engine_of(settings: &JobSettings) -> Result<Arc<dyn Condense>> {
    if settings.options.ages.is_none() {
        return engine_for_all(settings);
    }
    let mut open = settings.clone();
    let policy = open.options.policy.iter_mut().flat_map(|policy| &mut policy.tries);
    for engine in std::iter::once(&mut open.options.engine).chain(policy) {
        // What looks not ahead at all does so anyway.
        if engine.looks_ahead() == Some(LookAhead::Turns) {
            engine.look_ahead = LookAhead::Off;
        }
    }
    let counter = settings.files.counter.as_ref();
    Ok(Arc::new(ByAge::new(engine_for_all(settings)?, engine_for_all(&open)?, counter)))
}

fn engine_for_all(settings: &JobSettings) -> Result<Arc<dyn Condense>> {
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
