//! Pages without a browser: whatever stands in a document becomes text, sizes are bounded, files are replaced.

use std::collections::BTreeMap;

use condenser::model::Figure;
use condenser::pipeline::Timings;
use condenser::pipeline::sketch::{DensityCell, Extreme, RejectShare, Repeat, Share};
use condenser::report::html::{Texts, pair_page, report_page};
use condenser::report::pair::{Before, MessageVerdict, Pair, Step, Utterance, VerdictsFrom};
use condenser::report::{
    Bar, BreakdownFacts, BreakdownRow, Calibration, ConversationFacts, DensityFacts, Distribution, Fall, KindFacts,
    Money, Planted, REPORT_VERSION, RejectFacts, RepeatFacts, Repeated, ReportDocument, RunFacts, SourceFacts,
    TotalFacts,
};
use proptest::prelude::{Just, Strategy, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Map, json};

use crate::support::command::condenser;
use crate::support::dir::TestDir;

/// Texts that would do something if they were not text.
const HOSTILE: [&str; 14] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "</script></style></title></pre></details>",
    "<!-- <![CDATA[",
    "]]> -->",
    "javascript:alert(1)",
    "&lt;b&gt;&#60;b&#62;",
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "\u{202e}drow\u{2066}x\u{2069}",
    "nul\0, feed\u{c}, return\r\n, next\u{85}, bom\u{feff}",
    "\u{e0041}\u{200b}\u{fff9}\u{10ffff}",
    "a'; rm -rf ~ `b` $(c)",
    "{{7*7}}${7*7}<%= 7 %>",
];

fn distribution(class: Option<&str>, figure: &str) -> Distribution {
    let bar = |from: f64, count| Bar { from, to: from + 0.05, count };
    Distribution {
        class: class.map(str::to_owned),
        figure: figure.to_owned(),
        conversations: 3,
        mean: 0.5,
        min: 0.1,
        p5: 0.2,
        p10: 0.2,
        p25: 0.3,
        p50: 0.5,
        p75: 0.7,
        p90: 0.8,
        p95: 0.9,
        max: 1.0,
        bars: vec![bar(0.0, 1), bar(0.5, 7), bar(0.95, 900)],
    }
}

/// A document whose every text is `text`.
fn document(text: &str) -> ReportDocument {
    let own = || text.to_owned();
    let share = Share { conversations: 1, messages: 2, chars_in: 300, chars_out: 100 };
    let row = |name| BreakdownRow { name, share, ratio: 3.0 };
    let by = ["class", "role", "source", text];
    let breakdowns =
        by.map(|by| BreakdownFacts { by: by.to_owned(), rows: vec![row(Some(own())), row(Some(own())), row(None)] });
    let figures = Extreme {
        conversation_id: own(),
        source: own(),
        source_row: 7,
        class: own(),
        chars_in: 300,
        chars_out: 100,
        ratio: 3.0,
        quality_score: Some(0.5),
        ..Extreme::default()
    };
    let conversation = ConversationFacts { run: 0, figures, chars_saved: 200, loss: Some(0.4) };
    let source = SourceFacts { share, rejects: 1, over_budget: 0, bytes_stored: 10, bytes_stream: 20, lost_rows: 0 };
    let cells = vec![DensityCell { ratio_from: 1.0, ratio_to: 1.1, from: 0.9, to: 0.95, count: 12 }];
    let densities = vec![DensityFacts { figure: "quality_score".to_owned(), cells }];
    let classes = Figure::ALL.into_iter().map(|figure| distribution(Some(text), figure.as_str()));
    let all = Figure::ALL.into_iter().map(|figure| distribution(None, figure.as_str()));
    let repeat = Repeat { count: 3, chars: 100, excerpt: own() };
    let planted = Planted {
        kind: own(),
        says: own(),
        conversations: 2,
        metrics: BTreeMap::from([(own(), Fall { measured: 2, rate: Some(0.1), mean_fall: Some(0.1) })]),
    };
    ReportDocument {
        report_version: REPORT_VERSION,
        runs: vec![RunFacts {
            run: own(),
            engine_version: own(),
            status: own(),
            config_blake3: own(),
            options: vec![own()],
            missing: vec![own()],
            sources: BTreeMap::from([(own(), source)]),
            bytes_written: BTreeMap::from([(own(), 9)]),
            ..RunFacts::default()
        }],
        totals: TotalFacts { conversations: 1, chars_in: 300, chars_out: 100, ratio: 3.0, ..TotalFacts::default() },
        title: Some(own()),
        made: Some(own()),
        kinds: vec![KindFacts { kind: own(), chars_in: 300, chars_out: 100, chars_hidden: 200 }],
        unchanged: vec![BreakdownRow { name: Some(own()), share: Share::default(), ratio: 1.0 }],
        money: Some(Money { per_million_tokens: 2.0, currency: own(), before: 3.0, after: 1.0, saved: 2.0 }),
        distributions: all.chain(classes).collect(),
        densities,
        breakdowns: breakdowns.into(),
        nights: Vec::new(),
        timings: Some(Timings { n_parts: 1, stages: BTreeMap::from([(own(), 1.5)]), ..Timings::default() }),
        largest_savings: vec![conversation.clone()],
        worst_losses: vec![conversation],
        repeated: Some(Repeated {
            texts: 9,
            distinct_texts: 7,
            largest: vec![RepeatFacts { repeat, chars_spare: 200 }],
        }),
        rejects: vec![RejectFacts {
            reason: own(),
            share: RejectShare { records: 1, bytes: 2, example: own(), place: own() },
        }],
        calibration: Some(Calibration {
            engine_version: own(),
            sources: vec![own()],
            damage: vec![planted.clone()],
            harmless: vec![planted],
            ..Calibration::default()
        }),
    }
}

