//! When conversations of a store were last written to, as its nights found out: a log that was brought back does not say. Refuses to know
//! what that is asked for.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;

use super::Store;
use crate::error::Result;
use crate::io::Run;
use crate::pipeline::{Corpus, EarlierNights, PlannedInput, Slice, Source, StoredRow};

/// The columns that say when a conversation was last written to.
const WHEN: [&str; 3] = ["conversation_id", "source", "last_at"];

/// Inputs of which the store knows when their conversations were last written to.
pub struct KnownTimes {
    corpus: Arc<dyn Corpus>,
    times: Arc<Times>,
}

shows!(KnownTimes { times });

/// By source and id.
#[derive(Debug, Default)]
struct Times(HashMap<String, HashMap<String, u64>>);

impl KnownTimes {
    /// What `corpus` gives, with what the nights of `store` know.
    ///
    /// # Errors
    /// When the figures of a night cannot be read.
    pub fn new(corpus: Arc<dyn Corpus>, store: &Store) -> Result<Self> {
        let mut times = Times::default();
        for night in store.nights() {
            let run = store.open_run(&night.run)?;
            if run.manifest.options.ages.is_some() {
                times.add(&run)?;
            }
        }
        Ok(Self { corpus, times: Arc::new(times) })
    }
}

impl Times {
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
                        self.0.entry(source.to_owned()).or_default().insert(id.to_owned(), at);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Corpus for KnownTimes {
    fn open(&self, index: usize, input: &PlannedInput, slice: &Slice) -> Result<Box<dyn Source>> {
        self.corpus.open(index, input, slice)
    }

    fn earlier(&self, _: Range<usize>) -> Result<Option<Arc<dyn EarlierNights>>> {
        Ok(Some(self.times.clone()))
    }
}

impl EarlierNights for Times {
    fn rows(&self, _: &str, _: &str) -> &[StoredRow] {
        &[]
    }

    fn text(&self, _: &[StoredRow]) -> Result<String> {
        Ok(String::new())
    }

    fn last_at(&self, source: &str, id: &str) -> Option<u64> {
        self.0.get(source)?.get(id).copied()
    }
}
