//! One named test per weakness that engines of this kind have had (the letters are those of the list in the
//! project's specification): same situation, own texts, the better behaviour.

use condenser::engine::Engine;
use condenser::model::{Action, EngineOptions, HideBy, ProvenancePlace, Reason, ShapeName, summary_id};
use condenser::shape::{self, VerbatimMap};
use condenser::stage::{About, GroupKind, Plan, Stage, View};
use serde_json::json;

use crate::support::talk::{all, compress, compress_record, compress_staged, prose, record, record_of};

/// Claims the groups that a test asks for.
#[derive(Debug)]
struct Claims(Vec<Vec<usize>>);

impl About for Claims {
    fn name(&self) -> &'static str {
        "claims"
    }
}

impl Stage for Claims {
    fn claim(&self, _: &View<'_>, plan: &mut Plan) {
        for members in &self.0 {
            plan.group(members.clone(), GroupKind::Summary);
        }
    }
}

/// Settings: structure that no summary takes, so that a reference is shorter than two copies.
fn lines(name: &str) -> String {
    (0..40).map(|i| format!("{name}_{i}: value of the setting\n")).collect()
}

fn with_metadata() -> EngineOptions {
    EngineOptions { provenance: ProvenancePlace::Metadata, ..all() }
}

// A. Nothing is lost.

#[test]
fn a1_overlapping_units_cannot_duplicate_a_message() {
    let talk =
        record(&[("user", &prose(300)), ("user", &prose(400)), ("assistant", &prose(500)), ("user", &prose(350))]);
    let done = compress_staged(&talk, vec![Box::new(Claims(vec![vec![0, 1], vec![1, 2], vec![3]]))]);
    assert_eq!(done.sources, [vec![0, 1], vec![2], vec![3]]);
}

#[test]
fn a2_a_unit_with_a_gap_is_restored_in_order() {
    let talk =
        record(&[("user", &prose(300)), ("user", &prose(400)), ("assistant", &prose(500)), ("user", &prose(350))]);
    let done = compress_staged(&talk, vec![Box::new(Claims(vec![vec![0, 2], vec![1, 3]]))]);
    assert_eq!(done.sources, [vec![0, 2], vec![1, 3]]);
}

#[test]
fn a3_a_second_round_never_overwrites_an_original() {
    let long: Vec<String> = (0..12).map(|i| format!("{} Round {i} uses queue number {i}.", prose(600))).collect();
    let messages: Vec<serde_json::Value> = long
        .iter()
        .enumerate()
        .map(|(i, text)| json!({"id": format!("m{i}"), "role": if i % 2 == 0 { "user" } else { "assistant" }, "content": text}))
        .collect();
    let first = record_of(&messages);
    let (once, map1) = round(&first);
    // The conversation goes on, so that the second round has something to do and compacts the summaries too.
    let mut grown: serde_json::Value = serde_json::from_str(&once).expect("a record");
    let list = grown["messages"].as_array_mut().expect("messages");
    for i in 12..16 {
        list.push(json!({"id": format!("m{i}"), "role": if i % 2 == 0 { "user" } else { "assistant" }, "content": format!("{} Later {i}.", prose(700))}));
    }
    let second = grown.to_string();
    let (twice, map2) = round(&second);
    assert_ne!(once, twice);
    // Later maps laid over earlier ones, as users do.
    let merged = format!(
        "{},{}",
        map1.trim_end().strip_suffix('}').expect("an object"),
        map2.trim_start().strip_prefix('{').expect("an object")
    );
    let (record, back) = expand(&twice, &merged, true);
    assert_eq!(back.missing_ids, Vec::<String>::new());
    let back: serde_json::Value = serde_json::from_str(&record).expect("a record");
    for (i, text) in long.iter().enumerate() {
        assert_eq!(back["messages"][i]["content"], json!(text), "message {i}");
        assert_eq!(back["messages"][i]["id"], json!(format!("m{i}")));
    }
}

