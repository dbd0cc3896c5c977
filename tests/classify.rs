//! What must stay as it is and what must not: labelled snippets, examples of single behaviours, and prose of
//! real conversations.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use condenser::model::Reason;
use condenser::stage::classify::{classify, is_structured_output};
use condenser::text::Lexer;

const STRUCTURE: &str = include_str!("data/snippets/structure.txt");
const PROSE: &str = include_str!("data/snippets/prose.txt");

/// Kinds of snippets that are summarised as output, not as prose, once they are long.
const OUTPUT_KINDS: [&str; 4] = ["terminal", "grep", "testrun", "log"];

struct Snippet {
    kind: String,
    title: String,
    text: String,
}

fn snippets(data: &str) -> Vec<Snippet> {
    let mut all: Vec<Snippet> = Vec::new();
    for line in data.lines() {
        if let Some(head) = line.strip_prefix("%%%% ") {
            let (kind, title) = head.split_once(' ').unwrap_or((head, ""));
            all.push(Snippet { kind: kind.to_owned(), title: title.to_owned(), text: String::new() });
        } else if let Some(snippet) = all.last_mut() {
            if !snippet.text.is_empty() {
                snippet.text.push('\n');
            }
            snippet.text.push_str(line);
        }
    }
    all
}

fn reasons(text: &str) -> Vec<Reason> {
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    classify(&lexer.view(text, &lexed))
}

fn hard(text: &str) -> Vec<Reason> {
    reasons(text).into_iter().filter(|reason| reason.is_hard()).collect()
}

fn is_output(text: &str) -> bool {
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    is_structured_output(&lexer.view(text, &lexed))
}

#[test]
fn labelled_structure_is_recognised() {
    let all = snippets(STRUCTURE);
    assert!(all.len() >= 300, "only {} snippets", all.len());
    let mut missed = Vec::new();
    for snippet in &all {
        let n_lines = snippet.text.lines().filter(|line| !line.trim().is_empty()).count();
        let as_output = OUTPUT_KINDS.contains(&snippet.kind.as_str()) && n_lines >= 12 && is_output(&snippet.text);
        if hard(&snippet.text).is_empty() && !as_output {
            missed.push(format!("{} {}", snippet.kind, snippet.title));
        }
    }
    let recall = 1.0 - missed.len() as f64 / all.len() as f64;
    assert!(recall >= 0.98, "recall {recall:.3}; missed:\n{}", missed.join("\n"));
}

#[test]
fn labelled_prose_is_not_taken_for_structure() {
    let all = snippets(PROSE);
    assert!(all.len() >= 150, "only {} snippets", all.len());
    let mut wrong = Vec::new();
    for snippet in &all {
        let found = hard(&snippet.text);
        if !found.is_empty() {
            wrong.push(format!("{} {}: {found:?}", snippet.kind, snippet.title));
        }
    }
    let share = wrong.len() as f64 / all.len() as f64;
    assert!(share <= 0.03, "false positives {share:.3}:\n{}", wrong.join("\n"));
}

/// A generator whose numbers are the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// The folder of the corpora; `None` where they are not there, which CI does not accept.
fn corpora() -> Option<PathBuf> {
    let fallback = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let folder = std::env::var_os("CONDENSER_CORPORA").map_or_else(fallback, PathBuf::from);
    let found = folder.join("topicalchat.jsonl.zst").exists();
    assert!(found || std::env::var_os("CI").is_none(), "no corpora in {}", folder.display());
    if !found {
        eprintln!("skipped: no corpora in {}", folder.display());
    }
    found.then_some(folder)
}

/// Code and formulas that stand in the corpora without a fence.
fn is_formal(line: &str) -> bool {
    let signs = ['`', '\\', '√', '∈', '⊆', '∀', '∃', '∑', '⁻'];
    line.contains(signs)
        || [" = ", " == ", "();", "\": "].iter().any(|sign| line.contains(sign))
        || [";", "{", "}", "):"].iter().any(|end| line.ends_with(end)) && !line.contains(" {")
}

/// Lines of prose of the named corpus: no code, no table, no list, no heading.
fn prose_lines(folder: &Path, corpus: &str) -> Vec<String> {
    let file = fs::File::open(folder.join(format!("{corpus}.jsonl.zst"))).expect("the corpus opens");
    let mut text = String::new();
    zstd::Decoder::new(file).and_then(|mut reader| reader.read_to_string(&mut text)).expect("the corpus unpacks");
    let mut lines = Vec::new();
    for record in text.lines() {
        let record: serde_json::Value = serde_json::from_str(record).expect("the corpus is JSON");
        for message in record["messages"].as_array().into_iter().flatten() {
            let Some(content) = message["content"].as_str() else { continue };
            let mut fenced = false;
            for line in content.lines() {
                let bare = line.trim();
                let marker = bare.starts_with(['#', '|', '-', '*', '+', '•', '>', '=', '<']);
                let numbered =
                    bare.split_once(['.', ')']).is_some_and(|(head, _)| head.len() <= 2 && !head.contains(' '));
                if bare.starts_with("```") {
                    fenced = !fenced;
                } else if !fenced
                    && !marker
                    && !numbered
                    && !line.starts_with("    ")
                    && !is_formal(bare)
                    && bare.len() >= 20
                {
                    lines.push(bare.to_owned());
                }
            }
        }
    }
    lines
}

#[test]
fn plain_prose_of_any_length_is_hardly_ever_hard() {
    let Some(folder) = corpora() else { return };
    let sources: Vec<Vec<String>> = ["mtbench_arena", "topicalchat", "qmsum_academic_product"]
        .iter()
        .map(|name| prose_lines(&folder, name))
        .collect();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut report = String::new();
    let mut shares = Vec::new();
    for size in [300, 1_200, 2_400, 4_800] {
        let mut n_hard = 0;
        for _ in 0..400 {
            let source = &sources[dice.below(sources.len())];
            let mut text = String::new();
            while text.chars().count() < size {
                // Whole paragraphs in their order, a few at a time.
                let start = dice.below(source.len());
                for line in source.iter().skip(start).take(3) {
                    text.push_str(line);
                    text.push_str(if dice.below(3) == 0 { "\n\n" } else { " " });
                }
            }
            let text: String = text.chars().take(size).collect();
            let found = hard(&text);
            if !found.is_empty() {
                n_hard += 1;
                let _ = writeln!(report, "---- {size} {found:?}\n{text}");
            }
        }
        let share = f64::from(n_hard) / 400.0;
        eprintln!("{size} characters: {:.1} % hard", 100.0 * share);
        shares.push(share);
    }
    assert!(shares[0] <= 0.02 && shares[3] <= 0.05, "hard at 300, 1,200, 2,400, 4,800: {shares:?}\n{report}");
}
