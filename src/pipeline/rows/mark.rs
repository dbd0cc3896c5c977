//! What a row is, as bytes: one canonical encoding of any Arrow value, whatever its array's layout, and the hash of
//! it. Two rows have the same mark exactly when their values are equal. Knows no conversation.

use arrow::array::{Array, ArrayAccessor, AsArray, BooleanArray, UnionArray};
use arrow::array::{Int16RunArray, Int32RunArray, Int64RunArray, RunArray};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::{
    BinaryType, BinaryViewType, DataType, Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type,
    RunEndIndexType, StringViewType, Utf8Type,
};
use arrow::record_batch::RecordBatch;

use super::cells::{Ranges, values_of};

/// Size and BLAKE3 hash of the canonical bytes of a row: its values column by column. A value is a zero byte for a
/// null, else a one and what it holds: numbers in little endian, texts and bytes after their length (8 bytes), lists
/// and maps as their length and their items, structs as their fields. Dictionaries, views and runs are what they
/// stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowMark {
    /// BLAKE3 of the canonical bytes.
    pub hash: [u8; 32],
    /// Number of canonical bytes.
    pub bytes: u64,
}

/// The marks of rows in order: size and hash of a table.
#[derive(Debug, Clone, Default)]
pub struct RowDigest {
    hasher: blake3::Hasher,
    bytes: u64,
}

impl RowDigest {
    /// Takes the next rows.
    pub fn push(&mut self, marks: &[RowMark]) {
        for mark in marks {
            self.hasher.update(&mark.hash);
            self.bytes += mark.bytes;
        }
    }

    /// Number of canonical bytes, and the BLAKE3 of the hashes of all rows, in hex.
    pub fn finish(&self) -> (u64, String) {
        (self.bytes, self.hasher.finalize().to_hex().to_string())
    }
}

/// The mark of every row.
pub fn marks(rows: &RecordBatch) -> Vec<RowMark> {
    let columns: Vec<Cells<'_>> = rows.columns().iter().map(|column| Cells::of(column)).collect();
    let mut canonical = Canonical::default();
    (0..rows.num_rows())
        .map(|row| {
            for column in &columns {
                column.write(row, &mut canonical);
            }
            canonical.take()
        })
        .collect()
}

/// Appends the value at an index.
type WriteValue<'a> = Box<dyn Fn(usize, &mut Canonical) + 'a>;

/// Longer rows are hashed in pieces of about this size.
const PIECE_BYTES: usize = 64 << 10;

/// The canonical bytes of a row on their way to the hash: a giant row is never held.
#[derive(Default)]
struct Canonical {
    pending: Vec<u8>,
    hasher: blake3::Hasher,
    n_hashed: u64,
}

impl Canonical {
    fn push(&mut self, byte: u8) {
        self.pending.push(byte);
    }

    fn extend_from_slice(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() <= PIECE_BYTES {
            self.pending.extend_from_slice(bytes);
            return;
        }
        for piece in [&self.pending, bytes] {
            self.hasher.update(piece);
            self.n_hashed += piece.len() as u64;
        }
        self.pending.clear();
    }

    /// The mark of what was written; what follows is the next row.
    fn take(&mut self) -> RowMark {
        let bytes = self.n_hashed + self.pending.len() as u64;
        let hash = if self.n_hashed == 0 {
            blake3::hash(&self.pending)
        } else {
            let hash = self.hasher.update(&self.pending).finalize();
            self.hasher.reset();
            hash
        };
        self.n_hashed = 0;
        self.pending.clear();
        RowMark { hash: *hash.as_bytes(), bytes }
    }
}

