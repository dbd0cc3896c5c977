//! Which messages are kept for what later ones need, and which give way to a correction.

use condenser::model::{Action, EngineOptions, PreservePattern, Reason};
use condenser::stage::{Plan, Profiles, Stage, Supersede, View, classify::Depth, importance_parts};
use serde_json::json;

use crate::support::talk::{self, Done, compress, compress_record, prose, record_of};

const REQUEST: &str = "Please use the Redis cluster for the sessionStore and set its timeout at 30 minutes, so that tenants \
    of the billing portal stay logged in over lunch while the nightly migration of the sessionStore is running.";
const CORRECTION: &str = "Actually, do not use the Redis cluster for the sessionStore: keep it in Postgres and set the \
    timeout at 10 minutes, since the auditors of the billing portal asked for that.";

fn options() -> EngineOptions {
    EngineOptions { contradiction_detection: true, ..talk::all() }
}

fn important() -> EngineOptions {
    EngineOptions { importance_scoring: true, ..talk::all() }
}

/// Three messages of a user, each of which would be merged with the others.
fn merged(options: &EngineOptions) -> Done {
    compress(&[("user", &prose(300)), ("user", REQUEST), ("user", CORRECTION), ("assistant", "Done.")], options)
}

#[test]
fn without_the_option_nothing_is_superseded() {
    let done = merged(&talk::all());
    assert_eq!(done.metrics.counts.contradicted, 0);
    assert!(done.decisions.iter().all(|(_, reason)| *reason != Reason::Correction));
}

#[test]
fn b3_a_merge_never_swallows_a_correction_and_the_superseded_instruction_is_marked() {
    let done = merged(&options());
    done.is(1, Action::Contradicted).because(2, Reason::Correction).shows(CORRECTION);
    done.shows("[cce:superseded by m2 (explicit_correction) — ");
    assert_eq!(done.metrics.counts.contradicted, 1);
}

#[test]
fn b4_code_of_a_superseded_message_survives() {
    let code = "```ts\nexport const retryPolicy = { attempts: 5,  backoff: 'linear' };\n```";
    let answer = format!(
        "The retry policy of the payment client retries five times with a linear backoff between the attempts, and \
         the payment client gives up after that. Here is the retry policy as it is configured now:\n\n{code}\n\nThe \
         payment client reads it once when the worker starts, so a change of the policy needs a restart of the worker."
    );
    let correction = "Actually, the retry policy of the payment client must use an exponential backoff with three \
        attempts; the linear backoff of the payment client overloaded the bank last week.";
    let done = compress(&[("user", "Show me."), ("assistant", &answer), ("user", correction)], &options());
    done.is(1, Action::Contradicted).because(2, Reason::Correction).shows(code).shows("superseded by m2");
    let text = &done.texts[1];
    assert!(text.ends_with(&format!("]\n\n{code}")), "{text}");
    // A second round takes it for what it is.
    compress_record(&done.record, &options()).because(1, Reason::AlreadyCompressed);
}

#[test]
fn b4_words_that_only_look_like_a_signal_do_nothing() {
    for text in [
        "You can ignore the noise of the sessionStore in the Redis cluster, the timeout at 30 minutes is what matters for \
         the tenants of the billing portal.",
        "We had to wait, and then the sessionStore of the Redis cluster came back within its timeout of 30 minutes for all \
         tenants of the billing portal.",
        "The sessionStore keeps not only the Redis cluster but also the billing portal alive, with a timeout at 30 minutes \
         for all of the tenants.",
        "No, thank you, the sessionStore of the Redis cluster is fine with a timeout at 30 minutes for the tenants of the \
         billing portal, nothing else is needed.",
    ] {
        let done = compress(&[("user", REQUEST), ("assistant", "Done."), ("user", text)], &options());
        assert_eq!(done.metrics.counts.contradicted, 0, "{text}\n{}", done.visible());
    }
}

#[test]
fn a_correction_of_something_else_supersedes_nothing() {
    let other = "Actually, the invitation for the summer party must go out on Monday morning, because the caterer wants \
        to know the number of guests before the weekend.";
    let done = compress(&[("user", REQUEST), ("assistant", "Done."), ("user", other)], &options());
    assert_eq!(done.metrics.counts.contradicted, 0, "{}", done.visible());
}

#[test]
fn an_answer_to_a_question_is_no_correction() {
    let question = "Should the sessionStore of the Redis cluster get a longer timeout for the billing portal?";
    let answer = "No, the sessionStore should stay at a timeout of 30 minutes in the Redis cluster, that is what the \
        tenants of the billing portal are used to.";
    let done = compress(&[("user", REQUEST), ("assistant", question), ("user", answer)], &options());
    assert_eq!(done.metrics.counts.contradicted, 0, "{}", done.visible());
}

