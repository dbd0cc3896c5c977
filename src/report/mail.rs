//! The first screen of a view and what is worth a mail as Markdown, and its tables as CSV. Knows views and the two
//! formats, no document.

use std::collections::BTreeMap;

use super::numbers::NOTHING;
use super::plain;
use super::view::{Block, Blocks, Card, Kind, Seen, Table, Tone, View, Words};

/// Rows of a table in a mail.
const MAX_ROWS: usize = 5;
/// Characters of a cell.
const MAX_CELL: usize = 80;

/// The view as Markdown for a mail or a pull request: the first screen, and the sections that are worth it.
pub(super) fn markdown(view: &View<'_>) -> String {
    let mut out = format!("# {}\n\n", escaped(&view.heading));
    let facts: Vec<String> =
        [view.about.join(view.between)].iter().chain(&view.facts).map(|fact| escaped(fact)).collect();
    out.push_str(&format!("{}\n\n", facts.join(" · ")));
    if !view.lead.is_empty() {
        out.push_str(&format!("**{}**\n\n", escaped(&view.lead)));
    }
    blocks(&view.warnings, &mut out);
    cards(&view.cards, &mut out);
    blocks(&view.sums, &mut out);
    for section in view.sections.iter().filter(|section| section.is_mailed) {
        let mut inside = String::new();
        blocks(&section.blocks, &mut inside);
        if !inside.is_empty() {
            out.push_str(&format!("## {}\n\n{inside}", section.heading));
        }
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn blocks(blocks: &Blocks<'_>, out: &mut String) {
    for (_, block) in blocks.iter().filter(|(seen, _)| matches!(seen, Seen::Always | Seen::Terminal)) {
        match block {
            Block::Heading { text, remark, .. } => {
                out.push_str(&format!("### {}\n\n", escaped(text)));
                if !remark.is_empty() {
                    out.push_str(&format!("{}\n\n", escaped(remark)));
                }
            }
            // The marks of fixed sentences are those of Markdown.
            Block::Said(Words::Fixed(words), _) => out.push_str(&format!("{words}\n\n")),
            Block::Said(Words::Told(words), Tone::Bad) => out.push_str(&format!("**{}**\n\n", escaped(words))),
            Block::Said(Words::Told(words), _) => out.push_str(&format!("{}\n\n", escaped(words))),
            Block::List(list) => {
                for words in list {
                    let words = match words {
                        Words::Fixed(words) => (*words).to_owned(),
                        Words::Told(words) => escaped(words),
                    };
                    out.push_str(&format!("- {words}\n"));
                }
                out.push('\n');
            }
            Block::Command(what, command) => out.push_str(&format!("- {what}: {}\n\n", code(command))),
            Block::Table(found) if !found.is_folded => table(found, out),
            Block::Cards(found) => cards(found, out),
            Block::Drawings(drawings, _) => {
                for (_, drawing) in drawings.iter().filter(|(seen, _)| *seen == Seen::Always) {
                    if let Some(found) = drawing.table.as_ref().filter(|table| !table.rows.is_empty()) {
                        out.push_str(&format!("### {}\n\n", escaped(&drawing.name)));
                        table(found, out);
                    }
                }
            }
            Block::Table(_) | Block::Facts(_) | Block::Options(_) => {}
        }
    }
}

fn cards(cards: &[Card], out: &mut String) {
    out.push_str("| figure | value | |\n|---|--:|---|\n");
    for Card { name, number, beside, .. } in cards {
        out.push_str(&format!("| {} | **{}** | {} |\n", escaped(name), escaped(&number.shown), escaped(beside)));
    }
    out.push('\n');
}

fn table(table: &Table, out: &mut String) {
    let shown: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.seen == Seen::Always && column.show.kind() != Kind::Picture)
        .map(|(at, _)| at)
        .collect();
    let rows: Vec<_> = table.rows.iter().filter(|row| row.seen == Seen::Always).collect();
    if rows.is_empty() {
        return;
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push_str(&line(shown.iter().map(|at| escaped(table.columns[*at].heading)).collect()));
    let kinds = shown.iter().map(|at| table.columns[*at].show.kind());
    out.push_str(&line(kinds.map(|kind| if kind == Kind::Number { "--:" } else { "---" }.to_owned()).collect()));
    let n_rows = if table.is_list { MAX_ROWS } else { rows.len() };
    for row in rows.iter().take(n_rows) {
        let cell =
            |at: &usize| row.cells.get(*at).map_or(String::new(), |cell| escaped(&plain::cut(&cell.shown, MAX_CELL)));
        out.push_str(&line(shown.iter().map(cell).collect()));
    }
    out.push('\n');
    if rows.len() > n_rows {
        out.push_str(&format!("and {} more\n\n", rows.len() - n_rows));
    }
}

/// `text` on one line, with no sign that means something to Markdown or HTML.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in plain::line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            // Within a word it means nothing, and names of files are full of it.
            '_' if out.ends_with(char::is_alphanumeric) => out.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '>' | '@' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// A command between as many ticks as it needs.
fn code(command: &str) -> String {
    let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    let room = if command.contains('`') { " " } else { "" };
    format!("{ticks}{room}{command}{room}{ticks}")
}

/// Every table of the view as CSV, each under the name of its file: of numbers the values, of everything else what is
/// shown.
pub(super) fn tables(view: &View<'_>) -> Vec<(String, String)> {
    let mut found: Vec<&Table> = Vec::new();
    let all = [&view.warnings, &view.sums].into_iter().chain(view.sections.iter().map(|section| &section.blocks));
    for (_, block) in all.flatten() {
        match block {
            Block::Table(table) => found.push(table),
            // The numbers of a picture are for its page.
            Block::Drawings(drawings, _) => {
                let told = drawings.iter().filter(|(seen, _)| *seen != Seen::Page);
                found.extend(told.filter_map(|(_, drawing)| drawing.table.as_ref()));
            }
            _ => {}
        }
    }
    // A caption may stand twice.
    let mut n_named: BTreeMap<String, usize> = BTreeMap::new();
    let files = found.into_iter().filter(|table| !table.rows.is_empty()).map(|table| {
        let name = file_name(&table.caption);
        let n = n_named.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
        let number = if *n == 1 { String::new() } else { format!("-{n}") };
        (format!("{name}{number}.csv"), csv(table))
    });
    files.collect()
}

/// `What falls to each class` is `what-falls-to-each-class`.
fn file_name(caption: &str) -> String {
    let words = caption.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

fn csv(table: &Table) -> String {
    let columns = || table.columns.iter().enumerate().filter(|(_, column)| column.show.kind() != Kind::Picture);
    let mut out = record(columns().map(|(_, column)| column.heading));
    for row in &table.rows {
        out.push_str(&record(columns().map(|(at, column)| match row.cells.get(at) {
            Some(cell) if column.show.kind() == Kind::Number && !cell.value.is_empty() => &*cell.value,
            Some(cell) if cell.shown != NOTHING => &*cell.shown,
            _ => "",
        })));
    }
    out
}

/// A record as RFC 4180 has it.
fn record<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let quoted = cells.map(|cell| {
        let cell = plain::lines(cell);
        // What a spreadsheet would run as a formula stays a text.
        let guard = if cell.starts_with(['=', '+', '-', '@']) && cell.parse::<f64>().is_err() { "'" } else { "" };
        if guard.is_empty() && !cell.contains([',', '"', '\n', '\r']) {
            return cell.into_owned();
        }
        format!("\"{guard}{}\"", cell.replace('"', "\"\""))
    });
    quoted.collect::<Vec<_>>().join(",") + "\r\n"
}

#[cfg(test)]
mod tests {
    use super::{code, escaped, file_name, record};

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(escaped("a|b <img> `x` [l](u)\n# h"), "a\\|b &lt;img\\> \\`x\\` \\[l\\](u)\\\\n\\# h");
        assert_eq!((code("get run"), code("a`b")), ("`get run`".to_owned(), "`` a`b ``".to_owned()));
    }

    #[test]
    fn cells_are_quoted_and_no_formula_runs() {
        assert_eq!(record(["a", "b,\"c\"", "=1+1", "-3.5"].into_iter()), "a,\"b,\"\"c\"\"\",\"'=1+1\",-3.5\r\n");
        assert_eq!(file_name("What falls to each class"), "what-falls-to-each-class");
    }
}
