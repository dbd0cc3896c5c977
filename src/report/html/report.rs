//! The page of a report: its parts in their order. Refuses to compute: every number is one of the document.

use super::conversations::{Texts, conversations, texts};
use super::writer::Html;
use super::{breakdowns, figures, frame, notes};
use crate::report::held::{Held, WITHOUT_CONTENTS, lack_contents};
use crate::report::{ReportDocument, numbers};

/// A report as one page, with the `texts` of conversations that it lists.
#[must_use]
pub fn report_page(document: &ReportDocument, texts: &Texts) -> String {
    let runs: Vec<&str> = document.runs.iter().map(|run| run.run.as_str()).collect();
    let title = format!("Compression report: {}", runs.join(", "));
    frame::page(&title, |html| header(document, &runs, html), |html| body(document, texts, html))
}

fn header(document: &ReportDocument, runs: &[&str], html: &mut Html) {
    html.leaf("h1", &[], "Compression report");
    html.tag("p", &[("class", "lead")], |html| {
        for (at, run) in runs.iter().enumerate() {
            html.text(if at == 0 { "" } else { ", " });
            html.leaf("bdi", &[("class", "path")], run);
        }
    });
    let unfinished = document.runs.iter().filter(|run| run.status != "complete").count();
    if unfinished > 0 {
        html.tag("p", &[("class", "warning")], |html| {
            let verb = if unfinished == 1 { "is" } else { "are" };
            let all = numbers::counted(runs.len() as u64, "run");
            html.text(&format!("{unfinished} of {all} {verb} not complete: see "));
            html.leaf("a", &[("href", "#runs")], "runs and options");
            html.text(".");
        });
    }
}

fn body(document: &ReportDocument, texts_of: &Texts, html: &mut Html) {
    cards(document, html);
    let sections: [(&'static str, &'static str, bool); 9] = [
        ("distributions", "Ratio and quality", !document.distributions.is_empty()),
        ("densities", "Ratio against quality", !document.densities.is_empty()),
        ("breakdowns", "What falls to whom", !document.breakdowns.is_empty()),
        ("timings", "Time by stage", document.timings.is_some()),
        (
            "conversations",
            "Conversations to look at",
            !(document.largest_savings.is_empty() && document.worst_losses.is_empty()),
        ),
        ("repeated", "Repeated texts", document.repeated.is_some()),
        ("rejects", "Rejected records", true),
        ("runs", "Runs and options", true),
        ("reading", "How to read this", true),
    ];
    frame::sections(&sections, html, |id, html| match id {
        "distributions" => figures::distributions(document, html),
        "densities" => figures::densities(document, html),
        "breakdowns" => breakdowns::breakdowns(document, html),
        "timings" => breakdowns::timings(document, html),
        "conversations" => conversations(document, texts_of, html),
        "repeated" => breakdowns::repeated(document, html),
        "rejects" => breakdowns::rejects(document, html),
        "runs" => {
            if lack_contents(document) {
                html.leaf("p", &[("class", "note")], &format!("{WITHOUT_CONTENTS}."));
            }
            notes::runs("/runs", &document.runs, html);
        }
        _ => notes::reading(document, html),
    });
    texts(document, texts_of, html);
}

/// A number that the page is opened for.
struct Card<'a> {
    name: &'static str,
    /// Where the document has it.
    place: &'a str,
    value: String,
    shown: String,
    beside: String,
}

fn cards(document: &ReportDocument, html: &mut Html) {
    let totals = &document.totals;
    let (count, bytes) = (numbers::count, numbers::bytes);
    let less = |before: u64, after: u64| {
        let share = if before == 0 { 0.0 } else { 1.0 - after as f64 / before as f64 };
        format!("{} → {}, {} less", numbers::short(before), numbers::short(after), numbers::percent(share))
    };
    let card = |name, place, value: String, shown: String, beside: String| Card { name, place, value, shown, beside };
    let mut cards = vec![
        card(
            "Ratio of characters",
            "/totals/ratio",
            totals.ratio.to_string(),
            numbers::ratio(totals.ratio),
            less(totals.chars_in, totals.chars_out),
        ),
        card(
            "Ratio of tokens",
            "/totals/token_ratio",
            totals.token_ratio.to_string(),
            numbers::ratio(totals.token_ratio),
            less(totals.tokens_in, totals.tokens_out),
        ),
        card(
            "Tokens saved",
            "",
            String::new(),
            count(totals.tokens_in.saturating_sub(totals.tokens_out)),
            format!("{} → {}", count(totals.tokens_in), count(totals.tokens_out)),
        ),
        card(
            "Conversations",
            "/totals/conversations",
            totals.conversations.to_string(),
            count(totals.conversations),
            format!("about {} different, {} rejected", count(totals.distinct_conversations), count(totals.rejects)),
        ),
        card(
            "Messages",
            "/totals/messages_in",
            totals.messages_in.to_string(),
            count(totals.messages_in),
            format!("{} after", count(totals.messages_out)),
        ),
        card(
            "Bytes read",
            "/totals/bytes_stream",
            totals.bytes_stream.to_string(),
            bytes(totals.bytes_stream),
            format!("stored as {}", bytes(totals.bytes_stored)),
        ),
        card(
            "Bytes written",
            "/totals/bytes_written",
            totals.bytes_written.to_string(),
            bytes(totals.bytes_written),
            match Held::of(&document.runs) {
                Held::Everything => "all tables, originals included",
                Held::InPart => "some of the runs only measured and hold no texts",
                Held::Nothing => "figures only: the run holds no texts",
            }
            .to_owned(),
        ),
    ];
    if let Some(money) = &document.money {
        let price = numbers::money(money.per_million_tokens);
        let (before, after) = (numbers::money(money.before), numbers::money(money.after));
        let beside = format!("{before} → {after} at {price} per million tokens");
        let shown = numbers::money(money.saved);
        cards.insert(2, card("Money saved", "/money/saved", money.saved.to_string(), shown, beside));
    }
    if totals.over_budget > 0 {
        let (value, shown) = (totals.over_budget.to_string(), count(totals.over_budget));
        let beside = format!("of {}", numbers::counted(totals.conversations, "conversation"));
        cards.push(card("Over the token budget", "/totals/over_budget", value, shown, beside));
    }
    html.tag("dl", &[("class", "cards")], |html| {
        for card in &cards {
            html.tag("div", &[], |html| {
                html.leaf("dt", &[], card.name);
                let mut attributes = vec![("class", "value")];
                if !card.place.is_empty() {
                    attributes.extend([("data-at", card.place), ("data-value", &*card.value)]);
                }
                html.leaf("dd", &attributes, &card.shown);
                html.leaf("dd", &[("class", "beside")], &card.beside);
            });
        }
    });
    notes::totals(document, html);
}
