//! Chains of neighbours and messages about one topic: what comes together, what never does, and that everything is
//! restored where it stood.

use condenser::engine::Engine;
use condenser::model::{Action, EngineOptions, PreservePattern, Reason, marker};
use serde_json::{Value, json};

use crate::support::talk::{Done, all, compress, compress_record, compress_with, record, record_of};

fn flow() -> EngineOptions {
    EngineOptions { conversation_flow: true, ..all() }
}

fn topics() -> EngineOptions {
    EngineOptions { semantic_clustering: true, ..all() }
}

fn both() -> EngineOptions {
    EngineOptions { semantic_clustering: true, ..flow() }
}

const QUESTION: &str = "We run the payment service in two regions since spring. Which region should take the nightly \
    export, and what happens to the ledger when the first one is down?";
const ANSWER: &str = "The export runs in eu-west-3 because the ledger replica lives there. When that region is down, \
    the scheduler waits for 45 minutes and then starts the export in eu-north-1. Nobody has to press a button for \
    that. The garden party of the team is a different story, and so is the weather on that day. People still talk \
    about the band that played there until late.";

/// `n` characters or a few more of prose about `subject`, which no other subject repeats.
fn prose(n: usize, subject: &str) -> String {
    let sentences = [
        "was talked about in the morning and again when the others came back.",
        "is what some people asked for and nobody has written down so far.",
        "was quiet on most evenings, and children played beside it until late.",
        "came up once more, without any haste and with many more words than before.",
    ];
    let mut text = String::new();
    for sentence in sentences.iter().cycle() {
        if text.len() >= n {
            break;
        }
        text.push_str(&format!("The {subject} {sentence} "));
    }
    text.trim_end().to_owned()
}

/// Units of more than one message.
fn units(done: &Done) -> Vec<Vec<usize>> {
    done.sources.iter().filter(|sources| sources.len() > 1).cloned().collect()
}

/// The text of the unit that begins with message `first`.
#[track_caller]
fn text_of(done: &Done, first: usize) -> &str {
    let at = done.sources.iter().position(|sources| sources[0] == first).expect("a unit begins there");
    &done.texts[at]
}

// Chains.

#[test]
fn a_question_its_answer_and_the_thanks_are_one() {
    let done = compress(
        &[
            ("user", QUESTION),
            ("assistant", ANSWER),
            ("user", "Perfect, thanks!"),
            ("assistant", &prose(400, "bridge")),
        ],
        &flow(),
    );
    assert_eq!(done.sources[0], [0, 1, 2]);
    done.because(0, Reason::FlowQa).because(2, Reason::FlowQa);
    let text = text_of(&done, 0);
    assert!(text.starts_with("[summary: Q: ") && text.contains(" → A: The export runs in eu-west-3"), "{text}");
    assert!(text.contains(" (confirmed) (3 messages, qa)"), "{text}");
    assert!(marker::stands_for_others(text), "{text}");
    assert!(marker::inner_summary(text).is_some_and(|inner| inner.ends_with("(confirmed)")), "{text}");
}

#[test]
fn a_request_and_what_was_done_are_one() {
    let request = format!("Please raise the pool size of the ledger database to 40. {}", prose(200, "kiosk"));
    let report = format!("I've raised the pool size in config/ledger.toml from 25 to 40. {}", prose(300, "lantern"));
    let talk =
        [("user", request.as_str()), ("assistant", &report), ("user", "lgtm"), ("assistant", &prose(300, "meadow"))];
    let done = compress(&talk, &flow());
    done.because(0, Reason::FlowRequest).shows("Request: Please raise the pool size").shows("from 25 to 40");
    done.shows(" → confirmed (3 messages, request_action)");
}

#[test]
fn a_statement_and_its_confirmation_are_one() {
    let statement = format!("The cutover is on March 3 at 22:00, led by Ines. {}", prose(400, "fountain"));
    let talk =
        [("assistant", statement.as_str()), ("user", "Sounds good, thank you."), ("assistant", "You're welcome!")];
    let done = compress(&talk, &flow());
    assert_eq!(units(&done), [[0, 1, 2]]);
    done.because(1, Reason::FlowAcknowledgment).shows("March 3 at 22:00").shows(" (acknowledged) (3 messages, ack");
}

