//! How a job writes its tables: which formats go together with what else it asks for.

use super::{JobArgs, JobKind};
use crate::error::{Error, Result};
use crate::pipeline::{Compression, ConversationFormat};

impl JobArgs {
    /// How tables are written, and how that is compressed.
    pub(super) fn formats(&mut self, kind: JobKind, is_filter: bool) -> Result<(ConversationFormat, Compression)> {
        let default = if is_filter { ConversationFormat::Jsonl } else { ConversationFormat::Parquet };
        let format = *self.format.get_or_insert(default);
        let (trace, verbatim_map) = (self.trace.unwrap_or_default(), self.verbatim_map.unwrap_or_default());
        if is_filter && (format != ConversationFormat::Jsonl || trace || verbatim_map) {
            return usage(
                "",
                "the filter writes records of the input's shape; other formats, --trace and --verbatim-map need --output RUN",
            );
        }
        if is_filter && self.compression.is_some_and(|compression| compression != Compression::None) {
            return usage("compression", "the filter writes plain lines: pipe them through gzip or zstd");
        }
        // What a filter writes is plain, and so is its plan.
        let named = self.compression.take().filter(|_| !is_filter);
        let compression = named.unwrap_or_else(|| Compression::of(kind, format));
        self.compression = (!is_filter).then_some(compression);
        if format == ConversationFormat::Arrow && compression == Compression::Gzip {
            return usage("compression", "Arrow IPC knows no gzip: take zstd or none, or another format");
        }
        if format == ConversationFormat::Arrow
            && !matches!(compression, Compression::None | Compression::Zstd(Compression::ZSTD))
        {
            return usage(
                "compression",
                "Arrow IPC has one level of zstd: leave the level out, or take another format",
            );
        }
        if verbatim_map && format != ConversationFormat::Jsonl {
            return usage("", "--verbatim-map goes with --format jsonl");
        }
        if verbatim_map && kind == JobKind::Report {
            return usage("verbatim_map", "a report writes no originals, so there is no map to write");
        }
        Ok((format, compression))
    }
}

fn usage<T>(place: &str, message: &str) -> Result<T> {
    Err(Error::usage(place, message))
}
