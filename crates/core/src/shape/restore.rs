//! From a row, a condensed record or a list of events back to the original bytes. Trusts nothing that it reads: what does
//! not fit together is an error, never a wrong record.

use crate::model::Original;

use super::escape::encode;
use super::index::invalid;
use super::json::{Kind, Raw, Scanner, items, members};
use super::layout::{Column, Layout, Piece, RestoreError, Runs, damaged, pieces, sequence};
use super::out::{Expected, Out};
use super::outline::Outline;
use super::row::{MessageRow, Row};
use super::text_record;

/// Where an input message comes from.
#[derive(Debug, Clone, Copy)]
enum Slot<'o> {
    Original(&'o str),
    /// The output message at this position.
    Kept(usize),
}

/// The exact original record from a row, its layout and the originals of the messages that were replaced.
///
/// # Errors
/// Says what is missing or does not fit.
pub fn restore_row(id: &str, row: &Row<'_>, layout: &str, originals: &[Original<'_>]) -> Result<String, RestoreError> {
    let mut record = String::with_capacity(estimate(row, originals));
    write_row(id, row, layout, originals, &mut record)?;
    Ok(record)
}

/// True when [`restore_row`] gives `record`; finds out without making it.
#[must_use]
pub fn restores_row(id: &str, row: &Row<'_>, layout: &str, originals: &[Original<'_>], record: &str) -> bool {
    let mut out = Expected::new(record);
    write_row(id, row, layout, originals, &mut out).is_ok() && out.is_met()
}

fn write_row<O: Out>(
    id: &str,
    row: &Row<'_>,
    layout: &str,
    originals: &[Original<'_>],
    record: &mut O,
) -> Result<(), RestoreError> {
    let layout = Layout::read(layout)?;
    let slots = arrange(row.messages.len(), originals, layout.order.as_deref())?;
    let template = pieces(layout.record.ok_or_else(|| damaged("it has no record"))?)?;
    let (templates, gaps) = (cut(&layout.messages)?, cut(&layout.separators)?);
    let (mut extras, mut passed, mut inner) = (Values::default(), Values::default(), Values::default());
    members(row.extra.as_deref().unwrap_or_default(), |key, value| {
        extras.all.push(value);
        if key.name == "events" {
            passed.all.clear();
            items(value.text, |item| passed.all.push(item));
        }
    });
    let mut which = sequence(layout.message_runs.as_ref());
    let mut kept = |position: usize, record: &mut O| {
        let template = which.next().and_then(|number| templates.get(number));
        let message = row.messages.get(position).ok_or_else(|| damaged("a position is too large"))?;
        fill(template.ok_or_else(|| damaged("a message is missing"))?, message, &mut inner, record)
    };
    for piece in template {
        match piece {
            Piece::Hole(Column::Id, None) => record.push_str(id),
            Piece::Hole(Column::Id, Some(style)) => encode(id, style, record),
            Piece::Hole(Column::Extra, _) => record.push_str(extras.next()?.text),
            Piece::Hole(Column::Messages, _) => {
                messages(&slots, &gaps, layout.separator_runs.as_ref(), &mut passed, record, &mut kept)?;
            }
            _ => passed.write(&[piece], record)?,
        }
    }
    Ok(())
}

/// Appends the messages in their order, with what stands between them; `kept` appends the one at an output position.
fn messages<O: Out>(
    slots: &[Slot<'_>],
    gaps: &[Vec<Piece<'_>>],
    runs: Option<&Runs>,
    passed: &mut Values<'_>,
    out: &mut O,
    mut kept: impl FnMut(usize, &mut O) -> Result<(), RestoreError>,
) -> Result<(), RestoreError> {
    let mut which = sequence(runs);
    for (n, slot) in slots.iter().enumerate() {
        if n > 0 {
            let gap = which.next().and_then(|number| gaps.get(number));
            passed.write(gap.ok_or_else(|| damaged("a separator is missing"))?, out)?;
        }
        match slot {
            Slot::Original(text) => out.push_str(text),
            Slot::Kept(position) => kept(*position, out)?,
        }
    }
    Ok(())
}

/// The same for messages that stand in the output as they stood in the input.
fn copied<'m, O: Out>(messages: &'m [&'m str]) -> impl FnMut(usize, &mut O) -> Result<(), RestoreError> + 'm {
    |position, out| {
        out.push_str(messages.get(position).ok_or_else(|| damaged("a position is too large"))?);
        Ok(())
    }
}

/// Templates cut into their pieces.
fn cut<'l>(templates: &[&'l str]) -> Result<Vec<Vec<Piece<'l>>>, RestoreError> {
    templates.iter().map(|template| pieces(template)).collect()
}

fn fill<'m>(
    template: &[Piece<'_>],
    message: &'m MessageRow<'_>,
    extras: &mut Values<'m>,
    record: &mut impl Out,
) -> Result<(), RestoreError> {
    extras.all.clear();
    extras.used = 0;
    members(message.extra.as_deref().unwrap_or_default(), |_, value| extras.all.push(value));
    for piece in template {
        let (column, style) = match piece {
            Piece::Text(text) => {
                record.push_str(text);
                continue;
            }
            Piece::Hole(Column::Extra, _) => {
                record.push_str(extras.next()?.text);
                continue;
            }
            Piece::Hole(column, style) => (column, style),
        };
        let text = match column {
            Column::Role => &message.role,
            Column::Content => &message.content,
            Column::Name => &message.name,
            Column::ToolCallId => &message.tool_call_id,
            Column::ToolCalls => &message.tool_calls,
            Column::Metadata => &message.metadata,
            Column::Id | Column::Messages | Column::Extra | Column::Event | Column::Line => {
                return Err(damaged("a column of records in a message"));
            }
        };
        let text =
            text.as_deref().ok_or_else(|| RestoreError(format!("the column {column:?} of a message is null")))?;
        match style {
            Some(style) => encode(text, *style, record),
            None => record.push_str(text),
        }
    }
    Ok(())
}

/// Values, one after the other.
#[derive(Debug, Default)]
struct Values<'m> {
    all: Vec<Raw<'m>>,
    used: usize,
}

