//! Which file of a crate uses which: the paths of its imports and of its code, followed through what is published again
//! to the file that declares it.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

/// A module by the names that lead to it.
type Module = Vec<String>;

/// The files of a crate by their modules, each with its code.
pub(crate) struct Crate<'c> {
    files: BTreeMap<Module, Names<'c>>,
}

/// What a file names.
#[derive(Default)]
struct Names<'c> {
    /// Paths that it uses.
    used: Vec<Vec<&'c str>>,
    /// Paths that it publishes again, by their names there.
    published: BTreeMap<&'c str, Vec<&'c str>>,
}

impl<'c> Crate<'c> {
    pub(crate) fn new(files: impl IntoIterator<Item = (Module, &'c str)>) -> Self {
        let import = Regex::new(r"(?m)^\s*(pub(?:\([a-z: ]+\))?\s+)?use\s+([^;]+);").expect("a pattern");
        let path = Regex::new(r"\b[a-z_]\w*(?:::\w+)+").expect("a pattern");
        let type_name = Regex::new(r"\b[A-Z]\w*").expect("a pattern");
        let read = |code: &'c str| {
            let mut names = Names::default();
            // What stands between the imports.
            let (mut bodies, mut rest) = (Vec::new(), 0);
            for found in import.captures_iter(code) {
                let whole = found.get(0).expect("a match");
                bodies.push(code.get(rest..whole.start()).unwrap_or_default());
                rest = whole.end();
                for (path, name) in imported(found.get(2).expect("a tree").as_str(), &[]) {
                    match found.get(1) {
                        Some(_) => drop(names.published.insert(name, path)),
                        None => names.used.push(path),
                    }
                }
            }
            bodies.push(code.get(rest..).unwrap_or_default());
            let lines = bodies.into_iter().flat_map(str::lines).filter(|line| !line.trim_start().starts_with("//"));
            let mut types = BTreeSet::new();
            for line in lines {
                // A path in `pub(in …)` uses nothing.
                let line =
                    line.split_once("pub(in ").map_or(line, |(_, after)| after.split_once(')').unwrap_or_default().1);
                names.used.extend(path.find_iter(line).map(|path| path.as_str().split("::").collect()));
                types.extend(type_name.find_iter(line).map(|name| name.as_str()));
            }
            // Types that the same file publishes and uses.
            names
                .used
                .extend(names.published.iter().filter(|(name, _)| types.contains(*name)).map(|(_, path)| path.clone()));
            names
        };
        Self { files: files.into_iter().map(|(module, code)| (module, read(code))).collect() }
    }

    /// The files that a file uses, without itself.
    fn used_by(&self, module: &Module) -> BTreeSet<&Module> {
        let used = self.files[module].used.iter().filter_map(|path| self.declaring(module, path, 0));
        used.filter(|used| *used != module).collect()
    }

    /// The file that declares what `path` means in `module`; `None` when it is of another crate.
    fn declaring(&self, module: &Module, path: &[&str], depth: usize) -> Option<&Module> {
        let own = |names: &[String], rest: &[&str]| -> Module {
            names.iter().cloned().chain(rest.iter().map(|&name| name.to_owned())).collect()
        };
        let absolute = match path {
            ["crate", rest @ ..] => own(&[], rest),
            ["self", rest @ ..] => own(module, rest),
            ["super", rest @ ..] => own(module.split_last()?.1, rest),
            [first, ..] if self.files.contains_key(&own(module, &[first])) => own(module, path),
            _ => return None,
        };
        let known = (0..=absolute.len()).rev().find(|&n| self.files.contains_key(&absolute[..n]))?;
        let (file, names) = self.files.get_key_value(&absolute[..known])?;
        let published = absolute.get(known).and_then(|name| names.published.get(name.as_str()));
        match published.filter(|_| depth < 8) {
            Some(path) => {
                let rest = absolute[known + 1..].iter().map(String::as_str);
                self.declaring(file, &path.iter().copied().chain(rest).collect::<Vec<_>>(), depth + 1)
            }
            None => Some(file),
        }
    }

    /// The uses that lead in a circle, a line each.
    pub(crate) fn circles(&self) -> Vec<String> {
        let uses: BTreeMap<&Module, BTreeSet<&Module>> =
            self.files.keys().map(|module| (module, self.used_by(module))).collect();
        let leads_to = |from: &Module, to: &Module| {
            let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
            while let Some(file) = open.pop() {
                open.extend(uses[file].iter().filter(|used| seen.insert(used)));
            }
            seen.contains(to)
        };
        let all = uses.iter().flat_map(|(file, used)| used.iter().map(move |used| (*file, *used)));
        let circular = all.filter(|(file, used)| leads_to(used, file));
        circular.map(|(file, used)| format!("{} uses {}", file.join("::"), used.join("::"))).collect()
    }
}

/// The paths of an import tree, and the name that each has from then on.
fn imported<'c>(tree: &'c str, prefix: &[&'c str]) -> Vec<(Vec<&'c str>, &'c str)> {
    let mut paths = Vec::new();
    for branch in branches(tree) {
        let (head, inner) = match branch.split_once('{') {
            Some((head, inner)) => (head.trim().trim_end_matches("::"), inner.trim_end().strip_suffix('}')),
            None => (branch, None),
        };
        let (head, renamed) = head.split_once(" as ").map_or((head, None), |(head, name)| (head, Some(name.trim())));
        let mut path: Vec<&str> = prefix.to_vec();
        path.extend(head.split("::").map(str::trim).filter(|name| !name.is_empty()));
        if let Some(inner) = inner {
            paths.extend(imported(inner, &path));
        } else {
            if path.len() > 1 && path.last() == Some(&"self") {
                path.pop();
            }
            let name = renamed.or(path.last().copied()).unwrap_or_default();
            paths.push((path, name));
        }
    }
    paths
}

/// The parts of a tree between commas that stand in no braces.
fn branches(tree: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(tree.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(tree.get(start..).unwrap_or_default());
    found.into_iter().map(str::trim).filter(|branch| !branch.is_empty()).collect()
}
