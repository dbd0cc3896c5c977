//! The split of a data set: made before the first part of its run, from a survey of all inputs, and asked by workers afterwards. Knows
//! jobs and places; refuses to know how a split is made.

use std::path::Path;
use std::sync::Arc;

use super::{App, place, stores_of};
use crate::error::{Error, Result};
use crate::io::store::Place;
use crate::io::{Input, Listing, Splitter, VerdictFile, check_writable, expand, plan_at, read_evaluation};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::split::{ById, EvaluationItems, PlannedSplit, Surveyor, Verdicts, survey};
use crate::pipeline::{Context, Corpus, JobSettings, News, Observer, Progress, RowForm, RunPlan, SplitOptions};
use crate::report::numbers::{count, counted};

/// The job that a split is made for.
pub(super) struct SplitJob<'j> {
    pub(super) settings: &'j JobSettings,
    pub(super) corpus: &'j Arc<dyn Corpus>,
    pub(super) observer: &'j Arc<dyn Observer>,
    /// Everything that holds for its pipeline, with somebody else who watches.
    pub(super) context: &'j dyn Fn(Arc<dyn Observer>) -> Result<Context>,
}

/// Refuses inputs that are read once where a split needs them twice.
pub(super) fn refuse_pipes(settings: &JobSettings, inputs: &[Input]) -> Result<()> {
    if !settings.options.split.as_ref().is_some_and(SplitOptions::needs_survey) {
        return Ok(());
    }
    let is_pipe = |input: &&Input| input.file.is_none() || input.is_named_pipe();
    inputs.iter().find(is_pipe).map_or(Ok(()), |pipe| {
        let message =
            "a pipe is read once, and the split of a data set is made of all conversations before the first is written";
        let hint = "write it to a file, or let ids alone decide: group_by = \"id\", dedup = \"none\" in [dataset]";
        Err(Error::usage(&pipe.name, message).hinting(hint))
    })
}

/// The plan with the split of its conversations, where it has one: the one with which the run at `run` was begun, or else one that
/// is made now and put there.
pub(super) fn with_split(app: &App, job: &SplitJob<'_>, plan: RunPlan, run: &Place) -> Result<RunPlan> {
    let options = &plan.options;
    let (Some(split), Some(dataset)) = (options.split.as_ref().filter(|split| split.needs_survey()), &options.dataset)
    else {
        return Ok(plan);
    };
    // A run of another job is refused by who writes to it.
    if plan.split.is_some() || plan_at(run)?.is_some() {
        return Ok(plan);
    }
    check_writable(run)?;
    let made = make(app, job, (&plan, split, dataset.eval_share), run);
    job.observer.ends();
    run.settle();
    let made = made?;
    job.observer.news(News::Note(&told(&made)));
    Ok(RunPlan { split: Some(made), ..plan })
}

fn make(
    app: &App,
    job: &SplitJob<'_>,
    (plan, split, eval_share): (&RunPlan, &SplitOptions, f64),
    run: &Place,
) -> Result<PlannedSplit> {
    let settings = job.settings;
    let dataset = settings.options.dataset.as_ref();
    let is_preference = dataset.is_some_and(|dataset| dataset.form == RowForm::Preference);
    let surveyor = Arc::new(Surveyor {
        items: evaluation_items(settings, split, &**job.observer)?,
        has_alternatives: is_preference,
    });
    let earlier = split.split_from.as_deref().map(|earlier| sides_of(earlier, settings)).transpose()?;
    let earlier = earlier.as_ref().map(|(run, split)| (run, split));
    let mut splitter = Splitter::new(split, eval_share, run.as_local().map(Path::to_path_buf), earlier)?;
    job.observer.news(News::Note("all inputs are looked at for the split"));
    let context = (job.context)(Arc::new(Survey(job.observer.clone())))?;
    context.observer.begins(plan, &Progress::default());
    app.wait(async {
        survey(&context, plan, job.corpus.clone(), surveyor.clone(), &mut splitter).await?;
        let made = Bridge::run_blocking("split", move || splitter.decide(&surveyor.items)).await?;
        made.put(run).await
    })
}

/// Who is asked about the conversations of a data set; nobody for other jobs.
pub(super) async fn verdicts_of(plan: &RunPlan, run: &Place) -> Result<Option<Arc<dyn Verdicts>>> {
    let options = &plan.options;
    let (Some(split), Some(dataset)) = (&options.split, &options.dataset) else { return Ok(None) };
    let Some(planned) = plan.split.clone() else {
        let by_id = ById { seed: split.seed, eval_share: dataset.eval_share };
        return Ok(Some(Arc::new(by_id)));
    };
    let root = run.clone();
    let file = Bridge::run_blocking("split", move || VerdictFile::open(&root, &planned)).await?;
    Ok(Some(Arc::new(file)))
}

/// What stands in the evaluation files of a job.
fn evaluation_items(settings: &JobSettings, split: &SplitOptions, observer: &dyn Observer) -> Result<EvaluationItems> {
    let mut items = EvaluationItems::default();
    if split.decontaminate.is_empty() {
        return Ok(items);
    }
    let is_run =
        |run: &Place| Err(Error::usage(run.to_string(), "this is a run; name the evaluation files themselves"));
    let stores = stores_of(settings);
    let Listing { inputs, .. } = expand(&split.decontaminate, &stores, &mut { is_run }, &mut Err)?;
    for input in &inputs {
        let file = input.file.as_ref().filter(|_| !input.is_named_pipe());
        let file = file.ok_or_else(|| Error::usage(&input.name, "an evaluation file is a file, and this is a pipe"))?;
        read_evaluation(&input.name, file, &mut items)?;
    }
    let (texts, files) = (counted(items.len() as u64, "text"), counted(inputs.len() as u64, "evaluation file"));
    observer.news(News::Note(&format!("{texts} of {files} must stand in no conversation")));
    Ok(items.ready())
}

/// The run whose sides are kept, and what its plan says of them.
fn sides_of(run: &str, settings: &JobSettings) -> Result<(Place, PlannedSplit)> {
    let root = place(Path::new(run), &stores_of(settings))?;
    let plan = plan_at(&root)?.ok_or_else(|| Error::usage(run, "there is no run here whose sides could be kept"))?;
    let split = plan.split.ok_or_else(|| Error::usage(run, "this run has no split that could be kept"))?;
    Ok((root, split))
}

/// What a split came to, in a sentence.
fn told(split: &PlannedSplit) -> String {
    let PlannedSplit { train, eval, duplicates, near_duplicates, contaminated, .. } = split;
    let left = [(duplicates, "duplicate"), (near_duplicates, "near-duplicate")].map(|(n, noun)| counted(*n, noun));
    format!(
        "split: {} for train, {} for eval; left out: {}, {}, {} contaminated",
        counted(*train, "conversation"),
        count(*eval),
        left[0],
        left[1],
        count(*contaminated)
    )
}

/// Tells how far a survey is, and nothing of parts, which are read once more.
struct Survey(Arc<dyn Observer>);

impl Observer for Survey {
    fn news(&self, news: News<'_>) {
        self.0.news(news);
    }
    fn begins(&self, plan: &RunPlan, before: &Progress) {
        self.0.begins(plan, before);
    }
    fn progress(&self, progress: &Progress) {
        self.0.progress(progress);
    }
}
