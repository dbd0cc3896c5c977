//! What of a system prompt another conversation shows: paragraphs of it give way to a reference to that conversation, but for
//! what is used. Knows units and what is held; refuses to know how that was found out.

use super::Walker;
use super::calls::Asked;
use super::marks::SIGN;
use super::said::Said;
use super::units::{Unit, Units, state};
use super::uses::{Found, Place, Text};
use crate::model::{Conversation, Held, PartView, ViewOp};

/// Bytes of neighbouring lines that a reference stands for at least: it names a conversation and is long.
const MIN_HELD: u32 = 300;
/// Characters of the id of a conversation.
const MAX_NAME: usize = 100;

impl Walker {
    /// Marks what of a text stays: what nobody else shows, and what is used.
    pub(super) fn mark_held(&mut self, conversation: &Conversation<'_>, text: &Text, found: &Found) {
        let lines = self.uses.lines(found);
        self.said.clear();
        self.said.resize(lines.len(), None);
        let place = (text.message as usize, text.part as usize);
        let first = conversation.held.partition_point(|held| (held.message, held.part) < place);
        let of_text = conversation.held[first..].iter().take_while(|held| (held.message, held.part) == place);
        for (number, held) in (first..).zip(of_text) {
            let (from, to) = ((text.from + held.bytes.start) as u32, (text.from + held.bytes.end) as u32);
            let first = lines.partition_point(|line| line.from < from);
            let end = lines.partition_point(|line| line.to <= to);
            let said = Said { by: Place::elsewhere(number), is_visible: true, is_left: true };
            for known in &mut self.said[first..end.max(first)] {
                *known = Some(said);
            }
        }
        let of_lines = |units: &Units, from: usize, to: usize| units.first[from] as usize..units.first[to] as usize;
        let show = |units: &mut [Unit], state: u8| units.iter_mut().for_each(|unit| unit.state |= state);
        // A reference among the members of JSON would be none of them.
        if self.units.is_document {
            self.said.fill(None);
            show(&mut self.units.units, state::SKELETON);
            return self.pins.pin(&mut self.units, &self.uses, found, text.message);
        }
        for at in (0..lines.len()).filter(|&at| self.said[at].is_none()) {
            let range = of_lines(&self.units, at, at + 1);
            show(&mut self.units.units[range], state::SKELETON | state::WHOLE);
        }
        self.pins.pin(&mut self.units, &self.uses, found, text.message);
        // Rules have most words that there are; names and facts tell which of them are needed, and these are shown whole.
        let uses = &self.uses;
        self.pins.because.retain(|&(_, value)| !uses.is_word(value));
        self.pins.spans.clear();
        self.units.units.iter_mut().for_each(|unit| unit.state &= !state::PIN);
        for &(unit, _) in &self.pins.because {
            self.units.units[unit as usize].state |= state::PIN;
        }
        for at in 0..lines.len() {
            let range = of_lines(&self.units, at, at + 1);
            let line = &mut self.units.units[range];
            if line.iter().any(Unit::is_shown) {
                show(line, state::WHOLE);
            }
        }
        // What is used may leave little between it.
        let is_shown = |units: &Units, at: usize| units.units[of_lines(units, at, at + 1)].iter().any(Unit::is_shown);
        let mut at = 0;
        while at < lines.len() {
            if is_shown(&self.units, at) {
                at += 1;
                continue;
            }
            let is_other = |&next: &usize| is_shown(&self.units, next) || self.said[next] != self.said[at];
            let end = (at + 1..lines.len()).find(is_other).unwrap_or(lines.len());
            if lines[at..end].iter().map(|line| line.len).sum::<u32>() < MIN_HELD {
                let range = of_lines(&self.units, at, end);
                show(&mut self.units.units[range], state::BRIDGE | state::WHOLE);
            }
            at = end;
        }
    }
}

/// What a reader calls a text.
pub(super) fn label(asked: &Asked, conversation: &Conversation<'_>, of: Place) -> String {
    match of.message() {
        Ok(_) => asked.label(&conversation.messages, of),
        Err(number) => conversation.held.get(number).map(label_of).unwrap_or_default(),
    }
}

/// What stands in a reference before the id of the conversation.
const OF_CONVERSATION: &str = "the system prompt of conversation ";

fn label_of(held: &Held) -> String {
    let name = held.by.chars().filter(|c| !c.is_control() && !SIGN.contains(*c)).take(MAX_NAME);
    OF_CONVERSATION.chars().chain(name).collect()
}

/// What is held of a message whose texts a run shows as `views`: the stretches for which references to other conversations stand.
#[must_use]
pub fn held_of(message: usize, texts: &[PartView], n_bytes: impl Fn(usize) -> usize) -> Vec<Held> {
    let mut all = Vec::new();
    for view in texts.iter().filter(|view| view.call.is_none()) {
        let (mut at, mut by) = (0, None);
        let end = ViewOp::Copy(n_bytes(view.part), 0);
        for op in view.ops.iter().chain([&end]) {
            match op {
                ViewOp::Copy(from, to) => {
                    let held = |by| Held { message, part: view.part, bytes: at..*from, by };
                    all.extend(by.take().map(held));
                    at = *to;
                }
                ViewOp::Mark(mark, _) => {
                    let name = mark.split_once(OF_CONVERSATION).and_then(|(_, rest)| rest.rsplit_once(" #"));
                    by = name.map(|(name, _)| name.to_owned());
                }
                ViewOp::Insert(_) => {}
            }
        }
    }
    all
}
