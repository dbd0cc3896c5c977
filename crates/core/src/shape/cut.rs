//! How a record of a shape, or one that somebody describes, is cut. Knows which ways there are, and what to say where none
//! leads to messages.

use super::advice::{advice, missing};
use super::candidates::{Found, only};
use super::events;
use super::index::Index;
use super::markdown;
use super::rules::Rules;
use super::shapes::{ANY, SPECS};
use crate::model::{FieldMap, ReadAs, Reject, RejectReason};

/// Cuts `record`, or says why it is no conversation of this shape.
pub(super) fn cut<'r>(record: &'r str, read_as: ReadAs<'r>) -> Result<Index<'r>, Reject> {
    let shape = match read_as {
        ReadAs::Map(map) => return cut_mapped(record, map),
        ReadAs::Shape(shape) => shape,
    };
    if let Some(spec) = markdown::SPECS.iter().find(|spec| spec.name == shape) {
        return markdown::cut(record, spec);
    }
    let spec = SPECS.iter().chain(&events::SPECS).find(|spec| spec.name == shape);
    let spec = spec.expect("every shape has a spec");
    if let Some(events) = spec.events {
        return events::cut(record, spec, events);
    }
    Index::new(record, Rules::of(spec)).or_else(|reject| {
        if reject.reason != RejectReason::NoMessages {
            return Err(reject);
        }
        match only(record) {
            Found::One(path, found) if found.name == shape => Index::at(record, Rules::of(found), &path),
            _ => Err(Reject { detail: format!("{}; {}", reject.detail, advice(record)), ..reject }),
        }
    })
}

fn cut_mapped<'r>(record: &'r str, map: &'r FieldMap) -> Result<Index<'r>, Reject> {
    let rules = Rules { spec: &ANY, map: Some(map) };
    let index = match map.messages() {
        None | Some([]) => Index::new(record, rules),
        Some(path) => Index::at(record, rules, path),
    };
    let index = index.map_err(|reject| match (reject.reason, map.messages()) {
        (RejectReason::NoMessages, Some(path)) => Reject { detail: missing(record, path), ..reject },
        (RejectReason::NoMessages, None) => {
            Reject { detail: format!("{}; {}", reject.detail, advice(record)), ..reject }
        }
        _ => reject,
    })?;
    if map.messages().is_some_and(<[String]>::is_empty) && !index.path.is_empty() {
        let detail = "the record is an object, not a list of messages".to_owned();
        return Err(Reject { reason: RejectReason::NoMessages, detail: format!("{detail}; {}", advice(record)) });
    }
    Ok(index)
}