/// One round with provenance in the metadata: the output and its verbatim map.
fn round(record: &str) -> (String, String) {
    let engine = Engine::new(with_metadata()).expect("options");
    let decoded = shape::decode(record, ShapeName::Cce, "c").expect("a record");
    let condensed = engine.condense(&decoded.conversation, &mut condenser::engine::Scratch::default());
    let map = shape::verbatim_map(&decoded, &condensed).expect("unique keys");
    (decoded.condensed_record(&condensed, ProvenancePlace::Metadata), map)
}

fn expand(record: &str, map: &str, recursive: bool) -> (String, shape::Uncompressed) {
    let map = VerbatimMap::read(map).expect("a map");
    shape::uncompress_record(record, ShapeName::Cce, &map, recursive).expect("a conversation")
}

#[test]
fn a4_repeated_ids_come_back_with_their_own_content() {
    let messages = [
        json!({"id": "x", "role": "user", "content": prose(300)}),
        json!({"id": "y", "role": "assistant", "content": prose(400)}),
        json!({"id": "x", "role": "user", "content": prose(500)}),
    ];
    let (output, map) = round(&record_of(&messages));
    let (back, _) = expand(&output, &map, false);
    assert_eq!(back, record_of(&messages));
}

#[test]
fn a5_untouched_messages_get_no_metadata() {
    let talk = record(&[("user", "Short."), ("assistant", &prose(900)), ("user", "Thanks a lot.")]);
    let done = compress_record(&talk, &with_metadata());
    let out: serde_json::Value = serde_json::from_str(&done.record).expect("a record");
    assert!(out["messages"][0].get("metadata").is_none());
    assert!(out["messages"][1]["metadata"]["_cce_original"]["ids"].is_array());
    assert!(out["messages"][2].get("metadata").is_none());
}

#[test]
fn a6_protected_tool_output_is_never_trimmed() {
    let checks: String = (0..40).map(|i| format!("✓ renders the panel number {i} without a warning\n")).collect();
    let talk = record_of(&[
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": checks}),
    ]);
    let options = EngineOptions { preserve: vec!["system".into(), "tool".into()], ..all() };
    compress_record(&talk, &options).is(1, Action::Preserved).because(1, Reason::PreservedRole);
    compress_record(&talk, &EngineOptions { recency_window: 10, ..all() }).because(1, Reason::RecencyWindow);
    compress_record(&talk, &all()).is(1, Action::Compressed);
}

#[test]
fn a7_the_store_holds_copies() {
    let (output, map) = {
        let source = record(&[("user", &prose(900))]);
        round(&source)
    };
    let (back, _) = expand(&output, &map, false);
    assert_eq!(back, record(&[("user", &prose(900))]));
}

#[test]
fn a8_odd_keys_are_ordinary_keys() {
    let messages = [
        json!({"id": "__proto__", "role": "user", "content": prose(300)}),
        json!({"id": "", "role": "assistant", "content": prose(400)}),
        json!({"id": 7, "role": "user", "content": prose(500)}),
    ];
    let (output, map) = round(&record_of(&messages));
    let parsed = VerbatimMap::read(&map).expect("a map");
    assert!(parsed.message("__proto__").is_some());
    assert!(parsed.message("constructor").is_none());
    let (back, _) = expand(&output, &map, false);
    assert_eq!(back, record_of(&messages));

    let reference = record_of(&[json!({"id": "a", "role": "user", "content": "[summary: x]",
        "metadata": {"_cce_original": {"ids": ["constructor"], "summary_id": "cce_sum_1", "version": 0}}})]);
    let (record, back) = expand(&reference, &map, false);
    assert_eq!((back.missing_ids, record), (vec!["constructor".to_owned()], reference.clone()));
}

#[test]
fn a9_a_partly_missing_group_keeps_its_summary() {
    let summary =
        record_of(&[json!({"id": "a", "role": "user", "content": "[summary: both things (2 messages merged)]",
        "metadata": {"_cce_original": {"ids": ["a", "b"], "summary_id": summary_id(&["a", "b"]), "version": 0}}})]);
    let map = r#"{"a": {"id": "a", "role": "user", "content": "first thing"}}"#;
    for recursive in [false, true] {
        let (record, back) = expand(&summary, map, recursive);
        assert_eq!(back.missing_ids, ["b"]);
        assert_eq!(record, summary);
    }
}

