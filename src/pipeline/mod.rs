//! Many conversations: order, memory, threads, the proof of restore, commits and counting. Knows Arrow batches
//! in memory, but no file format and no store: those stand behind the ports `Source`, `Sink` and `TableReader`.

/// The schema of a type that is written otherwise than its fields say.
macro_rules! schema_of {
    ($type:ident, $schema:tt) => {
        #[cfg(feature = "schemas")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

mod accumulate;
mod admission;
mod again;
mod ages;
mod batch;
mod blobs;
pub mod bridge;
mod choices;
mod commit;
mod compress;
mod condense;
mod consulted;
mod context;
mod earlier;
mod job;
mod look;
mod make_up;
mod map;
mod merge;
mod night;
pub(crate) mod numbers;
mod originals;
mod part;
mod plan;
mod policy;
mod ports;
mod reading;
mod record;
mod reject;
mod restore;
mod row_batches;
mod rows;
mod sample;
mod sealed;
mod settle;
pub mod sketch;
mod slice;
pub mod split;
mod stored;
pub mod sweep;
pub(crate) mod tables;
mod tally;
mod task;
mod timings;
mod training;
mod verify;
mod work;

pub use ages::{Ages, ByAge};
pub use batch::{
    BOMB_RATIO, Batch, BatchOptions, DEFAULT_BATCH_BYTES, DEFAULT_MAX_RECORD_BYTES, KnownRecord, LineBatch, LineRole,
    MAX_RECORD_BYTES, MAX_ROW_BYTES, RecordLine, RowBatch,
};
pub use blobs::{RepeatedTexts, TextCounts, TextPlaces};
pub use choices::{
    Arguments, CallOrder, Compact, Compression, ConversationFormat, Empty, EvalLookAhead, GroupBy, JobKind, MaxRejects,
    Originals, RowForm, TargetName, Thinking, Twins, Unfit,
};
pub use commit::{
    Commit, FailedInput, InputEntry, Manifest, PackedInput, Piece, Proof, ReadInput, SourceDigest, TableFile, Totals,
};
pub use compress::{JobOutcome, batch_bytes, commit_path, compress, finish};
pub use condense::Condense;
pub use context::{Context, ResourceLimits};
pub use job::{
    AgeRules, CompactionArgs, DEFAULT_LLM_CONCURRENCY, DEFAULT_LLM_RETRIES, DEFAULT_LLM_TIMEOUT, DEFAULT_MEMORY,
    DEFAULT_SPLIT_BYTES, DatasetArgs, DatasetOptions, EngineFiles, FORMAT_VERSION, FileKind, HOW_TO_LEARN, JobArgs,
    JobOptions, JobSettings, LlmArgs, LlmKey, LlmMode, LlmOptions, LlmPrices, LlmProvider, LlmSettings, MERGED,
    Parameters, ProgressMode, ReportArgs, Seconds, Secret, Settled, Size, SplitOptions, StoreArgs, Target, Temperature,
    TimeSpan, nearest, parse_size, read_job, read_keys, read_options,
};
pub use map::MapLine;
pub use merge::Merge;
pub use night::{HeldPart, LogState, Night, NightFigures, OpenConversations, OpenLog, STORE_VERSION, TextFile};
pub use plan::{PlannedInput, PlannedPart, RunPlan, Shard};
pub use policy::{BestAboveFloor, Policy, PolicyOptions, UNCHANGED, default_tries};
pub use ports::{Corpus, EncodedBatch, Model, News, Observer, PartSink, Progress, Silent, Sink, Source, TableReader};
pub use record::{decode_record, is_of_run, note_round};
pub use reject::{RejectRow, raw_of_reject};
pub use restore::{Borders, PartReaders, Restored, RestoredSlice, Restorer};
pub(crate) use restore::{RowAgain, VerbatimCursor, rows_again};
pub use row_batches::{METRICS_COLUMN, REJECTED_COLUMN, RowCompressor, SIDECAR_COLUMN, restore_rows};
pub(crate) use rows::json_structs;
pub use rows::{
    CellKind, Container, LostRows, RowDigest, RowMark, TableInput, TableOptions, conform_rows, large_schema, marks,
    row_of_reject, value_bytes, view_schema,
};
pub use sample::{PLACE_BYTES, SAMPLE_BYTES, Sampled, places, sample};
pub use sealed::{open_sealed, seal, seal_packed};
pub use settle::threshold_for;
pub use slice::Slice;
pub use stored::{AgedRow, EarlierNights, HeldIn, KeptLog, StoredRow};
pub use tables::{
    Kind, TableName, conversations_schema, decisions_schema, label, metrics_schema, records_schema, verbatim_schema,
};
pub use tally::{Tally, Written};
pub use timings::{Timer, Timings};
pub use training::{
    CONTEXTS, ChatGuard, ChatTemplate, EngineWish, Engines, Trainer, TrainingRows, TrainingTally, data_card,
    dataset_info, is_eval, training_schema,
};
pub use verify::{Against, Difference, NamedStream, verify_end, verify_inputs, verify_part};
pub use work::invalid_utf8;
