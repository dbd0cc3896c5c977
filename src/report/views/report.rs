//! What is shown of a report.

use serde_json::Value;

use super::calibration::calibration;
use super::first;
use super::runs::{name_of_all, runs};
use crate::model::Figure;
use crate::pipeline::Timings;
use crate::pipeline::sketch::RELATIVE_ERROR;
use crate::report::held::{Held, WITHOUT_CONTENTS, lack_contents, larger};
use crate::report::pair::Texts;
use crate::report::view::{
    Block, Blocks, Cell, Chart, Column, Drawing, KEY, NamedBar, Part, Section, Seen, Show, Table, Tone, View, Words,
    column, heading, name_of, note, parts, picture, said,
};
use crate::report::{
    BreakdownFacts, ConversationFacts, DensityFacts, Distribution, ReportDocument, numbers, plain, shell,
};

/// Breakdowns that one looks at first.
const FIRST_BREAKDOWNS: [&str; 4] = ["class", "tool", "action", "reason"];
/// So many runs are named one by one.
const MAX_NAMED: usize = 5;
/// How much of an id or a text is shown in a table of a page.
const MAX_ID: usize = 60;
const MAX_EXCERPT: usize = 160;

/// The report, with links to those of the `texts` that a page holds.
pub(in crate::report) fn report<'d>(document: &'d ReportDocument, texts: &Texts) -> View<'d> {
    let json = &serde_json::to_value(document).expect("numbers and texts always serialize");
    let mut of_runs = runs(json, "/runs", &document.runs);
    if lack_contents(document) {
        of_runs.push((Seen::Always, said(format!("{WITHOUT_CONTENTS}."), Tone::Faint)));
    }
    View {
        heading: document.title.clone().unwrap_or_else(|| "Compression report".to_owned()),
        about: match &*document.runs {
            few if few.len() <= MAX_NAMED => few.iter().map(|run| run.run.clone()).collect(),
            many => vec![name_of_all(many)],
        },
        between: ", ",
        facts: first::facts(document),
        lead: first::lead(document),
        warnings: warnings(document),
        cards: first::cards(document, json),
        sums: first::below(document, json),
        sections: vec![
            Section::new("nights", "Nights", nights(document, json)).mailed(),
            Section::new("distributions", "Distributions", distributions(document, json))
                .remarking("over conversations"),
            Section::new("densities", "Ratio against quality", densities(document, json)),
            Section::new("breakdowns", "What falls to whom", breakdowns(document, json)).mailed(),
            Section::new("conversations", "Conversations to look at", conversations(document, texts, json)).mailed(),
            Section::new("repeated", "Repeated texts", repeated(document, json)),
            Section::new("rejects", "Rejected records", rejects(json)),
            Section::new("timings", "Time by stage", document.timings.as_ref().map(stages).unwrap_or_default()),
            Section::new(
                "calibration",
                "Calibration",
                document.calibration.as_ref().map(calibration).unwrap_or_default(),
            ),
            Section::new("runs", "Runs and options", of_runs),
            Section::new("reading", "How to read this", reading(document)),
        ],
        more: "--all shows every breakdown, class and list; --json the whole document",
    }
}

/// Nights that are shown where one looks first, the last ones.
const N_NIGHTS: usize = 14;

fn nights<'d>(document: &ReportDocument, json: &Value) -> Blocks<'d> {
    if document.nights.is_empty() {
        return Vec::new();
    }
    let columns = [
        column("night", "run", Show::Text),
        column("logs", "logs", Show::Count),
        column("conversations", "conversations", Show::Count),
        column("rejects", "rejects", Show::Count).on(Seen::Wide),
        column("read", "bytes_read", Show::Bytes),
        column("stored", "bytes_stored", Show::Bytes),
        column("times less", "bytes_ratio", Show::Ratio),
        column("shown shorter", "ratio", Show::Ratio),
        column("grounding", "grounding", Show::Share),
        column("drift", "drift", Show::Share),
    ];
    let mut rows = parts(json, "/nights");
    let n_before = rows.len().saturating_sub(N_NIGHTS);
    rows.iter_mut().take(n_before).for_each(|row| row.seen = Seen::All);
    vec![(Seen::Always, Block::Table(Table::new("Nights", columns, rows)))]
}

