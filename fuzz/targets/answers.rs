//! What a model says, whatever it says: answers are data, and the record comes back whatever stands in them. Sections of an input are
//! separated by lines of `---`: options and a record as in `compress_restore`, then what the model says to each question, one after
//! the other.
#![no_main]

use std::cell::Cell;

use condenser::engine::Engine;
use condenser::model::{
    Answer, Answers, Ask, ChunkPolicy, ClassifierSource, EngineOptions, NoAnswer, Strategy, Summarizer,
};
use condenser::shape;
use condenser_fuzz::{head_and_body, options_of, record_of, talk};
use libfuzzer_sys::fuzz_target;

const BETWEEN: &str = "\n---\n";
/// A model is asked for rulings, a compaction with what is pulled back, a summary, and a shorter one.
const MAX_ROUNDS: usize = 8;

/// Options that ask, whatever was said.
fn asking(options: EngineOptions, answers: &[&str]) -> EngineOptions {
    let compacts = !options.decides_once() && answers.iter().any(|answer| answer.contains("<summary>"));
    EngineOptions {
        summarizer: match options.summarizer {
            Summarizer::Deterministic => Summarizer::Normal,
            asked => asked,
        },
        classifier: if answers.iter().any(|answer| answer.contains("decision")) {
            ClassifierSource::Model
        } else {
            options.classifier
        },
        strategy: if compacts { Strategy::InsertThenCompress } else { options.strategy },
        compaction_messages: if compacts { 4 } else { options.compaction_messages },
        compaction_recent: if compacts { 1 } else { options.compaction_recent },
        compaction_chunks: if compacts { ChunkPolicy::Model } else { options.compaction_chunks },
        ..options
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((head, body)) = head_and_body(data) else { return };
    let mut sections = body.split(BETWEEN);
    let record = record_of(sections.next().unwrap_or_default());
    let said: Vec<&str> = sections.collect();
    let Some(options) = options_of(head).map(|options| asking(options, &said)) else { return };
    let Some(shape) = shape::detect(&record) else { return };
    if shape::decode(&record, shape, "talk").is_err() {
        return;
    }
    let engine = Engine::new(options).expect("the options were checked");
    let next = Cell::new(0);
    let answer = |ask: &Ask| {
        let at = next.replace(next.get() + 1);
        match (said.get(at % said.len().max(1)), ask) {
            (None, _) => Answer::None(NoAnswer::Failed),
            // What is settled by hand: the engine's own words, and a part of what was asked about.
            (Some(&"="), Ask::Summary(ask)) => Answer::Text(ask.draft.clone()),
            (Some(&"%"), Ask::Summary(ask)) => Answer::Text(ask.text.chars().take(ask.max_chars / 2).collect()),
            (Some(said), _) => Answer::Text((*said).to_owned()),
        }
    };
    let mut answers = Answers::default();
    for _ in 0..MAX_ROUNDS {
        let mut open = Vec::new();
        talk::compress_consulted(&record, &engine, &answers, &mut open);
        if open.is_empty() {
            return;
        }
        for ask in open {
            answers.insert(ask.id(), answer(&ask));
        }
    }
    panic!("the engine never stops asking");
});
