//! Who speaks to whom: which message sets the task, and which are the words of the one user of an assistant. Meetings and
//! chats of many speakers have no such user. Knows roles and names; refuses to know what becomes of a message.

use crate::model::{Conversation, Message, Role, marker};
use crate::text::begins_with_consent;

/// Up to here a message of the user's is what he typed, and says so little that hiding it saves nothing.
const MAX_SHORT_WORDS: usize = 400;
/// Up to here it is what he says, unless it is the output of a program; longer messages bring material along.
const MAX_WORDS: usize = 1_500;
/// Commands of an assistant from which it is an agent.
const MIN_COMMANDS: usize = 2;
/// Signs and words with which an assistant asks whether to go on.
const ASKING: [&str; 6] = ["?", "？", "onfirm", "estätig", "确认", "確認"];
/// What an agent program puts in front of the first words of its user, beside blocks in tags.
const INJECTED: [&str; 2] = ["# AGENTS.md", "Caveat: "];

/// The first message of a user that a program did not put there; what stands for others by now was not it.
#[must_use]
pub fn task_of(conversation: &Conversation<'_>) -> Option<usize> {
    let is_typed = |text: &str| {
        let text = behind_blocks(text);
        !text.is_empty() && !INJECTED.iter().any(|head| text.starts_with(head)) && !marker::stands_for_others(text)
    };
    conversation.messages.iter().position(|message| {
        message.role == Role::User && message.provenance.is_none() && message.texts().next().is_some_and(is_typed)
    })
}

/// What stands behind `<uploaded_files>…</uploaded_files>` and other blocks in tags at the start of `text`; nothing when
/// a block does not end.
fn behind_blocks(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some((tag, behind)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if name.is_empty() || !is_name(name) {
            break;
        }
        let Some((_, behind)) = behind.split_once(&format!("</{name}>")) else { return "" };
        rest = behind.trim_start();
    }
    rest
}

/// True where an assistant answers a user: where speakers have names there are several, and none of them is the user of
/// another.
pub(super) fn has_own_user(conversation: &Conversation<'_>) -> bool {
    let mut messages = conversation.messages.iter();
    let by_several = |message: &Message<'_>| message.texts().any(marker::tells_talk);
    messages.any(|message| message.role == Role::Assistant && message.name.is_none() && !by_several(message))
}

/// True when somebody calls tools, or an agent gets what they return as words of the user.
#[must_use]
pub fn has_tools(conversation: &Conversation<'_>) -> bool {
    let writes_commands = || {
        let mut commands = Commands::default();
        let pairs = conversation.messages.array_windows().filter(|[said, answer]| is_answered(said, answer));
        pairs.for_each(|[said, answer]| commands.count(said, answer));
        commands.are_most()
    };
    calls_tools(conversation) || writes_commands()
}

/// The first message at which it is known that there are tools, without a look at what comes behind it.
#[must_use]
pub fn first_with_tools(conversation: &Conversation<'_>) -> Option<usize> {
    let mut commands = Commands::default();
    let called = first_call(conversation);
    let written = conversation.messages.iter().position(|message| commands.see(message));
    [called, written].into_iter().flatten().min()
}

/// Which answers of a conversation that calls nothing by name end with a command, in a fence or between tags, or have one and a shell
/// answers; as far as it was seen.
#[derive(Debug, Default)]
struct Commands<'c> {
    before: Option<&'c Message<'c>>,
    n_answers: usize,
    n: usize,
}

impl<'c> Commands<'c> {
    /// Sees the next message; whether by now most answers are commands.
    fn see(&mut self, message: &'c Message<'c>) -> bool {
        if let Some(before) = self.before.replace(message).filter(|before| is_answered(before, message)) {
            self.count(before, message);
        }
        self.are_most()
    }

    /// Counts what an assistant said, and what answers it.
    fn count(&mut self, said: &Message<'_>, answer: &Message<'_>) {
        let (said, answer) = (last_text(said), last_text(answer));
        let has_prompt = answer.ends_with('$');
        self.n_answers += 1;
        self.n += usize::from(ends_with_command(said) || has_prompt && said.contains("```"));
    }

    fn are_most(&self) -> bool {
        self.n_answers >= MIN_COMMANDS && self.n * 3 >= self.n_answers * 2
    }
}

/// True where a user, or a shell in his place, answers an assistant.
fn is_answered(said: &Message<'_>, answer: &Message<'_>) -> bool {
    matches!(said.role, Role::Assistant) && matches!(answer.role, Role::User)
}

/// The last text of a message without white space at its end.
fn last_text<'m>(message: &'m Message<'_>) -> &'m str {
    let text = message.texts().last().unwrap_or_default();
    // Most texts end with a letter or a stop.
    if text.as_bytes().last().is_some_and(u8::is_ascii_graphic) { text } else { text.trim_end() }
}

/// True when tools are called by name, or answer.
#[must_use]
pub fn calls_tools(conversation: &Conversation<'_>) -> bool {
    first_call(conversation).is_some()
}

/// The first message that calls a tool by name, or with which one answers.
#[must_use]
pub fn first_call(conversation: &Conversation<'_>) -> Option<usize> {
    let is_tool = |message: &Message<'_>| matches!(message.role, Role::Tool | Role::Function);
    conversation.messages.iter().position(|message| !message.tool_calls.is_empty() || is_tool(message))
}

/// True for a text that ends with a fence or a tag.
fn ends_with_command(text: &str) -> bool {
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || "_-=".contains(c);
    let is_tag = |tag: &str| tag.trim_end_matches(is_in_name).ends_with("</");
    text.ends_with("```") || text.strip_suffix('>').is_some_and(is_tag)
}

/// True for a yes or a no of the user of an assistant, with what he says of it.
#[must_use]
pub fn is_consent(message: &Message<'_>) -> bool {
    let n_chars = || message.texts().map(|text| text.chars().count()).sum::<usize>();
    is_by_user(message) && message.texts().next().is_some_and(begins_with_consent) && n_chars() <= MAX_WORDS
}

/// True for what a consent answers: the question of the assistant right before it, which says what is agreed to. Where the answer
/// `is_open`, for every question that may be agreed to.
pub(super) fn is_agreed_to(messages: &[Message<'_>], index: usize, n_chars: usize, is_open: bool) -> bool {
    let asks = |text: &str| ASKING.iter().any(|sign| text.contains(sign));
    messages[index].role == Role::Assistant
        && n_chars <= MAX_WORDS
        && (is_open || messages.get(index + 1).is_some_and(is_consent))
        && messages[index].texts().any(asks)
}

fn is_by_user(message: &Message<'_>) -> bool {
    message.role == Role::User && message.name.is_none() && message.tool_call_id.is_none()
}

/// True for a short message and for a consent or refusal of the user of [`has_own_user`].
pub(super) fn is_own_words(message: &Message<'_>, n_chars: usize) -> bool {
    is_by_user(message) && n_chars <= MAX_SHORT_WORDS || is_consent(message)
}

/// True for what the user of [`has_own_user`] may have typed, when no program wrote it.
pub(super) fn may_be_own_words(message: &Message<'_>, n_chars: usize) -> bool {
    is_by_user(message) && n_chars <= MAX_WORDS && !message.texts().all(|text| behind_blocks(text).is_empty())
}
