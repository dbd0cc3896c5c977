//! Under which names sources are restored. The names are a function of the sources and their order alone; no two are
//! the same, none is the folder of another, and none is that of a file in the making. Knows names, no files.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::durable::is_unfinished;

/// File systems hold no longer names.
const MAX_NAME_BYTES: usize = 255;
/// A name that is too long keeps its beginning, and so much of its hash, in hex.
const HASH_DIGITS: usize = 16;
const STORED_ENDINGS: [&str; 3] = ["gz", "zst", "zstd"];

/// The path under which a source is restored: its own without the ending of a codec, without a root and without
/// steps upwards, so that it stays in the folder that it is restored to.
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

/// `name` without the ending of a codec.
pub(super) fn strip_codec(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((plain, ending)) if STORED_ENDINGS.contains(&ending) => plain,
        _ => name,
    }
}

/// A name for each of `sources`, which are their own paths and the numbers of their first parts: the path below the
/// folders that all have in common. A path that an earlier source has, that is a folder of another source, or that is
/// the name of a file in the making gives way: `part-NNNNN-` goes before its last name until it is free. With
/// `folds_case`, names are the same that differ in nothing but capitals.
pub fn restored_names(sources: &[(PathBuf, usize)], folds_case: bool) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = sources.iter().map(|(path, _)| path.components().map(cut).collect()).collect();
    while names.iter().all(|name| name.components().count() > 1) {
        let first = names.first().and_then(|name| name.components().next()).map(|root| root.as_os_str().to_owned());
        let Some(root) = first.filter(|root| names.iter().all(|name| name.starts_with(root))) else { break };
        names = names.iter().map(|name| name.strip_prefix(&root).unwrap_or(name).to_owned()).collect();
    }
    let key = |name: &Path| -> PathBuf {
        if folds_case { name.to_string_lossy().to_lowercase().into() } else { name.to_owned() }
    };
    // Folders keep their names: what lies in them would have to move too.
    let mut taken: BTreeSet<PathBuf> =
        names.iter().flat_map(|name| name.ancestors().skip(1).map(key).collect::<Vec<_>>()).collect();
    let mut is_free = |name: &Path| !is_unfinished(&file_name(name)) && taken.insert(key(name));
    let gives_way: Vec<usize> = (0..names.len()).filter(|&at| !is_free(&names[at])).collect();
    for at in gives_way {
        let name = &mut names[at];
        loop {
            let longer = format!("part-{:05}-{}", sources[at].1, file_name(name));
            *name = name.with_file_name(shortened(&longer));
            if is_free(name) {
                break;
            }
        }
    }
    names
}

fn file_name(name: &Path) -> String {
    name.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn cut(component: Component<'_>) -> String {
    shortened(&component.as_os_str().to_string_lossy())
}

/// `name`, or its beginning and its hash when no file system would take it.
fn shortened(name: &str) -> String {
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    let end = (0..MAX_NAME_BYTES - HASH_DIGITS).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{}~{}", name.get(..end).unwrap_or_default(), hash.get(..HASH_DIGITS).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::{restored_name, restored_names};

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

    fn names(sources: &[&str], folds_case: bool) -> Vec<String> {
        let sources: Vec<(PathBuf, usize)> = sources.iter().map(|source| restored_name(source)).zip(0..).collect();
        restored_names(&sources, folds_case).iter().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_name_that_is_taken_gives_way() {
        assert_eq!(names(&["in/a.jsonl", "in/b/a.jsonl"], false), ["a.jsonl", "b/a.jsonl"]);
        assert_eq!(
            names(&["a.jsonl", "a.jsonl.gz", "a.jsonl"], false),
            ["a.jsonl", "part-00001-a.jsonl", "part-00002-a.jsonl"]
        );
        assert_eq!(names(&["x.gz", "x/y", "x"], false), ["part-00000-x", "x/y", "part-00002-x"]);
        assert_eq!(names(&["a", "a.gz", "part-00001-a"], false), ["a", "part-00001-part-00001-a", "part-00001-a"]);
        assert_eq!(names(&[".condenser-1.tmp", "a"], false), ["part-00000-.condenser-1.tmp", "a"]);
        assert_eq!(names(&["A", "a", "X/y", "x"], false), ["A", "a", "X/y", "x"]);
        assert_eq!(names(&["A", "a", "X/y", "x"], true), ["A", "part-00001-a", "X/y", "part-00003-x"]);
    }

    #[test]
    fn names_are_no_longer_than_file_systems_take_them() {
        let long = "é".repeat(127);
        let longer = format!("s3://bucket/{}/{long}x", "y".repeat(300));
        let found = names(&[&long, &long, &longer], false);
        assert!(found.iter().flat_map(|name| name.split('/')).all(|name| name.len() <= 255), "{found:?}");
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(found.first(), Some(&long));
    }
}
