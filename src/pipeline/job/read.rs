//! Reads job files and `--set` values. Says for every mistake where it stands, what was expected, and which known
//! name is nearest. Knows TOML, not what a key does.

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::JobArgs;
use crate::error::{Error, Result};
use crate::model::Gone;

/// The tables of a job file.
const TABLES: [&str; 6] = [ENGINE, "dataset", "compaction", "report", "llm", "store"];
const ENGINE: &str = "engine";
/// The option that sets a key.
const SET: &str = "--set";
/// The only table whose texts may name variables of the environment.
const STORE: &str = "store";
/// Below this likeness (Jaro-Winkler, 0 to 1) a name is no guess any more.
const LIKE: f64 = 0.7;

/// The job that `text` describes, with each `key=value` of `sets` over it. `name` stands in errors.
pub fn read_job(name: &str, text: &str, sets: &[String]) -> Result<JobArgs> {
    let file = Written { name, text, is_file: true };
    let mut table = file.check()?;
    for set in sets {
        let (path, value) = split(set)?;
        insert(&mut table, &path, value).map_err(|message| usage(place_of(set), message))?;
    }
    table.try_into().map_err(|error: toml::de::Error| usage(name, say(error.message())))
}

/// The job of a table with the keys of a job file.
///
/// # Errors
/// `Usage` for a key or a value that none is.
pub fn read_keys(table: &Table) -> Result<JobArgs> {
    let table = Written { name: "job", text: &table.to_string(), is_file: false }.check()?;
    table.try_into().map_err(|error: toml::de::Error| usage("job", say(error.message())))
}

/// The job of these options, each under the name that it has on the command line: those of the engine, and those keys of a job that
/// stand in `beside`.
///
/// # Errors
/// `Usage` has the option as its place; of one that is not known, its message has the nearest name.
pub fn read_options(options: Table, beside: &[&str]) -> Result<JobArgs> {
    let of_engine = names(ENGINE);
    let mut job = Table::new();
    for (key, value) in options {
        let path = if of_engine.contains(&key) { vec![ENGINE.to_owned(), key.clone()] } else { vec![key.clone()] };
        if path.len() == 1 && !beside.contains(&&*key) {
            if names("").contains(&key) {
                return Err(usage(&*key, "this cannot be followed here: it takes a job, which sees all of its inputs"));
            }
            let known: Vec<&str> = of_engine.iter().map(String::as_str).chain(beside.iter().copied()).collect();
            return Err(usage(&*key, nearest("option", &key, &known)));
        }
        let mut one = Table::new();
        insert(&mut one, &path, value.clone()).map_err(|message| usage(&*key, message))?;
        Written { name: &key, text: &one.to_string(), is_file: false }.check()?;
        insert(&mut job, &path, value).map_err(|message| usage(&*key, message))?;
    }
    job.try_into().map_err(|error: toml::de::Error| usage("options", say(error.message())))
}

/// A TOML text with a name.
struct Written<'t> {
    name: &'t str,
    text: &'t str,
    /// A file has lines; a value that was typed may be a secret, and is not shown.
    is_file: bool,
}

impl Written<'_> {
    /// The table, once it is proven that every key and type in it is known.
    fn check(&self) -> Result<Table> {
        let parsed = DeTable::parse(self.text).map_err(|error| self.wrong(&error))?;
        self.refuse_texts(parsed.get_ref(), "")?;
        toml::from_str::<JobArgs>(self.text).map_err(|error| self.wrong(&error))?;
        toml::from_str(self.text).map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &toml::de::Error) -> Error {
        if !self.is_file {
            return usage(self.name, unquoted(say(error.message())));
        }
        let place = error.span().map_or_else(|| self.name.to_owned(), |span| self.place(span.start));
        usage(place, say(error.message()))
    }

    /// `job.toml: line 3, column 5`.
    fn place(&self, at: usize) -> String {
        if !self.is_file {
            return self.name.to_owned();
        }
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}: line {line}, column {column}", self.name)
    }

    /// Refuses variables where none may stand, and options that are no more.
    fn refuse_texts(&self, table: &DeTable<'_>, parent: &str) -> Result<()> {
        for (key, value) in table {
            let is_store = parent.is_empty() && key.get_ref() == STORE || parent == STORE;
            self.refuse_variable(value, if is_store { STORE } else { "other" })?;
            if Gone::NAMES.contains(&key.get_ref().as_ref()) && value.get_ref().as_str() != Some(Gone::NONE) {
                return Err(usage(self.place(value.span().start), format!("{}: {}", key.get_ref(), Gone::REFUSED)));
            }
        }
        Ok(())
    }

    fn refuse_variable(&self, value: &Spanned<DeValue<'_>>, parent: &str) -> Result<()> {
        match value.get_ref() {
            DeValue::String(text) if text.contains("${") && parent != STORE => Err(usage(
                self.place(value.span().start),
                "`${…}` stands only for secrets, in the table [store]; write the value itself, or give it with --set",
            )),
            DeValue::Array(items) => items.iter().try_for_each(|item| self.refuse_variable(item, parent)),
            DeValue::Table(table) => self.refuse_texts(table, parent),
            _ => Ok(()),
        }
    }
}

/// How a `--set` is named: by its key. The value may be a secret that went to the wrong key, and so may be a text that is
/// no key and value at all.
fn place_of(set: &str) -> String {
    match set.split_once('=') {
        Some((key, _)) if is_key(key) => format!("{SET} {}", key.trim()),
        _ => SET.to_owned(),
    }
}

