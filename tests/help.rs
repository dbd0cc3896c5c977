//! What the program says about itself: help on a screen, topics, manual pages, colours, and that a reader who has enough
//! ends it in silence.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use condenser::report::schema;
use serde_json::Value;

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

/// A screen and a half; the columns of a common terminal.
const MAX_LINES: usize = 60;
const COLUMNS: usize = 100;

fn said(args: &[&str]) -> String {
    let dir = TestDir::new();
    let wide = [("COLUMNS".to_owned(), COLUMNS.to_string())];
    String::from_utf8(condenser(dir.root(), args).environment(wide).ok().stdout).expect("help is text")
}

/// Every command, as it is typed.
fn commands() -> Vec<Vec<String>> {
    let below = |of: &[String], text: &str| {
        let is_row = |line: &&str| line.strip_prefix("  ").is_some_and(|row| row.starts_with(char::is_lowercase));
        let names = text.lines().take_while(|line| *line != "Options:").filter(is_row);
        let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
        names.map(|name| [of, &[name]].concat()).collect::<Vec<_>>()
    };
    let mut all = below(&[], &said(&["-h"]));
    assert!(all.len() > 20, "{all:?}");
    #[cfg(feature = "llm")]
    all.extend(below(&["llm".to_owned()], &said(&["llm", "-h"])));
    all.insert(0, Vec::new());
    all
}

fn with<'w>(words: &'w [String], more: &[&'w str]) -> Vec<&'w str> {
    words.iter().map(String::as_str).chain(more.iter().copied()).collect()
}

/// The long flags that a text names at the beginning of a line.
fn flags(text: &str) -> BTreeSet<String> {
    let starts = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let at = line.find("--").filter(|&at| at == 0 || line.starts_with('-') && at == 4)?;
        let (_, flag) = line.split_at(at + 2);
        Some(flag.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect::<String>())
    });
    starts.filter(|flag| !flag.is_empty()).collect()
}

#[test]
fn short_help_of_every_command_fits_on_a_screen() {
    for words in commands() {
        let help = said(&with(&words, &["-h"]));
        assert!(help.lines().count() <= MAX_LINES, "{words:?}: {} lines\n{help}", help.lines().count());
        let wide = help.lines().find(|line| line.chars().count() > COLUMNS);
        assert!(wide.is_none(), "{words:?}: {wide:?}");
    }
    let help = said(&["compress", "-h"]);
    let headings =
        ["Input and output:", "How much to compact:", "Quality:", "Model:", "Machine:", "What is shown:", "Examples:"];
    let places: Vec<_> = headings.iter().map(|heading| help.find(heading).expect("a heading")).collect();
    assert!(places.is_sorted(), "{help}");
    assert!(!help.contains("Possible values") && !help.contains("--resummarize-after"), "{help}");
    // A flag is one line.
    let n_flags = flags(&help).len();
    let n_rows = help.lines().filter(|line| line.starts_with("      ")).count() + help.matches("\n  -").count();
    assert_eq!(n_flags, n_rows, "{help}");
}

