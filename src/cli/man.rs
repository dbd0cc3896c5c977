//! `condenser man`: pages for man(1), made of the same words as help. Knows roff's names, not what a command does.

use std::path::Path;

use clap::Command;
use clap_mangen::Man;
use condenser::app::{local, write_page};
use condenser::error::{Error, Result};
use condenser::report::numbers::counted;

use super::args::ManArgs;
use super::end::Ending;
use super::help::{self, Wanted};
use super::message;

/// Runs the command.
pub(super) fn run(args: &ManArgs) -> Result<Ending> {
    let mut root = help::command(Wanted::Whole);
    root.build();
    let Some(folder) = &args.dir else {
        let Some(command) = help::find(&root, &args.command) else {
            return Err(help::unknown(&root, &args.command.join(" ")));
        };
        message::data(&page(command)?.1)?;
        return Ok(Ending::Clean);
    };
    let n_pages = written(&root, folder)?;
    message::note(&format!("{} written to {}", counted(n_pages, "page"), folder.display()));
    Ok(Ending::Clean)
}

/// Writes the pages of a command and of all below it.
fn written(command: &Command, folder: &Path) -> Result<u64> {
    let place = local(folder)?;
    std::fs::create_dir_all(&place)
        .map_err(|error| Error::io(folder.to_string_lossy(), "the folder cannot be made").because(error))?;
    let (name, text) = page(command)?;
    write_page(&folder.join(name).to_string_lossy(), &text)?;
    command.get_subcommands().try_fold(1, |n, command| Ok(n + written(command, folder)?))
}

/// The file name of a page and its text.
fn page(command: &Command) -> Result<(String, String)> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let version = command.get_version().unwrap_or_default();
    let man =
        Man::new(command.clone().override_usage(usage)).source(format!("condenser {version}")).manual("condenser");
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Error::internal("man", "the page cannot be made").because(error))?;
    Ok((man.get_filename(), String::from_utf8_lossy(&text).into_owned()))
}