/// A pair whose every text is `text`.
fn pair(text: &str) -> Pair {
    let own = || text.to_owned();
    let spoken = || Utterance { role: own(), text: own() };
    let verdict = MessageVerdict { action: own(), reason: own(), details: vec![own()], chars_in: 9, chars_out: 3 };
    let before = |index| Before {
        index,
        message_id: Some(own()),
        spoken: spoken(),
        hidden: None,
        verdict: Some(verdict.clone()),
    };
    let kept = Step { after: spoken(), before: vec![before(0)], is_unchanged: true };
    let changed = Step { after: spoken(), before: vec![before(1), before(2)], is_unchanged: false };
    let mut metrics = Map::new();
    metrics.insert("ratio".to_owned(), json!(3.0));
    Pair {
        id: own(),
        source: own(),
        source_row: 7,
        n_before: 3,
        metrics,
        verdicts_from: VerdictsFrom::Run,
        steps: vec![kept, changed],
    }
}

/// The elements and attributes of a page in their order, without values and texts.
fn skeleton(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((_, tag)) = rest.split_once('<') {
        let name: String = tag.chars().take_while(|c| !c.is_whitespace() && *c != '>').collect();
        let mut inside = tag.split_at(name.len()).1;
        found.push(name.clone());
        while let Some(c) = inside.chars().next().filter(|c| *c != '>') {
            inside = inside.split_at(c.len_utf8()).1;
            if c == '"' {
                inside = inside.split_once('"').expect("a value ends").1;
            } else if c == '=' {
                assert!(inside.starts_with('"'), "a value without quotes in <{name}");
            } else if !c.is_whitespace() && c != '/' {
                match found.last_mut() {
                    Some(last) => last.push(c),
                    None => unreachable!("the name was pushed"),
                }
            }
        }
        rest = inside;
        // Style and script are texts of the program itself.
        for raw in ["style", "script"].iter().filter(|raw| name == **raw) {
            rest = rest.split_once(&format!("</{raw}>")).expect("it ends").1;
            found.push(format!("/{raw}"));
        }
    }
    found
}

fn pages(text: &str) -> [String; 2] {
    let texts = Texts { left_out: false, pairs: vec![(0, pair(text))] };
    [report_page(&document(text), &texts), pair_page(&[pair(text), pair(text)])]
}

