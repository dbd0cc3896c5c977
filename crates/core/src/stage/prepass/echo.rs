//! Passages of the output of a tool that one of the last messages of the assistant says word for word. Knows blocks
//! between blank lines; a block that only begins alike is none.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::model::{Message, Reason, Role};
use crate::stage::{Claim, Plan, View};
use crate::text::{Cut, CutKind, LineKind, Span, TextView};

/// So many messages of the assistant are looked at.
const N_TURNS: usize = 3;
/// Shorter passages stay.
const MIN_CHARS: usize = 200;
/// A message that would have to stay for an echo is only pinned when the echo has this share of it.
const MIN_PIN_SHARE: f64 = 0.5;

/// A key of a text, the same on every machine.
pub(super) fn key(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

/// What the assistant said, block by block.
pub(super) struct Echoes {
    /// The messages of the assistant before each message are the last of these.
    turns: Vec<usize>,
    spoken: HashMap<usize, Spoken, FixedState>,
    /// Where the passages of the message looked at last come from.
    sources: HashMap<Span, usize, FixedState>,
}

/// The blocks of one message.
struct Spoken {
    blocks: Vec<String>,
    /// The first block with this key.
    first: HashMap<u64, usize, FixedState>,
}

impl Spoken {
    fn of(message: &Message<'_>) -> Self {
        let mut spoken = Self { blocks: Vec::new(), first: HashMap::default() };
        message.texts().for_each(|text| spoken.take(text));
        for call in &message.tool_calls {
            match serde_json::from_str(&call.arguments) {
                Ok(Value::Object(arguments)) => {
                    arguments.values().filter_map(Value::as_str).for_each(|text| spoken.take(text));
                }
                _ => spoken.take(&call.arguments),
            }
        }
        for (at, block) in spoken.blocks.iter().enumerate() {
            spoken.first.entry(key(block)).or_insert(at);
        }
        spoken
    }

    fn take(&mut self, text: &str) {
        let mut block = String::new();
        for line in text.lines().chain([""]) {
            let line = line.trim_end();
            // The signs of fenced blocks are no part of what is in them.
            if line.is_empty() || line.trim_start().starts_with("```") {
                if !block.is_empty() {
                    self.blocks.push(std::mem::take(&mut block));
                }
            } else {
                join(&mut block, line);
            }
        }
        // Blocks of two texts never follow each other.
        self.blocks.push(String::new());
    }

    fn has(&self, at: usize, block: &str) -> bool {
        self.blocks.get(at).is_some_and(|own| own == block)
    }

    fn find(&self, block: &str) -> Option<usize> {
        self.first.get(&key(block)).copied().filter(|&at| self.has(at, block))
    }
}

fn join(block: &mut String, line: &str) {
    if !block.is_empty() {
        block.push('\n');
    }
    block.push_str(line);
}

/// A block of the output.
struct Block {
    span: Span,
    words: String,
}

impl Echoes {
    /// Nothing is looked at yet.
    pub(super) fn new(view: &View<'_>) -> Self {
        let is_turn = |&index: &usize| view.conversation.messages[index].role == Role::Assistant;
        Self {
            turns: (0..view.len()).filter(is_turn).collect(),
            spoken: HashMap::default(),
            sources: HashMap::default(),
        }
    }

    /// The passages of message `index` that one of the last messages of the assistant says, as far as that one stays.
    pub(super) fn find(&mut self, view: &View<'_>, plan: &Plan, index: usize, text: &TextView<'_>) -> Vec<Cut> {
        self.sources.clear();
        let end = self.turns.partition_point(|&turn| turn < index);
        let turns: Vec<usize> = self.turns[end.saturating_sub(N_TURNS)..end].to_vec();
        let mut cuts: Vec<Cut> = Vec::new();
        let blocks = blocks(text);
        for turn in turns.into_iter().rev() {
            let spoken = self.spoken.entry(turn).or_insert_with(|| Spoken::of(&view.conversation.messages[turn]));
            let found = passages(&blocks, spoken, text);
            let n: usize = found.iter().map(|cut| cut.n).sum();
            let stays = match plan.claim_of(turn) {
                Some(Claim::Keep(reason)) => *reason != Reason::AlreadyCompressed,
                None => n as f64 >= MIN_PIN_SHARE * view.chars(turn) as f64,
                Some(_) => false,
            };
            if stays {
                for cut in &found {
                    self.sources.entry(cut.span).or_insert(turn);
                }
                cuts.extend(found);
            }
        }
        cuts
    }

    /// The messages that say what `cuts` of the message looked at last leave out.
    pub(super) fn sources_of(&self, cuts: &[Cut]) -> Vec<usize> {
        let echoes = cuts.iter().filter(|cut| cut.kind == CutKind::Echo);
        echoes.filter_map(|cut| self.sources.get(&cut.span).copied()).collect()
    }
}

/// What stands between blank lines.
fn blocks(text: &TextView<'_>) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in text.lines {
        let words = line.body(text.text).of(text.text);
        if line.kind == LineKind::Blank || words.is_empty() {
            is_open = false;
            continue;
        }
        if !is_open {
            found.push(Block { span: line.span, words: String::new() });
            is_open = true;
        }
        if let Some(block) = found.last_mut() {
            block.span.end = line.span.end;
            join(&mut block.words, words);
        }
    }
    found
}

/// Blocks that follow each other here and there, when they are long enough together.
fn passages(blocks: &[Block], spoken: &Spoken, text: &TextView<'_>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut at = 0;
    while let Some(first) = blocks.get(at) {
        let Some(start) = spoken.find(&first.words) else {
            at += 1;
            continue;
        };
        let mut n = 1;
        while blocks.get(at + n).is_some_and(|block| spoken.has(start + n, &block.words)) {
            n += 1;
        }
        let span = Span { start: first.span.start, end: blocks[at + n - 1].span.end };
        let n_chars = span.of(text.text).chars().count();
        if n_chars >= MIN_CHARS {
            cuts.push(Cut { span, kind: CutKind::Echo, n: n_chars });
        }
        at += n;
    }
    cuts
}
