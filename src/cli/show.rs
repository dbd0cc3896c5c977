//! `condenser show`: one conversation for a person. What stands for it with the originals behind each message, or the
//! originals that are not shown any more as Markdown.

use std::fmt::Write as _;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{Behind, Run};
use condenser::model::{Conversation, Message};
use condenser::pipeline::Commit;
use condenser::pipeline::bridge::Bridge;
use condenser::report::markdown::{FrontMatter, turn};
use condenser::report::plain;
use condenser::shape::{self, Decoded};

use super::args::ShowArgs;
use super::restore::Output;
use super::{Ending, block_on_thread, check_stop, place};

/// Runs the command.
pub(crate) fn run(args: ShowArgs) -> Result<Ending> {
    block_on_thread(move |stop| {
        let run = Run::open(place(&args.run, &args.stores.stores())?)?;
        let mut output = Output::open(args.output.as_deref())?;
        let bridge = Bridge::new(1)?;
        let mut found = false;
        for commit in &run.commits {
            check_stop(stop)?;
            let behind = run.find_behind(commit, &args.id)?;
            if behind.is_empty() {
                continue;
            }
            let records = records(&run, commit, &args.id, behind.len(), &bridge)?;
            let shown = if args.markdown { Vec::new() } else { run.find_compressed(commit, &args.id)? };
            for (at, ((row, behind), record)) in behind.iter().zip(&records).enumerate() {
                check_stop(stop)?;
                found = true;
                let original = decode(record, &args.id)?;
                if args.markdown {
                    markdown(&original.conversation, commit, *row, behind, &mut output)?;
                } else {
                    let record = shown.get(at).map(String::as_str).unwrap_or_default();
                    let shown = decode(record, &args.id)?;
                    output.write(side_by_side(&original.conversation, &shown.conversation, behind).as_bytes())?;
                }
            }
        }
        if !found {
            return Err(Error::new(ErrorKind::Input, &args.id, "the run has no conversation with this id"));
        }
        output.finish()?;
        Ok(Ending::Clean)
    })
}

/// The originals of the `n` conversations with this id, in the order of the source.
fn records(run: &Run, commit: &Commit, id: &str, n: usize, bridge: &Bridge) -> Result<Vec<String>> {
    if commit.table.is_some() {
        return run.find_cells(commit, id);
    }
    let mut bytes = Vec::new();
    if let Some(mut restorer) = run.find(commit, id, bridge)? {
        while let Some(slice) = restorer.next_slice()? {
            bytes.extend(slice.bytes);
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    // A session of an event log is many lines; where one id stands for several records, each is a line.
    let records: Vec<String> = match n {
        1 => vec![text.trim_end_matches(['\n', '\r']).to_owned()],
        _ => text.lines().map(str::to_owned).collect(),
    };
    Ok(records)
}

fn decode<'r>(record: &'r str, id: &str) -> Result<Decoded<'r>> {
    let unknown = |detail: &str| {
        let message = format!("the record holds no conversation that can be shown: {detail}");
        Error::new(ErrorKind::Input, id, message).hinting("`condenser get` prints the record as it is")
    };
    let shape = shape::detect(record).ok_or_else(|| unknown("its shape is unknown"))?;
    shape::decode(record, shape, id).map_err(|reject| unknown(&reject.detail))
}

/// The messages that are not shown any more, turn by turn.
fn markdown(
    original: &Conversation<'_>,
    commit: &Commit,
    source_row: u64,
    behind: &Behind,
    output: &mut Output,
) -> Result<()> {
    let number = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
    let front = FrontMatter {
        conversation: &original.id,
        source: &commit.source,
        source_row,
        level: number(behind.level),
        chunk: number(behind.chunk),
        n_messages: behind.messages.len(),
        topics: behind.topics.as_deref(),
    };
    output.write(front.write().as_bytes())?;
    for &(index, _) in &behind.messages {
        if let Some((at, message)) = message_at(original, index) {
            output.write(turn(at, message).as_bytes())?;
        }
    }
    Ok(())
}

/// Every message as the run shows it, and below it the originals that it stands for.
fn side_by_side(original: &Conversation<'_>, shown: &Conversation<'_>, behind: &Behind) -> String {
    let (before, after) = (original.messages.len(), shown.messages.len());
    let mut out = format!("{}: {before} messages, shown as {after}\n\n", plain::line(&original.id));
    for (position, message) in shown.messages.iter().enumerate() {
        let sources: Vec<u64> =
            behind.messages.iter().filter(|(_, at)| *at == position as u64).map(|(index, _)| *index).collect();
        let stands = match sources.len() {
            0 => "as it was".to_owned(),
            1 => "stands for 1 message".to_owned(),
            n => format!("stands for {n} messages"),
        };
        writeln!(out, "=== {position} {}, {stands} ===", plain::line(message.role.as_str()))
            .expect("a String takes everything");
        push_texts(message, &mut out);
        for (at, source) in sources.iter().filter_map(|&index| message_at(original, index)) {
            writeln!(out, "--- before: {at} {} ---", plain::line(source.role.as_str()))
                .expect("a String takes everything");
            push_texts(source, &mut out);
        }
    }
    out
}

fn message_at<'c, 'r>(conversation: &'c Conversation<'r>, index: u64) -> Option<(usize, &'c Message<'r>)> {
    let at = usize::try_from(index).ok()?;
    Some((at, conversation.messages.get(at)?))
}

fn push_texts(message: &Message<'_>, out: &mut String) {
    for text in message.texts().filter(|text| !text.is_empty()) {
        out.push_str(&plain::lines(text));
        out.push('\n');
    }
    for call in &message.tool_calls {
        let name = call.name.as_deref().unwrap_or("tool");
        writeln!(out, "(calls {} {})", plain::line(name), plain::lines(&call.arguments))
            .expect("a String takes everything");
    }
    out.push('\n');
}
