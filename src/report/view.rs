//! What a document shows, described once: cards, sections, tables, charts and sentences, each with where it is worth its
//! room. Terminal and page render nothing else. Knows numbers and texts, neither columns of a terminal nor markup.

use serde_json::{Number, Value};

use super::{DensityFacts, Distribution, FigureDrift, numbers};
use crate::model::Figure;

/// Where something is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Everywhere.
    Always,
    /// On pages, and on terminals that are wide enough for more than what one looks at first.
    Wide,
    /// On pages, and on terminals when everything is wanted.
    All,
    /// On pages.
    Page,
    /// On terminals.
    Terminal,
}

/// What something means to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
}

/// A sentence.
#[derive(Debug, Clone)]
pub(super) enum Words {
    /// One of the program, see [`pieces`].
    Fixed(&'static str),
    /// One with something of a document in it: every sign stands for itself.
    Told(String),
}

/// A piece of a sentence of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    Text(&'static str),
    Strong(&'static str),
    Code(&'static str),
    /// The colour with this name, as a key to a chart.
    Key(&'static str),
}

/// The pieces of a sentence of the program: `**strong**`, `` `code` `` and `{key}`.
pub(super) fn pieces(mut words: &'static str) -> Vec<Piece> {
    type Make = fn(&'static str) -> Piece;
    const MARKS: [(&str, &str, Make); 3] =
        [("**", "**", Piece::Strong), ("`", "`", Piece::Code), ("{", "}", Piece::Key)];
    let mut pieces = Vec::new();
    while let Some((at, open, close, make)) = MARKS
        .iter()
        .filter_map(|(open, close, make)| Some((words.find(open)?, open, close, make)))
        .min_by_key(|found| found.0)
    {
        let (before, rest) = words.split_at(at);
        let inside = rest.strip_prefix(open).unwrap_or_default();
        let (inside, rest) = inside.split_once(close).unwrap_or((inside, ""));
        pieces.extend([Piece::Text(before), make(inside)]);
        words = rest;
    }
    pieces.push(Piece::Text(words));
    pieces
}

/// A picture of one line that stands in a table of a terminal, where a page has a chart.
#[derive(Debug, Clone)]
pub(super) enum Picture {
    /// Counts from left to right.
    Counts(Vec<u64>),
    /// A share of the whole.
    Part(f64),
}

/// What stands in a cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    /// The value as JSON has it; empty when there is none.
    pub(super) value: String,
    pub(super) shown: String,
    pub(super) tone: Tone,
    pub(super) picture: Option<Picture>,
    /// The id of the element of a page that it leads to.
    pub(super) target: Option<String>,
}

impl Cell {
    fn new(value: String, shown: String) -> Self {
        Self { value, shown, tone: Tone::Plain, picture: None, target: None }
    }

    /// A text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::new(String::new(), text.into())
    }

    /// A value, written as `show` says.
    pub(super) fn of(value: impl Into<Value>, show: Show) -> Self {
        Self::of_value(&value.into(), show)
    }

    fn of_value(value: &Value, show: Show) -> Self {
        let picture = match (show, value) {
            (Show::Counts(field), Value::Array(parts)) => {
                let count = |part: &Value| part.get(field).and_then(Value::as_u64).unwrap_or_default();
                Some(Picture::Counts(parts.iter().map(count).collect()))
            }
            (Show::Part(all), value) => value.as_f64().map(|part| Picture::Part(part / all.max(f64::MIN_POSITIVE))),
            _ => None,
        };
        let cell = match value {
            Value::Number(number) => {
                let value =
                    number.as_u64().map_or_else(|| value.as_f64().unwrap_or(f64::NAN).to_string(), |n| n.to_string());
                Self::new(value, show.number(number))
            }
            Value::String(text) => Self::text(match show {
                Show::Name => name_of(Some(text)).to_owned(),
                Show::Words => numbers::words(text),
                _ => text.clone(),
            }),
            Value::Bool(is_so) => Self::text(if *is_so { "yes" } else { "no" }),
            Value::Null if show == Show::Name => Self::text(name_of(None)),
            Value::Null if show.kind() == Kind::Number => Self::text(numbers::NOTHING),
            _ => Self::text(""),
        };
        Self { picture, ..cell }
    }

    /// The same with a meaning.
    pub(super) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// How a value is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Show {
    Text,
    /// The name of a field as words.
    Words,
    /// A name of a breakdown.
    Name,
    /// A text that needs room, such as a path or a sentence.
    Long,
    Count,
    /// A count to three digits.
    Short,
    Bytes,
    Ratio,
    Share,
    Percent,
    Seconds,
    Money,
    /// A ratio or a share, as the `figure` of the row says.
    Figure,
    /// A picture of the counts that the parts of the value have under this name.
    Counts(&'static str),
    /// A picture of the share that the value is of this whole.
    Part(f64),
}

/// What kind of cells a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    Long,
    Picture,
}

impl Show {
    /// How a figure is shown.
    pub(super) fn of_figure(figure: &str) -> Self {
        if Figure::named(figure).is_some_and(Figure::is_ratio) { Self::Ratio } else { Self::Share }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Text | Self::Words | Self::Name => Kind::Text,
            Self::Long => Kind::Long,
            Self::Counts(_) | Self::Part(_) => Kind::Picture,
            _ => Kind::Number,
        }
    }

    fn number(self, number: &Number) -> String {
        let (count, value) = (number.as_u64().unwrap_or_default(), number.as_f64().unwrap_or(f64::NAN));
        match self {
            Self::Short => numbers::short(count),
            Self::Bytes => numbers::bytes(count),
            Self::Ratio => numbers::ratio(value),
            Self::Share | Self::Figure => numbers::share(value),
            Self::Percent => numbers::percent(value),
            Self::Seconds => numbers::seconds(value),
            Self::Money => numbers::money(value),
            Self::Counts(_) | Self::Part(_) => String::new(),
            _ => numbers::count(count),
        }
    }
}

/// A column: its heading, the field of the part of the document that a row shows, or the way to it, and how that is shown.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) heading: &'static str,
    /// Empty for the part itself, [`KEY`] for what it is called.
    pub(super) field: String,
    pub(super) show: Show,
    pub(super) seen: Seen,
    tone: Tone,
}