#[test]
fn a_correction_shows_what_it_corrects() {
    let claim = format!("The staging database listens on port 5432 of host db-stage-4. {}", prose(400, "orchestra"));
    let correction =
        "Wait, the staging database listens on port 5433 since the move last week. Use that one from now on.";
    let talk = [
        ("assistant", claim.as_str()),
        ("user", correction),
        ("assistant", &prose(300, "stairway")),
        ("user", &prose(300, "balcony")),
    ];
    let done = compress(&talk, &flow());
    assert_eq!(done.sources[0], [0, 1, 2]);
    done.because(1, Reason::FlowCorrection).shows("Correction: Wait, the staging database listens on port 5433");
    done.shows("(corrects: The staging database listens on port 5432 of host db-stage-4.)");
}

#[test]
fn chains_work_in_other_languages() {
    let frage = format!(
        "Welche Filiale übernimmt die Inventur am Montag, und wer hat den Schlüssel? {}",
        prose(150, "courtyard")
    );
    let antwort =
        format!("Die Filiale Nord übernimmt die Inventur, den Schlüssel hat Frau Öztürk. {}", prose(400, "windmill"));
    let done = compress(
        &[("user", &frage), ("assistant", &antwort), ("user", "Danke, passt!"), ("assistant", &prose(300, "signpost"))],
        &flow(),
    );
    done.because(0, Reason::FlowQa).shows("Frau Öztürk").shows("(confirmed)").hides("passt");
    let question = "昨天大家在会议上谈了很久，最后没有写下来。".repeat(6) + "周一的盘点由哪个门店负责？";
    let answer = "周一的盘点由北区门店负责。钥匙由李经理保管。".to_owned()
        + &"大家在公园里散步，天气很好，孩子们在喷泉边玩。".repeat(12);
    let done = compress(
        &[
            ("user", &question),
            ("assistant", &answer),
            ("user", "好的，谢谢！"),
            ("assistant", &prose(300, "carousel")),
        ],
        &flow(),
    );
    done.because(0, Reason::FlowQa).shows("北区门店").shows("(confirmed)");
}

// A1, A2.

#[test]
fn a1_no_message_is_in_two_units_beside_neighbours_of_its_role() {
    for roles in ["uuau", "uaau", "uauu", "uuaau", "auaua", "uauaua", "aauu", "uaaauau"] {
        let text = |i: usize, role: char| match (i, role) {
            (_, 'u') => format!("Round {i}. {QUESTION}"),
            _ => format!("{ANSWER} Round {i}."),
        };
        let texts: Vec<(char, String)> = roles.chars().enumerate().map(|(i, role)| (role, text(i, role))).collect();
        let talk: Vec<(&str, &str)> =
            texts.iter().map(|(role, text)| (if *role == 'u' { "user" } else { "assistant" }, text.as_str())).collect();
        // The helper asserts that every message is in exactly one unit, in order, and that roles stay valid.
        for options in [flow(), topics(), both()] {
            compress(&talk, &options);
        }
    }
}

#[test]
fn a2_what_stands_between_question_and_answer_keeps_its_place() {
    let between = format!("One more thing before you answer. {}", prose(300, "greenhouse"));
    let talk = [("user", QUESTION), ("user", &between), ("assistant", ANSWER), ("user", &prose(300, "pavilion"))];
    let done = compress(&talk, &flow());
    assert!(units(&done).iter().all(|unit| unit.windows(2).all(|pair| pair[0] + 1 == pair[1])), "{:?}", done.sources);
}

#[test]
fn a_chain_never_puts_the_user_beside_the_user() {
    // A question and its answer alone, before a message of the user about something else.
    let talk = [
        ("user", QUESTION),
        ("assistant", ANSWER),
        ("user", &prose(400, "garden")),
        ("assistant", &prose(400, "bridge")),
    ];
    let done = compress(&talk, &flow());
    assert_eq!(units(&done), Vec::<Vec<usize>>::new());
    // At the end, and before a call of a tool, nothing follows that it could collide with.
    assert_eq!(units(&compress(&talk[..2], &flow())), [[0, 1]]);
}

#[test]
fn calls_and_results_between_turns_do_not_hide_a_collision() {
    let talk = record_of(&[
        json!({"role": "user", "content": QUESTION}),
        json!({"role": "assistant", "content": ANSWER}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "42"}),
        json!({"role": "user", "content": prose(300, "kiosk")}),
    ]);
    assert_eq!(units(&compress_record(&talk, &flow())), Vec::<Vec<usize>>::new());
}

// B16.

