//! From what was written to what holds: defaults are filled in, and what does not go together is refused. Knows no
//! file and no environment.

use serde::{Deserialize, Serialize};
use toml::Value;

use super::compaction::AgeRules;
use super::dataset::{DatasetOptions, SplitOptions};
use super::files::{EngineFiles, FileKind};
use super::llm::asks_a_model;
use super::policy;
use super::target::Settled;
use super::{
    CompactionArgs, DatasetArgs, JobArgs, JobKind, LlmOptions, LlmSettings, ProgressMode, ReportArgs, Seconds, Size,
    StoreArgs,
};
use crate::error::{Error, Result};
use crate::model::{
    AssistantText, EngineOptions, FieldMap, LookAhead, ProvenancePlace, ReadAs, ShapeName, SystemPrompts, changes,
};
use crate::pipeline::{
    Ages, ChatTemplate, Compression, ConversationFormat, DEFAULT_BATCH_BYTES, DEFAULT_MAX_RECORD_BYTES,
    MAX_RECORD_BYTES, MaxRejects, Originals, PolicyOptions, TableName, TableOptions,
};

/// A part has at most about this much of a file that can be cut: enough that the files of a part are large, little
/// enough that what a killed job does again is done in seconds.
pub const DEFAULT_SPLIT_BYTES: u64 = 256 << 20;
/// Version of the layout of run directories.
pub const FORMAT_VERSION: u32 = 1;

/// What is in flight stays below this; with everything else the process stays below 400 MB.
pub const DEFAULT_MEMORY: usize = 256 << 20;
/// Share of what nothing uses that stays in training data.
const DISTRACTORS: f64 = 0.05;
/// Text columns of training data have offsets of 32 bits.
const MAX_DATASET_RECORD: usize = 1 << 30;

/// Everything that decides about the bytes of the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct JobOptions {
    /// What the engine does.
    pub engine: EngineOptions,
    /// BLAKE3 of the file that `tokenizer` names, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer_blake3: Option<String>,
    /// The same of the file that `use_model` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_model_blake3: Option<String>,
    /// How many times shorter the run should be, the last messages of each conversation left out; nothing when that is not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_ratio: Option<f64>,
    /// What the threshold comes to that was settled for it; nothing before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    /// The model that the engine asks; nothing when it asks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmOptions>,
    /// How an option set is chosen for each conversation; nothing when all are compressed alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyOptions>,
    /// How tables are written.
    pub format: ConversationFormat,
    /// How they are compressed.
    #[serde(default, skip_serializing_if = "Compression::is_default")]
    pub compression: Compression,
    /// The shape of all records; `null` when it is found out per file.
    pub shape: Option<ShapeName>,
    /// Where records have their conversation; nothing when their shape tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<FieldMap>,
    /// The column of tables that holds the conversations; `null` when it is found out per file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_column: Option<String>,
    /// Whether the decisions table is written.
    pub trace: bool,
    /// Whether the map from message id to original is written.
    pub verbatim_map: bool,
    /// What is stored of originals.
    #[serde(default, skip_serializing_if = "Originals::is_default")]
    pub originals: Originals,
    /// How streams and tables are cut into batches, in bytes.
    pub batch_bytes: usize,
    /// Longest record, in bytes.
    pub max_record_bytes: usize,
    /// How files are cut into parts, in bytes.
    #[serde(default = "default_split_bytes")]
    pub split_bytes: u64,
    /// Figures only: neither conversations nor originals are written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub measure_only: bool,
    /// Training-ready data beside the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<DatasetOptions>,
    /// How that is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitOptions>,
    /// What is done with conversations that may go on; nothing where all are taken to be at rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ages: Option<Ages>,
}

impl JobOptions {
    /// The options of every engine that works for the job, the job's own first.
    pub fn engines(&self) -> impl Iterator<Item = &EngineOptions> {
        [&self.engine].into_iter().chain(self.policy.iter().flat_map(|policy| &policy.tries))
    }

    /// How far the engines look ahead; `None` where looks decide and none does.
    pub fn looks_ahead(&self) -> Option<LookAhead> {
        self.engines().find_map(EngineOptions::looks_ahead)
    }

    /// What the job says about its inputs.
    pub fn tables(&self) -> TableOptions {
        TableOptions { messages_column: self.messages_column.clone(), shape: self.shape, map: self.map.clone() }
    }

    /// As what all records are read, where that is told.
    pub fn read_as(&self) -> Option<ReadAs<'_>> {
        ReadAs::told(self.map.as_ref(), self.shape)
    }

    /// Whether a run with these options has this table.
    pub fn writes(&self, table: TableName) -> bool {
        match table {
            TableName::Metrics => true,
            TableName::Decisions => self.trace,
            TableName::Conversations | TableName::Verbatim => !self.measure_only,
        }
    }
}

