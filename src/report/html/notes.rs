//! What explains the numbers: the sums in full, the runs and their options, how to read the page, how surely each metric
//! finds damage. Refuses to compute.

use std::collections::BTreeMap;

use super::table::{Cell, Table, long, number, text};
use super::writer::Html;
use crate::report::held::Held;
use crate::report::{Calibration, ReportDocument, RunFacts, numbers};

/// The sums of the document, all digits.
pub(super) fn totals(document: &ReportDocument, html: &mut Html) {
    let totals = &document.totals;
    let mut table = Table::new("Sums over all conversations", [text("sum", ""), number("value", "")]);
    let counts = [
        ("conversations", totals.conversations),
        ("distinct_conversations", totals.distinct_conversations),
        ("rejects", totals.rejects),
        ("over_budget", totals.over_budget),
        ("messages_in", totals.messages_in),
        ("messages_out", totals.messages_out),
        ("chars_in", totals.chars_in),
        ("chars_out", totals.chars_out),
        ("tokens_in", totals.tokens_in),
        ("tokens_out", totals.tokens_out),
        ("bytes_stored", totals.bytes_stored),
        ("bytes_stream", totals.bytes_stream),
        ("bytes_written", totals.bytes_written),
    ];
    for (name, value) in counts {
        table.row(format!("/totals/{name}"), vec![Cell::text(&numbers::words(name)), Cell::count(value)]);
    }
    for (name, value) in [("ratio", totals.ratio), ("token_ratio", totals.token_ratio)] {
        let cell = Cell::number(value, numbers::ratio);
        table.row(format!("/totals/{name}"), vec![Cell::text(&numbers::words(name)), cell]);
    }
    table.write_folded(html);
}

/// The runs, which the document has at `place`: where they are, what they read and wrote, and which options they had.
pub(super) fn runs(place: &str, runs: &[RunFacts], html: &mut Html) {
    for (at, run) in runs.iter().enumerate() {
        html.tag("h3", &[], |html| html.leaf("bdi", &[("class", "path")], &run.run));
        html.tag("dl", &[("class", "facts")], |html| {
            let mut fact = |name: &'static str, value: &str| {
                html.leaf("dt", &[], name);
                html.leaf("dd", &[], value);
            };
            fact("status", &run.status);
            fact("written by", &format!("condenser {}", run.engine_version));
            fact("parts", &numbers::count(run.parts));
            fact("figures from", if run.from_sketches { "sketches in its commits" } else { "its tables" });
            fact("options' BLAKE3", &run.config_blake3);
            if !run.missing.is_empty() {
                fact("left out", &run.missing.join("; "));
            }
            if run.options.is_empty() {
                fact("options", "the defaults");
            }
        });
        if !run.options.is_empty() {
            html.leaf("p", &[("class", "note")], "Options that differ from the defaults:");
            html.leaf("pre", &[("class", "options")], &run.options.join("\n"));
        }
        let columns = [
            long("source", ""),
            number("conversations", "conversations"),
            number("messages", "messages"),
            number("rejects", "rejects"),
            number("bytes stored", "bytes_stored"),
            number("bytes uncompressed", "bytes_stream"),
        ];
        let mut table = Table::new("Sources", columns);
        for (name, source) in &run.sources {
            let mut cells = vec![Cell::text(name)];
            cells.extend([source.share.conversations, source.share.messages, source.rejects].map(Cell::count));
            cells.extend([source.bytes_stored, source.bytes_stream].map(Cell::bytes));
            table.row(format!("{place}/{at}/sources/{}", pointer(name)), cells);
        }
        table.write(html);
        let mut table = Table::new("Bytes written, by table", [text("table", ""), number("bytes", "")]);
        for (name, bytes) in &run.bytes_written {
            table.row(
                format!("{place}/{at}/bytes_written/{}", pointer(name)),
                vec![Cell::text(name), Cell::bytes(*bytes)],
            );
        }
        table.write(html);
    }
}

