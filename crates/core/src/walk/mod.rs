//! Compaction by use: one walk over a conversation from front to back that hides what nothing after it uses. What is shown
//! of a text is a list of stretches of it and of marks, so that what is hidden is their complement. Knows conversations
//! and what of them is used; refuses to know plans, budgets and records.

mod arguments;
mod calls;
mod codes;
mod copies;
mod draw;
mod failure;
mod fillers;
mod formats;
mod grounding;
mod heads;
mod held;
mod json;
mod looks;
mod marks;
mod open;
mod order;
mod pins;
mod rules;
mod said;
mod segments;
mod shown;
mod skeleton;
mod spoken;
mod units;
mod uses;
mod voices;
mod why;
mod windows;
mod word_set;
mod worth;

#[cfg(test)]
mod levels;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::model::{Conversation, Grounding, Media, PartView, UnitCounts, UnitNote, UnitReason, ViewOp};

use calls::{Asked, Call};
pub use copies::Copies;
use formats::{Format, LineRole, Lines};
use grounding::Judge;
pub use held::held_of;
pub use marks::LinesMark;
use marks::{Mark, Piece, Writer, longest_run, n_chars};
use order::Whose;
pub use order::{LAST_THRESHOLD, Level, MOST_WORTH, Yield};
use pins::{Pins, choose};
use rules::LITTLE_SAVING;
pub use rules::{FILLERS, MIN_SAVING, Prediction, Rules, min_saving};
use said::{Known, Said};
use segments::{Segment, segments};
use shown::{Shown, Sight};
use skeleton::Of;
use spoken::Spoken;
use units::{Units, state};
pub use uses::SaidBy;
pub(crate) use uses::is_counted;
use uses::{Found, Place, Text, Texts, Users, Uses};
use voices::{has_human, push, who_says};
use why::Why;
use worth::Worth;
pub use worth::{Lessons, UseModel, cuts_of, is_one_in};

/// Per cent of fillers that allow a text one line of them.
const PER_LINE: usize = 4;
/// Bytes by which a mark may be longer than such marks are.
const LONG_MARK: usize = 16;

/// A text as it is drawn.
#[derive(Debug)]
struct Drawn {
    pieces: Vec<Piece>,
    /// Which of its lines are shown whole when nothing gives way, and which are.
    is_shown: Vec<(bool, bool)>,
    /// The pieces when nothing gives way, where that makes a difference.
    all: Option<Vec<Piece>>,
    /// It is JSON as a whole.
    is_json: bool,
    units: UnitCounts,
    notes: Vec<UnitNote>,
}

/// What is known of a text before it is read.
#[derive(Debug, Clone, Copy)]
struct Answer {
    asks: Call,
    /// A later call is about the same file.
    is_superseded: bool,
    /// It has the user's role, whoever says it.
    is_spoken: bool,
    /// Whose text it is, for what gives way.
    whose: Whose,
    /// It stays as it is until something else gives way.
    is_late: bool,
    /// It stays but for what another conversation shows.
    is_held: bool,
}

/// What decides of which texts something may be hidden.
#[derive(Clone, Copy)]
struct Around<'a> {
    standing: &'a dyn Fn(usize) -> Standing,
    /// The first message in which a person says something.
    first_user: Option<usize>,
    n_messages: usize,
    /// In so many messages marks are short enough for something to be hidden.
    n_short: usize,
}

impl Around<'_> {
    /// What may be taken of a message.
    fn rules<'m>(&self, message: usize, rules: Rules<'m>) -> Rules<'m> {
        let nothing = Rules { recency_window: self.n_messages, marks_media: false, hides_arguments: false, ..rules };
        if message < self.n_short { rules } else { Rules { level: Level::NOTHING, ..nothing } }
    }
}

/// What the stages before left of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has claimed it.
    Free,
    /// It stays but for what another conversation shows.
    Held,
    /// Its texts stay as they are.
    Open,
    /// It stays as it is.
    Kept,
    /// It stays as it is until what is of this kind gives way.
    Until(Yield),
    /// Something else stands for it.
    Gone,
}

/// What stands for a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedText {
    /// Index of the message.
    pub message: usize,
    /// What of the text is shown.
    pub view: PartView,
    /// The same as a text.
    pub text: String,
    /// Numbers of its marks of lines that no earlier text shows, ascending.
    pub lines: Vec<u32>,
    /// How many of its units are shown or hidden, and why.
    pub units: UnitCounts,
    /// The same unit by unit, where that was asked for.
    pub notes: Vec<UnitNote>,
}

