//! The Arrow schemas of the tables. Every text is `LargeUtf8`: a column may pass 2 GiB.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

pub(super) fn field(name: &str, data_type: DataType, nullable: bool) -> Field {
    Field::new(name, data_type, nullable)
}

fn place_fields() -> Vec<Field> {
    vec![
        field("conversation_id", DataType::LargeUtf8, false),
        field("source", DataType::LargeUtf8, false),
        field("source_row", DataType::UInt64, false),
    ]
}

pub(super) fn message_fields() -> Fields {
    ["role", "content", "name", "tool_calls", "tool_call_id", "metadata", "extra"]
        .into_iter()
        .map(|name| field(name, DataType::LargeUtf8, true))
        .collect()
}

/// Conversations as columns.
#[must_use]
pub fn conversations_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.push(field(
        "messages",
        DataType::List(Arc::new(field("item", DataType::Struct(message_fields()), false))),
        false,
    ));
    fields.push(field("extra", DataType::LargeUtf8, true));
    Arc::new(Schema::new(fields))
}

/// Conversations as records of their own shape.
#[must_use]
pub fn records_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![field("record", DataType::LargeUtf8, false)]))
}

/// Originals.
#[must_use]
pub fn verbatim_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.extend([
        field("position", DataType::UInt64, true),
        field("message_index", DataType::UInt64, true),
        field("message_id", DataType::LargeUtf8, true),
        field("role", DataType::LargeUtf8, true),
        field("kind", DataType::LargeUtf8, false),
        field("summary_id", DataType::LargeUtf8, true),
        field("message", DataType::LargeUtf8, false),
        field("hash", DataType::LargeUtf8, true),
    ]);
    Arc::new(Schema::new(fields))
}

pub(crate) const COUNTS: [&str; 21] = [
    "messages_in",
    "messages_out",
    "chars_in",
    "chars_out",
    "tokens_in",
    "tokens_out",
    "preserved",
    "compressed",
    "deduped",
    "fuzzy_deduped",
    "code_split",
    "pattern_preserved",
    "contradicted",
    "truncated",
    "importance_preserved",
    "relevance_dropped",
    "tool_prepass_trimmed",
    "scorer_fallbacks",
    "llm_classified",
    "llm_summaries",
    "llm_fallbacks",
];
pub(crate) const SHARES: [&str; 11] = [
    "ratio",
    "token_ratio",
    "entity_retention",
    "structural_integrity",
    "reference_coherence",
    "quality_score",
    "fact_retention",
    "fact_retention_with_entities",
    "forward_recall",
    "negation_retention",
    "error_retention",
];

/// How a token budget was met; null without one.
pub(super) const BUDGET_COUNTS: [&str; 3] = ["token_count", "recency_window", "protected_tokens"];

/// How a conversation was compacted; null unless it was.
pub(super) const COMPACTION_COUNTS: [&str; 5] =
    ["compaction_level", "compaction_chunk", "compaction_archived", "compaction_recent", "compaction_pulled_back"];
pub(super) const COMPACTION_TEXTS: [&str; 2] = ["compaction_trigger", "compaction_topics"];
pub(super) const COMPACTION_FLAGS: [&str; 2] = ["compaction_continues", "compaction_by_model"];

/// Figures per conversation.
#[must_use]
pub fn metrics_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.push(field("class", DataType::LargeUtf8, false));
    fields.push(field("language", DataType::LargeUtf8, true));
    fields.extend(COUNTS.map(|name| field(name, DataType::UInt64, false)));
    fields.extend(SHARES.map(|name| field(name, DataType::Float64, !name.ends_with("ratio"))));
    fields.push(field("fits", DataType::Boolean, true));
    fields.extend(BUDGET_COUNTS.map(|name| field(name, DataType::UInt64, true)));
    fields.push(field("depth", DataType::LargeUtf8, true));
    fields.extend(COMPACTION_COUNTS.map(|name| field(name, DataType::UInt64, true)));
    fields.extend(COMPACTION_TEXTS.map(|name| field(name, DataType::LargeUtf8, true)));
    fields.extend(COMPACTION_FLAGS.map(|name| field(name, DataType::Boolean, true)));
    fields.push(field("policy_choice", DataType::LargeUtf8, true));
    fields.push(field("checksum", DataType::LargeUtf8, false));
    Arc::new(Schema::new(fields))
}

/// What happened to each message.
#[must_use]
pub fn decisions_schema() -> SchemaRef {
    let mut fields = place_fields();
    fields.extend([
        field("message_index", DataType::UInt64, false),
        field("message_id", DataType::LargeUtf8, true),
        field("role", DataType::LargeUtf8, false),
        field("action", DataType::LargeUtf8, false),
        field("reason", DataType::LargeUtf8, false),
        field("details", DataType::List(Arc::new(field("item", DataType::Utf8, true))), false),
        field("position", DataType::UInt64, false),
        field("chars_in", DataType::UInt64, false),
        field("chars_out", DataType::UInt64, false),
    ]);
    Arc::new(Schema::new(fields))
}
