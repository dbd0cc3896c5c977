//! In which group of help each flag stands, and the words of those that short help has. Knows names, no command.

use crate::cli::args::SHOWN;

/// A group of flags.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) heading: &'static str,
    /// The flags of short help, with a line for each.
    pub(super) short: &'static [(&'static str, &'static str)],
    /// Those of whole help only.
    pub(super) more: &'static [&'static str],
    /// Whether flags of these names stand here in every command, whatever they say there.
    pub(super) is_everywhere: bool,
}

impl Group {
    pub(super) fn has(&self, id: &str) -> bool {
        self.short.iter().any(|(name, _)| *name == id) || self.more.contains(&id)
    }
}

/// The groups of the flags of `compress`, in their order.
pub(super) const GROUPS: &[Group] = &[
    Group {
        heading: "Input and output",
        short: &[
            ("inputs", "Files, folders, patterns or addresses with transcripts, or `-` for stdin"),
            ("output", "Directory for the run, also in s3://, gs:// or az://; `-` for stdout"),
            ("format", "Tables as parquet, jsonl or arrow [default: parquet]"),
            ("shape", "Shape of all records, such as openai [default: found out per file]"),
            ("map", "Where records of no known shape have their conversation"),
            ("sidecar", "With `-o -`: the file that brings the input back"),
            ("max_rejects", "Fail when more records are rejected: a number, or a share such as 1%"),
            ("fresh", "Start over beside a run that is there, instead of going on with it"),
        ],
        more: &["compression", "messages_column", "trace", "originals", "verbatim_map", "max_record_bytes"],
        is_everywhere: false,
    },
    Group {
        heading: "How much to compact",
        short: &[
            ("preset", "Options that go well together: quality, balanced, ratio or classic"),
            ("target_ratio", "How many times shorter the run should be, such as 3"),
            ("keep", "The same as the share that stays, such as 0.3"),
            ("token_budget", "Tokens that a conversation may have"),
            ("force_converge", "Truncate what is left when the token budget is not met otherwise"),
            ("recency_window", "Last messages that are never changed [default: 4]"),
            ("preserve", "Roles that are never changed [default: system,developer]"),
            ("look_ahead", "turns for what is finished, off for what goes on [default: turns]"),
        ],
        more: &[
            "compression_depth",
            "budget_strategy",
            "min_recency_window",
            "min_saving",
            "compression_threshold",
            "observation_threshold",
            "tokenizer",
            "message_overhead",
            "preserve_patterns",
            "keep_first_user",
        ],
        is_everywhere: false,
    },
    Group {
        heading: "Quality",
        short: &[
            ("policy", "Choose options for each conversation: best-above-floor"),
            ("floor", "With --policy: what no figure may be below, such as quality=0.9"),
            ("require_fit", "Exit code 5 where a token budget or a target ratio is not met"),
        ],
        more: &["all_figures"],
        is_everywhere: false,
    },
    Group {
        heading: "What is hidden, where use decides",
        short: &[],
        more: &[
            "hide_by",
            "assistant",
            "arguments",
            "images",
            "prompts",
            "users",
            "distractors",
            "worth_threshold",
            "use_model",
        ],
        is_everywhere: false,
    },
    Group {
        heading: "What is replaced",
        short: &[],
        more: &[
            "dedup",
            "fuzzy_dedup",
            "fuzzy_threshold",
            "keep_copy",
            "agent_tool_prepass",
            "adapters",
            "contradiction_detection",
            "contradiction_topic_threshold",
            "conversation_flow",
            "semantic_clustering",
            "cluster_threshold",
            "importance_scoring",
            "importance_threshold",
            "relevance_threshold",
        ],
        is_everywhere: false,
    },
    Group {
        heading: "Summaries and where they come from",
        short: &[],
        more: &[
            "coreference",
            "discourse_aware",
            "entropy_scorer_mode",
            "resummarize_after",
            "provenance",
            "embed_summary_id",
            "source_version",
        ],
        is_everywhere: false,
    },
    Group {
        heading: "Compaction of long conversations as one",
        short: &[],
        more: &[
            "strategy",
            "compaction_tokens",
            "compaction_messages",
            "compaction_recent",
            "compaction_forced",
            "compaction_chunks",
        ],
        is_everywhere: false,
    },
    Group {
        heading: "Model",
        short: &[
            ("summarizer", "deterministic, or how a model writes: normal, escalating, …"),
            ("llm_model", "Name of the model"),
            ("llm_base_url", "Address of its server, such as http://localhost:8000/v1"),
            ("llm_key_env", "The variable with its key [default: OPENAI_API_KEY or the like]"),
        ],
        more: &[
            "max_response_tokens",
            "preserve_terms",
            "classifier",
            "classifier_mode",
            "always_preserve",
            "always_compress",
            "system_prompt",
            "llm_mode",
            "llm_provider",
            "llm_key_file",
            "llm_temperature",
            "llm_thinking_tokens",
            "llm_concurrency",
            "llm_requests_per_minute",
            "llm_tokens_per_minute",
            "llm_timeout",
            "llm_retries",
            "llm_cache",
            "llm_shared_cache",
        ],
        is_everywhere: false,
    },
    Group {
        heading: "Machine",
        short: &[
            ("threads", "Number of workers [default: one per core]"),
            ("memory", "Bound on the bytes in flight [default: 256MiB]"),
            ("shard", "Only every N-th part from part I on; then condenser finish RUN"),
        ],
        more: &["split_size", "store_timeout", "store_retries", "timings"],
        is_everywhere: true,
    },
    Group {
        heading: SHOWN,
        short: &[("quiet", "Print errors only"), ("progress", "auto, bar, plain, json or none [default: auto]")],
        more: &[],
        is_everywhere: true,
    },
];

/// The commands in groups, in the order of a first visit.
pub(super) const COMMANDS: &[(&str, &[&str])] = &[
    ("Compress", &["compress", "run"]),
    ("Look", &["report", "ls", "get", "show", "explain"]),
    ("Bring back", &["restore", "verify"]),
    ("Find the options", &["sweep", "calibrate", "learn", "llm"]),
    ("Many machines, many nights", &["finish", "retry-rejects", "merge", "expire"]),
    ("About condenser", &["help", "schema", "completions", "man"]),
];

/// What stands below the flags of a command.
pub(super) const HERE: &[(&str, &str)] = &[
    (
        "compress",
        "Examples:
  condenser compress logs -o run
  condenser compress 'chats/*.jsonl.zst' -o run --target-ratio 3
  condenser compress - -o - --sidecar back < in.jsonl > out.jsonl
All flags: condenser help options. More: condenser help data, models, runs, stores",
    ),
    ("run", "Every flag of condenser compress goes over the job file: condenser help options, jobs"),
];
