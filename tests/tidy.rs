//! Rules of the house as ordinary tests: floors, circles, names, headers, sizes.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

mod uses;

use uses::Crate;

/// Lines before the tests of a file; a longer one is to be redesigned.
const MAX_LINES: usize = 700;
/// Lines up to which no reason is asked for.
const USUAL_LINES: usize = 400;

/// Why a file is longer than most.
const LONG: &[(&str, &str)] = &[
    ("engine/budget/converge.rs", "the last resort and the runs that it makes and takes apart again"),
    ("engine/fill.rs", "one type, `Filler`, writes every text and holds it against its sources"),
    ("text/line/code.rs", "words that begin statements in twenty languages, and what must follow them"),
    ("text/line/output.rs", "one test for each kind of line that programs print"),
    ("shape/json.rs", "the scanner, and what is cut out of what it has read"),
    ("walk/mod.rs", "one message after the other: what is known of it, what is shown of it, what is written"),
    ("walk/tests.rs", "a small conversation for each rule of the walk"),
    ("uses/find.rs", "two passes over one set of needles, and what is asked of them afterwards"),
    ("uses/needles.rs", "what is looked for, what it hangs on, and what is noted of it"),
    ("adapters/yaml.rs", "a format: its lines, its lists and its texts in blocks"),
    ("text/atoms.rs", "one judgement with a test for each kind of name"),
    ("text/facts.rs", "one walk over a line with a finder for each kind of fact"),
    ("text/lexer.rs", "the state of the one pass over a text"),
    ("cli/args.rs", "every argument of every command, with its help"),
    ("io/run_find.rs", "what each table knows of one conversation"),
    ("report/view.rs", "everything that a document can show, and how a value is written"),
    ("views/report.rs", "one section of a report each"),
];

const FLOORS: &[(&str, u8)] = &[
    ("error", 0),
    ("backoff", 0),
    ("durable", 0),
    ("tls", 0),
    ("model", 1),
    ("text", 2),
    ("shape", 2),
    ("chat", 3),
    ("stage", 3),
    ("summary", 3),
    ("walk", 3),
    ("engine", 4),
    ("compressor", 5),
    ("pipeline", 5),
    ("report", 6),
    ("io", 6),
    ("llm", 6),
    ("app", 7),
    ("cli", 8),
];

struct Source {
    path: PathBuf,
    /// Without the tests at its end.
    code: String,
}

impl Source {
    fn module(&self) -> String {
        let relative = roots().iter().find_map(|root| self.path.strip_prefix(root).ok().map(Path::to_path_buf));
        let relative = relative.expect("a file of a root");
        let first = relative.components().next().expect("a component").as_os_str().to_string_lossy().into_owned();
        first.trim_end_matches(".rs").to_owned()
    }
}

/// Where the sources are: the engine is a crate of its own.
fn roots() -> [PathBuf; 2] {
    ["src", "crates/core/src"].map(|root| Path::new(env!("CARGO_MANIFEST_DIR")).join(root))
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = Vec::from(roots());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
                found.push(Source { path, code });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 20, "the sources are where they should be");
    found
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|&(_, floor)| floor)
}

