//! The table `[llm]` of a job: what is refused and with which words, where the key comes from and that it is nowhere
//! shown, and what of it decides about the output.

use condenser::error::{Error, ErrorKind};
use condenser::pipeline::{JobOptions, JobSettings, LlmKey, LlmMode, LlmProvider, RunPlan, Secret, read_job};

use crate::support::command::condenser;
use crate::support::dir::TestDir;

const KEY: &str = "sk-very-secret-7f3a";

fn environment(name: &str) -> Option<String> {
    matches!(name, "OPENAI_API_KEY" | "MY_KEY").then(|| format!(" {KEY}\n"))
}

fn settle(text: &str) -> Result<JobSettings, Error> {
    let job = format!("inputs = [\"in.jsonl\"]\noutput = \"run\"\n{text}");
    read_job("job.toml", &job, &[])?.settle(&environment)
}

const ASKS: &str = "[engine]\nsummarizer = \"normal\"\n";

#[test]
fn what_is_missing_or_wrong_is_said_with_what_to_do() {
    let cases: &[(&str, &str, &str)] = &[
        ("", "llm.model: the engine is told to ask a model, but none is named", "--llm-model"),
        ("[llm]\nmodel = \" \"", "llm.model: ", "model = "),
        (
            "[llm]\nmodel = \"m\"\nprovider = \"anthropic\"",
            "llm.key_env: no key: the environment variable ANTHROPIC_API_KEY is not set",
            "key_file",
        ),
        ("[llm]\nmodel = \"m\"\nkey_env = \"NONE\"", "the environment variable NONE is not set", "--llm offline"),
        ("[llm]\nmodel = \"m\"\nkey_env = \"sk-abc\"", "not the key itself", ""),
        ("[llm]\nmodel = \"m\"\nprovider = \"cohere\"", "unknown value `cohere`, expected `openai` or `anthropic`", ""),
        ("[llm]\nmodle = \"m\"", "did you mean `model`?", ""),
        ("[llm]\nmodel = \"m\"\nkey = \"sk\"", "unknown key `key`", ""),
        ("[llm]\nmodel = \"${MODEL}\"", "only for secrets", ""),
        ("[llm]\nmodel = \"m\"\nbase_url = \"localhost:8000\"", "llm.base_url: expected an address", ""),
        ("[llm]\nmodel = \"m\"\nbase_url = \"https://me:pw@host/v1\"", "no user and password", ""),
        ("[llm]\nmodel = \"m\"\nbase_url = \"https://host/v1?key=x\"", "`?` and `#` cannot follow", ""),
        ("[llm]\nmodel = \"m\"\nconcurrency = 0", "llm.concurrency: expected a number from 1 to 4096", ""),
        ("[llm]\nmodel = \"m\"\ntokens_per_minute = 0", "llm.tokens_per_minute: with 0 nothing can be asked", ""),
        ("[llm]\nmodel = \"m\"\ntemperature = 3", "a number from 0 to 2, or \"none\"", ""),
        ("[llm]\nmodel = \"m\"\nprices = { input = -1.0 }", "llm.prices: expected what a million tokens cost", ""),
        ("[llm]\nmodel = \"m\"\ntimeout = 0", "a number of seconds", ""),
        ("[llm]\nmodel = \"m\"\nparameters = { stream = true }", "llm.parameters.stream: condenser sets this", ""),
    ];
    for (table, says, hint) in cases {
        let error = settle(&format!("{ASKS}{table}")).expect_err(table);
        assert_eq!(error.kind, ErrorKind::Usage, "{table}");
        let told = error.to_string();
        assert!(told.contains(says), "{table}: {told}");
        assert!(error.hint.unwrap_or_default().contains(hint), "{table}: {:?}", error.hint);
        assert!(!told.contains("sk-abc") && !told.contains("me:pw"), "{told}");
    }
    let anthropic =
        format!("{ASKS}[llm]\nmodel = \"m\"\nprovider = \"anthropic\"\nkey_env = \"MY_KEY\"\ntemperature = 1.5");
    assert!(settle(&anthropic).expect_err("too warm").to_string().contains("take 0 to 1"));
}

#[test]
fn a_model_is_settled_when_it_is_asked_or_named() {
    assert!(settle("").expect("fine").llm.is_none());
    assert!(settle("[llm]\nconcurrency = 3").expect("fine").llm.is_none());
    // Named but not asked: no key is needed, and the output does not depend on it.
    let named = settle("[llm]\nmodel = \"m\"\nprovider = \"anthropic\"").expect("fine");
    assert!(named.llm.is_some() && named.options.llm.is_none());
    for asks in ["summarizer = \"escalating\"", "classifier = \"model\""] {
        let settings = settle(&format!("[engine]\n{asks}\n[llm]\nmodel = \"gpt\"")).expect(asks);
        let llm = settings.llm.expect("it is asked");
        assert_eq!(settings.options.llm.as_ref(), Some(&llm.options));
        assert_eq!((llm.base_url.as_str(), llm.mode), ("https://api.openai.com/v1", LlmMode::Online));
        assert_eq!((llm.concurrency, llm.options.temperature, llm.is_own_server()), (64, Some(0.0), true));
        let key = llm.key(|_| panic!("no file")).expect("a key");
        assert_eq!(key.as_ref().map(Secret::reveal), Some(KEY));
    }
    // Who writes the summary says the summarizer.
    assert!(settle("[engine]\nstrategy = \"insert-then-compress\"").expect("fine").llm.is_none());
    let offline = settle(&format!("{ASKS}[llm]\nmodel = \"m\"\nprovider = \"anthropic\"\nmode = \"offline\""));
    assert!(matches!(offline.expect("fine").llm.expect("asked").key, LlmKey::None));
}

