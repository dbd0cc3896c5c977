//! Invented conversations from a seed, and an engine that replaces much of them without reading it.

use std::fmt::Write;

use condenser::engine::Scratch;
use condenser::model::{
    Action, Condensed, Content, Conversation, Decision, EngineOptions, Metrics, NewBody, Output, Part, Provenance,
    Reason, Replacement, summary_id,
};
use condenser::pipeline::Condense;

/// A small generator of numbers: xorshift64*.
pub(crate) struct Seeded(u64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    pub(crate) fn pick<'a>(&mut self, values: &[&'a str]) -> &'a str {
        values[self.below(values.len())]
    }
}

const WORDS: [&str; 16] = [
    "deploy",
    "the",
    "cache",
    "und",
    "größer",
    "日志",
    "returns",
    "\\n",
    "\\\"quoted\\\"",
    "retry",
    "429",
    "/var/log/app.log",
    "\\u00e9",
    "😀",
    "because",
    "finished.",
];

/// `n` records of the openai shape with odd spacing, keys and escapes here and there.
pub(crate) fn records(n: usize, seed: u64) -> Vec<String> {
    let mut seeded = Seeded::new(seed);
    (0..n).map(|index| record(index, &mut seeded)).collect()
}

/// The same as lines.
pub(crate) fn jsonl(n: usize, seed: u64) -> String {
    records(n, seed).into_iter().fold(String::new(), |text, record| text + &record + "\n")
}

fn record(index: usize, seeded: &mut Seeded) -> String {
    let space = seeded.pick(&["", " "]);
    let mut out = format!("{{\"id\":{space}\"chat/{index}\",{space}\"messages\":{space}[");
    for turn in 0..seeded.below(9) {
        if turn > 0 {
            out.push_str(seeded.pick(&[",", ", "]));
        }
        message(turn, seeded, &mut out);
    }
    out.push(']');
    out.push_str(seeded.pick(&["", ",\"score\":1.50", ", \"meta\": {\"a\": [1,  2], \"a\": 1e3}"]));
    out.push('}');
    out
}

fn message(turn: usize, seeded: &mut Seeded, out: &mut String) {
    let role = seeded.pick(&["user", "assistant", "user", "assistant", "system", "tool"]);
    let text = (0..seeded.below(40)).map(|_| seeded.pick(&WORDS)).collect::<Vec<_>>().join(" ");
    let body = match seeded.below(8) {
        0 => "\"content\":null".to_owned(),
        1 => format!(
            "\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}},{{\"type\":\"image_url\",\"image_url\":{{}}}}]"
        ),
        2 => format!(
            "\"content\":\"{text}\",\"tool_calls\":[{{\"id\":\"c{turn}\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]"
        ),
        _ => format!("\"content\":\"{text}\""),
    };
    let id = seeded.pick(&["", "\"id\":\"same\",", "\"id\":7,"]);
    write!(out, "{{{id}\"role\":\"{role}\",{body}}}").expect("writing to a string cannot fail");
}

/// Replaces every longer text, two neighbours of a role by one; panics on the conversation `fails_on`.
#[derive(Debug, Default)]
pub(crate) struct Blunt {
    pub(crate) options: EngineOptions,
    pub(crate) fails_on: Option<&'static str>,
}

impl Condense for Blunt {
    fn options(&self) -> &EngineOptions {
        &self.options
    }

    fn condense(&self, conversation: &Conversation<'_>, _scratch: &mut Scratch) -> Condensed {
        assert!(self.fails_on != Some(&*conversation.id), "planted");
        let (mut messages, mut decisions) = (Vec::new(), Vec::new());
        let mut index = 0;
        while let Some(message) = conversation.messages.get(index) {
            let body = match &message.content {
                Content::Text(text) if text.len() > 40 => {
                    Some(NewBody::Text(format!("[summary: {} bytes]", text.len())))
                }
                Content::Parts(parts) => parts
                    .iter()
                    .position(|part| matches!(part, Part::Text(text) if text.len() > 40))
                    .map(|part| NewBody::Parts(vec![(part, "[summary: part]".to_owned())])),
                _ => None,
            };
            let mut sources = vec![index];
            if let (Some(NewBody::Text(_)), Some(next)) = (&body, conversation.messages.get(index + 1))
                && next.role == message.role
                && next.tool_calls.is_empty()
            {
                sources.push(index + 1);
            }
            let taken = sources.len();
            for &index in &sources {
                let action = if body.is_some() { Action::Compressed } else { Action::Preserved };
                let (position, reason) = (messages.len(), Reason::CompressibleProse);
                decisions.push(Decision {
                    units: None,
                    index,
                    action,
                    reason,
                    details: vec![Reason::Url],
                    position,
                    chars_in: 1,
                    chars_out: 1,
                });
            }
            messages.push(match body {
                Some(body) => {
                    let ids: Vec<String> = sources.iter().map(|index| format!("m{index}")).collect();
                    let summary_id = summary_id(&ids);
                    let provenance = Provenance { ids, summary_id, ..Provenance::default() };
                    Output::Replaced(Replacement {
                        is_by_several: sources.len() > 1,
                        sources,
                        body,
                        spots: Vec::new(),
                        provenance,
                        views: Vec::new(),
                    })
                }
                None => Output::Kept { index },
            });
            index += taken;
        }
        let metrics = Metrics { messages_in: index, messages_out: messages.len(), ratio: 2.0, ..Metrics::default() };
        Condensed { messages, decisions, metrics }
    }
}

/// Gives one to seven bytes at a time.
pub(crate) struct Drip(pub(crate) std::io::Cursor<Vec<u8>>, pub(crate) Seeded);

impl std::io::Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = (1 + self.1.below(7)).min(buffer.len());
        self.0.read(&mut buffer[..n])
    }
}
