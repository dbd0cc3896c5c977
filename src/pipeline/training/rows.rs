//! Rows of training data in two shapes, and which of them are for evaluation. Every column is text or a list of
//! texts; nothing is inferred.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::json::ReaderBuilder;
use arrow::json::reader::Decoder;
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use serde_json::{Value, json};

use super::turns::{Turn, turns_after};
use crate::error::{Error, Result};
use crate::model::{Condensed, Conversation, Role, ToolCall};
use crate::pipeline::split::{ById, ChatPlace, GroupKey, KeyKind, Side, Verdicts};
use crate::pipeline::tables::RowPlace;
use crate::pipeline::{DatasetOptions, DatasetShape};

/// Rows that room is made for beforehand.
const USUAL_ROWS: usize = 64;

/// True when the conversation with this id is for evaluation: the first 53 bits of the BLAKE3 hash of the id, read as
/// a number from 0 to 1, are below `share`. Data that is added later moves no conversation.
pub fn is_eval(id: &str, share: f64) -> bool {
    GroupKey::of(KeyKind::Id, id.as_bytes()).place(0) < share
}

/// The schema of training data.
pub fn training_schema(shape: DatasetShape) -> SchemaRef {
    let (name, fields) = match shape {
        DatasetShape::Openai => ("messages", openai_fields()),
        DatasetShape::Sharegpt => ("conversations", texts(&[("from", false), ("value", false)])),
    };
    Arc::new(Schema::new(vec![Field::new("id", DataType::Utf8, false), Field::new(name, list_of(fields), false)]))
}

fn texts(names: &[(&str, bool)]) -> Fields {
    names.iter().map(|&(name, nullable)| Field::new(name, DataType::Utf8, nullable)).collect()
}

fn list_of(fields: Fields) -> DataType {
    DataType::List(Arc::new(Field::new("item", DataType::Struct(fields), false)))
}

fn openai_fields() -> Fields {
    let text = |name, nullable| Field::new(name, DataType::Utf8, nullable);
    let function = DataType::Struct(texts(&[("name", true), ("arguments", false)]));
    let calls = list_of(vec![text("id", true), text("type", false), Field::new("function", function, false)].into());
    vec![
        text("role", false),
        text("content", true),
        text("name", true),
        Field::new("tool_calls", calls, true),
        text("tool_call_id", true),
    ]
    .into()
}

/// A conversation that is not in the data.
#[derive(Serialize)]
struct Dropped<'a> {
    id: &'a str,
    source: &'a str,
    source_row: u64,
    tokens: u64,
    reason: &'static str,
    /// The id of the conversation that says the same, or where an evaluation file has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'a str>,
}

/// A row in the words of OpenAI.
#[derive(Serialize)]
struct Openai<'t> {
    id: &'t str,
    messages: Vec<Message<'t>>,
}

#[derive(Serialize)]
struct Message<'t> {
    role: &'t str,
    content: Option<&'t str>,
    name: Option<&'t str>,
    tool_calls: Option<Vec<Call<'t>>>,
    tool_call_id: Option<&'t str>,
}

#[derive(Serialize)]
struct Call<'t> {
    id: Option<&'t str>,
    r#type: &'static str,
    function: Function<'t>,
}

#[derive(Serialize)]
struct Function<'t> {
    name: Option<&'t str>,
    arguments: &'t str,
}

impl<'t> From<&'t Turn<'t>> for Message<'t> {
    fn from(turn: &'t Turn<'t>) -> Self {
        let call = |call: &'t ToolCall<'t>| Call {
            id: call.id.as_deref(),
            r#type: "function",
            function: Function { name: call.name.as_deref(), arguments: &call.arguments },
        };
        Self {
            role: turn.role.as_str(),
            content: (!turn.text.is_empty() || turn.calls.is_empty()).then_some(&*turn.text),
            name: turn.name,
            tool_calls: (!turn.calls.is_empty()).then(|| turn.calls.iter().map(call).collect()),
            tool_call_id: turn.call_id,
        }
    }
}

/// A row in the words of `ShareGPT`.
#[derive(Serialize)]
struct Sharegpt<'t> {
    id: &'t str,
    conversations: Vec<Said<'t>>,
}

#[derive(Serialize)]
struct Said<'t> {
    from: &'t str,
    value: String,
}

/// Calls alone are a turn of `function_call`; beside a text they follow it in tags, so that one speaker stays one turn.
impl<'t> From<&'t Turn<'t>> for Said<'t> {
    fn from(turn: &'t Turn<'t>) -> Self {
        let from = match turn.role {
            Role::System | Role::Developer => "system",
            Role::User => "human",
            Role::Assistant if turn.text.is_empty() && !turn.calls.is_empty() => "function_call",
            Role::Assistant => "gpt",
            Role::Tool | Role::Function => "observation",
            Role::Other(name) => name,
            Role::Missing => "",
        };
        let calls: Vec<Value> = turn.calls.iter().map(call_json).collect();
        let value = match &*calls {
            [] => turn.text.to_string(),
            [call] if turn.text.is_empty() => call.to_string(),
            calls if turn.text.is_empty() => Value::from(calls).to_string(),
            calls => calls
                .iter()
                .fold(turn.text.to_string(), |text, call| format!("{text}\n<tool_call>\n{call}\n</tool_call>")),
        };
        Self { from, value }
    }
}

