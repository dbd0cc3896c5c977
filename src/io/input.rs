//! From what the user typed to inputs: paths, folders, patterns and stdin. Knows names, not what files hold.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::failed;
use super::restored_names::strip_codec;
use super::run_documents::{NIGHTS, is_night};
use super::store::{Location, Place, Stores};
use super::walk::{PassedOver, Walk, each_once};
use crate::error::{Error, Result};
use crate::pipeline::{AgedRow, KeptLog};

const ENDINGS: [&str; 11] =
    ["jsonl", "ndjson", "json", "traj", "parquet", "pq", "parq", "arrow", "arrows", "feather", "ipc"];
const NO_MATCH: &str = "there is no such file, and no file matches it as a pattern";

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name as the user gave it, or made from it.
    pub name: String,
    /// The file; `None` for stdin.
    pub file: Option<Place>,
    /// The beginning of a log that a store holds already.
    pub keeps: Option<KeptLog>,
    /// The store has an earlier state of it.
    pub comes_again: bool,
    /// The night before in which it was a beginning of what it is now.
    pub extends: Option<String>,
    /// Whether it counts when it was last written to.
    pub is_dated: bool,
    /// Records of a store that are looked at again, instead of the file.
    pub looks_again: Vec<AgedRow>,
}

impl Input {
    /// All of a file, or of stdin.
    pub fn new(name: impl Into<String>, file: Option<Place>) -> Self {
        Self {
            name: name.into(),
            file,
            keeps: None,
            comes_again: false,
            extends: None,
            is_dated: false,
            looks_again: Vec::new(),
        }
    }

    /// True for what has a name and is read once, to its end.
    #[must_use]
    pub fn is_named_pipe(&self) -> bool {
        let path = self.file.as_ref().and_then(Place::as_local);
        path.is_some_and(|path| path.exists() && !path.is_file() && !path.is_dir())
    }
}

/// What arguments stand for.
#[derive(Debug, Default)]
pub struct Listing {
    /// The inputs, in the order of the arguments.
    pub inputs: Vec<Input>,
    /// What lies among them and is not read.
    pub passed_over: Vec<PassedOver>,
}

impl Listing {
    fn add(&mut self, (files, passed_over): (Vec<PathBuf>, Vec<PassedOver>)) {
        self.inputs.extend(files.into_iter().map(|path| {
            let name = path.to_string_lossy().into_owned();
            if path.to_str().is_none() {
                tracing::warn!("{name}: the name is not UTF-8; the file comes back under the name as it is shown here");
            }
            local(name, path)
        }));
        self.passed_over.extend(passed_over);
    }
}

