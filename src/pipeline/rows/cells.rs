//! Lists and texts in whatever arrays hold them: all list kinds, all text kinds, dictionaries of texts. Knows no
//! conversation.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, LargeListArray, LargeListViewArray, LargeStringArray, LargeStringBuilder, ListArray,
    ListViewArray, StringArray, StringBuilder, StringViewArray, StringViewBuilder, StructArray,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

/// Where the items of each list stand among the values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ranges<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
    SmallView(&'a [i32], &'a [i32]),
    LargeView(&'a [i64], &'a [i64]),
    Fixed(usize),
}

impl<'a> Ranges<'a> {
    /// The ranges of a list, fixed-size list, list view or map.
    pub(super) fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::List(_) => Self::Small(array.as_list::<i32>().value_offsets()),
            DataType::LargeList(_) => Self::Large(array.as_list::<i64>().value_offsets()),
            DataType::ListView(_) => {
                let list = array.as_list_view::<i32>();
                Self::SmallView(list.value_offsets(), list.value_sizes())
            }
            DataType::LargeListView(_) => {
                let list = array.as_list_view::<i64>();
                Self::LargeView(list.value_offsets(), list.value_sizes())
            }
            DataType::FixedSizeList(_, size) => Self::Fixed(usize::try_from(*size).ok()?),
            DataType::Map(_, _) => Self::Small(array.as_map().value_offsets()),
            _ => return None,
        })
    }

    /// The items of list `index`.
    pub(super) fn get(&self, index: usize) -> Range<usize> {
        match *self {
            Self::Small(offsets) => offsets[index] as usize..offsets[index + 1] as usize,
            Self::Large(offsets) => offsets[index] as usize..offsets[index + 1] as usize,
            Self::SmallView(starts, sizes) => starts[index] as usize..(starts[index] + sizes[index]) as usize,
            Self::LargeView(starts, sizes) => starts[index] as usize..(starts[index] + sizes[index]) as usize,
            Self::Fixed(size) => index * size..(index + 1) * size,
        }
    }
}

/// The values of a list, fixed-size list, list view or map.
pub(super) fn values_of(array: &dyn Array) -> Option<&dyn Array> {
    Some(match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().values(),
        DataType::LargeList(_) => array.as_list::<i64>().values(),
        DataType::ListView(_) => array.as_list_view::<i32>().values(),
        DataType::LargeListView(_) => array.as_list_view::<i64>().values(),
        DataType::FixedSizeList(_, _) => array.as_fixed_size_list().values(),
        DataType::Map(_, _) => array.as_map().entries(),
        _ => return None,
    })
}

/// Lists of structs: the messages of each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lists<'a> {
    ranges: Ranges<'a>,
    pub(super) values: &'a StructArray,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Lists<'a> {
    pub(super) fn of(array: &'a dyn Array) -> Option<Self> {
        let values = values_of(array)?.as_struct_opt()?;
        Some(Self { ranges: Ranges::of(array)?, values, nulls: array.nulls() })
    }

    /// The messages of row `index`; `None` for a null.
    pub(super) fn get(&self, index: usize) -> Option<Range<usize>> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(index)) { None } else { Some(self.ranges.get(index)) }
    }
}

/// The fields of the structs in a column of lists whose length may change; `None` for other types.
pub(super) fn struct_item(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::ListView(item) | DataType::LargeListView(item) => {
            Some(item.data_type()).filter(|item| matches!(item, DataType::Struct(_)))
        }
        _ => None,
    }
}

/// Lists of type `like` with `lengths` items each, cut from `values`.
pub(super) fn list_of(like: &DataType, values: ArrayRef, lengths: &[usize]) -> Result<ArrayRef, ArrowError> {
    let starts = || lengths.iter().scan(0, |at, &length| Some(std::mem::replace(at, *at + length)));
    let wide = || ArrowError::OffsetOverflowError(values.len());
    let narrow = |n: usize| i32::try_from(n).map_err(|_| wide());
    Ok(match like {
        DataType::List(item) => {
            narrow(values.len())?;
            let offsets = OffsetBuffer::<i32>::from_lengths(lengths.iter().copied());
            Arc::new(ListArray::try_new(item.clone(), offsets, values, None)?)
        }
        DataType::LargeList(item) => {
            let offsets = OffsetBuffer::<i64>::from_lengths(lengths.iter().copied());
            Arc::new(LargeListArray::try_new(item.clone(), offsets, values, None)?)
        }
        DataType::ListView(item) => {
            let starts: ScalarBuffer<i32> = starts().map(narrow).collect::<Result<Vec<_>, _>>()?.into();
            let sizes: ScalarBuffer<i32> =
                lengths.iter().map(|&length| narrow(length)).collect::<Result<Vec<_>, _>>()?.into();
            Arc::new(ListViewArray::try_new(item.clone(), starts, sizes, values, None)?)
        }
        DataType::LargeListView(item) => {
            let starts: ScalarBuffer<i64> = starts().map(wide_count).collect();
            let sizes: ScalarBuffer<i64> = lengths.iter().copied().map(wide_count).collect();
            Arc::new(LargeListViewArray::try_new(item.clone(), starts, sizes, values, None)?)
        }
        other => return Err(ArrowError::InvalidArgumentError(format!("{other} is no list of messages"))),
    })
}