#[test]
fn b16_a_confirmation_that_carries_content_is_none() {
    let real = format!(
        "Great, now here is what we really need: invoices are kept for 7 years under key KMS-7781, and the audit is on \
         Friday. {}",
        prose(300, "lantern")
    );
    let talk = [("user", QUESTION), ("assistant", ANSWER), ("user", &real), ("assistant", &prose(300, "meadow"))];
    let done = compress(&talk, &flow());
    done.shows("KMS-7781").shows("7 years").hides("(confirmed)");
    let crash = "Yesterday the payments queue crashed twice and we lost 4112 events of two customers in the night.";
    let talk = [("user", QUESTION), ("assistant", ANSWER), ("user", crash), ("assistant", &prose(300, "fountain"))];
    compress(&talk, &flow()).shows("4112 events").hides("(confirmed)");
}

#[test]
fn b16_waiting_corrects_nothing() {
    let statement = format!("PostgreSQL 15 runs on host db-prod-7 behind the proxy. {}", prose(300, "orchestra"));
    let waiting = format!("Waiting for the pipeline of the PostgreSQL host. {}", prose(200, "stairway"));
    let talk = [("user", statement.as_str()), ("assistant", &waiting), ("user", &prose(300, "balcony"))];
    compress(&talk, &flow()).shows("db-prod-7").hides("Correction");
}

#[test]
fn b16_an_account_of_the_past_is_no_request() {
    let story =
        format!("The numbers do not add up in the report, I made a table of all of them. {}", prose(300, "courtyard"));
    let reply = format!("I compared both versions and nothing was removed from the table. {}", prose(300, "windmill"));
    let done = compress(&[("user", &story), ("assistant", &reply)], &flow());
    done.hides("request_action").hides("Request:");
}

#[test]
fn b16_a_bare_thanks_joins() {
    let talk = [("user", QUESTION), ("assistant", ANSWER), ("user", "Thanks!"), ("assistant", &prose(300, "signpost"))];
    let done = compress(&talk, &flow());
    assert_eq!(done.sources[0], [0, 1, 2]);
}

#[test]
fn a_no_that_answers_a_question_is_no_correction() {
    let ask = format!(
        "Was the booking made within the last 24 hours? Please tell me before I go on. {}",
        prose(200, "carousel")
    );
    let talk = [
        ("assistant", ask.as_str()),
        ("user", "No, it wasn't made in the last 24 hours, the booking is from March, and I paid by card in the shop."),
        ("assistant", &prose(300, "greenhouse")),
    ];
    compress(&talk, &flow()).hides("Correction:");
}

// B17.

#[test]
fn b17_hard_structure_is_in_no_chain_and_in_no_topic() {
    let data = json!({"region": "eu-west-3", "ledger": {"export": [1, 2, 3], "note": "x".repeat(200)}}).to_string();
    let code = format!("{}\n```rust\nfn export(region: &str) -> usize {{ region.len() }}\n```", prose(40, "pavilion"));
    for hard in [data.as_str(), &code] {
        let other = hard.replace("export", "import");
        let talk = [("user", QUESTION), ("assistant", hard), ("user", "Thanks!"), ("assistant", &other)];
        for options in [flow(), both()] {
            let done = compress(&talk, &options);
            assert_eq!(units(&done), Vec::<Vec<usize>>::new());
            done.is(1, Action::Preserved);
        }
    }
}

#[test]
fn b17_short_structure_and_preserved_patterns_are_in_no_chain() {
    let pattern = PreservePattern { label: "thanks".to_owned(), re: "(?i)thanks".to_owned() };
    let options = EngineOptions { preserve_patterns: vec![pattern], ..flow() };
    let talk = [("user", QUESTION), ("assistant", ANSWER), ("user", "Thanks!"), ("assistant", &prose(300, "garden"))];
    compress(&talk, &options).is(2, Action::Preserved);
    let secret = "key = \"sk-proj-Zx81kQmT7vLr20aBcD93EfGh45IjKl67MnOp89\"";
    let talk = [("user", QUESTION), ("assistant", ANSWER), ("user", secret), ("assistant", &prose(300, "bridge"))];
    compress(&talk, &flow()).is(2, Action::Preserved).shows(secret);
}

#[test]
fn the_window_tools_and_named_speakers_are_in_no_chain() {
    let talk = [("user", QUESTION), ("assistant", ANSWER), ("user", "Thanks!"), ("assistant", "Fine.")];
    let recent = EngineOptions { conversation_flow: true, ..EngineOptions::default() };
    assert_eq!(units(&compress(&talk, &recent)), Vec::<Vec<usize>>::new());
    let named: Vec<Value> = talk
        .iter()
        .zip(["Ada", "Bo", "Ada", "Bo"])
        .map(|((role, text), name)| json!({"role": role, "name": name, "content": text}))
        .collect();
    assert_eq!(units(&compress_record(&record_of(&named), &both())), Vec::<Vec<usize>>::new());
}

