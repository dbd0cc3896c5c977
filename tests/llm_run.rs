//! Whole jobs that ask a model, against a real server on loopback: what every kind of answer leads to, that nothing is
//! lost, and that nothing is paid for twice.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use condenser::engine::{Engine, Scratch};
use condenser::llm::{Client, ModelSettings, Oracle, Patience, Prompts, ReplyStore};
use condenser::model::{Answers, Ask, Consult, EngineOptions, Summarizer};
use condenser::pipeline::{Model, read_job};
use condenser::shape;
use rayon::prelude::*;
use serde_json::json;

use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::llm_server::{Asked, LlmServer, Play, Words};

const TEXT: &str = "We looked into the outage of the billing service again. The connection pool in src/db/pool.ts was \
    raised from 20 to 200 connections, and fetchInvoices() no longer times out after 30 seconds. It seems that the \
    retries made things worse, so they were removed again. The ticket KMS-7781 stays open until the dashboards show a \
    full week without alerts. Everybody agreed that the migration must not be repeated before that.";
const GOOD: &str = "The pool was raised from 20 to 200 connections; the retries are gone; KMS-7781 stays open.";

/// Two conversations with one message each that a model is asked about.
fn input() -> String {
    let talk = |id: &str, note: &str| {
        json!({"id": id, "messages": [
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": format!("{TEXT} {note}")},
            {"role": "user", "content": "Thanks."},
        ]})
        .to_string()
    };
    format!("{}\n{}\n", talk("one", "Anna wrote it down."), talk("two", "Ben wrote it down."))
}

fn words(provider: &str) -> Words {
    if provider == "anthropic" { Words::Anthropic } else { Words::OpenAi }
}

/// `compress` of `in.jsonl` into `run`, asking `server`.
fn args<'a>(url: &'a str, provider: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![
        "compress",
        "in.jsonl",
        "-o",
        "run",
        "--recency-window",
        "0",
        "--format",
        "jsonl",
        "--summarizer",
        "normal",
        // What a user types is no question for a model.
        "--keep-first-user",
        "false",
        // Short answers are.
        "--hide-by",
        "look",
    ];
    args.extend(["--llm-base-url", url, "--llm-model", "test-model", "--llm-provider", provider]);
    args.extend(more);
    args
}

/// Runs the job, and proves that everything comes back.
#[track_caller]
fn run(dir: &TestDir, server: &LlmServer, provider: &str, more: &[&str]) -> Told {
    let url = server.base_url();
    let told = condenser(dir.root(), &args(&url, provider, more)).ok();
    prove(dir);
    told
}

#[track_caller]
fn prove(dir: &TestDir) {
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    let back = condenser(dir.root(), &["restore", "run"]).ok();
    assert_eq!(back.stdout, dir.read("in.jsonl"));
}

/// Everything that a reader of the run sees.
fn visible(dir: &TestDir) -> String {
    text(&files(&dir.path("run/conversations")))
}

fn text(parts: &BTreeMap<String, Vec<u8>>) -> String {
    let plain = parts.values().map(|bytes| zstd::decode_all(&bytes[..]).expect("zstd"));
    plain.map(|bytes| String::from_utf8(bytes).expect("UTF-8")).collect()
}

/// The sum of a count in the metrics.
fn count(dir: &TestDir, column: &str) -> u64 {
    let rows = text(&files(&dir.path("run/metrics")));
    let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a row")[column].as_u64();
    rows.lines().map(|line| row(line).unwrap_or_else(|| panic!("no {column} in {line}"))).sum()
}

/// The passage that a prompt asks about.
fn passage(prompt: &str) -> &str {
    let (_, rest) = prompt.split_once("\n-----\n").expect("a passage begins");
    rest.rsplit_once("\n-----").expect("a passage ends").0
}

