//! Lines of the output of tools that say nothing: tests that passed, steps of a build, what installers print, what lies
//! in folders that nobody wrote. Knows the signs of such lines; refuses to know messages.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::lexed::{LineKind, Severity, Span};
use super::view::TextView;
use super::words::word_list;

/// Fewer passing tests in a text stay.
const MIN_PASSING: usize = 10;
/// Fewer lines of an installer in a text stay.
const MIN_INSTALLER: usize = 3;
/// Fewer neighbours of one kind stay: what stands for them is a line too.
const MIN_RUN: usize = 3;
/// Fewer steps, and fewer entries of a folder, stay.
const MIN_STEPS: usize = 5;
/// A longer line is no noise.
const MAX_LINE: usize = 400;

/// A passage that is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Where it stands; whole lines.
    pub span: Span,
    /// What it is.
    pub kind: CutKind,
    /// How many lines, for [`CutKind::Echo`] and what is superseded how many characters.
    pub n: usize,
}

/// What is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CutKind {
    /// What lies in folders such as `node_modules`.
    Entries,
    /// Steps of a build but for the first and the last.
    Steps,
    /// What installers of packages print.
    Installer,
    /// Tests that passed.
    Passing,
    /// What one of the last messages of the assistant says.
    Echo,
    /// The content of a file that is written later.
    SupersededByWrite,
    /// The content of a file that is read again later.
    SupersededByRead,
}

impl Cut {
    /// What stands in its place.
    #[must_use]
    pub fn marker(&self) -> String {
        let n = self.n;
        match self.kind {
            CutKind::Entries => format!("[... {n} directory entries omitted ...]"),
            CutKind::Steps => format!("[... {n} build steps omitted ...]"),
            CutKind::Installer => format!("[... {n} package manager lines omitted ...]"),
            CutKind::Passing => format!("[... {n} passing test lines omitted ...]"),
            CutKind::Echo => format!("[content from preceding turn omitted ({n} chars)]"),
            CutKind::SupersededByWrite => {
                format!("[file content omitted — superseded by a later write ({n} chars original)]")
            }
            CutKind::SupersededByRead => {
                format!("[file content omitted — superseded by a later read ({n} chars original)]")
            }
        }
    }
}

/// True for a text that shows a diff or patch: its signs are no check marks.
#[must_use]
pub fn is_diff(view: &TextView<'_>) -> bool {
    view.lines.iter().any(|line| {
        let text = line.span.of(view.text);
        text.starts_with("@@ -") || text.starts_with("diff --git ") || text.starts_with("*** Begin Patch")
    })
}

/// True when words, such as the arguments of a call, ask for what lies in a folder that nobody wrote.
#[must_use]
pub fn names_noise_folder(words: &str) -> bool {
    words.split(['/', ' ', '"', '\'', '\\', '*', ',']).any(is_noise_folder)
}

/// The noise of a text, in order; nothing for a diff. Failures, warnings of tests and totals are never noise.
#[must_use]
pub fn noise(view: &TextView<'_>) -> Vec<Cut> {
    if is_diff(view) {
        return Vec::new();
    }
    let labels = labels(view);
    let n_of = |kind: CutKind| labels.iter().filter(|label| **label == Some(kind)).count();
    let enough = |kind: CutKind| match kind {
        CutKind::Passing => n_of(kind) >= MIN_PASSING,
        CutKind::Installer => n_of(kind) >= MIN_INSTALLER,
        _ => true,
    };
    let wanted =
        [CutKind::Entries, CutKind::Steps, CutKind::Installer, CutKind::Passing].map(|kind| (kind, enough(kind)));
    let is_wanted = |kind: CutKind| wanted.contains(&(kind, true));
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < labels.len() {
        let Some(kind) = labels[at].filter(|&kind| is_wanted(kind)) else {
            at += 1;
            continue;
        };
        // Blank lines between lines of one kind go with them.
        let (mut end, mut next, mut n) = (at, at, 0);
        while next < labels.len() && (labels[next] == Some(kind) || view.lines[next].kind == LineKind::Blank) {
            if labels[next] == Some(kind) {
                (end, n) = (next + 1, n + 1);
            }
            next += 1;
        }
        if n >= MIN_RUN {
            let span = Span { start: view.lines[at].span.start, end: view.lines[end - 1].span.end };
            cuts.push(Cut { span, kind, n });
        }
        at = next.max(at + 1);
    }
    cuts
}

