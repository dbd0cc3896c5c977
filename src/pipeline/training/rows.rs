//! Rows of training data in two shapes, and which of them are for evaluation. Every column is text or a list of
//! texts; nothing is inferred.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, StringBuilder, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use serde_json::{Value, json};

use super::turns::{Turn, turns_after};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Condensed, Conversation, Role, ToolCall};
use crate::pipeline::tables::Place;
use crate::pipeline::{DatasetOptions, DatasetShape};

/// True when the conversation with this id is for evaluation: the first 53 bits of the BLAKE3 hash of the id, read as
/// a number from 0 to 1, are below `share`. Data that is added later moves no conversation.
#[must_use]
pub fn is_eval(id: &str, share: f64) -> bool {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..8]);
    let bits = u64::from_be_bytes(first) >> 11;
    (bits as f64) / ((1_u64 << 53) as f64) < share
}

/// The schema of training data.
#[must_use]
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
    DataType::List(item_of(fields))
}

fn item_of(fields: Fields) -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(fields), false))
}

fn function_fields() -> Fields {
    texts(&[("name", true), ("arguments", false)])
}

fn call_fields() -> Fields {
    let mut fields: Vec<Arc<Field>> = texts(&[("id", true), ("type", false)]).iter().cloned().collect();
    fields.push(Arc::new(Field::new("function", DataType::Struct(function_fields()), false)));
    fields.into()
}

fn openai_fields() -> Fields {
    let mut fields: Vec<Arc<Field>> = texts(&[("role", false), ("content", true), ("name", true)]).to_vec();
    fields.push(Arc::new(Field::new("tool_calls", list_of(call_fields()), true)));
    fields.push(Arc::new(Field::new("tool_call_id", DataType::Utf8, true)));
    fields.into()
}

/// A conversation that is not in the data.
#[derive(Serialize)]
struct Dropped<'a> {
    id: &'a str,
    source: &'a str,
    source_row: u64,
    tokens: u64,
    reason: &'static str,
}

/// Builds the rows of a batch: those for training, those for evaluation, and lines about what was left out.
#[derive(Debug)]
pub(crate) struct TrainingBuilder {
    options: DatasetOptions,
    train: Rows,
    eval: Rows,
    dropped: Vec<String>,
}

impl TrainingBuilder {
    pub(crate) fn new(options: DatasetOptions) -> Self {
        Self { options, train: Rows::default(), eval: Rows::default(), dropped: Vec::new() }
    }

    pub(crate) fn push(&mut self, place: Place<'_>, conversation: &Conversation<'_>, condensed: &Condensed) {
        let tokens = condensed.metrics.tokens_out as u64;
        let reason = if condensed.messages.is_empty() {
            Some("no_messages")
        } else {
            self.options.drop_over.filter(|&most| tokens > most).map(|_| "over_max_tokens")
        };
        if let Some(reason) = reason {
            let Place { id, source, row } = place;
            let row = Dropped { id, source, source_row: row, tokens, reason };
            self.dropped.push(serde_json::to_string(&row).expect("texts and numbers always serialize"));
            return;
        }
        let rows = if is_eval(place.id, self.options.eval_share) { &mut self.eval } else { &mut self.train };
        rows.push(place.id, &turns_after(conversation, condensed), self.options.shape);
    }

    pub(crate) fn finish(self) -> Result<([RecordBatch; 2], Vec<String>)> {
        let shape = self.options.shape;
        Ok(([self.train.finish(shape)?, self.eval.finish(shape)?], self.dropped))
    }
}

#[derive(Debug, Default)]
struct Rows {
    id: StringBuilder,
    lengths: Vec<usize>,
    role: StringBuilder,
    content: StringBuilder,
    name: StringBuilder,
    call_id: StringBuilder,
    n_calls: Vec<usize>,
    calls: Calls,
}

#[derive(Debug, Default)]
struct Calls {
    id: StringBuilder,
    kind: StringBuilder,
    name: StringBuilder,
    arguments: StringBuilder,
}

