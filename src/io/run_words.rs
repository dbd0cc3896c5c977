//! The word statistics of a run: counted once, frozen in a file of the run, read by every later call of the job. Knows
//! its place and its seal, not what the counts are for.

use super::run_documents::read;
use super::store::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{TableFile, open_sealed, seal};
use crate::text::{WORD_STATISTICS_VERSION, WordStatistics};

/// The file in the run directory.
pub(crate) const WORDS: &str = "word-statistics.json";

/// Word statistics as they stand in a run directory.
#[derive(Debug, Clone)]
pub struct FrozenWords {
    /// The counts.
    pub statistics: WordStatistics,
    /// BLAKE3 of the file, in hex.
    pub blake3: String,
    text: String,
    /// They stand in the directory already.
    is_written: bool,
}

impl FrozenWords {
    /// As they will be written.
    ///
    /// # Errors
    /// A defect.
    pub fn new(statistics: WordStatistics) -> Result<Self> {
        let text = seal(&statistics)?;
        Ok(Self { statistics, blake3: hash(text.as_bytes()), text, is_written: false })
    }

    /// The ones that stand in the run directory `root`; `None` when there are none.
    ///
    /// # Errors
    /// `Verification` when the file differs from what was written.
    pub fn find(root: &Place) -> Result<Option<Self>> {
        let place = root.join(WORDS);
        let Some(bytes) = place.read_all()? else { return Ok(None) };
        let statistics: WordStatistics = open_sealed(&bytes, &place.to_string())?;
        if statistics.version != WORD_STATISTICS_VERSION {
            let message = "the word statistics are of another version of condenser";
            return Err(Error::new(ErrorKind::Verification, place.to_string(), message));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Some(Self { statistics, blake3: hash(&bytes), text, is_written: true }))
    }

    /// Writes them into the run directory `root`, whole or not at all, when they do not stand there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn write(&self, root: &Place) -> Result<()> {
        if self.is_written { Ok(()) } else { root.join(WORDS).write_atomic(self.text.as_bytes()).await }
    }
}

/// The entry of the manifest for the word statistics that the plan promises.
///
/// # Errors
/// `Verification` when the file is another one or is missing.
pub(crate) fn words_entry(root: &Place, promised: &str) -> Result<TableFile> {
    let place = root.join(WORDS);
    let bytes = read(&place)?;
    if hash(&bytes) != promised {
        let message = "the word statistics differ from what the plan promises";
        return Err(Error::new(ErrorKind::Verification, place.to_string(), message));
    }
    Ok(TableFile {
        table: "word-statistics".to_owned(),
        path: WORDS.to_owned(),
        rows: 1,
        bytes: bytes.len() as u64,
        blake3: promised.to_owned(),
        stream_blake3: None,
        pieces: Vec::new(),
    })
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
