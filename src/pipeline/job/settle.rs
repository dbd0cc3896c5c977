//! From what was written to what holds: defaults are filled in, and what does not go together is refused. Knows no
//! file and no environment.

use std::sync::Arc;

use toml::{Table, Value};

use super::llm::asks_a_model;
use super::policy;
use super::tokenizer::load_tokenizer;
use super::{
    DatasetArgs, DatasetShape, JobArgs, JobKind, LlmArgs, LlmSettings, ProgressMode, ReportArgs, Seconds, Size,
    StoreArgs,
};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EngineOptions, ProvenancePlace, changes};
use crate::pipeline::{
    Compression, ConversationFormat, DEFAULT_BATCH_BYTES, DEFAULT_MAX_RECORD_BYTES, DEFAULT_SPLIT_BYTES,
    DatasetOptions, JobOptions, MAX_RECORD_BYTES, MaxRejects,
};
use crate::text::tokens::TokenCounter;

/// What is in flight stays below this; with everything else the process stays below 400 MB.
pub const DEFAULT_MEMORY: usize = 256 << 20;
/// One in twenty is enough to see whether training goes well.
const DEFAULT_EVAL_SHARE: f64 = 0.05;
/// Text columns of training data have offsets of 32 bits.
const MAX_DATASET_RECORD: usize = 1 << 30;

/// What holds for a job; nothing is optional any more.
#[derive(Debug, Clone)]
pub struct JobSettings {
    /// What the job is for.
    pub kind: JobKind,
    /// The inputs as written.
    pub inputs: Vec<String>,
    /// Where the output goes.
    pub target: Target,
    /// What decides about the bytes of the output.
    pub options: JobOptions,
    /// What counts tokens; `None` for the estimate by characters. See [`JobSettings::with_counter`].
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// Bytes of memory for what is in flight.
    pub memory: usize,
    /// Number of workers; 0 means one per core.
    pub threads: usize,
    /// When the job fails.
    pub max_rejects: Option<MaxRejects>,
    /// Whether every conversation must meet its token budget.
    pub require_fit: bool,
    /// Errors only.
    pub quiet: bool,
    /// How progress is shown.
    pub progress: ProgressMode,
    /// Whether the time of each step is taken.
    pub timings: bool,
    /// Stands in the name of the night's run.
    pub run_name: Option<String>,
    /// What is reported, and what the run is held against.
    pub report: ReportArgs,
    /// When a remote store has stalled; `None` for the default.
    pub store_timeout: Option<Seconds>,
    /// How often a request is tried again; `None` for the default.
    pub store_retries: Option<usize>,
    /// The model that is asked; `None` when none is.
    pub llm: Option<LlmSettings>,
    /// Access to object stores, with secrets.
    pub store: StoreArgs,
}

/// Where the output of a job goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A directory.
    Run(String),
    /// Stdout.
    Filter,
}

impl JobSettings {
    /// True when the engine has questions for a model.
    #[must_use]
    pub fn asks_a_model(&self) -> bool {
        asks_a_model(&self.options.engine)
    }
}

