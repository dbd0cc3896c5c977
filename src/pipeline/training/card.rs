//! What stands beside a data set so that others can use it: the card that the hub of Hugging Face shows, and what LLaMA-Factory asks for.
//! Knows sums and options; refuses to know where the files are written.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::tally::{CONTEXTS, TrainingTally};
use crate::model::{EngineOptions, LookAhead};
use crate::pipeline::split::Side;
use crate::pipeline::{Compact, DatasetOptions, EvalLookAhead, RowForm, TargetName, Thinking, Unfit};

/// Sizes under which the hub files data sets.
const SIZES: [(u64, &str); 5] =
    [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (u64::MAX, "1M<n<10M")];
/// Characters of the longest bar of a histogram.
const BAR: u64 = 40;

/// `README.md` of a data set: what `load_dataset` needs, then what people ask. `hash` tells the rows from all others.
pub fn data_card(options: &DatasetOptions, engine: &EngineOptions, tally: &TrainingTally, hash: &str) -> String {
    let mut card = front_matter(options, tally, hash);
    let n_rows = tally.train_rows + tally.eval_rows;
    let ratio = tally.tokens_before as f64 / tally.tokens.max(1) as f64;
    card.push_str("# Conversations to train on\n\n");
    card.push_str(&format!("{n_rows} rows from {} conversations, {} tokens instead of {} ({ratio:.2} times shorter), made by condenser {}.\n\n",
        tally.chats,
        tally.tokens,
        tally.tokens_before,
        env!("CARGO_PKG_VERSION")
    ));
    card.push_str(
        "```python\nfrom datasets import load_dataset\n\ndata = load_dataset(\"path/to/this/folder\")\n```\n\n",
    );
    splits(options, tally, &mut card);
    how_compacted(options, engine, tally, &mut card);
    left_out(tally, &mut card);
    histogram(tally, &mut card);
    for_trainers(options, tally, &mut card);
    card
}

fn front_matter(options: &DatasetOptions, tally: &TrainingTally, hash: &str) -> String {
    let n_rows = tally.train_rows + tally.eval_rows;
    let size = SIZES.iter().find(|(most, _)| n_rows < *most).map_or("", |(_, name)| name);
    let ending = if options.target.is_lines() { "jsonl" } else { "parquet" };
    let mut card = String::from("---\n");
    let languages: Vec<&String> = tally.languages.keys().filter(|code| *code != "unknown").collect();
    if !languages.is_empty() {
        card.push_str("language:\n");
        for code in &languages {
            card.push_str(&format!("- \"{code}\"\n"));
        }
    }
    card.push_str(&format!(
        "task_categories:\n- text-generation\nsize_categories:\n- {size}\ntags:\n- conversational\n- condenser\n"
    ));
    // What `datasets` keeps of a data set it finds by its folder and by this: without the hash it would show rows of another run.
    card.push_str(&format!("configs:\n- config_name: default\n  description: rows {hash}\n  data_files:\n"));
    for (side, n_rows) in [("train", tally.train_rows), ("eval", tally.eval_rows)] {
        // A split without a row is none.
        if n_rows > 0 {
            card.push_str(&format!("  - split: {side}\n    path: {side}/*.{ending}\n"));
        }
    }
    card.push_str("---\n\n");
    card
}

fn splits(options: &DatasetOptions, tally: &TrainingTally, card: &mut String) {
    card.push_str("| split | rows | look-ahead |\n|---|--:|---|\n");
    for (side, rows) in [(Side::Train, tally.train_rows), (Side::Eval, tally.eval_rows)] {
        let (name, ahead) = match (side, options.eval_look_ahead) {
            (Side::Train, _) => ("train", "what later turns use stays, with distractors"),
            (Side::Eval, EvalLookAhead::Strict) => ("eval", "strict: nothing behind the last messages counts"),
            (Side::Eval, EvalLookAhead::Off) => ("eval", "off: nothing that comes later counts"),
        };
        card.push_str(&format!("| {name} | {rows} | {ahead} |\n"));
    }
    card.push_str("\n| class | rows |\n|---|--:|\n");
    for (class, rows) in &tally.classes {
        card.push_str(&format!("| {class} | {rows} |\n"));
    }
    card.push('\n');
}

fn how_compacted(options: &DatasetOptions, engine: &EngineOptions, tally: &TrainingTally, card: &mut String) {
    card.push_str("## How it was compacted\n\n");
    let ahead = match engine.looks_ahead() {
        Some(LookAhead::Turns) => "what no later turn uses gives way to a mark such as `⋯ 12 lines #7`",
        Some(_) => "what later turns are not likely to use gives way to a mark such as `⋯ 12 lines #7`",
        None => "texts that are long and say little give way to shorter ones",
    };
    if options.compact == Compact::ToFit {
        card.push_str("What fits is whole. In other rows something is hidden.\n\n");
    }
    card.push_str(&format!("Results of tools and pasted texts: {ahead}. What the assistant says, thinks and calls is as it was in all {} turns; \
         something is hidden in {} of the other messages (`compacted`).\n",
        tally.targets, tally.compacted
    ));
    card.push_str(&format!("{} turns are not for learning, since they broke off, the log says so, or another window has them (`train` is false, or `weight` 0); {} calls have no result in the log and \
         say so; {} replies that broke off and were tried again, {} messages of programs to their user and {} messages that the user took back are not there.\n\n",
        tally.not_targets, tally.no_result, tally.retried, tally.not_said, tally.taken_back
    ));
    if let Some(most) = options.max_tokens {
        let unfit = match options.unfit {
            Unfit::Windows => {
                "cut where turns end; each window begins with the system prompt, the task and what was asked last, and shows before its own turns as \
                 much as fits of what led there, which is not learned again (`train` is false)"
            }
            Unfit::LeaveOut => "left out",
        };
        card.push_str(&format!(
            "A row has at most {most} tokens; what takes more even compacted is {unfit}. {} rows are windows.\n\n",
            tally.windows
        ));
    }
    card.push_str("| context | conversations that fit as they were | compacted |\n|--:|--:|--:|\n");
    let whole = tally.kept.max(1);
    // A larger context than that of a row says nothing.
    let most = options.max_tokens.map_or(u64::MAX, |most| most as u64);
    for context in CONTEXTS.into_iter().filter(|context| *context <= most) {
        let share = |counts: &BTreeMap<u64, u64>| {
            counts.get(&context).copied().unwrap_or_default() as f64 * 100.0 / whole as f64
        };
        card.push_str(&format!(
            "| {context} | {:.1} % | {:.1} % |\n",
            share(&tally.fit_before),
            share(&tally.fit_after)
        ));
    }
    card.push('\n');
}

