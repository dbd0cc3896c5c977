//! Jobs and runs. A job works on threads of its own; the caller's waits, hears signals, and tells what happens.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow::datatypes::{Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::{RecordBatch, RecordBatchReader};
use arrow_pyarrow::IntoPyArrow;
use condenser::app::{self, App, Call, OnMerge, ReportRequest, Reported, Stop};
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Run, RunOrStore};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    Commit, JobKind, JobSettings, News, Observer, Progress, ReportArgs, RunPlan, Shard, TableName, TableReader, Target,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::raised;
use crate::options;

/// How often signals are heard while a job works.
const HEARD_EVERY: Duration = Duration::from_millis(100);

/// What a job tells: an event, and what there is to say of it as JSON.
type Event = (&'static str, String);

/// Hears a job, and keeps what it hears for the thread that waits.
struct Ear {
    events: Mutex<Sender<Event>>,
    progress: Mutex<Option<Progress>>,
}

impl Ear {
    fn tell(&self, event: &'static str, said: String) {
        // Who does not listen any more wants to know nothing.
        drop(self.events.lock().unwrap_or_else(PoisonError::into_inner).send((event, said)));
    }
}

impl Observer for Ear {
    fn news(&self, news: News<'_>) {
        match news {
            News::Note(text) => self.tell("note", text.to_owned()),
            News::Warning(text) => self.tell("warning", text.to_owned()),
            News::Failure(error) => self.tell("failure", error.to_string()),
        }
    }
    fn begins(&self, plan: &RunPlan, before: &Progress) {
        let total = plan.total_bytes();
        self.tell(
            "begins",
            json!({ "parts": plan.parts.len(), "bytes": total, "done": before.stored_bytes }).to_string(),
        );
    }
    fn progress(&self, progress: &Progress) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
    }
    fn committed(&self, commit: &Commit) {
        self.tell("committed", format!("part {:05}: {}: restored and compared", commit.part, commit.sources()));
    }
}

/// Does `work` on a thread of its own, tells `watch` what happens, and stops it when the caller is interrupted.
fn watched<T: Send>(
    py: Python<'_>,
    watch: &Bound<'_, PyAny>,
    work: impl FnOnce(&App, Arc<dyn Observer>) -> Result<T> + Send,
) -> PyResult<T> {
    let app = App::new().map_err(raised)?;
    let stop = app.stop().clone();
    let (sender, events) = channel();
    let ear = Arc::new(Ear { events: Mutex::new(sender), progress: Mutex::new(None) });
    let watch = watch.clone().unbind();
    let waiting = py.detach(move || {
        let events = events;
        std::thread::scope(|scope| {
            let observer = ear.clone();
            let (done, result) = channel();
            scope.spawn(move || {
                let said = condenser::pipeline::bridge::guard(|| work(&app, observer));
                drop(done.send(said.unwrap_or_else(|message| Err(Error::internal("", message)))));
            });
            wait(&result, &events, &ear, &watch, &stop)
        })
    });
    waiting?.map_err(raised)
}

fn wait<T>(
    result: &Receiver<Result<T>>,
    events: &Receiver<Event>,
    ear: &Ear,
    watch: &Py<PyAny>,
    stop: &Stop,
) -> PyResult<Result<T>> {
    // What the caller's own code raised; the job ends first, as far as it must.
    let mut raised = None;
    loop {
        let done = result.recv_timeout(HEARD_EVERY);
        let progress = ear.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        let heard = Python::attach(|py| -> PyResult<()> {
            for (event, said) in events.try_iter() {
                watch.call1(py, (event, said))?;
            }
            if let Some(progress) = progress {
                let totals = &progress.totals;
                let said = json!({
                    "done": progress.stored_bytes, "conversations": totals.conversations, "rejects": totals.rejects,
                    "chars_in": totals.chars_in, "chars_out": totals.chars_out,
                });
                watch.call1(py, ("progress", said.to_string()))?;
            }
            py.check_signals()
        });
        if let Err(error) = heard {
            stop.ask();
            raised.get_or_insert(error);
        }
        match (done, raised.take()) {
            (Ok(_), Some(error)) => return Err(error),
            (Ok(result), None) => return Ok(result),
            (Err(RecvTimeoutError::Timeout), error) => raised = error,
            (Err(RecvTimeoutError::Disconnected), _) => {
                return Ok(Err(Error::internal("", "a job ended without a result")));
            }
        }
    }
}

/// A job whose settings are known.
#[pyclass(frozen, module = "condenser._condenser")]
pub(crate) struct Job(JobSettings);

impl Job {
    fn call(&self, observer: Arc<dyn Observer>) -> Call<'_> {
        Call::of(&self.0, observer)
    }
}