#[test]
fn every_kind_of_answer_ends_in_a_run_that_comes_back() {
    let longer = format!("{TEXT} {TEXT}");
    let german = "Die Verbindungen wurden erhöht und die Wiederholungen entfernt; das Ticket bleibt offen, bis eine ganze \
        Woche lang kein Alarm mehr gekommen ist.";
    let overflow = "This model's maximum context length is 8192 tokens, however you requested 9000 tokens";
    // What is played for each question, whether its text is taken, and how often the server is asked for two questions.
    let cases: Vec<(&str, Vec<Play>, bool, usize)> = vec![
        ("good", vec![Play::text(GOOD)], true, 2),
        ("rate limited", vec![Play::RetryAfter(1), Play::text(GOOD)], true, 3),
        (
            "server errors",
            vec![
                Play::Status(500, vec![], String::new()),
                Play::Status(502, vec![], "<html>".into()),
                Play::text(GOOD),
            ],
            true,
            4,
        ),
        ("truncated once", vec![Play::Truncated, Play::text(GOOD)], true, 3),
        ("broken once", vec![Play::Broken, Play::text(GOOD)], true, 3),
        ("stalls", vec![Play::Stall], false, 4),
        ("stalls half way", vec![Play::StallHalfWay], false, 4),
        ("truncated", vec![Play::Truncated], false, 4),
        ("overloaded for ever", vec![Play::Status(503, vec![], String::new())], false, 4),
        ("empty", vec![Play::Empty], false, 2),
        ("longer", vec![Play::text(longer)], false, 2),
        ("tool call", vec![Play::ToolCall("search".into())], false, 2),
        ("tool call as text", vec![Play::text("<tool_call>{\"name\": \"search\"}</tool_call>")], false, 2),
        ("wrong language", vec![Play::text(german)], false, 2),
        ("inventing", vec![Play::text("The pool was raised from 20 to 2,000 connections.")], false, 2),
        ("cut", vec![Play::Cut("The pool was raised from".into())], false, 2),
        ("too long", vec![Play::error(400, "context_length_exceeded", overflow)], false, 2),
        ("refused", vec![Play::error(400, "invalid_request_error", "this content is not allowed")], false, 2),
    ];
    let pairs: Vec<_> = cases.iter().flat_map(|case| [("openai", case), ("anthropic", case)]).collect();
    pairs.par_iter().for_each(|(provider, (name, plays, is_taken, n_requests))| {
        let dir = TestDir::new();
        dir.write("in.jsonl", input());
        let server = LlmServer::playing(plays.clone());
        // One at a time, so that what is played first meets one question.
        let told = run(
            &dir,
            &server,
            provider,
            &["--llm-timeout", "0.7", "--llm-retries", "2", "--llm-concurrency", "1", "--trace"]
                .map(|arg| if *is_taken || !arg.starts_with('2') { arg } else { "1" }),
        );
        let (taken, fallen) = (count(&dir, "llm_summaries"), count(&dir, "llm_fallbacks"));
        assert_eq!((taken, fallen), if *is_taken { (2, 0) } else { (0, 2) }, "{provider}, {name}: {}", told.stderr);
        assert_eq!(visible(&dir).contains(GOOD), *is_taken, "{provider}, {name}");
        assert_eq!(server.n_arrived(), *n_requests, "{provider}, {name}: {}", told.stderr);
        assert!(server.arrived().iter().all(|arrived| {
            arrived.path.ends_with(if words(provider) == Words::Anthropic { "/messages" } else { "/chat/completions" })
        }));
        assert!(told.stderr.contains("model: "), "{}", told.stderr);
    });
}

#[test]
fn a_wrong_key_or_model_ends_the_job_and_says_what_to_do() {
    for (play, words) in [
        (Play::error(401, "invalid_api_key", "Incorrect API key provided: sk-very-secret-key."), "the key was refused"),
        (Play::error(404, "model_not_found", "The model does not exist"), "no such model"),
    ] {
        let dir = TestDir::new();
        dir.write("in.jsonl", input());
        dir.write("key", "sk-very-secret-key\n");
        let server = LlmServer::playing(vec![play]);
        let url = server.base_url();
        let told = condenser(dir.root(), &args(&url, "openai", &["--llm-key-file", "key"])).exits(2);
        assert!(told.stderr.contains(words) && told.stderr.contains("hint: "), "{}", told.stderr);
        assert!(!told.stderr.contains("very-secret"), "{}", told.stderr);
        assert!(
            server.arrived().iter().all(|arrived| arrived.header("authorization") == Some("Bearer sk-very-secret-key"))
        );
        // Nothing that the run holds shows the key.
        for (name, bytes) in files(dir.root()).iter().filter(|(name, _)| *name != "key") {
            assert!(!String::from_utf8_lossy(bytes).contains("very-secret"), "{name}");
        }
        // With a better server the same command goes on.
        let server = LlmServer::playing(vec![Play::text(GOOD)]);
        run(&dir, &server, "openai", &["--llm-key-file", "key"]);
        assert_eq!(count(&dir, "llm_summaries"), 2);
    }
}

