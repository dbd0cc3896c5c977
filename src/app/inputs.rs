//! What commands read: files, folders and patterns, and the originals of runs. Knows names and runs; refuses to know what is
//! done with them.

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

use super::App;
use super::restore::{RestoreSettings, RestoredFile, Restoring, restore};
use crate::error::{Error, Result};
use crate::io::store::{Location, Place, Stores};
use crate::io::{Input, Listing, PassedOver, expand};
use crate::pipeline::{BatchOptions, JobSettings, News, Observer, TableOptions};

/// So many of the files and folders that are passed over are named.
const MAX_PASSED_OVER: usize = 20;

/// The inputs that `arguments` stand for. What lies among them and is not read is told, and so is a run, whose originals are
/// restored into a folder that is removed with `app`.
pub fn inputs_of(app: &App, arguments: &[String], stores: &Stores, observer: &dyn Observer) -> Result<Vec<Input>> {
    inputs_or(app, arguments, stores, observer, &mut Err)
}

/// The same; of an argument that stands for nothing `nothing` hears why, and its error ends the work.
pub(super) fn inputs_or(
    app: &App,
    arguments: &[String],
    stores: &Stores,
    observer: &dyn Observer,
    nothing: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<Vec<Input>> {
    let mut originals = |run: &Place| {
        let name = run.location().to_string();
        observer.news(News::Note(&format!("{name} is a run: its originals are read, not what it shows")));
        originals(app, &name, stores)
    };
    let Listing { inputs, passed_over } = expand(arguments, stores, &mut originals, nothing)?;
    for line in told(&passed_over) {
        observer.news(News::Note(&line));
    }
    Ok(inputs)
}

/// The originals of a run as inputs, named as they were then.
pub(super) fn originals(app: &App, run: &str, stores: &Stores) -> Result<Vec<Input>> {
    let cannot = |error| Error::io(run, "there is no room to restore the originals of the run").because(error);
    let folder = tempfile::Builder::new().prefix("condenser-").tempdir().map_err(cannot)?;
    let settings = RestoreSettings {
        what: Restoring::Run { run: run.into(), through: Vec::new(), conversation: None, night: None },
        output: Some(folder.path().to_string_lossy().into_owned()),
        stdout: &|| Box::new(std::io::sink()),
        threads: 0,
        stores: stores.clone(),
    };
    let restored = restore(app, &settings)?.files;
    // As old as the run, so that a job that was killed knows them again.
    let made = Path::new(run).join("manifest.json").metadata().and_then(|found| found.modified());
    let made = made.unwrap_or(SystemTime::UNIX_EPOCH);
    let input = |file: RestoredFile| {
        let path = folder.path().join(file.file);
        File::options().write(true).open(&path).and_then(|file| file.set_modified(made)).map_err(cannot)?;
        Ok(Input::new(file.source, Some(path.into())))
    };
    let inputs = restored.into_iter().map(input).collect::<Result<_>>()?;
    app.keep(folder);
    Ok(inputs)
}

/// What is passed over, a line for each, and one for those that are too many to be named.
pub(super) fn told(passed_over: &[PassedOver]) -> Vec<String> {
    let mut lines: Vec<String> = passed_over.iter().take(MAX_PASSED_OVER).map(ToString::to_string).collect();
    if passed_over.len() > MAX_PASSED_OVER {
        lines.push(format!("… and {} more are passed over", passed_over.len() - MAX_PASSED_OVER));
    }
    lines
}

/// Refuses to write a run into a folder that `arguments` name, or that holds one of the inputs they stand for.
pub(super) fn refuse_inside(arguments: &[String], inputs: &[Input], run: &Place) -> Result<()> {
    let named = arguments.iter().map(|argument| (argument, Location::parse(argument).ok()));
    let found = inputs.iter().map(|input| (&input.name, input.file.as_ref().map(|file| file.location().clone())));
    let is_within = |location: &Option<Location>| location.as_ref().is_some_and(|at| at.is_within(run.location()));
    match named.chain(found).find(|(_, location)| is_within(location)) {
        Some((name, _)) => Err(Error::usage(name, "the input lies in the output directory")),
        None => Ok(()),
    }
}

/// Refuses a store inside of a folder that `arguments` name: later nights would find it among the logs.
pub(super) fn refuse_around(arguments: &[String], store: &Place) -> Result<()> {
    for argument in arguments {
        let location = Location::parse(argument)?;
        let is_folder = location.as_local().map_or(!location.has_pattern(), Path::is_dir);
        if is_folder && store.location().is_within(&location) {
            let message =
                format!("the store {store} would lie in this folder of inputs, and later nights would find it there");
            return Err(
                Error::usage(argument, message).hinting("name an output elsewhere, or the folders of the logs alone")
            );
        }
    }
    Ok(())
}

/// How streams among the inputs of a job are cut.
pub(super) fn batches_of(settings: &JobSettings) -> BatchOptions {
    BatchOptions { batch_bytes: settings.options.batch_bytes, max_record_bytes: settings.options.max_record_bytes }
}

/// How tables among the inputs of a job are read.
pub fn tables_of(settings: &JobSettings) -> TableOptions {
    settings.options.tables()
}