fn warnings<'d>(document: &ReportDocument) -> Blocks<'d> {
    let n = document.runs.iter().filter(|run| run.status != "complete").count();
    let of = numbers::counted(document.runs.len() as u64, "run");
    let is = numbers::by_count(n as u64, "is", "are");
    let warning = (n > 0).then(|| said(format!("{n} of {of} {is} not complete: see runs and options."), Tone::Bad));
    let holds = Held::of(&document.runs) == Held::Everything;
    let larger = larger(document.totals.bytes_stored, document.totals.bytes_written).filter(|_| holds);
    let larger = larger.map(|text| said(format!("Note: {text}."), Tone::Plain));
    warning.into_iter().chain(larger).map(|warning| (Seen::Always, warning)).collect()
}

fn distributions<'d>(document: &'d ReportDocument, json: &Value) -> Blocks<'d> {
    if document.distributions.is_empty() {
        return Vec::new();
    }
    let drawn = document.distributions.iter().enumerate().filter(|(_, found)| found.class.is_none());
    let drawn = drawn.map(|(at, found)| (Seen::Page, histogram(at, found, json))).collect();
    let mut of_all = parts(json, "/distributions");
    of_all.retain(|part| part.value["class"].is_null());
    let name = "Percentiles over all conversations";
    let table = Table::new(name, percentiles(column("figure", "figure", Show::Words)), of_all);
    let about = "Conversations by value. The line marks the median: half of the conversations lie at or below it.";
    let exact = format!("Percentiles are within {} of their value, counts exact.", numbers::percent(RELATIVE_ERROR));
    let mut blocks = vec![
        (Seen::Page, note(about)),
        (Seen::Page, Block::Drawings(drawn, false)),
        (Seen::Page, heading(name)),
        (Seen::Always, Block::Table(table)),
        (Seen::Always, said(exact, Tone::Faint)),
    ];
    blocks.extend(by_class(document, json));
    blocks
}

fn histogram<'d>(at: usize, found: &'d Distribution, json: &Value) -> Drawing<'d> {
    let [p5, p50, p95] = [found.p5, found.p50, found.p95].map(|value| numbers::figure(&found.figure, value));
    let name = numbers::words(&found.figure);
    let n = numbers::counted(found.conversations, "conversation");
    let show = Show::of_figure(&found.figure);
    let columns =
        [column("above", "from", show), column("up to", "to", show), column("conversations", "count", Show::Count)];
    let mut bars = parts(json, &format!("/distributions/{at}/bars"));
    bars.retain(|bar| bar.value["count"] != 0);
    Drawing {
        note: format!("{} · median {p50}, p5 {p5}, p95 {p95}", says(&found.figure)),
        alternative: format!("Histogram of {name} over {n}: median {p50}, p5 {p5}, p95 {p95}"),
        table: Some(Table::new(format!("Conversations by {name}"), columns, bars)),
        name,
        chart: Chart::Histogram(found),
        is_wide: found.figure == Figure::Ratio.as_str(),
    }
}

/// What a figure says.
pub(super) fn says(figure: &str) -> &'static str {
    Figure::named(figure).map_or("", Figure::says)
}

fn percentiles(first: Column) -> Vec<Column> {
    let point = |name: &'static str, seen| column(name, name, Show::Figure).on(seen);
    vec![
        first,
        column("n", "conversations", Show::Count),
        point("mean", Seen::Always),
        point("min", Seen::Page),
        point("p5", Seen::Always),
        point("p10", Seen::Wide),
        point("p25", Seen::Wide),
        point("p50", Seen::Always),
        point("p75", Seen::Wide),
        point("p90", Seen::Wide),
        point("p95", Seen::Always),
        point("max", Seen::Page),
        picture("bars", Show::Counts("count")),
    ]
}

