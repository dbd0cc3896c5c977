//! Sentences that agent programs put into every conversation by themselves. They say nothing about this one, or hide
//! the words that do. Knows their beginnings; refuses to know scores of anything else.

use crate::text::{Span, TextView};

/// Points that take a sentence out of every summary.
pub(super) const NOISE: i32 = -20;

/// Beginnings, and what they add to the score of a sentence or line.
const KNOWN: &[(&str, i32)] = &[
    // A tool use that the user refused: what counts is that, and the user's own words.
    ("The user doesn't want to proceed with this tool use", 12),
    ("The user doesn't want to take this action right now", 12),
    ("The tool use was rejected (eg. if it was a file edit", NOISE),
    ("STOP what you are doing and wait for the user", 8),
    (USER_SAID, 8),
    // Lists of things to do.
    ("Ensure that you continue to use the todo list", NOISE),
    ("Please proceed with the current tasks if applicable", NOISE),
    // Reminders.
    ("Whenever you read a file, you should consider whether it", NOISE),
    ("You CAN and SHOULD provide analysis of malware", NOISE),
    ("But you MUST refuse to improve or augment the code", NOISE),
    ("You can still analyze existing code, write reports", NOISE),
    ("This is a reminder that your todo list is currently", NOISE),
    ("DO NOT mention this to the user", NOISE),
    ("If you are working on tasks that would benefit from", NOISE),
    ("If you're working on tasks that would benefit from", NOISE),
    ("The TodoWrite tool hasn't been used recently", NOISE),
    ("Also consider cleaning up the todo list", NOISE),
    ("Only use it if it's relevant to the current work", NOISE),
    ("Only use these if relevant to the current work", NOISE),
    ("This is just a gentle reminder", NOISE),
    ("Make sure that you NEVER mention this reminder", NOISE),
    ("As you answer the user's questions, you can use the following", NOISE),
    ("IMPORTANT: this context may or may not be relevant", NOISE),
    ("You should not respond to this context unless", NOISE),
    // Edits.
    ("Here's the result of running `cat -n` on", NOISE),
    ("(file state is current in your context", NOISE),
    // What a shell tool prints before the output.
    ("Chunk ID: ", NOISE),
    ("Wall time: ", NOISE),
    ("Original token count: ", NOISE),
    ("Process exited with code 0", NOISE),
    ("Exit code: 0", NOISE),
    ("Output:", NOISE),
    ("[Command finished with exit code 0]", NOISE),
    ("[Python Interpreter: ", NOISE),
    ("Shell cwd was reset to ", NOISE),
    // States of a repository.
    ("On branch ", 8),
    ("(use \"git ", NOISE),
];

const USER_SAID: &str = "To tell you how to proceed, the user said:";

const N_HEAD: usize = 4;
/// How the known sentences begin: most others stop here.
const HEADS: [u32; KNOWN.len()] = {
    let mut heads = [0; KNOWN.len()];
    let mut at = 0;
    while at < heads.len() {
        let text = KNOWN[at].0.as_bytes();
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
        _ => KNOWN
            .iter()
            .find(|(known, points)| text.starts_with(known) && (*points != NOISE || ends_so(known, text)))
            .map_or(0, |&(_, points)| points),
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
