//! The topics of `condenser help`: what belongs to no single command. What has a declaration is shown from it: options,
//! shapes, keys of job files. Knows words and where declarations are.

use clap::builder::StyledStr;
use clap::{Arg, Args as _, Command, ValueEnum as _};
use condenser::model::{EngineArgs, ShapeName};
use condenser::report::schema;
use serde_json::Value;

use super::groups::GROUPS;
use super::look::{WIDTH, styles};

/// How a call ends; the same in README.md.
pub(super) const EXIT_CODES: &str = "How a call ends, as its exit code:
  0    clean
  1    failed
  2    wrong usage: the command line, the job file, or what they name
  3    finished, but with rejects, or nothing came out
  4    verification failed: something is damaged
  5    finished, but beyond a threshold: of a drift, of a figure, or --require-fit
  6    the run is not finished
  130  interrupted
  141  the reader of the output ended first
";

const DATA: &str = "Inputs are files, folders, patterns such as 'logs/2031-05-*/*.jsonl.zst', addresses, and `-` for
stdin.

Formats: JSON lines (plain, gzip, zstd), JSON documents, Parquet, Arrow IPC. What a file is, its
content says first and its name second.

A record that cannot be read is rejected and stands in rejects/ of the run; it comes back with the
others. Tables keep their columns: only the column with the conversations is rewritten.
";

const MODELS: &str =
    "No model is asked unless one is named. The engine asks for summaries (--summarizer) and for rulings
(--classifier):

  condenser compress logs -o run --summarizer escalating \\
    --llm-base-url http://localhost:8000/v1 --llm-model NAME

Replies are kept: the same job gives the same bytes again without asking (--llm offline sends
nothing). The key comes from a variable of the environment or from a file, never from the command
line. A batch API asks at half the price: condenser llm plan, submit, poll, fetch.
";

const RUNS: &str = "A run directory holds everything that one job wrote:
  manifest.json   the job as it was resolved, inputs, tables, sums; written last
  conversations/  what is shown
  verbatim/       what is not, so that every original comes back byte for byte
  metrics/        a row of figures for each conversation
  decisions/      with --trace, a row for each message
  rejects/        records that could not be read
  commits/        what was written and proven of each part

  condenser report RUN             ratios and quality
  condenser ls RUN                 what is in it, file by file
  condenser get RUN ID             one original
  condenser show RUN ID            one conversation before and after
  condenser restore RUN -o DIR     all originals
  condenser verify RUN             a proof that nothing is damaged

A job that was stopped goes on with the same command. When inputs, options or version have changed
it refuses and says what changed; --fresh starts over beside it.
";

const STORES: &str =
    "Inputs and runs may be s3://bucket/key, gs://bucket/key, az://container/key or file://; inputs, and
finished runs that are only read, also http:// and https://. Patterns work in keys.

Access comes from the environment, or from the table [store] of a job file:
  S3      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
          AWS_ENDPOINT_URL for another server than Amazon's,
          AWS_ALLOW_HTTP=true for one without TLS, AWS_SKIP_SIGNATURE=true for public buckets
  Google  GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT, GOOGLE_SKIP_SIGNATURE=true
  Azure   AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_ALLOW_HTTP=true

What is wrong with them is told at once. What may pass (errors of the server, broken connections)
is tried again, --store-retries times.
";

const JOBS: &str = "A job file says in TOML what a command line says in flags, and more:

  kind = \"compress\"        # or dataset, compaction, report
  inputs = [\"logs\"]
  output = \"run\"
  [engine]
  recency_window = 8

  condenser run JOB.toml --dry-run          the job with all defaults, and what it will take
  condenser run JOB.toml --threads 4        every flag of condenser compress goes over the file
  condenser run JOB.toml --set KEY=VALUE    and every key, also those below

The keys of the flags are in condenser help options. These have none:
";

const OPTIONS: &str =
    "Flags of condenser compress and condenser run. Most are keys of job files too, under the name that
stands behind them.
";

/// The names of the topics.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ["options", "data", "models", "jobs", "runs", "stores", "exit-codes"].into_iter()
}

/// A topic; `root` is the whole command line.
pub(super) fn topic(name: &str, root: &Command) -> StyledStr {
    let text = match name {
        "options" => OPTIONS.to_owned() + "\n" + &options(root, |_| true),
        "data" => DATA.to_owned() + &shapes() + "\n" + &options(root, |heading| heading == "Input and output"),
        "models" => MODELS.to_owned() + "\n" + &options(root, |heading| heading == "Model"),
        "jobs" => JOBS.to_owned() + &keys(root),
        "runs" => RUNS.to_owned(),
        "stores" => STORES.to_owned(),
        _ => EXIT_CODES.to_owned(),
    };
    StyledStr::from(text)
}

