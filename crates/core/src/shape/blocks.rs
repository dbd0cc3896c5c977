//! Content lists: text parts, calls and tool results as the chat APIs write them. Reading and replacing walk the same
//! leaves, so that a text keeps its number. Knows no message.

use std::borrow::Cow;

use crate::model::{Content, Media, MediaKind, Part, ResultParts, ToolCall};

use super::escape::{Style, encode};
use super::json::{Kind, Raw, items, member, members};
use super::member::take_arguments;
use super::reasoning;

/// Parts that hold plain text; the last two are names of the Responses API.
const TEXT_PARTS: [&str; 3] = ["text", "input_text", "output_text"];
/// Parts that make a call.
const CALL_PARTS: [&str; 5] = ["tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "toolCall"];
/// The part that holds what a call gave.
const RESULT_PART: &str = "tool_result";
/// Parts that are images, audio or files. What is called `document` may as well hold its text.
const MEDIA_PARTS: [(&str, MediaKind); 9] = [
    ("image", MediaKind::Image),
    ("image_url", MediaKind::Image),
    ("input_image", MediaKind::Image),
    ("audio", MediaKind::Audio),
    ("audio_url", MediaKind::Audio),
    ("input_audio", MediaKind::Audio),
    ("file", MediaKind::File),
    ("input_file", MediaKind::File),
    ("document", MediaKind::File),
];
/// Sources that are text themselves.
const TEXT_SOURCES: [&str; 2] = ["text", "content"];
/// Parts that only the Messages API has.
const MESSAGES_API_PARTS: [&str; 6] =
    ["tool_use", RESULT_PART, "thinking", "redacted_thinking", "server_tool_use", "document"];

/// An element of a content list.
#[derive(Debug, Default)]
struct Block<'r> {
    kind: Option<Cow<'r, str>>,
    text: Option<Raw<'r>>,
    /// What a result holds.
    content: Option<Raw<'r>>,
    id: Option<Raw<'r>>,
    answered: Option<Raw<'r>>,
    name: Option<Raw<'r>>,
    arguments: Option<Raw<'r>>,
    /// `source` of an image: the mark of the Messages API.
    has_source: bool,
    /// What the source is.
    source: Option<Cow<'r, str>>,
    /// What its file is called.
    title: Option<Raw<'r>>,
}

/// An element of a content list, or of a tool result in it.
#[derive(Debug)]
pub(super) enum Leaf<'r> {
    /// A string that can be replaced.
    Text(Raw<'r>),
    /// A part that a text part can stand for.
    Media(Media<'r>),
    /// What stays.
    Opaque,
}

impl<'r> Block<'r> {
    fn read(item: Raw<'r>) -> Self {
        let mut block = Self::default();
        members(item.text, |key, value| match key.name.as_ref() {
            "type" => block.kind = value.string(),
            // Some training sets write `value` for the text of a part.
            "text" => block.text = Some(value),
            "value" => block.text = block.text.or(Some(value)),
            "content" => block.content = Some(value),
            "id" => block.id = Some(value),
            "tool_use_id" => block.answered = Some(value),
            "name" => block.name = Some(value),
            "input" | "arguments" => block.arguments = Some(value),
            "source" => {
                block.has_source = value.kind == Kind::Object;
                block.source = member(value.text, "type").and_then(Raw::string);
            }
            "title" | "filename" => block.title = Some(value),
            "file" => block.title = block.title.or_else(|| member(value.text, "filename")),
            _ => {}
        });
        block
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kind.as_deref().is_some_and(|kind| kinds.contains(&kind))
    }

    fn own_text(&self) -> Option<Raw<'r>> {
        self.text.filter(|text| text.kind == Kind::Text && self.is(&TEXT_PARTS))
    }

    fn leaf(&self, item: Raw<'r>) -> Leaf<'r> {
        if let Some(text) = self.own_text() {
            return Leaf::Text(text);
        }
        let kind = MEDIA_PARTS.iter().find(|(name, _)| self.is(&[name])).map(|&(_, kind)| kind);
        match kind.filter(|_| !self.source.as_deref().is_some_and(|source| TEXT_SOURCES.contains(&source))) {
            Some(kind) => Leaf::Media(Media { kind, name: self.title.and_then(Raw::string), raw: item.text }),
            None => Leaf::Opaque,
        }
    }

    fn call(&self) -> ToolCall<'r> {
        let mut call =
            ToolCall { id: self.id.and_then(Raw::id), name: self.name.and_then(Raw::string), ..ToolCall::default() };
        if let Some(arguments) = self.arguments.or(self.text) {
            take_arguments(&mut call, arguments);
        }
        call
    }
}