impl<'m> Values<'m> {
    fn next(&mut self) -> Result<Raw<'m>, RestoreError> {
        self.used += 1;
        let value = self.all.get(self.used - 1).copied();
        value.ok_or_else(|| RestoreError("a key or an event is missing that the layout has".to_owned()))
    }

    /// Appends a text between two messages, with what passes through.
    fn write(&mut self, gap: &[Piece<'_>], out: &mut impl Out) -> Result<(), RestoreError> {
        for piece in gap {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Hole(Column::Event, _) => out.push_str(self.next()?.text),
                Piece::Hole(Column::Line, _) => {
                    let line = self.next()?.string();
                    out.push_str(&line.ok_or_else(|| damaged("an event stands for a text"))?);
                }
                Piece::Hole(..) => return Err(damaged("a hole between messages")),
            }
        }
        Ok(())
    }
}

/// The exact original record from a compressed record of the same shape.
///
/// # Errors
/// Says what is missing or does not fit.
pub fn restore_record(record: &str, layout: Option<&str>, originals: &[Original<'_>]) -> Result<String, RestoreError> {
    let n_bytes = record.len() + originals.iter().map(|original| original.message.len() + 2).sum::<usize>();
    let mut out = String::with_capacity(n_bytes);
    write_record(record, layout, originals, &mut out)?;
    Ok(out)
}

/// The messages of a compressed record or of a list of events, as they stand in it.
///
/// # Errors
/// Says why there are none.
pub fn messages_of<'r>(record: &'r str, layout: Option<&str>) -> Result<Vec<&'r str>, RestoreError> {
    let read = Layout::read(layout.unwrap_or_default())?;
    if read.items.is_some() { Ok(listed(record, &read)?.0) } else { Ok(Outline::of(record, &read)?.messages) }
}

