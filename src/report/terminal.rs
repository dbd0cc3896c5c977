//! Views as text for a terminal: aligned, within the columns that there are, in colours when they are wanted. Knows views,
//! no terminal: width and colours are told.

use console::Style;

use super::mail::{markdown, tables};
use super::numbers::counted;
use super::pair::Texts;
use super::plain::{cut, fit, width, wrap};
use super::view::{
    Block, Blocks, Card, Cell, Column, Drawing, Kind, Picture, Piece, Seen, Show, Table, Tone, View, Words, column,
    pieces,
};
use super::{Calibration, DriftDocument, ReportDocument};
use crate::pipeline::sweep::SweepDocument;

/// Narrower than this nothing can be aligned.
const MIN_WIDTH: usize = 64;
/// From so many columns on there is room for more than what one looks at first.
const WIDE: usize = 110;
/// Lines of text are not longer, since nobody reads them.
const MAX_TEXT_WIDTH: usize = 120;
/// What stands in a cell is not looked at beyond this.
const MAX_CELL: usize = 200;
/// A column of names or of long texts is not cut below this.
const MIN_NAME: usize = 10;
/// Between two columns.
const GAP: usize = 2;
/// Rows of a list where one looks first, and of everything.
const N_FIRST: usize = 5;
const N_ALL: usize = 20;
/// Columns of a picture of counts: at most, and what can still be read.
const MAX_PICTURE: usize = 24;
const MIN_PICTURE: usize = 4;
/// Columns of a bar beside a share.
const BAR: usize = 8;
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

impl Screen {
    fn shows(&self, seen: Seen) -> bool {
        match seen {
            Seen::Always | Seen::Terminal => true,
            Seen::Wide => self.width >= WIDE,
            Seen::All => self.all,
            Seen::Page => false,
        }
    }
}

/// For what is as wide as it is.
const UNBOUNDED: Screen = Screen { width: 10_000, colours: false, all: true };

impl ReportDocument {
    /// The report as lines of text.
    pub fn render(&self, screen: Screen) -> String {
        render(&super::views::report(self, &Texts::default()), screen)
    }

    /// Its first screen and what else is worth a mail, as Markdown.
    pub fn to_markdown(&self) -> String {
        markdown(&super::views::report(self, &Texts::default()))
    }

    /// Its tables as CSV, by the names of their files.
    pub fn tables(&self) -> Vec<(String, String)> {
        tables(&super::views::report(self, &Texts::default()))
    }
}

impl DriftDocument {
    /// The comparison as lines of text.
    pub fn render(&self, screen: Screen) -> String {
        render(&super::views::drift(self), screen)
    }

    /// Its first screen and what else is worth a mail, as Markdown.
    pub fn to_markdown(&self) -> String {
        markdown(&super::views::drift(self))
    }

    /// Its tables as CSV, by the names of their files.
    pub fn tables(&self) -> Vec<(String, String)> {
        tables(&super::views::drift(self))
    }
}

impl Calibration {
    /// The rates as a table: a line per kind of change, a column per metric, shares in percent.
    pub fn table(&self) -> String {
        let was = if self.changed == 1 { "was" } else { "were" };
        let (changed, all) = (self.changed, counted(self.conversations, "conversation"));
        let mut page = Page::new(UNBOUNDED);
        page.table(&super::views::matrix(self));
        format!(
            "{changed} of {all} {was} changed and could be damaged. In how many of 100 each metric falls:\n\n{}",
            page.out
        )
    }
}

/// A sweep as lines of text, as wide as they are: nothing of an option set is cut.
pub fn sweep_text(document: &SweepDocument) -> String {
    render(&super::views::sweep(document), UNBOUNDED)
}

