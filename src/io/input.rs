//! From what the user typed to inputs: paths, folders, patterns and stdin. Knows names, not what files hold.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::failed;
use super::store::{Location, Place, Stores};
use crate::error::{Error, ErrorKind, Result};

const ENDINGS: [&str; 11] =
    ["jsonl", "ndjson", "json", "traj", "parquet", "pq", "parq", "arrow", "arrows", "feather", "ipc"];
const STORED_ENDINGS: [&str; 3] = ["gz", "zst", "zstd"];

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name as the user gave it, or made from it.
    pub name: String,
    /// The file; `None` for stdin.
    pub file: Option<Place>,
}

/// The inputs that `arguments` stand for: files, folders (all inputs below them, by name), patterns, and `-`
/// for stdin. The order is that of the arguments. A run stands for its conversations, and runs inside a folder
/// are passed over.
///
/// # Errors
/// When an argument stands for nothing.
pub fn expand(arguments: &[String], stores: &Stores) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument == "-" {
            inputs.push(Input { name: "-".to_owned(), file: None });
            continue;
        }
        let location = Location::parse(argument)?;
        let Some(path) = location.as_local() else {
            inputs.extend(remote(&Place::new(stores, location), stores)?);
            continue;
        };
        if path.is_dir() {
            let before = inputs.len();
            // Of a run, what it holds for a reader: its conversations.
            let folder = if is_run(path) { path.join("conversations") } else { path.to_owned() };
            walk(&folder, &mut inputs)?;
            if inputs.len() == before {
                return Err(Error::new(
                    ErrorKind::Usage,
                    argument,
                    "the folder holds no inputs (*.jsonl, *.ndjson, *.json, *.traj, also .gz or .zst; *.parquet, *.arrow)",
                ));
            }
        } else if path.exists() {
            inputs.push(local(argument.clone(), path.to_owned()));
        } else {
            inputs.extend(matches_of(&path.to_string_lossy())?);
        }
    }
    if inputs.iter().filter(|input| input.file.is_none()).count() > 1 {
        return Err(Error::new(ErrorKind::Usage, "-", "stdin can be read only once"));
    }
    Ok(inputs)
}

fn local(name: String, path: PathBuf) -> Input {
    Input { name, file: Some(path.into()) }
}

/// The inputs that an address stands for: an object, what a pattern matches, or what lies below a folder.
fn remote(place: &Place, stores: &Stores) -> Result<Vec<Input>> {
    let location = place.location();
    let input = |location: Location| Input { name: location.to_string(), file: Some(Place::new(stores, location)) };
    let usage = |message: &str| Err(Error::new(ErrorKind::Usage, location.to_string(), message));
    // What looks like a file is asked for first: who may read it may not be allowed to list.
    let is_file = |place: &Place| Ok::<_, Error>(!location.has_pattern() && place.exists()?);
    let looks_like_file = location.is_web() || location.file_name().contains('.');
    if looks_like_file && is_file(place)? {
        return Ok(vec![input(location.clone())]);
    }
    if location.is_web() {
        return usage("there is nothing under this address");
    }
    let found: Vec<Input> = if location.has_pattern() {
        stores.matches(location)?.into_iter().map(|listed| input(listed.location)).collect()
    } else {
        let names: Vec<String> = place.names()?.into_keys().collect();
        inputs_among(&names).into_iter().map(|name| input(location.join(name))).collect()
    };
    if found.is_empty() && !looks_like_file && is_file(place)? {
        return Ok(vec![input(location.clone())]);
    }
    if found.is_empty() {
        return usage("there is no such object, and none below it or matching it that holds JSON lines");
    }
    Ok(found)
}

/// The inputs among the names of the files of a folder, as [`walk`] finds them on disk.
fn inputs_among(names: &[String]) -> Vec<&String> {
    const MARKS: [&str; 2] = ["commits", "conversations"];
    let folders = |mark: &str| -> BTreeSet<&str> {
        let begins = |name: &str| {
            let top = name.starts_with(&format!("{mark}/"));
            if top { Some(0) } else { name.find(&format!("/{mark}/")) }
        };
        names.iter().filter_map(|name| name.get(..begins(name)?)).collect()
    };
    let [commits, conversations] = MARKS.map(folders);
    let runs: Vec<&str> = commits.intersection(&conversations).copied().collect();
    let is_input = |name: &&String| {
        let last = name.rsplit('/').next().unwrap_or_default();
        let in_run = runs.iter().any(|run| match *run {
            // Of a run, what it holds for a reader.
            "" => !name.starts_with("conversations/"),
            run => name.strip_prefix(run).is_some_and(|rest| rest.starts_with('/')),
        });
        !in_run && !name.split('/').any(|part| part.starts_with('.')) && is_input(last)
    };
    names.iter().filter(is_input).collect()
}

