//! The front door of jobs, without a command line: a caller runs a job, checks it, and takes its originals back.

use std::sync::{Arc, Mutex};

use condenser::app::{
    App, Call, Destination, ReportRequest, Reported, RestoreSettings, Restoring, Which, begin, compress, finish, get,
    inputs_of, report, restore, settle, verify,
};
use condenser::error::ErrorKind;
use condenser::io::Run;
use condenser::io::store::{Place, Stores};
use condenser::pipeline::{JobSettings, News, Observer, Progress, ReportArgs, Shard, Silent, read_job};

use crate::support::chats::jsonl;
use crate::support::dir::{TestDir, files};

/// Keeps what it is told.
#[derive(Default)]
struct Kept {
    notes: Mutex<Vec<String>>,
    conversations: Mutex<u64>,
}

impl Observer for Kept {
    fn news(&self, news: News<'_>) {
        self.notes.lock().expect("one thread at a time").push(format!("{news:?}"));
    }
    fn progress(&self, progress: &Progress) {
        *self.conversations.lock().expect("one thread at a time") = progress.totals.conversations;
    }
}

fn job(dir: &TestDir) -> JobSettings {
    let [input, output] = ["in", "run"].map(|name| dir.path(name).display().to_string());
    let text = format!("inputs = ['{input}']\noutput = '{output}'\n[engine]\nrecency_window = 0\n");
    settle(read_job("job.toml", &text, &[]).expect("a job"), &|_| None).expect("settings")
}

#[test]
fn a_caller_runs_a_job_and_takes_its_originals_back() {
    let dir = TestDir::new();
    let text = jsonl(6, 31);
    dir.write("in/chats.jsonl", &text);
    dir.write("in/.hidden", "nothing");
    let (app, settings, kept) = (App::new().expect("threads"), job(&dir), Arc::new(Kept::default()));
    let call = Call::of(&settings, kept.clone());
    let place = call.place().expect("a directory");
    let outcome = compress(&app, &call, &place).expect("a run");
    assert_eq!(*kept.conversations.lock().expect("it is over"), 6);
    assert_eq!(outcome.outcome.tally.totals.conversations, 6);
    assert!(outcome.notes().iter().any(|note| note.contains("6 conversations")), "{:?}", outcome.notes());
    assert!(outcome.next().expect("a command").1.starts_with("condenser report "));

    let run = Run::open(place).expect("it is finished");
    let input = [dir.path("in/chats.jsonl").display().to_string()];
    let against = inputs_of(&app, &input, &Stores::default(), &Silent).expect("an input");
    let found = verify(&app, &run, &against, 0).expect("it is whole");
    assert_eq!((found.n_records, found.bytes), (6, Some(text.len() as u64)));

    let (stdout, stores) = (|| -> Box<dyn std::io::Write + Send> { Box::new(std::io::sink()) }, Stores::default());
    let restoring = RestoreSettings {
        what: Restoring::Run { run: dir.path("run"), through: Vec::new(), conversation: None, night: None },
        output: Some(dir.path("back").display().to_string()),
        stdout: &stdout,
        threads: 0,
        stores: stores.clone(),
    };
    for was_there in [false, true] {
        let [file] = &*restore(&app, &restoring).expect("originals").files else { panic!("one file was read") };
        assert_eq!((file.was_there, file.is_renamed, file.n_lost_rows), (was_there, false, 0));
        assert!(dir.read("back/chats.jsonl") == text.as_bytes());
    }

    let request = ReportRequest {
        runs: vec![dir.path("run")],
        together: false,
        exact: false,
        settings: ReportArgs::default(),
        stores,
    };
    let Some(Reported::Report(document)) = report(&app, &request, &Silent).expect("a report").document else {
        panic!("one run has a report and no drift");
    };
    assert_eq!(document.totals.conversations, 6);

    let target = dir.path("one.jsonl").display().to_string();
    let mut output = Destination::open(Some(&target), &stdout).expect("a new file");
    let error = get(&app, std::slice::from_ref(&run), "nobody", Which::Original, &mut output)
        .expect_err("there is no such conversation");
    assert_eq!(error.kind, ErrorKind::Input);
    drop(output);
    assert!(!dir.path("one.jsonl").exists(), "what is not finished is not there");
}

#[test]
fn a_caller_stops_a_job_and_goes_on_with_it() {
    let dir = TestDir::new();
    let text = jsonl(6, 32);
    dir.write("in/chats.jsonl", &text);
    let settings = job(&dir);
    let stopped = App::new().expect("threads");
    stopped.stop().ask();
    let call = Call::of(&settings, Arc::new(Silent));
    let place = call.place().expect("a directory");
    let error = compress(&stopped, &call, &place).expect_err("it was stopped");
    assert_eq!(error.kind, ErrorKind::Interrupted);
    let app = App::new().expect("threads");
    let outcome = compress(&app, &call, &place).expect("a run");
    assert!(outcome.outcome.manifest.is_some() && outcome.nothing().is_none());
    let mut other = settings.clone();
    other.options.engine.recency_window = 3;
    let call = Call::of(&other, Arc::new(Silent));
    let error = compress(&app, &call, &place).expect_err("a run is never overwritten");
    assert!(error.hint.is_some_and(|hint| hint.contains("--fresh")), "{error}");
}

#[test]
fn a_job_that_was_begun_is_done_in_shards_with_the_bytes_of_one_call() {
    let dir = TestDir::new();
    for n in 0..5 {
        // Small inputs would share a part.
        dir.write(&format!("in/{n}.jsonl"), jsonl(1 + n, n as u64).repeat(1 + n * 40));
    }
    let (app, mut settings) = (App::new().expect("threads"), job(&dir));
    settings.options.split_bytes = 20_000;
    let call = Call::of(&settings, Arc::new(Silent));
    let place = call.place().expect("a directory");
    let plan = begin(&app, &call, &place).expect("a plan");
    assert!(plan.parts.len() > 3, "{}", plan.parts.len());
    assert_eq!(files(&dir.path("run")).keys().filter(|name| !name.starts_with("locks")).count(), 1, "the plan alone");
    assert_eq!(begin(&app, &call, &place).expect("the same plan"), plan, "whoever begins again changes nothing");
    let mut other = settings.clone();
    other.options.engine.recency_window = 7;
    let refused = begin(&app, &Call::of(&other, Arc::new(Silent)), &place).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Usage, "{refused}");

    let early = finish(&app, &place, false, &Silent).unwrap_err();
    assert_eq!(early.kind, ErrorKind::Unfinished, "{early}");
    let count = plan.parts.len();
    for index in (0..count).rev() {
        let call = Call { shard: Some(Shard { index, count }), ..call.clone() };
        compress(&app, &call, &place).expect("a part");
    }
    finish(&app, &place, false, &Silent).expect("all parts are there");
    let alone = Call::of(&settings, Arc::new(Silent));
    compress(&app, &alone, &Place::from(dir.path("alone").as_path())).expect("a run");
    assert_eq!(files(&dir.path("run")), files(&dir.path("alone")));
}
