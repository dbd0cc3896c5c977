//! How two figures lie together: counts on a grid of ratio against a share. Merging adds counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::packed;
use crate::pipeline::merge::merges;

/// Columns per doubling of the ratio.
const PER_OCTAVE: f64 = 8.0;
/// Columns from ratio 1 on; what is beyond is in the last one, at 64.
const N_COLUMNS: u8 = 48;
/// Rows from share 0 to 1.
const N_ROWS: u8 = 20;

/// A grid of counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Density {
    cells: BTreeMap<(u8, u8), u64>,
}

/// A cell of the grid that holds something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DensityCell {
    /// Ratios from here.
    pub ratio_from: f64,
    /// To here; in the last column all above too.
    pub ratio_to: f64,
    /// Figures from here.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// Conversations.
    pub count: u64,
}

impl Density {
    /// Takes a conversation.
    pub fn push(&mut self, ratio: f64, share: f64) {
        if ratio.is_nan() || share.is_nan() {
            return;
        }
        let column = (ratio.max(1.0).log2() * PER_OCTAVE).min(f64::from(N_COLUMNS - 1)) as u8;
        let row = (share.clamp(0.0, 1.0) * f64::from(N_ROWS)).min(f64::from(N_ROWS - 1)) as u8;
        *self.cells.entry((column, row)).or_default() += 1;
    }

    /// The cells that hold something, column by column.
    pub fn cells(&self) -> impl Iterator<Item = DensityCell> {
        let ratio = |column: u8| (f64::from(column) / PER_OCTAVE).exp2();
        let share = |row: u8| f64::from(row) / f64::from(N_ROWS);
        self.cells.iter().map(move |(&(column, row), &count)| DensityCell {
            ratio_from: ratio(column),
            ratio_to: ratio(column + 1),
            from: share(row),
            to: share(row + 1),
            count,
        })
    }
}

merges!(Density { cells });

impl From<Density> for String {
    fn from(density: Density) -> Self {
        let cells = density.cells.into_iter();
        packed::write(
            cells.map(|((column, row), count)| (i64::from(column) * i64::from(N_ROWS) + i64::from(row), count)),
        )
    }
}

impl TryFrom<String> for Density {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let cells = packed::read(&text)?.into_iter().map(|(cell, count)| {
            let column = u8::try_from(cell / i64::from(N_ROWS)).ok().filter(|&column| column < N_COLUMNS);
            let row = u8::try_from(cell % i64::from(N_ROWS)).ok();
            Ok(((column.zip(row)).ok_or_else(|| format!("there is no cell {cell}"))?, count))
        });
        Ok(Self { cells: cells.collect::<Result<_, String>>()? })
    }
}

schema_of!(Density, {
    "description": "`cell:count` pairs; cell 20 c + r holds the conversations whose ratio is from 2^(c/8) to \
                    2^((c+1)/8) and whose share is from r/20 to (r+1)/20.",
    "type": "string",
    "pattern": "^([0-9]+:[0-9]+( [0-9]+:[0-9]+)*)?$"
});

#[cfg(test)]
mod tests {
    use super::Density;
    use crate::pipeline::Merge;

    #[test]
    fn cells_hold_what_was_pushed_and_come_back_from_their_text() {
        let mut density = Density::default();
        for (ratio, share) in [(1.0, 1.0), (1.0, 0.99), (2.0, 0.0), (1e9, 0.5), (f64::NAN, 1.0)] {
            density.push(ratio, share);
        }
        let cells: Vec<(f64, f64, u64)> =
            density.cells().map(|cell| (cell.ratio_from, cell.from, cell.count)).collect();
        assert_eq!(cells[0], (1.0, 0.95, 2));
        assert_eq!(cells[1], (2.0, 0.0, 1));
        assert_eq!((cells.len(), cells[2].2), (3, 1));
        let text = serde_json::to_string(&density).expect("JSON");
        assert_eq!(serde_json::from_str::<Density>(&text).expect("the same"), density);
        assert!(serde_json::from_str::<Density>("\"99999:1\"").is_err());
        let mut twice = density.clone();
        twice.absorb(&density);
        assert_eq!(twice.cells().map(|cell| cell.count).sum::<u64>(), 8);
    }
}
