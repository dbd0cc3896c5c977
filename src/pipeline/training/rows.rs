//! Rows of training data: columns of a table, or lines of JSON, as the target reads them. Nothing is inferred: messages and tools are
//! columns of JSON, so that every message has exactly its keys.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float64Builder, Int64Builder, ListBuilder, RecordBatch, RecordBatchOptions, StringBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde_json::{Map, Value, json};

use super::preference::{self, Pair};
use super::tally::TrainingTally;
use super::trainer::{Fitted, Lacks, Made, Trainer};
use super::wording::answer;
use crate::chat::{CalledTools, chats, named_tools};
use crate::engine::Scratch;
use crate::error::{Error, Result};
use crate::pipeline::bridge::guard;
use crate::pipeline::make_up::MakeUp;
use crate::pipeline::split::{ById, ChatPlace, Side, ToolGroup, Verdicts};
use crate::pipeline::tables::RowPlace;
use crate::pipeline::{DatasetOptions, RowForm, TargetName};
use crate::shape::Decoded;

/// What readers of Arrow call a column of JSON.
const JSON_EXTENSION: (&str, &str) = ("ARROW:extension:name", "arrow.json");
/// Under this key of the metadata the package `datasets` finds the types of columns.
const FEATURES: &str = "huggingface";

/// True when the conversation with this id is for evaluation: the first 53 bits of the BLAKE3 hash of the id, read as
/// a number from 0 to 1, are below `share`. Data that is added later moves no conversation.
pub fn is_eval(id: &str, share: f64) -> bool {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..8]);
    let bits = u64::from_be_bytes(first) >> 11;
    (bits as f64) / ((1_u64 << 53) as f64) < share
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Text,
    Count,
    Share,
    /// A list of JSON values.
    List,
}

/// The columns of a row, in order.
fn columns(options: &DatasetOptions) -> Vec<(&'static str, Column)> {
    let lists = match options.form {
        RowForm::Messages => vec![options.target.column()],
        RowForm::PromptCompletion => vec!["prompt", "completion"],
        RowForm::Preference => vec!["prompt", "chosen", "rejected"],
    };
    let lists = lists.into_iter().chain(["tools"]).map(|name| (name, Column::List));
    let own = [("source", Column::Text), ("class", Column::Text), ("language", Column::Text)];
    let counts = [("n_tokens", Column::Count), ("n_tokens_before", Column::Count)];
    let shares = [("ratio", Column::Share), ("grounding", Column::Share)];
    let windows = [("window", Column::Count), ("n_windows", Column::Count)];
    let all = std::iter::once(("id", Column::Text)).chain(lists);
    all.chain(own).chain(counts).chain(shares).chain(windows).collect()
}

/// The schema of training data in a table; what `datasets` should make of its columns stands in the metadata.
pub fn training_schema(options: &DatasetOptions) -> SchemaRef {
    let columns = columns(options);
    let field = |&(name, column): &(&str, Column)| match column {
        Column::Text => Field::new(name, DataType::Utf8, name != "id"),
        Column::Count => Field::new(name, DataType::Int64, true),
        Column::Share => Field::new(name, DataType::Float64, true),
        Column::List => Field::new(name, DataType::List(json_item()), true),
    };
    let features: Map<String, Value> =
        columns.iter().map(|&(name, column)| (name.to_owned(), feature(column))).collect();
    let told = json!({ "info": { "features": features } }).to_string();
    let fields: Vec<Field> = columns.iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, HashMap::from([(FEATURES.to_owned(), told)])))
}

fn json_item() -> Arc<Field> {
    let (key, value) = JSON_EXTENSION;
    Arc::new(
        Field::new("item", DataType::Utf8, true).with_metadata(HashMap::from([(key.to_owned(), value.to_owned())])),
    )
}

fn feature(column: Column) -> Value {
    match column {
        Column::Text => json!({ "dtype": "string", "_type": "Value" }),
        Column::Count => json!({ "dtype": "int64", "_type": "Value" }),
        Column::Share => json!({ "dtype": "float64", "_type": "Value" }),
        Column::List => json!({ "feature": { "_type": "Json" }, "_type": "List" }),
    }
}

/// What the rows of one side come to.
#[derive(Debug)]
pub enum TrainingRows {
    /// Rows of a table.
    Table(RecordBatch),
    /// Lines of JSON.
    Lines(Vec<String>),
}

/// Builds the rows of a batch: those for training, those for evaluation, and lines about what was left out.
pub(crate) struct TrainingBuilder<'t> {
    trainer: &'t Trainer,
    /// Who knows on which side a conversation is; ids decide where nobody does.
    verdicts: Option<&'t dyn Verdicts>,
    /// Why a verdict could not be had.
    failure: Option<Error>,
    rows: [Vec<Map<String, Value>>; 2],
    dropped: Vec<String>,
    tally: TrainingTally,
}

