//! What is told of an input before it is read: its size, what kind of file it is, and how it is cut. Knows files; refuses to know records.

use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::codec::Codec;
use super::row_files::{MAGIC_BYTES, named_table, row_groups, sniff_table};
use super::store::{Blob, Place, mark_of};
use super::stream::BOM;
use super::{Input, is_document, sniff_events};
use crate::error::{Error, Result};
use crate::model::ShapeName;
use crate::pipeline::{Container, PlannedInput, Slice, TableOptions, is_of_run};

/// So much of a file tells what it holds.
pub(super) const HEAD_BYTES: usize = 64 << 10;

/// What a part costs by itself does not count beside a file that is larger.
const MAX_SMALL_BYTES: u64 = 1 << 20;
/// The same of a log of which a store has most: little of it is stored.
const MAX_SMALL_AGAIN_BYTES: u64 = 8 << 20;
/// An input is not cut into more slices.
const MAX_SLICES: u64 = 1 << 14;

/// An input with its slices.
pub type PlannedSlices = (PlannedInput, Vec<Slice>);

/// The size of an input and its cuts. A local file that cannot be opened is planned too.
pub(super) fn look_at(input: &Input, split_bytes: u64, tables: &TableOptions) -> Result<PlannedSlices> {
    let source = input.name.clone();
    if !input.looks_again.is_empty() {
        let planned =
            PlannedInput { looks_again: input.looks_again.clone(), ..PlannedInput::new(source, Some(0), None) };
        return Ok((planned, vec![Slice::Whole]));
    }
    let endless = |source| Ok((PlannedInput::new(source, None, None), vec![Slice::Whole]));
    let Some(file) = &input.file else { return endless(source) };
    if let Some(path) = file.as_local() {
        let Ok(metadata) = std::fs::metadata(path) else {
            // Gone or out of reach since it was listed. Who opens it says so; the other inputs go on.
            return Ok((PlannedInput::new(source, Some(0), None), vec![Slice::Whole]));
        };
        if metadata.is_dir() {
            return Err(Error::input(&input.name, "is a directory; its files are the inputs"));
        }
        if !metadata.is_file() {
            // A pipe has no size and is read once, to its end.
            return endless(source);
        }
        if std::fs::File::open(path).is_err() {
            let mark = Some(mark_of(&metadata));
            return Ok((PlannedInput::new(source, Some(metadata.len()), mark), vec![Slice::Whole]));
        }
    }
    let blob = file.open()?;
    let mark = Some(blob.mark().to_owned());
    let Some(bytes) = blob.bytes() else {
        // A web server that does not tell the length.
        return Ok((PlannedInput::new(source, None, mark), vec![Slice::Whole]));
    };
    let keeps = input.keeps.clone().filter(|kept| kept.stored_bytes <= bytes);
    let written_at = blob.modified().filter(|_| input.is_dated).and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let planned = PlannedInput {
        keeps,
        comes_again: input.comes_again,
        extends: input.extends.clone(),
        written_at: written_at.and_then(|at| u64::try_from(at.as_millis()).ok()),
        ..PlannedInput::new(source, Some(bytes), mark)
    };
    let bytes = planned.bytes_to_read().unwrap_or(bytes);
    if let Some(kept) = &planned.keeps {
        // The rest of a compressed file cannot be cut.
        let is_plain = kept.stored_bytes == kept.bytes;
        let slices = if is_plain { ranges(&input.name, bytes, split_bytes)? } else { vec![Slice::Whole] };
        return Ok((planned, slices));
    }
    if bytes <= split_bytes || !blob.gives_ranges() {
        return Ok((planned, vec![Slice::Whole]));
    }
    let head = blob.read_range(0..bytes.min(HEAD_BYTES as u64))?;
    let slices = match sniff_table(&head) {
        Some(Container::Parquet) => row_group_slices(&input.name, &blob, split_bytes),
        None if is_plain_lines(&head, tables) => ranges(&input.name, bytes, split_bytes)?,
        _ => vec![Slice::Whole],
    };
    Ok((planned, slices))
}

