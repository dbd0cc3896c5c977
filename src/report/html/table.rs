//! Cards and tables of a page: every number stands beside the value that it shows, and every row names its place in the document,
//! so that the page can be sorted and held against the JSON. Knows rows and columns, no report.

use super::writer::Html;
use crate::report::numbers;

/// A column: its heading and, where it shows a field of the document, the name of that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    heading: &'static str,
    field: Option<&'static str>,
    is_number: bool,
    is_long: bool,
}

/// A column of numbers.
pub(super) const fn number(heading: &'static str, field: &'static str) -> Column {
    Column { heading, field: Some(field), is_number: true, is_long: false }
}

/// A column of texts.
pub(super) const fn text(heading: &'static str, field: &'static str) -> Column {
    Column { heading, field: Some(field), is_number: false, is_long: false }
}

/// A column of texts that need room, such as paths and sentences.
pub(super) const fn long(heading: &'static str, field: &'static str) -> Column {
    Column { is_long: true, ..text(heading, field) }
}

/// What stands in a cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    /// The value as JSON has it; empty when there is none.
    value: String,
    shown: String,
    /// The id of the element that it leads to.
    target: Option<String>,
}

impl Cell {
    /// A count, as all its digits.
    pub(super) fn count(count: u64) -> Self {
        Self { value: count.to_string(), shown: numbers::count(count), target: None }
    }

    /// A count of bytes.
    pub(super) fn bytes(bytes: u64) -> Self {
        Self { value: bytes.to_string(), shown: numbers::bytes(bytes), target: None }
    }

    /// A number, as `format` writes it.
    pub(super) fn number(value: f64, format: impl FnOnce(f64) -> String) -> Self {
        Self { value: value.to_string(), shown: format(value), target: None }
    }

    /// A number that may not have been measured.
    pub(super) fn maybe(value: Option<f64>, format: impl FnOnce(f64) -> String) -> Self {
        let shown = numbers::maybe(value, format);
        Self { value: value.map(|value| value.to_string()).unwrap_or_default(), shown, target: None }
    }

    /// A text.
    pub(super) fn text(text: &str) -> Self {
        Self { value: String::new(), shown: text.to_owned(), target: None }
    }

    /// The same, leading to the element `target`.
    pub(super) fn leading_to(self, target: Option<String>) -> Self {
        Self { target, ..self }
    }
}

/// A number that a page is opened for.
#[derive(Debug)]
pub(super) struct Card {
    name: &'static str,
    /// Where the document has it; empty when it stands nowhere.
    place: &'static str,
    number: Cell,
    beside: String,
}

impl Card {
    /// The card of the number at `place`, with a remark beside it.
    pub(super) fn new(name: &'static str, place: &'static str, number: Cell, beside: String) -> Self {
        Self { name, place, number, beside }
    }

    /// Writes all cards of a page.
    pub(super) fn write_all(cards: &[Self], html: &mut Html) {
        html.tag("dl", &[("class", "cards")], |html| {
            for Self { name, place, number, beside } in cards {
                html.tag("div", &[], |html| {
                    html.leaf("dt", &[], name);
                    let mut attributes = vec![("class", "value")];
                    if !place.is_empty() {
                        attributes.extend([("data-at", *place), ("data-value", &*number.value)]);
                    }
                    html.leaf("dd", &attributes, &number.shown);
                    html.leaf("dd", &[("class", "beside")], beside);
                });
            }
        });
    }
}

/// A table in the making.
#[derive(Debug)]
pub(super) struct Table {
    caption: String,
    columns: Vec<Column>,
    /// Each with its place in the document, a JSON pointer.
    rows: Vec<(String, Vec<Cell>)>,
}

impl Table {
    /// A table without rows.
    pub(super) fn new(caption: impl Into<String>, columns: impl Into<Vec<Column>>) -> Self {
        Self { caption: caption.into(), columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row that shows the part of the document at `place`.
    pub(super) fn row(&mut self, place: String, cells: Vec<Cell>) {
        self.rows.push((place, cells));
    }

    /// Writes it in a box of its own, which scrolls where the table is wider than the page.
    pub(super) fn write(&self, html: &mut Html) {
        let region = [("class", "scroll"), ("role", "region"), ("tabindex", "0"), ("aria-label", &*self.caption)];
        html.tag("div", &region, |html| {
            html.tag("table", &[("class", "sortable")], |html| {
                html.leaf("caption", &[], &self.caption);
                html.tag("thead", &[], |html| html.tag("tr", &[], |html| self.head(html)));
                html.tag("tbody", &[], |html| {
                    for (place, cells) in &self.rows {
                        html.tag("tr", &[("data-at", place)], |html| self.cells(cells, html));
                    }
                });
            });
        });
    }

    /// Writes it folded.
    pub(super) fn write_folded(&self, html: &mut Html) {
        html.tag("details", &[("class", "numbers")], |html| {
            html.tag("summary", &[], |html| {
                html.text("Numbers");
                html.leaf("span", &[("class", "aside")], &format!(": {}", self.caption));
            });
            self.write(html);
        });
    }

    fn head(&self, html: &mut Html) {
        for column in &self.columns {
            let mut attributes = vec![("scope", "col")];
            let field = column.field.filter(|field| !field.is_empty());
            attributes.extend(field.map(|field| ("data-column", field)));
            attributes.extend(column.is_number.then_some(("class", "number")));
            html.leaf("th", &attributes, column.heading);
        }
    }

    fn cells(&self, cells: &[Cell], html: &mut Html) {
        for (at, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
            let (name, mut attributes) = if at == 0 { ("th", vec![("scope", "row")]) } else { ("td", Vec::new()) };
            attributes.extend(column.is_long.then_some(("class", "long")));
            if column.is_number {
                attributes.extend([("class", "number"), ("data-value", &*cell.value)]);
            }
            html.tag(name, &attributes, |html| match &cell.target {
                Some(target) => html.leaf("a", &[("href", &format!("#{target}"))], &cell.shown),
                None if column.is_number => html.text(&cell.shown),
                None => html.leaf("bdi", &[], &cell.shown),
            });
        }
    }
}
