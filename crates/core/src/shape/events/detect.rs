//! Which program wrote an event log, and to which session an event belongs. Reads as little as it can, and may see the
//! log cut off anywhere.

use std::borrow::Cow;

use crate::model::ShapeName;
use crate::shape::json::{Bad, Kind, Raw, Scanner};

use super::event::Keys;
use super::programs::SPECS;

/// As much of a log as is looked at; the first events of all programs are shorter.
const HEAD_BYTES: usize = 64 << 10;

/// The shape of an event log from its first lines, or from the list that a run makes of a session. `text` may be cut off.
#[must_use]
pub fn detect_events(text: &str) -> Option<ShapeName> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let mut found = Verdict::Unknown;
    if text.starts_with('[') {
        let mut scanner = Scanner::new(text);
        scanner.peek().ok()?;
        // The list ends with the first event that tells the shape, as if it were cut off there.
        let read = scanner.list(|scanner| {
            found = verdict(scanner)?;
            if found == Verdict::Unknown { Ok(()) } else { Err(STOP) }
        });
        return found.shape().filter(|_| read.is_err());
    }
    let mut left = HEAD_BYTES;
    for line in text.split('\n') {
        found = verdict(&mut Scanner::new(line)).unwrap_or(found);
        left = left.saturating_sub(line.len() + 1);
        if found != Verdict::Unknown || left == 0 {
            break;
        }
    }
    found.shape()
}

const STOP: Bad = Bad { at: 0, expected: "" };

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Unknown,
    Event(ShapeName),
    /// A record that holds a conversation.
    Record,
}

impl Verdict {
    fn shape(self) -> Option<ShapeName> {
        match self {
            Self::Event(shape) => Some(shape),
            Self::Unknown | Self::Record => None,
        }
    }
}

/// What the next value says; an object that is cut off counts as far as it goes.
fn verdict(scanner: &mut Scanner<'_>) -> Result<Verdict, Bad> {
    if scanner.peek()? != Kind::Object {
        scanner.value()?;
        return Ok(Verdict::Unknown);
    }
    let mut keys = Keys::default();
    let read = scanner.object(|scanner, key| {
        let kind = scanner.peek()?;
        let is_kind = key.name == "type";
        keys.found.push((key.name, kind));
        let value = scanner.value()?;
        if is_kind {
            keys.kind = value.string();
        }
        Ok(())
    });
    if ["messages", "conversations"].into_iter().any(|list| keys.has(list, Kind::List)) {
        return Ok(Verdict::Record);
    }
    let fits = SPECS.iter().find(|spec| spec.events.is_some_and(|events| (events.fits)(&keys)));
    match (fits, read) {
        (Some(spec), _) => Ok(Verdict::Event(spec.name)),
        (None, Ok(_)) => Ok(Verdict::Unknown),
        (None, Err(bad)) => Err(bad),
    }
}

/// What a line of an event log says about its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionOf<'l> {
    /// It names its session.
    Id(Cow<'l, str>),
    /// An event that names none.
    Nobody,
    /// It is no event.
    Broken,
}

/// The session that a line of a `claude-code` log names with `sessionId`.
#[must_use]
pub fn session_id(line: &str) -> SessionOf<'_> {
    let mut scanner = Scanner::new(line);
    let mut id = None;
    if !matches!(scanner.peek(), Ok(Kind::Object)) {
        return SessionOf::Broken;
    }
    let read = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        if key.name == "sessionId" {
            id = Some(value);
        }
        Ok(())
    });
    let id = id.and_then(Raw::string).filter(|id| !id.is_empty());
    match (id, read) {
        (Some(id), _) => SessionOf::Id(id),
        (None, Ok(_)) => SessionOf::Nobody,
        (None, Err(_)) => SessionOf::Broken,
    }
}
