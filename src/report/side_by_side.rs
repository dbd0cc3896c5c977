//! A conversation before and after as text for a terminal: two columns with the decisions in the margin, or one below the
//! other where there is no room. Knows pairs and columns, no terminal: width and colours are told.

use console::Style;
use serde_json::Value;

use super::numbers::{count, counted};
use super::pair::{Before, Pair, Step, figures_of};
use super::plain::{cut, fit, line, wrap};
use crate::model::Figure;
use crate::pipeline::sketch::ratio;

/// With fewer columns the two sides stand one below the other.
pub const MIN_BESIDE: usize = 80;
/// Columns of the margin.
const MARGIN: usize = 26;
/// Between columns.
const RULE: &str = " │ ";
/// Lines of an unchanged message when texts are folded.
const FOLDED_SAME: usize = 3;
/// Lines of what stands there now.
const FOLDED_AFTER: usize = 60;
/// An original has so many lines, or as many as what stands for it.
const FOLDED_BEFORE: usize = 20;

/// How a pair is shown.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns of the terminal.
    pub width: usize,
    /// Every line of every message.
    pub full: bool,
    /// With colours.
    pub colours: bool,
}

/// The conversation as lines of text.
pub fn side_by_side(pair: &Pair, layout: Layout) -> String {
    let painter = Painter::new(layout);
    let mut out = painter.header(pair);
    for step in &pair.steps {
        out.push_str(&painter.rule());
        if painter.is_narrow() {
            painter.below(step, &mut out);
        } else {
            painter.beside(step, &mut out);
        }
    }
    out.push_str(&painter.rule());
    out.push('\n');
    out
}

/// A plain line and how it is painted.
type Painted<'p> = (String, &'p Style);

struct Painter {
    layout: Layout,
    plain: Style,
    bold: Style,
    faint: Style,
    changed: Style,
}

impl Painter {
    fn new(layout: Layout) -> Self {
        let style = || Style::new().force_styling(layout.colours);
        let layout = Layout { width: layout.width.max(20), ..layout };
        Self { layout, plain: style(), bold: style().bold(), faint: style().dim(), changed: style().yellow() }
    }

    fn is_narrow(&self) -> bool {
        self.layout.width < MIN_BESIDE
    }

    fn rule(&self) -> String {
        self.faint.apply_to("─".repeat(self.layout.width)).to_string() + "\n"
    }

    fn header(&self, pair: &Pair) -> String {
        let sum = |name: &str| pair.metrics.get(name).and_then(Value::as_u64).unwrap_or_default();
        let mut out = String::new();
        let mut push = |style: &Style, text: &str| {
            for line in wrap(text, self.layout.width) {
                out.push_str(&style.apply_to(line).to_string());
                out.push('\n');
            }
        };
        push(&self.bold, &format!("{} · {} row {}", line(&pair.id), line(&pair.source), pair.source_row));
        let changed = |before: u64, after: u64, noun: &str| {
            format!("{} → {} {noun}{}", count(before), count(after), if (before, after) == (1, 1) { "" } else { "s" })
        };
        let change = |name: &str, noun: &str| changed(sum(&format!("{name}_in")), sum(&format!("{name}_out")), noun);
        push(
            &self.plain,
            &format!(
                "{}, {} (ratio {:.2}), {}",
                changed(pair.n_before as u64, pair.steps.len() as u64, "message"),
                change("chars", "character"),
                ratio(sum("chars_in"), sum("chars_out")),
                change("tokens", "token")
            ),
        );
        let mut figures = vec![format!("class {}", pair.metrics.get("class").and_then(Value::as_str).unwrap_or("–"))];
        figures
            .extend(figures_of(pair, &Figure::SHARES).map(|(figure, value)| format!("{} {value:.3}", figure.label())));
        push(&self.plain, &figures.join(" · "));
        push(&self.faint, pair.verdicts_from.says());
        out
    }

