//! `condenser learn`: what was typed becomes settings, and what was learned is said.

use condenser::app::{self, App, LearnOutcome, LearnSettings};
use condenser::error::Result;
use condenser::pipeline::TableOptions;
use condenser::report::numbers::counted;

use super::args::LearnUsesArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;

/// Conversations to judge on below which the figures say little.
const FEW_JUDGED: usize = 20;

/// Runs the command.
pub(crate) fn run(app: &App, args: LearnUsesArgs) -> Result<Ending> {
    let settings = LearnSettings {
        stores: args.stores.stores(),
        inputs: args.inputs,
        tables: TableOptions { messages_column: args.messages_column, shape: args.shape, map: args.map },
        output: args.output,
        overwrites: args.force,
    };
    let outcome = app::learn(app, &settings, &Notes { quiet: args.quiet })?;
    if args.json {
        message::json(&outcome)?;
    } else {
        message::result(&told(&outcome))?;
    }
    if outcome.n_judged < FEW_JUDGED {
        let judged = counted(outcome.n_judged as u64, "conversation");
        message::note(&format!(
            "judged on {judged}: these figures may be chance; learn from a hundred sessions or more"
        ));
    }
    message::note(&format!(
        "written: {}; use it with: --look-ahead off --use-model {}",
        settings.output, settings.output
    ));
    Ok(if outcome.has_rejects { Ending::Rejects } else { Ending::Clean })
}

fn told(outcome: &LearnOutcome) -> String {
    let percent = |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0));
    let row = |method: &str, recall: &str, ratio: &str| format!("{method:<35}{recall:>8}  {ratio:>5}\n");
    let figures = |method: &str, recall, ratio: f64| row(method, &percent(recall), &format!("{ratio:.2}"));
    [
        format!(
            "learned from {}, judged on {}, whose next turns needed {} of what stood before\n",
            counted(outcome.n_trained as u64, "conversation"),
            counted(outcome.n_judged as u64, "other"),
            counted(outcome.n_needed as u64, "value")
        ),
        row("method", "in place", "ratio"),
        figures("this model", outcome.recall, outcome.ratio),
        figures(
            &format!("all results hidden but the last {}", outcome.n_results_shown),
            outcome.masked_recall,
            outcome.masked_ratio,
        ),
    ]
    .concat()
}
