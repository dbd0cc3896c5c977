//! A conversation as the engine sees it: borrowed from the record it was read from. Keeps the exact JSON of
//! every message and knows nothing about how a record holds it.

use std::borrow::Cow;
use std::ops::Range;

use super::named::{choices, named};

choices! {
    /// How a record holds a conversation.
    pub enum ShapeName {
        /// `{"messages": [{"role", "content": string | null | [parts], "tool_calls", …}]}`.
        Openai = "openai",
        /// Messages with `id`, `index` and `metadata`; also a bare array of messages.
        Cce = "cce",
        /// `{"conversations": [{"from", "value"}]}`.
        Sharegpt = "sharegpt",
        /// Event logs of Claude Code: one event per line, grouped by `sessionId`.
        ClaudeCode = "claude-code",
        /// Rollout files of Codex: `{"timestamp", "type", "payload"}` per line, one file a session.
        Codex = "codex",
        /// Session files of the pi coding agent, one file a session.
        Pi = "pi",
        /// Event logs of Copilot CLI: `{"type", "data", "id", "timestamp", "parentId"}` per line, one file a session.
        CopilotCli = "copilot-cli",
        /// `messages` whose content is blocks: `text`, `tool_use`, `tool_result`, `thinking`, …; beside it `system`.
        Anthropic = "anthropic",
        /// `{"history": [{"role", "content", "thought", "action", …}]}`.
        SweAgent = "swe-agent",
        /// `{"sessionId", "messages": [{"type", "content", "toolCalls"}]}`.
        GeminiCli = "gemini-cli",
        /// `messages` of `type` (`human`, `ai`, `system`, `tool`) and `content`, as `LangChain` dumps them.
        Langchain = "langchain",
        /// `{"history": [{"source", "action" | "observation", …}]}`.
        Openhands = "openhands",
        /// Turns with a speaker and an utterance, under many names.
        Dialogue = "dialogue",
        /// Markdown that `SpecStory` writes, one file a session.
        Specstory = "specstory",
        /// Markdown that Cursor exports, one file a session.
        CursorExport = "cursor-export",
    }
}

impl ShapeName {
    /// True where a conversation is a group of lines.
    #[must_use]
    pub fn is_event_log(self) -> bool {
        let is_of_events = matches!(self, Self::ClaudeCode | Self::Codex | Self::Pi | Self::CopilotCli);
        is_of_events || matches!(self, Self::Specstory | Self::CursorExport)
    }
}

/// An id and its messages in order. A message is identified by its index in `messages`, never by its id.
#[derive(Debug, Clone, Default)]
pub struct Conversation<'a> {
    /// The record's id, or a name made from source and row when it has none.
    pub id: Cow<'a, str>,
    /// The messages in the order of the record.
    pub messages: Vec<Message<'a>>,
    /// It is what an earlier run shows, with marks for texts that are not at hand: they stay as they are.
    pub is_compacted: bool,
    /// Whether it may go on, as far as anybody knows.
    pub age: Age,
    /// Paragraphs of its system prompts that an earlier conversation shows, in the order of messages and places; known to who sees both.
    pub held: Vec<Held>,
}

/// Whether a conversation may go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Age {
    /// Somebody is at work on it.
    Young,
    /// It may go on.
    Open,
    /// It is at rest.
    #[default]
    Rested,
}

impl Age {
    /// The name in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Young => "young",
            Self::Open => "open",
            Self::Rested => "rested",
        }
    }
}

/// A stretch of a text that another conversation shows, in the same words and whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Index of the message.
    pub message: usize,
    /// Index of the part of its content; the content string is part 0.
    pub part: usize,
    /// Its bytes in the text.
    pub bytes: Range<usize>,
    /// The id of the conversation that shows it, in its system prompt.
    pub by: String,
}

/// One message. `raw` is the authority; the other fields are what was read from it.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The exact JSON text of the message in its record.
    pub raw: &'a str,
    /// The id: a string decoded, or the literal of a number. `None` when missing, null or of another type.
    pub id: Option<Cow<'a, str>>,
    /// Who speaks.
    pub role: Role<'a>,
    /// The speaker's name.
    pub name: Option<Cow<'a, str>>,
    /// What is said.
    pub content: Content<'a>,
    /// Calls that the message makes; of a message with calls nothing ever changes but that marks stand in long arguments, and
    /// without look-ahead in long texts beside them.
    pub tool_calls: Vec<ToolCall<'a>>,
    /// The call that this message answers; of several results in its content the first one's.
    pub tool_call_id: Option<Cow<'a, str>>,
    /// The results among the parts of its content, in order; what stands beside them is a person's. Empty where the message
    /// as a whole is of its role.
    pub results: Vec<ResultParts<'a>>,
    /// What the assistant thinks before it says something, where the record tells: texts beside the content, or blocks in it.
    pub reasoning: Vec<Thought<'a>>,
    /// `metadata._cce_original` of an earlier round of compression.
    pub provenance: Option<super::Provenance>,
}

