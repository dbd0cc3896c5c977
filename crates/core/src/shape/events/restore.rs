//! From a list of events back to the lines of a session.

use std::borrow::Cow;

use crate::model::Original;
use crate::shape::RestoreError;
use crate::shape::index::invalid;
use crate::shape::json::{Kind, Raw, Scanner, items, member};
use crate::shape::layout::{Column, Layout, Piece, damaged, pieces, sequence};
use crate::shape::out::Out;
use crate::shape::restore::{Slot, arrange};

/// What passes through, one after the other.
#[derive(Debug, Default)]
pub(in crate::shape) struct Passed<'m> {
    /// Where the values are, as long as nobody wanted one.
    extra: Option<&'m str>,
    values: Vec<Raw<'m>>,
    used: usize,
}

impl<'m> Passed<'m> {
    /// The items of `events` in the `extra` of a row.
    pub(in crate::shape) fn of_row(extra: Option<&'m str>) -> Self {
        Self { extra, ..Self::default() }
    }

    /// The text for a hole; `None` for a hole of another kind.
    pub(in crate::shape) fn fill(&mut self, hole: Column) -> Option<Result<Cow<'m, str>, RestoreError>> {
        if !matches!(hole, Column::Event | Column::Line) {
            return None;
        }
        if let Some(events) = self.extra.take().and_then(|extra| member(extra, "events")) {
            items(events.text, |item| self.values.push(item));
        }
        let value = self.values.get(self.used).copied();
        self.used += 1;
        let Some(value) = value else {
            return Some(Err(RestoreError("an event is missing that the layout has".to_owned())));
        };
        Some(match hole {
            Column::Line => value.string().ok_or_else(|| damaged("an event stands for a text")),
            _ => Ok(Cow::Borrowed(value.text)),
        })
    }

    /// Appends a text between two messages.
    pub(in crate::shape) fn write(&mut self, gap: &[Piece<'_>], record: &mut impl Out) -> Result<(), RestoreError> {
        for piece in gap {
            match piece {
                Piece::Text(text) => record.push_str(text),
                Piece::Hole(column, _) => {
                    record.push_str(&self.fill(*column).ok_or_else(|| damaged("a hole between messages"))??);
                }
            }
        }
        Ok(())
    }
}

/// The exact record from the list that was written for it.
pub(in crate::shape) fn restore_list(
    record: &str,
    layout: &Layout<'_>,
    originals: &[Original<'_>],
    out: &mut impl Out,
) -> Result<(), RestoreError> {
    let mut scanner = Scanner::new(record);
    let mut kinds = layout.items.iter().flatten().flat_map(|&(kind, n)| std::iter::repeat_n(kind, n));
    let (mut messages, mut passed) = (Vec::new(), Passed::default());
    let is_list = scanner.peek() == Ok(Kind::List);
    let read = if is_list {
        let list = scanner.list(|scanner| {
            let value = scanner.value()?;
            match kinds.next() {
                Some(0) | None => passed.values.push(value),
                Some(_) => messages.push(value.text),
            }
            Ok(())
        });
        list.and_then(|_| scanner.end())
    } else {
        Ok(())
    };
    read.map_err(|bad| RestoreError(invalid(record, bad).detail))?;
    if !is_list || kinds.next().is_some() {
        return Err(RestoreError("the record is not the list of events that was written".to_owned()));
    }
    let slots = arrange(messages.len(), originals, layout.order.as_deref())?;
    let gaps = layout.separators.iter().map(|text| pieces(text)).collect::<Result<Vec<_>, _>>()?;
    let mut which = sequence(layout.separator_runs.as_ref());
    for piece in pieces(layout.record.unwrap_or_default())? {
        if piece != Piece::Hole(Column::Messages, None) {
            passed.write(&[piece], out)?;
            continue;
        }
        for (n, slot) in slots.iter().enumerate() {
            if n > 0 {
                let gap = which.next().and_then(|number| gaps.get(number));
                passed.write(gap.ok_or_else(|| damaged("a separator is missing"))?, out)?;
            }
            out.push_str(match slot {
                Slot::Original(text) => text,
                Slot::Kept(at) => messages.get(*at).ok_or_else(|| damaged("a position is too large"))?,
            });
        }
    }
    if passed.used < passed.values.len() {
        return Err(RestoreError("there are more events than the layout has".to_owned()));
    }
    Ok(())
}
