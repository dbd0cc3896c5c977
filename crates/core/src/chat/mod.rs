//! Records as the API saw them: conversations of a system prompt, and turns of a user and an assistant, each call of which has
//! its result behind it. Sub-agents, and what came after a log was compacted by its program, are conversations of their own.
//! Knows decoded records; refuses to know what is hidden of them and how a trainer wants them.

mod alternatives;
mod assemble;
mod called;
mod flow;
mod openhands;
mod pieces;
mod seen;
mod speakers;
mod threads;
mod tools;
mod waiting;

use crate::shape::Decoded;

#[cfg(test)]
mod tests;

pub use alternatives::{Alternative, alternatives};
pub use called::CalledTools;
pub use seen::{ASSISTANT_FIRST, Chat, LOST_CALL, LeftOut, NO_RESULT, Note, said};
pub use tools::named_tools;

/// The chats of a record, the main one first.
#[must_use]
pub fn chats<'a>(decoded: &'a Decoded<'_>) -> Vec<Chat<'a>> {
    let flow = flow::of(decoded);
    threads::of(decoded, flow).into_iter().map(|thread| assemble::chat(decoded, thread)).collect()
}