#[test]
fn every_flag_stands_in_long_help_and_in_a_topic_with_its_default() {
    let (help, topic) = (said(&["compress", "--help"]), said(&["help", "options"]));
    assert_eq!(said(&["help", "compress"]), help);
    let job: Value = serde_json::from_str(schema("job").expect("it is published")).expect("JSON");
    let keys = |of: &Value| of["properties"].as_object().expect("keys").keys().cloned().collect::<Vec<_>>();
    let no_flags = ["kind", "inputs", "tries", "engine", "dataset", "compaction", "report", "llm", "store"];
    let of_jobs = keys(&job).into_iter().filter(|key| !no_flags.contains(&&**key));
    let known: BTreeSet<String> =
        of_jobs.chain(keys(&job["$defs"]["EngineArgs"])).map(|key| key.replace('_', "-")).collect();
    assert!(known.len() > 80, "{known:?}");
    let (helped, in_topic) = (flags(&help), flags(&topic));
    for flag in &known {
        assert!(helped.contains(flag) && in_topic.contains(flag), "--{flag}");
    }
    let everywhere = ["verbose", "color", "help", "version"].map(str::to_owned);
    let left: Vec<_> = helped.difference(&in_topic).filter(|flag| !everywhere.contains(flag)).collect();
    assert!(left.is_empty(), "no group has {left:?}");
    for says in ["[default: 4] [key: engine.recency_window]", "[default: system,developer]", "[key: llm.base_url]"] {
        assert!(topic.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{says}\n{topic}");
    }
    // What has no flag is a key of job files.
    let jobs = said(&["help", "jobs"]);
    for key in ["kind", "tries", "eval_share", "keep_open", "previous-night", "allow_http", "prices"] {
        assert!(jobs.contains(key), "{key}\n{jobs}");
    }
    assert!(!jobs.contains("recency_window   ") && !jobs.contains("[engine]\n  preset"), "{jobs}");
}

#[test]
fn topics_are_found_by_name_and_mistakes_name_the_nearest() {
    let overview = said(&["help"]);
    let topics = overview.lines().find_map(|line| line.strip_prefix("condenser help TOPIC: ")).expect("the topics");
    for topic in topics.split(", ") {
        let text = said(&["help", topic]);
        assert!(text.lines().count() > 5, "{topic}: {text}");
        let wide = text.lines().find(|line| line.chars().count() > COLUMNS);
        assert!(wide.is_none(), "{topic}: {wide:?}");
    }
    assert!(said(&["help", "exit-codes"]).contains("141  the reader"));
    assert!(said(&["help", "data"]).contains("claude-code"));
    #[cfg(feature = "llm")]
    assert_eq!(said(&["help", "llm", "plan"]), said(&["llm", "plan", "--help"]));
    let dir = TestDir::new();
    for (args, says) in [
        (&["help", "optons"][..], "did you mean `options`?"),
        (&["help", "compres"], "did you mean `compress`?"),
        (&["man", "repot"], "did you mean `report`?"),
        (&["compres"], "'compress'"),
        (&["compress", "--treads", "2"], "'--threads'"),
        (&["compress"], "try '-h'"),
    ] {
        let told = condenser(dir.root(), args).exits(2).stderr;
        assert!(told.starts_with("error: ") && told.contains(says), "{told}");
    }
}

#[test]
fn without_a_command_it_says_with_what_to_begin() {
    let dir = TestDir::new();
    let told = condenser(dir.root(), &[]).exits(2);
    assert!(told.stdout.is_empty());
    for command in ["condenser compress LOGS -o run", "condenser report run --html report.html", "condenser get run ID"]
    {
        assert!(told.stderr.contains(command), "{}", told.stderr);
    }
    assert!(told.stderr.lines().count() < 12, "{}", told.stderr);
}

#[test]
fn colours_are_there_when_they_are_wanted() {
    let dir = TestDir::new();
    let none = || [("NO_COLOR".to_owned(), "1".to_owned())];
    for args in [&["-h"][..], &["compress", "-h"], &["help", "options"], &["help", "llm"]] {
        assert!(!said(args).contains('\u{1b}'), "{args:?}");
        let asked = [&["--color", "always"], args].concat();
        let colored = condenser(dir.root(), &asked).environment(none()).ok().stdout;
        assert!(colored.contains(&0x1b), "{args:?}: who asks by name gets what he asks for");
        assert!(!said(&[args, &["--color=never"]].concat()).contains('\u{1b}'));
    }
    let wrong = condenser(dir.root(), &["ls", "nothing", "--color=always"]).exits(2).stderr;
    assert!(wrong.starts_with("\u{1b}[31m\u{1b}[1merror:\u{1b}[0m nothing"), "{wrong:?}");
    let typo = condenser(dir.root(), &["ls", "--color", "always", "--nothing"]).exits(2).stderr;
    assert!(typo.contains('\u{1b}'), "{typo:?}");
    assert!(!condenser(dir.root(), &["ls", "nothing"]).exits(2).stderr.contains('\u{1b}'));
    condenser(dir.root(), &["ls", "nothing", "--color", "pink"]).exits(2);
}

#[test]
fn every_command_has_a_manual_page_that_names_its_flags() {
    let dir = TestDir::new();
    let told = condenser(dir.root(), &["man", "--dir", "pages"]).ok().stderr;
    let pages = files(&dir.path("pages"));
    let commands = commands();
    assert_eq!(told, format!("{} pages written to pages\n", commands.len()));
    assert_eq!(pages.len(), commands.len());
    for words in commands {
        let page = said(&with(&["man".to_owned()], &with(&words, &[])));
        let name = [&["condenser".to_owned()], &words[..]].concat().join("-") + ".1";
        assert_eq!(String::from_utf8_lossy(&pages[&name]), page);
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{page}");
        let page = page.replace("\\-", "-");
        for flag in flags(&said(&with(&words, &["--help"]))) {
            assert!(page.contains(&format!("--{flag}")), "{name} lacks --{flag}");
        }
    }
    // Again, over what is there.
    condenser(dir.root(), &["man", "--dir", "pages"]).ok();
}

/// Runs with an output that nobody reads any more.
#[track_caller]
fn unread(dir: &TestDir, args: &[&str]) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_condenser"));
    let done = command.args(args).current_dir(dir.root()).stdin(Stdio::null()).stdout(writer).output();
    let done = done.expect("it starts");
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(141), "{args:?}: {told}");
    assert_eq!(told, "", "{args:?}");
}

