//! Batches of requests: planned, handed in once, waited for and fetched, also when a command is stopped anywhere or a
//! part of it fails.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use condenser::error::{Error, ErrorKind, Result};
use condenser::llm::batch::{
    Asking, BatchLimits, BatchStage, Batches, Collector, Endpoint, Fetched, Handed, Planned, Polled, Receipt, fetch,
    poll, submit,
};
use condenser::llm::{
    Completion, Kept, LlmProvider, MaxTokensField, ModelSettings, Patience, Prompts, ReplyOutcome, ReplyStore, Usage,
    reply_key,
};
use condenser::model::{Answer, Ask, EngineOptions, NoAnswer, SummaryAsk, SummaryMode};
use condenser::pipeline::{LlmOptions, Model, Parameters, Secret, read_job};
use serde_json::{Value, json};

use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::llm_batch_server::{Api, BatchServer, KEY, Verdict, Wrong};

const APIS: [Api; 2] = [Api::OpenAi, Api::Anthropic];

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn model(api: Api) -> ModelSettings {
    let provider = match api {
        Api::OpenAi => LlmProvider::Openai,
        Api::Anthropic => LlmProvider::Anthropic,
    };
    let (model, parameters) = ("small".into(), Parameters::new());
    let options = LlmOptions { provider, model, temperature: Some(0.0), thinking_tokens: 0, parameters };
    ModelSettings { options, max_tokens_field: MaxTokensField::MaxTokens }
}

fn asking(api: Api) -> Asking {
    Asking { model: model(api), prompts: Prompts::new(&EngineOptions::default()) }
}

fn ask(text: &str) -> Ask {
    let (mode, text) = (SummaryMode::Normal, text.to_owned());
    Ask::Summary(SummaryAsk { mode, text, max_chars: 100, draft: String::new() })
}

fn asks(n: usize) -> Vec<Ask> {
    (0..n).map(|at| ask(&format!("text {at} with \"quotes\",\nlines\r\nand – signs 🦀"))).collect()
}

fn endpoint(api: Api, url: &str, key: &str) -> Endpoint {
    let provider = if api == Api::OpenAi { "openai" } else { "anthropic" };
    let job = format!(
        "inputs = [\"in\"]\noutput = \"run\"\n[llm]\nmodel = \"small\"\nprovider = \"{provider}\"\nbase_url = \"{url}\"\n\
         timeout = 20\nretries = 2\n"
    );
    let settings = read_job("job.toml", &job, &[]).unwrap().settle(&|_| None).unwrap().llm.expect("it is named");
    let patience = Patience { first_backoff: Duration::from_millis(20), ..Patience::default() };
    Endpoint::new(&settings, Some(&Secret::from(key.to_owned())), patience).unwrap()
}

/// A job directory and the server of its batches.
struct Night {
    dir: TestDir,
    server: BatchServer,
    api: Api,
    key: &'static str,
}

impl Night {
    fn new(api: Api) -> Self {
        Self { dir: TestDir::new(), server: BatchServer::start(api), api, key: KEY }
    }

    fn root(&self) -> &Path {
        self.dir.root()
    }

    fn store(&self) -> Arc<ReplyStore> {
        Arc::new(ReplyStore::open(self.root(), None).unwrap())
    }

    fn endpoint(&self) -> Endpoint {
        endpoint(self.api, &self.server.url(), self.key)
    }

    /// Asks all of `asks`; what was planned, and the answers.
    fn plan_within(&self, asks: &[Ask], limits: BatchLimits) -> (Planned, Vec<Answer>) {
        let collector =
            Collector::open(self.root(), &self.server.url(), asking(self.api), self.store(), limits).unwrap();
        let answers = runtime().block_on(collector.answer(asks.to_vec())).unwrap();
        (collector.finish().unwrap(), answers)
    }

    fn plan(&self, asks: &[Ask]) -> (Planned, Vec<Answer>) {
        self.plan_within(asks, BatchLimits::of(model(self.api).options.provider))
    }

    fn submit(&self) -> Result<Vec<Handed>> {
        let batches = Batches::open(self.root())?;
        runtime().block_on(submit(&self.endpoint(), &batches))
    }

    fn poll(&self) -> Result<Vec<Polled>> {
        let batches = Batches::open(self.root())?;
        runtime().block_on(poll(&self.endpoint(), &batches))
    }

