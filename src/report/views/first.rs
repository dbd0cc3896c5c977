//! The first screen of a report, which answers in ten seconds: one sentence, three figures, where the characters went,
//! what did not change and why, and how an original comes back.

use serde_json::Value;

use super::originals::originals;
use crate::model::{Figure, Reason};
use crate::report::held::Held;
use crate::report::view::{
    Block, Blocks, Card, Cell, Chart, Drawing, KEY, NamedBar, Seen, Show, Table, Tone, column, name_of, note, parts,
    picture, said,
};
use crate::report::{Money, ReportDocument, RunFacts, TotalFacts, numbers, plain};

/// So many reasons are named in a sentence.
const MAX_REASONS: usize = 3;
/// So many files are named one by one.
const MAX_NAMED: usize = 6;

/// What the report is about and when it was made.
pub(super) fn facts(document: &ReportDocument) -> Vec<String> {
    let mut named = plain::told_apart(&sources_of(document));
    // Of many files the folders say more.
    let (n_files, mut folders) = (named.len(), Vec::new());
    folders.extend(named.iter().filter_map(|name| Some(name.split_once('/')?.0)));
    let has_folders = folders.len() == n_files;
    folders.dedup();
    let mut unit = "";
    if n_files > MAX_NAMED && has_folders && folders.len() > 1 {
        (named, unit) = (folders, " folders");
    }
    let n_more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    let mut of = named.into_iter().map(|name| plain::cut_start(name, 40)).collect::<Vec<_>>().join(", ");
    if n_more > 0 {
        of.push_str(&format!(" and {n_more} more{}", if n_more == 1 { unit.trim_end_matches('s') } else { unit }));
    }
    let of = if of.is_empty() { None } else { Some(of) };
    of.into_iter().chain(document.made.clone()).collect()
}