impl JobArgs {
    /// Fills in the defaults. `environment` looks variables up, for secrets only.
    ///
    /// # Errors
    /// `Usage` says what is missing or does not go together.
    pub fn settle(self, environment: &dyn Fn(&str) -> Option<String>) -> Result<JobSettings> {
        let kind = self.kind.unwrap_or_default();
        self.refuse_other_tables(kind)?;
        if self.inputs.is_empty() {
            return usage("inputs", "the job names no inputs; write inputs = [\"logs/*.jsonl\"]");
        }
        let is_filter = match self.output.as_deref() {
            Some(output) => output == "-",
            None => self.inputs == ["-"],
        };
        let target = match self.output {
            _ if is_filter && kind == JobKind::Compress => Target::Filter,
            Some(output) if !is_filter => Target::Run(output),
            _ => return usage("", "no output was named; use --output RUN, in a job file output = \"RUN\""),
        };
        let is_filter = target == Target::Filter;
        let format = match (self.format, kind) {
            (Some(format), _) => format,
            (None, _) if is_filter => ConversationFormat::Jsonl,
            (None, _) => ConversationFormat::Parquet,
        };
        let (trace, verbatim_map) = (self.trace.unwrap_or_default(), self.verbatim_map.unwrap_or_default());
        if is_filter && (self.format.is_some_and(|format| format != ConversationFormat::Jsonl) || trace || verbatim_map)
        {
            return usage(
                "",
                "the filter writes records of the input's shape; other formats, --trace and --verbatim-map need --output RUN",
            );
        }
        let compression = self.compression.unwrap_or_default();
        if is_filter && self.compression.is_some_and(|compression| compression != Compression::None) {
            return usage("compression", "the filter writes plain lines: pipe them through gzip or zstd");
        }
        if format == ConversationFormat::Arrow && compression == Compression::Gzip {
            return usage("compression", "Arrow IPC knows no gzip: take zstd or none, or another format");
        }
        if verbatim_map && format != ConversationFormat::Jsonl {
            return usage("", "--verbatim-map goes with --format jsonl");
        }
        if verbatim_map && kind == JobKind::Report {
            return usage("verbatim_map", "a report writes no originals, so there is no map to write");
        }
        let mut base = EngineOptions::default();
        // A map is found through the provenance in the messages, so it is written there unless told otherwise.
        if verbatim_map {
            base.provenance = ProvenancePlace::Metadata;
        }
        let max_record_bytes = self.max_record_bytes.map_or(DEFAULT_MAX_RECORD_BYTES, |size| size.0);
        if max_record_bytes > 2 << 30 {
            return usage("max_record_bytes", "a record has at most 2GiB: pages of Parquet end there");
        }
        let max_record_bytes = max_record_bytes.min(MAX_RECORD_BYTES);
        if kind == JobKind::Dataset && max_record_bytes > MAX_DATASET_RECORD {
            return usage("max_record_bytes", "training data holds records of at most 1GiB");
        }
        if self.max_rejects.is_some_and(|limit| matches!(limit, MaxRejects::Share(share) if share.is_nan())) {
            return usage("max_rejects", "the share is no number");
        }
        let run_name = self.compaction.run_name.map(check_run_name).transpose()?;
        let engine = self.engine.over(base);
        engine.check().map_err(|mut error| {
            error.place = format!("engine.{}", error.place);
            error
        })?;
        let policy = policy::settle(self.policy, self.floor, self.tries, &engine)?;
        let require_fit = self.require_fit.unwrap_or_default();
        let engines = std::iter::once(&engine).chain(policy.iter().flat_map(|policy| &policy.tries));
        if require_fit && engines.clone().all(|engine| engine.token_budget.is_none()) {
            return usage("require_fit", "no token budget is set that could be met; name one with token_budget");
        }
        let llm = self.llm.settle(&engine, environment)?;
        Ok(JobSettings {
            kind,
            target,
            inputs: self.inputs,
            options: JobOptions {
                tokenizer_blake3: None,
                llm: llm.as_ref().filter(|_| asks_a_model(&engine)).map(|llm| llm.options.clone()),
                policy,
                format,
                // What a filter writes is plain, and so is its plan.
                compression: if is_filter { Compression::default() } else { compression },
                shape: self.shape,
                messages_column: self.messages_column,
                trace,
                verbatim_map,
                batch_bytes: DEFAULT_BATCH_BYTES,
                max_record_bytes,
                split_bytes: match self.split_size {
                    _ if is_filter => u64::MAX,
                    Some(size) => size.0 as u64,
                    None => DEFAULT_SPLIT_BYTES,
                },
                measure_only: kind == JobKind::Report,
                dataset: if kind == JobKind::Dataset { Some(self.dataset.settle()?) } else { None },
                engine,
            },
            counter: None,
            memory: self.memory.map_or(DEFAULT_MEMORY, |size| size.0),
            threads: self.threads.unwrap_or(0),
            max_rejects: self.max_rejects,
            require_fit,
            quiet: self.quiet.unwrap_or_default(),
            progress: self.progress.unwrap_or_default(),
            timings: self.timings.unwrap_or_default(),
            run_name,
            report: self.report.settle(kind)?,
            store_timeout: self.store_timeout,
            store_retries: self.store_retries,
            llm,
            store: self.store.expanded(environment)?,
        })
    }

    fn refuse_other_tables(&self, kind: JobKind) -> Result<()> {
        let tables = [
            ("dataset", JobKind::Dataset, self.dataset != DatasetArgs::default()),
            ("compaction", JobKind::Compaction, self.compaction != super::CompactionArgs::default()),
        ];
        match tables.into_iter().find(|&(_, of, is_given)| is_given && of != kind) {
            Some((table, ..)) => {
                usage(table, format!("the table [{table}] goes with kind = \"{table}\"; this job is of another kind"))
            }
            None => Ok(()),
        }
    }
}

