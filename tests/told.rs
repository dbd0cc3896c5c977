//! Marks that tell what they hide, in a sentence of a model: what is asked, what is taken, and that a mark stays a mark.

use condenser::model::{Answer, Ask, EngineOptions, NoAnswer, Reason, Summarizer, SummaryAsk, SummaryMode};
use serde_json::{Value, json};

use crate::consult::with_model;
use crate::support::talk::{Done, record_of};
use crate::support::whims::echo;

/// A sentence that the hidden lines bear out.
const GOOD: &str = "unpacks the 77 crates of the lock file, serde-json among them.";

/// Lines that nothing speaks of.
fn filling(place: &str, n: usize) -> String {
    (0..n).map(|at| format!("    plain words of the row {} {place} for nobody\n", "x".repeat(1 + at % 7))).collect()
}

/// What a program says, of which a later message uses one line in its middle.
fn output(place: &str, n: usize) -> String {
    let lock = "    unpacking serde-json, one of the 77 crates of the lock file\n";
    let half = filling(place, n / 2);
    format!("begin of {place}\n{half}{lock}{half}the needle_of_{place} is here\n{}end of {place}\n", filling(place, 3))
}

fn called(id: &str, content: &Value) -> [Value; 2] {
    let function = json!({ "name": "run", "arguments": json!({ "script": format!("{id}.sh") }).to_string() });
    [
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "type": "function", "function": function }] }),
        json!({ "role": "tool", "tool_call_id": id, "content": content }),
    ]
}

/// A session whose first result hides much in one place, and whose second little.
fn session(more: &[Value]) -> String {
    let mut messages = vec![json!({ "role": "user", "content": "Set the project up." })];
    messages.extend(called("first", &json!(output("first", 80))));
    messages.extend(called("second", &json!(output("second", 20))));
    messages.extend(more.iter().cloned());
    let used = "needle_of_first and needle_of_second, needle_of_third and needle_of_fourth";
    messages.push(json!({ "role": "assistant", "content": format!("I have seen {used}.") }));
    messages.extend((0..4).map(|_| json!({ "role": "assistant", "content": "That is all." })));
    record_of(&messages)
}

fn asking() -> EngineOptions {
    EngineOptions { summarizer: Summarizer::Escalating, ..EngineOptions::default() }
}

fn told(record: &str, options: &EngineOptions, answer: &Answer) -> (Done, Vec<Ask>) {
    with_model(record, options, |_| answer.clone())
}

/// What a session looks like that no model was asked about.
fn bare(record: &str) -> Done {
    with_model(record, &EngineOptions::default(), echo).0
}

#[test]
fn a_sentence_stands_in_the_mark_and_nowhere_else() {
    let record = session(&[]);
    let (plain, (done, asked)) = (bare(&record), told(&record, &asking(), &Answer::Text(GOOD.to_owned())));
    let [Ask::Summary(SummaryAsk { mode: SummaryMode::Line, text, max_chars: 160, draft })] = &asked[..] else {
        panic!("one long stretch, one question: {asked:#?}")
    };
    assert!(text.contains("77 crates") && !text.contains("needle") && draft == "81 lines", "{draft}: {text}");
    let sentence = GOOD.trim_end_matches('.');
    assert!(plain.texts[2].contains("\n⋯ 81 lines #1\n"), "{}", plain.texts[2]);
    let told = plain.texts[2].replace("⋯ 81 lines #1", &format!("⋯ 81 lines: {sentence} #1"));
    assert_eq!(done.texts[2], told);
    assert_eq!(done.record, plain.record.replace("⋯ 81 lines #1", &format!("⋯ 81 lines: {sentence} #1")));
    done.because(2, Reason::Unused);
    assert!(done.details[2].contains(&Reason::LlmSummary));
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (1, 0));
}

#[test]
fn every_bad_sentence_leaves_the_bare_mark() {
    let record = session(&[]);
    let plain = bare(&record);
    let german = "packt die Kisten der Sperrdatei aus und sagt danach nichts mehr, was irgendjemand brauchen könnte";
    let long = "unpacks the crates of the lock file and says words of rows for nobody ".repeat(3);
    let cases = [
        (Answer::Text("unpacks the 78 crates of the lock file".into()), Reason::LlmInvented),
        (Answer::Text("unpacks serde_yaml".into()), Reason::LlmInvented),
        (Answer::Text("writes to src/lock/read.rs".into()), Reason::LlmInvented),
        (Answer::Text(String::new()), Reason::LlmEmpty),
        (Answer::Text("I'm sorry, but I can't summarize this.".into()), Reason::LlmEmpty),
        (Answer::Text(german.into()), Reason::LlmLanguage),
        (Answer::Text(long), Reason::LlmTooLong),
        (Answer::Text("<tool_call>{\"name\": \"search\"}</tool_call>".into()), Reason::LlmToolCall),
        (Answer::Text("[summary: It unpacks crates.]".into()), Reason::LlmUnreadable),
        (Answer::Text("- unpacks crates\n- says words".into()), Reason::LlmUnreadable),
        (Answer::Text("unpacks crates ⋯ and more".into()), Reason::LlmUnreadable),
        (Answer::None(NoAnswer::ToolCall), Reason::LlmToolCall),
        (Answer::None(NoAnswer::Cut), Reason::LlmTooLong),
        (Answer::None(NoAnswer::Failed), Reason::LlmFailed),
        (Answer::None(NoAnswer::TooLong), Reason::LlmFailed),
        (Answer::None(NoAnswer::Offline), Reason::LlmOffline),
    ];
    for (answer, reason) in cases {
        let (done, asked) = told(&record, &asking(), &answer);
        assert_eq!(done.record, plain.record, "{answer:?}");
        assert_eq!(asked.len(), 1, "{answer:?}: a sentence is asked for once");
        assert!(done.details[2].contains(&reason), "{answer:?}: {:?}", done.details[2]);
        assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (0, 1), "{answer:?}");
    }
    let (done, asked) = with_model(&record, &asking(), echo);
    assert_eq!((done.record, asked.len(), done.metrics.counts.llm_fallbacks), (plain.record, 1, 0), "it says no more");
}