    /// Margin, before, after.
    fn beside(&self, step: &Step, out: &mut String) {
        let texts = self.layout.width - MARGIN - RULE.chars().count();
        if step.is_unchanged {
            let spoken = folded(wrap(&step.after.text, texts), self.limit(FOLDED_SAME));
            let margin = step.before.first().map(|before| self.margin(before)).unwrap_or_default();
            for at in 0..margin.len().max(spoken.len()) {
                let text = spoken.get(at).map_or("", String::as_str);
                self.push(&[(margin.get(at), MARGIN), (Some(&(text.to_owned(), &self.faint)), texts)], out);
            }
            return;
        }
        let left = (texts - RULE.chars().count()) / 2;
        let right = texts - RULE.chars().count() - left;
        let after = folded(wrap(&step.after.text, right), self.limit(FOLDED_AFTER));
        let limit = self.limit(after.len().max(FOLDED_BEFORE));
        let after: Vec<Painted<'_>> = after.into_iter().map(|line| (line, &self.changed)).collect();
        let (mut margin, mut before): (Vec<Painted<'_>>, Vec<Painted<'_>>) = (Vec::new(), Vec::new());
        for (at, original) in step.before.iter().enumerate() {
            if at > 0 {
                // Originals behind one message are told apart by an empty line.
                let empty = (String::new(), &self.plain);
                before.push(empty.clone());
                margin.push(empty);
            }
            margin.extend(self.margin(original));
            let spoken = folded(wrap(&original.spoken.text, left), limit);
            before.extend(spoken.into_iter().map(|line| (line, &self.plain)));
            let n_lines = margin.len().max(before.len());
            margin.resize(n_lines, (String::new(), &self.plain));
            before.resize(n_lines, (String::new(), &self.plain));
        }
        for at in 0..before.len().max(after.len()) {
            self.push(&[(margin.get(at), MARGIN), (before.get(at), left), (after.get(at), right)], out);
        }
    }

    /// One below the other.
    fn below(&self, step: &Step, out: &mut String) {
        let indent = 2;
        let mut push = |(text, style): Painted<'_>, at: usize| {
            for line in wrap(&text, self.layout.width - at) {
                out.extend(std::iter::repeat_n(' ', at));
                out.push_str(&style.apply_to(line).to_string());
                out.push('\n');
            }
        };
        for original in &step.before {
            let told: Vec<String> = self.margin(original).into_iter().map(|(text, _)| text.trim().to_owned()).collect();
            push((told.join(" · "), &self.bold), 0);
            let limit = self.limit(if step.is_unchanged { FOLDED_SAME } else { FOLDED_BEFORE });
            for line in folded(wrap(&original.spoken.text, self.layout.width - indent), limit) {
                push((line, if step.is_unchanged { &self.faint } else { &self.plain }), indent);
            }
        }
        if !step.is_unchanged {
            push((format!("⇒ {}", line(&step.after.role)), &self.bold), 0);
            for line in folded(wrap(&step.after.text, self.layout.width - indent), self.limit(FOLDED_AFTER)) {
                push((line, &self.changed), indent);
            }
        }
    }

    /// Index and role, what was done and why, and what it brought.
    fn margin(&self, original: &Before) -> Vec<Painted<'_>> {
        let mut margin = vec![(cut(&format!("{:>4} {}", original.index, original.spoken.role), MARGIN), &self.bold)];
        let mut push = |text: &str, style| {
            margin.extend(wrap(text, MARGIN - 5).into_iter().map(|line| (format!("     {line}"), style)));
        };
        let Some(verdict) = &original.verdict else { return margin };
        let is_kept = verdict.action == "preserved";
        push(&verdict.action, if is_kept { &self.plain } else { &self.changed });
        push(&verdict.reason, &self.plain);
        if !verdict.details.is_empty() {
            push(&format!("({})", verdict.details.join(", ")), &self.faint);
        }
        push(&format!("{} → {}", verdict.chars_in, verdict.chars_out), &self.faint);
        margin
    }

    fn limit(&self, n_lines: usize) -> usize {
        if self.layout.full { usize::MAX } else { n_lines }
    }

    /// One line of columns.
    fn push(&self, cells: &[(Option<&Painted<'_>>, usize)], out: &mut String) {
        let empty = (String::new(), &self.plain);
        for (at, &(cell, columns)) in cells.iter().enumerate() {
            let (text, style) = cell.unwrap_or(&empty);
            let is_last = at + 1 == cells.len();
            if at > 0 {
                let rule = if is_last && text.is_empty() { RULE.trim_end() } else { RULE };
                out.push_str(&self.faint.apply_to(rule).to_string());
            }
            let text = if is_last { text.clone() } else { fit(text, columns) };
            out.push_str(&style.apply_to(text).to_string());
        }
        out.push('\n');
    }
}

/// The first lines, and how many there are more; a fold that saves nothing is not made.
fn folded(mut lines: Vec<String>, limit: usize) -> Vec<String> {
    if lines.len() > limit.saturating_add(1) {
        let more = lines.len() - limit;
        lines.truncate(limit);
        lines.push(format!("… {}", counted(more as u64, "more line")));
    }
    lines
}
