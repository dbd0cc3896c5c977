//! What the tests share.

pub(crate) mod browser;
pub(crate) mod chats;
pub(crate) mod command;
pub(crate) mod corpora;
pub(crate) mod dir;
pub(crate) mod growth;
pub(crate) mod job;
#[cfg(feature = "llm")]
pub(crate) mod llm_batch_server;
#[cfg(feature = "llm")]
pub(crate) mod llm_server;
pub(crate) mod native;
pub(crate) mod nights;
pub(crate) mod options;
pub(crate) mod rewording;
#[cfg(feature = "remote")]
pub(crate) mod s3;
pub(crate) mod tables;
pub(crate) mod talk;
pub(crate) mod whims;
