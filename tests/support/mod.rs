//! What the tests share.

pub(crate) mod chats;
pub(crate) mod command;
pub(crate) mod dir;