/// The files, each once: a log that grew stands in several nights.
fn sources_of(document: &ReportDocument) -> Vec<&str> {
    let mut sources: Vec<&str> = document.runs.iter().flat_map(|run| run.sources.keys().map(String::as_str)).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// What was compacted, by how much, at what cost to quality, and what it saves.
pub(super) fn lead(document: &ReportDocument) -> String {
    let totals = &document.totals;
    let short = numbers::short;
    let files = sources_of(document).len();
    if totals.conversations == 0 {
        return format!(
            "No conversation was read from {}.{}",
            numbers::counted(files as u64, "file"),
            rejected(totals)
        );
    }
    let mut lead = format!(
        "{}{} from {} {} {} of {} characters ({})",
        if Held::of(&document.runs) == Held::Nothing { "An estimate: " } else { "" },
        numbers::counted(totals.conversations, "conversation"),
        numbers::counted(files as u64, "file"),
        numbers::by_count(totals.conversations, "shows", "show"),
        short(totals.chars_out),
        short(totals.chars_in),
        times_shorter(totals),
    );
    if totals.chars_out < totals.chars_in {
        let quality = quality(document).unwrap_or_else(|| "what that costs was not measured".to_owned());
        lead.push_str(&format!("; {quality}"));
    }
    let saved = totals.tokens_in.saturating_sub(totals.tokens_out);
    lead.push_str(&format!(
        "; that saves {} of {} tokens{}",
        match saved {
            0 => "none".to_owned(),
            saved if is_estimate(document) => format!("about {}", short(saved)),
            saved => short(saved),
        },
        short(totals.tokens_in),
        document
            .money
            .as_ref()
            .map(|money| format!(", {}", worth(money, document.made.as_deref())))
            .unwrap_or_default(),
    ));
    lead.push_str(&match Held::of(&document.runs) {
        Held::Nothing => ". Nothing was stored: this run only measured.".to_owned(),
        _ => {
            format!(", and everything, the originals included, is stored in {}.", numbers::bytes(totals.bytes_written))
        }
    });
    lead + &rejected(totals)
}

/// How many records were rejected, in a sentence behind others; nothing where none was.
fn rejected(totals: &TotalFacts) -> String {
    if totals.rejects == 0 {
        return String::new();
    }
    let records = numbers::counted(totals.rejects, "record");
    let were = numbers::by_count(totals.rejects, "was", "were");
    let rate = numbers::percent(totals.reject_rate());
    match totals.lost_rows {
        0 => format!(" {records}, {rate}, {were} rejected."),
        rows => format!(" {records} {were} rejected, and {} lost: {rate} of all.", numbers::counted(rows, "row")),
    }
}

fn times_shorter(totals: &TotalFacts) -> String {
    let ratio = totals.ratio;
    match numbers::ratio(ratio) {
        _ if totals.chars_in == totals.chars_out => "nothing became shorter".to_owned(),
        same if same == "1.00" => "hardly anything became shorter".to_owned(),
        _ if ratio < 1.0 => format!("{} times as long", numbers::ratio(1.0 / ratio)),
        times => format!("{times} times shorter"),
    }
}

/// The figure that says most of what was lost from view.
fn quality(document: &ReportDocument) -> Option<String> {
    let totals = &document.totals;
    let mean = |figure: Figure| {
        let of = document.distributions.iter().find(|of| of.class.is_none() && of.figure == figure.as_str())?;
        Some((of.mean, of.conversations))
    };
    if let Some(recall) = totals.next_turn_recall {
        let values = numbers::counted(totals.next_turn_needed, "value");
        return Some(format!("of {values} that next turns needed {} are still in place", numbers::percent(recall)));
    }
    let facts = mean(Figure::FactRetention).map(|(facts, n)| (numbers::percent(facts), n));
    if let Some(grounding) = totals.grounding {
        let values = numbers::counted(totals.used, "value");
        let place = match mean(Figure::Grounding) {
            Some((_, n)) if n < totals.conversations => format!(" in {}", numbers::counted(n, "conversation")),
            _ => String::new(),
        };
        let kept = numbers::percent(grounding);
        let rest = facts.map_or_else(String::new, |(facts, n)| {
            format!(", and {facts} of the facts in the {} where those were measured", numbers::count(n))
        });
        return Some(format!("of {values} that assistants used{place} {kept} are still in place{rest}"));
    }
    let (facts, n) = facts?;
    let of = numbers::counted(n, "conversation");
    Some(format!("{facts} of the facts are still in view in the {of} where that was measured"))
}

fn worth(money: &Money, made: Option<&str>) -> String {
    let Money { saved, per_million_tokens, currency, .. } = money;
    let when = made.map(|made| format!(", {made}")).unwrap_or_default();
    let [saved, price] = [*saved, *per_million_tokens].map(numbers::money);
    format!("{saved} {currency} at {price} {currency} per million (as given{when})")
}

/// True where tokens were not counted.
fn is_estimate(document: &ReportDocument) -> bool {
    document.runs.iter().any(RunFacts::estimates_tokens)
}

/// The three figures that matter.
pub(super) fn cards(document: &ReportDocument, json: &Value) -> Vec<Card> {
    let totals = &document.totals;
    let share = if totals.chars_in == 0 { 0.0 } else { 1.0 - totals.chars_out as f64 / totals.chars_in as f64 };
    let [before, after] = [totals.chars_in, totals.chars_out].map(numbers::short);
    let less = format!("{before} → {after} characters, {} less", numbers::percent(share));
    let held = match Held::of(&document.runs) {
        Held::Everything => "originals included",
        Held::InPart => "some of the runs only measured",
        Held::Nothing => "the run only measured and holds no texts",
    };
    let [stream, stored] = [totals.bytes_stream, totals.bytes_stored].map(numbers::bytes);
    let read = if stream == stored { format!("input {stream}") } else { format!("input {stream}, stored as {stored}") };
    let stored = format!("{held}; {read}");
    let mut cards = vec![Card::of(json, "Times shorter", "/totals/ratio", Show::Ratio, less)];
    let unmeasured = || Card::new("Quality", "", Cell::text(numbers::NOTHING), "not measured; --all-figures does");
    cards.push(kept_card(document, json).unwrap_or_else(unmeasured));
    let is_stored = Held::of(&document.runs) != Held::Nothing;
    let name = if is_stored { "Bytes stored" } else { "Bytes of figures" };
    cards.push(Card::of(json, name, "/totals/bytes_written", Show::Bytes, stored));
    for card in &mut cards {
        card.number.tone = Tone::Strong;
    }
    cards
}

fn kept_card(document: &ReportDocument, json: &Value) -> Option<Card> {
    let (totals, count) = (&document.totals, numbers::count);
    if totals.next_turn_recall.is_some() {
        let values = numbers::counted(totals.next_turn_needed, "value");
        let lines = format!("{} of {} lines", count(totals.next_turn_lines_shown), count(totals.next_turn_lines));
        let beside = format!("of {values} that were needed; {lines}");
        return Some(Card::of(json, "Next-turn recall", "/totals/next_turn_recall", Show::Percent, beside));
    }
    if totals.grounding.is_some() {
        let values = numbers::counted(totals.used, "value");
        let edits = match totals.edits {
            0 => String::new(),
            edits => format!("; {} of {}", count(totals.edits_whole), numbers::counted(edits, "edit")),
        };
        let beside = format!("of {values} that were used{edits}");
        return Some(Card::of(json, "Grounding", "/totals/grounding", Show::Percent, beside));
    }
    let figure = Figure::FactRetention;
    let found = document.distributions.iter().find(|of| of.class.is_none() && of.figure == figure.as_str())?;
    let beside = format!("the mean of {} that changed", numbers::counted(found.conversations, "conversation"));
    Some(Card::new("Facts in view", "", Cell::of(found.mean, Show::Percent), beside))
}

/// The other figures of the whole.
fn further(document: &ReportDocument, json: &Value) -> Vec<Card> {
    let (totals, count) = (&document.totals, numbers::count);
    let TotalFacts { tokens_in, tokens_out, .. } = *totals;
    let estimate = if is_estimate(document) { ", estimated" } else { "" };
    let tokens = format!("{} → {}{estimate}", count(tokens_in), count(tokens_out));
    let different = format!("about {} different", count(totals.distinct_conversations));
    let after = format!("{} after", count(totals.messages_out));
    let saved = Cell::of(tokens_in.saturating_sub(tokens_out), Show::Count);
    let mut cards = vec![
        Card::new("Tokens saved", "", saved, tokens),
        Card::of(json, "Ratio of tokens", "/totals/token_ratio", Show::Ratio, ""),
        Card::of(json, "Conversations", "/totals/conversations", Show::Count, different),
        Card::of(json, "Messages", "/totals/messages_in", Show::Count, after),
    ];
    if let Some(money) = &document.money {
        let Money { before, after, currency, .. } = money;
        let beside = format!("{currency}: {} → {}{estimate}", numbers::money(*before), numbers::money(*after));
        cards.insert(1, Card::of(json, "Money saved", "/money/saved", Show::Money, beside));
        cards[1].number.tone = Tone::Good;
    }
    if totals.rejects > 0 {
        let rejected = Cell::of(totals.rejects, Show::Count).toned(Tone::Bad);
        let lost = if totals.lost_rows > 0 { ", lost rows counted" } else { "" };
        let beside = format!("{} of the records{lost}", numbers::percent(totals.reject_rate()));
        cards.push(Card::new("Rejected records", "/totals/rejects", rejected, beside));
    }
    if totals.over_budget > 0 {
        let beside =
            format!("of {}; see `fits` in the metrics", numbers::counted(totals.conversations, "conversation"));
        let over = Cell::of(totals.over_budget, Show::Count).toned(Tone::Bad);
        cards.push(Card::new("Over the token budget", "/totals/over_budget", over, beside));
    }
    cards
}

/// What stands below the three figures.
pub(super) fn below<'d>(document: &'d ReportDocument, json: &Value) -> Blocks<'d> {
    let mut blocks = Vec::new();
    blocks.extend(originals(document));
    blocks.extend(kinds(document, json));
    blocks.extend(unchanged(document, json));
    blocks.push((Seen::Always, Block::Cards(further(document, json))));
    let sums = [column("sum", KEY, Show::Words), column("value", "", Show::Count)];
    let mut sums = Table::new("Sums over all conversations", sums, parts(json, "/totals")).folded();
    for row in sums.rows.iter_mut().filter(|row| row.place.ends_with("ratio")) {
        row.cells = vec![row.cells[0].clone(), Cell::of(json.pointer(&row.place).cloned(), Show::Ratio)];
    }
    blocks.push((Seen::Page, Block::Table(sums)));
    blocks
}

