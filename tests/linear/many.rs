//! Conversations with a great many of one thing.

use serde_json::{Value, json};

use super::places::{WORDS, call, result, said, text_part};

/// A great many of one thing.
pub struct Thing {
    pub name: &'static str,
    pub n_many: usize,
    /// Messages that have a number of them.
    pub messages: fn(usize) -> Vec<Value>,
}

const fn thing(name: &'static str, n_many: usize, messages: fn(usize) -> Vec<Value>) -> Thing {
    Thing { name, n_many, messages }
}

/// What is short comes a hundred thousand times; what stands at an even place meets everything that can be done.
pub const THINGS: [Thing; 18] = [
    thing("short messages of two", 100_000, |n| talk(n, |at| format!("Message {at} is short."))),
    thing("short messages of one", 40_000, |n| (0..n).map(|at| said("user", &format!("Message {at}."))).collect()),
    thing("texts of one message", 100_000, |n| {
        let parts: Vec<Value> = (0..n).map(|at| text_part(&format!("Part {at} is short."))).collect();
        vec![said("user", WORDS), json!({"role": "assistant", "content": parts}), said("user", WORDS)]
    }),
    thing("corrections", 16_000, |n| {
        talk(n, |at| format!("Actually, order {at} must use invoiceRenderer{} and Postgres instead of Redis.", at % 60))
    }),
    thing("calls of one message", 100_000, |n| {
        let ids: Vec<String> = (0..n).map(|at| format!("c{at}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut messages = vec![said("user", WORDS), call(&ids, "Bash", "{\"command\": \"cat a\"}")];
        messages.extend(ids.iter().rev().take(n / 4).map(|id| result(id, "ok")));
        messages
    }),
    thing("long messages of two", 10_000, |n| {
        talk(n, |at| {
            format!(
                "Message {at} says that order {at} went out to nobody, that nobody was in when it came, and that it will be brought again on the day after tomorrow."
            )
        })
    }),
    thing("names", 100_000, |n| {
        (0..n)
            .map(|at| json!({"role": "user", "name": format!("Ada {at}"), "content": format!("Yes, {at}.")}))
            .collect()
    }),
    thing("turns of several", 40_000, |n| {
        let said = |at: usize| match at % 4 {
            0 => format!("Who was it that left gate {} of the garden open at night?", at / 40),
            1 => "Nobody, as far as I know, since it was raining and we all were in the house,".to_owned(),
            2 => "Mm-hmm.".to_owned(),
            _ => "so it must have been the wind or a neighbour of ours, which would not be the first time.".to_owned(),
        };
        (0..n).map(|at| json!({"role": "user", "name": format!("Ada {}", at % 2), "content": said(at)})).collect()
    }),
    thing("results without a call", 30_000, |n| {
        let answers = (0..n).map(|at| result(&format!("c{}", at % 7), &format!("Line {at} of it.")));
        std::iter::once(said("user", WORDS)).chain(answers).chain([said("assistant", WORDS)]).collect()
    }),
    thing("earlier summaries", 100_000, |n| {
        let earlier = |at: usize| {
            let original = json!({"ids": [format!("m{at}")], "summary_id": format!("cce_sum_{at}"), "version": 0});
            json!({"role": "user", "content": format!("[summary: order {at} went out]"), "metadata": {"_cce_original": original}})
        };
        (0..n).map(earlier).chain([said("assistant", &WORDS.repeat(9))]).collect()
    }),
    thing("earlier references", 20_000, |n| talk(n, |at| format!("[cce:dup of m{} — 545 chars]", at / 2))),
    thing("calls and results", 20_000, |n| {
        let pair = |at: usize| {
            let id = format!("c{at}");
            [call(&[&id], "Read", &format!("{{\"file_path\": \"src/a{}.rs\"}}", at % 500)), result(&id, WORDS)]
        };
        (0..n / 2).flat_map(pair).collect()
    }),
    thing("equal messages", 20_000, |n| talk(n, |_| format!("{WORDS} {WORDS}"))),
    thing("earlier summaries of one name", 20_000, |n| {
        let original = json!({"ids": ["m"], "summary_id": "cce_sum_1", "version": 0});
        let earlier = |at: usize| json!({"role": "user", "content": format!("{WORDS} {at}"), "metadata": {"_cce_original": original}});
        (0..n).map(earlier).collect()
    }),
    thing("parts that are no text", 100_000, |n| {
        let mut parts = vec![json!({"type": "image_url"}); n];
        parts.push(text_part(&WORDS.repeat(9)));
        vec![said("user", WORDS), json!({"role": "assistant", "content": parts}), said("user", WORDS)]
    }),
    thing("questions and answers", 20_000, |n| {
        talk(n, |at| {
            if at % 2 == 0 {
                format!("Could you bring order {at}?")
            } else {
                "Done, it was brought to the old bench. I checked it.".into()
            }
        })
    }),
    thing("roles", 20_000, |n| (0..n).map(|at| said(&format!("role{at}"), &format!("Yes, {at}."))).collect()),
    thing("system prompts", 40_000, |n| (0..n).map(|at| said("system", &format!("{WORDS} {at}"))).collect()),
];

fn talk(n: usize, text: impl Fn(usize) -> String) -> Vec<Value> {
    (0..n).map(|at| said(if at % 2 == 0 { "user" } else { "assistant" }, &text(at))).collect()
}