#[test]
fn replies_are_paid_for_once_however_often_the_job_runs() {
    let dir = TestDir::new();
    dir.write("in.jsonl", input().repeat(3).replace("\"two\"", "\"three\""));
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    run(&dir, &server, "openai", &["--llm-shared-cache", "shared"]);
    assert_eq!(server.n_arrived(), 2, "six conversations, two different questions");
    let first = visible(&dir);
    std::fs::rename(dir.path("run"), dir.path("first")).expect("moved");
    // A new run without replies of its own takes those that several jobs share, and offline asks nobody.
    for more in [&["--llm-shared-cache", "shared"][..], &["--llm-cache", "first/llm", "--llm", "offline"]] {
        run(&dir, &server, "openai", more);
        assert_eq!((server.n_arrived(), visible(&dir)), (2, first.clone()), "{more:?}");
        std::fs::remove_dir_all(dir.path("run")).expect("removed");
    }
    // Offline without replies falls back and says so.
    let told = run(&dir, &server, "openai", &["--llm", "offline"]);
    assert!(told.stderr.contains("questions were not asked, since the model is offline"), "{}", told.stderr);
    assert_eq!((server.n_arrived(), count(&dir, "llm_fallbacks")), (2, 6));
}

#[test]
fn another_model_is_another_job() {
    let dir = TestDir::new();
    dir.write("in.jsonl", input());
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    run(&dir, &server, "openai", &[]);
    let url = server.base_url();
    let mut other = args(&url, "openai", &["--llm-concurrency", "3"]);
    condenser(dir.root(), &other).ok();
    other.extend(["--llm-temperature", "0.7"]);
    let told = condenser(dir.root(), &other).exits(2);
    assert!(told.stderr.contains("temperature") || told.stderr.contains("llm"), "{}", told.stderr);
}

/// What the engine itself would say to each passage of the sample corpus.
fn drafts(folder: &Path, options: &EngineOptions) -> HashMap<String, String> {
    let engine = Engine::new(options.clone()).expect("options");
    let mut drafts = HashMap::new();
    let mut scratch = Scratch::default();
    for file in std::fs::read_dir(folder).expect("the sample corpus") {
        let path = file.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        for line in std::fs::read_to_string(path).expect("UTF-8").lines() {
            let Some(Ok(decoded)) = shape::detect(line).map(|shape| shape::decode(line, shape, "c")) else { continue };
            let mut open = Vec::new();
            let condensed =
                engine.consult(&decoded.conversation, &mut scratch, &mut Consult::new(&Answers::default(), &mut open));
            drop(condensed);
            for ask in open {
                if let Ask::Summary(ask) = ask {
                    drafts.insert(ask.text, ask.draft);
                }
            }
        }
    }
    drafts
}

#[test]
fn a_model_that_echoes_the_engine_gives_identical_conversations() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample");
    let options = EngineOptions { summarizer: Summarizer::Normal, conversation_flow: true, ..EngineOptions::default() };
    let drafts = drafts(&sample, &options);
    assert!(drafts.len() > 50, "{}", drafts.len());
    let n_unknown = Arc::new(AtomicUsize::new(0));
    let unknown = n_unknown.clone();
    let server = LlmServer::start(move |asked: &Asked| {
        let draft = drafts.get(passage(&asked.prompt));
        // The sessions of event logs are not among the records: what their marks hide nobody tells.
        let is_mark = asked.system.contains("hidden lines");
        unknown.fetch_add(usize::from(draft.is_none() && !is_mark), Ordering::SeqCst);
        draft.map_or(Play::Empty, Play::text)
    });
    let dir = TestDir::new();
    let sample = sample.to_str().expect("UTF-8");
    let url = server.base_url();
    let own = ["compress", sample, "-o", "own", "--format", "jsonl", "--conversation-flow"];
    condenser(dir.root(), &own).ok();
    let asking = [
        "compress",
        sample,
        "-o",
        "run",
        "--format",
        "jsonl",
        "--conversation-flow",
        "--summarizer",
        "normal",
        "--llm-base-url",
        &url,
        "--llm-model",
        "echo",
    ];
    condenser(dir.root(), &asking).ok();
    assert!(server.n_arrived() > 50 && n_unknown.load(Ordering::SeqCst) == 0, "{} asked", server.n_arrived());
    assert_eq!(files(&dir.path("own/conversations")), files(&dir.path("run/conversations")));
    assert!(count(&dir, "llm_summaries") > 50);
}

