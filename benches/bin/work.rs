//! A known amount of work without a clock, for those who count instructions: `work GROUP TIMES` does what the group names so many
//! times over the records of `CONDENSER_CORPORA`, or of the sample in the repository. `scripts/regress.sh` compares two
//! commits with it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use std::process::ExitCode;

use condenser::engine::{Engine, Scratch};
use condenser::model::EngineOptions;
use condenser::shape::{self, Decoded};

/// Bytes of records taken from each file, so that no kind outweighs the others.
const PER_FILE: usize = 128 << 10;

/// The groups, and what each does.
const GROUPS: [(&str, Group); 5] =
    [("decode", decode), ("use", by_use), ("look", by_look), ("options", options), ("encode", encode)];

type Group = fn(&[Decoded<'_>], usize) -> usize;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let group = |name: &str| GROUPS.iter().find(|(known, _)| *known == name);
    let (Some((_, group)), Some(times)) =
        (arguments.first().and_then(|name| group(name)), arguments.get(1).and_then(|times| times.parse().ok()))
    else {
        eprintln!("usage: work {} TIMES", GROUPS.map(|(name, _)| name).join("|"));
        return ExitCode::from(2);
    };
    let records = records();
    let decoded: Vec<Decoded<'_>> =
        records.iter().filter_map(|record| shape::decode(record, shape::detect(record)?, "c").ok()).collect();
    println!("{}", group(&decoded, times));
    ExitCode::SUCCESS
}

/// The first records of each file.
fn records() -> Vec<String> {
    let sample = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../jobs/sample"));
    let folder = std::env::var_os("CONDENSER_CORPORA").map_or(sample, Into::into);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut records = Vec::new();
    for path in paths {
        let bytes = match path.to_string_lossy() {
            name if name.ends_with(".jsonl.zst") => {
                zstd::decode_all(std::fs::File::open(&path).expect("a file")).expect("zstd")
            }
            name if name.ends_with(".jsonl") => std::fs::read(&path).expect("a file"),
            _ => continue,
        };
        let mut n_bytes = 0;
        let text = String::from_utf8(bytes).expect("UTF-8");
        records.extend(text.lines().map(str::to_owned).take_while(|record| {
            n_bytes += record.len();
            n_bytes - record.len() < PER_FILE
        }));
    }
    records
}

fn decode(decoded: &[Decoded<'_>], times: usize) -> usize {
    let again = |one: &Decoded<'_>| {
        let shape = shape::detect(one.record).expect("it was decoded");
        shape::decode(one.record, shape, "c").expect("it was decoded").conversation.messages.len()
    };
    (0..times).map(|_| decoded.iter().map(again).sum::<usize>()).sum()
}

/// Conversations in which use decides.
fn by_use(decoded: &[Decoded<'_>], times: usize) -> usize {
    condense(decoded, times, EngineOptions { recency_window: 0, ..EngineOptions::default() }, Some(true))
}

/// Those in which looks do.
fn by_look(decoded: &[Decoded<'_>], times: usize) -> usize {
    condense(decoded, times, EngineOptions { recency_window: 0, ..EngineOptions::default() }, Some(false))
}

/// All of them with options that are off by default.
fn options(decoded: &[Decoded<'_>], times: usize) -> usize {
    let options = EngineOptions {
        fuzzy_dedup: true,
        contradiction_detection: true,
        conversation_flow: true,
        token_budget: Some(2_000),
        ..EngineOptions::default()
    };
    condense(decoded, times, options, None)
}

fn condense(decoded: &[Decoded<'_>], times: usize, options: EngineOptions, by_use: Option<bool>) -> usize {
    let engine = Engine::new(options).expect("options");
    let mut scratch = Scratch::default();
    let is_of_group = |one: &&Decoded<'_>| by_use.is_none_or(|by_use| engine.goes_by_use(&one.conversation) == by_use);
    let mut n_messages = 0;
    for _ in 0..times {
        for one in decoded.iter().filter(is_of_group) {
            n_messages += engine.condense(&one.conversation, &mut scratch).messages.len();
        }
    }
    n_messages
}

/// Rows, layouts and their proof.
fn encode(decoded: &[Decoded<'_>], times: usize) -> usize {
    let engine = Engine::new(EngineOptions::default()).expect("options");
    let mut scratch = Scratch::default();
    let condensed: Vec<_> = decoded.iter().map(|one| engine.condense(&one.conversation, &mut scratch)).collect();
    let mut n_exact = 0;
    for _ in 0..times {
        for (one, condensed) in decoded.iter().zip(&condensed) {
            let row = one.row(condensed, engine.options().provenance);
            let layout = one.row_layout(condensed);
            let originals = one.originals(condensed);
            n_exact += usize::from(shape::restores_row("c", &row, &layout, &originals, one.record));
        }
    }
    n_exact
}