// B. The visible text keeps what matters.

fn test_run(n_pass: usize) -> String {
    let mut text: String = (0..n_pass).map(|i| format!("PASS src/checkout/basket{i}.test.ts (0.{i} s)\n")).collect();
    text.push_str("FAIL src/checkout/payment.test.ts\nERROR TypeError: amount is undefined (chargeCard)\n");
    text.push_str(&format!("Tests: 1 failed, {n_pass} passed, {} total\n", n_pass + 1));
    text
}

#[test]
fn b1_failures_and_totals_outrank_passes() {
    let done = compress(&[("tool", &test_run(24))], &all());
    done.is(0, Action::Compressed)
        .shows("FAIL src/checkout/payment.test.ts")
        .shows("ERROR TypeError: amount is undefined (chargeCard)")
        .shows("Tests: 1 failed, 24 passed, 25 total");
}

#[test]
fn b2_negations_and_facts_are_no_filler() {
    let text = "It was nice to see so many of you at the picnic and I hope that the weather will stay like this. \
        No customers were affected by the billing outage. So the refund job must not run. \
        Now the paymentService uses idempotencyKey in every call. I can reproduce the crash in parseInvoice. \
        The cake that somebody brought was really good and a few of us would love to get the recipe some day. \
        People stayed until the late evening and talked about their holidays and about what they had been reading.";
    compress(&[("user", text)], &all())
        .is(0, Action::Compressed)
        .shows("must not run")
        .shows("paymentService uses idempotencyKey")
        .shows("parseInvoice");
}

#[test]
fn b3_a_correction_is_visible_beside_what_it_corrects() {
    let before = "Please use the Redis cluster for the sessionStore of the shop and set the timeout at 30 minutes for every signed-in visitor of the site.";
    let after = "Actually, do not use the Redis cluster for the sessionStore, keep it in PostgreSQL and set the timeout at 10 minutes for every visitor.";
    compress(&[("user", &prose(300)), ("user", before), ("user", after)], &all())
        .shows("10 minutes")
        .shows("do not use the Redis cluster");
}

#[test]
fn b4_code_stays_visible_whatever_follows() {
    let code = format!(
        "{} This is the client.\n\n```python\ndef retry(call):\n    return call(attempts=5)\n```\n",
        prose(400)
    );
    let correction = format!("Actually, the retry policy of the payment client must be exponential. {}", prose(200));
    compress(&[("assistant", &code), ("user", &correction)], &all())
        .shows("```python\ndef retry(call):\n    return call(attempts=5)\n```");
}

#[test]
fn b5_list_items_and_unfinished_sentences_are_candidates() {
    let list = format!(
        "Here is the plan for the weekend as we talked about it in the kitchen.\n- run prisma migrate deploy on primaryDb first\n\
         - set MAX_POOL_SIZE=50 before restart\n- rollback with restoreSnapshot if p99 exceeds 900ms\n{}\n\
         Finally the key point is never to restart authService",
        prose(500)
    );
    compress(&[("assistant", &list)], &all())
        .shows("primaryDb")
        .shows("MAX_POOL_SIZE=50")
        .shows("never to restart authService");
    let decision = format!("{} The DECISION is to use vendor Zeta with contract Z-9912 from July 1", prose(1_500));
    compress(&[("user", &decision)], &all()).shows("contract Z-9912 from July 1");
}

#[test]
fn b6_dots_do_not_split_hosts_versions_paths_and_decimals() {
    let text = format!(
        "{} Production runs on host redis-prod-001.abc123.usw2.cache.example.com:6379 with Node v22.3.0 since Monday. \
         The pool in src/db/pool.ts sets acquireTimeout to 30.5 seconds. {}",
        prose(300),
        prose(400)
    );
    compress(&[("user", &text)], &all())
        .shows("redis-prod-001.abc123.usw2.cache.example.com:6379 with Node v22.3.0")
        .shows("src/db/pool.ts sets acquireTimeout to 30.5 seconds.");
}

