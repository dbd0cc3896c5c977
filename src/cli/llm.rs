//! `condenser llm`: the questions of a job go to a model in batches. Each command may be killed and repeated; what they
//! do stands in `condenser::llm::batch`, here are settings, sentences and exit codes.

mod distill;
mod learn;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use condenser::app::{App, ask_through, place, read_key, replies_dir, stores_of};
use condenser::error::{Error, Result};
use condenser::llm::batch::{self, Asking, BatchLimits, BatchStage, Batches, Endpoint, Receipt};
use condenser::llm::{ModelSettings, Patience, Prompts, ReplyStore, Usage};
use condenser::pipeline::{JobSettings, LlmSettings, Target};
use condenser::report::numbers::{by_count, counted};
use condenser::report::plain;
use serde_json::{Value, json};

use super::args::{BatchArgs, ModelCommand, PollArgs};
use super::end::Ending;
use super::progress::observer;
use super::{message, run as run_job};

/// Batches take minutes to hours.
const POLL_EVERY: Duration = Duration::from_mins(1);
const NOTHING_OPEN: &str = "nothing is open: run the job";

/// Runs a command.
pub(super) fn run(app: &App, command: ModelCommand) -> Result<Ending> {
    match command {
        ModelCommand::Plan(args) => plan_batches(app, &args),
        ModelCommand::Submit(args) => submit(app, &args),
        ModelCommand::Poll(args) => poll(app, &args),
        ModelCommand::Fetch(args) => fetch(app, &args),
        ModelCommand::Status(args) => status(&args),
        ModelCommand::Learn(args) => learn::run(app, &args),
        ModelCommand::Distill(args) => distill::run(app, &args),
    }
}

/// A job that asks a model, and where its replies are.
struct Job {
    settings: JobSettings,
    model: LlmSettings,
    folder: PathBuf,
}

impl Job {
    fn read(args: &BatchArgs) -> Result<Self> {
        let settings = run_job::read(&args.job, &args.set)?;
        let name = args.job.to_string_lossy();
        let Some(model) = settings.llm.clone() else {
            return Err(Error::usage(name, "the job asks no model, so there is nothing to plan")
                .hinting("name one with model = \"…\" in the table [llm], and tell the engine what to ask it"));
        };
        let stores = stores_of(&settings);
        let run = match &settings.target {
            Target::Run(path) => Some(place(Path::new(path), &stores)?),
            Target::Filter => None,
        };
        let folder = replies_dir(settings.kind, &model, run.as_ref())?;
        Ok(Self { settings, model, folder })
    }

    fn store(&self) -> Result<ReplyStore> {
        ReplyStore::open(&self.folder, self.model.shared_cache.as_deref().map(Path::new))
    }

    /// The API, with its key.
    fn endpoint(&self) -> Result<Endpoint> {
        Endpoint::new(&self.model, self.model.key(read_key)?.as_ref(), Patience::default())
    }

    fn says(&self, args: &BatchArgs, sentence: &str, object: &Value) -> Result<()> {
        if args.json || self.settings.report.is_json() {
            return message::document(&format!("{object}\n"));
        }
        if !self.settings.quiet {
            message::note(sentence);
        }
        Ok(())
    }
}

