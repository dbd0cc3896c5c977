//! Sorting more records than memory holds: records of a fixed size, by their bytes, in sorted runs that stand in one file without a
//! name and are merged while they are read. Knows bytes; refuses to know what they mean.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use super::scratch::Scratch;
use crate::error::Result;

/// Bytes of records that are held until they are sorted and written.
const RUN_BYTES: usize = 24 << 20;
/// Bytes of a run that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Takes records in any order.
#[derive(Debug)]
pub(super) struct Sorter<const N: usize> {
    scratch: Scratch,
    held: Vec<[u8; N]>,
    file: Option<File>,
    /// How many records each run has.
    runs: Vec<u64>,
}

impl<const N: usize> Sorter<N> {
    /// Keeps what is too much in `scratch`.
    pub(super) fn new(scratch: &Scratch) -> Self {
        Self { scratch: scratch.clone(), held: Vec::new(), file: None, runs: Vec::new() }
    }

    pub(super) fn push(&mut self, record: [u8; N]) -> Result<()> {
        self.held.push(record);
        if self.held.len() * N >= RUN_BYTES { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        self.held.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.scratch.file()?),
        };
        file.write_all(self.held.as_flattened()).map_err(|error| self.scratch.failed(error))?;
        self.runs.push(self.held.len() as u64);
        self.held.clear();
        Ok(())
    }

    /// All records, which can be read in their order as often as needed.
    pub(super) fn sorted(mut self) -> Result<Sorted<N>> {
        if self.file.is_some() && !self.held.is_empty() {
            self.spill()?;
        }
        self.held.sort_unstable();
        self.held.shrink_to_fit();
        Ok(Sorted { scratch: self.scratch, held: self.held, file: self.file, runs: self.runs })
    }
}

/// Sorted records.
#[derive(Debug)]
pub(super) struct Sorted<const N: usize> {
    scratch: Scratch,
    /// All of them, where they fit into memory.
    held: Vec<[u8; N]>,
    file: Option<File>,
    runs: Vec<u64>,
}

impl<const N: usize> Sorted<N> {
    /// The records from the first.
    pub(super) fn read(&self) -> Result<Merged<'_, N>> {
        let mut merged = Merged { sorted: self, cursors: Vec::new(), heap: BinaryHeap::new(), at: 0 };
        let mut offset = 0;
        for &n in &self.runs {
            merged.cursors.push(Cursor { offset, n_left: n, held: Vec::new(), at: 0 });
            offset += n * N as u64;
        }
        for run in 0..merged.cursors.len() {
            merged.advance(run)?;
        }
        Ok(merged)
    }
}

/// How far a run was read.
struct Cursor<const N: usize> {
    /// Of the next record that is not held.
    offset: u64,
    n_left: u64,
    held: Vec<[u8; N]>,
    at: usize,
}

/// Records in ascending order.
pub(super) struct Merged<'s, const N: usize> {
    sorted: &'s Sorted<N>,
    cursors: Vec<Cursor<N>>,
    heap: BinaryHeap<Reverse<([u8; N], usize)>>,
    at: usize,
}

impl<const N: usize> Merged<'_, N> {
    /// The next record, `None` behind the last.
    pub(super) fn next(&mut self) -> Result<Option<[u8; N]>> {
        if self.sorted.file.is_none() {
            self.at += 1;
            return Ok(self.sorted.held.get(self.at - 1).copied());
        }
        let Some(Reverse((record, run))) = self.heap.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some(record))
    }

    /// Puts the next record of a run onto the heap.
    fn advance(&mut self, run: usize) -> Result<()> {
        let (Some(cursor), Some(file)) = (self.cursors.get_mut(run), &self.sorted.file) else { return Ok(()) };
        if cursor.at == cursor.held.len() {
            let n = cursor.n_left.min((READ_BYTES / N) as u64);
            cursor.held.resize(n as usize, [0; N]);
            let mut file = file;
            let read =
                file.seek(SeekFrom::Start(cursor.offset)).and_then(|_| file.read_exact(cursor.held.as_flattened_mut()));
            read.map_err(|error| self.sorted.scratch.failed(error))?;
            (cursor.at, cursor.n_left, cursor.offset) = (0, cursor.n_left - n, cursor.offset + n * N as u64);
        }
        if let Some(&record) = cursor.held.get(cursor.at) {
            cursor.at += 1;
            self.heap.push(Reverse((record, run)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{RUN_BYTES, Scratch, Sorter};

    #[test]
    fn more_than_memory_holds_comes_back_in_order() {
        let mut sorter = Sorter::<64>::new(&Scratch::default());
        let n = (RUN_BYTES / 64 * 2 + 1000) as u64;
        for at in 0..n {
            let mut record = [0; 64];
            record[..8].copy_from_slice(&(at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes());
            sorter.push(record).expect("there is room");
        }
        let sorted = sorter.sorted().expect("there is room");
        assert_eq!(sorted.runs.len(), 3);
        for _ in 0..2 {
            let (mut merged, mut before, mut n_read) = (sorted.read().expect("readable"), [0; 64], 0);
            while let Some(record) = merged.next().expect("readable") {
                assert!(record >= before);
                (before, n_read) = (record, n_read + 1);
            }
            assert_eq!(n_read, n);
        }
    }
}