/// Characters that no page holds as such.
fn drives(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

#[test]
fn no_text_becomes_an_element_or_an_attribute() {
    let plain = pages("plain").map(|page| skeleton(&page));
    for text in HOSTILE {
        for (page, plain) in pages(text).iter().zip(&plain) {
            assert!(skeleton(page) == *plain, "{text:?} changes the page");
            assert!(!page.chars().any(drives), "{text:?} stays as it is");
        }
    }
    let [report, show] = pages("<b>&\"'");
    assert!(report.contains("&lt;b&gt;&amp;&quot;&#39;") && show.contains("&lt;b&gt;&amp;&quot;&#39;"));
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 24, ..Default::default() })]
    #[test]
    fn no_mixture_of_signs_does_either(
        text in proptest::collection::vec(
            prop_oneof![
                proptest::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
                "[<>&\"'/=\\[\\]!-]{1,6}",
                proptest::char::any().prop_map(String::from),
                Just("x".to_owned()),
            ],
            1..6,
        )
    ) {
        // Blank names are shown as such; here every text has something to see.
        let text = text.concat() + "x";
        let plain = pages("plain").map(|page| skeleton(&page));
        for (page, plain) in pages(&text).iter().zip(&plain) {
            prop_assert_eq!(&skeleton(page), plain);
            prop_assert!(!page.chars().any(drives));
        }
    }
}

#[test]
fn links_lead_to_places_of_the_page_only() {
    for page in pages("javascript:alert(1)") {
        for link in page.split(" href=\"").skip(1) {
            assert!(link.starts_with('#') || link.starts_with("data:,\""), "{}", link.split('"').next().unwrap());
        }
        assert!(!page.contains(" src=") && !page.contains("url(") && !page.contains("@import"));
        assert!(page.contains("default-src &#39;none&#39;"));
    }
}

#[test]
fn a_report_holds_so_much_text_and_a_page_of_its_own_all_of_it() {
    let long = "A sentence about nothing in particular, number 12. ".repeat(20_000);
    let mut giant = pair("plain");
    for step in &mut giant.steps {
        step.after.text.clone_from(&long);
        step.before.iter_mut().for_each(|before| before.spoken.text.clone_from(&long));
    }
    let many = Texts { left_out: false, pairs: vec![(0, giant.clone()); 40] };
    let page = report_page(&document("plain"), &many);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert!(page.contains("further characters are not in this page."));
    assert!(page.contains("condenser show plain plain --html FILE"));
    let whole = pair_page(&[giant]);
    assert_eq!(whole.matches(long.trim_end()).count(), 4, "one kept message, two originals and what stands for them");
    assert!(!whole.contains("not in this page"));
}

#[test]
fn commands_are_quoted_for_a_shell() {
    let texts = Texts { left_out: false, pairs: vec![(0, pair("it's $(x)"))] };
    let page = report_page(&document("it's $(x)"), &texts);
    let quoted = "&#39;it&#39;\\&#39;&#39;s $(x)&#39;";
    assert!(page.contains(&format!("condenser show {quoted} {quoted} --html FILE")));
}

/// A run of a conversation that is compressed.
fn run(dir: &TestDir) {
    let text = |at: usize| {
        format!("Message {at}. ")
            + &"The secret marmalade recipe needs 14 oranges and must not boil for long. ".repeat(12)
    };
    let role = |at: usize| ["user", "assistant"][at % 2];
    let messages: Vec<_> = (0..12).map(|at| json!({ "role": role(at), "content": text(at) })).collect();
    dir.write("in.jsonl", json!({ "id": "one", "messages": messages }).to_string() + "\n");
    condenser(dir.root(), &["compress", "in.jsonl", "--output", "run", "--quiet"]).ok();
}