#[test]
fn b7_entities_of_every_kind_are_found() {
    let filler = prose(2_400);
    let text = format!(
        "{filler} The list was MAX_RETRIES=5 and userID and parseJSON, base64Encode, kebab-case-name, PR #142, commit e4b2c1f, \
         10.0.0.1, 2024-05-01, $500, 0x1F, getHTTPResponse, OAuth2Token, user_id2 with a latency of 30s for 7d, and so on and so on, \
         which somebody read aloud in one long breath while all of the others were looking for their cups and plates and spoons, \
         because nobody had told them beforehand that there would be something to write down on that quiet afternoon in the garden."
    );
    let done = compress(&[("user", &text)], &all());
    for entity in [
        "MAX_RETRIES",
        "userID",
        "parseJSON",
        "base64Encode",
        "#142",
        "e4b2c1f",
        "10.0.0.1",
        "2024-05-01",
        "$500",
        "getHTTPResponse",
        "OAuth2Token",
        "user_id2",
    ] {
        done.shows(entity);
    }
    let names = format!("The Acme Corporation signed with Zeta Labs last week. {}", prose(600));
    compress(&[("user", &names)], &all()).shows("Acme Corporation").shows("Zeta Labs");
    let german = format!(
        "Es war ein schöner Tag im Garten, und alle saßen lange bei Kaffee und Kuchen zusammen. {}",
        "Danach gingen die Kinder an den Fluss und warfen Steine in das Wasser. ".repeat(8)
    );
    compress(&[("user", &german)], &all()).hides("entities: sch").hides(", sch");
}

#[test]
fn b8_every_message_of_a_merged_run_stays_visible() {
    let tickets: Vec<(String, String)> = (0..40)
        .map(|i| {
            let text = format!(
                "Ticket T-{} was opened by a customer who cannot see the invoice of last month in the portal and asks for a copy by mail as soon as it is possible.",
                4_100 + i
            );
            ("user".to_owned(), text)
        })
        .collect();
    let messages: Vec<(&str, &str)> = tickets.iter().map(|(role, text)| (role.as_str(), text.as_str())).collect();
    let done = compress(&messages, &all());
    let visible = done.visible();
    let n_visible = (0..40).filter(|i| visible.contains(&format!("T-{}", 4_100 + i))).count();
    assert_eq!(n_visible, 40, "{visible}");
}

#[test]
fn b14_fences_are_paired_as_commonmark_says() {
    let talk = prose(300);
    // (a) an empty fence does not mispair the next one.
    let empty = format!("{talk}\n\n```sh\n```\n\n{talk}\n\n```py\nprint(1)\nprint(2)\n```\n");
    compress(&[("assistant", &empty)], &all())
        .is(0, Action::CodeSplit)
        .shows("```py\nprint(1)\nprint(2)\n```")
        .shows("```sh\n```");
    // (b) a fence inside a list item.
    let indented = format!(
        "{talk}\n\n1. Do this first:\n\n    ```js\n    const rate = 5;\n    start(rate);\n    ```\n\n2. {talk}\n"
    );
    compress(&[("assistant", &indented)], &all()).shows("    ```js\n    const rate = 5;\n    start(rate);\n    ```");
    // (c) an unclosed fence runs to the end.
    let unclosed = format!("{talk}\n\n```python\ndef area(a, b):\n    return a * 0.5 * b\n");
    compress(&[("assistant", &unclosed)], &all()).shows("```python\ndef area(a, b):\n    return a * 0.5 * b\n");
    // (d) a mention is no fence.
    let mention = format!("{talk} Put the code between ``` and ``` signs please. {talk}");
    compress(&[("user", &mention)], &all()).is(0, Action::Compressed);
    // (e) tildes.
    let tildes = format!("{talk}\n\n~~~yaml\nreplicas: 3\nimage: shop:1.2\n~~~\n");
    compress(&[("assistant", &tildes)], &all())
        .is(0, Action::CodeSplit)
        .shows("~~~yaml\nreplicas: 3\nimage: shop:1.2\n~~~");
    // (f) prose after a fence stays after it.
    let after = format!(
        "{talk}\n\n```sh\nmake all\n```\n\nAfterwards the deployService must be restarted on port 8443. {talk}"
    );
    let done = compress(&[("assistant", &after)], &all());
    let visible = done.visible();
    assert!(visible.find("make all") < visible.find("deployService"), "{visible}");
}