/// What one walk needs; the memory is reused.
#[derive(Debug, Default)]
pub struct Walker {
    texts: Texts,
    uses: Uses,
    worth: Worth,
    units: Units,
    roles: Vec<LineRole>,
    segments: Vec<Segment>,
    pins: Pins,
    spoken: Spoken,
    known: Known,
    said: Vec<Option<Said>>,
    judge: Judge,
    asked: Asked,
    /// Bytes that are visible so far, and how many of them are fillers.
    n_visible: usize,
    n_fillers: usize,
    /// By which distractors are chosen.
    seed: u64,
    /// The longest run of the sign of marks in the texts up to each message.
    longest_runs: Vec<usize>,
    /// The tools that are called and names among their arguments, once somebody asks.
    called: Option<HashSet<String>>,
}

impl Walker {
    /// Walks over a conversation, of which `said_by` say who says each message; gives the texts of which something is hidden.
    pub fn walk(
        &mut self,
        conversation: &Conversation<'_>,
        said_by: &[SaidBy],
        rules: Rules<'_>,
        standing: &dyn Fn(usize) -> Standing,
    ) -> Vec<UsedText> {
        self.fill(conversation, said_by, &|index| standing(index) != Standing::Gone);
        let users = match rules {
            _ if rules.guesses() => Users::Nobody,
            Rules { results_use: true, .. } => Users::All,
            _ => Users::Speakers,
        };
        self.uses.read(&self.texts, users);
        self.seed = if rules.distractors > 0.0 { seed_of(self.texts.bytes()) } else { 0 };
        self.known.clear();
        self.spoken.clear();
        (self.n_visible, self.n_fillers) = (0, 0);
        self.pins.clear(self.uses.n_values() + self.uses.n_facts());
        let mut writer = Writer::new(0);
        let n_messages = conversation.messages.len();
        let longest_run = |message: usize| self.longest_runs[rules.horizon(message, n_messages) - 1];
        let longest_runs: Vec<usize> = (0..n_messages).map(longest_run).collect();
        let n_short = longest_runs.iter().take_while(|&&run| Writer::is_short(run)).count();
        let mut views = Vec::new();
        let mut messages = conversation.messages.iter().zip(said_by);
        let first_user = messages.position(|(message, &by)| has_human(message, by));
        let last_answer = said_by.iter().rposition(|&by| by == SaidBy::Assistant);
        let found = self.uses.found().to_vec();
        let around = Around { standing, first_user, n_messages, n_short };
        let answers = self.answers(conversation, around, rules);
        if let Some(prediction) = rules.predicts.filter(|_| rules.guesses() || rules.level.is_first()) {
            self.predict(conversation, &answers, around, (prediction, rules));
        }
        let mut first = 0;
        for (message, said) in conversation.messages.iter().enumerate() {
            let n = self.texts.all()[first..].iter().take_while(|text| text.message as usize == message).count();
            let texts = first..first + n;
            first += n;
            let rules = around.rules(message, rules);
            self.asked.know(rules.horizon(message, n_messages));
            writer.meet(longest_runs[message]);
            let is_old = message + rules.recency_window < n_messages;
            let is_first = Some(message) == first_user;
            if !said_by[message].is_source() {
                let is_said = |&number: &usize| self.texts.all()[number].by.is_answer();
                let begin = texts.clone().find(is_said).unwrap_or(texts.end);
                let said = begin..begin + (begin..texts.end).take_while(is_said).count();
                if answers[said.clone()].iter().any(Option::is_some) {
                    let tools = (conversation, &writer);
                    let drawn = self.message(tools, said.clone(), &found, (&answers[said.clone()], true), rules);
                    for (number, drawn) in said.zip(drawn.into_iter().flatten()) {
                        views.extend(self.write(conversation, number, drawn, &mut writer));
                    }
                }
                if rules.hides_arguments || rules.level.takes(Yield::Arguments, 0) {
                    let yields = standing(message) == Standing::Until(Yield::Arguments);
                    let may_hide = standing(message) == Standing::Open && rules.hides_arguments
                        || yields && rules.level.takes(Yield::Arguments, message);
                    let how = (is_old && may_hide, yields);
                    self.arguments(conversation, texts, how, rules, &mut writer, &mut views);
                }
                continue;
            }
            let answers = &answers[texts.clone()];
            let may_change = |by: SaidBy| match by {
                SaidBy::Result => is_old,
                SaidBy::Human => is_old && !is_first,
                _ => false,
            };
            let horizon = rules.horizon(message, n_messages);
            let is_answered = || horizon == n_messages || said_by[message..horizon].contains(&SaidBy::Assistant);
            let may_mark = rules.marks_media
                && Some(message) < last_answer
                && is_answered()
                && matches!(standing(message), Standing::Free | Standing::Open);
            let says = |part: usize| who_says(said, part, said_by[message]);
            let mut media = said.media().filter(|&(part, _)| may_mark && may_change(says(part))).peekable();
            let is_left = said_by[message] != SaidBy::Human || !rules.level.takes(Yield::Words, message);
            let tools = (conversation, &writer);
            let drawn = if answers.iter().any(Option::is_some) {
                self.message(tools, texts.clone(), &found, (answers, is_left), rules)
            } else {
                None
            };
            if let Some(drawn) = drawn {
                for (number, drawn) in texts.zip(drawn) {
                    let part = self.texts.all()[number].part as usize;
                    while let Some((part, media)) = media.next_if(|&(at, _)| at < part) {
                        views.push(marked(message, part, media, rules, &mut writer));
                    }
                    views.extend(self.write(conversation, number, drawn, &mut writer));
                }
            } else {
                self.show(texts, &found, is_left);
            }
            views.extend(media.map(|(part, media)| marked(message, part, media, rules, &mut writer)));
        }
        views
    }