/// The name of a part instead of a field of it.
pub(super) const KEY: &str = "@";

impl Column {
    /// The same, shown elsewhere.
    pub(super) fn on(self, seen: Seen) -> Self {
        Self { seen, ..self }
    }

    /// The same with a meaning.
    pub(super) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    fn cell(&self, part: &Part<'_>) -> Cell {
        let way = if self.field.is_empty() { String::new() } else { format!("/{}", self.field) };
        let show = match (self.show, part.value.get("figure")) {
            (Show::Figure, Some(Value::String(figure))) => Show::of_figure(figure),
            (show, _) => show,
        };
        let cell = match part.value.pointer(&way) {
            _ if self.field == KEY => Cell::of(&*part.key, show),
            Some(value) => Cell::of_value(value, show),
            None => Cell::of_value(&Value::Null, show),
        };
        cell.toned(self.tone)
    }
}

/// A column.
pub(super) fn column(heading: &'static str, field: impl Into<String>, show: Show) -> Column {
    Column { heading, field: field.into(), show, seen: Seen::Always, tone: Tone::Plain }
}

/// A column with a picture of the values of a field.
pub(super) fn picture(field: &'static str, show: Show) -> Column {
    column("", field, show).on(Seen::Terminal)
}

/// A part of a document: what it is called, its place, and its value.
#[derive(Debug, Clone)]
pub(super) struct Part<'j> {
    pub(super) key: String,
    pub(super) place: String,
    pub(super) value: &'j Value,
    pub(super) seen: Seen,
}

impl<'j> Part<'j> {
    /// The part at a place of the document, under a name.
    pub(super) fn at(json: &'j Value, place: impl Into<String>, key: impl Into<String>) -> Self {
        let place = place.into();
        let value = json.pointer(&place).unwrap_or(&Value::Null);
        Self { key: key.into(), place, value, seen: Seen::Always }
    }
}

/// The items or entries of what the document has at `place`.
pub(super) fn parts<'j>(json: &'j Value, place: &str) -> Vec<Part<'j>> {
    let part = |key: &str| {
        // A step of a JSON pointer.
        let step = key.replace('~', "~0").replace('/', "~1");
        Part::at(json, format!("{place}/{step}"), key)
    };
    match json.pointer(place) {
        Some(Value::Array(items)) => (0..items.len()).map(|at| part(&at.to_string())).collect(),
        Some(Value::Object(entries)) => entries.keys().map(|key| part(key)).collect(),
        _ => Vec::new(),
    }
}

