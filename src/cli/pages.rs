//! Pages: reads the texts that the page of a report shows, and writes pages to where they are wanted. Refuses to know what
//! a page looks like.

use std::io::Write as _;
use std::path::Path;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::{BlockingFile, Run};
use condenser::pipeline::Table;
use condenser::report::ReportDocument;
use condenser::report::html::Texts;

use super::pairs::pairs;
use super::{local, message};

/// The texts of the conversations that `document` lists, from its `runs`. What cannot be read is told and left out: the
/// figures hold without it.
pub(super) fn texts(document: &ReportDocument, runs: &[Run], check: &dyn Fn() -> Result<()>) -> Result<Texts> {
    let mut texts = Texts::default();
    for facts in document.largest_savings.iter().chain(&document.worst_losses) {
        check()?;
        let figures = &facts.figures;
        let is_there = texts.pairs.iter().any(|(run, pair)| {
            *run == facts.run && pair.source == figures.source && pair.source_row == figures.source_row
        });
        let run = runs.get(facts.run).filter(|run| run.manifest.options.writes(Table::Conversations));
        let Some(run) = run.filter(|_| !is_there) else { continue };
        match pairs(run, &figures.conversation_id, Some((&figures.source, figures.source_row)), check) {
            Ok(found) => texts.pairs.extend(found.into_iter().map(|pair| (facts.run, pair))),
            Err(error) if error.kind == ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                message::note(&format!("the text of {} is not in the page: {error}", figures.conversation_id));
            }
        }
    }
    Ok(texts)
}

/// Writes `page` to the file `target`, whole or not at all, or to stdout for `-`. A page that is there is replaced.
pub(super) fn write(target: &str, page: &str) -> Result<()> {
    if target == "-" {
        return message::result(page);
    }
    let mut file = BlockingFile::create(&local(Path::new(target))?)?;
    file.write_all(page.as_bytes())
        .map_err(|error| Error::new(ErrorKind::Io, target, "cannot be written").because(error))?;
    file.commit()
}
