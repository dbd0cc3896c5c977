//! The recommendation of a sweep as a job file that is ready to run. Knows keys of a job, not what they do.

use serde_json::Value;

use super::Recommended;
use super::document::{SweepChoice, SweepChoiceKind, SweepDocument, SweepFigures};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EngineArgs, EngineOptions, changes};
use crate::pipeline::numbers::counted;
use crate::pipeline::{JobArgs, TableOptions};

/// What stands in the job beside the options of the engine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobFrame {
    /// The inputs as written.
    pub inputs: Vec<String>,
    /// The run directory.
    pub output: String,
    /// What is said about the inputs.
    pub tables: TableOptions,
}

/// The job file: what was measured as comments, then the keys that differ from the defaults.
pub fn job_file(document: &SweepDocument, recommended: &Recommended, frame: &JobFrame) -> Result<String> {
    let internal = |error: String| Error::new(ErrorKind::Internal, "", format!("the job cannot be written: {error}"));
    let args = |base: &EngineOptions, options: &EngineOptions| -> Result<EngineArgs> {
        let keys = Value::Object(changes(base, options));
        serde_json::from_value(keys).map_err(|error| internal(error.to_string()))
    };
    let mut job = JobArgs {
        inputs: frame.inputs.clone(),
        output: Some(frame.output.clone()),
        shape: frame.tables.shape,
        map: frame.tables.map.clone(),
        messages_column: frame.tables.messages_column.clone(),
        engine: args(&EngineOptions::default(), &recommended.engine)?,
        ..JobArgs::default()
    };
    if let Some(policy) = &recommended.policy {
        job.policy = Some(policy.choose);
        job.floor.clone_from(&policy.floor);
        job.tries = policy.tries.iter().map(|options| args(&recommended.engine, options)).collect::<Result<_>>()?;
        // Without any, a job would try its own.
        if job.tries.is_empty() {
            job.tries.push(EngineArgs::default());
        }
    }
    let keys = toml::to_string(&job).map_err(|error| internal(error.to_string()))?;
    let comments: String = header(document).lines().map(|line| format!("# {line}\n")).collect();
    Ok(format!("{comments}\n{keys}"))
}

fn header(document: &SweepDocument) -> String {
    let SweepDocument { sample, recommendation, .. } = document;
    let mut text = format!(
        "Written by `condenser sweep` {} from {} of {}.\n{}\n",
        document.engine_version,
        sample.drawn,
        counted(sample.conversations as u64, "conversation"),
        says(recommendation)
    );
    let floor: Vec<String> = document.floor.iter().map(ToString::to_string).collect();
    text.push_str(&format!("floor:       {}\n", floor.join(", ")));
    text.push_str(&format!("on the sample: {}\n", line(&recommendation.figures)));
    text.push_str(&format!("difference to the options as given: {}\n", line(&recommendation.above_given)));
    if let Some(held_back) = &document.held_back {
        text.push_str(&format!(
            "on {} held back: {}\ndifference to the options as given: {}\n",
            counted(held_back.conversations as u64, "conversation"),
            line(&held_back.recommended),
            line(&held_back.above_given)
        ));
    }
    text
}

/// What is recommended, in words.
pub fn says(choice: &SweepChoice) -> &'static str {
    match choice.kind {
        SweepChoiceKind::AsGiven => "The options as given: nothing that was measured is shorter and above the floor.",
        SweepChoiceKind::OneSet => "One option set for all conversations.",
        SweepChoiceKind::Policy => {
            "The shortest of several option sets that is above the floor, for each conversation."
        }
    }
}

fn line(figures: &SweepFigures) -> String {
    let named = figures.figures.iter().map(|(name, interval)| format!("{name} {:.3}", interval.value));
    let all: Vec<String> = [format!("ratio {:.3}", figures.ratio.value)].into_iter().chain(named).collect();
    all.join(", ")
}
