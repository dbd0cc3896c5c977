//! Stores of the first version: one ledger, with a line for each version of a log. They are read and go on.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::io::run_names::check_below;
use crate::io::store::Place;
use crate::io::{LEDGER, Run};
use crate::pipeline::{HeldPart, LogState, Night, STORE_VERSION};

#[derive(Deserialize)]
struct Entry {
    path: String,
    source: String,
    size: u64,
    blake3: String,
    mark: Option<String>,
    run: String,
    parts: Vec<usize>,
}

/// Its nights.
pub(super) fn nights(root: &Place) -> Result<Vec<Night>> {
    let ledger = root.join(LEDGER);
    let Some(bytes) = ledger.read_all()? else { return Ok(Vec::new()) };
    let mut nights: Vec<(Night, Run)> = Vec::new();
    for (at, line) in String::from_utf8_lossy(&bytes).split_inclusive('\n').enumerate() {
        let place = format!("{ledger}: line {}", at + 1);
        let entry = match serde_json::from_str::<Entry>(line) {
            Ok(entry) => entry,
            // A torn last line.
            Err(_) if !line.ends_with('\n') => continue,
            Err(error) => return Err(Error::verification(place, "this is no line of a ledger").because(error)),
        };
        check_below(&entry.run, &place)?;
        let known = nights.iter().position(|(night, _)| night.run == entry.run);
        let at = if let Some(at) = known {
            at
        } else {
            let run = Run::open(root.join("runs").join(&entry.run))?;
            nights.push((Night { store_version: STORE_VERSION, run: entry.run, ..Night::default() }, run));
            nights.len() - 1
        };
        let (night, run) = &mut nights[at];
        let mut is_table = false;
        let mut held = Vec::with_capacity(entry.parts.len());
        for part in entry.parts {
            let commit = run.commits.iter().find(|commit| commit.part == part);
            let found = commit.and_then(|commit| {
                let (input, read) = commit.inputs().enumerate().find(|(_, read)| read.source == entry.source)?;
                Some((commit, input, read))
            });
            let (commit, input, read) = found.ok_or_else(|| {
                Error::verification(place.clone(), "the run does not hold this log where the ledger says")
            })?;
            is_table = commit.table.is_some();
            let (bytes, blake3) = (read.input.stream_bytes, read.input.stream_blake3.clone());
            held.push(HeldPart { part, input, bytes, blake3, is_cut: false });
        }
        night.logs.push(LogState {
            path: entry.path,
            source: entry.source,
            size: entry.size,
            blake3: Some(entry.blake3),
            mark: entry.mark,
            night: None,
            extends: None,
            written_at: None,
            is_table,
            keeps: None,
            parts: held,
        });
    }
    Ok(nights.into_iter().map(|(night, _)| night).collect())
}