fn is_key(text: &str) -> bool {
    parts(text).all(|part| part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
}

fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.trim().split('.').map(str::trim)
}

/// A message of [`say`] without the value that it is about.
fn unquoted(message: String) -> String {
    if message.starts_with("unknown key") {
        return message;
    }
    match message.rsplit_once(", expected ") {
        Some((said, expected)) => {
            let what = said.split([':', '`']).next().unwrap_or_default().trim();
            format!("{what}: expected {expected}")
        }
        // The words of a type for what it takes.
        None if message.starts_with("expected ") => message,
        None => "this value does not fit the key".to_owned(),
    }
}

/// The key and the value of a `--set`, proven to fit. The value is TOML, or else a text.
fn split(set: &str) -> Result<(Vec<String>, Value)> {
    let place = place_of(set);
    let Some((key, value)) = set.split_once('=').filter(|(key, _)| is_key(key)) else {
        return Err(usage(place, "expected KEY=VALUE, such as engine.recency_window=2; what was given is not shown"));
    };
    let path: Vec<String> = parts(key).map(|part| part.replace('-', "_")).collect();
    let text = Value::String(value.to_owned());
    let read = format!("value = {value}").parse::<Table>().ok().filter(|table| table.len() == 1);
    let read = read.and_then(|mut table| table.remove("value"));
    let fits = |value: &Value| -> Result<()> {
        let mut table = Table::new();
        insert(&mut table, &path, value.clone()).map_err(|message| usage(&*place, message))?;
        Written { name: &place, text: &table.to_string(), is_file: false }.check().map(drop)
    };
    match read {
        None => {
            let is_list = value.trim_start().starts_with('[');
            let hint = |error: Error| {
                if is_list {
                    let message = format!("{}; the value is no TOML: texts in a list need quotes", error.message);
                    usage(&*place, message)
                } else {
                    error
                }
            };
            fits(&text).map_err(hint)?;
            Ok((path, text))
        }
        Some(value) => match fits(&value) {
            Ok(()) => Ok((path, value)),
            // `output=2031` is a text although it reads as a number.
            Err(_) if !value.is_str() && fits(&text).is_ok() => Ok((path, text)),
            Err(error) => Err(error),
        },
    }
}

fn insert(table: &mut Table, path: &[String], value: Value) -> std::result::Result<(), String> {
    let [first, rest @ ..] = path else { return Err("the key is empty".to_owned()) };
    if rest.is_empty() {
        match (table.get_mut(first), value) {
            (Some(Value::Table(old)), Value::Table(new)) => old.extend(new),
            (_, value) => drop(table.insert(first.clone(), value)),
        }
        return Ok(());
    }
    let inner = table.entry(first.clone()).or_insert_with(|| Value::Table(Table::new()));
    match inner {
        Value::Table(inner) => insert(inner, rest, value),
        _ => Err(format!("`{first}` is no table")),
    }
}

/// The message of a parser as a sentence for a person.
fn say(message: &str) -> String {
    if let Some(unknown) = unknown(message) {
        return unknown;
    }
    let mut text = message.trim().replace('\n', ", ");
    for (from, to) in [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list"),
        ("invalid type: ", "wrong type: "),
        ("invalid value: ", "wrong value: "),
        ("unknown variant", "unknown value"),
        ("sequence, expected", "a list, expected"),
        ("map, expected", "a table, expected"),
    ] {
        text = text.replace(from, to);
    }
    if let Some((before, after)) = text.split_once("expected struct ") {
        let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
        text = format!("{before}expected a table{rest}");
    }
    text
}

/// What to say about an unknown key: the nearest known name, or where it belongs.
fn unknown(message: &str) -> Option<String> {
    let (name, known) = names_in(message)?;
    let home = TABLES.iter().find(|table| !known.contains(&name) && names(table).iter().any(|known| known == name));
    Some(match home {
        Some(table) => format!("unknown key `{name}` here; it belongs to the table [{table}]"),
        None => nearest("key", name, &known),
    })
}

/// That a `name` of `what` is not known, and which of the `known` may be meant.
pub fn nearest(what: &str, name: &str, known: &[&str]) -> String {
    let likeness = |other: &&str| strsim::jaro_winkler(name, other);
    match known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        Some(nearest) if likeness(&nearest) >= LIKE => format!("unknown {what} `{name}`; did you mean `{nearest}`?"),
        _ => format!("unknown {what} `{name}`; known are {}", known.join(", ")),
    }
}

/// The unknown name that a message is about, and the known ones.
fn names_in(message: &str) -> Option<(&str, Vec<&str>)> {
    let (name, known) = message.strip_prefix("unknown field `")?.split_once('`')?;
    Some((name, known.split('`').skip(1).step_by(2).collect()))
}

/// The keys of a table of a job; of the job itself where no table is named.
fn names(table: &str) -> Vec<String> {
    let mut asked = Table::from_iter([(String::new(), Value::Integer(0))]);
    if !table.is_empty() {
        asked = Table::from_iter([(table.to_owned(), Value::Table(asked))]);
    }
    let error = asked.try_into::<JobArgs>().err();
    let message = error.as_ref().map_or("", toml::de::Error::message);
    names_in(message).map(|(_, known)| known.into_iter().map(str::to_owned).collect()).unwrap_or_default()
}

fn usage(place: impl Into<String>, message: impl Into<String>) -> Error {
    Error::usage(place, message)
}
