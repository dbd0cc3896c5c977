//! The sections of a report, what one looks at first before the rest. Knows the document, not how columns are aligned.

use super::layout::{Cell, MAX_PICTURE, N_ALL, Page, Table, Tone, bar, name_of, picture};
use crate::pipeline::Timings;
use crate::pipeline::sketch::{RELATIVE_ERROR, Share};
use crate::report::held::{Held, WITHOUT_CONTENTS, lack_contents};
use crate::report::numbers::{
    bytes, count, counted, figure, maybe, money, percent, ratio, seconds, share, short, words,
};
use crate::report::plain::cut;
use crate::report::shell;
use crate::report::{
    BreakdownFacts, BreakdownRow, Calibration, ConversationFacts, Distribution, FIGURES, Fall, Planted, Repeated,
    ReportDocument,
};

/// Breakdowns of the short report.
const FIRST_BREAKDOWNS: [&str; 4] = ["class", "tool", "action", "reason"];
/// From so many columns on, distributions show more percentiles.
const WIDE: usize = 110;
/// A bar beside a share.
const BAR: usize = 8;

pub(super) fn write(document: &ReportDocument, page: &mut Page) {
    runs(document, page);
    totals(document, page);
    distributions(document, page);
    breakdowns(document, page);
    conversations(document, page);
    if let Some(repeated) = &document.repeated {
        repeats(repeated, page);
    }
    rejects(document, page);
    timings(document, page);
    footnotes(document, page);
}

fn runs(document: &ReportDocument, page: &mut Page) {
    let n_shown = if page.screen.all { N_ALL } else { 3 };
    for run in document.runs.iter().take(n_shown) {
        let parts = counted(run.parts, "part");
        let from = if run.from_sketches { "from sketches" } else { "from tables" };
        let facts = format!("{}, {parts}, condenser {}, {from}", run.status, run.engine_version);
        page.text(&run.run, Tone::Strong);
        page.text(&facts, Tone::Faint);
        if !run.options.is_empty() && (page.screen.all || document.runs.len() == 1) {
            page.text(&format!("options: {}", run.options.join(", ")), Tone::Faint);
        }
        if !run.missing.is_empty() {
            page.text(&format!("left out: {}", run.missing.join(", ")), Tone::Bad);
        }
    }
    if document.runs.len() > n_shown {
        page.text(&format!("and {}", counted((document.runs.len() - n_shown) as u64, "more run")), Tone::Faint);
    }
    if lack_contents(document) {
        page.text(WITHOUT_CONTENTS, Tone::Faint);
    }
}

fn totals(document: &ReportDocument, page: &mut Page) {
    let totals = &document.totals;
    let saved = 1.0 - totals.tokens_out as f64 / totals.tokens_in.max(1) as f64;
    let remark = if totals.tokens_in == 0 { String::new() } else { format!("{} of the tokens saved", percent(saved)) };
    page.heading("Totals", &remark);
    let mut table = Table::new(&["", "before", "after", "ratio"]);
    let cells = |name: &str, before: u64, after: u64, of: Option<f64>| {
        vec![
            Cell::plain(name),
            Cell::plain(count(before)),
            Cell::plain(count(after)),
            Cell::new(of.map(ratio).unwrap_or_default(), Tone::Strong),
        ]
    };
    table.push(cells("messages", totals.messages_in, totals.messages_out, None));
    table.push(cells("characters", totals.chars_in, totals.chars_out, Some(totals.ratio)));
    table.push(cells("tokens", totals.tokens_in, totals.tokens_out, Some(totals.token_ratio)));
    if let Some(cost) = &document.money {
        let name = format!("cost at {} per million tokens", money(cost.per_million_tokens));
        table.push(vec![
            Cell::plain(name),
            Cell::plain(money(cost.before)),
            Cell::plain(money(cost.after)),
            Cell::new(format!("saves {}", money(cost.saved)), Tone::Good),
        ]);
    }
    page.table(&table);
    let different = if totals.distinct_conversations < totals.conversations {
        format!(" (about {} different ones)", count(totals.distinct_conversations))
    } else {
        String::new()
    };
    page.text(&format!("{}{different}", counted(totals.conversations, "conversation")), Tone::Plain);
    let sizes = format!(
        "{} stored, {} uncompressed, {} written{}",
        bytes(totals.bytes_stored),
        bytes(totals.bytes_stream),
        bytes(totals.bytes_written),
        match Held::of(&document.runs) {
            Held::Everything => " with originals and proofs",
            Held::InPart => "; some of the runs only measured and hold no texts",
            Held::Nothing => "; the run only measured and holds no texts",
        }
    );
    page.text(&sizes, Tone::Plain);
    if totals.rejects > 0 {
        let rate = totals.rejects as f64 / (totals.rejects + totals.conversations) as f64;
        page.text(&format!("{} rejected ({})", counted(totals.rejects, "record"), percent(rate)), Tone::Bad);
    }
    if totals.over_budget > 0 {
        let is = if totals.over_budget == 1 { "is" } else { "are" };
        let over = counted(totals.over_budget, "conversation");
        page.text(&format!("{over} {is} over the token budget (`fits` in the metrics)"), Tone::Bad);
    }
}