#[test]
fn each_floor_uses_only_floors_below() {
    let mut wrong = Vec::new();
    for source in sources() {
        let module = source.module();
        let Some(own) = floor(&module) else { continue };
        let roots: &[&str] = if module == "cli" { &["crate::", "condenser::"] } else { &["crate::"] };
        for line in source.code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for used in roots.iter().flat_map(|root| line.split(root).skip(1)) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if name != module && floor(&name).is_some_and(|other| other >= own) {
                    wrong.push(format!("{}: {}", source.path.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let sources = sources();
    for root in roots() {
        let mut files = Vec::new();
        for source in &sources {
            let Ok(path) = source.path.strip_prefix(&root) else { continue };
            let names = path.with_extension("");
            let names = names.iter().map(|name| name.to_string_lossy().into_owned());
            let module = names.filter(|name| !matches!(name.as_str(), "mod" | "lib" | "main")).collect();
            if !path.ends_with("main.rs") {
                files.push((module, source.code.as_str()));
            }
        }
        let circles = Crate::new(files).circles();
        assert!(circles.is_empty(), "{}:\n{}", root.display(), circles.join("\n"));
    }
}

#[test]
fn circles_of_files_are_seen() {
    let circles = |files: &[(&str, &'static str)]| {
        let module = |name: &str| name.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Crate::new(files.iter().map(|&(name, code)| (module(name), code))).circles()
    };
    let a = "pub use b::{Deep as Shown, self};\nfn f() {}";
    assert_eq!(circles(&[("a", a), ("a::b", "struct Deep;")]), Vec::<String>::new(), "to publish is not to use");
    assert_eq!(
        circles(&[("a", "mod b;\nfn f() { b::g() }"), ("a::b", "use super::f;")]),
        ["a uses a::b", "a::b uses a"]
    );
    let c = "use crate::a::{\n    Shown,\n    f,\n};";
    assert_eq!(circles(&[("a", a), ("a::b", "fn g() { crate::c::h() }"), ("c", c)]), ["a::b uses c", "c uses a::b"]);
    assert!(circles(&[("a", a), ("a::b", "// crate::c::h\nuse std::fmt;"), ("c", c)]).is_empty());
}

/// Names of public types that stand more than once in `codes`. What only a module and its folder see does not count.
fn doubles<'s>(codes: impl Iterator<Item = &'s str>) -> Vec<&'s str> {
    let mut seen = HashSet::new();
    let words = codes.flat_map(str::lines).filter_map(|line| {
        let line = line.trim_start();
        let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "))?;
        let (kind, name) = rest.split_once(' ')?;
        let is_type = matches!(kind, "struct" | "enum" | "trait" | "type" | "union");
        is_type.then(|| name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
    });
    words.filter(|name| !seen.insert(*name)).collect()
}

#[test]
fn the_name_of_a_public_type_stands_once() {
    let sources = sources();
    let doubles = doubles(sources.iter().map(|source| source.code.as_str()));
    assert!(doubles.is_empty(), "{}", doubles.join("\n"));
}

#[test]
fn doubles_are_seen() {
    let doubles = |codes: &[&'static str]| doubles(codes.iter().copied());
    assert_eq!(doubles(&["pub struct Line<'a> {", "/// Line\n    pub(crate) enum Line {"]), ["Line"]);
    assert_eq!(doubles(&["pub type Line = u8;\npub trait Line: Sync {}\npub enum Lines {"]), ["Line"]);
    assert!(doubles(&["pub struct Line;", "struct Line;\npub(super) enum Line {}\n// pub struct Line"]).is_empty());
}

#[test]
fn every_module_stands_on_a_floor() {
    for source in sources() {
        let module = source.module();
        assert!(
            floor(&module).is_some() || matches!(module.as_str(), "lib" | "main"),
            "{} has no floor",
            source.path.display()
        );
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for source in sources() {
        assert!(source.code.starts_with("//! "), "{} has no header", source.path.display());
    }
}

/// What writes to the terminal, by whatever name. Everything that is told passes the filter of `cli::screen`.
const WAYS_OUT: [&str; 12] = [
    "stdout()",
    "stderr()",
    "println!(",
    "print!(",
    "eprintln!(",
    "eprint!(",
    "dbg!(",
    "Term::",
    "ProgressDrawTarget::",
    "/dev/tty",
    "Cli::parse(",
    ".print()",
];

/// True when `line` holds `way`, and not as the end of another name.
fn holds(line: &str, way: &str) -> bool {
    line.match_indices(way).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        way.starts_with(['.', '/']) || !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn only_the_screen_writes_to_the_terminal() {
    let mut n_ways = 0;
    for source in sources() {
        let is_screen = source.path.ends_with("cli/screen.rs");
        for (number, line) in source.code.lines().enumerate() {
            let line = line.split("//").next().unwrap_or_default();
            let way = WAYS_OUT.iter().find(|way| holds(line, way));
            n_ways += usize::from(way.is_some());
            assert!(is_screen || way.is_none(), "{}:{}: {line}", source.path.display(), number + 1);
        }
    }
    assert!(n_ways > 3, "the screen itself was looked at");
}

#[test]
fn files_stay_small_and_imports_plain() {
    for source in sources() {
        let n_lines = source.code.lines().count();
        assert!(n_lines <= MAX_LINES, "{} has {n_lines} lines", source.path.display());
        let has_reason = LONG.iter().any(|(file, _)| source.path.ends_with(file));
        let is_long = n_lines > USUAL_LINES;
        assert!(
            is_long == has_reason,
            "{} has {n_lines} lines; a reason stands beside longer ones",
            source.path.display()
        );
        assert!(!source.code.contains("super::super"), "{}", source.path.display());
        assert!(
            !source.code.lines().any(|line| line.starts_with("use ") && line.ends_with("::*;")),
            "{}",
            source.path.display()
        );
        assert!(!source.code.contains(".unwrap()"), "{}", source.path.display());
    }
}
