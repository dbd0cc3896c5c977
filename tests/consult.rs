//! A model as summarizer and classifier, answered from memory: what is asked, what is taken, what is not.

use condenser::engine::Engine;
use condenser::model::{
    Action, Answer, Answers, Ask, BudgetStrategy, ClassifierMode, ClassifierSource, CompressionDepth, EngineOptions,
    NoAnswer, Reason, Summarizer, SummaryMode,
};

use crate::support::options::random_options;
use crate::support::talk::{Done, all, compress_consulted, prose, record, record_of};
use crate::support::whims::echo;
use serde_json::json;

const REPORT: &str = "We looked into the outage of the billing service again. The connection pool in src/db/pool.ts was \
    raised from 20 to 200 connections, and fetchInvoices() no longer times out after 30 seconds. It seems that the \
    retries made things worse, so they were removed again. The ticket KMS-7781 stays open until the dashboards show a \
    full week without alerts. Everybody agreed that the migration must not be repeated before that.";

fn asking(summarizer: Summarizer) -> EngineOptions {
    EngineOptions { summarizer, ..all() }
}

/// Compresses with a model that answers by `reply`; the questions in their order.
pub(crate) fn with_model(record: &str, options: &EngineOptions, reply: impl Fn(&Ask) -> Answer) -> (Done, Vec<Ask>) {
    let engine = Engine::new(options.clone()).expect("the options are right");
    let (mut answers, mut asked) = (Answers::default(), Vec::new());
    for _ in 0..8 {
        let mut open = Vec::new();
        let done = compress_consulted(record, &engine, &answers, &mut open);
        if open.is_empty() {
            return (done, asked);
        }
        for ask in open {
            answers.insert(ask.id(), reply(&ask));
            asked.push(ask);
        }
    }
    panic!("the engine never stops asking: {asked:#?}");
}

fn says(text: &str) -> impl Fn(&Ask) -> Answer {
    move |_| Answer::Text(text.to_owned())
}

fn one(summarizer: Summarizer, reply: impl Fn(&Ask) -> Answer) -> (Done, Vec<Ask>) {
    with_model(&record(&[("user", REPORT)]), &asking(summarizer), reply)
}

#[test]
fn a_good_answer_stands_in_the_frame_with_the_facts_that_it_does_not_show() {
    let answer =
        "The pool was raised from 20 to 200 connections; retries were removed; the migration must not be repeated yet.";
    let (done, asked) = one(Summarizer::Normal, says(answer));
    done.is(0, Action::Compressed).because(0, Reason::CompressibleProse);
    assert_eq!(asked.len(), 1, "one group, one question");
    assert!(done.texts[0].starts_with(&format!("[summary: {answer} | entities: ")), "{}", done.texts[0]);
    done.shows("fetchInvoices").shows("KMS-7781");
    assert!(done.details[0].contains(&Reason::LlmSummary));
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (1, 0));
    assert!(done.metrics.fact_retention > Some(0.3), "what a model says is visible: {:?}", done.metrics);
}

#[test]
fn every_bad_answer_falls_back_to_the_text_of_the_engine() {
    let record = record(&[("user", REPORT)]);
    let plain = with_model(&record, &all(), echo).0;
    let longer = format!("{REPORT} And more.");
    let long = "The connection pool was raised and the retries were removed and the ticket stays open. ".repeat(3);
    let german = "Die Verbindungen wurden erhöht und die Wiederholungen entfernt, das Ticket bleibt offen, bis eine Woche \
        lang kein Alarm kommt.";
    let cases = [
        (Answer::Text(String::new()), Reason::LlmEmpty),
        (Answer::Text(" \n ".into()), Reason::LlmEmpty),
        (Answer::Text(longer), Reason::LlmTooLong),
        (Answer::Text(long), Reason::LlmTooLong),
        (Answer::Text("<tool_call>{\"name\": \"search\"}</tool_call>".into()), Reason::LlmToolCall),
        (Answer::Text(german.into()), Reason::LlmLanguage),
        (Answer::Text("The pool was raised from 20 to 2000 connections.".into()), Reason::LlmInvented),
        (Answer::Text("The pool in src/db/client.ts was raised.".into()), Reason::LlmInvented),
        (Answer::Text("[summary: The pool was raised.]".into()), Reason::LlmUnreadable),
        (Answer::Text("<think>They want a summary".into()), Reason::LlmEmpty),
        (Answer::Text("I'm sorry, but I can't summarize this.".into()), Reason::LlmEmpty),
        (Answer::Text("<think>Shorter.</think>The pool has 300 connections.".into()), Reason::LlmInvented),
        (Answer::None(NoAnswer::Failed), Reason::LlmFailed),
        (Answer::None(NoAnswer::TooLong), Reason::LlmFailed),
        (Answer::None(NoAnswer::Offline), Reason::LlmOffline),
    ];
    for (answer, reason) in cases {
        let (done, asked) = with_model(&record, &asking(Summarizer::Normal), |_| answer.clone());
        assert_eq!(done.record, plain.record, "{answer:?}");
        assert_eq!(asked.len(), 1);
        assert!(done.details[0].contains(&reason), "{answer:?}: {:?}", done.details[0]);
        assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (0, 1), "{answer:?}");
    }
}

