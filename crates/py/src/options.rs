//! Options and jobs as Python gives them: JSON texts, since every name is declared once, in the library.

use condenser::app::settle;
use condenser::error::{Error, Result};
use condenser::model::{EngineOptions, HideBy, SystemPrompts};
use condenser::pipeline::{JobArgs, JobSettings, read_job, read_keys, read_options};
use serde_json::{Map, Value};
use toml::{Table, Value as Toml};

/// A job must have an input and an output; nothing is read or written here.
const NOWHERE: &str = "rows";

/// What of a job counts for one conversation, beside the engine.
pub(crate) const OF_RECORDS: [&str; 2] = ["shape", "map"];
/// The same for rows.
pub(crate) const OF_ROWS: [&str; 8] =
    ["shape", "map", "messages_column", "originals", "max_record_bytes", "policy", "floor", "tries"];

/// The settings of `options`, a JSON object, for work that no job does; `beside` are the keys of a job that count there.
pub(crate) fn of_options(options: &str, beside: &[&str]) -> Result<JobSettings> {
    let mut job = read_options(table(options)?, beside)?;
    job.inputs = vec![NOWHERE.to_owned()];
    job.output = Some(NOWHERE.to_owned());
    let settings = settled(job)?;
    let once = |engine: &EngineOptions| engine.prompts == SystemPrompts::Once && engine.hide_by == HideBy::Use;
    if settings.options.engines().any(once) {
        return Err(Error::usage("prompts", "`once` takes a job: it is about earlier conversations"));
    }
    if settings.options.llm.is_some() {
        return Err(Error::usage("summarizer", "asking a model takes a job"));
    }
    Ok(settings)
}

/// The settings of a job: a file's name and text, or nothing, with the keys and values of a JSON object over it.
pub(crate) fn of_job(file: Option<(&str, &str)>, keys: &str) -> Result<JobSettings> {
    let mut job = match file {
        None => Table::new(),
        Some((name, text)) => {
            // What is wrong with the file is told with its line.
            read_job(name, text, &[])?;
            text.parse().map_err(|error: toml::de::Error| Error::usage(name, error.message().to_owned()))?
        }
    };
    merge(&mut job, table(keys)?);
    settled(read_keys(&job)?)
}

/// Puts `over` over `table`, key by key in tables that both have.
fn merge(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Toml::Table(old)), Toml::Table(new)) => merge(old, new),
            (_, value) => drop(table.insert(key, value)),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a job file may name variables, as on the command line")]
fn settled(job: JobArgs) -> Result<JobSettings> {
    settle(job, &|name| std::env::var(name).ok())
}

fn table(json: &str) -> Result<Table> {
    let read: Map<String, Value> =
        serde_json::from_str(json).map_err(|error| Error::usage("options", "no JSON object").because(error))?;
    let mut table = Table::new();
    for (key, value) in read {
        if let Some(value) = toml_of(value).map_err(|message| Error::usage(&*key, message))? {
            table.insert(key, value);
        }
    }
    Ok(table)
}

/// `None` for null, which is what is not set.
fn toml_of(value: Value) -> std::result::Result<Option<Toml>, &'static str> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Bool(value) => Toml::Boolean(value),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Toml::Integer(whole),
            (None, Some(number)) => Toml::Float(number),
            (None, None) => return Err("the number is too large"),
        },
        Value::String(text) => Toml::String(text),
        Value::Array(values) => Toml::Array(
            values.into_iter().filter_map(|value| toml_of(value).transpose()).collect::<std::result::Result<_, _>>()?,
        ),
        Value::Object(values) => {
            let mut table = Table::new();
            for (key, value) in values {
                if let Some(value) = toml_of(value)? {
                    table.insert(key, value);
                }
            }
            Toml::Table(table)
        }
    }))
}
