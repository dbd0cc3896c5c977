//! A report as a table of text. Knows figures, no terminal.

use super::{Figures, Report, Spread};

/// The report as aligned columns, one line per figure and one column per class.
#[must_use]
pub fn render(report: &Report) -> String {
    let columns: Vec<(&str, &Figures)> = report.classes().chain([("total", report.total())]).collect();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut row = |name: &str, value: &dyn Fn(&Figures) -> String| {
        rows.push((name.to_owned(), columns.iter().map(|(_, figures)| value(figures)).collect()));
    };
    row("conversations", &|figures| grouped(figures.conversations()));
    row("characters in", &|figures| grouped(figures.chars().0));
    row("characters out", &|figures| grouped(figures.chars().1));
    row("tokens in", &|figures| grouped(figures.tokens().0));
    row("tokens out", &|figures| grouped(figures.tokens().1));
    row("ratio of all", &|figures| format!("{:.2}", figures.total_ratio()));
    for (name, pick) in SPREADS {
        row(&format!("ratio {name}"), &|figures| number(figures.ratio().as_ref().map(pick), 2));
    }
    for (name, pick) in SPREADS {
        row(&format!("quality {name}"), &|figures| number(figures.quality().as_ref().map(pick), 3));
    }
    for (index, (name, _)) in report.total().means().enumerate() {
        let name = name.replace('_', " ");
        row(&name, &|figures| number(figures.means().nth(index).and_then(|(_, mean)| mean), 3));
    }
    let header = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    layout([(String::new(), header)].into_iter().chain(rows).collect())
}

/// A name and the figure of a spread.
type Percentile = (&'static str, fn(&Spread) -> f64);

const SPREADS: [Percentile; 3] =
    [("p10", |spread| spread.p10), ("p50", |spread| spread.p50), ("p90", |spread| spread.p90)];

fn layout(rows: Vec<(String, Vec<String>)>) -> String {
    let width = |text: &String| text.chars().count();
    let names = rows.iter().map(|(name, _)| width(name)).max().unwrap_or_default();
    let n_columns = rows.first().map_or(0, |(_, values)| values.len());
    let widths: Vec<usize> = (0..n_columns)
        .map(|at| rows.iter().filter_map(|(_, values)| values.get(at).map(width)).max().unwrap_or_default())
        .collect();
    let mut out = String::new();
    for (name, values) in rows {
        out.push_str(&format!("{name:<names$}"));
        for (value, width) in values.iter().zip(&widths) {
            out.push_str(&format!("  {value:>width$}"));
        }
        out.push('\n');
    }
    out
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// `1,234,567`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
