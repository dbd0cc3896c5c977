//! Tokens: counts that are known, texts that are hostile, tokenizers from files, presets, and what a run does with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use condenser::model::{
    AssistantText, CompressionDepth, DEFAULT_RECENCY_WINDOW, EngineArgs, EngineOptions, HideBy, KeepCopy, Preset,
    Tokenizer,
};
use condenser::text::tokens::{TokenCounter, counter, estimate, from_json};
use proptest::prelude::{ProptestConfig, proptest};
use proptest::prop_assert_eq;

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

fn builtin(tokenizer: &Tokenizer) -> Arc<dyn TokenCounter> {
    counter(tokenizer).expect("it is built in")
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tokenizers").join(name)
}

fn file(name: &str) -> Arc<dyn TokenCounter> {
    from_json(&std::fs::read(data(name)).expect("it is there")).expect("it is a tokenizer")
}

#[test]
fn counts_are_those_of_the_models() {
    let (o200k, cl100k) = (builtin(&Tokenizer::O200kBase), builtin(&Tokenizer::Cl100kBase));
    // Text, tokens of o200k_base, tokens of cl100k_base; figures of tiktoken.
    let cases = [
        ("", 0, 0),
        ("Hello, world!", 4, 4),
        ("We'll redeploy at 12:30, it's ready.", 12, 14),
        ("fn main() {\n    println!(\"{}\", 12345);\n}\n", 12, 12),
        ("\t\tif retry_count >= MAX:  \n\n\n    raise", 10, 10),
        ("Größenänderung der Straßenbeleuchtung", 9, 12),
        ("数据库连接在凌晨三点超时了。", 10, 13),
        ("a   b \r\n c", 5, 5),
        ("<|endoftext|>", 7, 7),
    ];
    let mut wrong = Vec::new();
    for (text, of_o200k, of_cl100k) in cases {
        let found = (o200k.count(text), cl100k.count(text));
        if found != (of_o200k, of_cl100k) {
            wrong.push(format!("{text:?}: {found:?}, not {:?}", (of_o200k, of_cl100k)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(builtin(&Tokenizer::Chars).count("größer"), estimate(6));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// The fast path and the encoder give what the reference gives, whatever stands beside what.
    #[test]
    fn counts_equal_those_of_tiktoken(
        text in "([a-zA-Z]{1,9}|[0-9]{1,5}|[ \t\r\n\u{b}]{1,4}|'(s|LL|ve|x|ſ)|[!-/:-@\\[-`{-~]{1,4}|[éſßÅʰ漢字ノ́\u{a0}\u{2028}²Ⅷ١😀]{1,2}|[\u{0}-\u{1f}\u{7f}]){0,24}"
    ) {
        let reference = [tiktoken_rs::o200k_base_singleton(), tiktoken_rs::cl100k_base_singleton()];
        for (tokenizer, reference) in [Tokenizer::O200kBase, Tokenizer::Cl100kBase].iter().zip(reference) {
            prop_assert_eq!(builtin(tokenizer).count(&text), reference.encode_ordinary(&text).len(), "{:?}", tokenizer);
        }
    }
}

/// Each of these takes hours where the time of some step grows with the square of the text.
#[test]
fn hostile_texts_are_counted_in_linear_time() {
    const LONG: usize = 1 << 20;
    for tokenizer in [Tokenizer::O200kBase, Tokenizer::Cl100kBase] {
        let counter = builtin(&tokenizer);
        for unit in ["a", " ", "\n", "0", "aB", "漢", "'"] {
            let n_tokens = counter.count(&unit.repeat(LONG / unit.len()));
            assert!((1..=LONG).contains(&n_tokens), "{tokenizer:?} {unit:?}: {n_tokens}");
        }
        assert!(counter.count(&(" ".repeat(LONG) + "x")) > 0);
        assert!(counter.count(&"= ".repeat(1 << 19)) > 0);
    }
    for name in ["words.json", "pairs.json"] {
        let counter = file(name);
        for unit in ["a", " ", "\n", "the", "漢"] {
            let n_tokens = counter.count(&unit.repeat(LONG / unit.len()));
            assert!(n_tokens <= LONG, "{name} {unit:?}: {n_tokens}");
        }
    }
}

#[test]
fn a_file_counts_as_its_model_does_and_the_same_every_time() {
    let words = file("words.json");
    // No <bos> in front, not cut to 8, not padded to 32; an unknown word is one token.
    assert_eq!(words.count("The cache is cold, so we retry at noon and deploy gigawatts."), 14);
    assert_eq!(words.count(""), 0);
    // What looks like a special token is text: `<`, `eos`, `>`.
    assert_eq!(words.count("the <eos> the"), 5);
    let long = "the cache is cold .\n".repeat(40_000);
    assert_eq!(words.count(&long), 5 * 40_000, "no token is lost between pieces");
    // The file asks for dropout, which would make every count another one.
    let pairs = file("pairs.json");
    let count = pairs.count("then and there on an inner line");
    assert_eq!(count, 20);
    assert!((0..50).all(|_| pairs.count("then and there on an inner line") == count));
}

#[test]
fn a_file_that_is_no_tokenizer_says_so() {
    let text = std::fs::read_to_string(data("words.json")).expect("it is there");
    let no_unknown = text.replace("\"unk_token\": \"<unk>\"", "\"unk_token\": \"<none>\"");
    for (bytes, says) in [
        ("", "no tokenizer.json"),
        ("{}", "no tokenizer.json"),
        (&*text.replace("WordLevel", "WordLevle"), "no tokenizer.json"),
        (&*no_unknown, "cannot count all texts"),
    ] {
        let error = from_json(bytes.as_bytes()).expect_err("it cannot be used");
        assert!(error.message.contains(says), "{error}");
        assert!(error.hint.is_some());
    }
}

#[test]
fn presets_expand_to_options_and_what_is_written_goes_before_them() {
    let with = |preset| EngineArgs { preset: Some(preset), ..EngineArgs::default() };
    let base = EngineOptions::default();
    let expanded = |preset| with(preset).over(base.clone());
    assert_eq!(
        expanded(Preset::Quality),
        EngineOptions { recency_window: 8, compression_depth: CompressionDepth::Gentle, ..base.clone() }
    );
    assert_eq!(
        expanded(Preset::Ratio),
        EngineOptions {
            compression_depth: CompressionDepth::Aggressive,
            assistant: AssistantText::Old,
            arguments: Some(true),
            ..base.clone()
        }
    );
    assert_eq!(expanded(Preset::Balanced), base);
    assert_eq!(
        expanded(Preset::Classic),
        EngineOptions {
            hide_by: HideBy::Look,
            compression_depth: CompressionDepth::Gentle,
            keep_first_user: false,
            min_saving: 1,
            keep_copy: KeepCopy::Last,
            ..base.clone()
        }
    );
    let mine = EngineArgs {
        token_budget: Some(0),
        compression_depth: Some(CompressionDepth::Gentle),
        recency_window: Some(1),
        ..with(Preset::Ratio)
    };
    // What the job itself has as a base stays beneath the preset.
    let options = mine.over(EngineOptions { source_version: 7, recency_window: 9, ..base.clone() });
    assert_eq!((options.token_budget, options.compression_depth), (None, CompressionDepth::Gentle));
    assert_eq!((options.recency_window, options.source_version, options.assistant), (1, 7, AssistantText::Old));
    for preset in Preset::ALL {
        expanded(preset).check().expect("presets can be used");
    }
    assert_eq!(base.recency_window, DEFAULT_RECENCY_WINDOW);
}

#[test]
fn a_preset_stands_in_the_manifest_and_in_a_dry_run_as_its_options() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(6, 51));
    let job = "inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\npreset = \"ratio\"\ntoken_budget = 300\n";
    dir.write("job.toml", job);
    let told = String::from_utf8(condenser(dir.root(), &["run", "job.toml", "--dry-run"]).ok().stdout).expect("text");
    for says in ["token_budget = 300", "assistant = \"old\"", "compression_depth = \"aggressive\""] {
        assert!(told.contains(says), "{says}: {told}");
    }
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let manifest: serde_json::Value = serde_json::from_slice(&dir.read("run/manifest.json")).expect("JSON");
    let engine = &manifest["options"]["engine"];
    assert_eq!(engine["token_budget"], 300);
    assert_eq!(engine["compression_depth"], "aggressive");
    assert_eq!(engine["assistant"], "old");
    assert!(engine.get("preset").is_none());
    // Flags say the same, and what the dry run printed does the same.
    let flags = ["compress", "in.jsonl", "-o", "flags", "--preset", "ratio", "--token-budget", "300"];
    condenser(dir.root(), &flags).ok();
    assert_eq!(dir.read("run/manifest.json"), dir.read("flags/manifest.json"));
    dir.write("resolved.toml", told.replace("\"run\"", "\"resolved\""));
    condenser(dir.root(), &["run", "resolved.toml"]).ok();
    assert_eq!(dir.read("run/manifest.json"), dir.read("resolved/manifest.json"));
    condenser(dir.root(), &["explain", "in.jsonl", "--preset", "balanced"]).ok();
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
}

#[test]
fn a_run_counts_with_its_tokenizer_and_goes_on_only_with_the_same_file() {
    let dir = TestDir::new();
    let record = r#"{"id":"a","messages":[{"role":"user","content":"The cache is cold."},{"role":"assistant","content":"We retry at noon."}]}"#;
    dir.write("in.jsonl", format!("{record}\n"));
    let text = std::fs::read_to_string(data("words.json")).expect("it is there");
    dir.write("my/tokenizer.json", &text);
    dir.write("job.toml", "inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\ntokenizer = \"my/tokenizer.json\"\n");
    condenser(dir.root(), &["run", "job.toml"]).ok();
    let manifest: serde_json::Value = serde_json::from_slice(&dir.read("run/manifest.json")).expect("JSON");
    assert_eq!((&manifest["totals"]["tokens_in"], &manifest["totals"]["tokens_out"]), (&10.into(), &10.into()));
    assert_eq!(manifest["options"]["tokenizer_blake3"], blake3::hash(text.as_bytes()).to_hex().as_str());
    let before = files(&dir.path("run"));
    condenser(dir.root(), &["run", "job.toml"]).ok();
    dir.write("my/tokenizer.json", text.replace("\"noon\"", "\"dawn\""));
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
    assert!(told.contains("the file that the option engine.tokenizer names has changed"), "{told}");
    for (name, says) in [
        ("chars", "option engine.tokenizer: \"my/tokenizer.json\" → \"chars\""),
        ("o200k_base", "option engine.tokenizer: \"my/tokenizer.json\" → \"o200k_base\""),
    ] {
        let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--tokenizer", name]).exits(2).stderr;
        assert!(told.contains(says) && !told.contains("tokenizer_blake3"), "{told}");
    }
    assert!(files(&dir.path("run")) == before);
    // What is written needs no tokenizer any more.
    std::fs::remove_dir_all(dir.path("my")).expect("it was there");
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
    assert!(told.contains("job.toml: my/tokenizer.json: there is no such tokenizer file"), "{told}");
}

#[test]
fn an_option_that_only_the_second_call_names_is_a_difference() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(4, 52));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--token-budget", "50"]).exits(2).stderr;
    assert!(told.contains("option engine.token_budget: unset → 50"), "{told}");
}