/// `n` messages that a model is asked about, in conversations of 100 behind the task.
fn many(n: usize) -> String {
    let message = |i: usize| {
        let role = if i.is_multiple_of(2) { "assistant" } else { "user" };
        json!({"role": role, "content": format!("Note {i}: {TEXT}")})
    };
    let talk = |at: usize| {
        let task = json!({"role": "user", "content": "Take notes."});
        let messages: Vec<_> = std::iter::once(task).chain((at * 100..(at + 1) * 100).map(message)).collect();
        json!({"id": format!("talk-{at}"), "messages": messages}).to_string() + "\n"
    };
    (0..n / 100).map(talk).collect()
}

fn spawn(dir: &TestDir, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
    command.args(args).current_dir(dir.root()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

/// Ends with the child; `watch` sees it every few milliseconds.
fn wait(child: &mut Child, mut watch: impl FnMut(&Child)) -> Option<i32> {
    loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            return status.code();
        }
        watch(child);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ten_thousand_questions_are_asked_64_at_a_time_in_bounded_memory() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(10_000));
    let server = LlmServer::start(|_| Play::Slow(Duration::from_millis(20), GOOD.to_owned()));
    let url = server.base_url();
    let mut child = spawn(&dir, &args(&url, "openai", &["--llm-concurrency", "64", "--threads", "2"]));
    let mut most_kib = 0;
    let code = wait(&mut child, |child| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most_kib = most_kib.max(peak.unwrap_or(0));
    });
    assert_eq!(code, Some(0));
    assert_eq!(count(&dir, "llm_summaries"), 10_000);
    assert_eq!(server.n_arrived(), 10_000);
    let most = server.most_at_once();
    assert!((32..=64).contains(&most), "{most} at once");
    println!("{most} at once, peak memory {} MiB", most_kib >> 10);
    assert!(most_kib < 300 << 10, "peak memory {} MiB", most_kib >> 10);
    prove(&dir);
}

/// Requests per body, the most of any.
fn most_per_body(server: &LlmServer) -> usize {
    let mut per_body: HashMap<Vec<u8>, usize> = HashMap::new();
    for arrived in server.arrived() {
        *per_body.entry(arrived.body.to_vec()).or_default() += 1;
    }
    per_body.into_values().max().unwrap_or(0)
}

#[cfg(unix)]
#[test]
fn an_interrupted_job_keeps_every_reply_and_pays_for_none_twice() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(600));
    let server = LlmServer::start(|_| Play::Slow(Duration::from_millis(30), GOOD.to_owned()));
    let url = server.base_url();
    let args = args(&url, "openai", &["--llm-concurrency", "8"]);
    let mut n_before = 0;
    for signal in ["-INT", "-TERM", "-INT", "-TERM"] {
        let mut child = spawn(&dir, &args);
        let began = Instant::now();
        let code = wait(&mut child, |child| {
            if server.n_arrived() > n_before + 40 && began.elapsed() < Duration::from_mins(1) {
                let id = child.id().to_string();
                assert!(Command::new("kill").args([signal, &id]).status().expect("kill runs").success());
                n_before = usize::MAX / 2;
            }
        });
        assert_eq!(code, Some(130), "interrupted after {} requests", server.n_arrived());
        n_before = server.n_arrived();
        assert!(n_before < 600);
    }
    run(&dir, &server, "openai", &["--llm-concurrency", "8"]);
    assert_eq!((server.n_arrived(), most_per_body(&server)), (600, 1));
    assert_eq!(count(&dir, "llm_summaries"), 600);
}