#[test]
fn a_sentence_is_in_the_language_of_the_lines_or_of_marks() {
    let german = "Die Anlage wurde nach dem Ausfall vergrößert, weil die Abfragen viel zu lange dauerten.";
    let chinese = "连接池在故障之后被扩大了，因为查询花费的时间太长，而且之前的重试没有任何帮助。";
    let english = "says why the pool was made larger after the outage, and that it helped nobody at all";
    let told_of = |line: &str, sentence: &str| {
        let lines: String = (0..60).map(|at| format!("{line} {}\n", "*".repeat(at))).collect();
        let record = session(&called("third", &json!(format!("begin\n{lines}the needle_of_third\nend\n"))));
        let (done, _) = with_model(&record, &asking(), |ask| match ask {
            Ask::Summary(ask) if ask.text.contains(line) => Answer::Text(sentence.to_owned()),
            ask => echo(ask),
        });
        (done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks)
    };
    let listing = "CITATION convolution table coordinates tests cosmology time timeseries extern visualization wcs";
    for (line, sentence) in [(german, german), (german, english), (chinese, chinese), (listing, english)] {
        assert_eq!(told_of(line, sentence), (1, 0), "{sentence} of {line}");
    }
    for (line, sentence) in [(chinese, english), (english, german), (english, chinese)] {
        assert_eq!(told_of(line, sentence), (0, 1), "{sentence} of {line}");
    }
}

#[test]
fn what_a_sentence_says_is_visible_in_no_figure() {
    // With a stage that claims first, grounding is read from the texts as they are written.
    let staged = EngineOptions { agent_tool_prepass: true, ..EngineOptions::default() };
    let npm = "added 3 packages from the registry of npm\n".repeat(40);
    let record = session(&called("third", &json!(format!("{npm}the needle_of_third is here\n"))));
    let used = "serde-json";
    let record = record.replace("That is all.", &format!("It has {used}, I was told, and that is all."));
    for options in [EngineOptions::default(), staged] {
        let all = EngineOptions { all_figures: true, ..options.clone() };
        for options in [options, all] {
            let plain = with_model(&record, &options, echo).0;
            let asking = EngineOptions { summarizer: Summarizer::Normal, ..options };
            let (done, _) = with_model(&record, &asking, |ask| match ask {
                Ask::Summary(SummaryAsk { mode: SummaryMode::Line, text, .. }) => {
                    Answer::Text(if text.contains("77") { GOOD } else { "says plain words" }.to_owned())
                }
                ask => echo(ask),
            });
            assert!(done.metrics.counts.llm_summaries > 0);
            let mut same = done.metrics.clone();
            same.counts.llm_summaries = 0;
            (same.chars_out, same.tokens_out) = (plain.metrics.chars_out, plain.metrics.tokens_out);
            (same.ratio, same.token_ratio) = (plain.metrics.ratio, plain.metrics.token_ratio);
            assert!(done.metrics.chars_out > plain.metrics.chars_out);
            assert_eq!(format!("{same:?}"), format!("{:?}", plain.metrics));
        }
    }
}

#[test]
fn json_references_and_stretches_inside_lines_are_not_told() {
    let item = |at: usize| json!({ "id": at, "title": format!("entry {at}"), "body": "words that nobody reads ".repeat(4), "open": true });
    let items: Vec<Value> = (0..40).map(item).collect();
    let document = json!({ "entries": items, "next": "needle_of_third" }).to_string();
    let long = format!("{}needle_of_fourth {}", "words and words ".repeat(200), "words and words ".repeat(200));
    let again = output("first", 80).replace("needle_of_first", "needle that was found");
    let more: Vec<Value> = [("third", document), ("fourth", long), ("again", again)]
        .iter()
        .flat_map(|(id, text)| called(id, &json!(text)))
        .collect();
    let record = session(&more);
    let plain = bare(&record);
    plain.shows("lines, unchanged since run first.sh #").shows("\": \"1 member\"").shows(" chars #");
    let (done, asked) = told(&record, &asking(), &Answer::Text("says plain words".into()));
    assert_eq!(asked.len(), 1, "only the lines of the first result: {asked:#?}");
    assert_eq!(done.record, plain.record.replace("⋯ 81 lines #1", "⋯ 81 lines: says plain words #1"));
}

