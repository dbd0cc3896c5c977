//! Random results to be read by a person: messages before and after.
//! `cargo run --release -p condenser-benches --bin samples -- SEED COUNT FILE.jsonl.zst…`

use std::io::Read;

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, NewBody, Output};
use condenser::shape;

/// Characters of the original that are shown.
const MAX_SHOWN: usize = 1_500;

#[expect(clippy::print_stdout, reason = "the samples are the result")]
fn main() {
    let mut args = std::env::args().skip(1);
    let mut seed: u64 = args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let count: usize = args.next().and_then(|count| count.parse().ok()).unwrap_or(2);
    let options = EngineOptions { recency_window: 0, fuzzy_dedup: true, ..EngineOptions::default() };
    let engine = Engine::new(options).expect("options");
    for path in args {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&path).expect("a readable file");
        zstd::Decoder::new(file).expect("zstd").read_to_end(&mut bytes).expect("a whole file");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let mut left = count;
        for _ in 0..count * 40 {
            let line = lines[next(&mut seed) % lines.len()];
            let Some(shape) = shape::detect(line) else { continue };
            let Ok(decoded) = shape::decode(line, shape, "c") else { continue };
            let condensed = engine.condense(&decoded.conversation, &mut Scratch::default());
            let replaced: Vec<_> = condensed
                .messages
                .iter()
                .filter_map(|output| match output {
                    Output::Replaced(replacement) => Some(replacement),
                    Output::Kept { .. } => None,
                })
                .collect();
            if replaced.is_empty() {
                continue;
            }
            let one = replaced[next(&mut seed) % replaced.len()];
            println!(
                "\n######## {path} {} {:?} {:?}",
                decoded.conversation.id, one.sources, condensed.decisions[one.sources[0]].reason
            );
            for &index in &one.sources {
                let message = &decoded.conversation.messages[index];
                let original = message.texts().collect::<Vec<_>>().join("\n");
                println!(
                    "--- {} ({} chars)\n{}",
                    message.role.as_str(),
                    original.chars().count(),
                    original.chars().take(MAX_SHOWN).collect::<String>()
                );
            }
            match &one.body {
                NewBody::Text(text) => println!("=== ({} chars)\n{text}", text.chars().count()),
                NewBody::Parts(parts) => parts
                    .iter()
                    .for_each(|(part, text)| println!("=== part {part} ({} chars)\n{text}", text.chars().count())),
            }
            left -= 1;
            if left == 0 {
                break;
            }
        }
    }
}

fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}