    /// What of all that the assistant uses stands where it was, in the conversation that was walked last.
    pub fn grounding(&self) -> Grounding {
        self.uses.grounding(&self.uses)
    }

    /// The same of a conversation whose messages show the texts that `written` gives, whoever wrote them.
    pub fn judge<'w>(
        &mut self,
        conversation: &Conversation<'_>,
        said_by: &[SaidBy],
        written: &dyn Fn(usize) -> Vec<&'w str>,
    ) -> Grounding {
        self.fill(conversation, said_by, &|_| true);
        self.uses.read(&self.texts, Users::Speakers);
        self.judge.judge((&self.texts, &self.uses), (conversation, said_by), written)
    }

    /// Takes the texts of a conversation, of the messages that are there.
    fn fill(&mut self, conversation: &Conversation<'_>, said_by: &[SaidBy], is_there: &dyn Fn(usize) -> bool) {
        self.texts.clear();
        self.asked.clear();
        self.called = None;
        self.longest_runs.clear();
        let mut run = 0;
        for (index, (message, &by)) in conversation.messages.iter().zip(said_by).enumerate() {
            if is_there(index) {
                let first = self.texts.n_bytes();
                push(&mut self.texts, &mut self.asked, index, message, |part| Some(who_says(message, part, by)));
                run = run.max(longest_run(&self.texts.bytes()[first..]));
            } else {
                self.asked.push(message, &mut |_, _, _| {});
            }
            self.longest_runs.push(run);
        }
        self.texts.seal();
    }

    /// Decides what of a message is shown, and notes it as visible; `None` when too little would be hidden. Of `texts` those with
    /// an answer may change; `is_left` tells whether what stays of them is left under a budget.
    fn message(
        &mut self,
        (conversation, writer): (&Conversation<'_>, &Writer),
        texts: std::ops::Range<usize>,
        found: &[Found],
        (answers, is_left): (&[Option<Answer>], bool),
        rules: Rules<'_>,
    ) -> Option<Vec<Drawn>> {
        let n_fillers = self.n_fillers;
        let mut drawn = Vec::with_capacity(texts.len());
        // What is saved when nothing gives way, and what is.
        let mut saved = (0_i64, 0_i64);
        for (number, answer) in texts.clone().zip(answers) {
            let of = self.texts.all()[number];
            let text = match answer {
                Some(answer) => self.text(conversation, number, &found[number], *answer, rules),
                None => whole(&of, &found[number]),
            };
            let label = |of: Place| held::label(&self.asked, conversation, of);
            let bytes = self.texts.bytes();
            let saving = |pieces: &[Piece]| saving(bytes, &of, pieces, |mark| writer.at_most(bytes, mark, label));
            let now = saving(&text.pieces);
            if answer.is_some_and(|answer| !answer.is_late) {
                saved.0 += text.all.as_ref().map_or(now, |all| saving(all));
            }
            saved.1 += now;
            drawn.push(text);
        }
        let is_worth = |saved: i64, at_least: usize| usize::try_from(saved).unwrap_or_default() >= at_least.max(1);
        let is_hidden = is_worth(saved.0, rules.min_saving);
        let message = self.texts.all()[texts.start].message as usize;
        let takes_little = rules.level.takes(Yield::Little, message);
        let min_saving = if takes_little { rules.min_saving.min(LITTLE_SAVING) } else { rules.min_saving };
        if !is_hidden {
            self.n_fillers = n_fillers;
            if !is_worth(saved.1, min_saving) {
                return None;
            }
        }
        for ((number, drawn), answer) in texts.zip(&drawn).zip(answers) {
            let (text, found) = (self.texts.all()[number], &found[number]);
            let is_hidden = is_hidden && answer.is_some_and(|answer| !answer.is_late);
            let n_bytes = |pieces: &[Piece]| pieces.iter().map(|piece| piece.n_bytes()).sum::<usize>();
            self.n_visible +=
                if is_hidden { n_bytes(drawn.all.as_ref().unwrap_or(&drawn.pieces)) } else { text.to - text.from };
            grounding::note(self.texts.bytes(), &text, found, &drawn.pieces, drawn.is_json, &mut self.uses);
            // No reference leads to what is thought: it has no name.
            if text.by == SaidBy::Thought {
                continue;
            }
            self.known.begin(text.place());
            for (at, &(is_visible, stays)) in found.lines.clone().zip(&drawn.is_shown) {
                let line = self.uses.line(at);
                self.known.push(&line, (is_visible || !is_hidden, stays && is_left), &mut self.uses);
            }
        }
        Some(drawn)
    }

    /// What is shown of a text.
    fn text(
        &mut self,
        conversation: &Conversation<'_>,
        number: usize,
        found: &Found,
        answer: Answer,
        rules: Rules<'_>,
    ) -> Drawn {
        let text = self.texts.all()[number];
        let bounds = (text.from, text.to);
        self.units.cut(self.texts.bytes(), bounds, self.uses.lines(found));
        // A reference among the members of JSON would be none of them.
        if answer.is_held && self.units.is_document {
            return whole(&text, found);
        }
        let format = if answer.is_held {
            let names = self.called.get_or_insert_with(|| held::names_of_calls(conversation));
            let marked = (&mut self.said, &mut self.units, &mut self.pins);
            held::mark((self.texts.bytes(), &text), (&self.uses, found), (conversation, names), marked);
            Format::Log
        } else {
            self.mark(number, found, answer, rules)
        };
        let (bytes, said, uses) = (self.texts.bytes(), &self.said, &self.uses);
        let of = Of::new((bytes, uses.lines(found)), said, uses, (answer.asks, text.by == SaidBy::Result));
        let roles = if self.units.is_document || answer.is_held { &[] } else { self.roles.as_slice() };
        let sight = Sight { of, spans: &self.pins.spans, format, roles };
        let n_values = uses.n_values() as u32;
        let last_use = |value: u32| match value.checked_sub(n_values) {
            None => uses.last_use(value),
            Some(fact) if (fact as usize) < uses.n_facts() => uses.last_telling(fact),
            Some(answer) => answer - uses.n_facts() as u32,
        };
        let because = self.pins.because.iter().map(|&(unit, value)| (unit, last_use(value)));
        let is_guessed = rules.guesses();
        let Shown { pieces, lines: is_shown, all, stood } = if answer.is_held {
            sight.whole(&mut self.units, bounds)
        } else if !rules.level.is_first() {
            let is_task = answer.is_late && !answer.whose.is_recent;
            let said_all = |shown: Shown| Shown {
                lines: shown.lines.iter().map(|&(is_visible, is_left)| (is_visible || is_guessed, is_left)).collect(),
                ..shown
            };
            said_all(sight.left(&mut self.units, bounds, (answer.whose, is_task, rules.level), because))
        } else if is_guessed {
            sight.guessed(&mut self.units, bounds)
        } else if rules.predicts.is_some() {
            let likely = |units: &mut Units| choose(units, self.worth.stretches(number), state::FILLER);
            sight.filled(&mut self.units, bounds, likely)
        } else {
            sight.whole(&mut self.units, bounds)
        };
        let why = Why { bytes, units: &self.units, stood: &stood, said, pieces: &pieces, is_guessed };
        let notes = if rules.explains { why.notes(&text, &self.pins, uses, found) } else { Vec::new() };
        let units = why.counts();
        Drawn { pieces, is_shown, all, is_json: self.units.is_document, units, notes }
    }

    /// Marks what of a text stays, in its units.
    fn mark(&mut self, number: usize, found: &Found, answer: Answer, rules: Rules<'_>) -> Format {
        let bytes = self.texts.bytes();
        let text = &self.texts.all()[number];
        let lines = self.uses.lines(found);
        let is_result = text.by == SaidBy::Result;
        // A file that has changed is numbered anew; where something was found is what a search was for.
        let numbered = is_result && !answer.asks.is_file() && answer.asks != Call::Edit;
        self.known.find(bytes, lines, &self.uses, (is_result, numbered), &mut self.said);
        let (said, uses) = (&self.said, &self.uses);
        let text_lines = Lines { bytes, lines };
        let of = Of::new((bytes, lines), said, uses, (answer.asks, is_result));
        segments(text_lines, answer.is_spoken && !self.units.is_document, &mut self.segments);
        for segment in &self.segments {
            let (lines, said) = (&lines[segment.from..segment.to], &said[segment.from..segment.to]);
            // What is quoted is a program's, whoever quotes it.
            let is_result = is_result || self.segments.len() > 1;
            let of = Of { lines, first: segment.from, said, is_result, ..of };
            if segment.is_words { of.mark_words(&mut self.units) } else { of.mark(&mut self.units) }
        }
        self.pins.pin(&mut self.units, uses, found, (text.message, true));
        let (because, n) = (&mut self.pins.because, (uses.n_values() + uses.n_facts()) as u32);
        if !rules.guesses() {
            self.spoken
                .pin(&mut self.units, &self.texts, text.message, |unit, answer| because.push((unit, n + answer)));
        }
        of.mark_one(&mut self.units);
        if rules.guesses() {
            if is_result {
                let threshold = rules.level.worth();
                self.units.thin(|unit| worth::tells(unit.len()) >= threshold);
            }
            self.pins.spans = choose(&mut self.units, self.worth.stretches(number), state::PIN);
        }
        of.join_frames(&mut self.units);
        of.join_reminder(&mut self.units);
        of.join_words_of_user(&mut self.units);
        of.join_fences(&mut self.units);
        let format = if self.units.is_document { Format::Log } else { Format::of(text_lines, answer.asks) };
        if !self.units.is_document {
            format.roles(text_lines, &mut self.roles);
            for head in heads::mark(&mut self.units, &self.roles) {
                self.roles[head].want();
            }
            if format == Format::Log && 2 * said.iter().flatten().count() > said.len() {
                of.want_news(&mut self.roles);
            }
            let has_fillers = !answer.is_superseded && rules.predicts.is_none();
            let of_visible = if has_fillers { rules.fillers } else { 0 };
            let room = (self.n_visible * of_visible / 100).saturating_sub(self.n_fillers);
            self.n_fillers += fillers::fill(lines, &mut self.units, &self.roles, room, of_visible.div_ceil(PER_LINE));
        }
        if rules.distractors > 0.0 {
            let seed = if rules.decides_once() { seed_of(&bytes[text.from..text.to]) } else { self.seed };
            fillers::distract(&mut self.units, lines, said, rules.distractors, seed);
        }
        format
    }

    /// A message stays as it is; whether that is left of it under a budget.
    fn show(&mut self, texts: std::ops::Range<usize>, found: &[Found], is_left: bool) {
        for number in texts {
            let text = self.texts.all()[number];
            self.n_visible += text.to - text.from;
            self.known.begin(text.place());
            for at in found[number].lines.clone() {
                let line = self.uses.line(at);
                self.known.push(&line, (true, is_left), &mut self.uses);
            }
            self.uses.show_all(&found[number], text.message);
        }
    }

    fn write(
        &self,
        conversation: &Conversation<'_>,
        number: usize,
        Drawn { pieces, units, notes, .. }: Drawn,
        writer: &mut Writer,
    ) -> Option<UsedText> {
        let text = self.texts.all()[number];
        if matches!(pieces.as_slice(), [Piece::Copy { .. }] | []) {
            return None;
        }
        let (mut ops, mut lines) = (Vec::with_capacity(pieces.len()), Vec::with_capacity(pieces.len() / 2));
        let mut out = String::with_capacity(pieces.iter().map(|piece| piece.n_bytes() + LONG_MARK).sum());
        for (at, piece) in pieces.iter().enumerate() {
            match *piece {
                Piece::Copy { from, to } => {
                    let (from, to) = (from as usize, to as usize);
                    out.push_str(std::str::from_utf8(&self.texts.bytes()[from..to]).unwrap_or_default());
                    ops.push(ViewOp::Copy(from - text.from, to - text.from));
                }
                Piece::Mark(mark) => {
                    let begin = out.len();
                    let is_inside = matches!(mark, Mark::Chars { .. } | Mark::Codes(_));
                    if is_inside && out.ends_with(|c: char| !c.is_whitespace()) {
                        out.push(' ');
                    }
                    let number = writer
                        .write(&mut out, self.texts.bytes(), mark, |of| held::label(&self.asked, conversation, of));
                    if is_inside && next_is_word(pieces.get(at + 1), self.texts.bytes()) {
                        out.push(' ');
                    }
                    ops.push(ViewOp::Mark(out.split_at(begin).1.to_owned(), number));
                    lines.extend(matches!(mark, Mark::Lines { .. }).then_some(number));
                }
                Piece::Break(depth) => {
                    let mut inserted = String::with_capacity(depth as usize + 1);
                    inserted.push('\n');
                    inserted.extend(std::iter::repeat_n(' ', depth as usize));
                    out.push_str(&inserted);
                    ops.push(ViewOp::Insert(inserted));
                }
            }
        }
        if let Some(ViewOp::Mark(last, _)) = ops.last_mut()
            && last.ends_with('\n')
        {
            last.pop();
            out.pop();
        }
        let part = text.part as usize;
        let (part, thought) = if text.by == SaidBy::Thought { (0, Some(part)) } else { (part, None) };
        let view = PartView { part, call: None, thought, ops };
        Some(UsedText { message: text.message as usize, view, text: out, lines, units, notes })
    }
}