/// What each line is.
fn labels(view: &TextView<'_>) -> Vec<Option<CutKind>> {
    let trimmed = |at: usize| view.lines[at].span.of(view.text).trim();
    let passed = passed_names(view);
    let mut labels: Vec<Option<CutKind>> = (0..view.lines.len())
        .map(|at| {
            let (line, text) = (&view.lines[at], trimmed(at));
            let fits = !text.is_empty() && text.len() <= MAX_LINE;
            if !fits || matches!(line.severity, Severity::Failure | Severity::Totals) {
                None
            } else if is_installer(text) {
                Some(CutKind::Installer)
            } else if line.severity != Severity::Warning && is_passing(text, &passed) {
                Some(CutKind::Passing)
            } else {
                None
            }
        })
        .collect();
    label_steps(view, &mut labels);
    label_entries(view, &mut labels);
    labels
}

/// Runs of `[n/m]`, but for the first and the last of each.
fn label_steps(view: &TextView<'_>, labels: &mut [Option<CutKind>]) {
    let is_free = |at: usize, labels: &[Option<CutKind>]| {
        let is_quiet = matches!(view.lines[at].severity, Severity::None | Severity::Success);
        labels[at].is_none_or(|kind| kind == CutKind::Installer) && is_quiet
    };
    let mut at = 0;
    while at < labels.len() {
        let first = at;
        let mut last = None;
        while at < labels.len() && is_free(at, labels) {
            let Some(step) = step(view.lines[at].span.of(view.text).trim()) else { break };
            if last.is_some_and(|(n, of)| of != step.1 || n > step.0) {
                break;
            }
            last = Some(step);
            at += 1;
        }
        if at - first >= MIN_STEPS {
            labels[first] = None;
            labels[at - 1] = None;
            labels[first + 1..at - 1].fill(Some(CutKind::Steps));
        }
        at += usize::from(at == first);
    }
}

/// `[3/12] …`, `3/12 …`, `Step 3/12`, `#8 [3/12]`, `[ 25%] …`: which step of how many.
fn step(line: &str) -> Option<(u32, u32)> {
    let line = line.strip_prefix("Step ").unwrap_or(line);
    let line =
        line.strip_prefix('#').map_or(line, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start());
    let (inner, is_bracketed) = match line.strip_prefix(['[', '(']) {
        Some(rest) => (rest.split([']', ')']).next()?, true),
        None => (line.split([' ', ':', '\t']).next()?, false),
    };
    if let Some(percent) = inner.strip_suffix('%').filter(|_| is_bracketed) {
        return Some((percent.trim().parse().ok()?, 100));
    }
    // `[builder 3/12]`
    let inner = if is_bracketed { inner.rsplit(' ').next()? } else { inner };
    let (n, of) = inner.split_once('/')?;
    let (n, of) = (n.trim().parse().ok()?, of.trim().parse().ok()?);
    (n <= of && of >= MIN_STEPS as u32).then_some((n, of))
}

/// What lies in folders that nobody wrote: the entries under them in a tree, and paths through them.
fn label_entries(view: &TextView<'_>, labels: &mut [Option<CutKind>]) {
    let mut at = 0;
    while at < labels.len() {
        let line = view.lines[at].span.of(view.text);
        let end = match tree_depth(line) {
            Some((depth, name)) if is_noise_folder(name.trim_end_matches('/')) => {
                run(view, at + 1, |line| tree_depth(line).is_some_and(|(below, _)| below > depth))
            }
            None if is_noise_path(line) => run(view, at + 1, is_noise_path),
            _ => at + 1,
        };
        let first = if tree_depth(line).is_some() { at + 1 } else { at };
        if end - first.min(end) >= MIN_STEPS {
            labels[first..end].fill(Some(CutKind::Entries));
        }
        at = end;
    }
}

fn run(view: &TextView<'_>, from: usize, goes_on: impl Fn(&str) -> bool) -> usize {
    let lines = view.lines.get(from..).unwrap_or_default();
    from + lines.iter().take_while(|line| goes_on(line.span.of(view.text))).count()
}

/// How deep an entry stands in a drawn tree, and its name.
pub(crate) fn tree_depth(line: &str) -> Option<(usize, &str)> {
    let name = line.trim_start_matches([' ', '\u{a0}', '│', '├', '└', '─', '|', '`', '-', '+', '\\']);
    let drawn = line.get(..line.len() - name.len())?;
    let is_tree = drawn.contains(['├', '└']) || drawn.contains("|--") || drawn.contains("`--") || drawn.contains("+--");
    is_tree.then(|| (drawn.chars().count(), name.trim_end()))
}

