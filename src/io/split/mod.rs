//! The split of a data set on disk: the notes of its survey, sorted beside memory, what is decided by them, and the files of it in a
//! run. Knows the layout of all of these; refuses to know how conversations are read.

mod duplicates;
mod evaluation;
mod notes;
mod packed;
mod scratch;
mod sides;
mod sorter;
mod split_file;
mod splitter;

pub use evaluation::read_evaluation;
pub use split_file::VerdictFile;
pub(super) use split_file::{SPLIT, split_files};
pub use splitter::{Made, Splitter};
