//! The runs that a document is about: where they are, what they read and wrote, and which options they had.

use serde_json::Value;

use crate::report::view::{Block, Blocks, KEY, Seen, Show, Table, Tone, column, heading, parts, said};
use crate::report::{RunFacts, numbers};

/// Runs that are shown where one looks first.
const N_FIRST: usize = 3;
/// Runs that a terminal shows at all.
const N_ALL: usize = 20;

/// How one speaks of all these runs.
pub(super) fn name_of_all(runs: &[RunFacts]) -> String {
    match runs {
        [] => "no run".to_owned(),
        [run] => run.run.clone(),
        [first, .., last] => format!("{} runs, {} to {}", runs.len(), first.run, last.run),
    }
}

/// The runs, which the document has at `place`.
pub(super) fn runs<'d>(json: &Value, place: &str, runs: &[RunFacts]) -> Blocks<'d> {
    let mut blocks = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let seen = match () {
            () if at < N_FIRST => Seen::Always,
            () if at < N_ALL => Seen::All,
            () => Seen::Page,
        };
        let mut facts = vec![
            ("status", run.status.clone()),
            ("written by", format!("condenser {}", run.engine_version)),
            ("parts", numbers::count(run.parts)),
            ("figures from", if run.from_sketches { "sketches in its commits" } else { "its tables" }.to_owned()),
            ("options' BLAKE3", run.config_blake3.clone()),
        ];
        facts.extend(run.look_ahead.map(|how_far| ("look_ahead", how_far.as_str().to_owned())));
        if run.options.is_empty() {
            facts.push(("options", "the defaults".to_owned()));
        }
        blocks.extend([(seen, heading(&*run.run)), (seen, Block::Facts(facts))]);
        if !run.missing.is_empty() {
            blocks.push((seen, said(format!("left out: {}", run.missing.join("; ")), Tone::Bad)));
        }
        if !run.options.is_empty() {
            blocks.push((seen, Block::Options(run.options.clone())));
        }
        let sources = [
            column("source", KEY, Show::Long),
            column("conversations", "conversations", Show::Count),
            column("messages", "messages", Show::Count),
            column("rejects", "rejects", Show::Count),
            column("bytes stored", "bytes_stored", Show::Bytes),
            column("bytes uncompressed", "bytes_stream", Show::Bytes),
        ];
        let written = [column("table", KEY, Show::Text), column("bytes", "", Show::Bytes)];
        let sources = Table::new("Sources", sources, parts(json, &format!("{place}/{at}/sources")));
        let written =
            Table::new("Bytes written, by table", written, parts(json, &format!("{place}/{at}/bytes_written")));
        blocks.extend([sources, written].map(|table| (Seen::Page, Block::Table(table))));
    }
    blocks
}
