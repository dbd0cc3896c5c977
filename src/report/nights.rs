//! What the nights of a store came to, as a line for the log of a job, and what it holds, as a document and as lines. Knows no file.

use serde::Serialize;

use super::numbers::{bytes, counted, ratio, share};
use super::plain::{cut_start, line, width};
use crate::pipeline::NightFigures;
use crate::pipeline::sketch::ratio as quotient;

/// Version of the document.
const STORE_LISTING_VERSION: u32 = 1;
/// A name is not cut below so many columns.
const MIN_NAME: usize = 24;

/// What a store holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "store-listing"))]
pub struct StoreListing {
    /// 1.
    pub store_listing_version: u32,
    /// The store as given.
    pub store: String,
    /// Its logs as they are, by path.
    pub logs: Vec<LogFacts>,
    /// What its nights came to, in order.
    pub nights: Vec<NightFigures>,
    /// Runs that were never finished and that nobody needs; `condenser merge` with `--yes` deletes them.
    pub abandoned: Vec<String>,
    /// Bytes of all logs as stored.
    pub bytes_stored: u64,
    /// Bytes of the files of all runs that are needed.
    pub bytes_written: u64,
    /// `bytes_stored` over `bytes_written`.
    pub bytes_ratio: f64,
}

/// A log of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LogFacts {
    /// The name under which runs know it.
    pub source: String,
    /// The file, from the root, or its address.
    pub path: String,
    /// Bytes as stored when it was last looked at.
    pub bytes_stored: u64,
    /// Bytes of its uncompressed stream.
    pub bytes_stream: u64,
    /// States of it that come back.
    pub states: u64,
    /// The night that took in the last one.
    pub night: String,
}

impl StoreListing {
    /// The listing of the store that is called `store`.
    pub fn new(store: String, logs: Vec<LogFacts>, nights: Vec<NightFigures>, abandoned: Vec<String>) -> Self {
        let bytes_stored = logs.iter().map(|log| log.bytes_stored).sum();
        // What was merged is no longer needed.
        let first = nights.iter().rposition(|night| night.is_merge).unwrap_or(0);
        let bytes_written = nights.iter().skip(first).map(|night| night.bytes_stored).sum();
        let bytes_ratio = quotient(bytes_stored, bytes_written);
        let store_listing_version = STORE_LISTING_VERSION;
        Self { store_listing_version, store, logs, nights, abandoned, bytes_stored, bytes_written, bytes_ratio }
    }

    /// A line for each log, and the sums. Within `columns` names lose their beginning.
    pub fn text(&self, columns: Option<usize>) -> String {
        let head = ["size", "states", "night"].map(str::to_owned);
        let cells = |log: &LogFacts| [bytes(log.bytes_stored), log.states.to_string(), line(&log.night).into_owned()];
        let rows: Vec<([String; 3], &str)> = std::iter::once((head, "log"))
            .chain(self.logs.iter().map(|log| (cells(log), log.source.as_str())))
            .collect();
        let widths = [0, 1, 2].map(|at| rows.iter().map(|(cells, _)| width(&cells[at])).max().unwrap_or(0));
        let mut out = String::new();
        for (cells, name) in &rows {
            let start: String = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}  ")).collect();
            let room = columns.map(|columns| columns.saturating_sub(width(&start)).max(MIN_NAME));
            let name = line(name);
            let name = room.map_or_else(|| name.to_string(), |room| cut_start(&name, room));
            out.push_str(&format!("{start}{name}\n"));
        }
        let sums = [
            counted(self.logs.len() as u64, "log"),
            format!("{} of them", bytes(self.bytes_stored)),
            counted(self.nights.iter().filter(|night| !night.is_merge).count() as u64, "night"),
            format!("{} stored", bytes(self.bytes_written)),
            format!("bytes ratio {}", ratio(self.bytes_ratio)),
        ];
        out.push_str(&(sums.join(", ") + "\n"));
        if !self.abandoned.is_empty() {
            let runs = counted(self.abandoned.len() as u64, "run");
            let names = self.abandoned.join(", ");
            out.push_str(&format!("{runs} never finished and needed by nobody: {}\n", line(&names)));
        }
        out
    }
}

/// A line of text.
pub fn night_line(night: &NightFigures) -> String {
    let mut line = format!(
        "night {}: {}, {}, {} read, {} stored ({}), {} shorter",
        night.run,
        counted(night.logs, "log"),
        counted(night.conversations, "conversation"),
        bytes(night.bytes_read),
        bytes(night.bytes_stored),
        ratio(night.bytes_ratio),
        ratio(night.ratio),
    );
    let figures = [("grounding", night.grounding), ("drift", night.drift)];
    for (name, value) in figures.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        line.push_str(&format!(", {name} {}", share(value)));
    }
    if night.rejects > 0 {
        line.push_str(&format!(", {}", counted(night.rejects, "reject")));
    }
    line
}
