//! The invariants over every conversation of the real corpora and of the sample corpus.

use condenser::engine::{Engine, Scratch};
use condenser::model::{EngineOptions, Output, ProvenancePlace, Summarizer};
use condenser::shape;
use rayon::prelude::*;

use crate::support::options::random_options;
use crate::support::{corpora, talk, whims};

/// Compresses twice, proves every restore, and returns how many messages were replaced.
fn check(record: &str, engine: &Engine, scratch: &mut Scratch) -> usize {
    let shape = shape::detect(record).expect("a known shape");
    let decoded = shape::decode(record, shape, "c").expect("a conversation");
    let (condensed, _) = whims::consult(engine, &decoded.conversation, scratch, &whims::whim);
    let provenance = engine.options().provenance;
    talk::check_invariants(&decoded, &condensed, provenance);
    talk::check_budget(&condensed.metrics, engine.options());
    let written = decoded.condensed_record(&condensed, provenance);

    let again = shape::decode(&written, shape, "c").expect("the output is a conversation");
    let (twice, _) = whims::consult(engine, &again.conversation, scratch, &whims::whim);
    talk::check_invariants(&again, &twice, provenance);
    if *engine.options() == EngineOptions::default() {
        let n_in = |counts: condenser::model::ActionCounts| {
            counts.compressed + counts.deduped + counts.fuzzy_deduped + counts.code_split
        };
        assert!(n_in(twice.metrics.counts) <= n_in(condensed.metrics.counts), "a second pass finds less to do");
    }
    condensed.metrics.messages_in - condensed.metrics.counts.preserved
}

fn check_all(corpora: &[(String, Vec<String>)], options: &EngineOptions) {
    let engine = Engine::new(options.clone()).expect("options");
    for (name, lines) in corpora {
        let n_replaced: usize =
            lines.par_iter().map_init(Scratch::default, |scratch, line| check(line, &engine, scratch)).sum();
        println!("{name}: {} conversations, {n_replaced} messages replaced", lines.len());
    }
}

fn harder() -> EngineOptions {
    EngineOptions { recency_window: 0, fuzzy_dedup: true, ..EngineOptions::default() }
}

#[test]
fn the_sample_corpus_comes_back_byte_for_byte() {
    for options in
        [EngineOptions::default(), harder(), EngineOptions { provenance: ProvenancePlace::Metadata, ..harder() }]
    {
        check_all(&corpora::sample(), &options);
    }
}

#[test]
fn every_corpus_comes_back_with_default_options() {
    check_all(&corpora::lines(), &EngineOptions::default());
}

#[test]
fn every_corpus_comes_back_without_a_window_and_with_fuzzy_dedup() {
    check_all(&corpora::lines(), &EngineOptions { provenance: ProvenancePlace::Metadata, ..harder() });
}

/// Twenty seeded sets of options: each conversation meets one of them, or all with `CONDENSER_ALL_OPTIONS=1`.
#[test]
fn every_corpus_comes_back_with_random_options() {
    const N_SETS: usize = 20;
    let all = std::env::var("CONDENSER_ALL_OPTIONS").is_ok_and(|value| value == "1");
    let corpora = corpora::lines();
    let engines: Vec<Engine> =
        (0..N_SETS).map(|seed| Engine::new(random_options(seed as u64)).expect("options")).collect();
    for (name, lines) in &corpora {
        let pairs: Vec<(usize, usize)> = (0..lines.len())
            .flat_map(|at| {
                let sets = if all { 0..N_SETS } else { at % N_SETS..at % N_SETS + 1 };
                sets.map(move |set| (at, set))
            })
            .collect();
        let n_replaced: usize = pairs
            .par_iter()
            .map_init(Scratch::default, |scratch, &(at, set)| check(&lines[at], &engines[set], scratch))
            .sum();
        println!("{name}: {} pairs of conversation and options, {n_replaced} messages replaced", pairs.len());
    }
}

/// A model that says what the engine would say changes nothing.
#[test]
fn an_echo_of_the_engine_changes_no_conversation() {
    let options = |summarizer| EngineOptions {
        summarizer,
        recency_window: 0,
        conversation_flow: true,
        semantic_clustering: true,
        coreference: true,
        ..EngineOptions::default()
    };
    let engine = |summarizer| Engine::new(options(summarizer)).expect("options");
    let (own, asking) = (engine(Summarizer::Deterministic), engine(Summarizer::Escalating));
    for (name, lines) in corpora::lines() {
        let one = |scratch: &mut Scratch, line: &String| {
            let shape = shape::detect(line).expect("a known shape");
            let decoded = shape::decode(line, shape, "c").expect("a conversation");
            let plain = own.condense(&decoded.conversation, scratch);
            let (echoed, n_asked) = whims::consult(&asking, &decoded.conversation, scratch, &whims::echo);
            let texts: Vec<String> =
                decoded.conversation.messages.iter().map(|message| message.texts().collect()).collect();
            // What stands twice is asked about once, though the engine says another thing the second time.
            let is_repeated = |index: usize| {
                let others = || texts.iter().enumerate().filter(move |&(at, _)| at != index).map(|(_, text)| text);
                let stands_elsewhere = |line: &str| others().any(|text| text.contains(line));
                texts[index].lines().filter(|line| line.len() >= 40).any(stands_elsewhere)
            };
            for (plain, echoed) in plain.messages.iter().zip(&echoed.messages) {
                let may_differ = || matches!(plain, Output::Replaced(replaced) if replaced.sources.iter().any(|&at| is_repeated(at)));
                assert!(plain == echoed || may_differ(), "{name}: {plain:?} {echoed:?}");
            }
            assert_eq!(plain.messages.len(), echoed.messages.len(), "{name}: {}", decoded.conversation.id);
            n_asked
        };
        // Every third: the others take as long and show no more.
        let some: Vec<&String> = lines.iter().step_by(3).collect();
        let n_asked: usize = some.par_iter().map_init(Scratch::default, |scratch, line| one(scratch, line)).sum();
        println!("{name}: {n_asked} questions");
    }
}

/// The examples in docs/engine.md are what the program makes of the sample corpus.
#[test]
fn the_examples_of_the_docs_are_what_the_program_does() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/engine.md")).expect("UTF-8");
    let engine = Engine::new(EngineOptions::default()).expect("options");
    let sample = corpora::sample();
    let records: Vec<&String> = sample.iter().flat_map(|(_, lines)| lines).collect();
    let examples = [("sessions-tides-gauge", 19), ("sessions-tides-gauge", 45), ("sessions-tides-json", 29)];
    for (id, index) in examples {
        let record = records.iter().find(|record| record.contains(&format!("\"{id}\""))).expect("the conversation");
        let done = talk::compress_with(record, &engine);
        let text = done.texts[index].trim_end_matches('\n');
        assert!(page.contains(&format!("```text\n{text}\n```")), "the page shows something else for {id}: {text}");
    }
}

/// The examples of the README are what the program makes of the sample corpus.
#[test]
fn the_readme_shows_what_the_program_does() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).expect("UTF-8");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let readme = words(&readme);
    let engine = Engine::new(EngineOptions::default()).expect("options");
    for (file, id, index) in [("agents", "agent-firmware-build", 4), ("prose", "prose-01", 1)] {
        let (_, lines) = corpora::sample().into_iter().find(|(name, _)| name == file).expect("a sample file");
        let record = lines.iter().find(|line| line.contains(&format!("\"{id}\""))).expect("the conversation");
        let done = talk::compress_with(record, &engine);
        assert!(
            readme.contains(&words(&done.texts[index])),
            "README shows something else for {id}: {}",
            done.texts[index]
        );
    }
}