#[pymethods]
impl Job {
    /// The job of a file, its name and its text, if there is one, and keys with values over it, as JSON.
    #[new]
    fn new(py: Python<'_>, file: Option<(String, String)>, keys: &str) -> PyResult<Self> {
        let settings = py.detach(|| {
            let settings = options::of_job(file.as_ref().map(|(name, text)| (&**name, &**text)), keys)?;
            if settings.target == Target::Filter {
                return Err(Error::usage(
                    "output",
                    "a job writes a directory; one conversation is for condenser.compress",
                ));
            }
            Ok(settings)
        });
        settings.map(Self).map_err(raised)
    }

    /// Where its run is.
    #[getter]
    fn output(&self) -> String {
        match &self.0.target {
            Target::Run(output) => output.clone(),
            Target::Filter => String::new(),
        }
    }

    #[getter]
    fn quiet(&self) -> bool {
        self.0.quiet
    }

    /// Does the job, or those parts of it whose number leaves `shard[0]` when divided by `shard[1]`. Gives where the run is and
    /// what it came to, as JSON.
    #[pyo3(signature = (watch, shard=None, fresh=false))]
    fn run(
        &self,
        py: Python<'_>,
        watch: &Bound<'_, PyAny>,
        shard: Option<(i64, i64)>,
        fresh: bool,
    ) -> PyResult<(String, String)> {
        let shard = shard.map(|(index, count)| format!("{index}/{count}").parse::<Shard>()).transpose();
        let shard = shard.map_err(|message| raised(Error::usage("shard", message)))?;
        watched(py, watch, |app, observer| {
            let call = Call { shard, is_fresh: fresh, ..self.call(observer.clone()) };
            if self.0.kind == JobKind::Compaction {
                let mut said = Vec::new();
                let n_unreadable = app::compact(app, &call, &mut |night| {
                    if let app::NightNews::Ran(outcome) = night {
                        said.push(outcome.event(true));
                        outcome.notes().iter().for_each(|note| observer.news(News::Note(note)));
                    }
                    Ok(())
                })?;
                let outcome = json!({ "nights": said, "unreadable": n_unreadable });
                return Ok((self.output(), outcome.to_string()));
            }
            let run = call.place()?;
            app::check_report_of_job(&self.0, &run)?;
            let outcome = app::compress(app, &call, &run)?;
            outcome.notes().iter().for_each(|note| observer.news(News::Note(note)));
            let told = [outcome.nothing(), outcome.over_budget(), outcome.misses_target()];
            told.iter().flatten().for_each(|warning| observer.news(News::Warning(warning)));
            let mut event = outcome.event(true);
            let is_whole = outcome.outcome.manifest.is_some();
            let report = if is_whole { app::report_of_job(app, &self.0, &run, &*observer)? } else { None };
            let breaches = report.map(|report| report.breaches).unwrap_or_default();
            let said: Vec<String> =
                breaches.iter().map(|breach| format!("over {}: {}", breach.threshold, breach.message)).collect();
            said.iter().for_each(|said| observer.news(News::Warning(said)));
            event["breaches"] = json!(said);
            Ok((run.to_string(), event.to_string()))
        })
    }

    /// Writes the plan of the job and does nothing of it; gives how many parts it has.
    fn begin(&self, py: Python<'_>, watch: &Bound<'_, PyAny>) -> PyResult<usize> {
        watched(py, watch, |app, observer| {
            if self.0.kind == JobKind::Compaction {
                let message =
                    "a night of compaction is one job on one machine; give each machine logs and a store of its own";
                return Err(Error::usage("kind", message));
            }
            let call = self.call(observer);
            let run = call.place()?;
            app::check_report_of_job(&self.0, &run)?;
            Ok(app::begin(app, &call, &run)?.parts.len())
        })
    }

    /// Makes the commits of all machines a finished run; gives where it is, and what it came to, as JSON.
    fn finish(&self, py: Python<'_>, watch: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
        watched(py, watch, |app, observer| {
            let run = self.call(observer.clone()).place()?;
            let outcome = app::finish(app, &run, false, &*observer)?;
            outcome.notes().iter().for_each(|note| observer.news(News::Note(note)));
            app::report_of_job(app, &self.0, &run, &*observer)?;
            Ok((run.to_string(), outcome.event(true).to_string()))
        })
    }
}

/// A run or a store that was opened.
#[pyclass(frozen, module = "condenser._condenser")]
pub(crate) struct Opened {
    path: String,
}

/// What [`Tables`] reads.
struct Wanted {
    runs: std::vec::IntoIter<Run>,
    table: TableName,
    /// The run that is being read, and its next part.
    current: Option<(Run, usize)>,
    reader: Option<Box<dyn TableReader>>,
    schema: Option<SchemaRef>,
    ahead: Option<RecordBatch>,
}