fn by_class<'d>(document: &'d ReportDocument, json: &Value) -> Blocks<'d> {
    let (mut drawn, mut folded) = (Vec::new(), Vec::new());
    for figure in Figure::ALL {
        let is_of = |found: &&Distribution| found.class.is_some() && found.figure == figure.as_str();
        let found: Vec<&Distribution> = document.distributions.iter().filter(is_of).collect();
        if found.is_empty() {
            continue;
        }
        let mut classes = parts(json, "/distributions");
        classes.retain(|part| !part.value["class"].is_null() && part.value["figure"] == figure.as_str());
        let name = format!("{} by class", numbers::words(figure.as_str()));
        let table = Table::new(&*name, percentiles(column("class", "class", Show::Name)), classes).folded();
        // Of the others the numbers say enough.
        if figure == Figure::Ratio || Figure::FIRST.contains(&figure) {
            let alternative = format!("The spread of {name} of conversation: {} classes", found.len());
            let (note, chart) = (String::new(), Chart::Spreads(found));
            drawn.push((Seen::All, Drawing { name, note, alternative, chart, is_wide: false, table: Some(table) }));
        } else {
            folded.push((Seen::All, Block::Table(table)));
        }
    }
    let remark = "Line from p5 to p95, box from p25 to p75, the median marked.";
    let about = Block::Heading { id: "", text: "By class of conversation".to_owned(), remark };
    let mut blocks = vec![(Seen::Page, about), (Seen::All, Block::Drawings(drawn, false))];
    blocks.extend(folded);
    blocks
}

fn densities<'d>(document: &'d ReportDocument, json: &Value) -> Blocks<'d> {
    if document.densities.is_empty() {
        return Vec::new();
    }
    let about = "Each cell holds the conversations with this ratio and this value. What lies at the lower right was \
                 compressed most and kept least; what lies at the upper right was mostly repetition.";
    let drawings = document.densities.iter().enumerate().map(|(at, facts)| (Seen::Page, density(at, facts, json)));
    vec![(Seen::Page, note(about)), (Seen::Page, Block::Drawings(drawings.collect(), false))]
}

fn density<'d>(at: usize, facts: &'d DensityFacts, json: &Value) -> Drawing<'d> {
    let name = numbers::words(&facts.figure);
    let n: u64 = facts.cells.iter().map(|cell| cell.count).sum();
    let columns = [
        column("ratio from", "ratio_from", Show::Ratio),
        column("ratio to", "ratio_to", Show::Ratio),
        column("from", "from", Show::Share),
        column("to", "to", Show::Share),
        column("conversations", "count", Show::Count),
    ];
    let cells = parts(json, &format!("/densities/{at}/cells"));
    Drawing {
        note: says(&facts.figure).to_owned(),
        alternative: format!("Density of {n} conversations by ratio and {name}"),
        table: Some(Table::new(format!("Conversations by ratio and {name}"), columns, cells)),
        name: format!("{name} against ratio"),
        chart: Chart::Density(facts),
        is_wide: false,
    }
}

fn breakdowns<'d>(document: &ReportDocument, json: &Value) -> Blocks<'d> {
    if document.breakdowns.is_empty() {
        return Vec::new();
    }
    let about = "Characters before {pale} and after {data}; at the end of each bar the characters before and how many \
                 times smaller they became.";
    let drawing = |(at, breakdown): (usize, &BreakdownFacts)| {
        // A single class says nothing beside the totals.
        let is_first = FIRST_BREAKDOWNS.contains(&&*breakdown.by) && breakdown.rows.len() > 1;
        (if is_first { Seen::Always } else { Seen::All }, one_breakdown(at, breakdown, json))
    };
    let drawings = document.breakdowns.iter().enumerate().map(drawing).collect();
    vec![(Seen::Page, note(about)), (Seen::Always, Block::Drawings(drawings, true))]
}