/// True for an entry of a drawn tree: `├── src`, `│   └── a.rs`, `|-- docs`. A rule of a table names nothing.
#[must_use]
pub fn is_tree_entry(line: &str) -> bool {
    let is_drawn = |(_, name): (usize, &str)| !name.is_empty() && !name.ends_with(['|', '│', '┤', '┘', '+', '─', '-']);
    line.len() <= MAX_LINE && tree_depth(line).is_some_and(is_drawn)
}

fn is_noise_folder(name: &str) -> bool {
    word_list!("noise", FOLDERS).contains(&name)
}

/// A path alone in its line that leads through such a folder.
fn is_noise_path(line: &str) -> bool {
    let line = line.trim();
    line.len() <= MAX_LINE
        && line.contains('/')
        && !line.contains([' ', '\t', ':'])
        && line.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(is_noise_folder))
}

/// A line in which a test runner says that a test or a file of tests passed.
fn is_passing(line: &str, passed: &HashSet<&str, FixedState>) -> bool {
    let says = |rest: &str| rest.starts_with([' ', '\t']) && rest.trim().chars().nth(2).is_some();
    if let Some(rest) = line.strip_prefix(['✓', '✔', '√', '✅']) {
        return says(rest.trim_start_matches('\u{fe0f}'));
    }
    if let Some(name) = started(line) {
        return passed.contains(name);
    }
    if line.starts_with("--- PASS: ") || line.starts_with("[       OK ] ") {
        return true;
    }
    if let Some(rest) = ["PASSED", "PASS:", "PASS"].iter().find_map(|word| line.strip_prefix(word)) {
        return says(rest);
    }
    if let Some(rest) = line.strip_prefix("ok") {
        let place = rest.trim_start();
        let is_place = place.starts_with(|c: char| c.is_ascii_digit()) || place.contains('/');
        return rest.starts_with([' ', '\t']) && is_place && !place.contains("# TODO") && !place.contains("# SKIP");
    }
    let ends_ok = line.ends_with("... ok") && line.len() > 8;
    ends_ok || line.contains("::") && without_percent(line).ends_with(" PASSED")
}

/// `tests/a.py::test_b PASSED [ 12%]` without the share at its end.
fn without_percent(line: &str) -> &str {
    line.strip_suffix("%]").and_then(|rest| rest.rsplit_once('[')).map_or(line, |(before, _)| before.trim_end())
}

/// The name of a test that is begun: `=== RUN   TestX`, `[ RUN      ] Suite.Test`.
fn started(line: &str) -> Option<&str> {
    const STARTS: [&str; 4] = ["=== RUN ", "=== PAUSE ", "=== CONT ", "[ RUN      ] "];
    STARTS.iter().find_map(|start| line.strip_prefix(start)).map(str::trim)
}

/// The tests of which a later line says that they passed.
fn passed_names<'a>(view: &TextView<'a>) -> HashSet<&'a str, FixedState> {
    const PASSES: [&str; 2] = ["--- PASS: ", "[       OK ] "];
    let lines = view.lines.iter().map(|line| line.span.of(view.text).trim());
    let passed = lines.filter_map(|line| PASSES.iter().find_map(|start| line.strip_prefix(start)));
    passed.map(|rest| rest.split(" (").next().unwrap_or(rest).trim()).collect()
}

/// A line that an installer of packages prints on its way.
fn is_installer(line: &str) -> bool {
    let is_versioned = |rest: &str| {
        let mut words = rest.split(' ');
        let version = words.nth(1).unwrap_or_default();
        version.starts_with('v') && version.contains('.') || rest.contains("==")
    };
    let mut words = line.split(' ');
    let (first, rest) = (words.next().unwrap_or_default(), line.split_once(' ').map_or("", |(_, rest)| rest.trim()));
    let n_rest = rest.split(' ').count();
    word_list!("noise", INSTALLERS).iter().any(|start| line.starts_with(start))
        || line.starts_with(['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'])
        || match first {
            "Compiling" | "Checking" | "Downloaded" | "Fresh" | "Documenting" => is_versioned(rest),
            "Downloading" => {
                is_versioned(rest) || rest.contains(".whl") || rest.contains(".tar.gz") || rest.starts_with("http")
            }
            "Collecting" => n_rest <= 3 && rest.is_ascii(),
            "Unpacking" | "Setting" => rest.contains(" (") && rest.ends_with("..."),
            _ => (first.starts_with("Get:") || first.starts_with("Hit:")) && rest.starts_with("http"),
        }
        || line.starts_with("warning \"") && line.contains("peer dependency")
}

