//! Slices of inputs, as plans and commits write them. Knows no file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A slice of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "String", try_from = "String")]
#[cfg_attr(feature = "schemas", schemars(with = "String"))]
pub enum Slice {
    /// All of it.
    Whole,
    /// The lines that begin in a range of bytes.
    Bytes {
        /// The first byte.
        start: u64,
        /// The byte after the last one.
        end: u64,
    },
    /// Row groups of a Parquet file.
    RowGroups {
        /// The first row group.
        start: u64,
        /// The row group after the last one.
        end: u64,
        /// Number of the first row in the file.
        first_row: u64,
    },
}

impl Slice {
    /// The number that the first record of the slice gets. The lines of a range are counted from the range's first
    /// byte: a record has at least a byte, so that no two records of a file get one number, and no range must be
    /// read to number the next.
    pub fn first_row(&self) -> u64 {
        match *self {
            Self::Whole => 0,
            Self::Bytes { start, .. } => start,
            Self::RowGroups { first_row, .. } => first_row,
        }
    }

    /// True for the first slice of an input.
    pub fn is_first(&self) -> bool {
        matches!(self, Self::Whole | Self::Bytes { start: 0, .. } | Self::RowGroups { start: 0, .. })
    }

    /// Ranges of `split_bytes` that cover `bytes`; the whole when one is enough.
    pub fn ranges(bytes: u64, split_bytes: u64) -> Vec<Self> {
        let split_bytes = split_bytes.max(1);
        if bytes <= split_bytes {
            return vec![Self::Whole];
        }
        let starts = (0..bytes.div_ceil(split_bytes)).map(|index| index * split_bytes);
        starts.map(|start| Self::Bytes { start, end: (start + split_bytes).min(bytes) }).collect()
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole"),
            Self::Bytes { start, end } => write!(f, "bytes {start}..{end}"),
            Self::RowGroups { start, end, first_row } => write!(f, "row groups {start}..{end} from row {first_row}"),
        }
    }
}

impl From<Slice> for String {
    fn from(slice: Slice) -> Self {
        slice.to_string()
    }
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is no slice of an input");
        let number = |text: &str| text.parse().map_err(|_| unknown());
        let range = |text: &str| -> Result<(u64, u64), String> {
            let (start, end) = text.split_once("..").ok_or_else(unknown)?;
            Ok((number(start)?, number(end)?))
        };
        if text == "whole" {
            Ok(Self::Whole)
        } else if let Some(text) = text.strip_prefix("bytes ") {
            let (start, end) = range(text)?;
            Ok(Self::Bytes { start, end })
        } else if let Some(text) = text.strip_prefix("row groups ") {
            let (groups, first_row) = text.split_once(" from row ").ok_or_else(unknown)?;
            let (start, end) = range(groups)?;
            Ok(Self::RowGroups { start, end, first_row: number(first_row)? })
        } else {
            Err(unknown())
        }
    }
}

impl TryFrom<String> for Slice {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
