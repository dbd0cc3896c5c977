//! Headings, aligned columns and small pictures made of block characters. Knows columns of a terminal, not what stands in
//! them.

use console::Style;

use crate::report::plain::{cut, fit, width, wrap};

/// Narrower than this nothing can be aligned.
const MIN_WIDTH: usize = 64;
/// Lines of text are not longer, since nobody reads them.
const MAX_TEXT_WIDTH: usize = 120;
/// The first column is not cut below this.
const MIN_NAME: usize = 10;
/// Between two columns.
const GAP: usize = 2;
/// Rows of a list where one looks first, and of everything.
const N_FIRST: usize = 5;
pub(super) const N_ALL: usize = 20;
/// A picture of a distribution.
pub(super) const MAX_PICTURE: usize = 24;
/// From nothing to everything.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How a report is shown.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Columns of the terminal.
    pub width: usize,
    /// With colours.
    pub colours: bool,
    /// Everything, not only what one looks at first.
    pub all: bool,
}

/// How a cell is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Picture,
}

/// A cell: text as it came, made plain when it is written.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(super) fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Tone::Plain)
    }

    pub(super) fn faint(text: impl Into<String>) -> Self {
        Self::new(text, Tone::Faint)
    }
}

/// Rows below a header; the first column is a name on the left, the others are numbers on the right.
#[derive(Debug)]
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
    /// The last column stands on the left and takes the columns that are left over.
    has_wide_end: bool,
}

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new(), has_wide_end: false }
    }

    /// The last column is text.
    pub(super) fn with_wide_end(mut self) -> Self {
        self.has_wide_end = true;
        self
    }

    pub(super) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// A name of a breakdown; `None` for everything that is not told apart.
pub(super) fn name_of(name: Option<&str>) -> &str {
    match name {
        None => "all others",
        Some("") => "(no name)",
        Some(name) => name,
    }
}

/// What is written, line by line.
pub(super) struct Page {
    pub(super) screen: Screen,
    out: String,
}

impl Page {
    pub(super) fn new(screen: Screen) -> Self {
        Self { screen: Screen { width: screen.width.max(MIN_WIDTH), ..screen }, out: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Rows of a list.
    pub(super) fn n_rows(&self) -> usize {
        if self.screen.all { N_ALL } else { N_FIRST }
    }

    fn paint(&self, text: &str, tone: Tone) -> String {
        let style = Style::new().force_styling(self.screen.colours);
        let style = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Strong => style.bold(),
            Tone::Faint => style.dim(),
            Tone::Good => style.green(),
            Tone::Bad => style.red(),
            Tone::Picture => style.cyan(),
        };
        style.apply_to(text).to_string()
    }

    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// An empty line and a heading, with a remark behind it.
    pub(super) fn heading(&mut self, title: &str, remark: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let title = cut(title, self.screen.width);
        let room = self.screen.width.saturating_sub(width(&title) + GAP);
        let line = self.paint(&title, Tone::Strong);
        if remark.is_empty() || room < MIN_NAME {
            return self.push(&line);
        }
        if width(remark) <= room {
            let remark = self.paint(&cut(remark, room), Tone::Faint);
            return self.push(&format!("{line}  {remark}"));
        }
        self.push(&line);
        self.text(remark, Tone::Faint);
    }

    /// Text, wrapped.
    pub(super) fn text(&mut self, text: &str, tone: Tone) {
        for line in wrap(text, self.screen.width.min(MAX_TEXT_WIDTH)) {
            let line = self.paint(&line, tone);
            self.push(&line);
        }
    }

    /// A line that is not broken, such as a command; cut where it does not fit unless somebody may copy it.
    pub(super) fn line(&mut self, text: &str, tone: Tone) {
        let line = self.paint(text, tone);
        self.push(&line);
    }

    /// Columns that are left for a picture beside columns of these widths.
    pub(super) fn room(&self, widths: &[usize]) -> usize {
        let used: usize = widths.iter().map(|width| width + GAP).sum();
        self.screen.width.saturating_sub(used)
    }

    /// Aligned columns; what is too wide for its column is cut, the name first.
    pub(super) fn table(&mut self, table: &Table) {
        let n_columns = table.header.len();
        let last = n_columns.saturating_sub(1);
        let mut widths: Vec<usize> = (0..n_columns)
            .map(|at| {
                let cells = table.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cut(&cell.text, 200)));
                cells.chain([width(&table.header[at])]).max().unwrap_or_default()
            })
            .collect();
        let total = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let too_much = total(&widths).saturating_sub(self.screen.width);
        if table.has_wide_end {
            widths[last] = widths[last].saturating_sub(too_much);
        }
        let too_much = total(&widths).saturating_sub(self.screen.width);
        widths[0] = widths[0].saturating_sub(too_much).max(MIN_NAME.min(widths[0]));
        let aligned = |at: usize, text: &str| {
            let text = cut(text, widths[at]);
            if at == 0 || (table.has_wide_end && at == last) {
                return fit(&text, widths[at]);
            }
            format!("{}{text}", " ".repeat(widths[at].saturating_sub(width(&text))))
        };
        if table.header.iter().any(|name| !name.is_empty()) {
            let header: Vec<String> = table.header.iter().enumerate().map(|(at, name)| aligned(at, name)).collect();
            let header = self.paint(header.join("  ").trim_end(), Tone::Faint);
            self.push(&header);
        }
        for row in &table.rows {
            let cells: Vec<String> =
                row.iter().enumerate().map(|(at, cell)| self.paint(&aligned(at, &cell.text), cell.tone)).collect();
            let line = cells.join("  ");
            self.push(&line);
        }
    }
}