/// The view as lines of text.
pub(super) fn render(view: &View<'_>, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.heading(&view.heading, "");
    for name in view.about.iter().take(page.n_rows()) {
        page.text(name, Tone::Strong);
    }
    let n_more = view.about.len().saturating_sub(page.n_rows());
    if n_more > 0 {
        page.text(&format!("and {n_more} more"), Tone::Faint);
    }
    if !view.facts.is_empty() {
        page.text(&view.facts.join(" · "), Tone::Faint);
    }
    if !view.lead.is_empty() {
        page.heading("", "");
        page.text(&view.lead, Tone::Plain);
    }
    page.blocks(&view.warnings);
    page.cards(&view.cards);
    page.heading("", "");
    page.blocks(&view.sums);
    for section in &view.sections {
        if section.blocks.iter().any(|(seen, _)| page.screen.shows(*seen)) {
            page.heading(section.heading, &section.remark);
            page.blocks(&section.blocks);
        }
    }
    if !page.screen.all && !view.more.is_empty() {
        page.heading("", "");
        page.text(view.more, Tone::Faint);
    }
    page.out
}

/// What is written, line by line.
struct Page {
    screen: Screen,
    out: String,
}

impl Page {
    fn new(screen: Screen) -> Self {
        Self { screen: Screen { width: screen.width.max(MIN_WIDTH), ..screen }, out: String::new() }
    }

    /// Rows of a list.
    fn n_rows(&self) -> usize {
        if self.screen.all { N_ALL } else { N_FIRST }
    }

    fn paint(&self, text: &str, style: Style) -> String {
        style.force_styling(self.screen.colours).apply_to(text).to_string()
    }

    fn push(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// An empty line and a heading, with a remark behind it.
    fn heading(&mut self, title: &str, remark: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        if title.is_empty() {
            return;
        }
        let title = cut(title, self.screen.width);
        let room = self.screen.width.saturating_sub(width(&title) + GAP);
        let line = self.paint(&title, style_of(Tone::Strong));
        if remark.is_empty() || room < MIN_NAME {
            return self.push(&line);
        }
        if width(remark) <= room {
            let remark = self.paint(&cut(remark, room), style_of(Tone::Faint));
            return self.push(&format!("{line}  {remark}"));
        }
        self.push(&line);
        self.text(remark, Tone::Faint);
    }

    /// Text, wrapped.
    fn text(&mut self, text: &str, tone: Tone) {
        for line in wrap(text, self.screen.width.min(MAX_TEXT_WIDTH)) {
            let line = self.paint(&line, style_of(tone));
            self.push(&line);
        }
    }

    fn cards(&mut self, cards: &[Card]) {
        let columns = [column("", "", Show::Text), column("", "", Show::Count), column("", "", Show::Long)];
        let mut table = Table::new("", columns, Vec::new());
        for card in cards {
            let beside = Cell::text(&*card.beside).toned(card.number.tone);
            table.row(Seen::Always, "", [Cell::text(card.name), card.number.clone(), beside]);
        }
        self.heading("", "");
        self.table(&table);
    }

    fn blocks(&mut self, blocks: &Blocks<'_>) {
        let screen = self.screen;
        for (_, block) in blocks.iter().filter(|(seen, _)| screen.shows(*seen)) {
            match block {
                Block::Heading { text, remark, .. } => self.heading(text, remark),
                Block::Said(words, tone) => self.text(&spelled(words), *tone),
                Block::List(list) => {
                    for words in list {
                        self.text(&format!("- {}", spelled(words)), Tone::Plain);
                    }
                }
                Block::Facts(facts) => {
                    let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
                    self.text(&facts.join(", "), Tone::Faint);
                }
                Block::Options(options) => self.text(&format!("options: {}", options.join(", ")), Tone::Faint),
                Block::Command(what, command) => {
                    // Not broken and not cut: somebody may copy it.
                    let line = self.paint(&format!("{what}: {command}"), style_of(Tone::Faint));
                    self.push(&line);
                }
                Block::Table(table) => {
                    if table.is_folded {
                        self.heading(&table.caption, "");
                    }
                    self.table(table);
                }
                Block::Cards(cards) => self.cards(cards),
                Block::Drawings(drawings, _) => {
                    for (_, Drawing { name, note, table, .. }) in
                        drawings.iter().filter(|(seen, _)| screen.shows(*seen))
                    {
                        if let Some(table) = table {
                            self.heading(name, note);
                            self.table(table);
                        }
                    }
                }
            }
        }
    }

    /// Aligned columns. What is too wide for its column is cut: pictures first, then long texts, then names; columns for
    /// which there is no room then are left out, the last first.
    fn table(&mut self, table: &Table) {
        let screen = self.screen;
        let rows: Vec<&[Cell]> =
            table.rows.iter().filter(|row| screen.shows(row.seen)).map(|row| &*row.cells).collect();
        let n_more = if table.is_list { rows.len().saturating_sub(self.n_rows()) } else { 0 };
        let rows = rows.get(..rows.len() - n_more).unwrap_or_default();
        let seen = table.columns.iter().enumerate().filter(|(_, column)| screen.shows(column.seen));
        let mut columns: Vec<(usize, &Column, usize)> = seen
            .map(|(at, column)| (at, column, natural_width(column, rows.iter().filter_map(|row| row.get(at)))))
            .collect();
        squeeze(&mut columns, self.screen.width);
        if columns.iter().any(|(_, column, _)| !column.heading.is_empty()) {
            let header: Vec<String> = columns
                .iter()
                .map(|(at, column, width)| aligned(column.heading, *at, column.show.kind(), *width))
                .collect();
            let header = self.paint(header.join("  ").trim_end(), style_of(Tone::Faint));
            self.push(&header);
        }
        for row in rows {
            let cells: Vec<String> = columns
                .iter()
                .filter_map(|(at, column, width)| {
                    let cell = row.get(*at)?;
                    let style = if cell.picture.is_some() { Style::new().cyan() } else { style_of(cell.tone) };
                    Some(self.paint(&aligned(&drawn(cell, *width), *at, column.show.kind(), *width), style))
                })
                .collect();
            self.push(&cells.join("  "));
        }
        if n_more > 0 {
            self.text(&format!("and {n_more} more"), Tone::Faint);
        }
    }
}

fn style_of(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Strong => Style::new().bold(),
        Tone::Faint => Style::new().dim(),
        Tone::Good => Style::new().green(),
        Tone::Bad => Style::new().red(),
    }
}