fn distributions(document: &ReportDocument, page: &mut Page) {
    if document.distributions.is_empty() {
        return;
    }
    let remark = "over conversations; the picture goes from 0 to 1, of a ratio from the smallest to the largest";
    page.heading("Distributions", remark);
    page.table(&distribution_table(document.distributions.iter().filter(|of| of.class.is_none()), page));
    if !page.screen.all {
        return;
    }
    let classes: Vec<&str> = classes_of(document);
    if classes.len() < 2 {
        return;
    }
    for class in classes {
        page.heading(&format!("Distributions of class {}", cut(class, 40)), "");
        let of_class = document.distributions.iter().filter(|of| of.class.as_deref() == Some(class));
        page.table(&distribution_table(of_class, page));
    }
}

fn classes_of(document: &ReportDocument) -> Vec<&str> {
    let mut classes: Vec<&str> = Vec::new();
    for class in document.distributions.iter().filter_map(|of| of.class.as_deref()) {
        if classes.last() != Some(&class) {
            classes.push(class);
        }
    }
    classes
}

fn distribution_table<'d>(distributions: impl Iterator<Item = &'d Distribution>, page: &Page) -> Table {
    type Point = (&'static str, fn(&Distribution) -> f64);
    let few: &[Point] = &[("p5", |of| of.p5), ("p50", |of| of.p50), ("p95", |of| of.p95)];
    let many: &[Point] = &[
        ("p5", |of| of.p5),
        ("p10", |of| of.p10),
        ("p25", |of| of.p25),
        ("p50", |of| of.p50),
        ("p75", |of| of.p75),
        ("p90", |of| of.p90),
        ("p95", |of| of.p95),
    ];
    let points = if page.screen.width >= WIDE { many } else { few };
    let names = FIGURES.iter().map(|name| name.len()).max().unwrap_or_default();
    let mut header = vec!["figure", "n", "mean"];
    header.extend(points.iter().map(|(name, _)| *name));
    header.push("");
    let mut widths = vec![names, 9, 5];
    widths.extend(points.iter().map(|_| 5));
    let room = page.room(&widths).min(MAX_PICTURE);
    let mut table = Table::new(&header).with_wide_end();
    for of in distributions {
        let value = |value: f64| Cell::plain(figure(&of.figure, value));
        let mut row = vec![Cell::plain(words(&of.figure)), Cell::plain(count(of.conversations)), value(of.mean)];
        row.extend(points.iter().map(|(_, point)| value(point(of))));
        let counts: Vec<u64> = of.bars.iter().map(|bar| bar.count).collect();
        row.push(Cell::new(picture(&counts, room), Tone::Picture));
        table.push(row);
    }
    table
}

fn breakdowns(document: &ReportDocument, page: &mut Page) {
    for breakdown in &document.breakdowns {
        let is_told = page.screen.all || FIRST_BREAKDOWNS.contains(&&*breakdown.by);
        // A single class says nothing beside the totals.
        if is_told && (page.screen.all || breakdown.rows.len() > 1) {
            page.heading(&format!("By {}", breakdown.by), unit_of(&breakdown.by));
            page.table(&breakdown_table(breakdown, page.n_rows()));
        }
    }
}

/// What is counted under a name.
fn unit_of(by: &str) -> &'static str {
    match by {
        "tool" => "results of tools",
        "action" => "what was done with messages",
        "reason" => "the rule that decided about messages",
        _ => "",
    }
}

