//! Who uses what: for every value that a later text needs, the first source that shows it, and where. Two linear passes,
//! one over what users say, from the back, one over sources, from the front. Knows texts and who says them; refuses to know
//! messages, roles and what becomes of them.

mod find;
mod form;
mod index;
mod lines;
mod needles;
mod number;
mod outcome;
mod scan;
mod texts;
mod told;
mod wide;

pub(in crate::walk) use find::{Found, Uses};
pub(in crate::walk) use lines::says;
pub(in crate::walk) use scan::Line;
pub use texts::SaidBy;
pub(in crate::walk) use texts::{Text, Texts};