fn left_out(tally: &TrainingTally, card: &mut String) {
    if tally.left_out.is_empty() {
        return;
    }
    card.push_str("## What is not there\n\n| reason | conversations or windows |\n|---|--:|\n");
    for (reason, n) in &tally.left_out {
        card.push_str(&format!("| {reason} | {n} |\n"));
    }
    if tally.turns_left_out > 0 {
        card.push_str(&format!(
            "\n{} turns that were to be learned have no row for want of room.\n",
            tally.turns_left_out
        ));
    }
    card.push_str("\n`dropped` beside this file lists them.\n\n");
}

fn histogram(tally: &TrainingTally, card: &mut String) {
    card.push_str("## Tokens\n\n```\n");
    let most = tally.by_tokens.values().copied().max().unwrap_or(1);
    for (power, n) in &tally.by_tokens {
        let bar = "█".repeat((n * BAR).div_ceil(most) as usize);
        card.push_str(&format!("up to {:>8}  {n:>7}  {bar}\n", 1_u64 << power));
    }
    card.push_str("```\n\n");
}

fn for_trainers(options: &DatasetOptions, tally: &TrainingTally, card: &mut String) {
    card.push_str("## Columns\n\n");
    let thinking = match options.thinking {
        Thinking::Field => "; what an assistant thinks is its `reasoning_content`",
        Thinking::Content => "; what an assistant thinks stands in `<think>` tags before what it says",
        Thinking::Drop => "",
    };
    let rows = match options.form {
        RowForm::Messages => format!("`{}` is the conversation", options.target.column()),
        RowForm::PromptCompletion => {
            "`prompt` and `completion` are the conversation up to its last turn, and that turn".to_owned()
        }
        RowForm::Preference => "`prompt` is the conversation, `chosen` and `rejected` are two answers to it".to_owned(),
    };
    card.push_str(&format!(
        "{rows}{thinking}. `tools` are those of the log, or inferred from the calls of all conversations with its system prompt where it names none.\n"
    ));
    match options.target {
        TargetName::Openai | TargetName::LlamaFactory => {}
        _ => card.push_str(
            "`n_tokens` and `n_tokens_before` are tokens after and before, `ratio` their quotient, `grounding` the share of what \
             the assistant used that still stands before its use, `window` of `n_windows` the piece of a longer conversation.\n",
        ),
    }
    if matches!(options.target, TargetName::Trl | TargetName::Unsloth) && options.form == RowForm::Messages {
        card.push_str(match options.training_template {
            Some(_) => {
                "\n`chat_template.jinja` is the chat template whose marks leave out turns that are not for learning:\n\n```python\nSFTConfig(assistant_only_loss=True, \
                 chat_template_path=\"chat_template.jinja\")\n```\n"
            }
            None => {
                "\nTRL learns all turns of the assistant, also those whose `train` is false, unless its chat template looks at that: with a template that has marks of \
                 `generation` as `chat_template` of the job one that does is written here.\n"
            }
        });
    }
    if options.target == TargetName::LlamaFactory && tally.not_targets > 0 {
        card.push_str(&format!(
            "\nLLaMA-Factory learns all turns of the assistant, also the {} that are not for learning.\n",
            tally.not_targets
        ));
    }
    if options.target == TargetName::Axolotl {
        card.push_str(
            "\n```yaml\ndatasets:\n  - path: train/part-00000.jsonl\n    ds_type: json\n    type: chat_template\n    field_messages: messages\n    message_field_training: train\n```\n",
        );
    }
}

/// `dataset_info.json` of LLaMA-Factory, which names files and columns.
pub fn dataset_info(files: &[(String, String)]) -> String {
    let entry = |file: &str| {
        json!({
            "file_name": file,
            "formatting": "sharegpt",
            "columns": { "messages": "conversations", "system": "system", "tools": "tools" },
            "tags": {
                "role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt",
                "observation_tag": "observation", "function_tag": "function_call", "system_tag": "system",
            },
        })
    };
    // Files of a run stand beside this one, under the folder that names their split.
    let entries: Map<String, Value> = files
        .iter()
        .map(|(table, path)| {
            let file = path.strip_prefix("dataset/").unwrap_or(path);
            let split = table.strip_prefix("dataset/").unwrap_or(table);
            let number = file.bytes().filter(u8::is_ascii_digit).map(char::from).collect::<String>();
            (format!("condenser_{split}_{number}"), entry(file))
        })
        .collect();
    format!("{:#}\n", Value::Object(entries))
}