fn wide_count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Bytes of the values of `rows`, texts behind views included, for bounds that depend on the data only.
pub fn value_bytes(rows: &RecordBatch) -> usize {
    rows.columns().iter().map(|column| array_bytes(column)).sum()
}

fn array_bytes(array: &dyn Array) -> usize {
    let n = array.len();
    match array.data_type() {
        DataType::Utf8View => array.as_string_view().views().iter().map(|view| *view as u32 as usize).sum(),
        DataType::BinaryView => array.as_binary_view().views().iter().map(|view| *view as u32 as usize).sum(),
        DataType::Struct(_) => array.as_struct().columns().iter().map(|column| array_bytes(column)).sum(),
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(_, _) if n > 0 => {
            match (Ranges::of(array), values_of(array)) {
                (Some(ranges), Some(values)) => {
                    let (start, end) = (ranges.get(0).start, ranges.get(n - 1).end);
                    n * size_of::<i32>() + array_bytes(values.slice(start, end - start).as_ref())
                }
                _ => 0,
            }
        }
        _ => array.to_data().get_slice_memory_size().unwrap_or(0),
    }
}

/// Texts of any text type, also behind a dictionary.
#[derive(Debug)]
pub(crate) enum TextColumn<'a> {
    Small(&'a StringArray),
    Large(&'a LargeStringArray),
    View(&'a StringViewArray),
    Dictionary { keys: Vec<usize>, nulls: Option<&'a NullBuffer>, values: Box<TextColumn<'a>> },
}

impl<'a> TextColumn<'a> {
    pub(crate) fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::Small(array.as_string()),
            DataType::LargeUtf8 => Self::Large(array.as_string()),
            DataType::Utf8View => Self::View(array.as_string_view()),
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary_opt()?;
                let values = Box::new(Self::of(dictionary.values().as_ref())?);
                // An empty dictionary has nulls only, and no key to look up.
                let keys =
                    if dictionary.values().is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
                Self::Dictionary { keys, nulls: dictionary.keys().nulls(), values }
            }
            _ => return None,
        })
    }

    /// The text at `index`; `None` for a null.
    pub(crate) fn get(&self, index: usize) -> Option<&'a str> {
        match self {
            Self::Small(texts) => texts.is_valid(index).then(|| texts.value(index)),
            Self::Large(texts) => texts.is_valid(index).then(|| texts.value(index)),
            Self::View(texts) => texts.is_valid(index).then(|| texts.value(index)),
            Self::Dictionary { keys, nulls, values } => {
                if nulls.is_some_and(|nulls| nulls.is_null(index)) {
                    None
                } else {
                    values.get(keys[index])
                }
            }
        }
    }
}

/// True for the types that [`TextColumn`] reads.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => is_text(value),
        _ => false,
    }
}

/// An array of text type `like`.
pub(crate) fn texts_like<'t>(
    like: &DataType,
    texts: impl Iterator<Item = Option<&'t str>>,
) -> Result<ArrayRef, ArrowError> {
    Ok(match like {
        DataType::Utf8 => {
            let mut builder = StringBuilder::new();
            texts.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        DataType::Utf8View => {
            let mut builder = StringViewBuilder::new();
            texts.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        DataType::LargeUtf8 => {
            let mut builder = LargeStringBuilder::new();
            texts.for_each(|text| builder.append_option(text));
            Arc::new(builder.finish())
        }
        other => cast(&texts_like(&DataType::LargeUtf8, texts)?, other)?,
    })
}

/// `rows` with another column at `index`.
pub(crate) fn with_column(rows: &RecordBatch, index: usize, column: ArrayRef) -> Result<RecordBatch, String> {
    let mut columns = rows.columns().to_vec();
    *columns.get_mut(index).ok_or("there is no such column")? = column;
    RecordBatch::try_new(rows.schema(), columns).map_err(|error| error.to_string())
}