#[test]
fn b15_unfenced_code_stays_and_the_fatal_line_of_a_log_is_seen() {
    let python = "import os\nfrom app import db\n\ndef load(path):\n  if not os.path.exists(path):\n    return None\n  with open(path) as handle:\n    return db.parse(handle.read())\n\nclass Store:\n  def get(self, key):\n    return db.get(key)\n";
    compress(&[("tool", python)], &all()).is(0, Action::Preserved).because(0, Reason::HardT0);
    let mut log: String =
        (0..20).map(|i| format!("2024-05-01 10:00:{i:02} INFO worker {i} picked up job {}\n", 900 + i)).collect();
    log.push_str("2024-05-01 10:00:21 FATAL out of memory in invoiceRenderer pid 4412\n");
    (22..40).for_each(|i| {
        log.push_str(&format!("2024-05-01 10:00:{i} INFO worker {i} is idle again and waits for work\n"));
    });
    compress(&[("tool", &log)], &all())
        .is(0, Action::Compressed)
        .shows("FATAL out of memory in invoiceRenderer pid 4412");
    let grep: String = (0..30)
        .map(|i| format!("src/module{i}/handler.ts:{}: const client = createClient(options{i});\n", 10 + i))
        .collect();
    compress(&[("tool", &grep)], &all())
        .is(0, Action::Compressed)
        .shows("src/module0/handler.ts:10")
        .shows("src/module1/handler.ts:11");
}

#[test]
fn b18_references_point_at_messages_that_stay_and_show_what_differs() {
    let same = format!("order_number: 77120\n{}", lines("garden"));
    let done = compress(&[("user", &same), ("assistant", &prose(300)), ("user", &same), ("user", &prose(350))], &all());
    done.is(0, Action::Deduped)
        .because(2, Reason::DuplicateTarget)
        .shows("[cce:dup of m2 — ")
        .shows("order_number: 77120");

    let log = |endpoint: &str| -> String {
        (0..42)
            .map(|i| if i == 20 { format!("endpoint: {endpoint}\n") } else { format!("step_{i}: nightly import\n") })
            .collect()
    };
    let options = EngineOptions { fuzzy_dedup: true, ..all() };
    let done =
        compress(&[("tool", &log("10.0.0.3")), ("assistant", "Once more."), ("tool", &log("10.0.0.9"))], &options);
    done.is(0, Action::FuzzyDeduped).shows("% match]").shows("endpoint: 10.0.0.3").shows("endpoint: 10.0.0.9");
}

#[test]
fn b20_tool_results_and_speakers_are_never_merged_and_developer_is_protected() {
    let results = record_of(&[
        json!({"role": "tool", "tool_call_id": "c1", "content": prose(600)}),
        json!({"role": "tool", "tool_call_id": "c2", "content": prose(700)}),
    ]);
    assert_eq!(compress_record(&results, &all()).sources, [[0], [1]]);
    let speakers = record_of(&[
        json!({"role": "user", "name": "Ada", "content": prose(600)}),
        json!({"role": "user", "name": "Bo", "content": prose(700)}),
        json!({"role": "user", "name": "Bo", "content": prose(650)}),
    ]);
    assert_eq!(compress_record(&speakers, &all()).sources, [vec![0], vec![1, 2]]);
    compress(&[("developer", &prose(900))], &all()).because(0, Reason::PreservedRole);
}

#[test]
fn b21_no_character_is_ever_cut() {
    let emoji = "👩‍👩‍👧‍👦".repeat(400);
    let done = compress(&[("user", &emoji)], &all());
    let visible = done.visible();
    assert!(!visible.contains('\u{FFFD}') && !visible.ends_with("\u{200D}...]"), "{visible}");
    let rest = visible.replace("👩‍👩‍👧‍👦", "");
    assert!(!rest.contains('\u{200D}'), "a family was torn apart: {rest}");
}

