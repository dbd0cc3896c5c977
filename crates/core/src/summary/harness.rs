//! Sentences that agent programs put into every conversation by themselves. They say nothing about this one, or hide
//! the words that do. Knows their beginnings; refuses to know scores of anything else.

use crate::text::words::word_list;
use crate::text::{Span, TextView, USER_SAID};

/// Points that take a sentence out of every summary.
pub(super) const NOISE: i32 = -20;

/// Beginnings of what says nothing: lists of things to do, reminders, what stands around the output of a tool.
const NOISES: &[&str] = word_list!("harness", NOISES);
/// Other beginnings, and what they add to the score of a sentence or line. Of a tool use that the user refused that counts,
/// and the user's own words.
const OTHERS: &[(&str, i32)] = &[
    ("The user doesn't want to proceed with this tool use", 12),
    ("The user doesn't want to take this action right now", 12),
    ("STOP what you are doing and wait for the user", 8),
    (USER_SAID, 8),
    ("On branch ", 8),
    ("(use \"git ", NOISE),
];

const N_HEAD: usize = 4;
/// How these begin: most other texts stop here.
const HEADS: [u32; NOISES.len() + OTHERS.len()] = {
    let mut heads = [0; NOISES.len() + OTHERS.len()];
    let mut at = 0;
    while at < heads.len() {
        let text = if at < NOISES.len() { NOISES[at] } else { OTHERS[at - NOISES.len()].0 };
        let text = text.as_bytes();
        heads[at] = u32::from_le_bytes([text[0], text[1], text[2], text[3]]);
        at += 1;
    }
    heads
};

/// Points for a sentence or line, mostly 0.
pub(super) fn points(text: &str) -> i32 {
    let text = text.trim_start();
    let Some(head) = text.as_bytes().first_chunk::<N_HEAD>() else { return 0 };
    match head {
        [b'<', ..] if is_tag(text) => NOISE,
        // `Changed 527 characters to 783.` behind the path that was edited.
        b"Chan" if text.starts_with("Changed ") && text.contains(" characters to ") => -6,
        _ if !HEADS.contains(&u32::from_le_bytes(*head)) => 0,
        _ if NOISES.iter().any(|known| text.starts_with(known) && ends_so(known, text)) => NOISE,
        _ => OTHERS.iter().find(|(known, _)| text.starts_with(known)).map_or(0, |&(_, points)| points),
    }
}

/// `Exit code: 0`, but not `Exit code: 01`; `Output:` alone.
fn ends_so(known: &str, text: &str) -> bool {
    match known {
        "Output:" | "Exit code: 0" | "Process exited with code 0" => text.trim_end().len() == known.len(),
        _ => true,
    }
}

/// Nothing but a tag, which frames what others say.
fn is_tag(text: &str) -> bool {
    let inner = text.trim_end().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|name| {
        let name = name.strip_prefix('/').unwrap_or(name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    })
}

/// True for what no summary shows.
pub(super) fn is_noise(text: &str) -> bool {
    points(text) <= NOISE
}

/// Sentences that no summary shows.
pub(super) fn noise(view: &TextView<'_>) -> Vec<Span> {
    let spans = view.units.iter().map(|unit| unit.span);
    spans.filter(|span| is_noise(span.of(view.text))).collect()
}

/// Where the user's own words begin in the report of a tool use that the user refused.
pub(super) fn words_of_user(view: &TextView<'_>) -> Option<u32> {
    if !view.covered().starts_with("The user doesn't want to proceed") {
        return None;
    }
    let said = view.units.iter().find(|unit| unit.span.of(view.text).starts_with(USER_SAID))?;
    Some(said.span.start + USER_SAID.len() as u32)
}