impl Rows {
    fn push(&mut self, id: &str, turns: &[Turn<'_>], shape: DatasetShape) {
        self.id.append_value(id);
        self.lengths.push(turns.len());
        for turn in turns {
            match shape {
                DatasetShape::Openai => self.openai(turn),
                DatasetShape::Sharegpt => self.sharegpt(turn),
            }
        }
    }

    fn openai(&mut self, turn: &Turn<'_>) {
        self.role.append_value(turn.role.as_str());
        self.content.append_option((!turn.text.is_empty() || turn.calls.is_empty()).then_some(&*turn.text));
        self.name.append_option(turn.name);
        self.call_id.append_option(turn.call_id);
        self.n_calls.push(turn.calls.len());
        for call in turn.calls {
            self.calls.id.append_option(call.id.as_deref());
            self.calls.kind.append_value("function");
            self.calls.name.append_option(call.name.as_deref());
            self.calls.arguments.append_value(&call.arguments);
        }
    }

    /// Calls alone are a turn of `function_call`; beside a text they follow it in tags, so that one speaker stays one
    /// turn.
    fn sharegpt(&mut self, turn: &Turn<'_>) {
        let from = match turn.role {
            Role::System | Role::Developer => "system",
            Role::User => "human",
            Role::Assistant if turn.text.is_empty() && !turn.calls.is_empty() => "function_call",
            Role::Assistant => "gpt",
            Role::Tool | Role::Function => "observation",
            Role::Other(name) => name,
            Role::Missing => "",
        };
        self.role.append_value(from);
        let calls: Vec<Value> = turn.calls.iter().map(call_json).collect();
        let value = match &*calls {
            [] => turn.text.to_string(),
            [call] if turn.text.is_empty() => call.to_string(),
            calls if turn.text.is_empty() => Value::from(calls).to_string(),
            calls => calls
                .iter()
                .fold(turn.text.to_string(), |text, call| format!("{text}\n<tool_call>\n{call}\n</tool_call>")),
        };
        self.content.append_value(value);
    }

    fn finish(mut self, shape: DatasetShape) -> Result<RecordBatch> {
        let (fields, columns): (Fields, Vec<ArrayRef>) = match shape {
            DatasetShape::Openai => {
                let calls = self.calls.finish(self.n_calls)?;
                let columns: Vec<ArrayRef> = vec![
                    Arc::new(self.role.finish()),
                    Arc::new(self.content.finish()),
                    Arc::new(self.name.finish()),
                    Arc::new(calls),
                    Arc::new(self.call_id.finish()),
                ];
                (openai_fields(), columns)
            }
            DatasetShape::Sharegpt => {
                let columns: Vec<ArrayRef> = vec![Arc::new(self.role.finish()), Arc::new(self.content.finish())];
                (texts(&[("from", false), ("value", false)]), columns)
            }
        };
        let turns = StructArray::try_new(fields.clone(), columns, None).map_err(internal)?;
        let offsets = OffsetBuffer::from_lengths(self.lengths);
        let list = ListArray::try_new(item_of(fields), offsets, Arc::new(turns), None).map_err(internal)?;
        RecordBatch::try_new(training_schema(shape), vec![Arc::new(self.id.finish()), Arc::new(list)]).map_err(internal)
    }
}

impl Calls {
    /// One list per turn; turns without calls have none.
    fn finish(mut self, n_calls: Vec<usize>) -> Result<ListArray> {
        let function: Vec<ArrayRef> = vec![Arc::new(self.name.finish()), Arc::new(self.arguments.finish())];
        let function = StructArray::try_new(function_fields(), function, None).map_err(internal)?;
        let columns: Vec<ArrayRef> = vec![Arc::new(self.id.finish()), Arc::new(self.kind.finish()), Arc::new(function)];
        let calls = StructArray::try_new(call_fields(), columns, None).map_err(internal)?;
        let valid: NullBuffer = n_calls.iter().map(|&n| n > 0).collect();
        let offsets = OffsetBuffer::from_lengths(n_calls);
        ListArray::try_new(item_of(call_fields()), offsets, Arc::new(calls), Some(valid)).map_err(internal)
    }
}

/// `{"name", "arguments"}`; arguments that are JSON stand there as JSON.
fn call_json(call: &ToolCall<'_>) -> Value {
    let arguments = serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::from(&*call.arguments));
    json!({ "name": call.name, "arguments": arguments })
}

fn internal(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Internal, "", "training data could not be built").because(error)
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
