//! `condenser explain`: what would happen to each message, and why.

use condenser::app::{App, each_conversation, engine_for, inputs_of};
use condenser::engine::Scratch;
use condenser::error::{Error, Result};
use condenser::pipeline::TableOptions;
use condenser::report::explained::ExplainedConversation;

use super::args::ExplainArgs;
use super::end::Ending;
use super::message;
use super::progress::Notes;

/// Runs the command.
pub(crate) fn run(app: &App, args: ExplainArgs) -> Result<Ending> {
    let notes = &Notes { quiet: false };
    let stores = args.stores.stores();
    let inputs = inputs_of(app, &args.inputs, &stores, notes)?;
    let messages_column = args.messages_column.clone();
    let tables = TableOptions { shape: args.shape, map: args.map.clone(), messages_column };
    let engine = engine_for(args.engine.clone(), &stores)?.explaining(true);
    let (mut scratch, mut found) = (Scratch::default(), false);
    let rejected = each_conversation(&inputs, &tables, app, notes, &mut |place, decoded| {
        let conversation = &decoded.conversation;
        if args.conversation.as_ref().is_some_and(|id| *id != conversation.id) {
            return Ok(true);
        }
        found = true;
        let explained = engine.explain(conversation, &mut scratch);
        let (n_out, metrics) = (explained.condensed.messages.len(), &explained.condensed.metrics);
        let explained = ExplainedConversation::new(place, &conversation.id, n_out, metrics, explained.messages);
        if args.json {
            message::document(&(explained.to_json() + "\n"))?;
        } else {
            message::result(&explained.text(conversation, args.all))?;
        }
        Ok(true)
    })?;
    match args.conversation {
        Some(id) if !found => Err(Error::input(id, "the inputs have no conversation with this id")),
        None if !found => {
            message::note("nothing to explain: the inputs hold no conversation");
            Ok(Ending::Rejects)
        }
        _ if rejected => Ok(Ending::Rejects),
        _ => Ok(Ending::Clean),
    }
}