/// Where the characters went.
fn kinds<'d>(document: &'d ReportDocument, json: &Value) -> Blocks<'d> {
    if document.kinds.is_empty() {
        let lacks =
            "Where the characters went is not known: it stands in the commits of a run and in its table of decisions.";
        return if document.totals.conversations > 0 { vec![(Seen::Always, note(lacks))] } else { Vec::new() };
    }
    let all = document.totals.chars_in as f64;
    let columns = [
        column("kind", "kind", Show::Text),
        column("characters", "chars_in", Show::Short),
        column("shown", "chars_out", Show::Short),
        column("hidden", "chars_hidden", Show::Short),
        picture("chars_in", Show::Part(all)),
    ];
    let bars = document.kinds.iter().map(|kind| NamedBar {
        name: name_of(Some(&kind.kind)).to_owned(),
        keeps_end: false,
        behind: kind.chars_in as f64,
        // Marks may be longer than what they stand for.
        length: kind.chars_out.min(kind.chars_in) as f64,
        says: match (numbers::short(kind.chars_in), kind.chars_hidden) {
            (before, 0) => format!("{before}, all shown"),
            (before, hidden) => format!("{before}, {} hidden", numbers::short(hidden)),
        },
    });
    let drawing = Drawing {
        name: "Where the characters went".to_owned(),
        note: "by who said them".to_owned(),
        alternative: format!("Characters that are shown and hidden, by kind: {} bars", document.kinds.len()),
        chart: Chart::Bars(bars.collect()),
        is_wide: true,
        table: Some(Table::list("Where the characters went", columns, parts(json, "/kinds"))),
    };
    vec![
        (Seen::Page, note("Characters that are shown {data} and hidden {pale}:")),
        (Seen::Always, Block::Drawings(vec![(Seen::Always, drawing)], false)),
    ]
}

