//! How originals come back, and what damage took of them.

use crate::model::RejectReason;
use crate::report::held::Held;
use crate::report::view::{Block, Blocks, Seen, Tone, Words, note, said};
use crate::report::{ReportDocument, numbers, shell};

/// How originals come back.
pub(super) fn originals<'d>(document: &ReportDocument) -> Blocks<'d> {
    let run = match &*document.runs {
        [] => return Vec::new(),
        // The runs of a store lie in its folder `runs`, and the store gives back what any of them holds.
        [run, ..] if !document.nights.is_empty() => run.run.rsplit_once("/runs/").map_or(&*run.run, |(store, _)| store),
        [run] => &run.run,
        _ => "RUN",
    };
    match Held::of(&document.runs) {
        Held::Everything => {
            let damage = damaged(document);
            let tone = if damage.is_some() { Tone::Bad } else { Tone::Good };
            let lost = comes_back(document, damage.is_some());
            let told = |damage| (Seen::Always, said(format!("Inputs were damaged: {damage}."), Tone::Bad));
            let mut blocks: Blocks<'_> = damage.map(told).into_iter().collect();
            blocks.push((Seen::Always, Block::Said(Words::Fixed(lost), tone)));
            if document.totals.conversations > 0 {
                let get = shell::command("condenser get", &[run], "ID");
                blocks.push((Seen::Always, Block::Command("one conversation", get)));
            }
            blocks.extend([
                (Seen::Always, Block::Command("all of them", shell::command("condenser restore", &[run], "-o DIR"))),
                (Seen::Always, Block::Command("the proof", shell::command("condenser verify", &[run], ""))),
            ]);
            blocks
        }
        Held::InPart => vec![(Seen::Always, note("**Some of the runs only measured** and hold no originals."))],
        Held::Nothing => vec![(
            Seen::Always,
            note("**An estimate**: the run only measured and holds no texts; the figures are those of a real run."),
        )],
    }
}

/// What is given back, and how exactly.
fn comes_back(document: &ReportDocument, is_damaged: bool) -> &'static str {
    let n_tables: u64 = document.runs.iter().map(|run| run.tables).sum();
    let n_sources: u64 = document.runs.iter().map(|run| run.sources.len() as u64).sum();
    match (is_damaged, n_tables) {
        (false, 0) => "**Nothing is lost.** Every original comes back byte for byte:",
        (false, n) if n >= n_sources => "**Nothing is lost.** Every table comes back row for row:",
        (false, _) => "**Nothing is lost.** Every file comes back byte for byte, every table row for row:",
        (true, 0) => "All that could be read comes back byte for byte:",
        (true, n) if n >= n_sources => "All that could be read comes back row for row:",
        (true, _) => "All that could be read comes back, files byte for byte and tables row for row:",
    }
}

/// What could not be read of the inputs, and so will not come back.
fn damaged(document: &ReportDocument) -> Option<String> {
    let of = |reason: RejectReason| document.rejects.iter().find(|of| of.reason == reason.as_str()).map(|of| &of.share);
    let torn = of(RejectReason::TornStream).map(|share| {
        let streams = numbers::counted(share.records, "compressed stream");
        format!("{streams} could not be read to the end (the first: {})", share.place)
    });
    let rows = of(RejectReason::DamagedRows).map(|share| {
        let lost = match document.totals.lost_rows {
            0 => numbers::counted(share.records, "place"),
            rows => numbers::counted(rows, "row"),
        };
        let place = share.place.rsplit_once(": line ").map_or(&*share.place, |(file, _)| file);
        format!("{lost} of tables could not be read (the first: {place})")
    });
    let told: Vec<String> = torn.into_iter().chain(rows).collect();
    if told.is_empty() { None } else { Some(told.join("; ")) }
}
