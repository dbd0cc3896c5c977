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
mod subject;
mod texts;
mod told;
mod wide;

pub(in crate::walk) use find::{Found, Users, Uses, is_old_line};
pub(crate) use form::is_counted;
pub(in crate::walk) use form::is_identifier;
pub(in crate::walk) use index::Index;
pub(in crate::walk) use lines::says;
pub(in crate::walk) use outcome::tells_change;
pub(in crate::walk) use scan::{Line, Word, bare, exact, folded, is_joiner, lines, with_pieces, words};
pub use texts::SaidBy;
pub(in crate::walk) use texts::{Place, Text, Texts};

/// The lines of a text, and it as a padded buffer.
#[cfg(test)]
pub(in crate::walk) fn lines_of(text: &str) -> (Vec<u8>, Vec<Line>) {
    let mut texts = Texts::default();
    texts.push(0, 0, SaidBy::Result, text);
    texts.seal();
    let mut uses = Uses::default();
    uses.read(&texts, Users::Speakers);
    let lines = uses.lines(&uses.found()[0]).to_vec();
    (texts.bytes().to_vec(), lines)
}