#[test]
fn a_chain_of_corrections_points_at_the_last_one() {
    let second = "No, use Postgres for the sessionStore only until March, then the Redis cluster again, and set the \
        timeout at 15 minutes, as the auditors of the billing portal now say.";
    let done = compress(
        &[("user", REQUEST), ("assistant", "Done."), ("user", CORRECTION), ("assistant", "Changed."), ("user", second)],
        &options(),
    );
    done.is(0, Action::Contradicted).is(2, Action::Contradicted).because(4, Reason::Correction);
    assert_eq!(done.visible().matches("[cce:superseded by m4").count(), 2, "{}", done.visible());
}

#[test]
fn what_a_rule_protects_or_a_summary_would_destroy_is_not_superseded() {
    let in_window = EngineOptions { recency_window: 4, ..options() };
    merged(&in_window).because(1, Reason::RecencyWindow);
    let sql = "For the sessionStore of the billing portal use this with its timeout, on the Redis cluster and nowhere else:\n\
        SELECT id, tenant FROM session_store WHERE timeout > 30 ORDER BY tenant LIMIT 10;\n\
        UPDATE session_store SET timeout = 30 WHERE tenant IN (SELECT id FROM tenants);";
    let done = compress(&[("user", sql), ("assistant", "Done."), ("user", CORRECTION)], &options());
    done.shows(sql).is(0, Action::Preserved);
}

#[test]
fn tools_and_other_speakers_take_nothing_back() {
    let call = json!({"role": "assistant", "content": null, "tool_calls":
        [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]});
    let done = compress_record(
        &record_of(&[
            json!({"role": "user", "content": REQUEST}),
            call,
            json!({"role": "tool", "tool_call_id": "c1", "content": CORRECTION}),
            json!({"role": "assistant", "content": CORRECTION}),
        ]),
        &options(),
    );
    assert_eq!(done.metrics.counts.contradicted, 0, "{}", done.visible());
    let named = |name: &str, text: &str| json!({"role": "user", "name": name, "content": text});
    let done = compress_record(
        &record_of(&[named("Ada", REQUEST), named("Grace", &CORRECTION.replace("Actually,", "Correction:"))]),
        &options(),
    );
    assert_eq!(done.metrics.counts.contradicted, 0, "{}", done.visible());
}

#[test]
fn a_later_round_keeps_the_correction() {
    let first = merged(&options());
    compress_record(&first.record, &options()).because(2, Reason::Correction).shows(CORRECTION);
}

#[test]
fn a_short_correction_joins_no_chain() {
    let short = "No, keep the sessionStore in Postgres, with a timeout at 10 minutes.";
    let options = EngineOptions { conversation_flow: true, semantic_clustering: true, ..options() };
    let messages = [("user", REQUEST), ("assistant", "Done."), ("user", short), ("assistant", "I changed it.")];
    let done = compress(&messages, &options);
    done.is(0, Action::Contradicted).because(2, Reason::Correction).shows(short);
}

#[test]
fn corrections_in_other_languages_count() {
    for (request, correction) in [
        (
            "Bitte richte den Sitzungsspeicher auf dem Redis-Cluster ein und setze das Zeitlimit auf dreißig Minuten, damit \
             die Mandanten des Abrechnungsportals über Mittag angemeldet bleiben.",
            "Nein, nimm bitte Postgres für den Sitzungsspeicher und setze das Zeitlimit auf zehn Minuten, die Prüfer des \
             Abrechnungsportals wollen es so.",
        ),
        (
            "请把会话存储放在缓存集群上，并把超时时间设置为三十分钟，这样计费门户的租户在午休时间也能保持登录状态。另外请在今天晚上\
             之前完成迁移，并且把会话存储的监控指标加到仪表盘上，这样值班同事可以及时看到超时的变化，同时请通知所有相关的租户和客服\
             团队，避免明天早上出现大量的咨询电话，谢谢大家的配合与支持，辛苦各位同事了。",
            "更正：会话存储不要放在缓存集群上，请把超时时间设置为十分钟，计费门户的审计人员要求这样做，租户那边已经通知过了。",
        ),
    ] {
        let done = compress(&[("user", request), ("assistant", "OK."), ("user", correction)], &options());
        done.is(0, Action::Contradicted).because(2, Reason::Correction);
    }
}

/// How often `claim` and its like look at something is a matter of the bench; here the sizes that it has to bear.
#[test]
fn g2_thousands_of_corrections_of_one_thing_are_found() {
    let messages: Vec<_> = (0..4_000)
        .map(|index| json!({"role": "user", "id": format!("u{index}"), "content": format!("{CORRECTION} Round {index}.")}))
        .collect();
    let record = record_of(&messages);
    let shape = condenser::shape::detect(&record).unwrap();
    let decoded = condenser::shape::decode(&record, shape, "c").unwrap();
    let mut profiles = Profiles::default();
    profiles.measure(&decoded.conversation);
    profiles.lex(&decoded.conversation);
    let options = EngineOptions { importance_scoring: true, ..options() };
    let view = View {
        conversation: &decoded.conversation,
        profiles: &profiles,
        options: &options,
        recency_start: messages.len(),
        depth: Depth::Decide,
    };
    let mut plan = Plan::new(messages.len());
    Supersede.claim(&view, &mut plan);
    let last = messages.len() - 1;
    let n_superseded = (0..last).filter(|&index| !plan.is_free(index)).count();
    assert_eq!(n_superseded, last, "each is corrected by the next one");
    let importance: Vec<f64> = importance_parts(&view).iter().map(|parts| parts.score).collect();
    assert!(importance.iter().all(|score| (0.0..=1.0).contains(score)));
}