#[test]
fn pages_are_written_whole_replace_what_is_there_and_go_to_stdout() {
    let dir = TestDir::new();
    run(&dir);
    let read = |name: &str| String::from_utf8(dir.read(name)).expect("UTF-8");
    dir.write("page.html", "old");
    condenser(dir.root(), &["report", "run", "--html", "page.html"]).ok();
    let page = read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("marmalade"), "the text of the only conversation is there");
    let told = condenser(dir.root(), &["report", "run", "--html", "-"]).ok();
    assert!(String::from_utf8(told.stdout).expect("UTF-8") == page, "the same page, and nothing else, on stdout");

    condenser(dir.root(), &["report", "run", "--html", "page.html", "--no-texts"]).ok();
    let without = read("page.html");
    assert!(without.contains("The texts were left out") && !without.contains("text-0"));

    let told = condenser(dir.root(), &["show", "run", "one", "--html", "sub/show.html"]).exits(2);
    assert!(told.stderr.contains("the folder sub does not exist"), "{}", told.stderr);
    let told = condenser(dir.root(), &["report", "run", "--html", "run"]).exits(2);
    assert!(told.stderr.contains("this is a folder"), "{}", told.stderr);
    let told = condenser(dir.root(), &["report", "run", "--json", "--html", "-"]).exits(2);
    assert!(told.stdout.is_empty() && told.stderr.contains("can go to stdout"), "{}", told.stderr);
    // What is read is not replaced; a page beside it is.
    for args in [
        &["report", "run", "--html", "run/manifest.json"][..],
        &["report", "run", "--markdown", "run/plan.json.zst"],
        &["report", "run", "--csv", "run/metrics"],
        &["report", "run", "--csv", "-"],
        &["show", "run", "one", "--html", "run/manifest.json"],
    ] {
        condenser(dir.root(), args).exits(2);
    }
    condenser(dir.root(), &["report", "run", "--html", "run/report.html"]).ok();
    std::fs::remove_file(dir.path("run/report.html")).expect("it is there");
    condenser(dir.root(), &["verify", "run"]).ok();
    dir.write("sub/other.txt", "");
    condenser(dir.root(), &["show", "run", "one", "--html", "sub/show.html"]).ok();
    assert!(read("sub/show.html").contains("secret marmalade"));
    let told = condenser(dir.root(), &["show", "run", "two", "--html", "none.html"]).exits(1);
    assert!(told.stderr.contains("no conversation with this id"), "{}", told.stderr);
    assert!(!dir.path("none.html").exists());
}

#[test]
fn two_runs_give_a_page_of_their_drift() {
    let dir = TestDir::new();
    run(&dir);
    condenser(dir.root(), &["compress", "in.jsonl", "--output", "other", "--recency-window", "0", "--quiet"]).ok();
    let told = condenser(dir.root(), &["report", "run", "other", "--html", "drift.html", "--json"]).ok();
    let drift: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let page = String::from_utf8(dir.read("drift.html")).expect("UTF-8");
    let ratio = drift.pointer("/after/totals/ratio").and_then(serde_json::Value::as_f64).expect("a ratio");
    assert!(page.contains(&format!("data-at=\"/after/totals/ratio\" data-value=\"{ratio}\"")), "{ratio}");
    assert!(page.contains("<svg") && page.contains("Conversations that changed most"));
}

#[test]
fn what_a_mark_hides_is_marked_and_nothing_else() {
    let dir = TestDir::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/jobs/sample/agents.jsonl");
    condenser(dir.root(), &["compress", sample, "-o", "run", "-q"]).ok();
    let id = "agent-rename-api";
    let page = condenser(dir.root(), &["show", "run", id, "--html", "-"]).ok().stdout;
    let page = String::from_utf8(page).expect("UTF-8");
    let unescape = |text: &str| {
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    };
    let marked: Vec<String> =
        page.split("<mark>").skip(2).map(|rest| unescape(rest.split_once("</mark>").expect("it ends").0)).collect();
    let mut n_marks = 0;
    for number in 1.. {
        let told = condenser(dir.root(), &["get", "run", id, "--mark", &number.to_string()]).ends();
        if told.code != Some(0) {
            break;
        }
        let hidden = String::from_utf8(told.stdout).expect("UTF-8");
        assert!(
            marked.iter().any(|marked| marked.trim() == hidden.trim()),
            "mark {number} hides {hidden:?}: {marked:#?}"
        );
        n_marks += 1;
    }
    assert!(n_marks > 3 && marked.len() == n_marks, "{n_marks} marks, {} stretches", marked.len());
}