#[cfg(unix)]
#[test]
fn who_interrupts_twice_does_not_wait_and_loses_only_what_was_under_way() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(200));
    let server = LlmServer::start(|asked| if asked.n < 50 { Play::text(GOOD) } else { Play::Stall });
    let url = server.base_url();
    let mut child = spawn(&dir, &args(&url, "openai", &["--llm-concurrency", "8"]));
    let began = Instant::now();
    let code = wait(&mut child, |child| {
        assert!(began.elapsed() < Duration::from_secs(100), "it waits for replies that nobody wants");
        if server.n_arrived() >= 58 {
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        }
    });
    assert_eq!((code, server.n_arrived()), (Some(130), 58));
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    run(&dir, &server, "openai", &[]);
    assert_eq!(server.n_arrived(), 150);
}

#[test]
fn an_error_does_not_lose_what_others_were_asked() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(200));
    let server = LlmServer::start(|asked| match asked.n {
        20 => Play::error(401, "invalid_api_key", "no"),
        _ => Play::Slow(Duration::from_millis(300), GOOD.to_owned()),
    });
    let url = server.base_url();
    condenser(dir.root(), &args(&url, "openai", &["--llm-concurrency", "16"])).exits(2);
    let n_paid = server.n_arrived() - 1;
    assert!((20..200).contains(&n_paid), "{n_paid}");
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    run(&dir, &server, "openai", &[]);
    assert_eq!(server.n_arrived(), 200 - n_paid);
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_job_and_what_was_kept_stays() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(600));
    let server = LlmServer::start(|_| Play::Slow(Duration::from_millis(5), GOOD.to_owned()));
    let url = server.base_url();
    // No file may become longer than some thousand bytes; the signal for that is not heard.
    let program = ["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_condenser")];
    let mut command = Command::new("sh");
    command.args(program).args(args(&url, "openai", &["--llm-concurrency", "4"])).current_dir(dir.root());
    let output = command.output().expect("sh runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("a reply cannot be kept") && told.contains("cannot be written"), "{told}");
    let n_before = server.n_arrived();
    run(&dir, &server, "openai", &[]);
    let n_lost = server.n_arrived() - 600;
    assert!(n_before > 10 && n_lost <= 8, "{n_lost} of {n_before} replies were paid for twice");
}

/// What answers through `server`, with the client of a job.
fn oracle(dir: &TestDir, server: &LlmServer, concurrency: usize) -> Oracle {
    let job = format!(
        "inputs = [\"in\"]\noutput = \"run\"\n[llm]\nmodel = \"m\"\nbase_url = \"{}\"\nconcurrency = {concurrency}\n",
        server.base_url()
    );
    let settings = read_job("job.toml", &job, &[]).expect("TOML").settle(&|_| None).expect("fine");
    let llm = settings.llm.expect("it is named");
    let store = Arc::new(ReplyStore::open(dir.root(), None).expect("an empty store"));
    let client = Client::new(&llm, None, Patience::default()).expect("a client");
    Oracle::new(Prompts::new(&EngineOptions::default()), ModelSettings::of(&llm), store, Some(client), concurrency)
}

#[test]
fn what_many_ask_at_once_is_sent_once_and_kept_when_nobody_waits() {
    let dir = TestDir::new();
    let server = LlmServer::start(|asked| Play::Slow(Duration::from_millis(100), asked.prompt.clone()));
    let ruling = |at: usize| Ask::Ruling { text: format!("number {at}"), role: "user".into() };
    let asks: Vec<Ask> = (0..200).map(|at| ruling(at % 100)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    runtime.block_on(async {
        let oracle = oracle(&dir, &server, 64);
        let answers = futures::future::try_join3(
            oracle.answer(asks.clone()),
            oracle.answer(asks.clone()),
            oracle.answer(asks.clone()),
        );
        let (first, second, third) = answers.await.expect("answers");
        assert!(first == second && second == third && first[..100] == first[100..]);
        assert_eq!((server.n_arrived(), oracle.n_pending()), (100, 0));
        // A batch that is dropped while its questions are under way.
        let more = (100..120).map(ruling).collect();
        tokio::select! {
            _ = oracle.answer(more) => panic!("nothing is answered as fast"),
            () = async { while server.n_arrived() < 120 { tokio::task::yield_now().await } } => {}
        }
        oracle.close().await.expect("kept");
        assert_eq!(oracle.account().spend.failures, 0);
    });
    assert_eq!(ReplyStore::open(dir.root(), None).expect("kept replies").len(), 120);
}

#[test]
fn a_killed_job_pays_again_at_most_for_what_was_under_way() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(400));
    let server = LlmServer::start(|_| Play::Slow(Duration::from_millis(30), GOOD.to_owned()));
    let url = server.base_url();
    let args = args(&url, "anthropic", &["--llm-concurrency", "8"]);
    for round in 1..=3 {
        let mut child = spawn(&dir, &args);
        wait(&mut child, |child| {
            if server.n_arrived() > round * 60 {
                Command::new("kill").args(["-KILL", &child.id().to_string()]).status().expect("kill runs");
            }
        });
    }
    run(&dir, &server, "anthropic", &["--llm-concurrency", "8"]);
    let n = server.n_arrived();
    assert!((400..=400 + 3 * 8).contains(&n), "{n} requests for 400 questions and 3 kills");
    let different: HashSet<_> = server.arrived().into_iter().map(|arrived| arrived.body).collect();
    assert_eq!(different.len(), 400);
}

