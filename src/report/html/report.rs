//! The page of a report: its parts in their order. Refuses to compute: every number is one of the document.

use super::conversations::{Texts, conversations, texts};
use super::table::{Card, Cell};
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

fn cards(document: &ReportDocument, html: &mut Html) {
    let totals = &document.totals;
    let (count, bytes, ratio) = (numbers::count, numbers::bytes, |value| Cell::number(value, numbers::ratio));
    let less = |before: u64, after: u64| {
        let share = if before == 0 { 0.0 } else { 1.0 - after as f64 / before as f64 };
        format!("{} → {}, {} less", numbers::short(before), numbers::short(after), numbers::percent(share))
    };
    let saved = Cell::count(totals.tokens_in.saturating_sub(totals.tokens_out));
    let (different, rejected) = (count(totals.distinct_conversations), count(totals.rejects));
    let of_conversations = format!("about {different} different, {rejected} rejected");
    let of_tokens = format!("{} → {}", count(totals.tokens_in), count(totals.tokens_out));
    let of_messages = format!("{} after", count(totals.messages_out));
    let stored = format!("stored as {}", bytes(totals.bytes_stored));
    let held = match Held::of(&document.runs) {
        Held::Everything => "all tables, originals included",
        Held::InPart => "some of the runs only measured and hold no texts",
        Held::Nothing => "figures only: the run holds no texts",
    };
    let [conversations, messages] = [totals.conversations, totals.messages_in].map(Cell::count);
    let [read, written] = [totals.bytes_stream, totals.bytes_written].map(Cell::bytes);
    let card = Card::new;
    let of_chars = less(totals.chars_in, totals.chars_out);
    let mut cards = vec![
        card("Ratio of characters", "/totals/ratio", ratio(totals.ratio), of_chars),
        card(
            "Ratio of tokens",
            "/totals/token_ratio",
            ratio(totals.token_ratio),
            less(totals.tokens_in, totals.tokens_out),
        ),
        card("Tokens saved", "", saved, of_tokens),
        card("Conversations", "/totals/conversations", conversations, of_conversations),
        card("Messages", "/totals/messages_in", messages, of_messages),
        card("Bytes read", "/totals/bytes_stream", read, stored),
        card("Bytes written", "/totals/bytes_written", written, held.to_owned()),
    ];
    if let Some(money) = &document.money {
        let price = numbers::money(money.per_million_tokens);
        let (before, after) = (numbers::money(money.before), numbers::money(money.after));
        let beside = format!("{before} → {after} at {price} per million tokens");
        cards.insert(2, card("Money saved", "/money/saved", Cell::number(money.saved, numbers::money), beside));
    }
    if totals.over_budget > 0 {
        let beside = format!("of {}", numbers::counted(totals.conversations, "conversation"));
        cards.push(card("Over the token budget", "/totals/over_budget", Cell::count(totals.over_budget), beside));
    }
    Card::write_all(&cards, html);
    notes::totals(document, html);
}