fn breakdown_table(breakdown: &BreakdownFacts, n_rows: usize) -> Table {
    let all: u64 = breakdown.rows.iter().map(|row| row.share.chars_in).sum();
    let mut table =
        Table::new(&["", "conversations", "messages", "characters", "after", "ratio", "share"]).with_wide_end();
    let cells = |name: Cell, row: &Share, of: f64| {
        let part = row.chars_in as f64 / all.max(1) as f64;
        vec![
            name,
            Cell::plain(count(row.conversations)),
            Cell::plain(count(row.messages)),
            Cell::plain(short(row.chars_in)),
            Cell::plain(short(row.chars_out)),
            Cell::plain(ratio(of)),
            Cell::new(bar(part, BAR), Tone::Picture),
        ]
    };
    let is_named = |row: &&BreakdownRow| row.name.is_some();
    let named = breakdown.rows.iter().filter(is_named);
    for row in named.clone().take(n_rows) {
        table.push(cells(Cell::plain(name_of(row.name.as_deref())), &row.share, row.ratio));
    }
    let mut rest = Share::default();
    let n_more = named.clone().count().saturating_sub(n_rows);
    named
        .skip(n_rows)
        .chain(breakdown.rows.iter().filter(|row| row.name.is_none()))
        .for_each(|row| rest.add(&row.share));
    if rest != Share::default() {
        let of = if rest.chars_out == 0 { 1.0 } else { rest.chars_in as f64 / rest.chars_out as f64 };
        let has_more = breakdown.rows.iter().any(|row| row.name.is_none());
        let name = if has_more { "all others".to_owned() } else { counted(n_more as u64, "other") };
        table.push(cells(Cell::faint(name), &rest, of));
    }
    table
}

fn conversations(document: &ReportDocument, page: &mut Page) {
    let n_rows = page.n_rows();
    if !document.worst_losses.is_empty() {
        page.heading("Worst losses", "what left the view: one minus the mean of the four retention figures");
        let is_wide = page.screen.width >= WIDE;
        let mut header = vec!["conversation", "loss", "facts", "recall", "negation", "errors"];
        if is_wide {
            header.extend(["ratio", "class"]);
        }
        let mut table = Table::new(&header);
        if is_wide {
            table = table.with_wide_end();
        }
        for lost in document.worst_losses.iter().take(n_rows) {
            let figures = &lost.figures;
            let of = |value: Option<f64>| Cell::plain(maybe(value, share));
            let mut row = vec![
                Cell::plain(&*figures.conversation_id),
                Cell::new(maybe(lost.loss, share), Tone::Bad),
                of(figures.fact_retention),
                of(figures.forward_recall),
                of(figures.negation_retention),
                of(figures.error_retention),
            ];
            if is_wide {
                row.extend([Cell::plain(ratio(figures.ratio)), Cell::faint(&*figures.class)]);
            }
            table.push(row);
        }
        page.table(&table);
        if let Some(command) = document.worst_losses.first().and_then(|lost| show_command(document, lost)) {
            page.line(&format!("look at the first: {command}"), Tone::Faint);
        }
    }
    if page.screen.all && !document.largest_savings.is_empty() {
        page.heading("Largest savings", "characters that are gone from view");
        let mut table =
            Table::new(&["conversation", "saved", "before", "after", "ratio", "quality", "class"]).with_wide_end();
        for saved in document.largest_savings.iter().take(n_rows) {
            let figures = &saved.figures;
            table.push(vec![
                Cell::plain(&*figures.conversation_id),
                Cell::new(count(saved.chars_saved), Tone::Good),
                Cell::plain(short(figures.chars_in)),
                Cell::plain(short(figures.chars_out)),
                Cell::plain(ratio(figures.ratio)),
                Cell::plain(maybe(figures.quality_score, share)),
                Cell::faint(&*figures.class),
            ]);
        }
        page.table(&table);
        if let Some(command) = document.largest_savings.first().and_then(|saved| show_command(document, saved)) {
            page.line(&format!("look at the first: {command}"), Tone::Faint);
        }
    }
}