#[test]
fn a_server_that_is_gone_stops_the_job_and_a_better_one_goes_on() {
    let dir = TestDir::new();
    dir.write("in.jsonl", many(300));
    // It dies after forty replies.
    let server = LlmServer::start(|asked| match asked.n {
        0..40 => Play::text(GOOD),
        _ => Play::Status(500, vec![], String::new()),
    });
    let url = server.base_url();
    let told = condenser(dir.root(), &args(&url, "openai", &["--llm-retries", "0"])).exits(1);
    assert!(told.stderr.contains("the model gave no reply") && told.stderr.contains("hint: "), "{}", told.stderr);
    assert!(server.n_arrived() < 300, "{} requests to a server that is gone", server.n_arrived());
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    run(&dir, &server, "openai", &[]);
    assert_eq!((server.n_arrived(), count(&dir, "llm_summaries")), (260, 300));
}

#[test]
fn costs_are_told_by_the_price_table() {
    let dir = TestDir::new();
    dir.write("in.jsonl", input());
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    let job = format!(
        "inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nhide_by = \"look\"\nrecency_window = 0\nsummarizer = \"normal\"\n[llm]\nbase_url = \"{}\"\n\
         model = \"m\"\n[llm.prices]\ninput = 1000.0\noutput = 1000000.0\n",
        server.base_url()
    );
    dir.write("job.toml", job);
    let foreseen = condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok();
    let foreseen = String::from_utf8(foreseen.stdout).expect("UTF-8");
    assert!(foreseen.contains("# model:  about 2 questions") && foreseen.contains(", cost up to "), "{foreseen}");
    assert_eq!(server.n_arrived(), 0, "a dry run asks nothing");
    let told = condenser(dir.root(), &["run", "job.toml"]).ok();
    let n_words = GOOD.split_whitespace().count() as f64 * 2.0;
    let cost: f64 = told
        .stderr
        .split("cost ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .and_then(|cost| cost.trim_end_matches('.').parse().ok())
        .unwrap_or_else(|| panic!("no cost in {}", told.stderr));
    assert!(cost > n_words && cost < n_words + 2.0, "{cost} for {n_words} words out");
}

#[test]
fn neither_the_key_nor_what_was_said_is_told_however_much_is_told() {
    const KEY: &str = "sk-very-secret-7f3a";
    let dir = TestDir::new();
    dir.write("in.jsonl", input());
    let server =
        LlmServer::playing(vec![Play::error(429, "slow_down", KEY), Play::error(400, "bad", KEY), Play::text(GOOD)]);
    let job = format!(
        "inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nhide_by = \"look\"\nrecency_window = 0\nsummarizer = \"normal\"\n[llm]\n\
         model = \"m\"\nkey_env = \"THE_KEY\"\nbase_url = \"{}\"\n",
        server.base_url()
    );
    dir.write("job.toml", job);
    let call = |more: &[&str]| {
        let key = [("THE_KEY".to_owned(), KEY.to_owned())];
        condenser(dir.root(), &[&["run", "job.toml", "-vvvv"], more].concat()).environment(key).ok()
    };
    let (dry, told) = (call(&["--dry-run"]), call(&[]));
    assert!(server.arrived().iter().all(|arrived| arrived.header("authorization").is_some_and(|it| it.contains(KEY))));
    for shown in [&told.stderr, &dry.stderr, &String::from_utf8_lossy(&dry.stdout).into_owned()] {
        assert!(!shown.contains("7f3a") && !shown.contains("connection pool") && !shown.contains(GOOD), "{shown}");
    }
    for (name, bytes) in files(&dir.path("run")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("7f3a"), "{name}");
    }
}

