//! A record cut at its messages only, for the way back: the list is where a layout says, or under the key that most likely
//! holds it. Knows no shape.

use std::borrow::Cow;

use super::index::invalid;
use super::json::{Bad, Kind, Scanner, around, between};
use super::layout::{Layout, RestoreError};
use super::shapes::likelihood;

/// A record cut at its messages only.
pub(super) struct Outline<'r> {
    record: &'r str,
    pub before: &'r str,
    pub messages: Vec<&'r str>,
    pub after: &'r str,
}

impl<'r> Outline<'r> {
    /// Cuts `record`.
    pub(super) fn of(record: &'r str, layout: &Layout<'_>) -> Result<Self, RestoreError> {
        let mut scanner = Scanner::new(record);
        let mut found = Found { list: None, messages: Vec::new(), rank: 0 };
        let outcome = match (scanner.peek(), &layout.path) {
            (Ok(Kind::List), None) => found.read(&mut scanner),
            (Ok(Kind::Object), Some(path)) => found.descend(&mut scanner, path),
            (Ok(Kind::Object), None) => found.look(&mut scanner, layout.key),
            (Ok(_), _) => Ok(()),
            (Err(bad), _) => Err(bad),
        };
        let outcome = outcome.and_then(|()| scanner.end());
        outcome.map_err(|bad| RestoreError(invalid(record, bad).detail))?;
        let Found { list, messages, .. } = found;
        let list = list.ok_or_else(|| RestoreError("the record has no list of messages".to_owned()))?;
        let (before, after) = if let (Some(head), Some(tail)) = (messages.first(), messages.last()) {
            (around(record, head).0, around(record, tail).1)
        } else {
            let (before, after) = around(record, list);
            record.split_at_checked(record.len() - after.len() - 1).unwrap_or((before, after))
        };
        Ok(Self { record, before, messages, after })
    }

    /// The text between all messages, for `n` messages.
    pub(super) fn separator(&self, n: usize) -> Result<Option<&'r str>, RestoreError> {
        let mut found = self.messages.windows(2).map(|pair| match pair {
            [left, right] => between(self.record, left, right),
            _ => "",
        });
        match found.next() {
            Some(first) if found.all(|other| other == first) => Ok(Some(first)),
            None if n <= 1 => Ok(None),
            _ => Err(RestoreError("the separators of the messages are unknown: the layout is missing".to_owned())),
        }
    }
}

struct Found<'r> {
    list: Option<&'r str>,
    messages: Vec<&'r str>,
    /// How likely it is that this is the list, from what its key is called.
    rank: usize,
}

impl<'r> Found<'r> {
    fn read(&mut self, scanner: &mut Scanner<'r>) -> Result<(), Bad> {
        self.messages.clear();
        let list = scanner.list(|scanner| {
            self.messages.push(scanner.value()?.text);
            Ok(())
        })?;
        self.list = Some(list);
        Ok(())
    }

    /// Without a key from the layout: `messages` before `conversations` before the rest, the last of its name.
    fn look(&mut self, scanner: &mut Scanner<'r>, key: Option<&str>) -> Result<(), Bad> {
        scanner.object(|scanner, name| {
            let rank = match key {
                Some(key) => usize::from(name.name == key),
                None => likelihood(&name.name),
            };
            if rank > 0 && rank >= self.rank && scanner.peek()? == Kind::List {
                self.rank = rank;
                self.read(scanner)
            } else {
                scanner.value().map(|_| ())
            }
        })?;
        Ok(())
    }

    /// The list to which `path` leads, the last one where a key comes twice.
    fn descend(&mut self, scanner: &mut Scanner<'r>, path: &[Cow<'_, str>]) -> Result<(), Bad> {
        let (wanted, rest) = path.split_first().map_or((None, path), |(wanted, rest)| (Some(wanted), rest));
        scanner.object(|scanner, key| {
            let kind = scanner.peek()?;
            match (wanted.is_some_and(|wanted| key.name == *wanted), rest.is_empty(), kind) {
                (true, true, Kind::List) => self.read(scanner),
                (true, false, Kind::Object) => self.descend(scanner, rest),
                _ => scanner.value().map(|_| ()),
            }
        })?;
        Ok(())
    }
}