impl Wanted {
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(reader) = &mut self.reader {
                match reader.next_rows()? {
                    Some(rows) if rows.num_rows() > 0 || self.schema.is_none() => return self.fitting(rows).map(Some),
                    Some(_) => continue,
                    None => self.reader = None,
                }
            }
            match &mut self.current {
                Some((run, part)) if *part < run.commits.len() => {
                    self.reader = run.read_table(&run.commits[*part], self.table)?;
                    *part += 1;
                }
                _ => match self.runs.next() {
                    Some(run) => self.current = Some((run, 0)),
                    None => return Ok(None),
                },
            }
        }
    }

    fn fitting(&mut self, rows: RecordBatch) -> Result<RecordBatch> {
        let schema = self.schema.get_or_insert_with(|| rows.schema());
        if *schema == rows.schema() {
            return Ok(rows);
        }
        let message = "the parts of the run have other columns: its inputs were tables of several kinds; read its files one by one";
        condenser::pipeline::conform_rows(&rows, schema)
            .ok()
            .filter(|_| {
                schema.fields().iter().map(|field| field.name()).eq(rows
                    .schema()
                    .fields()
                    .iter()
                    .map(|field| field.name()))
            })
            .ok_or_else(|| Error::input(self.table.as_str(), message))
    }
}

/// The rows of a table of all parts, one batch at a time.
struct Tables {
    wanted: Wanted,
    schema: SchemaRef,
}

impl Iterator for Tables {
    type Item = std::result::Result<RecordBatch, ArrowError>;
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.wanted.ahead.take().map_or_else(|| self.wanted.next_rows(), |rows| Ok(Some(rows)));
        next.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for Tables {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Opened {
    fn archive(&self) -> Result<(condenser::io::store::Place, RunOrStore)> {
        let place = app::place(Path::new(&self.path), &app::stores(None, None, Default::default()))?;
        let archive = RunOrStore::open(&place)?;
        Ok((place, archive))
    }

    fn runs(&self) -> Result<Vec<Run>> {
        Ok(match self.archive()?.1 {
            RunOrStore::Run(run) => vec![*run],
            RunOrStore::Store(store) => store.runs().into_iter().map(Run::open).collect::<Result<_>>()?,
        })
    }
}

#[pymethods]
impl Opened {
    #[new]
    fn new(py: Python<'_>, path: String) -> PyResult<Self> {
        let opened = Self { path };
        py.detach(|| opened.archive().map(drop)).map_err(raised)?;
        Ok(opened)
    }

    /// The rows of a table as a reader of record batches.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let tables = py.detach(|| -> Result<Tables> {
            let table = TableName::ALL.into_iter().find(|table| table.as_str() == name);
            let table = table.ok_or_else(|| Error::usage(name, "there is no such table"))?;
            let runs = self.runs()?.into_iter();
            let mut wanted = Wanted { runs, table, current: None, reader: None, schema: None, ahead: None };
            wanted.ahead = wanted.next_rows()?;
            let schema = wanted.schema.clone().unwrap_or_else(|| Arc::new(Schema::empty()));
            Ok(Tables { wanted, schema })
        });
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(tables.map_err(raised)?);
        reader.into_pyarrow(py)
    }

    /// The originals of the conversations with this id, as they stood in their inputs.
    fn originals(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        py.detach(|| {
            let (place, _) = self.archive()?;
            let found = app::reading(std::slice::from_ref(&place), OnMerge::Begin, &mut || {
                let (runs, bridge, mut found) = (RunOrStore::open(&place)?.runs_with(id)?, Bridge::new(1)?, Vec::new());
                for run in &runs {
                    for commit in &run.commits {
                        found.extend(run.find_sides(commit, id, &bridge)?.into_iter().map(|sides| sides.original));
                    }
                }
                Ok(found)
            })?;
            if found.is_empty() {
                Err(Error::new(ErrorKind::Input, id, "there is no conversation with this id"))
            } else {
                Ok(found)
            }
        })
        .map_err(raised)
    }

    /// The report as JSON; with `against`, what changed from that run.
    #[pyo3(signature = (watch, against=None))]
    fn report(&self, py: Python<'_>, watch: &Bound<'_, PyAny>, against: Option<String>) -> PyResult<String> {
        watched(py, watch, |app, observer| {
            let request = ReportRequest {
                runs: vec![PathBuf::from(&self.path)],
                together: true,
                exact: false,
                settings: ReportArgs { against, ..ReportArgs::default() },
                stores: app::stores(None, None, Default::default()),
            };
            let outcome = app::report(app, &request, &*observer)?;
            let document = outcome.document.ok_or_else(|| Error::internal("", "a report shows nothing"))?;
            let said = match &document {
                Reported::Report(document) => serde_json::to_string(document),
                Reported::Drift(document) => serde_json::to_string(document),
            };
            said.map_err(|error| Error::internal("", "a report cannot be written").because(error))
        })
    }

    /// Recomputes every hash and restores every record.
    fn verify(&self, py: Python<'_>, watch: &Bound<'_, PyAny>, threads: usize) -> PyResult<()> {
        watched(py, watch, |app, _| match self.archive()?.1 {
            RunOrStore::Run(run) => app::verify(app, &run, &[], threads).map(drop),
            RunOrStore::Store(store) => app::verify_store(app, &store, threads).map(drop),
        })
    }
}
