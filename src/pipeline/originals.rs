//! Originals as the sidecar stores them: whole, or what of them is not shown, with the pieces that put it together with what is.
//! Knows rows and records of one conversation; refuses to know tables.

use std::borrow::Cow;

use crate::model::Original;
use crate::shape::{self, Decoded, Delta, DeltaPiece, Row, Wholes};

/// An original by what was written for it.
#[derive(Debug)]
pub(crate) struct ByWritten {
    /// How [`shape::row_text`] escapes the content; nothing where a record was written.
    pub(crate) style: Option<char>,
    pub(crate) delta: Delta,
}

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

    /// The message at `position` as one text.
    fn text(&self, position: usize, style: Option<char>) -> Result<Cow<'w, str>, String> {
        let text = match (self, style) {
            (Self::Row(row), Some(style)) => {
                row.messages.get(position).and_then(|message| shape::row_text(message, style)).map(Cow::Owned)
            }
            (Self::Messages(messages), None) => messages.get(position).copied().map(Cow::Borrowed),
            _ => None,
        };
        text.ok_or_else(|| "an original is not of what was written".to_owned())
    }
}

/// What is stored of each of `originals`: nothing but what is not shown, where that is less and was seen to bring it back.
pub(crate) fn by_written(
    decoded: &Decoded<'_>,
    written: &WrittenMessages<'_>,
    originals: &[Original<'_>],
) -> Vec<Option<ByWritten>> {
    let of_position = |originals: &[Original<'_>]| -> Vec<Option<ByWritten>> {
        let style = match written {
            WrittenMessages::Row(_) => {
                Some(decoded.content_style(originals.iter().map(|original| original.message_index)))
            }
            WrittenMessages::Messages(_) => None,
        };
        let texts: Vec<&str> = originals.iter().map(|original| original.message).collect();
        let Ok(text) = written.text(originals[0].position, style) else { return texts.iter().map(|_| None).collect() };
        let deltas = Delta::of(&texts, &text);
        let mut wholes = Wholes::by(&text);
        let mut comes_back = |(delta, original): (&Option<Delta>, &&str)| {
            let whole = delta.as_ref().map(|delta| wholes.next(&delta.pieces, &delta.rest));
            whole.is_none_or(|whole| whole.is_ok_and(|whole| whole == *original))
        };
        let all_come_back = deltas.iter().zip(&texts).all(&mut comes_back);
        let stored = |delta: Option<Delta>| Some(ByWritten { style, delta: delta.filter(|_| all_come_back)? });
        deltas.into_iter().map(stored).collect()
    };
    originals.chunk_by(|a, b| a.position == b.position).flat_map(of_position).collect()
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
    let mut texts = Vec::with_capacity(stored.len());
    for of_position in stored.chunk_by(|a, b| a.position == b.position) {
        let first = of_position.iter().find(|stored| stored.pieces.is_some());
        let text = first.map(|first| written.text(first.position, first.style)).transpose()?.unwrap_or_default();
        let mut wholes = Wholes::by(&text);
        for stored in of_position {
            texts.push(match &stored.pieces {
                Some(pieces) => Cow::Owned(wholes.next(pieces, stored.text).map_err(|error| error.to_string())?),
                None => Cow::Borrowed(stored.text),
            });
        }
    }
    Ok(texts)
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
