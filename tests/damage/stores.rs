//! Object stores that fail, stall and refuse, seen by the program.

use std::time::{Duration, Instant};

use condenser::io::store::{Location, Place, Stores};
use condenser::io::{Input, Inputs};
use condenser::pipeline::{BatchOptions, Corpus, TableOptions};

use super::{Case, Special, special, tells};
use crate::support::chats::jsonl;
use crate::support::command::{Told, condenser};
use crate::support::dir::{TestDir, files};
use crate::support::s3::{Fault, S3};

const CASES: &[Special] = &[
    ("Answers 500 and 503 that go away", "asked again until it works", 0, "every byte", fails_sometimes),
    ("Connections that break in the middle of a file", "asked again from there on", 0, "every byte", breaks),
    ("Answers 500 that stay", "given up after some tries", 1, "nothing; the same command may be called again", fails),
    (
        "A store that stalls while it is read",
        "given up in bounded time (`--store-timeout`)",
        1,
        "nothing; the same command may be called again",
        stalls,
    ),
    (
        "A store that fails while the run is written",
        "given up after some tries",
        1,
        "what was committed; the same command goes on",
        fails_writing,
    ),
    ("A bucket that does not exist", "refused", 2, "nothing", no_bucket),
    ("An object that does not exist", "refused", 2, "nothing", no_object),
    ("Credentials that are wrong", "refused; the secret is not shown", 1, "nothing", wrong_key),
    ("An object that is replaced while the job runs", "refused: the versions are not mixed", 1, "the others", replaced),
    ("A torn gzip stream in a store", "what stands before the damage; 1 rejected (`torn_stream`)", 3, "that", torn),
];

pub(super) fn cases() -> Vec<Case> {
    special(CASES)
}

const INPUT: &str = "s3://bucket/in.jsonl";

struct World {
    dir: TestDir,
    s3: S3,
}

impl World {
    fn new() -> Self {
        let dir = TestDir::new();
        let s3 = S3::start(&dir.path("store"));
        dir.write("store/bucket/in.jsonl", jsonl(100, 5));
        Self { dir, s3 }
    }

    fn call(&self, args: &[&str], code: i32, says: &[&str]) -> Told {
        let quick = ["--store-timeout", "1", "--store-retries", "2"];
        let told = condenser(self.dir.root(), &[args, &quick].concat()).environment(self.s3.environment()).exits(code);
        tells(told, says)
    }

    fn comes_back(&self, run: &str) {
        self.s3.server.work();
        self.call(&["verify", run, "--against", INPUT], 0, &[]);
        assert!(self.call(&["restore", run], 0, &[]).stdout == jsonl(100, 5).as_bytes());
    }
}

fn fails_sometimes(code: i32) {
    let world = World::new();
    world.s3.server.fail(2, &[Fault::Broken, Fault::SlowDown]);
    world.call(&["compress", INPUT, "-o", "s3://bucket/run"], code, &[]);
    assert!(world.s3.server.n_hit() > 3);
    world.comes_back("s3://bucket/run");
}

fn breaks(code: i32) {
    let world = World::new();
    world.s3.server.fail(2, &[Fault::Truncate, Fault::Reset]);
    world.call(&["compress", INPUT, "-o", "run"], code, &[]);
    assert!(world.s3.server.n_hit() > 0);
    world.comes_back("run");
}

fn fails(code: i32) {
    let world = World::new();
    world.s3.server.fail(1, &[Fault::Broken]);
    world.call(
        &["compress", INPUT, "-o", "run"],
        code,
        &[INPUT, "the server answered 500 InternalError", "tried 3 times"],
    );
    world.s3.server.work();
    world.call(&["compress", INPUT, "-o", "run"], 0, &[]);
    world.comes_back("run");
}

fn stalls(code: i32) {
    let world = World::new();
    let started = Instant::now();
    world.s3.server.fail_all("GET", Fault::StallHalfWay);
    world.call(&["compress", INPUT, "-o", "run"], code, &[INPUT, "cannot be read"]);
    assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
    world.s3.server.work();
    world.call(&["compress", INPUT, "-o", "run"], 0, &[]);
    world.comes_back("run");
}

fn fails_writing(code: i32) {
    let world = World::new();
    world.s3.server.fail_all("PUT", Fault::Broken);
    world.call(&["compress", INPUT, "-o", "s3://bucket/run"], code, &["s3://bucket/run", "cannot be written", "500"]);
    assert!(files(&world.dir.path("store/bucket")).keys().all(|name| !name.contains("commits/")));
    world.s3.server.work();
    world.call(&["compress", INPUT, "-o", "s3://bucket/run"], 0, &[]);
    world.comes_back("s3://bucket/run");
}

fn no_bucket(code: i32) {
    let says = ["s3://nowhere", "the bucket does not exist", "check its name"];
    World::new().call(&["compress", "s3://nowhere/logs", "-o", "run"], code, &says);
}

fn no_object(code: i32) {
    World::new().call(
        &["compress", "s3://bucket/no.jsonl", "-o", "run"],
        code,
        &["s3://bucket/no.jsonl", "no such object"],
    );
}

fn wrong_key(code: i32) {
    let world = World::new();
    let mut environment = world.s3.environment();
    environment.insert("AWS_SECRET_ACCESS_KEY".to_owned(), "verysecret".to_owned());
    let told = condenser(world.dir.root(), &["compress", INPUT, "-o", "run"]).environment(environment).exits(code);
    let told = tells(told, &["refused the credentials", "AWS_SECRET_ACCESS_KEY"]);
    assert!(!told.stderr.contains("verysecret"), "{}", told.stderr);
}

fn replaced(code: i32) {
    let world = World::new();
    let stores = Stores::new(world.s3.config());
    let location = Location::parse(INPUT).expect("an address");
    let input = Input::new(INPUT, Some(Place::new(&stores, location)));
    let plan = Inputs::plan(vec![input], BatchOptions::default(), TableOptions::default(), 1 << 30);
    let (corpus, planned) = plan.expect("it can be planned");
    world.dir.write("store/bucket/in.jsonl", jsonl(100, 6));
    let error = corpus.open(0, &planned[0].0, &planned[0].1[0]).err().expect("it is another object");
    assert!(error.to_string().contains("has changed since the job began"), "{error}");
    super::places::ends_with(&error, code);
}

fn torn(code: i32) {
    let world = World::new();
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bad/torn.jsonl.gz")).expect("a file");
    world.dir.write("store/bucket/torn.jsonl.gz", bytes);
    let input = "s3://bucket/torn.jsonl.gz";
    world.call(&["compress", input, "-o", "run"], code, &["1 record rejected"]);
    world.call(&["verify", "run", "--against", input], 0, &[]);
}
