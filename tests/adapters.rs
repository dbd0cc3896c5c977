//! What the adapters make of texts of their formats, whole results; when they take a text and when they leave it.

use std::fmt::Write as _;
use std::sync::Arc;

use condenser::model::{AdapterName, CompressionDepth, Conversation, EngineOptions, Reason};
use condenser::shape;
use condenser::stage::classify::{Depth, judge};
use condenser::stage::{Adapt, Claim, Detector, GroupKind, Plan, Profiles, Stage, View};
use condenser::summary::{Adapter, Hints, Spoken, Style, Voice, Wanted, Wrap, adapters, pays};
use condenser::text::{Lexer, TextView};

use crate::support::growth::check_pieces;
use crate::support::talk;

const ALL: [AdapterName; 7] = [
    AdapterName::Diff,
    AdapterName::JsonLines,
    AdapterName::Csv,
    AdapterName::Log,
    AdapterName::Xml,
    AdapterName::Yaml,
    AdapterName::Markdown,
];

fn is_protected(text: &TextView<'_>) -> bool {
    judge(text, Depth::Decide).is_hard()
}

/// The result, when the adapter takes the text. Proves that everything it quotes stands in the text.
#[track_caller]
fn adapted(name: AdapterName, text: &str) -> Option<String> {
    adapted_at(CompressionDepth::Gentle, name, text)
}

#[track_caller]
fn adapted_at(depth: CompressionDepth, name: AdapterName, text: &str) -> Option<String> {
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    let view = lexer.view(text, &lexed);
    let adapter = adapters(&[name]).remove(0);
    if pays(&*adapter, &view, &is_protected) != Some(true) {
        return None;
    }
    let wrap = Wrap { embedded_id: None, n_messages: 1 };
    let wanted = Wanted { wrap: &wrap, style: Style::new(depth), is_protected: &is_protected };
    let draft =
        adapter.compress(&Spoken { view, voice: Voice::Program, hints: Hints::default() }, &wanted).expect("it pays");
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let source = flat(text);
    for quote in draft.quoted() {
        let quoted = flat(draft.text.get(quote).unwrap());
        assert!(source.contains(&quoted), "{quoted:?} is no quote");
    }
    Some(draft.text)
}

/// The adapter that takes the text, of all.
fn taken_by(text: &str) -> Option<Reason> {
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    let view = lexer.view(text, &lexed);
    adapters(&ALL)
        .iter()
        .find(|adapter| pays(&***adapter, &view, &is_protected) == Some(true))
        .map(|adapter| adapter.reason())
}

