//! What a store knows of the logs that it brought back, and these do not say: when conversations were last written to, as its nights found
//! out, and which texts have a place of their own. Refuses to know what that is asked for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;

use super::Store;
use super::blobs::Blobs;
use crate::error::Result;
use crate::io::Run;
use crate::pipeline::{Corpus, EarlierNights, PlannedInput, Slice, Source, StoredRow};

/// The columns that say when a conversation was last written to.
const WHEN: [&str; 3] = ["conversation_id", "source", "last_at"];

/// Logs that were brought back, with what the store knows of them.
pub struct KnownLogs {
    corpus: Arc<dyn Corpus>,
    known: Arc<Known>,
}

shows!(KnownLogs { known });

#[derive(Debug, Default)]
struct Known {
    /// When conversations were last written to, by source and id.
    times: HashMap<String, HashMap<String, u64>>,
    blobs: Blobs,
}

impl KnownLogs {
    /// What `corpus` gives, with what the nights of `store` know, and these `blobs`.
    ///
    /// # Errors
    /// When the figures of a night cannot be read.
    pub fn new(corpus: Arc<dyn Corpus>, store: &Store, blobs: Blobs) -> Result<Self> {
        let mut known = Known { blobs, ..Known::default() };
        for night in store.nights() {
            let run = store.open_run(&night.run)?;
            if run.manifest.options.ages.is_some() {
                known.add(&run)?;
            }
        }
        Ok(Self { corpus, known: Arc::new(known) })
    }
}

impl Known {
    fn add(&mut self, run: &Run) -> Result<()> {
        for commit in &run.commits {
            let mut table = run.metrics_columns(commit, &WHEN)?;
            while let Some(batch) = table.next_rows()? {
                let text = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i64>());
                let last = batch.column_by_name("last_at").and_then(|column| column.as_primitive_opt::<UInt64Type>());
                let (Some(ids), Some(sources), Some(last)) = (text("conversation_id"), text("source"), last) else {
                    continue;
                };
                for ((id, source), at) in ids.iter().zip(sources.iter()).zip(last.iter()) {
                    if let (Some(id), Some(source), Some(at)) = (id, source, at) {
                        self.times.entry(source.to_owned()).or_default().insert(id.to_owned(), at);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Corpus for KnownLogs {
    fn open(&self, index: usize, input: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        self.corpus.open(index, input, slice)
    }

    fn earlier(&self, _: Range<usize>) -> Result<Option<Arc<dyn EarlierNights>>> {
        Ok(Some(self.known.clone()))
    }
}

impl EarlierNights for Known {
    fn rows(&self, _: &str, _: &str, record: &str) -> Cow<'_, [StoredRow]> {
        self.blobs.rows(record).into()
    }

    fn text(&self, rows: &[StoredRow]) -> Result<String> {
        self.blobs.text(rows)
    }

    fn last_at(&self, source: &str, id: &str) -> Option<u64> {
        self.times.get(source)?.get(id).copied()
    }
}