/// The options of `compress` under the headings that are wanted, each with its values, its default and its key.
fn options(root: &Command, is_wanted: impl Fn(&str) -> bool) -> String {
    let engine = EngineArgs::augment_args(Command::new("engine"));
    let key = |id: &str| match id.strip_prefix("llm_") {
        Some(key) => format!("llm.{key}"),
        None if engine.get_arguments().any(|arg| arg.get_id() == id) => format!("engine.{id}"),
        None => id.to_owned(),
    };
    let keys = schema("job").and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or_default();
    let wanted = |arg: &&Arg| arg.get_help_heading().is_some_and(&is_wanted) && !arg.is_hide_set();
    let known = |arg: &&Arg| GROUPS.iter().any(|group| group.has(arg.get_id().as_str()));
    let arguments = root.find_subcommand("compress").into_iter().flat_map(Command::get_arguments);
    let shown = arguments.filter(|arg| !arg.is_positional()).filter(wanted).filter(known).map(|arg| {
        let id = arg.get_id().as_str();
        let help = arg.get_long_help().cloned().unwrap_or_default();
        let is_key = id.starts_with("llm_") || key(id).contains('.') || keys["properties"].get(id).is_some();
        let help = if is_key { format!("{help} [key: {}]", key(id)) } else { help.to_string() };
        arg.clone().long_help(help)
    });
    Command::new("options")
        .styles(styles())
        .max_term_width(WIDTH)
        .disable_help_flag(true)
        .help_template("{all-args}")
        .args(shown)
        .render_long_help()
        .ansi()
        .to_string()
}

/// The shapes that records may have.
fn shapes() -> String {
    let shapes = ShapeName::value_variants().iter().filter_map(ShapeName::to_possible_value);
    let rows = shapes.map(|shape| {
        let help = shape.get_help().map(ToString::to_string).unwrap_or_default();
        beside(shape.get_name(), &help)
    });
    format!("\nShapes, which are found out unless --shape names one:\n{}", rows.collect::<String>())
}

/// The keys of a job file that are no flags, table by table, as its schema has them.
fn keys(root: &Command) -> String {
    let job: Value = schema("job").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let compress = root.find_subcommand("compress");
    let is_flag = |id: &str| compress.is_some_and(|command| command.get_arguments().any(|arg| arg.get_id() == id));
    let rows = |of: &Value, before: &str| {
        let properties = of["properties"].as_object().cloned().unwrap_or_default();
        let is_own = |key: &str| !is_flag(&format!("{before}{key}")) && !TABLES.iter().any(|(table, ..)| *table == key);
        properties.iter().filter(|(key, _)| is_own(key)).map(|(key, value)| row(key, value)).collect::<String>()
    };
    let tables = TABLES.iter().map(|(name, of, before)| (name, rows(&job["$defs"][of], before)));
    let tables = tables.filter(|(_, rows)| !rows.is_empty()).map(|(name, rows)| format!("\n[{name}]\n{rows}"));
    format!("\n{}{}", rows(&job, ""), tables.collect::<String>())
}

/// The tables of a job file: the name, its definition in the schema, and what stands before its keys as flags have them.
const TABLES: [(&str, &str, &str); 6] = [
    ("engine", "EngineArgs", ""),
    ("dataset", "DatasetArgs", "dataset_"),
    ("compaction", "CompactionArgs", "compaction."),
    ("report", "ReportArgs", "report_"),
    ("llm", "LlmArgs", "llm_"),
    ("store", "StoreArgs", "store."),
];

fn row(key: &str, value: &Value) -> String {
    let says = value["description"].as_str().or_else(|| value["$ref"].as_str()).unwrap_or_default();
    beside(key, says)
}

/// Columns in front of what a name means.
const INDENT: usize = 18;

/// A name, and what it means beside it.
fn beside(name: &str, text: &str) -> String {
    let lines = filled(text, WIDTH - INDENT);
    let is_beside = name.chars().count() + 4 <= INDENT;
    let first = if is_beside { String::new() } else { format!("  {name}\n") };
    let lines = lines.iter().enumerate().map(|(at, line)| {
        let name = if at == 0 && is_beside { format!("  {name}") } else { String::new() };
        format!("{name:<INDENT$}{line}\n")
    });
    first + &lines.collect::<String>()
}

/// A text in lines of so many columns.
fn filled(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("it begins with a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > columns {
            lines.push(word.to_owned());
        } else {
            last.push_str(if last.is_empty() { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}