/// The third message is what the others depend on.
fn depended_on() -> Vec<serde_json::Value> {
    let mut messages = vec![
        json!({"role": "user", "content": prose(260)}),
        json!({"role": "assistant", "content": prose(250)}),
        json!({"role": "user", "content": "The invoiceRenderer must never run before KMS-7781 is closed, and the \
            pdf_export_queue has to stay below its limit. The deadline is Friday, as the customers were told by the team \
            that writes to them every week."}),
    ];
    for index in 0..5 {
        let use_it = format!("Step {index} looked at the invoiceRenderer again. {}", prose(200 + index * 3));
        messages.push(json!({"role": "assistant", "content": use_it}));
        messages
            .push(json!({"role": "user", "content": format!("Go on with part {index}. {}", prose(150 + index * 7))}));
    }
    messages
}

#[test]
fn what_later_messages_depend_on_is_kept() {
    let done = compress_record(&record_of(&depended_on()), &important());
    done.because(2, Reason::Importance).is(0, Action::Compressed);
    assert_eq!(done.metrics.counts.importance_preserved, 1);
    compress_record(&record_of(&depended_on()), &talk::all()).is(2, Action::Compressed);
}

#[test]
fn an_important_duplicate_is_kept_once() {
    let mut messages = depended_on();
    let settings: String = (0..30).map(|at| format!("setting_{at}: value\n")).collect();
    messages[2]["content"] = json!(format!("{settings}{}", messages[2]["content"].as_str().expect("a text")));
    let again = messages[2].clone();
    messages.insert(5, again);
    let options = EngineOptions { contradiction_detection: true, ..important() };
    let done = compress_record(&record_of(&messages), &options);
    done.is(2, Action::Deduped).is(5, Action::Preserved);
}

#[test]
fn d4_importance_is_by_the_index_of_the_input() {
    let record = record_of(&depended_on());
    let shape = condenser::shape::detect(&record).unwrap();
    let decoded = condenser::shape::decode(&record, shape, "c").unwrap();
    let mut profiles = Profiles::default();
    profiles.measure(&decoded.conversation);
    profiles.lex(&decoded.conversation);
    let n = decoded.conversation.messages.len();
    let options = important();
    let view = View {
        conversation: &decoded.conversation,
        profiles: &profiles,
        options: &options,
        recency_start: n,
        depth: Depth::Decide,
    };
    let importance: Vec<f64> = importance_parts(&view).iter().map(|parts| parts.score).collect();
    assert_eq!(importance.len(), n);
    let most = (0..n).max_by(|&a, &b| importance[a].total_cmp(&importance[b]));
    assert_eq!(most, Some(2), "{importance:?}");
    // Under a budget the messages before it are merged and truncated; it is not.
    let budget = EngineOptions {
        token_budget: Some(420),
        force_converge: true,
        budget_strategy: condenser::model::BudgetStrategy::Tiered,
        ..important()
    };
    compress_record(&record, &budget).shows("must never run before KMS-7781 is closed");
}

#[test]
fn a_short_message_that_matches_a_pattern_is_neither_joined_nor_truncated() {
    let mut messages = vec![json!({"role": "user", "content": "Release code is tulip forty-two."})];
    for i in 0..8 {
        messages.push(json!({"role": "assistant", "content": format!("Note {i}. {}", prose(300))}));
        messages.push(json!({"role": "user", "content": format!("Fine, go on with step {i} then.")}));
    }
    let record = record_of(&messages);
    let forced = |patterns| EngineOptions {
        preserve_patterns: patterns,
        token_budget: Some(60),
        force_converge: true,
        recency_window: 0,
        conversation_flow: true,
        ..EngineOptions::default()
    };
    let tulip = PreservePattern { label: "code".into(), re: "tulip".into() };
    let kept = compress_record(&record, &forced(vec![tulip]));
    kept.because(0, Reason::Pattern);
    assert_eq!(kept.texts[0], "Release code is tulip forty-two.");
    let plain = compress_record(&record, &forced(Vec::new()));
    assert_ne!(plain.texts[0], "Release code is tulip forty-two.", "without the pattern it gives way");
}

#[test]
fn a_correction_whose_name_is_the_id_of_another_is_still_found() {
    let record = record_of(&[
        json!({"role": "user", "content": REQUEST, "id": "m3"}),
        json!({"role": "assistant", "content": "Done."}),
        json!({"role": "assistant", "content": "Anything else?"}),
        json!({"role": "user", "content": CORRECTION}),
    ]);
    let done = compress_record(&record, &options());
    done.is(0, Action::Contradicted).shows("[cce:superseded by m3_ ");
}