#[test]
fn what_a_model_puts_around_its_answer_is_not_shown() {
    let answer = "The pool was raised from 20 to 200 connections; the retries were removed.";
    for said in [
        format!("<think>They want it short, 17 words.</think>\n{answer}"),
        format!("Sure, here is the summary:\n\n{answer}\n\nLet me know if you need more!"),
        format!("```text\n{answer}\n```"),
        format!("\"{answer}\"<|im_end|>"),
    ] {
        let (done, _) = one(Summarizer::Normal, says(&said));
        assert!(done.texts[0].starts_with(&format!("[summary: {answer} | entities: ")), "{}", done.texts[0]);
    }
}

#[test]
fn escalation_asks_again_for_less_and_then_gives_up() {
    let short = "- pool raised from 20 to 200\n- retries removed\n- KMS-7781 open";
    let reply = |ask: &Ask| match ask {
        Ask::Summary(ask) if ask.mode == SummaryMode::Normal => Answer::Text(format!("{REPORT} {REPORT}")),
        _ => Answer::Text(short.to_owned()),
    };
    let (done, asked) = one(Summarizer::Escalating, reply);
    assert_eq!(asked.len(), 2);
    done.shows(short);
    assert!(done.details[0].ends_with(&[Reason::LlmTooLong, Reason::LlmSummary]), "{:?}", done.details[0]);
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (1, 0));

    let (done, asked) = one(Summarizer::Escalating, |_| Answer::None(NoAnswer::Failed));
    assert_eq!((asked.len(), done.metrics.counts.llm_fallbacks), (2, 1), "both were asked, and one text fell back");
    let (_, asked) = one(Summarizer::Escalating, |_| Answer::None(NoAnswer::Offline));
    assert_eq!(asked.len(), 1, "what nobody answers is not asked in another way");
}

#[test]
fn a_digest_of_tool_output_is_asked_for_too() {
    let output: String = (0..40)
        .map(|i| format!("test suite::case_{i} ... ok\n"))
        .chain(["test suite::last ... FAILED\n".into()])
        .collect();
    let record = record_of(&[
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "c", "content": output}),
    ]);
    let answer = "All tests of the suite passed, but for suite::last, which FAILED.";
    let (done, asked) = with_model(&record, &asking(Summarizer::Normal), says(answer));
    assert_eq!(asked.len(), 1, "{:?}", done.decisions);
    assert_eq!(done.texts[1], format!("[summary: {answer}]"), "nothing is listed behind a digest");
}

#[test]
fn structured_notes_keep_their_lines() {
    let notes = "## REASONING\nThe pool was raised.\n## GUARDRAILS\n- no migration before KMS-7781 is closed";
    let (done, asked) = one(Summarizer::Structured, says(notes));
    assert!(matches!(&asked[..], [Ask::Summary(ask)] if ask.mode == SummaryMode::Structured));
    done.shows(notes);
}

#[test]
fn under_a_budget_each_text_is_asked_for_once_and_the_budget_holds() {
    let talk: Vec<(String, String)> = (0..24)
        .map(|i| {
            (if i % 2 == 0 { "user" } else { "assistant" }.to_owned(), format!("Step {i}. {REPORT} {}", prose(200)))
        })
        .collect();
    let record = record(&talk.iter().map(|(role, text)| (&**role, &**text)).collect::<Vec<_>>());
    for strategy in [BudgetStrategy::BinarySearch, BudgetStrategy::Tiered] {
        for tokens in [900, 1_500, 2_500] {
            let options = EngineOptions {
                token_budget: Some(tokens),
                budget_strategy: strategy,
                compression_depth: CompressionDepth::Auto,
                force_converge: true,
                ..asking(Summarizer::Escalating)
            };
            let plain =
                with_model(&record, &EngineOptions { summarizer: Summarizer::Deterministic, ..options.clone() }, echo)
                    .0;
            let (done, asked) = with_model(&record, &options, says("The pool was raised; the retries are gone again."));
            assert!(tokens < 1_500 || done.metrics.counts.llm_summaries > 0, "{strategy:?} {tokens}");
            let units = done.sources.len();
            assert!(asked.len() <= 2 * units, "{} questions for {units} messages", asked.len());
            let (budget, before) = (done.metrics.budget.expect("a budget"), plain.metrics.budget.expect("a budget"));
            assert_eq!(budget.fits, before.fits, "{strategy:?} {tokens}");
            assert!(done.metrics.tokens_out <= plain.metrics.tokens_out.max(tokens), "{strategy:?} {tokens}");
        }
    }
}

