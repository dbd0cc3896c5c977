//! What the lexer finds, text in, text out.

use condenser::model::Message;
use condenser::shape;
use condenser::text::{Lexer, LineKind, Severity, Span, TextView};
use proptest::prelude::*;

use crate::support::chats::records;
use crate::support::corpora;

/// Calls `read` with the findings for `text`.
fn with<T>(text: &str, read: impl FnOnce(&TextView<'_>) -> T) -> T {
    let mut lexer = Lexer::default();
    let found = lexer.lex(text);
    read(&lexer.view(text, &found))
}

/// Kind and text of every fact, joined by bars.
fn facts(text: &str) -> String {
    with(text, |view| {
        let found = view.facts.iter().map(|fact| format!("{:?} {}", fact.kind, fact.span.of(text)));
        found.collect::<Vec<_>>().join(" | ")
    })
}

/// Kind and text of every unit, one per line.
fn units(text: &str) -> String {
    with(text, |view| {
        let found = view.units.iter().map(|unit| format!("{:?} {}", unit.kind, unit.span.of(text).replace('\n', "⏎")));
        found.collect::<Vec<_>>().join("\n")
    })
}

/// Kind of every line, joined by blanks.
fn kinds(text: &str) -> String {
    with(text, |view| view.lines.iter().map(|line| format!("{:?}", line.kind)).collect::<Vec<_>>().join(" "))
}

/// Kind and place of every cue: the word it stands at.
fn cues(text: &str) -> String {
    with(text, |view| {
        let word =
            |at: u32| text.get(at as usize..).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        view.cues.iter().map(|cue| format!("{:?} {}", cue.kind, word(cue.at))).collect::<Vec<_>>().join(" | ")
    })
}

fn severity(line: &str) -> Severity {
    with(line, |view| view.lines[0].severity)
}

#[track_caller]
fn check(found: &str, expected: &str) {
    assert_eq!(found, expected.trim_matches('\n'));
}

mod facts_of_all_kinds {
    use super::{check, facts};

    #[test]
    fn the_kinds_that_others_miss() {
        let text = "MAX_RETRIES=5 userID parseJSON base64Encode kebab-case-name PR #142 commit e4b2c1f 10.0.0.1 2024-05-01 \
            $500 0x1F getHTTPResponse OAuth2Token user_id2 latency 30s 7d e.g. i.e. and/or";
        let expected = "Screaming MAX_RETRIES | Number 5 | Camel userID | Camel parseJSON | Camel base64Encode | \
            Kebab kebab-case-name | Ticket PR #142 | Hash e4b2c1f | Ip 10.0.0.1 | Date 2024-05-01 | Money $500 | Hash 0x1F | \
            Camel getHTTPResponse | Pascal OAuth2Token | Snake user_id2 | Quantity 30s | Quantity 7d";
        check(&facts(text), expected);
    }

    #[test]
    fn hosts_versions_paths_and_places() {
        let text = "host redis-prod-001.abc123.cache.amazonaws.com:6379 runs v22.3.0 from src/db/pool.ts since 30.5 seconds, \
            see src/foo.ts:42, https://a.io/b?c=d. and ops@acme.com at 10.0.0.3:80 or C:\\tmp\\x.log in pool.ts.";
        let expected = "Host redis-prod-001.abc123.cache.amazonaws.com:6379 | Version v22.3.0 | Path src/db/pool.ts | \
            Quantity 30.5 seconds | FileRef src/foo.ts:42 | Url https://a.io/b?c=d | Email ops@acme.com | Ip 10.0.0.3:80 | \
            Path C:\\tmp\\x.log | Path pool.ts";
        check(&facts(text), expected);
    }

    #[test]
    fn amounts_dates_times_and_telephones() {
        let text = "pay 4,500,000 dollars or 12 € by March 3, 2024 at 9 am (14:30), 15 % of 500 MB after 12 retries; call \
            555-123-4567, KMS-7781, p99 and x86";
        let expected = "Money 4,500,000 dollars | Money 12 € | Date March 3, 2024 | Time 9 am | Time 14:30 | Percent 15 % | \
            Quantity 500 MB | Quantity 12 retries | Phone 555-123-4567 | Ticket KMS-7781 | Alphanumeric p99 | Alphanumeric x86";
        check(&facts(text), expected);
    }

    #[test]
    fn names_but_no_sentence_openers() {
        check(
            &facts(
                "The Acme Corporation signed with Zeta Labs. Please tell Alice. Yesterday was fine. Alpha\nBeta Gamma",
            ),
            "Name Acme Corporation | Name Zeta Labs | Name Alice | Name Beta Gamma",
        );
        check(&facts("Suresh left. We saw Suresh."), "Name Suresh | Name Suresh");
    }

    #[test]
    fn german_nouns_are_no_names() {
        let text = "Das Gesetz ist für die Bürger und die Länder nicht gut, und die Kanzlerin Angela Merkel hat das Haus verlassen.";
        check(&facts(text), "Name Kanzlerin Angela Merkel");
    }

    #[test]
    fn wide_scripts() {
        check(
            &facts("使用Redis集群，费用3000元，5月1日开始。「重要」2,500円です"),
            "Name Redis | Money 3000元 | Date 5月1日 | Quoted 「重要」 | Money 2,500円",
        );
    }

    #[test]
    fn words_in_capitals_are_no_acronyms() {
        check(&facts("YOU SHOULD NEVER GUESS! Use the HTTP API of ACME."), "Acronym HTTP | Acronym API | Acronym ACME");
    }

    #[test]
    fn line_numbers_and_escapes_are_none() {
        check(&facts("  1459:    raise ValueError(msg)"), "Pascal ValueError | Vowelless msg");
        check(&facts("{\"text\": \"see\\nOutput of foo_bar\"}"), "Snake foo_bar");
    }

    #[test]
    fn quotes_and_code_spans_may_hold_others() {
        check(
            &facts("say \"use maxSize\" and `fooBar` but \"never closed"),
            "Quoted \"use maxSize\" | Camel maxSize | CodeSpan `fooBar` | Camel fooBar",
        );
    }

    #[test]
    fn equal_amounts_have_equal_keys() {
        let keys = |text: &str| super::with(text, |view| view.facts.iter().map(|fact| fact.key).collect::<Vec<_>>());
        assert_eq!(keys("4,500 MB"), keys("4500MB"));
        assert_eq!(keys("at ACME Corp"), keys("at ACME Corp."));
        assert_ne!(keys("3,5"), keys("35"));
    }

    #[test]
    fn long_blobs_are_none() {
        check(&facts(&"7".repeat(200)), "");
        check(&facts(&"a1b2".repeat(100)), "");
    }

    #[test]
    fn many_digits_behind_two_colons_are_no_address() {
        check(&facts("see ::123456 there"), "Number 123456");
    }
}

mod units_of_text {
    use super::{check, units};

    #[test]
    fn dots_inside_words_end_nothing() {
        check(
            &units("Use v1.2.3 of a.b.io, e.g. in src/a.ts. Mr. Smith paid 3.50 to J. Doe. See no. 5, etc. Then go!"),
            "
Sentence Use v1.2.3 of a.b.io, e.g. in src/a.ts.
Sentence Mr. Smith paid 3.50 to J. Doe.
Sentence See no. 5, etc.
Sentence Then go!",
        );
    }

    #[test]
    fn german_ordinals_and_abbreviations() {
        check(
            &units("Am 3. Oktober ist z. B. der 17. Bundestag zu. Das gilt d. h. immer."),
            "
Sentence Am 3. Oktober ist z. B. der 17. Bundestag zu.
Sentence Das gilt d. h. immer.",
        );
    }

    #[test]
    fn closing_quotes_belong_to_the_sentence() {
        check(
            &units("\"Stop!\" he said. (Really?) “No.” Fine…"),
            "
Sentence \"Stop!\" he said.
Sentence (Really?)
Sentence “No.”
Sentence Fine…",
        );
    }

    #[test]
    fn full_width_signs_end_sentences() {
        check(
            &units("你好。不要重启！「はい。」そうです"),
            "
Sentence 你好。
Sentence 不要重启！
Sentence 「はい。」
Fragment そうです",
        );
    }

    #[test]
    fn lists_and_unfinished_lines_count() {
        check(
            &units(
                "Here is the plan.\n- run prisma migrate\n- set MAX_POOL_SIZE=50\n  before restart\n1) go\n\nThe DECISION is Zeta",
            ),
            "
Sentence Here is the plan.
ListItem run prisma migrate
ListItem set MAX_POOL_SIZE=50⏎  before restart
ListItem go
Fragment The DECISION is Zeta",
        );
    }

    #[test]
    fn a_wrapped_paragraph_is_joined() {
        check(
            &units("One two\nthree four. Five\nSix"),
            "
Sentence One two⏎three four.
Fragment Five
Fragment Six",
        );
    }

    #[test]
    fn headings_and_fences_stand_alone() {
        check(
            &units("# Title\ntext\n```\ncode\n```\nTop\n===\nend."),
            "
Heading # Title
Fragment text
Heading Top
Sentence end.",
        );
    }

    #[test]
    fn text_without_punctuation_is_cut() {
        for word in ["gamma ", "我们", "一，"] {
            let text = word.repeat(400);
            super::with(&text, |view| {
                assert!(view.units.len() >= 2, "{word}: {}", view.units.len());
                assert!(view.units.iter().all(|unit| unit.n_chars <= 420), "{word}");
            });
        }
    }
}

mod fences {
    use super::{check, kinds, with};

    fn bodies(text: &str) -> String {
        with(text, |view| {
            let found = view.fences.iter().map(|fence| {
                let end = if fence.body.end < fence.span.end { "" } else { "…" };
                format!("[{}]{end}", fence.body.of(text).replace('\n', "⏎"))
            });
            found.collect::<Vec<_>>().join(" ")
        })
    }

    #[test]
    fn empty_nested_and_unclosed() {
        check(&bodies("```sh\n```\nprose\n```py\nx\n```"), "[] [x⏎]");
        check(&bodies("````md\n```\nx\n```\n````"), "[```⏎x⏎```⏎]");
        check(&bodies("~~~ a b\nx\n```\n~~~~"), "[x⏎```⏎]");
        check(&bodies("a\n```js\nreturn a * 0.5"), "[return a * 0.5]…");
        check(&bodies("```"), "[]…");
    }

    #[test]
    fn a_mention_is_no_fence() {
        check(&bodies("use ``` for code\n``` a ``` b\n    ```\nx"), "");
    }

    #[test]
    fn inside_list_items() {
        check(&bodies("1. do\n\n    ```sh\n    ls\n    ```\n2. go"), "[    ls⏎]");
        check(&bodies("- ```sh\n  ls\n  ```\n- b"), "[  ls⏎]");
    }

    #[test]
    fn lines_and_signs() {
        check(&kinds("```\nx\n\n```\ny"), "Fence Fenced Fenced Fence Prose");
        check(&kinds("~~~\nx\n~~~"), "Fence Fenced Fence");
    }
}

mod lines {
    use super::{Severity, check, kinds, severity};

    #[test]
    fn each_kind_is_known() {
        for (line, kind) in [
            ("Just words here.", "Prose"),
            ("## Head", "Heading"),
            ("* item", "ListItem"),
            ("> said", "Quote"),
            ("| a | b |", "TableRow"),
            ("|---|---|", "TableRule"),
            ("Name   Age   City", "Columns"),
            ("a,b,c,d", "Values"),
            ("const x = f(1);", "Code"),
            ("def f(x):", "Code"),
            ("import os", "Code"),
            ("2024-05-01 12:00:01 INFO up", "Log"),
            ("[ERROR] down", "Log"),
            ("    at foo (a.js:1:2)", "Trace"),
            ("Traceback (most recent call last):", "TraceHead"),
            ("max_size = 5", "Code"),
            ("timeout: 30", "KeyValue"),
            ("FAIL payment.test.ts", "Status"),
            ("✓ works", "Status"),
            ("src/a.rs:12: let x", "Grep"),
            ("@@ -1,2 +1,2 @@", "DiffHead"),
            ("{\"a\": 1}", "Json"),
            ("<div class=\"a\">", "Markup"),
            ("$ ls -la", "Prompt"),
            ("-rw-r--r-- 1 root root 5 May 1 a.txt", "Listing"),
            ("src/text/", "Listing"),
            ("[lint:go] $ ~/tasks/lint/go", "Log"),
            ("// a comment", "Comment"),
            ("steps:", "KeyValue"),
            ("Owner: a few words", "Pair"),
            ("Note: this is prose, not a key.", "Prose"),
            ("<nick> hello there", "Prose"),
            ("Project Manager: let us begin", "Prose"),
            ("The `┘` stands right behind the `└` of the box.", "Prose"),
        ] {
            assert_eq!(kinds(line), kind, "{line}");
        }
    }

    #[test]
    fn failures_totals_and_successes() {
        for line in [
            "FAIL payment.test.ts",
            "ERROR TypeError x",
            "FATAL out of memory",
            "error[E0308]: mismatched types",
            "error: no such file",
            "✗ breaks",
            "✖ 2 problems",
            "Exit code 1",
            "exit status 2",
            "exit=1",
            "exit_code=1",
            "bash: foo: command not found",
            "thread 'main' panicked at src/main.rs:3:5:",
            "Traceback (most recent call last):",
            "TypeError: x is not a function",
            "open: Permission denied",
            "java.io.IOException: gone",
            "npm ERR! code 1",
            "make: *** [all] Error 2",
            "a.ts(3,5): error TS2304: no x",
            "The build says ERROR again.",
        ] {
            assert_eq!(severity(line), Severity::Failure, "{line}");
        }
        for line in [
            "Tests: 1 failed, 12 passed",
            "=== 3 failed, 2 passed in 1.2s ===",
            "test result: FAILED. 3 passed; 1 failed",
            "Ran 12 tests in 3s",
            "BUILD SUCCESSFUL in 3s",
            "real\t0m3s",
            "0 errors",
            "12 passed, 0 failed",
            "exit code 0",
            "2 files changed, 13 insertions(+)",
        ] {
            assert_eq!(severity(line), Severity::Totals, "{line}");
        }
        for line in ["PASS a.test.ts", "✓ works", "test a::b ... ok"] {
            assert_eq!(severity(line), Severity::Success, "{line}");
        }
        assert_eq!(severity("WARNING: disk is nearly full"), Severity::Warning);
        for line in [
            "no errors were found",
            "We saw that the error went away.",
            "it failed yesterday but works now",
            "The test was ok.",
        ] {
            assert_eq!(severity(line), Severity::None, "{line}");
        }
    }

    #[test]
    fn underlined_headings() {
        check(&kinds("Title\n=====\ntext.\n---"), "Heading Heading Prose Data");
    }
}

mod cues_of_units {
    use super::{check, cues};

    #[test]
    fn statements_are_no_filler() {
        check(
            &cues(
                "No customers were affected. So the refund job must not run. Now the paymentService works. I can reproduce it.",
            ),
            "Negation No | Obligation must | Negation not | Obligation not",
        );
        check(
            &cues("Sure, happy to help! Thanks! Okay . No problem! No. The problem is this."),
            "Filler Sure, | Filler Thanks! | Filler Okay | Filler No | Negation No.",
        );
        check(&cues("谢谢！好的。不要"), "Filler 谢谢！好的。不要 | Filler 好的。不要 | Negation 不要");
    }

    #[test]
    fn negations_in_several_languages() {
        check(&cues("We don't use it at 5 km. That's great!"), "Negation don't | Filler That's");
        check(&cues("¡No lo hagas! Vielen Dank!"), "Negation No | Filler Vielen");
    }

    #[test]
    fn corrections_only_open_units() {
        check(
            &cues("Actually, use five. It is actually five. Scratch that."),
            "Correction Actually, | Correction Scratch",
        );
        check(
            &cues("No, use ten. Wait, stop. Wait for it. I was wrong."),
            "Correction No, | Negation No, | Correction Wait, | Correction I",
        );
    }

    #[test]
    fn status_words_count_in_capitals() {
        check(&cues("it is an error\nthe ERROR stays"), "Status ERROR");
    }

    #[test]
    fn questions_reasons_and_decisions() {
        check(
            &cues("As a result we agreed. Why so? However, it is required, therefore do."),
            "Reasoning result | Decision agreed. | Question ? | Emphasis However, | Obligation required, | Reasoning therefore",
        );
    }
}

#[test]
fn counts_are_those_of_the_text() {
    with("Añ 1;\n我 １", |view| {
        let counts = view.counts;
        assert_eq!((counts.chars, counts.digits, counts.special, counts.longest_piece), (9, 2, 1, 3));
    });
}

/// Spans are inside the text, on character boundaries, sorted; units cover every character that counts.
fn assert_sound(text: &str) {
    with(text, |view| {
        let inside = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
        assert!(view.lines.iter().all(|line| inside(line.span)), "lines are pieces of the text");
        assert!(
            view.units.iter().all(|unit| inside(unit.span) && !unit.span.is_empty()),
            "units are pieces of the text"
        );
        assert!(view.units.iter().all(|unit| unit.span.of(text).chars().count() == unit.n_chars as usize));
        assert!(
            view.facts.iter().all(|fact| inside(fact.span) && !fact.span.is_empty()),
            "facts are pieces of the text"
        );
        assert!(view.cues.iter().all(|cue| text.is_char_boundary(cue.at as usize)), "cues are places of the text");
        assert!(view.fences.iter().all(|fence| inside(fence.span) && inside(fence.body)));
        assert!(view.lines.is_sorted_by(|a, b| a.span.end <= b.span.start));
        assert!(view.units.is_sorted_by(|a, b| a.span.end <= b.span.start), "units do not overlap");
        assert!(view.facts.is_sorted_by_key(|fact| fact.span.start));
        assert!(view.cues.is_sorted_by_key(|cue| cue.at));
        assert_eq!(view.counts.chars as usize, text.chars().count());
        assert_covered(view);
    });
}

/// Every character is in a unit or a fence, but for blanks, the markers of list items and the lines under headings.
fn assert_covered(view: &TextView<'_>) {
    let text = view.text;
    let mut spans: Vec<Span> =
        view.units.iter().map(|unit| unit.span).chain(view.fences.iter().map(|fence| fence.span)).collect();
    for line in view.lines {
        let is_underline =
            line.kind == LineKind::Heading && line.span.of(text).trim_matches(['=', '-', ' ', '\t']).is_empty();
        let body = line.span.of(text);
        if is_underline {
            spans.push(line.span);
        } else if line.kind == LineKind::ListItem || body.trim_start().starts_with("- ") {
            let blanks = body.len() - body.trim_start().len();
            let marker = body.trim_start().split(char::is_whitespace).next().unwrap_or_default().len();
            spans.push(Span { start: line.span.start, end: line.span.start + (blanks + marker) as u32 });
        }
    }
    spans.sort();
    let mut at = 0;
    for span in spans {
        let gap = text.get(at..(span.start as usize).max(at)).expect("spans are pieces of the text");
        assert!(gap.trim().is_empty(), "{gap:?} of {text:?} is in no unit");
        at = at.max(span.end as usize);
    }
    assert!(
        text.get(at..).expect("spans are pieces of the text").trim().is_empty(),
        "the end of {text:?} is in no unit"
    );
}

/// Everything but the offsets, to compare texts that differ in their line ends.
fn outline(text: &str) -> Vec<String> {
    with(text, |view| {
        let lines = view.lines.iter().map(|line| format!("{:?} {:?} {}", line.kind, line.severity, line.span.of(text)));
        let units = view
            .units
            .iter()
            .map(|unit| format!("{:?} {} {}", unit.kind, unit.paragraph, unit.span.of(text).replace("\r\n", "\n")));
        let facts = view.facts.iter().map(|fact| format!("{:?} {}", fact.kind, fact.key));
        let cues = view.cues.iter().map(|cue| format!("{:?}", cue.kind));
        let fences = view.fences.iter().map(|fence| fence.body.of(text).replace("\r\n", "\n"));
        lines.chain(units).chain(facts).chain(cues).chain(fences).collect()
    })
}

#[test]
fn awkward_texts_are_lexed_soundly() {
    for part in [
        "\0",
        "\r",
        "\u{fffd}",
        "🧑\u{200d}🚀",
        "\"",
        "“",
        "`",
        "```\n",
        "a.",
        "- ",
        "\u{a0}",
        "。",
        "1,",
        "$",
        "\\",
        "5月",
        "#",
        "\r\n",
        "|",
        "('",
    ] {
        assert_sound(&part.repeat(700));
    }
    assert_sound("");
}

const AWKWARD: &str = "([a-zA-Z0-9 .,:;!?'\"`~#*|<>{}()/\\\\@$%_=+\\n\\t-]|[äÖß“”。！、日本語元５🎉\u{200d}\u{0}\u{fffd}\u{a0}]|\\n- |\\n```|\\n---\\n|Error|not |[a-z]{1,9}[ .,]|Use ){0,120}";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_lexed_soundly(text in AWKWARD) {
        assert_sound(&text);
    }

    #[test]
    fn line_ends_make_no_difference(text in AWKWARD) {
        prop_assert_eq!(outline(&text), outline(&text.replace('\n', "\r\n")));
    }

    #[test]
    fn a_text_is_lexed_alike_after_others(text in AWKWARD, other in AWKWARD) {
        let mut lexer = Lexer::default();
        lexer.lex(&other);
        let second = lexer.lex(&text);
        let found = lexer.view(&text, &second).facts.to_vec();
        prop_assert_eq!(found, with(&text, |view| view.facts.to_vec()));
    }
}

/// What stays as it is is not looked at for units and lines; what it states is the same.
#[test]
fn texts_of_corpora_that_stay_have_the_same_facts() {
    let mut lexer = Lexer::default();
    let mut n_facts = 0;
    let generated = ("generated".to_owned(), records(200, 3));
    for record in corpora::lines().into_iter().chain([generated]).flat_map(|(_, lines)| lines) {
        let Some(Ok(decoded)) = shape::detect(&record).map(|shape| shape::decode(&record, shape, "c")) else {
            continue;
        };
        for text in decoded.conversation.messages.iter().flat_map(Message::texts) {
            lexer.clear();
            let (whole, kept) = (lexer.lex(text), lexer.lex_kept(text));
            assert_eq!(lexer.view(text, &whole).facts, lexer.view(text, &kept).facts, "{text}");
            n_facts += lexer.view(text, &kept).facts.len();
        }
    }
    assert!(n_facts > 1_000, "{n_facts}");
}