// Topics.

/// Statements of one speaker about ferries, invoices and orchards by turns.
fn minutes(n: usize, name: Option<&str>) -> Vec<Value> {
    let about = [
        ("ferry", "The ferry to Möwenort leaves from pier 9 and the harbour office keeps the ferry timetable."),
        ("invoice", "The invoice export writes refund rows twice and the invoice ledger counts every refund."),
        ("orchard", "The orchard lost many apple trees to frost and the orchard crew plants apple seedlings."),
    ];
    (0..n)
        .map(|i| {
            let (word, sentence) = about[i % 3];
            let text = format!("{sentence} Note {i} on the {word} is from session K-{}. {}", 100 + i, filler(i));
            match name {
                Some(name) => json!({"role": "user", "name": format!("{name} {}", i % 2), "content": text}),
                None => json!({"role": "user", "content": text}),
            }
        })
        .collect()
}

/// Two sentences that share no word with those of other numbers.
fn filler(i: usize) -> String {
    let word = |salt: usize| {
        format!(
            "zu{}",
            "bcdfghklmnprst"
                .chars()
                .nth((i * 5 + salt) % 14)
                .into_iter()
                .chain("aeiou".chars().nth(i % 5))
                .collect::<String>()
                .repeat(3)
        )
    };
    format!("A {} stood beside some {} there. Nobody saw the {} again that {}.", word(0), word(1), word(2), word(3))
}

#[test]
fn scattered_messages_about_one_topic_are_one_and_come_back_to_their_places() {
    let talk = record_of(&minutes(9, None));
    let done = compress_record(&talk, &topics());
    assert_eq!(done.sources, [[0, 3, 6], [1, 4, 7], [2, 5, 8]], "{}", done.visible());
    done.because(4, Reason::Cluster).shows("K-100").shows(" → ").shows(" (3 messages)");
    assert!(done.texts.iter().all(|text| marker::inner_summary(text).is_some()), "{}", done.visible());
}

#[test]
fn a_topic_has_one_speaker() {
    let done = compress_record(&record_of(&minutes(18, Some("Speaker"))), &topics());
    assert!(!units(&done).is_empty(), "{}", done.visible());
    assert!(units(&done).iter().flatten().all(|&index| done.decisions[index].1 == Reason::Cluster));
}

#[test]
fn where_speakers_take_turns_whole_exchanges_vanish() {
    let answer = |text: &str, i: usize| json!({"role": "assistant", "content": format!("{text} {}", filler(100 + i))});
    let mut talk = Vec::new();
    for (i, minute) in minutes(9, None).into_iter().enumerate() {
        let words = minute["content"].as_str().expect("a text").split('.').next().expect("a sentence").to_owned();
        talk.push(minute);
        talk.push(answer(&format!("About that: {}.", words.to_lowercase()), i));
    }
    let done = compress_record(&record_of(&talk), &topics());
    assert!(units(&done).contains(&vec![1, 6, 7, 12, 13]), "{:?}\n{}", done.sources, done.visible());
    done.shows("assistant: ").shows("user: ");
}

#[test]
fn topics_leave_tool_results_and_the_window_alone() {
    let mut talk = minutes(6, None);
    talk.insert(
        2,
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ferry", "arguments": "{}"}}]}),
    );
    talk.insert(3, json!({"role": "tool", "tool_call_id": "c1", "content": talk[0]["content"]}));
    let options = EngineOptions { recency_window: 2, ..topics() };
    let done = compress_record(&record_of(&talk), &options);
    assert!(units(&done).iter().flatten().all(|&index| index != 2 && index != 3 && index < 6), "{:?}", done.sources);
}

#[test]
fn the_threshold_decides_what_is_one_topic() {
    let talk = record_of(&minutes(9, None));
    let strict = EngineOptions { cluster_threshold: 0.95, ..topics() };
    assert!(compress_record(&talk, &strict).decisions.iter().all(|&(_, reason)| reason != Reason::Cluster));
}