/// What the blocks of a content list say about their message.
#[derive(Debug)]
pub(super) struct Blocks<'r> {
    pub(super) content: Content<'r>,
    pub(super) calls: Vec<ToolCall<'r>>,
    /// Which parts of the content are results.
    pub(super) results: Vec<ResultParts<'r>>,
    /// Parts that hold what the speaker thinks.
    pub(super) thoughts: Vec<Raw<'r>>,
    /// Some part seals them.
    pub(super) is_sealed: bool,
}

/// Reads a content list.
pub(super) fn read(list: &str) -> Blocks<'_> {
    let mut parts = Vec::new();
    let (calls, results, thoughts) = (Vec::new(), Vec::new(), Vec::new());
    let mut blocks = Blocks { content: Content::Null, calls, results, thoughts, is_sealed: false };
    items(list, |item| {
        let block = (item.kind == Kind::Object).then(|| Block::read(item));
        let first = parts.len();
        leaves_of(item, block.as_ref(), &mut |leaf| {
            parts.push(match leaf {
                Leaf::Text(text) => text.string().map_or(Part::Opaque, Part::Text),
                Leaf::Media(media) => Part::Media(media),
                Leaf::Opaque => Part::Opaque,
            });
        });
        if let Some(block) = &block {
            if block.is(&CALL_PARTS) {
                blocks.calls.push(block.call());
            } else if block.is(&[RESULT_PART]) {
                let call = block.answered.and_then(Raw::id);
                blocks.results.push(ResultParts { parts: first..parts.len(), call });
            } else if block.is(&reasoning::PARTS) {
                blocks.thoughts.push(item);
            }
        }
    });
    if !blocks.thoughts.is_empty() {
        items(list, |item| blocks.is_sealed = blocks.is_sealed || reasoning::holds_seal(item));
    }
    blocks.content = Content::Parts(parts);
    blocks
}

/// The leaves of a content list in order. A part is one leaf; a tool result has one for its string or for each item of its
/// list.
pub(super) fn leaves<'r>(list: &'r str, mut each: impl FnMut(Leaf<'r>)) {
    items(list, |item| {
        let block = (item.kind == Kind::Object).then(|| Block::read(item));
        leaves_of(item, block.as_ref(), &mut each);
    });
}

fn leaves_of<'r>(item: Raw<'r>, block: Option<&Block<'r>>, each: &mut impl FnMut(Leaf<'r>)) {
    let leaf = |item: Raw<'r>, block: Option<&Block<'r>>| match block {
        Some(block) => block.leaf(item),
        None if item.kind == Kind::Text => Leaf::Text(item),
        None => Leaf::Opaque,
    };
    let content = block.and_then(|block| block.content.filter(|_| block.is(&[RESULT_PART])));
    match content {
        Some(text) if text.kind == Kind::Text => each(Leaf::Text(text)),
        Some(list) if list.kind == Kind::List && !is_empty(list) => items(list.text, |item| {
            let inner = (item.kind == Kind::Object).then(|| Block::read(item));
            each(leaf(item, inner.as_ref()));
        }),
        _ => each(leaf(item, block)),
    }
}

/// A text part for the place of a part that is none, in the words of the API that wrote that one.
pub(super) fn text_part(instead_of: &str, text: &str, style: Style, out: &mut String) {
    let kind = member(instead_of, "type").and_then(Raw::string);
    let name = if kind.is_some_and(|kind| kind.starts_with("input_") && kind != "input_audio") {
        "input_text"
    } else {
        "text"
    };
    out.extend(["{\"type\":\"", name, "\",\"text\":"]);
    encode(text, style, out);
    out.push('}');
}

fn is_empty(list: Raw<'_>) -> bool {
    list.text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|inner| inner.trim().is_empty())
}

/// True when a content list has blocks as only the Messages API has them.
pub(super) fn are_of_messages_api(list: &str) -> bool {
    let mut found = false;
    items(list, |item| {
        if !found && item.kind == Kind::Object {
            let block = Block::read(item);
            found = block.is(&MESSAGES_API_PARTS) || block.is(&["image"]) && block.has_source;
        }
    });
    found
}