    fn fetch(&self) -> Result<Vec<Fetched>> {
        let batches = Batches::open(self.root())?;
        let cost = |usage: &Usage| Some((usage.input + 10 * usage.output) as f64);
        runtime().block_on(fetch(&self.endpoint(), &batches, &self.store(), &cost))
    }

    fn stages(&self) -> Vec<&'static str> {
        let batches = Batches::look(self.root()).all().unwrap();
        batches.iter().map(|batch| batch.state.stage.as_str()).collect()
    }

    /// Everything up to the fetch, which must go well.
    fn through(&self, verdict: impl Fn(usize, &Value) -> Verdict) -> Receipt {
        self.submit().unwrap();
        self.server.finish(verdict);
        self.poll().unwrap();
        self.fetch().unwrap().remove(0).receipt.expect("something came out")
    }
}

fn reply(_: usize, _: &Value) -> Verdict {
    Verdict::Reply("short")
}

#[test]
fn a_night_from_plan_to_answers() {
    for api in APIS {
        let night = Night::new(api);
        let mut asked = asks(5);
        asked.push(asked[1].clone());
        let (planned, answers) = night.plan(&asked);
        assert_eq!((planned.n_new, planned.n_waiting, planned.batches.len()), (5, 0, 1), "{api:?}: duplicates are one");
        assert!(answers.iter().all(|answer| *answer == Answer::None(NoAnswer::Later)));
        let again = night.plan(&asked).0;
        assert_eq!((again.n_new, again.n_waiting, again.batches.len()), (0, 5, 0), "{api:?}: planned once");

        let handed = night.submit().unwrap();
        assert_eq!((handed.len(), handed[0].n_requests, handed[0].was_there), (1, 5, false));
        assert!(night.submit().unwrap().is_empty() && night.server.n_batches() == 1, "{api:?}: handed in once");
        let polled = night.poll().unwrap();
        assert!(!polled[0].is_ended, "{api:?}: {polled:?}");
        assert!(night.fetch().unwrap().is_empty(), "{api:?}: nothing has ended");

        night.server.finish(|at, _| match at {
            0 => Verdict::Refuse(400, "invalid_request_error", "the text is not liked"),
            1 => Verdict::Refuse(400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"),
            2 => Verdict::Expire,
            3 => Verdict::Refuse(500, "api_error", "the server had a bad day"),
            _ => Verdict::Reply("short"),
        });
        assert!(night.poll().unwrap()[0].is_ended);
        let fetched = night.fetch().unwrap().remove(0).receipt.unwrap();
        let Receipt { n_replies, n_failed, n_open, input_tokens, output_tokens, cost, .. } = fetched;
        assert_eq!((n_replies, n_failed, n_open), (1, 2, 2), "{api:?}");
        assert_eq!((input_tokens, output_tokens), (100, 10));
        assert_eq!(cost, Some(100.0), "{api:?}: half of 100 + 10 · 10");
        assert_eq!(night.stages(), ["fetched"]);

        let (second, answers) = night.plan(&asked);
        assert_eq!((second.n_new, second.n_waiting), (2, 0), "{api:?}: what expired and what the server failed at");
        let none = Answer::None;
        let (failed, long, open) = (none(NoAnswer::Failed), none(NoAnswer::TooLong), none(NoAnswer::Later));
        assert_eq!(answers, [failed, long.clone(), open.clone(), open, Answer::Text("short".into()), long]);
        assert_eq!(night.through(reply).n_replies, 2);
        let (third, _) = night.plan(&asked);
        assert_eq!((third.n_new, third.n_waiting), (0, 0), "{api:?}: nothing is open");
    }
}

#[test]
fn request_lines_are_those_of_the_providers() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(3));
        night.submit().unwrap();
        let (lines, bodies) = (night.server.lines(0), asks(3));
        assert_eq!(lines.len(), 3);
        for (line, ask) in lines.iter().zip(&bodies) {
            let body = model(api).body(&asking(api).prompts.request(ask));
            let key = reply_key(model(api).options.provider, &body);
            assert_eq!(line["custom_id"], blake3::Hash::from_bytes(key).to_hex().as_str());
            let sent = if api == Api::OpenAi { &line["body"] } else { &line["params"] };
            assert_eq!(*sent, serde_json::from_str::<Value>(&body).unwrap());
        }
        if api == Api::OpenAi {
            let file = night.dir.read("batches/00001/requests.jsonl");
            assert_eq!(night.server.files(), [("batch".to_owned(), file.len())]);
        }
    }
}

