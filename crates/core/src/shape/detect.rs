//! Which shape a record has, told by its structure alone.

use std::borrow::Cow;

use crate::model::ShapeName;

use super::candidates::{Found, look, only};
use super::events::detect_events;
use super::json::{Kind, Scanner};
use super::markdown::detect as detect_markdown;
use super::shapes::SPECS;
use super::spec::{Glimpse, Spec};

/// The shape of a record, if we know it.
#[must_use]
pub fn detect(record: &str) -> Option<ShapeName> {
    if let Some(shape) = detect_events(record).or_else(|| detect_markdown(record)) {
        return Some(shape);
    }
    let mut scanner = Scanner::new(record);
    // The lists that were found, by their keys.
    let mut lists: Vec<(Cow<'_, str>, Glimpse<'_>)> = Vec::new();
    let mut has_system = false;
    let kind = scanner.peek().ok()?;
    match kind {
        Kind::List => lists.push((Cow::Borrowed(""), look(&mut scanner, "").ok()??)),
        Kind::Object => {
            let read = scanner.object(|scanner, key| {
                has_system = has_system || key.name == "system";
                if scanner.peek()? == Kind::List {
                    lists.extend(look(scanner, &key.name)?.map(|list| (key.name, list)));
                } else {
                    scanner.value()?;
                }
                Ok(())
            });
            read.ok()?;
        }
        _ => return None,
    }
    for (_, list) in &mut lists {
        list.has_blocks |= has_system;
    }
    let fits = |spec: &&Spec| {
        lists.iter().any(|(key, list)| match kind {
            Kind::List => spec.bare && is_message(list),
            _ => spec.list_rank(key).is_some() && (spec.fits)(list),
        })
    };
    SPECS.iter().find(fits).map(|spec| spec.name).or_else(|| match only(record) {
        Found::One(_, spec) => Some(spec.name),
        Found::None | Found::Several(_) => None,
    })
}

/// True for the keys of a message of a bare list.
fn is_message(list: &Glimpse<'_>) -> bool {
    let known = ["role", "content", "from"].iter().any(|key| list.has(key));
    list.keys.is_empty() || known || list.has("id") && list.has("index")
}
