//! Why the messages of a conversation come out as they do, as text: a line per message, or everything. Knows
//! explanations, no engine at work and no terminal.

use std::fmt::Write as _;

use serde::Serialize;

use super::numbers::counted;
use super::plain;
use crate::engine::{Explanation, StageSays, Tier, What};
use crate::model::{Conversation, Message, Metrics, UnitNote, UnitReason};

/// How much of a message is shown.
const PREVIEW_CHARS: usize = 60;

/// A conversation outside of a run, explained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "explanation"))]
pub struct ExplainedConversation {
    /// Its id.
    pub id: String,
    /// The input.
    pub source: String,
    /// Its row there, from 0.
    pub source_row: u64,
    /// Messages before and after.
    pub n_messages: (usize, usize),
    /// Characters before and after.
    pub n_chars: (usize, usize),
    /// Tokens before and after.
    pub n_tokens: (usize, usize),
    /// The score of its quality; `None` when nothing was replaced.
    pub quality_score: Option<f64>,
    /// Every message in order.
    pub messages: Vec<Explanation>,
}

impl ExplainedConversation {
    /// Puts it together.
    pub fn new(place: (&str, u64), id: &str, n_out: usize, metrics: &Metrics, messages: Vec<Explanation>) -> Self {
        Self {
            id: id.to_owned(),
            source: place.0.to_owned(),
            source_row: place.1,
            n_messages: (messages.len(), n_out),
            n_chars: (metrics.chars_in, metrics.chars_out),
            n_tokens: (metrics.tokens_in, metrics.tokens_out),
            quality_score: metrics.quality_score,
            messages,
        }
    }

    /// As JSON on one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts always serialize")
    }

    /// The text: a line per message; with `all` everything about each.
    pub fn text(&self, conversation: &Conversation<'_>, all: bool) -> String {
        let mut out = String::new();
        let mut say = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a String takes everything");
        say(format_args!(
            "{}: {} → {}, {} → {}\n",
            plain::line(&self.id),
            counted(self.n_messages.0 as u64, "message"),
            self.n_messages.1,
            counted(self.n_chars.0 as u64, "character"),
            self.n_chars.1
        ));
        for message in &self.messages {
            let preview = conversation.messages.get(message.index).map(preview).unwrap_or_default();
            if all {
                say(format_args!("\n{}", everything(message, &preview)));
            } else {
                say(format_args!("{}\n", one_line(message, &preview)));
            }
        }
        out.push('\n');
        out
    }
}

/// What of each message is hidden, and why each unit of it stays or goes.
pub fn why(explained: &ExplainedConversation) -> String {
    let mut out = String::new();
    let mut say = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a String takes everything");
    let hidden = explained.messages.iter().filter(|message| !message.units.is_empty());
    for message in hidden {
        say(format_args!(
            "m{}  {}  {} → {} characters\n       {}\n",
            message.index,
            plain::line(&message.role),
            message.chars_in,
            message.chars_out,
            units(message).join("\n       ")
        ));
    }
    out
}

fn one_line(message: &Explanation, preview: &str) -> String {
    format!(
        "{:>5}  {} {:>7} → {:<7} {:<13} {:<40} {:<5} {:<15} {preview}",
        message.index,
        plain::fit(&message.role, 10),
        message.chars_in,
        message.chars_out,
        message.action,
        with_details(message.reason, &message.details),
        tier(message.tier),
        message.claim.as_ref().map_or("–", |claim| claim.stage),
    )
}