fn one_breakdown<'d>(at: usize, breakdown: &BreakdownFacts, json: &Value) -> Drawing<'d> {
    let by = numbers::words(&breakdown.by);
    let all: u64 = breakdown.rows.iter().map(|row| row.share.chars_in).sum();
    let columns = [
        column("name", "name", Show::Name),
        column("conversations", "conversations", Show::Count),
        column("messages", "messages", Show::Count),
        column("characters", "chars_in", Show::Short),
        column("after", "chars_out", Show::Short),
        column("ratio", "ratio", Show::Ratio),
        picture("chars_in", Show::Part(all as f64)),
    ];
    let names: Vec<&str> = breakdown.rows.iter().map(|row| name_of(row.name.as_deref())).collect();
    // Paths of one folder with one ending are told apart by what is left.
    let names = if breakdown.by == "source" { plain::told_apart(&names) } else { names };
    let bars = breakdown.rows.iter().zip(&names).map(|(row, name)| NamedBar {
        name: (*name).to_owned(),
        keeps_end: breakdown.by == "source",
        behind: row.share.chars_in as f64,
        length: row.share.chars_out as f64,
        says: format!("{} · {}×", numbers::short(row.share.chars_in), numbers::ratio(row.ratio)),
    });
    let counted = match &*breakdown.by {
        "tool" => "results of tools",
        "action" => "what was done with messages",
        "reason" => "the rule that decided about messages",
        _ => "",
    };
    let mut table =
        Table::list(format!("What falls to each {by}"), columns, parts(json, &format!("/breakdowns/{at}/rows")));
    table.rows.iter_mut().zip(&names).for_each(|(row, name)| row.cells[0].shown = (*name).to_owned());
    Drawing {
        name: format!("By {by}"),
        note: counted.to_owned(),
        alternative: format!("Characters before and after by {by}: {} bars", breakdown.rows.len()),
        chart: Chart::Bars(bars.collect()),
        is_wide: false,
        table: Some(table),
    }
}

fn stages<'d>(timings: &Timings) -> Blocks<'d> {
    let json = serde_json::to_value(&timings.stages).expect("numbers always serialize");
    let all: f64 = timings.stages.values().sum();
    let mut stages = parts(&json, "");
    let seconds = |part: &Part<'_>| part.value.as_f64().unwrap_or_default();
    stages.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)).then_with(|| a.key.cmp(&b.key)));
    let bars = stages.iter().map(|stage| NamedBar {
        name: numbers::words(&stage.key),
        keeps_end: false,
        behind: 0.0,
        length: seconds(stage),
        says: numbers::seconds(seconds(stage)),
    });
    let chart = Chart::Bars(bars.collect());
    for stage in &mut stages {
        stage.place.insert_str(0, "/timings/stages");
    }
    let alternative = format!("Seconds of work by stage: {} bars", stages.len());
    let columns = [column("stage", KEY, Show::Words), column("time", "", Show::Seconds), picture("", Show::Part(all))];
    let note = format!(
        "workers {}, from beginning to end {}; reading and writing wait beside the workers",
        numbers::seconds(timings.cpu_seconds),
        numbers::seconds(timings.wall_seconds)
    );
    let table = Some(Table::list("Seconds of work by stage", columns, stages));
    let drawing = Drawing { name: "Work by stage".to_owned(), note, alternative, chart, is_wide: true, table };
    vec![(Seen::Always, Block::Drawings(vec![(Seen::Always, drawing)], false))]
}