/// A key as a step of a JSON pointer.
fn pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// How to read the page.
pub(super) fn reading(document: &ReportDocument, html: &mut Html) {
    html.fixed("<ul class=\"prose\">");
    html.fixed(match Held::of(&document.runs) {
        Held::Everything => {
            "<li><strong>Nothing is lost.</strong> The run keeps every original: what is measured here is what a reader of \
             the compressed text still sees. <code>condenser restore</code> gives back the input byte for byte.</li>"
        }
        Held::InPart => {
            "<li><strong>Some of the runs only measured</strong> and hold no texts: from them nothing can be restored or \
             shown. The others keep every original, and <code>condenser restore</code> gives back their input byte for \
             byte.</li>"
        }
        Held::Nothing => {
            "<li><strong>The run only measured.</strong> It holds no texts: nothing can be restored from it or shown. The \
             figures are those of a real run.</li>"
        }
    });
    html.fixed(
        "<li><strong>Ratio</strong> is size before over size after: 1 is unchanged, 2 is half. The ratio of all conversations \
         together differs from the mean of their ratios, since long ones weigh more.</li>\
         <li><strong>Quality score</strong> and its three parts look at identifiers and structure. They are blind to most \
         loss: a summary that keeps every file name and drops every number scores 1.</li>\
         <li><strong>Fact retention, forward recall, negation and error retention</strong> look at visible content. \
         Forward recall comes nearest to the success of a task: of the facts that the conversation used later, the share \
         that could still be seen.</li>\
         <li><strong>Loss</strong>, by which the worst are ranked, is one minus the mean of these four, over those that \
         could be measured.</li>\
         <li>A figure is missing where there was nothing to measure, such as for an unchanged conversation: the number of \
         conversations stands beside every figure.</li>\
         <li>Percentiles come from sketches and are within one per cent of the exact ones.</li>\
         </ul>",
    );
    if let Some(calibration) = &document.calibration {
        footnote(calibration, html);
    }
}

/// How surely each metric falls when damage is planted.
fn footnote(calibration: &Calibration, html: &mut Html) {
    html.leaf("h3", &[("id", "calibration")], "How surely each metric finds damage");
    html.leaf(
        "p",
        &[("class", "note")],
        &format!(
            "Damage of each kind was planted in up to {} by condenser {}. A rate is the share of those for which the metric \
             could be measured in which it fell: a high rate over few of them says little. For harmless changes a rate above \
             0 is a false alarm.",
            numbers::counted(calibration.changed, "conversation"),
            calibration.engine_version
        ),
    );
    let columns = [
        text("damage", "damage"),
        text("harmless", ""),
        text("metric", "metric"),
        number("conversations", "measured"),
        number("detected", "rate"),
        number("mean fall", "mean_fall"),
    ];
    let mut table = Table::new("Detection by kind of damage and metric", columns);
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    let kinds = [("damage", &calibration.damage), ("harmless", &calibration.harmless)];
    for (list, at, planted) in
        kinds.iter().flat_map(|(list, kinds)| kinds.iter().enumerate().map(|(at, kind)| (*list, at, kind)))
    {
        for (metric, fall) in &planted.metrics {
            let Some(rate) = fall.rate else { continue };
            let cells = vec![
                Cell::text(&numbers::words(&planted.kind)),
                Cell::text(if list == "harmless" { "yes" } else { "no" }),
                Cell::text(&numbers::words(metric)),
                Cell::count(fall.measured),
                Cell::number(rate, numbers::percent),
                Cell::maybe(fall.mean_fall, numbers::share),
            ];
            table.row(format!("/calibration/{list}/{at}/metrics/{metric}"), cells);
            if list == "damage" {
                let best = best.entry(metric).or_default();
                *best = best.max(rate);
            }
        }
    }
    let blind: Vec<String> =
        best.iter().filter(|(_, best)| **best < 0.5).map(|(metric, _)| numbers::words(metric)).collect();
    if !blind.is_empty() {
        let text = format!("Blind to every kind of damage that was planted: {}.", blind.join(", "));
        html.leaf("p", &[("class", "warning")], &text);
    }
    table.write_folded(html);
}
