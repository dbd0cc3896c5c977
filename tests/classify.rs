//! What must stay as it is and what must not: labelled snippets, examples of single behaviours, and prose of
//! real conversations.

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
