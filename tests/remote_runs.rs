//! Whole jobs through the program with inputs and runs in an object store and on a web server, against servers that
//! also fail and stall.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::originals::mixed;
use crate::support::chats::jsonl;
use crate::support::command::{FORMS, TestCommand, Told, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::s3::{Fault, Manners, S3, web};

const ALL: [Fault; 6] =
    [Fault::Broken, Fault::SlowDown, Fault::Reset, Fault::Truncate, Fault::ResetAfter, Fault::StallHalfWay];

/// What the inputs hold.
fn first() -> String {
    mixed(9, 61)
}

fn second() -> String {
    mixed(2, 62)
}

/// The same inputs on disk and in a store.
struct World {
    dir: TestDir,
    s3: S3,
}

impl World {
    fn new() -> Self {
        let dir = TestDir::new();
        let s3 = S3::start(&dir.path("store"));
        let inputs = [
            ("logs/a.jsonl", first().into_bytes()),
            ("logs/deep/b.jsonl.zst", zstd::encode_all(second().as_bytes(), 1).expect("memory takes all")),
        ];
        for (name, bytes) in inputs {
            dir.write(name, &bytes);
            dir.write(&format!("store/bucket/{name}"), &bytes);
        }
        Self { dir, s3 }
    }

    fn call(&self, args: &[&str]) -> TestCommand {
        let quick = ["--store-timeout", "2"];
        condenser(self.dir.root(), &[args, &quick].concat()).environment(self.s3.environment())
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> Told {
        self.call(args).ok()
    }

    fn run(&self, name: &str) -> BTreeMap<String, Vec<u8>> {
        files(&self.dir.path(&format!("store/bucket/{name}")))
    }
}

/// What stands in the files of a run, but for the names of the inputs and what is computed from these.
fn tables(run: &BTreeMap<String, Vec<u8>>) -> Vec<(String, usize)> {
    run.iter()
        .filter(|(name, _)| name.starts_with("verbatim/"))
        .map(|(name, bytes)| (name.clone(), bytes.len()))
        .collect()
}

#[test]
fn a_job_from_store_to_store_is_the_job_on_disk() {
    let world = World::new();
    for (kind, format, form) in
        [("parquet", "parquet", "hidden"), ("jsonl", "jsonl", "hidden"), ("whole", "parquet", "whole")]
    {
        let args = ["--split-size", "40k", "--format", format, "--originals", form, "-o"];
        let (remote, local) = (format!("s3://bucket/{kind}"), format!("local-{kind}"));
        world.ok(&[&["compress", "logs"], &args[..], &[&local]].concat());
        world.ok(&[&["compress", "s3://bucket/logs"], &args[..], &[&remote]].concat());
        // Inputs on disk, run in the store: the very same bytes as on disk.
        let mixed = format!("s3://bucket/mixed-{kind}");
        world.ok(&[&["compress", "logs"], &args[..], &[&mixed]].concat());
        assert!(world.run(&format!("mixed-{kind}")) == files(&world.dir.path(&local)), "{kind}");
        let (there, here) = (world.run(kind), files(&world.dir.path(&local)));
        assert_eq!(there.keys().collect::<Vec<_>>(), here.keys().collect::<Vec<_>>());
        assert_eq!(tables(&there).len(), tables(&here).len());
        world.ok(&["verify", &remote, "--against", "s3://bucket/logs"]);
        world.ok(&["verify", &remote, "--against", "logs"]);
        let out = format!("out-{kind}");
        world.ok(&["restore", &remote, "-o", &out]);
        assert!(world.dir.read(&format!("{out}/a.jsonl")) == first().as_bytes());
        assert!(world.dir.read(&format!("{out}/deep/b.jsonl")) == second().as_bytes());
        // Again: nothing is left to do, and nothing changes.
        let told = world.ok(&[&["compress", "s3://bucket/logs"], &args[..], &[&remote]].concat());
        assert!(told.stderr.contains("parts were committed before and are kept"), "{}", told.stderr);
        assert!(world.run(kind) == there);
        // A byte that the store gives otherwise is found, whichever of the two tables it is in.
        for table in ["conversations", "verbatim"] {
            let (name, bytes) = there.iter().find(|(name, _)| name.starts_with(table)).expect("a table");
            let (object, mut flipped) = (format!("store/bucket/{kind}/{name}"), bytes.clone());
            flipped[bytes.len() / 2] ^= 0x10;
            world.dir.write(&object, flipped);
            for call in [&["verify", &remote][..], &["restore", &remote, "-o", &format!("bad-{kind}")]] {
                let told = world.call(call).exits(4);
                assert!(told.stderr.contains(name), "{call:?}: {}", told.stderr);
            }
            world.dir.write(&object, bytes);
        }
    }
    // A pattern, one conversation, a published run that is read over HTTP.
    world.ok(&["compress", "s3://bucket/logs/**/*.zst", "-o", "s3://bucket/pattern"]);
    let id = serde_json::from_str::<serde_json::Value>(first().lines().nth(7).expect("a line")).expect("JSON");
    let id = id["id"].as_str().expect("an id").to_owned();
    let told = world.call(&["restore", "s3://bucket/parquet", "-o", "s3://bucket/out"]).exits(2);
    assert!(told.stderr.contains("written to local disk only"), "{}", told.stderr);
    let found = ["s3://bucket/parquet", "s3://bucket/jsonl", "local-parquet"]
        .map(|run| world.ok(&["restore", run, "--conversation", &id]).stdout);
    assert!(!found[0].is_empty() && found.iter().all(|bytes| *bytes == found[2]));
    let server = web(&world.dir.path("store/bucket"), Manners { ranges: true, length: true, tag: true, login: false });
    for run in ["parquet", "jsonl"] {
        world.ok(&["verify", &format!("{}/{run}", server.url()), "--against", "logs"]);
    }
    let input = format!("{}/logs/deep/b.jsonl.zst?token=secret", server.url());
    let told = world.ok(&["compress", &input, "-o", "from-web"]);
    assert!(!told.stderr.contains("secret"), "{}", told.stderr);
    assert!(files(&world.dir.path("from-web")).values().all(|bytes| !bytes.windows(6).any(|word| word == b"secret")));
    assert!(world.ok(&["restore", "from-web"]).stdout == second().as_bytes());
}

#[test]
fn a_failing_store_changes_no_byte() {
    let world = World::new();
    for (every, form) in [(3, "whole"), (7, "hidden")] {
        let args = ["compress", "s3://bucket/logs", "--split-size", "100k", "--originals", form, "-o"];
        let unharmed = format!("unharmed-{every}");
        world.ok(&[&args[..], &[&format!("s3://bucket/{unharmed}")]].concat());
        let unharmed = world.run(&unharmed);
        let name = format!("failing-{every}");
        let run = format!("s3://bucket/{name}");
        // A stall takes its time: once is enough.
        world.s3.server.fail(every, if every == 7 { &ALL } else { &ALL[..5] });
        world.ok(&[&args[..], &[&run]].concat());
        assert!(world.s3.server.n_hit() > 5, "{}", world.s3.server.n_hit());
        assert!(world.run(&name) == unharmed, "every {every}");
        world.ok(&["verify", &run, "--against", "s3://bucket/logs"]);
        let out = format!("out-{every}");
        world.ok(&["restore", &run, "-o", &out]);
        assert!(world.dir.read(&format!("{out}/a.jsonl")) == first().as_bytes());
        for args in [&["get", &*run, "chat/7"][..], &["show", &run, "chat/7", "--json"], &["report", &run, "--json"]] {
            let failing = world.ok(args).stdout;
            world.s3.server.work();
            assert!(world.ok(args).stdout == failing, "{args:?}");
            world.s3.server.fail(every, &ALL[..5]);
        }
        world.s3.server.work();
    }
}

#[test]
fn a_store_that_stalls_or_fails_for_good_ends_the_job_and_not_the_run() {
    let world = World::new();
    world.ok(&["compress", "s3://bucket/logs", "--split-size", "40k", "-o", "s3://bucket/whole"]);
    let whole = world.run("whole");
    let impatient = ["--store-timeout", "0.3", "--store-retries", "2"];
    let call =
        |args: &[&str]| condenser(world.dir.root(), &[args, &impatient].concat()).environment(world.s3.environment());
    let args = ["compress", "s3://bucket/logs", "--split-size", "40k", "-o", "s3://bucket/run"];
    for (method, fault, says) in [
        ("GET", Fault::Stall, "did not answer within 0.3 s"),
        ("PUT", Fault::Stall, "cannot be written: the server did not answer within 0.3 s"),
        ("PUT", Fault::SlowDown, "cannot be written: the server answered 503 SlowDown"),
        ("GET", Fault::Broken, "the server answered 500 InternalError"),
    ] {
        world.s3.server.fail_all(method, fault);
        let started = Instant::now();
        let told = call(&args).exits(1);
        assert!(told.stderr.contains(says), "{says}: {}", told.stderr);
        assert!(told.stderr.contains("s3://bucket"), "{}", told.stderr);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        let told = call(&["verify", "s3://bucket/whole"]);
        if method == "GET" {
            let told = told.exits(1);
            assert!(told.stderr.contains(says), "an outage is no damage: {}", told.stderr);
        } else {
            told.ok();
        }
    }
    world.s3.server.work();
    call(&args).ok();
    assert!(world.run("run") == whole);
}

#[test]
fn what_is_wrong_with_a_store_is_said() {
    let world = World::new();
    let says = |args: &[&str], code: i32, words: &[&str]| {
        let told = world.call(args).exits(code);
        for word in words {
            assert!(told.stderr.contains(word), "{args:?}: {word:?} is missing in {}", told.stderr);
        }
    };
    says(&["compress", "s3://nowhere/logs", "-o", "run"], 2, &["s3://nowhere/logs", "the bucket does not exist"]);
    says(&["compress", "logs", "-o", "s3://nowhere/run"], 2, &["s3://nowhere", "the bucket does not exist"]);
    says(&["compress", "s3://bucket/no.jsonl", "-o", "run"], 2, &["there is no such object"]);
    says(&["compress", "s3://bucket/*.xyz", "-o", "run"], 2, &["there is no such object"]);
    says(&["compress", "ftp://host/a", "-o", "run"], 2, &["the scheme ftp:// is not known"]);
    says(&["compress", "logs", "-o", "http://127.0.0.1/run"], 2, &["a web server is only read"]);
    says(&["compress", "s3://bucket/logs", "-o", "s3://bucket/logs"], 2, &["the input lies in the output directory"]);
    says(&["restore", "s3://bucket/logs", "-o", "out"], 2, &["no manifest.json was found"]);
    let key = ("AWS_SECRET_ACCESS_KEY".to_owned(), "wrong".to_owned());
    let told = world.call(&["compress", "s3://bucket/logs", "-o", "run"]).environment([key]).exits(1);
    assert!(told.stderr.contains("refused the credentials") && told.stderr.contains("AWS_SECRET_ACCESS_KEY"));
    assert!(!Path::new(&world.dir.path("run")).exists());
    // An object that is replaced between two calls of a job.
    world.ok(&["compress", "s3://bucket/logs", "-o", "s3://bucket/run"]);
    world.dir.write("store/bucket/logs/a.jsonl", jsonl(301, 61));
    let command = &["compress", "s3://bucket/logs", "-o", "s3://bucket/run"];
    says(command, 2, &["the directory holds a run of another job; changed: input s3://bucket/logs/a.jsonl"]);
    world.ok(&[&command[..], &["--fresh"]].concat());
    world.ok(&["verify", "s3://bucket/run-2", "--against", "s3://bucket/logs"]);
}

#[test]
fn shards_meet_in_a_store() {
    let world = World::new();
    for form in FORMS {
        let args = ["compress", "s3://bucket/logs", "--split-size", "40k", "--originals", form, "-o"];
        let [at_once, shards] = ["at-once", "shards"].map(|how| format!("{how}-{form}"));
        world.ok(&[&args[..], &[&format!("s3://bucket/{at_once}")]].concat());
        let run = format!("s3://bucket/{shards}");
        for shard in ["0/2", "1/2"] {
            world.ok(&[&args[..], &[&run, "--shard", shard]].concat());
        }
        world.ok(&["finish", &run]);
        assert!(world.run(&shards) == world.run(&at_once), "{form}");
    }
    let [hidden, whole] = FORMS.map(|form| tables(&world.run(&format!("shards-{form}"))));
    assert!(hidden != whole, "both forms are the same");
}

#[test]
fn tables_are_read_from_a_failing_store() {
    let world = World::new();
    world.ok(&["compress", "logs/a.jsonl", "-o", "tables"]);
    let table = world.dir.read("tables/conversations/part-00000.parquet");
    world.dir.write("in/t.parquet", &table);
    world.dir.write("store/bucket/in/t.parquet", &table);
    for (name, faults) in [("whole", 0), ("failing", 3)] {
        let run = format!("s3://bucket/{name}");
        world.s3.server.fail(faults, &ALL[..5]);
        world.ok(&["compress", "s3://bucket/in", "-o", &run]);
        world.ok(&["verify", &run, "--against", "s3://bucket/in"]);
        world.ok(&["restore", &run, "-o", name]);
        world.s3.server.work();
    }
    assert!(world.run("whole") == world.run("failing"));
    assert!(files(&world.dir.path("whole")) == files(&world.dir.path("failing")));
    world.ok(&["verify", "s3://bucket/whole", "--against", "in"]);
    // An outage is no damage of the table.
    world.s3.server.fail_all("GET", Fault::Broken);
    let told = world.call(&["compress", "s3://bucket/in/t.parquet", "-o", "never", "--store-retries", "1"]).exits(1);
    assert!(told.stderr.contains("the server answered 500 InternalError"), "{}", told.stderr);
}

#[test]
fn what_is_wrong_with_the_settings_of_a_store_is_told_at_once() {
    let dir = TestDir::new();
    dir.write("a.jsonl", jsonl(1, 5));
    let says = |call: &[&str], endpoint: &str, says: &[&str]| {
        let settings = [
            ("AWS_ENDPOINT_URL", endpoint),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let began = Instant::now();
        let told = condenser(dir.root(), call).environment(settings).exits(2).stderr;
        assert!(began.elapsed() < Duration::from_secs(5), "{told}");
        assert!(says.iter().all(|text| told.contains(text)) && !told.contains("tried"), "{told}");
    };
    let plain = ["plain http, which nobody allowed", "AWS_ALLOW_HTTP=true", "store.allow_http = true"];
    says(&["compress", "s3://bucket/a.jsonl", "-o", "run"], "http://127.0.0.1:9", &plain);
    says(&["compress", "s3://bucket/logs/*.jsonl", "-o", "run"], "http://127.0.0.1:9", &plain);
    says(&["compress", "a.jsonl", "-o", "s3://bucket/run"], "http://127.0.0.1:9", &plain);
    says(&["verify", "s3://bucket/run"], "http://127.0.0.1:9", &plain);
    let server = web(dir.root(), Manners::default());
    let encrypted = server.url().replace("http://", "https://");
    let no_tls = ["the server does not speak TLS there: write the address with http"];
    says(&["compress", &format!("{encrypted}/a.jsonl"), "-o", "run"], "", &no_tls);
    says(&["compress", "s3://bucket/a.jsonl", "-o", "run"], &encrypted, &no_tls);
}

#[test]
fn lines_of_a_server_without_ranges_are_read_as_one_stream() {
    let dir = TestDir::new();
    let text = jsonl(300, 6);
    dir.write("served/a.jsonl", &text);
    dir.write("served/b.jsonl.zst", zstd::encode_all(text.as_bytes(), 1).expect("memory takes all"));
    condenser(dir.root(), &["compress", "served/a.jsonl", "-o", "served/run"]).ok();
    for length in [true, false] {
        let server = web(&dir.path("served"), Manners { length, ..Manners::default() });
        for name in ["a.jsonl", "b.jsonl.zst"] {
            let (address, run) = (format!("{}/{name}", server.url()), format!("run-{length}-{name}"));
            condenser(dir.root(), &["compress", &address, "-o", &run, "--split-size", "10k"]).ok();
            condenser(dir.root(), &["verify", &run, "--against", "served/a.jsonl"]).ok();
        }
        let table = format!("{}/run/conversations/part-00000.parquet", server.url());
        let told = condenser(dir.root(), &["compress", &table, "-o", "table", "--fresh"]).exits(2).stderr;
        assert!(told.contains("neither a stream nor a server without ranges shows: name the file"), "{told}");
    }
}

#[cfg(feature = "llm")]
#[test]
fn replies_of_a_job_into_a_store_are_kept_on_disk() {
    use crate::support::llm_server::{LlmServer, Play};
    let world = World::new();
    let text =
        "The connection pool in src/db/pool.ts was raised from 20 to 200 connections and the retries were removed. ";
    let message = serde_json::json!({"role": "assistant", "content": text.repeat(9)});
    world.dir.write("in.jsonl", serde_json::json!({"id": "one", "messages": [message]}).to_string() + "\n");
    let server =
        LlmServer::playing(vec![Play::text("The pool was raised from 20 to 200 connections; the retries are gone.")]);
    let url = server.base_url();
    let job = ["compress", "in.jsonl", "-o", "s3://bucket/asked", "--recency-window", "0", "--summarizer", "normal"];
    let job = [&job[..], &["--llm-model", "m", "--llm-base-url", &url]].concat();
    let told = world.call(&job).exits(2).stderr;
    assert!(told.contains("--llm-cache") && server.n_arrived() == 0, "{told}");
    world.ok(&[&job[..], &["--llm-cache", "kept"]].concat());
    assert_eq!((server.n_arrived(), files(&world.dir.path("kept/replies")).len()), (1, 1));
    assert!(world.run("asked").keys().all(|name| !name.contains("llm")));
    world.ok(&["verify", "s3://bucket/asked", "--against", "in.jsonl"]);
    assert!(world.ok(&["restore", "s3://bucket/asked"]).stdout == world.dir.read("in.jsonl"));
}
