//! Messages that bring careless scanners to their knees, at 8 and 16 MB, and a conversation of 100,000 messages.
//! `cargo bench -p condenser-benches --bench awkward`

use std::time::Instant;

use condenser::engine::{Engine, Scratch};
use condenser::model::{Content, Conversation, EngineOptions, Message, Role};

const SIZE: usize = 8 << 20;
const UNCLOSED_FENCE: &str = "an unclosed fence";
const UNCLOSED_QUOTE: &str = "an unclosed quote";

#[expect(clippy::print_stdout, reason = "the figures are the result")]
fn main() {
    let options = EngineOptions { recency_window: 0, fuzzy_dedup: true, ..EngineOptions::default() };
    let engine = Engine::new(options).expect("options");
    println!("| message | MB/s at 8 MB | time at 16 MB / time at 8 MB |\n|---|--:|--:|");
    let cases: [(&str, &str); 25] = [
        ("words without punctuation", "word another thing "),
        ("Chinese without punctuation", "今天我们去公园散步然后回家"),
        ("Chinese with punctuation", "今天我们去公园。然后回家！"),
        ("digits", "0123456789"),
        ("ab-ab-", "ab-"),
        ("a.a.a.", "a."),
        ("blanks", " "),
        ("newlines", "\n"),
        ("fences within fences", "```\ncode\n~~~\n"),
        (UNCLOSED_FENCE, "let sum = sum + 1;\n"),
        (UNCLOSED_QUOTE, "word another thing "),
        ("backticks", "`"),
        ("unclosed quotes", "\"word “word "),
        ("emoji", "👩‍👩‍👧‍👦🎉"),
        ("CRLF", "A line of words.\r\n"),
        ("slashes and at signs", "a/b@c.d:1 "),
        ("abbreviations", "No. "),
        ("list items", "- a\n"),
        ("single letters", "A\n"),
        ("single words", "A "),
        ("names", "Abc "),
        ("denials", "不"),
        ("failures", "error: x\n"),
        ("numbered items", "1. "),
        ("pairs", "{\"a\":1},"),
    ];
    for (name, piece) in cases {
        let small = text(name, piece, SIZE);
        let large = text(name, piece, 2 * SIZE);
        let first = time(&engine, &[&small]);
        let second = time(&engine, &[&large]);
        println!("| {name} | {:.0} | {:.2} |", small.len() as f64 / 1e6 / first, second / first);
    }
    let many: Vec<String> = (0..100_000).map(|i| format!("Message number {i} is short.")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    println!("\n100,000 short messages: {:.2} s", time(&engine, &many));
    let long: Vec<String> = (0..100_000).map(|i| format!("Message number {i} says that the order went out, that nobody was in when it came, and that it will be brought again on the next day.")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    println!("100,000 messages of 130 characters, all compressible: {:.2} s", time(&engine, &long));
    selection();
}

/// Conversations in which every message corrects the one before and uses what all of them use.
#[expect(clippy::print_stdout, reason = "the figures are the result")]
fn selection() {
    let options = EngineOptions {
        recency_window: 0,
        contradiction_detection: true,
        importance_scoring: true,
        ..EngineOptions::default()
    };
    let engine = Engine::new(options).expect("options");
    for n_messages in [4_000, 8_000] {
        let text = |i: usize| {
            format!(
                "Actually, order {i} of the billing portal must use invoiceRenderer{} and the Postgres sessionStore with a timeout of {} minutes, the Redis cluster of KMS-{} goes.",
                i % 97,
                i % 60,
                i % 331
            )
        };
        let texts: Vec<String> = (0..n_messages).map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        println!("{n_messages} corrections of one thing: {:.3} s", time(&engine, &texts));
    }
}

fn text(name: &str, piece: &str, size: usize) -> String {
    let start = match name {
        UNCLOSED_FENCE => "Look at this:\n```rust\n",
        UNCLOSED_QUOTE => "He said: \"",
        _ => "",
    };
    start.to_owned() + &piece.repeat(size / piece.len())
}

/// Seconds of the fastest of three runs.
fn time(engine: &Engine, texts: &[&str]) -> f64 {
    let conversation = Conversation {
        id: "c".into(),
        messages: texts.iter().map(|text| message(text)).collect(),
        ..Conversation::default()
    };
    let mut scratch = Scratch::default();
    let run = |scratch: &mut Scratch| {
        let start = Instant::now();
        std::hint::black_box(engine.condense(&conversation, scratch));
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| run(&mut scratch)).fold(f64::INFINITY, f64::min)
}

fn message(text: &str) -> Message<'_> {
    Message {
        raw: "{}",
        id: None,
        role: Role::User,
        name: None,
        content: Content::Text(text.into()),
        tool_calls: Vec::new(),
        tool_call_id: None,
        results: Vec::new(),
        reasoning: Vec::new(),
        provenance: None,
    }
}
