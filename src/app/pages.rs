//! Pages: reads the texts that the page of a report shows, and writes pages to where they are wanted. Refuses to know what
//! a page looks like.

use std::io::Write as _;
use std::path::Path;

use super::local;
use super::pairs::pairs;
use crate::error::{Error, ErrorKind, Result};
use crate::io::store::{Location, Place};
use crate::io::{BlockingFile, Run};
use crate::pipeline::{News, Observer, TableName};
use crate::report::ReportDocument;
use crate::report::html::Texts;
use crate::report::numbers::counted;

/// Why a page on stdout leaves no room for the document.
pub const BOTH_ON_STDOUT: &str = "only one of page, Markdown and JSON can go to stdout; name files for the others";

/// The texts of the conversations that `document` lists, from its `runs`. What cannot be read is told and left out: the
/// figures hold without it.
pub(super) fn texts(
    document: &ReportDocument,
    runs: &[Run],
    check: &dyn Fn() -> Result<()>,
    observer: &dyn Observer,
) -> Result<Texts> {
    let mut texts = Texts::default();
    for facts in document.largest_savings.iter().chain(&document.worst_losses) {
        check()?;
        let figures = &facts.figures;
        let is_there = texts.pairs.iter().any(|(run, pair)| {
            *run == facts.run && pair.source == figures.source && pair.source_row == figures.source_row
        });
        let run = runs.get(facts.run).filter(|run| run.manifest.options.writes(TableName::Conversations));
        let Some(run) = run.filter(|_| !is_there) else { continue };
        match pairs(run, &figures.conversation_id, Some((&figures.source, figures.source_row)), check) {
            Ok(found) => texts.pairs.extend(found.into_iter().map(|pair| (facts.run, pair))),
            Err(error) if error.kind == ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                let message = format!("the text of {} is not in the page: {error}", figures.conversation_id);
                observer.news(News::Warning(&message));
            }
        }
    }
    Ok(texts)
}

/// Refuses a `target` that [`write_page`] could not write, before there is a page. Its folder is there, or lies in the
/// `output` that the work makes first; and it replaces nothing of what is `read`.
pub fn check_page(target: &str, output: Option<&Place>, read: &[Place]) -> Result<()> {
    if target == "-" {
        return Ok(());
    }
    let path = local(Path::new(target))?;
    let usage = |message: String| Err(Error::new(ErrorKind::Usage, target, message));
    if path.is_dir() {
        return usage("this is a folder; name a file for the page".to_owned());
    }
    spare(target, read)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() {
        // Dropped as it is, the file leaves nothing behind.
        return BlockingFile::create(&path).map(drop);
    }
    let is_made = output.is_some_and(|output| Location::from(&*path).is_within(output.location()));
    if is_made { Ok(()) } else { usage(format!("the folder {} does not exist", folder.display())) }
}

/// Refuses a `target` that would replace a file of what is read: within a run only pages and Markdown have room.
pub(super) fn spare(target: &str, read: &[Place]) -> Result<()> {
    let path = std::path::absolute(local(Path::new(target))?)
        .map_err(|error| Error::new(ErrorKind::Usage, target, "this is no path").because(error))?;
    let place = Location::from(&*path);
    let is_ours = path.extension().is_some_and(|ending| ["html", "htm", "md"].iter().any(|ours| ending == *ours));
    let within = |read: &&Place| {
        let read = read.as_local().and_then(|read| std::path::absolute(read).ok());
        read.is_some_and(|read| place.is_within(&Location::from(&*read)))
    };
    match read.iter().find(within) {
        Some(read) if !is_ours => {
            let message = format!("this lies in {read}, which is read; name a file elsewhere");
            Err(Error::new(ErrorKind::Usage, target, message))
        }
        _ => Ok(()),
    }
}

/// Writes `page` to the file `target`, whole or not at all. A page that is there is replaced.
pub fn write_page(target: &str, page: &str) -> Result<()> {
    let mut file = BlockingFile::create(&local(Path::new(target))?)?;
    file.write_all(page.as_bytes())
        .map_err(|error| Error::new(ErrorKind::Io, target, "cannot be written").because(error))?;
    file.commit()
}

/// Writes tables into a folder, which is made where it is not there, each by the name of its file.
pub(super) fn write_tables(folder: &str, tables: &[(String, String)]) -> Result<()> {
    let path = local(Path::new(folder))?;
    std::fs::create_dir_all(&path)
        .map_err(|error| Error::new(ErrorKind::Io, folder, "the folder cannot be made").because(error))?;
    for (name, text) in tables {
        write_page(&path.join(name).to_string_lossy(), text)?;
    }
    let is_other = |path: &Path| {
        let is_ours = |name: &str| tables.iter().any(|(ours, _)| ours == name);
        path.extension().is_some_and(|ending| ending == "csv")
            && !path.file_name().and_then(|name| name.to_str()).is_some_and(is_ours)
    };
    let found = std::fs::read_dir(&path).into_iter().flatten().flatten();
    let n_others = found.filter(|file| is_other(&file.path())).count() as u64;
    if n_others > 0 {
        let (tables, are) = (counted(n_others, "table"), if n_others == 1 { "is" } else { "are" });
        tracing::warn!("{folder}: {tables} there {are} not of this report, perhaps of an earlier one");
    }
    Ok(())
}

/// Makes the page that is wanted and writes it to `target`; gives it back when it goes to no file.
pub(super) fn page_for(target: Option<&str>, make: impl FnOnce() -> Result<String>) -> Result<Option<String>> {
    match target {
        None => Ok(None),
        Some("-") => make().map(Some),
        Some(target) => write_page(target, &make()?).map(|()| None),
    }
}