fn matches_of(pattern: &str) -> Result<Vec<Input>> {
    let nothing =
        || Error::new(ErrorKind::Usage, pattern, "there is no such file, and no file matches it as a pattern");
    let paths = glob::glob(pattern).map_err(|error| nothing().because(error))?;
    let mut inputs = Vec::new();
    for path in paths {
        let path = path.map_err(|error| failed(pattern, "a folder cannot be listed", error.into()))?;
        if path.is_file() {
            inputs.push(local(path.to_string_lossy().into_owned(), path));
        }
    }
    inputs.sort_by(|a, b| a.name.cmp(&b.name));
    if inputs.is_empty() { Err(nothing()) } else { Ok(inputs) }
}

fn walk(folder: &Path, inputs: &mut Vec<Input>) -> Result<()> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    let paths = list().map_err(|error| failed(folder.to_string_lossy(), "the folder cannot be listed", error))?;
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            if !is_run(&path) {
                walk(&path, inputs)?;
            }
        } else if is_input(&name) {
            inputs.push(local(path.to_string_lossy().into_owned(), path));
        }
    }
    Ok(())
}

/// True for the directory of a run, which is output even when it lies among the inputs.
fn is_run(folder: &Path) -> bool {
    folder.join("commits").is_dir() && folder.join("conversations").is_dir()
}

fn is_input(name: &str) -> bool {
    let plain = strip_codec(name);
    ENDINGS.iter().any(|ending| plain.rsplit_once('.').is_some_and(|(_, found)| found == *ending))
}

fn strip_codec(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((plain, ending)) if STORED_ENDINGS.contains(&ending) => plain,
        _ => name,
    }
}

/// The path under which a source is restored: its own without the ending of a codec, without a root and without
/// steps upwards, so that it stays in the folder that it is restored to.
#[must_use]
pub fn restored_name(source: &str) -> PathBuf {
    if source == "-" {
        return PathBuf::from("stdin.jsonl");
    }
    // Of an address, bucket or server and what follows.
    let source = source.split_once("://").map_or(source, |(_, rest)| rest);
    let parts = source.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
    let path: PathBuf = parts.collect();
    match path.file_name().map(|name| strip_codec(&name.to_string_lossy()).to_owned()) {
        Some(name) if !name.is_empty() => path.with_file_name(name),
        _ => PathBuf::from("restored.jsonl"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{inputs_among, is_input, restored_name};

    #[test]
    fn restored_names_lose_the_codec_and_stay_in_their_folder() {
        let check = |source: &str, name: &str| assert_eq!(restored_name(source), Path::new(name));
        check("logs/a.jsonl.zst", "logs/a.jsonl");
        check("/data/b.jsonl.gz", "data/b.jsonl");
        check("../../c.jsonl", "c.jsonl");
        check("-", "stdin.jsonl");
        check("..", "restored.jsonl");
        check("s3://bucket/logs/a.jsonl.zst", "bucket/logs/a.jsonl");
    }

    #[test]
    fn runs_among_objects_are_output() {
        let names = ["a.jsonl", "b/c.jsonl.gz", "b/.d.jsonl", "r/commits/x.json", "r/conversations/y.jsonl", "z.txt"];
        let names = names.map(str::to_owned);
        assert_eq!(inputs_among(&names), ["a.jsonl", "b/c.jsonl.gz"]);
        let run = ["commits/x.json", "conversations/y.jsonl.zst", "metrics/y.jsonl.zst"].map(str::to_owned);
        assert_eq!(inputs_among(&run), ["conversations/y.jsonl.zst"]);
    }

    #[test]
    fn folders_give_what_their_names_promise() {
        assert!(is_input("a.jsonl") && is_input("a.ndjson.gz") && is_input("a.jsonl.zst") && is_input("a.parquet"));
        assert!(!is_input("README.md") && !is_input("a.txt.gz") && !is_input("jsonl"));
    }
}
