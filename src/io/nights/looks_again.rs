//! Records of a store that are looked at again: nothing of their logs has changed, but they are older by now. Knows runs; refuses to know
//! what is made of them.

use std::collections::{BTreeMap, VecDeque};

use crate::error::{Error, Result};
use crate::io::run_documents::place_of;
use crate::io::store::Place;
use crate::io::{Run, of_night};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{AgedRow, Batch, KnownRecord, LineBatch, LineRole, RecordLine, Restorer, Source, SourceDigest};

/// Gives the originals of records, each as a line.
pub(super) struct LooksAgain {
    source: String,
    runs: Place,
    bridge: Bridge,
    batch_bytes: usize,
    /// The records that are still to come, by the part that they are in.
    left: VecDeque<((String, usize), BTreeMap<u64, AgedRow>)>,
    open: Option<(Restorer, BTreeMap<u64, AgedRow>, String)>,
    row: u64,
    offset: u64,
    hasher: blake3::Hasher,
}

shows!(LooksAgain { source, row });

impl LooksAgain {
    /// Gives these `rows` of runs in the folder `runs`, which came from `source`.
    pub(super) fn new(source: &str, rows: &[AgedRow], runs: Place, batch_bytes: usize) -> Result<Self> {
        let mut left: BTreeMap<(String, usize), BTreeMap<u64, AgedRow>> = BTreeMap::new();
        for row in rows {
            left.entry((row.row.run.clone(), row.row.part)).or_default().insert(row.row.row, row.clone());
        }
        Ok(Self {
            source: source.to_owned(),
            runs,
            bridge: Bridge::new(1)?,
            batch_bytes,
            left: left.into_iter().collect(),
            open: None,
            row: 0,
            offset: 0,
            hasher: blake3::Hasher::new(),
        })
    }

    /// The next records; none at the end.
    fn next_records(&mut self) -> Result<Vec<(AgedRow, String)>> {
        loop {
            let Some((restorer, wanted, place)) = &mut self.open else {
                let Some(((run, part), wanted)) = self.left.pop_front() else { return Ok(Vec::new()) };
                let place = self.runs.join(&run);
                let run = Run::open(place.clone()).map_err(|error| of_night(&place, error))?;
                let commit = super::read::commit_of(&run, part)?;
                run.check_files(commit)?;
                let restorer = run.restorer(commit, &self.bridge, true)?;
                self.open = Some((restorer, wanted, place_of(commit)));
                continue;
            };
            let texts = if wanted.is_empty() { None } else { restorer.next_texts(true)? };
            let Some(texts) = texts else {
                if let Some(row) = wanted.keys().next() {
                    return Err(Error::verification(&**place, format!("the part does not hold record {row}")));
                }
                self.open = None;
                continue;
            };
            let found: Vec<_> =
                texts.into_iter().filter_map(|(row, text)| Some((wanted.remove(&row)?, text))).collect();
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }
}

impl Source for LooksAgain {
    fn name(&self) -> &str {
        &self.source
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let mut batch = LineBatch { offset: self.offset, ..LineBatch::default() };
        while batch.bytes.len() < self.batch_bytes {
            let records = self.next_records()?;
            if records.is_empty() {
                break;
            }
            for (AgedRow { id, last_at, .. }, text) in records {
                let (start, end) = (batch.bytes.len(), batch.bytes.len() + text.len());
                batch.bytes.extend_from_slice(text.as_bytes());
                batch.bytes.push(b'\n');
                let (number, span, record) = (self.row + 1, start..end + 1, start..end);
                batch.lines.push(RecordLine { row: self.row, number, span, record, kind: LineRole::Record });
                batch.known.push(KnownRecord { id, last_at });
                self.row += 1;
            }
        }
        self.offset += batch.bytes.len() as u64;
        self.hasher.update(&batch.bytes);
        Ok((!batch.bytes.is_empty()).then_some(Batch::Lines(batch)))
    }

    fn stored_bytes(&self) -> u64 {
        0
    }

    fn digest(&mut self) -> Result<SourceDigest> {
        let digest = SourceDigest::of_stream(self.offset, &self.hasher, None);
        // Nothing of the log was read.
        Ok(SourceDigest { bytes: 0, ..digest })
    }
}
