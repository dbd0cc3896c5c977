//! What the pages of a Parquet file state. The Parquet library makes room for as many values as they state before it reads
//! them, and ends the process where there is no such room. Knows pages, neither files nor rows.

use parquet::basic::{Encoding, Type};
use parquet::column::page::Page;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use crate::pipeline::tables::first_number;

/// Why the values of `page` are not to be read: the library makes room for as many as it states.
pub(super) fn refusal(page: &Page, column: &ColumnDescriptor) -> Option<ParquetError> {
    let what = match page {
        Page::DictionaryPage { buf, num_values, .. } => {
            // Values without a width take no bytes.
            let is_held = *num_values as usize <= buf.len() || column.physical_type() == Type::FIXED_LEN_BYTE_ARRAY;
            (!is_held).then_some("values than bytes")
        }
        Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
            let levels = [(rep_level_encoding, column.max_rep_level()), (def_level_encoding, column.max_def_level())];
            let values = levels
                .iter()
                .try_fold(&**buf, |rest, &(encoding, max)| behind_levels(rest, *encoding, max, *num_values));
            overfull(values?, *num_values, *encoding)
        }
        Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
            overfull(buf.get(levels..)?, *num_values, *encoding)
        }
    };
    let column = column.path();
    what.map(|what| ParquetError::General(format!("a page of the column {column} states more {what}")))
}

/// What stands behind the levels of a page of the first version.
fn behind_levels(bytes: &[u8], encoding: Encoding, max: i16, n_values: u32) -> Option<&[u8]> {
    let bits = i16::BITS - max.leading_zeros();
    if bits == 0 {
        return Some(bytes);
    }
    if encoding != Encoding::RLE {
        // The other one there is: packed into bits.
        return bytes.get((u64::from(n_values) * u64::from(bits)).div_ceil(8) as usize..);
    }
    let (size, behind) = bytes.split_first_chunk()?;
    behind.get(u32::from_le_bytes(*size) as usize..)
}

/// Says so when `values` state more lengths than values; what is cut off the library refuses.
fn overfull(values: &[u8], n_values: u32, encoding: Encoding) -> Option<&'static str> {
    let is_prefixed = encoding == Encoding::DELTA_BYTE_ARRAY;
    if !is_prefixed && encoding != Encoding::DELTA_LENGTH_BYTE_ARRAY {
        return None;
    }
    let first = list_of(values)?;
    let second = first.behind.filter(|_| is_prefixed).and_then(list_of);
    let most = second.map_or(0, |second| second.count).max(first.count);
    (most > u64::from(n_values)).then_some("lengths than values")
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

/// What stands behind the blocks of `all` differences, for the library: packs behind the last one that is needed have no
/// bytes in the first block only, whatever their width.
fn behind(mut bytes: &[u8], in_block: u64, n_packs: u64, all: u64) -> Option<&[u8]> {
    let in_pack = in_block.checked_div(n_packs)?.max(1);
    let mut rest = all;
    while rest > 0 {
        first_number(&mut bytes)?;
        let (widths, packs) = bytes.split_at_checked(usize::try_from(n_packs).ok()?)?;
        bytes = packs;
        for width in widths.iter().take(usize::try_from(all.div_ceil(in_pack)).ok()?) {
            let size = in_pack.checked_mul(u64::from(*width))? / 8;
            bytes = bytes.get(usize::try_from(size).ok()?..)?;
        }
        rest = rest.saturating_sub(in_block.max(1));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use parquet::schema::types::{ColumnPath, Type as Schema};

    use super::{ColumnDescriptor, Encoding, Page, Type, refusal};

    fn column(max_level: i16, values: Type) -> ColumnDescriptor {
        let schema = Schema::primitive_type_builder("text", values).with_length(0).build().expect("a type");
        ColumnDescriptor::new(Arc::new(schema), max_level, 0, ColumnPath::from("text"))
    }

    fn data(bytes: &[u8], levels: Encoding) -> Page {
        Page::DataPage {
            buf: Bytes::copy_from_slice(bytes),
            num_values: 5,
            encoding: Encoding::DELTA_LENGTH_BYTE_ARRAY,
            def_level_encoding: levels,
            rep_level_encoding: levels,
            statistics: None,
        }
    }

    fn dictionary(num_values: u32) -> Page {
        Page::DictionaryPage {
            buf: Bytes::from_static(&[0; 20]),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        }
    }

    #[test]
    fn pages_state_no_more_than_they_hold() {
        #[expect(deprecated, reason = "old writers pack levels so")]
        let packed = Encoding::BIT_PACKED;
        let texts = column(1, Type::BYTE_ARRAY);
        // Blocks of 128 in four packs, so many lengths, the first of which is 0.
        let is_refused = |levels: &[u8], encoding: Encoding, count: u8| {
            refusal(&data(&[levels, &[0x80, 1, 4, count, 0]].concat(), encoding), &texts).is_some()
        };
        for (levels, encoding) in [(&[2, 0, 0, 0, 10, 1][..], Encoding::RLE), (&[0b11111], packed)] {
            assert!(!is_refused(levels, encoding, 5), "{encoding}");
            assert!(is_refused(levels, encoding, 6), "{encoding}");
        }
        let flat = column(0, Type::BYTE_ARRAY);
        assert!(refusal(&data(&[0x80, 1, 4, 6, 0], Encoding::RLE), &flat).is_some());
        assert!(refusal(&data(&[0x80, 1, 4], Encoding::RLE), &flat).is_none(), "the library says that it is cut off");

        assert!(refusal(&dictionary(20), &texts).is_none());
        let said = refusal(&dictionary(21), &texts).map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("a page of the column \"text\" states more values than bytes"), "{said}");
        assert!(refusal(&dictionary(21), &column(1, Type::FIXED_LEN_BYTE_ARRAY)).is_none(), "without a width");
    }
}
