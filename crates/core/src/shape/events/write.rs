//! What passes through a log, in the list of events and in the layouts: it stands where it stood, beside the messages that
//! were kept or replaced. Writes no message.

use crate::model::Condensed;
use crate::shape::escape::{Style, encode};
use crate::shape::index::Index;
use crate::shape::json::around;
use crate::shape::layout::{Column, push_hole, push_literal};

use super::event::{Log, Pass};

/// An item of the list that is written for a session.
pub(in crate::shape) enum Item<'r> {
    Pass(Pass<'r>),
    /// The output message at this position.
    Message(usize),
}

/// Everything in the order in which it is written: what stood before a message stands before what is written for it.
pub(in crate::shape) fn items<'r>(log: &Log<'r>, condensed: &Condensed) -> Vec<Item<'r>> {
    let mut passed = log.passed.iter().copied();
    let mut taken = 0;
    let mut items = Vec::with_capacity(log.passed.len() + condensed.messages.len());
    for (position, output) in condensed.messages.iter().enumerate() {
        let before = log.before.get(output.first_source()).copied().unwrap_or_default();
        while taken < before {
            items.extend(passed.next().map(Item::Pass));
            taken += 1;
        }
        items.push(Item::Message(position));
    }
    items.extend(passed.map(Item::Pass));
    items
}

/// An event as it stands, other text as a JSON string.
pub(in crate::shape) fn push_pass(pass: Pass<'_>, out: &mut String) {
    if pass.is_json {
        out.push_str(pass.text);
    } else {
        encode(pass.text, Style::MINIMAL, out);
    }
}

/// `{"events": […]}` with what passes through; `None` when nothing does.
pub(in crate::shape) fn extra(log: &Log<'_>) -> Option<String> {
    let mut object = String::from("{\"events\":[");
    for (at, pass) in log.passed.iter().enumerate() {
        if at > 0 {
            object.push(',');
        }
        push_pass(*pass, &mut object);
    }
    (!log.passed.is_empty()).then(|| object + "]}")
}

/// The text between message `at` and the one before it, with holes for what passes through.
pub(in crate::shape) fn gap(index: &Index<'_>, log: &Log<'_>, at: usize, template: &mut String) {
    let before = |at: usize| log.before.get(at).copied();
    let from = at.checked_sub(1).and_then(before).unwrap_or_default();
    let to = before(at).unwrap_or(log.passed.len());
    let mut rest = match at.checked_sub(1).and_then(|left| index.messages.get(left)) {
        Some(left) => around(index.record, left).1,
        None => index.record,
    };
    for pass in log.passed.get(from..to).unwrap_or_default() {
        let (text, after) = around(rest, pass.text);
        push_literal(text, template);
        push_hole(if pass.is_json { Column::Event } else { Column::Line }, None, template);
        rest = after;
    }
    let rest = index.messages.get(at).map_or(rest, |right| around(rest, right).0);
    push_literal(rest, template);
}

/// The template of the whole record.
pub(in crate::shape) fn record_template(index: &Index<'_>, log: &Log<'_>, template: &mut String) {
    gap(index, log, 0, template);
    if !index.messages.is_empty() {
        push_hole(Column::Messages, None, template);
        gap(index, log, index.messages.len(), template);
    }
}