/// Counts as blocks of `n_columns` columns, the largest as high as a line; what is there is seen.
pub(super) fn picture(counts: &[u64], n_columns: usize) -> String {
    let n_columns = n_columns.min(counts.len());
    if n_columns == 0 {
        return String::new();
    }
    let mut columns = vec![0; n_columns];
    for (at, count) in counts.iter().enumerate() {
        columns[at * n_columns / counts.len()] += count;
    }
    let most = columns.iter().copied().max().unwrap_or_default().max(1);
    let block = |count: &u64| BLOCKS[(count * (BLOCKS.len() as u64 - 1)).div_ceil(most) as usize];
    columns.iter().map(block).collect()
}

/// A share as a bar of at most `n_columns` columns.
pub(super) fn bar(share: f64, n_columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * n_columns as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'].get((eighths % 8).wrapping_sub(1)) {
        bar.push(*part);
    }
    if bar.is_empty() && share > 0.0 { "▏".to_owned() } else { bar }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Page, Table, Tone, bar, picture};
    use crate::report::Screen;
    use crate::report::plain::width;

    #[test]
    fn pictures_show_what_is_there() {
        assert_eq!(picture(&[0, 1, 4, 1000], 4), " ▁▁█");
        assert_eq!(picture(&[1, 1, 0, 0], 2), "█ ");
        assert_eq!(picture(&[], 10), "");
        assert_eq!(
            (bar(0.5, 4), bar(0.0001, 4), bar(0.0, 4), bar(0.3, 2)),
            ("██".into(), "▏".into(), String::new(), "▋".into())
        );
    }

    #[test]
    fn tables_fit_and_names_are_cut_first() {
        for columns in [64, 80, 120] {
            let mut page = Page::new(Screen { width: columns, colours: false, all: false });
            let mut table = Table::new(&["name", "n", "text"]).with_wide_end();
            table.push(vec![
                Cell::plain("x".repeat(70)),
                Cell::plain("1,234"),
                Cell::new("\u{1b}[2J 世界 ".repeat(20), Tone::Bad),
            ]);
            table.push(vec![Cell::plain("short"), Cell::plain("7"), Cell::faint("")]);
            page.table(&table);
            page.heading("A heading", &"with a remark ".repeat(8));
            let text = page.finish();
            assert!(text.lines().all(|line| width(line) <= columns), "{columns}\n{text}");
            assert!(text.contains("1,234") && !text.contains('\u{1b}'), "{text}");
        }
    }
}