#[test]
fn b22_summaries_of_earlier_rounds_are_compacted_again() {
    let mut messages: Vec<serde_json::Value> = Vec::new();
    let mut sizes = Vec::new();
    for round in 0..8 {
        for i in 0..20 {
            let role = if i % 2 == 0 { "user" } else { "assistant" };
            messages.push(json!({"role": role, "content": format!("{} Item {round}-{i} goes to shelf {}.", prose(470), round * 20 + i)}));
        }
        let options = EngineOptions { hide_by: HideBy::Look, keep_first_user: false, ..EngineOptions::default() };
        let done = compress_record(&record_of(&messages), &options);
        sizes.push(done.metrics.chars_out);
        let value: serde_json::Value = serde_json::from_str(&done.record).expect("a record");
        messages = value["messages"].as_array().expect("messages").clone();
        let again = compress_record(&done.record, &options);
        assert_eq!(again.record, done.record, "a second pass over the same conversation changes nothing");
    }
    assert!(sizes[7] < sizes[1] * 2, "the size stays bounded: {sizes:?}");
}

#[test]
fn b25_text_without_punctuation_is_reached_to_its_end() {
    let words = "alpha beta gamma delta ".repeat(60);
    let text =
        format!("{words} in the middle the orderService uses port 8443 and then {words} at last the key is KMS-7781");
    compress(&[("user", &text)], &all()).is(0, Action::Compressed).shows("KMS-7781").shows("8443");
}

// C. Only structure is kept as structure.

#[test]
fn c1_english_is_not_sql() {
    for text in [
        "We should truncate the report and cascade the change to every team; the only constraint is time, so select the parts that matter from the draft and update the others where you can. It is not null and void because of that, and values differ.",
        "An integer number of seats is left, join us on the left side, and order by Friday if you want the group by the window; a boolean answer is enough for returning guests and the schema of the evening stays as it was.",
    ] {
        compress(&[("user", &format!("{text} {}", prose(300)))], &all()).is(0, Action::Compressed);
    }
    compress(
        &[(
            "user",
            &format!("Please run this: SELECT id, total FROM orders WHERE total > 100 ORDER BY id; {}", prose(300)),
        )],
        &all(),
    )
    .because(0, Reason::HardT0);
}

#[test]
fn c2_ordinary_prose_is_not_structure() {
    let talk = prose(260);
    for text in [
        format!("The basic plan costs $20 per month and the pro plan costs $45 for a year of use. {talk}"),
        format!("Note: the office is closed on Monday.\nReminder: bring the badge for the door.\n{talk}"),
        format!("The files are in src/components/dashboard/widgets/analytics/charts as before. {talk}"),
        format!("It was merged as 3f2a9c1be7d04a55c8e1f0b6a7d2c94e8b1f6a03 on Friday evening. {talk}"),
        format!("The temperature rose ±2 degrees over the day, which nobody noticed. {talk}"),
        format!("The page shows status 404 once and then works as it should. {talk}"),
        format!(
            "First we had lunch. Second we walked to the lake. In summary it was a good day. Then we had dinner. {talk}"
        ),
        format!("Shopping\nApples and pears\nBread and butter\nMilk\n\n{talk}"),
        format!("# Plans\n\n{talk}\n\n## Later\n\nSoon.\n\n{talk}{talk}{talk}"),
    ] {
        compress(&[("user", &text)], &all()).is(0, Action::Compressed);
    }
}

#[test]
fn c3_documents_in_markdown_are_not_kept_whole() {
    let page = format!(
        "# Guide\n\n{}\n\n## Setup\n\n- first copy the folder to the server\n- then start the service\n\n{}\n",
        prose(600),
        prose(900)
    );
    compress(&[("assistant", &page)], &all()).is(0, Action::Compressed);
}

