//! Originals as the sidecar stores them: whole, or what of them is not shown, with the pieces that put it together with what is.
//! Knows rows and records of one conversation; refuses to know tables.

use std::borrow::Cow;

use crate::model::Original;
use crate::shape::{self, Delta, DeltaPiece, Deltas, Row, Wholes, WrittenText};

/// Messages as they were written.
pub(crate) enum WrittenMessages<'w> {
    Row(&'w Row<'w>),
    Messages(Vec<&'w str>),
}

impl<'w> WrittenMessages<'w> {
    /// Those of a record or of a list of events.
    pub(crate) fn of_record(record: &'w str, layout: Option<&str>) -> Result<Self, String> {
        shape::messages_of(record, layout).map(Self::Messages).map_err(|error| error.to_string())
    }

    /// All of them, contents in this style.
    fn texts(&self, style: Option<char>) -> Option<WrittenText> {
        match (self, style) {
            (Self::Row(row), Some(style)) => WrittenText::of_rows(&row.messages, style),
            (Self::Messages(messages), None) => Some(WrittenText::of_messages(messages)),
            _ => None,
        }
    }
}

/// What is stored of each of `originals`: nothing but what is not shown, where that is less and was seen to bring it back. Contents of
/// rows are written in a style; records have none.
pub(crate) fn by_written(
    style: Option<char>,
    messages: &WrittenMessages<'_>,
    originals: &[Original<'_>],
) -> Vec<Option<Delta>> {
    let written = messages.texts(style).unwrap_or_default();
    let Some(deltas) = Deltas::by(&written) else { return Vec::new() };
    let (mut ends, mut wholes) = (Wholes::by(&written), Wholes::by(&written));
    let mut all_come_back = true;
    let mut stored = |original: &Original<'_>| {
        let delta = deltas.of(original.message, ends.begin(original.position))?;
        all_come_back &= wholes.next_is(original.position, &delta, original.message);
        Some(delta)
    };
    let all = originals.iter().map(&mut stored).collect();
    if all_come_back { all } else { Vec::new() }
}

/// An original as it was stored.
#[derive(Debug)]
pub(crate) struct StoredOriginal<'e> {
    pub(crate) position: usize,
    pub(crate) message_index: usize,
    /// Its exact JSON, or of it what `pieces` do not bring.
    pub(crate) text: &'e str,
    pub(crate) style: Option<char>,
    pub(crate) pieces: Option<Vec<DeltaPiece>>,
}

/// The exact JSON of all of them, with the help of what was written.
pub(crate) fn whole_originals<'e>(
    stored: &'e [StoredOriginal<'e>],
    written: &WrittenMessages<'_>,
) -> Result<Vec<Cow<'e, str>>, String> {
    let by_written = stored.iter().find(|stored| stored.pieces.is_some());
    let of_style = |stored: &StoredOriginal<'_>| {
        written.texts(stored.style).ok_or_else(|| "an original is not of what was written".to_owned())
    };
    let written = by_written.map(of_style).transpose()?.unwrap_or_default();
    let mut wholes = Wholes::by(&written);
    let mut whole = |stored: &StoredOriginal<'e>| match &stored.pieces {
        Some(pieces) => wholes.next(stored.position, pieces, stored.text).map(Cow::Owned),
        None => Ok(Cow::Borrowed(stored.text)),
    };
    stored.iter().map(|stored| whole(stored).map_err(|error| error.to_string())).collect()
}

/// The same with their places, from their texts.
pub(crate) fn originals_of<'e>(stored: &[StoredOriginal<'_>], texts: &'e [Cow<'e, str>]) -> Vec<Original<'e>> {
    let original = |(stored, text): (&StoredOriginal<'_>, &'e Cow<'e, str>)| Original {
        position: stored.position,
        message_index: stored.message_index,
        message: text,
    };
    stored.iter().zip(texts).map(original).collect()
}
