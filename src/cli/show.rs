//! `condenser show`: one conversation for a person. Before and after side by side with the decisions in the margin, the
//! originals that are not shown any more as Markdown, or what one mark hides.

use condenser::app::{
    App, Destination, OnMerge, check_page, decode, hidden, message_at, pairs, place, read_as, reading, reasons,
    runs_with, unknown, write_page,
};
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::store::Place;
use condenser::io::{Behind, Run};
use condenser::model::Conversation;
use condenser::pipeline::bridge::Bridge;
use condenser::report::html::pair_page;
use condenser::report::markdown::{FrontMatter, turn};
use condenser::report::{Layout, hidden_text, plain, side_by_side};

use super::args::ShowArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;
use super::screen::{Given, columns_and_colours, stdout_for};

/// Columns where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 120;

/// Runs the command.
pub(crate) fn run(app: &App, args: &ShowArgs) -> Result<Ending> {
    let place = place(&args.run, &args.stores.stores())?;
    reading(std::slice::from_ref(&place), OnMerge::End, &mut || show(app, args, &place))
}

fn show(app: &App, args: &ShowArgs, place: &Place) -> Result<Ending> {
    let runs = runs_with(place, &args.id, &Notes { quiet: false })?;
    if let Some(target) = &args.html {
        check_page(target, None, std::slice::from_ref(place))?;
        let found = of_each(&runs, |run| pairs(run, &args.id, None, &|| app.stop().check()))?;
        if found.is_empty() {
            return Err(unknown(&args.id));
        }
        let page = pair_page(&found);
        let written = if target == "-" { message::data(&page) } else { write_page(target, &page) };
        written?;
        return Ok(Ending::Clean);
    }
    // Markdown is a document, to be kept as it is; everything else is made to be looked at.
    let is_markdown = args.markdown || args.archive.is_some();
    let given = if is_markdown { Given::Data } else { Given::Report };
    let mut output = Destination::open(args.output.as_deref(), &|| stdout_for(given))?;
    if let Some(number) = args.mark {
        for stretch in hidden(app, &runs, &args.id, number)? {
            output.write(hidden_text(&stretch, layout(args)).as_bytes())?;
        }
        output.finish()?;
        return Ok(Ending::Clean);
    }
    if args.why {
        let found = of_each(&runs, |run| reasons(run, &args.id, &|| app.stop().check()))?;
        if found.is_empty() {
            return Err(unknown(&args.id));
        }
        output.write(found.join("\n").as_bytes())?;
        output.finish()?;
        return Ok(Ending::Clean);
    }
    let show = if is_markdown { archives } else { beside };
    if !show(app, &runs, args, &mut output)? {
        return Err(unknown(&args.id));
    }
    output.finish()?;
    Ok(Ending::Clean)
}

/// What each of `runs` gives, in their order.
fn of_each<T>(runs: &[Run], give: impl Fn(&Run) -> Result<Vec<T>>) -> Result<Vec<T>> {
    Ok(runs.iter().map(give).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Writes the conversations before and after.
fn beside(app: &App, runs: &[Run], args: &ShowArgs, output: &mut Destination) -> Result<bool> {
    let found = of_each(runs, |run| pairs(run, &args.id, None, &|| app.stop().check()))?;
    let layout = layout(args);
    for pair in &found {
        let text =
            if args.json { plain::json(&pair.to_json()).into_owned() + "\n" } else { side_by_side(pair, layout) };
        output.write(text.as_bytes())?;
    }
    Ok(!found.is_empty())
}

/// As wide as the terminal, in colours when it has them and nobody objects.
fn layout(args: &ShowArgs) -> Layout {
    let goes_elsewhere = args.output.as_deref().is_some_and(|output| output != "-");
    let (width, colours) = columns_and_colours(DEFAULT_WIDTH, goes_elsewhere);
    Layout { width: args.width.unwrap_or(width), full: args.full, colours }
}

/// Writes the originals that are not shown any more.
fn archives(app: &App, runs: &[Run], args: &ShowArgs, output: &mut Destination) -> Result<bool> {
    let bridge = Bridge::new(1)?;
    let mut found = false;
    let mut others = Vec::new();
    for (run, commit) in runs.iter().flat_map(|run| run.commits.iter().map(move |commit| (run, commit))) {
        app.stop().check()?;
        for sides in run.find_sides(commit, &args.id, &bridge)? {
            app.stop().check()?;
            if args.archive.is_some_and(|chunk| sides.behind.chunk != Some(chunk)) {
                others.push(sides.behind.chunk);
                continue;
            }
            found = true;
            let original = decode(&sides.original, read_as(run, commit), &args.id)?;
            markdown(&original.conversation, (&sides.source, sides.source_row), &sides.behind, output)?;
        }
    }
    match (found, others.first()) {
        (false, Some(Some(chunk))) => {
            let message = format!("this run holds chunk {chunk}; earlier chunks stand in the runs that archived them");
            Err(Error::new(ErrorKind::Input, args.id.as_str(), message))
        }
        (false, Some(None)) => Err(Error::new(
            ErrorKind::Input,
            args.id.as_str(),
            "the conversation was not compacted, so it has no archive",
        )),
        _ => Ok(found),
    }
}

/// The messages that are not shown any more, turn by turn.
fn markdown(
    original: &Conversation<'_>,
    (source, source_row): (&str, u64),
    behind: &Behind,
    output: &mut Destination,
) -> Result<()> {
    let number = |number: Option<u64>| number.and_then(|number| usize::try_from(number).ok());
    let front = FrontMatter {
        conversation: &original.id,
        source,
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