#[test]
fn c4_own_words_that_begin_like_a_marker_are_compressed() {
    let log = format!("[truncated log follows] {}", prose(3_000));
    compress(&[("user", &log)], &all()).is(0, Action::Compressed);
    let notes = format!("[summary: my own notes] {}", prose(900));
    compress(&[("user", &notes)], &all()).is(0, Action::Compressed);
}

#[test]
fn c5_the_heuristics_cannot_be_switched_off_by_accident() {
    let sql = "SELECT c.name, SUM(o.total) AS total FROM customers c JOIN orders o ON o.customer_id = c.id WHERE o.paid = TRUE GROUP BY c.name HAVING SUM(o.total) > 500 ORDER BY total DESC;";
    compress(&[("user", sql)], &all()).is(0, Action::Preserved);
}

#[test]
fn c7_other_languages_have_sentences_and_facts() {
    let chinese = "今天下午我们在公园里散步，天气非常好，大家都很开心。".repeat(8)
        + "订单号是 A-20391，金额是3000元，必须在5月1日之前付款。"
        + &"晚上大家一起吃饭，聊了很多以前的事情，孩子们在院子里玩。".repeat(8);
    compress(&[("user", &chinese)], &all()).is(0, Action::Compressed).shows("A-20391").shows("3000元");
    let german = "Am 3. Oktober waren wir z. B. im Garten und haben lange geredet. ".repeat(8)
        + "Der Vertrag KV-8812 über 4.500 Euro darf nicht verlängert werden. "
        + &"Danach gingen alle nach Hause und schliefen gut. ".repeat(8);
    compress(&[("user", &german)], &all()).is(0, Action::Compressed).shows("KV-8812").shows("nicht verlängert");
}

#[test]
fn c8_large_data_gets_an_outline_instead_of_scraps() {
    let rows: Vec<serde_json::Value> =
        (0..200).map(|i| json!({"id": i, "email": format!("user{i}@mail.example"), "active": i % 2 == 0})).collect();
    let options = EngineOptions { observation_threshold: 500, ..all() };
    compress(&[("tool", &serde_json::to_string_pretty(&rows).expect("json"))], &options)
        .is(0, Action::Compressed)
        .shows("[200 items, first {id: 0, email: \"user0@mail.example\", active: true}");
    let csv = "date,store,amount\n".to_owned()
        + &(0..300).map(|i| format!("2024-05-{:02},store {},{}\n", 1 + i % 28, i, i * 7)).collect::<String>();
    compress(&[("tool", &csv)], &options)
        .is(0, Action::Compressed)
        .shows("301 lines")
        .shows("date,store,amount")
        .shows("store 299,2093");
}

// E. Numbers that do not mislead.

#[test]
fn e1_every_action_counts_for_the_ratio() {
    let log = lines("import");
    let other = log.replace("import_7:", "import_seven:");
    let done = compress(&[("tool", &log), ("tool", &other)], &EngineOptions { fuzzy_dedup: true, ..all() });
    done.is(0, Action::FuzzyDeduped);
    assert!(done.metrics.ratio > 1.5, "{:?}", done.metrics);
    assert!(done.metrics.fact_retention.is_some());
}

#[test]
fn e2_lost_amounts_lower_fact_retention() {
    let invoices: String = (0..40)
        .map(|i| {
            format!(
                "Invoice {} over {} dollars was sent to the customer and was paid in time by bank transfer. ",
                7_000 + i,
                130 + 17 * i
            )
        })
        .collect();
    let done = compress(&[("user", &invoices)], &all());
    let retention = done.metrics.fact_retention.expect("there are facts");
    assert!(retention < 0.6, "{retention}");
}

#[test]
fn e3_coherence_is_not_taken_for_content() {
    let texts: Vec<String> = (0..12)
        .map(|i| {
            format!(
                "The module loadPart{i} reads {} records from host node-{i}.example.com every day. {}",
                100 + i,
                prose(700)
            )
        })
        .collect();
    let messages: Vec<(&str, &str)> = texts.iter().map(|text| ("user", text.as_str())).collect();
    let done = compress(&messages, &all());
    assert!(done.metrics.reference_coherence.is_some());
    assert!(
        done.metrics.fact_retention.expect("facts") > 0.5,
        "what is visible counts, not the ids: {:?}",
        done.metrics
    );
}