/// A sentence without what only a page can show.
fn spelled(words: &Words) -> String {
    let words = match words {
        Words::Told(words) => return words.clone(),
        Words::Fixed(words) => words,
    };
    let spelled = pieces(words).into_iter().map(|piece| match piece {
        Piece::Text(text) | Piece::Strong(text) => text.to_owned(),
        Piece::Code(text) => format!("`{text}`"),
        Piece::Key(_) => String::new(),
    });
    spelled.collect()
}

fn natural_width<'c>(column: &Column, cells: impl Iterator<Item = &'c Cell>) -> usize {
    let of_cell = |cell: &Cell| match &cell.picture {
        Some(Picture::Counts(counts)) => counts.len().min(MAX_PICTURE),
        Some(Picture::Part(_)) => BAR,
        None => width(&cut(&cell.shown, MAX_CELL)),
    };
    cells.map(of_cell).chain([width(column.heading)]).max().unwrap_or_default()
}

/// Makes columns fit into `room`: pictures give way first, then long texts, then the name; then the last column goes.
fn squeeze(columns: &mut Vec<(usize, &Column, usize)>, room: usize) {
    let least = |kind: Kind| if kind == Kind::Picture { MIN_PICTURE } else { MIN_NAME };
    let rank = |at: usize, kind: Kind| match kind {
        Kind::Picture => Some(0),
        Kind::Long => Some(1),
        Kind::Text | Kind::Number => (at == 0).then_some(2),
    };
    loop {
        let all = columns.iter().map(|(_, _, width)| width + GAP).sum::<usize>().saturating_sub(GAP);
        let Some(too_much) = all.checked_sub(room).filter(|too_much| *too_much > 0) else { return };
        let can_give = columns.iter().enumerate().filter(|(_, (_, column, width))| *width > least(column.show.kind()));
        let giving = can_give.filter_map(|(at, (_, column, _))| Some((rank(at, column.show.kind())?, at))).min();
        match giving {
            Some((_, at)) => {
                let (_, column, width) = &mut columns[at];
                *width = width.saturating_sub(too_much).max(least(column.show.kind()));
            }
            None if columns.len() > 2 => drop(columns.pop()),
            None => return,
        }
    }
}