#[test]
fn what_is_wrong_with_an_option_is_said_with_its_name() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(2, 53));
    dir.write("broken.json", "{\"model\": 3}");
    let flags: &[(&[&str], &str)] = &[
        (&["--preset", "best"], "[possible values: quality, ratio, balanced, classic]"),
        (&["--tokenizer", "o200k"], "`o200k` is no tokenizer; expected chars, o200k_base, cl100k_base or"),
        (&["--tokenizer", "none.json"], "none.json: there is no such tokenizer file\nhint: `tokenizer` takes"),
        (&["--tokenizer", "broken.json"], "broken.json: the file is no tokenizer.json of Hugging Face"),
        (&["--relevance-threshold=-1"], "expected a number from 0 on"),
        (&["--relevance-threshold", "NaN"], "expected a number from 0 on"),
        (&["--cluster-threshold", "1.5"], "expected a number from 0 to 1"),
    ];
    for (flags, says) in flags {
        for command in [&["compress", "in.jsonl", "-o", "run"][..], &["explain", "in.jsonl"]] {
            let told = condenser(dir.root(), &[command, *flags].concat()).exits(2).stderr;
            assert!(told.contains(says), "{flags:?}: {told}");
        }
    }
    let keys = [
        ("preset = \"best\"", "job.toml: line 4, column 10: unknown value `best`, expected one of `quality`"),
        ("tokenizer = \"cl100k\"", "job.toml: line 4, column 13: `cl100k` is no tokenizer"),
        ("relevance_threshold = nan", "job.toml: engine.relevance_threshold: NaN is no score; write 0 or more"),
        ("relevance_threshold = -2", "engine.relevance_threshold: -2 is no score"),
        ("fuzzy_threshold = 85.0", "engine.fuzzy_threshold: 85 is no share; write a number from 0 to 1"),
        ("importance_threshold = nan", "engine.importance_threshold: NaN is no share"),
        ("token_budget = -5", "job.toml: line 4, column 16: wrong value"),
    ];
    for (key, says) in keys {
        dir.write("job.toml", format!("inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\n{key}\n"));
        let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
        assert!(told.contains(says), "{key}: {told}");
    }
    dir.write("job.toml", "inputs = [\"in.jsonl\"]\noutput = \"run\"\npreset = \"ratio\"\n");
    let told = condenser(dir.root(), &["run", "job.toml"]).exits(2).stderr;
    assert!(told.contains("unknown key `preset` here; it belongs to the table [engine]"), "{told}");
    assert!(!dir.path("run").exists());
    // What merely does nothing is let pass.
    let idle = ["--min-recency-window", "3", "--force-converge", "--budget-strategy", "tiered"];
    condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "run"], &idle[..]].concat()).ok();
}
