//! One pass over a text for all the literals with which secrets, SQL, proofs and contracts can begin; what
//! stands there is judged by the file of its kind. Knows no lines.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::model::Reason;

use super::reasoning::{Chain, is_whole_word};
use super::reasons::ReasonSet;
use super::secrets::{Provider, is_provider_secret};
use super::sql::is_statement;

/// What a literal may begin.
#[derive(Debug, Clone, Copy)]
enum Trigger {
    Secret(Provider),
    Sql,
    Closing,
    Formula,
    Connective,
    Legal,
}

const LITERALS: &[(&str, Trigger)] = &[
    ("sk-", Trigger::Secret(Provider::Sk)),
    ("AKIA", Trigger::Secret(Provider::Akia)),
    ("ASIA", Trigger::Secret(Provider::Akia)),
    ("ghp_", Trigger::Secret(Provider::Github)),
    ("gho_", Trigger::Secret(Provider::Github)),
    ("ghs_", Trigger::Secret(Provider::Github)),
    ("ghr_", Trigger::Secret(Provider::Github)),
    ("ghu_", Trigger::Secret(Provider::Github)),
    ("ght_", Trigger::Secret(Provider::Github)),
    ("github_pat_", Trigger::Secret(Provider::GithubPat)),
    ("sk_", Trigger::Secret(Provider::Stripe)),
    ("rk_", Trigger::Secret(Provider::Stripe)),
    ("xox", Trigger::Secret(Provider::Slack)),
    ("SG.", Trigger::Secret(Provider::Sendgrid)),
    ("glpat-", Trigger::Secret(Provider::Gitlab)),
    ("npm_", Trigger::Secret(Provider::Npm)),
    ("AIza", Trigger::Secret(Provider::Google)),
    ("hf_", Trigger::Secret(Provider::HuggingFace)),
    ("eyJ", Trigger::Secret(Provider::Jwt)),
    ("-----BEGIN", Trigger::Secret(Provider::Pem)),
    ("://", Trigger::Secret(Provider::UrlPassword)),
    ("SELECT", Trigger::Sql),
    ("Select ", Trigger::Sql),
    ("select ", Trigger::Sql),
    ("select\n", Trigger::Sql),
    ("INSERT ", Trigger::Sql),
    ("Insert into", Trigger::Sql),
    ("insert into", Trigger::Sql),
    ("UPDATE ", Trigger::Sql),
    ("Update ", Trigger::Sql),
    ("update ", Trigger::Sql),
    ("DELETE ", Trigger::Sql),
    ("Delete from", Trigger::Sql),
    ("delete from", Trigger::Sql),
    ("CREATE ", Trigger::Sql),
    ("Create table", Trigger::Sql),
    ("create ", Trigger::Sql),
    ("ALTER ", Trigger::Sql),
    ("alter table", Trigger::Sql),
    ("DROP ", Trigger::Sql),
    ("drop table", Trigger::Sql),
    ("TRUNCATE ", Trigger::Sql),
    ("GRANT ", Trigger::Sql),
    ("REVOKE ", Trigger::Sql),
    ("MERGE ", Trigger::Sql),
    ("JOIN ", Trigger::Sql),
    ("PRIMARY KEY", Trigger::Sql),
    ("VARCHAR(", Trigger::Sql),
    ("QED", Trigger::Closing),
    ("Q.E.D", Trigger::Closing),
    ("∎", Trigger::Closing),
    ("∴", Trigger::Closing),
    ("t follows that", Trigger::Formula),
    ("e conclude that", Trigger::Formula),
    ("e can conclude", Trigger::Formula),
    ("by induction", Trigger::Formula),
    ("induction on", Trigger::Formula),
    ("contradict", Trigger::Formula),
    ("modus ", Trigger::Formula),
    ("as required", Trigger::Formula),
    ("herefore", Trigger::Connective),
    ("hence", Trigger::Connective),
    ("Hence", Trigger::Connective),
    ("hus ", Trigger::Connective),
    ("notwithstanding", Trigger::Legal),
    ("whereas", Trigger::Legal),
    ("WHEREAS", Trigger::Legal),
    ("hereby", Trigger::Legal),
    ("hereinafter", Trigger::Legal),
    ("pursuant to", Trigger::Legal),
    (" shall ", Trigger::Legal),
    ("indemnif", Trigger::Legal),
];

#[expect(clippy::expect_used, reason = "the literals are fixed and few; a test builds the searcher")]
static SEARCHER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(LITERALS.iter().map(|(literal, _)| literal))
        .expect("fixed literals")
});

/// Adds what the literals of `text` begin; returns what speaks for a chain of reasoning.
pub(super) fn sweep(text: &[u8], reasons: &mut ReasonSet) -> Chain {
    let mut chain = Chain::default();
    for found in SEARCHER.find_iter(text) {
        let Some((literal, trigger)) = LITERALS.get(found.pattern().as_usize()) else {
            continue;
        };
        let at = found.start();
        match trigger {
            Trigger::Secret(provider) => {
                if !reasons.has(Reason::ApiKey) {
                    reasons.add_if(Reason::ApiKey, is_provider_secret(text, at, *provider));
                }
            }
            Trigger::Sql => {
                if !reasons.has(Reason::SqlContent) && super::bytes::starts_word(text, at) {
                    reasons.add_if(Reason::SqlContent, is_statement(text, at));
                }
            }
            Trigger::Closing => chain.closings += usize::from(is_whole_word(text, at, literal.len())),
            Trigger::Formula => chain.formulas += 1,
            Trigger::Connective => chain.connectives += 1,
            Trigger::Legal => reasons.add(Reason::LegalTerm),
        }
    }
    chain
}
