//! What the marks of a conversation hide, by the views that its sidecar holds: a text that only looks like a mark is none.
//! Refuses to know how that is shown.

use super::App;
use super::get::unknown;
use super::pairs::{decode, read_as, spoken};
use crate::error::{Error, Result};
use crate::io::{FoundConversation, Run, Shown};
use crate::model::{Conversation, Message, PartView};
use crate::pipeline::Commit;
use crate::pipeline::bridge::Bridge;
use crate::report::Hidden;
use crate::report::numbers::counted;
use crate::report::pair::Utterance;
use crate::walk::label_of_call;

/// What mark `number` hides in the conversations of `runs` with this id, in the order of the run.
///
/// # Errors
/// `Input` when no conversation has this id, or none with it has this mark; `Verification` when what is shown is not what
/// the sidecar says.
pub fn hidden(app: &App, runs: &[Run], id: &str, number: u32) -> Result<Vec<Hidden>> {
    let bridge = Bridge::new(1)?;
    let (mut found, mut marks) = (Vec::new(), None);
    for (run, commit) in runs.iter().flat_map(|run| run.commits.iter().map(move |commit| (run, commit))) {
        app.stop.check()?;
        for sides in run.find_sides(commit, id, &bridge)? {
            app.stop.check()?;
            let views =
                || sides.behind.views.iter().flat_map(|(index, views)| views.iter().map(move |view| (*index, view)));
            let own: Vec<u32> = views().flat_map(|(_, view)| view.marks()).collect();
            if let Some((index, view)) = views().find(|(_, view)| view.marks().any(|mark| mark == number)) {
                found.push(hidden_in(run, commit, id, &sides, (index, view), number)?);
            }
            marks = marks.max(Some((own.len(), own.into_iter().max().unwrap_or_default())));
        }
    }
    match marks {
        None => Err(unknown(id)),
        Some(_) if !found.is_empty() => Ok(found),
        Some((0, _)) => Err(Error::input(id, "the conversation has no marks")),
        Some((n, last)) => {
            let marks = counted(n as u64, "mark");
            Err(Error::input(
                id,
                format!("the conversation has no mark #{number}; it has {marks}, the last is #{last}"),
            ))
        }
    }
}

fn hidden_in(
    run: &Run,
    commit: &Commit,
    id: &str,
    sides: &FoundConversation,
    (index, view): (u64, &PartView),
    number: u32,
) -> Result<Hidden> {
    let differs = || {
        let message = format!("the view of message {index} is not of what the run shows");
        Error::verification(format!("{}: row {}", sides.source, sides.source_row), message)
    };
    let original = decode(&sides.original, read_as(run, commit), id)?;
    let (at, message) = message_at(&original.conversation, index).ok_or_else(differs)?;
    let media = || message.media().find(|(at, _)| *at == view.part).map(|(_, media)| media.raw);
    let call = |call: usize| message.tool_calls.get(call).map(|call| &*call.arguments);
    let thought = |number: usize| message.reasoning.get(number).map(|thought| &*thought.text);
    let text = match (view.call, view.thought) {
        (Some(number), _) => call(number),
        (None, Some(number)) => thought(number),
        (None, None) => message.text_at(view.part).or_else(media),
    };
    let text = text.ok_or_else(differs)?;
    let written = view.apply(text).ok_or_else(differs)?;
    let position = position_of(sides, index).ok_or_else(differs)?;
    let shown = spoken(&sides.shown, original.read_as, id)?;
    // A text that is a list of JSON looks like a list of parts in its column, and what is shown of columns has neither calls nor
    // reasoning.
    let is_beside = !view.is_of_content();
    let is_column = matches!(&sides.shown, Shown::Columns(messages)
        if messages.get(position).is_some_and(|message| message.content == written || is_beside));
    let is_shown = |shown: &Utterance| holds(shown, &written) || is_beside && shown.text.contains(&written);
    if !is_column && !shown.get(position).is_some_and(is_shown) {
        return Err(differs());
    }
    let stretch = view.hidden(number, text).ok_or_else(differs)?;
    Ok(Hidden {
        number,
        id: id.to_owned(),
        source: sides.source.clone(),
        source_row: sides.source_row,
        index: at,
        role: message.role.as_str().to_owned(),
        label: label_of_call(&original.conversation, at, view.part).filter(|_| view.is_of_content()),
        before: stretch.before,
        text: stretch.text.to_owned(),
        behind: stretch.behind,
    })
}

/// Index in the output of what stands for message `index`.
fn position_of(sides: &FoundConversation, index: u64) -> Option<usize> {
    let (_, position) = sides.behind.messages.iter().find(|(replaced, _)| *replaced == index)?;
    usize::try_from(*position).ok()
}

/// True when a message says `text`; its texts stand one below the other.
fn holds(said: &Utterance, text: &str) -> bool {
    let lines = |text: &str| format!("\n{text}\n");
    lines(&said.text).contains(&lines(text))
}

/// A message of a conversation, by its index.
pub fn message_at<'c, 'r>(conversation: &'c Conversation<'r>, index: u64) -> Option<(usize, &'c Message<'r>)> {
    let at = usize::try_from(index).ok()?;
    Some((at, conversation.messages.get(at)?))
}