impl<'a> Message<'a> {
    /// The texts of the message in order: the content string, or the text of each text part.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.text_parts().map(|(_, text)| text)
    }

    /// The same with their places in the content list; the content string is part 0.
    pub fn text_parts(&self) -> impl Iterator<Item = (usize, &str)> {
        let (one, many): (Option<&str>, &[Part<'a>]) = match &self.content {
            Content::Text(text) => (Some(text), &[]),
            Content::Parts(parts) => (None, parts),
            Content::Absent | Content::Null | Content::Other => (None, &[]),
        };
        let many = many.iter().enumerate().filter_map(|(at, part)| match part {
            Part::Text(text) => Some((at, text.as_ref())),
            Part::Media(_) | Part::Opaque => None,
        });
        one.into_iter().map(|text| (0, text)).chain(many)
    }

    /// The images, audio and files of the message with their places in the content.
    pub fn media(&self) -> impl Iterator<Item = (usize, &Media<'a>)> {
        let parts: &[Part<'a>] = if let Content::Parts(parts) = &self.content { parts } else { &[] };
        parts
            .iter()
            .enumerate()
            .filter_map(|(at, part)| if let Part::Media(media) = part { Some((at, media)) } else { None })
    }

    /// How many parts the content has; a content string is one.
    #[must_use]
    pub fn n_parts(&self) -> usize {
        match &self.content {
            Content::Text(_) => 1,
            Content::Parts(parts) => parts.len(),
            Content::Absent | Content::Null | Content::Other => 0,
        }
    }

    /// The text at `part` of the content; the content string is part 0.
    #[must_use]
    pub fn text_at(&self, part: usize) -> Option<&str> {
        match &self.content {
            Content::Text(text) if part == 0 => Some(text),
            Content::Parts(parts) => match parts.get(part)? {
                Part::Text(text) => Some(text),
                Part::Media(_) | Part::Opaque => None,
            },
            Content::Text(_) | Content::Absent | Content::Null | Content::Other => None,
        }
    }

    /// True for a part that stands beside the results of the content.
    #[must_use]
    pub fn is_beside_results(&self, part: usize) -> bool {
        !self.results.is_empty() && self.result_at(part).is_none()
    }

    /// The call that `part` of the content answers.
    #[must_use]
    pub fn call_answered_at(&self, part: usize) -> Option<&str> {
        if self.results.is_empty() { self.tool_call_id.as_deref() } else { self.result_at(part)?.call.as_deref() }
    }

    fn result_at(&self, part: usize) -> Option<&ResultParts<'a>> {
        let first = self.results.partition_point(|result| result.parts.end <= part);
        self.results.get(first).filter(|result| result.parts.contains(&part))
    }
}

/// Neighbouring parts that are what one call gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultParts<'a> {
    /// Which parts.
    pub parts: Range<usize>,
    /// The call.
    pub call: Option<Cow<'a, str>>,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// There is no `content` key.
    Absent,
    /// `null`.
    Null,
    /// A string, decoded; lone surrogates are read as U+FFFD.
    Text(Cow<'a, str>),
    /// A list of parts in the order of the record. A tool result among them is as many parts as it has texts and other
    /// items, so that every text has an index of its own.
    Parts(Vec<Part<'a>>),
    /// Anything else (a number, an object, …): kept as it is.
    Other,
}

/// One element of a content list, or of the content of a tool result in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// `{"type": "text", "text": "…"}`, a bare string in the list, or the string of a tool result, decoded.
    Text(Cow<'a, str>),
    /// An image, audio or a file: kept, or named by a mark.
    Media(Media<'a>),
    /// Any kind we do not know: kept as it is.
    Opaque,
}

/// A part that is no text and has a name among people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media<'a> {
    /// What it is.
    pub kind: MediaKind,
    /// What its file is called.
    pub name: Option<Cow<'a, str>>,
    /// The exact JSON text of the part in its record.
    pub raw: &'a str,
}

named! {
    /// What a part is that is no text.
    pub enum MediaKind {
        /// A picture.
        Image = "image",
        /// What is heard.
        Audio = "audio",
        /// A document of any kind.
        File = "file",
    }
}

/// A call of a tool or function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The id that the answer repeats in `tool_call_id`.
    pub id: Option<Cow<'a, str>>,
    /// The tool's name.
    pub name: Option<Cow<'a, str>>,
    /// The arguments: the decoded string, or the raw JSON when they are an object.
    pub arguments: Cow<'a, str>,
    /// The exact JSON text of the arguments in the record; `None` where nothing else may stand there.
    pub place: Option<&'a str>,
}

/// A text in which an assistant thinks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thought<'a> {
    /// The text, decoded.
    pub text: Cow<'a, str>,
    /// The exact JSON texts of the strings of the record that say it: programs like to write the same under two names. None where
    /// nothing else may stand there.
    pub places: Vec<&'a str>,
}

/// Who speaks. `Missing` and roles that we do not know are roles of their own: equal only to themselves.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Role<'a> {
    /// `system`
    System,
    /// `developer`
    Developer,
    /// `user` (also `human`)
    User,
    /// `assistant` (also `gpt`, `model`)
    Assistant,
    /// `tool` (also `observation`)
    Tool,
    /// `function`
    Function,
    /// Any other string.
    Other(Cow<'a, str>),
    /// No role, or one that is no string.
    Missing,
}

impl Role<'_> {
    /// The role's canonical name; empty when missing.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Function => "function",
            Self::Other(name) => name,
            Self::Missing => "",
        }
    }
}