/// Names and texts stand on the left, numbers on the right.
fn aligned(text: &str, at: usize, kind: Kind, to: usize) -> String {
    if at == 0 || kind != Kind::Number {
        return fit(text, to);
    }
    let text = cut(text, to);
    format!("{}{text}", " ".repeat(to.saturating_sub(width(&text))))
}

fn drawn(cell: &Cell, n_columns: usize) -> String {
    match &cell.picture {
        None => cell.shown.clone(),
        Some(Picture::Counts(counts)) => blocks(counts, n_columns),
        Some(Picture::Part(share)) => bar(*share, n_columns),
    }
}

/// Counts as blocks of `n_columns` columns, the largest as high as a line; what is there is seen.
fn blocks(counts: &[u64], n_columns: usize) -> String {
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
fn bar(share: f64, n_columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * n_columns as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if let Some(part) = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'].get((eighths % 8).wrapping_sub(1)) {
        bar.push(*part);
    }
    if bar.is_empty() && share > 0.0 { "▏".to_owned() } else { bar }
}

#[cfg(test)]
mod tests {
    use super::{Page, Screen, bar, blocks};
    use crate::report::plain::width;
    use crate::report::view::{Cell, Seen, Show, Table, Tone, column, picture};

    #[test]
    fn pictures_show_what_is_there() {
        assert_eq!(blocks(&[0, 1, 4, 1000], 4), " ▁▁█");
        assert_eq!(blocks(&[1, 1, 0, 0], 2), "█ ");
        assert_eq!(blocks(&[], 10), "");
        assert_eq!(
            (bar(0.5, 4), bar(0.0001, 4), bar(0.0, 4), bar(0.3, 2)),
            ("██".into(), "▏".into(), String::new(), "▋".into())
        );
    }

    #[test]
    fn tables_fit_and_names_are_cut_before_numbers() {
        for n_columns in [64, 80, 120] {
            let mut page = Page::new(Screen { width: n_columns, colours: false, all: false });
            let columns = [
                column("name", "", Show::Text),
                column("n", "", Show::Count),
                picture("", Show::Counts("n")),
                column("text", "", Show::Long),
            ];
            let mut table = Table::new("", columns, Vec::new());
            let counts = Cell::of(vec![serde_json::json!({ "n": 7 }); 40], Show::Counts("n"));
            let long = Cell::text("\u{1b}[2J 世界 ".repeat(20)).toned(Tone::Bad);
            table.row(Seen::Always, "", [Cell::text("x".repeat(70)), Cell::of(1_234, Show::Count), counts, long]);
            table.row(Seen::Always, "", ["short", "7", "", ""].map(Cell::text));
            page.table(&table);
            page.heading("A heading", &"with a remark ".repeat(8));
            let mut numbers = Table::new("", vec![column("n", "", Show::Count); 12], Vec::new());
            numbers.row(Seen::Always, "", vec![Cell::text("123,456,789"); 12]);
            page.table(&numbers);
            assert!(page.out.lines().all(|line| width(line) <= n_columns), "{n_columns}\n{}", page.out);
            assert!(page.out.contains("1,234") && !page.out.contains('\u{1b}'), "{}", page.out);
        }
    }
}