/// True when [`restore_record`] gives `original`; finds out without making it.
#[must_use]
pub fn restores_record(record: &str, layout: Option<&str>, originals: &[Original<'_>], original: &str) -> bool {
    let mut out = Expected::new(original);
    write_record(record, layout, originals, &mut out).is_ok() && out.is_met()
}

fn write_record(
    record: &str,
    layout: Option<&str>,
    originals: &[Original<'_>],
    out: &mut impl Out,
) -> Result<(), RestoreError> {
    let Some(text) = layout.or_else(|| (!originals.is_empty()).then_some("")) else {
        out.push_str(record);
        return Ok(());
    };
    let read = Layout::read(text)?;
    if read.items.is_some() {
        return restore_list(record, &read, originals, out);
    }
    if read.is_text {
        return write_row("", &text_record::read(record)?, text, originals, out);
    }
    let outline = Outline::of(record, &read)?;
    let slots = arrange(outline.messages.len(), originals, read.order.as_deref())?;
    let mut gaps = cut(&read.separators)?;
    if layout.is_none() {
        gaps.extend(outline.separator(slots.len())?.map(|text| vec![Piece::Text(text)]));
    }
    out.push_str(outline.before);
    let (runs, mut passed) = (read.separator_runs.as_ref(), Values::default());
    messages(&slots, &gaps, runs, &mut passed, out, copied(&outline.messages))?;
    out.push_str(outline.after);
    Ok(())
}

/// One slot per input message: the originals at their indices, the kept messages around them.
fn arrange<'o>(
    n_outputs: usize,
    originals: &[Original<'o>],
    order: Option<&[usize]>,
) -> Result<Vec<Slot<'o>>, RestoreError> {
    let mut replaced = vec![false; n_outputs];
    for original in originals {
        let flag = replaced.get_mut(original.position);
        *flag.ok_or_else(|| RestoreError(format!("there is no message at position {}", original.position)))? = true;
    }
    let mut kept = (0..n_outputs).filter(|&position| !replaced.get(position).copied().unwrap_or_default());
    let n_kept = kept.clone().count();
    let mut free: Vec<Option<Slot<'o>>> = vec![None; n_kept + originals.len()];
    for original in originals {
        take(&mut free, original.message_index, Slot::Original(original.message))?;
    }
    for &index in order.unwrap_or_default() {
        let position = kept.next().ok_or_else(|| damaged("its order is too long"))?;
        take(&mut free, index, Slot::Kept(position))?;
    }
    let mut taken = Vec::with_capacity(free.len());
    for slot in free {
        let slot = slot.or_else(|| kept.next().map(Slot::Kept));
        taken.push(slot.ok_or_else(|| damaged("messages are missing"))?);
    }
    Ok(taken)
}

fn take<'o>(free: &mut [Option<Slot<'o>>], index: usize, slot: Slot<'o>) -> Result<(), RestoreError> {
    let n_slots = free.len();
    let place = free.get_mut(index).ok_or_else(|| {
        RestoreError(format!("there is an original for message {index}, but only {n_slots} messages in all"))
    })?;
    if place.replace(slot).is_some() {
        return Err(RestoreError(format!("there are two messages for index {index}")));
    }
    Ok(())
}

fn estimate(row: &Row<'_>, originals: &[Original<'_>]) -> usize {
    let texts = row.messages.iter().flat_map(|message| [&message.content, &message.tool_calls, &message.extra]);
    let n_texts: usize = texts.flatten().map(|text| text.len() + text.len() / 16 + 32).sum();
    n_texts + originals.iter().map(|original| original.message.len() + 2).sum::<usize>() + 256
}

/// The messages of a list of events, and the events that pass through.
fn listed<'r>(record: &'r str, layout: &Layout<'_>) -> Result<(Vec<&'r str>, Values<'r>), RestoreError> {
    let mut scanner = Scanner::new(record);
    let mut kinds = sequence(layout.items.as_ref());
    let (mut kept, mut passed) = (Vec::new(), Values::default());
    let is_list = scanner.peek() == Ok(Kind::List);
    if is_list {
        let list = scanner.list(|scanner| {
            let value = scanner.value()?;
            match kinds.next() {
                Some(0) | None => passed.all.push(value),
                Some(_) => kept.push(value.text),
            }
            Ok(())
        });
        list.and_then(|_| scanner.end()).map_err(|bad| RestoreError(invalid(record, bad).detail))?;
    }
    if !is_list || kinds.next().is_some() {
        return Err(RestoreError("the record is not the list of events that was written".to_owned()));
    }
    Ok((kept, passed))
}

/// The exact record from the list that was written for it.
fn restore_list(
    record: &str,
    layout: &Layout<'_>,
    originals: &[Original<'_>],
    out: &mut impl Out,
) -> Result<(), RestoreError> {
    let (kept, mut passed) = listed(record, layout)?;
    let slots = arrange(kept.len(), originals, layout.order.as_deref())?;
    let gaps = cut(&layout.separators)?;
    for piece in pieces(layout.record.unwrap_or_default())? {
        if piece == Piece::Hole(Column::Messages, None) {
            messages(&slots, &gaps, layout.separator_runs.as_ref(), &mut passed, out, copied(&kept))?;
        } else {
            passed.write(&[piece], out)?;
        }
    }
    if passed.used < passed.all.len() {
        return Err(RestoreError("there are more events than the layout has".to_owned()));
    }
    Ok(())
}
