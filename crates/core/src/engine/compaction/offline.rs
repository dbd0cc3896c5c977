//! The summary of an archive without a model: quotations from what was found, fewer with every level. Knows how much is
//! shown, not how it was found.

use super::findings::Findings;
use crate::summary::Draft;
use crate::text::{cut, plain};

/// The last level; later rounds stay on it.
pub(super) const MAX_LEVEL: usize = 4;

/// A folder of so many levels is named once.
const MIN_FOLDERS: usize = 3;

/// How much a level shows.
struct Detail {
    requests: usize,
    rules: usize,
    decisions: usize,
    deeds: usize,
    errors: usize,
    /// Files by name; none are counted.
    files: usize,
    tools: usize,
    /// Characters of a quotation.
    width: usize,
    /// Characters of the summary before this one.
    earlier: usize,
}

const LEVELS: [Detail; MAX_LEVEL] = [
    Detail { requests: 8, rules: 4, decisions: 5, deeds: 3, errors: 3, files: 12, tools: 12, width: 240, earlier: 0 },
    Detail { requests: 5, rules: 3, decisions: 3, deeds: 2, errors: 2, files: 5, tools: 6, width: 180, earlier: 900 },
    Detail { requests: 3, rules: 2, decisions: 0, deeds: 1, errors: 1, files: 0, tools: 3, width: 140, earlier: 600 },
    Detail { requests: 1, rules: 0, decisions: 0, deeds: 0, errors: 0, files: 0, tools: 3, width: 120, earlier: 400 },
];

/// The summary at `level`, of at most `max_chars` characters.
pub(super) fn body(findings: &Findings<'_>, level: usize, max_chars: usize) -> Draft {
    let detail = &LEVELS[level.clamp(1, MAX_LEVEL) - 1];
    let mut page = Page { draft: Draft::default(), n_left: max_chars, width: detail.width };
    page.say(&turns(findings));
    page.list("Asked for:", &latest(&findings.requests, detail.requests));
    page.list("Rules:", &latest_of(&findings.rules, detail.rules));
    page.list("Decided:", &latest_of(&findings.decisions, detail.decisions));
    if level >= 2 && findings.deeds.len() > detail.deeds {
        page.say(&format!("Reported as done: {}", findings.deeds.len()));
    }
    page.list("Done last:", &latest_of(&findings.deeds, detail.deeds));
    page.list("Errors, the latest last:", &latest_of(&findings.errors, detail.errors));
    page.files("Files changed", &findings.changed, detail.files);
    page.files("Files read", &findings.read, detail.files);
    page.tools(findings, detail.tools);
    if let Some(announced) = findings.announced {
        page.list("In progress:", &[announced]);
    }
    if let Some(earlier) = &findings.earlier {
        page.earlier(earlier.body, earlier.level, detail.earlier);
    }
    page.draft
}

fn turns(findings: &Findings<'_>) -> String {
    let counts = [("user", findings.n_user), ("assistant", findings.n_assistant), ("tool", findings.n_tool)];
    let counts: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(|(role, n)| format!("{n} {role}")).collect();
    format!("Messages: {}", counts.join(", "))
}

/// The first one, which is the task, and the latest.
fn latest<'a>(all: &[&'a str], n: usize) -> Vec<&'a str> {
    match all.split_first() {
        Some((first, rest)) if n > 0 => std::iter::once(*first).chain(latest_of(rest, n - 1)).collect(),
        _ => Vec::new(),
    }
}

fn latest_of<'a>(all: &[&'a str], n: usize) -> Vec<&'a str> {
    all[all.len().saturating_sub(n)..].to_vec()
}