/// An array ready to be read value by value.
enum Cells<'a> {
    Null,
    Bool(&'a BooleanArray),
    Fixed(Buffer, usize, Option<NullBuffer>),
    Bytes(Box<dyn Fn(usize) -> Option<&'a [u8]> + 'a>),
    Nested(WriteValue<'a>),
}

impl<'a> Cells<'a> {
    fn of(array: &'a dyn Array) -> Self {
        match array.data_type() {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Utf8 => bytes_of(array.as_bytes::<Utf8Type>()),
            DataType::LargeUtf8 => bytes_of(array.as_bytes::<LargeUtf8Type>()),
            DataType::Binary => bytes_of(array.as_bytes::<BinaryType>()),
            DataType::LargeBinary => bytes_of(array.as_bytes::<LargeBinaryType>()),
            DataType::Utf8View => bytes_of(array.as_byte_view::<StringViewType>()),
            DataType::BinaryView => bytes_of(array.as_byte_view::<BinaryViewType>()),
            DataType::FixedSizeBinary(_) => bytes_of(array.as_fixed_size_binary()),
            DataType::Struct(_) => {
                let fields: Vec<Self> = array.as_struct().columns().iter().map(|column| Self::of(column)).collect();
                let nulls = array.nulls();
                Self::Nested(Box::new(move |row, out| {
                    if valid(nulls, row, out) {
                        for field in &fields {
                            field.write(row, out);
                        }
                    }
                }))
            }
            DataType::Dictionary(_, _) => dictionary(array),
            DataType::Union(_, _) => union_of(array.as_union()),
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => array.as_any().downcast_ref::<Int16RunArray>().map_or(Self::Null, runs::<Int16Type>),
                DataType::Int32 => array.as_any().downcast_ref::<Int32RunArray>().map_or(Self::Null, runs::<Int32Type>),
                _ => array.as_any().downcast_ref::<Int64RunArray>().map_or(Self::Null, runs::<Int64Type>),
            },
            other => match (other.primitive_width(), Ranges::of(array).zip(values_of(array))) {
                (Some(width), _) => {
                    let data = array.to_data();
                    let start = data.offset() * width;
                    let buffer =
                        data.buffers().first().map(|buffer| buffer.slice_with_length(start, data.len() * width));
                    buffer.map_or(Self::Null, |buffer| Self::Fixed(buffer, width, array.nulls().cloned()))
                }
                (None, Some((ranges, values))) => lists(array, ranges, values),
                (None, None) => Self::Null,
            },
        }
    }

    fn write(&self, row: usize, out: &mut Canonical) {
        match self {
            Self::Null => out.push(0),
            Self::Bool(values) => {
                if valid(values.nulls(), row, out) {
                    out.push(u8::from(values.value(row)));
                }
            }
            Self::Fixed(values, width, nulls) => {
                if valid(nulls.as_ref(), row, out) {
                    out.extend_from_slice(&values[row * width..(row + 1) * width]);
                }
            }
            Self::Bytes(value) => match value(row) {
                None => out.push(0),
                Some(value) => {
                    out.push(1);
                    out.extend_from_slice(&(value.len() as u64).to_le_bytes());
                    out.extend_from_slice(value);
                }
            },
            Self::Nested(write) => write(row, out),
        }
    }
}

/// Writes the mark of a null or of a value.
fn valid(nulls: Option<&NullBuffer>, row: usize, out: &mut Canonical) -> bool {
    let valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
    out.push(u8::from(valid));
    valid
}

fn bytes_of<'a, T: AsRef<[u8]> + ?Sized + 'a>(array: impl ArrayAccessor<Item = &'a T> + 'a) -> Cells<'a> {
    Cells::Bytes(Box::new(move |row| array.is_valid(row).then(|| array.value(row).as_ref())))
}

fn lists<'a>(array: &'a dyn Array, ranges: Ranges<'a>, values: &'a dyn Array) -> Cells<'a> {
    let (items, nulls) = (Cells::of(values), array.nulls());
    Cells::Nested(Box::new(move |row, out| {
        if valid(nulls, row, out) {
            let range = ranges.get(row);
            out.extend_from_slice(&(range.len() as u64).to_le_bytes());
            range.for_each(|item| items.write(item, out));
        }
    }))
}

fn dictionary(array: &dyn Array) -> Cells<'_> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    let (cells, nulls) = (Cells::of(values), dictionary.keys().nulls());
    let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    Cells::Nested(Box::new(move |row, out| match keys.get(row) {
        Some(&key) if nulls.is_none_or(|nulls| nulls.is_valid(row)) => cells.write(key, out),
        _ => out.push(0),
    }))
}

fn union_of(array: &UnionArray) -> Cells<'_> {
    let mut children: Vec<(i8, Cells<'_>)> = Vec::new();
    if let DataType::Union(fields, _) = array.data_type() {
        children.extend(fields.iter().map(|(id, _)| (id, Cells::of(array.child(id)))));
    }
    Cells::Nested(Box::new(move |row, out| {
        let id = array.type_id(row);
        out.extend_from_slice(&id.to_le_bytes());
        if let Some((_, child)) = children.iter().find(|(known, _)| *known == id) {
            child.write(array.value_offset(row), out);
        }
    }))
}

fn runs<T: RunEndIndexType>(array: &RunArray<T>) -> Cells<'_> {
    let values = Cells::of(array.values());
    Cells::Nested(Box::new(move |row, out| values.write(array.get_physical_index(row), out)))
}
