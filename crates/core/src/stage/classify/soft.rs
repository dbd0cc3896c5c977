//! Soft reasons: what the lexer's facts say about references in a text. They are reported and prevent nothing.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::model::Reason;
use crate::text::{FactKind, TextView};

use super::reasons::ReasonSet;

/// A quotation has at least so many bytes inside its quotes.
const MIN_QUOTE: usize = 10;

/// Words that only contracts and statutes use, without what changes with their case.
const LEGAL: [&str; 5] = ["otwithstanding", "hereby", "hereinafter", "ursuant to", " shall "];

static LEGAL_FINDERS: LazyLock<[Finder<'static>; 5]> = LazyLock::new(|| LEGAL.map(Finder::new));

/// Adds the soft reasons of all facts.
pub(super) fn add_soft(view: &TextView<'_>, reasons: &mut ReasonSet) {
    let text = view.covered().as_bytes();
    reasons.add_if(Reason::LegalTerm, LEGAL_FINDERS.iter().any(|finder| finder.find(text).is_some()));
    for fact in view.facts {
        let reason = match fact.kind {
            FactKind::Url => Reason::Url,
            FactKind::Email => Reason::Email,
            FactKind::Phone => Reason::Phone,
            FactKind::Version => Reason::VersionNumber,
            FactKind::Hash => Reason::HashOrSha,
            FactKind::Path | FactKind::FileRef => Reason::FilePath,
            FactKind::Ip => Reason::IpOrSemver,
            FactKind::Quantity => Reason::NumericWithUnits,
            FactKind::Quoted => quotation(view.text.as_bytes(), fact.span.start as usize, fact.span.end as usize),
            _ => continue,
        };
        if reason != Reason::DirectQuote || fact.span.len() >= MIN_QUOTE {
            reasons.add(reason);
        }
    }
}

/// A quoted key has a colon behind its closing quote.
fn quotation(text: &[u8], start: usize, end: usize) -> Reason {
    // The span may or may not include the quotes.
    let after = text.get(end..(end + 2).min(text.len())).unwrap_or_default();
    let is_key = after.first() == Some(&b':') || (after.first() == Some(&b'"') && after.get(1) == Some(&b':'));
    if is_key && start < end { Reason::QuotedKey } else { Reason::DirectQuote }
}