impl DatasetArgs {
    fn settle(self) -> Result<DatasetOptions> {
        let eval_share = self.eval_share.unwrap_or(DEFAULT_EVAL_SHARE);
        if !(0.0..=1.0).contains(&eval_share) {
            return usage("dataset.eval_share", "expected a share from 0 to 1");
        }
        let drop_over = match (self.max_tokens, self.drop_unfit.unwrap_or_default()) {
            (Some(tokens), true) => Some(tokens),
            (None, false) => None,
            (Some(_), false) => {
                return usage("dataset.max_tokens", "max_tokens does nothing without drop_unfit = true");
            }
            (None, true) => return usage("dataset.drop_unfit", "drop_unfit needs max_tokens: what is too much?"),
        };
        Ok(DatasetOptions { shape: self.shape.unwrap_or_default(), eval_share, drop_over })
    }
}

fn check_run_name(name: String) -> Result<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !name.is_empty() && name.len() <= 100 && name.chars().all(fits) {
        return Ok(name);
    }
    usage("compaction.run_name", "expected letters, digits, `.`, `_` and `-`, at most 100 of them")
}

impl JobSettings {
    /// The same job with the counter that its option `tokenizer` asks for. `read` gives the bytes of a file by its path;
    /// their hash becomes part of what decides about the output.
    ///
    /// # Errors
    /// Those of `read`; `Usage` when the tokenizer cannot be used.
    pub fn with_counter(mut self, read: impl FnOnce(&str) -> Result<Vec<u8>>) -> Result<Self> {
        let found = load_tokenizer(&self.options.engine.tokenizer, read)?;
        (self.counter, self.options.tokenizer_blake3) =
            found.map_or((None, None), |found| (Some(found.counter), found.blake3));
        Ok(self)
    }

    /// The job with all defaults as a job file, without secrets: running it does the same.
    ///
    /// # Errors
    /// A defect.
    pub fn to_toml(&self) -> Result<String> {
        let internal = || Error::new(ErrorKind::Internal, "", "the job cannot be written as TOML");
        let options = &self.options;
        let args = JobArgs {
            kind: Some(self.kind),
            inputs: self.inputs.clone(),
            output: match &self.target {
                Target::Run(output) => Some(output.clone()),
                Target::Filter => Some("-".to_owned()),
            },
            format: Some(options.format),
            compression: (self.target != Target::Filter).then_some(options.compression),
            shape: options.shape,
            messages_column: options.messages_column.clone(),
            trace: Some(options.trace),
            verbatim_map: Some(options.verbatim_map),
            max_rejects: self.max_rejects,
            require_fit: self.require_fit.then_some(true),
            max_record_bytes: Some(Size(options.max_record_bytes)),
            split_size: (self.target != Target::Filter).then_some(Size(options.split_bytes as usize)),
            threads: Some(self.threads),
            memory: Some(Size(self.memory)),
            store_timeout: self.store_timeout,
            store_retries: self.store_retries,
            quiet: Some(self.quiet),
            progress: Some(self.progress),
            policy: options.policy.as_ref().map(|policy| policy.choose),
            floor: options.policy.as_ref().map_or_else(Vec::new, |policy| policy.floor.clone()),
            timings: self.timings.then_some(true),
            dataset: options.dataset.map_or_else(DatasetArgs::default, DatasetArgs::from),
            compaction: super::CompactionArgs { run_name: self.run_name.clone() },
            report: self.report.to_args(self.kind),
            llm: self.llm.as_ref().map_or_else(LlmArgs::default, LlmSettings::to_args),
            store: self.store.clone(),
            ..JobArgs::default()
        };
        let mut table = Table::try_from(&args).map_err(|error| internal().because(error))?;
        let engine = Table::try_from(&options.engine).map_err(|error| internal().because(error))?;
        table.insert("engine".to_owned(), Value::Table(engine));
        if let Some(policy) = &options.policy {
            let tries = policy.tries.iter().map(|options_of| Table::try_from(changes(&options.engine, options_of)));
            let tries = tries.map(|table| table.map(Value::Table)).collect::<std::result::Result<Vec<_>, _>>();
            let mut tries = tries.map_err(|error| internal().because(error))?;
            // Without any, the job would try those that it has by default.
            if tries.is_empty() {
                tries.push(Value::Table(Table::new()));
            }
            table.insert("tries".to_owned(), Value::Array(tries));
        }
        toml::to_string(&table).map_err(|error| internal().because(error))
    }
}

impl From<DatasetOptions> for DatasetArgs {
    fn from(options: DatasetOptions) -> Self {
        Self {
            shape: Some(options.shape),
            eval_share: Some(options.eval_share),
            max_tokens: options.drop_over,
            drop_unfit: Some(options.drop_over.is_some()),
        }
    }
}

impl DatasetShape {
    /// The name as users write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Sharegpt => "sharegpt",
        }
    }
}

fn usage<T>(place: &str, message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, place, message))
}
