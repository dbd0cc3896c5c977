//! What happened to a message and why. The names are part of the published tables.

use super::named::{choices, named};
use super::unit::UnitCounts;

/// What happened to one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Index in the input.
    pub index: usize,
    /// What was done.
    pub action: Action,
    /// The rule that decided.
    pub reason: Reason,
    /// Further reasons of the classifier, hard and soft, in reporting order.
    pub details: Vec<Reason>,
    /// Index in the output of the message that shows or stands for it.
    pub position: usize,
    /// Characters of its texts before.
    pub chars_in: usize,
    /// Its share of the characters that stand for it now.
    pub chars_out: usize,
    /// Of what is shown in part, how many units are shown or hidden, and why.
    pub units: Option<UnitCounts>,
}

named! {
    /// What was done with a message.
    pub enum Action {
        /// Stands in the output as it was.
        Preserved = "preserved",
        /// Replaced by a summary.
        Compressed = "compressed",
        /// Replaced by a reference to an identical message.
        Deduped = "deduped",
        /// Replaced by a reference to a similar message and the lines that differ.
        FuzzyDeduped = "fuzzy_deduped",
        /// Prose summarised around code that stayed.
        CodeSplit = "code_split",
        /// Replaced by a reference to the later message that corrects it, and a summary.
        Contradicted = "contradicted",
        /// Cut, merged with its neighbours or emptied, because the token budget left no room.
        Truncated = "truncated",
    }

    /// What a chain of messages is.
    pub enum FlowKind {
        /// A question and its answer.
        Qa = "qa",
        /// A request and what was done.
        Request = "request_action",
        /// A statement and its correction.
        Correction = "correction",
        /// A statement and its confirmation.
        Acknowledgment = "acknowledgment",
    }

    /// Why. The first group are rules in the order in which they are tried; the others are found by the classifier.
    pub enum Reason {
        /// The conversation is below `compression_threshold`.
        BelowThreshold = "below_threshold",
        /// Its role is in `preserve`.
        PreservedRole = "preserved_role",
        /// Among the last `recency_window` messages.
        RecencyWindow = "recency_window",
        /// It makes tool calls.
        ToolCalls = "tool_calls",
        /// The conversation is within `token_budget` as it is.
        WithinBudget = "within_budget",
        /// Content that is no text.
        NoText = "no_text",
        /// Fewer than 120 characters.
        ShortContent = "short_content",
        /// The first message of the user: the task.
        FirstUser = "first_user",
        /// What the user of an assistant typed, or what a consent of his answers.
        UserWords = "user_words",
        /// What an assistant says, which is what a model would be trained on.
        Answer = "answer",
        /// Stands for others already.
        AlreadyCompressed = "already_compressed",
        /// Its importance is at least `importance_threshold`.
        Importance = "importance",
        /// It corrects an earlier message.
        Correction = "correction",
        /// Another message refers to it.
        DuplicateTarget = "duplicate_target",
        /// Identical to another message.
        ExactDuplicate = "exact_duplicate",
        /// Similar to another message.
        FuzzyDuplicate = "fuzzy_duplicate",
        /// A later message corrects it.
        Contradicted = "contradicted",
        /// Output of a tool without its noise.
        ToolPrepass = "tool_prepass",
        /// Prose around code.
        CodeSplit = "code_split",
        /// Code with hardly any prose.
        CodeFenceNoProse = "code_fence_no_prose",
        /// The classifier found structure that a summary would break.
        HardT0 = "hard_t0",
        /// A preserve pattern matched.
        Pattern = "pattern",
        /// Parses as JSON.
        JsonStructure = "json_structure",
        /// XML with its long texts compressed.
        AdapterXml = "adapter:xml",
        /// YAML with its long values compressed.
        AdapterYaml = "adapter:yaml",
        /// Markdown with its paragraphs compressed.
        AdapterMarkdown = "adapter:markdown",
        /// CSV with its rows thinned out.
        AdapterCsv = "adapter:csv",
        /// JSON lines with their rows thinned out.
        AdapterJsonLines = "adapter:json-lines",
        /// A diff with its context thinned out.
        AdapterDiff = "adapter:diff",
        /// A log with its repetitions folded.
        AdapterLog = "adapter:log",
        /// A format that an adapter of the caller compresses.
        Adapter = "adapter",
        /// Nothing after it uses what is hidden of it.
        Unused = "unused",
        /// What comes after it uses too much of it, or it is too short to hide anything.
        InUse = "in_use",
        /// With `look_ahead = "strict"`: no tool was in sight yet when it was decided.
        NoToolsYet = "no_tools_yet",
        /// A question and its answer.
        FlowQa = "flow:qa",
        /// A request and what was done.
        FlowRequest = "flow:request_action",
        /// A statement and its correction.
        FlowCorrection = "flow:correction",
        /// A statement and its confirmation.
        FlowAcknowledgment = "flow:acknowledgment",
        /// Messages about the same topic.
        Cluster = "cluster",
        /// Prose without any protection.
        CompressibleProse = "compressible_prose",
        /// Summarised together with its neighbours.
        MergedCompressed = "merged_compressed",
        /// Summaries of earlier rounds, summarised again.
        Recompacted = "recompacted",
        /// Nothing in it reaches `relevance_threshold`.
        RelevanceDropped = "relevance_dropped",
        /// Summarised more tightly, to meet the token budget.
        BudgetTightened = "budget_tightened",
        /// Left out as of little value, to meet the token budget.
        BudgetOmitted = "budget_omitted",
        /// Truncated, to meet the token budget.
        ForceConverge = "force_converge",
        /// The replacement was no shorter.
        SingleReverted = "single_reverted",
        /// The replacement of a group was no shorter.
        MergeReverted = "merge_reverted",
        /// The code split was no shorter.
        CodeSplitReverted = "code_split_reverted",
        /// The reference was no shorter.
        DuplicateReverted = "duplicate_reverted",
        /// The reference to the correction was no shorter.
        ContradictionReverted = "contradiction_reverted",
        /// What the adapter made was no shorter.
        AdapterReverted = "adapter_reverted",
        /// The chain of messages was no shorter.
        FlowReverted = "flow_reverted",
        /// The summary of the topic was no shorter.
        ClusterReverted = "cluster_reverted",
        /// Compressed, the conversation would no longer fit chat templates.
        ChatTemplate = "chat_template",
        /// With every option set a figure would be below its floor.
        BelowFloor = "below_floor",
        /// The conversation was written to so lately that it is left alone for now.
        StillOpen = "still_open",
        /// A model ruled that it must stay.
        Ruled = "ruled",
        /// Among the recent messages that a compaction leaves.
        CompactionRecent = "compaction_recent",
        /// In the summary of a compaction.
        Compacted = "compacted",

        /// Of a model: its summary was taken.
        LlmSummary = "llm_summary",
        /// Of a model: its ruling was taken.
        LlmRuling = "llm_ruling",
        /// Of a model: the answer was empty.
        LlmEmpty = "llm_empty",
        /// Of a model: the answer was longer than allowed, or no shorter than what it should replace.
        LlmTooLong = "llm_too_long",
        /// Of a model: the answer looked like a call of a tool.
        LlmToolCall = "llm_tool_call",
        /// Of a model: the answer names an identifier or a number that the text does not have.
        LlmInvented = "llm_invented",
        /// Of a model: the answer was in another language.
        LlmLanguage = "llm_language",
        /// Of a model: the answer could not be read.
        LlmUnreadable = "llm_unreadable",
        /// Of a model: there was no answer.
        LlmFailed = "llm_failed",
        /// Of a model: the cache has no answer, and nothing else may be asked.
        LlmOffline = "llm_offline",

        /// Hard: a fenced block.
        CodeFence = "code_fence",
        /// Hard: an indented block of code.
        IndentedCode = "indented_code",
        /// Hard: source code without a fence.
        SourceCode = "source_code",
        /// Hard: LaTeX.
        LatexMath = "latex_math",
        /// Hard: mathematical signs.
        UnicodeMath = "unicode_math",
        /// Hard: YAML, TOML or INI.
        YamlStructure = "yaml_structure",
        /// Hard: a table (Markdown, boxed, CSV, TSV).
        TableStructure = "table_structure",
        /// Hard: XML or HTML.
        MarkupStructure = "markup_structure",
        /// Hard: a unified diff or a patch.
        DiffStructure = "diff_structure",
        /// Hard: lines of a log.
        LogLines = "log_lines",
        /// Hard: verse.
        VersePattern = "verse_pattern",
        /// Hard: line lengths of a layout that prose does not have.
        HighLineLengthVariance = "high_line_length_variance",
        /// Hard: many special characters.
        HighSpecialCharRatio = "high_special_char_ratio",
        /// Hard: SQL.
        SqlContent = "sql_content",
        /// Hard: a secret.
        ApiKey = "api_key",
        /// Hard: a chain of formal reasoning.
        ReasoningChain = "reasoning_chain",
        /// Hard: a Base64 blob.
        Base64Content = "base64_content",
        /// Hard: a traceback.
        ErrorTraceback = "error_traceback",
        /// Hard: an HTTP error.
        HttpError = "http_error",
        /// Hard: a failure message.
        FailureSignature = "failure_signature",

        /// Soft: a URL.
        Url = "url",
        /// Soft: an e-mail address.
        Email = "email",
        /// Soft: a telephone number.
        Phone = "phone",
        /// Soft: a version.
        VersionNumber = "version_number",
        /// Soft: a hash.
        HashOrSha = "hash_or_sha",
        /// Soft: a path.
        FilePath = "file_path",
        /// Soft: dotted numbers.
        IpOrSemver = "ip_or_semver",
        /// Soft: a quoted key.
        QuotedKey = "quoted_key",
        /// Soft: a word of contracts.
        LegalTerm = "legal_term",
        /// Soft: a quotation.
        DirectQuote = "direct_quote",
        /// Soft: a number with its unit.
        NumericWithUnits = "numeric_with_units",
    }
}

choices! {
    /// Formats that adapters know.
    pub enum AdapterName {
        /// XML and HTML.
        Xml = "xml",
        /// YAML.
        Yaml = "yaml",
        /// Markdown with headings.
        Markdown = "markdown",
        /// Values separated by commas, semicolons or tabs.
        Csv = "csv",
        /// One JSON value per line.
        JsonLines = "json-lines",
        /// Unified diffs.
        Diff = "diff",
        /// Logs.
        Log = "log",
    }
}

/// Hands every format to `$with`, with the module that knows it.
macro_rules! formats {
    ($with:ident) => {
        $with! { Xml xml, Yaml yaml, Markdown markdown, Csv csv, JsonLines json_lines, Diff diff, Log log }
    };
}
pub(crate) use formats;

impl Reason {
    /// True for reasons of the classifier that prevent compression.
    #[must_use]
    pub fn is_hard(self) -> bool {
        self == Self::JsonStructure || (Self::CodeFence..=Self::FailureSignature).contains(&self)
    }

    /// True for reasons of the classifier that are only reported.
    #[must_use]
    pub fn is_soft(self) -> bool {
        self >= Self::Url
    }
}
