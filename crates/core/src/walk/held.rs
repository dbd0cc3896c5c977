//! What of a system prompt another conversation shows: sections of it give way to a reference to that conversation, but for
//! those of which something is used and all that they stand under: a rule without what introduces it may be its opposite.
//! Knows units and what is held; refuses to know how that was found out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::calls::{Asked, command_before};
use super::pins::Pins;
use super::said::Said;
use super::units::{Unit, Units, state};
use super::uses::{Found, Line, Place, Text, Uses};
use crate::model::{Conversation, Held, PartView, Role, ViewOp};
use crate::shape::leaves;

/// Bytes of neighbouring lines that a reference stands for at least, beside the name of the conversation.
const MIN_HELD: usize = 200;
/// Levels of headings and of tags that a section may stand under.
const MAX_OPEN: usize = 16;
/// Signs in names of tools; the first two stand in words, too, and the others also between them.
const NAME_SIGNS: [char; 5] = ['_', '-', '.', ':', '/'];
/// How often sections are shown for what is less than a reference to it.
const MAX_STEPS: usize = 8;

/// Marks what of a text stays: sections of which nobody else shows some line, and those of which a name or fact is used, or
/// one of `names`.
pub(super) fn mark(
    (bytes, text): (&[u8], &Text),
    (uses, found): (&Uses, &Found),
    (conversation, names): (&Conversation<'_>, &HashSet<String>),
    (said, units, pins): (&mut Vec<Option<Said>>, &mut Units, &mut Pins),
) {
    let lines = uses.lines(found);
    said.clear();
    said.resize(lines.len(), None);
    let place = (text.message as usize, text.part as usize);
    let first = conversation.held.partition_point(|held| (held.message, held.part) < place);
    let of_text = conversation.held[first..].iter().take_while(|held| (held.message, held.part) == place);
    for (number, held) in (first..).zip(of_text) {
        let (from, to) = ((text.from + held.bytes.start) as u32, (text.from + held.bytes.end) as u32);
        let first = lines.partition_point(|line| line.from < from);
        let end = lines.partition_point(|line| line.from < to);
        let by = Said { by: Place::elsewhere(number), is_visible: true, is_left: true };
        said[first..end.max(first)].fill(Some(by));
    }
    // Behind what stands somewhere else there, a line tells where that is.
    let mut before = None;
    for at in (0..lines.len()).filter(|&at| lines[at].len > 0) {
        if said[at].is_none() || before.is_some_and(|before| before != said[at]) {
            show(units, at..at + 1);
        }
        before = said[at].map(Some);
    }
    // Rules have most words that there are; names and facts tell which of them are needed, and these are shown whole.
    pins.pin(units, uses, found, (text.message, false));
    pins.spans.clear();
    let is_named = |line: &Line| {
        let text = std::str::from_utf8(&bytes[line.from as usize..line.to as usize]).unwrap_or_default();
        let words = text.split(|c: char| !c.is_alphanumeric() && !NAME_SIGNS.contains(&c));
        let joins = |c: char| NAME_SIGNS[2..].contains(&c);
        let mut names_of = words.flat_map(|word| word.split(joins).chain([word.trim_matches(joins)]));
        names_of.any(|name| names.contains(name))
    };
    for at in (0..lines.len()).filter(|&at| is_named(&lines[at])) {
        show(units, at..at + 1);
    }
    // Each step may leave something for the other one; what is hidden in the end would be hidden if nothing else were known of.
    let sections = sections(bytes, lines);
    for _ in 0..MAX_STEPS {
        let shown = |units: &Units| (0..lines.len()).filter(|&at| is_shown(units, at)).count();
        let before = shown(units);
        show_sections(&sections, lines, said, units);
        show_little(conversation, lines, said, units);
        if shown(units) == before {
            return;
        }
    }
    show(units, 0..lines.len());
}

/// Shows what is less than a reference to it.
fn show_little(conversation: &Conversation<'_>, lines: &[Line], said: &[Option<Said>], units: &mut Units) {
    let mut at = 0;
    while at < lines.len() {
        let end =
            (at..lines.len()).find(|&next| is_shown(units, next) || said[next] != said[at]).unwrap_or(lines.len());
        let n_bytes: usize = lines[at..end].iter().map(|line| line.len as usize).sum();
        let held = said[at].and_then(|said| conversation.held.get(said.by.message().err()?));
        if n_bytes < MIN_HELD + held.map_or(0, |held| held.by.len()) {
            show(units, at..end);
        }
        at = end.max(at + 1);
    }
}

/// The tools and commands that are called, and the keys of arguments that are names, not words.
pub(super) fn names_of_calls(conversation: &Conversation<'_>) -> HashSet<String> {
    let mut names = HashSet::new();
    for call in conversation.messages.iter().flat_map(|message| &message.tool_calls) {
        names.extend(call.name.as_deref().map(str::to_owned));
        let keys = leaves(&call.arguments).into_iter().flatten().map(|(key, _)| key);
        names.extend(keys.filter(|key| key.contains(['_', '-'])).map(Cow::into_owned));
    }
    let is_said = |at: &usize| conversation.messages[at - 1].role == Role::Assistant;
    let commands = (1..=conversation.messages.len()).filter(is_said);
    let commands = commands.filter_map(|at| command_before(&conversation.messages, at));
    names.extend(commands.filter_map(|command| Some(command.split_whitespace().next()?.to_owned())));
    names
}

/// Lines that are shown together, and the number of the section that they stand under.
#[derive(Debug)]
struct Section {
    lines: Range<usize>,
    parent: usize,
}

/// The sections of a text: what stands before its first heading, of which all others are part, and what begins with a heading or
/// with a tag on a line of its own. Between fences none begins.
fn sections(bytes: &[u8], lines: &[Line]) -> Vec<Section> {
    let mut all = vec![Section { lines: 0..lines.len(), parent: 0 }];
    // What is open: its level if it is a heading, its name if it is a tag, and its number.
    let mut open: Vec<(usize, &[u8], usize)> = Vec::new();
    let mut fence: Option<&[u8]> = None;
    for (at, line) in lines.iter().enumerate() {
        let whole = &bytes[line.from as usize..line.to as usize];
        let text = whole.trim_ascii();
        if let Some(sign) = text.first().filter(|sign| b"`~".contains(sign)) {
            let signs = &text[..text.iter().take_while(|byte| *byte == sign).count()];
            fence = match fence {
                None if signs.len() >= 3 => Some(signs),
                Some(opened) if signs.starts_with(opened) && signs == text => None,
                fence => fence,
            };
        }
        if fence.is_some() {
            continue;
        }
        let n_signs = whole.iter().take_while(|&&byte| byte == b'#').count();
        let tag = text.strip_prefix(b"<").and_then(|text| text.strip_suffix(b">"));
        let tag = tag.and_then(|tag| tag.split(u8::is_ascii_whitespace).next()).filter(|name| !name.is_empty());
        if let Some(name) = tag.and_then(|name| name.strip_prefix(b"/")) {
            let opened = open.iter().rposition(|&(_, opened, _)| opened == name);
            open.truncate(opened.unwrap_or(open.len()));
            continue;
        }
        let level = if whole.get(n_signs) == Some(&b' ') { n_signs } else { 0 };
        if level == 0 && tag.is_none() {
            continue;
        }
        if level > 0 {
            while open.pop_if(|&mut (known, _, _)| known >= level).is_some() {}
        }
        if open.len() < MAX_OPEN {
            let (parent, number) = (open.last().map_or(0, |&(_, _, number)| number), all.len());
            all[number - 1].lines.end = at;
            all.push(Section { lines: at..lines.len(), parent });
            open.push((level, tag.unwrap_or_default(), number));
        }
    }
    all
}

/// A section is shown as a whole, with all that it stands under; one conversation has it or none.
fn show_sections(sections: &[Section], lines: &[Line], said: &[Option<Said>], units: &mut Units) {
    let solid = |section: &Section| section.lines.clone().filter(|&at| lines[at].len > 0);
    let stays = |section: &Section| {
        let first = solid(section).next().and_then(|at| said[at]);
        solid(section).any(|at| is_shown(units, at) || said[at] != first)
    };
    let mut stay: Vec<bool> = sections.iter().map(stays).collect();
    for (number, section) in sections.iter().enumerate().rev().filter(|(_, section)| !section.lines.is_empty()) {
        if stay[number] {
            stay[section.parent] = true;
            show(units, section.lines.clone());
        }
    }
}

fn of_lines(units: &Units, lines: Range<usize>) -> Range<usize> {
    units.first[lines.start] as usize..units.first[lines.end] as usize
}

fn is_shown(units: &Units, line: usize) -> bool {
    units.units[of_lines(units, line..line + 1)].iter().any(Unit::is_shown)
}

/// Lines stay whole.
fn show(units: &mut Units, lines: Range<usize>) {
    let range = of_lines(units, lines);
    units.units[range].iter_mut().for_each(|unit| unit.state |= state::SKELETON | state::WHOLE);
}

/// What a reader calls a text.
pub(super) fn label(asked: &Asked, conversation: &Conversation<'_>, of: Place) -> String {
    match of.message() {
        Ok(_) => asked.label(&conversation.messages, of),
        Err(number) => conversation.held.get(number).map(label_of).unwrap_or_default(),
    }
}

/// What stands in a reference before the id of the conversation.
const OF_CONVERSATION: &str = "the prompts of conversation ";

fn label_of(held: &Held) -> String {
    format!("{OF_CONVERSATION}{}", held.by)
}

/// What is held of a message whose texts a run shows as `views`: the stretches for which references to other conversations stand.
#[must_use]
pub fn held_of(message: usize, texts: &[PartView], n_bytes: impl Fn(usize) -> usize) -> Vec<Held> {
    let mut all = Vec::new();
    for view in texts.iter().filter(|view| view.is_of_content()) {
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
