//! The engines that a job asks for. Refuses to know what they are given.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::model::{EngineOptions, LookAhead, Role};
use crate::pipeline::split::Side;
use crate::pipeline::{
    BestAboveFloor, ByAge, ChatGuard, Condense, EngineWish, JobKind, JobSettings, RowCompressor, Trainer,
};

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

/// What compresses rows that the caller holds, as a job with these settings would, on `threads` threads; 0 means one per
/// core, 1 the caller's own.
///
/// # Errors
/// `Usage` names the option that only a job can follow.
pub fn row_compressor(settings: &JobSettings, threads: usize) -> Result<RowCompressor> {
    if settings.options.ages.is_some() || settings.kind == JobKind::Compaction {
        return Err(Error::usage(
            "kind",
            "compaction goes by the ages of logs; rows of a table are conversations at rest",
        ));
    }
    RowCompressor::new(engine_of(settings)?, settings.options.clone(), threads)
}

/// One engine of a job.
fn engine_with(settings: &JobSettings, options: &EngineOptions) -> Result<Arc<dyn Condense>> {
    let engine = settings.files.engine(options.clone())?;
    Ok(Arc::new(engine.explaining(settings.options.trace)))
}

/// What makes training data, where the job asks for it: for each side an engine that looks ahead as far as is right there, and
/// such with a budget.
pub(super) fn trainer_of(settings: &JobSettings) -> Result<Option<Arc<Trainer>>> {
    let Some(options) = settings.options.dataset.clone() else { return Ok(None) };
    let dataset = options.clone();
    let of_side = move |settings: &JobSettings, side: Side| {
        let mut settings = settings.clone();
        let policy = settings.options.policy.iter_mut().flat_map(|policy| &mut policy.tries);
        for engine in std::iter::once(&mut settings.options.engine).chain(policy) {
            let as_asked = engine.looks_ahead();
            let mut ahead = dataset.look_ahead(side, as_asked);
            // A budget looks at a whole conversation, if not at what it uses later.
            if engine.token_budget.is_some() && ahead == Some(LookAhead::Strict) {
                ahead = Some(LookAhead::Off);
            }
            if let Some(look_ahead) = ahead.filter(|_| ahead != as_asked) {
                (engine.look_ahead, engine.distractors) = (look_ahead, 0.0);
                // Whether what answers use still stands is asked of guesses, too.
                engine.all_figures = true;
            }
        }
        settings
    };
    let guarded = |settings: &JobSettings| -> Result<Arc<dyn Condense>> {
        Ok(Arc::new(ChatGuard::new(engine_for_all(settings)?, settings.files.counter.as_ref())))
    };
    let made = move |settings: &JobSettings, wish: EngineWish| {
        let mut settings = of_side(settings, wish.side);
        let policy = settings.options.policy.iter_mut().flat_map(|policy| &mut policy.tries);
        for engine in std::iter::once(&mut settings.options.engine).chain(policy) {
            if wish.keeps_users {
                engine.preserve.push(Role::User.as_str().to_owned());
            }
        }
        guarded(&settings)
    };
    let wish = |side, keeps_users| EngineWish { side, keeps_users, within: None };
    let wishes = [Side::Train, Side::Eval].map(|side| [false, true].map(|keeps_users| wish(side, keeps_users)));
    let mut ready = Vec::new();
    for wish in wishes.into_iter().flatten() {
        ready.push((wish, made(settings, wish)?));
    }
    let job = settings.clone();
    let engines = move |wish: EngineWish| {
        let Some(budget) = wish.within else {
            let found = ready.iter().find(|(of, _)| *of == wish).map(|(_, engine)| engine.clone());
            return found.ok_or_else(|| Error::internal("", "an engine of a data set is missing"));
        };
        let mut settings = job.clone();
        settings.options.policy = None;
        settings.options.engine.token_budget = Some(budget);
        made(&settings, wish)
    };
    let (template, counter) = (settings.files.template.clone(), settings.files.counter.clone());
    Ok(Some(Arc::new(Trainer::new(options, &settings.options.engine, Box::new(engines), template, counter))))
}