/// True for a small file of lines, whatever they are: what is a table has columns of its own, what an earlier run wrote is
/// found there part by part, and what cannot be read must not keep others from being read.
pub(super) fn may_share(input: &Input, planned: &PlannedInput) -> bool {
    if !planned.looks_again.is_empty() {
        return true;
    }
    if !is_small(planned) || named_table(Path::new(&input.name)).is_some() || is_of_run(&input.name) {
        return false;
    }
    // Of what is in a store the name must do: a request for each object would cost more than it helps.
    let Some(path) = input.file.as_ref().and_then(Place::as_local) else { return input.file.is_some() };
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    let read = std::fs::File::open(path).and_then(|file| file.take(MAGIC_BYTES as u64).read_to_end(&mut head));
    read.is_ok() && sniff_table(&head).is_none()
}

/// Slices of a file of lines. Each becomes files of its own: a size without its unit would make millions of them.
fn ranges(name: &str, bytes: u64, split_bytes: u64) -> Result<Vec<Slice>> {
    let n_slices = bytes.div_ceil(split_bytes.max(1));
    if n_slices > MAX_SLICES {
        let least = bytes.div_ceil(MAX_SLICES);
        let message = format!(
            "--split-size {split_bytes} cuts it into {n_slices} parts, more than {MAX_SLICES}: take {least} bytes or more"
        );
        return Err(Error::usage(name, message));
    }
    Ok(Slice::ranges(bytes, split_bytes))
}

/// Row groups that follow each other, with at least `split_bytes` in each slice but the last. A damaged file is left
/// whole: whoever opens it says what is wrong.
fn row_group_slices(name: &str, blob: &Blob, split_bytes: u64) -> Vec<Slice> {
    let groups = row_groups(name, blob).unwrap_or_default();
    let (mut slices, mut n_bytes, mut row) = (Vec::new(), 0, 0);
    let (mut start, mut first_row) = (0, 0);
    for (end, (n_rows, bytes)) in (1..).zip(&groups) {
        n_bytes += bytes;
        row += n_rows;
        if n_bytes >= split_bytes || end == groups.len() as u64 {
            slices.push(Slice::RowGroups { start, end, first_row });
            (start, first_row, n_bytes) = (end, row, 0);
        }
    }
    if slices.len() < 2 { vec![Slice::Whole] } else { slices }
}

/// True for a file of JSON lines that is not compressed: a reader may start at any line.
fn is_plain_lines(head: &[u8], tables: &TableOptions) -> bool {
    Codec::sniff(head) == Codec::Plain && is_lines(head, tables)
}

/// True for a stream of lines, each a record.
pub(super) fn is_lines(head: &[u8], tables: &TableOptions) -> bool {
    Records::of(head, tables) == Records::Lines
}

/// How a stream that is no table holds its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Records {
    /// The sessions of an event log.
    Events(ShapeName),
    /// Values of JSON over many lines, or many on one.
    Document,
    /// One on each line.
    Lines,
}

impl Records {
    /// Told by the first bytes of the uncompressed stream and by what is said about it.
    pub(super) fn of(head: &[u8], tables: &TableOptions) -> Self {
        if let Some(map) = &tables.map {
            // A list of records that no shape knows looks like nothing; a list that is the record stands on a line.
            let text = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
            let is_list = text.first() == Some(&b'[');
            let is_of_records = is_list && map.messages() != Some(&[]);
            return if is_of_records || is_document(head) { Self::Document } else { Self::Lines };
        }
        match sniff_events(head, tables.shape) {
            Some(shape) => Self::Events(shape),
            None if is_document(head) => Self::Document,
            None => Self::Lines,
        }
    }
}

/// True for a file that may stand with others in a part. It is read when it is opened, so that what is wrong with it is told before
/// anything of it is worked on.
pub(super) fn is_small(planned: &PlannedInput) -> bool {
    let most = if planned.comes_again { MAX_SMALL_AGAIN_BYTES } else { MAX_SMALL_BYTES };
    planned.bytes_to_read().is_some_and(|bytes| bytes <= most) && planned.mark.is_some()
}