shows!(TrainingBuilder<'_> { tally });

impl<'t> TrainingBuilder<'t> {
    pub(crate) fn new(trainer: &'t Trainer, verdicts: Option<&'t dyn Verdicts>) -> Self {
        Self {
            trainer,
            verdicts,
            failure: None,
            rows: Default::default(),
            dropped: Vec::new(),
            tally: TrainingTally::default(),
        }
    }

    /// Adds the rows of a record. A failure of our own takes it out of the data and is listed.
    pub(crate) fn push(&mut self, (input, place): (usize, RowPlace<'_>), decoded: &Decoded<'_>, scratch: &mut Scratch) {
        if let Err(why) = guard(|| self.chats((input, place), decoded, scratch)) {
            scratch.forget();
            self.leave_out(place, &decoded.conversation.id, "internal", json!({ "detail": why }));
        }
    }

    fn chats(&mut self, (input, place): (usize, RowPlace<'_>), decoded: &Decoded<'_>, scratch: &mut Scratch) {
        let chats = chats(decoded);
        if chats.iter().all(|chat| chat.conversation.messages.is_empty()) {
            self.tally.chats += 1;
            return self.leave_out(place, &decoded.conversation.id, "no_messages", json!({}));
        }
        for (at, mut chat) in chats.into_iter().enumerate() {
            let is_preference = self.trainer.options().form == RowForm::Preference;
            let pair = if is_preference { preference::pair(decoded, &mut chat) } else { None };
            let id = chat.conversation.id.clone().into_owned();
            self.tally.chat(&chat);
            let by_id = ById { seed: 0, eval_share: self.trainer.options().eval_share };
            let asked = ChatPlace { input, row: place.row, chat: at, id: place.id };
            let verdict = match self.verdicts.unwrap_or(&by_id).of(asked) {
                Ok(verdict) => verdict,
                Err(error) => {
                    self.failure.get_or_insert(error);
                    return;
                }
            };
            if let Some(excluded) = &verdict.excluded {
                self.leave_out(place, &id, excluded.reason(), json!({ "of": excluded.of() }));
                continue;
            }
            let side = verdict.side;
            if is_preference && pair.is_none() {
                self.leave_out(place, &id, "no_preference", json!({}));
                continue;
            }
            // Those that the record names, else those that others like it call as well.
            let tools = named_tools(decoded).or_else(|| {
                let called = CalledTools::of(&chat.conversation);
                let known = self.verdicts.and_then(Verdicts::tools);
                let chosen = known.and_then(|known| ToolGroup::of(decoded, &chat.conversation).choose(known, &called));
                chosen
                    .filter(|chosen| self.trainer.has_room_for(chosen))
                    .or_else(|| Some(called.list()).filter(|tools| !tools.is_empty()))
            });
            let Made { mut windows, tokens_before } = self.trainer.fit(&chat, pair.as_ref(), tools, side, scratch);
            if is_preference {
                // The last window is the one that the answers end.
                windows.drain(..windows.len().saturating_sub(1));
            }
            if windows.iter().any(std::result::Result::is_ok) {
                self.tally.keep(tokens_before);
            }
            let n_missing = windows.iter().filter(|window| window.is_err()).count() as u64;
            self.tally.eval_left_out += if side == Side::Eval { n_missing } else { 0 };
            for window in windows {
                match window {
                    Ok(row) => {
                        let make_up = MakeUp::of(&row.chat.conversation);
                        self.tally.row(&row, make_up, side);
                        let row = row_of(&id, place, (&row, make_up), pair.as_ref(), self.trainer.options());
                        self.rows[side as usize].push(row);
                    }
                    Err(Lacks::Assistant) => self.leave_out(place, &id, "no_assistant", json!({})),
                    Err(Lacks::Targets { window }) => self.leave_out(place, &id, "nothing_to_learn", of_window(window)),
                    Err(Lacks::Template { why, window }) => {
                        let mut more = of_window(window);
                        more["detail"] = json!(why);
                        self.leave_out(place, &id, "template_refuses", more);
                    }
                    Err(Lacks::Room { tokens, turns, is_prompt, window }) => {
                        self.tally.turns_left_out += turns as u64;
                        let mut more = of_window(window);
                        more["tokens"] = json!(tokens);
                        more["turns"] = json!(turns);
                        let reason = if is_prompt { "prompt_over_max_tokens" } else { "over_max_tokens" };
                        self.leave_out(place, &id, reason, more);
                    }
                }
            }
        }
    }

    fn leave_out(&mut self, place: RowPlace<'_>, id: &str, reason: &str, more: Value) {
        self.tally.leave_out(reason);
        let mut line = json!({ "id": id, "source": place.source, "source_row": place.row, "reason": reason });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        self.dropped.push(line.to_string());
    }

    pub(crate) fn finish(self) -> Result<([TrainingRows; 2], Vec<String>, TrainingTally)> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let options = &self.trainer.options();
        let [train, eval] = self.rows.map(|rows| {
            if options.target.is_lines() {
                let lines = rows.into_iter().map(|row| Value::Object(row).to_string());
                return Ok(TrainingRows::Lines(lines.collect()));
            }
            table(&rows, options).map(TrainingRows::Table)
        });
        Ok(([train?, eval?], self.dropped, self.tally))
    }
}

/// Which window of how many it is.
fn of_window(window: Option<(usize, usize)>) -> Value {
    let (at, of) = window.unwrap_or((1, 1));
    json!({ "window": at, "n_windows": of })
}

/// A row with what its target reads.
fn row_of(
    id: &str,
    place: RowPlace<'_>,
    (fitted, make_up): (&Fitted<'_>, MakeUp),
    pair: Option<&Pair>,
    options: &DatasetOptions,
) -> Map<String, Value> {
    let Fitted { chat, condensed, messages, tools, n_tokens, n_tokens_before, window, .. } = fitted;
    let mut row = Map::new();
    let lists: Vec<(&str, Value)> = match options.form {
        RowForm::Messages => vec![(options.target.column(), json!(messages))],
        RowForm::Preference => {
            let prompt = json!(messages[..messages.len().saturating_sub(1)]);
            let answers = pair.map(|pair| [("chosen", &pair.chosen), ("rejected", &pair.rejected)]);
            let answers = answers.into_iter().flatten().map(|(key, it)| (key, json!([answer(it, options)])));
            std::iter::once(("prompt", prompt)).chain(answers).collect()
        }
        RowForm::PromptCompletion => {
            // What stands behind the last turn that is to be learned answers nothing any more.
            let last = messages.iter().rposition(|message| message["train"] == true).unwrap_or_default();
            vec![("prompt", json!(messages[..last])), ("completion", json!(messages[last..=last]))]
        }
    };
    let lists = lists.into_iter().map(|(key, value)| (key.to_owned(), value));
    match options.target {
        TargetName::Openai => {
            row.extend(lists);
            row.extend(tools.clone().map(|tools| ("tools".to_owned(), tools)));
            return row;
        }
        TargetName::LlamaFactory => {
            row.extend(lists);
            let first = chat.conversation.messages.first();
            let system = first.filter(|message| message.role == crate::model::Role::System);
            let system = system.map(|message| message.texts().collect::<String>()).unwrap_or_default();
            row.insert("system".to_owned(), json!(system));
            row.insert("tools".to_owned(), json!(tools.as_ref().map(functions).unwrap_or_default()));
            return row;
        }
        _ => {}
    }
    row.insert("id".to_owned(), json!(id));
    row.extend(lists);
    row.extend(tools.clone().map(|tools| ("tools".to_owned(), tools)));
    row.insert("source".to_owned(), json!(place.source));
    row.insert("class".to_owned(), json!(make_up.class));
    row.insert("language".to_owned(), json!(make_up.language));
    row.insert("n_tokens".to_owned(), json!(n_tokens));
    row.insert("n_tokens_before".to_owned(), json!(n_tokens_before));
    row.insert("ratio".to_owned(), json!(*n_tokens_before as f64 / (*n_tokens).max(1) as f64));
    row.insert("grounding".to_owned(), json!(condensed.metrics.grounding));
    let (at, of) = window.unwrap_or((1, 1));
    row.insert("window".to_owned(), json!(at));
    row.insert("n_windows".to_owned(), json!(of));
    row
}

/// Tools as a text that holds the functions alone.
fn functions(tools: &Value) -> String {
    let list = tools.as_array().map(Vec::as_slice).unwrap_or_default();
    Value::Array(list.iter().map(|tool| tool["function"].clone()).collect()).to_string()
}

fn table(rows: &[Map<String, Value>], options: &DatasetOptions) -> Result<RecordBatch> {
    let arrays = columns(options).into_iter().map(|(name, column)| {
        let values = rows.iter().map(|row| row.get(name).filter(|value| !value.is_null()));
        let array: ArrayRef = match column {
            Column::Text => {
                let mut texts = StringBuilder::new();
                values.for_each(|value| texts.append_option(value.and_then(Value::as_str)));
                Arc::new(texts.finish())
            }
            Column::Count => {
                let mut counts = Int64Builder::new();
                values.for_each(|value| counts.append_option(value.and_then(Value::as_i64)));
                Arc::new(counts.finish())
            }
            Column::Share => {
                let mut shares = Float64Builder::new();
                values.for_each(|value| shares.append_option(value.and_then(Value::as_f64)));
                Arc::new(shares.finish())
            }
            Column::List => {
                let mut lists = ListBuilder::new(StringBuilder::new()).with_field(json_item());
                for value in values {
                    let items = value.and_then(Value::as_array);
                    for item in items.into_iter().flatten() {
                        lists.values().append_value(item.to_string());
                    }
                    lists.append(items.is_some());
                }
                Arc::new(lists.finish())
            }
        };
        array
    });
    let options_of_batch = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(training_schema(options), arrays.collect(), &options_of_batch)
        .map_err(|error| Error::internal("", "training data could not be built").because(error))
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