fn plan_batches(app: &App, args: &BatchArgs) -> Result<Ending> {
    let job = Job::read(args)?;
    let store = Arc::new(job.store()?);
    let (protocol, base_url) = (job.model.options.provider, &job.model.base_url);
    let asking = Asking { model: ModelSettings::of(&job.model), prompts: Prompts::new(&job.settings.options.engine) };
    let limits = BatchLimits::of(protocol);
    let collector = Arc::new(batch::Collector::open(&job.folder, base_url, asking, store, limits)?);
    ask_through(app, &job.settings, collector.clone(), &observer(&job.settings))?;
    let planned = collector.finish()?;
    let (n_new, n_waiting, n_batches) = (planned.n_new, planned.n_waiting, planned.batches.len());
    let are_planned = || {
        let (requests, batches) = (counted(n_new as u64, "request"), counted(n_batches as u64, "batch"));
        format!("{requests} {} planned in {batches}", by_count(n_new as u64, "is", "are"))
    };
    let stand = by_count(n_waiting as u64, "stands", "stand");
    let mut sentence = match (n_new, n_waiting) {
        (0, 0) => NOTHING_OPEN.to_owned(),
        (0, _) => {
            let waiting = counted(n_waiting as u64, "request");
            format!("nothing new is open; {waiting} {stand} in batches that are not fetched yet")
        }
        (_, 0) => format!("{}; next: condenser llm submit", are_planned()),
        _ => format!("{}, {n_waiting} {stand} in earlier ones; next: condenser llm submit", are_planned()),
    };
    if planned.n_too_long > 0 {
        let n = planned.n_too_long as u64;
        let stay = by_count(n, "is larger than a batch may be and stays", "are larger than a batch may be and stay");
        sentence.push_str(&format!("; {n} {stay} without a reply"));
    }
    let names: Vec<_> = planned.batches.iter().map(|batch| &batch.name).collect();
    let object = json!({
        "new": n_new, "waiting": n_waiting, "too_long": planned.n_too_long, "batches": names,
        "is_done": n_new == 0 && n_waiting == 0,
    });
    job.says(args, &sentence, &object)?;
    Ok(Ending::Clean)
}

fn submit(app: &App, args: &BatchArgs) -> Result<Ending> {
    let job = Job::read(args)?;
    let (endpoint, batches) = (job.endpoint()?, Batches::open(&job.folder)?);
    let handed = app.wait(batch::submit(&endpoint, &batches))?;
    let n_requests: u64 = handed.iter().map(|handed| handed.n_requests).sum();
    let n_found = handed.iter().filter(|handed| handed.was_there).count();
    let n_batches = handed.len() as u64;
    let (batches, requests) = (counted(n_batches, "batch"), counted(n_requests, "request"));
    let are = by_count(n_batches, "is", "are");
    let found = match n_found {
        0 => String::new(),
        n => format!(", {n} of them by an earlier call that was stopped"),
    };
    let sentence = match n_batches {
        0 => "no batch is planned, so none was submitted".to_owned(),
        _ => format!("{batches} with {requests} {are} submitted{found}; next: condenser llm poll --wait"),
    };
    job.says(args, &sentence, &json!({ "submitted": handed, "requests": n_requests }))?;
    Ok(Ending::Clean)
}

fn poll(app: &App, args: &PollArgs) -> Result<Ending> {
    let (job, every) = (Job::read(&args.batch)?, args.every.map_or(POLL_EVERY, |every| every.0));
    let (endpoint, batches) = (job.endpoint()?, Batches::open(&job.folder)?);
    let polled = app.wait(async {
        let mut polled = batch::poll(&endpoint, &batches).await?;
        while args.wait && polled.iter().any(|batch| !batch.is_ended) {
            tokio::time::sleep(every).await;
            let again = batch::poll(&endpoint, &batches).await?;
            polled.retain(|batch| batch.is_ended);
            polled.extend(again);
        }
        Ok(polled)
    })?;
    let refused: Vec<_> = polled.iter().filter_map(|batch| Some((&batch.name, batch.refused.as_ref()?))).collect();
    let n_ended = polled.iter().filter(|batch| batch.is_ended).count() - refused.len();
    let n_running = polled.len() - n_ended - refused.len();
    let (n_done, n_requests) =
        polled.iter().fold((0, 0), |(done, all), batch| (done + batch.n_done, all + batch.n_requests));
    let mut sentence = match (n_ended, n_running) {
        (0, 0) => "no batch is waited for".to_owned(),
        (n, 0) => {
            let have = by_count(n as u64, "has", "have");
            format!("{} {have} ended; next: condenser llm fetch", counted(n as u64, "batch"))
        }
        (n, m) => {
            let (batches, are) = (counted(m as u64, "batch"), by_count(m as u64, "is", "are"));
            let (have, requests) = (by_count(n as u64, "has", "have"), counted(n_requests, "request"));
            format!("{batches} {are} at work, {n} {have} ended; {n_done} of {requests} done")
        }
    };
    for (name, why) in &refused {
        sentence.push_str(&format!("; batch {name} was refused ({why}) and its requests are open again"));
    }
    job.says(&args.batch, &sentence, &json!({ "batches": polled, "ended": n_ended, "at_work": n_running }))?;
    Ok(if refused.is_empty() { Ending::Clean } else { Ending::Failed })
}

