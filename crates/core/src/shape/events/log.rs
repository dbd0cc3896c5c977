//! Cutting a log into events, messages and what stands between them. Accepts every line: what is no JSON passes through
//! as text.

use crate::model::{Reject, RejectReason};
use crate::shape::escape::{Marks, Style};
use crate::shape::index::{Index, invalid};
use crate::shape::json::{Bad, Kind, Scanner, members, offset_in};
use crate::shape::member::{Field, Member};
use crate::shape::rules::Rules;
use crate::shape::spec::Spec;

use super::event::{Event, EventSpec, Form, Inner, Log, Named, Pass};

/// Cuts `record`: lines of events, or one list of them.
pub(in crate::shape) fn cut<'r>(
    record: &'r str,
    spec: &'static Spec,
    events: &'static EventSpec,
) -> Result<Index<'r>, Reject> {
    let lists = [true, false].into_iter().filter(|&list| !list || record.trim_start().starts_with('['));
    let mut why = None;
    for list in lists {
        let mut cutter = Cutter {
            found: Index::empty(record, Rules::of(spec)),
            events,
            log: Log::default(),
            seen: Marks::NONE,
            n_events: 0,
            broken: None,
            outer: Vec::new(),
            body: Vec::new(),
        };
        let done = if list { cutter.list() } else { cutter.lines() };
        if done.is_ok() && cutter.n_events > 0 {
            return Ok(cutter.index());
        }
        why = cutter.broken.or(why);
    }
    Err(why.map_or_else(
        || Reject {
            reason: RejectReason::UnknownShape,
            detail: format!("there is no event of the shape `{}`; choose another one with --shape", spec.name.as_str()),
        },
        |bad| invalid(record, bad),
    ))
}

struct Cutter<'r> {
    found: Index<'r>,
    events: &'static EventSpec,
    log: Log<'r>,
    seen: Marks,
    n_events: usize,
    /// Why the first text that is no JSON is none.
    broken: Option<Bad>,
    outer: Vec<Named<'r>>,
    body: Vec<Named<'r>>,
}

impl<'r> Cutter<'r> {
    fn index(self) -> Index<'r> {
        Index { style: Style::of(self.found.record, self.seen), log: Some(self.log), ..self.found }
    }

    /// The record is one list of events.
    fn list(&mut self) -> Result<(), Bad> {
        let mut scanner = Scanner::new(self.found.record);
        scanner.peek()?;
        scanner.list(|scanner| self.value(scanner))?;
        let end = scanner.end();
        self.seen.add(scanner.seen);
        end
    }

    /// Every line holds an event; some hold two, when a writer was interrupted.
    #[expect(clippy::unnecessary_wraps, reason = "beside `list`")]
    fn lines(&mut self) -> Result<(), Bad> {
        for line in self.found.record.split('\n') {
            let mut scanner = Scanner::new(line);
            let mut rest = line;
            while !rest.trim_matches(BLANK).is_empty() {
                let before = self.found.messages.len() + self.log.passed.len();
                if let Err(bad) = self.value(&mut scanner) {
                    let at = offset_in(self.found.record, line) + bad.at;
                    self.broken.get_or_insert(Bad { at, ..bad });
                    assert_eq!(before, self.found.messages.len() + self.log.passed.len());
                    self.log.passed.push(Pass { text: rest.trim_matches(BLANK), is_json: false });
                    break;
                }
                rest = line.get(scanner.position()..).unwrap_or_default();
            }
            self.seen.add(scanner.seen);
        }
        Ok(())
    }

    /// Reads one value and files it.
    fn value(&mut self, scanner: &mut Scanner<'r>) -> Result<(), Bad> {
        if scanner.peek()? != Kind::Object {
            let value = scanner.value()?;
            self.log.passed.push(Pass { text: value.text, is_json: true });
            return Ok(());
        }
        let mut outer = std::mem::take(&mut self.outer);
        outer.clear();
        let text = scanner.object(|scanner, key| {
            let value = scanner.value()?;
            outer.push((key, value));
            Ok(())
        })?;
        self.event(text, &outer);
        self.outer = outer;
        Ok(())
    }

    fn event(&mut self, text: &'r str, outer: &[Named<'r>]) {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let kind = Event { outer, body: &[] }.kind();
        self.n_events += usize::from(kind.is_some());
        let at = outer.iter().rposition(|(key, value)| key.name == self.events.body && value.kind == Kind::Object);
        let at = at.filter(|_| kind.is_some_and(|kind| self.events.carriers.contains(&kind.as_ref())));
        if let Some((_, raw)) = at.and_then(|at| outer.get(at)) {
            members(raw.text, |key, value| body.push((key, value)));
        }
        let event = Event { outer, body: &body };
        if self.found.id.is_none()
            && let Some(value) = (self.events.id)(&event).filter(|id| id.id().is_some_and(|id| !id.is_empty()))
        {
            self.found.head.push(Member { key: "\"id\"", value, field: Field::Id, parent: "" });
            self.found.id = Some(0);
        }
        match at.and_then(|at| Some((at, (self.events.form)(&event)?))) {
            None => self.log.passed.push(Pass { text, is_json: true }),
            Some((at, form)) => {
                self.log.before.push(self.log.passed.len());
                self.log.forms.push(form);
                self.found.messages.push(text);
                self.flatten(outer, at, &body, form);
                self.found.bounds.push(self.found.members.len());
            }
        }
        self.body = body;
    }

    /// The members of an event in order, those of its body in the place of the body.
    fn flatten(&mut self, outer: &[Named<'r>], body_at: usize, body: &[Named<'r>], form: &Form) {
        let start = self.found.members.len();
        for (at, member) in outer.iter().enumerate() {
            if at != body_at {
                self.push(start, member, form.outer, "");
            } else if let Some(keys) = form.body {
                let first = self.found.members.len();
                for (key, value) in body {
                    match &form.inner {
                        Some(Inner { key: name, parent, keys }) if key.name == *name && value.kind == Kind::Object => {
                            let first = self.found.members.len();
                            members(value.text, |key, value| self.push(first, &(key, value), keys, parent));
                        }
                        _ => self.push(first, &(key.clone(), *value), keys, self.events.body),
                    }
                }
            } else {
                let (key, value) = member;
                let call = Member { key: key.text, value: *value, field: Field::ToolCalls, parent: "" };
                self.found.members.push(call);
            }
        }
    }

    /// Appends a member; an earlier one of the same level with the same name no longer counts.
    fn push(&mut self, start: usize, (key, value): &Named<'r>, keys: &[(&str, Field)], parent: &'static str) {
        let field = keys.iter().find(|(name, _)| *name == key.name).map_or(Field::Other, |&(_, field)| field);
        if field != Field::Other {
            for earlier in self.found.members.get_mut(start..).unwrap_or_default() {
                if earlier.field == field && earlier.parent == parent {
                    earlier.field = Field::Shadowed;
                }
            }
        }
        self.found.members.push(Member { key: key.text, value: *value, field, parent });
    }
}

/// JSON's white space inside a line.
const BLANK: [char; 3] = [' ', '\t', '\r'];
