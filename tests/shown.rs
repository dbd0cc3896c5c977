//! What people see while a transcript, a file name or a command line would rather decide that itself: nothing drives a
//! terminal, no line is forged, and no secret is repeated. What goes into a file or a pipe to be exact stays exact.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

/// What could drive a terminal, or turn its text around.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}evil\u{2066}\u{200b}\u{e0041}\u{7f}";
const SECRET: &str = "zq7Tr0ub4dor";

/// True for text that shows nothing but itself.
fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| {
        c == '\n'
            || !(c.is_control()
                || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e0fff}'))
    })
}

/// Runs the program on a terminal of its own, without colours; gives what that terminal is sent.
#[cfg(target_os = "linux")]
fn on_a_terminal(dir: &TestDir, args: &[&str], input: Option<&str>) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut line =
        [env!("CARGO_BIN_EXE_condenser")].iter().chain(args).map(|text| quoted(text)).collect::<Vec<_>>().join(" ");
    if let Some(input) = input {
        line += &format!(" < {}", quoted(input));
    }
    let mut command = Command::new("script");
    command.args(["-q", "-c", &line, "/dev/null"]).env("NO_COLOR", "1").env("SHELL", "/bin/sh").current_dir(dir.root());
    let told =
        command.stdin(std::process::Stdio::null()).output().expect("`script` of util-linux or bsdutils is there");
    let seen = String::from_utf8_lossy(&told.stdout).into_owned();
    // How the bar of the progress draws itself, and how a terminal ends its lines.
    ["\u{1b}[2K", "\u{1b}[1A", "\u{1b}[1B", "\r"].iter().fold(seen, |seen, own| seen.replace(own, ""))
}

fn hostile_chat() -> String {
    let talk = "The delivery to Hamburg was late again and nobody told the customer in time. ".repeat(20);
    let message =
        |role: &str, n: usize| json!({ "role": role, "name": HOSTILE, "content": format!("{n}: {HOSTILE} {talk}") });
    let messages: Vec<Value> = (0..8).map(|n| message(["user", "assistant"][n % 2], n)).collect();
    format!("{}\n", json!({ "id": "chat", "messages": messages }))
}

#[cfg(target_os = "linux")]
#[test]
fn no_command_lets_a_transcript_or_an_argument_drive_a_terminal() {
    let dir = TestDir::new();
    // The rejected line is not even UTF-8.
    let mut input = hostile_chat().into_bytes();
    input.extend_from_slice(b"not JSON \x9b31m \x1b[31m\n");
    dir.write("in.jsonl", &input);
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--recency-window", "0", "--trace", "--quiet"])
        .exits(3);
    let hostile = &format!("no{HOSTILE}\nerror: forged");
    for (args, stdin) in [
        (&["show", "run", "chat", "--markdown"][..], None),
        (&["show", "run", "chat"], None),
        (&["show", "run", "chat", "--json"], None),
        (&["show", "run", "chat", "--html", "-"], None),
        (&["get", "run", "chat"], None),
        (&["get", "run", "chat", "--compressed"], None),
        (&["restore", "run"], None),
        (&["restore", "run", "--conversation", "chat"], None),
        (&["compress", "-", "-o", "-", "--sidecar", "side", "--quiet"], Some("in.jsonl")),
        (&["compress", "in.jsonl", "-o", "again"], None),
        (&["explain", "in.jsonl"], None),
        (&["report", "run"], None),
        (&["report", "run", "--json"], None),
        (&["report", "run", "--html", "-"], None),
        (&["verify", "run"], None),
        (&["sweep", "in.jsonl", "--json"], None),
        (&["show", "run", hostile], None),
        (&["get", hostile, "chat"], None),
        (&["compress", hostile, "-o", "x"], None),
        (&["compress", "in.jsonl", "-o", "x", hostile, "--recency-window", hostile], None),
        (&["run", "in.jsonl", "--set", hostile], None),
        (&[hostile], None),
        (&["schema", hostile], None),
        (&["completions", "bash"], None),
        (&["--help"], None),
    ] {
        let seen = on_a_terminal(&dir, args, stdin);
        assert!(!seen.trim().is_empty(), "{args:?} shows nothing");
        assert!(is_harmless(&seen), "{args:?}: {seen:?}");
        assert!(!seen.lines().any(|line| line.starts_with("error: forged")), "{args:?}: {seen}");
    }
}

