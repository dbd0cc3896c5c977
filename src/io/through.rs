//! A run through which a later round is restored. Knows which of its parts wrote what that round read, no table.

use super::line_table::LineTable;
use super::parquet_table::WantedRows;
use super::run_documents::place_of;
use super::run_reader::{Run, lines};
use super::run_writer::REJECTS;
use super::stream::Slices;
use crate::error::{Error, Result};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{Commit, ConversationFormat, PartReaders, Restorer, TableName};

/// Several rounds: the restored stream of a run stands for the conversations of the run before it.
#[derive(Debug)]
pub struct Through<'a> {
    /// The run before.
    pub run: &'a Run,
    /// Its part.
    pub commit: &'a Commit,
}

impl<'a> Through<'a> {
    /// The part of `run` whose conversations are the stream with this hash.
    pub fn find(run: &'a Run, stream_blake3: &str, source: &str) -> Result<Self> {
        let conversations = TableName::Conversations.as_str();
        let commit = run.commits.iter().find(|commit| {
            let mut files = commit.files.iter();
            files.any(|file| file.table == conversations && file.stream_blake3.as_deref() == Some(stream_blake3))
        });
        if let Some(commit) = commit {
            return Ok(Self { run, commit });
        }
        let place = run.root.to_string();
        if run.commits.iter().all(|commit| commit.format != ConversationFormat::Jsonl) {
            let message =
                "only a run with --format jsonl is restored through; of others the last round brings back what it read";
            return Err(Error::usage(place, message).hinting("leave out --through"));
        }
        let message = format!("the run did not write {source}: no part has conversations with its hash");
        Err(Error::verification(place, message).hinting("name the run whose conversations the later round read"))
    }

    /// Compares the files that the way back needs with their commit; the conversations are not among them.
    pub fn check(&self) -> Result<()> {
        let part = format!("part {}", self.commit.part);
        let mut needed = self.commit.files.iter().filter(|file| matches!(&*file.table, "verbatim" | REJECTS));
        needed.try_for_each(|file| self.run.check_file(file, &part))
    }

    /// Restores the part from the restored conversations.
    pub fn restorer(&self, mut conversations: Restorer, bridge: &Bridge) -> Result<Restorer> {
        let stream = Slices::new(move || Ok(conversations.next_slice()?.map(|restored| restored.bytes().to_vec())));
        let readers = PartReaders {
            conversations: Box::new(LineTable::records(&place_of(self.commit), Box::new(stream))),
            verbatim: self.run.table(self.commit, TableName::Verbatim, &WantedRows::All)?,
            rejects: self.run.rejects(self.commit)?,
            metrics: None,
        };
        Ok(lines(readers, bridge, self.commit))
    }
}