#[test]
fn a_batch_that_was_handed_in_without_our_knowing_is_found_again() {
    for api in APIS {
        let night = Night::new(api);
        // One before, and more than a page after.
        night.server.put_foreign(7);
        night.plan(&asks(4));
        let path = if api == Api::OpenAi { "POST /v1/batches" } else { "POST /v1/messages/batches" };
        night.server.goes_wrong(path, Wrong::LostAnswer);
        let error = night.submit().unwrap_err();
        assert!(error.message.contains("not known"), "{error}");
        assert_eq!((night.stages(), night.server.n_batches()), (vec!["submitting"], 2));
        (0..3).for_each(|_| night.server.put_foreign(5));
        let handed = night.submit().unwrap();
        assert_eq!((handed.len(), handed[0].was_there, &*handed[0].id), (1, true, "batch_2"), "{api:?}");
        assert_eq!(night.server.n_batches(), 5, "{api:?}: it was not handed in again");
        assert_eq!(night.through(reply).n_replies, 4, "{api:?}");
    }
}

#[test]
fn a_batch_that_never_arrived_is_handed_in_by_the_next_call() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(2));
        let path = if api == Api::OpenAi { "POST /v1/batches" } else { "POST /v1/messages/batches" };
        night.server.goes_wrong(path, Wrong::Broken);
        night.submit().unwrap_err();
        assert_eq!((night.stages(), night.server.n_batches()), (vec!["submitting"], 0), "{api:?}");
        assert!(!night.submit().unwrap()[0].was_there);
        assert_eq!(night.server.n_batches(), 1);
        let uploads = night.server.seen().iter().filter(|seen| *seen == "POST /v1/files").count();
        assert_eq!(uploads, usize::from(api == Api::OpenAi), "{api:?}: the file was there already");
        assert_eq!(night.through(reply).n_replies, 2, "{api:?}");
    }
}

/// An API without marks can only be asked for a batch of the same size; its results tell.
#[test]
fn a_batch_of_somebody_else_is_not_taken_for_ours() {
    let night = Night::new(Api::Anthropic);
    night.plan(&asks(3));
    night.server.goes_wrong("POST /v1/messages/batches", Wrong::Broken);
    night.submit().unwrap_err();
    night.server.put_foreign(3);
    assert!(night.submit().unwrap()[0].was_there, "it looks like ours");
    night.server.finish(reply);
    night.poll().unwrap();
    let fetched = night.fetch().unwrap().remove(0);
    assert!(fetched.receipt.is_none() && fetched.trouble.is_some_and(|why| why.contains("another one")), "{fetched:?}");
    assert_eq!((night.stages(), night.store().len()), (vec!["submitting"], 0));
    let handed = night.submit().unwrap();
    assert_eq!((handed[0].was_there, &*handed[0].id), (false, "batch_2"));
    assert_eq!(night.through(reply).n_replies, 3);
}

#[test]
fn a_fetch_that_was_cut_is_repeated_whole() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(6));
        night.submit().unwrap();
        night.server.finish(reply);
        night.poll().unwrap();
        let path = match api {
            Api::OpenAi => "GET /v1/files/output-batch_1/content",
            Api::Anthropic => "GET /v1/messages/batches/batch_1/results",
        };
        night.server.goes_wrong(path, Wrong::Cut);
        let error = night.fetch().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Io, "{error}");
        let n_kept = night.store().len();
        assert!((1..6).contains(&n_kept), "{api:?}: what came is kept: {n_kept}");
        assert_eq!(night.stages(), ["ended"]);
        night.server.goes_wrong(path, Wrong::Broken);
        let receipt = night.fetch().unwrap().remove(0).receipt.unwrap();
        assert_eq!((receipt.n_replies, receipt.cost), (6, Some(600.0)), "{api:?}: counted once");
        let lines: usize = replies(night.root()).iter().map(|text| text.lines().count()).sum();
        assert_eq!(lines, 6, "{api:?}: nothing is kept twice");
    }
}