#[cfg(test)]
mod tests {
    use super::{Cut, CutKind, noise};
    use crate::text::Lexer;

    fn shown(text: &str) -> String {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        let view = lexer.view(text, &lexed);
        let (mut out, mut at) = (String::new(), 0);
        for Cut { span, kind, n } in noise(&view) {
            out.push_str(text.get(at..span.start as usize).expect("cuts are apart"));
            out.push_str(&format!("<{kind:?} {n}>"));
            at = span.end as usize;
        }
        out + text.get(at..).expect("a cut ends in the text")
    }

    fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
        (1..=n).map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn passing_tests_are_noise_and_failures_are_not() {
        let pass = lines(12, |i| format!("  ✓ adds item {i} (3 ms)"));
        assert_eq!(
            shown(&format!("cart\n{pass}\n  ✕ removes the last item\nTests: 1 failed, 12 passed")),
            "cart\n<Passing 12>\n  ✕ removes the last item\nTests: 1 failed, 12 passed"
        );
        let few = lines(9, |i| format!("✓ adds item {i}"));
        assert_eq!(shown(&few), few);
        let go = lines(10, |i| format!("=== RUN   TestCart{i}\n--- PASS: TestCart{i} (0.00s)"));
        assert_eq!(
            shown(&format!(
                "{go}\n=== RUN   TestPay\n    pay_test.go:9: got 1, want 2\n--- FAIL: TestPay (0.01s)\nFAIL"
            )),
            "<Passing 20>\n=== RUN   TestPay\n    pay_test.go:9: got 1, want 2\n--- FAIL: TestPay (0.01s)\nFAIL"
        );
    }

    #[test]
    fn lines_of_a_diff_are_never_passing_tests() {
        let added = lines(12, |i| format!("+ const added{i} = {i};"));
        let diff = format!("--- a/src/pay.ts\n+++ b/src/pay.ts\n@@ -1,1 +1,12 @@\n-old();\n{added}");
        assert_eq!(shown(&diff), diff);
        assert_eq!(shown(&added), added);
        let checks = lines(12, |i| format!("+ ✓ point {i}"));
        assert_eq!(shown(&checks), checks);
    }

    #[test]
    fn steps_of_a_build_show_their_ends_and_warnings() {
        let steps = lines(9, |i| format!("[{i}/9] Building CXX object core/part{i}.o"));
        let shown_steps = "[1/9] Building CXX object core/part1.o\n<Steps 7>\n[9/9] Building CXX object core/part9.o";
        assert_eq!(shown(&steps), shown_steps);
        let broken = steps.replace("[5/9] Building", "[5/9] error: Building");
        assert_eq!(shown(&broken), broken);
        let dates = lines(9, |i| format!("{i}/4 meeting with the tax office"));
        assert_eq!(shown(&dates), dates);
    }

    #[test]
    fn installers_say_nothing_but_errors() {
        assert_eq!(
            shown(
                "npm warn deprecated a@1: old\nnpm notice new\nnpm warn deprecated b@2: old\nadded 12 packages\nnpm ERR! code E404"
            ),
            "<Installer 3>\nadded 12 packages\nnpm ERR! code E404"
        );
        assert_eq!(shown("Collecting evidence takes time and patience"), "Collecting evidence takes time and patience");
    }

    #[test]
    fn only_what_lies_in_folders_that_nobody_wrote_is_left_out_of_a_tree() {
        let inner = lines(6, |i| format!("│   ├── package{i}"));
        assert_eq!(
            shown(&format!(".\n├── node_modules\n{inner}\n├── src\n│   └── pay.ts\n└── readme.md")),
            ".\n├── node_modules\n<Entries 6>\n├── src\n│   └── pay.ts\n└── readme.md"
        );
        let paths = lines(6, |i| format!("./web/node_modules/p{i}/index.js"));
        assert_eq!(shown(&format!("./web/app.js\n{paths}")), "./web/app.js\n<Entries 6>");
    }

    #[test]
    fn what_stands_for_a_cut_says_how_much_it_was() {
        let marker = |kind| Cut { span: crate::text::Span::default(), kind, n: 12 }.marker();
        assert_eq!(marker(CutKind::Passing), "[... 12 passing test lines omitted ...]");
        assert_eq!(marker(CutKind::Echo), "[content from preceding turn omitted (12 chars)]");
        assert!(marker(CutKind::SupersededByWrite).contains("a later write (12 chars original)"));
    }
}