/// Builds the rows of a batch: those for training, those for evaluation, and lines about what was left out.
#[derive(Debug)]
pub(crate) struct TrainingBuilder<'v> {
    options: DatasetOptions,
    verdicts: Option<&'v dyn Verdicts>,
    /// Why a verdict could not be had.
    failure: Option<Error>,
    train: Decoder,
    eval: Decoder,
    dropped: Vec<String>,
}

impl<'v> TrainingBuilder<'v> {
    pub(crate) fn new(options: DatasetOptions, verdicts: Option<&'v dyn Verdicts>) -> Self {
        let decoder = || {
            let builder = ReaderBuilder::new(training_schema(options.shape)).with_batch_size(USUAL_ROWS);
            builder.build_decoder().expect("texts, lists and structs are known to JSON")
        };
        Self { options, verdicts, failure: None, train: decoder(), eval: decoder(), dropped: Vec::new() }
    }

    pub(crate) fn push(
        &mut self,
        (input, place): (usize, RowPlace<'_>),
        conversation: &Conversation<'_>,
        condensed: &Condensed,
    ) {
        let tokens = condensed.metrics.tokens_out as u64;
        let RowPlace { id, source, row } = place;
        let by_id = ById { seed: 0, eval_share: self.options.eval_share };
        let verdict = match self.verdicts.unwrap_or(&by_id).of(ChatPlace { input, row, chat: 0, id }) {
            Ok(verdict) => verdict,
            Err(error) => {
                self.failure.get_or_insert(error);
                return;
            }
        };
        let (reason, of) = if condensed.messages.is_empty() {
            (Some("no_messages"), None)
        } else if let Some(excluded) = &verdict.excluded {
            (Some(excluded.reason()), Some(excluded.of()))
        } else {
            (self.options.drop_over.filter(|&most| tokens > most).map(|_| "over_max_tokens"), None)
        };
        if let Some(reason) = reason {
            let row = Dropped { id, source, source_row: row, tokens, reason, of };
            self.dropped.push(serde_json::to_string(&row).expect("texts and numbers always serialize"));
            return;
        }
        let rows = if verdict.side == Side::Eval { &mut self.eval } else { &mut self.train };
        let turns = turns_after(conversation, condensed);
        let taken = match self.options.shape {
            DatasetShape::Openai => {
                rows.serialize(&[Openai { id, messages: turns.iter().map(Message::from).collect() }])
            }
            DatasetShape::Sharegpt => {
                rows.serialize(&[Sharegpt { id, conversations: turns.iter().map(Said::from).collect() }])
            }
        };
        taken.expect("texts always serialize");
    }

    pub(crate) fn finish(mut self) -> Result<([RecordBatch; 2], Vec<String>)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let rows = |decoder: &mut Decoder| {
            let rows = decoder
                .flush()
                .map_err(|error| Error::internal("", "training data could not be built").because(error))?;
            Ok::<_, Error>(rows.unwrap_or_else(|| RecordBatch::new_empty(training_schema(self.options.shape))))
        };
        Ok(([rows(&mut self.train)?, rows(&mut self.eval)?], self.dropped))
    }
}

/// `{"name", "arguments"}`; arguments that are JSON stand there as JSON.
fn call_json(call: &ToolCall<'_>) -> Value {
    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(&*call.arguments));
    json!({ "name": call.name, "arguments": arguments })
}

#[cfg(test)]
mod tests {
    use super::is_eval;

    #[test]
    fn a_share_of_the_ids_is_for_evaluation_and_larger_shares_hold_the_smaller() {
        let ids: Vec<String> = (0..10_000).map(|n| format!("conversation-{n}")).collect();
        let count = |share: f64| ids.iter().filter(|id| is_eval(id, share)).count();
        assert_eq!((count(0.0), count(1.0)), (0, 10_000));
        assert!((400..600).contains(&count(0.05)), "{}", count(0.05));
        assert!(ids.iter().all(|id| !is_eval(id, 0.05) || is_eval(id, 0.2)));
        // Fixed for ever: a data set that is made again must not move anything.
        let first: Vec<&String> = ids.iter().filter(|id| is_eval(id, 0.001)).collect();
        assert_eq!(first, FIRST);
    }

    const FIRST: [&str; 13] = [
        "conversation-201",
        "conversation-2745",
        "conversation-3158",
        "conversation-3940",
        "conversation-4042",
        "conversation-5419",
        "conversation-5885",
        "conversation-6493",
        "conversation-6643",
        "conversation-7912",
        "conversation-8205",
        "conversation-8357",
        "conversation-8409",
    ];
}