/// How many conversations did not change, and why.
fn unchanged<'d>(document: &'d ReportDocument, json: &Value) -> Blocks<'d> {
    let n: u64 = document.unchanged.iter().map(|row| row.share.conversations).sum();
    if n == 0 {
        return Vec::new();
    }
    let of = numbers::counted(document.totals.conversations, "conversation");
    let share = numbers::percent(n as f64 / document.totals.conversations.max(1) as f64);
    let says = |name: &str| {
        let reason = Reason::ALL.into_iter().find(|reason| reason.as_str() == name);
        reason.map_or(String::new(), |reason| reason.says().replace('`', ""))
    };
    let most = document.unchanged.iter().take(MAX_REASONS).map(|row| {
        let name = row.name.as_deref().unwrap_or_default();
        let says = says(name);
        let says = says.trim_end_matches('.');
        let mut chars = says.chars();
        let says = chars.next().map(|first| first.to_lowercase().chain(chars).collect::<String>()).unwrap_or_default();
        format!("{says} ({} {name})", numbers::count(row.share.conversations))
    });
    let most = most.collect::<Vec<_>>().join("; ");
    let told = format!("{} of {of} ({share}) did not change. What kept most of their text: {most}.", numbers::count(n));
    let columns = [
        column("reason", "name", Show::Name),
        column("conversations", "conversations", Show::Count),
        column("characters", "chars_in", Show::Short),
        column("that is", "", Show::Long),
    ];
    let mut table = Table::list("Why conversations stayed as they were", columns, parts(json, "/unchanged")).folded();
    table.rows.iter_mut().for_each(|row| row.cells[3] = Cell::text(says(&row.cells[0].shown)));
    vec![(Seen::Always, said(told, Tone::Plain)), (Seen::All, Block::Table(table))]
}