#[test]
fn e4_sizes_are_characters_everywhere() {
    let done = compress(&[("tool", &test_run(40))], &all());
    let shown: usize = done.texts.iter().map(|text| text.chars().count()).sum();
    assert_eq!(done.metrics.chars_out, shown);
    assert_eq!(done.metrics.chars_in, test_run(40).chars().count());
}

#[test]
fn e5_a_summary_is_never_its_own_parent() {
    let talk = record_of(&[
        json!({"id": 12, "role": "user", "content": prose(900)}),
        json!({"id": 13, "role": "assistant", "content": prose(800)}),
    ]);
    let done = compress_record(&talk, &with_metadata());
    let value: serde_json::Value = serde_json::from_str(&done.record).expect("a record");
    let id = |i: usize| value["messages"][i]["metadata"]["_cce_original"]["summary_id"].clone();
    assert_ne!(id(0), id(1), "numeric ids have summary ids of their own");
    assert_eq!(value["messages"][0]["metadata"]["_cce_original"]["ids"], json!(["12"]));
    let mut messages: Vec<serde_json::Value> = Vec::new();
    for round in 0..3 {
        for i in 0..14 {
            messages.push(json!({"id": format!("r{round}-{i}"), "role": if i % 2 == 0 { "user" } else { "assistant" }, "content": format!("{} Shelf {i}.", prose(480))}));
        }
        let value: serde_json::Value =
            serde_json::from_str(&compress_record(&record_of(&messages), &with_metadata()).record).expect("a record");
        messages = value["messages"].as_array().expect("messages").clone();
    }
    let origins: Vec<&serde_json::Value> = messages
        .iter()
        .map(|message| &message["metadata"]["_cce_original"])
        .filter(|origin| origin.is_object())
        .collect();
    assert!(origins.iter().any(|origin| origin["parent_ids"].is_array()), "the third round has compacted summaries");
    for origin in origins {
        let parents: Vec<&str> =
            origin["parent_ids"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
        assert!(!parents.contains(&origin["summary_id"].as_str().expect("an id")));
    }
}

// F. Robustness.

#[test]
fn f1_content_lists_of_any_length_are_fine() {
    let mut parts: Vec<serde_json::Value> = (0..90)
        .map(|i| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,AAAA{i}")}}))
        .collect();
    parts.insert(40, json!({"type": "text", "text": prose(900)}));
    let one = record_of(&[
        json!({"role": "user", "content": parts}),
        json!({"role": "user", "content": []}),
        json!({"role": "user", "content": [1, null, "x"]}),
    ]);
    compress_record(&one, &EngineOptions { fuzzy_dedup: true, ..all() }).is(0, Action::Compressed);
    parts.push(json!({"type": "text", "text": format!("{} The second text is number 2.", prose(600))}));
    let two = compress_record(&record_of(&[json!({"role": "user", "content": parts})]), &all());
    two.is(0, Action::Compressed);
    assert_eq!(two.record.matches("image_url\":{").count(), 90, "every image stays");
    assert_eq!(two.record.matches("[summary: ").count(), 2, "each text in its own place");
}

#[test]
fn f3_a_reference_is_never_longer_than_what_it_replaces() {
    let id = "k".repeat(401);
    let text: String = lines("key").chars().take(260).collect();
    let talk = record_of(&[
        json!({"id": "a", "role": "user", "content": text}),
        json!({"id": id, "role": "user", "content": text}),
    ]);
    compress_record(&talk, &all()).is(0, Action::Preserved).because(0, Reason::DuplicateReverted);
}

#[test]
fn f4_any_recency_window_is_fine() {
    for recency_window in [0, 1, 3, usize::MAX] {
        compress(&[("user", &prose(400)), ("assistant", &prose(400))], &EngineOptions { recency_window, ..all() });
    }
    compress(&[], &all());
}