#[test]
fn what_is_to_be_exact_is_exact_in_a_pipe_and_in_a_file() {
    let dir = TestDir::new();
    let input = hostile_chat();
    dir.write("in.jsonl", &input);
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--recency-window", "0", "--quiet"]).ok();
    assert_eq!(condenser(dir.root(), &["get", "run", "chat"]).ok().stdout, input.as_bytes());
    assert_eq!(condenser(dir.root(), &["restore", "run"]).ok().stdout, input.as_bytes());
    let markdown = condenser(dir.root(), &["show", "run", "chat", "--markdown"]).ok().stdout;
    assert!(String::from_utf8_lossy(&markdown).contains(HOSTILE), "Markdown is a document");
    condenser(dir.root(), &["show", "run", "chat", "--markdown", "-o", "chat.md"]).ok();
    assert_eq!(dir.read("chat.md"), markdown);
}

#[test]
fn a_line_feed_in_a_name_forges_no_line() {
    let dir = TestDir::new();
    let name = "in\npart 00099: forged: 1 bytes, restored and compared\rerror: forged.jsonl";
    let other = "none\nerror: forged\nhint: forged";
    dir.write(name, hostile_chat() + "no JSON\n");
    for (args, code) in [
        (&["compress", name, "-o", "plain", "--progress", "plain"][..], 3),
        (&["-vv", "compress", name, "-o", "logged", "--progress", "none"], 3),
        (&["compress", name, "-o", "json", "--progress", "json"], 3),
        (&["explain", name], 3),
        (&["restore", "plain", "-o", "back"], 0),
        (&["compress", other, "-o", "x"], 2),
        (&["verify", other], 2),
        (&["get", "plain", other], 1),
        (&["show", "plain", other], 1),
        (&["run", other], 2),
        (&["verify", "plain", "--against", other], 2),
    ] {
        let told = condenser(dir.root(), args).exits(code);
        for line in told.stderr.lines() {
            let is_forged = line.starts_with("part 00099")
                || line.contains("forged") && line.starts_with(['e', 'h']) && !line.contains("\\n");
            assert!(!is_forged, "{args:?}: {}", told.stderr);
        }
        assert!(is_harmless(&told.stderr), "{args:?}: {:?}", told.stderr);
        if args.contains(&"json") {
            for line in told.stderr.lines().filter(|line| line.starts_with('{')) {
                serde_json::from_str::<Value>(line).expect(line);
            }
        }
    }
}

#[test]
fn what_is_set_is_never_repeated() {
    let dir = TestDir::new();
    dir.write("in.jsonl", hostile_chat());
    dir.write("job.toml", "inputs = [\"in.jsonl\"]\noutput = \"run\"\n");
    for (set, says) in [
        ("llm.api_kye=SECRET", &["--set llm.api_kye", "unknown key `api_kye`"][..]),
        ("llm.key_fil=SECRET", &["--set llm.key_fil", "did you mean `key_file`?"]),
        ("store.secret_acces_key=SECRET", &["did you mean `secret_access_key`?"]),
        ("store={ secret_acces_key = \"SECRET\" }", &["--set store", "did you mean `secret_access_key`?"]),
        ("store.allow_http=SECRET", &["--set store.allow_http", "expected true or false"]),
        ("llm.concurrency=SECRET", &["--set llm.concurrency", "expected a whole number"]),
        ("llm.concurrency=\"SECRET\"", &["--set llm.concurrency", "expected a whole number"]),
        ("llm.provider=SECRET", &["--set llm.provider", "expected"]),
        ("llm.temperature=SECRET", &["--set llm.temperature"]),
        ("memory=SECRET", &["--set memory", "expected a size"]),
        ("inputs=[SECRET]", &["--set inputs", "texts in a list need quotes"]),
        ("llm=SECRET", &["--set llm", "expected a table"]),
        ("SECRET", &["expected KEY=VALUE"]),
        ("llm.api_key: SECRET=", &["--set"]),
        ("llm.key_env=sk-SECRET", &["key_env"]),
        ("llm.base_url=https://me:SECRET@example.org", &["base_url"]),
        ("store.endpoint=${SECRET", &["store.endpoint"]),
    ] {
        let set = set.replace("SECRET", SECRET);
        let more = ["engine.summarizer=normal", "llm.model=m", "llm.mode=offline"];
        let args = ["run", "job.toml", "--set", more[0], "--set", more[1], "--set", more[2], "--set", &set];
        let told = condenser(dir.root(), &args).exits(2);
        for word in says {
            assert!(told.stderr.contains(word), "{set}: {}", told.stderr);
        }
        assert!(!told.stderr.contains(SECRET), "{set}: {}", told.stderr);
    }
    // A blank for the `=`: the secret is an argument that nobody expects.
    for args in [
        &["run", "job.toml", "--set", "llm.api_key", SECRET][..],
        &["run", "--set", "llm.api_key", SECRET, "job.toml", "more"],
        &["run", "job.toml", "--set", &format!("llm.api_key={SECRET}"), "--nonsense"],
        &["run", "job.toml", "--sett", &format!("llm.api_key={SECRET}")],
    ] {
        let told = condenser(dir.root(), args).exits(2);
        assert!(!told.stderr.contains(SECRET), "{args:?}: {}", told.stderr);
    }
}

