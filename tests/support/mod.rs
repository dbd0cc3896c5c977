//! What the tests share.

pub mod corpora;
pub mod talk;