fn everything(message: &Explanation, preview: &str) -> String {
    let mut out = String::new();
    let mut say = |name: &str, text: String| {
        writeln!(out, "       {name:<11} {text}").expect("a String takes everything");
    };
    say("decision", format!("{}: {}", message.action, with_details(message.reason, &message.details)));
    say(
        "characters",
        format!("{} → {}, in message {} of the output", message.chars_in, message.chars_out, message.position),
    );
    let output = if message.is_output { ", program output" } else { "" };
    let reasons = if message.reasons.is_empty() { String::new() } else { format!(": {}", message.reasons.join(", ")) };
    say("tier", format!("{}{output}{reasons}", tier(message.tier)));
    let figures = &message.figures;
    let of = |n: usize, noun| counted(n as u64, noun);
    let mut found = format!(
        "{}, {} ({:.0} % prose), {}, {}, {} or {}, {}",
        of(figures.lines, "line"),
        of(figures.sentences, "sentence"),
        figures.prose_share * 100.0,
        of(figures.fences, "fence"),
        of(figures.facts, "fact"),
        of(figures.negations, "negation"),
        if figures.negations == 1 { "obligation" } else { "obligations" },
        of(figures.failures, "failure")
    );
    if let Some(entropy) = figures.entropy {
        write!(found, ", entropy {entropy:.3}").expect("a String takes everything");
    }
    say("counted", found);
    let importance = &message.importance;
    say(
        "importance",
        format!(
            "{:.2} = {:.2} (used by {}) + {:.2} (what it says) + {:.2} (place)",
            importance.score,
            importance.used,
            counted(u64::from(importance.references), "later message"),
            importance.content,
            importance.place
        ),
    );
    if !message.units.is_empty() {
        say("units", units(message).join("\n                   "));
    }
    let held = message.claim.as_ref().map_or("the conversation as a whole".to_owned(), told);
    say("claimed by", held);
    let (on, off): (Vec<&StageSays>, Vec<&StageSays>) = message.alone.iter().partition(|stage| stage.is_on);
    let (acting, idle): (Vec<&StageSays>, Vec<&StageSays>) = on.into_iter().partition(|stage| stage.what.is_some());
    for (at, stage) in acting.iter().enumerate() {
        say(if at == 0 { "alone" } else { "" }, told(stage));
    }
    let names = |stages: &[&StageSays]| stages.iter().map(|stage| stage.stage).collect::<Vec<_>>().join(", ");
    if !idle.is_empty() {
        say("nothing by", names(&idle));
    }
    if !off.is_empty() {
        say("off", names(&off));
    }
    format!("{:>5}  {}  {preview}\n{out}", message.index, plain::line(&message.role))
}

/// A stage and what it does.
fn told(says: &StageSays) -> String {
    let what = match &says.what {
        None => "nothing".to_owned(),
        Some(What::Keep { reason }) => format!("keeps it ({reason})"),
        Some(What::DuplicateOf { index }) => format!("identical to {index}"),
        Some(What::SimilarTo { index, similarity }) => format!("similar to {index} ({:.0} %)", similarity * 100.0),
        Some(What::SupersededBy { index, signal }) => format!("corrected by {index} ({signal})"),
        Some(What::Group { how, members }) => match members.as_slice() {
            [_] | [] => format!("{how}, alone"),
            members => {
                let names: Vec<String> = members.iter().map(usize::to_string).collect();
                format!("{how} of {} together", names.join(", "))
            }
        },
    };
    format!("{}: {what}", says.stage)
}

/// Where the units of a message stand, and why they stay or go, a line for each stretch.
fn units(message: &Explanation) -> Vec<String> {
    let has_parts = message.units.iter().any(|note| note.part != message.units[0].part);
    let places: Vec<String> = message.units.iter().map(|note| place(note, has_parts)).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or_default();
    places.iter().zip(&message.units).map(|(place, note)| format!("{place:<width$}  {}", reason(note))).collect()
}

fn place(note: &UnitNote, has_parts: bool) -> String {
    let part = if has_parts { format!("part {}, ", note.part) } else { String::new() };
    match note.lines {
        (first, last) if first == last => format!("{part}line {first}"),
        (first, last) => format!("{part}lines {first}–{last}"),
    }
}

fn reason(note: &UnitNote) -> String {
    let reason = note.reason.as_str();
    match (&note.used_by, note.said_by) {
        (Some((message, value)), _) => format!("{reason}: used by m{message} as \"{}\"", plain::line(value)),
        (None, Some(message)) => format!("{reason}: m{message}"),
        (None, None) if note.reason == UnitReason::SaidBefore => format!("{reason}: another conversation"),
        (None, None) => reason.to_owned(),
    }
}

fn with_details(reason: &str, details: &[&str]) -> String {
    if details.is_empty() { reason.to_owned() } else { format!("{reason} ({})", details.join(", ")) }
}

fn tier(tier: Tier) -> &'static str {
    match tier {
        Tier::Hard => "hard",
        Tier::Soft => "soft",
        Tier::Prose => "prose",
        Tier::None => "–",
    }
}

fn preview(message: &Message<'_>) -> String {
    let start: String = message.texts().flat_map(str::chars).take(PREVIEW_CHARS).collect();
    plain::line(&start).into_owned()
}