#[test]
fn a_closed_pipe_is_silent_everywhere() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(40, 90));
    dir.write("job.toml", "inputs = [\"in.jsonl\"]\noutput = \"other\"\n");
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--recency-window", "0"]).ok();
    let calls = "report run|report run --json|report run --html -|report run run|ls run|ls run --json|get run chat/1
        get run chat/1 --compressed|show run chat/1|show run chat/1 --json|show run chat/1 --html -|show run chat/1 --why
        restore run -o -|restore run --conversation chat/1|compress in.jsonl -o - --sidecar side|run job.toml --dry-run
        explain in.jsonl|explain in.jsonl --json|sweep in.jsonl -q|sweep in.jsonl -q --html -|calibrate in.jsonl
        schema|schema job|completions bash|completions zsh|man|man compress|help|help options|help compress
        -h|--help|--version|compress -h|compress --help";
    for call in calls.split(['|', '\n']) {
        unread(&dir, &call.split_whitespace().collect::<Vec<_>>());
    }
}

#[test]
fn a_job_file_takes_the_flags_of_compress() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(3, 91));
    dir.write(
        "job.toml",
        "inputs = [\"in.jsonl\"]\noutput = \"run\"\nmemory = \"64MiB\"\n[engine]\nrecency_window = 2\nmin_saving = 7\n",
    );
    let call =
        ["run", "job.toml", "--recency-window", "9", "--memory", "32MiB", "--format=jsonl", "--trace", "-o", "2031"];
    let more = ["--store-retries", "3", "--progress", "none", "--timings", "--preserve", "system,user", "--dry-run"];
    let shown = String::from_utf8(condenser(dir.root(), &[&call[..], &more].concat()).ok().stdout).expect("TOML");
    for key in [
        "recency_window = 9",
        "min_saving = 7",
        "format = \"jsonl\"",
        "trace = true",
        "output = \"2031\"",
        "store_retries = 3",
        "progress = \"none\"",
        "timings = true",
    ] {
        assert!(shown.contains(key), "{key}\n{shown}");
    }
    assert!(shown.contains("33554432") || shown.contains("32MiB"), "{shown}");
    condenser(dir.root(), &call).ok();
    assert!(dir.path("2031/decisions").exists() && dir.path("2031/manifest.json").exists());
    // What is typed wrong is told as the flag that it is.
    let told = condenser(dir.root(), &["run", "job.toml", "--memory", "much"]).exits(2).stderr;
    assert!(told.contains("--memory"), "{told}");
    // Two keys that exclude each other do so across file and flags.
    let told = condenser(dir.root(), &["run", "job.toml", "--target-ratio", "3", "--keep", "0.5"]).exits(2).stderr;
    assert!(told.starts_with("error: "), "{told}");
}
