//! One pass over a text for all the literals with which SQL and some secrets begin and proofs end; what
//! stands there is judged by the file of its kind. Knows no lines.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, MatchKind, packed};

use crate::model::Reason;
use crate::text::words::{Entries, words_file};

use super::reasoning::is_whole_word;
use super::reasons::ReasonSet;
use super::secrets::{has_password, is_private_key};
use super::sql::is_statement;
use crate::text::bytes::{from, starts_word};

/// The literals by their lists.
static LITERALS: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| Entries::of(words_file!("triggers")).chain([("SQL", "select\n")]).collect());

/// Vector instructions where the machine has them, an automaton elsewhere; both find the same.
#[derive(Debug)]
enum Literals {
    Packed(packed::Searcher),
    Automaton(AhoCorasick),
}

static SEARCHER: LazyLock<Literals> = LazyLock::new(|| {
    let literals = || LITERALS.iter().map(|(_, literal)| literal.as_bytes());
    let packed =
        packed::Config::new().match_kind(packed::MatchKind::LeftmostFirst).builder().extend(literals()).build();
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).clone();
    packed.map_or_else(
        || Literals::Automaton(automaton.build(literals()).expect("a short list of literals")),
        Literals::Packed,
    )
});

/// Adds what the literals of `text` begin; returns how often a proof is closed.
pub(super) fn sweep(text: &[u8], reasons: &mut ReasonSet) -> usize {
    let mut found = Found { text, reasons, closings: 0 };
    match &*SEARCHER {
        Literals::Packed(searcher) => searcher.find_iter(text).for_each(|hit| found.judge(hit)),
        Literals::Automaton(searcher) => searcher.find_iter(text).for_each(|hit| found.judge(hit)),
    }
    found.closings
}

/// What was found so far.
struct Found<'t, 'r> {
    text: &'t [u8],
    reasons: &'r mut ReasonSet,
    closings: usize,
}

impl Found<'_, '_> {
    fn judge(&mut self, hit: Match) {
        let Some((list, literal)) = LITERALS.get(hit.pattern().as_usize()) else {
            return;
        };
        let Self { text, reasons, closings } = self;
        let at = hit.start();
        match *list {
            "PRIVATE_KEY" => reasons.add_if(Reason::ApiKey, is_private_key(text, at)),
            "ADDRESS" => reasons.add_if(Reason::ApiKey, has_password(from(text, at + literal.len()))),
            "SQL" => {
                if !reasons.has(Reason::SqlContent) && starts_word(text, at) {
                    reasons.add_if(Reason::SqlContent, is_statement(text, at));
                }
            }
            _ => *closings += usize::from(is_whole_word(text, at, literal.len())),
        }
    }
}
