//! All shapes: which there are, and in which order they are tried. A new shape is its `Spec`
//! here and its name in `ShapeName`; `ARCHITECTURE.md` says how.

use crate::model::ShapeName;

use super::member::Field;
use super::spec::{Glimpse, Spec};

/// What most shapes have in common: `{"messages": [{"role", "content", "tool_calls", …}]}`.
const USUAL: Spec = Spec {
    name: ShapeName::Openai,
    lists: &["messages"],
    bare: false,
    keys: &[
        ("role", Field::Role),
        ("content", Field::Content),
        ("name", Field::Name),
        ("tool_calls", Field::ToolCalls),
        ("tool_call_id", Field::ToolCallId),
        ("function_call", Field::FunctionCall),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    roles: &[],
    call_role: None,
    fits: |_| false,
    events: None,
    is_text: false,
};

/// In the order in which they are tried: the first that fits wins.
pub(super) static SPECS: [Spec; 9] = [
    // Messages with `id`, `index` and `metadata`, in a record or as the record itself.
    Spec { name: ShapeName::Cce, bare: true, fits: |list| list.has("id") && list.has("index"), ..USUAL },
    // Blocks of every shape are read alike (`blocks.rs`); this one is told by having them. `system` is no message and stays
    // where it is.
    Spec { name: ShapeName::Anthropic, fits: |list| list.has_blocks && list.has("role"), ..USUAL },
    // A turn from `function_call` is a call.
    Spec {
        name: ShapeName::Sharegpt,
        lists: &["conversations"],
        keys: &[
            ("from", Field::Role),
            ("value", Field::Content),
            // Many data sets keep the list's name and write the turns as everybody else does.
            ("role", Field::Role),
            ("content", Field::Content),
            ("name", Field::Name),
            ("tool_calls", Field::ToolCalls),
            ("tool_call_id", Field::ToolCallId),
            ("metadata", Field::Metadata),
            ("id", Field::Id),
        ],
        call_role: Some("function_call"),
        fits: |list| list.may_have("from") || list.has("role"),
        ..USUAL
    },
    // Benchmarks write the same messages under other names: `traj` (tau), `input` (data sets of Inspect). Of two answers to a `prompt`
    // the `chosen` one counts, where that is the list.
    Spec {
        lists: &["messages", "traj", "input", "prompt", "chosen"],
        fits: |list| list.may_have("role") || list.has("content") && !list.has("type") && !list.has("speaker"),
        ..USUAL
    },
    // Actions are calls and stay; observations are tool results. Events of other kinds (a change of state, a recall) are
    // messages of their source.
    Spec {
        name: ShapeName::Openhands,
        lists: &["history"],
        keys: &[
            ("source", Field::Role),
            ("content", Field::Content),
            ("message", Field::Content),
            ("action", Field::CallName),
            ("args", Field::CallArguments),
            ("observation", Field::Observation),
            ("cause", Field::ToolCallId),
            ("metadata", Field::Metadata),
            ("id", Field::Id),
        ],
        roles: &[("agent", "assistant"), ("environment", "tool")],
        fits: |list| list.has("source") && (list.has("action") || list.has("observation")),
        ..USUAL
    },
    // A `trajectory` beside the list tells the same steps again and stays as it is.
    Spec {
        name: ShapeName::SweAgent,
        lists: &["history"],
        keys: &[
            ("role", Field::Role),
            ("content", Field::Content),
            ("tool_calls", Field::ToolCalls),
            // A list; the first of them is the call that is answered.
            ("tool_call_ids", Field::ToolCallId),
            ("tool_call_id", Field::ToolCallId),
            ("name", Field::Name),
            ("metadata", Field::Metadata),
            ("id", Field::Id),
        ],
        fits: |list| list.has("role") && list.has("content"),
        ..USUAL
    },
    // Messages as LangChain dumps them: `human`, `ai`, `system` and `tool`.
    Spec {
        name: ShapeName::Langchain,
        keys: &[
            ("type", Field::Role),
            ("content", Field::Content),
            ("name", Field::Name),
            ("tool_calls", Field::ToolCalls),
            ("tool_call_id", Field::ToolCallId),
            ("metadata", Field::Metadata),
            ("id", Field::Id),
        ],
        roles: &[("AIMessageChunk", "assistant"), ("HumanMessageChunk", "user")],
        fits: |list| {
            let is_dumped = list.has("additional_kwargs") || list.has("response_metadata");
            list.has("type") && list.has("content") && !list.has("role") && is_dumped
        },
        ..USUAL
    },
    // A message with calls holds their results too and stays as it is.
    Spec {
        name: ShapeName::GeminiCli,
        keys: &[
            ("type", Field::Role),
            ("content", Field::Content),
            ("toolCalls", Field::ToolCalls),
            ("metadata", Field::Metadata),
            ("id", Field::Id),
        ],
        roles: &[("gemini", "assistant")],
        fits: |list| list.has("type") && list.has("content") && !list.has("role"),
        ..USUAL
    },
    // Talk between people or with a system, as dialogue research writes it down: turns with a speaker and an utterance
    // under many names (SGD, Topical-Chat and their kin).
    Spec {
        name: ShapeName::Dialogue,
        lists: &[
            "turns",
            "utterances",
            "meeting_transcripts",
            "dialogue",
            "dialog",
            "content",
            "messages",
            "conversation",
        ],
        keys: &[
            ("speaker", Field::Role),
            ("interlocutor_id", Field::Role),
            ("agent", Field::Role),
            ("user_id", Field::Role),
            ("utterance", Field::Content),
            ("text", Field::Content),
            ("message", Field::Content),
            ("content", Field::Content),
            ("metadata", Field::Metadata),
            ("utterance_id", Field::Id),
            ("turn_id", Field::Id),
            ("id", Field::Id),
        ],
        // In task-oriented dialogues the system is the one who answers.
        roles: &[("USER", "user"), ("SYSTEM", "assistant")],
        fits: is_dialogue,
        ..USUAL
    },
];

/// What is read by a map: what that does not say is under the keys of most shapes.
pub(super) static ANY: Spec = Spec {
    lists: &["messages", "conversations", "history", "turns", "utterances", "dialogue", "dialog", "traj", "input"],
    bare: true,
    keys: &[
        ("role", Field::Role),
        ("from", Field::Role),
        ("speaker", Field::Role),
        ("content", Field::Content),
        ("value", Field::Content),
        ("text", Field::Content),
        ("utterance", Field::Content),
        ("name", Field::Name),
        ("tool_calls", Field::ToolCalls),
        ("tool_call_id", Field::ToolCallId),
        ("function_call", Field::FunctionCall),
        ("metadata", Field::Metadata),
        ("id", Field::Id),
    ],
    ..USUAL
};

fn is_dialogue(list: &Glimpse<'_>) -> bool {
    let speaks = ["speaker", "interlocutor_id", "agent", "user_id"].iter().any(|key| list.has(key));
    list.is_talk || list.has("utterance") || list.has("message") || speaks && (list.has("text") || list.has("content"))
}

/// How likely it is that the list under this key is the one with the messages, whatever the shape; 0 when no shape
/// knows the key.
pub(super) fn likelihood(key: &str) -> usize {
    match SPECS.iter().flat_map(|spec| spec.lists).position(|list| *list == key) {
        _ if key == "messages" => usize::MAX,
        _ if key == "conversations" => usize::MAX - 1,
        Some(at) => usize::MAX - 2 - at,
        None => 0,
    }
}
