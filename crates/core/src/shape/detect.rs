//! Which shape a record has, told by its structure alone.

use crate::model::ShapeName;

use super::blocks::are_of_messages_api;
use super::events::detect_events;
use super::json::{Bad, Key, Kind, Scanner};
use super::shapes::SPECS;
use super::spec::{Glimpse, Spec};

/// The shape of a record, if we know it.
#[must_use]
pub fn detect(record: &str) -> Option<ShapeName> {
    if let Some(shape) = detect_events(record) {
        return Some(shape);
    }
    let mut scanner = Scanner::new(record);
    // The lists that were found, by their keys.
    let mut lists: Vec<(String, Seen)> = Vec::new();
    let mut has_system = false;
    let bare = match scanner.peek().ok()? {
        Kind::List => {
            let seen = look(&mut scanner).ok()?;
            lists.push((String::new(), seen?));
            true
        }
        Kind::Object => {
            let read = scanner.object(|scanner, key| {
                has_system = has_system || key.name == "system";
                if scanner.peek()? == Kind::List {
                    lists.extend(look(scanner)?.map(|seen| (key.name.into_owned(), seen)));
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
        lists.iter().any(|(list, seen)| {
            let keys: Vec<&str> = seen.keys.iter().map(String::as_str).collect();
            let glimpse = Glimpse { keys: &keys, has_blocks: seen.has_blocks || has_system };
            if bare { spec.bare && is_message(&keys) } else { spec.list_rank(list).is_some() && (spec.fits)(&glimpse) }
        })
    };
    SPECS.iter().find(fits).map(|spec| spec.name)
}

/// True for the keys of a message of a bare list.
fn is_message(keys: &[&str]) -> bool {
    let known = ["role", "content", "from"];
    keys.is_empty() || keys.iter().any(|key| known.contains(key)) || keys.contains(&"id") && keys.contains(&"index")
}

/// What a list of objects shows at a glance.
struct Seen {
    /// The keys of the first one.
    keys: Vec<String>,
    has_blocks: bool,
}

/// Looks at the items of a list; `None` when one is no object.
fn look(scanner: &mut Scanner<'_>) -> Result<Option<Seen>, Bad> {
    let mut seen = Some(Seen { keys: Vec::new(), has_blocks: false });
    let mut first = true;
    scanner.list(|scanner| {
        if scanner.peek()? != Kind::Object {
            seen = None;
            return scanner.value().map(|_| ());
        }
        let is_first = std::mem::take(&mut first);
        scanner.object(|scanner, key| member(scanner, &key, is_first, seen.as_mut())).map(|_| ())
    })?;
    Ok(seen)
}

fn member(scanner: &mut Scanner<'_>, key: &Key<'_>, is_first: bool, seen: Option<&mut Seen>) -> Result<(), Bad> {
    let value = scanner.value()?;
    if let Some(seen) = seen {
        if is_first {
            seen.keys.push(key.name.clone().into_owned());
        }
        if !seen.has_blocks && value.kind == Kind::List && key.name == "content" {
            seen.has_blocks = are_of_messages_api(value.text);
        }
    }
    Ok(())
}