fn fetch(app: &App, args: &BatchArgs) -> Result<Ending> {
    let job = Job::read(args)?;
    let (endpoint, batches, store) = (job.endpoint()?, Batches::open(&job.folder)?, job.store()?);
    let prices = job.model.prices;
    let cost = move |usage: &Usage| prices.map(|prices| usage.cost(&prices));
    let fetched = app.wait(batch::fetch(&endpoint, &batches, &store, &cost))?;
    let receipts: Vec<&Receipt> = fetched.iter().filter_map(|batch| batch.receipt.as_ref()).collect();
    let sum = |of: fn(&Receipt) -> u64| receipts.iter().map(|receipt| of(receipt)).sum::<u64>();
    let (n_replies, n_failed, n_open) = (sum(|r| r.n_replies), sum(|r| r.n_failed), sum(|r| r.n_open));
    let total: Option<f64> = receipts.iter().filter_map(|receipt| receipt.cost).reduce(|a, b| a + b);
    let mut sentence = if fetched.is_empty() {
        "no batch has ended since the last time".to_owned()
    } else {
        let n = receipts.len() as u64;
        let (batches, are, replies) = (counted(n, "batch"), by_count(n, "is", "are"), counted(n_replies, "reply"));
        format!("{batches} {are} fetched: {replies}, {n_failed} refused for good, {n_open} open again")
    };
    if let Some(total) = total {
        sentence.push_str(&format!(", for {total:.4}"));
    }
    if let Some(why) = receipts.iter().find_map(|receipt| receipt.trouble.as_ref()) {
        sentence.push_str(&format!(" (such as: {why})"));
    }
    let lost: Vec<_> = fetched.iter().filter_map(|batch| Some((&batch.name, batch.trouble?))).collect();
    for (name, why) in &lost {
        sentence.push_str(&format!("; batch {name}: {why}"));
    }
    if !receipts.is_empty() {
        sentence.push_str("; next: condenser llm plan, until nothing is open");
    }
    let object = json!({ "batches": fetched, "replies": n_replies, "failed": n_failed, "open": n_open, "cost": total });
    job.says(args, &sentence, &object)?;
    Ok(if lost.is_empty() { Ending::Clean } else { Ending::Failed })
}

fn status(args: &BatchArgs) -> Result<Ending> {
    let job = Job::read(args)?;
    let (batches, store) = (Batches::look(&job.folder).all()?, job.store()?);
    let lines: Vec<String> = batches
        .iter()
        .map(|batch| {
            let (stage, id) = (&batch.state.stage, batch.state.stage.id().unwrap_or("not at the API"));
            let more = match stage {
                BatchStage::Fetched(Receipt { n_replies, n_failed, n_open, .. }) => {
                    format!(": {}, {n_failed} refused for good, {n_open} open again", counted(*n_replies, "reply"))
                }
                BatchStage::Refused { message, .. } => format!(": {}", plain::line(message)),
                _ => String::new(),
            };
            let (name, requests) = (&batch.name, counted(batch.state.n_requests, "request"));
            format!("\n{name}  {requests}  {}  {id}{more}", stage.as_str())
        })
        .collect();
    let (n_batches, replies) = (counted(batches.len() as u64, "batch"), counted(store.len() as u64, "kept reply"));
    let sentence = format!("{n_batches} and {replies}{}", lines.concat());
    let list: Vec<_> = batches.iter().map(|batch| json!({ "batch": batch.name, "state": batch.state })).collect();
    let object = json!({ "batches": list, "replies": store.len(), "lines_passed_over": store.n_skipped() });
    if args.json {
        message::document(&format!("{object}\n"))?;
    } else {
        message::result(&format!("{sentence}\n"))?;
    }
    Ok(Ending::Clean)
}