fn default_split_bytes() -> u64 {
    DEFAULT_SPLIT_BYTES
}

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
    /// What the files hold that options name. See [`JobSettings::with_files`].
    pub files: EngineFiles,
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
    /// When conversations of a compaction are at rest.
    pub ages: Option<AgeRules>,
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
    /// The job as it was written with all defaults, without what the engine does.
    written: JobArgs,
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
    pub fn asks_a_model(&self) -> bool {
        asks_a_model(&self.options.engine)
    }
}

impl JobArgs {
    /// Fills in the defaults. `environment` looks variables up, for secrets only.
    pub fn settle(mut self, environment: &dyn Fn(&str) -> Option<String>) -> Result<JobSettings> {
        let kind = *self.kind.get_or_insert_default();
        self.refuse_other_tables(kind)?;
        self.refuse_map_of_shape()?;
        let target = self.target(kind)?;
        let is_filter = target == Target::Filter;
        let (format, compression) = self.formats(kind, is_filter)?;
        let (trace, verbatim_map) = (*self.trace.get_or_insert_default(), *self.verbatim_map.get_or_insert_default());
        let originals = *self.originals.get_or_insert(Originals::with_map(verbatim_map));
        if originals != Originals::Whole && verbatim_map {
            return usage("originals", "--verbatim-map writes whole originals: leave the option out, or take whole");
        }
        let split_bytes = match self.split_size {
            _ if is_filter => u64::MAX,
            size => size.map_or(DEFAULT_SPLIT_BYTES, |size| size.0 as u64),
        };
        self.split_size = (!is_filter).then_some(Size(split_bytes as usize));
        let max_record_bytes = self.max_record_bytes(kind)?;
        if self.max_rejects.is_some_and(|limit| matches!(limit, MaxRejects::Share(share) if share.is_nan())) {
            return usage("max_rejects", "the share is no number");
        }
        self.compaction.check()?;
        let ages = (kind == JobKind::Compaction).then(|| self.compaction.ages()).transpose()?;
        let mut base = EngineOptions::default();
        // A map is found through the provenance in the messages, so it is written there unless told otherwise.
        if verbatim_map {
            base.provenance = ProvenancePlace::Metadata;
        }
        // Who learns from rows in which all that is visible is needed learns that what is visible is needed.
        if kind == JobKind::Dataset {
            base.distractors = DISTRACTORS;
        }
        let mut engine = std::mem::take(&mut self.engine).over(base);
        // What an assistant says and calls is what a model is trained on.
        if kind == JobKind::Dataset {
            (engine.assistant, engine.arguments, engine.prompts) =
                (AssistantText::Keep, Some(false), SystemPrompts::Keep);
        }
        // A floor under a figure that nobody measured would hold nothing.
        engine.all_figures |= self.policy.is_some();
        engine.check().map_err(|mut error| {
            error.place = format!("engine.{}", error.place);
            error
        })?;
        let policy = policy::settle(self.policy, self.floor.clone(), std::mem::take(&mut self.tries), &engine)?;
        let require_fit = self.require_fit.unwrap_or_default();
        self.require_fit = require_fit.then_some(true);
        let engines = std::iter::once(&engine).chain(policy.iter().flat_map(|policy| &policy.tries));
        let target_ratio = self.target_ratio(&engine, policy.is_some())?;
        if require_fit && target_ratio.is_none() && engines.clone().all(|engine| engine.token_budget.is_none()) {
            let message = "no token budget is set that could be met, and no target ratio; name one with token_budget or target_ratio";
            return usage("require_fit", message);
        }
        let timings = self.timings.unwrap_or_default();
        self.timings = timings.then_some(true);
        let llm = self.llm.settle(&engine, environment)?;
        let options = JobOptions {
            tokenizer_blake3: None,
            use_model_blake3: None,
            target_ratio,
            settled: None,
            llm: llm.as_ref().filter(|_| asks_a_model(&engine)).map(|llm| llm.options.clone()),
            policy,
            format,
            compression,
            shape: self.shape,
            map: self.map.clone(),
            messages_column: self.messages_column.clone(),
            trace,
            verbatim_map,
            originals,
            batch_bytes: DEFAULT_BATCH_BYTES,
            max_record_bytes,
            split_bytes,
            measure_only: kind == JobKind::Report,
            ages: None,
            dataset: (kind == JobKind::Dataset).then(|| self.dataset.settle()).transpose()?,
            split: (kind == JobKind::Dataset).then(|| self.dataset.split()),
            engine,
        };
        let report = std::mem::take(&mut self.report).settle(kind)?;
        self.report = report.to_args(kind);
        self.store = self.store.expanded(environment)?;
        Ok(JobSettings {
            kind,
            target,
            inputs: self.inputs.clone(),
            options,
            files: EngineFiles::default(),
            memory: self.memory.get_or_insert(Size(DEFAULT_MEMORY)).0,
            threads: *self.threads.get_or_insert_default(),
            max_rejects: self.max_rejects,
            require_fit,
            quiet: *self.quiet.get_or_insert_default(),
            progress: *self.progress.get_or_insert_default(),
            timings,
            run_name: self.compaction.run_name.clone(),
            ages,
            report,
            store_timeout: self.store_timeout,
            store_retries: self.store_retries,
            llm,
            store: self.store.clone(),
            written: self,
        })
    }