#[test]
fn an_echo_changes_nothing_whatever_the_options() {
    let messages = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": REPORT},
        {"role": "user", "content": format!("{} {REPORT}", prose(300))},
        {"role": "assistant", "content": "What is the timeout of fetchInvoices() in src/db/pool.ts, and who owns KMS-7781?"},
        {"role": "user", "content": "The timeout is 30 seconds; the platform team owns it. ".to_owned() + &prose(200)},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": (0..40).map(|i| format!("test case_{i} ... ok\n")).collect::<String>() + "test last ... FAILED\n"},
        {"role": "assistant", "content": [{"type": "text", "text": REPORT}, {"type": "text", "text": prose(500)}]},
        {"role": "user", "content": prose(900)},
        {"role": "assistant", "content": format!("{}\n```rust\nfn main() {{}}\n```\n{}", prose(200), prose(300))},
        {"role": "user", "content": "Thanks."},
    ]);
    let record = record_of(messages.as_array().expect("messages"));
    let mut n_asked = 0;
    for seed in 0..60 {
        let options = EngineOptions { recency_window: 0, ..random_options(seed) };
        let plain =
            with_model(&record, &EngineOptions { summarizer: Summarizer::Deterministic, ..options.clone() }, echo).0;
        for summarizer in [Summarizer::Normal, Summarizer::Escalating] {
            let (done, asked) = with_model(&record, &EngineOptions { summarizer, ..options.clone() }, echo);
            assert_eq!(done.record, plain.record, "seed {seed}: {options:?}");
            n_asked += asked.len();
        }
    }
    assert!(n_asked > 100, "{n_asked} questions prove nothing");
}

fn ruled(text: &str, mode: ClassifierMode, reply: impl Fn(&Ask) -> Answer) -> (Done, Vec<Ask>) {
    let options = EngineOptions { classifier: ClassifierSource::Model, classifier_mode: mode, ..all() };
    with_model(&record(&[("user", text)]), &options, reply)
}

const KEEP: &str = r#"{"decision": "preserve", "confidence": 0.9, "reason": "an agreement"}"#;
const COMPRESS: &str = r#"{"decision": "compress", "confidence": 0.9, "reason": "talk"}"#;

#[test]
fn a_ruling_keeps_what_the_rules_would_summarise() {
    let (done, asked) = ruled(REPORT, ClassifierMode::Hybrid, says(KEEP));
    assert_eq!(asked, [Ask::Ruling { text: REPORT.into(), role: "user".into() }]);
    done.is(0, Action::Preserved).because(0, Reason::Ruled);
    assert_eq!(done.metrics.counts.llm_classified, 1);
    assert!(done.details[0].contains(&Reason::LlmRuling));
    ruled(REPORT, ClassifierMode::Hybrid, says(COMPRESS)).0.is(0, Action::Compressed);
    let (done, _) = ruled(REPORT, ClassifierMode::Hybrid, says(&KEEP.replace("0.9", "0.2")));
    done.is(0, Action::Compressed);
    assert_eq!(
        (done.metrics.counts.llm_classified, done.metrics.counts.llm_fallbacks),
        (0, 1),
        "an unsure one is none"
    );
}

#[test]
fn full_asks_about_structure_too_but_never_about_code() {
    let listing = "order_id: 17\nstatus: late\nwarehouse: north\ncarrier: none\nnote: call back\n".repeat(8);
    let (done, asked) = ruled(&listing, ClassifierMode::Hybrid, says(COMPRESS));
    assert!(asked.is_empty(), "the rules keep it: {:?}", done.decisions);
    done.is(0, Action::Preserved);
    let (done, asked) = ruled(&listing, ClassifierMode::Full, says(COMPRESS));
    assert_eq!(asked.len(), 1);
    done.is(0, Action::Compressed);
    for wrong in ["no idea", ""] {
        ruled(&listing, ClassifierMode::Full, says(wrong)).0.is(0, Action::Preserved).because(0, Reason::HardT0);
    }
    let code = format!("{}\n```rust\nfn main() {{}}\n```", prose(400));
    assert!(ruled(&code, ClassifierMode::Full, says(KEEP)).1.is_empty());
}

