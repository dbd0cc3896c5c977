//! The threshold with which a job reaches the ratio that it asks for: as the plan of a run says that was begun, else settled on a
//! sample of the inputs. Knows jobs and places; refuses to know what a threshold takes.

use super::engines::engine_of;
use super::inputs::tables_of;
use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::io::{Inputs, plan_at};
use crate::model::Conversation;
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    BatchOptions, JobSettings, News, Observer, PLACE_BYTES, PlannedInput, SAMPLE_BYTES, Settled, Slice, places, sample,
    threshold_for,
};

/// The job with its threshold. `inputs` are planned as `slices`; `runs` may have been settled before, the first that was decides.
pub(super) fn settled(
    settings: &JobSettings,
    (inputs, slices): (&mut Inputs, &[(PlannedInput, Vec<Slice>)]),
    runs: &[Place],
    observer: &dyn Observer,
) -> Result<JobSettings> {
    let mut settings = settings.clone();
    let Some(ratio) = settings.options.target_ratio.filter(|_| settings.options.settled.is_none()) else {
        return Ok(settings);
    };
    for run in runs {
        if let Some(plan) = plan_at(run)?.filter(|plan| plan.options.target_ratio == Some(ratio)) {
            settings.options.engine.worth_threshold = plan.options.engine.worth_threshold;
            settings.options.settled = plan.options.settled;
            return Ok(settings);
        }
    }
    if let Some(pipe) = inputs.list().iter().find(|input| input.is_named_pipe()) {
        let message = "a named pipe is read once, and a sample is needed before";
        return Err(Error::usage(&pipe.name, message).hinting("pass it through stdin, as `-`, or write it to a file"));
    }
    observer.news(News::Note("a sample of the inputs is looked at for the target ratio"));
    let (drawn, of_all) = draw(&settings, (inputs, slices))?;
    let engine = |threshold: u32| {
        let mut settings = settings.clone();
        settings.options.engine.worth_threshold = Some(threshold);
        engine_of(&settings)
    };
    let (threshold, reached) = threshold_for(ratio, &drawn, &engine, &Bridge::new(settings.threads)?)?;
    let of = if of_all { "all inputs" } else { "a sample" };
    let note = format!(
        "target ratio {ratio:.2}: threshold {threshold} gives {reached:.2} over {of}, not counting the last messages, which stay"
    );
    observer.news(News::Note(&note));
    settings.options.engine.worth_threshold = Some(threshold);
    settings.options.settled = Some(Settled { ratio: reached, of_all });
    Ok(settings)
}

/// The conversations of the sample, and whether these are all.
fn draw(
    settings: &JobSettings,
    (inputs, slices): (&mut Inputs, &[(PlannedInput, Vec<Slice>)]),
) -> Result<(Vec<Conversation<'static>>, bool)> {
    let (read_as, list) = (settings.options.read_as(), inputs.list().to_vec());
    let is_small = slices.iter().filter_map(|(input, _)| input.bytes).sum::<u64>() <= SAMPLE_BYTES;
    let (head, is_all_of_pipe) = inputs.peek(SAMPLE_BYTES)?;
    if is_small {
        let drawn = sample(&head, slices, &places(slices), read_as)?;
        return Ok((drawn, is_all_of_pipe));
    }
    let batches = BatchOptions { batch_bytes: PLACE_BYTES as usize / 4, ..inputs.batches() };
    let (_, slices) = Inputs::plan(list, batches, tables_of(settings), PLACE_BYTES)?;
    Ok((sample(&head, &slices, &places(&slices), read_as)?, false))
}