/// The command that shows a conversation; nothing when the run holds no originals.
fn show_command(document: &ReportDocument, conversation: &ConversationFacts) -> Option<String> {
    let run = document.runs.get(conversation.run)?;
    let has_originals = run.bytes_written.contains_key("verbatim");
    let operands = [&*run.run, &*conversation.figures.conversation_id];
    has_originals.then(|| shell::command("condenser show", &operands, ""))
}

fn repeats(repeated: &Repeated, page: &mut Page) {
    if repeated.largest.is_empty() {
        return;
    }
    let texts = counted(repeated.texts, "text");
    let remark = format!("{texts}, about {}", counted(repeated.distinct_texts, "different one"));
    page.heading("Repeated texts", &remark);
    let mut table = Table::new(&["to spare", "times", "characters", "begins"]).with_wide_end();
    let n_rows = if page.screen.all { N_ALL } else { 3 };
    for repeat in repeated.largest.iter().take(n_rows) {
        table.push(vec![
            Cell::new(short(repeat.chars_spare), Tone::Good),
            Cell::plain(count(repeat.repeat.count)),
            Cell::plain(count(repeat.repeat.chars)),
            Cell::faint(&*repeat.repeat.excerpt),
        ]);
    }
    page.table(&table);
}

fn rejects(document: &ReportDocument, page: &mut Page) {
    if document.rejects.is_empty() {
        return;
    }
    page.heading("Rejected records", "see docs/rejects.md");
    let mut table = Table::new(&["reason", "records", "bytes", "one of them"]).with_wide_end();
    for reject in document.rejects.iter().take(page.n_rows()) {
        table.push(vec![
            Cell::new(&*reject.reason, Tone::Bad),
            Cell::plain(count(reject.records)),
            Cell::plain(bytes(reject.bytes)),
            Cell::faint(format!("{}: {}", reject.place, reject.example)),
        ]);
    }
    page.table(&table);
}

/// What was spent: workers run side by side, and reading and writing wait beside them.
fn spent(timings: &Timings) -> String {
    format!("workers {}, from beginning to end {}", seconds(timings.cpu_seconds), seconds(timings.wall_seconds))
}

fn timings(document: &ReportDocument, page: &mut Page) {
    let Some(timings) = &document.timings else { return };
    let all: f64 = timings.stages.values().sum();
    page.heading("Time by stage", &spent(timings));
    let mut table = Table::new(&["", "time", "share", ""]).with_wide_end();
    let mut stages: Vec<(&String, &f64)> = timings.stages.iter().collect();
    stages.sort_by(|a, b| b.1.total_cmp(a.1).then_with(|| a.0.cmp(b.0)));
    for (stage, time) in stages.into_iter().take(page.n_rows()) {
        let part = time / all.max(f64::MIN_POSITIVE);
        let cells = [Cell::plain(words(stage)), Cell::plain(seconds(*time)), Cell::plain(percent(part))];
        table.push(cells.into_iter().chain([Cell::new(bar(part, BAR), Tone::Picture)]).collect());
    }
    page.table(&table);
}

fn footnotes(document: &ReportDocument, page: &mut Page) {
    if let Some(calibration) = &document.calibration {
        calibrated(calibration, page);
    }
    page.line("", Tone::Plain);
    let exact = format!("percentiles are within {} of their value, counts exact", percent(RELATIVE_ERROR));
    page.text(&exact, Tone::Faint);
    if !page.screen.all {
        page.text("--all shows every breakdown, class and list; --json the whole document", Tone::Faint);
    }
}