/// The inputs that `arguments` stand for: files, folders (all inputs below them, by name), patterns, and `-`
/// for stdin. The order is that of the arguments. A run stands for its originals, which `originals` brings back, and runs
/// and stores inside a folder are not read; the folder `conversations` of a run is a folder like others. Of what a folder or a pattern holds each file is read once, whatever links to it; pipes, sockets and
/// devices are read only when they are named. Of an argument that stands for nothing `nothing` hears why; its error ends the work.
pub fn expand(
    arguments: &[String],
    stores: &Stores,
    originals: &mut dyn FnMut(&Place) -> Result<Vec<Input>>,
    nothing: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<Listing> {
    let mut found = Listing::default();
    for argument in arguments {
        if argument == "-" {
            found.inputs.push(Input::new("-", None));
            continue;
        }
        let location = Location::parse(argument)?;
        let Some(path) = location.as_local() else {
            let inputs = remote(&Place::new(stores, location), stores, originals)?;
            if inputs.is_empty() {
                let message = "there is no such object, and none below it or matching it that holds JSON lines";
                nothing(Error::usage(argument, message))?;
            }
            found.inputs.extend(inputs);
            continue;
        };
        if is_store(path) {
            return Err(store_among_inputs(argument));
        }
        if is_run(path) {
            found.inputs.extend(originals(&path.to_owned().into())?);
        } else if path.is_dir() {
            let files = files_below(path.to_owned())?;
            if files.0.is_empty() {
                nothing(Error::usage(
                    argument,
                    "the folder holds no inputs (*.jsonl, *.ndjson, *.json, *.traj, also .gz or .zst; *.parquet, *.arrow)",
                ))?;
            }
            found.add(files);
        } else if path.exists() {
            found.inputs.push(local(argument.clone(), path.to_owned()));
        } else {
            let pattern = path.to_string_lossy();
            let files = matches_of(&pattern)?;
            if files.0.is_empty() {
                nothing(Error::usage(&*pattern, NO_MATCH))?;
            }
            found.add(files);
        }
    }
    if found.inputs.iter().filter(|input| input.file.is_none()).count() > 1 {
        return Err(Error::usage("-", "stdin can be read only once"));
    }
    Ok(found)
}

fn local(name: String, path: PathBuf) -> Input {
    Input::new(name, Some(path.into()))
}

/// The inputs that an address stands for: an object, what a pattern matches, or what lies below a folder; none where there is nothing.
fn remote(
    place: &Place,
    stores: &Stores,
    originals: &mut dyn FnMut(&Place) -> Result<Vec<Input>>,
) -> Result<Vec<Input>> {
    let location = place.location();
    let input = |location: Location| Input::new(location.to_string(), Some(Place::new(stores, location)));
    // What looks like a file is asked for first: who may read it may not be allowed to list.
    let is_file = |place: &Place| Ok::<_, Error>(!location.has_pattern() && place.exists()?);
    let looks_like_file = location.is_web() || location.file_name().contains('.');
    if looks_like_file && is_file(place)? {
        return Ok(vec![input(location.clone())]);
    }
    if location.is_web() {
        return Err(Error::usage(location.to_string(), "there is nothing under this address"));
    }
    let found: Vec<Input> = if location.has_pattern() {
        place.matches()?.into_iter().map(|listed| input(listed.location)).collect()
    } else {
        let names: Vec<String> = place.names()?.into_keys().collect();
        let is_night = |name: &String| name.strip_prefix("nights/").is_some_and(is_night);
        if names.iter().any(is_night) {
            return Err(store_among_inputs(&location.to_string()));
        }
        if MARKS_OF_RUN.iter().all(|mark| names.iter().any(|name| name.starts_with(mark))) {
            return originals(place);
        }
        inputs_among(&names).into_iter().map(|name| input(location.join(name))).collect()
    };
    if found.is_empty() && !looks_like_file && is_file(place)? {
        return Ok(vec![input(location.clone())]);
    }
    Ok(found)
}

/// What a run has below it.
const MARKS_OF_RUN: [&str; 2] = ["commits/", "conversations/"];

/// The inputs among the names of the files of a folder, as [`walk`] finds them on disk.
fn inputs_among(names: &[String]) -> Vec<&String> {
    let folders = |mark: &str| -> BTreeSet<&str> {
        let begins = |name: &str| name.find(&format!("/{mark}"));
        names.iter().filter_map(|name| name.get(..begins(name)?)).collect()
    };
    let [commits, conversations] = MARKS_OF_RUN.map(folders);
    let runs: Vec<&str> = commits.intersection(&conversations).copied().collect();
    let is_input = |name: &&String| {
        let last = name.rsplit('/').next().unwrap_or_default();
        let in_run = runs.iter().any(|run| name.strip_prefix(run).is_some_and(|rest| rest.starts_with('/')));
        !in_run && !name.split('/').any(|part| part.starts_with('.')) && is_input(last)
    };
    names.iter().filter(is_input).collect()
}

/// Files that were found by name, and what was passed over.
type Files = (Vec<PathBuf>, Vec<PassedOver>);

/// The inputs below a folder; hidden files and folders, runs and stores of nights are none.
fn files_below(folder: PathBuf) -> Result<Files> {
    let last = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let enters = |path: &Path| !last(path).starts_with('.') && !is_run(path) && !is_store(path);
    let wants = |path: &Path| {
        let name = last(path);
        !name.starts_with('.') && is_input(&name)
    };
    Walk::new(&enters, &wants).run(vec![folder])
}

fn matches_of(pattern: &str) -> Result<Files> {
    Pattern::new(pattern).map_err(|error| Error::usage(pattern, NO_MATCH).because(error))?;
    let components: Vec<Component<'_>> = Path::new(pattern).components().collect();
    let deep = components.iter().position(|component| component.as_os_str() == "**");
    let (mut files, passed_over) = match deep {
        Some(at) => matches_below(pattern, &components[..at], &components[at..])?,
        None => each_once(glob(pattern)?),
    };
    files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok((files, passed_over))
}

/// The files that a pattern with `**` matches: walked over, since folders that link to themselves have no bottom.
fn matches_below(pattern: &str, above: &[Component<'_>], below: &[Component<'_>]) -> Result<Files> {
    const OPTIONS: MatchOptions =
        MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: false };
    let below: PathBuf = below.iter().collect();
    let wrong = |error: glob::PatternError| Error::usage(pattern, "this is no pattern").because(error);
    let below = Pattern::new(&below.to_string_lossy()).map_err(wrong)?;
    let above: PathBuf = above.iter().collect();
    let has_signs = above.to_string_lossy().contains(['*', '?', '[']);
    let mut roots = if has_signs { glob(&above.to_string_lossy())? } else { vec![above] };
    roots.retain(|root| root.as_os_str().is_empty() || root.is_dir());
    // A pattern that ends in `**` matches folders only.
    let is_for_files = !below.as_str().ends_with("**");
    let wants = |path: &Path| {
        let mut inner = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        is_for_files && inner.any(|path| below.matches_path_with(path, OPTIONS))
    };
    let (mut files, passed_over) = Walk::new(&|_| true, &wants).run(roots.clone())?;
    files.retain(|path| path.is_file());
    Ok((files, passed_over))
}

