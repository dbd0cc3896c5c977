//! Every command of README and of the pages in `docs/` is run, in the order in which a reader meets it, in a folder with
//! logs, beside a store and a model on loopback. Comments that readers do not see say what a page needs:
//! `<!-- setup … -->` is run before a block, `<!-- file: NAME -->` writes the block into a file, `<!-- run: exit N -->`
//! says how its last command ends, and `<!-- run: no, WHY -->` that it cannot be run here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::support::dir::TestDir;
use crate::support::llm_server::{LlmServer, Play};
use crate::support::s3::S3;

/// So many blocks at most cannot be run here.
const MAX_LEFT_OUT: usize = 8;
/// So many words at most are in README and the pages.
const MAX_WORDS: usize = 16_000;

/// A fenced block with the comments above it.
#[derive(Debug, Default)]
struct Fenced {
    language: String,
    text: String,
    comments: Vec<String>,
    line: usize,
}

impl Fenced {
    fn comment(&self, name: &str) -> Option<&str> {
        self.comments.iter().find_map(|comment| comment.strip_prefix(name).map(str::trim))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(root().join("docs")).expect("the pages").map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

fn blocks(page: &str) -> Vec<Fenced> {
    let (mut found, mut comments) = (Vec::new(), Vec::new());
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(comment) = line.strip_prefix("<!--") {
            let mut comment = comment.to_owned();
            while !comment.contains("-->") {
                let (_, line) = lines.next().expect("the comment ends");
                comment = format!("{comment}\n{line}");
            }
            comments.push(comment.replace("-->", "").trim().to_owned());
        } else if let Some(language) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            let (language, text) = (language.to_owned(), text.join("\n") + "\n");
            found.push(Fenced { language, text, comments: std::mem::take(&mut comments), line: at + 1 });
        } else {
            assert!(
                comments.is_empty() || line.is_empty(),
                "line {}: a comment stands before no block: {comments:?}",
                at + 1
            );
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("the folder is there") {
        let entry = entry.expect("an entry");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).expect("a file can be copied");
        }
    }
}

/// Runs the blocks of a page and returns how many were run, and why others were not.
fn run(page: &Path, environment: &BTreeMap<String, String>) -> (usize, Vec<String>) {
    let dir = TestDir::new();
    copy(&root().join("jobs"), &dir.path("jobs"));
    copy(&root().join("jobs/sample"), &dir.path("logs"));
    let programs = Path::new(env!("CARGO_BIN_EXE_condenser")).parent().expect("it lies in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([programs.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let (mut n_run, mut left_out) = (0, Vec::new());
    for block in blocks(&std::fs::read_to_string(page).expect("UTF-8")) {
        let place = format!("{}:{}", page.display(), block.line);
        for comment in &block.comments {
            let is_known = ["setup", "file:", "run: exit ", "run: no, "].iter().any(|known| comment.starts_with(known));
            assert!(is_known, "{place}: what does `{comment}` say?");
        }
        if block.language == "toml" {
            block.text.parse::<toml::Table>().unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        if let Some(name) = block.comment("file:") {
            dir.write(name, &block.text);
        }
        if block.language != "sh" {
            continue;
        }
        if let Some(why) = block.comment("run: no, ") {
            left_out.push(format!("{place}: {why}"));
            continue;
        }
        let code = block.comment("run: exit ").map_or(0, |code| code.parse().expect("a number"));
        let script = format!("{}\n{}", block.comment("setup").unwrap_or_default(), block.text);
        let mut command = Command::new("bash");
        command.args(["-e", "-o", "pipefail", "-c", &script]).current_dir(dir.root());
        command.env("PATH", path.as_ref().expect("a path")).env("OPENAI_API_KEY", "key-for-tests").envs(environment);
        let told = command.output().expect("bash runs");
        let (out, err) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
        assert_eq!(told.status.code(), Some(code), "{place}\n{script}\n{err}\n{out}");
        assert!(!err.contains("panicked at"), "{place}\n{err}");
        n_run += 1;
    }
    (n_run, left_out)
}

#[test]
fn every_command_of_the_pages_runs() {
    let dir = TestDir::new();
    let store = S3::start(dir.root());
    copy(&root().join("jobs/sample"), &store.path("logs"));
    let model = LlmServer::start(|_| Play::text("It was discussed."));
    let mut environment = store.environment();
    environment.insert("LLM_URL".to_owned(), model.base_url());
    let told: Vec<(usize, Vec<String>)> = pages().par_iter().map(|page| run(page, &environment)).collect();
    let n_run: usize = told.iter().map(|(n_run, _)| n_run).sum();
    let left_out: Vec<&String> = told.iter().flat_map(|(_, left_out)| left_out).collect();
    println!("{n_run} blocks were run; not run here: {left_out:#?}");
    assert!(n_run > 30, "{n_run} blocks were run");
    assert!(left_out.len() <= MAX_LEFT_OUT, "{left_out:#?}");
    assert!(store.server.seen().len() > 3 && model.n_arrived() > 0, "the store and the model were asked");
}

#[test]
fn pages_are_short_and_their_links_lead_somewhere() {
    let mut n_words = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("UTF-8");
        n_words += text.split_whitespace().count();
        let folder = page.parent().expect("it lies in a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            if file.contains("://") {
                continue;
            }
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let text = std::fs::read_to_string(&target).expect("UTF-8");
                let is_there = text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor);
                assert!(is_there, "{}: {link}", page.display());
            }
        }
    }
    assert!(n_words <= MAX_WORDS, "{n_words} words");
}

/// The anchor that a forge gives to a heading.
fn slug(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
