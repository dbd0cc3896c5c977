//! Plain data that every floor above speaks about. Knows no algorithm, no file and no JSON beyond the
//! provenance object.

mod ask;
mod changes;
mod choices;
mod condensed;
mod conversation;
mod decision;
mod field_map;
mod figures;
mod floor;
pub mod marker;
mod metrics;
mod named;
mod options;
mod part_view;
mod provenance;
mod reject;
mod unit;

pub use ask::{Answer, Answers, Ask, AskId, CompactionAsk, Consult, NoAnswer, SummaryAsk, Turn};
pub use changes::{changes, label as changes_label};
pub use choices::{
    AssistantText, BudgetStrategy, ChunkPolicy, ClassifierMode, ClassifierSource, CompressionDepth, EntropyMode,
    HideBy, Images, KeepCopy, LookAhead, PreservePattern, ProvenancePlace, Strategy, Summarizer, SummaryMode,
    SystemPrompts, Tokenizer, Users,
};
pub use condensed::{Condensed, NewBody, Original, Output, Replacement, Spot};
pub use conversation::{
    Age, Content, Conversation, Held, Media, MediaKind, Message, Part, ResultParts, Role, ShapeName, Thought, ToolCall,
};
pub(crate) use decision::formats;
pub use decision::{Action, AdapterName, Decision, FlowKind, Reason};
pub use field_map::{FieldMap, MappedField, ReadAs, path as mapped_path};
pub use figures::{Figure, Getter, MetricColumn, metric_columns};
pub use floor::{Floor, Least, one_or_many as one_or_many_floors};
pub use metrics::{ActionCounts, BudgetOutcome, CompactionOutcome, CompactionTrigger, Grounding, Metrics, NextTurn};
#[doc(hidden)]
pub use named::named;
pub use options::{
    DEFAULT_CLUSTER_THRESHOLD, DEFAULT_COMPACTION_MESSAGES, DEFAULT_COMPACTION_RECENT, DEFAULT_COMPACTION_TOKENS,
    DEFAULT_FUZZY_THRESHOLD, DEFAULT_IMPORTANCE_THRESHOLD, DEFAULT_MAX_RESPONSE_TOKENS, DEFAULT_MIN_SAVING,
    DEFAULT_RECENCY_WINDOW, DEFAULT_RESUMMARIZE_AFTER, DEFAULT_TOPIC_THRESHOLD, EngineArgs, EngineOptions, Gone,
    Preset,
};
pub use part_view::{HiddenText, ListedViews, PartView, ViewOp};
pub use provenance::{PROVENANCE_KEY, Provenance, summary_id};
pub use reject::{Reject, RejectReason};
pub use unit::{UnitCounts, UnitNote, UnitReason};