fn conversations<'d>(document: &ReportDocument, texts: &Texts, json: &Value) -> Blocks<'d> {
    let lists = [
        ("losses", "Worst losses", "/worst_losses", &document.worst_losses),
        ("savings", "Largest savings", "/largest_savings", &document.largest_savings),
    ];
    let mut blocks = Vec::new();
    for (id, name, place, list) in lists.into_iter().filter(|(.., list)| !list.is_empty()) {
        let is_loss = id == "losses";
        let (seen, remark) = if is_loss {
            (
                Seen::Always,
                "what was used and is hidden now, then the loss times the characters that are gone from view",
            )
        } else {
            (Seen::All, "characters that are gone from view")
        };
        // A column in which nothing stands tells nothing.
        let rows = json.pointer(place).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_measured = |figure: &Figure| rows.iter().any(|row| !row[figure.as_str()].is_null());
        let columns = columns(document.runs.len() > 1, is_loss, is_measured);
        let mut table = Table::list(name, columns, parts(json, place));
        for (row, facts) in table.rows.iter_mut().zip(list) {
            let name = &*facts.figures.conversation_id;
            row.cells[0].shown = if name.is_empty() { "(no id)".to_owned() } else { plain::cut(name, MAX_ID) };
            row.cells[0].target = texts.place(facts).map(Texts::id_of);
            if document.runs.len() > 1 {
                row.cells[1] = Cell::text(document.runs.get(facts.run).map_or("", |run| &run.run));
            }
        }
        blocks.extend([(seen, Block::Heading { id, text: name.to_owned(), remark }), (seen, Block::Table(table))]);
        if let Some(command) = list.first().and_then(|facts| show_command(document, facts)) {
            blocks.push((seen, Block::Command("look at the first", command)));
        }
    }
    if !blocks.is_empty() {
        let held = match Held::of(&document.runs) {
            Held::Nothing => "The run only measured: it holds no texts to show.",
            _ if texts.left_out => {
                "The texts were left out of this page. `condenser show RUN ID` shows a conversation before and after."
            }
            Held::InPart => {
                "The name of a conversation leads to its text before and after, where its run holds texts and did not \
                 only measure."
            }
            Held::Everything => "The name of a conversation leads to its text before and after.",
        };
        blocks.insert(0, (Seen::Page, note(held)));
    }
    blocks
}

fn columns(many_runs: bool, is_loss: bool, is_measured: impl Fn(&Figure) -> bool) -> Vec<Column> {
    let (of_losses, of_savings) = if is_loss { (Seen::Always, Seen::Wide) } else { (Seen::Wide, Seen::Always) };
    let mut columns = vec![column("conversation", "conversation_id", Show::Long)];
    columns.extend(many_runs.then(|| column("run", "", Show::Text).on(Seen::Page)));
    columns.extend([
        column("used, hidden", "used_hidden", Show::Count).on(of_losses).toned(Tone::Bad),
        column("loss", "loss", Show::Share).on(of_losses),
        column("saved", "chars_saved", Show::Count).on(of_savings).toned(Tone::Good),
        column("ratio", "ratio", Show::Ratio).on(of_savings),
    ]);
    columns.extend(Figure::FIRST.into_iter().filter(is_measured).map(|figure| {
        let seen = if figure == Figure::QualityScore { of_savings } else { of_losses };
        column(figure.label(), figure.as_str(), Show::Share).on(seen)
    }));
    columns.extend([
        column("characters", "chars_in", Show::Count).on(of_savings),
        column("after", "chars_out", Show::Count).on(of_savings),
        column("class", "class", Show::Text).on(Seen::Wide),
        column("source", "source", Show::Long).on(Seen::Page),
        column("row", "source_row", Show::Count).on(Seen::Page),
    ]);
    columns
}

/// The command that shows a conversation; nothing when the run holds no originals.
fn show_command(document: &ReportDocument, conversation: &ConversationFacts) -> Option<String> {
    let run = document.runs.get(conversation.run)?;
    let operands = [&*run.run, &*conversation.figures.conversation_id];
    let is_held = Held::of(std::slice::from_ref(run)) == Held::Everything;
    is_held.then(|| shell::command("condenser show", &operands, ""))
}