/// The folder that all files are in, with its last slash, when there are several and it is a deep one.
fn common_folder(files: &[String]) -> &str {
    let Some((first, rest)) = files.split_first().filter(|(_, rest)| !rest.is_empty()) else { return "" };
    let in_common = |file: &String| first.bytes().zip(file.bytes()).take_while(|(own, other)| own == other).count();
    let n_bytes = rest.iter().map(in_common).min().unwrap_or_default();
    let end = first.bytes().take(n_bytes).rposition(|byte| byte == b'/');
    let common = end.and_then(|end| first.get(..=end));
    common.filter(|folder| folder.matches('/').count() >= MIN_FOLDERS).unwrap_or_default()
}

/// Lines for as long as there is room; what does not fit is left out.
struct Page {
    draft: Draft,
    n_left: usize,
    width: usize,
}

impl Page {
    fn push(&mut self, line: &Draft) -> bool {
        let break_chars = usize::from(!self.draft.text.is_empty());
        let Some(n_left) = self.n_left.checked_sub(line.n_chars() + break_chars) else { return false };
        if break_chars > 0 {
            self.draft.say("\n");
        }
        self.draft.append(line);
        self.n_left = n_left;
        true
    }

    fn say(&mut self, words: &str) -> bool {
        let mut line = Draft::default();
        line.say(words);
        self.push(&line)
    }

    /// A heading and quotations under it.
    fn list(&mut self, heading: &str, quotes: &[&str]) {
        let mut is_headed = false;
        for quote in quotes {
            let mut line = Draft::default();
            if !is_headed {
                line.say(heading);
                line.say("\n");
            }
            line.say("- ");
            let mut flat = String::new();
            if cut::push_collapsed(&mut flat, &plain(quote)) > self.width {
                line.quote(cut::prefix(&flat, self.width));
                line.say("...");
            } else {
                line.quote(&flat);
            }
            is_headed |= self.push(&line);
        }
    }

    /// The latest files by name, the others by their number.
    fn files(&mut self, heading: &str, files: &[String], n_named: usize) {
        if files.is_empty() {
            return;
        }
        let mut line = Draft::default();
        if n_named == 0 {
            self.say(&format!("{heading}: {}", files.len()));
            return;
        }
        let named = &files[files.len().saturating_sub(n_named)..];
        let folder = common_folder(named);
        line.say(heading);
        if !folder.is_empty() {
            line.say(" in ");
            line.quote(folder);
        }
        line.say(": ");
        for (nth, file) in named.iter().enumerate() {
            line.say(if nth > 0 { ", " } else { "" });
            line.quote(file.strip_prefix(folder).unwrap_or(file));
        }
        if files.len() > named.len() {
            line.say(&format!(" and {} before", files.len() - named.len()));
        }
        if !self.push(&line) {
            self.say(&format!("{heading}: {}", files.len()));
        }
    }

    /// The tools that were used last.
    fn tools(&mut self, findings: &Findings<'_>, n_named: usize) {
        let tools = &findings.tools[findings.tools.len().saturating_sub(n_named)..];
        let tools: Vec<String> = tools.iter().rev().map(|(tool, n)| format!("{tool} ({n})")).collect();
        if !tools.is_empty() {
            self.say(&format!("Tools, the last used first: {}", tools.join(", ")));
        }
    }

    /// The beginning of the summary of an earlier round, by whole lines.
    fn earlier(&mut self, body: &str, level: usize, max_chars: usize) {
        let heading = format!("Before that (level {level}):");
        let mut n_left = max_chars.min(self.n_left.saturating_sub(heading.len() + 2));
        let mut told = Draft::default();
        for line in body.lines() {
            let n_chars = line.chars().count() + 1;
            if n_chars > n_left {
                break;
            }
            told.say("\n");
            told.quote_exact(line);
            n_left -= n_chars;
        }
        if told.text.is_empty() && n_left > 80 {
            told.say("\n");
            told.quote(cut::prefix(body, n_left - 4));
            told.say("...");
        }
        if !told.text.is_empty() {
            let mut passage = Draft::default();
            passage.say(&heading);
            passage.append(&told);
            self.push(&passage);
        }
    }
}
