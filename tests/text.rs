//! What the lexer finds, text in, text out.

use condenser::text::{Lexer, Span};
use proptest::prelude::*;

/// Kind and text of every fact.
fn facts(text: &str) -> Vec<String> {
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    lexer.view(text, &lexed).facts.iter().map(|fact| format!("{:?} {}", fact.kind, fact.span.of(text))).collect()
}

#[test]
fn every_item_of_the_missing_kinds_is_found() {
    let found = facts(
        "MAX_RETRIES=5 userID parseJSON base64Encode kebab-case-name PR #142 commit e4b2c1f 10.0.0.1 2024-05-01 $500 \
         0x1F getHTTPResponse OAuth2Token user_id2 latency 30s 7d e.g. i.e. and/or",
    );
    let expected = "Screaming MAX_RETRIES|Number 5|Camel userID|Camel parseJSON|Camel base64Encode|Kebab kebab-case-name|\
        Ticket PR #142|Hash e4b2c1f|Ip 10.0.0.1|Date 2024-05-01|Money $500|Hash 0x1F|Camel getHTTPResponse|\
        Pascal OAuth2Token|Snake user_id2|Quantity 30s|Quantity 7d";
    assert_eq!(found.join("|"), expected);
}

fn assert_sound(text: &str) {
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    let view = lexer.view(text, &lexed);
    let inside = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
    assert!(view.lines.iter().all(|line| inside(line.span)), "lines are pieces of the text");
    assert!(view.units.iter().all(|unit| inside(unit.span) && !unit.span.is_empty()), "units are pieces of the text");
    assert!(view.facts.iter().all(|fact| inside(fact.span) && !fact.span.is_empty()), "facts are pieces of the text");
    assert!(view.cues.iter().all(|cue| text.is_char_boundary(cue.at as usize)), "cues are places of the text");
    assert!(view.fences.iter().all(|fence| inside(fence.span) && inside(fence.body) && inside(fence.info)));
    assert!(view.lines.is_sorted_by(|a, b| a.span.end <= b.span.start));
    assert!(view.units.is_sorted_by(|a, b| a.span.end <= b.span.start), "units do not overlap");
    assert!(view.facts.is_sorted_by_key(|fact| fact.span.start));
    assert!(view.cues.is_sorted_by_key(|cue| cue.at));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_text_is_lexed_soundly(text in "([a-zA-Z0-9 .,:;!?'\"`~#*|<>{}()/\\\\@$%_=+\\n\\r\\t-]|[äÖß“”。！、日本語元５🎉\u{200d}\u{0}\u{fffd}]|```|Error|not ){0,120}") {
        assert_sound(&text);
    }
}