/// A row, and the place of what it shows in the document, a JSON pointer.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) place: String,
    pub(super) cells: Vec<Cell>,
    pub(super) seen: Seen,
}

/// A table.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    /// What most readers do not look at: a page folds it, a terminal says what it is.
    pub(super) is_folded: bool,
    /// The first rows say most: a terminal shows no more than it has room for.
    pub(super) is_list: bool,
}

impl Table {
    /// A table of parts of a document.
    pub(super) fn new(caption: impl Into<String>, columns: impl Into<Vec<Column>>, parts: Vec<Part<'_>>) -> Self {
        let (caption, columns) = (caption.into(), columns.into());
        let row = |part: Part<'_>| Row {
            cells: columns.iter().map(|column| column.cell(&part)).collect(),
            place: part.place,
            seen: part.seen,
        };
        let rows = parts.into_iter().map(row).collect();
        Self { caption, columns, rows, is_folded: false, is_list: false }
    }

    /// A list, of which the first rows say most.
    pub(super) fn list(caption: impl Into<String>, columns: impl Into<Vec<Column>>, parts: Vec<Part<'_>>) -> Self {
        Self { is_list: true, ..Self::new(caption, columns, parts) }
    }

    /// The same, folded.
    pub(super) fn folded(self) -> Self {
        Self { is_folded: true, ..self }
    }

    /// Adds a row that shows the part of the document at `place`.
    pub(super) fn row(&mut self, seen: Seen, place: impl Into<String>, cells: impl Into<Vec<Cell>>) {
        self.rows.push(Row { place: place.into(), cells: cells.into(), seen });
    }
}

/// A bar with a name.
#[derive(Debug, Clone)]
pub(super) struct NamedBar {
    /// Its name, of any length and content.
    pub(super) name: String,
    /// A name that is too long loses its beginning: paths differ in their end.
    pub(super) keeps_end: bool,
    /// What it is held against, drawn behind it.
    pub(super) behind: f64,
    /// Its length.
    pub(super) length: f64,
    /// What is written at its end.
    pub(super) says: String,
}

/// A value, and the ends of its interval.
pub(super) type Spanned = (f64, Option<(f64, f64)>);

/// An option set by its ratio and a figure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) ratio: Spanned,
    pub(super) figure: Spanned,
    pub(super) kind: PointKind,
}

/// What an option set is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PointKind {
    /// One of many.
    Other,
    /// None is better in both.
    Front,
    /// The one that is recommended.
    Recommended,
}