/// The texts of all segments.
fn replies(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("replies")).unwrap();
    entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn an_expired_batch_is_open_again() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(3));
        let receipt = night.through(|_, _| Verdict::Expire);
        assert_eq!((receipt.n_replies, receipt.n_failed, receipt.n_open), (0, 0, 3), "{api:?}");
        assert!(receipt.trouble.is_some_and(|why| why.contains("expired")), "{api:?}");
        assert_eq!(night.plan(&asks(3)).0.n_new, 3, "{api:?}");
        assert_eq!(night.through(reply).n_replies, 3, "{api:?}");
    }
}

#[test]
fn results_that_are_gone_leave_the_requests_open() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(2));
        night.submit().unwrap();
        night.server.finish(reply);
        night.poll().unwrap();
        night.server.forget_results();
        let fetched = night.fetch().unwrap().remove(0);
        assert!(fetched.trouble.is_some_and(|why| why.contains("no longer")), "{fetched:?}");
        assert_eq!((night.stages(), night.plan(&asks(2)).0.n_new), (vec!["refused"], 2), "{api:?}");
    }
}

/// Where the replies of the first batch are, and the batch itself.
fn paths(api: Api) -> (&'static str, &'static str) {
    match api {
        Api::OpenAi => ("GET /v1/files/output-batch_1/content", "GET /v1/batches/batch_1"),
        Api::Anthropic => ("GET /v1/messages/batches/batch_1/results", "GET /v1/messages/batches/batch_1"),
    }
}

#[test]
fn results_that_are_not_seen_are_not_given_up() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(6));
        night.submit().unwrap();
        night.server.finish(reply);
        night.poll().unwrap();
        let (results, batch) = paths(api);
        // They are kept at another address; an account that does not see the batch at all; a cut that nobody tells.
        for (wrong, hint) in [
            (vec![(results, Wrong::Status(307))], "base_url"),
            (vec![(results, Wrong::Status(404)), (batch, Wrong::Status(404))], "another account"),
            (vec![(results, Wrong::CutUnseen)], ""),
        ] {
            for (path, wrong) in wrong {
                night.server.goes_wrong(path, wrong);
            }
            let error = night.fetch().unwrap_err();
            assert!(error.hint.unwrap_or_default().contains(hint), "{api:?}: {error:?}");
            assert_eq!((night.stages(), night.plan(&asks(6)).0.n_new), (vec!["ended"], 0), "{api:?}: {error}");
        }
        assert_eq!(night.fetch().unwrap().remove(0).receipt.map(|receipt| receipt.n_replies), Some(6), "{api:?}");
    }
}

#[test]
fn a_refusal_does_not_make_it_forget_that_the_batch_may_be_there() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(4));
        let (batches, list) = match api {
            Api::OpenAi => ("POST /v1/batches", "GET /v1/batches"),
            Api::Anthropic => ("POST /v1/messages/batches", "GET /v1/messages/batches"),
        };
        night.server.goes_wrong(batches, Wrong::LostAnswer);
        night.submit().unwrap_err();
        // The list does not show it yet, and then the next attempt is refused.
        night.server.goes_wrong(list, Wrong::NothingYet);
        night.server.goes_wrong(batches, Wrong::Status(400));
        night.submit().unwrap_err();
        assert!(night.submit().unwrap()[0].was_there, "{api:?}");
        assert_eq!(night.server.n_batches(), 1, "{api:?}: it was not handed in again");
    }
}

#[test]
fn a_list_without_pages_ends() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(4));
        let batches = if api == Api::OpenAi { "POST /v1/batches" } else { "POST /v1/messages/batches" };
        night.server.goes_wrong(batches, Wrong::Status(500));
        night.submit().unwrap_err();
        (0..5).for_each(|_| night.server.put_foreign(7));
        night.server.forget_pages();
        assert!(!night.submit().unwrap()[0].was_there, "{api:?}");
    }
}

#[test]
fn a_batch_without_its_files_has_not_ended() {
    let night = Night::new(Api::OpenAi);
    night.plan(&asks(2));
    night.submit().unwrap();
    night.server.finish(reply);
    night.server.goes_wrong("GET /v1/batches/batch_1", Wrong::NoFiles);
    assert!(!night.poll().unwrap()[0].is_ended);
    assert!(night.poll().unwrap()[0].is_ended);
    assert_eq!(night.fetch().unwrap().remove(0).receipt.map(|receipt| receipt.n_replies), Some(2));
}