fn glob(pattern: &str) -> Result<Vec<PathBuf>> {
    let wrong = |error: glob::PatternError| Error::usage(pattern, "this is no pattern").because(error);
    let listed = |error: glob::GlobError| failed(pattern, "a folder cannot be listed", error.into());
    glob::glob(pattern).map_err(wrong)?.map(|path| path.map_err(listed)).collect()
}

/// True for the directory of a run, which is output even when it lies among the inputs.
fn is_run(folder: &Path) -> bool {
    folder.join("commits").is_dir() && folder.join("conversations").is_dir()
}

/// True for the directory of a store of nights.
fn is_store(folder: &Path) -> bool {
    let is_document = |entry: std::fs::DirEntry| is_night(&entry.file_name().to_string_lossy());
    let nights = folder.join("runs").is_dir().then(|| std::fs::read_dir(folder.join(NIGHTS)));
    nights.and_then(std::io::Result::ok).is_some_and(|mut names| names.any(|entry| entry.is_ok_and(is_document)))
}

/// That an argument is a store of nights.
fn store_among_inputs(argument: &str) -> Error {
    Error::usage(argument, "this is a store of nights, not a folder of logs").hinting(
        "restore its logs (`condenser restore STORE -o FOLDER`) and name that folder, or name one of its runs: STORE/runs/NIGHT",
    )
}

fn is_input(name: &str) -> bool {
    let plain = strip_codec(name);
    ENDINGS.iter().any(|ending| plain.rsplit_once('.').is_some_and(|(_, found)| found == *ending))
}

#[cfg(test)]
mod tests {
    use super::{inputs_among, is_input};

    #[test]
    fn runs_among_objects_are_output() {
        let names = ["a.jsonl", "b/c.jsonl.gz", "b/.d.jsonl", "r/commits/x.json", "r/conversations/y.jsonl", "z.txt"];
        let names = names.map(str::to_owned);
        assert_eq!(inputs_among(&names), ["a.jsonl", "b/c.jsonl.gz"]);
    }

    #[test]
    fn folders_give_what_their_names_promise() {
        assert!(is_input("a.jsonl") && is_input("a.ndjson.gz") && is_input("a.jsonl.zst") && is_input("a.parquet"));
        assert!(!is_input("README.md") && !is_input("a.txt.gz") && !is_input("jsonl"));
    }
}