/// True when a mark would run into what follows it.
fn next_is_word(next: Option<&Piece>, bytes: &[u8]) -> bool {
    let is_apart = |byte: u8| byte.is_ascii_whitespace() || byte == b'"';
    matches!(next, Some(&Piece::Copy { from, to }) if from < to && !is_apart(bytes[from as usize]))
}

/// The mark for a part that is no text.
fn marked(message: usize, part: usize, media: &Media<'_>, rules: Rules<'_>, writer: &mut Writer) -> UsedText {
    let mut text = String::new();
    let name = media.name.as_deref().map(calls::start).unwrap_or_default();
    let number = writer.write(&mut text, &[], Mark::Media(media.kind), |_| name.into_owned());
    let (ops, lines) = (vec![ViewOp::Mark(text.clone(), number)], (1, 1));
    let (reason, bytes) = (UnitReason::Unused, (0, media.raw.len()));
    let note = UnitNote { part, lines, bytes, reason, used_by: None, said_by: None };
    let notes = if rules.explains { vec![note] } else { Vec::new() };
    let mut units = UnitCounts::default();
    units.add(reason, 1);
    UsedText { message, view: PartView { part, call: None, thought: None, ops }, text, lines: Vec::new(), units, notes }
}

/// The same for the same texts, on every machine.
fn seed_of(texts: &[u8]) -> u64 {
    u64::from_le_bytes(*blake3::hash(texts).as_bytes().first_chunk().expect("thirty-two bytes"))
}