/// What the stage claims for which adapter of `names`, per message.
fn claims(names: &[AdapterName], messages: &[(&str, &str)]) -> Vec<Option<usize>> {
    let record = talk::record(messages);
    let decoded = shape::decode(&record, shape::detect(&record).unwrap(), "talk").unwrap();
    let conversation: &Conversation<'_> = &decoded.conversation;
    let mut profiles = Profiles::default();
    profiles.measure(conversation);
    profiles.lex(conversation);
    let options = EngineOptions::default();
    let view = View { conversation, profiles: &profiles, options: &options, recency_start: 99, depth: Depth::Decide };
    let detector =
        |adapter: Arc<dyn Adapter>| -> Detector { Box::new(move |text| adapter.detect(text).then_some(true)) };
    let mut plan = Plan::new(messages.len());
    Adapt::new(adapters(names).into_iter().map(detector).collect()).claim(&view, &mut plan);
    (0..messages.len())
        .map(|index| match plan.claim_of(index) {
            Some(Claim::Group(group)) => match plan.groups[*group].kind {
                GroupKind::Adapter(adapter) => Some(adapter),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

const YAML: &str = "\
service: billing
replicas: 3
owner: payments
description: This service writes an invoice for every order that went out. It was moved from the old \
monolith in spring and nobody has looked at its queues since. It must never run twice for the same order.
database:
  host: db-7.example.net
  port: 5432
";

const XML: &str = "\
<config version=\"2\">
  <service name=\"billing\" port=\"8080\"/>
  <!-- The billing service was moved here in spring. Somebody wanted to see whether it would be any quicker. \
It must not be moved again before invoice run 4471 is over. -->
  <description>The service writes an invoice for every order that went out &amp; sends it. People have liked \
the new letters since the summer. It must never run twice for the same order.</description>
</config>";

#[test]
fn a_yaml_file_keeps_its_keys_and_shortens_its_long_values() {
    assert_eq!(
        adapted(AdapterName::Yaml, YAML).as_deref(),
        Some(
            "\
service: billing
replicas: 3
owner: payments
description: >-
  [summary: This service writes an invoice for every order that went out. ... It must never run twice for the same order.]
database:
  host: db-7.example.net
  port: 5432
"
        )
    );
}

#[test]
fn an_xml_file_keeps_its_tags_and_shortens_texts_and_comments_in_place() {
    assert_eq!(
        adapted(AdapterName::Xml, XML).as_deref(),
        Some(
            "\
<config version=\"2\">
  <service name=\"billing\" port=\"8080\"/>
  <!-- [summary: It must not be moved again before invoice run 4471 is over.] -->
  <description>[summary: People have liked the new letters since the summer. It must never run twice for the same \
order.]</description>
</config>"
        )
    );
}

#[test]
fn the_stage_takes_yaml_and_xml_before_a_rule_can_keep_them_for_their_structure() {
    let messages = [("user", YAML), ("user", XML), ("user", "Thanks.")];
    assert_eq!(claims(&[AdapterName::Xml, AdapterName::Yaml], &messages), [Some(1), Some(0), None]);
    assert_eq!(claims(&[AdapterName::Markdown], &messages), [None, None, None]);
    assert_eq!(claims(&[], &messages), [None, None, None]);
}

#[test]
fn a_text_with_a_secret_is_left_alone() {
    let with_key = YAML.replace("owner: payments", "token: ghp_0123456789abcdefABCDEF0123456789abcd");
    assert_eq!(claims(&ALL, &[("user", &with_key)]), [None]);
}

#[test]
fn escapes_in_xml_stay_whole() {
    let text = format!(
        "<a><b>{}</b><b>x</b></a>",
        "Fish &amp; chips were sold for 4 &lt; 5 coins at the old harbour. ".repeat(6)
    );
    let result = adapted(AdapterName::Xml, &text).unwrap();
    assert!(result.starts_with("<a><b>[summary: ") && result.ends_with("</b><b>x</b></a>"), "{result}");
    for rest in result.split('&').skip(1) {
        assert!(rest.starts_with("amp;") || rest.starts_with("lt;"), "{result}");
    }
}

#[test]
fn what_is_code_inside_xml_stays() {
    let code = "const total = items.reduce((sum, item) => sum + item.price, 0); if (total > limit) { reject(order); } ";
    assert_eq!(adapted(AdapterName::Xml, &format!("<page><script>{}</script></page>", code.repeat(9))), None);
}

#[test]
fn long_lists_in_yaml_show_their_ends_and_what_stands_out() {
    let mut text = String::from("disks:\n");
    for id in 1..=30 {
        let state = if id == 17 { "failed: no answer" } else { "ok" };
        writeln!(text, "  - id: {id}\n    kind: ssd\n    state: \"{state}\"").unwrap();
    }
    assert_eq!(
        adapted(AdapterName::Yaml, &(text + "rack: 7\n")).as_deref(),
        Some(
            "\
disks:
  - id: 1
    kind: ssd
    state: \"ok\"
  - id: 2
    kind: ssd
    state: \"ok\"
  # [… 14 items — id: 3 to 16; kind: ssd; state: ok]
  - id: 17
    kind: ssd
    state: \"failed: no answer\"
  # [… 12 items — id: 18 to 29; kind: ssd; state: ok]
  - id: 30
    kind: ssd
    state: \"ok\"
rack: 7
"
        )
    );
}

#[test]
fn markdown_keeps_headings_lists_tables_and_code() {
    let text = "\
# Move of the billing service

The service was moved in spring because the old machine was too slow for the invoices of December. Nobody liked \
the way it had been set up there. The queue is now called invoice_jobs and must never be purged by hand.

## Steps

1. Stop the old worker.
2. Copy the queue.

```sh
copy_queue --from old --to invoice_jobs
```

| host | role |
|---|---|
| db-7 | primary |

## After the move

The old machine is still running, and people may be tempted to use it. It costs nothing for the time being and \
there was some talk of keeping it. It will be switched off on 2024-05-01, whatever anybody says until then.
";
    assert_eq!(
        adapted(AdapterName::Markdown, text).as_deref(),
        Some(
            "\
# Move of the billing service

[summary: Nobody liked the way it had been set up there. The queue is now called invoice_jobs and must never be purged \
by hand. | entities: December]

## Steps

1. Stop the old worker.
2. Copy the queue.

```sh
copy_queue --from old --to invoice_jobs
```

| host | role |
|---|---|
| db-7 | primary |

## After the move

[summary: It costs nothing for the time being and there was some talk of keeping it. | entities: 2024-05-01]
"
        )
    );
}

#[test]
fn a_message_that_is_mostly_prose_with_a_fence_is_not_taken() {
    let text = format!("{}\n\n```sh\nmake\n```\n\n{}", talk::prose(600), talk::prose(300));
    assert_eq!(taken_by(&text), None);
    assert_eq!(taken_by(&talk::prose(2_000)), None);
    assert_eq!(taken_by("Note: please call back.\nReminder: the key is under the mat.\nThanks: to all."), None);
}

#[test]
fn csv_shows_the_rows_that_stand_out_and_describes_the_others() {
    let mut text = String::from("id,city,amount,state\n");
    for id in 1..=40 {
        let city = ["Oslo", "Lima", "Pune"][id % 3];
        let (amount, state) = match id {
            9 => (9_999, "ok"),
            21 => (120, "failed"),
            _ => (100 + id, "ok"),
        };
        writeln!(text, "{id},{},{amount},{state}", if id == 33 { "" } else { city }).unwrap();
    }
    assert_eq!(
        adapted(AdapterName::Csv, &text).as_deref(),
        Some(
            "\
id,city,amount,state
1,Lima,101,ok
2,Pune,102,ok
3,Oslo,103,ok
[… 5 rows]
9,Oslo,9999,ok
[… 11 rows]
21,Oslo,120,failed
[… 11 rows]
33,,133,ok
[… 6 rows]
40,Lima,140,ok
[33 of 40 rows left out — id: 4 to 39; city: Lima ×12, Pune ×12, Oslo ×9; amount: 104 to 139; state: ok]
"
        )
    );
}

#[test]
fn json_lines_show_their_ends_and_what_stands_out() {
    let mut text = String::new();
    for id in 1..=30 {
        let state = if id == 12 { "error: disk full" } else { "ok" };
        writeln!(text, "{{\"id\": {id}, \"host\": \"web-1\", \"state\": \"{state}\"}}").unwrap();
    }
    assert_eq!(
        adapted(AdapterName::JsonLines, &text).as_deref(),
        Some(
            "\
{\"id\": 1, \"host\": \"web-1\", \"state\": \"ok\"}
{\"id\": 2, \"host\": \"web-1\", \"state\": \"ok\"}
{\"id\": 3, \"host\": \"web-1\", \"state\": \"ok\"}
[… 8 records]
{\"id\": 12, \"host\": \"web-1\", \"state\": \"error: disk full\"}
[… 17 records]
{\"id\": 30, \"host\": \"web-1\", \"state\": \"ok\"}
[25 of 30 records left out — id: 4 to 29; host: web-1; state: ok]
"
        )
    );
}

#[test]
fn a_large_json_document_is_compressed_by_its_structure() {
    let users: Vec<String> =
        (0..40).map(|id| format!("{{\"id\": {id}, \"email\": \"u{id}@example.org\", \"role\": \"member\"}}")).collect();
    let text = format!("{{\"total\": 40, \"users\": [{}], \"next\": null}}", users.join(", "));
    let result = adapted(AdapterName::JsonLines, &text).unwrap();
    assert!(result.starts_with("{\"total\": 40, \"users\": [{\"id\": 0, \"email\": \"u0@example.org\""), "{result}");
    assert!(result.contains("[… 36 items — id: 3 to 38; email: all different; role: member]"), "{result}");
    assert!(result.ends_with("\"email\": \"u39@example.org\", \"role\": \"member\"}], \"next\": null}"), "{result}");
}

#[test]
fn a_diff_keeps_every_changed_line_and_thins_out_the_others() {
    let context =
        |from: usize| (from..from + 8).map(|n| format!(" let unchanged_value_{n} = load({n});\n")).collect::<String>();
    let text = format!(
        "diff --git a/src/pay.rs b/src/pay.rs\n--- a/src/pay.rs\n+++ b/src/pay.rs\n@@ -1,17 +1,18 @@\n{}-old();\n+new();\n+    + ✓ kept\n{}",
        context(1),
        context(9)
    );
    assert_eq!(
        adapted(AdapterName::Diff, &text).as_deref(),
        Some(
            "\
diff --git a/src/pay.rs b/src/pay.rs
--- a/src/pay.rs
+++ b/src/pay.rs
@@ -1,17 +1,18 @@
[… 7 unchanged lines]
 let unchanged_value_8 = load(8);
-old();
+new();
+    + ✓ kept
 let unchanged_value_9 = load(9);
[… 7 unchanged lines]
"
        )
    );
}

#[test]
fn changes_of_lock_files_are_counted() {
    let hunk: String =
        (1..=30).map(|n| format!("-  \"version\": \"1.{n}.0\",\n+  \"version\": \"2.{n}.0\",\n")).collect();
    let text = format!(
        "diff --git a/package-lock.json b/package-lock.json\n--- a/package-lock.json\n+++ b/package-lock.json\n@@ -1,30 +1,30 @@\n{hunk}diff --git a/a.js b/a.js\n--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-a\n+b\n"
    );
    assert_eq!(
        adapted(AdapterName::Diff, &text).as_deref(),
        Some(
            "\
diff --git a/package-lock.json b/package-lock.json
--- a/package-lock.json
+++ b/package-lock.json
[… 1 hunk of a generated file: 30 lines added, 30 removed]
diff --git a/a.js b/a.js
--- a/a.js
+++ b/a.js
@@ -1 +1 @@
-a
+b
"
        )
    );
}

fn server_log() -> String {
    let mut text = String::new();
    for n in 0..40 {
        let (minute, second) = (n / 60, n % 60);
        let line = match n {
            25 => "FATAL out of memory in invoiceRenderer pid 4412".to_owned(),
            26 => "INFO  worker 3 restarted".to_owned(),
            _ => format!("INFO  rendered invoice {} in {} ms", 7_000 + n, 12 + n % 5),
        };
        writeln!(text, "2024-05-01 10:{minute:02}:{second:02} {line}").unwrap();
    }
    text
}

#[test]
fn a_log_shows_failures_with_their_surroundings_and_counts_the_rest() {
    assert_eq!(
        adapted(AdapterName::Log, &server_log()).as_deref(),
        Some(
            "\
2024-05-01 10:00:00 INFO  rendered invoice 7000 in 12 ms [×38, until 2024-05-01 10:00:39]
[… 23 lines of the kinds above]
2024-05-01 10:00:24 INFO  rendered invoice 7024 in 16 ms
2024-05-01 10:00:25 FATAL out of memory in invoiceRenderer pid 4412
2024-05-01 10:00:26 INFO  worker 3 restarted
2024-05-01 10:00:27 INFO  rendered invoice 7027 in 14 ms
[… 10 lines of the kinds above]
2024-05-01 10:00:38 INFO  rendered invoice 7038 in 15 ms
2024-05-01 10:00:39 INFO  rendered invoice 7039 in 16 ms
"
        )
    );
}

#[test]
fn every_format_has_an_adapter_and_takes_its_own() {
    assert_eq!(taken_by(&server_log()), Some(Reason::AdapterLog));
    assert_eq!(taken_by(YAML), Some(Reason::AdapterYaml));
    assert_eq!(taken_by(XML), Some(Reason::AdapterXml));
    let names: Vec<String> = adapters(&ALL).iter().map(|adapter| format!("adapter:{}", adapter.name())).collect();
    let reasons: Vec<&str> = adapters(&ALL).iter().map(|adapter| adapter.reason().as_str()).collect();
    assert_eq!(names, reasons);
}

#[test]
fn what_test_runners_print_is_no_table_and_imports_are_none() {
    let tests: String = (1..=14).map(|n| format!("ok  \texample.org/shop/part{n}\t0.{n}s\n")).collect();
    assert_eq!(adapted(AdapterName::Csv, &tests), None);
    let code: String = (1..=20).map(|n| format!("{n:>6}→\t\"example.org/shop/part{n}\"\n")).collect();
    assert_eq!(adapted(AdapterName::Csv, &code), None);
    let lines: String = (1..=20).map(|n| format!("In the end, as he said, nothing came of plan {n}.\n")).collect();
    assert_eq!(adapted(AdapterName::Csv, &lines), None);
}

#[test]
fn numbers_of_viewers_before_the_lines_make_no_difference() {
    let text = YAML
        .replace("People", "Somebody")
        .replace("monolith in", "monolith, which was slow and old and liked by nobody, in");
    let numbered: String = text.lines().enumerate().map(|(n, line)| format!("{:>6}→{line}\n", n + 1)).collect();
    let result = adapted(AdapterName::Yaml, &numbered).unwrap();
    assert!(result.contains("same order.]\n     5→database:"), "{result}");
}

#[test]
fn tables_are_shorter_where_summaries_are() {
    let text: String = (1..=30).map(|id| format!("{{\"id\": {id}, \"name\": \"n{id}\"}}\n")).collect();
    let gentle = adapted(AdapterName::JsonLines, &text).unwrap();
    let tight = adapted_at(CompressionDepth::Aggressive, AdapterName::JsonLines, &text).unwrap();
    assert!(
        tight.len() < gentle.len() && tight.starts_with("{\"id\": 1,") && tight.contains("[… 28 records"),
        "{tight}"
    );
}

/// Hostile texts: four times the text takes no more than ten times the time.
#[test]
fn hostile_texts_take_linear_time() {
    let pieces = [
        "<",
        "<a ",
        "<a \"",
        "<!--",
        "<a>",
        "<pre>",
        ",",
        "a,b\n",
        "\",",
        "\"\n",
        "[1/2]\n",
        "- ",
        "- a\n",
        "a: |\n",
        "a:\n ",
        "# a\n",
        "## a\nb ",
        "{\"a\":1}\n",
        "{\"a\":",
        "[",
        "[{},",
        "@@ -1,9 +1,9 @@\n",
        "--- a\n",
        " a\n",
        "diff --git a b\n",
        "2024-05-01 10:00:00 ERROR a\n",
        "ERROR\n  at a.b(c:1)\n",
        "&",
        "\t",
        "    - a\n",
    ];
    let all = adapters(&ALL);
    check_pieces(&pieces, |text| {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let view = lexer.view(text, &lexed);
        let wrap = Wrap::default();
        let wanted = Wanted { wrap: &wrap, style: Style::new(CompressionDepth::Gentle), is_protected: &is_protected };
        for adapter in &all {
            std::hint::black_box(adapter.detect(&view));
            std::hint::black_box(
                adapter.compress(&Spoken { view, voice: Voice::Program, hints: Hints::default() }, &wanted),
            );
        }
    });
}

#[test]
fn a_message_whose_adapter_does_not_pay_is_kept_with_its_headings() {
    let said = |what: &str| {
        format!(
            "The {what} of an order are added up in one place and nowhere else, since nobody could say any more in \
            the spring of last year where the amounts on the invoices of the shop in the old town had come from."
        )
    };
    let page = format!("# Prices\n\n{}\n\n## How\n\n{}\n\n## Why\n\n{}\n", said("prices"), said("taxes"), said("fees"));
    let options = |adapters| EngineOptions { adapters, ..talk::all() };
    let kept = talk::compress(&[("user", page.as_str())], &options(vec![AdapterName::Markdown]));
    kept.because(0, Reason::AdapterReverted).shows("## How").shows("## Why");
}
