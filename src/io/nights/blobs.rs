//! Long texts that parts of a run have once between them: finding them, and writing them file after file. Refuses to know how a record
//! goes by them.

use std::collections::HashMap;

use super::{Store, number_of};
use crate::error::{Error, Result};
use crate::io::blob_files::{BLOBS, blob_file, blob_table, name_of_blobs};
use crate::io::gathered::Gathered;
use crate::io::hash_of;
use crate::io::store::Place;
use crate::pipeline::{Batch, Corpus, RunPlan, StoredRow, TextCounts, TextFile, TextPlaces};

/// A file holds so many bytes of text, or one longer text: a reader unpacks it in some 20 ms.
const FILE_BYTES: usize = 16 << 20;

/// The blobs of a run.
#[derive(Debug, Default)]
pub struct Blobs {
    places: TextPlaces,
    texts: Gathered,
    files: Vec<TextFile>,
}

impl Blobs {
    /// The places of texts by which `record` goes.
    pub(super) fn rows(&self, record: &str) -> Vec<StoredRow> {
        self.places.rows(record)
    }

    /// The texts in these places, one behind the other.
    pub(super) fn text(&self, rows: &[StoredRow]) -> Result<String> {
        self.texts.text(rows)
    }

    /// Their files.
    pub fn files(&self) -> &[TextFile] {
        &self.files
    }
}

impl Store {
    /// Finds the texts that stand in several places of what `plan` reads of `corpus`, and gives each once to `write`, in files for the run
    /// `name`. `check` is asked on the way and ends the work with its error.
    ///
    /// # Errors
    /// When a log cannot be read, or a file not be written.
    pub fn blobs_of(
        &self,
        name: &str,
        (corpus, plan): (&dyn Corpus, &RunPlan),
        check: &dyn Fn() -> Result<()>,
        write: &dyn Fn(&Place, &[u8]) -> Result<()>,
    ) -> Result<Blobs> {
        let mut counts = TextCounts::default();
        each_record(corpus, plan, &mut |found| {
            match found {
                Found::Part => counts.begin_part(),
                Found::Record(record, is_of_states) => {
                    counts.add(record);
                    if is_of_states {
                        counts.add_pieces(record);
                    }
                }
            }
            check()
        })?;
        let (wanted, mut blobs) = (counts.repeated(), Blobs::default());
        if wanted.is_empty() {
            return Ok(blobs);
        }
        blobs.places = TextPlaces::of(wanted);
        let number = number_of(name).unwrap_or_default();
        let mut files =
            BlobWriter { root: &self.root, number, write, files: Vec::new(), texts: Vec::new(), n_bytes: 0 };
        each_record(corpus, plan, &mut |found| {
            check()?;
            let Found::Record(record, _) = found else { return Ok(()) };
            blobs.places.place(record, &mut |text| {
                let row = files.push(text)?;
                blobs.texts.add(row.clone(), text)?;
                Ok(row)
            })
        })?;
        blobs.files = files.finish()?;
        Ok(blobs)
    }

    /// Holds the blobs of a run against what its night says.
    ///
    /// # Errors
    /// `Verification` when one differs.
    pub(super) fn check_blobs(&self, run: &str, files: &[TextFile]) -> Result<()> {
        for (at, file) in files.iter().enumerate() {
            let place = self.root.join(&blob_file(number_of(run).unwrap_or_default(), at));
            let wrong = || Error::verification(place.to_string(), "the file differs from what its night says");
            let blob = place.find()?.ok_or_else(|| Error::verification(place.to_string(), "the file is missing"))?;
            let hash = hash_of(blob.stream()).map_err(|error| wrong().because(error))?;
            if hash != file.blake3 {
                return Err(wrong());
            }
        }
        Ok(())
    }

    /// Deletes the blobs of a run.
    pub(super) async fn delete_blobs(&self, run: &str) -> Result<()> {
        let folder = self.root.join(BLOBS);
        let number = format!("{:05}-", number_of(run).unwrap_or_default());
        let names = tokio::task::block_in_place(|| folder.names())?;
        for name in names.into_keys().filter(|name| name.starts_with(&number)) {
            folder.join(&name).delete().await?;
        }
        Ok(())
    }
}

/// Writes texts, file after file.
struct BlobWriter<'s> {
    root: &'s Place,
    number: u64,
    write: &'s dyn Fn(&Place, &[u8]) -> Result<()>,
    files: Vec<TextFile>,
    /// Texts of the file that is still to be written.
    texts: Vec<String>,
    n_bytes: usize,
}

impl BlobWriter<'_> {
    /// Adds a text, and says where it stands.
    fn push(&mut self, text: &str) -> Result<StoredRow> {
        if self.n_bytes > 0 && self.n_bytes + text.len() > FILE_BYTES {
            self.end_file()?;
        }
        self.texts.push(text.to_owned());
        self.n_bytes += text.len();
        let run = name_of_blobs(self.number);
        Ok(StoredRow { run, part: self.files.len(), row: self.texts.len() as u64 - 1 })
    }

    fn end_file(&mut self) -> Result<()> {
        let bytes = blob_table(std::mem::take(&mut self.texts))?;
        self.n_bytes = 0;
        let place = self.root.join(&blob_file(self.number, self.files.len()));
        (self.write)(&place, &bytes)?;
        self.files.push(TextFile { bytes: bytes.len() as u64, blake3: blake3::hash(&bytes).to_hex().to_string() });
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<TextFile>> {
        if !self.texts.is_empty() {
            self.end_file()?;
        }
        Ok(self.files)
    }
}

/// What is found on the way through a plan.
enum Found<'r> {
    /// A part begins.
    Part,
    /// A record, and whether it is of a log that is read in several states.
    Record(&'r str, bool),
}

/// Calls `see` with every record that `plan` reads, those of a part one after the other.
fn each_record(corpus: &dyn Corpus, plan: &RunPlan, see: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<()> {
    let mut n_states: HashMap<&str, usize> = HashMap::new();
    for input in &plan.inputs {
        *n_states.entry(&input.source).or_default() += 1;
    }
    for part in &plan.parts {
        see(Found::Part)?;
        for index in part.inputs() {
            let is_of_states = n_states[&*plan.inputs[index].source] > 1;
            let mut source = corpus.open(index, &plan.inputs[index], &part.slice)?;
            while let Some(batch) = source.next_batch()? {
                let Batch::Lines(lines) = batch else { continue };
                for line in lines.lines.iter().filter(|line| line.kind.is_record()) {
                    if let Ok(record) = std::str::from_utf8(&lines.bytes[line.record.clone()]) {
                        see(Found::Record(record, is_of_states))?;
                    }
                }
            }
        }
    }
    Ok(())
}