/// A text that stays as it is.
fn whole(text: &Text, found: &Found) -> Drawn {
    Drawn {
        pieces: vec![Piece::Copy { from: text.from as u32, to: text.to as u32 }],
        is_shown: vec![(true, true); found.lines.len()],
        all: None,
        is_json: false,
        units: UnitCounts::default(),
        notes: Vec::new(),
    }
}

/// Characters that pieces save at least, where `of_mark` are those that a mark takes.
fn saving(bytes: &[u8], text: &Text, pieces: &[Piece], of_mark: impl Fn(Mark) -> u32) -> i64 {
    let (mut saved, mut at) = (0, text.from);
    for piece in pieces {
        match *piece {
            Piece::Copy { from, to } => {
                saved += i64::from(n_chars(&bytes[at..from as usize]));
                at = to as usize;
            }
            Piece::Mark(mark) => saved -= i64::from(of_mark(mark)),
            Piece::Break(depth) => saved -= i64::from(depth) + 1,
        }
    }
    saved + i64::from(n_chars(&bytes[at..text.to]))
}

/// What a reader calls the call that `part` of message `index` answers.
#[must_use]
pub fn label_of_call(conversation: &Conversation<'_>, index: usize, part: usize) -> Option<String> {
    let text = Place { message: index as u32, part: part as u32, is_argument: false };
    calls::label_of_answered(&conversation.messages, text)
}