#[test]
fn servers_of_ones_own_get_no_key_unless_one_is_named() {
    let llm = |table: &str| settle(&format!("{ASKS}[llm]\nmodel = \"m\"\n{table}")).expect(table).llm.expect("asked");
    let own = llm("base_url = \"http://localhost:8000/\"");
    assert_eq!((&*own.base_url, own.key), ("http://localhost:8000/v1", LlmKey::None));
    let named = llm("base_url = \"https://host/openai/v2\"\nkey_env = \"MY_KEY\"");
    assert_eq!(named.base_url, "https://host/openai/v2");
    assert!(matches!(named.key, LlmKey::Variable(_)));
    let anthropic = llm("base_url = \"https://host/anthropic\"\nprovider = \"anthropic\"");
    assert_eq!(
        (&*anthropic.base_url, anthropic.options.provider),
        ("https://host/anthropic/v1", LlmProvider::Anthropic)
    );
    let file = llm("key_file = \"key.txt\"");
    let read = |text: &'static str| {
        file.key(move |path| {
            assert_eq!(path, "key.txt");
            Ok(text.into())
        })
    };
    assert_eq!(read("\nabc\n").expect("a key").as_ref().map(Secret::reveal), Some("abc"));
    for wrong in ["", "  \n", "two words", "two\nlines"] {
        let error = read(wrong).expect_err("no key").to_string();
        assert!(error.contains("key.txt") && !error.contains("lines"), "{error}");
    }
}

#[test]
fn the_key_stands_nowhere() {
    let settings = settle(&format!("{ASKS}[llm]\nmodel = \"gpt\"\nretries = 2\ntemperature = \"none\"")).expect("fine");
    let toml = settings.to_toml().expect("TOML");
    let options = serde_json::to_string(&settings.options).expect("JSON");
    for shown in [format!("{settings:?}"), toml.clone(), options] {
        assert!(!shown.contains(KEY) && !shown.contains("7f3a"), "{shown}");
    }
    // The printed job is the same job.
    let again = read_job("again", &toml, &[]).expect("TOML").settle(&environment).expect("fine");
    assert_eq!((again.llm, again.options), (settings.llm, settings.options));
}

#[test]
fn another_model_is_another_job_and_another_key_is_not() {
    let plan = |table: &str| {
        let settings = settle(&format!("{ASKS}[llm]\n{table}")).expect(table);
        RunPlan::new(settings.options, Vec::new()).expect("a plan")
    };
    let first = plan("model = \"gpt\"");
    for same in [
        "model = \"gpt\"\nkey_env = \"MY_KEY\"\nconcurrency = 2\nrequests_per_minute = 5\ntokens_per_minute = 6",
        "model = \"gpt\"\nmode = \"offline\"\ntimeout = 5\nretries = 0\ncache = \"c\"\nshared_cache = \"s\"",
        "model = \"gpt\"\nbase_url = \"http://localhost:1/v1\"\nprices = { input = 1.0, output = 2.0 }",
        "model = \"gpt\"\nprovider = \"openai\"\ntemperature = 0\nkey_file = \"f\"",
    ] {
        assert!(first.differences(&plan(same)).is_empty(), "{same}");
    }
    for (other, says) in [
        ("model = \"gpt-2\"", "option llm.model: \"gpt\" → \"gpt-2\""),
        ("model = \"gpt\"\ntemperature = 0.5", "option llm.temperature: 0.0 → 0.5"),
        ("model = \"gpt\"\ntemperature = \"none\"", "option llm.temperature: 0.0 → unset"),
        ("model = \"gpt\"\nprovider = \"anthropic\"\nmode = \"offline\"", "option llm.provider"),
    ] {
        let found = first.differences(&plan(other));
        assert!(found.iter().any(|line| line.contains(says)), "{found:?}");
    }
}

#[test]
fn options_of_runs_without_a_model_are_written_as_before() {
    let options = settle("[llm]\nmodel = \"m\"").expect("fine").options;
    let text = serde_json::to_string(&options).expect("JSON");
    assert!(!text.contains("\"llm\""), "{text}");
    assert_eq!(serde_json::from_str::<JobOptions>(&text).expect("JSON"), options);
}

#[test]
fn flags_and_tables_say_the_same() {
    let dir = TestDir::new();
    dir.write("job.toml", "inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\nsummarizer = \"normal\"\n");
    dir.write("in.jsonl", "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}\n");
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
    assert!(told.contains("llm.model") && told.contains("hint: ") && told.contains("[llm]"), "{told}");
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--summarizer", "normal"]).exits(2).stderr;
    assert!(told.contains("llm.model"), "{told}");
    let set = ["--set", "llm.model=m", "--llm", "offline", "--dry-run"];
    let told = condenser(dir.root(), &[&["run", "job.toml"], &set[..]].concat()).ok().stdout;
    let told = String::from_utf8_lossy(&told);
    assert!(told.contains("mode = \"offline\"") && told.contains("model = \"m\""), "{told}");
    let help = condenser(dir.root(), &["compress", "--help"]).ok().stdout;
    let help = String::from_utf8_lossy(&help);
    assert!(help.contains("--llm <MODE>") && help.contains("Model:"), "{help}");
}