    fn target(&mut self, kind: JobKind) -> Result<Target> {
        if self.inputs.is_empty() {
            return usage("inputs", "the job names no inputs; write inputs = [\"logs/*.jsonl\"]");
        }
        let is_filter = self.output.as_ref().map_or(self.inputs == ["-"], |output| output == "-");
        if is_filter && kind == JobKind::Compress {
            self.output = Some("-".to_owned());
            return Ok(Target::Filter);
        }
        match &self.output {
            Some(output) if !is_filter => Ok(Target::Run(output.clone())),
            _ => usage("", "no output was named; use --output RUN, in a job file output = \"RUN\""),
        }
    }

    fn max_record_bytes(&mut self, kind: JobKind) -> Result<usize> {
        let size = self.max_record_bytes.get_or_insert(Size(DEFAULT_MAX_RECORD_BYTES));
        if size.0 > 2 << 30 {
            return usage("max_record_bytes", "a record has at most 2GiB: pages of Parquet end there");
        }
        size.0 = size.0.min(MAX_RECORD_BYTES);
        if kind == JobKind::Dataset && size.0 > MAX_DATASET_RECORD {
            return usage("max_record_bytes", "training data holds records of at most 1GiB");
        }
        Ok(size.0)
    }

    fn refuse_map_of_shape(&self) -> Result<()> {
        match (self.shape, &self.map) {
            (Some(_), Some(_)) => {
                usage("map", "a map reads records of no known shape: leave out either the map or the shape")
            }
            _ => Ok(()),
        }
    }

    fn refuse_other_tables(&self, kind: JobKind) -> Result<()> {
        let tables = [
            ("dataset", JobKind::Dataset, self.dataset != DatasetArgs::default()),
            ("compaction", JobKind::Compaction, self.compaction != CompactionArgs::default()),
        ];
        match tables.into_iter().find(|&(_, of, is_given)| is_given && of != kind) {
            Some((table, ..)) => {
                usage(table, format!("the table [{table}] goes with kind = \"{table}\"; this job is of another kind"))
            }
            None => Ok(()),
        }
    }
}

impl JobSettings {
    /// The same job with what the files hold that its options name, whose bytes `read` gives; their hashes decide about the output.
    pub fn with_files(mut self, read: impl Fn(&str, FileKind) -> Result<Vec<u8>>) -> Result<Self> {
        self.files = EngineFiles::load(&self.options.engine, &read)?;
        if let Some(dataset) = &mut self.options.dataset
            && let Some(path) = &dataset.chat_template
        {
            let bytes = read(path, FileKind::ChatTemplate)?;
            let template = ChatTemplate::read(path, &bytes)?;
            dataset.know(&template, &bytes);
            self.files.template = Some(template);
        }
        (self.options.tokenizer_blake3, self.options.use_model_blake3) = self.files.hashes.clone();
        Ok(self)
    }

    /// The job with all defaults as a job file, without secrets: running it does the same.
    pub fn to_toml(&self) -> Result<String> {
        let internal = || Error::internal("", "the job cannot be written as TOML");
        let options = &self.options;
        let mut table = toml::Table::try_from(&self.written).map_err(|error| internal().because(error))?;
        let engine = toml::Table::try_from(&options.engine).map_err(|error| internal().because(error))?;
        table.insert("engine".to_owned(), Value::Table(engine));
        if let Some(policy) = &options.policy {
            let tries =
                policy.tries.iter().map(|options_of| toml::Table::try_from(changes(&options.engine, options_of)));
            let tries = tries.map(|table| table.map(Value::Table)).collect::<std::result::Result<Vec<_>, _>>();
            let mut tries = tries.map_err(|error| internal().because(error))?;
            // Without any, the job would try those that it has by default.
            if tries.is_empty() {
                tries.push(Value::Table(toml::Table::new()));
            }
            table.insert("tries".to_owned(), Value::Array(tries));
        }
        toml::to_string(&table).map_err(|error| internal().because(error))
    }
}

fn usage<T>(place: &str, message: impl Into<String>) -> Result<T> {
    Err(Error::usage(place, message))
}
