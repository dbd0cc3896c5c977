//! Evaluation files: the texts of their records, whether these are JSON lines, a JSON document, a table in Parquet or lines of text.
//! Knows formats; refuses to know what is compared.

use std::io::{BufReader, Read};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::io::parquet_table::{ParquetTable, WantedRows};
use crate::io::store::Place;
use crate::io::{failed, open_codec};
use crate::pipeline::TableReader;
use crate::pipeline::split::EvaluationItems;

const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Adds what stands in the file at `place`, which is called `name`.
///
/// # Errors
/// When it cannot be read.
pub fn read_evaluation(name: &str, place: &Place, items: &mut EvaluationItems) -> Result<()> {
    let cannot = |error| failed(name, "cannot be read", error);
    let blob = place.open()?;
    let mut bytes = Vec::new();
    let (_, mut reader) = open_codec(BufReader::new(blob.stream())).map_err(cannot)?;
    let mut first = [0; PARQUET_MAGIC.len()];
    let n = read_up_to(&mut reader, &mut first).map_err(cannot)?;
    if first == PARQUET_MAGIC {
        return table(name, place, items);
    }
    bytes.extend_from_slice(first.get(..n).unwrap_or_default());
    reader.read_to_end(&mut bytes).map_err(cannot)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|error| Error::input(name, "the file is not UTF-8").because(error))?;
    if let Ok(Value::Array(records)) = serde_json::from_str(text) {
        for (at, record) in records.iter().enumerate() {
            add(&format!("{name}: record {}", at + 1), record, items);
        }
        return Ok(());
    }
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{name}: line {}", at + 1);
        match serde_json::from_str::<Value>(line) {
            Ok(record @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => add(&place, &record, items),
            _ => items.add(&place, [line]),
        }
    }
    Ok(())
}

fn read_up_to(reader: &mut dyn Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut n = 0;
    while let Some(rest) = bytes.get_mut(n..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest)? {
            0 => break,
            read => n += read,
        }
    }
    Ok(n)
}

/// The rows of a table, each as a JSON object.
fn table(name: &str, place: &Place, items: &mut EvaluationItems) -> Result<()> {
    let internal = |error| Error::input(name, "the rows cannot be read as texts").because(error);
    let (mut table, mut n) = (ParquetTable::open(place.open()?, &WantedRows::All)?, 0);
    while let Some(batch) = table.next_rows()? {
        let mut writer = arrow::json::LineDelimitedWriter::new(Vec::new());
        writer.write(&batch).and_then(|()| writer.finish()).map_err(internal)?;
        for line in writer.into_inner().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            n += 1;
            if let Ok(record) = serde_json::from_slice(line) {
                add(&format!("{name}: row {n}"), &record, items);
            }
        }
    }
    Ok(())
}

fn add(place: &str, record: &Value, items: &mut EvaluationItems) {
    let mut texts = Vec::new();
    leaves(record, &mut texts);
    items.add(place, texts);
}

/// All texts of a value.
fn leaves<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| leaves(value, texts)),
        Value::Object(members) => members.values().for_each(|value| leaves(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