/// What is drawn on a page.
#[derive(Debug, Clone)]
pub(super) enum Chart<'d> {
    /// The bars of a distribution, with a line at its median.
    Histogram(&'d Distribution),
    /// The same figure in several classes: from p5 to p95 a line, from p25 to p75 a box, the median marked.
    Spreads(Vec<&'d Distribution>),
    /// How many conversations have a ratio and another figure.
    Density(&'d DensityFacts),
    /// The bars of both sides, as shares of each side.
    Twin(&'d FigureDrift),
    /// Bars with names at their left, the first on top.
    Bars(Vec<NamedBar>),
    /// Option sets by ratio and a figure.
    Front(Vec<Point>),
}

/// A chart with a caption and the numbers that it draws.
#[derive(Debug, Clone)]
pub(super) struct Drawing<'d> {
    pub(super) name: String,
    /// What stands beside the name.
    pub(super) note: String,
    /// What a reader who sees nothing is told.
    pub(super) alternative: String,
    pub(super) chart: Chart<'d>,
    /// It has the width of a page.
    pub(super) is_wide: bool,
    pub(super) table: Option<Table>,
}

/// A part of a section.
#[derive(Debug, Clone)]
pub(super) enum Block<'d> {
    /// A heading within the section, with an id to link to and a remark.
    Heading {
        id: &'static str,
        text: String,
        remark: &'static str,
    },
    /// A sentence.
    Said(Words, Tone),
    /// Sentences that stand apart.
    List(Vec<Words>),
    /// Names and what they are.
    Facts(Vec<(&'static str, String)>),
    /// Lines of an option file.
    Options(Vec<String>),
    /// A command that a reader may copy, and what it does.
    Command(&'static str, String),
    Table(Table),
    /// Numbers beside those that a document is opened for.
    Cards(Vec<Card>),
    /// Drawings side by side; `true` when they are of different heights.
    Drawings(Vec<(Seen, Drawing<'d>)>, bool),
}

/// A number that a document is opened for.
#[derive(Debug, Clone)]
pub(super) struct Card {
    pub(super) name: &'static str,
    /// Where the document has it; empty when it stands nowhere.
    pub(super) place: &'static str,
    pub(super) number: Cell,
    pub(super) beside: String,
}

impl Card {
    /// The card of the number at `place`, with a remark beside it.
    pub(super) fn new(name: &'static str, place: &'static str, number: Cell, beside: impl Into<String>) -> Self {
        Self { name, place, number, beside: beside.into() }
    }

    /// The same with the number that the document has there.
    pub(super) fn of(
        json: &Value,
        name: &'static str,
        place: &'static str,
        show: Show,
        beside: impl Into<String>,
    ) -> Self {
        Self::new(name, place, Cell::of_value(json.pointer(place).unwrap_or(&Value::Null), show), beside)
    }
}

/// Blocks, each with where it is shown.
pub(super) type Blocks<'d> = Vec<(Seen, Block<'d>)>;

/// A section; without blocks it is not there.
#[derive(Debug, Clone)]
pub(super) struct Section<'d> {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) remark: String,
    pub(super) blocks: Blocks<'d>,
    /// What most readers do not look at: a page folds it.
    pub(super) is_folded: bool,
    /// It goes into a mail as well.
    pub(super) is_mailed: bool,
}

impl<'d> Section<'d> {
    /// A section with these blocks.
    pub(super) fn new(id: &'static str, heading: &'static str, blocks: Blocks<'d>) -> Self {
        Self { id, heading, remark: String::new(), blocks, is_folded: false, is_mailed: false }
    }

    /// The same, folded.
    pub(super) fn folded(self) -> Self {
        Self { is_folded: true, ..self }
    }

    /// The same, in mails too.
    pub(super) fn mailed(self) -> Self {
        Self { is_mailed: true, ..self }
    }

    /// The same with a remark beside the heading.
    pub(super) fn remarking(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }
}

/// All that is shown of a document.
#[derive(Debug, Clone)]
pub(super) struct View<'d> {
    pub(super) heading: String,
    /// What it is about: names of runs or inputs.
    pub(super) about: Vec<String>,
    /// What stands between them.
    pub(super) between: &'static str,
    /// Of what and when, in a line below the heading.
    pub(super) facts: Vec<String>,
    /// All that it says, in a sentence.
    pub(super) lead: String,
    /// What must be known before anything else.
    pub(super) warnings: Blocks<'d>,
    pub(super) cards: Vec<Card>,
    /// What stands below the cards, on the first screen.
    pub(super) sums: Blocks<'d>,
    pub(super) sections: Vec<Section<'d>>,
    /// How a terminal is told to show more.
    pub(super) more: &'static str,
}

/// A sentence of the program, as a note.
pub(super) fn note<'d>(words: &'static str) -> Block<'d> {
    Block::Said(Words::Fixed(words), Tone::Faint)
}

/// A sentence with something of a document in it.
pub(super) fn said<'d>(words: impl Into<String>, tone: Tone) -> Block<'d> {
    Block::Said(Words::Told(words.into()), tone)
}

/// A heading without id and remark.
pub(super) fn heading<'d>(text: impl Into<String>) -> Block<'d> {
    Block::Heading { id: "", text: text.into(), remark: "" }
}

/// The name of a share; `None` for everything that is not told apart.
pub(super) fn name_of(name: Option<&str>) -> &str {
    match name {
        None => "all others",
        Some("") => "(no name)",
        Some(name) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};

    #[test]
    fn sentences_have_strong_words_code_and_keys() {
        assert_eq!(
            pieces("**A** is `b` or {pale}."),
            [
                Piece::Text(""),
                Piece::Strong("A"),
                Piece::Text(" is "),
                Piece::Code("b"),
                Piece::Text(" or "),
                Piece::Key("pale"),
                Piece::Text(".")
            ]
        );
    }
}