#[test]
fn kept_replies_in_a_run_are_in_nobodys_way() {
    let dir = TestDir::new();
    dir.write("in.jsonl", input());
    dir.write("logs/a.jsonl", input());
    let other = input().replace("Anna", "Carl").replace("one", "three").replace("two", "four");
    dir.write("logs/b.jsonl", &other);
    // A part for each.
    let split = other.len().to_string();
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    let url = server.base_url();
    // Two machines that write into one run, and the end that is made of their parts.
    for shard in ["0/2", "1/2"] {
        let mut args = args(&url, "openai", &["--shard", shard, "--split-size", &split]);
        args[1] = "logs";
        condenser(dir.root(), &args).ok();
    }
    condenser(dir.root(), &["finish", "run"]).ok();
    assert_eq!(std::fs::read_dir(dir.path("run/llm/replies")).expect("replies").count(), 2, "a segment for each");
    let look = |root: &str| {
        let root = dir.path(root);
        condenser(&root, &["verify", "run"]).ok();
        let calls = [
            &["report", "run"][..],
            &["get", "run", "three"],
            &["show", "run", "three"],
            &["restore", "run", "-o", "back"],
        ];
        let told = calls.map(|args| condenser(&root, args).ok().stdout);
        let back = files(&root.join("back"));
        std::fs::remove_dir_all(root.join("back")).expect("it is there");
        (told, back)
    };
    condenser(dir.root(), &["verify", "run", "--against", "logs"]).ok();
    let there = look("");
    assert_eq!(there.1.into_values().collect::<Vec<_>>(), [dir.read("logs/a.jsonl"), dir.read("logs/b.jsonl")]);
    assert!(!String::from_utf8_lossy(&dir.read("run/manifest.json")).contains("llm/"));
    // Whoever takes the run along may leave the replies behind.
    for (name, bytes) in files(&dir.path("run")) {
        if !name.starts_with("llm/") {
            dir.write(&format!("elsewhere/run/{name}"), bytes);
        }
    }
    assert!(look("elsewhere").0 == there.0);
}

#[test]
fn replies_in_a_store_of_nights_are_those_of_all_nights() {
    let dir = TestDir::new();
    dir.write("logs/a.jsonl", input());
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    let job = format!(
        "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\n[engine]\nhide_by = \"look\"\nrecency_window = 0\n\
         summarizer = \"normal\"\n[llm]\nmodel = \"m\"\nbase_url = \"{}\"\n",
        server.base_url()
    );
    dir.write("job.toml", job);
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let n_asked = server.n_arrived();
    assert!(n_asked > 0);
    dir.write("logs/b.jsonl", input());
    condenser(dir.root(), &["run", "job.toml"]).ok();
    assert_eq!(server.n_arrived(), n_asked, "the second night asks the same");
    condenser(dir.root(), &["expire", "store", "--older-than", "30d"]).ok();
    for (run, input) in [("store/runs/00001", "logs/a.jsonl"), ("store/runs/00002", "logs/b.jsonl")] {
        condenser(dir.root(), &["verify", run, "--against", input]).ok();
    }
}

#[test]
fn the_run_of_a_report_holds_no_replies() {
    let dir = TestDir::new();
    dir.write("in.jsonl", input());
    let server = LlmServer::playing(vec![Play::text(GOOD)]);
    let job = format!(
        "kind = \"report\"\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nhide_by = \"look\"\nrecency_window = 0\n\
         summarizer = \"normal\"\n[llm]\nmodel = \"m\"\nbase_url = \"{}\"\n",
        server.base_url()
    );
    dir.write("job.toml", job);
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
    assert!(told.contains("figures only") && told.contains("--llm-cache") && server.n_arrived() == 0, "{told}");
    condenser(dir.root(), &["run", "job.toml", "--set", "llm.cache=\"kept\""]).ok();
    assert!(server.n_arrived() > 0 && dir.path("kept/replies").exists());
    for (name, bytes) in files(&dir.path("run")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("pool was raised"), "{name}");
    }
}