#[test]
fn a3_a_second_round_restores_scattered_topics_too() {
    let mut grown: Vec<Value> = minutes(9, None);
    let first = compress_record(&record_of(&grown), &topics());
    let written: Value = serde_json::from_str(&first.record).expect("a record");
    grown = written["messages"].as_array().expect("messages").clone();
    grown.extend(minutes(21, None).split_off(9));
    // The helper proves the restore of this round.
    let second = compress_record(&record_of(&grown), &both());
    second.shows("K-120");
}

#[test]
fn hundreds_and_thousands_of_messages_are_all_looked_at() {
    for n in [500, 8_000] {
        let engine = Engine::new(both()).expect("the options are right");
        let done = compress_with(&record_of(&minutes(n, None)), &engine);
        let clustered = done.decisions.iter().filter(|(_, reason)| *reason == Reason::Cluster).count();
        assert!(clustered * 2 > n, "{clustered} of {n}");
        let largest = units(&done).iter().map(Vec::len).max();
        assert!(largest <= Some(12), "{largest:?}");
        assert!(done.decisions.iter().take(12).any(|(_, reason)| *reason == Reason::Cluster), "the oldest take part");
    }
}

#[test]
fn the_same_conversation_gives_the_same_topics() {
    let talk = record_of(&minutes(120, Some("Speaker")));
    let once = compress_record(&talk, &both());
    assert_eq!(once.record, compress_record(&talk, &both()).record);
    assert_eq!(once.sources.iter().flatten().count(), 120);
}

#[test]
fn metadata_and_embedded_ids_work_with_chains_and_topics() {
    let options = EngineOptions { embed_summary_id: true, ..both() };
    let talk =
        record(&[("user", QUESTION), ("assistant", ANSWER), ("user", "Thanks!"), ("assistant", &prose(300, "kiosk"))]);
    compress_record(&talk, &options).shows("[summary#cce_sum_").shows("(3 messages, qa)");
}

/// Roles of the output without calls and results, as chat templates see them.
fn turns(done: &Done, talk: &[Value]) -> Vec<String> {
    let is_turn = |message: &&Value| message["role"] != "tool" && message.get("tool_calls").is_none();
    let firsts = done.sources.iter().map(|sources| &talk[sources[0]]);
    firsts.filter(is_turn).map(|message| message["role"].to_string()).collect()
}

#[test]
fn turns_stay_turns_in_talks_of_any_kind() {
    let mut state = 7_u64;
    let mut next = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let (mut n_units, mut n_strict) = (0, 0);
    for round in 0..400 {
        let minutes = minutes(40, None);
        let mut talk: Vec<Value> = Vec::new();
        let by_turns = round % 2 == 0;
        for i in 0..6 + next(30) {
            let text = minutes[next(40)]["content"].as_str().expect("a text").to_owned();
            let is_user = if by_turns { i % 2 == 0 } else { next(2) == 0 };
            let content = match (is_user, next(8)) {
                (_, 0) => "Thanks!".to_owned(),
                (_, 1) => format!("{} {i}", ["Fine.", "Go on.", "And then?", "Wait, the ferry leaves at 9."][next(4)]),
                (true, 2..=4) => format!("{text} Who keeps the ferry timetable of {i}?"),
                (false, 2) => format!("I've updated the invoice export. {text} Item {i}."),
                (false, 3) => format!("Actually, the orchard is closed. {text} Item {i}."),
                _ => format!("{text} Item {i}."),
            };
            talk.push(json!({"role": if is_user { "user" } else { "assistant" }, "content": content}));
            if !is_user && next(4) == 0 {
                let call = json!([{"id": format!("c{i}"), "type": "function", "function": {"name": "look", "arguments": "{}"}}]);
                talk.push(json!({"role": "assistant", "content": null, "tool_calls": call}));
                talk.push(json!({"role": "tool", "tool_call_id": format!("c{i}"), "content": "42"}));
            }
        }
        let options = EngineOptions { recency_window: next(4), ..[flow(), topics(), both()][next(3)].clone() };
        let done = compress_record(&record_of(&talk), &options);
        n_units += units(&done).len();
        let before: Vec<String> = talk
            .iter()
            .filter(|message| message["role"] != "tool" && message.get("tool_calls").is_none())
            .map(|message| message["role"].to_string())
            .collect();
        if before.windows(2).all(|pair| pair[0] != pair[1]) {
            n_strict += 1;
            let after = turns(&done, &talk);
            assert!(after.windows(2).all(|pair| pair[0] != pair[1]), "round {round}: {:?}\n{talk:#?}", done.sources);
        }
    }
    assert!(n_units > 300 && n_strict > 100, "{n_units} units, {n_strict} talks by turns");
}