/// How surely the metrics find damage, for each kind of it.
fn calibrated(calibration: &Calibration, page: &mut Page) {
    let told = if page.screen.all {
        "every metric of every kind"
    } else {
        "the surest metric of each kind, of harmless kinds the one with most false alarms; all with --all"
    };
    let planted = counted(calibration.changed, "conversation");
    let remark = format!("how often a metric falls when a text is damaged on purpose, in {planted}: {told}");
    page.heading("Calibration", &remark);
    let mut table = Table::new(&["damage", "metric", "n", "falls", "by"]);
    let kinds = calibration.damage.iter().map(|kind| (kind, false));
    for (planted, is_harmless) in kinds.chain(calibration.harmless.iter().map(|kind| (kind, true))) {
        let falls = ranked(planted, is_harmless);
        let name = words(&planted.kind) + if is_harmless { " (harmless)" } else { "" };
        let has_alarm = falls.first().is_some_and(|(_, fall)| fall.rate > Some(0.0));
        if is_harmless && !has_alarm && !page.screen.all {
            let nothing = [Cell::plain("none falls"), Cell::plain(count(planted.conversations))];
            table.push(
                [Cell::plain(name)].into_iter().chain(nothing).chain([Cell::plain(""), Cell::plain("")]).collect(),
            );
            continue;
        }
        for (metric, fall) in falls.into_iter().take(if page.screen.all { usize::MAX } else { 1 }) {
            let is_good = if is_harmless { fall.rate <= Some(0.0) } else { fall.rate > Some(0.5) };
            table.push(vec![
                Cell::plain(&*name),
                Cell::plain(words(metric)),
                Cell::plain(count(fall.measured)),
                Cell::new(maybe(fall.rate, percent), if is_good { Tone::Good } else { Tone::Bad }),
                Cell::plain(maybe(fall.mean_fall, share)),
            ]);
        }
    }
    page.table(&table);
}

/// The metrics that were measured, by how often they fall. For damage those come first that were measured on at least half
/// of the conversations: what falls always, but is seldom there, finds little.
fn ranked(planted: &Planted, is_harmless: bool) -> Vec<(&String, &Fall)> {
    let mut falls: Vec<_> = planted.metrics.iter().filter(|(_, fall)| fall.rate.is_some()).collect();
    let is_broad = |fall: &Fall| is_harmless || fall.measured.saturating_mul(2) >= planted.conversations;
    let rate = |fall: &Fall| fall.rate.unwrap_or_default();
    falls.sort_by(|(a_name, a), (b_name, b)| {
        let by_rate = is_broad(b).cmp(&is_broad(a)).then_with(|| rate(b).total_cmp(&rate(a)));
        by_rate.then_with(|| b.measured.cmp(&a.measured)).then_with(|| a_name.cmp(b_name))
    });
    falls
}

#[cfg(test)]
mod tests {
    use super::{Calibration, Fall, Planted, ranked};
    use crate::report::Screen;
    use crate::report::terminal::layout::Page;

    fn planted(kind: &str, falls: &[(&str, u64, f64)]) -> Planted {
        let fall = |measured, rate: f64| {
            let found = (measured > 0).then_some(rate);
            Fall { measured, rate: found, mean_fall: found }
        };
        let metrics = falls.iter().map(|(name, n, rate)| ((*name).to_owned(), fall(*n, *rate)));
        Planted { kind: kind.to_owned(), says: String::new(), conversations: 100, metrics: metrics.collect() }
    }

    #[test]
    fn a_metric_that_is_seldom_measured_is_not_the_surest() {
        let kind = planted("digits", &[("rare", 3, 1.0), ("broad", 50, 0.8), ("blind", 100, 0.0), ("absent", 0, 0.0)]);
        let names: Vec<&str> = ranked(&kind, false).into_iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["broad", "blind", "rare"]);
        assert_eq!(ranked(&kind, true).first().map(|(name, _)| &***name), Some("rare"));
    }

    #[test]
    fn harmless_kinds_tell_their_false_alarms() {
        let harmless = vec![planted("case", &[("broad", 50, 0.0)]), planted("space", &[("a", 50, 0.0), ("b", 9, 0.2)])];
        let damage = vec![planted("digits", &[("rare", 3, 1.0), ("broad", 50, 0.8)])];
        let mut page = Page::new(Screen { width: 100, colours: false, all: false });
        super::calibrated(&Calibration { changed: 1, damage, harmless, ..Calibration::default() }, &mut page);
        let text = page.finish();
        assert!(text.contains("in 1 conversation:") && !text.contains("rare"), "{text}");
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).expect(name);
        assert!(line("case (harmless)").contains("none falls"), "{text}");
        assert!(line("space (harmless)").contains("20.0 %") && line("digits").contains("80.0 %"), "{text}");
    }
}