#[test]
fn a_message_that_saves_too_little_with_sentences_keeps_bare_marks() {
    let record = session(&[]);
    let n_saved = output("first", 80).chars().count() - bare(&record).texts[2].chars().count();
    let options = EngineOptions { min_saving: n_saved - 10, ..EngineOptions::default() };
    let plain = with_model(&record, &options, echo).0;
    plain.shows("⋯ 81 lines #1");
    let options = EngineOptions { min_saving: n_saved - 10, ..asking() };
    let (done, asked) = told(&record, &options, &Answer::Text(GOOD.to_owned()));
    assert_eq!((asked.len(), &done.record), (1, &plain.record));
    assert!(done.details[2].contains(&Reason::LlmTooLong) && !done.details[2].contains(&Reason::LlmSummary));
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (0, 1));
}

#[test]
fn parts_are_told_in_their_places_and_equal_stretches_are_one_question() {
    let parts =
        json!([{ "type": "text", "text": output("third", 80) }, { "type": "text", "text": output("fourth", 80) }]);
    let record = session(&called("parts", &parts));
    let (done, asked) = with_model(&record, &asking(), |ask| match ask {
        Ask::Summary(ask) if ask.text.contains("third") => Answer::Text("says words of the third".into()),
        Ask::Summary(ask) if ask.text.contains("fourth") => Answer::Text("says 5 words of the fourth".into()),
        _ => Answer::Text("says words".into()),
    });
    assert_eq!(asked.len(), 3);
    done.shows("⋯ 81 lines: says words #1\n").shows(": says words of the third #").hides("5 words");
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (2, 1));
}

#[test]
fn under_a_token_budget_and_by_looks_no_mark_is_told() {
    let record = session(&[]);
    let options = EngineOptions { token_budget: Some(1_500), force_converge: true, ..asking() };
    let (_, asked) = told(&record, &options, &Answer::Text("says plain words".into()));
    let is_line = |ask: &&Ask| matches!(ask, Ask::Summary(ask) if ask.mode == SummaryMode::Line);
    assert_eq!(asked.iter().filter(is_line).count(), 0, "a budget was met with bare marks");
    let options = EngineOptions { hide_by: condenser::model::HideBy::Look, ..asking() };
    let (_, asked) = told(&record, &options, &Answer::Text("says plain words".into()));
    assert_eq!(asked.iter().filter(is_line).count(), 0);
}

#[cfg(feature = "llm")]
#[test]
fn a_run_asks_once_and_get_gives_what_a_told_mark_hides() {
    use crate::support::command::condenser;
    use crate::support::dir::TestDir;
    use crate::support::llm_server::{Asked, LlmServer, Play};

    let dir = TestDir::new();
    dir.write("in.jsonl", session(&[]) + "\n");
    let server = LlmServer::start(|asked: &Asked| {
        assert!(asked.system.contains("hidden lines") && asked.prompt.contains("fewer than 120 characters"));
        Play::text(GOOD)
    });
    let url = server.base_url();
    let args = |run| {
        let mut args = vec!["compress", "in.jsonl", "-o", run, "--format", "jsonl", "--summarizer", "normal"];
        args.extend(["--llm-base-url", &url, "--llm-model", "test-model", "--llm-cache", "replies"]);
        args
    };
    condenser(dir.root(), &args("run")).ok();
    assert_eq!(server.n_arrived(), 1);
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    assert_eq!(condenser(dir.root(), &["restore", "run"]).ok().stdout, dir.read("in.jsonl"));
    let hidden = condenser(dir.root(), &["get", "run", "talk", "--mark", "1"]).ok().stdout;
    let hidden = String::from_utf8(hidden).expect("text");
    assert!(output("first", 80).contains(&hidden) && hidden.contains("77 crates"), "{hidden}");
    let shown = condenser(dir.root(), &["show", "run", "talk", "--mark", "1"]).ok().stdout;
    assert!(String::from_utf8(shown).expect("text").contains("77 crates"));
    let compressed = condenser(dir.root(), &["get", "run", "talk", "--compressed"]).ok().stdout;
    let compressed = String::from_utf8(compressed).expect("text");
    assert!(compressed.contains("⋯ 81 lines: unpacks the 77 crates of the lock file"), "{compressed}");
    // The same replies give the same bytes, and nothing is asked again.
    condenser(dir.root(), &args("again")).ok();
    let again = condenser(dir.root(), &["get", "again", "talk", "--compressed"]).ok().stdout;
    assert_eq!((server.n_arrived(), String::from_utf8(again).expect("text")), (1, compressed));
}
