//! How many lengths the pages of a table say that they hold. The Parquet library makes room for as many before it reads
//! them, and ends the process where there is no such room. Knows pages, neither files nor rows.

use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use crate::pipeline::tables::first_number;

/// The encodings that begin with a list of lengths.
const WITH_LENGTHS: [Encoding; 2] = [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY];
/// Bytes of the length of levels in a page of the first version.
const LEVELS: usize = 4;

/// Refuses a row group of `file` in which a page says that it holds more lengths than values.
pub(super) fn check<R: ChunkReader + 'static>(file: &Arc<R>, group: &RowGroupMetaData) -> Result<(), String> {
    let has_lengths = |encoding: Encoding| WITH_LENGTHS.contains(&encoding);
    for column in group.columns().iter().filter(|column| column.encodings().any(has_lengths)) {
        let descriptor = column.column_descr();
        let n_levels = usize::from(descriptor.max_rep_level() > 0) + usize::from(descriptor.max_def_level() > 0);
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        // What cannot be read ends the reading of rows with its own words, behind those that can.
        let Ok(mut pages) = SerializedPageReader::new(file.clone(), column, rows, None) else { continue };
        while let Ok(Some(page)) = pages.get_next_page() {
            if !holds_its_lengths(&page, n_levels) {
                let path = column.column_path();
                return Err(format!("a page of the column {path} says that it holds more lengths than values"));
            }
        }
    }
    Ok(())
}

/// False when the page says that it holds more lengths than values.
fn holds_its_lengths(page: &Page, n_levels: usize) -> bool {
    let (values, n_values, encoding) = match page {
        Page::DataPage { buf, num_values, encoding, .. } => {
            let mut rest: &[u8] = buf;
            for _ in 0..n_levels {
                let Some((size, behind)) = rest.split_first_chunk::<LEVELS>() else { return true };
                let Some(behind) = behind.get(u32::from_le_bytes(*size) as usize..) else { return true };
                rest = behind;
            }
            (rest, *num_values, *encoding)
        }
        Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
            (buf.get(levels..).unwrap_or_default(), *num_values, *encoding)
        }
        Page::DictionaryPage { .. } => return true,
    };
    if !WITH_LENGTHS.contains(&encoding) {
        return true;
    }
    let is_held = |list: &Option<List<'_>>| list.as_ref().is_none_or(|list| list.count <= u64::from(n_values));
    let first = list_of(values);
    // Where the first list is cut off, the library fails before it comes to the second one.
    let second =
        first.as_ref().filter(|_| encoding == Encoding::DELTA_BYTE_ARRAY).and_then(|first| list_of(first.behind?));
    is_held(&first) && is_held(&second)
}

/// A list of numbers as differences, packed into bits.
struct List<'b> {
    count: u64,
    /// What stands behind it, unless it is cut off.
    behind: Option<&'b [u8]>,
}

/// The list that `bytes` begin with, see "Delta encoding" of the Parquet format; `None` where its head is cut off.
fn list_of(mut bytes: &[u8]) -> Option<List<'_>> {
    let in_block = first_number(&mut bytes)?;
    let n_packs = first_number(&mut bytes)?;
    let count = first_number(&mut bytes)?;
    let _first = first_number(&mut bytes)?;
    Some(List { count, behind: behind(bytes, in_block, n_packs, count.saturating_sub(1)) })
}

/// What stands behind the blocks of `rest` differences.
fn behind(mut bytes: &[u8], in_block: u64, n_packs: u64, mut rest: u64) -> Option<&[u8]> {
    let in_pack = in_block.checked_div(n_packs)?;
    while rest > 0 {
        first_number(&mut bytes)?;
        let (widths, packs) = bytes.split_at_checked(usize::try_from(n_packs).ok()?)?;
        bytes = packs;
        for width in widths {
            if rest == 0 {
                break;
            }
            let size = in_pack.checked_mul(u64::from(*width))? / 8;
            bytes = bytes.get(usize::try_from(size).ok()?..)?;
            rest = rest.saturating_sub(in_pack.max(1));
        }
    }
    Some(bytes)
}
