//! Which shape a record has, told by its structure alone.

use crate::model::ShapeName;

use super::events::detect_events;
use super::json::{Bad, Kind, Scanner};
use super::spec::{SPECS, Spec};

/// The shape of a record, if we know it.
#[must_use]
pub fn detect(record: &str) -> Option<ShapeName> {
    if let Some(shape) = detect_events(record) {
        return Some(shape);
    }
    let mut scanner = Scanner::new(record);
    // The keys of the first message per list that was found.
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    let bare = match scanner.peek().ok()? {
        Kind::List => {
            let keys = first_keys(&mut scanner).ok()?;
            lists.push((String::new(), keys?));
            true
        }
        Kind::Object => {
            let read = scanner.object(|scanner, key| {
                if scanner.peek()? == Kind::List {
                    lists.extend(first_keys(scanner)?.map(|keys| (key.name.into_owned(), keys)));
                } else {
                    scanner.value()?;
                }
                Ok(())
            });
            read.ok()?;
            false
        }
        _ => return None,
    };
    let fits = |spec: &&&Spec| {
        lists.iter().any(|(list, keys)| {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            if bare {
                spec.bare && (SPECS.iter().any(|spec| (spec.fits)(&keys)))
            } else {
                spec.list == list && (spec.fits)(&keys)
            }
        })
    };
    SPECS.iter().find(fits).map(|spec| spec.name)
}

/// The keys of the first item of a list; `None` when an item is no object.
fn first_keys(scanner: &mut Scanner<'_>) -> Result<Option<Vec<String>>, Bad> {
    let mut keys = Some(Vec::new());
    let mut first = true;
    scanner.list(|scanner| {
        if scanner.peek()? != Kind::Object {
            keys = None;
            return scanner.value().map(|_| ());
        }
        if !std::mem::take(&mut first) {
            return scanner.value().map(|_| ());
        }
        scanner.object(|scanner, key| {
            if let Some(keys) = &mut keys {
                keys.push(key.name.into_owned());
            }
            scanner.value().map(|_| ())
        })?;
        Ok(())
    })?;
    Ok(keys)
}