fn repeated<'d>(document: &ReportDocument, json: &Value) -> Blocks<'d> {
    let Some(repeated) = &document.repeated else { return Vec::new() };
    let share = (1.0 - repeated.distinct_texts as f64 / repeated.texts.max(1) as f64).max(0.0);
    let told = format!(
        "{} in messages, about {} different: {} are repetitions. To spare are the characters of all occurrences but one.",
        numbers::counted(repeated.texts, "text"),
        numbers::count(repeated.distinct_texts),
        numbers::percent(share)
    );
    let columns = [
        column("to spare", "chars_spare", Show::Count).toned(Tone::Good),
        column("times", "count", Show::Count),
        column("characters", "chars", Show::Count),
        column("begins", "excerpt", Show::Long).toned(Tone::Faint),
    ];
    let mut table = Table::list("Texts that weigh most by repetition", columns, parts(json, "/repeated/largest"));
    table.rows.iter_mut().for_each(|row| row.cells[3].shown = plain::cut(&row.cells[3].shown, MAX_EXCERPT));
    let seen = if table.rows.is_empty() { Seen::Page } else { Seen::Always };
    let mut blocks = vec![(seen, said(told, Tone::Faint))];
    blocks.extend((seen == Seen::Always).then_some((seen, Block::Table(table))));
    blocks
}

fn rejects<'d>(json: &Value) -> Blocks<'d> {
    let columns = [
        column("reason", "reason", Show::Text).toned(Tone::Bad),
        column("records", "records", Show::Count),
        column("bytes", "bytes", Show::Bytes),
        column("for example", "example", Show::Long).toned(Tone::Faint),
        column("at", "place", Show::Long).toned(Tone::Faint).on(Seen::Wide),
    ];
    let table = Table::list("Rejected records by reason", columns, parts(json, "/rejects"));
    if table.rows.is_empty() {
        return vec![(Seen::Page, said("No record was rejected.", Tone::Plain))];
    }
    vec![(Seen::Always, Block::Table(table))]
}

fn reading<'d>(document: &ReportDocument) -> Blocks<'d> {
    let held = match Held::of(&document.runs) {
        Held::Everything => {
            "**Nothing is lost.** The run keeps every original: what is measured here is what a reader of the compressed \
             text still sees. `condenser restore` gives back the input byte for byte."
        }
        Held::InPart => {
            "**Some of the runs only measured** and hold no texts: from them nothing can be restored or shown. The others \
             keep every original, and `condenser restore` gives back their input byte for byte."
        }
        Held::Nothing => {
            "**The run only measured.** It holds no texts: nothing can be restored from it or shown. The figures are those \
             of a real run."
        }
    };
    let further = [
        "**look_ahead** says what decided what stays. With `turns` everything that came after did, so that a conversation is \
         finished: to go on with one take its original (`condenser get RUN ID`), for what its next turn needs may be hidden.",
        "**Grounding** is what of all that assistants used still stands where it was. Where nobody looks ahead **next-turn \
         recall** takes its place: one conversation in 64 is cut in two, the part before is compressed by itself, and what the \
         turns behind the cut use of it is looked for.",
        "**Ratio** is size before over size after: 1 is unchanged, 2 is half. The ratio of all conversations together \
         differs from the mean of their ratios, since long ones weigh more.",
        "**Quality score** and its three parts look at identifiers and structure. They are blind to most loss: a summary \
         that keeps every file name and drops every number scores 1.",
        "**Fact retention, forward recall, negation and error retention** look at visible content. Forward recall comes \
         nearest to the success of a task: of the facts that the conversation used later, the share that could still be \
         seen.",
        "**Worst losses** are ranked by what somebody used and what is hidden now, then by loss times the characters that are \
         gone. Loss is one minus the mean of the groundings, or of those four where no use was measured.",
        "A figure is missing where there was nothing to measure, such as for an unchanged conversation: the number of \
         conversations stands beside every figure.",
    ];
    vec![(Seen::Page, Block::List([held].into_iter().chain(further).map(Words::Fixed).collect()))]
}