#[cfg(feature = "remote")]
#[test]
fn what_an_address_or_the_environment_keeps_secret_stands_nowhere() {
    let dir = TestDir::new();
    let input = hostile_chat();
    dir.write("in.jsonl", &input);
    let address = &format!("http://me:{SECRET}@127.0.0.1:9/a.jsonl?X-Amz-Signature={SECRET}&x=1");
    let broken = &format!("http://me:{SECRET}/{SECRET}@127.0.0.1:9/a.jsonl");
    let unknown = &format!("ftp://me:{SECRET}@host/a.jsonl?sig={SECRET}");
    let keys = &format!("s3://{SECRET}:{SECRET}@bucket/a.jsonl");
    let job = |inputs: &str| format!("inputs = [{inputs:?}]\noutput = \"x\"\nstore_retries = 0\nstore_timeout = 1\n");
    dir.write("web.toml", job(address));
    dir.write(
        "local.toml",
        job("in.jsonl") + &format!("[store]\nsecret_access_key = \"${{HIDDEN}}\"\nsession_token = \"{SECRET}\"\n"),
    );
    let quick = ["--store-retries", "0", "--store-timeout", "1"];
    let calls: [&[&str]; 17] = [
        &["compress", address, "-o", "x"],
        &["-vvv", "compress", address, "-o", "x"],
        &["compress", broken, "-o", "x"],
        &["compress", unknown, "-o", "x"],
        &["compress", keys, "-o", "x"],
        &["compress", "in.jsonl", "-o", address],
        &["compress", "s3://bucket/a.jsonl", "-o", "x"],
        &["run", "web.toml"],
        &["run", "web.toml", "--dry-run"],
        &["run", "local.toml", "--dry-run"],
        &["run", address],
        &["restore", "--sidecar", address, "in.jsonl"],
        &["restore", "--verbatim", address, "in.jsonl"],
        &["restore", address],
        &["restore", address, "-o", address],
        &["verify", address],
        &["compress", "in.jsonl", "-o", "x", "--nonsense", address],
    ];
    for call in calls {
        let takes_bounds = call.iter().any(|word| matches!(*word, "compress" | "restore" | "verify"));
        let args: Vec<&str> = call.iter().chain(quick.iter().filter(|_| takes_bounds)).copied().collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
        command.args(&args).current_dir(dir.root()).env("HIDDEN", SECRET);
        command.env("AWS_ENDPOINT_URL", format!("http://me:{SECRET}@127.0.0.1:9"));
        command.env("AWS_ACCESS_KEY_ID", SECRET).env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_ALLOW_HTTP", "true");
        let told = command.stdin(std::process::Stdio::null()).output().expect("the program starts");
        let text = String::from_utf8_lossy(&told.stdout).into_owned() + &String::from_utf8_lossy(&told.stderr);
        assert!(!text.contains(SECRET), "{args:?}: {text}");
        assert!(!text.contains("panicked"), "{args:?}: {text}");
        assert_ne!(told.status.code(), None, "{args:?}");
    }
    for (name, bytes) in files(dir.root()) {
        let is_mine = ["web.toml", "local.toml"].contains(&&*name);
        assert!(is_mine || !String::from_utf8_lossy(&bytes).contains(SECRET), "{name}");
    }
}