#[test]
fn a_wrong_key_is_told_and_nothing_is_done() {
    for api in APIS {
        let mut night = Night::new(api);
        night.plan(&asks(2));
        night.key = "wrong-key";
        let error = night.submit().unwrap_err();
        assert_eq!((error.kind, night.stages()), (ErrorKind::Usage, vec!["planned"]), "{api:?}: {error}");
        assert!(error.message.contains("refuses the key") && !error.to_string().contains("wrong-key"), "{error}");
        night.key = KEY;
        assert_eq!(night.through(reply).n_replies, 2);
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    for api in APIS {
        let night = Night::new(api);
        night.plan(&asks(2));
        let path = if api == Api::OpenAi { "/v1/batches" } else { "/v1/messages/batches" };
        night.server.goes_wrong(&format!("GET {path}"), Wrong::Broken);
        night.server.goes_wrong(&format!("POST {path}"), Wrong::Busy);
        assert!(!night.submit().unwrap()[0].was_there, "{api:?}");
        assert_eq!(night.server.n_batches(), 1);
    }
}

#[test]
fn a_plan_is_cut_where_the_provider_says() {
    for api in APIS {
        let night = Night::new(api);
        let few = BatchLimits { max_requests: 2, max_bytes: 1 << 20 };
        let (planned, _) = night.plan_within(&asks(5), few);
        let sizes: Vec<u64> = planned.batches.iter().map(|batch| batch.state.n_requests).collect();
        assert_eq!((sizes, planned.n_new), (vec![2, 2, 1], 5), "{api:?}");
        let handed = night.submit().unwrap();
        let ids: Vec<&str> = handed.iter().map(|handed| &*handed.id).collect();
        assert_eq!(ids, ["batch_1", "batch_2", "batch_3"]);
        night.server.finish(reply);
        assert_eq!((night.poll().unwrap().len(), night.fetch().unwrap().len()), (3, 3));
        assert_eq!(night.store().len(), 5);

        let max_bytes = planned.batches[0].state.n_bytes;
        let (small, long) = (BatchLimits { max_requests: 9, max_bytes }, "long ".repeat(max_bytes as usize));
        let (planned, answers) = night.plan_within(&[ask(&long), ask("a"), ask("b"), ask("c")], small);
        assert_eq!((planned.n_new, planned.n_too_long), (3, 1), "{api:?}");
        assert_eq!(answers[0], Answer::None(NoAnswer::TooLong));
        assert!(planned.batches.len() > 1 && planned.batches.iter().all(|batch| batch.state.n_bytes <= max_bytes));
    }
}

#[test]
fn a_plan_that_was_stopped_leaves_no_batch() {
    let night = Night::new(Api::OpenAi);
    let limits = BatchLimits::of(LlmProvider::Openai);
    let collector = Collector::open(night.root(), &night.server.url(), asking(Api::OpenAi), night.store(), limits);
    let collector = collector.unwrap();
    runtime().block_on(collector.answer(asks(3))).unwrap();
    let error = Batches::open(night.root()).unwrap_err();
    assert!(error.message.contains("another process"), "{error}");
    drop(collector);
    assert!(night.stages().is_empty() && night.submit().unwrap().is_empty());
    let (planned, _) = night.plan(&asks(3));
    assert_eq!((planned.batches[0].name.as_str(), planned.n_new), ("00001", 3));
    let names = crate::support::dir::files(&night.root().join("batches"));
    assert!(names.keys().all(|name| !name.contains(".tmp")), "nothing is left behind: {:?}", names.keys());
}

#[test]
fn batches_go_to_the_server_for_which_they_were_planned() {
    let night = Night::new(Api::OpenAi);
    night.plan(&asks(1));
    let other = BatchServer::start(Api::OpenAi);
    let endpoint = endpoint(Api::OpenAi, &other.url(), KEY);
    let batches = Batches::open(night.root()).unwrap();
    let error: Error = runtime().block_on(submit(&endpoint, &batches)).unwrap_err();
    assert!(error.kind == ErrorKind::Usage && error.message.contains(&night.server.url()), "{error}");
    assert!(other.seen().is_empty());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_was_said() {
    use std::os::unix::fs::PermissionsExt;
    let night = Night::new(Api::OpenAi);
    night.plan(&asks(2));
    night.through(reply);
    let mut n_files = 0;
    for folder in ["replies", "batches/00001"] {
        for entry in std::fs::read_dir(night.dir.path(folder)).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{folder}: {mode:o}");
            n_files += 1;
        }
    }
    assert_eq!(n_files, 3, "replies, requests and state");
}

/// A job file for the command line.
fn job(night: &Night) {
    let (provider, url) = (night.server.provider(), night.server.url());
    night.dir.write("chats.jsonl", b"{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}\n");
    night.dir.write(
        "job.toml",
        format!(
            "inputs = [\"chats.jsonl\"]\noutput = \"run\"\n[llm]\nprovider = \"{provider}\"\nbase_url = \"{url}\"\n\
             model = \"small\"\nkey_env = \"KEY_OF_TESTS\"\ncache = \".\"\nprices = {{ input = 1, cached_input = 1, \
             cache_write = 1, output = 1 }}\n"
        ),
    );
}

#[test]
fn the_commands_tell_in_a_sentence_or_as_json() {
    for api in APIS {
        let night = Night::new(api);
        job(&night);
        let call = |args: &[&str]| {
            let command = condenser(night.root(), &[&["llm"], args].concat());
            command.environment([("KEY_OF_TESTS".to_owned(), KEY.to_owned())])
        };
        let told = call(&["plan", "job.toml"]).ok();
        assert!(told.stderr.contains("nothing is open: run the job"), "{}", told.stderr);
        // What the engine would ask.
        night.plan(&asks(2));
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let submitted = json(&call(&["submit", "job.toml", "--json"]).ok().stdout);
        assert_eq!((&submitted["requests"], &submitted["submitted"][0]["id"]), (&json!(2), &json!("batch_1")));
        let told = call(&["poll", "job.toml"]).ok();
        assert!(told.stderr.contains("1 batch is at work"), "{}", told.stderr);
        night.server.finish(|at, _| if at == 0 { Verdict::Expire } else { Verdict::Reply("short") });
        let polled = json(&call(&["poll", "job.toml", "--wait", "--every", "1", "--json"]).ok().stdout);
        assert_eq!((&polled["ended"], &polled["at_work"]), (&json!(1), &json!(0)));
        let fetched = json(&call(&["fetch", "job.toml", "--json"]).ok().stdout);
        assert_eq!((&fetched["replies"], &fetched["failed"], &fetched["open"]), (&json!(1), &json!(0), &json!(1)));
        let cost = fetched["cost"].as_f64().unwrap();
        assert!((cost - 0.000_055).abs() < 1e-9, "half of 110 tokens: {cost}");
        let status = json(&call(&["status", "job.toml", "--json"]).ok().stdout);
        assert_eq!((&status["replies"], &status["batches"][0]["state"]["stage"]), (&json!(1), &json!("fetched")));
        let told = call(&["status", "job.toml"]).ok();
        assert!(String::from_utf8(told.stdout).unwrap().contains("00001  2 requests  fetched  batch_1"));
        let told = call(&["submit", "job.toml", "--set", "llm.key_env=KEY_THAT_IS_NOT_SET"]).exits(0);
        assert!(told.stderr.contains("no batch is planned"), "{}", told.stderr);
    }
}

const TEXT: &str = "We looked into the outage of the billing service again. The connection pool in src/db/pool.ts was \
    raised from 20 to 200 connections, and fetchInvoices() no longer times out after 30 seconds. It seems that the \
    retries made things worse, so they were removed again. The ticket KMS-7781 stays open until the dashboards show a \
    full week without alerts. Everybody agreed that the migration must not be repeated before that.";
const GOOD: &str = "The pool was raised from 20 to 200 connections; the retries are gone; KMS-7781 stays open.";
const LET_GO: &str = "{\"decision\": \"compress\", \"confidence\": 0.9, \"reason\": \"talk\"}";

#[test]
fn a_job_asks_in_two_rounds_and_then_runs_offline() {
    for api in APIS {
        let night = Night::new(api);
        job(&night);
        let talk = |id: &str| {
            let said =
                [("user", "Go on."), ("assistant", &*format!("{TEXT} {id} wrote it down.")), ("user", "Thanks.")];
            let messages = said.map(|(role, content)| json!({ "role": role, "content": content }));
            format!("{}\n", json!({ "id": id, "messages": messages }))
        };
        night.dir.write("chats.jsonl", talk("Anna") + &talk("Ben"));
        let engine = "format = \"jsonl\"\n[engine]\nhide_by = \"look\"\nrecency_window = 0\nsummarizer = \"normal\"\nclassifier = \"model\"\n";
        let text =
            String::from_utf8(night.dir.read("job.toml")).unwrap().replacen("[llm]", &format!("{engine}[llm]"), 1);
        night.dir.write("job.toml", text);
        let call = |args: &[&str]| {
            let told = condenser(night.root(), args).environment([("KEY_OF_TESTS".to_owned(), KEY.to_owned())]).ok();
            (String::from_utf8(told.stdout).unwrap(), told.stderr)
        };
        let answered = |_: usize, line: &Value| {
            let is_ruling = line.to_string().contains("confidence");
            Verdict::Reply(if is_ruling { LET_GO } else { GOOD })
        };
        for round in ["rulings", "summaries"] {
            let told: Value = serde_json::from_str(&call(&["llm", "plan", "job.toml", "--json"]).0).unwrap();
            let n_new = told["new"].as_u64().unwrap();
            assert!(n_new >= 2 && told["waiting"] == 0, "{api:?}, {round}: {told}");
            let again: Value = serde_json::from_str(&call(&["llm", "plan", "job.toml", "--json"]).0).unwrap();
            assert_eq!((&again["new"], &again["waiting"]), (&json!(0), &told["new"]), "{api:?}, {round}");
            call(&["llm", "submit", "job.toml"]);
            let lines = night.server.lines(night.server.n_batches() - 1);
            let n_rulings = lines.iter().filter(|line| line.to_string().contains("confidence")).count();
            assert_eq!(n_rulings, if round == "rulings" { lines.len() } else { 0 }, "{api:?}: one kind in each round");
            night.server.finish(answered);
            call(&["llm", "poll", "job.toml", "--wait", "--every", "1"]);
            call(&["llm", "fetch", "job.toml"]);
        }
        assert!(call(&["llm", "plan", "job.toml"]).1.contains("nothing is open: run the job"));
        assert!(!night.dir.path("run/plan.json.zst").exists(), "a plan writes no run");
        let n_seen = night.server.seen().len();
        let told = call(&["run", "job.toml", "--llm", "offline"]).1;
        assert!(!told.contains("not asked"), "everything was there: {told}");
        assert_eq!(night.server.seen().len(), n_seen, "{api:?}: nothing is sent");
        let shown = crate::support::dir::files(&night.dir.path("run/conversations"));
        let shown: String =
            shown.values().map(|part| String::from_utf8(zstd::decode_all(&part[..]).unwrap()).unwrap()).collect();
        assert_eq!(shown.matches("the retries are gone").count(), 2, "{api:?}: {shown}");
        call(&["verify", "run", "--against", "chats.jsonl"]);
    }
}

#[test]
fn a_job_without_a_model_has_no_batches() {
    let dir = TestDir::new();
    dir.write("job.toml", "inputs = [\"chats.jsonl\"]\noutput = \"run\"\n");
    let told = condenser(dir.root(), &["llm", "plan", "job.toml"]).exits(2);
    assert!(told.stderr.contains("asks no model"), "{}", told.stderr);
}

#[test]
fn a_reply_goes_before_a_failure() {
    let dir = TestDir::new();
    let store = ReplyStore::open(dir.root(), None).unwrap();
    let kept = |outcome| Kept { model: "small".into(), is_batch: true, cost: None, outcome };
    let failed = kept(ReplyOutcome::Failed { is_too_long: false, message: "no".into() });
    let reply = kept(ReplyOutcome::Reply(Completion { text: "yes".into(), ..Completion::default() }));
    for order in [[&failed, &reply], [&reply, &failed]] {
        for kept in order {
            store.put(&[1; 32], kept).unwrap();
        }
        assert_eq!(store.get(&[1; 32]).unwrap().as_ref(), Some(&reply));
    }
    assert_eq!(ReplyStore::open(dir.root(), None).unwrap().get(&[1; 32]).unwrap(), Some(reply));
}

#[test]
fn stages_are_told_by_one_word() {
    let refused = BatchStage::Refused { id: "b".into(), message: "no".into() };
    assert!(BatchStage::Planned.is_open() && !refused.is_open() && refused.id() == Some("b"));
}
