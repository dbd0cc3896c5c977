//! What the tests share.

pub mod talk;