#[test]
fn prose_between_code_may_be_written_by_a_model_that_never_sees_the_code() {
    let fence = "```rust\nfn retry_all(pool: &Pool) {}\n```";
    let text = format!("{REPORT}\n\n{fence}\n\n{REPORT} {}", prose(200));
    let first = "The pool was raised from 20 to 200 connections; KMS-7781 stays open.";
    let reply = |ask: &Ask| match ask {
        Ask::Summary(ask) if ask.text.len() < 500 => Answer::Text(first.to_owned()),
        _ => Answer::Text("The pool was raised from 20 to 999 connections.".to_owned()),
    };
    let (done, asked) = with_model(&record(&[("assistant", &text)]), &asking(Summarizer::Normal), reply);
    assert_eq!(asked.len(), 2, "a question for each passage: {asked:?}");
    for ask in &asked {
        let Ask::Summary(ask) = ask else { panic!("{ask:?}") };
        assert!(!ask.text.contains("retry_all") && ask.text.contains("billing service"), "{}", ask.text);
    }
    done.is(0, Action::CodeSplit).shows(fence).shows(&format!("[summary: {first}")).hides("999");
    assert_eq!((done.metrics.counts.llm_summaries, done.metrics.counts.llm_fallbacks), (1, 1));
    let (before, behind) = done.texts[0].split_once(fence).expect("the code stays between them");
    assert!(before.contains(first) && behind.contains("[summary: "), "{}", done.texts[0]);
}

#[test]
fn no_summary_is_asked_for_before_every_ruling_is_there() {
    let texts = [REPORT.to_owned(), format!("{} {REPORT}", prose(200))];
    let talk = record(&[("user", &texts[0]), ("user", &texts[1])]);
    let options = EngineOptions { classifier: ClassifierSource::Model, ..asking(Summarizer::Normal) };
    let reply = |ask: &Ask| match ask {
        Ask::Ruling { text, .. } => Answer::Text(if *text == texts[0] { KEEP } else { COMPRESS }.to_owned()),
        _ => Answer::Text("The pool was raised from 20 to 200.".to_owned()),
    };
    let (done, asked) = with_model(&talk, &options, reply);
    let kinds: Vec<bool> = asked.iter().map(|ask| matches!(ask, Ask::Ruling { .. })).collect();
    assert_eq!(kinds, [true, true, false], "the merged text of both was never asked for");
    done.because(0, Reason::Ruled).is(1, Action::Compressed);

    // What will be asked later is open: nothing falls back, and nothing else is asked.
    let (done, asked) = with_model(&talk, &options, |_| Answer::None(NoAnswer::Later));
    assert_eq!((asked.len(), done.metrics.counts.llm_fallbacks), (2, 0));
    let (_, asked) = with_model(&talk, &asking(Summarizer::Escalating), |_| Answer::None(NoAnswer::Later));
    assert_eq!(asked.len(), 1, "the second way waits for the answer to the first");
}

#[test]
fn nobody_is_asked_about_what_is_kept_anyway() {
    let record = record_of(&[
        json!({"role": "system", "content": REPORT}),
        json!({"role": "user", "content": "Short."}),
        json!({"role": "assistant", "content": REPORT, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "c", "content": "[summary: It was done.]"}),
        json!({"role": "user", "content": REPORT}),
    ]);
    let options = EngineOptions {
        classifier: ClassifierSource::Model,
        classifier_mode: ClassifierMode::Full,
        summarizer: Summarizer::Escalating,
        recency_window: 1,
        ..EngineOptions::default()
    };
    let (_, asked) = with_model(&record, &options, says(KEEP));
    assert_eq!(asked, [], "preserved role, short, call, earlier summary, recency window");
}

#[test]
fn a_model_that_nobody_wants_is_not_asked() {
    let engine = Engine::new(all()).expect("options");
    let mut asks = Vec::new();
    compress_consulted(&record(&[("user", REPORT)]), &engine, &Answers::default(), &mut asks);
    assert!(asks.is_empty(), "{asks:?}");
}
